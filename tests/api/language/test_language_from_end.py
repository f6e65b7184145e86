"""Indices that may count from the end and rise or fall from thread to thread: on the host device one contiguous
access where no lane that runs counts from the end, else a gather (codegen/lanes/from_end.c). Beside plain Python.
"""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, int32

DTYPES = [np.float64, np.int32, np.int16, np.uint8]


def numbers(n, dtype):
    return np.random.default_rng(7).integers(0, 9, n).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("from_", [95, 79, 63, 40, 15, 3, 0, -1])
def test_falling_reads(dtype, from_):
    """From `from_` down: all in range, some beyond the beginning, all from the end."""

    def kernel(a, out, first):
        i = cuda.grid(1)
        out[i] = a[first - i]

    def some(a, x, out, first):
        i = cuda.grid(1)
        if x[i] > 3:
            out[i] = a[first - i] + a[first - 2 * (i // 2)]

    run(kernel, [numbers(96, dtype), numbers(64, dtype), from_], 2, 32)
    run(some, [numbers(96, dtype), numbers(64, np.int32), numbers(64, dtype), from_], 2, 32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("from_", [63, 40, 15, -1])
def test_falling_writes(dtype, from_):
    def kernel(a, x, out, first):
        i = cuda.grid(1)
        if x[i] > 3:
            out[first - i] = a[i]

    run(kernel, [numbers(64, dtype), numbers(64, np.int32), numbers(64, dtype), from_], 2, 32)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8])
def test_diagonals(dtype):
    """Of a table, in shared memory: what falls is in range in the lanes that run alone."""

    def kernel(a, b, out):
        last = cuda.shared.array((2, 65), int32)
        m, n = a.size, b.size
        t = cuda.threadIdx.x
        total = 0
        for d in range(m + n - 1):
            for i in range(max(0, d - n + 1) + t, min(d, m - 1) + 1, cuda.blockDim.x):
                same = a[i] == b[d - i]
                last[d % 2, i] = d + (last[(d + 1) % 2, i - 1] % 5 if same and i > 0 and d - i > 0 else 0)
                total += last[d % 2, i]
            cuda.syncthreads()
        out[t] = total

    for m, n in ((64, 64), (33, 50), (1, 40), (47, 3)):
        run(kernel, [numbers(m, dtype) % 4, numbers(n, dtype) % 4, np.zeros(32, np.int64)], 1, 32)


@pytest.mark.host_only
def test_out_of_range_at_a_falling_index():
    def kernel(a, x, out, first):
        i = cuda.grid(1)
        if x[i] > 3:
            out[i] = a[first - i]

    x = np.zeros(64, np.int32)
    x[40] = 5
    with pytest.raises(IndexError, match=r"index -9 is out of bounds for axis 0 of 'a' with size 8(.|\n)*thread \(8, 0, 0\) of block \(1, 0, 0\)"):
        cuda.jit(kernel)[2, 32](np.zeros(8, np.uint8), x, np.zeros(64, np.uint8), 31)
