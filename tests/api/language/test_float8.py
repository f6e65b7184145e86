"""float8_e4m3fn, float8_e5m2 and float8_e8m0fnu: conversions and arithmetic against ml_dtypes, bit for bit."""

import re

import numpy as np
import pytest
from harness import define, jit
from pyptx import CompileError, cuda, float8_e4m3fn, float8_e5m2, float8_e8m0fnu
from test_ptx import assemble, ptx_of

ml_dtypes = pytest.importorskip("ml_dtypes")
TYPES = {name: getattr(ml_dtypes, name) for name in ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")}
ALL = np.arange(256, dtype=np.uint8)
pytestmark = [pytest.mark.filterwarnings("ignore::RuntimeWarning"), pytest.mark.parametrize("name", TYPES)]  # NumPy of nans and overflows


def same(got, want):
    """Equal bits; a nan for a nan."""
    nan = np.isnan(got.astype(np.float32)) & np.isnan(want.astype(np.float32))
    return bool((nan | (got.view(np.uint8) == want.view(np.uint8))).all())


def apply(name, expression, dtype, *arguments):
    kernel = define(f"def kernel(out, {', '.join('xyz'[:len(arguments)])}):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {expression}\n",
                    T=getattr(cuda, name))  # fmt: skip
    out = np.zeros(arguments[0].size, dtype)
    jit(kernel, fma=False)[-(-out.size // 256), 256](out, *arguments)
    cuda.synchronize()
    return out


@pytest.mark.parametrize("to", [np.float16, np.float32, np.float64, np.int8, np.uint8, np.int32, np.bool_, np.complex64])
def test_every_value_converts(name, to):
    x = ALL.view(TYPES[name])
    wide = x.astype(np.float64)
    if np.dtype(to).kind in "iu":  # saturates, and 0 for nan
        info = np.iinfo(to)
        want = np.where(np.isnan(wide), 0, np.clip(np.trunc(wide), info.min, info.max)).astype(to)
    else:
        want = wide.astype(to)
    assert np.array_equal(apply(name, f"np.{np.dtype(to).name}(x[i])" if to is not np.bool_ else "bool(x[i])", to, x), want, equal_nan=np.dtype(to).kind in "fc")


def between(dtype):
    """Every finite value, the middle between it and the next, and the numbers beside those; what lies beyond the largest one; infinities, nan."""
    x = ALL.view(dtype).astype(np.float64)
    x = np.unique(x[np.isfinite(x)])
    last = x[-1] - x[-2]
    middles = np.concatenate([(x[1:] + x[:-1]) / 2, [x[-1] + last / 2, -x[-1] - last / 2, 1e30, -1e30, 0.0, -0.0, 1e-30, np.inf, -np.inf, np.nan, -np.nan]])
    edges = np.concatenate([x, middles])
    return np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), edges * (1 + 2.0**-20), edges * (1 - 2.0**-20)])


@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64])
def test_rounded_to_nearest_even(name, source):
    """A float64 is rounded once, too: ml_dtypes goes through float32, which here is given a last bit where something is left, so that it is no tie."""
    x = between(TYPES[name]).astype(source)
    near = x.astype(np.float32)
    inexact = np.isfinite(x) & np.isfinite(near) & (near != x)
    bits = near.view(np.int32) - (inexact & (abs(near.astype(np.float64)) > abs(x)))
    want = np.where(inexact, bits | 1, bits).astype(np.int32).view(np.float32).astype(TYPES[name])
    assert same(apply(name, "T(x[i])", TYPES[name], x), want)


