"""Loops over numbers from in front of them that fit 32 bits, in two versions (codegen/ssa/short_versions.c)."""

import numpy as np
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of


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
