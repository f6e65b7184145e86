"""Networks: a cell of an LSTM, a row of causal attention."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled, sum_bound
from kernels.texts import indexed, plane
from pyptx import cuda, float32


def logistic(x):
    return 1 / (1 + math.exp(-x))


def lstm_cell(gates, cell, new_cell, hidden):
    """The elementwise part of an LSTM: gates i, f, g, o side by side in a row."""
    col, row = cuda.grid(2)
    width = cell.shape[1]
    if row < cell.shape[0] and col < width:
        i = logistic(gates[row, col])
        f = logistic(gates[row, width + col])
        g = math.tanh(gates[row, 2 * width + col])
        o = logistic(gates[row, 3 * width + col])
        c = f * cell[row, col] + i * g
        new_cell[row, col] = c
        hidden[row, col] = o * math.tanh(c)


def causal_row(q, k, v, scale, out):
    """Attention of one query of a head to all before it (2048 at most) and itself; a block of 128 threads."""
    scores = cuda.shared.array(2048, float32)
    parts = cuda.shared.array(4, float32)
    row = cuda.blockIdx.x
    head = cuda.blockIdx.y
    t = cuda.threadIdx.x
    width = q.shape[2]
    top = float32(-3.0e38)
    for j in range(t, row + 1, 128):
        s = float32(0.0)
        for c in range(width):
            s += q[head, row, c] * k[head, j, c]
        s *= scale
        scores[j] = s
        top = max(top, s)
    for d in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, d))
    if t % 32 == 0:
        parts[t // 32] = top
    cuda.syncthreads()
    top = max(parts[0], parts[1], parts[2], parts[3])
    cuda.syncthreads()
    total = float32(0.0)
    for j in range(t, row + 1, 128):
        e = math.exp(scores[j] - top)
        scores[j] = e
        total += e
    for d in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, d)
    if t % 32 == 0:
        parts[t // 32] = total
    cuda.syncthreads()
    total = parts[0] + parts[1] + parts[2] + parts[3]
    for c in range(t, width, 128):
        value = float32(0.0)
        for j in range(row + 1):
            value += scores[j] * v[head, j, c]
        out[head, row, c] = value / total


def lstm_problem(rng, n):
    width = 331
    gates = rng.standard_normal((n, 4 * width), dtype=np.float32) * np.float32(1.5)
    cell = rng.standard_normal((n, width), dtype=np.float32)

    def expected():
        i, f, g, o = np.split(gates.astype(float), 4, axis=1)
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        c = f * cell + i * np.tanh(g)
        # Gates are below 1 with 4 roundings, exp's argument is exact; cells are below 6: two such products.
        bound = 12 * EPS32 * (np.abs(cell) + 1)
        return [(slice(None), c, bound), (slice(None), o * np.tanh(c), bound + 6 * EPS32)]

    args = (gates, cell, np.zeros_like(cell), np.zeros_like(cell))
    return Problem(args, (n, width), (2, 3), expected, threads=(width, n), bytes=4.0 * 7 * cell.size)


def causal_problem(rng, n):
    heads, width = 7, 72
    q, k, v = (rng.standard_normal((heads, n, width), dtype=np.float32) for _ in range(3))
    scale = np.float32(1 / math.sqrt(width))

    def expected():
        at = sampled(rng, n, 64)
        s = np.einsum("hic,hjc->hij", q[:, at].astype(float), k.astype(float)) * float(scale)
        later = np.arange(n) > at[:, None]
        s[:, later] = -np.inf
        p = np.exp(s - s.max(2, keepdims=True))
        p /= p.sum(2, keepdims=True)
        size = np.einsum("hic,hjc->hij", np.abs(q[:, at]).astype(float), np.abs(k).astype(float)).max() * float(scale)
        # A score has up to width roundings of its terms' size, and its share twice that; then sums of n shares.
        relative = 2 * (sum_bound(width, size) + 4 * EPS32 * size) + sum_bound(n, 1.0) + 4 * EPS32
        mean, sizes = np.einsum("hij,hjc->hic", p, v), np.einsum("hij,hjc->hic", p, np.abs(v))
        return [((slice(None), at), mean, 2 * relative * sizes)]

    args = (q, k, v, scale, np.zeros_like(q))
    return Problem(args, (heads, n, width), (4,), expected, grid=(n, heads), flops=2.0 * heads * n * n * width)


LSTM = plane(
    """lstm_cell(const float *__restrict__ gates, const float *__restrict__ cell, float *__restrict__ new_cell,
               float *__restrict__ hidden, int rows, int cols)""",
    """
      const float *gate = gates + row * 4 * cols + col;
      float i = logistic(gate[0]), f = logistic(gate[cols]), g = tanhf(gate[2 * cols]), o = logistic(gate[3 * cols]);
      float c = f * cell[row * cols + col] + i * g;
      new_cell[row * cols + col] = c;
      hidden[row * cols + col] = o * tanhf(c);
