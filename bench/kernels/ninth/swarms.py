"""Swarms and cells: cellular noise, flocks, rows of cells that follow one rule."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, uint32


def cell_hash(x, y, seed):
    h = uint32(x) * uint32(0x8DA6B343) ^ uint32(y) * uint32(0xD8163841) ^ uint32(seed)
    h ^= h >> 15
    h *= uint32(0x2C1B3C6D)
    h ^= h >> 12
    h *= uint32(0x297A2D39)
    return h ^ h >> 15


def cellular_noise(frequency, octaves, seed, out):
    """Worley's noise: the second least distance to random points less the least, in octaves."""
    col, row = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    total = float32(0)
    weight = float32(1)
    x = (col + float32(0.5)) * frequency
    y = (row + float32(0.5)) * frequency
    for octave in range(octaves):
        cell_x = int(math.floor(x))
        cell_y = int(math.floor(y))
        first = float32(9)
        second = float32(9)
        for j in range(-1, 2):
            for i in range(-1, 2):
                h = cell_hash(cell_x + i, cell_y + j, seed + octave)
                dx = (cell_x + i) + float32(h & 0xFFFF) / 65536 - x
                dy = (cell_y + j) + float32(h >> 16) / 65536 - y
                d = dx * dx + dy * dy
                if d < first:
                    second = first
                    first = d
                elif d < second:
                    second = d
        total += weight * (math.sqrt(second) - math.sqrt(first))
        weight /= 2
        x *= 2
        y *= 2
    out[row, col] = total


