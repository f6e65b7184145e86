"""Bodies: a tree from sorted codes, cloth, skin over bones, the rotation in a matrix, spectral elements."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, float32, float64


def shared_bits(codes, i, j):
    """Leading bits that two codes share, their places deciding where they are equal; -1 beyond the ends."""
    if j < 0 or j >= codes.size:
        return -1
    if codes[i] == codes[j]:
        return 32 + cuda.clz(np.uint32(i ^ j))
    return int(cuda.clz(codes[i] ^ codes[j]))


def radix_tree(codes, left, right, parents):
    """Karras' binary radix tree over sorted codes: children of each inner node, -1 - k for leaf k; parents of all."""
    i = cuda.grid(1)
    if i >= left.size:
        return
    direction = 1 if shared_bits(codes, i, i + 1) > shared_bits(codes, i, i - 1) else -1
    least = shared_bits(codes, i, i - direction)
    reach = 2
    while shared_bits(codes, i, i + reach * direction) > least:
        reach *= 2
    length = 0
    step = reach // 2
    while step > 0:
        if shared_bits(codes, i, i + (length + step) * direction) > least:
            length += step
        step //= 2
    j = i + length * direction
    common = shared_bits(codes, i, j)
    split = 0
    step = length
    while step > 1:
        step = (step + 1) // 2
        if shared_bits(codes, i, i + (split + step) * direction) > common:
            split += step
    middle = i + split * direction + min(direction, 0)
    if min(i, j) == middle:
        left[i] = -1 - middle
        parents[left.size + middle] = i
    else:
        left[i] = middle
        parents[middle] = i
    if max(i, j) == middle + 1:
        right[i] = -1 - (middle + 1)
        parents[left.size + middle + 1] = i
    else:
        right[i] = middle + 1
        parents[middle + 1] = i


def cloth_step(positions, velocities, offsets, rests, stiffness, damping, gravity, dt, moved, speeds):
    """Springs to the neighbours at some offsets in a grid of particles; the first row's ends hang on nails."""
    col, row = cuda.grid(2)
    rows, cols, _ = positions.shape
    if row >= rows or col >= cols:
        return
    x = positions[row, col, 0]
    y = positions[row, col, 1]
    z = positions[row, col, 2]
    u = velocities[row, col, 0]
    v = velocities[row, col, 1]
    w = velocities[row, col, 2]
    fx = -damping * u
    fy = -damping * v - gravity
    fz = -damping * w
    for k in range(rests.size):
        r = row + offsets[k, 0]
        c = col + offsets[k, 1]
        if r < 0 or r >= rows or c < 0 or c >= cols:
            continue
        dx = positions[r, c, 0] - x
        dy = positions[r, c, 1] - y
        dz = positions[r, c, 2] - z
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        pull = stiffness * (length - rests[k]) / length
        fx += pull * dx
        fy += pull * dy
        fz += pull * dz
    if row == 0 and (col == 0 or col == cols - 1):
        fx = fy = fz = float32(0)
    speeds[row, col, 0] = u + dt * fx
    speeds[row, col, 1] = v + dt * fy
    speeds[row, col, 2] = w + dt * fz
    moved[row, col, 0] = x + dt * (u + dt * fx)
    moved[row, col, 1] = y + dt * (v + dt * fy)
    moved[row, col, 2] = z + dt * (w + dt * fz)


