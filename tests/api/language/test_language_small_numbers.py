"""Integers of which 32 bits hold every value, which the GPU's code computes in 32 bits (codegen/nvptx/integers/small_numbers.c,
short_extremes.c), and loops over a thread's part of an array (codegen/ssa/range_versions.c), beside plain Python.
`PYPTX_DEVICE=ptx` runs the GPU's own code.
"""

import re

import numpy as np
import pytest
from harness import run
from pyptx import cuda

BYTES = np.random.default_rng(8).integers(0, 256, 400, np.uint8)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_sums_of_products_and_of_distances(dtype):
    """At the ends of the types too: a product of two uint16 does not fit an int32."""
    def kernel(a, b, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            dot, apart, square, masked = 0, 0, 0, 0
            for k in range(i, a.size):
                x, y = int(a[k]), int(b[k - i])
                dot += x * y
                apart += abs(x - y)
                square += (x - y) * (x - y)
                if x > y:
                    masked += 3 * x - y
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = dot, apart, square, masked

    ends = np.iinfo(dtype)
    rng = np.random.default_rng(4)
    a, b = (rng.integers(ends.min, ends.max, 61, dtype, endpoint=True) for _ in range(2))
    a[:20], b[:20] = ends.max, np.where(np.arange(20) < 10, ends.max, ends.min)
    run(kernel, [a, b, np.zeros((61, 4), np.int64)], 2, 32)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32, np.int64])
def test_moments_of_windows(dtype):
    """Several sums of loads and of their products, also where products wrap around."""
    def kernel(a, b, factor, out):
        i = cuda.grid(1)
        if i >= out.shape[0]:
            return
        sa = sb = aa = bb = ab = 0
        for k in range(i, 2 * i):
            x, y = int(a[k]), int(b[k])
            sa += x
            sb += factor * y
            aa += x * x
            bb += y * y * factor
            ab += x * y
        out[i, 0], out[i, 1], out[i, 2], out[i, 3], out[i, 4] = sa, sb, aa, bb, ab

    ends = np.iinfo(dtype)
    rng = np.random.default_rng(6)
    least, most = max(ends.min, -2**31), min(ends.max, 2**31 - 1)
    a, b = (rng.integers(least, most, 90, dtype, endpoint=True) for _ in range(2))
    a[:50], b[:50] = most, np.where(np.arange(50) < 25, least, most)
    run(kernel, [a, b, -3 if ends.bits < 32 else 1, np.zeros((45, 5), np.int64)], 2, 32)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_low_bits(dtype):
    """Of a mixture of bytes and longer numbers the low byte is an index."""
    def kernel(data, table, out):
        i = cuda.grid(1)
        if i < out.size:
            state = 0xFFFFFFFF - i
            letters = 0
            for k in range(i, data.size):
                state = int(table[(state ^ int(data[k])) & 0xFF]) ^ (state >> 8)
                c = data[k] & 0xDF
                if 65 <= c <= 90 or (data[k] ^ 0x30) < 10:
                    letters += 1
            out[i] = state ^ letters << 40

    table = np.random.default_rng(2).integers(0, 2**32, 256, np.uint32)
    run(kernel, [BYTES[:90].astype(dtype), table, np.zeros(64, np.int64)], 2, 32)


@pytest.mark.parametrize("chunk", [0, 1, 3, 20, 1000, -3, -400])
@pytest.mark.parametrize("first", [0, 5, -7])
def test_a_part_of_an_array_for_each_thread(chunk, first):
    """Starts are computed: of negative ones, elements count from the end."""
    def kernel(data, chunk, first, out):
        i = cuda.grid(1)
        if i < out.size:
            total = 1
            for k in range(i * chunk + first, min(data.size, (i + 1) * chunk)):
                total = (31 * total + int(data[k])) % 65521
            out[i] = total

    run(kernel, [BYTES, chunk, first, np.zeros(40, np.int64)], 2, 32)


def is_below(data, k, limit):
    return data[k] < limit


