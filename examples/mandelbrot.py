"""The Mandelbrot set: how many steps each point takes to leave a circle.

python examples/mandelbrot.py [--picture OUT.png]
"""

import sys

import numpy as np
import numpy.typing as npt
from pyptx import cuda


# Without fused multiply-add the arithmetic is NumPy's to the last bit. Near the edge of the set a
# last bit decides how many steps a point takes, so with fma=True (the default, and a little faster)
# a few pixels would differ.
@cuda.jit(fma=False)
def mandelbrot(left: np.float32, top: np.float32, pixel: np.float32, limit: int, steps: cuda.Array) -> None:
    col, row = cuda.grid(2)
    if row >= steps.shape[0] or col >= steps.shape[1]:
        return
    cr = left + col * pixel
    ci = top - row * pixel
    zr, zi = np.float32(0), np.float32(0)
    n = 0
    while n < limit and zr * zr + zi * zi <= 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        n += 1
    steps[row, col] = n


def reference(left: np.float32, top: np.float32, pixel: np.float32, limit: int, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
    """The same in NumPy, all points at once; points that have escaped are dropped."""
    rows, cols = np.indices(shape)
    cr = (left + cols.astype(np.float32) * pixel).ravel()
    ci = (top - rows.astype(np.float32) * pixel).ravel()
    zr, zi = np.zeros_like(cr), np.zeros_like(ci)
    steps = np.zeros(cr.size, dtype=np.int32)
    alive = np.arange(steps.size)
    for _ in range(limit):
        inside = zr * zr + zi * zi <= np.float32(4)
        alive, zr, zi, cr, ci = alive[inside], zr[inside], zi[inside], cr[inside], ci[inside]
        zr, zi = zr * zr - zi * zi + cr, np.float32(2) * zr * zi + ci
        steps[alive] += 1
    return steps.reshape(shape)


def colours(steps: npt.NDArray[np.int32], limit: int) -> npt.NDArray[np.uint8]:
    t = np.sqrt(steps / limit)[:, :, None]
    rgb: npt.NDArray[np.float64] = 9 * (1 - t) * t ** np.array([3.0, 2.0, 1.0]) * np.array([1.0, 2.0, 3.0]) * 85
    rgb[steps == limit] = 0
    return np.clip(rgb, 0, 255).astype(np.uint8)


def main() -> int:
    picture = "--picture" in sys.argv
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    height, width, limit = (1080, 1620, 200) if on_gpu or picture else (320, 480, 100)
    # NumPy scalars keep their type: these make the whole kernel float32.
    left, top, pixel = np.float32(-2.25), np.float32(1.2), np.float32(2.4 / height)
    print(f"Mandelbrot set, {width} x {height}, at most {limit} steps, on {device.name}")

    steps = np.empty((height, width), dtype=np.int32)
    mandelbrot[(-(-width // 32), -(-height // 8)), (32, 8)](left, top, pixel, limit, steps)
    if picture:
        import matplotlib.pyplot as plt

        path = sys.argv[sys.argv.index("--picture") + 1]
        plt.imsave(path, colours(steps, limit))  # pyright: ignore[reportUnknownMemberType]
        print(f"  wrote {path}")

    correct = np.array_equal(steps, reference(left, top, pixel, limit, steps.shape))
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
