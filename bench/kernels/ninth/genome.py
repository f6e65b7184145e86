"""Sequences of a genome: extensions of seeds, a model's best segment, patterns in an index, minimizers."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, int32, uint8, uint64

BAND = 33
NONE = -(1 << 20)


def banded_extension(queries, targets, lengths, match, mismatch, opening, extension, drop, scores, ends):
    """Extends an alignment from its seed to the right, affine gaps, within a band, until it falls too
    far: a thread a pair.
    """
    i = cuda.grid(1)
    if i >= scores.size:
        return
    query = queries[i]
    target = targets[i]
    rows = int(lengths[i, 0])
    cols = int(lengths[i, 1])
    half = BAND // 2
    h = cuda.local.array(BAND + 1, int32)
    e = cuda.local.array(BAND + 1, int32)
    for k in range(BAND + 1):
        h[k] = NONE
        e[k] = NONE
        j = k - half
        if j == 0:
            h[k] = 0
        elif 0 < j <= cols and k < BAND:
            h[k] = -opening - j * extension
    best = 0
    best_row = 0
    best_col = 0
    r = 1
    while r <= rows:
        c = query[r - 1]
        gap = NONE
        left = NONE
        top = NONE
        for k in range(BAND):
            j = r + k - half
            v = NONE
            down = NONE
            if 0 <= j <= cols:
                down = max(e[k + 1], h[k + 1] - opening) - extension
                gap = max(gap, left - opening) - extension
                v = max(down, gap)
                if j > 0:
                    pair = match if c == target[j - 1] else -mismatch
                    v = max(v, h[k] + pair)
            e[k] = down
            h[k] = v
            left = v
            top = max(top, v)
            if v > best:
                best = v
                best_row = r
                best_col = j
        if top < best - drop:
            break
        r += 1
    scores[i] = best
    ends[i, 0] = best_row
    ends[i, 1] = best_col


def best_segment(symbols, starts, costs, bias, enter, back, results):
    """The best ungapped segments of a profile in bytes that saturate: a block a sequence, a thread a
    place of the model.
    """
    row = cuda.shared.array((2, 129), uint8)
    tops = cuda.shared.array((2, 4), int32)
    item = cuda.blockIdx.x
    k = cuda.threadIdx.x
    row[0, k] = 0
    row[1, k] = 0
    start = enter
    jump = 0
    now = 0
    cuda.syncthreads()
    for at in range(starts[item], starts[item + 1]):
        v = 0
        if k < costs.shape[1]:
            v = min(max(int(row[now, k]), start) + bias, 255)
            v = max(v - int(costs[symbols[at], k]), 0)
        now = 1 - now
        row[now, k + 1] = v
        top = v
        for step in (16, 8, 4, 2, 1):
            top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, step))
        if k % 32 == 0:
            tops[now, k // 32] = top
        cuda.syncthreads()
        top = max(tops[now, 0], tops[now, 1], tops[now, 2], tops[now, 3])
        jump = max(jump, top - back)
        start = max(enter, jump)
    if k == 0:
        results[item] = jump


def rank_of(counts, planes, c, place):
    """How often symbol c is before a place."""
    block = place >> 6
    low = planes[block, 0]
    high = planes[block, 1]
    if c & 1 == 0:
        low = ~low
    if c & 2 == 0:
        high = ~high
    before = (uint64(1) << uint64(place & 63)) - uint64(1)
    return int(counts[block, c]) + cuda.popc(low & high & before)


def index_counts(counts, planes, first, length, patterns, found):
    """How often patterns are in a text, by backward search in its index; a thread a pattern."""
    i = cuda.grid(1)
    if i >= found.size:
        return
    low = 0
    high = length
    for k in range(patterns.shape[1] - 1, -1, -1):
        c = int(patterns[i, k])
        low = int(first[c]) + rank_of(counts, planes, c, low)
        high = int(first[c]) + rank_of(counts, planes, c, high)
        if low >= high:
            break
    found[i] = max(high - low, 0)


def mixed(key, mask):
    """A reversible hash of the bits of the mask."""
    key = (~key + (key << 21)) & mask
    key ^= key >> 24
    key = (key + (key << 3) + (key << 8)) & mask
    key ^= key >> 14
    key = (key + (key << 2) + (key << 4)) & mask
    key ^= key >> 28
    return (key + (key << 31)) & mask


def minimizers(codes, k, window, hashes, places):
    """The least hash of the k-mers of each window, of either strand, and where it is first."""
    i = cuda.grid(1)
    if i >= hashes.size:
        return
    mask = (uint64(1) << uint64(2 * k)) - uint64(1)
    top = uint64(2 * k - 2)
    forward = uint64(0)
    reverse = uint64(0)
    best = ~uint64(0)
    place = 0
    for j in range(k + window - 1):
        code = uint64(codes[i + j])
        forward = ((forward << 2) | code) & mask
        reverse = (reverse >> 2) | ((uint64(3) - code) << top)
        if j >= k - 1:
            key = mixed(min(forward, reverse), mask)
            if key < best:
                best = key
                place = i + j - k + 1
    hashes[i] = best
    places[i] = place


def extension_problem(rng, n):
    longest = 120
    targets = rng.integers(0, 4, (n, longest), np.uint8)
    queries = np.where(rng.random((n, longest), np.float32) < 0.05, rng.integers(0, 4, (n, longest), np.uint8), targets)
    queries[: n // 3] = rng.integers(0, 4, (n // 3, longest), np.uint8)
    queries[n // 2 :, 30:] = np.roll(queries[n // 2 :, 30:], 3, 1)
    lengths = rng.integers(longest // 2, longest + 1, (n, 2)).astype(np.int32)
    match, mismatch, opening, extension, drop = 2, 3, 4, 1, 20

    def expected():
        at = sampled(rng, n, 300)
        half, q, t = BAND // 2, queries[at], targets[at].astype(int)
        rows, cols = lengths[at].T.astype(int)
        count = len(at)
        h = np.full((count, BAND + 1), NONE)
        j = np.arange(BAND) - half
        h[:, :BAND] = np.where(j == 0, 0, np.where((j > 0) & (j <= cols[:, None]), -opening - j * extension, NONE))
        e = np.full((count, BAND + 1), NONE)
        best, ends = np.zeros(count, int), np.zeros((count, 2), int)
        alive = np.ones(count, bool)
        for r in range(1, rows.max() + 1):
            alive &= r <= rows
            gap, left, top = (np.full(count, NONE) for _ in range(3))
            for k in range(BAND):
                j = r + k - half
                inside = (j >= 0) & (j <= cols)
                down = np.maximum(e[:, k + 1], h[:, k + 1] - opening) - extension
                gap = np.where(inside, np.maximum(gap, left - opening) - extension, gap)
                v = np.maximum(down, gap)
                if j > 0:
                    pair = np.where(q[:, r - 1] == t[:, min(j, longest) - 1], match, -mismatch)
                    v = np.maximum(v, h[:, k] + pair)
                e[:, k] = np.where(inside, down, NONE)
                h[:, k] = left = np.where(inside, v, NONE)
                top = np.maximum(top, left)
                better = alive & (left > best)
                best = np.where(better, left, best)
                ends[better] = r, j
            alive &= top >= best - drop
        return [(at, best, 0), (at, ends, 0)]

    out = (np.zeros(n, np.int32), np.zeros((n, 2), np.int32))
    args = (queries, targets, lengths, match, mismatch, opening, extension, drop, *out)
    return Problem(args, (n, longest), (8, 9), expected, threads=n, bytes=n * (2.0 * longest + 20))


def segment_problem(rng, n):
    places, kinds, bias, enter, back = 113, 20, 3, 10, 9
    sizes = rng.integers(20, 20 + min(8 * n, 300), n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    symbols = rng.integers(0, kinds, starts[-1], np.uint8)
    costs = rng.integers(0, 9, (kinds, places), np.uint8)

    def expected():
        at, found = sampled(rng, n, 60), []
        for item in at:
            row, start, jump = np.zeros(places, int), enter, 0
            for s in symbols[starts[item] : starts[item + 1]]:
                before = np.concatenate([[0], row[:-1]])
                row = np.maximum(np.minimum(np.maximum(before, start) + bias, 255) - costs[s], 0)
                jump = max(jump, row.max() - back)
                start = max(enter, jump)
            found.append(jump)
        return [(at, np.array(found), 0)]

    args = (symbols, starts, costs, bias, enter, back, np.full(n, -1, np.int32))
    return Problem(args, (places, n), (6,), expected, grid=n, bytes=1.0 * symbols.size)


def index_problem(rng, n):
    length, size = min(100 * n, 40_000_003), 19
    blocks = length // 64 + 1
    planes = rng.integers(0, 1 << 63, (blocks, 2), np.uint64) * np.uint64(2)
    planes += rng.integers(0, 2, (blocks, 2), np.uint64)
    planes[-1] &= np.uint64((1 << length % 64) - 1)  # beyond the end only symbol 0
    low, high = planes.T
    each_block = np.stack([np.bitwise_count(a & b).astype(np.int32) for b in (~high, high) for a in (~low, low)], 1)
    counts = (np.cumsum(each_block, 0) - each_block).astype(np.int32)
    totals = each_block.sum(0, dtype=np.int64)
    totals[0] -= 64 - length % 64
    first = (np.cumsum(totals) - totals).astype(np.int32)
    patterns = rng.integers(0, 4, (n, size), np.uint8)

    def expected():
        at = sampled(rng, n, 100_000)
        bounds = [np.zeros(len(at), int), np.full(len(at), length)]
        open_ = np.ones(len(at), bool)

        def rank(c, place):
            a, b = planes[place >> 6].T
            a, b = np.where(c & 1, a, ~a), np.where(c & 2, b, ~b)
            before = (np.uint64(1) << (place & 63).astype(np.uint64)) - np.uint64(1)
            return counts[place >> 6, c] + np.bitwise_count(a & b & before).astype(int)

        for k in range(size - 1, -1, -1):
            c = patterns[at, k].astype(int)
            bounds = [np.where(open_, first[c] + rank(c, p), p) for p in bounds]
            open_ &= bounds[0] < bounds[1]
        return [(at, np.maximum(bounds[1] - bounds[0], 0), 0)]

    args = (counts, planes, first, length, patterns, np.full(n, -1, np.int32))
    return Problem(args, (n, size), (5,), expected, threads=n, bytes=n * (size + 4 + 24 * 32.0))


def minimizer_problem(rng, n):
    k, window = 15, 10
    codes = rng.integers(0, 4, n + k + window - 2, np.uint8)

    def expected():
        mask = np.uint64((1 << 2 * k) - 1)
        at = sampled(rng, n, 100_000)
        seen = np.lib.stride_tricks.sliding_window_view(codes, k + window - 1)[at].astype(np.uint64)
        forward, reverse = np.zeros((2, len(at), window), np.uint64)
        for j in range(k):
            code = seen[:, j : j + window]
            forward = forward << np.uint64(2) | code
            reverse |= (np.uint64(3) - code) << np.uint64(2 * j)
        key = np.minimum(forward, reverse)
        u = np.uint64
        key = (~key + (key << u(21))) & mask
        key ^= key >> u(24)
        key = (key + (key << u(3)) + (key << u(8))) & mask
        key ^= key >> u(14)
        key = (key + (key << u(2)) + (key << u(4))) & mask
        key ^= key >> u(28)
        key = (key + (key << u(31))) & mask
        return [(at, key.min(1), 0), (at, at + key.argmin(1), 0)]

    args = (codes, k, window, np.zeros(n, np.uint64), np.zeros(n, np.int32))
    return Problem(args, (n,), (3, 4), expected, threads=n, bytes=13.0 * n)


EXTENSION = each(
    """banded_extension(const unsigned char *__restrict__ queries, const unsigned char *__restrict__ targets,
                     const int *__restrict__ lengths, int match, int mismatch, int opening, int extension, int drop,
                     int *__restrict__ scores, int *__restrict__ ends, int n, int longest)""",
    """
    enum { EXTENSION_BAND = 33, EXTENSION_NONE = -(1 << 20) };
    const unsigned char *query = queries + i * longest, *target = targets + i * longest;
    INDEX rows = lengths[2 * i], cols = lengths[2 * i + 1], half = EXTENSION_BAND / 2, best_row = 0, best_col = 0;
    int h[EXTENSION_BAND + 1], e[EXTENSION_BAND + 1], best = 0;
    for (INDEX k = 0; k <= EXTENSION_BAND; k++) {
      h[k] = EXTENSION_NONE;
      e[k] = EXTENSION_NONE;
      INDEX j = k - half;
      if (j == 0)
        h[k] = 0;
      else if (0 < j && j <= cols && k < EXTENSION_BAND)
        h[k] = -opening - j * extension;
    }
    for (INDEX r = 1; r <= rows; r++) {
      unsigned char c = query[r - 1];
      int gap = EXTENSION_NONE, left = EXTENSION_NONE, top = EXTENSION_NONE;
      for (INDEX k = 0; k < EXTENSION_BAND; k++) {
        INDEX j = r + k - half;
        int v = EXTENSION_NONE, down = EXTENSION_NONE;
        if (0 <= j && j <= cols) {
          down = MAX(e[k + 1], h[k + 1] - opening) - extension;
          gap = MAX(gap, left - opening) - extension;
          v = MAX(down, gap);
          if (j > 0) v = MAX(v, h[k] + (c == target[j - 1] ? match : -mismatch));
        }
        e[k] = down;
        h[k] = v;
        left = v;
        top = MAX(top, v);
        if (v > best) {
          best = v;
          best_row = r;
          best_col = j;
        }
      }
      if (top < best - drop) break;
    }
    scores[i] = best;
    ends[2 * i] = best_row;
    ends[2 * i + 1] = best_col;
