"""Markets: paths of Heston's model, moments for a regression of what options pay."""

import math

import numpy as np
from kernels.declare import EPS64, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, indexed
from pyptx import cuda, float64

TWO_PI = 2 * math.pi


def scrambled_state(s):
    s ^= s >> np.uint64(12)
    s ^= s << np.uint64(25)
    s ^= s >> np.uint64(27)
    return s


def heston_paths(seeds, steps, dt, spot, start, rate, kappa, theta, sigma, rho, last):
    """Prices at the end of paths with a random variance (full truncation), xorshift and Box-Muller."""
    i = cuda.grid(1)
    if i >= seeds.size:
        return
    s = seeds[i]
    v = start
    x = math.log(spot)
    other = math.sqrt(1 - rho * rho)
    for _ in range(steps):
        s = scrambled_state(s)
        u1 = (float64(s >> np.uint64(11)) + 0.5) * 2.0**-53
        s = scrambled_state(s)
        u2 = (float64(s >> np.uint64(11)) + 0.5) * 2.0**-53
        radius = math.sqrt(-2 * math.log(u1))
        z1 = radius * math.cos(TWO_PI * u2)
        z2 = rho * z1 + other * radius * math.sin(TWO_PI * u2)
        positive = max(v, 0.0)
        root = math.sqrt(positive * dt)
        x += (rate - 0.5 * positive) * dt + root * z1
        v += kappa * (theta - positive) * dt + sigma * root * z2
    last[i] = math.exp(x)


def regression_moments(spot, cash, strike, sums):
    """Longstaff and Schwartz: moments of x = spot / strike, and with the later cash, over paths in the money."""
    m = cuda.local.array(8, float64)
    for k in range(8):
        m[k] = 0.0
    for i in range(cuda.grid(1), spot.size, cuda.gridsize(1)):
        if spot[i] < strike:
            x = spot[i] / strike
            p = 1.0
            for k in range(5):
                m[k] += p
                if k < 3:
                    m[5 + k] += p * cash[i]
                p *= x
    for k in range(8):
        v = m[k]
        for d in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
        if cuda.threadIdx.x % 32 == 0:
            cuda.atomic.add(sums, k, v)


