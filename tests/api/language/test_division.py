"""// and % of integers whose divisor is known at run time only: each width of operands takes code of its own on a GPU (codegen/lower/divide.c)."""

import itertools

import numpy as np
import pytest
from pyptx import cuda

EDGES = [0, 1, 2, 3, 7, 1000003, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 10**12, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def both(a, b, q, r):
    i = cuda.grid(1)
    if i < a.size:
        x, y = a[i], b[i]
        q[i] = x // y
        r[i] = x % y


def one_each(a, b, q, r):
    i = cuda.grid(1)
    if i < a.size:
        if i % 2 == 0:
            q[i] = a[i] // b[i]
        else:
            r[i] = a[i] % b[i]


def all_by_each(a, b, q, r):
    """A column of quotients for each divisor, and one of remainders, each of which depends on the one before."""
    i = cuda.grid(1)
    if i < b.size:
        y = b[i]
        last = a[0]
        for k in range(a.size):
            q[k, i] = a[k] // y
            last = (a[k] - last) % y
            r[k, i] = last


def operands(dtype):
    """Pairs of edges with every sign, and random ones of all widths."""
    info, rng = np.iinfo(dtype), np.random.default_rng(7)
    edges = sorted({v for e in EDGES for v in (e, -e, -e - 1) if info.min <= v <= info.max})
    a, b = np.array(list(itertools.product(edges, edges)), dtype).T
    shift = rng.integers(0, info.bits, 1500).astype(dtype)
    some = [rng.integers(info.min, info.max, 1500, dtype, endpoint=True) >> s for s in (shift, shift[::-1])]
    return np.concatenate([a, some[0]]), np.concatenate([b, some[1]])


def python(a, b, dtype):
    """CPython's results, wrapped; by 0 both are 0."""
    bits = np.iinfo(dtype).bits
    pairs = [divmod(int(x), int(y)) if y else (0, 0) for x, y in zip(a, b)]
    wrapped = [[int(v) & (1 << bits) - 1 for v in column] for column in zip(*pairs)]
    return [np.array(column, f"uint{bits}").view(dtype) for column in wrapped]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32])
