"""Loops between bounds that were read, of which the GPU's code runs eight rounds at once (codegen/nvptx/loops/masked_unroll.c), and accesses that go through a
matrix row by row (codegen/nvptx/memory/row_pointers.c): every number of rounds, beside plain Python. `PYPTX_DEVICE=ptx` runs the GPU's own code."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, float32

ROWS = 40


def sparse(rows=ROWS, dtype=np.int32, order=None):
    """Row i has i % 27 elements: (row starts, columns, values, vector)."""
    rng = np.random.default_rng(5)
    counts = np.arange(rows) % 27
    start = np.concatenate([[0], np.cumsum(counts)]).astype(dtype)
    n = int(start[-1])
    return start, rng.integers(0, rows, n).astype(dtype), rng.integers(-8, 9, n).astype(np.float32), rng.integers(-8, 9, rows).astype(np.float32)


def times_vector(start, column, value, x, y):
    row = cuda.grid(1)
    if row < y.size:
        acc = 0.0
        for k in range(start[row], start[row + 1]):
            acc += value[k] * x[column[k]]
        y[row] = acc


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32])
def test_a_sparse_matrix_times_a_vector(dtype):
    start, column, value, x = sparse(dtype=dtype)
    y = run(times_vector, [start, column, value, x, np.zeros(ROWS, np.float32)], 2, 32)[-1]
    assert y[0] == 0 and y[5] != 0


def test_products_are_subtracted_in_rounds_that_are_there():
    """Of float64 under a predicate, with fma as one operation (codegen/nvptx/floats/predicated.c)."""
    def kernel(start, column, value, x, y, z):
        row = cuda.grid(1)
        if row < y.size:
            less, squares = float(x[row]), 1.0
            for k in range(start[row], start[row + 1]):
                less -= value[k] * x[column[k]]
                squares -= value[k] * value[k]
            y[row] = less
            from_ = 2.0
            for j in range(row % 9):
                from_ -= x[j] * x[row - j]
            z[row] = squares * from_

    start, column, value, x = sparse()
    args = [start, column, value.astype(np.float64), x.astype(np.float64), np.zeros(ROWS), np.zeros(ROWS)]
    y, z = run(kernel, args, 2, 32)[-2:]
    assert y[0] == x[0] and y[5] != x[5] and z[5] != 0


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("radius", [0, 1, 3, 9])
def test_rows_at_clamped_columns(dtype, radius):
    """Each row has an address of its own (codegen/nvptx/prepare.c)."""
    def kernel(image, picked, radius, out):
        x, y = cuda.grid(2)
        if y < image.shape[0] and x < image.shape[1]:
            total = 0
            for i in range(y - radius, y + radius + 1):
                row = min(max(i, 0), image.shape[0] - 1)
                for j in range(x - radius, x + radius + 1):
                    total += int(image[row, min(max(j, 0), image.shape[1] - 1)])
            for k in range(picked.size):
                total = total * 3 % 1000 + int(image[y, picked[k]])
            out[y, x] = total

    image = np.random.default_rng(3).integers(0, 9, (5, 11)).astype(dtype)
    picked = np.array([-11, 10, 0, -1, 4, 7, -6, 2, 2], np.int64)
    run(kernel, [image, picked, radius, np.zeros((5, 11), np.int64)], (1, 2), (16, 4))


def test_indices_that_count_from_the_end():
    def kernel(start, x, y):
        row = cuda.grid(1)
        acc = 0
        for k in range(start[row], start[row + 1]):
            acc += x[k] * (k + 1)
        y[row] = acc

    start = np.cumsum(np.arange(24)).astype(np.int32)  # 0 … 276
    for first in (-276, -100, -3, 0):
        run(kernel, [start + np.int32(first), np.arange(276 + 30), np.zeros(23, np.int64)], 1, 23)


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_rows_that_begin_below_zero_or_end_far_away(dtype):
    """Two versions of each loop (codegen/ssa/range_versions.c): the short one is for starts of 0 or
    more, and stops that fit 32 bits."""
    def kernel(starts, stops, lane, x, sums, counts):
        t = cuda.grid(1)
        total = last = 0
        for k in range(starts[t], stops[t]):
            if -7 <= k < 6:
                total += x[t, k] + 3 * x[t, k + 1]
                x[t, k] += 1
            last = k
        sums[t, 0], sums[t, 1] = total, last
        n = 0
        for k in range(starts[t] + lane, stops[t], 4):
            if 0 <= k < 7:
                n += x[t, k] > 0
            n += 1
        counts[t] = n

    far = 2**31 if dtype == np.int64 else 2**31 - 8
    some = [(a, b) for a in (-7, -4, -1, 0, 1, 5) for b in (-7, -1, 0, 1, 4, 9, 11)]
    some += [(far + a, far + b) for a in (-4, 0) for b in (-5, -1, 0, 1, 5)] + [(-far + a, -far + b) for a in (1, 3) for b in (0, 2, 9)]
    some += [(2**62, 2**62 + 3), (-(2**62), -(2**62) + 3), (2**32 + 1, 2**32 + 5), (2**63 - 30, 2**63 - 22)] if dtype == np.int64 else []
    starts, stops = (np.array(column, dtype) for column in zip(*some))
    n = len(some)
    run(kernel, [starts, stops, 1, np.arange(7 * n).reshape(n, 7), np.zeros((n, 2), np.int64), np.zeros(n, np.int64)], 1, n)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_limits_that_are_elements(dtype):
    """They are loaded in front of the loop (codegen/ssa/condition_loads.c), but for those that it writes."""
    def kernel(x, ends, limits, out):
        i = cuda.grid(1)
        if i + 1 < ends.size:
            k = 0
            if i > 0:
                k = ends[i]
            n = 0
            while k < ends[i + 1]:
                n = (3 * n + int(x[k])) % 10007
                k += 1
            m = 0
            while m < limits[i]:
                limits[i] -= x[m]
                m += 1
            j = ends[i + 1]
            while ends[i] <= j:
                n += int(j)
                j -= 2
            out[i, 0], out[i, 1] = n, m

    x = np.arange(1, 40, dtype=np.uint8)
    ends = np.array([0, 7, 7, 30, 2, 39, -9, -3, 5, -39, 39], dtype)
    run(kernel, [x, ends, np.arange(3, 14).astype(dtype), np.zeros((10, 2), np.int64)], 1, 32)


@pytest.mark.parametrize("start", range(-19, 1, 3))
def test_rounds_on_both_sides_of_zero(start):
    def kernel(bounds, x, link, out):
        t = cuda.grid(1)
        low, last, n = 1000.0, 0.0, 0
        for k in range(bounds[t], bounds[t + 1]):
            low = min(low, x[k] + x[link[k]])
            last = x[k]
            n += 1
        out[t, 0] = low
        out[t, 1] = last
        out[t, 2] = n

    rng = np.random.default_rng(8)
    bounds = np.array([start, start + 1, start + 9, 2, 5, start, start + 18, start + 20], np.int32)
    run(kernel, [bounds, rng.random(21), rng.integers(-21, 21, 21), np.zeros((7, 3))], 1, 7)


def test_minima_that_are_no_indices():
    def kernel(bounds, more, out):
        t = cuda.grid(1)
        acc = 0
        for k in range(bounds[t], bounds[t + 1]):
            u = np.uint32(k)
            acc += min(u, np.uint32(u + more[t])) + more[t] * 0
        out[t] = acc

    run(kernel, [np.array([3, 3, 7, 30], np.int32), np.array([2**32 - 2, 5, 2**31], np.uint32), np.zeros(3, np.int64)], 1, 3)


def test_what_is_carried_from_round_to_round():
    def kernel(start, x, out):
        row = cuda.grid(1)
        low, high, last, before, count = 1000.0, -1000.0, 0.0, 0.0, 0
        hit = False
        for k in range(start[row], start[row + 1]):
            v = x[k]
            low = min(low, v)
            high = max(high, v)
            before = last
            last = v
            count += 1 if v > 0 else 2
            hit = hit or v == 3
        out[row, 0] = low
        out[row, 1] = high
        out[row, 2] = last
        out[row, 3] = before
        out[row, 4] = count
        out[row, 5] = hit

    start, _, value, _ = sparse()
    run(kernel, [start, value, np.zeros((ROWS, 6), np.float32)], 2, 20)


def test_the_counter_behind_the_loop():
    def kernel(start, x, out):
        row = cuda.grid(1)
        k = start[row]
        acc = 0.0
        while k != start[row + 1]:
            acc += x[k]
            k += 1
        out[row] = acc + k

    start, _, value, _ = sparse()
    run(kernel, [start, value, np.zeros(ROWS, np.float32)], 2, 20)


def test_loads_behind_loads():
    def kernel(start, link, x, out):
        row = cuda.grid(1)
        acc = 0.0
        for k in range(start[row], start[row + 1]):
            acc = acc * 2 + x[link[link[link[k] % 5 + start[row]] % 7]] % 4
        out[row] = acc

    start, column, _, x = sparse()
    start[:] = np.minimum(start, column.size - 8)
    run(kernel, [start, column, x, np.zeros(ROWS, np.float32)], 2, 20)


def test_chains_that_wait_for_each_other():
    def kernel(start, link, out):
        row = cuda.grid(1)
        at = row
        for _ in range(start[row], start[row + 1]):
            at = link[at]
        out[row] = at

    start, _, _, _ = sparse()
    link = np.random.default_rng(3).permutation(ROWS).astype(np.int32)
    run(kernel, [start, link, np.zeros(ROWS, np.int32)], 2, 20)


def test_divisors_of_rounds_that_are_not_there():
    def kernel(start, x, out):
        row = cuda.grid(1)
        acc = 0
        for k in range(start[row], start[row + 1]):
            acc += 1000 // x[k] + 77 % x[k]
        out[row] = acc

    start, column, _, _ = sparse()
    run(kernel, [start, column + 1, np.zeros(ROWS, np.int64)], 2, 20)


def test_loops_with_branches_and_stores():
    def kernel(start, x, y, out):
        row = cuda.grid(1)
        acc = 0.0
        for k in range(start[row], start[row + 1]):
            if x[k] > 0:
                acc += y[row] / x[k]
        for k in range(start[row], start[row + 1]):
            x[k] = acc
        out[row] = acc

    start, _, value, x = sparse()
    run(kernel, [start, value, x, np.zeros(ROWS, np.float32)], 2, 20)


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 4, 7, 8, 9, 33])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_a_matrix(rows, order):
    def kernel(m, out):
        t = cuda.grid(1)
        x = float32(t)
        near, total = float32(1000), float32(0)
        for p in range(m.shape[0]):
            d = abs(x - m[p, 0]) + m[p, 1] * m[p, 2]
            near = min(near, d)
            if d < 5:
                total += d * m[p, 3]
            total += m[p, t % 4] + m[p, -1]
        out[t, 0] = near
        out[t, 1] = total

    m = np.asarray(np.random.default_rng(2).integers(-5, 6, (rows, 5)), np.float32, order=order)
    run(kernel, [m, np.zeros((8, 2), np.float32)], 2, 4)


@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_rows_from_elsewhere_in_steps(step):
    def kernel(m, first, last, out):
        t = cuda.grid(1)
        acc = 0
        for p in range(first, last, step):
            acc = acc * 3 + m[p, t] - m[p - 2, t + 1] + m[p + 1, 0]
        out[t] = acc

    m = np.random.default_rng(2).integers(-50, 51, (40, 6))
    for first, last in ((2, 38), (5, 5), (3, 4), (2, 35), (-30, -3)):
        bounds = (first, last) if step > 0 else (last - 1, first - 1)
        run(kernel, [m, *bounds, np.zeros(5, np.int64)], 1, 5)


def test_products_of_matrices():
    def kernel(a, b, c):
        i, j = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            acc = float32(0)
            for k in range(a.shape[1]):
                acc += a[i, k] * b[k, j]
            c[i, j] = acc

    rng = np.random.default_rng(9)
    for depth in (0, 1, 7, 8, 9, 31):
        a, b = (rng.integers(-4, 5, s).astype(np.float32) for s in ((6, depth), (depth, 5)))
        run(kernel, [a, b, np.zeros((6, 5), np.float32)], (2, 2), (4, 4))


def nested(bounds, x, out):
    t = cuda.grid(1)
    acc = 0.0
    for j in range(bounds[t], bounds[t + 1]):
        for k in range(bounds[j % 8], bounds[j % 8 + 1]):
            acc = acc * 0.5 + x[k]
        if acc > 3:
            acc -= x[j]
    out[t] = acc


def left_early(bounds, x, out):
    t = cuda.grid(1)
    acc = 0.0
    for k in range(bounds[t], bounds[t + 1]):
        if x[k] > 0.97:
            break
        acc += x[k]
    else:
        acc = -acc
    out[t] = acc


def where_least(bounds, x, out):
    t = cuda.grid(1)
    least, at = 1e30, -1
    for k in range(bounds[t], bounds[t + 1]):
        if x[k] < least:
            least = x[k]
            at = k
    out[t] = at


def turning(bounds, x, out):
    t = cuda.grid(1)
    z, p, q = -0j, 0.0, 1.0
    for k in range(bounds[t], bounds[t + 1]):
        z = z * 1j + x[k]
        p, q = q, p + x[k]
        p = p if x[k] < 0.5 else q
    out[t] = z.real - z.imag + p - 3 * q


def from_a_local_array(bounds, x, out):
    t = cuda.grid(1)
    own = cuda.local.array(8, np.int32)
    for k in range(8):
        own[k] = (k * 5 + t) % 8
    acc = 0.0
    for k in range(bounds[t], bounds[t + 1]):
        acc += x[own[k & 7]] + own[own[k & 7]]
    out[t] = acc


def with_specials(bounds, x, out):
    t = cuda.grid(1)
    acc = -0.0
    for k in range(bounds[t], bounds[t + 1]):
        acc += -0.0 if x[k] < 0.6 else np.nan if x[k] > 0.99 else -np.inf if x[k] > 0.95 else -0.0
    out[t] = acc


@pytest.mark.parametrize("opt", [1, 3])
@pytest.mark.parametrize("kernel", [nested, left_early, where_least, turning, from_a_local_array, with_specials])
def test_loops_of_other_shapes(kernel, opt):
    bounds = np.cumsum([0, 0, 1, 7, 8, 9, 15, 16, 17, 20, 3, 0, 12]).astype(np.int32)
    run(kernel, [bounds, np.random.default_rng(3).random(160), np.zeros(12)], 1, 12, opt=opt)


def within_cells(starts, points, near, out):
    t = cuda.grid(1)
    x, y, z = points[t, 0], points[t, 1], points[t, 2]
    total = float32(0)
    for c in range(max(t - 2, 0), min(t + 3, starts.size - 1)):
        for k in range(starts[c], starts[c + 1]):
            dx, dy, dz = x - points[k, 0], y - points[k, 1], z - points[k, 2]
            r = dx * dx + dy * dy + dz * dz
            if r < near:
                w = near - r
                total += w * w * w
    out[t] = total


@pytest.mark.parametrize("columns", [3, 4])
def test_much_that_is_computed_in_cells(columns):
    """Four rounds at once, whose registers begin with 0 in front of each row."""
    counts = np.array([0, 1, 3, 4, 5, 0, 7, 8, 9, 2, 17, 6])
    starts = np.r_[0, np.cumsum(counts)].astype(np.int32)
    points = np.random.default_rng(8).integers(-4, 5, (starts[-1], columns)).astype(np.float32)
    out = run(within_cells, [starts, points, np.float32(40), np.zeros(16, np.float32)], 1, 16)[-1]
    assert len(set(out.tolist())) > 8


@pytest.mark.parametrize("coarsen", [1, 4])
def test_constants_as_large_as_integers(coarsen):
    """Bytes of such an index are beyond 64 bits: the compiler's own arithmetic wraps, as addresses do. Nothing is read there."""

    def kernel(m, rows, x, out):
        i = cuda.grid(1)
        acc = x[i]
        for p in range(rows):
            acc += m[p, 2**62] + m[p + 1, 2**62 + 2**61] + m[p + 2, 2**63 - 1]
        if rows > 0:
            acc += x[i + 2**62] + x[i + (2**63 - 1)] + x[i + 2**62 + 2**61]
        out[i] = acc

    run(kernel, [np.zeros((4, 3)), 0, np.arange(8.0), np.zeros(8)], 2, 4, coarsen=coarsen)


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
def test_the_gpus_code_has_no_loop_for_the_rest(one_entry):
    def kernel(start, value, y):
        row = cuda.grid(1)
        acc = 0.0
        for k in range(start[row], start[row + 1]):
            acc += value[k]
        y[row] = acc

    ptx = cuda.compile_ptx(kernel, "void(int32[::1], float32[::1], float32[::1])", cc="sm_90", coarsen=1)[0]
    # the bounds, eight rounds, and a loop for rows that begin below 0
    assert ptx.count("ld.global.b32") == 2 + 8 + 1 and ptx.count("nounroll") == 2 and ptx.count("setp.lt.u32") + ptx.count("setp.gt.u32") >= 7


