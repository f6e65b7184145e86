"""Functions of bfloat16 in kernels, with the names of CUDA C++'s cuda_bf16.h and of numba.cuda.bf16.

Example:

    import numpy as np
    from pyptx import cuda
    from pyptx.cuda import bf16

    @cuda.jit
    def squares_below(x, out):                   # arrays of float32; of bfloat16 as well
        i = cuda.grid(1)
        if i < out.size:
            out[i] = bf16.hfma_relu(x[i], x[i], -1)

    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    squares_below[1, 32](x, out)
    print(out)                                   # [0. 0. 3. 8.]

The operators and ``math``'s functions take bfloat16 as well; what is only here: saturating and relu forms, the comparisons that a nan makes true, and
conversions that round as their names say: ``_rn`` to nearest, halves to even, ``_rz`` toward zero, ``_rd`` down, ``_ru`` up. To an integer they saturate.

Source: CUDA Math API, "Bfloat16 Precision Intrinsics".
"""

import math

import numpy as np

from pyptx._pyptx import intrinsics
from pyptx.types import bfloat16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

_libdevice = intrinsics["libdevice"]
# int32() and int16() of results: under typing="numba" these are int64.
_ZERO, _ONE = np.float32(0), np.float32(1)
_HIGH, _LOW = np.int32(-0x10000), np.int32(0xFFFF)  # of a float32's bits: those of bfloat16, and the others

# --- arithmetic, each rounded once ---


def habs(a):
    """Absolute value of a bfloat16."""
    return abs(bfloat16(a))


def hneg(a):
    """-a"""
    return -bfloat16(a)


def hadd(a, b):
    """a + b"""
    return bfloat16(a) + bfloat16(b)


def hsub(a, b):
    """a - b"""
    return bfloat16(a) - bfloat16(b)


def hmul(a, b):
    """a * b"""
    return bfloat16(a) * bfloat16(b)


def hdiv(a, b):
    """a / b"""
    return bfloat16(a) / bfloat16(b)


def hfma(a, b, c):
    """a * b + c with one rounding."""
    # The product is exact in float64. The sum is rounded to odd there: its last bit is set where
    # something is left, so that the second rounding sees no tie that is none. The error of the sum
    # is exact (Knuth, The Art of Computer Programming, volume 2, 4.2.2).
    x, y = float64(bfloat16(a)) * float64(bfloat16(b)), float64(bfloat16(c))
    total = x + y
    of_y = total - x
    error = (x - (total - of_y)) + (y - of_y)
    bits = total.view(np.int64)
    if error != 0 and bits & 1 == 0 and math.isfinite(total):
        bits += 1 if (error > 0) == (total > 0) else -1
    return bfloat16(bits.view(np.float64))


def _saturated(a):
    x = float32(a)
    return bfloat16(_ZERO if not x > _ZERO else _ONE if x > _ONE else x)  # nan gives 0


def hadd_sat(a, b):
    """a + b within 0 and 1; nan gives 0. As hsub_sat, hmul_sat and hfma_sat."""
    return _saturated(hadd(a, b))


def hsub_sat(a, b):
    """a - b within 0 and 1; nan gives 0."""
    return _saturated(hsub(a, b))


def hmul_sat(a, b):
    """a * b within 0 and 1; nan gives 0."""
    return _saturated(hmul(a, b))


def hfma_sat(a, b, c):
    """a * b + c with one rounding, within 0 and 1; nan gives 0."""
    return _saturated(hfma(a, b, c))


def hfma_relu(a, b, c):
    """a * b + c with one rounding, 0 where that is negative; nan stays."""
    x = hfma(a, b, c)
    return bfloat16(_ZERO) if x < _ZERO else x


hadd_rn, hsub_rn, hmul_rn = hadd, hsub, hmul

# --- comparisons ---


def heq(a, b):
    """a == b"""
    return bfloat16(a) == bfloat16(b)


def hne(a, b):
    """a != b, and neither is a nan."""
    return bfloat16(a) < bfloat16(b) or bfloat16(a) > bfloat16(b)


def hge(a, b):
    """a >= b"""
    return bfloat16(a) >= bfloat16(b)


def hgt(a, b):
    """a > b"""
    return bfloat16(a) > bfloat16(b)


def hle(a, b):
    """a <= b"""
    return bfloat16(a) <= bfloat16(b)


def hlt(a, b):
    """a < b"""
    return bfloat16(a) < bfloat16(b)


def hequ(a, b):
    """a == b, or one is a nan. As hneu, hgeu, hgtu, hleu and hltu."""
    return not hne(a, b)


def hneu(a, b):
    """a != b, or one is a nan."""
    return bfloat16(a) != bfloat16(b)


