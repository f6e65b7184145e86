"""Codes and streams: Golay's code, errors of Reed and Solomon's located, entropy coded symbols, RC4."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, uint8, uint32

GOLAY = tuple(int(("11011100010" * 2)[k : k + 11][::-1], 2) | 1 << 11 for k in range(11)) + (0x7FF,)


def parity_of(bits):
    """A word of 12 bits times the matrix of the code."""
    parity = 0
    for k in range(12):
        if bits >> k & 1:
            parity ^= GOLAY[k]
    return parity


def golay_corrected(words, data, errors):
    """Golay's extended code of 24 bits: up to three wrong bits are found from their syndrome; 4 means that there were more."""
    i = cuda.grid(1)
    if i >= words.size:
        return
    first, second = int(words[i]) & 0xFFF, int(words[i]) >> 12
    wrong = -1  # bits of the first half, then of the second
    s = first ^ parity_of(second)
    if s.bit_count() <= 3:
        wrong = s
    else:
        for k in range(12):
            if (s ^ GOLAY[k]).bit_count() <= 2:
                wrong = s ^ GOLAY[k] | 1 << 12 + k
                break
        else:
            q = parity_of(s)
            if q.bit_count() <= 3:
                wrong = q << 12
            else:
                for k in range(12):
                    if (q ^ GOLAY[k]).bit_count() <= 2:
                        wrong = (q ^ GOLAY[k]) << 12 | 1 << k
                        break
    if wrong >= 0:
        data[i] = first ^ wrong & 0xFFF
        errors[i] = wrong.bit_count()
    else:
        data[i] = first
        errors[i] = 4


def gf_product(a, b, powers, logs):
    if a == 0 or b == 0:
        return 0
    return int(powers[int(logs[a]) + int(logs[b])])


