"""Machine learning: products of bytes, the k-th largest, coded vectors, fused layers, rows of different lengths."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32, int8, int32, uint32


def requantised_product(a, b, bias, scales, out):
    """A product of matrices of bytes by tiles in shared memory, added in int32, scaled per column and rounded to
    bytes.
    """
    left = cuda.shared.array((16, 16), int8)
    right = cuda.shared.array((16, 16), int8)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    rows, inner = a.shape
    cols = b.shape[1]
    total = 0
    for begin in range(0, inner, 16):
        left[y, x] = a[row, begin + x] if row < rows and begin + x < inner else int8(0)
        right[y, x] = b[begin + y, col] if begin + y < inner and col < cols else int8(0)
        cuda.syncthreads()
        for k in range(16):
            total += int(left[y, k]) * int(right[k, x])
        cuda.syncthreads()
    if row < rows and col < cols:
        value = float32(total + int(bias[col])) * scales[col]
        out[row, col] = min(max(round(value), -128), 127)


def kth_largest(scores, k, thresholds, above):
    """The k-th largest score of each row by digits of 8 bits, from the highest on; a block a row."""
    counts = cuda.shared.array(256, int32)
    state = cuda.shared.array(2, int32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    prefix = uint32(0)
    left = k
    for digit in range(3, -1, -1):
        for d in range(t, 256, cuda.blockDim.x):
            counts[d] = 0
        cuda.syncthreads()
        for i in range(t, scores.shape[1], cuda.blockDim.x):
            key = uint32(scores[row, i]) ^ uint32(0x80000000)
            if digit == 3 or key >> (8 * digit + 8) == prefix:
                cuda.atomic.add(counts, int(key >> 8 * digit & 255), 1)
        cuda.syncthreads()
        if t == 0:
            d = 255
            rest = left
            while d > 0 and counts[d] < rest:
                rest -= int(counts[d])
                d -= 1
            state[0] = d
            state[1] = rest
        cuda.syncthreads()
        prefix = prefix << 8 | uint32(state[0])
        left = int(state[1])
    if t == 0:
        thresholds[row] = int32(prefix ^ uint32(0x80000000))
        above[row] = k - left


def coded_distances(codes, tables, distances):
    """Product quantisation: distances of coded vectors from a query are sums of entries of its tables; a query a
    block's row.
    """
    table = cuda.shared.array((16, 256), float32)
    query = cuda.blockIdx.y
    t = cuda.threadIdx.x
    parts = codes.shape[1]
    for k in range(t, parts * 256, cuda.blockDim.x):
        table[k // 256, k % 256] = tables[query, k // 256, k % 256]
    cuda.syncthreads()
    for i in range(cuda.blockIdx.x * cuda.blockDim.x + t, codes.shape[0], cuda.gridDim.x * cuda.blockDim.x):
        total = float32(0)
        for p in range(parts):
            total += table[p, codes[i, p]]
        distances[query, i] = total


def bias_gelu_dropout(x, bias, residual, keep, seed, out):
    """A layer's end in one: bias, GELU, dropout by a hash of the place, and what goes past the layer."""
    col, row = cuda.grid(2)
    if row >= x.shape[0] or col >= x.shape[1]:
        return
    v = x[row, col] + bias[col]
    v = float32(0.5) * v * (1 + math.erf(v * float32(0.70710678)))
    h = uint32(row * x.shape[1] + col) ^ uint32(seed)
    h = (h ^ h >> 16) * uint32(0x85EBCA6B)
    h = (h ^ h >> 13) * uint32(0xC2B2AE35)
    h ^= h >> 16
    v = v / keep if float32(h >> 8) < keep * 16777216 else float32(0)
    out[row, col] = residual[row, col] + v


def padded_rows(values, starts, filler, out, mask):
    """Ragged rows made a rectangle: what is too long loses its beginning, what is short is filled on the left."""
    col, row = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    begin = int(starts[row])
    size = min(int(starts[row + 1]) - begin, out.shape[1])
    k = col - (out.shape[1] - size)
    if k < 0:
        out[row, col] = filler
        mask[row, col] = False
    else:
        out[row, col] = values[int(starts[row + 1]) - size + k]
        mask[row, col] = True


