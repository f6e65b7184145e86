"""Loops over a triangle of indices.

Forward substitution (Golub and Van Loan, "Matrix Computations"), the energy of pairs of charges,
inversions of a sequence, and covariance and syrk of PolyBench.
"""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, indexed
from pyptx import cuda


def lower_solve(lower, right, x):
    """L X = B: a thread for each right-hand side, a column."""
    c = cuda.grid(1)
    if c < x.shape[1]:
        for i in range(x.shape[0]):
            s = right[i, c]
            for j in range(i):
                s -= lower[i, j] * x[j, c]
            x[i, c] = s / lower[i, i]


def pair_energy(place, charge, energy):
    """Each pair is counted once, by its first charge."""
    i = cuda.grid(1)
    if i >= energy.size:
        return
    x, y, z = place[i, 0], place[i, 1], place[i, 2]
    total = 0.0
    for j in range(i + 1, energy.size):
        dx = place[j, 0] - x
        dy = place[j, 1] - y
        dz = place[j, 2] - z
        total += charge[j] / np.sqrt(dx * dx + dy * dy + dz * dz + np.float32(0.01))
    energy[i] = charge[i] * total


def inversions(x, counts):
    """How many smaller elements come after each one."""
    i = cuda.grid(1)
    if i < x.size:
        count = 0
        for j in range(i + 1, x.size):
            if x[j] < x[i]:
                count += 1
        counts[i] = count


def covariance_upper(data, mean, covariance):
    """The threads on and above the diagonal compute, for both triangles."""
    j, i = cuda.grid(2)
    samples, features = data.shape
    if i < features and i <= j < features:
        total = np.float32(0)
        for s in range(samples):
            total += (data[s, i] - mean[i]) * (data[s, j] - mean[j])
        total /= samples - 1
        covariance[i, j] = total
        covariance[j, i] = total


def rank_k_update(alpha, beta, a, c):
    """The lower triangle of alpha A A^T + beta C."""
    j, i = cuda.grid(2)
    if i < c.shape[0] and j <= i:
        s = beta * c[i, j]
        for k in range(a.shape[1]):
            s += alpha * a[i, k] * a[j, k]
        c[i, j] = s


def solve_problem(rng, n):
    """n right-hand sides of 257 unknowns; the diagonal dominates, so that no error grows."""
    m = 257
    lower = np.tril(rng.uniform(-1, 1, (m, m)) / m, -1) + np.diag(rng.uniform(1, 2, m))
    right = rng.uniform(-1, 1, (m, n))

    def expected():
        some = sampled(np.random.default_rng(0), n, 400)
        x = np.linalg.solve(lower, right[:, some])
        # Of each x one more error than additions; |L^-1| |L| is below 3 where the rows off the
        # diagonal sum to below 1/2.
        return [(np.ix_(np.arange(m), some), x, 3 * 2 * (m + 2) * EPS64 * np.abs(x).max())]

    return Problem(
        (lower, right, np.zeros((m, n))), (m, n), (2,), expected, threads=n, bytes=16 * m * n + 4 * m * m, flops=m * m * n
    )


def energy_problem(rng, n):
    """n charges of both signs in the unit cube."""
    place = rng.random((n, 3), np.float32)
    charge = rng.uniform(-1, 1, n).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 200)
        values, sizes = np.zeros(len(some)), np.zeros(len(some))
        for at, i in enumerate(some):
            d = place[i + 1 :].astype(np.float64) - place[i]
            terms = charge[i] * (charge[i + 1 :] / np.sqrt((d * d).sum(axis=1) + 0.01))
            values[at], sizes[at] = terms.sum(), np.abs(terms).sum()
        # A dozen roundings of each term, a square root and a division of 2 ulp among them.
        return [(some, values, sum_bound(n + 12, sizes) + 1e-30)]

    return Problem(
        (place, charge, np.zeros(n, np.float32)), (n,), (2,), expected, threads=n, bytes=20 * n, flops=6 * n * n
    )


def inversions_problem(rng, n):
    """n random numbers."""
    x = rng.integers(0, 1 << 30, n, np.int32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 500)
        return [(some, np.array([(x[i + 1 :] < x[i]).sum() for i in some]), 0)]

    return Problem((x, np.zeros(n, np.int32)), (n,), (1,), expected, threads=n, bytes=8 * n, flops=n * n)


def covariance_problem(rng, n):
    """n features of 403 samples."""
    samples = 403
    data = rng.random((samples, n), np.float32)
    mean = data.mean(axis=0, dtype=np.float64).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 300)
        off = data.astype(np.float64) - mean
        values, sizes = off[:, some].T @ off, np.abs(off[:, some]).T @ np.abs(off)
        return [(some, values / (samples - 1), sum_bound(samples + 3, sizes) / (samples - 1))]

    return Problem(
        (data, mean, np.zeros((n, n), np.float32)), (samples, n), (2,), expected, threads=(n, n),
        bytes=4 * (samples * n + n * n), flops=2 * samples * n * n,
    )  # fmt: skip


