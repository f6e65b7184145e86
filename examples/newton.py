"""Newton's fractal: which root of z**3 = 1 Newton's method finds from each point of the plane, in complex64."""

import sys

import numpy as np
import numpy.typing as npt
from pyptx import cuda

ROOTS = np.exp(2j * np.pi * np.arange(3) / 3).astype(np.complex64)  # frozen: in constant memory


@cuda.jit(device=True)
def newton(z: np.complexfloating, steps: int) -> np.complexfloating:
    for _ in range(steps):
        z -= (z**3 - 1) / (3 * z**2)
    return z


@cuda.jit
def basins(corner: np.complex64, width: float, steps: int, limit: cuda.Array, root: cuda.Array) -> None:
    """limit[i, j]: where the method ends; root[i, j]: the number of the nearest root."""
    j, i = cuda.grid(2)
    rows, columns = limit.shape
    if i < rows and j < columns:
        z = newton(corner + complex(j * width / columns, i * width / rows), steps)
        limit[i, j] = z
        best = 0
        for k in range(1, 3):
            if abs(z - ROOTS[k]) < abs(z - ROOTS[best]):
                best = k
        root[i, j] = best


def main() -> int:
    device = cuda.get_current_device()
    n, steps = (2048 if not device.is_host else 256), 40
    print(f"Newton's method for z**3 = 1 from {n} x {n} points of complex64 on {device.name}")
    corner, width = np.complex64(-1.5 - 1.51j), 3.0
    limit, root = np.zeros((n, n), np.complex64), np.zeros((n, n), np.uint8)
    grid, block = (-(-n // 16), -(-n // 16)), (16, 16)
    basins[grid, block](corner, width, steps, limit, root)
    cuda.synchronize()

    z = corner + (np.arange(n) * width / n + 1j * np.arange(n)[:, None] * width / n).astype(np.complex64)
    with np.errstate(all="ignore"):
        for _ in range(steps):
            z -= (z**3 - 1) / (3 * z**2)
    want: npt.NDArray[np.intp] = np.argmin(np.abs(z[..., None] - ROOTS), axis=-1)

    # The last step starts within rounding of the root and has four roundings of numbers near 1: 4 eps.
    distance = np.abs(limit - ROOTS[root])
    settled = np.mean(distance <= 4 * np.finfo(np.float32).eps)
    # Neighbouring points end at different roots on the basins' boundary, where the last bit of the
    # start decides. It has measure zero: few pixels meet it.
    same = (root == want).mean()
    correct = settled > 0.99 and same > 0.99
    print(f"  {100 * settled:.2f} % at a root; {100 * same:.2f} % at the same one as in NumPy")
    print("equal to NumPy but for the boundary" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
