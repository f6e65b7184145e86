"""Pictures: superpixels, seams, thresholds of tiles."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float64


def superpixel_labels(picture, centres, side, compactness, labels):
    """SLIC: each pixel joins the nearest of the nine centres around it, in colour and place."""
    x, y = cuda.grid(2)
    if y >= labels.shape[0] or x >= labels.shape[1]:
        return
    cy, cx = y // side, x // side
    light, a, b = picture[y, x]
    best = 1 << 60
    label = -1
    for gy in range(max(cy - 1, 0), min(cy + 2, centres.shape[0])):
        for gx in range(max(cx - 1, 0), min(cx + 2, centres.shape[1])):
            dl = int(light) - int(centres[gy, gx, 0])
            da = int(a) - int(centres[gy, gx, 1])
            db = int(b) - int(centres[gy, gx, 2])
            dy = y - int(centres[gy, gx, 3])
            dx = x - int(centres[gy, gx, 4])
            distance = (dl * dl + da * da + db * db) * side * side + compactness * (dy * dy + dx * dx)
            if distance < best:
                best = distance
                label = gy * centres.shape[1] + gx
    labels[y, x] = label


def seam_costs(energies, costs, ways):
    """Seams of pictures, a block each: the least cost of a way down to each pixel of the last row, and how it came."""
    picture = cuda.blockIdx.x
    tx = cuda.threadIdx.x
    rows, cols = energies.shape[1], energies.shape[2]
    line = cuda.shared.array((2, 512), np.int32)
    for x in range(tx, cols, cuda.blockDim.x):
        line[0, x] = energies[picture, 0, x]
        ways[picture, 0, x] = 0
    cuda.syncthreads()
    for y in range(1, rows):
        now = y % 2
        for x in range(tx, cols, cuda.blockDim.x):
            best = line[1 - now, x]
            way = 0
            if x > 0 and line[1 - now, x - 1] < best:
                best = line[1 - now, x - 1]
                way = -1
            if x < cols - 1 and line[1 - now, x + 1] < best:
                best = line[1 - now, x + 1]
                way = 1
            line[now, x] = best + energies[picture, y, x]
            ways[picture, y, x] = way
        cuda.syncthreads()
    for x in range(tx, cols, cuda.blockDim.x):
        costs[picture, x] = line[(rows - 1) % 2, x]


def otsu_tiles(picture, side, thresholds):
    """Otsu's thresholds of tiles, a block each: the level that parts a histogram so that the parts differ most."""
    hist = cuda.shared.array(256, np.int32)
    rows, cols = picture.shape
    me = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    for k in range(me, 256, cuda.blockDim.x * cuda.blockDim.y):
        hist[k] = 0
    cuda.syncthreads()
    top, left = cuda.blockIdx.y * side, cuda.blockIdx.x * side
    for y in range(top + cuda.threadIdx.y, min(top + side, rows), cuda.blockDim.y):
        for x in range(left + cuda.threadIdx.x, min(left + side, cols), cuda.blockDim.x):
            cuda.atomic.add(hist, int(picture[y, x]), 1)
    cuda.syncthreads()
    if me == 0:
        count = total = 0
        for k in range(256):
            count += int(hist[k])
            total += k * int(hist[k])
        best = -1.0
        threshold = 0
        below = below_total = 0
        for k in range(255):
            below += int(hist[k])
            below_total += k * int(hist[k])
            above = count - below
            if below == 0 or above == 0:
                continue
            gap = below_total / below - (total - below_total) / above
            between = float64(below) * above * (gap * gap)
            if between > best:
                best = between
                threshold = k
        thresholds[cuda.blockIdx.y, cuda.blockIdx.x] = threshold


