"""Blocks whose number of barriers an input says: all threads read it, and the launch writes something else, or the
same memory."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, int32

WIDTHS = [64, 128, 50, (32, 3)]
SIZES = np.array([3, 0, 7, 1, 5], np.int32)


def ragged_sums(items, starts, out):
    tile = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    n = cuda.blockDim.x * cuda.blockDim.y
    b = cuda.blockIdx.x
    tile[t] = t
    for at in range(starts[b], starts[b + 1]):
        cuda.syncthreads()
        v = tile[n - 1 - t]
        cuda.syncthreads()
        tile[t] = v + items[at] * t
    cuda.syncthreads()
    out[b, t] = tile[n - 1 - t]


@pytest.mark.parametrize("block", WIDTHS, ids=str)
def test_starts(block):
    starts = np.concatenate([[0], np.cumsum(SIZES)]).astype(np.int32)
    items = np.arange(starts[-1], dtype=np.int32) - 5
    run(ragged_sums, [items, starts, np.zeros((5, 128), np.int32)], 5, block)


def test_warps():
    def kernel(sizes, out):
        t = cuda.threadIdx.x
        tops = cuda.shared.array(4, int32)
        b = cuda.blockIdx.x
        best = t * (b + 3) % 17
        for k in range(sizes[b]):
            for step in (16, 8, 4, 2, 1):
                best = max(best, cuda.shfl_xor_sync(0xFFFFFFFF, best, step))
            if t % 32 == 0:
                tops[t // 32] = best
            cuda.syncthreads()
            best = max(tops[0], tops[1]) + (t * k) % 5
            cuda.syncthreads()
        out[b, t] = best

    run(kernel, [SIZES, np.zeros((5, 64), np.int32)], 5, 64)


def shifted(sizes, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    b = cuda.blockIdx.x
    tile[t] = t * t
    for _ in range(sizes[b]):
        cuda.syncthreads()
        v = tile[(t + 1) % 64]
        cuda.syncthreads()
        tile[t] = v
    cuda.syncthreads()
    if t == 0:
        out[b] = tile[1] + 1000


def expected(sizes):
    return [((1 + int(n)) % 64) ** 2 + 1000 for n in sizes]


def test_written_memory_is_the_inputs():
    both = cuda.to_device(SIZES.copy())
    cuda.jit(shifted)[5, 64](both, both)
    assert both.copy_to_host().tolist() == expected(SIZES)


@pytest.mark.parametrize("at", [0, 1, 3, 5, 6])
def test_parts_of_one_array(at):
    """The results begin so many elements behind the sizes: they overlap, or follow at once."""
    memory = np.zeros(12, np.int32)
    memory[:5] = 4
    whole = cuda.to_device(memory)
    grid = 1 if at < 5 else 5  # a block reads what no other one writes
    cuda.jit(shifted)[grid, 64](whole[:5], whole[at : at + 5])
    got = whole.copy_to_host()
    assert got[at : at + grid].tolist() == expected([4] * grid)


def test_a_branch_around_barriers():
    def kernel(flags, x, y):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        b = cuda.blockIdx.x
        tile[t] = x[b, t]
        if flags[b] > 0:
            cuda.syncthreads()
            v = tile[63 - t]
            cuda.syncthreads()
            tile[t] = v * flags[b]
        cuda.syncthreads()
        y[b, t] = tile[t ^ 1]

    x = np.arange(256, dtype=np.int32).reshape(4, 64)
    run(kernel, [np.array([0, 1, -1, 2], np.int32), x, np.zeros_like(x)], 4, 64)


def test_sizes_that_the_kernel_counts():
    """What another block may write is no input."""

    def kernel(sizes, out):
        tile = cuda.shared.array(64, int32)
        t = cuda.threadIdx.x
        b = cuda.blockIdx.x
        tile[t] = t
        cuda.syncthreads()
        if t == 0:
            sizes[b] += 2
        cuda.syncthreads()
        for _ in range(sizes[b]):
            v = tile[63 - t]
            cuda.syncthreads()
            tile[t] = v + 1
            cuda.syncthreads()
        out[b, t] = tile[t]

    run(kernel, [SIZES, np.zeros((5, 64), np.int32)], 5, 64)