def hgeu(a, b):
    """a >= b, or one is a nan."""
    return not bfloat16(a) < bfloat16(b)


def hgtu(a, b):
    """a > b, or one is a nan."""
    return not bfloat16(a) <= bfloat16(b)


def hleu(a, b):
    """a <= b, or one is a nan."""
    return not bfloat16(a) > bfloat16(b)


def hltu(a, b):
    """a < b, or one is a nan."""
    return not bfloat16(a) >= bfloat16(b)


def hisnan(a):
    """Whether a is a nan."""
    return bfloat16(a) != bfloat16(a)


def hisinf(a):
    """1 for inf, -1 for -inf, else 0: an int32."""
    x = float32(a)
    return int32(1) if x == math.inf else int32(-1) if x == -math.inf else int32(0)


def hmax_nan(a, b):
    """The larger one; nan if one is a nan; 0.0 is above -0.0."""
    x, y = bfloat16(a), bfloat16(b)
    if x != x:
        return x
    if y != y:
        return y
    if x == y:  # both zeros: without the sign if one is without
        return int16(x.view(np.int16) & y.view(np.int16)).view(bfloat16)
    return x if x > y else y


def hmin_nan(a, b):
    """The smaller one; nan if one is a nan; -0.0 is below 0.0."""
    x, y = bfloat16(a), bfloat16(b)
    if x != x:
        return x
    if y != y:
        return y
    if x == y:
        return int16(x.view(np.int16) | y.view(np.int16)).view(bfloat16)
    return x if x < y else y


def hmax(a, b):
    """The larger one; a nan is ignored, and 0.0 is above -0.0."""
    x, y = bfloat16(a), bfloat16(b)
    return y if x != x else x if y != y else hmax_nan(x, y)


def hmin(a, b):
    """The smaller one; a nan is ignored, and -0.0 is below 0.0."""
    x, y = bfloat16(a), bfloat16(b)
    return y if x != x else x if y != y else hmin_nan(x, y)


# --- functions ---


def htrunc(a):
    """a without its fraction."""
    return bfloat16(np.trunc(float32(bfloat16(a))))


def hceil(a):
    """Smallest whole number not below a."""
    return bfloat16(np.ceil(float32(bfloat16(a))))


def hfloor(a):
    """Largest whole number not above a."""
    return bfloat16(np.floor(float32(bfloat16(a))))


def hrint(a):
    """Nearest whole number, halves to even."""
    return bfloat16(np.rint(float32(bfloat16(a))))


def hsqrt(a):
    """Square root."""
    return bfloat16(np.sqrt(float32(bfloat16(a))))


def hrsqrt(a):
    """1 / sqrt(a)"""
    return bfloat16(1.0 / np.sqrt(float64(bfloat16(a))))


def hrcp(a):
    """1 / a"""
    return bfloat16(_ONE / float32(bfloat16(a)))


def hlog(a):
    """Natural logarithm. As hlog2, hlog10, hexp, hexp2, hexp10, hcos, hsin, htanh: computed in float32, then rounded."""
    return bfloat16(np.log(float32(bfloat16(a))))


def hlog2(a):
    """Logarithm to base 2."""
    return bfloat16(np.log2(float32(bfloat16(a))))


def hlog10(a):
    """Logarithm to base 10."""
    return bfloat16(np.log10(float32(bfloat16(a))))


def hexp(a):
    """e to the power a."""
    return bfloat16(np.exp(float32(bfloat16(a))))


def hexp2(a):
    """2 to the power a."""
    return bfloat16(np.exp2(float32(bfloat16(a))))


def hexp10(a):
    """10 to the power a."""
    return bfloat16(_libdevice.exp10f(float32(bfloat16(a))))


def hcos(a):
    """Cosine of radians."""
    return bfloat16(np.cos(float32(bfloat16(a))))


def hsin(a):
    """Sine of radians."""
    return bfloat16(np.sin(float32(bfloat16(a))))


def htanh(a):
    """Hyperbolic tangent."""
    return bfloat16(np.tanh(float32(bfloat16(a))))


# --- conversions ---


def bfloat16_to_float32(a):
    """a as a float32, which is exact."""
    return float32(bfloat16(a))


def float64_to_bfloat16(a):
    """The bfloat16 next to a."""
    return bfloat16(float64(a))


def float32_to_bfloat16_rn(a):
    """The bfloat16 next to a float32, halves to even. As float32_to_bfloat16."""
    return bfloat16(float32(a))


def _toward_zero(x):
    """float32 x without the bits that bfloat16 has not."""
    return bfloat16(int32(x.view(np.int32) & _HIGH).view(np.float32)) if x == x else bfloat16(x)


