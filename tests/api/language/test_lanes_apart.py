"""Atomics of lanes with elements of their own: on shared memory, and on arrays that a kernel only adds to; and of ones
that may have one element, in vectors of many lanes (histograms of bytes)."""

import numpy as np
import pytest
from harness import define, run
from pyptx import cuda, float32, int32, int64, uint32

TYPES = {int32: np.int32, uint32: np.uint32, int64: np.int64, float32: np.float32}
WIDE = list(TYPES)


def numbers(dtype, n, seed=1):
    return np.random.default_rng(seed).integers(0, 100, n).astype(dtype)


BITS = ["and_", "or_", "xor"]


@pytest.mark.parametrize("block", [64, 40])
@pytest.mark.parametrize("name", ["add", "sub", "max", "min", "exch", *BITS])
@pytest.mark.parametrize("element", WIDE, ids=str)
def test_a_place_a_lane(element, name, block):
    if element is float32 and name in (*BITS, "sub"):
        pytest.skip("of integers")
    kernel = define(
        f"""
def kernel(x, by, out, old):
    values = cuda.shared.array(64, element)
    t = cuda.threadIdx.x
    values[t] = x[t]
    cuda.syncthreads()
    if by[t] > 20:
        old[t] = cuda.atomic.{name}(values, t, by[t])
    cuda.syncthreads()
    out[t] = values[(t + 1) % cuda.blockDim.x]
""",
        element=element,
    )
    x, by = numbers(TYPES[element], block), numbers(TYPES[element], block, 2)
    run(kernel, [x, by, np.zeros_like(x), np.zeros_like(x)], 1, block)


@pytest.mark.parametrize("element", WIDE, ids=str)
@pytest.mark.parametrize("step", [2, 3, 7, -1, -2])
def test_places_at_steps(element, step):
    def kernel(by, out):
        values = cuda.shared.array(448, element)
        t = cuda.threadIdx.x
        for k in range(t, 448, 64):
            values[k] = k
        cuda.syncthreads()
        first = 0 if step > 0 else 63 * -step
        cuda.atomic.add(values, first + step * t, by[t])
        cuda.syncthreads()
        for k in range(t, 448, 64):
            out[k] = values[k]

    run(kernel, [numbers(TYPES[element], 64), np.zeros(448, TYPES[element])], 1, 64)


