"""Steps of partial differential equations: Euler's on a mesh of tetrahedra, Maxwell's on Yee's grid, advection
with WENO5, a multigrid residual of 27 points.
"""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32

GAMMA = 1.4
SMOOTH = 0.2


def pressure_of(rho, speed2, energy):
    return (GAMMA - 1.0) * (energy - 0.5 * rho * speed2)


def euler_flux(neighbours, normals, density, mx, my, mz, energy, far, fluxes):
    """Euler equations on an unstructured mesh of tetrahedra, a cell a thread; -1 is a wall, -2 the far field."""
    i = cuda.grid(1)
    if i >= density.size:
        return
    rho = density[i]
    px = mx[i]
    py = my[i]
    pz = mz[i]
    e = energy[i]
    vx = px / rho
    vy = py / rho
    vz = pz / rho
    speed2 = vx * vx + vy * vy + vz * vz
    p = pressure_of(rho, speed2, e)
    speed = math.sqrt(speed2)
    sound = math.sqrt(GAMMA * p / rho)
    f_rho = float32(0.0)
    f_x = float32(0.0)
    f_y = float32(0.0)
    f_z = float32(0.0)
    f_e = float32(0.0)
    for k in range(4):
        j = neighbours[k, i]
        nx = normals[k, 0, i]
        ny = normals[k, 1, i]
        nz = normals[k, 2, i]
        area = math.sqrt(nx * nx + ny * ny + nz * nz)
        if j >= 0:
            rho_n = density[j]
            px_n = mx[j]
            py_n = my[j]
            pz_n = mz[j]
            e_n = energy[j]
            wx = px_n / rho_n
            wy = py_n / rho_n
            wz = pz_n / rho_n
            speed2_n = wx * wx + wy * wy + wz * wz
            p_n = pressure_of(rho_n, speed2_n, e_n)
            sound_n = math.sqrt(GAMMA * p_n / rho_n)
            factor = -area * SMOOTH * 0.5 * (speed + math.sqrt(speed2_n) + sound + sound_n)
            un = nx * vx + ny * vy + nz * vz
            un_n = nx * wx + ny * wy + nz * wz
            both = p + p_n
            f_rho += factor * (rho - rho_n) + 0.5 * (rho * un + rho_n * un_n)
            f_x += factor * (px - px_n) + 0.5 * (px * un + px_n * un_n + nx * both)
            f_y += factor * (py - py_n) + 0.5 * (py * un + py_n * un_n + ny * both)
            f_z += factor * (pz - pz_n) + 0.5 * (pz * un + pz_n * un_n + nz * both)
            f_e += factor * (e - e_n) + 0.5 * ((e + p) * un + (e_n + p_n) * un_n)
        elif j == -1:
            f_x += nx * p
            f_y += ny * p
            f_z += nz * p
        else:
            un = 0.5 * (nx * (vx + far[1]) + ny * (vy + far[2]) + nz * (vz + far[3]))
            both = p + far[4]
            f_rho += 0.5 * (rho + far[0]) * un
            f_x += 0.5 * (px + far[0] * far[1]) * un + 0.5 * nx * both
            f_y += 0.5 * (py + far[0] * far[2]) * un + 0.5 * ny * both
            f_z += 0.5 * (pz + far[0] * far[3]) * un + 0.5 * nz * both
            f_e += (e + p) * un
    fluxes[0, i] = f_rho
    fluxes[1, i] = f_x
    fluxes[2, i] = f_y
    fluxes[3, i] = f_z
    fluxes[4, i] = f_e


def mg_residual(u, v, a, r):
    """r = v - A u with 27 points and 4 coefficients, the inner points."""
    k, j, i = cuda.grid(3)
    nz, ny, nx = u.shape
    if 0 < i < nz - 1 and 0 < j < ny - 1 and 0 < k < nx - 1:
        faces = u[i, j, k - 1] + u[i, j, k + 1] + u[i, j - 1, k] + u[i, j + 1, k] + u[i - 1, j, k] + u[i + 1, j, k]
        edges = (
            u[i, j - 1, k - 1] + u[i, j - 1, k + 1] + u[i, j + 1, k - 1] + u[i, j + 1, k + 1]
            + u[i - 1, j, k - 1] + u[i - 1, j, k + 1] + u[i + 1, j, k - 1] + u[i + 1, j, k + 1]
            + u[i - 1, j - 1, k] + u[i - 1, j + 1, k] + u[i + 1, j - 1, k] + u[i + 1, j + 1, k]
        )  # fmt: skip
        corners = (
            u[i - 1, j - 1, k - 1] + u[i - 1, j - 1, k + 1] + u[i - 1, j + 1, k - 1] + u[i - 1, j + 1, k + 1]
            + u[i + 1, j - 1, k - 1] + u[i + 1, j - 1, k + 1] + u[i + 1, j + 1, k - 1] + u[i + 1, j + 1, k + 1]
        )  # fmt: skip
        r[i, j, k] = v[i, j, k] - a[0] * u[i, j, k] - a[1] * faces - a[2] * edges - a[3] * corners


