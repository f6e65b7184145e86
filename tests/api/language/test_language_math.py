"""math.*: float32 stays float32, everything else is computed in float64; errors in ulps are measured and bounded here.

Bounds, in ulps of the result's type. Host device: the C library's functions, whose own bounds
(glibc's manual) are at most these. GPU: libdevice, whose bounds NVIDIA's CUDA C++ Programming Guide
lists. The reference is Python's math in float64, rounded to float32 for float32: for float64 its
own error, that of the C library, is added to the GPU's bound where a run showed it (cbrt, tanh).
"""

import math

import numpy as np
import pytest
from harness import define, jit, run, store, ulp_distance
from pyptx import cuda

# Python's own gamma and lgamma are off by up to 10 ulps of float64 themselves.

# name: (arguments from, to, ulps of float32 on host and GPU, ulps of float64 on host and GPU)
ONE = {
    "acos": (-1, 1, 1, 2, 1, 2),
    "acosh": (1, 100, 2, 4, 2, 3),
    "asin": (-1, 1, 1, 2, 1, 3),
    "asinh": (-100, 100, 2, 3, 2, 3),
    "atan": (-50, 50, 1, 2, 1, 2),
    "atanh": (-1, 1, 2, 3, 2, 3),
    "cbrt": (-100, 100, 1, 1, 4, 5),
    "cos": (-100, 100, 1, 2, 1, 2),
    "cosh": (-10, 10, 2, 2, 2, 2),
    "erf": (-4, 4, 1, 2, 1, 2),
    "erfc": (-4, 8, 2, 4, 5, 5),
    "exp": (-80, 80, 1, 2, 1, 1),
    "exp2": (-100, 100, 1, 2, 1, 1),
    "expm1": (-10, 10, 1, 1, 2, 1),
    "gamma": (0.1, 20, 4, 5, 10, 10),
    "lgamma": (3, 100, 4, 6, 10, 10),
    "log": (1e-6, 1e6, 1, 1, 1, 1),
    "log10": (1e-6, 1e6, 2, 2, 2, 1),
    "log1p": (-0.99, 100, 1, 1, 1, 1),
    "log2": (1e-6, 1e6, 1, 1, 1, 1),
    "sin": (-100, 100, 1, 2, 1, 2),
    "sinh": (-10, 10, 2, 3, 2, 2),
    "sqrt": (0, 1e6, 0, 0, 0, 0),
    "tan": (-50, 50, 2, 4, 1, 2),
    "tanh": (-10, 10, 2, 2, 2, 3),
    "fabs": (-10, 10, 0, 0, 0, 0),
    "degrees": (-10, 10, 1, 1, 1, 1),
    "radians": (-1000, 1000, 1, 1, 1, 1),
}
TWO = {
    "atan2": (-10, 10, 1, 3, 1, 2),
    "copysign": (-5, 5, 0, 0, 0, 0),
    "fmod": (-50, 50, 0, 0, 0, 0),
    "hypot": (-1e3, 1e3, 1, 1, 1, 2),
    "pow": (0.01, 10, 1, 4, 1, 2),
    "remainder": (-50, 50, 0, 0, 0, 0),
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, math.inf, -math.inf, math.nan, 1e30, -1e30, 1e-30]


def launch(kernel, arrays):
    jit(kernel, fma=False)[-(-arrays[0].size // 128), 128](*arrays)
    cuda.synchronize()


def python_value(name, *args):
    """What CPython's math gives, and where it raises what C gives: nan outside the domain, a signed infinity at a pole or overflow."""
    args = [float(a) for a in args]
    try:
        return getattr(math, name)(*args)
    except OverflowError:
        if name == "pow":
            return float(np.power(*args))
        return math.copysign(math.inf, args[0]) if name in ("sinh", "gamma") and args[0] < 0 else math.inf
    except ValueError:
        poles = {"log": -math.inf, "log2": -math.inf, "log10": -math.inf}
        if name in poles and args[0] == 0:
            return poles[name]
        if name == "log1p" and args[0] == -1:
            return -math.inf
        if name == "atanh" and abs(args[0]) == 1:
            return math.copysign(math.inf, args[0])
        if name == "gamma" and args[0] == 0:
            return math.copysign(math.inf, args[0])
        if name == "lgamma":
            return math.inf
        if name == "pow" and args[0] == 0:
            return float(np.power(*args))
        return math.nan


def bound(entry, dtype, device):
    return entry[2 + 2 * (dtype == "float64") + (device == "gpu")]


def check(name, entry, arrays, dtype, device):
    names = ["x", "y"][: len(arrays)]
    kernel = define(f"""def kernel({", ".join(names)}, out, wide):
    i = cuda.grid(1)
    if i < x.size:
        r = math.{name}({", ".join(n + "[i]" for n in names)})
        out[i] = r
        wide[i] = r
""")
    out, wide = np.zeros(arrays[0].size, dtype), np.zeros(arrays[0].size)
    launch(kernel, [*arrays, out, wide])
    assert np.array_equal(wide, out.astype(np.float64), equal_nan=True), (
        "the result does not have the argument's type"
    )
    with np.errstate(all="ignore"):
        want = np.array([python_value(name, *v) for v in zip(*arrays)]).astype(dtype)
    distance = ulp_distance(out, want)
    worst = int(np.argmax(distance))
    assert distance[worst] <= bound(entry, dtype, device), (
        f"math.{name}{tuple(a[worst].item() for a in arrays)} = {out[worst]!r}, Python {want[worst]!r}: {distance[worst]} ulps"
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_argument(name, dtype, device):
    low, high = ONE[name][:2]
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(low, high, 2000), np.linspace(low, high, 101)]).astype(dtype)
    check(name, ONE[name], [x], dtype, device)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ONE)
