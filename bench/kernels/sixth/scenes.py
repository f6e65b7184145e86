"""Scenes: rays through voxels, distances to a polygon, occlusion by depth."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda


def voxel_walk(grid, ox, oy, oz, dx, dy, dz, hits, lengths):
    """Amanatides and Woo: from voxel to voxel until one is filled, or the grid ends."""
    i = cuda.grid(1)
    if i >= ox.size:
        return
    nz, ny, nx = grid.shape
    x = int(ox[i])
    y = int(oy[i])
    z = int(oz[i])
    step_x = 1 if dx[i] > 0 else -1
    step_y = 1 if dy[i] > 0 else -1
    step_z = 1 if dz[i] > 0 else -1
    delta_x = abs(1 / dx[i])
    delta_y = abs(1 / dy[i])
    delta_z = abs(1 / dz[i])
    tx = (x + 1 - ox[i] if step_x > 0 else ox[i] - x) * delta_x
    ty = (y + 1 - oy[i] if step_y > 0 else oy[i] - y) * delta_y
    tz = (z + 1 - oz[i] if step_z > 0 else oz[i] - z) * delta_z
    steps = 0
    hit = -1
    while 0 <= x < nx and 0 <= y < ny and 0 <= z < nz:
        if grid[z, y, x] != 0:
            hit = (z * ny + y) * nx + x
            break
        if tx <= ty and tx <= tz:
            x += step_x
            tx += delta_x
        elif ty <= tz:
            y += step_y
            ty += delta_y
        else:
            z += step_z
            tz += delta_z
        steps += 1
    hits[i] = hit
    lengths[i] = steps


def polygon_distance(px, py, scale, out):
    """The signed distance of each pixel to a closed polygon, negative inside."""
    col, row = cuda.grid(2)
    if row >= out.shape[0] or col >= out.shape[1]:
        return
    x = col * scale
    y = row * scale
    n = px.size
    best = (x - px[0]) ** 2 + (y - py[0]) ** 2
    inside = False
    j = n - 1
    for i in range(n):
        ex = px[j] - px[i]
        ey = py[j] - py[i]
        wx = x - px[i]
        wy = y - py[i]
        t = min(max((wx * ex + wy * ey) / (ex * ex + ey * ey), 0.0), 1.0)
        bx = wx - ex * t
        by = wy - ey * t
        best = min(best, bx * bx + by * by)
        if (py[i] > y) != (py[j] > y) and wx < ex * wy / ey:
            inside = not inside
        j = i
    d = math.sqrt(best)
    out[row, col] = -d if inside else d


def depth_occlusion(depth, offsets, reach, out):
    """How many samples near a pixel lie before it; four turns of the samples, 65535 is the background."""
    x, y = cuda.grid(2)
    rows, cols = depth.shape
    if y >= rows or x >= cols:
        return
    here = int(depth[y, x])
    if here == 65535:
        out[y, x] = 255
        return
    turn = (x & 1) + 2 * (y & 1)
    samples = offsets.shape[0]
    hidden = 0
    used = 0
    for k in range(samples):
        dx = int(offsets[k, 0])
        dy = int(offsets[k, 1])
        if turn == 1:
            dx, dy = -dy, dx
        elif turn == 2:
            dx, dy = -dx, -dy
        elif turn == 3:
            dx, dy = dy, -dx
        xx = x + dx
        yy = y + dy
        if xx < 0 or xx >= cols or yy < 0 or yy >= rows:
            continue
        used += 1
        before = here - offsets[k, 2] - int(depth[yy, xx])
        if 0 < before < reach:
            hidden += 1
    out[y, x] = 255 - hidden * 255 // max(used, 1)


def walk_problem(rng, n):
    shape = (61, 73, 89)
    grid = (rng.random(shape) < 0.01).astype(np.uint8)
    o = [np.float32(rng.uniform(0.01, m - 0.01, n)) for m in shape[::-1]]
    d = np.float32(rng.uniform(0.05, 1, (3, n)) * rng.choice([-1, 1], (3, n)))

    def expected():
        at = sampled(rng, n, 20000)
        places = np.array([v[at].astype(int) for v in o])
        origin, direction = np.array([v[at] for v in o]), d[:, at]
        step, delta = np.where(direction > 0, 1, -1), np.abs(np.float32(1) / direction)
        ahead = np.where(step > 0, np.float32(places + 1) - origin, origin - np.float32(places))
        t = np.float32(ahead) * delta  # float32 throughout: the same roundings
        hits, lengths = np.full(at.size, -1, np.int32), np.zeros(at.size, np.int32)
        live = np.arange(at.size)
        size = np.array(shape[::-1])[:, None]
        while live.size:
            live = live[((places[:, live] >= 0) & (places[:, live] < size)).all(0)]
            x, y, z = places[:, live]
            full = grid[z, y, x] != 0
            hits[live[full]] = ((z * shape[1] + y) * shape[2] + x)[full]
            live = live[~full]
            tx, ty, tz = t[:, live]
            axis = np.where((tx <= ty) & (tx <= tz), 0, np.where(ty <= tz, 1, 2))
            places[axis, live] += step[axis, live]
            t[axis, live] += delta[axis, live]
            lengths[live] += 1
        return [(at, hits, 0), (at, lengths, 0)]

    args = (grid, *o, *d, np.zeros(n, np.int32), np.zeros(n, np.int32))
    return Problem(args, (*shape, n), (7, 8), expected, threads=n, bytes=32.0 * n)


def polygon_problem(rng, n):
    corners, cols, scale = 97, n + 67, np.float32(1 / 64)
    angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
    radius = rng.uniform(0.3, 1, corners) * n / 64 * 0.5
    px, py = np.float32(n / 128 + radius * np.cos(angle)), np.float32(n / 128 + radius * np.sin(angle))

    def expected():
        at = sampled(rng, n, 30)
        x, y = np.arange(cols) / 64.0, at[:, None] / 64.0
        best, inside = np.full((at.size, cols), np.inf), np.zeros((at.size, cols), bool)
        for i in range(corners):
            ax, ay, bx, by = (float(v) for v in (px[i], py[i], px[i - 1], py[i - 1]))
            ex, ey, wx, wy = bx - ax, by - ay, x - ax, y - ay
            t = np.clip((wx * ex + wy * ey) / (ex * ex + ey * ey), 0, 1)
            best = np.minimum(best, (wx - ex * t) ** 2 + (wy - ey * t) ** 2)
            if ey:
                inside ^= ((ay > y) != (by > y)) & (wx < ex * wy / ey)
        # Products of lengths up to twice the extent; next to a line, where the sign may differ, the distance is small.
        bound = 16 * EPS32 * (2 * cols / 64) * 2
        return [(at, np.where(inside, -1, 1) * np.sqrt(best), bound)]

    args = (px, py, scale, np.zeros((n, cols), np.float32))
    return Problem(args, (corners, n, cols), (3,), expected, threads=(cols, n), flops=22.0 * n * cols * corners)


def occlusion_problem(rng, n):
    cols, samples, reach = n + 313, 29, 3000
    depth = (20000 + 9000 * rng.random((n, cols)) + 40 * np.arange(cols) % 7000).astype(np.uint16)
    depth[rng.random((n, cols)) < 0.1] = 65535
    offsets = np.stack([*rng.integers(-9, 10, (2, samples)), rng.integers(0, 400, samples)], 1).astype(np.int32)

    def expected():
        at = sampled(rng, n, 60)
        y, x = at[:, None], np.arange(cols)
        here = depth[at].astype(np.int64)
        hidden, used = np.zeros((2, at.size, cols), np.int64)
        turn = (x & 1) + 2 * (y & 1)
        for dx, dy, dz in offsets:
            xx = x + np.choose(turn, [dx, -dy, -dx, dy])
            yy = y + np.choose(turn, [dy, dx, -dy, -dx])
            valid = (xx >= 0) & (xx < cols) & (yy >= 0) & (yy < n)
            before = here - dz - depth[np.clip(yy, 0, n - 1), np.clip(xx, 0, cols - 1)]
            used += valid
            hidden += valid & (before > 0) & (before < reach)
        out = np.where(here == 65535, 255, 255 - hidden * 255 // np.maximum(used, 1))
        return [(at, out.astype(np.uint8), 0)]

    args = (depth, offsets, reach, np.zeros((n, cols), np.uint8))
    return Problem(args, (n, cols, samples), (3,), expected, threads=(cols, n), bytes=3.0 * depth.size)


WALK = each(
    """voxel_walk(const unsigned char *grid, const float *ox, const float *oy, const float *oz, const float *dx,
                const float *dy, const float *dz, int *hits, int *lengths, int nz, int ny, int nx, int n)""",
    """
    INDEX x = (INDEX)ox[i], y = (INDEX)oy[i], z = (INDEX)oz[i];
    INDEX step_x = dx[i] > 0 ? 1 : -1, step_y = dy[i] > 0 ? 1 : -1, step_z = dz[i] > 0 ? 1 : -1;
    float delta_x = fabsf(1 / dx[i]), delta_y = fabsf(1 / dy[i]), delta_z = fabsf(1 / dz[i]);
    float tx = (step_x > 0 ? x + 1 - ox[i] : ox[i] - x) * delta_x;
    float ty = (step_y > 0 ? y + 1 - oy[i] : oy[i] - y) * delta_y;
    float tz = (step_z > 0 ? z + 1 - oz[i] : oz[i] - z) * delta_z;
    int steps = 0, hit = -1;
    while (x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz) {
      INDEX at = (z * ny + y) * nx + x;
      if (grid[at] != 0) {
        hit = at;
        break;
      }
      if (tx <= ty && tx <= tz) {
        x += step_x;
        tx += delta_x;
      } else if (ty <= tz) {
        y += step_y;
        ty += delta_y;
      } else {
        z += step_z;
        tz += delta_z;
      }
      steps++;
    }
    hits[i] = hit;
    lengths[i] = steps;
