"""Flow around a cylinder by the lattice Boltzmann method (D2Q9, BGK): behind it, vortices.

Each cell holds how much fluid moves in each of nine directions. A step lets the fluid arrive from
the neighbours, bounces it back at the cylinder, and relaxes the nine numbers towards equilibrium
(Krüger et al., The Lattice Boltzmann Method, Springer 2017, chapters 3 and 5).

python examples/fluid.py [--picture OUT.png]
"""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from pyptx import cuda

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

# Directions, their weights, and the direction opposite to each.
DX = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1])
DY = np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
WEIGHT = np.array([4 / 9] + 4 * [1 / 9] + 4 * [1 / 36], dtype=np.float32)
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
SPEED = np.float32(0.1)  # of the flow that enters on the left, in cells a step


def equilibrium(k: int, density: Any, ux: Any, uy: Any) -> Any:
    """Serves the kernel with numbers and the reference with arrays."""
    along = float(DX[k]) * ux + float(DY[k]) * uy
    return WEIGHT[k] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * (ux * ux + uy * uy))


# Without fused multiply-add every operation rounds as NumPy's, so that the two are equal.
@cuda.jit(fma=False)
def step(fluid: cuda.Array, solid: cuda.Array, omega: np.float32, after: cuda.Array) -> None:
    """fluid and after have the shape (9, rows, columns): neighbouring threads read neighbouring cells."""
    col, row = cuda.grid(2)
    rows, cols = solid.shape
    if row >= rows or col >= cols:
        return
    arrived = cuda.local.array(9, np.float32)
    density, px, py = 0.0, 0.0, 0.0
    for k in range(9):
        arrived[k] = fluid[k, (row - DY[k]) % rows, (col - DX[k]) % cols]
        density += arrived[k]
        px += float(DX[k]) * arrived[k]
        py += float(DY[k]) * arrived[k]
    ux, uy = px / density, py / density
    for k in range(9):
        if solid[row, col]:
            after[k, row, col] = arrived[OPPOSITE[k]]
        elif col == 0:
            after[k, row, col] = equilibrium(k, np.float32(1), SPEED, np.float32(0))
        else:
            after[k, row, col] = arrived[k] + omega * (equilibrium(k, density, ux, uy) - arrived[k])


def reference(fluid: Floats, solid: Mask, omega: np.float32) -> Floats:
    """One step in NumPy, operation by operation as the kernel."""
    arrived = [np.roll(fluid[k], (DY[k], DX[k]), (0, 1)) for k in range(9)]
    density, px, py = np.float32(0), np.float32(0), np.float32(0)
    for k in range(9):
        density = density + arrived[k]
        px = px + float(DX[k]) * arrived[k]
        py = py + float(DY[k]) * arrived[k]
    ux, uy = px / density, py / density
    after = np.empty_like(fluid)
    for k in range(9):
        relaxed = arrived[k] + omega * (equilibrium(k, density, ux, uy) - arrived[k])
        relaxed[:, 0] = equilibrium(k, np.float32(1), SPEED, np.float32(0))
        after[k] = np.where(solid, arrived[OPPOSITE[k]], relaxed)
    return after


def channel(rows: int, cols: int) -> tuple[Floats, Mask]:
    """A flow to the right with a cylinder in it; it waves a little, so that the vortices soon begin."""
    y, x = np.mgrid[0:rows, 0:cols]
    solid = (x - cols // 5) ** 2 + (y - rows // 2) ** 2 < (rows / 9) ** 2
    fluid = np.empty((9, rows, cols), dtype=np.float32)
    wave = SPEED / 2 * np.sin(8 * np.pi * x / cols).astype(np.float32)
    for k in range(9):
        fluid[k] = equilibrium(k, np.float32(1), SPEED, wave)
    return fluid, solid


def run(fluid: Floats, solid: Mask, omega: np.float32, steps: int) -> Floats:
    now, after, d_solid = cuda.to_device(fluid), cuda.device_array_like(fluid), cuda.to_device(solid)
    block = (32, 8)
    grid = (-(-solid.shape[1] // 32), -(-solid.shape[0] // 8))
    for _ in range(steps):
        step[grid, block](now, d_solid, omega, after)
        now, after = after, now
    return now.copy_to_host()


def draw(path: str) -> None:
    """How fast the fluid turns: left blue, right red."""
    import matplotlib.pyplot as plt

    rows, cols, steps = 108, 360, 8000
    fluid, solid = channel(rows, cols)
    viscosity = SPEED * 2 * (rows / 9) / 160  # Reynolds number 160
    fluid = run(fluid, solid, np.float32(1 / (3 * viscosity + 0.5)), steps)
    density = fluid.sum(axis=0)
    ux = np.tensordot(DX, fluid, 1) / density
    uy = np.tensordot(DY, fluid, 1) / density
    curl: npt.NDArray[np.float64] = np.gradient(uy, axis=1) - np.gradient(ux, axis=0)
    rgb = plt.get_cmap("RdBu")(0.5 + 18 * curl)[:, :, :3]
    rgb[solid] = 0.2
    plt.imsave(path, np.kron(np.clip(rgb[:, 2:-2], 0, 1), np.ones((3, 3, 1))))  # pyright: ignore[reportUnknownMemberType]
    print(f"  wrote {path}")


def main() -> int:
    device = cuda.get_current_device()
    rows, cols, steps = (60, 160, 60) if device.is_host else (480, 1600, 60)
    print(f"{steps} lattice Boltzmann steps of {rows} x {cols} cells in float32 on {device.name}")

    start, solid = channel(rows, cols)
    omega = np.float32(1.8)
    fluid = run(start, solid, omega, steps)
    expected = start
    for _ in range(steps):
        expected = reference(expected, solid, omega)
    correct = np.array_equal(fluid, expected)
    print(f"  mean density {fluid.sum(axis=0, dtype=np.float64).mean():.6f}")
    if "--picture" in sys.argv:
        draw(sys.argv[sys.argv.index("--picture") + 1])
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
