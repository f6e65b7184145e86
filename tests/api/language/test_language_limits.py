"""np.iinfo and np.finfo in kernels, by name and as globals: the constants that NumPy has; sys.float_info."""

import sys

import harness
import numpy as np
import pytest
from pyptx import cuda

INTEGER = ["min", "max", "bits"]
FLOAT = "bits eps epsneg iexp machep max maxexp min minexp negep nexp nmant precision resolution smallest_normal smallest_subnormal tiny".split()


def stored(lines, names, dtype, *args):
    source = "def kernel(out, x):\n" + "".join(f"    out[{k}] = {line}\n" for k, line in enumerate(lines))
    scope = {"np": np, "sys": sys, **names}
    exec(source, scope)
    out, want = np.zeros((2, len(lines)), dtype)
    cuda.jit(scope["kernel"])[1, 1](out, *args)
    scope["kernel"](want, *args)
    return out, want


@pytest.mark.parametrize("dtype", harness.INTS)
def test_integers(dtype):
    info = np.iinfo(dtype)
    memory = np.uint64 if dtype == "uint64" else np.int64
    forms = [f"np.iinfo(np.{dtype})", f"np.iinfo('{dtype}')", "np.iinfo(x.dtype)", "info"]
    lines = [f"{form}.{name}" for form in forms for name in INTEGER]
    lines += [f"info.kind == '{info.kind}'", "np.iinfo(x.dtype).dtype == x.dtype"]
    out, want = stored(lines, {"info": info}, memory, np.zeros(1, dtype))
    assert out.tolist() == want.tolist()


@pytest.mark.parametrize("dtype", harness.FLOATS)
def test_floats(dtype):
    forms = [f"np.finfo(np.{dtype})", "np.finfo(x.dtype)", "np.finfo(x[0])", "info"]
    lines = [f"{form}.{name}" for form in forms for name in FLOAT]
    out, want = stored(lines, {"info": np.finfo(dtype)}, np.float64, np.zeros(1, dtype))
    assert out.tobytes() == want.tobytes()


def test_types_are_those_of_numpy():
    """A float's limits are of its type, an integer's are Python ints."""

    def kernel(out, x):
        out[0] = np.finfo(np.float32).eps / 3  # float32
        out[1] = np.finfo(np.complex64).max * np.float32(2)  # inf
        out[2] = (x[0] + np.iinfo(np.int8).max) // 2  # wraps in int8
        out[3] = np.finfo(float).eps / 3

    harness.run(kernel, (np.zeros(4), np.array([3], np.int8)))


def test_reduction_that_starts_at_a_limit():
    def kernel(out, x, y):
        best = np.iinfo(np.int32).max
        high = -np.finfo(np.float32).max
        for k in range(x.size):
            best = min(best, x[k])
            high = max(high, y[k])
        out[0] = best
        out[1] = high

    harness.run(kernel, (np.zeros(2), np.array([5, -7, 3], np.int32), np.array([-5.5, -7, -3], np.float32)))


def test_of_pythons_floats():
    lines = [f"sys.float_info.{n}" for n in ("max", "min", "epsilon", "dig", "mant_dig")] + ["sys.maxsize"]
    out, want = stored(lines, {}, np.float64, np.zeros(1))
    assert out.tobytes() == want.tobytes()


@pytest.mark.parametrize("call", ["np.iinfo(np.float32)", "np.finfo(np.int32)", "np.iinfo(1.5)", "np.finfo('name')"])
def test_of_the_wrong_kind(call):
    scope = {"np": np}
    exec(f"def kernel(out):\n    out[0] = {call}.max\n", scope)
    with pytest.raises(TypeError, match=r"PT209: numpy\..info: argument 1 must be an? (integer|float) type"):
        cuda.jit(scope["kernel"])[1, 1](np.zeros(1))


def test_misspelt_limits():
    def kernel(out):
        out[0] = np.finfo(np.float32).epsilon

    with pytest.raises(AttributeError, match=r"numpy\.finfo has no attribute 'epsilon' in a kernel"):
        cuda.jit(kernel)[1, 1](np.zeros(1))
