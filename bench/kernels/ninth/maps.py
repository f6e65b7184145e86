"""Maps: beams over a grid, clipped triangles, water that runs down, geohashes, geodesics, lines made simpler."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, plane
from pyptx import cuda, float32, int32

AXIS = 6378137.0  # of the ellipsoid WGS 84, in metres
FLATTENING = 1 / 298.257223563
STEPS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


def occupancy_beams(beams, free, occupied):
    """Beams of a scanner over a grid, by Bresenham's lines: cells that they cross, and those where they end."""
    i = cuda.grid(1)
    if i >= beams.shape[0]:
        return
    x, y, end_x, end_y = int(beams[i, 0]), int(beams[i, 1]), int(beams[i, 2]), int(beams[i, 3])
    dx = abs(end_x - x)
    dy = -abs(end_y - y)
    step_x = 1 if x < end_x else -1
    step_y = 1 if y < end_y else -1
    error = dx + dy
    rows, cols = free.shape
    while x != end_x or y != end_y:
        if 0 <= x < cols and 0 <= y < rows:
            cuda.atomic.add(free, (y, x), 1)
        twice = 2 * error
        if twice >= dy:
            error += dy
            x += step_x
        if twice <= dx:
            error += dx
            y += step_y
    if 0 <= x < cols and 0 <= y < rows:
        cuda.atomic.add(occupied, (y, x), 1)


def clip_side(px, py, count, qx, qy, a, b, c):
    """Sutherland and Hodgman: what of a polygon has a * x + b * y >= c; the number of its corners."""
    kept = 0
    for k in range(count):
        following = k + 1 if k + 1 < count else 0
        here = a * px[k] + b * py[k] - c
        there = a * px[following] + b * py[following] - c
        if here >= 0:
            qx[kept] = px[k]
            qy[kept] = py[k]
            kept += 1
        if (here >= 0) != (there >= 0):
            t = here / (here - there)
            qx[kept] = px[k] + t * (px[following] - px[k])
            qy[kept] = py[k] + t * (py[following] - py[k])
            kept += 1
    return kept


def clipped_areas(triangles, boxes, areas):
    """The area of each triangle within its box."""
    i = cuda.grid(1)
    if i >= areas.size:
        return
    px = cuda.local.array(8, float32)
    py = cuda.local.array(8, float32)
    qx = cuda.local.array(8, float32)
    qy = cuda.local.array(8, float32)
    for k in range(3):
        px[k] = triangles[i, k, 0]
        py[k] = triangles[i, k, 1]
    left, top, right, bottom = boxes[i]
    count = clip_side(px, py, 3, qx, qy, float32(1), float32(0), left)
    count = clip_side(qx, qy, count, px, py, float32(-1), float32(0), -right)
    count = clip_side(px, py, count, qx, qy, float32(0), float32(1), top)
    count = clip_side(qx, qy, count, px, py, float32(0), float32(-1), -bottom)
    twice = float32(0)
    for k in range(2, count):
        twice += (px[k - 1] - px[0]) * (py[k] - py[0]) - (px[k] - px[0]) * (py[k - 1] - py[0])
    areas[i] = abs(twice) / 2


def flow_walks(directions, steps, water):
    """A drop from each cell runs along the directions (8: none) and wets the cells on its way."""
    col, row = cuda.grid(2)
    rows, cols = directions.shape
    if row >= rows or col >= cols:
        return
    while 0 <= row < rows and 0 <= col < cols:
        cuda.atomic.add(water, (row, col), 1)
        d = directions[row, col]
        if d == 8:
            break
        row += int(steps[d, 0])
        col += int(steps[d, 1])


def geohash_codes(latitudes, longitudes, letters, codes):
    """Geohashes of as many letters as codes has columns: halves of both ranges in turn, 5 bits a letter."""
    i = cuda.grid(1)
    if i >= latitudes.size:
        return
    latitude = latitudes[i]
    longitude = longitudes[i]
    south, north = -90.0, 90.0
    west, east = -180.0, 180.0
    along = True
    for k in range(codes.shape[1]):
        value = 0
        for _ in range(5):
            value *= 2
            if along:
                middle = (west + east) / 2
                if longitude >= middle:
                    value += 1
                    west = middle
                else:
                    east = middle
            else:
                middle = (south + north) / 2
                if latitude >= middle:
                    value += 1
                    south = middle
                else:
                    north = middle
            along = not along
        codes[i, k] = letters[value]


