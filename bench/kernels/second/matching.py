"""Steps that compare and stop early, or follow what they read: hashes of strings, lengths of matches
(LZ77), labels of components, distances by flooding, walks along edges.

Results are equal, so the bounds are 0.
"""

import numpy as np
from kernels.declare import PLANE, THIN_PLANE, Kernel, Problem
from kernels.texts import each, plane
from pyptx import cuda


def hash_strings(data, ends, hashes):
    """FNV-1a, 32 bits, of each string; `ends` are where they end."""
    i = cuda.grid(1)
    if i < ends.size:
        k = 0
        if i > 0:
            k = ends[i - 1]
        h = np.uint32(2166136261)
        while k < ends[i]:
            h = (h ^ np.uint32(data[k])) * np.uint32(16777619)
            k += 1
        hashes[i] = h


def match_lengths(data, candidates, limit, lengths):
    """How many bytes at each position are as those at its candidate before it; -1 is none."""
    i = cuda.grid(1)
    if i < data.size:
        length = 0
        j = candidates[i]
        if j >= 0:
            while length < limit and i + length < data.size and data[i + length] == data[j + length]:
                length += 1
        lengths[i] = length


def longest_match(data, window, limit, lengths, distances):
    """The longest match at each position among the bytes before it, the nearest of several."""
    i = cuda.grid(1)
    n = data.size
    if i >= n:
        return
    best = 0
    where = 0
    most = min(limit, n - i)
    for d in range(1, min(window, i) + 1):
        length = 0
        while length < most and data[i - d + length] == data[i + length]:
            length += 1
        if length > best:
            best = length
            where = d
            if best == most:
                break
    lengths[i] = best
    distances[i] = where


def common_prefix(data, order, lengths):
    """Of neighbours in a suffix array, how long they are the same."""
    i = cuda.grid(1)
    if i < order.size:
        length = 0
        if i > 0:
            a = order[i - 1]
            b = order[i]
            while a < data.size and b < data.size and data[a] == data[b]:
                a += 1
                b += 1
                length += 1
        lengths[i] = length


def least_label(labels, out, changed):
    """Each pixel of a component (labels above 0) takes the least label of its four neighbours."""
    col, row = cuda.grid(2)
    if row < labels.shape[0] and col < labels.shape[1]:
        mine = labels[row, col]
        least = mine
        if mine > 0:
            if row > 0 and 0 < labels[row - 1, col] < least:
                least = labels[row - 1, col]
            if row < labels.shape[0] - 1 and 0 < labels[row + 1, col] < least:
                least = labels[row + 1, col]
            if col > 0 and 0 < labels[row, col - 1] < least:
                least = labels[row, col - 1]
            if col < labels.shape[1] - 1 and 0 < labels[row, col + 1] < least:
                least = labels[row, col + 1]
            if least != mine:
                changed[0] = 1
        out[row, col] = least


def flood_step(walls, distance, out, changed):
    """One more than the least distance of the eight neighbours, where that is less and no wall."""
    col, row = cuda.grid(2)
    rows, cols = distance.shape
    if row < rows and col < cols:
        best = distance[row, col]
        if walls[row, col] == 0:
            for y in range(max(row - 1, 0), min(row + 2, rows)):
                for x in range(max(col - 1, 0), min(col + 2, cols)):
                    best = min(best, distance[y, x] + 1)
            if best < distance[row, col]:
                changed[0] = 1
        out[row, col] = best


def walk_ends(offsets, targets, starts, steps, ends):
    """Where a walk is after so many edges, each chosen by a xorshift generator of its own."""
    i = cuda.grid(1)
    if i < starts.size:
        at = starts[i]
        state = np.uint32(i + 1) * np.uint32(2654435769)
        for _ in range(steps):
            first = offsets[at]
            degree = offsets[at + 1] - first
            if degree == 0:
                break
            state ^= state << np.uint32(13)
            state ^= state >> np.uint32(17)
            state ^= state << np.uint32(5)
            at = targets[first + state % np.uint32(degree)]
        ends[i] = at


