"""Images: colours, edges, dilation, the histogram of two of them."""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, int32


def linear_of(c):
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def lab_root(t):
    return math.cbrt(t) if t > 0.008856452 else 7.787037 * t + 0.13793103


def rgb_to_lab(rgb, lightness, a, b):
    """CIE L*a*b* of 8-bit sRGB."""
    x, y = cuda.grid(2)
    if y < rgb.shape[0] and x < rgb.shape[1]:
        red = linear_of(np.float32(rgb[y, x, 0]) / 255)
        green = linear_of(np.float32(rgb[y, x, 1]) / 255)
        blue = linear_of(np.float32(rgb[y, x, 2]) / 255)
        fx = lab_root((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047)
        fy = lab_root(0.2126729 * red + 0.7151522 * green + 0.0721750 * blue)
        fz = lab_root((0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883)
        lightness[y, x] = 116 * fy - 16
        a[y, x] = 500 * (fx - fy)
        b[y, x] = 200 * (fy - fz)


def canny_suppress(gx, gy, low, high, out):
    """Non-maximum suppression along the gradient, then two thresholds: 0, 1 weak, 2 strong."""
    x, y = cuda.grid(2)
    rows, cols = gx.shape
    if y >= rows or x >= cols:
        return
    label = 0
    if 0 < y < rows - 1 and 0 < x < cols - 1:
        h = gx[y, x]
        v = gy[y, x]
        m = math.sqrt(h * h + v * v)
        if m > low:
            if abs(v) <= float32(0.41421356) * abs(h):
                dx = 1
                dy = 0
            elif abs(h) <= float32(0.41421356) * abs(v):
                dx = 0
                dy = 1
            elif h * v > 0:
                dx = 1
                dy = 1
            else:
                dx = -1
                dy = 1
            a = math.sqrt(gx[y + dy, x + dx] ** 2 + gy[y + dy, x + dx] ** 2)
            b = math.sqrt(gx[y - dy, x - dx] ** 2 + gy[y - dy, x - dx] ** 2)
            if m >= a and m > b:
                label = 2 if m > high else 1
    out[y, x] = label


def dilate_disk(src, reach, dst):
    """Grey dilation of 16-bit pixels by a disk; reach[r + dy] is the half width of its row."""
    x, y = cuda.grid(2)
    rows, cols = src.shape
    if y >= rows or x >= cols:
        return
    radius = reach.size // 2
    best = src[y, x]
    for dy in range(-radius, radius + 1):
        yy = y + dy
        if yy < 0 or yy >= rows:
            continue
        w = reach[radius + dy]
        for xx in range(max(x - w, 0), min(x + w, cols - 1) + 1):
            best = max(best, src[yy, xx])
    dst[y, x] = best


def joint_histogram(a, b, counts):
    """32x32 bins of two images, for mutual information: in shared memory, then added."""
    bins = cuda.shared.array((32, 32), int32)
    t = cuda.threadIdx.x
    for k in range(t, 1024, cuda.blockDim.x):
        bins[k // 32, k % 32] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, (a[i] >> 3, b[i] >> 3), 1)
    cuda.syncthreads()
    for k in range(t, 1024, cuda.blockDim.x):
        if bins[k // 32, k % 32] > 0:
            cuda.atomic.add(counts, (k // 32, k % 32), bins[k // 32, k % 32])


def lab_problem(rng, n):
    cols = n * 16 // 9
    rgb = rng.integers(0, 256, (n, cols, 3), dtype=np.uint8)

    def expected():
        at = sampled(rng, n, 60)
        c = rgb[at] / 255.0
        c = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        m = np.array([[0.4124564, 0.3575761, 0.1804375],
                      [0.2126729, 0.7151522, 0.0721750],
                      [0.0193339, 0.1191920, 0.9503041]])
        t = c @ m.T / np.array([0.95047, 1, 1.08883])
        f = np.where(t > 0.008856452, np.cbrt(t), 7.787037 * t + 0.13793103)
        lab = 116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])
        return [(at, plane, 1e-3) for plane in lab]

    planes = [np.zeros((n, cols), np.float32) for _ in range(3)]
    return Problem((rgb, *planes), (n, cols), (1, 2, 3), expected, threads=(cols, n), bytes=15.0 * n * cols)


def canny_problem(rng, n):
    cols = n + 777
    gx, gy = (rng.integers(-255, 256, (n, cols)).astype(np.float32) for _ in range(2))
    low, high = np.float32(60.5), np.float32(150.5)

    def expected():
        m = np.sqrt(gx * gx + gy * gy)
        out = np.zeros((n, cols), np.uint8)
        s = np.s_[1:-1, 1:-1]
        h, v, c = gx[s], gy[s], m[s]
        t = np.float32(0.41421356)
        flat, steep = np.abs(v) <= t * np.abs(h), np.abs(h) <= t * np.abs(v)
        kind = np.where(flat, 0, np.where(steep, 1, np.where(h * v > 0, 2, 3)))
        keep = np.zeros(c.shape, bool)
        for k, (dx, dy) in enumerate(((1, 0), (0, 1), (1, 1), (-1, 1))):
            p = m[1 + dy : n - 1 + dy, 1 + dx : cols - 1 + dx]
            q = m[1 - dy : n - 1 - dy, 1 - dx : cols - 1 - dx]
            keep |= (kind == k) & (c >= p) & (c > q)
        out[s] = np.where(keep & (c > low), np.where(c > high, 2, 1), 0)
        return [(slice(None), out, 0)]

    args = (gx, gy, low, high, np.zeros((n, cols), np.uint8))
    return Problem(args, (n, cols), (4,), expected, threads=(cols, n), bytes=9.0 * gx.size)


def dilate_problem(rng, n):
    cols, r = n + 501, 5
    src = rng.integers(0, 65536, (n, cols), dtype=np.uint16)
    reach = np.array([int(math.sqrt(r * r - d * d)) for d in range(-r, r + 1)], np.int32)

    def expected():
        wide = np.pad(src, r)
        out = np.zeros_like(src)
        for dy in range(-r, r + 1):
            for dx in range(-reach[r + dy], reach[r + dy] + 1):
                np.maximum(out, wide[r + dy : r + dy + n, r + dx : r + dx + cols], out=out)
        return [(slice(None), out, 0)]

    args = (src, reach, np.zeros_like(src))
    return Problem(args, (n, cols, 2 * r + 1), (2,), expected, threads=(cols, n), bytes=4.0 * src.size)


def joint_problem(rng, n):
    a = rng.integers(0, 256, n, dtype=np.uint8)
    b = np.clip(a // 2 + rng.integers(0, 128, n, dtype=np.uint8), 0, 255).astype(np.uint8)
    counts = np.zeros((32, 32), np.int32)

    def expected():
        at = (a >> 3).astype(np.int32) * 32 + (b >> 3)
        return [(slice(None), np.bincount(at, minlength=1024).astype(np.int32).reshape(32, 32), 0)]

    return Problem((a, b, counts), (n,), (2,), expected, grid=min(528, -(-n // 512)), bytes=2.0 * n)


LAB = plane(
    "rgb_to_lab(const unsigned char *rgb, float *lightness, float *a, float *b, int rows, int cols)",
    """
    INDEX at = row * cols + col;
    float red = lab_linear((float)rgb[3 * at] / 255), green = lab_linear((float)rgb[3 * at + 1] / 255),
          blue = lab_linear((float)rgb[3 * at + 2] / 255);
    float fx = lab_cube_root((0.4124564f * red + 0.3575761f * green + 0.1804375f * blue) / 0.95047f);
    float fy = lab_cube_root(0.2126729f * red + 0.7151522f * green + 0.0721750f * blue);
    float fz = lab_cube_root((0.0193339f * red + 0.1191920f * green + 0.9503041f * blue) / 1.08883f);
    lightness[at] = 116 * fy - 16;
    a[at] = 500 * (fx - fy);
    b[at] = 200 * (fy - fz);
""",
    before="""
DEVICE float lab_linear(float c) { return c <= 0.04045f ? c / 12.92f : powf((c + 0.055f) / 1.055f, 2.4f); }
DEVICE float lab_cube_root(float t) { return t > 0.008856452f ? cbrtf(t) : 7.787037f * t + 0.13793103f; }
""",
)

CANNY = plane(
    """canny_suppress(const float *gx, const float *gy, float low, float high, unsigned char *out, int rows,
                    int cols)""",
    """
    INDEX at = row * cols + col, label = 0;
    if (row > 0 && row < rows - 1 && col > 0 && col < cols - 1) {
      float h = gx[at], v = gy[at], m = sqrtf(h * h + v * v);
      if (m > low) {
        INDEX dx, dy;
        if (fabsf(v) <= 0.41421356f * fabsf(h)) {
          dx = 1;
          dy = 0;
        } else if (fabsf(h) <= 0.41421356f * fabsf(v)) {
          dx = 0;
          dy = 1;
        } else if (h * v > 0) {
          dx = 1;
          dy = 1;
        } else {
          dx = -1;
          dy = 1;
        }
        INDEX p = at + dy * cols + dx, q = at - dy * cols - dx;
        float a = sqrtf(gx[p] * gx[p] + gy[p] * gy[p]), b = sqrtf(gx[q] * gx[q] + gy[q] * gy[q]);
        if (m >= a && m > b)
          label = m > high ? 2 : 1;
      }
    }
    out[at] = label;
""",
)

DILATE = plane(
    """dilate_disk(const unsigned short *src, const int *reach, unsigned short *dst, int rows, int cols,
                 int size)""",
    """
    INDEX radius = size / 2;
    unsigned short best = src[row * cols + col];
    for (INDEX dy = -radius; dy <= radius; dy++) {
      INDEX yy = row + dy;
      if (yy < 0 || yy >= rows) continue;
      INDEX w = reach[radius + dy], last = MIN(col + w, (INDEX)cols - 1);
      for (INDEX xx = MAX(col - w, (INDEX)0); xx <= last; xx++)
        best = MAX(best, src[yy * cols + xx]);
    }
    dst[row * cols + col] = best;
""",
)

JOINT_HEAD = "joint_histogram(const unsigned char *a, const unsigned char *b, int *counts, int n)"
JOINT = indexed(
    f"""
__global__ void {JOINT_HEAD} {{
  __shared__ int bins[32][32];
  INDEX t = threadIdx.x;
  for (INDEX k = t; k < 1024; k += blockDim.x)
    bins[k / 32][k % 32] = 0;
  __syncthreads();
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + t; i < n; i += (INDEX)gridDim.x * blockDim.x)
    atomicAdd(&bins[a[i] >> 3][b[i] >> 3], 1);
  __syncthreads();
  for (INDEX k = t; k < 1024; k += blockDim.x)
    if (bins[k / 32][k % 32] > 0)
      atomicAdd(&counts[k], bins[k / 32][k % 32]);
}}
""",
    f"""
void {JOINT_HEAD} {{
#pragma omp parallel for reduction(+ : counts[ : 1024])
  for (INDEX i = 0; i < n; i++)
    counts[(a[i] >> 3) * 32 + (b[i] >> 3)]++;
}}
""",
)

KERNELS = [
    Kernel(
        "RGB to Lab", rgb_to_lab,
        "uint8[:,:,::1], float32[:,::1], float32[:,::1], float32[:,::1]", (32, 4),
        lab_problem,
        gpu=1441, host=201, test=33, power=2, **LAB,
    ),
    Kernel(
        "Canny, suppression", canny_suppress,
        "float32[:,::1], float32[:,::1], float32, float32, uint8[:,::1]", (32, 8),
        canny_problem,
        gpu=3001, host=301, test=41, power=2, kind="stencil", **CANNY,
    ),
    Kernel(
        "grey dilation by a disk", dilate_disk, "uint16[:,::1], int32[::1], uint16[:,::1]", (64, 4), dilate_problem,
        gpu=1003, host=101, test=23, power=2, kind="stencil", **DILATE,
    ),
    Kernel(
        "joint histogram", joint_histogram, "uint8[::1], uint8[::1], int32[:,::1]", 512, joint_problem,
        gpu=30_000_003, host=300_003, test=2003, kind="shared", **JOINT,
    ),
]  # fmt: skip
