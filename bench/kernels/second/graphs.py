"""Steps over graphs in compressed rows, and over trees.

Breadth-first search, PageRank (Page and others) and label propagation as graph suites (GAP) have
them; lower bounds in a sorted array, a forest of decision trees, roots of a disjoint-set forest.
"""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda


def bfs_step(starts, neighbours, levels, depth, fresh):
    """The nodes of this depth mark their neighbours that have no level yet."""
    v = cuda.grid(1)
    if v < levels.size and levels[v] == depth:
        for e in range(starts[v], starts[v + 1]):
            u = neighbours[e]
            if levels[u] < 0:
                fresh[u] = 1


def pagerank_pull(starts, neighbours, degrees, ranks, damping, fresh):
    """A step: each node takes its share of the ranks of those that point to it."""
    v = cuda.grid(1)
    if v < fresh.size:
        total = 0.0
        for e in range(starts[v], starts[v + 1]):
            u = neighbours[e]
            total += ranks[u] / degrees[u]
        fresh[v] = (1 - damping) / fresh.size + damping * total


def label_step(starts, neighbours, labels, fresh):
    """Each node takes the smallest label around it."""
    v = cuda.grid(1)
    if v >= fresh.size:
        return
    best = labels[v]
    for e in range(starts[v], starts[v + 1]):
        best = min(best, labels[neighbours[e]])
    fresh[v] = best


def lower_bounds(keys, queries, places):
    """The first place in the sorted keys that is not below the query."""
    i = cuda.grid(1)
    if i < queries.size:
        query = queries[i]
        low = 0
        high = keys.size
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < query:
                low = middle + 1
            else:
                high = middle
        places[i] = low


def decision_forest(samples, feature, threshold, left, right, roots, sums):
    """Inner nodes have a feature, leaves -1 and their value in `threshold`."""
    i = cuda.grid(1)
    if i < sums.size:
        total = np.float32(0)
        for t in range(roots.size):
            node = roots[t]
            while feature[node] >= 0:
                if samples[i, feature[node]] <= threshold[node]:
                    node = left[node]
                else:
                    node = right[node]
            total += threshold[node]
        sums[i] = total


def find_roots(parents, roots):
    """Jumps until a node is its own parent."""
    v = cuda.grid(1)
    if v < roots.size:
        root = v
        while parents[root] != root:
            root = parents[root]
        roots[v] = root


def graph(rng, n):
    """(starts, neighbours) of n nodes: most have 0 to 14 neighbours, one of 64 a hundred more."""
    degrees = rng.integers(0, 15, n) + 100 * (rng.integers(0, 64, n) == 0)
    starts = np.r_[0, np.cumsum(degrees)].astype(np.int32)
    return starts, rng.integers(0, n, starts[-1], np.int32)


def bfs_problem(rng, n):
    """n nodes, a fifth of them on the frontier and as many not yet reached."""
    starts, neighbours = graph(rng, n)
    levels, depth = rng.integers(-1, 4, n, np.int32), np.int32(3)

    def expected():
        source = np.repeat(np.arange(n), np.diff(starts))
        to = neighbours[levels[source] == depth]
        fresh = np.zeros(n, np.int32)
        fresh[to[levels[to] < 0]] = 1
        return [(np.s_[:], fresh, 0)]

    return Problem(
        (starts, neighbours, levels, depth, np.zeros(n, np.int32)), (n + 1, len(neighbours), n), (4,), expected, threads=n,
        bytes=12 * n + 8 * len(neighbours) / 5, flops=len(neighbours) / 5,
    )  # fmt: skip


