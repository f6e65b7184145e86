"""Step 5: asynchronous copies, a ring of stages.

cp_async copies from global to shared memory without registers in between, and the thread goes on:
while a stage is multiplied, the copies of the next three are on the way. One barrier for each stage
is enough: when all threads have come to it, the stage of the step before has been read, and can be
filled. M and N are multiples of 128, K of 32.
"""

import sys

from pyptx import bfloat16, cuda, float32
from steps import main

M, N, K = 128, 128, 32  # of a block's tiles
STAGES = 4
THREADS = 256
A, B = M * (K + 8), K * (N + 8)  # elements of a stage
SHARED = STAGES * (A + B) * 2  # bytes


@cuda.jit(device=True)
def multiply(sums: cuda.Array, sa: cuda.Array, sb: cuda.Array, k: int) -> None:
    """Adds this warp's products of 16 columns of A's tile, from k on, and 16 rows of B's."""
    t, lane = cuda.threadIdx.x, cuda.laneid
    top, left = t // 128 * 64 + lane % 16, t // 32 % 4 * 32  # of the warp; its lanes' rows of a matrix
    column = k + 8 * (lane // 16)
    f0 = cuda.ldmatrix(sa, (top, column), 4)
    f1 = cuda.ldmatrix(sa, (top + 16, column), 4)
    f2 = cuda.ldmatrix(sa, (top + 32, column), 4)
    f3 = cuda.ldmatrix(sa, (top + 48, column), 4)
    fragments = (f0, f1, f2, f3)
    for j in range(4):
        g = cuda.ldmatrix(sb, (k + lane % 16, left + 8 * j), 2, trans=True)
        for i in range(4):
            old = cuda.vector.load(sums, (i, j, 0), 4)
            cuda.vector.store(sums, (i, j, 0), cuda.mma_sync(fragments[i], g, old))


@cuda.jit(device=True)
def store(c: cuda.Array, sums: cuda.Array, top: int, left: int) -> None:
    """This lane's elements of the warp's part of C: of each product two neighbours in a row, and
    two 8 rows below."""
    t, lane = cuda.threadIdx.x, cuda.laneid
    top += t // 128 * 64 + lane // 4
    left += t // 32 % 4 * 32 + 2 * (lane % 4)
    for i in range(4):
        for j in range(4):
            cuda.vector.store(c, (top + 16 * i, left + 8 * j), (bfloat16(sums[i, j, 0]), bfloat16(sums[i, j, 1])))
            cuda.vector.store(c, (top + 16 * i + 8, left + 8 * j), (bfloat16(sums[i, j, 2]), bfloat16(sums[i, j, 3])))


@cuda.jit(device=True)
def fill(sa: cuda.Array, sb: cuda.Array, a: cuda.Array, b: cuda.Array, top: int, left: int, k: int) -> None:
    """Begins this thread's copies of a stage, as one group; an empty one beyond the last."""
    t = cuda.threadIdx.x
    if k < a.shape[1]:
        for i in range(2):
            row, column = t // 4 + 64 * i, 8 * (t % 4)
            cuda.cp_async(sa, (row, column), a, (top + row, k + column), 8)
            row, column = t // 16 + 16 * i, 8 * (t % 16)
            cuda.cp_async(sb, (row, column), b, (k + row, left + column), 8)
    cuda.cp_async_commit_group()


@cuda.jit(launch_bounds=(THREADS, 2))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    memory = cuda.shared.array(0, bfloat16, alignment=16)
    sa = memory[: STAGES * A].reshape(STAGES, M, K + 8)
    sb = memory[STAGES * A : STAGES * (A + B)].reshape(STAGES, K, N + 8)
    sums = cuda.local.array((4, 4, 4), float32)
    top, left = M * cuda.blockIdx.y, N * cuda.blockIdx.x
    for i in range(4):
        for j in range(4):
            cuda.vector.store(sums, (i, j, 0), (0, 0, 0, 0))
    for s in range(STAGES - 1):
        fill(sa[s], sb[s], a, b, top, left, K * s)
    for step in range(a.shape[1] // K):
        cuda.cp_async_wait_group(STAGES - 2)  # this thread's copies of the stage have come …
        cuda.syncthreads()  # … and those of all others; the stage before has been read
        s, free = step % STAGES, (step + STAGES - 1) % STAGES
        fill(sa[free], sb[free], a, b, top, left, K * (step + STAGES - 1))
        multiply(sums, sa[s], sb[s], 0)  # twice, for a loop over k would stay a loop
        multiply(sums, sa[s], sb[s], 16)
    store(c, sums, top, left)


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    m, n = c.shape
    gemm[(n // N, m // M), THREADS, 0, SHARED](a, b, c)


if __name__ == "__main__":
    sys.exit(main(launch, (8, 0)))
