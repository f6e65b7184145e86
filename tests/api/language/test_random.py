"""cuda.random: the streams of numba.cuda.random, whose numbers for some seeds stand in tests/data/xoroshiro128p.json."""

import sys
import subprocess
import json
import re
from pathlib import Path

import numpy as np
import pytest
from harness import define, ulp_distance
from pyptx import cuda, uint64
from pyptx.cuda import random
from pyptx.cuda.random import (
    create_xoroshiro128p_states,
    init_xoroshiro128p_state,
    init_xoroshiro128p_states,
    xoroshiro128p_dtype,
    xoroshiro128p_jump,
    xoroshiro128p_next,
    xoroshiro128p_normal_float32,
    xoroshiro128p_normal_float64,
    xoroshiro128p_uniform_float32,
    xoroshiro128p_uniform_float64,
)
from test_ptx import ARCHITECTURES, assemble, ptx_of

CASES = json.loads((Path(__file__).resolve().parents[2] / "data" / "xoroshiro128p.json").read_text())["cases"]
DRAWS = 5


def words(states):
    return np.stack([states["s0"], states["s1"]], axis=1)


def draw(function, case):
    """DRAWS numbers of each generator of a case, drawn in a kernel, and the states after them."""
    kernel = define(f"""def kernel(states, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        for k in range(out.shape[1]):
            out[i, k] = xoroshiro128p_{function}(states, i)
""", **vars(random))  # fmt: skip
    n = len(case["states"])
    states = create_xoroshiro128p_states(n, seed=case["seed"], subsequence_start=case["start"])
    dtype = np.uint64 if function == "next" else np.float64 if function.endswith("64") else np.float32
    out = np.zeros((n, DRAWS), dtype)
    cuda.jit(kernel)[1, 32](states, out)
    return out, states.copy_to_host()


def expected(case, function):
    if function == "next":
        return np.array(case[function], np.uint64)
    return np.array([[float.fromhex(v) for v in row] for row in case[function]])


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"seed {c['seed']}")
def test_states(case):
    n = len(case["states"])
    states = create_xoroshiro128p_states(n, case["seed"], case["start"])
    want = np.array(case["states"], np.uint64)
    assert states.dtype == xoroshiro128p_dtype and states.shape == (n,)
    assert np.array_equal(words(states.copy_to_host()), want)
    again = cuda.device_array(n, xoroshiro128p_dtype)
    init_xoroshiro128p_states(again, case["seed"], subsequence_start=case["start"])
    assert np.array_equal(words(again.copy_to_host()), want)


