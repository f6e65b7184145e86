"""Neighbouring threads that do not do the same: what the host runs sixteen at a time must mean what it means one by one.

Sizes are not multiples of 16, so that each block ends in threads that run alone; the values that decide are different from thread
to thread, in runs shorter and longer than a vector.
"""

import ctypes
import inspect
import math
import mmap
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from harness import define, run, stopped
from pyptx import cuda, float32, int64

N, BLOCK, GRID = 333, 96, 4


def ints(n, dtype=np.int64):
    found = np.random.default_rng(n).integers(-50, 50, n)
    return (found % 2 if dtype == "bool" else np.abs(found) if np.dtype(dtype).kind == "u" else found).astype(dtype)


def numbers(dtype=np.int64, n=N):
    return ints(n, dtype=dtype)


def test_guard_with_a_tail():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = 3 * x[i]

    run(kernel, [numbers(), np.zeros(N + 40, np.int64)], GRID, BLOCK)


def test_guards_on_both_sides_in_two_dimensions():
    def kernel(u, new):
        j, i = cuda.grid(2)
        if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
            new[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] - u[i, j + 1]

    u = ints(61 * 37, dtype=np.int64).reshape(37, 61)
    run(kernel, [u, np.zeros_like(u)], (3, 6), (24, 8))


def test_early_return():
    def kernel(x, out):
        i = cuda.grid(1)
        if i >= x.size:
            return
        if x[i] % 3 == 0:
            out[i] = -1
            return
        out[i] = x[i]

    run(kernel, [numbers(), np.zeros(N, np.int64)], GRID, BLOCK)


def test_trip_counts_that_differ():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            s = 0
            for k in range(x[i] % 7 + i % 5):
                if k == 4:
                    continue
                s += x[(i + k) % x.size] * (k + 1)
                if s > 500:
                    break
            else:
                s += 10000
            out[i] = s

    run(kernel, [np.abs(numbers()), np.zeros(N, np.int64)], GRID, BLOCK)


def test_loops_in_loops():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            s = 0
            for a in range(i % 4):
                for b in range(3):
                    c = 0
                    while c < (x[i] + a) % 5:
                        s += a * 100 + b * 10 + c
                        c += 1 + b
                if s > 900:
                    break
            out[i] = s

    run(kernel, [np.abs(numbers()), np.zeros(N, np.int64)], GRID, BLOCK)


def test_iterations_that_end_early():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            state, hits = x[i] % 1000, 0
            for _ in range(20):
                state = (state * 37 + 11) % 1009
                if state % 3 == 0:
                    continue
                if state % 2:
                    hits += state
            out[i] = hits

    run(kernel, [np.abs(numbers()), np.zeros(N, np.int64)], GRID, BLOCK)


def test_uniform_loop_under_a_condition():
    def kernel(x, m, out):
        i = cuda.grid(1)
        if i < out.size and x[i] % 2:
            s = 0
            for k in range(m.shape[0]):
                s += m[k, i % m.shape[1]]
                if k == 5:
                    s *= 2
            out[i] = s

    run(kernel, [numbers(), ints(70, dtype=np.int64).reshape(10, 7), np.zeros(N, np.int64)], GRID, BLOCK)


def test_branches_that_leave_different_values():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            a, b = 1, 2
            if x[i] % 4 == 0:
                a, b = b, a + i
            elif x[i] % 4 == 1:
                a = x[i]
            else:
                if i % 2:
                    b = -x[i]
                a += b
            out[i] = 1000 * a + b

    run(kernel, [np.abs(numbers()), np.zeros(N, np.int64)], GRID, BLOCK)


def test_values_that_swap_in_a_loop():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            a, b = x[i], i
            for _ in range(i % 9):
                a, b = b, a + b
            out[i] = a * 3 + b

    run(kernel, [numbers(), np.zeros(N, np.int64)], GRID, BLOCK)