FAR = [0, 1, -1, -7, -(2**31), 2**31 - 1, 2**31, -(2**31) - 1, 2**40, -(2**40), 2**32 + 3, 2**63 - 1, -(2**63)]


def test_positions_that_a_loop_moves_on():
    """In 32 bits on a GPU (codegen/nvptx/integers/short_indices.c): they are indices, which may count from the end, but bounds may be any number."""
    def kernel(text, start, end, least, out):
        row = cuda.grid(1)
        if row < start.size:
            i, stop, found = start[row], end[row], 0
            while i < stop:
                c = text[i]
                i += 1
                if c > 5:
                    if i < stop and text[i] > 3 and i != least[row]:
                        found += 100
                    i += 2
                found += int(c)
            out[row, 0] = i
            out[row, 1] = found

    rng = np.random.default_rng(8)
    n = 40
    starts, ends = rng.integers(-n, n, 100), rng.integers(-n, n, 100)
    far = np.array(FAR)
    empty = [(a, b) for a in FAR for b in FAR if a >= b]
    starts = np.r_[starts, rng.integers(-n, n, far.size), [a for a, _ in empty]]
    ends = np.r_[np.minimum(ends, n - 2), np.where(far > 0, -n + 9, far), [b for _, b in empty]]
    least = np.resize(np.r_[far, rng.integers(-n, n, 50)], starts.size)
    out = run(kernel, [rng.integers(0, 10, n).astype(np.uint8), starts, ends, least, np.zeros((starts.size, 2), np.int64)], 4, 128)[-1]
    assert (out[:, 1] > 100).sum() > 20


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_positions_of_a_search(dtype):
    """From the front, and from the back to beyond the front: all of them are read once and more. 0.1 s."""
    def kernel(x, value, out):
        t = cuda.grid(1)
        if t < value.size:
            i, j = 0, x.size - 1
            while x[i] < value[t]:
                i += 1
            while x[j] > value[t]:
                j -= 1
            k = i - 1 if i > 0 else 0
            while x[k + 1] != value[t] and x[k] < value[t]:
                k += 1
            m = 0
            while x[m + 2] < value[t]:
                m += 1
            out[t, 0], out[t, 1], out[t, 2], out[t, 3] = i, j, k, m

    x = np.array([3, 1, 7, 5, 9, 2, 8, 9], dtype)
    run(kernel, [x, np.array([1, 3, 5, 7, 8, 9], dtype), np.zeros((6, 4), np.int64)], 1, 32)
    run(kernel, [np.r_[x[::-1], 9].astype(dtype), np.array([9, 8, 7, 5, 3], dtype), np.zeros((5, 4), np.int64)], 1, 32)


