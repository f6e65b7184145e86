"""Markets: forward rates by paths, hazards of default from spreads, falls from the highest price."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, float64


def forward_paths(forwards, volatilities, normals, period, strike, payoffs):
    """Forward rates under the spot measure, period by period; what the right to pay `strike` is worth once the first half has passed."""
    i = cuda.grid(1)
    if i >= payoffs.size:
        return
    count = forwards.size
    steps = normals.shape[0]
    rates = cuda.local.array(40, float32)
    for k in range(count):
        rates[k] = forwards[k]
    root = math.sqrt(period)
    discount = float32(1)
    for step in range(steps):
        z = normals[step, i]
        discount /= 1 + period * rates[step]
        drift = float32(0)
        for k in range(step + 1, count):
            vol = volatilities[k - step - 1]
            drift += period * rates[k] * vol / (1 + period * rates[k])
            rates[k] *= math.exp((drift * vol - vol * vol / 2) * period + vol * root * z)
    bond = float32(1)
    annuity = float32(0)
    for k in range(steps, count):
        bond /= 1 + period * rates[k]
        annuity += period * bond
    payoffs[i] = discount * max(1 - bond - strike * annuity, 0)


def swap_value(hazard, survival, start, end, spread, recovery, discounts):
    """Value of protection less premium, by quarters, and what is left alive, at a constant hazard rate."""
    alive = survival
    value = 0.0
    for q in range(start, end):
        later = alive * math.exp(-0.25 * hazard)
        value += discounts[q] * ((1 - recovery) * (alive - later) - 0.125 * spread * (alive + later))
        alive = later
    return value, alive


def hazard_rates(spreads, recoveries, tenors, discounts, hazards):
    """Default intensities, tenor by tenor, from the spreads of credit default swaps: a secant that keeps the root between two ends."""
    i = cuda.grid(1)
    if i >= recoveries.size:
        return
    survivals = cuda.local.array(16, float64)
    recovery = recoveries[i]
    for t in range(tenors.size):
        spread = spreads[t, i]
        before = 0.0  # earlier parts at this spread
        alive = 1.0
        start = 0
        for s in range(t):
            part, alive = swap_value(hazards[s, i], alive, start, tenors[s], spread, recovery, discounts)
            before += part
            start = tenors[s]
        low, high = 0.0, 2.0
        at_low = before + swap_value(low, alive, start, tenors[t], spread, recovery, discounts)[0]
        at_high = before + swap_value(high, alive, start, tenors[t], spread, recovery, discounts)[0]
        side = 0
        hazard = low
        while high - low > 1e-12:
            hazard = (low * at_high - high * at_low) / (at_high - at_low)
            value = before + swap_value(hazard, alive, start, tenors[t], spread, recovery, discounts)[0]
            if abs(value) < 1e-14:
                break
            if value > 0:
                high, at_high = hazard, value
                if side == 1:
                    at_low /= 2
                side = 1
            else:
                low, at_low = hazard, value
                if side == -1:
                    at_high /= 2
                side = -1
        hazards[t, i] = hazard


def deepest_drawdowns(prices, depths, lengths):
    """The deepest fall of a price from its highest value before, and the longest time below it."""
    for i in range(cuda.grid(1), prices.shape[1], cuda.gridsize(1)):
        peak = prices[0, i]
        deepest = float32(0)
        below = longest = 0
        for day in range(1, prices.shape[0]):
            p = prices[day, i]
            if p >= peak:
                peak = p
                below = 0
            else:
                below += 1
                deepest = max(deepest, (peak - p) / peak)
                longest = max(longest, below)
        depths[i] = deepest
        lengths[i] = longest


def forward_problem(rng, n):
    count, steps = 20, 10
    forwards = np.linspace(0.02, 0.05, count).astype(np.float32)
    volatilities = (0.15 + 0.1 * np.exp(-0.3 * np.arange(count))).astype(np.float32)
    normals = rng.standard_normal((steps, n)).astype(np.float32)
    period, strike = np.float32(0.5), np.float32(0.035)

    def expected():
        at = sampled(rng, n, 2000)
        delta, k, vols = float(period), float(strike), volatilities.astype(float)
        rates = np.repeat(forwards.astype(float)[:, None], len(at), 1)
        discount = np.ones(len(at))
        for step in range(steps):
            discount /= 1 + delta * rates[step]
            vol = vols[: count - step - 1, None]
            after = rates[step + 1 :]
            drift = np.cumsum(delta * after * vol / (1 + delta * after), 0)
            after *= np.exp((drift * vol - vol**2 / 2) * delta + vol * math.sqrt(delta) * normals[step, at].astype(float))
        bonds = np.cumprod(1 / (1 + delta * rates[steps:]), 0)
        value = discount * np.maximum(1 - bonds[-1] - k * delta * bonds.sum(0), 0)
        return [(at, value, 200 * EPS32)]  # ten exponentials of a rate, each to some 3 EPS32; a bond of ten, from 1

    args = (forwards, volatilities, normals, period, strike, np.full(n, -1, np.float32))
    return Problem(args, (count, steps, n), (5,), expected, threads=n, bytes=44.0 * n, flops=15 * 145.0 * n)


def hazard_problem(rng, n):
    tenors = np.array([4, 12, 20, 28, 40], np.int32)
    discounts = np.exp(-0.03 * 0.25 * np.arange(1, 41))
    slope = rng.uniform(0.9, 1.3, (len(tenors), n))
    slope[0] = rng.uniform(0.002, 0.04, n)
    spreads, recoveries = np.cumprod(slope, 0), rng.uniform(0.2, 0.5, n)

    def expected():
        at = sampled(rng, n, 1000)
        hazards, quarters = np.zeros((len(tenors), len(at))), np.arange(40)
        for t, end in enumerate(tenors):
            low, high = np.zeros(len(at)), np.full(len(at), 2.0)
            for _ in range(60):
                hazards[t] = (low + high) / 2
                rates = hazards[np.minimum(np.searchsorted(tenors, quarters[:end], "right"), t)]
                alive = np.exp(-0.25 * np.cumsum(np.vstack([np.zeros(len(at)), rates]), 0))
                parts = (1 - recoveries[at]) * (alive[:-1] - alive[1:]) - 0.125 * spreads[t, at] * (alive[:-1] + alive[1:])
                over = discounts[:end] @ parts > 0
                low, high = np.where(over, low, hazards[t]), np.where(over, hazards[t], high)
        return [((slice(None), at), hazards, 1e-9)]  # a value of 1e-14 is 1e-13 of a hazard; rounding makes it some 1e-13 too

    args = (spreads, recoveries, tenors, discounts, np.full((len(tenors), n), -1.0))
    return Problem(args, (len(tenors), n), (4,), expected, threads=n, bytes=88.0 * n, flops=12.0 * 10 * 104 * n)


def drawdown_problem(rng, n):
    days = 253
    prices = 100 * np.exp(np.cumsum(np.float32(0.015) * rng.standard_normal((days, n), np.float32), 0))

    def expected():
        at = sampled(rng, n, 2000)
        p = prices[:, at]
        peak = np.maximum.accumulate(p, 0)
        day = np.arange(days)[:, None]
        since = np.maximum.accumulate(np.where(p == peak, day, 0), 0)
        depth = (peak.astype(float) - p) / peak
        return [(at, depth.max(0), 2 * EPS32), (at, (day - since).max(0), 0)]

    args = (prices, np.full(n, -1, np.float32), np.full(n, -1, np.int16))
    return Problem(args, (days, n), (1, 2), expected, grid=353, bytes=4.0 * days * n + 6.0 * n, flops=4.0 * days * n)


FORWARD = each(
    """forward_paths(const float *__restrict__ forwards, const float *__restrict__ volatilities, const float *__restrict__ normals,
                   float period, float strike, float *__restrict__ payoffs, int count, int steps, int n)""",
    """
    float rates[40], root = sqrtf(period), discount = 1, bond = 1, annuity = 0;
    for (int k = 0; k < count; k++)
      rates[k] = forwards[k];
    for (INDEX step = 0; step < steps; step++) {
      float z = normals[step * n + i], drift = 0;
      discount /= 1 + period * rates[step];
      for (INDEX k = step + 1; k < count; k++) {
        float vol = volatilities[k - step - 1];
        drift += period * rates[k] * vol / (1 + period * rates[k]);
        rates[k] *= expf((drift * vol - vol * vol / 2) * period + vol * root * z);
      }
    }
    for (INDEX k = steps; k < count; k++) {
      bond /= 1 + period * rates[k];
      annuity += period * bond;
    }
    payoffs[i] = discount * fmaxf(1 - bond - strike * annuity, 0);