def ragged_log_means(scores, starts, temperature, means, peaks):
    """Logarithms of means of exponentials of rows of any length, in one pass: a warp a row, each lane with its own
    largest.
    """
    row = cuda.grid(1) // 32
    lane = cuda.grid(1) % 32
    if row >= means.size:
        return
    begin, end = int(starts[row]), int(starts[row + 1])
    top = float32(-math.inf)
    total = float32(0)
    for k in range(begin + lane, end, 32):
        v = scores[k] / temperature
        if v > top:
            total = total * math.exp(top - v) + 1
            top = v
        else:
            total += math.exp(v - top)
    step = 16
    while step > 0:
        other_top = cuda.shfl_xor_sync(0xFFFFFFFF, top, step)
        other_total = cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
        if other_total > 0:
            if total > 0:
                both = max(top, other_top)
                total = total * math.exp(top - both) + other_total * math.exp(other_top - both)
                top = both
            else:
                top = other_top
                total = other_total
        step //= 2
    if lane == 0:
        if end > begin:
            means[row] = top + math.log(total / float32(end - begin))
            peaks[row] = top
        else:
            means[row] = 0
            peaks[row] = 0


def product_problem(rng, n):
    rows, inner, cols = n, n + 13, n + 5
    a, b = rng.integers(-128, 128, (rows, inner), np.int8), rng.integers(-128, 128, (inner, cols), np.int8)
    bias = rng.integers(-5000, 5000, cols).astype(np.int32)
    scales = (2.0 ** -rng.integers(11, 14, cols)).astype(np.float32)  # products are exact

    def expected():
        at = sampled(rng, rows, 100)
        total = a[at].astype(float) @ b.astype(float) + bias
        return [(at, np.clip(np.rint(total * scales), -128, 127), 0)]

    args = (a, b, bias, scales, np.full((rows, cols), 99, np.int8))
    return Problem(
        args, (rows, inner, cols), (4,), expected, threads=(cols, rows), bytes=3.0 * n * n, flops=2.0 * rows * inner * cols,
    )  # fmt: skip


def largest_problem(rng, n):
    size, k = 5003, 77
    scores = (rng.standard_normal((n, size)) * 2.0 ** rng.integers(3, 29, (n, 1))).astype(np.int32)

    def expected():
        at = sampled(rng, n, 400)
        ordered = np.sort(scores[at], 1)
        threshold = ordered[:, size - k]
        return [(at, threshold, 0), (at, (scores[at] > threshold[:, None]).sum(1), 0)]

    args = (scores, k, np.zeros(n, np.int32), np.full(n, -1, np.int32))
    return Problem(args, (n, size), (2, 3), expected, grid=n, bytes=4.0 * n * size, flops=12.0 * n * size)