def fdtd_electric(ex, ey, ez, hx, hy, hz, ca, cb):
    """The electric field's half of a step of Maxwell's equations."""
    k, j, i = cuda.grid(3)
    nz, ny, nx = ex.shape
    if 1 <= i < nz and 1 <= j < ny and 1 <= k < nx:
        a = ca[i, j, k]
        b = cb[i, j, k]
        ex[i, j, k] = a * ex[i, j, k] + b * ((hz[i, j, k] - hz[i, j - 1, k]) - (hy[i, j, k] - hy[i - 1, j, k]))
        ey[i, j, k] = a * ey[i, j, k] + b * ((hx[i, j, k] - hx[i - 1, j, k]) - (hz[i, j, k] - hz[i, j, k - 1]))
        ez[i, j, k] = a * ez[i, j, k] + b * ((hy[i, j, k] - hy[i, j, k - 1]) - (hx[i, j, k] - hx[i, j - 1, k]))


def weno_left(a, b, c, d, e):
    s0 = 13.0 / 12.0 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2
    s1 = 13.0 / 12.0 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2
    s2 = 13.0 / 12.0 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2
    w0 = 0.1 / (1e-6 + s0) ** 2
    w1 = 0.6 / (1e-6 + s1) ** 2
    w2 = 0.3 / (1e-6 + s2) ** 2
    p0 = (2 * a - 7 * b + 11 * c) / 6
    p1 = (-b + 5 * c + 2 * d) / 6
    p2 = (2 * c + 5 * d - e) / 6
    return (w0 * p0 + w1 * p1 + w2 * p2) / (w0 + w1 + w2)


def weno5(u, rate, speed, dx):
    """Advection along x with WENO5, upwind, three ghost cells on each side."""
    col, row = cuda.grid(2)
    rows, cols = u.shape
    if row < rows and 3 <= col < cols - 3:
        right = weno_left(u[row, col - 2], u[row, col - 1], u[row, col], u[row, col + 1], u[row, col + 2])
        left = weno_left(u[row, col - 3], u[row, col - 2], u[row, col - 1], u[row, col], u[row, col + 1])
        rate[row, col] = -speed * (right - left) / dx


def euler_problem(rng, n):
    near = np.arange(n) + np.array([[-1], [1], [-700], [700]]) + rng.integers(-3, 4, (4, n))
    neighbours = np.where((near < 0) | (near >= n), -1, near)
    neighbours[rng.random((4, n)) < 0.01] = -2
    neighbours = neighbours.astype(np.int32)
    normals = rng.standard_normal((4, 3, n), dtype=np.float32)
    rho, v = np.float32(rng.uniform(0.5, 2, n)), rng.uniform(-1, 1, (3, n)).astype(np.float32)
    p = np.float32(rng.uniform(0.5, 2, n))
    m, e = rho * v, np.float32(p / 0.4 + 0.5 * rho * (v**2).sum(0))
    far = np.float32([1.0, 0.5, 0.1, -0.2, 1.0])
    fluxes = np.zeros((5, n), np.float32)

    def expected():
        at = sampled(rng, n, 20000)
        N, J = normals[:, :, at].astype(float), neighbours[:, at]
        state = np.stack([rho, *m, e]).astype(float)

        def more(s):
            w = s[1:4] / s[0]
            s2 = (w**2).sum(0)
            pp = (GAMMA - 1) * (s[4] - 0.5 * s[0] * s2)
            return w, np.sqrt(s2), pp, np.sqrt(GAMMA * pp / s[0])

        a = state[:, at]
        w, sp, pa, ca = more(a)
        f = np.zeros((5, at.size))
        for k in range(4):
            nk, j = N[k], J[k]
            b = state[:, np.maximum(j, 0)]
            wb, spb, pb, cb = more(b)
            fac = -np.sqrt((nk**2).sum(0)) * SMOOTH * 0.5 * (sp + spb + ca + cb)
            un, unb = (nk * w).sum(0), (nk * wb).sum(0)
            inner = fac * (a - b)
            inner[:4] += 0.5 * (a[:4] * un + b[:4] * unb)
            inner[1:4] += 0.5 * nk * (pa + pb)
            inner[4] += 0.5 * ((a[4] + pa) * un + (b[4] + pb) * unb)
            wall = np.zeros_like(inner)
            wall[1:4] = nk * pa
            F = far.astype(float)
            unf = 0.5 * (nk * (w + F[1:4, None])).sum(0)
            away = np.zeros_like(inner)
            away[0] = 0.5 * (a[0] + F[0]) * unf
            away[1:4] = 0.5 * (a[1:4] + (F[0] * F[1:4])[:, None]) * unf + 0.5 * nk * (pa + F[4])
            away[4] = (a[4] + pa) * unf
            f += np.where(j >= 0, inner, np.where(j == -1, wall, away))
        return [((slice(None), at), f, 2e-4)]

    args = (neighbours, normals, rho, *(np.float32(x) for x in m), e, far, fluxes)
    return Problem(args, (n,), (8,), expected, threads=n, bytes=104.0 * n)