def _away_from_zero(x):
    """The next bfloat16 above |x|, unless float32 x is one; with the sign of x."""
    return bfloat16(int32((x.view(np.int32) + _LOW) & _HIGH).view(np.float32)) if x == x else bfloat16(x)


def float32_to_bfloat16_rz(a):
    """The bfloat16 next to a float32, toward zero."""
    return _toward_zero(float32(a))


def float32_to_bfloat16_rd(a):
    """The bfloat16 next to a float32, down."""
    x = float32(a)
    return _away_from_zero(x) if x < _ZERO else _toward_zero(x)


def float32_to_bfloat16_ru(a):
    """The bfloat16 next to a float32, up."""
    x = float32(a)
    return _toward_zero(x) if x < _ZERO else _away_from_zero(x)


float32_to_bfloat16 = float32_to_bfloat16_rn


def bfloat16_as_int16(a):
    """The bits of a."""
    return bfloat16(a).view(np.int16)


def bfloat16_as_uint16(a):
    """The bits of a."""
    return bfloat16(a).view(np.uint16)


def int16_as_bfloat16(bits):
    """The bfloat16 of these bits."""
    return int16(bits).view(bfloat16)


def uint16_as_bfloat16(bits):
    """The bfloat16 of these bits."""
    return uint16(bits).view(bfloat16)


def _to_integer(integer, of_float):
    """From bfloat16. of_float: libdevice's function of a float32, which saturates to 32 bits or 64."""
    info = np.iinfo(integer.dtype)
    least, most = int(info.min), int(info.max)
    if info.bits < 32:
        return lambda a: integer(min(max(of_float(float32(bfloat16(a))), least), most))
    return lambda a: integer(of_float(float32(bfloat16(a))))


def _of_integer(integer, to_float, narrow):
    """To bfloat16, in one direction: two roundings in the same one are one."""
    return lambda n: narrow(to_float(integer(n)))


def _nearest_of_integer(integer, to_float, back):
    """To the next bfloat16: by way of a float32 whose last bit is set where something is left, so that the second rounding sees no tie that is none."""

    def of_integer(n):
        x = to_float(integer(n))  # toward zero
        return bfloat16(x if integer(back(x)) == integer(n) else int32(x.view(np.int32) | 1).view(np.float32))

    return of_integer


_TYPES = {int8: ("char", "int"), uint8: ("uchar", "int"), int16: ("short", "int"), uint16: ("ushort", "int"), int32: ("int", "int"),
          uint32: ("uint", "uint"), int64: ("ll", "ll"), uint64: ("ull", "ull")}  # CUDA C++'s name, and the one in libdevice's functions
_NARROW = {"rz": float32_to_bfloat16_rz, "rd": float32_to_bfloat16_rd, "ru": float32_to_bfloat16_ru}


def _add_integers():
    for integer, (c_name, letters) in _TYPES.items():
        back, cut = getattr(_libdevice, f"float2{letters}_rz"), getattr(_libdevice, f"{letters}2float_rz")
        for mode in ("rn", "rz", "rd", "ru"):
            to = _to_integer(integer, getattr(_libdevice, f"float2{letters}_{mode}"))
            of = _nearest_of_integer(integer, cut, back) if mode == "rn" else _of_integer(integer, getattr(_libdevice, f"{letters}2float_{mode}"), _NARROW[mode])
            for function, name, other in ((to, f"bfloat16_to_{integer.name}_{mode}", f"bfloat162{c_name}_{mode}"),
                                          (of, f"{integer.name}_to_bfloat16_{mode}", f"{c_name}2bfloat16_{mode}")):
                function.__name__ = function.__qualname__ = name
                function.__doc__ = f"{name[:-3].replace('_', ' ')}, rounded as the name says (the head of this module)."
                globals()[name] = globals()[other] = function


_add_integers()
bfloat162float, double2bfloat16, float2bfloat16 = bfloat16_to_float32, float64_to_bfloat16, float32_to_bfloat16
float2bfloat16_rn, float2bfloat16_rz = float32_to_bfloat16_rn, float32_to_bfloat16_rz
float2bfloat16_rd, float2bfloat16_ru = float32_to_bfloat16_rd, float32_to_bfloat16_ru
bfloat16_as_short, bfloat16_as_ushort = bfloat16_as_int16, bfloat16_as_uint16
short_as_bfloat16, ushort_as_bfloat16 = int16_as_bfloat16, uint16_as_bfloat16

__all__ = [n for n in globals() if n[0] == "h" or "bfloat16" in n and not n.startswith("_")]
