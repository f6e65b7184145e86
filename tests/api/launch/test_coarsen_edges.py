"""The last blocks of a launch in a coarsened entry (codegen/coarsen/write_entry.c): each thread runs once,
whatever is left over, and wherever the arrays end. The GPU's code on the CPU, and beside the kernel's own entry."""

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from pyptx import cuda, float32

pytestmark = needs_llc


def columns(image, weights, runs, out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        s = np.float32(0)
        for k in range(weights.size):
            s += weights[k] * image[y, min(x + k, out.shape[1] - 1)]
        out[y, x] = s
        cuda.atomic.add(runs, (y, x), 1)


def rows(image, weights, runs, out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        s = np.float32(0)
        for k in range(weights.size):
            s += weights[k] * image[min(y + k, out.shape[0] - 1), x]
        out[y, x] = s
        cuda.atomic.add(runs, (y, x), 1)


def inside(image, weights, runs, out):
    """The other side of the guard does something, too."""
    x, y = cuda.grid(2)
    if 2 <= x < out.shape[1] - 2:
        if y < out.shape[0]:
            s = np.float32(1)
            for k in range(weights.size):
                s = s * weights[k] + image[y, x - 2] + image[y, x + 2]
            out[y, x] = s
            cuda.atomic.add(runs, (y, x), 1)
    elif x < out.shape[1] and y < out.shape[0]:
        out[y, x] = image[y, x]
        cuda.atomic.add(runs, (y, x), 1)


def below(image, weights, runs, out):
    """A slanted guard behind that of the edge."""
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        if x <= y:
            s = np.float32(0)
            for k in range(weights.size):
                s += weights[k] * image[y, min(k, out.shape[1] - 1)] * image[min(x, out.shape[0] - 1), 0]
            out[y, x] = s
            cuda.atomic.add(runs, (y, x), 1)


SIGNATURE = "float32[:, ::1], float32[::1], int32[:, ::1], float32[:, ::1]"
KERNELS = [columns, rows, inside, below]


@pytest.mark.parametrize("factor", [2, 3, 4, 8])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_each_thread_runs_once(kernel, factor):
    entries = Entries(kernel, SIGNATURE, factor)
    assert entries.coarsened, entries.note
    rng = np.random.default_rng(factor)
    block = (8, 4, 1)
    for blocks in (1, factor - 1, factor, factor + 1, 2 * factor, 3 * factor - 1):
        for short in (0, 1, 7):  # threads of the last block that have nothing
            for axis in ((blocks, 2), (2, blocks)):
                width, height = 8 * axis[0] - short, 4 * axis[1] - short % 4
                image, weights = rng.random((height, width), dtype=np.float32), rng.random(5, dtype=np.float32)
                runs, out = np.zeros((height, width), np.int32), np.zeros((height, width), np.float32)
                entries.check((*axis, 1), block, image, weights, runs, out)
                entries.run((*axis, 1), block, [image, weights, runs, out], True)
                ran = np.tri(height, width, dtype=np.int32) if kernel is below else np.ones((height, width), np.int32)
                assert np.array_equal(runs, ran), (axis, short, entries.note)


def meets(x, weights, runs, out):
    """Blocks that end as a whole, and barriers."""
    part = cuda.shared.array(32, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    if row >= out.size:
        return
    s = np.float32(0)
    for k in range(weights.size):
        part[t] = weights[k] * x[t] * np.float32(row)
        cuda.syncthreads()
        s += part[31 - t]
        cuda.syncthreads()
    if t == 0:
        out[row] = s
        cuda.atomic.add(runs, row, 1)


@pytest.mark.parametrize("factor", [2, 3, 8])
def test_each_block_runs_once(factor):
    entries = Entries(meets, "float32[::1], float32[::1], int32[::1], float32[::1]", factor)
    assert entries.coarsened
    rng = np.random.default_rng(factor)
    x, weights = rng.random(32, dtype=np.float32), rng.random(3, dtype=np.float32)
    for blocks in (1, factor - 1, factor, 2 * factor + 1, 3 * factor):
        for rows in (blocks, blocks - 1):
            runs, out = np.zeros(rows, np.int32), np.zeros(rows, np.float32)
            entries.check((blocks, 1, 1), (32, 1, 1), x, weights, runs, out)
            entries.run((blocks, 1, 1), (32, 1, 1), [x, weights, runs, out], True)
            assert (runs == 1).all()