def times(a, b):
    """The product of two quaternions."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def skinned(vertices, bones, joints, weights, out):
    """Dual quaternion skinning: a vertex moves with the blend of up to four bones, those of no weight left out."""
    i = cuda.grid(1)
    if i >= vertices.shape[0]:
        return
    first = bones[joints[i, 0]]
    q = cuda.local.array(8, float32)
    for k in range(8):
        q[k] = weights[i, 0] * first[k]
    for j in range(1, joints.shape[1]):
        weight = weights[i, j]
        if weight > 0:
            bone = bones[joints[i, j]]
            if bone[0] * first[0] + bone[1] * first[1] + bone[2] * first[2] + bone[3] * first[3] < 0:
                weight = -weight
            for k in range(8):
                q[k] += weight * bone[k]
    size = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    real = (q[0] / size, q[1] / size, q[2] / size, q[3] / size)
    dual = (q[4] / size, q[5] / size, q[6] / size, q[7] / size)
    back = (real[0], -real[1], -real[2], -real[3])
    point = (float32(0), vertices[i, 0], vertices[i, 1], vertices[i, 2])
    turned = times(times(real, point), back)
    shift = times(dual, back)
    for k in range(3):
        out[i, k] = turned[k + 1] + 2 * shift[k + 1]


def polar_rotations(matrices, tolerance, most, rotations, steps):
    """The rotation next to each 3 x 3 matrix: the mean of it and its inverse transposed, again and again."""
    i = cuda.grid(1)
    if i >= matrices.shape[0]:
        return
    a = cuda.local.array((3, 3), float64)
    b = cuda.local.array((3, 3), float64)
    for r in range(3):
        for c in range(3):
            a[r, c] = matrices[i, r, c]
    count = 0
    change = tolerance + 1
    while change > tolerance and count < most:
        for r in range(3):
            r1 = (r + 1) % 3
            r2 = (r + 2) % 3
            for c in range(3):
                c1 = (c + 1) % 3
                c2 = (c + 2) % 3
                b[r, c] = a[r1, c1] * a[r2, c2] - a[r1, c2] * a[r2, c1]
        det = a[0, 0] * b[0, 0] + a[0, 1] * b[0, 1] + a[0, 2] * b[0, 2]
        change = 0.0
        for r in range(3):
            for c in range(3):
                new = 0.5 * (a[r, c] + b[r, c] / det)
                change = max(change, abs(new - a[r, c]))
                a[r, c] = new
        count += 1
    for r in range(3):
        for c in range(3):
            rotations[i, r, c] = a[r, c]
    steps[i] = count


def element_stiffness(u, derivative, factors, out):
    """The Laplacian of spectral elements of 7 x 7 x 7 points: derivatives along three axes, factors, and back."""
    d = cuda.shared.array((7, 7), float64)
    field = cuda.shared.array((7, 7, 7), float64)
    slopes = cuda.shared.array((3, 7, 7, 7), float64)
    e = cuda.blockIdx.x
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.threadIdx.z
    if z == 0:
        d[y, x] = derivative[y, x]
    field[z, y, x] = u[e, z, y, x]
    cuda.syncthreads()
    ux = 0.0
    uy = 0.0
    uz = 0.0
    for k in range(7):
        ux += d[x, k] * field[z, y, k]
        uy += d[y, k] * field[z, k, x]
        uz += d[z, k] * field[k, y, x]
    g = factors[e, z, y, x]
    slopes[0, z, y, x] = g[0] * ux + g[1] * uy + g[2] * uz
    slopes[1, z, y, x] = g[1] * ux + g[3] * uy + g[4] * uz
    slopes[2, z, y, x] = g[2] * ux + g[4] * uy + g[5] * uz
    cuda.syncthreads()
    total = 0.0
    for k in range(7):
        total += d[k, x] * slopes[0, z, y, k]
        total += d[k, y] * slopes[1, z, k, x]
        total += d[k, z] * slopes[2, k, y, x]
    out[e, z, y, x] = total


def tree_problem(rng, n):
    kept = np.uint32(0x3FFFFF00 if n > 1000 else 0x3F000000)  # so that some are equal
    codes = np.sort(rng.integers(0, 1 << 30, n + 1).astype(np.uint32) & kept)

    def expected():
        wide = codes.astype(np.int64) << 32 | np.arange(n + 1)  # all different: bits of the places come last
        near = (wide[1:] ^ wide[:-1]).astype(float)  # the largest difference in a range is where it splits
        left, right, parents = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(2 * n + 1, np.int32)
        seen, todo = [], [(0, n, -1)]
        while todo and len(seen) < 4000:
            a, b, parent = todo.pop()
            if a == b:
                continue
            middle = a + int(near[a:b].argmax())
            node = a if parent < 0 or a == parent + 1 else b
            node = 0 if parent < 0 else node
            seen.append(node)
            left[node] = -1 - a if a == middle else middle
            right[node] = -1 - b if b == middle + 1 else middle + 1
            parents[n + a if a == middle else middle] = node
            parents[n + b if b == middle + 1 else middle + 1] = node
            todo += [(middle + 1, b, middle), (a, middle, b + n)]
        at = np.unique(seen)
        below = np.concatenate([np.where(v[at] < 0, n - 1 - v[at], v[at]) for v in (left, right)])
        return [(at, left[at], 0), (at, right[at], 0), (below, parents[below], 0)]

    args = (codes, np.zeros(n, np.int32), np.zeros(n, np.int32), np.full(2 * n + 1, -1, np.int32))
    return Problem(args, (n,), (1, 2, 3), expected, threads=n, bytes=20.0 * n)


OFFSETS = [(0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1), (0, 2), (2, 0), (0, -2), (-2, 0)]


def cloth_problem(rng, n):
    rows, cols = n, n + 29
    offsets = np.array(OFFSETS, np.int32)
    rests = np.float32(0.1 * np.hypot(*offsets.T))
    y, x = np.mgrid[:rows, :cols] * 0.1
    flat = np.stack([x, -y, 0.3 * np.sin(x) * np.cos(y)], 2)
    positions = np.float32(flat + rng.normal(0, 0.01, flat.shape))
    velocities = np.float32(rng.normal(0, 0.2, flat.shape))
    numbers = tuple(np.float32(v) for v in (250, 0.3, 9.81, 0.001))

    def expected():
        p, v = positions.astype(float), velocities.astype(float)
        stiffness, damping, gravity, dt = map(float, numbers)
        force = -damping * v - [0, gravity, 0]
        wide = np.pad(p, ((2, 2), (2, 2), (0, 0)), constant_values=np.nan)
        for (dr, dc), rest in zip(offsets, rests.astype(float)):
            d = wide[2 + dr : 2 + dr + rows, 2 + dc : 2 + dc + cols] - p
            length = np.sqrt((d * d).sum(2, keepdims=True))
            force += np.nan_to_num(stiffness * (length - rest) / length * d)
        force[0, [0, -1]] = 0
        speeds = v + dt * force
        # A pull is of lengths of 0.3 between places of up to 0.1 n: with 8 roundings of 250 · 0.1 n for each spring.
        off = 0.001 * 12 * 8 * 250 * 0.1 * (cols + 10) * EPS32 + 4 * EPS32
        return [(slice(None), p + dt * speeds, 0.001 * off + 0.1 * cols * EPS32), (slice(None), speeds, off)]

    args = (positions, velocities, offsets, rests, *numbers, np.zeros_like(positions), np.zeros_like(positions))
    extents = (rows, cols, rests.size)
    return Problem(args, extents, (8, 9), expected, threads=(cols, rows), bytes=48.0 * rows * cols)


def dual_quaternions(rng, count):
    angle, axis = rng.uniform(-1.2, 1.2, count) / 2, rng.standard_normal((count, 3))
    axis /= np.linalg.norm(axis, axis=1)[:, None]
    real = np.concatenate([np.cos(angle)[:, None], np.sin(angle)[:, None] * axis], 1)
    shift = np.concatenate([np.zeros((count, 1)), rng.uniform(-1, 1, (count, 3))], 1)
    dual = 0.5 * np.stack(times(shift.T, real.T), 1)
    return np.float32(np.concatenate([real, dual], 1) * rng.choice([-1, 1], (count, 1)))


def skin_problem(rng, n):
    count = 67
    vertices, bones = np.float32(rng.uniform(-2, 2, (n, 3))), dual_quaternions(rng, count)
    joints = rng.integers(0, count, (n, 4)).astype(np.uint8)
    weights = rng.dirichlet([2, 1, 0.5, 0.2], n)
    weights[weights < 0.05] = 0
    weights[:, 0] += 0.5
    weights = np.float32(weights / weights.sum(1)[:, None])

    def expected():
        b = bones[joints].astype(float)
        dots = (b[:, :, :4] * b[:, :1, :4]).sum(2)
        q = (b * (weights * np.where(dots < 0, -1.0, 1.0))[:, :, None]).sum(1)
        size = np.linalg.norm(q[:, :4], axis=1)
        q /= size[:, None]
        back = (q[:, 0], -q[:, 1], -q[:, 2], -q[:, 3])
        point = (np.zeros(n), *vertices.T.astype(float))
        turned = times(times(q[:, :4].T, point), back)
        shift = times(q[:, 4:].T, back)
        moved = np.stack([a + 2 * b for a, b in zip(turned[1:], shift[1:])], 1)
        # Some 30 roundings of values of up to 4, and a short blend has larger errors.
        close = np.abs(dots).min(1) < 1e-5  # of either sign, as rounded
        return [(slice(None), moved, np.where(close, 20, 60 * EPS32 * 4 / np.minimum(size, 1))[:, None])]

    args = (vertices, bones, joints, weights, np.zeros_like(vertices))
    return Problem(args, (n, 4), (4,), expected, threads=n, bytes=44.0 * n)


def polar_problem(rng, n):
    matrices = rng.standard_normal((n, 3, 3)) + 1.5 * np.linalg.qr(rng.standard_normal((n, 3, 3)))[0]
    values = np.linalg.svd(matrices, compute_uv=False)
    small = values[:, 2] < 0.1
    matrices[small] += 4 * np.eye(3)

    def expected():
        u, values, v = np.linalg.svd(matrices)
        return [(slice(None), u @ v, 1000 * EPS64 / np.minimum(values[:, 2], 1)[:, None, None] ** 2)]

    args = (matrices, np.float64(1e-8), 25, np.zeros_like(matrices), np.zeros(n, np.int32))
    return Problem(args, (n,), (3,), expected, threads=n, bytes=144.0 * n)


def elements_problem(rng, n):
    u, derivative = rng.standard_normal((n, 7, 7, 7)), rng.standard_normal((7, 7))
    factors = rng.uniform(-1, 1, (n, 7, 7, 7, 6))

    def expected():
        at = sampled(rng, n, 200)
        g = np.moveaxis(factors[at], 4, 0)

        def applied(d, u, g):
            ux, uy, uz = (np.einsum(s, d, u) for s in ("xk,ezyk->ezyx", "yk,ezkx->ezyx", "zk,ekyx->ezyx"))
            w = [g[a] * ux + g[b] * uy + g[c] * uz for a, b, c in ((0, 1, 2), (1, 3, 4), (2, 4, 5))]
            parts = zip(("kx,ezyk->ezyx", "ky,ezkx->ezyx", "kz,ekyx->ezyx"), w)
            return sum(np.einsum(s, d, v) for s, v in parts)

        return [(at, applied(derivative, u[at], g), 40 * EPS64 * applied(abs(derivative), abs(u[at]), abs(g)))]

    args = (u, derivative, factors, np.zeros_like(u))
    return Problem(args, (n,), (3,), expected, grid=n, bytes=8.0 * n * 343 * 8)


TREE = each(
    """radix_tree(const unsigned *__restrict__ codes, int *__restrict__ left, int *__restrict__ right,
               int *__restrict__ parents, int n)""",
    """
    INDEX direction = shared_bits(codes, n, i, i + 1) > shared_bits(codes, n, i, i - 1) ? 1 : -1, reach = 2;
    int least = shared_bits(codes, n, i, i - direction);
    while (shared_bits(codes, n, i, i + reach * direction) > least)
      reach *= 2;
    INDEX length = 0, split = 0;
    for (INDEX step = reach / 2; step > 0; step /= 2)
      if (shared_bits(codes, n, i, i + (length + step) * direction) > least) length += step;
    INDEX j = i + length * direction, step = length;
    int common = shared_bits(codes, n, i, j);
    while (step > 1) {
      step = (step + 1) / 2;
      if (shared_bits(codes, n, i, i + (split + step) * direction) > common) split += step;
    }
    INDEX middle = i + split * direction + MIN(direction, (INDEX)0);
    if (MIN(i, j) == middle) {
      left[i] = -1 - middle;
      parents[n + middle] = i;
    } else {
      left[i] = middle;
      parents[middle] = i;
    }
    if (MAX(i, j) == middle + 1) {
      right[i] = -1 - (middle + 1);
      parents[n + middle + 1] = i;
    } else {
      right[i] = middle + 1;
      parents[middle + 1] = i;
    }
