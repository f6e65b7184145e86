"""Monte Carlo estimate of pi: a xorshift generator in every thread.

The state is uint32 and stays uint32: shifts and exclusive ors with Python numbers take the type of
the state.
"""

import math
import sys

import numpy as np
import numpy.typing as npt
from pyptx import cuda

Words = npt.NDArray[np.uint32]

UNIT = 2.0**-24


@cuda.jit(device=True)
def xorshift(state: int) -> int:
    """Marsaglia's xorshift32: the next state."""
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    return state


# fma=False: the inside test then rounds as NumPy's does, and the hits can be compared one by one.
@cuda.jit(fma=False)
def count_hits(seeds: cuda.Array, samples: int, hits: cuda.Array) -> None:
    i = cuda.grid(1)
    if i >= seeds.size:
        return
    state = seeds[i]
    inside = 0
    for _ in range(samples):
        state = xorshift(state)
        x = np.float32(state >> 8) * UNIT
        state = xorshift(state)
        y = np.float32(state >> 8) * UNIT
        if x * x + y * y < 1.0:
            inside += 1
    hits[i] = inside


def reference(seeds: Words, samples: int) -> npt.NDArray[np.int32]:
    """The same generator with NumPy arrays for states."""

    def advance(s: Words) -> Words:
        s = s ^ (s << np.uint32(13))
        s = s ^ (s >> np.uint32(17))
        return s ^ (s << np.uint32(5))

    state, hits = seeds.copy(), np.zeros(seeds.size, dtype=np.int32)
    unit = np.float32(UNIT)
    for _ in range(samples):
        state = advance(state)
        x = (state >> np.uint32(8)).astype(np.float32) * unit
        state = advance(state)
        y = (state >> np.uint32(8)).astype(np.float32) * unit
        hits += x * x + y * y < np.float32(1)
    return hits


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    threads, samples = (1 << 17, 500) if on_gpu else (1 << 12, 500)
    n = threads * samples
    print(f"pi from {n:,} samples on {device.name}")

    seeds = np.random.default_rng(10).integers(1, 1 << 32, threads, dtype=np.uint32)
    hits = np.zeros(threads, dtype=np.int32)
    count_hits[(threads + 127) // 128, 128](seeds, samples, hits)

    pi = 4 * hits.sum(dtype=np.int64) / n
    sigma = 4 * math.sqrt(math.pi / 4 * (1 - math.pi / 4) / n)
    print(f"  {pi:.6f}, {abs(pi - math.pi) / sigma:.2f} standard deviations from pi")
    # The hits are integers from bit-equal random numbers: equal to NumPy's. The estimate is within
    # 5 standard deviations.
    correct = np.array_equal(hits, reference(seeds, samples)) and abs(pi - math.pi) <= 5 * sigma
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
