"""What was an index in a loop, or behind a branch, has 32 bits in narrow versions (ir/interval.c)."""

import re

import numpy as np
from harness import run
from pyptx import cuda
from test_ptx import ptx_of


def probes(keys, first, wanted, found):
    i = cuda.grid(1)
    mask = keys.size - 1
    slot = first[i] & mask
    at = -1
    while keys[slot] != -1:
        if keys[slot] == wanted[i]:
            at = slot
            break
        slot = (slot + 1) & mask
    found[i] = at


def test_places_that_a_search_has_looked_at_fit_32_bits():
    """keys[slot] is reached whenever an iteration begins, so slot is an index (ir/interval.c)."""
    keys = np.array([7, 5, -1, 3, -1, 11, 13, 9], np.int64)
    first = np.array([0, 0, 5, 6, -1, -3, 2**40 + 6, -(2**63), 2**63 - 1, 3], np.int64)
    wanted = np.array([7, 5, 9, 5, 9, 7, 7, 5, 5, 3], np.int64)
    found = run(probes, [keys, first, wanted, np.zeros(10, np.int64)], 1, 10)[-1]
    assert found.tolist() == [0, 1, 7, 1, 7, 0, 0, 1, 1, 3]
    made = ptx_of(probes, "narrow (int64[::1], int64[::1], int64[::1], int64[::1])", boundscheck=False)
    assert "and.b32" in made and not re.search(r"setp\.l[te]\.s64|add\.s64 .*, 1;", made)


def halves(x, out):
    """Sums along a tree of ranges, whose right halves wait on a stack."""
    t = cuda.grid(1)
    lows = cuda.local.array(16, np.int32)
    highs = cuda.local.array(16, np.int32)
    marks = cuda.local.array(16, np.float32)
    lows[0] = 0
    highs[0] = x.size
    top = 1
    total = 0.0
    while top > 0:
        top -= 1
        low, high = lows[top], highs[top]
        if top > 2:
            total += marks[top]
        while high - low > 3:
            middle = (low + high) // 2
            if x[middle] < t:
                lows[top], highs[top] = middle + 1, high
                high = middle
            else:
                lows[top], highs[top] = low, middle
                low = middle + 1
            marks[top] = total = total * 0.5 + x[middle]
            top += 1
        for k in range(low, high):
            total += x[k]
    out[t] = total


def test_the_top_of_a_stack_fits_32_bits():
    x = np.random.default_rng(4).integers(-8, 9, 301).astype(np.float32)
    run(halves, [x, np.zeros(8)], 1, 8)
    made = ptx_of(halves, "narrow (float32[::1], float64[::1])", boundscheck=False)
    assert not re.search(r"add\.s64 .*, -?1;|setp\.\w+\.s64", made)