def mg_problem(rng, n):
    nz, ny, nx = n, n + 41, n + 122
    u, v, r = rng.standard_normal((nz, ny, nx)), rng.standard_normal((nz, ny, nx)), np.zeros((nz, ny, nx))
    a = np.array([-8 / 3, 0.1, 1 / 6, 1 / 12])

    def expected():
        rows = np.unique(np.concatenate([[1, nz - 2], rng.integers(1, nz - 1, 6)]))
        out = np.zeros((rows.size, ny, nx))
        s = np.s_
        total = [0.0] * 4
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                for dk in (-1, 0, 1):
                    kind = abs(di) + abs(dj) + abs(dk)
                    total[kind] += u[rows + di][:, 1 + dj : ny - 1 + dj, 1 + dk : nx - 1 + dk]
        out[s[:, 1:-1, 1:-1]] = v[rows][:, 1:-1, 1:-1] - sum(c * t for c, t in zip(a, total))
        return [(rows, out, 1e-12)]

    return Problem((u, v, a, r), (nz, ny, nx), (3,), expected, threads=(nx, ny, nz), bytes=24.0 * u.size)


def fdtd_problem(rng, n):
    shape = (n, n + 61, n + 182)
    e = [rng.standard_normal(shape, dtype=np.float32) for _ in range(3)]
    h = [rng.standard_normal(shape, dtype=np.float32) for _ in range(3)]
    ca, cb = (np.float32(rng.uniform(0.3, 0.9, shape)) for _ in range(2))

    def expected():
        hx, hy, hz = (v.astype(np.float64) for v in h)
        s = np.s_[1:, 1:, 1:]

        def d(v, axis):
            return np.diff(v, axis=axis)[tuple(slice(None) if q == axis else slice(1, None) for q in range(3))]

        curls = (d(hz, 1) - d(hy, 0), d(hx, 0) - d(hz, 2), d(hy, 2) - d(hx, 1))
        outs = []
        for v, curl in zip(e, curls):
            out = v.astype(np.float64)
            out[s] = ca[s] * out[s] + cb[s] * curl
            outs.append((slice(None), out, 1e-5))
        return outs

    return Problem((*e, *h, ca, cb), shape, (0, 1, 2), expected, threads=shape[::-1], bytes=44.0 * ca.size)


def weno_problem(rng, n):
    cols = 1203
    u, rate = rng.uniform(0, 1, (n, cols)), np.zeros((n, cols))

    def expected():
        v = [u[:, 3 + o : cols - 3 + o] for o in range(-3, 3)]
        out = np.zeros((n, cols))
        out[:, 3:-3] = -0.7 * (weno_left(*v[1:]) - weno_left(*v[:5])) / 0.01
        return [(slice(None), out, 1e-9)]

    args = (u, rate, np.float64(0.7), np.float64(0.01))
    return Problem(args, (n, cols), (1,), expected, threads=(cols, n), bytes=16.0 * u.size)