def test_arrays_that_overlap():
    """Each thread reads and writes its own elements, through two arrays that share them."""

    def kernel(x):
        i = cuda.grid(1)
        y = x[::-1]
        if 2 * i < x.size:
            a = x[i]
            y[i] = a + y[i]
            x[i] = y[i] * 2

    run(kernel, [numbers(n=2 * N)], GRID, BLOCK)


def test_strides_of_all_kinds():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i, 1] = x[i] - x[x.size - 1 - i]
            out[i, 0] = out[i, 1] * i

    x = ints(3 * N, dtype=np.int64)
    for view in (x[::-3], x[::2][:N], x[1::3]):
        run(kernel, [view.copy()[::-1], np.zeros((N, 3), np.int64)], GRID, BLOCK)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float32", "float64"])
@pytest.mark.parametrize("by", [2, 3, 4, 5])
def test_every_few_elements(by, dtype):
    """The last one accessed is the array's last; what lies between is not written."""

    def kernel(x, out, some):
        i = cuda.grid(1)
        if i < x.size // BY:
            out[BY * i + 1] = x[BY * i] + x[BY * i + BY - 1]
            if x[BY * i] % 3 == 0:
                some[BY * i + BY - 1] = x[BY * i + 1] - i % 7
            k = 0
            while k < x[i] % 5:
                some[BY * i] += x[BY * i + k % BY]
                k += 1

    code = f"from pyptx import cuda\nBY = {by}\n" + textwrap.dedent(inspect.getsource(kernel))
    x = np.abs(numbers(np.int8, by * 210)).astype(dtype)
    run(define(code), [x, np.zeros_like(x), np.full_like(x, 77)], 3, 96)


@pytest.mark.parametrize("bound", ["i + 1", "int(count[i])", "first + 5"])
def test_bounds_that_differ(bound):
    """Of a counter that all threads share; what it reads may count from the end."""
    source = f"""
        def kernel(x, taps, count, y):
            i = cuda.grid(1)
            first = cuda.threadIdx.x * 2
            if i < y.size:
                s = y[i]
                for k in range(min(taps.size, {bound})):
                    s += taps[k] * x[i - k - 3]
                y[i] = s
    """
    taps, count = numbers(np.int64, 47), np.abs(numbers(np.int8, 200))
    run(define(textwrap.dedent(source)), [numbers(), taps, count, np.zeros(200, np.int64)], 3, 96)


def test_gather_and_scatter():
    def kernel(x, order, out):
        i = cuda.grid(1)
        if i < x.size:
            out[order[i]] = x[order[(i + 1) % x.size]]

    order = np.random.default_rng(3).permutation(N)
    run(kernel, [numbers(), order, np.zeros(N, np.int64)], GRID, BLOCK)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "float16", "float32", "float64", "bool"])
def test_elements_of_all_sizes(dtype):
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            if x[i] > y[i]:
                out[i] = x[i]
            else:
                out[i] = y[i]

    x, y = numbers(dtype), numbers(dtype)[::-1].copy()
    run(kernel, [x, y, np.zeros(N, dtype)], GRID, BLOCK)


def test_division_only_where_it_is_allowed():
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size and y[i] != 0:
            out[i] = x[i] // y[i] + x[i] % y[i]

    y = numbers() % 5 - 2
    run(kernel, [numbers(), y, np.zeros(N, np.int64)], GRID, BLOCK)


def test_atomics_of_some_lanes():
    def kernel(x, counts, last):
        i = cuda.grid(1)
        if i < x.size and x[i] % 3:
            cuda.atomic.add(counts, x[i] % 11, 1)
            cuda.atomic.max(last, 0, i)

    run(kernel, [np.abs(numbers()), np.zeros(11, np.int64), np.zeros(1, np.int64)], GRID, BLOCK)


