"""Integer arithmetic: SHA-256 (uint32), SipHash-2-4 (uint64), primes by Miller and Rabin's test
(int64).
"""

import hashlib

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.third.texts import sides
from pyptx import cuda, uint32


def rotated32(x, k):
    """x turned right by k bits."""
    return (x >> k) | (x << (32 - k))


def sha256(messages, constants, start, digest):
    """SHA-256 (FIPS 180-4) of one block, the 16 words of column i."""
    i = cuda.grid(1)
    if i >= messages.shape[1]:
        return
    w = cuda.local.array(16, uint32)
    for k in range(messages.shape[0]):
        w[k] = messages[k, i]
    a, b, c, d = start[0], start[1], start[2], start[3]
    e, f, g, h = start[4], start[5], start[6], start[7]
    for k in range(constants.size):
        word = w[k % 16]
        mixed = rotated32(e, 6) ^ rotated32(e, 11) ^ rotated32(e, 25)
        one = h + mixed + ((e & f) ^ (~e & g)) + constants[k] + word
        two = (rotated32(a, 2) ^ rotated32(a, 13) ^ rotated32(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
        h, g, f, e = g, f, e, d + one
        d, c, b, a = c, b, a, one + two
        before = w[(k + 1) % 16]
        latest = w[(k + 14) % 16]
        s0 = rotated32(before, 7) ^ rotated32(before, 18) ^ (before >> 3)
        s1 = rotated32(latest, 17) ^ rotated32(latest, 19) ^ (latest >> 10)
        w[k % 16] = word + s0 + w[(k + 9) % 16] + s1
    digest[0, i] = start[0] + a
    digest[1, i] = start[1] + b
    digest[2, i] = start[2] + c
    digest[3, i] = start[3] + d
    digest[4, i] = start[4] + e
    digest[5, i] = start[5] + f
    digest[6, i] = start[6] + g
    digest[7, i] = start[7] + h


def rotated64(x, k):
    """x turned left by k bits."""
    return (x << k) | (x >> (64 - k))


def sip_round(a, b, c, d):
    """SipHash's mixing of its four words."""
    a += b
    b = rotated64(b, 13) ^ a
    a = rotated64(a, 32)
    c += d
    d = rotated64(d, 16) ^ c
    a += d
    d = rotated64(d, 21) ^ a
    c += b
    b = rotated64(b, 17) ^ c
    c = rotated64(c, 32)
    return a, b, c, d


def siphash(key, words, rounds, final_rounds, result):
    """SipHash (Aumasson and Bernstein, 2012) of column i: words of 64 bits, then the length."""
    i = cuda.grid(1)
    if i >= words.shape[1]:
        return
    a = key[0] ^ np.uint64(0x736F6D6570736575)
    b = key[1] ^ np.uint64(0x646F72616E646F6D)
    c = key[0] ^ np.uint64(0x6C7967656E657261)
    d = key[1] ^ np.uint64(0x7465646279746573)
    for k in range(words.shape[0]):
        d ^= words[k, i]
        for _ in range(rounds):
            a, b, c, d = sip_round(a, b, c, d)
        a ^= words[k, i]
    last = np.uint64(8 * words.shape[0]) << 56
    d ^= last
    for _ in range(rounds):
        a, b, c, d = sip_round(a, b, c, d)
    a ^= last
    c ^= 0xFF
    for _ in range(final_rounds):
        a, b, c, d = sip_round(a, b, c, d)
    result[i] = a ^ b ^ c ^ d


def power_modulo(base, exponent, modulus):
    """base ** exponent % modulus, by squaring."""
    result = 1
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def miller_rabin(numbers, bases, prime):
    """Whether odd numbers below 3e9 are prime: 2, 7 and 61 as bases are enough (Jaeschke, 1993)."""
    i = cuda.grid(1)
    if i >= numbers.size:
        return
    n = numbers[i]
    odd = n - 1
    twos = 0
    while odd % 2 == 0:
        odd //= 2
        twos += 1
    passed = True
    for k in range(bases.size):
        x = power_modulo(bases[k], odd, n)
        if x == 1 or x == n - 1:
            continue
        passed = False
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                passed = True
                break
        if not passed:
            break
    prime[i] = passed


def roots_of_primes(power, count):
    """The first 32 bits of the fractions of the primes' square or cube roots: SHA-256's constants.
    """
    primes = [p for p in range(2, 400) if all(p % q for q in range(2, p))][:count]
    found = []
    for p in primes:
        target = p << (32 * power)
        root = round(p ** (1 / power) * 2**32)
        while root**power > target:
            root -= 1
        while (root + 1) ** power <= target:
            root += 1
        found.append(root & 0xFFFFFFFF)
    return np.array(found, np.uint32)


def sha_problem(rng, n):
    """n messages of 55 bytes, each padded to a block."""
    text = rng.integers(0, 256, (n, 64)).astype(np.uint8)
    text[:, 55:] = [128, 0, 0, 0, 0, 0, 0, 440 >> 8, 440 & 255]
    messages = np.ascontiguousarray(text.view(">u4").astype(np.uint32).T)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2048)
        exact = [np.frombuffer(hashlib.sha256(text[k, :55].tobytes()).digest(), ">u4") for k in some]
        return [(np.s_[:, some], np.array(exact, np.uint32).T, 0)]

    arguments = (messages, roots_of_primes(3, 64), roots_of_primes(2, 8), np.zeros((8, n), np.uint32))
    return Problem(arguments, (16, n, 64), (3,), expected, threads=n, bytes=96 * n, flops=64 * 40 * n)


def sip_problem(rng, n):
    """n texts of 19 words."""
    size, rounds, final_rounds = 19, 2, 4
    key, words = rng.integers(0, 1 << 64, 2, np.uint64), rng.integers(0, 1 << 64, (size, n), np.uint64)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1 << 16)

        def turned(x, k):
            return (x << np.uint64(k)) | (x >> np.uint64(64 - k))

        def mixed(v):
            a, b, c, d = v
            a, c = a + b, c + d
            b, d = turned(b, 13) ^ a, turned(d, 16) ^ c
            a, c = turned(a, 32) + d, c + b
            return [a, turned(b, 17) ^ c, turned(c, 32), turned(d, 21) ^ a]

        name = np.frombuffer(b"somepseudorandomlygeneratedbytes", ">u8").astype(np.uint64)
        v = [np.full(len(some), key[k % 2] ^ name[k]) for k in range(4)]
        for word in [*words[:, some], np.uint64(8 * size << 56)]:
            v[3] = v[3] ^ word
            for _ in range(rounds):
                v = mixed(v)
            v[0] = v[0] ^ word
        v[2] = v[2] ^ np.uint64(255)
        for _ in range(final_rounds):
            v = mixed(v)
        return [(some, v[0] ^ v[1] ^ v[2] ^ v[3], 0)]

    arguments = (key, words, rounds, final_rounds, np.zeros(n, np.uint64))
    return Problem(arguments, (size, n), (4,), expected, threads=n, bytes=8 * (size + 1) * n, flops=14 * 44 * n)


