"""Steps of language models: rotary positions, bytes for weights."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda


def rotary(x, positions, frequencies, y):
    """Pairs (j, j + half) of each head are turned by position times frequency; a thread a pair."""
    i = cuda.grid(1)
    tokens, heads, width = x.shape
    half = width // 2
    if i < tokens * heads * half:
        j = i % half
        head = i // half % heads
        token = i // half // heads
        angle = np.float32(positions[token]) * frequencies[j]
        c = math.cos(angle)
        s = math.sin(angle)
        a = x[token, head, j]
        b = x[token, head, j + half]
        y[token, head, j] = a * c - b * s
        y[token, head, j + half] = a * s + b * c


def byte_matvec(weights, scales, x, x_scale, y):
    """int8 weights times int8 values, a warp a row."""
    row = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if row >= weights.shape[0]:
        return
    total = np.int32(0)
    for k in range(lane, weights.shape[1], 32):
        total += np.int32(weights[row, k]) * np.int32(x[k])
    d = 16
    while d > 0:
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
        d //= 2
    if lane == 0:
        y[row] = np.float32(total) * scales[row] * x_scale


def rotary_problem(rng, n):
    heads, width = 12, 120
    x = rng.standard_normal((n, heads, width), dtype=np.float32)
    positions = rng.integers(0, 4096, n).astype(np.int32)
    frequencies = np.float32(10000.0 ** (-np.arange(width // 2) / (width // 2)))

    def expected():
        at = sampled(rng, n, 300)
        angle = (np.float32(positions[at])[:, None] * frequencies)[:, None].astype(float)
        a, b = x[at, :, : width // 2].astype(float), x[at, :, width // 2 :].astype(float)
        y = np.concatenate([a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)], 2)
        return [(at, y, 8 * EPS32 * 8)]  # the angle is the same number; values are below 8

    args = (x, positions, frequencies, np.zeros_like(x))
    pairs = n * heads * width // 2
    return Problem(args, (n, heads, width), (3,), expected, threads=pairs, bytes=8.0 * x.size)


def byte_problem(rng, n):
    width = 4099
    weights, x = (rng.integers(-127, 128, s, dtype=np.int8) for s in ((n, width), width))
    scales, x_scale = np.float32(rng.uniform(0.001, 0.01, n)), np.float32(0.003)

    def expected():
        at = sampled(rng, n, 2000)
        exact = weights[at].astype(float) @ x.astype(float)
        y = exact * scales[at].astype(float) * float(x_scale)
        return [(at, y, 2 * EPS32 * np.abs(y) + 1e-30)]  # the sum is exact, a conversion and two products round

    args = (weights, scales, x, x_scale, np.zeros(n, np.float32))
    return Problem(args, (n, width), (4,), expected, threads=32 * n, bytes=float(weights.size))


ROTARY = each(
    """rotary(const float *x, const int *positions, const float *frequencies, float *y, int tokens, int heads,
            int width)""",
    """
    INDEX half = width / 2, j = i % half, head = i / half % heads, token = i / half / heads;
    float angle = (float)positions[token] * frequencies[j];
    float c = cosf(angle), s = sinf(angle);
    INDEX at = (token * heads + head) * width + j;
    float a = x[at], b = x[at + half];
    y[at] = a * c - b * s;
    y[at + half] = a * s + b * c;
""",
    extent="tokens * heads * (width / 2)",
)

BYTE_HEAD = """byte_matvec(const signed char *weights, const float *scales, const signed char *x, float x_scale,
                 float *y, int rows, int n)"""
BYTE = indexed(
    f"""
__global__ void {BYTE_HEAD} {{
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  int total = 0;
  for (INDEX k = lane; k < n; k += 32)
    total += weights[row * n + k] * x[k];
  for (int d = 16; d > 0; d /= 2)
    total += __shfl_xor_sync(0xffffffff, total, d);
  if (lane == 0)
    y[row] = (float)total * scales[row] * x_scale;
}}
""",
    f"""
void {BYTE_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    int total = 0;
    for (INDEX k = 0; k < n; k++)
      total += weights[row * n + k] * x[k];
    y[row] = (float)total * scales[row] * x_scale;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "rotary positions", rotary, "float32[:,:,::1], int32[::1], float32[::1], float32[:,:,::1]", 256, rotary_problem,
        gpu=10_007, host=207, test=7, kind="streaming", **ROTARY,
    ),
    Kernel(
        "8-bit weights times vector", byte_matvec, "int8[:,::1], float32[::1], int8[::1], float32, float32[::1]", 256,
        byte_problem,
        gpu=30_011, host=1003, test=17, kind="streaming", **BYTE,
    ),
]  # fmt: skip
