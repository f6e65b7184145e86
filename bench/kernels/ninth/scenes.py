"""Scenes: a surface out of a field, triangles in tiles, scans made to match, poses between two, pictures over time."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, int32

EDGES = ((0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7))


def surface_points(field, level, points, corners):
    """Surface nets: a point in each cell that the surface crosses, the mean of where it crosses edges;
    which corners are in.
    """
    x, y, z = cuda.grid(3)
    depth, rows, cols = field.shape
    if z >= depth - 1 or y >= rows - 1 or x >= cols - 1:
        return
    value = cuda.local.array(8, float32)
    inside = 0
    for k in range(8):
        value[k] = field[z + (k >> 2), y + (k >> 1 & 1), x + (k & 1)] - level
        if value[k] < 0:
            inside |= 1 << k
    px = py = pz = float32(0)
    count = 0
    if inside != 0 and inside != 255:
        for a, b in EDGES:
            if inside >> a & 1 != inside >> b & 1:
                t = value[a] / (value[a] - value[b])
                px += (a & 1) + t * ((b & 1) - (a & 1))
                py += (a >> 1 & 1) + t * ((b >> 1 & 1) - (a >> 1 & 1))
                pz += (a >> 2) + t * ((b >> 2) - (a >> 2))
                count += 1
        share = float32(1) / float32(count)
        px *= share
        py *= share
        pz *= share
    corners[z, y, x] = inside
    points[z, y, x, 0] = px
    points[z, y, x, 1] = py
    points[z, y, x, 2] = pz


def side_of(ax, ay, bx, by, x, y):
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)


def drawn_tiles(corners, depths, owners):
    """Triangles in tiles of 16x16: those that meet the tile are gathered in shared memory, then each
    pixel takes the nearest.
    """
    chosen = cuda.shared.array(256, int32)
    held = cuda.shared.array(1, int32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    t = ty * 16 + tx
    left = cuda.blockIdx.x * 16
    top = cuda.blockIdx.y * 16
    x = left + tx
    y = top + ty
    rows, cols = depths.shape
    nearest = 1 << 30
    owner = -1
    for begin in range(0, corners.shape[0], 256):
        if t == 0:
            held[0] = 0
        cuda.syncthreads()
        k = begin + t
        if k < corners.shape[0]:
            low_x = min(corners[k, 0, 0], corners[k, 1, 0], corners[k, 2, 0])
            high_x = max(corners[k, 0, 0], corners[k, 1, 0], corners[k, 2, 0])
            low_y = min(corners[k, 0, 1], corners[k, 1, 1], corners[k, 2, 1])
            high_y = max(corners[k, 0, 1], corners[k, 1, 1], corners[k, 2, 1])
            if low_x < left + 16 and high_x >= left and low_y < top + 16 and high_y >= top:
                chosen[cuda.atomic.add(held, 0, 1)] = k
        cuda.syncthreads()
        for j in range(held[0]):
            k = int(chosen[j])
            ax, ay, az = corners[k, 0]
            bx, by, bz = corners[k, 1]
            cx, cy, cz = corners[k, 2]
            area = side_of(ax, ay, bx, by, cx, cy)
            u = side_of(bx, by, cx, cy, x, y)
            v = side_of(cx, cy, ax, ay, x, y)
            w = area - u - v
            if area < 0:
                area, u, v, w = -area, -u, -v, -w
            if area > 0 and u >= 0 and v >= 0 and w >= 0:
                depth = (u * az + v * bz + w * cz) // area
                if depth < nearest or (depth == nearest and k < owner):
                    nearest = depth
                    owner = k
        cuda.syncthreads()
    if x < cols and y < rows:
        depths[y, x] = nearest
        owners[y, x] = owner


def match_sums(points, targets, normals, reach, sums):
    """Point to plane: the upper half of six normal equations, their right side, the error; pairs too far
    apart are left out.
    """
    part = cuda.shared.array(28, float32)
    t = cuda.threadIdx.x
    if t < 28:
        part[t] = 0
    cuda.syncthreads()
    own = cuda.local.array(28, float32)
    row = cuda.local.array(7, float32)
    for k in range(28):
        own[k] = 0
    for i in range(cuda.grid(1), points.shape[0], cuda.gridsize(1)):
        px, py, pz = points[i]
        nx, ny, nz = normals[i]
        dx, dy, dz = targets[i, 0] - px, targets[i, 1] - py, targets[i, 2] - pz
        if dx * dx + dy * dy + dz * dz > reach:
            continue
        row[0], row[1], row[2] = py * nz - pz * ny, pz * nx - px * nz, px * ny - py * nx
        row[3], row[4], row[5] = nx, ny, nz
        row[6] = dx * nx + dy * ny + dz * nz
        k = 0
        for r in range(7):
            for c in range(r, 7):
                own[k] += row[r] * row[c]
                k += 1
    for k in range(28):
        v = own[k]
        for step in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, step)
        if cuda.laneid == 0:
            cuda.atomic.add(part, k, v)
    cuda.syncthreads()
    if t < 28:
        cuda.atomic.add(sums, t, part[t])


def blended_poses(first, second, shares, out):
    """Quaternions of bones between two poses: along the arc, or the chord where it is short; a thread a
    bone (x) of a body.
    """
    bone, body = cuda.grid(2)
    if body >= first.shape[0] or bone >= first.shape[1]:
        return
    a = first[body, bone]
    b = second[body, bone]
    share = shares[body]
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = float32(1)
    if cosine < 0:
        cosine = -cosine
        sign = float32(-1)
    wa = 1 - share
    wb = share
    if cosine < float32(0.9995):
        angle = math.acos(cosine)
        below = math.sin(angle)
        wa = math.sin(wa * angle) / below
        wb = math.sin(wb * angle) / below
    wb *= sign
    w = wa * a[0] + wb * b[0]
    x = wa * a[1] + wb * b[1]
    y = wa * a[2] + wb * b[2]
    z = wa * a[3] + wb * b[3]
    size = math.sqrt(w * w + x * x + y * y + z * z)
    out[body, bone, 0] = w / size
    out[body, bone, 1] = x / size
    out[body, bone, 2] = y / size
    out[body, bone, 3] = z / size


def accumulated_frame(frame, history, motion, keep, out):
    """Temporal antialiasing: the last picture, moved and clamped to what is around the pixel, mixed with
    the new one.
    """
    col, row = cuda.grid(2)
    colours, rows, cols = frame.shape
    if row >= rows or col >= cols:
        return
    x = min(max(col - motion[row, col, 0], 0), cols - 1)
    y = min(max(row - motion[row, col, 1], 0), rows - 1)
    left = min(int(x), cols - 2)
    top = min(int(y), rows - 2)
    fx = x - left
    fy = y - top
    for c in range(colours):
        low = high = frame[c, row, col]
        for j in range(max(row - 1, 0), min(row + 2, rows)):
            for i in range(max(col - 1, 0), min(col + 2, cols)):
                v = frame[c, j, i]
                low = min(low, v)
                high = max(high, v)
        old = history[c]
        above = old[top, left] + fx * (old[top, left + 1] - old[top, left])
        below = old[top + 1, left] + fx * (old[top + 1, left + 1] - old[top + 1, left])
        past = min(max(above + fy * (below - above), low), high)
        out[c, row, col] = past * keep + frame[c, row, col] * (1 - keep)


def surface_problem(rng, n):
    depth, rows, cols = n, n + 3, n + 9
    z, y, x = np.mgrid[:depth, :rows, :cols].astype(np.float32)
    field = np.sin(x / 5) * np.cos(y / 6) + np.sin(y / 7) * np.cos(z / 5) + np.sin(z / 6) * np.cos(x / 7)
    field = (field + 0.2 * rng.random(field.shape, np.float32)).astype(np.float32)
    level = np.float32(0.21)

    def expected():
        at = sampled(rng, depth - 1, 50)
        v = field - level  # as the kernel rounds it: which corners are in is exact
        places = [(k >> 2, k >> 1 & 1, k & 1) for k in range(8)]
        corner = [v[at + dz, dy : rows - 1 + dy, dx : cols - 1 + dx] for dz, dy, dx in places]
        inside = sum((c < 0).astype(np.uint8) << k for k, c in enumerate(corner))
        points, count = np.zeros((*inside.shape, 3)), np.zeros(inside.shape)
        for a, b in EDGES:
            crossed = (inside >> a & 1) != (inside >> b & 1)
            va, vb = corner[a][crossed].astype(float), corner[b][crossed].astype(float)
            t = va / (va - vb)
            for axis in range(3):
                pa, pb = a >> axis & 1, b >> axis & 1
                points[crossed, axis] += pa + t * (pb - pa)
            count += crossed
        points /= np.maximum(count, 1)[..., None]
        # Up to 12 places up to 1, each off by 3 roundings, and as many additions.
        return [(at, points, 20 * EPS32), (at, inside, 0)]

    cells = (depth - 1, rows - 1, cols - 1)
    args = (field, level, np.full((*cells, 3), -9, np.float32), np.zeros(cells, np.uint8))
    return Problem(
        args, (depth, rows, cols), (2, 3), expected, threads=cells[::-1], bytes=17.0 * field.size,
        flops=100.0 * field.size,
    )  # fmt: skip


def tiles_problem(rng, n):
    rows, cols = min(1003, 20 + n), min(1501, 30 + n)
    middle = rng.integers(-20, 20 + cols, (n, 1, 1)), rng.integers(-20, 20 + rows, (n, 1, 1))
    flat = [m + rng.integers(-40, 41, (n, 3, 1)) for m in middle]
    corners = np.concatenate([*flat, rng.integers(1, 2000, (n, 3, 1))], 2)
    corners = corners.astype(np.int32)

    def expected():
        nearest, owner = np.full((rows, cols), 1 << 30), np.full((rows, cols), -1)
        for k, ((ax, ay, az), (bx, by, bz), (cx, cy, cz)) in enumerate(corners.tolist()):
            left, right = max(0, min(ax, bx, cx)), min(cols - 1, max(ax, bx, cx))
            top, bottom = max(0, min(ay, by, cy)), min(rows - 1, max(ay, by, cy))
            area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
            if left > right or top > bottom or area == 0:
                continue
            y, x = np.ogrid[top : bottom + 1, left : right + 1]
            sign = 1 if area > 0 else -1
            u = sign * ((cx - bx) * (y - by) - (cy - by) * (x - bx))
            v = sign * ((ax - cx) * (y - cy) - (ay - cy) * (x - cx))
            w = abs(area) - u - v
            depth = (u * az + v * bz + w * cz) // abs(area)
            near, own = (m[top : bottom + 1, left : right + 1] for m in (nearest, owner))
            won = (u >= 0) & (v >= 0) & (w >= 0) & (depth < near)
            near[won], own[won] = depth[won], k
        return [(slice(None), nearest, 0), (slice(None), owner, 0)]

    args = (corners, *np.full((2, rows, cols), -5, np.int32))
    return Problem(
        args, (n, rows, cols), (1, 2), expected, grid=(-(-cols // 16), -(-rows // 16)),
        bytes=36.0 * n + 8.0 * rows * cols,
    )  # fmt: skip


def match_problem(rng, n):
    points = rng.uniform(-1, 1, (n, 3)).astype(np.float32)
    normals = rng.standard_normal((n, 3), np.float32)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    targets = points + np.float32(0.02) * rng.standard_normal((n, 3), np.float32)
    far = rng.random(n) < 0.1
    targets[far] += 1
    reach = np.float32(0.25)  # between the noise and what is far

    def expected():
        p, q, m = (a[~far].astype(float) for a in (points, targets, normals))
        rows = np.concatenate([np.cross(p, m), m, ((q - p) * m).sum(1, keepdims=True)], 1)
        upper = np.triu_indices(7)
        # Rows are off by 6 roundings of products up to 1, a thread adds few and atomics hundreds of partial sums.
        sizes = (np.abs(rows).T @ np.abs(rows))[upper] + 6 * EPS32 * np.abs(rows).sum()
        rows = (rows.T @ rows)[upper]
        return [(slice(None), rows, EPS32 * (n / 4000 + 150) * sizes + 12 * EPS32 * p.shape[0])]

    args = (points, targets, normals, reach, np.zeros(28, np.float32))
    return Problem(
        args, (n,), (4,), expected, grid=min(264, -(-n // 256)), bytes=36.0 * n, flops=90.0 * n,
        sequential=max(1.0, n / 5000),
    )  # fmt: skip


def poses_problem(rng, n):
    bones = 67
    first = rng.standard_normal((n, bones, 4), np.float32)
    second = rng.standard_normal((n, bones, 4), np.float32)
    second[:, ::3] = first[:, ::3] + np.float32(0.03) * second[:, ::3]
    first, second = (q / np.linalg.norm(q, axis=2, keepdims=True) for q in (first, second))
    shares = rng.random(n, np.float32)

    def expected():
        at = sampled(rng, n, 5000)
        a, b, share = first[at].astype(float), second[at].astype(float), shares[at, None].astype(float)
        cosine = (a * b).sum(2)
        b = np.where(cosine < 0, -1, 1)[..., None] * b
        cosine = np.abs(cosine)
        angle = np.arccos(np.minimum(cosine, 0.9995))
        near = cosine >= float(np.float32(0.9995))
        wa = np.where(near, 1 - share, np.sin((1 - share) * angle) / np.sin(angle))
        wb = np.where(near, share, np.sin(share * angle) / np.sin(angle))
        q = wa[..., None] * a + wb[..., None] * b
        # Shares are off by some roundings (the angle's error, larger for small ones, is in both sines); arc and chord
        # differ by 1e-6 where one becomes the other.
        size = np.linalg.norm(q, axis=2, keepdims=True)
        return [(at, q / size, 2e-6 + 24 * EPS32 / size)]

    args = (first, second, shares, np.full((n, bones, 4), 9, np.float32))
    return Problem(args, (n, bones), (3,), expected, threads=(bones, n), bytes=48.0 * n * bones, flops=80.0 * n * bones)


def frame_problem(rng, n):
    colours, rows, cols, keep = 3, n, n + n // 2, np.float32(0.9)
    frame, history = rng.random((2, colours, rows, cols), np.float32)
    motion = (rng.integers(-64, 65, (rows, cols, 2)) / np.float32(16)).astype(np.float32)  # so places are exact

    def expected():
        at = sampled(rng, rows, 300)
        y, x = np.meshgrid(at, np.arange(cols), indexing="ij")
        x = np.clip(x - motion[at, :, 0].astype(float), 0, cols - 1)
        y = np.clip(y - motion[at, :, 1].astype(float), 0, rows - 1)
        left, top = np.minimum(x.astype(int), cols - 2), np.minimum(y.astype(int), rows - 2)
        fx, fy, out = x - left, y - top, np.zeros((colours, len(at), cols))
        for c in range(colours):
            old = history[c].astype(float)
            wide = np.pad(frame[c], 1, "edge")
            around = np.stack([wide[at + j, i : i + cols] for j in range(3) for i in range(3)])
            above = old[top, left] + fx * (old[top, left + 1] - old[top, left])
            below = old[top + 1, left] + fx * (old[top + 1, left + 1] - old[top + 1, left])
            past = np.clip(above + fy * (below - above), around.min(0), around.max(0))
            out[c] = past * float(keep) + frame[c, at] * (1 - float(keep))
        return [((slice(None), at), out, 8 * EPS32)]  # eight roundings of numbers up to 1

    args = (frame, history, motion, keep, np.full(frame.shape, 9, np.float32))
    work = rows * cols
    return Problem(
        args, (colours, rows, cols), (4,), expected, threads=(cols, rows), bytes=44.0 * work, flops=100.0 * work,
    )  # fmt: skip


SURFACE_HEAD = """surface_points(const float *__restrict__ field, float level, float *__restrict__ points,
                    unsigned char *__restrict__ corners, int depth, int rows, int cols)"""
SURFACE_BODY = """
    const int from[12] = {0, 2, 4, 6, 0, 1, 4, 5, 0, 1, 2, 3}, to[12] = {1, 3, 5, 7, 2, 3, 6, 7, 4, 5, 6, 7};
    float value[8], px = 0, py = 0, pz = 0;
    int inside = 0, count = 0;
    for (int k = 0; k < 8; k++) {
      value[k] = field[((z + (k >> 2)) * rows + y + (k >> 1 & 1)) * cols + x + (k & 1)] - level;
      if (value[k] < 0) inside |= 1 << k;
    }
    if (inside != 0 && inside != 255) {
      for (int e = 0; e < 12; e++) {
        int a = from[e], b = to[e];
        if ((inside >> a & 1) != (inside >> b & 1)) {
          float t = value[a] / (value[a] - value[b]);
          px += (a & 1) + t * ((b & 1) - (a & 1));
          py += (a >> 1 & 1) + t * ((b >> 1 & 1) - (a >> 1 & 1));
          pz += (a >> 2) + t * ((b >> 2) - (a >> 2));
          count++;
        }
      }
      float share = 1.0f / count;
      px *= share;
      py *= share;
      pz *= share;
    }
    INDEX cell = (z * (rows - 1) + y) * (cols - 1) + x;
    corners[cell] = inside;
    points[3 * cell] = px;
    points[3 * cell + 1] = py;
    points[3 * cell + 2] = pz;
