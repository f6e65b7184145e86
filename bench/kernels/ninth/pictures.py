"""Pictures: guided filter, corners of two kinds, a lens undone."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, int16

RING = (
    (0, -3), (1, -3), (2, -2), (3, -1), (3, 0), (3, 1), (2, 2), (1, 3),
    (0, 3), (-1, 3), (-2, 2), (-3, 1), (-3, 0), (-3, -1), (-2, -2), (-1, -3),
)  # fmt: skip


def guided_coefficients(guide, source, radius, epsilon, a, b):
    """The line that fits source to guide best in the window of each pixel (radius up to 4), from tiles with a rim."""
    tile_g = cuda.shared.array((16, 40), float32)
    tile_s = cuda.shared.array((16, 40), float32)
    rows, cols = guide.shape
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    left = cuda.blockIdx.x * cuda.blockDim.x - radius
    top = cuda.blockIdx.y * cuda.blockDim.y - radius
    high = cuda.blockDim.y + 2 * radius
    wide = cuda.blockDim.x + 2 * radius
    for y in range(ty, high, cuda.blockDim.y):
        row = min(max(top + y, 0), rows - 1)
        for x in range(tx, wide, cuda.blockDim.x):
            col = min(max(left + x, 0), cols - 1)
            tile_g[y, x] = guide[row, col]
            tile_s[y, x] = source[row, col]
    cuda.syncthreads()
    col, row = cuda.grid(2)
    if row < rows and col < cols:
        sum_g = float32(0)
        sum_s = float32(0)
        sum_gg = float32(0)
        sum_gs = float32(0)
        for y in range(2 * radius + 1):
            for x in range(2 * radius + 1):
                g = tile_g[ty + y, tx + x]
                s = tile_s[ty + y, tx + x]
                sum_g += g
                sum_s += s
                sum_gg += g * g
                sum_gs += g * s
        share = float32(1) / float32((2 * radius + 1) * (2 * radius + 1))
        mean_g = sum_g * share
        mean_s = sum_s * share
        slope = (sum_gs * share - mean_g * mean_s) / (sum_gg * share - mean_g * mean_g + epsilon)
        a[row, col] = slope
        b[row, col] = mean_s - slope * mean_g


def corner_response(image, sensitivity, response):
    """Harris' corners: gradients of a tile in shared memory, then sums of their products over 5x5."""
    gx = cuda.shared.array((12, 36), int16)
    gy = cuda.shared.array((12, 36), int16)
    rows, cols = image.shape
    t = cuda.threadIdx.y * 32 + cuda.threadIdx.x
    while t < 12 * 36:
        y = t // 36
        x = t % 36
        row = cuda.blockIdx.y * 8 + y - 2
        col = cuda.blockIdx.x * 32 + x - 2
        up = min(max(row - 1, 0), rows - 1)
        mid = min(max(row, 0), rows - 1)
        down = min(max(row + 1, 0), rows - 1)
        left = min(max(col - 1, 0), cols - 1)
        here = min(max(col, 0), cols - 1)
        right = min(max(col + 1, 0), cols - 1)
        nw = int(image[up, left])
        ne = int(image[up, right])
        sw = int(image[down, left])
        se = int(image[down, right])
        gx[y, x] = ne + se - nw - sw + 2 * (int(image[mid, right]) - int(image[mid, left]))
        gy[y, x] = sw + se - nw - ne + 2 * (int(image[down, here]) - int(image[up, here]))
        t += 256
    cuda.syncthreads()
    col, row = cuda.grid(2)
    if row >= rows or col >= cols:
        return
    xx = 0
    xy = 0
    yy = 0
    for i in range(5):
        for j in range(5):
            x = int(gx[cuda.threadIdx.y + i, cuda.threadIdx.x + j])
            y = int(gy[cuda.threadIdx.y + i, cuda.threadIdx.x + j])
            xx += x * x
            xy += x * y
            yy += y * y
    scale = float32(1) / float32(25 * 1020 * 1020)
    fxx = float32(xx) * scale
    fxy = float32(xy) * scale
    fyy = float32(yy) * scale
    trace = fxx + fyy
    response[row, col] = fxx * fyy - fxy * fxy - sensitivity * trace * trace


