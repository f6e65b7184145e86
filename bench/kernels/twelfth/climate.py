"""Climate: columns that overturn, fields on levels of pressure, water into soil."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float64


def stirred_columns(density, thickness, stirred):
    """Columns of the sea, from the surface down: layers above lighter ones mix with them until none is left."""
    i = cuda.grid(1)
    if i >= density.shape[1]:
        return
    mean = cuda.local.array(64, float64)
    depth = cuda.local.array(64, float64)
    lowest = cuda.local.array(64, np.int16)
    top = 0
    for k in range(density.shape[0]):
        m, h = density[k, i], thickness[k]
        while top > 0 and mean[top - 1] > m:
            top -= 1
            m = (m * h + mean[top] * depth[top]) / (h + depth[top])
            h += depth[top]
        mean[top], depth[top], lowest[top] = m, h, k
        top += 1
    k = 0
    for layer in range(top):
        while k <= lowest[layer]:
            stirred[k, i] = mean[layer]
            k += 1


def pressure_levels(pressure, field, levels, missing, out):
    """A field on levels of pressure, between those of a model, linear in the logarithm; pressure falls from layer to layer."""
    x, y, z = cuda.grid(3)
    if z >= out.shape[0] or y >= out.shape[1] or x >= out.shape[2]:
        return
    wanted = levels[z]
    low, high = 0, pressure.shape[0] - 1
    if wanted > pressure[low, y, x] or wanted < pressure[high, y, x]:
        out[z, y, x] = missing
        return
    while high - low > 1:
        middle = (low + high) // 2
        if pressure[middle, y, x] >= wanted:
            low = middle
        else:
            high = middle
    below, above = math.log(pressure[low, y, x]), math.log(pressure[high, y, x])
    share = (below - math.log(wanted)) / (below - above)
    out[z, y, x] = field[low, y, x] + share * (field[high, y, x] - field[low, y, x])


def soaked_depths(rain, conductivity, suction, deficit, hours, depths, runoff):
    """Rain into soil after Green and Ampt, hour by hour; where water stands, Newton's steps find how deep it gets."""
    i = cuda.grid(1)
    if i >= depths.size:
        return
    k, s = conductivity[i], suction[i] * deficit[i]
    soaked = 0.0
    ran_off = 0.0
    for hour in range(rain.shape[0]):
        r = rain[hour, i]
        if r * hours <= 0:
            continue
        capacity = k * (1 + s / soaked) if soaked > 0 else math.inf
        if r <= capacity:
            later = soaked + r * hours
            if k * (1 + s / later) >= r:
                soaked = later
                continue
            ponded = max(k * s / (r - k), soaked)
            rest = hours - (ponded - soaked) / r
        else:
            ponded = soaked
            rest = hours
        f = ponded + k * rest
        while True:
            change = (f - ponded - s * math.log((f + s) / (ponded + s)) - k * rest) * (f + s) / f
            f -= change
            if abs(change) < 1e-10:
                break
        ran_off += r * hours - (f - soaked)
        soaked = f
    depths[i] = soaked
    runoff[i] = ran_off


def stirred_problem(rng, n):
    layers = 50
    thickness = 5 * 1.08 ** np.arange(layers)
    density = 1024 + 4 * (np.cumsum(thickness) / thickness.sum())[:, None] + rng.normal(0, 0.15, (layers, n))
    density[:10] += rng.exponential(0.8, n)

    def expected():
        at = sampled(rng, n, 300)
        values = np.zeros((layers, len(at)))
        for column, i in enumerate(at):
            parts = []
            for m, h in zip(density[:, i].tolist(), thickness.tolist()):
                parts.append((m, h, 1))
                while len(parts) > 1 and parts[-2][0] > parts[-1][0]:
                    (a, b, c), (m, h, k) = parts.pop(-2), parts.pop()
                    parts.append(((m * h + a * b) / (h + b), h + b, c + k))
            values[:, column] = np.repeat([p[0] for p in parts], [p[2] for p in parts])
        return [((slice(None), at), values, layers * 4 * EPS64 * 1030)]

    args = (density, thickness, np.full((layers, n), -1.0))
    return Problem(args, (layers, n), (2,), expected, threads=n, bytes=16.0 * layers * n, flops=10.0 * layers * n)


