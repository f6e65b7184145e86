"""Loops over ranges that end within a step of the ends of int64, which the counter's last step would leave."""

import itertools

import numpy as np
import pytest
from pyptx import cuda

MOST, LEAST, ROOM = 2**63 - 1, -(2**63), 8
ENDS = [MOST - 9, MOST - 2, MOST - 1, MOST, 0, LEAST, LEAST + 1, LEAST + 8]
STEPS = [1, 2, 3, 7, 1 << 62, MOST, -1, -2, -3, -7, -(1 << 62), LEAST + 1]
# The ends of each, the step of each, and where a loop begins so that it has a few items.
RANGES = [
    (start, stop, step)
    for stop, step in itertools.product(ENDS, STEPS)
    for start in {max(LEAST, min(MOST, stop - k * step + d)) for k in (0, 1, 2, 3) for d in (-1, 0, 1)}
    if len(range(start, stop, step)) <= ROOM
]


def expected(items):
    return [len(items), *items, *[0] * (ROOM - len(items))]


@cuda.jit
def unknown(out, starts, stops, steps):
    t = cuda.grid(1)
    if t < starts.size:
        n = 0
        for i in range(starts[t], stops[t], steps[t]):
            n += 1
            out[t, n] = i
            if n == out.shape[1] - 1:
                break
        out[t, 0] = n


def test_all_known_at_run_time():
    starts, stops, steps = (np.array(v) for v in zip(*RANGES))
    out = np.zeros((len(RANGES), ROOM + 1), np.int64)
    unknown[(len(RANGES) + 127) // 128, 128](out, starts, stops, steps)
    for row, parts in zip(out.tolist(), RANGES):
        assert row == expected(range(*parts)), parts


@pytest.mark.parametrize("stop_known", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_a_known_step(step, stop_known):
    mine = [r for r in RANGES if r[2] == step]
    for stop in sorted({r[1] for r in mine})[::3] if stop_known else [None]:
        scope = {"cuda": cuda}
        exec(f"""
def loop(out, starts, stops):
    t = cuda.grid(1)
    if t < starts.size:
        n = 0
        for i in range(starts[t], {stop if stop_known else "stops[t]"}, {step}):
            n += 1
            out[t, n] = i
            if n == {ROOM}:
                break
        out[t, 0] = n
""", scope)
        rows = [r for r in mine if not stop_known or r[1] == stop]
        starts, stops = (np.array([r[k] for r in rows]) for k in (0, 1))
        out = np.zeros((len(rows), ROOM + 1), np.int64)
        cuda.jit(scope["loop"])[(len(rows) + 31) // 32, 32](out, starts, stops)
        for row, parts in zip(out.tolist(), rows):
            assert row == expected(range(*parts)), parts


@cuda.jit
def sums(out, a, b, n):
    """In a generator expression; within another loop; with a counter of an outer loop as the stop."""
    t = cuda.grid(1)
    out[1, t] = sum(i - a for i in range(a + t, b, 5))
    for k in range(n):
        for i in range(a, b - k, 3):
            out[2, t] += i - a
    for k in range(b - 4, b, 2):
        for i in range(a, k, 4):
            out[3, t] += i - a


@pytest.mark.parametrize("b", [MOST, MOST - 1, 60, LEAST + 60])
def test_arguments(b):
    a, n, threads = b - 50, 3, 32
    out = np.zeros((4, 64), np.int64)
    sums[1, threads](out, a, b, n)
    assert out[1, :threads].tolist() == [sum(i - a for i in range(a + t, b, 5)) for t in range(threads)]
    assert set(out[2, :threads]) == {sum(i - a for k in range(n) for i in range(a, b - k, 3))}
    assert set(out[3, :threads]) == {sum(i - a for k in range(b - 4, b, 2) for i in range(a, k, 4))}


@cuda.jit
def by_the_grid(out, a, b):
    for i in range(a + cuda.grid(1), b, cuda.gridsize(1)):
        out[i - a] += 1


@pytest.mark.parametrize("b", [MOST, MOST - 30, MOST - 31, 60])
def test_the_stride_of_a_launch(b, device):
    """An error on the host device, whose code for such loops rests on the comparison with the stop."""
    out = np.zeros(64, np.int64)
    if device == "host" and b > MOST - 31:
        with pytest.raises(OverflowError, match=f"a range ends at {b}, within its step of 32 from"):
            by_the_grid[1, 32](out, b - 50, b)
        return
    by_the_grid[1, 32](out, b - 50, b)
    assert out.tolist() == [1] * 50 + [0] * 14


@cuda.jit
def strong(out, a32, b32, a64, b64, aunsigned, bunsigned):
    for i in range(a32[0], b32[0], 3):
        out[0] += 1
    for i in range(a64[0], b64[0], 1 << 40):
        out[1] += 1
    for i in range(aunsigned[0], bunsigned[0], 1 << 30):
        out[2] += 1


def test_narrow_and_unsigned_bounds():
    out = np.zeros(3, np.int64)
    bounds = [(2**31 - 11, 2**31 - 1, np.int32), (MOST - (1 << 42), MOST, np.int64), (0, 2**32 - 1, np.uint32)]
    strong[1, 1](out, *(np.array([v], dtype) for *pair, dtype in bounds for v in pair))
    assert out.tolist() == [len(range(2**31 - 11, 2**31 - 1, 3)), len(range(MOST - (1 << 42), MOST, 1 << 40)), len(range(0, 2**32 - 1, 1 << 30))]


@cuda.jit
def backwards(out, a, b):
    n = 0
    for i in reversed(range(a, b, 3)):
        out[n] = i
        n += 1
    for i in reversed(range(b - 1, a, -7)):
        out[n] = i
        n += 1


@pytest.mark.parametrize("b", [MOST, 5, LEAST + 25])
def test_reversed(b):
    a, out = b - 20, np.zeros(16, np.int64)
    items = [*reversed(range(a, b, 3)), *reversed(range(b - 1, a, -7))]
    backwards[1, 1](out, a, b)
    assert out[: len(items)].tolist() == items and not out[len(items) :].any()
