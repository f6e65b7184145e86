"""Clipped windows, and images of few columns, in which they have few places a row (codegen/ssa/thin_versions.c)."""

import numpy as np
import pytest
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
@pytest.mark.parametrize("mode", ["narrow ", ""], ids=["narrow", "wide"])
def test_images_of_any_width(mode):
    rng = np.random.default_rng(9)
    of_any = Entries(erode, f"{mode}(uint8[:,::1], int64, uint8[:,::1])", 1)
    of_one = Entries(near, f"{mode}(uint8[:,::1], uint8[:,::1])", 1)
    for shape in ((7, 1), (1, 7), (1, 1), (6, 2), (5, 3), (9, 8), (3, 21)):
        image = rng.integers(0, 255, shape).astype(np.uint8)
        got = np.zeros_like(image)
        of_one.run((3, 3, 1), (8, 4, 1), [image, got], False)
        assert np.array_equal(got, eroded(image, 1)), shape
        for radius in (0, 1, 2, 3, 9, -1, -5):
            got = np.zeros_like(image)
            of_any.run((3, 3, 1), (8, 4, 1), [image, radius, got], False)
            assert np.array_equal(got, eroded(image, radius)), (shape, radius)


def test_one_question_in_front_of_both_loops(monkeypatch):
    """The other's loops are there once more, and load once; also of a radius that is known when compiling."""
    cases = [(erode, "narrow (uint8[:,::1], int64, uint8[:,::1])"), (near, "narrow (uint8[:,::1], uint8[:,::1])")]
    texts = [ptx_of(*case) for case in cases]
    monkeypatch.setenv("PYPTX_SKIP", "ssa.thin_versions")
    for text, case in zip(texts, cases):
        assert text.count("ld.global") == ptx_of(*case).count("ld.global") + 1
