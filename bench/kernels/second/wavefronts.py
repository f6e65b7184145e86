"""Dynamic programming over a table whose cells need their upper and left neighbours.

Edit distance (Wagner and Fischer), global alignment (Needleman and Wunsch), the longest common
subsequence (Cormen and others, "Introduction to Algorithms"), local alignment with affine gaps
(Gotoh), and pathfinder of Rodinia. All numbers are integers: the results are equal.
"""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, int32

LONGEST = 512  # characters that a block's diagonals have room for
SHORT = 64  # those of a thread's row
SIDE = 256  # columns that a block of pathfinder reads


def edit_distance(first, second, distances):
    """A block for each pair of words; three anti-diagonals in shared memory."""
    diagonals = cuda.shared.array((3, LONGEST + 1), int32)
    pair = cuda.blockIdx.x
    m = first.shape[1]
    n = second.shape[1]
    for d in range(m + n + 1):
        now, last, before = d % 3, (d + 2) % 3, (d + 1) % 3
        for i in range(max(0, d - n) + cuda.threadIdx.x, min(d, m) + 1, cuda.blockDim.x):
            j = d - i
            if i == 0:
                cost = j
            elif j == 0:
                cost = i
            else:
                change = diagonals[before, i - 1]
                if first[pair, i - 1] != second[pair, j - 1]:
                    change += 1
                cost = min(change, diagonals[last, i - 1] + 1, diagonals[last, i] + 1)
            diagonals[now, i] = cost
        cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        distances[pair] = diagonals[(m + n) % 3, m]


def needleman_wunsch(first, second, match, mismatch, gap, row, scores):
    """A thread for each pair, whose row of the table is a column of `row`."""
    pair = cuda.grid(1)
    if pair >= scores.size:
        return
    m = first.shape[0]
    n = second.shape[0]
    for j in range(n + 1):
        row[j, pair] = j * gap
    for i in range(1, m + 1):
        diagonal = row[0, pair]
        left = i * gap
        row[0, pair] = left
        letter = first[i - 1, pair]
        for j in range(1, n + 1):
            up = row[j, pair]
            score = diagonal + (match if letter == second[j - 1, pair] else mismatch)
            score = max(score, up + gap, left + gap)
            row[j, pair] = score
            diagonal = up
            left = score
    scores[pair] = row[n, pair]


def longest_subsequence(first, second, lengths):
    """A thread for each pair; the table's row in a local array."""
    pair = cuda.grid(1)
    if pair < lengths.size:
        m = first.shape[1]
        n = second.shape[1]
        row = cuda.local.array(SHORT + 1, int32)
        for j in range(n + 1):
            row[j] = 0
        for i in range(m):
            diagonal = 0
            for j in range(n):
                up = row[j + 1]
                if first[pair, i] == second[pair, j]:
                    row[j + 1] = diagonal + 1
                else:
                    row[j + 1] = max(up, row[j])
                diagonal = up
        lengths[pair] = row[n]


def affine_gaps(first, second, match, mismatch, opening, extension, scores):
    """Smith and Waterman with Gotoh's affine gaps: a block for each pair, anti-diagonals in shared
    memory.
    """
    best = cuda.shared.array((3, LONGEST + 1), int32)  # of alignments that end in this cell
    across = cuda.shared.array((2, LONGEST + 1), int32)  # that end with a gap in the first word
    down = cuda.shared.array((2, LONGEST + 1), int32)  # in the second
    highest = cuda.shared.array(1, int32)
    pair = cuda.blockIdx.x
    m = first.shape[1]
    n = second.shape[1]
    mine = 0
    if cuda.threadIdx.x == 0:
        highest[0] = 0
    for d in range(m + n + 1):
        now, last, before = d % 3, (d + 2) % 3, (d + 1) % 3
        new, old = d % 2, (d + 1) % 2
        for i in range(max(0, d - n) + cuda.threadIdx.x, min(d, m) + 1, cuda.blockDim.x):
            j = d - i
            if i == 0 or j == 0:
                best[now, i] = 0
                across[new, i] = -opening
                down[new, i] = -opening
            else:
                right = max(across[old, i] - extension, best[last, i] - opening)
                below = max(down[old, i - 1] - extension, best[last, i - 1] - opening)
                same = first[pair, i - 1] == second[pair, j - 1]
                score = max(0, right, below, best[before, i - 1] + (match if same else mismatch))
                across[new, i] = right
                down[new, i] = below
                best[now, i] = score
                mine = max(mine, score)
        cuda.syncthreads()
    cuda.atomic.max(highest, 0, mine)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        scores[pair] = highest[0]


