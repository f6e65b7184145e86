"""Matrix transpose through a tile in shared memory.

Each block reads a 32 x 32 tile along rows and writes it along rows of the result, so that both
sides of global memory see whole cache lines. The tile has a column too many: without it the threads
that read a column would all hit one memory bank.
"""

import sys

import numpy as np
from pyptx import cuda, float32

TILE = 32
ROWS = 8  # a block of 32 x 8 threads copies a 32 x 32 tile in four steps


@cuda.jit
def transpose(a: cuda.Array, out: cuda.Array) -> None:
    tile = cuda.shared.array((TILE, TILE + 1), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * TILE + tx
    y = cuda.blockIdx.y * TILE + ty
    for r in range(0, TILE, ROWS):
        if y + r < a.shape[0] and x < a.shape[1]:
            tile[ty + r, tx] = a[y + r, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    for r in range(0, TILE, ROWS):
        if y + r < out.shape[0] and x < out.shape[1]:
            out[y + r, x] = tile[tx, ty + r]


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    rows, cols = (8192, 8000) if on_gpu else (1024, 1000)
    print(f"transpose of {rows} x {cols} float32 on {device.name}")

    a = np.random.default_rng(3).random((rows, cols), dtype=np.float32)
    d_out = cuda.device_array((cols, rows), dtype=np.float32)
    blocks = ((cols + TILE - 1) // TILE, (rows + TILE - 1) // TILE)
    transpose[blocks, (TILE, ROWS)](cuda.to_device(a), d_out)

    # Elements are moved, not computed: the result is exact.
    correct = np.array_equal(d_out.copy_to_host(), a.T)
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
