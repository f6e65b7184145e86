"""Rows of every length that the threads of a block share: what a loop of few iterations costs.

A thread has as many iterations as a row has blocks of columns. Each warp writes its own result, so
that little but the loop and five shuffles is measured.
"""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sum_bound
from kernels.texts import indexed
from pyptx import cuda

FULL = 0xFFFFFFFF
WARPS = 8
ELEMENTS = 1 << 24
# Columns, in blocks of 128: 1 to 64 iterations of 128 threads, and of 256.
COUNTS = (*range(1, 65), *range(66, 129, 2))


def trips_sum(x, parts):
    """The sums of rows, a part for each warp."""
    row = cuda.blockIdx.x
    total = np.float32(0)
    for k in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        total += x[row, k]
    for k in range(5):
        total += cuda.shfl_xor_sync(FULL, total, 1 << k)
    if cuda.laneid == 0:
        parts[row, cuda.threadIdx.x // 32] = total


def trips_max(x, parts):
    """The maxima of rows, a part for each warp."""
    row = cuda.blockIdx.x
    best = np.float32(-math.inf)
    for k in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        best = max(best, x[row, k])
    for k in range(5):
        best = max(best, cuda.shfl_xor_sync(FULL, best, 1 << k))
    if cuda.laneid == 0:
        parts[row, cuda.threadIdx.x // 32] = best


def trips_exp(x, parts):
    """The sums of exponentials: a loop that computes more."""
    row = cuda.blockIdx.x
    total = np.float32(0)
    for k in range(cuda.threadIdx.x, x.shape[1], cuda.blockDim.x):
        total += math.exp(x[row, k])
    for k in range(5):
        total += cuda.shfl_xor_sync(FULL, total, 1 << k)
    if cuda.laneid == 0:
        parts[row, cuda.threadIdx.x // 32] = total


def problem_of(rng, n, initial, outcome, exact, bound):
    """Rows of three columns less than n blocks of 128: not every thread has the last iteration."""
    columns = n * 128 - 3
    rows = max(1, ELEMENTS // columns)
    x = rng.random((rows, columns), np.float32)

    def expected():
        values = exact(x)
        return [(np.s_[:], values, bound(n, values))]

    return Problem(
        (x, np.full((rows, WARPS), initial, np.float32)), (rows, columns), (1,), expected, grid=rows, outcome=outcome,
        bytes=4 * x.size, flops=x.size, sequential=columns / (n + 5),
    )  # fmt: skip


def added(parts):
    return [parts.sum(axis=1, dtype=np.float64)]


def sum_problem(rng, n):
    return problem_of(rng, n, 0, added, lambda x: x.sum(axis=1, dtype=np.float64), lambda n, sums: sum_bound(n + 5, sums))


def max_problem(rng, n):
    return problem_of(rng, n, 0, lambda parts: [parts.max(axis=1)], lambda x: x.max(axis=1), lambda n, values: 0)


def exp_problem(rng, n):
    """An exponential is off by 2 ulp at most, which are 4 roundings more than those of a sum."""
    exact = lambda x: np.exp(x, dtype=np.float64).sum(axis=1)
    return problem_of(rng, n, 0, added, exact, lambda n, sums: sum_bound(n + 9, sums))


def texts(name, start, step, value="x[row * cols + k]"):
    """`step`: the total with one more, in the loop and in the shuffles, whose total is of the same kind."""
    return indexed(
        f"""
__global__ void {name}(const float *x, float *parts, int rows, int cols) {{
  INDEX row = blockIdx.x;
  float total = {start};
  for (INDEX k = threadIdx.x; k < cols; k += blockDim.x)
    total = {step.format(value)};
  for (int k = 0; k < 5; k++)
    total = {step.format("__shfl_xor_sync(0xffffffff, total, 1 << k)")};
  if (threadIdx.x % 32 == 0)
    parts[row * 8 + threadIdx.x / 32] = total;
}}
""",
        f"""
void {name}(const float *x, float *parts, int rows, int cols) {{
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {{
    float total = {start};
    for (int k = 0; k < cols; k++)
      total = {step.format(value)};
    parts[row * 8] = total;
  }}
}}
""",
    )


SIGNATURE = "float32[:,::1], float32[:,::1]"
SWEEP = {"sweep": (128, 256), "counts": COUNTS, "gpu": 4, "host": 4, "test": 5}
KERNELS = [
    Kernel(
        "row sums by every trip count", trips_sum, SIGNATURE, 128, sum_problem,
        **SWEEP, **texts("trips_sum", "0", "total + {}"),
    ),
    Kernel(
        "row maxima by every trip count", trips_max, SIGNATURE, 128, max_problem,
        **SWEEP, **texts("trips_max", "-1.0f / 0.0f", "fmaxf(total, {})"),
    ),
    Kernel(
        "row sums of exponentials by every trip count", trips_exp, SIGNATURE, 128, exp_problem,
        **SWEEP, **texts("trips_exp", "0", "total + {}", "expf(x[row * cols + k])"),
    ),
]  # fmt: skip
