"""Loops over lists of neighbours and over windows, as simulations and filters have them: what iterations load goes in
front of slow operations (codegen/nvptx/memory/loads_ahead.c), tests of a row in front of all rows
(codegen/ssa/outer_counters.c), squares to what they are made of (keep_places.c), walks from positions that were read
(walk_versions.c). Beside plain Python; `PYPTX_DEVICE=ptx` runs the GPU's own code."""

import math

import numpy as np
import pytest
from harness import run
from pyptx import cuda


def forces(x, neighbours, cutoff, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    force = 0.0
    for k in range(neighbours.shape[0]):
        d = x[i] - x[neighbours[k, i]]
        if d * d < cutoff:
            force += 1.0 / (d * d + 0.5) - d
    out[i] = force


def forces_in_place(x, neighbours, cutoff, out):
    """The lists change as they are read: nothing may go ahead."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    force = 0.0
    for k in range(neighbours.shape[0]):
        j = neighbours[k, i]
        d = x[i] - x[j]
        if d * d < cutoff:
            force += 1.0 / (d * d + 0.5)
            neighbours[k + 1 if k + 1 < neighbours.shape[0] else 0, i] = i
    out[i] = force


@pytest.mark.parametrize("kernel", [forces, forces_in_place])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 11])
def test_lists_of_neighbours(kernel, count):
    rng = np.random.default_rng(count)
    n = 37
    neighbours = rng.integers(-n, n, (count, n)).astype(np.int32)
    run(kernel, (rng.normal(size=n), neighbours, 0.8, np.zeros(n)), grid=2, block=32)


def window(x, centre, first, stop, radius, out):
    """Of (y - centre) ** 2 + (k - radius) ** 2 all bits count, also where that takes more than 32."""
    i = cuda.grid(1)
    total = 0.0
    for y in range(first + i, stop + i):
        for k in range(max(0, i - radius), min(x.size, i + radius + 1)):
            total += x[k] * float((y - centre) * (y - centre) + (k - i) * (k - i))
    out[i] = total


def window_falling(x, centre, first, stop, radius, out):
    i = cuda.grid(1)
    total = 0.0
    for y in range(first + i, stop + i, 3):
        for k in range(max(0, i - radius), min(x.size, i + radius + 1)):
            total += x[k] * float((centre - y) * (centre - y) + (k - i) * (k - i))
    out[i] = total


@pytest.mark.parametrize("kernel", [window, window_falling])
@pytest.mark.parametrize(
    "centre, first, stop",
    [(5, 0, 4), (0, 32760, 32775), (40000, 0, 9), (3, 3, 3), (3, 9, 2), (-(2**30), 2**30, 2**30 + 3), (2**31, -3, 3),
     (-32767, -4, 4), (32767 + 4, 0, 9)],
)  # fmt: skip
def test_rows_of_windows(kernel, centre, first, stop):
    x = np.arange(1.0, 10.0)
    run(kernel, (x, centre, first, stop, 3, np.zeros(9)), block=9)


def arcs(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        s = math.sin(x[i])
        t = math.sin(y[i])
        out[i] = s * s + math.cos(x[i]) * math.cos(y[i]) * t * t


def test_squares_of_sines():
    rng = np.random.default_rng(0)
    # Five roundings of numbers up to 1, and sines off by a unit or two.
    run(arcs, (rng.uniform(-9, 9, 70), rng.uniform(-9, 9, 70), np.zeros(70)), grid=3, block=32, ulps=64)


def walk(text, starts, ends, out):
    """Three elements where the first is large: the others have indices of their own, which may wrap where the first
    does not."""
    t = cuda.grid(1)
    if t >= out.size:
        return
    i, end = starts[t], ends[t]
    s = 0
    while i < end:
        c = int(text[i])
        i += 1
        if c >= 128:
            s = 3 * s + int(text[i]) - 2 * int(text[i + 1])
            i += 2
        s += c
    out[t] = s + 1000 * i


def walk_until(text, starts, ends, out):
    """Left in the middle, by several ways, with different values."""
    t = cuda.grid(1)
    if t >= out.size:
        return
    i = starts[t]
    s = 0
    while True:
        if i >= ends[t]:
            s = -s
            break
        c = int(text[i])
        if c == 9:
            s -= int(text[i + 1]) * 3 + int(text[i + 2])
        if c == 7:
            break
        s += c
        i += 1 + (c & 1)
        if s > 600:
            s += 5
            break
    out[t] = s


@pytest.mark.parametrize("kernel", [walk, walk_until])
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_walks_from_positions(kernel, dtype):
    rng = np.random.default_rng(1)
    n, threads = 61, 96
    text = rng.integers(0, 256, n).astype(np.uint8)
    starts = rng.integers(-n, n - 1, threads).astype(dtype)
    starts[:8] = [0, -1, -2, -n, n - 2, 1, -3, 5]
    ends = np.minimum(starts + rng.integers(-2, 40, threads), n - 2).astype(dtype)
    run(kernel, (text, starts, ends, np.zeros(threads, np.int64)), grid=3, block=32)


def test_a_walk_is_written_twice():
    ptx = cuda.compile_ptx(walk, "narrow (uint8[::1], int64[::1], int64[::1], int64[::1])", cc="sm_90")[0]
    assert ptx.count("ld.global.s8") == 2, "the first elements, in either version"
    assert ptx.count("min.u32") == 3, "of one version the indices are wrapped"
    assert cuda.compile_ptx(walk_one, "narrow (uint8[::1], int64[::1], int64[::1], int64[::1])", cc="sm_90")[0].count("min.u32") == 1


def walk_one(text, starts, ends, out):
    """One wrap: two versions would gain less than what the lanes of a warp wait for one another costs."""
    t = cuda.grid(1)
    if t < out.size:
        i, s = starts[t], 0
        while i < ends[t]:
            s = 3 * s + int(text[i])
            i += 1
        out[t] = s


def rows_with_some_left_out(out, x, y, places, count, width, limit, n):
    """All iterations load behind one condition, which none of them changes: in two groups, with one address."""
    i = cuda.grid(1)
    if i < n:
        for j in range(count):
            if limit > 3:
                continue
            out[i * width + j] = x[i * width + j] + y[places[i % places.size] + 4]


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("limit", [3, 4])
def test_groups_behind_one_condition(dtype, limit):
    for count in (0, 1, 3, 4, 9):
        x, y = np.arange(20 * 9).astype(dtype), np.arange(12).astype("float32")
        run(rows_with_some_left_out, [np.zeros(x.size), x, y, np.array([3, -5, 7, 0, 2], np.int64), count, 9, limit, 20], 1, 32)
