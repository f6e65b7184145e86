"""Textures: blocks of a JPEG, nearest seeds, blocks of four by four pixels compressed."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, float32, int32


def jpeg_blocks(coefficients, steps, zigzag, cosines, image):
    """Blocks of a JPEG back to pixels: steps of each frequency, zigzag order, cosines along rows and
    columns; 4 a block.
    """
    part = cuda.shared.array((4, 8, 8), float32)
    half = cuda.shared.array((4, 8, 8), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    z = cuda.threadIdx.z
    block = cuda.blockIdx.x * 4 + z
    inside = block < coefficients.shape[0]
    if inside:
        k = y * 8 + x
        place = zigzag[k]
        part[z, place // 8, place % 8] = float32(int(coefficients[block, k]) * int(steps[k]))
    cuda.syncthreads()
    if inside:
        total = float32(0)
        for u in range(8):
            total += cosines[u, x] * part[z, y, u]
        half[z, y, x] = total
    cuda.syncthreads()
    if inside:
        total = float32(0)
        for v in range(8):
            total += cosines[v, y] * half[z, v, x]
        across = image.shape[1] // 8
        level = min(max(total + float32(128), 0), 255)
        image[block // across * 8 + y, block % across * 8 + x] = int(level + float32(0.5))


def jump_flood(seeds, stride, out):
    """A step of jump flooding: the nearest of the seeds that nine pixels know (y * cols + x; -1: none)."""
    col, row = cuda.grid(2)
    rows, cols = seeds.shape
    if row >= rows or col >= cols:
        return
    best = -1
    least = 1 << 40
    for dy in (-stride, 0, stride):
        y = row + dy
        if y < 0 or y >= rows:
            continue
        for dx in (-stride, 0, stride):
            x = col + dx
            if 0 <= x < cols:
                seed = int(seeds[y, x])
                if seed >= 0:
                    sy, sx = divmod(seed, cols)
                    distance = (row - sy) * (row - sy) + (col - sx) * (col - sx)
                    if distance < least:
                        least = distance
                        best = seed
    out[row, col] = best


def packed565(r, g, b):
    return (r >> 3 << 11) | (g >> 2 << 5) | (b >> 3)


def unpacked565(code):
    r = code >> 11 & 31
    g = code >> 5 & 63
    b = code & 31
    return r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2


def texture_blocks(image, blocks):
    """BC1: 4x4 pixels in 64 bits, two colours at the ends of their box and two bits a pixel; a thread a block."""
    bx, by = cuda.grid(2)
    if by >= blocks.shape[0] or bx >= blocks.shape[1]:
        return
    low_r = low_g = low_b = 255
    high_r = high_g = high_b = 0
    for y in range(4):
        for x in range(4):
            r, g, b = image[4 * by + y, 4 * bx + x]
            low_r, low_g, low_b = min(low_r, int(r)), min(low_g, int(g)), min(low_b, int(b))
            high_r, high_g, high_b = max(high_r, int(r)), max(high_g, int(g)), max(high_b, int(b))
    first = packed565(high_r, high_g, high_b)
    last = packed565(low_r, low_g, low_b)
    bits = 0
    if first != last:
        palette = cuda.local.array((4, 3), int32)
        palette[0, 0], palette[0, 1], palette[0, 2] = unpacked565(first)
        palette[1, 0], palette[1, 1], palette[1, 2] = unpacked565(last)
        for c in range(3):
            palette[2, c] = (2 * palette[0, c] + palette[1, c]) // 3
            palette[3, c] = (palette[0, c] + 2 * palette[1, c]) // 3
        for y in range(4):
            for x in range(4):
                best = 0
                least = 1 << 30
                for k in range(4):
                    distance = 0
                    for c in range(3):
                        d = int(image[4 * by + y, 4 * bx + x, c]) - palette[k, c]
                        distance += d * d
                    if distance < least:
                        least = distance
                        best = k
                bits |= best << 2 * (4 * y + x)
    blocks[by, bx, 0] = first | last << 16
    blocks[by, bx, 1] = bits


def zigzag_order():
    cells = [(y, x) for y in range(8) for x in range(8)]
    cells.sort(key=lambda c: (c[0] + c[1], c[0] if (c[0] + c[1]) % 2 else c[1]))
    return np.array([8 * y + x for y, x in cells], np.uint8)


def jpeg_problem(rng, n):
    down, across = n, n + 5
    count = down * across
    fading = np.exp(-np.arange(64) / 9)
    coefficients = (rng.standard_normal((count, 64), np.float32) * (60 * fading).astype(np.float32)).astype(np.int16)
    steps = (8 + 1.2 * np.arange(64)).astype(np.int16)
    zigzag = zigzag_order()
    u, x = np.ogrid[:8, :8]
    cosines = (np.cos((2 * x + 1) * u * math.pi / 16) / np.where(u, 2, math.sqrt(8))).astype(np.float32)

    def expected():
        at = sampled(rng, down, 100)
        chosen = coefficients.reshape(down, across, 64)[at].reshape(-1, 64)
        spectrum = np.zeros(chosen.shape)
        spectrum[:, zigzag] = chosen * steps.astype(float)
        blocks = np.einsum("bvu,ux,vy->byx", spectrum.reshape(-1, 8, 8), *[cosines.astype(float)] * 2, optimize=True)
        values = np.clip(blocks + 128, 0, 255).reshape(len(at), across, 8, 8).transpose(0, 2, 1, 3)
        # Rounded to a byte, after sums of 16 products of up to some thousand.
        lines = (8 * at[:, None] + np.arange(8)).ravel()
        return [(lines, values.reshape(-1, 8 * across), 0.5 + 20 * EPS32 * 8000)]

    args = (coefficients, steps, zigzag, cosines, np.zeros((8 * down, 8 * across), np.uint8))
    return Problem(
        args, (count, 8 * across), (4,), expected, grid=-(-count // 4), bytes=192.0 * count, flops=64.0 * 32 * count,
    )  # fmt: skip


def flood_problem(rng, n):
    rows, cols, stride = n, n + 3, 5
    seeds = np.full((rows, cols), -1, np.int32)
    places = rng.integers(0, rows * cols, rows * cols // 8)
    near_row = np.clip(places // cols + rng.integers(-9, 10, places.size), 0, rows - 1)
    near_col = np.clip(places % cols + rng.integers(-9, 10, places.size), 0, cols - 1)
    seeds.ravel()[places] = near_row * cols + near_col

    def expected():
        at = sampled(rng, rows, 600)
        row, col = np.meshgrid(at, np.arange(cols), indexing="ij")
        best, least = np.full(row.shape, -1), np.full(row.shape, 1 << 40)
        wide = np.pad(seeds, stride, constant_values=-1).astype(int)
        for dy in (0, stride, 2 * stride):
            for dx in (0, stride, 2 * stride):
                seed = wide[at + dy, dx : dx + cols]
                distance = np.where(seed < 0, 1 << 41, (row - seed // cols) ** 2 + (col - seed % cols) ** 2)
                best, least = np.where(distance < least, seed, best), np.minimum(distance, least)
        return [(at, best, 0)]

    args = (seeds, stride, np.zeros((rows, cols), np.int32))
    return Problem(args, (rows, cols), (2,), expected, threads=(cols, rows), bytes=8.0 * rows * cols)


def texture_problem(rng, n):
    down, across = n, n + 9
    rows, cols = 4 * down, 4 * across
    base = np.repeat(np.repeat(rng.integers(0, 200, (down, across, 3), np.uint8), 4, 0), 4, 1)
    noise = rng.integers(0, 50, (rows, cols, 1), np.uint8) + rng.integers(0, 6, (rows, cols, 3), np.uint8)
    flat = np.repeat(np.repeat(rng.random((down, across, 1)) < 0.1, 4, 0), 4, 1)
    image = base + np.where(flat, 0, noise).astype(np.uint8)

    def expected():
        at = sampled(rng, down, 150)
        tiles = image.reshape(down, 4, across, 4, 3)[at].transpose(0, 2, 1, 3, 4)
        tiles = tiles.reshape(len(at), across, 16, 3).astype(np.int32)
        high, low = tiles.max(2), tiles.min(2)
        codes = [c[..., 0] >> 3 << 11 | c[..., 1] >> 2 << 5 | c[..., 2] >> 3 for c in (high, low)]
        ends = []
        for code in codes:
            r, g, b = code >> 11, code >> 5 & 63, code & 31
            ends.append(np.stack([r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2], -1))
        palette = np.stack([*ends, (2 * ends[0] + ends[1]) // 3, (ends[0] + 2 * ends[1]) // 3], 2)
        chosen = ((tiles[:, :, None] - palette[:, :, :, None]) ** 2).sum(-1).argmin(2)
        bits = (chosen.astype(np.uint64) << (2 * np.arange(16)).astype(np.uint64)).sum(-1)
        bits = np.where(codes[0] == codes[1], 0, bits)
        return [(at, np.stack([codes[0] | codes[1].astype(np.int64) << 16, bits], 2).astype(np.uint32), 0)]

    args = (image, np.zeros((down, across, 2), np.uint32))
    return Problem(args, (down, across), (1,), expected, threads=(across, down), bytes=56.0 * down * across)


JPEG_HEAD = """jpeg_blocks(const short *__restrict__ coefficients, const short *__restrict__ steps,
                 const unsigned char *__restrict__ zigzag, const float *__restrict__ cosines,
                 unsigned char *__restrict__ image, int count, int cols)"""
JPEG = indexed(
    f"""
