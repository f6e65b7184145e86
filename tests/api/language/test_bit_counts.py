"""Counts of bits in fewer of them, with the results of CPython: whether a number of 64 bits has an odd count of ones
(codegen/nvptx/integers/parity.c), and leading bits that two codes share, or -1, in a search of doubling steps (value_ranges.c,
low_halves.c)."""

import numpy as np
import pytest
from entries_on_cpu import needs_llc
from harness import run
from pyptx import cuda
from test_guarded_places import same
from test_ptx import ptx_of


def syndrome(words, masks, out):
    i = cuda.grid(1)
    if i < words.size:
        found = 0
        for b in range(masks.size):
            found ^= (cuda.popc(words[i] & masks[b]) & 1) << b
        out[i] = found


def odd(words, out):
    i = cuda.grid(1)
    if i < words.size:
        out[i] = (cuda.popc(words[i]) ^ cuda.popc(words[i] >> np.uint64(7))) & 1


def counts(words, out):
    i = cuda.grid(1)
    if i < words.size:
        out[i] = 10 * cuda.popc(words[i]) + (cuda.popc(words[i]) & 3)


def shared_bits(codes, i, j):
    if j < 0 or j >= codes.size:
        return -1
    if codes[i] == codes[j]:
        return 32 + cuda.clz(np.uint32(i ^ j))
    return int(cuda.clz(codes[i] ^ codes[j]))


def reaches(codes, out):
    """How far the codes share more bits with the one of the thread than the neighbour on the other side does."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    direction = 1 if shared_bits(codes, i, i + 1) > shared_bits(codes, i, i - 1) else -1
    least = shared_bits(codes, i, i - direction)
    reach = 2
    while shared_bits(codes, i, i + reach * direction) > least:
        reach *= 2
    length = 0
    step = reach // 2
    while step > 0:
        if shared_bits(codes, i, i + (length + step) * direction) > least:
            length += step
        step //= 2
    out[i] = i + length * direction


def numbers_of_64_bits(n):
    rng = np.random.default_rng(5)
    few = np.array([0, 1, 1 << 31, 1 << 32, (1 << 32) + 1, 3 << 31, 2**64 - 1, 2**63, 2**64 - 2**32], np.uint64)
    return np.concatenate([few, rng.integers(0, 2**64, n - few.size, np.uint64)])


WORDS, MASKS = "uint64[::1], int32[::1]", "uint64[::1], uint64[::1], int32[::1]"
CODES = np.sort(np.random.default_rng(6).integers(0, 2**32, 150, np.uint32) >> np.uint32(27) << np.uint32(13))
CASES = {
    "syndrome": (syndrome, MASKS, [numbers_of_64_bits(96), numbers_of_64_bits(12), np.zeros(96, np.int32)]),
    "odd": (odd, WORDS, [numbers_of_64_bits(96), np.zeros(96, np.int32)]),
    "counts": (counts, WORDS, [numbers_of_64_bits(96), np.zeros(96, np.int32)]),
    "reaches": (reaches, "uint32[::1], int32[::1]", [CODES, np.zeros(149, np.int32)]),
}


@pytest.mark.parametrize("name", CASES)
def test_the_results_of_cpython(name):
    kernel, _, arguments = CASES[name]
    same(kernel, None, arguments, 1, arguments[-1].size)


@needs_llc
@pytest.mark.parametrize("name", CASES)
def test_the_results_of_cpython_by_gpu_code(name):
    kernel, signature, arguments = CASES[name]
    same(kernel, f"narrow ({signature})", arguments, 1, arguments[-1].size)


@pytest.mark.parametrize("name", ["syndrome", "odd"])
def test_a_parity_is_one_count_of_32_bits(name):
    ptx = ptx_of(CASES[name][0], f"narrow ({CASES[name][1]})")
    assert "popc.b64" not in ptx and "popc.b32" in ptx


# --- numbers without a sign that 32 bits hold (codegen/nvptx/ranges/high_bits.c)


def rings(x, out):
    """Runs in a ring of 16 bits twice side by side, a hash's numbers compared and as floats, queens on a board."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        bits = 0
        for k in range(16):
            if x[(i + k) % x.size] & (1 << k % 5):
                bits |= 1 << k
        ring = bits | bits << 16
        n = 0
        while ring:
            ring &= ring >> 1
            n += 1
            if n > 32:
                break
        out[i, 0] = n
        h = int(x[i]) & 0xFFFFFFFF
        below, total = 0, 0.0
        for _ in range(9):
            h = (h ^ h >> 15) * 0x2C1B3C6D & 0xFFFFFFFF
            h ^= h >> 12
            below += h < 0x9E3779B9
            total += h
        out[i, 1] = below
        out[i, 2] = int(total)
        columns = bits | 1
        left, right, n = columns << 8, columns << 15, 0
        for _ in range(16):
            free = ~(columns | left | right) & 0x7FFFFFFF
            bit = free & -free
            if bit == 0 or left > 0xF0000000:
                break
            columns |= bit
            left = (left | bit) << 1 & 0xFFFFFFFF
            right = (right | bit) >> 1
            n += 1
        out[i, 3] = n * 2**33 + left + right


