"""Columns of the weather: radiation, saturation, rain, cover by clouds."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda, float32


def longwave_fluxes(depths, planck, ground, up, down):
    """Long-wave radiation of columns, layer by layer: downward from space, then upward from the ground."""
    col = cuda.grid(1)
    levels, cols = depths.shape
    if col >= cols:
        return
    flux = float32(0)
    down[0, col] = flux
    for k in range(levels):
        passes = math.exp(float32(-1.66) * depths[k, col])
        flux = flux * passes + planck[k, col] * (1 - passes)
        down[k + 1, col] = flux
    flux = ground[col] + float32(0.02) * flux
    up[levels, col] = flux
    for k in range(levels - 1, -1, -1):
        passes = math.exp(float32(-1.66) * depths[k, col])
        flux = flux * passes + planck[k, col] * (1 - passes)
        up[k, col] = flux


def saturation(t, p):
    e = float32(610.78) * math.exp(float32(17.27) * (t - float32(273.16)) / (t - float32(35.86)))
    return float32(0.622) * e / (p - float32(0.378) * e)


def saturation_adjusted(t, vapour, cloud, pressure, turns, t_out, vapour_out, cloud_out):
    """Vapour above saturation becomes cloud, cloud below it vapour; the heat of it changes the saturation: Newton."""
    col, k = cuda.grid(2)
    if k >= t.shape[0] or col >= t.shape[1]:
        return
    p = pressure[k]
    temp = t[k, col]
    q = vapour[k, col]
    c = cloud[k, col]
    heat = float32(2488.6)
    if q > saturation(temp, p) or c > 0:
        for _ in range(turns):
            s = saturation(temp, p)
            gradient = s * float32(4097.9) / ((temp - float32(35.86)) * (temp - float32(35.86)))
            change = (q - s) / (1 + heat * gradient)
            change = max(change, -c)
            q -= change
            c += change
            temp += heat * change
            if abs(change) < float32(1e-8):
                break
    t_out[k, col] = temp
    vapour_out[k, col] = q
    cloud_out[k, col] = c


def rain_columns(rain, cloud, density, thickness, step, rain_out, fallen):
    """Kessler's rain: cloud turns into rain and is collected by it, and rain falls to the next layer, implicitly."""
    col = cuda.grid(1)
    if col >= rain.shape[1]:
        return
    arrives = float32(0)
    for k in range(rain.shape[0]):
        rho = density[k]
        q = rain[k, col]
        c = cloud[k, col]
        grows = float32(0.001) * max(c - float32(0.0005), 0)
        grows += float32(2.2) * c * q ** float32(0.875)
        q += min(step * grows, c)
        speed = float32(36.34) * (rho * q) ** float32(0.1346) * math.sqrt(density[density.size - 1] / rho)
        speed = min(speed, float32(9.0))
        q = (q * rho * thickness[k] + arrives) / (rho * (thickness[k] + speed * step))
        arrives = rho * speed * q * step
        rain_out[k, col] = q
    fallen[col] = arrives


def cloud_cover(parts, out):
    """Clouds of neighbouring layers overlap as far as they can, others at random."""
    col = cuda.grid(1)
    if col < out.size:
        clear = 1 - parts[0, col]
        for k in range(1, parts.shape[0]):
            clear *= (1 - max(parts[k, col], parts[k - 1, col])) / (1 - parts[k - 1, col])
        out[col] = 1 - clear


def longwave_problem(rng, n):
    levels = 47
    depths = (rng.random((levels, n), np.float32) * np.linspace(0.02, 0.9, levels)[:, None]).astype(np.float32)
    planck = (np.linspace(120, 390, levels)[:, None] * rng.uniform(0.9, 1.1, (1, n))).astype(np.float32)
    ground = rng.uniform(350, 450, n).astype(np.float32)

    def expected():
        at = sampled(rng, n, 2000)
        passes, b = np.exp(-float(np.float32(1.66)) * depths[:, at].astype(float)), planck[:, at].astype(float)
        down, up = np.zeros((levels + 1, len(at))), np.zeros((levels + 1, len(at)))
        for k in range(levels):
            down[k + 1] = down[k] * passes[k] + b[k] * (1 - passes[k])
        up[levels] = ground[at] + float(np.float32(0.02)) * down[levels]
        for k in range(levels - 1, -1, -1):
            up[k] = up[k + 1] * passes[k] + b[k] * (1 - passes[k])
        bound = 5 * EPS32 * (levels + 4) * 450
        return [((slice(None), at), up, bound), ((slice(None), at), down, bound)]

    nothing = np.full((levels + 1, n), -99, np.float32)
    args = (depths, planck, ground, nothing.copy(), nothing)
    return Problem(
        args, (levels, n), (3, 4), expected, threads=n, bytes=4.0 * n * (6 * levels + 3), flops=20.0 * levels * n,
    )  # fmt: skip


