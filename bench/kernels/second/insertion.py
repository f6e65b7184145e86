"""Insertion into a thread's local array: the k smallest of a row, nearest points, sorting 16, the
median of 25.
"""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda, float32, float64, int32

MOST = 16  # room in a thread's array


def k_smallest(x, k, smallest):
    """Those of a row, in rising order."""
    row = cuda.grid(1)
    if row >= x.shape[0]:
        return
    best = cuda.local.array(MOST, float32)
    for j in range(k):
        best[j] = math.inf
    for i in range(x.shape[1]):
        value = x[row, i]
        if value < best[k - 1]:
            j = k - 1
            while j > 0 and best[j - 1] > value:
                best[j] = best[j - 1]
                j -= 1
            best[j] = value
    for j in range(k):
        smallest[row, j] = best[j]


def nearest_points(queries, points, k, places):
    """The k points in the plane nearest to each query, the nearest first."""
    i = cuda.grid(1)
    if i < queries.shape[0]:
        distance = cuda.local.array(MOST, float64)
        place = cuda.local.array(MOST, int32)
        count = 0
        for p in range(points.shape[0]):
            dx = points[p, 0] - queries[i, 0]
            dy = points[p, 1] - queries[i, 1]
            d = dx * dx + dy * dy
            if count < k or d < distance[count - 1]:
                if count < k:
                    count += 1
                j = count - 1
                while j > 0 and distance[j - 1] > d:
                    distance[j] = distance[j - 1]
                    place[j] = place[j - 1]
                    j -= 1
                distance[j] = d
                place[j] = p
        for j in range(count):
            places[i, j] = place[j]


def insertion_sort(x, out):
    """Each row, of up to 16 numbers."""
    row = cuda.grid(1)
    if row < x.shape[0]:
        mine = cuda.local.array(MOST, int32)
        n = x.shape[1]
        for i in range(n):
            value = x[row, i]
            j = i
            while j > 0 and mine[j - 1] > value:
                mine[j] = mine[j - 1]
                j -= 1
            mine[j] = value
        for i in range(n):
            out[row, i] = mine[i]


def median25(image, out):
    """The median of 5 x 5 bytes; a border of two pixels stays as it is."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        if row < 2 or row >= image.shape[0] - 2 or col < 2 or col >= image.shape[1] - 2:
            out[row, col] = image[row, col]
            return
        window = cuda.local.array(25, int32)
        count = 0
        for y in range(row - 2, row + 3):
            for x in range(col - 2, col + 3):
                value = image[y, x]
                j = count
                while j > 0 and window[j - 1] > value:
                    window[j] = window[j - 1]
                    j -= 1
                window[j] = value
                count += 1
        out[row, col] = window[12]


def smallest_problem(rng, n):
    """The 11 smallest of 301 numbers, n times."""
    x, k = rng.random((n, 301), np.float32), 11

    def expected():
        return [(np.s_[:], np.sort(np.partition(x, k, axis=1)[:, :k], axis=1), 0)]

    return Problem(
        (x, k, np.zeros((n, k), np.float32)), (n, 301, k), (2,), expected, threads=n, bytes=4 * x.size + 4 * k * n,
        flops=3 * x.size,
    )  # fmt: skip


def nearest_problem(rng, n):
    """n queries, 1537 points, 7 nearest ones. No two random distances are within rounding of each
    other.
    """
    queries, points, k = rng.random((n, 2)), rng.random((1537, 2)), 7

    def expected():
        some = sampled(np.random.default_rng(0), n, 300)
        distance = ((queries[some, None] - points) ** 2).sum(axis=2)
        return [(some, np.argsort(distance, axis=1)[:, :k], 0)]

    return Problem(
        (queries, points, k, np.zeros((n, k), np.int32)), (n, len(points), k), (3,), expected, threads=n,
        bytes=16 * n + 4 * k * n, flops=6 * n * len(points),
    )  # fmt: skip


def sort_problem(rng, n):
    """n rows of 16 small integers."""
    x = rng.integers(-1000, 1000, (n, 16), np.int32)
    return Problem(
        (x, np.zeros_like(x)), (n, 16), (1,), lambda: [(np.s_[:], np.sort(x, axis=1), 0)], threads=n, bytes=128 * n,
        flops=150 * n,
    )  # fmt: skip


def median_problem(rng, n):
    """n x (3 n / 2 + 1) random bytes."""
    rows, cols = n, 3 * n // 2 + 1
    image = rng.integers(0, 256, (rows, cols), np.uint8)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 100)
        values = image[some].copy()
        inner = some[(some >= 2) & (some < rows - 2)]
        window = [image[inner + i][:, 2 + j : cols - 2 + j] for i in range(-2, 3) for j in range(-2, 3)]
        values[np.searchsorted(some, inner), 2:-2] = np.median(window, axis=0)
        return [(some, values, 0)]

    return Problem(
        (image, np.zeros_like(image)), (rows, cols), (1,), expected, threads=(cols, rows), bytes=2 * rows * cols,
        flops=300 * rows * cols,
    )  # fmt: skip


SMALLEST = each(
    "k_smallest(const float *x, int k, float *smallest, int rows, int cols, int most)",
    """
    float best[16];
    for (INDEX j = 0; j < k; j++)
      best[j] = INFINITY;
    for (INDEX i = 0; i < cols; i++) {
      float value = x[row * cols + i];
      if (value < best[k - 1]) {
        INDEX j = k - 1;
        while (j > 0 && best[j - 1] > value) {
          best[j] = best[j - 1];
          j--;
        }
        best[j] = value;
      }
    }
    for (INDEX j = 0; j < k; j++)
      smallest[row * k + j] = best[j];
