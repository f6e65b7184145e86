"""Kernels run as Python: kernel.py_run, PYPTX_DEVICE=python. What they give is what the host device gives.

The device that the suite runs on does not matter to py_run; what compares with a compiled launch does it on the host device.
"""

import io
import math
import os
import subprocess
import sys
import threading
import traceback
from collections import namedtuple
from enum import Enum
from pathlib import Path

import numpy as np
import pyptx
import pytest
from pyptx import _pyptx, cuda
from pyptx.cuda import coop, fp8, laneid, syncthreads
from pyptx.errors import SyncError
from pyptx.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32, xoroshiro128p_uniform_float32

pytestmark = pytest.mark.host_only("the host device is what they are compared with")
ROOT = Path(__file__).resolve().parents[3]
ALL = 0xFFFFFFFF


def both(function, grid, block, *arrays, shared=0):
    """The arrays after a compiled launch and after a run in Python must have the same bytes."""
    kernel = cuda.jit(function, fma=False) if not isinstance(function, _pyptx.Dispatcher) else function
    compiled, stepped = ([x.copy() if isinstance(x, np.ndarray) else x for x in arrays] for _ in range(2))
    kernel[grid, block, 0, shared](*compiled)
    kernel.py_run(grid, block, *stepped, sharedmem=shared)
    for a, b in zip(compiled, stepped):
        if isinstance(a, np.ndarray):
            assert (a == b).all() if a.dtype.names else a.tobytes() == b.tobytes(), (a, b)  # what pads records is undefined
    return stepped


# --- what values are


@cuda.jit(device=True)
def helper(x, factor=2):
    return math.sin(x) * factor


TABLE = np.arange(8, dtype=np.float32)
Point = namedtuple("Point", "x y")


class Color(Enum):
    RED = 1
    BLUE = 2


def test_numbers_have_the_types_of_compiled_code():
    def kernel(x, out, wide, n, p, color):
        i = cuda.grid(1)
        a = x[i]
        out[0, i] = helper(a) + TABLE[i % 8]
        out[1, i] = np.uint8(n * 300 + i) + a * p.x - p[1]
        out[2, i] = math.exp(a) / math.sqrt(a + 1) + np.log1p(a) + round(a, 2)
        out[3, i] = np.int8(a * 1000) if color is Color.RED else 0
        out[4, i] = pyptx.int16(70000 + i)
        wide[i] = math.atan2(a, 0.5) + math.frexp(a)[1]
        if isinstance(a, np.float32) and type(a) is np.float32 and a.dtype == np.float32:
            out[5, i] = cuda.popc(i) + cuda.fma(a, a, a) + cuda.libdevice.rsqrtf(a + np.float32(1))

    x = np.linspace(0, 1, 64, dtype=np.float32)
    both(kernel, 2, 32, x, np.zeros((6, 64), np.float32), np.zeros(64), 3, Point(np.float32(1.5), 2), Color.RED)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "float16", "float32", "bool", "complex64"])
@pytest.mark.unchecked("all threads write a whole row")
def test_stores_convert(dtype):
    def kernel(i, f, out):
        k = cuda.threadIdx.x
        out[0, k] = i[k]
        out[1, k] = f[k]
        out[2, k] = int(i[k]) * 3 + 1
        out[3, k] = 2.5
        out[4] = (1, 0, 1, 0, 1, 0)

    i = np.array([0, 1, -1, 300, -(2**40), 2**60], np.int64)
    f = np.array([0, -1.5, 1e30, math.nan, -math.inf, 255.9])
    both(kernel, 1, 6, i, f, np.zeros((5, 6), dtype))


