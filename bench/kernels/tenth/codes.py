"""Compression: Huffman's codes, numbers packed by the frame, runs, the way back from Burrows and Wheeler."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, uint32, uint64


def huffman_blocks(words, starts, table, longest, out):
    """Canonical Huffman codes: a block a thread, a table from the next bits to a byte and its code's length."""
    i = cuda.grid(1)
    if i >= out.shape[0]:
        return
    word = int(starts[i])
    buffer = uint64(0)
    held = 0
    for k in range(out.shape[1]):
        if held < longest:
            buffer |= uint64(words[word]) << (32 - held)
            word += 1
            held += 32
        entry = int(table[int(buffer >> (64 - longest))])
        length = entry >> 8
        buffer <<= length
        held -= length
        out[i, k] = entry & 255


def packed_frames(values, bases, widths, packed):
    """Frames of 32 numbers, a warp each: the least of them, and what the others have above it in as few bits as all
    need; a word a lane.
    """
    i = cuda.grid(1)
    frame = i // 32
    lane = i % 32
    value = values[min(i, values.size - 1)]
    least = value
    most = value
    for step in (16, 8, 4, 2, 1):
        least = min(least, cuda.shfl_xor_sync(0xFFFFFFFF, least, step))
        most = max(most, cuda.shfl_xor_sync(0xFFFFFFFF, most, step))
    width = 0
    while int(most) - int(least) >> width > 0:
        width += 1
    above = uint32(int(value) - int(least))
    word = uint32(0)
    for bit in range(width):
        plane = cuda.ballot_sync(0xFFFFFFFF, above >> bit & 1 == 1)
        if lane == bit:
            word = plane
    if frame < bases.size:
        packed[frame, lane] = word
        if lane == 0:
            bases[frame] = least
            widths[frame] = width


