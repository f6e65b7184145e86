"""Integers that are computed in 32 bits where they fit: at the edges of where they do, results are those of 64 bits."""

import re
import textwrap

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from harness import define, run, simulate
from pyptx import cuda
from test_ptx import ptx_of

BIG = 2**31


def ints(*shape):
    return np.random.default_rng(7).integers(-50, 50, shape)


@pytest.mark.parametrize("start", [0, 1, BIG - 3, BIG, 2**32 - 2, 2**32, -BIG - 1])
@pytest.mark.parametrize("step", [1, 3, BIG - 1, BIG, 2**32, 2**40])
def test_counters_near_and_beyond_32_bits(start, step):
    def kernel(start, stop, step, out):
        n = 0
        last = -1
        for i in range(start, stop, step):
            n += 1
            last = i
        out[0] = n
        out[1] = last

    run(kernel, [start, start + 5 * step - 1, step, np.zeros(2, np.int64)])


def steps_and_starts(starts, stops, steps, marks, out):
    """Ranges of either direction: a store alone, a value that goes on, and what is known behind."""
    b = cuda.blockIdx.x
    for k in range(starts[b], stops[b], steps[b]):
        marks[b, k] += 1
    n, last, odd = 0, -7, 0
    for k in range(starts[b], stops[b], steps[b]):
        if k % 3 == 1:
            continue
        n += 1
        last = k
        odd = odd * 3 + k
    for k in range(last, 40, n + 1):  # begins with what the loop before has left, as does its step
        odd += k
    for i in range(2):
        for k in range(starts[b] + i, stops[b], steps[b]):
            n += k * i
    out[b, 0] = n
    out[b, 1] = last
    out[b, 2] = odd


@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_ranges_whose_step_is_known_at_run_time(dtype):
    """Two versions of each loop (codegen/ssa/range_versions.c): the short one is for steps upward from 0 or more."""
    top = int(np.iinfo(dtype).max)
    some = [(a, b, s) for a in (-3, 0, 1, 18) for b in (-3, 0, 7, 19) for s in (1, 2, 5, -1, -4, 100, -100)]
    some += [(0, 19, top - 20), (18, 19, top - 20), (5, -3, -top), (5, 4, -top - 1), (3, 4, top - 9)]
    some += [(0, 19, 2**31), (0, 19, 2**31 - 1), (1, 19, 2**32 + 1), (5, 0, -(2**31)), (5, 0, -(2**32) - 1)] if top > BIG else []
    starts, stops, steps = (np.array(column, dtype) for column in zip(*some))
    run(steps_and_starts, [starts, stops, steps, np.zeros((len(some), 20), np.int32), np.zeros((len(some), 3), np.int64)], len(some))


@pytest.mark.parametrize("step", [BIG - 1, BIG, 2**32 - 1, 2**59])
def test_long_steps_end_where_they_should(step):
    def kernel(start, step, x, out):
        n = 0
        for k in range(start + cuda.threadIdx.x * step, x.size, step):
            x[k] += 1
            n += 1
        for k in range(start, 2**63 - 1, step):
            n += 1
            if n > 10:
                break
        out[cuda.threadIdx.x] = n

    for start in (0, 3, -2):
        run(kernel, [start, step, np.zeros(5), np.zeros(2, np.int64)], 1, 2)


def test_constants_beyond_32_bits():
    def kernel(x, out):
        n = 0
        for i in range(2**31 - 2, 2**31 + 3):
            n += i
        for i in range(2**31 + 3, 2**31 - 4, -2):
            n -= i
        out[0] = n
        out[1] = x.size * 2**31 + (x.size - 5) * -(2**31)
        out[2] = (x.size + 2**31 - 1) * 2 - 2**31

    run(kernel, [ints(4), np.zeros(3, np.int64)])


@pytest.mark.parametrize("start", [2**63 - 8, 2**62 - 1])
def test_counters_that_begin_near_the_end_of_64_bits(start):
    """They wrap around, or twice them does: nothing may be taken for positive."""
    source = f"""
        def kernel(n, out):
            i = int64({start})
            for _ in range(n):
                i += int64(1)
            twice = i + i
            out[0] = i // int64(3)
            out[1] = i % int64(7)
            out[2] = twice // int64(3)
            out[3] = twice % int64(7)
    """
    for n in (0, 1, 20):
        run(define(textwrap.dedent(source), int64=np.int64), [n, np.zeros(4, np.int64)])


