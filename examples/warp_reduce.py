"""Sums by warp shuffles: of each row of a matrix with one warp per row, and of all elements with one value per warp in shared memory."""

import math
import sys

import numpy as np
from pyptx import cuda, float32

THREADS = 256
WARPS = THREADS // 32
ALL = 0xFFFFFFFF


@cuda.jit(device=True)
def warp_sum(v: float) -> float:
    """The sum over the warp's lanes, in every lane."""
    for k in range(5):
        v += cuda.shfl_xor_sync(ALL, v, 16 >> k)
    return v


@cuda.jit
def row_sums(x: cuda.Array, out: cuda.Array) -> None:
    row = cuda.grid(1) // 32
    if row < x.shape[0]:  # the same for all lanes of a warp
        acc = float32(0)
        for col in range(cuda.laneid, x.shape[1], 32):
            acc += x[row, col]
        acc = warp_sum(acc)
        if cuda.laneid == 0:
            out[row] = acc


@cuda.jit
def total_sum(x: cuda.Array, total: cuda.Array) -> None:
    partial = cuda.shared.array(WARPS, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    acc = warp_sum(acc)
    if cuda.laneid == 0:
        partial[t // 32] = acc
    cuda.syncthreads()
    if t < 32:  # the first warp adds what the warps have
        acc = warp_sum(partial[t] if t < WARPS else float32(0))
        if t == 0:
            cuda.atomic.add(total, 0, acc)


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    rows, cols, blocks = (1 << 14, 4096, 1024) if on_gpu else (1 << 9, 1024, 32)
    print(f"sums of {rows} x {cols} float32 on {device.name}")

    x = np.random.default_rng(11).random((rows, cols), dtype=np.float32)
    sums = np.zeros(rows, dtype=np.float32)
    row_sums[-(-rows * 32 // THREADS), THREADS](x, sums)
    total = np.zeros(1, dtype=np.float32)
    total_sum[blocks, THREADS](x.ravel(), total)

    # An element takes part in at most this many additions, each with a relative error of eps/2: of its lane or
    # thread, 5 in the warp; for the total 5 in the first warp and one atomic a block.
    half_eps = np.finfo(np.float32).eps / 2
    exact = x.sum(axis=1, dtype=np.float64)
    row_bound = (-(-cols // 32) + 5) * half_eps * exact
    total_bound = (math.ceil(x.size / (blocks * THREADS)) + 10 + blocks) * half_eps * exact.sum()
    row_error = np.abs(sums - exact)
    total_error = abs(float(total[0]) - exact.sum())
    correct = bool((row_error <= row_bound).all()) and total_error <= total_bound
    print(f"  rows: largest error {row_error.max():.2e}, bound {row_bound.min():.2e}")
    print(f"  total {total[0]}: error {total_error:.3f}, bound {total_bound:.3f}")
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
