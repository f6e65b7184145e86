"""Launch configurations: every form, and every one that cannot be is refused before the launch."""

import numpy as np
import pytest
from pyptx import cuda


@cuda.jit
def shape(out):
    if cuda.grid(3) == (0, 0, 0):
        out[0] = cuda.gridDim.x
        out[1] = cuda.gridDim.y
        out[2] = cuda.gridDim.z
        out[3] = cuda.blockDim.x
        out[4] = cuda.blockDim.y
        out[5] = cuda.blockDim.z


@cuda.jit
def dynamic(out):
    t = cuda.shared.array(0, np.float64)
    i = cuda.threadIdx.x
    t[i] = i
    cuda.syncthreads()
    out[i] = t[cuda.blockDim.x - 1 - i]
    if i == 0:
        out[cuda.blockDim.x] = t.size


def dims(configured):
    out = np.zeros(6, np.int64)
    configured(out)
    cuda.synchronize()
    return out.tolist()


@pytest.mark.parametrize("grid, block, want", [
    (1, 1, [1, 1, 1, 1, 1, 1]), (2, 3, [2, 1, 1, 3, 1, 1]), ((2,), (3,), [2, 1, 1, 3, 1, 1]), ((2, 3), (4, 5), [2, 3, 1, 4, 5, 1]),
    ((2, 3, 4), (5, 6, 7), [2, 3, 4, 5, 6, 7]), ([2, 3], [4], [2, 3, 1, 4, 1, 1]), (np.int64(2), np.uint8(3), [2, 1, 1, 3, 1, 1]),
    ((np.int32(2), 1), 1024, [2, 1, 1, 1024, 1, 1]),
])
def test_forms(grid, block, want):
    assert dims(shape[grid, block]) == want
    assert dims(shape[grid, block, 0]) == want
    assert dims(shape[grid, block, None, 0]) == want
    assert dims(shape[grid, block, cuda.stream()]) == want
    assert dims(shape[grid, block, cuda.default_stream(), 128]) == want
    assert dims(shape.configure(grid, block)) == want
    assert dims(shape.configure(griddim=grid, blockdim=block, stream=0, sharedmem=16)) == want
    assert shape[grid, block].griddim == tuple(want[:3]) and shape[grid, block].blockdim == tuple(want[3:])


@pytest.mark.parametrize("config, error, words", [
    ((0, 1), ValueError, "griddim is 0"), ((1, 0), ValueError, "blockdim is 0"), ((-1, 1), ValueError, "at least 1"), (((1, 0), 1), ValueError, "griddim is 0"),
    ((1.0, 1), TypeError, "//"), ((1, 2.5), TypeError, "//"), (((1, 1.0), 1), TypeError, "//"), (("1", 1), TypeError, "int"),
    ((1,), ValueError, "blocks, threads"), (1, ValueError, "blocks, threads"), ((1, 2, 0, 0, 0), ValueError, "cluster is 0"), ((1, 2, 0, 0, 1, 1), ValueError, "blocks, threads"),
    (((1, 1, 1, 1), 1), ValueError, "griddim must be a sequence of 1, 2 or 3 integers"), (((), 1), ValueError, "1, 2 or 3 integers"), ((None, 1), TypeError, "int"), ((True, 1), TypeError, "int"),
    ((1 << 40, 1), ValueError, "too large"), ((10**30, 1), ValueError, "10|int"), ((1, 1, "stream"), TypeError, "stream"),
    ((1, 1, 0, -1), ValueError, "shared memory"), ((1, 1, 0, 1.5), TypeError, "bytes"), ((1, 1, 0, "a"), TypeError, "bytes"), ((1, 1, 5), TypeError, "external_stream"),
], ids=str)
def test_refused_at_once(config, error, words):
    with pytest.raises(error, match=words):
        shape[config]


@pytest.mark.parametrize("config", [
    (1, 2000), (1, (1024, 2)), (1, (33, 32)), (1, (1, 1, 65)), ((1, 65536), 1), ((1, 1, 65536), 1), (1, 1, 0, 1 << 30),
], ids=str)
def test_refused_before_the_launch(config):
    out = np.full(6, -1)
    with pytest.raises(ValueError) as caught:
        shape[config](out)
    assert "help:" in str(caught.value) and "shape" in str(caught.value)
    cuda.synchronize()
    assert (out == -1).all()


def test_dynamic_shared_memory():
    n = 64
    out = np.zeros(n + 1)
    dynamic[1, n, 0, 8 * n](out)
    cuda.synchronize()
    assert out[:n].tolist() == list(range(n))[::-1] and out[n] == n


def test_more_than_48_kilobytes_of_dynamic_shared_memory():
    limits = cuda.get_current_device()
    if limits.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN < 64 * 1024:
        pytest.skip("the device has no more")
    n = 1024
    out = np.zeros(n + 1)
    dynamic[1, n, 0, 64 * 1024](out)
    cuda.synchronize()
    assert out[:n].tolist() == list(range(n))[::-1] and out[n] == 8192


def test_a_launcher_keeps_its_kernel_and_stream_alive():
    def make():
        @cuda.jit
        def kernel(x):
            x[0] = 3

        return kernel[1, 1, cuda.stream()]

    x = cuda.to_device(np.zeros(1))
    make()(x)
    cuda.synchronize()
    assert x[0] == 3


def test_forall_forms():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += 1

    for n in (1, 100, 5000):
        for configured in (kernel.forall(n), kernel.forall(n, 64), kernel.forall(n, tpb=33, stream=cuda.stream(), sharedmem=8), kernel.forall(ntasks=n)):
            x = np.zeros(n)
            configured(x)
            cuda.synchronize()
            assert (x == 1).all()
    for bad in ((-1,), (1, -1), (1.5,), ("n",), ()):
        with pytest.raises((ValueError, TypeError)):
            kernel.forall(*bad)
    with pytest.raises(ValueError):
        kernel.forall(10, tpb=4096)(np.zeros(10))
