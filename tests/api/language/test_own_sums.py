"""Arrays that a kernel only adds to: on the host each worker adds to elements of its own, and those are added up
later.

Launches are large enough for that where the test says so; what else is done with the elements, or to their memory,
must be seen at once then, or the array stays the launch's.
"""

import numpy as np
import pytest
from harness import CHECKED, stopped
from pyptx import cuda, int32

N, BLOCK, GRID = 20_011, 128, 160
BINS = 37
TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


def keys(n=N):
    return np.random.default_rng(3).integers(0, BINS, n).astype(np.int32)


def launch(function, *args, grid=GRID, block=BLOCK, **options):
    cuda.jit(**options)(function)[grid, block](*args)
    cuda.synchronize()


def add_values(keys, values, sums):
    i = cuda.grid(1)
    if i < keys.size:
        cuda.atomic.add(sums, keys[i], values[i])


def summed(k, values, sums):
    want = sums.copy()
    with np.errstate(over="ignore"):
        np.add.at(want, k, values)
    return want


@pytest.mark.parametrize("dtype", TYPES)
def test_each_type(dtype):
    """Sums of whole numbers, which wrap, or are exact."""
    k, sums = keys(), np.arange(BINS).astype(dtype)
    values = np.random.default_rng(4).integers(0, 100, N).astype(dtype)
    want = summed(k, values, sums)
    launch(add_values, k, values, sums)
    assert np.array_equal(sums, want)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_differences(dtype):
    def kernel(keys, values, sums):
        i = cuda.grid(1)
        if i < keys.size:
            cuda.atomic.sub(sums, keys[i], values[i])
            cuda.atomic.add(sums, keys[i], 3)

    k, sums = keys(), np.arange(BINS).astype(dtype)
    values = np.random.default_rng(4).integers(0, 100, N).astype(dtype)
    want = summed(k, 3 - values, sums)
    launch(kernel, k, values, sums)
    assert np.array_equal(sums, want)


def test_elements_that_get_nothing_keep_their_bits():
    sums = np.array([-0.0, np.nan, -0.0, np.inf], np.float64)
    launch(add_values, np.full(N, 2, np.int32), np.full(N, -0.0), sums)
    assert sums.view(np.int64).tolist() == np.array([-0.0, np.nan, -0.0, np.inf]).view(np.int64).tolist()


def test_rows_and_views():
    def kernel(keys, points, sums, counts):
        i = cuda.grid(1)
        if i < keys.size:
            row = sums[keys[i]]
            for c in range(points.shape[1]):
                cuda.atomic.add(row, c, points[i, c])
            cuda.atomic.add(counts[2:], keys[i], 1)

    k, points = keys(), np.random.default_rng(5).integers(0, 9, (N, 3)).astype(np.float32)
    sums, counts = np.ones((BINS, 3), np.float32), np.ones(BINS + 2, np.int64)
    want = np.ones_like(sums)
    np.add.at(want, k, points)
    launch(kernel, k, points, sums, counts)
    assert np.array_equal(sums, want)
    assert counts.tolist() == [1, 1, *(1 + np.bincount(k, minlength=BINS)).tolist()]


def test_a_block_of_counters():
    """Counters in shared memory, emptied into the array by each block."""

    def kernel(keys, counts):
        mine = cuda.shared.array(BINS, int32)
        for k in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
            mine[k] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
            cuda.atomic.add(mine, keys[i], 1)
        cuda.syncthreads()
        for k in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
            cuda.atomic.add(counts, k, mine[k])

    for dtype in (np.uint8, np.int16, np.int32, np.int64):
        k, counts = keys().astype(dtype), np.zeros(BINS, np.int32)
        launch(kernel, k, counts, grid=16)
        assert counts.tolist() == np.bincount(k, minlength=BINS).tolist()


def test_a_narrow_index_with_a_sign():
    """Lanes take the index from memory as it is; the last elements are meant by negative ones."""

    def kernel(keys, counts):
        mine = cuda.shared.array(256, int32)
        for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
            mine[k] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
            cuda.atomic.add(mine, keys[i], 1)
        cuda.syncthreads()
        for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
            cuda.atomic.add(counts, k, mine[k])

    k, counts = np.random.default_rng(6).integers(-128, 128, N).astype(np.int8), np.zeros(256, np.int32)
    launch(kernel, k, counts, grid=16)
    assert counts.tolist() == np.bincount(k.astype(np.uint8), minlength=256).tolist()


# --- arrays that stay the launch's ---


