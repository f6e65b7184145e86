"""A matrix product of bfloat16 or float16 as libraries have it, for GPUs of compute capability 9.0
(H100, H200): roles of warps, tensor maps, wgmma.

A block computes tiles of 128 x n of C = A @ B, one after the other. One thread of its first
warpgroup, the producer, fills a ring of stages with boxes of A and B. Two warpgroups, the
consumers, multiply, with one group of operations in flight while the next is issued, and give a
stage back when it has been read. `full` and `empty` are the barriers of the ring. Results go to C in
boxes, too, by way of shared memory, so edges need no tests: what is outside of a matrix arrives as 0
and is not stored.

The consumers share a tile, 64 rows each, or take turns at whole tiles ("ping-pong"): then one
stores its tile while the other multiplies. `pick` says which of three forms a product takes.

The contiguous axes of A, B and C are multiples of 8, for tensor maps are of rows of multiples of 16
bytes.
"""

import functools
import sys
from collections.abc import Callable
from typing import NamedTuple

from gemm_warps import check
from pyptx import cuda, float32, int32, uint32

M, K = 128, 64  # rows of a block's tiles; K elements are the 128 bytes of the swizzle
THREADS = 3 * 128
BOX = 64 * 64  # elements of a box of C
GROUP = 8  # rows of tiles that blocks take together, so that what they read is in the L2 cache
ALL = 0xFFFFFFFF


class Form(NamedTuple):
    """A kernel's tile of 128 x n, its ring, and whether the consumers take turns."""

    n: int
    stages: int
    turns: bool


FORMS = Form(256, 4, False), Form(192, 4, True), Form(128, 6, True)


