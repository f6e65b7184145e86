"""What stands for the objects of an installed Numba: its types and signatures, its compiled functions, and what its cuda module names.

Numba is not imported. pyext/compile/numba.c asks here about an object that comes from it; an object is known by the name of its class, or of one
that this derives from, and by its public attributes.
"""

import sys
from types import FunctionType, ModuleType

from pyptx import types

_CUDA = "numba.cuda"


def _identity(iterable):
    return iterable


_FUNCTIONS = {"prange": range, "literal_unroll": _identity, "literally": _identity}  # of numba.misc.special


def _array(t):
    return types.Array(own(t.dtype), t.ndim, t.layout)


_FFI = ModuleType("ffi")  # what kernels see of a cffi.FFI()
_FFI.from_buffer = lambda array: array


def _optional(t):
    raise TypeError(f"kernels have no type for Numba's {t}: a parameter may be None as it is, and has an overload for it; leave the signature out")


# By the class of a type of Numba's; the first of its bases that is here.
_TYPES = {
    "Literal": lambda t: own(t.literal_type) if hasattr(t, "literal_type") else None,
    "Number": lambda t: getattr(types, t.name, None),
    "Boolean": lambda t: types.boolean,
    "NoneType": lambda t: types.none,
    "Array": _array,
    "CPointer": lambda t: types.CPointer(own(t.dtype)),
    "Record": lambda t: types.from_dtype(t.dtype),
    "NPDatetime": lambda t: types.NPDatetime(t.unit),
    "NPTimedelta": lambda t: types.NPTimedelta(t.unit),
    "BaseNamedTuple": lambda t: types.NamedTuple(t.types, t.instance_class),
    "BaseTuple": lambda t: types.Tuple(t.types),
    "EnumMember": lambda t: None,
    "Optional": _optional,
}


def _type(t):
    for base in type(t).__mro__:
        if base.__name__ in _TYPES:
            found = _TYPES[base.__name__](t)
            if found is not None:
                return found
            break
    raise TypeError(f"kernels have no type for Numba's {t}")


def _signature(s):
    result = types.void if s.return_type is None else own(s.return_type)
    return (types.void if result == types.none else result)(*map(own, s.args))


def _of_cuda(module, name):
    """What pyptx.cuda, or its module of the same name, has under the name of something in numba.cuda; None if nothing."""
    from pyptx import cuda

    part = module[len(_CUDA) + 1 :].partition(".")[0]
    place = getattr(cuda, part, cuda) if part in ("random", "libdevice") else cuda
    for step in name.split("."):
        place = getattr(place, step, None)
    return place


def own(thing):
    """pyptx's object for `thing`, which is Numba's, or for a function of pyptx's that is no Dispatcher; `thing` itself if there is none. TypeError for types that kernels do not have."""
    if isinstance(thing, ModuleType):
        found = _of_cuda(_CUDA, thing.__name__[len(_CUDA) + 1 :]) if thing.__name__.startswith(_CUDA + ".") else None
        return sys.modules["pyptx"].cuda if thing.__name__ == _CUDA else found or thing
    if type(thing).__module__ == "cffi.api" and type(thing).__name__ == "FFI":
        return _FFI
    stands = getattr(type(thing), "__pyptx_function__", None)
    if stands is not None:  # pyptx's own vectorize, or its njit where Numba is not installed
        return stands(thing)
    bases = {base.__name__ for base in type(thing).__mro__ if base.__module__.startswith("numba.")}
    if "Type" in bases:
        return _type(thing)
    if "Signature" in bases:
        return _signature(thing)
    function = getattr(thing, "py_func", None) or getattr(thing, "__wrapped__", None)  # njit and its like; vectorize
    named = function if isinstance(function, FunctionType) else thing
    module, name = getattr(named, "__module__", None) or "", getattr(named, "__qualname__", None) or getattr(named, "__name__", None)
    if module.startswith(_CUDA) and isinstance(name, str):
        found = _of_cuda(module, name)
    else:
        found = _FUNCTIONS.get(name) if module == "numba.misc.special" else None
    return found if found is not None else named