EULER = each(
    """euler_flux(const int *neighbours, const float *normals, const float *density, const float *mx,
                const float *my, const float *mz, const float *energy, const float *far, float *fluxes, int n)""",
    """
    float rho = density[i], px = mx[i], py = my[i], pz = mz[i], e = energy[i];
    float vx = px / rho, vy = py / rho, vz = pz / rho;
    float speed2 = vx * vx + vy * vy + vz * vz;
    float p = euler_pressure(rho, speed2, e);
    float speed = sqrtf(speed2), sound = sqrtf(1.4f * p / rho);
    float f_rho = 0, f_x = 0, f_y = 0, f_z = 0, f_e = 0;
    for (INDEX k = 0; k < 4; k++) {
      INDEX j = neighbours[k * n + i];
      float nx = normals[(k * 3 + 0) * n + i], ny = normals[(k * 3 + 1) * n + i], nz = normals[(k * 3 + 2) * n + i];
      float area = sqrtf(nx * nx + ny * ny + nz * nz);
      if (j >= 0) {
        float rho_n = density[j], px_n = mx[j], py_n = my[j], pz_n = mz[j], e_n = energy[j];
        float wx = px_n / rho_n, wy = py_n / rho_n, wz = pz_n / rho_n;
        float speed2_n = wx * wx + wy * wy + wz * wz;
        float p_n = euler_pressure(rho_n, speed2_n, e_n);
        float sound_n = sqrtf(1.4f * p_n / rho_n);
        float factor = -area * 0.2f * 0.5f * (speed + sqrtf(speed2_n) + sound + sound_n);
        float un = nx * vx + ny * vy + nz * vz, un_n = nx * wx + ny * wy + nz * wz, both = p + p_n;
        f_rho += factor * (rho - rho_n) + 0.5f * (rho * un + rho_n * un_n);
        f_x += factor * (px - px_n) + 0.5f * (px * un + px_n * un_n + nx * both);
        f_y += factor * (py - py_n) + 0.5f * (py * un + py_n * un_n + ny * both);
        f_z += factor * (pz - pz_n) + 0.5f * (pz * un + pz_n * un_n + nz * both);
        f_e += factor * (e - e_n) + 0.5f * ((e + p) * un + (e_n + p_n) * un_n);
      } else if (j == -1) {
        f_x += nx * p;
        f_y += ny * p;
        f_z += nz * p;
      } else {
        float un = 0.5f * (nx * (vx + far[1]) + ny * (vy + far[2]) + nz * (vz + far[3])), both = p + far[4];
        f_rho += 0.5f * (rho + far[0]) * un;
        f_x += 0.5f * (px + far[0] * far[1]) * un + 0.5f * nx * both;
        f_y += 0.5f * (py + far[0] * far[2]) * un + 0.5f * ny * both;
        f_z += 0.5f * (pz + far[0] * far[3]) * un + 0.5f * nz * both;
        f_e += (e + p) * un;
      }
    }
    fluxes[i] = f_rho;
    fluxes[n + i] = f_x;
    fluxes[2 * n + i] = f_y;
    fluxes[3 * n + i] = f_z;
    fluxes[4 * n + i] = f_e;
""",
    before="""
DEVICE float euler_pressure(float rho, float speed2, float energy) {
  return 0.4f * (energy - 0.5f * rho * speed2);
}
""",
)

MG_HEAD = "mg_residual(const double *u, const double *v, const double *a, double *r, int nz, int ny, int nx)"
MG_BODY = """
      double faces = MG_U(0, 0, -1) + MG_U(0, 0, 1) + MG_U(0, -1, 0) + MG_U(0, 1, 0) + MG_U(-1, 0, 0) + MG_U(1, 0, 0);
      double edges = MG_U(0, -1, -1) + MG_U(0, -1, 1) + MG_U(0, 1, -1) + MG_U(0, 1, 1) + MG_U(-1, 0, -1) + MG_U(-1, 0, 1) +
                     MG_U(1, 0, -1) + MG_U(1, 0, 1) + MG_U(-1, -1, 0) + MG_U(-1, 1, 0) + MG_U(1, -1, 0) + MG_U(1, 1, 0);
      double corners = MG_U(-1, -1, -1) + MG_U(-1, -1, 1) + MG_U(-1, 1, -1) + MG_U(-1, 1, 1) + MG_U(1, -1, -1) +
                       MG_U(1, -1, 1) + MG_U(1, 1, -1) + MG_U(1, 1, 1);
      INDEX c = (i * ny + j) * nx + k;
      r[c] = v[c] - a[0] * u[c] - a[1] * faces - a[2] * edges - a[3] * corners;
"""
MG_MACRO = "#define MG_U(di, dj, dk) u[((i + (di)) * ny + j + (dj)) * nx + k + (dk)]"
MG = indexed(
    f"""
{MG_MACRO}
__global__ void {MG_HEAD} {{
  INDEX k = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX j = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX i = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (i > 0 && i < nz - 1 && j > 0 && j < ny - 1 && k > 0 && k < nx - 1) {{{MG_BODY}  }}
}}
""",
    f"""
{MG_MACRO}
void {MG_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 1; i < nz - 1; i++)
    for (INDEX j = 1; j < ny - 1; j++)
      for (INDEX k = 1; k < nx - 1; k++) {{{MG_BODY}      }}
}}
""",
)