def strings_problem(rng, n):
    """n strings of 0 to 40 bytes."""
    ends = np.cumsum(rng.integers(0, 41, n)).astype(np.int64)
    data = rng.integers(0, 256, max(ends[-1], 1), np.uint8)

    def expected():
        first, values = np.r_[0, ends[:-1]], np.full(n, 2166136261, np.uint32)
        for k in range(40):
            more = first + k < ends
            values[more] = (values[more] ^ data[first[more] + k]) * np.uint32(16777619)
        return [(np.s_[:], values, 0)]

    return Problem(
        (data, ends, np.zeros(n, np.uint32)), (len(data), n), (2,), expected, threads=n, bytes=len(data) + 12 * n,
        flops=2 * len(data),
    )  # fmt: skip


def text_of(rng, n):
    """Words of a small vocabulary, so that matches of all lengths are met."""
    words = [rng.integers(97, 101, k, np.uint8) for k in rng.integers(2, 12, 50)]
    text = np.concatenate([words[k] for k in rng.integers(0, len(words), n // 4 + 8)])
    return np.resize(text, n)


def alike(data, i, j, limit):
    """How many bytes from i are as those from j, for arrays of places."""
    length, going = np.zeros(len(i), int), np.ones(len(i), bool)
    for k in range(limit):
        inside = (i + k < len(data)) & (j + k < len(data))
        going &= inside & (data[np.minimum(i + k, len(data) - 1)] == data[np.minimum(j + k, len(data) - 1)])
        length += going
    return length


def lengths_problem(rng, n):
    """The candidate is where the same three bytes were last."""
    data, limit = text_of(rng, n), 64
    keys = data[:-2].astype(int) << 16 | data[1:-1].astype(int) << 8 | data[2:]
    order = np.argsort(keys, kind="stable")
    candidates = np.full(n, -1, np.int32)
    same = keys[order[1:]] == keys[order[:-1]]
    candidates[order[1:][same]] = order[:-1][same]

    def expected():
        some = np.flatnonzero(candidates >= 0)[:200_000]
        values = np.zeros(n, int)
        values[some] = alike(data, some, candidates[some], limit)
        last = some[-1] + 1 if len(some) else 0
        return [(np.s_[:last], values[:last], 0)]

    return Problem(
        (data, candidates, limit, np.zeros(n, np.int32)), (n,), (3,), expected, threads=n, bytes=9 * n, flops=12 * n
    )


def longest_problem(rng, n):
    """A window of 61 bytes, matches of at most 18."""
    data, window, limit = text_of(rng, n), 61, 18

    def expected():
        some = np.unique(np.r_[: min(n, 2000), max(0, n - 2000) : n])
        best, where = np.zeros(len(some), int), np.zeros(len(some), int)
        for d in range(1, window + 1):
            found = np.where(some >= d, alike(data, some, np.maximum(some - d, 0), limit), 0)
            better = found > best
            best[better], where[better] = found[better], d
        return [(some, best, 0), (some, where, 0)]

    return Problem(
        (data, window, limit, np.zeros(n, np.int32), np.zeros(n, np.int32)), (n,), (3, 4), expected, threads=n,
        bytes=9 * n, flops=2 * window * n,
    )  # fmt: skip


def prefix_problem(rng, n):
    """Suffixes in the order of their first eight bytes: enough for neighbours that are alike."""
    data = text_of(rng, n)
    padded = np.r_[data, np.zeros(8, np.uint8)]
    keys = sum(padded[k : k + n].astype(np.uint64) << np.uint64(56 - 8 * k) for k in range(8))
    order = np.argsort(keys, kind="stable").astype(np.int32)

    def expected():
        a, b = order[:-1][:50_000].astype(int), order[1:][:50_000].astype(int)
        values = alike(data, a, b, 400)
        known = values < 400
        return [(np.flatnonzero(np.r_[True, known]), np.r_[0, values[known]], 0)]

    return Problem((data, order, np.zeros(n, np.int32)), (n, n), (2,), expected, threads=n, bytes=9 * n, flops=12 * n)


def labels_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, pixels, two of three in a component; all labels differ."""
    rows, cols = shape or (n, 3 * n // 2 + 1)
    labels = rng.permutation(np.arange(1, rows * cols + 1, dtype=np.int32)).reshape(rows, cols)
    labels *= rng.random((rows, cols), np.float32) < 2 / 3

    def expected():
        far = np.iinfo(np.int32).max
        padded = np.pad(np.where(labels > 0, labels, far), 1, constant_values=far)
        least = np.minimum.reduce([padded[1:-1, 1:-1], padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]])
        values = np.where(labels > 0, least, 0)
        return [(np.s_[:], values, 0), (np.s_[:], np.array([np.any(values != labels)]), 0)]

    return Problem(
        (labels, np.zeros_like(labels), np.zeros(1, np.int32)), (rows, cols), (1, 2), expected, threads=(cols, rows),
        bytes=8 * rows * cols, flops=8 * rows * cols,
    )  # fmt: skip


def flood_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, places, a fifth of them walls, a front in midst of its way."""
    rows, cols = shape or (n, 3 * n // 2 + 1)
    walls = (rng.random((rows, cols), np.float32) < 0.2).astype(np.uint8)
    far, y, x = 1 << 29, np.arange(rows)[:, None], np.arange(cols)
    distance = np.maximum(np.abs(y - rows // 2), np.abs(x - cols // 3))
    distance = np.where((distance > min(rows, cols) // 4) | (walls > 0), far, distance).astype(np.int32)

    def expected():
        padded = np.pad(distance, 1, constant_values=far)
        near = np.minimum.reduce([padded[1 + i : 1 + i + rows, 1 + j : 1 + j + cols] for i in (-1, 0, 1) for j in (-1, 0, 1)])
        values = np.where(walls == 0, np.minimum(distance, near + 1), distance)
        return [(np.s_[:], values, 0), (np.s_[:], np.array([np.any(values != distance)]), 0)]

    return Problem(
        (walls, distance, np.zeros_like(distance), np.zeros(1, np.int32)), (rows, cols), (2, 3), expected,
        threads=(cols, rows), bytes=9 * rows * cols, flops=18 * rows * cols,
    )  # fmt: skip


def walk_problem(rng, n):
    """n places with 0 to 12 edges each, a walk of 20 edges from each place."""
    degrees, steps = rng.integers(0, 13, n), 20
    offsets = np.r_[0, np.cumsum(degrees)].astype(np.int32)
    targets = rng.integers(0, n, max(offsets[-1], 1), np.int32)
    starts = rng.permutation(n).astype(np.int32)

    def expected():
        at, state = starts.astype(int), np.arange(1, n + 1, dtype=np.uint32) * np.uint32(2654435769)
        for _ in range(steps):
            going = degrees[at] > 0
            state ^= state << np.uint32(13)
            state ^= state >> np.uint32(17)
            state ^= state << np.uint32(5)
            chosen = offsets[at] + state % np.maximum(degrees[at], 1)
            at = np.where(going, targets[np.minimum(chosen, len(targets) - 1)], at)
        return [(np.s_[:], at, 0)]

    return Problem(
        (offsets, targets, starts, steps, np.zeros(n, np.int32)), (n + 1, len(targets), n), (4,), expected, threads=n,
        bytes=8 * n + 12 * steps * n, flops=8 * steps * n,
    )  # fmt: skip


HASH = each(
    "hash_strings(const unsigned char *data, const long long *ends, unsigned *hashes, int size, int n)",
    """
    INDEX k = 0;
    if (i > 0)
      k = ends[i - 1];
    unsigned h = 2166136261u;
    while (k < ends[i]) {
      h = (h ^ data[k]) * 16777619u;
      k++;
    }
    hashes[i] = h;
""",
)

LENGTHS = each(
    "match_lengths(const unsigned char *data, const int *candidates, int limit, int *lengths, int n)",
    """
    INDEX length = 0, j = candidates[i];
    if (j >= 0)
      while (length < limit && i + length < n && data[i + length] == data[j + length])
        length++;
    lengths[i] = length;
""",
)

LONGEST = each(
    "longest_match(const unsigned char *data, int window, int limit, int *lengths, int *distances, int n)",
    """
    INDEX best = 0, where = 0, most = MIN((INDEX)limit, n - i), reach = MIN((INDEX)window, i);
    for (INDEX d = 1; d <= reach; d++) {
      INDEX length = 0;
      while (length < most && data[i - d + length] == data[i + length])
        length++;
      if (length > best) {
        best = length;
        where = d;
        if (best == most)
          break;
      }
    }
    lengths[i] = best;
    distances[i] = where;
""",
)

PREFIX = each(
    "common_prefix(const unsigned char *data, const int *order, int *lengths, int size, int n)",
    """
    INDEX length = 0;
    if (i > 0) {
      INDEX a = order[i - 1], b = order[i];
      while (a < size && b < size && data[a] == data[b]) {
        a++;
        b++;
        length++;
      }
    }
    lengths[i] = length;
""",
)

LABELS = plane(
    "least_label(const int *labels, int *out, int *changed, int rows, int cols)",
    """
    int mine = labels[row * cols + col], least = mine;
    if (mine > 0) {
      if (row > 0 && 0 < labels[(row - 1) * cols + col] && labels[(row - 1) * cols + col] < least)
        least = labels[(row - 1) * cols + col];
      if (row < rows - 1 && 0 < labels[(row + 1) * cols + col] && labels[(row + 1) * cols + col] < least)
        least = labels[(row + 1) * cols + col];
      if (col > 0 && 0 < labels[row * cols + col - 1] && labels[row * cols + col - 1] < least)
        least = labels[row * cols + col - 1];
      if (col < cols - 1 && 0 < labels[row * cols + col + 1] && labels[row * cols + col + 1] < least)
        least = labels[row * cols + col + 1];
      if (least != mine)
        changed[0] = 1;
    }
    out[row * cols + col] = least;
""",
)

FLOOD = plane(
    "flood_step(const unsigned char *walls, const int *distance, int *out, int *changed, int rows, int cols)",
    """
    int best = distance[row * cols + col];
    if (walls[row * cols + col] == 0) {
      INDEX top = MAX(row - 1, (INDEX)0), bottom = MIN(row + 2, (INDEX)rows);
      INDEX left = MAX(col - 1, (INDEX)0), right = MIN(col + 2, (INDEX)cols);
      for (INDEX y = top; y < bottom; y++)
        for (INDEX x = left; x < right; x++) {
          int one = distance[y * cols + x] + 1;
          best = one < best ? one : best;
        }
      if (best < distance[row * cols + col])
        changed[0] = 1;
    }
    out[row * cols + col] = best;
""",
)

WALK = each(
    "walk_ends(const int *offsets, const int *targets, const int *starts, int steps, int *ends, int places, int edges, int n)",
    """
    INDEX at = starts[i];
    unsigned state = (unsigned)(i + 1) * 2654435769u;
    for (INDEX k = 0; k < steps; k++) {
      INDEX first = offsets[at], degree = offsets[at + 1] - first;
      if (degree == 0)
        break;
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      at = targets[first + state % (unsigned)degree];
    }
    ends[i] = at;
""",
)

KERNELS = [
    Kernel(
        "hashes of strings", hash_strings, "uint8[::1], int64[::1], uint32[::1]", 128, strings_problem,
        gpu=2_000_003, host=500_009, test=1_003, kind="irregular", **HASH,
    ),
    Kernel(
        "lengths of matches", match_lengths, "uint8[::1], int32[::1], pyint, int32[::1]", 256, lengths_problem,
        gpu=5_000_011, host=1_000_003, test=10_007, kind="irregular", **LENGTHS,
    ),
    Kernel(
        "longest match in a window", longest_match, "uint8[::1], pyint, pyint, int32[::1], int32[::1]", 128, longest_problem,
        gpu=2_000_003, host=200_003, test=1_003, kind="irregular", **LONGEST,
    ),
    Kernel(
        "common prefixes of suffixes", common_prefix, "uint8[::1], int32[::1], int32[::1]", 256, prefix_problem,
        gpu=5_000_011, host=1_000_003, test=2_003, kind="irregular", **PREFIX,
    ),
    Kernel(
        "labels of components, a step", least_label, "int32[:,::1], int32[:,::1], int32[::1]", (32, 8), labels_problem,
        gpu=4099, host=2053, test=61, power=2, kind="stencil", sweep=PLANE, thin=THIN_PLANE, **LABELS,
    ),
    Kernel(
        "distance by flooding, a step", flood_step, "uint8[:,::1], int32[:,::1], int32[:,::1], int32[::1]", (32, 8),
        flood_problem, gpu=4099, host=1021, test=61, power=2, kind="stencil", thin=THIN_PLANE, **FLOOD,
    ),
    Kernel(
        "random walks", walk_ends, "int32[::1], int32[::1], int32[::1], pyint, int32[::1]", 256, walk_problem,
        gpu=1_000_003, host=200_003, test=1_003, kind="irregular", **WALK,
    ),
]  # fmt: skip
