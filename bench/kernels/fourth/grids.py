"""Grids: lattice Boltzmann in space, diffusion with coefficients, elastic waves, the two ways between
grids of multigrid, spins on a checkerboard.

After Qian et al. (D3Q19), Virieux (staggered grids), Briggs ("A Multigrid Tutorial").
"""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, uint32

# The velocities of D3Q19 and their weights.
CX = np.array([0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0], np.int32)
CY = np.array([0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1], np.int32)
CZ = np.array([0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1], np.int32)
WEIGHTS = np.array([1 / 3] + 6 * [1 / 18] + 12 * [1 / 36], np.float32)


def d3q19_step(f, omega, out):
    """Pull from the neighbours, all sides periodic, then relax to the equilibrium."""
    x, y, z = cuda.grid(3)
    _, depth, height, width = f.shape
    if x >= width or y >= height or z >= depth:
        return
    g = cuda.local.array(19, float32)
    rho = float32(0)
    ux = float32(0)
    uy = float32(0)
    uz = float32(0)
    for k in range(19):
        fx = (x - CX[k] + width) % width
        fy = (y - CY[k] + height) % height
        fz = (z - CZ[k] + depth) % depth
        v = f[k, fz, fy, fx]
        g[k] = v
        rho += v
        ux += float32(CX[k]) * v
        uy += float32(CY[k]) * v
        uz += float32(CZ[k]) * v
    ux /= rho
    uy /= rho
    uz /= rho
    square = float32(1.5) * (ux * ux + uy * uy + uz * uz)
    for k in range(19):
        cu = 3 * (float32(CX[k]) * ux + float32(CY[k]) * uy + float32(CZ[k]) * uz)
        equilibrium = WEIGHTS[k] * rho * (1 + cu + float32(0.5) * cu * cu - square)
        out[k, z, y, x] = g[k] - omega * (g[k] - equilibrium)


def diffuse_coefficients(u, c, dt, out):
    """float64: fluxes with the mean of the coefficients of both sides; the border stays."""
    x, y, z = cuda.grid(3)
    depth, height, width = u.shape
    if x >= width or y >= height or z >= depth:
        return
    if 0 < x < width - 1 and 0 < y < height - 1 and 0 < z < depth - 1:
        here, k = u[z, y, x], c[z, y, x]
        flux = 0.5 * (k + c[z, y, x - 1]) * (u[z, y, x - 1] - here)
        flux += 0.5 * (k + c[z, y, x + 1]) * (u[z, y, x + 1] - here)
        flux += 0.5 * (k + c[z, y - 1, x]) * (u[z, y - 1, x] - here)
        flux += 0.5 * (k + c[z, y + 1, x]) * (u[z, y + 1, x] - here)
        flux += 0.5 * (k + c[z - 1, y, x]) * (u[z - 1, y, x] - here)
        flux += 0.5 * (k + c[z + 1, y, x]) * (u[z + 1, y, x] - here)
        out[z, y, x] = here + dt * flux
    else:
        out[z, y, x] = u[z, y, x]


def elastic_stress(vx, vz, lam, mu, scale, sxx, szz, sxz):
    """P-SV waves on a staggered grid of fourth order: stresses from velocities, in place."""
    j, i = cuda.grid(2)
    rows, cols = vx.shape
    if i < 2 or j < 2 or i >= rows - 2 or j >= cols - 2:
        return
    a = np.float32(9 / 8)
    b = np.float32(-1 / 24)
    dvx_dx = a * (vx[i, j + 1] - vx[i, j]) + b * (vx[i, j + 2] - vx[i, j - 1])
    dvz_dz = a * (vz[i, j] - vz[i - 1, j]) + b * (vz[i + 1, j] - vz[i - 2, j])
    dvx_dz = a * (vx[i + 1, j] - vx[i, j]) + b * (vx[i + 2, j] - vx[i - 1, j])
    dvz_dx = a * (vz[i, j] - vz[i, j - 1]) + b * (vz[i, j + 1] - vz[i, j - 2])
    l, m = lam[i, j], mu[i, j]
    sxx[i, j] += scale * ((l + 2 * m) * dvx_dx + l * dvz_dz)
    szz[i, j] += scale * (l * dvx_dx + (l + 2 * m) * dvz_dz)
    sxz[i, j] += scale * m * (dvx_dz + dvz_dx)


