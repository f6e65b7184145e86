"""Loops that ask by what they do not change, or are left at both ends (codegen/nvptx/loops/exit_latches.c,
integers/loop_bounds.c, floats/extremes.c), sums behind conditions, and loops over local arrays, beside plain Python.
`PYPTX_DEVICE=ptx` runs the GPU's own code.
"""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, float32, uint32

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("fill", ["numbers", "nans"])
def test_a_loop_that_is_left_by_what_it_does_not_change(fill):
    def kernel(starts, losses, attachments, limits, totals, ceded):
        year, layer = cuda.grid(2)
        if layer >= ceded.shape[0] or year >= ceded.shape[1]:
            return
        paid = float32(0)
        for k in range(starts[year], starts[year + 1]):
            paid += min(max(losses[k] - attachments[layer], 0), limits[layer])
            if paid >= totals[layer]:
                paid = totals[layer]
                break
        ceded[layer, year] = paid

    starts = np.cumsum([0, *RNG.integers(0, 9, 30)]).astype(np.int32)
    starts[7] = starts[6] - 2  # a year without any
    losses = RNG.integers(-3, 40, starts[-1]).astype(np.float32)
    attachments, limits, totals = (np.array(v, np.float32) for v in ([0, 10, -0.0, 5], [20, 5, 0, 9], [60, 11, 1, 0]))
    if fill == "nans":
        losses[::5] = np.nan
        attachments[1] = limits[2] = totals[0] = np.nan
    run(kernel, [starts, losses, attachments, limits, totals, np.zeros((4, 30), np.float32)], (2, 2), (16, 2))


def test_bounds_of_64_bits():
    """Far beyond what the number can be, next to it, and within it, with a condition that is asked too."""
    def kernel(bounds, flags, out):
        i = cuda.grid(1)
        if i >= bounds.size:
            return
        bound, flag = bounds[i], flags[i] != 0
        state = uint32(i + 1)
        below = above = most = least = both = 0
        for k in range(50):
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            x, y = state >> 29, int(state >> 28) - 8
            if x < bound:
                below += 1
            if y > bound:
                above += 1
            if y <= bound:
                most += 1
            if bound <= x:
                least += 1
            if flag and y < bound:
                both += 1
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = below, above, most, least, both

    ends = [-(2**63), -(2**32), -(2**31) - 1, -(2**31), -9, -8, -7, -1, 0, 1, 5, 7, 8, 9, 2**31, 2**32 + 3, 2**63 - 1]
    bounds = np.repeat(np.array(ends, np.int64), 2)
    run(kernel, [bounds, np.arange(bounds.size) % 2, np.zeros((bounds.size, 5), np.int64)], 2, 32)


@pytest.mark.parametrize("low, high", [(-2, 3), (np.nan, 3), (-2, np.nan), (np.nan, np.nan), (3, -2), (-np.inf, np.inf)])
def test_clamps_by_numbers_from_in_front_of_a_loop(low, high):
    def kernel(x, low, high, out):
        i = cuda.grid(1)
        if i >= out.shape[0]:
            return
        total = float32(0)
        for k in range(x.shape[1]):
            v = min(max(x[i, k], low), high)
            w = x[i, k] if x[i, k] > low else low
            out[i, 2 + k] = v
            total += v + w
        out[i, 0] = total
        out[i, 1] = max(x[i, 0] - x[i, 1], 0) + min(0, x[i, 0] + x[i, 2])

    x = RNG.integers(-6, 7, (20, 5)).astype(np.float32)
    x[::3, 1], x[1::4, 2], x[2, :], x[5, :2] = np.nan, np.inf, -np.inf, np.inf
    run(kernel, [x, np.float32(low), np.float32(high), np.zeros((20, 7), np.float32)], 1, 32)


def test_sums_behind_conditions():
    """At the ends of int8 and of uint16, of more terms than are added up at once."""
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i >= out.shape[0]:
            return
        n = sa = sb = saa = sab = 0
        for k in range(i % 7, a.size):
            x, y = int(a[k]), int(b[k])
            if x < 0 or y == i:
                continue
            n += 1
            sa += x
            sb += y
            saa += x * x
            sab += x * y
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = n, sa, sb, saa, sab

    a = RNG.choice(np.array([-128, -1, 0, 1, 127], np.int8), 101)
    b = RNG.choice(np.array([0, 1, 65535], np.uint16), 101)
    run(kernel, [a, b, np.zeros((40, 5), np.int64)], 2, 32)


@pytest.mark.parametrize("side", [0, 1, 2, 3, 7, 18, 19])
def test_loops_over_local_arrays(side):
    def kernel(x, out):
        i = cuda.grid(1)
        if i >= out.shape[0]:
            return
        seen = cuda.local.array(361, np.uint8)
        words = cuda.local.array(361, np.int32)
        for k in range(x.shape[0] * x.shape[1]):
            seen[k] = i
        for k in range(x.shape[0] * x.shape[1]):
            words[k] = k - i
        for k in range(1, x.shape[0]):
            seen[k * x.shape[1] - 1] += k
        total = 0
        best = 1 << 30
        where = -1
        for k in range(x.shape[0] * x.shape[1]):
            total = 3 * total + seen[k] + words[k] & 0xFFFFFF
            rank = x[k // x.shape[1], k % x.shape[1]]
            if rank < best:
                best, where = rank, k
        out[i, 0], out[i, 1], out[i, 2] = total, best, where

    x = RNG.integers(-(2**31), 2**31, (side, side)).astype(np.int32)
    run(kernel, [x, np.zeros((9, 3), np.int64)], 1, 32)
