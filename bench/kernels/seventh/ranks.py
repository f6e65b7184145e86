"""Resamples and ranks: means of a bootstrap, quantiles of rows."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, indexed
from pyptx import cuda, float32


def bootstrap_means(x, seeds, means):
    """The mean of as many values as there are, drawn with replacement; a thread a resample, xorshift."""
    i = cuda.grid(1)
    if i >= seeds.size:
        return
    s = seeds[i]
    n = np.uint64(x.size)
    total = float32(0.0)
    for _ in range(x.size):
        s ^= s << np.uint32(13)
        s ^= s >> np.uint32(17)
        s ^= s << np.uint32(5)
        total += x[(np.uint64(s) * n) >> np.uint64(32)]
    means[i] = total / float32(x.size)


def row_quantiles(x, share, rounds, quantiles):
    """A quantile of each row by halving an interval; a warp a row, which counts the values below the middle."""
    lane = cuda.threadIdx.x % 32
    row = cuda.grid(1) // 32
    if row >= x.shape[0]:
        return
    n = x.shape[1]
    low = float32(3.0e38)
    high = float32(-3.0e38)
    for k in range(lane, n, 32):
        low = min(low, x[row, k])
        high = max(high, x[row, k])
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_xor_sync(0xFFFFFFFF, low, d))
        high = max(high, cuda.shfl_xor_sync(0xFFFFFFFF, high, d))
    wanted = int(share * float32(n))
    for _ in range(rounds):
        middle = (low + high) * float32(0.5)
        count = 0
        for k in range(lane, n, 32):
            if x[row, k] <= middle:
                count += 1
        for d in (16, 8, 4, 2, 1):
            count += cuda.shfl_xor_sync(0xFFFFFFFF, count, d)
        if count > wanted:
            high = middle
        else:
            low = middle
    if lane == 0:
        quantiles[row] = high


def bootstrap_problem(rng, n):
    x = np.float32(rng.gamma(2, 1.5, 1511))
    seeds = rng.integers(1, 1 << 32, n, np.uint32)

    def expected():
        at = sampled(rng, n, 1000)
        s, total = seeds[at].copy(), np.zeros(at.size)
        for _ in range(x.size):
            s ^= s << np.uint32(13)
            s ^= s >> np.uint32(17)
            s ^= s << np.uint32(5)
            total += x[(s.astype(np.uint64) * np.uint64(x.size)) >> np.uint64(32)]
        return [(at, total / x.size, sum_bound(x.size + 1, total, EPS32) / x.size)]

    args = (x, seeds, np.zeros(n, np.float32))
    return Problem(args, (x.size, n), (2,), expected, threads=n, bytes=4.0 * n * x.size)


def quantile_problem(rng, n):
    width, share, rounds = 801, np.float32(0.9), 20
    x = np.float32(rng.lognormal(0, 0.7, (n, width)))

    def expected():
        low, high, wanted = x.min(1), x.max(1), int(share * np.float32(width))
        for _ in range(rounds):
            middle = (low + high) * np.float32(0.5)
            over = (x <= middle[:, None]).sum(1) > wanted
            low, high = np.where(over, low, middle), np.where(over, middle, high)
        return [(slice(None), high, 0)]  # a sum with one rounding, halved

    args = (x, share, rounds, np.zeros(n, np.float32))
    return Problem(args, (n, width), (3,), expected, threads=32 * n, bytes=4.0 * x.size)


BOOTSTRAP = each(
    """bootstrap_means(const float *__restrict__ x, const unsigned *__restrict__ seeds, float *__restrict__ means,
                     int size, int n)""",
    """
    unsigned s = seeds[i];
    float total = 0;
    for (INDEX k = 0; k < size; k++) {
      s ^= s << 13;
      s ^= s >> 17;
      s ^= s << 5;
      total += x[((unsigned long)s * size) >> 32];
    }
    means[i] = total / (float)size;
""",
)

QUANTILE_HEAD = """row_quantiles(const float *__restrict__ x, float share, int rounds, float *__restrict__ quantiles,
                   int rows, int n)"""
QUANTILES = indexed(
    f"""
__global__ void {QUANTILE_HEAD} {{
  INDEX lane = threadIdx.x % 32, row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;
  x += row * n;
  float low = 3.0e38f, high = -3.0e38f;
  for (INDEX k = lane; k < n; k += 32) {{
    low = fminf(low, x[k]);
    high = fmaxf(high, x[k]);
  }}
  for (int d = 16; d > 0; d /= 2) {{
    low = fminf(low, __shfl_xor_sync(0xffffffff, low, d));
    high = fmaxf(high, __shfl_xor_sync(0xffffffff, high, d));
  }}
  INDEX wanted = (INDEX)(share * (float)n);
  for (INDEX round = 0; round < rounds; round++) {{
    float middle = (low + high) * 0.5f;
    INDEX count = 0;
    for (INDEX k = lane; k < n; k += 32)
      if (x[k] <= middle) count++;
    for (int d = 16; d > 0; d /= 2)
      count += __shfl_xor_sync(0xffffffff, count, d);
    if (count > wanted)
      high = middle;
    else
      low = middle;
  }}
  if (lane == 0) quantiles[row] = high;
}}
""",
    f"""
void {QUANTILE_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    const float *v = x + row * n;
    float low = 3.0e38f, high = -3.0e38f;
    for (INDEX k = 0; k < n; k++) {{
      low = v[k] < low ? v[k] : low;
      high = v[k] > high ? v[k] : high;
    }}
    INDEX wanted = (INDEX)(share * (float)n);
    for (INDEX round = 0; round < rounds; round++) {{
      float middle = (low + high) * 0.5f;
      INDEX count = 0;
      for (INDEX k = 0; k < n; k++)
        count += v[k] <= middle;
      if (count > wanted)
        high = middle;
      else
        low = middle;
    }}
    quantiles[row] = high;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "bootstrap means", bootstrap_means, "float32[::1], uint32[::1], float32[::1]", 128, bootstrap_problem,
        gpu=100_003, host=2003, test=203, kind="irregular", **BOOTSTRAP,
    ),
    Kernel(
        "quantiles of rows", row_quantiles, "float32[:,::1], float32, pyint, float32[::1]", 128, quantile_problem,
        gpu=20_011, host=503, test=23, kind="shared", **QUANTILES,
    ),
]  # fmt: skip
