"""Clipped windows, and images of few columns, in which they have few places a row (codegen/ssa/thin_versions.c)."""

import numpy as np
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda
from test_ptx import ptx_of


def erode(image, radius, out):
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        darkest = image[row, col]
        for y in range(max(row - radius, 0), min(row + radius + 1, image.shape[0])):
            for x in range(max(col - radius, 0), min(col + radius + 1, image.shape[1])):
                darkest = min(darkest, image[y, x])
        out[row, col] = darkest


def near(image, out):
    """The same of a radius of 1."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        darkest = image[row, col]
        for y in range(max(row - 1, 0), min(row + 2, image.shape[0])):
            for x in range(max(col - 1, 0), min(col + 2, image.shape[1])):
                darkest = min(darkest, image[y, x])
        out[row, col] = darkest


def eroded(image, radius):
    rows, cols = image.shape
    got = image.copy()
    for row in range(rows):
        for col in range(cols):
            part = image[max(row - radius, 0) : max(row + radius + 1, 0), max(col - radius, 0) : max(col + radius + 1, 0)]
            got[row, col] = min(part.min(initial=255), image[row, col])
    return got


@needs_llc
def test_images_of_any_width():
    rng = np.random.default_rng(9)
    for mode in ("narrow ", ""):
        entries = Entries(erode, f"{mode}(uint8[:,::1], int64, uint8[:,::1])", 1)
        for shape in ((7, 1), (1, 7), (1, 1), (6, 2), (5, 3), (9, 8), (3, 21)):
            image = rng.integers(0, 255, shape).astype(np.uint8)
            for radius in (0, 1, 2, 3, 9, -1, -5):
                got = np.zeros_like(image)
                entries.run((3, 3, 1), (8, 4, 1), [image, radius, got], False)
                assert np.array_equal(got, eroded(image, radius)), (mode, shape, radius)


def test_a_radius_known_when_compiling_asks_for_nothing(monkeypatch):
    """How many places such a window has is known; the other's loops are there once more."""
    cases = [(erode, "narrow (uint8[:,::1], int64, uint8[:,::1])"), (near, "narrow (uint8[:,::1], uint8[:,::1])")]
    texts = [ptx_of(*case) for case in cases]
    monkeypatch.setenv("PYPTX_SKIP", "ssa.thin_versions")
    without = [ptx_of(*case) for case in cases]
    assert texts[1] == without[1]
    assert texts[0].count("ld.global") == without[0].count("ld.global") + 1
