"""A matrix and a vector: a thread or a block for each row, the transposed product, and gesummv of
PolyBench.

As many threads as the matrix has rows or columns are few for a GPU.
"""

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, WIDTHS, Kernel, Problem, sampled, sum_bound, tree
from kernels.texts import each, indexed
from pyptx import cuda, float64

WIDTH = 256


def matvec_threads(a, x, y):
    """A thread for each row."""
    row = cuda.grid(1)
    if row < a.shape[0]:
        s = np.float32(0)
        for k in range(a.shape[1]):
            s += a[row, k] * x[k]
        y[row] = s


def matvec_blocks(a, x, y):
    """The threads of a block take a row in turn; their sums are added in shared memory."""
    parts = cuda.shared.array(WIDTH, float64)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    s = 0.0
    for k in range(t, a.shape[1], cuda.blockDim.x):
        s += a[row, k] * x[k]
    parts[t] = s
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            parts[t] += parts[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        y[row] = parts[0]


def matvec_transposed(a, x, y):
    """A thread for each column."""
    col = cuda.grid(1)
    if col < a.shape[1]:
        s = np.float32(0)
        for k in range(a.shape[0]):
            s += a[k, col] * x[k]
        y[col] = s


def gesummv(alpha, beta, a, b, x, y):
    """y = alpha A x + beta B x, a thread for each row."""
    i = cuda.grid(1)
    if i >= y.size:
        return
    first = 0.0
    second = 0.0
    for j in range(x.size):
        first += a[i, j] * x[j]
        second += b[i, j] * x[j]
    y[i] = alpha * first + beta * second


def product(rng, m, n, dtype, transposed, additions, **launch):
    """The Problem of y = A x, or A^T x, with m rows and n columns."""
    a = rng.uniform(-1, 1, (m, n)).astype(dtype)
    x = rng.uniform(-1, 1, m if transposed else n).astype(dtype)
    y = np.zeros(n if transposed else m, dtype)

    def expected():
        some = sampled(np.random.default_rng(0), y.size, 1000)
        rows = (a[:, some].T if transposed else a[some]).astype(np.float64)
        eps = EPS32 if dtype == np.float32 else 2 * EPS64  # NumPy's sum in float64 has an error too
        bound = sum_bound(additions, np.abs(rows) @ np.abs(x.astype(np.float64)), eps)
        return [(some, rows @ x.astype(np.float64), bound)]

    return Problem(
        (a, x, y), (m, n), (2,), expected, bytes=a.itemsize * (m * n + m + n), flops=2 * m * n,
        sequential=max(1, x.size / additions), **launch,
    )  # fmt: skip


def threads_problem(rng, n, width=4099):
    """n rows."""
    return product(rng, n, width, np.float32, False, width, threads=n)


def blocks_problem(rng, n, width=5003):
    """n rows."""
    return product(rng, n, width, np.float64, False, -(-width // WIDTH) + tree(WIDTH), grid=n)


def transposed_problem(rng, n, width=2053):
    """n columns of so many numbers."""
    return product(rng, width, n, np.float32, True, width, threads=n)


def gesummv_problem(rng, n, width=3001):
    """n rows."""
    m, alpha, beta = width, np.float64(1.25), np.float64(-0.5)
    a, b, x = rng.uniform(-1, 1, (n, m)), rng.uniform(-1, 1, (n, m)), rng.uniform(-1, 1, m)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1000)
        sizes = 1.25 * (np.abs(a[some]) @ np.abs(x)) + 0.5 * (np.abs(b[some]) @ np.abs(x))
        return [(some, alpha * (a[some] @ x) + beta * (b[some] @ x), 2 * sum_bound(m + 2, sizes, EPS64))]

    return Problem(
        (alpha, beta, a, b, x, np.zeros(n)), (n, m), (5,), expected, threads=n, bytes=8 * (2 * n * m + n + m), flops=4 * n * m
    )


THREADS = each(
    "matvec_threads(const float *a, const float *x, float *y, int rows, int cols)",
    """
    float s = 0;
    for (INDEX k = 0; k < cols; k++)
      s += a[row * cols + k] * x[k];
    y[row] = s;
""",
    extent="rows", index="row",
)  # fmt: skip

BLOCKS = indexed(
    """
__global__ void matvec_blocks(const double *a, const double *x, double *y, int rows, int cols) {
  __shared__ double parts[256];
  INDEX row = blockIdx.x, t = threadIdx.x;
  double s = 0;
  for (INDEX k = t; k < cols; k += blockDim.x)
    s += a[row * cols + k] * x[k];
  parts[t] = s;
  __syncthreads();
  for (INDEX half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half)
      parts[t] += parts[t + half];
    __syncthreads();
  }
  if (t == 0)
    y[row] = parts[0];
}
""",
    """
void matvec_blocks(const double *a, const double *x, double *y, int rows, int cols) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    double s = 0;
    for (int k = 0; k < cols; k++)
      s += a[row * cols + k] * x[k];
    y[row] = s;
  }
}
""",
)

TRANSPOSED = indexed(
    """
__global__ void matvec_transposed(const float *a, const float *x, float *y, int rows, int cols) {
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (col < cols) {
    float s = 0;
    for (INDEX k = 0; k < rows; k++)
      s += a[k * cols + col] * x[k];
    y[col] = s;
  }
}
""",
    """
void matvec_transposed(const float *a, const float *x, float *y, int rows, int cols) {
#pragma omp parallel for
  for (int from = 0; from < cols; from += 512) {
    int to = MIN(from + 512, cols);
    for (int col = from; col < to; col++)
      y[col] = 0;
    for (int k = 0; k < rows; k++)
      for (int col = from; col < to; col++)
        y[col] += a[k * cols + col] * x[k];
  }
}
""",
)

GESUMMV = each(
    "gesummv(double alpha, double beta, const double *a, const double *b, const double *x, double *y, int n, int m)",
    """
    double first = 0, second = 0;
    for (INDEX j = 0; j < m; j++) {
      first += a[i * m + j] * x[j];
      second += b[i * m + j] * x[j];
    }
    y[i] = alpha * first + beta * second;
""",
)

KERNELS = [
    Kernel(
        "matrix times vector, thread a row", matvec_threads, "float32[:,::1], float32[::1], float32[::1]", 128,
        threads_problem, gpu=10_007, host=5003, test=131, sweep=LINE, widths=WIDTHS, **THREADS,
    ),
    Kernel(
        "matrix times vector, block a row", matvec_blocks, "float64[:,::1], float64[::1], float64[::1]", WIDTH,
        blocks_problem, gpu=10_007, host=5003, test=31, kind="shared", widths=WIDTHS, **BLOCKS,
    ),
    Kernel(
        "transposed matrix times vector", matvec_transposed, "float32[:,::1], float32[::1], float32[::1]", 64,
        transposed_problem, gpu=10_007, host=37_747, test=131, sweep=LINE, widths=WIDTHS, **TRANSPOSED,
    ),
    Kernel(
        "gesummv", gesummv, "float64, float64, float64[:,::1], float64[:,::1], float64[::1], float64[::1]", 128,
        gesummv_problem, gpu=10_007, host=7307, test=131, sweep=LINE, widths=WIDTHS, **GESUMMV,
    ),
]  # fmt: skip
