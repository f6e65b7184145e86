"""Conversions to floats of 8 bits in kernels, with the names of CUDA C++'s cuda_fp8.h and of numba.cuda.fp8.

Example:

    import numpy as np
    from pyptx import cuda
    from pyptx.cuda import fp8

    @cuda.jit
    def quantise(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = fp8.cvt_float_to_fp8(x[i], fp8.saturation_t.SATFINITE, fp8.fp8_interpretation_t.E4M3)

    x, out = np.array([1, -2, 1000], np.float32), np.zeros(3, np.uint8)
    quantise[1, 32](x, out)
    print(out)                                   # [ 56 192 126]

The types themselves are ``pyptx.float8_e4m3fn``, ``float8_e5m2`` and ``float8_e8m0fnu``, for arrays too. Only
here are their bits: as a uint8, and of two numbers as a uint16 whose low byte is the first. ``fp8x2_e4m3(v)`` and the
like make a vector of a vector's 2 or 4 numbers: ``.x``, ``.y``, … are its numbers, ``.__x`` is all of its bits, and
``cuda.float32x2(…)`` and ``cuda.float32x4(…)`` convert it back.

A number that is too large becomes the largest one with SATFINITE, as an infinity does; with NOSAT an infinity in
e5m2 and nan in the others. e4m3 and e5m2 round to nearest, halves to even. e8m0 takes the absolute value and rounds
it up or down, as ``cudaRoundMode`` says; what is smaller than 2**-127 becomes that. A nan stays one.

Source: CUDA Math API, "FP8 Conversion and Data Movement".
"""

import enum
import typing

import numpy as np

from pyptx._pyptx import intrinsics
from pyptx.types import bfloat16, float8_e4m3fn, float8_e5m2, float8_e8m0fnu, float32, float64, uint8, uint16


class saturation_t(enum.IntEnum):
    """What becomes of a number that is too large."""

    NOSAT = 0
    SATFINITE = 1


class fp8_interpretation_t(enum.IntEnum):
    """Which type the 8 bits are of."""

    E4M3 = 0
    E5M2 = 1


class cudaRoundMode(enum.IntEnum):
    """How an e8m0 is rounded; the CUDA runtime's enumeration of this name does as well."""

    cudaRoundZero = 1
    cudaRoundPosInf = 2


class bfloat16_raw(typing.NamedTuple):
    """The bits of a bfloat16, ``x``: ``bf16.uint16_as_bfloat16(raw.x)`` is the number."""

    x: np.uint16


_float8_e4m3fnx2, _float8_e4m3fnx4 = intrinsics["float8_e4m3fnx2"], intrinsics["float8_e4m3fnx4"]
_float8_e5m2x2, _float8_e5m2x4 = intrinsics["float8_e5m2x2"], intrinsics["float8_e5m2x4"]
_float8_e8m0fnux2, _float8_e8m0fnux4 = intrinsics["float8_e8m0fnux2"], intrinsics["float8_e8m0fnux4"]
_EXPONENT, _FRACTION, _BIAS = 52, (1 << 52) - 1, 1023 - 127  # of a float64; the difference to e8m0's


def _exact(x):
    return float32(x) if isinstance(x, (np.float32, np.float16)) else float64(x)


def _of_raw(x):
    """The number of a bfloat16_raw, or of a number."""
    return float32(x.x.view(bfloat16)) if isinstance(x, tuple) else float32(bfloat16(x))


def _within(x, most):
    return x if x != x else min(max(x, -most), most)


def _bits(x, saturate, interpretation):
    """x: a float32 or float64."""
    if interpretation == fp8_interpretation_t.E4M3:
        return float8_e4m3fn(_within(x, type(x)(448)) if saturate == saturation_t.SATFINITE else x).view(np.uint8)
    return float8_e5m2(_within(x, type(x)(57344)) if saturate == saturation_t.SATFINITE else x).view(np.uint8)


def _scale_bits(x, saturate, rounding):
    """x: a float64."""
    assert rounding == cudaRoundMode.cudaRoundZero or rounding == cudaRoundMode.cudaRoundPosInf, "an e8m0 is rounded by cudaRoundZero or cudaRoundPosInf"
    bits = abs(x).view(np.int64)
    exponent = (bits >> _EXPONENT) - _BIAS
    if rounding == cudaRoundMode.cudaRoundPosInf and bits & _FRACTION:
        exponent += 1
    most = 254 if saturate == saturation_t.SATFINITE else 255
    return uint8(255) if x != x else uint8(min(max(exponent, 0), most))


def _pair(low, high):
    return uint16(uint16(low) | uint16(high) << 8)


# --- numbers of the types, as the constructors of CUDA C++'s have them ---


def fp8_e4m3(x):
    """The float8_e4m3fn next to x; 448 where that is too small."""
    return _bits(_exact(x), saturation_t.SATFINITE, fp8_interpretation_t.E4M3).view(float8_e4m3fn)


def fp8_e5m2(x):
    """The float8_e5m2 next to x; 57344 where that is too small."""
    return _bits(_exact(x), saturation_t.SATFINITE, fp8_interpretation_t.E5M2).view(float8_e5m2)


def fp8_e8m0(x):
    """The smallest float8_e8m0fnu that is not below abs(x); 2**127 where that is too small."""
    return _scale_bits(float64(x), saturation_t.SATFINITE, cudaRoundMode.cudaRoundPosInf).view(float8_e8m0fnu)


# --- vectors of 2 and 4 of a vector's numbers ---


