"""Matrix product: one thread per element, first straight from global memory, then through tiles in shared memory."""

import sys
import time

import numpy as np
from pyptx import cuda, float32

TILE = 16


@cuda.jit
def matmul_naive(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    col, row = cuda.grid(2)  # neighbouring threads take neighbouring columns
    if row < c.shape[0] and col < c.shape[1]:
        acc = float32(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, col]
        c[row, col] = acc


@cuda.jit
def matmul_tiled(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0)
    for start in range(0, a.shape[1], TILE):
        # Elements outside the matrices count as 0.
        tile_a[ty, tx] = a[row, start + tx] if row < a.shape[0] and start + tx < a.shape[1] else 0.0
        tile_b[ty, tx] = b[start + ty, col] if start + ty < b.shape[0] and col < b.shape[1] else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            acc += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if row < c.shape[0] and col < c.shape[1]:
        c[row, col] = acc


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    m, k, n = (2048, 2000, 2050) if on_gpu else (256, 250, 260)
    print(f"matmul of {m} x {k} by {k} x {n} float32 on {device.name}")

    rng = np.random.default_rng(5)
    a = rng.standard_normal((m, k), dtype=np.float32)
    b = rng.standard_normal((k, n), dtype=np.float32)
    a64, b64 = a.astype(np.float64), b.astype(np.float64)
    expected = a64 @ b64
    # A dot product of length k in any order, fused or not, is off by at most k * eps/2 * sum |a|
    # |b| (to first order).
    bound = k * np.finfo(np.float32).eps / 2 * (np.abs(a64) @ np.abs(b64))

    d_a, d_b = cuda.to_device(a), cuda.to_device(b)
    correct = True
    grid = (-(-n // TILE), -(-m // TILE))
    for name, kernel in (("naive", matmul_naive), ("tiled", matmul_tiled)):
        d_c = cuda.device_array((m, n), dtype=np.float32)
        kernel[grid, (TILE, TILE)](d_a, d_b, d_c)  # compiles
        cuda.synchronize()
        start = time.perf_counter()
        kernel[grid, (TILE, TILE)](d_a, d_b, d_c)
        cuda.synchronize()
        seconds = time.perf_counter() - start
        share = np.max(np.abs(d_c.copy_to_host() - expected) / bound)
        correct = correct and bool(share <= 1)
        print(
            f"  {name}  {seconds * 1e3:8.3f} ms  {2 * m * n * k / seconds / 1e9:8.1f} GFLOP/s  "
            f"largest error {share:.4f} of the bound"
        )
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
