"""Step 4: tensor cores, by ldmatrix and mma_sync.

A block of 8 warps computes 128 x 128 of C, a warp 64 x 32 of that: 4 x 4 products of 16 x 16 by
16 x 8, each one instruction of the whole warp. The tiles stay bfloat16 in shared memory. Their rows
are 16 bytes longer than the tile is wide, so that the 8 rows of a matrix that ldmatrix reads lie in
different banks. M and N are multiples of 128, K of 32.
"""

import sys

from pyptx import bfloat16, cuda, float32
from steps import main

M, N, K = 128, 128, 32  # of a block's tiles
THREADS = 256


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


@cuda.jit(launch_bounds=(THREADS, 2))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    sa = cuda.shared.array((M, K + 8), bfloat16)
    sb = cuda.shared.array((K, N + 8), bfloat16)
    sums = cuda.local.array((4, 4, 4), float32)
    t = cuda.threadIdx.x
    top, left = M * cuda.blockIdx.y, N * cuda.blockIdx.x
    for i in range(4):
        for j in range(4):
            cuda.vector.store(sums, (i, j, 0), (0, 0, 0, 0))
    for k in range(0, a.shape[1], K):
        for i in range(2):  # 16 bytes at a time: 64 rows of A, 16 of B
            row, column = t // 4 + 64 * i, 8 * (t % 4)
            cuda.vector.store(sa, (row, column), cuda.vector.load(a, (top + row, k + column), 8))
            row, column = t // 16 + 16 * i, 8 * (t % 16)
            cuda.vector.store(sb, (row, column), cuda.vector.load(b, (k + row, left + column), 8))
        cuda.syncthreads()
        multiply(sums, sa, sb, 0)  # twice, for a loop over k would stay a loop
        multiply(sums, sa, sb, 16)
        cuda.syncthreads()
    store(c, sums, top, left)


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    m, n = c.shape
    gemm[(n // N, m // M), THREADS](a, b, c)


if __name__ == "__main__":
    sys.exit(main(launch, (8, 0)))
