"""Histogram of bytes: each block counts in shared memory and adds its counts to the result once."""

import sys

import numpy as np
from pyptx import cuda, int32

BINS = 256


@cuda.jit
def histogram(data: cuda.Array, counts: cuda.Array) -> None:
    local = cuda.shared.array(BINS, int32)
    for b in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        local[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(local, data[i], 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, b, local[b])


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n, blocks = (1 << 26, 1024) if on_gpu else (1 << 22, 16)
    print(f"histogram of {n:,} bytes on {device.name}")

    data = np.random.default_rng(8).binomial(255, 0.4, n).astype(np.uint8)
    counts = np.zeros(BINS, dtype=np.int32)
    histogram[blocks, 256](data, counts)

    # Counts are integers: exact whatever the order.
    correct = np.array_equal(counts, np.bincount(data, minlength=BINS))
    print(f"  most frequent byte: {counts.argmax()}, {counts.max():,} times")
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
