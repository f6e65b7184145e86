"""Step 8: results by tensor maps, and blocks that stay.

There are as many blocks as multiprocessors, and each takes one tile after the other. While the
consumers store a tile, the producer fills the ring for the next one. Tiles go in groups of 8 rows of
tiles, so that what the running blocks read is in the L2 cache. Results are brought together in
swizzled shared memory, 64 x 64 elements at a time, and copied to C from there. K and N are multiples
of 8; what is outside of a matrix arrives as 0 and is not stored.

examples/gemm_pipeline.py has it for other types and layouts, with other tiles and epilogues.
"""

import sys

from pyptx import bfloat16, cuda, float32, int32, uint32
from steps import main

M, N, K = 128, 256, 64  # of a block's tiles; K elements are the 128 bytes of the swizzle
STAGES = 4
THREADS = 3 * 128
BOX = 64 * 64  # elements of a box of C
STAGE_BYTES = 2 * (M + N) * K
SHARED = STAGES * STAGE_BYTES + 2 * (2 * 2 * BOX)  # and two boxes for each consumer
GROUP = 8  # rows of tiles
ALL = 0xFFFFFFFF  # lanes


@cuda.jit(device=True)
def place(tile: int, rows: int, columns: int) -> tuple:
    """Where a tile begins in C, which has so many rows and columns of them: a group of rows column
    by column, then the next."""
    first = tile // (GROUP * columns) * GROUP
    height = min(GROUP, rows - first)
    rest = tile - first * columns
    column = rest // height
    return M * (first + rest - column * height), N * column


@cuda.jit(launch_bounds=(THREADS, 1))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    boxes_a = cuda.tensor_map(a, (M, K), swizzle=128)
    boxes_b = cuda.tensor_map(b, (K, 64), swizzle=128)
    boxes_c = cuda.tensor_map(c, (64, 64), swizzle=128)
    memory = cuda.shared.array(0, bfloat16, alignment=1024)
    sa = memory[: STAGES * M * K].reshape(STAGES, M, K)
    sb = memory[STAGES * M * K : STAGES * (M + N) * K].reshape(STAGES, N // 64, K, 64)
    sc = memory[STAGES * (M + N) * K : STAGES * (M + N) * K + 4 * BOX].reshape(2, 2, 64, 64)
    full = cuda.shared.array(STAGES, cuda.mbarrier)
    empty = cuda.shared.array(STAGES, cuda.mbarrier)
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
    stage, phase = 0, 0
    if warp < 4:
        cuda.setmaxregister_decrease(40)
        if warp == 0 and cuda.elect_sync(ALL):
            for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
                top, left = place(uint32(tile), rows, columns)
                for k in range(0, depth, K):
                    cuda.mbarrier_wait_parity(empty, stage, phase ^ 1)  # the first round falls through
                    cuda.mbarrier_arrive_expect_tx(full, stage, STAGE_BYTES)
                    cuda.cp_async_bulk_tensor(sa[stage], boxes_a, (top, k), full, stage)
                    for j in range(N // 64):
                        cuda.cp_async_bulk_tensor(sb[stage, j], boxes_b, (k, left + 64 * j), full, stage)
                    stage += 1
                    if stage == STAGES:
                        stage = 0
                        phase ^= 1
    else:
        cuda.setmaxregister_increase(232)
        me, quarter, lane = warp // 4 - 1, warp % 4, int32(t % 32)
        half = 64 * me  # the rows of this consumer
        leader = quarter == 0 and cuda.elect_sync(ALL)
        for tile in range(cuda.blockIdx.x, tiles, cuda.gridDim.x):
            acc = cuda.wgmma.zeros(64, N, float32)
            before = 0
            for k in range(0, depth, K):
                cuda.mbarrier_wait_parity(full, stage, phase)
                cuda.wgmma.fence()
                for kk in range(0, K, 16):
                    acc = cuda.wgmma.mma(sa[stage, half : half + 64, kk : kk + 16], sb[stage, :, kk : kk + 16], acc, b_major="n")
                cuda.wgmma.commit()
                cuda.wgmma.wait(1)  # the stage before has been read
                if k > 0 and leader:
                    cuda.mbarrier_arrive(empty, before)
                before = stage
                stage += 1
                if stage == STAGES:
                    stage = 0
                    phase ^= 1
            acc = cuda.wgmma.wait(0, acc)
            if leader:
                cuda.mbarrier_arrive(empty, before)
            top, left = place(uint32(tile), rows, columns)
            row = 16 * quarter + lane % 16
            for j in range(N // 64):
                if leader:
                    cuda.cp_async_bulk_wait_group(1, read=True)  # the store from this box, two ago, has read it
                cuda.barrier_sync(1 + me, 128)
                for e in range(0, 32, 8):
                    chunk = (e // 4 + lane // 16) ^ row % 8  # where the swizzle has these 8 columns
                    i = 32 * j + e
                    low = bfloat16(acc[i]), bfloat16(acc[i + 1]), bfloat16(acc[i + 2]), bfloat16(acc[i + 3])
                    high = bfloat16(acc[i + 4]), bfloat16(acc[i + 5]), bfloat16(acc[i + 6]), bfloat16(acc[i + 7])
                    cuda.stmatrix(sc, (me, j % 2, row, 8 * chunk), (*low, *high))
                cuda.fence_proxy_async_shared()  # so that the copy sees what this thread has stored
                cuda.barrier_sync(1 + me, 128)
                if leader:
                    cuda.cp_async_bulk_tensor_store(boxes_c, (top + half, left + 64 * j), sc[me, j % 2])
                    cuda.cp_async_bulk_commit_group()


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    device = cuda.get_current_device()
    gemm[2 if device.is_host else device.MULTIPROCESSOR_COUNT, THREADS, 0, SHARED](a, b, c)


if __name__ == "__main__":
    sys.exit(main(launch, (9, 0)))