@pytest.mark.parametrize("step", [1, 3, -2])
def test_positions_by_what_the_iteration_saw(step):
    """Steps that differ from path to path, downwards too, and a jump that is not a constant."""
    def kernel(kind, start, out):
        row = cuda.grid(1)
        if row < start.size:
            i, n = start[row], 0
            while n < 12:
                k = kind[i]
                n += 1
                if k == 0:
                    i += step
                elif k == 1:
                    i -= 1
                elif k == 2:
                    break
            j, seen = start[row], 0
            while seen < 5:
                j = (j + kind[j]) % kind.size
                seen += 1
            out[row] = 1000 * i + 10 * n + j

    rng = np.random.default_rng(4)
    kind = rng.choice([0, 0, 0, 1, 2, 3], 200).astype(np.int64)
    run(kernel, [kind, rng.integers(-120, 120, 64), np.zeros(64, np.int64)], 1, 64)


def test_answers_that_are_constants_on_each_way():
    """Conditions that are yes or no on each of many ways to one place are bits of one number (codegen/nvptx/prepare.c)."""
    def kernel(text, out):
        i = cuda.grid(1)
        if i < text.size:
            c = text[i]
            letter, lower, digit, more = False, False, False, 0
            if 97 <= c < 123:
                letter, lower = True, True
            elif 65 <= c < 91:
                letter = True
            elif 48 <= c < 58:
                digit = True
            elif c >= 0xC0:
                letter, more = True, 2
            n = 0
            while letter and n < more:
                n += 1
            out[i] = (8 if letter and not lower else 4) + (2 if digit or lower else 0) + n * 16

    run(kernel, [np.arange(256, dtype=np.uint8), np.zeros(256, np.int32)], 2, 128)


