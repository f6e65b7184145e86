"""Step 3: tiles in registers.

A thread computes 8 x 8 elements of C. For one k it reads 8 numbers of A and 8 of B from shared
memory, in four accesses of 16 bytes, and has 64 multiplications for them. A block of 256 threads
computes 128 x 128. Global memory, too, is read 16 bytes at a time. M and N are multiples of 128, K
of 16.
"""

import sys

from pyptx import bfloat16, cuda, float32
from steps import main

M, N, K = 128, 128, 16  # of a block's tiles
THREADS = 256


@cuda.jit(launch_bounds=(THREADS, 1))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    sa = cuda.shared.array((K, M), float32)  # transposed: a thread reads neighbouring rows
    sb = cuda.shared.array((K, N), float32)
    total = cuda.local.array((8, 8), float32)
    t = cuda.threadIdx.x
    top, left = M * cuda.blockIdx.y, N * cuda.blockIdx.x
    y, x = 4 * (t // 16), 4 * (t % 16)  # its rows are y to y + 3 and as many from 64 + y on
    for i in range(8):
        for j in range(8):
            total[i, j] = 0
    for k in range(0, a.shape[1], K):
        row, column = t // 2, 8 * (t % 2)
        part = cuda.vector.load(a, (top + row, k + column), 8)
        for i in range(8):
            sa[column + i, row] = float32(part[i])
        row, column = t // 16, 8 * (t % 16)
        part = cuda.vector.load(b, (k + row, left + column), 8)
        for i in range(8):
            sb[row, column + i] = float32(part[i])
        cuda.syncthreads()
        for kk in range(K):
            u = (*cuda.vector.load(sa, (kk, y), 4), *cuda.vector.load(sa, (kk, 64 + y), 4))
            v = (*cuda.vector.load(sb, (kk, x), 4), *cuda.vector.load(sb, (kk, 64 + x), 4))
            for i in range(8):
                for j in range(8):
                    total[i, j] += u[i] * v[j]
        cuda.syncthreads()
    for i in range(8):
        row = top + 64 * (i // 4) + y + i % 4
        for j in range(0, 8, 4):
            four = bfloat16(total[i, j]), bfloat16(total[i, j + 1]), bfloat16(total[i, j + 2]), bfloat16(total[i, j + 3])
            cuda.vector.store(c, (row, left + 16 * j + x), four)


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    m, n = c.shape
    gemm[(n // N, m // M), THREADS](a, b, c)


if __name__ == "__main__":
    sys.exit(main(launch))
