"""Updates behind elif as a branch of their own: codegen/nvptx/branches/elif_updates.c."""

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda
from test_ptx import ptx_of


def corners(x, t, out):
    """What of a row is above its middle by more than t, and below it; where."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    middle = int(x[i, 8])
    above = below = bright = dark = 0
    for k in range(8):
        d = int(x[i, k]) - middle
        if d > t:
            bright |= 1 << k
            above += d - t
        elif d < -t:
            dark |= 1 << k
            below -= d + t
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = above, bright, below, dark


def sums(x, t, out):
    """The same with the sides exchanged, and a sum that both change."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    high = low = count = 0
    for k in range(8):
        d = int(x[i, k])
        if d <= t:
            if d < 9:
                low += d
                count ^= k
        else:
            high += d + k
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = high, low, count, high - low


SIGNATURE = "narrow (uint8[:,::1], pyint, int32[:,::1])"


def expected_corners(x, t):
    d = [int(v) - int(x[8]) for v in x[:8]]
    return [sum(v - t for v in d if v > t), sum(1 << k for k, v in enumerate(d) if v > t), sum(-v - t for v in d if v < -t and v <= t),
            sum(1 << k for k, v in enumerate(d) if v < -t and v <= t)]  # fmt: skip


def expected_sums(x, t):
    high, low, count = sum(int(v) + k for k, v in enumerate(x[:8]) if v > t), sum(int(v) for v in x[:8] if v <= t and v < 9), 0
    for k, v in enumerate(x[:8]):
        count ^= k if v <= t and v < 9 else 0
    return [high, low, count, high - low]


@needs_llc
@pytest.mark.parametrize("kernel, expected", [(corners, expected_corners), (sums, expected_sums)])
@pytest.mark.parametrize("t", [-300, -3, 0, 2, 9, 300])
def test_updates(kernel, expected, t):
    x = np.random.default_rng(5).integers(0, 20, (12, 9), np.uint8)
    x[:3] = [0] * 9, [255] * 9, [255, 0] * 4 + [128]
    got = np.zeros((12, 4), np.int32)
    Entries(kernel, SIGNATURE, 1).run((3, 1, 1), (4, 1, 1), [x, t, got], False)
    assert got.tolist() == [expected(line, t) for line in x]


def test_the_second_part_selects_nothing(monkeypatch):
    text = ptx_of(corners, SIGNATURE)
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.elif_updates")
    assert text.count("selp") < ptx_of(corners, SIGNATURE).count("selp")
