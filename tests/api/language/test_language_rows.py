"""Blocks as one long row, loops by the grid's stride, and rows of sparse matrices: what the host runs in another order than block by block."""

import numpy as np
import pytest
from harness import run, stopped
from pyptx import cuda, int64
from test_language_short_loops import times_vector

host = pytest.mark.host_only("about code for the host")


def ints(n, dtype=np.int64):
    return np.random.default_rng(n).integers(-50, 50, n).astype(dtype)


# Blocks that are neighbours along x run as one long row where only their place in the grid counts: who is named, and what is
# done at the seams between blocks, must be as block by block.


@host
@pytest.mark.parametrize("block", [8, 24, 32, 50, 100])
@pytest.mark.parametrize("size", [399, 320, 100, 33, 7])
def test_thread_of_many_blocks_is_named(block, size):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i <= x.size:
            out[i] = x[i]

    blocks = 400 // block + 1
    message = stopped(kernel, np.arange(size, dtype=np.float32), np.zeros(450, np.float32), grid=blocks, block=block)
    assert f"index {size}" in message, message
    assert f"thread ({size % block}, 0, 0) of block ({size // block}, 0, 0)" in message, message


def two_beside(x, first, last, out):
    i, j = cuda.grid(2)
    if first <= i < last and j < out.shape[0]:
        out[j, i] = x[j, i - 2] + 2 * x[j, i + 1]


