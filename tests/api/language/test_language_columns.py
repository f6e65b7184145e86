"""Short rows in shared memory (`now[t, 2]` of three columns), which neighbouring threads read and write under
conditions, and blocks whose rows are so many threads as only some vectors divide."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, float32, int64

TYPES = {float32: np.float32, int64: np.int64}


@pytest.mark.parametrize("element", TYPES, ids=str)
@pytest.mark.parametrize("columns", [2, 3, 4])
@pytest.mark.parametrize("block, rows", [(64, 64), (96, 70), (48, 96)])
def test_columns_of_short_rows(element, columns, block, rows):
    """The last rows end at the end of the array: not all of their vectors lie inside of it."""

    def kernel(x, out, steps):
        now = cuda.shared.array((rows, columns), element)
        beside = cuda.shared.array(16, element)
        t = cuda.threadIdx.x
        for k in range(t, rows, cuda.blockDim.x):
            for c in range(columns):
                now[k, c] = x[k, c]
        if t < 16:
            beside[t] = x[t, 0]
        cuda.syncthreads()
        for turn in range(steps):
            if t % 2 == turn % 2 and t + 1 < rows:
                d = now[t + 1, 0] - now[t, columns - 1]
                now[t, columns - 1] += d
                now[t + 1, 1] -= 2 * d
            cuda.syncthreads()
        for k in range(t, rows, cuda.blockDim.x):
            for c in range(columns):
                out[k, c] = now[k, c]
        if t < 16:
            out[t, columns] = beside[t]

    x = np.random.default_rng(columns).integers(-100, 100, (rows, columns)).astype(TYPES[element])
    run(kernel, [x, np.zeros((rows, columns + 1), TYPES[element]), 5], 1, block)


@pytest.mark.parametrize("block", [16, 32, 48, 80, 128, 40])
def test_rows_that_wide_vectors_do_not_divide(block):
    def kernel(x, out):
        row = cuda.blockIdx.x
        t = cuda.threadIdx.x
        n = x.shape[1]
        line = cuda.shared.array((2, 256), float32)
        for k in range(t, n, cuda.blockDim.x):
            line[0, k] = x[row, k]
        cuda.syncthreads()
        for turn in range(1, 4):
            for k in range(t, n, cuda.blockDim.x):
                least = line[1 - turn % 2, k]
                if k > 0 and line[1 - turn % 2, k - 1] < least:
                    least = line[1 - turn % 2, k - 1]
                line[turn % 2, k] = least + 1
            cuda.syncthreads()
        for k in range(t, n, cuda.blockDim.x):
            out[row, k] = line[1, k]

    x = np.random.default_rng(block).integers(0, 100, (3, 201)).astype(np.float32)
    run(kernel, [x, np.zeros_like(x)], 3, block)


def test_a_merge_that_fills_an_array():
    """Whether it moves on depends on what it reads, which another argument might be; but each iteration fills a place."""

    def kernel(x, y, out, counts):
        i = cuda.grid(1)
        a = b = count = 0
        while a < x.shape[1] or b < y.shape[1]:
            one, other = x[i, a % x.shape[1]], y[i, b % y.shape[1]]
            out[i, count] = one + other
            count += 1
            first = a < x.shape[1] and (one <= other or b == y.shape[1])
            second = b < y.shape[1] and (one >= other or a == x.shape[1])
            if first:
                a += 1
            if second:
                b += 1
        counts[i] = count

    rng = np.random.default_rng(1)
    x, y = (np.sort(rng.integers(0, 50, (64, n)), axis=1).astype(np.int32) for n in (7, 9))
    run(kernel, [x, y, np.zeros((64, 16), np.int32), np.zeros(64, np.int32)], 2, 32)
