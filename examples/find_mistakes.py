"""Mistakes that the host device finds: a sum that lacks a barrier, found by cuda.checking, and the same sum as it should be."""

import sys

import numpy as np
from pyptx import CheckError, cuda, float32

THREADS = 128


@cuda.jit
def hasty_sum(x: cuda.Array, out: cuda.Array) -> None:
    s = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    n = THREADS // 2
    while n:
        if t < n:
            s[t] += s[t + n]  # of another thread, which may not have come so far
        n //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@cuda.jit
def sum_of_blocks(x: cuda.Array, out: cuda.Array) -> None:
    s = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    n = THREADS // 2
    while n:
        if t < n:
            s[t] += s[t + n]
        cuda.syncthreads()
        n //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def main() -> int:
    device = cuda.select_device("host")  # whatever there is: checks are for the host device
    x = np.arange(1024, dtype=np.float32)
    out = np.zeros(x.size // THREADS, dtype=np.float32)
    found = None
    with cuda.checking("race", "sync", "init"):
        try:
            hasty_sum[out.size, THREADS](x, out)
        except CheckError as error:
            found = error
            print(error)
        sum_of_blocks[out.size, THREADS](x, out)
    # Sums of integers below 2**24 are exact in float32.
    correct = np.array_equal(out, x.reshape(-1, THREADS).sum(axis=1))
    print(f"on {device.name}: the race is found, the other sum is right" if found and correct else "NOT as it should be")
    return 0 if found and correct else 1


if __name__ == "__main__":
    sys.exit(main())
