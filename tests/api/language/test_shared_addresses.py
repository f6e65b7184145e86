"""Accesses behind several conditions whose addresses are constants apart: the address is computed once (codegen/nvptx/memory/shared_addresses.c)."""

import re

import numpy as np
from pyptx import cuda


def mean_inside(image, radius, out):
    """The mean of those neighbours in a row that there are."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        total = np.float32(0)
        count = 0
        for d in range(-radius, radius + 1):
            x = col + d
            if x < 0 or x >= image.shape[1]:
                continue
            total += image[row, x]
            count += 1
        out[row, col] = total / count


def edges(image, out):
    """The sum of an element's neighbours above, below, left and right, weighted."""
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row < rows and col < cols:
        total = 10 * image[row, col]
        if row > 0:
            total -= image[row - 1, col]
        if col > 1:
            total += 3 * image[row, col - 2]
        if col < cols - 1:
            total -= 2 * image[row, col + 1]
        if row + 1 < rows:
            total += image[row + 1, col]
        out[row, col] = total


def ranks(x, y, counts):
    """Pairs of one order, of two, and ties."""
    i = cuda.grid(1)
    if i < x.size:
        for j in range(i):
            if (x[i] < x[j] and y[i] < y[j]) or (x[i] > x[j] and y[i] > y[j]):
                counts[i, 0] += 1
            elif x[i] == x[j] or y[i] == y[j]:
                counts[i, 1] += 1
            else:
                counts[i, 2] += 1


def window(image, row, col, radius):
    return image[row, max(col - radius, 0) : col + radius + 1]


def test_borders():
    image = np.random.default_rng(0).integers(0, 100, (9, 70)).astype(np.float32)
    for radius in (0, 1, 3, 80):
        out = np.zeros_like(image)
        cuda.jit(mean_inside)[(3, 3), (32, 4)](image, radius, out)
        want = [[np.float32(window(image, r, c, radius).sum()) / np.float32(window(image, r, c, radius).size) for c in range(70)] for r in range(9)]
        np.testing.assert_array_equal(out, np.array(want, np.float32))


def test_neighbours():
    image = np.random.default_rng(1).integers(0, 100, (6, 40)).astype(np.int32)
    out, want = np.zeros_like(image), 10 * image
    cuda.jit(edges)[(2, 2), (32, 4)](image, out)
    want[1:] -= image[:-1]
    want[:-1] += image[1:]
    want[:, 2:] += 3 * image[:, :-2]
    want[:, :-1] -= 2 * image[:, 1:]
    np.testing.assert_array_equal(out, want)


def test_ranks():
    x, y = np.random.default_rng(2).integers(0, 9, (2, 50)).astype(np.int32)
    counts = np.zeros((50, 3), np.int64)
    cuda.jit(ranks)[2, 32](x, y, counts)
    signs = np.sign(x[:, None] - x) * np.sign(y[:, None] - y)
    before = np.tri(50, k=-1, dtype=bool)
    np.testing.assert_array_equal(counts, np.stack([((signs == s) & before).sum(1) for s in (1, 0, -1)], 1))


def test_one_address_for_all_taps():
    made = cuda.compile_ptx(mean_inside, "narrow (float32[:,::1], int64, float32[:,::1])", cc="sm_90", coarsen=1)[0]
    bases = re.findall(r"ld\.global\.b32.*\[(%rd\d+)\+\d+\]", made)
    assert max(map(bases.count, bases), default=0) == 7  # eight taps at once, one of them at the address itself