"""
SURFACE = indexed(
    f"""
__global__ void {SURFACE_HEAD} {{
  INDEX x = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, y = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX z = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (z < depth - 1 && y < rows - 1 && x < cols - 1) {{{SURFACE_BODY}  }}
}}
""",
    f"""
void {SURFACE_HEAD} {{
#pragma omp parallel for collapse(2)
  for (INDEX z = 0; z < depth - 1; z++)
    for (INDEX y = 0; y < rows - 1; y++)
      for (INDEX x = 0; x < cols - 1; x++) {{{SURFACE_BODY}      }}
}}
""",
)

TILES_HEAD = """drawn_tiles(const int *__restrict__ corners, int *__restrict__ depths, int *__restrict__ owners,
                    int n, int rows, int cols)"""
TILES_BEFORE = """
DEVICE int tile_side(int ax, int ay, int bx, int by, int x, int y) {
  return (bx - ax) * (y - ay) - (by - ay) * (x - ax);
}
"""
TILES_PIXEL = """
      const int *p = corners + (INDEX)9 * k;
      int area = tile_side(p[0], p[1], p[3], p[4], p[6], p[7]), u = tile_side(p[3], p[4], p[6], p[7], x, y);
      int v = tile_side(p[6], p[7], p[0], p[1], x, y), w = area - u - v;
      if (area < 0) {
        area = -area;
        u = -u;
        v = -v;
        w = -w;
      }
      if (area > 0 && u >= 0 && v >= 0 && w >= 0) {
        int depth = (u * p[2] + v * p[5] + w * p[8]) / area;
        if (depth < NEAREST || (depth == NEAREST && k < OWNER)) {
          NEAREST = depth;
          OWNER = k;
        }
      }
