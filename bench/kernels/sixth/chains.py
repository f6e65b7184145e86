"""Loops of a thread of its own: Metropolis' chains, the likelihood of GARCH, gravity of a tree of squares."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, float32, int32


def energy(x):
    return 4 * (x * x - 1) * (x * x - 1)


def shifted(s):
    s ^= s << 13
    s ^= s >> 17
    return s ^ (s << 5)


def metropolis(seeds, width, steps, last, mean, taken):
    """A chain a thread between two wells, random numbers by xorshift."""
    i = cuda.grid(1)
    if i >= seeds.size:
        return
    s = seeds[i]
    x = 0.0
    e = energy(x)
    total = 0.0
    accepted = 0
    for _ in range(steps):
        s = shifted(s)
        y = x + (s * 2.3283064365386963e-10 - 0.5) * width
        f = energy(y)
        s = shifted(s)
        if f <= e or s * 2.3283064365386963e-10 < math.exp(e - f):
            x = y
            e = f
            accepted += 1
        total += x
    last[i] = x
    mean[i] = total / steps
    taken[i] = accepted


def garch(returns, omega, alpha, beta, likelihood):
    """The log likelihood of GARCH(1,1) for each set of parameters."""
    i = cuda.grid(1)
    if i < omega.size:
        w = omega[i]
        a = alpha[i]
        b = beta[i]
        h = w / (1 - a - b)
        total = float32(0.0)
        for t in range(returns.size):
            r2 = returns[t] * returns[t]
            total -= 0.5 * (math.log(h) + r2 / h)
            h = w + a * r2 + b * h
        likelihood[i] = total


def tree_gravity(mass, cx, cy, side, leaves, x, y, opening, soft, ax, ay):
    """Barnes and Hut: a body walks the tree of squares with a stack of its own."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    stack = cuda.local.array(64, int32)
    stack[0] = 0
    top = 1
    fx = 0.0
    fy = 0.0
    while top > 0:
        top -= 1
        node = int(stack[top])
        m = mass[node]
        if m == 0.0:
            continue
        dx = cx[node] - x[i]
        dy = cy[node] - y[i]
        r2 = dx * dx + dy * dy
        if node >= leaves or side[node] * side[node] < opening * opening * r2:
            r2 += soft
            f = m / (r2 * math.sqrt(r2))
            fx += f * dx
            fy += f * dy
        else:
            for k in range(4):
                stack[top] = 4 * node + 1 + k
                top += 1
    ax[i] = fx
    ay[i] = fy


def metropolis_problem(rng, n):
    seeds, width, steps = rng.integers(1, 2**32, n, dtype=np.uint32), np.float64(1.5), 203

    def expected():
        at = sampled(rng, n, 3000)
        s, x, total = seeds[at], np.zeros(at.size), np.zeros(at.size)
        accepted = np.zeros(at.size, np.int32)
        for _ in range(steps):
            s = shifted(s)
            y = x + (s * 2.0**-32 - 0.5) * width
            s = shifted(s)
            take = (energy(y) <= energy(x)) | (s * 2.0**-32 < np.exp(np.minimum(energy(x) - energy(y), 0)))
            x = np.where(take, y, x)
            accepted += take
            total += x
        # 203 steps of rounded sums of numbers below 3; a comparison differs once in 10**13.
        return [(at, x, 203 * 1e-15), (at, total / steps, 203 * 1e-15), (at, accepted, 0)]

    args = (seeds, width, steps, np.zeros(n), np.zeros(n), np.zeros(n, np.int32))
    return Problem(args, (n,), (3, 4, 5), expected, threads=n, bytes=24.0 * n)


def garch_problem(rng, n):
    days = 503
    returns = np.float32(rng.standard_t(6, days))
    omega, alpha, beta = (np.float32(rng.uniform(*ends, n)) for ends in ((0.05, 0.3), (0.02, 0.15), (0.5, 0.8)))

    def expected():
        at = sampled(rng, n, 3000)
        w, a, b = (v[at].astype(float) for v in (omega, alpha, beta))
        h = w / (1 - a - b)
        total, size = np.zeros(at.size), np.zeros(at.size)
        for r in returns.astype(float):
            size += np.abs(np.log(h)) + r * r / h
            total -= 0.5 * (np.log(h) + r * r / h)
            h = w + a * r * r + b * h
        # The sum rounds 503 times at most by its size; h, whose start is ill-conditioned, adds a few roundings of it.
        return [(at, total, (days / 2 + 20) * EPS32 * (0.5 * size + days / 10))]

    args = (returns, omega, alpha, beta, np.zeros(n, np.float32))
    return Problem(args, (days, n), (4,), expected, threads=n, bytes=16.0 * n)


