"""Shared and local memory, barriers wherever CUDA allows them, atomics on every width."""

import numpy as np
import pytest
from harness import define, jit, run
from pyptx import cuda, float32, float64, int32, int64, uint8

N = 16  # threads a block in most tests: the simulation gives each an OS thread
SHAPE = (4, 5)


def ints(*shape, dtype=np.int64, seed=1):
    return np.random.default_rng(seed).integers(-50, 50, shape).astype(dtype)


# --- shared and local arrays ---


def test_reversal_through_shared_memory():
    def kernel(x, out):
        tile = cuda.shared.array(N, int64)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        tile[t] = x[i]
        cuda.syncthreads()
        out[i] = tile[N - 1 - t] + tile[-t - 1]

    run(kernel, [ints(3 * N), np.zeros(3 * N, np.int64)], 3, N)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"],
)
def test_shared_and_local_of_every_dtype(dtype):
    name = "bool_" if dtype == "bool" else dtype
    kernel = define(f"""def kernel(x, out):
    tile = cuda.shared.array((2, 8), np.{name})
    mine = cuda.local.array(3, dtype=np.{name})
    t = cuda.threadIdx.x
    tile[t // 8, t % 8] = x[t]
    mine[0] = x[t]
    mine[1] = x[0]
    mine[2] = mine[0]
    cuda.syncthreads()
    out[t, 0] = tile[1 - t // 8, 7 - t % 8]
    out[t, 1] = mine[t % 3]
    out[t, 2] = tile.size + mine.shape[0] + tile.ndim
""")
    run(kernel, [ints(16).astype(dtype), np.zeros((16, 3))], 1, 16)


def test_several_shared_arrays_do_not_overlap():
    def kernel(out):
        a = cuda.shared.array(N, uint8)
        b = cuda.shared.array((N, 2), float64)
        c = cuda.shared.array(SHAPE, int32)
        t = cuda.threadIdx.x
        a[t] = t
        b[t, 0] = 10 * t
        b[t, 1] = 100 * t
        c[t % 4, t % 5] = 7
        cuda.syncthreads()
        o = (t + 1) % N
        out[t] = a[o] + b[o, 0] + b[o, 1] + c[o % 4, o % 5]

    run(kernel, [np.zeros(N)], 1, N)


def test_dynamic_shared_memory():
    def kernel(x, out):
        buffer = cuda.shared.array(0, float32)
        same = cuda.shared.array(0, float32)
        t = cuda.threadIdx.x
        buffer[t] = x[t]
        cuda.syncthreads()
        out[t] = same[cuda.blockDim.x - 1 - t] + buffer.shape[0]

    run(kernel, [ints(N, dtype=np.float32), np.zeros(N, np.float32)], 1, N, shared=4 * N)


def test_shared_memory_of_a_device_function():
    @cuda.jit(device=True)
    def rotated(v):
        tile = cuda.shared.array(N, int64)
        t = cuda.threadIdx.x
        cuda.syncthreads()
        tile[t] = v
        cuda.syncthreads()
        return tile[(t + 1) % N]

    def kernel(x, out):
        t = cuda.threadIdx.x
        v = rotated(x[t])
        out[t] = v * 1000 + x[t]

    run(kernel, [ints(N), np.zeros(N, np.int64)], 1, N)