""",
    extent="rows", index="row",
)  # fmt: skip

NEAREST = each(
    "nearest_points(const double *queries, const double *points, int k, int *places, int n, int m, int most)",
    """
    double distance[16];
    int place[16];
    INDEX count = 0;
    for (INDEX p = 0; p < m; p++) {
      double dx = points[2 * p] - queries[2 * i], dy = points[2 * p + 1] - queries[2 * i + 1];
      double d = dx * dx + dy * dy;
      if (count < k || d < distance[count - 1]) {
        if (count < k)
          count++;
        INDEX j = count - 1;
        while (j > 0 && distance[j - 1] > d) {
          distance[j] = distance[j - 1];
          place[j] = place[j - 1];
          j--;
        }
        distance[j] = d;
        place[j] = p;
      }
    }
    for (INDEX j = 0; j < count; j++)
      places[i * k + j] = place[j];
""",
)

SORT = each(
    "insertion_sort(const int *x, int *out, int rows, int n)",
    """
    int mine[16];
    for (INDEX i = 0; i < n; i++) {
      int value = x[row * n + i];
      INDEX j = i;
      while (j > 0 && mine[j - 1] > value) {
        mine[j] = mine[j - 1];
        j--;
      }
      mine[j] = value;
    }
    for (INDEX i = 0; i < n; i++)
      out[row * n + i] = mine[i];
""",
    extent="rows", index="row",
)  # fmt: skip

MEDIAN = plane(
    "median25(const unsigned char *image, unsigned char *out, int rows, int cols)",
    """
    if (row < 2 || row >= rows - 2 || col < 2 || col >= cols - 2) {
      out[row * cols + col] = image[row * cols + col];
    } else {
      int window[25];
      INDEX count = 0;
      for (INDEX y = row - 2; y < row + 3; y++)
        for (INDEX x = col - 2; x < col + 3; x++) {
          int value = image[y * cols + x];
          INDEX j = count;
          while (j > 0 && window[j - 1] > value) {
            window[j] = window[j - 1];
            j--;
          }
          window[j] = value;
          count++;
        }
      out[row * cols + col] = window[12];
    }
""",
)

KERNELS = [
    Kernel(
        "k smallest of a row", k_smallest, "float32[:,::1], pyint, float32[:,::1]", 128, smallest_problem,
        gpu=100_003, host=20_011, test=131, **SMALLEST,
    ),
    Kernel(
        "nearest points", nearest_points, "float64[:,::1], float64[:,::1], pyint, int32[:,::1]", 128, nearest_problem,
        gpu=100_003, host=5003, test=131, **NEAREST,
    ),
    Kernel(
        "insertion sort of 16", insertion_sort, "int32[:,::1], int32[:,::1]", 128, sort_problem,
        gpu=1_000_003, host=200_003, test=301, **SORT,
    ),
    Kernel(
        "median of 25", median25, "uint8[:,::1], uint8[:,::1]", (32, 8), median_problem,
        gpu=2053, host=301, test=45, power=2, **MEDIAN,
    ),
]  # fmt: skip
