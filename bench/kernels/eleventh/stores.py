"""Stores: set bits by their number, series of floats in bits, identifiers in common, slices of sparse rows, fractions."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, float32, uint64


def nth_set_bits(words, before, wanted, places):
    """Where the n-th set bit of a bitmap is, with how many come before each word; -1 past the last."""
    i = cuda.grid(1)
    if i >= places.size:
        return
    n = int(wanted[i])
    low, high = 0, words.size
    while high - low > 1:
        middle = (low + high) // 2
        if before[middle] <= n:
            low = middle
        else:
            high = middle
    word = words[low]
    for _ in range(n - int(before[low])):
        word &= word - 1
    places[i] = 64 * low + (~word & word - 1).bit_count() if word != 0 else -1


def take(words, place, count):
    """(the next bits of a stream, where it goes on)"""
    k, used = place // 64, place % 64
    bits = words[k] << used
    if used + count > 64:
        bits |= words[k + 1] >> 64 - used
    return bits >> 64 - count, place + count


def float_series(starts, words, series):
    """Gorilla: each float is the one before, but for some bits in the middle; which ones, bits in front of them say."""
    i = cuda.grid(1)
    if i >= series.shape[1]:
        return
    place = 64 * int(starts[i])
    value, place = take(words, place, 64)
    series[0, i] = value.view(np.float64)
    leading = 0
    length = 64
    for t in range(1, series.shape[0]):
        changed, place = take(words, place, 1)
        if changed:
            other, place = take(words, place, 1)
            if other:
                head, place = take(words, place, 11)
                leading = int(head >> 6)
                length = int(head & 63) + 1
            bits, place = take(words, place, length)
            value ^= bits << 64 - leading - length
        series[t, i] = value.view(np.float64)


def common_ids(starts_a, ids_a, starts_b, ids_b, counts, least):
    """Sorted identifiers of pairs of lists: how many both have, and the first of them."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    a, b = starts_a[i], starts_b[i]
    last_a, last_b = starts_a[i + 1], starts_b[i + 1]
    count = 0
    first = -1
    while a < last_a and b < last_b:
        x, y = ids_a[a], ids_b[b]
        if x == y:
            if count == 0:
                first = int(x)
            count += 1
        a += x <= y
        b += y <= x
    counts[i] = count
    least[i] = first