def pagerank_problem(rng, n):
    """n nodes with random ranks."""
    starts, neighbours = graph(rng, n)
    degrees, ranks, damping = rng.integers(1, 30, n, np.int32), rng.random(n) / n, np.float64(0.85)

    def expected():
        parts = np.r_[0, np.cumsum((ranks / degrees)[neighbours].astype(np.longdouble))]
        exact = (parts[starts[1:]] - parts[starts[:-1]]).astype(np.float64)
        # As many roundings as neighbours, and four; the running sum in extended precision is off by
        # 2^-64 of its end.
        bound = (np.diff(starts) + 4) * EPS64 * (exact + 1 / n) + 2.0**-60 * float(parts[-1])
        return [(np.s_[:], (1 - damping) / n + damping * exact, bound)]

    return Problem(
        (starts, neighbours, degrees, ranks, damping, np.zeros(n)), (n + 1, len(neighbours), n), (5,), expected, threads=n,
        bytes=12 * n + 16 * len(neighbours), flops=2 * len(neighbours),
    )  # fmt: skip


def labels_problem(rng, n):
    """n nodes, each with a label of its own."""
    starts, neighbours = graph(rng, n)
    labels = rng.permutation(n).astype(np.int32)

    def expected():
        fresh = labels.copy()
        np.minimum.at(fresh, np.repeat(np.arange(n), np.diff(starts)), labels[neighbours])
        return [(np.s_[:], fresh, 0)]

    return Problem(
        (starts, neighbours, labels, np.zeros(n, np.int32)), (n + 1, len(neighbours), n), (3,), expected, threads=n,
        bytes=12 * n + 8 * len(neighbours), flops=len(neighbours),
    )  # fmt: skip


def bounds_problem(rng, n):
    """n queries of a third as many keys, some of which are equal."""
    m = n // 3 + 1
    keys, queries = np.sort(rng.integers(0, 3 * m, m)), rng.integers(-5, 3 * m + 5, n)

    def expected():
        return [(np.s_[:], np.searchsorted(keys, queries), 0)]

    return Problem(
        (keys, queries, np.zeros(n, np.int64)), (m, n), (2,), expected, threads=n, bytes=16 * n + 8 * m,
        flops=2 * n * np.log2(m),
    )  # fmt: skip


