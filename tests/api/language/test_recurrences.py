"""Loops over what they carry along, which moves by run-time numbers, in two versions (codegen/ssa/recurrences.c)."""

import itertools

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of

from pyptx import cuda, int32

SMALL = (2, 255, -256)
LARGE = (256, -257, 2**31 - 1, -(2**31), 2**40)


def wrapped(v, bits=64):
    return (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def band(q, t, by, out):
    """A table of rows of five, in a local array; the best so far, and where it was."""
    rows, match, mismatch, gap, drop = int(by[0]), by[1], by[2], by[3], by[4]
    h = cuda.local.array(6, int32)
    for k in range(6):
        h[k] = -gap * k
    best = 0
    where = -1
    r = 1
    while r <= rows:
        c = q[r % 32]
        left = -(1 << 20)
        top = left
        for k in range(5):
            v = max(int(h[k]) + (match if c == t[(r + k) % 32] else -mismatch), int(h[k + 1]) - gap, left - gap)
            h[k] = v
            left = v
            top = max(top, v)
            if v > best:
                best = v
                where = r * 5 + k
        if top < best - drop:
            break
        r += 1
    out[0] = best
    out[1] = where
    out[2] = r
    for k in range(6):
        out[3 + k] = h[k]


def band_of(q, t, by):
    rows, match, mismatch, gap, drop = by
    h = [wrapped(wrapped(-gap * k), 32) for k in range(6)]
    best, where, r = 0, -1, 1
    while r <= rows:
        left = top = -(1 << 20)
        for k in range(5):
            step = match if q[r % 32] == t[(r + k) % 32] else wrapped(-mismatch)
            left = max(wrapped(h[k] + step), wrapped(h[k + 1] - gap), wrapped(left - gap))
            h[k] = wrapped(left, 32)
            top = max(top, left)
            if left > best:
                best, where = left, r * 5 + k
        if top < wrapped(best - drop):
            break
        r += 1
    return [best, where, r, *h]


def drops(q, t, by, out):
    """Scores in registers, three times over; the loop is left from two places."""
    n, match, mismatch, drop = by[0], by[1], by[2], by[3]
    for turn in range(3):
        score = turn
        best = 0
        end = -1
        for k in range(n):
            if q[k % 32] == t[(k + turn) % 32]:
                score += match
            else:
                score -= mismatch
            if score > best:
                best = score
                end = k
            elif score < best - drop:
                break
        out[3 * turn] = score
        out[3 * turn + 1] = end
        out[3 * turn + 2] = best


def drops_of(q, t, by):
    n, match, mismatch, drop, _ = by
    out = []
    for turn in range(3):
        score, best, end = turn, 0, -1
        for k in range(n):
            score = wrapped(score + match if q[k % 32] == t[(k + turn) % 32] else score - mismatch)
            if score > best:
                best, end = score, k
            elif score < wrapped(best - drop):
                break
        out += [score, end, best]
    return out


def letters(seed):
    return np.random.default_rng(seed).integers(0, 3, (2, 32)).astype(np.uint8)


CASES = [(band, band_of, 9), (drops, drops_of, 9)]


@needs_llc
@pytest.mark.parametrize(("kernel", "reference", "size"), CASES, ids=["band", "drops"])
def test_steps_at_the_edges(kernel, reference, size):
    """At the ends of what the test in front lets through, and far beyond them."""
    entries = Entries(kernel, "narrow (uint8[::1], uint8[::1], int64[::1], int64[::1])", 1)
    all_steps = [*itertools.product(SMALL, SMALL, (2, 255)), *((a, 3, 4) for a in LARGE), *((3, a, 4) for a in LARGE), *((3, 1, a) for a in LARGE)]
    for seed, steps in enumerate(all_steps):
        q, t = letters(seed)
        for n in (0, 1, 40):
            for last in (3, 2**24 - 1, 2**24):
                by = np.array([n, *steps[:2], *((steps[2], last) if kernel is band else (last, steps[2]))])
                got = np.zeros(size, np.int64)
                entries.run((1, 1, 1), (1, 1, 1), [q, t, by, got], False)
                assert got.tolist() == reference(q, t, [int(v) for v in by]), by


@needs_llc
@pytest.mark.parametrize(("kernel", "reference", "size"), CASES, ids=["band", "drops"])
@pytest.mark.parametrize("n", [2**14 - 1, 2**14])
def test_as_long_as_the_test_lets_through(kernel, reference, size, n):
    """All steps go one way, as far as they may."""
    entries = Entries(kernel, "narrow (uint8[::1], uint8[::1], int64[::1], int64[::1])", 1)
    q = np.zeros(32, np.uint8)
    for match, other, t in ((255, -255, q), (-256, 255, q), (-256, -256, q + 1)):
        by = np.array([n, match, -other, other if kernel is band else 2**24 - 1, 2**24 - 1 if kernel is band else 7])
        got = np.zeros(size, np.int64)
        entries.run((1, 1, 1), (1, 1, 1), [q, t, by, got], False)
        assert got.tolist() == reference(q, t, [int(v) for v in by]), by


def trims(q, by, out):
    """From the end on: a sum of a number and what was loaded in each step, as far as it is not negative."""
    n, threshold = by[0], by[1]
    total = 0
    best = 0
    end = -1
    for k in range(n - 1, -1, -1):
        total += threshold - (int(q[k % 32]) - 33)
        if total < 0:
            break
        if total > best:
            best = total
            end = k
    out[0] = total
    out[1] = best
    out[2] = end


def trims_of(q, n, threshold):
    total, best, end = 0, 0, -1
    for k in range(n - 1, -1, -1):
        total = wrapped(total + wrapped(threshold - (int(q[k % 32]) - 33)))
        if total < 0:
            break
        if total > best:
            best, end = total, k
    return [total, best, end]


@needs_llc
def test_downward():
    """In both versions: at the ends of what the test in front lets through, and beyond them."""
    entries = Entries(trims, "narrow (uint8[::1], int64[::1], int64[::1])", 1)
    q = np.random.default_rng(3).integers(0, 256, 32).astype(np.uint8)
    for n in (0, 1, -5, 40, 2**14 - 1, 2**14, 2**14 + 1, -(2**14), -(2**14) - 1):
        for threshold in (20, 60, 95, *SMALL, *LARGE, 2**62, -(2**63)):
            got = np.zeros(3, np.int64)
            entries.run((1, 1, 1), (1, 1, 1), [q, np.array([n, threshold]), got], False)
            assert got.tolist() == trims_of(q, n, threshold), (n, threshold)


def test_the_first_version_has_32_bits():
    """Of maxima and comparisons. A loop with a ring has one version, as one around which numbers stay in an array."""

    def ring(q, n, match, out):
        h = cuda.local.array(4, int32)
        best = 0
        for i in range(n):
            v = max(h[i % 4] + match, best - match)
            best = max(best, v - match)
            h[(i + 1) % 4] = v
        out[0] = best

    def kept(q, n, match, out):
        h = cuda.local.array(4, int32)
        for r in range(out.size):
            best = 0
            for i in range(n):
                for k in range(3):
                    v = max(h[k] + match, h[k + 1] - match)
                    best = max(best, v - match)
                    h[k] = v
            out[r] = best

    edges = "narrow (uint8[::1], uint8[::1], int64[::1], int64[::1])"
    text = ptx_of(band, edges)
    assert "max.s32" in text and "max.s64" in text
    text = ptx_of(drops, edges)
    assert "setp.gt.s32" in text and "setp.gt.s64" in text
    text = ptx_of(trims, "narrow (uint8[::1], int64[::1], int64[::1])")
    assert "setp.gt.s32" in text and "setp.gt.s64" in text
    for kernel in (ring, kept):
        assert "max.s32" not in ptx_of(kernel, "narrow (int32[::1], int64, int64, int32[::1])")
