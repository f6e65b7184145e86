"""Minima and maxima that begin with a number that may be nan (codegen/nvptx/floats/extremes.c), beside plain Python."""

import numpy as np
import pytest
from pyptx import cuda, float32

ROWS = 60


def windows(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    low = high = x[i, 0]
    for j in range(max(i - 1, 0), min(i + 2, x.shape[0])):
        for k in range(max(i % 5 - 1, 0), min(i % 5 + 3, x.shape[1])):
            low = min(low, x[j, k])
            high = max(high, x[j, k])
    out[i, 0], out[i, 1] = low, min(max(x[i, 2], low), high)


def rows(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    best = x[i, 0] if i % 3 else x[i, 1]
    for k in range(2, x.shape[1]):
        if x[i, k] > best:
            best = x[i, k]
    out[i, 0] = best
    out[i, 1] = min(x[i, 4], x[i, 3], x[i, 2], x[i, 1], x[i, 0])


def running(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    before = high = x[i, 0]
    total = float32(0)
    for k in range(1, x.shape[1]):
        high = max(max(high, x[i, k]), x[i, k - 1])
        if high > before:
            total += high - before
        before = x[i, k]
    out[i, 0], out[i, 1] = high, total


def seconds(x, out):
    i = cuda.grid(1)
    if i >= x.shape[0]:
        return
    first = second = float32(99)
    most = more = float32(-np.inf)
    for k in range(x.shape[1]):
        d = x[i, k]
        if d < first:
            second = first
            first = d
        elif d < second:
            second = d
        if d > most:
            more, most = most, d
        elif d > more:
            more = d
    out[i, 0], out[i, 1] = second - first, most - more


@pytest.mark.parametrize("kernel", [windows, rows, running, seconds], ids=lambda k: k.__name__)
@pytest.mark.parametrize("share", [0, 0.3, 0.9])
def test_nans(kernel, share):
    rng = np.random.default_rng(7)
    x = rng.integers(-9, 9, (ROWS, 9)).astype(np.float32)
    x[x == 0] = np.inf
    x[rng.random(x.shape) < share] = np.nan
    mine, theirs = np.zeros((ROWS, 2), np.float32), np.zeros((ROWS, 2), np.float32)
    cuda.jit(kernel)[2, 32](x, mine)
    grid = cuda.grid
    try:
        for i in range(ROWS):
            cuda.grid = lambda _, i=i: i
            with np.errstate(all="ignore"):
                kernel(x, theirs)
    finally:
        cuda.grid = grid
    np.testing.assert_array_equal(mine, theirs)
