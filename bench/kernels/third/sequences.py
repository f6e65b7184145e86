"""Strings: Smith-Waterman scores, LZ77 matches, Myers' edit distance in bits, Tanimoto similarity.
Integers.
"""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.third.texts import sides
from pyptx import cuda


def smith_waterman(query, targets, match, mismatch, gap, row, best):
    """The best local alignment of the query with target i, a column of `targets` (1981); `row` is
    scratch.
    """
    i = cuda.grid(1)
    if i >= targets.shape[1]:
        return
    for k in range(query.size):
        row[k, i] = 0
    highest = 0
    for j in range(targets.shape[0]):
        letter = targets[j, i]
        diagonal = 0
        left = 0
        for k in range(query.size):
            above = row[k, i]
            score = diagonal + (match if query[k] == letter else mismatch)
            score = max(0, score, above + gap, left + gap)
            row[k, i] = score
            highest = max(highest, score)
            diagonal = above
            left = score
    best[i] = highest


def lz_match(data, window, longest, length, distance):
    """LZ77 (Ziv and Lempel, 1977): the longest earlier text that continues as the one at i does,
    the nearest of those.
    """
    i = cuda.grid(1)
    if i < data.size:
        best = 0
        back = 0
        for d in range(1, min(window, i) + 1):
            k = 0
            while k < longest and i + k < data.size and data[i + k] == data[i - d + k]:
                k += 1
            if k > best:
                best = k
                back = d
        length[i] = best
        distance[i] = back


def myers_distance(masks, texts, length, distance):
    """Edit distance by Myers' bit vectors (1999): masks[c] has the places of c in the pattern of up
    to 64 letters.
    """
    i = cuda.grid(1)
    if i >= texts.shape[1]:
        return
    last = np.uint64(1) << np.uint64(length - 1)
    positive = ~np.uint64(0)
    negative = np.uint64(0)
    score = length
    for j in range(texts.shape[0]):
        equal = masks[texts[j, i]]
        vertical = equal | negative
        horizontal = (((equal & positive) + positive) ^ positive) | equal
        more = negative | ~(horizontal | positive)
        less = positive & horizontal
        if more & last:
            score += 1
        if less & last:
            score -= 1
        more = (more << 1) | 1
        less = less << 1
        positive = less | ~(vertical | more)
        negative = more & vertical
    distance[i] = score


def tanimoto(queries, library, similarity):
    """Bits that two fingerprints share over bits that either has, of every query and every
    molecule.
    """
    j, i = cuda.grid(2)
    if i < queries.shape[0] and j < library.shape[0]:
        both = 0
        either = 0
        for k in range(queries.shape[1]):
            both += int((queries[i, k] & library[j, k]).bit_count())
            either += int((queries[i, k] | library[j, k]).bit_count())
        similarity[i, j] = np.float32(both) / np.float32(either)


def smith_waterman_problem(rng, n):
    """n targets of 4 letters."""
    letters, size = (61, 127) if n > 1000 else (13, 19)
    query = rng.integers(0, 4, letters).astype(np.uint8)
    targets = rng.integers(0, 4, (size, n)).astype(np.uint8)
    match, mismatch, gap = 3, -2, -4

    def expected():
        some = sampled(np.random.default_rng(0), n, 1024)
        row, highest = np.zeros((letters + 1, len(some)), int), np.zeros(len(some), int)
        for letter in targets[:, some]:
            above = row.copy()
            for k in range(letters):
                score = above[k] + np.where(query[k] == letter, match, mismatch)
                row[k + 1] = np.maximum.reduce([score, above[k + 1] + gap, row[k] + gap, 0 * score])
            highest = np.maximum(highest, row.max(axis=0))
        return [(some, highest, 0)]

    arguments = (query, targets, match, mismatch, gap, np.zeros((letters, n), np.int32), np.zeros(n, np.int32))
    extents = (letters, size, n)
    return Problem(arguments, extents, (6,), expected, threads=n, bytes=(size + 4) * n, flops=7 * letters * size * n)


def lz_problem(rng, n):
    """n letters of an alphabet of 3, in which earlier pieces return."""
    data = rng.integers(0, 3, n).astype(np.uint8)
    for at in range(200, n - 100, 331):
        data[at : at + 60] = data[at - 97 : at - 37]
    window, longest = 113, 40

    def expected():
        some = sampled(np.random.default_rng(0), n, 2048)
        padded = np.concatenate([data, np.full(longest, 255, np.uint8)])
        ahead = np.arange(longest)
        here = padded[some[:, None] + ahead]
        best, back = np.zeros(len(some), int), np.zeros(len(some), int)
        for d in range(1, window + 1):
            there = padded[np.maximum(some - d, 0)[:, None] + ahead]
            k = np.where(some >= d, np.cumprod((here == there) & (here != 255), axis=1).sum(axis=1), 0)
            best, back = np.where(k > best, k, best), np.where(k > best, d, back)
        return [(some, best, 0), (some, back, 0)]

    arguments = (data, window, longest, np.zeros(n, np.int32), np.zeros(n, np.int32))
    return Problem(arguments, (n,), (3, 4), expected, threads=n, bytes=9 * n, flops=4 * window * n)


