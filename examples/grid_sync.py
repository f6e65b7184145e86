"""Many steps in one launch: heat in a rod, with the grid's barrier between two steps."""

import sys

import numpy as np
from pyptx import cuda, float32

THREADS = 256
STEPS = 200


@cuda.jit(fma=False)
def heat(u: cuda.Array, steps: int) -> None:
    grid = cuda.cg.this_grid()
    n = u.shape[1]
    for step in range(steps):
        now, then = step % 2, 1 - step % 2
        for i in range(cuda.grid(1) + 1, n - 1, cuda.gridsize(1)):
            middle = u[now, i]
            u[then, i] = middle + float32(0.25) * (u[now, i - 1] - 2 * middle + u[now, i + 1])
        grid.sync()


def main() -> int:
    device = cuda.get_current_device()
    n = 1 << 20 if not device.is_host else 1 << 14
    u = np.zeros((2, n), dtype=np.float32)
    u[:, 0], u[:, -1] = 1, -1
    u[0, n // 3 : n // 2] = 5

    rod = cuda.to_device(u)
    heat[1, THREADS](rod, 0)  # compiles; no step yet
    compiled = heat.overloads[heat.signatures[0]]
    most = compiled.max_cooperative_grid_blocks(THREADS)
    blocks = min(most, -(-(n - 2) // THREADS))
    print(f"{STEPS} steps of {n:,} points in one launch of {blocks} blocks (room for {most}) on {device.name}")
    heat[blocks, THREADS](rod, STEPS)

    now, then = u[0].copy(), u[1].copy()
    for _ in range(STEPS):
        middle = now[1:-1]
        then[1:-1] = middle + np.float32(0.25) * (now[:-2] - 2 * middle + now[2:])
        now, then = then, now
    # The same operations in the same order, none of them fused: the same bits.
    correct = np.array_equal(rod.copy_to_host()[STEPS % 2], now)
    print("matches NumPy bit for bit" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
