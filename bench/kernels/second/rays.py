"""Geometry with guards and roots: rays and spheres, rays and triangles (Moeller and Trumbore),
points in a polygon, haversine.
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda

FAR = 1e9  # where no ray ends


def ray_spheres(origin, direction, spheres, nearest):
    """The distance to the first of the spheres (x, y, z, radius) that a ray meets."""
    i = cuda.grid(1)
    if i < nearest.size:
        ox, oy, oz = origin[i, 0], origin[i, 1], origin[i, 2]
        dx, dy, dz = direction[i, 0], direction[i, 1], direction[i, 2]
        best = np.float32(FAR)
        for k in range(spheres.shape[0]):
            x = ox - spheres[k, 0]
            y = oy - spheres[k, 1]
            z = oz - spheres[k, 2]
            radius = spheres[k, 3]
            b = x * dx + y * dy + z * dz
            c = x * x + y * y + z * z - radius * radius
            discriminant = b * b - c
            if discriminant > 0:
                t = -b - math.sqrt(discriminant)
                if 0 < t < best:
                    best = t
        nearest[i] = best


def ray_triangles(origin, direction, corners, nearest):
    """The distance to the first of the triangles, each of three corners."""
    i = cuda.grid(1)
    if i >= nearest.size:
        return
    ox, oy, oz = origin[i, 0], origin[i, 1], origin[i, 2]
    dx, dy, dz = direction[i, 0], direction[i, 1], direction[i, 2]
    best = FAR
    for k in range(corners.shape[0]):
        ax, ay, az = corners[k, 0, 0], corners[k, 0, 1], corners[k, 0, 2]
        ux, uy, uz = corners[k, 1, 0] - ax, corners[k, 1, 1] - ay, corners[k, 1, 2] - az
        vx, vy, vz = corners[k, 2, 0] - ax, corners[k, 2, 1] - ay, corners[k, 2, 2] - az
        px, py, pz = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
        det = ux * px + uy * py + uz * pz
        if abs(det) < 1e-12:
            continue
        tx, ty, tz = ox - ax, oy - ay, oz - az
        u = (tx * px + ty * py + tz * pz) / det
        if u < 0 or u > 1:
            continue
        qx, qy, qz = ty * uz - tz * uy, tz * ux - tx * uz, tx * uy - ty * ux
        v = (dx * qx + dy * qy + dz * qz) / det
        if v < 0 or u + v > 1:
            continue
        t = (vx * qx + vy * qy + vz * qz) / det
        if 0 < t < best:
            best = t
    nearest[i] = best


def points_in_polygon(x, y, polygon, inside):
    """How often a line to the right crosses an edge: odd inside."""
    i = cuda.grid(1)
    if i < x.size:
        odd = False
        j = polygon.shape[0] - 1
        for k in range(polygon.shape[0]):
            if (polygon[k, 1] > y[i]) != (polygon[j, 1] > y[i]):
                slope = (polygon[j, 0] - polygon[k, 0]) / (polygon[j, 1] - polygon[k, 1])
                if x[i] < polygon[k, 0] + slope * (y[i] - polygon[k, 1]):
                    odd = not odd
            j = k
        inside[i] = odd


def haversine(lat1, lon1, lat2, lon2, radius, distance):
    """Great circle distances of places in degrees."""
    i = cuda.grid(1)
    if i < distance.size:
        a = math.radians(lat1[i])
        b = math.radians(lat2[i])
        s = math.sin((b - a) / 2)
        t = math.sin(math.radians(lon2[i] - lon1[i]) / 2)
        h = s * s + math.cos(a) * math.cos(b) * t * t
        distance[i] = 2 * radius * math.asin(math.sqrt(min(1.0, h)))


def rays(rng, n, dtype):
    """Origins in the unit cube and unit directions."""
    direction = rng.normal(size=(n, 3))
    direction /= np.sqrt((direction**2).sum(axis=1, keepdims=True))
    return rng.random((n, 3)).astype(dtype), direction.astype(dtype)


def spheres_problem(rng, n):
    """n rays and 257 spheres."""
    origin, direction = rays(rng, n, np.float32)
    spheres = np.c_[rng.uniform(-2, 3, (257, 3)), rng.uniform(0.02, 0.2, 257)].astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 1000)
        o, d, s = origin[some, None].astype(np.float64), direction[some, None].astype(np.float64), spheres.astype(np.float64)
        away = o - s[:, :3]
        b = (away * d).sum(axis=2)
        size = (away**2).sum(axis=2)
        discriminant = b * b - size + s[:, 3] ** 2
        # Five roundings of sums of squares up to `size`, of both terms.
        doubt = 10 * EPS32 * (size + s[:, 3] ** 2)
        root = np.sqrt(np.maximum(discriminant, 0))
        t = np.where(discriminant > 0, -b - root, FAR)
        t[t <= 0] = FAR
        at = t.argmin(axis=1)[:, None]
        best, off = np.take_along_axis(t, at, 1)[:, 0], np.take_along_axis(doubt / np.maximum(root, 1e-9), at, 1)[:, 0]
        # A ray that touches a sphere, or starts on one, may end anywhere.
        sure = (np.abs(discriminant) > 2 * doubt).all(axis=1)
        sure &= ((discriminant <= 0) | (np.abs(-b - root) > doubt / np.maximum(root, 1e-9))).all(axis=1)
        assert sure.mean() > 0.5, "the sample must say something"
        return [(some, best, np.where(sure, np.where(best < FAR, off + 8 * EPS32 * 5, 0), 2 * FAR))]

    return Problem(
        (origin, direction, spheres, np.zeros(n, np.float32)), (n, 257), (3,), expected, threads=n, bytes=28 * n,
        flops=20 * 257 * n,
    )  # fmt: skip


def triangles_problem(rng, n):
    """n rays and 211 triangles, in float64: none of the random rays is within rounding of an edge.
    """
    origin, direction = rays(rng, n, np.float64)
    corners = rng.uniform(-1, 2, (211, 1, 3)) + rng.uniform(-0.3, 0.3, (211, 3, 3))

    def expected():
        some = sampled(np.random.default_rng(0), n, 1000)
        o, d = origin[some, None], direction[some, None]
        a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        p, t = np.cross(d, v), o - a
        q = np.cross(t, u)
        det = (u * p).sum(axis=2)
        with np.errstate(divide="ignore"):
            x, y, z = (t * p).sum(axis=2) / det, (d * q).sum(axis=2) / det, (v * q).sum(axis=2) / det
        met = (np.abs(det) >= 1e-12) & (x >= 0) & (x <= 1) & (y >= 0) & (x + y <= 1) & (z > 0)
        z[~met] = FAR
        at = z.argmin(axis=1)
        best, det = z[np.arange(len(some)), at], np.abs(det[np.arange(len(some)), at])
        # Two dozen roundings of products below 10, on both sides, divided by the determinant.
        return [(some, best, np.where(best == FAR, 0, 2 * 24 * 10 * EPS64 * (1 + best) / det))]

    return Problem(
        (origin, direction, corners, np.zeros(n)), (n, 211), (3,), expected, threads=n, bytes=56 * n, flops=45 * 211 * n
    )


def polygon_problem(rng, n):
    """n points and a star of 301 corners; no random point is within rounding of an edge."""
    angle, radius = np.sort(rng.uniform(0, 2 * np.pi, 301)), rng.uniform(0.2, 1, 301)
    polygon = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    x, y = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)

    def expected():
        some = sampled(np.random.default_rng(0), n, 2000)
        (px, py), (qx, qy) = polygon.T, np.roll(polygon, 1, axis=0).T
        crossed = (py > y[some, None]) != (qy > y[some, None])
        left = x[some, None] < px + (qx - px) / (qy - py) * (y[some, None] - py)
        return [(some, (crossed & left).sum(axis=1) % 2, 0)]

    return Problem(
        (x, y, polygon, np.zeros(n, np.uint8)), (n, 301), (3,), expected, threads=n, bytes=17 * n, flops=4 * 301 * n
    )


def haversine_problem(rng, n):
    """n pairs of places."""
    lat1, lat2 = rng.uniform(-90, 90, (2, n))
    lon1, lon2 = rng.uniform(-180, 180, (2, n))
    radius = np.float64(6371.0)

    def expected():
        some = sampled(np.random.default_rng(0), n, 10000)
        a, b = np.radians(lat1[some]), np.radians(lat2[some])
        s, t = np.sin((b - a) / 2), np.sin(np.radians(lon2[some] - lon1[some]) / 2)
        h = np.minimum(1, s * s + np.cos(a) * np.cos(b) * t * t)
        # h is off by a dozen roundings of numbers up to pi, on both sides; what the root and the
        # arc make of that.
        off = 2 * 12 * np.pi * EPS64 / np.sqrt(np.maximum(h * (1 - h), 1e-12))
        return [(some, 2 * radius * np.arcsin(np.sqrt(h)), radius * (off + 8 * EPS64 * np.pi))]

    return Problem(
        (lat1, lon1, lat2, lon2, radius, np.zeros(n)), (n,), (5,), expected, threads=n, bytes=40 * n, flops=150 * n
    )


SPHERES = each(
    "ray_spheres(const float *origin, const float *direction, const float *spheres, float *nearest, int n, int count)",
    """
    float ox = origin[3 * i], oy = origin[3 * i + 1], oz = origin[3 * i + 2];
    float dx = direction[3 * i], dy = direction[3 * i + 1], dz = direction[3 * i + 2];
    float best = 1e9f;
    for (INDEX k = 0; k < count; k++) {
      float x = ox - spheres[4 * k], y = oy - spheres[4 * k + 1], z = oz - spheres[4 * k + 2];
      float radius = spheres[4 * k + 3];
      float b = x * dx + y * dy + z * dz;
      float c = x * x + y * y + z * z - radius * radius;
      float discriminant = b * b - c;
      if (discriminant > 0) {
        float t = -b - sqrtf(discriminant);
        if (0 < t && t < best)
          best = t;
      }
    }
    nearest[i] = best;
