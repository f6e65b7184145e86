"""Rasters of maps: vegetation, statistics of zones, another projection, majorities, surfaces between stations."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, int32, int64


def vegetation_index(red, infrared, nothing, out):
    """How green a place is: the normalised difference of two bands of counts."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        r, n = float32(red[row, col]), float32(infrared[row, col])
        out[row, col] = (n - r) / (n + r) if n + r > 0 else nothing


def zonal_statistics(zones, values, missing, counts, sums, least, most):
    """Count, sum, least and largest value of each zone of a raster: tables in shared memory, then in global memory."""
    count = cuda.shared.array(256, int32)
    total = cuda.shared.array(256, int32)
    low = cuda.shared.array(256, int32)
    high = cuda.shared.array(256, int32)
    t = cuda.threadIdx.x
    for k in range(t, counts.size, cuda.blockDim.x):
        count[k] = 0
        total[k] = 0
        low[k] = 1 << 30
        high[k] = -(1 << 30)
    cuda.syncthreads()
    cols = zones.shape[1]
    for row in range(cuda.blockIdx.x, zones.shape[0], cuda.gridDim.x):
        for col in range(t, cols, cuda.blockDim.x):
            zone = int(zones[row, col])
            value = int(values[row, col])
            if zone < 0 or value == missing:
                continue
            cuda.atomic.add(count, zone, 1)
            cuda.atomic.add(total, zone, value)
            cuda.atomic.min(low, zone, value)
            cuda.atomic.max(high, zone, value)
    cuda.syncthreads()
    for k in range(t, counts.size, cuda.blockDim.x):
        if count[k] > 0:
            cuda.atomic.add(counts, k, count[k])
            cuda.atomic.add(sums, k, int64(total[k]))
            cuda.atomic.min(least, k, low[k])
            cuda.atomic.max(most, k, high[k])


def reprojected(source, west, north, cell, cone, factor, origin, meridian, x0, y0, spacing, nothing, out):
    """A raster in degrees seen in Lambert's conformal projection: back to degrees in float64, between four pixels."""
    col, row = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    x = x0 + spacing * col
    y = origin - (y0 - spacing * row)
    radius = math.hypot(x, y)
    longitude = meridian + math.degrees(math.atan2(x, y) / cone)
    latitude = math.degrees(2 * math.atan((factor / radius) ** (1 / cone))) - 90
    u = (longitude - west) / cell
    v = (north - latitude) / cell
    rows, cols = source.shape
    left = int(math.floor(u))
    top = int(math.floor(v))
    if left < 0 or top < 0 or left + 1 >= cols or top + 1 >= rows:
        out[row, col] = nothing
        return
    fu = float32(u - left)
    fv = float32(v - top)
    above = source[top, left] + fu * (source[top, left + 1] - source[top, left])
    below = source[top + 1, left] + fu * (source[top + 1, left + 1] - source[top + 1, left])
    out[row, col] = above + fv * (below - above)


def focal_majority(classes, radius, out):
    """The most frequent of up to 16 classes in the window around each cell, the first of several."""
    col, row = cuda.grid(2)
    rows, cols = classes.shape
    if row >= rows or col >= cols:
        return
    seen = cuda.local.array(16, int32)
    for k in range(16):
        seen[k] = 0
    for r in range(max(0, row - radius), min(rows, row + radius + 1)):
        for c in range(max(0, col - radius), min(cols, col + radius + 1)):
            seen[classes[r, c]] += 1
    best = 0
    for k in range(1, 16):
        if seen[k] > seen[best]:
            best = k
    out[row, col] = best


def station_surface(stations, x0, y0, cell, reach, out):
    """Shepard's surface: what stations measure, weighted by how near they are, up to a reach."""
    col, row = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    x = x0 + cell * col
    y = y0 + cell * row
    top = float32(0)
    bottom = float32(0)
    for k in range(stations.shape[0]):
        d = math.hypot(stations[k, 0] - x, stations[k, 1] - y)
        if d >= reach:
            continue
        w = (reach - d) / (reach * d)
        w *= w
        top += w * stations[k, 2]
        bottom += w
    out[row, col] = top / bottom if bottom > 0 else float32(math.nan)


