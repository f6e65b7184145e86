"""Threads that walk along rows of their own: on the host device lanes take several elements of each row at once
(codegen/lanes/walks.c). Every number of iterations, beside plain Python.
"""

import numpy as np
import pytest
from harness import CHECKED, run
from pyptx import cuda

DTYPES = [np.float64, np.float32, np.int64, np.int32, np.int16, np.uint8]


def numbers(shape, dtype):
    return np.random.default_rng(7).integers(0, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_every_length(dtype):
    def kernel(a, x, y):
        i = cuda.grid(1)
        if i < y.size:
            s = 0.0
            for j in range(x.size):
                s = s * 0.5 + a[i, j] * x[j]
            y[i] = s

    for n in (0, 1, 2, 7, 8, 9, 10, 15, 16, 17, 18, 25, 33, 40):
        run(kernel, [numbers((40, n), dtype), numbers(n, dtype), np.zeros(40)], 2, 32)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_several_loops_and_starts(dtype):
    """A loop that is entered again has other rows; two arrays, one of them from another column on."""

    def kernel(a, b, first, out):
        i = cuda.grid(1)
        total = 0.0
        for turn in range(3):
            row = (i * 5 + turn) % a.shape[0]
            for j in range(first + turn, a.shape[1]):
                total = total * 0.25 + a[row, j] + 2 * b[i, j - first]
        out[i] = total

    for first in (0, 1, 5, 17):
        run(kernel, [numbers((64, 37), dtype), numbers((64, 40), dtype), first, np.zeros(64)], 2, 32)


def test_what_the_loop_writes_is_read():
    """Each thread reads what it wrote in the iteration before."""

    def kernel(a):
        i = cuda.grid(1)
        for j in range(a.shape[1] - 1):
            a[i, j + 1] += 2 * a[i, j]

    def through_another(a, b):
        i = cuda.grid(1)
        for j in range(a.shape[1] - 1):
            b[i, j + 1] = a[i, j] + 1

    run(kernel, [numbers((32, 40), np.float64)], 1, 32)
    a = np.zeros((32, 40))
    on_device = cuda.to_device(a)
    cuda.jit(through_another)[1, 32](on_device, on_device)
    assert (on_device.copy_to_host() == np.arange(40)).all()


def test_a_loop_that_is_left_early():
    def kernel(a, limit, out):
        i = cuda.grid(1)
        total = 0.0
        for j in range(a.shape[1]):
            if j == limit:
                break
            total = total * 0.5 + a[i, j]
        out[i] = total

    for limit in (0, 1, 8, 9, 16, 17, 30, 99):
        run(kernel, [numbers((32, 33), np.float64), limit, np.zeros(32)], 1, 32)


@pytest.mark.parametrize("columns", [0, 1, 7, 8, 9, 17, 31])
def test_the_first_index_beyond_the_end(columns):
    """The narrower matrix ends in front of the loop's bound: the error names that column and thread 0."""

    def kernel(a, b, out):
        i = cuda.grid(1)
        total = 0.0
        for j in range(32):
            total += a[i, j] * b[i, j]
        out[i] = total

    a, b = numbers((32, 32), np.float64), numbers((32, columns), np.float64)
    with pytest.raises(IndexError, match=rf"\b{columns}\b"):
        cuda.jit(kernel, **CHECKED)[1, 32](a, b, np.zeros(32))
    with pytest.raises(IndexError, match=rf"\b{columns}\b"):
        cuda.jit(kernel, **CHECKED)[1, 32](b, a, np.zeros(32))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slots_beside_each_other(dtype):
    """Down the rows of two matrices, beside a gather: what the next threads read is fetched, and beyond the end nothing
    is read."""

    def kernel(place, value, x, y):
        i = cuda.grid(1)
        if i < y.size:
            total = 0.0
            for k in range(place.shape[0]):
                at = place[k, i]
                if at >= 0:
                    total += value[k, i] * x[at]
            y[i] = total

    for n, slots in ((70, 5), (33, 0), (1, 3), (64, 40)):
        place = np.random.default_rng(2).integers(-3, n, (slots, n)).astype(np.int32)
        run(kernel, [place, numbers((slots, n), dtype), numbers(n, dtype), np.zeros(n)], -(-n // 32), 32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cols", [1, 9, 16, 17, 40, 100])
def test_rows_of_some_threads(dtype, cols):
    """Behind conditions, in loops that threads leave one by one, and beside a barrier: those that rest name rows that
    are not there."""

    def kernel(a, x, rows, y, z):
        i = cuda.grid(1)
        if i < y.size:
            at = rows[i]
            if 0 <= at < a.shape[0]:
                s = 0.0
                for j in range(x.size):
                    s = s * 0.5 + a[at, j] * x[j]
                y[i] = s
            total = 0.0
            while at < a.shape[0]:
                if at >= 0:
                    for j in range(x.size):
                        total += a[at, j]
                at += 7
            z[i] = total

    def block(a, x, rows, y):
        part = cuda.shared.array(64, np.float64)
        t = cuda.threadIdx.x
        best = 0.0
        for r in range(t, a.shape[0], cuda.blockDim.x):
            s = 0.0
            for j in range(x.size):
                s += a[r, j] * x[j]
            best = max(best, s)
        part[t] = best
        cuda.syncthreads()
        y[cuda.grid(1)] = part[63 - t] + part[t]

    a, x = numbers((23, cols), dtype), numbers(cols, dtype)
    rows = np.random.default_rng(cols).integers(-10, 30, 64)
    rows[::9] = 10**9
    rows[4::9] = 10**12
    run(kernel, [a, x, rows, np.zeros(60), np.zeros(60)], 2, 32)
    run(block, [a, x, rows, np.zeros(64)], 1, 64)