"""
TILES = indexed(
    f"""{TILES_BEFORE}
__global__ void {TILES_HEAD} {{
  __shared__ int chosen[256], held;
  int t = threadIdx.y * 16 + threadIdx.x, owner = -1, nearest = 1 << 30;
  INDEX left = blockIdx.x * (INDEX)16, top = blockIdx.y * (INDEX)16, x = left + threadIdx.x, y = top + threadIdx.y;
  for (INDEX begin = 0; begin < n; begin += 256) {{
    if (t == 0) held = 0;
    __syncthreads();
    if (begin + t < n) {{
      const int *p = corners + 9 * (begin + t);
      int low_x = min(p[0], min(p[3], p[6])), high_x = max(p[0], max(p[3], p[6]));
      int low_y = min(p[1], min(p[4], p[7])), high_y = max(p[1], max(p[4], p[7]));
      if (low_x < left + 16 && high_x >= left && low_y < top + 16 && high_y >= top)
        chosen[atomicAdd(&held, 1)] = begin + t;
    }}
    __syncthreads();
    for (int j = 0; j < held; j++) {{
      int k = chosen[j];
{TILES_PIXEL.replace("NEAREST", "nearest").replace("OWNER", "owner")}
    }}
    __syncthreads();
  }}
  if (x < cols && y < rows) {{
    depths[y * cols + x] = nearest;
    owners[y * cols + x] = owner;
  }}
}}
""",
    f"""{TILES_BEFORE}