""",
    before="""
DEVICE int shared_bits(const unsigned *codes, int n, INDEX i, INDEX j) {
  if (j < 0 || j > n) return -1;
  if (codes[i] == codes[j]) return 32 + LEADING(((unsigned)(i ^ j)));
  return LEADING((codes[i] ^ codes[j]));
}
""",
)
TREE = {
    text: "#define tree_clz(x) ((x) ? __builtin_clz(x) : 32)\n" + body.replace("LEADING", "tree_clz")
    if text == "openmp" else body.replace("LEADING", "__clz")
    for text, body in TREE.items()
}  # fmt: skip

CLOTH = plane(
    """cloth_step(const float *__restrict__ positions, const float *__restrict__ velocities,
               const int *__restrict__ offsets, const float *__restrict__ rests, float stiffness, float damping,
               float gravity, float dt, float *__restrict__ moved, float *__restrict__ speeds, int rows, int cols,
               int springs)""",
    """
      const float *p = positions + 3 * (row * cols + col), *s = velocities + 3 * (row * cols + col);
      float x = p[0], y = p[1], z = p[2], u = s[0], v = s[1], w = s[2];
      float fx = -damping * u, fy = -damping * v - gravity, fz = -damping * w;
      for (INDEX k = 0; k < springs; k++) {
        INDEX r = row + offsets[2 * k], c = col + offsets[2 * k + 1];
        if (r < 0 || r >= rows || c < 0 || c >= cols) continue;
        const float *q = positions + 3 * (r * cols + c);
        float dx = q[0] - x, dy = q[1] - y, dz = q[2] - z, length = sqrtf(dx * dx + dy * dy + dz * dz);
        float pull = stiffness * (length - rests[k]) / length;
        fx += pull * dx;
        fy += pull * dy;
        fz += pull * dz;
      }
      if (row == 0 && (col == 0 || col == cols - 1)) fx = fy = fz = 0;
      float *to = moved + 3 * (row * cols + col), *speed = speeds + 3 * (row * cols + col);
      speed[0] = u + dt * fx;
      speed[1] = v + dt * fy;
      speed[2] = w + dt * fz;
      to[0] = x + dt * (u + dt * fx);
      to[1] = y + dt * (v + dt * fy);
      to[2] = z + dt * (w + dt * fz);
