"""Random numbers: Philox 4x32-10 (Salmon and others), walks by Box and Muller's normal numbers with
Marsaglia's xorshift, walks over a graph; and means of a moving window.
"""

import math

import numpy as np
from kernels.declare import EPS32, LINE, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, uint32, uint64


def philox(key0, key1, words):
    """Four words for each counter."""
    i = cuda.grid(1)
    if i < words.shape[0]:
        c0 = uint32(i)
        c1 = uint32(0)
        c2 = uint32(0)
        c3 = uint32(0)
        for _ in range(10):
            p = uint64(c0) * uint64(0xD2511F53)
            q = uint64(c2) * uint64(0xCD9E8D57)
            c0, c1, c2, c3 = uint32(q >> 32) ^ c1 ^ key0, uint32(q), uint32(p >> 32) ^ c3 ^ key1, uint32(p)
            key0 += uint32(0x9E3779B9)
            key1 += uint32(0xBB67AE85)
        words[i, 0] = c0
        words[i, 1] = c1
        words[i, 2] = c2
        words[i, 3] = c3


def xorshift(state):
    state ^= state << 13
    state ^= state >> 17
    state ^= state << 5
    return state


def gaussian_walks(seeds, steps, drift, places):
    """Sums of normal numbers, two from each pair of uniform ones."""
    i = cuda.grid(1)
    if i < places.size:
        state = seeds[i]
        place = np.float32(0)
        for _ in range(steps):
            state = xorshift(state)
            u = (np.float32(state >> 8) + np.float32(0.5)) * np.float32(2**-24)
            state = xorshift(state)
            angle = np.float32(state >> 8) * np.float32(2 * math.pi * 2**-24)
            radius = math.sqrt(-2 * math.log(u))
            place += drift + radius * math.cos(angle)
            place += drift + radius * math.sin(angle)
        places[i] = place


def graph_walks(offsets, targets, seeds, steps, ends):
    """Where walks end that begin at vertex i and take any edge on."""
    i = cuda.grid(1)
    if i < ends.size:
        vertex = i % (offsets.size - 1)
        state = seeds[i]
        for _ in range(steps):
            begin = offsets[vertex]
            degree = offsets[vertex + 1] - begin
            if degree == 0:
                break
            state = xorshift(state)
            vertex = targets[begin + (state >> 4) % degree]
        ends[i] = vertex


def window_means(x, radius, means):
    """Of the neighbours that there are."""
    i = cuda.grid(1)
    n = x.size
    if i < n:
        first = max(i - radius, 0)
        last = min(i + radius, n - 1)
        total = np.float32(0)
        for k in range(first, last + 1):
            total += x[k]
        means[i] = total / (last - first + 1)


def shifted(state):
    """xorshift of an array."""
    state = state ^ (state << np.uint32(13))
    state = state ^ (state >> np.uint32(17))
    return state ^ (state << np.uint32(5))


def philox_problem(rng, n):
    """n counters."""
    keys = rng.integers(1 << 32, size=2).astype(np.uint32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 10_000)
        c = [some.astype(np.uint32), *(np.zeros(len(some), np.uint32) for _ in range(3))]
        k0, k1 = (int(k) for k in keys)
        for _ in range(10):
            p, q = c[0].astype(np.uint64) * np.uint64(0xD2511F53), c[2].astype(np.uint64) * np.uint64(0xCD9E8D57)
            high = [(v >> np.uint64(32)).astype(np.uint32) for v in (p, q)]
            c = [high[1] ^ c[1] ^ np.uint32(k0), q.astype(np.uint32), high[0] ^ c[3] ^ np.uint32(k1), p.astype(np.uint32)]
            k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
        return [(some, np.stack(c, axis=1), 0)]

    return Problem(
        (*keys, np.zeros((n, 4), np.uint32)), (n, 4), (2,), expected, threads=n, bytes=16 * n, flops=100 * n
    )


def walks_problem(rng, n):
    """n walks of 61 pairs."""
    seeds, steps, drift = rng.integers(1, 1 << 32, n).astype(np.uint32), 61, np.float32(0.01)

    def expected():
        some = sampled(np.random.default_rng(0), n, 5000)
        state, place = seeds[some], np.zeros(len(some))
        for _ in range(steps):
            state = shifted(state)
            u = ((state >> np.uint32(8)).astype(np.float32) + np.float32(0.5)) * np.float32(2**-24)
            state = shifted(state)
            angle = (state >> np.uint32(8)).astype(np.float32) * np.float32(2 * math.pi * 2**-24)
            u, angle = u.astype(np.float64), angle.astype(np.float64)
            place += 2 * float(drift) + np.sqrt(-2 * np.log(u)) * (np.cos(angle) + np.sin(angle))
        # Radii up to 5.9 whose logarithm, root and sines are right to a few units; places up to 60.
        return [(some, place, steps * 2 * (5.9 * 8 + 60) * EPS32 / 2)]

    return Problem(
        (seeds, steps, drift, np.zeros(n, np.float32)), (n,), (3,), expected, threads=n, bytes=8 * n, flops=100 * steps * n
    )