def coded_problem(rng, n):
    queries, parts = 23, 16
    codes = rng.integers(0, 256, (n, parts), np.uint8)
    tables = rng.random((queries, parts, 256), np.float32)

    def expected():
        at = sampled(rng, n, 5000)
        values = sum(tables[:, p].astype(float)[:, codes[at, p]] for p in range(parts))
        return [((slice(None), at), values, 16 * EPS32 * 16)]

    args = (codes, tables, np.full((queries, n), -1, np.float32))
    return Problem(
        args, (n, parts, queries), (2,), expected, grid=(max(1, min(120, n // 1024)), queries),
        bytes=16.0 * n + 4.0 * queries * n, flops=1.0 * queries * parts * n,
    )  # fmt: skip


def gelu_problem(rng, n):
    rows, cols, keep, seed = n, n + 9, np.float32(0.875), 2468
    x, residual = rng.standard_normal((2, rows, cols), np.float32)
    bias = rng.standard_normal(cols, np.float32)

    def expected():
        at = sampled(rng, rows, 200)
        u = np.uint32
        h = (at[:, None] * cols + np.arange(cols)).astype(u) ^ u(seed)
        h = (h ^ h >> u(16)) * u(0x85EBCA6B)
        h = (h ^ h >> u(13)) * u(0xC2B2AE35)
        h ^= h >> u(16)
        v = x[at].astype(float) + bias
        phi = np.vectorize(math.erf)(v * 0.7071067811865476)
        v = np.where((h >> u(8)) < 0.875 * 16777216, 0.5 * v * (1 + phi) / 0.875, 0)
        return [(at, residual[at] + v, 8 * EPS32 * (abs(v) + abs(residual[at]) + 1))]

    args = (x, bias, residual, keep, seed, np.full((rows, cols), 99, np.float32))
    return Problem(
        args, (rows, cols), (5,), expected, threads=(cols, rows), bytes=12.0 * rows * cols, flops=40.0 * rows * cols,
    )  # fmt: skip


def ragged(rng, n, most):
    starts = np.cumsum([0, *rng.integers(0, most, n)]).astype(np.int32)
    return starts, int(starts[-1])


def padding_problem(rng, n):
    width, filler = 173, np.float32(-1)
    starts, total = ragged(rng, n, 230)
    values = rng.random(total, np.float32)

    def expected():
        out, mask = np.full((n, width), filler), np.zeros((n, width), bool)
        for r in range(n):
            row = values[starts[r] : starts[r + 1]][-width:]
            if len(row):
                out[r, -len(row) :], mask[r, -len(row) :] = row, True
        return [(slice(None), out, 0), (slice(None), mask, 0)]

    args = (values, starts, filler, np.full((n, width), 99, np.float32), np.full((n, width), True))
    return Problem(args, (n, width), (3, 4), expected, threads=(width, n), bytes=4.0 * total + 5.0 * n * width)


def means_problem(rng, n):
    starts, total = ragged(rng, n, 400)
    scores = (5 * rng.standard_normal(total)).astype(np.float32)
    temperature = np.float32(0.7)

    def expected():
        at, means, peaks = sampled(rng, n, 3000), [], []
        for r in at:
            v = scores[starts[r] : starts[r + 1]].astype(float) / float(temperature)
            peaks.append(v.max() if v.size else 0)
            means.append(peaks[-1] + np.log(np.exp(v - peaks[-1]).mean()) if v.size else 0)
        peaks = np.array(peaks)
        return [(at, np.array(means), 64 * EPS32 + 8 * EPS32 * (abs(peaks) + 30)), (at, peaks, 2 * EPS32 * abs(peaks))]

    args = (scores, starts, temperature, np.full(n, 99, np.float32), np.full(n, 99, np.float32))
    return Problem(args, (n,), (3, 4), expected, threads=32 * n, bytes=4.0 * total + 12.0 * n, flops=20.0 * total)


PRODUCT_HEAD = """requantised_product(const signed char *__restrict__ a, const signed char *__restrict__ b,
                 const int *__restrict__ bias,
                         const float *__restrict__ scales, signed char *__restrict__ out, int rows, int inner, int cols)"""
PRODUCT_END = """
    float value = (float)(total + bias[col]) * scales[col];
    out[row * cols + col] = (signed char)fminf(fmaxf(rintf(value), -128), 127);
"""
PRODUCT = indexed(
    f"""
__global__ void {PRODUCT_HEAD} {{
  __shared__ signed char left[16][16], right[16][16];
  INDEX x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * (INDEX)blockDim.x + x, row = blockIdx.y * (INDEX)blockDim.y + y;
  int total = 0;
  for (INDEX begin = 0; begin < inner; begin += 16) {{
    left[y][x] = row < rows && begin + x < inner ? a[row * inner + begin + x] : 0;
    right[y][x] = begin + y < inner && col < cols ? b[(begin + y) * cols + col] : 0;
    __syncthreads();
    for (int k = 0; k < 16; k++)
      total += left[y][k] * right[k][x];
    __syncthreads();
  }}
  if (row < rows && col < cols) {{{PRODUCT_END}  }}
}}
""",
    f"""
void {PRODUCT_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++)
    for (INDEX col = 0; col < cols; col++) {{
      int total = 0;
      for (INDEX k = 0; k < inner; k++)
        total += a[row * inner + k] * b[k * cols + col];
{PRODUCT_END}    }}
}}
""",
)

LARGEST_HEAD = """kth_largest(const int *__restrict__ scores, int k, int *__restrict__ thresholds,
                 int *__restrict__ above, int n, int size)"""
LARGEST_DIGIT = """
      int d = 255, rest = left;
      while (d > 0 && counts[d] < rest) rest -= counts[d--];
"""
LARGEST = indexed(
    f"""
__global__ void {LARGEST_HEAD} {{
  __shared__ int counts[256], state[2];
  INDEX row = blockIdx.x;
  unsigned prefix = 0;
  int left = k;
  for (int digit = 3; digit >= 0; digit--) {{
    for (int d = threadIdx.x; d < 256; d += blockDim.x)
      counts[d] = 0;
    __syncthreads();
    for (INDEX i = threadIdx.x; i < size; i += blockDim.x) {{
      unsigned key = (unsigned)scores[row * size + i] ^ 0x80000000u;
      if (digit == 3 || key >> (8 * digit + 8) == prefix) atomicAdd(&counts[key >> 8 * digit & 255], 1);
    }}
    __syncthreads();
    if (threadIdx.x == 0) {{
{LARGEST_DIGIT}
      state[0] = d;
      state[1] = rest;
    }}
    __syncthreads();
    prefix = prefix << 8 | state[0];
    left = state[1];
  }}
  if (threadIdx.x == 0) {{
    thresholds[row] = (int)(prefix ^ 0x80000000u);
    above[row] = k - left;
  }}
}}
""",
    f"""
void {LARGEST_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < n; row++) {{
    unsigned prefix = 0;
    int left = k;
    for (int digit = 3; digit >= 0; digit--) {{
      int counts[256] = {{0}};
      for (INDEX i = 0; i < size; i++) {{
        unsigned key = (unsigned)scores[row * size + i] ^ 0x80000000u;
        if (digit == 3 || key >> (8 * digit + 8) == prefix) counts[key >> 8 * digit & 255]++;
      }}
{LARGEST_DIGIT}
      prefix = prefix << 8 | d;
      left = rest;
    }}
    thresholds[row] = (int)(prefix ^ 0x80000000u);
    above[row] = k - left;
  }}
}}
""",
)

CODED_HEAD = """coded_distances(const unsigned char *__restrict__ codes, const float *__restrict__ tables,
                 float *__restrict__ distances, int n, int parts, int queries)"""
CODED = indexed(
    f"""
__global__ void {CODED_HEAD} {{
  __shared__ float table[16][256];
  INDEX query = blockIdx.y, t = threadIdx.x;
  for (INDEX k = t; k < parts * 256; k += blockDim.x)
    table[k / 256][k % 256] = tables[query * parts * 256 + k];
  __syncthreads();
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + t; i < n; i += (INDEX)gridDim.x * blockDim.x) {{
    float total = 0;
    for (INDEX p = 0; p < parts; p++)
      total += table[p][codes[i * parts + p]];
    distances[query * n + i] = total;
  }}
}}
""",
    f"""
void {CODED_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX query = 0; query < queries; query++)
    for (INDEX i = 0; i < n; i++) {{
      float total = 0;
      for (INDEX p = 0; p < parts; p++)
        total += tables[(query * parts + p) * 256 + codes[i * parts + p]];
      distances[query * n + i] = total;
    }}
}}
""",
)

GELU = plane(
    """bias_gelu_dropout(const float *__restrict__ x, const float *__restrict__ bias, const float *__restrict__ residual,
                       float keep, int seed, float *__restrict__ out, int rows, int cols)""",
    """
    INDEX at = row * cols + col;
    float v = x[at] + bias[col];
    v = 0.5f * v * (1 + erff(v * 0.70710678f));
    unsigned h = (unsigned)at ^ (unsigned)seed;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    h ^= h >> 16;
    v = (float)(h >> 8) < keep * 16777216 ? v / keep : 0;
    out[at] = residual[at] + v;
""",
)

PADDING = plane(
    """padded_rows(const float *__restrict__ values, const int *__restrict__ starts, float filler, float *__restrict__ out,
                 bool *__restrict__ mask, int rows, int cols)""",
    """
    INDEX end = starts[row + 1], size = end - starts[row];
    if (size > cols) size = cols;
    INDEX k = col - (cols - size);
    out[row * cols + col] = k < 0 ? filler : values[end - size + k];
    mask[row * cols + col] = k >= 0;
""",
)
PADDING["openmp"] = PADDING["openmp"].replace("bool", "_Bool")

MEANS_HEAD = """ragged_log_means(const float *__restrict__ scores, const int *__restrict__ starts, float temperature,
                      float *__restrict__ means, float *__restrict__ peaks, int n)"""
MEANS_STEP = """
    float v = scores[k] / temperature;
    if (v > top) {
      total = total * expf(top - v) + 1;
      top = v;
    } else {
      total += expf(v - top);
    }
"""
MEANS = indexed(
    f"""
__global__ void {MEANS_HEAD} {{
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= n) return;
  INDEX begin = starts[row], end = starts[row + 1];
  float top = -INFINITY, total = 0;
  for (INDEX k = begin + lane; k < end; k += 32) {{{MEANS_STEP}  }}
  for (int step = 16; step > 0; step /= 2) {{
    float other_top = __shfl_xor_sync(0xffffffff, top, step), other_total = __shfl_xor_sync(0xffffffff, total, step);
    if (other_total > 0) {{
      if (total > 0) {{
        float both = fmaxf(top, other_top);
        total = total * expf(top - both) + other_total * expf(other_top - both);
        top = both;
      }} else {{
        top = other_top;
        total = other_total;
      }}
    }}
  }}
  if (lane == 0) {{
    means[row] = end > begin ? top + logf(total / (end - begin)) : 0;
    peaks[row] = end > begin ? top : 0;
  }}
}}
""",
    f"""
void {MEANS_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < n; row++) {{
    INDEX begin = starts[row], end = starts[row + 1];
    float top = -INFINITY, total = 0;
    for (INDEX k = begin; k < end; k++) {{{MEANS_STEP}    }}
    means[row] = end > begin ? top + logf(total / (end - begin)) : 0;
    peaks[row] = end > begin ? top : 0;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "product of bytes, scaled", requantised_product,
        "int8[:,::1], int8[:,::1], int32[::1], float32[::1], int8[:,::1]", (16, 16), product_problem, gpu=1001, host=151,
        test=37, power=3, kind="shared", **PRODUCT,
    ),
    Kernel(
        "k-th largest of rows", kth_largest, "int32[:,::1], pyint, int32[::1], int32[::1]", 256, largest_problem, gpu=3001,
        host=101, test=3, kind="shared", **LARGEST,
    ),
    Kernel(
        "distances of coded vectors", coded_distances, "uint8[:,::1], float32[:,:,::1], float32[:,::1]", 256, coded_problem,
        gpu=500_009, host=5003, test=301, kind="shared", **CODED,
    ),
    Kernel(
        "bias, GELU and dropout", bias_gelu_dropout,
        "float32[:,::1], float32[::1], float32[:,::1], float32, pyint, float32[:,::1]", (128, 2), gelu_problem, gpu=4001,
        host=301, test=45, power=2, kind="streaming", **GELU,
    ),
    Kernel(
        "rows made a rectangle", padded_rows, "float32[::1], int32[::1], float32, float32[:,::1], bool[:,::1]", (64, 4),
        padding_problem, gpu=100_003, host=3001, test=101, kind="streaming", **PADDING,
    ),
    Kernel(
        "log means of ragged rows", ragged_log_means, "float32[::1], int32[::1], float32, float32[::1], float32[::1]", 128,
        means_problem, gpu=300_007, host=3001, test=43, **MEANS,
    ),
]  # fmt: skip
