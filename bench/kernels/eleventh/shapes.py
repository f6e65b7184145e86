"""Shapes: sums of polygons, corners that are seen, hulls, edges that a triangulation should flip, areas of rings."""

import numpy as np
from kernels.declare import EPS64, Kernel, Problem, sampled
from kernels.eleventh.adds import with_adds
from kernels.texts import each, plane
from pyptx import cuda


def minkowski_sums(ones, others, sums, counts):
    """Minkowski's sums of pairs of convex polygons, whose edges are taken in the order of their directions."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    n, m = ones.shape[1], others.shape[1]
    a = b = count = 0
    while a < n or b < m:
        ax, ay = ones[i, a % n]
        bx, by = others[i, b % m]
        sums[i, count, 0] = ax + bx
        sums[i, count, 1] = ay + by
        count += 1
        ux, uy = ones[i, (a + 1) % n, 0] - ax, ones[i, (a + 1) % n, 1] - ay
        vx, vy = others[i, (b + 1) % m, 0] - bx, others[i, (b + 1) % m, 1] - by
        cross = int(ux) * int(vy) - int(uy) * int(vx)
        one = a < n and (cross >= 0 or b == m)
        other = b < m and (cross <= 0 or a == n)
        if one:
            a += 1
        if other:
            b += 1
    counts[i] = count


def side_of(ax, ay, bx, by, x, y):
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)


def seen_corners(viewers, walls, corners, seen):
    """Which corners each viewer sees past walls; a wall hides what lies strictly across it."""
    c, v = cuda.grid(2)
    if v >= seen.shape[0] or c >= seen.shape[1]:
        return
    x, y = viewers[v]
    cx, cy = corners[c]
    free = True
    for w in range(walls.shape[0]):
        ax, ay, bx, by = walls[w]
        a, b = side_of(x, y, cx, cy, ax, ay), side_of(x, y, cx, cy, bx, by)
        if (a > 0 and b < 0) or (a < 0 and b > 0):
            p, q = side_of(ax, ay, bx, by, x, y), side_of(ax, ay, bx, by, cx, cy)
            if (p > 0 and q < 0) or (p < 0 and q > 0):
                free = False
                break
    seen[v, c] = free


def group_hulls(starts, points, sizes, areas):
    """Hulls of groups of points that are sorted by x, then y: the corners, and twice the area."""
    i = cuda.grid(1)
    if i >= sizes.size:
        return
    begin, end = int(starts[i]), int(starts[i + 1])
    hull = cuda.local.array(128, np.int32)
    count = 0
    for k in range(begin, end):
        count = push(points, hull, count, 1, k)
    lower = count
    for k in range(end - 2, begin - 1, -1):
        count = push(points, hull, count, lower, k)
    area = 0
    for k in range(count - 1):
        p, q = points[hull[k]], points[hull[k + 1]]
        area += int(p[0]) * int(q[1]) - int(p[1]) * int(q[0])
    sizes[i] = count - 1
    areas[i] = area


def push(points, hull, count, least, k):
    x, y = int(points[k, 0]), int(points[k, 1])
    while count > least:
        a, b = points[hull[count - 2]], points[hull[count - 1]]
        if side_of(int(a[0]), int(a[1]), int(b[0]), int(b[1]), x, y) > 0:
            break
        count -= 1
    hull[count] = k
    return count + 1


def illegal_edges(points, quads, flips, count):
    """Delaunay: edges a-b whose triangles a, b, c and b, a, d should have the edge c-d instead."""
    i = cuda.grid(1)
    if i >= flips.size:
        return
    a, b, c, d = quads[i]
    dx, dy = int(points[d, 0]), int(points[d, 1])
    ax, ay = int(points[a, 0]) - dx, int(points[a, 1]) - dy
    bx, by = int(points[b, 0]) - dx, int(points[b, 1]) - dy
    cx, cy = int(points[c, 0]) - dx, int(points[c, 1]) - dy
    inside = (
        (ax * ax + ay * ay) * (bx * cy - by * cx)
        - (bx * bx + by * by) * (ax * cy - ay * cx)
        + (cx * cx + cy * cy) * (ax * by - ay * bx)
    )
    flips[i] = inside > 0
    if inside > 0:
        cuda.atomic.add(count, 0, 1)


def ring_areas(starts, rings, areas, centres):
    """Rings of a map: areas and centres, from a corner of each to keep the numbers small."""
    i = cuda.grid(1)
    if i >= areas.size:
        return
    ring = rings[starts[i] : starts[i + 1]]
    x0, y0 = ring[0]
    area = 0.0
    mx = my = 0.0
    px, py = ring[-1, 0] - x0, ring[-1, 1] - y0
    for corner in ring:
        x, y = corner[0] - x0, corner[1] - y0
        cross = px * y - x * py
        area += cross
        mx += (px + x) * cross
        my += (py + y) * cross
        px, py = x, y
    areas[i] = area / 2
    centres[i, 0] = x0 + mx / (3 * area)
    centres[i, 1] = y0 + my / (3 * area)


def convex(rng, n, k):
    """n convex polygons of k corners, counterclockwise from the lowest."""
    angles = 2 * np.pi * (np.arange(k) + 0.7 * rng.random((n, k))) / k
    size = rng.integers(1000, 20_000, (n, 1))
    p = np.rint(np.stack([size * np.cos(angles), size * np.sin(angles)], 2)).astype(np.int32) + rng.integers(-999, 999, (n, 1, 2))
    first = np.lexsort((p[..., 0], p[..., 1]), axis=1)[:, 0]
    return np.take_along_axis(p, ((first[:, None] + np.arange(k)) % k)[..., None], 1).astype(np.int32)


def minkowski_problem(rng, n):
    k, m = 13, 17
    ones, others = convex(rng, n, k), convex(rng, n, m)
    others[0, :k] = ones[0]  # equal directions
    others[0, k:] = ones[0, :1]

    def expected():
        at = sampled(rng, n, 400)
        values, counts = np.full((len(at), k + m, 2), -7), np.zeros(len(at), int)
        for row, i in enumerate(at):
            p, q = ones[i].tolist(), others[i].tolist()
            a = b = count = 0
            while a < k or b < m:
                values[row, count] = p[a % k][0] + q[b % m][0], p[a % k][1] + q[b % m][1]
                count += 1
                u = [p[(a + 1) % k][j] - p[a % k][j] for j in (0, 1)]
                v = [q[(b + 1) % m][j] - q[b % m][j] for j in (0, 1)]
                cross = u[0] * v[1] - u[1] * v[0]
                one, other = a < k and (cross >= 0 or b == m), b < m and (cross <= 0 or a == k)
                a, b = a + one, b + other
            counts[row] = count
        return [(at, values, 0), (at, counts, 0)]

    args = (ones, others, np.full((n, k + m, 2), -7, np.int32), np.full(n, -1, np.int32))
    return Problem(args, (n, k, m), (2, 3), expected, threads=n, bytes=8.0 * 2 * (k + m) * n, flops=30.0 * 20 * n)


def seen_problem(rng, n):
    count, corners = 60, 301
    viewers, ends = rng.integers(-5000, 5000, (n, 2)), rng.integers(-5000, 5000, (corners, 2))
    a = rng.integers(-5000, 5000, (count, 2))
    walls = np.concatenate([a, a + rng.integers(-900, 900, (count, 2))], 1)
    viewers, ends, walls = (v.astype(np.int32) for v in (viewers, ends, walls))

    def expected():
        at = sampled(rng, n, 200)

        def side(a, b, p):
            return (b[..., 0] - a[..., 0]) * (p[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (p[..., 0] - a[..., 0])

        v, c = viewers[at, None].astype(np.int64), ends[None].astype(np.int64)
        free = np.ones((len(at), corners), bool)
        for w in walls.astype(np.int64):
            a, b = w[None, None, :2], w[None, None, 2:]
            free &= ~((side(v, c, a) * side(v, c, b) < 0) & (side(a, b, v) * side(a, b, c) < 0))
        return [(at, free, 0)]

    args = (viewers, walls, ends, np.zeros((n, corners), np.bool_))
    return Problem(
        args, (n, count, corners), (3,), expected, threads=(corners, n), bytes=1.0 * n * corners, flops=20.0 * 30 * n * corners,
    )  # fmt: skip


def hulls_problem(rng, n):
    sizes = rng.integers(3, 64, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    whose = np.repeat(np.arange(n), sizes)
    points = np.rint(rng.standard_normal((starts[-1], 2)) * 3000).clip(-32768, 32767).astype(np.int16)
    points[::7] = points[::7] // 1000 * 1000
    points = points[np.lexsort((points[:, 1], points[:, 0], whose))]

    def expected():
        at = sampled(rng, n, 500)
        counts, areas = [], []
        for i in at:
            p = points[starts[i] : starts[i + 1]].tolist()
            hull = []

            def grow(q, least, hull=hull):
                while len(hull) > least and side_of(*hull[-2], *hull[-1], *q) <= 0:
                    hull.pop()
                hull.append(q)

            for q in p:
                grow(q, 1)
            lower = len(hull)
            for q in p[-2::-1]:
                grow(q, lower)
            counts.append(len(hull) - 1)
            areas.append(sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(hull, hull[1:])))
        return [(at, counts, 0), (at, areas, 0)]

    args = (starts, points, np.full(n, -1, np.int32), np.full(n, -1, np.int64))
    return Problem(args, (n,), (2, 3), expected, threads=n, bytes=4.0 * len(points) + 16.0 * n, flops=40.0 * len(points))


def flips_problem(rng, n):
    points = rng.integers(-8000, 8000, (n // 3 + 4, 2)).astype(np.int32)
    quads = rng.integers(0, len(points), (n, 4)).astype(np.int32)

    def expected():
        p = points.astype(np.int64)[quads]
        (ax, ay), (bx, by), (cx, cy) = (np.moveaxis(p[:, k] - p[:, 3], 1, 0) for k in range(3))
        inside = (ax**2 + ay**2) * (bx * cy - by * cx) - (bx**2 + by**2) * (ax * cy - ay * cx) + (cx**2 + cy**2) * (ax * by - ay * bx)
        return [(slice(None), inside > 0, 0), (0, (inside > 0).sum(), 0)]

    args = (points, quads, np.full(n, 99, np.uint8), np.zeros(1, np.int32))
    return Problem(args, (n,), (2, 3), expected, threads=n, bytes=49.0 * n, flops=30.0 * n)


def rings_problem(rng, n):
    sizes = rng.integers(3, 40, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    k = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    angles = 2 * np.pi * (k + 0.5 * rng.random(len(k))) / np.repeat(sizes, sizes)
    radius = rng.uniform(50, 100, len(k))
    centre = np.repeat(rng.uniform(4e5, 5e6, (n, 2)), sizes, 0)
    rings = centre + np.stack([radius * np.cos(angles), radius * np.sin(angles)], 1)

    def expected():
        at = sampled(rng, n, 1000)
        areas, centres = [], []
        for i in at:
            ring = rings[starts[i] : starts[i + 1]]
            q = ring - ring[0]
            p = np.roll(q, 1, 0)
            cross = p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]
            areas.append(cross.sum() / 2)
            centres.append(ring[0] + ((p + q) * cross[:, None]).sum(0) / (3 * cross.sum()))
        areas = np.array(areas)
        # A sum of up to 39 parts, none larger than 200 * 200.
        return [(at, areas, 80 * EPS64 * 4e4 * 39), (at, np.array(centres), 2 * EPS64 * 5e6 + 40 * EPS64 * 40 * 2e7 / areas[:, None])]

    args = (starts, rings, np.full(n, -1.0), np.full((n, 2), -1.0))
    return Problem(args, (n,), (2, 3), expected, threads=n, bytes=16.0 * len(rings) + 28.0 * n, flops=12.0 * len(rings))


MINKOWSKI = each(
    """minkowski_sums(const int *__restrict__ ones, const int *__restrict__ others, int *__restrict__ sums,
                    int *__restrict__ counts, int count_, int n, int m)""",
    """
    const int *p = ones + i * n * 2, *q = others + i * m * 2;
    int *to = sums + i * (n + m) * 2;
    INDEX a = 0, b = 0, count = 0;
    while (a < n || b < m) {
      const int *one = p + a % n * 2, *other = q + b % m * 2, *one1 = p + (a + 1) % n * 2, *other1 = q + (b + 1) % m * 2;
      to[2 * count] = one[0] + other[0];
      to[2 * count + 1] = one[1] + other[1];
      count++;
      int ux = one1[0] - one[0], uy = one1[1] - one[1], vx = other1[0] - other[0], vy = other1[1] - other[1];
      long long cross = (long long)ux * vy - (long long)uy * vx;
      int first = a < n && (cross >= 0 || b == m), second = b < m && (cross <= 0 || a == n);
      if (first) a++;
      if (second) b++;
    }
    counts[i] = count;
