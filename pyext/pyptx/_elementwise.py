"""Kernels made of a function on elements: what vectorize, guvectorize and reduce launch.

A caller has operands of one shape (broadcast ones by strides of zero). `merged` joins the axes that
all of them step through alike, so that contiguous arrays of any rank have one; `Kernels` writes the
kernel for that many axes; a `Plan` is such a kernel with its launch and the views that it takes,
and holds for every call whose operands lie in the same way.
"""

import itertools
import linecache

from pyptx._pyptx import DeviceArray, _restrided, as_cuda_array, device_array, get_current_device, to_device

THREADS = 256
_ROWS = 65535  # what a grid may have along y
_numbers = itertools.count()


# --- operands


def read(x):
    """(x as a device array, a NumPy array in native byte order or a number; the object of another
    library that it was, or None)."""
    import numpy as np

    kind = type(x)
    if kind is DeviceArray or isinstance(x, (bool, int, float, complex, np.generic)):
        return x, None
    if kind is not np.ndarray and not isinstance(x, np.ndarray) and (hasattr(x, "__dlpack__") or hasattr(x, "__cuda_array_interface__")):
        return as_cuda_array(x.detach() if getattr(x, "requires_grad", False) else x), x
    if kind is not np.ndarray and isinstance(x, np.ma.MaskedArray):
        raise TypeError("a masked array's mask would be lost: pass x.filled(value), or x.data and x.mask")
    a = np.asarray(x)
    if not (a.dtype.isnative and a.flags.aligned):
        a = a.astype(a.dtype.newbyteorder("="))
    return a, None


def is_array(value):
    """Of what `read` gives: not a number."""
    return hasattr(value, "strides") and hasattr(value, "__len__")  # NumPy's numbers have strides too


def like(result, original):
    """A device array as an array of the library that `original` is of; itself if that library
    cannot take it."""
    import sys

    space = getattr(original, "__array_namespace__", None)
    space = space() if space else sys.modules.get(type(original).__module__.partition(".")[0])
    take = getattr(space, "from_dlpack", None)
    return take(result) if take else result


def view(a, lay):
    """The array from the same first element with another (shape, strides in bytes)."""
    if type(a) is DeviceArray:
        return _restrided(a, *lay)
    from numpy.lib.stride_tricks import as_strided

    return as_strided(a, *lay)


def stretched(shape, strides, larger):
    """The strides with which an array has a larger shape, by broadcasting."""
    missing = len(larger) - len(shape)
    return (0,) * missing + tuple(0 if m == 1 and n != 1 else s for m, n, s in zip(shape, larger[missing:], strides))


def common_shape(name, shapes):
    import numpy as np

    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"{name}: failed to broadcast arguments of shapes {' and '.join(map(str, shapes))}") from None


def origin(a):
    """The address of the first element."""
    return a.ctypes.data if hasattr(a, "ctypes") else a.device_ctypes_pointer.value or 0


def _reach(a):
    """The lowest address, the one after the highest, and that of the first element."""
    start = origin(a)
    reaches = [s * (n - 1) for n, s in zip(a.shape, a.strides)] if a.size else []
    return start + sum(r for r in reaches if r < 0), start + sum(r for r in reaches if r > 0) + a.dtype.itemsize * bool(a.size), start


def overlap(a, b):
    """May these share memory."""
    low, high, _ = _reach(a)
    other_low, other_high, _ = _reach(b)
    return low < other_high and other_low < high


def clash(out, a):
    """Do these share memory otherwise than each element with itself: then writing one before all of
    the other is read is wrong."""
    if not overlap(out, a):
        return False
    start, other = origin(out), origin(a)
    return (start, out.shape, out.strides, out.dtype.itemsize) != (other, a.shape, a.strides, a.dtype.itemsize)


def merged(shape, strides, order=True):
    """(shape, strides of each operand) with as few axes as step through all operands alike; by
    falling strides if order says so.

    Each item of `strides` has an item (bytes) an axis. Axes of one element go; one axis is left at
    least.
    """
    axes = [k for k, n in enumerate(shape) if n != 1]
    if order:
        axes.sort(key=lambda k: [-abs(s[k]) for s in strides])
    extents, steps = [], [[] for _ in strides]
    for k in axes:
        if extents and all(new[-1] == s[k] * shape[k] for new, s in zip(steps, strides)):
            extents[-1] *= shape[k]
            for new, s in zip(steps, strides):
                new[-1] = s[k]
        else:
            extents.append(shape[k])
            for new, s in zip(steps, strides):
                new.append(s[k])
    if not extents:
        return (1,), [(0,) for _ in strides]
    return tuple(extents), [tuple(new) for new in steps]


def contiguous(shape, itemsize, order="C"):
    """Strides of a new array."""
    strides, step = [], itemsize
    for n in reversed(shape) if order == "C" else shape:
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides)) if order == "C" else tuple(strides)