def geodesic_lengths(ends, lengths):
    """Vincenty's distances on an ellipsoid between pairs of places (latitude, longitude, the same; radians)."""
    i = cuda.grid(1)
    if i >= lengths.size:
        return
    minor = AXIS * (1 - FLATTENING)
    u1 = math.atan((1 - FLATTENING) * math.tan(ends[i, 0]))
    u2 = math.atan((1 - FLATTENING) * math.tan(ends[i, 2]))
    apart = ends[i, 3] - ends[i, 1]
    sin1, cos1 = math.sin(u1), math.cos(u1)
    sin2, cos2 = math.sin(u2), math.cos(u2)
    angle = apart
    for _ in range(100):
        sin_l, cos_l = math.sin(angle), math.cos(angle)
        across = cos2 * sin_l
        along = cos1 * sin2 - sin1 * cos2 * cos_l
        sin_s = math.sqrt(across * across + along * along)
        if sin_s == 0:
            lengths[i] = 0
            return
        cos_s = sin1 * sin2 + cos1 * cos2 * cos_l
        sigma = math.atan2(sin_s, cos_s)
        sin_a = cos1 * cos2 * sin_l / sin_s
        cos_aa = 1 - sin_a * sin_a
        cos_2m = 0.0
        if cos_aa > 0:
            cos_2m = cos_s - 2 * sin1 * sin2 / cos_aa
        c = FLATTENING / 16 * cos_aa * (4 + FLATTENING * (4 - 3 * cos_aa))
        before = angle
        angle = apart + (1 - c) * FLATTENING * sin_a * (
            sigma + c * sin_s * (cos_2m + c * cos_s * (2 * cos_2m * cos_2m - 1))
        )
        if abs(angle - before) < 1e-12:
            break
    uu = cos_aa * (AXIS * AXIS - minor * minor) / (minor * minor)
    a = 1 + uu / 16384 * (4096 + uu * (-768 + uu * (320 - 175 * uu)))
    b = uu / 1024 * (256 + uu * (-128 + uu * (74 - 47 * uu)))
    rest = cos_s * (2 * cos_2m * cos_2m - 1)
    rest -= b / 6 * cos_2m * (4 * sin_s * sin_s - 3) * (4 * cos_2m * cos_2m - 3)
    lengths[i] = minor * a * (sigma - b * sin_s * (cos_2m + b / 4 * rest))


def simplified_lines(points, starts, tolerance, kept):
    """Douglas and Peucker: which points a line needs to stay within a tolerance; a stack for each thread."""
    i = cuda.grid(1)
    if i + 1 >= starts.size:
        return
    stack = cuda.local.array((128, 2), int32)
    begin = int(starts[i])
    end = int(starts[i + 1]) - 1
    for k in range(begin, end + 1):
        kept[k] = 0
    kept[begin] = kept[end] = 1
    stack[0, 0] = begin
    stack[0, 1] = end
    depth = 1
    while depth > 0:
        depth -= 1
        first, last = int(stack[depth, 0]), int(stack[depth, 1])
        x0, y0 = int(points[first, 0]), int(points[first, 1])
        dx = int(points[last, 0]) - x0
        dy = int(points[last, 1]) - y0
        farthest = -1
        place = first
        for k in range(first + 1, last):
            off = abs(dx * (int(points[k, 1]) - y0) - dy * (int(points[k, 0]) - x0))
            if off > farthest:
                farthest = off
                place = k
        if farthest >= 0 and farthest * farthest > tolerance * tolerance * (dx * dx + dy * dy):
            kept[place] = 1
            stack[depth, 0], stack[depth, 1] = first, place
            stack[depth + 1, 0], stack[depth + 1, 1] = place, last
            depth += 2


