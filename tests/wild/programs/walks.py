"""Random walks: numba.cuda.random, atomics, a grid-stride loop, a device function with a signature. Checks the statistics."""

import math
import warnings

import numba
import numpy as np
from numba import cuda
from numba.core.errors import NumbaPerformanceWarning
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32

warnings.simplefilter("ignore", category=NumbaPerformanceWarning)
WALKS, STEPS = 4096, 64


@cuda.jit("int32(float64, float64)", device=True)
def is_far(position, limit):
    return 1 if abs(position) > limit else 0


@cuda.jit
def walk(states, ends, far, limit):
    first = cuda.grid(1)
    for i in range(first, ends.size, cuda.gridsize(1)):
        position = 0.0
        for _ in range(STEPS):
            position += xoroshiro128p_normal_float32(states, first)
        ends[i] = position
        cuda.atomic.add(far, 0, is_far(position, limit))


@cuda.jit(numba.void(numba.float64[::1], numba.int64[:], numba.float64))
def histogram(ends, bins, width):
    i = cuda.grid(1)
    if i < ends.size:
        b = int(math.floor(ends[i] / width)) + bins.size // 2
        cuda.atomic.add(bins, min(max(b, 0), bins.size - 1), 1)


def main():
    blocks, threads = 8, 128
    states = create_xoroshiro128p_states(blocks * threads, seed=7)
    ends, far, limit = cuda.device_array(WALKS, np.float64), cuda.to_device(np.zeros(1, np.int32)), 2 * math.sqrt(STEPS)
    walk[blocks, threads](states, ends, far, limit)
    bins = np.zeros(10, np.int64)
    histogram[WALKS // threads, threads](ends, bins, limit / 2)
    cuda.synchronize()
    out = ends.copy_to_host()
    assert bins.sum() == WALKS and far.copy_to_host()[0] == (abs(out) > limit).sum()
    edges = np.clip(np.floor(out / (limit / 2)).astype(int) + 5, 0, 9)
    assert (np.bincount(edges, minlength=10) == bins).all()
    # The sample's mean and variance lie within five standard errors of 0 and STEPS.
    assert abs(out.mean()) < 5 * math.sqrt(STEPS / WALKS) and abs(out.var() - STEPS) < 5 * STEPS * math.sqrt(2 / WALKS)
    print(f"walks: {far.copy_to_host()[0]} of {WALKS} beyond {limit:.0f}")


if __name__ == "__main__":
    main()
