"""A matrix product by the names of CUDA C++'s warp matrix functions: cuda.wmma, fragments of 16 x 16.

A block of 4 warps computes 64 x 64 of alpha A @ B + beta C, a warp 32 x 32 of that, from tiles in
shared memory. M and N are multiples of 64, K of 32. It shows the names; gemm_warps.py is as fast as
such GPUs are.
"""

import sys

import numpy as np
from pyptx import cuda
from pyptx.cuda import wmma

TILE, K = 64, 32
WIDTH_A, WIDTH_B = K + 8, TILE + 8  # 16 bytes more in each row, so that rows begin in different banks


@cuda.jit
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array, alpha: float, beta: float) -> None:
    sa = cuda.shared.array((TILE, WIDTH_A), np.float16)
    sb = cuda.shared.array((K, WIDTH_B), np.float16)
    t, warp = cuda.threadIdx.x, cuda.threadIdx.x // 32
    top, left = TILE * cuda.blockIdx.y, TILE * cuda.blockIdx.x
    i, j = 32 * (warp // 2), 32 * (warp % 2)  # of this warp
    fa = wmma.fragment(wmma.matrix_a, 16, 16, 16, np.float16, wmma.row_major)
    fb = wmma.fragment(wmma.matrix_b, 16, 16, 16, np.float16, wmma.row_major)
    zeros = wmma.fill_fragment(wmma.fragment(wmma.accumulator, 16, 16, 16, np.float32), 0)
    s00, s01, s10, s11 = zeros, zeros, zeros, zeros
    for k in range(0, a.shape[1], K):
        for e in range(t, TILE * K, 128):
            sa[e // K, e % K] = a[top + e // K, k + e % K]
            sb[e // TILE, e % TILE] = b[k + e // TILE, left + e % TILE]
        cuda.syncthreads()
        for kk in range(0, K, 16):
            a0, a1 = wmma.load_matrix_sync(fa, sa, (i, kk)), wmma.load_matrix_sync(fa, sa, (i + 16, kk))
            b0, b1 = wmma.load_matrix_sync(fb, sb, (kk, j)), wmma.load_matrix_sync(fb, sb, (kk, j + 16))
            s00, s01 = wmma.mma_sync(a0, b0, s00), wmma.mma_sync(a0, b1, s01)
            s10, s11 = wmma.mma_sync(a1, b0, s10), wmma.mma_sync(a1, b1, s11)
        cuda.syncthreads()
    row, column = top + i, left + j
    for place, sums in ((row, column), s00), ((row, column + 16), s01), ((row + 16, column), s10), ((row + 16, column + 16), s11):
        old = wmma.load_matrix_sync(sums, c, place, wmma.mem_row_major)
        result = wmma.map_fragment(lambda x, y: alpha * x + beta * y, sums, old)
        wmma.store_matrix_sync(c, place, result, wmma.mem_row_major)


def main() -> int:
    device = cuda.get_current_device()
    if not device.is_host and device.compute_capability < (8, 0):
        print(f"{device.name} has compute capability {device.compute_capability}; this needs 8.0")
        return 0
    m, n, k = (1024, 1024, 2048) if not device.is_host else (128, 192, 160)
    print(f"{m} x {n} x {k} on {device.name}")
    rng = np.random.default_rng(3)
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)
    c = rng.standard_normal((m, n)).astype(np.float32)
    out = cuda.to_device(c)
    gemm[(n // TILE, m // TILE), 128](cuda.to_device(a), cuda.to_device(b), out, np.float32(0.5), np.float32(2))
    x, y = a.astype(np.float64), b.astype(np.float64)
    error = abs(out.copy_to_host() - (0.5 * (x @ y) + 2 * c))
    bound = (k // 16 + 2) * 2.0**-21 * (0.5 * (abs(x) @ abs(y)) + 2 * abs(c))  # each step truncates a little
    print(f"largest error {error.max():.1e}")
    correct = bool((error <= bound).all())
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