# --- loops that count by a sum (codegen/nvptx/loops/sum_counters.c)


def some_cells(firsts, lasts, starts, x, width, out):
    """Sums of the lists of some cells of a row each."""
    i = cuda.grid(1)
    if i < out.size:
        row, total = i * width, 0
        for k in range(firsts[i], lasts[i]):
            cell = row + k
            for j in range(starts[cell], starts[cell + 1]):
                total += x[j]
        out[i] = total


@pytest.mark.parametrize("width", [1, 2, 9])
def test_cells_of_rows(width):
    rng = np.random.default_rng(width)
    counts = rng.integers(0, 12, ROWS * width)
    starts = np.r_[0, np.cumsum(counts)].astype(np.int32)
    x = rng.integers(0, 99, counts.sum()).astype(np.int64)
    firsts, lasts = rng.integers(0, width + 1, ROWS).astype(np.int32), rng.integers(-1, width + 1, ROWS).astype(np.int32)
    want = [x[starts[i * width + a] : starts[i * width + b]].sum() if a < b else 0 for i, (a, b) in enumerate(zip(firsts, lasts, strict=True))]
    out = cuda.device_array(ROWS, np.int64)
    cuda.jit(some_cells)[2, 32](*map(cuda.to_device, (firsts, lasts, starts, x)), width, out)
    assert (out.copy_to_host() == want).all()


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
def test_cells_are_counted(monkeypatch):
    """The loop over the cells of a row has no addition of its own for their numbers."""
    signature = "narrow (int32[::1], int32[::1], int32[::1], int64[::1], int64, int64[::1])"
    ptx = cuda.compile_ptx(some_cells, signature, cc="sm_90", coarsen=1)[0]
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.sum_counters")
    assert ptx != cuda.compile_ptx(some_cells, signature, cc="sm_90", coarsen=1)[0]


