"""Loops that are written twice, so that no index is wrapped: those that call functions (codegen/ssa/small_loop.c), and
those that add the elements of a table (codegen/ssa/table_versions.c).
"""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, int32, uint8
from test_ptx import ptx_of


def turned(x, by):
    return (x << by) | (x >> (32 - by))


def mixed(h, v):
    return turned(h ^ turned(v, 15), 13)


def hashed(words, starts, out):
    i = cuda.grid(1)
    if i < out.size:
        h = np.uint32(7)
        for k in range(starts[i], starts[i + 1]):
            h = mixed(h, words[k])
        out[i] = h


def after_all(v):
    cuda.syncthreads()
    return v


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_a_range_from_any_start_in_a_loop_that_calls(dtype):
    """Starts below 0 count from the end; a range may begin below and end above."""
    words = np.random.default_rng(3).integers(0, 2**32, 40, dtype=np.uint32)
    for starts in ([0, 3, 3, 17, 40], [-40, -39, -20, -1, 0], [-5, 9, 8, 40, 1], [-1, 1, -3, 2, 40]):
        run(hashed, [words, np.array(starts, dtype), np.zeros(4, np.uint32)], 1, 8)


def test_a_loop_that_calls_wraps_no_index():
    """Its loads are constants apart. A loop whose function waits for others has one version."""

    def waiting(words, starts, out):
        h = np.uint32(7)
        for k in range(starts[0], starts[1]):
            h ^= after_all(words[k])
        out[0] = h

    first = ptx_of(hashed, "narrow (uint32[::1], int32[::1], uint32[::1])")
    second = ptx_of(waiting, "narrow (uint32[::1], int32[::1], uint32[::1])")
    assert all(f"+{4 * k}];" in first for k in (1, 2, 3)) and first.count("min.u32") == 1
    assert second.count("bar.sync") == second.count("min.u32") == 1


def of_table(data, x, table, steps, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    last = cuda.local.array(4, int32)
    for j in range(4):
        last[j] = 0
    for k in range(steps):
        base = int(data[i + k])
        if base != 9:
            for j in range(4):
                last[j] = 3 * last[j] + x[base + table[j]]
    out[i] = last[0] + 10 * last[1] + 100 * last[2] + 1000 * last[3]


TABLES = [[0, 1, 2, 3], [31, 0, 7, 31], [-64, -63, -40, -33], [-1, 4, 0, 0], [4, 0, 0, -9], [5, 31, 0, -2, 77]]


@pytest.mark.parametrize("table", TABLES)
def test_indices_that_add_elements_of_a_table(table):
    data = np.random.default_rng(5).integers(0, 33, 50, dtype=np.uint8)
    x = np.random.default_rng(6).integers(0, 1000, 64).astype(np.int32)
    for steps in (0, 1, 9):
        run(of_table, [data, x, np.array(table, np.int32), steps, np.zeros(37, np.int32)], 2, 32)


def test_a_table_that_is_shorter_than_what_no_thread_reads():
    for size in (0, 1, 3):
        run(of_table, [np.full(16, 9, np.uint8), np.ones(64, np.int32), np.ones(size, np.int32), 5, np.zeros(8, np.int32)], 1, 8)


def shared_table(data, table, steps, out):
    """The sums are of a shared array, which the loop stores to, too."""
    sums = cuda.shared.array(64, uint8)
    t = cuda.threadIdx.x
    sums[t] = t
    sums[t + 32] = 2 * t
    cuda.syncthreads()
    total = 0
    if t == 0:
        for k in range(steps):
            for j in range(5):
                total = total * 3 % 1009 + int(sums[int(data[k]) + table[j]])
            sums[k] = total & 255
        out[0] = total


def test_a_table_and_a_shared_array():
    data = np.arange(20, dtype=np.uint8)
    for table in ([0, 1, 2, 3, 40], [0, 1, -3, 2, 1], [-64, -63, -62, -61, -25]):
        run(shared_table, [data, np.array(table, np.int32), 20, np.zeros(1, np.int64)], 1, 32)


def test_of_a_table_nothing_is_wrapped():
    """In the first version. A loop that stores to an array may change the table; one with a barrier, or one that looks
    at an element until it changes, may wait for a thread that does.
    """

    def storing(data, x, table, steps, out):
        for k in range(steps):
            for j in range(4):
                out[k] += x[int(data[k]) + table[j]]

    def waiting(data, x, table, steps, out):
        total = 0
        for k in range(steps):
            for j in range(4):
                total += x[int(data[k]) + table[j]]
            cuda.syncthreads()
        out[0] = total

    def polling(data, x, table, steps, out):
        total = 0
        for k in range(steps):
            while data[k] == 0:
                pass
            for j in range(4):
                total += x[int(data[k]) + table[j]]
        out[0] = total

    text = "narrow (uint8[::1], int32[::1], int32[::1], int64, int32[::1])"
    first, *others = (ptx_of(k, text) for k in (of_table, storing, waiting, polling))
    assert first.count("min.u32") == 4 and first.count("or.b32") >= 3
    assert not any("or.b32" in ptx for ptx in others)


def copied(x, places, lengths, distances, out):
    """Places that go along with a counter of any size, and places that add it."""
    i = cuda.grid(1)
    if i >= lengths.size:
        return
    to = int(places[i])
    at = int(distances[i])
    length = lengths[i] * places.size  # one
    for k in range(length):
        out[to + k] = x[at + k]
    to += length
    for _ in range(length - 1):
        out[to] = out[to - at]
        to += 1
    out[-1 - i] = to & 127


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_copies_to_places_that_go_along(dtype):
    """From below 0 to above, too: there each index is wrapped by itself."""
    x = np.random.default_rng(11).integers(0, 256, 60, dtype=np.uint8)
    for place in (0, 3, -20, -9, -1):
        for length in (0, 1, 2, 7, 8, 9, 17, 18, -5, -(2**30)):
            for distance in (1, 2, 8, 19):
                arguments = [np.array([v], dtype) for v in (place, length, distance)]
                run(copied, [x, *arguments, np.arange(100, dtype=np.uint8)], 1, 1)


def test_copies_to_places_that_go_along_have_one_address():
    made = ptx_of(copied, "narrow (uint8[::1], int32[::1], int64[::1], int32[::1], uint8[::1])")
    assert sum(f"+{k}], %" in made for k in range(1, 8)) == 7
