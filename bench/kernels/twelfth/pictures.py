"""Pictures: QOI streams, errors that diffuse, blocks that move, colours through a cube of colours."""

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed, plane
from pyptx import cuda, int16, uint32


def qoi_pixels(data, starts, pixels):
    """Tiles of QOI's format, a stream of bytes each: runs, small differences, and colours seen lately, by a hash."""
    i = cuda.grid(1)
    if i >= pixels.shape[1]:
        return
    seen = cuda.local.array(64, uint32)
    for k in range(64):
        seen[k] = 0
    r, g, b, a = 0, 0, 0, 255
    place = starts[i]
    run = 0
    for p in range(pixels.shape[0]):
        if run > 0:
            run -= 1
        else:
            tag = int(data[place])
            place += 1
            if tag == 254:
                r, g, b = int(data[place]), int(data[place + 1]), int(data[place + 2])
                place += 3
            elif tag == 255:
                r, g, b, a = int(data[place]), int(data[place + 1]), int(data[place + 2]), int(data[place + 3])
                place += 4
            elif tag >> 6 == 0:
                colour = int(seen[tag])
                r, g, b, a = colour & 255, colour >> 8 & 255, colour >> 16 & 255, colour >> 24
            elif tag >> 6 == 1:
                r = r + (tag >> 4 & 3) - 2 & 255
                g = g + (tag >> 2 & 3) - 2 & 255
                b = b + (tag & 3) - 2 & 255
            elif tag >> 6 == 2:
                green = (tag & 63) - 32
                others = int(data[place])
                place += 1
                r = r + green - 8 + (others >> 4) & 255
                g = g + green & 255
                b = b + green - 8 + (others & 15) & 255
            else:
                run = tag & 63
            seen[(3 * r + 5 * g + 7 * b + 11 * a) % 64] = r | g << 8 | b << 16 | a << 24
        pixels[p, i] = r | g << 8 | b << 16 | a << 24