def test_the_same_memory_is_read():
    """Each thread sees its own addition."""

    def kernel(sums, read, wrong):
        i = cuda.grid(1)
        cuda.atomic.add(sums, i % sums.size, 1)
        if read[i % sums.size] == 0:
            cuda.atomic.add(wrong, 0, 1)

    sums, wrong = np.zeros(8, np.int32), np.zeros(1, np.int32)
    both = cuda.to_device(sums)
    launch(kernel, both, both, wrong)
    assert both.copy_to_host().tolist() == [GRID * BLOCK // 8] * 8 and not wrong[0]


def test_two_names_that_overlap():
    def kernel(sums, others):
        i = cuda.grid(1)
        cuda.atomic.add(sums, i % sums.size, 1)
        cuda.atomic.add(others, i % others.size, 1)

    memory = cuda.to_device(np.zeros(12, np.int32))
    launch(kernel, memory[:8], memory[4:])
    each = GRID * BLOCK // 8
    assert memory.copy_to_host().tolist() == [each] * 4 + [2 * each] * 4 + [each] * 4


def test_the_result_is_taken():
    def kernel(sums, places):
        i = cuda.grid(1)
        places[i] = cuda.atomic.add(sums, 0, 1)

    sums, places = np.zeros(1, np.int32), np.zeros(GRID * BLOCK, np.int32)
    launch(kernel, sums, places)
    assert sorted(places.tolist()) == list(range(GRID * BLOCK))


def test_one_of_two_arrays():
    """Which is added to is known at run time only, and the other is read, too."""

    def kernel(choose, sums, others, seen):
        i = cuda.grid(1)
        chosen = sums if choose[i % choose.size] else others
        cuda.atomic.add(chosen, i % 4, 1)
        if i == 0:
            seen[0] = others[0]

    choose, seen = np.array([1, 0, 1, 0, 1], np.int32), np.zeros(1, np.int32)
    sums, others = np.zeros(4, np.int32), np.zeros(4, np.int32)
    launch(kernel, choose, sums, others, seen)
    i = np.arange(GRID * BLOCK)
    assert sums.tolist() == np.bincount(i[choose[i % 5] == 1] % 4, minlength=4).tolist()
    assert others.tolist() == np.bincount(i[choose[i % 5] == 0] % 4, minlength=4).tolist()


def test_few_threads_for_many_elements():
    sums = np.zeros(N, np.int32)
    launch(add_values, np.arange(N, dtype=np.int32), np.full(N, 7, np.int32), sums)
    assert (sums == 7).all()


def test_strided_sums():
    memory = np.zeros((BINS, 2), np.int32)
    launch(add_values, keys(), np.ones(N, np.int32), memory[:, 1])
    assert memory[:, 1].tolist() == np.bincount(keys(), minlength=BINS).tolist() and not memory[:, 0].any()


def test_a_thread_that_stops():
    """What was added before it is there."""
    k = keys()
    k[N - 1] = BINS
    sums = np.zeros(BINS, np.int32)
    kernel = cuda.jit(add_values, **CHECKED)
    assert "37" in stopped(kernel, k, np.ones(N, np.int32), sums, grid=GRID, block=BLOCK)
    assert 0 < sums.sum() < N


# --- loops over ranges, thread by thread ---


@pytest.mark.parametrize("first, last", [(0, 30), (-4, 20), (-30, -1), (3, 3), (20, 10), (5, 31), (-31, 4)])
def test_rows_whose_ends_are_read(first, last):
    """Indices from the end, and beyond it, in the second of the loop's versions."""

    def kernel(starts, columns, values, x, y):
        row = cuda.grid(1)
        if row < y.size:
            total = 0.0
            for k in range(starts[row], starts[row + 1]):
                total += values[k] * x[columns[k]]
            y[row] = total

    rng = np.random.default_rng(7)
    starts = np.array([0, 30, first, last], np.int32)
    columns, values = rng.integers(-9, 9, 30).astype(np.int32), rng.integers(-9, 9, 30).astype(np.float64)
    x, y = rng.integers(-9, 9, 9).astype(np.float64), np.zeros(3)
    if last > 30 or first < -30:
        assert "out of" in stopped(cuda.jit(kernel, **CHECKED), starts, columns, values, x, y)
        return
    launch(kernel, starts, columns, values, x, y, grid=1)
    want = [sum(values[k] * x[columns[k]] for k in range(a, b)) for a, b in zip(starts, starts[1:])]
    assert y.tolist() == want


@pytest.mark.parametrize("shift", [-3, 0, 2])
def test_neighbours_of_the_counter(shift):
    def kernel(starts, x, shift, y):
        row = cuda.grid(1)
        if row < y.size:
            total = 0
            for k in range(starts[row], starts[row + 1]):
                total += x[k + 1] - 2 * x[k] + x[k - 1] * x[x[k + shift]]
            y[row] = total

    rng = np.random.default_rng(8)
    x, starts = rng.integers(-40, 40, 40), np.array([0, 5, 5, 21, 37], np.int32)
    y = np.zeros(4, np.int64)
    launch(kernel, starts, x, shift, y, grid=1)
    want = [sum(x[k + 1] - 2 * x[k] + x[k - 1] * x[x[k + shift]] for k in range(a, b)) for a, b in zip(starts, starts[1:])]
    assert y.tolist() == want
