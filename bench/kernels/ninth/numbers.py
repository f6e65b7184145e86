"""Numbers: a scan of states, tiles for Winograd's convolution, exponentials of matrices, pairs by
distance, light of stars.
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, float64, int32


def selective_scan(inputs, steps, decays, gates_in, gates_out, skips, out):
    """A layer of a selective state space: 16 states of a channel (x) of an item (y), whose step sizes
    come from the input.
    """
    channel, item = cuda.grid(2)
    if item >= inputs.shape[0] or channel >= inputs.shape[2]:
        return
    state = cuda.local.array(16, float32)
    for s in range(16):
        state[s] = 0
    for t in range(inputs.shape[1]):
        u = inputs[item, t, channel]
        raw = steps[item, t, channel]
        delta = raw if raw > 20 else math.log1p(math.exp(raw))
        total = u * skips[channel]
        for s in range(16):
            state[s] = state[s] * math.exp(delta * decays[channel, s]) + delta * u * gates_in[item, t, s]
            total += state[s] * gates_out[item, t, s]
        out[item, t, channel] = total


def four_from(a, b, c, d):
    """A row or column of Winograd's transform of inputs."""
    return a - c, b + c, c - b, b - d


def winograd_tiles(image, tiles):
    """Inputs of Winograd's convolution F(2x2, 3x3): 4x4 pixels that overlap by two, zeros around, transformed."""
    tx, ty, channel = cuda.grid(3)
    channels, rows, cols = image.shape
    if channel >= channels or ty >= tiles.shape[2] or tx >= tiles.shape[3]:
        return
    d = cuda.local.array((4, 4), float32)
    for i in range(4):
        y = 2 * ty + i - 1
        for j in range(4):
            x = 2 * tx + j - 1
            d[i, j] = image[channel, y, x] if 0 <= y < rows and 0 <= x < cols else 0
    for j in range(4):
        d[0, j], d[1, j], d[2, j], d[3, j] = four_from(d[0, j], d[1, j], d[2, j], d[3, j])
    for i in range(4):
        row = four_from(d[i, 0], d[i, 1], d[i, 2], d[i, 3])
        for j in range(4):
            tiles[4 * i + j, channel, ty, tx] = row[j]


def product4(a, b, out):
    for r in range(4):
        for c in range(4):
            total = 0.0
            for k in range(4):
                total += a[r, k] * b[k, c]
            out[r, c] = total


def matrix_exponentials(matrices, terms, out):
    """Exponentials of 4x4 matrices: halved until small, a series, and as many squares."""
    i = cuda.grid(1)
    if i >= matrices.shape[0]:
        return
    a = cuda.local.array((4, 4), float64)
    e = cuda.local.array((4, 4), float64)
    f = cuda.local.array((4, 4), float64)
    largest = 0.0
    for r in range(4):
        line = 0.0
        for c in range(4):
            a[r, c] = matrices[i, r, c]
            line += abs(a[r, c])
        largest = max(largest, line)
    halves = 0
    scale = 1.0
    while largest > 0.5:
        largest /= 2
        scale /= 2
        halves += 1
    for r in range(4):
        for c in range(4):
            a[r, c] *= scale
            e[r, c] = 1 if r == c else 0
    for term in range(terms, 0, -1):
        product4(a, e, f)
        for r in range(4):
            for c in range(4):
                e[r, c] = f[r, c] / term + (1 if r == c else 0)
    for _ in range(halves):
        product4(e, e, f)
        for r in range(4):
            for c in range(4):
                e[r, c] = f[r, c]
    for r in range(4):
        for c in range(4):
            out[i, r, c] = e[r, c]