def test_shared_array_passed_to_a_function():
    def total(tile, n):
        s = 0
        for i in range(n):
            s += tile[i]
        return s

    def kernel(x, out):
        tile = cuda.shared.array(N, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        out[t] = total(tile, t + 1) + total(tile[2:], 3)

    run(kernel, [ints(N), np.zeros(N, np.int64)], 1, N)


def test_local_array_in_a_loop():
    def kernel(x, out):
        i = cuda.grid(1)
        window = cuda.local.array(4, float64)
        if i < x.size:
            for k in range(4):
                window[k] = x[(i + k) % x.size]
            for a in range(4):  # insertion sort
                for b in range(a, 0, -1):
                    if window[b] < window[b - 1]:
                        window[b], window[b - 1] = window[b - 1], window[b]
            out[i] = window[1] + window[2]

    run(kernel, [ints(40, dtype=np.float64), np.zeros(40)], 3, 16)


# --- barriers ---


def test_barrier_in_a_loop():
    def kernel(x, out):
        tile = cuda.shared.array(N, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        step = 1
        while step < N:
            v = tile[t - step] if t >= step else 0
            cuda.syncthreads()
            tile[t] += v
            cuda.syncthreads()
            step *= 2
        out[t] = tile[t]

    x = ints(N)
    out = run(kernel, [x, np.zeros(N, np.int64)], 1, N)[1]
    assert np.array_equal(out, np.cumsum(x))


def test_barrier_in_nested_loops_with_uniform_bounds():
    def kernel(n, x, out):
        tile = cuda.shared.array(N, int64)
        t = cuda.threadIdx.x
        total = 0
        for a in range(n):
            for b in range(a + 1):
                tile[t] = x[t] * (a + 1) + b
                cuda.syncthreads()
                total += tile[(t + a + b) % N]
                cuda.syncthreads()
            if a == 3:
                break
        out[t] = total

    for n in (0, 1, 3, 6):
        run(kernel, [n, ints(N), np.zeros(N, np.int64)], 1, N)


def test_barrier_under_a_uniform_condition():
    def kernel(flag, x, out):
        tile = cuda.shared.array(N, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        if flag > 0:
            cuda.syncthreads()
            v = tile[(t + 1) % N]
            cuda.syncthreads()
            tile[t] = v
        cuda.syncthreads()
        out[t] = tile[(t + 1) % N]

    for flag in (0, 1):
        run(kernel, [flag, ints(N), np.zeros(N, np.int64)], 1, N)


@pytest.mark.unchecked("not all threads reach the same barrier")
def test_barrier_after_early_return():
    """Threads that have returned are not waited for."""

    def kernel(n, x, out):
        tile = cuda.shared.array(N, int64)
        t = cuda.threadIdx.x
        if t >= n:
            return
        tile[t] = x[t]
        cuda.syncthreads()
        out[t] = tile[n - 1 - t]

    for n in (N, 5, 1):
        run(kernel, [n, ints(N), np.zeros(N, np.int64)], 1, N)


@pytest.mark.unchecked("not all threads reach the same barrier")
def test_barriers_reached_at_different_places():
    """Both sides of a divergent branch have a barrier: since Volta each thread's arrival counts, wherever it is."""

    def kernel(x, out):
        tile = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        if t < 32:
            cuda.syncthreads()
            v = tile[63 - t]
        else:
            cuda.syncthreads()
            v = tile[63 - t] * 2
        cuda.syncthreads()
        out[t] = v

    run(kernel, [ints(64), np.zeros(64, np.int64)], 1, 64)


@pytest.mark.unchecked("not all threads reach the same barrier")
def test_loops_left_at_different_times_with_barriers():
    """Each warp makes its own number of turns, returns, and is then no longer waited for."""

    def kernel(out):
        shared = cuda.shared.array(1, int32)
        t = cuda.threadIdx.x
        if t == 0:
            shared[0] = 0
        cuda.syncthreads()
        for turn in range(1 + t // 32):
            cuda.atomic.add(shared, 0, 1)
            cuda.syncthreads()
            out[t] = shared[0]
            cuda.syncthreads()

    run(kernel, [np.zeros(96, np.int64)], 1, 96)


def test_values_live_across_barriers():
    def kernel(x, y, out):
        tile = cuda.shared.array(N, float64)
        mine = cuda.local.array(3, float64)
        t = cuda.threadIdx.x
        a = x[t] * 2
        mine[0] = a
        k = t * 3
        view = y[t]
        pair = (k, a + 1)
        cuda.syncthreads()
        tile[t] = a + k
        mine[1] = view[0]
        cuda.syncthreads()
        b = tile[(t + 5) % N]
        mine[2] = mine[0] + mine[1]
        cuda.syncthreads()
        out[t] = a + b + k + mine[2] + view[1] + pair[0] * pair[1]

    run(kernel, [ints(N), ints(N, 2), np.zeros(N)], 1, N)


def test_barrier_in_a_device_function():
    def exchange(tile, t, v):
        tile[t] = v
        cuda.syncthreads()
        w = tile[(t + 3) % N]
        cuda.syncthreads()
        return w

    def kernel(x, out):
        tile = cuda.shared.array(N, int64)
        t = cuda.threadIdx.x
        v = x[t]
        for k in range(3):
            v = exchange(tile, t, v + k)
        out[t] = v

    run(kernel, [ints(N), np.zeros(N, np.int64)], 1, N)


def test_barrier_in_a_block_of_three_axes():
    def kernel(x, out):
        tile = cuda.shared.array((2, 3, 4), int64)
        i, j, k = cuda.threadIdx.z, cuda.threadIdx.y, cuda.threadIdx.x
        b = cuda.blockIdx.x + 2 * cuda.blockIdx.y
        tile[i, j, k] = x[b, i, j, k]
        cuda.syncthreads()
        out[b, i, j, k] = tile[1 - i, 2 - j, 3 - k]

    run(kernel, [ints(4, 2, 3, 4), np.zeros((4, 2, 3, 4), np.int64)], (2, 2), (4, 3, 2))


def test_barriers_that_count():
    def kernel(x, out):
        t = cuda.threadIdx.x
        out[0, t] = cuda.syncthreads_count(x[t] > 0)
        out[1, t] = cuda.syncthreads_and(x[t] > -100)
        out[2, t] = cuda.syncthreads_or(x[t] > 48)
        out[3, t] = cuda.syncthreads_and(x[t] > 0)
        out[4, t] = cuda.syncthreads_or(x[t] > 100)

    run(kernel, [ints(N), np.zeros((5, N), np.int64)], 1, N)


def test_block_sizes_around_a_warp():
    def kernel(x, out):
        tile = cuda.shared.array(128, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        out[t] = tile[cuda.blockDim.x - 1 - t]

    for n in (1, 2, 31, 32, 33, 63, 65, 127):
        run(kernel, [ints(n), np.zeros(n, np.int64)], 1, n)


def test_reduction_of_a_full_block():
    def kernel(x, out):
        tile = cuda.shared.array(1024, int64)
        t = cuda.threadIdx.x
        tile[t] = x[cuda.grid(1)]
        cuda.syncthreads()
        half = 512
        while half > 0:
            if t < half:
                tile[t] += tile[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            out[cuda.blockIdx.x] = tile[0]

    x = ints(8 * 1024)
    out = np.zeros(8, np.int64)
    jit(kernel)[8, 1024](x, out)
    cuda.synchronize()
    assert np.array_equal(out, x.reshape(8, 1024).sum(axis=1))


def test_threadfence():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i]
        cuda.threadfence()
        cuda.threadfence_block()
        cuda.threadfence_system()
        out[i] += 1

    run(kernel, [ints(8), np.zeros(8, np.int64)], 1, 8)


# --- atomics ---

WIDTHS = ["int32", "int64", "uint32", "uint64", "float32", "float64"]


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("dtype", WIDTHS)
@pytest.mark.parametrize("operation", ["add", "sub", "max", "min", "and_", "or_", "xor", "exch"])
def test_atomics(operation, dtype, space):
    """Against the same operations one after the other: on integers, and floats that are whole, the order does not matter."""
    if dtype.startswith("float") and operation in ("and_", "or_", "xor"):
        pytest.skip("no bits of floats")
    if operation == "exch":
        pytest.skip("depends on the order: test_exchange")
    if space == "global":
        kernel = define(f"""def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.{operation}(out, (i % 3, i % 2), x[i])
""")
    else:
        kernel = define(f"""def kernel(x, out):
    tile = cuda.shared.array((3, 2), np.{dtype})
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if t < 6:
        tile[t // 2, t % 2] = out[t // 2, t % 2]
    cuda.syncthreads()
    if i < x.size:
        cuda.atomic.{operation}(tile, (i % 3, i % 2), x[i])
    cuda.syncthreads()
    if t < 6:
        out[t // 2, t % 2] = tile[t // 2, t % 2]
""")
    x = ints(16).astype(dtype)
    out = ints(3, 2, seed=2).astype(dtype)
    run(kernel, [x, out], 1, 16)


@pytest.mark.parametrize("dtype", WIDTHS)
def test_atomic_add_of_many_threads(dtype):
    def kernel(x, out, olds):
        i = cuda.grid(1)
        if i < x.size:
            olds[i] = cuda.atomic.add(out, 0, x[i])

    n = 20000
    x = np.ones(n, dtype)
    out, olds = np.zeros(1, dtype), np.zeros(n, dtype)
    jit(kernel)[-(-n // 128), 128](x, out, olds)
    cuda.synchronize()
    # Every old value from 0 to n - 1 was seen by one thread.
    assert out[0] == n and np.array_equal(np.sort(olds), np.arange(n).astype(dtype))


@pytest.mark.parametrize("dtype", WIDTHS)
def test_exchange(dtype):
    def kernel(out, olds):
        i = cuda.grid(1)
        olds[i] = cuda.atomic.exch(out, 0, i + 1)

    n = 256
    out, olds = np.zeros(1, dtype), np.zeros(n, dtype)
    jit(kernel)[4, 64](out, olds)
    cuda.synchronize()
    # The old values and the last one are all that was ever written.
    assert np.array_equal(np.sort(np.append(olds, out)), np.arange(n + 1).astype(dtype))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "uint64", "float32", "float64"])
def test_compare_and_swap(dtype):
    """A counter made of compare-and-swap alone."""

    def kernel(out, rounds):
        for _ in range(rounds):
            seen = out[0]
            while True:
                old = cuda.atomic.cas(out, 0, seen, seen + 1)
                if old == seen:
                    break
                seen = old

    out = np.zeros(1, dtype)
    jit(kernel)[4, 64](out, 3)
    cuda.synchronize()
    assert out[0] == 4 * 64 * 3


def test_compare_and_swap_returns_the_old_value():
    def kernel(a, olds):
        olds[0] = cuda.atomic.cas(a, 1, 5, 9)
        olds[1] = cuda.atomic.cas(a, (1,), 7, 11)
        olds[2] = cuda.atomic.compare_and_swap(a, 3, 8)
        olds[3] = cuda.atomic.compare_and_swap(a, 3, 10)

    run(kernel, [np.array([3, 5], np.int32), np.zeros(4, np.int64)])


def test_atomic_add_to_a_view_and_negative_index():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(out[1], -1, x[i])
            cuda.atomic.add(out, (0, -2), 1)

    run(kernel, [ints(16), np.zeros((2, 4), np.int64)], 1, 16)


def test_atomic_with_weak_values():
    def kernel(out, wide):
        cuda.atomic.add(out, 0, 1)
        cuda.atomic.add(out, 0, 0.5)
        cuda.atomic.add(wide, 0, 2)
        cuda.atomic.max(wide, 1, 3)

    run(kernel, [np.zeros(1, np.float32), np.zeros(2, np.uint64)], 1, 8)


def test_last_block_finishes():
    """A counter that tells the last block: threadfence and the old value of an atomic."""

    def kernel(x, partial, counter, out):
        last = cuda.shared.array(1, int32)
        t = cuda.threadIdx.x
        if t == 0:
            s = 0
            for i in range(cuda.blockIdx.x, x.size, cuda.gridDim.x):
                s += x[i]
            partial[cuda.blockIdx.x] = s
            cuda.threadfence()
            last[0] = cuda.atomic.add(counter, 0, 1) == cuda.gridDim.x - 1
        cuda.syncthreads()
        if last[0] and t == 0:
            s = 0
            for b in range(cuda.gridDim.x):
                s += partial[b]
            out[0] = s

    x = ints(100)
    out = run(kernel, [x, np.zeros(4, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int64)], 4, 4)[3]
    assert out[0] == x.sum()