""",
)

SKIN = each(
    """skinned(const float *__restrict__ vertices, const float *__restrict__ bones,
            const unsigned char *__restrict__ joints, const float *__restrict__ weights, float *__restrict__ out, int n,
            int most)""",
    """
    const float *first = bones + joints[i * most] * 8;
    float q[8];
    for (int k = 0; k < 8; k++)
      q[k] = weights[i * most] * first[k];
    for (INDEX j = 1; j < most; j++) {
      float weight = weights[i * most + j];
      if (weight > 0) {
        const float *bone = bones + joints[i * most + j] * 8;
        if (bone[0] * first[0] + bone[1] * first[1] + bone[2] * first[2] + bone[3] * first[3] < 0) weight = -weight;
        for (int k = 0; k < 8; k++)
          q[k] += weight * bone[k];
      }
    }
    float size = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    skin_quaternion real = {q[0] / size, q[1] / size, q[2] / size, q[3] / size};
    skin_quaternion dual = {q[4] / size, q[5] / size, q[6] / size, q[7] / size};
    skin_quaternion back = {real.w, -real.x, -real.y, -real.z};
    skin_quaternion point = {0, vertices[3 * i], vertices[3 * i + 1], vertices[3 * i + 2]};
    skin_quaternion turned = skin_times(skin_times(real, point), back), shift = skin_times(dual, back);
    out[3 * i] = turned.x + 2 * shift.x;
    out[3 * i + 1] = turned.y + 2 * shift.y;
    out[3 * i + 2] = turned.z + 2 * shift.z;
