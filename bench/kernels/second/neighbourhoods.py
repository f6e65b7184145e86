"""Windows of bytes and of numbers around each pixel: bilateral filters, local binary patterns, the
census transform, erosion, Sobel's gradient, blurs by running sums, gradient histograms of cells.

Results of integers are equal, so their bounds are 0.
"""

import math
from dataclasses import replace

import numpy as np
from kernels.declare import EPS32, PLANE, THIN_PLANE, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda, int32


def bilateral_window(image, radius, space, tone, out):
    """The mean of a window, weighted by distance and by difference of tone; pixels outside of the
    image do not count.
    """
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        centre = image[row, col]
        total = np.float32(0)
        weights = np.float32(0)
        for i in range(-radius, radius + 1):
            for j in range(-radius, radius + 1):
                y = row + i
                x = col + j
                if 0 <= y < image.shape[0] and 0 <= x < image.shape[1]:
                    value = image[y, x]
                    difference = value - centre
                    weight = math.exp(-(np.float32(i * i + j * j) * space + difference * difference * tone))
                    total += weight * value
                    weights += weight
        out[row, col] = total / weights


def bilateral_bytes(image, space, tone, out):
    """The same of 5x5 bytes with the border repeated; the weights come from two tables."""
    col, row = cuda.grid(2)
    rows, cols = image.shape
    if row >= rows or col >= cols:
        return
    centre = int(image[row, col])
    total = np.float32(0)
    weights = np.float32(0)
    for i in range(5):
        y = min(max(row + i - 2, 0), rows - 1)
        for j in range(5):
            x = min(max(col + j - 2, 0), cols - 1)
            value = int(image[y, x])
            weight = space[i, j] * tone[abs(value - centre)]
            total += weight * np.float32(value)
            weights += weight
    out[row, col] = int(total / weights + np.float32(0.5))


def texture_inner(image, out):
    """Local binary pattern: a bit for each neighbour that is not darker; the border stays."""
    col, row = cuda.grid(2)
    if 0 < row < image.shape[0] - 1 and 0 < col < image.shape[1] - 1:
        centre = image[row, col]
        code = 0
        code |= (image[row - 1, col - 1] >= centre) << 7
        code |= (image[row - 1, col] >= centre) << 6
        code |= (image[row - 1, col + 1] >= centre) << 5
        code |= (image[row, col + 1] >= centre) << 4
        code |= (image[row + 1, col + 1] >= centre) << 3
        code |= (image[row + 1, col] >= centre) << 2
        code |= (image[row + 1, col - 1] >= centre) << 1
        code |= image[row, col - 1] >= centre
        out[row, col] = code


def texture_clamped(image, out):
    """The same with the border repeated."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        up = max(row - 1, 0)
        down = min(row + 1, image.shape[0] - 1)
        left = max(col - 1, 0)
        right = min(col + 1, image.shape[1] - 1)
        centre = image[row, col]
        code = 0
        if image[up, left] >= centre:
            code |= 1
        if image[up, col] >= centre:
            code |= 2
        if image[up, right] >= centre:
            code |= 4
        if image[row, right] >= centre:
            code |= 8
        if image[down, right] >= centre:
            code |= 16
        if image[down, col] >= centre:
            code |= 32
        if image[down, left] >= centre:
            code |= 64
        if image[row, left] >= centre:
            code |= 128
        out[row, col] = code


def texture_offsets(image, dy, dx, out):
    """The same at the places of two tables; a neighbour outside of the image counts as darker."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        centre = image[row, col]
        code = 0
        for k in range(dy.size):
            y = row + dy[k]
            x = col + dx[k]
            if y >= 0 and y < image.shape[0] and x >= 0 and x < image.shape[1]:
                if image[y, x] >= centre:
                    code |= 1 << k
        out[row, col] = code


