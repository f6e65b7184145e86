"""Arrays of a thread on the host device, where the elements of sixteen threads lie together: what each thread reads is
what it wrote."""

import os
import re

import numpy as np
import pytest
from harness import run
from pyptx import complex64, cuda, float32, float64, int8, int16, int64, uint8

N, BLOCK, GRID = 333, 96, 4


def numbers(dtype=np.int64, n=N):
    return np.random.default_rng(n).integers(0, 50, n).astype(dtype)


@pytest.mark.parametrize("element", [int8, int16, float32, float64, complex64], ids=str)
def test_indices_of_all_kinds(element):
    """Constant, of a loop, of the thread, read, and from the end."""

    def kernel(x, out):
        i = cuda.grid(1)
        a = cuda.local.array(7, element)
        for k in range(7):
            a[k] = k + i % 5
        if i < x.size:
            a[3] = x[i] % 11
            a[i % 7] += a[2]
            a[int(x[i]) % 7] += a[-1]
            a[-1 - i % 3] = a[i % 2]
            s = a[0] - a[0]
            for k in range(7):
                s += (k + 1) * a[(k + i) % 7]
            out[i] = float64(s.real)

    run(kernel, [numbers(), np.zeros(N)], GRID, BLOCK)


@pytest.mark.parametrize("element", [int8, int16, int64, float32, float64, complex64], ids=str)
def test_what_was_read_before_it_is_overwritten(element):
    """LLVM 22 makes one load, behind the store, of a masked load and the selection that a phi becomes."""

    def of_a_thread(x, q, out):
        i = cuda.grid(1)
        if i < out.size:
            a = cuda.local.array(12, element)
            for k in range(12):
                a[k] = k
            s = a[0]
            for k in range(9, 1, -1):
                if x[i] % 11 < k:
                    s = a[k + 2]
                    a[k + 2] = x[i]
            out[i] = s

    def of_an_array(x, q, out):
        i = cuda.grid(1)
        if i < out.size:
            s = q[0, i]
            for k in range(9):
                if (x[i] + k) % 3 != 0:
                    s = q[k, i]
                    q[k, i] = 77
            out[i] = s

    def straight_on(x, q, out):
        i = cuda.grid(1)
        s = q[0, 0]
        if i < out.size and x[i] % 2 == 0:
            s = q[1, i]
            q[1, i] = 77
        if i < out.size:
            out[i] = s

    dtype = np.dtype(str(element))
    q = np.random.default_rng(1).integers(0, 50, (12, N)).astype(dtype)
    for kernel in (of_a_thread, of_an_array, straight_on):
        run(kernel, [numbers(), q, np.zeros(N, dtype)], GRID, BLOCK)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float32", "float64"])
