"""Norms of layers: statistics of channels, norms of groups of them."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed
from pyptx import cuda, float32


def channel_statistics(x, mean, variance):
    """Batch norm's mean and variance of a channel; a block a channel, 256 threads."""
    c = cuda.blockIdx.x
    t = cuda.threadIdx.x
    batch, _, area = x.shape
    sums = cuda.shared.array(32, float32)
    squares = cuda.shared.array(32, float32)
    s = float32(0.0)
    q = float32(0.0)
    for b in range(batch):
        for k in range(t, area, cuda.blockDim.x):
            v = x[b, c, k]
            s += v
            q += v * v
    d = 16
    while d > 0:
        s += cuda.shfl_down_sync(0xFFFFFFFF, s, d)
        q += cuda.shfl_down_sync(0xFFFFFFFF, q, d)
        d //= 2
    if t % 32 == 0:
        sums[t // 32] = s
        squares[t // 32] = q
    cuda.syncthreads()
    if t == 0:
        s = float32(0.0)
        q = float32(0.0)
        for w in range(cuda.blockDim.x // 32):
            s += sums[w]
            q += squares[w]
        m = s / (batch * area)
        mean[c] = m
        variance[c] = q / (batch * area) - m * m


def block_total(v, sums):
    """The sum over the block, for all of its threads."""
    t = cuda.threadIdx.x
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_xor_sync(0xFFFFFFFF, v, d)
    if t % 32 == 0:
        sums[t // 32] = v
    cuda.syncthreads()
    total = float32(0.0)
    for w in range(cuda.blockDim.x // 32):
        total += sums[w]
    cuda.syncthreads()
    return total


def group_norm(x, gamma, beta, groups, eps, y):
    """A block a group of an image's channels: mean, then variance, then the scaled values."""
    image = cuda.blockIdx.x
    group = cuda.blockIdx.y
    t = cuda.threadIdx.x
    sums = cuda.shared.array(32, float32)
    area = x.shape[2]
    each = x.shape[1] // groups
    first = group * each
    s = float32(0.0)
    for c in range(first, first + each):
        for k in range(t, area, cuda.blockDim.x):
            s += x[image, c, k]
    mean = block_total(s, sums) / (each * area)
    q = float32(0.0)
    for c in range(first, first + each):
        for k in range(t, area, cuda.blockDim.x):
            d = x[image, c, k] - mean
            q += d * d
    scale = 1 / math.sqrt(block_total(q, sums) / (each * area) + eps)
    for c in range(first, first + each):
        a = gamma[c] * scale
        b = beta[c] - mean * a
        for k in range(t, area, cuda.blockDim.x):
            y[image, c, k] = x[image, c, k] * a + b


def channels_problem(rng, n):
    channels, area = 263, 777
    x = rng.standard_normal((n, channels, area), dtype=np.float32) + np.float32(0.25)

    def expected():
        wide = x.astype(float)
        mean, square = wide.mean((0, 2)), (wide * wide).mean((0, 2))
        # A thread adds at most 4 n values in sequence, then 5 + 8 sums; OpenMP adds lanes of a row, then rows.
        adds = (4 * n + 16) * EPS32
        return [
            (slice(None), mean, adds * np.abs(wide).mean((0, 2))),
            (slice(None), square - mean * mean, 4 * adds * square),
        ]

    args = (x, np.zeros(channels, np.float32), np.zeros(channels, np.float32))
    return Problem(
        args, (n, channels, area), (1, 2), expected, grid=channels, bytes=4.0 * x.size, sequential=area / 4
    )


def group_problem(rng, n):
    channels, groups, area = 96, 8, 29 * 31
    x = rng.standard_normal((n, channels, area), dtype=np.float32) + np.float32(0.5)
    gamma, beta = np.float32(rng.uniform(0.5, 1.5, channels)), rng.standard_normal(channels, dtype=np.float32)

    def expected():
        at = sampled(rng, n, 30)
        v = x[at].astype(float).reshape(at.size, groups, -1)
        v = (v - v.mean(2, keepdims=True)) / np.sqrt(v.var(2, keepdims=True) + 1e-5)
        # Sums of 10788 values near 1 by 256 threads: 60 roundings; values are below 8.
        return [(at, v.reshape(at.size, channels, area) * gamma[:, None] + beta[:, None], 60 * EPS32 * 2 * 8)]

    args = (x, gamma, beta, groups, np.float32(1e-5), np.zeros_like(x))
    return Problem(
        args, (n, channels, area), (5,), expected, grid=(n, groups), bytes=8.0 * x.size, sequential=20
    )


CHANNELS_HEAD = "channel_statistics(const float *x, float *mean, float *variance, int batch, int channels, int area)"
CHANNELS = indexed(
    f"""
__global__ void {CHANNELS_HEAD} {{
  __shared__ float sums[32], squares[32];
  INDEX c = blockIdx.x, t = threadIdx.x;
  float s = 0, q = 0;
  for (INDEX b = 0; b < batch; b++)
    for (INDEX k = t; k < area; k += blockDim.x) {{
      float v = x[(b * channels + c) * area + k];
      s += v;
      q += v * v;
    }}
  for (int d = 16; d > 0; d /= 2) {{
    s += __shfl_down_sync(0xffffffff, s, d);
    q += __shfl_down_sync(0xffffffff, q, d);
  }}
  if (t % 32 == 0) {{
    sums[t / 32] = s;
    squares[t / 32] = q;
  }}
  __syncthreads();
  if (t == 0) {{
    s = q = 0;
    for (INDEX w = 0; w < blockDim.x / 32; w++) {{
      s += sums[w];
      q += squares[w];
    }}
    float m = s / (batch * area);
    mean[c] = m;
    variance[c] = q / (batch * area) - m * m;
  }}
}}
""",
    f"""
void {CHANNELS_HEAD} {{
#pragma omp parallel for
  for (INDEX c = 0; c < channels; c++) {{
    float s = 0, q = 0;
    for (INDEX b = 0; b < batch; b++) {{
      const float *v = x + (b * channels + c) * area;
#pragma omp simd reduction(+ : s, q)
      for (INDEX k = 0; k < area; k++) {{
        s += v[k];
        q += v[k] * v[k];
      }}
    }}
    float m = s / (batch * area);
    mean[c] = m;
    variance[c] = q / (batch * area) - m * m;
  }}
}}
""",
)

GROUP_HEAD = """group_norm(const float *x, const float *gamma, const float *beta, int groups, float eps, float *y,
                int n, int channels, int area)"""
GROUP = indexed(
    f"""
__device__ float group_total(float v, float *sums) {{
  INDEX t = threadIdx.x;
  for (int d = 16; d > 0; d /= 2)
    v += __shfl_xor_sync(0xffffffff, v, d);
  if (t % 32 == 0) sums[t / 32] = v;
  __syncthreads();
  float total = 0;
  for (INDEX w = 0; w < blockDim.x / 32; w++)
    total += sums[w];
  __syncthreads();
  return total;
}}
__global__ void {GROUP_HEAD} {{
  __shared__ float sums[32];
  INDEX image = blockIdx.x, group = blockIdx.y, t = threadIdx.x;
  INDEX each = channels / groups, first = group * each;
  float s = 0, q = 0;
  for (INDEX c = first; c < first + each; c++)
    for (INDEX k = t; k < area; k += blockDim.x)
      s += x[(image * channels + c) * area + k];
  float mean = group_total(s, sums) / (each * area);
  for (INDEX c = first; c < first + each; c++)
    for (INDEX k = t; k < area; k += blockDim.x) {{
      float d = x[(image * channels + c) * area + k] - mean;
      q += d * d;
    }}
  float scale = 1 / sqrtf(group_total(q, sums) / (each * area) + eps);
  for (INDEX c = first; c < first + each; c++) {{
    float a = gamma[c] * scale, b = beta[c] - mean * a;
    for (INDEX k = t; k < area; k += blockDim.x)
      y[(image * channels + c) * area + k] = x[(image * channels + c) * area + k] * a + b;
  }}
}}
""",
    f"""
void {GROUP_HEAD} {{
  INDEX each = channels / groups, size = each * area;
#pragma omp parallel for
  for (INDEX part = 0; part < n * groups; part++) {{
    const float *from = x + part * size;
    float *to = y + part * size, s = 0, q = 0;
#pragma omp simd reduction(+ : s)
    for (INDEX k = 0; k < size; k++)
      s += from[k];
    float mean = s / size;
#pragma omp simd reduction(+ : q)
    for (INDEX k = 0; k < size; k++)
      q += (from[k] - mean) * (from[k] - mean);
    float scale = 1 / sqrtf(q / size + eps);
    for (INDEX c = 0; c < each; c++) {{
      INDEX channel = part % groups * each + c;
      float a = gamma[channel] * scale, b = beta[channel] - mean * a;
      for (INDEX k = 0; k < area; k++)
        to[c * area + k] = from[c * area + k] * a + b;
    }}
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "statistics of channels", channel_statistics, "float32[:,:,::1], float32[::1], float32[::1]", 256,
        channels_problem,
        gpu=157, host=23, test=3, kind="shared", **CHANNELS,
    ),
    Kernel(
        "norm of groups", group_norm, "float32[:,:,::1], float32[::1], float32[::1], pyint, float32, float32[:,:,::1]",
        256,
        group_problem,
        gpu=301, host=11, test=2, kind="shared", **GROUP,
    ),
]  # fmt: skip
