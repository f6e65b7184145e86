"""Compensated sums after Kahan and Neumaier, Horner's rule, Legendre's recurrence."""

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, WIDTHS, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda

FULL = 0xFFFFFFFF


def neumaier_columns(x, sums):
    """A thread for each column; what an addition loses is kept apart."""
    col = cuda.grid(1)
    if col < x.shape[1]:
        total = np.float32(0)
        lost = np.float32(0)
        for row in range(x.shape[0]):
            value = x[row, col]
            new = total + value
            if abs(total) >= abs(value):
                lost += (total - new) + value
            else:
                lost += (value - new) + total
            total = new
        sums[col] = total + lost


def kahan_rows(x, sums):
    """A warp for each row; the lanes' sums are added plainly."""
    row = cuda.grid(1) // 32
    if row < x.shape[0]:
        total = np.float32(0)
        lost = np.float32(0)
        for k in range(cuda.laneid, x.shape[1], 32):
            value = x[row, k] - lost
            new = total + value
            lost = (new - total) - value
            total = new
        step = 16
        while step > 0:
            total += cuda.shfl_down_sync(FULL, total, step)
            step //= 2
        if cuda.laneid == 0:
            sums[row] = total


def polynomials(coefficients, x, values):
    """Horner's rule; the last coefficient is of the highest power."""
    i = cuda.grid(1)
    if i < x.size:
        degree = coefficients.size - 1
        value = coefficients[degree]
        for k in range(degree - 1, -1, -1):
            value = value * x[i] + coefficients[k]
        values[i] = value


def legendre_series(coefficients, x, values):
    """Sums of Legendre's polynomials, each from the two before it."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    t = x[i]
    before = 1.0
    now = t
    total = coefficients[0] + coefficients[1] * t
    for n in range(2, coefficients.size):
        before, now = now, ((2 * n - 1) * t * now - (n - 1) * before) / n
        total += coefficients[n] * now
    values[i] = total


def columns_problem(rng, n, width=20_011):
    """n rows of numbers of many sizes and both signs."""
    x = (rng.normal(size=(n, width)) * 2.0 ** rng.integers(-6, 7, (n, width))).astype(np.float32)

    def expected():
        exact, sizes = x.sum(axis=0, dtype=np.float64), np.abs(x).sum(axis=0, dtype=np.float64)
        # What is lost is summed in float32: a rounding of the sum, n² of what is lost.
        return [(np.s_[:], exact, EPS32 * np.abs(exact) + n * n * EPS32**2 * sizes)]

    return Problem(
        (x, np.zeros(width, np.float32)), (n, width), (1,), expected, threads=width, bytes=x.nbytes, flops=8 * x.size
    )


def rows_problem(rng, n, width=467):
    """n rows of positive numbers."""
    x = rng.random((n, width), np.float32)

    def expected():
        exact = x.sum(axis=1, dtype=np.float64)
        # A lane's sum is right but for 2 roundings; five additions follow.
        return [(np.s_[:], exact, 8 * EPS32 * exact)]

    return Problem(
        (x, np.zeros(n, np.float32)), (n, width), (1,), expected, threads=32 * n, bytes=x.nbytes, flops=4 * x.size
    )


def polynomial_problem(rng, n):
    """Degree 30, arguments in (-1, 1)."""
    c, x = rng.normal(size=31).astype(np.float32), rng.uniform(-1, 1, n).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 10_000)
        t = x[some].astype(np.float64)
        values, sizes = (np.polynomial.polynomial.polyval(abs_or_not(t), abs_or_not(c.astype(np.float64))) for abs_or_not in (np.array, np.abs))
        return [(some, values, 2 * len(c) * EPS32 * sizes)]

    return Problem((c, x, np.zeros(n, np.float32)), (len(c), n), (2,), expected, threads=n, bytes=8 * n, flops=60 * n)


def legendre_problem(rng, n):
    """Fifty-three terms, arguments in (-1, 1)."""
    c, x = rng.normal(size=53), rng.uniform(-1, 1, n)

    def expected():
        some = sampled(np.random.default_rng(0), n, 10_000)
        values = np.polynomial.legendre.legval(x[some], c)
        # |P| <= 1; an error of a step is carried on by at most the number of steps.
        return [(some, values, 8 * len(c) ** 2 * EPS64 * np.abs(c).sum())]

    return Problem(
        (c, x, np.zeros(n)), (len(c), n), (2,), expected, threads=n, bytes=16 * n, flops=7 * len(c) * n
    )


NEUMAIER_BODY = """
    float total = 0, lost = 0;
    for (INDEX row = 0; row < rows; row++) {
      float value = x[row * cols + col], sum = total + value;
      if (fabsf(total) >= fabsf(value))
        lost += (total - sum) + value;
      else
        lost += (value - sum) + total;
      total = sum;
    }
    sums[col] = total + lost;
"""
NEUMAIER = each("neumaier_columns(const float *x, float *sums, int rows, int cols)", NEUMAIER_BODY, extent="cols", index="col")

KAHAN = indexed(
    """
__global__ void kahan_rows(const float *x, float *sums, int rows, int cols) {
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row < rows) {
    float total = 0, lost = 0;
    for (INDEX k = lane; k < cols; k += 32) {
      float value = x[row * cols + k] - lost, sum = total + value;
      lost = (sum - total) - value;
      total = sum;
    }
    for (int step = 16; step > 0; step /= 2)
      total += __shfl_down_sync(0xffffffff, total, step);
    if (lane == 0)
      sums[row] = total;
  }
}
""",
    """
void kahan_rows(const float *x, float *sums, int rows, int cols) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    float total = 0, lost = 0;
    for (int k = 0; k < cols; k++) {
      float value = x[row * cols + k] - lost, sum = total + value;
      lost = (sum - total) - value;
      total = sum;
    }
    sums[row] = total;
  }
}
""",
)

HORNER = each(
    "polynomials(const float *coefficients, const float *x, float *values, int count, int n)",
    """
    float t = x[i], value = coefficients[count - 1];
    for (INDEX k = count - 2; k >= 0; k--)
      value = value * t + coefficients[k];
    values[i] = value;
""",
)

LEGENDRE = each(
    "legendre_series(const double *coefficients, const double *x, double *values, int count, int size)",
    """
    double t = x[i], before = 1, now = t, total = coefficients[0] + coefficients[1] * t;
    for (INDEX n = 2; n < count; n++) {
      double next = ((2 * n - 1) * t * now - (n - 1) * before) / n;
      before = now;
      now = next;
      total += coefficients[n] * now;
    }
    values[i] = total;
""",
    extent="size",
)

KERNELS = [
    Kernel(
        "Neumaier's sums of columns", neumaier_columns, "float32[:,::1], float32[::1]", 128, columns_problem,
        gpu=2003, host=1009, test=41, sweep=LINE, **NEUMAIER,
    ),
    Kernel(
        "Kahan's sums of rows", kahan_rows, "float32[:,::1], float32[::1]", 256, rows_problem,
        gpu=100_003, host=50_021, test=101, sweep=LINE, widths=WIDTHS, **KAHAN,
    ),
    Kernel(
        "polynomials, Horner", polynomials, "float32[::1], float32[::1], float32[::1]", 256, polynomial_problem,
        gpu=20_000_003, host=2_000_003, test=1013, sweep=LINE, **HORNER,
    ),
    Kernel(
        "Legendre series", legendre_series, "float64[::1], float64[::1], float64[::1]", 256, legendre_problem,
        gpu=2_000_003, host=200_003, test=1013, sweep=LINE, **LEGENDRE,
    ),
]  # fmt: skip