def pathfinder(wall, start, height, source, target):
    """`height` rows at once: each costs a block one column on either side, which it computes and
    drops.
    """
    previous = cuda.shared.array(SIDE, int32)
    current = cuda.shared.array(SIDE, int32)
    t = cuda.threadIdx.x
    columns = wall.shape[1]
    column = cuda.blockIdx.x * (cuda.blockDim.x - 2 * height) - height + t
    inside = 0 <= column < columns
    if inside:
        previous[t] = source[column]
    cuda.syncthreads()
    for k in range(height):
        if inside and k < t < cuda.blockDim.x - 1 - k:
            shortest = previous[t]
            if column > 0:
                shortest = min(shortest, previous[t - 1])
            if column < columns - 1:
                shortest = min(shortest, previous[t + 1])
            current[t] = shortest + wall[start + k, column]
        cuda.syncthreads()
        if inside and k < t < cuda.blockDim.x - 1 - k:
            previous[t] = current[t]
        cuda.syncthreads()
    if inside and height <= t < cuda.blockDim.x - height:
        target[column] = previous[t]


def words(rng, pairs, length, letters=4):
    """Random words over the first letters of the alphabet."""
    return rng.integers(65, 65 + letters, (pairs, length), np.uint8)


def edit_problem(rng, n):
    """n pairs of 301 and 333 letters."""
    first, second = words(rng, n, 301), words(rng, n, 333)

    def expected():
        some = sampled(np.random.default_rng(0), n, 48)
        a, b = first[some], second[some]
        steps = np.arange(b.shape[1] + 1)
        row = np.broadcast_to(steps, (len(some), len(steps)))
        for i in range(a.shape[1]):
            best = np.empty_like(row)
            best[:, 0] = i + 1
            best[:, 1:] = np.minimum(row[:, 1:] + 1, row[:, :-1] + (a[:, i : i + 1] != b))
            row = np.minimum.accumulate(best - steps, axis=1) + steps  # letters that are left out
        return [(some, row[:, -1], 0)]

    return Problem(
        (first, second, np.zeros(n, np.int32)), (n, 301, 333), (2,), expected, grid=n, bytes=n * (301 + 333 + 4),
        flops=5 * n * 301 * 333,
    )  # fmt: skip


def global_problem(rng, n):
    """n pairs of 101 and 93 letters, side by side in memory."""
    first, second = (np.ascontiguousarray(words(rng, n, k).T) for k in (101, 93))
    match, mismatch, gap = np.int32(3), np.int32(-2), np.int32(-1)

    def expected():
        some = sampled(np.random.default_rng(0), n, 200)
        a, b = first[:, some].T, second[:, some].T
        steps = np.arange(b.shape[1] + 1) * int(gap)
        row = np.broadcast_to(steps, (len(some), len(steps)))
        for i in range(a.shape[1]):
            best = np.empty_like(row)
            best[:, 0] = (i + 1) * int(gap)
            best[:, 1:] = np.maximum(row[:, 1:] + int(gap), row[:, :-1] + np.where(a[:, i : i + 1] == b, 3, -2))
            row = np.maximum.accumulate(best - steps, axis=1) + steps
        return [(some, row[:, -1], 0)]

    return Problem(
        (first, second, match, mismatch, gap, np.zeros((94, n), np.int32), np.zeros(n, np.int32)), (101, 93, n), (6,),
        expected, threads=n, bytes=n * (101 + 93 + 4), flops=5 * n * 101 * 93,
    )  # fmt: skip