def test_atomics_on_shared_memory():
    def kernel(x, out):
        counts = cuda.shared.array(7, int64)
        extremes = cuda.shared.array(6, int64)
        sums = cuda.shared.array(3, float32)
        t = cuda.threadIdx.x
        if t < 7:
            counts[t] = 0
        if t < 6:
            extremes[t] = 3
        if t < 3:
            sums[t] = 0
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < x.size:
            cuda.atomic.add(counts, x[i] % 7, 1)
            cuda.atomic.sub(counts, 6, 2)
            cuda.atomic.max(extremes, 0, x[i])
            cuda.atomic.min(extremes, 1, -x[i])
            cuda.atomic.or_(extremes, 2, x[i])
            cuda.atomic.and_(extremes, 3, x[i])
            cuda.atomic.xor(extremes, 4, x[i])
            cuda.atomic.add(sums, x[i] % 3, float32(1))
            cuda.atomic.compare_and_swap(extremes[5:], 3, 9)
        cuda.syncthreads()
        if t < 7:
            out[cuda.blockIdx.x, t] = counts[t]
        if t < 6:
            out[cuda.blockIdx.x, 7 + t] = extremes[t]
        if t < 3:
            out[cuda.blockIdx.x, 13 + t] = int64(sums[t])

    run(kernel, [np.abs(numbers()), np.zeros((GRID, 16), np.int64)], GRID, BLOCK)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_elements(dtype):
    def kernel(x, order, out, back):
        i = cuda.grid(1)
        if i < x.size:
            z = x[i] * x[order[i]] + x[i].conjugate()
            out[i] = z
            if order[i] % 3:
                out[i] = z - x[x.size - 1 - i]
                for _ in range(5):
                    z = z * 0.5 + x[i]
            back[order[i]] = z

    x = (numbers(np.float64) + 1j * ints(N + 1, np.float64)[1:]).astype(dtype)
    order = np.random.default_rng(5).permutation(N)
    run(kernel, [x, order, np.zeros(N, dtype), np.zeros(N, dtype)], GRID, BLOCK)


def test_lock_between_threads_of_one_vector():
    @cuda.jit
    def kernel(lock, total):
        done = False
        while not done:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                total[0] += 1
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                done = True

    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int64)
    kernel[3, 64](lock, total)
    cuda.synchronize()
    assert total[0] == 3 * 64


def test_local_arrays():
    def kernel(x, out):
        i = cuda.grid(1)
        seen = cuda.local.array(6, int64)
        for k in range(6):
            seen[k] = k * i
        if i < x.size:
            seen[x[i] % 6] += x[i]
            s = 0
            for k in range(6):
                s = s * 7 + seen[(k + i) % 6]
            out[i] = s

    run(kernel, [np.abs(numbers()), np.zeros(N, np.int64)], GRID, BLOCK)


def test_shared_memory_in_steps():
    def kernel(x, out):
        tile = cuda.shared.array(96, int64)
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        tile[t] = x[i] if i < x.size else 0
        cuda.syncthreads()
        half = 48
        while half > 0:
            if t < half:
                tile[t] += tile[t + half]
            cuda.syncthreads()
            half = half // 2 if half != 3 else 0
        if t == 0:
            out[cuda.blockIdx.x] = tile[0] + tile[1] + tile[2]

    run(kernel, [numbers(), np.zeros(GRID, np.int64)], GRID, BLOCK)


def test_tiles_with_a_number_a_thread():
    def kernel(a, b, c):
        tile_a = cuda.shared.array((16, 16), float32)
        tile_b = cuda.shared.array((16, 16), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col, row = cuda.grid(2)
        acc = float32(0)
        for start in range(0, a.shape[1], 16):
            tile_a[ty, tx] = a[row, start + tx]
            tile_b[ty, tx] = b[start + ty, col]
            cuda.syncthreads()
            for k in range(16):
                acc += tile_a[ty, k] * tile_b[k, tx]
            cuda.syncthreads()
        c[row, col] = acc

    a, b = (ints(32 * 32, dtype=np.float32).reshape(32, 32) for _ in range(2))
    run(kernel, [a, b, np.zeros((32, 32), np.float32)], (2, 2), (16, 16))


def test_functions_of_the_library():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size and x[i] > 0:
            out[i] = math.sqrt(x[i]) + math.floor(x[i] / 3) + abs(-x[i]) + math.log(x[i])

    run(kernel, [numbers(np.float64), np.zeros(N)], GRID, BLOCK, ulps=2)


# --- on the host: what is reported, and that vectors are used
# ----------------------------------------------------------------------------

host = pytest.mark.host_only("about code for the host")


@host
@pytest.mark.parametrize("size", [63, 48, 33, 17, 5, 0])
def test_first_thread_beyond_the_end_is_named(size):
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i]

    message = stopped(kernel, np.zeros(size), np.zeros(64))
    assert f"index {size}" in message and re.search(rf"thread \({size}, 0, 0\)", message), message