""",
    before="DEVICE float logistic(float x) { return 1 / (1 + expf(-x)); }",
)

CAUSAL_HEAD = """causal_row(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                float scale, float *__restrict__ out, int heads, int n, int width)"""
CAUSAL = indexed(
    f"""
__global__ void {CAUSAL_HEAD} {{
  __shared__ float scores[2048], parts[4];
  INDEX row = blockIdx.x, head = blockIdx.y, t = threadIdx.x;
  const float *query = q + (head * n + row) * width;
  k += head * n * width;
  v += head * n * width;
  float top = -3.0e38f, total = 0;
  for (INDEX j = t; j <= row; j += 128) {{
    float s = 0;
    for (INDEX c = 0; c < width; c++)
      s += query[c] * k[j * width + c];
    s *= scale;
    scores[j] = s;
    top = fmaxf(top, s);
  }}
  for (int d = 16; d > 0; d /= 2)
    top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, d));
  if (t % 32 == 0) parts[t / 32] = top;
  __syncthreads();
  top = fmaxf(fmaxf(parts[0], parts[1]), fmaxf(parts[2], parts[3]));
  __syncthreads();
  for (INDEX j = t; j <= row; j += 128) {{
    float e = expf(scores[j] - top);
    scores[j] = e;
    total += e;
  }}
  for (int d = 16; d > 0; d /= 2)
    total += __shfl_xor_sync(0xffffffff, total, d);
  if (t % 32 == 0) parts[t / 32] = total;
  __syncthreads();
  total = parts[0] + parts[1] + parts[2] + parts[3];
  for (INDEX c = t; c < width; c += 128) {{
    float value = 0;
    for (INDEX j = 0; j <= row; j++)
      value += scores[j] * v[j * width + c];
    out[(head * n + row) * width + c] = value / total;
  }}
}}
""",
    f"""
void {CAUSAL_HEAD} {{
#pragma omp parallel for collapse(2) schedule(dynamic, 8)
  for (INDEX head = 0; head < heads; head++)
    for (INDEX row = 0; row < n; row++) {{
      const float *query = q + (head * n + row) * width, *keys = k + head * n * width, *values = v + head * n * width;
      float scores[2048], top = -3.0e38f, total = 0, *to = out + (head * n + row) * width;
      for (INDEX j = 0; j <= row; j++) {{
        float s = 0;
#pragma omp simd reduction(+ : s)
        for (INDEX c = 0; c < width; c++)
          s += query[c] * keys[j * width + c];
        scores[j] = s * scale;
        top = fmaxf(top, scores[j]);
      }}
      for (INDEX c = 0; c < width; c++)
        to[c] = 0;
      for (INDEX j = 0; j <= row; j++) {{
        float e = expf(scores[j] - top);
        total += e;
        for (INDEX c = 0; c < width; c++)
          to[c] += e * values[j * width + c];
      }}
      for (INDEX c = 0; c < width; c++)
        to[c] /= total;
    }}
}}
""",
)

KERNELS = [
    Kernel(
        "cell of an LSTM", lstm_cell, "float32[:,::1], float32[:,::1], float32[:,::1], float32[:,::1]", (64, 4),
        lstm_problem,
        gpu=20_011, host=503, test=23, kind="streaming", **LSTM,
    ),
    Kernel(
        "row of causal attention", causal_row,
        "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32, float32[:,:,::1]", 128, causal_problem,
        gpu=777, host=131, test=11, power=2, kind="shared", **CAUSAL,
    ),
]  # fmt: skip