""",
    schedule=" schedule(dynamic, 64)",
)

SEGMENT_HEAD = """best_segment(const unsigned char *__restrict__ symbols, const int *__restrict__ starts,
                  const unsigned char *__restrict__ costs, int bias, int enter, int back, int *__restrict__ results,
                  int places, int n)"""
SEGMENT = indexed(
    f"""
__global__ void {SEGMENT_HEAD} {{
  __shared__ unsigned char row[2][129];
  __shared__ int tops[2][4];
  INDEX item = blockIdx.x, k = threadIdx.x;
  row[0][k] = 0;
  row[1][k] = 0;
  int start = enter, jump = 0, now = 0;
  __syncthreads();
  INDEX end = starts[item + 1];
  for (INDEX at = starts[item]; at < end; at++) {{
    int v = 0;
    if (k < places) {{
      v = min(max((int)row[now][k], start) + bias, 255);
      v = max(v - (int)costs[symbols[at] * places + k], 0);
    }}
    now = 1 - now;
    row[now][k + 1] = v;
    int top = v;
    for (int step = 16; step > 0; step /= 2)
      top = max(top, __shfl_xor_sync(0xffffffff, top, step));
    if (k % 32 == 0) tops[now][k / 32] = top;
    __syncthreads();
    top = max(max(tops[now][0], tops[now][1]), max(tops[now][2], tops[now][3]));
    jump = max(jump, top - back);
    start = max(enter, jump);
  }}
  if (k == 0) results[item] = jump;
}}
""",
    f"""
