"""int(math.floor(x)) that is clamped, or becomes a float again: 32 bits on a GPU (codegen/nvptx/integers/rounded.c), with the results of 64 for every
float."""

import itertools
import math
import re

import numpy as np
import pytest
from harness import define
from pyptx import _pyptx, cuda

EDGES = [0.0, 0.5, 1.0, 254.0, 255.5, 2.0**24, 2.0**30, 2.0**31 - 200, 2.0**31 - 1.5, 2.0**31, 2.0**31 + 300, 2.0**32 + 1.5, 2.0**53, 2.0**62, 2.0**63, 2.0**64, 1e30, math.inf]
ADDED = [-255, -2, -1, 0, 1, 2, 255]


def values(dtype):
    numbers = np.array([s * x for x, s in itertools.product(EDGES, (1, -1))], dtype)
    beside = [np.nextafter(numbers, dtype(0)), np.nextafter(numbers, dtype(np.inf))]
    return np.concatenate([numbers, *beside, np.random.default_rng(5).normal(0, 300, 60).astype(dtype), np.array([np.nan], dtype)])


def whole(x, name):
    """int64: the nearest end beyond it, 0 for nan."""
    v = getattr(np, name)(x.astype(np.float64))
    inside = np.abs(v) < 2.0**63
    ends = np.where(v > 0, np.int64(2**63 - 1), np.where(v < 0, np.int64(-(2**63)), np.int64(0)))
    return np.where(inside, np.where(inside, v, 0).astype(np.int64), ends)


CLAMPS = """
def kernel(x, high, clamped, turned, back, bytes, left):
    i = cuda.grid(1)
    if i < x.size:
        v = int({}(x[i]))
        n = {}
        left[i] = x[i] - v
        bytes[0, i] = min(max(v, 0), 255)
        bytes[1, i] = min(max(v - 1, 3), 255)
{}
"""
LINES = """        clamped[{k}, i] = min(max(v + {c}, {low}), n)
        turned[{k}, i] = max(min(v + {c}, n), {low})
        back[{k}, i] = np.float32(v + {c})
"""


def kernel_for(rounds, high):
    lines = "".join(LINES.format(k=k, c=c, low=(0, -7)[k % 2]) for k, c in enumerate(ADDED))
    return define(CLAMPS.format("" if rounds == "int" else f"math.{rounds}", high, lines))


