"""Secrets: Speck, Poly1305, Ascon, shares of a secret."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, uint32, uint64


def turned(x, by):
    return x << by | x >> (32 - by)


def speck_counter(key, text, start, out):
    """Speck of 64 bits with a key of 128, blocks of a counter; the rounds' keys are made on the way."""
    for i in range(cuda.grid(1), out.shape[0], cuda.gridsize(1)):
        count = start + i
        x = uint32(count >> 32)
        y = uint32(count & 0xFFFFFFFF)
        k, a, b, c = key[0], key[1], key[2], key[3]
        for r in range(27):
            x = (turned(x, 24) + y) ^ k
            y = turned(y, 3) ^ x
            a = (turned(a, 24) + k) ^ uint32(r)
            k = turned(k, 3) ^ a
            a, b, c = b, c, a
        out[i, 0] = text[i, 0] ^ y
        out[i, 1] = text[i, 1] ^ x


MASK = (1 << 26) - 1


def poly1305_tags(messages, keys, tags):
    """Poly1305 of messages of one length, each with its key, in limbs of 26 bits; the tags are four words."""
    i = cuda.grid(1)
    if i >= tags.shape[0]:
        return
    r0 = uint64(keys[i, 0]) & 0x3FFFFFF
    r1 = (uint64(keys[i, 0]) >> 26 | uint64(keys[i, 1]) << 6) & 0x3FFFF03
    r2 = (uint64(keys[i, 1]) >> 20 | uint64(keys[i, 2]) << 12) & 0x3FFC0FF
    r3 = (uint64(keys[i, 2]) >> 14 | uint64(keys[i, 3]) << 18) & 0x3F03FFF
    r4 = uint64(keys[i, 3]) >> 8 & 0x00FFFFF
    h0 = h1 = h2 = h3 = h4 = uint64(0)
    for k in range(0, messages.shape[1], 4):
        w0, w1 = uint64(messages[i, k]), uint64(messages[i, k + 1])
        w2, w3 = uint64(messages[i, k + 2]), uint64(messages[i, k + 3])
        h0 += w0 & MASK
        h1 += (w0 >> 26 | w1 << 6) & MASK
        h2 += (w1 >> 20 | w2 << 12) & MASK
        h3 += (w2 >> 14 | w3 << 18) & MASK
        h4 += w3 >> 8 | 1 << 24
        d0 = h0 * r0 + 5 * (h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1)
        d1 = h0 * r1 + h1 * r0 + 5 * (h2 * r4 + h3 * r3 + h4 * r2)
        d2 = h0 * r2 + h1 * r1 + h2 * r0 + 5 * (h3 * r4 + h4 * r3)
        d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + 5 * (h4 * r4)
        d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0
        d1 += d0 >> 26
        d2 += d1 >> 26
        d3 += d2 >> 26
        d4 += d3 >> 26
        h0 = (d0 & MASK) + 5 * (d4 >> 26)
        h1 = (d1 & MASK) + (h0 >> 26)
        h0 &= MASK
        h2, h3, h4 = d2 & MASK, d3 & MASK, d4 & MASK
    h2 += h1 >> 26
    h1 &= MASK
    h3 += h2 >> 26
    h2 &= MASK
    h4 += h3 >> 26
    h3 &= MASK
    h0 += 5 * (h4 >> 26)
    h4 &= MASK
    h1 += h0 >> 26
    h0 &= MASK
    g0 = h0 + 5
    g1 = h1 + (g0 >> 26)
    g2 = h2 + (g1 >> 26)
    g3 = h3 + (g2 >> 26)
    g4 = h4 + (g3 >> 26)
    if g4 >> 26:
        h0, h1, h2, h3, h4 = g0 & MASK, g1 & MASK, g2 & MASK, g3 & MASK, g4 & MASK
    carry = uint64(0)
    for k, word in enumerate((h0 | h1 << 26, h1 >> 6 | h2 << 20, h2 >> 12 | h3 << 14, h3 >> 18 | h4 << 8)):
        carry += (word & 0xFFFFFFFF) + keys[i, 4 + k]
        tags[i, k] = uint32(carry & 0xFFFFFFFF)
        carry >>= 32


def right(x, by):
    return x >> by | x << (64 - by)