# --- what comes back after a few iterations (codegen/nvptx/loops/alternating.c)


def in_turns(a, n, out):
    """A flag, a state of three, the rests of a counter, two numbers that change places."""
    i = cuda.grid(1)
    if i < out.size:
        x, y, z = i, 1, 2
        across, state, left, right = True, 0, 3, 5
        for k in range(1, n):
            v = a[k]
            if across:
                x = x * 3 + v
            else:
                y = (y ^ v) + k
            across = not across
            if state == 1:
                z += x
            state = 0 if state == 2 else state + 1
            if k % 3 == 2:
                z ^= y
            x += left
            if left < right:
                y -= v
            left, right = right, left
        out[i] = x * 31 + y * 7 + z


def until_one(a, out):
    """Of unknown length, with a way out in the middle."""
    i = cuda.grid(1)
    if i < out.size:
        x, turn, n = a[i], 2, 0
        while x > 1:
            if turn == 2:
                x = x // 2 if x % 2 == 0 else 3 * x + 1
            elif x % 7 == 0:
                break
            else:
                x -= turn
            turn = 5 if turn == 2 else 7 if turn == 5 else 2
            n += 1
        out[i] = n * 1000 + x


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 7, 12, 13, 40])
def test_turns(n):
    a = np.random.default_rng(n).integers(-9, 9, 40).astype(np.int32)
    run(in_turns, [a, n, np.zeros(ROWS, np.int64)], 2, 32)


