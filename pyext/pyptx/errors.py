"""The exceptions of pyptx.

A compile error is a :class:`CompileError` and also the builtin that fits: ``CompileTypeError`` is a ``TypeError``. It has
``code`` ("PT204"), ``filename``, ``lineno``, ``offset`` (column, from 1), ``end_lineno``, ``end_offset`` and ``text`` (the source line).

A remark about a kernel that compiles is an :class:`Advice`, a warning.
"""

import os
import sys
import warnings


class CompileError(Exception):
    """A kernel cannot be compiled. str() shows where, why and what to do.

    Example:

        try:
            cuda.compile_ptx(lambda x: [x], "void(int32)")
        except pyptx.CompileError as error:
            print(error.code)
    """

    code: str | None = None
    filename: str | None = None
    lineno: int | None = None
    offset: int | None = None
    end_lineno: int | None = None
    end_offset: int | None = None
    text: str | None = None

    def __str__(self):
        return str(self.args[0]) if self.args else ""


def _compile_error(base):
    # The class attributes above must not hide SyntaxError's own members, which tracebacks read.
    own = {n: getattr(base, n) for n in ("filename", "lineno", "offset", "end_lineno", "end_offset", "text") if hasattr(base, n)}
    own.update(__module__=__name__, __doc__=f"A CompileError that is {base.__name__} too.")
    return type("Compile" + base.__name__, (CompileError, base), own)


CompileSyntaxError = _compile_error(SyntaxError)
CompileTypeError = _compile_error(TypeError)
CompileValueError = _compile_error(ValueError)
CompileNameError = _compile_error(NameError)
CompileUnboundLocalError = _compile_error(UnboundLocalError)
CompileAttributeError = _compile_error(AttributeError)
CompileIndexError = _compile_error(IndexError)
CompileOverflowError = _compile_error(OverflowError)
CompileRecursionError = _compile_error(RecursionError)
CompileNotImplementedError = _compile_error(NotImplementedError)
CompileRuntimeError = _compile_error(RuntimeError)
CompileMemoryError = _compile_error(MemoryError)


class Advice(UserWarning):
    """Something that the compiler noticed in a kernel that compiles, or that a launch shows (PT811 and above): a warning, once for each
    place in a process. The place of a launch's advice is the line that launches.

    ``code`` ("PT801"), ``message``, ``file``, ``line``, ``column`` (from 1) and ``help``; str() shows the source with a caret.
    ``warnings.simplefilter("error", pyptx.Advice)`` or PYPTX_ADVICE=error raises it where the kernel is compiled, PYPTX_ADVICE=0 omits it.

    Example:

        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("error", pyptx.Advice)
    """

    code = message = file = line = column = help = None
    _about = None  # which kernel, of advice about a launch: one line may launch several

    def __str__(self):
        return str(self.args[0]) if self.args else ""


def shown_name(file):
    """What messages call a source file: the notebook's name of a cell, "Cell In[3]", as IPython's own tracebacks have it; else None."""
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    number = shell and shell.compile._filename_map.get(file)
    return None if number is None else f"Cell In[{number}]"


_advised = {}
_OF_NAMES = {"PT816"}  # of which one place may have several, each for a name


def advice_mode():
    """What PYPTX_ADVICE says: "0", "1" (also of "port", which adds a report of pyptx/_port.py) or "error"."""
    mode = os.environ.get("PYPTX_ADVICE") or "1"
    if mode not in ("0", "1", "error", "port"):
        raise ValueError(f"PYPTX_ADVICE is '{mode}': write 0 (no advice), 1 (warnings), error (raised) or port (places that Numba types differently)")
    return "1" if mode == "port" else mode


def show_advice(advice, module):
    """Warns of what was not said yet; `module` is the kernel's, for the filters of warnings."""
    mode = advice_mode()
    for a in advice if mode != "0" else ():
        if mode == "error":
            raise a
        place = (a.code, a.file, a.line, a.column, a.message if a.code in _OF_NAMES else a._about)
        if _advised.setdefault(place, a) is not a:
            continue
        try:
            warnings.warn_explicit(a, Advice, a.file or "<unknown>", a.line or 1, module=module)
        except BaseException:  # a filter has made it an error, which the next compilation raises too
            _advised.pop(place, None)
            raise


_places = {}


def advise(code, what):
    """Advice of a row of ir/base/errors.def about `what`, at the caller outside of pyptx and NumPy: once a process for each `what`."""
    import sys

    from pyptx import _pyptx

    if advice_mode() == "0" or (_places.get((code, what)) and advice_mode() != "error"):
        return
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("pyptx", "numpy"):
        frame = frame.f_back
    message, remedy = _pyptx._advice_row(code)
    message %= what
    file, line = frame.f_code.co_filename, frame.f_lineno
    advice = Advice(f"{code}: {message}\n  {os.path.basename(file)}:{line}, in {frame.f_code.co_name}\n  help: {remedy}")
    advice.code, advice.message, advice.help, advice.file, advice.line = code, message, remedy, file, line
    if advice_mode() == "error":
        raise advice
    _places[code, what] = file, line
    try:
        warnings.warn_explicit(advice, Advice, file, line, module=frame.f_globals.get("__name__"))
    except BaseException:
        del _places[code, what]
        raise


class CacheWarning(RuntimeWarning):
    """The disk cache cannot be used as requested; kernels are compiled nevertheless. Each reason is reported once in a process."""


class DriverError(RuntimeError):
    """The CUDA driver or the device failed. ``call`` is the driver's entry point, ``result`` and ``result_name`` its result."""

    call = result = result_name = None


class CudaAPIError(DriverError):
    """A call of the driver failed."""


class NoDriverError(DriverError):
    """There is no NVIDIA driver, or it is too old."""


class NoDeviceError(DriverError):
    """There is no such GPU."""


class OutOfMemoryError(CudaAPIError, MemoryError):
    """The device has no memory left."""


class ContextLostError(CudaAPIError):
    """A kernel failed before (illegal address, trap), and with it the GPU's context: every call fails.

    A new process works. In this one `device.reset()` makes a new context, without the arrays, streams
    and graphs of the old one; after some faults the driver refuses that too. Also raised for what was
    made before a reset.
    """


class ModuleError(CudaAPIError):
    """The driver refused compiled code."""


class LinkFileError(ModuleError, ValueError):
    """A name given to link= does not say what kind of code the file holds."""


class LinkFileNotFoundError(ModuleError, FileNotFoundError):
    """There is no such file as link= names."""


CudaSupportError = DriverError
NumbaPerformanceWarning = Advice  # what programs for Numba silence