def has_run(bits):
    """Are 9 of 16 bits in a ring set one after the other."""
    ring = bits | (bits << 16)
    run = ring & (ring >> 1)
    run &= run >> 2
    run &= run >> 4
    return run & (ring >> 8) & 0xFFFF != 0


def fast_corners(image, threshold, scores):
    """FAST corners: 9 of the 16 pixels around brighter or darker, and by how much they all are."""
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row >= rows or col >= cols:
        return
    score = 0
    if 3 <= row < rows - 3 and 3 <= col < cols - 3:
        centre = int(image[row, col])
        brighter = 0
        darker = 0
        above = 0
        below = 0
        for k, (dx, dy) in enumerate(RING):
            difference = int(image[row + dy, col + dx]) - centre
            if difference > threshold:
                brighter |= 1 << k
                above += difference - threshold
            elif difference < -threshold:
                darker |= 1 << k
                below -= difference + threshold
        if has_run(brighter):
            score = above
        elif has_run(darker):
            score = below
    scores[row, col] = score


def undistorted(image, lens, centre_x, centre_y, focal, out):
    """A picture without its lens' distortion (three radial, two tangential terms): bytes of 3 colours, bilinear."""
    col, row = cuda.grid(2)
    rows, cols, colours = out.shape
    if row >= rows or col >= cols:
        return
    k1, k2, k3, p1, p2 = lens[0], lens[1], lens[2], lens[3], lens[4]
    x = (col - centre_x) / focal
    y = (row - centre_y) / focal
    rr = x * x + y * y
    radial = 1 + rr * (k1 + rr * (k2 + rr * k3))
    u = x * radial + 2 * p1 * x * y + p2 * (rr + 2 * x * x)
    v = y * radial + p1 * (rr + 2 * y * y) + 2 * p2 * x * y
    u = min(max(u * focal + centre_x, 0), image.shape[1] - 1)
    v = min(max(v * focal + centre_y, 0), image.shape[0] - 1)
    left = int(u)
    top = int(v)
    right = min(left + 1, image.shape[1] - 1)
    bottom = min(top + 1, image.shape[0] - 1)
    fx = float32(u - left)
    fy = float32(v - top)
    for c in range(colours):
        above = image[top, left, c] * (1 - fx) + image[top, right, c] * fx
        below = image[bottom, left, c] * (1 - fx) + image[bottom, right, c] * fx
        out[row, col, c] = int(above * (1 - fy) + below * fy + float32(0.5))


def guided_problem(rng, n):
    rows, cols, radius, epsilon = n, n + 11, 3, np.float32(0.01)
    guide = rng.random((rows, cols), np.float32)
    source = np.float32(0.5) * guide + np.float32(0.5) * rng.random((rows, cols), np.float32)

    def expected():
        count = (2 * radius + 1) ** 2
        at = sampled(rng, rows, 600)
        wide_g, wide_s = (np.pad(x, radius, "edge") for x in (guide, source))

        def mean(of):
            lines = sum(of(wide_g[at + k].astype(float), wide_s[at + k].astype(float)) for k in range(2 * radius + 1))
            return sum(lines[:, k : cols + k] for k in range(2 * radius + 1)) / count

        mean_g, mean_s = mean(lambda g, s: g), mean(lambda g, s: s)
        below = mean(lambda g, s: g * g) - mean_g**2 + epsilon
        a = (mean(lambda g, s: g * s) - mean_g * mean_s) / below
        # Means of products of numbers up to 1 are off by (count + 4) roundings, their differences by both.
        error = EPS32 * (count + 4)
        bound = error * (1 + np.abs(a)) / below
        return [(at, a, bound), (at, mean_s - a * mean_g, bound + error * (1 + np.abs(a)))]

    args = (guide, source, radius, epsilon, *np.zeros((2, rows, cols), np.float32))
    work = rows * cols
    return Problem(args, (rows, cols), (4, 5), expected, threads=(cols, rows), bytes=16.0 * work, flops=6.0 * 49 * work)