@pytest.mark.parametrize("step", [2**60, 2**61, 2**62 - 1])
def test_counters_that_take_few_steps_to_the_end_of_64_bits(step):
    """Twice the counter wraps around after a step or two: it may not be taken for positive."""

    def kernel(n, out):
        k = 0
        for i in range(0, n, step):
            twice = np.int64(i) + np.int64(i)
            out[k] = twice // np.int64(3)
            out[k + 1] = twice % np.int64(7)
            k += 2

    run(kernel, [2**62 + 1, np.zeros(12, np.int64)])


def test_a_while_loop_whose_counter_is_used_behind_it():
    def kernel(x, step, out):
        i = cuda.grid(1)
        while i < x.size:
            i += step
        out[0] = i

    for step in (1, 7, BIG - 1, BIG, 2**33 + 1):
        run(kernel, [ints(5), step, np.zeros(1, np.int64)])


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_negative_indices_of_every_width(dtype):
    def kernel(at, x, out):
        for k in range(at.size):
            out[k] = x[at[k]] + x[at[k] - 1 if at[k] > 0 else at[k]]
        for k in range(at[0], at[1]):
            out[k] += x[k]

    at = np.array([-7, 6, 0, 5, -1, 3, -4], dtype)
    run(kernel, [at, ints(7), np.zeros(7, np.int64)])


