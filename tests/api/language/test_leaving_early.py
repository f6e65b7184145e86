"""Threads that have nothing left to do leave in front of what only the others need (codegen/nvptx/loops/leave_early.c): rows
shorter than their block, what all threads do all the same, and where in the code they leave."""

import math

import numpy as np
import pytest
from harness import stopped
from pyptx import cuda, float64, int32

THREADS = 128


def scaled(x, out):
    """Elements less the mean, over a root: a block's sum, then a loop that few threads of short rows enter."""
    parts = cuda.shared.array(THREADS, float64)
    row, t, width = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[1]
    s = 0.0
    for k in range(t, width, cuda.blockDim.x):
        s += x[row, k]
    parts[t] = s
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        cuda.syncthreads()
        half //= 2
    mean = parts[0] / width
    size = math.sqrt(mean * mean + 1.0) / 3.0
    for k in range(t, width, cuda.blockDim.x):
        out[row, k] = (x[row, k] - mean) / size


SCALED = cuda.jit(scaled, fma=False)


@pytest.mark.parametrize("block", [32, 64, THREADS])
@pytest.mark.parametrize("width", [1, 2, 31, 32, 33, 64, 65, 127, 128, 129, 300])
def test_rows_shorter_than_their_block(width, block):
    x = np.random.default_rng(width).integers(-50, 50, (3, width)).astype(np.float64)  # sums are exact
    out = np.zeros_like(x)
    SCALED[3, block](x, out)
    mean = x.sum(axis=1, keepdims=True) / width
    want = (x - mean) / (np.sqrt(mean * mean + 1.0) / 3.0)
    np.testing.assert_array_equal(out, want)


def block_sum(value, parts):
    t = cuda.threadIdx.x
    parts[t] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        cuda.syncthreads()
        half //= 2
    return parts[0]


def around_the_mean(x, out, deviations):
    """What is made of the first sum is read in the second loop, in the third, and by one thread."""
    parts, again = cuda.shared.array(THREADS, float64), cuda.shared.array(THREADS, float64)
    row, t, width = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[1]
    s = 0.0
    for k in range(t, width, cuda.blockDim.x):
        s += x[row, k]
    mean = math.sqrt(block_sum(s, parts) / width)
    s = 0.0
    for k in range(t, width, cuda.blockDim.x):
        s += math.floor(x[row, k] - mean)
    deviation = block_sum(s, again) / width
    if t < width:
        deviations[row, t] = deviation + mean
    for k in range(t, width, cuda.blockDim.x):
        out[row, k] = (x[row, k] - mean) / (deviation + 3.0)


AROUND = cuda.jit(around_the_mean, fma=False)


@pytest.mark.parametrize("block", [32, THREADS])
@pytest.mark.parametrize("width", [1, 2, 31, 32, 33, 64, 65, 128, 129, 300])
def test_numbers_that_some_threads_lack(width, block):
    x = np.random.default_rng(width).integers(0, 50, (3, width)).astype(np.float64)
    out, deviations = np.zeros_like(x), np.full((3, 512), -1.0)
    AROUND[3, block](x, out, deviations)
    mean = np.sqrt(x.sum(axis=1, keepdims=True) / width)
    deviation = np.floor(x - mean).sum(axis=1, keepdims=True) / width
    np.testing.assert_array_equal(out, (x - mean) / (deviation + 3.0))
    want = np.where(np.arange(512) < min(width, block), deviation + mean, -1)
    np.testing.assert_array_equal(deviations, want)


def test_threads_leave_behind_the_last_barrier():
    def kernel(x, out):
        parts = cuda.shared.array(THREADS, float64)
        row, t, width = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[1]
        parts[t] = x[row, t] if t < width else 0.0
        cuda.syncthreads()
        size = math.sqrt(parts[0] + parts[1]) / 3.0
        for k in range(t, width, cuda.blockDim.x):
            out[row, k] = x[row, k] / size

    ptx = cuda.compile_ptx(kernel, "float64[:,::1], float64[:,::1]", cc="sm_90")[0]
    behind = ptx[ptx.index("bar.sync") :]
    assert behind.index("bra") < behind.index("sqrt.rn.f64")
    assert behind.index("bra") < behind.index("div.rn.f64")


