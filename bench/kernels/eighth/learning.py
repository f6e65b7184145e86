"""Learning: CTC's loss, cross entropy, 8-bit groups, boosting's histograms, factors of users, regions, columns."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, indexed
from pyptx import cuda, float32, int32


def log_sum(a, b):
    """log(exp(a) + exp(b)), where either may stand for nothing."""
    high = max(a, b)
    if high < float32(-1e30):
        return high
    return high + math.log1p(math.exp(-abs(a - b)))


def ctc_loss(scores, labels, lengths, steps, losses):
    """Connectionist temporal classification: a block an utterance, a thread a label or a blank (class 0)."""
    line = cuda.shared.array((2, 130), float32)
    item = cuda.blockIdx.x
    s = cuda.threadIdx.x
    places = 2 * lengths[item] + 1
    own = 0
    skips = False
    if s % 2 == 1 and s < places:
        own = int(labels[item, s // 2])
        skips = s >= 3 and labels[item, s // 2 - 1] != own
    if s < 2:
        line[0, s] = line[1, s] = float32(-3e38)
    value = float32(-3e38)
    if s < 2 and s < places:
        value = scores[item, 0, own]
    line[0, s + 2] = value
    cuda.syncthreads()
    now = 0
    for t in range(1, steps[item]):
        if s < places:
            value = log_sum(line[now, s + 2], line[now, s + 1])
            if skips:
                value = log_sum(value, line[now, s])
            value += scores[item, t, own]
        now = 1 - now
        line[now, s + 2] = value
        cuda.syncthreads()
    if s == 0:
        losses[item] = -log_sum(line[now, places + 1], line[now, places])


def cross_entropy(logits, targets, smoothing, ignored, losses):
    """The loss of each row, with labels smoothed; rows of an ignored label have none. A warp a row."""
    row = cuda.grid(1) // 32
    lane = cuda.laneid
    if row >= logits.shape[0]:
        return
    target = targets[row]
    if target == ignored:
        if lane == 0:
            losses[row] = 0
        return
    line = logits[row]
    top = float32(-math.inf)
    for c in range(lane, line.size, 32):
        top = max(top, line[c])
    for step in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, step))
    total = float32(0)
    plain = float32(0)
    for c in range(lane, line.size, 32):
        total += math.exp(line[c] - top)
        plain += line[c]
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
        plain += cuda.shfl_xor_sync(0xFFFFFFFF, plain, step)
    if lane == 0:
        log_total = top + math.log(total)
        losses[row] = (1 - smoothing) * (log_total - line[target]) + smoothing * (log_total - plain / line.size)


def quantise_groups(x, codes, scales):
    """Rows as bytes with a scale for each 32 columns, the last group shorter: a warp a group, blocks of 4 rows."""
    lane = cuda.threadIdx.x
    group = cuda.blockIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if row >= x.shape[0]:
        return
    col = group * 32 + lane
    v = float32(0)
    if col < x.shape[1]:
        v = x[row, col]
    largest = abs(v)
    step = 16
    while step >= 1:
        largest = max(largest, cuda.shfl_xor_sync(0xFFFFFFFF, largest, step))
        step >>= 1
    scale = largest / float32(127)
    if col < x.shape[1]:
        code = 0
        if scale > 0:
            code = int(round(v / scale))
        codes[row, col] = min(max(code, -127), 127)
    if lane == 0:
        scales[row, group] = scale


def boosting_histogram(bins, chosen, gradients, hessians, sums):
    """Sums of gradients and hessians by the bin of a feature (along y), of the rows that a leaf has."""
    table = cuda.shared.array((2, 256), float32)
    t = cuda.threadIdx.x
    feature = cuda.blockIdx.y
    table[0, t] = 0
    table[1, t] = 0
    cuda.syncthreads()
    column = bins[feature]
    for k in range(cuda.grid(1), chosen.size, cuda.gridsize(1)):
        row = chosen[k]
        b = column[row]
        cuda.atomic.add(table, (0, b), gradients[row])
        cuda.atomic.add(table, (1, b), hessians[row])
    cuda.syncthreads()
    if table[1, t] != 0:
        cuda.atomic.add(sums, (feature, t, 0), table[0, t])
        cuda.atomic.add(sums, (feature, t, 1), table[1, t])


def user_factors(starts, items, ratings, factors, penalty, users):
    """Alternating least squares: 8 factors of each user, by Cholesky's decomposition of what its items' give."""
    i = cuda.grid(1)
    if i >= users.shape[0]:
        return
    a = cuda.local.array((8, 8), float32)
    b = cuda.local.array(8, float32)
    begin = starts[i]
    end = starts[i + 1]
    for r in range(8):
        b[r] = 0
        for c in range(r + 1):
            a[r, c] = 0
        a[r, r] = penalty * float32(end - begin + 1)
    for k in range(begin, end):
        f = factors[items[k]]
        for r in range(8):
            b[r] += ratings[k] * f[r]
            for c in range(r + 1):
                a[r, c] += f[r] * f[c]
    for c in range(8):
        for k in range(c):
            a[c, c] -= a[c, k] * a[c, k]
        a[c, c] = math.sqrt(a[c, c])
        for r in range(c + 1, 8):
            for k in range(c):
                a[r, c] -= a[r, k] * a[c, k]
            a[r, c] /= a[c, c]
    for r in range(8):
        for k in range(r):
            b[r] -= a[r, k] * b[k]
        b[r] /= a[r, r]
    for r in range(7, -1, -1):
        for k in range(r + 1, 8):
            b[r] -= a[k, r] * b[k]
        b[r] /= a[r, r]
    for r in range(8):
        users[i, r] = b[r]


def bilinear(plane, y, x):
    """A value between pixels; none beyond a pixel outside."""
    rows, cols = plane.shape
    if y < -1 or y > rows or x < -1 or x > cols:
        return float32(0)
    y = min(max(y, float32(0)), float32(rows - 1))
    x = min(max(x, float32(0)), float32(cols - 1))
    top = int(y)
    left = int(x)
    bottom = min(top + 1, rows - 1)
    right = min(left + 1, cols - 1)
    fy = y - float32(top)
    fx = x - float32(left)
    above = plane[top, left] * (1 - fx) + plane[top, right] * fx
    below = plane[bottom, left] * (1 - fx) + plane[bottom, right] * fx
    return above * (1 - fy) + below * fy


def roi_align(features, boxes, scale, samples, pooled):
    """Means of samples in each bin of each box (a channel along z, the bins of a box along x)."""
    cell = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    channel = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    k = cuda.blockIdx.z
    height = pooled.shape[2]
    width = pooled.shape[3]
    if cell >= height * width or channel >= features.shape[0]:
        return
    x0 = boxes[k, 0] * scale - float32(0.5)
    y0 = boxes[k, 1] * scale - float32(0.5)
    step_x = (boxes[k, 2] - boxes[k, 0]) * scale / float32(width)
    step_y = (boxes[k, 3] - boxes[k, 1]) * scale / float32(height)
    row = cell // width
    col = cell % width
    total = float32(0)
    for j in range(samples):
        y = y0 + step_y * (row + (j + float32(0.5)) / float32(samples))
        for i in range(samples):
            x = x0 + step_x * (col + (i + float32(0.5)) / float32(samples))
            total += bilinear(features[channel], y, x)
    pooled[k, channel, row, col] = total / float32(samples * samples)


def image_columns(image, size, stride, padding, columns):
    """im2col: the windows of each channel (along z) as columns of a matrix, with zeros around the image."""
    col, row, channel = cuda.grid(3)
    height = (image.shape[1] + 2 * padding - size) // stride + 1
    width = (image.shape[2] + 2 * padding - size) // stride + 1
    if col >= width or row >= height or channel >= image.shape[0]:
        return
    for i in range(size):
        y = row * stride - padding + i
        for j in range(size):
            x = col * stride - padding + j
            v = float32(0)
            if 0 <= y < image.shape[1] and 0 <= x < image.shape[2]:
                v = image[channel, y, x]
            columns[(channel * size + i) * size + j, row * width + col] = v


def ctc_problem(rng, n):
    classes, most, longest = 40, 140, 50
    steps = rng.integers(110, most + 1, n).astype(np.int32)
    lengths = rng.integers(1, longest + 1, n).astype(np.int32)
    labels = rng.integers(1, 7, (n, longest)).astype(np.int32)
    scores = rng.standard_normal((n, most, classes)) * 2
    scores = np.float32(scores - np.log(np.exp(scores).sum(2, keepdims=True)))

    def expected():
        at = sampled(rng, n, 100)
        losses = []
        for item in at:
            path = np.zeros(2 * lengths[item] + 1, int)
            path[1::2] = labels[item, : lengths[item]]
            skips = np.zeros(path.size, bool)
            skips[2:] = (path[2:] != 0) & (path[2:] != path[:-2])
            line = np.full(path.size + 2, -np.inf)
            line[2:4] = scores[item, 0, path[:2]]
            for t in range(1, steps[item]):
                line[2:] = np.logaddexp(
                    np.logaddexp(line[2:], line[1:-1]), np.where(skips, line[:-2], -np.inf)
                ) + scores[item, t, path].astype(float)
            losses.append(-np.logaddexp(line[-1], line[-2]))
        losses = np.array(losses)
        # Each step rounds values of up to 6 a step a few times.
        return [(at, losses, EPS32 * 5 * most * np.abs(losses))]

    args = (scores, labels, lengths, steps, np.zeros(n, np.float32))
    return Problem(args, (n, most, classes, longest), (4,), expected, grid=n, bytes=4.0 * n * 125 * 10)


def entropy_problem(rng, n):
    classes, smoothing, ignored = 1003, np.float32(0.1), -100
    logits = rng.standard_normal((n, classes), dtype=np.float32) * np.float32(3)
    targets = np.where(rng.random(n) < 0.1, ignored, rng.integers(0, classes, n)).astype(np.int32)

    def expected():
        at = sampled(rng, n, 2000)
        x, target = logits[at].astype(float), targets[at]
        top = x.max(1)
        total = top + np.log(np.exp(x - top[:, None]).sum(1))
        own = np.take_along_axis(x, np.maximum(target, 0)[:, None], 1)[:, 0]
        losses = 0.9 * (total - own) + float(smoothing) * (total - x.mean(1))
        return [(at, np.where(target == ignored, 0, losses), EPS32 * (40 * 15 + 4 * np.abs(x).mean(1)))]

    args = (logits, targets, smoothing, ignored, np.zeros(n, np.float32))
    bytes_ = 4.0 * logits.size * 0.9
    return Problem(args, (n, classes), (4,), expected, threads=32 * n, bytes=bytes_, sequential=20)


def codes_problem(rng, n):
    cols = 1000
    x = rng.standard_normal((n, cols), dtype=np.float32) * rng.lognormal(0, 2, (n, 1)).astype(np.float32)
    x[0, 32:64] = 0
    groups = -(-cols // 32)

    def expected():
        wide = np.zeros((n, groups * 32), np.float32)
        wide[:, :cols] = x
        parts = wide.reshape(n, groups, 32)
        scale = np.abs(parts).max(2) / np.float32(127)
        codes = np.rint(parts / np.where(scale > 0, scale, np.float32(1))[:, :, None])
        codes = np.clip(codes, -127, 127).reshape(n, -1)[:, :cols].astype(np.int8)
        return [(slice(None), codes, 0), (slice(None), scale, 0)]

    args = (x, np.zeros((n, cols), np.int8), np.zeros((n, groups), np.float32))
    return Problem(args, (n, cols, groups), (1, 2), expected, grid=(groups, -(-n // 4)), bytes=5.0 * x.size)


def boosting_problem(rng, n):
    features = 11
    bins = np.minimum(rng.exponential(60, (features, n)), 255).astype(np.uint8)
    chosen = np.flatnonzero(rng.random(n) < 0.4).astype(np.int32)
    gradients = rng.standard_normal(n, dtype=np.float32)
    hessians = np.float32(rng.uniform(0.05, 0.25, n))

    def expected():
        sums, sizes, counts = (np.zeros((features, 256, 2)) for _ in range(3))
        for f in range(features):
            b = bins[f, chosen]
            counts[f] = np.bincount(b, minlength=256)[:, None]
            for k, values in enumerate((gradients[chosen], hessians[chosen])):
                sums[f, :, k] = np.bincount(b, values, minlength=256)
                sizes[f, :, k] = np.bincount(b, np.abs(values), minlength=256)
        # In any order; errors of both signs: three times their spread.
        return [(slice(None), sums, sum_bound(3 * np.sqrt(counts) + 4, sizes))]

    args = (bins, chosen, gradients, hessians, np.zeros((features, 256, 2), np.float32))
    moved = features * chosen.size * 13.0
    blocks = max(1, min(96, n // 4096))
    return Problem(args, (features, n, chosen.size), (4,), expected, grid=(blocks, features), bytes=moved)


def users_problem(rng, n):
    count, penalty = 5003, np.float32(0.08)
    lengths = np.minimum(rng.geometric(1 / 25, n), 150)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    items = rng.integers(0, count, starts[-1]).astype(np.int32)
    factors = np.float32(rng.normal(0, 1, (count, 8)))
    ratings = np.float32(rng.normal(3, 1, items.size))

    def expected():
        at = sampled(rng, n, 1000)
        values, bounds = np.zeros((at.size, 8)), np.zeros((at.size, 1))
        for k, user in enumerate(at):
            s = slice(starts[user], starts[user + 1])
            f = factors[items[s]].astype(float)
            a = f.T @ f + float(penalty) * (lengths[user] + 1) * np.eye(8)
            values[k] = np.linalg.solve(a, f.T @ ratings[s])
            bounds[k] = np.linalg.cond(a) * (8 + np.sqrt(lengths[user])) * EPS32 * (np.linalg.norm(values[k]) + 0.1)
        return [(at, values, 2 * bounds)]

    args = (starts, items, ratings, factors, penalty, np.zeros((n, 8), np.float32))
    return Problem(args, (n,), (5,), expected, threads=n, bytes=40.0 * items.size, flops=90.0 * items.size + 400.0 * n)


def regions_problem(rng, n):
    channels, rows, cols, height, width, scale, samples = 30, 50, 67, 7, 7, np.float32(0.25), 2
    features = rng.standard_normal((channels, rows, cols), dtype=np.float32)
    corner = rng.uniform(-10, [4 * cols - 20, 4 * rows - 20], (n, 2))
    boxes = np.float32(np.hstack([corner, corner + rng.uniform(10, 120, (n, 2))]))

    def expected():
        at = sampled(rng, n, 100)
        b, f = boxes[at].astype(float) * 0.25, features.astype(float)
        part = np.arange(7)[:, None] + (np.arange(samples) + 0.5) / samples
        y = (b[:, 1, None, None] - 0.5 + (b[:, 3] - b[:, 1])[:, None, None] / height * part)[:, :, :, None, None]
        x = (b[:, 0, None, None] - 0.5 + (b[:, 2] - b[:, 0])[:, None, None] / width * part)[:, None, None]
        inside = (y >= -1) & (y <= rows) & (x >= -1) & (x <= cols)
        edge = np.minimum(np.minimum(np.abs(y + 1), np.abs(y - rows)), np.minimum(np.abs(x + 1), np.abs(x - cols)))
        cut = (edge < 1e-4).any((2, 4))
        y, x = np.clip(y, 0, rows - 1), np.clip(x, 0, cols - 1)
        top, left = y.astype(int), x.astype(int)
        bottom, right = np.minimum(top + 1, rows - 1), np.minimum(left + 1, cols - 1)
        fy, fx = y - top, x - left
        above = f[:, top, left] * (1 - fx) + f[:, top, right] * fx
        below = f[:, bottom, left] * (1 - fx) + f[:, bottom, right] * fx
        values = np.where(inside, above * (1 - fy) + below * fy, 0).mean((3, 5))
        # Places of up to 70 are off by 3 eps of it, slopes are of up to 8; a sample at the very edge may be in or out.
        return [(at, np.moveaxis(values, 0, 1), np.where(cut, 10, 2 * 70 * 3 * 8 * EPS32)[:, None])]

    args = (features, boxes, scale, samples, np.zeros((n, channels, height, width), np.float32))
    grid = (-(-height * width // 32), -(-channels // 4), n)
    extents = (n, channels, rows, cols, height, width)
    return Problem(args, extents, (4,), expected, grid=grid, bytes=4.0 * n * channels * 49)


def columns_problem(rng, n):
    channels, size, stride, padding = 13, 5, 2, 2
    rows, cols = n, n + 41
    image = rng.standard_normal((channels, rows, cols), dtype=np.float32)
    height, width = ((v + 2 * padding - size) // stride + 1 for v in (rows, cols))

    def expected():
        wide = np.pad(image, ((0, 0), (padding, padding), (padding, padding)))
        windows = np.lib.stride_tricks.sliding_window_view(wide, (size, size), (1, 2))[:, ::stride, ::stride]
        return [(slice(None), windows.transpose(0, 3, 4, 1, 2).reshape(channels * size * size, height * width), 0)]

    columns = np.zeros((channels * size * size, height * width), np.float32)
    args = (image, size, stride, padding, columns)
    extents = (channels, rows, cols, height, width)
    return Problem(
        args, extents, (4,), expected, threads=(width, height, channels), bytes=4.0 * (image.size + columns.size)
    )


CTC_HEAD = """ctc_loss(const float *__restrict__ scores, const int *__restrict__ labels,
              const int *__restrict__ lengths, const int *__restrict__ steps, float *__restrict__ losses, int n,
              int most, int classes, int longest)"""
LOG_SUM = """
DEVICE float ctc_log_sum(float a, float b) {
  float high = fmaxf(a, b);
  if (high < -1e30f) return high;
  return high + log1pf(expf(-fabsf(a - b)));
}
"""
CTC = indexed(
    f"""{LOG_SUM}
