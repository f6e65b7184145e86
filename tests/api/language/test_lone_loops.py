"""Loops that a thread runs alone on the host device: ranges that begin at a sum, whose indices may count from the end
or leave the array; and choices by whether elements are equal."""

import numpy as np
import pytest
from harness import CHECKED, jit, run, stopped
from pyptx import cuda, int32


def highest(starts, x, out):
    i = cuda.grid(1)
    if i < out.size:
        first = int(starts[i, 0])
        last = int(starts[i, 1])
        best = -1
        place = first
        for k in range(first + 1, last):
            if x[k] > best:
                best = int(x[k])
                place = k
        out[i] = place


def test_ranges_that_begin_at_a_sum():
    x = np.random.default_rng(1).integers(0, 99, 40).astype(np.int32)
    starts = [(-1, 40), (0, 1), (0, 2), (3, 40), (39, 40), (5, 3), (-41, 3), (-9, -2), (-2, 0), (-7, 9)]
    run(highest, [np.array(starts, np.int32), x, np.zeros(len(starts), np.int64)], 2, 8)


@pytest.mark.parametrize("first, last, index", [(-1, 41, 40), (-42, 3, -41), (38, 45, 40)])
def test_ranges_that_leave_the_array(first, last, index):
    kernel = jit(highest, **CHECKED)
    text = stopped(kernel, np.array([[first, last]], np.int32), np.arange(40, dtype=np.int32), np.zeros(1, np.int64))
    assert f"index {index} is out of bounds" in text


def test_steps_of_other_counters():
    def kernel(n, x, out):
        i = cuda.grid(1)
        if i < out.size:
            total = 0
            for j in range(int(n[i]) + 2, x.size, 2):
                total = total * 3 + x[j] - j
            k = int(n[i])
            while k + 1 < x.size:
                k += 1
                total += x[k] * (k - 1)
            out[i] = total

    x = np.random.default_rng(2).integers(-9, 9, 30).astype(np.int32)
    n = np.array([-2, -1, 0, 1, 20, 28, 29, 30, -20], np.int32)
    run(kernel, [n, x, np.zeros(n.size, np.int64)], 1, 16)


def test_scores_of_alignments():
    def kernel(a, b, match, mismatch, out):
        i = cuda.grid(1)
        if i >= out.size:
            return
        row = cuda.local.array(33, int32)
        for j in range(33):
            row[j] = 0
        best = 0
        for k in range(a.shape[1]):
            diagonal = 0
            for j in range(b.shape[1]):
                pair = match if a[i, k] == b[i, j] else -mismatch
                score = max(max(diagonal + pair, max(row[j + 1], row[j]) - 3), 0)
                diagonal = int(row[j + 1])
                row[j + 1] = score
                best = max(best, score)
        out[i] = best

    a, b = np.random.default_rng(3).integers(0, 4, (2, 10, 32)).astype(np.uint8)
    run(kernel, [a, b, 5, 4, np.zeros(10, np.int32)], 1, 16)


def of_three(starts, around, x, y, z, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for e in range(starts[i], starts[i + 1]):
            j = around[e]
            y[j] += 1
            total += x[j] * y[j] + z[j] / 3
        out[i] = total


def three(sizes, around, **options):
    rng = np.random.default_rng(3)
    starts = np.minimum(np.arange(9) * 7, len(around)).astype(np.int32)
    arrays = [rng.integers(1, 9, n).astype(np.float64) for n in sizes]
    return [starts, np.array(around, np.int32), *arrays, np.zeros(8)]


@pytest.mark.parametrize("sizes", [(30, 30, 30), (30, 40, 50), (50, 40, 30), (40, 30, 50), (40, 50, 30)])
@pytest.mark.host_only("one thread after the other: they add to the same elements")
def test_one_index_into_several_arrays(sizes):
    around = np.random.default_rng(4).integers(-30, 30, 50)
    args = three(sizes, around)
    kernel = jit(of_three)
    mine = [a.copy() for a in args]
    kernel[1, 8](*mine)  # one after the other
    starts, around, x, y, z, out = args
    for i in range(out.size):
        for e in range(starts[i], starts[i + 1]):
            j = around[e]
            y[j] += 1
            out[i] += x[j] * y[j] + z[j] / 3
    np.testing.assert_array_equal(mine[3], y)
    np.testing.assert_allclose(mine[5], out, rtol=1e-15)


@pytest.mark.parametrize("index", [30, 35, 45, -31, -36, -41])
@pytest.mark.parametrize("sizes", [(30, 40, 50), (50, 40, 30), (40, 30, 50)])
def test_one_index_that_leaves_one_of_them(sizes, index):
    allowed = [(s, name) for s, name in zip((sizes[1], sizes[0], sizes[2]), "yxz") if not -s <= index < s]
    text = stopped(jit(of_three, **CHECKED), *three(sizes, [1, 2, index, 3]), block=1)
    assert f"index {index} is out of bounds for axis 0 of '{allowed[0][1]}' with size {allowed[0][0]}" in text
