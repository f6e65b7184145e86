"""Packed data: LZ4 blocks, differences of few bits, words with a correcting code."""

import numpy as np
from kernels.declare import Kernel, Problem
from kernels.texts import each, indexed
from pyptx import cuda, uint32, uint64


def lz4_decode(packed, starts, places, out):
    """Blocks of LZ4: literals, then copies of what was written before, which may overlap; a thread a block."""
    i = cuda.grid(1)
    if i + 1 >= starts.size:
        return
    at = int(starts[i])
    end = int(starts[i + 1])
    to = int(places[i])
    while at < end:
        token = int(packed[at])
        at += 1
        length = token >> 4
        if length == 15:
            more = 255
            while more == 255:
                more = int(packed[at])
                at += 1
                length += more
        for k in range(length):
            out[to + k] = packed[at + k]
        to += length
        at += length
        if at >= end:
            break
        distance = int(packed[at]) | (int(packed[at + 1]) << 8)
        at += 2
        length = token & 15
        if length == 15:
            more = 255
            while more == 255:
                more = int(packed[at])
                at += 1
                length += more
        for _ in range(length + 4):
            out[to] = out[to - distance]
            to += 1


def unpack_deltas(words, starts, widths, firsts, out):
    """128 values from differences of a width of bits that the block of values has: a warp sums them up."""
    group = cuda.grid(1) // 32
    lane = cuda.laneid
    if group >= widths.size:
        return
    width = int(widths[group])
    start = int(starts[group])
    mask = (uint64(1) << uint64(width)) - uint64(1)
    base = firsts[group]
    for part in range(4):
        bit = (32 * part + lane) * width
        word = start + (bit >> 5)
        both = uint64(words[word]) | (uint64(words[word + 1]) << uint64(32))
        value = uint32((both >> uint64(bit & 31)) & mask)
        delta = 1
        while delta < 32:
            other = cuda.shfl_up_sync(0xFFFFFFFF, value, delta)
            if lane >= delta:
                value = uint32(value + other)
            delta *= 2
        value = uint32(value + base)
        place = 128 * group + 32 * part + lane
        if place < out.size:
            out[place] = value
        base = cuda.shfl_sync(0xFFFFFFFF, value, 31)


def corrected_words(words, checks, masks, columns, out, tally):
    """Words of 64 bits with 8 of a code: a wrong bit is set right, two are seen; how many were right, mended, bad."""
    step = cuda.gridsize(1)
    right = 0
    mended = 0
    bad = 0
    for i in range(cuda.grid(1), words.size, step):
        word = words[i]
        syndrome = int(checks[i])
        for b in range(8):
            syndrome ^= (cuda.popc(word & masks[b]) & 1) << b
        if syndrome == 0:
            right += 1
        else:
            column = columns[syndrome]
            if column < 0:
                bad += 1
            else:
                mended += 1
                if column < 64:
                    word ^= uint64(1) << uint64(column)
        out[i] = word
    if right > 0:
        cuda.atomic.add(tally, 0, right)
    if mended > 0:
        cuda.atomic.add(tally, 1, mended)
    if bad > 0:
        cuda.atomic.add(tally, 2, bad)


def lz4_block(rng, size):
    """(a packed block, what it unpacks to), of random sequences."""
    packed, plain = bytearray(), bytearray()

    def rest(v):
        while v >= 255:
            packed.append(255)
            v -= 255
        packed.append(v)

    while True:
        last = len(plain) > size
        literals = int(min(rng.geometric(0.12), 700)) if rng.random() < 0.97 else int(rng.integers(200, 600))
        match = int(rng.geometric(0.06)) + 3 if rng.random() < 0.96 else int(rng.integers(100, 700))
        short, code = min(literals, 15), 0 if last else min(match - 4, 15)
        packed.append(short << 4 | code)
        if short == 15:
            rest(literals - 15)
        text = rng.integers(97, 123, literals, np.uint8).tobytes()
        packed += text
        plain += text
        if last:
            return bytes(packed), bytes(plain)
        distance = int(min(rng.integers(1, 1 << int(rng.integers(1, 12))), len(plain)))
        packed += distance.to_bytes(2, "little")
        if code == 15:
            rest(match - 4 - 15)
        for _ in range(match):
            plain.append(plain[-distance])


