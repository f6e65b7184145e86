"""Hashes of 64 bits: XXH64, probes of a Bloom filter."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda

P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MASK = 2**64 - 1


def rotl(x, r):
    return (x << r) | (x >> (64 - r))


def lane_round(acc, word):
    return rotl(acc + word * P2, 31) * P1


def xxh64(words, starts, seed, out):
    """XXH64 of records of whole 64-bit words."""
    i = cuda.grid(1)
    if i >= out.size:
        return
    k = int(starts[i])
    last = int(starts[i + 1])
    size = 8 * (last - k)
    if last - k >= 4:
        a = seed + P1 + P2
        b = seed + P2
        c = seed
        d = seed - P1
        while k + 4 <= last:
            a = lane_round(a, words[k])
            b = lane_round(b, words[k + 1])
            c = lane_round(c, words[k + 2])
            d = lane_round(d, words[k + 3])
            k += 4
        h = rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18)
        for lane in (a, b, c, d):
            h = (h ^ lane_round(np.uint64(0), lane)) * P1 + P4
    else:
        h = seed + P5
    h += np.uint64(size)
    while k < last:
        h = rotl(h ^ lane_round(np.uint64(0), words[k]), 27) * P1 + P4
        k += 1
    h ^= h >> 33
    h *= P2
    h ^= h >> 29
    h *= P3
    out[i] = h ^ (h >> 32)


def split_mix(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return z ^ (z >> 31)


def bloom_probe(bits, size, probes, keys, found):
    """Whether a Bloom filter of `size` bits may hold a key; the first 0 decides."""
    i = cuda.grid(1)
    if i < keys.size:
        h = split_mix(keys[i])
        low = np.uint32(h & 0xFFFFFFFF)
        high = np.uint32(h >> 32) | 1
        present = True
        for _ in range(probes):
            at = low % size
            if (bits[at >> 5] >> (at & 31)) & 1 == 0:
                present = False
                break
            low += high
        found[i] = 1 if present else 0


def xxh_problem(rng, n):
    most = 23
    lengths = rng.integers(0, most, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    words, seed = rng.integers(0, 2**64, max(1, starts[-1]), dtype=np.uint64), np.uint64(2654435761)

    def expected():
        at = sampled(rng, n, 20000)
        size, first = lengths[at], starts[at]
        one, two, three, four, five = (np.uint64(p) for p in (P1, P2, P3, P4, P5))
        U = np.uint64

        def turn(x, r):
            return (x << U(r)) | (x >> U(64 - r))

        def mixed(acc, word):
            return turn(acc + word * two, 31) * one

        def word(k):
            return words[np.minimum(first + k, words.size - 1)]

        start = int(seed)
        lanes = [np.full(at.size, (start + p) & MASK, U) for p in (P1 + P2, P2, 0, -P1)]
        for k in range(0, most, 4):
            live = size >= k + 4
            lanes = [np.where(live, mixed(lane, word(k + j)), lane) for j, lane in enumerate(lanes)]
        h = turn(lanes[0], 1) + turn(lanes[1], 7) + turn(lanes[2], 12) + turn(lanes[3], 18)
        for lane in lanes:
            h = (h ^ mixed(U(0), lane)) * one + four
        h = np.where(size >= 4, h, U((start + P5) & MASK)) + (8 * size).astype(U)
        for k in range(3):
            live = k < size % 4
            h = np.where(live, turn(h ^ mixed(U(0), word(size // 4 * 4 + k)), 27) * one + four, h)
        h = (h ^ (h >> U(33))) * two
        h = (h ^ (h >> U(29))) * three
        return [(at, h ^ (h >> U(32)), 0)]

    args = (words, starts, seed, np.zeros(n, np.uint64))
    return Problem(args, (n,), (3,), expected, threads=n, bytes=8.0 * words.size)


def bloom_problem(rng, n):
    size, probes = max(1009, 5 * n // 2 + 11), 7
    keys = rng.integers(0, 2**63, n, dtype=np.uint64)
    kept = keys[rng.random(n) < 0.25]

    def places(keys):
        h = split_mix(keys)
        low, high = h.astype(np.uint32), (h >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
        for _ in range(probes):
            yield low % np.uint32(size)
            low = low + high

    flags = np.zeros(-(-size // 32) * 32, np.uint8)
    for at in places(kept):
        flags[at] = 1
    bits = np.packbits(flags, bitorder="little").view(np.uint32)

    def expected():
        found = np.ones(n, np.uint8)
        for at in places(keys):
            found &= flags[at]
        return [(slice(None), found, 0)]

    args = (bits, np.uint32(size), probes, keys, np.zeros(n, np.uint8))
    return Problem(args, (n,), (4,), expected, threads=n, bytes=9.0 * n)


XXH = each(
    "xxh64(const unsigned long *words, const int *starts, unsigned long seed, unsigned long *out, int n)",
    """
    INDEX k = starts[i], last = starts[i + 1], size = 8 * (last - k);
    unsigned long h;
    if (last - k >= 4) {
      unsigned long a = seed + XXH_1 + XXH_2, b = seed + XXH_2, c = seed, d = seed - XXH_1;
      for (; k + 4 <= last; k += 4) {
        a = xxh_round(a, words[k]);
        b = xxh_round(b, words[k + 1]);
        c = xxh_round(c, words[k + 2]);
        d = xxh_round(d, words[k + 3]);
      }
      h = xxh_rotl(a, 1) + xxh_rotl(b, 7) + xxh_rotl(c, 12) + xxh_rotl(d, 18);
      h = (h ^ xxh_round(0, a)) * XXH_1 + XXH_4;
      h = (h ^ xxh_round(0, b)) * XXH_1 + XXH_4;
      h = (h ^ xxh_round(0, c)) * XXH_1 + XXH_4;
      h = (h ^ xxh_round(0, d)) * XXH_1 + XXH_4;
    } else
      h = seed + XXH_5;
    h += (unsigned long)size;
    for (; k < last; k++)
      h = xxh_rotl(h ^ xxh_round(0, words[k]), 27) * XXH_1 + XXH_4;
    h ^= h >> 33;
    h *= XXH_2;
    h ^= h >> 29;
    h *= XXH_3;
    out[i] = h ^ (h >> 32);