def is_near(data, k, limit):
    return is_below(data, k, limit) or (k > 2 and is_below(data, k - 2, limit))


@pytest.mark.parametrize("chunk", [0, 3, 20, 1000, -3, -400])
@pytest.mark.parametrize("first", [0, 5, -7])
def test_a_part_of_an_array_by_functions(chunk, first):
    """The counter is an index of functions that are called, in each other too; and is compared."""
    def kernel(data, chunk, first, out):
        i = cuda.grid(1)
        if i < out.size:
            least, count = data.size, 0
            for k in range(i * chunk + first, min(data.size, (i + 1) * chunk)):
                if is_near(data, k, 40):
                    count += 1
                    least = min(least, k)
            out[i] = count + 1000 * least

    run(kernel, [BYTES, chunk, first, np.zeros(40, np.int64)], 2, 32)


def test_the_counter_behind_such_a_loop():
    """Its last value is the start where the loop does not run, which may be beyond the end."""
    def kernel(data, chunk, out):
        i = cuda.grid(1)
        if i < out.size:
            k, total = i * chunk, 0
            while k < min(data.size, i * chunk + 3):
                total += int(data[k])
                k += 1
            out[i] = 1000 * k + total

    run(kernel, [BYTES, 25, np.zeros(40, np.int64)], 2, 32)


