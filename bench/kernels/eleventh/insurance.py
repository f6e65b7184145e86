"""Insurance: premiums of policies, losses in layers of treaties, reserves of triangles."""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda, float32


def policy_premiums(ages, terms, sexes, mortality, discount, expense, premiums, reserves):
    """Endowments: what is paid each year for one, from the last year back, and what must be held after half of them."""
    i = cuda.grid(1)
    if i >= ages.size:
        return
    age, term, sex = int(ages[i]), int(terms[i]), int(sexes[i])
    value = 1.0
    annuity = 0.0
    value_then = annuity_then = 0.0
    for t in range(term - 1, -1, -1):
        q = mortality[sex, age + t]
        value = discount * (q + (1 - q) * value)
        annuity = 1 + discount * (1 - q) * annuity
        if t == term // 2:
            value_then, annuity_then = value, annuity
    premium = value / annuity
    premiums[i] = premium * (1 + expense)
    reserves[i] = value_then - premium * annuity_then


def treaty_losses(starts, losses, attachments, limits, totals, ceded):
    """Losses of years in layers: what is above the attachment, up to a limit a loss and another a year."""
    year, layer = cuda.grid(2)
    if layer >= ceded.shape[0] or year >= ceded.shape[1]:
        return
    paid = float32(0)
    for k in range(starts[year], starts[year + 1]):
        paid += min(max(losses[k] - attachments[layer], 0), limits[layer])
        if paid >= totals[layer]:
            paid = totals[layer]
            break
    ceded[layer, year] = paid


def triangle_reserves(triangles, reserves):
    """Chain ladder: from triangles of what was paid, years of accident by years after it, what is still to be paid."""
    i = cuda.grid(1)
    if i >= reserves.size:
        return
    size = triangles.shape[0]
    factors = cuda.local.array(16, np.float64)
    for c in range(size - 1):
        above = 0.0
        below = 0.0
        for r in range(size - 1 - c):
            above += triangles[r, c + 1, i]
            below += triangles[r, c, i]
        factors[c] = above / below
    total = 0.0
    for r in range(1, size):
        last = size - 1 - r
        growth = 1.0
        for c in range(last, size - 1):
            growth *= factors[c]
        total += triangles[r, last, i] * (growth - 1)
    reserves[i] = total