""",
    extent="count_",
)

SEEN = plane(
    """seen_corners(const int *__restrict__ viewers, const int *__restrict__ walls, const int *__restrict__ corners,
                  unsigned char *__restrict__ seen, int rows, int count, int cols)""",
    """
    int x = viewers[2 * row], y = viewers[2 * row + 1], cx = corners[2 * col], cy = corners[2 * col + 1], unhidden = 1;
    for (INDEX w = 0; w < count; w++) {
      int ax = walls[4 * w], ay = walls[4 * w + 1], bx = walls[4 * w + 2], by = walls[4 * w + 3];
      int a = side_of_line(x, y, cx, cy, ax, ay), b = side_of_line(x, y, cx, cy, bx, by);
      if ((a > 0 && b < 0) || (a < 0 && b > 0)) {
        int p = side_of_line(ax, ay, bx, by, x, y), q = side_of_line(ax, ay, bx, by, cx, cy);
        if ((p > 0 && q < 0) || (p < 0 && q > 0)) {
          unhidden = 0;
          break;
        }
      }
    }
    seen[row * cols + col] = unhidden;
""",
    before="""
DEVICE int side_of_line(int ax, int ay, int bx, int by, int x, int y) {
  return (bx - ax) * (y - ay) - (by - ay) * (x - ax);
}
""",
)

HULLS = each(
    """group_hulls(const int *__restrict__ starts, const short *__restrict__ points, int *__restrict__ sizes,
                 long long *__restrict__ areas, int n)""",
    """
    INDEX begin = starts[i], end = starts[i + 1], count = 0;
    int hull[128];
    for (INDEX k = begin; k < end; k++)
      count = hull_push(points, hull, count, 1, k);
    INDEX lower = count;
    for (INDEX k = end - 2; k >= begin; k--)
      count = hull_push(points, hull, count, lower, k);
    long long area = 0;
    for (INDEX k = 0; k < count - 1; k++) {
      const short *p = points + 2 * (INDEX)hull[k], *q = points + 2 * (INDEX)hull[k + 1];
      area += (long long)p[0] * q[1] - (long long)p[1] * q[0];
    }
    sizes[i] = count - 1;
    areas[i] = area;
