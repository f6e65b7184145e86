"""Images: scanlines of semi-global matching, thinning, exact distances, back-projection, delays of ultrasound."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, complex64, float32, int32


def sgm_scanline(costs, small, large, sums):
    """Semi-global matching from left to right: a block a row, a thread a disparity (up to 126), penalties for steps."""
    line = cuda.shared.array(130, int32)
    least = cuda.shared.array(4, int32)
    row = cuda.blockIdx.x
    d = cuda.threadIdx.x
    count = costs.shape[2]
    if d < 2:
        line[d * (count + 1)] = 1 << 20
    current = 1 << 20
    if d < count:
        current = int(costs[row, 0, d])
        line[d + 1] = current
        sums[row, 0, d] = current
    for col in range(1, costs.shape[1]):
        lowest = current
        step = 16
        while step > 0:
            lowest = min(lowest, cuda.shfl_xor_sync(0xFFFFFFFF, lowest, step))
            step //= 2
        if d % 32 == 0:
            least[d // 32] = lowest
        cuda.syncthreads()
        lowest = min(min(least[0], least[1]), min(least[2], least[3]))
        if d < count:
            best = min(current, lowest + large)
            best = min(best, line[d] + small)
            best = min(best, line[d + 2] + small)
            current = int(costs[row, col, d]) + best - lowest
        cuda.syncthreads()
        if d < count:
            line[d + 1] = current
            sums[row, col, d] = current


def thin_step(image, second, out, removed):
    """Zhang and Suen: half a step of thinning a picture of zeros and ones; how many pixels it takes away."""
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row >= rows or col >= cols:
        return
    out[row, col] = image[row, col]
    if image[row, col] == 0 or row == 0 or col == 0 or row == rows - 1 or col == cols - 1:
        return
    ring = (
        image[row - 1, col], image[row - 1, col + 1], image[row, col + 1], image[row + 1, col + 1],
        image[row + 1, col], image[row + 1, col - 1], image[row, col - 1], image[row - 1, col - 1],
    )  # fmt: skip
    count = 0
    rises = 0
    for k in range(8):
        count += int(ring[k])
        if ring[k] == 0 and ring[(k + 1) % 8] == 1:
            rises += 1
    if count < 2 or count > 6 or rises != 1:
        return
    up, _, right, _, down, _, left, _ = ring
    if second:
        inner = up * right * left == 0 and up * down * left == 0
    else:
        inner = up * right * down == 0 and right * down * left == 0
    if inner:
        out[row, col] = 0
        cuda.atomic.add(removed, 0, 1)


def parabola(x, place, height):
    return (x - place) * (x - place) + height


def distance_rows(heights, places, limits, squares):
    """Meijster's second pass: the least of parabolas, one at each pixel of a row, at each of them; a thread a row."""
    i = cuda.grid(1)
    if i >= heights.shape[0]:
        return
    height = heights[i]
    place = places[i]
    limit = limits[i]
    square = squares[i]
    cols = height.size
    q = 0
    place[0] = 0
    limit[0] = 0
    for u in range(1, cols):
        while q >= 0 and parabola(limit[q], place[q], height[place[q]]) > parabola(limit[q], u, height[u]):
            q -= 1
        if q < 0:
            q = 0
            place[0] = u
        else:
            p = place[q]
            w = 1 + (u * u - p * p + height[u] - height[p]) // (2 * (u - p))
            if w < cols:
                q += 1
                place[q] = u
                limit[q] = w
    for u in range(cols - 1, -1, -1):
        square[u] = parabola(u, place[q], height[place[q]])
        if u == limit[q]:
            q -= 1