def expanded_runs(ends, values, out):
    """Runs made into a column again; each place finds its run by bisection."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    low = 0
    high = ends.size - 1
    while low < high:
        middle = low + high >> 1
        if ends[middle] > i:
            high = middle
        else:
            low = middle + 1
    out[i] = values[low]


def original_blocks(last, first, counts, text):
    """Burrows and Wheeler backwards: blocks of bytes, a thread each, which follow the order of equal bytes."""
    i = cuda.grid(1)
    if i >= last.shape[0]:
        return
    size = last.shape[1]
    before = cuda.local.array(17, np.int32)
    for k in range(17):
        before[k] = 0
    for k in range(size):
        before[int(last[i, k]) + 1] += 1
    for k in range(1, 17):
        before[k] += before[k - 1]
    for k in range(size):
        c = int(last[i, k])
        counts[i, k] = before[c]
        before[c] += 1
    place = int(first[i])
    for k in range(size - 1, -1, -1):
        text[i, k] = last[i, place]
        place = int(counts[i, place])


def huffman_problem(rng, n):
    size, longest = 251, 10
    # Lengths of a complete code: 2 of 2 bits, 2 of 3, and so on, and the rest of 10.
    lengths = np.repeat([2, 3, 4, 5, 6, 7, 8, 10], [2, 2, 2, 1, 1, 1, 2, 0])
    room = 1 - (0.5**lengths).sum()
    lengths = np.append(lengths, [longest] * round(room * 2**longest))
    letters = rng.permutation(256)[: len(lengths)]
    codes = np.cumsum(2 ** (longest - lengths)) - 2 ** (longest - lengths)
    table = np.repeat(lengths << 8 | letters, 2 ** (longest - lengths)).astype(np.uint16)
    which = np.searchsorted(np.cumsum(0.5**lengths), rng.random((n, size))).clip(0, len(lengths) - 1)
    width = lengths[which]
    ends = np.cumsum(width, 1)
    sizes = -(-ends[:, -1] // 32) + 1
    starts = np.cumsum(sizes) - sizes
    words = np.zeros(int(sizes.sum()) + 1, np.uint64)
    at = ends - width + 32 * starts[:, None]
    shifted = (codes[which] >> (longest - width)).astype(np.uint64) << (64 - at % 32 - width).astype(np.uint64)
    np.add.at(words, (at // 32).ravel(), (shifted >> np.uint64(32)).ravel())
    np.add.at(words, (at // 32 + 1).ravel(), (shifted & np.uint64(0xFFFFFFFF)).ravel())

    def expected():
        return [(slice(None), letters[which], 0)]

    args = (words.astype(np.uint32), starts.astype(np.int32), table, longest, np.zeros((n, size), np.uint8))
    return Problem(args, (n, size), (4,), expected, threads=n, bytes=4.0 * len(words) + 1.0 * n * size)


def packing_problem(rng, n):
    above = rng.integers(0, 1 << rng.integers(0, 22, (n, 1)), (n, 32))
    values = (rng.integers(-(1 << 20), 1 << 20, n)[:, None] + above).astype(np.int32)

    def expected():
        at = sampled(rng, n, 3000)
        v = values[at].astype(np.int64)
        least = v.min(1)
        width = np.frexp((v.max(1) - least).astype(float))[1]
        bits = (v - least[:, None])[:, None, :] >> np.arange(32)[:, None] & 1
        return [(at, least, 0), (at, width, 0), (at, (bits << np.arange(32)).sum(2), 0)]

    args = (values.ravel(), np.full(n, -1, np.int32), np.full(n, 99, np.uint8), np.full((n, 32), 12345, np.uint32))
    return Problem(args, (32 * n, n), (1, 2, 3), expected, threads=32 * n, bytes=261.0 * n, flops=40.0 * 32 * n)


def runs_problem(rng, n):
    sizes = rng.geometric(0.05, n // 16 + 1)
    ends = np.cumsum(sizes)
    ends = np.append(ends[ends < n], n).astype(np.int32)
    values = rng.integers(-99, 99, len(ends)).astype(np.int16)

    def expected():
        return [(slice(None), np.repeat(values, np.diff(ends, prepend=0)), 0)]

    args = (ends, values, np.full(n, 999, np.int16))
    return Problem(args, (len(ends), n), (2,), expected, threads=n, bytes=6.0 * len(ends) + 2.0 * n, flops=60.0 * n)


def burrows_problem(rng, n):
    size = 127
    kinds = min(n, 300)
    texts = np.minimum(rng.geometric(0.3, (kinds, size)) - 1, 15).astype(np.uint8)
    last, first = np.zeros_like(texts), np.zeros(kinds, np.int64)
    for k, text in enumerate(texts):
        turned = np.stack([np.roll(text, -j) for j in range(size)])
        order = np.lexsort(turned.T[::-1])
        last[k], first[k] = turned[order, -1], np.flatnonzero(order == 0)[0]
    which = rng.integers(0, kinds, n)

    def expected():
        # The byte before the first is that of its row; so the walk starts at the row of the text itself.
        return [(slice(None), texts[which], 0)]

    args = (last[which], first[which].astype(np.int32), np.zeros((n, size), np.uint8), np.full((n, size), 99, np.uint8))
    return Problem(args, (n, size), (3,), expected, threads=n, bytes=4.0 * n * size)


HUFFMAN = each(
    """huffman_blocks(const unsigned *__restrict__ words, const int *__restrict__ starts,
                    const unsigned short *__restrict__ table, int longest, unsigned char *__restrict__ out, int n, int size)""",
    """
    INDEX word = starts[i];
    unsigned long long buffer = 0;
    int held = 0;
    for (INDEX k = 0; k < size; k++) {
      if (held < longest) {
        buffer |= (unsigned long long)words[word++] << (32 - held);
        held += 32;
      }
      int entry = table[buffer >> (64 - longest)], length = entry >> 8;
      buffer <<= length;
      held -= length;
      out[i * size + k] = entry & 255;
    }
""",
)

PACKING_HEAD = """packed_frames(const int *__restrict__ values, int *__restrict__ bases,
                 unsigned char *__restrict__ widths, unsigned *__restrict__ packed, int size, int n)"""
PACKING = indexed(
    f"""
