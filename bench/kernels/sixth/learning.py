"""Learning from tables: mixtures of Gaussians, votes of neighbours, bags of embeddings."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, int32


def mixture_shares(x, means, inverse, offset, shares):
    """Which share of a point each Gaussian (diagonal covariance) has; columns are points."""
    i = cuda.grid(1)
    features, n = x.shape
    if i >= n:
        return
    kinds = means.shape[0]
    top = float32(-3.0e38)
    for c in range(kinds):
        total = offset[c]
        for j in range(features):
            d = x[j, i] - means[c, j]
            total -= 0.5 * d * d * inverse[c, j]
        shares[c, i] = total
        top = max(top, total)
    whole = float32(0.0)
    for c in range(kinds):
        p = math.exp(shares[c, i] - top)
        shares[c, i] = p
        whole += p
    for c in range(kinds):
        shares[c, i] /= whole


def neighbour_votes(known, labels, queries, k, kinds, out):
    """The label most frequent among the k (16 at most) nearest known points, the lowest of equals."""
    i = cuda.grid(1)
    if i >= queries.shape[0]:
        return
    best = cuda.local.array(16, float32)
    whose = cuda.local.array(16, int32)
    for s in range(k):
        best[s] = 3.0e38
        whose[s] = 0
    for p in range(known.shape[0]):
        r2 = float32(0.0)
        for j in range(known.shape[1]):
            d = queries[i, j] - known[p, j]
            r2 += d * d
        if r2 < best[k - 1]:
            s = k - 1
            while s > 0 and best[s - 1] > r2:
                best[s] = best[s - 1]
                whose[s] = whose[s - 1]
                s -= 1
            best[s] = r2
            whose[s] = labels[p]
    winner = 0
    most = 0
    for c in range(kinds):
        votes = 0
        for s in range(k):
            if whose[s] == c:
                votes += 1
        if votes > most:
            most = votes
            winner = c
    out[i] = winner


def embedding_bag(table, rows, weights, starts, out):
    """The weighted mean of a bag's rows of the table; a block a bag, empty ones are 0."""
    bag = cuda.blockIdx.x
    first = starts[bag]
    last = starts[bag + 1]
    for c in range(cuda.threadIdx.x, table.shape[1], cuda.blockDim.x):
        total = float32(0.0)
        for k in range(first, last):
            total += weights[k] * table[rows[k], c]
        if last > first:
            total /= np.float32(last - first)
        out[bag, c] = total


def mixture_problem(rng, n):
    features, kinds = 9, 13
    x = rng.standard_normal((features, n), dtype=np.float32)
    means = rng.standard_normal((kinds, features), dtype=np.float32)
    inverse = np.float32(rng.uniform(0.5, 2, (kinds, features)))
    offset = np.float32(np.log(rng.dirichlet(np.full(kinds, 5.0))) + 0.5 * np.log(inverse).sum(1))

    def expected():
        at = sampled(rng, n, 20000)
        d = x[:, at].astype(float).T[:, None] - means
        logs = offset - 0.5 * (d * d * inverse).sum(2)
        p = np.exp(logs - logs.max(1, keepdims=True))
        # A logarithm has 2 features + 2 roundings of at most its size, and the exponential makes them relative.
        bound = (2 * features + 8) * EPS32 * (np.abs(logs).max() + 1)
        return [((slice(None), at), (p / p.sum(1, keepdims=True)).T, bound)]

    args = (x, means, inverse, offset, np.zeros((kinds, n), np.float32))
    return Problem(args, (features, n, kinds), (4,), expected, threads=n, bytes=4.0 * n * (features + kinds))


def votes_problem(rng, n):
    points, width, k, kinds = 401, 7, 9, 6
    # Whole coordinates: distances, and so the order of points, are exact.
    known, queries = (rng.integers(-99, 100, (m, width)).astype(np.float32) for m in (points, n))
    labels = rng.integers(0, kinds, points).astype(np.int32)

    def expected():
        at = sampled(rng, n, 3000)
        r2 = ((queries[at, None] - known) ** 2).sum(2)
        nearest = labels[np.argsort(r2, axis=1, kind="stable")[:, :k]]
        votes = (nearest[:, :, None] == np.arange(kinds)).sum(1)
        return [(at, votes.argmax(1).astype(np.int32), 0)]

    args = (known, labels, queries, k, kinds, np.zeros(n, np.int32))
    return Problem(args, (points, width, n), (5,), expected, threads=n, flops=3.0 * n * points * width)


