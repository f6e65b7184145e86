"""The modules that stand for numba.cuda's, and for Numba's where it is not installed.

A name that pyptx has is pyptx's, in whichever module Numba keeps it. What Numba has and pyptx does
not is a Missing: it can be imported, and raises where it is used, with a message that says what to
write instead.
"""

import importlib
import os
import sys
from types import ModuleType

from pyptx.numba import _settings

typing = None  # what install() was told

_CUDA = "numba.cuda"

# Modules of numba.cuda that importing programs may name. Those that pyptx.cuda has too are pyptx's;
# of the others each name is looked up.
_CUDAS = frozenset((
    "api api_util args bf16 cache_hints cext cg cgutils cloudpickle codegen compiler config coop core cpython cuda_paths cudadecl cudadrv cudaimpl "
    "cudamath datamodel debuginfo decorators descriptor device_init devicearray deviceufunc dispatcher errors extending flags fp16 fp8 initialize intrinsic_wrapper "
    "intrinsics itanium_mangler kernels launchconfig libdevice libdevicedecl libdevicefuncs libdeviceimpl locks lowering mathimpl memory_management "
    "literal misc models np nvvm nvvmutils printimpl random reduction serialize simulator simulator_init stubs target testing typeconv types typing ufuncs utils "
    "vector_types vectorizers _internal _compat Dim3 GridGroup LTOIR deferred_type ffi ffi_forced_object optional "
    "prepare_shape_strides_dtype reduce Reduce vectorize guvectorize").split())

# The same of Numba itself, for where it is not installed.
_NUMBAS = frozenset("core cpython errors experimental extending misc np parfors pycc stencils typed typeconv types config".split())
_NUMBAS_NAMES = frozenset("cfunc generated_jit gdb gdb_init jit_module jitclass objmode stencil threading_layer get_num_threads set_num_threads "
                          "overload intrinsic optional deferred_type ffi vectorize guvectorize".split())

# Modules of the inside of numba.cuda whose names are those of one of pyptx's.
_INSIDE = {"_internal.cuda_bf16": "bf16", "_internal.cuda_fp8": "fp8"}

# What to use instead, by the longest start of a name.
_INSTEAD = {
    "numba": "install Numba for its CPU side; kernels and njit functions are compiled from plain Python functions",
    "numba.core": "this is the inside of Numba's compiler; catch pyptx.CompileError, and write what it generated as a function that kernels call",
    "numba.extending": "kernels call plain Python functions: write the overload as one",
    "numba.typed": "kernels take arrays and tuples",
    "numba.experimental": "kernels take structured arrays and named tuples in place of classes",
    "numba.jitclass": "kernels take structured arrays and named tuples in place of classes",
    "numba.cuda": "this is the inside of Numba's compiler; pyptx.cuda has what Numba's manual describes under its own names",
    "numba.cuda.extending": "kernels call plain Python functions: write the overload or intrinsic as one (cuda.jit(device=True)), or link code of "
                            "another compiler (cuda.declare_device)",
    "numba.cuda.simulator": "PYPTX_DEVICE=host runs kernels on the CPU and checks every index",
    "numba.cuda.cudadrv": "pyptx has its own driver layer; cuda.current_context(), cuda.get_current_device(), cuda.stream() and cuda.MemoryPointer are the "
                          "objects of programs",
    "numba.cuda.cudadrv.nvvm": "pyptx needs no NVVM: kernel.inspect_asm() and `pyptx compile --emit` show what it generates",
    "numba.cuda.cudadrv.nvrtc": "cuda.CUSource is CUDA C++ that a kernel links",
    "numba.cuda.testing": "unittest.TestCase serves; PYPTX_DEVICE=host runs the tests without a GPU",
    "numba.cuda.memory_management": "memory is reference-counted by device arrays; cuda.memory_info() has its numbers",
    "numba.cuda.fp16": "float16 is a number as others are: pyptx.float16, with the operators and math functions",
}


def _instead(name):
    while name not in _INSTEAD:
        name = name.rpartition(".")[0]
    return _INSTEAD[name]


class Names(ModuleType):
    """A module whose names are looked up when they are asked for: `find(name)` gives one, or raises
    AttributeError."""

    def __init__(self, name, find, doc=None):
        super().__init__(name, doc)
        self.__dict__["_find"] = find
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'", name=name)
        return self._find(name)


class Missing:
    """Something of Numba's that pyptx does not have, a module or what is in one. It can be
    imported; to use it raises NotImplementedError."""

    def __new__(cls, name):
        return super().__new__(type(name, (cls,), {"__module__": _CUDA}))  # the compiler names the class of what it does not know

    def __init__(self, name):
        self.__name__ = name
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"'{self.__name__}' has no attribute '{name}'", name=name)
        return _in_numbas(self.__name__, name)

    def __repr__(self):
        return f"<{self.__name__}, which pyptx does not have>"

    def __setattr__(self, name, value):
        if not name.startswith("__") and not isinstance(value, (ModuleType, Missing)):
            _refuse(self)
        super().__setattr__(name, value)


