"""Loops over lists of neighbours and over windows, as simulations and filters have them: what iterations load goes in
front of slow operations (codegen/nvptx/loads_ahead.c), tests of a row in front of all rows (codegen/ssa/outer_counters.c),
squares to what they are made of (keep_places.c). Beside plain Python; `PYPTX_DEVICE=ptx` runs the GPU's own code."""

import math

import numpy as np
import pytest
from harness import run
from pyptx import cuda


def forces(x, neighbours, cutoff, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    force = 0.0
    for k in range(neighbours.shape[0]):
        d = x[i] - x[neighbours[k, i]]
        if d * d < cutoff:
            force += 1.0 / (d * d + 0.5) - d
    out[i] = force


def forces_in_place(x, neighbours, cutoff, out):
    """The lists change as they are read: nothing may go ahead."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    force = 0.0
    for k in range(neighbours.shape[0]):
        j = neighbours[k, i]
        d = x[i] - x[j]
        if d * d < cutoff:
            force += 1.0 / (d * d + 0.5)
            neighbours[k + 1 if k + 1 < neighbours.shape[0] else 0, i] = i
    out[i] = force


@pytest.mark.parametrize("kernel", [forces, forces_in_place])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 8, 11])
def test_lists_of_neighbours(kernel, count):
    rng = np.random.default_rng(count)
    n = 37
    neighbours = rng.integers(-n, n, (count, n)).astype(np.int32)
    run(kernel, (rng.normal(size=n), neighbours, 0.8, np.zeros(n)), grid=2, block=32)


def window(x, centre, first, stop, radius, out):
    """Of (y - centre) ** 2 + (k - radius) ** 2 all bits count, also where that takes more than 32."""
    i = cuda.grid(1)
    total = 0.0
    for y in range(first + i, stop + i):
        for k in range(max(0, i - radius), min(x.size, i + radius + 1)):
            total += x[k] * float((y - centre) * (y - centre) + (k - i) * (k - i))
    out[i] = total


def window_falling(x, centre, first, stop, radius, out):
    i = cuda.grid(1)
    total = 0.0
    for y in range(first + i, stop + i, 3):
        for k in range(max(0, i - radius), min(x.size, i + radius + 1)):
            total += x[k] * float((centre - y) * (centre - y) + (k - i) * (k - i))
    out[i] = total


@pytest.mark.parametrize("kernel", [window, window_falling])
@pytest.mark.parametrize(
    "centre, first, stop",
    [(5, 0, 4), (0, 32760, 32775), (40000, 0, 9), (3, 3, 3), (3, 9, 2), (-(2**30), 2**30, 2**30 + 3), (2**31, -3, 3),
     (-32767, -4, 4), (32767 + 4, 0, 9)],
)  # fmt: skip
def test_rows_of_windows(kernel, centre, first, stop):
    x = np.arange(1.0, 10.0)
    run(kernel, (x, centre, first, stop, 3, np.zeros(9)), block=9)


def arcs(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        s = math.sin(x[i])
        t = math.sin(y[i])
        out[i] = s * s + math.cos(x[i]) * math.cos(y[i]) * t * t


def test_squares_of_sines():
    rng = np.random.default_rng(0)
    # Five roundings of numbers up to 1, and sines off by a unit or two.
    run(arcs, (rng.uniform(-9, 9, 70), rng.uniform(-9, 9, 70), np.zeros(70)), grid=3, block=32, ulps=64)
