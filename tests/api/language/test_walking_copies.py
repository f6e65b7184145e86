"""Loops of one thread whose indices go up from anywhere, as a decoder's copies: on the host device they have a version
without checks (host.sure_ranges). What is copied, and where it stops, is as Python says."""

import numpy as np
import pytest
from harness import CHECKED
from pyptx import cuda


@cuda.jit
def copies(parts, source, out, left):
    i = cuda.grid(1)
    p = int(parts[i, 0])
    while p < int(parts[i, 1]):
        at = int(parts[p, 2])
        to = int(parts[p, 3])
        back = int(parts[p, 4])
        stop = int(parts[p, 5])
        for k in range(int(parts[p, 6]), stop):
            out[to + k] = source[at + k]
        for k in range(0, stop, 3):
            left[to - at + k] += 1
        for _ in range(stop):
            out[to] = out[to - back] + 1
            to += 1
        for k in range(stop):
            left[2 * to + k + 1 - back] -= 1
            to += 1
        p += 1


SIZE = 40


def in_python(parts, source, out, left):
    """The part at which it ends by an index that is out of bounds, and the index; None: by no such."""
    def place(k):
        if not -SIZE <= k < SIZE:
            raise IndexError(k)
        return k

    for p, (_, _, at, to, back, stop, start, _) in enumerate(parts.tolist()):
        try:
            for k in range(start, stop):
                out[place(to + k)] = source[place(at + k)]
            for k in range(0, stop, 3):
                left[place(to - at + k)] += 1
            for _ in range(stop):
                out[place(to)] = out[place(to - back)] + 1
                to += 1
            for k in range(stop):
                left[place(2 * to + k + 1 - back)] -= 1
                to += 1
        except IndexError as error:
            return p, error.args[0]
    return None


checked = cuda.jit(**CHECKED)(copies.py_func)


def run(parts):
    parts = np.array([[0, len(parts), *part, 0] for part in parts], np.int64)
    arrays = [np.arange(SIZE), np.arange(SIZE) * 3, np.zeros(SIZE, np.int64)]
    expected = [a.copy() for a in arrays]
    failed = in_python(parts, *expected)
    if failed:
        with pytest.raises(IndexError, match=rf"index {failed[1]} is out of bounds for axis 0"):
            checked[1, 1](parts, *arrays)
    else:
        copies[1, 1](parts, *arrays)
        for a, b in zip(arrays, expected):
            assert (a == b).all()
    return failed


@pytest.mark.parametrize("seed", range(4))
def test_copies_that_stay_inside(seed):
    """Some begin at negative indices, which count from the end, and go up to others; some copy nothing."""
    rng, done = np.random.default_rng(seed), []
    while len(done) < 60:
        part = [*rng.integers(-SIZE, SIZE, 2), *rng.integers(-9, 9, 2), rng.integers(-3, 3)]
        one = np.array([[0, 1, *part, 0]])
        if in_python(one, *np.zeros((3, SIZE), np.int64)) is None:
            done.append(part)
    assert run(done) is None


LEAST, MOST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    "part",
    [
        (0, 36, 1, 5, 0),  # out[40]
        (37, 0, 1, 4, 0),  # source[40]
        (-41, 0, 1, 4, 0),
        (0, -41, 1, 4, 0),
        (0, 0, 60, 4, 0),  # out[0 - 60]
        (0, 0, -39, 4, 0),  # out[1 + 39], in the second iteration
        (0, 0, -9, 20, 0),  # the last loop
        (MOST - 1, 0, 1, 2, 0),
        (LEAST, 0, 1, 3, 0),
        (0, MOST - 2, 1, 2, 1),
        (0, LEAST + 1, 1, 2, 1),
    ],
)
def test_copies_that_leave_an_array(part):
    before = [(0, 3, 1, 4, 0), (-5, 7, 2, 3, -2)]
    assert run([*before, part])[0] == 2


