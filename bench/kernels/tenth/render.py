"""Volumes and clouds of Gaussians made pictures."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32


def volume_value(volume, x, y, z):
    nz, ny, nx = volume.shape
    i = int(math.floor(x))
    j = int(math.floor(y))
    k = int(math.floor(z))
    if i < 0 or j < 0 or k < 0 or i >= nx - 1 or j >= ny - 1 or k >= nz - 1:
        return float32(0)
    u = x - i
    v = y - j
    w = z - k
    a = float32(volume[k, j, i]) * (1 - u) + float32(volume[k, j, i + 1]) * u
    b = float32(volume[k, j + 1, i]) * (1 - u) + float32(volume[k, j + 1, i + 1]) * u
    c = float32(volume[k + 1, j, i]) * (1 - u) + float32(volume[k + 1, j, i + 1]) * u
    d = float32(volume[k + 1, j + 1, i]) * (1 - u) + float32(volume[k + 1, j + 1, i + 1]) * u
    return (a * (1 - v) + b * v) * (1 - w) + (c * (1 - v) + d * v) * w


def volume_picture(volume, view, colours, step, steps, opaque, picture):
    """A volume of bytes seen from far: rays add colour and opacity of a table, front to back, until little passes."""
    col, row = cuda.grid(2)
    if row >= picture.shape[0] or col >= picture.shape[1]:
        return
    x = view[0, 0] + col * view[1, 0] + row * view[2, 0]
    y = view[0, 1] + col * view[1, 1] + row * view[2, 1]
    z = view[0, 2] + col * view[1, 2] + row * view[2, 2]
    red = green = blue = float32(0)
    passes = float32(1)
    for k in range(steps):
        t = step * k
        value = volume_value(volume, x + t * view[3, 0], y + t * view[3, 1], z + t * view[3, 2])
        if value <= 0:
            continue
        place = min(int(value), 254)
        part = value - place
        alpha = colours[place, 3] + part * (colours[place + 1, 3] - colours[place, 3])
        share = passes * alpha
        red += share * (colours[place, 0] + part * (colours[place + 1, 0] - colours[place, 0]))
        green += share * (colours[place, 1] + part * (colours[place + 1, 1] - colours[place, 1]))
        blue += share * (colours[place, 2] + part * (colours[place + 1, 2] - colours[place, 2]))
        passes *= 1 - alpha
        if 1 - passes > opaque:
            break
    picture[row, col, 0] = red
    picture[row, col, 1] = green
    picture[row, col, 2] = blue
    picture[row, col, 3] = 1 - passes


def splatted_tiles(splats, starts, order, picture):
    """Gaussians drawn front to back: a tile of 16x16 pixels a block, which brings its Gaussians 256 at a time."""
    near = cuda.shared.array((256, 9), float32)
    col, row = cuda.grid(2)
    t = cuda.threadIdx.y * 16 + cuda.threadIdx.x
    rows, cols = picture.shape[0], picture.shape[1]
    tile = cuda.blockIdx.y * cuda.gridDim.x + cuda.blockIdx.x
    begin, end = int(starts[tile]), int(starts[tile + 1])
    red = green = blue = float32(0)
    passes = float32(1)
    for first in range(begin, end, 256):
        cuda.syncthreads()
        if first + t < end:
            for c in range(9):
                near[t, c] = splats[order[first + t], c]
        cuda.syncthreads()
        for k in range(min(256, end - first)):
            if passes < float32(1e-4):
                break
            dx = near[k, 0] - col
            dy = near[k, 1] - row
            power = float32(-0.5) * (near[k, 2] * dx * dx + near[k, 4] * dy * dy) - near[k, 3] * dx * dy
            alpha = min(near[k, 5] * math.exp(power), float32(0.99))
            red += passes * alpha * near[k, 6]
            green += passes * alpha * near[k, 7]
            blue += passes * alpha * near[k, 8]
            passes *= 1 - alpha
    if row < rows and col < cols:
        picture[row, col, 0] = red
        picture[row, col, 1] = green
        picture[row, col, 2] = blue


def volume_problem(rng, n):
    size, rows, cols = 96, n, n + 13
    z, y, x = np.meshgrid(*(np.arange(m) for m in (size, size + 4, size + 9)), indexing="ij")
    ball = 1.3 - np.sqrt((z - 47) ** 2 + (y - 50) ** 2 + (x - 52) ** 2) / 46
    volume = np.clip(120 * np.clip(ball, 0, 1) * (1.3 + np.sin(x / 5) * np.sin(y / 6) * np.cos(z / 7)), 0, 255)
    for axis in range(3):
        np.moveaxis(volume, axis, 0)[[0, -1]] = 0
    volume = np.rint(volume).astype(np.uint8)
    v = np.arange(256) / 255
    colours = np.stack([v, v**2, 1 - v, np.where(v > 0.1, 0.08 * (v - 0.1), 0)], 1).astype(np.float32)
    across, down, ahead = np.array([0.9, 0, 0.3]), np.array([0.05, 1, -0.1]), np.array([-0.3, 0.08, 0.95])
    origin = np.array([52, 50, 47]) - 45 * across - 50 * down - 80 * ahead
    view = np.stack([origin, across * 100 / n, down * 100 / n, ahead]).astype(np.float32)
    step, steps, opaque = np.float32(0.8), 211, np.float32(0.98)

    def expected():
        at = sampled(rng, rows, 60)
        w = view.astype(float)
        start = w[0] + np.arange(cols)[:, None] * w[1] + at[:, None, None] * w[2]
        rgba, passes = np.zeros((len(at), cols, 3)), np.ones((len(at), cols))
        edge, values = np.array(volume.shape[::-1]) - 1, volume.astype(float)
        for k in range(steps):
            p = start + 0.8 * k * w[3]
            c = np.floor(p).astype(int)
            inside = ((c >= 0) & (c < edge)).all(-1) & (1 - passes <= float(opaque))
            c, (i, j, m) = np.where(inside[..., None], c, 0), np.moveaxis(np.where(inside[..., None], c, 0), -1, 0)
            f = p - c
            value = 0
            for a in (0, 1):
                for b in (0, 1):
                    for d in (0, 1):
                        part = (f[..., 0] if a else 1 - f[..., 0]) * (f[..., 1] if b else 1 - f[..., 1])
                        value = value + part * (f[..., 2] if d else 1 - f[..., 2]) * values[m + d, j + b, i + a]
            value = np.where(inside, value, 0)
            place = np.minimum(value.astype(int), 254)
            colour = colours[place] + (value - place)[..., None] * (colours[place + 1].astype(float) - colours[place])
            alpha = np.where(value > 0, colour[..., 3], 0)
            rgba += (passes * alpha)[..., None] * colour[..., :3]
            passes = passes * (1 - alpha)
        # Places are rounded at up to 200, values change by up to 255 a voxel; a ray that all but ends may go on.
        return [(at, np.concatenate([rgba, 1 - passes[..., None]], -1), 4e-3)]

    args = (volume, view, colours, step, steps, opaque, np.full((rows, cols, 4), 99, np.float32))
    return Problem(
        args, (*volume.shape, rows, cols), (6,), expected, threads=(cols, rows), bytes=16.0 * rows * cols + volume.size,
        flops=50.0 * steps * rows * cols,
    )  # fmt: skip


def splats_problem(rng, n):
    rows, cols, count = n, n + 21, n * n // 40 + 50
    wide, high = -(-cols // 16), -(-rows // 16)
    place = rng.uniform(0, [cols, rows], (count, 2))
    turn, s1, s2 = rng.uniform(0, np.pi, count), rng.uniform(1.5, 9, count), rng.uniform(1.5, 9, count)
    c, s = np.cos(turn), np.sin(turn)
    a, b, d = c * c / s1**2 + s * s / s2**2, c * s * (1 / s1**2 - 1 / s2**2), s * s / s1**2 + c * c / s2**2
    splats = np.stack([*place.T, a, b, d, rng.uniform(0.3, 1, count), *rng.uniform(0, 1, (3, count))], 1).astype(np.float32)
    reach = 3.5 * np.maximum(s1, s2)
    order, starts = [], [0]
    for j in range(high):
        for i in range(wide):
            nearest = np.clip(place, [16 * i, 16 * j], [16 * i + 15, 16 * j + 15])
            order.append(np.flatnonzero(((place - nearest) ** 2).sum(1) < reach**2))
            starts.append(starts[-1] + len(order[-1]))
    order = np.concatenate(order + [np.zeros(1, int)]).astype(np.int32)

    def expected():
        at = sampled(rng, rows, 50)
        out = np.zeros((len(at), cols, 3))
        for r, row in enumerate(at):
            for i in range(wide):
                tile = row // 16 * wide + i
                x = np.arange(16 * i, min(16 * i + 16, cols))
                passes = np.ones(len(x))
                for g in splats[order[starts[tile] : starts[tile + 1]]].astype(float):
                    dx, dy = g[0] - x, g[1] - row
                    alpha = np.minimum(g[5] * np.exp(-0.5 * (g[2] * dx * dx + g[4] * dy * dy) - g[3] * dx * dy), 0.99)
                    out[r, x] += (passes * alpha)[:, None] * g[6:]
                    passes *= 1 - alpha
        # What is left out behind 0.9999 of opacity; exponents of up to a few hundred matter only where they are small.
        return [(at, out, 3e-4)]

    args = (splats, np.array(starts, np.int32), order, np.full((rows, cols, 3), 99, np.float32))
    return Problem(
        args, (rows, cols), (3,), expected, grid=(wide, high), bytes=12.0 * rows * cols + 36.0 * len(order),
        flops=25.0 * 256 * len(order),
    )  # fmt: skip


VOLUME = plane(
    """volume_picture(const unsigned char *__restrict__ volume, const float *__restrict__ view,
                    const float *__restrict__ colours, float step, int steps, float opaque, float *__restrict__ picture,
                    int nz, int ny, int nx, int rows, int cols)""",
    """
    float x = view[0] + col * view[3] + row * view[6], y = view[1] + col * view[4] + row * view[7];
    float z = view[2] + col * view[5] + row * view[8], red = 0, green = 0, blue = 0, passes = 1;
    for (INDEX k = 0; k < steps; k++) {
      float t = step * k;
      float value = value_of_volume(volume, nx, ny, nz, x + t * view[9], y + t * view[10], z + t * view[11]);
      if (value <= 0) continue;
      int place = MIN((int)value, 254);
      float part = value - place, share;
      const float *c = colours + 4 * place;
      float alpha = c[3] + part * (c[7] - c[3]);
      share = passes * alpha;
      red += share * (c[0] + part * (c[4] - c[0]));
      green += share * (c[1] + part * (c[5] - c[1]));
      blue += share * (c[2] + part * (c[6] - c[2]));
      passes *= 1 - alpha;
      if (1 - passes > opaque) break;
    }
    float *pixel = picture + 4 * (row * cols + col);
    pixel[0] = red;
    pixel[1] = green;
    pixel[2] = blue;
    pixel[3] = 1 - passes;
