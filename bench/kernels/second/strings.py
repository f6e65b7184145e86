"""Bytes and text: a histogram, case folding, a substring, run lengths, UTF-8 (RFC 3629), base64
(RFC 4648).

Results are equal, so the bounds are 0.
"""

import base64

import numpy as np
from kernels.declare import Kernel, Problem
from kernels.texts import each, indexed
from pyptx import cuda, int32


def byte_histogram(data, counts):
    """Counters of a block in shared memory."""
    mine = cuda.shared.array(256, int32)
    for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        mine[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), data.size, cuda.gridsize(1)):
        cuda.atomic.add(mine, data[i], 1)
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        cuda.atomic.add(counts, k, mine[k])


def fold_case(text, folded):
    """ASCII capitals as small letters."""
    i = cuda.grid(1)
    if i < text.size:
        c = text[i]
        if 65 <= c <= 90:
            c += 32
        folded[i] = c


def count_substring(text, pattern, count):
    """How often the pattern begins at some character."""
    i = cuda.grid(1)
    if i <= text.size - pattern.size:
        for k in range(pattern.size):
            if text[i + k] != pattern[k]:
                break
        else:
            cuda.atomic.add(count, 0, 1)


def run_lengths(text, lengths):
    """Of each character that begins a run of equal ones the run's length, else 0."""
    i = cuda.grid(1)
    if i >= text.size:
        return
    length = 0
    if i == 0 or text[i - 1] != text[i]:
        end = i + 1
        while end < text.size and text[end] == text[i]:
            end += 1
        length = end - i
    lengths[i] = length


def utf8_valid(text, offsets, valid):
    """Whether each chunk is well-formed: no overlong forms, no surrogates, nothing above U+10FFFF.
    """
    chunk = cuda.grid(1)
    if chunk >= valid.size:
        return
    i = offsets[chunk]
    end = offsets[chunk + 1]
    good = True
    while good and i < end:
        c = int(text[i])
        i += 1
        low, high = 0x80, 0xBF
        if c < 0x80:
            more = 0
        elif 0xC2 <= c <= 0xDF:
            more = 1
        elif 0xE0 <= c <= 0xEF:
            more = 2
            if c == 0xE0:
                low = 0xA0
            elif c == 0xED:
                high = 0x9F
        elif 0xF0 <= c <= 0xF4:
            more = 3
            if c == 0xF0:
                low = 0x90
            elif c == 0xF4:
                high = 0x8F
        else:
            more = 0
            good = False
        while good and more > 0:
            good = i < end and low <= text[i] <= high
            low, high = 0x80, 0xBF
            i += 1
            more -= 1
    valid[chunk] = good


def base64_encode(data, alphabet, text):
    """Three bytes, of which the last two may be missing, as four characters."""
    group = cuda.grid(1)
    i = 3 * group
    if i < data.size:
        bits = int(data[i]) << 16
        if i + 1 < data.size:
            bits |= int(data[i + 1]) << 8
        if i + 2 < data.size:
            bits |= int(data[i + 2])
        text[4 * group] = alphabet[bits >> 18]
        text[4 * group + 1] = alphabet[(bits >> 12) & 63]
        text[4 * group + 2] = alphabet[(bits >> 6) & 63] if i + 1 < data.size else ord("=")
        text[4 * group + 3] = alphabet[bits & 63] if i + 2 < data.size else ord("=")


