"""A matrix product of 8-bit floats as libraries have it, for GPUs of compute capability 9.0 (H100,
H200): C = scale * A @ B.T, of float8_e4m3fn or float8_e5m2, in bfloat16 or float16.

The roles of warps, the ring of stages and the stores are those of gemm_pipeline.py. What differs is
the sums. The tensor cores keep about 14 bits of a sum of products of 8-bit floats, so that long sums
lose what is small. So each k block, 128 products of an element, is summed into accumulators of its
own, and these are added to float32 registers ("promotion", as cuBLASLt does unless it is asked for
fast accumulation). While one consumer adds, the other one multiplies. With fast=True the tensor
cores sum all of k.

A is m x k and B n x k, both with neighbours along k, which is what the hardware takes; k is a
multiple of 16 and n of 8, since rows of tensor maps are multiples of 16 bytes.
"""

import functools
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from gemm_pipeline import place
from pyptx import bfloat16, cuda, float8_e4m3fn, float32, int32, uint32
from pyptx.types import Type

M, K = 128, 128  # rows of a block's tiles; K elements are the 128 bytes of the swizzle
STEP = 32  # of one matrix operation
THREADS = 3 * 128
BOX = 64 * 64  # elements of a box of C
GROUP = 8  # rows of tiles that blocks take together, so that what they read is in the L2 cache
ALL = 0xFFFFFFFF


class Form(NamedTuple):
    """A kernel's tile of 128 x n, its ring, and whether the tensor cores sum all of k."""

    n: int
    stages: int
    fast: bool


FORMS = Form(192, 4, False), Form(128, 6, False)
FAST_FORMS = Form(256, 4, True), Form(128, 6, True)


