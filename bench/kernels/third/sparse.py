"""Sparse matrices times vectors in the forms ELL, COO and BSR, and tridiagonal systems by Thomas'
algorithm.
"""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled, sum_bound
from kernels.third.texts import sides
from pyptx import cuda


def ell_spmv(column, value, x, y):
    """ELLPACK: slot k of every row side by side; a column of -1 fills up (Bell and Garland, 2009).
    """
    row = cuda.grid(1)
    if row < y.size:
        total = 0.0
        for k in range(column.shape[0]):
            at = column[k, row]
            if at >= 0:
                total += value[k, row] * x[at]
        y[row] = total


def coo_spmv(row, column, value, x, y):
    """Coordinates: a thread for each element, which is added to its row atomically."""
    k = cuda.grid(1)
    if k < value.size:
        cuda.atomic.add(y, row[k], value[k] * x[column[k]])


def bsr_spmv(start, column, blocks, x, y):
    """Rows of small dense blocks; a thread for each row of the matrix."""
    i = cuda.grid(1)
    if i >= y.size:
        return
    size = blocks.shape[1]
    part = i % size
    total = 0.0
    for k in range(start[i // size], start[i // size + 1]):
        for c in range(size):
            total += blocks[k, part, c] * x[column[k] * size + c]
    y[i] = total


def thomas(lower, diagonal, upper, right, scratch, solution):
    """A tridiagonal system in each column, without pivoting (Thomas, 1949)."""
    i = cuda.grid(1)
    if i >= solution.shape[1]:
        return
    rows = solution.shape[0]
    scratch[0, i] = upper[0, i] / diagonal[0, i]
    solution[0, i] = right[0, i] / diagonal[0, i]
    for k in range(1, rows):
        pivot = diagonal[k, i] - lower[k, i] * scratch[k - 1, i]
        scratch[k, i] = upper[k, i] / pivot
        solution[k, i] = (right[k, i] - lower[k, i] * solution[k - 1, i]) / pivot
    for k in range(rows - 2, -1, -1):
        solution[k, i] -= scratch[k, i] * solution[k + 1, i]


def ell_problem(rng, n):
    """n rows of 8 to 24 elements near the diagonal."""
    slots = 24
    column = (np.arange(n) + rng.integers(-2000, 2001, (slots, n))) % n
    column = np.where(np.arange(slots)[:, None] < rng.integers(8, slots + 1, n), column, -1).astype(np.int32)
    value, x = rng.standard_normal((slots, n)), rng.standard_normal(n)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1 << 16)
        terms = np.where(column[:, some] >= 0, value[:, some] * x[column[:, some]], 0)
        return [(some, terms.sum(axis=0), 2 * sum_bound(slots, np.abs(terms).sum(axis=0), EPS64))]  # NumPy rounds too

    arguments = (column, value, x, np.zeros(n))
    filled = int(np.count_nonzero(column >= 0))
    moved = 4 * slots * n + 8 * filled + 16 * n
    return Problem(arguments, (slots, n), (3,), expected, threads=n, bytes=moved, flops=2 * filled)


def coo_problem(rng, n):
    """n elements of a matrix of n / 11 rows, sorted by rows."""
    rows = n // 11 + 1
    row, column = np.sort(rng.integers(0, rows, n)).astype(np.int32), rng.integers(0, rows, n).astype(np.int32)
    value, x = rng.standard_normal(n, np.float32), rng.standard_normal(rows, np.float32)

    def expected():
        terms = value.astype(np.float64) * x[column]
        exact, sizes = (np.bincount(row, v, rows) for v in (terms, np.abs(terms)))
        return [(np.s_[:], exact, sum_bound(np.bincount(row, minlength=rows), sizes))]

    arguments = (row, column, value, x, np.zeros(rows, np.float32))
    return Problem(arguments, (n, rows), (4,), expected, threads=n, bytes=12 * n + 8 * rows, flops=2 * n)


def bsr_problem(rng, n):
    """n rows of 3 x 3 blocks, five to thirteen in each."""
    size = 3
    start = np.concatenate([[0], np.cumsum(rng.integers(5, 14, n))]).astype(np.int32)
    count = int(start[-1])
    column = rng.integers(0, n, count).astype(np.int32)
    blocks, x = rng.standard_normal((count, size, size), np.float32), rng.standard_normal(n * size, np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1 << 13)
        exact, bound = np.zeros((len(some), size)), np.zeros((len(some), size))
        for at, i in enumerate(some):
            places = np.s_[start[i] : start[i + 1]]
            terms = blocks[places].astype(np.float64) * x.reshape(n, size)[column[places]][:, None, :]
            exact[at] = terms.sum(axis=(0, 2))
            bound[at] = sum_bound(terms.shape[0] * size, np.abs(terms).sum(axis=(0, 2)))
        return [((some[:, None] * size + np.arange(size)).ravel(), exact.ravel(), bound.ravel())]

    arguments = (start, column, blocks, x, np.zeros(n * size, np.float32))
    moved = 4 * (n + count) + 4 * blocks.size + 8 * n * size
    extents = (n + 1, count, size, n * size)
    return Problem(arguments, extents, (4,), expected, threads=n * size, bytes=moved, flops=2 * blocks.size)


def thomas_problem(rng, n):
    """n systems of 127 rows, diagonally dominant."""
    rows = 127 if n > 1000 else 21
    lower, upper = rng.uniform(-1, 1, (rows, n)), rng.uniform(-1, 1, (rows, n))
    diagonal, right = rng.uniform(3, 4, (rows, n)), rng.standard_normal((rows, n))

    def expected():
        some = sampled(np.random.default_rng(0), n, 4096)
        a, b, c, d = (v[:, some] for v in (lower, diagonal, upper, right))
        fill, x = np.zeros_like(b), np.zeros_like(b)
        fill[0], x[0] = c[0] / b[0], d[0] / b[0]
        for k in range(1, rows):
            pivot = b[k] - a[k] * fill[k - 1]
            fill[k], x[k] = c[k] / pivot, (d[k] - a[k] * x[k - 1]) / pivot
        for k in range(rows - 2, -1, -1):
            x[k] -= fill[k] * x[k + 1]
        # Higham, Accuracy and Stability, theorem 9.14: |error| <= 5 eps/2 |inverse| |L| |U| |x| or
        # so; the inverse's norm is at most 1 / (3 - 2), |L| |U| at most 3 times the matrix's norm
        # of 6: some 45 eps, which both sides have.
        return [(np.s_[:, some], x, 100 * EPS64 * np.abs(x).max(axis=0))]

    arguments = (lower, diagonal, upper, right, np.zeros((rows, n)), np.zeros((rows, n)))
    return Problem(arguments, (rows, n), (5,), expected, threads=n, bytes=40 * rows * n, flops=8 * rows * n)


COO_CUDA = """
__global__ void coo_spmv(const int *row, const int *column, const float *value, const float *x, float *y, int n, int rows) {
  INDEX k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < n)
    atomicAdd(&y[row[k]], value[k] * x[column[k]]);
}
"""

KERNELS = [
    Kernel(
        "sparse, ELL", ell_spmv, "int32[:,::1], float64[:,::1], float64[::1], float64[::1]",
        256, ell_problem, gpu=3_000_017, host=300_007, test=1003, kind="irregular",
        **sides(
            "ell_spmv", "const int *column, const double *value, const double *x, double *y, int slots, int n",
            [("row", "0", "n")],
            """
double total = 0.0;
for (INDEX k = 0; k < slots; k++) {
  int at = column[k * n + row];
  if (at >= 0)
    total += value[k * n + row] * x[at];
}
y[row] = total;
""",
        ),
    ),
    Kernel(
        "sparse, COO", coo_spmv, "int32[::1], int32[::1], float32[::1], float32[::1], float32[::1]",
        256, coo_problem, gpu=16_000_003, host=4_000_037, test=3001, kind="irregular",
        cuda=COO_CUDA.replace("INDEX k = ", "long long k = (long long)"), cuda_int=COO_CUDA.replace("INDEX", "int"),
        openmp="""
void coo_spmv(const int *row, const int *column, const float *value, const float *x, float *y, int n, int rows) {
#pragma omp parallel for
  for (int k = 0; k < n; k++) {
#pragma omp atomic
    y[row[k]] += value[k] * x[column[k]];
  }
}
""",
    ),
    Kernel(
        "sparse, BSR", bsr_spmv, "int32[::1], int32[::1], float32[:,:,::1], float32[::1], float32[::1]",
        128, bsr_problem, gpu=1_000_003, host=150_001, test=301, kind="irregular",
        **sides(
            "bsr_spmv",
            "const int *start, const int *column, const float *blocks, const float *x, float *y, int starts, int count, "
            "int size, int n",
            [("i", "0", "n")],
            """
INDEX part = i % size;
float total = 0.0f;
for (INDEX k = start[i / size]; k < start[i / size + 1]; k++)
  for (INDEX c = 0; c < size; c++)
    total += blocks[(k * size + part) * size + c] * x[column[k] * size + c];
y[i] = total;
""",
        ),
    ),
    Kernel(
        "tridiagonal systems", thomas,
        "float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1]",
        128, thomas_problem, gpu=100_003, host=30_011, test=203,
        **sides(
            "thomas",
            "const double *lower, const double *diagonal, const double *upper, const double *right, double *scratch, "
            "double *solution, int rows, int n",
            [("i", "0", "n")],
            """
scratch[i] = upper[i] / diagonal[i];
solution[i] = right[i] / diagonal[i];
for (INDEX k = 1; k < rows; k++) {
  double pivot = diagonal[k * n + i] - lower[k * n + i] * scratch[(k - 1) * n + i];
  scratch[k * n + i] = upper[k * n + i] / pivot;
  solution[k * n + i] = (right[k * n + i] - lower[k * n + i] * solution[(k - 1) * n + i]) / pivot;
}
for (INDEX k = rows - 2; k >= 0; k--)
  solution[k * n + i] -= scratch[k * n + i] * solution[(k + 1) * n + i];
""",
        ),
    ),
]  # fmt: skip
