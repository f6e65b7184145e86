"""Statistics: the nearest centre of k-means, Welford's variance of rows (shared memory), Kendall's
tau, an integral image.
"""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.third.texts import sides
from pyptx import cuda, float32

THREADS = 128


def kmeans_assign(points, centres, label, distance):
    """The nearest centre of each point (Lloyd, 1982; Rodinia's kmeans)."""
    i = cuda.grid(1)
    if i >= points.shape[0]:
        return
    nearest = 0
    least = np.float32(np.inf)
    for c in range(centres.shape[0]):
        total = 0.0
        for k in range(points.shape[1]):
            d = points[i, k] - centres[c, k]
            total += d * d
        if total < least:
            least = total
            nearest = c
    label[i] = nearest
    distance[i] = least


def welford_rows(x, mean, variance):
    """Mean and variance of each row: Welford's recurrence (1962) in each thread, joined by Chan's
    formula (1979).
    """
    counts = cuda.shared.array(THREADS, float32)
    means = cuda.shared.array(THREADS, float32)
    squares = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    n = 0
    middle = float32(0.0)
    square = float32(0.0)
    for j in range(t, x.shape[1], THREADS):
        n += 1
        d = x[row, j] - middle
        middle += d / n
        square += d * (x[row, j] - middle)
    counts[t] = n
    means[t] = middle
    squares[t] = square
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if t < half:
            together = counts[t] + counts[t + half]
            if together > 0:
                d = means[t + half] - means[t]
                means[t] += d * counts[t + half] / together
                squares[t] += squares[t + half] + d * d * counts[t] * counts[t + half] / together
                counts[t] = together
        cuda.syncthreads()
        half //= 2
    if t == 0:
        mean[row] = means[0]
        variance[row] = squares[0] / counts[0]


def kendall(x, y, balance):
    """Pairs (i, j < i) in the same order in x and y less those in opposite order: what Kendall's
    tau (1938) sums.
    """
    i = cuda.grid(1)
    if i < x.size:
        total = 0
        for j in range(i):
            product = (x[j] - x[i]) * (y[j] - y[i])
            if product > 0:
                total += 1
            elif product < 0:
                total -= 1
        balance[i] = total


def integral_columns(image, sums):
    """The second half of an integral image: running sums down each column, in 64 bits."""
    j = cuda.grid(1)
    if j < image.shape[1]:
        total = 0
        for i in range(image.shape[0]):
            total += int(image[i, j])
            sums[i, j] = total


def kmeans_problem(rng, n):
    """n points with 13 features, 19 centres."""
    features, count = (13, 19) if n > 1000 else (5, 7)
    points, centres = rng.random((n, features), np.float32), rng.random((count, features), np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        d2 = ((points[some, None].astype(np.float64) - centres) ** 2).sum(axis=2)
        least = d2.min(axis=1)
        off = EPS32 / 2 * (features + 3) * least  # a difference, a product, the additions: all positive
        second = np.partition(d2, 1, axis=1)[:, 1]
        sure = second - least > 3 * off
        assert sure.mean() > 0.9, "the sample must say something"
        return [(some, d2.argmin(axis=1), np.where(sure, 0, count)), (some, least, off)]

    arguments = (points, centres, np.zeros(n, np.int32), np.zeros(n, np.float32))
    extents = (n, features, count)
    moved = 4 * n * (features + 2)
    return Problem(arguments, extents, (2, 3), expected, threads=n, bytes=moved, flops=3 * count * features * n)


def welford_problem(rng, n):
    """n rows of 3001 numbers."""
    cols = 3001 if n > 100 else 301
    x = rng.random((n, cols), np.float32)
    steps = cols / THREADS + 7

    def expected():
        some = sampled(np.random.default_rng(0), n, 512)
        exact = x[some].astype(np.float64)
        # Each step rounds a mean below 1, and what it rounds stays: at worst half an eps a step,
        # and some more to join. A sum of squares takes two such means in each term, and rounds as
        # often itself.
        off = EPS32 * steps
        return [(some, exact.mean(axis=1), off), (some, exact.var(axis=1), 3 * off)]

    arguments = (x, np.zeros(n, np.float32), np.zeros(n, np.float32))
    return Problem(
        arguments, (n, cols), (1, 2), expected, grid=n, bytes=4 * n * cols, flops=7 * n * cols,
        sequential=cols / steps,
    )  # fmt: skip


def kendall_problem(rng, n):
    """n pairs, correlated, with ties in x."""
    x = np.floor(50 * rng.random(n, np.float32))
    y = (x + 40 * rng.random(n, np.float32)).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 256)
        exact = [int((np.sign(x[:i] - x[i]) * np.sign(y[:i] - y[i])).astype(int).sum()) for i in some]
        return [(some, np.array(exact), 0)]

    return Problem(
        (x, y, np.zeros(n, np.int64)), (n,), (2,), expected, threads=n, bytes=16 * n, flops=2.5 * n * n
    )  # fmt: skip