""",
    before="""
DEVICE float value_of_volume(const unsigned char *__restrict__ volume, int nx, int ny, int nz, float x, float y, float z) {
  INDEX i = (INDEX)floorf(x), j = (INDEX)floorf(y), k = (INDEX)floorf(z);
  if (i < 0 || j < 0 || k < 0 || i >= nx - 1 || j >= ny - 1 || k >= nz - 1) return 0;
  float u = x - i, v = y - j, w = z - k;
  const unsigned char *p = volume + (k * ny + j) * nx + i, *q = p + (INDEX)ny * nx;
  float a = p[0] * (1 - u) + p[1] * u, b = p[nx] * (1 - u) + p[nx + 1] * u;
  float c = q[0] * (1 - u) + q[1] * u, d = q[nx] * (1 - u) + q[nx + 1] * u;
  return (a * (1 - v) + b * v) * (1 - w) + (c * (1 - v) + d * v) * w;
}
""",
)

SPLATS_HEAD = """splatted_tiles(const float *__restrict__ splats, const int *__restrict__ starts, const int *__restrict__ order,
                    float *__restrict__ picture, int rows, int cols)"""
SPLAT = """
        if (passes < 1e-4f) break;
        float dx = g[0] - col, dy = g[1] - row, power = -0.5f * (g[2] * dx * dx + g[4] * dy * dy) - g[3] * dx * dy;
        float alpha = fminf(g[5] * expf(power), 0.99f);
        red += passes * alpha * g[6];
        green += passes * alpha * g[7];
        blue += passes * alpha * g[8];
        passes *= 1 - alpha;
