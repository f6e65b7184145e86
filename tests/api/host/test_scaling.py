"""Compile time grows with the size of the kernel, not with its square; bench/scaling.py shows the whole curve."""

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "bench"))
scaling = pytest.importorskip("scaling")
shapes = pytest.importorskip("scaling_shapes")


@pytest.mark.parametrize(
    "shape, large, arch",
    [
        (shapes.straight_lines, 5000, "sm_90"),
        (shapes.call_tree, 200, "sm_90"),
        (shapes.loops, 320, "sm_90"),
        (shapes.choices, 800, "sm_90"),
        (shapes.straight_lines, 2000, None),
        (shapes.choices, 400, None),
        (shapes.loop_of_lines, 800, None),
        (shapes.one_block, 1600, None),
        (shapes.whiles, 240, None),
    ],
    ids=lambda v: v.__name__ if callable(v) else v or "host",
)
def test_eight_times_the_size_takes_about_eight_times_as_long(shape, large, arch):
    """Below the power 1.5 of the size, halfway to a quadratic step's 64 times. What else runs on the machine only ever adds to a
    time, so the best of each size counts, and a bad moment is given some rounds to pass."""
    small, large = (scaling.define(shape(n), "kernel") for n in (large // 8, large))
    best = [math.inf, math.inf]
    for _ in range(8):
        best = [min(b, scaling.milliseconds(k, arch, 2)) for b, k in zip(best, (small, large), strict=True)]
        if best[1] < 8**1.5 * best[0]:
            break
    assert best[1] < 8**1.5 * best[0]


def test_memory_is_returned():
    kernel = scaling.define(shapes.straight_lines(3000), "kernel")
    scaling.milliseconds(kernel, "sm_90", 3)
    before = scaling.resident_kib()
    scaling.milliseconds(kernel, "sm_90", 3)
    assert scaling.resident_kib() < before + 8 * 1024