def sliced_rows(slices, columns, values, x, y):
    """A sparse matrix in slices of 32 rows, each as wide as its longest, times a vector; column -1 ends a row."""
    row = cuda.grid(1)
    if row >= y.size:
        return
    begin, end = slices[row // 32], slices[row // 32 + 1]
    total = float32(0)
    for p in range(begin + row % 32, end, 32):
        col = columns[p]
        if col < 0:
            break
        total += values[p] * x[col]
    y[row] = total


def best_fractions(numbers, largest, above, below):
    """The best fractions with a denominator up to the largest, by continued fractions and a last step part of the way."""
    i = cuda.grid(1)
    if i >= numbers.size:
        return
    x = numbers[i]
    p0, q0, p1, q1 = 0, 1, 1, 0
    rest = x
    while True:
        whole = math.floor(rest)
        q2 = q0 + whole * q1
        if q2 > largest:
            break
        p0, q0, p1, q1 = p1, q1, p0 + whole * p1, q2
        if rest == whole or rest - whole < 1e-9:
            break
        rest = 1 / (rest - whole)
    k = (largest - q0) // q1
    p, q = p0 + k * p1, q0 + k * q1
    if abs(p / q - x) < abs(p1 / q1 - x):
        above[i], below[i] = p, q
    else:
        above[i], below[i] = p1, q1


def bits_problem(rng, n):
    size = n // 16 + 3
    words = rng.integers(0, 1 << 63, size, np.uint64) & rng.integers(0, 1 << 63, size, np.uint64) << np.uint64(1)
    words[rng.random(size) < 0.1] = 0
    counts = np.bitwise_count(words).astype(np.int64)
    before = (np.cumsum(counts) - counts).astype(np.int32)
    wanted = rng.integers(0, counts.sum() + 50, n).astype(np.int32)

    def expected():
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        places = np.append(np.flatnonzero(bits), np.full(60, -1))
        return [(slice(None), places[wanted], 0)]

    args = (words, before, wanted, np.full(n, 99, np.int64))
    return Problem(args, (size, n), (3,), expected, threads=n, bytes=12.0 * n + 12.0 * size, flops=150.0 * n)


def encoded_series(values):
    bits = values.view(np.uint64).tolist()
    text, window = [f"{bits[0]:064b}"], None
    for a, b in zip(bits, bits[1:]):
        changed = f"{a ^ b:064b}"
        if a == b:
            text.append("0")
            continue
        leading, trailing = min(len(changed) - len(changed.lstrip("0")), 31), len(changed) - len(changed.rstrip("0"))
        if window and leading >= window[0] and trailing >= window[1]:
            text.append("10" + changed[window[0] : 64 - window[1]])
        else:
            window = leading, trailing
            text.append(f"11{leading:05b}{63 - leading - trailing:06b}" + changed[leading : 64 - trailing])
    text = "".join(text)
    return [int(text[k : k + 64].ljust(64, "0"), 2) for k in range(0, len(text), 64)]


def series_problem(rng, n):
    length, kinds = 61, min(n, 200)
    steps = rng.choice([0, 0, 0.5, -0.25, 0.125, 3], (length, kinds))
    values = np.round(20 + np.cumsum(steps, 0), 3)
    values[:, ::3] += rng.choice([0, 0.1, 0.01], (length, len(values[0, ::3])))
    coded = [encoded_series(np.ascontiguousarray(v)) for v in values.T]
    which = rng.integers(0, kinds, n)
    sizes = np.array([len(c) for c in coded])[which]
    starts = (np.cumsum(sizes) - sizes).astype(np.int32)
    words = np.concatenate([np.array(coded[k], np.uint64) for k in which] + [np.zeros(2, np.uint64)])

    def expected():
        return [(slice(None), values[:, which], 0)]

    args = (starts, words, np.full((length, n), -1.0))
    return Problem(args, (length, n), (2,), expected, threads=n, bytes=8.0 * len(words) + 8.0 * length * n, flops=25.0 * length * n)


def ids_problem(rng, n):
    sizes = rng.integers(0, 90, (2, n))
    starts, ids = [], []
    for s in sizes:
        gaps = rng.integers(1, 12, s.sum())
        first = np.cumsum([0, *s])
        total = np.cumsum(gaps)
        ids.append((total - np.repeat(np.append(0, total)[first[:-1]], s)).astype(np.uint16))
        starts.append(first.astype(np.int32))

    def expected():
        at = sampled(rng, n, 2000)
        both = [
            np.intersect1d(*(v[f[i] : f[i + 1]] for f, v in zip(starts, ids)), assume_unique=True) for i in at
        ]  # fmt: skip
        return [(at, [len(b) for b in both], 0), (at, [b[0] if len(b) else -1 for b in both], 0)]

    args = (starts[0], ids[0], starts[1], ids[1], np.full(n, 99, np.int32), np.full(n, 99, np.int32))
    return Problem(args, (n,), (4, 5), expected, threads=n, bytes=2.0 * sizes.sum() + 16.0 * n, flops=8.0 * sizes.sum())


def slices_problem(rng, n):
    degrees = np.minimum(rng.geometric(0.08, n), 60)
    order = np.argsort(-degrees.reshape(-1), kind="stable") if n < 4 else np.concatenate([
        k + np.argsort(-degrees[k : k + 512], kind="stable") for k in range(0, n, 512)
    ])  # fmt: skip
    degrees = degrees[order]
    count = -(-n // 32)
    padded = np.append(degrees, np.zeros(32 * count - n, int)).reshape(count, 32)
    slices = (32 * np.cumsum([0, *padded.max(1)])).astype(np.int32)
    rows = np.repeat(np.arange(n), degrees)
    k = np.arange(len(rows)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    at = slices[rows // 32] + 32 * k + rows % 32
    columns, values = np.full(slices[-1], -1, np.int32), np.zeros(slices[-1], np.float32)
    columns[at] = np.clip(rows + rng.normal(0, 2000, len(rows)).astype(int), 0, n - 1)
    values[at] = rng.standard_normal(len(rows))
    x = rng.standard_normal(n).astype(np.float32)

    def expected():
        parts = values[at].astype(float) * x[columns[at]]
        size = np.bincount(rows, abs(parts), n)
        return [(slice(None), np.bincount(rows, parts, n), (degrees + 1) * EPS32 * size)]

    args = (slices, columns, values, x, np.full(n, 99, np.float32))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=8.0 * slices[-1] + 8.0 * n, flops=2.0 * len(rows))


def fractions_problem(rng, n):
    largest = 1000
    numbers = rng.uniform(0.01, 50, n)
    numbers[::5] = np.round(numbers[::5] * 24) / 24 + 0.5

    def expected():
        at = sampled(rng, n, 2000)
        values = []
        for x in numbers[at].tolist():
            p0, q0, p1, q1, rest = 0, 1, 1, 0, x
            while q0 + math.floor(rest) * q1 <= largest:
                whole = math.floor(rest)
                p0, q0, p1, q1 = p1, q1, p0 + whole * p1, q0 + whole * q1
                if rest - whole < 1e-9:
                    break
                rest = 1 / (rest - whole)
            k = (largest - q0) // q1
            p, q = p0 + k * p1, q0 + k * q1
            values.append((p, q) if abs(p / q - x) < abs(p1 / q1 - x) else (p1, q1))
        p, q = np.array(values).T
        return [(at, p, 0), (at, q, 0)]

    args = (numbers, largest, np.full(n, -1, np.int64), np.full(n, -1, np.int64))
    return Problem(args, (n,), (2, 3), expected, threads=n, bytes=24.0 * n, flops=5 * 40.0 * n)


BITS = each(
    """nth_set_bits(const unsigned long long *__restrict__ words, const int *__restrict__ before, const int *__restrict__ wanted,
                  long long *__restrict__ places, int size, int n)""",
    """
    INDEX low = 0, high = size, want = wanted[i];
    while (high - low > 1) {
      INDEX middle = (low + high) / 2;
      if (before[middle] <= want)
        low = middle;
      else
        high = middle;
    }
    unsigned long long word = words[low];
    for (INDEX k = want - before[low]; k > 0; k--)
      word &= word - 1;
    places[i] = word != 0 ? 64 * (long long)low + LOWEST(word) : -1;
""",
)
BITS = {k: t.replace("LOWEST(word)", "__builtin_ctzll(word)" if k == "openmp" else "__popcll(~word & (word - 1))") for k, t in BITS.items()}

SERIES = each(
    "float_series(const int *__restrict__ starts, const unsigned long long *__restrict__ words, double *__restrict__ series, int length, int n)",
    """
    long long place = 64 * (long long)starts[i];
    union {
      unsigned long long bits;
      double number;
    } value;
    value.bits = next_bits(words, &place, 64);
    series[i] = value.number;
    int leading = 0, size = 64;
    for (INDEX t = 1; t < length; t++) {
      if (next_bits(words, &place, 1)) {
        if (next_bits(words, &place, 1)) {
          int head = next_bits(words, &place, 11);
          leading = head >> 6;
          size = (head & 63) + 1;
        }
        value.bits ^= next_bits(words, &place, size) << (64 - leading - size);
      }
      series[t * n + i] = value.number;
    }
""",
    before="""
DEVICE unsigned long long next_bits(const unsigned long long *words, long long *place, int count) {
  long long k = *place / 64;
  int used = *place % 64;
  unsigned long long bits = words[k] << used;
  if (used + count > 64) bits |= words[k + 1] >> (64 - used);
  *place += count;
  return bits >> (64 - count);
}
""",
)

IDS = each(
    """common_ids(const int *__restrict__ starts_a, const unsigned short *__restrict__ ids_a, const int *__restrict__ starts_b,
                const unsigned short *__restrict__ ids_b, int *__restrict__ counts, int *__restrict__ least, int n)""",
    """
    INDEX a = starts_a[i], b = starts_b[i], last_a = starts_a[i + 1], last_b = starts_b[i + 1], count = 0;
    int first = -1;
    while (a < last_a && b < last_b) {
      int x = ids_a[a], y = ids_b[b];
      if (x == y) {
        if (count == 0) first = x;
        count++;
      }
      a += x <= y;
      b += y <= x;
    }
    counts[i] = count;
    least[i] = first;
""",
)

SLICES = each(
    """sliced_rows(const int *__restrict__ slices, const int *__restrict__ columns, const float *__restrict__ values,
                 const float *__restrict__ x, float *__restrict__ y, int n)""",
    """
    INDEX end = slices[i / 32 + 1];
    float total = 0;
    for (INDEX p = slices[i / 32] + i % 32; p < end; p += 32) {
      INDEX col = columns[p];
      if (col < 0) break;
      total += values[p] * x[col];
    }
    y[i] = total;
""",
)

FRACTIONS = each(
    """best_fractions(const double *__restrict__ numbers, int largest, long long *__restrict__ above, long long *__restrict__ below,
                    int n)""",
    """
    double x = numbers[i], rest = x;
    long long p0 = 0, q0 = 1, p1 = 1, q1 = 0;
    while (1) {
      double whole = floor(rest);
      long long w = whole, q2 = q0 + w * q1, p2 = p0 + w * p1;
      if (q2 > largest) break;
      p0 = p1;
      q0 = q1;
      p1 = p2;
      q1 = q2;
      if (rest - whole < 1e-9) break;
      rest = 1 / (rest - whole);
    }
    long long k = (largest - q0) / q1, p = p0 + k * p1, q = q0 + k * q1;
    int nearer = fabs((double)p / q - x) < fabs((double)p1 / q1 - x);
    above[i] = nearer ? p : p1;
    below[i] = nearer ? q : q1;
""",
)

KERNELS = [
    Kernel(
        "set bits by number", nth_set_bits, "uint64[::1], int32[::1], int32[::1], int64[::1]", 256, bits_problem,
        gpu=5_000_011, host=100_003, test=1003, kind="irregular", **BITS,
    ),
    Kernel(
        "series of floats in bits", float_series, "int32[::1], uint64[::1], float64[:,::1]", 64, series_problem, gpu=100_003,
        host=3001, test=203, kind="irregular", **SERIES,
    ),
    Kernel(
        "identifiers in common", common_ids, "int32[::1], uint16[::1], int32[::1], uint16[::1], int32[::1], int32[::1]", 128,
        ids_problem, gpu=500_009, host=10_007, test=303, kind="irregular", **IDS,
    ),
    Kernel(
        "slices of sparse rows", sliced_rows, "int32[::1], int32[::1], float32[::1], float32[::1], float32[::1]", 128,
        slices_problem, gpu=2_000_003, host=50_021, test=1003, kind="irregular", **SLICES,
    ),
    Kernel(
        "best fractions", best_fractions, "float64[::1], pyint, int64[::1], int64[::1]", 128, fractions_problem, gpu=3_000_017,
        host=30_011, test=503, kind="irregular", **FRACTIONS,
    ),
]  # fmt: skip
