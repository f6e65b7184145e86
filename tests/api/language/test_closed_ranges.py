"""Loops that compare their counter behind the step, and walks whose next address is known early:
codegen/nvptx/loops/closed_ranges.c and next_addresses.c."""

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of

ENDS = [(0, -1), (0, 0), (3, 9), (-4, 2), (7, -7), (2**31 - 4, 2**31 - 1), (-(2**31), -(2**31) + 3), (-(2**31), -(2**31)), (2**31 - 1, 2**31 - 1)]


def closed(x, by, out):
    """Up to the last number, and down to the first."""
    first, last = int(by[0]), int(by[1])
    n, total = 0, 0
    k = first
    while k <= last:
        if x[k & 7] > n:
            total += k
        n += 1
        k += 1
    out[0] = n
    out[1] = total
    k = last
    while k >= first:
        if x[k & 7] < n:
            total -= 2 * k
        n += 3
        k -= 1
    out[2] = n
    out[3] = total


def closed_of(x, first, last):
    n, total, out = 0, 0, []
    for k in range(first, last + 1):
        total, n = total + (k if x[k & 7] > n else 0), n + 1
    out += [n, total]
    for k in range(last, first - 1, -1):
        total, n = total - (2 * k if x[k & 7] < n else 0), n + 3
    return [*out, n, total]


@needs_llc
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_closed_ranges_at_the_edges(dtype):
    entries = Entries(closed, f"narrow (int32[::1], {dtype}[::1], int64[::1])", 1)
    x = np.array([5, -1, 3, 9, 0, 2, 7, 1], np.int32)
    for first, last in ENDS:
        by, got = np.array([first, last], dtype), np.zeros(4, np.int64)
        entries.run((1, 1, 1), (1, 1, 1), [x, by, got], False)
        assert got.tolist() == closed_of(x, first, last), (first, last)


def walks(edges, x, out):
    """Down to an edge, and up to one: an index below 0 counts from the end."""
    i = 0
    while i < x.size:
        b = edges.size - 1
        while x[i] < edges[b]:
            b -= 1
        k = -3
        while edges[k] > x[i]:
            k += 1
        out[i, 0] = b
        out[i, 1] = k
        i += 1


@needs_llc
def test_walks_along_edges():
    edges = np.array([-9, 2, 3, 5, 8, 13, 21, 4, 1, -2], np.float32)
    x = np.array([22, 20, 13, 4, 2.5, 2, 1, -3, 8, 7.5], np.float32)
    entries = Entries(walks, "narrow (float32[::1], float32[::1], int64[:,::1])", 1)
    got = np.zeros((10, 2), np.int64)
    entries.run((1, 1, 1), (1, 1, 1), [edges, x, got], False)
    down = [next(b for b in range(9, -20, -1) if v >= edges[b]) for v in x]
    up = [next(k for k in range(-3, 20) if edges[k] <= v) for v in x]
    assert got.T.tolist() == [down, up]


def test_the_counter_is_compared_behind_the_step(monkeypatch):
    signature = "narrow (int32[::1], int32[::1], int64[::1])"
    text = ptx_of(closed, signature)
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.closed_ranges")
    assert text.count("mov.b64") < ptx_of(closed, signature).count("mov.b64")