""",
    before="""
DEVICE INDEX hull_push(const short *points, int *hull, INDEX count, INDEX least, INDEX k) {
  long long x = points[2 * k], y = points[2 * k + 1];
  while (count > least) {
    const short *a = points + 2 * (INDEX)hull[count - 2], *b = points + 2 * (INDEX)hull[count - 1];
    if ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) > 0) break;
    count--;
  }
  hull[count] = k;
  return count + 1;
}
""",
)

FLIPS = with_adds(each(
    "illegal_edges(const int *__restrict__ points, const int *__restrict__ quads, unsigned char *__restrict__ flips, int *__restrict__ count, int n)",
    """
    const int *quad = quads + 4 * i, *a = points + 2 * (INDEX)quad[0], *b = points + 2 * (INDEX)quad[1];
    const int *c = points + 2 * (INDEX)quad[2], *d = points + 2 * (INDEX)quad[3];
    long long ax = a[0] - d[0], ay = a[1] - d[1], bx = b[0] - d[0], by = b[1] - d[1], cx = c[0] - d[0], cy = c[1] - d[1];
    long long inside = (ax * ax + ay * ay) * (bx * cy - by * cx) - (bx * bx + by * by) * (ax * cy - ay * cx) +
                       (cx * cx + cy * cy) * (ax * by - ay * bx);
    flips[i] = inside > 0;
    if (inside > 0) ADD(count[0], 1);
