"""Scans of a block: depths of brackets, compaction by ballots."""

import numpy as np
from kernels.declare import Kernel, Problem
from kernels.texts import indexed
from pyptx import cuda, int32


def bracket_depths(text, depths, lowest):
    """How many brackets are open after each byte of a row, and the least number; a block of 128 a row."""
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    n = text.shape[1]
    totals = cuda.shared.array(4, int32)
    least = cuda.shared.array(4, int32)
    carry = 0
    low = 0
    for start in range(0, n, 128):
        k = start + t
        v = 0
        if k < n:
            c = text[row, k]
            if c == ord("(") or c == ord("[") or c == ord("{"):
                v = 1
            elif c == ord(")") or c == ord("]") or c == ord("}"):
                v = -1
        d = 1
        while d < 32:
            other = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
            if lane >= d:
                v += other
            d *= 2
        if lane == 31:
            totals[warp] = v
        cuda.syncthreads()
        v += carry
        for w in range(4):
            if w < warp:
                v += totals[w]
            carry += totals[w]
        if k < n:
            depths[row, k] = v
            low = min(low, v)
        cuda.syncthreads()
    for d in (16, 8, 4, 2, 1):
        low = min(low, cuda.shfl_xor_sync(0xFFFFFFFF, low, d))
    if lane == 0:
        least[warp] = low
    cuda.syncthreads()
    if t == 0:
        lowest[row] = min(least[0], least[1], least[2], least[3])


