"""Statistics: permutations, Hamiltonian trajectories, samples compared, topics drawn, local lines."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, int32, uint32


def permuted_sums(values, chosen, seed, sums):
    """A permutation test: for each permutation the sum of as many values as the first group has, drawn without
    putting back.
    """
    i = cuda.grid(1)
    if i >= sums.size:
        return
    state = uint32(i + 1) * uint32(747796405) + uint32(seed)
    need = chosen
    total = 0
    for k in range(values.size):
        state = state * uint32(1664525) + uint32(1013904223)
        left = values.size - k
        if int(state >> 8) * left < need << 24:
            total += int(values[k])
            need -= 1
            if need == 0:
                break
    sums[i] = total


def sign_flips(values, seed, extremes):
    """How often the mean of values with random signs is as far from zero as the true one: a warp a series, 32 signs a
    word.
    """
    series = cuda.grid(1) // 32
    lane = cuda.grid(1) % 32
    if series >= values.shape[0]:
        return
    true = 0
    for k in range(values.shape[1]):
        true += int(values[series, k])
    count = 0
    for turn in range(lane, 256, 32):
        state = uint32(series * 256 + turn) * uint32(2654435769) ^ uint32(seed)
        total = 0
        for k in range(values.shape[1]):
            if k % 32 == 0:
                state ^= state >> 16
                state *= uint32(0x7FEB352D)
                state ^= state >> 15
                state += uint32(0x9E3779B9)
            value = int(values[series, k])
            total += value if state >> (k % 32) & 1 else -value
        if abs(total) >= abs(true):
            count += 1
    for step in (16, 8, 4, 2, 1):
        count += cuda.shfl_down_sync(0xFFFFFFFF, count, step)
    if lane == 0:
        extremes[series] = count


def hamiltonian_steps(data, labels, places, speeds, steps, size, new_places, changes):
    """Trajectories of Hamiltonian Monte Carlo for a logistic regression with a normal prior, by leapfrog; a chain a
    thread.
    """
    chain = cuda.grid(1)
    if chain >= places.shape[0]:
        return
    q = cuda.local.array(5, float32)
    p = cuda.local.array(5, float32)
    g = cuda.local.array(5, float32)
    before = float32(0)
    for d in range(5):
        q[d] = places[chain, d]
        p[d] = speeds[chain, d]
        before += p[d] * p[d] / 2
    for step in range(steps + 1):
        for d in range(5):
            g[d] = q[d]
        loss = float32(0)
        for k in range(labels.size):
            z = float32(0)
            for d in range(5):
                z += q[d] * data[k, d]
            y = labels[k]
            error = 1 / (1 + math.exp(-z)) - y
            loss += max(z, 0) + math.log1p(math.exp(-abs(z))) - y * z
            for d in range(5):
                g[d] += error * data[k, d]
        half = size / 2 if step == 0 or step == steps else size
        energy = loss
        for d in range(5):
            energy += q[d] * q[d] / 2
            p[d] -= half * g[d]
        if step == 0:
            before += energy
        if step < steps:
            for d in range(5):
                q[d] += size * p[d]
        else:
            for d in range(5):
                energy += p[d] * p[d] / 2
            changes[chain] = energy - before
    for d in range(5):
        new_places[chain, d] = q[d]


def sample_distances(first, second, first_sizes, second_sizes, distances):
    """Kolmogorov and Smirnov's distance of two sorted samples, times both sizes; equal values count at once."""
    i = cuda.grid(1)
    if i >= distances.size:
        return
    m = int(first_sizes[i])
    n = int(second_sizes[i])
    j = k = 0
    most = 0
    while j < m and k < n:
        value = min(first[i, j], second[i, k])
        while j < m and first[i, j] <= value:
            j += 1
        while k < n and second[i, k] <= value:
            k += 1
        most = max(most, abs(j * n - k * m))
    distances[i] = most


