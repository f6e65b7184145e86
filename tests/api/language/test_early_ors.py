"""Maxima with their places in unrolled loops whose steps are behind conditions: codegen/nvptx/branches/early_ors.c."""

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda, int32
from test_ptx import ptx_of

BAND = 11


def banded(x, rows, cols, out):
    """The greatest sum of a band along the diagonal, with its row and column."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    sums = cuda.local.array(BAND, int32)
    for k in range(BAND):
        sums[k] = 0
    best, best_row, best_col = 0, -1, -1
    for r in range(rows):
        for k in range(BAND):
            c = r + k - BAND // 2
            v = -100
            if 0 <= c < cols:
                v = max(sums[k] - 3, 0) + int(x[i, c]) * (1 + (r & 1))
            sums[k] = v
            if v > best:
                best = v
                best_row = r
                best_col = c
        if sums[0] == 77:
            break
    out[i, 0], out[i, 1], out[i, 2] = best, best_row, best_col


SIGNATURE = "narrow (uint8[:,::1], pyint, pyint, int32[:,::1])"


@needs_llc
@pytest.mark.parametrize("rows, cols", [(0, 9), (1, 1), (1, 16), (7, 16), (16, 5), (12, 12)])
def test_maxima_have_their_places(rows, cols):
    x = np.random.default_rng(rows).integers(0, 60, (8, 16), np.uint8)
    got = np.zeros((8, 3), np.int32)
    Entries(banded, SIGNATURE, 1).run((2, 1, 1), (4, 1, 1), [x, rows, cols, got], False)
    assert got.tolist() == [list(reference(line, rows, cols)) for line in x]


def reference(x, rows, cols):
    sums, best = [0] * BAND, (0, -1, -1)
    for r in range(rows):
        for k in range(BAND):
            c = r + k - BAND // 2
            sums[k] = max(sums[k] - 3, 0) + int(x[c]) * (1 + (r & 1)) if 0 <= c < cols else -100
            if sums[k] > best[0]:
                best = sums[k], r, c
        if sums[0] == 77:
            break
    return best


def test_comparisons_are_joined_where_they_are_made(monkeypatch):
    text = ptx_of(banded, SIGNATURE)
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.early_ors")
    assert text.count("or.pred") > ptx_of(banded, SIGNATURE).count("or.pred")
