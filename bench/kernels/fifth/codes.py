"""Hashes, codes and hidden states: Rabin and Karp's search, MurmurHash3, parity of Reed and Solomon's code, Viterbi's
paths.
"""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, uint8

PARITY = 16


def rabin_karp(text, pattern, target, top_power, span, counts):
    """A rolling hash over span starts a thread; equal hashes are compared byte by byte."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    m = pattern.size
    first = i * span
    last = min(first + span, text.size - m + 1)
    found = 0
    if first < last:
        h = np.uint32(0)
        for k in range(m):
            h = h * 257 + text[first + k]
        for start in range(first, last):
            if h == target:
                same = True
                for k in range(m):
                    if text[start + k] != pattern[k]:
                        same = False
                        break
                if same:
                    found += 1
            if start + m < text.size:
                h = (h - text[start] * top_power) * 257 + text[start + m]
    counts[i] = found


def rotl(x, r):
    return (x << r) | (x >> (32 - r))


def murmur3(words, starts, seed, out):
    """MurmurHash3 (32 bits) of records of whole words."""
    i = cuda.grid(1)
    if i < out.size:
        h = seed
        for k in range(starts[i], starts[i + 1]):
            v = words[k] * 0xCC9E2D51
            v = rotl(v, 15) * 0x1B873593
            h = rotl(h ^ v, 13) * 5 + 0xE6546B64
        h ^= np.uint32(4 * (starts[i + 1] - starts[i]))
        h ^= h >> 16
        h *= 0x85EBCA6B
        h ^= h >> 13
        h *= 0xC2B2AE35
        h ^= h >> 16
        out[i] = h


def reed_solomon(data, log, exp, generator, parity):
    """16 parity bytes of a codeword a thread; tables of GF(256) in shared memory."""
    logs = cuda.shared.array(256, uint8)
    exps = cuda.shared.array(512, uint8)
    t = cuda.threadIdx.x
    for k in range(t, 256, cuda.blockDim.x):
        logs[k] = log[k]
    for k in range(t, 512, cuda.blockDim.x):
        exps[k] = exp[k]
    cuda.syncthreads()
    i = cuda.grid(1)
    length, n = data.shape
    if i >= n:
        return
    rest = cuda.local.array(PARITY, uint8)
    for j in range(PARITY):
        rest[j] = 0
    for k in range(length):
        feedback = data[k, i] ^ rest[0]
        for j in range(PARITY - 1):
            rest[j] = rest[j + 1]
        rest[PARITY - 1] = 0
        if feedback != 0:
            power = int(logs[feedback])
            for j in range(PARITY):
                rest[j] ^= exps[power + generator[j]]
    for j in range(PARITY):
        parity[j, i] = rest[j]


def viterbi(trans, emit, symbols, back, score):
    """A sequence a block, a state a thread (96 at most); back has the best predecessors."""
    best = cuda.shared.array((2, 96), float32)
    seq = cuda.blockIdx.x
    s = cuda.threadIdx.x
    states = trans.shape[0]
    steps = symbols.shape[1]
    if s < states:
        best[0, s] = emit[s, symbols[seq, 0]]
    cuda.syncthreads()
    now = 0
    for t in range(1, steps):
        if s < states:
            top = best[now, 0] + trans[0, s]
            who = 0
            for p in range(1, states):
                v = best[now, p] + trans[p, s]
                if v > top:
                    top = v
                    who = p
            best[1 - now, s] = top + emit[s, symbols[seq, t]]
            back[seq, t, s] = who
        now = 1 - now
        cuda.syncthreads()
    if s == 0:
        top = best[now, 0]
        for p in range(1, states):
            top = max(top, best[now, p])
        score[seq] = top


def rabin_problem(rng, n):
    text = rng.integers(97, 101, n, dtype=np.uint8)
    pattern, span = text[500 : 500 + 7].copy(), 61
    m, threads = 7, -(-n // 61)
    h = 0
    for c in pattern:
        h = (h * 257 + int(c)) % 2**32

    def expected():
        hit = np.ones(n - m + 1, bool)
        for k in range(m):
            hit &= text[k : n - m + 1 + k] == pattern[k]
        counts = np.zeros(threads * span, np.int32)
        counts[: hit.size] = hit
        return [(slice(None), counts.reshape(threads, span).sum(1).astype(np.int32), 0)]

    args = (text, pattern, np.uint32(h), np.uint32(pow(257, m - 1, 2**32)), span, np.zeros(threads, np.int32))
    return Problem(args, (n, m, threads), (5,), expected, threads=threads, bytes=float(n))


def murmur_problem(rng, n):
    lengths = rng.integers(1, 30, n)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    words, seed = rng.integers(0, 2**32, starts[-1], dtype=np.uint32), np.uint32(1234567)
    out = np.zeros(n, np.uint32)

    def expected():
        at = sampled(rng, n, 50000)
        h = np.full(at.size, seed)
        U = np.uint32

        def rot(x, r):
            return (x << U(r)) | (x >> U(32 - r))

        for k in range(30):
            live = k < lengths[at]
            v = words[np.minimum(starts[at] + k, words.size - 1)]
            v = rot(v * U(0xCC9E2D51), 15) * U(0x1B873593)
            h = np.where(live, rot(h ^ v, 13) * U(5) + U(0xE6546B64), h)
        h = h ^ (4 * lengths[at]).astype(U)
        h = (h ^ (h >> U(16))) * U(0x85EBCA6B)
        h = (h ^ (h >> U(13))) * U(0xC2B2AE35)
        return [(at, h ^ (h >> U(16)), 0)]

    return Problem((words, starts, seed, out), (n,), (3,), expected, threads=n, bytes=4.0 * words.size + 8 * n)


def reed_problem(rng, n):
    exp, log, x = np.zeros(512, np.uint8), np.zeros(256, np.uint8), 1
    for k in range(255):
        exp[k] = exp[k + 255] = x
        log[x] = k
        x = x * 2 ^ (0x11D if x & 128 else 0)

    def mul(a, b):
        return int(exp[int(log[a]) + int(log[b])]) if a and b else 0

    g = [1]
    for k in range(PARITY):
        root = int(exp[k])
        g = [(g[j] if j < len(g) else 0) ^ (mul(g[j - 1], root) if j else 0) for j in range(len(g) + 1)]
    generator = log[np.array(g[1:])].astype(np.int32)
    length = 101
    data = rng.integers(0, 256, (length, n), dtype=np.uint8)

    def expected():
        rest = np.zeros((PARITY, n), np.uint8)
        for k in range(length):
            f = data[k] ^ rest[0]
            rest = np.concatenate([rest[1:], np.zeros((1, n), np.uint8)])
            for j in range(PARITY):
                rest[j] ^= np.where(f != 0, exp[log[f].astype(np.int32) + generator[j]], 0).astype(np.uint8)
        return [(slice(None), rest, 0)]

    return Problem((data, log, exp, generator, np.zeros((PARITY, n), np.uint8)), (length, n), (4,), expected, threads=n)


def viterbi_problem(rng, n):
    states, letters, steps = 75, 21, 37
    trans, emit = (np.float32(np.log(rng.dirichlet(np.ones(size), states))) for size in (states, letters))
    symbols = rng.integers(0, letters, (n, steps)).astype(np.int32)
    back, score = np.zeros((n, steps, states), np.uint8), np.zeros(n, np.float32)

    def expected():
        at = sampled(rng, n, 60)
        best = emit[:, symbols[at, 0]].T
        who = np.zeros((at.size, steps, states), np.uint8)
        for t in range(1, steps):
            v = best[:, :, None] + trans
            who[:, t] = v.argmax(1)
            best = v.max(1) + emit[:, symbols[at, t]].T
        return [(at, who, 0), (at, best.max(1), 0)]

    return Problem((trans, emit, symbols, back, score), (n, states, letters, steps), (3, 4), expected, grid=n)


RABIN = each(
    """rabin_karp(const unsigned char *text, const unsigned char *pattern, unsigned target, unsigned top_power,
                int span, int *counts, int n, int m, int threads)""",
    """
    INDEX first = i * span, last = MIN(first + span, (INDEX)n - m + 1), found = 0;
    if (first < last) {
      unsigned h = 0;
      for (INDEX k = 0; k < m; k++)
        h = h * 257 + text[first + k];
      for (INDEX start = first; start < last; start++) {
        if (h == target) {
          int same = 1;
          for (INDEX k = 0; k < m; k++)
            if (text[start + k] != pattern[k]) {
              same = 0;
              break;
            }
          if (same) found++;
        }
        if (start + m < n)
          h = (h - text[start] * top_power) * 257 + text[start + m];
      }
    }
    counts[i] = found;