def forest_problem(rng, n):
    """n samples of 13 features and 37 trees, whose leaves are 3 to 9 steps deep."""
    samples = rng.random((n, 13), np.float32)
    feature, threshold, left, right, roots = [], [], [], [], []

    def grow(depth):
        """A tree of leaves at this depth or deeper; its place in the arrays."""
        at = len(feature)
        leaf = depth == 9 or (depth >= 3 and rng.random() < 0.2)
        feature.append(-1 if leaf else int(rng.integers(0, 13)))
        threshold.append(rng.uniform(-1, 1) if leaf else rng.random())
        left.append(0)
        right.append(0)
        if not leaf:
            left[at], right[at] = grow(depth + 1), grow(depth + 1)
        return at

    for _ in range(37):
        roots.append(grow(0))
    feature, left, right, roots = (np.array(a, np.int32) for a in (feature, left, right, roots))
    threshold = np.array(threshold, np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        total, size = np.zeros(len(some)), np.zeros(len(some))
        for root in roots:
            node = np.full(len(some), root)
            while (inner := feature[node] >= 0).any():
                low = samples[some, feature[node]] <= threshold[node]
                node = np.where(inner, np.where(low, left[node], right[node]), node)
            total += threshold[node]
            size += np.abs(threshold[node])
        return [(some, total, 37 * EPS32 / 2 * size)]  # as many additions as trees

    return Problem(
        (samples, feature, threshold, left, right, roots, np.zeros(n, np.float32)), (n, 13, len(feature), len(roots)), (6,),
        expected, threads=n, bytes=56 * n, flops=2 * 37 * 7 * n,
    )  # fmt: skip


def roots_problem(rng, n):
    """Parents are before their children: paths of about log(n) jumps to a hundred roots."""
    order = rng.permutation(n)
    before = (rng.random(n) * np.arange(n)).astype(int)
    before[: max(1, min(n, 100))] = np.arange(max(1, min(n, 100)))
    parents = np.empty(n, np.int32)
    parents[order] = order[before]

    def expected():
        root = parents.astype(np.int64)
        while (parents[root] != root).any():
            root = root[root]
        return [(np.s_[:], root, 0)]

    return Problem(
        (parents, np.zeros(n, np.int32)), (n,), (1,), expected, threads=n, bytes=8 * n, flops=10 * n
    )


CSR = "const int *starts, const int *neighbours, "

BFS = each(
    f"bfs_step({CSR}const int *levels, int depth, int *fresh, int ends, int edges, int n)",
    """
    if (levels[v] == depth)
      for (INDEX e = starts[v]; e < starts[v + 1]; e++) {
        int u = neighbours[e];
        if (levels[u] < 0)
          fresh[u] = 1;
      }
""",
    index="v",
)

PAGERANK = each(
    f"pagerank_pull({CSR}const int *degrees, const double *ranks, double damping, double *fresh,\n"
    "              int ends, int edges, int n)",
    """
    double total = 0;
    for (INDEX e = starts[v]; e < starts[v + 1]; e++) {
      int u = neighbours[e];
      total += ranks[u] / degrees[u];
    }
    fresh[v] = (1 - damping) / n + damping * total;
""",
    index="v", schedule=" schedule(dynamic, 256)",
)  # fmt: skip

LABELS = each(
    f"label_step({CSR}const int *labels, int *fresh, int ends, int edges, int n)",
    """
    int best = labels[v];
    for (INDEX e = starts[v]; e < starts[v + 1]; e++)
      best = MIN(best, labels[neighbours[e]]);
    fresh[v] = best;
""",
    index="v", schedule=" schedule(dynamic, 256)",
)  # fmt: skip

BOUNDS = each(
    "lower_bounds(const long long *keys, const long long *queries, long long *places, int m, int n)",
    """
    long long query = queries[i];
    INDEX low = 0, high = m;
    while (low < high) {
      INDEX middle = (low + high) / 2;
      if (keys[middle] < query)
        low = middle + 1;
      else
        high = middle;
    }
    places[i] = low;
""",
)

FOREST = each(
    "decision_forest(const float *samples, const int *feature, const float *threshold, const int *left, const int *right,\n"
    "                const int *roots, float *sums, int n, int features, int nodes, int trees)",
    """
    float total = 0;
    for (INDEX t = 0; t < trees; t++) {
      int node = roots[t];
      while (feature[node] >= 0)
        node = samples[i * features + feature[node]] <= threshold[node] ? left[node] : right[node];
      total += threshold[node];
    }
    sums[i] = total;
""",
)

ROOTS = each(
    "find_roots(const int *parents, int *roots, int n)",
    """
    INDEX root = v;
    while (parents[root] != root)
      root = parents[root];
    roots[v] = root;
""",
    index="v",
)

KERNELS = [
    Kernel(
        "breadth-first search, a step", bfs_step, "int32[::1], int32[::1], int32[::1], int32, int32[::1]", 256, bfs_problem,
        gpu=3_000_017, host=1_000_003, test=1013, kind="irregular", **BFS,
    ),
    Kernel(
        "PageRank, pull", pagerank_pull, "int32[::1], int32[::1], int32[::1], float64[::1], float64, float64[::1]", 256,
        pagerank_problem, gpu=1_000_003, host=841_469, test=1013, kind="irregular", **PAGERANK,
    ),
    Kernel(
        "label propagation", label_step, "int32[::1], int32[::1], int32[::1], int32[::1]", 256, labels_problem,
        gpu=1_000_003, host=1_913_521, test=1013, kind="irregular", **LABELS,
    ),
    Kernel(
        "lower bounds in sorted keys", lower_bounds, "int64[::1], int64[::1], int64[::1]", 256, bounds_problem,
        gpu=5_000_011, host=300_007, test=1013, kind="irregular", **BOUNDS,
    ),
    Kernel(
        "decision forest", decision_forest,
        "float32[:,::1], int32[::1], float32[::1], int32[::1], int32[::1], int32[::1], float32[::1]", 256, forest_problem,
        gpu=500_009, host=30_011, test=301, kind="irregular", **FOREST,
    ),
    Kernel(
        "roots of a forest", find_roots, "int32[::1], int32[::1]", 256, roots_problem,
        gpu=5_000_011, host=1_000_003, test=1013, kind="irregular", **ROOTS,
    ),
]  # fmt: skip