def drawn_topics(words, starts, weights, topics, seed, out):
    """A Gibbs sweep over the words of each document: topics drawn by how often the document has them, times a weight of
    the word.
    """
    document = cuda.grid(1)
    if document >= starts.size - 1:
        return
    have = cuda.local.array(12, int32)
    for z in range(12):
        have[z] = 0
    begin, end = int(starts[document]), int(starts[document + 1])
    for k in range(begin, end):
        have[topics[k]] += 1
    state = uint32(document) * uint32(2654435761) ^ uint32(seed) | uint32(1)
    for k in range(begin, end):
        old = topics[k]
        have[old] -= 1
        total = 0
        for z in range(12):
            total += (2 * int(have[z]) + 1) * int(weights[words[k], z])
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        rest = int(state) % total
        new = 0
        while new < 11:
            rest -= (2 * int(have[new]) + 1) * int(weights[words[k], new])
            if rest < 0:
                break
            new += 1
        have[new] += 1
        out[k] = new


def local_lines(x, y, queries, width, out):
    """LOESS: at each query the line through what is near, with tricube weights; x is sorted."""
    i = cuda.grid(1)
    if i >= queries.size:
        return
    q = queries[i]
    k = 0
    high = x.size
    while k < high:
        middle = (k + high) // 2
        if x[middle] <= q - width:
            k = middle + 1
        else:
            high = middle
    w = wx = wxx = wy = wxy = float32(0)
    while k < x.size and x[k] < q + width:
        d = (x[k] - q) / width
        a = 1 - abs(d) ** 3
        a = a * a * a
        w += a
        wx += a * d
        wxx += a * d * d
        wy += a * y[k]
        wxy += a * d * y[k]
        k += 1
    out[i] = (wxx * wy - wx * wxy) / (w * wxx - wx * wx)


def permutation_problem(rng, n):
    values = rng.integers(-500, 500, 307).astype(np.int16)
    chosen, seed = 119, 99

    def expected():
        at = sampled(rng, n, 3000)
        u = np.uint32
        state = (at + 1).astype(u) * u(747796405) + u(seed)
        need, total = np.full(len(at), chosen), np.zeros(len(at), int)
        for k in range(len(values)):
            state = state * u(1664525) + u(1013904223)
            take = ((state >> u(8)).astype(int) * (len(values) - k) < need << 24) & (need > 0)
            total += np.where(take, int(values[k]), 0)
            need -= take
        return [(at, total, 0)]

    args = (values, chosen, seed, np.full(n, 1 << 30, np.int32))
    return Problem(args, (len(values), n), (3,), expected, threads=n, bytes=4.0 * n, flops=8.0 * 300 * n)


def flips_problem(rng, n):
    size, seed = 83, 4321
    values = (rng.integers(-100, 101, (n, size)) + rng.integers(-20, 21, (n, 1))).astype(np.int8)

    def expected():
        at = sampled(rng, n, 100)
        u = np.uint32
        state = (at[:, None] * 256 + np.arange(256)).astype(u) * u(2654435769) ^ u(seed)
        v, total = values[at].astype(int), 0
        for k in range(size):
            if k % 32 == 0:
                state = (state ^ state >> u(16)) * u(0x7FEB352D)
                state = (state ^ state >> u(15)) + u(0x9E3779B9)
            total = total + np.where(state >> u(k % 32) & u(1) == 1, v[:, k : k + 1], -v[:, k : k + 1])
        return [(at, (abs(total) >= abs(v.sum(1, keepdims=True))).sum(1), 0)]

    args = (values, seed, np.full(n, -1, np.int32))
    return Problem(args, (n, size), (2,), expected, threads=32 * n, bytes=1.0 * n * size, flops=4.0 * 256 * size * n)


def hamiltonian_problem(rng, n):
    rows, dims, steps, size = 101, 5, 7, np.float32(0.02)
    data = rng.standard_normal((rows, dims), np.float32)
    data[:, 0] = 1
    truth = rng.standard_normal(dims)
    labels = (rng.random(rows) < 1 / (1 + np.exp(-data @ truth))).astype(np.float32)
    places = (truth + 0.3 * rng.standard_normal((n, dims))).astype(np.float32)
    speeds = rng.standard_normal((n, dims), np.float32)

    def expected():
        at = sampled(rng, n, 400)
        q, p, x, y, h = places[at].astype(float), speeds[at].astype(float), data.astype(float), labels.astype(float), float(size)

        def gradient():
            return q + (1 / (1 + np.exp(-q @ x.T)) - y) @ x

        def energy():
            z = q @ x.T
            return (np.logaddexp(0, z) - y * z).sum(1) + (q * q + p * p).sum(1) / 2

        before = energy()
        p = p - h / 2 * gradient()
        for k in range(steps):
            q = q + h * p
            p = p - (h / 2 if k == steps - 1 else h) * gradient()
        change = energy() - before
        # A sum of 101 losses of a few units, twice; places change by little.
        return [(at, q, 100 * EPS32), (at, change, rows * 8 * EPS32 * 8)]

    args = (data, labels, places, speeds, steps, size, np.full((n, dims), 99, np.float32), np.full(n, 99, np.float32))
    return Problem(
        args, (rows, n), (6, 7), expected, threads=n, bytes=64.0 * n, flops=50.0 * rows * (steps + 1) * n,
    )  # fmt: skip