@pytest.mark.unchecked("an atomic sum beside a plain one")
def test_records():
    body = np.dtype([("pos", "f4", (3,)), ("inner", [("m", "u1"), ("size", "i2")]), ("hits", "i4")], align=True)

    def kernel(bodies, one, out):
        i = cuda.grid(1)
        b = bodies[i]
        b.pos[1] += i
        b.inner.m = 250 + i
        b["inner"]["size"] = -i
        bodies[i].hits += 1
        bodies["pos"][i, 2] = 7
        cuda.atomic.add(bodies.hits, 0, 2)
        out[i] = b.inner.size + one.hits + b.inner.m

    bodies = np.zeros(20, body)
    bodies["pos"] = 1.5
    both(kernel, 1, 20, bodies, bodies[3], np.zeros(20, np.int32))


def test_dates_and_complex_numbers():
    def kernel(when, z, days, out):
        i = cuda.grid(1)
        days[i] = (when[i] - np.datetime64("2020-01-01")) // np.timedelta64(1, "D") if False else (when[i] - when[0]) // np.timedelta64(1, "D")
        out[i] = z[i] * z[i].conjugate() + abs(z[i]) * 2j

    when = np.array(["2020-01-01", "2021-03-01", "1999-12-31"], "M8[s]")
    z = np.array([1 + 2j, 0.5j, -3], np.complex64)
    cuda.jit(kernel).py_run(1, 3, when, z, days := np.zeros(3, np.int64), out := np.zeros(3, np.complex64))
    assert (days == (when - when[0]) // np.timedelta64(1, "D")).all()
    assert np.allclose(out, z * z.conj() + abs(z) * 2j, rtol=1e-6)


def test_vectors_and_views():
    def kernel(x, out):
        i = 4 * cuda.grid(1)
        v = cuda.vector.load(x, i, 4)
        w = cuda.float32x4(cuda.float2(v.w, v.z), v[1], 300)
        cuda.vector.store(out, i, w)
        row = out.reshape(-1, 4)[i // 4]
        row[1:3] += 1
        row[0:1] = row[3:]
        out[i + 1] = x.T.item(0) + len(x)

    both(kernel, 2, 8, np.arange(64, dtype=np.float32), np.zeros(64, np.float32))


def test_vectors_of_8_bit_floats():
    pytest.importorskip("ml_dtypes")

    def kernel(x, bits, out):
        i = cuda.grid(1)
        v = fp8.fp8x4_e4m3(cuda.vector.load(x, 4 * i, 4))
        bits[i, 0], bits[i, 1] = v.__x, cuda.float8_e5m2x2(v.x, v.w).__x
        cuda.vector.store(out, 4 * i, cuda.float32x4(v))

    both(kernel, 2, 8, np.linspace(-500, 500, 64, dtype=np.float32), np.zeros((16, 2), np.uint32), np.zeros(64, np.float32))


def test_signatures_convert_arguments():
    @cuda.jit("void(float32[:], float32, int8)", fma=False)
    def kernel(out, x, n):
        out[0] = x / 3
        out[1] = n + np.int8(100)
        out[2] = np.complex64(x, 2).imag

    both(kernel, 1, 1, np.zeros(3, np.float32), 0.1, 100)
    cuda.jit("void()")(lambda: None).py_run(1, 1)


def test_defaults_keywords_closures_and_recursion():
    scale = 3

    def kernel(x, step=1, *, last=10):
        def inner(n):
            return n * scale

        def down(n):
            return 0 if n <= 0 else n + down(n - 1)

        i = cuda.grid(1)
        x[i] = inner(i) * step + last + (lambda v: v + 1)(i) + down(i)

    kernel = cuda.jit(kernel)
    x = np.zeros(9, np.int64)
    kernel.py_run(1, 9, x, last=2)
    i = np.arange(9)
    assert (x == 3 * i + 2 + i + 1 + i * (i + 1) // 2).all()


def test_frozen_arrays_are_read_only_and_device_arrays_shared():
    d = cuda.to_device(np.arange(4.0))

    def kernel(x):
        i = cuda.grid(1)
        x[i] += d[i] + cuda.const.array_like(TABLE)[i]
        d[i] = -1
        if i == 3:
            TABLE[0] = 1

    x = cuda.to_device(np.ones(4))
    with pytest.raises(ValueError, match="read-only"):
        cuda.jit(kernel).py_run(1, 4, x)
    assert (x.copy_to_host() == [1, 3, 5, 7]).all() and (d.copy_to_host() == -1).all() and TABLE[0] == 0


# --- threads


def test_where_threads_are():
    def kernel(out):
        x, y, z = cuda.grid(3)
        n, m, k = cuda.gridsize(3)
        out[z, y, x, 0] = cuda.blockIdx.x + 10 * cuda.blockIdx.y + 100 * cuda.blockIdx.z
        out[z, y, x, 1] = cuda.threadIdx.x + 10 * cuda.threadIdx.y + 100 * cuda.threadIdx.z
        out[z, y, x, 2] = n * m * k + cuda.blockDim.y * cuda.gridDim.z + laneid + cuda.lanemask_lt() + cuda.warpsize

    both(kernel, (2, 2, 2), (3, 4, 5), np.zeros((10, 8, 6, 3), np.int64))


def test_barriers_and_shared_memory():
    def kernel(x, out, n):
        tile = cuda.shared.array(100, np.float32)
        counts = cuda.shared.array(3, np.int64)
        more = cuda.shared.array(0, np.int32)
        mine = cuda.local.array(2, np.int32)
        t = cuda.threadIdx.x
        tile[t] = x[cuda.grid(1)]
        more[t] = t
        syncthreads()
        step = 50
        while step:
            if t < step and t + step < 100:
                tile[t] += tile[t + step]
            cuda.syncthreads()
            step //= 2
        mine[0] = cuda.syncthreads_count(t % 3 == 0)
        mine[1] = cuda.syncthreads_or(t == 99) + 2 * cuda.syncthreads_and(t < 99)
        if t < 3:
            counts[t] = mine[0] + mine[1]
        cuda.syncthreads()
        out[cuda.grid(1)] = tile[0] + counts[t % 3] + more[99 - t]

    both(kernel, 3, 100, np.arange(300, dtype=np.float32), np.zeros(300, np.float32), 1, shared=400)


@pytest.mark.unchecked("threads wait at different barriers")
def test_threads_that_have_ended_are_not_waited_for():
    def kernel(x, out):
        i = cuda.grid(1)
        if i >= 37:
            return
        s = cuda.shared.array(64, np.int32)
        s[i] = x[i]
        if i % 2:
            cuda.syncthreads()
        else:
            cuda.syncthreads()
        out[i] = s[36 - i] + cuda.ballot_sync(ALL, i % 3 == 0) % 1000

    both(kernel, 1, 64, np.arange(64, dtype=np.int32), np.zeros(64, np.int64))


def test_warps():
    def kernel(x, out):
        t = cuda.threadIdx.x
        v = x[t]
        out[0, t] = cuda.shfl_sync(ALL, v, 5) + cuda.shfl_up_sync(ALL, v, 3) + cuda.shfl_down_sync(ALL, v, delta=7)
        for k in range(5):
            v += cuda.shfl_xor_sync(ALL, v, 1 << k)
        out[1, t] = v
        out[2, t] = cuda.match_any_sync(ALL, t % 5)
        lanes, same = cuda.match_all_sync(ALL, t // 32)
        out[3, t] = lanes + same + cuda.any_sync(ALL, t == 40) + 2 * cuda.all_sync(ALL, t < 40) + 4 * cuda.eq_sync(ALL, t < 64)
        if t % 2:
            mask = cuda.activemask()
            out[4, t] = cuda.ballot_sync(mask, t % 3 == 0)
        cuda.syncwarp()
        out[5, t] = cuda.shfl_sync(0xFF << (t % 32 // 8 * 8), t, t % 32 // 8 * 8 + 3)

    both(kernel, 1, 96, np.arange(96, dtype=np.int64), np.zeros((6, 96), np.int64))


def test_atomics():
    def kernel(i, f, old):
        t = cuda.threadIdx.x
        old[t, 0] = cuda.atomic.add(i, 0, 3)
        cuda.atomic.sub(i, 1, t)
        cuda.atomic.max(f, 0, f[t % 8 + 8])
        cuda.atomic.min(f, 1, f[t % 8 + 8])
        cuda.atomic.nanmax(f, (2,), f[t % 8 + 8])
        cuda.atomic.nanmin(f, 3, f[t % 8 + 8])
        cuda.atomic.and_(i, 2, ~t)
        cuda.atomic.or_(i, 3, t)
        cuda.atomic.xor(i, 4, t)
        cuda.atomic.inc(i, 5, 11)
        cuda.atomic.dec(i, 6, 13)
        old[t, 1] = cuda.atomic.cas(i, 7, 0, 8)
        cuda.atomic.exch(i, 8, 300)
        old[t, 2] = cuda.atomic.compare_and_swap(i[9:], 0, 5)

    f = np.array([1, 1, math.nan, math.nan, 0, 0, 0, 0, 3, math.nan, -2, 0.0, -0.0, 7, 5, -9], np.float32)
    kernel = cuda.jit(kernel)
    host = [np.ones(10, np.uint32) * 0, f.copy(), np.zeros((32, 3), np.uint32)]
    mine = [x.copy() for x in host]
    kernel[1, 32](*host)
    kernel.py_run(1, 32, *mine)
    assert (host[0] == mine[0]).all() and host[1].tobytes() == mine[1].tobytes()
    for column in range(3):
        assert (np.sort(host[2][:, column]) == np.sort(mine[2][:, column])).all()


def test_threads_that_wait_for_memory():
    def kernel(lock, turn, out):
        t, b = cuda.threadIdx.x, cuda.blockIdx.x
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            cuda.nanosleep(100)
        out[0] += t
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)
        if t == 0:
            while turn[0] != 2 - b:  # the last block first
                pass
            out[1 + b] = turn[0]
            turn[0] += 1

    out = np.zeros(4, np.int64)
    cuda.jit(kernel).py_run(3, 8, np.zeros(1, np.int32), np.zeros(1, np.int64), out)
    assert (out == [3 * 28, 2, 1, 0]).all()


def test_the_whole_grid():
    def kernel(a, b):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        for _ in range(3):
            b[i] = a[(i + 1) % a.size] + 1
            grid.sync()
            a[i] = b[(i + 5) % a.size] * 2
            grid.sync()

    both(kernel, 4, 16, np.arange(64), np.zeros(64, np.int64))


def test_numbered_barriers():
    def kernel(out):
        s = cuda.shared.array(32, np.int32)
        t = cuda.threadIdx.x
        if t < 32:
            s[t] = 5 * t
            cuda.barrier_arrive(1, 64)
        else:
            cuda.barrier_sync(1, 64)
            out[t - 32] = s[63 - t]

    cuda.jit(kernel).py_run(1, 64, out := np.zeros(32, np.int32))
    assert (out == 5 * np.arange(31, -1, -1)).all()


def test_the_library_for_kernels():
    def kernel(x, states, out):
        i = cuda.grid(1)
        block = coop.this_block(64)
        total = block.sum(x[i])
        before = block.exclusive_sum(x[i])
        tile = block.tiled_partition(8)
        out[i] = total + before * 2 + tile.sum(x[i]) * 3 + xoroshiro128p_uniform_float32(states, i)

    states = create_xoroshiro128p_states(128, seed=1).copy_to_host()
    both(kernel, 2, 64, np.arange(128, dtype=np.float32), states, np.zeros(128, np.float32))
    assert xoroshiro128p_normal_float32


def test_inline_ptx_is_its_host_function():
    def kernel(out, x):
        i = cuda.grid(1)
        out[i] = cuda.inline_ptx("min.s32 %0, %1, %2;", "=r", np.int32, "r", x[i], "r", np.int32(3), host=lambda v, m: min(v, m))

    both(kernel, 1, 8, np.zeros(8, np.int32), np.arange(8, dtype=np.int32))


# --- what is wrong


def test_an_error_is_pythons_with_its_thread():
    def past_the_end(x):
        i = cuda.grid(1)
        x[i + 1] = i

    with pytest.raises(IndexError, match="index 40 is out of bounds for axis 0 with size 40") as caught:
        cuda.jit(past_the_end).py_run(2, 32, np.zeros(40))
    assert caught.value.__notes__ == ["in thread (7, 0, 0) of block (1, 0, 0)"]
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].name == "past_the_end" and frames[-1].line == "x[i + 1] = i"


def test_an_error_behind_a_barrier_ends_all_threads():
    def fails(x):
        t = cuda.threadIdx.x
        cuda.syncthreads()
        if t == 5:
            raise ValueError("five")
        cuda.syncthreads()

    before = threading.active_count()
    with pytest.raises(ValueError, match="five") as caught:
        cuda.jit(fails).py_run(1, 64, np.zeros(1))
    assert caught.value.__notes__ == ["in thread (5, 0, 0) of block (0, 0, 0)"]
    assert threading.active_count() == before


INTERRUPTED = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from pyptx import cuda

@cuda.jit
def endless(x):
    if cuda.threadIdx.x:
        while True:
            BODY
    cuda.syncthreads()

before = threading.active_count()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    endless.py_run(1, 4, np.zeros(4))
except KeyboardInterrupt as error:
    time.sleep(0.1)
    print("interrupted", threading.active_count() == before)
"""


@pytest.mark.parametrize("body", ["pass", "x[0] += 1", "cuda.syncwarp(2)", "cuda.nanosleep(10)"])
def test_ctrl_c_ends_a_run_whichever_thread_has_the_turn(body):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED.replace("BODY", body)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted True\n", done.stdout + done.stderr


def test_a_deadlock_names_both_lines():
    @cuda.jit
    def apart(x):
        t = cuda.threadIdx.x
        if t < 8:
            cuda.syncwarp()
        else:
            cuda.syncthreads()

    with pytest.raises(SyncError, match="(?s)lane 0 of its warp, waits for lane 8.*cuda.syncwarp.*is elsewhere.*cuda.syncthreads") as caught:
        apart.py_run(1, 32, np.zeros(1))
    first = apart.py_func.__code__.co_firstlineno
    assert (caught.value.lineno, caught.value.other_lineno) == (first + 4, first + 6)

    @cuda.jit
    def grids(x):
        if cuda.blockIdx.x:
            cuda.cg.this_grid().sync()
        else:
            cuda.barrier_sync(1, 64)

    with pytest.raises(SyncError, match="waits at a barrier"):
        grids.py_run(2, 32, np.zeros(1))


@pytest.mark.parametrize("option", [True, False])
def test_check_sync_wants_all_threads_at_a_barrier(option):
    def early(x):
        i = cuda.grid(1)
        if i >= x.size:
            return
        cuda.syncthreads()
        x[i] = 1

    kernel = cuda.jit(early, check="sync") if option else cuda.jit(early)
    with pytest.raises(SyncError, match="(?s)thread .40, 0, 0. .*has ended.*return") as caught:
        with cuda.checking("sync"):
            kernel.py_run(1, 64, np.zeros(40))
    assert caught.value.other_lineno == early.__code__.co_firstlineno + 3

    def some_blocks(x):
        if cuda.blockIdx.x < 2:
            cuda.cg.this_grid().sync()
        x[cuda.grid(1)] = 1

    kernel = cuda.jit(some_blocks, check="sync") if option else cuda.jit(some_blocks)
    with pytest.raises(SyncError, match="thread .0, 0, 0. of block .2, 0, 0. does not reach") as caught:
        with cuda.checking("sync"):
            kernel.py_run(4, 8, np.zeros(32))
    assert caught.value.lineno == some_blocks.__code__.co_firstlineno + 2


def test_a_mask_without_the_own_lane():
    def kernel(x):
        cuda.syncwarp(1)

    with pytest.raises(SyncError, match="which its own mask does not name"):
        cuda.jit(kernel).py_run(1, 32, np.zeros(1))


foreign = cuda.declare_device("foreign", "int32(int32)")


hits = (lambda lane: lambda: lane)(cuda.laneid)  # which a run refuses where it is named


def test_names_of_attributes_are_no_globals():
    def kernel(rows):
        rows[0].hits += rows[0].foreign

    rows = np.ones(1, [("hits", "i4"), ("foreign", "i4")])
    cuda.jit(kernel).py_run(1, 1, rows)
    assert rows["hits"][0] == 2


def test_what_python_does_not_have_is_named():
    def kernel(x):
        cuda.cg.this_cluster()

    with pytest.raises(NotImplementedError, match="cuda.cg.this_cluster is not part of runs in Python"):
        cuda.jit(kernel).py_run(1, 1, np.zeros(1))

    def kernel(x):
        cuda.inline_ptx("bar.sync 0;")

    with pytest.raises(NotImplementedError, match="give host="):
        cuda.jit(kernel).py_run(1, 1, np.zeros(1))


    def kernel(x):
        if x[0] > 0:
            x[0] = foreign(1)
        x[0] += 1

    x = np.zeros(1)
    cuda.jit(kernel).py_run(1, 1, x)  # calls none of it
    assert x[0] == 1
    with pytest.raises(NotImplementedError, match="function foreign.* is code of another compiler"):
        cuda.jit(kernel).py_run(1, 1, x)

    bits = np.zeros(2, "V2")
    with pytest.raises(NotImplementedError, match="bfloat16 in runs in Python needs the package ml_dtypes"):
        cuda.jit(lambda x: None).py_run(1, 1, bits)


def test_a_kernel_with_a_breakpoint_does_not_compile():
    with pytest.raises(pyptx.CompileError, match="help: run the kernel as Python: PYPTX_DEVICE=python, or kernel.py_run"):
        cuda.jit(with_breakpoint.py_func)[1, 1](np.zeros(1))


NOT_IN_PYTHON = ("cuda.cg.", "cuda.intrin.cluster", "cuda.cluster", "cuda.mma_sync", "cuda.ldmatrix", "cuda.stmatrix", "cuda.wgmma.", "cuda.mbarrier",
                 "cuda.fence_mbarrier_init", "cuda.cp_async", "cuda.tensor_map", "cuda.smem_tile", "cuda.st_async",
                 *(f"cuda.intrin.{name}" for name in ("cp_async", "fence_mbarrier_init", "mapa", "mbarrier")))


def test_every_name_has_a_meaning_or_is_known_to_have_none():
    from pyptx._stepping import names

    def walk(stubs):
        for stub in stubs:
            if stub.__text_signature__ is None:
                yield from walk(getattr(stub, name) for name in dir(stub))
            else:
                yield stub

    missing = [stub.__reduce__()[1][0] for stub in walk(_pyptx.intrinsics.values()) if isinstance(names.of(stub), names.Missing)]
    assert "cuda.mma_sync" in missing
    assert [path for path in missing if not path.startswith(NOT_IN_PYTHON)] == []


def test_arguments_of_py_run():
    kernel = cuda.jit(lambda x: None)
    with pytest.raises(ValueError, match=r"thread=\(64, 0, 0\) is not in a launch"):
        kernel.py_run(1, 64, np.zeros(1), thread=64)
    with pytest.raises(TypeError, match="block is an int or a tuple"):
        kernel.py_run(1, 64, np.zeros(1), block="a")
    with pytest.raises(ValueError, match="griddim"):
        kernel.py_run(0, 64, np.zeros(1))
    with pytest.raises(TypeError, match="missing"):
        kernel.py_run(1, 1)
    with pytest.raises(RuntimeError, match="device function"):
        helper.py_run(1, 1, 2.0)
    for grid, block, what in ((1, 1025, "block .1025, 1, 1. is too large"), (1, (1, 1, 65), "block .1, 1, 65."), (1, (64, 64), "4096 threads a block"),
                              ((1, 65536), 1, "grid .1, 65536, 1. is too large")):
        with pytest.raises(ValueError, match=what):
            kernel.py_run(grid, block, np.zeros(1))
    for wrong in ([1.0], {}, "text", (1, [2]), np.zeros(1, object), np.zeros(1, ">f4"), np.ma.masked_array(np.zeros(1))):
        for call in (kernel.py_run, lambda *a: kernel[a[:2]](*a[2:])):
            with pytest.raises(TypeError, match="argument .*x.*which a kernel cannot take"):
                call(1, 1, wrong)
    kernel.py_run(1, 1, (1, np.float32(2))), kernel.py_run(1, 1, np.zeros((2, 2)).T)


def test_extensions_prepare_the_arguments():
    class Image:
        def __init__(self):
            self.pixels, self.finished = np.arange(3), 0

        def finish(self):
            self.finished += 1

    class TakesImages:
        def prepare_args(self, ty, value, stream, retr):
            if not isinstance(value, Image):
                return ty, value
            retr.append(value.finish)
            return None, value.pixels

    kernel = cuda.jit(lambda image, by: image.__setitem__(cuda.threadIdx.x, image[cuda.threadIdx.x] * by), extensions=[TakesImages()])
    image = Image()
    kernel.py_run(1, 3, image, 2)
    kernel.py_run(1, 3, by=5, image=image)
    assert image.pixels.tolist() == [0, 10, 20] and image.finished == 2
    with pytest.raises(TypeError, match="argument 'by' has type list, which a kernel cannot take"):
        kernel.py_run(1, 3, image, [2])


# --- breakpoints


def stops(kernel, *args, **where):
    """The threads in which breakpoint() stops."""
    seen, hook = [], sys.breakpointhook
    sys.breakpointhook = lambda: seen.append((sys._getframe(1).f_locals["t"], sys._getframe(1).f_locals["b"]))
    try:
        kernel.py_run(*args, **where)
    finally:
        sys.breakpointhook = hook
    return seen


@cuda.jit
def with_breakpoint(x):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    cuda.syncthreads()
    breakpoint()
    x[0] += t


def test_breakpoints_stop_in_one_thread(monkeypatch):
    x = np.zeros(1)
    assert stops(with_breakpoint, 2, 4, x) == [(t, b) for b in range(2) for t in range(4)]
    assert stops(with_breakpoint, 2, 4, x, thread=(3, 0, 0)) == [(3, 0), (3, 1)]
    assert stops(with_breakpoint, 2, 4, x, thread=3, block=(1,)) == [(3, 1)]
    monkeypatch.setenv("PYPTX_STEP_THREAD", "2,0,0")
    monkeypatch.setenv("PYPTX_STEP_BLOCK", "0")
    assert stops(with_breakpoint, 2, 4, x) == [(2, 0)]
    monkeypatch.setenv("PYPTX_STEP_BLOCK", "first")
    with pytest.raises(ValueError, match="PYPTX_STEP_BLOCK is 'first'"):
        with_breakpoint.py_run(2, 4, x)


def test_pdb_steps_through_a_barrier(monkeypatch):
    import pdb

    @cuda.jit
    def kernel(x, out):
        t = cuda.threadIdx.x
        breakpoint()
        x[t] = t
        cuda.syncthreads()
        y = x[3 - t]
        out[t] = y

    said = io.StringIO()
    first = "n\n" if sys.version_info >= (3, 13) else ""  # which stops at breakpoint() itself
    commands = io.StringIO(first + "n\nn\np x.tolist()\nn\np cuda.threadIdx.x, float(y)\nn\nn\nc\n")
    monkeypatch.setattr(sys, "breakpointhook", lambda: pdb.Pdb(stdin=commands, stdout=said, nosigint=True, readrc=False).set_trace(sys._getframe(1)))
    out = np.zeros(4)
    kernel.py_run(1, 4, np.full(4, -1.0), out, thread=2)
    assert (out == [3, 2, 1, 0]).all()
    text = said.getvalue()
    assert "[0.0, 1.0, 2.0, 3.0]" in text and "(2, 1.0)" in text and "--Return--" in text, text
    assert "_stepping" not in text, text


def debugged(tmp_path, commands, line="", **env):
    """What pdb says to these commands. 2 s."""
    (tmp_path / "program.py").write_text(
        f"""import pdb
import numpy as np
from pyptx import cuda

@cuda.jit
def kernel(x, out):
    s = cuda.shared.array(4, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    {line or "pass"}
    out[t] = s[3 - t]

out = np.zeros(4, np.float32)
{"" if line else "pdb.set_trace()"}
kernel[1, 4](np.arange(4, dtype=np.float32), out)
print(out)
""")
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env={**os.environ, "PYPTX_DEVICE": "python", **env}, input=commands,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "[3. 2. 1. 0.]" in done.stdout, done.stdout + done.stderr
    return done.stdout


def test_breakpoints_of_pdb_are_hit_in_every_thread(tmp_path):
    said = debugged(tmp_path, "b 12\n" + "c\np 'thread', t\n" * 4 + "c\n")
    assert [n for n in range(4) if f"('thread', {n})" in said] == [0, 1, 2, 3], said


@pytest.mark.parametrize("line", ["pdb.set_trace()", "breakpoint()"])
def test_set_trace_stops_in_one_thread_and_steps_over_pyptx(tmp_path, line):
    first = "n\n" if sys.version_info >= (3, 13) else ""  # which stops at the call itself
    said = debugged(tmp_path, first + "p 'thread', t\ns\ns\nc\n", line, PYPTX_STEP_THREAD="2,0,0")
    assert said.count("'thread'") == 1 and "('thread', 2)" in said and "_stepping" not in said, said


# --- PYPTX_DEVICE=python

PROGRAM = """
import sys, numpy as np, warnings
from pyptx import cuda

frames = []
sys.breakpointhook = lambda: frames.append(sys._getframe(1).f_code.co_name)

@cuda.jit
def twice(x):
    i = cuda.grid(1)
    if i == 0:
        breakpoint()
    if i < x.size:
        x[i] *= 2

d = cuda.to_device(np.arange(10.0))
twice[1, 16](d)
twice.forall(10)(d)
s = cuda.stream()
bound = twice[1, 16, s].bind(d)
bound()
d2 = d + 1                                  # the library's kernels run compiled
print(frames, d2.copy_to_host()[:3], d2.sum(), sorted(twice.py_func.__code__.co_names)[0])
with cuda.graph() as g:                     # and so do launches in a graph
    pass

@cuda.jit(typing="numba")
def theirs(x):
    x[0] = 1

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    theirs[1, 1](d)
print([w.message.code for w in caught])
"""


def test_a_whole_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env={**os.environ, "PYPTX_DEVICE": "python", "PYPTX_ADVICE": "1"},
                          capture_output=True, text=True)
    assert done.stdout == "['twice', 'twice', 'twice'] [ 1.  9. 17.] 370.0 breakpoint\n['PT818']\n", done.stdout + done.stderr



@pytest.mark.parametrize("example", ["spmv", "particles"])
def test_examples_both_ways(example):
    """tests/full has them all."""
    done = subprocess.run([sys.executable, ROOT / "tests/api/both_ways.py", ROOT / f"examples/{example}.py"],
                          env={**os.environ, "PYPTX_DEVICE": "python", "PYPTX_ADVICE": "0"}, capture_output=True, text=True)
    assert done.returncode == 0 and "passed over: none" in done.stdout, done.stdout + done.stderr