""",
)

POLYGON = plane(
    "polygon_distance(const float *px, const float *py, float scale, float *out, int n, int rows, int cols)",
    """
    float x = col * scale, y = row * scale;
    float best = (x - px[0]) * (x - px[0]) + (y - py[0]) * (y - py[0]);
    int inside = 0;
    for (INDEX i = 0, j = n - 1; i < n; j = i++) {
      float ex = px[j] - px[i], ey = py[j] - py[i], wx = x - px[i], wy = y - py[i];
      float t = fminf(fmaxf((wx * ex + wy * ey) / (ex * ex + ey * ey), 0), 1);
      float bx = wx - ex * t, by = wy - ey * t;
      best = fminf(best, bx * bx + by * by);
      if ((py[i] > y) != (py[j] > y) && wx < ex * wy / ey)
        inside = !inside;
    }
    float d = sqrtf(best);
    out[row * cols + col] = inside ? -d : d;
""",
)

OCCLUSION = plane(
    """depth_occlusion(const unsigned short *depth, const int *offsets, int reach, unsigned char *out, int rows,
                     int cols, int samples)""",
    """
    int here = depth[row * cols + col];
    if (here == 65535)
      out[row * cols + col] = 255;
    else {
      int turn = (col & 1) + 2 * (row & 1), hidden = 0, used = 0;
      for (INDEX k = 0; k < samples; k++) {
        int dx = offsets[3 * k], dy = offsets[3 * k + 1], old = dx;
        if (turn == 1) {
          dx = -dy;
          dy = old;
        } else if (turn == 2) {
          dx = -dx;
          dy = -dy;
        } else if (turn == 3) {
          dx = dy;
          dy = -old;
        }
        INDEX xx = col + dx, yy = row + dy;
        if (xx < 0 || xx >= cols || yy < 0 || yy >= rows) continue;
        used++;
        int before = here - offsets[3 * k + 2] - depth[yy * cols + xx];
        if (before > 0 && before < reach) hidden++;
      }
      out[row * cols + col] = 255 - hidden * 255 / MAX(used, 1);
    }
""",
)

KERNELS = [
    Kernel(
        "rays through voxels", voxel_walk,
        "uint8[:,:,::1], float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], float32[::1], "
        "int32[::1], int32[::1]", 128,
        walk_problem,
        gpu=500_003, host=10_003, test=503, kind="irregular", **WALK,
    ),
    Kernel(
        "signed distances to a polygon", polygon_distance,
        "float32[::1], float32[::1], float32, float32[:,::1]", (32, 4),
        polygon_problem,
        gpu=1003, host=103, test=37, power=2, **POLYGON,
    ),
    Kernel(
        "occlusion by depth", depth_occlusion, "uint16[:,::1], int32[:,::1], pyint, uint8[:,::1]", (32, 8),
        occlusion_problem,
        gpu=2003, host=151, test=33, power=2, kind="irregular", **OCCLUSION,
    ),
]  # fmt: skip
