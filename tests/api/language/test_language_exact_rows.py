"""Arrays that kernels index by constants along their last axes: points[i, 0], matrices[i, 1, 2]. The compiler guesses
that such an axis is as long as the constants say. Results and errors are the same where it is longer, or shorter."""

import numpy as np
import pytest
from harness import CHECKED, run, stopped
from pyptx import cuda, float32

N = 77  # of no whole number of vectors


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).integers(-50, 50, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8], ids=lambda t: t.__name__)
@pytest.mark.parametrize("columns", [3, 4, 5, 17])
@pytest.mark.parametrize("grid, block", [(2, 64), (8, 10), (1, 1)])
def test_columns_that_are_read_and_written(dtype, columns, grid, block):
    def kernel(points, out):
        i = cuda.grid(1)
        if i < points.shape[0]:
            out[i, 2] = points[i, 0]
            out[i, 0] = points[i, 1] + points[i, 2]
            out[i, 1] = points[i, 2]

    points = numbers(N, columns, dtype=dtype) % 100
    run(kernel, [points.astype(dtype), np.zeros((N, 3), dtype)], grid, block)
    run(kernel, [points.astype(dtype), np.zeros((N, columns), dtype)], grid, block)


@pytest.mark.parametrize("shape", [(3, 3), (3, 4), (4, 3)])
def test_matrices(shape):
    """Single threads: no vector has elements nine apart."""

    def kernel(m, out):
        i = cuda.grid(1)
        if i < m.shape[0]:
            for j in range(3):
                out[i, j, 0] = m[i, j, 1]
            out[i, 0, 1], out[i, 0, 2] = m[i, 1, 0] - m[i, 0, 0], m[i, 2, 0]
            out[i, 1, 1], out[i, 1, 2] = m[i, 0, 2], m[i, 2, 2]
            out[i, 2, 1], out[i, 2, 2] = m[i, 2, 1], m[i, 1, 2]

    run(kernel, [numbers(N, *shape), np.zeros((N, 3, 3), np.float32)], 2, 64)
    run(kernel, [numbers(N, *shape), np.zeros((N, *shape), np.float32)], 2, 64)


def test_rows_in_a_loop():
    """The columns of every other row for each row, and of a row that was read."""

    def kernel(points, order, out):
        i = cuda.grid(1)
        if i < points.shape[0]:
            total = float32(0)
            for j in range(points.shape[0]):
                dx = points[j, 0] - points[i, 0]
                if dx > 0:
                    total += dx * points[j, 1]
            k = order[i]
            out[i] = total + points[k, 1] - points[k, 0]

    order = np.random.default_rng(3).permutation(N).astype(np.int32)
    for columns in 2, 3:
        run(kernel, [numbers(N, columns), order, np.zeros(N, np.float32)], 2, 64)


def test_other_layouts():
    def kernel(points, out):
        i = cuda.grid(1)
        if i < points.shape[0]:
            out[i] = points[i, 0] * 3 + points[i, 1]

    for points in np.asfortranarray(numbers(N, 2)), numbers(N, 4)[:, ::2], numbers(N, 2)[::-1]:
        run(kernel, [points, np.zeros(N, np.float32)], 2, 64)


@pytest.mark.host_only
@pytest.mark.parametrize("columns, reads", [(1, "points[i, 1]"), (2, "points[i, 2]")])
def test_rows_that_are_shorter(columns, reads):
    """The first thread is named that fails, and the first of its accesses."""

    @cuda.jit(**CHECKED)
    def kernel(points, out):
        i = cuda.grid(1)
        if 5 <= i < points.shape[0]:
            out[i] = points[i, 0] + points[i, 1]
            out[i] += points[i, 2]

    text = stopped(kernel, numbers(N, columns), np.zeros(N, np.float32), grid=2)
    assert reads in text and "thread (5, 0, 0)" in text and "block (0, 0, 0)" in text


def test_rows_that_are_missing():
    """A launch that passes the test of columns still checks rows."""

    @cuda.jit(**CHECKED)
    def kernel(points, out):
        i = cuda.grid(1)
        out[i, 0] = points[i, 1]
        out[i, 1] = points[i, 0]

    text = stopped(kernel, numbers(40, 2), numbers(N, 2), grid=1)
    assert "points[i, 1]" in text and "thread (40, 0, 0)" in text
