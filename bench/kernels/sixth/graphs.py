"""Graphs: softmax of edges, triangles over edges, a step of shortest paths."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32

FAR = 2**31 - 1


def edge_softmax(starts, ends, source, target, slope, out):
    """Attention over a node's edges (leaky ReLU, then softmax), a warp a node."""
    node = cuda.grid(1) // 32
    lane = cuda.threadIdx.x % 32
    if node >= source.size:
        return
    first = starts[node]
    last = starts[node + 1]
    top = float32(-3.0e38)
    for e in range(first + lane, last, 32):
        v = source[node] + target[ends[e]]
        if v < 0:
            v *= slope
        out[e] = v
        top = max(top, v)
    for d in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, d))
    whole = float32(0.0)
    for e in range(first + lane, last, 32):
        v = math.exp(out[e] - top)
        out[e] = v
        whole += v
    for d in (16, 8, 4, 2, 1):
        whole += cuda.shfl_xor_sync(0xFFFFFFFF, whole, d)
    for e in range(first + lane, last, 32):
        out[e] /= whole


def edge_triangles(starts, ends, heads, counts):
    """Triangles over each edge: two sorted lists of neighbours are merged."""
    e = cuda.grid(1)
    if e < ends.size:
        u = heads[e]
        v = ends[e]
        i = starts[u]
        j = starts[v]
        last_i = starts[u + 1]
        last_j = starts[v + 1]
        found = 0
        while i < last_i and j < last_j:
            a = ends[i]
            b = ends[j]
            if a == b:
                found += 1
                i += 1
                j += 1
            elif a < b:
                i += 1
            else:
                j += 1
        counts[e] = found


def relax_edges(starts, ends, lengths, distance, active, new_distance, new_active):
    """A step of Bellman and Ford: active nodes offer their neighbours shorter ways."""
    u = cuda.grid(1)
    if u >= distance.size or active[u] == 0:
        return
    here = distance[u]
    for e in range(starts[u], starts[u + 1]):
        v = ends[e]
        way = here + lengths[e]
        if way < distance[v]:
            cuda.atomic.min(new_distance, v, way)
            new_active[v] = 1


def ways(rng, n, most):
    degree = rng.integers(0, most, n)
    return np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)


def softmax_problem(rng, n):
    starts = ways(rng, n, 61)
    ends = rng.integers(0, n, starts[-1]).astype(np.int32)
    source, target = (rng.standard_normal(n, dtype=np.float32) for _ in range(2))

    def expected():
        v = source[np.repeat(np.arange(n), np.diff(starts))].astype(float) + target[ends]
        v = np.where(v < 0, float(np.float32(0.2)) * v, v)
        busy = np.flatnonzero(np.diff(starts))
        degree = np.diff(starts)[busy]
        p = np.exp(v - np.repeat(np.maximum.reduceat(v, starts[busy]), degree))
        p /= np.repeat(np.add.reduceat(p, starts[busy]), degree)
        return [(slice(None), p, 60 * EPS32 * p)]  # exponents below 12, 60 values to be added

    args = (starts, ends, source, target, np.float32(0.2), np.zeros(ends.size, np.float32))
    return Problem(args, (n, ends.size), (5,), expected, threads=32 * n, bytes=12.0 * ends.size)


def triangles_problem(rng, n):
    reach = 60
    chosen = (rng.random((n, reach)) < 0.3) & (np.arange(n)[:, None] + np.arange(1, reach + 1) < n)
    heads, offsets = np.nonzero(chosen)
    starts = np.concatenate([[0], np.cumsum(chosen.sum(1))]).astype(np.int32)
    ends = (heads + offsets + 1).astype(np.int32)

    def expected():
        at = sampled(rng, ends.size, 20000)
        count = np.zeros(at.size, np.int32)
        for c, e in enumerate(at):
            u, v = heads[e], ends[e]
            one, other = chosen[u, v - u :], chosen[v, : reach - (v - u)]
            count[c] = np.count_nonzero(one & other)
        return [(at, count, 0)]

    args = (starts, ends, heads.astype(np.int32), np.zeros(ends.size, np.int32))
    return Problem(args, (n, ends.size), (3,), expected, threads=ends.size, bytes=12.0 * ends.size)


def relax_problem(rng, n):
    starts = ways(rng, n, 23)
    ends, lengths = rng.integers(0, n, starts[-1]).astype(np.int32), rng.integers(1, 100, starts[-1]).astype(np.int32)
    distance = np.where(rng.random(n) < 0.7, rng.integers(0, 500, n), FAR).astype(np.int32)
    active = ((distance != FAR) & (rng.random(n) < 0.6)).astype(np.uint8)

    def expected():
        u = np.repeat(np.arange(n), np.diff(starts))
        way = distance[u].astype(np.int64) + lengths
        better = (active[u] != 0) & (way < distance[ends])
        new = distance.copy()
        np.minimum.at(new, ends[better], way[better].astype(np.int32))
        flags = np.zeros(n, np.uint8)
        flags[ends[better]] = 1
        return [(slice(None), new, 0), (slice(None), flags, 0)]

    args = (starts, ends, lengths, distance, active, distance.copy(), np.zeros(n, np.uint8))
    return Problem(args, (n, ends.size), (5, 6), expected, threads=n, bytes=12.0 * ends.size)


