"""Sounds: flanger, shaped noise of fewer bits, clouds of grains."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda, float32, uint32


def flanged(audio, rate, base, depth, mix, out):
    """A flanger: each sample with one from a moment before, a moment that swings; channels swing against each other."""
    t, c = cuda.grid(2)
    if c >= audio.shape[0] or t >= audio.shape[1]:
        return
    swing = math.sin(rate * t + 0.5 * math.pi * c)
    place = t - base - depth * swing
    k = math.floor(place)
    share = float32(place - k)
    one = audio[c, k] if k >= 0 else float32(0)
    next_one = audio[c, k + 1] if k + 1 >= 0 else float32(0)
    out[c, t] = audio[c, t] + mix * (one + share * (next_one - one))


def shaped_samples(audio, seed, out):
    """24 bits made 16: dither with a triangle's density, and errors that go into the two samples after."""
    c = cuda.grid(1)
    if c >= audio.shape[1]:
        return
    state = uint32(c) * uint32(747796405) + uint32(seed)
    e1 = e2 = 0
    for t in range(audio.shape[0]):
        state = state * uint32(1664525) + uint32(1013904223)
        dither = int(state >> 24) - int(state >> 16 & 255)
        wanted = int(audio[t, c]) - 2 * e1 + e2
        q = min(max(wanted + dither + 128 >> 8, -32768), 32767)
        e2 = e1
        e1 = (q << 8) - wanted
        out[t, c] = q


def grain_cloud(onsets, sources, speeds, loudness, wave, window, out):
    """Grains of a wave, each at its own time, speed and loudness under a window, heard together; onsets ascend."""
    t = cuda.grid(1)
    if t >= out.size:
        return
    length = window.size
    low, high = 0, onsets.size
    while low < high:
        middle = (low + high) // 2
        if onsets[middle] <= t - length:
            low = middle + 1
        else:
            high = middle
    total = float32(0)
    g = low
    while g < onsets.size and onsets[g] <= t:
        age = t - int(onsets[g])
        at = int(sources[g]) + (age * int(speeds[g]) >> 12)
        total += loudness[g] * window[age] * wave[at % wave.size]
        g += 1
    out[t] = total


def flanged_problem(rng, n):
    channels = 5
    audio = np.cumsum(rng.standard_normal((channels, n)), 1)
    audio = (audio - np.linspace(0, 1, n) * audio[:, -1:]).astype(np.float32)
    rate, base, depth, mix = np.float64(2e-4), np.float64(300.5), np.float64(250), np.float32(0.7)

    def expected():
        at = sampled(rng, n, 50000)
        place = at - base - depth * np.sin(rate * at + 0.5 * np.pi * np.arange(channels)[:, None])
        k = np.floor(place).astype(int)
        a, b = (np.where(j >= 0, np.take_along_axis(audio.astype(float), np.maximum(j, 0), 1), 0) for j in (k, k + 1))
        values = audio[:, at].astype(float) + float(mix) * (a + (place - k) * (b - a))
        return [((slice(None), at), values, 3 * EPS32 * (abs(audio[:, at]) + abs(a) + abs(b)) + 1e-6)]

    args = (audio, rate, base, depth, mix, np.full((channels, n), 12345, np.float32))
    return Problem(
        args, (channels, n), (5,), expected, threads=(n, channels), bytes=8.0 * channels * n, flops=40.0 * channels * n,
    )  # fmt: skip


def shaped_problem(rng, n):
    length, seed = 1201, 99
    audio = (rng.uniform(0, 7e6, n) * np.sin(rng.uniform(0.001, 0.3, n) * np.arange(length)[:, None])).astype(np.int32)

    def expected():
        at = sampled(rng, n, 1000)
        state = at.astype(np.uint32) * np.uint32(747796405) + np.uint32(seed)
        e1 = e2 = np.zeros(len(at), np.int64)
        values = np.zeros((length, len(at)), np.int64)
        for t in range(length):
            state = state * np.uint32(1664525) + np.uint32(1013904223)
            wanted = audio[t, at] - 2 * e1 + e2
            dither = (state >> np.uint32(24)).astype(np.int64) - (state >> np.uint32(16) & np.uint32(255))
            values[t] = np.clip(wanted + dither + 128 >> 8, -32768, 32767)
            e1, e2 = (values[t] << 8) - wanted, e1
        return [((slice(None), at), values, 0)]

    args = (audio, seed, np.full((length, n), 12345, np.int16))
    return Problem(args, (length, n), (2,), expected, threads=n, bytes=6.0 * length * n, flops=16.0 * length * n)


