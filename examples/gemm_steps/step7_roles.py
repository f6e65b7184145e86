"""Step 7: roles. A producer fills the ring, consumers empty it, and nobody waits for all.

A block has three warpgroups and computes 128 x 256. One thread of the first only begins copies. The
other two multiply 64 x 256 each, with one group of operations in flight while they issue the next.
A stage has two barriers: `full` for its bytes, `empty` for the consumers that have read it. The
producer gives registers to the consumers, whose sums take 128 each. M is a multiple of 128, N of
256; what is beyond K arrives as 0.
"""

import sys

from pyptx import bfloat16, cuda, float32, int32
from steps import main

M, N, K = 128, 256, 64  # of a block's tiles; K elements are the 128 bytes of the swizzle
STAGES = 4
THREADS = 3 * 128
STAGE_BYTES = 2 * (M + N) * K
SHARED = STAGES * STAGE_BYTES
ALL = 0xFFFFFFFF  # lanes


@cuda.jit(launch_bounds=(THREADS, 1))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    boxes_a = cuda.tensor_map(a, (M, K), swizzle=128)
    boxes_b = cuda.tensor_map(b, (K, 64), swizzle=128)
    memory = cuda.shared.array(0, bfloat16, alignment=1024)
    sa = memory[: STAGES * M * K].reshape(STAGES, M, K)
    sb = memory[STAGES * M * K : STAGES * (M + N) * K].reshape(STAGES, N // 64, K, 64)
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
    top, left, depth = M * cuda.blockIdx.y, N * cuda.blockIdx.x, a.shape[1]
    stage, phase = 0, 0
    if warp < 4:
        cuda.setmaxregister_decrease(40)
        if warp == 0 and cuda.elect_sync(ALL):
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
        half = 64 * (warp // 4 - 1)  # the rows of this consumer
        leader = warp % 4 == 0 and cuda.elect_sync(ALL)
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
        lane = t % 32
        for i in range(0, N // 2, 2):
            row = top + half + 16 * (warp % 4) + lane // 4 + i // 2 % 2 * 8
            column = left + 8 * (i // 4) + 2 * (lane % 4)
            cuda.vector.store(c, (row, column), (bfloat16(acc[i]), bfloat16(acc[i + 1])))


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    m, n = c.shape
    gemm[(n // N, m // M), THREADS, 0, SHARED](a, b, c)


if __name__ == "__main__":
    sys.exit(main(launch, (9, 0)))