""",
    extent="threads",
)

MURMUR = each(
    "murmur3(const unsigned *words, const int *starts, unsigned seed, unsigned *out, int n)",
    """
    unsigned h = seed;
    INDEX end = starts[i + 1];
    for (INDEX k = starts[i]; k < end; k++) {
      unsigned v = words[k] * 0xcc9e2d51u;
      v = murmur_rotl(v, 15) * 0x1b873593u;
      h = murmur_rotl(h ^ v, 13) * 5 + 0xe6546b64u;
    }
    h ^= 4u * (starts[i + 1] - starts[i]);
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    out[i] = h;
""",
    before="""
DEVICE unsigned murmur_rotl(unsigned x, INDEX r) { return (x << r) | (x >> (32 - r)); }
""",
)

REED_HEAD = """reed_solomon(const unsigned char *data, const unsigned char *log, const unsigned char *exp,
                  const int *generator, unsigned char *parity, int length, int n)"""
REED_BODY = """
    unsigned char rest[16];
    for (INDEX j = 0; j < 16; j++)
      rest[j] = 0;
    for (INDEX k = 0; k < length; k++) {
      unsigned char feedback = data[k * n + i] ^ rest[0];
      for (INDEX j = 0; j < 15; j++)
        rest[j] = rest[j + 1];
      rest[15] = 0;
      if (feedback != 0) {
        INDEX power = logs[feedback];
        for (INDEX j = 0; j < 16; j++)
          rest[j] ^= exps[power + generator[j]];
      }
    }
    for (INDEX j = 0; j < 16; j++)
      parity[j * n + i] = rest[j];
