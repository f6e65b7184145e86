"""Sparse matrices and graphs: products with dense ones, sampled products, a step of colouring."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled, sum_bound
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32


def csr_spmm(starts, columns, values, b, out):
    """A CSR matrix by a dense one of some columns."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0.0)
        for k in range(starts[row], starts[row + 1]):
            total += values[k] * b[columns[k], col]
        out[row, col] = total


def sddmm(rows, columns, values, a, b, out):
    """The product of two dense matrices (b transposed) where a sparse one has values, times them; a warp a value."""
    k = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if k >= rows.size:
        return
    i = rows[k]
    j = columns[k]
    total = float32(0.0)
    for c in range(lane, a.shape[1], 32):
        total += a[i, c] * b[j, c]
    d = 16
    while d > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        d //= 2
    if lane == 0:
        out[k] = values[k] * total


def colour_step(starts, heads, priority, colours, fresh):
    """Jones and Plassmann: a vertex before its uncoloured neighbours takes the least colour (of 64) they have not."""
    i = cuda.grid(1)
    if i >= colours.size:
        return
    colour = colours[i]
    if colour < 0:
        mine = priority[i]
        used = np.uint64(0)
        first = True
        for k in range(starts[i], starts[i + 1]):
            j = heads[k]
            c = colours[j]
            if c >= 0:
                used |= np.uint64(1) << np.uint64(c)
            elif priority[j] > mine:
                first = False
                break
        if first:
            colour = 0
            while used & np.uint64(1):
                used >>= np.uint64(1)
                colour += 1
    fresh[i] = colour


def rows_of(rng, n, most):
    """Row starts with 0 to most entries a row, most rows short."""
    lengths = np.minimum(rng.geometric(3 / most, n) - 1, most)
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def spmm_problem(rng, n):
    inner, width = n + 17, 45
    starts = rows_of(rng, n, 60)
    columns = rng.integers(0, inner, starts[-1]).astype(np.int32)
    values = rng.standard_normal(starts[-1], dtype=np.float32)
    b = rng.standard_normal((inner, width), dtype=np.float32)

    def expected():
        at = sampled(rng, n, 3000)
        total, sizes = np.zeros((at.size, width)), np.zeros((at.size, width))
        for r, row in enumerate(at):
            s = slice(starts[row], starts[row + 1])
            total[r] = values[s].astype(float) @ b[columns[s]]
            sizes[r] = np.abs(values[s]).astype(float) @ np.abs(b[columns[s]])
        return [(at, total, sum_bound(60, sizes))]

    args = (starts, columns, values, b, np.zeros((n, width), np.float32))
    moved = 8.0 * columns.size + 4.0 * columns.size * width + 4.0 * n * width
    return Problem(args, (n, width), (4,), expected, threads=(width, n), bytes=moved)


def sddmm_problem(rng, n):
    height, breadth, width = n // 40 + 5, n // 50 + 7, 117
    rows = np.sort(rng.integers(0, height, n)).astype(np.int32)
    columns = rng.integers(0, breadth, n).astype(np.int32)
    values = np.float32(rng.uniform(0.5, 2, n))
    a, b = (rng.standard_normal((m, width), dtype=np.float32) for m in (height, breadth))

    def expected():
        at = sampled(rng, n, 5000)
        terms = a[rows[at]].astype(float) * b[columns[at]] * values[at, None]
        return [(at, terms.sum(1), sum_bound(4 + 5 + 1, np.abs(terms).sum(1)))]  # 4 a lane, 5 shuffles, the value

    args = (rows, columns, values, a, b, np.zeros(n, np.float32))
    return Problem(args, (n, width), (5,), expected, threads=32 * n, bytes=8.0 * n * width, sequential=12)


def coloured(source, target, priority, colours):
    """One step for all vertices."""
    seen = colours[target]
    blocked = np.zeros(colours.size, bool)
    blocked[source[(seen < 0) & (priority[target] > priority[source])]] = True
    used = np.zeros(colours.size, np.uint64)
    np.bitwise_or.at(used, source[seen >= 0], np.uint64(1) << seen[seen >= 0].astype(np.uint64))
    least = np.log2((~used & (used + np.uint64(1))).astype(float)).astype(np.int32)
    return np.where((colours < 0) & ~blocked, least, colours).astype(np.int32)