def pressure_problem(rng, n):
    layers, rows, cols = 37, n, n + n // 3
    surface = rng.uniform(700, 1030, (rows, cols))
    sigma = np.linspace(0.995, 0.002, layers) ** 1.2
    pressure = (sigma[:, None, None] * surface).astype(np.float32)
    field = (300 - 60 * (1 - sigma[:, None, None]) + rng.normal(0, 2, pressure.shape)).astype(np.float32)
    levels = np.array([1000, 925, 850, 700, 600, 500, 400, 300, 250, 200, 150, 100, 50], np.float32)
    missing = np.float32(-9999)

    def expected():
        at = sampled(rng, rows * cols, 2000)
        y, x = at // cols, at % cols
        values = np.empty((len(levels), len(at)))
        for k, column in enumerate(zip(pressure[:, y, x].T, field[:, y, x].T.astype(float))):
            p, f = column
            inside = (levels <= p[0]) & (levels >= p[-1])
            between = np.interp(-np.log(levels.astype(float)), -np.log(p.astype(float)), f)
            values[:, k] = np.where(inside, between, missing)
        # Logarithms of 2 to 7, a difference of at least 0.03 between two: a share is off by some 1e-4, a step is 10.
        return [((slice(None), y, x), values, np.where(values == missing, 0, 300 * EPS32 * 10 * 3 + 300 * EPS32))]

    args = (pressure, field, levels, missing, np.full((len(levels), rows, cols), -1, np.float32))
    return Problem(
        args, (layers, len(levels), rows, cols), (4,), expected, threads=(cols, rows, len(levels)),
        bytes=(8.0 * layers + 4.0 * len(levels)) * rows * cols, flops=60.0 * len(levels) * rows * cols,
    )  # fmt: skip


def soaked_problem(rng, n):
    count, hours = 24, np.float64(1)
    rain = rng.gamma(0.4, 8, (count, n)) * (rng.random((count, n)) < 0.5)
    conductivity, suction, deficit = rng.uniform(0.5, 8, n), rng.uniform(50, 300, n), rng.uniform(0.1, 0.4, n)

    def expected():
        at = sampled(rng, n, 1000)
        soaked, ran_off = np.zeros(len(at)), np.zeros(len(at))
        k, s = conductivity[at], (suction * deficit)[at]
        for r in rain[:, at]:
            # Ponding begins where capacity falls to the rain: after that the depth solves f - s log(f + s) = k t.
            with np.errstate(all="ignore"):
                limit = np.where(r > k, k * s / (r - k), np.inf)
            start = np.maximum(soaked, limit)
            with np.errstate(all="ignore"):
                rest = np.where(r > 0, 1 - (start - soaked) / r, 0)
            ponds = (r > 0) & (rest > 0)
            low, high = np.where(ponds, start, 0), np.where(ponds, soaked + r, 1)
            first = low
            for _ in range(60):
                f = (low + high) / 2
                over = f - first - s * np.log((f + s) / (first + s)) > k * rest
                low, high = np.where(over, low, f), np.where(over, f, high)
            later = np.where(ponds, low, soaked + r)
            ran_off, soaked = ran_off + soaked + r - later, later
        # Newton's last step is below 1e-10; an hour's error shrinks in the next.
        return [(at, soaked, 1e-7), (at, ran_off, 1e-7)]

    args = (rain, conductivity, suction, deficit, hours, np.full(n, -1.0), np.full(n, -1.0))
    return Problem(args, (count, n), (5, 6), expected, threads=n, bytes=(8.0 * count + 40) * n, flops=80.0 * count * n)