def restrict_full(fine, coarse):
    """Full weighting; point (i, j) of the coarse grid is (2 i + 1, 2 j + 1) of the fine one."""
    j, i = cuda.grid(2)
    if i < coarse.shape[0] and j < coarse.shape[1]:
        y = 2 * i + 1
        x = 2 * j + 1
        corners = fine[y - 1, x - 1] + fine[y - 1, x + 1] + fine[y + 1, x - 1] + fine[y + 1, x + 1]
        edges = fine[y - 1, x] + fine[y + 1, x] + fine[y, x - 1] + fine[y, x + 1]
        coarse[i, j] = (4 * fine[y, x] + 2 * edges + corners) / 16


def prolong_add(coarse, fine):
    """The coarse grid's correction, interpolated and added; beyond its border it is zero."""
    x, y = cuda.grid(2)
    if y >= fine.shape[0] or x >= fine.shape[1]:
        return
    rows, cols = coarse.shape
    low_i, low_j = (y - 1) // 2, (x - 1) // 2
    high_i, high_j = y // 2, x // 2
    total = 0.0
    for i in (low_i, high_i):
        for j in (low_j, high_j):
            if 0 <= i < rows and 0 <= j < cols:
                total += coarse[i, j]
    fine[y, x] += total / 4


def mixed(h):
    h ^= h >> 16
    h *= uint32(0x7FEB352D)
    h ^= h >> 15
    h *= uint32(0x846CA68B)
    return h ^ (h >> 16)


