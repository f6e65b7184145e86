"""Lanes of a vector that part, where some do what others must not see done twice, or know what does not hold in the others; and what does not fit
all lanes together. Each of these was wrong once on the host.
"""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, float64, int32, int64, uint32

host = pytest.mark.host_only("about code for the host")


def test_guards_behind_what_other_lanes_wrote():
    """Some lanes of a vector have stored when others come to a guard that is not the same for all: nothing may be done twice."""

    def kernel(a, b, n):
        i = cuda.grid(1)
        if i % 3 == 0:
            a[i] += 1
        elif i % 3 == 1:
            if i < n:
                b[i] += 10
        else:
            a[i] += 3

    run(kernel, (np.zeros(128, np.int32), np.zeros(128, np.int32), 23), 4, 32)


@host
def test_checks_behind_what_other_lanes_wrote():
    @cuda.jit
    def kernel(a, b):
        i = cuda.grid(1)
        if i % 3 == 0:
            a[i] += 1
        elif i % 3 == 1:
            b[i] += 10
        else:
            a[i] += 3

    a = np.zeros(64, np.int32)
    with pytest.raises(IndexError, match="index 7 "):
        kernel[1, 64](a, np.zeros(7, np.int32))
    assert set(a) <= {0, 1, 3}


@pytest.mark.parametrize("base", [5, 20, -7, 1023])
def test_numbers_that_fit_in_the_lanes_that_run_only(base):
    """What the compiler knows of a number behind a condition, that it is not negative or does not wrap, need not hold in lane 0."""

    def kernel(out, a, base):
        t = int32(cuda.threadIdx.x) & int32(31)
        x, y = t - (base & int32(1023)), (base & int32(1023)) - t
        if uint32(x) < uint32(16):
            out[0, cuda.threadIdx.x] = int64(x)
            out[1, x] += a[x] + 1
        if uint32(y) < uint32(16):
            out[2, cuda.threadIdx.x] = int64(y * int32(1 << 27))
            out[3, y] += a[y] + 1

    run(kernel, (np.zeros((4, 64), np.int64), np.arange(64) * 7 % 50, np.int32(base)), 1, 32)


def test_large_local_arrays():
    """As large as they may be, for all lanes together they do not fit a stack. A GPU would set aside half a megabyte for every thread that
    it can run, 138 GB on an H200: less there."""
    size = 65408 if cuda.get_current_device().is_host else 16384

    def kernel(x, out):
        i = cuda.grid(1)
        a = cuda.local.array(size, float64)
        for k in range(64):
            a[k * 250] = x[i] * k
        a[size - 1] = x[i]
        s = a[size - 1]
        for k in range(64):
            s += a[k * 250] * 2 + a[k * 250]
        out[i] = s

    run(kernel, [np.arange(64.0), np.zeros(64)], 2, 32)


@host
def test_turns_up_to_a_quotient_that_is_checked_first():
    @cuda.jit
    def kernel(x, y):
        assert y.size != 0, "empty"
        for i in range(cuda.grid(1), x.size // y.size, cuda.gridsize(1)):
            x[i] += 1

    x = np.zeros(1000)
    kernel[2, 32](x, np.zeros(3))
    assert x.sum() == 333 and x[332] == 1
    with pytest.raises(AssertionError, match="empty"):
        kernel[2, 32](x, np.zeros(0))
