"""Lanes whose places in shared memory are near each other, at constants from lane 0's: whole vectors are read and
written back, with what lies between them. Some lanes rest, some indices count from the end, some vectors end at the
end of the memory. And loops under masks that do not change in them."""

import numpy as np
import pytest
from harness import CHECKED, run
from pyptx import cuda, float32, float64, int32

TYPES = {int32: np.int32, float32: np.float32, float64: np.float64}


def numbers(dtype, *shape):
    return np.random.default_rng(sum(shape)).integers(-50, 50, shape).astype(dtype)


@pytest.mark.parametrize("element", TYPES, ids=str)
@pytest.mark.parametrize("step", [2, 3, 4])
def test_steps(element, step):
    def kernel(x, y):
        t = cuda.threadIdx.x
        row = cuda.blockIdx.x
        tile = cuda.shared.array(256, element)
        beside = cuda.shared.array(64, element)
        for k in range(t, 256, 64):
            tile[k] = k
        beside[t] = x[row, t]
        cuda.syncthreads()
        if x[row, t] > 0:
            tile[step * t] = x[row, t]
        cuda.syncthreads()
        if x[row, t] < 20:
            tile[step * t - 5] += beside[t]
        cuda.syncthreads()
        for k in range(t, 256, 64):
            y[row, k] = tile[k] + beside[k % 64]

    run(kernel, [numbers(TYPES[element], 3, 64), np.zeros((3, 256), TYPES[element])], 3, 64)


@pytest.mark.parametrize("element", TYPES, ids=str)
def test_pairs_that_change_places(element):
    def kernel(x, y):
        t = cuda.threadIdx.x
        row = cuda.blockIdx.x
        tile = cuda.shared.array(128, element)
        tile[t] = x[row, t]
        tile[t + 64] = x[row, t + 64]
        cuda.syncthreads()
        for h in range(1, 5):
            stride = 1 << h
            low = 2 * t - (t & (stride - 1))
            if tile[low - stride] > tile[low]:
                tile[low - stride] = tile[low]
            cuda.syncthreads()
        y[row, t] = tile[t]
        y[row, t + 64] = tile[t + 64]

    x = numbers(TYPES[element], 2, 128)
    run(kernel, [x, np.zeros_like(x)], 2, 64)


def test_an_index_beyond_the_end_is_an_error():
    def kernel(x, y):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(128, int32)
        tile[2 * t + x[0]] = t
        cuda.syncthreads()
        y[t] = tile[t]

    with pytest.raises(IndexError, match="index 128 is out of bounds"):
        cuda.jit(**CHECKED)(kernel)[1, 64](np.full(1, 2, np.int32), np.zeros(64, np.int32))


@pytest.mark.parametrize("element", [float32, float64], ids=str)
def test_a_loop_of_some_lanes(element):
    def kernel(x, limits, y):
        i = cuda.grid(1)
        total = element(0)
        if limits[i] > 0:
            for k in range(x.shape[0]):
                v = x[k, i]
                total += v if limits[i] > 3 else -v
                y[k, i] = total
        y[x.shape[0], i] = total

    x = numbers(TYPES[element], 9, 160)
    limits = np.arange(160, dtype=np.int32) % 7
    run(kernel, [x, limits, np.zeros((10, 160), TYPES[element])], 5, 32)


@pytest.mark.parametrize("cols", [64, 61])
@pytest.mark.parametrize("first", [0, 16, 37])
def test_one_thread_that_does_nothing(first, cols):
    def kernel(x, y):
        t = cuda.threadIdx.x
        row = cuda.blockIdx.x
        tile = cuda.shared.array(64, float32)
        tile[t] = x[row, t]
        cuda.syncthreads()
        value = tile[t]
        if t >= 1:
            value += tile[t - 1]
        if t != first:
            value *= 2
        if t == 9:
            value += 100
        cuda.syncthreads()
        if cols - t != 1:
            tile[t] = value
        cuda.syncthreads()
        if t < cols:
            y[row, t] = tile[t]

    run(kernel, [numbers(np.float32, 5, 64), np.zeros((5, cols), np.float32)], 5, 64)


@pytest.mark.parametrize("block", [(32, 4), (16, 8)])
def test_tiles_that_the_next_block_reads(block):
    def kernel(x, y):
        tile = cuda.shared.array((8, 33), float32)
        i, j = cuda.threadIdx.y, cuda.threadIdx.x
        tile[i, j] = x[cuda.blockIdx.y * cuda.blockDim.y + i, (cuda.blockIdx.x << 5) + j]
        cuda.syncthreads()
        y[cuda.blockIdx.x * cuda.blockDim.x + j, cuda.blockIdx.y, i] = tile[i, j]

    x = numbers(np.float32, 3 * block[1], 7 * 32)
    run(kernel, [x, np.zeros((7 * block[0], 3, block[1]), np.float32)], (7, 3), block)
