"""Particles in grids and cells: charge and push of plasma codes, neighbours for molecular dynamics,
bodies on ellipses.
"""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda


def cic_deposit(x, y, weight, rho):
    """Cloud in cell: a particle gives its charge to four nodes of a periodic grid."""
    i = cuda.grid(1)
    if i < x.size:
        ny, nx = rho.shape
        ix = int(x[i])
        iy = int(y[i])
        fx = x[i] - ix
        fy = y[i] - iy
        jx = ix + 1 if ix + 1 < nx else 0
        jy = iy + 1 if iy + 1 < ny else 0
        w = weight[i]
        cuda.atomic.add(rho, (iy, ix), w * (1 - fx) * (1 - fy))
        cuda.atomic.add(rho, (iy, jx), w * fx * (1 - fy))
        cuda.atomic.add(rho, (jy, ix), w * (1 - fx) * fy)
        cuda.atomic.add(rho, (jy, jx), w * fx * fy)


def boris_push(x, y, vx, vy, vz, ex, ey, bz, charge, dt):
    """Boris' rotation: fields are interpolated between four nodes of a periodic grid."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    ny, nx = ex.shape
    ix = int(x[i])
    iy = int(y[i])
    fx = x[i] - ix
    fy = y[i] - iy
    jx = (ix + 1) % nx
    jy = (iy + 1) % ny
    w00 = (1 - fx) * (1 - fy)
    w01 = fx * (1 - fy)
    w10 = (1 - fx) * fy
    w11 = fx * fy
    e_x = w00 * ex[iy, ix] + w01 * ex[iy, jx] + w10 * ex[jy, ix] + w11 * ex[jy, jx]
    e_y = w00 * ey[iy, ix] + w01 * ey[iy, jx] + w10 * ey[jy, ix] + w11 * ey[jy, jx]
    b_z = w00 * bz[iy, ix] + w01 * bz[iy, jx] + w10 * bz[jy, ix] + w11 * bz[jy, jx]
    h = 0.5 * charge * dt
    ux = vx[i] + h * e_x
    uy = vy[i] + h * e_y
    uz = vz[i]
    gamma = math.sqrt(1 + ux * ux + uy * uy + uz * uz)
    t = h * b_z / gamma
    s = 2 * t / (1 + t * t)
    px = ux + uy * t
    py = uy - ux * t
    ux += py * s
    uy -= px * s
    ux += h * e_x
    uy += h * e_y
    gamma = math.sqrt(1 + ux * ux + uy * uy + uz * uz)
    new_x = x[i] + dt * ux / gamma
    new_y = y[i] + dt * uy / gamma
    if new_x < 0:
        new_x += nx
    if new_x >= nx:
        new_x -= nx
    if new_y < 0:
        new_y += ny
    if new_y >= ny:
        new_y -= ny
    vx[i] = ux
    vy[i] = uy
    x[i] = new_x
    y[i] = new_y


def neighbour_list(x, y, z, cell_start, side, cutoff2, counts, neighbours):
    """Verlet's list from cells of a periodic box; particles are sorted by cell. Coordinates are in units of a cell."""
    i = cuda.grid(1)
    n = x.size
    if i >= n:
        return
    most = neighbours.shape[0]
    xi = x[i]
    yi = y[i]
    zi = z[i]
    cx = int(xi)
    cy = int(yi)
    cz = int(zi)
    half = 0.5 * side
    found = 0
    for dz in range(-1, 2):
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                kx = (cx + dx + side) % side
                ky = (cy + dy + side) % side
                kz = (cz + dz + side) % side
                cell = (kz * side + ky) * side + kx
                for j in range(cell_start[cell], cell_start[cell + 1]):
                    if j != i:
                        rx = abs(xi - x[j])
                        ry = abs(yi - y[j])
                        rz = abs(zi - z[j])
                        if rx > half:
                            rx = side - rx
                        if ry > half:
                            ry = side - ry
                        if rz > half:
                            rz = side - rz
                        if rx * rx + ry * ry + rz * rz < cutoff2:
                            if found < most:
                                neighbours[found, i] = j
                            found += 1
    counts[i] = found