def ascon_states(states, rounds):
    """Ascon's permutation of states of five words, in place."""
    i = cuda.grid(1)
    if i >= states.shape[1]:
        return
    a, b, c, d, e = states[0, i], states[1, i], states[2, i], states[3, i], states[4, i]
    for r in range(12 - rounds, 12):
        c ^= (15 - r) << 4 | r
        a ^= e
        e ^= d
        c ^= b
        t0, t1, t2, t3, t4 = ~a & b, ~b & c, ~c & d, ~d & e, ~e & a
        a ^= t1
        b ^= t2
        c ^= t3
        d ^= t4
        e ^= t0
        b ^= a
        a ^= e
        d ^= c
        c = ~c
        a ^= right(a, 19) ^ right(a, 28)
        b ^= right(b, 61) ^ right(b, 39)
        c ^= right(c, 1) ^ right(c, 6)
        d ^= right(d, 10) ^ right(d, 17)
        e ^= right(e, 7) ^ right(e, 41)
    states[0, i] = a
    states[1, i] = b
    states[2, i] = c
    states[3, i] = d
    states[4, i] = e


def field_product(a, b):
    product = 0
    while b > 0:
        if b & 1:
            product ^= a
        a <<= 1
        if a & 256:
            a ^= 0x11B
        b >>= 1
    return product


def secret_shares(secrets, chances, xs, shares):
    """Shamir: bytes of a secret as polynomials with chance coefficients in the field of 256, at a place for each holder."""
    i, holder = cuda.grid(2)
    if i >= secrets.size or holder >= xs.size:
        return
    x = int(xs[holder])
    value = 0
    for k in range(chances.shape[0] - 1, -1, -1):
        value = field_product(value ^ int(chances[k, i]), x)
    shares[holder, i] = value ^ int(secrets[i])


def turned_by(x, by, bits):
    t = x.dtype.type
    return x << t(by) | x >> t(bits - by)


def speck_problem(rng, n):
    key = rng.integers(0, 1 << 32, 4, np.uint64).astype(np.uint32)
    text = rng.integers(0, 1 << 32, (n, 2), np.uint64).astype(np.uint32)
    start = 1_999_999_999

    def expected():
        at = sampled(rng, n, 20000)
        y = (start + at).astype(np.uint32)
        x = np.zeros_like(y)
        k, *rest = (key[j : j + 1] for j in range(4))
        for r in range(27):
            x = (turned_by(x, 24, 32) + y) ^ k
            y = turned_by(y, 3, 32) ^ x
            a = (turned_by(rest.pop(0), 24, 32) + k) ^ np.uint32(r)
            k = turned_by(k, 3, 32) ^ a
            rest.append(a)
        return [(at, text[at] ^ np.stack([y, x], 1), 0)]

    args = (key, text, start, np.full((n, 2), 99, np.uint32))
    return Problem(args, (n,), (3,), expected, grid=1056, bytes=16.0 * n, flops=20.0 * 27 * n)


def poly_problem(rng, n):
    length = 68
    messages = rng.integers(0, 1 << 32, (n, length), np.uint64).astype(np.uint32)
    keys = rng.integers(0, 1 << 32, (n, 8), np.uint64).astype(np.uint32)
    messages[0], keys[0, :4] = 0xFFFFFFFF, 2  # near the modulus

    def expected():
        at = sampled(rng, n, 300)
        tags = []
        for i in at:
            key = keys[i].tobytes()
            r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
            h, data = 0, messages[i].tobytes()
            for k in range(0, len(data), 16):
                h = (h + int.from_bytes(data[k : k + 16] + b"\1", "little")) * r % ((1 << 130) - 5)
            h += int.from_bytes(key[16:], "little")
            tags.append(np.frombuffer((h % (1 << 128)).to_bytes(16, "little"), np.uint32))
        return [(at, np.array(tags), 0)]

    args = (messages, keys, np.full((n, 4), 99, np.uint32))
    return Problem(args, (n, length), (2,), expected, threads=n, bytes=4.0 * (length + 12) * n, flops=17 * 80.0 * n)


def ascon_problem(rng, n):
    states = rng.integers(0, 1 << 63, (5, n), np.uint64) * np.uint64(2) + rng.integers(0, 2, (5, n), np.uint64)
    rounds = 8
    before = states.copy()

    def expected():
        at = sampled(rng, n, 20000)
        x = list(before[:, at])
        for r in range(12 - rounds, 12):
            x[2] = x[2] ^ np.uint64((15 - r) << 4 | r)
            x[0], x[4], x[2] = x[0] ^ x[4], x[4] ^ x[3], x[2] ^ x[1]
            x = [x[k] ^ (~x[(k + 1) % 5] & x[(k + 2) % 5]) for k in range(5)]
            x[1], x[0], x[3], x[2] = x[1] ^ x[0], x[0] ^ x[4], x[3] ^ x[2], ~x[2]
            x = [
                v ^ turned_by(v, 64 - p, 64) ^ turned_by(v, 64 - q, 64)
                for v, p, q in zip(x, (19, 61, 1, 10, 7), (28, 39, 6, 17, 41))
            ]
        return [((slice(None), at), np.stack(x), 0)]

    return Problem((states, rounds), (n,), (0,), expected, threads=n, bytes=80.0 * n, flops=50.0 * rounds * n)