def grains_problem(rng, n):
    length = 1999
    count = n // 97 + 1
    onsets = np.sort(rng.integers(-length, n, count)).astype(np.int32)
    sources, speeds = rng.integers(0, 50_000, count).astype(np.int32), rng.integers(2048, 8192, count).astype(np.int16)
    loudness = rng.uniform(0.1, 1, count).astype(np.float32)
    wave = rng.standard_normal(44_101).astype(np.float32)
    window = np.hanning(length).astype(np.float32)

    def expected():
        at = sampled(rng, n, 1000)
        values, sizes = np.zeros(len(at)), np.zeros(len(at))
        for k, t in enumerate(at):
            g = np.flatnonzero((onsets > t - length) & (onsets <= t))
            age = t - onsets[g].astype(np.int64)
            place = sources[g] + (age * speeds[g] >> 12)
            parts = loudness[g].astype(float) * window[age] * wave[place % len(wave)]
            values[k], sizes[k] = parts.sum(), abs(parts).sum() * (len(g) + 3)
        return [(at, values, EPS32 * sizes + 1e-30)]

    args = (onsets, sources, speeds, loudness, wave, window, np.full(n, 99, np.float32))
    return Problem(args, (count, len(wave), length, n), (6,), expected, threads=n, bytes=4.0 * n + 14.0 * count, flops=10.0 * 20 * n)


FLANGED = plane(
    """flanged(const float *__restrict__ audio, double rate, double base, double depth, float mix, float *__restrict__ out,
             int rows, int cols)""",
    """
    double place = col - base - depth * sin(rate * col + 0.5 * 3.141592653589793 * row), whole = floor(place);
    INDEX k = (INDEX)whole;
    float share = place - whole, one = k >= 0 ? audio[row * cols + k] : 0, next = k + 1 >= 0 ? audio[row * cols + k + 1] : 0;
    out[row * cols + col] = audio[row * cols + col] + mix * (one + share * (next - one));
""",
)

SHAPED = each(
    "shaped_samples(const int *__restrict__ audio, int seed, short *__restrict__ out, int length, int n)",
    """
    unsigned state = (unsigned)i * 747796405u + seed;
    INDEX e1 = 0, e2 = 0;
    for (INDEX t = 0; t < length; t++) {
      state = state * 1664525u + 1013904223u;
      int dither = (int)(state >> 24) - (int)(state >> 16 & 255);
      INDEX wanted = audio[t * n + i] - 2 * e1 + e2, q = (wanted + dither + 128) >> 8;
      q = q < -32768 ? -32768 : q > 32767 ? 32767 : q;
      e2 = e1;
      e1 = q * 256 - wanted;
      out[t * n + i] = q;
    }
""",
)

GRAINS = each(
    """grain_cloud(const int *__restrict__ onsets, const int *__restrict__ sources, const short *__restrict__ speeds,
                 const float *__restrict__ loudness, const float *__restrict__ wave, const float *__restrict__ window,
                 float *__restrict__ out, int grains, int size, int length, int n)""",
    """
    INDEX low = 0, high = grains;
    while (low < high) {
      INDEX middle = (low + high) / 2;
      if (onsets[middle] <= i - length)
        low = middle + 1;
      else
        high = middle;
    }
    float total = 0;
    for (INDEX g = low; g < grains && onsets[g] <= i; g++) {
      INDEX age = i - onsets[g], at = sources[g] + (age * speeds[g] >> 12);
      total += loudness[g] * window[age] * wave[at % size];
    }
    out[i] = total;
""",
)

KERNELS = [
    Kernel(
        "flanger", flanged, "float32[:,::1], float64, float64, float64, float32, float32[:,::1]", (256, 1), flanged_problem,
        gpu=2_000_003, host=30_011, test=1003, **FLANGED,
    ),
    Kernel(
        "noise that is shaped", shaped_samples, "int32[:,::1], pyint, int16[:,::1]", 64, shaped_problem, gpu=50_021, host=1003,
        test=103, **SHAPED,
    ),
    Kernel(
        "clouds of grains", grain_cloud,
        "int32[::1], int32[::1], int16[::1], float32[::1], float32[::1], float32[::1], float32[::1]", 256, grains_problem,
        gpu=5_000_011, host=50_021, test=3001, kind="irregular", **GRAINS,
    ),
]  # fmt: skip
