"""Quadrature with steps as long as the error permits, and an incomplete gamma function."""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda

# Kronrod's 15 points: the nodes from the end to the middle, their weights, and those of Gauss' 7 among them.
NODES = (0.99145537112081263920, 0.94910791234275852452, 0.86486442335976907278,
         0.74153118559939443986, 0.58608723546769113029, 0.40584515137739716690,
         0.20778495500789846760, 0.0)  # fmt: skip
KRONROD = (0.02293532201052922496, 0.06309209262997855329, 0.10479001032225018383,
           0.14065325971552591874, 0.16900472663926790282, 0.19035057806478540991,
           0.20443294007529889241, 0.20948214108472782801)  # fmt: skip
GAUSS = (0.12948496616886969327, 0.27970539148927666790, 0.38183005050511894495,
         0.41795918367346938775)  # fmt: skip


def kronrod(decay, wave, end, tolerance, nodes, kronrod_weights, gauss_weights, integral, pieces):
    """The integral of exp(-decay x^2) cos(wave x) from 0 to end, by steps as long as the error permits."""
    i = cuda.grid(1)
    if i >= decay.size:
        return
    a = decay[i]
    w = wave[i]
    total = 0.0
    x = 0.0
    h = 0.25
    count = 0
    while x < end:
        h = min(h, end - x)
        middle = x + 0.5 * h
        fine = 0.0
        coarse = 0.0
        for k in range(nodes.size):
            d = 0.5 * h * nodes[k]
            p = middle + d
            f = math.exp(-a * p * p) * math.cos(w * p)
            if k < nodes.size - 1:
                p = middle - d
                f += math.exp(-a * p * p) * math.cos(w * p)
            fine += kronrod_weights[k] * f
            if k % 2 == 1:
                coarse += gauss_weights[k // 2] * f
        if abs(fine - coarse) * 0.5 * h <= tolerance or h < 1e-6:
            total += fine * 0.5 * h
            x += h
            h *= 1.5
        else:
            h *= 0.5
        count += 1
    integral[i] = total
    pieces[i] = count


def gamma_p(a, x, out):
    """The regularised lower incomplete gamma function: a series, or Lentz' continued fraction."""
    i = cuda.grid(1)
    if i < a.size:
        s = a[i]
        v = x[i]
        front = math.exp(s * math.log(v) - v - math.lgamma(s))
        if v < s + 1:
            term = 1 / s
            total = term
            k = s
            while abs(term) > abs(total) * 1e-15:
                k += 1
                term *= v / k
                total += term
            out[i] = total * front
        else:
            b = v + 1 - s
            c = 1e300
            d = 1 / b
            h = d
            for k in range(1, 500):
                n = -k * (k - s)
                b += 2
                d = n * d + b
                if abs(d) < 1e-300:
                    d = 1e-300
                c = b + n / c
                if abs(c) < 1e-300:
                    c = 1e-300
                d = 1 / d
                h *= d * c
                if abs(d * c - 1) < 1e-15:
                    break
            out[i] = 1 - front * h


def kronrod_problem(rng, n):
    decay, wave = rng.uniform(0.1, 3, n), rng.uniform(0, 12, n)
    end, tolerance = np.float64(4.0), np.float64(1e-10)

    def expected():
        at = sampled(rng, n, 500)
        a, w = decay[at], wave[at]
        total, x, h, count = np.zeros(at.size), np.zeros(at.size), np.full(at.size, 0.25), np.zeros(at.size, np.int32)
        nodes = np.array([*NODES, *(-v for v in NODES[6::-1])])
        fine_weights = np.array([*KRONROD, *KRONROD[6::-1]])
        coarse_weights = np.zeros(15)
        coarse_weights[[1, 3, 5, 7, 9, 11, 13]] = [*GAUSS, *GAUSS[2::-1]]
        while np.any(x < end):
            live = x < end
            h = np.where(live, np.minimum(h, end - x), h)
            p = x[:, None] + 0.5 * h[:, None] * (1 + nodes)
            f = np.exp(-a[:, None] * p * p) * np.cos(w[:, None] * p)
            fine, coarse = f @ fine_weights, f @ coarse_weights
            good = (np.abs(fine - coarse) * 0.5 * h <= tolerance) | (h < 1e-6)
            total += np.where(live & good, fine * 0.5 * h, 0)
            x = np.where(live & good, x + h, x)
            h = np.where(live, np.where(good, 1.5 * h, 0.5 * h), h)
            count += live
        # Values below 1 over a length of 4 add up to rounding alone: the steps are the same on all sides.
        return [(at, total, 1e-13), (at, count, 0)]

    tables = tuple(np.array(t) for t in (NODES, KRONROD, GAUSS))
    args = (decay, wave, end, tolerance, *tables, np.zeros(n), np.zeros(n, np.int32))
    return Problem(args, (n, len(NODES)), (7, 8), expected, threads=n, bytes=28.0 * n)


def gamma_problem(rng, n):
    a = rng.uniform(0.3, 60, n)
    x = a * rng.uniform(0.3, 2, n)

    def expected():
        at = sampled(rng, n, 3000)
        s, v = a[at], x[at]
        front = np.exp(s * np.log(v) - v - np.array([math.lgamma(k) for k in s]))
        term, total = 1 / s, 1 / s
        for k in range(1, 400):  # the series converges for the larger arguments, too
            term = term * v / (s + k)
            total = total + term
        # The exponent is a difference of numbers up to 300; it makes an error relative to a result below 1.
        return [(at, front * total, 300 * 8 * 2.3e-16)]

    return Problem((a, x, np.zeros(n)), (n,), (2,), expected, threads=n, bytes=24.0 * n)


KRONROD_TEXT = each(
    """kronrod(const double *decay, const double *wave, double end, double tolerance, const double *nodes,
             const double *kronrod_weights, const double *gauss_weights, double *integral, int *pieces, int n,
             int points)""",
    """
    double a = decay[i], w = wave[i], total = 0, x = 0, h = 0.25;
    int count = 0;
    while (x < end) {
      h = fmin(h, end - x);
      double middle = x + 0.5 * h, fine = 0, coarse = 0;
      for (INDEX k = 0; k < points; k++) {
        double d = 0.5 * h * nodes[k], p = middle + d, f = exp(-a * p * p) * cos(w * p);
        if (k < points - 1) {
          p = middle - d;
          f += exp(-a * p * p) * cos(w * p);
        }
        fine += kronrod_weights[k] * f;
        if (k % 2 == 1) coarse += gauss_weights[k / 2] * f;
      }
      if (fabs(fine - coarse) * 0.5 * h <= tolerance || h < 1e-6) {
        total += fine * 0.5 * h;
        x += h;
        h *= 1.5;
      } else
        h *= 0.5;
      count++;
    }
    integral[i] = total;
    pieces[i] = count;
""",
)

GAMMA = each(
    "gamma_p(const double *a, const double *x, double *out, int n)",
    """
    double s = a[i], v = x[i], front = exp(s * log(v) - v - lgamma(s));
    if (v < s + 1) {
      double term = 1 / s, total = term, k = s;
      while (fabs(term) > fabs(total) * 1e-15) {
        k += 1;
        term *= v / k;
        total += term;
      }
      out[i] = total * front;
    } else {
      double b = v + 1 - s, c = 1e300, d = 1 / b, h = d;
      for (INDEX k = 1; k < 500; k++) {
        double m = -k * (k - s);
        b += 2;
        d = m * d + b;
        if (fabs(d) < 1e-300) d = 1e-300;
        c = b + m / c;
        if (fabs(c) < 1e-300) c = 1e-300;
        d = 1 / d;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15) break;
      }
      out[i] = 1 - front * h;
    }
""",
)

KERNELS = [
    Kernel(
        "quadrature, Gauss and Kronrod", kronrod,
        "float64[::1], float64[::1], float64, float64, float64[::1], float64[::1], float64[::1], "
        "float64[::1], int32[::1]", 128,
        kronrod_problem,
        gpu=50_003, host=1003, test=103, kind="irregular", **KRONROD_TEXT,
    ),
    Kernel(
        "incomplete gamma function", gamma_p, "float64[::1], float64[::1], float64[::1]", 128, gamma_problem,
        gpu=500_003, host=10_003, test=503, kind="irregular", **GAMMA,
    ),
]  # fmt: skip
