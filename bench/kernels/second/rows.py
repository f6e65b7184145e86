"""Reductions of rows, where 8 lanes, a warp or a block take a row: sums, maxima, places of the
least, softmax.

As in Harris, "Optimizing Parallel Reduction in CUDA", with shuffles.
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, WIDTHS, Kernel, Problem, sampled, sum_bound
from kernels.texts import indexed
from pyptx import cuda, float32, float64, int64

FULL = 0xFFFFFFFF
NARROW, BLOCK = 8, 256  # lanes for a narrow row; threads for a wide one
WARPS = BLOCK // 32


def warp_row_sums(x, sums):
    """A warp for each row, several to a block."""
    row = cuda.grid(1) // 32
    if row >= x.shape[0]:
        return
    total = np.float32(0)
    for k in range(cuda.laneid, x.shape[1], 32):
        total += x[row, k]
    for k in range(5):
        total += cuda.shfl_down_sync(FULL, total, 16 >> k)
    if cuda.laneid == 0:
        sums[row] = total


def narrow_row_max(x, largest):
    """Eight lanes for each row."""
    row = cuda.grid(1) // NARROW
    lane = cuda.threadIdx.x % NARROW
    best = -math.inf
    if row < x.shape[0]:
        for k in range(lane, x.shape[1], NARROW):
            best = max(best, x[row, k])
    step = NARROW // 2
    while step > 0:
        best = max(best, cuda.shfl_xor_sync(FULL, best, step))
        step //= 2
    if lane == 0 and row < x.shape[0]:
        largest[row] = best


def warp_argmin(x, places):
    """The first place of a row's least number, by a warp."""
    row = cuda.grid(1) // 32
    if row >= x.shape[0]:
        return
    best = np.float32(math.inf)
    place = x.shape[1]
    for k in range(cuda.laneid, x.shape[1], 32):
        if x[row, k] < best:
            best = x[row, k]
            place = k
    step = 16
    while step > 0:
        other = cuda.shfl_down_sync(FULL, best, step)
        at = cuda.shfl_down_sync(FULL, place, step)
        if other < best or (other == best and at < place):
            best = other
            place = at
        step //= 2
    if cuda.laneid == 0:
        places[row] = place


