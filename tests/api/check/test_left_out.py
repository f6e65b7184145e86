"""Checked code notes less than happens: no reads of arrays that nothing writes, one note for `x[i] += v`, the last
threads of a row as lanes, a lane that stores alone. None of it may lose a race, nor make one."""

import random
from collections import namedtuple

import numpy as np
import pytest

from pyptx import cuda
from pyptx.errors import RaceError

pytestmark = [pytest.mark.filterwarnings("ignore::pyptx.Advice"),
              pytest.mark.skipif(not cuda.get_current_device().is_host, reason="check= is for the host device")]
FULL = 0xFFFFFFFF
Pair = namedtuple("Pair", "x out")
captured = cuda.to_device(np.zeros(256, np.float32))


def put(a, i, v):
    a[i] = v


def get(a, i):
    return a[i]


def plain(x, out):
    i = cuda.grid(1)
    if i < out.size and i + 1 < x.size:
        out[i] = x[i + 1]


def by_functions(x, out):
    i = cuda.grid(1)
    if i < out.size and i + 1 < x.size:
        put(out, i, get(x[1:], i))


def chosen(x, out):
    i = cuda.grid(1)
    a = x if i >= 0 else out
    if i + 1 < x.size and i < out.size:
        a[i] = out[i] + x[i + 1]


def swapped(x, out):
    i = cuda.grid(1)
    a, b = x, out
    for _ in range(2):
        if i < a.size and i + 1 < b.size:
            a[i] = b[i + 1]
        a, b = b, a


def of_a_pair(p):
    i = cuda.grid(1)
    if i < p.out.size and i + 1 < p.x.size:
        p.out[i] = p.x[i + 1]


def to_a_captured_array(x):
    i = cuda.grid(1)
    if i + 1 < x.size:
        captured[i] = x[i + 1]