"""
SPLATS_END = """
    float *pixel = picture + 3 * (row * cols + col);
    pixel[0] = red;
    pixel[1] = green;
    pixel[2] = blue;
"""
SPLATS = indexed(
    f"""
__global__ void {SPLATS_HEAD} {{
  __shared__ float near[256][9];
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX t = threadIdx.y * 16 + threadIdx.x, tile = blockIdx.y * (INDEX)gridDim.x + blockIdx.x;
  INDEX begin = starts[tile], end = starts[tile + 1];
  float red = 0, green = 0, blue = 0, passes = 1;
  for (INDEX first = begin; first < end; first += 256) {{
    __syncthreads();
    if (first + t < end)
      for (int c = 0; c < 9; c++)
        near[t][c] = splats[order[first + t] * (INDEX)9 + c];
    __syncthreads();
    INDEX count = end - first < 256 ? end - first : 256;
    for (INDEX k = 0; k < count; k++) {{
      const float *g = near[k];
{SPLAT}    }}
  }}
  if (row < rows && col < cols) {{{SPLATS_END}  }}
}}
""",
    f"""
void {SPLATS_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++)
    for (INDEX col = 0; col < cols; col++) {{
      INDEX tile = row / 16 * ((cols + 15) / 16) + col / 16;
      float red = 0, green = 0, blue = 0, passes = 1;
      for (INDEX k = starts[tile]; k < starts[tile + 1]; k++) {{
        const float *g = splats + 9 * order[k];
{SPLAT}      }}
{SPLATS_END}    }}
}}
""",
)

KERNELS = [
    Kernel(
        "a volume made a picture", volume_picture,
        "uint8[:,:,::1], float32[:,::1], float32[:,::1], float32, pyint, float32, float32[:,:,::1]", (16, 8), volume_problem,
        gpu=701, host=101, test=37, power=2, kind="irregular", **VOLUME,
    ),
    Kernel(
        "Gaussians in tiles", splatted_tiles, "float32[:,::1], int32[::1], int32[::1], float32[:,:,::1]", (16, 16),
        splats_problem, gpu=801, host=151, test=37, power=2, kind="shared", **SPLATS,
    ),
]  # fmt: skip
