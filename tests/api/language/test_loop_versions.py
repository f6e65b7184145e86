"""Loops that are written twice, so that no index is wrapped: such as call functions (codegen/ssa/small_loop.c)."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda
from test_ptx import ptx_of


def turned(x, by):
    return (x << by) | (x >> (32 - by))


def mixed(h, v):
    return turned(h ^ turned(v, 15), 13)


def hashed(words, starts, out):
    i = cuda.grid(1)
    if i < out.size:
        h = np.uint32(7)
        for k in range(starts[i], starts[i + 1]):
            h = mixed(h, words[k])
        out[i] = h


def after_all(v):
    cuda.syncthreads()
    return v


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_range_from_any_start_in_a_loop_that_calls(dtype):
    """Starts below 0 count from the end; a range may begin below and end above."""
    words = np.random.default_rng(3).integers(0, 2**32, 40, dtype=np.uint32)
    for starts in ([0, 3, 3, 17, 40], [-40, -39, -20, -1, 0], [-5, 9, 8, 40, 1], [-1, 1, -3, 2, 40]):
        run(hashed, [words, np.array(starts, dtype), np.zeros(4, np.uint32)], 1, 8)


def test_a_loop_that_calls_wraps_no_index():
    """Its loads are constants apart. A loop whose function waits for others has one version."""

    def waiting(words, starts, out):
        h = np.uint32(7)
        for k in range(starts[0], starts[1]):
            h ^= after_all(words[k])
        out[0] = h

    first = ptx_of(hashed, "narrow (uint32[::1], int32[::1], uint32[::1])")
    second = ptx_of(waiting, "narrow (uint32[::1], int32[::1], uint32[::1])")
    assert all(f"+{4 * k}];" in first for k in (1, 2, 3)) and first.count("min.u32") == 1
    assert second.count("bar.sync") == second.count("min.u32") == 1