void {TILES_HEAD} {{
#pragma omp parallel for schedule(dynamic)
  for (INDEX top = 0; top < rows; top += 16) {{
    INDEX end = MIN(top + 16, rows);
    for (INDEX at = top * cols; at < end * cols; at++) {{
      depths[at] = 1 << 30;
      owners[at] = -1;
    }}
    for (INDEX k = 0; k < n; k++) {{
      const int *q = corners + 9 * k;
      INDEX low_x = MAX(0, MIN(q[0], MIN(q[3], q[6]))), high_x = MIN(cols - 1, MAX(q[0], MAX(q[3], q[6])));
      INDEX low_y = MAX(top, MIN(q[1], MIN(q[4], q[7]))), high_y = MIN(end - 1, MAX(q[1], MAX(q[4], q[7])));
      for (INDEX y = low_y; y <= high_y; y++)
        for (INDEX x = low_x; x <= high_x; x++) {{
{TILES_PIXEL.replace("NEAREST", "depths[y * cols + x]").replace("OWNER", "owners[y * cols + x]")}
        }}
    }}
  }}
}}
""",
)

MATCH_HEAD = """match_sums(const float *__restrict__ points, const float *__restrict__ targets,
                    const float *__restrict__ normals,
                float reach, float *__restrict__ sums, int n)"""
MATCH_POINT = """
    float px = points[3 * i], py = points[3 * i + 1], pz = points[3 * i + 2];
    float nx = normals[3 * i], ny = normals[3 * i + 1], nz = normals[3 * i + 2];
    float dx = targets[3 * i] - px, dy = targets[3 * i + 1] - py, dz = targets[3 * i + 2] - pz;
    if (dx * dx + dy * dy + dz * dz > reach) continue;
    float row[7] = {py * nz - pz * ny, pz * nx - px * nz, px * ny - py * nx, nx, ny, nz, dx * nx + dy * ny + dz * nz};
    int k = 0;
    for (int r = 0; r < 7; r++)
      for (int c = r; c < 7; c++)
        own[k++] += row[r] * row[c];