def test_numbers_of_32_bits_without_a_sign():
    x = np.random.default_rng(3).integers(-(2**31), 2**31, 96).astype(np.int32)
    x[:8] = [0, -1, 1, 2**31 - 1, -(2**31), 31, 15, 7]
    run(rings, [x, np.zeros((96, 4), np.int64)], 3, 32)


# --- sums of 33 bits that are compared (codegen/nvptx/integers/sum_comparisons.c)


def walks(steps, far, out):
    """Places in an array that are moved by what was read, and kept in it; and sums that are compared alone."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        place, other, n = i, i, 0
        for k in range(steps.size):
            place = max(0, min(out.shape[0] - 1, place + int(steps[k])))
            other = min(max(other + int(far[(k + i) % far.size]), 0), out.shape[0] - 1)
            if place + int(far[k % far.size]) < out.shape[0]:
                n += 1
            if other + int(far[k % far.size]) >= 0:
                n += 100
            if other - 5 + int(far[(k * 3) % far.size]) == place:
                n += 10000
        out[i, 0], out[i, 1], out[i, 2] = place, other, n


def test_sums_of_33_bits():
    rng = np.random.default_rng(7)
    steps = rng.integers(-128, 128, 21).astype(np.int8)
    far = np.r_[rng.integers(-(2**31), 2**31, 9), -(2**31), 2**31 - 1, 2**31 - 40, 0, 1, 5, -1].astype(np.int32)
    run(walks, [steps, far, np.zeros((70, 3), np.int64)], 3, 32)


# --- magnitudes that loops compare (codegen/nvptx/integers/magnitudes.c)


def near(values, bounds, out):
    """How many values are so near to a thread's own one, in each order of comparison; bounds may be negative."""
    i = cuda.grid(1)
    if i < out.shape[0]:
        x, bound = int(values[i % values.size]), int(bounds[i % bounds.size])
        a = b = c = d = 0
        for k in range(values.size):
            short = int(values[k]) - x
            a += 1 if abs(short) <= bound else 0
            b += 1 if bound > abs(short) else 0
            if abs(short) > bound or abs(k - i) >= bound:
                c += 1
            if bound <= abs(short):
                d += 1
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a, b, c, d


def test_magnitudes():
    rng = np.random.default_rng(8)
    for t in (np.int16, np.int32, np.int64):
        ends = np.iinfo(t)
        half = ends.max // 2
        values = np.r_[rng.integers(-half, half, 9), -half, half, 0, 1, -1].astype(t)
        bounds = np.r_[rng.integers(-half, half, 5), 0, 1, -1, half, -half, ends.max, ends.min].astype(t)
        run(near, [values, bounds, np.zeros((70, 4), np.int64)], 3, 32)