def bag_problem(rng, n):
    words, width = 50_021, 100
    lengths = rng.integers(0, 26, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    rows = rng.integers(0, words, starts[-1]).astype(np.int32)
    weights = np.float32(rng.uniform(0.5, 1.5, rows.size))
    table = rng.standard_normal((words, width), dtype=np.float32)

    def expected():
        at = sampled(rng, n, 400)
        mean = np.zeros((at.size, width))
        for c, b in enumerate(at):
            s = slice(starts[b], starts[b + 1])
            mean[c] = weights[s].astype(float) @ table[rows[s]] / max(1, lengths[b])
        return [(at, mean, 28 * EPS32 * 6)]  # 25 products below 6, divided by their number

    args = (table, rows, weights, starts, np.zeros((n, width), np.float32))
    return Problem(args, (width, n), (4,), expected, grid=n, bytes=4.0 * n * width + 4.0 * rows.size * width)


MIXTURE = each(
    """mixture_shares(const float *x, const float *means, const float *inverse, const float *offset,
                    float *shares, int features, int n, int kinds)""",
    """
    float top = -3.0e38f, whole = 0;
    for (INDEX c = 0; c < kinds; c++) {
      float total = offset[c];
      for (INDEX j = 0; j < features; j++) {
        float d = x[j * n + i] - means[c * features + j];
        total -= 0.5f * d * d * inverse[c * features + j];
      }
      shares[c * n + i] = total;
      top = fmaxf(top, total);
    }
    for (INDEX c = 0; c < kinds; c++) {
      float p = expf(shares[c * n + i] - top);
      shares[c * n + i] = p;
      whole += p;
    }
    for (INDEX c = 0; c < kinds; c++)
      shares[c * n + i] /= whole;
""",
)

VOTES = each(
    """neighbour_votes(const float *known, const int *labels, const float *queries, int k, int kinds, int *out,
                     int points, int width, int n)""",
    """
    float best[16];
    int whose[16];
    for (INDEX s = 0; s < k; s++) {
      best[s] = 3.0e38f;
      whose[s] = 0;
    }
    for (INDEX p = 0; p < points; p++) {
      float r2 = 0;
      for (INDEX j = 0; j < width; j++) {
        float d = queries[i * width + j] - known[p * width + j];
        r2 += d * d;
      }
      if (r2 < best[k - 1]) {
        INDEX s = k - 1;
        while (s > 0 && best[s - 1] > r2) {
          best[s] = best[s - 1];
          whose[s] = whose[s - 1];
          s--;
        }
        best[s] = r2;
        whose[s] = labels[p];
      }
    }
    int winner = 0, most = 0;
    for (INDEX c = 0; c < kinds; c++) {
      int votes = 0;
      for (INDEX s = 0; s < k; s++)
        if (whose[s] == c) votes++;
      if (votes > most) {
        most = votes;
        winner = c;
      }
    }
    out[i] = winner;
""",
)

BAG_HEAD = """embedding_bag(const float *table, const int *rows, const float *weights, const int *starts, float *out,
                   int width, int n)"""
BAG = indexed(
    f"""
__global__ void {BAG_HEAD} {{
  INDEX bag = blockIdx.x, first = starts[bag], last = starts[bag + 1];
  for (INDEX c = threadIdx.x; c < width; c += blockDim.x) {{
    float total = 0;
    for (INDEX k = first; k < last; k++)
      total += weights[k] * table[rows[k] * (INDEX)width + c];
    if (last > first) total /= (float)(last - first);
    out[bag * width + c] = total;
  }}
}}
""",
    f"""
void {BAG_HEAD} {{
#pragma omp parallel for
  for (INDEX bag = 0; bag < n; bag++) {{
    INDEX first = starts[bag], last = starts[bag + 1];
    float *total = out + bag * width;
    for (INDEX c = 0; c < width; c++)
      total[c] = 0;
    for (INDEX k = first; k < last; k++)
      for (INDEX c = 0; c < width; c++)
        total[c] += weights[k] * table[rows[k] * width + c];
    if (last > first)
      for (INDEX c = 0; c < width; c++)
        total[c] /= (float)(last - first);
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "shares of Gaussians", mixture_shares,
        "float32[:,::1], float32[:,::1], float32[:,::1], float32[::1], float32[:,::1]", 128,
        mixture_problem,
        gpu=500_003, host=20_003, test=503, **MIXTURE,
    ),
    Kernel(
        "votes of nearest neighbours", neighbour_votes,
        "float32[:,::1], int32[::1], float32[:,::1], pyint, pyint, int32[::1]", 128,
        votes_problem,
        gpu=100_003, host=2003, test=103, kind="irregular", **VOTES,
    ),
    Kernel(
        "bags of embeddings", embedding_bag,
        "float32[:,::1], int32[::1], float32[::1], int32[::1], float32[:,::1]", 64,
        bag_problem,
        gpu=30_011, host=3011, test=53, kind="irregular", **BAG,
    ),
]  # fmt: skip
