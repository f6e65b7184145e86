"""Series of time: outliers in moving windows, transits of planets."""

import math

import numpy as np
from kernels.declare import EPS64, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda, float32, float64, int32


def insert_sorted(values, size, x):
    k = size
    while k > 0 and values[k - 1] > x:
        values[k] = values[k - 1]
        k -= 1
    values[k] = x


def hampel_filtered(signals, half, factor, filtered):
    """Hampel's filter: a value too far from the median of its window, in median deviations, becomes the median."""
    t, row = cuda.grid(2)
    if row >= signals.shape[0] or t >= signals.shape[1]:
        return
    window = cuda.local.array(31, float32)
    deviations = cuda.local.array(31, float32)
    last = signals.shape[1] - 1
    size = 2 * half + 1
    for k in range(size):
        insert_sorted(window, k, signals[row, min(max(t + k - half, 0), last)])
    median = window[half]
    for k in range(size):
        insert_sorted(deviations, k, abs(window[k] - median))
    x = signals[row, t]
    filtered[row, t] = median if abs(x - median) > factor * deviations[half] else x


def transit_boxes(times, fluxes, frequencies, bins, longest, powers, phases):
    """Transits of a planet: for each frequency the light folded into bins, and the best dip of a few bins (box least squares)."""
    i = cuda.grid(1)
    if i >= frequencies.size:
        return
    light = cuda.local.array(128, float64)
    counts = cuda.local.array(128, int32)
    for b in range(bins):
        light[b] = 0
        counts[b] = 0
    for k in range(times.size):
        turns = times[k] * frequencies[i]
        b = min(int((turns - math.floor(turns)) * bins), bins - 1)
        light[b] += fluxes[k]
        counts[b] += 1
    best = 0.0
    place = -1
    for start in range(bins):
        dip = 0.0
        inside = 0
        for width in range(longest):
            b = start + width
            if b >= bins:
                b -= bins
            dip += light[b]
            inside += counts[b]
            if inside < 5 or dip >= 0:
                continue
            power = dip * dip * times.size / (inside * (times.size - inside))
            if power > best:
                best = power
                place = start
    powers[i] = best
    phases[i] = place


def hampel_problem(rng, n):
    rows, half, factor = 13, 5, np.float32(3 * 1.4826)
    signals = (np.sin(np.arange(n) / 40) + 0.1 * rng.standard_normal((rows, n))).astype(np.float32)
    signals[rng.random(signals.shape) < 0.02] += 3

    def expected():
        at = sampled(rng, n, 2000)
        window = signals[:, np.clip(at[:, None] + np.arange(-half, half + 1), 0, n - 1)]
        median = np.median(window, 2)
        spread = np.median(np.abs(window - median[:, :, None]), 2)
        x = signals[:, at]
        return [((slice(None), at), np.where(np.abs(x - median) > factor * spread, median, x), 0)]

    args = (signals, half, factor, np.full((rows, n), 99, np.float32))
    return Problem(args, (rows, n), (3,), expected, threads=(n, rows), bytes=8.0 * rows * n, flops=4.0 * half * half * 4 * rows * n)


def transit_problem(rng, n):
    count, bins, longest = 801, 100, 9
    times = np.sort(rng.uniform(0, 27, count))
    fluxes = 1e-3 * rng.standard_normal(count)
    fluxes[times / 3.217 % 1 < 0.04] -= 3e-3
    fluxes -= fluxes.mean()
    frequencies = np.linspace(1 / 13, 2, n)

    def expected():
        at = sampled(rng, n, 200)
        powers = []
        for f in frequencies[at]:
            turns = times * f
            b = ((turns - np.floor(turns)) * bins).astype(int)
            light, counts = np.bincount(b, fluxes, bins), np.bincount(b, minlength=bins)
            sums, insides = (np.cumsum([0, *v, *v[: longest - 1]]) for v in (light, counts))
            width = np.arange(1, longest + 1)[:, None]
            start = np.arange(bins)
            dip, inside = sums[start + width] - sums[start], insides[start + width] - insides[start]
            power = np.where((inside >= 5) & (dip < 0), dip**2 * count / np.maximum(inside * (count - inside), 1), 0)
            powers.append(power.max())
        return [(at, powers, 1e3 * EPS64 * np.max(powers))]

    args = (times, fluxes, frequencies, bins, longest, np.full(n, -1.0), np.full(n, -99, np.int16))
    return Problem(
        args, (count, n), (5,), expected, threads=n, bytes=18.0 * n, flops=(5.0 * count + 10.0 * bins * longest) * n
    )


HAMPEL = plane(
    "hampel_filtered(const float *__restrict__ signals, int half, float factor, float *__restrict__ filtered, int rows, int cols)",
    """
    float window[31], deviations[31];
    INDEX size = 2 * half + 1;
    for (INDEX k = 0; k < size; k++)
      insert_float(window, k, signals[row * cols + MIN(MAX(col + k - half, (INDEX)0), (INDEX)cols - 1)]);
    float median = window[half], x = signals[row * cols + col];
    for (INDEX k = 0; k < size; k++)
      insert_float(deviations, k, fabsf(window[k] - median));
    filtered[row * cols + col] = fabsf(x - median) > factor * deviations[half] ? median : x;
""",
    before="""
DEVICE void insert_float(float *values, int k, float x) {
  for (; k > 0 && values[k - 1] > x; k--)
    values[k] = values[k - 1];
  values[k] = x;
}
""",
)

TRANSIT = each(
    """transit_boxes(const double *__restrict__ times, const double *__restrict__ fluxes, const double *__restrict__ frequencies,
                   int bins, int longest, double *__restrict__ powers, short *__restrict__ phases, int count, int n)""",
    """
    double light[128], best = 0;
    int counts[128], place = -1;
    for (int b = 0; b < bins; b++) {
      light[b] = 0;
      counts[b] = 0;
    }
    for (INDEX k = 0; k < count; k++) {
      double turns = times[k] * frequencies[i];
      int b = (turns - floor(turns)) * bins;
      if (b > bins - 1) b = bins - 1;
      light[b] += fluxes[k];
      counts[b]++;
    }
    for (int start = 0; start < bins; start++) {
      double dip = 0;
      int inside = 0;
      for (int width = 0; width < longest; width++) {
        int b = start + width;
        if (b >= bins) b -= bins;
        dip += light[b];
        inside += counts[b];
        if (inside < 5 || dip >= 0) continue;
        double power = dip * dip * count / (inside * (count - inside));
        if (power > best) {
          best = power;
          place = start;
        }
      }
    }
    powers[i] = best;
    phases[i] = place;
""",
)

KERNELS = [
    Kernel(
        "outliers in windows", hampel_filtered, "float32[:,::1], pyint, float32, float32[:,::1]", (64, 2), hampel_problem,
        gpu=100_003, host=1003, test=203, **HAMPEL,
    ),
    Kernel(
        "transits of planets", transit_boxes,
        "float64[::1], float64[::1], float64[::1], pyint, pyint, float64[::1], int16[::1]", 64, transit_problem, gpu=50_021,
        host=503, test=103, kind="irregular", **TRANSIT,
    ),
]  # fmt: skip
