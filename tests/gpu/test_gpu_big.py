"""Arrays beyond 2 GiB and extents beyond 31 bits, where there is memory for them."""

import numpy as np
import pytest
from pyptx import cuda


pytestmark = pytest.mark.alone


def room(needed):
    free, _ = cuda.get_current_device().memory_info()
    if free < needed:
        pytest.skip(f"needs {needed >> 30} GiB of GPU memory, {free >> 30} are free")


@cuda.jit
def fill(x):
    start = cuda.grid(1)
    step = cuda.gridsize(1)
    for i in range(start, x.size, step):
        x[i] = i % 251


@cuda.jit
def count_wrong(x, wrong):
    bad = 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] != i % 251:
            bad += 1
    cuda.atomic.add(wrong, 0, bad)


@pytest.mark.parametrize(
    "n, dtype",
    [
        ((1 << 31) + 12345, "uint8"),
        ((1 << 31) - 1, "uint8"),
        ((1 << 30) + 5, "float32"),
        ((1 << 32) + 7, "uint8"),
    ],
)
def test_more_than_two_gib(n, dtype):
    room(n * np.dtype(dtype).itemsize + (1 << 30))
    x = cuda.device_array(n, dtype)
    fill[2048, 256](x)
    wrong = np.zeros(1, np.int64)
    count_wrong[2048, 256](x, wrong)
    assert wrong[0] == 0
    tail = x[n - 10 :].copy_to_host()
    assert np.array_equal(tail, (np.arange(n - 10, n) % 251).astype(dtype))


def test_two_axes_with_more_than_two_gib():
    """Each extent fits 31 bits, the byte offset does not fit 32."""

    @cuda.jit
    def corner(x, out):
        i, j = x.shape[0] - 1, x.shape[1] - 1
        x[i, j] = 7
        out[0] = x[i, j]
        out[1] = x[-1, -1]

    room(6 << 30)
    x = cuda.device_array((70000, 20000), np.float32)
    out = np.zeros(2)
    corner[1, 1](x, out)
    assert out.tolist() == [7, 7]


def test_large_grid():
    @cuda.jit
    def count(out):
        if cuda.threadIdx.x == 0 and cuda.blockIdx.x == cuda.gridDim.x - 1:
            out[0] = cuda.grid(1)

    out = np.zeros(1, np.int64)
    blocks = (1 << 31) - 1
    count[blocks, 32](out)
    cuda.synchronize()
    assert out[0] == (blocks - 1) * 32
