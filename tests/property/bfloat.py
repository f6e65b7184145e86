"""bfloat16 as a scalar of NumPy's kind, in plain Python: the reference's, which wants no package.

An operation is one operation in float32, rounded once to nearest even. A conversion rounds the given number
once, whatever its type. Beside another type: the promotion of semantics.md, a float32 for what bfloat16 does
not hold. test_programs.py compares it with ml_dtypes where they must agree.
"""

import math

import numpy as np


def nearest(v):
    """The bfloat16 value next to a number, ties to even, as a float."""
    if isinstance(v, (bool, int, np.integer, np.bool_)):
        n, e, negative = abs(int(v)), 0, v < 0
    else:
        v = float(v)
        if not math.isfinite(v) or v == 0:
            return v
        m, e = math.frexp(abs(v))
        n, e, negative = int(m * 2**53), e - 53, v < 0
    drop = max(n.bit_length() - 8, -133 - e)  # 8 bits are kept; the lowest is worth 2**-133 at least
    if drop > 0:
        n, rest = divmod(n, 1 << drop)
        half = 1 << (drop - 1)
        n += rest > half or (rest == half and n & 1)
        e += drop
    value = math.inf if n.bit_length() + e > 128 else math.ldexp(n, e)
    return -value if negative else value


OF_TRUTH = {np.logical_and, np.logical_or, np.logical_xor, np.logical_not}  # each operand by itself: a tiny Python float stays true


class BFloat16:
    __slots__ = ("value",)  # a np.float32

    def __init__(self, v=0):
        self.value = v.value if isinstance(v, BFloat16) else np.float32(nearest(v))

    @classmethod
    def of_bits(cls, bits):
        self = cls.__new__(cls)
        self.value = (np.uint32(bits) << np.uint32(16)).view(np.float32)
        return self

    def bits(self):
        return np.uint16(self.value.view(np.uint32) >> 16)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in OF_TRUTH or not all(type(x) in HELD for x in inputs):
            return ufunc(*(x.value if isinstance(x, BFloat16) else x for x in inputs))
        result = ufunc(*(BFloat16(x).value for x in inputs))
        return tuple(map(rounded, result)) if isinstance(result, tuple) else rounded(result)

    def __float__(self):
        return float(self.value)

    def __int__(self):
        return int(self.value)

    def __bool__(self):
        return bool(self.value)

    def __round__(self, digits):
        """By a power of ten, as NumPy rounds floats."""
        scale = BFloat16(10**digits)
        return np.rint(self * scale) / scale

    def __repr__(self):
        return f"bfloat16({float(self.value)!r})"

    def __hash__(self):
        return hash(self.value)


HELD = {BFloat16, bool, int, float, np.bool_, np.int8, np.uint8}  # what gives a bfloat16 beside one


def rounded(x):
    return BFloat16(x) if isinstance(x, np.float32) else x


def method(ufunc, swapped=False):
    if ufunc.nin == 1:
        return lambda self: ufunc(self)
    return (lambda self, other: ufunc(other, self)) if swapped else (lambda self, other: ufunc(self, other))


UNARY = dict(neg=np.negative, pos=np.positive, abs=np.absolute)
BINARY = dict(
    add=np.add, sub=np.subtract, mul=np.multiply, truediv=np.true_divide, floordiv=np.floor_divide, mod=np.remainder,
    pow=np.power, divmod=np.divmod,
)  # fmt: skip
COMPARE = dict(lt=np.less, le=np.less_equal, eq=np.equal, ne=np.not_equal, gt=np.greater, ge=np.greater_equal)
for name, ufunc in {**UNARY, **BINARY, **COMPARE}.items():
    setattr(BFloat16, f"__{name}__", method(ufunc))
for name, ufunc in BINARY.items():
    setattr(BFloat16, f"__r{name}__", method(ufunc, swapped=True))

__all__ = ["BFloat16", "nearest"]