SOFTMAX_HEAD = """edge_softmax(const int *starts, const int *ends, const float *source, const float *target,
                  float slope, float *out, int n, int edges)"""
SOFTMAX = indexed(
    f"""
__global__ void {SOFTMAX_HEAD} {{
  INDEX node = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (node >= n) return;
  INDEX first = starts[node], last = starts[node + 1];
  float top = -3.0e38f, whole = 0;
  for (INDEX e = first + lane; e < last; e += 32) {{
    float v = source[node] + target[ends[e]];
    if (v < 0) v *= slope;
    out[e] = v;
    top = fmaxf(top, v);
  }}
  for (int d = 16; d > 0; d /= 2)
    top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, d));
  for (INDEX e = first + lane; e < last; e += 32) {{
    float v = expf(out[e] - top);
    out[e] = v;
    whole += v;
  }}
  for (int d = 16; d > 0; d /= 2)
    whole += __shfl_xor_sync(0xffffffff, whole, d);
  for (INDEX e = first + lane; e < last; e += 32)
    out[e] /= whole;
}}
""",
    f"""
void {SOFTMAX_HEAD} {{
#pragma omp parallel for
  for (INDEX node = 0; node < n; node++) {{
    INDEX first = starts[node], last = starts[node + 1];
    float top = -3.0e38f, whole = 0;
    for (INDEX e = first; e < last; e++) {{
      float v = source[node] + target[ends[e]];
      if (v < 0) v *= slope;
      out[e] = v;
      top = fmaxf(top, v);
    }}
    for (INDEX e = first; e < last; e++) {{
      float v = expf(out[e] - top);
      out[e] = v;
      whole += v;
    }}
    for (INDEX e = first; e < last; e++)
      out[e] /= whole;
  }}
}}
""",
)

TRIANGLES = each(
    "edge_triangles(const int *starts, const int *ends, const int *heads, int *counts, int n, int edges)",
    """
    int u = heads[e], v = ends[e];
    INDEX i = starts[u], j = starts[v], last_i = starts[u + 1], last_j = starts[v + 1];
    int found = 0;
    while (i < last_i && j < last_j) {
      int a = ends[i], b = ends[j];
      if (a == b) {
        found++;
        i++;
        j++;
      } else if (a < b)
        i++;
      else
        j++;
    }
    counts[e] = found;
""",
    extent="edges",
    index="e",
)

RELAX_HEAD = """relax_edges(const int *starts, const int *ends, const int *lengths, const int *distance,
                 const unsigned char *active, int *new_distance, unsigned char *new_active, int n, int edges)"""
RELAX_BODY = """
    if (active[u] == 0) RELAX_NEXT;
    int here = distance[u];
    INDEX last = starts[u + 1];
    for (INDEX e = starts[u]; e < last; e++) {
      int v = ends[e], way = here + lengths[e];
      if (way < distance[v]) {
        RELAX_MIN(new_distance + v, way);
        new_active[v] = 1;
      }
    }
"""
RELAX = indexed(
    f"""
__global__ void {RELAX_HEAD} {{
  INDEX u = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (u < n) {{{RELAX_BODY.replace("RELAX_NEXT", "return").replace("RELAX_MIN", "atomicMin")}  }}
}}
""",
    f"""
static inline void relax_min(int *at, int value) {{
  int old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (value < old && !__atomic_compare_exchange_n(at, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {{
  }}
}}
void {RELAX_HEAD} {{
#pragma omp parallel for
  for (INDEX u = 0; u < n; u++) {{{RELAX_BODY.replace("RELAX_NEXT", "continue").replace("RELAX_MIN", "relax_min")}  }}
}}
""",
)

KERNELS = [
    Kernel(
        "softmax of edges", edge_softmax,
        "int32[::1], int32[::1], float32[::1], float32[::1], float32, float32[::1]", 128,
        softmax_problem,
        gpu=150_001, host=3001, test=101, kind="irregular", **SOFTMAX,
    ),
    Kernel(
        "triangles over edges", edge_triangles, "int32[::1], int32[::1], int32[::1], int32[::1]", 128,
        triangles_problem,
        gpu=150_001, host=2003, test=103, kind="irregular", **TRIANGLES,
    ),
    Kernel(
        "shortest paths, a step", relax_edges,
        "int32[::1], int32[::1], int32[::1], int32[::1], uint8[::1], int32[::1], uint8[::1]", 256,
        relax_problem,
        gpu=500_009, host=10_009, test=509, kind="irregular", **RELAX,
    ),
]  # fmt: skip