void {SEGMENT_HEAD} {{
#pragma omp parallel for schedule(dynamic, 8)
  for (INDEX item = 0; item < n; item++) {{
    int row[129] = {{0}}, start = enter, jump = 0;
    for (INDEX at = starts[item]; at < starts[item + 1]; at++) {{
      const unsigned char *cost = costs + symbols[at] * places;
      int top = 0;
      for (INDEX k = places - 1; k >= 0; k--) {{
        int v = MIN(MAX(row[k], start) + bias, 255) - cost[k];
        row[k + 1] = v = MAX(v, 0);
        top = MAX(top, v);
      }}
      jump = MAX(jump, top - back);
      start = MAX(enter, jump);
    }}
    results[item] = jump;
  }}
}}
""",
)

INDEX_BEFORE = """
DEVICE INDEX fm_rank(const int *__restrict__ counts, const unsigned long long *__restrict__ planes, int c,
                    INDEX place) {
  INDEX block = place >> 6;
  unsigned long long low = planes[2 * block], high = planes[2 * block + 1];
  if (!(c & 1)) low = ~low;
  if (!(c & 2)) high = ~high;
  return counts[4 * block + c] + POPCOUNT(low & high & ((1ULL << (place & 63)) - 1));
}
"""
INDEX_HEAD = """index_counts(const int *__restrict__ counts, const unsigned long long *__restrict__ planes,
                  const int *__restrict__ first, int length, const unsigned char *__restrict__ patterns,
                  int *__restrict__ found, int n, int size)"""
INDEX_BODY = """
    INDEX low = 0, high = length;
    for (INDEX k = size - 1; k >= 0; k--) {
      int c = patterns[i * size + k];
      low = first[c] + fm_rank(counts, planes, c, low);
      high = first[c] + fm_rank(counts, planes, c, high);
      if (low >= high) break;
    }
    found[i] = high > low ? high - low : 0;
