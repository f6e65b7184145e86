"""The heat in a rod, with operators on device arrays and no kernel; then the same step as one kernel, by @vectorize."""

import sys

import numpy as np
from pyptx import cuda, vectorize

STEPS, RATE = 200, 0.25


def step(u: cuda.Array) -> None:
    """One step of any array, NumPy's or a device's: views of it, and operators on them."""
    u[1:-1] += RATE * (u[2:] - 2 * u[1:-1] + u[:-2])


@vectorize(["float64(float64, float64, float64)"], target="cuda", fma=False)
def mixed(left: float, here: float, right: float) -> float:
    return here + RATE * (right - 2 * here + left)


def main() -> int:
    device = cuda.get_current_device()
    points = 1 << 20 if not device.is_host else 1 << 14
    print(f"the heat in a rod of {points:,} points on {device.name}")

    rod = np.zeros(points)
    rod[points // 3 : points // 2] = 1.0
    rod[0] = 2.0
    d_rod, d_fused, spare = cuda.to_device(rod), cuda.to_device(rod), cuda.to_device(rod)
    for _ in range(STEPS):
        step(rod)
        step(d_rod)  # four kernels, each reads and writes the rod
        mixed(d_fused[:-2], d_fused[1:-1], d_fused[2:], out=spare[1:-1])  # one
        d_fused, spare = spare, d_fused

    # Each operation is rounded as NumPy's, so the rods are equal to the bit.
    same = bool((d_rod == rod).all()) and bool((d_fused == d_rod).all())
    print(f"  heat {d_rod.sum():.6f}, hottest inside {np.max(d_rod[1:-1]):.6f}, above 0.5: {np.count_nonzero(d_rod > 0.5)} points")
    print("matches NumPy" if same else "does NOT match NumPy")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