__global__ void {CTC_HEAD} {{
  __shared__ float line[2][130];
  INDEX item = blockIdx.x, s = threadIdx.x, places = 2 * lengths[item] + 1, own = 0;
  bool skips = false;
  if (s % 2 == 1 && s < places) {{
    own = labels[item * longest + s / 2];
    skips = s >= 3 && labels[item * longest + s / 2 - 1] != own;
  }}
  if (s < 2) line[0][s] = line[1][s] = -3e38f;
  float value = -3e38f;
  const float *score = scores + item * most * classes;
  if (s < 2 && s < places) value = score[own];
  line[0][s + 2] = value;
  __syncthreads();
  int now = 0;
  for (INDEX t = 1; t < steps[item]; t++) {{
    if (s < places) {{
      value = ctc_log_sum(line[now][s + 2], line[now][s + 1]);
      if (skips) value = ctc_log_sum(value, line[now][s]);
      value += score[t * classes + own];
    }}
    now = 1 - now;
    line[now][s + 2] = value;
    __syncthreads();
  }}
  if (s == 0) losses[item] = -ctc_log_sum(line[now][places + 1], line[now][places]);
}}
""",
    f"""{LOG_SUM}
void {CTC_HEAD} {{
#pragma omp parallel for schedule(dynamic, 4)
  for (INDEX item = 0; item < n; item++) {{
    INDEX places = 2 * lengths[item] + 1;
    const float *score = scores + item * most * classes;
    const int *label = labels + item * longest;
    float line[2][130];
    for (INDEX s = 0; s < places + 2; s++)
      line[0][s] = line[1][s] = -3e38f;
    line[0][2] = score[0];
    line[0][3] = score[label[0]];
    for (INDEX t = 1; t < steps[item]; t++) {{
      const float *before = line[(t - 1) % 2];
      for (INDEX s = 0; s < places; s++) {{
        INDEX own = s % 2 ? label[s / 2] : 0;
        float value = ctc_log_sum(before[s + 2], before[s + 1]);
        if (s % 2 && s >= 3 && label[s / 2 - 1] != own) value = ctc_log_sum(value, before[s]);
        line[t % 2][s + 2] = value + score[t * classes + own];
      }}
    }}
    const float *last = line[(steps[item] - 1) % 2];
    losses[item] = -ctc_log_sum(last[places + 1], last[places]);
  }}
}}
""",
)

ENTROPY_HEAD = """cross_entropy(const float *__restrict__ logits, const int *__restrict__ targets, float smoothing,
                   int ignored, float *__restrict__ losses, int n, int classes)"""
ENTROPY_LOSS = "(1 - smoothing) * (log_total - line[target]) + smoothing * (log_total - plain / classes)"
ENTROPY = indexed(
    f"""
