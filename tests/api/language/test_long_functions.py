"""Kernels that are so long that parts of the optimiser are left out compute what CPython computes: each shape beyond a limit of codegen/llvm/optimize.c,
inlining.c, lower/memory.c, host/long_blocks.c or host/target.c."""

import sys
from pathlib import Path

import harness
import numpy as np
import pytest
from pyptx import cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))
shapes = pytest.importorskip("scaling_shapes")


@pytest.mark.parametrize(
    "shape, n",
    [
        (shapes.straight_lines, 900),  # blocks
        (shapes.one_block, 3000),  # instructions, and the code generator's optimisations
        (shapes.far_places, 1500),  # sums of 32 bits
        (shapes.integers, 400),  # one block of vectors
        (shapes.integers, 1500),  # one block of one thread
        (shapes.choices, 900),  # blocks, and the code generator's optimisations
        (shapes.cases, 300),
        (shapes.loops, 200),  # loads in loops
        (shapes.loops, 420),  # loops
        (shapes.whiles, 130),
        (shapes.loop_of_lines, 100),  # exits of a loop
        (shapes.loop_of_lines, 400),
        (shapes.conjunction, 300),
        (shapes.ifs, 400),
        (shapes.calls, 150),
        (shapes.calls_twice, 200),  # functions that are not inlined
        (shapes.mutual_calls, 100),
        (shapes.closures_twice, 30),
        (shapes.constant_tuple, 1000),
        (shapes.barriers, 40),
    ],
    ids=lambda v: getattr(v, "__name__", v),
)
def test_long_kernels(shape, n):
    random = np.random.default_rng(3)
    a, b = ((random.random(40000) - 0.5).astype(np.float32) for _ in "ab")
    if shape is shapes.loops:  # rounds of each
        a = a[:40]
    harness.run(harness.define(shape(n)), [a, b], 2, 16)


def test_a_long_kernel_stops_at_a_bad_index():
    """At the first of two behind 700 good ones, and what came before it has been written."""
    bad = "    b[i] = a[i + 5000]\n    b[i] = a[i + 6000]\n"
    kernel = harness.jit(harness.define(shapes.one_block(1000) + bad), boundscheck=True)
    a, b = np.ones(1100, np.float32), np.zeros(1100, np.float32)
    with pytest.raises(IndexError, match="index 5000 is out of bounds"):
        kernel[1, 1](a, b)
        cuda.synchronize()
    if cuda.get_current_device().is_host:
        assert b[0] != 0 and not b[1:].any()


@pytest.mark.parametrize("calls, inlined", [(90, True), (500, False)])
def test_calls_stay_only_in_programs_that_would_be_too_long(calls, inlined):
    """A call takes all its arguments through memory. 90 make a program of more than 2**14 operations, of which few
    are left in the end."""
    helper = "def helper(v, k):\n" + "".join(f"    k = k * {j + 3} + {j}\n" for j in range(100)) + "    return v + k\n"
    kernel = harness.define(helper + "def kernel(a):\n    v = a[0]\n" + "    v = helper(v, 7)\n" * calls + "    a[0] = v\n")
    ptx, _ = cuda.compile_ptx(kernel, "void(int32[:])", cc=(9, 0))
    assert (".func" not in ptx) == inlined
