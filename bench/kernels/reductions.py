"""Blocks that work together through shared memory: sum, histogram, softmax and scan of rows."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled, sum_bound, tree
from pyptx import cuda, float32, int32

THREADS, BINS, SOFTMAX_THREADS, SCAN = 256, 256, 128, 512


def block_sum(x, total):
    partial = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    acc = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        acc += x[i]
    partial[t] = acc
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(total, 0, partial[0])


def histogram(data, counts):
    local = cuda.shared.array(BINS, int32)
    for b in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        local[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(local, data[i], 1)
    cuda.syncthreads()
    for b in range(cuda.threadIdx.x, BINS, cuda.blockDim.x):
        cuda.atomic.add(counts, b, local[b])


def softmax(x, out):
    shared = cuda.shared.array(SOFTMAX_THREADS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    largest = x[row, 0]
    for c in range(t, x.shape[1], SOFTMAX_THREADS):
        largest = max(largest, x[row, c])
    shared[t] = largest
    cuda.syncthreads()
    half = SOFTMAX_THREADS // 2
    while half > 0:
        if t < half:
            shared[t] = max(shared[t], shared[t + half])
        cuda.syncthreads()
        half //= 2
    largest = shared[0]
    cuda.syncthreads()
    total = 0.0
    for c in range(t, x.shape[1], SOFTMAX_THREADS):
        e = math.exp(x[row, c] - largest)
        out[row, c] = e
        total += e
    shared[t] = total
    cuda.syncthreads()
    half = SOFTMAX_THREADS // 2
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        cuda.syncthreads()
        half //= 2
    scale = 1.0 / shared[0]
    for c in range(t, x.shape[1], SOFTMAX_THREADS):
        out[row, c] *= scale


def scan(x, out):
    tile = cuda.shared.array((2, SCAN), float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    now = 0
    tile[now, t] = x[row, t]
    cuda.syncthreads()
    step = 1
    while step < SCAN:
        value = tile[now, t]
        if t >= step:
            value += tile[now, t - step]
        now = 1 - now
        tile[now, t] = value
        cuda.syncthreads()
        step *= 2
    out[row, t] = tile[now, t]


def blocks_for(n):
    return max(1, min(1024, n // THREADS))


def sum_problem(rng, n):
    x, blocks = rng.random(n, np.float32), blocks_for(n)

    def expected():
        # An element takes part in the additions of its thread, of the tree and of the atomics; in the C loop, in n.
        exact = x.sum(dtype=np.float64, keepdims=True)
        return [(np.s_[:], exact, sum_bound(-(-n // (blocks * THREADS)) + tree(THREADS) + blocks, exact))]

    return Problem(
        (x, np.zeros(1, np.float32)), (n,), (1,), expected, grid=blocks, bytes=4 * n, flops=n, sequential=n / 1024
    )


def histogram_problem(rng, n):
    data = rng.binomial(255, 0.4, min(n, 1 << 20)).astype(np.uint8)
    data = np.resize(data, n)
    return Problem(
        (data, np.zeros(BINS, np.int32)), (n,), (1,), lambda: [(np.s_[:], np.bincount(data, minlength=BINS), 0)],
        grid=blocks_for(n), bytes=n, flops=n,
    )  # fmt: skip


def softmax_problem(rng, rows):
    cols = 1024
    x = 3 * rng.standard_normal((rows, cols), np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 512)
        v = x[some].astype(np.float64)
        shifted = v - v.max(axis=1, keepdims=True)
        exact = np.exp(shifted)
        exact /= exact.sum(axis=1, keepdims=True)
        # Relative, in eps: the difference is rounded (exp turns half an eps of it into a relative error, for the
        # element and for the sum), exp is within 2 each time, a division, a product; then the sum's additions.
        additions = cols / SOFTMAX_THREADS + tree(SOFTMAX_THREADS)
        bound = EPS32 * (np.abs(shifted).max(axis=1, keepdims=True) + 5 + additions / 2) * exact
        return [(some, exact, bound)]

    return Problem(
        (x, np.zeros_like(x)), (rows, cols), (1,), expected, grid=rows, bytes=8 * rows * cols, flops=4 * rows * cols,
        sequential=1 + cols / 2 / 30,
    )  # fmt: skip


def scan_problem(rng, rows):
    x = rng.random((rows, SCAN), np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 4096)
        exact = x[some].cumsum(axis=1, dtype=np.float64)
        return [(some, exact, sum_bound(tree(SCAN), exact))]

    return Problem(
        (x, np.zeros_like(x)), (rows, SCAN), (1,), expected, grid=rows, bytes=8 * rows * SCAN, flops=rows * SCAN,
        sequential=SCAN / tree(SCAN),
    )  # fmt: skip


KERNELS = [
    Kernel(
        "block sum", block_sum, "float32[::1], float32[::1]", THREADS, sum_problem,
        gpu=1 << 26, host=1 << 24, test=10000, kind="shared",
        cuda="""