STIRRED = each(
    """stirred_columns(const double *__restrict__ density, const double *__restrict__ thickness, double *__restrict__ stirred,
                     int layers, int n)""",
    """
    double mean[64], depth[64];
    short lowest[64];
    int top = 0;
    for (INDEX k = 0; k < layers; k++) {
      double m = density[k * n + i], h = thickness[k];
      while (top > 0 && mean[top - 1] > m) {
        top--;
        m = (m * h + mean[top] * depth[top]) / (h + depth[top]);
        h += depth[top];
      }
      mean[top] = m;
      depth[top] = h;
      lowest[top] = k;
      top++;
    }
    INDEX k = 0;
    for (int layer = 0; layer < top; layer++)
      for (; k <= lowest[layer]; k++)
        stirred[k * n + i] = mean[layer];
""",
)

LEVELS_HEAD = """pressure_levels(const float *__restrict__ pressure, const float *__restrict__ field, const float *__restrict__ levels,
                     float missing, float *__restrict__ out, int layers, int count, int rows, int cols)"""
LEVELS_BODY = """
    float wanted = levels[z];
    INDEX low = 0, high = layers - 1, size = (INDEX)rows * cols, at = y * cols + x;
    if (wanted > pressure[at] || wanted < pressure[high * size + at])
      out[z * size + at] = missing;
    else {
      while (high - low > 1) {
        INDEX middle = (low + high) / 2;
        if (pressure[middle * size + at] >= wanted)
          low = middle;
        else
          high = middle;
      }
      float below = logf(pressure[low * size + at]), above = logf(pressure[high * size + at]);
      float share = (below - logf(wanted)) / (below - above);
      out[z * size + at] = field[low * size + at] + share * (field[high * size + at] - field[low * size + at]);
    }
"""
LEVELS = indexed(
    f"""
__global__ void {LEVELS_HEAD} {{
  INDEX x = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, y = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX z = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (x < cols && y < rows && z < count) {{{LEVELS_BODY}  }}
}}
""",
    f"""
void {LEVELS_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX z = 0; z < count; z++)
    for (INDEX y = 0; y < rows; y++)
      for (INDEX x = 0; x < cols; x++) {{{LEVELS_BODY}      }}
}}
""",
)

SOAKED = each(
    """soaked_depths(const double *__restrict__ rain, const double *__restrict__ conductivity, const double *__restrict__ suction,
                   const double *__restrict__ deficit, double hours, double *__restrict__ depths, double *__restrict__ runoff,
                   int count, int n)""",
    """
    double k = conductivity[i], s = suction[i] * deficit[i], soaked = 0, ran_off = 0;
    for (INDEX hour = 0; hour < count; hour++) {
      double r = rain[hour * n + i], ponded = soaked, rest = hours;
      if (r * hours <= 0) continue;
      double capacity = soaked > 0 ? k * (1 + s / soaked) : INFINITY;
      if (r <= capacity) {
        double later = soaked + r * hours;
        if (k * (1 + s / later) >= r) {
          soaked = later;
          continue;
        }
        ponded = fmax(k * s / (r - k), soaked);
        rest = hours - (ponded - soaked) / r;
      }
      double f = ponded + k * rest, change;
      do {
        change = (f - ponded - s * log((f + s) / (ponded + s)) - k * rest) * (f + s) / f;
        f -= change;
      } while (fabs(change) >= 1e-10);
      ran_off += r * hours - (f - soaked);
      soaked = f;
    }
    depths[i] = soaked;
    runoff[i] = ran_off;
""",
)

KERNELS = [
    Kernel(
        "columns stirred", stirred_columns, "float64[:,::1], float64[::1], float64[:,::1]", 128, stirred_problem, gpu=100_003,
        host=5003, test=203, kind="irregular", **STIRRED,
    ),
    Kernel(
        "levels of pressure", pressure_levels, "float32[:,:,::1], float32[:,:,::1], float32[::1], float32, float32[:,:,::1]",
        (32, 4, 2), pressure_problem, gpu=601, host=61, test=19, power=2, kind="irregular", **LEVELS,
    ),
    Kernel(
        "rain into soil", soaked_depths,
        "float64[:,::1], float64[::1], float64[::1], float64[::1], float64, float64[::1], float64[::1]", 128, soaked_problem,
        gpu=200_003, host=5003, test=203, kind="irregular", **SOAKED,
    ),
]  # fmt: skip