__global__ void {JPEG_HEAD} {{
  __shared__ float part[4][8][8], half[4][8][8];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  INDEX block = blockIdx.x * (INDEX)4 + z;
  bool inside = block < count;
  if (inside) {{
    int k = y * 8 + x, place = zigzag[k];
    part[z][place / 8][place % 8] = coefficients[block * 64 + k] * steps[k];
  }}
  __syncthreads();
  if (inside) {{
    float total = 0;
    for (int u = 0; u < 8; u++)
      total += cosines[u * 8 + x] * part[z][y][u];
    half[z][y][x] = total;
  }}
  __syncthreads();
  if (inside) {{
    float total = 0;
    for (int v = 0; v < 8; v++)
      total += cosines[v * 8 + y] * half[z][v][x];
    INDEX across = cols / 8;
    float level = fminf(fmaxf(total + 128.0f, 0), 255);
    image[(block / across * 8 + y) * cols + block % across * 8 + x] = (unsigned char)(level + 0.5f);
  }}
}}
""",
    f"""
void {JPEG_HEAD} {{
#pragma omp parallel for
  for (INDEX block = 0; block < count; block++) {{
    float part[8][8], half[8][8];
    unsigned char *corner = image + (long)(block / (cols / 8)) * 8 * cols + block % (cols / 8) * 8;
    for (INDEX k = 0; k < 64; k++)
      part[zigzag[k] / 8][zigzag[k] % 8] = coefficients[block * 64 + k] * steps[k];
    for (INDEX y = 0; y < 8; y++)
      for (INDEX x = 0; x < 8; x++) {{
        float total = 0;
        for (INDEX u = 0; u < 8; u++)
          total += cosines[u * 8 + x] * part[y][u];
        half[y][x] = total;
      }}
    for (INDEX y = 0; y < 8; y++)
      for (INDEX x = 0; x < 8; x++) {{
        float total = 0;
        for (INDEX v = 0; v < 8; v++)
          total += cosines[v * 8 + y] * half[v][x];
        float level = fminf(fmaxf(total + 128.0f, 0), 255);
        corner[y * cols + x] = (unsigned char)(level + 0.5f);
      }}
  }}
}}
""",
)

FLOOD = plane(
    "jump_flood(const int *__restrict__ seeds, int stride, int *__restrict__ out, int rows, int cols)",
    """
    INDEX best = -1, least = 1 << 30;
    for (INDEX dy = -stride; dy <= stride; dy += stride) {
      INDEX y = row + dy;
      if (y < 0 || y >= rows) continue;
      for (INDEX dx = -stride; dx <= stride; dx += stride) {
        INDEX x = col + dx;
        if (0 <= x && x < cols) {
          INDEX seed = seeds[y * cols + x];
          if (seed >= 0) {
            INDEX sy = seed / cols, sx = seed % cols;
            INDEX distance = (row - sy) * (row - sy) + (col - sx) * (col - sx);
            if (distance < least) {
              least = distance;
              best = seed;
            }
          }
        }
      }
    }
    out[row * cols + col] = best;
