"""Boxes, points, rays and voxels. Tolerances: areas and distances here are sums of at most 50 products of float64 numbers of magnitude 10 or less, so
absolute errors stay below 50 * 100 * 2**-53 = 6e-13: ATOL."""

import math
from collections import namedtuple

import numpy as np
from pyptx import cuda

ATOL = 6e-13


def rotated_area(box_a, box_b):
    """Area that two rotated boxes (x, y, width, height, angle) share: the first is clipped at the sides of the second."""
    xs, ys = corners(box_a)
    bx, by = corners(box_b)
    points = list(zip(xs, ys))
    for k in range(4):
        ax, ay, ex, ey = bx[k], by[k], bx[(k + 1) % 4], by[(k + 1) % 4]
        kept = []
        for i, (px, py) in enumerate(points):
            qx, qy = points[(i + 1) % len(points)]
            sp, sq = (ex - ax) * (py - ay) - (ey - ay) * (px - ax), (ex - ax) * (qy - ay) - (ey - ay) * (qx - ax)
            if sp >= 0:
                kept.append((px, py))
            if (sp > 0 > sq) or (sp < 0 < sq):
                f = sp / (sp - sq)
                kept.append((px + f * (qx - px), py + f * (qy - py)))
        points = kept
        if not points:
            return 0.0
    return abs(sum(points[i - 1][0] * y - x * points[i - 1][1] for i, (x, y) in enumerate(points))) / 2


def corners(box):
    x, y, w, h, angle = box
    c, s = math.cos(angle), math.sin(angle)
    dx, dy = (-w / 2, w / 2, w / 2, -w / 2), (-h / 2, -h / 2, h / 2, h / 2)
    return [x + c * a - s * b for a, b in zip(dx, dy)], [y + s * a + c * b for a, b in zip(dx, dy)]


def test_intersection_of_rotated_boxes(jit):
    @jit(device=True)
    def to_corners(box, out):
        c, s = math.cos(box[4]), math.sin(box[4])
        for k in range(4):
            a = box[2] * (0.5 if k == 1 or k == 2 else -0.5)
            b = box[3] * (0.5 if k >= 2 else -0.5)
            out[2 * k] = box[0] + c * a - s * b
            out[2 * k + 1] = box[1] + s * a + c * b

    @jit(device=True)
    def side(ax, ay, bx, by, px, py):
        return (bx - ax) * (py - ay) - (by - ay) * (px - ax)

    @jit(device=True)
    def clip(points, n, ax, ay, bx, by, out):
        kept = 0
        for i in range(n):
            j = i + 1 if i + 1 < n else 0
            px, py, qx, qy = points[2 * i], points[2 * i + 1], points[2 * j], points[2 * j + 1]
            sp, sq = side(ax, ay, bx, by, px, py), side(ax, ay, bx, by, qx, qy)
            if sp >= 0:
                out[2 * kept], out[2 * kept + 1] = px, py
                kept += 1
            if (sp > 0 and sq < 0) or (sp < 0 and sq > 0):
                f = sp / (sp - sq)
                out[2 * kept] = px + f * (qx - px)
                out[2 * kept + 1] = py + f * (qy - py)
                kept += 1
        return kept

    @jit
    def shared_areas(a, b, out):
        i, j = cuda.grid(2)
        if i < a.shape[0] and j < b.shape[0]:
            first = cuda.local.array(32, np.float64)
            second = cuda.local.array(32, np.float64)
            window = cuda.local.array(8, np.float64)
            to_corners(a[i], first)
            to_corners(b[j], window)
            n = 4
            for k in range(4):
                e = (k + 1) % 4
                if k % 2 == 0:
                    n = clip(first, n, window[2 * k], window[2 * k + 1], window[2 * e], window[2 * e + 1], second)
                else:
                    n = clip(second, n, window[2 * k], window[2 * k + 1], window[2 * e], window[2 * e + 1], first)
            area = 0.0
            for k in range(n):
                e = (k + 1) % n
                area += first[2 * k] * first[2 * e + 1] - first[2 * e] * first[2 * k + 1]
            out[i, j] = abs(area) / 2

    rng = np.random.default_rng(1)
    a, b = (np.concatenate([rng.uniform(-2, 2, (n, 2)), rng.uniform(0.2, 4, (n, 2)), rng.uniform(-3, 3, (n, 1))], axis=1) for n in (9, 14))
    out = np.zeros((9, 14))
    shared_areas[(2, 2), (8, 8)](a, b, out)
    right = np.array([[rotated_area(p, q) for q in b] for p in a])
    np.testing.assert_allclose(out, right, rtol=0, atol=ATOL)
    assert (right > 0).sum() > 40