__global__ void block_sum(const float *x, float *total, int n) {
  __shared__ float partial[256];
  int t = threadIdx.x;
  float acc = 0;
  for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
    acc += x[i];
  partial[t] = acc;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half)
      partial[t] += partial[t + half];
    __syncthreads();
  }
  if (t == 0)
    atomicAdd(total, partial[0]);
}
""",
        openmp="""
void block_sum(const float *x, float *total, int n) {
  float acc = 0;
#pragma omp parallel for reduction(+ : acc)
  for (int i = 0; i < n; i++)
    acc += x[i];
  *total += acc;
}
""",
        peers={"cupy": lambda cupy, x, total: lambda: cupy.sum(x, keepdims=True)},
    ),
    Kernel(
        "histogram", histogram, "uint8[::1], int32[::1]", 256, histogram_problem,
        gpu=1 << 26, host=1 << 24, test=10000, kind="shared",
        cuda="""
__global__ void histogram(const unsigned char *data, int *counts, int n) {
  __shared__ int local[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[data[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x)
    atomicAdd(&counts[b], local[b]);
}
""",
        openmp="""
void histogram(const unsigned char *data, int *counts, int n) {
#pragma omp parallel for reduction(+ : counts[ : 256])
  for (int i = 0; i < n; i++)
    counts[data[i]]++;
}
""",
    ),
    Kernel(
        "softmax of rows", softmax, "float32[:,::1], float32[:,::1]", SOFTMAX_THREADS, softmax_problem,
        gpu=16384, host=4096, test=9, kind="shared",
        cuda="""
__global__ void softmax(const float *x, float *out, int rows, int cols) {
  __shared__ float shared[128];
  int row = blockIdx.x, t = threadIdx.x;
  float largest = x[row * cols];
  for (int c = t; c < cols; c += 128)
    largest = fmaxf(largest, x[row * cols + c]);
  shared[t] = largest;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      shared[t] = fmaxf(shared[t], shared[t + half]);
    __syncthreads();
  }
  largest = shared[0];
  __syncthreads();
  float total = 0;
  for (int c = t; c < cols; c += 128) {
    float e = expf(x[row * cols + c] - largest);
    out[row * cols + c] = e;
    total += e;
  }
  shared[t] = total;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      shared[t] += shared[t + half];
    __syncthreads();
  }
  float scale = 1.0f / shared[0];
  for (int c = t; c < cols; c += 128)
    out[row * cols + c] *= scale;
}
""",
        openmp="""
void softmax(const float *x, float *out, int rows, int cols) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++) {
    const float *from = x + r * cols;
    float *to = out + r * cols;
    float largest = from[0], total = 0;
    for (int c = 0; c < cols; c++)
      largest = from[c] > largest ? from[c] : largest;
    for (int c = 0; c < cols; c++) {
      to[c] = expf(from[c] - largest);
      total += to[c];
    }
    float scale = 1.0f / total;
    for (int c = 0; c < cols; c++)
      to[c] *= scale;
  }
}
""",
        peers={"triton": lambda triton, x, out: triton.softmax(x, out)},
    ),
    Kernel(
        "scan of rows", scan, "float32[:,::1], float32[:,::1]", SCAN, scan_problem,
        gpu=1 << 17, host=1 << 14, test=5, kind="shared",
        cuda="""
__global__ void scan(const float *x, float *out, int rows, int cols) {
  __shared__ float tile[2][512];
  int row = blockIdx.x, t = threadIdx.x, now = 0;
  tile[now][t] = x[row * cols + t];
  __syncthreads();
  for (int step = 1; step < 512; step *= 2) {
    float value = tile[now][t];
    if (t >= step)
      value += tile[now][t - step];
    now = 1 - now;
    tile[now][t] = value;
    __syncthreads();
  }
  out[row * cols + t] = tile[now][t];
}
""",
        openmp="""
void scan(const float *x, float *out, int rows, int cols) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++) {
    float total = 0;
    for (int c = 0; c < cols; c++) {
      total += x[r * cols + c];
      out[r * cols + c] = total;
    }
  }
}
""",
        peers={"cupy": lambda cupy, x, out: lambda: cupy.cumsum(x, axis=1, out=out)},
    ),
]  # fmt: skip