@pytest.mark.parametrize("width", [1, 3, 4, 15, 16, 17, 18, 19, 31, 33, 47, 50, 64, 66])
def test_edges_of_rows(width):
    """Lanes that rest at the ends of a row are out of range: those that run are looked at."""
    x = ints(5 * width).reshape(5, width)
    for first, last in [(2, width - 1), (3, width - 2), (2, 5)]:
        last = min(last, width - 1)
        out, right = np.zeros_like(x), np.zeros_like(x)
        right[:, first:last] = x[:, first - 2 : last - 2] + 2 * x[:, first + 1 : last + 1] if first < last else 0
        cuda.jit(two_beside)[(-(-width // 32), 2), (32, 4)](x, first, last, out)
        np.testing.assert_array_equal(out, right)


@host
@pytest.mark.parametrize("width", [20, 32, 33, 37, 47, 48, 60])
def test_thread_at_an_edge_is_named(width):
    """The first thread that fails, which is neither the first nor the last that runs in its lanes."""
    x, out = ints(width).reshape(1, width), np.zeros((1, 64), np.int64)
    message = stopped(cuda.jit(two_beside), x, 2, 62, out, grid=(2, 1), block=(32, 1))
    assert f"index {width}" in message, message
    assert f"thread ({(width - 1) % 32}, 0, 0) of block ({(width - 1) // 32}, 0, 0)" in message, message


@host
@pytest.mark.parametrize("block", [(8, 4), (24, 2), (32, 8), (5, 3)])
def test_thread_in_two_dimensions_is_named(block):
    @cuda.jit
    def kernel(x, out):
        j, i = cuda.grid(2)
        out[i, j] = 1.0
        if i == 17 and j <= x.size:
            out[i, j] = x[j]

    grid = (-(-120 // block[0]), -(-40 // block[1]))
    out = np.zeros((grid[1] * block[1], grid[0] * block[0]), np.float32)
    message = stopped(kernel, np.zeros(93, np.float32), out, grid=grid, block=block)
    (bx, tx), (by, ty) = divmod(93, block[0]), divmod(17, block[1])
    assert "index 93" in message and f"thread ({tx}, {ty}, 0) of block ({bx}, {by}, 0)" in message, message


@host
def test_raise_in_a_later_block_is_named():
    @cuda.jit
    def kernel(x):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if x[i] == 7:
            raise ValueError("seven")

    x = np.zeros(40 * 20, np.int32)
    x[500] = 7
    with pytest.raises(ValueError, match="seven") as e:
        kernel[40, 20](x)
    assert "thread (0, 0, 0) of block (25, 0, 0)" in str(e.value)


@pytest.mark.parametrize("block", [(7, 5, 3), (8, 8, 8), (20, 2, 1), (40, 1, 2)])
def test_blocks_of_odd_widths_in_three_dimensions(block):
    def kernel(u, new):
        k, j, i = cuda.grid(3)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and 0 < k < u.shape[2] - 1:
            new[i, j, k] = u[i - 1, j, k] + u[i, j - 1, k] - u[i, j, k + 1] + 3 * k

    u = ints(9 * 10 * 77, dtype=np.int64).reshape(9, 10, 77)
    grid = tuple(-(-n // b) for n, b in zip((77, 10, 9), block, strict=True))
    run(kernel, [u, np.zeros_like(u)], grid, block)


@pytest.mark.parametrize("block", [8, 24, 64])
def test_parts_of_the_place_in_the_grid(block):
    def sums(out, place):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = i % 3 + (cuda.blockIdx.x * cuda.blockDim.x if place else 0)
            out[i] += cuda.threadIdx.x * 1000

    def other_widths(out, place):
        i = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x
        if i < out.size and cuda.threadIdx.x < cuda.gridDim.x:
            out[i] = i + 1

    for kernel in (sums, other_widths):
        run(kernel, [np.zeros(300, np.int64), True], 10, block)


# A loop by the grid's stride runs turn by turn for all threads of neighbouring blocks: each thread's own turns keep their order.


def by_range(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i % 96] = 3 * out[i % 96] + x[i]


def by_while(x, out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < x.size:
        out[i % 96] = 3 * out[i % 96] + x[i]
        i += cuda.gridDim.x * cuda.blockDim.x


def with_inner_loop(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        s = 0
        for k in range(i % 5):
            if x[k] > 3:
                continue
            s += k * x[i]
        out[i % 96] = 3 * out[i % 96] + s


def with_a_break(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        if x[i] > 30:
            break
        out[i % 96] = 3 * out[i % 96] + x[i]


def with_a_sum(x, out):
    s = 0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        s = 3 * s + x[i]
    out[cuda.grid(1)] = s


def read_before(x, out):
    first = out[cuda.grid(1)]
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i % 96] += first + x[i]


def written_before(x, out):
    out[cuda.grid(1)] += 5
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i % 96] = 3 * out[i % 96] + x[i]


def with_a_local_array(x, out):
    seen = cuda.local.array(4, int64)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        seen[i % 4] = x[i] + (seen[i % 4] if i >= 4 * cuda.gridsize(1) else 0)
        out[i % 96] = seen[i % 4]


def another_stride(x, out):
    for i in range(cuda.grid(1), x.size, 2 * cuda.gridsize(1)):
        out[i % 96] = 3 * out[i % 96] + x[i]


def with_a_guard(x, out):
    if cuda.grid(1) % 3 == 1:
        return
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i % 96] = 3 * out[i % 96] + x[i]


@pytest.mark.parametrize("size", [0, 5, 96, 97, 1000])
@pytest.mark.parametrize("block", [8, 12, 24, 96])
@pytest.mark.parametrize(
    "kernel",
    [
        by_range, by_while, with_inner_loop, with_a_break, with_a_sum, read_before, written_before, with_a_local_array,
        another_stride, with_a_guard,
    ],
)  # fmt: skip
def test_turns_by_the_stride_of_the_grid(kernel, block, size):
    run(kernel, [ints(size) if size else np.zeros(0, np.int64), np.arange(96)], 96 // block, block)


@pytest.mark.parametrize("n", [-5, 0, 50, 700])
def test_turns_up_to_a_number(n):
    def kernel(x, n, out):
        i = cuda.grid(1)
        while i < n:
            out[i % 96] = 3 * out[i % 96] + x[i]
            i += cuda.gridsize(1)

    run(kernel, [ints(700), n, np.arange(96)], 8, 12)


@host
@pytest.mark.parametrize("block", [8, 24, 96])
def test_thread_of_a_later_turn_is_named(block):
    @cuda.jit
    def kernel(x, out):
        for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
            out[i] = 1
            if i <= x.size:
                out[i] = x[i]

    message = stopped(kernel, np.zeros(777), np.zeros(2000), grid=96 // block, block=block)
    assert "index 777" in message, message
    assert f"thread ({777 % 96 % block}, 0, 0) of block ({777 % 96 // block}, 0, 0)" in message, message


# What runs thread by thread, as rows of a sparse matrix do: its indices are compared first, and may yet count from the end.


def sparse_arguments(column, rows=37):
    start = np.concatenate([[0], np.cumsum(np.arange(rows) % 7)])
    value = ints(start[-1], np.float32)
    return [start, column[: start[-1]], value, ints(50, np.float32), np.zeros(rows, np.float32)]


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.uint64])
@pytest.mark.parametrize("shift", [0, -20, -107])
def test_sparse_rows(dtype, shift):
    column = np.random.default_rng(5).integers(0, 50, 200)
    if shift and np.dtype(dtype).kind == "i":
        column = np.maximum(column * 2 + shift, -50) % 50 - 50 * (column % 2)
    arguments = sparse_arguments(column.astype(dtype))
    if shift == -20:  # rows of which some begin before 0
        arguments[0] = arguments[0] - 30
    run(times_vector, arguments, 3, 16)


@host
@pytest.mark.parametrize("wrong", [50, 1000, -51, -(2**40), 2**62])
def test_wrong_column_is_named(wrong):
    column = np.arange(200) % 50
    column[[40, 41]] = -1, wrong
    arguments = sparse_arguments(column)
    row = int(np.searchsorted(arguments[0], 41, side="right")) - 1
    message = stopped(cuda.jit(times_vector), *arguments, grid=3, block=16)
    assert f"index {wrong} " in message and f"thread ({row % 16}, 0, 0) of block ({row // 16}, 0, 0)" in message, message


@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("dtype", [np.float64, np.int8])
def test_rows_of_constant_columns(width, dtype):
    """A loop over rows of which all columns up to some are read has a version for rows of just so many (codegen/ssa/range_versions.c)."""
    def kernel(points, cells, limit, out):
        row = cuda.grid(1)
        if row < out.shape[0]:
            s, last = 0.0, 0
            j = points.shape[0] - 1
            for k in range(points.shape[0]):
                if points[k, 0] > limit[row]:
                    s += points[k, 0] * 2 + points[j, 1]
                    last = k
                j = k
            for k in range(row, cells.shape[0]):
                s += cells[k, 0, 0] + cells[k, 1, 1] * 3 + cells[k, 0, 1] - cells[k, 1, 0]
                if s > 90:
                    continue
                s -= cells[-k, 1, 0] + points[k % points.shape[0], 1]
            out[row, 0] = s
            out[row, 1] = last

    rng = np.random.default_rng(width)
    points, cells = rng.integers(-8, 9, (13, width)).astype(dtype), rng.integers(-8, 9, (21, 2, width)).astype(dtype)
    out = run(kernel, [points, cells, rng.integers(-8, 9, 30).astype(dtype), np.zeros((30, 2))], 1, 32)[-1]
    assert (out[:, 0] != 0).sum() > 20 and out[:, 1].max() > 5


def test_rows_that_a_warp_has_in_common():
    """threadIdx.y chooses the row: rounds of eight without masks, and what is left over (nvptx/loops/masked_unroll.c)."""

    def kernel(starts, columns, values, dense, out):
        col, row = cuda.grid(2)
        if row < out.shape[0] and col < out.shape[1]:
            total = 0
            for k in range(starts[row], starts[row + 1]):
                total += values[k] * dense[columns[k], col]
            out[row, col] = total

    lengths = np.r_[0:27, 0, 40, 1]
    starts = np.r_[0, np.cumsum(lengths)].astype(np.int32)
    columns = np.random.default_rng(5).integers(-9, 9, starts[-1]).astype(np.int32)  # some count from the end
    args = [starts, columns, ints(starts[-1]), ints(9 * 37).reshape(9, 37), np.zeros((30, 37), np.int64)]
    run(kernel, args, (2, 8), (32, 4))
    starts[3] = -2  # and so do the rows around it
    run(kernel, args, (2, 8), (32, 4))


def test_rows_that_a_loop_around_counts():
    """Rows of unequal length, the same in all threads that are there: a GPU has no masks for rounds of eight."""

    def kernel(x, weights, lengths, out):
        i = cuda.grid(1)
        if i < x.size:
            most, which = -1000, -1
            for m in range(lengths.size):
                n = lengths[m]
                if i + n <= x.size:
                    total = 0
                    for k in range(n):
                        total += weights[m, k, x[i + k]]
                    if total > most:
                        most, which = total, m
            out[i, 0], out[i, 1] = most, which

    lengths = np.r_[5, 0:27, 40, 1, 9].astype(np.int32)
    x = np.random.default_rng(7).integers(0, 3, 75).astype(np.uint8)
    run(kernel, [x, ints(31 * 40 * 3).reshape(31, 40, 3), lengths, np.zeros((75, 2), np.int64)], 3, 32)


@pytest.mark.parametrize("dtype", [np.float64, np.uint8, np.int64])
@pytest.mark.parametrize("width", range(1, 12))
def test_windows_that_read_neighbours(width, dtype):
    """What an iteration reads one or two before have read (codegen/nvptx/loops/masked_form.c)."""

    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            s, t, u = 0.0, 0.0, 0
            for k in range(max(i - width, 1), min(i + width, x.size - 2)):
                d = float(x[k + 1]) - float(x[k - 1])
                s += d * d + float(x[k + 2])
                t += (float(y[i, k]) - float(x[k])) * d / (1 + abs(s))
                u += int(x[k])
            out[i, 0], out[i, 1], out[i, 2] = s, t, u

    x, y = (np.random.default_rng(width).integers(0, 99, n).astype(dtype) for n in (50, (45, 50)))
    run(kernel, [x, y, np.zeros((45, 3))], 2, 32)


@pytest.mark.parametrize("width", range(1, 19))
def test_rows_as_long_in_a_loop_around(width):
    """Each thread has some rows, all as long: what is left over asks how many there are, in each row anew."""

    def kernel(a, b, scale, out):
        t = cuda.threadIdx.x
        most = -1
        for j in range(t, a.shape[0], 16):
            total = 0
            for c in range(a.shape[1]):
                total += b[c] * a[j, c]
            out[j] = total * scale
            most = max(most, total)
        out[a.shape[0] + t] = most

    run(kernel, [ints(50 * width).reshape(50, width), ints(width), 3, np.zeros(66, np.int64)], 1, 16)


def column_sums(x, out):
    """Each thread's column: on a GPU one address that moves from row to row (codegen/nvptx/memory/row_pointers.c)."""
    col = cuda.grid(1)
    if col < x.shape[1]:
        total = lost = x.dtype.type(0)
        for row in range(x.shape[0]):
            value = x[row, col]
            new = total + value
            if abs(total) >= abs(value):
                lost += (total - new) + value
            else:
                lost += (value - new) + total
            total = new
        out[0, col], out[1, col] = total, lost


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 40, 100])
def test_sums_of_columns(rows, dtype):
    x = (np.random.default_rng(rows).normal(size=(rows, 37)) * 2.0 ** np.arange(-18, 19)).astype(dtype)
    out, want = np.zeros((2, 37), dtype), np.zeros((2, 37), dtype)
    for value in x:
        new = want[0] + value
        want[1] += np.where(abs(want[0]) >= abs(value), (want[0] - new) + value, (value - new) + want[0])
        want[0] = new
    cuda.jit(column_sums, fma=False)[2, 32](x, out)
    np.testing.assert_array_equal(out, want)


def test_the_address_of_a_column_moves():
    ptx = cuda.compile_ptx(column_sums, "narrow (float32[:,::1], float32[:,::1])", cc="sm_90", coarsen=1)[0]
    loop = ptx[ptx.index("nounroll") : ptx.index("bra", ptx.index("nounroll"))]
    assert loop.count("ld.global") == 16 and "mul" not in loop and "mad" not in loop
