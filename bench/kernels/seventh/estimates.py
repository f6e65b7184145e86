"""Estimates: kernel densities."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled, sum_bound
from kernels.texts import indexed
from pyptx import cuda, float32


def kernel_density(points, queries, bandwidth, density):
    """Gaussian kernel density at each query; the points pass through shared memory, 256 at a time."""
    tile = cuda.shared.array(256, float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    n = points.size
    q = queries[i] if i < queries.size else float32(0.0)
    total = float32(0.0)
    for start in range(0, n, 256):
        if start + t < n:
            tile[t] = points[start + t]
        cuda.syncthreads()
        for k in range(min(256, n - start)):
            u = (q - tile[k]) / bandwidth
            total += math.exp(float32(-0.5) * u * u)
        cuda.syncthreads()
    if i < queries.size:
        density[i] = total / (float32(n) * bandwidth * float32(2.5066283))


def density_problem(rng, n):
    points = np.float32(np.concatenate([rng.normal(-1, 0.5, 2501), rng.normal(1.5, 0.8, 2502)]))
    queries, bandwidth = np.float32(rng.uniform(-4, 5, n)), np.float32(0.2)

    def expected():
        at = sampled(rng, n, 1000)
        u = (queries[at, None].astype(float) - points) / float(bandwidth)
        square = 0.5 * u * u
        terms = np.exp(-square)
        whole = points.size * float(bandwidth) * np.sqrt(2 * np.pi)
        # A difference below 10 is rounded once, its square so by 5 eps; 2 for the exponential. Then the sum.
        bound = (terms * (5 * square + 2)).sum(1) * EPS32 + sum_bound(points.size, terms.sum(1)) + 1e-30
        return [(at, terms.sum(1) / whole, bound / whole)]

    args = (points, queries, bandwidth, np.zeros(n, np.float32))
    return Problem(args, (points.size, n), (3,), expected, threads=n, flops=5.0 * n * points.size)


DENSITY_HEAD = """kernel_density(const float *__restrict__ points, const float *__restrict__ queries, float bandwidth,
                    float *__restrict__ density, int n, int m)"""
DENSITY = indexed(
    f"""
__global__ void {DENSITY_HEAD} {{
  __shared__ float tile[256];
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, t = threadIdx.x;
  float q = i < m ? queries[i] : 0, total = 0;
  for (INDEX start = 0; start < n; start += 256) {{
    if (start + t < n) tile[t] = points[start + t];
    __syncthreads();
    INDEX count = MIN((INDEX)256, n - start);
    for (INDEX k = 0; k < count; k++) {{
      float u = (q - tile[k]) / bandwidth;
      total += expf(-0.5f * u * u);
    }}
    __syncthreads();
  }}
  if (i < m) density[i] = total / ((float)n * bandwidth * 2.5066283f);
}}
""",
    f"""
void {DENSITY_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < m; i++) {{
    float q = queries[i], total = 0;
    for (INDEX k = 0; k < n; k++) {{
      float u = (q - points[k]) / bandwidth;
      total += expf(-0.5f * u * u);
    }}
    density[i] = total / ((float)n * bandwidth * 2.5066283f);
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "kernel density", kernel_density, "float32[::1], float32[::1], float32, float32[::1]", 256, density_problem,
        gpu=50_021, host=1021, test=301, kind="shared", **DENSITY,
    ),
]  # fmt: skip