""",
)

TRIANGLES = each(
    "ray_triangles(const double *origin, const double *direction, const double *corners, double *nearest, int n, int count)",
    """
    double ox = origin[3 * i], oy = origin[3 * i + 1], oz = origin[3 * i + 2];
    double dx = direction[3 * i], dy = direction[3 * i + 1], dz = direction[3 * i + 2];
    double best = 1e9;
    for (INDEX k = 0; k < count; k++) {
      const double *c = corners + 9 * k;
      double ax = c[0], ay = c[1], az = c[2];
      double ux = c[3] - ax, uy = c[4] - ay, uz = c[5] - az;
      double vx = c[6] - ax, vy = c[7] - ay, vz = c[8] - az;
      double px = dy * vz - dz * vy, py = dz * vx - dx * vz, pz = dx * vy - dy * vx;
      double det = ux * px + uy * py + uz * pz;
      if (fabs(det) < 1e-12)
        continue;
      double tx = ox - ax, ty = oy - ay, tz = oz - az;
      double u = (tx * px + ty * py + tz * pz) / det;
      if (u < 0 || u > 1)
        continue;
      double qx = ty * uz - tz * uy, qy = tz * ux - tx * uz, qz = tx * uy - ty * ux;
      double v = (dx * qx + dy * qy + dz * qz) / det;
      if (v < 0 || u + v > 1)
        continue;
      double t = (vx * qx + vy * qy + vz * qz) / det;
      if (0 < t && t < best)
        best = t;
    }
    nearest[i] = best;