def superpixels_problem(rng, n):
    rows, cols, side, compactness = n, n + 11, 17, 100
    picture = rng.integers(0, 256, (rows, cols, 3)).astype(np.uint8)
    gy, gx = -(-rows // side), -(-cols // side)
    centres = np.concatenate([
        rng.integers(0, 256, (gy, gx, 3)),
        np.stack(np.meshgrid(np.arange(gy) * side + side // 2, np.arange(gx) * side + side // 2, indexing="ij"), 2)
        + rng.integers(-5, 6, (gy, gx, 2)),
    ], 2).astype(np.int16)  # fmt: skip

    def expected():
        at = sampled(rng, rows, 60)
        y, x = at[:, None], np.arange(cols)
        best, label = np.full((len(at), cols), 1 << 60), np.full((len(at), cols), -1)
        for j in (-1, 0, 1):
            for i in (-1, 0, 1):
                cy, cx = np.broadcast_arrays(y // side + j, x // side + i)
                ok = (cy >= 0) & (cy < gy) & (cx >= 0) & (cx < gx)
                c = centres[cy.clip(0, gy - 1), cx.clip(0, gx - 1)].astype(np.int64)
                colour = ((picture[at].astype(np.int64) - c[..., :3]) ** 2).sum(-1)
                d = colour * side * side + compactness * ((y - c[..., 3]) ** 2 + (x - c[..., 4]) ** 2)
                nearer = ok & (d < best)
                best, label = np.where(nearer, d, best), np.where(nearer, cy * gx + cx, label)
        return [(at, label, 0)]

    args = (picture, centres, side, compactness, np.full((rows, cols), -1, np.int32))
    return Problem(
        args, (rows, cols, gy, gx), (4,), expected, threads=(cols, rows), bytes=7.0 * rows * cols, flops=9 * 17.0 * rows * cols,
    )  # fmt: skip


def seams_problem(rng, n):
    rows, cols = 151, 301
    energies = rng.integers(0, 256, (n, rows, cols)).astype(np.uint8)

    def expected():
        at = sampled(rng, n, 20)
        e = energies[at].astype(np.int64)
        ways, cost = np.zeros(e.shape, int), e[:, 0]
        for y in range(1, rows):
            wide = np.pad(cost, ((0, 0), (1, 1)), constant_values=1 << 40)
            three = np.stack([wide[:, 1:-1], wide[:, :-2], wide[:, 2:]])  # straight down where it costs no more
            ways[:, y] = np.array([0, -1, 1])[three.argmin(0)]
            cost = three.min(0) + e[:, y]
        return [(at, cost, 0), (at, ways, 0)]

    args = (energies, np.full((n, cols), -1, np.int32), np.full((n, rows, cols), 99, np.int8))
    return Problem(
        args, (n, rows, cols), (1, 2), expected, grid=n, bytes=2.0 * n * rows * cols, flops=6.0 * n * rows * cols,
    )  # fmt: skip


def otsu_problem(rng, n):
    side = 45
    rows, cols = n, n + 31
    picture = np.where(rng.random((rows, cols)) < 0.4, rng.normal(60, 20, (rows, cols)), rng.normal(160, 30, (rows, cols)))
    picture = picture.clip(0, 255).astype(np.uint8)
    ty, tx = -(-rows // side), -(-cols // side)

    def expected():
        at = sampled(rng, ty, 30)
        values = np.zeros((len(at), tx), int)
        for j, y in enumerate(at):
            for x in range(tx):
                hist = np.bincount(picture[y * side : (y + 1) * side, x * side : (x + 1) * side].ravel(), minlength=256)
                below, below_total = np.cumsum(hist)[:255], np.cumsum(np.arange(256) * hist)
                above, rest = hist.sum() - below, below_total[-1] - below_total[:255]
                gap = below_total[:255] / np.maximum(below, 1) - rest / np.maximum(above, 1)
                between = np.where((below > 0) & (above > 0), below.astype(float) * above * (gap * gap), -1)
                values[j, x] = between.argmax()
        return [(at, values, 0)]

    args = (picture, side, np.full((ty, tx), 255, np.uint8))
    return Problem(args, (rows, cols, ty, tx), (2,), expected, grid=(tx, ty), bytes=1.0 * rows * cols, flops=2.0 * rows * cols)


SUPERPIXELS = plane(
    """superpixel_labels(const unsigned char *__restrict__ picture, const short *__restrict__ centres, int side, int compactness,
                       int *__restrict__ labels, int rows, int cols, int gy, int gx)""",
    """
    const unsigned char *pixel = picture + 3 * (row * cols + col);
    INDEX cy = row / side, cx = col / side, best = BIGGEST, label = -1;
    for (INDEX j = MAX(cy - 1, (INDEX)0); j < MIN(cy + 2, (INDEX)gy); j++)
      for (INDEX i = MAX(cx - 1, (INDEX)0); i < MIN(cx + 2, (INDEX)gx); i++) {
        const short *c = centres + 5 * (j * gx + i);
        int dl = pixel[0] - c[0], da = pixel[1] - c[1], db = pixel[2] - c[2];
        INDEX dy = row - c[3], dx = col - c[4];
        INDEX distance = (INDEX)(dl * dl + da * da + db * db) * side * side + compactness * (dy * dy + dx * dx);
        if (distance < best) {
          best = distance;
          label = j * gx + i;
        }
      }
    labels[row * cols + col] = label;
""",
)
SUPERPIXELS = {k: text.replace("BIGGEST", "1ll << 60" if k == "cuda" else "0x7FFFFFFF") for k, text in SUPERPIXELS.items()}

SEAMS_HEAD = """seam_costs(const unsigned char *__restrict__ energies, int *__restrict__ costs, signed char *__restrict__ ways, int n,
                int rows, int cols)"""
SEAMS_STEP = """
        int best = BEFORE[x], way = 0;
        if (x > 0 && BEFORE[x - 1] < best) {
          best = BEFORE[x - 1];
          way = -1;
        }
        if (x < cols - 1 && BEFORE[x + 1] < best) {
          best = BEFORE[x + 1];
          way = 1;
        }
"""
SEAMS = indexed(
    f"""
__global__ void {SEAMS_HEAD} {{
  __shared__ int line[2][512];
  INDEX picture = blockIdx.x;
  const unsigned char *e = energies + picture * rows * cols;
  signed char *to = ways + picture * rows * cols;
  for (INDEX x = threadIdx.x; x < cols; x += blockDim.x) {{
    line[0][x] = e[x];
    to[x] = 0;
  }}
  __syncthreads();
  for (INDEX y = 1; y < rows; y++) {{
    int now = y % 2;
    for (INDEX x = threadIdx.x; x < cols; x += blockDim.x) {{{SEAMS_STEP.replace("BEFORE", "line[1 - now]")}
      line[now][x] = best + e[y * cols + x];
      to[y * cols + x] = way;
    }}
    __syncthreads();
  }}
  for (INDEX x = threadIdx.x; x < cols; x += blockDim.x)
    costs[picture * cols + x] = line[(rows - 1) % 2][x];
}}
""",
    f"""
void {SEAMS_HEAD} {{
#pragma omp parallel for
  for (INDEX picture = 0; picture < n; picture++) {{
    const unsigned char *e = energies + picture * rows * cols;
    signed char *to = ways + picture * rows * cols;
    int line[2][512];
    for (INDEX x = 0; x < cols; x++) {{
      line[0][x] = e[x];
      to[x] = 0;
    }}
    for (INDEX y = 1; y < rows; y++) {{
      const int *before = line[1 - y % 2];
      for (INDEX x = 0; x < cols; x++) {{{SEAMS_STEP.replace("BEFORE", "before")}
        line[y % 2][x] = best + e[y * cols + x];
        to[y * cols + x] = way;
      }}
    }}
    for (INDEX x = 0; x < cols; x++)
      costs[picture * cols + x] = line[(rows - 1) % 2][x];
  }}
}}
""",
)

OTSU_HEAD = """otsu_tiles(const unsigned char *__restrict__ picture, int side, unsigned char *__restrict__ thresholds, int rows, int cols,
                int ty, int tx)"""
OTSU_SEARCH = """
    INDEX count = 0, total = 0, below = 0, below_total = 0, threshold = 0;
    double best = -1;
    for (INDEX k = 0; k < 256; k++) {
      count += hist[k];
      total += k * hist[k];
    }
    for (INDEX k = 0; k < 255; k++) {
      below += hist[k];
      below_total += k * hist[k];
      INDEX above = count - below;
      if (below == 0 || above == 0) continue;
      double gap = (double)below_total / below - (double)(total - below_total) / above, between = (double)below * above * (gap * gap);
      if (between > best) {
        best = between;
        threshold = k;
      }
    }
"""
OTSU = indexed(
    f"""
__global__ void {OTSU_HEAD} {{
  __shared__ int hist[256];
  INDEX me = threadIdx.y * blockDim.x + threadIdx.x;
  for (INDEX k = me; k < 256; k += blockDim.x * blockDim.y)
    hist[k] = 0;
  __syncthreads();
  INDEX top = blockIdx.y * (INDEX)side, left = blockIdx.x * (INDEX)side;
  for (INDEX y = top + threadIdx.y; y < MIN(top + side, (INDEX)rows); y += blockDim.y)
    for (INDEX x = left + threadIdx.x; x < MIN(left + side, (INDEX)cols); x += blockDim.x)
      atomicAdd(&hist[picture[y * cols + x]], 1);
  __syncthreads();
  if (me == 0) {{{OTSU_SEARCH}
    thresholds[blockIdx.y * (INDEX)tx + blockIdx.x] = threshold;
  }}
}}
""",
    f"""
void {OTSU_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX tile_y = 0; tile_y < ty; tile_y++)
    for (INDEX tile_x = 0; tile_x < tx; tile_x++) {{
      int hist[256] = {{0}};
      for (INDEX y = tile_y * side; y < MIN(tile_y * side + side, rows); y++)
        for (INDEX x = tile_x * side; x < MIN(tile_x * side + side, cols); x++)
          hist[picture[y * cols + x]]++;
{OTSU_SEARCH}
      thresholds[tile_y * tx + tile_x] = threshold;
    }}
}}
""",
)

KERNELS = [
    Kernel(
        "superpixels", superpixel_labels, "uint8[:,:,::1], int16[:,:,::1], pyint, pyint, int32[:,::1]", (32, 8),
        superpixels_problem, gpu=2003, host=201, test=61, power=2, **SUPERPIXELS,
    ),
    Kernel(
        "seams of pictures", seam_costs, "uint8[:,:,::1], int32[:,::1], int8[:,:,::1]", 128, seams_problem, gpu=1501, host=37,
        test=5, kind="shared", **SEAMS,
    ),
    Kernel(
        "thresholds of tiles", otsu_tiles, "uint8[:,::1], pyint, uint8[:,::1]", (32, 8), otsu_problem, gpu=4001, host=301,
        test=101, power=2, kind="shared", **OTSU,
    ),
]  # fmt: skip
