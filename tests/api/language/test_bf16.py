"""pyptx.cuda.bf16: each function, against ml_dtypes, NumPy and exact arithmetic.

What rounds once is compared bit for bit. The functions of math are computed in float32 with an
error of a few ulps, which moves the rounding to 8 bits by one step at most.
"""

import fractions
import math

import numpy as np
import pytest
from harness import define, jit, same
from pyptx import cuda
from pyptx.cuda import bf16

ml_dtypes = pytest.importorskip("ml_dtypes")
BFLOAT16 = ml_dtypes.bfloat16
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # NumPy of ml_dtypes' nans
N = 1 << 14
_bits = np.random.default_rng(3).integers(0, 1 << 16, (3, N)).astype(np.uint16)
_bits[:2, :400] = [v.ravel() for v in np.meshgrid(*[[0, 0x8000, 1, 0x8001, 0x7F80, 0xFF80, 0x7FC0, 0xFFC0, 0x3F80, 0xBF80, 0x3F81, 0x7F7F, 0xFF7F, 0x80,
                                                     0x4000, 0x3E80, 0x42FF, 0xC300, 0x437F, 0x4F00]] * 2)]
X, Y, Z = _bits.view(BFLOAT16)


def run(name, arguments, dtype):
    kernel = define(f"def kernel(out, {', '.join('xyz'[:len(arguments)])}):\n    i = cuda.grid(1)\n    if i < out.size:\n"
                    f"        out[i] = bf16.{name}({', '.join(f'{v}[i]' for v in 'xyz'[:len(arguments)])})\n", bf16=bf16)
    out = np.zeros(arguments[0].size, dtype)
    jit(kernel, fma=False)[-(-out.size // 256), 256](out, *arguments)
    cuda.synchronize()
    return out


def check(name, arguments, want, ulps=0):
    got = run(name, arguments, want.dtype)
    right = same(got, want, ulps) if want.dtype != BFLOAT16 else close(got, want, ulps)
    worst = np.argmin(right)
    assert right.all(), f"{name}{tuple(a[worst] for a in arguments)}: {got[worst]}, wanted {want[worst]}"


def close(got, want, ulps):
    """Within so many steps of bfloat16; zeros with their signs, any nan for a nan."""
    steps = [np.where(v.view(np.int16) < 0, -(v.view(np.int16).astype(np.int32) & 0x7FFF), v.view(np.int16)) for v in (got, want)]
    equal = (got.view(np.int16) == want.view(np.int16)) if ulps == 0 else abs(steps[0] - steps[1]) <= ulps
    return equal | (np.isnan(got) & np.isnan(want))


def wide(f):
    """f in float64, which keeps more than twice the bits of bfloat16, rounded once at the end: to float32 with its last bit set where something is
    left, which is no tie, and from there."""

    def rounded(*arguments):
        with np.errstate(all="ignore"):
            exact = f(*(a.astype(np.float64) for a in arguments))
            near = exact.astype(np.float32)
            inexact = np.isfinite(exact) & (near.astype(np.float64) != exact)
            away = np.where(abs(near.astype(np.float64)) > abs(exact), -1, 0)
            bits = near.view(np.int32) + np.where(inexact, away, 0)
            return np.where(inexact, bits | 1, bits).astype(np.int32).view(np.float32).astype(BFLOAT16)

    return rounded


EXACT = {"hadd": np.add, "hsub": np.subtract, "hmul": np.multiply, "hdiv": np.divide, "hadd_rn": np.add, "hsub_rn": np.subtract, "hmul_rn": np.multiply,
         "habs": np.abs, "hneg": np.negative, "htrunc": np.trunc, "hceil": np.ceil, "hfloor": np.floor, "hrint": np.rint, "hsqrt": np.sqrt,
         "hrcp": lambda a: 1 / a}
ROUNDED = {"hrsqrt": lambda a: 1 / np.sqrt(a), "hsin": np.sin, "hcos": np.cos, "htanh": np.tanh, "hexp": np.exp, "hexp2": np.exp2,
           "hexp10": lambda a: 10.0**a, "hlog": np.log, "hlog2": np.log2, "hlog10": np.log10}
ONE = {"habs", "hneg", "htrunc", "hceil", "hfloor", "hrint", "hsqrt", "hrcp", *ROUNDED}


def saturated(a):
    return np.where(a.astype(np.float32) > 0, np.minimum(a.astype(np.float32), 1), np.float32(0)).astype(BFLOAT16)


@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_arithmetic(name):
    arguments = (X,) if name in ONE else (X, Y)
    check(name, arguments, wide((EXACT | ROUNDED)[name])(*arguments), name in ROUNDED)


def test_fma_and_its_forms():
    # A product is exact in float64, and the sum is rounded to odd there.
    with np.errstate(all="ignore"):
        a, b, c = (v.astype(np.float64) for v in (X, Y, Z))
        product = a * b
        total = product + c
        error = (product - (total - (total - product))) + (c - (total - product))
        bits = total.view(np.int64)
        odd = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
        bits = bits + np.where(odd, np.where((error > 0) == (total > 0), 1, -1), 0)
        want = wide(lambda x: x)(bits.view(np.float64))
    check("hfma", (X, Y, Z), want)
    check("hfma_sat", (X, Y, Z), saturated(want))
    check("hfma_relu", (X, Y, Z), np.where(want.astype(np.float32) < 0, np.float32(0), want.astype(np.float32)).astype(BFLOAT16))


@pytest.mark.parametrize("name", ["hadd", "hsub", "hmul"])
def test_saturating(name):
    check(f"{name}_sat", (X, Y), saturated(wide(EXACT[name])(X, Y)))


@pytest.mark.parametrize("name, f", [("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal)])
def test_comparisons(name, f):
    a, b = X.astype(np.float32), Y.astype(np.float32)
    nan = np.isnan(a) | np.isnan(b)
    check(f"h{name}", (X, Y), f(a, b) & ~nan)
    check(f"h{name}u", (X, Y), f(a, b) | nan)


def test_kinds_and_extremes():
    a, b = X.astype(np.float32), Y.astype(np.float32)
    check("hisnan", (X,), np.isnan(a))
    check("hisinf", (X,), np.where(np.isinf(a), np.sign(a), 0).astype(np.int32))
    for name, f, ignoring in (("hmax", np.maximum, np.fmax), ("hmin", np.minimum, np.fmin)):
        zeros = (a == 0) & (b == 0)
        for suffix, of in (("_nan", f), ("", ignoring)):
            want = of(a, b)
            want[zeros] = np.copysign(0, f(np.copysign(1, a), np.copysign(1, b)))[zeros]
            check(name + suffix, (X, Y), want.astype(BFLOAT16))


def nearest(values, mode):
    """Exact numbers as bfloat16, rounded in that way: the right one of three neighbours."""
    found = []
    with np.errstate(all="ignore"):
        for v in values:
            if not math.isfinite(v):
                found.append(BFLOAT16(v))
                continue
            near = BFLOAT16(float(v))
            near = near if np.isfinite(near) else BFLOAT16(np.copysign(np.float32(ml_dtypes.finfo(BFLOAT16).max), near))
            exact, up = fractions.Fraction(v), np.nextafter(near, BFLOAT16(np.inf))
            around = [c for c in (np.nextafter(near, BFLOAT16(-np.inf)), near, up) if np.isfinite(c)]
            if mode == "rn":
                found.append(BFLOAT16(float(v)) if isinstance(v, float) else
                             min(around, key=lambda c: (abs(fractions.Fraction(float(c)) - exact), int(c.view(np.int16)) & 1)))
                continue
            below = max((c for c in around if fractions.Fraction(float(c)) <= exact), default=BFLOAT16(-np.inf))
            above = min((c for c in around if fractions.Fraction(float(c)) >= exact), default=BFLOAT16(np.inf))
            found.append(below if mode == "rd" or mode == "rz" and exact >= 0 else above)
    return np.array(found, BFLOAT16)


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
def test_of_float32(mode):
    x = np.random.default_rng(5).integers(0, 1 << 32, 2000).astype(np.uint32).view(np.float32)
    x[:12] = [0, 1, -1, np.inf, -np.inf, np.nan, 3.4028235e38, -3.4028235e38, 1e-45, -1e-45, 1.00390625, -1.00390625]
    x = x[x != 0]  # the sign of a zero is that of nearest()'s neighbours
    check(f"float32_to_bfloat16_{mode}", (x,), nearest(x.tolist(), mode))


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("mode", ["rn", "rz", "rd", "ru"])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name, mode):
    info = np.iinfo(name)
    n = np.random.default_rng(6).integers(info.min, info.max, 700, dtype=name, endpoint=True)
    n >>= np.random.default_rng(7).integers(0, info.bits, n.size).astype(name)  # all magnitudes
    n[:6] = [info.min, info.max, 0, 1, info.max - 1, info.max >> 1]
    ties = [(k << 1 | 1) << shift for k in (128, 129, 200, 255) for shift in range(max(info.bits - 9, 1))]  # in the middle between two, and beside it
    near = [t + d for t in ties for d in (-1, 0, 1) if t + d <= info.max]
    n = np.concatenate([n, np.array([*near, *(-t for t in near if info.min)], name)])
    n[n == 0] = 1
    check(f"{name}_to_bfloat16_{mode}", (n,), nearest(n.tolist(), mode))
    x = X[~np.isnan(X)]
    whole = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}[mode](x.astype(np.float64))
    want = np.array([int(max(info.min, min(info.max, w))) if math.isinf(w) else max(info.min, min(info.max, int(w))) for w in whole], name)
    check(f"bfloat16_to_{name}_{mode}", (x,), want)


def test_bits_and_names():
    check("bfloat16_as_int16", (X[~np.isnan(X)],), X[~np.isnan(X)].view(np.int16))
    check("bfloat16_as_uint16", (X[~np.isnan(X)],), X[~np.isnan(X)].view(np.uint16))
    check("int16_as_bfloat16", (X.view(np.int16),), X)
    check("uint16_as_bfloat16", (X.view(np.uint16),), X)
    check("bfloat16_to_float32", (X,), X.astype(np.float32))
    check("float64_to_bfloat16", (X.astype(np.float64),), X)
    assert bf16.ll2bfloat16_rn is bf16.int64_to_bfloat16_rn and bf16.bfloat162uchar_rz is bf16.bfloat16_to_uint8_rz
    assert bf16.float2bfloat16 is bf16.float32_to_bfloat16 is bf16.float32_to_bfloat16_rn and bf16.short_as_bfloat16 is bf16.int16_as_bfloat16
    assert all(getattr(bf16, name).__doc__ for name in bf16.__all__)


@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_under_both_typings(typing):
    """Numba's rules make int64 of int32 & int32."""

    @cuda.jit(typing=typing)
    def kernel(out, x):
        out[0] = bf16.float32_to_bfloat16_rz(x)
        out[1] = bf16.float32_to_bfloat16_ru(x)
        out[2] = bf16.int32_to_bfloat16_rn(16842753)
        out[3] = bf16.hmax(bf16.bfloat16(x), bf16.bfloat16(-0.0))
        out[4] = bf16.hfma_relu(bf16.bfloat16(2), bf16.bfloat16(3), bf16.bfloat16(x))

    out = np.zeros(5, BFLOAT16)
    kernel[1, 1](out, np.float32(1.001))
    cuda.synchronize()
    assert out.tolist() == [1.0, 1.0078125, 16908288.0, 1.0, 7.0]
