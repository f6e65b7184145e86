"""Tridiagonal systems after Thomas, a red-black relaxation, a step of Floyd and Warshall."""

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, PLANE, THIN_PLANE, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda


def tridiagonal_systems(lower, diagonal, upper, right, scratch, solution):
    """A thread for each system; a system is a column."""
    s = cuda.grid(1)
    if s >= right.shape[1]:
        return
    n = right.shape[0]
    ratio = upper[0, s] / diagonal[0, s]
    value = right[0, s] / diagonal[0, s]
    scratch[0, s] = ratio
    solution[0, s] = value
    for i in range(1, n):
        pivot = 1 / (diagonal[i, s] - lower[i, s] * ratio)
        ratio = upper[i, s] * pivot
        value = (right[i, s] - lower[i, s] * value) * pivot
        scratch[i, s] = ratio
        solution[i, s] = value
    for i in range(n - 2, -1, -1):
        value = solution[i, s] - scratch[i, s] * value
        solution[i, s] = value


def red_black(u, f, omega, colour):
    """Relaxes the points of one colour."""
    j, i = cuda.grid(2)
    rows, cols = u.shape
    if i > 0 and i < rows - 1 and j > 0 and j < cols - 1 and (i + j) % 2 == colour:
        around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        u[i, j] = (1 - omega) * u[i, j] + omega * np.float32(0.25) * (around - f[i, j])


def floyd_pivot(distance, pivot):
    """Ways over one vertex."""
    j, i = cuda.grid(2)
    n = distance.shape[0]
    if i < n and j < n:
        over = distance[i, pivot] + distance[pivot, j]
        if over < distance[i, j]:
            distance[i, j] = over


def thomas_problem(rng, n, size=131):
    """n systems of 131 equations, each diagonal larger than its neighbours together."""
    shape = size, n
    lower, upper, right = (rng.uniform(-1, 1, shape) for _ in range(3))
    diagonal = 2.5 + rng.random(shape)

    def expected():
        some = sampled(np.random.default_rng(0), n, 500)
        l, d, u, r = (a[:, some].astype(np.longdouble) for a in (lower, diagonal, upper, right))
        ratio, x = np.zeros_like(d), np.zeros_like(d)
        ratio[0], x[0] = u[0] / d[0], r[0] / d[0]
        for i in range(1, size):
            pivot = d[i] - l[i] * ratio[i - 1]
            ratio[i], x[i] = u[i] / pivot, (r[i] - l[i] * x[i - 1]) / pivot
        for i in range(size - 2, -1, -1):
            x[i] -= ratio[i] * x[i + 1]
        # Errors of a dozen roundings of numbers below 2 shrink by a factor of 2 / 3 a step.
        return [(np.s_[:, some], x.astype(np.float64), 12 * 3 * 2 * EPS64)]

    return Problem(
        (lower, diagonal, upper, right, np.zeros(shape), np.zeros(shape)), shape, (5,), expected, threads=n,
        bytes=8 * 8 * size * n, flops=9 * size * n,
    )  # fmt: skip


def red_black_problem(rng, n, shape=None):
    """n x (9 n / 8 + 5) points."""
    rows, cols = shape or (n, 9 * n // 8 + 5)
    u, f = rng.random((rows, cols), np.float32), rng.random((rows, cols), np.float32)
    omega, colour = np.float32(1.7), 1

    def expected():
        some = sampled(np.random.default_rng(0), rows, 200)
        values, bound = u[some].astype(np.float64), np.zeros((len(some), cols))
        inner = (some > 0) & (some < rows - 1)
        i = some[inner]
        w = np.float64(omega)
        around = u[i - 1, 1:-1].astype(np.float64) + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:]
        new = (1 - w) * u[i, 1:-1] + w * 0.25 * (around - f[i, 1:-1])
        mine = (i[:, None] + np.arange(1, cols - 1)) % 2 == colour
        values[inner, 1:-1] = np.where(mine, new, values[inner, 1:-1])
        # Eight roundings of numbers up to 4.
        bound[inner, 1:-1] = np.where(mine, 8 * EPS32 / 2 * 4, 0)
        return [(some, values, bound)]

    return Problem(
        (u, f, omega, colour), (rows, cols), (0,), expected, threads=(cols, rows), bytes=8 * rows * cols, flops=4 * rows * cols
    )


def floyd_problem(rng, n):
    """n vertices, all joined."""
    distance, pivot = rng.uniform(1, 100, (n, n)).astype(np.float32), n // 3
    np.fill_diagonal(distance, 0)

    def expected():
        some = sampled(np.random.default_rng(0), n, 500)
        return [(some, np.minimum(distance[some], distance[some, pivot][:, None] + distance[pivot]), 0)]

    return Problem(
        (distance, pivot), (n, n), (0,), expected, threads=(n, n), bytes=6 * n * n, flops=2 * n * n
    )


THOMAS = each(
    "tridiagonal_systems(const double *lower, const double *diagonal, const double *upper, const double *right, double *scratch, "
    "double *solution, int n, int systems)",
    """
    double ratio = upper[s] / diagonal[s], value = right[s] / diagonal[s];
    scratch[s] = ratio;
    solution[s] = value;
    for (INDEX i = 1; i < n; i++) {
      double pivot = 1 / (diagonal[i * systems + s] - lower[i * systems + s] * ratio);
      ratio = upper[i * systems + s] * pivot;
      value = (right[i * systems + s] - lower[i * systems + s] * value) * pivot;
      scratch[i * systems + s] = ratio;
      solution[i * systems + s] = value;
    }
    for (INDEX i = n - 2; i >= 0; i--) {
      value = solution[i * systems + s] - scratch[i * systems + s] * value;
      solution[i * systems + s] = value;
    }
""",
    extent="systems",
    index="s",
)

RED_BLACK = plane(
    "red_black(float *u, const float *f, float omega, int colour, int rows, int cols)",
    """
    if (row > 0 && row < rows - 1 && col > 0 && col < cols - 1 && (row + col) % 2 == colour) {
      INDEX at = row * cols + col;
      float around = u[at - cols] + u[at + cols] + u[at - 1] + u[at + 1];
      u[at] = (1 - omega) * u[at] + omega * 0.25f * (around - f[at]);
    }
""",
)

FLOYD = plane(
    "floyd_pivot(float *distance, int pivot, int n, int m)",
    """
    float over = distance[row * n + pivot] + distance[(INDEX)pivot * n + col];
    if (over < distance[row * n + col])
      distance[row * n + col] = over;
""",
    rows="n",
    cols="n",
)

KERNELS = [
    Kernel(
        "tridiagonal systems, Thomas", tridiagonal_systems,
        "float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1]", 128, thomas_problem,
        gpu=200_003, host=30_011, test=61, sweep=LINE, **THOMAS,
    ),
    Kernel(
        "red-black relaxation", red_black, "float32[:,::1], float32[:,::1], float32, pyint", (32, 8), red_black_problem,
        gpu=5003, host=3001, test=61, power=2, kind="stencil", sweep=PLANE, thin=THIN_PLANE, **RED_BLACK,
    ),
    Kernel(
        "step of Floyd and Warshall", floyd_pivot, "float32[:,::1], pyint", (32, 8), floyd_problem,
        gpu=5003, host=3001, test=61, power=2, sweep=PLANE, **FLOYD,
    ),
]  # fmt: skip