def saturation_problem(rng, n):
    levels, turns = 41, 6
    pressure = np.linspace(3e4, 1e5, levels).astype(np.float32)
    t = (np.linspace(240, 298, levels)[:, None] + rng.uniform(-4, 4, (levels, n))).astype(np.float32)

    def wet(t, p):
        e = 610.78 * np.exp(17.27 * (t - 273.16) / (t - 35.86))
        return 0.622 * e / (p - 0.378 * e)

    q = (wet(t, pressure[:, None]) * rng.uniform(0.6, 1.25, (levels, n))).astype(np.float32)
    c = np.where(rng.random((levels, n)) < 0.3, 2e-4 * rng.random((levels, n)), 0).astype(np.float32)

    def expected():
        at = sampled(rng, n, 500)
        temp, vapour, cloud = (v[:, at].astype(float) for v in (t, q, c))
        p = pressure[:, None].astype(float)
        works = (vapour > wet(temp, p)) | (cloud > 0)
        for _ in range(turns):
            s = wet(temp, p)
            change = (vapour - s) / (1 + 2488.6 * s * 4097.9 / (temp - 35.86) ** 2)
            change = np.where(works, np.maximum(change, -cloud), 0)
            vapour, cloud, temp = vapour - change, cloud + change, temp + 2488.6 * change
        # The exponential of rounded numbers near 20 times what vapour there is; the heat times that.
        error = 200 * EPS32 * vapour + 4e-8
        index = (slice(None), at)
        return [(index, temp, 2500 * error + 8 * EPS32 * temp), (index, vapour, error), (index, cloud, error)]

    nothing = np.full((levels, n), -99, np.float32)
    args = (t, q, c, pressure, turns, nothing.copy(), nothing.copy(), nothing)
    return Problem(
        args, (levels, n), (5, 6, 7), expected, threads=(n, levels), bytes=24.0 * levels * n, flops=80.0 * levels * n,
    )  # fmt: skip


def rain_problem(rng, n):
    levels = 37
    density = np.linspace(0.2, 1.2, levels).astype(np.float32)
    thickness = np.linspace(800, 100, levels).astype(np.float32)
    rain = (2e-3 * rng.random((levels, n), np.float32) ** 3 + np.float32(1e-7)).astype(np.float32)
    cloud = (1e-3 * rng.random((levels, n), np.float32)).astype(np.float32)
    step = np.float32(20)

    def expected():
        at = sampled(rng, n, 2000)
        arrives, rows = np.zeros(len(at)), []
        for k in range(levels):
            rho, q, c = float(density[k]), rain[k, at].astype(float), cloud[k, at].astype(float)
            q = q + np.minimum(20 * (0.001 * np.maximum(c - 0.0005, 0) + 2.2 * c * q**0.875), c)
            speed = np.minimum(36.34 * (rho * q) ** 0.1346 * np.sqrt(density[-1] / rho), 9.0)
            q = (q * rho * thickness[k] + arrives) / (rho * (thickness[k] + speed * 20))
            arrives = rho * speed * q * 20
            rows.append(q)
        values = np.array(rows)
        return [((slice(None), at), values, 16 * EPS32 * levels * values), (at, arrives, 16 * EPS32 * levels * arrives)]

    args = (rain, cloud, density, thickness, step, np.full((levels, n), -99, np.float32), np.full(n, -99, np.float32))
    return Problem(
        args, (levels, n), (5, 6), expected, threads=n, bytes=12.0 * levels * n, flops=70.0 * levels * n,
    )  # fmt: skip


def cover_problem(rng, n):
    levels = 53
    parts = (0.9 * rng.random((levels, n), np.float32) * (rng.random((levels, n)) < 0.2)).astype(np.float32)

    def expected():
        at = sampled(rng, n, 3000)
        p = parts[:, at].astype(float)
        clear = (1 - p[0]) * np.prod((1 - np.maximum(p[1:], p[:-1])) / (1 - p[:-1]), 0)
        return [(at, 1 - clear, 4 * EPS32 * levels * clear + EPS32)]

    args = (parts, np.full(n, -99, np.float32))
    return Problem(args, (levels, n), (1,), expected, threads=n, bytes=4.0 * n * (levels + 1), flops=5.0 * levels * n)


