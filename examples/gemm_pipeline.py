"""A matrix product of bfloat16 or float16 as libraries have it, for GPUs of compute capability 9.0
(H100, H200): roles of warps, tensor maps, wgmma.

A block computes tiles of 128 x 256 of C = A @ B, one after the other. One thread of its first
warpgroup, the producer, fills a ring of four stages with boxes of A and B. Two warpgroups, the
consumers, multiply 64 x 256 each, with one group of operations in flight while the next is issued,
and give a stage back when it has been read. `full` and `empty` are the barriers of the ring.
Results go to C in boxes, too, by way of shared memory, so edges need no tests: what is outside of a
matrix arrives as 0 and is not stored.

K and N are multiples of 8, for tensor maps are of rows of multiples of 16 bytes.
"""

import sys

from gemm_warps import check
from pyptx import cuda, float32, int32, uint32

M, N, K = 128, 256, 64  # of a block's tiles; K elements are the 128 bytes of the swizzle
STAGES = 4
THREADS = 3 * 128
BOX = 64 * 64  # elements of a box of C
STAGE_BYTES = 2 * (M + N) * K
SHARED = STAGES * STAGE_BYTES + 2 * (2 * 2 * BOX)  # and two boxes for each consumer
ALL = 0xFFFFFFFF


@cuda.jit(device=True)
def place(tile: int, rows: int, columns: int, group: int) -> tuple:
    """Where a tile begins in C, which has so many rows and columns of them: a group of rows column
    by column, then the next."""
    first = tile // (group * columns) * group
    height = min(group, rows - first)
    rest = tile - first * columns
    column = rest // height
    return M * (first + rest - column * height), N * column


@cuda.jit(launch_bounds=(THREADS, 1))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array, group: int) -> None:
    number = c.dtype.type
    boxes_a = cuda.tensor_map(a, (M, K), swizzle=128)
    boxes_b = cuda.tensor_map(b, (K, 64), swizzle=128)
    boxes_c = cuda.tensor_map(c, (64, 64), swizzle=128)
    memory = cuda.shared.array(0, a.dtype, alignment=1024)
    sa = memory[: STAGES * M * K].reshape(STAGES, M, K)
    sb = memory[STAGES * M * K : STAGES * (M + N) * K].reshape(STAGES, N // 64, K, 64)
    sc = memory[STAGES * (M + N) * K : STAGES * (M + N) * K + 4 * BOX].reshape(2, 2, 64, 64)
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
                top, left = place(uint32(tile), rows, columns, uint32(group))
                for k in range(0, depth, K):
                    cuda.mbarrier_wait_parity(empty, stage, phase)  # the first round falls through
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
        stage, phase = 0, 0
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
            top, left = place(uint32(tile), rows, columns, uint32(group))
            row = 16 * quarter + lane % 16
            for j in range(N // 64):
                if leader:
                    cuda.cp_async_bulk_wait_group(1, read=True)  # the store from this box, two ago, has read it
                cuda.barrier_sync(1 + me, 128)
                for e in range(0, 32, 8):
                    chunk = (e // 4 + lane // 16) ^ row % 8  # where the swizzle has these 8 columns
                    i = 32 * j + e
                    low = number(acc[i]), number(acc[i + 1]), number(acc[i + 2]), number(acc[i + 3])
                    high = number(acc[i + 4]), number(acc[i + 5]), number(acc[i + 6]), number(acc[i + 7])
                    cuda.stmatrix(sc, (me, j % 2, row, 8 * chunk), (*low, *high))
                cuda.fence_proxy_async_shared()  # so that the copy sees what this thread has stored
                cuda.barrier_sync(1 + me, 128)
                if leader:
                    cuda.cp_async_bulk_tensor_store(boxes_c, (top + half, left + 64 * j), sc[me, j % 2])
                    cuda.cp_async_bulk_commit_group()


def launch(blocks: int, group: int = 8):
    """A function of a, b and c that computes c = a @ b by so many blocks, as many as there are
    multiprocessors. The blocks that run together take tiles of `group` rows of tiles, so that what
    they read is in the L2 cache."""
    configured = gemm[blocks, THREADS, 0, SHARED]
    return lambda a, b, c: configured(a, b, c, group)


def main() -> int:
    device = cuda.get_current_device()
    m, n, k = (264, 520, 200) if device.is_host else (4096, 4096, 4096)
    if not device.is_host and device.compute_capability[0] != 9:
        print("wgmma needs compute capability 9.0")
        return 0
    print(f"{m} x {k} by {k} x {n} bfloat16, sums in float32, on {device.name}")
    correct = check(launch(2 if device.is_host else device.MULTIPROCESSOR_COUNT), m, n, k)
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
