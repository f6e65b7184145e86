"""Tiles of a block: equalised histograms, masks of boxes that overlap."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import indexed
from pyptx import cuda, float32, int32


def equalise_tiles(image, height, width, limit, out):
    """Histogram equalisation of each tile, bins cut at a limit; a block of 256 a tile."""
    bins = cuda.shared.array(256, int32)
    excess = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    top = cuda.blockIdx.y * height
    left = cuda.blockIdx.x * width
    high = min(height, image.shape[0] - top)
    wide = min(width, image.shape[1] - left)
    bins[t] = 0
    if t == 0:
        excess[0] = 0
    cuda.syncthreads()
    for k in range(t, high * wide, 256):
        cuda.atomic.add(bins, image[top + k // wide, left + k % wide], 1)
    cuda.syncthreads()
    most = max(1, limit * high * wide // 256)
    v = int(bins[t])
    if v > most:
        cuda.atomic.add(excess, 0, v - most)
        v = most
    cuda.syncthreads()
    v += excess[0] // 256
    bins[t] = v
    cuda.syncthreads()
    d = 1
    while d < 256:
        other = 0
        if t >= d:
            other = int(bins[t - d])
        cuda.syncthreads()
        v += other
        bins[t] = v
        cuda.syncthreads()
        d *= 2
    whole = int(bins[255])
    cuda.syncthreads()
    bins[t] = v * 255 // whole
    cuda.syncthreads()
    for k in range(t, high * wide, 256):
        y = top + k // wide
        x = left + k % wide
        out[y, x] = bins[image[y, x]]


def overlap_masks(boxes, share, masks):
    """For each box and 64 others after it, the bits of those that overlap by more than a share of the union."""
    tile = cuda.shared.array((64, 4), float32)
    n = boxes.shape[0]
    first = cuda.blockIdx.y * 64
    others = cuda.blockIdx.x * 64
    t = cuda.threadIdx.x
    if others + 63 < first:
        return
    count = min(64, n - others)
    if t < count:
        for k in range(4):
            tile[t, k] = boxes[others + t, k]
    cuda.syncthreads()
    i = first + t
    if i >= n:
        return
    left = boxes[i, 0]
    top = boxes[i, 1]
    right = boxes[i, 2]
    bottom = boxes[i, 3]
    area = (right - left) * (bottom - top)
    mask = np.uint64(0)
    for k in range(count):
        if others + k <= i:
            continue
        w = min(right, tile[k, 2]) - max(left, tile[k, 0])
        h = min(bottom, tile[k, 3]) - max(top, tile[k, 1])
        if w > 0 and h > 0:
            both = w * h
            union = area + (tile[k, 2] - tile[k, 0]) * (tile[k, 3] - tile[k, 1]) - both
            if both > share * union:
                mask |= np.uint64(1) << k
    masks[i, cuda.blockIdx.x] = mask


def equalise_problem(rng, n):
    cols, height, width, limit = n + 211, 61, 67, 3
    image = np.clip(rng.normal(110, 30, (n, cols)) + 30 * np.sin(np.arange(cols) / 50), 0, 255).astype(np.uint8)
    grid = (-(-cols // width), -(-n // height))

    def expected():
        out = np.zeros_like(image)
        for y in range(0, n, height):
            for x in range(0, cols, width):
                part = image[y : y + height, x : x + width]
                bins = np.bincount(part.ravel(), minlength=256)
                most = max(1, limit * part.size // 256)
                bins = np.minimum(bins, most) + np.maximum(bins - most, 0).sum() // 256
                sums = np.cumsum(bins)
                out[y : y + height, x : x + width] = (sums * 255 // sums[-1]).astype(np.uint8)[part]
        return [(slice(None), out, 0)]

    args = (image, height, width, limit, np.zeros_like(image))
    return Problem(args, (n, cols), (4,), expected, grid=grid, bytes=2.0 * image.size)


def overlap_problem(rng, n):
    corner, size = rng.integers(0, 700, (n, 2)), rng.integers(20, 90, (n, 2))
    boxes = np.concatenate([corner, corner + size], 1).astype(np.float32)  # whole numbers: areas are exact
    words, share = -(-n // 64), np.float32(0.5)

    def expected():
        at = sampled(rng, n, 300)
        a, b = boxes[at, None].astype(float), boxes.astype(float)
        sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
        both = np.maximum(sides, 0).prod(2)
        union = (a[..., 2:] - a[..., :2]).prod(2) + (b[..., 2:] - b[..., :2]).prod(1) - both
        over = (both > 0.5 * union) & (np.arange(n) > at[:, None])
        over = np.pad(over, ((0, 0), (0, words * 64 - n)))
        return [(at, np.packbits(over, axis=1, bitorder="little").view(np.uint64), 0)]

    args = (boxes, share, np.zeros((n, words), np.uint64))
    return Problem(args, (n, words), (2,), expected, grid=(words, words), bytes=4.0 * n * words)


EQUALISE_HEAD = """equalise_tiles(const unsigned char *image, int height, int width, int limit, unsigned char *out,
                    int rows, int cols)"""
EQUALISE = indexed(
    f"""