def lz4_problem(rng, n):
    kinds = [lz4_block(rng, 2000) for _ in range(61)]
    chosen = rng.integers(0, len(kinds), n)
    packed = np.frombuffer(b"".join(kinds[k][0] for k in chosen), np.uint8).copy()
    plain = np.frombuffer(b"".join(kinds[k][1] for k in chosen), np.uint8)
    starts = np.cumsum([0, *(len(kinds[k][0]) for k in chosen)]).astype(np.int32)
    places = np.cumsum([0, *(len(kinds[k][1]) for k in chosen)])[:-1].astype(np.int32)

    def expected():
        return [(slice(None), plain, 0)]

    args = (packed, starts, places, np.zeros(plain.size, np.uint8))
    return Problem(args, (n,), (3,), expected, threads=n, bytes=1.0 * packed.size + plain.size)


def deltas_problem(rng, n):
    groups = -(-n // 128)
    widths = rng.integers(1, 20, groups).astype(np.uint8)
    firsts = rng.integers(0, 1 << 20, groups).astype(np.uint32)
    deltas = rng.integers(0, 1 << 30, (groups, 128)) & ((1 << widths.astype(int)) - 1)[:, None]
    starts = (np.cumsum(4 * widths.astype(int)) - 4 * widths).astype(np.int32)
    words = np.zeros(4 * int(widths.sum()) + 1, np.uint32)
    bits = np.arange(128) * widths[:, None].astype(int)
    low = (deltas.astype(np.uint64) << (bits & 31).astype(np.uint64)).ravel()
    at = (starts[:, None] + (bits >> 5)).ravel()
    np.bitwise_or.at(words, at, (low & np.uint64(0xFFFFFFFF)).astype(np.uint32))
    np.bitwise_or.at(words, at + 1, (low >> np.uint64(32)).astype(np.uint32))

    def expected():
        values = firsts[:, None] + np.cumsum(deltas, 1)
        return [(slice(None), values.ravel()[:n].astype(np.uint32), 0)]

    args = (words, starts, widths, firsts, np.zeros(n, np.uint32))
    moved = 4.0 * words.size + 4.0 * n + 9.0 * groups
    return Problem(args, (groups, n), (4,), expected, threads=32 * groups, bytes=moved)


def code_tables():
    """Hsiao's code: columns of three bits, then of five; the masks of the 8 checks; the bit that a syndrome names."""
    odd = [v for bits in (3, 5) for v in range(256) if v.bit_count() == bits][:64]
    masks = [sum(1 << k for k, v in enumerate(odd) if v >> b & 1) for b in range(8)]
    columns = np.full(256, -1, np.int8)
    columns[odd] = np.arange(64)
    columns[[1 << b for b in range(8)]] = 64 + np.arange(8)
    return np.array(masks, np.uint64), columns


def words_problem(rng, n):
    masks, columns = code_tables()
    words = rng.integers(0, 1 << 63, n, np.uint64) * np.uint64(2) + rng.integers(0, 2, n, np.uint64)
    checks = np.zeros(n, np.uint8)
    for b in range(8):
        checks |= ((np.bitwise_count(words & masks[b]) & 1) << b).astype(np.uint8)
    faults = rng.choice(4, n, p=(0.9, 0.07, 0.01, 0.02))  # none, a data bit, a check bit, two data bits
    hit = rng.integers(0, 64, n).astype(np.uint64)
    other = (hit + np.uint64(17)) % np.uint64(64)
    one = np.uint64(1)
    seen = words ^ np.where((faults == 1) | (faults == 3), one << hit, np.uint64(0))
    seen ^= np.where(faults == 3, one << other, np.uint64(0))
    checks ^= np.where(faults == 2, 1 << (hit % np.uint64(8)).astype(int), 0).astype(np.uint8)

    def expected():
        tally = np.array([(faults == 0).sum(), ((faults == 1) | (faults == 2)).sum(), (faults == 3).sum()], np.int32)
        return [(slice(None), np.where(faults == 3, seen, words), 0), (slice(None), tally, 0)]

    args = (seen, checks, masks, columns, np.zeros(n, np.uint64), np.zeros(3, np.int32))
    return Problem(args, (n,), (4, 5), expected, grid=min(1056, -(-n // 256)), bytes=17.0 * n)


LZ4 = each(
    """lz4_decode(const unsigned char *__restrict__ packed, const int *__restrict__ starts,
               const int *__restrict__ places, unsigned char *__restrict__ out, int n)""",
    """
    INDEX at = starts[i], end = starts[i + 1], to = places[i];
    while (at < end) {
      INDEX token = packed[at++], length = token >> 4, more = 255;
      if (length == 15)
        while (more == 255) {
          more = packed[at++];
          length += more;
        }
      for (INDEX k = 0; k < length; k++)
        out[to + k] = packed[at + k];
      to += length;
      at += length;
      if (at >= end) break;
      INDEX distance = packed[at] | packed[at + 1] << 8;
      at += 2;
      length = token & 15;
      more = 255;
      if (length == 15)
        while (more == 255) {
          more = packed[at++];
          length += more;
        }
      for (INDEX k = 0; k < length + 4; k++) {
        out[to] = out[to - distance];
        to++;
      }
    }
""",
)

DELTAS_HEAD = """unpack_deltas(const unsigned *__restrict__ words, const int *__restrict__ starts,
                   const unsigned char *__restrict__ widths, const unsigned *__restrict__ firsts,
                   unsigned *__restrict__ out, int groups, int n)"""
DELTAS = indexed(
    f"""
__global__ void {DELTAS_HEAD} {{
  INDEX group = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (group >= groups) return;
  INDEX width = widths[group], start = starts[group];
  unsigned long long mask = (1ULL << width) - 1;
  unsigned base = firsts[group];
  for (INDEX part = 0; part < 4; part++) {{
    INDEX bit = (32 * part + lane) * width, word = start + (bit >> 5);
    unsigned long long both = words[word] | ((unsigned long long)words[word + 1] << 32);
    unsigned value = (unsigned)((both >> (bit & 31)) & mask);
    for (int delta = 1; delta < 32; delta *= 2) {{
      unsigned other = __shfl_up_sync(0xffffffff, value, delta);
      if (lane >= delta) value += other;
    }}
    value += base;
    INDEX place = 128 * group + 32 * part + lane;
    if (place < n) out[place] = value;
    base = __shfl_sync(0xffffffff, value, 31);
  }}
}}
""",
    f"""
void {DELTAS_HEAD} {{
#pragma omp parallel for
  for (INDEX group = 0; group < groups; group++) {{
    INDEX width = widths[group];
    unsigned long long mask = (1ULL << width) - 1;
    unsigned value = firsts[group];
    for (INDEX k = 0; k < 128 && 128 * group + k < n; k++) {{
      INDEX bit = k * width, word = starts[group] + (bit >> 5);
      unsigned long long both = words[word] | ((unsigned long long)words[word + 1] << 32);
      value += (unsigned)((both >> (bit & 31)) & mask);
      out[128 * group + k] = value;
    }}
  }}
}}
""",
)

WORDS_HEAD = """corrected_words(const unsigned long long *__restrict__ words, const unsigned char *__restrict__ checks,
                     const unsigned long long *__restrict__ masks, const signed char *__restrict__ columns,
                     unsigned long long *__restrict__ out, int *__restrict__ tally, int n)"""
WORDS_BODY = """
    unsigned long long word = words[i];
    int syndrome = checks[i];
    for (int b = 0; b < 8; b++)
      syndrome ^= (POPCOUNT(word & masks[b]) & 1) << b;
    if (syndrome == 0) {
      right++;
    } else {
      int column = columns[syndrome];
      if (column < 0) {
        bad++;
      } else {
        mended++;
        if (column < 64) word ^= 1ULL << column;
      }
    }
    out[i] = word;
"""
WORDS = indexed(
    f"""
__global__ void {WORDS_HEAD} {{
  INDEX step = gridDim.x * (INDEX)blockDim.x, right = 0, mended = 0, bad = 0;
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += step) {{
{WORDS_BODY.replace("POPCOUNT", "__popcll")}
  }}
  if (right > 0) atomicAdd(&tally[0], (int)right);
  if (mended > 0) atomicAdd(&tally[1], (int)mended);
  if (bad > 0) atomicAdd(&tally[2], (int)bad);
}}
""",
    f"""
void {WORDS_HEAD} {{
  int right = 0, mended = 0, bad = 0;
#pragma omp parallel for reduction(+ : right, mended, bad)
  for (INDEX i = 0; i < n; i++) {{
{WORDS_BODY.replace("POPCOUNT", "__builtin_popcountll")}
  }}
  tally[0] += right;
  tally[1] += mended;
  tally[2] += bad;
}}
""",
)

KERNELS = [
    Kernel(
        "LZ4 blocks", lz4_decode, "uint8[::1], int32[::1], int32[::1], uint8[::1]", 64, lz4_problem,
        gpu=20_011, host=1003, test=103, kind="irregular", **LZ4,
    ),
    Kernel(
        "differences of few bits", unpack_deltas, "uint32[::1], int32[::1], uint8[::1], uint32[::1], uint32[::1]", 128,
        deltas_problem,
        gpu=30_000_029, host=300_007, test=1003, kind="streaming", **DELTAS,
    ),
    Kernel(
        "words with a code", corrected_words,
        "uint64[::1], uint8[::1], uint64[::1], int8[::1], uint64[::1], int32[::1]", 256, words_problem,
        gpu=20_000_003, host=300_007, test=1003, kind="streaming", **WORDS,
    ),
]  # fmt: skip