def run(kernel, rounds, dtype, bound, high):
    x = values(dtype)
    shape = len(ADDED), x.size
    clamped, turned, back = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    small, left = np.zeros((2, x.size), np.uint8), np.zeros(x.size, dtype)
    kernel[-(-x.size // 64), 64](x, bound, clamped, turned, back, small, left)
    rounds = "trunc" if rounds == "int" else rounds
    sums = whole(x, rounds)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(left, x - sums.astype(dtype))
    np.testing.assert_array_equal(small, [np.clip(sums, 0, 255), np.clip(sums - np.int64(1), 3, 255)])
    for k, c in enumerate(ADDED):
        with np.errstate(over="ignore"):
            sums = whole(x, rounds) + np.int64(c)
        low = (0, -7)[k % 2]
        np.testing.assert_array_equal(clamped[k], np.minimum(np.maximum(sums, low), high))
        np.testing.assert_array_equal(turned[k], np.maximum(np.minimum(sums, high), low))
        np.testing.assert_array_equal(back[k].view(np.int32), sums.astype(np.float32).view(np.int32))


@pytest.mark.parametrize("rounds, dtype", [("floor", np.float32), ("floor", np.float64), ("ceil", np.float32), ("trunc", np.float32), ("int", np.float32), ("int", np.float64)])
def test_every_float_has_the_results_of_64_bits(rounds, dtype):
    kernel = cuda.jit(kernel_for(rounds, "int(high[0])"))
    for high in -3, 0, 1000, 2**31 - 2, 2**31 - 1:
        run(kernel, rounds, dtype, np.array([high], np.int32), high)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_last_element_of_an_array_is_the_bound(dtype):
    """It is below 2**31 - 1, so that something may be subtracted."""
    kernel = cuda.jit(kernel_for("floor", "high.size - 1"))
    for extent in 1, 2, 700:
        run(kernel, "floor", dtype, np.zeros(extent, np.int8), extent - 1)


def guarded(x, counts, at, flags, bytes):
    i = cuda.grid(1)
    if i < x.size:
        v = int(math.floor(x[i]))
        n = counts.size
        if 0 <= v < n:
            cuda.atomic.add(counts, v, 1)
            at[0, i] = v
        if v < 0 or v > n - 2:
            at[1, i] = -1
        else:
            at[1, i] = 3 * v + 1
        if v >= 0 and v <= 2**31 - 2:
            at[2, i] = v
        if -5 < v and n - 3 >= v:
            at[3, i] = v
        flags[0, i] = v < n
        flags[1, i] = v >= n - 1
        flags[2, i] = v > -(2**31)
        flags[3, i] = v < -(2**31)
        flags[4, i] = v <= 2**31 - 1
        flags[5, i] = v > 2**31 - 1
        flags[6, i] = n - 1 < v
        bytes[0, i] = min(v, 255)
        bytes[1, i] = min(v, -3)
        bytes[2, i] = max(v, 7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_comparisons_and_what_is_behind_them(dtype):
    x = values(dtype)
    v = whole(x, "floor")
    for n in 1, 2, 3, 700:
        counts, at, flags = np.zeros(n, np.int32), np.full((4, x.size), -9, np.int64), np.zeros((7, x.size), np.bool_)
        small = np.zeros((3, x.size), np.uint8)
        cuda.jit(guarded)[-(-x.size // 64), 64](x, counts, at, flags, small)
        np.testing.assert_array_equal(counts, np.bincount(v[(v >= 0) & (v < n)], minlength=n))
        with np.errstate(over="ignore"):
            expected = [
                np.where((v >= 0) & (v < n), v, -9), np.where((v < 0) | (v > n - 2), -1, 3 * v + 1),
                np.where((v >= 0) & (v <= 2**31 - 2), v, -9), np.where((v > -5) & (v <= n - 3), v, -9),
            ]  # fmt: skip
        np.testing.assert_array_equal(at, expected)
        limits = [v < n, v >= n - 1, v > -(2**31), v < -(2**31), v <= 2**31 - 1, v > 2**31 - 1, v > n - 1]
        np.testing.assert_array_equal(flags, limits)
        lowest = [np.minimum(v, 255), np.minimum(v, -3), np.maximum(v, 7)]
        np.testing.assert_array_equal(small, np.array(lowest).astype(np.uint8))


def bins(x, low, scale, counts):
    i = cuda.grid(1)
    if i < x.size:
        b = int((x[i] - low) * scale)
        if 0 <= b < counts.size:
            cuda.atomic.add(counts, b, 1)


def sampled(image, scale, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        y, x = i * scale, j * scale
        top, left = int(math.floor(y)), int(math.floor(x))
        if 0 <= top < image.shape[0] - 1 and 0 <= left < image.shape[1] - 1:
            out[i, j] = image[top, left] + (x - left) * image[top, left + 1] + (y - top) * image[top + 1, left]


def quantised(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[0, i] = min(max(int(x[i] * 255 + np.float32(0.5)), 0), 255)
        out[1, i] = min(int(x[i] * 255), 255)


@pytest.mark.parametrize(
    "kernel, signature",
    [
        (bins, "float32[::1], float32, float32, int32[::1]"),
        (sampled, "float32[:,::1], float32, float32[:,::1]"),
        (quantised, "float32[::1], uint8[:,::1]"),
    ],
)
def test_guarded_and_clamped_numbers_have_32_bits(kernel, signature):
    made = cuda.compile_ptx(kernel, f"narrow ({signature})", cc="sm_90", coarsen=1)[0]
    assert "cvt.rzi.s32.f32" in made and "cvt.rzi.s64.f32" not in made
    assert "cvt.rn.f32.s64" not in made and "cvt.rn.f32.u64" not in made and not re.search(r"setp\.\w+\.[su]64", made)


def taps(x, high, clamped, back):
    i = cuda.grid(1)
    if i < x.size:
        v = int(math.floor(x[i]))
        total = np.float32(0)
        for j in range(-2, 4):
            at = min(max(v + j, 0), high.size - 1)
            if at > 0:  # a branch, as a filter's weights have
                total += high[at]
            clamped[j + 2, i] = at + (total - total)
            back[j + 2, i] = np.float32(v + j)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_added_is_the_counter_of_a_short_loop(dtype):
    x = values(dtype)
    clamped, back = np.zeros((6, x.size), np.int64), np.zeros((6, x.size), np.float32)
    for extent in 1, 3, 700:
        cuda.jit(taps)[-(-x.size // 64), 64](x, np.zeros(extent, np.float32), clamped, back)
        for j in range(-2, 4):
            with np.errstate(over="ignore"):
                sums = whole(x, "floor") + np.int64(j)
            np.testing.assert_array_equal(clamped[j + 2], np.clip(sums, 0, extent - 1))
            np.testing.assert_array_equal(back[j + 2].view(np.int32), sums.astype(np.float32).view(np.int32))


def test_short_loops_are_unrolled_for_that():
    def rows(image, y, out):
        i = cuda.grid(1)
        if i < out.size:
            top = int(math.floor(y[i]))
            total = np.float32(0)
            for j in range(-1, 3):
                t = y[i] - np.float32(top + j)
                if t > 0:
                    t = t * t + 1
                elif t > -1:
                    t = t * (t + 2)
                total += image[min(max(top + j, 0), image.size - 1)] * t
            out[i] = total

    made = cuda.compile_ptx(rows, "void(float32[::1], float32[::1], float32[::1])", cc="sm_90", coarsen=1)[0]
    assert "cvt.rzi.s64.f32" not in made and "cvt.rn.f32.s64" not in made and made.count("ld.global.b32") == 5
    assert "min.u32" not in made  # a clamp to an extent needs no wrapping


def parts(x, low, rest, mixed):
    i = cuda.grid(1)
    if i < x.size:
        at = int(math.floor(x[i]))
        low[0, i] = at & 255
        low[1, i] = at & 0x7FFFFFFFFFFF
        low[2, i] = at & 3 if at & 1 else (at >> 1) & 15
        rest[i] = x[i] - at
        mixed[i] = (x[i] - math.floor(x[i])) * np.float32(2) + math.floor(x[i])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_left_of_it(dtype):
    """The place in a table of 256, and the distance from there, as noise takes them."""
    x = values(dtype)
    low, rest, mixed = np.zeros((3, x.size), np.int64), np.zeros(x.size, dtype), np.zeros(x.size, dtype)
    cuda.jit(parts)[-(-x.size // 64), 64](x, low, rest, mixed)
    at = whole(x, "floor")
    np.testing.assert_array_equal(low, [at & 255, at & 0x7FFFFFFFFFFF, np.where(at & 1, at & 3, at >> 1 & 15)])
    number = ~np.isnan(x)
    with np.errstate(invalid="ignore", over="ignore"):
        np.testing.assert_array_equal(rest, x - at.astype(dtype))
        np.testing.assert_array_equal(np.signbit(rest)[number], np.signbit(x - at.astype(dtype))[number])
        np.testing.assert_array_equal(mixed, (x - at.astype(dtype)) * dtype(2) + at.astype(dtype))


def test_it_takes_no_selections():
    def kernel(table, x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = table[int(math.floor(x[i])) & 255] * (x[i] - math.floor(x[i]))

    made = cuda.compile_ptx(kernel, "void(float32[::1], float32[::1], float32[::1])", cc="sm_90", coarsen=1)[0]
    assert "selp" not in made and "setp.nan" not in made


def from_table(table, x, out):
    """Of a table whose length is a power of two, by a number, the next one, and what is found there and a number."""
    i = cuda.grid(1)
    if i < x.size:
        last = table.size - 1
        at = int(math.floor(x[i]))
        first, second, third = table[at & last], table[last & (at + 1)], table[(table[at & last] + at) & last]
        out[0, i], out[1, i], out[2, i] = first, second, third


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 256, 1 << 20])
def test_places_in_a_table(size, dtype):
    """Masked places need no wrapping, and of nan no selection: their low bits are 0."""
    x, table = values(dtype), np.random.default_rng(size).permutation(size).astype(np.int32)
    out = np.zeros((3, x.size), np.int32)
    cuda.jit(from_table)[-(-x.size // 64), 64](table, x, out)
    at, last = whole(x, "floor"), size - 1
    with np.errstate(over="ignore"):
        first = table[at & last]
        np.testing.assert_array_equal(out, [first, table[at + 1 & last], table[first + at & last]])
    made = cuda.compile_ptx(from_table, f"narrow (int32[::1], {x.dtype}[::1], int32[:,::1])", cc="sm_90", coarsen=1)[0]
    assert not any(word in made for word in ("selp", "setp.nan", "min."))


def nearest(image, x, out):
    i = cuda.grid(1)
    if i < out.size:
        at = int(math.floor(x[i]))
        before = image[min(max(at - 1, 0), image.size - 1)] + image[min(max(at, 0), image.size - 1)]
        out[i] = before + image[min(max(at + 1, 0), image.size - 1)] * (x[i] - np.float32(at))


def pixel(image, x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = min(max(int(x[i]), 0), 255) + min(max(int(x[i] + image[i]) + 1, 3), 9)


def far(image, x, out):  # bounds of 64 bits
    i = cuda.grid(1)
    if i < out.size:
        out[i] = min(max(int(math.floor(x[i])), 0), 1 << 40)


@pytest.mark.parametrize("kernel, dtype, wide", [(nearest, "float32", False), (nearest, "float64", False), (pixel, "float32", False), (pixel, "float64", False), (far, "float32", True)])
def test_the_conversions_have_32_bits(kernel, dtype, wide):
    made = _pyptx._compile(kernel, f"float32[::1], {dtype}[::1], float32[::1]", "nvptx", "sm_90", 0, {}, "ptx")["ptx"]
    to64 = f"cvt.rzi.s64.f{dtype[-2:]}" in made
    assert to64 == (wide or (kernel is nearest and dtype == "float64"))  # float32 of a float64 that was rounded is another number


def hashed(x, mixed, bytes):
    i = cuda.grid(1)
    if i < x.size:
        mixed[i] = np.uint32(int(math.floor(x[i]))) * np.uint32(2654435769) ^ np.uint32(i)
        bytes[i] = (int(x[i]) & 255) * 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_low_halves_of_nan_are_0_by_themselves(dtype):
    """The conversion makes -2**63 of it: masks and products of the low half ask for no nan (nvptx/integers/low_halves.c)."""
    x = values(dtype)
    mixed, places = np.zeros(x.size, np.uint32), np.zeros(x.size, np.int32)
    cuda.jit(hashed)[-(-x.size // 64), 64](x, mixed, places)
    v, w = [[int(n) for n in whole(x, name)] for name in ("floor", "trunc")]
    assert mixed.tolist() == [(n * 2654435769 % 2**32) ^ k for k, n in enumerate(v)]
    assert places.tolist() == [(n & 255) * 4 for n in w]
    kind = {np.float32: "float32", np.float64: "float64"}[dtype]
    made = cuda.compile_ptx(hashed, f"narrow ({kind}[::1], uint32[::1], int32[::1])", cc="sm_90", coarsen=1)[0]
    assert "setp.nan" not in made


def neighbours(x, a, flags, sums, between):
    i = cuda.grid(1)
    if i < x.size:
        v = int(math.floor(x[i]))
        n = a.size
        if v >= 0 and v + 1 < n:
            flags[0, i] = 1
        flags[1, i] = v + 2 <= n
        flags[2, i] = v + 1 > n - 3
        flags[3, i] = n <= v + 255
        if not x[i] >= 2.0**62:
            k = int(math.floor(x[i]))
            if k >= 0 and k + 1 < n:
                part = x[i] - k
                between[i] = (1 - part) * a[k] + part * a[k + 1]
                sums[i] = 3 * k + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("extent", [0, 1, 2, 300])
def test_sums_are_compared_as_those_of_64_bits(dtype, extent):
    """The greatest int64 and 1 is less than everything."""
    x = values(dtype)
    a = np.random.default_rng(2).random(extent).astype(dtype)
    flags, sums, between = np.zeros((4, x.size), np.int8), np.zeros(x.size, np.int64), np.zeros(x.size, dtype)
    cuda.jit(fma=False)(neighbours)[-(-x.size // 64), 64](x, a, flags, sums, between)
    v = whole(x, "floor")
    with np.errstate(over="ignore"):
        more = [v + np.int64(c) for c in (1, 2, 255)]
    expected = [(v >= 0) & (more[0] < extent), more[1] <= extent, more[0] > extent - 3, extent <= more[2]]
    np.testing.assert_array_equal(flags, expected)
    inside = (v >= 0) & (v < extent - 1)
    np.testing.assert_array_equal(sums, np.where(inside, 3 * v + 1, 0))
    k = np.where(inside, v, 0)
    for i in np.flatnonzero(inside):
        part = x[i] - dtype(k[i])
        np.testing.assert_equal(between[i], (dtype(1) - part) * a[k[i]] + part * a[k[i] + 1])


CHOICES = {
    "min(max(x[i], 0.0), np.float32(n - 1))": lambda x, n: np.where(x < 0, 0, np.where(x > n - 1, n - 1, x)),
    "max(min(x[i], np.float32(n - 1)), 0.0)": lambda x, n: np.maximum(np.where(x > n - 1, n - 1, x), 0),
    "x[i] if x[i] < 1e9 else 5.5": lambda x, n: np.where(x < np.float32(1e9), x, 5.5),
    "x[i] if -3e9 < x[i] else 5.5": lambda x, n: np.where(x > np.float32(-3e9), x, 5.5),
    "x[i] if not (x[i] > edge[0]) else 5.5": lambda x, n: x,
    "min(max(x[i], -7.5), 9.25)": lambda x, n: np.where(x < -7.5, -7.5, np.where(x > 9.25, 9.25, x)),
}
CLAMPED = """
def kernel(x, edge, a, at, next, part):
    i = cuda.grid(1)
    if i < x.size:
        n = a.size
        y = np.float32({})
        k = int(y)
        at[i] = k
        next[i] = min(k + 1, n - 1)
        part[i] = y - k
"""


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("extent", [1, 300])
def test_what_was_clamped_before_is_an_integer_of_32_bits(choice, extent):
    """A comparison with nan bounds nothing."""
    x = values(np.float32)
    at, next, part = np.zeros(x.size, np.int64), np.zeros(x.size, np.int64), np.zeros(x.size, np.float32)
    kernel = cuda.jit(define(CLAMPED.format(choice)))
    kernel[-(-x.size // 64), 64](x, np.array([np.nan], np.float32), np.zeros(extent), at, next, part)
    with np.errstate(invalid="ignore"):
        y = CHOICES[choice](x, np.float32(extent)).astype(np.float32)
        v = whole(y, "trunc")
        with np.errstate(over="ignore"):
            more = v + np.int64(1)
        np.testing.assert_array_equal(part, y - v.astype(np.float32))
    np.testing.assert_array_equal(at, v)
    np.testing.assert_array_equal(next, np.minimum(more, extent - 1))


def counted_in_halves(counts, out):
    i = cuda.grid(1)
    if i < counts.size:
        h = np.float16(counts[i])
        out[i] = int(np.float32(h))


def test_integers_that_halves_cannot_hold():
    """They become infinite, whose integer is the greatest int64."""
    counts, out = np.array([0, 7, 65504, 65519, 65520, 70000, 2**31 - 1, -(2**31)], np.int32), np.zeros(8, np.int64)
    cuda.jit(counted_in_halves)[1, 32](counts, out)
    with np.errstate(over="ignore"):
        halves = counts.astype(np.float16).astype(np.float32)
    np.testing.assert_array_equal(out, whole(halves, "trunc"))


def test_of_guarded_and_clamped_floats_nothing_has_64_bits():
    arrays = "float32[::1], float32[::1], int8[:, ::1], int64[::1], float32[::1]"
    text = cuda.compile_ptx(sure, "narrow (float32[::1], float32[::1], float32[::1])", cc="sm_90")[0]
    assert "cvt.rzi.s64" not in text and "cvt.rmi.s64" not in text
    text = cuda.compile_ptx(neighbours, arrays, cc="sm_90")[0]
    assert "0f5F000000" in text  # 2^63: a sum that may wrap around is asked for


def sure(x, a, out):
    i = cuda.grid(1)
    if i < x.size:
        k = int(math.floor(x[i]))
        if k >= 0 and k + 1 < a.size:
            part = x[i] - k
            out[i] = (1 - part) * a[k] + part * a[k + 1]
        y = min(max(x[i], 0.0), np.float32(a.size - 1))
        top = int(y)
        out[i] += a[top] + a[min(top + 1, a.size - 1)]


def bounded(x, limit, out, back):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        if not v <= 0:
            out[0, i] = min(int(v), 254)
            out[1, i] = min(int(v), limit[0])
            back[i] = v - min(int(v), 254)
        if v >= -3 and v < 1000:
            out[2, i] = int(v)
        if v < -1e30 or v > 2e9:
            return
        out[3, i] = int(v)
        if v > 5:
            out[4, i] = int(v) + 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_branches_bound_what_is_converted(dtype):
    """A nan passes some of them."""
    x, limit = values(dtype), np.array([2**40], np.int64)
    out, back = np.full((5, x.size), -9, np.int64), np.zeros(x.size, dtype)
    cuda.jit(bounded)[-(-x.size // 64), 64](x, limit, out, back)
    v, least = whole(x, "trunc"), np.minimum(whole(x, "trunc"), 254)
    stays = ~((x < -1e30) | (x > 2e9))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(back, np.where(~(x <= 0), x - least.astype(dtype), 0))
    np.testing.assert_array_equal(out[0], np.where(~(x <= 0), least, -9))
    np.testing.assert_array_equal(out[1], np.where(~(x <= 0), np.minimum(v, 2**40), -9))
    np.testing.assert_array_equal(out[2], np.where((x >= -3) & (x < 1000), v, -9))
    np.testing.assert_array_equal(out[3], np.where(stays, v, -9))
    np.testing.assert_array_equal(out[4], np.where(stays & (x > 5), v + 1, -9))


def least_bounded(x, out):
    v = x[0]
    if not v <= 0:
        n = min(int(v), 254)
        out[0] = v - n
        out[1] = n
    if v > 5:
        out[2] = min(int(v), 200)


def test_a_minimum_behind_a_branch_has_32_bits():
    ptx = cuda.compile_ptx(least_bounded, "narrow (float32[:], float32[:])", cc="sm_90")[0]
    assert "s64.f32" not in ptx and "f32.s64" not in ptx
