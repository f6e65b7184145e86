"""Matrices: a step of LU decomposition and PolyBench's syr2k in float64, the min-plus product of
distances in int32.
"""

import numpy as np
from kernels.declare import EPS64, PLANE, Kernel, Problem, sampled, sum_bound
from kernels.third.texts import sides
from pyptx import cuda


def lu_step(matrix, k):
    """Gaussian elimination's step k without pivoting: the rows below lose their multiple of row k.
    """
    j, i = cuda.grid(2)
    if k < i < matrix.shape[0] and k < j < matrix.shape[1]:
        matrix[i, j] -= matrix[i, k] / matrix[k, k] * matrix[k, j]


def syr2k(alpha, a, b, beta, c):
    """PolyBench's syr2k: the lower triangle of alpha (A B^T + B A^T) + beta C."""
    j, i = cuda.grid(2)
    if i < c.shape[0] and j <= i:
        total = 0.0
        for k in range(a.shape[1]):
            total += a[i, k] * b[j, k] + b[i, k] * a[j, k]
        c[i, j] = alpha * total + beta * c[i, j]


def min_plus(a, b, out, middle):
    """The shortest way from i to j through some k, and that k: a product of all-pairs shortest
    paths.
    """
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        shortest = a[i, 0] + b[0, j]
        through = 0
        for k in range(1, a.shape[1]):
            length = a[i, k] + b[k, j]
            if length < shortest:
                shortest = length
                through = k
        out[i, j] = shortest
        middle[i, j] = through


def lu_problem(rng, n):
    """A step after a seventh of the columns."""
    matrix, k = rng.uniform(1, 2, (n, n)), n // 7

    def expected():
        some = sampled(np.random.default_rng(0), n, 256)
        rows = matrix[some].copy()
        below = some > k
        product = matrix[some, k, None] / matrix[k, k] * matrix[k]
        off = np.where(below[:, None] & (np.arange(n) > k), product, 0)
        # A quotient, a product and a difference, on both sides.
        bound = np.where(off == 0, 0, EPS64 * (3 * np.abs(off) + np.abs(rows)))
        return [(some, rows - off, bound)]

    inner = (n - 1 - k) ** 2
    return Problem((matrix, k), (n, n), (0,), expected, threads=(n, n), bytes=16 * inner, flops=3 * inner)


def syr2k_problem(rng, n):
    """n rows of n / 2 numbers."""
    depth = n // 2 + 1
    a, b, c = rng.standard_normal((n, depth)), rng.standard_normal((n, depth)), rng.standard_normal((n, n))
    alpha, beta = np.float64(0.75), np.float64(0.5)

    def expected():
        some = sampled(np.random.default_rng(0), n, 128)
        lower = np.arange(n) <= some[:, None]
        exact = alpha * (a[some] @ b.T + b[some] @ a.T) + beta * c[some]
        sizes = alpha * (np.abs(a[some]) @ np.abs(b.T) + np.abs(b[some]) @ np.abs(a.T)) + beta * np.abs(c[some])
        bound = np.where(lower, 2 * sum_bound(2 * depth + 3, sizes, EPS64), 0)  # NumPy rounds too
        return [(some, np.where(lower, exact, c[some]), bound)]

    moved = 8 * (2 * n * depth + n * n)
    return Problem(
        (alpha, a, b, beta, c), (n, depth), (4,), expected, threads=(n, n), bytes=moved, flops=2 * depth * n * n
    )


def min_plus_problem(rng, n):
    """Distances between three groups of points of n, 3 n / 4 and n."""
    depth = 3 * n // 4 + 1
    a, b = rng.integers(1, 1_000_000, (n, depth)).astype(np.int32), rng.integers(1, 1_000_000, (depth, n)).astype(np.int32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 64)
        shortest, through = np.full((len(some), n), np.iinfo(np.int32).max), np.zeros((len(some), n), int)
        for k in range(depth):
            length = a[some, k, None] + b[k]
            through = np.where(length < shortest, k, through)
            shortest = np.minimum(shortest, length)
        return [(some, shortest, 0), (some, through, 0)]

    arguments = (a, b, np.zeros((n, n), np.int32), np.zeros((n, n), np.int32))
    moved = 8 * n * depth + 8 * n * n
    return Problem(arguments, (n, depth), (2, 3), expected, threads=(n, n), bytes=moved, flops=2 * depth * n * n)


KERNELS = [
    Kernel(
        "LU, a step", lu_step, "float64[:,::1], pyint",
        (32, 8), lu_problem, gpu=6151, host=4099, test=61, power=2, kind="streaming", sweep=PLANE,
        **sides(
            "lu_step", "double *matrix, int k, int rows, int cols", [("i", "k + 1", "rows"), ("j", "k + 1", "cols")],
            "matrix[i * cols + j] -= matrix[i * cols + k] / matrix[(INDEX)k * cols + k] * matrix[(INDEX)k * cols + j];",
        ),
    ),
    Kernel(
        "PolyBench syr2k", syr2k, "float64, float64[:,::1], float64[:,::1], float64, float64[:,::1]",
        (16, 16), syr2k_problem, gpu=1021, host=503, test=45, power=3,
        **sides(
            "syr2k", "double alpha, const double *a, const double *b, double beta, double *c, int n, int depth",
            [("i", "0", "n"), ("j", "0", "i + 1")],
            """
double total = 0.0;
for (INDEX k = 0; k < depth; k++)
  total += a[i * depth + k] * b[j * depth + k] + b[i * depth + k] * a[j * depth + k];
c[i * n + j] = alpha * total + beta * c[i * n + j];
""",
            schedule=" schedule(dynamic, 8)",
        ),
    ),
    Kernel(
        "min-plus product", min_plus, "int32[:,::1], int32[:,::1], int32[:,::1], int32[:,::1]",
        (32, 8), min_plus_problem, gpu=1021, host=401, test=45, power=3,
        **sides(
            "min_plus", "const int *a, const int *b, int *out, int *middle, int n, int depth",
            [("i", "0", "n"), ("j", "0", "n")],
            """
int shortest = a[i * depth] + b[j];
INDEX through = 0;
for (INDEX k = 1; k < depth; k++) {
  int length = a[i * depth + k] + b[k * n + j];
  if (length < shortest) {
    shortest = length;
    through = k;
  }
}
out[i * n + j] = shortest;
middle[i * n + j] = through;
""",
        ),
    ),
]  # fmt: skip
