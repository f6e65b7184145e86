"""Ufuncs and a reduction: the distance of many points to a few centres, the nearest one, and the mean, without writing a kernel."""

import sys

import numpy as np
from pyptx import cuda, guvectorize, vectorize


@vectorize(["float64(float64, float64)"], target="cuda", fma=False)
def squared(a: float, b: float) -> float:
    return (a - b) * (a - b)


@guvectorize(["void(float64[:], int64[:])"], "(n)->()", target="cuda")
def smallest(values: cuda.Array, index: cuda.Array) -> None:
    best = 0
    for i in range(values.shape[0]):
        if values[i] < values[best]:
            best = i
    index[0] = best


@cuda.reduce
def add(a: float, b: float) -> float:
    return a + b


def main() -> int:
    device = cuda.get_current_device()
    points, centres = (1 << 20 if not device.is_host else 1 << 16), 8
    print(f"the nearest of {centres} centres for {points:,} points on {device.name}")

    rng = np.random.default_rng(7)
    x, y = rng.random((2, points, 1))
    cx, cy = rng.random((2, centres))
    d_x, d_y = cuda.to_device(x), cuda.to_device(y)
    # (points, 1) and (centres,) broadcast to (points, centres); all stays on the device.
    d_dx, d_dy = squared(d_x, cx), squared(d_y, cy)
    d_distance = vectorize(lambda a, b: a + b)(d_dx, d_dy)
    nearest = smallest(d_distance).copy_to_host()
    totals = add(d_distance, axis=0).copy_to_host()

    distance = (x - cx) * (x - cx) + (y - cy) * (y - cy)
    same = np.array_equal(nearest, distance.argmin(axis=1))  # without fma every rounding is NumPy's
    # No element takes part in more than `points` additions, each with a relative error of eps/2.
    bound = points * np.finfo(np.float64).eps / 2 * distance.sum(axis=0)
    close = np.all(np.abs(totals - distance.sum(axis=0)) <= bound)
    print(f"  points of each centre: {np.bincount(nearest, minlength=centres)}")
    print("matches NumPy" if same and close else "does NOT match NumPy")
    return 0 if same and close else 1


if __name__ == "__main__":
    sys.exit(main())
