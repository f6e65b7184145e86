"""pyptx.cuda.fp8: its conversions against ml_dtypes and exact arithmetic, by the bits."""

import math

import numpy as np
import pytest
from harness import define
from pyptx import cuda
from pyptx.cuda import fp8
from pyptx.numba import _modules
from test_ptx import assemble, ptx_of

ml_dtypes = pytest.importorskip("ml_dtypes")
TYPES = {"E4M3": (ml_dtypes.float8_e4m3fn, 448), "E5M2": (ml_dtypes.float8_e5m2, 57344)}
EDGES = [0, -0.0, 1, -1, math.inf, -math.inf, math.nan, 448, 463.9, 464, 464.1, -465, 57344, 61439, 61440, 61441, -1e30, 2.0**-9, 2.0**-10, 1.0001 * 2.0**-10, 2.0**-16, 2.0**-17]
RNG = np.random.default_rng(4)
X = np.concatenate([EDGES, RNG.standard_normal(300) * 2.0 ** RNG.integers(-20, 20, 300)]).astype(np.float32)
SCALES = np.concatenate([EDGES, 2.0 ** np.arange(-130, 128), -3 * 2.0 ** np.arange(-130.0, 126)]).astype(np.float32)
SCALES = np.concatenate([SCALES, [np.finfo(np.float32).max, 1e-45, 1.0000001 * 2.0**127]]).astype(np.float32)