def colour_problem(rng, n):
    pairs = rng.integers(0, n, (2, 6 * n))
    pairs = pairs[:, pairs[0] != pairs[1]]
    source, target = np.concatenate([pairs, pairs[::-1]], 1)
    order = np.argsort(source, kind="stable")
    source, heads = source[order], target[order].astype(np.int32)
    starts = np.searchsorted(source, np.arange(n + 1)).astype(np.int32)
    priority = rng.permutation(n).astype(np.int32)
    colours = np.full(n, -1, np.int32)
    for _ in range(5):
        colours = coloured(source, heads, priority, colours)

    def expected():
        return [(slice(None), coloured(source, heads, priority, colours), 0)]

    args = (starts, heads, priority, colours, np.zeros(n, np.int32))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=16.0 * n + 8.0 * heads.size)


SPMM = plane(
    """csr_spmm(const int *__restrict__ starts, const int *__restrict__ columns, const float *__restrict__ values,
              const float *__restrict__ b, float *__restrict__ out, int rows, int cols)""",
    """
      float total = 0;
      for (INDEX k = starts[row]; k < starts[row + 1]; k++)
        total += values[k] * b[columns[k] * (INDEX)cols + col];
      out[row * cols + col] = total;
""",
)

SDDMM_HEAD = """sddmm(const int *__restrict__ rows, const int *__restrict__ columns, const float *__restrict__ values,
           const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int n, int width)"""
SDDMM = indexed(
    f"""
__global__ void {SDDMM_HEAD} {{
  INDEX k = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (k >= n) return;
  const float *left = a + rows[k] * (INDEX)width, *right = b + columns[k] * (INDEX)width;
  float total = 0;
  for (INDEX c = lane; c < width; c += 32)
    total += left[c] * right[c];
  for (int d = 16; d > 0; d /= 2)
    total += __shfl_down_sync(0xffffffff, total, d);
  if (lane == 0) out[k] = values[k] * total;
}}
""",
    f"""
void {SDDMM_HEAD} {{
#pragma omp parallel for
  for (INDEX k = 0; k < n; k++) {{
    const float *left = a + rows[k] * width, *right = b + columns[k] * width;
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (INDEX c = 0; c < width; c++)
      total += left[c] * right[c];
    out[k] = values[k] * total;
  }}
}}
""",
)

COLOUR = each(
    """colour_step(const int *__restrict__ starts, const int *__restrict__ heads, const int *__restrict__ priority,
                 const int *__restrict__ colours, int *__restrict__ fresh, int n)""",
    """
    int colour = colours[i];
    if (colour < 0) {
      int mine = priority[i], first = 1;
      unsigned long used = 0;
      for (INDEX k = starts[i]; k < starts[i + 1]; k++) {
        INDEX j = heads[k];
        int c = colours[j];
        if (c >= 0) {
          used |= 1UL << c;
        } else if (priority[j] > mine) {
          first = 0;
          break;
        }
      }
      if (first) {
        colour = 0;
        while (used & 1) {
          used >>= 1;
          colour++;
        }
      }
    }
    fresh[i] = colour;
""",
)

KERNELS = [
    Kernel(
        "CSR by dense", csr_spmm, "int32[::1], int32[::1], float32[::1], float32[:,::1], float32[:,::1]", (32, 8),
        spmm_problem,
        gpu=50_021, host=2003, test=83, kind="irregular", **SPMM,
    ),
    Kernel(
        "sampled dense product", sddmm,
        "int32[::1], int32[::1], float32[::1], float32[:,::1], float32[:,::1], float32[::1]", 128, sddmm_problem,
        gpu=500_009, host=10_007, test=103, kind="shared", **SDDMM,
    ),
    Kernel(
        "step of a colouring", colour_step, "int32[::1], int32[::1], int32[::1], int32[::1], int32[::1]", 128,
        colour_problem,
        gpu=1_000_003, host=30_011, test=503, kind="irregular", **COLOUR,
    ),
]  # fmt: skip
