"""Roots of polynomials, values of splines."""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, float64


def durand_kerner(coefficients, rounds, tolerance, re, im):
    """All roots (8 at most) of monic polynomials at once: each moves until no one moves any more."""
    i = cuda.grid(1)
    if i >= coefficients.shape[1]:
        return
    degree = coefficients.shape[0]
    x = cuda.local.array(8, float64)
    y = cuda.local.array(8, float64)
    x[0] = 1.0
    y[0] = 0.0
    for k in range(1, degree):
        x[k] = 0.4 * x[k - 1] - 0.9 * y[k - 1]
        y[k] = 0.9 * x[k - 1] + 0.4 * y[k - 1]
    for _ in range(rounds):
        moved = 0.0
        for k in range(degree):
            pr = 1.0
            pi = 0.0
            for c in range(degree):
                pr, pi = pr * x[k] - pi * y[k] + coefficients[c, i], pr * y[k] + pi * x[k]
            qr = 1.0
            qi = 0.0
            for j in range(degree):
                if j != k:
                    dr = x[k] - x[j]
                    di = y[k] - y[j]
                    qr, qi = qr * dr - qi * di, qr * di + qi * dr
            size = qr * qr + qi * qi
            sx = (pr * qr + pi * qi) / size
            sy = (pi * qr - pr * qi) / size
            x[k] -= sx
            y[k] -= sy
            moved = max(moved, abs(sx) + abs(sy))
        if moved < tolerance:
            break
    for k in range(degree):
        re[k, i] = x[k]
        im[k, i] = y[k]


