"""Vector add: out[i] = x[i] + y[i], and its time compared with NumPy's.

python examples/vector_add.py          # the GPU if there is one, else the host device
PYPTX_DEVICE=host python examples/vector_add.py
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from pyptx import cuda


@cuda.jit
def vector_add(x: cuda.Array, y: cuda.Array, out: cuda.Array) -> None:
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def best_seconds(work: Callable[[], object], repeat: int = 5) -> float:
    """The shortest of several runs: the others were disturbed by something else."""
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n = 1 << 26 if on_gpu else 1 << 22
    print(f"vector add of {n:,} float32 on {device.name}")

    rng = np.random.default_rng(1)
    x = rng.random(n, dtype=np.float32)
    y = rng.random(n, dtype=np.float32)

    threads = 256
    blocks = (n + threads - 1) // threads

    # NumPy arrays can be passed as they are: they are copied in, and out is copied back.
    out = np.empty_like(x)
    vector_add[blocks, threads](x, y, out)
    expected = x + y
    # One addition is rounded the same way everywhere: the results are equal to the last bit.
    correct = np.array_equal(out, expected)

    # For the time of the kernel alone the arrays stay on the device.
    d_x, d_y, d_out = cuda.to_device(x), cuda.to_device(y), cuda.device_array_like(x)

    def launch() -> None:
        vector_add[blocks, threads](d_x, d_y, d_out)
        cuda.synchronize()

    launch()
    correct = correct and np.array_equal(d_out.copy_to_host(), expected)

    kernel = best_seconds(launch)
    numpy = best_seconds(lambda: np.add(x, y, out=expected))
    for name, seconds in (("pyptx", kernel), ("NumPy", numpy)):
        print(f"  {name}  {seconds * 1e3:8.3f} ms  {3 * x.nbytes / seconds / 1e9:8.1f} GB/s")
    print(f"  NumPy's time / pyptx's: {numpy / kernel:.1f}")
    print("equal to NumPy" if correct else "NOT equal to NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
