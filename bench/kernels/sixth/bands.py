"""Linear algebra, a thread a system: Cholesky's factors of bands, powers of small matrices."""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, int64


def banded_cholesky(band, f, low, x):
    """Symmetric band systems side by side, a thread each: band[d, i] is the element (i, i - d)."""
    s = cuda.grid(1)
    width = band.shape[0] - 1
    n = band.shape[1]
    if s >= band.shape[2]:
        return
    for i in range(n):
        first = max(0, i - width)
        for j in range(first, i):
            v = band[i - j, i, s]
            for k in range(first, j):
                v -= low[i - k, i, s] * low[j - k, j, s]
            low[i - j, i, s] = v / low[0, j, s]
        v = band[0, i, s]
        y = f[i, s]
        for k in range(first, i):
            v -= low[i - k, i, s] * low[i - k, i, s]
            y -= low[i - k, i, s] * x[k, s]
        root = math.sqrt(v)
        low[0, i, s] = root
        x[i, s] = y / root
    for i in range(n - 1, -1, -1):
        y = x[i, s]
        for k in range(i + 1, min(i + width + 1, n)):
            y -= low[k - i, k, s] * x[k, s]
        x[i, s] = y / low[0, i, s]


def recurrences(coefficients, start, exponents, modulus, out):
    """Terms of a linear recurrence of order m (4 at most) by squaring its matrix, modulo a prime."""
    i = cuda.grid(1)
    if i >= exponents.size:
        return
    m = coefficients.size
    base = cuda.local.array((4, 4), int64)
    square = cuda.local.array((4, 4), int64)
    v = cuda.local.array(4, int64)
    u = cuda.local.array(4, int64)
    for r in range(m):
        v[r] = start[r]
        for c in range(m):
            base[r, c] = 1 if c == r + 1 else 0
    for r in range(m):
        base[m - 1, r] = coefficients[r]
    e = exponents[i]
    while e > 0:
        if e & 1:
            for r in range(m):
                total = 0
                for c in range(m):
                    total += base[r, c] * v[c] % modulus
                u[r] = total % modulus
            for r in range(m):
                v[r] = u[r]
        for r in range(m):
            for c in range(m):
                total = 0
                for k in range(m):
                    total += base[r, k] * base[k, c] % modulus
                square[r, c] = total % modulus
        for r in range(m):
            for c in range(m):
                base[r, c] = square[r, c]
        e >>= 1
    out[i] = v[0]


def banded_problem(rng, n):
    rows, width = 41, 4
    band = rng.uniform(-1, 1, (width + 1, rows, n))
    band[0] = rng.uniform(9, 12, (rows, n))
    f = rng.standard_normal((rows, n))

    def expected():
        at = sampled(rng, n, 500)
        full = np.zeros((at.size, rows, rows))
        for d in range(width + 1):
            i = np.arange(d, rows)
            full[:, i, i - d] = full[:, i - d, i] = band[d][d:, at].T
        x = np.linalg.solve(full, f[:, at].T[..., None])[..., 0].T
        return [((slice(None), at), x, 1e-14)]  # condition below 20, 41 rows of 9 products

    args = (band, f, np.zeros_like(band), np.zeros_like(f))
    return Problem(args, (width, rows, n), (3,), expected, threads=n, bytes=16.0 * (band.size + f.size))


def recurrence_problem(rng, n):
    modulus = 998_244_353
    coefficients, start = rng.integers(0, modulus, 3), rng.integers(0, modulus, 3)
    exponents = rng.integers(0, 2**31, n)

    def expected():
        at = sampled(rng, n, 300)
        values = []
        for e in exponents[at]:
            base = [[0, 1, 0], [0, 0, 1], [int(c) for c in coefficients]]
            v, e = [int(c) for c in start], int(e)
            while e:
                if e & 1:
                    v = [sum(b * u for b, u in zip(row, v)) % modulus for row in base]
                base = [[sum(a * b for a, b in zip(row, col)) % modulus for col in zip(*base)] for row in base]
                e >>= 1
            values.append(v[0])
        return [(at, np.array(values), 0)]

    args = (coefficients, start, exponents, modulus, np.zeros(n, np.int64))
    return Problem(args, (3, n), (4,), expected, threads=n)


BANDED = each(
    "banded_cholesky(const double *band, const double *f, double *low, double *x, int width, int rows, int n)",
    """
    for (INDEX r = 0; r < rows; r++) {
      INDEX first = MAX((INDEX)0, r - width);
      for (INDEX j = first; j < r; j++) {
        double v = band[((r - j) * rows + r) * n + i];
        for (INDEX k = first; k < j; k++)
          v -= low[((r - k) * rows + r) * n + i] * low[((j - k) * rows + j) * n + i];
        low[((r - j) * rows + r) * n + i] = v / low[j * n + i];
      }
      double v = band[r * n + i], y = f[r * n + i];
      for (INDEX k = first; k < r; k++) {
        double l = low[((r - k) * rows + r) * n + i];
        v -= l * l;
        y -= l * x[k * n + i];
      }
      double root = sqrt(v);
      low[r * n + i] = root;
      x[r * n + i] = y / root;
    }
    for (INDEX r = rows - 1; r >= 0; r--) {
      double y = x[r * n + i];
      INDEX last = MIN(r + width + 1, (INDEX)rows);
      for (INDEX k = r + 1; k < last; k++)
        y -= low[((k - r) * rows + k) * n + i] * x[k * n + i];
      x[r * n + i] = y / low[r * n + i];
    }
""",
)

RECURRENCES = each(
    """recurrences(const long long *coefficients, const long long *start, const long long *exponents, int modulus,
                 long long *out, int m, int n)""",
    """
    long long base[4][4], square[4][4], v[4], u[4];
    for (INDEX r = 0; r < m; r++) {
      v[r] = start[r];
      for (INDEX c = 0; c < m; c++)
        base[r][c] = c == r + 1;
    }
    for (INDEX r = 0; r < m; r++)
      base[m - 1][r] = coefficients[r];
    long long e = exponents[i];
    while (e > 0) {
      if (e & 1) {
        for (INDEX r = 0; r < m; r++) {
          long long total = 0;
          for (INDEX c = 0; c < m; c++)
            total += base[r][c] * v[c] % modulus;
          u[r] = total % modulus;
        }
        for (INDEX r = 0; r < m; r++)
          v[r] = u[r];
      }
      for (INDEX r = 0; r < m; r++)
        for (INDEX c = 0; c < m; c++) {
          long long total = 0;
          for (INDEX k = 0; k < m; k++)
            total += base[r][k] * base[k][c] % modulus;
          square[r][c] = total % modulus;
        }
      for (INDEX r = 0; r < m; r++)
        for (INDEX c = 0; c < m; c++)
          base[r][c] = square[r][c];
      e >>= 1;
    }
    out[i] = v[0];
""",
)

KERNELS = [
    Kernel(
        "Cholesky of bands", banded_cholesky, "float64[:,:,::1], float64[:,::1], float64[:,:,::1], float64[:,::1]", 64,
        banded_problem,
        gpu=20_003, host=1003, test=103, kind="streaming", **BANDED,
    ),
    Kernel(
        "terms of a recurrence", recurrences, "int64[::1], int64[::1], int64[::1], pyint, int64[::1]", 128,
        recurrence_problem,
        gpu=30_003, host=1003, test=103, **RECURRENCES,
    ),
]  # fmt: skip
