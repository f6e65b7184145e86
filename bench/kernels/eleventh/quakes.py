"""Seismology and series of time: events in traces, stacked gathers, sources, seasons, excitation."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32


def event_triggers(samples, short, long, on, off, onsets, events, longest):
    """Events in traces: the mean of a short window beside that of a long one, with a threshold to begin and one to end."""
    c = cuda.grid(1)
    if c >= samples.shape[1]:
        return
    near = 0
    far = 0
    for t in range(long):
        v = abs(int(samples[t, c]))
        far += v
        if t >= long - short:
            near += v
    first = -1
    count = 0
    most = 0
    began = -1
    for t in range(long, samples.shape[0]):
        v = abs(int(samples[t, c]))
        near += v - abs(int(samples[t - short, c]))
        far += v - abs(int(samples[t - long, c]))
        if began < 0:
            if near * long > on * far * short:
                began = t
                count += 1
                if first < 0:
                    first = t
        elif near * long < off * far * short:
            most = max(most, t - began)
            began = -1
    onsets[c] = first
    events[c] = count
    longest[c] = most


def moveout_stack(gathers, offsets, velocities, mutes, dt, stacked):
    """Gathers whose echoes are moved to where they would be without an offset, and stacked; near traces come first."""
    i, g = cuda.grid(2)
    traces, size = gathers.shape[1], gathers.shape[2]
    if i >= size or g >= gathers.shape[0]:
        return
    t0 = dt * i
    fold = 0
    total = float32(0)
    for k in range(traces):
        if i < mutes[k]:
            break
        x = offsets[k] / velocities[i]
        p = math.sqrt(t0 * t0 + x * x) / dt
        j = int(p)
        fold += 1
        if j + 1 < size:
            share = p - j
            total += gathers[g, k, j] * (1 - share) + gathers[g, k, j + 1] * share
    stacked[g, i] = total / max(fold, 1)


def source_misfits(stations, picks, slowness, cell, misfits):
    """Where a shock came from: for each node of a grid, how far times of arrival are from those that it would give."""
    x, y, z = cuda.grid(3)
    if x >= misfits.shape[2] or y >= misfits.shape[1] or z >= misfits.shape[0]:
        return
    late = cuda.local.array(24, np.float32)
    mean = float32(0)
    for s in range(picks.size):
        dx = stations[s, 0] - cell * x
        dy = stations[s, 1] - cell * y
        dz = stations[s, 2] + cell * z
        late[s] = picks[s] - slowness * math.sqrt(dx * dx + dy * dy + dz * dz)
        mean += late[s]
    mean /= picks.size
    misfit = float32(0)
    for s in range(picks.size):
        misfit += abs(late[s] - mean)
    misfits[z, y, x] = misfit


def seasonal_levels(values, alpha, beta, gamma, seasons, levels, errors):
    """Holt and Winters: level, trend and season of series, smoothed; and the squares of what a step ahead misses."""
    i = cuda.grid(1)
    if i >= values.shape[1]:
        return
    period = seasons.shape[0]
    level = 0.0
    for p in range(period):
        level += values[p, i]
    level /= period
    for p in range(period):
        seasons[p, i] = values[p, i] - level
    trend = 0.0
    total = 0.0
    for t in range(period, values.shape[0]):
        p = t % period
        season = seasons[p, i]
        miss = values[t, i] - (level + trend + season)
        total += miss * miss
        before = level
        level = alpha * (values[t, i] - season) + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        seasons[p, i] = gamma * (values[t, i] - level) + (1 - gamma) * season
    levels[i] = level
    errors[i] = total


def excitation_likelihoods(starts, times, rates, jumps, decays, horizon, out):
    """Hawkes: the log likelihood of events that make further ones likelier for a while."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    mu, alpha, beta = rates[i], jumps[i], decays[i]
    total = -mu * horizon
    excited = 0.0
    last = 0.0
    for k in range(starts[i], starts[i + 1]):
        excited *= math.exp(-beta * (times[k] - last))
        total += math.log(mu + alpha * beta * excited)
        total -= alpha * (1 - math.exp(-beta * (horizon - times[k])))
        excited += 1
        last = times[k]
    out[i] = total


