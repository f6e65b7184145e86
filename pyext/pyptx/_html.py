"""How arrays, kernels and devices show themselves in notebooks: plain HTML, with the page's own colours, so that it fits light and dark.

Nothing here may fail, and nothing copies more than a few elements."""

from html import escape

ROWS, COLUMNS = 6, 8  # of an array's corner
FAR = 1 << 16  # bytes between elements beyond which they are fetched one by one


def attempt(function):
    try:
        return function()
    except Exception as error:
        return f"not known: {str(error).splitlines()[0] if str(error) else type(error).__name__}"


def table(rows, head=()):
    """Rows of texts as a table; the first of each is its name. Escaped here."""
    top = "".join(f"<th>{escape(str(cell))}</th>" for cell in head)
    body = "".join(f"<tr><th style='text-align:left'>{escape(str(name))}</th>" + "".join(f"<td style='text-align:left'>{escape(str(cell))}</td>" for cell in cells)
                   + "</tr>" for name, *cells in rows)
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def titled(title, *parts):
    return f"<div><div><b>{escape(title)}</b></div>{''.join(parts)}</div>"


def amount(nbytes):
    for unit in ("bytes", "KB", "MB"):
        if nbytes < 1000:
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    return f"{nbytes:.3g} GB"


# --- arrays ---


def line_of(array, index, count):
    """The first elements of a row, as texts."""
    row = array[index] if index else array
    stride = abs(row.strides[0])
    if stride * (count - 1) > FAR:
        return [text_of(row[i]) for i in range(count)]
    return [text_of(value) for value in row[:count].copy_to_host()]


def text_of(value):
    if hasattr(value, "copy_to_host"):  # a record, or an array without axes
        value = value.copy_to_host()[()]
    text = str(value)
    return text if len(text) <= 24 else text[:23] + "…"


def corner(array):
    """Rows of texts of the first elements of the last two axes, the others at 0; "…" where there are more."""
    if not array.ndim:
        return [[text_of(array.copy_to_host()[()])]]
    columns = min(array.shape[-1], COLUMNS)
    more = ["…"] * (array.shape[-1] > columns)
    if array.ndim == 1:
        return [line_of(array, (), columns) + more]
    rows = min(array.shape[-2], ROWS)
    outer = (0,) * (array.ndim - 2)
    shown = [line_of(array, (*outer, i), columns) + more for i in range(rows)]
    return shown + [["…"] * len(shown[0])] * (array.shape[-2] > rows)


def values_html(array, capturing):
    if capturing:
        return "<div>no values while a graph is recorded: a copy would become a part of it</div>"
    if not array.size:
        return "<div>no elements</div>"
    rows = attempt(lambda: corner(array))
    if isinstance(rows, str):
        return f"<div>values {escape(rows)}</div>"
    body = "".join("<tr>" + "".join(f"<td style='text-align:right'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    where = f"<div>[{'0, ' * (array.ndim - 2)}:, :]</div>" if array.ndim > 2 else ""
    return f"{where}<table><tbody>{body}</tbody></table>"


def of_array(array, capturing):
    shape = " × ".join(map(str, array.shape)) or "()"
    order = "" if array.ndim < 2 else ", C order" if array.is_c_contiguous() else ", F order" if array.is_f_contiguous() else ", strided"
    about = f"{array.dtype}, {shape}{order}, {amount(array.nbytes)}, on {attempt(lambda: place(array.device))}"
    return titled("device array", f"<div>{escape(about)}</div>", values_html(array, capturing))


# --- kernels ---


def of_kernel(kernel, _=False):
    from pyptx.errors import shown_name

    code = kernel.py_func.__code__
    where = f"{shown_name(code.co_filename) or code.co_filename}:{code.co_firstlineno}"
    kind = "device function" if kernel.device else "kernel"
    compiled = list(kernel.overloads.values())
    rows = [(f"{kernel.__name__}{one.signature_text.removeprefix('narrow ')}", *attempt_row(one)) for one in compiled]
    body = table(rows, ("signature", "device", "registers", "shared", "local")) if rows else "<div>not compiled yet</div>"
    advice = dict.fromkeys(str(a) for one in compiled for a in listed(attempt(lambda: kernel.advice(one.signature))))
    said = "".join(f"<pre>{escape(text)}</pre>" for text in advice)
    more = f"<small><code>{escape(kernel.__name__)}.report()</code> shows it line by line</small>" if rows else ""
    return titled(f"{kind} {kernel.__qualname__}", f"<div>{escape(where)}</div>", body, more, said)


def listed(advice):
    return advice if isinstance(advice, list) else []


def attempt_row(one):
    if one.device.is_host:
        return place(one.device), "", "", ""
    return (place(one.device), attempt(lambda: one.regs_per_thread), attempt(lambda: amount(one.shared_mem_per_block)),
            attempt(lambda: amount(one.local_mem_per_thread)))


# --- devices ---


def place(device):
    return f"the host device, {device.name}" if device.is_host else f"GPU {device.id}, {device.name}"


def device_rows(device):
    from pyptx import _pyptx

    free, total = device.memory_info()
    rows = [("memory", f"{amount(total)}, {amount(free)} free")]
    if device.is_host:
        return [("threads", _pyptx._facts()["host_threads"]), *rows]
    major, minor = device.compute_capability
    return [("compute capability", f"{major}.{minor}"), ("multiprocessors", device.MULTIPROCESSOR_COUNT), *rows, ("UUID", device.uuid)]


def of_device(device, _=False):
    rows = attempt(lambda: device_rows(device))
    return titled(place(device), f"<div>{escape(rows)}</div>" if isinstance(rows, str) else table(rows))


def of_gpus(gpus):
    found = list(gpus)
    return "".join(map(of_device, found)) or titled("no GPU", "<div>kernels run on the host device</div>")


_KINDS = {"DeviceArray": of_array, "Dispatcher": of_kernel, "Device": of_device}


def of(thing, capturing):
    """For the types that are in C. capturing: this thread records a graph."""
    return _KINDS[type(thing).__name__](thing, capturing)
