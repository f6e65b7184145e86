"""Small local arrays, which the GPU's code keeps in registers (codegen/nvptx/locals/local_unroll.c, local_registers.c), and those that stay in memory
(local_space.c): results beside plain Python, and what the PTX has. `PYPTX_DEVICE=ptx` runs the GPU's own code."""

import re

import numpy as np
import pytest
from harness import run
from pyptx import _pyptx, cuda, float32, float64, int8, int16, int32, int64, uint8

THREADS = 7
TYPES = {"int8": int8, "int16": int16, "int32": int32, "int64": int64, "uint8": uint8, "float32": float32, "float64": float64}


def shuffled(n, dtype, threads=THREADS, seed=1):
    """A row of small whole numbers for each thread, some of them equal."""
    return np.random.default_rng(seed).integers(0, max(2, n), (threads, n)).astype(dtype)


def ptx_of(kernel, *arrays, **options):
    signature = ", ".join(f"{a.dtype}[{', '.join([':'] * (a.ndim - 1) + ['::1'])}]" for a in arrays)
    return _pyptx._compile(kernel, signature, "nvptx", "sm_90", 0, options, "ptx")["ptx"]


def generic(ptx):
    """Loads and stores that name no space."""
    return re.findall(r"\s(?:ld|st)\.(?:v[24]\.)?[bfsu]\d+\s.*", ptx)


def in_registers(kernel, *arrays):
    ptx = ptx_of(kernel, *arrays)
    assert "__local_depot" not in ptx and not generic(ptx), ptx
    return ptx


def sorter(n, elem):
    def insertion(x, out):
        t = cuda.grid(1)
        mine = cuda.local.array(n, elem)
        for i in range(n):
            value = x[t, i]
            j = i
            while j > 0 and mine[j - 1] > value:
                mine[j] = mine[j - 1]
                j -= 1
            mine[j] = value
        for i in range(n):
            out[t, i] = mine[i]

    return insertion


@pytest.mark.parametrize("n, dtype", [(2, "float64"), (3, "int8"), (5, "float32"), (9, "int16"), (16, "int64"), (25, "uint8")])
def test_insertion(n, dtype):
    x = shuffled(n, dtype)
    x[0] = x[0][::-1]
    kernel = sorter(n, TYPES[dtype])
    got = run(kernel, [x, np.zeros_like(x)], 1, THREADS)[1]
    assert (got == np.sort(x, axis=1)).all()
    in_registers(kernel, x, x)


def test_a_sorting_network():
    n = 8

    def odd_even(x, out):
        t = cuda.grid(1)
        a = cuda.local.array(n, float32)
        for i in range(n):
            a[i] = x[t, i]
        for step in range(n):
            for i in range(step % 2, n - 1, 2):
                if a[i] > a[i + 1]:
                    a[i], a[i + 1] = a[i + 1], a[i]
        for i in range(n):
            out[t, i] = a[i]

    x = shuffled(n, "float32")
    run(odd_even, [x, np.zeros_like(x)], 1, THREADS)
    ptx = in_registers(odd_even, x, x)
    # 28 exchanges, each a comparison and two selections; branches around accesses of 16 bytes only
    assert ptx.count("selp") >= 56 and len(re.findall(r"@%p\d+ bra", ptx)) == ptx.count("ld.global.v4") == 2


def test_a_bitonic_sort_whose_steps_double():
    n = 16

    def bitonic(x, out):
        t = cuda.grid(1)
        a = cuda.local.array(n, int32)
        for i in range(n):
            a[i] = x[t, i]
        k = 2
        while k <= n:
            j = k // 2
            while j > 0:
                for i in range(n):
                    other = i ^ j
                    if other > i and (a[i] > a[other]) == ((i & k) == 0):
                        a[i], a[other] = a[other], a[i]
                j //= 2
            k *= 2
        for i in range(n):
            out[t, i] = a[i]

    x = shuffled(n, "int32")
    got = run(bitonic, [x, np.zeros_like(x)], 1, THREADS)[1]
    assert (got == np.sort(x, axis=1)).all()
    in_registers(bitonic, x, x)


def lu(n, elem):
    def eliminate(matrices, out):
        t = cuda.grid(1)
        m = cuda.local.array((n, n), elem)
        for i in range(n):
            for j in range(n):
                m[i, j] = matrices[t, i * n + j]
        for k in range(n):
            pivot = k
            for i in range(k + 1, n):
                if abs(m[i, k]) > abs(m[pivot, k]):
                    pivot = i
            if pivot != k:
                for j in range(n):
                    m[k, j], m[pivot, j] = m[pivot, j], m[k, j]
            for i in range(k + 1, n):
                m[i, k] /= m[k, k]
                for j in range(k + 1, n):
                    m[i, j] -= m[i, k] * m[k, j]
        for i in range(n):
            for j in range(n):
                out[t, i * n + j] = m[i, j]

    return eliminate