def run(call, dtype, *arguments):
    kernel = cuda.jit(define(f"def kernel(out, {', '.join('xyz'[:len(arguments)])}):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {call}\n", fp8=fp8))
    out = np.zeros(arguments[0].size, dtype)
    kernel[-(-out.size // 128), 128](out, *arguments)
    return out


def narrowed(x, kind, saturate):
    dtype, most = TYPES[kind]
    with np.errstate(all="ignore"):
        return (np.where(np.isnan(x), x, np.clip(x, -most, most)) if saturate else x).astype(dtype)


def same_numbers(got, want):
    """By their bits; any nan is one."""
    return (got == want.view(got.dtype)) | (np.isnan(got.view(want.dtype).astype(np.float32)) & np.isnan(want.astype(np.float32)))


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("kind", TYPES)
def test_numbers(kind, saturate):
    how = f"fp8.saturation_t.{'SATFINITE' if saturate else 'NOSAT'}, fp8.fp8_interpretation_t.{kind})"
    for name, x in (("float", X), ("double", X.astype(np.float64)), ("bfloat16raw", X.astype(ml_dtypes.bfloat16))):
        want = narrowed(x.astype(np.float32), kind, saturate)
        assert same_numbers(run(f"fp8.cvt_{name}_to_fp8(x[i], {how}", np.uint8, x), want).all()
    both = run(f"fp8.cvt_float2_to_fp8x2(cuda.float32x2(x[i], y[i]), {how}", np.uint16, X, X[::-1].copy())
    for part, x in zip(both.view(np.uint8).reshape(-1, 2).T, (X, X[::-1])):
        assert same_numbers(part.copy(), narrowed(x, kind, saturate)).all()


def test_a_float64_is_rounded_once():
    """A float32 on the way would be a tie: 1.0625 + 2**-40 is nearer to 1.125 than to 1."""
    x = np.array([1.0625 + 2.0**-40, 1.0625])
    assert run("fp8.fp8_e4m3(x[i])", np.float64, x).tolist() == [1.125, 1]
    assert run("fp8.float64_to_fp8(x[i], 0, 0)", np.uint8, x).tolist() == [0x39, 0x38]


def scale(x, saturate, up):
    x = abs(float(x))
    if math.isnan(x):
        return 255
    if x > 2.0**127:
        return 254 if saturate or (not up and x < math.inf) else 255
    return 0 if x <= 2.0**-127 else 127 + (math.ceil if up else math.floor)(math.log2(x))


@pytest.mark.parametrize("up", [False, True])
@pytest.mark.parametrize("saturate", [False, True])
def test_scales(saturate, up):
    want = [scale(x, saturate, up) for x in SCALES]
    how = f"{int(saturate)}, fp8.cudaRoundMode.{'cudaRoundPosInf' if up else 'cudaRoundZero'})"
    assert run(f"fp8.cvt_float_to_e8m0(x[i], {how}", np.uint8, SCALES).tolist() == want
    assert run(f"fp8.cvt_double_to_e8m0(x[i], {how}", np.uint8, SCALES.astype(np.float64)).tolist() == want
    both = run(f"fp8.cvt_double2_to_e8m0x2(cuda.float64x2(x[i], 4.0), {how}", np.uint16, SCALES.astype(np.float64))
    assert (both & 255).tolist() == want and set(both >> 8) == {129}
    if up and saturate:
        assert run("fp8.fp8_e8m0(x[i]).view(np.uint8)", np.uint8, SCALES).tolist() == want


def test_back():
    bits = np.arange(256).astype(np.uint8)
    want = bits.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
    assert np.array_equal(run("fp8.e8m0_to_bfloat16_raw(x[i]).x", np.uint16, bits).view(ml_dtypes.bfloat16).astype(np.float32), want, equal_nan=True)
    assert run("fp8.bfloat16_raw_to_e8m0(fp8.cvt_e8m0_to_bf16raw(x[i]), 0, 1)", np.uint8, bits).tolist() == bits.tolist()


VECTORS = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "e8m0": ml_dtypes.float8_e8m0fnu}


def packed(kind, x):
    """Rows of numbers as CUDA C++'s vectors of them have them: saturating, of e8m0 the scales upwards."""
    if kind == "e8m0":
        return np.array([[scale(v, True, True) for v in row] for row in x], np.uint8).view(VECTORS[kind])
    return narrowed(x, kind.upper(), True)


@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("count, source", [(2, np.float32), (2, np.float64), (4, np.float32), (4, np.float64), (4, np.float16)])
def test_vectors(kind, count, source):
    """Their bits, their numbers, and back to float32; in a class's body, where Python spells `__x` differently, too."""
    name, axes = f"fp8x{count}_{kind}", "xyzw"[:count]
    of = f"cuda.{np.dtype(source).name}x{count}({', '.join(f'x[i, {k}]' for k in range(count))})"
    stores = "".join(f"            numbers[i, {k}] = v.{a}\n            back[i, {k}] = cuda.float32x{count}(v)[{k}]\n" for k, a in enumerate(axes))
    body = f"        i = cuda.grid(1)\n        if i < bits.size:\n            v = fp8.{name}({of})\n            bits[i] = v.__x\n            plain[i] = of(v)\n{stores}"
    holder = define(f"def of(v):\n    return v.__x\n\n\nclass Kernels:\n    @staticmethod\n    def kernel(bits, plain, numbers, back, x):\n{body}", "Kernels", fp8=fp8)
    with np.errstate(over="ignore"):
        x = np.resize(SCALES if kind == "e8m0" else X, (100, count)).astype(source)
    bits, plain = np.zeros((2, 100), f"u{count}")
    numbers, back = np.zeros(x.shape, VECTORS[kind]), np.zeros(x.shape, np.float32)
    cuda.jit(holder.kernel)[1, 128](bits, plain, numbers, back, x)
    want = packed(kind, x)
    assert same_numbers(bits.view(np.uint8).reshape(x.shape), want).all() and (bits == plain).all()
    assert np.array_equal(numbers.view(np.uint8), bits.view(np.uint8).reshape(x.shape))
    assert np.array_equal(back, want.astype(np.float32), equal_nan=True)


@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_90", "sm_120"])
def test_vectors_assemble(arch, tmp_path):
    def kernel(out, x, y):
        i = cuda.grid(1)
        v = cuda.vector.load(x, 4 * i, 4)
        out[i, 0] = fp8.fp8x4_e4m3(v).__x
        out[i, 1] = fp8.fp8x4_e5m2(cuda.float64x4(v)).__x
        out[i, 2] = fp8.fp8x2_e8m0(cuda.float32x2(v.x, v.y)).__x
        cuda.vector.store(x, 4 * i, cuda.float32x4(cuda.vector.load(y, 4 * i, 4)))

    ptx = ptx_of(kernel, "uint32[:, ::1], float32[::1], float8_e4m3fn[::1]", arch)
    assert (".e4m3x2" in ptx) == (arch in ("sm_90", "sm_120"))
    assemble(ptx, arch, tmp_path)


@pytest.mark.parametrize("line, what", [
    ("fp8.fp8x2_e4m3(cuda.float32x2(1, 2)).__y", "no attribute '__y'"), ("cuda.float32x2(1, 2).__x", "no attribute '__x'"),
    ("fp8.fp8x4_e4m3(cuda.float32x2(1, 2)).x", "no attribute 'z'"), ("fp8.fp8x2_e4m3(x).x", "a 1d float32 array.* no attribute 'x'"),
])  # fmt: skip
def test_wrong_vectors(line, what):
    with pytest.raises(AttributeError, match=what):
        cuda.jit(define(f"def kernel(x):\n    x[0] = {line}\n", fp8=fp8))[1, 1](np.zeros(1, np.float32))


@pytest.mark.host_only("assertions are checked")
def test_a_rounding_that_there_is_not():
    with pytest.raises(AssertionError, match="an e8m0 is rounded by cudaRoundZero or cudaRoundPosInf"):
        run("fp8.cvt_float_to_e8m0(x[i], 0, 0)", np.uint8, X)


@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_under_both_typings(typing):
    @cuda.jit(typing=typing)
    def kernel(out, x):
        out[0] = fp8.float32_to_fp8(x, fp8.saturation_t.SATFINITE, fp8.fp8_interpretation_t.E4M3)
        out[1] = fp8.float32_to_e8m0(x, fp8.saturation_t.NOSAT, fp8.cudaRoundMode.cudaRoundPosInf)

    out = np.zeros(2, np.uint8)
    kernel[1, 1](out, np.float32(3))
    assert out.tolist() == [0x44, 129]


def test_names():
    """Those of numba.cuda.fp8, also where Numba generates them."""
    names = ("float32 float64 bfloat16_raw", "fp8"), ("float32x2 float64x2", "fp8x2"), ("float32 float64 bfloat16_raw", "e8m0"), ("float32x2 float64x2", "e8m0x2")
    theirs = {f"{source}_to_{to}" for sources, to in names for source in sources.split()} | {"e8m0_to_bfloat16_raw"}
    theirs |= {f"fp8{n}_{kind}" for n in ("", "x2", "x4") for kind in VECTORS}
    assert theirs <= set(fp8.__all__) and all(getattr(fp8, name).__doc__ for name in fp8.__all__)
    assert fp8.float32_to_fp8 is fp8.cvt_float_to_fp8 and fp8.float64x2_to_e8m0x2 is fp8.cvt_double2_to_e8m0x2
    for name in ("numba.cuda.fp8", "numba.cuda._internal.cuda_fp8"):
        assert all(getattr(_modules.make(name, False), n) is getattr(fp8, n) for n in fp8.__all__)
    assert _modules.make("numba.cuda.api", False).is_fp8_supported() is True
