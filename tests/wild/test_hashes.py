"""Hashes, random numbers, bits and tables: integers that wrap."""

import math

import numpy as np
import pytest
from pyptx import cuda

M32, M64 = (1 << 32) - 1, (1 << 64) - 1


def murmur(h):
    h ^= h >> 16
    h = h * 0x85EBCA6B & M32
    h ^= h >> 13
    h = h * 0xC2B2AE35 & M32
    return h ^ h >> 16


def test_finalizer_of_murmur(jit):
    @jit
    def hashes(x, out):
        i = cuda.grid(1)
        if i < x.size:
            h = np.uint32(x[i])
            h ^= h >> np.uint32(16)
            h = np.uint32(h * np.uint32(0x85EBCA6B))
            h ^= h >> np.uint32(13)
            h = np.uint32(h * np.uint32(0xC2B2AE35))
            h ^= h >> np.uint32(16)
            out[i] = h

    x = np.random.default_rng(1).integers(0, 1 << 32, 500, dtype=np.uint32)
    out = np.zeros_like(x)
    hashes[4, 128](x, out)
    assert out.tolist() == [murmur(int(v)) for v in x]


def test_a_hash_in_uint32_tables(jit):
    """Constants in an array of uint32, so that both typings wrap alike when the result is stored."""
    constants = np.array([0xA5366B4D, 0x9E3779B9, 13], np.uint32)

    @jit
    def mix(x, out):
        i = cuda.grid(1)
        if i < x.size:
            s = np.uint32(x[i] ^ np.uint32(constants[0] * x[i]))
            s = np.uint32(s + constants[1])
            out[i] = np.uint32(s ^ (s >> constants[2]))

    x = np.random.default_rng(2).integers(0, 1 << 32, 300, dtype=np.uint32)
    out = np.zeros_like(x)
    mix[3, 100](x, out)
    for v, got in zip(x.tolist(), out.tolist()):
        s = ((v ^ (0xA5366B4D * v & M32)) + 0x9E3779B9) & M32
        assert got == s ^ s >> 13


def test_splitmix(jit):
    @jit
    def draw(seed, out):
        i = cuda.grid(1)
        if i < out.size:
            z = seed + np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            out[i] = z ^ (z >> np.uint64(31))

    out = np.zeros(200, np.uint64)
    draw[2, 128](np.uint64(42), out)
    for i, got in enumerate(out.tolist()):
        z = (42 + (i + 1) * 0x9E3779B97F4A7C15) & M64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
        z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
        assert got == z ^ z >> 31


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ k[0], b & M32, a >> 32 ^ c[3] ^ k[1], a & M32]
        k = [(k[0] + 0x9E3779B9) & M32, (k[1] + 0xBB67AE85) & M32]
    return c


def test_philox(jit):
    @jit(device=True)
    def multiply(a, b):
        p = np.uint64(a) * np.uint64(b)
        return np.uint32(p >> np.uint64(32)), np.uint32(p & np.uint64(0xFFFFFFFF))

    @jit
    def draw(seed_low, seed_high, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            c0, c1, c2, c3 = np.uint32(i), np.uint32(0), np.uint32(7), np.uint32(0)
            k0, k1 = np.uint32(seed_low), np.uint32(seed_high)
            for _ in range(10):
                h0, l0 = multiply(np.uint32(0xD2511F53), c0)
                h1, l1 = multiply(np.uint32(0xCD9E8D57), c2)
                c0, c1, c2, c3 = np.uint32(h1 ^ c1 ^ k0), l1, np.uint32(h0 ^ c3 ^ k1), l0
                k0, k1 = np.uint32(k0 + np.uint32(0x9E3779B9)), np.uint32(k1 + np.uint32(0xBB67AE85))
            out[i, 0], out[i, 1], out[i, 2], out[i, 3] = c0, c1, c2, c3

    out = np.zeros((64, 4), np.uint32)
    draw[1, 64](12345, 678, out)
    assert out.tolist() == [philox((i, 0, 7, 0), (12345, 678)) for i in range(64)]


def test_a_table_by_open_addressing(jit):
    EMPTY = -1

    @jit
    def insert(keys, table, counts):
        i = cuda.grid(1)
        if i < keys.size:
            key = keys[i]
            slot = (key * 2654435761) % table.size
            while True:
                found = cuda.atomic.cas(table, slot, EMPTY, key)
                if found == EMPTY or found == key:
                    cuda.atomic.add(counts, slot, 1)
                    break
                slot = (slot + 1) % table.size

    keys = np.random.default_rng(3).integers(0, 300, 4000)
    table, counts = np.full(512, EMPTY, np.int64), np.zeros(512, np.int64)
    insert[32, 128](keys, table, counts)
    held = table != EMPTY
    right, times = np.unique(keys, return_counts=True)
    order = np.argsort(table[held])
    assert (table[held][order] == right).all() and (counts[held][order] == times).all() and counts.sum() == 4000


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_reversed_bits_and_counts(jit, width):
    dtype = np.dtype(f"u{width // 8}")

    @jit
    def bits(x, turned, ones):
        i = cuda.grid(1)
        if i < x.size:
            v, r, n = int(x[i]), 0, 0
            for k in range(width):
                bit = (v >> k) & 1
                r = (r << 1) | bit
                n += bit
            turned[i] = r
            ones[i] = n

    x = np.random.default_rng(width).integers(0, 1 << (width - 1), 100).astype(dtype)
    turned, ones = np.zeros(100, dtype), np.zeros(100, np.int32)
    bits[1, 128](x, turned, ones)
    assert turned.tolist() == [int(f"{int(v):0{width}b}"[::-1], 2) for v in x] and ones.tolist() == [int(v).bit_count() for v in x]


def test_pi_by_many_states(jit):
    """Random points from linear congruences, counted: exact, since each state is an integer and x * x + y * y is compared in integers."""

    @jit
    def count(seeds, steps, hits):
        i = cuda.grid(1)
        if i < seeds.size:
            s, n = np.uint64(seeds[i]), 0
            for _ in range(steps):
                s = s * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                x = int(s >> np.uint64(48))
                s = s * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                y = int(s >> np.uint64(48))
                if x * x + y * y < 65536 * 65536:
                    n += 1
            cuda.atomic.add(hits, 0, n)

    seeds, hits = np.arange(1, 65, dtype=np.uint64), np.zeros(1, np.int64)
    count[1, 64](seeds, 50, hits)
    total = 0
    for s in range(1, 65):
        for _ in range(50):
            s = (s * 6364136223846793005 + 1442695040888963407) & M64
            x = s >> 48
            s = (s * 6364136223846793005 + 1442695040888963407) & M64
            total += x * x + (s >> 48) ** 2 < 65536 * 65536
    assert hits[0] == total and abs(4 * total / 3200 - math.pi) < 0.1  # 3.4 standard deviations of 3,200 draws


def test_sample_without_replacement(jit):
    """A permutation by a Feistel network that walks in its cycle until it is inside."""

    @jit(device=True)
    def round_of(x, k):
        return ((x * 0x2545) ^ (x >> 3) ^ k) & 0xFF

    @jit
    def permute(n, key, out):
        i = cuda.grid(1)
        if i < n:
            v = i
            while True:
                left, right = v >> 8, v & 0xFF
                for k in range(4):
                    left, right = right, left ^ round_of(right, key + k * 37)
                v = (left << 8) | right
                if v < n:
                    break
            out[i] = v

    for n in (1, 1000, 40000):
        out = np.zeros(n, np.int64)
        permute[(n + 127) // 128, 128](n, 99, out)
        assert (np.sort(out) == np.arange(n)).all()
