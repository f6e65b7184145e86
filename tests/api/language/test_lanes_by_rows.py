"""Threads that walk down the rows of an array, or compute with bytes and words alone, which the host runs several
vectors at a time (codegen/lanes/row_runs.c), and along rows of their own, whose tiles it transposes in squares
(codegen/lanes/walks.c).
"""

import numpy as np
import pytest
from harness import run, stopped
from pyptx import cuda

host = pytest.mark.host_only("about code for the host")


def numbers(dtype, *shape):
    return np.random.default_rng(shape[0]).integers(-9, 10, shape).astype(dtype)


@pytest.mark.parametrize("cols", [1, 15, 64, 65, 250])
@pytest.mark.parametrize("block", [16, 64, 96])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_sums_down_rows(cols, block, dtype):
    def kernel(a, x, y):
        col = cuda.grid(1)
        if col < a.shape[1]:
            s = y[col]
            for k in range(a.shape[0]):
                s += a[k, col] * x[k]
            y[col] = s

    a, x, y = numbers(dtype, 37, cols), numbers(dtype, 37), numbers(dtype, cols)
    run(kernel, [a, x, y], -(-cols // block), block)


@pytest.mark.parametrize("block", [(64, 2), (24, 4)])
def test_products_down_rows(block):
    def kernel(a, b, c):
        j, i = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            total = np.float32(0)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total

    a, b, c = numbers("float32", 9, 21), numbers("float32", 21, 150), np.zeros((9, 150), np.float32)
    run(kernel, [a, b, c], (-(-150 // block[0]), -(-9 // block[1])), block)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 333])
@pytest.mark.parametrize("block", [16, 96, 256])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32"])
def test_elements_side_by_side(n, block, dtype):
    def kernel(a, b, least, kept):
        i = cuda.grid(1)
        if i < a.size:
            c = a[i]
            if 3 <= c <= 90:
                c ^= 32
            least[i] = min(c, b[i])
            kept[i + 1] = c > b[i]

    a, b = numbers(dtype, n), numbers(dtype, n + 1)[1:].copy()
    run(kernel, [a, b, np.zeros_like(a), np.zeros(n + 2, np.uint8)], -(-n // block), block)


@host
def test_a_byte_that_is_missing():
    def kernel(a, out):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = a[i] & 7

    args = [numbers("uint8", 200), np.zeros(177, np.uint8)]
    assert "index 177 is out of bounds for axis 0 of 'out' with size 177" in stopped(cuda.jit(kernel), *args, block=256)


@host
def test_a_row_that_is_missing():
    def kernel(a, x, y):
        col = cuda.grid(1)
        if col < a.shape[1]:
            s = np.float32(0)
            for k in range(x.size):
                s += a[k, col] * x[k]
            y[col] = s

    a, x = numbers("float32", 5, 130), numbers("float32", 6)
    args = [a, x, np.zeros(130, np.float32)]
    assert "index 5 is out of bounds for axis 0 of 'a' with size 5" in stopped(cuda.jit(kernel), *args, grid=3)


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64"])
@pytest.mark.parametrize("rows, cols", [(64, 8), (70, 33), (33, 120)])
def test_walks_along_rows(rows, cols, dtype):
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            total = np.float64(0)
            for k in range(a.shape[1]):
                total += a[i, k] * 2.0 + b[i, k] * k
            out[i] = total

    a, b, out = numbers(dtype, rows, cols), numbers(dtype, rows, cols), np.zeros(rows)
    run(kernel, [a, b, out], -(-rows // 32), 32)
