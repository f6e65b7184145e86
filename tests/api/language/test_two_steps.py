"""Loops with a barrier in which two buffers take turns, as two iterations one after the other
(codegen/ssa/two_steps.c)."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda
from test_ptx import ptx_of

SIGNATURE = "narrow (float32[::1], int64, float32[::1])"


def smooth(x, steps, out):
    v = cuda.shared.array((2, 64), np.float32)
    j = cuda.threadIdx.x
    v[0, j] = v[1, j] = x[cuda.grid(1)]
    cuda.syncthreads()
    for step in range(steps):
        now = step % 2
        if j == 0 or j == 63:
            v[1 - now, j] = v[now, j]
        else:
            v[1 - now, j] = (v[now, j - 1] + v[now, j + 1]) / 2 + step
        cuda.syncthreads()
    out[cuda.grid(1)] = v[steps % 2, j]


def values_behind(x, steps, out):
    """The counter and sums of both kinds of steps are read behind the loop, which is inside of another."""
    v = cuda.shared.array((2, 64), np.float32)
    j = cuda.threadIdx.x
    v[0, j] = x[cuda.grid(1)]
    v[1, j] = 0
    cuda.syncthreads()
    last, total = -7, 0
    for outer in range(3):
        for step in range(4, steps + outer):
            if step & 1:
                v[0, 63 - j] = v[1, j] + step
                total += step
            else:
                v[1, j] = v[0, j] * 2 - outer
                total -= 2 * step
            last = step
            cuda.syncthreads()
    out[cuda.grid(1)] = v[0, j] + v[1, j] + last * 3 + total


@pytest.mark.parametrize("steps", [-1, 0, 1, 2, 3, 4, 5, 6, 9])
def test_steps_that_take_turns(steps):
    for kernel in (smooth, values_behind):
        run(kernel, [np.arange(128, dtype=np.float32) % 7, steps, np.zeros(128, np.float32)], 2, 64)


def test_each_copy_has_a_barrier():
    """Loops whose counter begins anywhere, or that have a barrier in some iterations only, stay as they are."""

    def any_start(x, steps, out):
        v = cuda.shared.array((2, 64), np.float32)
        for step in range(out.size, steps):
            v[step % 2, cuda.threadIdx.x] = x[0]
            cuda.syncthreads()
        out[0] = v[0, 0]

    def without(x, steps, out):
        v = cuda.shared.array((2, 64), np.float32)
        for step in range(steps):
            v[step % 2, cuda.threadIdx.x] = x[step]
            if x[step] > 0:
                cuda.syncthreads()
        out[0] = v[0, 0]

    barriers = [ptx_of(k, SIGNATURE).count("bar.sync") + ptx_of(k, SIGNATURE).count("barrier.sync") for k in (smooth, any_start, without)]
    assert barriers == [3, 1, 1]
    assert ptx_of(smooth, SIGNATURE, debug=True).count("bar.sync") + ptx_of(smooth, SIGNATURE, debug=True).count("barrier.sync") == 2
