"""Terrain: shades of hills, directions of flow, what an observer sees."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import plane
from pyptx import cuda, float32

DIAGONAL = float32(0.70710678)


def hillshade(height, cell, zenith, azimuth, shade):
    """Horn's slope and aspect of a 3 x 3 window, lit from a direction; the frame stays as it is."""
    col, row = cuda.grid(2)
    rows, cols = height.shape
    if 0 < row < rows - 1 and 0 < col < cols - 1:
        a = height[row - 1, col - 1]
        b = height[row - 1, col]
        c = height[row - 1, col + 1]
        d = height[row, col - 1]
        f = height[row, col + 1]
        g = height[row + 1, col - 1]
        h = height[row + 1, col]
        i = height[row + 1, col + 1]
        dx = ((c + 2 * f + i) - (a + 2 * d + g)) / (8 * cell)
        dy = ((g + 2 * h + i) - (a + 2 * b + c)) / (8 * cell)
        slope = math.atan(math.sqrt(dx * dx + dy * dy))
        aspect = math.atan2(dy, -dx)
        light = math.cos(zenith) * math.cos(slope) + math.sin(zenith) * math.sin(slope) * math.cos(azimuth - aspect)
        shade[row, col] = 255 * max(light, float32(0.0))


def flow_direction(height, direction):
    """D8: the bit of the steepest way down among eight neighbours, 0 in a pit."""
    col, row = cuda.grid(2)
    rows, cols = height.shape
    if row < rows and col < cols:
        here = height[row, col]
        best = float32(0.0)
        way = 0
        bit = 1
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                if dy == 0 and dx == 0:
                    continue
                y = row + dy
                x = col + dx
                if y >= 0 and y < rows and x >= 0 and x < cols:
                    drop = here - height[y, x]
                    if dy != 0 and dx != 0:
                        drop *= DIAGONAL
                    if drop > best:
                        best = drop
                        way = bit
                bit *= 2
        direction[row, col] = way


