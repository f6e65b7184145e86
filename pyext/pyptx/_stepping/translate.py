"""A kernel's own function with the names that it sees replaced: the same code object, so that debuggers and coverage.py see the user's lines.

Replaced are the globals and closure values that mean something else in a kernel: cuda, math, NumPy's number types and functions, arrays,
kernels and device functions, modules that have such things.
"""

import builtins
import dis
import sys
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType

import numpy as np

from pyptx import _pyptx
from pyptx._stepping import functions, memory, names

_NUMBER_TYPES = (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32,
                 np.float64, np.complex64, np.complex128)


class _Constructor(type):
    """The class of NumPy's number types as kernels see them: calling one converts as kernels convert."""

    def __call__(cls, x=0, *imaginary):
        return memory.convert(complex(x, *imaginary) if imaginary else x, cls.dtype)

    def __instancecheck__(cls, x):
        return isinstance(x, cls.dtype.type)

    def __subclasscheck__(cls, other):
        return issubclass(getattr(other, "_number", other), cls._number)

    def __eq__(cls, other):
        return getattr(other, "_number", other) is cls._number

    def __hash__(cls):
        return hash(cls._number)


def _constructor(number):
    return _Constructor(number.__name__, (), {"dtype": np.dtype(number), "_number": number, "__module__": "numpy"})


_CONSTRUCTORS = {number: _constructor(number) for number in _NUMBER_TYPES}


def _type_of(x, *more):
    return _CONSTRUCTORS.get(type(x)) or type(x) if not more else type(x, *more)


