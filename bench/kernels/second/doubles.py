"""float64: a nine-point stencil, a wave in space with fourth-order differences, gravity."""

import math

import numpy as np
from kernels.declare import EPS64, PLANE, SPACE, THIN_PLANE, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, indexed
from pyptx import cuda


def nine_points(u, w, centre, edge, corner):
    """Weights for the point, its four neighbours and its four diagonal ones."""
    j, i = cuda.grid(2)
    if 1 <= i < u.shape[0] - 1 and 1 <= j < u.shape[1] - 1:
        edges = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
        corners = u[i - 1, j - 1] + u[i - 1, j + 1] + u[i + 1, j - 1] + u[i + 1, j + 1]
        w[i, j] = centre * u[i, j] + edge * edges + corner * corners


def wave3d(before, now, after, courant):
    """A step of the wave equation; two points on either side of each axis."""
    k, j, i = cuda.grid(3)
    nx, ny, nz = now.shape
    if 2 <= i < nx - 2 and 2 <= j < ny - 2 and 2 <= k < nz - 2:
        laplacian = -7.5 * now[i, j, k]
        for r in range(1, 3):
            weight = 4 / 3 if r == 1 else -1 / 12
            laplacian += weight * (
                now[i - r, j, k] + now[i + r, j, k] + now[i, j - r, k] + now[i, j + r, k] + now[i, j, k - r] + now[i, j, k + r]
            )  # fmt: skip
        after[i, j, k] = 2 * now[i, j, k] - before[i, j, k] + courant * laplacian