def pick(m: int, n: int, k: int, blocks: int) -> Form:
    """The form that takes the fewest cycles: rounds of tiles over the GPU, in each the k blocks at
    the tensor cores' rate, 5 % more for the narrow tile's traffic, and about 3,000 cycles to store
    a tile, which turns hide for every tile but the last."""

    def cycles(form: Form) -> float:
        rounds = -(-(-(-m // M) * -(-n // form.n)) // blocks)
        tile = -(-k // K) * 4 * form.n * (1.05 if form.n == 128 else 1)
        return rounds * tile + 3000 * (1 if form.turns else rounds)

    return min(FORMS, key=cycles)


@cuda.jit(device=True)
def place(tile: int, rows: int, columns: int, group: int) -> tuple:
    """Which tile of C it is, in rows and columns of tiles: a group of rows column by column, then
    the next."""
    first = tile // (group * columns) * group
    height = min(group, rows - first)
    rest = tile - first * columns
    column = rest // height
    return first + rest - column * height, column


@functools.cache
def make_gemm(form: Form, a_major: str, b_major: str, epilogue: Callable | None):
    """The kernel (a, b, c, group, more) of a form: c = a @ b.

    a is m x k where its contiguous axis is "k", else k x m; b is k x n ("n") or n x k. epilogue(value, row,
    column, *more) is what c gets at (row, column) for a sum in float32."""
    N, STAGES, TURNS = form
    PARTS = 2 if TURNS else 1  # of 64 rows that a consumer multiplies
    BOXES = N // 64
    STAGE_BYTES = 2 * (M + N) * K
    SIDE_A, SIDE_B = STAGES * M * K, STAGES * N * K
    box_a = (M, K) if a_major == "k" else (K, 64)
    box_b = (N, K) if b_major == "k" else (K, 64)

    @cuda.jit(device=True)
    def after(stage: int, phase: int, count: int) -> tuple:
        """Where the ring is so many stages later."""
        there = uint32(stage + count)
        return int32(there % uint32(STAGES)), phase ^ int32(there // uint32(STAGES) % uint32(2))

    @cuda.jit(device=True)
    def finish(value: float, i: int, row: int, column: int, shape: tuple, more: tuple) -> float:
        """What c gets for the sum i of a thread whose first is at (row, column)."""
        if epilogue is None:
            return value
        r, s = row + uint32(8 * (i // 2 % 2)), column + uint32(8 * (i // 4))
        r, s = min(r, uint32(shape[0] - 1)), min(s, uint32(shape[1] - 8) + column % uint32(8))  # one that there is
        return epilogue(value, r, s + uint32(i % 2), *more)

    @cuda.jit(launch_bounds=(THREADS, 1))
    def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array, group: int, more: tuple) -> None:
        boxes_a = cuda.tensor_map(a, box_a, swizzle=128)
        boxes_b = cuda.tensor_map(b, box_b, swizzle=128)
        boxes_c = cuda.tensor_map(c, (64, 64), swizzle=128)
        memory = cuda.shared.array(0, a.dtype, alignment=1024)
        sa = memory[:SIDE_A].reshape(STAGES, M, K) if a_major == "k" else memory[:SIDE_A].reshape(STAGES, M // 64, K, 64)
        sb = memory[SIDE_A : SIDE_A + SIDE_B].reshape(STAGES, N, K) if b_major == "k" else memory[SIDE_A : SIDE_A + SIDE_B].reshape(STAGES, BOXES, K, 64)
        sc = memory[SIDE_A + SIDE_B : SIDE_A + SIDE_B + 4 * BOX].reshape(2, 2, 64, 64)
        full = cuda.shared.array(STAGES, cuda.mbarrier)  # the copies of a stage have arrived
        empty = cuda.shared.array(STAGES, cuda.mbarrier)  # those who multiply it have read it
        t = cuda.threadIdx.x
        if t == 0:
            for i in range(STAGES):
                cuda.mbarrier_init(full, i, 1)
                cuda.mbarrier_init(empty, i, 1 if TURNS else 2)
            cuda.fence_mbarrier_init()
        cuda.syncthreads()
        warp = cuda.shfl_sync(ALL, int32(t // 32), 0)  # known to be the same in all lanes
        depth = a.shape[1 if a_major == "k" else 0]
        rows, columns = uint32((c.shape[0] + M - 1) // M), uint32((c.shape[1] + N - 1) // N)
        tiles = int32(rows * columns)
        if warp < 4:
            cuda.setmaxregister_decrease(40)
            if warp == 0 and cuda.elect_sync(ALL):
                stage, phase = 0, 1
                for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                    i, j = place(uint32(tile), rows, columns, uint32(group))
                    top, left = M * i, N * j
                    for k in range(0, depth, K):
                        cuda.mbarrier_wait_parity(empty, stage, phase)  # the first round falls through
                        cuda.mbarrier_arrive_expect_tx(full, stage, STAGE_BYTES)
                        if a_major == "k":
                            cuda.cp_async_bulk_tensor(sa[stage], boxes_a, (top, k), full, stage)
                        else:
                            for i in range(M // 64):
                                cuda.cp_async_bulk_tensor(sa[stage, i], boxes_a, (k, top + 64 * i), full, stage)
                        if b_major == "k":
                            cuda.cp_async_bulk_tensor(sb[stage], boxes_b, (left, k), full, stage)
                        else:
                            for j in range(BOXES):
                                cuda.cp_async_bulk_tensor(sb[stage, j], boxes_b, (k, left + 64 * j), full, stage)
                        stage, phase = after(stage, phase, 1)
        else:
            cuda.setmaxregister_increase(232)
            me, quarter, lane = warp // 4 - 1, warp % 4, int32(t % 32)
            half = 0 if TURNS else me  # the first part of this consumer
            leader = quarter == 0 and cuda.elect_sync(ALL)
            stage, phase, first, stride = 0, 0, cuda.blockIdx.x, cuda.gridDim.x
            if TURNS:
                first += me * stride
                stage, phase = after(stage, phase, me * ((depth + K - 1) // K))
                stride *= 2
                if me == 1:
                    cuda.barrier_arrive(3, 256)  # the first turn is the other's
            for tile in range(first, tiles, stride):
                sums = cuda.wgmma.zeros(64, N, float32)
                more_sums = cuda.wgmma.zeros(64, N, float32)
                before = 0
                if TURNS:
                    cuda.barrier_sync(3 + me, 256)
                for k in range(0, depth, K):
                    cuda.mbarrier_wait_parity(full, stage, phase)
                    cuda.wgmma.fence()
                    for kk in range(0, K, 16):
                        tile_b = sb[stage, :, kk : kk + 16]
                        tile_a = sa[stage, 64 * half : 64 * half + 64, kk : kk + 16] if a_major == "k" else sa[stage, half, kk : kk + 16]
                        sums = cuda.wgmma.mma(tile_a, tile_b, sums, a_major=a_major, b_major=b_major)
                        if TURNS:
                            tile_a = sa[stage, 64:128, kk : kk + 16] if a_major == "k" else sa[stage, 1, kk : kk + 16]
                            more_sums = cuda.wgmma.mma(tile_a, tile_b, more_sums, a_major=a_major, b_major=b_major)
                    cuda.wgmma.commit()
                    cuda.wgmma.wait(1)  # the stage before has been read
                    if k > 0 and leader:
                        cuda.mbarrier_arrive(empty, before)
                    before = stage
                    stage, phase = after(stage, phase, 1)
                if TURNS:
                    cuda.barrier_arrive(4 - me, 256)
                    sums, more_sums = cuda.wgmma.wait(0, sums, more_sums)
                    stage, phase = after(stage, phase, (depth + K - 1) // K)  # the other's
                else:
                    sums = cuda.wgmma.wait(0, sums)
                if leader:
                    cuda.mbarrier_arrive(empty, before)
                i, j = place(uint32(tile), rows, columns, uint32(group))
                top, left = M * i + 64 * half, N * j
                row = 16 * quarter + lane % 16
                values = cuda.local.array(32, c.dtype)
                for part in range(PARTS):
                    acc = (sums, more_sums)[part]
                    r, s = uint32(top + 64 * part + 16 * quarter + lane // 4), uint32(left + 2 * (lane % 4))
                    for j in range(BOXES):
                        box = sc[me, (part * BOXES + j) % 2]
                        if leader:
                            cuda.cp_async_bulk_wait_group(1, read=True)  # the store from this box, two ago, has read it
                        cuda.barrier_sync(1 + me, 128)
                        for i in range(32):
                            values[i] = finish(acc[32 * j + i], 32 * j + i, r, s, c.shape, more)
                        for e in range(0, 32, 8):
                            chunk = (e // 4 + lane // 16) ^ row % 8  # where the swizzle has these 8 columns
                            low, high = (values[e], values[e + 1], values[e + 2], values[e + 3]), (values[e + 4], values[e + 5], values[e + 6], values[e + 7])
                            cuda.stmatrix(box, (row, 8 * chunk), (*low, *high))
                        cuda.fence_proxy_async_shared()  # so that the copy sees what this thread has stored
                        cuda.barrier_sync(1 + me, 128)
                        if leader:
                            cuda.cp_async_bulk_tensor_store(boxes_c, (top + 64 * part, left + 64 * j), box)
                            cuda.cp_async_bulk_commit_group()

    gemm.shared_bytes = 2 * (SIDE_A + SIDE_B + 4 * BOX)
    return gemm


gemm = make_gemm(FORMS[0], "k", "n", None)


def launch(blocks: int, a_major: str = "k", b_major: str = "n", epilogue: Callable | None = None, group: int = GROUP, form: Form | None = None) -> Callable:
    """A function of a, b, c and what the epilogue takes, which computes c = a @ b by so many blocks,
    as many as there are multiprocessors."""

    def run(a, b, c, *more):
        m, n = c.shape
        k = a.shape[1 if a_major == "k" else 0]
        kernel = make_gemm(form or pick(m, n, k, blocks), a_major, b_major, epilogue)
        kernel[blocks, THREADS, 0, kernel.shared_bytes](a, b, c, group, more)

    return run


def main() -> int:
    device = cuda.get_current_device()
    m, n, k = (264, 520, 200) if device.is_host else (4096, 4096, 4096)
    if not device.is_host and device.compute_capability[0] != 9:
        print("wgmma needs compute capability 9.0")
        return 0
    print(f"{m} x {k} by {k} x {n} bfloat16, sums in float32, on {device.name}")
    blocks = 2 if device.is_host else device.MULTIPROCESSOR_COUNT
    correct = all([check(launch(blocks, form=form), m, n, k) for form in (FORMS if device.is_host else [pick(m, n, k, blocks)])])
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
