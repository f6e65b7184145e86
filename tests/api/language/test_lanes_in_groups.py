"""Neighbouring threads whose places in memory are linear in groups, or but for limits, remainders and conditions;
and searches that few of them begin: what the host runs sixteen at a time (codegen/lanes) must mean what it means
one by one.
"""

import re

import numpy as np
import pytest
from harness import run, stopped
from pyptx import cuda

N, BLOCK, GRID = 333, 96, 4
host = pytest.mark.host_only("about code for the host")


def ints(n):
    return np.random.default_rng(n).integers(-50, 50, n)


def numbers(dtype=np.int64, n=N):
    return ints(n).astype(dtype)


@pytest.mark.parametrize("lanes, cols", [(2, 5), (4, 21), (8, 21), (16, 43), (8, 1)])
@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex64"])
def test_rows_by_groups_of_lanes(lanes, cols, dtype):
    """A few lanes for each row, the last ones of which have fewer elements; before the third column the first of
    them rest, and one of each group stores what they found.
    """

    def kernel(x, twice, moved, sums, place):
        row = cuda.grid(1) // lanes
        lane = cuda.threadIdx.x % lanes
        total = 0
        if row < x.shape[0]:
            for k in range(lane, x.shape[1], lanes):
                total += k * k
                twice[row, k] = x[row, k] + x[row, k]
                if k >= 3:
                    moved[row, k - 3] = x[row, k - 3]
        step = lanes // 2
        while step > 0:
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
            step //= 2
        if lane == place and row < sums.size:
            sums[row] = total
        if lane == lanes - 1 and row < x.shape[0]:
            twice[row, 0] = x[row, 0]

    x = np.abs(numbers(np.int8, 21 * cols)).reshape(21, cols).astype(dtype)
    zeros = np.zeros_like(x), np.zeros_like(x), np.zeros(21, np.int64), lanes // 2
    run(kernel, [x, *zeros], -(-21 * lanes // 64), 64)
    run(kernel, [x, *zeros], -(-21 * lanes // 96), 96, opt="unchecked")


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("radius", [0, 3, 20, -7, 2**63 - 9, -(2**63) + 9])
@pytest.mark.parametrize("block", [96, (24, 4)])
def test_positions_that_a_bound_limits(radius, block):
    """Windows around each thread, as far as there are numbers: in the middle their bounds are as far apart as the
    threads, at the ends of the grid they are not. Sums of large radii wrap around between neighbouring threads.
    """

    def kernel(x, radius, sums, ends):
        i = np.int64(cuda.grid(1))
        n = x.size
        if i < n:
            first = max(i - radius, 0)
            last = min(i + radius, n - 1)
            total = 0
            for k in range(first, min(last, first + 50) + 1):
                total += x[k]
            sums[i] = total
            ends[i, 0] = x[min(max(i - 1, 0), n - 1)] - x[min(i + 1, n - 1)]
            ends[i, 1] = first == last
            ends[i, 2] = i - radius == first

    run(kernel, [numbers(), np.int64(radius), np.zeros(N, np.int64), np.zeros((N, 3), np.int64)], GRID, block)


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_limits_of_unsigned_positions():
    def kernel(x, window, out):
        i = cuda.grid(1)
        place = np.uint32(i) * np.uint32(1 << 27) + np.uint32(window)
        if i < x.size:
            out[i, 0] = min(place, np.uint32(1 << 31))
            out[i, 1] = max(place, np.uint32(77))
            out[i, 2] = x[min(np.uint32(i) + np.uint32(window), np.uint32(x.size - 1))]

    for window in (0, 5, 2**32 - 3):
        run(kernel, [numbers(), np.uint32(window), np.zeros((N, 3), np.int64)], GRID, BLOCK)


@host
@pytest.mark.parametrize("size", [63, 40, 16])
def test_first_thread_beyond_a_limit_is_named(size):
    @cuda.jit
    def kernel(x, n, out):
        i = cuda.grid(1)
        total = 0.0
        for k in range(max(i - 2, 0), min(i + 2, n)):
            total += x[k]
        out[i] = total

    message = stopped(kernel, np.zeros(size), 64, np.zeros(64))
    assert f"index {size}" in message and re.search(rf"thread \({size - 1}, 0, 0\)", message), message


@pytest.mark.parametrize("most", [1, 3, 40, 400])
def test_searches_that_few_threads_begin(most):
    """Each run of equal numbers is followed by the thread where it begins: of one in three neighbours, in forty, or
    of none.
    """

    def kernel(x, lengths, places, sums):
        i = cuda.grid(1)
        if i >= x.size:
            return
        length = 0
        if i == 0 or x[i - 1] != x[i]:
            end = i + 1
            while end < x.size and x[end] == x[i]:
                end += 1
            length = end - i
        lengths[i] = length
        if x[i] > 0:
            total = 0.0
            place = np.int16(-1)
            for k in range(x[i] % 50):
                if x[(i + k) % x.size] < 0:
                    place = np.int16(k)
                    break
                total += x[(i + k) % x.size] / 2
            else:
                place = np.int16(77)
            places[i] = place
            sums[i] = total

    lengths = np.random.default_rng(most).integers(1, most + 1, N)
    x = np.repeat(ints(N), lengths)[:N]
    x[::5] *= np.where(np.arange(x[::5].size) % 4, -1, 1)
    run(kernel, [x, np.zeros(N, np.int32), np.zeros(N, np.int16), np.zeros(N)], GRID, BLOCK)
    run(kernel, [x.astype(np.int8), np.zeros(N, np.int32), np.zeros(N, np.int16), np.zeros(N)], GRID, BLOCK, opt="unchecked")


@pytest.mark.parametrize("every", [1, 13, 400])
def test_searches_that_assign_what_was_known_before(every):
    """Numbers from in front of the loop, which only its iterations assign."""

    def kernel(x, n, read, counted, same):
        i = cuda.grid(1)
        if i >= x.size or x[i] % every:
            return
        a, b, c = np.uint16(0), 0, 0.0
        last, fixed = x[i], n / 2
        for _ in range(int(last) - 1, max(int(last) - 12, -1), -1):
            a, b, c = last, i, fixed
        read[i], counted[i], same[i] = a, b, c

    x = np.arange(N, dtype=np.uint16)
    run(kernel, [x, 7, np.zeros(N, np.uint16), np.zeros(N, np.int64), np.zeros(N)], GRID, BLOCK)


@host
@pytest.mark.parametrize("begin", [1, 40, 57])
def test_search_beyond_the_end_is_named(begin):
    @cuda.jit
    def kernel(x, lengths):
        i = cuda.grid(1)
        if i == 0 or x[i - 1] != x[i]:
            end = i
            while x[end] == x[i]:
                end += 1
            lengths[i] = end - i

    x = np.zeros(64, np.uint8)
    x[begin:] = 1
    message = stopped(kernel, x, np.zeros(64))
    assert "index 64" in message and f"thread ({begin}, 0, 0)" in message, message


@pytest.mark.parametrize("dtype", ["int16", "int32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("period", [1, 5, 16, 24, 64, 1000])
def test_indices_that_fold(dtype, period):
    """Contiguous in most vectors: remainders, clamps and what is behind a condition; stores too."""

    def kernel(x, period, out):
        i = cuda.grid(1)
        if i < x.size:
            k = i % period
            near = x[k % x.size] + x[min(max(i - 3, 0), x.size - 7)]
            if i % 5 != 2:
                near += x[(i + 9) % x.size]
            j = 2 * (i - k) + k
            if i % 11 != 4 and j + period < out.size:
                out[j] = near
                out[j + period] = x[i]

    x = (ints(300) + (1j * ints(300)[::-1] if dtype.startswith("complex") else 0)).astype(dtype)
    run(kernel, [x, period, np.zeros(700, dtype)], 5, 64)


@pytest.mark.parametrize("n", [4, 40, 700])
@pytest.mark.parametrize("far", [0, 1, 3])
def test_mirrored_indices(n, far):
    """Contiguous in most vectors, though they come from different branches."""

    def kernel(x, far, out):
        i = cuda.grid(1)
        if i < out.size:
            left, right = i - far, i + far
            if left < 0:
                left = -left
            if right >= x.size:
                right = 2 * x.size - 2 - right
            middle = left if i % 7 else right
            out[i] = x[left] + 2 * x[right] + 3 * x[middle]

    run(kernel, [ints(n), far, np.zeros(n, np.int64)], -(-n // 64), 64)


@pytest.mark.parametrize("step", [2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float16])
def test_small_elements_apart(dtype, step):
    """Every second, third or fourth byte or word is stored, by all threads and by some; what lies between stays."""

    def kernel(x, shift, out, some):
        i = cuda.grid(1)
        if i < x.size:
            out[step * i] = x[i]
            out[step * i + 1] = x[i] + x[i]
            if x[i] > shift:
                some[step * i + shift] = x[i]

    n = 333
    x = np.random.default_rng(step).integers(0, 100, n).astype(dtype)
    out, some = (np.full(step * n + 1, 77, dtype) for _ in range(2))
    run(kernel, (x, 1, out, some), grid=6, block=64)