def vegetation_problem(rng, n):
    rows, cols, nothing = n, n + 41, np.float32(-2)
    red, infrared = rng.integers(0, 9000, (2, rows, cols), np.uint16)
    red[::5, ::3] = infrared[::5, ::3] = 0

    def expected():
        r, i = red.astype(float), infrared.astype(float)
        values = np.where(r + i > 0, (i - r) / np.maximum(r + i, 1), -2)
        return [(slice(None), values, 4 * EPS32)]

    args = (red, infrared, nothing, np.full((rows, cols), 99, np.float32))
    return Problem(args, (rows, cols), (3,), expected, threads=(cols, rows), bytes=8.0 * rows * cols, flops=5.0 * rows * cols)


def zonal_problem(rng, n):
    zones_count, missing = 117, -9999
    small = rng.integers(-1, zones_count, (n // 16 + 1, n // 16 + 1))
    zones = np.kron(small, np.ones((16, 16), int))[:n, : n - 3].astype(np.int16)
    values = rng.integers(-400, 4000, zones.shape).astype(np.int16)
    values[rng.random(zones.shape) < 0.05] = missing

    def expected():
        good = (zones >= 0) & (values != missing)
        z, v = zones[good].astype(int), values[good].astype(int)
        count = np.bincount(z, minlength=zones_count)
        total = np.bincount(z, v, zones_count).astype(np.int64)
        low, high = np.full(zones_count, 1 << 30), np.full(zones_count, -(1 << 30))
        np.minimum.at(low, z, v)
        np.maximum.at(high, z, v)
        return [(slice(None), value, 0) for value in (count, total, low, high)]

    ints = [np.full(zones_count, v, np.int32) for v in (0, 1 << 30, -(1 << 30))]
    args = (zones, values, missing, ints[0], np.zeros(zones_count, np.int64), ints[1], ints[2])
    return Problem(
        args, (*zones.shape, zones_count), (3, 4, 5, 6), expected, grid=min(1056, n // 2 + 1), bytes=4.0 * zones.size,
    )  # fmt: skip


def reprojection_problem(rng, n):
    rows, cols = n, n + 13
    source = rng.integers(0, 3000, (n + 7, 2 * n)).astype(np.float32)
    west, north, cell = np.float64(-15), np.float64(65), np.float64(50 / (2 * n))
    p1, p2, p0 = np.radians([35.0, 60.0, 50.0])
    cone = np.log(np.cos(p1) / np.cos(p2)) / np.log(np.tan(np.pi / 4 + p2 / 2) / np.tan(np.pi / 4 + p1 / 2))
    factor = 6371.0 * np.cos(p1) * np.tan(np.pi / 4 + p1 / 2) ** cone / cone
    origin = factor / np.tan(np.pi / 4 + p0 / 2) ** cone
    x0, y0, spacing = np.float64(-2000.3), np.float64(1500.7), np.float64(3600 / n)
    meridian, nothing = np.float64(10), np.float32(-9999)

    def expected():
        at = sampled(rng, rows, 100)
        x, y = x0 + spacing * np.arange(cols), origin - (y0 - spacing * at[:, None])
        lon = meridian + np.degrees(np.arctan2(x, y) / cone)
        lat = np.degrees(2 * np.arctan((factor / np.hypot(x, y)) ** (1 / cone))) - 90
        u, v = (lon - west) / cell, (north - lat) / cell
        left, top = np.floor(u).astype(int), np.floor(v).astype(int)
        fu, fv = u - left, v - top
        inside = (left >= 0) & (top >= 0) & (left + 1 < source.shape[1]) & (top + 1 < source.shape[0])
        left, top = np.where(inside, left, 0), np.where(inside, top, 0)
        s = source.astype(float)
        above = s[top, left] * (1 - fu) + s[top, left + 1] * fu
        below = s[top + 1, left] * (1 - fu) + s[top + 1, left + 1] * fu
        return [(at, np.where(inside, above * (1 - fv) + below * fv, -9999), 8 * EPS32 * 3000)]

    args = (
        source, west, north, cell, np.float64(cone), np.float64(factor), np.float64(origin), meridian, x0, y0, spacing,
        nothing, np.full((rows, cols), -1, np.float32),
    )  # fmt: skip
    return Problem(
        args, (*source.shape, rows, cols), (12,), expected, threads=(cols, rows), bytes=4.0 * rows * cols + 4.0 * source.size,
        flops=150.0 * rows * cols,
    )  # fmt: skip


def majority_problem(rng, n):
    rows, cols, radius = n, n + 5, 3
    small = rng.integers(0, 16, (n // 6 + 1, n // 6 + 2))
    classes = np.kron(small, np.ones((6, 6), int))[:rows, :cols].astype(np.uint8)
    noise = rng.random((rows, cols)) < 0.4
    classes[noise] = rng.integers(0, 16, int(noise.sum()))

    def expected():
        at = sampled(rng, rows, 200)
        seen = np.zeros((16, len(at), cols), int)
        for k in range(16):
            sums = np.zeros((rows + 1, cols + 1), int)
            sums[1:, 1:] = np.cumsum(np.cumsum(classes == k, 0), 1)
            low, high = np.maximum(at - radius, 0), np.minimum(at + radius + 1, rows)
            c = np.arange(cols)
            left, right = np.maximum(c - radius, 0), np.minimum(c + radius + 1, cols)
            strip = sums[high] - sums[low]
            seen[k] = strip[:, right] - strip[:, left]
        return [(at, seen.argmax(0), 0)]

    args = (classes, radius, np.full((rows, cols), 99, np.uint8))
    return Problem(
        args, (rows, cols), (2,), expected, threads=(cols, rows), bytes=2.0 * rows * cols,
    )  # fmt: skip


def surface_problem(rng, n):
    count, rows, cols = 331, n, n + 9
    cell = np.float32(1)
    stations = np.stack([*(rng.integers(0, n + 9, (2, count)) + 0.5), rng.uniform(0, 30, count)], 1).astype(np.float32)
    x0, y0, reach = np.float32(0), np.float32(0), np.float32(n / 5 + 0.3)

    def expected():
        at = sampled(rng, rows, 60)
        s = stations.astype(float)
        d = np.hypot(s[:, 0] - np.arange(cols)[:, None], s[:, 1] - at[:, None, None])
        w = np.where(d < reach, ((float(reach) - d) / (float(reach) * d)) ** 2, 0)
        with np.errstate(invalid="ignore"):
            values = (w * s[:, 2]).sum(2) / w.sum(2)
        if not np.all(np.isfinite(values)):
            raise ValueError("a cell without a station")
        # A weight at the edge of the reach is the difference of two roundings, but then small beside the others.
        return [(at, values, 2 * count * EPS32 * 30)]

    args = (stations, x0, y0, cell, reach, np.full((rows, cols), -1, np.float32))
    return Problem(
        args, (count, rows, cols), (5,), expected, threads=(cols, rows), bytes=4.0 * rows * cols,
        flops=15.0 * count * rows * cols,
    )  # fmt: skip


VEGETATION = plane(
    """vegetation_index(const unsigned short *__restrict__ red, const unsigned short *__restrict__ infrared, float nothing,
                      float *__restrict__ out, int rows, int cols)""",
    """
    float r = red[row * cols + col], n = infrared[row * cols + col];
    out[row * cols + col] = n + r > 0 ? (n - r) / (n + r) : nothing;
""",
)

ZONAL_HEAD = """zonal_statistics(const short *__restrict__ zones, const short *__restrict__ values, int missing,
                      int *__restrict__ counts, long long *__restrict__ sums, int *__restrict__ least,
                      int *__restrict__ most, int rows, int cols, int n)"""
ZONAL = indexed(
    f"""
__global__ void {ZONAL_HEAD} {{
  __shared__ int count[256], total[256], low[256], high[256];
  INDEX t = threadIdx.x;
  for (INDEX k = t; k < n; k += blockDim.x) {{
    count[k] = total[k] = 0;
    low[k] = 1 << 30;
    high[k] = -(1 << 30);
  }}
  __syncthreads();
  for (INDEX row = blockIdx.x; row < rows; row += gridDim.x)
    for (INDEX col = t; col < cols; col += blockDim.x) {{
      int zone = zones[row * cols + col], value = values[row * cols + col];
      if (zone < 0 || value == missing) continue;
      atomicAdd(&count[zone], 1);
      atomicAdd(&total[zone], value);
      atomicMin(&low[zone], value);
      atomicMax(&high[zone], value);
    }}
  __syncthreads();
  for (INDEX k = t; k < n; k += blockDim.x)
    if (count[k] > 0) {{
      atomicAdd(&counts[k], count[k]);
      atomicAdd((unsigned long long *)&sums[k], (unsigned long long)total[k]);
      atomicMin(&least[k], low[k]);
      atomicMax(&most[k], high[k]);
    }}
}}
""",
    f"""
void {ZONAL_HEAD} {{
#pragma omp parallel for reduction(+ : counts[:n], sums[:n]) reduction(min : least[:n]) reduction(max : most[:n])
  for (INDEX row = 0; row < rows; row++)
    for (INDEX col = 0; col < cols; col++) {{
      int zone = zones[row * cols + col], value = values[row * cols + col];
      if (zone < 0 || value == missing) continue;
      counts[zone]++;
      sums[zone] += value;
      least[zone] = MIN(least[zone], value);
      most[zone] = MAX(most[zone], value);
    }}
}}
""",
)

REPROJECTION = plane(
    """reprojected(const float *__restrict__ source, double west, double north, double cell, double cone, double factor,
                 double origin, double meridian, double x0, double y0, double spacing, float nothing,
                 float *__restrict__ out, int height, int width, int rows, int cols)""",
    """
    const double degrees = 57.29577951308232;
    double x = x0 + spacing * col, y = origin - (y0 - spacing * row), radius = hypot(x, y);
    double longitude = meridian + atan2(x, y) / cone * degrees;
    double latitude = 2 * atan(pow(factor / radius, 1 / cone)) * degrees - 90;
    double u = (longitude - west) / cell, v = (north - latitude) / cell;
    INDEX left = (INDEX)floor(u), top = (INDEX)floor(v);
    float value = nothing;
    if (left >= 0 && top >= 0 && left + 1 < width && top + 1 < height) {
      float fu = u - left, fv = v - top;
      const float *s = source + top * width + left;
      float above = s[0] + fu * (s[1] - s[0]), below = s[width] + fu * (s[width + 1] - s[width]);
      value = above + fv * (below - above);
    }
    out[row * cols + col] = value;
""",
)

MAJORITY = plane(
    "focal_majority(const unsigned char *__restrict__ classes, int radius, unsigned char *__restrict__ out, int rows, int cols)",
    """
    int seen[16] = {0}, best = 0;
    INDEX bottom = MIN((INDEX)rows, row + radius + 1), right = MIN((INDEX)cols, col + radius + 1);
    for (INDEX r = MAX((INDEX)0, row - radius); r < bottom; r++)
      for (INDEX c = MAX((INDEX)0, col - radius); c < right; c++)
        seen[classes[r * cols + c]]++;
    for (int k = 1; k < 16; k++)
      if (seen[k] > seen[best]) best = k;
    out[row * cols + col] = best;
""",
)

SURFACE = plane(
    """station_surface(const float *__restrict__ stations, float x0, float y0, float cell, float reach,
                     float *__restrict__ out, int count, int rows, int cols)""",
    """
    float x = x0 + cell * col, y = y0 + cell * row, top = 0, bottom = 0;
    for (INDEX k = 0; k < count; k++) {
      float d = hypotf(stations[3 * k] - x, stations[3 * k + 1] - y);
      if (d >= reach) continue;
      float w = (reach - d) / (reach * d);
      w *= w;
      top += w * stations[3 * k + 2];
      bottom += w;
    }
    out[row * cols + col] = bottom > 0 ? top / bottom : NAN;
""",
)

KERNELS = [
    Kernel(
        "index of vegetation", vegetation_index, "uint16[:,::1], uint16[:,::1], float32, float32[:,::1]", (64, 4),
        vegetation_problem, gpu=5003, host=501, test=61, power=2, kind="streaming", **VEGETATION,
    ),
    Kernel(
        "statistics of zones", zonal_statistics,
        "int16[:,::1], int16[:,::1], pyint, int32[::1], int64[::1], int32[::1], int32[::1]", 256, zonal_problem, gpu=6007,
        host=501, test=61, power=2, kind="shared", **ZONAL,
    ),
    Kernel(
        "another projection", reprojected,
        "float32[:,::1], float64, float64, float64, float64, float64, float64, float64, float64, float64, float64, float32, "
        "float32[:,::1]",
        (32, 8), reprojection_problem, gpu=1801, host=201, test=45, power=2, **REPROJECTION,
    ),
    Kernel(
        "majorities of windows", focal_majority, "uint8[:,::1], pyint, uint8[:,::1]", (32, 4), majority_problem, gpu=2001,
        host=301, test=45, power=2, kind="stencil", **MAJORITY,
    ),
    Kernel(
        "surface between stations", station_surface, "float32[:,::1], float32, float32, float32, float32, float32[:,::1]",
        (32, 8), surface_problem, gpu=1203, host=151, test=61, power=2, **SURFACE,
    ),
]  # fmt: skip
