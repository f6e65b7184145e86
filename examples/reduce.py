"""Sum of an array: a grid-stride loop, a tree in shared memory, one atomic addition per block."""

import math
import sys

import numpy as np
from pyptx import cuda, float32

THREADS = 256


@cuda.jit
def block_sum(x: cuda.Array, total: cuda.Array) -> None:
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    acc = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    partial[t] = acc
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(total, 0, partial[0])


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n, blocks = (1 << 26, 1024) if on_gpu else (1 << 21, 32)
    print(f"sum of {n:,} float32 on {device.name}")

    x = np.random.default_rng(4).random(n, dtype=np.float32)
    total = np.zeros(1, dtype=np.float32)
    block_sum[blocks, THREADS](x, total)

    expected = x.sum(dtype=np.float64)
    # An element takes part in n / (blocks * THREADS) additions of its thread, log2(THREADS) of the
    # tree and at most `blocks` atomic ones, each with a relative error of eps/2.
    additions = -(-n // (blocks * THREADS)) + math.log2(THREADS) + blocks
    bound = additions * np.finfo(np.float32).eps / 2 * np.abs(x).sum(dtype=np.float64)
    error = abs(float(total[0]) - expected)
    correct = error <= bound
    print(f"  {total[0]} (exact: {expected:.3f}), error {error:.3f}, bound {bound:.3f}")
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