def triggers_problem(rng, n):
    length, short, long, on, off = 1501, 23, 211, 3, 1
    samples = rng.normal(0, 100, (length, n))
    for c in range(n):
        for _ in range(int(rng.integers(0, 4))):
            t = int(rng.integers(long, length - 100))
            samples[t : t + 90, c] *= 12
    samples = samples.clip(-32768, 32767).astype(np.int16)

    def expected():
        at = sampled(rng, n, 500)
        v = np.abs(samples[:, at].astype(np.int64))
        sums = np.concatenate([np.zeros((1, len(at)), np.int64), np.cumsum(v, 0)])
        first, count, most, began = (np.full(len(at), b) for b in (-1, 0, 0, -1))
        for t in range(long, length):
            near, far = sums[t + 1] - sums[t + 1 - short], sums[t + 1] - sums[t + 1 - long]
            begins = (began < 0) & (near * long > on * far * short)
            ends = (began >= 0) & (near * long < off * far * short)
            most = np.where(ends, np.maximum(most, t - began), most)
            first = np.where(begins & (first < 0), t, first)
            count += begins
            began = np.where(begins, t, np.where(ends, -1, began))
        return [(at, first, 0), (at, count, 0), (at, most, 0)]

    args = (samples, short, long, on, off, *(np.full(n, 12345, np.int32) for _ in range(3)))
    return Problem(args, (length, n), (5, 6, 7), expected, threads=n, bytes=2.0 * length * n, flops=15.0 * length * n)


def moveout_problem(rng, n):
    gathers, traces, size, dt = n, 37, 703, np.float32(0.004)
    data = rng.standard_normal((gathers, traces, size), np.float32)
    data[:, :, 1:] += data[:, :, :-1]
    data[:, :, -2:] = 0
    offsets = np.sort(rng.uniform(0, 3000, traces)).astype(np.float32)
    velocities = np.linspace(1500, 4000, size).astype(np.float32)
    mutes = (offsets / 8).astype(np.int32)

    def expected():
        at = sampled(rng, gathers, 6)
        t0 = float(dt) * np.arange(size)
        total, steep = np.zeros((len(at), size)), np.zeros((len(at), size))
        for k in range(traces):
            p = np.sqrt(t0**2 + (offsets[k] / velocities.astype(float)) ** 2) / float(dt)
            j = p.astype(int)
            ok = (np.arange(size) >= mutes[k]) & (j + 1 < size)
            j = np.minimum(j, size - 2)
            a, b = data[at, k][:, j].astype(float), data[at, k][:, j + 1].astype(float)
            total += np.where(ok, a + (p - j) * (b - a), 0)
            # The place is off by some eps of itself, and may be in the next cell.
            steep += 6 * EPS32 * p * 4 * np.abs(data[at, k]).max() + traces * EPS32 * (abs(a) + abs(b))
        fold = np.maximum((np.arange(size)[:, None] >= mutes).sum(1), 1)
        return [(at, total / fold, steep / fold + 1e-6)]

    args = (data, offsets, velocities, mutes, dt, np.full((gathers, size), 99, np.float32))
    return Problem(
        args, (gathers, traces, size), (5,), expected, threads=(size, gathers), bytes=4.0 * gathers * (traces + 1) * size,
        flops=14.0 * gathers * traces * size,
    )  # fmt: skip