def census5x5(image, out):
    """Census transform: a bit for each of 24 neighbours that is darker, border repeated."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        centre = image[row, col]
        word = 0
        for i in range(-2, 3):
            y = min(max(row + i, 0), image.shape[0] - 1)
            for j in range(-2, 3):
                if i != 0 or j != 0:
                    x = min(max(col + j, 0), image.shape[1] - 1)
                    word = 2 * word + (image[y, x] < centre)
        out[row, col] = word


def erode(image, radius, out):
    """The darkest pixel of the window, as far as it is in the image."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        darkest = image[row, col]
        for y in range(max(row - radius, 0), min(row + radius + 1, image.shape[0])):
            for x in range(max(col - radius, 0), min(col + radius + 1, image.shape[1])):
                darkest = min(darkest, image[y, x])
        out[row, col] = darkest


def sobel_bytes(image, out):
    """The rounded length of Sobel's gradient, at most 255, border repeated."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        up = max(row - 1, 0)
        down = min(row + 1, image.shape[0] - 1)
        left = max(col - 1, 0)
        right = min(col + 1, image.shape[1] - 1)
        gx = (
            int(image[up, right]) + 2 * int(image[row, right]) + int(image[down, right])
            - int(image[up, left]) - 2 * int(image[row, left]) - int(image[down, left])
        )  # fmt: skip
        gy = (
            int(image[down, left]) + 2 * int(image[down, col]) + int(image[down, right])
            - int(image[up, left]) - 2 * int(image[up, col]) - int(image[up, right])
        )  # fmt: skip
        length = math.sqrt(np.float32(gx * gx + gy * gy))
        out[row, col] = min(int(length + np.float32(0.5)), 255)


def blur_columns(image, radius, out):
    """A thread walks down its column with a running sum of the window and divides by its length."""
    col = cuda.grid(1)
    rows = image.shape[0]
    if col < image.shape[1]:
        total = 0
        count = 0
        for y in range(min(radius, rows)):
            total += int(image[y, col])
            count += 1
        for y in range(rows):
            if y + radius < rows:
                total += int(image[y + radius, col])
                count += 1
            if y - radius - 1 >= 0:
                total -= int(image[y - radius - 1, col])
                count -= 1
            out[y, col] = (total + count // 2) // count


def trailing_mean(x, window, out):
    """The mean of a number and those before it."""
    i = cuda.grid(1)
    if i < x.size:
        if i >= window - 1:
            total = np.float32(0)
            for k in range(window):
                total += x[i - k]
            out[i] = total / window
        else:
            out[i] = x[i]


def centred_mean(x, radius, out):
    """The mean of the numbers around each of a row, as far as the row goes."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[1]:
        first = max(col - radius, 0)
        last = min(col + radius, x.shape[1] - 1)
        total = np.float32(0)
        for k in range(first, last + 1):
            total += x[row, k]
        out[row, col] = total / np.float32(last - first + 1)


def cell_gradients(image, cell, dx, dy, out):
    """A thread for each cell: which of nine directions the gradients of its pixels have, each
    weighted by its length as the sum of its sides.
    """
    right, below = cuda.grid(2)
    if below < out.shape[0] and right < out.shape[1]:
        bins = cuda.local.array(9, int32)
        for k in range(9):
            bins[k] = 0
        for y in range(max(below * cell, 1), min((below + 1) * cell, image.shape[0] - 1)):
            for x in range(max(right * cell, 1), min((right + 1) * cell, image.shape[1] - 1)):
                gx = int(image[y, x + 1]) - int(image[y, x - 1])
                gy = int(image[y + 1, x]) - int(image[y - 1, x])
                best = 0
                longest = -1
                for k in range(9):
                    along = abs(gx * dx[k] + gy * dy[k])
                    if along > longest:
                        longest = along
                        best = k
                bins[best] += abs(gx) + abs(gy)
        for k in range(9):
            out[below, right, k] = bins[k]


def clamped(at, extent):
    """Indices within an extent."""
    return np.clip(at, 0, extent - 1)


