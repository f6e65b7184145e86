"""Patterns on grids: Cahn and Hilliard's equation, Gray and Scott's, half a sweep of Potts' model."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32


def potential(c, y, x, kappa):
    rows, cols = c.shape
    v = c[y, x]
    around = c[y, (x + 1) % cols] + c[y, (x - 1) % cols] + c[(y + 1) % rows, x] + c[(y - 1) % rows, x]
    return v * v * v - v - kappa * (around - 4 * v)


def cahn_hilliard(c, kappa, dt, out):
    """An explicit step on a torus: the Laplacian of the potential, computed anew at five places."""
    x, y = cuda.grid(2)
    rows, cols = c.shape
    if y < rows and x < cols:
        around = potential(c, y, (x + 1) % cols, kappa) + potential(c, y, (x - 1) % cols, kappa)
        around += potential(c, (y + 1) % rows, x, kappa) + potential(c, (y - 1) % rows, x, kappa)
        out[y, x] = c[y, x] + dt * (around - 4 * potential(c, y, x, kappa))


def gray_scott(u, v, du, dv, feed, kill, new_u, new_v):
    """A step of two reacting substances, nine points; tiles of 18x18 in shared memory, blocks of 16x16."""
    tile_u = cuda.shared.array((18, 18), float32)
    tile_v = cuda.shared.array((18, 18), float32)
    rows, cols = u.shape
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    left = cuda.blockIdx.x * 16 - 1
    top = cuda.blockIdx.y * 16 - 1
    for k in range(ty * 16 + tx, 18 * 18, 256):
        r = k // 18
        c = k % 18
        yy = min(max(top + r, 0), rows - 1)
        xx = min(max(left + c, 0), cols - 1)
        tile_u[r, c] = u[yy, xx]
        tile_v[r, c] = v[yy, xx]
    cuda.syncthreads()
    x, y = cuda.grid(2)
    if x >= cols or y >= rows:
        return
    lap_u = float32(0.0)
    lap_v = float32(0.0)
    for a in range(3):
        for b in range(3):
            if a == 1 and b == 1:
                weight = float32(-1.0)
            elif a == 1 or b == 1:
                weight = float32(0.2)
            else:
                weight = float32(0.05)
            lap_u += weight * tile_u[ty + a, tx + b]
            lap_v += weight * tile_v[ty + a, tx + b]
    p = tile_u[ty + 1, tx + 1]
    q = tile_v[ty + 1, tx + 1]
    reaction = p * q * q
    new_u[y, x] = p + du * lap_u - reaction + feed * (1 - p)
    new_v[y, x] = q + dv * lap_v + reaction - (feed + kill) * q


def scrambled(h):
    h ^= h >> 16
    h *= 0x7FEB352D
    h ^= h >> 15
    h *= 0x846CA68B
    return h ^ (h >> 16)


def potts_sweep(spins, kinds, parity, seed, limits):
    """Metropolis' steps of the cells of one colour of a chessboard on a torus; limits are chances times 2**32."""
    x, y = cuda.grid(2)
    rows, cols = spins.shape
    if y >= rows or x >= cols or (x + y) % 2 != parity:
        return
    h = scrambled(np.uint32(y * cols + x) ^ seed)
    old = int(spins[y, x])
    new = (old + 1 + int(h) % (kinds - 1)) % kinds
    change = 0
    for dy, dx in ((-1, 0), (1, 0), (0, -1), (0, 1)):
        other = spins[(y + dy) % rows, (x + dx) % cols]
        if other == old:
            change += 1
        if other == new:
            change -= 1
    if change <= 0 or scrambled(h) < limits[change - 1]:
        spins[y, x] = new


def cahn_problem(rng, n):
    cols, kappa, dt = n + 87, np.float64(0.5), np.float64(0.01)
    c = rng.uniform(-1, 1, (n, cols))

    def expected():
        at = sampled(rng, n, 60)
        rows = c[(at[:, None] + np.arange(-2, 3)) % n]

        def lap(f):
            return f[:, :-2] + f[:, 2:] + np.roll(f, 1, 2)[:, 1:-1] + np.roll(f, -1, 2)[:, 1:-1] - 4 * f[:, 1:-1]

        mu = rows[:, 1:-1] ** 3 - rows[:, 1:-1] - kappa * lap(rows)
        return [(at, rows[:, 2] + dt * lap(mu)[:, 0], 1e-14)]  # numbers below 50 times 0.01

    return Problem((c, kappa, dt, np.zeros_like(c)), (n, cols), (3,), expected, threads=(cols, n), bytes=16.0 * c.size)