def an_atomic_on_an_input(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[0]
    if i == 99:
        cuda.atomic.add(x, 0, 1)


def transposed(a, b):
    i, j = cuda.grid(2)
    if i < 16 and j < 16:
        b[i, j] = a[i, j]


def two(n=256):
    d = cuda.to_device(np.zeros(2 * n, np.float32))
    return d[:n], d[n:]


d, other = two()
m = cuda.to_device(np.zeros((16, 16), np.float32))


@pytest.mark.parametrize("kernel, arguments, finds", [
    (plain, (d, d), True), (plain, two(), False), (plain, (d[:200], d[50:]), True), (plain, (d[128:], d[:128]), False),
    (plain, (d[126:], d[:128]), True), (plain, (d[::-1], d), True), (plain, (d[::-1], other), False),
    (plain, (d[::2], d[1::2]), False), (plain, (d[::3], d[::2]), True),
    (plain, (d.view(np.int16)[:300], d), True), (plain, (d.view(np.uint8)[19:], d[:5]), False),
    (plain, (d.view(np.uint8)[18:], d[:5]), True), (plain, (d, d.view(np.float64)[:100]), True),
    (by_functions, (d, d), True), (by_functions, two(), False), (by_functions, (d[100:], d[:110]), True),
    (chosen, two(), True), (swapped, two(), True), (of_a_pair, (Pair(d, d),), True), (of_a_pair, (Pair(*two()),), False),
    (to_a_captured_array, (captured,), True), (to_a_captured_array, (d,), False), (an_atomic_on_an_input, two(), True),
    (transposed, (m.T, m), True), (transposed, (m, m), False),
], ids=lambda v: v.__name__ if callable(v) else "")
@pytest.mark.parametrize("check", ["race", "race,sync,init"])
def test_inputs_that_overlap_what_is_written(kernel, arguments, finds, check):
    config = ((2, 2), (8, 8)) if kernel is transposed else (4, 64)
    checked = cuda.jit(kernel, check=check)
    if not finds:
        checked[config](*arguments)
        return
    with pytest.raises(RaceError):
        checked[config](*arguments)


@pytest.mark.parametrize("width", [1, 3, 8, 15, 17, 24, 33, 100])
def test_the_last_threads_of_a_row(width):
    @cuda.jit(check="race")
    def kernel(x, out, at, by):
        i = cuda.grid(1)
        if i < out.size:
            out[i] += x[i]
        if i == by:
            out[at] = -1

    x, out = np.arange(5 * width, dtype=np.float32), np.zeros(5 * width, np.float32)
    kernel[5, width](x, out, 0, -1)
    np.testing.assert_array_equal(out, x)
    for at, by in ((2 * width - 1, 2 * width), (3 * width, 3 * width - 1), (0, 5 * width - 1)):
        with pytest.raises(RaceError) as found:
            kernel[5, width](x, out, at, by)
        e = found.value
        assert {width * b[0] + t[0] for t, b in ((e.thread, e.block), (e.other_thread, e.other_block))} == {at, by}


def test_an_update_that_changes_nothing_is_one():
    """Of two plain stores of one value none matters; an update depends on what was there."""
    @cuda.jit(check="race")
    def kernel(out, updates):
        t = cuda.threadIdx.x
        if updates:
            out[t // 2] += 0
        else:
            out[t // 2] = 0

    kernel[1, 64](np.zeros(32, np.float32), False)
    with pytest.raises(RaceError):
        kernel[1, 64](np.zeros(32, np.float32), True)


@pytest.mark.parametrize("lanes, warps, finds", [(1, 1, False), (2, 1, True), (1, 2, True)])
def test_a_lane_that_stores_alone(lanes, warps, finds):
    @cuda.jit(check="race,sync")
    def kernel(x, out):
        i = cuda.grid(1)
        v = x[i]
        for k in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(FULL, v, k)
        if cuda.laneid < lanes:
            out[i // (32 * warps)] = v

    x, out = np.arange(256, dtype=np.float32), np.zeros(8, np.float32)
    if not finds:
        kernel[2, 128](x, out)
        np.testing.assert_array_equal(out, x.reshape(8, 32).sum(1))
        return
    with pytest.raises(RaceError):
        kernel[2, 128](x, out)


def test_lanes_are_ordered_by_their_warp_alone():
    @cuda.jit(check="race,sync")
    def kernel(out, gap):
        s = cuda.shared.array(256, np.int32)
        t = cuda.threadIdx.x
        s[t] = t
        cuda.syncwarp()
        out[t] = s[t ^ gap]
        cuda.syncthreads()
        s[t] = 1

    for width, gap in ((64, 1), (64, 16), (48, 1)):
        out = np.zeros(width, np.int32)
        kernel[1, width](out, gap)
        np.testing.assert_array_equal(out, np.arange(width) ^ gap)
    with pytest.raises(RaceError):
        kernel[1, 64](np.zeros(64, np.int32), 32)


def test_blocks_that_take_turns():
    """Blocks of several rows run row by row beside their neighbours: each keeps its own name."""
    @cuda.jit(check="race")
    def kernel(x, out, at, by):
        i, j = cuda.grid(2)
        if i < out.shape[1] and j < out.shape[0]:
            out[j, i] += x[j, i]
        if i == by[1] and j == by[0]:
            out[at] = -1

    x, out = np.arange(21 * 50, dtype=np.float32).reshape(21, 50), np.zeros((21, 50), np.float32)
    for block in ((8, 4), (3, 7), (17, 2)):
        grid = -(-50 // block[0]), -(-21 // block[1])
        out[:] = 0
        kernel[grid, block](x, out, (0, 0), (-1, -1))
        np.testing.assert_array_equal(out, x)
        for at, by in (((5, 8), (5, 7)), ((20, 49), (0, 0)), ((3, 40), (17, 40))):
            with pytest.raises(RaceError) as found:
                kernel[grid, block](x, out, at, by)
            e = found.value
            places = {tuple(b[k] * block[k] + t[k] for k in (1, 0)) for t, b in ((e.thread, e.block), (e.other_thread, e.other_block))}
            assert places == {at, by}


@pytest.mark.parametrize("width", [64, 24])
def test_a_grid_stride_loop(width):
    @cuda.jit(check="race")
    def kernel(x, out, at, by):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i if i != by else at] = x[i]

    x, out = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    kernel[5, width](x, out, 0, -1)
    np.testing.assert_array_equal(out, x)
    for at, by in ((999, 3), (700, 701), (3 + 5 * width, 2)):
        with pytest.raises(RaceError) as found:
            kernel[5, width](x, out, at, by)
        e = found.value
        assert {width * b[0] + t[0] for t, b in ((e.thread, e.block), (e.other_thread, e.other_block))} == {at % (5 * width), by % (5 * width)}


@cuda.jit(check="race")
def stores(x, out, a, b, m, w):
    i, j = cuda.grid(2)
    if i < m and j < w:
        out[(a * i + j) % out.size] = x[(b * i + 3 * j) % x.size] + i * 100 + j


@cuda.jit(check="race")
def updates(x, out, a, b, m, w):
    i, j = cuda.grid(2)
    if i < m and j < w:
        out[(a * i + j) % out.size] += x[(b * i + 3 * j) % x.size]


def touched(kernel, x, out, a, b, m, w):
    """By element of the memory below: the threads that read it, and those that write it."""
    reads, writes = {}, {}
    for i in range(m):
        for j in range(w):
            reads.setdefault(x[0] + (b * i + 3 * j) % x[1], set()).add((i, j))
            writes.setdefault(out[0] + (a * i + j) % out[1], set()).add((i, j))
    if kernel is updates:
        for at, threads in writes.items():
            reads.setdefault(at, set()).update(threads)
    return reads, writes


def test_random_overlaps():
    rng, found = random.Random(7), 0
    base = cuda.to_device(np.zeros(4096, np.float32))
    for _ in range(200):
        x, out = ((rng.randrange(3000), rng.randrange(1, 1000)) for _ in range(2))
        block = rng.choice([(8, 4), (16, 2), (24, 1), (33, 1), (5, 3), (32, 2), (64, 1), (7, 7)])
        grid = rng.randrange(1, 5), rng.randrange(1, 3)
        numbers = *(rng.randrange(4) for _ in range(2)), *(rng.randrange(1, g * n + 1) for g, n in zip(grid, block))
        kernel = rng.choice([stores, updates])
        base[:] = 0
        reads, writes = touched(kernel, x, out, *numbers)
        races = any(len(threads | reads.get(at, set())) > 1 for at, threads in writes.items())
        try:
            kernel[grid, block](*(base[at:at + n] for at, n in (x, out)), *numbers)
            assert not races, (x, out, block, grid, numbers)
        except RaceError:
            assert races, (x, out, block, grid, numbers)
            found += 1
    assert 50 < found < 150