""",
    before=f"""
#define XXH_1 {P1:#x}UL
#define XXH_2 {P2:#x}UL
#define XXH_3 {P3:#x}UL
#define XXH_4 {P4:#x}UL
#define XXH_5 {P5:#x}UL
DEVICE unsigned long xxh_rotl(unsigned long x, int r) {{ return (x << r) | (x >> (64 - r)); }}
DEVICE unsigned long xxh_round(unsigned long acc, unsigned long word) {{
  return xxh_rotl(acc + word * XXH_2, 31) * XXH_1;
}}
""",
)

BLOOM = each(
    """bloom_probe(const unsigned *bits, unsigned size, int probes, const unsigned long *keys, unsigned char *found,
                 int n)""",
    """
    unsigned long h = bloom_mix(keys[i]);
    unsigned low = (unsigned)h, high = (unsigned)(h >> 32) | 1;
    unsigned char present = 1;
    for (INDEX k = 0; k < probes; k++) {
      unsigned at = low % size;
      if (((bits[at >> 5] >> (at & 31)) & 1) == 0) {
        present = 0;
        break;
      }
      low += high;
    }
    found[i] = present;
""",
    before="""
DEVICE unsigned long bloom_mix(unsigned long z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
  return z ^ (z >> 31);
}
""",
)

KERNELS = [
    Kernel(
        "XXH64 of records", xxh64, "uint64[::1], int32[::1], uint64, uint64[::1]", 256, xxh_problem,
        gpu=1_000_003, host=30_003, test=503, kind="irregular", **XXH,
    ),
    Kernel(
        "probes of a Bloom filter", bloom_probe, "uint32[::1], uint32, pyint, uint64[::1], uint8[::1]", 256,
        bloom_problem,
        gpu=8_000_003, host=100_003, test=2003, kind="irregular", **BLOOM,
    ),
]  # fmt: skip
