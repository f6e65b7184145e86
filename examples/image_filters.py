"""Image filters: Gaussian blur in two passes, Sobel's edges, and a median that removes specks.

python examples/image_filters.py [--picture OUT.png]
"""

import sys
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from pyptx import cuda, float32

Image = npt.NDArray[np.floating]
Filter = cuda.Dispatcher[[cuda.Array, cuda.Array]]  # a kernel of two arrays

RADIUS = 6
SIGMA = 2.5
BELL = np.exp(-0.5 * (np.arange(-RADIUS, RADIUS + 1) / SIGMA) ** 2)
WEIGHTS = (BELL / BELL.sum()).astype(np.float32)


def clamp(i: int, n: int) -> int:
    """The index i, or the nearest one inside: the picture goes on beyond its edge as it ends."""
    return min(max(i, 0), n - 1)


@cuda.jit
def blur_rows(image: cuda.Array, out: cuda.Array) -> None:
    """A weighted mean of the neighbours in a row. WEIGHTS is frozen into the compiled kernel."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        total = 0.0
        for k in range(2 * RADIUS + 1):
            total += WEIGHTS[k] * image[row, clamp(col + k - RADIUS, image.shape[1])]
        out[row, col] = total


@cuda.jit
def blur_columns(image: cuda.Array, out: cuda.Array) -> None:
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        total = 0.0
        for k in range(2 * RADIUS + 1):
            total += WEIGHTS[k] * image[clamp(row + k - RADIUS, image.shape[0]), col]
        out[row, col] = total


@cuda.jit(fma=False)
def sobel(image: cuda.Array, out: cuda.Array) -> None:
    """The length of the gradient. Without fused multiply-add it is NumPy's to the last bit."""
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row < rows and col < cols:
        up, down = clamp(row - 1, rows), clamp(row + 1, rows)
        left, right = clamp(col - 1, cols), clamp(col + 1, cols)
        dx = image[up, right] + 2 * image[row, right] + image[down, right]
        dx -= image[up, left] + 2 * image[row, left] + image[down, left]
        dy = image[down, left] + 2 * image[down, col] + image[down, right]
        dy -= image[up, left] + 2 * image[up, col] + image[up, right]
        out[row, col] = np.sqrt(dx * dx + dy * dy)


@cuda.jit
def median3(image: cuda.Array, out: cuda.Array) -> None:
    """The fifth of nine pixels in order. They are sorted in a local array, which each thread has."""
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row < rows and col < cols:
        nine = cuda.local.array(9, float32)
        for k in range(9):
            v = image[clamp(row + k // 3 - 1, rows), clamp(col + k % 3 - 1, cols)]
            at = k
            while at > 0 and nine[at - 1] > v:
                nine[at] = nine[at - 1]
                at -= 1
            nine[at] = v
        out[row, col] = nine[4]


def apply(image: Image, *kernels: Filter) -> Image:
    d = cuda.to_device(image)
    block = (32, 8)
    grid = (-(-image.shape[1] // 32), -(-image.shape[0] // 8))
    for kernel in kernels:
        out = cuda.device_array_like(d)
        kernel[grid, block](d, out)
        d = out
    return d.copy_to_host()


def scene(rows: int, cols: int) -> Image:
    """A picture to work on, made of formulas: hills under a sun, from 0 to 1, with specks of noise."""
    y, x = np.mgrid[0:rows, 0:cols] / rows
    image: Image = 0.85 - 0.4 * y
    image[(x - 0.35) ** 2 + (y - 0.28) ** 2 < 0.02] = 1
    for k, shade in enumerate((0.45, 0.3, 0.15)):
        image[y > 0.55 + 0.13 * k + 0.08 * np.sin((5 + 3 * k) * x + 2 * k)] = shade
    image += 0.02 * np.sin(60 * x) * np.sin(60 * y)
    specks = np.random.default_rng(11).random((2, rows, cols))
    image[specks[0] < 0.03] = specks[1][specks[0] < 0.03].round()
    return image.astype(np.float32)


def neighbours(image: Image, radius: int) -> Callable[[int, int], Image]:
    """Views of the image shifted by (row, column), as a function of both."""
    rows, cols = image.shape
    padded = np.pad(image, radius, mode="edge")
    return lambda r, c: padded[radius + r : radius + r + rows, radius + c : radius + c + cols]


def reference_blur(image: Image) -> Image:
    image = image.astype(np.float64)
    for axis in (0, 1):
        at = neighbours(image, RADIUS)
        image = np.sum([w * (at(0, k) if axis == 0 else at(k, 0))
                        for k, w in zip(range(-RADIUS, RADIUS + 1), WEIGHTS)], axis=0)  # fmt: skip
    return image


def reference_sobel(image: Image) -> Image:
    at = neighbours(image, 1)
    dx = at(-1, 1) + 2 * at(0, 1) + at(1, 1) - (at(-1, -1) + 2 * at(0, -1) + at(1, -1))
    dy = at(1, -1) + 2 * at(1, 0) + at(1, 1) - (at(-1, -1) + 2 * at(-1, 0) + at(-1, 1))
    return np.sqrt(dx * dx + dy * dy)


def reference_median(image: Image) -> Image:
    at = neighbours(image, 1)
    median: Image = np.median([at(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1)], axis=0)
    return median


def draw(path: str) -> None:
    import matplotlib.pyplot as plt

    image = scene(360, 480)
    edges = apply(image, median3, blur_rows, blur_columns, sobel)
    parts = [image, apply(image, blur_rows, blur_columns), apply(image, median3), 2 * edges]
    rows = [np.hstack(parts[:2]), np.hstack(parts[2:])]
    plt.imsave(path, np.clip(np.vstack(rows), 0, 1), cmap="gray", vmin=0, vmax=1)  # pyright: ignore[reportUnknownMemberType]
    print(f"  wrote {path}")


def main() -> int:
    device = cuda.get_current_device()
    rows, cols = (360, 480) if device.is_host else (2160, 3840)
    print(f"filters of {rows} x {cols} pixels in float32 on {device.name}")

    image = scene(rows, cols)
    # Each pass rounds 13 products and 13 sums of a mean of values between 0 and 1; its weights are
    # the same. An error of the first pass stays as it is in the second, whose weights add up to 1.
    bound = 2 * 26 * np.finfo(np.float32).eps / 2
    error = np.abs(apply(image, blur_rows, blur_columns) - reference_blur(image)).max()
    print(f"  blur: largest error {error:.1e}, bound {bound:.1e}")
    same = {
        "Sobel": np.array_equal(apply(image, sobel), reference_sobel(image)),
        "median": np.array_equal(apply(image, median3), reference_median(image)),
    }
    for name, equal in same.items():
        print(f"  {name}: {'equal' if equal else 'NOT equal'}")
    if "--picture" in sys.argv:
        draw(sys.argv[sys.argv.index("--picture") + 1])
    correct = bool(error <= bound) and all(same.values())
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
