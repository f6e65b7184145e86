"""The exceptions of pyptx.

A compile error is a :class:`CompileError` and also the builtin that fits: ``CompileTypeError`` is a ``TypeError``. It has
``code`` ("PT204"), ``filename``, ``lineno``, ``offset`` (column, from 1), ``end_lineno``, ``end_offset`` and ``text`` (the source line).
"""


class CompileError(Exception):
    """A kernel cannot be compiled. str() shows where, why and what to do."""

    code = filename = lineno = offset = end_lineno = end_offset = text = None

    def __str__(self):
        return str(self.args[0]) if self.args else ""


def _compile_error(base):
    # The class attributes above must not hide SyntaxError's own members, which tracebacks read.
    own = {n: getattr(base, n) for n in ("filename", "lineno", "offset", "end_lineno", "end_offset", "text") if hasattr(base, n)}
    own.update(__module__=__name__, __doc__=f"A compile error that is a {base.__name__}.")
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


class CacheWarning(RuntimeWarning):
    """The disk cache cannot be used as asked; kernels are compiled all the same. Each reason is said once a process."""


class DriverError(RuntimeError):
    """The CUDA driver or the device failed. ``call`` is the driver's entry point, ``result`` and ``result_name`` its answer."""

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
    """An earlier kernel failed (illegal address, trap): the process can no longer use this GPU."""


class ModuleError(CudaAPIError):
    """The driver refused compiled code."""


CudaSupportError = DriverError
