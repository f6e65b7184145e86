"""Coarsened kernels that stop: the message names index, thread and block of the launch as written, whichever copy stopped, and arrays get what
they get without copies. On the host device, which has no copies, the kernels are the same; tests/api/language/test_ptx_on_cpu.py runs this
file by the GPU's code."""

import numpy as np
import pytest
from pyptx import cuda

CHECKED = {"coarsen": 4, "debug": True}


@cuda.jit(**CHECKED)
def along_x(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 1


@cuda.jit(**CHECKED)
def by_block(x, out):
    i = cuda.blockIdx.x
    out[i, cuda.threadIdx.x] = x[i] + cuda.threadIdx.x


@cuda.jit(**CHECKED)
def along_y(x, out):
    i, j = cuda.grid(2)
    if j < out.shape[1]:
        out[i, j] = x[i, j] + x[i, j + 1]


@cuda.jit(**CHECKED)
def behind_a_write(x, out):
    i = cuda.grid(1)
    out[i] = 1
    out[i] += x[i]


@cuda.jit(**CHECKED)
def on_paths(x, out):
    i = cuda.grid(1)
    if out[i] > 0:
        out[i] = x[2 * i]


@cuda.jit(**CHECKED)
def in_a_loop(x, out):
    i = cuda.grid(1)
    total = 0
    for k in range(out.size):
        total += x[k, i] * out[k]
    x[0, i] = total


@cuda.jit(**CHECKED)
def by_assert(x, out):
    i = cuda.grid(1)
    value = x[i]
    assert value >= 0, "negative"
    out[i] = value


def ones(*shape):
    return np.ones(shape, np.int64)


def stopped(kernel, config, *arrays):
    """(block, thread, what the message says of it); None if nothing stops."""
    given = [cuda.to_device(a) for a in arrays]
    try:
        kernel[config](*given)
        cuda.synchronize()
    except (IndexError, AssertionError) as error:
        text = str(error)
    else:
        text = None
    after = [a.copy_to_host() for a in given]
    return text, after


def place(text):
    words = text[text.index("in thread (") :].split("\n")[0]
    thread, block = (tuple(map(int, part.split(")")[0].split(", "))) for part in words.split("(")[1:3])
    return block, thread


@pytest.mark.parametrize("size", [1, 63, 64, 65, 127, 130, 200, 255])
def test_along_x(size):
    """Blocks of 32, 8 of them: the only thread that stops is in each copy once, and in the loop of the last block."""
    x, out = ones(256), ones(256)
    text, after = stopped(along_x, (8, 32), x[:size], out[: size + 1])
    block, thread = place(text)
    assert f"index {size} is out of bounds" in text and 32 * block[0] + thread[0] == size, text
    assert thread[0] < 32 and (block[1:], thread[1:]) == ((0, 0), (0, 0))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 9])
def test_by_block(rows):
    text, after = stopped(by_block, (rows + 1, 32), ones(rows), np.zeros((rows + 1, 32), np.int64))
    block, thread = place(text)
    assert block == (rows, 0, 0) and thread[0] < 32, text
    assert f"index {rows} is out of bounds" in text


@pytest.mark.parametrize("columns", [2, 3, 7, 8, 9, 15, 17])
def test_neighbouring_threads(columns):
    """Two dimensions, copies along y: index columns of x is read by the threads of the last column alone."""
    text, _ = stopped(along_y, ((2, 5), (4, 4)), ones(8, columns), ones(8, columns))
    block, thread = place(text)
    assert 4 * block[1] + thread[1] == columns - 1 and max(thread) < 4, text
    assert f"{columns} is out of bounds" in text


def test_behind_a_write():
    text, after = stopped(behind_a_write, (4, 32), ones(70), np.zeros(128, np.int64))
    block, thread = place(text)
    index = 32 * block[0] + thread[0]
    assert 70 <= index < 128 and f"index {index} is out of bounds" in text
    assert set(after[1].tolist()) <= {0, 1, 2} and (after[1][70:] <= 1).all()


def test_on_paths_that_copies_take_by_themselves():
    out = np.zeros(128, np.int64)
    out[[3, 40, 99]] = 1
    text, after = stopped(on_paths, (4, 32), np.arange(100), out)
    block, thread = place(text)
    assert (block[0], thread[0]) == (3, 3) and "index 198 is out of bounds" in text, text
    text, after = stopped(on_paths, (4, 32), np.arange(256), out)
    assert text is None and after[1].tolist() == [2 * i if i in (3, 40, 99) else 0 for i in range(128)]


def test_in_a_loop():
    text, _ = stopped(in_a_loop, (4, 32), ones(5, 128), ones(6))
    assert "index 5 is out of bounds for axis 0" in text
    text, after = stopped(in_a_loop, (4, 32), ones(5, 128), ones(5))
    assert text is None and (after[0][0] == 5).all()


@pytest.mark.parametrize("at", [0, 31, 32, 64, 100, 127])
def test_an_assertion(at):
    x = np.arange(128)
    x[at] = -1
    text, _ = stopped(by_assert, (4, 32), x, ones(128))
    block, thread = place(text)
    assert 32 * block[0] + thread[0] == at and "negative" in text, text


def test_the_next_launch_works():
    text, _ = stopped(along_x, (8, 32), ones(100), ones(256))
    assert text
    text, after = stopped(along_x, (8, 32), ones(256), np.zeros(250, np.int64))
    assert text is None and (after[1] == 2).all()