def back_project(sinogram, cosines, sines, spacing, image):
    """Tomography: at each pixel the sum of all (filtered) projections where it lies in them, linear in between."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        x = (col - float32(0.5) * (image.shape[1] - 1)) * spacing
        y = (row - float32(0.5) * (image.shape[0] - 1)) * spacing
        middle = float32(0.5) * (sinogram.shape[1] - 1)
        total = float32(0)
        for a in range(sinogram.shape[0]):
            s = x * cosines[a] + y * sines[a] + middle
            k = int(math.floor(s))
            if k >= 0 and k + 1 < sinogram.shape[1]:
                part = s - k
                total += (1 - part) * sinogram[a, k] + part * sinogram[a, k + 1]
        image[row, col] = total


def delay_and_sum(echoes, elements, xs, zs, rate, turn, aperture, image):
    """Ultrasound: at each pixel the echoes of the elements that it is in front of, each at its delay, turned back."""
    col, row = cuda.grid(2)
    if row >= zs.size or col >= xs.size:
        return
    x = xs[col]
    z = zs[row]
    total = complex64(0)
    for e in range(elements.size):
        dx = x - elements[e]
        if abs(dx) * aperture > z:
            continue
        t = (z + math.sqrt(dx * dx + z * z)) * rate
        k = int(t)
        if k + 1 < echoes.shape[1]:
            part = t - float32(k)
            v = echoes[e, k] * (float32(1) - part) + echoes[e, k + 1] * part
            angle = turn * t
            total += v * complex(math.cos(angle), math.sin(angle))
    image[row, col] = total


def scanline_problem(rng, n):
    cols, count, small, large = 150, 75, 11, 70
    costs = rng.integers(0, 100, (n, cols, count), np.uint8)

    def expected():
        at = sampled(rng, n, 200)
        line = costs[at, 0].astype(int)
        sums = [line]
        for col in range(1, cols):
            lowest = line.min(1, keepdims=True)
            wide = np.pad(line, ((0, 0), (1, 1)), constant_values=1 << 20)
            best = np.minimum(np.minimum(line, lowest + large), np.minimum(wide[:, :-2], wide[:, 2:]) + small)
            line = costs[at, col] + best - lowest
            sums.append(line)
        return [(at, np.stack(sums, 1).astype(np.uint16), 0)]

    args = (costs, small, large, np.zeros((n, cols, count), np.uint16))
    return Problem(args, (n, cols, count), (3,), expected, grid=n, bytes=3.0 * costs.size)


def thin_problem(rng, n):
    rows, cols, second = n, n + 203, 1
    y, x = np.mgrid[:rows, :cols]
    image = (np.sin(x / 9.0 + 2 * np.sin(y / 23)) + np.cos(y / 11.0 - x / 40) > 0.2) ^ (rng.random((rows, cols)) < 0.01)
    image = image.astype(np.uint8)

    def expected():
        ring = []
        for dy, dx in ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)):
            ring.append(image[1 + dy : rows - 1 + dy, 1 + dx : cols - 1 + dx].astype(int))
        count = sum(ring)
        rises = sum((ring[k] == 0) & (ring[(k + 1) % 8] == 1) for k in range(8))
        up, right, down, left = ring[::2]
        gone = (image[1:-1, 1:-1] == 1) & (count >= 2) & (count <= 6) & (rises == 1)
        gone &= (up * right * left == 0) & (up * down * left == 0)
        thinner = image.copy()
        thinner[1:-1, 1:-1][gone] = 0
        return [(slice(None), thinner, 0), (slice(None), np.array([gone.sum()], np.int32), 0)]

    args = (image, second, np.zeros_like(image), np.zeros(1, np.int32))
    return Problem(args, (rows, cols), (2, 3), expected, threads=(cols, rows), bytes=2.0 * rows * cols)


def distance_problem(rng, n):
    cols = 211
    set_ = rng.random((n, cols)) < 0.02
    near = np.where(set_, 0, rng.integers(1, 60, (n, cols)))
    heights = (near * near).astype(np.int32)

    def expected():
        at = sampled(rng, n, 300)
        u = np.arange(cols)
        apart = (u[:, None] - u) ** 2
        return [(at, (apart + heights[at][:, None, :]).min(2).astype(np.int32), 0)]

    args = (heights, *(np.zeros((n, cols), np.int32) for _ in range(3)))
    return Problem(args, (n, cols), (3,), expected, threads=n, bytes=16.0 * n * cols)


def tomography_problem(rng, n):
    angles, detectors, spacing = 173, n + 21, np.float32(0.75)
    angle = np.pi * np.arange(angles) / angles
    cosines, sines = np.float32(np.cos(angle)), np.float32(np.sin(angle))
    sinogram = rng.standard_normal((angles, detectors), dtype=np.float32)
    sinogram[:, [0, -1]] = 0  # no jump where a projection ends

    def expected():
        at = sampled(rng, n, 40)
        x = (np.arange(n) - (n - 1) / 2) * 0.75
        total, size = np.zeros((at.size, n)), np.zeros((at.size, n))
        for a in range(angles):
            s = x * float(cosines[a]) + x[at][:, None] * float(sines[a]) + (detectors - 1) / 2
            total += np.interp(s, np.arange(detectors), sinogram[a], 0, 0)
            size += np.interp(s, np.arange(detectors), np.abs(sinogram[a]), 0, 0)
        # A place is off by 3 eps of a detector's number, and the sum by that much of the steepest slopes of a kind.
        return [(at, total, EPS32 * (10 * detectors * np.sqrt(angles) + 0.6 * angles * size))]

    args = (sinogram, cosines, sines, spacing, np.zeros((n, n), np.float32))
    return Problem(args, (n, n, angles, detectors), (4,), expected, threads=(n, n), flops=9.0 * angles * n * n)


def ultrasound_problem(rng, n):
    count, samples, rate, aperture = 96, 1500, np.float32(30.0), np.float32(3.0)  # mm, samples a mm of way
    turn = np.float32(2 * np.pi / 6)
    elements = np.float32(0.3 * (np.arange(count) - (count - 1) / 2))
    xs, zs = np.float32(np.linspace(-12, 12, n)), np.float32(np.linspace(2, 24, n + 37))
    echoes = rng.standard_normal((count, samples)) + 1j * rng.standard_normal((count, samples))
    echoes = echoes.astype(np.complex64)

    def expected():
        rows = sampled(rng, zs.size, 30)
        x, z = xs.astype(float), zs[rows, None].astype(float)
        total, size = np.zeros((rows.size, n), complex), np.zeros((rows.size, n))
        for e in range(count):
            dx32 = np.abs(xs - elements[e])
            t = (z + np.sqrt((x - elements[e]) ** 2 + z * z)) * float(rate)
            k = np.minimum(t.astype(int), samples - 2)
            inside = (dx32 * aperture <= zs[rows, None]) & (t < samples - 1)
            v = echoes[e, k] * (1 - (t - k)) + echoes[e, k + 1] * (t - k)
            total += np.where(inside, v * np.exp(1j * float(turn) * t), 0)
            size += np.where(inside, np.abs(echoes[e, k]) + np.abs(echoes[e, k + 1]), 0)
        # Delays of up to 1500 samples are off by 3 eps of them, and so are values, and angles as much.
        return [(rows, total, 1500 * 4 * EPS32 * size + 100 * EPS32)]

    args = (echoes, elements, xs, zs, rate, turn, aperture, np.zeros((zs.size, n), np.complex64))
    return Problem(args, (zs.size, n, count, samples), (7,), expected, threads=(n, zs.size))


SCANLINE_HEAD = """sgm_scanline(const unsigned char *__restrict__ costs, int small, int large,
                  unsigned short *__restrict__ sums, int rows, int cols, int count)"""
SCANLINE = indexed(
    f"""
