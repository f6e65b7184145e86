"""Loops that end where a square is larger: what is squared is at most a root (ir/interval.c)."""

import math

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from test_ptx import ptx_of


def divisors(x, out):
    """The least divisor of each number, and how many pairs it has: loops that end where a square is larger."""
    for i in range(x.size):
        n = int(x[i])
        least, pairs = 0, 0
        d = 2
        while d * d <= n:
            if n % d == 0:
                least = d
                break
            d += 1
        d = 1
        while d * d < n:
            if n % d == 0:
                pairs += 1
            d += 1
        out[i, 0] = least
        out[i, 1] = pairs
        out[i, 2] = d


@needs_llc
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
def test_squares_that_end_a_loop(dtype):
    numbers = [0, 1, 2, 3, 4, 49, 97, 46340**2, 46340**2 - 1, 2**31 - 1, *([-1, -(2**31)] if dtype != "uint32" else [2**31, 2**32 - 1])]
    x, got = np.array(numbers, dtype), np.zeros((len(numbers), 3), np.int64)
    Entries(divisors, f"narrow ({dtype}[::1], int64[:,::1])", 1).run((1, 1, 1), (1, 1, 1), [x, got], False)
    for n, (least, pairs, last) in zip(numbers, got.tolist(), strict=True):
        root = math.isqrt(n) if n > 0 else 0
        ends = math.isqrt(n - 1) + 1 if n > 1 else 1
        assert least == next((d for d in range(2, root + 1) if n % d == 0), 0)
        assert pairs == sum(n % d == 0 for d in range(1, ends))
        assert last == ends


def test_trial_division_has_32_bits():
    """Of numbers of 32 bits; of 64 bits it asks how large they are."""
    texts = [ptx_of(divisors, f"narrow ({dtype}[::1], int64[:,::1])") for dtype in ("int32", "int64")]
    assert ["rem.u64" in t or "rem.s64" in t for t in texts] == [False, True]