def kepler_positions(axis, ecc, incl, node, peri, mean0, motion, t, x, y, z):
    """Positions of bodies on ellipses at time t: Newton's iteration for the eccentric anomaly."""
    i = cuda.grid(1)
    if i >= axis.size:
        return
    e = ecc[i]
    m = math.fmod(mean0[i] + motion[i] * t, 2 * math.pi)
    anomaly = m + e * math.sin(m)
    for _ in range(20):
        step = (anomaly - e * math.sin(anomaly) - m) / (1.0 - e * math.cos(anomaly))
        anomaly -= step
        if abs(step) < 1e-12:
            break
    px = axis[i] * (math.cos(anomaly) - e)
    py = axis[i] * math.sqrt(1.0 - e * e) * math.sin(anomaly)
    cw = math.cos(peri[i])
    sw = math.sin(peri[i])
    cn = math.cos(node[i])
    sn = math.sin(node[i])
    ci = math.cos(incl[i])
    si = math.sin(incl[i])
    u = cw * px - sw * py
    v = sw * px + cw * py
    x[i] = cn * u - sn * ci * v
    y[i] = sn * u + cn * ci * v
    z[i] = si * v


def inside(rng, n, size):
    return np.minimum(np.float32(rng.random(n) * size), np.float32(size - 1e-3))


def cic_problem(rng, n):
    ny, nx = 703, 901
    x, y, w = inside(rng, n, nx), inside(rng, n, ny), np.float32(rng.uniform(0.5, 1.5, n))
    rho = np.zeros((ny, nx), np.float32)

    def expected():
        ix, iy = x.astype(int), y.astype(int)
        fx, fy = x - ix, y - iy
        jx, jy = (ix + 1) % nx, (iy + 1) % ny
        out = np.zeros(ny * nx)
        corners = ((iy, ix, (1 - fx) * (1 - fy)), (iy, jx, fx * (1 - fy)), (jy, ix, (1 - fx) * fy), (jy, jx, fx * fy))
        for a, b, v in corners:
            out += np.bincount(a * nx + b, w * v, ny * nx)
        return [(slice(None), out.reshape(ny, nx), 1e-4)]

    return Problem((x, y, w, rho), (n, ny, nx), (3,), expected, threads=n, bytes=12.0 * n)


def boris_problem(rng, n):
    ny, nx = 601, 501
    x, y = np.float32(rng.uniform(2, nx - 2, n)), np.float32(rng.uniform(2, ny - 2, n))
    v = rng.standard_normal((3, n), dtype=np.float32)
    ex, ey, bz = (rng.standard_normal((ny, nx), dtype=np.float32) for _ in range(3))
    charge, dt = np.float32(-1.0), np.float32(0.05)

    def expected():
        at = sampled(rng, n, 50000)
        X, Y = x[at].astype(float), y[at].astype(float)
        ux, uy, uz = v[:, at].astype(float)
        ix, iy = X.astype(int), Y.astype(int)
        fx, fy = X - ix, Y - iy

        def of(f):
            return (
                (1 - fx) * (1 - fy) * f[iy, ix] + fx * (1 - fy) * f[iy, (ix + 1) % nx]
                + (1 - fx) * fy * f[(iy + 1) % ny, ix] + fx * fy * f[(iy + 1) % ny, (ix + 1) % nx]
            )  # fmt: skip

        e_x, e_y, b_z = of(ex), of(ey), of(bz)
        h = 0.5 * float(charge) * float(dt)
        ux, uy = ux + h * e_x, uy + h * e_y
        t = h * b_z / np.sqrt(1 + ux**2 + uy**2 + uz**2)
        s = 2 * t / (1 + t * t)
        px, py = ux + uy * t, uy - ux * t
        ux, uy = ux + py * s + h * e_x, uy - px * s + h * e_y
        g = np.sqrt(1 + ux**2 + uy**2 + uz**2)
        return [(at, X + float(dt) * ux / g, 2e-4), (at, Y + float(dt) * uy / g, 2e-4), (at, ux, 1e-3), (at, uy, 1e-3)]

    args = (x, y, *(np.float32(u) for u in v), ex, ey, bz, charge, dt)
    return Problem(args, (n, ny, nx), (0, 1, 2, 3), expected, threads=n, bytes=36.0 * n)


def lists_problem(rng, n):
    side = max(4, round((n / 4) ** (1 / 3)))
    places = rng.integers(0, side * 256, (3, n))
    cell = ((places[2] >> 8) * side + (places[1] >> 8)) * side + (places[0] >> 8)
    order = np.argsort(cell, kind="stable")
    x, y, z = (np.float32(p[order] / 256) for p in places)
    start = np.searchsorted(cell[order], np.arange(side**3 + 1)).astype(np.int32)
    most = 48
    counts, neighbours = np.zeros(n, np.int32), np.full((most, n), -1, np.int32)
    cutoff2 = np.float32(1.0)

    def expected():
        at = sampled(rng, n, 400)
        number, lists = [], np.full((most, at.size), -1, np.int32)
        for c, i in enumerate(at):
            ci, found = [int(v[i]) for v in (x, y, z)], []
            for dz in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        k = [(ci[0] + dx) % side, (ci[1] + dy) % side, (ci[2] + dz) % side]
                        q = (k[2] * side + k[1]) * side + k[0]
                        j = np.arange(start[q], start[q + 1])
                        r2 = 0.0
                        for v in (x, y, z):
                            r = np.abs(v[i].astype(float) - v[j])
                            r2 = r2 + np.where(r > side / 2, side - r, r) ** 2
                        found.extend(j[(r2 < 1) & (j != i)])
            number.append(len(found))
            lists[: min(most, len(found)), c] = found[:most]
        return [(at, np.array(number, np.int32), 0), ((slice(None), at), lists, 0)]

    return Problem((x, y, z, start, side, cutoff2, counts, neighbours), (n, most), (6, 7), expected, threads=n)