"""
INDEX_SIDES = {
    key: text.replace("POPCOUNT", "__builtin_popcountll" if key == "openmp" else "__popcll")
    for key, text in each(INDEX_HEAD, INDEX_BODY, before=INDEX_BEFORE).items()
}

MINIMIZERS = each(
    """minimizers(const unsigned char *__restrict__ codes, int k, int window, unsigned long long *__restrict__ hashes,
               int *__restrict__ places, int n)""",
    """
    unsigned long long mask = (1ULL << 2 * k) - 1, forward = 0, reverse = 0, best = ~0ULL;
    INDEX place = 0;
    for (INDEX j = 0; j < k + window - 1; j++) {
      unsigned long long code = codes[i + j];
      forward = (forward << 2 | code) & mask;
      reverse = reverse >> 2 | (3 - code) << (2 * k - 2);
      if (j >= k - 1) {
        unsigned long long key = minimizer_hash(forward < reverse ? forward : reverse, mask);
        if (key < best) {
          best = key;
          place = i + j - k + 1;
        }
      }
    }
    hashes[i] = best;
    places[i] = place;
""",
    before="""
DEVICE unsigned long long minimizer_hash(unsigned long long key, unsigned long long mask) {
  key = (~key + (key << 21)) & mask;
  key ^= key >> 24;
  key = (key + (key << 3) + (key << 8)) & mask;
  key ^= key >> 14;
  key = (key + (key << 2) + (key << 4)) & mask;
  key ^= key >> 28;
  return (key + (key << 31)) & mask;
}
""",
)

KERNELS = [
    Kernel(
        "extensions within a band", banded_extension,
        "uint8[:,::1], uint8[:,::1], int32[:,::1], pyint, pyint, pyint, pyint, pyint, int32[::1], int32[:,::1]", 64,
        extension_problem,
        gpu=100_003, host=3001, test=67, kind="irregular", **EXTENSION,
    ),
    Kernel(
        "best segments of a profile", best_segment,
        "uint8[::1], int32[::1], uint8[:,::1], pyint, pyint, pyint, int32[::1]", 128, segment_problem,
        gpu=10_007, host=503, test=3, kind="shared", **SEGMENT,
    ),
    Kernel(
        "patterns in an index",
        index_counts, "int32[:,::1], uint64[:,::1], int32[::1], pyint, uint8[:,::1], int32[::1]",
        128, index_problem,
        gpu=1_000_003, host=30_011, test=301, kind="irregular", **INDEX_SIDES,
    ),
    Kernel(
        "minimizers", minimizers, "uint8[::1], pyint, pyint, uint64[::1], int32[::1]", 256, minimizer_problem,
        gpu=10_000_019, host=200_003, test=1003, **MINIMIZERS,
    ),
]  # fmt: skip
