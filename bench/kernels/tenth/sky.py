"""The sky: periods of stars, dispersed pulses, visibilities on a grid, heights above the horizon."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.tenth.adds import with_adds
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32


def periodograms(times, values, counts, first, step, power):
    """Lomb and Scargle's periodograms of stars that were seen at uneven times; phases in float64."""
    j, star = cuda.grid(2)
    if star >= power.shape[0] or j >= power.shape[1]:
        return
    frequency = first + step * j
    yy = yc = ys = cc = ss = cs = float32(0)
    for k in range(counts[star]):
        turns = frequency * times[star, k]
        angle = float32(turns - math.floor(turns)) * float32(2 * math.pi)
        c = math.cos(angle)
        s = math.sin(angle)
        y = values[star, k]
        yy += y * y
        yc += y * c
        ys += y * s
        cc += c * c
        ss += s * s
        cs += c * s
    power[star, j] = (ss * yc * yc + cc * ys * ys - 2 * cs * yc * ys) / (yy * (cc * ss - cs * cs))


def dedispersed(data, delays, out):
    """Sums over the channels of a radio telescope, each later by what a trial of dispersion says."""
    t, trial = cuda.grid(2)
    if trial < out.shape[0] and t < out.shape[1]:
        total = 0
        for c in range(data.shape[0]):
            total += int(data[c, t + delays[trial, c]])
        out[trial, t] = total


def gridded_visibilities(uv, visibilities, weights, taper, real, imaginary):
    """Visibilities onto a grid, spread by a table of a taper at eighths of a cell."""
    i = cuda.grid(1)
    if i >= weights.size:
        return
    if weights[i] == 0:
        return
    size = taper.shape[1]
    col8 = int(math.floor(uv[i, 0] * 8 + float32(0.5)))
    row8 = int(math.floor(uv[i, 1] * 8 + float32(0.5)))
    col, x = divmod(col8, 8)
    row, y = divmod(row8, 8)
    v = visibilities[i] * weights[i]
    for a in range(size):
        r = row + a - size // 2
        if r < 0 or r >= real.shape[0]:
            continue
        for b in range(size):
            c = col + b - size // 2
            if 0 <= c < real.shape[1]:
                w = taper[y, a] * taper[x, b]
                cuda.atomic.add(real, (r, c), w * v.real)
                cuda.atomic.add(imaginary, (r, c), w * v.imag)


def horizon_coordinates(right_ascension, declination, latitude, sidereal, heights, azimuths):
    """Where stars stand above a horizon."""
    i = cuda.grid(1)
    if i < heights.size:
        hour = sidereal - right_ascension[i]
        x = math.cos(hour) * math.cos(declination[i])
        y = math.sin(hour) * math.cos(declination[i])
        z = math.sin(declination[i])
        north = z * math.cos(latitude) - x * math.sin(latitude)
        up = x * math.cos(latitude) + z * math.sin(latitude)
        heights[i] = math.atan2(up, math.hypot(north, y))
        azimuths[i] = math.atan2(-y, north) % (2 * math.pi)


def periods_problem(rng, n):
    stars, most = 13, 311
    times = np.sort(rng.uniform(0, 900, (stars, most)), 1)
    values = np.sin(2 * np.pi * rng.uniform(0.5, 2, (stars, 1)) * times) + 0.5 * rng.standard_normal((stars, most))
    values = values.astype(np.float32)
    counts = rng.integers(200, most + 1, stars).astype(np.int32)
    first, step = np.float64(0.1), np.float64(3.0 / n)

    def expected():
        at = sampled(rng, n, 400)
        rows = []
        for star in range(stars):
            m = counts[star]
            angle = 2 * np.pi * (first + step * at[:, None]) * times[star, :m]
            c, s, y = np.cos(angle), np.sin(angle), values[star, :m].astype(float)
            yy, yc, ys = (y * y).sum(), (y * c).sum(1), (y * s).sum(1)
            cc, ss, cs = (c * c).sum(1), (s * s).sum(1), (c * s).sum(1)
            rows.append((ss * yc**2 + cc * ys**2 - 2 * cs * yc * ys) / (yy * (cc * ss - cs**2)))
        # Sums of up to 311 terms, all below 1 but y; powers are below 1.
        return [((slice(None), at), np.array(rows), 2 * most * EPS32)]

    args = (times, values, counts, first, step, np.full((stars, n), -9, np.float32))
    return Problem(
        args, (stars, most, n), (5,), expected, threads=(n, stars), bytes=4.0 * stars * n,
        flops=20.0 * n * counts.sum(),
    )  # fmt: skip


