"""Slow operations behind a guard stay there in the GPU's code, in the coarsened entry too (codegen/llvm/keep_guards.c); results are CPython's."""

import math
import re

import numpy as np
import pytest
from pyptx import cuda, float32


def statement(x, y):
    t = 1.0
    if x > 0:
        t = 2.0 - math.sqrt(x)
    return t


def expression(x, y):
    return 1.0 / x if x != 0 else 0.0


def conjunction(x, y):
    if x > 0 and math.sqrt(x) < 2.5:
        return 2.0
    return 1.0


def chain(x, y):
    if x <= 0 or y <= 0 or x / y > 2.0 or y / x > 3.0:
        return 0.5
    return 3.0


def early(x, y):
    if x < 0:
        return -1.0
    return math.sqrt(x)


def inner(x):
    return 1.0 / x


def of_a_call(x, y):
    t = 0.0
    if x > 0:
        t = inner(x)
    return t


def in_a_loop(x, y):
    t = 0.0
    for k in range(5):
        d = x - k * y
        if d > 0:
            t += math.sqrt(d)
    return t


FUNCTIONS = [statement, expression, conjunction, chain, early, of_a_call, in_a_loop]
SLOW = re.compile(r"\b(sqrt|div|rcp)\.rn")


def kernel_of(function):
    device = cuda.jit(device=True)(function)

    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = device(x[i], y[i])

    return kernel


def entries(ptx):
    return re.split(r"\.entry ", ptx)[1:]


def unguarded(entry):
    """Slow operations of a PTX entry before which nothing has been asked but whether the thread has an element: in the block of a load."""
    found = []
    for block in re.split(r"\n\$L\w+:|\n\s*(?:@!?%p\d+ )?bra[^\n]*;", entry):
        loads = [m.start() for m in re.finditer(r"ld\.global", block)]
        found += [m.group() for m in SLOW.finditer(block) if loads and m.start() > loads[0]]
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_stays_behind_its_guard(function, dtype, one_entry):
    ptx = cuda.compile_ptx(kernel_of(function), f"{dtype}[::1], {dtype}[::1], {dtype}[::1]", cc="sm_90", coarsen=4)[0]
    for entry in entries(ptx):
        assert SLOW.search(entry)
        assert unguarded(entry) == []


def test_an_invariant_leaves_its_loop(one_entry):
    def kernel(x, h, out):
        i = cuda.grid(1)
        if i < out.size:
            t = float32(0)
            for k in range(x.size):
                if x[k] > 0:
                    t += x[k] * (float32(1) / h)
            out[i] = t

    ptx = cuda.compile_ptx(kernel, "float32[::1], float32, float32[::1]", cc="sm_90", coarsen=1)[0]
    assert len(SLOW.findall(ptx)) == 1


def test_fast_math_is_not_slow(one_entry):
    """An approximate root has no slow path: it may be selected."""
    ptx = cuda.compile_ptx(kernel_of(statement), "float32[::1], float32[::1], float32[::1]", cc="sm_90", coarsen=1, fastmath=True)[0]
    assert "sqrt.approx" in ptx and len(re.findall(r"\bbra\b", ptx)) == 1


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_python(function):
    numbers = [-3.0, -0.5, 0.0, 0.25, 1.0, 2.0, 7.5, 1e300]
    x, y = (np.array(v) for v in zip(*[(a, b) for a in numbers for b in numbers]))
    out = np.zeros(len(x))
    cuda.jit(kernel_of(function))[1, 128](x, y, out)
    # each result is rounded once: but for a sum of five roots
    np.testing.assert_allclose(out, [function(a, b) for a, b in zip(x.tolist(), y.tolist())], rtol=5 * 2.0**-53)


def slanted(a, out):
    j, i = cuda.grid(2)
    if i <= j < out.shape[1]:
        total = a[0, 0] - a[0, 0]
        for k in range(a.shape[0]):
            total += a[k, i] * a[k, j]
        out[i, j] = total


def test_a_slanted_guard(one_entry):
    """Threads of two indices of which one bounds the other: copies agree less often, so there are fewer, and larger launches."""
    assert "$coarse" in cuda.compile_ptx(slanted, "float32[:,::1], float32[:,::1]", cc="sm_90", coarsen=True)[0]
    a = np.random.default_rng(5).integers(-4, 5, (7, 45)).astype(np.float32)
    out, kept = np.zeros((45, 45), np.float32), np.zeros((45, 45), np.float32)
    cuda.jit(slanted)[(2, 6), (32, 8)](a, out)
    cuda.jit(coarsen=4)(slanted)[(2, 6), (32, 8)](a, kept)
    np.testing.assert_array_equal(out, np.triu(a.T @ a))
    np.testing.assert_array_equal(kept, out)


def test_a_guard_on_data_is_none(one_entry):
    """Copies are masked one by one where data decide; a loop behind such a condition is not coarsened."""

    def copies(x, out):
        i = cuda.grid(1)
        if i < x.size and x[i] > 0:
            out[i] = x[i]

    def loops(x, w, out):
        i = cuda.grid(1)
        if i < x.size and x[i] > 0:
            t = float32(0)
            for k in range(w.size):
                t += w[k] * x[i]
            out[i] = t

    ptx = cuda.compile_ptx(copies, "float32[::1], float32[::1]", cc="sm_90", coarsen=True)[0]
    assert entries(ptx)[1].count("st.global") == 5  # four copies, and the loop's
    assert "$coarse" not in cuda.compile_ptx(loops, "float32[::1], float32[::1], float32[::1]", cc="sm_90", coarsen=True)[0]