def test_what_was_read_before_it_is_overwritten_in_the_loop_of_one_thread(dtype):
    """The same of loops that LLVM's vectoriser makes vectors of, where threads run one by one."""

    def rows(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            for k in range(a.shape[2]):
                t = a[i, 3, k]
                if a[i, 0, k] > 1:
                    t = a[i, 1, k]
                    a[i, 1, k] = 5
                a[i, 2, k] = t

    def one_thread(a):
        if cuda.grid(1) == 0:
            for k in range(a.shape[2]):
                t = a[0, 0, k]
                if t > 1:
                    t = a[0, 1, k]
                    a[0, 1, k] = 5
                a[0, 2, k] = t

    def unrolled(a):
        i = cuda.grid(1)
        for r in range(2):
            if i < a.shape[0] and a[i, r, 0] > 1:
                t = a[i, r, 1]
                a[i, r, 1] = 5
                a[i, r, 2] = t

    a = np.random.default_rng(2).integers(0, 4, (40, 4, 100)).astype(dtype)
    for kernel in (rows, one_thread, unrolled):
        run(kernel, [a], 2, 32)


def test_two_dimensions_and_loops_that_part():
    def kernel(x, out):
        i = cuda.grid(1)
        if i >= x.size:
            return
        a = cuda.local.array((3, 5), float64)
        top = cuda.local.array(4, int64)
        for r in range(3):
            for c in range(5):
                a[r, c] = 10 * r + c
        for k in range(4):
            top[k] = 0
        n = x[i]
        while n > 0:
            a[n % 3, n % 5] -= n
            top[n % 4] += 1
            if n % 7 == 3:
                break
            n = n // 2 + n % 2 - 1
        s = 0.0
        for r in range(3):
            for c in range(5):
                s = s * 3 + a[r, c] * top[(r + c) % 4]
        out[i] = s

    run(kernel, [numbers(), np.zeros(N)], GRID, BLOCK)


def added(a, n):
    total = 0
    for k in range(n):
        total += a[k]
    return total


def test_arrays_that_functions_get_and_selections_of_arrays():
    """What is known of an address ends there, or does not: both are right."""

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            a = cuda.local.array(5, int64)
            b = cuda.local.array(5, int64)
            for k in range(5):
                a[k], b[k] = x[i] + k, x[i] * k
            c = a if x[i] % 3 else b
            c[2] = -i
            a[4] = 1
            out[i] = added(a, 5) * 1000 + added(b[1:4], 3) + added(c, 1 + i % 5)

    run(kernel, [numbers(), np.zeros(N, np.int64)], GRID, BLOCK)


def test_views_of_other_types():
    """Bytes of an element are read alone: such an array is not interleaved."""

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            a = cuda.local.array(4, int64)
            for k in range(4):
                a[k] = x[i] * (k + 300)
            bytes = a.view(np.int8)
            bytes[9] = i % 100
            out[i] = a[1] + bytes[16 + i % 8]

    x = numbers()
    out = np.zeros(N, np.int64)
    cuda.jit(kernel)[GRID, BLOCK](x, out)
    cuda.synchronize()
    a = x[:, None] * (np.arange(4) + 300)
    raw = a.view(np.int8)
    raw[:, 9] = np.arange(N) % 100
    assert (out == a[:, 1] + raw[np.arange(N), 16 + np.arange(N) % 8]).all()


def test_a_barrier_between():
    def kernel(x, out):
        i, t = cuda.grid(1), cuda.threadIdx.x
        a = cuda.local.array(4, int64)
        tile = cuda.shared.array(96, int64)
        for k in range(4):
            a[k] = i * k
        tile[t] = i
        cuda.syncthreads()
        a[tile[95 - t] % 4] += 5
        if i < x.size:
            out[i] = a[0] + 3 * a[1] + 7 * a[2] + 11 * a[x[i] % 4]

    run(kernel, [numbers(), np.zeros(N, np.int64)], GRID, BLOCK)


@pytest.mark.unchecked("checked code notes every access")
@pytest.mark.host_only("about code for the host")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64's names")
def test_no_gathers_at_uniform_indices():
    @cuda.jit
    def kernel(x, rounds, out):
        i = cuda.grid(1)
        if i < out.size:
            s = cuda.local.array((2, 8), float32)
            for k in range(8):
                s[0, k], s[1, k] = x[k], 0
            for r in range(rounds):
                for k in range(8):
                    s[1, k] += s[0, (k + 1) % 8] * x[r]
                for k in range(8):
                    s[0, k] = s[1, k] + i
            out[i] = s[0, rounds % 8]

    code = str(kernel.inspect_asm("float32[::1], int64, float32[::1]"))
    if not re.search(r"%[yz]mm", code):
        pytest.skip("a CPU without AVX2")
    assert not re.search(r"v[p]?gather|v[p]?scatter", code)


@pytest.mark.unchecked("checked code notes every access")
@pytest.mark.host_only("about code for the host")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="x86-64's names")
def test_no_gathers_of_every_few_elements():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[2 * i] + x[2 * i + 1] * x[3 * i] - x[4 * i + 3]

    code = str(kernel.inspect_asm("float32[::1], float32[::1]"))
    if "%zmm" not in code:
        pytest.skip("a CPU without masks of vectors gathers in the copy for the edges")
    assert not re.search(r"\sv\w*gather", code)


@pytest.mark.parametrize("block", [96, 33])
def test_arrays_between_barriers(block):
    """Arrays that no barrier separates from what is read of them, and others; in a loop with a barrier too."""

    def kernel(x, rounds, out):
        tile = cuda.shared.array(96, int64)
        i = cuda.grid(1)
        t = cuda.threadIdx.x
        m = cuda.blockDim.x
        last = cuda.local.array(3, int64)
        first = cuda.local.array(4, int64)
        for j in range(4):
            first[j] = 0
        for j in range(3):
            last[j] = j
        total = 0
        for r in range(rounds):
            tile[t] = x[(i + r) % x.size]
            cuda.syncthreads()
            own = cuda.local.array(5, int8)
            for j in range(5):
                own[j] = tile[(t + j) % m] % 100
            for j in range(4):
                own[j] = own[j + 1]
            if x[i % x.size] % 3 != 0:
                own[2] ^= own[int(own[1]) % 5]
            first[r % 4] += own[2]
            total += own[(t + r) % 5] + last[r % 3]
            cuda.syncthreads()
            last[r % 3] = total
        if i < out.size:
            out[i] = total + first[0] + 10 * first[1] + last[2]

    run(kernel, [numbers(), 5, np.zeros(N, np.int64)], GRID, block)


def test_a_shift_register_in_shared_tables():
    """Bytes looked up in shared memory, under masks."""

    def kernel(data, table, out):
        tables = cuda.shared.array(256, uint8)
        t = cuda.threadIdx.x
        for k in range(t, 256, cuda.blockDim.x):
            tables[k] = table[k]
        cuda.syncthreads()
        i = cuda.grid(1)
        if i >= out.shape[1]:
            return
        rest = cuda.local.array(8, uint8)
        for j in range(8):
            rest[j] = 0
        for k in range(data.shape[0]):
            feedback = data[k, i] ^ rest[0]
            for j in range(7):
                rest[j] = rest[j + 1]
            rest[7] = 0
            if feedback % 4 != 0:
                for j in range(8):
                    rest[j] ^= tables[(int(feedback) * 3 + j) % 256]
        for j in range(8):
            out[j, i] = rest[j]

    rng = np.random.default_rng(3)
    data, table = rng.integers(0, 256, (9, N), dtype=np.uint8), rng.integers(0, 256, 256, dtype=np.uint8)
    run(kernel, [data, table, np.zeros((8, N), np.uint8)], GRID, BLOCK)
