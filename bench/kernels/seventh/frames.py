"""Frames of a video: optical flow, colours of the camera's format, diffusion that keeps edges."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem
from kernels.texts import indexed, plane
from pyptx import cuda, float32


def lucas_kanade(before, after, radius, damping, flow_x, flow_y):
    """Optical flow: at each pixel the damped least squares solution of a window of gradients."""
    col, row = cuda.grid(2)
    rows, cols = before.shape
    if row >= rows or col >= cols:
        return
    xx = damping
    yy = damping
    xy = float32(0.0)
    xt = float32(0.0)
    yt = float32(0.0)
    for y in range(max(1, row - radius), min(rows - 1, row + radius + 1)):
        for x in range(max(1, col - radius), min(cols - 1, col + radius + 1)):
            gx = (before[y, x + 1] - before[y, x - 1]) * float32(0.5)
            gy = (before[y + 1, x] - before[y - 1, x]) * float32(0.5)
            gt = after[y, x] - before[y, x]
            xx += gx * gx
            xy += gx * gy
            yy += gy * gy
            xt += gx * gt
            yt += gy * gt
    det = xx * yy - xy * xy
    flow_x[row, col] = (xy * yt - yy * xt) / det
    flow_y[row, col] = (xy * xt - xx * yt) / det


def to_byte(v):
    return min(max((v + 128) >> 8, 0), 255)


def nv12_to_rgb(luma, chroma, rgb):
    """The camera's NV12 (a chroma pair for 2 x 2 pixels) as bytes of red, green and blue, BT.601 in integers."""
    col, row = cuda.grid(2)
    if row < luma.shape[0] and col < luma.shape[1]:
        y = 298 * (int(luma[row, col]) - 16)
        u = int(chroma[row // 2, col // 2, 0]) - 128
        v = int(chroma[row // 2, col // 2, 1]) - 128
        rgb[row, col, 0] = to_byte(y + 409 * v)
        rgb[row, col, 1] = to_byte(y - 100 * u - 208 * v)
        rgb[row, col, 2] = to_byte(y + 516 * u)


def conducted(d, kappa):
    q = d / kappa
    return d * math.exp(-q * q)


def perona_malik(image, kappa, step, out):
    """A step of diffusion that stops at edges; a tile of 16 x 16 with its halo in shared memory."""
    tile = cuda.shared.array((18, 18), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    rows, cols = image.shape
    top = cuda.blockIdx.y * 16
    left = cuda.blockIdx.x * 16
    for k in range(ty * 16 + tx, 18 * 18, 256):
        y = min(max(top + k // 18 - 1, 0), rows - 1)
        x = min(max(left + k % 18 - 1, 0), cols - 1)
        tile[k // 18, k % 18] = image[y, x]
    cuda.syncthreads()
    row = top + ty
    col = left + tx
    if row < rows and col < cols:
        c = tile[ty + 1, tx + 1]
        total = conducted(tile[ty, tx + 1] - c, kappa)
        total += conducted(tile[ty + 2, tx + 1] - c, kappa)
        total += conducted(tile[ty + 1, tx] - c, kappa)
        total += conducted(tile[ty + 1, tx + 2] - c, kappa)
        out[row, col] = c + step * total


def flow_problem(rng, n):
    rows, cols, radius, damping = n, n + 57, 3, np.float32(64)
    y, x = np.mgrid[:rows, :cols]

    def frame(dx):
        waves = 60 * np.sin((x + dx) / 7) + 50 * np.cos((y - dx + x / 3) / 9) + 128
        return np.rint(np.clip(waves + rng.normal(0, 2, (rows, cols)), 0, 255)).astype(np.float32)

    before, after = frame(0.0), frame(0.4)

    def expected():
        b, a = before.astype(float), after.astype(float)
        gx, gy, gt = (np.zeros((rows, cols)) for _ in range(3))
        gx[1:-1, 1:-1] = (b[1:-1, 2:] - b[1:-1, :-2]) / 2
        gy[1:-1, 1:-1] = (b[2:, 1:-1] - b[:-2, 1:-1]) / 2
        gt[1:-1, 1:-1] = (a - b)[1:-1, 1:-1]

        def window(v):
            wide = np.pad(v, radius)
            return sum(wide[j : j + rows, i : i + cols] for j in range(7) for i in range(7))

        xx, xy, yy, xt, yt = (window(v) for v in (gx * gx, gx * gy, gy * gy, gx * gt, gy * gt))
        xx, yy = xx + float(damping), yy + float(damping)
        det, spread = xx * yy - xy * xy, 2 * EPS32 * (xx * yy + xy * xy)
        found = []
        # Frames are of whole numbers: all sums are exact, and only the solution rounds.
        for p, q in ((xy * yt, yy * xt), (xy * xt, xx * yt)):
            flow = (p - q) / det
            bound = (2 * EPS32 * (np.abs(p) + np.abs(q)) + np.abs(flow) * (spread + EPS32 * det)) / det
            found.append((slice(None), flow, bound + 1e-30))
        return found

    args = (before, after, radius, damping, np.zeros_like(before), np.zeros_like(before))
    return Problem(args, (rows, cols), (4, 5), expected, threads=(cols, rows), bytes=16.0 * rows * cols)


def nv12_problem(rng, n):
    rows, cols = n, n * 16 // 9 + 1
    luma = rng.integers(0, 256, (rows, cols), np.uint8)
    chroma = rng.integers(0, 256, ((rows + 1) // 2, (cols + 1) // 2, 2), np.uint8)

    def expected():
        y = 298 * (luma.astype(np.int32) - 16)
        u, v = np.moveaxis(chroma.astype(np.int32) - 128, 2, 0).repeat(2, 1).repeat(2, 2)[:, :rows, :cols]
        colours = np.stack([y + 409 * v, y - 100 * u - 208 * v, y + 516 * u], axis=2)
        return [(slice(None), np.clip((colours + 128) >> 8, 0, 255).astype(np.uint8), 0)]

    args = (luma, chroma, np.zeros((rows, cols, 3), np.uint8))
    return Problem(args, (rows, cols), (2,), expected, threads=(cols, rows), bytes=4.5 * rows * cols)


def malik_problem(rng, n):
    rows, cols, kappa, step = n, n + 301, np.float32(20), np.float32(0.2)
    image = np.float32(np.clip(rng.normal(128, 40, (rows, cols)), 0, 255))

    def expected():
        wide = np.pad(image.astype(float), 1, mode="edge")
        c = wide[1:-1, 1:-1]
        sides = [v - c for v in (wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:])]
        total = sum(d * np.exp(-((d / 20) ** 2)) for d in sides)
        # Differences below 256 are rounded; d exp(-q²) stays below kappa, with 6 roundings of it; then one of the sum.
        return [(slice(None), c + float(step) * total, EPS32 * (256 + 0.2 * 4 * (256 + 6 * 20)))]

    args = (image, kappa, step, np.zeros_like(image))
    grid = (-(-cols // 16), -(-rows // 16))
    return Problem(args, (rows, cols), (3,), expected, grid=grid, bytes=8.0 * rows * cols)


FLOW = plane(
    """lucas_kanade(const float *__restrict__ before, const float *__restrict__ after, int radius, float damping,
                  float *__restrict__ flow_x, float *__restrict__ flow_y, int rows, int cols)""",
    """
      float xx = damping, yy = damping, xy = 0, xt = 0, yt = 0;
      INDEX top = MAX((INDEX)1, row - radius), bottom = MIN((INDEX)rows - 1, row + radius + 1);
      INDEX left = MAX((INDEX)1, col - radius), right = MIN((INDEX)cols - 1, col + radius + 1);
      for (INDEX y = top; y < bottom; y++)
        for (INDEX x = left; x < right; x++) {
          float gx = (before[y * cols + x + 1] - before[y * cols + x - 1]) * 0.5f;
          float gy = (before[(y + 1) * cols + x] - before[(y - 1) * cols + x]) * 0.5f;
          float gt = after[y * cols + x] - before[y * cols + x];
          xx += gx * gx;
          xy += gx * gy;
          yy += gy * gy;
          xt += gx * gt;
          yt += gy * gt;
        }
      float det = xx * yy - xy * xy;
      flow_x[row * cols + col] = (xy * yt - yy * xt) / det;
      flow_y[row * cols + col] = (xy * xt - xx * yt) / det;
""",
)

NV12 = plane(
    """nv12_to_rgb(const unsigned char *__restrict__ luma, const unsigned char *__restrict__ chroma,
                 unsigned char *__restrict__ rgb, int rows, int cols)""",
    """
      INDEX y = 298 * ((INDEX)luma[row * cols + col] - 16);
      const unsigned char *pair = chroma + (row / 2 * ((cols + 1) / 2) + col / 2) * 2;
      INDEX u = (INDEX)pair[0] - 128, v = (INDEX)pair[1] - 128;
      unsigned char *to = rgb + (row * cols + col) * 3;
      to[0] = nv12_byte(y + 409 * v);
      to[1] = nv12_byte(y - 100 * u - 208 * v);
      to[2] = nv12_byte(y + 516 * u);
""",
    before="DEVICE unsigned char nv12_byte(INDEX v) { return MIN(MAX((v + 128) >> 8, (INDEX)0), (INDEX)255); }",
)

MALIK_HEAD = """perona_malik(const float *__restrict__ image, float kappa, float step, float *__restrict__ out,
                  int rows, int cols)"""
CONDUCTED = """
DEVICE float conducted(float d, float kappa) {
  float q = d / kappa;
  return d * expf(-q * q);
}
"""
MALIK = indexed(
    f"""{CONDUCTED}
__global__ void {MALIK_HEAD} {{
  __shared__ float tile[18][18];
  INDEX tx = threadIdx.x, ty = threadIdx.y, top = blockIdx.y * (INDEX)16, left = blockIdx.x * (INDEX)16;
  for (INDEX k = ty * 16 + tx; k < 18 * 18; k += 256) {{
    INDEX y = MIN(MAX(top + k / 18 - 1, (INDEX)0), (INDEX)rows - 1);
    INDEX x = MIN(MAX(left + k % 18 - 1, (INDEX)0), (INDEX)cols - 1);
    tile[k / 18][k % 18] = image[y * cols + x];
  }}
  __syncthreads();
  INDEX row = top + ty, col = left + tx;
  if (row < rows && col < cols) {{
    float c = tile[ty + 1][tx + 1];
    float total = conducted(tile[ty][tx + 1] - c, kappa);
    total += conducted(tile[ty + 2][tx + 1] - c, kappa);
    total += conducted(tile[ty + 1][tx] - c, kappa);
    total += conducted(tile[ty + 1][tx + 2] - c, kappa);
    out[row * cols + col] = c + step * total;
  }}
}}
""",
    f"""{CONDUCTED}
void {MALIK_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    const float *here = image + row * cols, *up = image + MAX(row - 1, 0) * cols;
    const float *down = image + MIN(row + 1, rows - 1) * cols;
    for (INDEX col = 0; col < cols; col++) {{
      float c = here[col], total = conducted(up[col] - c, kappa) + conducted(down[col] - c, kappa);
      total += conducted(here[MAX(col - 1, 0)] - c, kappa) + conducted(here[MIN(col + 1, cols - 1)] - c, kappa);
      out[row * cols + col] = c + step * total;
    }}
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "Lucas-Kanade flow", lucas_kanade,
        "float32[:,::1], float32[:,::1], pyint, float32, float32[:,::1], float32[:,::1]", (32, 8), flow_problem,
        gpu=1501, host=301, test=45, power=2, kind="stencil", **FLOW,
    ),
    Kernel(
        "NV12 to RGB", nv12_to_rgb, "uint8[:,::1], uint8[:,:,::1], uint8[:,:,::1]", (32, 8), nv12_problem,
        gpu=4321, host=901, test=43, power=2, kind="streaming", **NV12,
    ),
    Kernel(
        "Perona-Malik step", perona_malik, "float32[:,::1], float32, float32, float32[:,::1]", (16, 16), malik_problem,
        gpu=4001, host=701, test=51, power=2, kind="shared", **MALIK,
    ),
]  # fmt: skip