def tree_problem(rng, n):
    levels, opening, soft = 6, np.float64(0.7), np.float64(1e-6)
    width = 2**levels
    x, y = rng.beta(2, 3, n), rng.beta(2, 3, n)
    ix, iy = (x * width).astype(int), (y * width).astype(int)
    code = sum(((ix >> b & 1) << 2 * b) | ((iy >> b & 1) << 2 * b + 1) for b in range(levels))
    order = np.argsort(code, kind="stable")
    x, y, code = x[order], y[order], code[order]
    parts = [[np.bincount(code, w, width**2) for w in (np.full(n, 1 / n), x / n, y / n)]]
    for _ in range(levels):
        parts.insert(0, [v.reshape(-1, 4).sum(1) for v in parts[0]])
    mass, mx, my = (np.concatenate([p[k] for p in parts]) for k in range(3))
    cx, cy = mx / np.where(mass, mass, 1), my / np.where(mass, mass, 1)
    side = np.concatenate([np.full(4**level, 0.5**level) for level in range(levels + 1)])
    leaves = (4**levels - 1) // 3

    def expected():
        at = sampled(rng, n, 200)
        dx, dy = cx - x[at, None], cy - y[at, None]
        r2 = dx * dx + dy * dy
        near = (mass > 0) & ~((np.arange(mass.size) >= leaves) | (side**2 < opening**2 * r2))
        reached = np.zeros(near.shape, bool)
        reached[:, 0] = True
        for node in range(1, mass.size):
            reached[:, node] = reached[:, (node - 1) // 4] & near[:, (node - 1) // 4]
        f = np.where(reached & ~near, mass / (r2 + soft) ** 1.5, 0)
        # Hundreds of forces; the largest, of a leaf at a distance near 0, has a difference of places rounded.
        bounds = [1e-12 * (1 + (f * np.abs(v)).sum(1)) + 2e-15 * (f.max(1)) for v in (dx, dy)]
        return [(at, (f * dx).sum(1), bounds[0]), (at, (f * dy).sum(1), bounds[1])]

    args = (mass, cx, cy, side, leaves, x, y, opening, soft, np.zeros(n), np.zeros(n))
    return Problem(args, (mass.size, n), (9, 10), expected, threads=n, bytes=32.0 * n)


METROPOLIS = each(
    "metropolis(const unsigned *seeds, double width, int steps, double *last, double *mean, int *taken, int n)",
    """
    unsigned s = seeds[i];
    double x = 0, e = well_energy(x), total = 0;
    int accepted = 0;
    for (INDEX k = 0; k < steps; k++) {
      s = well_shifted(s);
      double y = x + (s * 2.3283064365386963e-10 - 0.5) * width, f = well_energy(y);
      s = well_shifted(s);
      if (f <= e || s * 2.3283064365386963e-10 < exp(e - f)) {
        x = y;
        e = f;
        accepted++;
      }
      total += x;
    }
    last[i] = x;
    mean[i] = total / steps;
    taken[i] = accepted;
""",
    before="""
DEVICE double well_energy(double x) { return 4 * (x * x - 1) * (x * x - 1); }
DEVICE unsigned well_shifted(unsigned s) {
  s ^= s << 13;
  s ^= s >> 17;
  return s ^ (s << 5);
}
""",
)

GARCH = each(
    """garch(const float *returns, const float *omega, const float *alpha, const float *beta, float *likelihood,
           int days, int n)""",
    """
    float w = omega[i], a = alpha[i], b = beta[i], h = w / (1 - a - b), total = 0;
    for (INDEX t = 0; t < days; t++) {
      float r2 = returns[t] * returns[t];
      total -= 0.5f * (logf(h) + r2 / h);
      h = w + a * r2 + b * h;
    }
    likelihood[i] = total;
""",
)

TREE = each(
    """tree_gravity(const double *mass, const double *cx, const double *cy, const double *side, int leaves,
                  const double *x, const double *y, double opening, double soft, double *ax, double *ay, int nodes,
                  int n)""",
    """
    int stack[64], top = 1;
    double fx = 0, fy = 0;
    stack[0] = 0;
    while (top > 0) {
      int node = stack[--top];
      double m = mass[node];
      if (m == 0) continue;
      double dx = cx[node] - x[i], dy = cy[node] - y[i], r2 = dx * dx + dy * dy;
      if (node >= leaves || side[node] * side[node] < opening * opening * r2) {
        r2 += soft;
        double f = m / (r2 * sqrt(r2));
        fx += f * dx;
        fy += f * dy;
      } else
        for (int k = 0; k < 4; k++)
          stack[top++] = 4 * node + 1 + k;
    }
    ax[i] = fx;
    ay[i] = fy;
""",
)

KERNELS = [
    Kernel(
        "Metropolis' chains", metropolis, "uint32[::1], float64, pyint, float64[::1], float64[::1], int32[::1]", 128,
        metropolis_problem,
        gpu=200_003, host=3003, test=203, **METROPOLIS,
    ),
    Kernel(
        "likelihood of GARCH", garch, "float32[::1], float32[::1], float32[::1], float32[::1], float32[::1]", 128,
        garch_problem,
        gpu=200_003, host=5003, test=203, **GARCH,
    ),
    Kernel(
        "gravity of a tree", tree_gravity,
        "float64[::1], float64[::1], float64[::1], float64[::1], pyint, float64[::1], float64[::1], "
        "float64, float64, float64[::1], float64[::1]", 64,
        tree_problem,
        gpu=50_003, host=2003, test=203, kind="irregular", **TREE,
    ),
]  # fmt: skip
