"""Images read at computed places, clamped to the border: resizing, warping, the median of 3x3, a
box filter.

Bilinear and bicubic (Keys, 1981) resizing as image libraries define them, with pixel centres at
halves.
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, PLANE, THIN_PLANE, Kernel, Problem, sampled
from kernels.texts import plane
from pyptx import cuda, float32


def resize_bilinear(image, scale_y, scale_x, out):
    """Each pixel from the four around its place."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        y = (np.float32(row) + 0.5) * scale_y - 0.5
        x = (np.float32(col) + 0.5) * scale_x - 0.5
        top = int(math.floor(y))
        left = int(math.floor(x))
        dy = y - np.float32(top)
        dx = x - np.float32(left)
        y0 = min(max(top, 0), image.shape[0] - 1)
        y1 = min(max(top + 1, 0), image.shape[0] - 1)
        x0 = min(max(left, 0), image.shape[1] - 1)
        x1 = min(max(left + 1, 0), image.shape[1] - 1)
        above = image[y0, x0] * (1 - dx) + image[y0, x1] * dx
        below = image[y1, x0] * (1 - dx) + image[y1, x1] * dx
        out[row, col] = above * (1 - dy) + below * dy


def keys_weight(t):
    """Keys' cubic kernel with a = -1/2."""
    t = abs(t)
    if t < 1:
        return (1.5 * t - 2.5) * t * t + 1
    if t < 2:
        return ((-0.5 * t + 2.5) * t - 4) * t + 2
    return t * 0


def resize_bicubic(image, scale_y, scale_x, out):
    """Each pixel from the sixteen around its place."""
    col, row = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    y = (np.float32(row) + 0.5) * scale_y - 0.5
    x = (np.float32(col) + 0.5) * scale_x - 0.5
    top = int(math.floor(y))
    left = int(math.floor(x))
    total = np.float32(0)
    for i in range(-1, 3):
        line = min(max(top + i, 0), image.shape[0] - 1)
        s = np.float32(0)
        for j in range(-1, 3):
            column = min(max(left + j, 0), image.shape[1] - 1)
            s += image[line, column] * keys_weight(x - np.float32(left + j))
        total += s * keys_weight(y - np.float32(top + i))
    out[row, col] = total


def warp_affine(image, a, b, c, d, e, f, out):
    """Each pixel from (a x + b y + c, d x + e y + f), interpolated; outside of the image black."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        x = a * col + b * row + c
        y = d * col + e * row + f
        left = int(math.floor(x))
        top = int(math.floor(y))
        value = 0.0
        if 0 <= top < image.shape[0] - 1 and 0 <= left < image.shape[1] - 1:
            dx = x - left
            dy = y - top
            value = (
                (image[top, left] * (1 - dx) + image[top, left + 1] * dx) * (1 - dy)
                + (image[top + 1, left] * (1 - dx) + image[top + 1, left + 1] * dx) * dy
            )  # fmt: skip
        out[row, col] = value


def median3x3(image, out):
    """The window sorted by insertion in a local array."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        window = cuda.local.array(9, float32)
        count = 0
        for i in range(-1, 2):
            for j in range(-1, 2):
                value = image[min(max(row + i, 0), image.shape[0] - 1), min(max(col + j, 0), image.shape[1] - 1)]
                k = count
                while k > 0 and window[k - 1] > value:
                    window[k] = window[k - 1]
                    k -= 1
                window[k] = value
                count += 1
        out[row, col] = window[4]


def box_blur(image, radius, out):
    """The rounded mean of (2 radius + 1)^2 bytes."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        total = 0
        for i in range(row - radius, row + radius + 1):
            y = min(max(i, 0), image.shape[0] - 1)
            for j in range(col - radius, col + radius + 1):
                total += int(image[y, min(max(j, 0), image.shape[1] - 1)])
        area = (2 * radius + 1) * (2 * radius + 1)
        out[row, col] = (total + area // 2) // area


def clamped(at, extent):
    """Indices within an extent."""
    return np.clip(at, 0, extent - 1)


def source_places(n, scale):
    """Where the centres of n pixels are in the image that they are taken from."""
    return (np.arange(n) + 0.5) * float(scale) - 0.5


def resizing(rng, n, reach, weight, growth, flops):
    """The Problem of making n x (3 n / 4 + 1) pixels of 0.6 as many rows and 0.45 as many columns.
    """
    rows, cols = n, 3 * n // 4 + 1
    image = rng.random((int(0.6 * rows) + 2, int(0.45 * cols) + 2), np.float32)
    scale_y, scale_x = np.float32(image.shape[0] / rows), np.float32(image.shape[1] / cols)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 100)
        y, x = source_places(rows, scale_y)[some], source_places(cols, scale_x)
        top, left = np.floor(y).astype(int), np.floor(x).astype(int)
        values = np.zeros((len(some), cols))
        for i in reach:
            for j in reach:
                picked = image[clamped(top + i, image.shape[0])[:, None], clamped(left + j, image.shape[1])]
                values += picked * weight(y - top - i)[:, None] * weight(x - left - j)
        # A place is off by two roundings of a number up to the extent; a pixel is at most 1, and
        # the weights of an axis change by `growth` from one place to the next. Then two dozen
        # roundings of values up to 1.6.
        return [(some, values, EPS32 * growth * 2 * max(image.shape) + 24 * 1.6 * EPS32 / 2)]

    return Problem(
        (image, scale_y, scale_x, np.zeros((rows, cols), np.float32)), (*image.shape, rows, cols), (3,), expected,
        threads=(cols, rows), bytes=4 * (rows * cols + image.size), flops=flops * rows * cols,
    )  # fmt: skip


def bilinear_problem(rng, n):
    """The weight of a pixel falls to 0 at the next one."""
    return resizing(rng, n, (0, 1), lambda t: np.clip(1 - np.abs(t), 0, 1), 2, 16)


def bicubic_problem(rng, n):
    """Keys' weights."""
    def weight(t):
        """That of a pixel at this distance."""
        t = np.abs(t)
        near, far = (1.5 * t - 2.5) * t * t + 1, ((-0.5 * t + 2.5) * t - 4) * t + 2
        return np.where(t < 1, near, np.where(t < 2, far, 0))

    return resizing(rng, n, (-1, 0, 1, 2), weight, 6, 250)


