"""What a shared array holds is among what is stored there (ir/interval.c), and sums of long steps add up to few turns times
the step (ir/interval_drift.c): both are computed in 32 bits where they fit, with results of 64 bits where they do not."""

import re

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from harness import run, simulate
from pyptx import cuda
from test_ptx import ptx_of


def gradients(x, out):
    """Squares of differences of bytes, kept as int16: 24 bits in all."""
    tile = cuda.shared.array((2, 66), np.int16)
    t = cuda.threadIdx.x
    for k in range(t, 66, 64):
        tile[0, k] = 4 * (int(x[k + 1]) - int(x[k]))
        tile[1, k] = 4 * (int(x[k]) - int(x[k + 2]))
    cuda.syncthreads()
    total = 0
    for i in range(2):
        for k in range(3):
            v = int(tile[i, t + k])
            total += v * v
    out[t] = np.float32(total)


def distances(x, out):
    """Differences of int16 have 17 bits, and their squares 32 without a sign: their sums do not fit."""
    sound = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x
    sound[t] = x[t]
    sound[t + 64] = x[t + 64]
    cuda.syncthreads()
    total = 0
    for k in range(64):
        d = int(sound[k]) - int(sound[k + t])
        total += d * d
    out[t] = np.float32(total)


def doubled(x, out):
    """What is stored depends on what was stored."""
    sums = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    for _ in range(40):
        sums[t] = 2 * sums[t]
    out[t] = np.float32(sums[t])


def counted(x, out):
    """Atomics are not looked into."""
    counts = cuda.shared.array(64, np.int64)
    t = cuda.threadIdx.x
    counts[t] = 1
    cuda.syncthreads()
    cuda.atomic.add(counts, t, int(x[t]) << 30)
    cuda.syncthreads()
    out[t] = np.float32(counts[t] * 3)


def add_to(values, at, n):
    values[at] += n * 2**31


def given(x, out):
    """An array that a function gets, and of which a part is taken."""
    sums = cuda.shared.array((2, 64), np.int64)
    t = cuda.threadIdx.x
    sums[0, t] = 0
    sums[1, t] = 1
    row = sums[1]
    row[t] = int(x[t]) * 2**33
    add_to(sums[0], t, int(x[t]))
    out[t] = np.float32(sums[0, t] + sums[1, t])


def products(x, out):
    """Products of int16, which the loads extend: at both ends of their type they have 31 bits."""
    t = cuda.threadIdx.x
    total = 0
    for k in range(3):
        total += int(x[t + k]) * int(x[t + k]) - int(x[t]) * int(x[t + k]) + 7 * int(x[t + k])
    out[t] = np.float32(total)


KERNELS = {gradients: "uint8", distances: "int16", doubled: "uint8", counted: "uint8", given: "int16", products: "int16"}


def ends(dtype, seed=0):
    """Numbers at both ends of the type, and some between them."""
    info, random = np.iinfo(dtype), np.random.default_rng(seed)
    return random.choice([info.min, info.max, 0, 1, info.max // 3], 128).astype(dtype)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_results(kernel):
    run(kernel, [ends(KERNELS[kernel]), np.zeros(64, np.float32)], 1, 64)


@needs_llc
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_results_of_narrow_versions(kernel):
    entries = Entries(kernel, f"narrow ({KERNELS[kernel]}[::1], float32[::1])", 2)
    for seed in range(3):
        x, expected, actual = ends(KERNELS[kernel], seed), np.zeros(64, np.float32), np.zeros(64, np.float32)
        simulate(kernel, [x, expected], 1, 64)
        entries.run((1, 1, 1), (64, 1, 1), [x, actual], False)
        np.testing.assert_array_equal(actual, expected)


def test_sums_have_32_bits():
    ptx = ptx_of(gradients, "narrow (uint8[::1], float32[::1])")
    assert "cvt.rn.f32.s64" not in ptx and re.search(r"cvt\.rn\.f32\.[su]32", ptx)


def test_distances_are_wide_products():
    ptx = ptx_of(distances, "narrow (int16[::1], float32[::1])")
    assert "cvt.rn.f32.s64" in ptx and "sub.s64" not in ptx


def test_products_of_loaded_int16_are_of_32_bits():
    ptx = ptx_of(products, "narrow (int16[::1], float32[::1])")
    assert "mul.wide.s16" not in ptx and "ld.global.s16" in ptx
