"""Layers of networks over images: depthwise convolution, pooling, sampling at places."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32


def depthwise(x, weights, stride, dilation, pad, y):
    """A filter a channel, with a stride, gaps and a border of zeros; planes are channels of several images."""
    col, row, plane = cuda.grid(3)
    planes, rows, cols = y.shape
    if col >= cols or row >= rows or plane >= planes:
        return
    c = plane % weights.shape[0]
    total = float32(0.0)
    for a in range(weights.shape[1]):
        yy = row * stride - pad + a * dilation
        if yy < 0 or yy >= x.shape[1]:
            continue
        for b in range(weights.shape[2]):
            xx = col * stride - pad + b * dilation
            if 0 <= xx < x.shape[2]:
                total += weights[c, a, b] * x[plane, yy, xx]
    y[plane, row, col] = total


def pool_places(x, size, stride, pad, y, places):
    """Max pooling and the place of each maximum, the first of equals."""
    col, row, plane = cuda.grid(3)
    planes, rows, cols = y.shape
    if col < cols and row < rows and plane < planes:
        best = float32(-3.4e38)
        place = -1
        for a in range(size):
            for b in range(size):
                yy = row * stride - pad + a
                xx = col * stride - pad + b
                if 0 <= yy < x.shape[1] and 0 <= xx < x.shape[2]:
                    v = x[plane, yy, xx]
                    if v > best:
                        best = v
                        place = yy * x.shape[2] + xx
        y[plane, row, col] = best
        places[plane, row, col] = place


def grid_sample(image, places, out):
    """Bilinear samples of all channels at places from -1 to 1; outside is 0."""
    col, row = cuda.grid(2)
    channels, height, width = image.shape
    if row >= out.shape[1] or col >= out.shape[2]:
        return
    fx = ((places[row, col, 0] + 1) * width - 1) * 0.5
    fy = ((places[row, col, 1] + 1) * height - 1) * 0.5
    x = int(math.floor(fx))
    y = int(math.floor(fy))
    wx = fx - x
    wy = fy - y
    for c in range(channels):
        v = float32(0.0)
        if 0 <= y < height:
            if 0 <= x < width:
                v += image[c, y, x] * (1 - wx) * (1 - wy)
            if 0 <= x + 1 < width:
                v += image[c, y, x + 1] * wx * (1 - wy)
        if 0 <= y + 1 < height:
            if 0 <= x < width:
                v += image[c, y + 1, x] * (1 - wx) * wy
            if 0 <= x + 1 < width:
                v += image[c, y + 1, x + 1] * wx * wy
        out[c, row, col] = v


def depthwise_problem(rng, n):
    rows, cols, channels, size, stride, dilation, pad = 113, 131, 37, 5, 2, 2, 3
    x = rng.standard_normal((n, rows, cols), dtype=np.float32)
    weights = rng.standard_normal((channels, size, size), dtype=np.float32)
    high, wide = ((m + 2 * pad - dilation * (size - 1) - 1) // stride + 1 for m in (rows, cols))

    def expected():
        at = sampled(rng, n, 30)
        padded = np.pad(x[at].astype(float), ((0, 0), (pad, pad), (pad, pad)))
        total = np.zeros((at.size, high, wide))
        for a in range(size):
            for b in range(size):
                part = padded[:, a * dilation :, b * dilation :][:, ::stride, ::stride][:, :high, :wide]
                total += part * weights[at % channels, a, b][:, None, None]
        return [(at, total, 26 * EPS32 * 60)]  # 25 products, together below 60

    args = (x, weights, stride, dilation, pad, np.zeros((n, high, wide), np.float32))
    return Problem(
        args, (n, rows, cols, channels, size, high, wide), (5,), expected,
        threads=(wide, high, n), bytes=4.0 * (x.size + n * high * wide),
    )  # fmt: skip


def pool_problem(rng, n):
    rows, cols, size, stride, pad = 115, 133, 3, 2, 1
    x = rng.standard_normal((n, rows, cols), dtype=np.float32)
    high, wide = ((m + 2 * pad - size) // stride + 1 for m in (rows, cols))

    def expected():
        at = sampled(rng, n, 30)
        padded = np.pad(x[at], ((0, 0), (pad, pad), (pad, pad)), constant_values=-np.inf)
        parts = [padded[:, a:, b:][:, ::stride, ::stride][:, :high, :wide] for a in range(size) for b in range(size)]
        parts = np.stack(parts)
        which = parts.argmax(0)
        row = np.arange(high)[:, None] * stride - pad + which // size
        col = np.arange(wide) * stride - pad + which % size
        return [(at, parts.max(0), 0), (at, (row * cols + col).astype(np.int32), 0)]

    args = (x, size, stride, pad, np.zeros((n, high, wide), np.float32), np.zeros((n, high, wide), np.int32))
    return Problem(
        args, (n, rows, cols, high, wide), (4, 5), expected,
        threads=(wide, high, n), bytes=4.0 * x.size + 8.0 * n * high * wide,
    )  # fmt: skip


def sample_problem(rng, n):
    channels, height, width, cols = 7, 203, 301, n + 117
    image = rng.standard_normal((channels, height, width), dtype=np.float32)
    v, u = np.meshgrid(np.linspace(-1.1, 1.1, n), np.linspace(-1.05, 1.05, cols), indexing="ij")
    places = np.float32(np.stack([0.8 * u - 0.3 * v, 0.3 * u + 0.8 * v], 2))

    def expected():
        at = sampled(rng, n, 40)
        fx, fy = (((places[at, :, k].astype(float) + 1) * m - 1) / 2 for k, m in ((0, width), (1, height)))
        x, y = np.floor(fx).astype(int), np.floor(fy).astype(int)
        wx, wy = fx - x, fy - y
        padded = np.pad(image, ((0, 0), (200, 200), (200, 200)))
        x, y = x + 200, y + 200
        total = padded[:, y, x] * (1 - wx) * (1 - wy) + padded[:, y, x + 1] * wx * (1 - wy)
        total += padded[:, y + 1, x] * (1 - wx) * wy + padded[:, y + 1, x + 1] * wx * wy
        # A place of up to 330 pixels has 3 roundings; values, and their differences, are below 11.
        return [((slice(None), at), total, 3 * 330 * EPS32 * 2 * 11)]

    args = (image, places, np.zeros((channels, n, cols), np.float32))
    return Problem(
        args, (channels, height, width, n, cols), (2,), expected,
        threads=(cols, n), bytes=4.0 * n * cols * (channels + 2),
    )  # fmt: skip


def space(head, body):
    """A thread, or a turn of the loops, for each place of n planes of high x wide."""
    return indexed(
        f"""