@pytest.mark.parametrize("width", [0, 1, 40, 200])
def test_what_all_threads_do_is_done(width):
    """An atomic addition, and a store, between the barrier and the loop."""

    @cuda.jit
    def kernel(x, width, counts, places, out):
        parts = cuda.shared.array(THREADS, int32)
        t = cuda.threadIdx.x
        parts[t] = x[t]
        cuda.syncthreads()
        cuda.atomic.add(counts, parts[(t + 1) % THREADS] % 4, 1)
        places[t] = parts[THREADS - 1 - t]
        size = math.sqrt(float(parts[0] + parts[1])) / 7.0
        if t < width:
            out[t] = x[t] / size

    x = np.random.default_rng(3).integers(1, 100, THREADS).astype(np.int32)
    counts, places, out = np.zeros(4, np.int32), np.zeros(THREADS, np.int32), np.zeros(THREADS)
    kernel[1, THREADS](x, width, counts, places, out)
    np.testing.assert_array_equal(counts, np.bincount(x % 4, minlength=4))
    np.testing.assert_array_equal(places, x[::-1])
    want = np.where(np.arange(THREADS) < width, x / (np.sqrt(float(x[0] + x[1])) / 7.0), 0)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_threads_of_a_loop_over_rows_stay(rows):
    """Those that have no part of a row have a barrier of the next one."""

    @cuda.jit
    def kernel(x, out):
        parts = cuda.shared.array(THREADS, int32)
        t, width = cuda.threadIdx.x, x.shape[1]
        for row in range(cuda.blockIdx.x, x.shape[0], cuda.gridDim.x):
            parts[t] = x[row, t] if t < width else 0
            cuda.syncthreads()
            half = THREADS // 2
            while half > 0:
                if t < half:
                    parts[t] += parts[t + half]
                cuda.syncthreads()
                half //= 2
            size = math.sqrt(float(parts[0])) / 3.0
            if t < width:
                out[row, t] = x[row, t] / size
            cuda.syncthreads()

    x = np.random.default_rng(rows).integers(1, 50, (rows, 9)).astype(np.int32)
    out = np.zeros(x.shape)
    kernel[2, THREADS](x, out)
    np.testing.assert_array_equal(out, x / (np.sqrt(x.sum(axis=1, keepdims=True).astype(float)) / 3.0))


def test_one_thread_writes_what_all_have_summed():
    """With a question for which nothing comes before, and one by the lane."""

    @cuda.jit(fma=False)
    def kernel(x, out, lanes):
        parts = cuda.shared.array(THREADS, float64)
        t = cuda.threadIdx.x
        parts[t] = x[t]
        cuda.syncthreads()
        total = parts[0] + parts[1] + parts[2] + parts[3]
        value = math.sqrt(total / 3.0) / 5.0
        if cuda.laneid == 0:
            lanes[t // 32] = value + t
        if t == 64:
            out[0] = value / 7.0

    x, out, lanes = np.arange(1.0, THREADS + 1), np.zeros(1), np.zeros(THREADS // 32)
    kernel[1, THREADS](x, out, lanes)
    value = math.sqrt(10.0 / 3.0) / 5.0
    np.testing.assert_array_equal(lanes, value + 32 * np.arange(4))
    assert out[0] == value / 7.0


def test_a_wrong_index_of_threads_without_work_is_named():
    def kernel(x, place, width, out):
        parts = cuda.shared.array(THREADS, float64)
        t = cuda.threadIdx.x
        parts[t] = 1.0
        cuda.syncthreads()
        size = math.sqrt(x[place + t] / 3.0) / 5.0
        if t < width:
            out[t] = parts[t] / size

    message = stopped(cuda.jit(debug=True)(kernel), np.ones(THREADS), 1, 0, np.zeros(THREADS), grid=1, block=THREADS)
    assert f"index {THREADS}" in message and f"thread ({THREADS - 1}, 0, 0)" in message, message