"""
MATCH = indexed(
    f"""
__global__ void {MATCH_HEAD} {{
  __shared__ float part[28];
  INDEX t = threadIdx.x, stride = gridDim.x * (INDEX)blockDim.x;
  if (t < 28) part[t] = 0;
  __syncthreads();
  float own[28];
  for (int k = 0; k < 28; k++)
    own[k] = 0;
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + t; i < n; i += stride) {{{MATCH_POINT}  }}
  for (int k = 0; k < 28; k++) {{
    float v = own[k];
    for (int step = 16; step > 0; step /= 2)
      v += __shfl_down_sync(0xffffffff, v, step);
    if (t % 32 == 0) atomicAdd(&part[k], v);
  }}
  __syncthreads();
  if (t < 28) atomicAdd(&sums[t], part[t]);
}}
""",
    f"""
void {MATCH_HEAD} {{
#pragma omp parallel
  {{
    float own[28] = {{0}};
#pragma omp for
    for (INDEX i = 0; i < n; i++) {{{MATCH_POINT}    }}
    for (int k = 0; k < 28; k++)
#pragma omp atomic
      sums[k] += own[k];
  }}
}}
""",
)

POSES = plane(
    """blended_poses(const float *__restrict__ first, const float *__restrict__ second,
      const float *__restrict__ shares,
                  float *__restrict__ out, int n, int bones)""",
    """
    const float *a = first + (row * bones + col) * 4, *b = second + (row * bones + col) * 4;
    float share = shares[row], cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], sign = 1;
    if (cosine < 0) {
      cosine = -cosine;
      sign = -1;
    }
    float wa = 1 - share, wb = share;
    if (cosine < 0.9995f) {
      float angle = acosf(cosine), below = sinf(angle);
      wa = sinf(wa * angle) / below;
      wb = sinf(wb * angle) / below;
    }
    wb *= sign;
    float w = wa * a[0] + wb * b[0], x = wa * a[1] + wb * b[1], y = wa * a[2] + wb * b[2], z = wa * a[3] + wb * b[3];
    float size = sqrtf(w * w + x * x + y * y + z * z), *q = out + (row * bones + col) * 4;
    q[0] = w / size;
    q[1] = x / size;
    q[2] = y / size;
    q[3] = z / size;
