"""What the steps share: inputs, the comparison with NumPy, the time."""

import time

import numpy as np
from pyptx import bfloat16, cuda, float32


@cuda.jit
def convert(out: cuda.Array, x: cuda.Array) -> None:
    """To out's type: NumPy has no bfloat16."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        row, column = i // x.shape[1], i % x.shape[1]
        out[row, column] = out.dtype.type(x[row, column])


def random_bfloat16(rng: np.random.Generator, shape: tuple) -> tuple:
    """A device array of normal random numbers, and the same numbers as NumPy's float64."""
    numbers = cuda.device_array(shape, dtype=bfloat16)
    wide = cuda.to_device(rng.standard_normal(shape, dtype=np.float32))
    convert[256, 256](numbers, wide)
    convert[256, 256](wide, numbers)
    return numbers, wide.copy_to_host().astype(np.float64)


def check(launch, m: int, n: int, k: int) -> bool:
    """Compares launch(a, b, c) with NumPy's product; prints how long it takes."""
    rng = np.random.default_rng(5)
    (d_a, a), (d_b, b) = random_bfloat16(rng, (m, k)), random_bfloat16(rng, (k, n))
    d_c = cuda.device_array((m, n), dtype=bfloat16)
    launch(d_a, d_b, d_c)  # compiles
    cuda.synchronize()
    start = time.perf_counter()
    launch(d_a, d_b, d_c)
    cuda.synchronize()
    seconds = time.perf_counter() - start
    got = cuda.device_array((m, n), dtype=float32)
    convert[256, 256](got, d_c)
    # Sums of k exact products in float32: k roundings or truncations, each of at most 2**-23 of the
    # sum of the sizes; then one rounding of the result to the 8 bits of a bfloat16.
    want, size = a @ b, np.abs(a) @ np.abs(b)
    bound = 2.0**-8 * np.abs(want) + (1 + 2.0**-8) * k * 2.0**-23 * size
    share = np.max(np.abs(got.copy_to_host() - want) / bound)
    print(f"  {seconds * 1e3:8.3f} ms  {2 * m * n * k / seconds / 1e12:8.4f} TFLOP/s  largest error {share:.4f} of the bound")
    return bool(share <= 1)


def main(launch, capability: tuple = (5, 0)) -> int:
    """Checks a step, which needs that compute capability, at a small size on the host device and
    at 4096 on a GPU; 1 if it is wrong."""
    device = cuda.get_current_device()
    m, n, k = (256, 512, 448) if device.is_host else (4096, 4096, 4096)
    print(f"{m} x {k} by {k} x {n} bfloat16, sums in float32, on {device.name}")
    has = device.compute_capability
    if not device.is_host and (has < capability or capability[0] == 9 != has[0]):
        print(f"this step needs compute capability {capability[0]}.{capability[1]}")
        return 0
    correct = check(launch, m, n, k)
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1
