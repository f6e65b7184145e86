"""Links and discs: syndromes, polar codes, soft bits of a trellis, parities of a row of discs."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, int32, uint32, uint64


def codeword_syndromes(words, powers, logs, syndromes):
    """Reed and Solomon: syndromes of received words, Horner's rule in the field of 256 with tables of powers and logarithms."""
    i = cuda.grid(1)
    exp_of = cuda.shared.array(510, np.uint8)
    log_of = cuda.shared.array(256, np.uint8)
    for k in range(cuda.threadIdx.x, 510, cuda.blockDim.x):
        exp_of[k] = powers[k]
    for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        log_of[k] = logs[k]
    cuda.syncthreads()
    if i >= words.shape[1]:
        return
    for j in range(syndromes.shape[0]):
        s = 0
        for k in range(words.shape[0]):
            if s != 0:
                s = int(exp_of[int(log_of[s]) + j])
            s ^= int(words[k, i])
        syndromes[j, i] = s


def polar_decoded(llrs, frozen, decoded):
    """Polar codes of 64 bits, successive cancellation: likelihoods go down a tree, decided bits come up."""
    i = cuda.grid(1)
    if i >= decoded.size:
        return
    level = cuda.local.array(128, np.int32)  # of a node of m bits from place m on
    sums = cuda.local.array(7, np.uint64)  # of the left node of 2**t bits
    for k in range(64):
        level[64 + k] = llrs[k, i]
    word = uint64(0)
    for bit in range(64):
        m = 64
        if bit > 0:
            m = bit & -bit
            left = sums[m.bit_length() - 1]
            for k in range(m):
                a, b = level[2 * m + k], level[3 * m + k]
                level[m + k] = b - a if left >> k & 1 else b + a
        while m > 1:
            m //= 2
            for k in range(m):
                a, b = level[2 * m + k], level[3 * m + k]
                least = min(abs(a), abs(b))
                level[m + k] = -least if (a < 0) != (b < 0) else least
        u = 1 if level[1] < 0 and not frozen >> bit & 1 else 0
        word |= uint64(u) << bit
        here = uint64(u)
        t = 0
        while bit >> t & 1:
            here = sums[t] ^ here | here << (1 << t)
            t += 1
        sums[t] = here
    decoded[i] = word


NEXT = ((0, 2), (2, 0), (3, 1), (1, 3))
PARITY = ((0, 1), (0, 1), (1, 0), (1, 0))


def soft_bits(systematic, parity, out):
    """A trellis of four states forwards and backwards, the likeliest path for each bit: log likelihood ratios."""
    i = cuda.grid(1)
    if i >= out.shape[1]:
        return
    length = out.shape[0]
    alpha = cuda.local.array((49, 4), np.int32)
    alpha[0, 0] = 0
    for s in range(1, 4):
        alpha[0, s] = -100_000
    for t in range(length):
        x, y = int32(systematic[t, i]), int32(parity[t, i])
        for s in range(4):
            alpha[t + 1, s] = -1_000_000
        for s in range(4):
            for u in range(2):
                metric = alpha[t, s] + u * x + PARITY[s][u] * y
                to = NEXT[s][u]
                alpha[t + 1, to] = max(alpha[t + 1, to], metric)
    beta = cuda.local.array(4, np.int32)
    before = cuda.local.array(4, np.int32)
    for s in range(4):
        beta[s] = 0
    for t in range(length - 1, -1, -1):
        x, y = int32(systematic[t, i]), int32(parity[t, i])
        zero = one = -1_000_000
        for s in range(4):
            by_zero = PARITY[s][0] * y + beta[NEXT[s][0]]
            by_one = x + PARITY[s][1] * y + beta[NEXT[s][1]]
            zero = max(zero, alpha[t, s] + by_zero)
            one = max(one, alpha[t, s] + by_one)
            before[s] = max(by_zero, by_one)
        for s in range(4):
            beta[s] = before[s]
        out[t, i] = one - zero