def flock_step(places, speeds, near, close, new_speeds):
    """Boids: their neighbours' centre and speed draw them, who is too close drives them off; tiles in shared memory."""
    tile = cuda.shared.array((128, 6), float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    count = places.shape[0]
    inside = i < count
    x = y = z = float32(0)
    if inside:
        x, y, z = places[i]
    cx = cy = cz = vx = vy = vz = ax = ay = az = float32(0)
    seen = 0
    for begin in range(0, count, 128):
        if begin + t < count:
            for c in range(3):
                tile[t, c] = places[begin + t, c]
                tile[t, c + 3] = speeds[begin + t, c]
        cuda.syncthreads()
        for k in range(min(128, count - begin)):
            dx = tile[k, 0] - x
            dy = tile[k, 1] - y
            dz = tile[k, 2] - z
            d = dx * dx + dy * dy + dz * dz
            if d < near and begin + k != i:
                seen += 1
                cx += dx
                cy += dy
                cz += dz
                vx += tile[k, 3]
                vy += tile[k, 4]
                vz += tile[k, 5]
                if d < close:
                    ax -= dx
                    ay -= dy
                    az -= dz
        cuda.syncthreads()
    if inside:
        u, v, w = speeds[i]
        if seen > 0:
            share = float32(1) / float32(seen)
            u += float32(0.25) * (cx * share) + float32(0.5) * (vx * share - u) + ax
            v += float32(0.25) * (cy * share) + float32(0.5) * (vy * share - v) + ay
            w += float32(0.25) * (cz * share) + float32(0.5) * (vz * share - w) + az
        new_speeds[i, 0], new_speeds[i, 1], new_speeds[i, 2] = u, v, w


def rule_rows(words, rule, generations, out):
    """Rows of cells of one elementary rule, 32 a word, up to 32 generations at once; the row is a ring."""
    line = cuda.shared.array((2, 256), uint32)
    t = cuda.threadIdx.x
    size = words.shape[1]
    row = cuda.blockIdx.y
    place = cuda.blockIdx.x * 254 + t - 1
    line[0, t] = words[row, (place + size) % size]
    now = 0
    for _ in range(generations):
        cuda.syncthreads()
        here = line[now, t]
        west = here << 1 | (line[now, t - 1] >> 31 if t > 0 else uint32(0))
        east = here >> 1 | (line[now, t + 1] << 31 if t < 255 else uint32(0))
        after = uint32(0)
        for k in range(8):
            if rule >> k & 1:
                term = west if k & 1 else ~west
                term &= here if k & 2 else ~here
                term &= east if k & 4 else ~east
                after |= term
        now = 1 - now
        line[now, t] = after
    if 1 <= t < 255 and place < size:
        out[row, place] = line[now, t]


def cellular_problem(rng, n):
    rows, cols, octaves, seed, frequency = n, n + 11, 3, 77, np.float32(1 / 32)

    def expected():
        at = sampled(rng, rows, 150)
        y, x = np.meshgrid((at + 0.5) / 32, (np.arange(cols) + 0.5) / 32, indexing="ij")
        total, weight, error = 0, 1.0, 0
        u = np.uint64
        for octave in range(octaves):
            cell_x, cell_y = np.floor(x).astype(int), np.floor(y).astype(int)
            found = []
            for j in (-1, 0, 1):
                for i in (-1, 0, 1):
                    h = (cell_x + i).astype(u) * u(0x8DA6B343) & u(0xFFFFFFFF)
                    h ^= ((cell_y + j).astype(u) * u(0xD8163841) & u(0xFFFFFFFF)) ^ u(seed + octave)
                    h = (h ^ h >> u(15)) * u(0x2C1B3C6D) & u(0xFFFFFFFF)
                    h = (h ^ h >> u(12)) * u(0x297A2D39) & u(0xFFFFFFFF)
                    h ^= h >> u(15)
                    dx = cell_x + i + (h & u(0xFFFF)).astype(float) / 65536 - x
                    dy = cell_y + j + (h >> u(16)).astype(float) / 65536 - y
                    found.append(dx * dx + dy * dy)
            found = np.sort(found, 0)[:2]
            total = total + weight * (np.sqrt(found[1]) - np.sqrt(found[0]))
            # Offsets are rounded at the size of the place; a root passes that on, or is itself less.
            error = error + weight * 4 * EPS32 * (np.abs(x) + np.abs(y) + 4)
            weight, x, y = weight / 2, 2 * x, 2 * y
        return [(at, total, error)]

    args = (frequency, octaves, seed, np.full((rows, cols), -9, np.float32))
    return Problem(
        args, (rows, cols), (3,), expected, threads=(cols, rows), bytes=4.0 * rows * cols,
        flops=27.0 * 25 * rows * cols,
    )  # fmt: skip


def flock_problem(rng, n):
    near, close = np.float32(40.0**2 + 0.5), np.float32(9.0**2 + 0.5)  # places are whole, so no distance is on the edge
    places = rng.integers(0, 500, (n, 3)).astype(np.float32)
    speeds = rng.standard_normal((n, 3), np.float32)

    def expected():
        at, values, bounds = sampled(rng, n, 200), [], []
        p, s = places.astype(float), speeds.astype(float)
        for i in at:
            d = p - p[i]
            dd = (d * d).sum(1)
            seen, pushed = dd < near, dd < close
            seen[i] = pushed[i] = False
            count = seen.sum()
            out, sizes = s[i].copy(), np.abs(s[i])
            if count:
                out += 0.25 * d[seen].mean(0) + 0.5 * (s[seen].mean(0) - s[i]) - d[pushed].sum(0)
                sizes = sizes + np.abs(d[seen]).mean(0) + np.abs(s[seen]).mean(0) + np.abs(d[pushed]).sum(0)
            values.append(out)
            bounds.append(EPS32 * (count + 8) * sizes)
        return [(at, np.array(values), np.array(bounds))]

    args = (places, speeds, near, close, np.full((n, 3), 999, np.float32))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=36.0 * n, flops=10.0 * n * n)