def kepler_problem(rng, n):
    axis, ecc, incl = rng.uniform(0.5, 3, n), rng.uniform(0, 0.7, n), rng.uniform(0, 0.5, n)
    node, peri, mean0 = (rng.uniform(0, 2 * np.pi, n) for _ in range(3))
    motion, t = axis**-1.5, np.float64(37.25)

    def expected():
        at = sampled(rng, n, 20000)
        e, a = ecc[at], axis[at]
        m = np.fmod(mean0[at] + motion[at] * t, 2 * np.pi)
        E = m + e * np.sin(m)
        for _ in range(30):
            E -= (E - e * np.sin(E) - m) / (1 - e * np.cos(E))
        px, py = a * (np.cos(E) - e), a * np.sqrt(1 - e * e) * np.sin(E)
        u, v = np.cos(peri[at]) * px - np.sin(peri[at]) * py, np.sin(peri[at]) * px + np.cos(peri[at]) * py
        cn, sn, ci, si = np.cos(node[at]), np.sin(node[at]), np.cos(incl[at]), np.sin(incl[at])
        return [(at, cn * u - sn * ci * v, 1e-9), (at, sn * u + cn * ci * v, 1e-9), (at, si * v, 1e-9)]

    args = (axis, ecc, incl, node, peri, mean0, motion, t, *(np.zeros(n) for _ in range(3)))
    return Problem(args, (n,), (8, 9, 10), expected, threads=n, bytes=80.0 * n)


CIC_HEAD = "cic_deposit(const float *x, const float *y, const float *weight, float *rho, int n, int ny, int nx)"
CIC_BODY = """
    INDEX ix = (INDEX)x[i], iy = (INDEX)y[i];
    float fx = x[i] - ix, fy = y[i] - iy;
    INDEX jx = ix + 1 < nx ? ix + 1 : 0, jy = iy + 1 < ny ? iy + 1 : 0;
    float w = weight[i];
    CIC_ADD(rho[iy * nx + ix], w * (1 - fx) * (1 - fy));
    CIC_ADD(rho[iy * nx + jx], w * fx * (1 - fy));
    CIC_ADD(rho[jy * nx + ix], w * (1 - fx) * fy);
    CIC_ADD(rho[jy * nx + jx], w * fx * fy);
"""
CIC = indexed(
    f"""
#define CIC_ADD(cell, value) atomicAdd(&(cell), value)
__global__ void {CIC_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (i < n) {{{CIC_BODY}  }}
}}
#undef CIC_ADD
""",
    f"""
#define CIC_ADD(cell, value) _Pragma("omp atomic") cell += value
void {CIC_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{CIC_BODY}  }}
}}
#undef CIC_ADD
""",
)

BORIS = each(
    """boris_push(float *x, float *y, float *vx, float *vy, const float *vz, const float *ex, const float *ey,
                const float *bz, float charge, float dt, int n, int ny, int nx)""",
    """
    INDEX ix = (INDEX)x[i], iy = (INDEX)y[i];
    float fx = x[i] - ix, fy = y[i] - iy;
    INDEX jx = (ix + 1) % nx, jy = (iy + 1) % ny;
    float w00 = (1 - fx) * (1 - fy), w01 = fx * (1 - fy), w10 = (1 - fx) * fy, w11 = fx * fy;
    float e_x = w00 * ex[iy * nx + ix] + w01 * ex[iy * nx + jx] + w10 * ex[jy * nx + ix] + w11 * ex[jy * nx + jx];
    float e_y = w00 * ey[iy * nx + ix] + w01 * ey[iy * nx + jx] + w10 * ey[jy * nx + ix] + w11 * ey[jy * nx + jx];
    float b_z = w00 * bz[iy * nx + ix] + w01 * bz[iy * nx + jx] + w10 * bz[jy * nx + ix] + w11 * bz[jy * nx + jx];
    float h = 0.5f * charge * dt;
    float ux = vx[i] + h * e_x, uy = vy[i] + h * e_y, uz = vz[i];
    float gamma = sqrtf(1 + ux * ux + uy * uy + uz * uz);
    float t = h * b_z / gamma, s = 2 * t / (1 + t * t);
    float px = ux + uy * t, py = uy - ux * t;
    ux += py * s;
    uy -= px * s;
    ux += h * e_x;
    uy += h * e_y;
    gamma = sqrtf(1 + ux * ux + uy * uy + uz * uz);
    float new_x = x[i] + dt * ux / gamma, new_y = y[i] + dt * uy / gamma;
    if (new_x < 0) new_x += nx;
    if (new_x >= nx) new_x -= nx;
    if (new_y < 0) new_y += ny;
    if (new_y >= ny) new_y -= ny;
    vx[i] = ux;
    vy[i] = uy;
    x[i] = new_x;
    y[i] = new_y;
""",
)