""",
    rows="n",
    cols="bones",
)

FRAME = plane(
    """accumulated_frame(const float *__restrict__ frame, const float *__restrict__ history,
      const float *__restrict__ motion,
                      float keep, float *__restrict__ out, int colours, int rows, int cols)""",
    """
    INDEX at = row * cols + col, layer = (INDEX)rows * cols;
    float x = fminf(fmaxf(col - motion[2 * at], 0), cols - 1), y = fminf(fmaxf(row - motion[2 * at + 1], 0), rows - 1);
    INDEX left = MIN((INDEX)x, (INDEX)cols - 2), top = MIN((INDEX)y, (INDEX)rows - 2);
    float fx = x - left, fy = y - top;
    for (INDEX c = 0; c < colours; c++) {
      const float *now = frame + c * layer, *old = history + c * layer + top * cols + left;
      float low = now[at], high = low;
      for (INDEX j = MAX(row - 1, (INDEX)0); j < MIN(row + 2, (INDEX)rows); j++)
        for (INDEX i = MAX(col - 1, (INDEX)0); i < MIN(col + 2, (INDEX)cols); i++) {
          low = fminf(low, now[j * cols + i]);
          high = fmaxf(high, now[j * cols + i]);
        }
      float above = old[0] + fx * (old[1] - old[0]), below = old[cols] + fx * (old[cols + 1] - old[cols]);
      float past = fminf(fmaxf(above + fy * (below - above), low), high);
      out[c * layer + at] = past * keep + now[at] * (1 - keep);
    }
