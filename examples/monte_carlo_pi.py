"""Monte Carlo estimate of pi with pyptx.cuda.random: one xoroshiro128+ generator per thread.

Ported from Numba-CUDA by changing the import lines alone, apart from the annotations, which type
checkers read; the same seed gives the same numbers there.
"""

import math
import sys

import numpy as np
import numpy.typing as npt
from pyptx import cuda
from pyptx.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

Words = npt.NDArray[np.uint64]


# fma=False: the inside test then rounds as NumPy's does, and the hits can be compared one by one.
@cuda.jit(fma=False)
def count_hits(states: cuda.Array, samples: int, hits: cuda.Array) -> None:
    i = cuda.grid(1)
    if i >= hits.size:
        return
    inside = 0
    for _ in range(samples):
        x = xoroshiro128p_uniform_float32(states, i)
        y = xoroshiro128p_uniform_float32(states, i)
        if x * x + y * y <= 1.0:
            inside += 1
    hits[i] = inside


def reference(states: npt.NDArray[np.void], samples: int) -> npt.NDArray[np.int32]:
    """The same generators with NumPy arrays for the words of their states."""
    s0: Words = states["s0"].copy()
    s1: Words = states["s1"].copy()
    bits = {n: np.uint64(n) for n in (9, 11, 14, 28, 36, 55)}

    def uniform() -> npt.NDArray[np.float32]:
        nonlocal s0, s1
        result = s0 + s1
        t = s0 ^ s1
        s0 = (s0 << bits[55] | s0 >> bits[9]) ^ t ^ (t << bits[14])
        s1 = t << bits[36] | t >> bits[28]
        return ((result >> bits[11]) * 2.0**-53).astype(np.float32)

    hits = np.zeros(s0.size, dtype=np.int32)
    for _ in range(samples):
        x, y = uniform(), uniform()
        hits += x * x + y * y <= np.float32(1)
    return hits


def main() -> int:
    device = cuda.get_current_device()
    threads, samples = (1 << 12, 500) if device.is_host else (1 << 17, 500)
    n = threads * samples
    print(f"pi from {n:,} samples on {device.name}")

    states = create_xoroshiro128p_states(threads, seed=1)
    before = states.copy_to_host()
    hits = np.zeros(threads, dtype=np.int32)
    count_hits[(threads + 127) // 128, 128](states, samples, hits)

    pi = 4 * hits.sum(dtype=np.int64) / n
    sigma = 4 * math.sqrt(math.pi / 4 * (1 - math.pi / 4) / n)
    print(f"  {pi:.6f}, {abs(pi - math.pi) / sigma:.2f} standard deviations from pi")
    # The hits are integers from bit-equal random numbers: equal to NumPy's. The estimate is within
    # 5 standard deviations.
    correct = np.array_equal(hits, reference(before, samples)) and abs(pi - math.pi) <= 5 * sigma
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