def pair_separations(places, edges, counts):
    """How many pairs of galaxies are how far apart: tiles and a table in shared memory, squares of distances whole."""
    tile = cuda.shared.array((128, 3), int32)
    table = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    size = places.shape[0]
    bins = edges.size - 1
    if t < 32:
        table[t] = 0
    x = y = z = 0
    if i < size:
        x, y, z = int(places[i, 0]), int(places[i, 1]), int(places[i, 2])
    begin = cuda.blockIdx.x * cuda.blockDim.x
    while begin < size:
        cuda.syncthreads()
        if begin + t < size:
            for c in range(3):
                tile[t, c] = places[begin + t, c]
        cuda.syncthreads()
        if i < size:
            for k in range(min(cuda.blockDim.x, size - begin)):
                if begin + k > i:
                    dx = int(tile[k, 0]) - x
                    dy = int(tile[k, 1]) - y
                    dz = int(tile[k, 2]) - z
                    d = dx * dx + dy * dy + dz * dz
                    if edges[0] <= d < edges[bins]:
                        b = bins - 1
                        while d < edges[b]:
                            b -= 1
                        cuda.atomic.add(table, b, 1)
        begin += cuda.blockDim.x
    cuda.syncthreads()
    if t < bins and table[t] > 0:
        cuda.atomic.add(counts, t, table[t])


def star_fluxes(image, stars, radius, inner, outer, fluxes):
    """Photometry: light in a circle less the background of a ring around it; a warp a star, pixels on
    the rim in part.
    """
    star = cuda.grid(1) // 32
    lane = cuda.laneid
    if star >= stars.shape[0]:
        return
    x = stars[star, 0]
    y = stars[star, 1]
    rows, cols = image.shape
    left = max(int(x - outer), 0)
    right = min(int(x + outer) + 1, cols - 1)
    top = max(int(y - outer), 0)
    bottom = min(int(y + outer) + 1, rows - 1)
    wide = right - left + 1
    light = float32(0)
    weight = float32(0)
    sky = float32(0)
    skies = 0
    for k in range(lane, wide * (bottom - top + 1), 32):
        col = left + k % wide
        row = top + k // wide
        dx = col - x
        dy = row - y
        d = dx * dx + dy * dy
        v = image[row, col]
        share = min(max(radius + float32(0.5) - math.sqrt(d), 0), 1)
        light += share * v
        weight += share
        if inner * inner <= d < outer * outer:
            sky += v
            skies += 1
    for step in (16, 8, 4, 2, 1):
        light += cuda.shfl_xor_sync(0xFFFFFFFF, light, step)
        weight += cuda.shfl_xor_sync(0xFFFFFFFF, weight, step)
        sky += cuda.shfl_xor_sync(0xFFFFFFFF, sky, step)
        skies += cuda.shfl_xor_sync(0xFFFFFFFF, skies, step)
    if lane == 0:
        fluxes[star] = light - weight * sky / max(skies, 1)


def scan_problem(rng, n):
    items, length = 3, min(101, 10 + n)
    inputs, steps = rng.standard_normal((2, items, length, n), np.float32)
    steps[:, ::9] += 21
    decays = -rng.uniform(0.1, 4, (n, 16)).astype(np.float32)
    gates_in, gates_out = rng.standard_normal((2, items, length, 16), np.float32)
    skips = rng.standard_normal(n, np.float32)

    def expected():
        at = sampled(rng, n, 400)
        u, raw, k = inputs[:, :, at].astype(float), steps[:, :, at].astype(float), decays[at].astype(float)
        delta = np.where(raw > 20, raw, np.log1p(np.exp(np.minimum(raw, 20))))
        values, bounds = np.zeros(u.shape), np.zeros(u.shape)
        state = np.zeros((items, len(at), 16))
        size, error = state.copy(), state.copy()
        for t in range(length):
            d, x = delta[:, t, :, None], u[:, t, :, None]
            b, c = (g[:, t, None, :].astype(float) for g in (gates_in, gates_out))
            decay = np.exp(d * k)
            # A decay is off by 4 roundings, and those of its exponent; the step size by 6.
            error = error * decay + EPS32 * ((8 + 8 * np.abs(d * k)) * decay * size + 10 * np.abs(d * x * b))
            size = size * decay + np.abs(d * x * b)
            state = state * decay + d * x * b
            values[:, t] = (state * c).sum(2) + u[:, t] * skips[at]
            sizes = (size * np.abs(c)).sum(2) + np.abs(u[:, t] * skips[at])
            bounds[:, t] = (error * np.abs(c)).sum(2) + 10 * EPS32 * sizes
        return [((slice(None), slice(None), at), values, bounds)]

    args = (inputs, steps, decays, gates_in, gates_out, skips, np.full(inputs.shape, 99, np.float32))
    work = items * length * n
    return Problem(
        args, (items, length, n), (6,), expected, threads=(n, items), bytes=12.0 * work, flops=16.0 * 15 * work,
    )  # fmt: skip


