"""Indices a few steps around a period: comparisons where they begin at one of its places, divisions elsewhere
(codegen/lower/divide.c, codegen/nvptx/integers/periodic.c).
"""

import numpy as np
import pytest
from pyptx import cuda


def ring(out):
    """All steps, from places that a guard says."""
    i = cuda.grid(1)
    n = out.shape[1]
    if i < n:
        out[0, i] = (i - 4) % n
        out[1, i] = (i - 1) % n
        out[2, i] = (i + n - 1) % n
        out[3, i] = (i - 2 + n) % n
        out[4, i] = (i + 1) % n
        out[5, i] = (3 + i) % n
        out[6, i] = (i + n) % n
        out[7, i] = (i + 5) % n


def around(i, n):
    """Steps from steps, from an index of which the function knows nothing."""
    right = (i + 1) % n
    return right + 1000 * ((right + 1) % n) + 1000000 * ((right - 2) % n)


def steps_from_steps(out):
    j, i = cuda.grid(2)
    rows, cols = out.shape
    if i >= rows or j >= cols:
        return
    out[i, j] = around((i - 1) % rows, rows) + 7 * around((j + 1) % cols, cols)


def by_argument(starts, n, out):
    """Places that no guard says, and periods below 0; by 0 is 0."""
    i = cuda.grid(1)
    if i < starts.size:
        k = int(starts[i])
        out[0, i] = (k + 1) % n
        out[1, i] = (k - 1) % n
        out[2, i] = (k + n - 2) % n
        out[3, i] = (abs(k) - 3) % n
        r = k % n
        out[4, i] = (r + 1) % n
        out[5, i] = (r - 1) % n


def rest(x, n):
    return x % n if n else 0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 33, 300])
def test_a_ring(n):
    out = cuda.to_device(np.full((8, n), -1))
    cuda.jit(ring)[2 + n // 64, 64](out)
    steps = [-4, -1, -1, -2, 1, 3, 0, 5]
    np.testing.assert_array_equal(out.copy_to_host(), [[(i + k) % n for i in range(n)] for k in steps])


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (2, 3), (5, 40)])
def test_steps_from_steps(shape):
    out = cuda.to_device(np.zeros(shape, np.int64))
    cuda.jit(steps_from_steps)[(3, 2), (16, 16)](out)
    rows, cols = shape
    expected = [[around((i - 1) % rows, rows) + 7 * around((j + 1) % cols, cols) for j in range(cols)] for i in range(rows)]
    np.testing.assert_array_equal(out.copy_to_host(), expected)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("n", [1, 2, 5, 100, -1, -7, 2**31 - 1, -(2**31), 2**40, 0])
def test_periods_that_are_arguments(n, dtype):
    starts = np.array([0, 1, 2, 3, 4, 5, 6, 98, 99, 100, 101, -1, -2, -100, 2**31 - 2, -(2**31) + 3], dtype)
    out = cuda.to_device(np.full((6, starts.size), -1))
    cuda.jit(by_argument)[1, 32](cuda.to_device(starts), n, out)
    ks = [int(k) for k in starts]
    expected = [
        [rest(k + 1, n) for k in ks], [rest(k - 1, n) for k in ks], [rest(k + n - 2, n) for k in ks], [rest(abs(k) - 3, n) for k in ks],
        [rest(rest(k, n) + 1, n) for k in ks], [rest(rest(k, n) - 1, n) for k in ks],
    ]  # fmt: skip
    np.testing.assert_array_equal(out.copy_to_host(), expected)


def behind_a_bound(starts, n, out):
    """Of a number that does not fit 32 bits, one less that does: the step is divided, not made in 32 bits."""
    i = cuda.grid(1)
    if i < starts.size:
        x = max(starts[i], 0)
        y = x - 1
        if y <= 2147483647:
            out[i] = y % n[0]


def test_a_step_into_32_bits():
    starts = np.array([0, 1, 7, 2**31 - 1, 2**31, 2**31 + 1, 2**40], np.int64)
    for n in (7, 2**31 - 1, -5):
        out = cuda.to_device(np.full(starts.size, 99))
        cuda.jit(behind_a_bound)[1, 32](starts, np.array([n], np.int32), out)
        expected = [(max(int(k), 0) - 1) % n if k <= 2**31 else 99 for k in starts]
        np.testing.assert_array_equal(out.copy_to_host(), expected)