""",
)

HAZARD = each(
    """hazard_rates(const double *__restrict__ spreads, const double *__restrict__ recoveries, const int *__restrict__ tenors,
                  const double *__restrict__ discounts, double *__restrict__ hazards, int count, int n)""",
    """
    double recovery = recoveries[i];
    for (INDEX t = 0; t < count; t++) {
      double spread = spreads[t * n + i], before = 0, alive = 1;
      int start = 0;
      for (INDEX s = 0; s < t; s++) {
        before += credit_value(hazards[s * n + i], &alive, start, tenors[s], spread, recovery, discounts);
        start = tenors[s];
      }
      double low = 0, high = 2, kept = alive;
      double at_low = before + credit_value(low, &kept, start, tenors[t], spread, recovery, discounts);
      kept = alive;
      double at_high = before + credit_value(high, &kept, start, tenors[t], spread, recovery, discounts), hazard = low;
      int side = 0;
      while (high - low > 1e-12) {
        hazard = (low * at_high - high * at_low) / (at_high - at_low);
        kept = alive;
        double value = before + credit_value(hazard, &kept, start, tenors[t], spread, recovery, discounts);
        if (fabs(value) < 1e-14) break;
        if (value > 0) {
          high = hazard;
          at_high = value;
          if (side == 1) at_low /= 2;
          side = 1;
        } else {
          low = hazard;
          at_low = value;
          if (side == -1) at_high /= 2;
          side = -1;
        }
      }
      hazards[t * n + i] = hazard;
    }