@pytest.mark.parametrize("element", WIDE, ids=str)
def test_lanes_that_share_places(element):
    """None of these additions may be lost."""

    def kernel(by, out):
        values = cuda.shared.array(64, element)
        t = cuda.threadIdx.x
        values[t] = 0
        cuda.syncthreads()
        cuda.atomic.add(values, 3, by[t])
        cuda.atomic.add(values, 8 + t // 2, by[t])
        cuda.atomic.add(values, min(t, 5), by[t])
        cuda.atomic.add(values, max(t - 30, 0), by[t])
        cuda.syncthreads()
        out[t] = values[t]

    run(kernel, [numbers(TYPES[element], 64), np.zeros(64, TYPES[element])], 1, 64)


@pytest.mark.parametrize("name", ["add", "sub", "max", "min", *BITS])
@pytest.mark.parametrize("element", [int32, uint32, int64], ids=str)
def test_one_place_for_all(element, name):
    kernel = define(
        f"""
def kernel(x, by, out):
    values = cuda.shared.array(4, element)
    t = cuda.threadIdx.x
    if t < 4:
        values[t] = x[t]
    cuda.syncthreads()
    cuda.atomic.{name}(values, 0, by[t])
    cuda.atomic.{name}(values, 1, 3)
    cuda.atomic.{name}(values, cuda.blockDim.x % 3 + 1, by[t] + by[t // 2])
    if by[t] > 70:
        cuda.atomic.{name}(values, 3, by[t])
    cuda.syncthreads()
    if t < 4:
        out[t] = values[t]
""",
        element=element,
    )
    x, by = numbers(TYPES[element], 4, 3), numbers(TYPES[element], 64)
    run(kernel, [x + 10_000, by, np.zeros_like(x)], 1, 64)


@pytest.mark.parametrize("bins", [16, 256])
@pytest.mark.parametrize("grid", [1, 3, 50])
@pytest.mark.parametrize("block", [64, 128, 96])
def test_a_histogram_of_bytes(bins, grid, block):
    def kernel(x, y, counts, sums):
        mine = cuda.shared.array((256, 2), int32)
        total = cuda.shared.array(256, float32)
        for k in range(cuda.threadIdx.x, bins, cuda.blockDim.x):
            mine[k, 0] = mine[k, 1] = 0
            total[k] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            cuda.atomic.add(mine, (int(x[i]) % bins, 0), 1)
            cuda.atomic.add(mine, (int(y[i]) % bins, 1), x[i])
            cuda.atomic.add(total, int(y[i]) % bins, float32(x[i]))
        cuda.syncthreads()
        for k in range(cuda.threadIdx.x, bins, cuda.blockDim.x):
            if mine[k, 0] > 0:
                cuda.atomic.add(counts, (k, 0), mine[k, 0])
            cuda.atomic.add(counts, (k, 1), mine[k, 1])
            cuda.atomic.add(sums, k, total[k])

    rng = np.random.default_rng(bins + grid + block)
    x, y = rng.integers(0, 256, (2, 20_011), np.uint8)
    counts, sums = np.ones((bins, 2), np.int32), np.ones(bins, np.float32)
    cuda.jit(kernel)[grid, block](x, y, counts, sums)
    cuda.synchronize()
    np.testing.assert_array_equal(counts[:, 0] - 1, np.bincount(x.astype(int) % bins, minlength=bins))
    expected = np.bincount(y.astype(int) % bins, x, bins)  # exact in float32, too
    np.testing.assert_array_equal(counts[:, 1] - 1, expected)
    np.testing.assert_array_equal(sums - 1, expected)


@pytest.mark.parametrize("places", [1, 5, 128], ids="of {}".format)
@pytest.mark.parametrize("block", [256, 64, 40])
def test_several_tables(places, block):
    """Lanes add to one table after the other, at one place or at places of their own, under a mask and without."""

    def kernel(keys, x, out):
        count = cuda.shared.array(128, int32)
        total = cuda.shared.array(128, int64)
        low = cuda.shared.array(128, float32)
        high = cuda.shared.array(128, int32)
        last = cuda.shared.array(128, int32)
        t = cuda.threadIdx.x
        for k in range(t, 128, cuda.blockDim.x):
            count[k] = 0
            total[k] = 0
            low[k] = 1000.0
            high[k] = 0
            last[k] = 0
        cuda.syncthreads()
        for k in range(t, keys.size, cuda.blockDim.x):
            key, value = keys[k], x[k]
            if value != 7:
                cuda.atomic.add(count, key, 1)
                cuda.atomic.add(total, key, value * 3)
                cuda.atomic.min(low, key, float32(value))
                cuda.atomic.max(high, key, value)
                cuda.atomic.max(last, key, high[key])
                cuda.atomic.sub(count, key + 1 & 127, 2)
        key, value = keys[t], x[t]
        cuda.atomic.add(count, key, value)
        cuda.atomic.xor(last, key, value)
        cuda.syncthreads()
        for k in range(t, 128, cuda.blockDim.x):
            out[k, 0] = count[k]
            out[k, 1] = total[k]
            out[k, 2] = low[k]
            out[k, 3] = high[k] + 1000 * (last[k] >> 7)

    rng = np.random.default_rng(block)
    keys = np.sort(rng.integers(0, places, 700)).astype(np.int32)
    run(kernel, [keys, numbers(np.int32, 700), np.zeros((128, 4))], 1, block)