__global__ void {SCANLINE_HEAD} {{
  __shared__ int line[130], least[4];
  INDEX row = blockIdx.x, d = threadIdx.x, at = row * cols * count + d;
  int current = 1 << 20;
  if (d < 2) line[d * (count + 1)] = 1 << 20;
  if (d < count) {{
    current = costs[at];
    line[d + 1] = current;
    sums[at] = current;
  }}
  for (INDEX col = 1; col < cols; col++) {{
    int lowest = current;
    for (int step = 16; step > 0; step /= 2)
      lowest = min(lowest, __shfl_xor_sync(0xffffffff, lowest, step));
    if (d % 32 == 0) least[d / 32] = lowest;
    __syncthreads();
    lowest = min(min(least[0], least[1]), min(least[2], least[3]));
    if (d < count) {{
      int best = min(current, lowest + large);
      best = min(best, line[d] + small);
      best = min(best, line[d + 2] + small);
      current = costs[at + col * count] + best - lowest;
    }}
    __syncthreads();
    if (d < count) {{
      line[d + 1] = current;
      sums[at + col * count] = current;
    }}
  }}
}}
""",
    f"""
void {SCANLINE_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++) {{
    const unsigned char *cost = costs + (long)row * cols * count;
    unsigned short *sum = sums + (long)row * cols * count;
    int lines[2][130];
    lines[0][0] = lines[1][0] = lines[0][count + 1] = lines[1][count + 1] = 1 << 20;
    for (INDEX d = 0; d < count; d++)
      sum[d] = lines[0][d + 1] = cost[d];
    for (INDEX col = 1; col < cols; col++) {{
      const int *line = lines[(col - 1) % 2];
      int *next = lines[col % 2], lowest = 1 << 20;
      for (INDEX d = 0; d < count; d++)
        lowest = MIN(lowest, line[d + 1]);
      for (INDEX d = 0; d < count; d++) {{
        int best = MIN(MIN(line[d + 1], lowest + large), MIN(line[d], line[d + 2]) + small);
        sum[col * count + d] = next[d + 1] = cost[col * count + d] + best - lowest;
      }}
    }}
  }}
}}
""",
)

THIN = plane(
    """thin_step(const unsigned char *__restrict__ image, int second, unsigned char *__restrict__ out,
              int *__restrict__ removed, int rows, int cols)""",
    """
      const unsigned char *p = image + row * cols + col;
      out[row * cols + col] = *p;
      if (*p != 0 && row != 0 && col != 0 && row != rows - 1 && col != cols - 1) {
        unsigned char ring[8] = {p[-cols], p[1 - cols], p[1], p[cols + 1], p[cols], p[cols - 1], p[-1], p[-cols - 1]};
        int count = 0, rises = 0;
        for (int k = 0; k < 8; k++) {
          count += ring[k];
          if (ring[k] == 0 && ring[(k + 1) % 8] == 1) rises++;
        }
        if (count >= 2 && count <= 6 && rises == 1) {
          int up = ring[0], right = ring[2], down = ring[4], left = ring[6], inner;
          if (second)
            inner = up * right * left == 0 && up * down * left == 0;
          else
            inner = up * right * down == 0 && right * down * left == 0;
          if (inner) {
            out[row * cols + col] = 0;
            COUNT;
          }
        }
      }