def scott_problem(rng, n):
    cols = n + 55
    u, v = (np.float32(rng.random((n, cols))) for _ in range(2))
    rates = tuple(np.float32(r) for r in (0.2097, 0.105, 0.037, 0.06))

    def expected():
        at = sampled(rng, n, 60)

        def part(f):
            f = np.pad(f.astype(float), 1, mode="edge")
            f = np.stack([f[at + k] for k in range(3)])
            sides = f[0, :, 1:-1] + f[2, :, 1:-1] + f[1, :, :-2] + f[1, :, 2:]
            corners = f[0, :, :-2] + f[0, :, 2:] + f[2, :, :-2] + f[2, :, 2:]
            return f[1, :, 1:-1], 0.2 * sides + 0.05 * corners - f[1, :, 1:-1]

        (p, lap_p), (q, lap_q) = part(u), part(v)
        du, dv, feed, kill = map(float, rates)
        new_p = p + du * lap_p - p * q * q + feed * (1 - p)
        new_q = q + dv * lap_q + p * q * q - (feed + kill) * q
        return [(at, new_p, 20 * EPS32), (at, new_q, 20 * EPS32)]  # twenty roundings of numbers below 1

    args = (u, v, *rates, np.zeros_like(u), np.zeros_like(v))
    return Problem(args, (n, cols), (6, 7), expected, threads=(cols, n), bytes=16.0 * u.size)


def potts_problem(rng, n):
    cols, kinds, parity, seed = n + 18, 5, 1, np.uint32(20_241_107)
    n += n % 2  # the colours of a torus need even sides
    cols += cols % 2
    spins = rng.integers(0, kinds, (n, cols), dtype=np.uint8)
    limits = np.array([np.exp(-0.9 * d) * 2**32 for d in (1, 2, 3, 4)], np.uint32)
    before = spins.copy()

    def expected():
        h = scrambled(np.arange(n * cols, dtype=np.uint32).reshape(n, cols) ^ seed)
        old = before.astype(np.int64)
        new = (old + 1 + h % np.uint32(kinds - 1)) % kinds
        change = np.zeros((n, cols), np.int64)
        for shift, axis in ((1, 0), (-1, 0), (1, 1), (-1, 1)):
            other = np.roll(old, shift, axis)
            change += (other == old).astype(int) - (other == new)
        take = (change <= 0) | (scrambled(h) < limits[np.maximum(change - 1, 0)])
        take &= (np.arange(n)[:, None] + np.arange(cols)) % 2 == parity
        return [(slice(None), np.where(take, new, old).astype(np.uint8), 0)]

    return Problem(
        (spins, kinds, parity, seed, limits), (n, cols), (0,), expected, threads=(cols, n), bytes=1.5 * spins.size
    )


CAHN = plane(
    "cahn_hilliard(const double *c, double kappa, double dt, double *out, int rows, int cols)",
    """
    INDEX e = (col + 1) % cols, w = (col + cols - 1) % cols, s = (row + 1) % rows, n = (row + rows - 1) % rows;
    double around = cahn_mu(c, row, e, kappa, rows, cols) + cahn_mu(c, row, w, kappa, rows, cols)
                    + cahn_mu(c, s, col, kappa, rows, cols) + cahn_mu(c, n, col, kappa, rows, cols);
    out[row * cols + col] = c[row * cols + col] + dt * (around - 4 * cahn_mu(c, row, col, kappa, rows, cols));
""",
    before="""
DEVICE double cahn_mu(const double *c, INDEX y, INDEX x, double kappa, INDEX rows, INDEX cols) {
  double v = c[y * cols + x];
  double around = c[y * cols + (x + 1) % cols] + c[y * cols + (x + cols - 1) % cols]
                  + c[(y + 1) % rows * cols + x] + c[(y + rows - 1) % rows * cols + x];
  return v * v * v - v - kappa * (around - 4 * v);
}
""",
)

SCOTT_HEAD = """gray_scott(const float *u, const float *v, float du, float dv, float feed, float kill, float *new_u,
                float *new_v, int rows, int cols)"""