def viewshed(height, eye_row, eye_col, above, visible):
    """1 where nothing on the straight line from the observer's eye stands before the ground."""
    col, row = cuda.grid(2)
    if row >= height.shape[0] or col >= height.shape[1]:
        return
    steps = max(abs(row - eye_row), abs(col - eye_col))
    eye = height[eye_row, eye_col] + above
    seen = 1
    if steps > 0:
        target = (height[row, col] - eye) / float32(steps)
        for k in range(1, steps):
            y = (eye_row * (steps - k) + row * k + steps // 2) // steps
            x = (eye_col * (steps - k) + col * k + steps // 2) // steps
            if (height[y, x] - eye) / float32(k) > target:
                seen = 0
                break
    visible[row, col] = seen


def hills(rng, rows, cols):
    """Heights in steps of 1/8 below 1024: sums and differences of a few are exact."""
    y, x = np.mgrid[:rows, :cols]
    height = 400 + 180 * np.sin(x / 61 + y / 97) + 120 * np.cos(y / 43 - x / 151) + rng.normal(0, 2, (rows, cols))
    return (np.rint(height * 8) / 8).astype(np.float32)


def shade_problem(rng, n):
    rows, cols = n, n + 123
    height, cell, zenith, azimuth = hills(rng, rows, cols), np.float32(30), np.float32(0.8), np.float32(2.4)

    def expected():
        h = height.astype(float)
        down, across = h[:-2] + 2 * h[1:-1] + h[2:], h[:, :-2] + 2 * h[:, 1:-1] + h[:, 2:]
        dx, dy = (down[:, 2:] - down[:, :-2]) / 240, (across[2:] - across[:-2]) / 240
        slope, aspect = np.arctan(np.hypot(dx, dy)), np.arctan2(dy, -dx)
        light = np.cos(float(zenith)) * np.cos(slope)
        light += np.sin(float(zenith)) * np.sin(slope) * np.cos(float(azimuth) - aspect)
        shade = np.zeros((rows, cols))
        shade[1:-1, 1:-1] = 255 * np.maximum(light, 0)
        # Differences are exact. Angles up to 5.6 have 4 roundings, the functions and products of them 10 more.
        return [(slice(None), shade, 255 * EPS32 * (4 * 5.6 + 10))]

    args = (height, cell, zenith, azimuth, np.zeros_like(height))
    return Problem(args, (rows, cols), (4,), expected, threads=(cols, rows), bytes=8.0 * rows * cols)


def direction_problem(rng, n):
    rows, cols = n, n + 99
    height = hills(rng, rows, cols)

    def expected():
        wide = np.pad(height, 1, constant_values=np.float32(1e6))
        best, way = np.zeros_like(height), np.zeros(height.shape, np.uint8)
        moves = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]
        for k, (dy, dx) in enumerate(moves):
            drop = height - wide[1 + dy : 1 + dy + rows, 1 + dx : 1 + dx + cols]
            drop = drop * DIAGONAL if dy and dx else drop  # exact, or one rounding everywhere
            way[drop > best] = 1 << k
            best = np.maximum(best, drop)
        return [(slice(None), way, 0)]

    args = (height, np.zeros((rows, cols), np.uint8))
    return Problem(args, (rows, cols), (1,), expected, threads=(cols, rows), bytes=5.0 * rows * cols)


def viewshed_problem(rng, n):
    rows, cols, above = n, n + 75, np.float32(40)
    height = hills(rng, rows, cols)
    eye_row, eye_col = rows // 3, cols // 2

    def expected():
        at = sampled(rng, rows, 120)
        row, col = at[:, None], np.arange(cols)
        steps = np.maximum(abs(row - eye_row), abs(col - eye_col))
        eye = height[eye_row, eye_col] + above
        target = (height[at] - eye) / np.maximum(steps, 1).astype(np.float32)
        seen = np.ones((at.size, cols), np.uint8)
        for k in range(1, steps.max()):
            some = np.maximum(steps, k)  # beyond the target: its own place and slope
            y = (eye_row * (some - k) + row * k + some // 2) // some
            x = (eye_col * (some - k) + col * k + some // 2) // some
            on_the_way = k < steps
            slope = (height[np.where(on_the_way, y, eye_row), np.where(on_the_way, x, eye_col)] - eye) / np.float32(k)
            seen[on_the_way & (slope > target)] = 0
        return [(at, seen, 0)]

    args = (height, eye_row, eye_col, above, np.zeros((rows, cols), np.uint8))
    return Problem(args, (rows, cols), (4,), expected, threads=(cols, rows), bytes=5.0 * rows * cols)


SHADE = plane(
    """hillshade(const float *__restrict__ height, float cell, float zenith, float azimuth,
               float *__restrict__ shade, int rows, int cols)""",
    """
      if (row > 0 && row < rows - 1 && col > 0 && col < cols - 1) {
        const float *up = height + (row - 1) * cols + col, *here = up + cols, *down = here + cols;
        float dx = ((up[1] + 2 * here[1] + down[1]) - (up[-1] + 2 * here[-1] + down[-1])) / (8 * cell);
        float dy = ((down[-1] + 2 * down[0] + down[1]) - (up[-1] + 2 * up[0] + up[1])) / (8 * cell);
        float slope = atanf(sqrtf(dx * dx + dy * dy)), aspect = atan2f(dy, -dx);
        float light = cosf(zenith) * cosf(slope) + sinf(zenith) * sinf(slope) * cosf(azimuth - aspect);
        shade[row * cols + col] = 255 * fmaxf(light, 0);
      }
""",
)

DIRECTION = plane(
    "flow_direction(const float *__restrict__ height, unsigned char *__restrict__ direction, int rows, int cols)",
    """
      float here = height[row * cols + col], best = 0;
      int way = 0, bit = 1;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
          if (dy == 0 && dx == 0) continue;
          INDEX y = row + dy, x = col + dx;
          if (y >= 0 && y < rows && x >= 0 && x < cols) {
            float drop = here - height[y * cols + x];
            if (dy != 0 && dx != 0) drop *= 0.70710678f;
            if (drop > best) {
              best = drop;
              way = bit;
            }
          }
          bit *= 2;
        }
      direction[row * cols + col] = way;
""",
)

VIEWSHED = plane(
    """viewshed(const float *__restrict__ height, int eye_row, int eye_col, float above,
              unsigned char *__restrict__ visible, int rows, int cols)""",
    """
      INDEX down = row < eye_row ? eye_row - row : row - eye_row;
      INDEX across = col < eye_col ? eye_col - col : col - eye_col;
      INDEX steps = MAX(down, across);
      float eye = height[eye_row * (INDEX)cols + eye_col] + above;
      int seen = 1;
      if (steps > 0) {
        float target = (height[row * cols + col] - eye) / (float)steps;
        for (INDEX k = 1; k < steps; k++) {
          INDEX y = (eye_row * (steps - k) + row * k + steps / 2) / steps;
          INDEX x = (eye_col * (steps - k) + col * k + steps / 2) / steps;
          if ((height[y * cols + x] - eye) / (float)k > target) {
            seen = 0;
            break;
          }
        }
      }
      visible[row * cols + col] = seen;
""",
)

KERNELS = [
    Kernel(
        "shades of hills", hillshade, "float32[:,::1], float32, float32, float32, float32[:,::1]", (32, 8),
        shade_problem,
        gpu=4003, host=601, test=61, power=2, kind="stencil", **SHADE,
    ),
    Kernel(
        "directions of flow", flow_direction, "float32[:,::1], uint8[:,::1]", (32, 8), direction_problem,
        gpu=4007, host=801, test=59, power=2, kind="stencil", **DIRECTION,
    ),
    Kernel(
        "viewshed", viewshed, "float32[:,::1], pyint, pyint, float32, uint8[:,::1]", (32, 8), viewshed_problem,
        gpu=1201, host=301, test=63, power=2, kind="irregular", **VIEWSHED,
    ),
]  # fmt: skip