def heston_problem(rng, n):
    steps, dt, spot, start, rate, kappa, theta, sigma, rho = 97, 1 / 252, 100.0, 0.09, 0.03, 2.0, 0.09, 0.3, -0.7
    seeds = rng.integers(1, 1 << 63, n, np.uint64)

    def expected():
        at = sampled(rng, n, 5000)
        s, v, x = seeds[at].copy(), np.full(at.size, start), np.full(at.size, np.log(spot))

        def uniform():
            nonlocal s
            s ^= s >> np.uint64(12)
            s ^= s << np.uint64(25)
            s ^= s >> np.uint64(27)
            return ((s >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53

        for _ in range(steps):
            radius = np.sqrt(-2 * np.log(uniform()))
            angle = TWO_PI * uniform()
            z1 = radius * np.cos(angle)
            z2 = rho * z1 + np.sqrt(1 - rho * rho) * radius * np.sin(angle)
            positive = np.maximum(v, 0)
            root = np.sqrt(positive * dt)
            x += (rate - 0.5 * positive) * dt + root * z1
            v += kappa * (theta - positive) * dt + sigma * root * z2
        # A variance near 0 is rounded by 1e-17, its root then by 3e-9 of a step's 0.06 sigma; prices are below 1000.
        return [(at, np.exp(x), 1000 * 3e-9)]

    args = (seeds, steps, *map(np.float64, (dt, spot, start, rate, kappa, theta, sigma, rho)), np.zeros(n))
    return Problem(args, (n,), (10,), expected, threads=n, flops=60.0 * n * steps)


def moments_problem(rng, n):
    strike = 100.0
    spot = strike * np.exp(rng.normal(0, 0.2, n))
    cash = np.maximum(strike - spot * np.exp(rng.normal(0, 0.1, n)), 0)

    def expected():
        inside = spot < strike
        x, y = spot[inside] / strike, cash[inside]
        powers = [np.ones_like(x), x, x * x, x**3, x**4]
        terms = powers + [p * y for p in powers[:3]]
        # Sums of positive numbers in any order; a power has 4 roundings.
        sums = np.array([t.sum() for t in terms])
        return [(slice(None), sums, sum_bound(n / 500 + 60, sums, EPS64) + 6 * EPS64 * sums)]

    args = (spot, cash, np.float64(strike), np.zeros(8))
    blocks = min(264, -(-n // 256))
    return Problem(args, (n,), (3,), expected, grid=blocks, bytes=16.0 * n, sequential=500)


HESTON = each(
    """heston_paths(const unsigned long *__restrict__ seeds, int steps, double dt, double spot, double start,
                  double rate, double kappa, double theta, double sigma, double rho,
                  double *__restrict__ last, int n)""",
    """
    unsigned long s = seeds[i];
    double v = start, x = log(spot), other = sqrt(1 - rho * rho);
    for (INDEX step = 0; step < steps; step++) {
      s = scrambled_state(s);
      double u1 = ((double)(s >> 11) + 0.5) * 0x1p-53;
      s = scrambled_state(s);
      double u2 = ((double)(s >> 11) + 0.5) * 0x1p-53;
      double radius = sqrt(-2 * log(u1)), z1 = radius * cos(6.283185307179586 * u2);
      double z2 = rho * z1 + other * radius * sin(6.283185307179586 * u2);
      double positive = fmax(v, 0.0), root = sqrt(positive * dt);
      x += (rate - 0.5 * positive) * dt + root * z1;
      v += kappa * (theta - positive) * dt + sigma * root * z2;
    }
    last[i] = exp(x);
""",
    before="""
DEVICE unsigned long scrambled_state(unsigned long s) {
  s ^= s >> 12;
  s ^= s << 25;
  s ^= s >> 27;
  return s;
}
""",
)

MOMENTS_HEAD = """regression_moments(const double *__restrict__ spot, const double *__restrict__ cash, double strike,
                        double *__restrict__ sums, int n)"""
MOMENTS = indexed(
    f"""
__global__ void {MOMENTS_HEAD} {{
  double m[8] = {{0}};
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += (INDEX)gridDim.x * blockDim.x)
    if (spot[i] < strike) {{
      double x = spot[i] / strike, p = 1;
      for (int k = 0; k < 5; k++) {{
        m[k] += p;
        if (k < 3) m[5 + k] += p * cash[i];
        p *= x;
      }}
    }}
  for (int k = 0; k < 8; k++) {{
    double v = m[k];
    for (int d = 16; d > 0; d /= 2)
      v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) atomicAdd(&sums[k], v);
  }}
}}
""",
    f"""
void {MOMENTS_HEAD} {{
#pragma omp parallel for reduction(+ : sums[:8])
  for (INDEX i = 0; i < n; i++)
    if (spot[i] < strike) {{
      double x = spot[i] / strike, p = 1;
      for (int k = 0; k < 5; k++) {{
        sums[k] += p;
        if (k < 3) sums[5 + k] += p * cash[i];
        p *= x;
      }}
    }}
}}
""",
)

KERNELS = [
    Kernel(
        "Heston paths", heston_paths,
        "uint64[::1], pyint, float64, float64, float64, float64, float64, float64, float64, float64, float64[::1]",
        128, heston_problem,
        gpu=100_003, host=5003, test=203, **HESTON,
    ),
    Kernel(
        "moments of a regression", regression_moments, "float64[::1], float64[::1], float64, float64[::1]", 256,
        moments_problem,
        gpu=10_000_019, host=500_009, test=3001, kind="shared", **MOMENTS,
    ),
]  # fmt: skip
