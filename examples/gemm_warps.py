"""A bf16 matrix product on tensor cores, as GPUs from compute capability 8.0 on have them: ldmatrix and mma_sync.

A block of 8 warps computes 128 x 128 of C = A @ B, a warp 64 x 32 of that. The next tiles are on the way from global memory to registers
while those in shared memory are multiplied. Chunks of 16 bytes are permuted in shared memory, so that the 8 rows of a matrix that ldmatrix
reads lie in different banks.
"""

import sys
import time

import numpy as np
from pyptx import bfloat16, cuda, float32

M, N, K = 128, 128, 32  # of a block's tiles
THREADS = 256


@cuda.jit(device=True)
def at_a(row: int, chunk: int) -> int:
    """Column of the chunk of 8 elements in a tile of A, whose rows have 64 bytes: two to a line of banks."""
    return 8 * (chunk ^ row // 2 % 4)


@cuda.jit(device=True)
def at_b(row: int, chunk: int) -> int:
    """The same of B, whose rows have two lines."""
    return 8 * (chunk ^ row % 8)


@cuda.jit(device=True)
def store(sa: cuda.Array, sb: cuda.Array, s: int, x0: tuple, x1: tuple, y0: tuple, y1: tuple) -> None:
    """What this thread copies of a stage: of A two chunks, 64 rows apart, of B two, 16 rows apart."""
    t = cuda.threadIdx.x
    row_a, chunk_a, row_b, chunk_b = t // 4, t % 4, t // 16, t % 16
    cuda.vector.store(sa, (s, row_a, at_a(row_a, chunk_a)), x0)
    cuda.vector.store(sa, (s, row_a + 64, at_a(row_a + 64, chunk_a)), x1)
    cuda.vector.store(sb, (s, row_b, at_b(row_b, chunk_b)), y0)
    cuda.vector.store(sb, (s, row_b + 16, at_b(row_b + 16, chunk_b)), y1)


@cuda.jit(launch_bounds=(THREADS, 1))
def gemm(a: cuda.Array, b: cuda.Array, c: cuda.Array) -> None:
    sa = cuda.shared.array((2, M, K), bfloat16)
    sb = cuda.shared.array((2, K, N), bfloat16)
    sums = cuda.local.array((4, 4, 4), float32)
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    top, left = M * cuda.blockIdx.y, N * cuda.blockIdx.x
    warp_row, warp_column = t // 128 * 64, t // 32 % 4 * 32
    for i in range(4):
        for j in range(4):
            for e in range(4):
                sums[i, j, e] = 0
    row_a, chunk_a, row_b, chunk_b = t // 4, t % 4, t // 16, t % 16
    x0 = cuda.vector.load(a, (top + row_a, 8 * chunk_a), 8)
    x1 = cuda.vector.load(a, (top + row_a + 64, 8 * chunk_a), 8)
    y0 = cuda.vector.load(b, (row_b, left + 8 * chunk_b), 8)
    y1 = cuda.vector.load(b, (row_b + 16, left + 8 * chunk_b), 8)
    store(sa, sb, 0, x0, x1, y0, y1)
    cuda.syncthreads()
    steps = a.shape[1] // K
    for step in range(steps):
        s = step % 2
        k = K * min(step + 1, steps - 1)  # the next tiles, or once more the last
        x0 = cuda.vector.load(a, (top + row_a, k + 8 * chunk_a), 8)
        x1 = cuda.vector.load(a, (top + row_a + 64, k + 8 * chunk_a), 8)
        y0 = cuda.vector.load(b, (k + row_b, left + 8 * chunk_b), 8)
        y1 = cuda.vector.load(b, (k + row_b + 16, left + 8 * chunk_b), 8)
        for kk in range(0, K, 16):
            row = warp_row + lane % 16
            chunk = kk // 8 + lane // 16
            f0 = cuda.ldmatrix(sa, (s, row, at_a(row, chunk)), 4)
            f1 = cuda.ldmatrix(sa, (s, row + 16, at_a(row + 16, chunk)), 4)
            f2 = cuda.ldmatrix(sa, (s, row + 32, at_a(row + 32, chunk)), 4)
            f3 = cuda.ldmatrix(sa, (s, row + 48, at_a(row + 48, chunk)), 4)
            fragments = (f0, f1, f2, f3)
            for j in range(0, 4, 2):
                row = kk + lane % 16
                g = cuda.ldmatrix(sb, (s, row, at_b(row, warp_column // 8 + j + lane // 16)), 4, trans=True)
                for i in range(4):
                    for h in range(2):
                        old = (sums[i, j + h, 0], sums[i, j + h, 1], sums[i, j + h, 2], sums[i, j + h, 3])
                        part = g[:4] if h == 0 else g[4:]
                        sums[i, j + h, 0], sums[i, j + h, 1], sums[i, j + h, 2], sums[i, j + h, 3] = cuda.mma_sync(fragments[i], part, old)
        store(sa, sb, 1 - s, x0, x1, y0, y1)  # all threads have read that stage before the last barrier
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            row, column = top + warp_row + 16 * i + lane // 4, left + warp_column + 8 * j + 2 * (lane % 4)
            cuda.vector.store(c, (row, column), (bfloat16(sums[i, j, 0]), bfloat16(sums[i, j, 1])))
            cuda.vector.store(c, (row + 8, column), (bfloat16(sums[i, j, 2]), bfloat16(sums[i, j, 3])))


@cuda.jit
def rounded(out: cuda.Array, x: cuda.Array) -> None:
    """float32 to bfloat16, which NumPy does not have."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i // out.shape[1], i % out.shape[1]] = bfloat16(x[i // out.shape[1], i % out.shape[1]])


@cuda.jit
def widened(out: cuda.Array, x: cuda.Array) -> None:
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i // out.shape[1], i % out.shape[1]] = float32(x[i // out.shape[1], i % out.shape[1]])


def check(launch, m: int, n: int, k: int) -> bool:
    """Compares launch(c, a, b) with NumPy's product of the same bfloat16 numbers; prints how long it takes."""
    rng = np.random.default_rng(5)
    d_a, d_b, d_c = (cuda.device_array(shape, dtype=bfloat16) for shape in ((m, k), (k, n), (m, n)))
    exact = []
    for d in (d_a, d_b):
        wide = cuda.to_device(rng.standard_normal(d.shape, dtype=np.float32))
        rounded[256, 256](d, wide)
        widened[256, 256](wide, d)
        exact.append(wide.copy_to_host().astype(np.float64))
    launch(d_a, d_b, d_c)  # compiles
    cuda.synchronize()
    start = time.perf_counter()
    launch(d_a, d_b, d_c)
    cuda.synchronize()
    seconds = time.perf_counter() - start
    got = cuda.device_array((m, n), dtype=np.float32)
    widened[256, 256](got, d_c)
    # Sums of k exact products in float32: k roundings or truncations, each of at most 2**-23 of the sum of the sizes; then one rounding of
    # the result to the 8 bits of a bfloat16.
    a, b = exact
    want, size = a @ b, np.abs(a) @ np.abs(b)
    share = np.max(np.abs(got.copy_to_host() - want) / (2.0**-8 * np.abs(want) + (1 + 2.0**-8) * k * 2.0**-23 * size))
    print(f"  {seconds * 1e3:8.3f} ms  {2 * m * n * k / seconds / 1e12:8.4f} TFLOP/s  largest error {share:.4f} of the bound")
    return bool(share <= 1)


def main() -> int:
    device = cuda.get_current_device()
    m, n, k = (256, 256, 96) if device.is_host else (4096, 4096, 4096)
    if not device.is_host and device.compute_capability < (8, 0):
        print("bfloat16 tensor cores need compute capability 8.0")
        return 0
    print(f"{m} x {k} by {k} x {n} bfloat16, sums in float32, on {device.name}")
    correct = check(gemm[(n // N, m // M), THREADS], m, n, k)
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