SCOTT_END = """
      float reaction = p * q * q;
      new_u[y * cols + x] = p + du * lap_u - reaction + feed * (1 - p);
      new_v[y * cols + x] = q + dv * lap_v + reaction - (feed + kill) * q;
"""
SCOTT = indexed(
    f"""
__global__ void {SCOTT_HEAD} {{
  __shared__ float tile_u[18][18], tile_v[18][18];
  INDEX tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * (INDEX)16 - 1, top = blockIdx.y * (INDEX)16 - 1;
  for (INDEX k = ty * 16 + tx; k < 18 * 18; k += 256) {{
    INDEX r = k / 18, c = k % 18;
    INDEX yy = MIN(MAX(top + r, (INDEX)0), (INDEX)rows - 1), xx = MIN(MAX(left + c, (INDEX)0), (INDEX)cols - 1);
    tile_u[r][c] = u[yy * cols + xx];
    tile_v[r][c] = v[yy * cols + xx];
  }}
  __syncthreads();
  INDEX x = left + 1 + tx, y = top + 1 + ty;
  if (x >= cols || y >= rows) return;
  float lap_u = 0, lap_v = 0;
  for (int a = 0; a < 3; a++)
    for (int b = 0; b < 3; b++) {{
      float weight = a == 1 && b == 1 ? -1.0f : a == 1 || b == 1 ? 0.2f : 0.05f;
      lap_u += weight * tile_u[ty + a][tx + b];
      lap_v += weight * tile_v[ty + a][tx + b];
    }}
  float p = tile_u[ty + 1][tx + 1], q = tile_v[ty + 1][tx + 1];
{SCOTT_END}}}
""",
    f"""
void {SCOTT_HEAD} {{
#pragma omp parallel for
  for (INDEX y = 0; y < rows; y++)
    for (INDEX x = 0; x < cols; x++) {{
      INDEX xs[3] = {{MAX(x - 1, 0), x, MIN(x + 1, cols - 1)}}, ys[3] = {{MAX(y - 1, 0), y, MIN(y + 1, rows - 1)}};
      float lap_u = 0, lap_v = 0;
      for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {{
          float weight = a == 1 && b == 1 ? -1.0f : a == 1 || b == 1 ? 0.2f : 0.05f;
          lap_u += weight * u[ys[a] * cols + xs[b]];
          lap_v += weight * v[ys[a] * cols + xs[b]];
        }}
      float p = u[y * cols + x], q = v[y * cols + x];
{SCOTT_END}    }}
}}
""",
)

POTTS = plane(
    """potts_sweep(unsigned char *spins, int kinds, int parity, unsigned seed, const unsigned *limits, int rows,
                 int cols)""",
    """
    if ((col + row) % 2 == parity) {
      unsigned h = potts_scrambled((unsigned)(row * cols + col) ^ seed);
      int old = spins[row * cols + col], fresh = (old + 1 + h % (kinds - 1)) % kinds, change = 0;
      INDEX near[4] = {(row + rows - 1) % rows * cols + col, (row + 1) % rows * cols + col,
                       row * cols + (col + cols - 1) % cols, row * cols + (col + 1) % cols};
      for (int k = 0; k < 4; k++) {
        int other = spins[near[k]];
        if (other == old) change++;
        if (other == fresh) change--;
      }
      if (change <= 0 || potts_scrambled(h) < limits[change - 1])
        spins[row * cols + col] = fresh;
    }
""",
    before="""
DEVICE unsigned potts_scrambled(unsigned h) {
  h ^= h >> 16;
  h *= 0x7feb352du;
  h ^= h >> 15;
  h *= 0x846ca68bu;
  return h ^ (h >> 16);
}
""",
)

KERNELS = [
    Kernel(
        "Cahn and Hilliard", cahn_hilliard, "float64[:,::1], float64, float64, float64[:,::1]", (64, 4), cahn_problem,
        gpu=1501, host=203, test=31, power=2, kind="stencil", **CAHN,
    ),
    Kernel(
        "Gray and Scott", gray_scott,
        "float32[:,::1], float32[:,::1], float32, float32, float32, float32, float32[:,::1], float32[:,::1]", (16, 16),
        scott_problem,
        gpu=2501, host=203, test=37, power=2, kind="shared", **SCOTT,
    ),
    Kernel(
        "Potts' model, half a sweep", potts_sweep, "uint8[:,::1], pyint, pyint, uint32, uint32[::1]", (32, 8),
        potts_problem,
        gpu=4001, host=301, test=33, power=2, kind="stencil", **POTTS,
    ),
]  # fmt: skip