def dispersion_problem(rng, n):
    channels, trials = 117, 45
    f = np.linspace(1.0, 1.5, channels)
    delays = np.rint(np.arange(trials)[:, None] * 17 * (f**-2 - f[-1] ** -2)).astype(np.int32)
    data = rng.integers(0, 256, (channels, n + int(delays.max())), np.uint8)

    def expected():
        at = np.unique(rng.integers(0, trials, 6))
        values = [sum(data[c, delays[k, c] : delays[k, c] + n].astype(int) for c in range(channels)) for k in at]
        return [(at, np.array(values), 0)]

    args = (data, delays, np.full((trials, n), -1, np.int32))
    return Problem(
        args, (channels, data.shape[1], trials, n), (2,), expected, threads=(n, trials),
        bytes=1.0 * data.size + 4.0 * trials * n, flops=1.0 * channels * trials * n,
    )  # fmt: skip


def grid_problem(rng, n):
    size, support = max(24, int(math.sqrt(n) / 2)), 7
    uv = rng.uniform(-2, size + 2, (n, 2)).astype(np.float32)
    visibilities = rng.standard_normal((n, 2), np.float32).view(np.complex64)[:, 0]
    weights = (rng.random(n, np.float32) * (rng.random(n) < 0.9)).astype(np.float32)
    offset = np.arange(support) - support // 2 - np.arange(8)[:, None] / 8
    taper = np.exp(-0.4 * offset**2).astype(np.float32)

    def expected():
        total, sizes = np.zeros((size + 32, size + 32), complex), np.zeros((size + 32, size + 32))
        col, x = np.divmod(np.floor(uv[:, 0].astype(float) * 8 + 0.5).astype(int), 8)
        row, y = np.divmod(np.floor(uv[:, 1].astype(float) * 8 + 0.5).astype(int), 8)
        v = visibilities.astype(complex) * weights
        for a in range(support):
            for b in range(support):
                w = taper[y, a].astype(float) * taper[x, b]
                at = (row + a - support // 2 + 16, col + b - support // 2 + 16)
                np.add.at(total, at, w * v)
                np.add.at(sizes, at, np.abs(w * v))
        total, sizes = total[16 : size + 16, 16 : size + 16], sizes[16 : size + 16, 16 : size + 16]
        bound = 600 * EPS32 * sizes + 1e-30
        return [(slice(None), total.real, bound), (slice(None), total.imag, bound)]

    args = (uv, visibilities, weights, taper, np.zeros((size, size), np.float32), np.zeros((size, size), np.float32))
    return Problem(
        args, (n, support, size, size), (4, 5), expected, threads=n, bytes=20.0 * n + 8.0 * size**2,
        flops=5.0 * support**2 * n,
    )  # fmt: skip


def horizon_problem(rng, n):
    ra, dec = rng.uniform(0, 2 * np.pi, n), rng.uniform(-1.55, 1.55, n)
    latitude, sidereal = np.float64(0.84), np.float64(2.1)

    def expected():
        hour = sidereal - ra
        x, y, z = np.cos(hour) * np.cos(dec), np.sin(hour) * np.cos(dec), np.sin(dec)
        north, up = z * np.cos(latitude) - x * np.sin(latitude), x * np.cos(latitude) + z * np.sin(latitude)
        flat = np.hypot(north, y)
        bound = 64 * EPS64
        return [
            (slice(None), np.arctan2(up, flat), bound),
            (slice(None), np.arctan2(-y, north) % (2 * np.pi), bound / np.minimum(flat, 1)),
        ]  # fmt: skip

    args = (ra, dec, latitude, sidereal, np.full(n, 99.0), np.full(n, 99.0))
    return Problem(args, (n,), (4, 5), expected, threads=n, bytes=32.0 * n, flops=250.0 * n)


PERIODS = indexed(*[
    f"""
{word} periodograms(const double *__restrict__ times, const float *__restrict__ values, const int *__restrict__ counts,
                  double first, double step, float *__restrict__ power, int stars, int most, int n) {{
{turns}
    double frequency = first + step * j;
    float yy = 0, yc = 0, ys = 0, cc = 0, ss = 0, cs = 0;
    for (INDEX k = 0; k < counts[star]; k++) {{
      double turns = frequency * times[star * most + k];
      float angle = (float)(turns - floor(turns)) * 6.283185307179586f, y = values[star * most + k];
      float c = cosf(angle), s = sinf(angle);
      yy += y * y;
      yc += y * c;
      ys += y * s;
      cc += c * c;
      ss += s * s;
      cs += c * s;
    }}
    power[star * n + j] = (ss * yc * yc + cc * ys * ys - 2 * cs * yc * ys) / (yy * (cc * ss - cs * cs));
  }}
}}
"""
    for word, turns in (
        ("__global__ void", """  INDEX j = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX star = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (star < stars && j < n) {"""),
        ("void", """#pragma omp parallel for collapse(2)
  for (INDEX star = 0; star < stars; star++)
  for (INDEX j = 0; j < n; j++) {"""),
    )
])  # fmt: skip

DISPERSION = plane(
    """dedispersed(const unsigned char *__restrict__ data, const int *__restrict__ delays, int *__restrict__ out,
                 int channels, int width, int rows, int cols)""",
    """
    int total = 0;
    for (INDEX c = 0; c < channels; c++)
      total += data[c * width + col + delays[row * channels + c]];
    out[row * cols + col] = total;
""",
)

GRIDDED_SIDES = with_adds(each(
    """gridded_visibilities(const float *__restrict__ uv, const float2 *__restrict__ visibilities,
                          const float *__restrict__ weights, const float *__restrict__ taper, float *__restrict__ real,
                          float *__restrict__ imaginary, int n, int size, int rows, int cols)""",
    """
    if (weights[i] != 0) {
    INDEX col8 = (INDEX)floorf(uv[2 * i] * 8 + 0.5f), row8 = (INDEX)floorf(uv[2 * i + 1] * 8 + 0.5f);
    INDEX col = col8 >> 3, x = col8 & 7, row = row8 >> 3, y = row8 & 7;
    float re = visibilities[i].x * weights[i], im = visibilities[i].y * weights[i];
    for (INDEX a = 0; a < size; a++) {
      INDEX r = row + a - size / 2;
      if (r < 0 || r >= rows) continue;
      for (INDEX b = 0; b < size; b++) {
        INDEX c = col + b - size / 2;
        if (0 <= c && c < cols) {
          float w = taper[y * size + a] * taper[x * size + b];
          ADD(real[r * cols + c], w * re);
          ADD(imaginary[r * cols + c], w * im);
        }
      }
    }
    }
""",
))  # fmt: skip
GRIDDED = {
    k: "struct seen2 { float x, y; };\n" + text.replace("float2", "struct seen2") if k == "openmp" else text
    for k, text in GRIDDED_SIDES.items()
}  # fmt: skip

HORIZON = each(
    """horizon_coordinates(const double *__restrict__ right_ascension, const double *__restrict__ declination, double latitude,
                         double sidereal, double *__restrict__ heights, double *__restrict__ azimuths, int n)""",
    """
    double hour = sidereal - right_ascension[i], flat = cos(declination[i]);
    double x = cos(hour) * flat, y = sin(hour) * flat, z = sin(declination[i]);
    double north = z * cos(latitude) - x * sin(latitude), up = x * cos(latitude) + z * sin(latitude);
    heights[i] = atan2(up, hypot(north, y));
    double azimuth = atan2(-y, north);
    azimuths[i] = azimuth < 0 ? azimuth + 6.283185307179586 : azimuth;
""",
)

KERNELS = [
    Kernel(
        "periodograms of stars", periodograms, "float64[:,::1], float32[:,::1], int32[::1], float64, float64, float32[:,::1]",
        (128, 1), periods_problem, gpu=10_007, host=503, test=101, **PERIODS,
    ),
    Kernel(
        "pulses without dispersion", dedispersed, "uint8[:,::1], int32[:,::1], int32[:,::1]", (128, 2), dispersion_problem,
        gpu=60_013, host=5003, test=301, **DISPERSION,
    ),
    Kernel(
        "visibilities on a grid", gridded_visibilities,
        "float32[:,::1], complex64[::1], float32[::1], float32[:,::1], float32[:,::1], float32[:,::1]", 128, grid_problem,
        gpu=300_007, host=10_007, test=501, kind="irregular", **GRIDDED,
    ),
    Kernel(
        "heights above the horizon", horizon_coordinates,
        "float64[::1], float64[::1], float64, float64, float64[::1], float64[::1]", 256, horizon_problem, gpu=3_000_017,
        host=30_011, test=701, **HORIZON,
    ),
]  # fmt: skip
