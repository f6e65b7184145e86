"""Options: an Asian one by paths, volatilities by Newton's iteration."""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, float32


def asian_option(seeds, payoffs, steps, spot, strike, rate, sigma, years):
    """Arithmetic Asian call: a path a thread, an LCG with a mix, Box and Muller."""
    i = cuda.grid(1)
    if i >= payoffs.size:
        return
    state = seeds[i]
    dt = years / steps
    drift = (rate - 0.5 * sigma * sigma) * dt
    vol = sigma * math.sqrt(dt)
    log_s = float32(0.0)
    total = float32(0.0)
    for _ in range(steps // 2):
        state = state * 1664525 + 1013904223
        h = state ^ (state >> 16)
        h = h * 0x7FEB352D
        u1 = (np.float32(h >> 8) + 0.5) * float32(1.0 / 16777216.0)
        state = state * 1664525 + 1013904223
        h = state ^ (state >> 16)
        h = h * 0x7FEB352D
        u2 = np.float32(h >> 8) * float32(1.0 / 16777216.0)
        radius = math.sqrt(-2 * math.log(u1))
        angle = float32(6.2831853) * u2
        log_s += drift + vol * radius * math.cos(angle)
        total += math.exp(log_s)
        log_s += drift + vol * radius * math.sin(angle)
        total += math.exp(log_s)
    mean = spot * total / (steps // 2 * 2)
    payoffs[i] = math.exp(-rate * years) * max(mean - strike, float32(0.0))


def normal_probability(x):
    return 0.5 * math.erfc(-x * 0.7071067811865476)


def implied_volatility(price, spot, strike, years, rate, most, out):
    """Newton's iteration within a bracket."""
    i = cuda.grid(1)
    if i >= price.size:
        return
    s = spot[i]
    k = strike[i] * math.exp(-rate * years[i])
    root = math.sqrt(years[i])
    log_money = math.log(s / k)
    low = 1e-4
    high = 4.0
    v = 0.3
    for _ in range(most):
        d1 = log_money / (v * root) + 0.5 * v * root
        d2 = d1 - v * root
        error = s * normal_probability(d1) - k * normal_probability(d2) - price[i]
        if abs(error) < 1e-10:
            break
        if error > 0:
            high = v
        else:
            low = v
        vega = s * root * 0.3989422804014327 * math.exp(-0.5 * d1 * d1)
        v -= error / vega
        if v <= low or v >= high:
            v = 0.5 * (low + high)
    out[i] = v


def asian_problem(rng, n):
    seeds = rng.integers(0, 2**32, n, dtype=np.uint32)
    steps, (spot, strike, rate, sigma, years) = 63, [np.float32(v) for v in (100, 97, 0.03, 0.25, 1.0)]

    def expected():
        at = sampled(rng, n, 20000)
        state, log_s, total = seeds[at].copy(), 0.0, 0.0
        S, K, R, V, Y = map(float, (spot, strike, rate, sigma, years))
        drift, vol = (R - V * V / 2) * Y / steps, V * math.sqrt(Y / steps)

        def draw():
            nonlocal state
            state = state * np.uint32(1664525) + np.uint32(1013904223)
            return ((state ^ (state >> np.uint32(16))) * np.uint32(0x7FEB352D) >> np.uint32(8)).astype(float)

        for _ in range(steps // 2):
            radius = np.sqrt(-2 * np.log((draw() + 0.5) / 2**24))
            angle = float(np.float32(6.2831853)) * draw() / 2**24
            log_s = log_s + drift + vol * radius * np.cos(angle)
            total = total + np.exp(log_s)
            log_s = log_s + drift + vol * radius * np.sin(angle)
            total = total + np.exp(log_s)
        return [(at, math.exp(-R * Y) * np.maximum(S * total / (steps // 2 * 2) - K, 0), 1e-2)]

    args = (seeds, np.zeros(n, np.float32), steps, spot, strike, rate, sigma, years)
    return Problem(args, (n,), (1,), expected, threads=n)


def implied_problem(rng, n):
    spot, years, v = rng.uniform(80, 120, n), rng.uniform(0.25, 2, n), rng.uniform(0.1, 0.8, n)
    strike, rate = spot * np.exp(rng.uniform(-0.2, 0.2, n)), np.float64(0.02)
    k = strike * np.exp(-rate * years)
    d1 = np.log(spot / k) / (v * np.sqrt(years)) + 0.5 * v * np.sqrt(years)

    def phi(x):  # NumPy has no erfc
        return np.array([0.5 * math.erfc(-t / math.sqrt(2)) for t in x])

    price = spot * phi(d1) - k * phi(d1 - v * np.sqrt(years))
    args = (price, spot, strike, years, rate, 50, np.zeros(n))
    return Problem(args, (n,), (6,), lambda: [(slice(None), v, 1e-8)], threads=n)


ASIAN = each(
    """asian_option(const unsigned *seeds, float *payoffs, int steps, float spot, float strike, float rate,
                  float sigma, float years, int n)""",
    """
    unsigned state = seeds[i];
    float dt = years / steps, drift = (rate - 0.5f * sigma * sigma) * dt, vol = sigma * sqrtf(dt);
    float log_s = 0, total = 0;
    for (INDEX k = 0; k < steps / 2; k++) {
      state = state * 1664525u + 1013904223u;
      unsigned h = state ^ (state >> 16);
      h = h * 0x7feb352du;
      float u1 = ((float)(h >> 8) + 0.5f) * (1.0f / 16777216.0f);
      state = state * 1664525u + 1013904223u;
      h = state ^ (state >> 16);
      h = h * 0x7feb352du;
      float u2 = (float)(h >> 8) * (1.0f / 16777216.0f);
      float radius = sqrtf(-2 * logf(u1)), angle = 6.2831853f * u2;
      log_s += drift + vol * radius * cosf(angle);
      total += expf(log_s);
      log_s += drift + vol * radius * sinf(angle);
      total += expf(log_s);
    }
    float mean = spot * total / (steps / 2 * 2);
    payoffs[i] = expf(-rate * years) * fmaxf(mean - strike, 0.0f);
""",
)

IMPLIED = each(
    """implied_volatility(const double *price, const double *spot, const double *strike, const double *years,
                        double rate, int most, double *out, int n)""",
    """
    double s = spot[i], k = strike[i] * exp(-rate * years[i]), root = sqrt(years[i]), log_money = log(s / k);
    double low = 1e-4, high = 4.0, v = 0.3;
    for (INDEX step = 0; step < most; step++) {
      double d1 = log_money / (v * root) + 0.5 * v * root, d2 = d1 - v * root;
      double error = s * implied_phi(d1) - k * implied_phi(d2) - price[i];
      if (fabs(error) < 1e-10) break;
      if (error > 0) high = v;
      else low = v;
      double vega = s * root * 0.3989422804014327 * exp(-0.5 * d1 * d1);
      v -= error / vega;
      if (v <= low || v >= high) v = 0.5 * (low + high);
    }
    out[i] = v;
""",
    before="""
DEVICE double implied_phi(double x) { return 0.5 * erfc(-x * 0.7071067811865476); }
""",
)

KERNELS = [
    Kernel(
        "Asian option", asian_option,
        "uint32[::1], float32[::1], pyint, float32, float32, float32, float32, float32", 128,
        asian_problem,
        gpu=400_003, host=10_003, test=503, **ASIAN,
    ),
    Kernel(
        "implied volatility", implied_volatility,
        "float64[::1], float64[::1], float64[::1], float64[::1], float64, pyint, float64[::1]", 64,
        implied_problem,
        gpu=300_007, host=5003, test=503, kind="irregular", **IMPLIED,
    ),
]  # fmt: skip