def subsequence_problem(rng, n):
    """n pairs of 51 and 61 letters."""
    first, second = words(rng, n, 51), words(rng, n, 61)

    def expected():
        some = sampled(np.random.default_rng(0), n, 500)
        a, b = first[some], second[some]
        row = np.zeros((len(some), b.shape[1] + 1), int)
        for i in range(a.shape[1]):
            best = np.zeros_like(row)
            best[:, 1:] = np.maximum(row[:, 1:], row[:, :-1] + (a[:, i : i + 1] == b))
            row = np.maximum.accumulate(best, axis=1)
        return [(some, row[:, -1], 0)]

    return Problem(
        (first, second, np.zeros(n, np.int32)), (n, 51, 61), (2,), expected, threads=n, bytes=n * (51 + 61 + 4),
        flops=3 * n * 51 * 61,
    )  # fmt: skip


def affine_problem(rng, n):
    """n pairs of 301 and 277 letters."""
    first, second = words(rng, n, 301), words(rng, n, 277)
    match, mismatch, opening, extension = (np.int32(k) for k in (5, -4, 10, 1))

    def expected():
        some = sampled(np.random.default_rng(0), n, 48)
        a, b = first[some], second[some]
        best = np.zeros((len(some), b.shape[1] + 1), int)
        below, highest = np.full_like(best, -10), np.zeros(len(some), int)
        steps = np.arange(best.shape[1])
        for i in range(a.shape[1]):
            below[:, 1:] = np.maximum(below - 1, best - 10)[:, 1:]
            fresh = np.zeros_like(best)
            fresh[:, 1:] = np.maximum(best[:, :-1] + np.where(a[:, i : i + 1] == b, 5, -4), below[:, 1:]).clip(0)
            # A gap of k letters costs 9 + k: the highest of all starts to the left, the gap's
            # growth taken out. A gap behind a gap never pays, so starts are of `fresh` alone.
            start = np.maximum.accumulate(fresh + steps, axis=1)
            fresh[:, 1:] = np.maximum(fresh[:, 1:], start[:, :-1] - 9 - steps[1:])
            best = fresh
            highest = np.maximum(highest, best.max(axis=1))
        return [(some, highest, 0)]

    return Problem(
        (first, second, match, mismatch, opening, extension, np.zeros(n, np.int32)), (n, 301, 277), (6,), expected, grid=n,
        bytes=n * (301 + 277 + 4), flops=10 * n * 301 * 277,
    )  # fmt: skip