def source_problem(rng, n):
    count, shape, cell, slowness = 19, (n // 2 + 1, n, n + 3), np.float32(60 / n), np.float32(1 / 6)
    stations = np.concatenate([rng.uniform(0, 60, (count, 2)), rng.uniform(0, 2, (count, 1))], 1).astype(np.float32)
    picks = (10 + np.linalg.norm(stations - (31, 22, -9), axis=1) / 6 + rng.normal(0, 0.05, count)).astype(np.float32)

    def expected():
        at = sampled(rng, shape[0], 3)
        z, y, x = np.meshgrid(at, *map(np.arange, shape[1:]), indexing="ij")
        p = float(cell) * np.stack([x, y, -z], -1)
        late = picks.astype(float) - float(slowness) * np.linalg.norm(p[..., None, :] - stations.astype(float), axis=-1)
        values = np.abs(late - late.mean(-1, keepdims=True)).sum(-1)
        return [(at, values, count * EPS32 * (40 + 2 * count * 2))]

    args = (stations, picks, slowness, cell, np.full(shape, -1, np.float32))
    return Problem(
        args, (count, *shape), (4,), expected, threads=shape[::-1], bytes=4.0 * np.prod(shape), flops=14.0 * count * np.prod(shape),
    )  # fmt: skip


def seasons_problem(rng, n):
    length, period = 241, 12
    alpha, beta, gamma = np.float64(0.3), np.float64(0.05), np.float64(0.2)
    t = np.arange(length)[:, None]
    values = 10 + 0.02 * t + 3 * np.sin(2 * np.pi * t / period + rng.uniform(0, 6, n)) + rng.normal(0, 0.5, (length, n))

    def expected():
        at = sampled(rng, n, 3000)
        v = values[:, at]
        level = v[:period].mean(0)
        season, trend, total = v[:period] - level, 0, 0
        for k in range(period, length):
            p = k % period
            total = total + (v[k] - level - trend - season[p]) ** 2
            before, level = level, alpha * (v[k] - season[p]) + (1 - alpha) * (level + trend)
            trend = beta * (level - before) + (1 - beta) * trend
            season[p] = gamma * (v[k] - level) + (1 - gamma) * season[p]
        return [((slice(None), at), season, 1e-12), (at, level, 1e-12), (at, total, 1e-12 * total + 1e-12)]

    args = (values, alpha, beta, gamma, np.full((period, n), 99.0), np.full(n, 99.0), np.full(n, 99.0))
    return Problem(args, (length, n, period), (4, 5, 6), expected, threads=n, bytes=8.0 * length * n, flops=18.0 * length * n)


def excitation_problem(rng, n):
    sizes = rng.integers(0, 60, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    horizon = np.float64(10)
    whose = np.repeat(np.arange(n), sizes)
    times = rng.uniform(0, 10, starts[-1])
    times = times[np.lexsort((times, whose))]
    rates, jumps, decays = rng.uniform(0.2, 2, n), rng.uniform(0.1, 0.8, n), rng.uniform(0.5, 4, n)

    def expected():
        at = sampled(rng, n, 500)
        values = []
        for i in at:
            t = times[starts[i] : starts[i + 1]]
            gaps = t[:, None] - t
            excited = np.where(np.tri(len(t), k=-1) > 0, np.exp(-decays[i] * np.maximum(gaps, 0)), 0).sum(1)
            total = np.log(rates[i] + jumps[i] * decays[i] * excited).sum() - rates[i] * 10
            values.append(total - (jumps[i] * (1 - np.exp(-decays[i] * (10 - t)))).sum())
        return [(at, np.array(values), 4000 * EPS64 * 60)]

    args = (starts, times, rates, jumps, decays, horizon, np.full(n, 99.0))
    return Problem(args, (n,), (6,), expected, threads=n, bytes=8.0 * len(times) + 36.0 * n, flops=60.0 * len(times))


TRIGGERS = each(
    """event_triggers(const short *__restrict__ samples, int short_, int long_, int on, int off, int *__restrict__ onsets,
                    int *__restrict__ events, int *__restrict__ longest, int length, int n)""",
    """
    INDEX near = 0, far = 0, first = -1, count = 0, most = 0, began = -1;
    for (INDEX t = 0; t < long_; t++) {
      INDEX v = abs(samples[t * n + i]);
      far += v;
      if (t >= long_ - short_) near += v;
    }
    for (INDEX t = long_; t < length; t++) {
      INDEX v = abs(samples[t * n + i]);
      near += v - abs(samples[(t - short_) * n + i]);
      far += v - abs(samples[(t - long_) * n + i]);
      if (began < 0) {
        if (near * long_ > on * far * short_) {
          began = t;
          count++;
          if (first < 0) first = t;
        }
      } else if (near * long_ < off * far * short_) {
        most = MAX(most, t - began);
        began = -1;
      }
    }
    onsets[i] = first;
    events[i] = count;
    longest[i] = most;
""",
)
TRIGGERS["openmp"] = "#include <stdlib.h>\n" + TRIGGERS["openmp"]

MOVEOUT = plane(
    """moveout_stack(const float *__restrict__ gathers, const float *__restrict__ offsets, const float *__restrict__ velocities,
                   const int *__restrict__ mutes, float dt, float *__restrict__ stacked, int rows, int traces, int cols)""",
    """
    float t0 = dt * col, total = 0;
    INDEX fold = 0;
    for (INDEX k = 0; k < traces; k++) {
      if (col < mutes[k]) break;
      float x = offsets[k] / velocities[col], p = sqrtf(t0 * t0 + x * x) / dt;
      INDEX j = (INDEX)p;
      fold++;
      if (j + 1 < cols) {
        float share = p - j;
        const float *trace = gathers + (row * traces + k) * cols;
        total += trace[j] * (1 - share) + trace[j + 1] * share;
      }
    }
    stacked[row * cols + col] = total / (fold > 1 ? fold : 1);
""",
)

SOURCE_HEAD = """source_misfits(const float *__restrict__ stations, const float *__restrict__ picks, float slowness, float cell,
                    float *__restrict__ misfits, int count, int nz, int ny, int nx)"""
SOURCE_BODY = """
    float late[24], mean = 0, misfit = 0;
    for (INDEX s = 0; s < count; s++) {
      float dx = stations[3 * s] - cell * x, dy = stations[3 * s + 1] - cell * y, dz = stations[3 * s + 2] + cell * z;
      late[s] = picks[s] - slowness * sqrtf(dx * dx + dy * dy + dz * dz);
      mean += late[s];
    }
    mean /= count;
    for (INDEX s = 0; s < count; s++)
      misfit += fabsf(late[s] - mean);
    misfits[(z * ny + y) * nx + x] = misfit;
"""
SOURCE = indexed(
    f"""
__global__ void {SOURCE_HEAD} {{
  INDEX x = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, y = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX z = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) {{{SOURCE_BODY}  }}
}}
""",
    f"""
void {SOURCE_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX z = 0; z < nz; z++)
    for (INDEX y = 0; y < ny; y++)
      for (INDEX x = 0; x < nx; x++) {{{SOURCE_BODY}      }}
}}
""",
)

SEASONS = each(
    """seasonal_levels(const double *__restrict__ values, double alpha, double beta, double gamma, double *__restrict__ seasons,
                     double *__restrict__ levels, double *__restrict__ errors, int length, int n, int period)""",
    """
    double level = 0, trend = 0, total = 0;
    for (INDEX p = 0; p < period; p++)
      level += values[p * n + i];
    level /= period;
    for (INDEX p = 0; p < period; p++)
      seasons[p * n + i] = values[p * n + i] - level;
    for (INDEX t = period; t < length; t++) {
      INDEX p = t % period;
      double value = values[t * n + i], season = seasons[p * n + i], miss = value - (level + trend + season), before = level;
      total += miss * miss;
      level = alpha * (value - season) + (1 - alpha) * (level + trend);
      trend = beta * (level - before) + (1 - beta) * trend;
      seasons[p * n + i] = gamma * (value - level) + (1 - gamma) * season;
    }
    levels[i] = level;
    errors[i] = total;
""",
)

EXCITATION = each(
    """excitation_likelihoods(const int *__restrict__ starts, const double *__restrict__ times, const double *__restrict__ rates,
                            const double *__restrict__ jumps, const double *__restrict__ decays, double horizon,
                            double *__restrict__ out, int n)""",
    """
    double mu = rates[i], alpha = jumps[i], beta = decays[i], total = -mu * horizon, excited = 0, last = 0;
    INDEX end = starts[i + 1];
    for (INDEX k = starts[i]; k < end; k++) {
      excited *= exp(-beta * (times[k] - last));
      total += log(mu + alpha * beta * excited);
      total -= alpha * (1 - exp(-beta * (horizon - times[k])));
      excited += 1;
      last = times[k];
    }
    out[i] = total;
""",
)

KERNELS = [
    Kernel(
        "events in traces", event_triggers,
        "int16[:,::1], pyint, pyint, pyint, pyint, int32[::1], int32[::1], int32[::1]", 128, triggers_problem, gpu=50_021,
        host=1003, test=103, **TRIGGERS,
    ),
    Kernel(
        "gathers that are stacked", moveout_stack,
        "float32[:,:,::1], float32[::1], float32[::1], int32[::1], float32, float32[:,::1]", (128, 2), moveout_problem,
        gpu=1501, host=31, test=5, **MOVEOUT,
    ),
    Kernel(
        "sources of shocks", source_misfits, "float32[:,::1], float32[::1], float32, float32, float32[:,:,::1]", (32, 4, 1),
        source_problem, gpu=301, host=61, test=13, power=3, **SOURCE,
    ),
    Kernel(
        "levels and seasons", seasonal_levels,
        "float64[:,::1], float64, float64, float64, float64[:,::1], float64[::1], float64[::1]", 128, seasons_problem,
        gpu=100_003, host=3001, test=103, **SEASONS,
    ),
    Kernel(
        "events that excite", excitation_likelihoods,
        "int32[::1], float64[::1], float64[::1], float64[::1], float64[::1], float64, float64[::1]", 128, excitation_problem,
        gpu=300_007, host=3001, test=103, kind="irregular", **EXCITATION,
    ),
]  # fmt: skip