def located_errors(syndromes, powers, logs, length, places, counts):
    """Where a received word is wrong: Berlekamp and Massey's polynomial of the syndromes, its roots by trying all places (Chien)."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    t2 = syndromes.shape[0]
    c = cuda.local.array(20, uint8)
    b = cuda.local.array(20, uint8)
    kept = cuda.local.array(20, uint8)
    for k in range(t2 + 1):
        c[k] = 0
        b[k] = 0
    c[0] = b[0] = 1
    size, gap, last = 0, 1, 1
    for r in range(t2):
        d = int(syndromes[r, i])
        for k in range(1, size + 1):
            d ^= gf_product(int(c[k]), int(syndromes[r - k, i]), powers, logs)
        if d == 0:
            gap += 1
            continue
        factor = int(powers[int(logs[d]) + 255 - int(logs[last])])
        grows = 2 * size <= r
        if grows:
            for k in range(t2 + 1):
                kept[k] = c[k]
        for k in range(t2 + 1 - gap):
            c[k + gap] ^= gf_product(factor, int(b[k]), powers, logs)
        if grows:
            for k in range(t2 + 1):
                b[k] = kept[k]
            size = r + 1 - size
            last = d
            gap = 1
        else:
            gap += 1
    found = 0
    for place in range(length):
        value = int(c[0])
        for k in range(1, size + 1):
            if c[k] != 0:
                value ^= int(powers[(int(logs[c[k]]) + (255 - place) * k) % 255])
        if value == 0:
            places[found, i] = place
            found += 1
            if found == size:
                break
    counts[i] = found if found == size else -1


def rans_symbols(starts, words, symbols, frequencies, below, out):
    """Symbols of asymmetric numeral systems: a state of 32 bits takes 16 more whenever it is small, 12 bits choose a symbol."""
    i = cuda.grid(1)
    if i >= out.shape[1]:
        return
    place = starts[i]
    state = uint32(words[place]) << 16 | uint32(words[place + 1])
    place += 2
    for t in range(out.shape[0]):
        slot = state & 4095
        s = symbols[slot]
        out[t, i] = s
        state = uint32(frequencies[s]) * (state >> 12) + slot - below[s]
        if state < 65536:
            state = state << 16 | words[place]
            place += 1


def rc4_streams(keys, length, streams):
    """RC4: a key shuffles 256 bytes, which go on shuffling themselves while they give the stream."""
    i = cuda.grid(1)
    if i >= keys.shape[1]:
        return
    s = cuda.local.array(256, uint8)
    for k in range(256):
        s[k] = k
    j = 0
    for k in range(256):
        j = (j + int(s[k]) + int(keys[k % keys.shape[0], i])) & 255
        s[k], s[j] = s[j], s[k]
    a = b = 0
    for t in range(length):
        a = (a + 1) & 255
        b = (b + int(s[a])) & 255
        s[a], s[b] = s[b], s[a]
        streams[t, i] = s[s[a] + s[b]]


def golay_problem(rng, n):
    bits = np.arange(4096)
    parities = np.bitwise_xor.reduce([np.where(bits >> k & 1, GOLAY[k], 0) for k in range(12)]).astype(np.uint32)
    words = rng.integers(0, 4096, n, np.uint32)
    words |= parities[words] << 12
    for _ in range(3):
        words ^= np.where(rng.integers(0, 10, n, np.uint8) < 6, np.uint32(1) << rng.integers(0, 24, n, np.uint32), np.uint32(0))
    words[::7] ^= rng.integers(0, 1 << 24, len(words[::7]), np.uint32)

    def expected():
        single = 1 << np.arange(24)
        pairs = (single[:, None] ^ single).ravel()
        triples = (pairs[:, None] ^ single).ravel()
        patterns = np.unique(np.concatenate([[0], triples]))  # a bit twice is none
        patterns = np.unique(np.concatenate([patterns, pairs]))
        table = np.full(4096, -1)
        table[patterns & 0xFFF ^ parities[patterns >> 12]] = patterns
        at = sampled(rng, n, 50_000)
        w = words[at].astype(np.int64)
        wrong = table[w & 0xFFF ^ parities[w >> 12]]
        known = wrong >= 0
        return [
            (at, (w ^ np.where(known, wrong, 0)) & 0xFFF, 0),
            (at, np.where(known, np.bitwise_count(np.maximum(wrong, 0)), 4), 0),
        ]  # fmt: skip

    args = (words, np.full(n, 9999, np.uint16), np.full(n, 99, np.uint8))
    return Problem(args, (n,), (1, 2), expected, threads=n, bytes=7.0 * n, flops=100.0 * n)


def field_of_256():
    powers, logs, x = np.zeros(510, np.uint8), np.zeros(256, np.uint8), 1
    for k in range(255):
        powers[k] = powers[k + 255] = x
        logs[x] = k
        x = x << 1 ^ (x >> 7) * 0x11D
    return powers, logs


def located_problem(rng, n):
    most, length = 8, 204
    powers, logs = field_of_256()
    count = rng.integers(0, most + 1, n)
    order = np.argsort(rng.random((n, length), np.float32), 1)[:, :most]
    order[np.arange(most) >= count[:, None]] = length
    order.sort(1)
    places = order.T.copy()
    values = rng.integers(1, 256, places.shape)
    syndromes = np.zeros((2 * most, n), np.uint8)
    for r in range(2 * most):
        terms = powers[(logs[values].astype(int) + places * r) % 255]
        syndromes[r] = np.bitwise_xor.reduce(np.where(places < length, terms, 0), 0)

    def expected():
        return [(slice(None), np.where(places < length, places, 255), 0), (slice(None), count, 0)]

    args = (syndromes, powers, logs, length, np.full((most, n), 255, np.uint8), np.full(n, 99, np.int8))
    return Problem(args, (2 * most, n), (4, 5), expected, threads=n, bytes=25.0 * n, flops=5.0 * length * 4 * n)


def rans_problem(rng, n):
    length, kinds = 203, min(n, 400)
    odds = rng.pareto(0.8, 256) + 0.01
    frequencies = np.maximum((odds / odds.sum() * 3800).astype(int), 1)
    frequencies[np.argmax(frequencies)] += 4096 - frequencies.sum()
    below = np.cumsum(frequencies) - frequencies
    symbols = np.repeat(np.arange(256), frequencies).astype(np.uint8)
    texts = symbols[rng.integers(0, 4096, (length, kinds))]
    state = np.full(kinds, 1 << 16, np.int64)
    coded = [[] for _ in range(kinds)]
    for s in texts[::-1]:
        f = frequencies[s]
        for k in np.flatnonzero(state >= f << 20):
            coded[k].append(int(state[k] & 0xFFFF))
            state[k] >>= 16
        state = (state // f << 12) + below[s] + state % f
    coded = [np.array(c + [x & 0xFFFF, x >> 16], np.uint16)[::-1] for c, x in zip(coded, state.tolist())]
    which = rng.integers(0, kinds, n)
    sizes = np.array([len(c) for c in coded])[which]
    starts = (np.cumsum(sizes) - sizes).astype(np.int32)
    words = np.concatenate([coded[k] for k in which])

    def expected():
        return [(slice(None), texts[:, which], 0)]

    args = (starts, words, symbols, frequencies.astype(np.uint16), below.astype(np.uint16), np.full((length, n), 99, np.uint8))
    return Problem(args, (length, n), (5,), expected, threads=n, bytes=2.0 * len(words) + 1.0 * length * n, flops=10.0 * length * n)


def rc4_problem(rng, n):
    length = 200
    keys = rng.integers(0, 256, (13, n)).astype(np.uint8)

    def expected():
        at = sampled(rng, n, 1000)
        rows, s = np.arange(len(at)), np.tile(np.arange(256), (len(at), 1))

        def swap(a, b):
            s[rows, a], s[rows, b] = s[rows, b], s[rows, a].copy()

        j = np.zeros(len(at), int)
        for k in range(256):
            j = (j + s[:, k] + keys[k % 13, at]) % 256
            swap(k, j)
        b, stream = 0, []
        for t in range(1, length + 1):
            b = (b + s[:, t % 256]) % 256
            swap(t % 256, b)
            stream.append(s[rows, (s[:, t % 256] + s[rows, b]) % 256])
        return [((slice(None), at), np.stack(stream), 0)]

    args = (keys, length, np.full((length, n), 99, np.uint8))
    return Problem(args, (13, n), (2,), expected, threads=n, bytes=(length + 13.0) * n, flops=8.0 * (256 + length) * n)


GOLAY_ROWS = ", ".join(map(str, GOLAY))
GOLAY_TEXTS = each(
    "golay_corrected(const unsigned *__restrict__ words, unsigned short *__restrict__ data, unsigned char *__restrict__ errors, int n)",
    """
    const int rows[12] = {ROWS};
    int first = words[i] & 0xFFF, second = words[i] >> 12, wrong = -1;
    int s = first ^ golay_parity(second);
    if (__popc(s) <= 3)
      wrong = s;
    else {
      for (int k = 0; k < 12; k++)
        if (__popc(s ^ rows[k]) <= 2) {
          wrong = (s ^ rows[k]) | 1 << (12 + k);
          break;
        }
      if (wrong < 0) {
        int q = golay_parity(s);
        if (__popc(q) <= 3)
          wrong = q << 12;
        else
          for (int k = 0; k < 12; k++)
            if (__popc(q ^ rows[k]) <= 2) {
              wrong = (q ^ rows[k]) << 12 | 1 << k;
              break;
            }
      }
    }
    data[i] = wrong >= 0 ? first ^ (wrong & 0xFFF) : first;
    errors[i] = wrong >= 0 ? __popc(wrong) : 4;
