"""Transpose and matrix products, float32, row major."""

import numpy as np
from kernels.declare import PLANE, THIN_PLANE, THIN_SPACE, Kernel, Problem, sampled, sum_bound
from pyptx import cuda, float32

TILE, WIDTH, ROWS = 32, 33, 8  # a column too many: threads that read a column hit different banks


def transpose(a, out):
    tile = cuda.shared.array((TILE, WIDTH), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x = cuda.blockIdx.x * TILE + tx
    y = cuda.blockIdx.y * TILE + ty
    for r in range(0, TILE, ROWS):
        if y + r < a.shape[0] and x < a.shape[1]:
            tile[ty + r, tx] = a[y + r, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * TILE + tx
    y = cuda.blockIdx.x * TILE + ty
    for r in range(0, TILE, ROWS):
        if y + r < out.shape[0] and x < out.shape[1]:
            out[y + r, x] = tile[tx, ty + r]


def matmul_naive(a, b, c):
    col, row = cuda.grid(2)
    if row < c.shape[0] and col < c.shape[1]:
        acc = float32(0)
        for k in range(a.shape[1]):
            acc += a[row, k] * b[k, col]
        c[row, col] = acc


def matmul_tiled(a, b, c):
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, a.shape[1], 32):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for k in range(32):
            acc += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, col] = acc


def matmul_tiled16(a, b, c):
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, a.shape[1], 16):
        tile_a[ty, tx] = a[row, start + tx]
        tile_b[ty, tx] = b[start + ty, col]
        cuda.syncthreads()
        for k in range(16):
            acc += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[row, col] = acc


def transpose_problem(rng, n, shape=None):
    shape = n, m = shape or (n, n)
    a = rng.random(shape, np.float32)
    return Problem(
        (a, np.zeros((m, n), np.float32)), shape, (1,), lambda: [(np.s_[:], a.T, 0)], grid=(-(-m // TILE), -(-n // TILE)),
        bytes=8 * n * m,
    )  # fmt: skip


def matmul_problem(rng, n, shape=None):
    """shape: rows, terms of a sum, columns."""
    n, k, m = shape or (n, n, n)
    a, b = rng.random((n, k), np.float32), rng.random((k, m), np.float32)

    def expected():
        rows = sampled(np.random.default_rng(0), n, 64)
        exact = a[rows].astype(np.float64) @ b.astype(np.float64)
        return [(rows, exact, sum_bound(k, exact))]  # all terms are positive: the sum is its magnitude

    return Problem(
        (a, b, np.zeros((n, m), np.float32)), (n, k, m), (2,), expected, threads=(m, n), bytes=4 * (n * k + k * m + n * m),
        flops=2 * n * k * m,
    )  # fmt: skip


def tiled_cuda(name, tile):
    return f"""
__global__ void {name}(const float *a, const float *b, float *c, int rows, int inner, int cols) {{
  __shared__ float tile_a[{tile}][{tile}], tile_b[{tile}][{tile}];
  int tx = threadIdx.x, ty = threadIdx.y;
  int col = blockIdx.x * blockDim.x + tx, row = blockIdx.y * blockDim.y + ty;
  float acc = 0;
  for (int start = 0; start < inner; start += {tile}) {{
    tile_a[ty][tx] = a[row * inner + start + tx];
    tile_b[ty][tx] = b[(start + ty) * cols + col];
    __syncthreads();
    for (int k = 0; k < {tile}; k++)
      acc += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();
  }}
  c[row * cols + col] = acc;
}}
"""


def matmul_openmp(name):
    # The loop order that a C programmer knows to take: rows of b and c in the inner loop.
    return f"""
void {name}(const float *a, const float *b, float *c, int rows, int inner, int cols) {{
#pragma omp parallel for
  for (int i = 0; i < rows; i++) {{
    for (int j = 0; j < cols; j++)
      c[i * cols + j] = 0;
    for (int k = 0; k < inner; k++)
      for (int j = 0; j < cols; j++)
        c[i * cols + j] += a[i * inner + k] * b[k * cols + j];
  }}
}}
"""


MATRICES = "float32[:,::1], float32[:,::1], float32[:,::1]"
MATMUL = {"problem": matmul_problem, "power": 3, "step": 32, "gpu": 2048, "host": 512, "test": 64}
LIBRARIES = {  # cuBLAS and tensor tiles: not the same algorithm, what a library reaches
    "cupy": lambda cupy, a, b, c: lambda: cupy.matmul(a, b, out=c),
    "triton": lambda triton, a, b, c: triton.matmul(a, b, c),
}

KERNELS = [
    Kernel(
        "transpose", transpose, "float32[:,::1], float32[:,::1]", (TILE, ROWS), transpose_problem,
        gpu=8192, host=4096, test=100, power=2, kind="shared", thin=THIN_PLANE,
        cuda="""
__global__ void transpose(const float *a, float *out, int rows, int cols) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += 8)
    if (y + r < rows && x < cols)
      tile[threadIdx.y + r][threadIdx.x] = a[(y + r) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int r = 0; r < 32; r += 8)
    if (y + r < cols && x < rows)
      out[(y + r) * rows + x] = tile[threadIdx.x][threadIdx.y + r];
}
""",
        openmp="""
void transpose(const float *a, float *out, int rows, int cols) {
#pragma omp parallel for
  for (int i = 0; i < cols; i++)
    for (int j = 0; j < rows; j++)
      out[i * rows + j] = a[j * cols + i];
}
""",
        peers={"cupy": lambda cupy, a, out: lambda: cupy.copyto(out, a.T)},
    ),
    Kernel(
        "matmul naive", matmul_naive, MATRICES, (32, 8), **MATMUL, sweep=PLANE, thin=THIN_SPACE, peers=LIBRARIES,
        cuda="""
__global__ void matmul_naive(const float *a, const float *b, float *c, int rows, int inner, int cols) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && col < cols) {
    float acc = 0;
    for (int k = 0; k < inner; k++)
      acc += a[row * inner + k] * b[k * cols + col];
    c[row * cols + col] = acc;
  }
}
""",
        openmp="""
void matmul_naive(const float *a, const float *b, float *c, int rows, int inner, int cols) {
#pragma omp parallel for
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      float acc = 0;
      for (int k = 0; k < inner; k++)
        acc += a[i * inner + k] * b[k * cols + j];
      c[i * cols + j] = acc;
    }
}
""",
    ),
    Kernel(
        "matmul tiled 32x32", matmul_tiled, MATRICES, (32, 32), **MATMUL, kind="shared", peers=LIBRARIES,
        cuda=tiled_cuda("matmul_tiled", 32), openmp=matmul_openmp("matmul_tiled"),
    ),
    Kernel(
        "matmul tiled 16x16", matmul_tiled16, MATRICES, (16, 16), **MATMUL, kind="shared", peers=LIBRARIES,
        cuda=tiled_cuda("matmul_tiled16", 16), openmp=matmul_openmp("matmul_tiled16"),
    ),
]  # fmt: skip