def samples_problem(rng, n):
    most = 96
    first, second = np.sort(rng.integers(0, 60, (2, n, most)) + rng.integers(0, 20, (2, n, 1)), 2).astype(np.int16)
    sizes = rng.integers(20, most + 1, (2, n)).astype(np.int32)

    def expected():
        at, values = sampled(rng, n, 2000), []
        for i in at:
            a, b = first[i, : sizes[0, i]], second[i, : sizes[1, i]]
            both = np.concatenate([a, b])
            values.append(np.abs(np.searchsorted(a, both, "right") * len(b) - np.searchsorted(b, both, "right") * len(a)).max())
        return [(at, np.array(values), 0)]

    args = (first, second, sizes[0].copy(), sizes[1].copy(), np.full(n, -1, np.int32))
    return Problem(args, (n, most), (4,), expected, threads=n, bytes=4.0 * most * n, flops=8.0 * 120 * n)


def topics_problem(rng, n):
    vocabulary, seed = 3001, 7
    sizes = rng.integers(0, 90, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    words = rng.integers(0, vocabulary, int(starts[-1])).astype(np.int32)
    weights = (1 + rng.geometric(0.02, (vocabulary, 12))).clip(1, 255).astype(np.uint8)
    topics = rng.integers(0, 12, len(words)).astype(np.int8)

    def expected():
        documents, places, values = sampled(rng, n, 200), [], []
        for d in documents:
            begin, end = int(starts[d]), int(starts[d + 1])
            have = np.bincount(topics[begin:end], minlength=12)
            state = (d * 2654435761 & 0xFFFFFFFF ^ seed) | 1
            for k in range(begin, end):
                have[topics[k]] -= 1
                shares = np.cumsum((2 * have + 1) * weights[words[k]].astype(int))
                state ^= state << 13 & 0xFFFFFFFF
                state ^= state >> 17
                state ^= state << 5 & 0xFFFFFFFF
                new = int(np.searchsorted(shares, int(state) % int(shares[-1]), "right"))
                have[new] += 1
                places.append(k)
                values.append(new)
        return [(np.array(places), np.array(values), 0)]

    args = (words, starts, weights, topics, seed, np.full(len(words), 99, np.int8))
    return Problem(
        args, (n, 12), (5,), expected, threads=n, bytes=6.0 * len(words) + weights.size, flops=60.0 * len(words),
    )  # fmt: skip


def lines_problem(rng, n):
    count = 20_011
    x = np.sort(rng.uniform(0, 1000, count)).astype(np.float32)
    y = (10 * np.sin(x / 50) + rng.standard_normal(count)).astype(np.float32)
    queries = rng.uniform(5, 995, n).astype(np.float32)
    width = np.float32(4)

    def expected():
        at = sampled(rng, n, 2000)
        values, bounds = [], []
        for q in queries[at].astype(float):
            low, high = np.searchsorted(x, [q - 5, q + 5])
            d = (x[low:high].astype(float) - q) / 4
            a = np.maximum(1 - np.abs(d) ** 3, 0) ** 3
            w, wx, wxx, wy, wxy = a.sum(), (a * d).sum(), (a * d * d).sum(), (a * y[low:high]).sum(), (a * d * y[low:high]).sum()
            values.append((wxx * wy - wx * wxy) / (w * wxx - wx * wx))
            bounds.append(EPS32 * (len(d) + 20) * 13 * w * wxx / (w * wxx - wx * wx) * 2)
        return [(at, np.array(values), np.array(bounds))]

    args = (x, y, queries, width, np.full(n, 99, np.float32))
    return Problem(args, (count, n), (4,), expected, threads=n, bytes=8.0 * n, flops=20.0 * 160 * n)


PERMUTATION = each(
    "permuted_sums(const short *__restrict__ values, int chosen, int seed, int *__restrict__ sums, int size, int n)",
    """
    unsigned state = (unsigned)(i + 1) * 747796405u + (unsigned)seed;
    long long need = chosen;
    INDEX total = 0;
    for (INDEX k = 0; k < size; k++) {
      state = state * 1664525u + 1013904223u;
      if ((long long)(state >> 8) * (size - k) < need << 24) {
        total += values[k];
        if (--need == 0) break;
      }
    }
    sums[i] = total;
""",
)

FLIPS_HEAD = "sign_flips(const signed char *__restrict__ values, int seed, int *__restrict__ extremes, int n, int size)"
FLIPS_TURN = """
    unsigned state = (unsigned)(series * 256 + turn) * 2654435769u ^ (unsigned)seed;
    INDEX total = 0;
    for (INDEX k = 0; k < size; k++) {
      if (k % 32 == 0) {
        state ^= state >> 16;
        state *= 0x7feb352du;
        state ^= state >> 15;
        state += 0x9e3779b9u;
      }
      int value = values[series * size + k];
      total += state >> (k % 32) & 1 ? value : -value;
    }
    if ((total < 0 ? -total : total) >= (sum < 0 ? -sum : sum)) count++;
"""
FLIPS = indexed(
    f"""
__global__ void {FLIPS_HEAD} {{
  INDEX series = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, sum = 0;
  int lane = threadIdx.x % 32, count = 0;
  if (series >= n) return;
  for (INDEX k = 0; k < size; k++)
    sum += values[series * size + k];
  for (int turn = lane; turn < 256; turn += 32) {{{FLIPS_TURN}  }}
  for (int step = 16; step > 0; step /= 2)
    count += __shfl_down_sync(0xffffffff, count, step);
  if (lane == 0) extremes[series] = count;
}}
""",
    f"""
void {FLIPS_HEAD} {{
#pragma omp parallel for
  for (INDEX series = 0; series < n; series++) {{
    INDEX sum = 0;
    int count = 0;
    for (INDEX k = 0; k < size; k++)
      sum += values[series * size + k];
    for (int turn = 0; turn < 256; turn++) {{{FLIPS_TURN}    }}
    extremes[series] = count;
  }}
}}
""",
)

HAMILTONIAN = each(
    """hamiltonian_steps(const float *__restrict__ data, const float *__restrict__ labels, const float *__restrict__ places,
                       const float *__restrict__ speeds, int steps, float size, float *__restrict__ new_places,
                       float *__restrict__ changes, int rows, int n)""",
    """
    float q[5], p[5], g[5], before = 0;
    for (int d = 0; d < 5; d++) {
      q[d] = places[5 * i + d];
      p[d] = speeds[5 * i + d];
      before += p[d] * p[d] / 2;
    }
    for (INDEX step = 0; step <= steps; step++) {
      for (int d = 0; d < 5; d++)
        g[d] = q[d];
      float energy = 0;
      for (INDEX k = 0; k < rows; k++) {
        float z = 0, y = labels[k];
        for (int d = 0; d < 5; d++)
          z += q[d] * data[5 * k + d];
        float error = 1 / (1 + expf(-z)) - y;
        energy += fmaxf(z, 0) + log1pf(expf(-fabsf(z))) - y * z;
        for (int d = 0; d < 5; d++)
          g[d] += error * data[5 * k + d];
      }
      float half_step = step == 0 || step == steps ? size / 2 : size;
      for (int d = 0; d < 5; d++) {
        energy += q[d] * q[d] / 2;
        p[d] -= half_step * g[d];
      }
      if (step == 0) before += energy;
      if (step < steps) {
        for (int d = 0; d < 5; d++)
          q[d] += size * p[d];
      } else {
        for (int d = 0; d < 5; d++)
          energy += p[d] * p[d] / 2;
        changes[i] = energy - before;
      }
    }
    for (int d = 0; d < 5; d++)
      new_places[5 * i + d] = q[d];
""",
)

SAMPLES = each(
    """sample_distances(const short *__restrict__ first, const short *__restrict__ second, const int *__restrict__ first_sizes,
                      const int *__restrict__ second_sizes, int *__restrict__ distances, int n, int most)""",
    """
    INDEX sizes_a = first_sizes[i], sizes_b = second_sizes[i], j = 0, k = 0, far = 0;
    const short *a = first + i * most, *b = second + i * most;
    while (j < sizes_a && k < sizes_b) {
      short value = MIN(a[j], b[k]);
      while (j < sizes_a && a[j] <= value) j++;
      while (k < sizes_b && b[k] <= value) k++;
      INDEX d = j * sizes_b - k * sizes_a;
      far = MAX(far, d < 0 ? -d : d);
    }
    distances[i] = far;
""",
)

TOPICS = each(
    """drawn_topics(const int *__restrict__ words, const int *__restrict__ starts, const unsigned char *__restrict__ weights,
                  const signed char *__restrict__ topics, int seed, signed char *__restrict__ out, int n, int kinds)""",
    """
    int have[12] = {0};
    INDEX begin = starts[i], end = starts[i + 1];
    for (INDEX k = begin; k < end; k++)
      have[topics[k]]++;
    unsigned state = ((unsigned)i * 2654435761u ^ (unsigned)seed) | 1;
    for (INDEX k = begin; k < end; k++) {
      const unsigned char *w = weights + words[k] * (INDEX)kinds;
      have[topics[k]]--;
      int total = 0, fresh = 0;
      for (int z = 0; z < 12; z++)
        total += (2 * have[z] + 1) * w[z];
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      int rest = state % (unsigned)total;
      while (fresh < 11) {
        rest -= (2 * have[fresh] + 1) * w[fresh];
        if (rest < 0) break;
        fresh++;
      }
      have[fresh]++;
      out[k] = fresh;
    }
""",
)

LINES = each(
    """local_lines(const float *__restrict__ x, const float *__restrict__ y, const float *__restrict__ queries, float width,
                 float *__restrict__ out, int size, int n)""",
    """
    float q = queries[i], w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0;
    INDEX k = 0, high = size;
    while (k < high) {
      INDEX middle = (k + high) / 2;
      if (x[middle] <= q - width)
        k = middle + 1;
      else
        high = middle;
    }
    for (; k < size && x[k] < q + width; k++) {
      float d = (x[k] - q) / width, b = fabsf(d), a = 1 - b * b * b;
      a = a * a * a;
      w += a;
      wx += a * d;
      wxx += a * d * d;
      wy += a * y[k];
      wxy += a * d * y[k];
    }
    out[i] = (wxx * wy - wx * wxy) / (w * wxx - wx * wx);
""",
)

KERNELS = [
    Kernel(
        "sums of permutations", permuted_sums, "int16[::1], pyint, pyint, int32[::1]", 256, permutation_problem,
        gpu=1_000_003, host=10_007, test=503, **PERMUTATION,
    ),
    Kernel(
        "signs that flip", sign_flips, "int8[:,::1], pyint, int32[::1]", 128, flips_problem, gpu=20_011, host=203, test=11,
        **FLIPS,
    ),
    Kernel(
        "Hamiltonian trajectories", hamiltonian_steps,
        "float32[:,::1], float32[::1], float32[:,::1], float32[:,::1], pyint, float32, float32[:,::1], float32[::1]", 64,
        hamiltonian_problem, gpu=100_003, host=1003, test=103, **HAMILTONIAN,
    ),
    Kernel(
        "distances of samples", sample_distances, "int16[:,::1], int16[:,::1], int32[::1], int32[::1], int32[::1]", 64,
        samples_problem, gpu=200_003, host=5003, test=203, kind="irregular", **SAMPLES,
    ),
    Kernel(
        "topics that are drawn", drawn_topics, "int32[::1], int32[::1], uint8[:,::1], int8[::1], pyint, int8[::1]", 64,
        topics_problem, gpu=50_021, host=1003, test=103, kind="irregular", **TOPICS,
    ),
    Kernel(
        "local lines", local_lines, "float32[::1], float32[::1], float32[::1], float32, float32[::1]", 128, lines_problem,
        gpu=1_000_003, host=10_007, test=503, kind="irregular", **LINES,
    ),
]  # fmt: skip
