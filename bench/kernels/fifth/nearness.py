"""How near rows, sets and descriptors are: cosines, squared distances, MinHash, Hamming's distances."""

import math

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, uint32

TILE = 16


def cosine_pairs(table, pairs, out):
    """Cosine of pairs of rows, a warp a pair."""
    pair = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if pair >= out.size:
        return
    i = pairs[pair, 0]
    j = pairs[pair, 1]
    ab = float32(0.0)
    aa = float32(0.0)
    bb = float32(0.0)
    for k in range(lane, table.shape[1], 32):
        a = table[i, k]
        b = table[j, k]
        ab += a * b
        aa += a * a
        bb += b * b
    d = 16
    while d > 0:
        ab += cuda.shfl_down_sync(0xFFFFFFFF, ab, d)
        aa += cuda.shfl_down_sync(0xFFFFFFFF, aa, d)
        bb += cuda.shfl_down_sync(0xFFFFFFFF, bb, d)
        d //= 2
    if lane == 0:
        out[pair] = ab / math.sqrt(aa * bb)


def distance_tiles(a, b, out):
    """Squared distances of all pairs of rows, tiles of 16x16 in shared memory."""
    ta = cuda.shared.array((TILE, TILE), float32)
    tb = cuda.shared.array((TILE, TILE + 1), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    first = cuda.blockIdx.x * TILE
    d = a.shape[1]
    total = float32(0.0)
    for start in range(0, d, TILE):
        ta[ty, tx] = a[row, start + tx] if row < a.shape[0] and start + tx < d else 0.0
        tb[ty, tx] = b[first + ty, start + tx] if first + ty < b.shape[0] and start + tx < d else 0.0
        cuda.syncthreads()
        for k in range(TILE):
            diff = ta[ty, k] - tb[tx, k]
            total += diff * diff
        cuda.syncthreads()
    if row < a.shape[0] and col < b.shape[0]:
        out[row, col] = total


def minhash(items, starts, a, b, signatures):
    """The least of a permutation's values over a set of 61-bit hashes: (set, function) a thread."""
    f, s = cuda.grid(2)
    if s < signatures.shape[0] and f < signatures.shape[1]:
        low = np.uint64(0xFFFFFFFFFFFFFFFF)
        for k in range(starts[s], starts[s + 1]):
            h = (items[k] * a[f] + b[f]) >> 3
            if h < low:
                low = h
        signatures[s, f] = low


def orb_match(queries, train, best, first, second):
    """Nearest of 256-bit descriptors by Hamming's distance, and the second distance; 64 of them in shared memory."""
    tile = cuda.shared.array((64, 8), uint32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    n = queries.shape[0]
    m = train.shape[0]
    at = min(i, n - 1)
    q0 = queries[at, 0]
    q1 = queries[at, 1]
    q2 = queries[at, 2]
    q3 = queries[at, 3]
    q4 = queries[at, 4]
    q5 = queries[at, 5]
    q6 = queries[at, 6]
    q7 = queries[at, 7]
    low = 257
    next_low = 257
    who = -1
    for start in range(0, m, 64):
        count = min(64, m - start)
        for k in range(t, count * 8, cuda.blockDim.x):
            tile[k // 8, k % 8] = train[start + k // 8, k % 8]
        cuda.syncthreads()
        for j in range(count):
            d = (
                cuda.popc(q0 ^ tile[j, 0]) + cuda.popc(q1 ^ tile[j, 1]) + cuda.popc(q2 ^ tile[j, 2])
                + cuda.popc(q3 ^ tile[j, 3]) + cuda.popc(q4 ^ tile[j, 4]) + cuda.popc(q5 ^ tile[j, 5])
                + cuda.popc(q6 ^ tile[j, 6]) + cuda.popc(q7 ^ tile[j, 7])
            )  # fmt: skip
            if d < low:
                next_low = low
                low = d
                who = start + j
            elif d < next_low:
                next_low = d
        cuda.syncthreads()
    if i < n:
        best[i] = who
        first[i] = low
        second[i] = next_low


def cosine_problem(rng, n):
    dim, rows = 203, max(50, n // 3)
    table = rng.standard_normal((rows, dim), dtype=np.float32)
    pairs, out = rng.integers(0, rows, (n, 2)).astype(np.int32), np.zeros(n, np.float32)

    def expected():
        at = sampled(rng, n, 20000)
        a, b = (table[pairs[at, k]].astype(float) for k in (0, 1))
        return [(at, (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1)), 1e-5)]

    return Problem((table, pairs, out), (dim, n), (2,), expected, threads=32 * n, bytes=8.0 * n * dim)


def distance_problem(rng, n):
    m, d = n * 2 // 3, 101
    a, b = rng.standard_normal((n, d), dtype=np.float32), rng.standard_normal((m, d), dtype=np.float32)
    out = np.zeros((n, m), np.float32)

    def expected():
        x, y = a.astype(float), b.astype(float)
        return [(slice(None), (x * x).sum(1)[:, None] + (y * y).sum(1) - 2 * x @ y.T, 1e-2)]

    return Problem((a, b, out), (n, m, d), (2,), expected, threads=(m, n), flops=3.0 * n * m * d)


def minhash_problem(rng, n):
    functions = 100
    starts = np.concatenate([[0], np.cumsum(rng.integers(20, 120, n))]).astype(np.int32)
    items = rng.integers(0, 2**63, starts[-1], dtype=np.uint64)
    a, b = (rng.integers(1, 2**63, functions, dtype=np.uint64) * np.uint64(2) + np.uint64(1) for _ in range(2))

    def expected():
        at = sampled(rng, n, 300)
        got = np.stack([((items[starts[s] : starts[s + 1], None] * a + b) >> np.uint64(3)).min(0) for s in at])
        return [(at, got, 0)]

    args = (items, starts, a, b, np.zeros((n, functions), np.uint64))
    return Problem(args, (n, functions), (4,), expected, threads=(functions, n))


def orb_problem(rng, n):
    m = max(50, n // 16)
    queries, train = (rng.integers(0, 2**32, (k, 8), dtype=np.uint32) for k in (n, m))

    def expected():
        at = sampled(rng, n, 300)
        d = np.bitwise_count(queries[at][:, None] ^ train).astype(np.int32).sum(2).astype(np.int32)
        two = np.sort(d, 1)
        return [(at, d.argmin(1).astype(np.int32), 0), (at, two[:, 0], 0), (at, two[:, 1], 0)]

    outs = [np.zeros(n, np.int32) for _ in range(3)]
    return Problem((queries, train, *outs), (n, m), (2, 3, 4), expected, threads=n)


COSINE_HEAD = "cosine_pairs(const float *table, const int *pairs, float *out, int dim, int n)"
COSINE = indexed(
    f"""
__global__ void {COSINE_HEAD} {{
  INDEX pair = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (pair >= n) return;
  INDEX i = pairs[2 * pair], j = pairs[2 * pair + 1];
  float ab = 0, aa = 0, bb = 0;
  for (INDEX k = lane; k < dim; k += 32) {{
    float a = table[i * dim + k], b = table[j * dim + k];
    ab += a * b;
    aa += a * a;
    bb += b * b;
  }}
  for (int d = 16; d > 0; d /= 2) {{
    ab += __shfl_down_sync(0xffffffff, ab, d);
    aa += __shfl_down_sync(0xffffffff, aa, d);
    bb += __shfl_down_sync(0xffffffff, bb, d);
  }}
  if (lane == 0)
    out[pair] = ab / sqrtf(aa * bb);
}}
""",
    f"""
void {COSINE_HEAD} {{
#pragma omp parallel for
  for (INDEX pair = 0; pair < n; pair++) {{
    const float *a = table + pairs[2 * pair] * dim, *b = table + pairs[2 * pair + 1] * dim;
    float ab = 0, aa = 0, bb = 0;
    for (INDEX k = 0; k < dim; k++) {{
      ab += a[k] * b[k];
      aa += a[k] * a[k];
      bb += b[k] * b[k];
    }}
    out[pair] = ab / sqrtf(aa * bb);
  }}
}}
""",
)

DISTANCE_HEAD = "distance_tiles(const float *a, const float *b, float *out, int n, int m, int d)"
DISTANCE = indexed(
    f"""
__global__ void {DISTANCE_HEAD} {{
  __shared__ float ta[16][16];
  __shared__ float tb[16][17];
  INDEX tx = threadIdx.x, ty = threadIdx.y, first = blockIdx.x * (INDEX)16;
  INDEX col = blockIdx.x * (INDEX)blockDim.x + tx, row = blockIdx.y * (INDEX)blockDim.y + ty;
  float total = 0;
  for (INDEX start = 0; start < d; start += 16) {{
    ta[ty][tx] = row < n && start + tx < d ? a[row * d + start + tx] : 0.0f;
    tb[ty][tx] = first + ty < m && start + tx < d ? b[(first + ty) * d + start + tx] : 0.0f;
    __syncthreads();
    for (INDEX k = 0; k < 16; k++) {{
      float diff = ta[ty][k] - tb[tx][k];
      total += diff * diff;
    }}
    __syncthreads();
  }}
  if (row < n && col < m)
    out[row * m + col] = total;
}}
""",
    f"""
void {DISTANCE_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < n; row++)
    for (INDEX col = 0; col < m; col++) {{
      float total = 0;
      for (INDEX k = 0; k < d; k++) {{
        float diff = a[row * d + k] - b[col * d + k];
        total += diff * diff;
      }}
      out[row * m + col] = total;
    }}
}}
""",
)

MINHASH = plane(
    """minhash(const unsigned long long *items, const int *starts, const unsigned long long *a,
             const unsigned long long *b, unsigned long long *signatures, int sets, int functions)""",
    """
    unsigned long long low = 0xffffffffffffffffull;
    INDEX end = starts[row + 1];
    for (INDEX k = starts[row]; k < end; k++) {
      unsigned long long h = (items[k] * a[col] + b[col]) >> 3;
      if (h < low) low = h;
    }
    signatures[row * functions + col] = low;
""",
    rows="sets",
    cols="functions",
)

ORB_HEAD = "orb_match(const unsigned *queries, const unsigned *train, int *best, int *first, int *second, int n, int m)"
ORB = indexed(
    f"""
__global__ void {ORB_HEAD} {{
  __shared__ unsigned tile[64][8];
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, t = threadIdx.x, at = MIN(i, (INDEX)n - 1);
  unsigned q0 = queries[8 * at], q1 = queries[8 * at + 1], q2 = queries[8 * at + 2], q3 = queries[8 * at + 3],
           q4 = queries[8 * at + 4], q5 = queries[8 * at + 5], q6 = queries[8 * at + 6], q7 = queries[8 * at + 7];
  INDEX low = 257, next_low = 257, who = -1;
  for (INDEX start = 0; start < m; start += 64) {{
    INDEX count = MIN((INDEX)64, m - start);
    for (INDEX k = t; k < count * 8; k += blockDim.x)
      tile[k / 8][k % 8] = train[(start + k / 8) * 8 + k % 8];
    __syncthreads();
    for (INDEX j = 0; j < count; j++) {{
      int d = __popc(q0 ^ tile[j][0]) + __popc(q1 ^ tile[j][1]) + __popc(q2 ^ tile[j][2]) + __popc(q3 ^ tile[j][3]) +
              __popc(q4 ^ tile[j][4]) + __popc(q5 ^ tile[j][5]) + __popc(q6 ^ tile[j][6]) + __popc(q7 ^ tile[j][7]);
      if (d < low) {{
        next_low = low;
        low = d;
        who = start + j;
      }} else if (d < next_low) {{
        next_low = d;
      }}
    }}
    __syncthreads();
  }}
  if (i < n) {{
    best[i] = who;
    first[i] = low;
    second[i] = next_low;
  }}
}}
""",
    f"""
void {ORB_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{
    INDEX low = 257, next_low = 257, who = -1;
    for (INDEX j = 0; j < m; j++) {{
      int d = 0;
      for (INDEX k = 0; k < 8; k++)
        d += __builtin_popcount(queries[8 * i + k] ^ train[8 * j + k]);
      if (d < low) {{
        next_low = low;
        low = d;
        who = j;
      }} else if (d < next_low) {{
        next_low = d;
      }}
    }}
    best[i] = who;
    first[i] = low;
    second[i] = next_low;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "cosines of pairs", cosine_pairs, "float32[:,::1], int32[:,::1], float32[::1]", 128, cosine_problem,
        gpu=200_003, host=5003, test=53, kind="irregular", **COSINE,
    ),
    Kernel(
        "distances by tiles", distance_tiles,
        "float32[:,::1], float32[:,::1], float32[:,::1]", (16, 16),
        distance_problem,
        gpu=3003, host=303, test=37, power=2, kind="shared", **DISTANCE,
    ),
    Kernel(
        "MinHash", minhash,
        "uint64[::1], int32[::1], uint64[::1], uint64[::1], uint64[:,::1]", (64, 4),
        minhash_problem,
        gpu=20_003, host=503, test=37, kind="irregular", **MINHASH,
    ),
    Kernel(
        "ORB matches", orb_match, "uint32[:,::1], uint32[:,::1], int32[::1], int32[::1], int32[::1]", 128, orb_problem,
        gpu=40_003, host=1003, test=133, kind="shared", **ORB,
    ),
]  # fmt: skip