def dithered_strips(image, dithered):
    """Floyd and Steinberg's dither of strips of 32 rows: each row is two pixels behind the one above, whose errors it takes."""
    errors = cuda.shared.array((33, 514), int16)
    r = cuda.threadIdx.x
    row = cuda.blockIdx.x * 32 + r
    rows, cols = image.shape
    for k in range(r, 33 * 514, 32):
        errors[k // 514, k % 514] = 0
    cuda.syncthreads()
    ahead = 0
    for t in range(cols + 62):
        c = t - 2 * r
        if 0 <= c < cols and row < rows:
            value = int(image[row, c]) + (ahead + int(errors[r, c + 1]) >> 4)
            white = 255 if value > 127 else 0
            dithered[row, c] = white
            error = value - white
            ahead = 7 * error
            errors[r + 1, c] += 3 * error
            errors[r + 1, c + 1] += 5 * error
            errors[r + 1, c + 2] += error
        cuda.syncthreads()


LARGE = ((0, -2), (1, -1), (2, 0), (1, 1), (0, 2), (-1, 1), (-2, 0), (-1, -1))
SMALL = ((0, -1), (1, 0), (0, 1), (-1, 0))


def block_difference(now, before, y, x, dy, dx, limit):
    """The sum of absolute differences of a block of 8 x 8 pixels, or something not below the limit."""
    rows, cols = now.shape
    if y + dy < 0 or x + dx < 0 or y + dy + 8 > rows or x + dx + 8 > cols:
        return limit
    total = 0
    for r in range(8):
        for c in range(8):
            total += abs(int(now[y + r, x + c]) - int(before[y + dy + r, x + dx + c]))
        if total >= limit:
            break
    return total


def diamond_motion(now, before, steps, motion, costs):
    """Where blocks of 8 x 8 pixels came from: a large diamond of places walks downhill, a small one ends it."""
    bx, by = cuda.grid(2)
    if by >= costs.shape[0] or bx >= costs.shape[1]:
        return
    y, x = 8 * by, 8 * bx
    dy = dx = 0
    best = block_difference(now, before, y, x, 0, 0, 1 << 20)
    for _ in range(steps):
        to_y, to_x = dy, dx
        for oy, ox in LARGE:
            cost = block_difference(now, before, y, x, dy + oy, dx + ox, best)
            if cost < best:
                best = cost
                to_y, to_x = dy + oy, dx + ox
        if to_y == dy and to_x == dx:
            break
        dy, dx = to_y, to_x
    to_y, to_x = dy, dx
    for oy, ox in SMALL:
        cost = block_difference(now, before, y, x, dy + oy, dx + ox, best)
        if cost < best:
            best = cost
            to_y, to_x = dy + oy, dx + ox
    motion[by, bx, 0] = to_y
    motion[by, bx, 1] = to_x
    costs[by, bx] = best


def graded_colours(colours, cube, graded):
    """Colours through a cube of colours: the tetrahedron around each, its corners weighted by the fractions in their order."""
    size = cube.shape[0]
    for i in range(cuda.grid(1), colours.shape[0], cuda.gridsize(1)):
        x = min(max(colours[i, 0], 0), 1) * (size - 1)
        y = min(max(colours[i, 1], 0), 1) * (size - 1)
        z = min(max(colours[i, 2], 0), 1) * (size - 1)
        ix, iy, iz = min(int(x), size - 2), min(int(y), size - 2), min(int(z), size - 2)
        fx, fy, fz = x - ix, y - iy, z - iz
        if fx >= fy:
            if fy >= fz:
                one, two, most, middle, least = (1, 0, 0), (1, 1, 0), fx, fy, fz
            elif fx >= fz:
                one, two, most, middle, least = (1, 0, 0), (1, 0, 1), fx, fz, fy
            else:
                one, two, most, middle, least = (0, 0, 1), (1, 0, 1), fz, fx, fy
        elif fx >= fz:
            one, two, most, middle, least = (0, 1, 0), (1, 1, 0), fy, fx, fz
        elif fy >= fz:
            one, two, most, middle, least = (0, 1, 0), (0, 1, 1), fy, fz, fx
        else:
            one, two, most, middle, least = (0, 0, 1), (0, 1, 1), fz, fy, fx
        for c in range(3):
            graded[i, c] = (
                (1 - most) * cube[ix, iy, iz, c]
                + (most - middle) * cube[ix + one[0], iy + one[1], iz + one[2], c]
                + (middle - least) * cube[ix + two[0], iy + two[1], iz + two[2], c]
                + least * cube[ix + 1, iy + 1, iz + 1, c]
            )


def qoi_stream(pixels):
    """The bytes of a list of (r, g, b, a)."""
    seen, last, run, out = [(0, 0, 0, 0)] * 64, (0, 0, 0, 255), 0, []
    for k, p in enumerate(pixels):
        if p == last:
            run += 1
            if run == 62 or k == len(pixels) - 1:
                out.append(0xC0 | run - 1)
                run = 0
            continue
        if run:
            out.append(0xC0 | run - 1)
            run = 0
        slot = (3 * p[0] + 5 * p[1] + 7 * p[2] + 11 * p[3]) % 64
        dr, dg, db = ((x - y + 128) % 256 - 128 for x, y in zip(p[:3], last))
        if seen[slot] == p:
            out.append(slot)
        elif p[3] != last[3]:
            out += [255, *p]
        elif all(-2 <= d <= 1 for d in (dr, dg, db)):
            out.append(0x40 | dr + 2 << 4 | dg + 2 << 2 | db + 2)
        elif -32 <= dg <= 31 and -8 <= dr - dg <= 7 and -8 <= db - dg <= 7:
            out += [0x80 | dg + 32, dr - dg + 8 << 4 | db - dg + 8]
        else:
            out += [254, *p[:3]]
        seen[slot] = last = p
    return bytes(out)


def qoi_problem(rng, n):
    count, kinds = 16 * 16, min(n, 200)
    pictures = np.zeros((kinds, count, 4), int)
    for picture in pictures:
        palette = rng.integers(0, 256, (5, 4))
        palette[:, 3] = rng.choice([255, 255, 255, 100], 5)
        which = np.repeat(rng.integers(0, 5, count), rng.integers(1, 20, count))[:count]
        smooth = np.cumsum(rng.integers(-2, 3, (count, 4)) * rng.choice([0, 1, 4], (count, 1)), 0) * [1, 1, 1, 0]
        picture[:] = (palette[which] + smooth * rng.integers(0, 2)) & 255
    streams = [qoi_stream([tuple(p) for p in picture.tolist()]) for picture in pictures]
    which = rng.integers(0, kinds, n)
    sizes = np.array([len(s) for s in streams])[which]
    starts = (np.cumsum(sizes) - sizes).astype(np.int32)
    data = np.frombuffer(b"".join(streams[k] for k in which), np.uint8).copy()

    def expected():
        words = (pictures << 8 * np.arange(4)).sum(2).astype(np.uint32)
        return [(slice(None), words[which].T, 0)]

    args = (data, starts, np.full((count, n), 99, np.uint32))
    return Problem(args, (count, n), (2,), expected, threads=n, bytes=data.size + 4.0 * count * n, flops=15.0 * count * n)


def dithered_problem(rng, n):
    rows, cols = n, 487
    y, x = np.mgrid[:rows, :cols]
    image = np.clip(128 + 90 * np.sin(x / 37) * np.cos(y / 23) + rng.normal(0, 8, (rows, cols)), 0, 255).astype(np.uint8)

    def expected():
        strips = sampled(rng, rows // 32, 20) if rows >= 32 else np.zeros(0, int)
        above, values = np.zeros((len(strips), cols + 2), int), []
        for r in range(32):
            line, below, ahead = image[32 * strips + r].astype(int), np.zeros_like(above), 0
            for c in range(cols):
                value = line[:, c] + (ahead + above[:, c + 1] >> 4)
                line[:, c] = np.where(value > 127, 255, 0)
                error = value - line[:, c]
                ahead = 7 * error
                below[:, c : c + 3] += error[:, None] * [3, 5, 1]
            above = below
            values.append(line)
        index = (32 * strips[:, None] + np.arange(32)).ravel()
        return [(index, np.stack(values, 1).reshape(-1, cols), 0)]

    args = (image, np.full((rows, cols), 99, np.uint8))
    return Problem(args, (rows, cols), (1,), expected, grid=-(-rows // 32), bytes=2.0 * rows * cols, flops=15.0 * rows * cols)


def motion_problem(rng, n):
    rows, cols, steps = 8 * n, 8 * (n + n // 3), 9
    margin = 16
    y, x = np.mgrid[: rows + 2 * margin, : cols + 2 * margin]
    scene = 128 + 40 * np.sin(x / 9 + y / 31) + 40 * np.cos(y / 7 - x / 25) + 30 * np.sin(x / 61) * np.sin(y / 53)
    scene = scene + rng.normal(0, 4, scene.shape)
    before = scene[margin:-margin, margin:-margin]
    shift_y, shift_x = (5 * np.sin(y / 90 + 1)).astype(int), (6 * np.cos(x / 110)).astype(int)
    now = scene[y + shift_y.clip(-5, 5) * (y > 9) * (y < rows + 9), x + shift_x.clip(-6, 6) * (x > 9) * (x < cols + 9)]
    now = now[margin:-margin, margin:-margin] + rng.normal(0, 2, (rows, cols))
    now, before = (np.clip(v, 0, 255).astype(np.uint8) for v in (now, before))
    blocks = rows // 8, cols // 8

    def expected():
        at = sampled(rng, blocks[0] * blocks[1], 500)
        ys, xs = at // blocks[1], at % blocks[1]
        a, b, found = now.astype(int), before.astype(int), []

        def cost(y, x, dy, dx):
            if not (0 <= y + dy <= rows - 8 and 0 <= x + dx <= cols - 8):
                return 1 << 30
            return np.abs(a[y : y + 8, x : x + 8] - b[y + dy : y + dy + 8, x + dx : x + dx + 8]).sum()

        for y, x in zip(8 * ys, 8 * xs):
            best = cost(y, x, 0, 0), 0, 0
            for offsets in (LARGE,) * steps + (SMALL,):
                tried = [(cost(y, x, best[1] + oy, best[2] + ox), best[1] + oy, best[2] + ox) for oy, ox in offsets]
                better = min(tried, key=lambda t: t[0])
                if better[0] < best[0]:
                    best = better
                elif offsets is LARGE:
                    continue
            found.append(best)
        found = np.array(found)
        return [((ys, xs), found[:, 1:], 0), ((ys, xs), found[:, 0], 0)]

    args = (now, before, steps, np.full((*blocks, 2), 99, np.int8), np.full(blocks, -1, np.int32))
    return Problem(
        args, (rows, cols, *blocks), (3, 4), expected, threads=(blocks[1], blocks[0]), bytes=2.0 * rows * cols, flops=20 * 3.0 * rows * cols
    )


def graded_problem(rng, n):
    size = 33
    axis = np.linspace(0, 1, size)
    cube = np.stack(np.meshgrid(axis**0.8, axis**1.2, axis, indexing="ij"), 3)
    cube = (cube @ [[0.9, 0.1, 0], [0.05, 0.9, 0.05], [0, 0.15, 0.85]]).astype(np.float32)
    colours = rng.uniform(-0.02, 1.02, (n, 3)).astype(np.float32)

    def expected():
        at = sampled(rng, n, 20000)
        x = np.clip(colours[at].astype(np.float64), 0, 1) * (size - 1)
        whole = np.minimum(x.astype(int), size - 2)
        fraction = x - whole
        order = np.argsort(-fraction, 1, kind="stable")
        corner, value, before = whole.copy(), 0, 1
        for k in range(4):
            weight = np.take_along_axis(fraction, order[:, k : k + 1], 1) if k < 3 else 0
            value = value + (before - weight) * cube[corner[:, 0], corner[:, 1], corner[:, 2]]
            before = weight
            if k < 3:
                corner[np.arange(len(at)), order[:, k]] += 1
        # Places are rounded to EPS32 / 2 of up to 32; a step of the cube changes colours by less than 0.2.
        return [(at, value, 0.2 * 3 * 32 * EPS32 + 5 * EPS32)]

    args = (colours, cube, np.full((n, 3), -1, np.float32))
    return Problem(args, (n, size), (2,), expected, grid=1056, bytes=24.0 * n, flops=40.0 * n)


QOI = each(
    """qoi_pixels(const unsigned char *__restrict__ data, const int *__restrict__ starts, unsigned *__restrict__ pixels, int count,
                int n)""",
    """
    unsigned seen[64] = {0};
    int r = 0, g = 0, b = 0, a = 255, run = 0;
    INDEX place = starts[i];
    for (INDEX p = 0; p < count; p++) {
      if (run > 0)
        run--;
      else {
        int tag = data[place++];
        if (tag == 254 || tag == 255) {
          r = data[place++];
          g = data[place++];
          b = data[place++];
          if (tag == 255) a = data[place++];
        } else if (tag >> 6 == 0) {
          unsigned colour = seen[tag];
          r = colour & 255;
          g = colour >> 8 & 255;
          b = colour >> 16 & 255;
          a = colour >> 24;
        } else if (tag >> 6 == 1) {
          r = (r + (tag >> 4 & 3) - 2) & 255;
          g = (g + (tag >> 2 & 3) - 2) & 255;
          b = (b + (tag & 3) - 2) & 255;
        } else if (tag >> 6 == 2) {
          int green = (tag & 63) - 32, others = data[place++];
          r = (r + green - 8 + (others >> 4)) & 255;
          g = (g + green) & 255;
          b = (b + green - 8 + (others & 15)) & 255;
        } else
          run = tag & 63;
        seen[(3 * r + 5 * g + 7 * b + 11 * a) % 64] = r | g << 8 | b << 16 | (unsigned)a << 24;
      }
      pixels[p * n + i] = r | g << 8 | b << 16 | (unsigned)a << 24;
    }
""",
)

DITHERED_HEAD = "dithered_strips(const unsigned char *__restrict__ image, unsigned char *__restrict__ dithered, int rows, int cols)"
DITHERED_BODY = """
      int value = image[row * cols + c] + ((ahead + errors[r][c + 1]) >> 4), white = value > 127 ? 255 : 0, error = value - white;
      dithered[row * cols + c] = white;
      ahead = 7 * error;
      errors[r + 1][c] += 3 * error;
      errors[r + 1][c + 1] += 5 * error;
      errors[r + 1][c + 2] += error;
"""
DITHERED = indexed(
    f"""
__global__ void {DITHERED_HEAD} {{
  __shared__ short errors[33][514];
  int r = threadIdx.x;
  INDEX row = blockIdx.x * (INDEX)32 + r;
  for (int k = r; k < 33 * 514; k += 32)
    errors[k / 514][k % 514] = 0;
  __syncthreads();
  int ahead = 0;
  for (INDEX t = 0; t < cols + 62; t++) {{
    INDEX c = t - 2 * r;
    if (0 <= c && c < cols && row < rows) {{{DITHERED_BODY}    }}
    __syncthreads();
  }}
}}
""",
    f"""
void {DITHERED_HEAD} {{
#pragma omp parallel for
  for (INDEX strip = 0; strip < rows; strip += 32) {{
    short errors[33][514] = {{{{0}}}};
    for (INDEX row = strip; row < MIN(strip + 32, rows); row++) {{
      int ahead = 0, r = row - strip;
      for (INDEX c = 0; c < cols; c++) {{{DITHERED_BODY}      }}
    }}
  }}
}}
""",
)

MOTION = plane(
    """diamond_motion(const unsigned char *__restrict__ now, const unsigned char *__restrict__ before, int steps,
                    signed char *__restrict__ motion, int *__restrict__ costs, int height, int width, int rows, int cols)""",
    """
    const int large[8][2] = {{0, -2}, {1, -1}, {2, 0}, {1, 1}, {0, 2}, {-1, 1}, {-2, 0}, {-1, -1}};
    const int small[4][2] = {{0, -1}, {1, 0}, {0, 1}, {-1, 0}};
    INDEX y = 8 * row, x = 8 * col, dy = 0, dx = 0, to_y = 0, to_x = 0;
    int best = motion_difference(now, before, height, width, y, x, 0, 0, 1 << 20);
    for (int step = 0; step < steps; step++) {
      for (int k = 0; k < 8; k++) {
        int cost = motion_difference(now, before, height, width, y, x, dy + large[k][0], dx + large[k][1], best);
        if (cost < best) {
          best = cost;
          to_y = dy + large[k][0];
          to_x = dx + large[k][1];
        }
      }
      if (to_y == dy && to_x == dx) break;
      dy = to_y;
      dx = to_x;
    }
    for (int k = 0; k < 4; k++) {
      int cost = motion_difference(now, before, height, width, y, x, dy + small[k][0], dx + small[k][1], best);
      if (cost < best) {
        best = cost;
        to_y = dy + small[k][0];
        to_x = dx + small[k][1];
      }
    }
    motion[(row * cols + col) * 2] = to_y;
    motion[(row * cols + col) * 2 + 1] = to_x;
    costs[row * cols + col] = best;
""",
    before="""
DEVICE int motion_difference(const unsigned char *now, const unsigned char *before, INDEX rows, INDEX cols, INDEX y, INDEX x,
                             INDEX dy, INDEX dx, int limit) {
  if (y + dy < 0 || x + dx < 0 || y + dy + 8 > rows || x + dx + 8 > cols) return limit;
  int total = 0;
  for (INDEX r = 0; r < 8 && total < limit; r++)
    for (INDEX c = 0; c < 8; c++) {
      int d = now[(y + r) * cols + x + c] - before[(y + dy + r) * cols + x + dx + c];
      total += d < 0 ? -d : d;
    }
  return total;
}
""",
)

GRADED_HEAD = """graded_colours(const float *__restrict__ colours, const float *__restrict__ cube, float *__restrict__ graded, int n,
                    int size)"""
GRADED_BODY = """
    float x = fminf(fmaxf(colours[3 * i], 0), 1) * (size - 1), y = fminf(fmaxf(colours[3 * i + 1], 0), 1) * (size - 1);
    float z = fminf(fmaxf(colours[3 * i + 2], 0), 1) * (size - 1);
    int ix = MIN((int)x, size - 2), iy = MIN((int)y, size - 2), iz = MIN((int)z, size - 2);
    float fx = x - ix, fy = y - iy, fz = z - iz, most, middle, least;
    int X = size * size * 3, Y = size * 3, Z = 3, one, two;
    if (fx >= fy) {
      if (fy >= fz)
        one = X, two = X + Y, most = fx, middle = fy, least = fz;
      else if (fx >= fz)
        one = X, two = X + Z, most = fx, middle = fz, least = fy;
      else
        one = Z, two = X + Z, most = fz, middle = fx, least = fy;
    } else if (fx >= fz)
      one = Y, two = X + Y, most = fy, middle = fx, least = fz;
    else if (fy >= fz)
      one = Y, two = Y + Z, most = fy, middle = fz, least = fx;
    else
      one = Z, two = Y + Z, most = fz, middle = fy, least = fx;
    const float *corner = cube + ((INDEX)(ix * size + iy) * size + iz) * 3;
    for (int c = 0; c < 3; c++)
      graded[3 * i + c] = (1 - most) * corner[c] + (most - middle) * corner[one + c] + (middle - least) * corner[two + c]
        + least * corner[X + Y + Z + c];
"""
GRADED = indexed(
    f"""
__global__ void {GRADED_HEAD} {{
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (INDEX)blockDim.x) {{{GRADED_BODY}  }}
}}
""",
    f"""
void {GRADED_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{GRADED_BODY}  }}
}}
""",
)

KERNELS = [
    Kernel(
        "tiles of QOI", qoi_pixels, "uint8[::1], int32[::1], uint32[:,::1]", 64, qoi_problem, gpu=50_021, host=1003, test=103,
        kind="irregular", **QOI,
    ),
    Kernel(
        "errors that diffuse", dithered_strips, "uint8[:,::1], uint8[:,::1]", 32, dithered_problem, gpu=30_011, host=503, test=103,
        kind="shared", **DITHERED,
    ),
    Kernel(
        "motion of blocks", diamond_motion, "uint8[:,::1], uint8[:,::1], pyint, int8[:,:,::1], int32[:,::1]", (16, 8),
        motion_problem, gpu=201, host=41, test=13, power=2, kind="irregular", **MOTION,
    ),
    Kernel(
        "colours through a cube", graded_colours, "float32[:,::1], float32[:,:,:,::1], float32[:,::1]", 256, graded_problem,
        gpu=5_000_011, host=50_021, test=1003, kind="irregular", **GRADED,
    ),
]  # fmt: skip
