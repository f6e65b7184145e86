"""A bf16 matrix product with the matrix operations of warpgroups (wgmma), as GPUs of compute capability 9.0 (H100, H200) have them.

A block of two warpgroups computes 128 x 128 of C = A @ B, each of them 64 x 128. Threads fill the tiles, permuted as the hardware's swizzle has
them; the operations on one stage are in flight while the other is filled. A is stored row by row, so that its tiles are K-major, and so
is B, whose tiles are then N-major: two parts of 64 columns each.
"""

import sys

from gemm_warps import check
from pyptx import bfloat16, cuda, float32

M, N, K = 128, 128, 64  # of a block's tiles
THREADS = 256
STAGE = (M + N) * K
SHARED = 2 * STAGE * 2  # bytes


@cuda.jit(device=True)
def swizzled(row: int, column: int) -> int:
    """Where rows of 128 bytes have a column of 16 bits: chunks of 8 change places by the last three bits of the row's number."""
    return column ^ 8 * (row % 8)


@cuda.jit(launch_bounds=(THREADS, 1))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    memory = cuda.shared.array(0, bfloat16, alignment=1024)
    sa = memory[: 2 * M * K].reshape(2, M, K)
    sb = memory[2 * M * K : 2 * STAGE].reshape(2, N // 64, K, 64)
    t = cuda.threadIdx.x
    top, left = M * cuda.blockIdx.y, N * cuda.blockIdx.x
    half = 64 * (t // 128)  # the rows of this warpgroup
    acc = cuda.wgmma.zeros(64, N, float32)
    for step in range(a.shape[1] // K):
        s = step % 2
        for i in range(0, M * K // 8, THREADS):
            row, column = (i + t) // 8, (i + t) % 8 * 8
            cuda.vector.store(sa, (s, row, swizzled(row, column)), cuda.vector.load(a, (top + row, K * step + column), 8))
        for i in range(0, N * K // 8, THREADS):
            row, column = (i + t) // 16, (i + t) % 16 * 8
            cuda.vector.store(sb, (s, column // 64, row, swizzled(row, column % 64)), cuda.vector.load(b, (K * step + row, left + column), 8))
        cuda.fence_proxy_async_shared()  # so that the matrix operations see what this thread has stored
        cuda.syncthreads()
        cuda.wgmma.fence()
        for k in range(0, K, 16):
            acc = cuda.wgmma.mma(sa[s, half : half + 64, k : k + 16], sb[s, :, k : k + 16], acc, b_major="n")
        cuda.wgmma.commit()
        cuda.wgmma.wait(1)  # the operations on the other stage have ended …
        cuda.syncthreads()  # … for both warpgroups: it may be filled
    acc = cuda.wgmma.wait(0, acc)
    warp, lane = t // 32, t % 32
    for i in range(0, N // 2, 2):
        row = top + 16 * warp + lane // 4 + i // 2 % 2 * 8
        column = left + 8 * (i // 4) + 2 * (lane % 4)
        cuda.vector.store(c, (row, column), (bfloat16(acc[i]), bfloat16(acc[i + 1])))


def main() -> int:
    device = cuda.get_current_device()
    m, n, k = (256, 256, 192) if device.is_host else (4096, 4096, 4096)
    if not device.is_host and device.compute_capability[0] != 9:
        print("wgmma needs compute capability 9.0")
        return 0
    print(f"{m} x {k} by {k} x {n} bfloat16, sums in float32, on {device.name}")
    correct = check(gemm[(n // N, m // M), THREADS, 0, SHARED], m, n, k)
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