def _names_in(code):
    """Names that a code object, or one inside it, may look up: not those of attributes."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names_in(constant)
    return found


def _declared(name):
    def call(*_, **__):
        raise NotImplementedError(f"{name} is code of another compiler (cuda.declare_device), which cannot run in Python")

    return call


class _Module:
    """A module as kernels see it."""

    def __init__(self, module, translator):
        self._module, self._translator = module, translator

    def __getattr__(self, name):
        found = self._translator.value(getattr(self._module, name))
        if isinstance(found, names.Value):
            return found.read()
        self.__dict__[name] = found
        return found

    def __dir__(self):
        return dir(self._module)

    def __repr__(self):
        return repr(self._module)


class Translator:
    """Of one launch. per_thread: (dict, name, Value) of globals that each thread reads anew; builtins: what kernels find behind globals."""

    def __init__(self):
        self._seen = {}  # id → (object, what it became)
        self._globals = {}  # id of globals → (globals, what they became)
        self.per_thread, self.after = [], []
        self.set_trace = None  # what pdb.set_trace is
        self.builtins = dict(vars(builtins), type=_type_of)

    def value(self, x):
        """What an object that a kernel names is in Python."""
        if x is None or isinstance(x, (bool, int, float, complex, str, bytes)):
            return x
        if id(x) not in self._seen:
            found = self._translated(x)
            if id(x) not in self._seen:  # a function puts itself there before what it names
                self._seen[id(x)] = x, found
        return self._seen[id(x)][1]

    def _translated(self, x):
        x = _pyptx._own(x)
        if isinstance(x, _pyptx.Dispatcher):
            return self.value(x.py_func)
        if isinstance(x, _pyptx.Intrinsic):
            return names.of(x)
        if isinstance(x, FunctionType):
            return self.set_trace if x.__name__ == "set_trace" and x.__module__ == "pdb" else self._function(x)
        if isinstance(x, ModuleType):
            return _Module(x, self)
        if isinstance(x, tuple):
            items = [self.value(item) for item in x]
            return type(x)._make(items) if hasattr(x, "_make") else tuple(items)
        if isinstance(x, (np.ndarray, np.void, _pyptx.DeviceArray)):
            return self.array(x, constant=True)
        return self._callable(x)

    def _callable(self, x):
        if isinstance(x, type):
            return _CONSTRUCTORS.get(x, x)
        if isinstance(x, _pyptx.Type):
            return self._number_type(x)
        if isinstance(x, BuiltinFunctionType) and x.__module__ in ("math", "cmath", "_math_integer"):
            return functions.function(x, f"{x.__module__}.{x.__name__}", x)
        if isinstance(x, np.ufunc):
            return functions.function(x, f"numpy.{x.__name__}", x)
        if type(x).__name__ == "_ArrayFunctionDispatcher" and x.__name__ in ("round", "around", "clip", "where", "angle"):
            return functions.function(x, f"numpy.{x.__name__}", x)
        if hasattr(x, "__pyptx_declared__"):
            return _declared(getattr(x, "__name__", x))
        return x

    def _number_type(self, x):
        dtype = names._dtype(x) if x.dtype == x and x.bitwidth else None
        return _CONSTRUCTORS.get(dtype.type, dtype.type) if dtype is not None and not dtype.names else names._dtype(x) if dtype is not None else x

    def array(self, x, constant=False):
        """An array or a record, as an argument or frozen."""
        if x.dtype in (np.dtype("V2"), np.dtype("V1")):
            kind = "bfloat16" if x.dtype.itemsize == 2 else "a float of 8 bits"
            raise NotImplementedError(f"{kind} in runs in Python needs the package ml_dtypes, whose numbers compute")
        if isinstance(x, _pyptx.DeviceArray):
            return self._device_array(x)
        if isinstance(x, np.void):
            return memory.record(x)
        return memory.memory(x, readonly=constant)

    def _device_array(self, x):
        if x.device.is_host:
            found = memory.memory(memory.at(x.device_ctypes_pointer.value or 0, x.shape, x.strides, x.dtype))
        else:
            copy = x.copy_to_host()
            self.after.append(lambda: x.copy_to_device(copy))
            found = memory.memory(copy)
        return found[()] if found.ndim == 0 and x.dtype.names else found

    def argument(self, x):
        """An argument of a launch."""
        if hasattr(x, "__pyptx_way__"):
            return self.argument(x.value)
        if isinstance(x, (np.ndarray, np.void, _pyptx.DeviceArray)):
            return self.array(x)
        if type(x) is tuple or (isinstance(x, tuple) and hasattr(x, "_make")):
            items = [self.argument(item) for item in x]
            return type(x)._make(items) if hasattr(x, "_make") else tuple(items)
        if isinstance(x, (bool, int, float, complex, str, bytes, np.generic)) or x is None:
            return x
        if hasattr(x, "__cuda_array_interface__"):
            return self._device_array(_pyptx.as_cuda_array(x))
        if hasattr(x, "__array_interface__") or hasattr(x, "__array__"):
            return memory.memory(np.asarray(x))
        if hasattr(x, "__dlpack__"):
            return self._device_array(_pyptx.as_cuda_array(x))
        return self.value(x)

    def _scope(self, scope):
        if id(scope) not in self._globals:
            self._globals[id(scope)] = scope, {**scope, "__builtins__": self.builtins}
        return self._globals[id(scope)][1]

    def _function(self, f):
        top = (f.__module__ or "").partition(".")[0]
        if top in sys.stdlib_module_names and top != "__main__" or top == "numpy":
            return f
        scope = self._scope(f.__globals__)
        cells = tuple(CellType() for _ in f.__closure__ or ())
        made = FunctionType(f.__code__, scope, f.__name__, None, cells)
        made.__qualname__, made.__module__, made.__kwdefaults__ = f.__qualname__, f.__module__, None
        made.py_func = made  # of what is read as its function
        self._seen[id(f)] = f, made
        for old, new in zip(f.__closure__ or (), cells):
            try:
                new.cell_contents = self._read(old.cell_contents)
            except ValueError:
                pass  # not set
        made.__defaults__ = f.__defaults__ and tuple(map(self.value, f.__defaults__))
        made.__kwdefaults__ = f.__kwdefaults__ and {name: self.value(x) for name, x in f.__kwdefaults__.items()}
        for name in _names_in(f.__code__):
            if name in f.__globals__ and scope[name] is f.__globals__[name]:
                self._global(scope, name, f.__globals__[name])
        return made

    def _global(self, scope, name, x):
        found = self.value(x)
        if isinstance(found, names.Value):
            self.per_thread.append((scope, name, found))
        else:
            scope[name] = found

    def _read(self, x):
        found = self.value(x)
        if isinstance(found, names.Value):
            raise NotImplementedError("a function that keeps cuda.laneid in its closure: write cuda.laneid in the kernel")
        return found