def gravity64(place, mass, softening, force):
    """The force on each body by all of them, softened where they are close."""
    i = cuda.grid(1)
    if i < mass.size:
        fx = fy = fz = 0.0
        for j in range(mass.size):
            dx = place[j, 0] - place[i, 0]
            dy = place[j, 1] - place[i, 1]
            dz = place[j, 2] - place[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + softening
            s = mass[j] / (r2 * math.sqrt(r2))
            fx += s * dx
            fy += s * dy
            fz += s * dz
        force[i, 0] = fx
        force[i, 1] = fy
        force[i, 2] = fz


def nine_problem(rng, n, shape=None):
    """n x (5 n / 4 + 1) points, or others, and the weights of a Laplacian."""
    rows, cols = shape or (n, 5 * n // 4 + 1)
    u = rng.random((rows, cols))
    centre, edge, corner = np.float64(-20 / 6), np.float64(4 / 6), np.float64(1 / 6)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 200)
        inner = some[(some > 0) & (some < rows - 1)]
        a, b, c = u[inner - 1], u[inner], u[inner + 1]
        edges = a[:, 1:-1] + c[:, 1:-1] + b[:, :-2] + b[:, 2:]
        corners = a[:, :-2] + a[:, 2:] + c[:, :-2] + c[:, 2:]
        values, bound = np.zeros((len(some), cols)), np.zeros((len(some), cols))
        values[np.searchsorted(some, inner), 1:-1] = centre * b[:, 1:-1] + edge * edges + corner * corners
        # The weights' sizes add up to 20 / 3.
        bound[np.searchsorted(some, inner), 1:-1] = 2 * 6 * EPS64 / 2 * 20 / 3
        return [(some, values, bound)]

    return Problem(
        (u, np.zeros_like(u), centre, edge, corner), (rows, cols), (1,), expected, threads=(cols, rows),
        bytes=16 * rows * cols, flops=11 * rows * cols,
    )  # fmt: skip


def wave_problem(rng, n):
    """Two steps of random numbers in n x (n + 7) x (n + 13) points."""
    shape = n, n + 7, n + 13
    before, now, courant = rng.random(shape), rng.random(shape), np.float64(0.1)

    def expected():
        planes = np.unique(np.linspace(0, n - 1, min(n, 12)).astype(int))
        values = np.zeros((len(planes), *shape[1:]))
        for at, i in enumerate(planes):
            if 2 <= i < n - 2:
                u = now[i, 2:-2, 2:-2]
                laplacian = -7.5 * u
                for r, weight in ((1, 4 / 3), (2, -1 / 12)):
                    laplacian += weight * (
                        now[i - r, 2:-2, 2:-2] + now[i + r, 2:-2, 2:-2] + now[i, 2 - r : -2 - r, 2:-2]
                        + now[i, 2 + r : shape[1] - 2 + r, 2:-2] + now[i, 2:-2, 2 - r : -2 - r]
                        + now[i, 2:-2, 2 + r : shape[2] - 2 + r]
                    )  # fmt: skip
                values[at, 2:-2, 2:-2] = 2 * u - before[i, 2:-2, 2:-2] + courant * laplacian
        # Sixteen roundings of numbers up to 16 times 0.1 and up to 3, on both sides.
        return [(planes, values, np.where(values == 0, 0, 2 * 16 * EPS64 / 2 * (1.6 + 3)))]

    return Problem(
        (before, now, np.zeros(shape), courant), shape, (2,), expected, threads=shape[::-1], bytes=24 * now.size,
        flops=18 * now.size,
    )  # fmt: skip


def gravity_problem(rng, n):
    """n bodies in the unit cube."""
    place, mass, softening = rng.random((n, 3)), rng.random(n), np.float64(1e-3)

    def expected():
        some = sampled(np.random.default_rng(0), n, 100)
        values, sizes = np.zeros((len(some), 3)), np.zeros((len(some), 3))
        for at, i in enumerate(some):
            d = place - place[i]
            terms = d * (mass / ((d * d).sum(axis=1) + softening) ** 1.5)[:, None]
            values[at], sizes[at] = terms.sum(axis=0), np.abs(terms).sum(axis=0)
        # A dozen roundings of a term; NumPy's error too.
        return [(some, values, 2 * sum_bound(n + 12, sizes, EPS64))]

    return Problem(
        (place, mass, softening, np.zeros((n, 3))), (n,), (3,), expected, threads=n, bytes=56 * n, flops=20 * n * n
    )


NINE = indexed(
    """
__global__ void nine_points(const double *u, double *w, double centre, double edge, double corner, int rows, int cols) {
  INDEX j = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, i = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (1 <= i && i < rows - 1 && 1 <= j && j < cols - 1) {
    double edges = u[(i - 1) * cols + j] + u[(i + 1) * cols + j] + u[i * cols + j - 1] + u[i * cols + j + 1];
    double corners = u[(i - 1) * cols + j - 1] + u[(i - 1) * cols + j + 1] + u[(i + 1) * cols + j - 1] + u[(i + 1) * cols + j + 1];
    w[i * cols + j] = centre * u[i * cols + j] + edge * edges + corner * corners;
  }
}
""",
    """
void nine_points(const double *u, double *w, double centre, double edge, double corner, int rows, int cols) {
#pragma omp parallel for
  for (int i = 1; i < rows - 1; i++)
    for (int j = 1; j < cols - 1; j++) {
      double edges = u[(i - 1) * cols + j] + u[(i + 1) * cols + j] + u[i * cols + j - 1] + u[i * cols + j + 1];
      double corners = u[(i - 1) * cols + j - 1] + u[(i - 1) * cols + j + 1] + u[(i + 1) * cols + j - 1] + u[(i + 1) * cols + j + 1];
      w[i * cols + j] = centre * u[i * cols + j] + edge * edges + corner * corners;
    }
}
""",
)

WAVE_BODY = """
      double laplacian = -7.5 * now[AT(i, j, k)];
      for (INDEX r = 1; r < 3; r++) {
        double weight = r == 1 ? 4.0 / 3 : -1.0 / 12;
        laplacian += weight * (now[AT(i - r, j, k)] + now[AT(i + r, j, k)] + now[AT(i, j - r, k)] + now[AT(i, j + r, k)] +
                               now[AT(i, j, k - r)] + now[AT(i, j, k + r)]);
      }
      after[AT(i, j, k)] = 2 * now[AT(i, j, k)] - before[AT(i, j, k)] + courant * laplacian;
"""
WAVE = indexed(
    f"""
#define AT(i, j, k) (((i) * ny + (j)) * nz + (k))
__global__ void wave3d(const double *before, const double *now, double *after, double courant, int nx, int ny, int nz) {{
  INDEX k = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX j = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX i = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (2 <= i && i < nx - 2 && 2 <= j && j < ny - 2 && 2 <= k && k < nz - 2) {{{WAVE_BODY}  }}
}}
#undef AT
""",
    f"""
#define AT(i, j, k) (((i) * ny + (j)) * nz + (k))
void wave3d(const double *before, const double *now, double *after, double courant, int nx, int ny, int nz) {{
#pragma omp parallel for
  for (INDEX i = 2; i < nx - 2; i++)
    for (INDEX j = 2; j < ny - 2; j++)
      for (INDEX k = 2; k < nz - 2; k++) {{{WAVE_BODY}      }}
}}
#undef AT
""",
)

GRAVITY = each(
    "gravity64(const double *place, const double *mass, double softening, double *force, int n)",
    """
    double fx = 0, fy = 0, fz = 0;
    for (INDEX j = 0; j < n; j++) {
      double dx = place[3 * j] - place[3 * i], dy = place[3 * j + 1] - place[3 * i + 1], dz = place[3 * j + 2] - place[3 * i + 2];
      double r2 = dx * dx + dy * dy + dz * dz + softening;
      double s = mass[j] / (r2 * sqrt(r2));
      fx += s * dx;
      fy += s * dy;
      fz += s * dz;
    }
    force[3 * i] = fx;
    force[3 * i + 1] = fy;
    force[3 * i + 2] = fz;
""",
)

KERNELS = [
    Kernel(
        "nine points, float64", nine_points, "float64[:,::1], float64[:,::1], float64, float64, float64", (32, 8),
        nine_problem, gpu=5003, host=4001, test=61, power=2, kind="stencil", sweep=PLANE, thin=THIN_PLANE, **NINE,
    ),
    Kernel(
        "wave in space, float64", wave3d, "float64[:,:,::1], float64[:,:,::1], float64[:,:,::1], float64", (32, 4, 2),
        wave_problem, gpu=331, host=223, test=17, power=3, kind="stencil", sweep=SPACE, **WAVE,
    ),
    Kernel(
        "gravity, float64", gravity64, "float64[:,::1], float64[::1], float64, float64[:,::1]", 128, gravity_problem,
        gpu=10_007, host=3761, test=301, power=2, **GRAVITY,
    ),
]  # fmt: skip
