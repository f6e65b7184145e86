"""Loops around short ones in two versions, by one test in front of both (codegen/ssa/nest_versions.c)."""

import numpy as np
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda
from test_ptx import ptx_of


def wrapped(v):
    return (v + 2**63) % 2**64 - 2**63


def filtered(x, weights, by, out):
    """A filter with a stride, gaps and a border of zeros, whose rows the outer loop compares."""
    i = cuda.grid(1)
    stride, gap, pad = by[0], by[1], by[2]
    total, inside = 0, 0
    for a in range(weights.shape[0]):
        row = i * stride - pad + a * gap
        if row < 0 or row >= x.shape[0]:
            continue
        for b in range(weights.shape[1]):
            col = (i + 1) * stride - pad + b * gap
            if 0 <= col < x.shape[1]:
                total += int(weights[a, b]) * int(x[row, col])
            elif col > row:
                inside += 1
    out[i, 0] = total
    out[i, 1] = inside


def filtered_of(x, weights, i, stride, gap, pad):
    total, inside = 0, 0
    for a in range(weights.shape[0]):
        row = wrapped(i * stride - pad + a * gap)
        if row < 0 or row >= x.shape[0]:
            continue
        for b in range(weights.shape[1]):
            col = wrapped((i + 1) * stride - pad + b * gap)
            if 0 <= col < x.shape[1]:
                total += int(weights[a, b]) * int(x[row, col])
            elif col > row:
                inside += 1
    return [total, inside]


SIGNATURES = {False: "(int32[:,::1], int32[:,::1], int64[::1], int64[:,::1])"}
SIGNATURES[True] = "narrow " + SIGNATURES[False]


@needs_llc
def test_filters_at_the_edges_of_what_the_test_lets_through():
    rng = np.random.default_rng(7)
    x = rng.integers(-50, 50, (9, 11)).astype(np.int32)
    big = [2**15 - 2, 2**15 - 1, 2**15, 2**29, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**32, 2**33 + 1, 2**62, 2**63 - 1]
    cases = [(1, 1, 0), (2, 1, 1), (2, 3, 2), (1, -1, -3), (3, 0, 2)]
    cases += [(s * n, 1, 1) for n in big for s in (1, -1)] + [(1, s * n, 1) for n in big for s in (1, -1)]
    cases += [(1, 1, s * n) for n in big for s in (1, -1)] + [(n, 1, n) for n in big] + [(n, -n, n - 1) for n in big]
    for narrow, signature in SIGNATURES.items():
        entries = Entries(filtered, signature, 1)
        for shape in ((3, 3), (1, 5), (4, 2), (0, 3), (3, 0)):
            weights = rng.integers(-9, 9, shape).astype(np.int32)
            for case in cases:
                got = np.zeros((4, 2), np.int64)
                entries.run((2, 1, 1), (2, 1, 1), [x, weights, np.array(case, np.int64), got], False)
                assert got.tolist() == [filtered_of(x, weights, i, *case) for i in range(4)], (narrow, shape, case)


def patch(x, y, out):
    """A window whose ends were floats, by loops that end with the last place."""
    top, bottom, left, right = int(y[0]), int(y[1]), int(y[2]), int(y[3])
    total, places = 0, 0
    a = top
    while a <= bottom:
        b = left
        while b <= right:
            if 0 <= a < x.shape[0] and 0 <= b < x.shape[1]:
                total += x[a, b]
            elif a < b:
                places += 1
            b += 1
        a += 1
    out[0] = total
    out[1] = places
    out[2] = a


def patch_of(x, top, bottom, left, right):
    inside = [(a, b) for a in range(top, bottom + 1) for b in range(left, right + 1)]
    total = sum(int(x[a, b]) for a, b in inside if 0 <= a < x.shape[0] and 0 <= b < x.shape[1])
    places = sum(a < b for a, b in inside if not (0 <= a < x.shape[0] and 0 <= b < x.shape[1]))
    return [total, places, max(bottom + 1, top)]


@needs_llc
def test_windows_of_floats_at_the_edges():
    entries = Entries(patch, "narrow (int32[:,::1], float64[::1], int64[::1])", 1)
    x = np.arange(20, dtype=np.int32).reshape(4, 5)
    ends = [(-2, 3), (1, 2), (3, 2), (2, -2), (2**30 - 3, 2**30 - 1), (2**30 - 2, 2**30 + 1), (-(2**30) - 1, -(2**30) + 1), (2**31 - 2, 2**31 + 1), (2**45, 2**45 + 2)]
    for top, bottom in ends:
        for left, right in ends:
            got = np.zeros(3, np.int64)
            entries.run((1, 1, 1), (1, 1, 1), [x, np.array([top, bottom, left, right], float), got], False)
            assert got.tolist() == patch_of(x, top, bottom, left, right), (top, bottom, left, right)


def test_one_test_in_front_of_both_loops():
    """What the outer loop compares has 32 bits then: the first version has 64 bits for addresses alone."""
    text = ptx_of(filtered, SIGNATURES[True])
    assert text.count("32768") + text.count("32769") == 2  # the stops of both ranges