FDTD_HEAD = """fdtd_electric(float *ex, float *ey, float *ez, const float *hx, const float *hy, const float *hz,
                   const float *ca, const float *cb, int nz, int ny, int nx)"""
FDTD_BODY = """
      INDEX c = (i * ny + j) * nx + k, plane = (INDEX)ny * nx;
      float a = ca[c], b = cb[c];
      ex[c] = a * ex[c] + b * ((hz[c] - hz[c - nx]) - (hy[c] - hy[c - plane]));
      ey[c] = a * ey[c] + b * ((hx[c] - hx[c - plane]) - (hz[c] - hz[c - 1]));
      ez[c] = a * ez[c] + b * ((hy[c] - hy[c - 1]) - (hx[c] - hx[c - nx]));
"""
FDTD = indexed(
    f"""
__global__ void {FDTD_HEAD} {{
  INDEX k = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX j = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX i = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (i >= 1 && i < nz && j >= 1 && j < ny && k >= 1 && k < nx) {{{FDTD_BODY}  }}
}}
""",
    f"""
void {FDTD_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 1; i < nz; i++)
    for (INDEX j = 1; j < ny; j++)
      for (INDEX k = 1; k < nx; k++) {{{FDTD_BODY}      }}
}}
""",
)

WENO = plane(
    "weno5(const double *u, double *rate, double speed, double dx, int rows, int cols)",
    """
    if (col >= 3 && col < cols - 3) {
      const double *v = u + row * cols + col;
      double right = weno_left(v[-2], v[-1], v[0], v[1], v[2]);
      double left = weno_left(v[-3], v[-2], v[-1], v[0], v[1]);
      rate[row * cols + col] = -speed * (right - left) / dx;
    }
""",
    before="""
DEVICE double weno_square(double x) { return x * x; }
DEVICE double weno_left(double a, double b, double c, double d, double e) {
  double s0 = 13.0 / 12.0 * weno_square(a - 2 * b + c) + 0.25 * weno_square(a - 4 * b + 3 * c);
  double s1 = 13.0 / 12.0 * weno_square(b - 2 * c + d) + 0.25 * weno_square(b - d);
  double s2 = 13.0 / 12.0 * weno_square(c - 2 * d + e) + 0.25 * weno_square(3 * c - 4 * d + e);
  double w0 = 0.1 / weno_square(1e-6 + s0), w1 = 0.6 / weno_square(1e-6 + s1), w2 = 0.3 / weno_square(1e-6 + s2);
  double p0 = (2 * a - 7 * b + 11 * c) / 6, p1 = (-b + 5 * c + 2 * d) / 6, p2 = (2 * c + 5 * d - e) / 6;
  return (w0 * p0 + w1 * p1 + w2 * p2) / (w0 + w1 + w2);
}
""",
)

KERNELS = [
    Kernel(
        "Euler fluxes, unstructured", euler_flux,
        "int32[:,::1], float32[:,:,::1], float32[::1], float32[::1], float32[::1], "
        "float32[::1], float32[::1], float32[::1], float32[:,::1]", 192,
        euler_problem,
        gpu=1_000_003, host=100_003, test=2003, kind="irregular", **EULER,
    ),
    Kernel(
        "multigrid residual, 27 points", mg_residual,
        "float64[:,:,::1], float64[:,:,::1], float64[::1], float64[:,:,::1]", (32, 4, 2),
        mg_problem,
        gpu=151, host=40, test=10, power=3, kind="stencil", **MG,
    ),
    Kernel(
        "FDTD, electric field", fdtd_electric,
        "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], "
        "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32[:,:,::1]", (64, 4, 1),
        fdtd_problem,
        gpu=130, host=30, test=9, power=3, kind="stencil", **FDTD,
    ),
    Kernel(
        "WENO5", weno5, "float64[:,::1], float64[:,::1], float64, float64", (96, 2), weno_problem,
        gpu=1501, host=101, test=13, kind="stencil", **WENO,
    ),
]  # fmt: skip
