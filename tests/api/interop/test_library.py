"""math functions that are compiled from Python (pyptx/_library.py), compared with the math module."""
import math

import numpy as np
import pytest

from pyptx import cuda

INTEGERS = [0, 1, 2, 3, 12, 18, 35, 97, 1024, 3037000499, 3037000500, 2**62, 2**63 - 1]


def run(kernel, dtype, *args):
    out = np.zeros(1, dtype)
    kernel[1, 1](out, *args)
    cuda.synchronize()
    return out[0]


@pytest.mark.parametrize("n", INTEGERS)
def test_isqrt(n):
    @cuda.jit
    def kernel(out, n):
        out[0] = math.isqrt(n)
    assert run(kernel, np.int64, n) == math.isqrt(n)


def test_isqrt_beside_squares():
    """A float64 root is rounded to the next integer only from 2**52 on."""
    roots = [3, 46340, 2**20 + 7, *(2**26 + k for k in range(-40, 41)), 2**26 * 3, 2**31 + 1]
    numbers = np.array([max(r * r + d, 0) for r in roots for d in (-2, -1, 0, 1)], np.int64)

    @cuda.jit
    def kernel(out, numbers):
        for k in range(out.size):
            out[k] = math.isqrt(numbers[k])
    out = np.zeros_like(numbers)
    kernel[1, 1](out, numbers)
    cuda.synchronize()
    assert out.tolist() == [math.isqrt(n) for n in numbers.tolist()]


@pytest.mark.parametrize("a", [0, 1, -12, 18, 35, 2**40, -(2**40) + 6])
@pytest.mark.parametrize("b", [0, 1, 8, -30, 49, 3 * 2**20])
def test_gcd_and_lcm(a, b):
    @cuda.jit
    def kernel(out, a, b):
        out[0] = math.gcd(a, b)
        out[1] = math.lcm(a, b)
    out = np.zeros(2, np.int64)
    kernel[1, 1](out, a, b)
    cuda.synchronize()
    assert out.tolist() == [math.gcd(a, b), math.lcm(a, b)]


@pytest.mark.parametrize("n", range(0, 21, 4))
def test_counting(n):
    @cuda.jit
    def kernel(out, n, k):
        out[0] = math.factorial(n)
        out[1] = math.perm(n, k)
        out[2] = math.comb(n, k)
    for k in range(0, n + 2):
        out = np.zeros(3, np.int64)
        kernel[1, 1](out, n, k)
        cuda.synchronize()
        assert out.tolist() == [math.factorial(n), math.perm(n, k), math.comb(n, k)]


@pytest.mark.parametrize("a, b", [(1.0, 1.0 + 1e-10), (1.0, 1.1), (0.0, 1e-12), (math.inf, math.inf), (math.inf, 1.0), (math.nan, math.nan)])
def test_isclose(a, b):
    @cuda.jit
    def kernel(out, a, b):
        out[0] = math.isclose(a, b)
        out[1] = math.isclose(a, b, rel_tol=0.2, abs_tol=1e-9)
    out = np.zeros(2, bool)
    kernel[1, 1](out, a, b)
    cuda.synchronize()
    assert out.tolist() == [math.isclose(a, b), math.isclose(a, b, rel_tol=0.2, abs_tol=1e-9)]


@pytest.mark.parametrize("x", [0.0, 1.0, -1.5, 1e300, 5e-324, 1.7976931348623157e308, math.inf])
def test_nextafter_and_ulp(x):
    @cuda.jit
    def kernel(out, x):
        out[0] = math.nextafter(x, math.inf)
        out[1] = math.ulp(x)
    out = np.zeros(2)
    kernel[1, 1](out, x)
    cuda.synchronize()
    assert out.tolist() == [math.nextafter(x, math.inf), math.ulp(x)]


def test_products_and_distances():
    @cuda.jit
    def kernel(out, a):
        out[0] = math.prod((2, 3.5, 4))
        out[1] = math.prod(a, start=2)
        out[2] = math.dist((1.0, 2.0), (4.0, 6.0))
    out = np.zeros(3)
    kernel[1, 1](out, np.array([1.5, 2.0, 3.0]))
    cuda.synchronize()
    assert out.tolist() == [28.0, 18.0, 5.0]  # all exact


def test_a_negative_argument_raises():
    @cuda.jit(debug=True)
    def kernel(out, n):
        out[0] = math.isqrt(n)
    with pytest.raises(ValueError, match="nonnegative"):
        run(kernel, np.int64, -1)
