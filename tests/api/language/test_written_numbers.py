"""Numbers read from text, or -1 (codegen/nvptx/integers/small_numbers.c); positions beside a pixel (low_halves.c); overlaps with
nan (extremes.c)."""

import numpy as np
import pytest
from pyptx import cuda


def digits(text, at, count):
    value = 0
    for k in range(count):
        c = int(text[at + k]) - 48
        if c < 0 or c > 9:
            return -1
        value = value * 10 + c
    return value


def day(text, at):
    """The days from 1970 to a year, month and day in digits, the lowest number if one is none."""
    year = digits(text, at, 4)
    month = digits(text, at + 4, 2)
    d = digits(text, at + 6, 2)
    if year < 0 or month < 1 or month > 12 or d < 1:
        return -(2**63)
    if month <= 2:
        year -= 1
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + d - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def days(text, starts, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = day(text, int(starts[i]))


def beside(image, offsets, out):
    """The sum of the pixels at offsets from each, turned by its place."""
    x, y = cuda.grid(2)
    rows, cols = image.shape
    if y >= rows or x >= cols:
        return
    total = 0
    for k in range(offsets.shape[0]):
        dx = int(offsets[k, 0])
        dy = int(offsets[k, 1])
        if (x + y) & 1:
            dx, dy = -dy, dx
        xx = x + dx
        yy = y + dy
        if xx < 0 or xx >= cols or yy < 0 or yy >= rows:
            continue
        total += int(image[yy, xx])
    out[y, x] = total


def overlaps(boxes, out):
    """The areas that a box has in common with the others, added up."""
    i = cuda.grid(1)
    if i >= boxes.shape[0]:
        return
    left, top, right, bottom = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3]
    total = np.float32(0)
    for k in range(boxes.shape[0]):
        w = min(right, boxes[k, 2]) - max(left, boxes[k, 0])
        h = min(bottom, boxes[k, 3]) - max(top, boxes[k, 1])
        if w > 0 and h > 0:
            total += w * h
    out[i] = total


def run(kernel, grid, block, *arguments):
    cuda.jit(kernel)[grid, block](*arguments)
    cuda.synchronize()


def test_days():
    texts = [b"19700101", b"00000101", b"00010228", b"99991231", b"20240229"]
    texts += [b"2x240229", b"20241329", b"2024022:", b"00000229"]
    text = np.frombuffer(b"".join(texts), np.uint8).copy()
    starts = np.arange(len(texts), dtype=np.int32) * 8
    starts[-1] -= text.size  # from the end: an index that is negative
    out = np.zeros(len(texts), np.int64)
    run(days, 1, 32, text, starts, out)
    assert out.tolist() == [day(text, int(s)) for s in starts]


def test_beside():
    rng = np.random.default_rng(5)
    image = rng.integers(0, 1000, (9, 13)).astype(np.uint16)
    low = np.iinfo(np.int32)
    far = [(low.min, 0), (0, low.min), (low.max, low.max), (low.min, low.min), (low.max, -3)]
    offsets = np.concatenate([rng.integers(-4, 5, (20, 2)), np.array(far)]).astype(np.int32)
    out = np.zeros((9, 13), np.int64)
    run(beside, (1, 2), (16, 8), image, offsets, out)
    for y in range(9):
        for x in range(13):
            pairs = [(-b, a) if (x + y) & 1 else (a, b) for a, b in offsets.tolist()]
            inside = [(x + a, y + b) for a, b in pairs if 0 <= x + a < 13 and 0 <= y + b < 9]
            assert out[y, x] == sum(int(image[v, u]) for u, v in inside)


@pytest.mark.parametrize("place", [None, 0, 1, 2, 3])
def test_overlaps(place):
    rng = np.random.default_rng(7)
    corner = rng.random((40, 2))
    boxes = np.concatenate([corner, corner + rng.random((40, 2)) / 2], 1).astype(np.float32)
    if place is not None:
        boxes[5, place] = np.nan
        boxes[9, 3 - place] = np.nan
    out = np.zeros(40, np.float32)
    run(overlaps, 2, 32, boxes, out)
    want = np.zeros(40, np.float32)
    for i, (left, top, right, bottom) in enumerate(boxes):
        total = np.float32(0)
        for b in boxes:
            w = min(right, b[2]) - max(left, b[0])
            h = min(bottom, b[3]) - max(top, b[1])
            if w > 0 and h > 0:
                total += w * h
        want[i] = total
    np.testing.assert_allclose(out, want, 1e-5)
