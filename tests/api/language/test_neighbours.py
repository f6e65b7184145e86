"""Taps that a loop walks down: whether a place is inside is one comparison, of numbers without a sign."""

import re

import numpy as np
from pyptx import cuda


def taps(x, weights, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for k in range(weights.size):
            j = i - k
            if 0 <= j < x.size:
                total += weights[k] * x[j]
        out[i] = total


def ptx_of(kernel, signature):
    return cuda.compile_ptx(kernel, f"narrow ({signature})", cc="sm_90", coarsen=1)[0]


def test_taps():
    rng = np.random.default_rng(1)
    x, out = rng.integers(-9, 9, 30), np.zeros(40, np.int64)
    for n in (0, 1, 3, 4, 7, 21):
        weights = rng.integers(-9, 9, n)
        cuda.jit(taps)[2, 32](x, weights, out)
        want = [sum(int(weights[k]) * int(x[i - k]) for k in range(n) if 0 <= i - k < 30) for i in range(40)]
        np.testing.assert_array_equal(out, want)


def test_an_extent_is_asked_once():
    made = ptx_of(taps, "float32[::1], float32[::1], float32[::1]")
    assert "setp.ge.u32" in made and not re.search(r"setp\.(lt|gt|ge)\.s32", made)
    assert len(re.findall(r"sub\.s32", made)) <= 4  # one for each loop over taps