def fp8x2_e4m3(x):
    """fp8_e4m3 of each number of a float32x2 or float64x2: `.x` and `.y`, and their bits as a uint16, `.__x`."""
    return _float8_e4m3fnx2(fp8_e4m3(x.x), fp8_e4m3(x.y))


def fp8x4_e4m3(x):
    """fp8_e4m3 of each number of a float32x4 or float64x4: `.x` to `.w`, and their bits as a uint32, `.__x`."""
    return _float8_e4m3fnx4(fp8_e4m3(x.x), fp8_e4m3(x.y), fp8_e4m3(x.z), fp8_e4m3(x.w))


def fp8x2_e5m2(x):
    """fp8_e5m2 of each number of a float32x2 or float64x2: `.x` and `.y`, and their bits as a uint16, `.__x`."""
    return _float8_e5m2x2(fp8_e5m2(x.x), fp8_e5m2(x.y))


def fp8x4_e5m2(x):
    """fp8_e5m2 of each number of a float32x4 or float64x4: `.x` to `.w`, and their bits as a uint32, `.__x`."""
    return _float8_e5m2x4(fp8_e5m2(x.x), fp8_e5m2(x.y), fp8_e5m2(x.z), fp8_e5m2(x.w))


def fp8x2_e8m0(x):
    """fp8_e8m0 of each number of a float32x2 or float64x2: `.x` and `.y`, and their bits as a uint16, `.__x`."""
    return _float8_e8m0fnux2(fp8_e8m0(x.x), fp8_e8m0(x.y))


def fp8x4_e8m0(x):
    """fp8_e8m0 of each number of a float32x4 or float64x4: `.x` to `.w`, and their bits as a uint32, `.__x`."""
    return _float8_e8m0fnux4(fp8_e8m0(x.x), fp8_e8m0(x.y), fp8_e8m0(x.z), fp8_e8m0(x.w))


# --- their bits ---


def cvt_float_to_fp8(x, saturate, interpretation):
    """The bits of the e4m3 or e5m2 next to a float32."""
    return _bits(float32(x), saturate, interpretation)


def cvt_double_to_fp8(x, saturate, interpretation):
    """The bits of the e4m3 or e5m2 next to a float64."""
    return _bits(float64(x), saturate, interpretation)


def cvt_bfloat16raw_to_fp8(x, saturate, interpretation):
    """The bits of the e4m3 or e5m2 next to a bfloat16: a number, or its bits as a bfloat16_raw."""
    return _bits(_of_raw(x), saturate, interpretation)


def cvt_float2_to_fp8x2(x, saturate, interpretation):
    """Those of both numbers of a float32x2, the first in the low byte."""
    return _pair(cvt_float_to_fp8(x.x, saturate, interpretation), cvt_float_to_fp8(x.y, saturate, interpretation))


def cvt_double2_to_fp8x2(x, saturate, interpretation):
    """Those of both numbers of a float64x2, the first in the low byte."""
    return _pair(cvt_double_to_fp8(x.x, saturate, interpretation), cvt_double_to_fp8(x.y, saturate, interpretation))


def cvt_float_to_e8m0(x, saturate, rounding):
    """The bits of the e8m0 next to the absolute value of a float32, up or down."""
    return _scale_bits(float64(float32(x)), saturate, rounding)


def cvt_double_to_e8m0(x, saturate, rounding):
    """The bits of the e8m0 next to the absolute value of a float64, up or down."""
    return _scale_bits(float64(x), saturate, rounding)


def cvt_bfloat16raw_to_e8m0(x, saturate, rounding):
    """The bits of the e8m0 next to the absolute value of a bfloat16, a number or a bfloat16_raw, up or down."""
    return _scale_bits(float64(_of_raw(x)), saturate, rounding)


def cvt_float2_to_e8m0x2(x, saturate, rounding):
    """Those of both numbers of a float32x2, the first in the low byte."""
    return _pair(cvt_float_to_e8m0(x.x, saturate, rounding), cvt_float_to_e8m0(x.y, saturate, rounding))


def cvt_double2_to_e8m0x2(x, saturate, rounding):
    """Those of both numbers of a float64x2, the first in the low byte."""
    return _pair(cvt_double_to_e8m0(x.x, saturate, rounding), cvt_double_to_e8m0(x.y, saturate, rounding))


def cvt_e8m0_to_bf16raw(bits):
    """The bfloat16_raw that is the e8m0 of these bits; it is exact."""
    return bfloat16_raw(bfloat16(uint8(bits).view(float8_e8m0fnu)).view(np.uint16))


float32_to_fp8, float64_to_fp8, bfloat16_raw_to_fp8 = cvt_float_to_fp8, cvt_double_to_fp8, cvt_bfloat16raw_to_fp8
float32x2_to_fp8x2, float64x2_to_fp8x2 = cvt_float2_to_fp8x2, cvt_double2_to_fp8x2
float32_to_e8m0, float64_to_e8m0, bfloat16_raw_to_e8m0 = cvt_float_to_e8m0, cvt_double_to_e8m0, cvt_bfloat16raw_to_e8m0
float32x2_to_e8m0x2, float64x2_to_e8m0x2 = cvt_float2_to_e8m0x2, cvt_double2_to_e8m0x2
e8m0_to_bfloat16_raw = cvt_e8m0_to_bf16raw

__all__ = [n for n in globals() if n.startswith(("cvt_", "fp8")) or "_to_" in n or n in ("saturation_t", "cudaRoundMode", "bfloat16_raw")]