def order_of(shape, arrays):
    """The order of a result, as NumPy's: F where all inputs of its shape are."""
    full = [a for a in arrays if tuple(a.shape) == tuple(shape)]
    f_order = [tuple(a.strides) == contiguous(a.shape, a.dtype.itemsize, "F") != contiguous(a.shape, a.dtype.itemsize) for a in full]
    return "F" if len(shape) > 1 and f_order and all(f_order) else "C"


# --- kernels


def define(name, source, scope):
    """The function of this name that the text defines, whose lines errors and profilers can
    show."""
    filename = f"<pyptx: kernel {next(_numbers)} of {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), scope)
    return scope[name]


def identifier(name):
    return name if name.isidentifier() else "".join(c if c.isalnum() else "_" for c in name)


def unravel(number, extents, names):
    """Lines that set the names to the indices of the element with this number, the last one
    fastest."""
    lines = [f"rest = {number}"] if len(names) > 1 else [f"{names[0]} = {number}"]
    for name, extent in list(zip(names, extents))[:0:-1]:
        lines += [f"{name} = rest % {extent}", f"rest //= {extent}"]
    return lines + ([f"{names[0]} = rest"] if len(names) > 1 else [])


_ONE_AXIS = """\
def {name}({parameters}):
    i = cuda.grid(1)
    if i < {first}.shape[0]:
        {body}
"""
_FLAT = """\
def {name}({parameters}):
    {flat}
    i = cuda.grid(1)
    if i < {first}.size:
        {body}
"""
_AXES = """\
def {name}({parameters}):
    x, y = cuda.grid(2)
    if x < {first}.shape[{last}] and y < {rows}:
        {indices}
        {body}
"""
_MORE_ROWS = """\
def {name}({parameters}):
    x, y = cuda.grid(2)
    if x < {first}.shape[{last}]:
        for row in range(y, {rows}, cuda.gridDim.y * cuda.blockDim.y):
            {indices}
            {body}
"""


class Kernels:
    """The kernels of one function, by the number of axes that the threads run over; 0 stands for
    C-contiguous arrays of one shape, which are taken as they are (a view for each would cost a call
    more than its launch).

    `body(index)` gives the statement for one element, index being "i0, i1, x" or the like. `arrays`
    are those of the parameters that have all axes, the first parameter among them.
    """

    def __init__(self, name, parameters, arrays, body, scope, options):
        self.name, self.parameters, self.arrays, self.body = identifier(name), parameters, arrays, body
        self.scope, self.options, self.made = scope, options, {}

    def __getitem__(self, key):
        """key: (number of axes, are there more rows than a grid can have, are there objects beside
        the parameters with whose libraries' streams the launch is ordered)."""
        kernel = self.made.get(key)
        return kernel if kernel is not None else self.made.setdefault(key, self._make(*key))

    def _make(self, axes, looped, ordered):
        from pyptx import cuda

        first, parameters = self.parameters[0], ", ".join([*self.parameters, *(["_ordered"] if ordered else ())])
        if axes == 0:
            flat = "\n    ".join(f"{p} = {p}.reshape(-1)" for p in self.arrays)
            source = _FLAT.format(name=self.name, parameters=parameters, first=first, flat=flat, body=self.body("i"))
        elif axes == 1:
            source = _ONE_AXIS.format(name=self.name, parameters=parameters, first=first, body=self.body("i"))
        else:
            outer = [f"i{k}" for k in range(axes - 1)]
            extents = [f"{first}.shape[{k}]" for k in range(axes - 1)]
            indent = "\n            " if looped else "\n        "
            source = (_MORE_ROWS if looped else _AXES).format(
                name=self.name, parameters=parameters, first=first, last=axes - 1, rows=" * ".join(extents), body=self.body(", ".join([*outer, "x"])),
                indices=indent.join(unravel("row" if looped else "y", extents, outer)))
        return cuda.jit(define(self.name, source, {**self.scope, "cuda": cuda}), **self.options)