@host
def test_index_behind_a_store_is_named_too():
    @cuda.jit
    def kernel(x, order, out):
        i = cuda.grid(1)
        out[i] = 1
        out[order[i]] = x[i]

    order = np.arange(64)
    order[37] = 64
    message = stopped(kernel, np.zeros(64), order, np.zeros(64))
    assert "index 64" in message and "thread (37, 0, 0)" in message, message


@host
def test_masked_index_is_named_too():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if x[i] > 0:
            out[i] = 1
            out[x[i]] = 2

    x = np.zeros(64, np.int64)
    x[20], x[41] = 3, 77
    message = stopped(kernel, x, np.zeros(64))
    assert "index 77" in message and "thread (41, 0, 0)" in message, message


def wide(kernel, signature):
    """Instructions on whole vectors in the machine code: their mnemonics."""
    return re.findall(r"^\s+(v\w+)\s.*%[yz]mm", str(kernel.inspect_asm(signature)), re.M)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_elements_in_strides(dtype):
    def kernel(x, order, out):
        i = cuda.grid(1)
        if i < order.size:
            a, b = x[2 * i], x[order[i] // 3]
            if i % 3:
                out[3 * i] = a + b
            out[order[i]] = b
            out[3 * i + 1] = a - b if i % 5 else b

    x = numbers(np.float32, 2 * 200).astype(dtype) + 1j * numbers(np.float32, 2 * 200)[::-1]
    order = np.random.default_rng(2).permutation(200)
    run(kernel, [x.astype(dtype), 2 + 3 * order, np.zeros(610, dtype)], 3, 96)


@pytest.mark.parametrize("dtype", ["int8", "float32", "complex64"])
def test_elements_that_go_back(dtype):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[out.size - 101 - i] = x[x.size - 1 - i]
            if i % 3 and x[i] == x[0]:
                out[x.size - 1 - i] = x[-1 - i]
            if i < 100:
                out[i - 100] = x[99 - i]

    run(kernel, [numbers(np.int8).astype(dtype), np.zeros(2 * N + 105, dtype)], GRID, BLOCK)


@pytest.mark.parametrize("by", [1, 3, 8, 17, 40])
def test_lanes_before_the_first_that_runs_count_from_the_end(by):
    def kernel(x, by, out):
        tile = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        if t >= by:
            out[t] = tile[t - by] + 1
        if t % 3 == 0:
            out[t + 64] = tile[t - by]
        if t < by:
            tile[t - by] = t
        cuda.syncthreads()
        out[t + 128] = tile[t]

    run(kernel, [numbers(), by, np.zeros(192, np.int64)], 1, 64)


@pytest.mark.parametrize("block", [(8, 8), (8, 3), (8, 1), (4, 4), (5, 8)])
def test_tiles_with_short_rows(block):
    """Rows of 8 are vectors of half the length where 16 is the whole."""

    def kernel(x, out):
        tile = cuda.shared.array((8, 8), float32)
        t, y = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.grid(2)
        tile[y, t] = x[i, j]
        cuda.syncthreads()
        total = float32(0)
        for k in range(cuda.blockDim.x):
            total += tile[y, k] * (k + t)
        cuda.syncthreads()
        tile[y, t] = total
        cuda.syncthreads()
        out[i, j] = total + tile[cuda.blockDim.y - 1 - y, 0] + y

    x = ints(6 * block[0] * block[1]).reshape(2 * block[1], 3 * block[0]).astype(np.float32)
    run(kernel, [x, np.zeros_like(x)], (3, 2), block)


@pytest.mark.unchecked("checked code has vectors of one length")
@host
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64's names")
def test_short_rows_have_vectors_of_their_own():
    def kernel(x, out):
        tile = cuda.shared.array((WIDTH, WIDTH), float32)
        t, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, t] = x[y, t]
        cuda.syncthreads()
        out[y, t] = tile[WIDTH - 1 - y, t] * x[t, y]

    found = []
    for width in (8, 32):
        code = f"from pyptx import cuda, float32\nWIDTH = {width}\n" + textwrap.dedent(inspect.getsource(kernel))
        machine = str(cuda.jit(define(code)).inspect_asm("float32[:,::1], float32[:,::1]"))
        if not re.search(r"vmulps\s.*%zmm", machine):
            pytest.skip("a CPU without AVX-512")
        found.append(re.search(r"vmulps\s.*%ymm", machine) is not None)
    assert found == [True, False]


