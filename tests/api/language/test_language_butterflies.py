"""Blocks whose threads exchange elements at places that follow from the low bits of a mask: butterflies, sorting
networks, exchanges. The mask is 0 to 63, of the same kernel, and not always one less than a power of two."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, float64, int32, uint8

TYPES = {int32: np.int32, float64: np.float64, uint8: np.uint8}


def numbers(dtype, rows, n):
    return np.random.default_rng(n).integers(0, 100, (rows, n)).astype(dtype)


@pytest.mark.parametrize("element", TYPES, ids=str)
@pytest.mark.parametrize("block", [64, 40])
def test_a_butterfly(element, block):
    def kernel(x, y):
        row = cuda.blockIdx.x
        t = cuda.threadIdx.x
        n = x.shape[1]
        values = cuda.shared.array(128, element)
        for k in range(t, n, cuda.blockDim.x):
            values[k] = x[row, k]
        cuda.syncthreads()
        h = 1
        while h < n:
            for p in range(t, n // 2, cuda.blockDim.x):
                low = 2 * p - (p & (h - 1))
                a = values[low]
                b = values[low + h]
                values[low] = a + b
                values[low + h] = a - b
            cuda.syncthreads()
            h *= 2
        for k in range(t, n, cuda.blockDim.x):
            y[row, k] = values[k]

    x = numbers(TYPES[element], 2, 128)
    run(kernel, [x, np.zeros_like(x)], 2, block)


@pytest.mark.parametrize("block, known", [(64, 0), (32, 0), (16, 0), (64, 128)])
def test_a_merge_network(block, known):
    """Positions are kept over barriers in loops: they are made again of the shared size. Of a known size the stages are
    unrolled, and the lower place of each pair is not wrapped."""

    def kernel(keys, out):
        t = cuda.threadIdx.x
        row = cuda.blockIdx.x
        n = known if known else 2 * cuda.blockDim.x
        tile = cuda.shared.array(128, int32)
        for k in range(t, n, cuda.blockDim.x):
            tile[k] = keys[row, k]
        size = 2
        while size <= n:
            stride = size // 2
            offset = t & (stride - 1)
            cuda.syncthreads()
            at = 2 * t - (t & (stride - 1))
            a = tile[at]
            b = tile[at + stride]
            if a > b:
                tile[at] = b
                tile[at + stride] = a
            stride //= 2
            while stride > 0:
                cuda.syncthreads()
                at = 2 * t - (t & (stride - 1))
                if offset >= stride:
                    a = tile[at - stride]
                    b = tile[at]
                    if a > b:
                        tile[at - stride] = b
                        tile[at] = a
                stride //= 2
            size *= 2
        cuda.syncthreads()
        for k in range(t, n, cuda.blockDim.x):
            out[row, k] = tile[k]

    keys = numbers(np.int32, 3, 128)
    out = run(kernel, [keys, np.zeros_like(keys)], 3, block)[1]
    assert np.array_equal(out[:, : 2 * block], np.sort(keys[:, : 2 * block], axis=1))


def test_the_lower_place_of_a_pair_that_wraps():
    """Where the comparison is by less than the stride, the place may be negative, and is the array's end."""

    def kernel(x, y):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(32, int32)
        tile[t] = x[t]
        cuda.syncthreads()
        at = 2 * t - (t & 3)
        if (t & 7) >= 3 and at < 32:
            y[t] = tile[at - 6]

    x = numbers(np.int32, 1, 32)[0]
    run(kernel, [x, np.zeros_like(x)], 1, 32)


@pytest.mark.parametrize("element", TYPES, ids=str)
def test_exchanges(element):
    def kernel(x, distances, y):
        tile = cuda.shared.array(64, element)
        t = cuda.threadIdx.x
        tile[t] = x[cuda.blockIdx.x, t]
        last = t
        for k in range(distances.size):
            j = distances[k]
            cuda.syncthreads()
            other = tile[t ^ j]
            mine = tile[t & j]
            cuda.syncthreads()
            if t & 5 != 0:
                tile[t ^ j] = other + mine + last % 3
            last = t + k
        cuda.syncthreads()
        y[cuda.blockIdx.x, t] = tile[t]

    x = numbers(TYPES[element], 2, 64)
    distances = np.array([1, 2, 3, 4, 8, 5, 16, 0, 48, 63, 32, 17, 15], np.int64)
    run(kernel, [x, distances, np.zeros_like(x)], 2, 64)


@pytest.mark.parametrize("element", TYPES, ids=str)
def test_places_known_by_low_bits(element):
    """Loads and stores at constant places beside each other, in global memory, under masks and without."""

    def kernel(x, y, z):
        i = cuda.grid(1)
        y[2 * i - (i & 3)] = x[2 * i - (i & 3) + 4]
        y[2 * i - (i & 3) + 4] = x[(i ^ 5) + (i >> 2)]
        if x[i] > 40:
            z[2 * i - (i & 1)] = x[(i | 3) + 1] + x[i & 6]
            z[2 * i - (i & 1) + 2] = x[3 * i - (i & 7)]

    x = numbers(TYPES[element], 1, 300)[0]
    run(kernel, [x, np.zeros(200, x.dtype), np.zeros(200, x.dtype)], 3, 32)
