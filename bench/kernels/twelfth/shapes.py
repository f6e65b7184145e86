"""Shapes: convex polygons that meet, how often a surface winds around points."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32


def farthest(corners, dx, dy):
    """The corner of a convex polygon that is farthest along a direction."""
    best, x, y = -math.inf, 0.0, 0.0
    for cx, cy in corners:
        along = cx * dx + cy * dy
        if along > best:
            best, x, y = along, cx, cy
    return x, y


def difference_corner(one, other, dx, dy):
    ax, ay = farthest(one, dx, dy)
    bx, by = farthest(other, -dx, -dy)
    return ax - bx, ay - by


def convex_meetings(corners, starts, firsts, seconds, meet, rounds):
    """Whether pairs of convex polygons meet, after Gilbert, Johnson and Keerthi: triangles of differences walk towards the origin."""
    i = cuda.grid(1)
    if i >= firsts.size:
        return
    one = corners[starts[firsts[i]] : starts[firsts[i] + 1]]
    other = corners[starts[seconds[i]] : starts[seconds[i] + 1]]
    dx, dy = one[0, 0] - other[0, 0], one[0, 1] - other[0, 1]
    bx, by = difference_corner(one, other, dx, dy)
    cx = cy = 0.0
    size = 1  # of the simplex: a is its newest corner, c its oldest
    dx, dy = -bx, -by
    found = 0
    turn = 0
    while turn < 40:
        turn += 1
        ax, ay = difference_corner(one, other, dx, dy)
        if ax * dx + ay * dy < 0:
            break
        if size == 1:
            # The side's normal towards the origin.
            ex, ey = bx - ax, by - ay
            side = ex * -ay - ey * -ax
            dx, dy = (-ey, ex) if side > 0 else (ey, -ex)
            cx, cy = bx, by
            bx, by = ax, ay
            size = 2
            continue
        ux, uy = bx - ax, by - ay
        vx, vy = cx - ax, cy - ay
        inner = ux * vy - uy * vx
        past_b = (ux * -ay - uy * -ax) * inner < 0  # the origin is beyond the side from a to b
        past_c = (vx * -ay - vy * -ax) * inner > 0
        if past_b:
            dx, dy = (uy, -ux) if inner > 0 else (-uy, ux)
            cx, cy = bx, by
        elif past_c:
            dx, dy = (-vy, vx) if inner > 0 else (vy, -vx)
        else:
            found = 1
            break
        bx, by = ax, ay
    meet[i] = found
    rounds[i] = turn


def winding_numbers(points, triangles, windings):
    """How often a surface of triangles winds around points: the solid angles of all triangles, a tile at a time (Jacobson and others)."""
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    tile = cuda.shared.array((64, 9), float32)
    px = py = pz = float32(0)
    if i < windings.size:
        px, py, pz = points[0, i], points[1, i], points[2, i]
    total = float32(0)
    for start in range(0, triangles.shape[0], 64):
        here = min(64, triangles.shape[0] - start)
        for k in range(t, 9 * here, cuda.blockDim.x):
            tile[k // 9, k % 9] = triangles[start + k // 9, k % 9]
        cuda.syncthreads()
        for k in range(here):
            ax, ay, az = tile[k, 0] - px, tile[k, 1] - py, tile[k, 2] - pz
            bx, by, bz = tile[k, 3] - px, tile[k, 4] - py, tile[k, 5] - pz
            cx, cy, cz = tile[k, 6] - px, tile[k, 7] - py, tile[k, 8] - pz
            a = math.sqrt(ax * ax + ay * ay + az * az)
            b = math.sqrt(bx * bx + by * by + bz * bz)
            c = math.sqrt(cx * cx + cy * cy + cz * cz)
            volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
            below = a * b * c + (ax * bx + ay * by + az * bz) * c + (bx * cx + by * cy + bz * cz) * a + (cx * ax + cy * ay + cz * az) * b
            total += math.atan2(volume, below)
        cuda.syncthreads()
    if i < windings.size:
        windings[i] = total / (2 * math.pi)


def meetings_problem(rng, n):
    count = n // 4 + 2
    sizes = rng.integers(3, 13, count)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    corners = np.empty((starts[-1], 2))
    turns = rng.random(count)
    places, radii = rng.uniform(0, 30, (count, 2)), rng.uniform(0.5, 4, (count, 2))
    owner = np.repeat(np.arange(count), sizes)
    step = np.arange(starts[-1]) - starts[owner]
    angle = 2 * np.pi * ((step + rng.uniform(0, 0.8, len(step))) / sizes[owner] + turns[owner])
    corners = places[owner] + radii[owner] * np.stack([np.cos(angle), np.sin(angle)], 1)
    firsts = rng.integers(0, count, n).astype(np.int32)
    order = np.argsort(places[:, 0])
    rank = np.empty(count, int)
    rank[order] = np.arange(count)
    seconds = order[(rank[firsts] + rng.integers(1, max(2, min(count, 40)), n)) % count].astype(np.int32)

    def outcome(meet, rounds):
        return meet, (rounds >= 1) & (rounds <= 40)

    def expected():
        at = sampled(rng, n, 1000)
        values = []
        for i in at:
            pair = [corners[starts[k] : starts[k + 1]] for k in (firsts[i], seconds[i])]
            apart = False
            for polygon in pair:
                sides = np.roll(polygon, -1, 0) - polygon
                normals = np.stack([-sides[:, 1], sides[:, 0]], 1)
                a, b = (normals @ p.T for p in pair)
                apart = apart or np.any((a.max(1) < b.min(1)) | (b.max(1) < a.min(1)))
            values.append(not apart)
        return [(at, values, 0), (slice(None), np.ones(n, bool), 0)]

    args = (corners, starts, firsts, seconds, np.full(n, 99, np.uint8), np.full(n, 99, np.uint8))
    return Problem(args, (n,), (4, 5), expected, threads=n, bytes=10.0 * n + corners.nbytes, flops=4 * 50.0 * n, outcome=outcome)


def winding_problem(rng, n):
    rings, around = 12, 25
    u, v = 2 * np.pi * np.arange(rings) / rings, 2 * np.pi * np.arange(around) / around
    u, v = u[:, None], v[None, :]
    radius = 0.35 + 0.05 * np.cos(3 * v)
    torus = np.stack([(1 + radius * np.cos(u)) * np.cos(v), (1 + radius * np.cos(u)) * np.sin(v), radius * np.sin(u) + 0 * v], 2)
    right, up = np.roll(torus, -1, 1), np.roll(torus, -1, 0)
    across = np.roll(right, -1, 0)
    triangles = np.concatenate([np.stack([torus, right, across], 2), np.stack([torus, across, up], 2)]).reshape(-1, 9)
    triangles = triangles[: -len(triangles) // 7].astype(np.float32)  # with a hole
    points = rng.uniform(-1.6, 1.6, (3, n)).astype(np.float32)
    points[2] *= 0.4

    def expected():
        at = sampled(rng, n, 300)
        a, b, c = triangles.reshape(-1, 3, 3, 1).astype(float).transpose(1, 2, 0, 3) - points[:, None, at].astype(float)
        la, lb, lc = (np.sqrt((p * p).sum(0)) for p in (a, b, c))
        volume = (a * np.cross(b, c, axis=0)).sum(0)
        below = la * lb * lc + (a * b).sum(0) * lc + (b * c).sum(0) * la + (c * a).sum(0) * lb
        size = la * lb * lc
        # Both of atan2's arguments round by some 12 EPS32 of the corners' distances.
        angles = 12 * EPS32 * size / np.hypot(volume, below) + 2 * EPS32 * np.pi
        magnitudes = np.abs(np.arctan2(volume, below)).sum(0)
        return [(at, np.arctan2(volume, below).sum(0) / (2 * np.pi), angles.sum(0) + len(triangles) * EPS32 * magnitudes)]

    args = (points, triangles, np.full(n, 99, np.float32))
    return Problem(
        args, (n, len(triangles)), (2,), expected, threads=n, bytes=16.0 * n, flops=90.0 * len(triangles) * n
    )


MEETINGS = each(
    """convex_meetings(const double *__restrict__ corners, const int *__restrict__ starts, const int *__restrict__ firsts,
                     const int *__restrict__ seconds, unsigned char *__restrict__ meet, unsigned char *__restrict__ rounds, int n)""",
    """
    const double *one = corners + 2 * (INDEX)starts[firsts[i]], *other = corners + 2 * (INDEX)starts[seconds[i]];
    INDEX sizes[2] = {starts[firsts[i] + 1] - starts[firsts[i]], starts[seconds[i] + 1] - starts[seconds[i]]};
    double dx = one[0] - other[0], dy = one[1] - other[1], ax, ay, bx, by, cx = 0, cy = 0;
    corner_of_difference(one, sizes[0], other, sizes[1], dx, dy, &bx, &by);
    int size = 1, found = 0, turn = 0;
    dx = -bx;
    dy = -by;
    while (turn < 40) {
      turn++;
      corner_of_difference(one, sizes[0], other, sizes[1], dx, dy, &ax, &ay);
      if (ax * dx + ay * dy < 0) break;
      if (size == 1) {
        double ex = bx - ax, ey = by - ay, side = ex * -ay - ey * -ax;
        dx = side > 0 ? -ey : ey;
        dy = side > 0 ? ex : -ex;
        cx = bx;
        cy = by;
        bx = ax;
        by = ay;
        size = 2;
        continue;
      }
      double ux = bx - ax, uy = by - ay, vx = cx - ax, vy = cy - ay, inner = ux * vy - uy * vx;
      if ((ux * -ay - uy * -ax) * inner < 0) {
        dx = inner > 0 ? uy : -uy;
        dy = inner > 0 ? -ux : ux;
        cx = bx;
        cy = by;
      } else if ((vx * -ay - vy * -ax) * inner > 0) {
        dx = inner > 0 ? -vy : vy;
        dy = inner > 0 ? vx : -vx;
      } else {
        found = 1;
        break;
      }
      bx = ax;
      by = ay;
    }
    meet[i] = found;
    rounds[i] = turn;