""",
    before="""
DEVICE double credit_value(double hazard, double *survival, int start, int end, double spread, double recovery,
                           const double *discounts) {
  double alive = *survival, value = 0;
  for (int q = start; q < end; q++) {
    double later = alive * exp(-0.25 * hazard);
    value += discounts[q] * ((1 - recovery) * (alive - later) - 0.125 * spread * (alive + later));
    alive = later;
  }
  *survival = alive;
  return value;
}
""",
)

DRAWDOWN_HEAD = """deepest_drawdowns(const float *__restrict__ prices, float *__restrict__ depths, short *__restrict__ lengths, int days,
                       int n)"""
DRAWDOWN_BODY = """
    float peak = prices[i], deepest = 0;
    int below = 0, longest = 0;
    for (INDEX day = 1; day < days; day++) {
      float p = prices[day * n + i];
      if (p >= peak) {
        peak = p;
        below = 0;
      } else {
        below++;
        deepest = fmaxf(deepest, (peak - p) / peak);
        longest = MAX(longest, below);
      }
    }
    depths[i] = deepest;
    lengths[i] = longest;
"""
DRAWDOWN = indexed(
    f"""
__global__ void {DRAWDOWN_HEAD} {{
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (INDEX)blockDim.x) {{{DRAWDOWN_BODY}  }}
}}
""",
    f"""
void {DRAWDOWN_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{DRAWDOWN_BODY}  }}
}}
""",
)

KERNELS = [
    Kernel(
        "paths of forward rates", forward_paths, "float32[::1], float32[::1], float32[:,::1], float32, float32, float32[::1]",
        128, forward_problem, gpu=500_009, host=10_007, test=303, **FORWARD,
    ),
    Kernel(
        "hazards of default", hazard_rates, "float64[:,::1], float64[::1], int32[::1], float64[::1], float64[:,::1]", 128,
        hazard_problem, gpu=50_021, host=1003, test=203, kind="irregular", **HAZARD,
    ),
    Kernel(
        "falls from the highest price", deepest_drawdowns, "float32[:,::1], float32[::1], int16[::1]", 128, drawdown_problem,
        gpu=200_003, host=10_007, test=503, kind="streaming", **DRAWDOWN,
    ),
]  # fmt: skip