@pytest.mark.parametrize("n, dtype", [(2, "float32"), (3, "float64"), (4, "float32"), (5, "float32")])
def test_elimination_with_pivots(n, dtype):
    rng = np.random.default_rng(n)
    x = rng.uniform(-1, 1, (THREADS, n * n)).astype(dtype)
    kernel = lu(n, TYPES[dtype])
    run(kernel, [x, np.zeros_like(x)], 1, THREADS)
    in_registers(kernel, x, x)


@pytest.mark.parametrize("n", [3, 6, 8])
def test_a_triangular_factor(n):
    def cholesky(a, out):
        t = cuda.grid(1)
        lower = cuda.local.array((n, n), float64)
        for i in range(n):
            for j in range(i + 1):
                s = a[t, i * n + j]
                for k in range(j):
                    s -= lower[i, k] * lower[j, k]
                lower[i, j] = np.sqrt(s) if i == j else s / lower[j, j]
        for i in range(n):
            for j in range(i + 1):
                out[t, i * n + j] = lower[i, j]

    half = np.random.default_rng(n).uniform(-1, 1, (THREADS, n, n))
    x = (half @ half.transpose(0, 2, 1) + 3 * np.eye(n)).reshape(THREADS, -1)
    run(cholesky, [x, np.zeros_like(x)], 1, THREADS)
    in_registers(cholesky, x, x)