__global__ void {ENTROPY_HEAD} {{
  INDEX row = (blockIdx.x * (INDEX)blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= n) return;
  int target = targets[row];
  if (target == ignored) {{
    if (lane == 0) losses[row] = 0;
    return;
  }}
  const float *line = logits + row * classes;
  float top = -INFINITY, total = 0, plain = 0;
  for (INDEX c = lane; c < classes; c += 32)
    top = fmaxf(top, line[c]);
  for (int step = 16; step > 0; step /= 2)
    top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, step));
  for (INDEX c = lane; c < classes; c += 32) {{
    total += expf(line[c] - top);
    plain += line[c];
  }}
  for (int step = 16; step > 0; step /= 2) {{
    total += __shfl_xor_sync(0xffffffff, total, step);
    plain += __shfl_xor_sync(0xffffffff, plain, step);
  }}
  if (lane == 0) {{
    float log_total = top + logf(total);
    losses[row] = {ENTROPY_LOSS};
  }}
}}
""",
    f"""
void {ENTROPY_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < n; row++) {{
    int target = targets[row];
    const float *line = logits + (long)row * classes;
    float top = -INFINITY, total = 0, plain = 0;
    if (target == ignored) {{
      losses[row] = 0;
      continue;
    }}
    for (INDEX c = 0; c < classes; c++)
      top = line[c] > top ? line[c] : top;
    for (INDEX c = 0; c < classes; c++) {{
      total += expf(line[c] - top);
      plain += line[c];
    }}
    float log_total = top + logf(total);
    losses[row] = {ENTROPY_LOSS};
  }}
}}
""",
)

CODES_HEAD = """quantise_groups(const float *__restrict__ x, signed char *__restrict__ codes,
                     float *__restrict__ scales, int rows, int cols, int groups)"""
CODES = indexed(
    f"""