def winograd_problem(rng, n):
    channels, rows, cols = 13, n, n + 4
    image = rng.standard_normal((channels, rows, cols), np.float32)
    down, across = -(-rows // 2), -(-cols // 2)

    def expected():
        wide = np.zeros((channels, 2 * down + 2, 2 * across + 2))
        wide[:, 1 : rows + 1, 1 : cols + 1] = image
        at = sampled(rng, down, 100)
        d = np.array([[wide[:, 2 * at + i, j : j + 2 * across : 2] for j in range(4)] for i in range(4)])

        def turned(a, b, c, d, sign):
            return np.stack([a + sign * c, b + c, c + sign * b, b + sign * d])

        tiles = turned(*turned(*d, -1).swapaxes(0, 1), -1).swapaxes(0, 1)
        sizes = turned(*turned(*abs(d), 1).swapaxes(0, 1), 1).swapaxes(0, 1)
        # Two additions, one after the other.
        shape = (16, channels, len(at), across)
        return [((slice(None), slice(None), at), tiles.reshape(shape), 1.01 * EPS32 * sizes.reshape(shape))]

    args = (image, np.full((16, channels, down, across), 99, np.float32))
    return Problem(
        args, (channels, rows, cols, down, across), (1,), expected, threads=(across, down, channels),
        bytes=4.0 * image.size + 64.0 * channels * down * across, flops=32.0 * channels * down * across,
    )  # fmt: skip


def exponentials_problem(rng, n):
    terms = 11
    matrices = rng.standard_normal((n, 4, 4)) * rng.uniform(0.01, 2, (n, 1, 1))

    def expected():
        at = sampled(rng, n, 3000)
        a = matrices[at]
        norm = np.abs(a).sum(2).max(1)
        e = term = np.broadcast_to(np.eye(4), a.shape)
        a = a / 1024
        for k in range(1, 9):
            term = term @ a / k
            e = e + term
        for _ in range(10):
            e = e @ e
        # Each square doubles what is off, and so do NumPy's ten; the series ends at 0.5**12 / 12!.
        return [(at, e, (EPS64 * 2000 + 1e-12) * np.exp(norm)[:, None, None])]

    args = (matrices, terms, np.full(matrices.shape, 99.0))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=256.0 * n, flops=128.0 * n * (terms + 4))