def beams_problem(rng, n):
    side = min(2003, 60 + n)
    centres = rng.integers(0, side, (-(-n // 361), 2)).repeat(361, 0)[:n]
    turn, reach = rng.random(n) * 2 * math.pi, rng.integers(1, min(side, 150), n)
    ends = centres + np.stack([np.rint(reach * np.cos(turn)), np.rint(reach * np.sin(turn))], 1).astype(int)
    beams = np.concatenate([centres, ends], 1).astype(np.int32)

    def expected():
        free, occupied = np.zeros((2, side * side), np.int32)
        x, y, end_x, end_y = beams.T
        state = [x, y, end_x, end_y, abs(end_x - x), -abs(end_y - y), abs(end_x - x) - abs(end_y - y)]
        while state[0].size:
            cells = []
            for _ in range(8):
                x, y, end_x, end_y, dx, dy, error = state
                go = (x != end_x) | (y != end_y)
                cells.append((y * side + x)[go & (x >= 0) & (x < side) & (y >= 0) & (y < side)])
                right, down = go & (2 * error >= dy), go & (2 * error <= dx)
                state[0] = x + np.where(right, np.where(x < end_x, 1, -1), 0)
                state[1] = y + np.where(down, np.where(y < end_y, 1, -1), 0)
                state[6] = error + dy * right + dx * down
            free += np.bincount(np.concatenate(cells), minlength=side * side).astype(np.int32)
            state = [v[go] for v in state]
        x, y = beams[:, 2:].T
        inside = (x >= 0) & (x < side) & (y >= 0) & (y < side)
        np.add.at(occupied, y[inside] * side + x[inside], 1)
        return [(slice(None), v.reshape(side, side), 0) for v in (free, occupied)]

    args = (beams, *np.zeros((2, side, side), np.int32))
    return Problem(args, (n, side, side), (1, 2), expected, threads=n, bytes=16.0 * n + 4.0 * reach.sum())


def clipped_problem(rng, n):
    triangles = rng.random((n, 3, 2), np.float32)
    boxes = np.sort(rng.random((n, 2, 2), np.float32), 1).reshape(n, 4)

    def expected():
        at = sampled(rng, n, 3000)
        areas = np.zeros(len(at))
        for k, i in enumerate(at):
            corners = [complex(*p) for p in triangles[i].astype(float)]
            left, top, right, bottom = boxes[i].astype(float)
            for a, b, c in ((1, 0, left), (-1, 0, -right), (0, 1, top), (0, -1, -bottom)):
                found = []
                for p, q in zip(corners, corners[1:] + corners[:1]):
                    here, there = a * p.real + b * p.imag - c, a * q.real + b * q.imag - c
                    found += [p] if here >= 0 else []
                    if (here >= 0) != (there >= 0):
                        found.append(p + here / (here - there) * (q - p))
                corners = found
            pairs = zip(corners[1:], corners[2:])
            areas[k] = abs(sum(((p - corners[0]).conjugate() * (q - corners[0])).imag for p, q in pairs)) / 2
        # Corners are off by some roundings of 1 for each side of the box, along sides of up to sqrt(2).
        return [(at, areas, 48 * EPS32)]

    return Problem(
        (triangles, boxes, np.full(n, -1, np.float32)), (n,), (2,), expected, threads=n, bytes=44.0 * n,
        flops=150.0 * n,
    )  # fmt: skip


def flow_problem(rng, n):
    rows, cols = n, n + 5
    y, x = np.mgrid[:rows, :cols]
    height = 0.004 * (y + x) + np.sin(x / 19) + np.sin(y / 23) + 0.15 * rng.random((rows, cols), np.float32)
    best, directions = height.copy(), np.full((rows, cols), 8, np.uint8)
    wide = np.pad(height, 1, constant_values=-9)
    for d, (dy, dx) in enumerate(STEPS):
        other = wide[1 + dy : 1 + dy + rows, 1 + dx : 1 + dx + cols]
        directions[other < best] = d
        best = np.minimum(best, other)
    steps = np.array(STEPS, np.int8)

    def expected():
        row, col = np.mgrid[:rows, :cols]
        move = np.concatenate([steps, [[0, 0]]])[directions]
        row, col = row + move[..., 0], col + move[..., 1]
        inside = (directions < 8) & (row >= 0) & (row < rows) & (col >= 0) & (col < cols)
        after = np.where(inside, row * cols + col, rows * cols).ravel()  # the cell 2**k steps on
        after, water = np.append(after, rows * cols), np.append(np.ones(rows * cols), 0)
        while (after < rows * cols).any():  # water from less than 2**k steps away
            water += np.bincount(after, water, minlength=water.size)
            water[-1] = 0
            after = after[after]
        water = water[:-1].astype(np.int32)
        return [(slice(None), water.reshape(rows, cols), 0)]

    args = (directions, steps, np.zeros((rows, cols), np.int32))
    return Problem(args, (rows, cols), (2,), expected, threads=(cols, rows), bytes=5.0 * rows * cols)


def geohash_problem(rng, n):
    size = 11
    latitudes, longitudes = rng.uniform(-90, 90, n), rng.uniform(-180, 180, n)
    letters = np.frombuffer(b"0123456789bcdefghjkmnpqrstuvwxyz", np.uint8).copy()

    def expected():
        at = sampled(rng, n, 100_000)
        bits = np.zeros((len(at), 5 * size), np.int64)
        for first, v, end in ((0, longitudes[at], 180.0), (1, latitudes[at], 90.0)):
            low, high = np.full(len(at), -end), np.full(len(at), end)
            for k in range(first, 5 * size, 2):
                middle = (low + high) / 2
                bits[:, k] = v >= middle
                low, high = np.where(v >= middle, middle, low), np.where(v >= middle, high, middle)
        values = bits.reshape(-1, size, 5) @ np.array([16, 8, 4, 2, 1])
        return [(at, letters[values], 0)]

    args = (latitudes, longitudes, letters, np.zeros((n, size), np.uint8))
    return Problem(args, (n, size), (3,), expected, threads=n, bytes=27.0 * n, flops=4.0 * 55 * n)


def geodesic_problem(rng, n):
    ends = np.stack([rng.uniform(-1.5, 1.5, n), rng.uniform(-3, 3, n), rng.uniform(-1.5, 1.5, n), np.zeros(n)], 1)
    ends[:, 3] = ends[:, 1] + rng.uniform(-2, 2, n)  # far from antipodes, where it does not converge

    def expected():
        at = sampled(rng, n, 50_000)
        f, minor = FLATTENING, AXIS * (1 - FLATTENING)
        u1, u2 = np.arctan((1 - f) * np.tan(ends[at][:, [0, 2]].T))
        apart = ends[at, 3] - ends[at, 1]
        angle = apart
        for _ in range(30):
            along = np.cos(u1) * np.sin(u2) - np.sin(u1) * np.cos(u2) * np.cos(angle)
            sin_s = np.hypot(np.cos(u2) * np.sin(angle), along)
            cos_s = np.sin(u1) * np.sin(u2) + np.cos(u1) * np.cos(u2) * np.cos(angle)
            sigma = np.arctan2(sin_s, cos_s)
            sin_a = np.cos(u1) * np.cos(u2) * np.sin(angle) / sin_s
            cos_aa = 1 - sin_a**2
            cos_2m = cos_s - 2 * np.sin(u1) * np.sin(u2) / cos_aa
            c = f / 16 * cos_aa * (4 + f * (4 - 3 * cos_aa))
            angle = apart + (1 - c) * f * sin_a * (sigma + c * sin_s * (cos_2m + c * cos_s * (2 * cos_2m**2 - 1)))
        uu = cos_aa * (AXIS**2 - minor**2) / minor**2
        a = 1 + uu / 16384 * (4096 + uu * (-768 + uu * (320 - 175 * uu)))
        b = uu / 1024 * (256 + uu * (-128 + uu * (74 - 47 * uu)))
        rest = cos_s * (2 * cos_2m**2 - 1) - b / 6 * cos_2m * (4 * sin_s**2 - 3) * (4 * cos_2m**2 - 3)
        # The angle is within 1e-12 of what it tends to, which is 6 micrometres at the most.
        return [(at, minor * a * (sigma - b * sin_s * (cos_2m + b / 4 * rest)), 1e-5)]

    return Problem((ends, np.full(n, -1.0)), (n,), (1,), expected, threads=n, bytes=40.0 * n, flops=800.0 * n)


def lines_problem(rng, n):
    sizes = rng.integers(2, 120, n)
    starts = np.cumsum([0, *sizes]).astype(np.int32)
    t = np.arange(starts[-1])
    walk = np.stack([40 * np.sin(t / 9) + t % 997, 300 * np.cos(t / 31) + rng.integers(0, 9, t.size)], 1)
    points, tolerance = np.rint(walk).astype(np.int32), 5

    def expected():
        at, places, values = sampled(rng, n, 500), [], []
        for i in at:
            p = points[starts[i] : starts[i + 1]].astype(int)
            keep = np.zeros(len(p), np.uint8)
            keep[[0, -1]] = 1
            todo = [(0, len(p) - 1)]
            while todo:
                first, last = todo.pop()
                if last - first < 2:
                    continue
                dx, dy = p[last] - p[first]
                off = np.abs(dx * (p[first + 1 : last, 1] - p[first, 1]) - dy * (p[first + 1 : last, 0] - p[first, 0]))
                k = off.argmax()
                if off[k] ** 2 > tolerance**2 * (dx * dx + dy * dy):
                    keep[first + 1 + k] = 1
                    todo += [(first, first + 1 + k), (first + 1 + k, last)]
            places.append(np.arange(starts[i], starts[i + 1]))
            values.append(keep)
        return [(np.concatenate(places), np.concatenate(values), 0)]

    args = (points, starts, tolerance, np.full(t.size, 9, np.uint8))
    return Problem(args, (n,), (3,), expected, threads=n, bytes=9.0 * t.size)


BEAMS_HEAD = """occupancy_beams(const int *__restrict__ beams, int *__restrict__ free, int *__restrict__ occupied,
                    int n, int rows, int cols)"""
BEAMS_BODY = """
    INDEX x = beams[4 * i], y = beams[4 * i + 1], end_x = beams[4 * i + 2], end_y = beams[4 * i + 3];
    INDEX dx = x < end_x ? end_x - x : x - end_x, dy = y < end_y ? y - end_y : end_y - y;
    INDEX step_x = x < end_x ? 1 : -1, step_y = y < end_y ? 1 : -1, error = dx + dy;
    while (x != end_x || y != end_y) {
      if (0 <= x && x < cols && 0 <= y && y < rows) COUNT(free[y * cols + x]);
      INDEX twice = 2 * error;
      if (twice >= dy) {
        error += dy;
        x += step_x;
      }
      if (twice <= dx) {
        error += dx;
        y += step_y;
      }
    }
    if (0 <= x && x < cols && 0 <= y && y < rows) COUNT(occupied[y * cols + x]);
"""


def counting(sides):
    """COUNT(cell) as an atomic addition of each language."""
    out = {}
    for key, text in sides.items():
        name = f"COUNT_{'C' if key == 'openmp' else 'CUDA'}"
        how = '_Pragma("omp atomic") cell += 1' if key == "openmp" else "atomicAdd(&cell, 1)"
        out[key] = f"#define {name}(cell) {how}\n" + text.replace("COUNT(", name + "(")
    return out


BEAMS = counting(each(BEAMS_HEAD, BEAMS_BODY))

CLIPPED = each(
    """clipped_areas(const float *__restrict__ triangles, const float *__restrict__ boxes,
                  float *__restrict__ areas, int n)""",
    """
    float px[8], py[8], qx[8], qy[8];
    for (int k = 0; k < 3; k++) {
      px[k] = triangles[6 * i + 2 * k];
      py[k] = triangles[6 * i + 2 * k + 1];
    }
    int count = clip_side(px, py, 3, qx, qy, 1, 0, boxes[4 * i]);
    count = clip_side(qx, qy, count, px, py, -1, 0, -boxes[4 * i + 2]);
    count = clip_side(px, py, count, qx, qy, 0, 1, boxes[4 * i + 1]);
    count = clip_side(qx, qy, count, px, py, 0, -1, -boxes[4 * i + 3]);
    float twice = 0;
    for (int k = 2; k < count; k++)
      twice += (px[k - 1] - px[0]) * (py[k] - py[0]) - (px[k] - px[0]) * (py[k - 1] - py[0]);
    areas[i] = fabsf(twice) / 2;
""",
    before="""
DEVICE int clip_side(const float *px, const float *py, int count, float *qx, float *qy, float a, float b, float c) {
  int kept = 0;
  for (int k = 0; k < count; k++) {
    int following = k + 1 < count ? k + 1 : 0;
    float here = a * px[k] + b * py[k] - c, there = a * px[following] + b * py[following] - c;
    if (here >= 0) {
      qx[kept] = px[k];
      qy[kept] = py[k];
      kept++;
    }
    if ((here >= 0) != (there >= 0)) {
      float t = here / (here - there);
      qx[kept] = px[k] + t * (px[following] - px[k]);
      qy[kept] = py[k] + t * (py[following] - py[k]);
      kept++;
    }
  }
  return kept;
}
""",
)

FLOW = counting(
    plane(
        """flow_walks(const unsigned char *__restrict__ directions, const signed char *__restrict__ steps,
               int *__restrict__ water, int rows, int cols)""",
        """
    INDEX y = row, x = col;
    while (0 <= y && y < rows && 0 <= x && x < cols) {
      COUNT(water[y * cols + x]);
      int d = directions[y * cols + x];
      if (d == 8) break;
      y += steps[2 * d];
      x += steps[2 * d + 1];
    }
""",
    )
)

GEOHASH = each(
    """geohash_codes(const double *__restrict__ latitudes, const double *__restrict__ longitudes,
                  const unsigned char *__restrict__ letters, unsigned char *__restrict__ codes, int n, int size)""",
    """
    double latitude = latitudes[i], longitude = longitudes[i], south = -90, north = 90, west = -180, east = 180;
    int along = 1;
    for (INDEX k = 0; k < size; k++) {
      int value = 0;
      for (int bit = 0; bit < 5; bit++) {
        value *= 2;
        if (along) {
          double middle = (west + east) / 2;
          if (longitude >= middle) {
            value += 1;
            west = middle;
          } else {
            east = middle;
          }
        } else {
          double middle = (south + north) / 2;
          if (latitude >= middle) {
            value += 1;
            south = middle;
          } else {
            north = middle;
          }
        }
        along = !along;
      }
      codes[i * size + k] = letters[value];
    }
""",
)

GEODESIC = each(
    "geodesic_lengths(const double *__restrict__ ends, double *__restrict__ lengths, int n)",
    """
    const double axis = 6378137.0, flattening = 1 / 298.257223563, minor_axis = axis * (1 - flattening);
    double u1 = atan((1 - flattening) * tan(ends[4 * i])), u2 = atan((1 - flattening) * tan(ends[4 * i + 2]));
    double apart = ends[4 * i + 3] - ends[4 * i + 1], angle = apart;
    double sin1 = sin(u1), cos1 = cos(u1), sin2 = sin(u2), cos2 = cos(u2);
    double sin_s = 0, cos_s = 0, sigma = 0, cos_aa = 0, cos_2m = 0;
    for (int turn = 0; turn < 100; turn++) {
      double sin_l = sin(angle), cos_l = cos(angle), across = cos2 * sin_l, along = cos1 * sin2 - sin1 * cos2 * cos_l;
      sin_s = sqrt(across * across + along * along);
      if (sin_s == 0) break;
      cos_s = sin1 * sin2 + cos1 * cos2 * cos_l;
      sigma = atan2(sin_s, cos_s);
      double sin_a = cos1 * cos2 * sin_l / sin_s;
      cos_aa = 1 - sin_a * sin_a;
      cos_2m = cos_aa > 0 ? cos_s - 2 * sin1 * sin2 / cos_aa : 0;
      double c = flattening / 16 * cos_aa * (4 + flattening * (4 - 3 * cos_aa)), before = angle;
      angle = apart + (1 - c) * flattening * sin_a * (
                sigma + c * sin_s * (cos_2m + c * cos_s * (2 * cos_2m * cos_2m - 1)));
      if (fabs(angle - before) < 1e-12) break;
    }
    if (sin_s == 0) {
      lengths[i] = 0;
    } else {
      double uu = cos_aa * (axis * axis - minor_axis * minor_axis) / (minor_axis * minor_axis);
      double a = 1 + uu / 16384 * (4096 + uu * (-768 + uu * (320 - 175 * uu)));
      double b = uu / 1024 * (256 + uu * (-128 + uu * (74 - 47 * uu)));
      double rest = cos_s * (2 * cos_2m * cos_2m - 1);
      rest -= b / 6 * cos_2m * (4 * sin_s * sin_s - 3) * (4 * cos_2m * cos_2m - 3);
      lengths[i] = minor_axis * a * (sigma - b * sin_s * (cos_2m + b / 4 * rest));
    }
""",
)

LINES = each(
    """simplified_lines(const int *__restrict__ points, const int *__restrict__ starts, int tolerance,
                     unsigned char *__restrict__ kept, int n)""",
    """
    int stack[128][2], depth = 1;
    INDEX begin = starts[i], end = starts[i + 1] - 1;
    for (INDEX k = begin; k <= end; k++)
      kept[k] = 0;
    kept[begin] = kept[end] = 1;
    stack[0][0] = begin;
    stack[0][1] = end;
    while (depth > 0) {
      depth--;
      INDEX first = stack[depth][0], last = stack[depth][1], place = first;
      long long x0 = points[2 * first], y0 = points[2 * first + 1];
      long long dx = points[2 * last] - x0, dy = points[2 * last + 1] - y0, farthest = -1;
      for (INDEX k = first + 1; k < last; k++) {
        long long off = dx * (points[2 * k + 1] - y0) - dy * (points[2 * k] - x0);
        off = off < 0 ? -off : off;
        if (off > farthest) {
          farthest = off;
          place = k;
        }
      }
      if (farthest >= 0 && farthest * farthest > (long long)tolerance * tolerance * (dx * dx + dy * dy)) {
        kept[place] = 1;
        stack[depth][0] = first;
        stack[depth][1] = place;
        stack[depth + 1][0] = place;
        stack[depth + 1][1] = last;
        depth += 2;
      }
    }
""",
    schedule=" schedule(dynamic, 64)",
)

KERNELS = [
    Kernel(
        "beams over a grid", occupancy_beams, "int32[:,::1], int32[:,::1], int32[:,::1]", 128, beams_problem,
        gpu=500_009, host=10_007, test=301, kind="irregular", **BEAMS,
    ),
    Kernel(
        "triangles in boxes", clipped_areas, "float32[:,:,::1], float32[:,::1], float32[::1]", 128, clipped_problem,
        gpu=2_000_003, host=100_003, test=301, kind="irregular", **CLIPPED,
    ),
    Kernel(
        "drops that run down", flow_walks, "uint8[:,::1], int8[:,::1], int32[:,::1]", (32, 8), flow_problem,
        gpu=2003, host=301, test=61, power=2, kind="irregular", **FLOW,
    ),
    Kernel(
        "geohashes", geohash_codes, "float64[::1], float64[::1], uint8[::1], uint8[:,::1]", 256, geohash_problem,
        gpu=5_000_011, host=100_003, test=503, **GEOHASH,
    ),
    Kernel(
        "geodesics of an ellipsoid", geodesic_lengths, "float64[:,::1], float64[::1]", 128, geodesic_problem,
        gpu=1_000_003, host=30_011, test=503, **GEODESIC,
    ),
    Kernel(
        "lines made simpler", simplified_lines, "int32[:,::1], int32[::1], pyint, uint8[::1]", 64, lines_problem,
        gpu=200_003, host=10_007, test=203, kind="irregular", **LINES,
    ),
]  # fmt: skip
