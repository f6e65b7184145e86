"""Small problems in batches, one block each: a 256-point FFT, a bitonic sort of 512, a row of attention."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled, tree
from pyptx import cuda, complex64, float32

POINTS, HALF = 256, 128
SORTED = 512
KEYS, DEPTH, ATTENTION_THREADS = 1024, 64, 128
SCALE = 1.0 / math.sqrt(DEPTH)


def fft(x, w, out):
    """Stockham's radix-2 transform of each row; w[k] = exp(-2 pi i k / POINTS)."""
    tile = cuda.shared.array((2, POINTS), complex64)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    now = 0
    tile[now, t] = x[row, t]
    tile[now, t + HALF] = x[row, t + HALF]
    cuda.syncthreads()
    step = 1
    while step < POINTS:
        q = t & (step - 1)
        a = tile[now, t]
        b = tile[now, t + HALF]
        now = 1 - now
        tile[now, 2 * t - q] = a + b
        tile[now, 2 * t - q + step] = (a - b) * w[t - q]
        cuda.syncthreads()
        step *= 2
    out[row, t] = tile[now, t]
    out[row, t + HALF] = tile[now, t + HALF]


def bitonic(x, out):
    tile = cuda.shared.array(SORTED, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    tile[t] = x[row, t]
    cuda.syncthreads()
    length = 2
    while length <= SORTED:
        j = length // 2
        while j > 0:
            other = t ^ j
            if other > t:
                a, b = tile[t], tile[other]
                if (a > b) == ((t & length) == 0):
                    tile[t] = b
                    tile[other] = a
            cuda.syncthreads()
            j //= 2
        length *= 2
    out[row, t] = tile[t]


def attention(q, k, v, out):
    """out[h, r] = softmax(q[h, r] . k[h, :] / sqrt(DEPTH)) @ v[h]; a block makes one row."""
    query = cuda.shared.array(DEPTH, float32)
    scores = cuda.shared.array(KEYS, float32)
    partial = cuda.shared.array(ATTENTION_THREADS, float32)
    row, head = cuda.blockIdx.x, cuda.blockIdx.y
    t = cuda.threadIdx.x
    if t < DEPTH:
        query[t] = q[head, row, t]
    cuda.syncthreads()
    largest = float32(-1e30)
    for j in range(t, KEYS, ATTENTION_THREADS):
        score = float32(0.0)
        for c in range(DEPTH):
            score += query[c] * k[head, j, c]
        score *= float32(SCALE)
        scores[j] = score
        largest = max(largest, score)
    partial[t] = largest
    cuda.syncthreads()
    half = ATTENTION_THREADS // 2
    while half > 0:
        if t < half:
            partial[t] = max(partial[t], partial[t + half])
        cuda.syncthreads()
        half //= 2
    largest = partial[0]
    cuda.syncthreads()
    total = float32(0.0)
    for j in range(t, KEYS, ATTENTION_THREADS):
        e = math.exp(scores[j] - largest)
        scores[j] = e
        total += e
    partial[t] = total
    cuda.syncthreads()
    half = ATTENTION_THREADS // 2
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    total = partial[0]
    cuda.syncthreads()
    acc = float32(0.0)
    c = t % DEPTH
    for j in range(t // DEPTH, KEYS, ATTENTION_THREADS // DEPTH):
        acc += scores[j] * v[head, j, c]
    partial[t] = acc
    cuda.syncthreads()
    if t < DEPTH:
        out[head, row, t] = (partial[t] + partial[t + DEPTH]) / total


def fft_problem(rng, rows):
    x = (rng.standard_normal((rows, POINTS)) + 1j * rng.standard_normal((rows, POINTS))).astype(np.complex64)
    w = np.exp(-2j * np.pi * np.arange(POINTS) / POINTS).astype(np.complex64)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 1024)
        exact = np.fft.fft(x[some].astype(np.complex128), axis=1)
        # Higham, Accuracy and Stability, theorem 24.2: |error|_2 <= log2(n) eta |y|_2 with
        # eta = mu + gamma_4 (sqrt(2) + mu) and mu the error of the table, here half an eps of a part:
        # below 7 u = 3.5 eps. An element's error is at most the norm of all.
        norm = np.sqrt((np.abs(exact) ** 2).sum(axis=1, keepdims=True))
        return [(some, exact, tree(POINTS) * 3.5 * EPS32 * norm)]

    stages = tree(POINTS)
    return Problem(
        (x, w, np.zeros_like(x)), (rows,), (2,), expected, grid=rows, bytes=16 * rows * POINTS,
        flops=5 * stages * POINTS * rows,
    )  # fmt: skip


def bitonic_problem(rng, rows):
    x = rng.random((rows, SORTED), np.float32)
    return Problem(
        (x, np.zeros_like(x)), (rows,), (1,), lambda: [(np.s_[:], np.sort(x, axis=1), 0)], grid=rows,
        bytes=8 * rows * SORTED, flops=rows * SORTED * tree(SORTED) * (tree(SORTED) + 1) / 4,
    )  # fmt: skip


def attention_problem(rng, heads):
    shape = (heads, KEYS, DEPTH)
    q, k, v = (rng.standard_normal(shape, np.float32) for _ in range(3))

    def expected():
        rows = sampled(np.random.default_rng(0), KEYS, 64)
        q64, k64, v64 = q[:, rows].astype(np.float64), k.astype(np.float64), v.astype(np.float64)
        scores = q64 @ k64.transpose(0, 2, 1) * SCALE
        magnitude = (np.abs(q64) @ np.abs(k64).transpose(0, 2, 1) * SCALE).max(axis=2, keepdims=True)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        # A score is off by DEPTH + 2 roundings of its magnitude, the shift by one of twice that; exp makes it
        # relative, for the element and for the sum, and adds 2 eps. Then two sums of KEYS positive terms, a quotient.
        relative = 2 * EPS32 * ((DEPTH + 4) / 2 * magnitude + 2) + (2 * KEYS + 2) * EPS32 / 2
        return [(np.s_[:, rows], weights @ v64, relative * (weights @ np.abs(v64)))]

    return Problem(
        (q, k, v, np.zeros(shape, np.float32)), (heads,), (3,), expected, grid=(KEYS, heads),
        bytes=16 * heads * KEYS * DEPTH, flops=heads * KEYS * KEYS * (4 * DEPTH + 4),
    )  # fmt: skip


KERNELS = [
    Kernel(
        "FFT of 256 points", fft, "complex64[:,::1], complex64[::1], complex64[:,::1]", HALF, fft_problem,
        gpu=1 << 16, host=1 << 12, test=4, kind="shared",
        cuda="""
__global__ void fft(const float2 *x, const float2 *w, float2 *out, int rows) {
  __shared__ float2 tile[2][256];
  int row = blockIdx.x, t = threadIdx.x, now = 0;
  tile[now][t] = x[row * 256 + t];
  tile[now][t + 128] = x[row * 256 + t + 128];
  __syncthreads();
  for (int step = 1; step < 256; step *= 2) {
    int q = t & (step - 1);
    float2 a = tile[now][t], b = tile[now][t + 128], f = w[t - q];
    float2 d = make_float2(a.x - b.x, a.y - b.y);
    now = 1 - now;
    tile[now][2 * t - q] = make_float2(a.x + b.x, a.y + b.y);
    tile[now][2 * t - q + step] = make_float2(d.x * f.x - d.y * f.y, d.x * f.y + d.y * f.x);
    __syncthreads();
  }
  out[row * 256 + t] = tile[now][t];
  out[row * 256 + t + 128] = tile[now][t + 128];
}
""",
        openmp="""
typedef struct { float x, y; } fft_complex;
void fft(const fft_complex *x, const fft_complex *w, fft_complex *out, int rows) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    fft_complex tile[2][256];
    int now = 0;
    for (int t = 0; t < 256; t++)
      tile[now][t] = x[row * 256 + t];
    for (int step = 1; step < 256; step *= 2) {
      for (int p = 0; p < 128; p += step)
        for (int q = 0; q < step; q++) {
          fft_complex a = tile[now][p + q], b = tile[now][p + q + 128], f = w[p];
          fft_complex d = {a.x - b.x, a.y - b.y};
          tile[1 - now][2 * p + q] = (fft_complex){a.x + b.x, a.y + b.y};
          tile[1 - now][2 * p + q + step] = (fft_complex){d.x * f.x - d.y * f.y, d.x * f.y + d.y * f.x};
        }
      now = 1 - now;
    }
    for (int t = 0; t < 256; t++)
      out[row * 256 + t] = tile[now][t];
  }
}
""",
        peers={"cupy": lambda cupy, x, w, out: lambda: cupy.fft.fft(x, axis=1)},
    ),
    Kernel(
        "bitonic sort of 512", bitonic, "float32[:,::1], float32[:,::1]", SORTED, bitonic_problem,
        gpu=1 << 15, host=1 << 11, test=3, kind="shared",
        cuda="""
__global__ void bitonic(const float *x, float *out, int rows) {
  __shared__ float tile[512];
  int row = blockIdx.x, t = threadIdx.x;
  tile[t] = x[row * 512 + t];
  __syncthreads();
  for (int length = 2; length <= 512; length *= 2)
    for (int j = length / 2; j > 0; j /= 2) {
      int other = t ^ j;
      if (other > t) {
        float a = tile[t], b = tile[other];
        if ((a > b) == ((t & length) == 0)) {
          tile[t] = b;
          tile[other] = a;
        }
      }
      __syncthreads();
    }
  out[row * 512 + t] = tile[t];
}
""",
        openmp="""
void bitonic(const float *x, float *out, int rows) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    float tile[512];
    for (int t = 0; t < 512; t++)
      tile[t] = x[row * 512 + t];
    for (int length = 2; length <= 512; length *= 2)
      for (int j = length / 2; j > 0; j /= 2)
        for (int t = 0; t < 512; t++) {
          int other = t ^ j;
          if (other > t) {
            float a = tile[t], b = tile[other];
            if ((a > b) == ((t & length) == 0)) {
              tile[t] = b;
              tile[other] = a;
            }
          }
        }
    for (int t = 0; t < 512; t++)
      out[row * 512 + t] = tile[t];
  }
}
""",
        peers={"cupy": lambda cupy, x, out: lambda: cupy.sort(x, axis=1)},
    ),
    Kernel(
        "attention row", attention, "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32[:,:,::1]",
        ATTENTION_THREADS, attention_problem, gpu=32, host=1, test=1, kind="shared",
        cuda="""
__global__ void attention(const float *q, const float *k, const float *v, float *out, int heads) {
  __shared__ float query[64], scores[1024], partial[128];
  int row = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  if (t < 64)
    query[t] = q[(head * 1024 + row) * 64 + t];
  __syncthreads();
  float largest = -1e30f;
  for (int j = t; j < 1024; j += 128) {
    float score = 0;
    for (int c = 0; c < 64; c++)
      score += query[c] * k[(head * 1024 + j) * 64 + c];
    score *= 0.125f;
    scores[j] = score;
    largest = fmaxf(largest, score);
  }
  partial[t] = largest;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      partial[t] = fmaxf(partial[t], partial[t + half]);
    __syncthreads();
  }
  largest = partial[0];
  __syncthreads();
  float total = 0;
  for (int j = t; j < 1024; j += 128) {
    float e = expf(scores[j] - largest);
    scores[j] = e;
    total += e;
  }
  partial[t] = total;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half)
      partial[t] += partial[t + half];
    __syncthreads();
  }
  total = partial[0];
  __syncthreads();
  float acc = 0;
  int c = t % 64;
  for (int j = t / 64; j < 1024; j += 2)
    acc += scores[j] * v[(head * 1024 + j) * 64 + c];
  partial[t] = acc;
  __syncthreads();
  if (t < 64)
    out[(head * 1024 + row) * 64 + t] = (partial[t] + partial[t + 64]) / total;
}
""",
        openmp="""
void attention(const float *q, const float *k, const float *v, float *out, int heads) {
#pragma omp parallel for collapse(2)
  for (int head = 0; head < heads; head++)
    for (int row = 0; row < 1024; row++) {
      float scores[1024], largest = -1e30f, total = 0;
      const float *query = q + (head * 1024 + row) * 64;
      float *to = out + (head * 1024 + row) * 64;
      for (int j = 0; j < 1024; j++) {
        float score = 0;
        for (int c = 0; c < 64; c++)
          score += query[c] * k[(head * 1024 + j) * 64 + c];
        scores[j] = score * 0.125f;
        largest = scores[j] > largest ? scores[j] : largest;
      }
      for (int c = 0; c < 64; c++)
        to[c] = 0;
      for (int j = 0; j < 1024; j++) {
        float e = expf(scores[j] - largest);
        total += e;
        for (int c = 0; c < 64; c++)
          to[c] += e * v[(head * 1024 + j) * 64 + c];
      }
      for (int c = 0; c < 64; c++)
        to[c] /= total;
    }
}
""",
    ),
]  # fmt: skip