def test_turns_of_unknown_length():
    run(until_one, [np.arange(ROWS, dtype=np.int64), np.zeros(ROWS, np.int64)], 2, 32)


@pytest.mark.skipif(cuda.get_current_device().is_host is False, reason="of the compiler alone")
def test_turns_are_unrolled(monkeypatch):
    """Three copies, of which each has its own side of the branch."""
    signature = "narrow (int64[::1], int64[::1])"
    ptx = cuda.compile_ptx(until_one, signature, cc="sm_90")[0]
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.alternating")
    assert ptx != cuda.compile_ptx(until_one, signature, cc="sm_90")[0]


# --- decoders, whose stores go behind the loads of the next iterations (codegen/nvptx/memory/late_stores.c)


def decoded(words, out):
    """Where each iteration reads is made of what the one before has read; now and then it reads more."""
    i = cuda.grid(1)
    if i < out.shape[1]:
        at = i
        for j in range(out.shape[0]):
            v = words[at & 63]
            at += v & 31
            if v > 100:
                v += words[(at + 1) & 63]
            out[j, i] = v * 3


def rewritten(words, out):
    """It stores to what it reads, too."""
    if cuda.grid(1) == 0:
        at = 0
        for j in range(words.size):
            v = words[at & 63]
            at += v & 31
            words[j] = v + j
            out[j] = v ^ at