@pytest.mark.unchecked("checked code has fewer vector instructions")
@host
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64's names")
def test_vector_instructions_are_used():
    @cuda.jit
    def saxpy(a, x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = a * x[i] + y[i]

    @cuda.jit
    def escape(x, out):
        i = cuda.grid(1)
        if i < x.size:
            z, n = float32(0), 0
            while z * z < 4 and n < 50:
                z = z * z + x[i]
                n += 1
            out[i] = n

    @cuda.jit
    def products(x, y):
        i = cuda.grid(1)
        if i < x.size:
            y[i] = x[i] * y[i]

    if not wide(saxpy, "float32, float32[::1], float32[::1]"):
        pytest.skip("a CPU without AVX2")
    assert any(m.startswith("vfm") for m in wide(saxpy, "float32, float32[::1], float32[::1]"))
    assert any(m.startswith(("vfm", "vmul")) for m in wide(escape, "float32[::1], int32[::1]"))
    assert wide(products, "complex64[::1], complex64[::1]")


@pytest.mark.unchecked("checked code has fewer vector instructions")
@host
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64's names")
def test_shuffles_are_worth_vectors():
    """The first warp gathers what all sixteen have, and adds that by shuffles: permutations of
    vectors, if it is not run thread by thread."""

    @cuda.jit
    def kernel(x, out):
        total = cuda.coop.this_block(512).sum(x[cuda.grid(1)])
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = total

    @cuda.jit
    def copy(x, out):
        i = cuda.grid(1)
        out[i] = 2 * x[i]

    if not wide(copy, "float32[::1], float32[::1]"):
        pytest.skip("a CPU without AVX2")
    assert any(m.startswith("vperm") for m in wide(kernel, "float32[::1], float32[::1]"))


@host
@pytest.mark.parametrize("cut", [0, 5])
def test_bytes_up_to_both_ends_of_a_page(cut):
    """Lanes that run read what lies beside their elements too, where the CPU has no masked loads of bytes, but never
    in a page that no lane reads: those on both sides of this array's cannot be read."""

    @cuda.jit
    def kernel(text, out):
        i = cuda.grid(1)
        if i < text.size:
            length = 0
            if i > 0 and text[i - 1] == 7:
                length = 1000
            k = i
            while k < text.size and text[k] != 0:
                k += 1
                length += 1
            out[i] = length

    page = mmap.PAGESIZE
    pages = np.frombuffer(mmap.mmap(-1, 3 * page), np.uint8)
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for beside in (pages[:page], pages[2 * page :]):
        assert protect(ctypes.c_void_p(beside.ctypes.data), ctypes.c_size_t(page), 0) == 0
    middle = pages[page : 2 * page]
    middle[:] = np.random.default_rng(1).choice(np.array([0, 1, 7], np.uint8), page, p=[0.05, 0.9, 0.05])
    for text in (middle[: page - cut], middle[cut:]):
        out = np.zeros(text.size, np.int32)
        kernel[(text.size + BLOCK - 1) // BLOCK, BLOCK](text, out)
        wanted, run_from = np.zeros_like(out), 0
        for i in range(text.size - 1, -1, -1):
            run_from = run_from + 1 if text[i] else 0
            wanted[i] = run_from + (1000 if i > 0 and text[i - 1] == 7 else 0)
        assert (out == wanted).all()


@host
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64's names")
@pytest.mark.parametrize("features", ["-avx512f,-avx512bw,-avx512dq,-avx512vl", "-avx2,-avx512f,-avx512bw,-avx512dq,-avx512vl"])
def test_other_widths(features):
    """Lanes in two registers, without masks of vectors, and none: the same programs in a process of their own."""
    chosen = "loops_in_loops or tiles or gather or shared_memory or index or ends_of_a_page"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__, "-k", chosen]
    env = {**os.environ, "PYPTX_HOST_FEATURES": features}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["exp", "exp2", "log", "log2", "log10", "sin", "cos", "tanh", "pow"])
