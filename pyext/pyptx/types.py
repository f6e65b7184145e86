"""The types of kernels: ``float32``, ``float32[:, ::1]``, ``void(float32[:], int32)``.

Scalars are strong, as NumPy's are. Calling one on the host makes a NumPy scalar; in a kernel it
converts. ``float32[:]`` is an array of any strides, ``float32[::1]`` a C-contiguous one,
``float32[::1, :]`` a Fortran-contiguous one.
"""

from pyptx._pyptx import Signature, Type, _own, _type, from_dtype

void = _type("void")
none = _type("none")
boolean = bool_ = b1 = _type("bool")
int8 = i1 = char = _type("int8")
int16 = i2 = short = _type("int16")
int32 = i4 = intc = _type("int32")
int64 = i8 = intp = int_ = long_ = longlong = ssize_t = _type("int64")
uint8 = u1 = byte = uchar = _type("uint8")
uint16 = u2 = ushort = _type("uint16")
uint32 = u4 = uintc = _type("uint32")
uint64 = u8 = uintp = uint = ulong = ulonglong = size_t = voidptr = _type("uint64")
float8_e4m3fn = _type("float8_e4m3fn")
float8_e5m2 = _type("float8_e5m2")
float8_e8m0fnu = _type("float8_e8m0fnu")
float16 = f2 = _type("float16")
bfloat16 = _type("bfloat16")
float32 = f4 = float_ = _type("float32")
float64 = f8 = double = _type("float64")
complex64 = c8 = _type("complex64")
complex128 = c16 = _type("complex128")

signed_domain = frozenset((int8, int16, int32, int64))
unsigned_domain = frozenset((uint8, uint16, uint32, uint64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset((float32, float64))
complex_domain = frozenset((complex64, complex128))
number_domain = integer_domain | real_domain | complex_domain

__all__ = [
    "void", "boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128", "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "intp",
    "uintp", "intc", "uintc", "size_t", "ssize_t", "bool_", "byte", "char", "uchar", "short", "ushort", "int_", "uint", "long_", "ulong", "longlong",
    "ulonglong", "float_", "double", "none", "from_dtype",
]


def Tuple(items):
    """The type of a tuple with items of these types.

    Example:

        pair = pyptx.types.Tuple((pyptx.int32, pyptx.float32[:]))
        print(pair)                             # (int32, float32[:])
    """
    items = tuple(map(_own, items))
    return _type("(" + ", ".join(map(str, items)) + ("," if len(items) == 1 else "") + ")")


def UniTuple(item, count):
    """The type of a tuple of `count` items of one type.

    Example:

        print(pyptx.types.UniTuple(pyptx.int32, 2))             # (int32, int32)
    """
    return Tuple((item,) * count)


def NamedTuple(items, cls):
    """The type of a named tuple: types of its fields in order, and its class.

    Example:

        Point = collections.namedtuple("Point", "x y")
        kind = pyptx.types.NamedTuple((pyptx.float32, pyptx.float32), Point)
    """
    items = tuple(map(_own, items))
    if len(items) != len(cls._fields):
        raise ValueError(f"{cls.__name__} has {len(cls._fields)} fields, but {len(items)} types are given")
    return _type(f"{cls.__name__}({', '.join(f'{name}: {item}' for name, item in zip(cls._fields, items))})")


class _Arrays(type):
    def __instancecheck__(cls, t):
        return isinstance(t, Type) and hasattr(t, "ndim")


class Array(metaclass=_Arrays):
    """The type of an array: layout "C", "F" or "A" (any strides). isinstance(t, Array) tells
    whether a type is one.

    Example:

        print(pyptx.types.Array(pyptx.float32, 2, "C"))         # float32[:,::1]
    """

    def __new__(cls, dtype, ndim, layout):
        if layout not in ("C", "F", "A") or ndim < 1:
            raise ValueError("layout is 'C', 'F' or 'A', and an array has at least one axis here")
        axes = [slice(None)] * ndim
        if layout != "A":
            axes[-1 if layout == "C" else 0] = slice(None, None, 1)
        return _own(dtype)[tuple(axes)]


class _None(type):
    def __instancecheck__(cls, t):
        return isinstance(t, Type) and t in (none, void)


class NoneType(metaclass=_None):
    """isinstance(t, NoneType) tells whether a type is `none`, or `void` as the result of a kernel is.

    Example:

        print(isinstance(pyptx.types.none, pyptx.types.NoneType))   # True
    """

    def __new__(cls):
        return none


def CPointer(dtype):
    """The type of an address of elements: ``void(CPointer(uint8), uint32)``.

    A kernel is given it as an int, such as ``x.__cuda_array_interface__["data"][0]``, and indexes
    it; nothing knows or checks its extent. A function of cuda.declare_device is given a contiguous
    array, ``x.ctypes`` or ``ffi.from_buffer(x)``.

    Example:

        kind = pyptx.types.CPointer(pyptx.uint8)
    """
    return _type(f"CPointer({_own(dtype)!r})")


def NPDatetime(unit):
    """The type of `datetime64` with a unit such as "ns" or "25s".

    Example:

        print(pyptx.types.NPDatetime("ns"))      # datetime64[ns]
    """
    return from_dtype(f"M8[{unit}]")


def NPTimedelta(unit=""):
    """The type of `timedelta64` with a unit such as "ns", or without one.

    Example:

        print(pyptx.types.NPTimedelta("s"))      # timedelta64[s]
    """
    return from_dtype(f"m8[{unit}]" if unit else "m8")


_NUMBAS = {
    "Optional": "a parameter may be None, and has an overload for it", "optional": "a parameter may be None, and has an overload for it",
    "Integer": "compare with the types: t in (types.int32, types.int64)", "Float": "compare with the types: t in (types.float32, types.float64)",
    "Record": "from_dtype(dtype) is the type of a structured dtype", "unicode_type": "strings are constants of kernels", "List": "pass an array or a tuple",
}


def __getattr__(name):
    if name == "bool":  # no global of this module, where it would hide Python's
        return boolean
    if name in _NUMBAS:
        raise AttributeError(f"pyptx has no type '{name}' as Numba's compiler has: {_NUMBAS[name]}", name=name)
    raise AttributeError(f"module 'pyptx.types' has no attribute '{name}'", name=name)