""",
)
THIN = {
    text: body.replace("COUNT", '_Pragma("omp atomic") removed[0]++' if text == "openmp" else "atomicAdd(removed, 1)")
    for text, body in THIN.items()
}

DISTANCE = each(
    """distance_rows(const int *__restrict__ heights, int *__restrict__ places, int *__restrict__ limits,
                  int *__restrict__ squares, int n, int cols)""",
    """
    const int *height = heights + i * cols;
    int *place = places + i * cols, *limit = limits + i * cols, *square = squares + i * cols;
    INDEX q = 0;
    place[0] = 0;
    limit[0] = 0;
    for (INDEX u = 1; u < cols; u++) {
      while (q >= 0 && parabola(limit[q], place[q], height[place[q]]) > parabola(limit[q], u, height[u]))
        q--;
      if (q < 0) {
        q = 0;
        place[0] = u;
      } else {
        INDEX p = place[q], w = 1 + (u * u - p * p + height[u] - height[p]) / (2 * (u - p));
        if (w < cols) {
          q++;
          place[q] = u;
          limit[q] = w;
        }
      }
    }
    for (INDEX u = cols - 1; u >= 0; u--) {
      square[u] = parabola(u, place[q], height[place[q]]);
      if (u == limit[q]) q--;
    }
""",
    before="DEVICE INDEX parabola(INDEX x, INDEX place, INDEX height) { return (x - place) * (x - place) + height; }",
)

TOMOGRAPHY = plane(
    """back_project(const float *__restrict__ sinogram, const float *__restrict__ cosines,
                 const float *__restrict__ sines, float spacing, float *__restrict__ image, int rows, int cols,
                 int angles, int detectors)""",
    """
      float x = (col - 0.5f * (cols - 1)) * spacing, y = (row - 0.5f * (rows - 1)) * spacing;
      float middle = 0.5f * (detectors - 1), total = 0;
      for (INDEX a = 0; a < angles; a++) {
        float s = x * cosines[a] + y * sines[a] + middle;
        INDEX k = (INDEX)floorf(s);
        if (k >= 0 && k + 1 < detectors) {
          float part = s - k;
          total += (1 - part) * sinogram[a * detectors + k] + part * sinogram[a * detectors + k + 1];
        }
      }
      image[row * cols + col] = total;