""",
    before="""
DEVICE void farthest_corner(const double *corners, INDEX size, double dx, double dy, double *x, double *y) {
  double best = -INFINITY;
  for (INDEX k = 0; k < size; k++) {
    double along = corners[2 * k] * dx + corners[2 * k + 1] * dy;
    if (along > best) {
      best = along;
      *x = corners[2 * k];
      *y = corners[2 * k + 1];
    }
  }
}
DEVICE void corner_of_difference(const double *one, INDEX size, const double *other, INDEX other_size, double dx, double dy,
                                 double *x, double *y) {
  double bx = 0, by = 0;
  farthest_corner(one, size, dx, dy, x, y);
  farthest_corner(other, other_size, -dx, -dy, &bx, &by);
  *x -= bx;
  *y -= by;
}
""",
)

WINDING_HEAD = """winding_numbers(const float *__restrict__ points, const float *__restrict__ triangles, float *__restrict__ windings,
                     int n, int count)"""
WINDING_TERM = """
      float ax = TRI[0] - px, ay = TRI[1] - py, az = TRI[2] - pz;
      float bx = TRI[3] - px, by = TRI[4] - py, bz = TRI[5] - pz;
      float cx = TRI[6] - px, cy = TRI[7] - py, cz = TRI[8] - pz;
      float a = sqrtf(ax * ax + ay * ay + az * az), b = sqrtf(bx * bx + by * by + bz * bz), c = sqrtf(cx * cx + cy * cy + cz * cz);
      float volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx);
      float below = a * b * c + (ax * bx + ay * by + az * bz) * c + (bx * cx + by * cy + bz * cz) * a
        + (cx * ax + cy * ay + cz * az) * b;
      total += atan2f(volume, below);