def raid_parity(discs, p, q):
    """Two parities of a row of discs: the sum, and the sum of powers of x in the field of 256, four bytes in a word."""
    for i in range(cuda.grid(1), p.size, cuda.gridsize(1)):
        total = uint32(0)
        weighted = uint32(0)
        for d in range(discs.shape[0] - 1, -1, -1):
            word = discs[d, i]
            total ^= word
            high = weighted & 0x80808080
            weighted = (weighted << 1 & 0xFEFEFEFE) ^ (high >> 7) * 0x1D
            weighted ^= word
        p[i] = total
        q[i] = weighted


def field_tables():
    powers, x = np.zeros(510, np.uint8), 1
    for k in range(255):
        powers[k] = powers[k + 255] = x
        x = x << 1 ^ (0x11D if x & 128 else 0)
    logs = np.zeros(256, np.uint8)
    logs[powers[:255]] = np.arange(255)
    return powers, logs


def syndromes_problem(rng, n):
    length, count = 204, 16
    powers, logs = field_tables()
    words = rng.integers(0, 256, (length, n)).astype(np.uint8)
    words[:, rng.random(n) < 0.2] = 0

    def expected():
        at = sampled(rng, n, 3000)
        values = np.zeros((count, len(at)), np.uint8)
        for j in range(count):
            s = np.zeros(len(at), np.uint8)
            for k in range(length):
                s = np.where(s == 0, 0, powers[logs[s].astype(int) + j]) ^ words[k, at]
            values[j] = s
        return [((slice(None), at), values, 0)]

    args = (words, powers, logs, np.full((count, n), 99, np.uint8))
    return Problem(
        args, (length, n, count), (3,), expected, threads=n, bytes=1.0 * (length + count) * n, flops=5.0 * length * count * n,
    )  # fmt: skip