""".replace("ROWS", GOLAY_ROWS),
    before="""
DEVICE int golay_parity(int bits) {
  const int rows[12] = {ROWS};
  int parity = 0;
  for (int k = 0; k < 12; k++)
    if (bits >> k & 1) parity ^= rows[k];
  return parity;
}
""".replace("ROWS", GOLAY_ROWS),
)
GOLAY_TEXTS["openmp"] = GOLAY_TEXTS["openmp"].replace("__popc(", "__builtin_popcount(")

LOCATED = each(
    """located_errors(const unsigned char *__restrict__ syndromes, const unsigned char *__restrict__ powers,
                    const unsigned char *__restrict__ logs, int length, unsigned char *__restrict__ places,
                    signed char *__restrict__ counts, int t2, int n)""",
    """
    unsigned char c[20], b[20], kept[20];
    for (int k = 0; k <= t2; k++)
      c[k] = b[k] = k == 0;
    int size = 0, gap = 1, last = 1;
    for (INDEX r = 0; r < t2; r++) {
      int d = syndromes[r * n + i];
      for (int k = 1; k <= size; k++)
        d ^= located_product(c[k], syndromes[(r - k) * n + i], powers, logs);
      if (d == 0) {
        gap++;
        continue;
      }
      int factor = powers[logs[d] + 255 - logs[last]], grows = 2 * size <= r;
      if (grows)
        for (int k = 0; k <= t2; k++)
          kept[k] = c[k];
      for (int k = 0; k <= t2 - gap; k++)
        c[k + gap] ^= located_product(factor, b[k], powers, logs);
      if (grows) {
        for (int k = 0; k <= t2; k++)
          b[k] = kept[k];
        size = r + 1 - size;
        last = d;
        gap = 1;
      } else
        gap++;
    }
    INDEX found = 0;
    for (int place = 0; place < length; place++) {
      int value = c[0];
      for (int k = 1; k <= size; k++)
        if (c[k] != 0) value ^= powers[(logs[c[k]] + (255 - place) * k) % 255];
      if (value == 0) {
        places[found * n + i] = place;
        found++;
        if (found == size) break;
      }
    }
    counts[i] = found == size ? found : -1;