def integral_problem(rng, n):
    """n columns of n / 16 pixels."""
    rows = n // 16 + 1
    image = rng.integers(0, 256, (rows, n)).astype(np.uint8)

    def expected():
        return [(np.s_[:], np.cumsum(image, axis=0, dtype=np.int64), 0)]

    return Problem(
        (image, np.zeros((rows, n), np.int64)), (rows, n), (1,), expected, threads=n, bytes=9 * rows * n, flops=rows * n
    )


WELFORD_CUDA = """
__global__ void welford_rows(const float *x, float *mean, float *variance, int rows, int cols) {
  __shared__ float counts[128], means[128], squares[128];
  INDEX row = blockIdx.x, t = threadIdx.x;
  INDEX n = 0;
  float middle = 0.0f, square = 0.0f;
  for (INDEX j = t; j < cols; j += 128) {
    n++;
    float d = x[row * cols + j] - middle;
    middle += d / n;
    square += d * (x[row * cols + j] - middle);
  }
  counts[t] = n;
  means[t] = middle;
  squares[t] = square;
  __syncthreads();
  for (INDEX half = 64; half > 0; half /= 2) {
    if (t < half) {
      float together = counts[t] + counts[t + half];
      if (together > 0) {
        float d = means[t + half] - means[t];
        means[t] += d * counts[t + half] / together;
        squares[t] += squares[t + half] + d * d * counts[t] * counts[t + half] / together;
        counts[t] = together;
      }
    }
    __syncthreads();
  }
  if (t == 0) {
    mean[row] = means[0];
    variance[row] = squares[0] / counts[0];
  }
}
"""

KERNELS = [
    Kernel(
        "k-means, nearest centres", kmeans_assign, "float32[:,::1], float32[:,::1], int32[::1], float32[::1]",
        256, kmeans_problem, gpu=2_000_003, host=300_007, test=603,
        **sides(
            "kmeans_assign",
            "const float *points, const float *centres, int *label, float *distance, int n, int features, int count",
            [("i", "0", "n")],
            """
INDEX nearest = 0;
float least = INFINITY;
for (INDEX c = 0; c < count; c++) {
  float total = 0.0f;
  for (INDEX k = 0; k < features; k++) {
    float d = points[i * features + k] - centres[c * features + k];
    total += d * d;
  }
  if (total < least) {
    least = total;
    nearest = c;
  }
}
label[i] = nearest;
distance[i] = least;
""",
        ),
    ),
    Kernel(
        "Welford's variance of rows", welford_rows, "float32[:,::1], float32[::1], float32[::1]",
        THREADS, welford_problem, gpu=40_009, host=6007, test=5, kind="shared",
        cuda=WELFORD_CUDA.replace("INDEX", "long long"), cuda_int=WELFORD_CUDA.replace("INDEX", "int"),
        openmp="""
void welford_rows(const float *x, float *mean, float *variance, int rows, int cols) {
#pragma omp parallel for
  for (int row = 0; row < rows; row++) {
    float middle = 0.0f, square = 0.0f;
    for (int j = 0; j < cols; j++) {
      float d = x[row * cols + j] - middle;
      middle += d / (j + 1);
      square += d * (x[row * cols + j] - middle);
    }
    mean[row] = middle;
    variance[row] = square / cols;
  }
}
""",
    ),
    Kernel(
        "Kendall's tau", kendall, "float32[::1], float32[::1], int64[::1]",
        256, kendall_problem, gpu=40_009, host=7001, test=603, power=2,
        **sides(
            "kendall", "const float *x, const float *y, long long *balance, int n", [("i", "0", "n")],
            """
INDEX total = 0;
for (INDEX j = 0; j < i; j++) {
  float product = (x[j] - x[i]) * (y[j] - y[i]);
  if (product > 0)
    total++;
  else if (product < 0)
    total--;
}
balance[i] = total;
""",
            schedule=" schedule(dynamic, 64)",
        ),
    ),
    Kernel(
        "integral image, columns", integral_columns, "uint8[:,::1], int64[:,::1]",
        128, integral_problem, gpu=30_011, host=15_013, test=203, power=2, kind="streaming",
        **sides(
            "integral_columns", "const unsigned char *image, long long *sums, int rows, int cols", [("j", "0", "cols")],
            """
INDEX total = 0;
for (INDEX i = 0; i < rows; i++) {
  total += image[i * cols + j];
  sums[i * cols + j] = total;
}
""",
        ),
    ),
]  # fmt: skip
