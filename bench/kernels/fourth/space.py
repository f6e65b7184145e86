"""Points, boxes and volumes: nearest neighbours in a kd-tree, densities of smoothed particles through
cells, overlaps of boxes, bodies that move, samples of a volume, rays that step by distance.

After Bentley (kd-trees), Muller et al. (SPH), Cohen et al. (sweep and prune) and Hart (sphere tracing).
"""

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, plane
from pyptx import cuda, float32, int32


def kdtree_nearest(points, queries, leaf, distances):
    """The root of points[low:high] is its middle; the axes take turns. What is far away waits on a stack."""
    i = cuda.grid(1)
    if i >= queries.shape[0]:
        return
    lows = cuda.local.array(32, int32)
    highs = cuda.local.array(32, int32)
    axes = cuda.local.array(32, int32)
    gaps = cuda.local.array(32, float32)
    x, y, z = queries[i, 0], queries[i, 1], queries[i, 2]
    best = float32(np.inf)
    lows[0] = 0
    highs[0] = points.shape[0]
    axes[0] = 0
    gaps[0] = 0
    top = 1
    while top > 0:
        top -= 1
        if gaps[top] >= best:
            continue
        low, high, axis = lows[top], highs[top], axes[top]
        while high - low > leaf:
            middle = (low + high) // 2
            dx, dy, dz = x - points[middle, 0], y - points[middle, 1], z - points[middle, 2]
            best = min(best, dx * dx + dy * dy + dz * dz)
            gap = queries[i, axis] - points[middle, axis]
            following = axis + 1 if axis < 2 else 0
            if gap < 0:
                lows[top], highs[top] = middle + 1, high
                high = middle
            else:
                lows[top], highs[top] = low, middle
                low = middle + 1
            axes[top] = following
            gaps[top] = gap * gap
            top += 1
            axis = following
        for k in range(low, high):
            dx, dy, dz = x - points[k, 0], y - points[k, 1], z - points[k, 2]
            best = min(best, dx * dx + dy * dy + dz * dz)
    distances[i] = np.sqrt(best)


def sph_density(positions, cell_starts, side, h, mass, densities):
    """Muller's poly6 kernel over the 27 cells around; particles are sorted by cells of size h."""
    i = cuda.grid(1)
    if i >= positions.shape[0]:
        return
    x, y, z = positions[i, 0], positions[i, 1], positions[i, 2]
    cx, cy, cz = int(x / h), int(y / h), int(z / h)
    h2 = h * h
    total = float32(0)
    for kz in range(max(cz - 1, 0), min(cz + 2, side)):
        for ky in range(max(cy - 1, 0), min(cy + 2, side)):
            for kx in range(max(cx - 1, 0), min(cx + 2, side)):
                cell = (kz * side + ky) * side + kx
                for j in range(cell_starts[cell], cell_starts[cell + 1]):
                    dx = x - positions[j, 0]
                    dy = y - positions[j, 1]
                    dz = z - positions[j, 2]
                    r2 = dx * dx + dy * dy + dz * dz
                    if r2 < h2:
                        w = h2 - r2
                        total += w * w * w
    densities[i] = mass * 315 / (64 * float32(np.pi) * h**9) * total


def box_overlaps(low, high, counts):
    """Boxes sorted by their lowest x; each counts those after it that overlap it."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    count = 0
    j = i + 1
    while j < counts.size and low[j, 0] <= high[i, 0]:
        if low[i, 1] <= high[j, 1] and low[j, 1] <= high[i, 1] and low[i, 2] <= high[j, 2] and low[j, 2] <= high[i, 2]:
            count += 1
        j += 1
    counts[i] = count


def rigid_transforms(points, bodies, rotations, translations, out):
    """Each point turned by the unit quaternion (w, x, y, z) of its body, and moved."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        body = bodies[i]
        w, x, y, z = rotations[body, 0], rotations[body, 1], rotations[body, 2], rotations[body, 3]
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        tx = 2 * (y * pz - z * py)
        ty = 2 * (z * px - x * pz)
        tz = 2 * (x * py - y * px)
        out[i, 0] = px + w * tx + (y * tz - z * ty) + translations[body, 0]
        out[i, 1] = py + w * ty + (z * tx - x * tz) + translations[body, 1]
        out[i, 2] = pz + w * tz + (x * ty - y * tx) + translations[body, 2]


def lerp(a, b, t):
    return a + t * (b - a)


