"""Jacobi iteration for Laplace's equation on a square plate whose upper edge is hot."""

import sys

import numpy as np
from pyptx import cuda


@cuda.jit
def sweep(u: cuda.Array, new: cuda.Array) -> None:
    j, i = cuda.grid(2)  # x is the fastest axis of a block: it goes with the last index
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n, sweeps = (2048, 200) if on_gpu else (256, 100)
    print(f"{sweeps} Jacobi sweeps of a {n} x {n} float32 plate on {device.name}")

    plate = np.zeros((n, n), dtype=np.float32)
    plate[0] = 100.0

    d_u, d_new = cuda.to_device(plate), cuda.to_device(plate)
    block = (16, 16)
    grid = (-(-n // 16), -(-n // 16))
    for _ in range(sweeps):
        sweep[grid, block](d_u, d_new)
        d_u, d_new = d_new, d_u
    out = d_u.copy_to_host()

    u, new = plate.copy(), plate.copy()
    for _ in range(sweeps):
        new[1:-1, 1:-1] = np.float32(0.25) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, new = new, u
    # Additions in the same order, then a multiplication that nothing can be fused with: equal to
    # the last bit.
    correct = np.array_equal(out, u)
    print(f"  mean temperature {out.mean():.4f}")
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