@pytest.mark.parametrize("function", ["next", "uniform_float32", "uniform_float64"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"seed {c['seed']}")
def test_the_same_numbers(case, function):
    """Bit for bit."""
    out, after = draw(function, case)
    assert np.array_equal(out, expected(case, function).astype(out.dtype))
    assert np.array_equal(words(after), np.array(case["next_after"], np.uint64))


@pytest.mark.parametrize("function", ["normal_float32", "normal_float64"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"seed {c['seed']}")
def test_the_same_normal_numbers(case, function):
    """Within the errors of log and cos: float32 throughout, 2 ulps each here and there, and a rounding a multiplication. The
    float64 function takes the logarithm of a float32: 2 ulps of float32 here and 1 there, halved by the square root."""
    out, after = draw(function, case)
    want = expected(case, function).astype(out.dtype)
    if function == "normal_float32":
        assert (ulp_distance(out, want) <= 10).all()
    else:
        assert np.allclose(out, want, rtol=1.5 * 2**-23, atol=0)
    assert np.array_equal(words(after), np.array(case["normal_float64_after"], np.uint64))


def test_jump_and_begin_in_a_kernel():
    def kernel(states, seed, jumped):
        i = cuda.grid(1)
        init_xoroshiro128p_state(states, i, seed)
        for _ in range(i):
            xoroshiro128p_jump(states, i)
        jumped[i] = states[i]["s0"]
        xoroshiro128p_next(states, i)

    case = CASES[0]
    n = len(case["states"])
    states = np.zeros(n, xoroshiro128p_dtype)
    jumped = np.zeros(n, np.uint64)
    cuda.jit(kernel)[1, n](states, case["seed"], jumped)
    cuda.synchronize()
    assert jumped.tolist() == [s[0] for s in case["states"]]
    with np.errstate(over="ignore"):
        want = create_xoroshiro128p_states(n, case["seed"]).copy_to_host()
        for i in range(n):
            xoroshiro128p_next(want, i)
    assert np.array_equal(states, want)


def test_functions_on_the_host():
    """The same functions over a NumPy array, and the array as a kernel's argument."""
    case = CASES[1]
    with np.errstate(over="ignore"):
        states = create_xoroshiro128p_states(5, case["seed"], case["start"]).copy_to_host()
        xoroshiro128p_jump(states, 0)
        assert words(states)[0].tolist() == case["jumped"]
        states = create_xoroshiro128p_states(5, case["seed"], case["start"]).copy_to_host()
        got = [[float(xoroshiro128p_uniform_float64(states, i)) for _ in range(DRAWS)] for i in range(5)]
    assert got == expected(case, "uniform_float64").tolist()

    @cuda.jit
    def kernel(states, out):
        out[0] = xoroshiro128p_next(states, 1)

    init_xoroshiro128p_states(states, case["seed"], case["start"])
    out = np.zeros(1, np.uint64)
    kernel[1, 1](states, out)
    cuda.synchronize()
    assert out[0] == case["next"][1][0] and words(states)[0].tolist() == case["states"][0]


def test_jump_is_the_step_to_the_power_of_two_to_the_64():
    """The matrix from the published polynomial against 64 squarings of the matrix of one step."""
    units = np.zeros(128, xoroshiro128p_dtype)
    units.view(np.uint64).reshape(128, 2)[range(64), 0] = np.uint64(1) << np.arange(64, dtype=np.uint64)
    units.view(np.uint64).reshape(128, 2)[range(64, 128), 1] = np.uint64(1) << np.arange(64, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for i in range(128):
            xoroshiro128p_next(units, i)
    power = words(units)
    for _ in range(64):
        power = random._apply(power, power)
    assert np.array_equal(power, random._jump_matrix())


def test_far_subsequences_go_on_where_near_ones_end():
    near = words(create_xoroshiro128p_states(300, 7).copy_to_host())
    far = words(create_xoroshiro128p_states(40, 7, subsequence_start=260).copy_to_host())
    assert np.array_equal(near[260:], far)
    assert len(np.unique(near[:, 0])) == 300
    # The period is 2**128 - 1: the jump number 2**64 is one step.
    end = create_xoroshiro128p_states(2, 7, subsequence_start=2**64 - 1).copy_to_host()
    first = create_xoroshiro128p_states(1, 7).copy_to_host()
    with np.errstate(over="ignore"):
        xoroshiro128p_next(first, 0)
    assert end[1] == first[0]


def test_distributions():
    """Means and variances of 2**18 numbers: within 5 standard deviations of the true ones."""

    @cuda.jit
    def kernel(states, uniform32, uniform64, normal32, normal64):
        i = cuda.grid(1)
        for k in range(uniform32.shape[1]):
            uniform32[i, k] = xoroshiro128p_uniform_float32(states, i)
            uniform64[i, k] = xoroshiro128p_uniform_float64(states, i)
            normal32[i, k] = xoroshiro128p_normal_float32(states, i)
            normal64[i, k] = xoroshiro128p_normal_float64(states, i)

    shape = 1024, 256
    n = shape[0] * shape[1]
    outs = [np.zeros(shape, dtype) for dtype in (np.float32, np.float64, np.float32, np.float64)]
    kernel[4, 256](create_xoroshiro128p_states(1024, seed=2026), *outs)
    cuda.synchronize()
    for uniform in outs[:2]:
        assert uniform.min() >= 0 and uniform.max() <= 1
        assert abs(uniform.mean(dtype=float) - 0.5) < 5 * (1 / 12 / n) ** 0.5
        assert abs(uniform.var(dtype=float) - 1 / 12) < 5 * (1 / 180 / n) ** 0.5
    for normal in outs[2:]:
        assert abs(normal.mean(dtype=float)) < 5 / n**0.5
        assert abs(normal.var(dtype=float) - 1) < 5 * (2 / n) ** 0.5


def test_mistakes():
    with pytest.raises(ValueError, match="xoroshiro128p_dtype"):
        init_xoroshiro128p_states(cuda.device_array((4, 2), np.uint64), 1)
    with pytest.raises(ValueError, match="subsequence_start"):
        create_xoroshiro128p_states(3, 1, subsequence_start=-1)
    assert len(create_xoroshiro128p_states(1, -1)) == 1  # a seed is taken modulo 2**64


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_assembles(arch, tmp_path):
    """A state is two words, loaded and stored whole, and nothing of it goes through local memory. (cos has a table there.)"""

    @cuda.jit
    def uniform(states, out):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_uniform_float64(states, i)

    @cuda.jit
    def normal(states, out):
        i = cuda.grid(1)
        out[i] = xoroshiro128p_normal_float32(states, i) + xoroshiro128p_normal_float64(states, i)
        xoroshiro128p_jump(states, i)

    signature = f"{random.xoroshiro128p_type}[::1], float64[::1]"
    ptx = ptx_of(uniform, signature, arch)
    assert ".local" not in ptx and not re.search(r"(ld|st)\.global\S*\.[bus](8|16|32)\b", ptx)
    assemble(ptx, arch, tmp_path)
    assemble(ptx_of(normal, signature, arch), arch, tmp_path)


def test_signature():
    @cuda.jit((random.xoroshiro128p_type[::1], uint64[::1]))
    def kernel(states, out):
        out[0] = xoroshiro128p_next(states, 0)

    out = np.zeros(1, np.uint64)
    kernel[1, 1](create_xoroshiro128p_states(1, CASES[0]["seed"]), out)
    cuda.synchronize()
    assert out[0] == CASES[0]["next"][0][0]


def test_numba_typing():
    """Constants are NumPy's, so that no uint64 meets an int64."""

    @cuda.jit(typing="numba")
    def kernel(states, out):
        out[0] = xoroshiro128p_next(states, 0)
        out[1] = xoroshiro128p_uniform_float64(states, 0) * 2.0**53

    out = np.zeros(2, np.uint64)
    kernel[1, 1](create_xoroshiro128p_states(1, CASES[0]["seed"]), out)
    cuda.synchronize()
    first, second = CASES[0]["next"][0][:2]
    assert out.tolist() == [first, second >> 11]


def test_the_module_needs_no_import_of_its_own():
    code = "from pyptx import cuda; print(cuda.random.create_xoroshiro128p_states.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "create_xoroshiro128p_states"
