"""Loops that count bits: one instruction (codegen/llvm/bit_loops.c), with CPython's results for every number."""

import re

import numpy as np
import pytest
from pyptx import cuda


def ones(x):
    n = 0
    while x != 0:
        x &= x - 1
        n += 1
    return n


def down(x):  # by threes, from a number that is not 0
    n = 100
    while x:
        x = x & (x - 1)
        n -= 3
    return n


def length(x):
    n = 0
    while x > 0:
        x >>= 1
        n += 1
    return n


def by_bits(x):
    n = 0
    while x > 0:
        n += x & 1
        x >>= 1
    return n


def parity(x):
    odd = 0
    while x:
        odd ^= 5
        x &= x - 1
    return odd


def at_least_once(x):
    n = 0
    while True:
        x &= x - 1
        n += 1
        if x == 0:
            break
    return n


def last(x):
    n = 0
    while x > 0:
        x >>= 1
        n += 1
    return n * 1000 + x  # a negative number stays as it is


def places(x):
    k = 0
    while x >> k > 0:
        k += 1
    return k


def places_from_three(x):
    k = 3
    n = 100
    while x >> k > 0:
        k += 1
        n -= 7
    return n * 1000 + k


def places_of_low_bits(x):
    k = 0
    while (x & 65535) >> k:
        k += 1
    return k


FUNCTIONS = [ones, down, length, by_bits, parity, at_least_once, last, places, places_from_three, places_of_low_bits]
WRAPS = {ones, down, parity, at_least_once}  # of a negative number: Python's has no end of ones to the left


def kernel_of(function):
    device = cuda.jit(device=True)(function)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = device(x[i])

    return kernel


@pytest.mark.parametrize("dtype", ["int64", "uint32"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_in_python(function, dtype):
    info = np.iinfo(dtype)
    numbers = [0, 1, 2, 3, 255, 256, info.max, info.max - 1, info.max // 3, info.min, info.min + 1]
    x = np.array([*numbers, *np.random.default_rng(3).integers(info.min, info.max, 50, dtype, endpoint=True)], dtype)
    out = np.zeros(len(x), np.int64)
    cuda.jit(kernel_of(function))[1, 128](x, out)
    words = x.view(f"uint{info.bits}") if function in WRAPS else x
    if function is at_least_once:  # 0 has one turn, which Python's numbers do not end
        words = np.where(words == 0, 1, words)
    assert out.tolist() == [function(int(w)) for w in words]


@pytest.mark.parametrize(
    "function, operation",
    [(ones, "popc"), (down, "popc"), (by_bits, "popc"), (length, "clz"), (places, "clz"), (at_least_once, "popc")],
    ids=lambda v: getattr(v, "__name__", v),
)
@pytest.mark.parametrize("dtype", ["int64", "uint32"])
def test_one_instruction(function, operation, dtype, one_entry):
    ptx = cuda.compile_ptx(kernel_of(function), f"{dtype}[::1], int64[::1]", cc="sm_90", coarsen=1)[0]
    assert len(re.findall(rf"\b{operation}\.b", ptx)) == 1
    assert len(re.findall(r"\bbra\b", ptx)) <= 2  # the guard, and the one of x
