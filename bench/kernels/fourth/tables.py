"""Tables and votes: probes of a hash table, places along Hilbert's curve, numbers of a variable number
of bytes, colours from a Bayer mosaic, Hough's votes for lines, each component's lightest edge.

After Knuth (linear probing), Hilbert, LEB128 with zigzag as in Protocol Buffers, Bayer, Hough and
Boruvka. Results are equal, so the bounds are 0.
"""

import numpy as np
from kernels.declare import THIN_PLANE, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, uint64

EMPTY = -1


def mixed_key(key):
    h = uint64(key)
    h ^= h >> 30
    h *= uint64(0xBF58476D1CE4E5B9)
    h ^= h >> 27
    h *= uint64(0x94D049BB133111EB)
    return h ^ (h >> 31)


def hash_probe(keys, values, wanted, found):
    """Linear probing in a table whose size is a power of two; -1 for what is not there."""
    i = cuda.grid(1)
    if i >= wanted.size:
        return
    key = wanted[i]
    mask = keys.size - 1
    slot = int(mixed_key(key) & uint64(mask))
    value = -1
    while keys[slot] != EMPTY:
        if keys[slot] == key:
            value = values[slot]
            break
        slot = (slot + 1) & mask
    found[i] = value


def hilbert_index(xs, ys, order, places):
    """How far along the curve through 2^order x 2^order cells a point is."""
    i = cuda.grid(1)
    if i >= places.size:
        return
    x = int(xs[i])
    y = int(ys[i])
    d = 0
    s = 1 << (order - 1)
    while s > 0:
        rx = 1 if x & s else 0
        ry = 1 if y & s else 0
        d += s * s * ((3 * rx) ^ ry)
        if ry == 0:
            if rx == 1:
                x = s - 1 - (x & (s - 1))
                y = s - 1 - (y & (s - 1))
            x, y = y, x
        s >>= 1
    places[i] = d


def varint_decode(data, starts, places, out):
    """A thread decodes one block of differences in zigzag form, seven bits to a byte, and adds them up."""
    i = cuda.grid(1)
    if i >= places.size:
        return
    k = starts[i]
    end = starts[i + 1]
    at = places[i]
    value = 0
    while k < end:
        bits = 0
        shift = 0
        while True:
            byte = int(data[k])
            k += 1
            bits |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        value += (bits >> 1) ^ -(bits & 1)
        out[at] = value
        at += 1


def mirrored(k, n):
    return -k if k < 0 else 2 * n - 2 - k if k >= n else k


def demosaic(raw, out):
    """Bilinear, of a pattern RGGB; rows and columns are mirrored at the border."""
    col, row = cuda.grid(2)
    rows, cols = raw.shape
    if row >= rows or col >= cols:
        return
    up, down = mirrored(row - 1, rows), mirrored(row + 1, rows)
    left, right = mirrored(col - 1, cols), mirrored(col + 1, cols)
    here = int(raw[row, col])
    beside = int(raw[row, left]) + raw[row, right]
    above = int(raw[up, col]) + raw[down, col]
    corners = int(raw[up, left]) + raw[up, right] + raw[down, left] + raw[down, right]
    if row % 2 == 0 and col % 2 == 0:
        red, green, blue = here, (beside + above) // 4, corners // 4
    elif row % 2 == 1 and col % 2 == 1:
        red, green, blue = corners // 4, (beside + above) // 4, here
    elif row % 2 == 0:
        red, green, blue = beside // 2, here, above // 2
    else:
        red, green, blue = above // 2, here, beside // 2
    out[row, col, 0] = red
    out[row, col, 1] = green
    out[row, col, 2] = blue


def hough_votes(edges, cosines, sines, votes):
    """Each edge pixel votes for a line at each angle; the tables are in units of 2^-14."""
    col, row = cuda.grid(2)
    rows, cols = edges.shape
    if row < rows and col < cols and edges[row, col] != 0:
        middle = votes.shape[1] // 2
        for k in range(votes.shape[0]):
            distance = (col * cosines[k] + row * sines[k] + 8192) >> 14
            cuda.atomic.add(votes, (k, middle + distance), 1)


def lightest_edges(sources, targets, weights, components, lightest):
    """For each component the edge of least weight that leaves it, as weight * 2^32 + number."""
    i = cuda.grid(1)
    if i >= weights.size:
        return
    a = components[sources[i]]
    b = components[targets[i]]
    if a != b:
        mine = (np.int64(weights[i]) << 32) | i
        if mine < lightest[a]:
            cuda.atomic.min(lightest, a, mine)
        if mine < lightest[b]:
            cuda.atomic.min(lightest, b, mine)


