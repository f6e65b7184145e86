"""Integers of 64 bits: hashes, powers, counters. Results are equal, so the bounds are 0.

FNV-1a (Fowler, Noll and Vo), the finalizer of MurmurHash3 (Appleby), Knuth's MMIX generator,
Kernighan's count of bits, Euclid, Eratosthenes, Collatz.
"""

import math

import numpy as np
from kernels.declare import LINE, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, uint64

OFFSET, PRIME = uint64(14695981039346656037), uint64(1099511628211)


def fnv_hash(keys, hashes):
    """FNV-1a of a key's eight bytes."""
    i = cuda.grid(1)
    if i < keys.size:
        key = uint64(keys[i])
        h = OFFSET
        for _ in range(8):
            h = (h ^ (key & 255)) * PRIME
            key >>= 8
        hashes[i] = h


def hash_buckets(keys, buckets, place):
    """Which of a number of buckets, no power of two, a key belongs to."""
    i = cuda.grid(1)
    if i < keys.size:
        h = uint64(keys[i])
        h ^= h >> 33
        h *= uint64(0xFF51AFD7ED558CCD)
        h ^= h >> 33
        h *= uint64(0xC4CEB9FE1A85EC53)
        h ^= h >> 33
        place[i] = h % uint64(buckets)


def modular_power(bases, exponents, modulus, powers):
    """Powers of int64 numbers by squaring."""
    i = cuda.grid(1)
    if i >= powers.size:
        return
    base = bases[i] % modulus
    exponent = exponents[i]
    result = 1
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    powers[i] = result


def collatz_steps(start, steps):
    """Steps of n -> n / 2 or 3 n + 1 until 1, for start + i."""
    i = cuda.grid(1)
    if i < steps.size:
        n = start + i
        count = 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            count += 1
        steps[i] = count


def gcd_pairs(a, b, divisors):
    """Euclid's algorithm."""
    i = cuda.grid(1)
    if i < divisors.size:
        x = a[i]
        y = b[i]
        while y != 0:
            x, y = y, x % y
        divisors[i] = x


