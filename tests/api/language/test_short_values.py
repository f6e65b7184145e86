"""Python's integers that are only passed on (choices, minima, shuffles), of elements of all lengths, and networks of
shuffles in nests of loops."""

import numpy as np
import pytest
from pyptx import cuda

TYPES = ["int8", "uint16", "int32", "uint32", "int64", "uint64"]


def ends(dtype, shape, seed=1):
    """Numbers near both ends of the type, of 32 bits, and near 0."""
    info = np.iinfo(dtype)
    near = [info.min, info.max, -(2**31), 2**31 - 1, 2**31, 2**32 - 1, 0, 1, -1]
    near = [v for v in near if info.min <= v <= min(info.max, 2**63 - 1)]
    return np.random.default_rng(seed).choice(np.array(near, dtype), shape)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("first", [1 << 20, -(2**31), 2**31])
def test_choices(dtype, first):
    def kernel(x, least, bits, places):
        i = cuda.grid(1)
        if i < x.shape[1]:
            best = first
            mask = 0
            place = -1
            for k in range(x.shape[0]):
                value = int(x[k, i])
                if value < best:
                    place = k & 63
                    best = value
                elif value == first:
                    best = -5
                mask ^= value | 1
            least[i] = best
            bits[i] = mask
            places[i] = place

    x = ends(dtype, (9, 77))
    got = [np.zeros(77, np.int64) for _ in range(3)]
    cuda.jit(kernel)[2, 64](x, *got)
    for i in range(77):
        best, mask, place = first, 0, -1
        for k in range(9):
            value = int(x[k, i])
            if value < best:
                best, place = value, k
            elif value == first:
                best = -5
            mask ^= value | 1
        assert [int(g[i]) for g in got] == [best, mask, place]


@pytest.mark.parametrize("dtype", TYPES)
def test_network_of_shuffles(dtype):
    """Bitonic: the inner loop's steps depend on the outer loop's size."""

    def kernel(x, out, places):
        i = cuda.grid(1)
        lane = i % 32
        key = int(x[i])
        place = lane
        size = 2
        while size <= 32:
            step = size // 2
            while step > 0:
                other = cuda.shfl_xor_sync(0xFFFFFFFF, key, step)
                there = cuda.shfl_xor_sync(0xFFFFFFFF, place, step)
                less = other < key or other == key and there < place
                if less == ((lane & size == 0) == (lane & step == 0)):
                    key = other
                    place = there
                step //= 2
            size *= 2
        out[i] = key
        places[i] = place

    x = ends(dtype, 256)
    out, places = np.zeros(256, np.int64), np.zeros(256, np.int32)
    cuda.jit(kernel)[4, 64](x, out, places)
    for row in range(8):
        keys = x[32 * row : 32 * row + 32]
        order = np.argsort(keys, kind="stable")
        assert (places[32 * row : 32 * row + 32] == order).all()
        assert (out[32 * row : 32 * row + 32] == keys[order].astype(np.int64)).all()


def test_network_in_shared_memory():
    """Two loops around a barrier, of which the inner one's steps depend on the outer one's."""

    def kernel(x, out):
        tile = cuda.shared.array(16, np.int32)
        t = cuda.threadIdx.x
        tile[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        size = 2
        while size <= 16:
            step = size // 2
            while step > 0:
                other = t ^ step
                if other > t:
                    if (tile[t] > tile[other]) == (t & size == 0):
                        held = tile[t]
                        tile[t] = tile[other]
                        tile[other] = held
                cuda.syncthreads()
                step //= 2
            size *= 2
        out[cuda.grid(1)] = tile[t]

    x = np.random.default_rng(2).integers(-50, 50, 80).astype(np.int32)
    out = np.zeros_like(x)
    cuda.jit(kernel)[5, 16](x, out)
    assert (out == np.sort(x.reshape(5, 16), axis=1).ravel()).all()
