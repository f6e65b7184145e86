"""Arithmetic of ciphers: SHA3-256 of short messages, Montgomery products of long numbers."""

import hashlib

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda, uint32, uint64


def keccak_constants():
    """The 24 constants of the rounds, and by how much each of the 25 lanes is turned."""
    state, rounds = 1, []
    for _ in range(24):
        word = 0
        for j in range(7):
            if state & 1:
                word |= 1 << ((1 << j) - 1)
            state = (state << 1) ^ (0x171 if state & 0x80 else 0)
        rounds.append(word)
    turns, x, y = [0] * 25, 1, 0
    for t in range(24):
        turns[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return np.array(rounds, np.uint64), np.array(turns, np.uint64)


ROUNDS, TURNS = keccak_constants()


def turned_left(x, by):
    return (x << by) | (x >> ((uint64(64) - by) & uint64(63)))


def sha3_blocks(blocks, digests):
    """The permutation Keccak-f[1600] of padded messages of one block; the first four lanes are SHA3-256."""
    i = cuda.grid(1)
    if i >= blocks.shape[1]:
        return
    a = cuda.local.array(25, uint64)
    b = cuda.local.array(25, uint64)
    c = cuda.local.array(5, uint64)
    for k in range(25):
        a[k] = 0
    for k in range(blocks.shape[0]):
        a[k] = blocks[k, i]
    for r in range(24):
        for x in range(5):
            c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]
        for x in range(5):
            d = c[(x + 4) % 5] ^ turned_left(c[(x + 1) % 5], uint64(1))
            for y in range(0, 25, 5):
                a[y + x] ^= d
        for y in range(5):
            for x in range(5):
                b[y + 5 * ((2 * x + 3 * y) % 5)] = turned_left(a[x + 5 * y], TURNS[x + 5 * y])
        for y in range(0, 25, 5):
            for x in range(5):
                a[y + x] = b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5])
        a[0] ^= ROUNDS[r]
    for k in range(digests.shape[0]):
        digests[k, i] = a[k]


def montgomery_products(a, b, modulus, inverse, out):
    """a b / R modulo an odd number of up to 16 limbs of 32 bits, R being 2 to the power of their bits; less than it."""
    i = cuda.grid(1)
    if i >= a.shape[1]:
        return
    limbs = a.shape[0]
    t = cuda.local.array(18, uint32)
    for k in range(limbs + 2):
        t[k] = 0
    for j in range(limbs):
        factor = uint64(b[j, i])
        carry = uint64(0)
        for k in range(limbs):
            s = uint64(t[k]) + uint64(a[k, i]) * factor + carry
            t[k] = uint32(s & uint64(0xFFFFFFFF))
            carry = s >> uint64(32)
        s = uint64(t[limbs]) + carry
        t[limbs] = uint32(s & uint64(0xFFFFFFFF))
        t[limbs + 1] = uint32(s >> uint64(32))
        m = uint64(uint32(t[0] * inverse))
        carry = (uint64(t[0]) + m * uint64(modulus[0])) >> uint64(32)
        for k in range(1, limbs):
            s = uint64(t[k]) + m * uint64(modulus[k]) + carry
            t[k - 1] = uint32(s & uint64(0xFFFFFFFF))
            carry = s >> uint64(32)
        s = uint64(t[limbs]) + carry
        t[limbs - 1] = uint32(s & uint64(0xFFFFFFFF))
        t[limbs] = t[limbs + 1] + uint32(s >> uint64(32))
    larger = t[limbs] > 0
    if not larger:
        larger = True
        for k in range(limbs - 1, -1, -1):
            if t[k] != modulus[k]:
                larger = t[k] > modulus[k]
                break
    borrow = uint64(0)
    for k in range(limbs):
        v = uint64(t[k])
        if larger:
            v = v - uint64(modulus[k]) - borrow
            borrow = (v >> uint64(32)) & uint64(1)
        out[k, i] = uint32(v & uint64(0xFFFFFFFF))


def sha3_problem(rng, n):
    size, rate = 107, 17
    blocks = np.zeros((n, 8 * rate), np.uint8)
    blocks[:, :size] = rng.integers(0, 256, (n, size), np.uint8)
    messages = blocks[:, :size]
    blocks[:, size] ^= 6
    blocks[:, -1] ^= 0x80
    lanes = np.ascontiguousarray(blocks.view(np.uint64).T)

    def expected():
        at = sampled(rng, n, 3000)
        digests = b"".join(hashlib.sha3_256(messages[m].tobytes()).digest() for m in at)
        return [((slice(None), at), np.frombuffer(digests, np.uint64).reshape(-1, 4).T, 0)]

    args = (lanes, np.zeros((4, n), np.uint64))
    return Problem(args, (n, rate, 4), (1,), expected, threads=n, bytes=8.0 * 21 * n)


def whole(limbs):
    return int.from_bytes(np.ascontiguousarray(limbs).tobytes(), "little")


