"""float16 and bfloat16: every value, against NumPy and (for bfloat16) against ml_dtypes where it is installed.

What has one right answer is compared bit for bit over all 65536 values: arithmetic, conversions,
comparisons. A function of float16 is NumPy's function of float32, rounded: the C library's and
libdevice's functions of float32 err by a few ulps, which moves the rounding to 11 bits by one step
at most. bfloat16's references that need no package come from float64 and integer arithmetic.
"""

import os
import re
import subprocess
import sys

import numpy as np
import pyptx
import pytest
from harness import INTS, define, jit, pairs, same, store
from pyptx import cuda
from test_ptx import ARCHITECTURES, assemble, ptx_of

ALL = np.arange(65536, dtype=np.uint16)
OTHERS = ["bool", *INTS, "float32", "float64"]


def launch(kernel, n, *args, **options):
    options.setdefault("fma", False)
    jit(kernel, **options)[-(-n // 256), min(n, 256)](*args)
    cuda.synchronize()


# --- bfloat16 without a package: bits in uint16 arrays, "V2" for the kernel


def bfloat_values(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def bfloat_bits(values):
    """Float64 values as bfloat16, to nearest even, by integer arithmetic on the float64's own bits."""
    values = np.asarray(values, np.float64)
    with np.errstate(all="ignore"):
        sign = np.signbit(values)
        size = np.abs(values)
        exponent = np.clip(np.frexp(np.where(np.isfinite(size), size, 1))[1], -125, 200)
        unit = np.ldexp(1.0, exponent - 8)  # of the last place
        rounded = np.rint(size / unit) * unit  # exact but for the rint, which rounds to even
        rounded = np.where(np.isfinite(size), rounded, size)
        rounded = np.where(rounded > 3.39e38, np.inf, rounded)
    bits = (rounded.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    bits = np.where(np.isnan(values), np.uint16(0x7FC0), bits)
    return bits | (sign.astype(np.uint16) << 15)


def exact_bits(number):
    """One Python int as bfloat16, from the integer itself."""
    size, sign = abs(number), 0x8000 if number < 0 else 0
    if size == 0:
        return sign
    drop = max(size.bit_length() - 8, 0)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = 1 << drop >> 1
    kept += drop > 0 and (rest > half or (rest == half and kept & 1))
    return int(np.float32(kept * 2.0**drop).view(np.uint32)) >> 16 | sign


def same_bfloat(got, want):
    return (got == want) | (np.isnan(bfloat_values(got)) & np.isnan(bfloat_values(want)))


def bfloats(bits):
    """The bits as an array that kernels take as bfloat16."""
    return bits.view(np.dtype("V2"))


# --- arithmetic ---

BINARY = {
    "x[i] + y[i]": np.add, "x[i] - y[i]": np.subtract, "x[i] * y[i]": np.multiply, "x[i] / y[i]": np.divide,
    "x[i] // y[i]": np.floor_divide, "x[i] % y[i]": np.remainder, "np.fmod(x[i], y[i])": np.fmod,
    "np.copysign(x[i], y[i])": np.copysign, "np.nextafter(x[i], y[i])": np.nextafter,
    "np.maximum(x[i], y[i])": np.maximum, "np.fmin(x[i], y[i])": np.fmin,
}  # fmt: skip
UNARY = {
    "-x[i]": np.negative, "abs(x[i])": np.abs, "np.sqrt(x[i])": np.sqrt, "np.floor(x[i])": np.floor, "np.ceil(x[i])": np.ceil,
    "np.trunc(x[i])": np.trunc, "np.rint(x[i])": np.rint, "np.square(x[i])": np.square, "np.reciprocal(x[i])": np.reciprocal,
    "np.sign(x[i])": np.sign, "x[i] ** 2": np.square, "x[i] * 2.5": lambda x: x * 2.5, "1 - x[i]": lambda x: 1 - x,
    "x[i] if x[i] > 0.1 else 0": lambda x: np.where(x > 0.1, x, x * 0 if x.dtype == "f2" else np.zeros_like(x)),
}  # fmt: skip
COMPARE = {"<": np.less, "<=": np.less_equal, "==": np.equal, "!=": np.not_equal, ">": np.greater, ">=": np.greater_equal}


def in_kernel(expressions, x, y, dtype=None):
    lines = "".join(f"        out[{n}, i] = {e}\n" for n, e in enumerate(expressions))
    kernel = define(f"def kernel(x, y, out):\n    i = cuda.grid(1)\n    if i < x.size:\n{lines}")
    out = np.zeros((len(expressions), x.size), dtype or x.dtype)
    launch(kernel, x.size, x, y, out)
    return out


def operands(dtype):
    x = ALL.view(dtype)
    return x, np.random.default_rng(2).permutation(x)


def check_all(expressions, dtype, out_dtype=None, canonical=lambda e, v: v):
    x, y = operands(dtype)
    out = in_kernel(expressions, x, y, out_dtype)
    with np.errstate(all="ignore"):
        for got, (text, f) in zip(out, expressions.items()):
            want = f(x, y) if "y[i]" in text else f(x)
            assert want.dtype == got.dtype, (text, want.dtype)
            got, want = (a.astype(np.float32) if a.dtype.kind not in "fb" else a for a in (got, want))
            right = same(canonical(text, got), canonical(text, want))
            worst = np.argmin(right)
            assert right.all(), f"{text}: {~right} of {x[worst]}, {y[worst]}: {got[worst]}, NumPy {want[worst]}"


def unsigned_zero(text, value):
    """NumPy's maximum and fmin leave open which of two zeros they give; its ceil, rint and the like do not."""
    return value + 0 if "maximum" in text or "fmin" in text else value


def test_float16_arithmetic():
    check_all({**BINARY, **{k: v for k, v in UNARY.items() if " if " not in k}}, np.float16, canonical=unsigned_zero)


@pytest.fixture(scope="module")
def bfloat16():
    return pytest.importorskip("ml_dtypes").bfloat16


def test_bfloat16_arithmetic_is_that_of_ml_dtypes(bfloat16):
    # ml_dtypes gives float32 for a Python float beside a bfloat16: here it is weak, as beside any other float.
    left_out = ("if", "2.5", "sign", "reciprocal", "1 - x")
    unary = {k: v for k, v in UNARY.items() if not any(w in k for w in left_out)}
    check_all({**BINARY, **unary}, bfloat16, canonical=unsigned_zero)


def test_bfloat16_arithmetic_from_float64():
    """+ - * / and the square root round the exact result once. Float64's own rounding comes first but keeps 53 of the bits: more
    than twice 8 and 2, so that it does no harm."""
    x, y = ALL, np.random.default_rng(3).permutation(ALL)
    texts = ["x[i] + y[i]", "x[i] - y[i]", "x[i] * y[i]", "x[i] / y[i]", "np.sqrt(x[i])"]
    out = in_kernel(texts, bfloats(x), bfloats(y), np.dtype("V2")).view(np.uint16)
    with np.errstate(all="ignore"):
        a, b = bfloat_values(x).astype(np.float64), bfloat_values(y).astype(np.float64)
        want = [a + b, a - b, a * b, a / b, np.sqrt(a)]
    for text, got, w in zip(texts, out, want):
        right = same_bfloat(got, bfloat_bits(w))
        worst = np.argmin(right)
        assert right.all(), (text, a[worst], b[worst], bfloat_values(got)[worst], w[worst])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_comparisons(dtype):
    bits, more = ALL, np.random.default_rng(4).permutation(ALL)
    more[::5] = bits[::5]
    texts = [f"x[i] {o} y[i]" for o in COMPARE] + ["bool(x[i])", "np.isnan(x[i])", "np.isinf(x[i])", "np.isfinite(x[i])", "np.signbit(x[i])"]
    if dtype == "float16":
        x, y = bits.view(np.float16), more.view(np.float16)
        out = in_kernel(texts, x, y, bool)
    else:
        out = in_kernel(texts, bfloats(bits), bfloats(more), bool)
        x, y = bfloat_values(bits), bfloat_values(more)
    want = [f(x, y) for f in COMPARE.values()] + [x != 0, np.isnan(x), np.isinf(x), np.isfinite(x), np.signbit(x)]
    for text, got, w in zip(texts, out, want):
        assert np.array_equal(got, w), text


FUNCTIONS = ["sin", "cos", "tan", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "arctan", "arcsin", "sinh", "tanh", "arccosh",
             "cbrt", "deg2rad", "rad2deg"]  # fmt: skip


def test_float16_functions():
    x = ALL.view(np.float16)
    out = in_kernel([f"np.{f}(x[i])" for f in FUNCTIONS] + ["x[i] ** y[i]"], *operands(np.float16))
    with np.errstate(all="ignore"):
        want = [getattr(np, f)(x.astype(np.float64)).astype(np.float16) for f in FUNCTIONS]
        want.append(np.power(*(a.astype(np.float64) for a in operands(np.float16))).astype(np.float16))
    for name, got, w in zip([*FUNCTIONS, "power"], out, want):
        right = same(got, w, 1)
        assert right.all(), (name, x[~right][:4], got[~right][:4], w[~right][:4])


# --- conversions ---


@pytest.mark.parametrize("source", ["float16", "bfloat16"])
def test_to_other_types(source):
    x = ALL.view(np.float16) if source == "float16" else bfloats(ALL)
    values = x if source == "float16" else bfloat_values(ALL)
    lines = "".join(f"        to_{t}[i] = x[i]\n" for t in OTHERS)
    kernel = define(f"def kernel(x, {', '.join('to_' + t for t in OTHERS)}):\n    i = cuda.grid(1)\n    if i < x.size:\n{lines}")
    outs = [np.zeros(x.size, t) for t in OTHERS]
    launch(kernel, x.size, x, *outs)
    with np.errstate(all="ignore"):
        for t, out in zip(OTHERS, outs):
            if t[0] in "iu":
                info = np.iinfo(t)
                want = [0 if np.isnan(v) else int(max(min(v, info.max + 1.0), info.min)) if np.isfinite(v) else info.max if v > 0 else info.min
                        for v in values.astype(np.float64)]  # fmt: skip
                want = np.array([min(w, info.max) for w in want], t)
            else:
                want = values.astype(t)
            assert same(out, want).all(), t


def test_between_the_two():
    kernel = define("def kernel(x, y, a, b):\n    i = cuda.grid(1)\n    if i < x.size:\n        a[i] = y[i]\n        b[i] = x[i]\n")
    a, b = np.zeros(65536, np.float16), np.zeros(65536, np.uint16)
    launch(kernel, 65536, ALL.view(np.float16), bfloats(ALL), a, bfloats(b))
    with np.errstate(all="ignore"):
        assert same(a, bfloat_values(ALL).astype(np.float16)).all()
        assert same_bfloat(b, bfloat_bits(ALL.view(np.float16).astype(np.float64))).all()


def near_ties(dtype):
    """Numbers at, just below and just above the middle between two neighbouring values, and anywhere."""
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    middles = (halves[:-1] + halves[1:]) / 2
    patterns = np.arange(0x7F80, dtype=np.uint16)
    bf = bfloat_values(patterns).astype(np.float64)
    more = ((bf[:-1] + bf[1:]) / 2)[:: 7]
    middles = np.concatenate([middles[::3], more, [65519.99, 65520.0, 3.3895e38, 3.4e38, 2.0**-25, 2.0**-134]])
    if dtype == "float32":
        middles = middles.astype(np.float32)
    ends = np.nextafter(middles, middles.dtype.type(np.inf)), np.nextafter(middles, middles.dtype.type(0))
    x = np.concatenate([middles, *ends, [0, np.inf, np.nan]]).astype(dtype)
    return np.concatenate([x, -x])


@pytest.mark.parametrize("source", ["float32", "float64"])
def test_from_floats_rounds_once(source):
    """float64 to 16 bits directly: by way of float32, a value just above a tie would become the tie and go the other way."""
    x = near_ties(source)
    kernel = define("def kernel(x, a, b):\n    i = cuda.grid(1)\n    if i < x.size:\n        a[i] = x[i]\n        b[i] = x[i]\n")
    a, b = np.zeros(x.size, np.float16), np.zeros(x.size, np.uint16)
    launch(kernel, x.size, x, a, bfloats(b))
    with np.errstate(all="ignore"):
        assert same(a, x.astype(np.float16)).all()
        right = same_bfloat(b, bfloat_bits(x))
        assert right.all(), (x[~right][:5], bfloat_values(b)[~right][:5])


@pytest.mark.parametrize("source", ["bool", *INTS])
def test_from_integers_rounds_once(source):
    if source == "bool":
        x = np.array([False, True])
    else:
        info = np.iinfo(source)
        near = [s * (m * 2**e + d) for s in (1, -1) for e in range(0, 63) for m in (257, 259, 383, 511, 2049, 2051) for d in (-1, 0, 1)]
        near += [s * (65520 + d) for s in (1, -1) for d in (-1, 0, 1)] + [info.min, info.max, 0] + list(range(-300, 300))
        x = np.array(sorted({v for v in near if info.min <= v <= info.max}), source)
    kernel = define("def kernel(x, a, b):\n    i = cuda.grid(1)\n    if i < x.size:\n        a[i] = x[i]\n        b[i] = x[i]\n")
    a, b = np.zeros(x.size, np.float16), np.zeros(x.size, np.uint16)
    launch(kernel, x.size, x, a, bfloats(b))
    with np.errstate(all="ignore"):
        assert same(a, x.astype(np.float16)).all()
    want = np.array([exact_bits(int(v)) for v in x], np.uint16)
    assert np.array_equal(b, want), (x[b != want][:5], b[b != want][:5])


def test_constants_round_once():
    """What the compiler converts is what the device converts: near ties as literals."""
    tie = 1 + 2.0**-11
    values = [tie, tie + 2.0**-50, 65519.99, 65520, 2**63 - 1, 257 * 2**40 + 1, 257 * 2**40, -(257 * 2**40 + 1), 1e-8, 2.0**-25, 0.1]
    lines = "".join(f"    a[{n}] = {v!r}\n    b[{n}] = {v!r}\n" for n, v in enumerate(values))
    a, b = np.zeros(len(values), np.float16), np.zeros(len(values), np.uint16)
    launch(define(f"def kernel(a, b):\n{lines}"), 1, a, bfloats(b))
    with np.errstate(all="ignore"):
        assert same(a, np.array([np.float16(v) for v in values])).all()
    assert list(b) == [exact_bits(v) if isinstance(v, int) else bfloat_bits(v).item() for v in values]


@pytest.mark.parametrize("opt", [0, 3])
def test_bfloat16_goes_through_functions_unchanged(opt):
    """A move of bits. Some CPUs' conversions to bfloat16, which LLVM would put around calls, make subnormals zeros."""

    def pair(x, y):
        return y, (x, x)

    def kernel(x, a, b):
        i = cuda.grid(1)
        if i < x.size:
            r = pair(x[i], 1)
            a[i] = r[1][0]
            b[i] = pair(x[i], x[i])[0]

    a, b = np.zeros(65536, np.uint16), np.zeros(65536, np.uint16)
    launch(kernel, 65536, bfloats(ALL), bfloats(a), bfloats(b), opt=opt)
    assert same_bfloat(a, ALL).all() and same_bfloat(b, ALL).all()


@pytest.mark.parametrize("opt", [0, 3])
def test_signs_of_bfloat16(opt):
    """LLVM 22 takes the sign of a bfloat's bits for 0 on x86, so the compiler does not look at these."""

    def negative(x, y):
        return np.signbit(x), np.signbit(min(x, y)), np.copysign(1, x), np.nextafter(x, y), abs(x)

    def kernel(x, a, b):
        i = cuda.grid(1)
        if i < x.size:
            r = negative(x[i], 1)
            a[0, i] = r[0]
            a[1, i] = r[1]
            a[2, i] = np.signbit(x[i])
            a[3, i] = r[2] < 0
            b[0, i] = r[3]
            b[1, i] = r[4]

    x = ALL[(ALL & 0x7FFF) <= 0x7F80]  # no nan
    a, b = np.zeros((4, x.size), bool), np.zeros((2, x.size), np.uint16)
    launch(kernel, x.size, bfloats(x), a, bfloats(b), opt=opt)
    assert (a == (x >= 0x8000)).all()
    step = np.where(x == 0x3F80, 0, np.where((x >= 0x8000) | (x > 0x3F80), -1, 1))  # towards 1
    assert (b[0] == np.where(x == 0x8000, 1, x + step)).all() and (b[1] == x & 0x7FFF).all()


def test_both_in_one_expression():
    """float32 holds what neither of the two does: 2**-14 * 2**20 comes to 64, which fits both again."""

    def kernel(h, b, out, small, low):
        i = cuda.grid(1)
        if i < h.size:
            out[0, i] = h[i] * b[i]
            out[1, i] = h[i] + b[i]
            small[0, i] = h[i] * b[i]
            small[1, i] = h[i] + b[i]
            small[2, i] = h[i] / b[i]
            low[i] = h[i] * b[i]

    bits = np.random.default_rng(5).permutation(ALL)
    h, b = ALL.view(np.float16), bfloat_values(bits)
    out, small, low = np.zeros((2, h.size), np.float32), np.zeros((3, h.size), np.float16), np.zeros(h.size, np.uint16)
    launch(kernel, h.size, h, bfloats(bits), out, small, bfloats(low))
    with np.errstate(all="ignore"):
        assert same(out, np.array([h * b, h + b])).all()
        assert same(small, np.array([h * b, h + b, h / b]).astype(np.float16)).all()
        assert same_bfloat(low, bfloat_bits((h * b).astype(np.float64))).all()


# --- types ---


@pytest.mark.parametrize("other", [*OTHERS, "float16"])
def test_promotion_of_bfloat16(other, bfloat16):
    """What ml_dtypes and NumPy give for two scalars, told by what a third of it is."""
    x, y = np.array([3], bfloat16), np.array([1], other)
    kernel = define("def kernel(x, y, out):\n    out[0] = (x[0] + y[0]) / x[0]\n    out[1] = 1 / (y[0] * x[0])\n")
    out = np.zeros(2)
    launch(kernel, 1, x, y, out)
    with np.errstate(all="ignore"):
        want = [np.float64((x[0] + y[0]) / x[0]), np.float64(bfloat16(1) / (y[0] * x[0]))]
    assert out.tolist() == want


def test_weak_numbers_and_joins():
    """Python numbers take the 16-bit type; a variable that starts as a literal becomes it; math is Python's, in float64."""

    def kernel(x, n, f, out):
        acc = 0
        for v in x:
            acc += v
        third = 1 / x[0]
        out[0] = acc / 3
        out[1] = x[0] * n / 3
        out[2] = x[0] * f
        out[3] = third
        out[4] = math.sqrt(x[0])
        out[5] = round(x[1])
        out[6] = round(x[1] / 3, 1)
        out[7] = max(x[0], 2.0001)

    math = __import__("math")
    x = np.array([3, 2.5, 1e-3], np.float16)
    out = np.zeros(8)
    launch(kernel, 1, x, 7, 0.1, out)
    h = np.float16
    want = [(h(0) + x[0] + x[1] + x[2]) / h(3), x[0] * h(7) / h(3), x[0] * h(0.1), h(1) / x[0], math.sqrt(3.0), 2,
            np.round(x[1] / h(3), 1), x[0]]  # fmt: skip
    assert out.tolist() == [float(w) for w in want]


# --- memory, arguments, atomics, print ---


def dtype_of(name):
    return np.dtype(np.float16) if name == "float16" else np.dtype(pyptx.bfloat16)


def as_floats(a):
    return a.astype(np.float32) if a.dtype == np.float16 else bfloat_values(a.view(np.uint16))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_memories(name):
    kernel = define(f"""def kernel(x, out, dynamic):
    tile = cuda.shared.array((4, 8), pyptx.{name})
    mine = cuda.local.array(3, pyptx.{name})
    more = cuda.shared.array(0, pyptx.{name})
    t = cuda.threadIdx.x
    tile[t // 8, t % 8] = x[t]
    more[31 - t] = x[t]
    mine[t % 3] = x[t] * 2
    cuda.syncthreads()
    row = tile[t // 8]
    out[t] = row[7 - t % 8] + mine[t % 3]
    dynamic[::2][t // 2] = more[t - t % 2]
""", pyptx=pyptx)  # fmt: skip
    dtype = dtype_of(name)
    x, out, dynamic = cuda.device_array(32, dtype), cuda.device_array(32, dtype), cuda.device_array(32, dtype)
    fill = define("def kernel(x, d):\n    x[cuda.grid(1)] = cuda.grid(1)\n    d[cuda.grid(1)] = 0\n")
    jit(fill)[1, 32](x, dynamic)
    jit(kernel)[1, 32, 0, 64](x, out, dynamic)
    t = np.arange(32)
    assert np.array_equal(as_floats(out.copy_to_host()), (t // 8 * 8 + 7 - t % 8) + 2 * t)
    assert np.array_equal(as_floats(dynamic.copy_to_host()), np.where(t % 2, 0, 31 - t))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomic_add_and_sub(name, space):
    """Sums of small whole numbers are exact in any order, neighbours in one word included."""
    kernel = define(f"""def kernel(out):
    tile = cuda.shared.array(4, pyptx.{name})
    t = cuda.threadIdx.x
    if t < 4:
        tile[t] = 0
    cuda.syncthreads()
    cuda.atomic.add({"out" if space == "global" else "tile"}, t % 3, 1)
    cuda.atomic.sub({"out" if space == "global" else "tile"}, 3, 0.5)
    cuda.syncthreads()
    if t < 4 and {space == "shared"}:
        cuda.atomic.add(out, t, tile[t])
""", pyptx=pyptx)  # fmt: skip
    out = cuda.to_device(np.zeros(4, dtype_of(name)))
    jit(kernel)[2, 96](out)
    assert as_floats(out.copy_to_host()).tolist() == [64, 64, 64, -96]


def test_bfloat16_atomics_of_one_thread():
    """Old values and subnormals, which some CPUs' bfloat16 instructions would flush."""

    def kernel(x, out, olds):
        for i in range(x.size):
            olds[0, i] = cuda.atomic.add(out, 0, x[i])
            olds[1, i] = cuda.atomic.max(out, 1, x[i])
            olds[2, i] = cuda.atomic.nanmin(out, 2, x[i])
            olds[3, i] = cuda.atomic.exch(out, 3, x[i])
            olds[4, i] = cuda.atomic.cas(out, 4, out[4], x[i])

    bits = np.array([0x0001, 0x0003, 0x8002, 0x3F80, 0xC120, 0x7FC0, 0x3F81], np.uint16)
    out, olds = np.zeros(5, np.uint16), np.zeros((5, bits.size), np.uint16)
    launch(kernel, 1, bfloats(bits), bfloats(out), bfloats(olds))
    sums, highs, lows = [0], [0], [0]
    for b in bits:
        v = bfloat_values(b[None])[0]
        sums.append(bfloat_bits(bfloat_values(np.array([sums[-1]], np.uint16)).astype(np.float64) + v)[0])
        high, low = (bfloat_values(np.array([o[-1]], np.uint16))[0] for o in (highs, lows))
        highs.append(b if v > high else highs[-1])
        lows.append(b if v < low else lows[-1])
    before = [0, *bits[:-1]]
    assert same_bfloat(olds[0], np.array(sums[:-1], np.uint16)).all()
    assert olds[1:].tolist() == [[int(v) for v in w] for w in (highs[:-1], lows[:-1], before, before)]


def test_float16_arguments_and_globals():
    half, table = np.float16(0.1), np.arange(5, dtype=np.float16) / 3

    def kernel(s, out):
        constant = cuda.const.array_like(table)
        out[0] = s / 3
        out[1] = half / 3
        out[2] = constant[cuda.threadIdx.x + 4] * s
        out[3] = np.float16(out[0])
        out[4] = pyptx.float16(70000.0)

    out = np.zeros(5)
    launch(kernel, 1, np.float16(0.3), out)
    with np.errstate(all="ignore"):
        want = [np.float16(0.3) / np.float16(3), half / np.float16(3), table[4] * np.float16(0.3), np.float16(0.3) / np.float16(3), np.inf]
    assert out.tolist() == [float(w) for w in want]


def test_bfloat16_arguments_and_globals(bfloat16):
    number, table = bfloat16(0.1), np.arange(5).astype(bfloat16)

    def kernel(s, out):
        constant = cuda.const.array_like(table)
        out[0] = s / 3
        out[1] = number / 3
        out[2] = constant[cuda.threadIdx.x + 4] * s
        out[3] = bfloat16(out[0])
        out[4] = pyptx.bfloat16(1e39)

    out = np.zeros(5)
    launch(kernel, 1, bfloat16(0.3), out)
    third = [float(bfloat16(float(v) / 3)) for v in (bfloat16(0.3), number)]
    assert out.tolist() == [*third, float(table[4] * bfloat16(0.3)), third[0], np.inf]
    assert pyptx.bfloat16(0.1) == number and np.dtype(pyptx.bfloat16) == np.dtype(bfloat16)


@pytest.mark.parametrize("order", ["C", "F"])
def test_bfloat16_arrays_come_back(order, bfloat16):
    """The dtype of ml_dtypes is kept; host arrays of any strides are taken."""
    a = np.asarray(np.arange(12).reshape(3, 4), bfloat16, order=order)
    d = cuda.to_device(a)
    back = d.copy_to_host()
    assert d.dtype == back.dtype == a.dtype and np.array_equal(back, a) and back.flags[f"{order}_CONTIGUOUS"]
    double = define("def kernel(x):\n    i, j = cuda.grid(2)\n    if i < x.shape[0] and j < x.shape[1]:\n        x[i, j] *= 2\n")
    jit(double)[1, (4, 4)](a[:, ::2])
    cuda.synchronize()
    assert a.astype(int).tolist() == [[0, 1, 4, 3], [8, 5, 12, 7], [16, 9, 20, 11]]


def test_bfloat16_without_ml_dtypes():
    """Arrays then hold two bytes without a meaning, which view(np.uint16) reads; numbers there are none."""
    script = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np, pyptx
from pyptx import cuda
@cuda.jit
def fill(x):
    x[cuda.grid(1)] = cuda.grid(1) / 2
d = cuda.device_array(4, dtype=pyptx.bfloat16)
fill[1, 4](d)
print(d.copy_to_host().view(np.uint16).tolist(), "bfloat16" in repr(d))
try:
    pyptx.bfloat16(1)
except TypeError as e:
    print(e)
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=dict(os.environ))
    assert out.stdout.splitlines() == [f"{[0, 0x3F00, 0x3F80, 0x3FC0]} True", "NumPy has no bfloat16 numbers; install ml_dtypes, whose bfloat16 is used then"], out.stderr  # fmt: skip


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_eager_signatures_take_python_numbers(name):
    kernel = cuda.jit(f"void({name}, {name}, float32[:])")(define("def kernel(s, n, out):\n    out[0] = s / 3\n    out[1] = n\n"))
    out = np.zeros(2, np.float32)
    kernel[1, 1](0.3, 257, out)
    cuda.synchronize()
    if name == "float16":
        want = [np.float16(0.3) / np.float16(3), 257]
    else:
        want = [bfloat_values(bfloat_bits(bfloat_values(bfloat_bits([0.3])).astype(float) / 3))[0], 256]
    assert out.tolist() == [float(w) for w in want]


def test_print(capfd, device):
    """float16: the shortest text that reads back on the host, 4 significant digits on the GPU; whole numbers have their .0. bfloat16: ml_dtypes' 6."""

    def kernel(x):
        print(x[0], x[1], x[2], pyptx.bfloat16(x[0]), pyptx.bfloat16(x[2]))

    launch(kernel, 1, np.array([0.1, -2, 1e-7], np.float16))
    want = {"host": "0.1 -2.0 1e-07 0.100098 1.19209e-07\n", "gpu": "0.09998 -2.0 1.192e-07 0.100098 1.19209e-07\n"}
    assert capfd.readouterr().out == want[device]


def test_print_bfloat16(capfd, device):
    """As ml_dtypes: all 65,536 are too many to print; these are of every shape that %.6g has."""
    values = [0.9375, 1.2345, 3.0, -0.0, 100000.0, 2000000.0, 1e30, 1e-4, 3e-5, 9.2e-41, np.inf, -np.inf, np.nan]

    def kernel(x):
        for i in range(x.size):
            print(pyptx.bfloat16(x[i]), f"{pyptx.bfloat16(x[i])!s}|")

    launch(kernel, 1, np.array(values))
    said = capfd.readouterr().out.splitlines()
    rounded = bfloat_values(bfloat_bits(np.array(values)))
    want = [f"{float(v):.6g}" for v in rounded]
    assert want[:3] == ["0.9375", "1.23438", "3"]
    assert said == [f"{text} {text}|" for text in want]
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert want == [str(v) for v in np.array(values).astype(ml_dtypes.bfloat16)]


# --- code ---

KERNEL = """def kernel(x, out):
    i = cuda.grid(1)
    out[0] = x[i] + x[i + 1]
    out[1] = x[i] * x[i + 2]
    out[2] = x[i] * x[i + 3] + x[i + 4]
    out[3] = np.float64(x[i])
    out[4] = np.float32(x[i]) / np.float32(3)
    cuda.atomic.add(out, 5, x[i])
"""
NATIVE = {  # what the architecture has: these lines must be there
    ("float16", 75): ["add.f16", "mul.f16", "fma.rn.f16", "cvt.rn.f16.f32", "atom.global.add.noftz.f16"],
    ("bfloat16", 80): ["fma.rn.bf16", "cvt.rn.bf16.f32"],
    ("bfloat16", 90): ["add.bf16", "mul.bf16", "fma.rn.bf16", "cvt.rn.bf16.f32", "atom.global.add.noftz.bf16"],
}


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_native_instructions(name, arch, tmp_path):
    ptx = ptx_of(define(KERNEL), f"{name}[:], {name}[:]", arch)
    assemble(ptx, arch, tmp_path)
    number = int(arch[3:])
    for want in max(((a, w) for (n, a), w in NATIVE.items() if n == name and a <= number), default=(0, []))[1]:
        assert re.search(rf"^\s*{re.escape(want)}\s", ptx, re.M), want
    plain = ptx_of(define(KERNEL), f"{name}[:], {name}[:]", arch, fma=False)
    rounded = r"^\s*mul\.rn\.b?f16\s"  # its own instruction, where the architecture has one
    assert re.search(rounded, plain, re.M) or (name, number < 90) == ("bfloat16", True)


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_everything_assembles(name, arch, tmp_path):
    texts = [*BINARY, *UNARY, *(f"x[i] {o} y[i]" for o in COMPARE), "np.sin(x[i])", "x[i] ** y[i]", "int(x[i])", "np.uint8(x[i])", "np.isnan(x[i])"]
    lines = "".join(f"    out[{n}] = {t}\n" for n, t in enumerate(texts))
    lines += "".join(f"    h[{n}] = np.{t}(out[{n}])\n" for n, t in enumerate(("bool_", *OTHERS[1:])))
    kernel = define(f"def kernel(x, y, out, h, s):\n    i = cuda.grid(1)\n{lines}    h[0] = s\n")
    assemble(ptx_of(kernel, f"{name}[:], {name}[:], float64[:], {name}[:], {name}", arch), arch, tmp_path)


def test_cpus_without_instructions_for_float16():
    """The functions that LLVM calls there are ours: the same results with those instructions switched off."""
    script = """
import numpy as np
from pyptx import cuda
@cuda.jit(fma=False)
def kernel(x, y, z, d, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = x[i] + y[i]
        out[1, i] = z[i]
        out[2, i] = d[i]
x = np.arange(65536, dtype=np.uint16).view(np.float16)
y = x[::-1].copy()
z = np.arange(65536, dtype=np.float32) / 7
d = 1 + 2.0**-11 * np.arange(65536) + 2.0**-40
out = np.zeros((3, 65536), np.float16)
kernel[256, 256](x, y, z, d, out)
with np.errstate(all="ignore"):
    want = x + y, z.astype(np.float16), d.astype(np.float16)
for got, w in zip(out, want):
    assert ((got.view(np.uint16) == w.view(np.uint16)) | (np.isnan(got) & np.isnan(w))).all()
print("same", "vcvtph2ps" in kernel.inspect_asm(kernel.signatures[0]))
"""
    env = dict(os.environ, PYPTX_DEVICE="host", PYPTX_HOST_FEATURES="-f16c,-avx512fp16")
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    assert out.stdout.split() == ["same", "False"], out.stdout + out.stderr