def myers_problem(rng, n):
    """n texts of 4 letters, each the pattern with changes."""
    length, size = (59, 121) if n > 2000 else (17, 23)
    pattern = rng.integers(0, 4, length).astype(np.uint8)
    kept, other = rng.random((size, n), np.float32) < 0.6, rng.integers(0, 4, (size, n), np.uint8)
    texts = np.where(kept, np.resize(pattern, size)[:, None], other)
    masks = np.array([sum(1 << k for k in range(length) if pattern[k] == c) for c in range(4)], np.uint64)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1024)
        column = np.repeat(np.arange(length + 1)[:, None], len(some), axis=1)
        for letter in texts[:, some]:
            before = column.copy()
            column[0] += 1
            for k in range(length):
                column[k + 1] = np.minimum(np.minimum(before[k + 1], column[k]) + 1, before[k] + (pattern[k] != letter))
        return [(some, column[-1], 0)]

    arguments = (masks, texts, length, np.zeros(n, np.int32))
    return Problem(arguments, (4, size, n), (3,), expected, threads=n, bytes=(size + 4) * n, flops=17 * size * n)


def tanimoto_problem(rng, n):
    """n fingerprints of 17 words against 67."""
    count, words = (67, 17) if n > 1000 else (5, 7)
    queries, library = (
        rng.integers(0, 1 << 64, (m, words), np.uint64) & rng.integers(0, 1 << 64, (m, words), np.uint64) for m in (count, n)
    )

    def expected():
        some = sampled(np.random.default_rng(0), n, 4096)
        a, b = queries[:, None, :], library[None, some, :]
        both, either = np.bitwise_count(a & b).sum(axis=2), np.bitwise_count(a | b).sum(axis=2)
        exact = both / either
        return [(np.s_[:, some], exact, EPS32 * exact)]  # one division of exact numbers

    arguments = (queries, library, np.zeros((count, n), np.float32))
    extents = (count, n, words)
    moved = 8 * words * (count + n) + 4 * count * n
    return Problem(arguments, extents, (2,), expected, threads=(n, count), bytes=moved, flops=6 * words * count * n)


KERNELS = [
    Kernel(
        "Smith-Waterman", smith_waterman, "uint8[::1], uint8[:,::1], pyint, pyint, pyint, int32[:,::1], int32[::1]",
        128, smith_waterman_problem, gpu=100_003, host=5003, test=301, kind="irregular",
        **sides(
            "smith_waterman",
            "const unsigned char *query, const unsigned char *targets, int match, int mismatch, int gap, int *row, "
            "int *best, int letters, int size, int n",
            [("i", "0", "n")],
            """
for (INDEX k = 0; k < letters; k++)
  row[k * n + i] = 0;
int highest = 0;
for (INDEX j = 0; j < size; j++) {
  unsigned char letter = targets[j * n + i];
  int diagonal = 0, left = 0;
  for (INDEX k = 0; k < letters; k++) {
    int above = row[k * n + i];
    int score = diagonal + (query[k] == letter ? match : mismatch);
    if (score < 0)
      score = 0;
    if (score < above + gap)
      score = above + gap;
    if (score < left + gap)
      score = left + gap;
    row[k * n + i] = score;
    if (highest < score)
      highest = score;
    diagonal = above;
    left = score;
  }
}
best[i] = highest;
""",
        ),
    ),
    Kernel(
        "LZ77 matches", lz_match, "uint8[::1], pyint, pyint, int32[::1], int32[::1]",
        256, lz_problem, gpu=2_000_003, host=150_001, test=3001, kind="irregular",
        **sides(
            "lz_match",
            "const unsigned char *data, int window, int longest, int *length, int *distance, int n",
            [("i", "0", "n")],
            """
INDEX best = 0, back = 0;
for (INDEX d = 1; d <= window && d <= i; d++) {
  INDEX k = 0;
  while (k < longest && i + k < n && data[i + k] == data[i - d + k])
    k++;
  if (k > best) {
    best = k;
    back = d;
  }
}
length[i] = best;
distance[i] = back;
""",
        ),
    ),
    Kernel(
        "Myers' edit distance", myers_distance, "uint64[::1], uint8[:,::1], pyint, int32[::1]",
        256, myers_problem, gpu=1_000_003, host=60_013, test=1001,
        **sides(
            "myers_distance",
            "const unsigned long long *masks, const unsigned char *texts, int length, int *distance, int letters, "
            "int size, int n",
            [("i", "0", "n")],
            """
unsigned long long last = 1ull << (length - 1), positive = ~0ull, negative = 0;
INDEX score = length;
for (INDEX j = 0; j < size; j++) {
  unsigned long long equal = masks[texts[j * n + i]];
  unsigned long long vertical = equal | negative;
  unsigned long long horizontal = (((equal & positive) + positive) ^ positive) | equal;
  unsigned long long more = negative | ~(horizontal | positive);
  unsigned long long less = positive & horizontal;
  if (more & last)
    score++;
  if (less & last)
    score--;
  more = (more << 1) | 1;
  less = less << 1;
  positive = less | ~(vertical | more);
  negative = more & vertical;
}
distance[i] = score;
""",
        ),
    ),
    Kernel(
        "Tanimoto similarity", tanimoto, "uint64[:,::1], uint64[:,::1], float32[:,::1]",
        (64, 4), tanimoto_problem, gpu=200_003, host=40_009, test=301,
        **sides(
            "tanimoto",
            "const unsigned long long *queries, const unsigned long long *library, float *similarity, int count, int n, int words",
            [("i", "0", "count"), ("j", "0", "n")],
            """
INDEX both = 0, either = 0;
for (INDEX k = 0; k < words; k++) {
  both += POPULATION(queries[i * words + k] & library[j * words + k]);
  either += POPULATION(queries[i * words + k] | library[j * words + k]);
}
similarity[i * n + j] = (float)both / (float)either;
""",
        ),
    ),
]  # fmt: skip
