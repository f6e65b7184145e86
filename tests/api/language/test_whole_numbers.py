"""Python ints at the ends of 64 bits, in tables: division, ranges, powers with a modulus; CPython gives the values."""

import itertools
import math
import random

import numpy as np
import pytest
from pyptx import cuda

LOW, HIGH = -(2**63), 2**63 - 1
EDGES = [LOW, LOW + 1, LOW + 2, -(2**62) - 1, -(2**53) - 1, -(2**53), -62, -3, -1, 0, 1, 2, 3, 5, 62, 2**31, 2**53 - 1, 2**53, 2**53 + 1,
         2**54 - 1, 2**62, 2**62 + 1, HIGH - 2, HIGH - 1, HIGH]  # fmt: skip


def columns(rows):
    return [np.array(column) for column in zip(*rows)]


def launch(kernel, n, *args, **options):
    cuda.jit(**options)(kernel)[-(-n // 128), 128](*args)
    cuda.synchronize()


def quotient(a, b):
    """a / b of ints, and what a kernel has for b == 0."""
    return a / b if b else math.copysign(math.inf, a) if a else math.nan


@pytest.mark.parametrize("opt", [0, 3])
def test_true_division_rounds_once(opt):
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = int(x[i]) / int(y[i])

    r = random.Random(1)
    numbers = EDGES + [r.getrandbits(r.randint(1, 63)) * r.choice([1, -1]) for _ in range(60)]
    pairs = list(itertools.product(numbers, numbers))
    # quotients next to the middle between two doubles, where only the last bit of the rest decides
    halves = [(q << 9 | 1 << 8, y) for q, y in ((r.getrandbits(53) | 1 << 52, r.randint(1, 2**9)) for _ in range(300))]
    pairs += [(min(q * y // 2**10 + d, HIGH), y) for q, y in halves for d in (-1, 0, 1)]
    x, y = columns(pairs)
    out = np.zeros(len(pairs))
    launch(kernel, len(pairs), x, y, out, opt=opt)
    want = np.array([quotient(a, b) for a, b in pairs])
    assert np.array_equal(out, want, equal_nan=True)
    assert np.array_equal(np.signbit(out) | np.isnan(want), np.signbit(want) | np.isnan(want))


def test_true_division_of_known_and_small_numbers():
    def kernel(n, out):
        i = cuda.grid(1)
        out[i, 0] = (2**53 + 1) / n
        out[i, 1] = n / (2**53 - 1)
        out[i, 2] = (i - 3) / 7
        out[i, 3] = (n % 1000) / 3
        out[i, 4] = True / n
        out[i, 5] = n / 1024

    n = HIGH - 6
    out = np.zeros((8, 6))
    cuda.jit(kernel)[1, 8](n, out)
    cuda.synchronize()
    assert out.tolist() == [[(2**53 + 1) / n, n / (2**53 - 1), (i - 3) / 7, (n % 1000) / 3, 1 / n, n / 1024] for i in range(8)]


RANGES = [(a, b, c) for a, b, c in itertools.product(EDGES, repeat=3) if c]


def length(a, b, c):
    """len(range(a, b, c)) however large, in the 64 bits of a kernel's int."""
    n = max(0, (b - a + c - (1 if c > 0 else -1)) // c)
    return (n + 2**63) % 2**64 - 2**63


def test_ranges_of_all_lengths():
    def kernel(start, stop, step, items, count, found):
        i = cuda.grid(1)
        if i < start.size:
            r = range(int(start[i]), int(stop[i]), int(step[i]))
            count[i] = len(r)
            for k in range(items.size):
                found[i, k] = int(items[k]) in r

    n = len(RANGES)
    count, found = np.zeros(n, np.int64), np.zeros((n, len(EDGES)), bool)
    launch(kernel, n, *columns(RANGES), np.array(EDGES), count, found)
    assert count.tolist() == [length(*r) for r in RANGES]
    assert found.tolist() == [[v in range(*r) for v in EDGES] for r in RANGES]


def test_items_of_ranges():
    def kernel(start, stop, step, index, out):
        i = cuda.grid(1)
        if i < start.size:
            out[i] = range(int(start[i]), int(stop[i]), int(step[i]))[int(index[i])]

    rows = []
    for r in RANGES:
        n = length(*r)
        rows += [(*r, k) for k in {0, n // 2, n - 1, -1, -n} if n > 0]
    out = np.zeros(len(rows), np.int64)
    launch(kernel, len(rows), *columns(rows), out)
    assert out.tolist() == [range(*r)[k] for *r, k in rows]


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_outside_of_a_range_is_an_error(index):
    def kernel(step, index, out):
        out[0] = range(-(2**63), 2**63 - 1, step)[index]

    with pytest.raises(IndexError, match="range index"):
        cuda.jit(debug=True)(kernel)[1, 1](2**62 + 2**61, index, np.zeros(1, np.int64))
        cuda.synchronize()


def test_a_known_range_has_pythons_length():
    def kernel(out):
        out[0] = len(range(-(2**63), 0, 2))
        out[1] = len(range(2**63 - 1, -(2**63), -(2**62)))
        out[2] = len(range(5, 5, -3)) + len(range(-(2**63), 2**63 - 1, 4))

    out = np.zeros(3, np.int64)
    cuda.jit(kernel)[1, 1](out)
    cuda.synchronize()
    assert out.tolist() == [2**62, 4, 2**62]


@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_powers_with_a_modulus(typing):
    def kernel(base, exponent, modulus, out):
        i = cuda.grid(1)
        if i < base.size:
            out[i] = pow(int(base[i]), int(exponent[i]), int(modulus[i]))

    rows = [(a, b, c) for a, b, c in itertools.product(EDGES, repeat=3) if b >= 0 and c]
    out = np.zeros(len(rows), np.int64)
    launch(kernel, len(rows), *columns(rows), out, typing=typing)
    assert out.tolist() == [pow(*row) for row in rows]


ENDS = ["0, HIGH, 2**61", "n, HIGH, 2**61", "LOW, HIGH, 2**61", "HIGH, LOW, -2**61", "n, LOW, -2**61", "HIGH - 2, HIGH, 2",
        "HIGH, HIGH, 2", "HIGH, LOW, LOW", "LOW, HIGH, HIGH", "0, LOW, -2**61", "LOW, LOW + 3", "n, 10, 3"]  # fmt: skip


@pytest.mark.parametrize("typing", ["numpy", "numba"])
@pytest.mark.parametrize("opt", [0, 3])
def test_loops_that_count_to_the_ends_of_64_bits(opt, typing):
    """Of a stop and a step that are known: the counter has no room for what comes behind the last item."""
    source = "def kernel(out, n):\n"
    for k, bounds in enumerate(ENDS):
        source += f"    for i in range({bounds}):\n        out[{k}, 0] += 1\n        out[{k}, 1] += i >> 56\n        if out[{k}, 0] > 20:\n            break\n"
        source += f"    out[{k}, 2] = sum(k + (i >> 56) for k, i in enumerate(range({bounds})))\n"
    scope = {"LOW": LOW, "HIGH": HIGH}
    exec(source, scope)
    out, want = np.zeros((2, len(ENDS), 3), np.int64)
    cuda.jit(opt=opt, typing=typing)(scope["kernel"])[1, 1](out, 5)
    cuda.synchronize()
    scope["kernel"](want, 5)
    assert out.tolist() == want.tolist()