""",
)

TEXTURE = plane(
    "texture_blocks(const unsigned char *__restrict__ image, unsigned *__restrict__ blocks, int down, int across)",
    """
    INDEX pitch = (INDEX)across * 12;
    const unsigned char *tile = image + row * 4 * pitch + col * 12;
    int low[3] = {255, 255, 255}, high[3] = {0, 0, 0};
    for (int y = 0; y < 4; y++)
      for (int x = 0; x < 4; x++)
        for (int c = 0; c < 3; c++) {
          int v = tile[y * pitch + 3 * x + c];
          low[c] = MIN(low[c], v);
          high[c] = MAX(high[c], v);
        }
    int first = high[0] >> 3 << 11 | high[1] >> 2 << 5 | high[2] >> 3;
    int last = low[0] >> 3 << 11 | low[1] >> 2 << 5 | low[2] >> 3;
    unsigned bits = 0;
    if (first != last) {
      int palette[4][3];
      for (int k = 0; k < 2; k++) {
        int code = k ? last : first, r = code >> 11 & 31, g = code >> 5 & 63, b = code & 31;
        palette[k][0] = r << 3 | r >> 2;
        palette[k][1] = g << 2 | g >> 4;
        palette[k][2] = b << 3 | b >> 2;
      }
      for (int c = 0; c < 3; c++) {
        palette[2][c] = (2 * palette[0][c] + palette[1][c]) / 3;
        palette[3][c] = (palette[0][c] + 2 * palette[1][c]) / 3;
      }
      for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++) {
          int best = 0, least = 1 << 30;
          for (int k = 0; k < 4; k++) {
            int distance = 0;
            for (int c = 0; c < 3; c++) {
              int d = tile[y * pitch + 3 * x + c] - palette[k][c];
              distance += d * d;
            }
            if (distance < least) {
              least = distance;
              best = k;
            }
          }
          bits |= (unsigned)best << 2 * (4 * y + x);
        }
    }
    blocks[2 * (row * across + col)] = first | (unsigned)last << 16;
    blocks[2 * (row * across + col) + 1] = bits;
""",
    rows="down",
    cols="across",
)

KERNELS = [
    Kernel(
        "blocks of a JPEG", jpeg_blocks, "int16[:,::1], int16[::1], uint8[::1], float32[:,::1], uint8[:,::1]",
        (8, 8, 4),
        jpeg_problem,
        gpu=1003, host=101, test=3, power=2, kind="shared", **JPEG,
    ),
    Kernel(
        "jump flooding", jump_flood, "int32[:,::1], pyint, int32[:,::1]", (32, 8), flood_problem,
        gpu=3001, host=501, test=61, power=2, kind="stencil", **FLOOD,
    ),
    Kernel(
        "textures as BC1", texture_blocks, "uint8[:,:,::1], uint32[:,:,::1]", (32, 4), texture_problem,
        gpu=1501, host=151, test=23, power=2, **TEXTURE,
    ),
]  # fmt: skip