def trilinear_sample(volume, points, values):
    """Points (x, y, z) in units of voxels; those outside take the border."""
    i = cuda.grid(1)
    if i >= values.size:
        return
    depth, height, width = volume.shape
    x = min(max(points[i, 0], 0.0), width - 1.0)
    y = min(max(points[i, 1], 0.0), height - 1.0)
    z = min(max(points[i, 2], 0.0), depth - 1.0)
    x0 = min(int(x), width - 2)
    y0 = min(int(y), height - 2)
    z0 = min(int(z), depth - 2)
    fx, fy, fz = x - x0, y - y0, z - z0
    a = lerp(volume[z0, y0, x0], volume[z0, y0, x0 + 1], fx)
    b = lerp(volume[z0, y0 + 1, x0], volume[z0, y0 + 1, x0 + 1], fx)
    c = lerp(volume[z0 + 1, y0, x0], volume[z0 + 1, y0, x0 + 1], fx)
    d = lerp(volume[z0 + 1, y0 + 1, x0], volume[z0 + 1, y0 + 1, x0 + 1], fx)
    values[i] = lerp(lerp(a, b, fy), lerp(c, d, fy), fz)


def sphere_trace(spheres, most, tolerance, far, depths):
    """Rays from the origin through a plane at z = 1: step by the distance to the nearest sphere or the floor."""
    col, row = cuda.grid(2)
    rows, cols = depths.shape
    if row >= rows or col >= cols:
        return
    dx = (2 * col + 1 - cols) / rows
    dy = (rows - 2 * row - 1) / rows
    scale = 1 / np.sqrt(dx * dx + dy * dy + 1)
    dx *= scale
    dy *= scale
    dz = scale
    t = 0.0
    for _ in range(most):
        x, y, z = t * dx, t * dy, t * dz
        nearest = y + 1
        for k in range(spheres.shape[0]):
            ox, oy, oz = x - spheres[k, 0], y - spheres[k, 1], z - spheres[k, 2]
            nearest = min(nearest, np.sqrt(ox * ox + oy * oy + oz * oz) - spheres[k, 3])
        if nearest < tolerance:
            break
        t += nearest
        if t > far:
            t = far
            break
    depths[row, col] = t


def ordered(points, leaf):
    """The points so that each range's middle splits it along an axis, in turns, down to leaves."""
    points = points.copy()
    todo = [(0, len(points), 0)]
    while todo:
        low, high, axis = todo.pop()
        if high - low > leaf:
            middle = (low + high) // 2
            points[low:high] = points[low:high][np.argpartition(points[low:high, axis], middle - low)]
            todo += [(low, middle, (axis + 1) % 3), (middle + 1, high, (axis + 1) % 3)]
    return points