def test_an_int64_index_is_wrapped_in_32_bits():
    """It is in range, or nothing is promised; where it is checked, all of it is."""
    def kernel(at, x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[at[i]]

    text, checked = (cuda.compile_ptx(kernel, "void(int64[::1], float32[::1], float32[::1])", cc="sm_90", debug=debug)[0] for debug in (False, True))
    assert text.count("min.u32") == 1 and "selp" not in text and "setp.lt.s64" not in text
    assert "min.u32" not in checked
    assert "min.u32" not in cuda.compile_ptx(kernel, "void(int64[::1], float32[::1]!, float32[::1])", cc="sm_90")[0]


@pytest.mark.parametrize("order", ["C", "F"])
def test_int64_indices_of_two_axes_are_wrapped_in_32_bits(order):
    """Sums of a place and of what was read, from the first negative index to the last element: 0.1 s."""
    def kernel(rows, cols, x, out):
        i = cuda.grid(1)
        if i < rows.size:
            for k in range(cols.size):
                out[k, i] = x[rows[i] + 1, cols[k] - 2] + x[rows[i], cols[k]]

    x = np.asarray(ints(7, 5), order=order)
    rows, cols = np.r_[-7:6].astype(np.int64), np.r_[-3:5].astype(np.int64)
    run(kernel, [rows, cols, x, np.zeros((8, 13), np.int64)], 1, 16)
    axes = "[:,::1]" if order == "C" else "[::1,:]"
    text = cuda.compile_ptx(kernel, f"narrow (int64[::1], int64[::1], int64{axes}, int64[:,::1])", cc="sm_90", coarsen=1)[0]
    assert "min.u32" in text and "setp.lt.s64" not in text


@pytest.mark.parametrize("bounds", ["-100:100", "100:-100", "a:", ":a", "a:b", "-3:a"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_bounds_of_slices_are_no_indices(bounds, dtype):
    kernel = define(f"def kernel(x, a, b, out):\n    v = x[{bounds}]\n    out[0] = len(v)\n    for i in range(len(v)):\n        out[1] += v[i]\n")
    for a in (-100, -9, -3, 0, 4, 9, 100):
        run(kernel, [ints(9), dtype(a), dtype(6), np.zeros(2, np.int64)])


@pytest.mark.parametrize("order", ["C", "F"])
def test_constants_in_indices(order):
    def kernel(x, out):
        i, j = cuda.grid(2)
        if 2 <= i < x.shape[0] - 2 and 3 <= j < x.shape[1] - 3:
            out[i, j] = x[i - 2, j] - x[i + 2, j] + 2 * x[i, j - 3] - 3 * x[i, j + 3] + x[i - 1, j + 1] + x[-i, -j]

    x = np.asarray(ints(11, 13), order=order)
    run(kernel, [x, np.zeros_like(x)], (3, 4), (4, 4))
    run(kernel, [x[::-1, ::1], np.zeros_like(x)], (3, 4), (4, 4))


def test_strided_loops_of_a_grid():
    def kernel(x, out):
        acc = 0
        n = 0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            acc += x[i]
            n += 1
        out[cuda.grid(1), 0] = acc
        out[cuda.grid(1), 1] = n

    for size in (0, 1, 31, 32, 33, 127, 128, 129, 1000):
        run(kernel, [ints(size), np.zeros((32, 2), np.int64)], 2, 16)


def test_loops_that_end_in_a_branch():
    def kernel(x, out):
        i = cuda.grid(1)
        state = x[i]
        a, b, c = 0, 0, 0
        for k in range(100):
            state = (state * 1103515245 + 12345) % 2**31
            if state < 2**30:
                a += 1
            elif state % 3 == 0:
                b += k
                continue
            if state % 5 == 0:
                c += state % 7
        out[i, 0] = a
        out[i, 1] = b
        out[i, 2] = c

    run(kernel, [ints(16), np.zeros((16, 3), np.int64)], 1, 16)


RINGS = {  # where it begins, and what an iteration does
    "equal": ("0", "s += 1; s = 0 if s == {n} else s"), "not equal": ("0", "s += 1\n        if s != {n}:\n            continue\n        s = 0"),
    "below": ("0", "s += 1\n        if s >= {n}:\n            s = 0"), "before": ("0", "s = s + 1 if s < {n} - 1 else 0"), "down": ("{n} - 1", "s -= 1\n        if s < 0:\n            s = {n} - 1"),
    "down to": ("{n}", "if s == 0:\n            s = {n}\n        s -= 1"),
}  # fmt: skip


@pytest.mark.parametrize("ring", RINGS)
@pytest.mark.parametrize("stages", [6, 1000])
def test_rings_of_stages(ring, stages):
    """A number that begins anew where it meets its end is computed in 32 bits, and indexes without
    a test for negative ones."""
    first, step = (part.format(n=stages) for part in RINGS[ring])
    kernel = define(f"def kernel(n, out):\n    s = {first}\n    for k in range(n):\n        out[s] += k\n        {step}\n")
    run(kernel, [3 * stages + 1, np.zeros(2 * stages, np.int64)])
    text = ptx_of(kernel, "narrow (int64, int64[::1])", "sm_90", boundscheck=False)
    tests = [line for line in text.splitlines() if re.search(r"setp\.\w+\.[su]64|selp\.b64", line)]
    assert not tests, tests


def test_arrays_of_more_elements_than_32_bits_number():
    @cuda.jit
    def kernel(x, out):
        out[0] = x[x.shape[0] - 1, x.shape[1] - 1]

    many = np.lib.stride_tricks.as_strided(np.arange(4, dtype=np.int32), (46341, 46341), (0, 0))  # 2**31 + 1,000
    out = np.zeros(1, np.int32)
    few = np.lib.stride_tricks.as_strided(np.arange(4, dtype=np.int32), (46340, 46300), (0, 0))
    for x in (few, many) if cuda.get_current_device().is_host else ():
        kernel[1, 1](x, out)
        assert out[0] == 0
    if cuda.get_current_device().is_host:
        assert sorted("!" in s for s in map(str, kernel.signatures)) == [False, True]


OFFSETS = ((-1, 0), (1, 2), (0, -3), (2, 1))
FAR = (0, BIG - 1, -BIG, BIG, 2**40)


def by_offsets(image, out):
    j, i = cuda.grid(2)
    if i < image.shape[0] and j < image.shape[1]:
        total = 0
        for k in range(4):
            di, dj = OFFSETS[k]
            y = min(max(i + di, 0), image.shape[0] - 1)
            x = min(max(j + dj, 0), image.shape[1] - 1)
            total += image[y, x] << (2 * k + 4 * (-1, 2, 0, 1)[k] + 4)
        out[i, j] = total


def test_elements_of_tuples_have_a_range():
    image = np.random.default_rng(3).integers(-9, 9, (7, 11), np.int32)
    run(by_offsets, [image, np.zeros((7, 11), np.int64)], (2, 1), (8, 8))
    made = ptx_of(cuda.jit(by_offsets), "narrow (int32[:,::1], int64[:,::1])")
    assert not re.search(r"(max|min)\.s64|setp\.\w+\.s64", made)


def test_elements_of_tuples_beyond_32_bits():
    def kernel(x, out):
        for k in range(5):
            for n in range(x.size):
                out[k, n] = x[n] + FAR[k] * 2
                out[k + 5, n] = min(max(FAR[k] + n, -5), 2**31 + 1)

    run(kernel, [np.arange(3), np.zeros((10, 3), np.int64)])


def test_variables_of_which_only_low_bits_are_stored():
    def kernel(x, small, wide):
        i = cuda.grid(1)
        total = 0
        count = 0
        both = x[i]
        for k in range(x.size):
            total = total * 31 + x[k] * (k - 5)
            if x[k] > x[i]:
                count += 1
            both = both * 3 - x[k]
        small[i, 0] = total
        small[i, 1] = count
        small[i, 2] = both
        wide[i] = both

    x = ints(40) * 2**40 + ints(40)
    run(kernel, [x, np.zeros((40, 3), np.int32), np.zeros(40, np.int64)], 2, 20)


def test_what_is_stored_in_32_bits_is_computed_there():
    def kernel(x, out):
        i = cuda.grid(1)
        n = 0
        for k in range(x.shape[0]):
            if x[k, i] > 0.5:
                n += 1
        out[i] = n

    ptx = cuda.compile_ptx(kernel, "void(float32[:,::1], int32[::1])", cc="sm_90")[0]
    assert "selp.b32" in ptx and "selp.b64" not in ptx
    ptx = cuda.compile_ptx(kernel, "void(float32[:,::1], int64[::1])", cc="sm_90")[0]
    assert "b64" in ptx


# --- the GPU's code, run on the CPU

EDGES = [0, 1, 2, 3, 7, BIG // 2 - 1, BIG // 2, BIG - 2, BIG - 1, BIG, BIG + 1, 2**32 - 1, 2**32, 2**33 + 5, 2**61, 2**62 - 1, -1, -2, -BIG, -BIG - 1]


def multiplied(start, stop, out):
    i = start
    n = 0
    while i < stop and n < 70:
        n += 1
        i *= 3
    out[0] = i
    out[1] = n


def constant_bounds(start, stop, out):
    i = 1
    n = 0
    while i < 3000000000:
        n += i
        i *= 2
    j = 5
    while j <= 1500000000:
        n += j
        j = j * 7
    k = 1
    while k <= 2147483647:
        k = k << 3
        n -= k
    m = 3
    while m >= -2147483648:
        m = m - 1073741824
        n += m
    out[0] = n
    out[1] = i + j + k + m


def shifted(start, stop, out):
    i = start
    n = 0
    while i <= stop and n < 70:
        n += 1
        i = i << 1
    out[0] = i
    out[1] = n


def closed(start, stop, out):
    i = start
    n = 0
    while i <= stop and n < 9:
        n += 1
        i += 2147483647
    j = stop
    while j >= start and n < 20:
        n += 1
        j -= 1073741825
    out[0] = i
    out[1] = j + n


def parts(start, stop, out):
    t = cuda.threadIdx.x + start % 5
    total = 0
    step = 1
    while step < 256:
        q = t & (step - 1)
        total = total * 3 + (2 * t - q) + (t - t % step) * 5 - (t - (t >> 1)) + (t ^ step) + (t | stop % 77)
        step *= 2
    out[0] = total
    out[1] = (start - (start & stop)) + (2 * start - start // 3) + (start ^ stop) * 3 - (start | stop)


def low_halves(start, stop, out):  # a, b and c are read in their low bits alone, n and d in full
    a = start
    b = stop
    c = start
    d = stop
    n = 0
    while n < 6:
        if n & 1 == 0:
            a = a * b - n
            d = b & 65535
        else:
            b = (b << 3) ^ (a | n)
            c = a if b & 3 == 1 else -c
        n += 1
    out[0] = (a + ~b) & 2147483647
    out[1] = ((c - b) & 65535) + (d >> 3)


def low_shifts(start, stop, out):  # of code and word the low half alone is read, of full more
    code = 0
    word = int(start)
    full = int(start)
    bits = int(stop)
    for k in range(70):
        if (bits >> (k % 7)) & 1:
            code |= 1 << k
            word += bits << (k // 2)
            full ^= (3 << k) & 4611686018427387903
    out[0] = (code & 4294967295) * 8 + (word & 1048575)
    out[1] = full


def rotations(start, stop, out):  # x and y have 32 bits, z and w, which are shifted too, 64
    x = int(start) & 4294967295
    y = int(stop) & 4294967295
    z = int(stop)
    for k in range(5):
        t = ((x >> 7) | (x << 25)) ^ ((y >> 31) | (y << 1)) ^ (x >> 3)
        w = (z >> 5) ^ (x << 33 >> 11)
        x = (y + t + (w & 255)) & 4294967295
        y = (t ^ (~x & 4042322160)) & 4294967295 if x & 1 else y >> 1
        z += t
    out[0] = x + (y >> 16) * 3
    out[1] = z


def powers(start, stop, out):
    x = int(start)
    y = int(stop)
    out[0] = x // 2 + (y // 1073741824) * 3 + x // 4611686018427387904 + y // 1 + (x // 3) % 16 - x // -4
    out[1] = x % 8 + (y % 4294967296) * 5 + x % 4611686018427387904 + y % 1 + (y - 7) // 64 + y % -8 + (x // 4 + y // 4) // 2


def quotients(start, stop, out):  # of a and d neither is the smallest int32, whose quotient by -1 does not fit
    a = min(max(int(start), -2147483647), 2147483647)
    b = min(max(int(start), -2147483648), 2147483647)
    d = min(max(int(stop), -2147483647), 2147483647)
    if d == 0:
        d = -1
    out[0] = a // d * 3 + a % d + b // 7 * 2 - b % 10
    out[1] = b % d + b // d * 5 + int(start) // 1000000007 - int(stop) % 3


@needs_llc
@pytest.mark.parametrize("kernel", [multiplied, constant_bounds, shifted, closed, parts, low_halves, low_shifts, rotations, powers, quotients])
@pytest.mark.parametrize("width", ["int64", "int32"])
def test_the_gpus_code_at_the_edges(kernel, width):
    entries = Entries(kernel, f"void({width}, {width}, int64[::1])", 1)
    room = np.iinfo(width)
    edges = [e for e in EDGES if room.min <= e <= room.max]
    for start in edges:
        for stop in edges:
            expected, got = np.zeros(2, np.int64), np.zeros(2, np.int64)
            simulate(kernel, [np.dtype(width).type(start), np.dtype(width).type(stop), expected])
            entries.run((1, 1, 1), (1, 1, 1), [start, stop, got], False)
            assert got.tolist() == expected.tolist(), (kernel.__name__, start, stop)


def distances(x, start, count, far, out):
    """Squares of what moves with the counter, up, down and from a row that is computed in front, as float64."""
    up = down = late = 0.0
    for row in range(2):
        dy = far * (row + 1)
        dy2 = dy * dy
        for k in range(start, start + count):
            up += float((k - x) * (k - x) + dy2)
        for k in range(start, start + count):
            down += float(dy * dy - (x - k + 1) * (x - k))
            if (k - x) * (k - x) + (far - row) * (far - row) <= dy2:
                late += 1.0
    out[0] = up
    out[1] = down
    out[2] = late


@needs_llc
def test_squares_of_distances_at_the_edges_of_15_bits():
    """Two versions of each loop (cg_version_factors): what moves with the counter is at most 32767 from 0 in one."""
    entries = Entries(distances, "void(int64, int64, int64, int64, float64[::1])", 1)
    top = 2**62
    for x in (0, 7, top, -top):
        for gap in (-2, 32764, 32765, 32766, 32767, 32768, -32766, -32767, -32768, -32769, 65536, BIG - 5, -BIG, 2**30):
            for count, far in ((0, 3), (1, 32767), (3, 16384), (3, -16383)):
                expected, got = np.zeros(3), np.zeros(3)
                simulate(distances, [x, x + gap, count, far, expected])
                entries.run((1, 1, 1), (1, 1, 1), [x, x + gap, count, far, got], False)
                assert got.tolist() == expected.tolist(), (x, gap, count, far)


# --- elements side by side at places that were read (codegen/nvptx/integers/near_indices.c)


def lattice(p, q, y, out):
    for k in range(out.size):
        a = p[k] + y
        b = p[k + 1] + y
        c = y - p[k]
        near = q[a] + 3 * q[a + 1] + 5 * q[b - 1] + 7 * q[b + 20] + q[c + 1] - q[c]
        out[k] = near + q[near % 3] + 11 * q[near % 3 + 1]


@needs_llc
def test_neighbours_of_places_that_may_be_negative():
    q = ints(60).astype(np.int32)
    p = np.array([3, 9, -1, 4, 4, -1, -2, 0, 1, -25, 26, -3, -1, -1, 7], np.int32)
    entries = Entries(lattice, "narrow void(int32[::1], int32[::1], int32, int32[::1])", 1)
    for y in (-1, 0, 1):
        expected, got = np.zeros(14, np.int32), np.zeros(14, np.int32)
        simulate(lattice, [p, q, np.int32(y), expected])
        entries.run((1, 1, 1), (1, 1, 1), [p, q, np.int32(y), got], False)
        assert got.tolist() == expected.tolist(), y
    made = cuda.compile_ptx(lattice, "narrow (int32[::1], int32[::1], int32, int32[::1])", cc="sm_90")[0]
    assert re.search(r"ld\.global\.b32.*\+84\]", made)  # from q[b - 1] to q[b + 20]


# --- searches along indices that were read (codegen/nvptx/memory/next_addresses.c)


def top(up, x):
    while up[x] != x:
        x = up[x]
    return x


def searches(up, weight, a, b, keys, out):
    """Up to a root from either end, the end of one search being another's beginning; along a list; to a key's place."""
    i = cuda.grid(1)
    u, v = a[i], b[i]
    steps = 0
    while True:
        u = top(up, u)
        v = top(up, v)
        if u == v or steps == 3:
            break
        steps += 1
        u, v = max(u, v), min(u, v)
        u = cuda.atomic.max(weight, u, v)
    out[i, 0] = u
    out[i, 1] = v
    w, total = b[i], 0
    while w != -100 and total < 10**6:
        total += weight[w] + 1000
        w = -100 if up[w] == w else up[w]
    out[i, 2] = total
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < weight[b[i]]:
            low = middle + 1
        else:
            high = middle
    out[i, 3] = low


@needs_llc
@pytest.mark.parametrize("number", ["int32", "int64"])
def test_searches_along_places_that_may_be_negative(number):
    """Half of the links count from the end, and one root is negative. 0.3 s."""
    n, rng = 90, np.random.default_rng(3)
    up = (rng.random(n) * np.arange(n)).astype(number)
    up[:4] = [0, 1, 2, -n + 3]
    up[3 - n] = 3 - n
    far = rng.random(n) < 0.5
    far[:4] = False
    up[far] -= n
    weight, keys = rng.integers(0, 3, n).astype(number), np.sort(rng.integers(0, 5, 40)).astype(number)
    a, b = (rng.integers(-n, n, 32).astype(number) for _ in range(2))
    a, b = (np.where(np.isin(x, (-n, 1 - n, 2 - n)), 5, x).astype(number) for x in (a, b))
    sig = f"narrow void({number}[::1], {number}[::1], {number}[::1], {number}[::1], {number}[::1], int64[:,::1])"
    entries = Entries(searches, sig, 1)
    for i in range(32):  # one at a time, for the atomic operations' order
        expected, got = ([up, weight.copy(), a[i : i + 1], b[i : i + 1], keys, np.zeros((1, 4), np.int64)] for _ in range(2))
        simulate(searches, expected)
        entries.run((1, 1, 1), (1, 1, 1), got, False)
        assert got[-1].tolist() == expected[-1].tolist() and got[1].tolist() == expected[1].tolist(), i


def in_a_block(up, out):
    s = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    s[t] = up[t]
    cuda.syncthreads()
    x = t
    while s[x] != x:
        x = s[x]
    out[t] = x


@needs_llc
def test_searches_in_shared_memory():
    """Their extent is a constant, for which a wrap is a minimum, too."""
    entries = Entries(in_a_block, "narrow void(int32[::1], int32[::1])", 1)
    for up in ([0, 0, 1, 2, 4, -4, 6, -8], [0, -8, 0, -7, -6, 1, 6, -3], list(range(8))):
        expected, got = [], np.zeros(8, np.int32)
        for x in range(8):
            while up[x] != x:
                x = up[x]
            expected.append(x)
        entries.run((1, 1, 1), (8, 1, 1), [np.array(up, np.int32), got], False)
        assert got.tolist() == expected
    made = ptx_of(in_a_block, "narrow (int32[::1], int32[::1])")
    assert made.count("min.u32") == 2 and "shr" not in made  # in front of the loop, and in it


def test_a_search_has_its_address_in_front_of_the_branch():
    """Each of two, of which the first begins where the loop around it does."""
    made = ptx_of(searches, "narrow (int32[::1], int32[::1], int32[::1], int32[::1], int32[::1], int64[:,::1])")
    steps = re.findall(r"ld\.global\.b32 \t%r\d+, \[%rd(\d+)\];\n\tsetp[^\n]*\n\tadd[^\n]*\n\tmin\.u32[^\n]*\n\tmul\.wide[^\n]*\n\tadd\.s64 \t%rd(\d+)", made)
    assert sum(a == b for a, b in steps) == 2


# --- sums that fit 32 bits for so many trips (codegen/ssa/sum_versions.c)


def running(x, first, window, out):
    """A running sum, divided in each of three ways; what it ends with is read behind the loop."""
    total = first
    count = 1
    for y in range(x.size):
        total += int(x[y])
        count += 1
        if y - window >= 0:
            total -= 2 * int(x[y - window])
            count -= 1
        out[0] = (total + count // 2) // count
        out[1] = out[1] + total % 7
        if total / count > 1000000.5:
            out[2] += 1
    out[3] = total


def running_of(x, first, window):
    n = x.size
    k = np.arange(n)
    late = np.where(k >= window, np.roll(x.astype(object) if n < 100 else x.astype(np.int64), window), 0)
    total = np.cumsum(x.astype(np.int64) - 2 * late.astype(np.int64)) + first
    count = 1 + np.minimum(k + 1, window)
    return [(total[-1] + count[-1] // 2) // count[-1], np.sum(total % 7), np.count_nonzero(total / count > 1000000.5), total[-1]]


@needs_llc
def test_running_sums_at_the_edges():
    """Their first values at the ends of what the test in front of the loop lets through, and of 32 bits; loops of one
    trip more than it lets through, and so long that the sum leaves 32 bits. Takes 0.5 s."""
    entries = Entries(running, "void(uint8[::1], int64, int64, int64[::1])", 1)
    few, half, trips = np.arange(250, 200, -1).astype(np.uint8), 2**29, 2**29 // 510
    firsts = [0, 1, half - 1, half, half + 1, BIG // 2, BIG - 10000, BIG - 1, BIG, 2**40, -1, -half, -half - 1, -BIG, -BIG - 1, -(2**40)]
    cases = [(few, first, window) for first in firsts for window in (1, 7, 60)]
    cases += [(np.full(n, 255, np.uint8), first, 2**40) for n in (trips, trips + 1, 2**23 + 2**12) for first in (half, -half)]
    for x, first, window in cases:
        got = np.zeros(4, np.int64)
        entries.run((1, 1, 1), (1, 1, 1), [x, first, window, got], False)
        assert got.tolist() == running_of(x, first, window), (x.size, first, window)


def test_running_sums_of_bytes_are_divided_in_32_bits():
    """One of 16-bit numbers is not: it would leave 32 bits too soon."""

    def kernel(x, first, out):
        total = first
        for y in range(x.shape[0]):
            total += int(x[y])
            out[y] = total // (y + 3)

    wide = [len(re.findall(r"div\.[su]64", ptx_of(kernel, f"narrow (uint{b}[::1], int64, int64[::1])"))) for b in (8, 16)]
    narrow = [len(re.findall(r"div\.[su]32", ptx_of(kernel, f"narrow (uint{b}[::1], int64, int64[::1])"))) for b in (8, 16)]
    assert narrow[0] > narrow[1] and wide[0] > 0 and wide[1] > 0  # the version for long loops is there


# --- differences with a minimum or a maximum


def test_indices_behind_a_minimum_are_not_wrapped():
    def before(x, window, out):
        i = cuda.grid(1)
        if i < x.size:
            for d in range(1, min(window, i) + 1):
                out[i] += x[i - d]

    def after(x, first, out):
        i = cuda.grid(1)
        if i < x.size and i >= max(first, 3):
            out[i] = x[i - 3]

    def may_be_negative(x, window, out):  # of a maximum: nothing is known of the other number
        i = cuda.grid(1)
        if i < x.size:
            for d in range(1, max(window, i) + 1):
                out[i] += x[i - d]

    wraps = [ptx_of(k, "narrow (float32[::1], int64, float32[::1])").count("min.u32") for k in (before, after, may_be_negative)]
    assert wraps[:2] == [0, 0] and wraps[2] > 0
    for kernel in (before, after):
        for by in (-2, 0, 2, 50):
            run(kernel, [ints(40).astype(np.float32), by, np.zeros(40, np.float32)], 2, 32)


def around_places(x, side, out):
    i = cuda.grid(1)
    c = int(x[i])
    n = 0
    for k in range(max(c - 1, 0), min(c + 2, side)):
        n = n * 3 ^ k
    out[i] = n


def test_windows_around_any_place_are_counted_in_32_bits():
    """min(c + 2, side) has another type than c: one cast of the sum is compared, another is taken."""
    x = np.array([0, 0.5, -1, -3, 4, 5, 6, 7.9, 8, 1e9, 3e9, 1e12, -1e12, 9e18, -9e18], np.float32)
    for side in (0, 1, 7, -4, 2**31 - 5):
        run(around_places, [x, side, np.zeros(x.size, np.int64)], 1, x.size)
    made = ptx_of(around_places, "narrow (float32[::1], int64, int64[::1])")
    assert not re.search(r"setp\.\w+\.[bsu]64", made[made.index("bra") :])


def test_windows_behind_a_guard_are_not_wrapped():
    def around(x, r, out):
        i = cuda.grid(1)
        if r < i < x.size - r - 1:
            for u in range(i - r, i + r + 1):
                out[i] += x[u + 1] - x[u - 1]

    def rows(x, r, out):  # from a row to a place in it, every other one
        i = cuda.grid(1)
        if i < x.size and i >= r:
            for k in range(i - r, i + 1):
                for u in range(k, x.size, 2):
                    out[i] += x[u]

    def from_the_end(x, r, out):  # places in front of the first count from the end
        i = cuda.grid(1)
        if i < x.size:
            for u in range(i - r, i + 1):
                out[i] += x[u]

    wraps = [ptx_of(k, "narrow (float32[::1], int64, float32[::1])").count("min.u32") for k in (around, rows, from_the_end)]
    assert wraps[:2] == [0, 0] and wraps[2] > 0
    for kernel in (around, rows, from_the_end):
        for r in (-2, 0, 1, 3, 19):
            run(kernel, [ints(40).astype(np.float32), r, np.zeros(40, np.float32)], 2, 32)


def test_shifts_of_short_numbers_have_32_bits():
    """By any count, also one beyond 31 and beyond 63, which leaves the sign."""

    def kernel(x, by, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = int(x[i]) >> by[i]

    assert "shr.s64" not in ptx_of(kernel, "narrow (int32[::1], int64[::1], int64[::1])")
    counts = np.array([0, 1, 5, 30, 31, 32, 33, 63, 64, 2**31, 2**32, 2**32 + 1, 2**40])
    x = np.array([0, 1, -1, 5, -5, BIG - 1, -BIG, 123456789, -123456789], np.int32)
    x, by = (v.ravel() for v in np.meshgrid(x, counts))
    run(kernel, [np.ascontiguousarray(x), np.ascontiguousarray(by), np.zeros(len(x), np.int64)], 4, 32)