__global__ void {EQUALISE_HEAD} {{
  __shared__ int bins[256], excess;
  INDEX t = threadIdx.x, top = blockIdx.y * (INDEX)height, left = blockIdx.x * (INDEX)width;
  INDEX high = MIN((INDEX)height, rows - top), wide = MIN((INDEX)width, cols - left);
  bins[t] = 0;
  if (t == 0) excess = 0;
  __syncthreads();
  for (INDEX k = t; k < high * wide; k += 256)
    atomicAdd(&bins[image[(top + k / wide) * cols + left + k % wide]], 1);
  __syncthreads();
  int most = max(1, (int)(limit * high * wide / 256)), v = bins[t];
  if (v > most) {{
    atomicAdd(&excess, v - most);
    v = most;
  }}
  __syncthreads();
  v += excess / 256;
  bins[t] = v;
  __syncthreads();
  for (INDEX d = 1; d < 256; d *= 2) {{
    int other = t >= d ? bins[t - d] : 0;
    __syncthreads();
    v += other;
    bins[t] = v;
    __syncthreads();
  }}
  int whole = bins[255];
  __syncthreads();
  bins[t] = v * 255 / whole;
  __syncthreads();
  for (INDEX k = t; k < high * wide; k += 256) {{
    INDEX at = (top + k / wide) * cols + left + k % wide;
    out[at] = bins[image[at]];
  }}
}}
""",
    f"""
void {EQUALISE_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX top = 0; top < rows; top += height)
    for (INDEX left = 0; left < cols; left += width) {{
      INDEX high = MIN(height, rows - top), wide = MIN(width, cols - left);
      int bins[256] = {{0}}, excess = 0, most = MAX(1, limit * high * wide / 256), sum = 0;
      for (INDEX y = top; y < top + high; y++)
        for (INDEX x = left; x < left + wide; x++)
          bins[image[y * cols + x]]++;
      for (INDEX k = 0; k < 256; k++)
        if (bins[k] > most) {{
          excess += bins[k] - most;
          bins[k] = most;
        }}
      for (INDEX k = 0; k < 256; k++)
        bins[k] = sum += bins[k] + excess / 256;
      for (INDEX k = 0; k < 256; k++)
        bins[k] = bins[k] * 255 / sum;
      for (INDEX y = top; y < top + high; y++)
        for (INDEX x = left; x < left + wide; x++)
          out[y * cols + x] = bins[image[y * cols + x]];
    }}
}}
""",
)

OVERLAP_HEAD = "overlap_masks(const float *boxes, float share, unsigned long *masks, int n, int words)"
OVERLAP = indexed(
    f"""
__global__ void {OVERLAP_HEAD} {{
  __shared__ float tile[64][4];
  INDEX first = blockIdx.y * (INDEX)64, others = blockIdx.x * (INDEX)64, t = threadIdx.x;
  if (others + 63 < first) return;
  INDEX count = MIN((INDEX)64, n - others);
  if (t < count)
    for (int k = 0; k < 4; k++)
      tile[t][k] = boxes[(others + t) * 4 + k];
  __syncthreads();
  INDEX i = first + t;
  if (i >= n) return;
  float left = boxes[4 * i], top = boxes[4 * i + 1], right = boxes[4 * i + 2], bottom = boxes[4 * i + 3];
  float area = (right - left) * (bottom - top);
  unsigned long mask = 0;
  for (INDEX k = 0; k < count; k++) {{
    if (others + k <= i) continue;
    float w = fminf(right, tile[k][2]) - fmaxf(left, tile[k][0]);
    float h = fminf(bottom, tile[k][3]) - fmaxf(top, tile[k][1]);
    if (w > 0 && h > 0) {{
      float both = w * h, whole = area + (tile[k][2] - tile[k][0]) * (tile[k][3] - tile[k][1]) - both;
      if (both > share * whole) mask |= 1UL << k;
    }}
  }}
  masks[i * words + blockIdx.x] = mask;
}}
""",
    f"""
void {OVERLAP_HEAD} {{
#pragma omp parallel for schedule(dynamic, 16)
  for (INDEX i = 0; i < n; i++) {{
    float left = boxes[4 * i], top = boxes[4 * i + 1], right = boxes[4 * i + 2], bottom = boxes[4 * i + 3];
    float area = (right - left) * (bottom - top);
    for (INDEX word = i / 64; word < words; word++) {{
      unsigned long mask = 0;
      INDEX last = MIN(n, 64 * (word + 1));
      for (INDEX j = MAX(64 * word, i + 1); j < last; j++) {{
        const float *b = boxes + 4 * j;
        float w = fminf(right, b[2]) - fmaxf(left, b[0]), h = fminf(bottom, b[3]) - fmaxf(top, b[1]);
        if (w > 0 && h > 0) {{
          float both = w * h, whole = area + (b[2] - b[0]) * (b[3] - b[1]) - both;
          if (both > share * whole) mask |= 1UL << (j - 64 * word);
        }}
      }}
      masks[i * words + word] = mask;
    }}
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "equalised tiles", equalise_tiles, "uint8[:,::1], pyint, pyint, pyint, uint8[:,::1]", 256, equalise_problem,
        gpu=4001, host=401, test=97, power=2, kind="shared", **EQUALISE,
    ),
    Kernel(
        "masks of overlapping boxes", overlap_masks, "float32[:,::1], float32, uint64[:,::1]", 64, overlap_problem,
        gpu=12_003, host=1003, test=203, power=2, kind="shared", **OVERLAP,
    ),
]  # fmt: skip