def test_suppression_of_overlapping_boxes(jit):
    @jit(device=True)
    def overlap(a, b):
        left, top = max(a[0], b[0]), max(a[1], b[1])
        right, bottom = min(a[2], b[2]), min(a[3], b[3])
        width, height = max(right - left, 0.0), max(bottom - top, 0.0)
        shared = width * height
        return shared / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared)

    @jit
    def masks(boxes, limit, out):
        row, col, t = cuda.blockIdx.y, cuda.blockIdx.x, cuda.threadIdx.x
        n = boxes.shape[0]
        rows, cols = min(n - row * 64, 64), min(n - col * 64, 64)
        tile = cuda.shared.array((64, 4), np.float64)
        if t < cols:
            for k in range(4):
                tile[t, k] = boxes[col * 64 + t, k]
        cuda.syncthreads()
        if t < rows:
            bits = np.uint64(0)
            start = t + 1 if row == col else 0
            for i in range(start, cols):
                if overlap(boxes[row * 64 + t], tile[i]) > limit:
                    bits |= np.uint64(1) << np.uint64(i)
            out[row * 64 + t, col] = bits

    rng = np.random.default_rng(2)
    n = 150
    corner = rng.uniform(0, 20, (n, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(1, 6, (n, 2))], axis=1)
    out = np.zeros((n, 3), np.uint64)
    masks[(3, 3), 64](boxes, 0.3, out)
    lo, hi = np.maximum(boxes[:, None, :2], boxes[None, :, :2]), np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    shared = np.clip(hi - lo, 0, None).prod(2)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    ratio = shared / (area[:, None] + area[None] - shared)
    assert np.abs(ratio - 0.3).min() > 1e-9  # no box is decided by a rounding
    for i in range(n):
        for w in range(3):
            bits = [int(ratio[i, j] > 0.3 and not (i // 64 == w and j <= i)) if j < n else 0 for j in range(64 * w, 64 * w + 64)]
            assert int(out[i, w]) == sum(bit << k for k, bit in enumerate(bits))


def test_points_in_a_polygon(jit):
    @jit
    def inside(px, py, polygon, out):
        i = cuda.grid(1)
        if i < px.size:
            found = False
            last = polygon.shape[0] - 1
            for k in range(polygon.shape[0]):
                ax, ay = polygon[k, 0], polygon[k, 1]
                bx, by = polygon[last, 0], polygon[last, 1]
                if (ay > py[i]) != (by > py[i]) and px[i] < (bx - ax) * (py[i] - ay) / (by - ay) + ax:
                    found = not found
                last = k
            out[i] = found

    rng = np.random.default_rng(3)
    turn = np.sort(rng.uniform(0, 2 * np.pi, 17))
    polygon = np.stack([np.cos(turn), np.sin(turn)], 1) * rng.uniform(1, 3, (17, 1))
    px, py, out = rng.uniform(-3, 3, 1000), rng.uniform(-3, 3, 1000), np.zeros(1000, bool)
    inside[8, 128](px, py, polygon, out)
    right = np.zeros(1000, bool)
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, 1, axis=0)):
        with np.errstate(divide="ignore"):
            right ^= ((ay > py) != (by > py)) & (px < (bx - ax) * (py - ay) / (by - ay) + ax)
    assert (out == right).all() and 0 < right.sum() < 1000


Ray = namedtuple("Ray", "origin direction")


def test_voxels_along_a_ray(jit):
    """Steps through a grid cell by cell; a ray along an axis never sets the other axes' variables."""

    @jit
    def march(origins, directions, weights, out):
        i = cuda.grid(1)
        if i >= out.size:
            return
        x, y = int(math.floor(origins[i, 0])), int(math.floor(origins[i, 1]))
        dx, dy = directions[i, 0], directions[i, 1]
        if dx > 0:
            step_x = 1
            next_x = (x + 1 - origins[i, 0]) / dx
        if dx < 0:
            step_x = -1
            next_x = (x - origins[i, 0]) / dx
        if dy > 0:
            step_y = 1
            next_y = (y + 1 - origins[i, 1]) / dy
        if dy < 0:
            step_y = -1
            next_y = (y - origins[i, 1]) / dy
        if dx == 0:
            step_x = 0
            next_x = math.inf
        if dy == 0:
            step_y = 0
            next_y = math.inf
        total = 0.0
        while 0 <= x < weights.shape[0] and 0 <= y < weights.shape[1]:
            total += weights[x, y]
            if next_x < next_y:
                x += step_x
                next_x += abs(1 / dx)
            else:
                y += step_y
                if dy != 0:
                    next_y += abs(1 / dy)
        out[i] = total

    rng = np.random.default_rng(4)
    origins, angle = rng.uniform(0, 8, (64, 2)), rng.uniform(0, 2 * np.pi, 64)
    directions = np.stack([np.cos(angle), np.sin(angle)], 1)
    directions[:4] = [[1, 0], [-1, 0], [0, 1], [0, -1]]
    weights, out = rng.integers(0, 100, (8, 8)).astype(float), np.zeros(64)
    march[2, 32](origins, directions, weights, out)
    for i in range(64):
        (ox, oy), (dx, dy), total = origins[i], directions[i], 0.0
        x, y = int(ox), int(oy)
        nx = math.inf if dx == 0 else ((x + (dx > 0)) - ox) / dx
        ny = math.inf if dy == 0 else ((y + (dy > 0)) - oy) / dy
        while 0 <= x < 8 and 0 <= y < 8:
            total += weights[x, y]
            if nx < ny:
                x, nx = x + (1 if dx > 0 else -1), nx + abs(1 / dx)
            else:
                y, ny = y + (1 if dy > 0 else -1), ny + abs(1 / dy) if dy else ny
        assert out[i] == total


def test_quaternions_and_named_tuples(jit):
    @jit(device=True)
    def rotate(q, v):
        w, x, y, z = q
        tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
        return v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx

    @jit
    def turn(rays, q, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            o, d = rays.origin, rays.direction
            v = rotate(q, (d[i, 0], d[i, 1], d[i, 2]))
            for k, part in enumerate(v):
                out[i, k] = o[i, k] + part

    rng = np.random.default_rng(5)
    rays = Ray(rng.normal(size=(40, 3)), rng.normal(size=(40, 3)))
    q = rng.normal(size=4)
    q /= np.sqrt((q * q).sum())
    out = np.zeros((40, 3))
    turn[2, 32](rays, tuple(q), out)
    t = 2 * np.cross(q[1:], rays.direction)
    np.testing.assert_allclose(out, rays.origin + rays.direction + q[0] * t + np.cross(q[1:], t), rtol=0, atol=ATOL)


def test_nearest_neighbours(jit):
    K = 5

    @jit
    def nearest(points, queries, index, distance):
        i = cuda.grid(1)
        if i >= queries.shape[0]:
            return
        best = cuda.local.array(K, np.float64)
        where = cuda.local.array(K, np.int32)
        for k in range(K):
            best[k] = math.inf
            where[k] = -1
        for j in range(points.shape[0]):
            d = 0.0
            for axis in range(points.shape[1]):
                d += (points[j, axis] - queries[i, axis]) ** 2
            if d < best[K - 1]:
                k = K - 1
                while k > 0 and best[k - 1] > d:
                    best[k] = best[k - 1]
                    where[k] = where[k - 1]
                    k -= 1
                best[k], where[k] = d, j
        for k in range(K):
            index[i, k] = where[k]
            distance[i, k] = math.sqrt(best[k])

    rng = np.random.default_rng(6)
    points, queries = rng.normal(size=(200, 3)), rng.normal(size=(33, 3))
    index, distance = np.zeros((33, K), np.int32), np.zeros((33, K))
    nearest[1, 64](points, queries, index, distance)
    right = np.sqrt(((queries[:, None] - points[None]) ** 2).sum(2))
    order = np.argsort(right, axis=1)[:, :K]
    assert (index == order).all()
    np.testing.assert_allclose(distance, np.take_along_axis(right, order, 1), rtol=1e-14)
