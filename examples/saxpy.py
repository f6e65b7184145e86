"""saxpy: y[i] = a * x[i] + y[i] with a Python float for a.

A Python float takes the type of the array it meets, so the arithmetic is float32 throughout: no
float64 sneaks in.
"""

import sys

import numpy as np
from pyptx import cuda


@cuda.jit
def saxpy(a: float, x: cuda.Array, y: cuda.Array) -> None:
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i]


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n = 1 << 24 if on_gpu else 1 << 20
    a = 2.7
    print(f"saxpy of {n:,} float32 on {device.name}")

    rng = np.random.default_rng(2)
    x = rng.standard_normal(n, dtype=np.float32)
    y = rng.standard_normal(n, dtype=np.float32)
    d_y = cuda.to_device(y)
    # forall chooses the block size and launches at least n threads.
    saxpy.forall(n)(a, cuda.to_device(x), d_y)
    out = d_y.copy_to_host()

    # The exact result, in float64 from the float32 values of a, x and y.
    product = np.float64(np.float32(a)) * x.astype(np.float64)
    expected = product + y
    # Multiply and add are fused into one rounding (error eps/2 of the result); unfused there would
    # be a second one, of the product. Either way the error is at most eps/2 * (|a x| + |a x + y|).
    half_eps = np.finfo(np.float32).eps / 2
    error = np.abs(out - expected)
    bound = half_eps * (np.abs(product) + np.abs(expected)) + np.finfo(np.float32).tiny
    correct = bool(np.all(error <= bound))
    print(f"  largest error {error.max():.2e}, {np.max(error / bound):.2f} of the bound")
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
