"""Places behind conditions and branches, in 32 bits and by one address, with the results of 64 bits and of a wrap for
each: fields of a text at a place that was read (codegen/nvptx/integers/place_versions.c), variables that their loop bounds
(bounded_phis.c, chosen_steps.c), or an index made of them (index_bounds.c), and int(math.floor(x)) + 1 behind guards (rounded.c, shared_addresses.c)."""

import math
import re

import numpy as np
import pytest
from entries_on_cpu import Entries, needs_llc
from harness import simulate
from pyptx import cuda
from test_ptx import ptx_of


def same(kernel, signature, arguments, outputs, threads):
    """The code of that signature (None: of a launch) and CPython, both with these arguments, of which the last ones are
    written. Python has no int of an infinite float: there it is a large one, beyond all bounds like the int64 that
    kernels make of it, and nan is 0."""
    expected, got = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    expected = [np.nan_to_num(a, posinf=1e30, neginf=-1e30) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in expected]
    simulate(kernel, expected, (-(-threads // 32), 1, 1), (32, 1, 1))
    if signature:
        Entries(kernel, signature, 1).run((-(-threads // 32), 1, 1), (32, 1, 1), got, False)
    else:
        cuda.jit(kernel)[-(-threads // 32), 32](*got)
    for a, b in zip(expected[-outputs:], got[-outputs:]):
        np.testing.assert_array_equal(a, b)


# --- fields at a place that was read


def number(text, at, count):
    value = 0
    for k in range(count):
        c = int(text[at + k]) - 48
        if c < 0 or c > 9:
            return -1
        value = value * 10 + c
    return value


def fields(text, starts, marks, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    at = int(starts[i])
    first = number(text, at, 2)
    second = number(text, at + 3, 3)
    value = first * 1000 + second
    if text[at + 2] != ord("-"):
        value = -7
    elif second < 0:
        marks[at + 4] = 1
        value = int(text[at + 4]) - int(text[at - 1])
    elif first > 50:
        for k in range(first - 50):
            value += int(text[at + 6]) + k
            if value % 5 == 4:
                break
    out[i] = value


FIELDS = "narrow void(uint8[::1], {}[::1], uint8[::1], int64[::1])"


@needs_llc
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_fields_at_places_that_may_be_negative(dtype):
    rng = np.random.default_rng(3)
    text = np.frombuffer(b"".join(rng.choice([b"12-345x", b"99-07y1", b"a1-222-", b"51+1234"], 40)), np.uint8).copy()
    n = text.size
    starts = np.concatenate([np.arange(1, n - 7, 7), np.arange(-n + 1, 0), np.arange(0, 30)]).astype(dtype)
    same(fields, FIELDS.format(dtype), [text, starts, np.zeros(n, np.uint8), np.zeros(starts.size, np.int64)], 2, starts.size)


def test_fields_have_one_address_in_one_of_two_versions():
    made = ptx_of(fields, FIELDS.format("int32").replace("void", ""))
    assert len(re.findall(r"ld\.global\.b8.*\+[1-6]\]", made)) >= 6


def alone(text, starts, out):
    """Threads come together between the accesses: they stay as they are."""
    i = cuda.grid(1)
    at = int(starts[i])
    value = int(text[at]) + int(text[at + 1])
    if text[at + 2] > 50:
        value += int(text[at + 3])
    value += cuda.syncthreads_count(value > 100)
    if text[at + 4] > 50:
        value += int(text[at + 5]) - int(text[at + 6])
    out[i] = value


@needs_llc
def test_a_barrier_is_not_written_twice():
    assert ptx_of(alone, "narrow (uint8[::1], int32[::1], int64[::1])").count("bar") == ptx_of(
        alone, "narrow (uint8[::1], uint16[::1], int64[::1])"
    ).count("bar")


# --- variables that their loop bounds


def walks(grid, ox, oy, dx, dy, hits, lengths):
    i = cuda.grid(1)
    if i >= hits.size:
        return
    rows, cols = grid.shape
    x = int(ox[i])
    y = int(oy[i])
    step_x = 1 if dx[i] > 0 else -1
    step_y = 1 if dy[i] > 0 else -1
    turn = 0
    hit = -1
    while 0 <= x < cols and 0 <= y < rows:
        if grid[y, x] != 0:
            hit = y * cols + x
            break
        if turn % 3 == 0:
            y += step_y
        else:
            x += step_x
        turn += 1
    hits[i] = hit
    lengths[i] = turn


FAR = [2.0**31 - 128, 2.0**31, 2.0**32 + 512, 2.0**62, 2.0**63, 1e30, math.inf, math.nan]
EDGES = [0.0, 0.5, 3.0, 6.9, 7.0, -0.5, -1.0, *FAR, -math.inf, -(2.0**31), -(2.0**32) + 512]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_walks_begin_anywhere(dtype):
    grid = (np.random.default_rng(2).random((5, 7)) < 0.1).astype(np.uint8)
    x, y = (a.ravel().astype(dtype) for a in np.meshgrid(EDGES, EDGES))
    rng = np.random.default_rng(1)
    dx, dy = (rng.choice([-1.0, 1.0, math.nan], x.size).astype(np.float32) for _ in range(2))
    same(walks, None, [grid, x, y, dx, dy, np.zeros(x.size, np.int64), np.zeros(x.size, np.int32)], 2, x.size)


def test_a_walk_has_32_bits():
    signature = "narrow (uint8[:,::1], float32[::1], float32[::1], float32[::1], float32[::1], int32[::1], int32[::1])"
    made = ptx_of(walks, signature)
    assert "cvt.rzi.s64" not in made and "setp.lt.s64" not in made and "setp.gt.s64" not in made


def drifts(starts, steps, last, out):
    """What a loop adds is chosen in front of it, or has 64 bits, or the bound has."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    a = starts[i]
    n = 0
    while 0 <= a < last:
        a += 1 if steps[i] > 2 else -1
        n += 1
        if n == 6:
            break
    out[i, 0] = a
    b = starts[i]
    while 0 <= b <= last:
        b += steps[i]
        n += 1
        if n > 12:
            break
    out[i, 1] = b
    c = starts[i]
    by = 3 if steps[i] > 1 else -2
    for k in range(n):
        if k % 3 != 1:
            c += by
    out[i, 2] = c
    out[i, 3] = n


@needs_llc
@pytest.mark.parametrize("last", [2**31 - 1, 2**31, 2**31 + 5, 2**40, 7])
def test_variables_at_the_ends_of_32_bits(last):
    starts = np.array([0, 1, 5, -1, 2**31 - 3, 2**31 - 2, 2**31 - 1, 2**31, 2**32 + 1, 2**40 - 2, -(2**31), 2**63 - 3], np.int64).repeat(6)
    steps = np.tile(np.array([1, 3, -1, 0, 2**31, -(2**33)], np.int64), 12)
    for form in ("void", "narrow void") if last < 2**31 else ("void",):
        same(drifts, f"{form}(int64[::1], int64[::1], int64, int64[:,::1])", [starts, steps, last, np.zeros((starts.size, 4), np.int64)], 1, starts.size)


def together(starts, ends, picks, out):
    """Two variables of which each becomes the other, or one more than one of them."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    s = int(starts[i])
    end = int(ends[i])
    mark = int(starts[i])
    at = i
    while s < end:
        at = (at * 5 + 1) & 15
        pick = picks[at]
        if pick == 0:
            mark = s
        elif pick == 1:
            s += 1
        elif pick == 2:
            mark += 1
            s = mark
        else:
            break
    out[i, 0] = s
    out[i, 1] = mark


@needs_llc
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_variables_that_go_together(dtype):
    near = np.array([-(2**31), -(2**31) + 1, -2, 0, 3, 2**31 - 5, 2**31 - 2, 2**31 - 1], np.int64)
    starts = near.repeat(4).astype(dtype)
    ends = np.minimum(near.repeat(4) + np.tile(np.array([0, 1, 3, 9]), 8), 2**31 - 1).astype(dtype)
    for picks in ([0, 1, 2, 1] * 4, [2, 2, 1, 0] * 4, [1, 2, 2, 1, 0, 2, 1, 3] * 2):
        arguments = [starts, ends, np.array(picks, np.int32), np.zeros((starts.size, 2), np.int64)]
        same(together, f"narrow ({np.dtype(dtype)}[::1], {np.dtype(dtype)}[::1], int32[::1], int64[:,::1])", arguments, 1, starts.size)


def test_variables_that_go_together_have_32_bits():
    made = ptx_of(together, "narrow (int32[::1], int32[::1], int32[::1], int32[:,::1])")
    assert "setp.lt.s64" not in made and "setp.ge.s64" not in made


# --- variables that an index made of them bounds (index_bounds.c)


def shared(x, i, j):
    """-1 beyond the ends."""
    if j < 0 or j >= x.size:
        return -1
    return int(x[i]) & int(x[j]) & 7


def searched(x, by, out):
    """To one side, by steps that double while places are in range, and that are halved then."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    way = 1 if by[i] > 0 else -1
    least = shared(x, i, i - way)
    reach = 2
    while shared(x, i, i + reach * way) > least:
        reach *= 2
    length = 0
    step = reach // 2
    while step > 0:
        if shared(x, i, i + (length + step) * way) > least:
            length += step
        step //= 2
    split = 0
    step = length
    while step > 1:
        step = (step + 1) // 2
        if shared(x, i, i + (split + step) * way) > least:
            split += step
    out[i, 0] = reach
    out[i, 1] = i + length * way
    out[i, 2] = i + split * way + min(way, 0)


def searched_far(x, by, out):
    """By steps of any size; what is out of range is more than the least, so that the loop goes on for a while."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    way = by[i]
    reach = 2
    turns = 0
    while shared(x, i, i + reach * way) != 3 and turns < 30:
        reach *= 3
        turns += 1
    out[i, 0] = reach
    out[i, 1] = i + reach * way
    out[i, 2] = turns


@needs_llc
@pytest.mark.parametrize("search", [searched, searched_far])
@pytest.mark.parametrize("form", ["void", "narrow void"])
def test_searches_by_steps_that_double(search, form):
    rng = np.random.default_rng(9)
    for n in (1, 2, 3, 70, 200):
        x = rng.choice([7, 7, 7, 7, 3, 1], n).astype(np.uint8)
        by = rng.choice([1, -1, 2, -3], n)
        same(search, f"{form}(uint8[::1], int64[::1], int64[:,::1])", [x, by, np.zeros((n, 3), np.int64)], 1, n)


def test_a_search_by_steps_that_double_has_32_bits():
    made = ptx_of(searched, "narrow (uint8[::1], int64[::1], int32[:,::1])")
    assert "setp.ge.u64" not in made and "setp.lt.u64" not in made and "mad.lo.s64" not in made


# --- floors plus a constant, behind guards


def samples(image, places, out, weights):
    i = cuda.grid(1)
    if i >= places.size:
        return
    f = places[i]
    x = int(math.floor(f))
    w = f - x
    n = image.shape[1]
    for c in range(image.shape[0]):
        total = 0
        if 0 <= x < n:
            total += image[c, x] * 3
            weights[0, i] = w
        if 0 <= x + 1 < n:
            total += image[c, x + 1] * 5
            weights[1, i] = w
        if x + 2 >= 0 and n > x + 2:
            total += image[c, x + 2] * 7
        if 0 <= x - 1 < n:
            total += image[c, x - 1] * 11
        if 0 <= x + 255 and x + 255 <= 300:
            total += x + 255
        out[c, i] = total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floors_behind_guards(dtype):
    rng = np.random.default_rng(4)
    places = np.concatenate([EDGES, -np.array(EDGES), rng.uniform(-4, 12, 60), np.arange(-4.0, 12)]).astype(dtype)
    places = np.concatenate([places, np.nextafter(places, dtype(0)), np.nextafter(places, dtype(np.inf))])
    places = places[places == places]  # of nan x is 0, but w is nan
    image = rng.integers(1, 1000, (3, 9))
    same(samples, None, [image, places, np.zeros((3, places.size), np.int64), np.zeros((2, places.size), dtype)], 2, places.size)


def bilinear(image, places, out):
    row = cuda.grid(1)
    if row >= out.shape[1]:
        return
    fx = places[row, 0] * image.shape[2]
    fy = places[row, 1] * image.shape[1]
    x = int(math.floor(fx))
    y = int(math.floor(fy))
    wx = fx - x
    wy = fy - y
    for c in range(image.shape[0]):
        v = np.float32(0.0)
        if 0 <= y < image.shape[1]:
            if 0 <= x < image.shape[2]:
                v += image[c, y, x] * (1 - wx) * (1 - wy)
            if 0 <= x + 1 < image.shape[2]:
                v += image[c, y, x + 1] * wx * (1 - wy)
        if 0 <= y + 1 < image.shape[1]:
            if 0 <= x < image.shape[2]:
                v += image[c, y + 1, x] * (1 - wx) * wy
            if 0 <= x + 1 < image.shape[2]:
                v += image[c, y + 1, x + 1] * wx * wy
        out[c, row] = v


def test_a_sample_has_32_bits_and_an_address_for_each_row():
    made = ptx_of(bilinear, "narrow (float32[:,:,::1], float32[:,::1], float32[:,::1])")
    assert "cvt.rzi.s64" not in made and "cvt.rmi.s64" not in made and "setp.lt.s64" not in made
    assert len(re.findall(r"ld\.global\.b32.*\+4\]", made)) >= 3  # two of them beside others


# --- counters that fall, or go on to a limit of few bits


def best_end(x, lengths, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    total = 0
    best = 0
    end = int(lengths[i])
    for k in range(int(lengths[i]) - 1, -1, -1):
        total += int(x[k, i]) - 3
        if total < 0:
            break
        if total > best:
            best = total
            end = k
    out[i] = 1000 * best + end


@needs_llc
@pytest.mark.parametrize("signature", [None, "narrow (int8[:,::1], int32[::1], int64[::1])"])
def test_counter_that_falls(signature):
    x = np.random.default_rng(5).integers(0, 9, (200, 64)).astype(np.int8)
    lengths = np.array([-(2**31), -(2**31) + 1, -1, 0, 1, 2, 3, 4, 5, 50, 199, 200] + list(range(20, 72)), np.int32)
    same(best_end, signature, [x, lengths, np.zeros(64, np.int64)], 1, 64)


def test_counter_that_falls_has_32_bits():
    ptx = ptx_of(best_end, "narrow (int8[:,::1], int32[::1], int64[::1])")
    assert re.search(r"add\.s32 \t%r\d+, %r\d+, -1;", ptx)  # where sums have 32 bits, too
    assert len(re.findall(r"add\.s64 \t%rd\d+, %rd\d+, -1;", ptx)) <= 2  # where lengths are beyond that


def bits_backwards(x, out):
    i = cuda.grid(1)
    if i >= out.size:
        return
    width = 0
    while int(x[i]) >> width > 0:
        width += 1
    turned = 0
    for bit in range(width):
        turned = turned * 3 + (x[i] >> bit & 1)
    out[i] = turned


@needs_llc
@pytest.mark.parametrize("signature", [None, "narrow (int64[::1], int64[::1])"])
def test_counter_until_a_number_of_bits(signature):
    x = np.array([0, 1, -1, 2, 3, 8, 2**31, 2**32, 2**38 - 1, -(2**63), *range(54)], np.int64)
    same(bits_backwards, signature, [x, np.zeros(64, np.int64)], 1, 64)


# --- conditions that were joined in front


def merged(ones, others, out, counts):
    """Two rings, each of which goes on while it has something left; `any of it` is asked the other way around."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    n, m = ones.shape[1], others.shape[1]
    a = b = count = 0
    while a < n or b < m:
        x, y = int(ones[i, a % n]), int(others[i, (b + 1) % m])
        out[i, count] = x - y
        count += 1
        one = a < n and (x <= y or b == m)
        done = b >= m or (x < y and a != n)
        if one:
            a += 1
        if not done:
            b += 1
    counts[i] = count


@needs_llc
@pytest.mark.parametrize("signature", [None, "narrow (int32[:,::1], int32[:,::1], int64[:,::1], int32[::1])"])
def test_places_behind_joined_conditions(monkeypatch, signature):
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.reciprocals")  # whose products the CPU does not have
    rng = np.random.default_rng(6)
    for n, m in ((1, 1), (3, 5), (4, 1)):
        ones, others = (rng.integers(-5, 6, (64, k)).astype(np.int32) for k in (n, m))
        same(merged, signature, [ones, others, np.zeros((64, n + m), np.int64), np.zeros(64, np.int32)], 2, 64)


def test_places_behind_joined_conditions_have_32_bits():
    ptx = ptx_of(merged, "narrow (int32[:,::1], int32[:,::1], int64[:,::1], int32[::1])")
    assert "div.u64" not in ptx and "mul.hi.u64" not in ptx and "rem.s64" not in ptx


def either(x, out):
    """Neither condition says anything of x where the third one held; the first two do where all failed."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    v = int(x[i])
    far = v > 1000 or v < 0 or v == 500
    if far:
        out[i] = v * 3 + 1
    else:
        out[i] = (v + 7) * 1000003


@needs_llc
@pytest.mark.parametrize("signature", [None, "narrow (int64[::1], int64[::1])"])
def test_either_of_joined_conditions(signature):
    x = np.array([0, 1, -1, 500, 999, 1000, 1001, 2**31, 2**32 + 5, -(2**31), 2**61, -(2**61), *range(52)], np.int64)
    same(either, signature, [x, np.zeros(64, np.int64)], 1, 64)


def common_starts(x, y, out):
    """A search that is left at its branch back, which LLVM rotates; of none, of some and of all elements."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    for k in range(i - 3):
        if x[i, k] != y[i, k]:
            break
        out[i] += k + 1
    for k in range(x.shape[1]):
        if x[i, k] == y[i, k]:
            out[i] += 1000 * k
            break
    else:
        out[i] += 1000000


@needs_llc
@pytest.mark.parametrize("signature", [None, "narrow (int8[:,::1], int8[:,::1], int64[::1])"])
def test_searches_that_are_rotated(signature):
    rng = np.random.default_rng(7)
    x = rng.integers(0, 4, (64, 64)).astype(np.int8)
    y = np.where(rng.random((64, 64)) < rng.random((64, 1)), x, x + 1).astype(np.int8)
    same(common_starts, signature, [x, y, np.zeros(64, np.int64)], 1, 64)


# --- places that were floats, in rows, and the least of 64 bits


def interpolated(x, places, out):
    """Nothing says that a place is from 0 on: its element may count from the end, as may the next one."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    p = places[i]
    j = int(p)
    if j + 1 < x.shape[1]:
        share = p - j
        out[i] = x[i & 3, j] * (1 - share) + x[i & 3, j + 1] * share


def test_places_of_floats_in_rows():
    x = np.random.default_rng(8).random((4, 16)).astype(np.float32)
    edges = [0, -0.0, 0.5, -0.5, -0.99, 14.99, 15, 15.5, 16, 17, -1, -1.5, -2.75, -15.5, -16, np.nan, 2.0**31, 2.0**31 - 128, 2.0**40, 2.0**62]
    places = np.array([*edges, *np.linspace(-16, 20, 64 - len(edges))], np.float32)
    expected = np.zeros(64, np.float32)
    for i, p in enumerate(places):
        j = 0 if np.isnan(p) else int(p)
        if j + 1 < 16:
            share = p - np.float32(j)
            expected[i] = x[i & 3, j] * (1 - share) + x[i & 3, j + 1] * share
    got = np.zeros(64, np.float32)
    cuda.jit(interpolated)[2, 32](x, places, got)
    np.testing.assert_allclose(got, expected, 1e-5, 1e-6)


def test_places_of_floats_in_rows_have_32_bits():
    assert "rzi.s64" not in ptx_of(interpolated, "narrow (float32[:,::1], float32[::1], float32[::1])")


def nearest(x, first, out, which):
    """The least and the most of int64, and where they are."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    low, at = int(first[i]), -1
    high, there = int(first[i]), -1
    for k in range(x.shape[1]):
        v = int(x[i, k])
        if v < low:
            low = v
            at = k
        if high <= v:
            high = v
            there = k
    out[i, 0] = low
    out[i, 1] = high
    which[i] = 100 * at + there


@needs_llc
@pytest.mark.parametrize("signature", [None, "narrow (int64[:,::1], int64[::1], int64[:,::1], int32[::1])"])
def test_the_nearest_of_64_bits(signature):
    rng = np.random.default_rng(9)
    x = rng.integers(-(2**63), 2**63 - 1, (64, 13))
    x[:20] >>= 30
    x[20:30] = (x[20:30] >> 62 << 32) + rng.integers(0, 3, (10, 13))  # which differ in one half only
    first = np.where(rng.random(64) < 0.5, x[:, 4], rng.integers(-(2**63), 2**63 - 1, 64))
    same(nearest, signature, [x, first, np.zeros((64, 2), np.int64), np.zeros(64, np.int32)], 2, 64)