""",
)

KERNELS = [
    Kernel(
        "points of a surface", surface_points, "float32[:,:,::1], float32, float32[:,:,:,::1], uint8[:,:,::1]",
        (32, 4, 2),
        surface_problem,
        gpu=251, host=61, test=17, power=3, **SURFACE,
    ),
    Kernel(
        "triangles in tiles", drawn_tiles, "int32[:,:,::1], int32[:,::1], int32[:,::1]", (16, 16), tiles_problem,
        gpu=20_011, host=2003, test=19, kind="shared", **TILES,
    ),
    Kernel(
        "sums of a match", match_sums, "float32[:,::1], float32[:,::1], float32[:,::1], float32, float32[::1]", 256,
        match_problem,
        gpu=5_000_011, host=100_003, test=301, kind="shared", **MATCH,
    ),
    Kernel(
        "poses between two", blended_poses, "float32[:,:,::1], float32[:,:,::1], float32[::1], float32[:,:,::1]",
        (32, 4),
        poses_problem,
        gpu=100_003, host=2003, test=31, **POSES,
    ),
    Kernel(
        "frames over time", accumulated_frame,
        "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32, float32[:,:,::1]", (32, 8), frame_problem,
        gpu=2003, host=301, test=41, power=2, kind="stencil", **FRAME,
    ),
]  # fmt: skip
