"""Numerical pieces: a step of conjugate gradients, a level of a sparse triangle, sums by keys, the
update of k-means, least squares by rotations, series by recurrences, an American option.

After Saad ("Iterative Methods"), Golub and Van Loan, Abramowitz and Stegun, Miller (his recurrence),
Brennan and Schwartz.
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled, sum_bound, tree
from kernels.texts import each, indexed
from pyptx import cuda, float32, float64

BLOCK = 256
LARGEST = 256  # points of an option's grid


def cg_update(alpha, p, q, x, r, total):
    """x += alpha p, r -= alpha q, and the sum of squares of the new r."""
    part = cuda.shared.array(BLOCK, float64)
    acc = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] += alpha * p[i]
        rest = r[i] - alpha * q[i]
        r[i] = rest
        acc += rest * rest
    t = cuda.threadIdx.x
    part[t] = acc
    cuda.syncthreads()
    stride = BLOCK // 2
    while stride > 0:
        if t < stride:
            part[t] += part[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        cuda.atomic.add(total, 0, part[0])


def triangle_level(level, starts, columns, values, right, x):
    """The rows of one level, all of whose other unknowns are known; the diagonal is a row's last."""
    i = cuda.grid(1)
    if i < level.size:
        row = level[i]
        last = starts[row + 1] - 1
        s = right[row]
        for k in range(starts[row], last):
            s -= values[k] * x[columns[k]]
        x[row] = s / values[last]


def sums_by_keys(keys, values, length, sums):
    """Keys are sorted; a thread adds up its stretch, and to memory whenever the key changes."""
    first = cuda.grid(1) * length
    if first >= keys.size:
        return
    key = keys[first]
    acc = float32(0)
    for i in range(first, min(first + length, keys.size)):
        if keys[i] != key:
            cuda.atomic.add(sums, key, acc)
            key = keys[i]
            acc = float32(0)
        acc += values[i]
    cuda.atomic.add(sums, key, acc)


def kmeans_update(points, labels, sums, counts):
    """Sums and counts of the points of each label."""
    i = cuda.grid(1)
    if i < labels.size:
        label = labels[i]
        for k in range(points.shape[1]):
            cuda.atomic.add(sums, (label, k), points[i, k])
        cuda.atomic.add(counts, label, 1)


def givens_least_squares(matrices, right, solutions):
    """7 x 3, by rotations that make zeros from the bottom up."""
    t = cuda.grid(1)
    if t >= solutions.shape[0]:
        return
    m = cuda.local.array((7, 4), float32)
    for i in range(7):
        for j in range(3):
            m[i, j] = matrices[t, i, j]
        m[i, 3] = right[t, i]
    for j in range(3):
        for i in range(6, j, -1):
            a, b = m[i - 1, j], m[i, j]
            if b != 0:
                r = math.sqrt(a * a + b * b)
                c, s = a / r, b / r
                for k in range(j, 4):
                    upper, lower = m[i - 1, k], m[i, k]
                    m[i - 1, k] = c * upper + s * lower
                    m[i, k] = c * lower - s * upper
    for i in range(2, -1, -1):
        v = m[i, 3]
        for j in range(i + 1, 3):
            v -= m[i, j] * solutions[t, j]
        solutions[t, i] = v / m[i, i]


def spherical_series(directions, cosines, sines, degree, values):
    """The sum over l and m of P_lm(z) (a_lm cos(m phi) + b_lm sin(m phi)) at unit vectors (x, y, z)."""
    i = cuda.grid(1)
    if i >= values.size:
        return
    x, y, z = directions[i, 0], directions[i, 1], directions[i, 2]
    total = 0.0
    c = 1.0  # (x + i y)^m
    s = 0.0
    diagonal = 1.0  # P_mm without the power of sin(theta), which c and s have
    for m in range(degree + 1):
        before = 0.0
        now = diagonal
        for l in range(m, degree + 1):
            k = l * (l + 1) // 2 + m
            total += now * (cosines[k] * c + sines[k] * s)
            after = ((2 * l + 1) * z * now - (l + m) * before) / (l + 1 - m)
            before = now
            now = after
        c, s = c * x - s * y, s * x + c * y
        diagonal *= -(2 * m + 1)
    values[i] = total