LISTS = each(
    """neighbour_list(const float *x, const float *y, const float *z, const int *cell_start, int side,
                    float cutoff2, int *counts, int *neighbours, int n, int most)""",
    """
    float xi = x[i], yi = y[i], zi = z[i];
    INDEX cx = (INDEX)xi, cy = (INDEX)yi, cz = (INDEX)zi;
    float half = 0.5f * side;
    INDEX found = 0;
    for (INDEX dz = -1; dz <= 1; dz++)
      for (INDEX dy = -1; dy <= 1; dy++)
        for (INDEX dx = -1; dx <= 1; dx++) {
          INDEX kx = (cx + dx + side) % side, ky = (cy + dy + side) % side, kz = (cz + dz + side) % side;
          INDEX cell = (kz * side + ky) * side + kx;
          INDEX end = cell_start[cell + 1];
          for (INDEX j = cell_start[cell]; j < end; j++) {
            if (j != i) {
              float rx = fabsf(xi - x[j]), ry = fabsf(yi - y[j]), rz = fabsf(zi - z[j]);
              if (rx > half) rx = side - rx;
              if (ry > half) ry = side - ry;
              if (rz > half) rz = side - rz;
              if (rx * rx + ry * ry + rz * rz < cutoff2) {
                if (found < most) neighbours[found * n + i] = j;
                found++;
              }
            }
          }
        }
    counts[i] = found;
""",
)

KEPLER = each(
    """kepler_positions(const double *axis, const double *ecc, const double *incl, const double *node,
                      const double *peri, const double *mean0, const double *motion, double t, double *x,
                      double *y, double *z, int n)""",
    """
    double e = ecc[i], m = fmod(mean0[i] + motion[i] * t, 2 * 3.141592653589793);
    double anomaly = m + e * sin(m);
    for (INDEX k = 0; k < 20; k++) {
      double step = (anomaly - e * sin(anomaly) - m) / (1.0 - e * cos(anomaly));
      anomaly -= step;
      if (fabs(step) < 1e-12) break;
    }
    double px = axis[i] * (cos(anomaly) - e), py = axis[i] * sqrt(1.0 - e * e) * sin(anomaly);
    double cw = cos(peri[i]), sw = sin(peri[i]), cn = cos(node[i]), sn = sin(node[i]), ci = cos(incl[i]),
           si = sin(incl[i]);
    double u = cw * px - sw * py, v = sw * px + cw * py;
    x[i] = cn * u - sn * ci * v;
    y[i] = sn * u + cn * ci * v;
    z[i] = si * v;
""",
)

KERNELS = [
    Kernel(
        "charge, cloud in cell", cic_deposit,
        "float32[::1], float32[::1], float32[::1], float32[:,::1]", 256,
        cic_problem,
        gpu=2_000_003, host=100_003, test=2003, kind="irregular", **CIC,
    ),
    Kernel(
        "Boris push", boris_push,
        "float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], "
        "float32[:,::1], float32[:,::1], float32[:,::1], float32, float32", 128,
        boris_problem,
        gpu=2_000_003, host=100_003, test=2003, kind="irregular", **BORIS,
    ),
    Kernel(
        "neighbour list from cells", neighbour_list,
        "float32[::1], float32[::1], float32[::1], int32[::1], pyint, float32, int32[::1], int32[:,::1]", 64,
        lists_problem,
        gpu=200_003, host=20_003, test=2003, kind="irregular", **LISTS,
    ),
    Kernel(
        "Kepler's equation", kepler_positions,
        "float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[::1], "
        "float64[::1], float64, float64[::1], float64[::1], float64[::1]", 128,
        kepler_problem,
        gpu=500_003, host=10_003, test=503, kind="irregular", **KEPLER,
    ),
]  # fmt: skip
