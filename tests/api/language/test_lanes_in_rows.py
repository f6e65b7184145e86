"""What neighbouring threads find by `k // n` and `k % n`: the host divides once for all of them where they are in one
row or in two (codegen/lanes), and that must mean what it means one by one.
"""

import numpy as np
import pytest
from harness import CHECKED, jit, run, stopped
from pyptx import cuda, int32

# Rows shorter than a vector of threads, about as long, and longer; floor division by negative numbers.
WIDTHS = [1, 2, 15, 16, 17, 67, 255, 1000, 2**62, -1, -16, -67]
COUNT = 700
host = pytest.mark.host_only("about code for the host")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
@pytest.mark.parametrize("first", [33, -40])
def test_quotients_and_rests(dtype, first, width):
    """In straight code, in a loop with a fixed step and in one with the block's, behind a condition too."""

    def plain(first, width, count, out):
        i = cuda.grid(1)
        if i < count:
            out[i, 0] = (i + first) // width
            out[i, 1] = (i + first) % width

    def fixed(first, width, count, out):
        for i in range(cuda.threadIdx.x, count, 256):
            out[i, 0] = (i + first) // width
            rest = (i + first) % width
            if rest != 5:
                out[i, 1] = rest - (i + first) // width

    def strided(first, width, count, out):
        t = cuda.threadIdx.x
        for i in range(t, count, cuda.blockDim.x):
            out[i, 1] = (3 * i + first) % width
            cuda.syncwarp()
            out[i, 0] = (first - i) // width

    if dtype == np.int32 and width > 2**31:
        pytest.skip("the width has 64 bits")
    args = dtype(first), dtype(width), COUNT, np.full((COUNT, 2), -9)
    run(plain, args, 3, 256)
    run(fixed, args, 1, 256)
    run(strided, args, 1, 128)


@pytest.mark.parametrize("width, cols", [(1, 1), (7, 7), (16, 16), (67, 67), (67, 70), (300, 300)])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "int64"])
def test_tiles_of_rows(dtype, width, cols):
    """A tile is read and written row by row; sums of a block between its barriers."""

    def kernel(x, width, scale, y, sums):
        part = cuda.shared.array(256, int32)
        t = cuda.threadIdx.x
        part[t] = 0
        cuda.syncthreads()
        for k in range(t, 11 * width, 256):
            part[t] += int(x[k // width, k % width]) * int(scale[k // width])
        cuda.syncthreads()
        sums[t] = part[255 - t]
        cuda.syncthreads()
        for k in range(t, 11 * width, 256):
            y[k // width, k % width] = x[k // width, width - 1 - k % width]

    x = np.random.default_rng(width).integers(0, 100, (11, cols)).astype(dtype)
    args = x, width, np.arange(11), np.zeros_like(x), np.zeros(256, np.int32)
    run(kernel, args, 1, 256)
    run(kernel, args, 1, 256, opt="unchecked")


@host
@pytest.mark.parametrize("width", [67, 16, 5])
def test_the_first_thread_beyond_the_last_row(width):
    """Vectors whose last lanes are in a row that does not exist: the first of them is named."""

    @cuda.jit
    def kernel(x, width, count, y):
        for k in range(cuda.threadIdx.x, count, 1024):
            y[k] = x[k // width, k % width]

    x = np.zeros((10, width), np.float32)
    message = stopped(kernel, x, width, 11 * width, np.zeros(11 * width, np.float32), block=1024)
    assert "index 10 " in message and f"({10 * width}, 0, 0)" in message, message


@host
@pytest.mark.parametrize("shape", [(9, 61), (64, 1), (1, 300), (5, 0), (0, 5), (0, 0)], ids=str)
@pytest.mark.parametrize("extra", [0, 1, 70])
def test_all_elements_of_an_array(shape, extra):
    """`k // n, k % n` of an array with n columns, and what is outside of it."""

    def kernel(x, out, total):
        rows, cols = x.shape
        t = cuda.threadIdx.x
        for k in range(t, rows * cols, cuda.blockDim.x):
            out[k // cols, k % cols] = x[k // cols, k % cols] + k
        k = cuda.grid(1)
        if cols > 0 and k // cols < rows:
            row, col = k // cols, k % cols
            cuda.atomic.add(total, (row, col), x[row, col] - row)

    x = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape) ** 2
    run(kernel, [x, np.zeros_like(x), np.zeros_like(x)], 2, 64)

    def outside(out, n):
        rows, cols = out.shape
        for k in range(cuda.threadIdx.x, n, 64):
            out[k // cols, k % cols] = k

    def told():
        last = shape[0] * shape[1] + extra
        if shape[1] == 0:
            return ("axis 1", "size 0") if shape[0] else ("axis 0", "size 0")
        return ("axis 0", f"index {shape[0]} ", f"size {shape[0]}") if last > shape[0] * shape[1] else ()

    out, n = np.zeros(shape, np.int32), x.size + extra
    kernel = jit(outside, **CHECKED)
    if not extra:
        kernel[1, 64](out, n)
        cuda.synchronize()
        assert (out.ravel() == np.arange(n)).all()
    else:
        text = stopped(kernel, out, n)
        assert all(part in text for part in told()), text