@pytest.mark.parametrize("reach", [1, 2])
def test_a_window_around_a_pixel(reach):
    """The bounds of the loops vary, their trip counts do not; the count goes through both loops."""

    def median(image, out):
        row, col = cuda.grid(2)
        if reach <= row < image.shape[0] - reach and reach <= col < image.shape[1] - reach:
            window = cuda.local.array((2 * reach + 1) ** 2, int32)
            count = 0
            for y in range(row - reach, row + reach + 1):
                for x in range(col - reach, col + reach + 1):
                    value = image[y, x]
                    j = count
                    while j > 0 and window[j - 1] > value:
                        window[j] = window[j - 1]
                        j -= 1
                    window[j] = value
                    count += 1
            out[row, col] = window[count // 2]

    image = np.random.default_rng(3).integers(0, 256, (8, 9), np.uint8)
    run(median, [image, np.zeros_like(image)], (2, 3), (4, 4))
    in_registers(median, image, image)


def exchange(a, i, j):
    a[i], a[j] = a[j], a[i]


def total(a, first, last):
    s = 0
    for i in range(first, last):
        s += a[i] * i
    return s


def test_arrays_that_device_functions_get():
    def kernel(x, out):
        t = cuda.grid(1)
        a = cuda.local.array(6, int64)
        for i in range(6):
            a[i] = x[t, i]
        for i in range(3):
            exchange(a, i, 5 - i)
        out[t, 0] = total(a, 1, 5)

    x = shuffled(6, "int64")
    run(kernel, [x, np.zeros_like(x)], 1, THREADS)
    in_registers(kernel, x, x)


def test_an_index_read_from_memory_into_three():
    def kernel(x, out):
        t = cuda.grid(1)
        a = cuda.local.array(3, float32)
        for i in range(3):
            a[i] = i + 1
        a[x[t, 0]] = 7
        a[x[t, 1]] += 2
        out[t, 0] = a[x[t, 2]] + 10 * a[0] + 100 * a[1]

    x = shuffled(3, "int32", threads=40)
    run(kernel, [x, np.zeros((40, 1), np.float32)], 1, 40)
    in_registers(kernel, x, np.zeros((40, 1), np.float32))


def test_places_that_selections_decide():
    """An index that is a selection, a sum, a product and a shift of selections, and a truth value."""

    def kernel(x, out):
        t = cuda.grid(1)
        a = cuda.local.array(16, int32)
        for i in range(16):
            a[i] = 3 * i
        k = 5 if x[t, 0] > 1 else 2
        j = 3 * k - 4 if x[t, 1] > 1 else 15 - k
        a[k] += 100
        a[j] -= 7
        a[(x[t, 2] > 0) * 4 + 1] = 50
        a[1 << (k // 2)] += 1
        s = 0
        for i in range(16):
            s = s * 3 + a[i]
        out[t, 0] = s
        out[t, 1] = a[j] + a[k ^ 1]

    x = shuffled(3, "int32", threads=60)
    run(kernel, [x, np.zeros((60, 2), np.int64)], 2, 30)
    in_registers(kernel, x, np.zeros((60, 2), np.int64))


def test_a_loop_around_that_stays():
    """Of a nest only the loops that indices depend on are unrolled."""

    def kernel(x, rounds, out):
        t = cuda.grid(1)
        a = cuda.local.array(4, int64)
        for i in range(4):
            a[i] = x[t, i]
        for _ in range(rounds):
            for i in range(4):
                a[i] = a[i] * 3 + a[3 - i]
        for i in range(4):
            out[t, i] = a[i]

    x = shuffled(4, "int64")
    for rounds in (0, 1, 5):
        run(kernel, [x, rounds, np.zeros_like(x)], 1, THREADS)
    ptx = _pyptx._compile(kernel, "int64[:, ::1], int64, int64[:, ::1]", "nvptx", "sm_90", 0, {}, "ptx")["ptx"]
    assert "__local_depot" not in ptx


@pytest.mark.parametrize("n", [12, 64, 300])
def test_arrays_that_stay_in_memory(n):
    """An index that is not known, a trip count that is not, an array that is too large: accesses are local ones."""

    def kernel(x, n_run, out):
        t = cuda.grid(1)
        a = cuda.local.array(n, int32)
        for i in range(n):
            a[i] = i
        for i in range(n_run):
            a[x[t, i] * 2] += i
        out[t, 0] = a[5] + a[n - 1] + a[x[t, 0]]

    x = shuffled(6, "int32")
    for rounds in (0, 6):
        run(kernel, [x, rounds, np.zeros_like(x)], 1, THREADS)
    ptx = _pyptx._compile(kernel, "int32[:, ::1], int64, int32[:, ::1]", "nvptx", "sm_90", 0, {}, "ptx")["ptx"]
    assert "ld.local" in ptx and "st.local" in ptx and not generic(ptx)


def test_a_row_that_leaves_early():
    """break and continue in loops that are unrolled."""

    def kernel(x, out):
        t = cuda.grid(1)
        a = cuda.local.array((3, 4), int32)
        for i in range(3):
            for j in range(4):
                a[i, j] = 0
        for i in range(3):
            for j in range(4):
                if x[t, j] == i:
                    continue
                if x[t, j] > i + 1:
                    break
                a[i, j] = a[i - 1, j] + x[t, j] if i else 1
        s = 0
        for i in range(3):
            for j in range(4):
                s = 5 * s + a[i, j]
        out[t, 0] = s

    x = shuffled(4, "int32", threads=50)
    run(kernel, [x, np.zeros((50, 1), np.int64)], 2, 25)
    in_registers(kernel, x, np.zeros((50, 1), np.int64))


@pytest.mark.parametrize("options", [{"boundscheck": True}, {"opt": 1}, {"opt": 0}])
def test_other_options(options):
    x = shuffled(5, "int32")
    run(sorter(5, int32), [x, np.zeros_like(x)], 1, THREADS, **options)


@cuda.jit(device=True)
def multiply(sums, a, b, step):
    """Four fragments of A by eight of B."""
    lane = cuda.threadIdx.x
    fa = cuda.vector.load(a, (step, 8 * lane), 8), cuda.vector.load(a, (step + 1, 8 * lane), 8), cuda.vector.load(a, (step + 2, 8 * lane), 8), cuda.vector.load(a, (step + 3, 8 * lane), 8)
    low, high = cuda.vector.load(b, (step, 8 * lane), 8), cuda.vector.load(b, (step + 1, 8 * lane), 8)
    more, last = cuda.vector.load(b, (step + 2, 8 * lane), 8), cuda.vector.load(b, (step + 3, 8 * lane), 8)
    fb = low[:4], low[4:], high[:4], high[4:], more[:4], more[4:], last[:4], last[4:]
    for i in range(4):
        for j in range(8):
            old = sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3]
            sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3] = cuda.mma_sync(fa[i], fb[j], old)


def test_elements_of_tuples_are_no_code():
    """Selections of what a counter names vanish with the loop: 192 operations are not too long."""

    def kernel(out, a, b):
        sums = cuda.local.array((4, 8, 4), np.float32)
        for i in range(4):
            for j in range(8):
                for e in range(4):
                    sums[i, j, e] = 0
        for step in range(0, a.shape[0], 24):
            multiply(sums, a, b, step)
            multiply(sums, a, b, step + 4)
            multiply(sums, a, b, step + 8)
            multiply(sums, a, b, step + 12)
            multiply(sums, a, b, step + 16)
            multiply(sums, a, b, step + 20)
        for i in range(4):
            for j in range(8):
                for h in range(2):
                    out[cuda.threadIdx.x, i, j, h] = sums[i, j, 2 * h] + sums[i, j, 2 * h + 1]

    fragments = np.zeros((24, 256), np.float16)
    assert in_registers(kernel, np.zeros((32, 4, 8, 2), np.float32), fragments, fragments).count("mma.sync") == 192


def test_code_that_would_be_too_long_stays_a_loop():
    def kernel(x, out):
        t = cuda.grid(1)
        a = cuda.local.array(64, float32)
        for i in range(64):
            a[i] = x[t, i]
        for i in range(64):
            for j in range(64):
                for k in range(4):
                    a[i] = a[i] * a[j] + k
        out[t, 0] = a[3]

    x = np.zeros((1, 64), np.float32)
    assert len(ptx_of(kernel, x, x).splitlines()) < 1500


def common(first, second, lengths):
    """Longest common subsequences: a load of a local array behind a condition that was loaded
    (codegen/nvptx/locals/local_guards.c)."""
    t = cuda.grid(1)
    n = second.shape[1]
    row = cuda.local.array(9, int32)
    for j in range(n + 1):
        row[j] = 0
    for i in range(first.shape[1]):
        diagonal = 0
        for j in range(n):
            up = row[j + 1]
            if first[t, i] == second[t, j]:
                row[j + 1] = diagonal + 1
            else:
                row[j + 1] = max(up, row[j])
            diagonal = up
    lengths[t] = row[n]


def around(x, y, out):
    t = cuda.grid(1)
    row = cuda.local.array(16, float32)
    for j in range(16):
        row[j] = x[t, j]
    for j in range(y.shape[1]):
        v = row[j]
        if y[t, j] > 0:
            if j > 0:
                v += row[j - 1]
            if j < 15:
                row[j + 1] = v - row[j + 1]
                v = v + 2 * row[j + 1]
        out[t, j] = v + row[j]


@pytest.mark.parametrize("width", [0, 1, 3, 4, 8])
def test_loads_behind_a_condition_that_was_loaded(width):
    first, second = shuffled(7, "uint8"), shuffled(8, "uint8")[:, :width].copy()
    run(common, [first % 3, second % 3, np.zeros(THREADS, np.int32)], 1, THREADS)


def test_loads_behind_conditions_at_both_ends():
    x, y = shuffled(16, "float32"), shuffled(16, "float32", seed=2) - 7
    run(around, [x, y, np.zeros_like(x)], 1, THREADS)


def test_a_neighbour_is_loaded_in_front_of_the_condition():
    zeros = np.zeros((THREADS, 8), np.uint8)
    ptx = ptx_of(common, zeros, zeros, np.zeros(THREADS, np.int32))
    assert ptx.count("selp.b32") == ptx.count("max.s32") > 1, ptx  # no branch between the loads


def nearest(most):
    def kernel(x, points, few, places):
        """The last of what is kept is loaded before it is known whether there is room (codegen/nvptx/locals/local_guards.c); the points' rows have a
        pointer (row_pointers.c)."""
        t = cuda.grid(1)
        distance = cuda.local.array(most, float64)
        place = cuda.local.array(most, int32)
        count = 0
        for p in range(points.shape[0]):
            dx = points[p, 0] - x[t, 0]
            dy = points[p, 1] - x[t, 1]
            d = dx * dx + dy * dy
            if count < few or d < distance[count - 1]:
                if count < few:
                    count += 1
                j = count - 1
                while j > 0 and distance[j - 1] > d:
                    distance[j] = distance[j - 1]
                    place[j] = place[j - 1]
                    j -= 1
                distance[j] = d
                place[j] = p
        for j in range(count):
            places[t, j] = place[j]

    return kernel


@pytest.mark.parametrize("most, few", [(16, 1), (16, 7), (16, 16), (10, 7), (10, 10)])
@pytest.mark.parametrize("points, columns", [(0, 2), (1, 2), (5, 2), (40, 2), (40, 3)])
def test_a_list_of_the_nearest(most, few, points, columns):
    rng = np.random.default_rng(points)
    x, others = rng.random((THREADS, 2)), rng.random((points, columns))
    kernel = nearest(most)
    got = run(kernel, [x, others, few, np.zeros((THREADS, most), np.int32)], 1, THREADS)[3]
    for t in range(THREADS):
        order = np.argsort(((others[:, :2] - x[t]) ** 2).sum(axis=1), kind="stable")[:few]
        assert got[t, : len(order)].tolist() == order.tolist()


def test_what_a_second_condition_compares_is_loaded_in_front_of_the_first():
    for most in (16, 10):
        ptx = _pyptx._compile(
            nearest(most), "float64[:,::1], float64[:,::1], int64, int32[:,::1]", "nvptx", "sm_90", 0, {}, "ptx"
        )["ptx"]
        assert (f", {most - 1};" in "".join(re.findall(r"and\.b\d\d.*", ptx))) == (most == 16), ptx
