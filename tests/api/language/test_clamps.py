"""Clamps to an extent, of integers shorter than an index."""

import numpy as np
from harness import run
from pyptx import cuda
from test_ptx import ptx_of


def around_points(image, points, radius, out):
    i = cuda.grid(1)
    if i < out.size:
        rows, cols = image.shape
        x, y = points[i]
        for k in range(-radius, radius + 1):
            out[i] += image[min(max(y + k, 0), rows - 1), min(cols - 1, max(x - k, 0))]


def test_clamps_of_small_integers_are_not_wrapped():
    """A clamp in int32 is a cast of it as an index."""
    image, points = (np.arange(63) * 37 % 251).reshape(7, 9).astype(np.uint8), (np.arange(40) * 7 % 15 - 4).reshape(20, 2).astype(np.int32)
    for radius in (0, 2, 12):
        run(around_points, [image, points, radius, np.zeros(20, np.int32)], 1, 32)
    assert "min.u32" not in ptx_of(around_points, "narrow (uint8[:, ::1], int32[:, ::1], pyint, int32[::1])")