def kdtree_problem(rng, n):
    """n queries among n // 4 + 50 points."""
    leaf = 8
    points = ordered(rng.random((n // 4 + 50, 3), np.float32), leaf)
    queries = rng.random((n, 3), np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 100)
        exact = np.array([np.sqrt(((points.astype(np.float64) - queries[k]) ** 2).sum(1).min()) for k in some])
        # Differences, squares and sums round five times; half of that is left by the root, which
        # rounds too. Twice, since what is left out may be nearer by as much.
        return [(some, exact, 2 * 4 * EPS32 / 2 * exact)]

    return Problem(
        (points, queries, leaf, np.zeros(n, np.float32)), (len(points), n), (3,), expected, threads=n, bytes=16 * n,
        flops=9 * 60 * n,
    )  # fmt: skip


def density_problem(rng, n):
    """n particles, about twelve in a cell."""
    side = max(2, round((n / 12) ** (1 / 3)))
    h, mass = np.float32(0.1), np.float32(0.02)
    positions = (rng.random((n, 3)) * side * 0.0999999).astype(np.float32)
    cells = (positions / h).astype(int)
    cells = (cells[:, 2] * side + cells[:, 1]) * side + cells[:, 0]
    order = np.argsort(cells, kind="stable")
    positions = positions[order]
    starts = np.r_[0, np.cumsum(np.bincount(cells, minlength=side**3))].astype(np.int32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 100)
        h2, factor = float(h) ** 2, float(mass) * 315 / (64 * np.pi * float(h) ** 9)
        values, bounds = np.zeros((2, len(some)))
        for k, i in enumerate(some):
            r2 = ((positions.astype(np.float64) - positions[i]) ** 2).sum(1)
            near = h2 - r2[r2 < h2]
            values[k] = factor * (near**3).sum()
            # h^2 - r^2 is off by five roundings of h^2, its cube by three times as much times its
            # square; then sums, products and the factor with its ninth power.
            bounds[k] = factor * (3 * 5 * EPS32 / 2 * h2 * (near**2).sum() + sum_bound(len(near) + 20, (near**3).sum()))
        return [(some, values, bounds)]

    return Problem(
        (positions, starts, side, h, mass, np.zeros(n, np.float32)), (n, len(starts)), (5,), expected, threads=n,
        bytes=16 * n, flops=27 * 12 * 9 * n,
    )  # fmt: skip


def boxes_problem(rng, n):
    """n boxes of which some two hundred overlap each along x."""
    size = 100 / n
    low = rng.random((n, 3), np.float32)
    low = low[np.argsort(low[:, 0])]
    high = low + (rng.random((n, 3), np.float32) * np.array([4 * size, 0.2, 0.2])).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 500)
        counts = [np.all((low[i + 1 :] <= high[i]) & (low[i] <= high[i + 1 :]), axis=1).sum() for i in some]
        return [(some, np.array(counts), 0)]

    return Problem(
        (low, high, np.zeros(n, np.int32)), (n,), (2,), expected, threads=n, bytes=28 * n, flops=200 * 4 * n
    )


def rigid_problem(rng, n):
    """n points of n // 50 + 1 bodies, those of a body not together."""
    count = n // 50 + 1
    points, bodies = rng.uniform(-1, 1, (n, 3)).astype(np.float32), rng.integers(0, count, n, np.int32)
    rotations = rng.normal(size=(count, 4))
    rotations = (rotations / np.linalg.norm(rotations, axis=1)[:, None]).astype(np.float32)
    translations = rng.uniform(-2, 2, (count, 3)).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        p, q = points[some].astype(np.float64), rotations[bodies[some]].astype(np.float64)
        t = 2 * np.cross(q[:, 1:], p)
        moved = p + q[:, :1] * t + np.cross(q[:, 1:], t) + translations[bodies[some]]
        # A dozen roundings, of numbers no larger than 2 |p| and the translation.
        return [(some, moved, 12 * EPS32 / 2 * (4 * np.sqrt(3) + 2))]

    return Problem(
        (points, bodies, rotations, translations, np.zeros_like(points)), (n, count), (4,), expected, threads=n,
        bytes=28 * n, flops=36 * n,
    )  # fmt: skip


def trilinear_problem(rng, n):
    """n points along rays through a volume of 190 x 131 x 163."""
    shape = (190, 131, 163)
    volume = rng.random(shape, np.float32)
    along = np.arange(n) % 97 / 97
    start, end = (rng.random((n // 97 + 1, 3)).repeat(97, axis=0)[:n] * (shape[2], shape[1], shape[0]) for _ in range(2))
    points = (start + along[:, None] * (end - start)).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        limit = np.array(shape[::-1]) - 1
        p = np.clip(points[some].astype(np.float64), 0, limit)
        corner = np.minimum(p.astype(int), limit - 1)
        f, value = p - corner, np.zeros(len(some))
        for k in range(8):
            at = np.array([k & 1, k >> 1 & 1, k >> 2])
            weight = np.where(at, f, 1 - f).prod(1)
            x, y, z = (corner + at).T
            value += weight * volume[z, y, x]
        # The fractions are exact; three levels, of which each rounds three times numbers below one.
        return [(some, value, 9 * EPS32 / 2)]

    return Problem(
        (volume, points, np.zeros(n, np.float32)), (*shape, n), (2,), expected, threads=n, bytes=16 * n, flops=27 * n
    )


def trace_problem(rng, n):
    """n x (4 n / 3 + 1) rays, 11 spheres, at most 80 steps."""
    rows, cols = n, 4 * n // 3 + 1
    spheres = np.column_stack([rng.uniform(-3, 3, 11), rng.uniform(-0.8, 2, 11), rng.uniform(3, 8, 11), rng.uniform(0.3, 0.9, 11)])
    most, tolerance, far = 80, np.float64(1e-5), np.float64(30)

    def expected():
        some = sampled(np.random.default_rng(0), rows * cols, 5000)
        row, col = np.divmod(some, cols)
        d = np.column_stack([(2 * col + 1 - cols) / rows, (rows - 2 * row - 1) / rows, np.ones(len(some))])
        d /= np.linalg.norm(d, axis=1)[:, None]
        t, going = np.zeros(len(some)), np.ones(len(some), bool)
        for _ in range(most):
            p = t[:, None] * d
            nearest = p[:, 1] + 1
            for sphere in spheres:
                nearest = np.minimum(nearest, np.linalg.norm(p - sphere[:3], axis=1) - sphere[3])
            going &= nearest >= tolerance
            t = np.where(going, np.minimum(t + nearest, far), t)
            going &= t < far
        # Each step adds a few roundings, and a step along a sphere can double the error before it;
        # one that stops a step later would be off by the tolerance.
        return [((row, col), t, 1e4 * most * EPS64 * far)]

    return Problem(
        (spheres, most, tolerance, far, np.zeros((rows, cols))), (len(spheres), rows, cols), (4,), expected,
        threads=(cols, rows), bytes=8 * rows * cols, flops=20 * 11 * 10 * rows * cols,
    )  # fmt: skip


KDTREE = each(
    "kdtree_nearest(const float *points, const float *queries, int leaf, float *distances, int count, int n)",
    """
    int lows[32], highs[32], axes[32];
    float gaps[32];
    const float *q = queries + 3 * i;
    float x = q[0], y = q[1], z = q[2], best = INFINITY;
    lows[0] = 0;
    highs[0] = count;
    axes[0] = 0;
    gaps[0] = 0;
    INDEX top = 1;
    while (top > 0) {
      top--;
      if (gaps[top] >= best)
        continue;
      int low = lows[top], high = highs[top], axis = axes[top];
      while (high - low > leaf) {
        int middle = (low + high) / 2;
        const float *p = points + 3 * (INDEX)middle;
        float dx = x - p[0], dy = y - p[1], dz = z - p[2];
        best = fminf(best, dx * dx + dy * dy + dz * dz);
        float gap = q[axis] - p[axis];
        int following = axis < 2 ? axis + 1 : 0;
        if (gap < 0) {
          lows[top] = middle + 1;
          highs[top] = high;
          high = middle;
        } else {
          lows[top] = low;
          highs[top] = middle;
          low = middle + 1;
        }
        axes[top] = following;
        gaps[top] = gap * gap;
        top++;
        axis = following;
      }
      for (INDEX k = low; k < high; k++) {
        float dx = x - points[3 * k], dy = y - points[3 * k + 1], dz = z - points[3 * k + 2];
        best = fminf(best, dx * dx + dy * dy + dz * dz);
      }
    }
    distances[i] = sqrtf(best);
""",
)

DENSITY = each(
    "sph_density(const float *positions, const int *starts, int side, float h, float mass, float *densities, int n, int cells)",
    """
    float x = positions[3 * i], y = positions[3 * i + 1], z = positions[3 * i + 2];
    INDEX cx = x / h, cy = y / h, cz = z / h;
    float h2 = h * h, total = 0;
    for (INDEX kz = MAX(cz - 1, (INDEX)0); kz < MIN(cz + 2, (INDEX)side); kz++)
      for (INDEX ky = MAX(cy - 1, (INDEX)0); ky < MIN(cy + 2, (INDEX)side); ky++)
        for (INDEX kx = MAX(cx - 1, (INDEX)0); kx < MIN(cx + 2, (INDEX)side); kx++) {
          INDEX cell = (kz * side + ky) * side + kx;
          INDEX end = starts[cell + 1];
          for (INDEX j = starts[cell]; j < end; j++) {
            float dx = x - positions[3 * j], dy = y - positions[3 * j + 1], dz = z - positions[3 * j + 2];
            float r2 = dx * dx + dy * dy + dz * dz;
            if (r2 < h2) {
              float w = h2 - r2;
              total += w * w * w;
            }
          }
        }
    densities[i] = mass * 315 / (64 * 3.14159265f * powf(h, 9)) * total;
""",
)

BOXES = each(
    "box_overlaps(const float *low, const float *high, int *counts, int n)",
    """
    INDEX count = 0;
    const float *a = low + 3 * i, *b = high + 3 * i;
    for (INDEX j = i + 1; j < n && low[3 * j] <= b[0]; j++)
      if (a[1] <= high[3 * j + 1] && low[3 * j + 1] <= b[1] && a[2] <= high[3 * j + 2] && low[3 * j + 2] <= b[2])
        count++;
    counts[i] = count;
""",
)

RIGID = each(
    """rigid_transforms(const float *points, const int *bodies, const float *rotations, const float *translations,
                      float *out, int n, int count)""",
    """
    INDEX body = bodies[i];
    const float *q = rotations + 4 * body, *move = translations + 3 * body;
    float w = q[0], x = q[1], y = q[2], z = q[3];
    float px = points[3 * i], py = points[3 * i + 1], pz = points[3 * i + 2];
    float tx = 2 * (y * pz - z * py), ty = 2 * (z * px - x * pz), tz = 2 * (x * py - y * px);
    out[3 * i] = px + w * tx + (y * tz - z * ty) + move[0];
    out[3 * i + 1] = py + w * ty + (z * tx - x * tz) + move[1];
    out[3 * i + 2] = pz + w * tz + (x * ty - y * tx) + move[2];
""",
)

TRILINEAR = each(
    "trilinear_sample(const float *volume, const float *points, float *values, int depth, int height, int width, int n)",
    """
    float x = fminf(fmaxf(points[3 * i], 0), width - 1);
    float y = fminf(fmaxf(points[3 * i + 1], 0), height - 1);
    float z = fminf(fmaxf(points[3 * i + 2], 0), depth - 1);
    INDEX x0 = MIN((INDEX)x, (INDEX)width - 2), y0 = MIN((INDEX)y, (INDEX)height - 2), z0 = MIN((INDEX)z, (INDEX)depth - 2);
    float fx = x - x0, fy = y - y0, fz = z - z0;
    const float *p = volume + (z0 * height + y0) * width + x0, *far = p + (INDEX)height * width;
    float a = trilinear_lerp(p[0], p[1], fx), b = trilinear_lerp(p[width], p[width + 1], fx);
    float c = trilinear_lerp(far[0], far[1], fx), d = trilinear_lerp(far[width], far[width + 1], fx);
    values[i] = trilinear_lerp(trilinear_lerp(a, b, fy), trilinear_lerp(c, d, fy), fz);
""",
    before="DEVICE float trilinear_lerp(float a, float b, float t) { return a + t * (b - a); }",
)

TRACE = plane(
    "sphere_trace(const double *spheres, int most, double tolerance, double far, double *depths, int count, int rows, int cols)",
    """
    double dx = (double)(2 * col + 1 - cols) / rows, dy = (double)(rows - 2 * row - 1) / rows;
    double scale = 1 / sqrt(dx * dx + dy * dy + 1), dz = scale, t = 0;
    dx *= scale;
    dy *= scale;
    for (INDEX step = 0; step < most; step++) {
      double x = t * dx, y = t * dy, z = t * dz, nearest = y + 1;
      for (INDEX k = 0; k < count; k++) {
        const double *s = spheres + 4 * k;
        double ox = x - s[0], oy = y - s[1], oz = z - s[2];
        nearest = fmin(nearest, sqrt(ox * ox + oy * oy + oz * oz) - s[3]);
      }
      if (nearest < tolerance)
        break;
      t += nearest;
      if (t > far) {
        t = far;
        break;
      }
    }
    depths[row * cols + col] = t;
""",
)

ROWS = "float32[:,::1]"

KERNELS = [
    Kernel(
        "nearest points, kd-tree", kdtree_nearest, f"{ROWS}, {ROWS}, pyint, float32[::1]", 128, kdtree_problem,
        gpu=200_003, host=20_011, test=301, kind="irregular", **KDTREE,
    ),
    Kernel(
        "densities of smoothed particles", sph_density, f"{ROWS}, int32[::1], pyint, float32, float32, float32[::1]", 128,
        density_problem, gpu=500_009, host=20_011, test=501, kind="irregular", **DENSITY,
    ),
    Kernel(
        "overlaps of sorted boxes", box_overlaps, f"{ROWS}, {ROWS}, int32[::1]", 128, boxes_problem,
        gpu=300_007, host=20_011, test=1013, kind="irregular", **BOXES,
    ),
    Kernel(
        "rigid bodies' points", rigid_transforms, f"{ROWS}, int32[::1], {ROWS}, {ROWS}, {ROWS}", 256, rigid_problem,
        gpu=5_000_011, host=500_009, test=1013, **RIGID,
    ),
    Kernel(
        "trilinear samples", trilinear_sample, f"float32[:,:,::1], {ROWS}, float32[::1]", 256, trilinear_problem,
        gpu=4_000_037, host=500_009, test=1013, **TRILINEAR,
    ),
    Kernel(
        "sphere tracing", sphere_trace, "float64[:,::1], pyint, float64, float64, float64[:,::1]", (32, 8), trace_problem,
        gpu=401, host=101, test=41, power=2, kind="irregular", **TRACE,
    ),
]  # fmt: skip