__global__ void {CODES_HEAD} {{
  INDEX lane = threadIdx.x, group = blockIdx.x, row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  if (row >= rows) return;
  INDEX col = group * 32 + lane;
  float v = 0;
  if (col < cols) v = x[row * cols + col];
  float largest = fabsf(v);
  for (int step = 16; step >= 1; step >>= 1)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
  float scale = largest / 127.0f;
  if (col < cols) {{
    int code = 0;
    if (scale > 0) code = (int)rintf(v / scale);
    codes[row * cols + col] = min(max(code, -127), 127);
  }}
  if (lane == 0) scales[row * groups + group] = scale;
}}
""",
    f"""
void {CODES_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++)
    for (INDEX group = 0; group < groups; group++) {{
      INDEX end = MIN(group * 32 + 32, cols);
      const float *line = x + (long)row * cols;
      float largest = 0;
      for (INDEX col = group * 32; col < end; col++)
        largest = fmaxf(largest, fabsf(line[col]));
      float scale = largest / 127.0f;
      for (INDEX col = group * 32; col < end; col++) {{
        int code = scale > 0 ? (int)rintf(line[col] / scale) : 0;
        codes[(long)row * cols + col] = MIN(MAX(code, -127), 127);
      }}
      scales[row * groups + group] = scale;
    }}
}}
""",
)

BOOSTING_HEAD = """boosting_histogram(const unsigned char *__restrict__ bins, const int *__restrict__ chosen,
                        const float *__restrict__ gradients, const float *__restrict__ hessians,
                        float *__restrict__ sums, int features, int n, int count)"""
BOOSTING = indexed(
    f"""