def ballot_compact(x, limit, values, places, counts):
    """The values above the limit and their places to the start of each block's part, in order."""
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    lane = t % 32
    warp = t // 32
    sums = cuda.shared.array(32, int32)
    v = x[i] if i < x.size else limit
    keep = v > limit
    mask = cuda.ballot_sync(0xFFFFFFFF, keep)
    if lane == 0:
        sums[warp] = cuda.popc(mask)
    cuda.syncthreads()
    before = 0
    total = 0
    for w in range(cuda.blockDim.x // 32):
        if w < warp:
            before += sums[w]
        total += sums[w]
    if keep:
        at = cuda.blockIdx.x * cuda.blockDim.x + before + cuda.popc(mask & ((1 << lane) - 1))
        values[at] = v
        places[at] = i
    if t == 0:
        counts[cuda.blockIdx.x] = total


def brackets_problem(rng, n):
    width = 1501
    text = rng.choice(np.frombuffer(b"()[]{}abc ,", np.uint8), (n, width))
    step = np.isin(text, list(b"([{")).astype(np.int32) - np.isin(text, list(b")]}"))

    def expected():
        depths = np.cumsum(step, 1, dtype=np.int32)
        return [(slice(None), depths, 0), (slice(None), np.minimum(depths.min(1), 0), 0)]

    args = (text, np.zeros((n, width), np.int32), np.zeros(n, np.int32))
    return Problem(args, (n, width), (1, 2), expected, grid=n, bytes=5.0 * text.size)


def compact_problem(rng, n):
    x, limit, block = rng.standard_normal(n, dtype=np.float32), np.float32(0.5), 256
    blocks = -(-n // block)

    def expected():
        kept = np.flatnonzero(x > limit)
        counts = np.bincount(kept // block, minlength=blocks)
        before = np.cumsum(counts) - counts
        at = kept // block * block + np.arange(kept.size) - before[kept // block]
        values, places = np.zeros(blocks * block, np.float32), np.zeros(blocks * block, np.int32)
        values[at], places[at] = x[kept], kept
        return [(slice(None), values, 0), (slice(None), places, 0), (slice(None), counts.astype(np.int32), 0)]

    outputs = (np.zeros(blocks * block, np.float32), np.zeros(blocks * block, np.int32), np.zeros(blocks, np.int32))
    return Problem((x, limit, *outputs), (n, blocks), (2, 3, 4), expected, grid=blocks, bytes=4.0 * n)


BRACKETS_HEAD = "bracket_depths(const unsigned char *text, int *depths, int *lowest, int rows, int n)"
BRACKETS = indexed(
    f"""
__global__ void {BRACKETS_HEAD} {{
  __shared__ int totals[4], least[4];
  INDEX row = blockIdx.x, t = threadIdx.x, lane = t % 32, warp = t / 32;
  int carry = 0, low = 0;
  for (INDEX start = 0; start < n; start += 128) {{
    INDEX k = start + t;
    int v = 0;
    if (k < n) {{
      unsigned char c = text[row * n + k];
      if (c == '(' || c == '[' || c == '{{')
        v = 1;
      else if (c == ')' || c == ']' || c == '}}')
        v = -1;
    }}
    for (int d = 1; d < 32; d *= 2) {{
      int other = __shfl_up_sync(0xffffffff, v, d);
      if (lane >= d) v += other;
    }}
    if (lane == 31) totals[warp] = v;
    __syncthreads();
    v += carry;
    for (int w = 0; w < 4; w++) {{
      if (w < warp) v += totals[w];
      carry += totals[w];
    }}
    if (k < n) {{
      depths[row * n + k] = v;
      low = min(low, v);
    }}
    __syncthreads();
  }}
  for (int d = 16; d > 0; d /= 2)
    low = min(low, __shfl_xor_sync(0xffffffff, low, d));
  if (lane == 0) least[warp] = low;
  __syncthreads();
  if (t == 0) lowest[row] = min(min(least[0], least[1]), min(least[2], least[3]));
}}
""",
    f"""
void {BRACKETS_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    int depth = 0, low = 0;
    for (INDEX k = 0; k < n; k++) {{
      unsigned char c = text[row * n + k];
      if (c == '(' || c == '[' || c == '{{')
        depth++;
      else if (c == ')' || c == ']' || c == '}}')
        depth--;
      depths[row * n + k] = depth;
      low = MIN(low, depth);
    }}
    lowest[row] = low;
  }}
}}
""",
)

COMPACT_HEAD = "ballot_compact(const float *x, float limit, float *values, int *places, int *counts, int n, int blocks)"
COMPACT = indexed(
    f"""
__global__ void {COMPACT_HEAD} {{
  __shared__ int sums[32];
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, t = threadIdx.x, lane = t % 32, warp = t / 32;
  float v = i < n ? x[i] : limit;
  bool keep = v > limit;
  unsigned mask = __ballot_sync(0xffffffff, keep);
  if (lane == 0) sums[warp] = __popc(mask);
  __syncthreads();
  int before = 0, total = 0;
  for (INDEX w = 0; w < blockDim.x / 32; w++) {{
    if (w < warp) before += sums[w];
    total += sums[w];
  }}
  if (keep) {{
    INDEX at = blockIdx.x * (INDEX)blockDim.x + before + __popc(mask & ((1u << lane) - 1));
    values[at] = v;
    places[at] = i;
  }}
  if (t == 0) counts[blockIdx.x] = total;
}}
""",
    f"""
void {COMPACT_HEAD} {{
#pragma omp parallel for
  for (INDEX b = 0; b < blocks; b++) {{
    INDEX last = MIN(n, 256 * (b + 1)), at = 256 * b;
    for (INDEX i = 256 * b; i < last; i++)
      if (x[i] > limit) {{
        values[at] = x[i];
        places[at++] = i;
      }}
    counts[b] = at - 256 * b;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "depths of brackets", bracket_depths, "uint8[:,::1], int32[:,::1], int32[::1]", 128, brackets_problem,
        gpu=20_011, host=203, test=7, kind="shared", **BRACKETS,
    ),
    Kernel(
        "compaction by ballots", ballot_compact, "float32[::1], float32, float32[::1], int32[::1], int32[::1]", 256,
        compact_problem,
        gpu=20_000_003, host=300_003, test=2003, kind="shared", **COMPACT,
    ),
]  # fmt: skip