def histogram_problem(rng, n):
    """Most bytes are small, as letters of a text are."""
    data = np.minimum(rng.exponential(30, n), 255).astype(np.uint8)

    def expected():
        return [(np.s_[:], np.bincount(data, minlength=256), 0)]

    return Problem(
        (data, np.zeros(256, np.int32)), (n,), (1,), expected, grid=min(1056, -(-n // 256)), bytes=n, flops=n
    )


def fold_problem(rng, n):
    """n printable characters."""
    text = rng.integers(32, 127, n, np.uint8)

    def expected():
        return [(np.s_[:], text + 32 * ((text >= 65) & (text <= 90)), 0)]

    return Problem((text, np.zeros_like(text)), (n,), (1,), expected, threads=n, bytes=2 * n, flops=2 * n)


def substring_problem(rng, n):
    """A word of five letters out of four."""
    text, pattern = rng.integers(97, 101, n, np.uint8), np.frombuffer(b"abacb", np.uint8).copy()

    def expected():
        m = len(pattern)
        found = np.ones(n - m + 1, bool)
        for k in range(m):
            found &= text[k : n - m + 1 + k] == pattern[k]
        return [(np.s_[:], np.array([found.sum()]), 0)]

    return Problem(
        (text, pattern, np.zeros(1, np.int32)), (n, len(pattern)), (2,), expected, threads=n, bytes=n, flops=3 * n
    )


def runs_problem(rng, n):
    """Runs of 1 to 40 characters."""
    lengths = rng.integers(1, 41, n // 10 + 1)
    text = np.repeat(rng.integers(97, 123, len(lengths)), lengths)[:n].astype(np.uint8)

    def expected():
        starts = np.flatnonzero(np.r_[True, text[1:] != text[:-1]])
        values = np.zeros(n, int)
        values[starts] = np.diff(np.r_[starts, n])
        return [(np.s_[:], values, 0)]

    return Problem((text, np.zeros(n, np.int32)), (n,), (1,), expected, threads=n, bytes=5 * n, flops=3 * n)


def utf8_problem(rng, n):
    """n chunks of 61 characters, a third of the chunks with a byte that is changed."""
    some = rng.choice(np.array([0x41, 0xE9, 0x20AC, 0x1F600, 0x7A, 0x3B1, 0xD7FF, 0x10FFFF]), (min(n, 1000), 61))
    words = ["".join(map(chr, line)).encode() for line in some]
    chunks = [words[k] for k in rng.integers(0, len(words), n)]
    offsets = np.r_[0, np.cumsum([len(c) for c in chunks])].astype(np.int64)
    text = np.frombuffer(b"".join(chunks), np.uint8).copy()
    broken = np.flatnonzero(rng.random(n) < 1 / 3)
    text[offsets[broken] + rng.integers(0, 61, len(broken))] = rng.integers(0, 256, len(broken))

    def expected():
        whole, values = text.tobytes(), np.ones(n, np.uint8)
        for k in range(n):
            try:
                whole[offsets[k] : offsets[k + 1]].decode()
            except UnicodeDecodeError:
                values[k] = 0
        return [(np.s_[:], values, 0)]

    return Problem(
        (text, offsets, np.zeros(n, np.uint8)), (len(text), n + 1, n), (2,), expected, threads=n, bytes=len(text) + 9 * n,
        flops=8 * len(text),
    )  # fmt: skip


def base64_problem(rng, n):
    """n random bytes."""
    data = rng.integers(0, 256, n, np.uint8)
    alphabet = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8).copy()
    groups = -(-n // 3)

    def expected():
        return [(np.s_[:], np.frombuffer(base64.b64encode(data.tobytes()), np.uint8), 0)]

    return Problem(
        (data, alphabet, np.zeros(4 * groups, np.uint8)), (n,), (2,), expected, threads=groups, bytes=n + 4 * groups,
        flops=8 * groups,
    )  # fmt: skip


HISTOGRAM = indexed(
    """
__global__ void byte_histogram(const unsigned char *data, int *counts, int n) {
  __shared__ int mine[256];
  for (INDEX k = threadIdx.x; k < 256; k += blockDim.x)
    mine[k] = 0;
  __syncthreads();
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += (INDEX)gridDim.x * blockDim.x)
    atomicAdd(&mine[data[i]], 1);
  __syncthreads();
  for (INDEX k = threadIdx.x; k < 256; k += blockDim.x)
    atomicAdd(&counts[k], mine[k]);
}
""",
    """
void byte_histogram(const unsigned char *data, int *counts, int n) {
#pragma omp parallel for reduction(+ : counts[:256])
  for (int i = 0; i < n; i++)
    counts[data[i]]++;
}
""",
)

FOLD = each(
    "fold_case(const unsigned char *text, unsigned char *folded, int n)",
    """
    unsigned char c = text[i];
    if (65 <= c && c <= 90)
      c += 32;
    folded[i] = c;
""",
)

SUBSTRING = indexed(
    """
__global__ void count_substring(const unsigned char *text, const unsigned char *pattern, int *count, int n, int m) {
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (i <= n - m) {
    INDEX k = 0;
    while (k < m && text[i + k] == pattern[k])
      k++;
    if (k == m)
      atomicAdd(count, 1);
  }
}
""",
    """
void count_substring(const unsigned char *text, const unsigned char *pattern, int *count, int n, int m) {
  int found = 0;
#pragma omp parallel for reduction(+ : found)
  for (int i = 0; i <= n - m; i++) {
    int k = 0;
    while (k < m && text[i + k] == pattern[k])
      k++;
    found += k == m;
  }
  *count += found;
}
""",
)

RUNS = each(
    "run_lengths(const unsigned char *text, int *lengths, int n)",
    """
    INDEX length = 0;
    if (i == 0 || text[i - 1] != text[i]) {
      INDEX end = i + 1;
      while (end < n && text[end] == text[i])
        end++;
      length = end - i;
    }
    lengths[i] = length;
""",
)

UTF8 = each(
    "utf8_valid(const unsigned char *text, const long long *offsets, unsigned char *valid, int size, int ends, int chunks)",
    """
    INDEX i = offsets[chunk], end = offsets[chunk + 1];
    int good = 1;
    while (good && i < end) {
      INDEX c = text[i++], low = 0x80, high = 0xBF, more = 0;
      if (c < 0x80)
        more = 0;
      else if (0xC2 <= c && c <= 0xDF)
        more = 1;
      else if (0xE0 <= c && c <= 0xEF) {
        more = 2;
        if (c == 0xE0)
          low = 0xA0;
        else if (c == 0xED)
          high = 0x9F;
      } else if (0xF0 <= c && c <= 0xF4) {
        more = 3;
        if (c == 0xF0)
          low = 0x90;
        else if (c == 0xF4)
          high = 0x8F;
      } else
        good = 0;
      while (good && more > 0) {
        good = i < end && low <= text[i] && text[i] <= high;
        low = 0x80;
        high = 0xBF;
        i++;
        more--;
      }
    }
    valid[chunk] = good;
""",
    extent="chunks", index="chunk",
)  # fmt: skip

BASE64 = each(
    "base64_encode(const unsigned char *data, const unsigned char *alphabet, unsigned char *text, int n)",
    """
    INDEX i = 3 * group;
    INDEX bits = (INDEX)data[i] << 16;
    if (i + 1 < n)
      bits |= (INDEX)data[i + 1] << 8;
    if (i + 2 < n)
      bits |= data[i + 2];
    text[4 * group] = alphabet[bits >> 18];
    text[4 * group + 1] = alphabet[(bits >> 12) & 63];
    text[4 * group + 2] = i + 1 < n ? alphabet[(bits >> 6) & 63] : '=';
    text[4 * group + 3] = i + 2 < n ? alphabet[bits & 63] : '=';
""",
    extent="((INDEX)n + 2) / 3", index="group",
)  # fmt: skip

KERNELS = [
    Kernel(
        "histogram of bytes", byte_histogram, "uint8[::1], int32[::1]", 256, histogram_problem,
        gpu=50_000_017, host=9_795_101, test=10_007, kind="shared", **HISTOGRAM,
    ),
    Kernel(
        "ASCII case folding", fold_case, "uint8[::1], uint8[::1]", 256, fold_problem,
        gpu=100_000_007, host=240_000_037, test=10_007, **FOLD,
    ),
    Kernel(
        "count of a substring", count_substring, "uint8[::1], uint8[::1], int32[::1]", 256, substring_problem,
        gpu=50_000_017, host=21_025_903, test=10_007, **SUBSTRING,
    ),
    Kernel(
        "run lengths", run_lengths, "uint8[::1], int32[::1]", 256, runs_problem,
        gpu=20_000_003, host=5_000_011, test=10_007, kind="irregular", **RUNS,
    ),
    Kernel(
        "UTF-8, a chunk a thread", utf8_valid, "uint8[::1], int64[::1], uint8[::1]", 128, utf8_problem,
        gpu=200_003, host=50_021, test=301, kind="irregular", **UTF8,
    ),
    Kernel(
        "base64", base64_encode, "uint8[::1], uint8[::1], uint8[::1]", 256, base64_problem,
        gpu=50_000_017, host=27_421_313, test=10_007, **BASE64,
    ),
]  # fmt: skip
