"""Loops that go on while an index is below a bound: on the host device a second version of them has no checks of what
goes up with that index, where none can fail (codegen/host/sure_ranges.c). Beside plain Python.
"""

import numpy as np
import pytest
from harness import run
from pyptx import cuda


def letters(n, kinds=2):
    return np.random.default_rng(5).integers(0, kinds, n).astype(np.uint8)


def places(n, low, high, dtype):
    return np.random.default_rng(6).integers(low, high, n).astype(dtype)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.int16])
@pytest.mark.parametrize("low", [0, -20])
def test_common_prefixes(dtype, low):
    """Two indices, each with its guard; negative ones count from the end until they are not."""

    def kernel(text, a, b, out):
        i = cuda.grid(1)
        j, k, n = a[i], b[i], 0
        while j < text.size and k < text.size and text[j] == text[k]:
            j += 1
            k += 1
            n += 1
        out[i] = n

    some = [places(64, low, 50, dtype), places(64, low, 50, dtype)[::-1].copy()]
    run(kernel, [letters(50), *some, np.zeros(64, np.int32)], 2, 32)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("limit", [0, 5, 1000])
def test_matches(dtype, limit):
    """One guard for both indices: the second begins before the first, or from the end."""

    def kernel(text, before, limit, out):
        i = cuda.grid(1)
        n = 0
        j = before[i]
        while n < limit and i + n < text.size and text[i + n] == text[j + n]:
            n += 1
        out[i] = n

    before = np.array([i - 1 - (i * 7) % 5 for i in range(64)], dtype)
    run(kernel, [letters(64, 1), before, limit, np.zeros(64, np.int32)], 2, 32)
    run(kernel, [letters(64), before, limit, np.zeros(64, np.int32)], 2, 32)


def test_a_search_with_break():
    def kernel(a, key, first, last, out):
        i = cuda.grid(1)
        found = -1
        for k in range(first[i], last[i]):
            if a[k] == key[i]:
                found = k
                break
            out[i] += a[k]
        out[i] = 100 * out[i] + found

    first = places(64, -9, 10, np.int32)
    run(kernel, [letters(30, 9), places(64, 0, 12, np.int32), first, first + 20, np.zeros(64, np.int64)], 2, 32)


@pytest.mark.host_only
def test_a_bound_beyond_the_end():
    """The guard's bound is not the array's size: what is beyond it is found."""

    def kernel(a, first, last, out):
        i = cuda.grid(1)
        k = first[i]
        while k < last and a[k] != 7:
            k += 1
        out[i] = k

    first, out = np.zeros(32, np.int32), np.zeros(32, np.int32)
    a = np.zeros(40, np.uint8)
    run(kernel, [a, first, 40, out], 1, 32)
    with pytest.raises(IndexError, match=r"index 40 is out of bounds for axis 0 of 'a' with size 40"):
        cuda.jit(kernel)[1, 32](a, first, 41, out)
    first[3] = -41
    with pytest.raises(IndexError, match=r"index -41 is out of bounds(.|\n)*thread \(3, 0, 0\)"):
        cuda.jit(kernel)[1, 32](a, first, 40, out)


@pytest.mark.host_only
def test_the_second_index_runs_ahead():
    """It begins behind the first, so that it leaves the array first."""

    def kernel(a, ahead, out):
        i = cuda.grid(1)
        n = 0
        while i + n < a.size and a[i + n] == a[i + n + ahead]:
            n += 1
        out[i] = n

    run(kernel, [np.arange(64, dtype=np.uint8) % 2, -2, np.zeros(32, np.int32)], 1, 32)
    with pytest.raises(IndexError, match="index 64 is out of bounds for axis 0 of 'a' with size 64"):
        cuda.jit(kernel)[1, 32](np.zeros(64, np.uint8), 2, np.zeros(32, np.int32))


def test_narrow_indices_wrap_as_numpy_does():
    """An int8 that goes up beyond 127 is negative again, whatever the guard in 64 bits says."""

    def kernel(a, start, out):
        i = cuda.grid(1)
        k = start[i]
        n = 0
        while n < 300 and n < a.size and a[k] == 0:
            k = np.int8(k + np.int8(1))
            n += 1
        out[i] = n

    with np.errstate(over="ignore"):
        run(kernel, [np.zeros(400, np.uint8), places(32, 0, 100, np.int8), np.zeros(32, np.int32)], 1, 32)
