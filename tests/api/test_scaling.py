"""Compile time grows with the size of the kernel, not with its square; bench/scaling.py shows the whole curve."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
scaling = pytest.importorskip("scaling")


@pytest.mark.parametrize(
    "source, small, large, arch",
    [
        (scaling.straight_lines, 1250, 5000, "sm_90"),
        (scaling.call_tree, 50, 200, "sm_90"),
        (scaling.straight_lines, 500, 2000, None),
        (scaling.choices, 100, 400, None),
    ],
    ids=["lines", "functions", "lines-host", "elif-host"],
)
def test_four_times_the_size_takes_four_times_as_long(source, small, large, arch):
    """Below 8 times, since times vary on a busy machine; a quadratic step gives 16."""
    times = [scaling.milliseconds(scaling.define(source(n), "kernel"), arch, 3) for n in (small, large)]
    assert times[1] < 8 * times[0]


def test_memory_is_returned():
    kernel = scaling.define(scaling.straight_lines(3000), "kernel")
    scaling.milliseconds(kernel, "sm_90", 3)
    before = scaling.resident_kib()
    scaling.milliseconds(kernel, "sm_90", 3)
    assert scaling.resident_kib() < before + 8 * 1024
