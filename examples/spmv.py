"""Sparse matrix times vector in compressed sparse row (CSR) form, one thread per row."""

import sys

import numpy as np
import numpy.typing as npt
from pyptx import cuda

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]


@cuda.jit
def spmv(row_start: cuda.Array, column: cuda.Array, value: cuda.Array, x: cuda.Array, y: cuda.Array) -> None:
    row = cuda.grid(1)
    if row < y.size:
        acc = 0.0
        for k in range(row_start[row], row_start[row + 1]):
            acc += value[k] * x[column[k]]
        y[row] = acc


def random_csr(rng: np.random.Generator, rows: int, cols: int, mean: float) -> tuple[Ints, Ints, Floats]:
    """Rows with a Poisson number of non-zeros: (row_start, column, value)."""
    counts = rng.poisson(mean, rows)
    row_start = np.zeros(rows + 1, dtype=np.int32)
    np.cumsum(counts, out=row_start[1:])
    nonzeros = int(row_start[-1])
    column = rng.integers(0, cols, nonzeros, dtype=np.int32)
    value = rng.standard_normal(nonzeros, dtype=np.float32)
    return row_start, column, value


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n = 1_000_000 if on_gpu else 50_000
    rng = np.random.default_rng(11)
    row_start, column, value = random_csr(rng, n, n, 20)
    x = rng.standard_normal(n, dtype=np.float32)
    print(f"CSR matrix of {n:,} rows with {value.size:,} non-zeros times a vector, float32, on {device.name}")

    d_y = cuda.device_array(n, dtype=np.float32)
    threads = 128
    spmv[(n + threads - 1) // threads, threads](
        cuda.to_device(row_start), cuda.to_device(column), cuda.to_device(value), cuda.to_device(x), d_y
    )

    counts = np.diff(row_start)
    rows = np.repeat(np.arange(n), counts)
    products = value.astype(np.float64) * x[column]
    expected = np.bincount(rows, weights=products, minlength=n)
    # A row of c products, fused or not, is off by at most c * eps/2 * sum |a| |x|; rows without
    # elements are exact.
    bound = counts * np.finfo(np.float32).eps / 2 * np.bincount(rows, weights=np.abs(products), minlength=n)
    error = np.abs(d_y.copy_to_host() - expected)
    correct = bool(np.all(error <= bound))
    print(f"  largest error {np.max(error / np.maximum(bound, 1e-300)):.3f} of the bound")
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