""",
    before="""
typedef struct {float w, x, y, z;} skin_quaternion;
DEVICE skin_quaternion skin_times(skin_quaternion a, skin_quaternion b) {
  skin_quaternion p = {
    a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
    a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
    a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
    a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
  };
  return p;
}
""",
)

POLAR = each(
    """polar_rotations(const double *__restrict__ matrices, double tolerance, int most, double *__restrict__ rotations,
                    int *__restrict__ steps, int n)""",
    """
    double a[3][3], b[3][3], change = tolerance + 1;
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        a[r][c] = matrices[i * 9 + r * 3 + c];
    INDEX count = 0;
    while (change > tolerance && count < most) {
      for (int r = 0; r < 3; r++) {
        int r1 = (r + 1) % 3, r2 = (r + 2) % 3;
        for (int c = 0; c < 3; c++) {
          int c1 = (c + 1) % 3, c2 = (c + 2) % 3;
          b[r][c] = a[r1][c1] * a[r2][c2] - a[r1][c2] * a[r2][c1];
        }
      }
      double det = a[0][0] * b[0][0] + a[0][1] * b[0][1] + a[0][2] * b[0][2];
      change = 0;
      for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
          double next = 0.5 * (a[r][c] + b[r][c] / det);
          change = fmax(change, fabs(next - a[r][c]));
          a[r][c] = next;
        }
      count++;
    }
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++)
        rotations[i * 9 + r * 3 + c] = a[r][c];
    steps[i] = count;
""",
)

ELEMENTS_HEAD = """element_stiffness(const double *__restrict__ u, const double *__restrict__ derivative,
                       const double *__restrict__ factors, double *__restrict__ out, int n)"""
ELEMENTS = indexed(
    f"""