def pixels(rng, rows, cols):
    """Bytes with structure: waves with noise, so that neighbours are alike but seldom equal."""
    y, x = np.arange(rows)[:, None], np.arange(cols)
    waves = (60 + 55 * np.sin(0.05 * y)).astype(np.uint8) + (60 + 55 * np.sin(0.11 * x)).astype(np.uint8)
    return waves + rng.integers(0, 20, (rows, cols), np.uint8)


def plane_problem(image, arguments, out, expected, taps, moved):
    """A Problem of a thread a pixel; the output comes last."""
    rows, cols = image.shape
    return Problem(
        (image, *arguments, out), (rows, cols), (1 + len(arguments),), expected, threads=(cols, rows),
        bytes=moved * rows * cols, flops=taps * rows * cols,
    )  # fmt: skip


def window_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, tones from 0 to 1, a radius of 4."""
    (rows, cols), radius = shape or (n, 3 * n // 2 + 1), 4
    image = pixels(rng, rows, cols).astype(np.float32) / np.float32(255)
    space, tone = np.float32(1 / (2 * 2.5**2)), np.float32(1 / (2 * 0.3**2))

    def expected():
        some = sampled(np.random.default_rng(0), rows, 60)
        centre, total, weights = image[some].astype(float), 0.0, 0.0
        for i in range(-radius, radius + 1):
            for j in range(-radius, radius + 1):
                y, x = (some + i)[:, None], np.arange(cols) + j
                inside = (y >= 0) & (y < rows) & (x >= 0) & (x < cols)
                value = image[clamped(y, rows), clamped(x, cols)].astype(float)
                weight = inside * np.exp(-((i * i + j * j) * float(space) + (value - centre) ** 2 * float(tone)))
                total, weights = total + weight * value, weights + weight
        # An exponent up to 9 is off by three roundings, which its weight is off by in turn, beside
        # two units of the exponential; sums of 81 terms that are not negative; the division.
        taps = (2 * radius + 1) ** 2
        return [(some, total / weights, EPS32 * (2 * (3 * 9 / 2 + 2) + taps + 1))]

    return plane_problem(
        image, (radius, space, tone), np.zeros_like(image), expected, 10 * (2 * radius + 1) ** 2, 8
    )


def bytes_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, bytes; weights are multiples of 1/256, so that all sums are
    exact, and only the division rounds.
    """
    rows, cols = shape or (n, 3 * n // 2 + 1)
    image, at = pixels(rng, rows, cols), np.arange(-2, 3)
    space = np.ceil(16 * np.exp(-(at[:, None] ** 2 + at**2) / 8)).astype(np.float32) / np.float32(16)
    tone = np.ceil(16 * np.exp(-(np.arange(256) ** 2) / 3200)).astype(np.float32) / np.float32(16)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 100)
        total, weights = 0.0, 0.0
        for i in range(5):
            for j in range(5):
                value = image[clamped(some + i - 2, rows)][:, clamped(np.arange(cols) + j - 2, cols)].astype(int)
                weight = space[i, j].astype(float) * tone[np.abs(value - image[some].astype(int))]
                total, weights = total + weight * value, weights + weight
        mean = total.astype(np.float32) / weights.astype(np.float32)
        return [(some, (mean + np.float32(0.5)).astype(np.uint8), 0)]

    return plane_problem(image, (space, tone), np.zeros_like(image), expected, 6 * 25, 2)


AROUND = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))