def block_argmin(x, places):
    """The same by a block, in shared memory."""
    best = cuda.shared.array(BLOCK, float64)
    place = cuda.shared.array(BLOCK, int64)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    best[t] = math.inf
    place[t] = x.shape[1]
    for k in range(t, x.shape[1], cuda.blockDim.x):
        if x[row, k] < best[t]:
            best[t] = x[row, k]
            place[t] = k
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            other = best[t + half]
            if other < best[t] or (other == best[t] and place[t + half] < place[t]):
                best[t] = other
                place[t] = place[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        places[row] = place[0]


def warp_softmax(x, out):
    """A warp for each row, which it reads three times."""
    row = cuda.grid(1) // 32
    if row < x.shape[0]:
        highest = np.float32(-math.inf)
        for k in range(cuda.laneid, x.shape[1], 32):
            highest = max(highest, x[row, k])
        for k in range(5):
            highest = max(highest, cuda.shfl_xor_sync(FULL, highest, 1 << k))
        total = np.float32(0)
        for k in range(cuda.laneid, x.shape[1], 32):
            total += math.exp(x[row, k] - highest)
        for k in range(5):
            total += cuda.shfl_xor_sync(FULL, total, 1 << k)
        for k in range(cuda.laneid, x.shape[1], 32):
            out[row, k] = math.exp(x[row, k] - highest) / total


def block_total(value, parts):
    """The sum over a block: warps by shuffles, their sums in shared memory. Every thread gets it.
    """
    for k in range(5):
        value += cuda.shfl_xor_sync(FULL, value, 1 << k)
    cuda.syncthreads()
    if cuda.laneid == 0:
        parts[cuda.threadIdx.x // 32] = value
    cuda.syncthreads()
    total = parts[0]
    for k in range(1, WARPS):
        total += parts[k]
    return total


def block_layer_norm(x, scale, shift, epsilon, out):
    """A block for each row: the mean, the variance around it, then the row."""
    parts = cuda.shared.array(WARPS, float32)
    row = cuda.blockIdx.x
    width = x.shape[1]
    s = np.float32(0)
    for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
        s += x[row, k]
    mean = block_total(s, parts) / width
    s = np.float32(0)
    for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
        d = x[row, k] - mean
        s += d * d
    inverse = 1 / math.sqrt(block_total(s, parts) / width + epsilon)
    for k in range(cuda.threadIdx.x, width, cuda.blockDim.x):
        out[row, k] = (x[row, k] - mean) * inverse * scale[k] + shift[k]


def sums_problem(rng, n, width=333):
    """n rows."""
    x = rng.random((n, width), np.float32)

    def expected():
        exact = x.sum(axis=1, dtype=np.float64)
        return [(np.s_[:], exact, sum_bound(-(-width // 32) + 5, exact))]

    return Problem(
        (x, np.zeros(n, np.float32)), (n, width), (1,), expected, threads=32 * n, bytes=4 * x.size + 4 * n, flops=x.size,
        sequential=max(1, width / 16),
    )  # fmt: skip


def max_problem(rng, n, width=45):
    """n rows."""
    x = rng.normal(size=(n, width))
    return Problem(
        (x, np.zeros(n)), (n, width), (1,), lambda: [(np.s_[:], x.max(axis=1), 0)], threads=NARROW * n,
        bytes=8 * x.size + 8 * n, flops=x.size,
    )  # fmt: skip


def warp_argmin_problem(rng, n, width=277):
    """n rows of numbers, many of them equal."""
    x = rng.integers(0, 100, (n, width)).astype(np.float32)
    return Problem(
        (x, np.zeros(n, np.int32)), (n, width), (1,), lambda: [(np.s_[:], x.argmin(axis=1), 0)], threads=32 * n,
        bytes=4 * x.size + 4 * n, flops=x.size,
    )  # fmt: skip


def block_argmin_problem(rng, n, width=3001):
    """n rows of numbers, some of them equal."""
    x = rng.integers(0, 10_000, (n, width)).astype(np.float64)
    return Problem(
        (x, np.zeros(n, np.int64)), (n, width), (1,), lambda: [(np.s_[:], x.argmin(axis=1), 0)], grid=n,
        bytes=8 * x.size + 8 * n, flops=x.size,
    )  # fmt: skip


def softmax_problem(rng, n, width=211):
    """n rows."""
    x = rng.normal(size=(n, width)).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        e = np.exp(x[some].astype(np.float64) - x[some].max(axis=1, keepdims=True))
        exact = e / e.sum(axis=1, keepdims=True)
        # Both exponentials: a rounding of an argument up to 16 and 2 ulp; 7 + 5 additions, a
        # division.
        return [(some, exact, (2 * (16 / 2 + 2) + 12 / 2 + 2) * EPS32 * exact + 1e-38)]

    return Problem(
        (x, np.zeros_like(x)), (n, width), (1,), expected, threads=32 * n, bytes=8 * x.size, flops=8 * x.size, sequential=6
    )


def norm_problem(rng, n, width=1537):
    """n rows."""
    epsilon = np.float32(1e-5)
    x = rng.normal(2, 1, (n, width)).astype(np.float32)
    scale, shift = rng.random(width, np.float32), rng.random(width, np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 500)
        rows = x[some].astype(np.float64)
        mean = rows.mean(axis=1, keepdims=True)
        away = rows - mean
        deviation = np.sqrt((away**2).mean(axis=1, keepdims=True) + 1e-5)
        values = away / deviation * scale + shift
        # The mean is off by 7 + 5 + 8 additions of numbers of size 3, so a difference is by that
        # and a rounding; the deviation, which is near 1 for a wide row, by as much; then five
        # roundings.
        off, ratio = 20 * EPS32 / 2 * 3 / deviation, np.abs(away) / deviation
        return [(some, values, (off + ratio * off) * 1.2 * scale + 5 * EPS32 * (ratio * scale + shift))]

    return Problem(
        (x, scale, shift, epsilon, np.zeros_like(x)), (n, width), (4,), expected, grid=n, bytes=8 * x.size, flops=9 * x.size,
        sequential=max(1, width / 20),
    )  # fmt: skip


SUMS = indexed(
    """
__global__ void warp_row_sums(const float *x, float *sums, int rows, int cols) {
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  float total = 0;
  for (INDEX k = lane; k < cols; k += 32)
    total += x[row * cols + k];
  for (int k = 0; k < 5; k++)
    total += __shfl_down_sync(0xffffffff, total, 16 >> k);
  if (lane == 0)
    sums[row] = total;
}
""",
    """
void warp_row_sums(const float *x, float *sums, int rows, int cols) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    float total = 0;
    for (int k = 0; k < cols; k++)
      total += x[row * cols + k];
    sums[row] = total;
  }
}
""",
)

LARGEST = indexed(
    """
__global__ void narrow_row_max(const double *x, double *largest, int rows, int cols) {
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 8;
  int lane = threadIdx.x % 8;
  double best = -1.0 / 0.0;
  if (row < rows)
    for (INDEX k = lane; k < cols; k += 8)
      best = fmax(best, x[row * cols + k]);
  for (int step = 4; step > 0; step /= 2)
    best = fmax(best, __shfl_xor_sync(0xffffffff, best, step));
  if (lane == 0 && row < rows)
    largest[row] = best;
}
""",
    """
void narrow_row_max(const double *x, double *largest, int rows, int cols) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    double best = -INFINITY;
    for (int k = 0; k < cols; k++)
      if (x[row * cols + k] > best)
        best = x[row * cols + k];
    largest[row] = best;
  }
}
""",
)

LEAST_LOOP = """
void NAME(const TYPE *x, PLACE *places, int rows, int cols) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    int place = 0;
    for (int k = 1; k < cols; k++)
      if (x[row * cols + k] < x[row * cols + place])
        place = k;
    places[row] = place;
  }
}
"""

WARP_LEAST = indexed(
    """
__global__ void warp_argmin(const float *x, int *places, int rows, int cols) {
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  float best = 1.0f / 0.0f;
  INDEX place = cols;
  for (INDEX k = lane; k < cols; k += 32)
    if (x[row * cols + k] < best) {
      best = x[row * cols + k];
      place = k;
    }
  for (int step = 16; step > 0; step /= 2) {
    float other = __shfl_down_sync(0xffffffff, best, step);
    INDEX at = __shfl_down_sync(0xffffffff, place, step);
    if (other < best || (other == best && at < place)) {
      best = other;
      place = at;
    }
  }
  if (lane == 0)
    places[row] = place;
}
""",
    LEAST_LOOP.replace("NAME", "warp_argmin").replace("TYPE", "float").replace("PLACE", "int"),
)

BLOCK_LEAST = indexed(
    """
__global__ void block_argmin(const double *x, long long *places, int rows, int cols) {
  __shared__ double best[256];
  __shared__ INDEX place[256];
  INDEX row = blockIdx.x, t = threadIdx.x;
  best[t] = 1.0 / 0.0;
  place[t] = cols;
  for (INDEX k = t; k < cols; k += blockDim.x)
    if (x[row * cols + k] < best[t]) {
      best[t] = x[row * cols + k];
      place[t] = k;
    }
  __syncthreads();
  for (INDEX half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) {
      double other = best[t + half];
      if (other < best[t] || (other == best[t] && place[t + half] < place[t])) {
        best[t] = other;
        place[t] = place[t + half];
      }
    }
    __syncthreads();
  }
  if (t == 0)
    places[row] = place[0];
}
""",
    LEAST_LOOP.replace("NAME", "block_argmin").replace("TYPE", "double").replace("PLACE", "long long"),
)

SOFTMAX = indexed(
    """
__global__ void warp_softmax(const float *x, float *out, int rows, int cols) {
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row < rows) {
    float highest = -1.0f / 0.0f;
    for (INDEX k = lane; k < cols; k += 32)
      highest = fmaxf(highest, x[row * cols + k]);
    for (int k = 0; k < 5; k++)
      highest = fmaxf(highest, __shfl_xor_sync(0xffffffff, highest, 1 << k));
    float total = 0;
    for (INDEX k = lane; k < cols; k += 32)
      total += expf(x[row * cols + k] - highest);
    for (int k = 0; k < 5; k++)
      total += __shfl_xor_sync(0xffffffff, total, 1 << k);
    for (INDEX k = lane; k < cols; k += 32)
      out[row * cols + k] = expf(x[row * cols + k] - highest) / total;
  }
}
""",
    """
void warp_softmax(const float *x, float *out, int rows, int cols) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    float highest = -INFINITY, total = 0;
    for (int k = 0; k < cols; k++)
      if (x[row * cols + k] > highest)
        highest = x[row * cols + k];
    for (int k = 0; k < cols; k++) {
      out[row * cols + k] = expf(x[row * cols + k] - highest);
      total += out[row * cols + k];
    }
    for (int k = 0; k < cols; k++)
      out[row * cols + k] /= total;
  }
}
""",
)

NORM = indexed(
    """
__device__ float block_total(float value, float *parts) {
  for (int k = 0; k < 5; k++)
    value += __shfl_xor_sync(0xffffffff, value, 1 << k);
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    parts[threadIdx.x / 32] = value;
  __syncthreads();
  float total = parts[0];
  for (int k = 1; k < 8; k++)
    total += parts[k];
  return total;
}
__global__ void block_layer_norm(const float *x, const float *scale, const float *shift, float epsilon, float *out,
                                 int rows, int width) {
  __shared__ float parts[8];
  INDEX row = blockIdx.x;
  float s = 0;
  for (INDEX k = threadIdx.x; k < width; k += blockDim.x)
    s += x[row * width + k];
  float mean = block_total(s, parts) / width;
  s = 0;
  for (INDEX k = threadIdx.x; k < width; k += blockDim.x) {
    float d = x[row * width + k] - mean;
    s += d * d;
  }
  float inverse = 1 / sqrtf(block_total(s, parts) / width + epsilon);
  for (INDEX k = threadIdx.x; k < width; k += blockDim.x)
    out[row * width + k] = (x[row * width + k] - mean) * inverse * scale[k] + shift[k];
}
""",
    """
void block_layer_norm(const float *x, const float *scale, const float *shift, float epsilon, float *out, int rows, int width) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    const float *line = x + (long)row * width;
    float s = 0;
    for (int k = 0; k < width; k++)
      s += line[k];
    float mean = s / width;
    s = 0;
    for (int k = 0; k < width; k++)
      s += (line[k] - mean) * (line[k] - mean);
    float inverse = 1 / sqrtf(s / width + epsilon);
    for (int k = 0; k < width; k++)
      out[row * width + k] = (line[k] - mean) * inverse * scale[k] + shift[k];
  }
}
""",
)

KERNELS = [
    Kernel(
        "row sums, warp a row", warp_row_sums, "float32[:,::1], float32[::1]", 256, sums_problem,
        gpu=200_003, host=50_021, test=101, sweep=LINE, widths=WIDTHS, **SUMS,
    ),
    Kernel(
        "row maxima, 8 lanes a row", narrow_row_max, "float64[:,::1], float64[::1]", 256, max_problem,
        gpu=1_000_003, host=322_811, test=101, sweep=LINE, widths=WIDTHS, **LARGEST,
    ),
    Kernel(
        "row argmin, warp a row", warp_argmin, "float32[:,::1], int32[::1]", 128, warp_argmin_problem,
        gpu=200_003, host=30_011, test=101, sweep=LINE, widths=WIDTHS, **WARP_LEAST,
    ),
    Kernel(
        "row argmin, block a row", block_argmin, "float64[:,::1], int64[::1]", BLOCK, block_argmin_problem,
        gpu=20_011, host=3001, test=31, kind="shared", widths=WIDTHS, **BLOCK_LEAST,
    ),
    Kernel(
        "softmax, warp a row", warp_softmax, "float32[:,::1], float32[:,::1]", 256, softmax_problem,
        gpu=200_003, host=20_011, test=101, sweep=LINE, widths=WIDTHS, **SOFTMAX,
    ),
    Kernel(
        "layer norm, block a row", block_layer_norm, "float32[:,::1], float32[::1], float32[::1], float32, float32[:,::1]",
        BLOCK, norm_problem, gpu=30_011, host=7717, test=31, kind="shared", widths=WIDTHS, **NORM,
    ),
]  # fmt: skip
