"""Means and variances in one pass, after Welford, merged as by Chan, Golub and LeVeque: a thread, a
warp or a block takes a row.
"""

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, WIDTHS, Kernel, Problem, tree
from kernels.texts import indexed
from pyptx import cuda, float32

FULL = 0xFFFFFFFF
BLOCK = 128


def moments_thread(x, means, variances):
    """A thread for each row."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        mean = np.float32(0)
        m2 = np.float32(0)
        for k in range(x.shape[1]):
            value = x[row, k]
            delta = value - mean
            mean += delta / (k + 1)
            m2 += delta * (value - mean)
        means[row] = mean
        variances[row] = m2 / x.shape[1]


def moments_warp(x, means, variances):
    """A warp for each row, float64; the lanes' counts, means and sums are merged by shuffles."""
    row = cuda.grid(1) // 32
    if row >= x.shape[0]:
        return
    count = 0
    mean = 0.0
    m2 = 0.0
    for k in range(cuda.laneid, x.shape[1], 32):
        count += 1
        delta = x[row, k] - mean
        mean += delta / count
        m2 += delta * (x[row, k] - mean)
    for step in (16, 8, 4, 2, 1):
        other_count = cuda.shfl_xor_sync(FULL, count, step)
        other_mean = cuda.shfl_xor_sync(FULL, mean, step)
        other_m2 = cuda.shfl_xor_sync(FULL, m2, step)
        both = count + other_count
        if both > 0:
            delta = other_mean - mean
            m2 += other_m2 + delta * delta * count * other_count / both
            mean = (count * mean + other_count * other_mean) / both
        count = both
    if cuda.laneid == 0:
        means[row] = mean
        variances[row] = m2 / x.shape[1]