def test_all_widths_and_signs(dtype):
    a, b = operands(dtype)
    expected = python(a, b, dtype)
    q, r = np.zeros_like(a), np.zeros_like(a)
    cuda.jit(both)[-(-len(a) // 128), 128](a, b, q, r)
    np.testing.assert_array_equal(q, expected[0])
    np.testing.assert_array_equal(r, expected[1])
    q[:], r[:] = 0, 0
    cuda.jit(one_each)[-(-len(a) // 128), 128](a, b, q, r)
    np.testing.assert_array_equal(q[::2], expected[0][::2])
    np.testing.assert_array_equal(r[1::2], expected[1][1::2])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint32])
def test_divisors_of_a_loop(dtype):
    """codegen/nvptx/floats/reciprocals.c: what a loop divides by is inverted once, for operands of every size and sign."""
    pairs = operands(dtype)
    a, b = np.unique(pairs[0][:-1500])[::-1], np.concatenate([np.unique(pairs[1][:-1500]), pairs[1][-40:]])
    q, r = np.zeros((2, len(a), len(b)), dtype)
    cuda.jit(all_by_each)[-(-len(b) // 32), 32](a, b, q, r)
    for column, y in enumerate(b):
        np.testing.assert_array_equal(q[:, column], python(a, [y] * len(a), dtype)[0])
        before = np.concatenate([a[:1], r[:-1, column]])
        np.testing.assert_array_equal(r[:, column], python(a - before, [y] * len(a), dtype)[1])


def one_after_the_other(a, b, q, r):
    last = a[0]
    for k in range(a.size):
        q[k] = a[k] // b[k]
        last = (a[k] ^ last) % b[k]
        r[k] = last


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int32, np.uint32])
def test_divisions_of_one_thread(dtype):
    """codegen/host/division_guards.c: where a division needs a correction, a branch leads to it."""
    a, b = operands(dtype)
    q, r = np.zeros_like(a), np.zeros_like(a)
    cuda.jit(one_after_the_other)[1, 1](a, b, q, r)
    np.testing.assert_array_equal(q, python(a, b, dtype)[0])
    before = np.concatenate([a[:1], r[:-1]])
    np.testing.assert_array_equal(r, python(a ^ before, b, dtype)[1])


def hashed(a, b, q, r):
    i = cuda.grid(1)
    if i < a.size:
        r[i] = a[i] % b[i]


def test_the_remainder_of_a_hash_by_a_count(one_entry):
    """A uint32 by an int32 of either sign: one division of 32 bits on a GPU, by the count's magnitude."""
    a, b = operands(np.uint32)[0], operands(np.int32)[1]
    a, b = (x.ravel() for x in np.meshgrid(a[::7], np.r_[b[:60], b[-60:]]))
    r = np.zeros(len(a), np.int64)
    cuda.jit(hashed)[-(-len(a) // 128), 128](a, b, r, r)
    np.testing.assert_array_equal(r, python(a, b, np.int64)[1])
    ptx = ptx_of(hashed, "narrow (uint32[::1], int32[::1], int64[::1], int64[::1])")
    assert ptx.count("rem.u32") + ptx.count("div.u32") == 1 and "rem.u64" not in ptx and "div.u64" not in ptx


def halved(a, b, q, r):
    i = cuda.grid(1)
    if i < a.size:
        r[i] = (a[i] >> 1) % b[i]


def test_the_remainder_of_a_short_number(one_entry):
    """A number of 31 bits by one of either sign, the lowest too: a difference behind the remainder, no question."""
    a, b = operands(np.uint32)[0], operands(np.int32)[1]
    a = np.r_[a[::5], np.uint32(2**32 - 1), np.arange(12, dtype=np.uint32)]
    a, b = (x.ravel() for x in np.meshgrid(a, np.r_[b[:60], b[-60:], np.arange(-7, 8, dtype=np.int32), np.int32(-(2**31))]))
    r = np.zeros(len(a), np.int64)
    cuda.jit(halved)[-(-len(a) // 128), 128](a, b, r, r)
    np.testing.assert_array_equal(r, python(a >> 1, b, np.int64)[1])
    ptx = ptx_of(halved, "narrow (uint32[::1], int32[::1], int64[::1], int64[::1])")
    assert ptx.count("rem.u32") == 1
    assert ptx[ptx.index("rem.u32") :].splitlines()[1].split()[0] == "sub.s32"


def by_extents(a, table, once, out, first, last):
    i = cuda.grid(1)
    if i < a.size:
        once[i] = a[i] % table.size
        total = 0
        for k in range(first, last):
            total += table[(a[i] - k) % table.size] + k
        out[i] = total


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 1000, 65537])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_remainders_by_extents(size, dtype):
    """Of numbers of both signs by what is not negative: an unsigned remainder and a minimum."""
    a = np.unique(operands(np.int32)[0]).astype(dtype)
    table, once, out = np.arange(size, dtype=dtype), np.zeros(len(a), dtype), np.zeros(len(a), np.int64)
    cuda.jit(by_extents)[-(-len(a) // 128), 128](a, table, once, out, 0, 3)
    np.testing.assert_array_equal(once, a % size)
    below = [(a - dtype(k)).astype(dtype) % size + k for k in range(3)]
    np.testing.assert_array_equal(out, np.sum(below, axis=0, dtype=np.int64))


def test_a_remainder_by_an_extent_of_none(one_entry):
    a, none = operands(np.int32)[0], np.zeros(0, np.int32)
    once, out = np.ones_like(a), np.ones(len(a), np.int64)
    cuda.jit(by_extents)[-(-len(a) // 128), 128](a, none, once, out, 0, 0)
    assert not once.any() and not out.any()


def test_a_remainder_by_an_extent_has_no_sign(one_entry):
    """In a loop its reciprocal is in front of it."""
    ptx = ptx_of(by_extents, "narrow (int32[::1], int32[::1], int32[::1], int64[::1], int64, int64)")
    assert "rem.s32" not in ptx and ptx.count("rem.u32") == 1 and "mul.hi.u32" in ptx


def ptx_of(kernel, signature):
    return cuda.compile_ptx(kernel, signature, cc="sm_90", coarsen=1)[0]


def test_the_short_way_is_one_division(one_entry):
    """Of both results one quotient, of 32 bits or of 64, and no test by LLVM's code generator before the latter."""
    ptx = ptx_of(both, "int64[::1], int64[::1], int64[::1], int64[::1]")
    assert ptx.count("div.u32") == 1 and ptx.count("div.u64") == 1
    assert "rem." not in ptx and "div.s64" not in ptx


def test_a_reciprocal_is_computed_once(one_entry):
    """In the loop the reciprocal, and the short divisions; one of 64 bits is in front of the loop."""

    def kernel(a, n, out):
        i = cuda.grid(1)
        x = a[i] % n
        for k in range(64):
            x = (x * x + k) % n
            if x & 1:
                x = x * 3 % n
        out[i] = x

    ptx = ptx_of(kernel, "int64[::1], int64, int64[::1]")
    assert ptx.count("rem.u64") == 1 and "div.u64" in ptx and ptx.count("mul.hi.u64") >= ptx.count("div.u64")


def test_a_short_reciprocal_is_in_front_of_the_loop(one_entry):
    """One division of 32 bits, and none for an iteration; but where a thread has few iterations they keep theirs."""

    def probes(keys, slots, n, out):
        i = cuda.grid(1)
        at = keys[i] % n
        while slots[at] != keys[i]:
            at = (at + 1) % n
        out[i] = at

    def shared(keys, slots, n, out):
        for i in range(cuda.grid(1), keys.size, cuda.gridsize(1)):
            out[i] = keys[i] % n

    signature = "narrow (uint32[::1], uint32[::1], uint32, uint32[::1])"
    loop = ptx_of(probes, signature).partition("$L__BB0_1:")[2]
    assert loop.count("mul.hi.u32") == 1 and "rem.u32" not in loop and "div.u32" not in loop
    assert "mul.hi.u32" not in ptx_of(shared, signature)


def test_a_result_is_not_computed_twice(one_entry):
    def kernel(a, n, out):
        i = cuda.grid(1)
        if i < a.size:
            x = a[i]
            if x % n > 3:
                out[i // n, i % n] = x % n

    ptx = ptx_of(kernel, "int64[::1], int64, int64[:,::1]")
    assert ptx.count("rem.u32") + ptx.count("div.u32") == 2


def test_operands_that_are_computed_twice_are_divided_once(one_entry):
    """Products, sums and differences of the same numbers, of what was loaded too: launches make sure that a store to another array has not changed it."""

    def resample(a, up, down, q, r):
        i = cuda.grid(1)
        if i < a.size:
            q[i] = (a[0] + i * up) // (down - 1)
            at = a[0]
            q[i] = (at + i * up) // (down - 1)
            r[i] = (at + i * up) % (down - 1)

    ptx = ptx_of(resample, "narrow (int64[::1], int64, int64, int64[::1], int64[::1])")
    assert ptx.count("div.u32") == 1 and "rem." not in ptx
    a, q, r = np.full(200, -(2**40) + 7), np.zeros(200, np.int64), np.zeros(200, np.int64)
    for up, down in ((147, 161), (-147, 161), (2**34, -6), (5, 1)):
        cuda.jit(resample)[2, 128](a, up, down, q, r)
        expected = python(a + np.arange(200) * up, [down - 1] * 200, np.int64)
        np.testing.assert_array_equal(q, expected[0])
        np.testing.assert_array_equal(r, expected[1])
