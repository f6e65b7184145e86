"""The fastest of several tiles of a matrix product, found by trying them.

A block computes TILE x TILE elements of the result with TILE x (TILE / ROWS) threads, each of them
ROWS elements. Which TILE and ROWS are the fastest depends on the GPU and on the sizes: autotune
measures the candidates once, keeps the winner on disk, and launches it from then on.
"""

import sys

import numpy as np
from pyptx import cuda, float32


def config(tile: int, rows: int, **options: int) -> cuda.Config:
    return cuda.Config(block=(tile, tile // rows), kwargs={"TILE": tile, "ROWS": rows}, **options)


@cuda.autotune([config(8, 1), config(16, 1), config(16, 4), config(32, 4), config(32, 8, max_registers=64)], key=["a", "b"])
@cuda.jit
def matmul(a: cuda.Array, b: cuda.Array, c: cuda.Array, TILE: int, ROWS: int) -> None:
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE + tx
    row = cuda.blockIdx.y * TILE + ty
    step = TILE // ROWS
    sums = cuda.local.array(ROWS, float32)
    for r in range(ROWS):
        sums[r] = 0
    for first in range(0, a.shape[1], TILE):
        for r in range(ROWS):
            y = ty + r * step
            inside = row + r * step < a.shape[0] and first + tx < a.shape[1]
            tile_a[y, tx] = a[row + r * step, first + tx] if inside else float32(0)
            tile_b[y, tx] = b[first + y, col] if first + y < b.shape[0] and col < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            for r in range(ROWS):
                sums[r] += tile_a[ty + r * step, k] * tile_b[k, tx]
        cuda.syncthreads()
    for r in range(ROWS):
        if row + r * step < c.shape[0] and col < c.shape[1]:
            c[row + r * step, col] = sums[r]


def main() -> int:
    device = cuda.get_current_device()
    n, m, k = (2000, 1500, 1800) if not device.is_host else (200, 150, 180)
    print(f"{n} x {k} times {k} x {m}, float32, on {device.name}")
    rng = np.random.default_rng(1)
    a, b = rng.random((n, k), dtype=np.float32), rng.random((k, m), dtype=np.float32)
    d_a, d_b, d_c = cuda.to_device(a), cuda.to_device(b), cuda.device_array((n, m), dtype=np.float32)

    def blocks(config: cuda.Config) -> tuple[int, int]:
        return -(-m // config["TILE"]), -(-n // config["TILE"])

    matmul[blocks](d_a, d_b, d_c)
    print(matmul.trials)
    print("the fastest:", matmul.best)

    # k products, added one after the other: each sum rounds by eps/2 of at most the whole.
    exact = a.astype(np.float64) @ b.astype(np.float64)
    correct = bool(np.all(np.abs(d_c.copy_to_host() - exact) <= (k + 1) * np.finfo(np.float32).eps / 2 * exact))
    print("equal to NumPy within the error bound" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