def pick(m: int, n: int, k: int, blocks: int, fast: bool) -> Form:
    """The form that takes the fewest cycles: rounds of tiles over the GPU, in each the k blocks, of
    4 n cycles or the time of their copies, 68 bytes a cycle, and about 3,000 cycles to store."""

    def cycles(form: Form) -> float:
        rounds = -(-(-(-m // M) * -(-n // form.n)) // blocks)
        block = max(4 * form.n, K * (M + form.n) / 68)
        return rounds * (-(-k // K) * block + 3000)

    return min(FAST_FORMS if fast else FORMS, key=cycles)


@cuda.jit(device=True)
def added(s: tuple, p: tuple) -> tuple:
    """The sums of the elements of two tuples."""
    if len(s) == 4:
        return s[0] + p[0], s[1] + p[1], s[2] + p[2], s[3] + p[3]
    half = len(s) // 8 * 4
    return (*added(s[:half], p[:half]), *added(s[half:], p[half:]))


@functools.cache
def make_gemm(form: Form) -> Callable:
    """The kernel (a, b, c, scale, group) of a form: c = scale * a @ b.T."""
    N, STAGES, FAST = form
    BOXES = N // 64
    STAGE_BYTES = (M + N) * K
    SIDE_A, SIDE_B = STAGES * M * K, STAGES * N * K

    @cuda.jit(device=True)
    def after(stage: int, phase: int) -> tuple:
        """The ring's next stage."""
        return (stage + 1, phase) if stage + 1 < STAGES else (0, phase ^ 1)

    @cuda.jit(device=True)
    def multiply(tile_a: cuda.Array, tile_b: cuda.Array, sums: tuple) -> tuple:
        """Begins sums + tile_a @ tile_b.T of a k block, as a group."""
        cuda.wgmma.fence()
        for kk in range(0, K, STEP):
            sums = cuda.wgmma.mma(tile_a[:, kk : kk + STEP], tile_b[:, kk : kk + STEP], sums)
        cuda.wgmma.commit()
        return sums

    @cuda.jit(launch_bounds=(THREADS, 1))
    def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array, scale: float, group: int) -> None:
        boxes_a = cuda.tensor_map(a, (M, K), swizzle=128)
        boxes_b = cuda.tensor_map(b, (N, K), swizzle=128)
        boxes_c = cuda.tensor_map(c, (64, 64), swizzle=128)
        memory = cuda.shared.array(0, a.dtype, alignment=1024)
        sa, sb = memory[:SIDE_A].reshape(STAGES, M, K), memory[SIDE_A : SIDE_A + SIDE_B].reshape(STAGES, N, K)
        # the same memory as elements of C
        sc = cuda.shared.array(0, c.dtype, alignment=1024)[(SIDE_A + SIDE_B) // 2 : (SIDE_A + SIDE_B) // 2 + 4 * BOX].reshape(2, 2, 64, 64)
        full = cuda.shared.array(STAGES, cuda.mbarrier)  # the copies of a stage have arrived
        empty = cuda.shared.array(STAGES, cuda.mbarrier)  # both consumers have read it
        t = cuda.threadIdx.x
        if t == 0:
            for i in range(STAGES):
                cuda.mbarrier_init(full, i, 1)
                cuda.mbarrier_init(empty, i, 2)
            cuda.fence_mbarrier_init()
        cuda.syncthreads()
        warp = cuda.shfl_sync(ALL, int32(t // 32), 0)  # known to be the same in all lanes
        depth = a.shape[1]
        rows, columns = uint32((c.shape[0] + M - 1) // M), uint32((c.shape[1] + N - 1) // N)
        tiles = int32(rows * columns)
        if warp < 4:
            cuda.setmaxregister_decrease(40)
            if warp == 0 and cuda.elect_sync(ALL):
                stage, phase = 0, 1
                for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                    i, j = place(uint32(tile), rows, columns, uint32(group))
                    for k in range(0, depth, K):
                        cuda.mbarrier_wait_parity(empty, stage, phase)  # the first round falls through
                        cuda.mbarrier_arrive_expect_tx(full, stage, STAGE_BYTES)
                        cuda.cp_async_bulk_tensor(sa[stage], boxes_a, (M * i, k), full, stage)
                        cuda.cp_async_bulk_tensor(sb[stage], boxes_b, (N * j, k), full, stage)
                        stage, phase = after(stage, phase)
        else:
            cuda.setmaxregister_increase(232)
            me, quarter, lane = warp // 4 - 1, warp % 4, int32(t % 32)
            leader = quarter == 0 and cuda.elect_sync(ALL)
            stage, phase, buffer = 0, 0, 0
            for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                i, j = place(uint32(tile), rows, columns, uint32(group))
                top, left = M * i + 64 * me, N * j
                if FAST:
                    sums, before = cuda.wgmma.zeros(64, N, float32), 0
                    for k in range(0, depth, K):
                        cuda.mbarrier_wait_parity(full, stage, phase)
                        sums = multiply(sa[stage, 64 * me : 64 * me + 64], sb[stage], sums)
                        cuda.wgmma.wait(1)  # the stage before has been read
                        if k > 0 and leader:
                            cuda.mbarrier_arrive(empty, before)
                        before = stage
                        stage, phase = after(stage, phase)
                    sums = cuda.wgmma.wait(0, sums)
                    if leader:
                        cuda.mbarrier_arrive(empty, before)
                else:
                    sums = (float32(0),) * (N // 2)
                    for _ in range(0, depth, K):
                        cuda.mbarrier_wait_parity(full, stage, phase)
                        part = multiply(sa[stage, 64 * me : 64 * me + 64], sb[stage], cuda.wgmma.zeros(64, N, float32))
                        part = cuda.wgmma.wait(0, part)
                        if leader:
                            cuda.mbarrier_arrive(empty, stage)
                        sums = added(sums, part)
                        stage, phase = after(stage, phase)
                row = 16 * quarter + lane % 16
                values = cuda.local.array(8, c.dtype)
                for j in range(BOXES):
                    box = sc[me, buffer]
                    buffer ^= 1
                    if leader:
                        cuda.cp_async_bulk_wait_group(1, read=True)  # the store from this box, two ago, has read it
                    cuda.barrier_sync(1 + me, 128)
                    for e in range(0, 32, 8):
                        at = row, 8 * ((e // 4 + lane // 16) ^ row % 8)  # where the swizzle has these 8 columns
                        for i in range(8):
                            values[i] = scale * sums[32 * j + e + i]
                        low = values[0], values[1], values[2], values[3]
                        cuda.stmatrix(box, at, (*low, values[4], values[5], values[6], values[7]))
                    cuda.fence_proxy_async_shared()  # so that the copy sees what this thread has stored
                    cuda.barrier_sync(1 + me, 128)
                    if leader:
                        cuda.cp_async_bulk_tensor_store(boxes_c, (top, left + 64 * j), box)
                        cuda.cp_async_bulk_commit_group()

    gemm.shared_bytes = SIDE_A + SIDE_B + 8 * BOX
    return gemm


def launch(blocks: int, fast: bool = False, group: int = GROUP, form: Form | None = None) -> Callable:
    """A function (a, b, c, scale=1.0) that computes c = scale * a @ b.T by so many blocks, as many as
    there are multiprocessors."""

    def run(a, b, c, scale: float = 1.0) -> None:
        chosen = form or pick(*c.shape, a.shape[1], blocks, fast)
        kernel = make_gemm(chosen)
        kernel[blocks, THREADS, 0, kernel.shared_bytes](a, b, c, np.float32(scale), group)

    return run


@cuda.jit
def converted(out: cuda.Array, x: cuda.Array) -> None:
    """out = x, in out's type"""
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j]


def check(run: Callable, m: int, n: int, k: int, dtype: Type = float8_e4m3fn) -> bool:
    """Compares what run(a, b, c) stores with NumPy's product of the same numbers, and prints how long
    it takes. They are whole numbers from -2 to 2, whose sums the tensor cores' 14 bits hold."""
    rng = np.random.default_rng(5)
    d_a, d_b, d_c = (cuda.device_array(shape, dtype=kind) for shape, kind in (((m, k), dtype), ((n, k), dtype), ((m, n), bfloat16)))
    a, b = (rng.integers(-2, 3, d.shape).astype(np.float32) for d in (d_a, d_b))
    for d, x in ((d_a, a), (d_b, b)):
        converted[256, 256](d, cuda.to_device(x))
    run(d_a, d_b, d_c)  # compiles
    cuda.synchronize()
    start = time.perf_counter()
    run(d_a, d_b, d_c)
    cuda.synchronize()
    seconds = time.perf_counter() - start
    got = cuda.device_array((m, n), dtype=np.float32)
    converted[256, 256](got, d_c)
    want = a @ b.T
    right = np.abs(want).max() < 2**13 and np.all(np.abs(got.copy_to_host() - want) <= 2.0**-8 * np.abs(want))  # bfloat16 has 8 bits
    print(f"  {seconds * 1e3:8.3f} ms  {2 * m * n * k / seconds / 1e12:8.4f} TFLOP/s")
    return bool(right)


def main() -> int:
    device = cuda.get_current_device()
    m, n, k = (264, 456, 400) if device.is_host else (4096, 4096, 4096)
    if not device.is_host and device.compute_capability[0] != 9:
        print("wgmma needs compute capability 9.0")
        return 0
    print(f"{m} x {k} by {k} x {n} float8_e4m3fn, sums in float32, on {device.name}")
    blocks = 2 if device.is_host else device.MULTIPROCESSOR_COUNT
    forms = (*FORMS, *FAST_FORMS) if device.is_host else [pick(m, n, k, blocks, fast) for fast in (False, True)]
    correct = all([check(launch(blocks, form=form), m, n, k) for form in forms])
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