def bessel_functions(x, order, start, values):
    """J of an order, downward from an even start, scaled by J0 + 2 J2 + 2 J4 + ... = 1."""
    i = cuda.grid(1)
    if i >= values.size:
        return
    if x[i] == 0:
        values[i] = 1.0 if order == 0 else 0.0
        return
    two_over_x = 2 / abs(x[i])
    above = 0.0
    now = 1.0
    total = 0.0
    found = 0.0
    for k in range(start, 0, -1):
        below = k * two_over_x * now - above
        above = now
        now = below
        if abs(now) > 1e100:
            now *= 1e-100
            above *= 1e-100
            found *= 1e-100
            total *= 1e-100
        if k % 2 == 1:
            total += now
        if k == order + 1:
            found = now
    value = found / (2 * total - now)
    if x[i] < 0 and order % 2 == 1:
        value = -value
    values[i] = value


def american_put(spots, strikes, volatilities, rate, maturity, points, steps, prices):
    """A block for each option: explicit steps on a grid of log prices, exercised where that pays more."""
    v = cuda.shared.array((2, LARGEST), float32)
    option = cuda.blockIdx.x
    j = cuda.threadIdx.x
    sigma = volatilities[option]
    dt = maturity / steps
    dx = sigma * math.sqrt(3 * dt)
    drift = rate - sigma * sigma / 2
    variance = dt * sigma * sigma / (dx * dx)
    slope = dt * drift / (2 * dx)
    discount = 1 / (1 + rate * dt)
    up = discount * (variance / 2 + slope)
    middle = discount * (1 - variance)
    down = discount * (variance / 2 - slope)
    payoff = float32(0)
    if j < points:
        payoff = max(strikes[option] - spots[option] * math.exp((j - points // 2) * dx), float32(0))
        v[0, j] = payoff
    cuda.syncthreads()
    for step in range(steps):
        now = step % 2
        if j < points:
            if j == 0 or j == points - 1:
                v[1 - now, j] = payoff
            else:
                held = down * v[now, j - 1] + middle * v[now, j] + up * v[now, j + 1]
                v[1 - now, j] = max(held, payoff)
        cuda.syncthreads()
    if j == points // 2:
        prices[option] = v[steps % 2, j]


def cg_problem(rng, n):
    """n unknowns."""
    p, q, x, r = rng.uniform(-1, 1, (4, n))
    alpha, grid = np.float64(0.37), min(1056, -(-n // BLOCK))

    def expected():
        rest = r - alpha * q
        total = (rest**2).sum()
        # A thread's sum, the block's tree, the blocks' sums; the rest itself is off by two roundings.
        additions = -(-n // (grid * BLOCK)) + tree(BLOCK) + grid + 4
        return [
            (np.s_[:], x + alpha * p, EPS64 / 2 * 3), (np.s_[:], rest, EPS64 / 2 * 3),
            (np.s_[:], np.array([total]), sum_bound(additions + 24, total, EPS64)),
        ]  # fmt: skip

    return Problem(
        (alpha, p, q, x.copy(), r.copy(), np.zeros(1)), (n,), (3, 4, 5), expected, grid=grid, bytes=48 * n, flops=6 * n,
        sequential=max(1, n / 40),
    )  # fmt: skip


def level_problem(rng, n):
    """n rows of a level among 4 n, with 0 to 14 known unknowns each."""
    known = rng.uniform(-1, 1, 3 * n)
    level = (3 * n + rng.permutation(n)).astype(np.int32)
    lengths = np.r_[np.ones(3 * n, int), 1 + rng.integers(0, 15, n)]
    starts = np.r_[0, np.cumsum(lengths)].astype(np.int32)
    columns = rng.integers(0, 3 * n, starts[-1], np.int32)
    columns[starts[1:] - 1] = np.arange(4 * n)
    values, right = rng.uniform(-1, 1, starts[-1]), rng.uniform(-1, 1, 4 * n)
    values[starts[1:] - 1] = 4
    x = np.r_[known, np.zeros(n)]

    def expected():
        inner = np.ones(len(columns), bool)
        inner[starts[1:] - 1] = False
        products = np.where(inner, values * np.r_[known, np.zeros(n)][columns], 0)
        total = np.add.reduceat(products, starts[:-1])[3 * n :]
        size = np.add.reduceat(np.abs(products), starts[:-1])[3 * n :] + np.abs(right[3 * n :])
        return [(np.s_[3 * n :], (right[3 * n :] - total) / 4, sum_bound(2 * 17, size / 4, EPS64))]

    return Problem(
        (level, starts, columns, values, right, x), (n, 4 * n + 1, len(columns), 4 * n), (5,), expected, threads=n,
        bytes=20 * 7 * n + 32 * n, flops=14 * n,
    )  # fmt: skip


def keys_problem(rng, n):
    """n values, about 37 of each key, 16 to a thread."""
    length = 16
    keys = np.sort(rng.integers(0, n // 37 + 1, n, np.int32))
    values = rng.uniform(-1, 1, n).astype(np.float32)
    size = n // 37 + 1

    def expected():
        exact = np.bincount(keys, values.astype(np.float64), size)
        sizes, counts = np.bincount(keys, np.abs(values).astype(np.float64), size), np.bincount(keys, minlength=size)
        return [(np.s_[:], exact, np.where(counts > 0, sum_bound(counts + 1, sizes), 0))]

    return Problem(
        (keys, values, length, np.zeros(size, np.float32)), (n, size), (3,), expected, threads=-(-n // length), bytes=8 * n,
        flops=n,
    )  # fmt: skip


def update_problem(rng, n):
    """n points of 6 dimensions, 301 labels."""
    points, labels = rng.random((n, 6), np.float32), rng.integers(0, 301, n, np.int32)

    def expected():
        sums = np.stack([np.bincount(labels, points[:, k].astype(np.float64), 301) for k in range(6)], axis=1)
        counts = np.bincount(labels, minlength=301)
        return [(np.s_[:], sums, sum_bound(counts[:, None], sums)), (np.s_[:], counts, 0)]

    return Problem(
        (points, labels, np.zeros((301, 6), np.float32), np.zeros(301, np.int32)), (n, 6, 301), (2, 3), expected, threads=n,
        bytes=28 * n, flops=7 * n,
    )  # fmt: skip


def squares_problem(rng, n):
    """n systems, far from singular."""
    matrices, right = rng.uniform(-1, 1, (n, 7, 3)).astype(np.float32), rng.uniform(-1, 1, (n, 7)).astype(np.float32)
    matrices[:, :3] += 3 * np.eye(3, dtype=np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 3000)
        a, b = matrices[some].astype(np.float64), right[some].astype(np.float64)
        exact = (np.linalg.pinv(a) @ b[:, :, None])[:, :, 0]
        # Fifteen rotations of a dozen roundings, backward stable; the condition and, since there is
        # a residual, its square carry them over.
        condition, size = np.linalg.cond(a), np.linalg.norm(a, 2, axis=(1, 2))
        error = EPS32 / 2 * 15 * 12 * (condition * np.linalg.norm(exact, axis=1) + condition**2 * np.linalg.norm(b, axis=1) / size)
        return [(some, exact, error[:, None])]

    return Problem(
        (matrices, right, np.zeros((n, 3), np.float32)), (n,), (2,), expected, threads=n, bytes=124 * n, flops=15 * 24 * n
    )


def spherical_problem(rng, n):
    """n directions, degree 12."""
    degree = 12
    directions = rng.normal(size=(n, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    l, m = np.tril_indices(degree + 1)
    scale = np.array([math.sqrt(math.factorial(a - b) / math.factorial(a + b)) for a, b in zip(l, m)])
    cosines, sines = rng.uniform(-1, 1, (2, len(l))) * scale

    def expected():
        some = sampled(np.random.default_rng(0), n, 5000)
        x, y, z = directions[some].T
        power, value, size, diagonal = np.ones(len(some), complex), 0.0, 0.0, 1.0
        for m in range(degree + 1):
            before, now, most_before, most = 0.0, diagonal + 0 * z, 0.0, abs(diagonal) + 0 * z
            for l in range(m, degree + 1):
                k = l * (l + 1) // 2 + m
                value = value + now * (cosines[k] * power.real + sines[k] * power.imag)
                size = size + most * (abs(cosines[k]) + abs(sines[k])) * np.abs(power)
                before, now = now, ((2 * l + 1) * z * now - (l + m) * before) / (l + 1 - m)
                most_before, most = most, ((2 * l + 1) * np.abs(z) * most + (l + m) * most_before) / (l + 1 - m)
            power, diagonal = power * (x + 1j * y), -(2 * m + 1) * diagonal
        # A term of the recurrence without cancellation is `most`; each step rounds five times, of
        # up to 13 in l and 13 in m, then come the sums of 91 terms.
        return [(some, value, (2 * 13 * 5 + 91) * EPS64 / 2 * size)]

    return Problem(
        (directions, cosines, sines, degree, np.zeros(n)), (n, len(l)), (4,), expected, threads=n, bytes=32 * n,
        flops=91 * 11 * n,
    )  # fmt: skip


def bessel_problem(rng, n):
    """n arguments from -40 to 40, order 7, from 90 down."""
    x, order, start = rng.uniform(-40, 40, n), 7, 90
    x[::97] = 0

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        angle = np.arange(240) * (2 * np.pi / 240)  # the mean over a period converges at once
        exact = np.cos(order * angle - x[some][:, None] * np.sin(angle)).mean(1)
        # The recurrence is stable downward: each of 90 steps rounds three times, relative to the
        # largest of what follows; NumPy's sines have arguments up to 47.
        return [(some, exact, (90 * 3 + 2 * 47) * EPS64 / 2)]

    return Problem(
        (x, order, start, np.zeros(n)), (n,), (3,), expected, threads=n, bytes=16 * n, flops=90 * 5 * n
    )


def american_problem(rng, n):
    """n options, 201 points, 150 steps."""
    points, steps, rate, maturity = 201, 150, np.float32(0.04), np.float32(0.75)
    spots, strikes = (rng.uniform(80, 120, n).astype(np.float32) for _ in range(2))
    volatilities = rng.uniform(0.15, 0.45, n).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 300)
        spot, strike, sigma = (v[some].astype(np.float64)[:, None] for v in (spots, strikes, volatilities))
        dt = float(maturity) / steps
        dx = sigma * np.sqrt(3 * dt)
        drift, variance = float(rate) - sigma**2 / 2, dt * sigma**2 / dx**2
        slope, discount = dt * drift / (2 * dx), 1 / (1 + float(rate) * dt)
        at = (np.arange(points) - points // 2) * dx
        payoff = np.maximum(strike - spot * np.exp(at), 0)
        v = payoff.copy()
        for _ in range(steps):
            held = discount * ((variance / 2 - slope) * v[:, :-2] + (1 - variance) * v[:, 1:-1] + (variance / 2 + slope) * v[:, 2:])
            v[:, 1:-1] = np.maximum(held, payoff[:, 1:-1])
        # The payoff is off by its exponent's roundings; the coefficients by a dozen each and a step
        # by five, of the strike, and no step makes an error larger.
        error = (steps * (12 + 5) + 6 * np.abs(at).max(1) + 4) * EPS32 / 2 * strike[:, 0]
        return [(some, v[:, points // 2], error)]

    return Problem(
        (spots, strikes, volatilities, rate, maturity, points, steps, np.zeros(n, np.float32)), (n,), (7,), expected, grid=n,
        bytes=16 * n, flops=6 * points * steps * n,
    )  # fmt: skip


CG_HEAD = "cg_update(double alpha, const double *p, const double *q, double *x, double *r, double *total, int n)"
CG = indexed(
    f"""
__global__ void {CG_HEAD} {{
  __shared__ double part[{BLOCK}];
  double acc = 0;
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (INDEX)blockDim.x) {{
    x[i] += alpha * p[i];
    double rest = r[i] - alpha * q[i];
    r[i] = rest;
    acc += rest * rest;
  }}
  int t = threadIdx.x;
  part[t] = acc;
  __syncthreads();
  for (int stride = {BLOCK // 2}; stride > 0; stride /= 2) {{
    if (t < stride)
      part[t] += part[t + stride];
    __syncthreads();
  }}
  if (t == 0)
    atomicAdd(total, part[0]);
}}
""",
    f"""
void {CG_HEAD} {{
  double acc = 0;
#pragma omp parallel for reduction(+ : acc)
  for (int i = 0; i < n; i++) {{
    x[i] += alpha * p[i];
    double rest = r[i] - alpha * q[i];
    r[i] = rest;
    acc += rest * rest;
  }}
  total[0] += acc;
}}
""",
)

LEVEL = each(
    """triangle_level(const int *level, const int *starts, const int *columns, const double *values, const double *right,
                    double *x, int n, int ends, int entries, int unknowns)""",
    """
    INDEX row = level[i], last = starts[row + 1] - 1;
    double s = right[row];
    for (INDEX k = starts[row]; k < last; k++)
      s -= values[k] * x[columns[k]];
    x[row] = s / values[last];
""",
)

KEYS_HEAD = "sums_by_keys(const int *keys, const float *values, int length, float *sums, int n, int size)"
KEYS = indexed(
    f"""
__global__ void {KEYS_HEAD} {{
  INDEX first = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) * length;
  if (first >= n)
    return;
  INDEX end = MIN(first + length, (INDEX)n);
  int key = keys[first];
  float acc = 0;
  for (INDEX i = first; i < end; i++) {{
    if (keys[i] != key) {{
      atomicAdd(sums + key, acc);
      key = keys[i];
      acc = 0;
    }}
    acc += values[i];
  }}
  atomicAdd(sums + key, acc);
}}
""",
    f"""
void {KEYS_HEAD} {{
#pragma omp parallel for
  for (int first = 0; first < n; first += length) {{
    int end = MIN(first + length, n), key = keys[first];
    float acc = 0;
    for (int i = first; i < end; i++) {{
      if (keys[i] != key) {{
#pragma omp atomic
        sums[key] += acc;
        key = keys[i];
        acc = 0;
      }}
      acc += values[i];
    }}
#pragma omp atomic
    sums[key] += acc;
  }}
}}
""",
)

UPDATE_HEAD = "kmeans_update(const float *points, const int *labels, float *sums, int *counts, int n, int dimensions, int size)"
UPDATE = indexed(
    f"""
__global__ void {UPDATE_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (i < n) {{
    INDEX label = labels[i];
    for (INDEX k = 0; k < dimensions; k++)
      atomicAdd(sums + label * dimensions + k, points[i * dimensions + k]);
    atomicAdd(counts + label, 1);
  }}
}}
""",
    f"""
void {UPDATE_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{
    INDEX label = labels[i];
    for (INDEX k = 0; k < dimensions; k++) {{
#pragma omp atomic
      sums[label * dimensions + k] += points[i * dimensions + k];
    }}
#pragma omp atomic
    counts[label]++;
  }}
}}
""",
)

SQUARES = each(
    "givens_least_squares(const float *matrices, const float *right, float *solutions, int n)",
    """
    float m[7][4];
    for (INDEX i = 0; i < 7; i++) {
      for (INDEX j = 0; j < 3; j++)
        m[i][j] = matrices[21 * t + 3 * i + j];
      m[i][3] = right[7 * t + i];
    }
    for (INDEX j = 0; j < 3; j++)
      for (INDEX i = 6; i > j; i--) {
        float a = m[i - 1][j], b = m[i][j];
        if (b != 0) {
          float r = sqrtf(a * a + b * b), c = a / r, s = b / r;
          for (INDEX k = j; k < 4; k++) {
            float upper = m[i - 1][k], lower = m[i][k];
            m[i - 1][k] = c * upper + s * lower;
            m[i][k] = c * lower - s * upper;
          }
        }
      }
    float *x = solutions + 3 * t;
    for (INDEX i = 2; i >= 0; i--) {
      float v = m[i][3];
      for (INDEX j = i + 1; j < 3; j++)
        v -= m[i][j] * x[j];
      x[i] = v / m[i][i];
    }
""",
    index="t",
)

SPHERICAL = each(
    """spherical_series(const double *directions, const double *cosines, const double *sines, int degree, double *values,
                      int n, int terms)""",
    """
    double x = directions[3 * i], y = directions[3 * i + 1], z = directions[3 * i + 2];
    double total = 0, c = 1, s = 0, diagonal = 1;
    for (INDEX m = 0; m <= degree; m++) {
      double before = 0, now = diagonal;
      for (INDEX l = m; l <= degree; l++) {
        INDEX k = l * (l + 1) / 2 + m;
        total += now * (cosines[k] * c + sines[k] * s);
        double after = ((2 * l + 1) * z * now - (l + m) * before) / (l + 1 - m);
        before = now;
        now = after;
      }
      double turned = c * x - s * y;
      s = s * x + c * y;
      c = turned;
      diagonal *= -(2 * m + 1);
    }
    values[i] = total;
""",
)

BESSEL = each(
    "bessel_functions(const double *x, int order, int start, double *values, int n)",
    """
    double at = x[i], value = order == 0;
    if (at != 0) {
      double two_over_x = 2 / fabs(at), above = 0, now = 1, total = 0, found = 0;
      for (INDEX k = start; k > 0; k--) {
        double below = k * two_over_x * now - above;
        above = now;
        now = below;
        if (fabs(now) > 1e100) {
          now *= 1e-100;
          above *= 1e-100;
          found *= 1e-100;
          total *= 1e-100;
        }
        if (k % 2 == 1)
          total += now;
        if (k == order + 1)
          found = now;
      }
      value = found / (2 * total - now);
      if (at < 0 && order % 2 == 1)
        value = -value;
    }
    values[i] = value;
""",
)

AMERICAN_HEAD = """american_put(const float *spots, const float *strikes, const float *volatilities, float rate, float maturity,
                  int points, int steps, float *prices, int n)"""
AMERICAN_CONSTANTS = """
  float sigma = volatilities[option], dt = maturity / steps, dx = sigma * sqrtf(3 * dt);
  float drift = rate - sigma * sigma / 2, variance = dt * sigma * sigma / (dx * dx), slope = dt * drift / (2 * dx);
  float discount = 1 / (1 + rate * dt);
  float up = discount * (variance / 2 + slope), middle = discount * (1 - variance), down = discount * (variance / 2 - slope);
"""
AMERICAN = indexed(
    f"""
__global__ void {AMERICAN_HEAD} {{
  __shared__ float v[2][{LARGEST}];
  INDEX option = blockIdx.x, j = threadIdx.x;
{AMERICAN_CONSTANTS}
  float payoff = 0;
  if (j < points) {{
    payoff = fmaxf(strikes[option] - spots[option] * expf((j - points / 2) * dx), 0);
    v[0][j] = payoff;
  }}
  __syncthreads();
  for (INDEX step = 0; step < steps; step++) {{
    INDEX now = step % 2;
    if (j < points) {{
      if (j == 0 || j == points - 1)
        v[1 - now][j] = payoff;
      else
        v[1 - now][j] = fmaxf(down * v[now][j - 1] + middle * v[now][j] + up * v[now][j + 1], payoff);
    }}
    __syncthreads();
  }}
  if (j == points / 2)
    prices[option] = v[steps % 2][j];
}}
""",
    f"""
void {AMERICAN_HEAD} {{
#pragma omp parallel for
  for (INDEX option = 0; option < n; option++) {{
{AMERICAN_CONSTANTS}
    float v[2][{LARGEST}], payoff[{LARGEST}];
    for (INDEX j = 0; j < points; j++)
      v[0][j] = v[1][j] = payoff[j] = fmaxf(strikes[option] - spots[option] * expf((j - points / 2) * dx), 0);
    for (INDEX step = 0; step < steps; step++)
      for (INDEX j = 1; j < points - 1; j++) {{
        float *old = v[step % 2];
        v[1 - step % 2][j] = fmaxf(down * old[j - 1] + middle * old[j] + up * old[j + 1], payoff[j]);
      }}
    prices[option] = v[steps % 2][points / 2];
  }}
}}
""",
)

LINE64, FLOATS = "float64[::1]", "float32[::1]"

KERNELS = [
    Kernel(
        "conjugate gradients, update and product", cg_update, f"float64, {', '.join([LINE64] * 5)}", BLOCK, cg_problem,
        gpu=10_000_019, host=1_000_003, test=3001, kind="streaming", **CG,
    ),
    Kernel(
        "a level of a sparse triangle", triangle_level, f"int32[::1], int32[::1], int32[::1], {LINE64}, {LINE64}, {LINE64}",
        128, level_problem, gpu=1_000_003, host=50_021, test=1013, kind="irregular", **LEVEL,
    ),
    Kernel(
        "sums by sorted keys", sums_by_keys, f"int32[::1], {FLOATS}, pyint, {FLOATS}", 256, keys_problem,
        gpu=20_000_003, host=1_000_003, test=5003, **KEYS,
    ),
    Kernel(
        "k-means, sums of labels", kmeans_update, f"float32[:,::1], int32[::1], float32[:,::1], int32[::1]", 256,
        update_problem, gpu=1_000_003, host=100_003, test=1013, **UPDATE,
    ),
    Kernel(
        "least squares, Givens", givens_least_squares, "float32[:,:,::1], float32[:,::1], float32[:,::1]", 128,
        squares_problem, gpu=1_000_003, host=50_021, test=301, **SQUARES,
    ),
    Kernel(
        "series of spherical harmonics", spherical_series, f"float64[:,::1], {LINE64}, {LINE64}, pyint, {LINE64}", 128,
        spherical_problem, gpu=500_009, host=20_011, test=301, **SPHERICAL,
    ),
    Kernel(
        "Bessel functions, downward", bessel_functions, f"{LINE64}, pyint, pyint, {LINE64}", 256, bessel_problem,
        gpu=2_000_003, host=50_021, test=301, **BESSEL,
    ),
    Kernel(
        "American put by differences", american_put, ", ".join([*3 * [FLOATS], "float32, float32, pyint, pyint", FLOATS]),
        LARGEST, american_problem, gpu=5003, host=301, test=5, kind="shared", **AMERICAN,
    ),
]  # fmt: skip