def warp_problem(rng, n):
    """A turn by 0.3 and a shift, of n x (4 n / 3 + 1) pixels."""
    rows, cols = n, 4 * n // 3 + 1
    image = rng.random((rows, cols))
    turn = 0.9 * np.cos(0.3), -0.9 * np.sin(0.3), 0.21 * n, 0.9 * np.sin(0.3), 0.9 * np.cos(0.3), -0.17 * n
    a, b, c, d, e, f = map(np.float64, turn)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 100)
        row, col = some[:, None], np.arange(cols)
        x, y = a * col + b * row + c, d * col + e * row + f
        left, top = np.floor(x).astype(int), np.floor(y).astype(int)
        dx, dy = x - left, y - top
        inside = (top >= 0) & (top < rows - 1) & (left >= 0) & (left < cols - 1)
        top, left = np.where(inside, top, 0), np.where(inside, left, 0)
        above = image[top, left] * (1 - dx) + image[top, left + 1] * dx
        below = image[top + 1, left] * (1 - dx) + image[top + 1, left + 1] * dx
        values = np.where(inside, above * (1 - dy) + below * dy, 0)
        # Places are off by four roundings of numbers up to 3 n, on both sides; a pixel changes by
        # at most 1 for each axis.
        return [(some, values, 2 * 2 * 4 * EPS64 * 3 * n)]

    return Problem(
        (image, a, b, c, d, e, f, np.zeros((rows, cols))), (rows, cols, rows, cols), (7,), expected, threads=(cols, rows),
        bytes=16 * rows * cols, flops=20 * rows * cols,
    )  # fmt: skip