__global__ void {head} {{
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX plane = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (col < wide && row < high && plane < n) {{{body}  }}
}}
""",
        f"""
void {head} {{
#pragma omp parallel for
  for (INDEX plane = 0; plane < n; plane++)
    for (INDEX row = 0; row < high; row++)
      for (INDEX col = 0; col < wide; col++) {{{body}      }}
}}
""",
    )


DEPTHWISE = space(
    """depthwise(const float *x, const float *weights, int stride, int dilation, int pad, float *y, int n, int rows,
               int cols, int channels, int size, int high, int wide)""",
    """
    INDEX c = plane % channels;
    float total = 0;
    for (INDEX a = 0; a < size; a++) {
      INDEX yy = row * stride - pad + a * dilation;
      if (yy < 0 || yy >= rows) continue;
      for (INDEX b = 0; b < size; b++) {
        INDEX xx = col * stride - pad + b * dilation;
        if (xx >= 0 && xx < cols)
          total += weights[(c * size + a) * size + b] * x[(plane * rows + yy) * cols + xx];
      }
    }
    y[(plane * high + row) * wide + col] = total;
""",
)

POOL = space(
    """pool_places(const float *x, int size, int stride, int pad, float *y, int *places, int n, int rows, int cols,
                 int high, int wide)""",
    """
    float best = -3.4e38f;
    int place = -1;
    for (INDEX a = 0; a < size; a++)
      for (INDEX b = 0; b < size; b++) {
        INDEX yy = row * stride - pad + a, xx = col * stride - pad + b;
        if (yy >= 0 && yy < rows && xx >= 0 && xx < cols) {
          float v = x[(plane * rows + yy) * cols + xx];
          if (v > best) {
            best = v;
            place = yy * cols + xx;
          }
        }
      }
    y[(plane * high + row) * wide + col] = best;
    places[(plane * high + row) * wide + col] = place;
""",
)

SAMPLE_BODY = """
    float fx = ((places[2 * (row * cols + col)] + 1) * width - 1) * 0.5f;
    float fy = ((places[2 * (row * cols + col) + 1] + 1) * height - 1) * 0.5f;
    INDEX x = (INDEX)floorf(fx), y = (INDEX)floorf(fy);
    float wx = fx - x, wy = fy - y;
    for (INDEX c = 0; c < channels; c++) {
      const float *at = image + c * height * width;
      float v = 0;
      if (y >= 0 && y < height) {
        if (x >= 0 && x < width) v += at[y * width + x] * (1 - wx) * (1 - wy);
        if (x + 1 >= 0 && x + 1 < width) v += at[y * width + x + 1] * wx * (1 - wy);
      }
      if (y + 1 >= 0 && y + 1 < height) {
        if (x >= 0 && x < width) v += at[(y + 1) * width + x] * (1 - wx) * wy;
        if (x + 1 >= 0 && x + 1 < width) v += at[(y + 1) * width + x + 1] * wx * wy;
      }
      out[(c * rows + row) * cols + col] = v;
    }
"""
SAMPLE = plane(
    """grid_sample(const float *image, const float *places, float *out, int channels, int height, int width,
                 int rows, int cols)""",
    SAMPLE_BODY,
)

KERNELS = [
    Kernel(
        "depthwise convolution, dilated", depthwise,
        "float32[:,:,::1], float32[:,:,::1], pyint, pyint, pyint, float32[:,:,::1]", (32, 4, 1),
        depthwise_problem,
        gpu=1501, host=31, test=3, kind="stencil", **DEPTHWISE,
    ),
    Kernel(
        "max pooling with places", pool_places,
        "float32[:,:,::1], pyint, pyint, pyint, float32[:,:,::1], int32[:,:,::1]", (32, 4, 1),
        pool_problem,
        gpu=2003, host=51, test=3, kind="stencil", **POOL,
    ),
    Kernel(
        "bilinear samples at places", grid_sample, "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1]", (32, 8),
        sample_problem,
        gpu=1501, host=201, test=33, power=2, kind="irregular", **SAMPLE,
    ),
]  # fmt: skip