def test_special_arguments(name, dtype, device):
    x = np.array(SPECIAL, dtype)
    if name in ("sin", "cos", "tan"):
        x = x[
            np.abs(x) != dtype_value(dtype, 1e30)
        ]  # argument reduction of huge numbers: libdevice is less accurate there
    check(name, ONE[name], [x], dtype, device)


def dtype_value(dtype, value):
    return np.dtype(dtype).type(value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_arguments(name, dtype, device):
    low, high = TWO[name][:2]
    rng = np.random.default_rng(2)
    x, y = (rng.uniform(low, high, 2000).astype(dtype) for _ in range(2))
    check(name, TWO[name], [x, y], dtype, device)
    special = np.array(SPECIAL, dtype)
    check(name, TWO[name], [np.repeat(special, special.size), np.tile(special, special.size)], dtype, device)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64", "bool"])
@pytest.mark.parametrize("name", ["sqrt", "sin", "exp", "floor", "fabs"])
def test_integer_arguments_are_computed_in_float64(name, dtype, device):
    kernel = define(
        f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = math.{name}(x[i])\n"
    )
    x = np.arange(0, 20).astype(dtype)
    run(kernel, [x, np.zeros(20)], 1, 32, ulps={"host": 1, "gpu": 2}[device])


@pytest.mark.parametrize("name", ["sqrt", "sin", "exp"])
def test_python_numbers(name, device):
    kernel = define(
        f"def kernel(n, f, out):\n    out[0] = math.{name}(n)\n    out[1] = math.{name}(f)\n    out[2] = math.{name}(2)\n"
    )
    run(kernel, [3, 0.7, np.zeros(3)], ulps={"host": 1, "gpu": 2}[device])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc"])
def test_to_integers(name, dtype):
    kernel = define(f"""def kernel(x, out, one8, beside8):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.{name}(x[i])
        beside8[i] = one8[0] * math.{name}(x[i])
""")
    x = np.array([-2.5, -2.0, -0.5, -0.0, 0.0, 0.5, 0.99, 1.0, 7.3, 1e6 + 0.5, -1e6 - 0.5]).astype(dtype)
    out, beside8 = np.zeros(x.size, np.int64), np.zeros(x.size)
    launch(kernel, [x, out, np.ones(1, np.int8), beside8])
    want = [getattr(math, name)(v.item()) for v in x]
    assert out.tolist() == want and beside8.tolist() == [float(store("int8", w)) for w in want]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_classification(dtype):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.isnan(x[i]) + 2 * math.isinf(x[i]) + 4 * math.isfinite(x[i])

    x = np.array([*SPECIAL, np.finfo(dtype).smallest_subnormal], dtype)
    run(kernel, [x, np.zeros(x.size, np.int64)], 1, 32)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frexp_ldexp_modf(dtype):
    def kernel(x, e, out):
        i = cuda.grid(1)
        if i < x.size:
            m, k = math.frexp(x[i])
            fraction, whole = math.modf(x[i])
            out[i, 0] = m
            out[i, 1] = k
            out[i, 2] = math.ldexp(m, k)
            out[i, 3] = fraction
            out[i, 4] = whole
            out[i, 5] = math.ldexp(x[i], e[i])

    x = np.array([1.0, -1.5, 0.75, 123.456, -1e-30, 0.0, -0.0, 8.0, 1e30], dtype)
    run(kernel, [x, np.arange(-4, 5, dtype=np.int32), np.zeros((x.size, 6))], 1, 16)


def test_log_to_a_base(libm_ulps):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0] = math.log(x[i], 2)
            out[i, 1] = math.log(x[i], 10.0)
            out[i, 2] = math.log(x[i], x[i] + 1)

    # Two logarithms and a division: their bounds and a half.
    run(kernel, [np.linspace(0.1, 50, 40), np.zeros((40, 3))], 1, 64, ulps=2 * libm_ulps + 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fma_rounds_once(dtype):
    def kernel(x, y, z, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = math.fma(x[i], y[i], z[i])

    rng = np.random.default_rng(3)
    x, y = (rng.standard_normal(500).astype(dtype) for _ in range(2))
    z = (-x * y).astype(dtype)
    out = np.zeros_like(x)
    launch(kernel, [x, y, z, out])
    if dtype == "float32":  # exact in float64
        assert np.array_equal(out, (x.astype(np.float64) * y + z).astype(dtype))
    else:
        assert np.count_nonzero(out) > 400 and np.abs(out).max() < 1e-15


def test_constants():
    def kernel(out):
        out[0] = math.pi
        out[1] = math.e
        out[2] = math.inf
        out[3] = math.tau
        out[4] = -math.inf

    run(kernel, [np.zeros(5)])


def test_weak_result_takes_float32_beside_an_element(libm_ulps):
    """math of a Python float is a Python float: it does not widen."""

    def kernel(a, x, wide):
        wide[0] = math.sqrt(a) * x[0]

    run(kernel, [2.0, np.full(1, 0.1, np.float32), np.zeros(1)])


def test_fmod_by_a_nan_that_the_optimiser_knows():
    """LLVM takes its own fmod for one without nans: fmod(x, 0/0) came out as 0."""

    def kernel(x, out):
        nothing = 1
        z = (x[0] % 1) / (1 - nothing)
        out[0] = math.fmod(x[0], z)
        out[1] = x[0] % z

    run(kernel, [np.array([-11], np.int32), np.zeros(2)])