def configuration(shape, most):
    """(grid, block, are there more rows than that) for a kernel of Kernels."""
    threads = max(1, min(THREADS, most))
    if len(shape) == 1:
        return -(-shape[0] // threads), threads, False
    wide = min(threads, 1 << (shape[-1] - 1).bit_length())
    high, rows = max(1, threads // wide), 1
    for n in shape[:-1]:
        rows *= n
    return (-(-shape[-1] // wide), min(-(-rows // high), _ROWS)), (wide, high), rows > high * _ROWS


class Plan:
    """A launch for operands that lie in one way."""

    __slots__ = ("kernels", "key", "grid", "block", "launcher", "views", "result", "casts", "empty")

    def __init__(self, kernels, shape, strides, arrays, casts, result, most, flat=()):
        """strides, and arrays as (shape, strides): of each parameter, None for numbers; flat: sizes
        of the arrays' elements, if contiguous arrays may be taken as they are; casts: for numbers
        what makes them the declared type, or None; result: (shape, dtype, order) of the output that
        a call without one creates, or None."""
        self.kernels, self.result = kernels, result
        self.empty = 0 in shape
        given = [a for a in arrays if a is not None]
        flat = flat and len(shape) != 1 and all(a == (shape, contiguous(shape, item)) for a, item in zip(given, flat))
        lay = [s for s in strides if s is not None]
        shape, steps = merged(shape, lay)
        steps = iter(steps)
        steps = [None if s is None else next(steps) for s in strides]
        same = [s is None or a[0] == shape and (a[1] == s or shape == (1,)) for s, a in zip(steps, arrays)]
        self.views = None if flat or all(same) else [None if ok else (shape, s) for s, ok in zip(steps, same)]
        self.casts = [(i, cast) for i, cast in enumerate(casts) if cast is not None] or None
        if not self.empty:
            self.grid, self.block, looped = configuration(shape, most)
            self.key = (0 if flat else len(shape), looped)
            self.launcher = kernels[*self.key, False][self.grid, self.block]

    def run(self, values, stream, ordered=None):
        """Launches on these arrays and numbers, of which the first one may be the output."""
        if self.empty:
            return
        if self.casts is not None:
            for i, cast in self.casts:
                values[i] = cast(values[i])
        if self.views is not None:
            values = [v if lay is None else view(v, lay) for v, lay in zip(values, self.views)]
        if ordered:
            self.kernels[*self.key, True][self.grid, self.block, stream](*values, ordered)
        elif stream:
            self.kernels[*self.key, False][self.grid, self.block, stream](*values)
        else:
            self.launcher(*values)


# --- where the work happens, and what a caller gets


class Work:
    """Where a call's operands and outputs are: read, brought to the device, and given back as what
    the caller had."""

    def __init__(self, inputs, stream):
        self.stream = stream
        read_ones = [read(x) for x in inputs]
        self.values = [value for value, _ in read_ones]
        self.originals = [x for _, x in read_ones if x is not None]
        self.on_gpu = not get_current_device().is_host
        self.resident = next((x if x is not None else value for value, x in read_ones if type(value) is DeviceArray), None)

    def arrays(self):
        return [v for v in self.values if is_array(v)]

    def bring(self):
        """NumPy arrays to the GPU, if that is where the kernel runs."""
        if self.on_gpu:
            self.values = [to_device(v, stream=self.stream) if is_array(v) and type(v) is not DeviceArray else v for v in self.values]

    def output(self, name, out, shape, dtype, order="C", apart=clash):
        """(array for the kernel, what to do when it is written: a function that gives what the
        caller gets). out: the caller's, or None; apart: tells of it and an input whether the kernel
        must write elsewhere."""
        import numpy as np

        if out is None and self.resident is not None:
            made = device_array(shape, dtype, order=order, stream=self.stream)
            original = self.resident if type(self.resident) is not DeviceArray else None
            return made, lambda: made if original is None else like(made, original)
        if out is None:
            host = np.empty(shape, dtype, order)
            if not self.on_gpu:
                return host, lambda: host[()]
            made = device_array(shape, dtype, order=order, stream=self.stream)
            return made, lambda: made.copy_to_host(host, stream=self.stream)[()] if not self.stream else self._awaited(made, host)[()]
        value, original = read(out)
        if not is_array(value) or (original is None and value is not out and not isinstance(out, np.ndarray)):
            raise TypeError(f"{name}: out must be an array, not {type(out).__name__}")
        if original is not None:
            self.originals.append(original)
            if not hasattr(out, "shape"):  # it has the interface alone: the caller gets an array
                out = value
        return self._given(name, out, value, dtype, apart)

    def _given(self, name, out, value, dtype, apart):
        import numpy as np

        if not np.can_cast(dtype, value.dtype, "same_kind"):
            raise TypeError(f"{name}: the result is {dtype}, which out of {value.dtype} cannot hold without changing its kind")
        if type(value) is not DeviceArray and (not out.flags.writeable):
            raise ValueError(f"{name}: out is read-only")
        if type(value) is not DeviceArray and self.on_gpu:
            made = device_array(value.shape, dtype, stream=self.stream)
            return made, lambda: self._filled(out, made)
        if value is not out and type(value) is not DeviceArray or any(apart(value, a) for a in self.arrays()):
            made = device_array(value.shape, value.dtype, stream=self.stream) if type(value) is DeviceArray else np.empty(value.shape, value.dtype)
            return made, lambda: self._filled(out, made, value)
        return value, lambda: out

    def _awaited(self, made, host):
        made.copy_to_host(host, stream=self.stream)
        self.stream.synchronize() if hasattr(self.stream, "synchronize") else None
        return host

    def _filled(self, out, made, value=None):
        import numpy as np

        if type(value) is DeviceArray:
            value.copy_to_device(made, stream=self.stream)
        elif type(made) is DeviceArray:
            out[...] = self._awaited(made, np.empty(made.shape, made.dtype))
        else:
            out[...] = made
        return out