def prime_problem(rng, n):
    """n odd numbers from a million to three thousand millions."""
    numbers = rng.integers(500_000, 1_500_000_000, n) * 2 + 1

    def expected():
        some = sampled(np.random.default_rng(0), n, 512)
        sieve = np.ones(55_000, bool)
        for p in range(2, 235):
            sieve[p * p :: p] = False
        small = np.flatnonzero(sieve)[2:]
        return [(some, np.all(numbers[some, None] % small != 0, axis=1), 0)]

    arguments = (numbers, np.array([2, 7, 61]), np.zeros(n, np.uint8))
    return Problem(arguments, (n, 3), (2,), expected, threads=n, bytes=9 * n, flops=4 * 50 * n)


KERNELS = [
    Kernel(
        "SHA-256", sha256, "uint32[:,::1], uint32[::1], uint32[::1], uint32[:,::1]",
        256, sha_problem, gpu=2_000_003, host=120_011, test=501,
        **sides(
            "sha256",
            "const unsigned *messages, const unsigned *constants, const unsigned *start, unsigned *digest, int words, int n, "
            "int rounds",
            [("i", "0", "n")],
            """
unsigned w[16];
for (INDEX k = 0; k < words; k++)
  w[k] = messages[k * n + i];
unsigned a = start[0], b = start[1], c = start[2], d = start[3];
unsigned e = start[4], f = start[5], g = start[6], h = start[7];
for (INDEX k = 0; k < rounds; k++) {
  unsigned word = w[k % 16];
  unsigned mixed = sha_rotated(e, 6) ^ sha_rotated(e, 11) ^ sha_rotated(e, 25);
  unsigned one = h + mixed + ((e & f) ^ (~e & g)) + constants[k] + word;
  unsigned two = (sha_rotated(a, 2) ^ sha_rotated(a, 13) ^ sha_rotated(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
  h = g;
  g = f;
  f = e;
  e = d + one;
  d = c;
  c = b;
  b = a;
  a = one + two;
  unsigned before = w[(k + 1) % 16], latest = w[(k + 14) % 16];
  unsigned s0 = sha_rotated(before, 7) ^ sha_rotated(before, 18) ^ (before >> 3);
  unsigned s1 = sha_rotated(latest, 17) ^ sha_rotated(latest, 19) ^ (latest >> 10);
  w[k % 16] = word + s0 + w[(k + 9) % 16] + s1;
}
digest[i] = start[0] + a;
digest[n + i] = start[1] + b;
digest[2 * (INDEX)n + i] = start[2] + c;
digest[3 * (INDEX)n + i] = start[3] + d;
digest[4 * (INDEX)n + i] = start[4] + e;
digest[5 * (INDEX)n + i] = start[5] + f;
digest[6 * (INDEX)n + i] = start[6] + g;
digest[7 * (INDEX)n + i] = start[7] + h;
""",
            helpers="""
FUNCTION unsigned sha_rotated(unsigned x, int k) {
  return (x >> k) | (x << (32 - k));
}
""",
        ),
    ),
    Kernel(
        "SipHash", siphash, "uint64[::1], uint64[:,::1], pyint, pyint, uint64[::1]",
        256, sip_problem, gpu=4_000_037, host=500_009, test=1003,
        **sides(
            "siphash",
            "const unsigned long long *key, const unsigned long long *words, int rounds, int final_rounds, "
            "unsigned long long *result, int size, int n",
            [("i", "0", "n")],
            """
unsigned long long a = key[0] ^ 0x736f6d6570736575ull, b = key[1] ^ 0x646f72616e646f6dull;
unsigned long long c = key[0] ^ 0x6c7967656e657261ull, d = key[1] ^ 0x7465646279746573ull;
for (INDEX k = 0; k < size; k++) {
  d ^= words[k * n + i];
  for (INDEX r = 0; r < rounds; r++)
    sip_mix(&a, &b, &c, &d);
  a ^= words[k * n + i];
}
unsigned long long last = (unsigned long long)(8 * size) << 56;
d ^= last;
for (INDEX r = 0; r < rounds; r++)
  sip_mix(&a, &b, &c, &d);
a ^= last;
c ^= 0xff;
for (INDEX r = 0; r < final_rounds; r++)
  sip_mix(&a, &b, &c, &d);
result[i] = a ^ b ^ c ^ d;
""",
            helpers="""
FUNCTION unsigned long long sip_rotated(unsigned long long x, int k) {
  return (x << k) | (x >> (64 - k));
}
FUNCTION void sip_mix(unsigned long long *a, unsigned long long *b, unsigned long long *c, unsigned long long *d) {
  *a += *b;
  *b = sip_rotated(*b, 13) ^ *a;
  *a = sip_rotated(*a, 32);
  *c += *d;
  *d = sip_rotated(*d, 16) ^ *c;
  *a += *d;
  *d = sip_rotated(*d, 21) ^ *a;
  *c += *b;
  *b = sip_rotated(*b, 17) ^ *c;
  *c = sip_rotated(*c, 32);
}
""",
        ),
    ),
    Kernel(
        "Miller and Rabin's test", miller_rabin, "int64[::1], int64[::1], uint8[::1]",
        256, prime_problem, gpu=1_000_003, host=120_011, test=501, kind="irregular",
        **sides(
            "miller_rabin", "const long long *numbers, const long long *bases, unsigned char *prime, int size, int count",
            [("i", "0", "size")],
            """
long long n = numbers[i], odd = n - 1;
INDEX twos = 0;
while (odd % 2 == 0) {
  odd /= 2;
  twos++;
}
int passed = 1;
for (INDEX k = 0; k < count; k++) {
  long long x = rabin_power(bases[k], odd, n);
  if (x == 1 || x == n - 1)
    continue;
  passed = 0;
  for (INDEX r = 0; r < twos - 1; r++) {
    x = x * x % n;
    if (x == n - 1) {
      passed = 1;
      break;
    }
  }
  if (!passed)
    break;
}
prime[i] = passed;
""",
            helpers="""
FUNCTION long long rabin_power(long long base, long long exponent, long long modulus) {
  long long result = 1;
  base %= modulus;
  while (exponent > 0) {
    if (exponent & 1)
      result = result * base % modulus;
    base = base * base % modulus;
    exponent >>= 1;
  }
  return result;
}
""",
        ),
    ),
]  # fmt: skip
