"""Division of integers by neighbouring threads: on the host device as floats (codegen/lanes/divide.c). Compared with
Python's own integers, for numbers of all sizes and those at which a rounded quotient could be one off.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from harness import run as compare
from pyptx import cuda

DTYPES = ["int64", "uint64", "int32", "uint32", "int16", "uint16"]


def both(x, y, quotients, rests):
    i = cuda.grid(1)
    if i < x.size:
        quotients[i] = x[i] // y[i]
        rests[i] = x[i] % y[i]


def by_one(x, y, quotients, rests):
    i = cuda.grid(1)
    if i < x.size:
        quotients[i] = x[i] // y[0]
        rests[i] = x[i] % y[0]


def under_masks(x, y, quotients, rests):
    i = cuda.grid(1)
    if i < x.size:
        if y[i] != 0 and x[i] % 3 != 1:
            quotients[i] = x[i] // y[i]
        else:
            rests[i] = x[i] % y[i]


def numbers(dtype, n, rng):
    """Numbers of every length, the ends of the type, and those around powers of two."""
    info = np.iinfo(dtype)
    bits = rng.integers(0, info.bits + 1, n)
    some = [int(rng.integers(0, 2**63)) * 2 + int(rng.integers(0, 2)) for _ in range(n)]
    some = [v >> (64 - int(b)) if b else 0 for v, b in zip(some, bits)]
    near = [(1 << k) + d for k in range(info.bits) for d in (-2, -1, 0, 1, 2)]
    some += [v for v in near if info.min <= v <= info.max] + [info.min, info.min + 1, info.max, info.max - 1]
    some = [v - (1 << info.bits) if v > info.max else v for v in some]
    return [v * int(s) if info.min <= -v <= info.max else v for v, s in zip(some, rng.choice([1, -1], len(some)))]


def pairs(dtype, n):
    """x and y: of any size, and x next to multiples of y."""
    info, rng = np.iinfo(dtype), np.random.default_rng(7)
    x, y = numbers(dtype, n, rng), numbers(dtype, n, rng)
    rng.shuffle(y)
    factors = numbers(dtype, n, rng)
    next_to = [(d * (f % (info.max // max(abs(d), 1) + 1)) + int(rng.integers(-2, 3)), d) for d, f in zip(y, factors)]
    next_to = [p for p in next_to if info.min <= p[0] <= info.max]
    x += [p[0] for p in next_to]
    y += [p[1] for p in next_to]
    x += [info.min, info.max, info.min, info.max, 5]
    y += [-1 if info.min else 1, 1, info.max, info.max, 0]
    return np.array(x, dtype), np.array(y, dtype)


def expected(x, y):
    """As pyptx defines it: by 0 both are 0, and what does not fit wraps."""
    info = np.iinfo(x.dtype)
    found = [divmod(int(a), int(b)) if b else (0, 0) for a, b in zip(x, y)]
    wrapped = [(q - (1 << info.bits) if q > info.max else q, r) for q, r in found]
    return np.array([q for q, _ in wrapped], x.dtype), np.array([r for _, r in wrapped], x.dtype)


def run(kernel, x, y):
    quotients, rests = np.zeros_like(x), np.zeros_like(x)
    cuda.jit(kernel)[-(-len(x) // 128), 128](x, y, quotients, rests)
    return quotients, rests


@pytest.mark.parametrize("dtype", DTYPES)
def test_by_numbers_of_their_own(dtype):
    x, y = pairs(dtype, 2_000)
    for got, right in zip(run(both, x, y), expected(x, y)):
        np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("dtype", DTYPES)
def test_by_one_number(dtype):
    x = pairs(dtype, 50)[0]
    for d in sorted(set(numbers(dtype, 20, np.random.default_rng(3))))[::7]:
        y = np.array([d], dtype)
        for got, right in zip(run(by_one, x, y), expected(x, np.full_like(x, y[0]))):
            np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("dtype", DTYPES)
def test_under_masks(dtype):
    x, y = pairs(dtype, 1_000)
    quotients, rests = expected(x, y)
    first = (y != 0) & (expected(x, np.full_like(x, 3))[1] != 1)
    got = run(under_masks, x, y)
    np.testing.assert_array_equal(got[0], np.where(first, quotients, 0))
    np.testing.assert_array_equal(got[1], np.where(first, 0, rests))


@pytest.mark.parametrize("bits", [50, 51, 52, 53])
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_of_so_many_bits(dtype, bits):
    """AVX2 divides as float64 what has less than 51 bits in all lanes: at most that many, and next to multiples."""
    limit, rng = (1 << bits) - 1, np.random.default_rng(bits)
    near = [(1 << k) + d for k in range(bits) for d in (-2, -1, 0, 1, 2)] + [limit, limit - 1, 1, 3]
    near = [v for v in near if 0 < v <= limit]
    x = near + [int(v) for v in rng.integers(0, limit, 300)]
    y = [int(v) for v in rng.permutation(near)] + [max(int(v) >> int(k), 1) for v, k in zip(x[len(near):], rng.integers(0, bits, 300))]
    next_to = [(min(max(d * (limit // d // f) + e, 0), limit), d) for d, f, e in zip(y, range(1, 700), [-1, 0, 1] * 300)]
    x, y = x + [p[0] for p in next_to], y + [p[1] for p in next_to]
    if dtype == "int64":
        x, y = (np.array(v) * rng.choice([1, -1], len(v)) for v in (x, y))
    x, y = np.array(x, dtype), np.array(y, dtype)
    for got, right in zip(run(both, x, y), expected(x, y)):
        np.testing.assert_array_equal(got, right)
    quotients, rests = expected(x, y)
    first = (y != 0) & (expected(x, np.full_like(x, 3))[1] != 1)
    got = run(under_masks, x, y)
    np.testing.assert_array_equal(got[0], np.where(first, quotients, 0))
    np.testing.assert_array_equal(got[1], np.where(first, 0, rests))


@pytest.mark.host_only("about code for the host")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64's names")
def test_with_avx2():
    """The same in a process of its own, on CPUs with AVX-512 too."""
    chosen = "bits or numbers_of_their_own or by_one_number or masks or constant"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__, "-k", chosen]
    env = {**os.environ, "PYPTX_HOST_FEATURES": "-avx512f,-avx512bw,-avx512dq,-avx512vl"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]


def test_of_what_was_extended():
    """64 bits of numbers that have 32: one without a sign by one with a sign (codegen/lanes/products.c)."""

    def kernel(x, y, quotients, rests):
        i = cuda.grid(1)
        if i < x.size:
            quotients[i] = (x[i] >> 1) // y[i]
            rests[i] = (x[i] >> 1) % y[i]

    x, y = pairs("int32", 1_000)
    x = x.astype(np.uint32)
    quotients, rests = expected((x >> 1).astype(np.int64), y.astype(np.int64))
    got = np.zeros_like(quotients), np.zeros_like(rests)
    cuda.jit(kernel)[-(-len(x) // 128), 128](x, y, *got)
    np.testing.assert_array_equal(got[0], quotients)
    np.testing.assert_array_equal(got[1], rests)


@pytest.mark.parametrize("divisor", [1, 3, 10, -7, 1000003, 2**31 - 1, -(2**31), 2**40 + 1, 2**62 - 1, 2**63 - 1, -(2**63)])
def test_by_a_constant(divisor):
    def kernel(x, quotients, rests):
        i = cuda.grid(1)
        if i < x.size:
            quotients[i] = x[i] // divisor
            rests[i] = x[i] % divisor

    x = pairs("int64", 200)[0]
    x = np.concatenate([x, [v for k in range(-3, 4) for d in (-1, 0, 1) if -(2**63) <= (v := k * divisor + d) < 2**63]])
    x = x.astype(np.int64)
    quotients, rests = np.zeros_like(x), np.zeros_like(x)
    cuda.jit(kernel)[-(-len(x) // 128), 128](x, quotients, rests)
    for got, right in zip((quotients, rests), expected(x, np.full_like(x, divisor))):
        np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("divisor", [3, 10, 2**32 + 1, 2**63 - 1, 2**63 - 2**14 + 1, 2**63, 2**63 + 1, 2**64 - 1])
def test_by_an_unsigned_constant(divisor):
    by = np.uint64(divisor)

    def kernel(x, quotients, rests):
        i = cuda.grid(1)
        if i < x.size:
            quotients[i] = x[i] // by
            rests[i] = x[i] % by

    x = pairs("uint64", 200)[0]
    near = [v for k in range(4) for d in range(-3, 4) if 0 <= (v := k * divisor + d) < 2**64]
    x = np.concatenate([x, np.array(near, np.uint64)])
    quotients, rests = np.zeros_like(x), np.zeros_like(x)
    cuda.jit(kernel)[-(-len(x) // 128), 128](x, quotients, rests)
    for got, right in zip((quotients, rests), expected(x, np.full_like(x, by))):
        np.testing.assert_array_equal(got, right)


def test_one_division_by_a_constant(device):
    """Rounded down without a remainder, which would be a second division where LLVM moves a sign into the divisor."""
    if device != "host":
        pytest.skip("of the host's code")

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] - x[i] // 1460 + x[i] // 36524

    text = cuda.jit(opt=3)(kernel).inspect_llvm("int32[::1], int32[::1]")
    assert " srem " not in text and " sdiv " not in text


def edges(dtype):
    """Dividends and divisors: small ones, and those about the places where float64 and 32 bits end."""
    info = np.iinfo(dtype)
    places = [2**k + d for k in (7, 15, 24, 30, 31, 32, 51, 52, 53, 62, 63) for d in (-1, 0, 1)]
    some = np.random.default_rng(7).integers(1, 1000, 40).tolist()
    large = [a * b + d for a, b in ((94906267, 94906265), (3, 3002399751580331), (67108859, 67108879)) for d in (-1, 0)]
    values = [v for v in [*places, *some, *large, info.max, info.max - 1] if v <= info.max]
    return np.array([*values, *([-v for v in values] if info.min else []), *values[::-1]], dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint32", "int64", "uint64"])
def test_quotients_of_vectors(dtype):
    """In vectors of floats where the numbers allow it: of both signs, at the ends, exact and nearly so."""

    def kernel(x, y, by, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i, 0] = x[i] // y[i]
            out[i, 1] = x[i] % y[i]
            out[i, 2] = x[i] // by[0] + x[i] % by[1]
            if i % 3:
                out[i, 3] = y[i] % by[2] + i // by[1]
                out[i, 4] = x[i] // 10 - x[i] % 7

    x = edges(dtype)
    n = x.size
    for turn in (0, 1, 17, 40):
        y = np.roll(x, turn)
        least = np.iinfo(dtype).min
        y[(x == least) & (y == np.array(-1).astype(dtype))] = 5
        for by in ([7, 3, 100], [1, int(x.max()), 2]):
            compare(kernel, [x, y, np.array(by, dtype), np.zeros((n, 5), dtype)], -(-n // 64), 64)


def test_quotients_of_positions():
    """All 64 bits in one vector, few in the next."""

    def kernel(size, step, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            far = i + (i // 32 % 2) * (1 << 61)
            out[i, 0] = far // size
            out[i, 1] = far % size
            out[i, 2] = (i * step) % size - (i - 90) // size

    for size, step in ((7, 3), (-9, 5), (1 << 33, 1 << 40), (1, 1)):
        compare(kernel, [np.int64(size), np.int64(step), np.zeros((200, 3), np.int64)], 2, 128)