def sieve_segment(primes, low, composite):
    """A block for each prime marks its multiples among the numbers from `low` on."""
    p = primes[cuda.blockIdx.x]
    first = max(p * p, (low + p - 1) // p * p)
    for k in range(first - low + cuda.threadIdx.x * p, composite.size, cuda.blockDim.x * p):
        composite[k] = 1


def bit_counts(words, counts):
    """Each turn of the loop takes the lowest bit away."""
    i = cuda.grid(1)
    if i < words.size:
        word = words[i]
        count = 0
        while word != 0:
            word &= word - 1
            count += 1
        counts[i] = count


def congruential_streams(seeds, steps, sums):
    """The sum of the upper halves of `steps` numbers of a generator."""
    i = cuda.grid(1)
    if i < seeds.size:
        state = seeds[i]
        total = uint64(0)
        for _ in range(steps):
            state = state * uint64(6364136223846793005) + uint64(1442695040888963407)
            total += state >> 32
        sums[i] = total


def random_keys(rng, n):
    """n of all int64 numbers."""
    return rng.integers(-(2**63), 2**63, n)


def fnv_problem(rng, n):
    """n random keys."""
    keys = random_keys(rng, n)

    def expected():
        some = sampled(np.random.default_rng(0), n, 10000)
        key, h = keys[some].view(np.uint64), np.full(len(some), OFFSET)
        for _ in range(8):
            h = (h ^ (key & np.uint64(255))) * PRIME
            key = key >> np.uint64(8)
        return [(some, h, 0)]

    return Problem((keys, np.zeros(n, np.uint64)), (n,), (1,), expected, threads=n, bytes=16 * n, flops=32 * n)


def buckets_problem(rng, n):
    """n random keys and a million buckets."""
    keys, buckets = random_keys(rng, n), 1_000_003

    def expected():
        some = sampled(np.random.default_rng(0), n, 10000)
        h = keys[some].view(np.uint64)
        h = (h ^ (h >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
        h = (h ^ (h >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
        return [(some, (h ^ (h >> np.uint64(33))) % np.uint64(buckets), 0)]

    return Problem((keys, buckets, np.zeros(n, np.int32)), (n,), (2,), expected, threads=n, bytes=12 * n, flops=10 * n)


def power_problem(rng, n):
    """Exponents of up to 40 bits, a modulus whose squares fit in 63."""
    bases, exponents, modulus = rng.integers(2, 1 << 40, n), rng.integers(0, 1 << 40, n), np.int64(2_147_483_629)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        return [(some, np.array([pow(int(bases[i]), int(exponents[i]), int(modulus)) for i in some]), 0)]

    return Problem(
        (bases, exponents, modulus, np.zeros(n, np.int64)), (n,), (3,), expected, threads=n, bytes=24 * n, flops=200 * n
    )


def collatz_problem(rng, n):
    """n numbers from a billion on, whose paths leave 32 bits."""
    start = np.int64(1_000_000_007)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        numbers, counts = start + some, np.zeros(len(some), int)
        while (more := numbers != 1).any():
            numbers = np.where(more, np.where(numbers % 2 == 0, numbers // 2, 3 * numbers + 1), 1)
            counts += more
        return [(some, counts, 0)]

    return Problem((start, np.zeros(n, np.int32)), (n,), (1,), expected, threads=n, bytes=4 * n, flops=4 * 180 * n)


def gcd_problem(rng, n):
    """n pairs of numbers of up to 62 bits with a common factor."""
    common = rng.integers(1, 1 << 20, n)
    a, b = (common * rng.integers(1, 1 << 42, n) for _ in range(2))

    def expected():
        some = sampled(np.random.default_rng(0), n, 5000)
        return [(some, np.array([math.gcd(int(a[i]), int(b[i])) for i in some]), 0)]

    return Problem((a, b, np.zeros(n, np.int64)), (n,), (2,), expected, threads=n, bytes=24 * n, flops=25 * n)


def sieve_problem(rng, n):
    """n numbers from 10^8 on, and the primes whose squares are below their end."""
    low = 100_000_000
    end = math.isqrt(low + n) + 1
    small = np.ones(end, bool)
    small[:2] = False
    for p in range(2, math.isqrt(end) + 1):
        small[p * p :: p] = False
    primes = np.flatnonzero(small).astype(np.int64)

    def expected():
        marks = np.zeros(n, np.uint8)
        for p in primes:
            marks[max(p * p, -(-low // p) * p) - low :: p] = 1
        return [(np.s_[:], marks, 0)]

    return Problem(
        (primes, low, np.zeros(n, np.uint8)), (len(primes), n), (2,), expected, grid=len(primes), bytes=n, flops=3 * n
    )


def bits_problem(rng, n):
    """n random words."""
    words = rng.integers(0, 2**64, n, np.uint64)

    def expected():
        some = sampled(np.random.default_rng(0), n, 10000)
        return [(some, np.array([int(w).bit_count() for w in words[some]]), 0)]

    return Problem((words, np.zeros(n, np.int32)), (n,), (1,), expected, threads=n, bytes=12 * n, flops=96 * n)


def streams_problem(rng, n):
    """n seeds, 211 steps of each."""
    seeds, steps = rng.integers(0, 2**64, n, np.uint64), 211

    def expected():
        some = sampled(np.random.default_rng(0), n, 5000)
        state, total = seeds[some], np.zeros(len(some), np.uint64)
        for _ in range(steps):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            total += state >> np.uint64(32)
        return [(some, total, 0)]

    return Problem(
        (seeds, steps, np.zeros(n, np.uint64)), (n,), (2,), expected, threads=n, bytes=16 * n, flops=4 * steps * n
    )


FNV = each(
    "fnv_hash(const long long *keys, unsigned long long *hashes, int n)",
    """
    unsigned long long key = keys[i], h = 14695981039346656037ull;
    for (INDEX k = 0; k < 8; k++) {
      h = (h ^ (key & 255)) * 1099511628211ull;
      key >>= 8;
    }
    hashes[i] = h;
""",
)

BUCKETS = each(
    "hash_buckets(const long long *keys, int buckets, int *place, int n)",
    """
    unsigned long long h = keys[i];
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdull;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ull;
    h ^= h >> 33;
    place[i] = h % (unsigned long long)buckets;
""",
)

POWER = each(
    "modular_power(const long long *bases, const long long *exponents, long long modulus, long long *powers, int n)",
    """
    long long base = bases[i] % modulus, exponent = exponents[i], result = 1;
    while (exponent > 0) {
      if (exponent & 1)
        result = result * base % modulus;
      base = base * base % modulus;
      exponent >>= 1;
    }
    powers[i] = result;
""",
)

COLLATZ = each(
    "collatz_steps(long long start, int *steps, int size)",
    """
    long long n = start + i;
    INDEX count = 0;
    while (n != 1) {
      if (n % 2 == 0)
        n /= 2;
      else
        n = 3 * n + 1;
      count++;
    }
    steps[i] = count;
""",
    extent="size",
)

GCD = each(
    "gcd_pairs(const long long *a, const long long *b, long long *divisors, int n)",
    """
    long long x = a[i], y = b[i];
    while (y != 0) {
      long long rest = x % y;
      x = y;
      y = rest;
    }
    divisors[i] = x;
""",
)

SIEVE = indexed(
    """
__global__ void sieve_segment(const long long *primes, int low, unsigned char *composite, int count, int n) {
  long long p = primes[blockIdx.x];
  long long first = MAX(p * p, (low + p - 1) / p * p);
  for (long long k = first - low + threadIdx.x * p; k < n; k += blockDim.x * p)
    composite[k] = 1;
}
""",
    """
void sieve_segment(const long long *primes, int low, unsigned char *composite, int count, int n) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int i = 0; i < count; i++) {
    long long p = primes[i];
    long long first = MAX(p * p, (low + p - 1) / p * p);
    for (long long k = first - low; k < n; k += p)
      composite[k] = 1;
  }
}
""",
)
del SIEVE["cuda_int"]  # the squares of the primes are no `int`

BITS = each(
    "bit_counts(const unsigned long long *words, int *counts, int n)",
    """
    unsigned long long word = words[i];
    INDEX count = 0;
    while (word != 0) {
      word &= word - 1;
      count++;
    }
    counts[i] = count;
""",
)

STREAMS = each(
    "congruential_streams(const unsigned long long *seeds, int steps, unsigned long long *sums, int n)",
    """
    unsigned long long state = seeds[i], total = 0;
    for (INDEX k = 0; k < steps; k++) {
      state = state * 6364136223846793005ull + 1442695040888963407ull;
      total += state >> 32;
    }
    sums[i] = total;
""",
)

KERNELS = [
    Kernel(
        "FNV-1a of int64 keys", fnv_hash, "int64[::1], uint64[::1]", 256, fnv_problem,
        gpu=20_000_003, host=24_000_037, test=1013, sweep=LINE, **FNV,
    ),
    Kernel(
        "buckets of int64 keys", hash_buckets, "int64[::1], pyint, int32[::1]", 256, buckets_problem,
        gpu=20_000_003, host=20_280_929, test=1013, **BUCKETS,
    ),
    Kernel(
        "modular powers", modular_power, "int64[::1], int64[::1], int64, int64[::1]", 256, power_problem,
        gpu=1_000_003, host=129_827, test=301, **POWER,
    ),
    Kernel(
        "Collatz steps", collatz_steps, "int64, int32[::1]", 256, collatz_problem,
        gpu=5_000_011, host=253_657, test=301, **COLLATZ,
    ),
    Kernel(
        "greatest common divisors", gcd_pairs, "int64[::1], int64[::1], int64[::1]", 256, gcd_problem,
        gpu=1_000_003, host=472_201, test=301, **GCD,
    ),
    Kernel(
        "sieve of a segment", sieve_segment, "int64[::1], pyint, uint8[::1]", 128, sieve_problem,
        gpu=50_000_017, host=12_000_041, test=10_007, **SIEVE,
    ),
    Kernel(
        "bits of uint64, Kernighan", bit_counts, "uint64[::1], int32[::1]", 256, bits_problem,
        gpu=10_000_019, host=12_000_041, test=1013, **BITS,
    ),
    Kernel(
        "linear congruential streams", congruential_streams, "uint64[::1], pyint, uint64[::1]", 256, streams_problem,
        gpu=2_000_003, host=200_003, test=301, **STREAMS,
    ),
]  # fmt: skip