def squares(data, radius, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0
        for d in range(-radius, radius + 1):
            if 0 <= i + d < data.size:
                total += d * d * int(data[i + d]) + d
        out[i] = total


@pytest.mark.parametrize("radius", [0, 1, 6, 77, 47000])
def test_a_counter_is_multiplied_behind_a_condition(radius):
    run(squares, [BYTES, radius, np.zeros(40 if radius < 1000 else 2, np.int64)], 2, 32)


def test_its_square_is_a_product_of_32_bits():
    made = cuda.compile_ptx(squares, "narrow (uint8[::1], int64, int64[::1])", cc="sm_90", coarsen=1)[0]
    counters = [line for line in made.splitlines() if re.search(r"mul\.lo\.s64\s+(%rd\d+), (%rd\d+), \2;", line)]
    assert not counters and re.search(r"mul\.wide\.s32\s+(%rd\d+), (%r\d+), \2;", made)


@pytest.mark.parametrize("near", [3, 32760, 46337, 2**31 - 9])
@pytest.mark.parametrize("sign", [1, -1])
def test_squares_of_a_counter(near, sign):
    """Two versions of the loop: 46341 squared does not fit 31 bits, and two squares of 32768 do not."""
    def kernel(start, i, r, out, counts):
        t = cuda.grid(1)
        if t < out.shape[0]:
            y = i + t
            inside, apart = 0, np.float32(0)
            for j in range(start, start + 13):
                if y * y + j * j <= r * r:
                    inside += 1
                apart += np.float32(y * y - j * j)
                counts[j - start, t] = j * y > r
            out[t] = inside + apart

    for i in (5, sign * (near - 2), 32759, -32775):
        for r in (near + 2, 46341):
            run(kernel, [sign * near - 6, i, r, np.zeros(18, np.float64), np.zeros((13, 18), np.uint8)], 1, 32)


# --- minima and maxima of 8 and 16 bits (codegen/nvptx/integers/short_extremes.c)


def extremes(x, low, far, both, where, bound):
    """Of a row up to its diagonal: what a loop carries is stored, added, compared with others and cut off at a
    bound.
    """
    i = cuda.grid(1)
    if i < low.size:
        least = most = kept = x[i, 0]
        place = 0
        for k in range(i + 1):
            v = x[i, k]
            least = min(least, v)
            most = max(v, most)
            if v > kept or k % 7 == 3:
                kept = v
                place = k
        low[i] = least
        far[i] = int(most) - int(least)
        both[i] = max(min(most, bound[i]), least) + kept
        where[i] = 3 * place + (kept == most) + 2 * (kept < bound[i])


def ends(dtype, *shape):
    """Numbers of a type, many of them at its ends."""
    is_ = np.iinfo(dtype)
    rng = np.random.default_rng(6)
    x = rng.integers(is_.min, is_.max, shape, dtype, endpoint=True)
    return np.where(rng.random(shape) < 0.2, rng.choice(np.array([is_.min, is_.max, 0, is_.max // 2], dtype), shape), x).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16])
def test_minima_and_maxima_of_short_numbers(dtype):
    n = 37
    run(extremes, [ends(dtype, n, n), np.zeros(n, dtype), np.zeros(n, np.int64), np.zeros(n, dtype), np.zeros(n, np.int32), ends(dtype, n)], 2, 32)


@pytest.mark.parametrize("other", [np.int8, np.int16])
def test_both_signs_at_once(other):
    """The bits of a number, as one with a sign and as one without: each of the two minima has its own order."""
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            a, b = x[0], x.view(other)[0]
            for k in range(i + 1):
                a = max(a, x[k])
                b = max(b, x.view(other)[k])
                if a == x[k]:
                    b = min(b, x.view(other)[i])
            out[i, 0] = a
            out[i, 1] = b

    run(kernel, [ends(np.dtype(other).str.replace("i", "u"), 50), np.zeros((50, 2), np.int64)], 2, 32)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_a_maximum_is_one_instruction(dtype):
    def kernel(x, out):
        best = x[0]
        for k in range(x.size):
            best = max(best, x[k])
        out[0] = best

    made = cuda.compile_ptx(kernel, f"narrow ({dtype}[::1], {dtype}[::1])", cc="sm_90", coarsen=1)[0]
    assert re.search(r"\n\tmax\.[us]32", made)
    assert "cvt.u32.u16" not in made and "255;" not in made and "%a" not in made


# --- integers that other lanes have, and counts of bits (ir/interval.c)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint32, np.int64])
def test_integers_of_other_lanes(dtype):
    """A scan by `or`, a minimum, and what is carried from one exchange to the next."""
    def kernel(x, out):
        i = cuda.grid(1)
        lane = i & 31
        v = int(x[i])
        bits, low, total = v, v, v
        d = 1
        while d < 32:
            other = cuda.shfl_up_sync(0xFFFFFFFF, bits, d)
            if lane >= d:
                bits |= other
            low = min(low, cuda.shfl_xor_sync(0xFFFFFFFF, low, d))
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
            d *= 2
        out[i, 0] = bits
        out[i, 1] = low
        out[i, 2] = total
        out[i, 3] = cuda.shfl_sync(0xFFFFFFFF, bits if v & 1 else low, i * 5) // 3

    run(kernel, [ends(dtype, 64), np.zeros((64, 4), np.int64)], 2, 32)


def nearest(queries, train, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        low = next_low = 65
        who = -1
        for j in range(train.size):
            d = cuda.popc(queries[i] ^ train[j])
            if d < low:
                next_low = low
                low = d
                who = j
            elif d < next_low:
                next_low = d
        out[i, 0] = low
        out[i, 1] = next_low
        out[i, 2] = who


@pytest.mark.parametrize("dtype", [np.uint8, np.uint32, np.uint64])
def test_counts_of_bits_that_a_loop_carries(dtype):
    run(nearest, [ends(dtype, 40), ends(dtype, 23), np.zeros((40, 3), np.int64)], 2, 32)


def test_they_have_32_bits():
    made = cuda.compile_ptx(nearest, "narrow (uint32[::1], uint32[::1], int32[:, ::1])", cc="sm_90", coarsen=1)[0]
    assert "setp.lt.s64" not in made and "setp.lt.u64" not in made and "min.s64" not in made and "min.u64" not in made

    def flags(x, out):
        f = int(x[cuda.grid(1)])
        for d in (1, 2, 4):
            other = cuda.shfl_up_sync(0xFFFFFFFF, f, d)
            if cuda.laneid >= d:
                f |= other
        out[cuda.grid(1)] = f

    made = cuda.compile_ptx(flags, "narrow (uint8[::1], int32[::1])", cc="sm_90", coarsen=1)[0]
    assert made.count("shfl.sync") == 3 and "or.b64" not in made


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16])
def test_spans(dtype):
    """Whether a number is between two others, of all bytes, and of half words beside the ends; outside of them too."""
    def kernel(x, ends, out):
        i = cuda.grid(1)
        if i < x.size:
            c = x[i]
            bits = 0
            bits |= (48 <= c <= 57) << 0
            bits |= (not (97 <= c < 123)) << 1
            bits |= (c < 5 or c > 120) << 2
            bits |= (65 <= (c | 32) - 32 <= 90) << 3
            bits |= (c + dtype(100) < 60) << 4
            bits |= (c - dtype(7) >= 100) << 5
            bits |= (ends[0] <= c <= ends[1]) << 6
            out[i] = bits

    limits = np.iinfo(dtype)
    x = np.arange(limits.min, limits.max + 1, dtype=np.int64)
    x = np.concatenate([x[:200], x[-200:]]).astype(dtype)
    run(kernel, [x, np.array([50, 60], dtype), np.zeros(x.size, np.int64)], -(-x.size // 64), 64)


def test_upper_halves():
    """Comparisons of 64 bits that the upper half answers (codegen/nvptx/integers/upper_halves.c)."""
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            a, b = x[i], y[i]
            bits = 0
            if a >= 0:
                bits += 1
            if a > -1 - (1 << 32):
                bits += 2
            if a < (3 << 32):
                bits += 4
            if b < np.uint64(1 << 32):
                bits += 8
            if b > np.uint64((5 << 32) - 1):
                bits += 16
            out[i] = bits

    ends = [n + k for n in (-(2**63), -(2**33), -(2**32), 0, 2**32, 3 << 32, 5 << 32, 2**63) for k in (-2, -1, 0, 1)]
    x = np.array([n for n in ends if -(2**63) <= n < 2**63], np.int64)
    run(kernel, [x, x.astype(np.uint64), np.zeros(x.size, np.int64)], 1, 64)


@pytest.mark.parametrize("first", [0, 1, -3])
def test_rows_of_arrays_of_many_axes(first):
    """Rows and columns of arrays of four axes, by indices that may be negative, and rows of rows."""
    def kernel(x, first, out):
        i = cuda.grid(1)
        if i < x.shape[1]:
            row = x[first, i]
            plane = x[first]
            column = x[:, i, 1, -1]
            total = 0
            for k in range(row.shape[0]):
                total = 3 * total + row[k, 2] - row[-1, k % 3] + plane[i, k, 0]
            for k in range(column.size):
                total = 3 * total + column[k]
            row[0, 1] = i
            out[i] = total

    run(kernel, [np.arange(3 * 5 * 4 * 3, dtype=np.int64).reshape(3, 5, 4, 3), first, np.zeros(5, np.int64)], 1, 32)


# --- shifts by counts of 32 bits (codegen/nvptx/shifts.c)


def shifts(x, counts, by, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    k = int(counts[i])
    out[i, 0], out[i, 1] = x[i] >> k, x[i] >> by
    if k < 63:
        out[i, 2] = (1 << k) & x[i]
    out[i, 3] = (1 << by) & x[i]
    out[i, 4] = (x[i] & 0xFFFF) >> k
    taken = int(x[i])
    found = 0
    for j in range(k - 3, k + 4):
        if 0 <= j < 63 and not taken >> j & 1:
            taken |= 1 << j
            found += j
    out[i, 5] = found + (taken >> k & 1) + (taken & 0xFFFF)


@pytest.mark.parametrize("by", [0, 5, 31, 32, 33, 62])
def test_shifts_by_short_counts(by):
    counts = np.arange(160, dtype=np.int32) % 80
    x = np.random.default_rng(3).integers(-2**62, 2**62, counts.size) * np.where(np.arange(160) < 80, 1, -1)
    run(shifts, [x, counts, by, np.zeros((counts.size, 6), np.int64)], 2, 96)