def moments_block(x, means, variances):
    """A block for each row; counts are float32, merged in shared memory."""
    counts = cuda.shared.array(BLOCK, float32)
    centres = cuda.shared.array(BLOCK, float32)
    squares = cuda.shared.array(BLOCK, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    count = np.float32(0)
    mean = np.float32(0)
    m2 = np.float32(0)
    for k in range(t, x.shape[1], cuda.blockDim.x):
        value = x[row, k]
        count += 1
        delta = value - mean
        mean += delta / count
        m2 += delta * (value - mean)
    counts[t] = count
    centres[t] = mean
    squares[t] = m2
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            n = counts[t] + counts[t + half]
            if n > 0:
                delta = centres[t + half] - centres[t]
                share = counts[t + half] / n
                squares[t] += squares[t + half] + delta * delta * counts[t] * share
                centres[t] += delta * share
                counts[t] = n
        cuda.syncthreads()
        half //= 2
    if t == 0:
        means[row] = centres[0]
        variances[row] = squares[0] / x.shape[1]


def moments(dtype, lanes):
    """problem(rng, n, width): n rows that so many lanes take, of numbers around 2."""
    eps = EPS32 if dtype is np.float32 else EPS64

    def problem(rng, n, width=523):
        x = rng.normal(2, 1, (n, width)).astype(dtype)

        def expected():
            exact = x.astype(np.float64)
            # A turn rounds thrice numbers up to 7 at a weight of 1 / count; the lanes' merges come after.
            turns = 3 * (np.log(width / min(lanes, width) + 1) + 1) + 4 * tree(lanes) + 4
            means, variances = exact.mean(axis=1), exact.var(axis=1)
            rounds = width / min(lanes, width) + 4 * tree(lanes) + 8
            return [
                (np.s_[:], means, turns * eps * 7),
                (np.s_[:], variances, 2 * rounds * eps * (variances + 1) + 14 * turns * eps),
            ]

        where = {"grid": n} if lanes == BLOCK else {"threads": lanes * n}
        return Problem(
            (x, np.zeros(n, dtype), np.zeros(n, dtype)), (n, width), (1, 2), expected, bytes=x.nbytes, flops=5 * x.size,
            sequential=width, **where,
        )  # fmt: skip

    return problem


LOOP = """
void NAME(const TYPE *x, TYPE *means, TYPE *variances, int rows, int cols) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    TYPE mean = 0, m2 = 0;
    for (int k = 0; k < cols; k++) {
      TYPE value = x[(long)row * cols + k], delta = value - mean;
      mean += delta / (k + 1);
      m2 += delta * (value - mean);
    }
    means[row] = mean;
    variances[row] = m2 / cols;
  }
}
"""

THREAD = indexed(
    """
__global__ void moments_thread(const float *x, float *means, float *variances, int rows, int cols) {
  INDEX row = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (row < rows) {
    float mean = 0, m2 = 0;
    for (INDEX k = 0; k < cols; k++) {
      float value = x[row * cols + k];
      float delta = value - mean;
      mean += delta / (k + 1);
      m2 += delta * (value - mean);
    }
    means[row] = mean;
    variances[row] = m2 / cols;
  }
}
""",
    LOOP.replace("NAME", "moments_thread").replace("TYPE", "float"),
)

WARP = indexed(
    """
__global__ void moments_warp(const double *x, double *means, double *variances, int rows, int cols) {
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows)
    return;
  INDEX count = 0;
  double mean = 0, m2 = 0;
  for (INDEX k = lane; k < cols; k += 32) {
    count++;
    double delta = x[row * cols + k] - mean;
    mean += delta / count;
    m2 += delta * (x[row * cols + k] - mean);
  }
  for (int step = 16; step > 0; step /= 2) {
    INDEX other_count = __shfl_xor_sync(0xffffffff, count, step);
    double other_mean = __shfl_xor_sync(0xffffffff, mean, step);
    double other_m2 = __shfl_xor_sync(0xffffffff, m2, step);
    INDEX both = count + other_count;
    if (both > 0) {
      double delta = other_mean - mean;
      m2 += other_m2 + delta * delta * count * other_count / both;
      mean = (count * mean + other_count * other_mean) / both;
    }
    count = both;
  }
  if (lane == 0) {
    means[row] = mean;
    variances[row] = m2 / cols;
  }
}
""",
    LOOP.replace("NAME", "moments_warp").replace("TYPE", "double"),
)

WHOLE = indexed(
    """
__global__ void moments_block(const float *x, float *means, float *variances, int rows, int cols) {
  __shared__ float counts[128], centres[128], squares[128];
  INDEX row = blockIdx.x;
  int t = threadIdx.x;
  float count = 0, mean = 0, m2 = 0;
  for (INDEX k = t; k < cols; k += blockDim.x) {
    float value = x[row * cols + k];
    count += 1;
    float delta = value - mean;
    mean += delta / count;
    m2 += delta * (value - mean);
  }
  counts[t] = count;
  centres[t] = mean;
  squares[t] = m2;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) {
      float n = counts[t] + counts[t + half];
      if (n > 0) {
        float delta = centres[t + half] - centres[t];
        float share = counts[t + half] / n;
        squares[t] += squares[t + half] + delta * delta * counts[t] * share;
        centres[t] += delta * share;
        counts[t] = n;
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    means[row] = centres[0];
    variances[row] = squares[0] / cols;
  }
}
""",
    LOOP.replace("NAME", "moments_block").replace("TYPE", "float"),
)

KERNELS = [
    Kernel(
        "mean and variance, thread a row", moments_thread, "float32[:,::1], float32[::1], float32[::1]", 128,
        moments(np.float32, 1), gpu=100_003, host=20_011, test=101, sweep=LINE, **THREAD,
    ),
    Kernel(
        "mean and variance, warp a row", moments_warp, "float64[:,::1], float64[::1], float64[::1]", 256,
        moments(np.float64, 32), gpu=60_013, host=20_011, test=101, sweep=LINE, widths=WIDTHS, **WARP,
    ),
    Kernel(
        "mean and variance, block a row", moments_block, "float32[:,::1], float32[::1], float32[::1]", BLOCK,
        moments(np.float32, BLOCK), gpu=60_013, host=20_011, test=31, kind="shared", widths=WIDTHS, **WHOLE,
    ),
]  # fmt: skip
