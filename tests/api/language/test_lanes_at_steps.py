"""Elements at steps from thread to thread, and numbers near the ends of their type, in vectors of threads: with
masks of vectors and, in a process of its own, without them."""

import os
import subprocess
import sys

import numpy as np
import pytest
from harness import define, run
from pyptx import cuda, int64

N = 333
WITHOUT_MASKS = "-avx512f,-avx512bw,-avx512dq,-avx512vl,-avx512cd"
TYPES = ["int8", "uint16", "float64", "complex64"]


def some(n, dtype):
    return np.random.default_rng(n).integers(-50, 50, n).astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("step", [3, 17])
def test_far_steps(dtype, step):
    """The first threads read and write all together, the last ones under a mask, some of them by what they read."""
    kernel = define(f"""
def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size // {step}:
        first = x[{step} * i]
        out[{step} * i + 1] = first
        if x[{step} * i + 1].real > 0:
            out[{step} * i] = x[{step} * i + 1] + first
""")
    run(kernel, [some(N * step, dtype), np.zeros(N * step + 1, dtype)], 4, 96)


@pytest.mark.host_only("on a GPU any of the stores may stay")
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_steps_that_go_back_and_meet(dtype):
    """The last thread's store stays where several write the same element."""

    def kernel(x, out):
        i = cuda.grid(1)
        out[x.size - 1 - 3 * i] = x[x.size - 1 - 3 * i]
        out[i // 64] = x[3 * i]

    x = some(3 * 128, dtype)
    out = np.zeros_like(x)
    cuda.jit(kernel)[1, 128](x, out)
    wanted = np.zeros_like(x)
    wanted[2::3] = x[2::3]
    wanted[:2] = x[3 * 63 :: 3 * 64]
    assert (out == wanted).all()


BOUNDS = [0, 1, 7, 40, -5, 2**31 - 1]
STARTS = [0, 1, 30, -20, 2**63 - 40, 2**63 - 1, -(2**63), -(2**63) + 3]


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_comparisons_of_numbers_that_may_wrap(op, negated):
    """start + thread, which wraps around in 64 bits as NumPy's does, with a number that is small."""
    test = f"bound[0] {op} k" if negated else f"k {op} bound[0]"
    kernel = cuda.jit(define(f"""
def kernel(start, bound, out):
    k = start[0] + int64(cuda.threadIdx.x)
    if cuda.threadIdx.x % 3 != 1:
        out[cuda.threadIdx.x] = 1 if {test} else 2
""", int64=int64))  # fmt: skip
    thread = np.arange(64)
    for start in STARTS:
        for n in BOUNDS:
            out, bound = np.zeros(64, np.int32), np.array([n], np.int32)
            kernel[1, 64](np.array([start], np.int64), bound, out)
            k = np.array([start], np.int64) + thread
            sides = (np.int64(n), k) if negated else (k, np.int64(n))
            holds = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[op](*sides)
            assert (out == np.where(thread % 3 != 1, np.where(holds, 1, 2), 0)).all(), (start, n, op)


def test_a_chunk_and_its_end():
    """Each chunk begins at a number that the block counts up to; the last one is not whole."""

    def kernel(x, out):
        t = cuda.threadIdx.x
        part = cuda.shared.array(128, int64)
        for start in range(0, x.shape[1], 128):
            k = start + t
            part[t] = 0
            if k < x.shape[1]:
                part[t] = x[cuda.blockIdx.x, k]
            cuda.syncthreads()
            if k < x.shape[1]:
                out[cuda.blockIdx.x, k] = part[127 - t]
            cuda.syncthreads()

    x = some(3 * 333, np.int64).reshape(3, 333)
    run(kernel, [x, np.zeros_like(x)], 3, 128)


def test_long_rows_summed_by_warps():
    """The loop runs several vectors at a time, whose masks are of 32 and more threads."""

    @cuda.jit
    def kernel(x, sums):
        t = cuda.threadIdx.x
        parts = cuda.shared.array(8, int64)
        acc = 0
        for k in range(t, x.shape[1], cuda.blockDim.x):
            acc += x[cuda.blockIdx.x, k]
        for step in (16, 8, 4, 2, 1):
            acc += cuda.shfl_xor_sync(0xFFFFFFFF, acc, step)
        parts[t // 32] = acc
        cuda.syncthreads()
        if t == 0:
            for w in range(cuda.blockDim.x // 32):
                sums[cuda.blockIdx.x] += parts[w]

    for width in (31, 777, 1024):
        for block in (32, 64, 96, 256):
            x = some(5 * width, np.int64).reshape(5, width)
            sums = np.zeros(5, np.int64)
            kernel[5, block](x, sums)
            assert (sums == x.sum(1)).all(), (width, block)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
@pytest.mark.parametrize("name", ["up", "down", "xor"])
def test_shuffles_at_a_distance_that_is_read(name, dtype):
    kernel = cuda.jit(define(f"""
def kernel(x, by, out):
    t = cuda.threadIdx.x
    for k in range(by.size):
        out[k, t] = cuda.shfl_{name}_sync(0xFFFFFFFF, x[t], by[k])
"""))  # fmt: skip
    x, by = some(64, dtype), np.array([0, 1, 5, 16, 31], np.int32)
    out = np.zeros((by.size, 64), dtype)
    kernel[1, 64](x, by, out)
    lane = np.arange(64)
    for k, n in enumerate(by):
        source = {"up": lane - n, "down": lane + n, "xor": lane ^ n}[name]
        assert (out[k] == x[np.where(source // 32 == lane // 32, source, lane)]).all(), n


def test_three_sums_of_a_warp_in_one_loop():
    """Fifteen shuffles in a loop, which is unrolled."""

    @cuda.jit
    def kernel(x, sums):
        a, b, c = x[cuda.grid(1), 0], x[cuda.grid(1), 1], x[cuda.grid(1), 2]
        d = 16
        while d > 0:
            a += cuda.shfl_down_sync(0xFFFFFFFF, a, d)
            b += cuda.shfl_down_sync(0xFFFFFFFF, b, d)
            c += cuda.shfl_down_sync(0xFFFFFFFF, c, d)
            d //= 2
        if cuda.threadIdx.x % 32 == 0:
            warp = cuda.grid(1) // 32
            sums[warp, 0], sums[warp, 1], sums[warp, 2] = a, b, c

    x = some(3 * 256, np.int64).reshape(256, 3)
    sums = np.zeros((8, 3), np.int64)
    kernel[2, 128](x, sums)
    assert (sums == x.reshape(8, 32, 3).sum(1)).all()


@pytest.mark.skipif(os.environ.get("PYPTX_DEVICE") != "host" or os.uname().machine != "x86_64", reason="x86-64's names")
@pytest.mark.skipif("PYPTX_HOST_FEATURES" in os.environ, reason="this is it")
def test_without_masks():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__]
    env = {**os.environ, "PYPTX_HOST_FEATURES": WITHOUT_MASKS}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]