""",
)

POLYGON = each(
    "points_in_polygon(const double *x, const double *y, const double *polygon, unsigned char *inside, int n, int corners)",
    """
    int odd = 0;
    INDEX j = corners - 1;
    for (INDEX k = 0; k < corners; k++) {
      if ((polygon[2 * k + 1] > y[i]) != (polygon[2 * j + 1] > y[i])) {
        double slope = (polygon[2 * j] - polygon[2 * k]) / (polygon[2 * j + 1] - polygon[2 * k + 1]);
        if (x[i] < polygon[2 * k] + slope * (y[i] - polygon[2 * k + 1]))
          odd = !odd;
      }
      j = k;
    }
    inside[i] = odd;
""",
)

HAVERSINE = each(
    "haversine(const double *lat1, const double *lon1, const double *lat2, const double *lon2, double radius, double *distance,\n"
    "          int n)",
    """
    double degree = 3.14159265358979323846 / 180;
    double a = lat1[i] * degree, b = lat2[i] * degree;
    double s = sin((b - a) / 2), t = sin((lon2[i] - lon1[i]) * degree / 2);
    double h = s * s + cos(a) * cos(b) * t * t;
    distance[i] = 2 * radius * asin(sqrt(fmin(1.0, h)));
""",
)

KERNELS = [
    Kernel(
        "rays and spheres", ray_spheres, "float32[:,::1], float32[:,::1], float32[:,::1], float32[::1]", 128,
        spheres_problem, gpu=1_000_003, host=187_559, test=301, **SPHERES,
    ),
    Kernel(
        "rays and triangles", ray_triangles, "float64[:,::1], float64[:,::1], float64[:,:,::1], float64[::1]", 128,
        triangles_problem, gpu=500_009, host=21_883, test=301, **TRIANGLES,
    ),
    Kernel(
        "points in a polygon", points_in_polygon, "float64[::1], float64[::1], float64[:,::1], uint8[::1]", 128,
        polygon_problem, gpu=1_000_003, host=50_021, test=301, **POLYGON,
    ),
    Kernel(
        "haversine", haversine, "float64[::1], float64[::1], float64[::1], float64[::1], float64, float64[::1]", 256,
        haversine_problem, gpu=5_000_011, host=500_009, test=1013, sweep=LINE, **HAVERSINE,
    ),
]  # fmt: skip