def texture_problem(bits, border):
    """The maker of a Problem: bits in the order of AROUND, and what is done at the border: "kept",
    "repeated" or, with the places as arguments, "dark".
    """

    def problem(rng, n, shape=None):
        """n x (3 n / 2 + 1), or others, bytes."""
        rows, cols = shape or (n, 3 * n // 2 + 1)
        image = pixels(rng, rows, cols)

        def expected():
            some, code = sampled(np.random.default_rng(0), rows, 200), 0
            for bit, (i, j) in zip(bits, AROUND):
                y, x = (some + i)[:, None], np.arange(cols) + j
                inside = (y >= 0) & (y < rows) & (x >= 0) & (x < cols)
                not_darker = image[clamped(y, rows), clamped(x, cols)] >= image[some]
                code = code + ((not_darker & (inside | (border == "repeated"))).astype(int) << bit)
            if border == "kept":
                code = code * ((some > 0) & (some < rows - 1))[:, None] * np.r_[:cols].clip(0, 1) * (np.r_[:cols] < cols - 1)
            return [(some, code, 0)]

        places = tuple(np.array(k, np.int32) for k in zip(*AROUND)) if border == "dark" else ()
        made = plane_problem(image, places, np.zeros_like(image), expected, 16, 2)
        return replace(made, extents=(rows, cols, len(AROUND))) if places else made

    return problem


def census_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, bytes."""
    rows, cols = shape or (n, 3 * n // 2 + 1)
    image = pixels(rng, rows, cols)

    def expected():
        some, word = sampled(np.random.default_rng(0), rows, 200), 0
        for i in range(-2, 3):
            for j in range(-2, 3):
                if i or j:
                    value = image[clamped(some + i, rows)][:, clamped(np.arange(cols) + j, cols)]
                    word = 2 * word + (value < image[some]).astype(int)
        return [(some, word, 0)]

    return plane_problem(image, (), np.zeros((rows, cols), np.uint32), expected, 48, 5)


def erode_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, bytes, a radius of 3."""
    (rows, cols), radius = shape or (n, 3 * n // 2 + 1), 3
    image = pixels(rng, rows, cols)

    def expected():
        some, reach = sampled(np.random.default_rng(0), rows, 200), range(-radius, radius + 1)
        strip = np.min([image[clamped(some + i, rows)] for i in reach], axis=0)
        return [(some, np.min([strip[:, clamped(np.arange(cols) + j, cols)] for j in reach], axis=0), 0)]

    return plane_problem(image, (radius,), np.zeros_like(image), expected, (2 * radius + 1) ** 2, 2)


def sobel_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, bytes."""
    rows, cols = shape or (n, 3 * n // 2 + 1)
    image = pixels(rng, rows, cols)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 200)
        near = {
            (i, j): image[clamped(some + i, rows)][:, clamped(np.arange(cols) + j, cols)].astype(int)
            for i in (-1, 0, 1) for j in (-1, 0, 1)
        }  # fmt: skip
        gx = sum(w * (near[i, 1] - near[i, -1]) for i, w in ((-1, 1), (0, 2), (1, 1)))
        gy = sum(w * (near[1, j] - near[-1, j]) for j, w in ((-1, 1), (0, 2), (1, 1)))
        # Squares are exact in float32 up to 2^24, and its square root is rounded to nearest.
        length = np.sqrt((gx * gx + gy * gy).astype(np.float32)) + np.float32(0.5)
        return [(some, np.minimum(length.astype(int), 255), 0)]

    return plane_problem(image, (), np.zeros_like(image), expected, 20, 2)


def columns_problem(rng, n):
    """n rows of 4 n + 3 bytes, a radius of 7."""
    rows, cols, radius = n, 4 * n + 3, 7
    image = pixels(rng, rows, cols)

    def expected():
        some = sampled(np.random.default_rng(0), cols, 1000)
        sums = np.r_[np.zeros((1, len(some)), int), np.cumsum(image[:, some], axis=0, dtype=int)]
        first, end = np.maximum(np.r_[:rows] - radius, 0), np.minimum(np.r_[:rows] + radius + 1, rows)
        count = (end - first)[:, None]
        return [(np.s_[:, some], (sums[end] - sums[first] + count // 2) // count, 0)]

    return Problem(
        (image, radius, np.zeros_like(image)), (rows, cols), (2,), expected, threads=cols, bytes=2 * rows * cols,
        flops=4 * rows * cols,
    )  # fmt: skip


def trailing_problem(rng, n):
    """n random numbers, windows of 30."""
    x, window = rng.random(n, np.float32), 30

    def expected():
        sums = np.r_[0, np.cumsum(x, dtype=float)]
        values = x.astype(float)
        values[window - 1 :] = (sums[window:] - sums[:-window]) / window
        return [(np.s_[:], values, EPS32 / 2 * (window + 2) + 1e-9)]

    return Problem(
        (x, window, np.zeros_like(x)), (n,), (2,), expected, threads=n, bytes=8 * n, flops=window * n
    )


def centred_problem(rng, n, shape=None):
    """n x (3 n / 2 + 1), or others, random numbers, a radius of 11."""
    (rows, cols), radius = shape or (n, 3 * n // 2 + 1), 11
    x = rng.random((rows, cols), np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 200)
        sums = np.c_[np.zeros(len(some)), np.cumsum(x[some], axis=1, dtype=float)]
        first, last = np.maximum(np.r_[:cols] - radius, 0), np.minimum(np.r_[:cols] + radius, cols - 1)
        values = (sums[:, last + 1] - sums[:, first]) / (last - first + 1)
        return [(some, values, EPS32 / 2 * (2 * radius + 3))]

    return plane_problem(x, (radius,), np.zeros_like(x), expected, 2 * radius + 1, 8)


def cells_problem(rng, n):
    """Cells of 8 x 8 pixels; the directions are integers of a circle of radius 1000, which no
    gradient is midway between.
    """
    rows, cols, cell = n, 3 * n // 2 + 1, 8
    image, turn = pixels(rng, rows, cols), np.pi * (np.arange(9) + 0.25) / 9
    dx, dy = (np.round(1000 * f(turn)).astype(np.int32) for f in (np.cos, np.sin))
    out = np.zeros((rows // cell, cols // cell, 9), np.int32)

    def expected():
        some = sampled(np.random.default_rng(0), out.shape[0], 20)
        value, values = image.astype(int), np.zeros((len(some), out.shape[1], 9), int)
        gx, gy = np.zeros_like(value), np.zeros_like(value)
        gx[1:-1, 1:-1] = value[1:-1, 2:] - value[1:-1, :-2]
        gy[1:-1, 1:-1] = value[2:, 1:-1] - value[:-2, 1:-1]
        for at, below in enumerate(some):
            strip = np.s_[below * cell : (below + 1) * cell, : out.shape[1] * cell]
            x, y = gx[strip], gy[strip]
            best = np.argmax(np.abs(x[..., None] * dx + y[..., None] * dy), axis=2)
            where = np.broadcast_to(np.arange(x.shape[1]) // cell, x.shape)
            np.add.at(values[at], (where, best), np.abs(x) + np.abs(y))
        return [(some, values, 0)]

    return Problem(
        (image, cell, dx, dy, out), (rows, cols, *out.shape[:2]), (4,), expected, threads=out.shape[1::-1],
        bytes=rows * cols + 4 * out.size, flops=40 * rows * cols,
    )  # fmt: skip


WINDOW = plane(
    "bilateral_window(const float *image, int radius, float space, float tone, float *out, int rows, int cols)",
    """
    float centre = image[row * cols + col], total = 0, weights = 0;
    for (INDEX i = -radius; i <= radius; i++)
      for (INDEX j = -radius; j <= radius; j++) {
        INDEX y = row + i, x = col + j;
        if (0 <= y && y < rows && 0 <= x && x < cols) {
          float value = image[y * cols + x], difference = value - centre;
          float weight = expf(-((float)(i * i + j * j) * space + difference * difference * tone));
          total += weight * value;
          weights += weight;
        }
      }
    out[row * cols + col] = total / weights;
""",
)

BYTES = plane(
    "bilateral_bytes(const unsigned char *image, const float *space, const float *tone, unsigned char *out, int rows, int cols)",
    """
    INDEX centre = image[row * cols + col];
    float total = 0, weights = 0;
    for (INDEX i = 0; i < 5; i++) {
      INDEX y = MIN(MAX(row + i - 2, (INDEX)0), (INDEX)rows - 1);
      for (INDEX j = 0; j < 5; j++) {
        INDEX x = MIN(MAX(col + j - 2, (INDEX)0), (INDEX)cols - 1);
        INDEX value = image[y * cols + x];
        float weight = space[i * 5 + j] * tone[value < centre ? centre - value : value - centre];
        total += weight * value;
        weights += weight;
      }
    }
    out[row * cols + col] = (INDEX)(total / weights + 0.5f);
""",
)

INNER = plane(
    "texture_inner(const unsigned char *image, unsigned char *out, int rows, int cols)",
    """
    if (row > 0 && row < rows - 1 && col > 0 && col < cols - 1) {
      unsigned char centre = image[row * cols + col];
      INDEX code = 0;
      code |= (image[(row - 1) * cols + col - 1] >= centre) << 7;
      code |= (image[(row - 1) * cols + col] >= centre) << 6;
      code |= (image[(row - 1) * cols + col + 1] >= centre) << 5;
      code |= (image[row * cols + col + 1] >= centre) << 4;
      code |= (image[(row + 1) * cols + col + 1] >= centre) << 3;
      code |= (image[(row + 1) * cols + col] >= centre) << 2;
      code |= (image[(row + 1) * cols + col - 1] >= centre) << 1;
      code |= image[row * cols + col - 1] >= centre;
      out[row * cols + col] = code;
    }
""",
)

CLAMPED = plane(
    "texture_clamped(const unsigned char *image, unsigned char *out, int rows, int cols)",
    """
    INDEX up = MAX(row - 1, (INDEX)0), down = MIN(row + 1, (INDEX)rows - 1);
    INDEX left = MAX(col - 1, (INDEX)0), right = MIN(col + 1, (INDEX)cols - 1);
    unsigned char centre = image[row * cols + col];
    INDEX code = 0;
    if (image[up * cols + left] >= centre)
      code |= 1;
    if (image[up * cols + col] >= centre)
      code |= 2;
    if (image[up * cols + right] >= centre)
      code |= 4;
    if (image[row * cols + right] >= centre)
      code |= 8;
    if (image[down * cols + right] >= centre)
      code |= 16;
    if (image[down * cols + col] >= centre)
      code |= 32;
    if (image[down * cols + left] >= centre)
      code |= 64;
    if (image[row * cols + left] >= centre)
      code |= 128;
    out[row * cols + col] = code;
""",
)

OFFSETS = plane(
    "texture_offsets(const unsigned char *image, const int *dy, const int *dx, unsigned char *out, int rows, int cols, int places)",
    """
    unsigned char centre = image[row * cols + col];
    INDEX code = 0;
    for (INDEX k = 0; k < places; k++) {
      INDEX y = row + dy[k], x = col + dx[k];
      if (y >= 0 && y < rows && x >= 0 && x < cols)
        if (image[y * cols + x] >= centre)
          code |= (INDEX)1 << k;
    }
    out[row * cols + col] = code;
""",
)

CENSUS = plane(
    "census5x5(const unsigned char *image, unsigned *out, int rows, int cols)",
    """
    unsigned char centre = image[row * cols + col];
    INDEX word = 0;
    for (INDEX i = -2; i < 3; i++) {
      INDEX y = MIN(MAX(row + i, (INDEX)0), (INDEX)rows - 1);
      for (INDEX j = -2; j < 3; j++)
        if (i != 0 || j != 0) {
          INDEX x = MIN(MAX(col + j, (INDEX)0), (INDEX)cols - 1);
          word = 2 * word + (image[y * cols + x] < centre);
        }
    }
    out[row * cols + col] = word;
""",
)

ERODE = plane(
    "erode(const unsigned char *image, int radius, unsigned char *out, int rows, int cols)",
    """
    unsigned char darkest = image[row * cols + col];
    INDEX top = MAX(row - radius, (INDEX)0), bottom = MIN(row + radius + 1, (INDEX)rows);
    INDEX left = MAX(col - radius, (INDEX)0), right = MIN(col + radius + 1, (INDEX)cols);
    for (INDEX y = top; y < bottom; y++)
      for (INDEX x = left; x < right; x++) {
        unsigned char value = image[y * cols + x];
        darkest = value < darkest ? value : darkest;
      }
    out[row * cols + col] = darkest;
""",
)

SOBEL = plane(
    "sobel_bytes(const unsigned char *image, unsigned char *out, int rows, int cols)",
    """
    INDEX up = MAX(row - 1, (INDEX)0), down = MIN(row + 1, (INDEX)rows - 1);
    INDEX left = MAX(col - 1, (INDEX)0), right = MIN(col + 1, (INDEX)cols - 1);
    INDEX gx = image[up * cols + right] + 2 * image[row * cols + right] + image[down * cols + right] -
               image[up * cols + left] - 2 * image[row * cols + left] - image[down * cols + left];
    INDEX gy = image[down * cols + left] + 2 * image[down * cols + col] + image[down * cols + right] -
               image[up * cols + left] - 2 * image[up * cols + col] - image[up * cols + right];
    float length = sqrtf((float)(gx * gx + gy * gy));
    out[row * cols + col] = MIN((INDEX)(length + 0.5f), (INDEX)255);
""",
)

COLUMNS = each(
    "blur_columns(const unsigned char *image, int radius, unsigned char *out, int rows, int cols)",
    """
    INDEX total = 0, count = 0;
    for (INDEX y = 0; y < radius && y < rows; y++) {
      total += image[y * cols + col];
      count++;
    }
    for (INDEX y = 0; y < rows; y++) {
      if (y + radius < rows) {
        total += image[(y + radius) * cols + col];
        count++;
      }
      if (y - radius - 1 >= 0) {
        total -= image[(y - radius - 1) * cols + col];
        count--;
      }
      out[y * cols + col] = (total + count / 2) / count;
    }
""",
    extent="cols", index="col",
)  # fmt: skip

TRAILING = each(
    "trailing_mean(const float *x, int window, float *out, int n)",
    """
    if (i >= window - 1) {
      float total = 0;
      for (INDEX k = 0; k < window; k++)
        total += x[i - k];
      out[i] = total / window;
    } else
      out[i] = x[i];
""",
)

CENTRED = plane(
    "centred_mean(const float *x, int radius, float *out, int rows, int cols)",
    """
    INDEX first = MAX(col - radius, (INDEX)0), last = MIN(col + radius, (INDEX)cols - 1);
    float total = 0;
    for (INDEX k = first; k <= last; k++)
      total += x[row * cols + k];
    out[row * cols + col] = total / (float)(last - first + 1);
""",
)

CELLS = plane(
    "cell_gradients(const unsigned char *image, int cell, const int *dx, const int *dy, int *out, int h, int w, int rows, int cols)",
    """
    int bins[9];
    for (INDEX k = 0; k < 9; k++)
      bins[k] = 0;
    INDEX top = MAX(row * cell, (INDEX)1), bottom = MIN((row + 1) * cell, (INDEX)h - 1);
    INDEX left = MAX(col * cell, (INDEX)1), right = MIN((col + 1) * cell, (INDEX)w - 1);
    for (INDEX y = top; y < bottom; y++)
      for (INDEX x = left; x < right; x++) {
        INDEX gx = (INDEX)image[y * w + x + 1] - image[y * w + x - 1];
        INDEX gy = (INDEX)image[(y + 1) * w + x] - image[(y - 1) * w + x];
        INDEX best = 0;
        long long longest = -1; // as in Python: products of two int do not fit one
        for (INDEX k = 0; k < 9; k++) {
          long long along = (long long)gx * dx[k] + (long long)gy * dy[k];
          along = along < 0 ? -along : along;
          if (along > longest) {
            longest = along;
            best = k;
          }
        }
        bins[best] += (gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy);
      }
    for (INDEX k = 0; k < 9; k++)
      out[(row * cols + col) * 9 + k] = bins[k];
""",
)

BYTE_PLANES = "uint8[:,::1], uint8[:,::1]"
TEXTURES = {"gpu": 8191, "host": 4099, "test": 61, "power": 2, "kind": "stencil", "thin": THIN_PLANE}

KERNELS = [
    Kernel(
        "bilateral filter", bilateral_window, "float32[:,::1], pyint, float32, float32, float32[:,::1]", (32, 8),
        window_problem, gpu=2053, host=509, test=37, power=2, sweep=PLANE, thin=THIN_PLANE, **WINDOW,
    ),
    Kernel(
        "bilateral filter of bytes", bilateral_bytes, "uint8[:,::1], float32[:,::1], float32[::1], uint8[:,::1]", (32, 8),
        bytes_problem, gpu=4099, host=1021, test=61, power=2, thin=THIN_PLANE, **BYTES,
    ),
    Kernel(
        "local binary pattern", texture_inner, BYTE_PLANES, (32, 8), texture_problem((7, 6, 5, 4, 3, 2, 1, 0), "kept"),
        **TEXTURES, **INNER,
    ),
    Kernel(
        "local binary pattern, border repeated", texture_clamped, BYTE_PLANES, (32, 8), texture_problem(range(8), "repeated"),
        **TEXTURES, sweep=PLANE, **CLAMPED,
    ),
    Kernel(
        "local binary pattern, places given", texture_offsets, "uint8[:,::1], int32[::1], int32[::1], uint8[:,::1]", (32, 8),
        texture_problem(range(8), "dark"), **TEXTURES, **OFFSETS,
    ),
    Kernel(
        "census transform", census5x5, "uint8[:,::1], uint32[:,::1]", (32, 8), census_problem,
        gpu=4099, host=1021, test=61, power=2, thin=THIN_PLANE, **CENSUS,
    ),
    Kernel(
        "erosion", erode, "uint8[:,::1], pyint, uint8[:,::1]", (32, 8), erode_problem,
        gpu=4099, host=1021, test=61, power=2, thin=THIN_PLANE, **ERODE,
    ),
    Kernel(
        "Sobel's gradient of bytes", sobel_bytes, BYTE_PLANES, (32, 8), sobel_problem,
        gpu=8191, host=4099, test=61, power=2, kind="stencil", thin=THIN_PLANE, **SOBEL,
    ),
    Kernel(
        "blur of columns by a running sum", blur_columns, "uint8[:,::1], pyint, uint8[:,::1]", 128, columns_problem,
        gpu=4099, host=2053, test=37, power=2, **COLUMNS,
    ),
    Kernel(
        "mean of those before", trailing_mean, "float32[::1], pyint, float32[::1]", 256, trailing_problem,
        gpu=20_000_003, host=5_000_011, test=10_007, **TRAILING,
    ),
    Kernel(
        "mean of those around", centred_mean, "float32[:,::1], pyint, float32[:,::1]", (32, 8), centred_problem,
        gpu=4099, host=1021, test=61, power=2, thin=THIN_PLANE, **CENTRED,
    ),
    Kernel(
        "gradient histograms of cells", cell_gradients, "uint8[:,::1], pyint, int32[::1], int32[::1], int32[:,:,::1]",
        (16, 8), cells_problem, gpu=4099, host=1021, test=83, power=2, **CELLS,
    ),
]  # fmt: skip