def harris_problem(rng, n):
    rows, cols, sensitivity = n, n + 5, np.float32(0.05)
    image = rng.integers(0, 256, (rows, cols), np.uint8)
    coarse = image[: (rows + 15) // 16, : (cols + 7) // 8]
    image[: rows // 2] = np.repeat(np.repeat(coarse, 8, 0), 8, 1)[: rows // 2, :cols]

    def expected():
        chosen = sampled(rng, rows, 300)
        r, c = chosen[:, None] + np.arange(-2, 3), np.arange(-2, cols + 2)
        wide = image.astype(int)

        def at(dy, dx):
            """What is beside the pixels around the chosen rows, which are repeated beyond the border."""
            return wide[np.clip(r + dy, 0, rows - 1)][:, :, np.clip(c + dx, 0, cols - 1)]

        gx = at(-1, 1) + at(1, 1) - at(-1, -1) - at(1, -1) + 2 * (at(0, 1) - at(0, -1))
        gy = at(1, -1) + at(1, 1) - at(-1, -1) - at(-1, 1) + 2 * (at(1, 0) - at(-1, 0))

        def summed(p):
            p = p.sum(1)
            return sum(p[:, k : k + cols] for k in range(5)) / (25.0 * 1020 * 1020)

        xx, xy, yy = summed(gx * gx), summed(gx * gy), summed(gy * gy)
        sizes = xx * yy + xy**2 + sensitivity * (xx + yy) ** 2
        return [(chosen, xx * yy - xy**2 - float(sensitivity) * (xx + yy) ** 2, 8 * EPS32 * sizes)]

    args = (image, sensitivity, np.full((rows, cols), 9, np.float32))
    return Problem(
        args, (rows, cols), (2,), expected, threads=(cols, rows), bytes=5.0 * rows * cols, flops=150.0 * rows * cols,
    )  # fmt: skip


def corners_problem(rng, n):
    rows, cols, threshold = n, n + 7, 20
    image = rng.integers(90, 120, (rows, cols), np.uint8)
    for _ in range(rows * cols // 400):  # boxes, whose corners are found
        y, x = rng.integers(0, rows), rng.integers(0, cols)
        image[y : y + rng.integers(2, 20), x : x + rng.integers(2, 20)] += np.uint8(rng.choice([60, 200]))

    def expected():
        at = sampled(rng, rows - 6, 600)
        wide = image.astype(np.int16)
        centre = wide[at + 3, 3:-3]
        bits = np.zeros((2, *centre.shape), np.int64)
        sums = np.zeros((2, *centre.shape), np.int32)
        for k, (dx, dy) in enumerate(RING):
            difference = wide[at + 3 + dy, 3 + dx : cols - 3 + dx] - centre
            for side, d in enumerate((difference, -difference)):
                bits[side] |= (d > threshold).astype(np.int64) << k
                sums[side] += np.where(d > threshold, d - threshold, 0)
        table = np.array([any(all(v >> (s + k) % 16 & 1 for k in range(9)) for s in range(16)) for v in range(1 << 16)])
        scores = np.zeros((len(at) + 6, cols), np.int16)
        scores[3:-3, 3:-3] = np.where(table[bits[0]], sums[0], np.where(table[bits[1]], sums[1], 0))
        return [(np.concatenate([np.arange(3), at + 3, rows - 3 + np.arange(3)]), scores, 0)]

    args = (image, threshold, np.full((rows, cols), -1, np.int16))
    return Problem(
        args, (rows, cols), (2,), expected, threads=(cols, rows), bytes=3.0 * rows * cols, flops=90.0 * rows * cols,
    )  # fmt: skip


def lens_problem(rng, n):
    rows, cols = n, n + n // 3
    y, x = np.mgrid[:rows, :cols].astype(np.float32)
    waves = [127 + 120 * np.sin(x / (11 + c) + 1) * np.cos(y / (13 - c)) for c in range(3)]
    image = np.stack(waves, 2).astype(np.uint8)
    lens = np.array([-0.21, 0.07, -0.011, 0.0013, -0.0007], np.float32)
    middle_x, middle_y, focal = np.float32(cols / 2 - 3.25), np.float32(rows / 2 + 2.5), np.float32(cols * 0.7)

    def expected():
        k1, k2, k3, p1, p2 = lens.astype(float)
        at = sampled(rng, rows, 300)
        v, u = np.meshgrid(at.astype(float), np.arange(float(cols)), indexing="ij")
        u, v = (u - middle_x) / focal, (v - middle_y) / focal
        rr = u * u + v * v
        radial = 1 + rr * (k1 + rr * (k2 + rr * k3))
        a = u * radial + 2 * p1 * u * v + p2 * (rr + 2 * u * u)
        b = v * radial + p1 * (rr + 2 * v * v) + 2 * p2 * u * v
        a = np.clip(a * focal + middle_x, 0, cols - 1)
        b = np.clip(b * focal + middle_y, 0, rows - 1)
        left, top = a.astype(int), b.astype(int)
        right, bottom = np.minimum(left + 1, cols - 1), np.minimum(top + 1, rows - 1)
        fx, fy = (a - left)[..., None], (b - top)[..., None]
        above = image[top, left] * (1 - fx) + image[top, right] * fx
        below = image[bottom, left] * (1 - fx) + image[bottom, right] * fx
        # Rounded to a byte; places are off by 16 roundings of their size, and neighbours differ by at most 12 a pixel.
        return [(at, above * (1 - fy) + below * fy, 0.5 + 0.001 + 2 * 12 * 16 * EPS32 * cols)]

    args = (image, lens, middle_x, middle_y, focal, np.zeros((rows, cols, 3), np.uint8))
    return Problem(
        args, (rows, cols, 3), (5,), expected, threads=(cols, rows), bytes=6.0 * rows * cols,
        flops=70.0 * rows * cols,
    )  # fmt: skip


GUIDED_HEAD = """guided_coefficients(const float *__restrict__ guide, const float *__restrict__ source, int radius,
                         float epsilon, float *__restrict__ a, float *__restrict__ b, int rows, int cols)"""
GUIDED_FIT = """
    float share = 1.0f / ((2 * radius + 1) * (2 * radius + 1)), mean_g = sum_g * share, mean_s = sum_s * share;
    float slope = (sum_gs * share - mean_g * mean_s) / (sum_gg * share - mean_g * mean_g + epsilon);
    a[row * cols + col] = slope;
    b[row * cols + col] = mean_s - slope * mean_g;
"""
GUIDED = indexed(
    f"""
__global__ void {GUIDED_HEAD} {{
  __shared__ float tile_g[16][40], tile_s[16][40];
  INDEX tx = threadIdx.x, ty = threadIdx.y, left = blockIdx.x * (INDEX)blockDim.x - radius;
  INDEX top = blockIdx.y * (INDEX)blockDim.y - radius, high = blockDim.y + 2 * radius, wide = blockDim.x + 2 * radius;
  for (INDEX y = ty; y < high; y += blockDim.y) {{
    INDEX row = min(max(top + y, (INDEX)0), (INDEX)rows - 1);
    for (INDEX x = tx; x < wide; x += blockDim.x) {{
      INDEX col = min(max(left + x, (INDEX)0), (INDEX)cols - 1);
      tile_g[y][x] = guide[row * cols + col];
      tile_s[y][x] = source[row * cols + col];
    }}
  }}
  __syncthreads();
  INDEX col = left + radius + tx, row = top + radius + ty;
  if (row < rows && col < cols) {{
    float sum_g = 0, sum_s = 0, sum_gg = 0, sum_gs = 0;
    for (INDEX y = 0; y <= 2 * radius; y++)
      for (INDEX x = 0; x <= 2 * radius; x++) {{
        float g = tile_g[ty + y][tx + x], s = tile_s[ty + y][tx + x];
        sum_g += g;
        sum_s += s;
        sum_gg += g * g;
        sum_gs += g * s;
      }}
{GUIDED_FIT}
  }}
}}
""",
    f"""
void {GUIDED_HEAD} {{
#pragma omp parallel for
  for (INDEX row = 0; row < rows; row++)
    for (INDEX col = 0; col < cols; col++) {{
      float sum_g = 0, sum_s = 0, sum_gg = 0, sum_gs = 0;
      for (INDEX y = row - radius; y <= row + radius; y++)
        for (INDEX x = col - radius; x <= col + radius; x++) {{
          INDEX at = MIN(MAX(y, 0), rows - 1) * cols + MIN(MAX(x, 0), cols - 1);
          float g = guide[at], s = source[at];
          sum_g += g;
          sum_s += s;
          sum_gg += g * g;
          sum_gs += g * s;
        }}
{GUIDED_FIT}
    }}
}}
""",
)

HARRIS_HEAD = """corner_response(const unsigned char *__restrict__ image, float sensitivity,
                    float *__restrict__ response,
                     int rows, int cols)"""
HARRIS_BEFORE = """
DEVICE void harris_gradient(const unsigned char *image, INDEX row, INDEX col, int rows, int cols, short *gx,
                    short *gy) {
  INDEX last_row = rows - 1, last_col = cols - 1, zero = 0;
  INDEX up = MIN(MAX(row - 1, zero), last_row), mid = MIN(MAX(row, zero), last_row), down = MIN(MAX(row + 1, zero),
    last_row);
  INDEX left = MIN(MAX(col - 1, zero), last_col), here = MIN(MAX(col, zero), last_col);
  INDEX right = MIN(MAX(col + 1, zero), last_col);
  int nw = image[up * cols + left], ne = image[up * cols + right], sw = image[down * cols + left];
  int se = image[down * cols + right];
  *gx = ne + se - nw - sw + 2 * (image[mid * cols + right] - image[mid * cols + left]);
  *gy = sw + se - nw - ne + 2 * (image[down * cols + here] - image[up * cols + here]);
}
"""
HARRIS_SCORE = """
    float scale = 1.0f / (25 * 1020 * 1020), fxx = xx * scale, fxy = xy * scale, fyy = yy * scale, trace = fxx + fyy;
    response[row * cols + col] = fxx * fyy - fxy * fxy - sensitivity * trace * trace;
"""
HARRIS = indexed(
    f"""{HARRIS_BEFORE}
__global__ void {HARRIS_HEAD} {{
  __shared__ short gx[12][36], gy[12][36];
  for (int t = threadIdx.y * 32 + threadIdx.x; t < 12 * 36; t += 256) {{
    int y = t / 36, x = t % 36;
    harris_gradient(image, blockIdx.y * (INDEX)8 + y - 2, blockIdx.x * (INDEX)32 + x - 2, rows, cols, &gx[y][x],
      &gy[y][x]);
  }}
  __syncthreads();
  INDEX col = blockIdx.x * (INDEX)32 + threadIdx.x, row = blockIdx.y * (INDEX)8 + threadIdx.y;
  if (row < rows && col < cols) {{
    int xx = 0, xy = 0, yy = 0;
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 5; j++) {{
        int x = gx[threadIdx.y + i][threadIdx.x + j], y = gy[threadIdx.y + i][threadIdx.x + j];
        xx += x * x;
        xy += x * y;
        yy += y * y;
      }}
{HARRIS_SCORE}
  }}
}}
""",
    f"""{HARRIS_BEFORE}
void {HARRIS_HEAD} {{
#pragma omp parallel for
  for (INDEX top = 0; top < rows; top += 8)
    for (INDEX left = 0; left < cols; left += 32) {{
      short gx[12][36], gy[12][36];
      for (INDEX y = 0; y < 12; y++)
        for (INDEX x = 0; x < 36; x++)
          harris_gradient(image, top + y - 2, left + x - 2, rows, cols, &gx[y][x], &gy[y][x]);
      for (INDEX row = top; row < MIN(top + 8, rows); row++)
        for (INDEX col = left; col < MIN(left + 32, cols); col++) {{
          int xx = 0, xy = 0, yy = 0;
          for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++) {{
              int x = gx[row - top + i][col - left + j], y = gy[row - top + i][col - left + j];
              xx += x * x;
              xy += x * y;
              yy += y * y;
            }}
{HARRIS_SCORE}
        }}
    }}
}}
""",
)

CORNERS = plane(
    """fast_corners(const unsigned char *__restrict__ image, int threshold, short *__restrict__ scores, int rows,
                 int cols)""",
    """
    const int dxs[16] = {0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3, -3, -3, -2, -1};
    const int dys[16] = {-3, -3, -2, -1, 0, 1, 2, 3, 3, 3, 2, 1, 0, -1, -2, -3};
    int score = 0;
    if (3 <= row && row < rows - 3 && 3 <= col && col < cols - 3) {
      int centre = image[row * cols + col], above = 0, below = 0;
      unsigned brighter = 0, darker = 0;
      for (int k = 0; k < 16; k++) {
        int difference = image[(row + dys[k]) * cols + col + dxs[k]] - centre;
        if (difference > threshold) {
          brighter |= 1u << k;
          above += difference - threshold;
        } else if (difference < -threshold) {
          darker |= 1u << k;
          below -= difference + threshold;
        }
      }
      if (corner_run(brighter))
        score = above;
      else if (corner_run(darker))
        score = below;
    }
    scores[row * cols + col] = score;
""",
    before="""
DEVICE int corner_run(unsigned bits) {
  unsigned ring = bits | bits << 16, run = ring & ring >> 1;
  run &= run >> 2;
  run &= run >> 4;
  return (run & ring >> 8 & 0xffff) != 0;
}
""",
)

LENS = plane(
    """undistorted(const unsigned char *__restrict__ image, const float *__restrict__ lens, float centre_x,
      float centre_y,
                float focal, unsigned char *__restrict__ out, int rows, int cols, int colours)""",
    """
    float k1 = lens[0], k2 = lens[1], k3 = lens[2], p1 = lens[3], p2 = lens[4];
    float x = (col - centre_x) / focal, y = (row - centre_y) / focal, rr = x * x + y * y;
    float radial = 1 + rr * (k1 + rr * (k2 + rr * k3));
    float u = x * radial + 2 * p1 * x * y + p2 * (rr + 2 * x * x);
    float v = y * radial + p1 * (rr + 2 * y * y) + 2 * p2 * x * y;
    u = fminf(fmaxf(u * focal + centre_x, 0), cols - 1);
    v = fminf(fmaxf(v * focal + centre_y, 0), rows - 1);
    INDEX left = (INDEX)u, top = (INDEX)v, right = MIN(left + 1, (INDEX)cols - 1), bottom = MIN(top + 1,
      (INDEX)rows - 1);
    float fx = u - left, fy = v - top;
    const unsigned char *nw = image + (top * cols + left) * colours, *ne = image + (top * cols + right) * colours;
    const unsigned char *sw = image + (bottom * cols + left) * colours, *se = image + (bottom * cols + right) * colours;
    for (INDEX c = 0; c < colours; c++) {
      float above = nw[c] * (1 - fx) + ne[c] * fx, below = sw[c] * (1 - fx) + se[c] * fx;
      out[(row * cols + col) * colours + c] = (unsigned char)(above * (1 - fy) + below * fy + 0.5f);
    }
""",
)

KERNELS = [
    Kernel(
        "coefficients of a guided filter", guided_coefficients,
        "float32[:,::1], float32[:,::1], pyint, float32, float32[:,::1], float32[:,::1]", (32, 8), guided_problem,
        gpu=3001, host=301, test=45, power=2, kind="shared", **GUIDED,
    ),
    Kernel(
        "Harris' corners", corner_response, "uint8[:,::1], float32, float32[:,::1]", (32, 8), harris_problem,
        gpu=4001, host=401, test=45, power=2, kind="shared", **HARRIS,
    ),
    Kernel(
        "FAST corners", fast_corners, "uint8[:,::1], pyint, int16[:,::1]", (32, 8), corners_problem,
        gpu=3001, host=501, test=67, power=2, kind="stencil", **CORNERS,
    ),
    Kernel(
        "lens distortion undone",
        undistorted, "uint8[:,:,::1], float32[::1], float32, float32, float32, uint8[:,:,::1]",
        (32, 4), lens_problem,
        gpu=3001, host=501, test=51, power=2, **LENS,
    ),
]  # fmt: skip