__global__ void {BOOSTING_HEAD} {{
  __shared__ float table[2][256];
  INDEX t = threadIdx.x, feature = blockIdx.y, step = gridDim.x * (INDEX)blockDim.x;
  table[0][t] = 0;
  table[1][t] = 0;
  __syncthreads();
  const unsigned char *column = bins + feature * n;
  for (INDEX k = blockIdx.x * (INDEX)blockDim.x + t; k < count; k += step) {{
    int row = chosen[k];
    unsigned char b = column[row];
    atomicAdd(&table[0][b], gradients[row]);
    atomicAdd(&table[1][b], hessians[row]);
  }}
  __syncthreads();
  if (table[1][t] != 0) {{
    atomicAdd(&sums[(feature * 256 + t) * 2], table[0][t]);
    atomicAdd(&sums[(feature * 256 + t) * 2 + 1], table[1][t]);
  }}
}}
""",
    f"""
void {BOOSTING_HEAD} {{
#pragma omp parallel for
  for (INDEX feature = 0; feature < features; feature++) {{
    float table[256][2] = {{{{0}}}};
    const unsigned char *column = bins + (long)feature * n;
    for (INDEX k = 0; k < count; k++) {{
      int row = chosen[k];
      table[column[row]][0] += gradients[row];
      table[column[row]][1] += hessians[row];
    }}
    for (INDEX t = 0; t < 256; t++) {{
      sums[(feature * 256 + t) * 2] += table[t][0];
      sums[(feature * 256 + t) * 2 + 1] += table[t][1];
    }}
  }}
}}
""",
)

USERS = each(
    """user_factors(const int *__restrict__ starts, const int *__restrict__ items, const float *__restrict__ ratings,
                 const float *__restrict__ factors, float penalty, float *__restrict__ users, int n)""",
    """
    float a[8][8], b[8];
    INDEX begin = starts[i], end = starts[i + 1];
    for (int r = 0; r < 8; r++) {
      b[r] = 0;
      for (int c = 0; c <= r; c++)
        a[r][c] = 0;
      a[r][r] = penalty * (end - begin + 1);
    }
    for (INDEX k = begin; k < end; k++) {
      const float *f = factors + items[k] * (INDEX)8;
      for (int r = 0; r < 8; r++) {
        b[r] += ratings[k] * f[r];
        for (int c = 0; c <= r; c++)
          a[r][c] += f[r] * f[c];
      }
    }
    for (int c = 0; c < 8; c++) {
      for (int k = 0; k < c; k++)
        a[c][c] -= a[c][k] * a[c][k];
      a[c][c] = sqrtf(a[c][c]);
      for (int r = c + 1; r < 8; r++) {
        for (int k = 0; k < c; k++)
          a[r][c] -= a[r][k] * a[c][k];
        a[r][c] /= a[c][c];
      }
    }
    for (int r = 0; r < 8; r++) {
      for (int k = 0; k < r; k++)
        b[r] -= a[r][k] * b[k];
      b[r] /= a[r][r];
    }
    for (int r = 7; r >= 0; r--) {
      for (int k = r + 1; k < 8; k++)
        b[r] -= a[k][r] * b[k];
      b[r] /= a[r][r];
    }
    for (int r = 0; r < 8; r++)
      users[i * 8 + r] = b[r];