""",
))  # fmt: skip

RINGS = each(
    "ring_areas(const int *__restrict__ starts, const double *__restrict__ rings, double *__restrict__ areas, double *__restrict__ centres, int n)",
    """
    const double *ring = rings + 2 * (INDEX)starts[i];
    INDEX size = starts[i + 1] - starts[i];
    double x0 = ring[0], y0 = ring[1], area = 0, mx = 0, my = 0, px = ring[2 * size - 2] - x0, py = ring[2 * size - 1] - y0;
    for (INDEX k = 0; k < size; k++) {
      double x = ring[2 * k] - x0, y = ring[2 * k + 1] - y0, cross = px * y - x * py;
      area += cross;
      mx += (px + x) * cross;
      my += (py + y) * cross;
      px = x;
      py = y;
    }
    areas[i] = area / 2;
    centres[2 * i] = x0 + mx / (3 * area);
    centres[2 * i + 1] = y0 + my / (3 * area);
""",
)

KERNELS = [
    Kernel(
        "sums of polygons", minkowski_sums, "int32[:,:,::1], int32[:,:,::1], int32[:,:,::1], int32[::1]", 64,
        minkowski_problem, gpu=200_003, host=3001, test=203, kind="irregular", **MINKOWSKI,
    ),
    Kernel(
        "corners that are seen", seen_corners, "int32[:,::1], int32[:,::1], int32[:,::1], bool[:,::1]", (32, 4), seen_problem,
        gpu=20_011, host=301, test=23, kind="irregular", **SEEN,
    ),
    Kernel(
        "hulls of groups", group_hulls, "int32[::1], int16[:,::1], int32[::1], int64[::1]", 64, hulls_problem, gpu=200_003,
        host=3001, test=203, kind="irregular", **HULLS,
    ),
    Kernel(
        "edges to be flipped", illegal_edges, "int32[:,::1], int32[:,::1], uint8[::1], int32[::1]", 256, flips_problem,
        gpu=5_000_011, host=100_003, test=1003, kind="irregular", **FLIPS,
    ),
    Kernel(
        "areas of rings", ring_areas, "int32[::1], float64[:,::1], float64[::1], float64[:,::1]", 128, rings_problem,
        gpu=500_009, host=10_007, test=303, kind="irregular", **RINGS,
    ),
]  # fmt: skip
