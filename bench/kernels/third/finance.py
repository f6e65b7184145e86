"""Finance: American puts on a binomial lattice (float32), yields of bonds by Newton's method
(float64).
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.third.texts import sides
from pyptx import cuda


def binomial_option(price, strike, years, rate, volatility, steps, values, premium):
    """An American put by Cox, Ross and Rubinstein's lattice (1979), folded in place; `values` is
    scratch.
    """
    i = cuda.grid(1)
    if i >= price.size:
        return
    dt = years[i] / steps
    up = math.exp(volatility * math.sqrt(dt))
    down = 1.0 / up
    growth = math.exp(rate * dt)
    p = (growth - down) / (up - down)
    rising = p / growth
    falling = (1.0 - p) / growth
    ratio = up * up
    lowest = price[i] * math.exp(-steps * volatility * math.sqrt(dt))
    asset = lowest
    for j in range(steps + 1):
        values[j, i] = max(strike[i] - asset, 0.0)
        asset *= ratio
    for step in range(steps, 0, -1):
        lowest *= up
        asset = lowest
        for j in range(step):
            held = falling * values[j, i] + rising * values[j + 1, i]
            values[j, i] = max(held, strike[i] - asset)
            asset *= ratio
    premium[i] = values[0, i]


def bond_yield(price, coupon, periods, tolerance, limit, result):
    """The rate at which a bond of nominal 100 is worth its price, by Newton's method."""
    i = cuda.grid(1)
    if i < price.size:
        rate = 0.05
        for _ in range(limit):
            discount = 1.0 / (1.0 + rate)
            factor = 1.0
            value = 0.0
            slope = 0.0
            for t in range(1, periods[i] + 1):
                factor *= discount
                value += coupon[i] * factor
                slope -= t * coupon[i] * factor
            value += 100.0 * factor
            slope -= periods[i] * 100.0 * factor
            change = (value - price[i]) / (slope * discount)
            rate -= change
            if abs(change) < tolerance:
                break
        result[i] = rate


def binomial_problem(rng, n):
    """n options on a lattice of 101 steps."""
    steps = 101 if n > 1000 else 23
    rate, volatility = np.float32(0.04), np.float32(0.3)
    price, strike, years = (
        (low + (high - low) * rng.random(n, np.float32)).astype(np.float32) for low, high in ((20, 60), (20, 60), (0.25, 2))
    )

    def expected():
        some = sampled(np.random.default_rng(0), n, 2048)
        s, k, t = (v[some].astype(np.float64) for v in (price, strike, years))
        dt = t / steps
        up, growth = np.exp(float(volatility) * np.sqrt(dt)), np.exp(float(rate) * dt)
        p = (growth - 1 / up) / (up - 1 / up)
        exponent = np.arange(steps + 1)[:, None]
        values = np.maximum(k - s * up ** (2.0 * exponent - steps), 0)
        for step in range(steps, 0, -1):
            held = ((1 - p) * values[:step] + p * values[1 : step + 1]) / growth
            values = np.maximum(held, k - s * up ** (2.0 * exponent[:step] - step + 1))
        # Where it matters (below the strike k), a price of the asset is off by some 4 eps for each
        # factor of it. A step of folding adds three roundings, and p's error: it is some 4 eps /
        # (up - down), but multiplies a difference of neighbours, at most k * (up - down); so some
        # 12 eps a step, relative to k.
        return [(some, values[0], 12 * steps * EPS32 * k)]

    arguments = (price, strike, years, rate, volatility, steps, np.zeros((steps + 1, n), np.float32), np.zeros_like(price))
    return Problem(arguments, (n,), (7,), expected, threads=n, bytes=16 * n, flops=2.5 * steps * steps * n)


def bond_problem(rng, n):
    """n bonds of 5 to 80 coupons, priced at yields that are known."""
    periods = rng.integers(5, 81, n).astype(np.int32)
    coupon, rate = rng.uniform(1, 8, n), rng.uniform(0.01, 0.12, n)
    discount = (1 + rate) ** -periods
    price = coupon * (1 - discount) / rate + 100 * discount
    tolerance = np.float64(1e-9)

    def expected():
        # Newton converges quadratically: after a change below 1e-9 the rest is some periods *
        # 1e-18. The value has an error of 2 eps a coupon, and the price some 100 eps (a power, and
        # a difference over a rate of 0.01 or more).
        factors = (1 + rate) ** -(periods + 1.0)
        shortest = periods * 100 * factors  # the slope is at least this
        bound = EPS64 * (2 * periods + 400) * price / shortest + 1e-16 * periods
        return [(np.s_[:], rate, bound)]

    arguments = (price, coupon, periods, tolerance, 50, np.zeros(n))
    return Problem(arguments, (n,), (5,), expected, threads=n, bytes=28 * n, flops=5 * 6 * 42 * n)


KERNELS = [
    Kernel(
        "binomial option", binomial_option,
        "float32[::1], float32[::1], float32[::1], float32, float32, pyint, float32[:,::1], float32[::1]",
        128, binomial_problem, gpu=100_003, host=6007, test=301,
        **sides(
            "binomial_option",
            "const float *price, const float *strike, const float *years, float rate, float volatility, int steps, "
            "float *values, float *premium, int n",
            [("i", "0", "n")],
            """
float dt = years[i] / steps;
float up = expf(volatility * sqrtf(dt));
float down = 1.0f / up;
float growth = expf(rate * dt);
float p = (growth - down) / (up - down);
float rising = p / growth;
float falling = (1.0f - p) / growth;
float ratio = up * up;
float lowest = price[i] * expf(-steps * volatility * sqrtf(dt));
float asset = lowest;
for (INDEX j = 0; j <= steps; j++) {
  values[j * n + i] = fmaxf(strike[i] - asset, 0.0f);
  asset *= ratio;
}
for (INDEX step = steps; step > 0; step--) {
  lowest *= up;
  asset = lowest;
  for (INDEX j = 0; j < step; j++) {
    float held = falling * values[j * n + i] + rising * values[(j + 1) * n + i];
    values[j * n + i] = fmaxf(held, strike[i] - asset);
    asset *= ratio;
  }
}
premium[i] = values[i];
""",
        ),
    ),
    Kernel(
        "yield of a bond", bond_yield, "float64[::1], float64[::1], int32[::1], float64, pyint, float64[::1]",
        256, bond_problem, gpu=1_000_003, host=100_003, test=1003,
        **sides(
            "bond_yield",
            "const double *price, const double *coupon, const int *periods, double tolerance, int limit, "
            "double *result, int n",
            [("i", "0", "n")],
            """
double rate = 0.05;
for (INDEX k = 0; k < limit; k++) {
  double discount = 1.0 / (1.0 + rate);
  double factor = 1.0, value = 0.0, slope = 0.0;
  for (INDEX t = 1; t <= periods[i]; t++) {
    factor *= discount;
    value += coupon[i] * factor;
    slope -= t * coupon[i] * factor;
  }
  value += 100.0 * factor;
  slope -= periods[i] * 100.0 * factor;
  double change = (value - price[i]) / (slope * discount);
  rate -= change;
  if (fabs(change) < tolerance)
    break;
}
result[i] = rate;
""",
        ),
    ),
]  # fmt: skip