@cuda.jit(**CHECKED)
def running_maxima(ends, out, other):
    i = cuda.grid(1)
    first, last = ends[i, 0], ends[i, 1]
    for k in range(first + 1, last):
        out[k] = max(out[k], out[k - 1])
    for k in range(last - 2, first - 1, -1):
        other[k] = max(other[k], other[k + 1])


def maxima_in_python(first, last, out, other):
    """The index that is out of bounds; None: none is."""
    for values, ks, by in (out, range(first + 1, last), -1), (other, range(last - 2, first - 1, -1), 1):
        for k in ks:
            for at in k, k + by:
                if not -SIZE <= at < SIZE:
                    return at
            values[k] = max(values[k], values[k + by])
    return None


ENDS = [
    (0, SIZE), (3, 30), (5, 5), (5, 6), (30, 3), (-1, 7), (-2, 7), (-7, -1), (-SIZE, SIZE), (-SIZE - 1, 3), (0, SIZE + 1),
    (7, SIZE + 9), (SIZE - 1, SIZE), (SIZE, SIZE + 1), (2**62, 2**62 + 3), (-(2**62), 9), (1, -3), (-3, -9),
]  # fmt: skip


@pytest.mark.parametrize("first, last", ENDS)
def test_maxima_from_either_end(first, last):
    """Ranges that begin behind the first one, and that go down (the host's versions without checks)."""
    rng = np.random.default_rng(4)
    arrays = [rng.integers(0, 1000, SIZE) for _ in range(2)]
    expected = [a.copy() for a in arrays]
    ends = np.array([[first, last]])
    failed = maxima_in_python(first, last, *expected)
    if failed is not None:
        with pytest.raises(IndexError, match=rf"index {failed} is out of bounds for axis 0"):
            running_maxima[1, 1](ends, *arrays)
            cuda.synchronize()
    else:
        running_maxima[1, 1](ends, *arrays)
        cuda.synchronize()
    assert all((a == e).all() for a, e in zip(arrays, expected))


@cuda.jit(**CHECKED)
def blocks_of_rows(column, blocks, x, parts, y):
    i = cuda.grid(1)
    total = np.int64(0)
    for k in range(parts[i, 0], parts[i, 1]):
        for c in range(parts[i, 2], parts[i, 3]):
            total += blocks[k, c] * x[column[k] * 3 + c]
    y[i] = total


PARTS = [
    (0, 9, 0, 3), (4, 4, 0, 3), (0, 9, 1, 1), (-3, 2, 0, 3), (-9, 9, -3, 3), (8, 12, 0, 3), (9, 30, 3, 3), (-12, 3, 0, 3),
    (0, 9, 2, 4), (0, 9, -4, 0),
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_what_stays_the_same_in_a_loop(part):
    """Its checks are made in front of the loop, where they hold, and are not, where it has no iterations."""
    rng = np.random.default_rng(6)
    column, blocks, x = rng.integers(-4, 5, 9), rng.integers(-9, 10, (9, 3)), rng.integers(-9, 10, 15)
    first, last, begin, end = part
    sure = [k for k in range(first, last) if begin < end and not -9 <= k < 9]
    outside = [c for c in range(begin, end) if first < last and not -3 <= c < 3]
    y = np.zeros(1, np.int64)
    args = column, blocks, x, np.array([part]), y
    if sure or outside:
        axis, at = (0, sure[0]) if sure and (first == sure[0] or not outside) else (1, outside[0])
        with pytest.raises(IndexError, match=rf"index {at} is out of bounds for axis {axis} of 'blocks'"):
            blocks_of_rows[1, 1](*args)
            cuda.synchronize()
        return
    blocks_of_rows[1, 1](*args)
    cuda.synchronize()
    assert y[0] == sum(blocks[k, c] * x[column[k] * 3 + c] for k in range(first, last) for c in range(begin, end))
