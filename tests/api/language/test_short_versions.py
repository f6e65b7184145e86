"""Loops over numbers from in front of them that fit 32 bits, in two versions (codegen/ssa/short_versions.c)."""

import numpy as np
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of

from pyptx import cuda


def bits_along(xs, by, out):
    """A power of two that falls, and a place that goes down by the counter: each in one loop of two versions."""
    x = int(xs[0])
    s = 1 << by[0]
    d, n = 0, 0
    while s > 0:
        if x & s:
            d += s * s
            x = s - 1 - (x & (s - 1))
        s >>= 1
        n += 1
    base = by[1] * by[2]
    total, last = 0, 0
    for k in range(xs.size):
        j = base - k
        if 0 <= j < xs.size:
            total += int(xs[j]) * (k + 1)
        elif j < -5:
            total += 1
        last = base + k
    out[0] = d
    out[1] = n
    out[2] = s
    out[3] = total
    out[4] = last


def bits_along_of(xs, by):
    x, d, n = int(xs[0]), 0, 0
    s = 1 << by[0] if 0 <= by[0] < 63 else -(2**63) if by[0] == 63 else 0
    while s > 0:
        if x & s:
            d += s * s
            x = s - 1 - (x & (s - 1))
        s, n = s >> 1, n + 1
    base, total = by[1] * by[2], 0
    for k in range(xs.size):
        j = base - k
        total += int(xs[j]) * (k + 1) if 0 <= j < xs.size else int(j < -5)
    wrapped = [(v + 2**63) % 2**64 - 2**63 for v in (d, n, s, total, base + xs.size - 1)]
    return wrapped


@needs_llc
def test_numbers_from_in_front_of_a_loop_at_the_edges():
    """At the ends of what the test in front of the loop lets through, and of 32 and 64 bits."""
    entries = Entries(bits_along, "narrow (int32[::1], int64[::1], int64[::1])", 1)
    xs = np.random.default_rng(7).integers(-50, 50, 12).astype(np.int32)
    counts = [-1, 0, 1, 5, 28, 29, 30, 31, 32, 33, 62, 63, 64]
    bases = [(0, 7), (1, 3), (1, 11), (1, 12), (1, 22), (1, 23), (-1, 1), (-1, 6), (2**15, 2**15), (2**15, 2**15 - 1), (-(2**15), 2**15),
             (-(2**30) - 1, 1), (2**30 - 1, 1), (2**16, 2**16), (2**31, 1), (2**31 - 1, 1), (-(2**31), 1), (2**32, 1), (2**32 + 5, 1), (2**40, -1)]
    for first in (0, 1, -1, 2**31 - 1, -(2**31), 0x2AAAAAAA):
        xs[0] = first
        for k in range(max(len(counts), len(bases))):
            by = np.array([counts[k % len(counts)], *bases[k % len(bases)]])
            got = np.zeros(5, np.int64)
            entries.run((1, 1, 1), (1, 1, 1), [xs, by, got], False)
            assert got.tolist() == bits_along_of(xs, [int(v) for v in by]), (first, by)


def places(y, out):
    """Numbers that were floats: one that divides, and one that is divided, begins a range and ends one."""
    wide, first, last = int(y[0]), int(y[1]), max(int(y[2]), -(1 << 40))
    row, col, below = 0, 0, 0
    for k in range(first, last):
        row += k // wide
        col += k % wide
        if k + wide < 5:
            below += 1
    out[0] = row
    out[1] = col
    out[2] = below


def places_of(wide, first, last):
    numbers = range(first, max(last, -(1 << 40)))
    return [sum(k // wide for k in numbers), sum(k % wide for k in numbers), sum(k + wide < 5 for k in numbers)]


@needs_llc
def test_numbers_of_floats_at_the_edges(monkeypatch):
    """A divisor below 1 has the other version, as what does not fit 30 bits has."""
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.reciprocals")  # which llc does not know for the CPU
    entries = Entries(places, "narrow (float64[::1], int64[::1])", 1)
    for wide in (1, 3, -1, -3, 2**30 - 1, 2**30, -(2**30), -(2**30) - 1, 2**31, 2**40):
        for first in (0, 7, -5, 2**30 - 4, 2**30 - 1, 2**30, -(2**30) - 2, 2**31 - 2, -(2**31) - 1, 2**45):
            for count in (-3, 0, 1, 6):
                got = np.zeros(3, np.int64)
                entries.run((1, 1, 1), (1, 1, 1), [np.array([wide, first, first + count], float), got], False)
                assert got.tolist() == places_of(wide, first, first + count), (wide, first, count)


def test_windows_of_floats_have_32_bits():
    """Quotients of places in a window. One version: a loop of four iterations, one whose start narrow.c clamps."""

    def window(x, y, r, out):
        top, left = max(int(y[0] - r), 0), max(int(y[1] - r), 0)
        high, wide = min(int(y[0] + r), x.shape[0]) - top, min(int(y[1] + r), x.shape[1]) - left
        for k in range(cuda.laneid, high * wide, 32):
            out[0] += x[top + k // wide, left + k % wide]

    def four(x, y, out):
        top = int(y[0])
        for k in range(4):
            if 0 <= top + k < x.shape[0] and top * k < 100:
                out[0] += x[top + k, 0]

    def clamped(x, y, out):
        for k in range(max(int(y[0]), 0), min(int(y[1]), x.shape[0])):
            out[0] += x[k, 0] * k

    texts = [ptx_of(k, f"narrow ({s})") for k, s in ((window, "float32[:,::1], float32[::1], float32, float32[::1]"),
                                                     (four, "float32[:,::1], float32[::1], float32[::1]"), (clamped, "float32[:,::1], float32[::1], float32[::1]"))]
    assert [t.count("1073741824") + t.count("1073741823") > 0 for t in texts] == [True, False, False]


def test_powers_and_places_are_compared_in_32_bits():
    """In the first of the two versions; numbers that were loaded, of which nothing is known, have one version."""

    def power(x, order, out):
        s = 1 << order
        n = 0
        while s > 0:
            if x[0] & s:
                n += 1
            s >>= 1
        out[0] = n

    def place(x, up, down, out):
        base = up * down
        for k in range(x.size):
            if 0 <= base - k < x.size:
                out[0] += x[base - k]

    def loaded(x, order, out):
        s = out[1]
        n = 0
        while s > 0:
            if x[0] & s:
                n += 1
            s >>= 1
        out[0] = n

    texts = [ptx_of(k, f"narrow ({s})") for k, s in ((power, "int32[::1], int64, int64[::1]"), (place, "float32[::1], int64, int64, float32[::1]"),
                                                     (loaded, "int32[::1], int64, int64[::1]"))]
    assert [t.count("1073741824") > 0 for t in texts[:2]] == [True, True]  # the test in front
    assert "shr.u32" in texts[0] and "shr.u64" in texts[0] and "shr.u32" not in texts[2]
    assert texts[1].count("sub.s32") > 0