def spline_values(knots, values, curvatures, x, out):
    """A cubic spline of uneven knots at each x, its piece found by bisection; the ends' pieces go on outside."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    at = x[i]
    low = 0
    high = knots.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] > at:
            high = middle
        else:
            low = middle
    width = knots[high] - knots[low]
    a = (knots[high] - at) / width
    b = (at - knots[low]) / width
    bend = (a * a * a - a) * curvatures[low] + (b * b * b - b) * curvatures[high]
    out[i] = a * values[low] + b * values[high] + bend * (width * width) / 6


def kerner_problem(rng, n):
    degree, rounds, tolerance = 6, 80, np.float64(1e-12)
    # Real parts from -1.5 to 1.5, at least 0.4 apart; they order the roots.
    real = np.sort(np.arange(degree)[:, None] * 0.55 - 1.4 + rng.uniform(0, 0.15, (degree, n)), 0)
    poly = np.zeros((degree + 1, n))
    poly[0] = 1
    for root in real:
        poly[1:] -= root * poly[:-1].copy()
    coefficients = poly[1:]

    def outcome(re, im):
        order = np.argsort(re, axis=0)
        return np.take_along_axis(re, order, 0), np.take_along_axis(im, order, 0)

    def expected():
        gaps = np.abs(real[:, None] - real[None] + np.eye(degree)[:, :, None])
        sizes = np.abs(coefficients)[:, None] * np.abs(real[None]) ** (degree - 1 - np.arange(degree))[:, None, None]
        # A root moves by the polynomial's rounding (2 degree eps of its terms) over its slope, in either computation.
        bound = 4 * degree * EPS64 * (sizes.sum(0) + np.abs(real) ** degree) / gaps.prod(1) + 2e-12
        return [(slice(None), real, bound), (slice(None), np.zeros_like(real), bound)]

    args = (coefficients, rounds, tolerance, np.zeros((degree, n)), np.zeros((degree, n)))
    return Problem(args, (degree, n), (3, 4), expected, threads=n, bytes=24.0 * degree * n, outcome=outcome)


def spline_problem(rng, n):
    size = 2003
    knots = np.float32(np.cumsum(rng.uniform(0.5, 1.5, size)) / 100)
    values, curvatures = (rng.standard_normal(size, dtype=np.float32) for _ in range(2))
    x = np.float32(rng.uniform(knots[0], knots[-1], n))

    def expected():
        at = sampled(rng, n, 50_000)
        low = np.clip(np.searchsorted(knots, x[at], "right") - 1, 0, size - 2)
        k, v, c, p = (s.astype(float) for s in (knots, values, curvatures, x[at]))
        width = k[low + 1] - k[low]
        a, b = (k[low + 1] - p) / width, (p - k[low]) / width
        bend = (a**3 - a) * c[low] + (b**3 - b) * c[low + 1]
        sizes = np.abs(v[low]) + np.abs(v[low + 1]) + (np.abs(c[low]) + np.abs(c[low + 1])) * width**2
        # Differences of knots as near as these are exact: a and b have one rounding, their polynomial 10.
        return [(at, a * v[low] + b * v[low + 1] + bend * width**2 / 6, 12 * EPS32 * sizes)]

    args = (knots, values, curvatures, x, np.zeros(n, np.float32))
    return Problem(args, (size, n), (4,), expected, threads=n, bytes=8.0 * n)


KERNER = each(
    """durand_kerner(const double *__restrict__ coefficients, int rounds, double tolerance, double *__restrict__ re,
                   double *__restrict__ im, int degree, int n)""",
    """
    double x[8], y[8];
    x[0] = 1;
    y[0] = 0;
    for (INDEX k = 1; k < degree; k++) {
      x[k] = 0.4 * x[k - 1] - 0.9 * y[k - 1];
      y[k] = 0.9 * x[k - 1] + 0.4 * y[k - 1];
    }
    for (INDEX round = 0; round < rounds; round++) {
      double moved = 0;
      for (INDEX k = 0; k < degree; k++) {
        double pr = 1, pi = 0, qr = 1, qi = 0, before;
        for (INDEX c = 0; c < degree; c++) {
          before = pr;
          pr = pr * x[k] - pi * y[k] + coefficients[c * n + i];
          pi = before * y[k] + pi * x[k];
        }
        for (INDEX j = 0; j < degree; j++)
          if (j != k) {
            double dr = x[k] - x[j], di = y[k] - y[j];
            before = qr;
            qr = qr * dr - qi * di;
            qi = before * di + qi * dr;
          }
        double size = qr * qr + qi * qi, sx = (pr * qr + pi * qi) / size, sy = (pi * qr - pr * qi) / size;
        x[k] -= sx;
        y[k] -= sy;
        moved = fmax(moved, fabs(sx) + fabs(sy));
      }
      if (moved < tolerance) break;
    }
    for (INDEX k = 0; k < degree; k++) {
      re[k * n + i] = x[k];
      im[k * n + i] = y[k];
    }
""",
)

SPLINE = each(
    """spline_values(const float *__restrict__ knots, const float *__restrict__ values,
                   const float *__restrict__ curvatures, const float *__restrict__ x, float *__restrict__ out,
                   int size, int n)""",
    """
    float at = x[i];
    INDEX low = 0, high = size - 1;
    while (high - low > 1) {
      INDEX middle = (low + high) / 2;
      if (knots[middle] > at)
        high = middle;
      else
        low = middle;
    }
    float width = knots[high] - knots[low], a = (knots[high] - at) / width, b = (at - knots[low]) / width;
    float bend = (a * a * a - a) * curvatures[low] + (b * b * b - b) * curvatures[high];
    out[i] = a * values[low] + b * values[high] + bend * (width * width) / 6;
""",
)

KERNELS = [
    Kernel(
        "all roots at once", durand_kerner, "float64[:,::1], pyint, float64, float64[:,::1], float64[:,::1]", 128,
        kerner_problem,
        gpu=100_003, host=2003, test=203, **KERNER,
    ),
    Kernel(
        "values of a spline", spline_values,
        "float32[::1], float32[::1], float32[::1], float32[::1], float32[::1]", 256,
        spline_problem,
        gpu=10_000_019, host=100_003, test=1003, kind="irregular", **SPLINE,
    ),
]  # fmt: skip
