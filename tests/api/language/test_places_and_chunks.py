"""Places of extremes in unrolled loops, sums of chunks between barriers, and minima of 64-bit hashes over short
rows, beside NumPy.
"""

import numpy as np
import pytest
from pyptx import cuda, float32

CHUNK = 64


@cuda.jit
def last_of_the_greatest(x, begin, who):
    i = cuda.grid(1)
    if i < x.shape[1]:
        top = x[0, i]
        at = -1
        for p in range(begin, x.shape[0]):
            if x[p, i] >= top:
                top = x[p, i]
                at = p
        who[i] = at


@pytest.mark.parametrize("rows", [1, 2, 4, 5, 9, 16, 17, 33, 40])
def test_places(rows):
    x = np.random.default_rng(rows).integers(0, 7, (rows, 50)).astype(np.float32)
    who = np.zeros(50, np.int32)
    last_of_the_greatest[2, 32](x, 1, who)
    expected = np.where(x[1:].max(0, initial=-1) >= x[0], rows - 1 - x[::-1].argmax(0), -1)
    np.testing.assert_array_equal(who, expected)


@cuda.jit
def running_sums(x, y):
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    part = t >> 4
    n = x.shape[1]
    values = cuda.shared.array(CHUNK, float32)
    sums = cuda.shared.array(4, float32)
    carry = float32(0.0)
    for start in range(0, n, CHUNK):
        k = start + t
        v = float32(0.0)
        if k < n:
            v = x[row, k]
        values[t] = v
        cuda.syncthreads()
        for j in range(part * 16, t):
            v += values[j]
        if t & 15 == 15:
            sums[part] = v
        cuda.syncthreads()
        before = carry
        for w in range(4):
            if w == part:
                v += before
            before += sums[w]
        carry = before
        if k < n:
            y[row, k] = v
        cuda.syncthreads()


@pytest.mark.parametrize("n", [1, 63, 64, 65, 127, 128, 200])
def test_chunks(n):
    x = np.random.default_rng(n).integers(0, 100, (5, n)).astype(np.float32)
    y = np.zeros_like(x)
    running_sums[5, CHUNK](x, y)
    np.testing.assert_array_equal(y, np.cumsum(x, 1))


@cuda.jit
def least_hash(items, starts, factor, low):
    s = cuda.grid(1)
    if s < low.shape[0]:
        least = np.uint64(0xFFFFFFFFFFFFFFFF)
        for k in range(starts[s], starts[s + 1]):
            h = (items[k] * factor + np.uint64(12345)) >> 3
            if h < least:
                least = h
        low[s] = least


def test_hashes():
    rng = np.random.default_rng(1)
    starts = np.concatenate([[0], np.cumsum(np.arange(40))]).astype(np.int32)  # rows of 0 to 39
    items = rng.integers(0, 2**63, starts[-1], dtype=np.uint64)
    factor, low = np.uint64(0x9E3779B97F4A7C15), np.zeros(40, np.uint64)
    least_hash[2, 32](items, starts, factor, low)
    hashes = (items * factor + np.uint64(12345)) >> np.uint64(3)
    expected = [min(hashes[a:b].tolist(), default=2**64 - 1) for a, b in zip(starts, starts[1:])]
    assert low.tolist() == expected