__global__ void {ELEMENTS_HEAD} {{
  __shared__ double d[7][7], field[7][7][7], slopes[3][7][7][7];
  INDEX e = blockIdx.x, x = threadIdx.x, y = threadIdx.y, z = threadIdx.z, at = ((e * 7 + z) * 7 + y) * 7 + x;
  if (z == 0) d[y][x] = derivative[7 * y + x];
  field[z][y][x] = u[at];
  __syncthreads();
  double ux = 0, uy = 0, uz = 0, total = 0;
  for (INDEX k = 0; k < 7; k++) {{
    ux += d[x][k] * field[z][y][k];
    uy += d[y][k] * field[z][k][x];
    uz += d[z][k] * field[k][y][x];
  }}
  const double *g = factors + 6 * at;
  slopes[0][z][y][x] = g[0] * ux + g[1] * uy + g[2] * uz;
  slopes[1][z][y][x] = g[1] * ux + g[3] * uy + g[4] * uz;
  slopes[2][z][y][x] = g[2] * ux + g[4] * uy + g[5] * uz;
  __syncthreads();
  for (INDEX k = 0; k < 7; k++) {{
    total += d[k][x] * slopes[0][z][y][k];
    total += d[k][y] * slopes[1][z][k][x];
    total += d[k][z] * slopes[2][k][y][x];
  }}
  out[at] = total;
}}
""",
    f"""
void {ELEMENTS_HEAD} {{
#pragma omp parallel for
  for (INDEX e = 0; e < n; e++) {{
    const double(*field)[7][7] = (const double(*)[7][7])(u + e * 343);
    double slopes[3][7][7][7];
    for (int z = 0; z < 7; z++)
      for (int y = 0; y < 7; y++)
        for (int x = 0; x < 7; x++) {{
          double ux = 0, uy = 0, uz = 0;
          for (int k = 0; k < 7; k++) {{
            ux += derivative[7 * x + k] * field[z][y][k];
            uy += derivative[7 * y + k] * field[z][k][x];
            uz += derivative[7 * z + k] * field[k][y][x];
          }}
          const double *g = factors + 6 * (((e * 7 + z) * 7 + y) * 7 + x);
          slopes[0][z][y][x] = g[0] * ux + g[1] * uy + g[2] * uz;
          slopes[1][z][y][x] = g[1] * ux + g[3] * uy + g[4] * uz;
          slopes[2][z][y][x] = g[2] * ux + g[4] * uy + g[5] * uz;
        }}
    for (int z = 0; z < 7; z++)
      for (int y = 0; y < 7; y++)
        for (int x = 0; x < 7; x++) {{
          double total = 0;
          for (int k = 0; k < 7; k++)
            total += derivative[7 * k + x] * slopes[0][z][y][k] + derivative[7 * k + y] * slopes[1][z][k][x] +
                     derivative[7 * k + z] * slopes[2][k][y][x];
          out[((e * 7 + z) * 7 + y) * 7 + x] = total;
        }}
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "radix tree of codes", radix_tree, "uint32[::1], int32[::1], int32[::1], int32[::1]", 128, tree_problem,
        gpu=2_000_003, host=50_021, test=403, kind="irregular", **TREE,
    ),
    Kernel(
        "cloth", cloth_step,
        "float32[:,:,::1], float32[:,:,::1], int32[:,::1], float32[::1], float32, float32, float32, float32, "
        "float32[:,:,::1], float32[:,:,::1]",
        (32, 8), cloth_problem,
        gpu=1501, host=201, test=23, power=2, kind="stencil", **CLOTH,
    ),
    Kernel(
        "skin over bones", skinned, "float32[:,::1], float32[:,::1], uint8[:,::1], float32[:,::1], float32[:,::1]", 128,
        skin_problem,
        gpu=2_000_003, host=50_021, test=403, **SKIN,
    ),
    Kernel(
        "rotations in matrices", polar_rotations, "float64[:,:,::1], float64, pyint, float64[:,:,::1], int32[::1]", 128,
        polar_problem,
        gpu=500_009, host=10_007, test=203, **POLAR,
    ),
    Kernel(
        "spectral elements", element_stiffness,
        "float64[:,:,:,::1], float64[:,::1], float64[:,:,:,:,::1], float64[:,:,:,::1]", (7, 7, 7), elements_problem,
        gpu=10_007, host=203, test=5, kind="shared", **ELEMENTS,
    ),
]  # fmt: skip