""",
)

ULTRASOUND = plane(
    """delay_and_sum(const PAIR *__restrict__ echoes, const float *__restrict__ elements,
                  const float *__restrict__ xs, const float *__restrict__ zs, float rate, float turn, float aperture,
                  PAIR *__restrict__ image, int rows, int cols, int count, int samples)""",
    """
      float x = xs[col], z = zs[row];
      PAIR total;
      total.x = total.y = 0;
      for (INDEX e = 0; e < count; e++) {
        float dx = x - elements[e];
        if (fabsf(dx) * aperture > z) continue;
        float t = (z + sqrtf(dx * dx + z * z)) * rate;
        INDEX k = (INDEX)t;
        if (k + 1 < samples) {
          float part = t - k, angle = turn * t, c = cosf(angle), s = sinf(angle);
          PAIR a = echoes[e * samples + k], b = echoes[e * samples + k + 1];
          float re = a.x * (1 - part) + b.x * part, im = a.y * (1 - part) + b.y * part;
          total.x += re * c - im * s;
          total.y += re * s + im * c;
        }
      }
      image[row * cols + col] = total;
""",
)
ULTRASOUND = {
    text: "typedef struct {float x, y;} echo_pair;\n" + body.replace("PAIR", "echo_pair")
    if text == "openmp" else body.replace("PAIR", "float2")
    for text, body in ULTRASOUND.items()
}  # fmt: skip

KERNELS = [
    Kernel(
        "scanlines of matching", sgm_scanline, "uint8[:,:,::1], pyint, pyint, uint16[:,:,::1]", 128, scanline_problem,
        gpu=6007, host=103, test=7, kind="shared", **SCANLINE,
    ),
    Kernel(
        "thinning, half a step", thin_step, "uint8[:,::1], pyint, uint8[:,::1], int32[::1]", (32, 8), thin_problem,
        gpu=4001, host=501, test=43, power=2, kind="stencil", **THIN,
    ),
    Kernel(
        "distances along rows", distance_rows, "int32[:,::1], int32[:,::1], int32[:,::1], int32[:,::1]", 64,
        distance_problem,
        gpu=20_011, host=1003, test=83, kind="irregular", **DISTANCE,
    ),
    Kernel(
        "back-projection", back_project, "float32[:,::1], float32[::1], float32[::1], float32, float32[:,::1]",
        (16, 16), tomography_problem,
        gpu=1001, host=111, test=29, power=2, **TOMOGRAPHY,
    ),
    Kernel(
        "delays of ultrasound", delay_and_sum,
        "complex64[:,::1], float32[::1], float32[::1], float32[::1], float32, float32, float32, complex64[:,::1]",
        (32, 4), ultrasound_problem,
        gpu=601, host=71, test=21, power=2, **ULTRASOUND,
    ),
]  # fmt: skip
