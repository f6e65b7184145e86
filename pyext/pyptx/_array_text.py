"""What repr() shows of a device array: its values as NumPy shows them, shape, dtype and device.

Of an array of more than np.get_printoptions()["threshold"] elements only the edges are copied.
"""

import itertools

import numpy as np

_MOST_COPIES = 64  # of corners


def text(a):
    """The text. It waits for the work on the array's stream; raises where the values cannot be
    read."""
    if a.dtype.kind == "V" and not a.ndim:
        return f"<pyptx device record, {a.dtype}, on '{_device(a)}'>"
    if a.dtype.kind == "V" and a.dtype.names is None:
        raise ValueError("bytes without a meaning: bfloat16 or an 8-bit float where ml_dtypes is not installed")
    options = np.get_printoptions()
    many = a.size > options["threshold"]
    values = _edges(a, options["edgeitems"]) if many else a.copy_to_host()
    prefix = "DeviceArray("
    with np.printoptions(threshold=0 if many else options["threshold"]):
        shown = np.array2string(values, separator=", ", prefix=prefix) if a.size else "[]"
    tail = f"shape={a.shape}, dtype={_name(a)}, device='{_device(a)}')"
    last = len(shown) - shown.rfind("\n") - 1 + (0 if "\n" in shown else len(prefix))
    fits = last + len(tail) + 2 <= options["linewidth"]
    return f"{prefix}{shown},{' ' if fits else chr(10) + ' ' * len(prefix)}{tail}"


def _device(a):
    return "host" if a.device.is_host else f"cuda:{a.device.id}"


def _name(a):
    """The dtype's; kernels' bfloat16 is none of NumPy's own."""
    return a.dtype.name if a.dtype.kind in "biufc" else str(a.dtype)


def _edges(a, edge):
    """An array that NumPy abbreviates to the same text: the first and last `edge` elements of each
    axis, and between them one that is not shown."""
    cut = [n > 2 * edge for n in a.shape]
    if 2 ** sum(cut) > _MOST_COPIES:
        raise ValueError("too many axes")
    values = np.zeros([2 * edge + 1 if c else n for c, n in zip(cut, a.shape)], a.dtype)
    sides = [(slice(None, edge), slice(-edge, None)) if c else (slice(None),) for c in cut]
    for corner in itertools.product(*sides):
        values[corner] = a[corner].copy_to_host()
    return values