def rule_problem(rng, n):
    rows, size, rule, generations = 5, n, 0b01111001, 29  # of bits west + 2 * here + 4 * east
    words = rng.integers(0, 1 << 32, (rows, size), np.uint32)

    def expected():
        at = np.array([0, rows - 1])
        now = words[at]
        for _ in range(generations):
            west = now << 1 | np.roll(now, 1, 1) >> 31
            east = now >> 1 | np.roll(now, -1, 1) << 31
            after = np.zeros_like(now)
            for k in range(8):
                if rule >> k & 1:
                    after |= (west if k & 1 else ~west) & (now if k & 2 else ~now) & (east if k & 4 else ~east)
            now = after
        return [(at, now, 0)]

    args = (words, rule, generations, np.zeros((rows, size), np.uint32))
    return Problem(
        args, (rows, size), (3,), expected, grid=(-(-size // 254), rows), bytes=8.0 * words.size,
        flops=20.0 * generations * words.size,
    )  # fmt: skip


CELLULAR = plane(
    "cellular_noise(float frequency, int octaves, int seed, float *__restrict__ out, int rows, int cols)",
    """
    float total = 0, weight = 1, x = (col + 0.5f) * frequency, y = (row + 0.5f) * frequency;
    for (INDEX octave = 0; octave < octaves; octave++) {
      INDEX cell_x = (INDEX)floorf(x), cell_y = (INDEX)floorf(y);
      float first = 9, second = 9;
      for (INDEX j = -1; j < 2; j++)
        for (INDEX i = -1; i < 2; i++) {
          unsigned h = cellular_hash((unsigned)(cell_x + i), (unsigned)(cell_y + j), (unsigned)(seed + octave));
          float dx = (cell_x + i) + (h & 0xffff) / 65536.0f - x, dy = (cell_y + j) + (h >> 16) / 65536.0f - y;
          float d = dx * dx + dy * dy;
          if (d < first) {
            second = first;
            first = d;
          } else if (d < second) {
            second = d;
          }
        }
      total += weight * (sqrtf(second) - sqrtf(first));
      weight /= 2;
      x *= 2;
      y *= 2;
    }
    out[row * cols + col] = total;
""",
    before="""
DEVICE unsigned cellular_hash(unsigned x, unsigned y, unsigned seed) {
  unsigned h = x * 0x8da6b343u ^ y * 0xd8163841u ^ seed;
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  h *= 0x297a2d39u;
  return h ^ h >> 15;
}
""",
)

FLOCK_HEAD = """flock_step(const float *__restrict__ places, const float *__restrict__ speeds, float near, float close,
                float *__restrict__ new_speeds, int n)"""
FLOCK_END = """
    float u = speeds[3 * i], v = speeds[3 * i + 1], w = speeds[3 * i + 2];
    if (seen > 0) {
      float share = 1.0f / seen;
      u += 0.25f * (cx * share) + 0.5f * (vx * share - u) + ax;
      v += 0.25f * (cy * share) + 0.5f * (vy * share - v) + ay;
      w += 0.25f * (cz * share) + 0.5f * (vz * share - w) + az;
    }
    new_speeds[3 * i] = u;
    new_speeds[3 * i + 1] = v;
    new_speeds[3 * i + 2] = w;
"""
FLOCK = indexed(
    f"""
__global__ void {FLOCK_HEAD} {{
  __shared__ float tile[128][6];
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, t = threadIdx.x;
  float x = 0, y = 0, z = 0, cx = 0, cy = 0, cz = 0, vx = 0, vy = 0, vz = 0, ax = 0, ay = 0, az = 0;
  if (i < n) {{
    x = places[3 * i];
    y = places[3 * i + 1];
    z = places[3 * i + 2];
  }}
  INDEX seen = 0;
  for (INDEX begin = 0; begin < n; begin += 128) {{
    if (begin + t < n)
      for (int c = 0; c < 3; c++) {{
        tile[t][c] = places[3 * (begin + t) + c];
        tile[t][c + 3] = speeds[3 * (begin + t) + c];
      }}
    __syncthreads();
    INDEX end = n - begin < 128 ? n - begin : 128;
    for (INDEX k = 0; k < end; k++) {{
      float dx = tile[k][0] - x, dy = tile[k][1] - y, dz = tile[k][2] - z, d = dx * dx + dy * dy + dz * dz;
      if (d < near && begin + k != i) {{
        seen++;
        cx += dx;
        cy += dy;
        cz += dz;
        vx += tile[k][3];
        vy += tile[k][4];
        vz += tile[k][5];
        if (d < close) {{
          ax -= dx;
          ay -= dy;
          az -= dz;
        }}
      }}
    }}
    __syncthreads();
  }}
  if (i < n) {{{FLOCK_END}  }}
}}
""",
    f"""
void {FLOCK_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{
    float x = places[3 * i], y = places[3 * i + 1], z = places[3 * i + 2];
    float cx = 0, cy = 0, cz = 0, vx = 0, vy = 0, vz = 0, ax = 0, ay = 0, az = 0;
    INDEX seen = 0;
    for (INDEX k = 0; k < n; k++) {{
      float dx = places[3 * k] - x, dy = places[3 * k + 1] - y, dz = places[3 * k + 2] - z,
        d = dx * dx + dy * dy + dz * dz;
      if (d < near && k != i) {{
        seen++;
        cx += dx;
        cy += dy;
        cz += dz;
        vx += speeds[3 * k];
        vy += speeds[3 * k + 1];
        vz += speeds[3 * k + 2];
        if (d < close) {{
          ax -= dx;
          ay -= dy;
          az -= dz;
        }}
      }}
    }}
{FLOCK_END}
  }}
}}
""",
)

RULE_HEAD = """rule_rows(const unsigned *__restrict__ words, int rule, int generations, unsigned *__restrict__ out,
                    int rows, int size)"""
RULE_CELLS = """
      unsigned after = 0;
      for (int k = 0; k < 8; k++)
        if (rule >> k & 1) after |= (k & 1 ? west : ~west) & (k & 2 ? here : ~here) & (k & 4 ? east : ~east);
"""
RULES = indexed(
    f"""
__global__ void {RULE_HEAD} {{
  __shared__ unsigned line[2][256];
  INDEX t = threadIdx.x, row = blockIdx.y, place = blockIdx.x * (INDEX)254 + t - 1;
  line[0][t] = words[row * size + (place + size) % size];
  int now = 0;
  for (INDEX turn = 0; turn < generations; turn++) {{
    __syncthreads();
    unsigned here = line[now][t], west = here << 1 | (t > 0 ? line[now][t - 1] >> 31 : 0);
    unsigned east = here >> 1 | (t < 255 ? line[now][t + 1] << 31 : 0);
{RULE_CELLS}
    now = 1 - now;
    line[now][t] = after;
  }}
  if (1 <= t && t < 255 && place < size) out[row * size + place] = line[now][t];
}}
""",
    f"""
void {RULE_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX row = 0; row < rows; row++)
    for (INDEX begin = 0; begin < size; begin += 254) {{
      unsigned line[2][258] = {{{{0}}}};
      for (INDEX t = 0; t < 256; t++)
        line[0][t + 1] = words[(long)row * size + (begin + t - 1 + size) % size];
      int now = 0;
      for (INDEX turn = 0; turn < generations; turn++) {{
        for (INDEX t = 1; t <= 256; t++) {{
          unsigned here = line[now][t], west = here << 1 | line[now][t - 1] >> 31,
            east = here >> 1 | line[now][t + 1] << 31;
{RULE_CELLS}
          line[1 - now][t] = after;
        }}
        now = 1 - now;
      }}
      for (INDEX t = 1; t < 255 && begin + t - 1 < size; t++)
        out[(long)row * size + begin + t - 1] = line[now][t + 1];
    }}
}}
""",
)

KERNELS = [
    Kernel(
        "cellular noise", cellular_noise, "float32, pyint, pyint, float32[:,::1]", (32, 4), cellular_problem,
        gpu=2003, host=201, test=45, power=2, **CELLULAR,
    ),
    Kernel(
        "flock", flock_step, "float32[:,::1], float32[:,::1], float32, float32, float32[:,::1]", 128, flock_problem,
        gpu=30_011, host=2003, test=301, power=2, kind="shared", **FLOCK,
    ),
    Kernel(
        "rows of one rule", rule_rows, "uint32[:,::1], pyint, pyint, uint32[:,::1]", 256, rule_problem,
        gpu=1_000_003, host=20_011, test=503, kind="shared", **RULES,
    ),
]  # fmt: skip