def montgomery_problem(rng, n):
    limbs = 11
    modulus = rng.integers(0, 1 << 32, limbs, np.uint32)
    modulus[0] |= 1
    modulus[-1] |= 1 << 31
    a, b = (rng.integers(0, 1 << 32, (limbs, n), np.uint32) for _ in range(2))
    for v in (a, b):
        v[-1] = np.minimum(v[-1], modulus[-1] - 1)
    m = whole(modulus)
    inverse = np.uint32(-pow(m, -1, 1 << 32) % (1 << 32))

    def expected():
        at, back = sampled(rng, n, 2000), pow(1 << 32 * limbs, -1, m)
        products = [whole(a[:, k]) * whole(b[:, k]) * back % m for k in at]
        text = b"".join(p.to_bytes(4 * limbs, "little") for p in products)
        return [((slice(None), at), np.frombuffer(text, np.uint32).reshape(-1, limbs).T, 0)]

    args = (a, b, modulus, inverse, np.zeros_like(a))
    return Problem(args, (n, limbs), (4,), expected, threads=n, bytes=12.0 * limbs * n)


SHA3_BEFORE = f"""
TABLE unsigned long long keccak_rounds[24] = {{{", ".join(f"{int(r)}ULL" for r in ROUNDS)}}};
TABLE unsigned long long keccak_turns[25] = {{{", ".join(f"{int(t)}ULL" for t in TURNS)}}};
DEVICE unsigned long long keccak_turned(unsigned long long x, unsigned long long by) {{
  return (x << by) | (x >> ((64 - by) & 63));
}}
"""
SHA3 = each(
    """sha3_blocks(const unsigned long long *__restrict__ blocks, unsigned long long *__restrict__ digests, int n,
                int rate, int words)""",
    """
    unsigned long long a[25], b[25], c[5];
    for (INDEX k = 0; k < 25; k++)
      a[k] = 0;
    for (INDEX k = 0; k < rate; k++)
      a[k] = blocks[k * n + i];
    for (INDEX r = 0; r < 24; r++) {
      for (INDEX x = 0; x < 5; x++)
        c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
      for (INDEX x = 0; x < 5; x++) {
        unsigned long long d = c[(x + 4) % 5] ^ keccak_turned(c[(x + 1) % 5], 1);
        for (INDEX y = 0; y < 25; y += 5)
          a[y + x] ^= d;
      }
      for (INDEX y = 0; y < 5; y++)
        for (INDEX x = 0; x < 5; x++)
          b[y + 5 * ((2 * x + 3 * y) % 5)] = keccak_turned(a[x + 5 * y], keccak_turns[x + 5 * y]);
      for (INDEX y = 0; y < 25; y += 5)
        for (INDEX x = 0; x < 5; x++)
          a[y + x] = b[y + x] ^ (~b[y + (x + 1) % 5] & b[y + (x + 2) % 5]);
      a[0] ^= keccak_rounds[r];
    }
    for (INDEX k = 0; k < words; k++)
      digests[k * n + i] = a[k];
""",
    before=SHA3_BEFORE,
)
SHA3 = {
    text: body.replace("TABLE", "static const" if text == "openmp" else "__constant__") for text, body in SHA3.items()
}

MONTGOMERY = each(
    """montgomery_products(const unsigned *__restrict__ a, const unsigned *__restrict__ b,
                         const unsigned *__restrict__ modulus, unsigned inverse, unsigned *__restrict__ out, int n,
                         int limbs)""",
    """
    unsigned t[18];
    for (INDEX k = 0; k < limbs + 2; k++)
      t[k] = 0;
    for (INDEX j = 0; j < limbs; j++) {
      unsigned long long factor = b[j * n + i], carry = 0, s;
      for (INDEX k = 0; k < limbs; k++) {
        s = t[k] + a[k * n + i] * factor + carry;
        t[k] = (unsigned)s;
        carry = s >> 32;
      }
      s = t[limbs] + carry;
      t[limbs] = (unsigned)s;
      t[limbs + 1] = (unsigned)(s >> 32);
      unsigned long long m = t[0] * inverse;
      carry = (t[0] + m * modulus[0]) >> 32;
      for (INDEX k = 1; k < limbs; k++) {
        s = t[k] + m * modulus[k] + carry;
        t[k - 1] = (unsigned)s;
        carry = s >> 32;
      }
      s = t[limbs] + carry;
      t[limbs - 1] = (unsigned)s;
      t[limbs] = t[limbs + 1] + (unsigned)(s >> 32);
    }
    int larger = t[limbs] > 0;
    if (!larger) {
      larger = 1;
      for (INDEX k = limbs - 1; k >= 0; k--)
        if (t[k] != modulus[k]) {
          larger = t[k] > modulus[k];
          break;
        }
    }
    unsigned long long borrow = 0;
    for (INDEX k = 0; k < limbs; k++) {
      unsigned long long v = t[k];
      if (larger) {
        v = v - modulus[k] - borrow;
        borrow = (v >> 32) & 1;
      }
      out[k * n + i] = (unsigned)v;
    }
""",
)

KERNELS = [
    Kernel(
        "SHA3-256 of short messages", sha3_blocks, "uint64[:,::1], uint64[:,::1]", 128, sha3_problem,
        gpu=500_009, host=5003, test=203, **SHA3,
    ),
    Kernel(
        "Montgomery products", montgomery_products,
        "uint32[:,::1], uint32[:,::1], uint32[::1], uint32, uint32[:,::1]", 128, montgomery_problem,
        gpu=1_000_003, host=5003, test=203, **MONTGOMERY,
    ),
]  # fmt: skip