@pytest.mark.parametrize("source", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_of_integers(name, source):
    info = np.iinfo(source)
    x = np.unique(np.clip(np.concatenate([np.arange(-700, 700), [60000, 61439, 61440, 65535, info.min // 2, info.max // 2]]).astype(object), info.min, info.max)).astype(source)
    assert same(apply(name, "T(x[i])", TYPES[name], x), x.astype(np.float64).astype(TYPES[name]))


@pytest.mark.parametrize("expression", ["x[i] + y[i]", "x[i] - y[i]", "x[i] * y[i]", "x[i] / y[i]", "-x[i]", "abs(x[i])", "x[i] + 1", "x[i] * 1.5", "max(x[i], y[i])"])
def test_arithmetic(name, expression):
    """One operation in float32, rounded: what ml_dtypes does; a Python float gives way, as beside bfloat16."""
    x, y = (v.ravel() for v in np.meshgrid(ALL.view(TYPES[name]), ALL.view(TYPES[name])[::3]))
    if "max" in expression:  # Python's, which a nan decides otherwise
        keep = ~(np.isnan(x.astype(np.float32)) | np.isnan(y.astype(np.float32)))
        x, y = x[keep], y[keep]
        want = np.where(y.astype(np.float32) > x.astype(np.float32), y, x)
    else:
        want = eval(expression.replace("[i]", "").replace("1.5", "x.dtype.type(1.5)"))
    assert want.dtype == TYPES[name]
    assert same(apply(name, expression, TYPES[name], x, y), want)


@pytest.mark.parametrize("op", ["<", "<=", "==", "!=", ">", ">="])
def test_comparisons(name, op):
    x, y = (v.ravel() for v in np.meshgrid(ALL.view(TYPES[name]), ALL.view(TYPES[name])[::3]))
    want = eval(f"x.astype(np.float32) {op} y.astype(np.float32)")
    assert np.array_equal(apply(name, f"x[i] {op} y[i]", np.bool_, x, y), want)


@pytest.mark.parametrize("other", ["int8", "uint8", "float32", "float64", "int64", "float16", "bfloat16"])
def test_promotion(name, other):
    """ml_dtypes' where it has a common type; float32 with another float of at most 16 bits."""
    dtype = np.dtype(getattr(ml_dtypes, other, other))
    try:
        want = np.result_type(dtype, TYPES[name])
    except TypeError:
        want = np.dtype(np.float64 if other == "int64" else np.float32)
    kernel = define("def kernel(out, x, y):\n    out[0] = (x[0] + y[0]).dtype.itemsize\n    out[1] = x[0] + y[0] == 3\n")
    out = np.zeros(2, np.int64)
    jit(kernel)[1, 1](out, np.ones(1, TYPES[name]), np.full(1, 2, dtype))
    assert out.tolist() == [want.itemsize, 1]


@cuda.jit
def moved(out, x, n, scale):
    s = cuda.shared.array(256, x.dtype)
    mine = cuda.local.array(2, x.dtype)
    i = cuda.threadIdx.x
    s[i] = x[i]
    cuda.syncthreads()
    mine[i % 2] = s[n - 1 - i]
    out[i] = mine[i % 2] * scale


def test_shared_and_local_arrays_and_scalars(name):
    x = ALL.view(TYPES[name])
    out = cuda.device_array(256, getattr(cuda, name))
    moved[1, 256](out, cuda.to_device(x), 256, TYPES[name](2))
    assert out.dtype == TYPES[name] and same(out.copy_to_host(), x[::-1] * TYPES[name](2))
    assert moved.signatures == [f"{name}[::1], {name}[::1], pyint, {name}"] or name in str(moved.signatures)


def test_types_and_arrays(name):
    kind = getattr(cuda, name)
    assert kind in (float8_e4m3fn, float8_e5m2, float8_e8m0fnu) and kind.bitwidth == 8 and kind.dtype == TYPES[name] and kind(1.3) == TYPES[name](1.3)
    assert cuda.types.from_dtype(TYPES[name]) == kind
    d = cuda.device_array((3, 5), dtype=kind)
    assert d.dtype == TYPES[name] and d.nbytes == 15 and name in repr(d)
    d.copy_to_device(np.ones((3, 5), TYPES[name]))
    assert same(d.copy_to_host(), np.ones((3, 5), TYPES[name]))
    assert cuda.device_array_like(d).dtype == TYPES[name]


def test_signatures(name):
    kernel = cuda.jit(f"{name}[::1], float32")(define("def kernel(x, v):\n    x[0] = v\n"))
    d = cuda.to_device(np.zeros(1, TYPES[name]))
    kernel[1, 1](d, np.float32(1.3))
    assert same(d.copy_to_host(), np.array([1.3], TYPES[name]))


def test_constants_fold_as_they_compute(name):
    values = [1.3, -0.07, 448.0, 464.0, 465.0, 1e9, 1e-9, 61439.0, 61440.0]
    kernel = define(f"def kernel(out):\n" + "".join(f"    out[{k}] = T({v})\n" for k, v in enumerate(values)), T=getattr(cuda, name))
    out = np.zeros(len(values), TYPES[name])
    jit(kernel)[1, 1](out)
    cuda.synchronize()
    assert same(out, np.array(values).astype(TYPES[name]))


def test_limits(name):
    kernel = define("def kernel(out):\n    f = np.finfo(T)\n    out[0], out[1], out[2], out[3], out[4] = f.max, f.min, f.eps, f.tiny, f.bits\n", T=getattr(cuda, name))
    out = np.zeros(5, np.float32)
    jit(kernel)[1, 1](out)
    cuda.synchronize()
    f = ml_dtypes.finfo(TYPES[name])
    assert out.tolist() == [float(f.max), float(f.min), float(f.eps), float(f.tiny), 8]


def test_printed_as_float32(name, capfd):
    kernel = define("def kernel(x):\n    print(x[0], x[1])\n")
    x = np.array([0.1, -2], TYPES[name])  # of e8m0fnu nan
    jit(kernel)[1, 1](x)
    cuda.synchronize()
    assert np.array_equal([float(v) for v in capfd.readouterr().out.split()], x.astype(float), equal_nan=True)


def test_others_of_8_bits_are_refused(name):
    kernel = jit(define("def kernel(x):\n    x[0] = 0\n"))
    with pytest.raises(TypeError, match="float8_e4m3fnuz"):
        kernel[1, 1](np.zeros(1, ml_dtypes.float8_e4m3fnuz))


def test_bits(name):
    x = ALL.view(TYPES[name])
    assert np.array_equal(apply(name, "x[i].view(np.uint8)", np.uint8, x), ALL)
    assert np.array_equal(apply(name, "x[i].view(T)", TYPES[name], ALL).view(np.uint8), ALL)
    assert same(apply(name, "x[i].view(cuda.float8_e5m2)", ml_dtypes.float8_e5m2, x), ALL.view(ml_dtypes.float8_e5m2))
    assert apply(name, "T(1.5).view(np.uint8)", np.uint8, x)[0] == np.array(1.5, TYPES[name]).view(np.uint8)


@pytest.mark.parametrize("expression, want", [
    ("cuda.shfl_xor_sync(0xffffffff, x[i], 1)", lambda x: x.reshape(-1, 2)[:, ::-1].ravel()), ("np.sqrt(abs(x[i]))", lambda x: np.sqrt(abs(x))),
    ("(x[i], T(2))[i % 2]", lambda x: np.where(np.arange(x.size) % 2, 2, x)), ("x[i] ** 2", lambda x: x * x), ("cuda.vector.load(x, i // 4 * 4, 4)[i % 4]", lambda x: x),
    ("np.minimum(x[i], T(1))", lambda x: np.minimum(x, 1)), ("x[i] // T(3)", lambda x: x // 3), ("cuda.ldcg(x, i)", lambda x: x),
])  # fmt: skip
def test_functions(name, expression, want):
    """Of float32, rounded."""
    x = ALL.view(TYPES[name])
    wide = x.astype(np.float32)
    assert same(apply(name, expression, TYPES[name], x), want(wide).astype(np.float32).astype(TYPES[name]))


def test_no_neighbours(name):
    with pytest.raises(CompileError, match="8-bit floats have no neighbours"):
        ptx_of(define("def kernel(x):\n    x[0] = np.nextafter(x[1], x[2])\n"), f"{name}[::1]", "sm_90")


def test_records(name):
    x = np.array([(1.5, 2), (-0.25, 3)], dtype=[("v", TYPES[name]), ("w", np.float32)])
    kernel = define("def kernel(x):\n    i = cuda.grid(1)\n    x[i].v *= x[i].w\n")
    d = cuda.to_device(x)
    jit(kernel)[1, 2](d)
    assert same(d.copy_to_host()["v"], np.array([1.5, -0.25], TYPES[name]) * np.array([2, 3], TYPES[name]))


def test_runs_in_python(name):
    kernel = define("def kernel(out, x):\n    i = cuda.grid(1)\n    out[i] = x[i] * x[i] + T(1)\n", T=getattr(cuda, name))
    x = ALL.view(TYPES[name])
    runs = [np.zeros_like(x) for _ in range(2)]
    jit(kernel).py_run(1, 256, runs[0], x)
    jit(kernel)[1, 256](runs[1], x)
    cuda.synchronize()
    assert same(*runs)


@pytest.mark.host_only
def test_checks(name):
    """Of all kinds; a conversion that overflows is found."""
    kernel = cuda.jit(check=("race", "init", "nan", "overflow"))(moved.py_func)
    x = np.arange(256, dtype=np.float32).astype(TYPES[name])
    out = np.zeros_like(x)
    kernel[1, 256](out, x, 256, TYPES[name](0.5))
    cuda.synchronize()
    assert same(out, x[::-1] * TYPES[name](0.5))
    with pytest.raises(ArithmeticError, match="a nan or an infinity of finite numbers"):
        kernel[1, 256](out, x, 256, TYPES[name](ml_dtypes.finfo(TYPES[name]).max))
        cuda.synchronize()


def test_raised(name):
    kernel = cuda.jit(debug=True)(define("def kernel(x):\n    raise ValueError(x[0])\n"))
    with pytest.raises(ValueError, match="0.25"):
        kernel[1, 1](np.full(1, 0.25, TYPES[name]))
        cuda.synchronize()


def test_no_atomics(name):
    kernel = define("def kernel(x):\n    cuda.atomic.add(x, 0, 1)\n")
    with pytest.raises(CompileError, match=re.escape(name)):
        ptx_of(kernel, f"{name}[::1]", "sm_90")


@pytest.mark.parametrize("arch", ["sm_75", "sm_89", "sm_90"])
def test_ptx(name, arch, tmp_path):
    """Instructions from sm_90 on, integer operations before, and for e8m0fnu everywhere."""
    ptx = ptx_of(define("def kernel(x, y):\n    y[0] = float(x[0]) + 1\n    x[1] = y[1]\n"), f"{name}[::1], float32[::1]", arch)
    short = name[7:11]
    assert (f"cvt.rn.satfinite.{short}x2.f32" in ptx and f"cvt.rn.f16x2.{short}x2" in ptx) == (arch == "sm_90" and name != "float8_e8m0fnu")
    assemble(ptx, arch, tmp_path)
