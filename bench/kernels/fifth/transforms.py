"""Transforms, sorting networks and scans of rows, a row a block: Walsh and Hadamard's, a pass of a
number-theoretic one, Batcher's network, sums that restart.
"""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import indexed
from pyptx import cuda, float32, int32

MOD = 998244353


def walsh_hadamard(x, y, scale):
    """A row of up to 1024 values a block, in shared memory."""
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    step = cuda.blockDim.x
    n = x.shape[1]
    values = cuda.shared.array(1024, float32)
    for k in range(t, n, step):
        values[k] = x[row, k]
    cuda.syncthreads()
    h = 1
    while h < n:
        for p in range(t, n // 2, step):
            low = 2 * p - (p & (h - 1))
            a = values[low]
            b = values[low + h]
            values[low] = a + b
            values[low + h] = a - b
        cuda.syncthreads()
        h *= 2
    for k in range(t, n, step):
        y[row, k] = values[k] * scale


def ntt_pass(x, y, roots, half):
    """One radix-2 pass of a number-theoretic transform modulo 998244353 (Stockham); a row a transform."""
    k = cuda.grid(1)
    row = cuda.blockIdx.y
    n = x.shape[1]
    if k < n // 2:
        j = k & (half - 1)
        u = x[row, k]
        v = x[row, k + n // 2] * roots[j * (n // 2 // half)] % MOD
        at = 2 * k - j
        total = u + v
        y[row, at] = total - MOD if total >= MOD else total
        y[row, at + half] = u - v if u >= v else u - v + MOD


def merge_network(keys, out, n):
    """Batcher's odd-even merge sort of n <= 1024 keys a block, 512 threads."""
    t = cuda.threadIdx.x
    segment = cuda.blockIdx.x
    tile = cuda.shared.array(1024, int32)
    for k in range(t, 1024, cuda.blockDim.x):
        tile[k] = keys[segment, k] if k < n else 2147483647
    size = 2
    while size <= 1024:
        stride = size // 2
        offset = t & (stride - 1)
        cuda.syncthreads()
        at = 2 * t - (t & (stride - 1))
        a = tile[at]
        b = tile[at + stride]
        if a > b:
            tile[at] = b
            tile[at + stride] = a
        stride //= 2
        while stride > 0:
            cuda.syncthreads()
            at = 2 * t - (t & (stride - 1))
            if offset >= stride:
                a = tile[at - stride]
                b = tile[at]
                if a > b:
                    tile[at - stride] = b
                    tile[at] = a
            stride //= 2
        size *= 2
    cuda.syncthreads()
    for k in range(t, n, cuda.blockDim.x):
        out[segment, k] = tile[k]


def segmented_scan(x, flags, y):
    """Inclusive sums of each row which restart at flags; a block a row, chunks of 256 with a carry."""
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t & 31
    warp = t >> 5
    n = x.shape[1]
    warp_sums = cuda.shared.array(8, float32)
    warp_flags = cuda.shared.array(8, int32)
    carry = float32(0.0)
    for start in range(0, n, 256):
        k = start + t
        v = float32(0.0)
        f = 0
        if k < n:
            v = x[row, k]
            f = int(flags[row, k])
        d = 1
        while d < 32:
            other = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
            other_flag = cuda.shfl_up_sync(0xFFFFFFFF, f, d)
            if lane >= d:
                if f == 0:
                    v += other
                f |= other_flag
            d *= 2
        if lane == 31:
            warp_sums[warp] = v
            warp_flags[warp] = f
        cuda.syncthreads()
        before = carry
        for w in range(8):
            if w == warp and f == 0:
                v += before
            before = warp_sums[w] if warp_flags[w] != 0 else before + warp_sums[w]
        carry = before
        if k < n:
            y[row, k] = v
        cuda.syncthreads()


def walsh_problem(rng, n):
    width = 512
    x, y = rng.standard_normal((n, width), dtype=np.float32), np.zeros((n, width), np.float32)

    def expected():
        at = sampled(rng, n, 2000)
        v = x[at].astype(float)
        h = 1
        while h < width:
            w = v.reshape(at.size, -1, 2, h)
            v = np.stack([w[:, :, 0] + w[:, :, 1], w[:, :, 0] - w[:, :, 1]], 2).reshape(at.size, width)
            h *= 2
        return [(at, v / np.sqrt(width), 1e-4)]

    return Problem((x, y, np.float32(1 / np.sqrt(width))), (n, width), (1,), expected, grid=n, bytes=8.0 * x.size)


def ntt_problem(rng, n):
    size, half = (1 << 18, 64) if n > 5 else (1 << 10, 8)
    x, y = rng.integers(0, MOD, (n, size)), np.zeros((n, size), np.int64)
    root, roots = pow(3, (MOD - 1) // size, MOD), [1]
    for _ in range(size // 2 - 1):
        roots.append(roots[-1] * root % MOD)
    roots = np.array(roots, np.int64)

    def expected():
        k = np.arange(size // 2)
        j = k & (half - 1)
        u, v = x[:, k], x[:, k + size // 2] * roots[j * (size // 2 // half)] % MOD
        out = np.empty_like(x)
        out[:, 2 * k - j] = (u + v) % MOD
        out[:, 2 * k - j + half] = (u - v) % MOD
        return [(slice(None), out, 0)]

    return Problem((x, y, roots, half), (n, size), (1,), expected, threads=(size // 2, n), bytes=16.0 * x.size)


def network_problem(rng, n):
    width = 1000
    keys = rng.integers(-(2**31), 2**31, (n, width)).astype(np.int32)
    args = (keys, np.zeros_like(keys), width)
    return Problem(args, (n, width), (1,), lambda: [(slice(None), np.sort(keys, 1), 0)], grid=n)


def segmented_problem(rng, n):
    width = 1501
    x, y = np.float32(rng.uniform(0, 1, (n, width))), np.zeros((n, width), np.float32)
    flags = (rng.random((n, width)) < 0.01).astype(np.uint8)

    def expected():
        at = sampled(rng, n, 1000)
        sums = np.cumsum(x[at].astype(float), 1)
        last = np.maximum.accumulate(np.where(flags[at] != 0, np.arange(width), 0), 1)
        before = np.take_along_axis(np.pad(sums, ((0, 0), (1, 0))), last, 1)
        return [(at, sums - before, 5e-3)]

    return Problem((x, flags, y), (n, width), (2,), expected, grid=n, bytes=9.0 * x.size)


WALSH_HEAD = "walsh_hadamard(const float *x, float *y, float scale, int rows, int n)"
WALSH = indexed(
    f"""
__global__ void {WALSH_HEAD} {{
  __shared__ float values[1024];
  INDEX row = blockIdx.x, t = threadIdx.x, step = blockDim.x;
  for (INDEX k = t; k < n; k += step)
    values[k] = x[row * n + k];
  __syncthreads();
  for (INDEX h = 1; h < n; h *= 2) {{
    for (INDEX p = t; p < n / 2; p += step) {{
      INDEX low = 2 * p - (p & (h - 1));
      float a = values[low], b = values[low + h];
      values[low] = a + b;
      values[low + h] = a - b;
    }}
    __syncthreads();
  }}
  for (INDEX k = t; k < n; k += step)
    y[row * n + k] = values[k] * scale;
}}
""",
    f"""
void {WALSH_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    float values[1024];
    for (INDEX k = 0; k < n; k++)
      values[k] = x[row * n + k];
    for (INDEX h = 1; h < n; h *= 2)
      for (INDEX first = 0; first < n; first += 2 * h)
        for (INDEX k = first; k < first + h; k++) {{
          float a = values[k], b = values[k + h];
          values[k] = a + b;
          values[k + h] = a - b;
        }}
    for (INDEX k = 0; k < n; k++)
      y[row * n + k] = values[k] * scale;
  }}
}}
""",
)

NTT_HEAD = "ntt_pass(const long long *x, long long *y, const long long *roots, int half, int rows, int n)"
NTT_BODY = """
      const long long mod = 998244353;
      INDEX j = k & (half - 1), at = 2 * k - j;
      long long u = x[row * n + k];
      long long v = x[row * n + k + n / 2] * roots[j * (n / 2 / half)] % mod;
      long long total = u + v;
      y[row * n + at] = total >= mod ? total - mod : total;
      y[row * n + at + half] = u >= v ? u - v : u - v + mod;
"""
NTT = indexed(
    f"""
__global__ void {NTT_HEAD} {{
  INDEX k = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, row = blockIdx.y;
  if (k < n / 2) {{{NTT_BODY}  }}
}}
""",
    f"""
void {NTT_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++)
    for (INDEX k = 0; k < n / 2; k++) {{{NTT_BODY}    }}
}}
""",
)

NETWORK_HEAD = "merge_network(const int *keys, int *out, int n, int segments, int width)"
NETWORK = indexed(
    f"""
__global__ void {NETWORK_HEAD} {{
  __shared__ int tile[1024];
  INDEX t = threadIdx.x, segment = blockIdx.x;
  for (INDEX k = t; k < 1024; k += blockDim.x)
    tile[k] = k < n ? keys[segment * width + k] : 2147483647;
  for (INDEX size = 2; size <= 1024; size *= 2) {{
    INDEX stride = size / 2, offset = t & (stride - 1);
    __syncthreads();
    INDEX at = 2 * t - (t & (stride - 1));
    int a = tile[at], b = tile[at + stride];
    if (a > b) {{
      tile[at] = b;
      tile[at + stride] = a;
    }}
    for (stride /= 2; stride > 0; stride /= 2) {{
      __syncthreads();
      at = 2 * t - (t & (stride - 1));
      if (offset >= stride) {{
        a = tile[at - stride];
        b = tile[at];
        if (a > b) {{
          tile[at - stride] = b;
          tile[at] = a;
        }}
      }}
    }}
  }}
  __syncthreads();
  for (INDEX k = t; k < n; k += blockDim.x)
    out[segment * width + k] = tile[k];
}}
""",
    f"""
void {NETWORK_HEAD} {{
#pragma omp parallel for
  for (INDEX segment = 0; segment < segments; segment++) {{
    int tile[1024];
    for (INDEX k = 0; k < 1024; k++)
      tile[k] = k < n ? keys[segment * width + k] : 2147483647;
    for (INDEX size = 2; size <= 1024; size *= 2)
      for (INDEX first = 0; first < 1024; first += size) {{
        int *part = tile + first;
        for (INDEX k = 0; k < size / 2; k++) {{
          int a = part[k], b = part[k + size / 2];
          part[k] = MIN(a, b);
          part[k + size / 2] = MAX(a, b);
        }}
        for (INDEX stride = size / 4; stride > 0; stride /= 2)
          for (INDEX from = stride; from + stride < size; from += 2 * stride)
            for (INDEX k = from; k < from + stride; k++) {{
              int a = part[k], b = part[k + stride];
              part[k] = MIN(a, b);
              part[k + stride] = MAX(a, b);
            }}
      }}
    for (INDEX k = 0; k < n; k++)
      out[segment * width + k] = tile[k];
  }}
}}
""",
)

SEGMENTED_HEAD = "segmented_scan(const float *x, const unsigned char *flags, float *y, int rows, int n)"
SEGMENTED = indexed(
    f"""
__global__ void {SEGMENTED_HEAD} {{
  __shared__ float warp_sums[8];
  __shared__ int warp_flags[8];
  INDEX row = blockIdx.x, t = threadIdx.x, lane = t & 31, warp = t >> 5;
  float carry = 0;
  for (INDEX start = 0; start < n; start += 256) {{
    INDEX k = start + t;
    float v = 0;
    int f = 0;
    if (k < n) {{
      v = x[row * n + k];
      f = flags[row * n + k];
    }}
    for (int d = 1; d < 32; d *= 2) {{
      float other = __shfl_up_sync(0xffffffff, v, d);
      int other_flag = __shfl_up_sync(0xffffffff, f, d);
      if (lane >= d) {{
        if (f == 0) v += other;
        f |= other_flag;
      }}
    }}
    if (lane == 31) {{
      warp_sums[warp] = v;
      warp_flags[warp] = f;
    }}
    __syncthreads();
    float before = carry;
    for (INDEX w = 0; w < 8; w++) {{
      if (w == warp && f == 0) v += before;
      before = warp_flags[w] != 0 ? warp_sums[w] : before + warp_sums[w];
    }}
    carry = before;
    if (k < n) y[row * n + k] = v;
    __syncthreads();
  }}
}}
""",
    f"""
void {SEGMENTED_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    float sum = 0;
    for (INDEX k = 0; k < n; k++) {{
      sum = flags[row * n + k] ? x[row * n + k] : sum + x[row * n + k];
      y[row * n + k] = sum;
    }}
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "Walsh-Hadamard", walsh_hadamard, "float32[:,::1], float32[:,::1], float32", 256, walsh_problem,
        gpu=30_011, host=1003, test=5, kind="shared", **WALSH,
    ),
    Kernel(
        "number-theoretic transform, a pass", ntt_pass,
        "int64[:,::1], int64[:,::1], int64[::1], pyint", 256,
        ntt_problem,
        gpu=19, host=3, test=3, kind="streaming", **NTT,
    ),
    Kernel(
        "Batcher's merge sort", merge_network, "int32[:,::1], int32[:,::1], pyint", 512, network_problem,
        gpu=3001, host=203, test=2, kind="shared", **NETWORK,
    ),
    Kernel(
        "segmented scan of rows", segmented_scan,
        "float32[:,::1], uint8[:,::1], float32[:,::1]", 256,
        segmented_problem,
        gpu=6007, host=203, test=3, kind="shared", **SEGMENTED,
    ),
]  # fmt: skip
