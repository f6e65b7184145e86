"""Computer vision: disparities, flow, descriptors, likeness, running maxima, shapes of blobs."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, int32, uint8, uint32


def block_disparities(left, right, reach, radius, ratio, out):
    """Stereo: the shift with the least sum of differences in a window, if it is clearly better than the others."""
    col, row = cuda.grid(2)
    rows, cols = left.shape
    if row >= rows or col >= cols:
        return
    out[row, col] = -1
    if row < radius or row >= rows - radius or col < radius + reach or col >= cols - radius:
        return
    best = 1 << 30
    second = 1 << 30
    place = -1
    for d in range(reach + 1):
        total = 0
        for r in range(row - radius, row + radius + 1):
            for c in range(col - radius, col + radius + 1):
                total += abs(int(left[r, c]) - int(right[r, c - d]))
        if total < best:
            if d != place + 1:
                second = best
            best = total
            place = d
        elif total < second and d != place + 1:
            second = total
    if best * 100 <= second * ratio:
        out[row, col] = place


def flow_step(gx, gy, gt, u, v, weight, u_new, v_new):
    """Horn and Schunck's optical flow: the mean of the neighbours, corrected along the gradient."""
    col, row = cuda.grid(2)
    rows, cols = u.shape
    if row >= rows or col >= cols:
        return
    up = max(row - 1, 0)
    down = min(row + 1, rows - 1)
    west = max(col - 1, 0)
    east = min(col + 1, cols - 1)
    mean_u = (u[up, col] + u[down, col] + u[row, west] + u[row, east]) / 6
    mean_u += (u[up, west] + u[up, east] + u[down, west] + u[down, east]) / 12
    mean_v = (v[up, col] + v[down, col] + v[row, west] + v[row, east]) / 6
    mean_v += (v[up, west] + v[up, east] + v[down, west] + v[down, east]) / 12
    x = gx[row, col]
    y = gy[row, col]
    share = (x * mean_u + y * mean_v + gt[row, col]) / (weight + x * x + y * y)
    u_new[row, col] = mean_u - x * share
    v_new[row, col] = mean_v - y * share


def brief_bits(image, points, pattern, words):
    """BRIEF: which of two pixels near a point is darker, 32 pairs a word; a word a thread."""
    word, i = cuda.grid(2)
    if i >= points.shape[0] or word >= words.shape[1]:
        return
    x, y = points[i]
    rows, cols = image.shape
    bits = uint32(0)
    for k in range(32):
        ax, ay, bx, by = pattern[32 * word + k]
        a = image[min(max(y + ay, 0), rows - 1), min(max(x + ax, 0), cols - 1)]
        b = image[min(max(y + by, 0), rows - 1), min(max(x + bx, 0), cols - 1)]
        if a < b:
            bits |= uint32(1) << k
    words[i, word] = bits


def likeness_map(first, second, radius, c1, c2, out):
    """SSIM of two pictures of bytes: means, variances and covariance of windows, as integers until the end."""
    col, row = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    a = b = aa = bb = ab = 0
    for r in range(row, row + 2 * radius + 1):
        for c in range(col, col + 2 * radius + 1):
            x = int(first[r, c])
            y = int(second[r, c])
            a += x
            b += y
            aa += x * x
            bb += y * y
            ab += x * y
    n = (2 * radius + 1) ** 2
    means = float32(a * b)
    squares = float32(a * a + b * b)
    covariance = float32(n * ab - a * b)
    variances = float32(n * aa - a * a + n * bb - b * b)
    out[row, col] = (2 * means + c1) * (2 * covariance + c2) / ((squares + c1) * (variances + c2))