"""
WINDING = indexed(
    f"""
__global__ void {WINDING_HEAD} {{
  __shared__ float tile[64][9];
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  int t = threadIdx.x;
  float px = 0, py = 0, pz = 0, total = 0;
  if (i < n) {{
    px = points[i];
    py = points[n + i];
    pz = points[2 * (INDEX)n + i];
  }}
  for (INDEX start = 0; start < count; start += 64) {{
    int here = min((INDEX)64, count - start);
    for (int k = t; k < 9 * here; k += blockDim.x)
      tile[k / 9][k % 9] = triangles[start * 9 + k];
    __syncthreads();
    for (int k = 0; k < here; k++) {{{WINDING_TERM.replace("TRI", "tile[k]")}    }}
    __syncthreads();
  }}
  if (i < n) windings[i] = total / 6.2831853f;
}}
""",
    f"""
void {WINDING_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{
    float px = points[i], py = points[n + i], pz = points[2 * n + i], total = 0;
    for (INDEX k = 0; k < count; k++) {{
      const float *triangle = triangles + 9 * k;{WINDING_TERM.replace("TRI", "triangle")}    }}
    windings[i] = total / 6.2831853f;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "convex polygons that meet", convex_meetings,
        "float64[:,::1], int32[::1], int32[::1], int32[::1], uint8[::1], uint8[::1]", 128, meetings_problem, gpu=1_000_003,
        host=10_007, test=503, kind="irregular", **MEETINGS,
    ),
    Kernel(
        "windings around points", winding_numbers, "float32[:,::1], float32[:,::1], float32[::1]", 128, winding_problem,
        gpu=100_003, host=503, test=203, kind="shared", **WINDING,
    ),
]  # fmt: skip
