"""The choice of words by language models: the threshold of top-p, a step of beam search."""

import numpy as np
from kernels.declare import Kernel, Problem, sampled
from kernels.texts import indexed
from pyptx import cuda, float32, int32


def top_p_threshold(p, share, rounds, threshold, mass, kept):
    """By halving: the largest threshold found whose probabilities sum up to the share; a block a row."""
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    n = p.shape[1]
    sums = cuda.shared.array(32, float32)
    counts = cuda.shared.array(32, int32)
    warps = cuda.blockDim.x // 32
    low = float32(0.0)
    high = float32(1.0)
    best = float32(0.0)
    number = 0
    for _ in range(rounds):
        middle = 0.5 * (low + high)
        s = float32(0.0)
        c = 0
        for k in range(t, n, cuda.blockDim.x):
            if p[row, k] >= middle:
                s += p[row, k]
                c += 1
        for d in (16, 8, 4, 2, 1):
            s += cuda.shfl_xor_sync(0xFFFFFFFF, s, d)
            c += cuda.shfl_xor_sync(0xFFFFFFFF, c, d)
        if t % 32 == 0:
            sums[t // 32] = s
            counts[t // 32] = c
        cuda.syncthreads()
        s = float32(0.0)
        c = 0
        for w in range(warps):
            s += sums[w]
            c += counts[w]
        cuda.syncthreads()
        if s >= share:
            low = middle
            best = s
            number = c
        else:
            high = middle
    if t == 0:
        threshold[row] = low
        mass[row] = best
        kept[row] = number


def beam_step(scores, logs, parents, tokens, best):
    """The best of all words after all beams, as many as there are beams; a block of 256 a sentence."""
    sentence = cuda.blockIdx.x
    t = cuda.threadIdx.x
    beams, words = logs.shape[1], logs.shape[2]
    tops = cuda.shared.array(256, float32)
    places = cuda.shared.array(256, int32)
    last = float32(3.0e38)
    last_place = -1
    for b in range(beams):
        top = float32(-3.0e38)
        place = beams * words
        for k in range(t, beams * words, cuda.blockDim.x):
            v = scores[sentence, k // words] + logs[sentence, k // words, k % words]
            if v > top and (v < last or (v == last and k > last_place)):
                top = v
                place = k
        tops[t] = top
        places[t] = place
        cuda.syncthreads()
        d = cuda.blockDim.x // 2
        while d > 0:
            if t < d:
                if tops[t + d] > tops[t] or (tops[t + d] == tops[t] and places[t + d] < places[t]):
                    tops[t] = tops[t + d]
                    places[t] = places[t + d]
            cuda.syncthreads()
            d //= 2
        last = tops[0]
        last_place = int(places[0])
        if t == 0:
            parents[sentence, b] = last_place // words
            tokens[sentence, b] = last_place % words
            best[sentence, b] = last
        cuda.syncthreads()


def threshold_problem(rng, n):
    width, rounds, share = 5003, 20, np.float32(0.9)
    w = np.exp(2.0 * rng.standard_normal((n, width)))
    # Multiples of 2**-24 with the sum 1: float32 adds them without rounding, in any order.
    parts = np.floor(w / w.sum(1, keepdims=True) * 2**24).astype(np.int64)
    parts[:, width // 3] += 2**24 - parts.sum(1)
    p = np.float32(parts / 2.0**24)

    def expected():
        at = sampled(rng, n, 200)
        v = p[at].astype(float)
        low, high, best = np.zeros(at.size), np.ones(at.size), np.zeros(at.size)
        number = np.zeros(at.size, np.int32)
        for _ in range(rounds):
            middle = 0.5 * (low + high)
            over = v >= middle[:, None]
            mass = (v * over).sum(1)
            enough = mass >= share
            low, high = np.where(enough, middle, low), np.where(enough, high, middle)
            best, number = np.where(enough, mass, best), np.where(enough, over.sum(1), number)
        return [(at, np.float32(low), 0), (at, np.float32(best), 0), (at, number.astype(np.int32), 0)]

    args = (p, share, rounds, np.zeros(n, np.float32), np.zeros(n, np.float32), np.zeros(n, np.int32))
    return Problem(args, (n, width), (3, 4, 5), expected, grid=n, bytes=4.0 * p.size)


def beam_problem(rng, n):
    beams, words = 5, 3001
    scores = np.float32(rng.uniform(-30, -20, (n, beams)))
    logs = np.float32(rng.normal(-9, 2, (n, beams, words)))

    def expected():
        at = sampled(rng, n, 200)
        total = (scores[at, :, None] + logs[at]).reshape(at.size, -1)  # one rounding, the kernel's
        order = np.argsort(-total, axis=1, kind="stable")[:, :beams]
        parents, tokens = (order // words).astype(np.int32), (order % words).astype(np.int32)
        return [(at, parents, 0), (at, tokens, 0), (at, np.take_along_axis(total, order, 1), 0)]

    outputs = (np.zeros((n, beams), np.int32), np.zeros((n, beams), np.int32), np.zeros((n, beams), np.float32))
    return Problem((scores, logs, *outputs), (n, beams, words), (2, 3, 4), expected, grid=n, bytes=4.0 * logs.size)


THRESHOLD_HEAD = """top_p_threshold(const float *p, float share, int rounds, float *threshold, float *mass, int *kept,
                     int rows, int n)"""
THRESHOLD = indexed(
    f"""
__global__ void {THRESHOLD_HEAD} {{
  __shared__ float sums[32];
  __shared__ int counts[32];
  INDEX row = blockIdx.x, t = threadIdx.x, warps = blockDim.x / 32;
  float low = 0, high = 1, best = 0;
  int number = 0;
  for (int round = 0; round < rounds; round++) {{
    float middle = 0.5f * (low + high), s = 0;
    int c = 0;
    for (INDEX k = t; k < n; k += blockDim.x) {{
      float v = p[row * n + k];
      if (v >= middle) {{
        s += v;
        c++;
      }}
    }}
    for (int d = 16; d > 0; d /= 2) {{
      s += __shfl_xor_sync(0xffffffff, s, d);
      c += __shfl_xor_sync(0xffffffff, c, d);
    }}
    if (t % 32 == 0) {{
      sums[t / 32] = s;
      counts[t / 32] = c;
    }}
    __syncthreads();
    s = 0;
    c = 0;
    for (INDEX w = 0; w < warps; w++) {{
      s += sums[w];
      c += counts[w];
    }}
    __syncthreads();
    if (s >= share) {{
      low = middle;
      best = s;
      number = c;
    }} else
      high = middle;
  }}
  if (t == 0) {{
    threshold[row] = low;
    mass[row] = best;
    kept[row] = number;
  }}
}}
""",
    f"""
void {THRESHOLD_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    float low = 0, high = 1, best = 0;
    int number = 0;
    for (int round = 0; round < rounds; round++) {{
      float middle = 0.5f * (low + high), s = 0;
      int c = 0;
#pragma omp simd reduction(+ : s, c)
      for (INDEX k = 0; k < n; k++) {{
        float v = p[row * n + k];
        if (v >= middle) {{
          s += v;
          c++;
        }}
      }}
      if (s >= share) {{
        low = middle;
        best = s;
        number = c;
      }} else
        high = middle;
    }}
    threshold[row] = low;
    mass[row] = best;
    kept[row] = number;
  }}
}}
""",
)

BEAM_HEAD = """beam_step(const float *scores, const float *logs, int *parents, int *tokens, float *best, int n,
               int beams, int words)"""
BEAM = indexed(
    f"""
__global__ void {BEAM_HEAD} {{
  __shared__ float tops[256];
  __shared__ int places[256];
  INDEX sentence = blockIdx.x, t = threadIdx.x, last_place = -1;
  float last = 3.0e38f;
  for (INDEX b = 0; b < beams; b++) {{
    float top = -3.0e38f;
    INDEX place = beams * words;
    for (INDEX k = t; k < beams * words; k += blockDim.x) {{
      float v = scores[sentence * beams + k / words] + logs[sentence * beams * words + k];
      if (v > top && (v < last || (v == last && k > last_place))) {{
        top = v;
        place = k;
      }}
    }}
    tops[t] = top;
    places[t] = place;
    __syncthreads();
    for (INDEX d = blockDim.x / 2; d > 0; d /= 2) {{
      if (t < d)
        if (tops[t + d] > tops[t] || (tops[t + d] == tops[t] && places[t + d] < places[t])) {{
          tops[t] = tops[t + d];
          places[t] = places[t + d];
        }}
      __syncthreads();
    }}
    last = tops[0];
    last_place = places[0];
    if (t == 0) {{
      parents[sentence * beams + b] = last_place / words;
      tokens[sentence * beams + b] = last_place % words;
      best[sentence * beams + b] = last;
    }}
    __syncthreads();
  }}
}}
""",
    f"""
void {BEAM_HEAD} {{
#pragma omp parallel for
  for (INDEX sentence = 0; sentence < n; sentence++) {{
    INDEX last_place = -1;
    float last = 3.0e38f;
    for (INDEX b = 0; b < beams; b++) {{
      float top = -3.0e38f;
      INDEX place = 0;
      for (INDEX k = 0; k < beams; k++)
        for (INDEX w = 0; w < words; w++) {{
          float v = scores[sentence * beams + k] + logs[(sentence * beams + k) * words + w];
          if (v > top && (v < last || (v == last && k * words + w > last_place))) {{
            top = v;
            place = k * words + w;
          }}
        }}
      last = top;
      last_place = place;
      parents[sentence * beams + b] = place / words;
      tokens[sentence * beams + b] = place % words;
      best[sentence * beams + b] = top;
    }}
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "threshold of top-p", top_p_threshold,
        "float32[:,::1], float32, pyint, float32[::1], float32[::1], int32[::1]", 256,
        threshold_problem,
        gpu=803, host=31, test=3, kind="shared", **THRESHOLD,
    ),
    Kernel(
        "a step of beam search", beam_step,
        "float32[:,::1], float32[:,:,::1], int32[:,::1], int32[:,::1], float32[:,::1]", 256,
        beam_problem,
        gpu=401, host=11, test=2, kind="shared", **BEAM,
    ),
]  # fmt: skip
