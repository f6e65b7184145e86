"""Kernels whose guards and checks a row of threads asks once on the host device (codegen/host/inner_rows.c): what runs at
the ends of rows, between them, and where a check fails, must be what runs thread by thread.
"""

import numpy as np
import pytest
from harness import jit, run, stopped
from pyptx import cuda

host = pytest.mark.host_only("about code for the host")


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("columns", [1, 2, 3, 16, 17, 18, 33, 47, 64, 100])
@pytest.mark.parametrize("block", [(32, 2), (16, 4), (5, 3)], ids=str)
def test_stencils(columns, block):
    """The grid ends with the array, or behind it by whole vectors."""

    def kernel(u, v, w):
        j, i = cuda.grid(2)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            v[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - w[i, j]

    u = numbers(5, columns)
    for more in (0, 1, 40):
        grid = (-(-(columns + more) // block[0]), -(-5 // block[1]))
        run(kernel, (u, np.zeros_like(u), u.copy()), grid, block)


@pytest.mark.parametrize("first", [-(2**62), -40, -17, -1, 0, 3, 2**62])
@pytest.mark.parametrize("last", [-(2**63), -5, 0, 1, 20, 50, 2**63 - 1])
def test_guards_of_any_kind(first, last):
    """Positions that begin anywhere, each comparison, either operand, from one end or from both."""

    def below(first, last, u, v):
        j, i = cuda.grid(2)
        if i < u.shape[0] and j < u.shape[1] and j + first < last and i != 1:
            v[i, j] += 2 * u[i, j]

    def between(first, last, u, v):
        j, i = cuda.grid(2)
        if i < u.shape[0] and j < u.shape[1] and first - 1 <= j + first and last >= first + j:
            v[i, j] += 3 * u[i, j]

    def above(first, last, u, v):
        j, i = cuda.grid(2)
        if not (i >= u.shape[0] or j >= u.shape[1] or last > j + first or j == 20):
            v[i, j] += 5 * u[i, j]

    def apart(first, last, u, v):
        j, i = cuda.grid(2)
        if i < u.shape[0] and j < u.shape[1] and j + first != last and j != 3 and j + first > last:
            v[i, j] += 7 * u[i, j]

    u = numbers(3, 75)
    for kernel in (below, between, above, apart):
        run(kernel, (np.int64(first), np.int64(last), u, np.ones_like(u)), (3, 2), (32, 2))


def test_checks_behind_other_conditions():
    """Checks that a part of the threads comes to; the others of a vector are inner ones or not."""

    def kernel(u, v):
        j, i = cuda.grid(2)
        if i < u.shape[0] and j < u.shape[1]:
            here = u[i, j]
            if j > 0:
                here += u[i, j - 1]
            if j + 1 < u.shape[1] and here > 50:
                here += u[i, j + 1]
            if i > 0:
                here -= u[i - 1, j]
            v[i, j] = here

    for columns in (1, 15, 16, 64, 90):
        u = numbers(4, columns)
        run(kernel, (u, np.zeros_like(u)), (3, 2), (32, 2))


@pytest.mark.parametrize("before, behind", [(1, 1), (20, 0), (0, 20), (16, 16), (3, 40), (40, 3), (70, 70)])
def test_neighbours_far_away(before, behind):
    """Inner threads are few, or none, and begin or end within vectors."""

    def kernel(u, v):
        j, i = cuda.grid(2)
        if i < u.shape[0] and j < u.shape[1]:
            here = u[i, j]
            if j >= before:
                here += 2 * u[i, j - before]
            if j < u.shape[1] - behind:
                here += 3 * u[i, j + behind]
            v[i, j] = here

    for columns in (1, 17, 25, 36, 48, 90):
        u = numbers(4, columns)
        run(kernel, (u, np.zeros_like(u)), (-(-columns // 5), 2), (5, 3))
        run(kernel, (u, np.zeros_like(u)), (3, 2), (32, 2))


@pytest.mark.parametrize("columns", [1, 4, 5, 20, 36, 64])
def test_short_loops(columns):
    """Two points to either side, by a loop."""

    def kernel(u, v):
        j, i = cuda.grid(2)
        if 2 <= i < u.shape[0] - 2 and 2 <= j < u.shape[1] - 2:
            total = u[i, j]
            for r in range(1, 3):
                total += r * (u[i - r, j] + u[i + r, j] + u[i, j - r] + u[i, j + r])
            v[i, j] = total

    u = numbers(7, columns)
    run(kernel, (u, np.zeros_like(u)), (3, 4), (32, 2))


def test_in_place():
    """A thread's element is read and written by it alone, once."""

    def kernel(matrix, k):
        j, i = cuda.grid(2)
        if k < i < matrix.shape[0] and k < j < matrix.shape[1]:
            matrix[i, j] -= matrix[i, k] / matrix[k, k] * matrix[k, j]

    for k in (0, 1, 15, 16, 30, 37):
        matrix = np.random.default_rng(k).random((38, 53)) + 1
        run(kernel, (matrix, k), (2, 5), (32, 8))


@host
@pytest.mark.parametrize("narrow", [1, 16, 40, 63, 70])
@pytest.mark.parametrize("short", [0, 1, 2])
def test_what_fails_is_named(narrow, short):
    """The guard lets through what one of the arrays does not have."""

    @jit
    def kernel(u, v, w):
        j, i = cuda.grid(2)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            v[i, j] = u[i, j - 1] + u[i, j + 1] + w[i - 1, j + 1]

    u = numbers(4, 72)
    v, w = np.zeros((4 - short, 72)), np.zeros((4, narrow))
    threads = [(i, j) for i in (1, 2) for j in range(1, 71) if j + 1 >= narrow or i >= v.shape[0]]
    if not threads:
        kernel[(3, 2), (32, 2)](u, v, w)
        cuda.synchronize()
        return
    message = stopped(kernel, u, v, w, grid=(3, 2), block=(32, 2))
    assert "out of bounds" in message, message
    firsts = {i: min(j for row, j in threads if row == i) for i, _ in threads}  # whose block is first, nobody knows
    named = [f"thread ({j % 32}, {i % 2}, 0) of block ({j // 32}, {i // 2}, 0)" for i, j in firsts.items()]
    assert any(text in message for text in named), message
