"""Step 6: matrix operations of warpgroups on tiles that tensor maps fill.

wgmma reads both tiles from shared memory by itself, and multiplies 64 x 128 by one instruction of
four warps. One thread begins the copy of a whole tile, swizzled as wgmma reads it; the bytes arrive
at a barrier. A block of two warpgroups computes 128 x 128, with a ring of four stages. M and N are
multiples of 128; what is beyond K arrives as 0.
"""

import sys

from pyptx import bfloat16, cuda, float32
from steps import main

M, N, K = 128, 128, 64  # of a block's tiles; K elements are the 128 bytes of the swizzle
STAGES = 4
THREADS = 256
STAGE_BYTES = 2 * (M + N) * K
SHARED = STAGES * STAGE_BYTES


@cuda.jit(launch_bounds=(THREADS, 1))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    boxes_a = cuda.tensor_map(a, (M, K), swizzle=128)
    boxes_b = cuda.tensor_map(b, (K, 64), swizzle=128)
    memory = cuda.shared.array(0, bfloat16, alignment=1024)
    sa = memory[: STAGES * M * K].reshape(STAGES, M, K)
    sb = memory[STAGES * M * K : STAGES * (M + N) * K].reshape(STAGES, N // 64, K, 64)
    full = cuda.shared.array(STAGES, cuda.mbarrier)  # the copies of a stage have arrived
    t = cuda.threadIdx.x
    if t == 0:
        for i in range(STAGES):
            cuda.mbarrier_init(full, i, 1)
        cuda.fence_mbarrier_init()
    cuda.syncthreads()
    top, left = M * cuda.blockIdx.y, N * cuda.blockIdx.x
    half = 64 * (t // 128)  # the rows of this warpgroup
    steps = (a.shape[1] + K - 1) // K
    acc = cuda.wgmma.zeros(64, N, float32)
    for step in range(1 - STAGES, steps):  # so many fills before the first product
        ahead = step + STAGES - 1
        if t == 0 and ahead < steps:
            s = ahead % STAGES
            cuda.mbarrier_arrive_expect_tx(full, s, STAGE_BYTES)
            cuda.cp_async_bulk_tensor(sa[s], boxes_a, (top, K * ahead), full, s)
            for j in range(N // 64):
                cuda.cp_async_bulk_tensor(sb[s, j], boxes_b, (K * ahead, left + 64 * j), full, s)
        if step >= 0:
            s = step % STAGES
            cuda.mbarrier_wait_parity(full, s, step // STAGES % 2)
            cuda.wgmma.fence()
            for k in range(0, K, 16):
                acc = cuda.wgmma.mma(sa[s, half : half + 64, k : k + 16], sb[s, :, k : k + 16], acc, b_major="n")
            cuda.wgmma.commit()
            cuda.wgmma.wait(0)
            cuda.syncthreads()  # both warpgroups have read the stage
    acc = cuda.wgmma.wait(0, acc)
    warp, lane = t // 32, t % 32
    for i in range(0, N // 2, 2):
        row = top + 16 * warp + lane // 4 + i // 2 % 2 * 8
        column = left + 8 * (i // 4) + 2 * (lane % 4)
        cuda.vector.store(c, (row, column), (bfloat16(acc[i]), bfloat16(acc[i + 1])))


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    m, n = c.shape
    gemm[(n // N, m // M), THREADS, 0, SHARED](a, b, c)


if __name__ == "__main__":
    sys.exit(main(launch, (9, 0)))