""",
    schedule=" schedule(dynamic, 64)",
)

REGIONS_HEAD = """roi_align(const float *__restrict__ features, const float *__restrict__ boxes, float scale,
               int samples, float *__restrict__ pooled, int n, int channels, int rows, int cols, int height,
               int width)"""
REGIONS_BEFORE = """
DEVICE float roi_bilinear(const float *plane, int rows, int cols, float y, float x) {
  if (y < -1 || y > rows || x < -1 || x > cols) return 0;
  y = fminf(fmaxf(y, 0), rows - 1);
  x = fminf(fmaxf(x, 0), cols - 1);
  INDEX top = (INDEX)y, left = (INDEX)x, bottom = MIN(top + 1, (INDEX)rows - 1), right = MIN(left + 1, (INDEX)cols - 1);
  float fy = y - top, fx = x - left;
  float above = plane[top * cols + left] * (1 - fx) + plane[top * cols + right] * fx;
  float below = plane[bottom * cols + left] * (1 - fx) + plane[bottom * cols + right] * fx;
  return above * (1 - fy) + below * fy;
}
"""
REGIONS_BODY = """
    float x0 = boxes[4 * k] * scale - 0.5f, y0 = boxes[4 * k + 1] * scale - 0.5f, total = 0;
    float step_x = (boxes[4 * k + 2] - boxes[4 * k]) * scale / width;
    float step_y = (boxes[4 * k + 3] - boxes[4 * k + 1]) * scale / height;
    INDEX row = cell / width, col = cell % width;
    for (INDEX j = 0; j < samples; j++) {
      float y = y0 + step_y * (row + (j + 0.5f) / samples);
      for (INDEX i = 0; i < samples; i++) {
        float x = x0 + step_x * (col + (i + 0.5f) / samples);
        total += roi_bilinear(features + channel * rows * cols, rows, cols, y, x);
      }
    }
    pooled[((k * channels + channel) * height + row) * width + col] = total / (samples * samples);