def shares_problem(rng, n):
    secrets = rng.integers(0, 256, n).astype(np.uint8)
    chances = rng.integers(0, 256, (3, n)).astype(np.uint8)
    xs = rng.permutation(np.arange(1, 256))[:7].astype(np.uint8)

    def expected():
        at = sampled(rng, n, 5000)
        values = []
        for x in xs:
            value = np.zeros(len(at), int)
            for row in chances[::-1, at]:
                a, product = value ^ row, 0
                for bit in range(8):
                    product = product ^ a * (x >> bit & 1)
                    a = a << 1 ^ (a >> 7) * 0x11B
                value = product
            values.append(value ^ secrets[at])
        return [((slice(None), at), np.array(values), 0)]

    args = (secrets, chances, xs, np.full((7, n), 99, np.uint8))
    return Problem(args, (n, 3, 7), (3,), expected, threads=(n, 7), bytes=11.0 * n, flops=7 * 3 * 40.0 * n)


SPECK_HEAD = """speck_counter(const unsigned *__restrict__ key, const unsigned *__restrict__ text, int start,
                   unsigned *__restrict__ out, int n)"""
SPECK_BODY = """
    long long count = (long long)start + i;
    unsigned x = count >> 32, y = count, k = key[0], a = key[1], b = key[2], c = key[3];
    for (int r = 0; r < 27; r++) {
      x = ((x << 24 | x >> 8) + y) ^ k;
      y = (y << 3 | y >> 29) ^ x;
      a = ((a << 24 | a >> 8) + k) ^ r;
      k = (k << 3 | k >> 29) ^ a;
      unsigned t = a;
      a = b;
      b = c;
      c = t;
    }
    out[2 * i] = text[2 * i] ^ y;
    out[2 * i + 1] = text[2 * i + 1] ^ x;
"""
SPECK = indexed(
    f"""
__global__ void {SPECK_HEAD} {{
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (INDEX)blockDim.x) {{{SPECK_BODY}  }}
}}
""",
    f"""
void {SPECK_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{SPECK_BODY}  }}
}}
""",
)

POLY = each(
    "poly1305_tags(const unsigned *__restrict__ messages, const unsigned *__restrict__ keys, unsigned *__restrict__ tags, int n, int length)",
    """
    typedef unsigned long long u64;
    const unsigned *key = keys + 8 * i;
    const u64 mask = 0x3FFFFFF;
    u64 r0 = key[0] & 0x3FFFFFF, r1 = (key[0] >> 26 | (u64)key[1] << 6) & 0x3FFFF03;
    u64 r2 = (key[1] >> 20 | (u64)key[2] << 12) & 0x3FFC0FF, r3 = (key[2] >> 14 | (u64)key[3] << 18) & 0x3F03FFF;
    u64 r4 = key[3] >> 8 & 0x00FFFFF, h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0, carry = 0;
    for (INDEX k = 0; k < length; k += 4) {
      const unsigned *m = messages + i * length + k;
      u64 w0 = m[0], w1 = m[1], w2 = m[2], w3 = m[3];
      h0 += w0 & mask;
      h1 += (w0 >> 26 | w1 << 6) & mask;
      h2 += (w1 >> 20 | w2 << 12) & mask;
      h3 += (w2 >> 14 | w3 << 18) & mask;
      h4 += w3 >> 8 | 1 << 24;
      u64 d0 = h0 * r0 + 5 * (h1 * r4 + h2 * r3 + h3 * r2 + h4 * r1);
      u64 d1 = h0 * r1 + h1 * r0 + 5 * (h2 * r4 + h3 * r3 + h4 * r2);
      u64 d2 = h0 * r2 + h1 * r1 + h2 * r0 + 5 * (h3 * r4 + h4 * r3);
      u64 d3 = h0 * r3 + h1 * r2 + h2 * r1 + h3 * r0 + 5 * (h4 * r4);
      u64 d4 = h0 * r4 + h1 * r3 + h2 * r2 + h3 * r1 + h4 * r0;
      d1 += d0 >> 26;
      d2 += d1 >> 26;
      d3 += d2 >> 26;
      d4 += d3 >> 26;
      h0 = (d0 & mask) + 5 * (d4 >> 26);
      h1 = (d1 & mask) + (h0 >> 26);
      h0 &= mask;
      h2 = d2 & mask;
      h3 = d3 & mask;
      h4 = d4 & mask;
    }
    h2 += h1 >> 26;
    h1 &= mask;
    h3 += h2 >> 26;
    h2 &= mask;
    h4 += h3 >> 26;
    h3 &= mask;
    h0 += 5 * (h4 >> 26);
    h4 &= mask;
    h1 += h0 >> 26;
    h0 &= mask;
    u64 g0 = h0 + 5, g1 = h1 + (g0 >> 26), g2 = h2 + (g1 >> 26), g3 = h3 + (g2 >> 26), g4 = h4 + (g3 >> 26);
    if (g4 >> 26) {
      h0 = g0 & mask;
      h1 = g1 & mask;
      h2 = g2 & mask;
      h3 = g3 & mask;
      h4 = g4 & mask;
    }
    u64 words[4] = {h0 | h1 << 26, h1 >> 6 | h2 << 20, h2 >> 12 | h3 << 14, h3 >> 18 | h4 << 8};
    for (int k = 0; k < 4; k++) {
      carry += (words[k] & 0xFFFFFFFF) + key[4 + k];
      tags[4 * i + k] = carry;
      carry >>= 32;
    }
""",
)