def probe_problem(rng, n):
    """n probes, half of them of keys that are there, in a table that is 60 % full."""
    size = 1 << max(6, (n // 2).bit_length())
    known = np.unique(rng.integers(0, 2**62, size * 6 // 10))
    keys, values = np.full(size, EMPTY, np.int64), np.zeros(size, np.int32)

    def slots(some):
        h = some.astype(np.uint64)
        h = (h ^ h >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        h = (h ^ h >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return ((h ^ h >> np.uint64(31)) & np.uint64(size - 1)).astype(np.int64)

    left, at = np.arange(len(known)), slots(known)
    while len(left):  # who comes first takes a free slot, the others go on
        free = keys[at] == EMPTY
        taken, first = np.unique(at[free], return_index=True)
        winners = np.flatnonzero(free)[first]
        keys[taken], values[taken] = known[left[winners]], left[winners]
        others = np.ones(len(left), bool)
        others[winners] = False
        left, at = left[others], (at[others] + 1) & (size - 1)
    chosen = rng.integers(0, len(known), n)
    wanted = np.where(rng.random(n) < 0.5, known[chosen], rng.integers(0, 2**62, n))

    def expected():
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return [(np.s_[:], np.where(known[place] == wanted, place, -1), 0)]

    return Problem(
        (keys, values, wanted, np.zeros(n, np.int32)), (size, n), (3,), expected, threads=n, bytes=12 * n + 12 * size,
        flops=12 * n,
    )  # fmt: skip


def hilbert_problem(rng, n):
    """n points, order 20."""
    order = 20
    xs, ys = rng.integers(0, 1 << order, (2, n), np.int32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        x, y, d = xs[some].astype(np.int64), ys[some].astype(np.int64), 0
        for k in range(order - 1, -1, -1):
            rx, ry, low = x >> k & 1, y >> k & 1, (1 << k) - 1
            d = d * 4 + ((3 * rx) ^ ry)
            x, y = x & low, y & low
            x, y = np.where((rx == 1) & (ry == 0), low - x, x), np.where((rx == 1) & (ry == 0), low - y, y)
            x, y = np.where(ry == 0, y, x), np.where(ry == 0, x, y)
        return [(some, d, 0)]

    return Problem(
        (xs, ys, order, np.zeros(n, np.int64)), (n,), (3,), expected, threads=n, bytes=16 * n, flops=15 * order * n
    )


def varint_problem(rng, n):
    """n blocks of 1 to 30 numbers, whose differences take 1 to 7 bytes."""
    counts = rng.integers(1, 31, n)
    places = (np.cumsum(counts) - counts).astype(np.int32)
    total = int(counts.sum())
    steps = rng.integers(-(1 << 46), 1 << 46, total) >> rng.integers(0, 47, total)
    codes = (steps << 1) ^ (steps >> 63)
    sizes = np.ones(total, int)
    for k in range(1, 7):
        sizes += codes >= 1 << 7 * k
    ends = np.cumsum(sizes)
    data = np.zeros(ends[-1], np.uint8)
    for k in range(7):
        some = sizes > k
        data[(ends - sizes)[some] + k] = (codes[some] >> 7 * k & 127) | np.where(sizes[some] > k + 1, 128, 0)
    starts = np.r_[0, ends[places[1:] - 1], ends[-1]].astype(np.int32)

    def expected():
        sums = np.cumsum(steps)
        before = np.repeat(sums[places] - steps[places], counts)
        return [(np.s_[:], sums - before, 0)]

    return Problem(
        (data, starts, places, np.zeros(total, np.int64)), (len(data), n + 1, n, total), (3,), expected, threads=n,
        bytes=len(data) + 8 * total + 8 * n, flops=6 * len(data),
    )  # fmt: skip


def demosaic_problem(rng, n, shape=None):
    """n x (4 n / 3 + 1) pixels of 14 bits, or others of at least two rows and columns."""
    rows, cols = (max(2, k) for k in shape or (n, 4 * n // 3 + 1))
    raw = rng.integers(0, 1 << 14, (rows, cols), np.uint16)

    def expected():
        p = np.pad(raw.astype(int), 1, mode="reflect")
        beside = p[1:-1, :-2] + p[1:-1, 2:]
        above = p[:-2, 1:-1] + p[2:, 1:-1]
        corners = p[:-2, :-2] + p[:-2, 2:] + p[2:, :-2] + p[2:, 2:]
        odd_row, odd_col = np.arange(rows)[:, None] % 2 == 1, np.arange(cols) % 2 == 1
        green = np.where(odd_row == odd_col, (beside + above) // 4, raw)
        at_red = np.where(odd_row, np.where(odd_col, corners // 4, above // 2), np.where(odd_col, beside // 2, raw))
        at_blue = np.where(odd_row, np.where(odd_col, raw, beside // 2), np.where(odd_col, above // 2, corners // 4))
        return [(np.s_[:], np.stack([at_red, green, at_blue], axis=2), 0)]

    return Problem(
        (raw, np.zeros((rows, cols, 3), np.uint16)), (rows, cols), (1,), expected, threads=(cols, rows),
        bytes=8 * rows * cols, flops=12 * rows * cols,
    )  # fmt: skip


def hough_problem(rng, n):
    """n x (4 n / 3 + 1) pixels, one of 150 on an edge, 90 angles."""
    rows, cols, angles = n, 4 * n // 3 + 1, 90
    edges = (rng.random((rows, cols)) < 1 / 150).astype(np.uint8) * np.uint8(255)
    at = np.pi * np.arange(angles) / angles
    cosines, sines = (np.round(f(at) * 2**14).astype(np.int32) for f in (np.cos, np.sin))
    middle = rows + cols

    def expected():
        row, col = (v[:, None] for v in np.nonzero(edges))
        bins = np.arange(angles) * (2 * middle + 1) + middle + ((col * cosines + row * sines + 8192) >> 14)
        return [(np.s_[:], np.bincount(bins.ravel(), minlength=angles * (2 * middle + 1)).reshape(angles, -1), 0)]

    return Problem(
        (edges, cosines, sines, np.zeros((angles, 2 * middle + 1), np.int32)), (rows, cols, angles, 2 * middle + 1), (3,),
        expected, threads=(cols, rows), bytes=rows * cols, flops=5 * angles * rows * cols / 150,
    )  # fmt: skip


def lightest_problem(rng, n):
    """n edges between n // 5 + 1 places in n // 40 + 1 components."""
    places, count = n // 5 + 1, n // 40 + 1
    sources, targets = rng.integers(0, places, (2, n), np.int32)
    weights, components = rng.integers(0, 1000, n, np.int32), rng.integers(0, count, places, np.int32)
    none = np.iinfo(np.int64).max

    def expected():
        best, a, b = np.full(count, none), components[sources], components[targets]
        mine = weights.astype(np.int64) << 32 | np.arange(n)
        for ends in (a, b):
            np.minimum.at(best, ends[a != b], mine[a != b])
        return [(np.s_[:], best, 0)]

    return Problem(
        (sources, targets, weights, components, np.full(count, none)), (n, places, count), (4,), expected, threads=n,
        bytes=12 * n, flops=6 * n,
    )  # fmt: skip


PROBE = each(
    "hash_probe(const long long *keys, const int *values, const long long *wanted, int *found, int size, int n)",
    """
    long long key = wanted[i];
    unsigned long long h = key;
    h ^= h >> 30;
    h *= 0xbf58476d1ce4e5b9ull;
    h ^= h >> 27;
    h *= 0x94d049bb133111ebull;
    h ^= h >> 31;
    INDEX mask = size - 1, slot = h & mask;
    int value = -1;
    while (keys[slot] != -1) {
      if (keys[slot] == key) {
        value = values[slot];
        break;
      }
      slot = (slot + 1) & mask;
    }
    found[i] = value;
""",
)

HILBERT = each(
    "hilbert_index(const int *xs, const int *ys, int order, long long *places, int n)",
    """
    INDEX x = xs[i], y = ys[i];
    long long d = 0;
    for (INDEX s = (INDEX)1 << (order - 1); s > 0; s >>= 1) {
      int rx = (x & s) != 0, ry = (y & s) != 0;
      d += (long long)s * s * ((3 * rx) ^ ry);
      if (ry == 0) {
        if (rx == 1) {
          x = s - 1 - (x & (s - 1));
          y = s - 1 - (y & (s - 1));
        }
        INDEX other = x;
        x = y;
        y = other;
      }
    }
    places[i] = d;
""",
)

VARINT = each(
    """varint_decode(const unsigned char *data, const int *starts, const int *places, long long *out, int size, int ends,
                   int n, int total)""",
    """
    INDEX k = starts[i], end = starts[i + 1];
    long long *to = out + places[i], value = 0;
    while (k < end) {
      unsigned long long bits = 0;
      int shift = 0;
      unsigned char byte;
      do {
        byte = data[k++];
        bits |= (unsigned long long)(byte & 127) << shift;
        shift += 7;
      } while (byte >= 128);
      value += (long long)(bits >> 1) ^ -(long long)(bits & 1);
      *to++ = value;
    }
""",
)

DEMOSAIC = plane(
    "demosaic(const unsigned short *raw, unsigned short *out, int rows, int cols)",
    """
    const unsigned short *now = raw + row * cols, *up = raw + demosaic_mirrored(row - 1, rows) * cols;
    const unsigned short *down = raw + demosaic_mirrored(row + 1, rows) * cols;
    INDEX left = demosaic_mirrored(col - 1, cols), right = demosaic_mirrored(col + 1, cols);
    int here = now[col], beside = now[left] + now[right], above = up[col] + down[col];
    int corners = up[left] + up[right] + down[left] + down[right];
    int red, green, blue;
    if (row % 2 == 0 && col % 2 == 0) {
      red = here;
      green = (beside + above) / 4;
      blue = corners / 4;
    } else if (row % 2 == 1 && col % 2 == 1) {
      red = corners / 4;
      green = (beside + above) / 4;
      blue = here;
    } else if (row % 2 == 0) {
      red = beside / 2;
      green = here;
      blue = above / 2;
    } else {
      red = above / 2;
      green = here;
      blue = beside / 2;
    }
    unsigned short *pixel = out + 3 * (row * cols + col);
    pixel[0] = red;
    pixel[1] = green;
    pixel[2] = blue;
""",
    before="DEVICE INDEX demosaic_mirrored(INDEX k, INDEX n) { return k < 0 ? -k : k >= n ? 2 * n - 2 - k : k; }",
)

HOUGH_HEAD = """hough_votes(const unsigned char *edges, const int *cosines, const int *sines, int *votes, int rows, int cols,
                 int angles, int bins)"""
HOUGH = indexed(
    f"""
__global__ void {HOUGH_HEAD} {{
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (row < rows && col < cols && edges[row * cols + col] != 0) {{
    INDEX middle = bins / 2;
    for (INDEX k = 0; k < angles; k++) {{
      INDEX distance = (col * cosines[k] + row * sines[k] + 8192) >> 14;
      atomicAdd(votes + k * bins + middle + distance, 1);
    }}
  }}
}}
""",
    f"""
void {HOUGH_HEAD} {{
  int middle = bins / 2;
#pragma omp parallel for
  for (int row = 0; row < rows; row++)
    for (int col = 0; col < cols; col++)
      if (edges[row * cols + col] != 0)
        for (int k = 0; k < angles; k++) {{
          int distance = (col * cosines[k] + row * sines[k] + 8192) >> 14;
#pragma omp atomic
          votes[k * bins + middle + distance]++;
        }}
}}
""",
)

LIGHTEST_HEAD = """lightest_edges(const int *sources, const int *targets, const int *weights, const int *components,
                    long long *lightest, int n, int places, int count)"""
LIGHTEST_START = """
    int a = components[sources[i]], b = components[targets[i]];
    if (a != b) {
      long long mine = (long long)weights[i] << 32 | i;"""
LIGHTEST = indexed(
    f"""
__global__ void {LIGHTEST_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (i < n) {{{LIGHTEST_START}
      if (mine < lightest[a])
        atomicMin(lightest + a, mine);
      if (mine < lightest[b])
        atomicMin(lightest + b, mine);
    }}
  }}
}}
""",
    f"""
static inline void lightest_of(long long *at, long long mine) {{
  long long old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (mine < old && !__atomic_compare_exchange_n(at, &old, mine, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}}
void {LIGHTEST_HEAD} {{
#pragma omp parallel for
  for (int i = 0; i < n; i++) {{{LIGHTEST_START}
      lightest_of(lightest + a, mine);
      lightest_of(lightest + b, mine);
    }}
  }}
}}
""",
)

INTS, LONGS = "int32[::1]", "int64[::1]"

KERNELS = [
    Kernel(
        "probes of a hash table", hash_probe, f"{LONGS}, {INTS}, {LONGS}, {INTS}", 256, probe_problem,
        gpu=3_000_017, host=200_003, test=1013, kind="irregular", **PROBE,
    ),
    Kernel(
        "places on Hilbert's curve", hilbert_index, f"{INTS}, {INTS}, pyint, {LONGS}", 256, hilbert_problem,
        gpu=10_000_019, host=200_003, test=1013, **HILBERT,
    ),
    Kernel(
        "numbers of variable length", varint_decode, f"uint8[::1], {INTS}, {INTS}, {LONGS}", 128, varint_problem,
        gpu=500_009, host=50_021, test=301, kind="irregular", **VARINT,
    ),
    Kernel(
        "colours of a Bayer mosaic", demosaic, "uint16[:,::1], uint16[:,:,::1]", (32, 8), demosaic_problem,
        gpu=4001, host=1021, test=61, power=2, kind="stencil", thin=THIN_PLANE, **DEMOSAIC,
    ),
    Kernel(
        "Hough's votes", hough_votes, f"uint8[:,::1], {INTS}, {INTS}, int32[:,::1]", (32, 8), hough_problem,
        gpu=3001, host=501, test=61, power=2, kind="irregular", **HOUGH,
    ),
    Kernel(
        "lightest edges of components", lightest_edges, f"{INTS}, {INTS}, {INTS}, {INTS}, {LONGS}", 256, lightest_problem,
        gpu=5_000_011, host=300_007, test=1013, kind="irregular", **LIGHTEST,
    ),
]  # fmt: skip