__global__ void {PACKING_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, frame = i / 32;
  int lane = threadIdx.x % 32, value = values[i < size ? i : size - 1], least = value, most = value, width = 0;
  for (int step = 16; step > 0; step /= 2) {{
    least = MIN(least, __shfl_xor_sync(0xffffffff, least, step));
    most = MAX(most, __shfl_xor_sync(0xffffffff, most, step));
  }}
  unsigned span = (unsigned)most - (unsigned)least, above = (unsigned)value - (unsigned)least, word = 0;
  while (width < 32 && span >> width > 0) width++;
  for (int bit = 0; bit < width; bit++) {{
    unsigned plane = __ballot_sync(0xffffffff, above >> bit & 1);
    if (lane == bit) word = plane;
  }}
  if (frame < n) {{
    packed[frame * 32 + lane] = word;
    if (lane == 0) {{
      bases[frame] = least;
      widths[frame] = width;
    }}
  }}
}}
""",
    f"""
void {PACKING_HEAD} {{
#pragma omp parallel for
  for (INDEX frame = 0; frame < n; frame++) {{
    const int *v = values + 32 * frame;
    int least = v[0], most = v[0], width = 0;
    for (int k = 1; k < 32; k++) {{
      least = MIN(least, v[k]);
      most = MAX(most, v[k]);
    }}
    while (width < 32 && ((unsigned)most - (unsigned)least) >> width > 0) width++;
    for (int bit = 0; bit < 32; bit++) {{
      unsigned word = 0;
      for (int k = 0; k < 32; k++)
        word |= (((unsigned)v[k] - (unsigned)least) >> bit & 1) << k;
      packed[frame * 32 + bit] = word;
    }}
    bases[frame] = least;
    widths[frame] = width;
  }}
}}
""",
)

RUNS = each(
    "expanded_runs(const int *__restrict__ ends, const short *__restrict__ values, short *__restrict__ out, int runs, int n)",
    """
    INDEX low = 0, high = runs - 1;
    while (low < high) {
      INDEX middle = (low + high) >> 1;
      if (ends[middle] > i)
        high = middle;
      else
        low = middle + 1;
    }
    out[i] = values[low];
""",
)

BURROWS = each(
    """original_blocks(const unsigned char *__restrict__ last, const int *__restrict__ first,
                     unsigned char *__restrict__ counts, unsigned char *__restrict__ text, int n, int size)""",
    """
    int before[17] = {0};
    for (INDEX k = 0; k < size; k++)
      before[last[i * size + k] + 1]++;
    for (int k = 1; k < 17; k++)
      before[k] += before[k - 1];
    for (INDEX k = 0; k < size; k++)
      counts[i * size + k] = before[last[i * size + k]]++;
    INDEX place = first[i];
    for (INDEX k = size - 1; k >= 0; k--) {
      text[i * size + k] = last[i * size + place];
      place = counts[i * size + place];
    }
""",
)

KERNELS = [
    Kernel(
        "blocks of Huffman codes", huffman_blocks, "uint32[::1], int32[::1], uint16[::1], pyint, uint8[:,::1]", 64,
        huffman_problem, gpu=50_021, host=2003, test=103, kind="irregular", **HUFFMAN,
    ),
    Kernel(
        "frames of few bits", packed_frames, "int32[::1], int32[::1], uint8[::1], uint32[:,::1]", 128, packing_problem,
        gpu=500_009, host=10_007, test=27, **PACKING,
    ),
    Kernel(
        "runs made a column", expanded_runs, "int32[::1], int16[::1], int16[::1]", 256, runs_problem, gpu=20_000_003,
        host=200_003, test=2001, kind="irregular", **RUNS,
    ),
    Kernel(
        "Burrows and Wheeler backwards", original_blocks, "uint8[:,::1], int32[::1], uint8[:,::1], uint8[:,::1]", 64,
        burrows_problem, gpu=100_003, host=3001, test=103, kind="irregular", **BURROWS,
    ),
]  # fmt: skip