def running_maxima(image, width, out):
    """Van Herk's dilation along rows: maxima from the left and from the right within pieces of the window's width, in
    shared memory.
    """
    forward = cuda.shared.array(1024, uint8)
    backward = cuda.shared.array(1024, uint8)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.y
    cols = image.shape[1]
    pieces = 1024 // width
    useful = (pieces - 1) * width
    begin = cuda.blockIdx.x * useful
    for k in range(t, pieces * width, cuda.blockDim.x):
        c = begin + k - width // 2
        value = image[row, c] if 0 <= c < cols else uint8(0)
        forward[k] = value
        backward[k] = value
    cuda.syncthreads()
    if t < pieces:
        for k in range(t * width + 1, (t + 1) * width):
            forward[k] = max(forward[k], forward[k - 1])
    elif t < 2 * pieces:
        for k in range((t - pieces + 1) * width - 2, (t - pieces) * width - 1, -1):
            backward[k] = max(backward[k], backward[k + 1])
    cuda.syncthreads()
    for k in range(t, useful, cuda.blockDim.x):
        if begin + k < cols:
            out[row, begin + k] = max(backward[k], forward[k + width - 1])


def blob_moments(labels, areas, moments, boxes):
    """Area, first moments and box of every labelled blob, by atomics on its row."""
    col, row = cuda.grid(2)
    if row >= labels.shape[0] or col >= labels.shape[1]:
        return
    label = labels[row, col]
    if label == 0:
        return
    k = label - 1
    cuda.atomic.add(areas, k, 1)
    cuda.atomic.add(moments, (k, 0), float32(col))
    cuda.atomic.add(moments, (k, 1), float32(row))
    cuda.atomic.min(boxes, (k, 0), col)
    cuda.atomic.min(boxes, (k, 1), row)
    cuda.atomic.max(boxes, (k, 2), col)
    cuda.atomic.max(boxes, (k, 3), row)


