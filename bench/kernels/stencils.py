"""Stencils: Jacobi's 5 points in the plane, heat's 7 in space. float32."""

import numpy as np
from kernels.declare import EPS32, PLANE, SPACE, THIN_PLANE, THIN_SPACE, Kernel, Problem, sampled
from pyptx import cuda


def jacobi(u, out):
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        out[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def heat3d(u, out, r):
    k, j, i = cuda.grid(3)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and 0 < k < u.shape[2] - 1:
        around = (
            u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k] + u[i, j, k - 1] + u[i, j, k + 1]
        )  # fmt: skip
        out[i, j, k] = u[i, j, k] + r * (around - 6.0 * u[i, j, k])


def jacobi_problem(rng, n, shape=None):
    shape = n, m = shape or (n, n)
    u = rng.random(shape, np.float32)

    def expected():
        rows = sampled(np.random.default_rng(0), n, 512)
        inner = rows[(0 < rows) & (rows < n - 1)]
        exact = np.zeros((len(rows), m))
        middle = u[inner].astype(np.float64)
        around = u[inner - 1, 1:-1].astype(np.float64) + u[inner + 1, 1:-1] + middle[:, :-2] + middle[:, 2:]
        exact[np.searchsorted(rows, inner), 1:-1] = 0.25 * around
        return [(rows, exact, 3 * EPS32 / 2 * exact)]  # three additions of positive numbers; 0.25 is exact

    return Problem(
        (u, np.zeros_like(u)), shape, (1,), expected, threads=(m, n), bytes=8 * n * m, flops=4 * n * m
    )


def heat_problem(rng, n, shape=None):
    shape = n, *others = shape or (n, n, n)
    u, r = rng.random(shape, np.float32), np.float32(0.125)

    def expected():
        # Some planes: float64 copies of the whole would be gigabytes.
        planes = np.unique(np.linspace(0, n - 1, min(n, 24)).astype(int))
        exact = np.zeros((len(planes), *others))
        for at, i in enumerate(planes):
            if 0 < i < n - 1:
                v = u[i - 1 : i + 2].astype(np.float64)
                around = (
                    v[:1, 1:-1, 1:-1] + v[2:, 1:-1, 1:-1] + v[1:2, :-2, 1:-1] + v[1:2, 2:, 1:-1] + v[1:2, 1:-1, :-2]
                    + v[1:2, 1:-1, 2:]
                )  # fmt: skip
                exact[at, 1:-1, 1:-1] = (v[1:2, 1:-1, 1:-1] + 0.125 * (around - 6.0 * v[1:2, 1:-1, 1:-1]))[0]
        # Seven operations on values up to 6, times r, then two roundings of values up to 1.75; the border is not written.
        bound = np.where(exact == 0, 0, (7 * 6 * float(r) + 2 * 1.75) * EPS32 / 2)
        return [(planes, exact, bound)]

    return Problem(
        (u, np.zeros_like(u), r), shape, (1,), expected, threads=shape[::-1], bytes=8 * u.size, flops=9 * u.size
    )  # fmt: skip


KERNELS = [
    Kernel(
        "Jacobi", jacobi, "float32[:,::1], float32[:,::1]", (32, 8), jacobi_problem,
        gpu=8192, host=4096, test=70, power=2, kind="stencil", sweep=PLANE, thin=THIN_PLANE,
        cuda="""
__global__ void jacobi(const float *u, float *out, int rows, int cols) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (0 < i && i < rows - 1 && 0 < j && j < cols - 1)
    out[i * cols + j] = 0.25f * (u[(i - 1) * cols + j] + u[(i + 1) * cols + j] + u[i * cols + j - 1] + u[i * cols + j + 1]);
}
""",
        openmp="""
void jacobi(const float *u, float *out, int rows, int cols) {
#pragma omp parallel for
  for (int i = 1; i < rows - 1; i++)
    for (int j = 1; j < cols - 1; j++)
      out[i * cols + j] = 0.25f * (u[(i - 1) * cols + j] + u[(i + 1) * cols + j] + u[i * cols + j - 1] + u[i * cols + j + 1]);
}
""",
    ),
    Kernel(
        "heat 3-D", heat3d, "float32[:,:,::1], float32[:,:,::1], float32", (32, 4, 2), heat_problem,
        gpu=512, host=256, test=20, power=3, kind="stencil", sweep=SPACE, thin=THIN_SPACE,
        cuda="""
#define AT(i, j, k) (((i) * ny + (j)) * nz + (k))
__global__ void heat3d(const float *u, float *out, float r, int nx, int ny, int nz) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  int i = blockIdx.z * blockDim.z + threadIdx.z;
  if (0 < i && i < nx - 1 && 0 < j && j < ny - 1 && 0 < k && k < nz - 1) {
    float around = u[AT(i - 1, j, k)] + u[AT(i + 1, j, k)] + u[AT(i, j - 1, k)] + u[AT(i, j + 1, k)] +
                   u[AT(i, j, k - 1)] + u[AT(i, j, k + 1)];
    out[AT(i, j, k)] = u[AT(i, j, k)] + r * (around - 6.0f * u[AT(i, j, k)]);
  }
}
#undef AT
""",
        openmp="""
#define AT(i, j, k) (((i) * ny + (j)) * nz + (k))
void heat3d(const float *u, float *out, float r, int nx, int ny, int nz) {
#pragma omp parallel for
  for (int i = 1; i < nx - 1; i++)
    for (int j = 1; j < ny - 1; j++)
      for (int k = 1; k < nz - 1; k++) {
        float around = u[AT(i - 1, j, k)] + u[AT(i + 1, j, k)] + u[AT(i, j - 1, k)] + u[AT(i, j + 1, k)] +
                       u[AT(i, j, k - 1)] + u[AT(i, j, k + 1)];
        out[AT(i, j, k)] = u[AT(i, j, k)] + r * (around - 6.0f * u[AT(i, j, k)]);
      }
}
#undef AT
""",
    ),
]  # fmt: skip