def test_math_has_the_same_bits_in_vectors_and_alone(name, dtype):
    call = f"math.{name}(x[i], x[x.size - 1 - i])" if name == "pow" else f"math.{name}(x[i])"
    kernel = cuda.jit(define(f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = {call}\n"))
    info = np.finfo(dtype)
    special = [0.0, -0.0, 1, -1, 0.5, 3, np.pi, info.max, info.tiny, info.smallest_subnormal, np.inf, -np.inf, np.nan, 1e13]
    some = np.random.default_rng(4).standard_normal(400) * np.float64(10) ** np.random.default_rng(5).integers(-9, 9, 400)
    x = np.concatenate([special, some]).astype(dtype)
    found = []
    for block in (128, 7, 1):
        out = np.zeros_like(x)
        kernel[-(-x.size // block), block](x, out)
        cuda.synchronize()
        found.append(out.view(f"i{x.itemsize}"))
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_products_that_wrap_between_the_ends_of_a_vector(dtype, lanes):
    """The last lane's product is small again: both ends say yes, and what is between does not."""
    bits = 8 * np.dtype(dtype).itemsize
    factor, bound = dtype((1 << bits) // (lanes - 1) + 1), dtype(64)
    assert int(factor) * (lanes - 1) % (1 << bits) < bound

    def kernel(out):
        i = cuda.grid(1)
        if dtype(i) * factor < bound:
            out[i, 0] = 1
        if dtype(i) * factor >= bound:
            out[i, 1] = 1
        if dtype(i) * factor == dtype(out.shape[1] + 5):
            out[i, 2] = 1

    run(kernel, (np.zeros((64, 3), np.int32),), 2, 32)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64"])
@pytest.mark.parametrize("block", [64, 40])
def test_extremes_of_one_element_and_of_neighbours(dtype, block):
    """Lanes ask what is there first, for all of them: the same element, contiguous ones, some of them at rest."""
    kernel = define(f"""def kernel(x, most, least, each, some):
    tile = cuda.shared.array(64, np.{dtype})
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i]
    cuda.syncthreads()
    v = tile[cuda.blockDim.x - 1 - t]
    cuda.atomic.max(most, 0, v)
    cuda.atomic.min(least, 1, v)
    cuda.atomic.max(each, t, v)
    if v > 20:
        cuda.atomic.min(some, i, v)
""")
    info = np.iinfo(dtype)
    x = np.random.default_rng(4).integers(0, 99, 16 * block).astype(dtype)
    x[[5, -2]] = info.min, info.max
    most, least = np.full(2, info.min, dtype), np.full(2, info.max, dtype)
    each, some = np.full(block, 50, dtype), np.full(x.size, 60, dtype)
    arrays = [cuda.to_device(a) for a in (x, most, least, each, some)]
    cuda.jit(kernel)[16, block](*arrays)
    most, least, each, some = (a.copy_to_host() for a in arrays[1:])
    v = x.reshape(16, block)[:, ::-1]
    assert most.tolist() == [info.max, info.min] and least.tolist() == [info.max, info.min]
    assert np.array_equal(each, np.maximum(v.max(0), np.array(50, dtype)))
    right = np.where(v > 20, np.minimum(v, np.array(60, dtype)), np.array(60, dtype))
    assert np.array_equal(some, right.ravel())
