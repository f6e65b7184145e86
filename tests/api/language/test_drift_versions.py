"""Loops over numbers that move by small steps, in two versions (codegen/ssa/drift_versions.c)."""

import numpy as np
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of


def turned(state):
    return state ^ state << np.int32(3)


def walk(xs, by, out):
    """Products of two numbers that move, and of what is passed; some of what follows is done by a function."""
    a, b = by[0], by[1]
    total, below, n = 0, 0, 0
    state = xs[0]
    while a > 0:
        product = by[2] * a * b
        both = product + by[3] * by[4] * a
        x = int(xs[n % 32])
        state = turned(state)
        if both < 9 * x:
            below += 1
        if product > both - x:
            below += 1000
        total += both + product
        if x > 0:
            a, b = a - 1, b + 1
        elif x < -40:
            a += 1
        else:
            a -= 1
            b -= 3
        n += 1
    out[0] = total
    out[1] = below
    out[2] = n
    out[3] = a
    out[4] = b
    out[5] = int(state)


def wrapped(v):
    return (v + 2**63) % 2**64 - 2**63


def walk_of(xs, by):
    a, b = by[:2]
    total, below, n, state = 0, 0, 0, int(xs[0])
    while a > 0:
        product = wrapped(by[2] * a * b)
        both = wrapped(product + by[3] * by[4] * a)
        x = int(xs[n % 32])
        state = ((state ^ state << 3) + 2**31) % 2**32 - 2**31
        below += (both < 9 * x) + 1000 * (product > both - x)
        total += both + product
        if x > 0:
            a, b = a - 1, b + 1
        elif x < -40:
            a += 1
        else:
            a, b = a - 1, b - 3
        n += 1
    return [wrapped(total), below, n, a, b, state]


@needs_llc
def test_numbers_that_drift_at_the_edges():
    """The first version is entered, left on the way at either end of each number, and not entered."""
    entries = Entries(walk, "(int32[::1], int64[::1], int64[::1])", 1)
    factors = [(1, 1, 1), (0, 0, 0), (63, 1, 2), (64, 1, 2), (-1, 5, 7), (2, 2**9, 2**9 - 1), (2, 2**9, 2**9), (3, -1, 4), (2**40, 2**41, 3)]
    starts = [(5, 9), (1, 0), (0, 3), (-4, 8), (9, 4090), (4095, 30), (4096, 30), (4090, 4095), (20, 2), (7, -1), (2**31 - 3, 0)]
    for seed in range(3):
        xs = np.random.default_rng(seed).integers(-50, 50, 32).astype(np.int32)
        for start in starts:
            for f in factors:
                if start[0] > 2**20:  # of which the loop would never end
                    start = (4099, start[0])
                by = np.array([*start, *f])
                got = np.zeros(6, np.int64)
                entries.run((1, 1, 1), (1, 1, 1), [xs, by, got], False)
                assert got.tolist() == walk_of(xs, [int(v) for v in by]), (start, f)


def test_numbers_that_drift_have_32_bits():
    """In the first of the two versions; a loop that only adds such numbers up has one."""

    def pairs(x, first, rate, out):
        a, b = first, 0
        n = 0
        while a > 0:
            both = rate * a * b
            out[n] += np.float32(1) / np.float32(both)
            if both > x[n]:
                a, b = a - 1, b + 1
            else:
                a -= 1
            n += 1

    def sums(x, first, out):
        a = first
        n = 0
        while a > 0:
            out[n] += x[n] / np.float32(a)
            a -= 1
            n += 1

    first, second = (ptx_of(k, f"narrow (int32[::1], {s}float32[::1])") for k, s in ((pairs, "int64, int64, "), (sums, "int64, ")))
    assert "cvt.rn.f32.s64" in first and ("cvt.rn.f32.s32" in first or "cvt.rn.f32.u32" in first)
    assert "4096" in first and "65536" not in second