ASCON = each(
    "ascon_states(unsigned long long *__restrict__ states, int rounds, int n)",
    """
    unsigned long long a = states[i], b = states[n + i], c = states[2 * (INDEX)n + i], d = states[3 * (INDEX)n + i];
    unsigned long long e = states[4 * (INDEX)n + i];
    for (int r = 12 - rounds; r < 12; r++) {
      c ^= (15 - r) << 4 | r;
      a ^= e;
      e ^= d;
      c ^= b;
      unsigned long long t0 = ~a & b, t1 = ~b & c, t2 = ~c & d, t3 = ~d & e, t4 = ~e & a;
      a ^= t1;
      b ^= t2;
      c ^= t3;
      d ^= t4;
      e ^= t0;
      b ^= a;
      a ^= e;
      d ^= c;
      c = ~c;
      a ^= turned_right(a, 19) ^ turned_right(a, 28);
      b ^= turned_right(b, 61) ^ turned_right(b, 39);
      c ^= turned_right(c, 1) ^ turned_right(c, 6);
      d ^= turned_right(d, 10) ^ turned_right(d, 17);
      e ^= turned_right(e, 7) ^ turned_right(e, 41);
    }
    states[i] = a;
    states[n + i] = b;
    states[2 * (INDEX)n + i] = c;
    states[3 * (INDEX)n + i] = d;
    states[4 * (INDEX)n + i] = e;
""",
    before="""
DEVICE unsigned long long turned_right(unsigned long long x, int by) {
  return x >> by | x << (64 - by);
}
""",
)

SHARES_HEAD = """secret_shares(const unsigned char *__restrict__ secrets, const unsigned char *__restrict__ chances,
                   const unsigned char *__restrict__ xs, unsigned char *__restrict__ shares, int n, int degree, int holders)"""
SHARES_BEFORE = """
DEVICE int field_product_of(int a, int b) {
  int product = 0;
  while (b > 0) {
    if (b & 1) product ^= a;
    a <<= 1;
    if (a & 256) a ^= 0x11B;
    b >>= 1;
  }
  return product;
}
"""
SHARES_BODY = """
    int x = xs[holder], value = 0;
    for (INDEX k = degree - 1; k >= 0; k--)
      value = field_product_of(value ^ chances[k * n + i], x);
    shares[holder * n + i] = value ^ secrets[i];
"""
SHARES = indexed(
    f"""{SHARES_BEFORE}
__global__ void {SHARES_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, holder = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (i < n && holder < holders) {{{SHARES_BODY}  }}
}}
""",
    f"""{SHARES_BEFORE}
void {SHARES_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX holder = 0; holder < holders; holder++)
    for (INDEX i = 0; i < n; i++) {{{SHARES_BODY}    }}
}}
""",
)

KERNELS = [
    Kernel(
        "counters through Speck", speck_counter, "uint32[::1], uint32[:,::1], pyint, uint32[:,::1]", 256, speck_problem,
        gpu=20_000_003, host=100_003, test=5003, **SPECK,
    ),
    Kernel(
        "tags of Poly1305", poly1305_tags, "uint32[:,::1], uint32[:,::1], uint32[:,::1]", 64, poly_problem, gpu=200_003,
        host=3001, test=203, **POLY,
    ),
    Kernel(
        "states of Ascon", ascon_states, "uint64[:,::1], pyint", 256, ascon_problem, gpu=5_000_011, host=50_021, test=1003,
        **ASCON,
    ),
    Kernel(
        "shares of a secret", secret_shares, "uint8[::1], uint8[:,::1], uint8[::1], uint8[:,::1]", (128, 1), shares_problem,
        gpu=2_000_003, host=20_011, test=1003, **SHARES,
    ),
]  # fmt: skip
