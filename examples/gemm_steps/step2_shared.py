"""Step 2: tiles in shared memory.

A block of 32 x 32 threads loads a tile of A and one of B together, and each thread reads its row
and its column from there: an element that comes from global memory is used 32 times. Sizes are
multiples of 32.
"""

import sys

from pyptx import bfloat16, cuda, float32
from steps import main

TILE = 32


@cuda.jit(coarsen=1)
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, a.shape[1], TILE):
        sa[y, x] = float32(a[row, k + x])
        sb[y, x] = float32(b[k + y, column])
        cuda.syncthreads()  # the tiles are there
        for i in range(TILE):
            total += sa[y, i] * sb[i, x]
        cuda.syncthreads()  # all have read them
    c[row, column] = bfloat16(total)


def launch(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    m, n = c.shape
    gemm[(n // TILE, m // TILE), (TILE, TILE)](a, b, c)


if __name__ == "__main__":
    sys.exit(main(launch))