"""
REED = indexed(
    f"""
__global__ void {REED_HEAD} {{
  __shared__ unsigned char logs[256];
  __shared__ unsigned char exps[512];
  for (INDEX k = threadIdx.x; k < 256; k += blockDim.x)
    logs[k] = log[k];
  for (INDEX k = threadIdx.x; k < 512; k += blockDim.x)
    exps[k] = exp[k];
  __syncthreads();
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  if (i < n) {{{REED_BODY}  }}
}}
""",
    f"""
void {REED_HEAD} {{
  const unsigned char *logs = log, *exps = exp;
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{REED_BODY}  }}
}}
""",
)

VITERBI_HEAD = """viterbi(const float *trans, const float *emit, const int *symbols, unsigned char *back, float *score,
             int n, int states, int letters, int steps)"""
VITERBI = indexed(
    f"""
__global__ void {VITERBI_HEAD} {{
  __shared__ float best[2][96];
  INDEX seq = blockIdx.x, s = threadIdx.x, now = 0;
  if (s < states)
    best[0][s] = emit[s * letters + symbols[seq * steps]];
  __syncthreads();
  for (INDEX t = 1; t < steps; t++) {{
    if (s < states) {{
      float top = best[now][0] + trans[s];
      INDEX who = 0;
      for (INDEX p = 1; p < states; p++) {{
        float v = best[now][p] + trans[p * states + s];
        if (v > top) {{
          top = v;
          who = p;
        }}
      }}
      best[1 - now][s] = top + emit[s * letters + symbols[seq * steps + t]];
      back[(seq * steps + t) * states + s] = who;
    }}
    now = 1 - now;
    __syncthreads();
  }}
  if (s == 0) {{
    float top = best[now][0];
    for (INDEX p = 1; p < states; p++)
      top = fmaxf(top, best[now][p]);
    score[seq] = top;
  }}
}}
""",
    f"""
void {VITERBI_HEAD} {{
#pragma omp parallel for
  for (INDEX seq = 0; seq < n; seq++) {{
    float best[96], next[96];
    for (INDEX s = 0; s < states; s++)
      best[s] = emit[s * letters + symbols[seq * steps]];
    for (INDEX t = 1; t < steps; t++) {{
      unsigned char *who = back + (seq * steps + t) * states;
      for (INDEX s = 0; s < states; s++) {{
        next[s] = best[0] + trans[s];
        who[s] = 0;
      }}
      for (INDEX p = 1; p < states; p++)
        for (INDEX s = 0; s < states; s++) {{
          float v = best[p] + trans[p * states + s];
          if (v > next[s]) {{
            next[s] = v;
            who[s] = p;
          }}
        }}
      for (INDEX s = 0; s < states; s++)
        best[s] = next[s] + emit[s * letters + symbols[seq * steps + t]];
    }}
    float top = best[0];
    for (INDEX s = 1; s < states; s++)
      top = fmaxf(top, best[s]);
    score[seq] = top;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "Rabin and Karp", rabin_karp, "uint8[::1], uint8[::1], uint32, uint32, pyint, int32[::1]", 128, rabin_problem,
        gpu=30_000_001, host=300_001, test=20_003, kind="irregular", **RABIN,
    ),
    Kernel(
        "MurmurHash3 of records", murmur3, "uint32[::1], int32[::1], uint32, uint32[::1]", 256, murmur_problem,
        gpu=1_000_003, host=50_003, test=2003, kind="irregular", **MURMUR,
    ),
    Kernel(
        "Reed-Solomon parity", reed_solomon,
        "uint8[:,::1], uint8[::1], uint8[::1], int32[::1], uint8[:,::1]", 128,
        reed_problem,
        gpu=100_003, host=3003, test=203, kind="shared", **REED,
    ),
    Kernel(
        "Viterbi", viterbi,
        "float32[:,::1], float32[:,::1], int32[:,::1], uint8[:,:,::1], float32[::1]", 96,
        viterbi_problem,
        gpu=2003, host=53, test=2, kind="shared", **VITERBI,
    ),
]  # fmt: skip