def separations_problem(rng, n):
    side = 5000
    places = rng.integers(0, side, (n, 3)).astype(np.int32)
    places[: n // 2] = np.clip(places[: n // 2] // 200 * 200 + rng.integers(0, 90, (n // 2, 3)), 0, side)
    edges = (np.geomspace(10, 4200, 14) ** 2).astype(np.int64)

    def expected():
        counts = np.zeros(len(edges) - 1, np.int64)
        p = places.astype(np.int32)
        for begin in range(0, n, 200):
            d = ((p[begin : begin + 200, None] - p[None]) ** 2).sum(2)
            d = d[np.arange(n)[None] > np.arange(begin, min(n, begin + 200))[:, None]]
            at = np.searchsorted(edges, d, "right") - 1
            counts += np.bincount(at[(at >= 0) & (at < len(counts))], minlength=len(counts))
        return [(slice(None), counts, 0)]

    args = (places, edges, np.zeros(len(edges) - 1, np.int32))
    return Problem(args, (n, len(edges)), (2,), expected, threads=n, bytes=12.0 * n, flops=4.0 * n * n)


def stars_problem(rng, n):
    rows, cols = min(2003, 40 + n), min(3001, 60 + n)
    radius, inner, outer = np.float32(4.25), np.float32(7), np.float32(10)
    image = (100 + 10 * rng.standard_normal((rows, cols), np.float32)).astype(np.float32)
    stars = np.stack([rng.integers(0, 16 * cols, n), rng.integers(0, 16 * rows, n)], 1)
    stars = stars.astype(np.float32) / 16  # so the squares of distances are exact

    def expected():
        at, values, bounds = sampled(rng, n, 2000), [], []
        for i in at:
            x, y = stars[i].astype(float)
            left, right = max(int(x - 10), 0), min(int(x + 10) + 1, cols - 1)
            top, bottom = max(int(y - 10), 0), min(int(y + 10) + 1, rows - 1)
            row, col = np.mgrid[top : bottom + 1, left : right + 1]
            d, v = (col - x) ** 2 + (row - y) ** 2, image[top : bottom + 1, left : right + 1].astype(float)
            share = np.clip(4.75 - np.sqrt(d), 0, 1)
            ring = (d >= 49) & (d < 100)
            sky = v[ring].sum() / max(ring.sum(), 1)
            values.append((share * v).sum() - share.sum() * sky)
            # Lanes add up to 15 numbers, and then 5 times in pairs; shares are off by 2 roundings of up to 5.
            sizes = (share * np.abs(v)).sum() + share.sum() * abs(sky)
            bounds.append(EPS32 * 24 * sizes + 10 * EPS32 * np.abs(v[d < 30]).sum())
        return [(at, np.array(values), np.array(bounds))]

    args = (image, stars, radius, inner, outer, np.full(n, -1e6, np.float32))
    return Problem(
        args, (n, rows, cols), (5,), expected, threads=32 * n, bytes=4.0 * rows * cols + 12.0 * n,
        flops=15.0 * 484 * n, sequential=20,
    )  # fmt: skip


SCAN_HEAD = """selective_scan(const float *__restrict__ inputs, const float *__restrict__ steps,
                    const float *__restrict__ decays,
                    const float *__restrict__ gates_in, const float *__restrict__ gates_out,
                      const float *__restrict__ skips,
                    float *__restrict__ out, int items, int length, int channels)"""
SCAN_BODY = """
    float state[16];
    for (int s = 0; s < 16; s++)
      state[s] = 0;
    for (INDEX t = 0; t < length; t++) {
      INDEX line = item * length + t, at = line * channels + channel;
      float u = inputs[at], raw = steps[at], delta = raw > 20 ? raw : log1pf(expf(raw)), total = u * skips[channel];
      for (int s = 0; s < 16; s++) {
        state[s] = state[s] * expf(delta * decays[channel * 16 + s]) + delta * u * gates_in[line * 16 + s];
        total += state[s] * gates_out[line * 16 + s];
      }
      out[at] = total;
    }
"""
SCAN = indexed(
    f"""
__global__ void {SCAN_HEAD} {{
  INDEX channel = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, item = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (item < items && channel < channels) {{{SCAN_BODY}  }}
}}
""",
    f"""
void {SCAN_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX item = 0; item < items; item++)
    for (INDEX channel = 0; channel < channels; channel++) {{{SCAN_BODY}    }}
}}
""",
)

WINOGRAD_HEAD = """winograd_tiles(const float *__restrict__ image, float *__restrict__ tiles, int channels, int rows,
                    int cols, int down,
                    int across)"""
WINOGRAD_BODY = """
    float d[4][4];
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        INDEX y = 2 * ty + i - 1, x = 2 * tx + j - 1;
        d[i][j] = 0 <= y && y < rows && 0 <= x && x < cols ? image[(channel * rows + y) * cols + x] : 0;
      }
    for (int j = 0; j < 4; j++) {
      float a = d[0][j], b = d[1][j], c = d[2][j], e = d[3][j];
      d[0][j] = a - c;
      d[1][j] = b + c;
      d[2][j] = c - b;
      d[3][j] = b - e;
    }
    for (int i = 0; i < 4; i++) {
      float row[4] = {d[i][0] - d[i][2], d[i][1] + d[i][2], d[i][2] - d[i][1], d[i][1] - d[i][3]};
      for (int j = 0; j < 4; j++)
        tiles[(((4 * i + j) * (INDEX)channels + channel) * down + ty) * across + tx] = row[j];
    }
"""
WINOGRAD = indexed(
    f"""
__global__ void {WINOGRAD_HEAD} {{
  INDEX tx = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, ty = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX channel = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (channel < channels && ty < down && tx < across) {{{WINOGRAD_BODY}  }}
}}
""",
    f"""
void {WINOGRAD_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX channel = 0; channel < channels; channel++)
    for (INDEX ty = 0; ty < down; ty++)
      for (INDEX tx = 0; tx < across; tx++) {{{WINOGRAD_BODY}      }}
}}
""",
)

EXPONENTIALS = each(
    "matrix_exponentials(const double *__restrict__ matrices, int terms, double *__restrict__ out, int n)",
    """
    double a[4][4], e[4][4], f[4][4], largest = 0, scale = 1;
    int halves = 0;
    for (int r = 0; r < 4; r++) {
      double line = 0;
      for (int c = 0; c < 4; c++) {
        a[r][c] = matrices[i * 16 + 4 * r + c];
        line += fabs(a[r][c]);
      }
      largest = fmax(largest, line);
    }
    while (largest > 0.5) {
      largest /= 2;
      scale /= 2;
      halves++;
    }
    for (int r = 0; r < 4; r++)
      for (int c = 0; c < 4; c++) {
        a[r][c] *= scale;
        e[r][c] = r == c;
      }
    for (INDEX term = terms; term > 0; term--) {
      product4(a, e, f);
      for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
          e[r][c] = f[r][c] / term + (r == c);
    }
    for (int k = 0; k < halves; k++) {
      product4(e, e, f);
      for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
          e[r][c] = f[r][c];
    }
    for (int r = 0; r < 4; r++)
      for (int c = 0; c < 4; c++)
        out[i * 16 + 4 * r + c] = e[r][c];
""",
    before="""
DEVICE void product4(double a[4][4], double b[4][4], double out[4][4]) {
  for (int r = 0; r < 4; r++)
    for (int c = 0; c < 4; c++) {
      double total = 0;
      for (int k = 0; k < 4; k++)
        total += a[r][k] * b[k][c];
      out[r][c] = total;
    }
}
""",
)

SEPARATIONS_HEAD = """pair_separations(const int *__restrict__ places, const long long *__restrict__ edges,
                    int *__restrict__ counts, int size,
                      int edge_count)"""
SEPARATIONS = indexed(
    f"""
__global__ void {SEPARATIONS_HEAD} {{
  __shared__ int tile[128][3], table[32];
  INDEX t = threadIdx.x, i = blockIdx.x * (INDEX)blockDim.x + t, bins = edge_count - 1;
  INDEX x = 0, y = 0, z = 0;
  if (t < 32) table[t] = 0;
  if (i < size) {{
    x = places[3 * i];
    y = places[3 * i + 1];
    z = places[3 * i + 2];
  }}
  for (INDEX begin = blockIdx.x * (INDEX)blockDim.x; begin < size; begin += blockDim.x) {{
    __syncthreads();
    if (begin + t < size)
      for (int c = 0; c < 3; c++)
        tile[t][c] = places[3 * (begin + t) + c];
    __syncthreads();
    if (i < size) {{
      INDEX end = min((INDEX)blockDim.x, size - begin);
      for (INDEX k = 0; k < end; k++)
        if (begin + k > i) {{
          INDEX dx = tile[k][0] - x, dy = tile[k][1] - y, dz = tile[k][2] - z, d = dx * dx + dy * dy + dz * dz;
          if (edges[0] <= d && d < edges[bins]) {{
            INDEX b = bins - 1;
            while (d < edges[b])
              b--;
            atomicAdd(&table[b], 1);
          }}
        }}
    }}
  }}
  __syncthreads();
  if (t < bins && table[t] > 0) atomicAdd(&counts[t], table[t]);
}}
""",
    f"""
void {SEPARATIONS_HEAD} {{
#pragma omp parallel
  {{
    int table[32] = {{0}}, bins = edge_count - 1;
#pragma omp for schedule(dynamic, 64)
    for (INDEX i = 0; i < size; i++)
      for (INDEX k = i + 1; k < size; k++) {{
        int dx = places[3 * k] - places[3 * i], dy = places[3 * k + 1] - places[3 * i + 1];
        int dz = places[3 * k + 2] - places[3 * i + 2], d = dx * dx + dy * dy + dz * dz;
        if (edges[0] <= d && d < edges[bins]) {{
          int b = bins - 1;
          while (d < edges[b])
            b--;
          table[b]++;
        }}
      }}
    for (int b = 0; b < bins; b++)
#pragma omp atomic
      counts[b] += table[b];
  }}
}}
""",
)

STARS_HEAD = """star_fluxes(const float *__restrict__ image, const float *__restrict__ stars, float radius,
                    float inner, float outer,
                 float *__restrict__ fluxes, int n, int rows, int cols)"""
STARS_BOX = """
    float x = stars[2 * star], y = stars[2 * star + 1];
    INDEX left = MAX((INDEX)(x - outer), (INDEX)0), right = MIN((INDEX)(x + outer) + 1, (INDEX)cols - 1);
    INDEX top = MAX((INDEX)(y - outer), (INDEX)0), bottom = MIN((INDEX)(y + outer) + 1, (INDEX)rows - 1);
    INDEX wide = right - left + 1, area = wide * (bottom - top + 1);
    float light = 0, weight = 0, sky = 0;
    int skies = 0;
"""
STARS_PIXEL = """
      INDEX col = left + k % wide, row = top + k / wide;
      float dx = col - x, dy = row - y, d = dx * dx + dy * dy, v = image[row * cols + col];
      float share = fminf(fmaxf(radius + 0.5f - sqrtf(d), 0), 1);
      light += share * v;
      weight += share;
      if (inner * inner <= d && d < outer * outer) {
        sky += v;
        skies++;
      }
"""
STARS = indexed(
    f"""
__global__ void {STARS_HEAD} {{
  INDEX star = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (star < n) {{{STARS_BOX}
    for (INDEX k = lane; k < area; k += 32) {{{STARS_PIXEL}    }}
    for (int step = 16; step > 0; step /= 2) {{
      light += __shfl_xor_sync(0xffffffff, light, step);
      weight += __shfl_xor_sync(0xffffffff, weight, step);
      sky += __shfl_xor_sync(0xffffffff, sky, step);
      skies += __shfl_xor_sync(0xffffffff, skies, step);
    }}
    if (lane == 0) fluxes[star] = light - weight * sky / max(skies, 1);
  }}
}}
""",
    f"""
void {STARS_HEAD} {{
#pragma omp parallel for
  for (INDEX star = 0; star < n; star++) {{{STARS_BOX}
    for (INDEX k = 0; k < area; k++) {{{STARS_PIXEL}    }}
    fluxes[star] = light - weight * sky / MAX(skies, 1);
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "scan of states", selective_scan,
        "float32[:,:,::1], float32[:,:,::1], float32[:,::1], float32[:,:,::1], float32[:,:,::1], float32[::1], "
        "float32[:,:,::1]",
        (128, 1), scan_problem,
        gpu=20_011, host=1003, test=67, **SCAN,
    ),
    Kernel(
        "tiles for Winograd", winograd_tiles, "float32[:,:,::1], float32[:,:,:,::1]", (32, 4, 2), winograd_problem,
        gpu=1003, host=151, test=23, power=2, kind="streaming", **WINOGRAD,
    ),
    Kernel(
        "exponentials of matrices", matrix_exponentials, "float64[:,:,::1], pyint, float64[:,:,::1]", 128,
        exponentials_problem,
        gpu=500_009, host=10_007, test=131, **EXPONENTIALS,
    ),
    Kernel(
        "pairs by distance", pair_separations, "int32[:,::1], int64[::1], int32[::1]", 128, separations_problem,
        gpu=12_011, host=1003, test=301, power=2, kind="shared", **SEPARATIONS,
    ),
    Kernel(
        "light of stars", star_fluxes, "float32[:,::1], float32[:,::1], float32, float32, float32, float32[::1]", 128,
        stars_problem,
        gpu=200_003, host=5003, test=13, **STARS,
    ),
]  # fmt: skip