def graph_problem(rng, n):
    """n walks of 37 steps over n / 8 vertices with up to 11 edges, few of them with none."""
    vertices = n // 8 + 1
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 12, vertices))]).astype(np.int32)
    targets = rng.integers(0, vertices, offsets[-1]).astype(np.int32)
    seeds, steps = rng.integers(1, 1 << 32, n).astype(np.uint32), 37

    def expected():
        some = sampled(np.random.default_rng(0), n, 5000)
        vertex, state = some % vertices, seeds[some]
        for _ in range(steps):
            begin, degree = offsets[vertex], offsets[vertex + 1] - offsets[vertex]
            state = shifted(state)
            on = degree > 0
            edge = np.where(on, begin + (state >> np.uint32(4)).astype(np.int64) % np.where(on, degree, 1), 0)
            vertex = np.where(on, targets[edge], vertex)
        return [(some, vertex, 0)]

    return Problem(
        (offsets, targets, seeds, steps, np.zeros(n, np.int32)), (vertices + 1, len(targets), n), (4,), expected, threads=n,
        bytes=8 * n, flops=10 * steps * n,
    )  # fmt: skip


def window_problem(rng, n):
    """A radius of 13."""
    x, radius = rng.random(n, np.float32), 13

    def expected():
        sums = np.concatenate([[0], np.cumsum(x, dtype=np.float64)])
        first, last = np.maximum(np.arange(n) - radius, 0), np.minimum(np.arange(n) + radius, n - 1) + 1
        means = (sums[last] - sums[first]) / (last - first)
        return [(np.s_[:], means, (2 * radius + 2) * EPS32 * means + n * 1e-16)]

    return Problem(
        (x, radius, np.zeros(n, np.float32)), (n,), (2,), expected, threads=n, bytes=8 * n, flops=(2 * radius + 1) * n
    )


XORSHIFT = """
DEVICE unsigned NAME(unsigned state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}
"""

PHILOX = each(
    "philox(unsigned key0, unsigned key1, unsigned *words, int n, int four)",
    """
    unsigned c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = key0, k1 = key1;
    for (INDEX r = 0; r < 10; r++) {
      unsigned long long p = c0 * 0xd2511f53ull, q = c2 * 0xcd9e8d57ull;
      c0 = (unsigned)(q >> 32) ^ c1 ^ k0;
      c2 = (unsigned)(p >> 32) ^ c3 ^ k1;
      c1 = q;
      c3 = p;
      k0 += 0x9e3779b9u;
      k1 += 0xbb67ae85u;
    }
    words[4 * i] = c0;
    words[4 * i + 1] = c1;
    words[4 * i + 2] = c2;
    words[4 * i + 3] = c3;
""",
)

WALKS = each(
    "gaussian_walks(const unsigned *seeds, int steps, float drift, float *places, int n)",
    """
    unsigned state = seeds[i];
    float place = 0;
    for (INDEX k = 0; k < steps; k++) {
      state = walks_xorshift(state);
      float u = ((state >> 8) + 0.5f) * (1.0f / 16777216);
      state = walks_xorshift(state);
      float angle = (state >> 8) * (6.283185307179586f / 16777216);
      float radius = sqrtf(-2 * logf(u));
      place += drift + radius * cosf(angle);
      place += drift + radius * sinf(angle);
    }
    places[i] = place;
""",
    before=XORSHIFT.replace("NAME", "walks_xorshift"),
)

GRAPH = each(
    "graph_walks(const int *offsets, const int *targets, const unsigned *seeds, int steps, int *ends, int entries, int edges, int n)",
    """
    int vertex = i % (entries - 1);
    unsigned state = seeds[i];
    for (INDEX k = 0; k < steps; k++) {
      int begin = offsets[vertex], degree = offsets[vertex + 1] - begin;
      if (degree == 0)
        break;
      state = graph_xorshift(state);
      vertex = targets[begin + (state >> 4) % degree];
    }
    ends[i] = vertex;
""",
    before=XORSHIFT.replace("NAME", "graph_xorshift"),
)

WINDOW = each(
    "window_means(const float *x, int radius, float *means, int n)",
    """
    INDEX first = MAX(i - radius, (INDEX)0), last = MIN(i + radius, (INDEX)n - 1);
    float total = 0;
    for (INDEX k = first; k <= last; k++)
      total += x[k];
    means[i] = total / (last - first + 1);
""",
)

KERNELS = [
    Kernel(
        "Philox 4x32-10", philox, "uint32, uint32, uint32[:,::1]", 256, philox_problem,
        gpu=20_000_003, host=2_000_003, test=1013, sweep=LINE, **PHILOX,
    ),
    Kernel(
        "walks, Box and Muller", gaussian_walks, "uint32[::1], pyint, float32, float32[::1]", 256, walks_problem,
        gpu=1_000_003, host=60_013, test=301, sweep=LINE, **WALKS,
    ),
    Kernel(
        "walks over a graph", graph_walks, "int32[::1], int32[::1], uint32[::1], pyint, int32[::1]", 256, graph_problem,
        gpu=1_000_003, host=100_003, test=301, kind="irregular", sweep=LINE, **GRAPH,
    ),
    Kernel(
        "moving means", window_means, "float32[::1], pyint, float32[::1]", 256, window_problem,
        gpu=20_000_003, host=2_000_003, test=1013, sweep=LINE, **WINDOW,
    ),
]  # fmt: skip