def premiums_problem(rng, n):
    ages, terms = rng.integers(18, 70, n).astype(np.uint8), rng.integers(1, 50, n).astype(np.uint8)
    sexes = rng.integers(0, 2, n).astype(np.uint8)
    mortality = np.minimum(0.0005 + 1e-5 * np.exp(0.11 * np.arange(121)) * np.array([[1.0], [0.7]]), 1)
    discount, expense = np.float64(1 / 1.02), np.float64(0.03)

    def expected():
        at = sampled(rng, n, 20000)
        a, m, s = (v[at].astype(int) for v in (ages, terms, sexes))
        value, annuity, then = np.ones(len(at)), np.zeros(len(at)), np.zeros((2, len(at)))
        for t in range(50, -1, -1):
            on = t < m
            q = mortality[s, np.minimum(a + t, 120)]
            value = np.where(on, discount * (q + (1 - q) * value), value)
            annuity = np.where(on, 1 + discount * (1 - q) * annuity, annuity)
            then = np.where(t == m // 2, [value, annuity], then)
        premium = value / annuity
        bound = 400 * EPS64
        return [(at, premium * (1 + expense), bound * premium), (at, then[0] - premium * then[1], bound * (1 + premium * then[1]))]

    args = (ages, terms, sexes, mortality, discount, expense, np.full(n, -1.0), np.full(n, 99.0))
    return Problem(args, (n, 121), (6, 7), expected, threads=n, bytes=19.0 * n, flops=7.0 * 25 * n)


def treaty_problem(rng, n):
    sizes = rng.poisson(11, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    losses = (1e5 * rng.pareto(1.3, starts[-1])).astype(np.float32)
    layers = 9
    attachments = (5e4 * 1.8 ** np.arange(layers)).astype(np.float32)
    limits = (4e4 * 1.8 ** np.arange(layers)).astype(np.float32)
    totals = (limits * rng.choice([1, 2, 3], layers)).astype(np.float32)

    def expected():
        at = sampled(rng, n, 2000)
        values = np.zeros((layers, len(at)))
        for k, year in enumerate(at):
            above = losses[starts[year] : starts[year + 1]].astype(float) - attachments[:, None]
            values[:, k] = np.minimum(np.clip(above, 0, limits[:, None]).sum(1), totals)
        bound = 64 * EPS32 * np.broadcast_to(totals[:, None], values.shape) + 2 * EPS32 * 1e5
        return [((slice(None), at), values, bound)]

    args = (starts, losses, attachments, limits, totals, np.full((layers, n), -1, np.float32))
    return Problem(
        args, (layers, n), (5,), expected, threads=(n, layers), bytes=4.0 * len(losses) + 4.0 * (layers + 1) * n,
        flops=4.0 * layers * len(losses),
    )  # fmt: skip


def triangles_problem(rng, n):
    size = 11
    growth = 1 + np.array([1.5, 0.7, 0.4, 0.2, 0.1, 0.08, 0.05, 0.03, 0.02, 0.01])
    triangles = np.zeros((size, size, n))
    triangles[:, 0] = rng.uniform(50, 150, (size, n))
    for c in range(1, size):
        triangles[:, c] = triangles[:, c - 1] * growth[c - 1] * rng.uniform(0.9, 1.1, (size, n))
    for r in range(1, size):
        triangles[r, size - r :] = np.nan

    def expected():
        at = sampled(rng, n, 2000)
        t = triangles[:, :, at]
        factors = np.stack([t[: size - 1 - c, c + 1].sum(0) / t[: size - 1 - c, c].sum(0) for c in range(size - 1)])
        total = sum(t[r, size - 1 - r] * (factors[size - 1 - r :].prod(0) - 1) for r in range(1, size))
        return [(at, total, 100 * EPS64 * total)]

    args = (triangles, np.full(n, -1.0))
    return Problem(args, (size, n), (1,), expected, threads=n, bytes=8.0 * 66 * n, flops=200.0 * n)


PREMIUMS = each(
    """policy_premiums(const unsigned char *__restrict__ ages, const unsigned char *__restrict__ terms,
                     const unsigned char *__restrict__ sexes, const double *__restrict__ mortality, double discount,
                     double expense, double *__restrict__ premiums, double *__restrict__ reserves, int n, int oldest)""",
    """
    INDEX age = ages[i], term = terms[i];
    const double *row = mortality + sexes[i] * oldest;
    double value = 1, annuity = 0, value_then = 0, annuity_then = 0;
    for (INDEX t = term - 1; t >= 0; t--) {
      double q = row[age + t];
      value = discount * (q + (1 - q) * value);
      annuity = 1 + discount * (1 - q) * annuity;
      if (t == term / 2) {
        value_then = value;
        annuity_then = annuity;
      }
    }
    double premium = value / annuity;
    premiums[i] = premium * (1 + expense);
    reserves[i] = value_then - premium * annuity_then;
""",
)

TREATY = plane(
    """treaty_losses(const int *__restrict__ starts, const float *__restrict__ losses, const float *__restrict__ attachments,
                   const float *__restrict__ limits, const float *__restrict__ totals, float *__restrict__ ceded, int rows,
                   int cols)""",
    """
    float paid = 0;
    INDEX end = starts[col + 1];
    for (INDEX k = starts[col]; k < end; k++) {
      paid += fminf(fmaxf(losses[k] - attachments[row], 0), limits[row]);
      if (paid >= totals[row]) {
        paid = totals[row];
        break;
      }
    }
    ceded[row * cols + col] = paid;
""",
)

TRIANGLES = each(
    "triangle_reserves(const double *__restrict__ triangles, double *__restrict__ reserves, int size, int n)",
    """
    double factors[16], total = 0;
    for (INDEX c = 0; c < size - 1; c++) {
      double above = 0, below = 0;
      for (INDEX r = 0; r < size - 1 - c; r++) {
        above += triangles[(r * size + c + 1) * n + i];
        below += triangles[(r * size + c) * n + i];
      }
      factors[c] = above / below;
    }
    for (INDEX r = 1; r < size; r++) {
      INDEX last = size - 1 - r;
      double growth = 1;
      for (INDEX c = last; c < size - 1; c++)
        growth *= factors[c];
      total += triangles[(r * size + last) * n + i] * (growth - 1);
    }
    reserves[i] = total;
""",
)

KERNELS = [
    Kernel(
        "premiums of policies", policy_premiums,
        "uint8[::1], uint8[::1], uint8[::1], float64[:,::1], float64, float64, float64[::1], float64[::1]", 128,
        premiums_problem, gpu=3_000_017, host=30_011, test=503, kind="irregular", **PREMIUMS,
    ),
    Kernel(
        "losses in layers", treaty_losses, "int32[::1], float32[::1], float32[::1], float32[::1], float32[::1], float32[:,::1]",
        (64, 4), treaty_problem, gpu=500_009, host=10_007, test=303, kind="irregular", **TREATY,
    ),
    Kernel(
        "reserves of triangles", triangle_reserves, "float64[:,:,::1], float64[::1]", 128, triangles_problem, gpu=500_009,
        host=5003, test=103, **TRIANGLES,
    ),
]  # fmt: skip