def _refuse(self, *args, **kws):
    from pyptx import types

    last = self.__name__.rpartition(".")[2]
    instead = types._NUMBAS.get(last) if ".types." in self.__name__ else None
    raise NotImplementedError(f"pyptx has no {self.__name__}: {instead or _instead(self.__name__)}")


for _use in ("call getitem setitem delitem iter len contains bool enter mro_entries instancecheck subclasscheck lt le gt ge add radd sub rsub mul rmul "
             "truediv floordiv mod pow neg pos abs or ror and rand xor invert matmul int float index complex").split():
    setattr(Missing, f"__{_use}__", _refuse)


def _errors(name):
    """numba.core.errors: errors of the compiler are CompileError, its remarks Advice; its other
    warnings exist, and are never given."""
    from pyptx import errors

    known = {"NumbaValueError": errors.CompileValueError, "NumbaTypeError": errors.CompileTypeError, "NumbaIndexError": errors.CompileIndexError,
             "NumbaAttributeError": errors.CompileAttributeError, "NumbaNotImplementedError": errors.CompileNotImplementedError,
             "NumbaWarning": Warning, "NumbaPerformanceWarning": errors.Advice, "CudaSupportError": errors.CudaSupportError,
             "KernelRuntimeError": RuntimeError}
    if name in known:
        return known[name]
    if name.endswith("Warning"):
        return type(name, (Warning,), {"__module__": "pyptx.numba", "__doc__": "A warning of Numba's, which pyptx never gives."})
    return errors.CompileError if name.endswith("Error") or name in ("ForbiddenConstruct",) else None


def typing_option(options):
    """{"typing": …} for a decorator with these options: {} if they say it, or PYPTX_TYPING alone
    does."""
    return {"typing": typing or "numba"} if "typing" not in options and (typing or not os.environ.get("PYPTX_TYPING")) else {}


def _jit(function):
    """numba.cuda's form of a function of pyptx.cuda that has the option typing."""
    def wrapper(*args, **options):
        return function(*args, **typing_option(options), **options)

    for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(wrapper, attribute, getattr(function, attribute))
    wrapper.__wrapped__ = function
    return wrapper


def _extra(name):
    """Names of numba.cuda that pyptx.cuda does not have, or has in another form; None."""
    from pyptx import cuda, errors, types

    if name in ("jit", "compile", "compile_all", "compile_ptx", "compile_for_current_device", "compile_ptx_for_current_device"):
        return _jit(getattr(cuda, name))
    if name in ("literal_unroll", "literally"):
        return _own_function(name)
    return {
        "is_fp8_supported": lambda: cuda.is_bfloat16_supported,  # conversions to 8-bit floats work on every device
        "LinkerError": lambda: errors.ModuleError, "CompilationError": lambda: errors.CompileError, "NvrtcError": lambda: RuntimeError,
        "config": lambda: importlib.import_module("pyptx.config"), "bool": lambda: types.boolean,
        "implementation": lambda: "pyptx", "HAS_NUMBA": lambda: getattr(sys.modules.get("numba"), "__file__", None) is not None,
        "CUDADispatcher": lambda: type(cuda.jit(lambda: None)), "DeviceRecord": lambda: cuda.DeviceNDArray,
        "FakeCUDAArray": lambda: cuda.DeviceNDArray, "KernelRuntimeError": lambda: RuntimeError, "from_dtype": lambda: types.from_dtype,
        "PYVERSION": lambda: sys.version_info[:2], "errors": lambda: importlib.import_module("numba.cuda.errors"),
        "CompileError": lambda: errors.CompileError, "signature": lambda: _signature, "as_dtype": lambda: _as_dtype, "typeof": lambda: typeof, "driver": lambda: cuda.cudadrv.driver, "devices": lambda: cuda.cudadrv.devices,
    }.get(name, lambda: None)()


def _signature(result, *args):
    """typing.signature: signature(int32, float32) is int32(float32)."""
    return result(*args)


def _as_dtype(t):
    """numpy_support.as_dtype: NumPy's dtype of a type."""
    import numpy

    return numpy.dtype(t)


def typeof(value):
    """Numba's type of a number or an array, as an argument of a kernel: typeof(np.zeros((2, 3))) is
    float64[:, ::1]."""
    import numpy

    from pyptx import types

    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, numpy.generic):
        return {bool: types.boolean, int: types.int64, float: types.float64, complex: types.complex128}[type(value)]
    dtype = types.from_dtype(value.dtype)
    if not getattr(value, "ndim", 0):
        return dtype
    layout = "C" if value.flags["C_CONTIGUOUS"] else "F" if value.flags["F_CONTIGUOUS"] else "A"
    return types.Array(dtype, value.ndim, layout)