def median_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, random pixels."""
    rows, cols = shape or (n, 3 * n // 2 + 1)
    image = rng.random((rows, cols), np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 200)
        window = [
            image[clamped(some + i, rows)][:, clamped(np.arange(cols) + j, cols)] for i in (-1, 0, 1) for j in (-1, 0, 1)
        ]  # fmt: skip
        return [(some, np.median(window, axis=0), 0)]

    return Problem(
        (image, np.zeros_like(image)), (rows, cols), (1,), expected, threads=(cols, rows), bytes=8 * rows * cols,
        flops=30 * rows * cols,
    )  # fmt: skip


def blur_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, random bytes, a radius of 3."""
    (rows, cols), radius = shape or (n, 3 * n // 2 + 1), 3
    image = rng.integers(0, 256, (rows, cols), np.uint8)
    area = (2 * radius + 1) ** 2

    def expected():
        some = sampled(np.random.default_rng(0), rows, 200)
        reach = range(-radius, radius + 1)
        strip = sum(image[clamped(some + i, rows)].astype(int) for i in reach)
        total = sum(strip[:, clamped(np.arange(cols) + j, cols)] for j in reach)
        return [(some, (total + area // 2) // area, 0)]

    return Problem(
        (image, radius, np.zeros_like(image)), (rows, cols), (2,), expected, threads=(cols, rows), bytes=2 * rows * cols,
        flops=area * rows * cols,
    )  # fmt: skip


PLACES = """
    float y = (row + 0.5f) * scale_y - 0.5f, x = (col + 0.5f) * scale_x - 0.5f;
    INDEX top = (INDEX)floorf(y), left = (INDEX)floorf(x);
"""
RESIZED = "(const float *image, float scale_y, float scale_x, float *out, int h, int w, int rows, int cols)"

BILINEAR = plane(
    "resize_bilinear" + RESIZED,
    PLACES
    + """
    float dy = y - top, dx = x - left;
    INDEX y0 = MIN(MAX(top, (INDEX)0), (INDEX)h - 1), y1 = MIN(MAX(top + 1, (INDEX)0), (INDEX)h - 1);
    INDEX x0 = MIN(MAX(left, (INDEX)0), (INDEX)w - 1), x1 = MIN(MAX(left + 1, (INDEX)0), (INDEX)w - 1);
    float above = image[y0 * w + x0] * (1 - dx) + image[y0 * w + x1] * dx;
    float below = image[y1 * w + x0] * (1 - dx) + image[y1 * w + x1] * dx;
    out[row * cols + col] = above * (1 - dy) + below * dy;
""",
)

BICUBIC = plane(
    "resize_bicubic" + RESIZED,
    PLACES
    + """
    float total = 0;
    for (INDEX i = -1; i < 3; i++) {
      INDEX line = MIN(MAX(top + i, (INDEX)0), (INDEX)h - 1);
      float s = 0;
      for (INDEX j = -1; j < 3; j++) {
        INDEX column = MIN(MAX(left + j, (INDEX)0), (INDEX)w - 1);
        s += image[line * w + column] * keys_weight(x - (left + j));
      }
      total += s * keys_weight(y - (top + i));
    }
    out[row * cols + col] = total;
""",
    before="""
DEVICE float keys_weight(float t) {
  t = fabsf(t);
  if (t < 1)
    return (1.5f * t - 2.5f) * t * t + 1;
  if (t < 2)
    return ((-0.5f * t + 2.5f) * t - 4) * t + 2;
  return 0;
}
""",
)

WARP = plane(
    "warp_affine(const double *image, double a, double b, double c, double d, double e, double f, double *out, int h, int w,\n"
    "            int rows, int cols)",
    """
    double x = a * col + b * row + c, y = d * col + e * row + f;
    INDEX left = (INDEX)floor(x), top = (INDEX)floor(y);
    double value = 0;
    if (0 <= top && top < h - 1 && 0 <= left && left < w - 1) {
      double dx = x - left, dy = y - top;
      value = (image[top * w + left] * (1 - dx) + image[top * w + left + 1] * dx) * (1 - dy) +
              (image[(top + 1) * w + left] * (1 - dx) + image[(top + 1) * w + left + 1] * dx) * dy;
    }
    out[row * cols + col] = value;
""",
)

MEDIAN = plane(
    "median3x3(const float *image, float *out, int rows, int cols)",
    """
    float window[9];
    INDEX count = 0;
    for (INDEX i = -1; i < 2; i++)
      for (INDEX j = -1; j < 2; j++) {
        INDEX y = MIN(MAX(row + i, (INDEX)0), (INDEX)rows - 1), x = MIN(MAX(col + j, (INDEX)0), (INDEX)cols - 1);
        float value = image[y * cols + x];
        INDEX k = count;
        while (k > 0 && window[k - 1] > value) {
          window[k] = window[k - 1];
          k--;
        }
        window[k] = value;
        count++;
      }
    out[row * cols + col] = window[4];
""",
)

BLUR = plane(
    "box_blur(const unsigned char *image, int radius, unsigned char *out, int rows, int cols)",
    """
    INDEX total = 0;
    for (INDEX i = row - radius; i <= row + radius; i++) {
      INDEX y = MIN(MAX(i, (INDEX)0), (INDEX)rows - 1);
      for (INDEX j = col - radius; j <= col + radius; j++)
        total += image[y * cols + MIN(MAX(j, (INDEX)0), (INDEX)cols - 1)];
    }
    INDEX area = (2 * (INDEX)radius + 1) * (2 * (INDEX)radius + 1);
    out[row * cols + col] = (total + area / 2) / area;
""",
)

RESIZE = "float32[:,::1], float32, float32, float32[:,::1]"

KERNELS = [
    Kernel(
        "resize, bilinear", resize_bilinear, RESIZE, (32, 8), bilinear_problem,
        gpu=9001, host=3293, test=61, power=2, sweep=PLANE, **BILINEAR,
    ),
    Kernel(
        "resize, bicubic", resize_bicubic, RESIZE, (32, 8), bicubic_problem,
        gpu=4099, host=1763, test=61, power=2, **BICUBIC,
    ),
    Kernel(
        "affine warp, float64", warp_affine, "float64[:,::1], " + "float64, " * 6 + "float64[:,::1]", (32, 8), warp_problem,
        gpu=4099, host=2099, test=61, power=2, **WARP,
    ),
    Kernel(
        "median of 3x3", median3x3, "float32[:,::1], float32[:,::1]", (32, 8), median_problem,
        gpu=4099, host=509, test=61, power=2, sweep=PLANE, thin=THIN_PLANE, **MEDIAN,
    ),
    Kernel(
        "box blur of bytes", box_blur, "uint8[:,::1], pyint, uint8[:,::1]", (32, 8), blur_problem,
        gpu=4099, host=509, test=61, power=2, sweep=PLANE, thin=THIN_PLANE, **BLUR,
    ),
]  # fmt: skip
