"""Layers of networks: weights of four bits, norms of sums, attention that fades; and plans of a robot."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32, uint8


def nibble_groups(weights, scales, packed):
    """Weights in groups of 64 as four bits each, a warp a group: its largest is 7, two numbers a byte."""
    i = cuda.grid(1)
    group = i // 32
    lane = i % 32
    if group >= scales.size:
        return
    a = weights[group, 2 * lane]
    b = weights[group, 2 * lane + 1]
    most = max(abs(a), abs(b))
    for step in (16, 8, 4, 2, 1):
        most = max(most, cuda.shfl_xor_sync(0xFFFFFFFF, most, step))
    scale = most / 7
    low = high = 8
    if scale > 0:
        low = round(a / scale) + 8
        high = round(b / scale) + 8
    packed[group, lane] = uint8(low | high << 4)
    if lane == 0:
        scales[group] = scale


def rms_residual(stream, update, weight, eps, normed):
    """An update is added to a stream, and the sum divided by its root mean square; a block a row."""
    row = cuda.blockIdx.x
    tx = cuda.threadIdx.x
    width = stream.shape[1]
    parts = cuda.shared.array(32, np.float32)
    total = float32(0)
    for k in range(tx, width, cuda.blockDim.x):
        x = stream[row, k] + update[row, k]
        stream[row, k] = x
        total += x * x
    offset = 16
    while offset > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, offset)
        offset //= 2
    if tx % 32 == 0:
        parts[tx // 32] = total
    cuda.syncthreads()
    total = float32(0)
    for w in range(cuda.blockDim.x // 32):
        total += parts[w]
    scale = 1 / math.sqrt(total / width + eps)
    for k in range(tx, width, cuda.blockDim.x):
        normed[row, k] = stream[row, k] * scale * weight[k]


def fading_attention(queries, keys, values, fade, out):
    """Attention without softmax that fades: each column of a head's state takes keys times its value, times a factor a step."""
    col, head = cuda.grid(2)
    if col >= values.shape[2] or head >= values.shape[1]:
        return
    state = cuda.local.array(16, np.float32)
    for d in range(16):
        state[d] = 0
    keep = fade[head]
    for t in range(values.shape[0]):
        v = values[t, head, col]
        total = float32(0)
        for d in range(16):
            state[d] = keep * state[d] + keys[t, head, d] * v
            total += queries[t, head, d] * state[d]
        out[t, head, col] = total


def rollout_costs(noise, plan, obstacles, goal_x, goal_y, dt, costs):
    """Plans of a robot with noise on speed and turn, driven out: how far it stays from the goal, how near to obstacles."""
    i = cuda.grid(1)
    if i >= costs.size:
        return
    x = y = angle = float32(0)
    cost = float32(0)
    for t in range(plan.shape[0]):
        speed = min(max(plan[t, 0] + noise[t, 0, i], 0), 2)
        turn = min(max(plan[t, 1] + noise[t, 1, i], -1), 1)
        angle += dt * turn
        x += dt * speed * math.cos(angle)
        y += dt * speed * math.sin(angle)
        cost += math.hypot(goal_x - x, goal_y - y)
        for ox, oy, radius in obstacles:
            near = radius - math.sqrt((x - ox) ** 2 + (y - oy) ** 2)
            if near > 0:
                cost += 100 * near * near
    costs[i] = cost


