"""Choices by a number: values and ways of a switch as comparisons (codegen/nvptx/branches/switches.c); counts of shifts and
products of sums as indices in loops with conditions."""

import numpy as np
from pyptx import cuda, float32
from test_ptx import ptx_of


def step(c):
    if c == ord("(") or c == ord("[") or c == ord("{"):
        return 1
    if c == ord(")") or c == ord("]") or c == ord("}"):
        return -1
    return 0


def steps(text, out):
    i = cuda.grid(1)
    if i < text.size:
        out[i] = step(text[i])


def near(x, out):
    """Many numbers near each other, in two runs of which one is far away; others are left as they are."""
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        if v == -3 or v == -1 or v == 1 or v == 3 or v == 5 or v == 7 or v == 8 or v == 9 or v == 70 or v == 71:
            v = 100
        out[i] = v


def word(text, starts, ends):
    """Where the word behind a start ends."""
    i = cuda.grid(1)
    if i < starts.size:
        k = starts[i]
        while k < text.size:
            c = text[k]
            if c == 32 or c == 10 or c == 9 or c == 44 or c == 46 or c == 0:
                break
            k += 1
        ends[i] = k


def masks(x, y, out):
    """The bits of those of up to 64 pairs behind a thread's own that have a larger x and a smaller y."""
    tile = cuda.shared.array((64, 2), float32)
    t = cuda.threadIdx.x
    count = min(64, x.size)
    if t < count:
        tile[t, 0] = x[t]
        tile[t, 1] = y[t]
    cuda.syncthreads()
    mask = np.uint64(0)
    for k in range(count):
        if k <= t:
            continue
        if tile[k, 0] > tile[t, 0] and tile[k, 1] < tile[t, 1]:
            mask |= np.uint64(1) << k
    out[t] = mask


def shifts(counts, out):
    i = cuda.grid(1)
    if i < counts.size:
        n = int(counts[i])
        out[i, 0] = np.uint64(1) << n
        out[i, 1] = np.uint64(2**64 - 1) >> n
        out[i, 2] = np.uint64(3) << (n & 0xFF)


def test_steps():
    text = np.arange(256).astype(np.uint8)
    out = np.full(256, 9, np.int32)
    cuda.jit(steps)[2, 128](text, out)
    cuda.synchronize()
    assert out.tolist() == [step(c) for c in range(256)]
    assert "brx" not in ptx_of(steps, "uint8[::1], int32[::1]", "sm_90")


def test_near():
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        x = np.arange(-100, 120).astype(dtype)
        edges = [np.iinfo(dtype).min, np.iinfo(dtype).max]
        x = np.concatenate([x, np.array(edges, dtype)])
        out = np.zeros(x.size, np.int64)
        cuda.jit(near)[2, 128](x, out)
        cuda.synchronize()
        some = (-3, -1, 1, 3, 5, 7, 8, 9, 70, 71)
        want = [100 if v in some else v for v in x.tolist()]
        assert out.tolist() == want, dtype


def test_words():
    rng = np.random.default_rng(3)
    text = rng.choice(np.frombuffer(b"abc, .\n\tdef!-+", np.uint8), 500)
    starts = rng.integers(0, 500, 200)
    ends = np.zeros_like(starts)
    cuda.jit(word)[2, 128](text, starts, ends)
    cuda.synchronize()
    stops = np.isin(text, list(b" \n\t,.\0"))
    want = [next((k for k in range(s, 500) if stops[k]), 500) for s in starts.tolist()]
    assert ends.tolist() == want
    assert "brx" not in ptx_of(word, "uint8[::1], int64[::1], int64[::1]", "sm_90")


def test_masks():
    for n in (64, 61, 3):
        rng = np.random.default_rng(n)
        x, y = rng.random((2, n), dtype=np.float32)
        out = np.zeros(n, np.uint64)
        cuda.jit(masks)[1, n](x, y, out)
        cuda.synchronize()
        want = [sum(1 << k for k in range(t + 1, n) if x[k] > x[t] and y[k] < y[t]) for t in range(n)]
        assert out.tolist() == want


def test_shifts():
    for dtype in (np.int32, np.int64, np.uint8):
        top = np.iinfo(dtype).max
        some = [0, 1, 31, 32, 33, 63, 64, 65, 100, min(top, 2**32), min(top, 2**32 + 5)]
        counts = np.array(some, np.int64).astype(dtype)
        out = np.zeros((counts.size, 3), np.uint64)
        cuda.jit(shifts)[1, 32](counts, out)
        cuda.synchronize()
        for n, row in zip(counts.tolist(), out.tolist()):
            low = n & 0xFF
            want = [(1 << n) % 2**64 if n < 64 else 0, (2**64 - 1) >> n if n < 64 else 0, (3 << low) % 2**64]
            assert row == want, (dtype, n)