def pathfinder_problem(rng, n):
    """21 of 34 rows of n columns, from the fifth."""
    wall, source = rng.integers(0, 10, (34, n), np.int32), rng.integers(0, 1000, n, np.int32)
    start, height = 5, 21

    def expected():
        row = source
        for k in range(start, start + height):
            left, right = np.r_[row[0], row[:-1]], np.r_[row[1:], row[-1]]
            row = wall[k] + np.minimum(row, np.minimum(left, right))
        return [(np.s_[:], row, 0)]

    return Problem(
        (wall, start, height, source, np.zeros(n, np.int32)), (n,), (4,), expected, grid=-(-n // (SIDE - 2 * height)),
        bytes=4 * n * (height + 2), flops=3 * n * height,
    )  # fmt: skip


EDIT = indexed(
    """
__global__ void edit_distance(const unsigned char *first, const unsigned char *second, int *distances, int pairs, int m, int n) {
  __shared__ int diagonals[3][513];
  INDEX pair = blockIdx.x;
  for (INDEX d = 0; d <= (INDEX)m + n; d++) {
    INDEX now = d % 3, last = (d + 2) % 3, before = (d + 1) % 3;
    INDEX end = MIN(d, (INDEX)m);
    for (INDEX i = MAX((INDEX)0, d - n) + threadIdx.x; i <= end; i += blockDim.x) {
      INDEX j = d - i;
      int cost;
      if (i == 0)
        cost = j;
      else if (j == 0)
        cost = i;
      else {
        int change = diagonals[before][i - 1];
        if (first[pair * m + i - 1] != second[pair * n + j - 1])
          change++;
        cost = MIN(change, MIN(diagonals[last][i - 1], diagonals[last][i]) + 1);
      }
      diagonals[now][i] = cost;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0)
    distances[pair] = diagonals[((INDEX)m + n) % 3][m];
}
""",
    """
void edit_distance(const unsigned char *first, const unsigned char *second, int *distances, int pairs, int m, int n) {
#pragma omp parallel for
  for (int pair = 0; pair < pairs; pair++) {
    int row[513];
    for (int j = 0; j <= n; j++)
      row[j] = j;
    for (int i = 1; i <= m; i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= n; j++) {
        int up = row[j];
        int change = diagonal + (first[pair * m + i - 1] != second[pair * n + j - 1]);
        row[j] = MIN(change, MIN(up, row[j - 1]) + 1);
        diagonal = up;
      }
    }
    distances[pair] = row[n];
  }
}
""",
)

GLOBAL = each(
    "needleman_wunsch(const unsigned char *first, const unsigned char *second, int match, int mismatch, int gap,\n"
    "                 int *row, int *scores, int m, int n, int pairs)",
    """
    for (INDEX j = 0; j <= n; j++)
      row[j * pairs + pair] = j * gap;
    for (INDEX i = 1; i <= m; i++) {
      int diagonal = row[pair];
      int left = i * gap;
      row[pair] = left;
      unsigned char letter = first[(i - 1) * pairs + pair];
      for (INDEX j = 1; j <= n; j++) {
        int up = row[j * pairs + pair];
        int score = diagonal + (letter == second[(j - 1) * pairs + pair] ? match : mismatch);
        score = MAX(score, MAX(up, left) + gap);
        row[j * pairs + pair] = score;
        diagonal = up;
        left = score;
      }
    }
    scores[pair] = row[(INDEX)n * pairs + pair];
""",
    extent="pairs", index="pair",
)  # fmt: skip

SUBSEQUENCE = each(
    "longest_subsequence(const unsigned char *first, const unsigned char *second, int *lengths, int pairs, int m, int n)",
    """
    int row[65];
    for (INDEX j = 0; j <= n; j++)
      row[j] = 0;
    for (INDEX i = 0; i < m; i++) {
      int diagonal = 0;
      for (INDEX j = 0; j < n; j++) {
        int up = row[j + 1];
        if (first[pair * m + i] == second[pair * n + j])
          row[j + 1] = diagonal + 1;
        else
          row[j + 1] = MAX(up, row[j]);
        diagonal = up;
      }
    }
    lengths[pair] = row[n];
""",
    extent="pairs", index="pair",
)  # fmt: skip

AFFINE = indexed(
    """
__global__ void affine_gaps(const unsigned char *first, const unsigned char *second, int match, int mismatch, int opening,
                            int extension, int *scores, int pairs, int m, int n) {
  __shared__ int best[3][513], across[2][513], down[2][513], highest;
  INDEX pair = blockIdx.x;
  int mine = 0;
  if (threadIdx.x == 0)
    highest = 0;
  for (INDEX d = 0; d <= (INDEX)m + n; d++) {
    INDEX now = d % 3, last = (d + 2) % 3, before = (d + 1) % 3, fresh = d % 2, old = (d + 1) % 2;
    INDEX end = MIN(d, (INDEX)m);
    for (INDEX i = MAX((INDEX)0, d - n) + threadIdx.x; i <= end; i += blockDim.x) {
      INDEX j = d - i;
      if (i == 0 || j == 0) {
        best[now][i] = 0;
        across[fresh][i] = -opening;
        down[fresh][i] = -opening;
      } else {
        int right = MAX(across[old][i] - extension, best[last][i] - opening);
        int below = MAX(down[old][i - 1] - extension, best[last][i - 1] - opening);
        bool same = first[pair * m + i - 1] == second[pair * n + j - 1];
        int score = MAX(MAX(0, right), MAX(below, best[before][i - 1] + (same ? match : mismatch)));
        across[fresh][i] = right;
        down[fresh][i] = below;
        best[now][i] = score;
        mine = MAX(mine, score);
      }
    }
    __syncthreads();
  }
  atomicMax(&highest, mine);
  __syncthreads();
  if (threadIdx.x == 0)
    scores[pair] = highest;
}
""",
    """
void affine_gaps(const unsigned char *first, const unsigned char *second, int match, int mismatch, int opening,
                 int extension, int *scores, int pairs, int m, int n) {
#pragma omp parallel for
  for (int pair = 0; pair < pairs; pair++) {
    int best[513], down[513], highest = 0;
    for (int j = 0; j <= n; j++) {
      best[j] = 0;
      down[j] = -opening;
    }
    for (int i = 1; i <= m; i++) {
      int diagonal = best[0], right = -opening;
      for (int j = 1; j <= n; j++) {
        int same = first[pair * m + i - 1] == second[pair * n + j - 1];
        right = MAX(right - extension, best[j - 1] - opening);
        down[j] = MAX(down[j] - extension, best[j] - opening);
        int score = MAX(MAX(0, right), MAX(down[j], diagonal + (same ? match : mismatch)));
        diagonal = best[j];
        best[j] = score;
        highest = MAX(highest, score);
      }
    }
    scores[pair] = highest;
  }
}
""",
)

PATHFINDER = indexed(
    """
__global__ void pathfinder(const int *wall, int start, int height, const int *source, int *target, int columns) {
  __shared__ int previous[256], current[256];
  INDEX t = threadIdx.x;
  INDEX column = blockIdx.x * ((INDEX)blockDim.x - 2 * height) - height + t;
  bool inside = 0 <= column && column < columns;
  if (inside)
    previous[t] = source[column];
  __syncthreads();
  for (INDEX k = 0; k < height; k++) {
    bool active = inside && k < t && t < (INDEX)blockDim.x - 1 - k;
    if (active) {
      int shortest = previous[t];
      if (column > 0)
        shortest = MIN(shortest, previous[t - 1]);
      if (column < columns - 1)
        shortest = MIN(shortest, previous[t + 1]);
      current[t] = shortest + wall[(start + k) * columns + column];
    }
    __syncthreads();
    if (active)
      previous[t] = current[t];
    __syncthreads();
  }
  if (inside && height <= t && t < (INDEX)blockDim.x - height)
    target[column] = previous[t];
}
""",
    """
#include <stdlib.h>
void pathfinder(const int *wall, int start, int height, const int *source, int *target, int columns) {
  int *previous = malloc(sizeof(int) * columns);
  for (int column = 0; column < columns; column++)
    previous[column] = source[column];
  for (int k = 0; k < height; k++) {
    const int *row = wall + (long)(start + k) * columns;
#pragma omp parallel for
    for (int column = 0; column < columns; column++) {
      int shortest = previous[column];
      if (column > 0)
        shortest = MIN(shortest, previous[column - 1]);
      if (column < columns - 1)
        shortest = MIN(shortest, previous[column + 1]);
      target[column] = shortest + row[column];
    }
    if (k < height - 1)
#pragma omp parallel for
      for (int column = 0; column < columns; column++)
        previous[column] = target[column];
  }
  free(previous);
}
""",
)

WORDS = "uint8[:,::1], uint8[:,::1], "

KERNELS = [
    Kernel(
        "edit distance by diagonals", edit_distance, WORDS + "int32[::1]", 128, edit_problem,
        gpu=4099, host=301, test=5, kind="shared", **EDIT,
    ),
    Kernel(
        "Needleman-Wunsch, thread a pair", needleman_wunsch, WORDS + "int32, int32, int32, int32[:,::1], int32[::1]", 128,
        global_problem, gpu=100_003, host=6593, test=131, **GLOBAL,
    ),
    Kernel(
        "longest common subsequence", longest_subsequence, WORDS + "int32[::1]", 128, subsequence_problem,
        gpu=200_003, host=10_007, test=131, **SUBSEQUENCE,
    ),
    Kernel(
        "Smith-Waterman-Gotoh", affine_gaps, WORDS + "int32, int32, int32, int32, int32[::1]", 128, affine_problem,
        gpu=4099, host=251, test=5, kind="shared", **AFFINE,
    ),
    Kernel(
        "pathfinder", pathfinder, "int32[:,::1], pyint, pyint, int32[::1], int32[::1]", SIDE, pathfinder_problem,
        gpu=5_000_011, host=2_520_719, test=1013, kind="shared", **PATHFINDER,
    ),
]  # fmt: skip