def ising_sweep(spins, color, seed, thresholds):
    """Metropolis on one color of a periodic checkerboard of +1 and -1; thresholds by the energy that a turn costs."""
    j, i = cuda.grid(2)
    rows, cols = spins.shape
    if i >= rows or j >= cols // 2:
        return
    x = 2 * j + (i + color) % 2
    left = x - 1 if x > 0 else cols - 1
    right = x + 1 if x < cols - 1 else 0
    up = i - 1 if i > 0 else rows - 1
    down = i + 1 if i < rows - 1 else 0
    s = spins[i, x]
    around = spins[i, left] + spins[i, right] + spins[up, x] + spins[down, x]
    chance = mixed(uint32(i * cols + x) ^ seed)
    if chance <= thresholds[(s * around + 4) // 2]:
        spins[i, x] = -s


def d3q19_problem(rng, n):
    """n x (n + 3) x (n + 10) cells near equilibrium."""
    shape = (n, n + 3, n + 10)
    f = WEIGHTS[:, None, None, None] * rng.uniform(0.9, 1.1, (19, *shape)).astype(np.float32)
    omega = np.float32(1.7)

    def expected():
        some = sampled(np.random.default_rng(0), int(np.prod(shape)), 5000)
        z, y, x = np.unravel_index(some, shape)
        g = np.array([f[k, (z - CZ[k]) % shape[0], (y - CY[k]) % shape[1], (x - CX[k]) % shape[2]] for k in range(19)], np.float64)
        rho, c = g.sum(0), np.array([CX, CY, CZ])
        u = c @ g / rho
        cu = 3 * (c.T @ u)
        values = g - float(omega) * (g - WEIGHTS.astype(float)[:, None] * rho * (1 + cu + 0.5 * cu**2 - 1.5 * (u**2).sum(0)))
        # rho and rho u are sums of 19 numbers; cu has three parts of up to 19 roundings of rho, three times.
        weight = WEIGHTS.astype(float)[:, None]
        bound = EPS32 / 2 * (8 * np.abs(values) + 8 * g + 1.7 * weight * rho * (19 + 3 * 3 * 22 + 20))
        return [((slice(None), z, y, x), values, bound)]

    cells = float(np.prod(shape))
    return Problem(
        (f, omega, np.zeros_like(f)), (19, *shape), (2,), expected, threads=shape[::-1], bytes=152 * cells, flops=19 * 20 * cells
    )


def diffuse_problem(rng, n):
    """n x (n + 5) x (n + 14) cells."""
    shape = (n, n + 5, n + 14)
    u, c, dt = rng.random(shape), rng.uniform(0.5, 2, shape), np.float64(0.05)

    def expected():
        flux, middle = np.zeros(shape), (slice(1, -1),) * 3
        for axis in range(3):
            for step in (-1, 1):
                flux += 0.5 * (c + np.roll(c, step, axis)) * (np.roll(u, step, axis) - u)
        values = u.copy()
        values[middle] += dt * flux[middle]
        # Six terms below 2, each rounded four times, then sums of up to 12.
        bound = np.zeros(shape)
        bound[middle] = EPS64 / 2 * 2 * (dt * 6 * (4 * 2 + 12) + 2)
        return [(np.s_[:], values, bound)]

    cells = float(np.prod(shape))
    return Problem(
        (u, c, dt, np.zeros_like(u)), shape, (3,), expected, threads=shape[::-1], bytes=24 * cells, flops=26 * cells
    )


def elastic_problem(rng, n):
    """n x (5 n / 4 + 3) cells."""
    shape = (n, 5 * n // 4 + 3)
    vx, vz, sxx, szz, sxz = (rng.uniform(-1, 1, shape).astype(np.float32) for _ in range(5))
    lam, mu, scale = rng.uniform(1, 2, shape).astype(np.float32), rng.uniform(0.5, 1, shape).astype(np.float32), np.float32(0.3)

    def expected():
        rows, cols = min(n, 200), shape[1]

        def ahead(v, axis, by):
            """The derivative between by - 1 and by."""
            at = [np.roll(v[: rows + 4].astype(np.float64), -k - by, axis) for k in (-2, -1, 0, 1)]
            return 9 / 8 * (at[2] - at[1]) - 1 / 24 * (at[3] - at[0])

        l, m, s = (v.astype(np.float64) for v in (lam[: rows + 4], mu[: rows + 4], scale))
        xx, zz, xz = ahead(vx, 1, 1), ahead(vz, 0, 0), ahead(vx, 0, 1) + ahead(vz, 1, 0)
        changes = (s * ((l + 2 * m) * xx + l * zz), s * (l * xx + (l + 2 * m) * zz), s * m * xz)
        inside, found = (slice(2, rows - 2), slice(2, cols - 2)), []
        for before, change in zip((sxx, szz, sxz), changes):
            # A derivative is below 2.34 and rounds seven times; two of them times at most 4 and 2.
            bound = np.zeros((rows, cols))
            bound[inside] = EPS32 / 2 * ((7 + 5) * 0.3 * (4 + 2) * 2.34 + 6)
            values = before[:rows].astype(np.float64)
            values[inside] += change[inside]
            found.append((np.s_[:rows] if rows == n else np.s_[: rows - 2], values, bound))
        if rows < n:
            found = [(index, values[: rows - 2], bound[: rows - 2]) for index, values, bound in found]
        return found

    cells = float(np.prod(shape))
    return Problem(
        (vx, vz, lam, mu, scale, *(v.copy() for v in (sxx, szz, sxz))), shape, (5, 6, 7), expected, threads=shape[::-1],
        bytes=40 * cells, flops=38 * cells,
    )  # fmt: skip


def restrict_problem(rng, n):
    """n x (n + 13) points of the coarse grid."""
    rows, cols = n, n + 13
    fine = rng.uniform(-1, 1, (2 * rows + 1, 2 * cols + 1)).astype(np.float32)

    def expected():
        f, values, size = fine.astype(np.float64), 0.0, 0.0
        for dy, a in enumerate((1, 2, 1)):
            for dx, b in enumerate((1, 2, 1)):
                part = f[dy : dy + 2 * rows : 2, dx : dx + 2 * cols : 2] * (a * b / 16)
                values, size = values + part, size + np.abs(part)
        return [(np.s_[:], values, 9 * EPS32 / 2 * size)]

    return Problem(
        (fine, np.zeros((rows, cols), np.float32)), (rows, cols), (1,), expected, threads=(cols, rows),
        bytes=20 * rows * cols, flops=11 * rows * cols,
    )  # fmt: skip


def prolong_problem(rng, n):
    """n x (n + 13) points of the coarse grid."""
    rows, cols = n, n + 13
    coarse = rng.uniform(-1, 1, (rows, cols)).astype(np.float32)
    fine = rng.uniform(-1, 1, (2 * rows + 1, 2 * cols + 1)).astype(np.float32)

    def expected():
        padded = np.pad(coarse.astype(np.float64), 1)
        y, x = (np.arange(k)[:, None] for k in fine.shape)
        i, j = ((v - 1) // 2 + 1 for v in (y[:, 0], x[:, 0]))
        k, m = (v // 2 + 1 for v in (y[:, 0], x[:, 0]))
        total = sum(padded[a[:, None], b] for a in (i, k) for b in (j, m)) / 4
        return [(np.s_[:], fine + total, 5 * EPS32 / 2 * 2)]

    return Problem(
        (coarse, fine.copy()), (rows, cols, 2 * rows + 1, 2 * cols + 1), (1,), expected, threads=(2 * cols + 1, 2 * rows + 1),
        bytes=36 * rows * cols, flops=24 * rows * cols,
    )  # fmt: skip


def ising_problem(rng, n):
    """2 n x (2 n + 6) spins."""
    rows, cols, color, seed = 2 * n, 2 * n + 6, 1, np.uint32(20_011)
    spins = rng.choice(np.array([-1, 1], np.int32), (rows, cols))
    cost = 2 * np.array([-4, -2, 0, 2, 4])
    thresholds = (np.minimum(np.exp(-0.44 * cost), 1) * (2**32 - 1)).astype(np.uint32)

    def expected():
        around = np.roll(spins, 1, 0) + np.roll(spins, -1, 0) + np.roll(spins, 1, 1) + np.roll(spins, -1, 1)
        i, x = np.arange(rows)[:, None], np.arange(cols)
        h = (i * cols + x).astype(np.uint32) ^ seed
        h = (h ^ h >> np.uint32(16)) * np.uint32(0x7FEB352D)
        h = (h ^ h >> np.uint32(15)) * np.uint32(0x846CA68B)
        h ^= h >> np.uint32(16)
        turns = ((i + x) % 2 == color) & (h <= thresholds[(spins * around + 4) // 2])
        return [(np.s_[:], np.where(turns, -spins, spins), 0)]

    return Problem(
        (spins.copy(), color, seed, thresholds), (rows, cols), (0,), expected, threads=(cols // 2, rows),
        bytes=6 * rows * cols, flops=15 * rows * cols,
    )  # fmt: skip


def listed(values):
    return "{" + ", ".join(str(v) for v in values) + "}"


D3Q19_TABLES = "".join(
    f"TABLE {kind} d3q19_{name}[19] = {values};\n"
    for kind, name, values in (
        ("int", "x", listed(CX)), ("int", "y", listed(CY)), ("int", "z", listed(CZ)),
        ("float", "w", listed(["1 / 3.f"] + 6 * ["1 / 18.f"] + 12 * ["1 / 36.f"])),
    )
)  # fmt: skip
D3Q19_HEAD = "d3q19_step(const float *f, float omega, float *out, int directions, int depth, int height, int width)"
D3Q19_BODY = """
    float g[19], rho = 0, ux = 0, uy = 0, uz = 0;
    INDEX cells = (INDEX)depth * height * width;
    for (INDEX k = 0; k < 19; k++) {
      INDEX fx = (x - d3q19_x[k] + width) % width;
      INDEX fy = (y - d3q19_y[k] + height) % height;
      INDEX fz = (z - d3q19_z[k] + depth) % depth;
      float v = f[k * cells + (fz * height + fy) * width + fx];
      g[k] = v;
      rho += v;
      ux += d3q19_x[k] * v;
      uy += d3q19_y[k] * v;
      uz += d3q19_z[k] * v;
    }
    ux /= rho;
    uy /= rho;
    uz /= rho;
    float square = 1.5f * (ux * ux + uy * uy + uz * uz);
    for (INDEX k = 0; k < 19; k++) {
      float cu = 3 * (d3q19_x[k] * ux + d3q19_y[k] * uy + d3q19_z[k] * uz);
      float equilibrium = d3q19_w[k] * rho * (1 + cu + 0.5f * cu * cu - square);
      out[k * cells + (z * height + y) * width + x] = g[k] - omega * (g[k] - equilibrium);
    }
"""


def space(head, body, tables=""):
    """A thread for each cell of (depth, height, width)."""
    return indexed(
        f"""
{tables.replace("TABLE", "__constant__")}
__global__ void {head} {{
  INDEX x = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX y = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX z = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth) {{{body}  }}
}}
""",
        f"""
{tables.replace("TABLE", "static const")}
void {head} {{
#pragma omp parallel for
  for (INDEX z = 0; z < depth; z++)
    for (INDEX y = 0; y < height; y++)
      for (INDEX x = 0; x < width; x++) {{{body}      }}
}}
""",
    )


D3Q19 = space(D3Q19_HEAD, D3Q19_BODY, D3Q19_TABLES)

DIFFUSE = space(
    "diffuse_coefficients(const double *u, const double *c, double dt, double *out, int depth, int height, int width)",
    """
    INDEX at = (z * height + y) * width + x, row = width, layer = (INDEX)height * width;
    double here = u[at];
    if (0 < x && x < width - 1 && 0 < y && y < height - 1 && 0 < z && z < depth - 1) {
      double k = c[at];
      double flux = 0.5 * (k + c[at - 1]) * (u[at - 1] - here);
      flux += 0.5 * (k + c[at + 1]) * (u[at + 1] - here);
      flux += 0.5 * (k + c[at - row]) * (u[at - row] - here);
      flux += 0.5 * (k + c[at + row]) * (u[at + row] - here);
      flux += 0.5 * (k + c[at - layer]) * (u[at - layer] - here);
      flux += 0.5 * (k + c[at + layer]) * (u[at + layer] - here);
      out[at] = here + dt * flux;
    } else {
      out[at] = here;
    }
""",
)

ELASTIC = plane(
    """elastic_stress(const float *vx, const float *vz, const float *lam, const float *mu, float scale, float *sxx,
                    float *szz, float *sxz, int rows, int cols)""",
    """
    if (row < 2 || col < 2 || row >= rows - 2 || col >= cols - 2)
      LEAVE;
    const float a = 9 / 8.f, b = -1 / 24.f;
    INDEX at = row * cols + col, w = cols;
    float dvx_dx = a * (vx[at + 1] - vx[at]) + b * (vx[at + 2] - vx[at - 1]);
    float dvz_dz = a * (vz[at] - vz[at - w]) + b * (vz[at + w] - vz[at - 2 * w]);
    float dvx_dz = a * (vx[at + w] - vx[at]) + b * (vx[at + 2 * w] - vx[at - w]);
    float dvz_dx = a * (vz[at] - vz[at - 1]) + b * (vz[at + 1] - vz[at - 2]);
    float l = lam[at], m = mu[at];
    sxx[at] += scale * ((l + 2 * m) * dvx_dx + l * dvz_dz);
    szz[at] += scale * (l * dvx_dx + (l + 2 * m) * dvz_dz);
    sxz[at] += scale * m * (dvx_dz + dvz_dx);
""",
)
ELASTIC = {key: text.replace("LEAVE", "continue" if key == "openmp" else "return") for key, text in ELASTIC.items()}

RESTRICT = plane(
    "restrict_full(const float *fine, float *coarse, int rows, int cols)",
    """
    INDEX w = 2 * (INDEX)cols + 1;
    const float *p = fine + (2 * row + 1) * w + 2 * col + 1;
    float corners = p[-w - 1] + p[-w + 1] + p[w - 1] + p[w + 1];
    float edges = p[-w] + p[w] + p[-1] + p[1];
    coarse[row * cols + col] = (4 * p[0] + 2 * edges + corners) / 16;
""",
)

PROLONG = plane(
    "prolong_add(const float *coarse, float *fine, int rows, int cols, int fine_rows, int fine_cols)",
    """
    INDEX i[2] = {row > 0 ? (row - 1) / 2 : -1, row / 2}, j[2] = {col > 0 ? (col - 1) / 2 : -1, col / 2};
    float total = 0;
    for (int a = 0; a < 2; a++)
      for (int b = 0; b < 2; b++)
        if (0 <= i[a] && i[a] < rows && 0 <= j[b] && j[b] < cols)
          total += coarse[i[a] * cols + j[b]];
    fine[row * fine_cols + col] += total / 4;
""",
    rows="fine_rows",
    cols="fine_cols",
)

ISING = plane(
    "ising_sweep(int *spins, int color, unsigned seed, const unsigned *thresholds, int rows, int cols)",
    """
    INDEX x = 2 * col + (row + color) % 2;
    INDEX left = x > 0 ? x - 1 : cols - 1, right = x < cols - 1 ? x + 1 : 0;
    INDEX up = row > 0 ? row - 1 : rows - 1, down = row < rows - 1 ? row + 1 : 0;
    int s = spins[row * cols + x];
    int around = spins[row * cols + left] + spins[row * cols + right] + spins[up * cols + x] + spins[down * cols + x];
    unsigned chance = ising_mixed((unsigned)(row * cols + x) ^ seed);
    if (chance <= thresholds[(s * around + 4) / 2])
      spins[row * cols + x] = -s;
""",
    cols="cols / 2",
    before="""DEVICE unsigned ising_mixed(unsigned h) {
  h ^= h >> 16;
  h *= 0x7feb352d;
  h ^= h >> 15;
  h *= 0x846ca68b;
  return h ^ h >> 16;
}""",
)

PLANE32, CUBE64 = "float32[:,::1]", "float64[:,:,::1]"

KERNELS = [
    Kernel(
        "lattice Boltzmann, D3Q19", d3q19_step, "float32[:,:,:,::1], float32, float32[:,:,:,::1]", (64, 2, 1), d3q19_problem,
        gpu=131, host=41, test=13, power=3, kind="stencil", **D3Q19,
    ),
    Kernel(
        "diffusion with coefficients", diffuse_coefficients, f"{CUBE64}, {CUBE64}, float64, {CUBE64}", (32, 4, 2),
        diffuse_problem, gpu=301, host=101, test=21, power=3, kind="stencil", **DIFFUSE,
    ),
    Kernel(
        "elastic wave, stresses", elastic_stress, ", ".join([*4 * [PLANE32], "float32", *3 * [PLANE32]]), (32, 8),
        elastic_problem, gpu=2503, host=501, test=61, power=2, kind="stencil", **ELASTIC,
    ),
    Kernel(
        "multigrid, restriction", restrict_full, f"{PLANE32}, {PLANE32}", (32, 8), restrict_problem,
        gpu=3001, host=701, test=41, power=2, kind="stencil", **RESTRICT,
    ),
    Kernel(
        "multigrid, prolongation", prolong_add, f"{PLANE32}, {PLANE32}", (32, 8), prolong_problem,
        gpu=3001, host=701, test=41, power=2, kind="stencil", **PROLONG,
    ),
    Kernel(
        "Ising model, half a sweep", ising_sweep, "int32[:,::1], pyint, uint32, uint32[::1]", (32, 8), ising_problem,
        gpu=3001, host=701, test=41, power=2, kind="stencil", **ISING,
    ),
]  # fmt: skip