"""
REGIONS = indexed(
    f"""{REGIONS_BEFORE}
__global__ void {REGIONS_HEAD} {{
  INDEX cell = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, channel = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX k = blockIdx.z;
  if (cell < height * width && channel < channels) {{{REGIONS_BODY}  }}
}}
""",
    f"""{REGIONS_BEFORE}
void {REGIONS_HEAD} {{
#pragma omp parallel for
  for (INDEX k = 0; k < n; k++)
    for (INDEX channel = 0; channel < channels; channel++)
      for (INDEX cell = 0; cell < height * width; cell++) {{{REGIONS_BODY}      }}
}}
""",
)

COLUMNS_HEAD = """image_columns(const float *__restrict__ image, int size, int stride, int padding,
                   float *__restrict__ columns, int channels, int rows, int cols, int height, int width)"""
COLUMNS_BODY = """
    for (INDEX i = 0; i < size; i++) {
      INDEX y = row * stride - padding + i;
      for (INDEX j = 0; j < size; j++) {
        INDEX x = col * stride - padding + j;
        float v = 0;
        if (0 <= y && y < rows && 0 <= x && x < cols) v = image[(channel * rows + y) * cols + x];
        columns[((channel * size + i) * size + j) * height * width + row * width + col] = v;
      }
    }