LONGWAVE = each(
    """longwave_fluxes(const float *__restrict__ depths, const float *__restrict__ planck, const float *__restrict__ ground,
                     float *__restrict__ up, float *__restrict__ down, int levels, int cols)""",
    """
    float flux = 0;
    down[col] = flux;
    for (INDEX k = 0; k < levels; k++) {
      float passes = expf(-1.66f * depths[k * cols + col]);
      flux = flux * passes + planck[k * cols + col] * (1 - passes);
      down[(k + 1) * cols + col] = flux;
    }
    flux = ground[col] + 0.02f * flux;
    up[(INDEX)levels * cols + col] = flux;
    for (INDEX k = levels - 1; k >= 0; k--) {
      float passes = expf(-1.66f * depths[k * cols + col]);
      flux = flux * passes + planck[k * cols + col] * (1 - passes);
      up[k * cols + col] = flux;
    }
""",
    "cols", "col",
)  # fmt: skip

SATURATION = plane(
    """saturation_adjusted(const float *__restrict__ t, const float *__restrict__ vapour, const float *__restrict__ cloud,
                         const float *__restrict__ pressure, int turns, float *__restrict__ t_out,
                         float *__restrict__ vapour_out, float *__restrict__ cloud_out, int rows, int cols)""",
    """
    INDEX at = row * cols + col;
    float p = pressure[row], temp = t[at], q = vapour[at], c = cloud[at], heat = 2488.6f;
    if (q > wet_air(temp, p) || c > 0)
      for (INDEX turn = 0; turn < turns; turn++) {
        float s = wet_air(temp, p), gradient = s * 4097.9f / ((temp - 35.86f) * (temp - 35.86f));
        float change = fmaxf((q - s) / (1 + heat * gradient), -c);
        q -= change;
        c += change;
        temp += heat * change;
        if (fabsf(change) < 1e-8f) break;
      }
    t_out[at] = temp;
    vapour_out[at] = q;
    cloud_out[at] = c;
""",
    before="""
DEVICE float wet_air(float t, float p) {
  float e = 610.78f * expf(17.27f * (t - 273.16f) / (t - 35.86f));
  return 0.622f * e / (p - 0.378f * e);
}
""",
)

RAIN = each(
    """rain_columns(const float *__restrict__ rain, const float *__restrict__ cloud, const float *__restrict__ density,
                  const float *__restrict__ thickness, float step, float *__restrict__ rain_out,
                  float *__restrict__ fallen, int levels, int cols)""",
    """
    float arrives = 0;
    for (INDEX k = 0; k < levels; k++) {
      float rho = density[k], q = rain[k * cols + col], c = cloud[k * cols + col];
      float grows = 0.001f * fmaxf(c - 0.0005f, 0) + 2.2f * c * powf(q, 0.875f);
      q += fminf(step * grows, c);
      float speed = fminf(36.34f * powf(rho * q, 0.1346f) * sqrtf(density[levels - 1] / rho), 9.0f);
      q = (q * rho * thickness[k] + arrives) / (rho * (thickness[k] + speed * step));
      arrives = rho * speed * q * step;
      rain_out[k * cols + col] = q;
    }
    fallen[col] = arrives;
""",
    "cols", "col",
)  # fmt: skip

COVER = each(
    "cloud_cover(const float *__restrict__ parts, float *__restrict__ out, int levels, int cols)",
    """
    float before = parts[col], clear = 1 - before;
    for (INDEX k = 1; k < levels; k++) {
      float here = parts[k * cols + col];
      clear *= (1 - fmaxf(here, before)) / (1 - before);
      before = here;
    }
    out[col] = 1 - clear;
""",
    "cols", "col",
)  # fmt: skip

KERNELS = [
    Kernel(
        "long-wave radiation", longwave_fluxes, "float32[:,::1], float32[:,::1], float32[::1], float32[:,::1], float32[:,::1]",
        128, longwave_problem, gpu=200_003, host=10_007, test=301, **LONGWAVE,
    ),
    Kernel(
        "saturation of the air", saturation_adjusted,
        "float32[:,::1], float32[:,::1], float32[:,::1], float32[::1], pyint, float32[:,::1], float32[:,::1], float32[:,::1]",
        (64, 4), saturation_problem, gpu=150_001, host=5003, test=203, **SATURATION,
    ),
    Kernel(
        "rain through columns", rain_columns,
        "float32[:,::1], float32[:,::1], float32[::1], float32[::1], float32, float32[:,::1], float32[::1]", 128,
        rain_problem, gpu=200_003, host=5003, test=301, **RAIN,
    ),
    Kernel(
        "cover by clouds", cloud_cover, "float32[:,::1], float32[::1]", 256, cover_problem, gpu=1_000_003, host=30_011,
        test=501, **COVER,
    ),
]  # fmt: skip