def disparity_problem(rng, n):
    rows, cols, reach, radius, ratio = n, n + 37, 23, 3, 90
    scene = rng.integers(0, 256, (rows, cols)).astype(float)
    for axis in (0, 1):
        scene = (scene + np.roll(scene, 1, axis)) / 2
    shift = 3 + (np.arange(cols) // 41 * 7 + np.arange(rows)[:, None] // 29 * 5) % 17
    right = scene + rng.integers(-2, 3, scene.shape)
    left = np.take_along_axis(scene, np.maximum(np.arange(cols) - shift, 0), 1) + rng.integers(-2, 3, scene.shape)
    left, right = (np.clip(np.rint(v), 0, 255).astype(np.uint8) for v in (left, right))

    def expected():
        a, b = left.astype(int), right.astype(int)
        values = np.full((rows, cols), -1)
        inner = np.s_[radius : rows - radius, radius + reach : cols - radius]
        best = np.full(values[inner].shape, 1 << 30)
        second, place = best.copy(), np.full(best.shape, -1)
        for d in range(reach + 1):
            sums = np.zeros((rows + 1, cols + 1), int)
            sums[1:, 1 + d :] = np.cumsum(np.cumsum(abs(a[:, d:] - b[:, : cols - d]), 0), 1)
            w = 2 * radius + 1
            box = sums[w:, w:] - sums[:-w, w:] - sums[w:, :-w] + sums[:-w, :-w]
            total = box[:, reach:]
            better, next_to = total < best, place + 1 == d
            second = np.where(better & ~next_to, best, np.where(~better & ~next_to, np.minimum(second, total), second))
            best, place = np.where(better, total, best), np.where(better, d, place)
        values[inner] = np.where(best * 100 <= second * ratio, place, -1)
        return [(slice(None), values, 0)]

    args = (left, right, reach, radius, ratio, np.full((rows, cols), 99, np.int8))
    return Problem(
        args, (rows, cols), (5,), expected, threads=(cols, rows), bytes=3.0 * rows * cols,
        flops=3.0 * 49 * (reach + 1) * rows * cols,
    )  # fmt: skip


def horn_problem(rng, n):
    rows, cols = n, n + 19
    gx, gy, gt = rng.standard_normal((3, rows, cols), np.float32)
    u, v = rng.standard_normal((2, rows, cols), np.float32)
    weight = np.float32(0.7)

    def expected():
        def mean(x):
            p = np.pad(x.astype(float), 1, mode="edge")
            cross = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
            return cross / 6 + (p[:-2, :-2] + p[:-2, 2:] + p[2:, :-2] + p[2:, 2:]) / 12

        at = slice(None)
        mu, mv, su, sv = mean(u), mean(v), mean(abs(u)), mean(abs(v))
        x, y = gx.astype(float), gy.astype(float)
        bottom = float(weight) + x * x + y * y
        share, size = (x * mu + y * mv + gt) / bottom, (abs(x) * su + abs(y) * sv + abs(gt)) / bottom
        return [
            (at, mu - x * share, 16 * EPS32 * (su + abs(x) * size)), (at, mv - y * share, 16 * EPS32 * (sv + abs(y) * size)),
        ]  # fmt: skip

    args = (gx, gy, gt, u, v, weight, np.full((rows, cols), 99, np.float32), np.full((rows, cols), 99, np.float32))
    return Problem(
        args, (rows, cols), (6, 7), expected, threads=(cols, rows), bytes=28.0 * rows * cols, flops=40.0 * rows * cols,
    )  # fmt: skip


def brief_problem(rng, n):
    size, words = 701, 8
    image = rng.integers(0, 256, (size, size + 60), np.uint8)
    points = np.stack([rng.integers(0, size + 60, n), rng.integers(0, size, n)], 1).astype(np.int32)
    pattern = np.clip(np.rint(6 * rng.standard_normal((32 * words, 4))), -15, 15).astype(np.int8)

    def expected():
        at = sampled(rng, n, 4000)
        x, y = points[at].astype(int).T
        p = pattern.astype(int)

        def pixel(k):
            return image[np.clip(y[:, None] + p[:, k + 1], 0, size - 1), np.clip(x[:, None] + p[:, k], 0, size + 59)]

        bits = (pixel(0) < pixel(2)).reshape(len(at), words, 32)
        return [(at, (bits << np.arange(32, dtype=np.uint64)).sum(2), 0)]

    args = (image, points, pattern, np.zeros((n, words), np.uint32))
    return Problem(args, (*image.shape, n, words), (3,), expected, threads=(words, n), bytes=40.0 * n, flops=32.0 * 8 * n)


def likeness_problem(rng, n):
    radius, rows, cols = 4, n, n + 3
    first = rng.integers(0, 256, (rows + 8, cols + 8), np.uint8)
    second = np.clip(first + rng.integers(-40, 41, first.shape), 0, 255).astype(np.uint8)
    count = (2 * radius + 1) ** 2
    c1, c2 = np.float32((0.01 * 255 * count) ** 2), np.float32((0.03 * 255 * count) ** 2)

    def expected():
        at = sampled(rng, rows, 150)
        x, y = first.astype(int), second.astype(int)

        def window(v):
            sums = np.zeros((v.shape[0] + 1, v.shape[1] + 1), int)
            sums[1:, 1:] = np.cumsum(np.cumsum(v, 0), 1)
            w = 2 * radius + 1
            return (sums[w:, w:] - sums[:-w, w:] - sums[w:, :-w] + sums[:-w, :-w])[at]

        a, b, aa, bb, ab = window(x), window(y), window(x * x), window(y * y), window(x * y)
        top = (2.0 * a * b + float(c1)) * (2.0 * (count * ab - a * b) + float(c2))
        bottom = (a * a + b * b + float(c1)) * (count * (aa + bb) - a * a - b * b + float(c2))
        return [(at, top / bottom, 12 * EPS32)]

    args = (first, second, radius, c1, c2, np.full((rows, cols), 99, np.float32))
    return Problem(
        args, (cols + 8, rows, cols), (5,), expected, threads=(cols, rows), bytes=6.0 * rows * cols,
        flops=8.0 * count * rows * cols,
    )  # fmt: skip


def maxima_problem(rng, n):
    width, rows, cols = 23, n, n + 31
    image = rng.integers(0, 200, (rows, cols), np.uint8) // rng.integers(1, 9, (rows, cols), np.uint8)

    def expected():
        at = sampled(rng, rows, 200)
        padded = np.pad(image[at], ((0, 0), (width // 2, width // 2)))
        values = padded[:, :cols]
        for k in range(1, width):
            values = np.maximum(values, padded[:, k : k + cols])
        return [(at, values, 0)]

    args = (image, width, np.full((rows, cols), 255, np.uint8))
    useful = (1024 // width - 1) * width
    return Problem(
        args, (rows, cols), (2,), expected, grid=(-(-cols // useful), rows), bytes=2.0 * rows * cols, flops=4.0 * rows * cols,
    )  # fmt: skip


def blobs_problem(rng, n):
    rows, cols, cell = n, n + 7, 9
    ids = np.arange(rows)[:, None] // cell * (cols // cell + 1) + np.arange(cols) // cell
    y, x = np.arange(rows)[:, None] % cell, np.arange(cols) % cell
    labels = np.where((y - 4) ** 2 + (x - 4) ** 2 < 14, ids + 1, 0).astype(np.int32)
    count = int(ids.max()) + 1
    labels[labels % 5 == 0] = 0

    def expected():
        r, c = np.nonzero(labels)
        k = labels[r, c] - 1
        areas = np.bincount(k, minlength=count)
        moments = np.stack([np.bincount(k, v, count) for v in (c, r)], 1)
        boxes = np.tile(np.array([1 << 30, 1 << 30, -1, -1]), (count, 1))
        for side, (at, v) in enumerate(((np.minimum, c), (np.minimum, r), (np.maximum, c), (np.maximum, r))):
            at.at(boxes[:, side], k, v)
        return [(slice(None), areas, 0), (slice(None), moments, 60 * EPS32 * moments), (slice(None), boxes, 0)]

    boxes = np.tile(np.array([1 << 30, 1 << 30, -1, -1], np.int32), (count, 1))
    args = (labels, np.zeros(count, np.int32), np.zeros((count, 2), np.float32), boxes)
    return Problem(args, (rows, cols), (1, 2, 3), expected, threads=(cols, rows), bytes=4.0 * rows * cols + 28.0 * count)


DISPARITIES = plane(
    """block_disparities(const unsigned char *__restrict__ left, const unsigned char *__restrict__ right, int reach, int radius,
                       int ratio, signed char *__restrict__ out, int rows, int cols)""",
    """
    out[row * cols + col] = -1;
    if (row >= radius && row < rows - radius && col >= radius + reach && col < cols - radius) {
      INDEX best = 1 << 30, second = 1 << 30, place = -1;
      for (INDEX d = 0; d <= reach; d++) {
        INDEX total = 0;
        for (INDEX r = row - radius; r <= row + radius; r++)
          for (INDEX c = col - radius; c <= col + radius; c++)
            total += abs(left[r * cols + c] - right[r * cols + c - d]);
        if (total < best) {
          if (d != place + 1) second = best;
          best = total;
          place = d;
        } else if (total < second && d != place + 1) {
          second = total;
        }
      }
      if (best * 100 <= second * WIDE ratio) out[row * cols + col] = place;
    }
""",
)
# 2**30 times the ratio needs 64 bits.
DISPARITIES = {k: text.replace("WIDE", "(long long)" if k != "cuda" else "") for k, text in DISPARITIES.items()}
DISPARITIES["openmp"] = "#include <stdlib.h>\n" + DISPARITIES["openmp"]

HORN = plane(
    """flow_step(const float *__restrict__ gx, const float *__restrict__ gy, const float *__restrict__ gt,
               const float *__restrict__ u, const float *__restrict__ v, float weight, float *__restrict__ u_new,
               float *__restrict__ v_new, int rows, int cols)""",
    """
    INDEX up = (row > 0 ? row - 1 : 0) * cols, down = (row + 1 < rows ? row + 1 : row) * cols, here = row * cols;
    INDEX west = col > 0 ? col - 1 : 0, east = col + 1 < cols ? col + 1 : col, at = here + col;
    float mean_u = (u[up + col] + u[down + col] + u[here + west] + u[here + east]) / 6;
    mean_u += (u[up + west] + u[up + east] + u[down + west] + u[down + east]) / 12;
    float mean_v = (v[up + col] + v[down + col] + v[here + west] + v[here + east]) / 6;
    mean_v += (v[up + west] + v[up + east] + v[down + west] + v[down + east]) / 12;
    float x = gx[at], y = gy[at], share = (x * mean_u + y * mean_v + gt[at]) / (weight + x * x + y * y);
    u_new[at] = mean_u - x * share;
    v_new[at] = mean_v - y * share;
""",
)

BRIEF = plane(
    """brief_bits(const unsigned char *__restrict__ image, const int *__restrict__ points,
                const signed char *__restrict__ pattern, unsigned *__restrict__ words, int height, int width, int n, int size)""",
    """
    int x = points[2 * row], y = points[2 * row + 1];
    unsigned bits = 0;
    for (int k = 0; k < 32; k++) {
      const signed char *p = pattern + 4 * (32 * col + k);
      int ax = MIN(MAX(x + p[0], 0), width - 1), ay = MIN(MAX(y + p[1], 0), height - 1);
      int bx = MIN(MAX(x + p[2], 0), width - 1), by = MIN(MAX(y + p[3], 0), height - 1);
      if (image[(INDEX)ay * width + ax] < image[(INDEX)by * width + bx]) bits |= 1u << k;
    }
    words[row * size + col] = bits;
""",
    "n", "size",
)  # fmt: skip

LIKENESS = plane(
    """likeness_map(const unsigned char *__restrict__ first, const unsigned char *__restrict__ second, int radius, float c1,
                  float c2, float *__restrict__ out, int width, int rows, int cols)""",
    """
    INDEX a = 0, b = 0, aa = 0, bb = 0, ab = 0, n = (2 * radius + 1) * (2 * radius + 1);
    for (INDEX r = row; r <= row + 2 * radius; r++)
      for (INDEX c = col; c <= col + 2 * radius; c++) {
        int x = first[r * width + c], y = second[r * width + c];
        a += x;
        b += y;
        aa += x * x;
        bb += y * y;
        ab += x * y;
      }
    float means = a * b, squares = a * a + b * b, covariance = n * ab - a * b;
    float variances = n * aa - a * a + n * bb - b * b;
    out[row * cols + col] = (2 * means + c1) * (2 * covariance + c2) / ((squares + c1) * (variances + c2));
""",
)

MAXIMA_HEAD = """running_maxima(const unsigned char *__restrict__ image, int width, unsigned char *__restrict__ out,
                 int rows, int cols)"""
MAXIMA = indexed(
    f"""
__global__ void {MAXIMA_HEAD} {{
  __shared__ unsigned char forward[1024], backward[1024];
  INDEX t = threadIdx.x, row = blockIdx.y, pieces = 1024 / width, useful = (pieces - 1) * width;
  INDEX begin = blockIdx.x * useful;
  for (INDEX k = t; k < pieces * width; k += blockDim.x) {{
    INDEX c = begin + k - width / 2;
    forward[k] = backward[k] = 0 <= c && c < cols ? image[row * cols + c] : 0;
  }}
  __syncthreads();
  if (t < pieces) {{
    for (INDEX k = t * width + 1; k < (t + 1) * width; k++)
      forward[k] = MAX(forward[k], forward[k - 1]);
  }} else if (t < 2 * pieces) {{
    for (INDEX k = (t - pieces + 1) * width - 2; k >= (t - pieces) * width; k--)
      backward[k] = MAX(backward[k], backward[k + 1]);
  }}
  __syncthreads();
  for (INDEX k = t; k < useful; k += blockDim.x)
    if (begin + k < cols) out[row * cols + begin + k] = MAX(backward[k], forward[k + width - 1]);
}}
""",
    f"""
void {MAXIMA_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++)
    for (INDEX begin = 0; begin < cols; begin += width) {{
      unsigned char forward[512], backward[512];
      for (INDEX k = 0; k < 2 * width; k++) {{
        INDEX c = begin + k - width / 2;
        forward[k] = backward[k] = 0 <= c && c < cols ? image[row * cols + c] : 0;
      }}
      for (INDEX k = width + 1; k < 2 * width; k++)
        forward[k] = MAX(forward[k], forward[k - 1]);
      for (INDEX k = width - 2; k >= 0; k--)
        backward[k] = MAX(backward[k], backward[k + 1]);
      for (INDEX k = 0; k < width && begin + k < cols; k++)
        out[row * cols + begin + k] = k ? MAX(backward[k], forward[k + width - 1]) : backward[k];
    }}
}}
""",
)

BLOBS_HEAD = """blob_moments(const int *__restrict__ labels, int *__restrict__ areas, float *__restrict__ moments,
                 int *__restrict__ boxes, int rows, int cols)"""
BLOBS = indexed(
    f"""
__global__ void {BLOBS_HEAD} {{
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (row >= rows || col >= cols) return;
  int label = labels[row * cols + col];
  if (label == 0) return;
  INDEX k = label - 1;
  atomicAdd(&areas[k], 1);
  atomicAdd(&moments[2 * k], (float)col);
  atomicAdd(&moments[2 * k + 1], (float)row);
  atomicMin(&boxes[4 * k], (int)col);
  atomicMin(&boxes[4 * k + 1], (int)row);
  atomicMax(&boxes[4 * k + 2], (int)col);
  atomicMax(&boxes[4 * k + 3], (int)row);
}}
""",
    f"""
void {BLOBS_HEAD} {{
  for (INDEX row = 0; row < rows; row++)
    for (INDEX col = 0; col < cols; col++) {{
      int label = labels[row * cols + col], *box = boxes + 4 * (label - 1);
      if (label == 0) continue;
      areas[label - 1]++;
      moments[2 * (label - 1)] += col;
      moments[2 * (label - 1) + 1] += row;
      box[0] = MIN(box[0], col);
      box[1] = MIN(box[1], row);
      box[2] = MAX(box[2], col);
      box[3] = MAX(box[3], row);
    }}
}}
""",
)

KERNELS = [
    Kernel(
        "disparities of blocks", block_disparities, "uint8[:,::1], uint8[:,::1], pyint, pyint, pyint, int8[:,::1]", (32, 4),
        disparity_problem, gpu=701, host=101, test=45, power=2, kind="stencil", **DISPARITIES,
    ),
    Kernel(
        "step of an optical flow", flow_step,
        "float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1], float32, float32[:,::1], float32[:,::1]",
        (32, 8), horn_problem, gpu=3001, host=301, test=61, power=2, kind="stencil", **HORN,
    ),
    Kernel(
        "bits of points", brief_bits, "uint8[:,::1], int32[:,::1], int8[:,::1], uint32[:,::1]", (8, 16), brief_problem,
        gpu=200_003, host=5003, test=203, **BRIEF,
    ),
    Kernel(
        "likeness of pictures", likeness_map, "uint8[:,::1], uint8[:,::1], pyint, float32, float32, float32[:,::1]", (32, 8),
        likeness_problem, gpu=1501, host=201, test=45, power=2, kind="stencil", **LIKENESS,
    ),
    Kernel(
        "running maxima", running_maxima, "uint8[:,::1], pyint, uint8[:,::1]", 128, maxima_problem, gpu=6001, host=301,
        test=31, power=2, kind="shared", **MAXIMA,
    ),
    Kernel(
        "moments of blobs", blob_moments, "int32[:,::1], int32[::1], float32[:,::1], int32[:,::1]", (32, 8), blobs_problem,
        gpu=3001, host=301, test=61, power=2, kind="irregular", **BLOBS,
    ),
]  # fmt: skip