def rank_problem(rng, n):
    """n rows of 251 numbers."""
    k = 251
    a, c = rng.uniform(-1, 1, (n, k)), rng.uniform(-1, 1, (n, n))
    alpha, beta = np.float64(1.5), np.float64(-0.75)

    def expected():
        some = sampled(np.random.default_rng(0), n, 300)
        values = alpha * (a[some] @ a.T) + beta * c[some]
        sizes = alpha * (np.abs(a[some]) @ np.abs(a.T)) + abs(beta) * np.abs(c[some])
        above = np.arange(n) > some[:, None]
        values = np.where(above, c[some], values)
        # NumPy's own error too.
        return [(some, values, np.where(above, 0, 2 * sum_bound(k + 3, sizes, EPS64)))]

    return Problem(
        (alpha, beta, a, c), (n, k), (3,), expected, threads=(n, n), bytes=8 * (n * n + n * k), flops=3 * k * n * n / 2
    )


SOLVE = each(
    "lower_solve(const double *lower, const double *right, double *x, int m, int n)",
    """
    for (INDEX i = 0; i < m; i++) {
      double s = right[i * n + c];
      for (INDEX j = 0; j < i; j++)
        s -= lower[i * m + j] * x[j * n + c];
      x[i * n + c] = s / lower[i * m + i];
    }
""",
    index="c",
)

ENERGY = each(
    "pair_energy(const float *place, const float *charge, float *energy, int n)",
    """
    float x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    float total = 0;
    for (INDEX j = i + 1; j < n; j++) {
      float dx = place[3 * j] - x, dy = place[3 * j + 1] - y, dz = place[3 * j + 2] - z;
      total += charge[j] / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    }
    energy[i] = charge[i] * total;
""",
    schedule=" schedule(dynamic, 64)",
)

INVERSIONS = each(
    "inversions(const int *x, int *counts, int n)",
    """
    INDEX count = 0;
    for (INDEX j = i + 1; j < n; j++)
      if (x[j] < x[i])
        count++;
    counts[i] = count;
""",
    schedule=" schedule(dynamic, 64)",
)

COVARIANCE = indexed(
    """
__global__ void covariance_upper(const float *data, const float *mean, float *covariance, int samples, int features) {
  INDEX j = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, i = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (i < features && i <= j && j < features) {
    float total = 0;
    for (INDEX s = 0; s < samples; s++)
      total += (data[s * features + i] - mean[i]) * (data[s * features + j] - mean[j]);
    total /= samples - 1;
    covariance[i * features + j] = total;
    covariance[j * features + i] = total;
  }
}
""",
    """
void covariance_upper(const float *data, const float *mean, float *covariance, int samples, int features) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int i = 0; i < features; i++)
    for (int j = i; j < features; j++) {
      float total = 0;
      for (int s = 0; s < samples; s++)
        total += (data[s * features + i] - mean[i]) * (data[s * features + j] - mean[j]);
      total /= samples - 1;
      covariance[i * features + j] = total;
      covariance[j * features + i] = total;
    }
}
""",
)

RANK = indexed(
    """
__global__ void rank_k_update(double alpha, double beta, const double *a, double *c, int n, int m) {
  INDEX j = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, i = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (i < n && j <= i) {
    double s = beta * c[i * n + j];
    for (INDEX k = 0; k < m; k++)
      s += alpha * a[i * m + k] * a[j * m + k];
    c[i * n + j] = s;
  }
}
""",
    """
void rank_k_update(double alpha, double beta, const double *a, double *c, int n, int m) {
#pragma omp parallel for schedule(dynamic, 8)
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = beta * c[i * n + j];
      for (int k = 0; k < m; k++)
        s += alpha * a[i * m + k] * a[j * m + k];
      c[i * n + j] = s;
    }
}
""",
)

KERNELS = [
    Kernel(
        "forward substitution, many right sides", lower_solve, "float64[:,::1], float64[:,::1], float64[:,::1]", 128,
        solve_problem, gpu=20_011, host=2699, test=131, **SOLVE,
    ),
    Kernel(
        "energy of pairs, j > i", pair_energy, "float32[:,::1], float32[::1], float32[::1]", 128, energy_problem,
        gpu=30_011, host=5003, test=301, power=2, **ENERGY,
    ),
    Kernel(
        "inversions", inversions, "int32[::1], int32[::1]", 128, inversions_problem,
        gpu=60_013, host=34_667, test=1013, power=2, **INVERSIONS,
    ),
    Kernel(
        "covariance, upper triangle", covariance_upper, "float32[:,::1], float32[::1], float32[:,::1]", (32, 8),
        covariance_problem, gpu=1537, host=527, test=45, power=2, **COVARIANCE,
    ),
    Kernel(
        "syrk, lower triangle", rank_k_update, "float64, float64, float64[:,::1], float64[:,::1]", (32, 8), rank_problem,
        gpu=1021, host=629, test=45, power=2, **RANK,
    ),
]  # fmt: skip