def _own_function(name):
    from pyptx import _numba

    return _numba._FUNCTIONS[name]


def _in_cuda(name):
    """A name of numba.cuda, or of the inside of it, that pyptx has; None."""
    from pyptx import cuda

    if name not in _CUDAS:
        found = _extra(name)
        return found if found is not None else getattr(cuda, name, None)
    return None


def _in_numbas(module, name):
    """A name of a module of Numba's that pyptx has no module for."""
    found = None
    if name in ("config", "types"):
        return importlib.import_module(f"{module}.{name}")
    if module.rpartition(".")[2] == "errors":
        found = _errors(name)
    elif module.startswith(_CUDA):
        found = _in_cuda(name)
    elif module.startswith("numba.core") or module.startswith("numba.np.numpy_support"):
        found = _of_numba(name)
    return found if found is not None else Missing(f"{module}.{name}")


def _of_numba(name):
    """A name of `numba` where Numba is not installed; None."""
    import pyptx
    from pyptx import types
    from pyptx.numba import _cpu_ufuncs, _njit

    if name == "cuda":
        return importlib.import_module("numba.cuda")
    if name == "config":
        return importlib.import_module("numba.config")
    if name in types.__all__ or name in ("types", "from_dtype"):
        return getattr(pyptx, name, None)
    if name in ("vectorize", "guvectorize"):
        return getattr(_cpu_ufuncs, name)
    if name in ("jit", "njit", "prange"):
        return getattr(_njit, name)
    if name in ("literal_unroll", "literally"):
        return _own_function(name)
    if name == "typeof":
        return typeof
    if name == "bool":
        return types.boolean
    return None


def _numba():
    def find(name):
        found = _of_numba(name)
        if found is None and name in _NUMBAS | _NUMBAS_NAMES:
            found = importlib.import_module(f"numba.{name}") if name in _NUMBAS else Missing(f"numba.{name}")
        if found is None:
            raise AttributeError(f"module 'numba' (which is pyptx, since Numba is not installed) has no attribute '{name}'", name=name)
        return found

    module = Names("numba", find, "What pyptx has of Numba, which is not installed.")
    module.__version__ = "0.68.0"
    from pyptx import types

    module.__all__ = ["cuda", "config", "guvectorize", "jit", "njit", "prange", "types", "vectorize", *types.__all__]
    return module


def _cuda():
    from pyptx import cuda

    def find(name):
        found = _in_cuda(name)
        return found if found is not None else getattr(cuda, name)  # the latter for its message

    module = Names(_CUDA, find, cuda.__doc__)
    module.__file__ = cuda.__file__
    module.__all__ = list(cuda.__all__)
    for name in cuda.__all__:  # without a detour for those that programs use
        if name not in _CUDAS:
            module.__dict__[name] = getattr(module, name)
    return module


def _pyptxs(name):
    """pyptx's own module for one of Numba's, or the object that has its names; None."""
    from pyptx import cuda

    if name.endswith((".config", ".types")):
        return importlib.import_module("pyptx." + name.rpartition(".")[2])
    if not name.startswith(_CUDA + "."):
        return None
    part = name[len(_CUDA) + 1 :]
    part = _INSIDE.get(part, part)
    try:
        return importlib.import_module(f"pyptx.cuda.{part}")
    except ModuleNotFoundError:
        return None if "." in part else getattr(cuda, part, None)


def exists(name):
    """True if Numba has a module of this name, or pyptx one that stands for it."""
    parts = name.split(".")
    if parts[:2] == ["numba", "cuda"]:
        return len(parts) == 2 or (parts[2] in _CUDAS and "tests" not in parts) or _pyptxs(name) is not None
    return len(parts) == 1 or parts[1] in _NUMBAS


def _of_module(real, name):
    """A module under Numba's name `name`, with what pyptx's module has; Numba's other names are
    Missing."""
    def find(part):
        if part.startswith("_") or not hasattr(real, part):
            return _in_numbas(name, part)
        value = getattr(real, part)
        return importlib.import_module(f"{name}.{part}") if value is _pyptxs(f"{name}.{part}") else value

    return Names(name, find, real.__doc__)


def make(name, standalone):
    """The module of this name."""
    if name == _CUDA:
        return _cuda()
    if name == "numba":
        return _numba()
    if name == "numba.cuda.vectorizers":
        return importlib.import_module("pyptx.numba._vectorizers")
    if name in ("numba.config", "numba.core.config"):
        return _settings.settings(name)
    found = _pyptxs(name)
    if isinstance(found, ModuleType) and name.rpartition(".")[2] != "config":
        return _of_module(found, name)
    return found if found is not None else Missing(name)