""",
    before="""
DEVICE int located_product(int a, int b, const unsigned char *powers, const unsigned char *logs) {
  return a == 0 || b == 0 ? 0 : powers[logs[a] + logs[b]];
}
""",
)

RANS = each(
    """rans_symbols(const int *__restrict__ starts, const unsigned short *__restrict__ words, const unsigned char *__restrict__ symbols,
                  const unsigned short *__restrict__ frequencies, const unsigned short *__restrict__ below,
                  unsigned char *__restrict__ out, int length, int n)""",
    """
    INDEX place = starts[i];
    unsigned state = (unsigned)words[place] << 16 | words[place + 1];
    place += 2;
    for (INDEX t = 0; t < length; t++) {
      unsigned slot = state & 4095;
      int s = symbols[slot];
      out[t * n + i] = s;
      state = frequencies[s] * (state >> 12) + slot - below[s];
      if (state < 65536) {
        state = state << 16 | words[place];
        place++;
      }
    }
""",
)

RC4 = each(
    "rc4_streams(const unsigned char *__restrict__ keys, int length, unsigned char *__restrict__ streams, int size, int n)",
    """
    unsigned char s[256];
    for (int k = 0; k < 256; k++)
      s[k] = k;
    int j = 0;
    for (INDEX k = 0; k < 256; k++) {
      j = (j + s[k] + keys[k % size * n + i]) & 255;
      unsigned char kept = s[k];
      s[k] = s[j];
      s[j] = kept;
    }
    int a = 0, b = 0;
    for (INDEX t = 0; t < length; t++) {
      a = (a + 1) & 255;
      b = (b + s[a]) & 255;
      unsigned char kept = s[a];
      s[a] = s[b];
      s[b] = kept;
      streams[t * n + i] = s[(s[a] + s[b]) & 255];
    }
""",
)

KERNELS = [
    Kernel(
        "Golay's code", golay_corrected, "uint32[::1], uint16[::1], uint8[::1]", 256, golay_problem, gpu=5_000_011, host=50_021,
        test=1003, kind="irregular", **GOLAY_TEXTS,
    ),
    Kernel(
        "errors located", located_errors, "uint8[:,::1], uint8[::1], uint8[::1], pyint, uint8[:,::1], int8[::1]", 128,
        located_problem, gpu=100_003, host=1003, test=203, kind="irregular", **LOCATED,
    ),
    Kernel(
        "symbols of numeral systems", rans_symbols,
        "int32[::1], uint16[::1], uint8[::1], uint16[::1], uint16[::1], uint8[:,::1]", 128, rans_problem, gpu=100_003, host=3001,
        test=203, kind="irregular", **RANS,
    ),
    Kernel(
        "RC4", rc4_streams, "uint8[:,::1], pyint, uint8[:,::1]", 64, rc4_problem, gpu=50_021, host=503, test=103,
        kind="irregular", **RC4,
    ),
]  # fmt: skip