def looked_up(words, out):
    """By numbers that no memory is read for."""
    i = cuda.grid(1)
    if i < out.shape[1]:
        x, half = i, 0.5
        for j in range(out.shape[0]):
            x = (x * 5 + 1) & 63
            half = half * 1.5 if half < 1 else half - 0.7
            out[j, i] = words[x] + (words[7] if half > 1 else 1)


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 17])
def test_decoders(rows):
    words = np.random.default_rng(rows).integers(0, 200, 64).astype(np.int32)
    run(decoded, [words, np.zeros((rows, ROWS), np.int32)], 2, 32)
    run(looked_up, [words, np.zeros((rows, ROWS), np.int32)], 2, 32)
    run(rewritten, [words, np.zeros(64, np.int32)], 1, 32)


def test_decoders_whose_arrays_overlap():
    for begin in (0, 1, 7, 40):
        memory = np.random.default_rng(begin).integers(0, 200, 104).astype(np.int32)
        want = memory.copy()
        at = 0
        for j in range(64):
            v = int(want[at & 63])
            at += v & 31
            want[j] = v + j
            want[begin + j] = v ^ at
        given = cuda.to_device(memory)
        cuda.jit(rewritten)[1, 32](given[:64], given[begin : begin + 64])
        np.testing.assert_array_equal(given.copy_to_host(), want)
