"""The types of kernels: float32, float32[:, ::1], void(float32[:], int32)."""

from collections.abc import Iterable
from typing import Any, Literal, final

import numpy as np

__all__ = [
    "void", "boolean", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "b1", "i1", "i2", "i4",
    "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "intp", "uintp", "intc", "uintc",
    "size_t", "ssize_t", "bool_", "byte", "char", "uchar", "short", "ushort", "int_", "uint",
    "long_", "ulong", "longlong", "ulonglong", "float_", "double", "none", "from_dtype",
]

@final
class Type:
    """A type of kernels. Calling a scalar type gives a NumPy scalar, calling a type with types a signature."""

    name: str
    dtype: Any
    bitwidth: int
    underlying_float: Type
    ndim: int
    layout: Literal["C", "F", "A"]
    def __getitem__(self, axes: slice | tuple[slice, ...], /) -> Type: ...
    def __call__(self, *args: Any) -> Any: ...

@final
class Signature:
    """The types of a function's arguments and result: void(float32[:], int32)."""

    name: str
    args: tuple[Type, ...]
    return_type: Type

def CPointer(dtype: Type) -> Type:
    """The type of an address of elements."""

def from_dtype(dtype: Any, /) -> Type:
    """The type of a NumPy dtype: a scalar type, or a record type for a structured one."""

void: Type
none: Type
boolean: Type
bool_: Type
b1: Type
int8: Type
i1: Type
int16: Type
i2: Type
int32: Type
i4: Type
intc: Type
int64: Type
i8: Type
intp: Type
int_: Type
uint8: Type
u1: Type
byte: Type
uint16: Type
u2: Type
uint32: Type
u4: Type
uintc: Type
uint64: Type
u8: Type
uintp: Type
uint: Type
char: Type
short: Type
long_: Type
longlong: Type
ssize_t: Type
voidptr: Type
uchar: Type
ushort: Type
ulong: Type
ulonglong: Type
size_t: Type
float16: Type
f2: Type
float8_e4m3fn: Type
float8_e5m2: Type
float8_e8m0fnu: Type
bfloat16: Type
float32: Type
f4: Type
float64: Type
f8: Type
float_: Type
double: Type
complex64: Type
c8: Type
complex128: Type
c16: Type

def Tuple(items: Iterable[Type]) -> Type: ...
def UniTuple(item: Type, count: int) -> Type: ...
signed_domain: frozenset[Type]
unsigned_domain: frozenset[Type]
integer_domain: frozenset[Type]
real_domain: frozenset[Type]
complex_domain: frozenset[Type]
number_domain: frozenset[Type]

class Array:
    def __new__(cls, dtype: Type, ndim: int, layout: Literal["C", "F", "A"]) -> Type: ...  # type: ignore[misc]

class NoneType:
    def __new__(cls) -> Type: ...  # type: ignore[misc]

def NPDatetime(unit: str) -> Type: ...
def NPTimedelta(unit: str = "") -> Type: ...