def nibbles_problem(rng, n):
    weights = (rng.standard_normal((n, 64)) * 10 ** rng.uniform(-3, 1, (n, 1))).astype(np.float32)
    weights[n // 2] = 0

    def expected():
        at = sampled(rng, n, 5000)
        w = weights[at]
        scale = abs(w).max(1) / np.float32(7)
        q = np.rint(w / np.where(scale > 0, scale, 1)[:, None]).astype(int) + 8
        return [(at, scale, 0), (at, q[:, ::2] | q[:, 1::2] << 4, 0)]

    args = (weights, np.full(n, -1, np.float32), np.full((n, 32), 255, np.uint8))
    return Problem(args, (n,), (1, 2), expected, threads=32 * n, bytes=292.0 * n, flops=64 * 6.0 * n)


def rms_problem(rng, n):
    width = 1531
    stream, update = rng.standard_normal((2, n, width), np.float32)
    weight, eps = rng.uniform(0.5, 1.5, width).astype(np.float32), np.float32(1e-5)
    before = stream.copy()

    def expected():
        at = sampled(rng, n, 200)
        x = before[at] + update[at]
        scale = 1 / np.sqrt((x.astype(float) ** 2).mean(1, keepdims=True) + float(eps))
        values = x * scale * weight
        return [(at, x, 0), (at, values, 40 * EPS32 * abs(values))]

    args = (stream, update, weight, eps, np.full((n, width), 99, np.float32))
    return Problem(
        args, (n, width), (0, 4), expected, grid=n, bytes=16.0 * n * width, flops=5.0 * n * width, sequential=20.0,
    )  # fmt: skip


def fading_problem(rng, n):
    length, heads, cols = n, 96, 77
    queries, keys = rng.standard_normal((2, length, heads, 16), np.float32)
    values = rng.standard_normal((length, heads, cols), np.float32)
    fade = rng.uniform(0.8, 0.99, heads).astype(np.float32)

    def expected():
        state, size = np.zeros((2, heads, 16, cols))
        total, bound = np.zeros((2, length, heads, cols))
        f = fade.astype(float)[:, None, None]
        for t in range(length):
            k, v, q = keys[t].astype(float)[:, :, None], values[t].astype(float)[:, None], queries[t].astype(float)[:, :, None]
            state, size = f * state + k * v, f * size + abs(k * v)
            total[t], bound[t] = (q * state).sum(1), (abs(q) * size).sum(1)
        # A state forgets its roundings as it does its values: about 100 steps.
        return [(slice(None), total, 130 * EPS32 * bound)]

    args = (queries, keys, values, fade, np.full((length, heads, cols), 99, np.float32))
    return Problem(
        args, (length, heads, cols), (4,), expected, threads=(cols, heads), bytes=4.0 * length * heads * (32 + 2 * cols),
        flops=80.0 * length * heads * cols,
    )  # fmt: skip


def rollout_problem(rng, n):
    steps = 57
    noise = (0.3 * rng.standard_normal((steps, 2, n))).astype(np.float32)
    plan = np.stack([np.full(steps, 1.0), 0.4 * np.sin(np.arange(steps) / 9)], 1).astype(np.float32)
    obstacles = np.array([[1, 0.2, 0.3], [2, -0.5, 0.4], [3, 0.8, 0.5], [4, 0, 0.3], [5, 1.5, 0.7]], np.float32)
    goal_x, goal_y, dt = np.float32(6), np.float32(1), np.float32(0.1)

    def expected():
        at = sampled(rng, n, 5000)
        w, p = noise[:, :, at].astype(float), plan.astype(float)
        x = y = angle = cost = np.zeros(len(at))
        for t in range(steps):
            speed, turn = np.clip(p[t, 0] + w[t, 0], 0, 2), np.clip(p[t, 1] + w[t, 1], -1, 1)
            angle = angle + float(dt) * turn
            x, y = x + float(dt) * speed * np.cos(angle), y + float(dt) * speed * np.sin(angle)
            cost = cost + np.hypot(float(goal_x) - x, float(goal_y) - y)
            for ox, oy, radius in obstacles.astype(float):
                near = radius - np.hypot(x - ox, y - oy)
                cost = cost + np.where(near > 0, 100 * near * near, 0)
        # Places are off by steps * steps roundings, and an obstacle is 140 of them steep.
        return [(at, cost, EPS32 * steps * (8 * steps + 400) + 4 * EPS32 * cost)]

    args = (noise, plan, obstacles, goal_x, goal_y, dt, np.full(n, -1, np.float32))
    return Problem(args, (steps, n, 5), (6,), expected, threads=n, bytes=8.0 * steps * n, flops=steps * 110.0 * n)


NIBBLES_HEAD = "nibble_groups(const float *__restrict__ weights, float *__restrict__ scales, unsigned char *__restrict__ packed, int n)"
NIBBLES = indexed(
    f"""
__global__ void {NIBBLES_HEAD} {{
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, group = i / 32;
  int lane = threadIdx.x % 32, low = 8, high = 8;
  if (group >= n) return;
  float a = weights[group * 64 + 2 * lane], b = weights[group * 64 + 2 * lane + 1], most = fmaxf(fabsf(a), fabsf(b));
  for (int step = 16; step > 0; step /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  float scale = most / 7;
  if (scale > 0) {{
    low = (int)rintf(a / scale) + 8;
    high = (int)rintf(b / scale) + 8;
  }}
  packed[group * 32 + lane] = low | high << 4;
  if (lane == 0) scales[group] = scale;
}}
""",
    f"""
void {NIBBLES_HEAD} {{
#pragma omp parallel for
  for (INDEX group = 0; group < n; group++) {{
    const float *w = weights + group * 64;
    float most = 0;
    for (INDEX k = 0; k < 64; k++)
      most = fmaxf(most, fabsf(w[k]));
    float scale = most / 7;
    for (INDEX k = 0; k < 32; k++) {{
      int low = 8, high = 8;
      if (scale > 0) {{
        low = (int)rintf(w[2 * k] / scale) + 8;
        high = (int)rintf(w[2 * k + 1] / scale) + 8;
      }}
      packed[group * 32 + k] = low | high << 4;
    }}
    scales[group] = scale;
  }}
}}
""",
)

RMS_HEAD = """rms_residual(float *__restrict__ stream, const float *__restrict__ update, const float *__restrict__ weight, float eps,
                  float *__restrict__ normed, int n, int width)"""
RMS = indexed(
    f"""
__global__ void {RMS_HEAD} {{
  __shared__ float parts[32];
  INDEX row = blockIdx.x;
  float *s = stream + row * width;
  const float *u = update + row * width;
  float total = 0;
  for (INDEX k = threadIdx.x; k < width; k += blockDim.x) {{
    float x = s[k] + u[k];
    s[k] = x;
    total += x * x;
  }}
  for (int offset = 16; offset > 0; offset /= 2)
    total += __shfl_down_sync(0xffffffff, total, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = total;
  __syncthreads();
  total = 0;
  for (int w = 0; w < blockDim.x / 32; w++)
    total += parts[w];
  float scale = 1 / sqrtf(total / width + eps);
  for (INDEX k = threadIdx.x; k < width; k += blockDim.x)
    normed[row * width + k] = s[k] * scale * weight[k];
}}
""",
    f"""
void {RMS_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < n; row++) {{
    float *s = stream + row * width;
    const float *u = update + row * width;
    float total = 0;
    for (INDEX k = 0; k < width; k++) {{
      s[k] += u[k];
      total += s[k] * s[k];
    }}
    float scale = 1 / sqrtf(total / width + eps);
    for (INDEX k = 0; k < width; k++)
      normed[row * width + k] = s[k] * scale * weight[k];
  }}
}}
""",
)

FADING = plane(
    """fading_attention(const float *__restrict__ queries, const float *__restrict__ keys, const float *__restrict__ values,
                      const float *__restrict__ fade, float *__restrict__ out, int length, int rows, int cols)""",
    """
    float state[16], keep = fade[row];
    for (int d = 0; d < 16; d++)
      state[d] = 0;
    for (INDEX t = 0; t < length; t++) {
      const float *key = keys + (t * rows + row) * 16, *query = queries + (t * rows + row) * 16;
      float v = values[(t * rows + row) * cols + col], total = 0;
      for (int d = 0; d < 16; d++) {
        state[d] = keep * state[d] + key[d] * v;
        total += query[d] * state[d];
      }
      out[(t * rows + row) * cols + col] = total;
    }
""",
)

ROLLOUT = each(
    """rollout_costs(const float *__restrict__ noise, const float *__restrict__ plan, const float *__restrict__ obstacles,
                   float goal_x, float goal_y, float dt, float *__restrict__ costs, int steps, int n, int count)""",
    """
    float x = 0, y = 0, angle = 0, cost = 0;
    for (INDEX t = 0; t < steps; t++) {
      float speed = fminf(fmaxf(plan[2 * t] + noise[2 * t * n + i], 0), 2);
      float turn = fminf(fmaxf(plan[2 * t + 1] + noise[(2 * t + 1) * n + i], -1), 1);
      angle += dt * turn;
      x += dt * speed * cosf(angle);
      y += dt * speed * sinf(angle);
      cost += hypotf(goal_x - x, goal_y - y);
      for (INDEX k = 0; k < count; k++) {
        float dx = x - obstacles[3 * k], dy = y - obstacles[3 * k + 1], near = obstacles[3 * k + 2] - sqrtf(dx * dx + dy * dy);
        if (near > 0) cost += 100 * near * near;
      }
    }
    costs[i] = cost;
""",
)

KERNELS = [
    Kernel(
        "weights of four bits", nibble_groups, "float32[:,::1], float32[::1], uint8[:,::1]", 128, nibbles_problem, gpu=500_009,
        host=5003, test=103, kind="streaming", **NIBBLES,
    ),
    Kernel(
        "sums and their norms", rms_residual, "float32[:,::1], float32[:,::1], float32[::1], float32, float32[:,::1]", 256,
        rms_problem, gpu=20_011, host=301, test=7, kind="streaming", **RMS,
    ),
    Kernel(
        "attention that fades", fading_attention,
        "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32[::1], float32[:,:,::1]", (32, 1), fading_problem,
        gpu=501, host=101, test=13, **FADING,
    ),
    Kernel(
        "plans driven out", rollout_costs,
        "float32[:,:,::1], float32[:,::1], float32[:,::1], float32, float32, float32, float32[::1]", 128, rollout_problem,
        gpu=200_003, host=3001, test=203, **ROLLOUT,
    ),
]  # fmt: skip
