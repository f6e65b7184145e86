"""Both halves of products of 32-bit numbers, as random generators take them, beside Python's integers. On the host
device the low one is a product of 32 bits of its own (codegen/lanes/products.c).
"""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, int32, int64, uint32, uint64
from test_ptx import ptx_of


def unsigned(x, y, high, low):
    i = cuda.grid(1)
    if i < x.size:
        p = uint64(x[i]) * uint64(y[i])
        high[i] = uint32(p >> 32)
        low[i] = uint32(p)


def signed(x, y, high, low):
    i = cuda.grid(1)
    if i < x.size:
        p = int64(x[i]) * int64(y[i])
        high[i] = int32(p >> 32)
        low[i] = int32(p)


def by_a_constant(x, y, high, low):
    """The factors come from another block, the product from a loop."""
    i = cuda.grid(1)
    if i < x.size:
        a = x[i]
        b = y[i]
        for _ in range(7):
            p = uint64(a) * uint64(0xD2511F53)
            a, b = uint32(p >> 32) ^ b, uint32(p)
        high[i] = a
        low[i] = b


def numbers(dtype):
    info, rng = np.iinfo(dtype), np.random.default_rng(5)
    ends = [info.min, info.min + 1, 0, 1, 2, 2**16, info.max // 2, info.max - 1, info.max]
    x, y = np.meshgrid(ends, ends)
    some = rng.integers(info.min, info.max, (2, 1000), dtype, endpoint=True)
    return np.append(x.astype(dtype), some[0]), np.append(y.astype(dtype), some[1])


@pytest.mark.parametrize("kernel, dtype", [(unsigned, "uint32"), (signed, "int32"), (by_a_constant, "uint32")])
def test_halves(kernel, dtype):
    x, y = numbers(dtype)
    high, low = np.zeros_like(x), np.zeros_like(x)
    cuda.jit(kernel)[-(-len(x) // 64), 64](x, y, high, low)
    if kernel is by_a_constant:
        a, b = x.astype(object), y.astype(object)
        for _ in range(7):
            p = a * 0xD2511F53
            a, b = (p >> 32) ^ b, p & 0xFFFFFFFF
        right = a, b
    else:
        p = x.astype(object) * y.astype(object)
        right = p >> 32, p & 0xFFFFFFFF
    assert high.tolist() == list(right[0])
    assert (low.view(np.uint32)).tolist() == list(right[1])


@pytest.mark.parametrize("dtype", [np.int32, np.uint32])
def test_squares_of_differences_of_32_bits_are_those_of_magnitudes(dtype):
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            d = int(x[i]) - int(y[i])
            out[i] = (d * d) >> 2

    ends = [np.iinfo(dtype).min, np.iinfo(dtype).min + 1, 0, 1, 46341, 2**31 - 1, np.iinfo(dtype).max]
    x, y = (np.ascontiguousarray(v.ravel().astype(dtype)) for v in np.meshgrid(ends, ends))
    near = abs(x.astype(object) - y.astype(object)) < 3037000499  # the others' squares do not fit 63 bits
    run(kernel, [x[near], y[near], np.zeros(near.sum(), np.int64)], 2, 32)
    name = np.dtype(dtype).name
    text = ptx_of(kernel, f"narrow ({name}[::1], {name}[::1], int64[::1])", boundscheck=False)
    assert ("sad.u32" if dtype is np.uint32 else "sad.s32") in text and "mul.lo.s64" not in text


def test_sums_of_squares_wrap():
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            total = 0
            for k in range(x.size):
                d = int(x[k]) - int(y[i])
                total += d * d
            out[i] = total

    ends = np.array([-(2**31), 1 - 2**31, -1, 0, 46341, 2**31 - 1], np.int32)
    y = np.random.default_rng(3).integers(-(2**31), 2**31, 77, dtype=np.int32)
    y[: ends.size] = ends
    out = cuda.to_device(np.zeros(y.size, np.int64))
    cuda.jit(kernel)[2, 64](ends, y, out)
    d = ends.astype(np.int64) - y.astype(np.int64)[:, None]
    assert np.array_equal(out.copy_to_host(), (d * d).sum(1))