"""
COLUMNS = indexed(
    f"""
__global__ void {COLUMNS_HEAD} {{
  INDEX col = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, row = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX channel = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (col < width && row < height && channel < channels) {{{COLUMNS_BODY}  }}
}}
""",
    f"""
void {COLUMNS_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX channel = 0; channel < channels; channel++)
    for (INDEX row = 0; row < height; row++)
      for (INDEX col = 0; col < width; col++) {{{COLUMNS_BODY}      }}
}}
""",
)

KERNELS = [
    Kernel(
        "loss of CTC", ctc_loss, "float32[:,:,::1], int32[:,::1], int32[::1], int32[::1], float32[::1]", 128,
        ctc_problem,
        gpu=3001, host=53, test=5, kind="shared", **CTC,
    ),
    Kernel(
        "cross entropy", cross_entropy, "float32[:,::1], int32[::1], float32, pyint, float32[::1]", 256,
        entropy_problem,
        gpu=100_003, host=1003, test=43, kind="shared", **ENTROPY,
    ),
    Kernel(
        "groups of 32 as bytes", quantise_groups, "float32[:,::1], int8[:,::1], float32[:,::1]", (32, 4), codes_problem,
        gpu=50_021, host=503, test=11, kind="shared", **CODES,
    ),
    Kernel(
        "histograms of boosting", boosting_histogram,
        "uint8[:,::1], int32[::1], float32[::1], float32[::1], float32[:,:,::1]", 256, boosting_problem,
        gpu=1_000_003, host=50_021, test=1003, kind="shared", **BOOSTING,
    ),
    Kernel(
        "factors of users", user_factors,
        "int32[::1], int32[::1], float32[::1], float32[:,::1], float32, float32[:,::1]", 64, users_problem,
        gpu=100_003, host=3001, test=103, kind="irregular", **USERS,
    ),
    Kernel(
        "regions of interest", roi_align, "float32[:,:,::1], float32[:,::1], float32, pyint, float32[:,:,:,::1]",
        (32, 4), regions_problem,
        gpu=5003, host=103, test=7, **REGIONS,
    ),
    Kernel(
        "columns of an image", image_columns, "float32[:,:,::1], pyint, pyint, pyint, float32[:,::1]", (32, 4, 2),
        columns_problem,
        gpu=1003, host=121, test=23, power=2, kind="streaming", **COLUMNS,
    ),
]  # fmt: skip
