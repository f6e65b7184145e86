"""Heat in a cube: explicit steps of the 7-point stencil on a 3-D grid.

python examples/heat3d.py [--picture OUT.png]
"""

import sys

import numpy as np
import numpy.typing as npt
from pyptx import cuda


@cuda.jit
def heat(u: cuda.Array, new: cuda.Array, r: float) -> None:
    k, j, i = cuda.grid(3)  # x is the fastest axis of a block: it goes with the last index
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and 0 < k < u.shape[2] - 1:
        around = (
            u[i - 1, j, k]
            + u[i + 1, j, k]
            + u[i, j - 1, k]
            + u[i, j + 1, k]
            + u[i, j, k - 1]
            + u[i, j, k + 1]
        )
        new[i, j, k] = u[i, j, k] + r * (around - 6.0 * u[i, j, k])


def draw(path: str) -> None:
    """A cut through the middle of a cube with three hot bars, at four times."""
    import matplotlib.pyplot as plt

    n, block = 96, (32, 4, 2)
    cube = np.zeros((n, n, n), dtype=np.float32)
    cube[:, 20:36, 14:30] = cube[:, 52:80, 24:40] = cube[:, 28:68, 58:74] = 1.0
    d_u, d_new = cuda.to_device(cube), cuda.to_device(cube)
    grid = tuple(-(-n // b) for b in block)
    cuts: list[npt.NDArray[np.float32]] = []
    for step in range(901):
        if step in (0, 100, 400, 900):
            cuts.append(d_u.copy_to_host()[n // 2])
        heat[grid, block](d_u, d_new, 0.125)
        d_u, d_new = d_new, d_u
    cuts = [np.pad(cut, 2, constant_values=0.3) for cut in cuts]
    plt.imsave(path, np.kron(np.hstack(cuts), np.ones((3, 3))), cmap="inferno")  # pyright: ignore[reportUnknownMemberType]
    print(f"  wrote {path}")


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n, steps = (256, 50) if on_gpu else (64, 20)
    r = 0.125  # dt / dx^2, stable up to 1/6
    print(f"{steps} heat steps of a cube of {n}^3 float32 on {device.name}")

    cube = np.zeros((n, n, n), dtype=np.float32)
    cube[n // 4 : n // 2, n // 4 : n // 2, n // 4 : n // 2] = 1.0

    d_u, d_new = cuda.to_device(cube), cuda.to_device(cube)
    block = (32, 4, 2)
    grid = tuple(-(-n // b) for b in block)
    for _ in range(steps):
        heat[grid, block](d_u, d_new, r)
        d_u, d_new = d_new, d_u
    out = d_u.copy_to_host()

    u, new = cube.astype(np.float64), cube.astype(np.float64)
    inner = np.s_[1:-1, 1:-1, 1:-1]
    for _ in range(steps):
        around = (
            u[:-2, 1:-1, 1:-1]
            + u[2:, 1:-1, 1:-1]
            + u[1:-1, :-2, 1:-1]
            + u[1:-1, 2:, 1:-1]
            + u[1:-1, 1:-1, :-2]
            + u[1:-1, 1:-1, 2:]
        )
        new[inner] = u[inner] + r * (around - 6.0 * u[inner])
        u, new = new, u
    # The scheme is a weighted mean, so errors do not grow from step to step. One step adds at most:
    # five additions and the subtraction on values up to 6 (6 * 6 * eps/2, times r), and two
    # roundings of values up to 1.
    bound = steps * (36 * r + 2) * np.finfo(np.float32).eps / 2
    error = np.abs(out - u).max()
    correct = bool(error <= bound)
    print(
        f"  heat kept: {out.sum(dtype=np.float64) / cube.sum():.6f}, largest error {error:.2e}, bound {bound:.2e}"
    )
    if "--picture" in sys.argv:
        draw(sys.argv[sys.argv.index("--picture") + 1])
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