def polar_problem(rng, n):
    # The worst positions of the channel are frozen, by how fast its erasures polarise.
    z = np.array([0.4])
    for _ in range(6):
        z = np.stack([2 * z - z * z, z * z], 1).ravel()
    frozen = int(sum(1 << int(k) for k in np.argsort(z)[32:]))
    message = rng.integers(0, 2, (64, n))
    message[[frozen >> k & 1 == 1 for k in range(64)]] = 0

    def encoded(u):
        if len(u) == 1:
            return u
        a, b = encoded(u[: len(u) // 2]), encoded(u[len(u) // 2 :])
        return np.concatenate([a ^ b, b])

    llrs = np.clip(np.rint(20 * (1 - 2 * encoded(message)) + rng.normal(0, 14, (64, n))), -127, 127).astype(np.int8)

    def decode(level, first):
        if len(level) == 1:
            u = (level < 0) & (frozen >> first & 1 == 0)
            return u, u
        half = len(level) // 2
        a, b = level[:half], level[half:]
        u, x = decode(np.where((a < 0) != (b < 0), -1, 1) * np.minimum(abs(a), abs(b)), first)
        v, y = decode(np.where(x, b - a, b + a), first + half)
        return np.concatenate([u, v]), np.concatenate([x ^ y, y])

    def expected():
        at = sampled(rng, n, 5000)
        u, _ = decode(llrs[:, at].astype(np.int64), 0)
        return [(at, (u.astype(np.uint64) << np.arange(64, dtype=np.uint64)[:, None]).sum(0, dtype=np.uint64), 0)]

    args = (llrs, np.uint64(frozen), np.full(n, 99, np.uint64))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=72.0 * n, flops=64.0 * 6 * 6 * n)


def soft_problem(rng, n):
    length = 47
    systematic, parity = (rng.normal(0, 40, (length, n)).astype(np.int16) for _ in range(2))

    def expected():
        at = sampled(rng, n, 3000)
        x, y = systematic[:, at].astype(np.int64), parity[:, at].astype(np.int64)
        alpha = np.full((length + 1, 4, len(at)), -1_000_000)
        alpha[0] = [[0], [-100_000], [-100_000], [-100_000]]
        for t in range(length):
            for s in range(4):
                for u in range(2):
                    to = NEXT[s][u]
                    alpha[t + 1, to] = np.maximum(alpha[t + 1, to], alpha[t, s] + u * x[t] + PARITY[s][u] * y[t])
        beta, values = np.zeros((4, len(at)), np.int64), np.zeros((length, len(at)), np.int64)
        for t in range(length - 1, -1, -1):
            by = np.array([[u * x[t] + PARITY[s][u] * y[t] + beta[NEXT[s][u]] for u in range(2)] for s in range(4)])
            zero, one = (alpha[t][:, None] + by).max(0)
            values[t], beta = one - zero, by.max(1)
        return [((slice(None), at), values, 0)]

    args = (systematic, parity, np.full((length, n), 12345, np.int32))
    return Problem(args, (length, n), (2,), expected, threads=n, bytes=8.0 * length * n, flops=70.0 * length * n)


def raid_problem(rng, n):
    discs = rng.integers(0, 1 << 32, (11, n), np.uint64).astype(np.uint32)

    def expected():
        at = sampled(rng, n, 20000)
        words = np.ascontiguousarray(discs[:, at]).view(np.uint8).astype(int)
        q = 0
        for row in words[::-1]:
            q = (q << 1 ^ (q >> 7) * 0x11D if np.ndim(q) else 0) ^ row
        return [(at, np.bitwise_xor.reduce(discs[:, at], 0), 0), (at, q.astype(np.uint8).view(np.uint32), 0)]

    args = (discs, np.full(n, 99, np.uint32), np.full(n, 99, np.uint32))
    return Problem(args, (11, n), (1, 2), expected, grid=701, bytes=52.0 * n, flops=70.0 * n)


SYNDROMES_HEAD = """codeword_syndromes(const unsigned char *__restrict__ words, const unsigned char *__restrict__ powers,
                        const unsigned char *__restrict__ logs, unsigned char *__restrict__ syndromes, int length, int n,
                        int count)"""
SYNDROMES = indexed(
    f"""
__global__ void {SYNDROMES_HEAD} {{
  __shared__ unsigned char exp_of[510], log_of[256];
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  for (int k = threadIdx.x; k < 510; k += blockDim.x)
    exp_of[k] = powers[k];
  for (int k = threadIdx.x; k < 256; k += blockDim.x)
    log_of[k] = logs[k];
  __syncthreads();
  if (i >= n) return;
  for (INDEX j = 0; j < count; j++) {{
    int s = 0;
    for (INDEX k = 0; k < length; k++) {{
      if (s != 0) s = exp_of[log_of[s] + j];
      s ^= words[k * n + i];
    }}
    syndromes[j * n + i] = s;
  }}
}}
""",
    f"""
void {SYNDROMES_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++)
    for (INDEX j = 0; j < count; j++) {{
      int s = 0;
      for (INDEX k = 0; k < length; k++) {{
        if (s != 0) s = powers[logs[s] + j];
        s ^= words[k * n + i];
      }}
      syndromes[j * n + i] = s;
    }}
}}
""",
)

POLAR = each(
    """polar_decoded(const signed char *__restrict__ llrs, unsigned long long frozen, unsigned long long *__restrict__ decoded,
                   int n)""",
    """
    int level[128];
    unsigned long long sums[7], word = 0;
    for (INDEX k = 0; k < 64; k++)
      level[64 + k] = llrs[k * n + i];
    for (int bit = 0; bit < 64; bit++) {
      int m = 64, t = 0;
      if (bit > 0) {
        m = bit & -bit;
        while (1 << t < m) t++;
        for (int k = 0; k < m; k++) {
          int a = level[2 * m + k], b = level[3 * m + k];
          level[m + k] = sums[t] >> k & 1 ? b - a : b + a;
        }
      }
      while (m > 1) {
        m /= 2;
        for (int k = 0; k < m; k++) {
          int a = level[2 * m + k], b = level[3 * m + k], c = a < 0 ? -a : a, d = b < 0 ? -b : b, least = MIN(c, d);
          level[m + k] = (a < 0) != (b < 0) ? -least : least;
        }
      }
      unsigned long long here = level[1] < 0 && !(frozen >> bit & 1);
      word |= here << bit;
      for (t = 0; bit >> t & 1; t++)
        here = (sums[t] ^ here) | here << (1 << t);
      sums[t] = here;
    }
    decoded[i] = word;
""",
)

SOFT = each(
    "soft_bits(const short *__restrict__ systematic, const short *__restrict__ parity, int *__restrict__ out, int length, int n)",
    """
    const int next[4][2] = {{0, 2}, {2, 0}, {3, 1}, {1, 3}}, coded[4][2] = {{0, 1}, {0, 1}, {1, 0}, {1, 0}};
    int alpha[49][4] = {{0, -100000, -100000, -100000}}, beta[4] = {0};
    for (INDEX t = 0; t < length; t++) {
      int x = systematic[t * n + i], y = parity[t * n + i];
      for (int s = 0; s < 4; s++)
        alpha[t + 1][s] = -1000000;
      for (int s = 0; s < 4; s++)
        for (int u = 0; u < 2; u++) {
          int metric = alpha[t][s] + u * x + coded[s][u] * y, to = next[s][u];
          alpha[t + 1][to] = MAX(alpha[t + 1][to], metric);
        }
    }
    for (INDEX t = length - 1; t >= 0; t--) {
      int x = systematic[t * n + i], y = parity[t * n + i], zero = -1000000, one = -1000000, before[4];
      for (int s = 0; s < 4; s++) {
        int by_zero = coded[s][0] * y + beta[next[s][0]], by_one = x + coded[s][1] * y + beta[next[s][1]];
        zero = MAX(zero, alpha[t][s] + by_zero);
        one = MAX(one, alpha[t][s] + by_one);
        before[s] = MAX(by_zero, by_one);
      }
      for (int s = 0; s < 4; s++)
        beta[s] = before[s];
      out[t * n + i] = one - zero;
    }
""",
)

RAID_HEAD = "raid_parity(const unsigned *__restrict__ discs, unsigned *__restrict__ p, unsigned *__restrict__ q, int count, int n)"
RAID_BODY = """
    unsigned total = 0, weighted = 0;
    for (INDEX d = count - 1; d >= 0; d--) {
      unsigned word = discs[d * n + i], high = weighted & 0x80808080u;
      total ^= word;
      weighted = ((weighted << 1) & 0xFEFEFEFEu) ^ (high >> 7) * 0x1D;
      weighted ^= word;
    }
    p[i] = total;
    q[i] = weighted;
"""
RAID = indexed(
    f"""
__global__ void {RAID_HEAD} {{
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (INDEX)blockDim.x) {{{RAID_BODY}  }}
}}
""",
    f"""
void {RAID_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{RAID_BODY}  }}
}}
""",
)

KERNELS = [
    Kernel(
        "syndromes of words", codeword_syndromes, "uint8[:,::1], uint8[::1], uint8[::1], uint8[:,::1]", 128, syndromes_problem,
        gpu=50_021, host=1003, test=203, kind="shared", **SYNDROMES,
    ),
    Kernel(
        "polar codes decoded", polar_decoded, "int8[:,::1], uint64, uint64[::1]", 64, polar_problem, gpu=100_003, host=2003,
        test=203, kind="irregular", **POLAR,
    ),
    Kernel(
        "soft bits of a trellis", soft_bits, "int16[:,::1], int16[:,::1], int32[:,::1]", 64, soft_problem, gpu=200_003,
        host=3001, test=203, **SOFT,
    ),
    Kernel(
        "parities of discs", raid_parity, "uint32[:,::1], uint32[::1], uint32[::1]", 256, raid_problem, gpu=10_000_019,
        host=100_003, test=5003, kind="streaming", **RAID,
    ),
]  # fmt: skip
