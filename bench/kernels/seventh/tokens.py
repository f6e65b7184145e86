"""Tokens: the gradient of their embedding, the experts they go to."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sum_bound
from kernels.texts import each, indexed
from pyptx import cuda, float32


def embedding_gradient(tokens, gradient, padding, table):
    """Adds the gradient of each token to its row of the table; padding has none."""
    col, row = cuda.grid(2)
    if row < gradient.shape[0] and col < gradient.shape[1]:
        token = tokens[row]
        if token != padding:
            cuda.atomic.add(table, (token, col), gradient[row, col])


def top2_gates(logits, chosen, shares, load):
    """The two best experts of each token, their shares, and how many tokens each expert gets."""
    i = cuda.grid(1)
    if i >= logits.shape[0]:
        return
    first = 0
    second = -1
    high = logits[i, 0]
    next_high = float32(-3.0e38)
    for e in range(1, logits.shape[1]):
        v = logits[i, e]
        if v > high:
            next_high = high
            second = first
            high = v
            first = e
        elif v > next_high:
            next_high = v
            second = e
    share = 1 / (1 + math.exp(next_high - high))
    chosen[i, 0] = first
    chosen[i, 1] = second
    shares[i, 0] = share
    shares[i, 1] = 1 - share
    cuda.atomic.add(load, first, 1)
    cuda.atomic.add(load, second, 1)


def gradient_problem(rng, n):
    words, width, padding = 5003, 150, 0
    tokens = np.minimum(rng.zipf(1.2, n) - 1, words - 1).astype(np.int32)
    tokens[rng.random(n) < 0.1] = padding
    gradient = rng.standard_normal((n, width), dtype=np.float32)

    def expected():
        kept = np.where((tokens != padding)[:, None], gradient.astype(float), 0)
        table, sizes = np.zeros((words, width)), np.zeros((words, width))
        np.add.at(table, tokens, kept)
        np.add.at(sizes, tokens, np.abs(kept))
        return [(slice(None), table, sum_bound(np.bincount(tokens, minlength=words)[:, None], sizes))]

    args = (tokens, gradient, padding, np.zeros((words, width), np.float32))
    return Problem(args, (n, width), (3,), expected, threads=(width, n), bytes=12.0 * gradient.size)


def gates_problem(rng, n):
    experts = 29
    logits = rng.standard_normal((n, experts), dtype=np.float32) * np.float32(2)

    def expected():
        first = logits.argmax(1)
        rest = logits.copy()
        rest[np.arange(n), first] = -np.inf
        second = rest.argmax(1)
        chosen = np.stack([first, second], 1).astype(np.int32)
        high, low = np.take_along_axis(logits.astype(float), chosen, 1).T
        share = 1 / (1 + np.exp(low - high))
        shares = np.stack([share, 1 - share], 1)
        load = np.bincount(chosen.ravel(), minlength=experts).astype(np.int32)
        # A difference below 24 rounded once is 12 eps of a share; 4 more for the exponential, sum and division.
        return [(slice(None), chosen, 0), (slice(None), shares, 16 * EPS32), (slice(None), load, 0)]

    outputs = (np.zeros((n, 2), np.int32), np.zeros((n, 2), np.float32), np.zeros(experts, np.int32))
    return Problem((logits, *outputs), (n, experts), (1, 2, 3), expected, threads=n, bytes=4.0 * logits.size)


GRADIENT_HEAD = """embedding_gradient(const int *__restrict__ tokens, const float *__restrict__ gradient, int padding,
                        float *__restrict__ table, int rows, int cols)"""
GRADIENT = indexed(
    f"""
__global__ void {GRADIENT_HEAD} {{
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (row < rows && col < cols) {{
    int token = tokens[row];
    if (token != padding) atomicAdd(&table[token * (INDEX)cols + col], gradient[row * cols + col]);
  }}
}}
""",
    f"""
void {GRADIENT_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++)
    if (tokens[row] != padding)
      for (INDEX col = 0; col < cols; col++) {{
#pragma omp atomic
        table[tokens[row] * cols + col] += gradient[row * cols + col];
      }}
}}
""",
)

GATES = each(
    """top2_gates(const float *__restrict__ logits, int *__restrict__ chosen, float *__restrict__ shares,
                int *__restrict__ load, int n, int experts)""",
    """
    INDEX first = 0, second = -1;
    float high = logits[i * experts], next_high = -3.0e38f;
    for (INDEX e = 1; e < experts; e++) {
      float v = logits[i * experts + e];
      if (v > high) {
        next_high = high;
        second = first;
        high = v;
        first = e;
      } else if (v > next_high) {
        next_high = v;
        second = e;
      }
    }
    float share = 1 / (1 + expf(next_high - high));
    chosen[2 * i] = first;
    chosen[2 * i + 1] = second;
    shares[2 * i] = share;
    shares[2 * i + 1] = 1 - share;
    ADD_ONE load[first] DONE;
    ADD_ONE load[second] DONE;
""",
)
GATES = {
    text: body.replace("ADD_ONE", '_Pragma("omp atomic") ++' if text == "openmp" else "atomicAdd(&")
    .replace(" DONE", "" if text == "openmp" else ", 1)")
    for text, body in GATES.items()
}

KERNELS = [
    Kernel(
        "gradient of an embedding", embedding_gradient,
        "int32[::1], float32[:,::1], pyint, float32[:,::1]", (32, 8), gradient_problem,
        gpu=60_013, host=1003, test=203, kind="irregular", **GRADIENT,
    ),
    Kernel(
        "gates of two experts", top2_gates, "float32[:,::1], int32[:,::1], float32[:,::1], int32[::1]", 128,
        gates_problem,
        gpu=500_009, host=20_011, test=303, **GATES,
    ),
]  # fmt: skip
