"""Images and fields: bilateral filter, local binary patterns, SRAD, marching squares, components,
Perlin noise.

And the cosine transform of 8 x 8 tiles, the one with shared memory.
"""

import math

import numpy as np
from kernels.declare import EPS32, PLANE, Kernel, Problem, sampled
from kernels.third.texts import sides
from pyptx import cuda, float32

TILE = 8


def bilateral(image, radius, space, tone, out):
    """Mean of the pixels around, weighted by nearness in place and in tone (Tomasi and Manduchi,
    1998).
    """
    j, i = cuda.grid(2)
    rows, cols = image.shape
    if i >= rows or j >= cols:
        return
    centre = image[i, j]
    total = 0.0
    norm = 0.0
    for y in range(max(0, i - radius), min(rows, i + radius + 1)):
        for x in range(max(0, j - radius), min(cols, j + radius + 1)):
            difference = image[y, x] - centre
            weight = math.exp(-space * ((y - i) * (y - i) + (x - j) * (x - j)) - tone * difference * difference)
            total += weight * image[y, x]
            norm += weight
    out[i, j] = total / norm


def local_binary_pattern(image, down, right, out):
    """A bit for each neighbour (offsets in `down` and `right`) that is no darker than the pixel
    (Ojala et al., 1996).
    """
    j, i = cuda.grid(2)
    if 0 < i < image.shape[0] - 1 and 0 < j < image.shape[1] - 1:
        code = 0
        for k in range(down.size):
            if image[i + down[k], j + right[k]] >= image[i, j]:
                code |= 1 << k
        out[i, j] = code


def srad_coefficient(image, q0, out):
    """Diffusion coefficient of speckle reducing anisotropic diffusion (Yu and Acton, 2002;
    Rodinia's srad).
    """
    j, i = cuda.grid(2)
    rows, cols = image.shape
    if i < rows and j < cols:
        here = image[i, j]
        north = image[max(i - 1, 0), j] - here
        south = image[min(i + 1, rows - 1), j] - here
        west = image[i, max(j - 1, 0)] - here
        east = image[i, min(j + 1, cols - 1)] - here
        gradient = (north * north + south * south + west * west + east * east) / (here * here)
        laplacian = (north + south + west + east) / here
        numerator = 0.5 * gradient - 0.0625 * laplacian * laplacian
        denominator = 1.0 + 0.25 * laplacian
        q = numerator / (denominator * denominator)
        coefficient = 1.0 / (1.0 + (q - q0) / (q0 * (1.0 + q0)))
        out[i, j] = min(max(coefficient, 0.0), 1.0)


def marching_squares(field, level, codes, crossing):
    """Each cell's case of 16, and where the contour crosses the cell's upper edge (-1 where it does
    not).
    """
    j, i = cuda.grid(2)
    if i < field.shape[0] - 1 and j < field.shape[1] - 1:
        a, b = field[i, j], field[i, j + 1]
        c, d = field[i + 1, j + 1], field[i + 1, j]
        code = 0
        if a > level:
            code |= 8
        if b > level:
            code |= 4
        if c > level:
            code |= 2
        if d > level:
            code |= 1
        codes[i, j] = code
        if (a > level) != (b > level):
            crossing[i, j] = (level - a) / (b - a)
        else:
            crossing[i, j] = -1.0


def components_step(image, parent, out):
    """A step of labelling components: the least root of the pixel and of its four neighbours of
    equal colour.
    """
    j, i = cuda.grid(2)
    rows, cols = image.shape
    if i >= rows or j >= cols:
        return
    colour = image[i, j]
    least = i * cols + j
    if i > 0 and image[i - 1, j] == colour:
        least = min(least, parent[(i - 1) * cols + j])
    if i < rows - 1 and image[i + 1, j] == colour:
        least = min(least, parent[(i + 1) * cols + j])
    if j > 0 and image[i, j - 1] == colour:
        least = min(least, parent[i * cols + j - 1])
    if j < cols - 1 and image[i, j + 1] == colour:
        least = min(least, parent[i * cols + j + 1])
    while parent[least] != least:
        least = parent[least]
    out[i * cols + j] = least


def smooth(t):
    """Perlin's curve from 0 to 1 whose first two derivatives vanish at the ends."""
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


def slope_at(permutation, across, along, column, row, dx, dy):
    """The product of the gradient at a lattice point with the way from there."""
    mask = permutation.size - 1
    at = permutation[(permutation[column & mask] + row) & mask] % across.size
    return across[at] * dx + along[at] * dy


def perlin(permutation, across, along, spacing, octaves, out):
    """Perlin's gradient noise (2002) in the plane, summed over octaves."""
    j, i = cuda.grid(2)
    if i >= out.shape[0] or j >= out.shape[1]:
        return
    x = j * spacing
    y = i * spacing
    amplitude = np.float32(1.0)
    total = 0.0
    for _ in range(octaves):
        column, row = int(math.floor(x)), int(math.floor(y))
        dx, dy = x - column, y - row
        u, v = smooth(dx), smooth(dy)
        a = slope_at(permutation, across, along, column, row, dx, dy)
        b = slope_at(permutation, across, along, column + 1, row, dx - 1.0, dy)
        c = slope_at(permutation, across, along, column, row + 1, dx, dy - 1.0)
        d = slope_at(permutation, across, along, column + 1, row + 1, dx - 1.0, dy - 1.0)
        top = a + u * (b - a)
        bottom = c + u * (d - c)
        total += amplitude * (top + v * (bottom - top))
        x *= 2.0
        y *= 2.0
        amplitude *= 0.5
    out[i, j] = total


def dct_tiles(image, basis, out):
    """JPEG's cosine transform of tiles of 8 x 8 pixels: basis @ tile @ basis.T, a block each."""
    tile = cuda.shared.array((TILE, TILE), float32)
    half = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    tile[y, x] = image[i, j]
    cuda.syncthreads()
    total = 0.0
    for k in range(basis.shape[1]):
        total += basis[y, k] * tile[k, x]
    half[y, x] = total
    cuda.syncthreads()
    total = 0.0
    for k in range(basis.shape[1]):
        total += half[y, k] * basis[x, k]
    out[i, j] = total


def shape_of(n):
    """Rows and columns of a picture with n rows."""
    return n, n + n // 2 + 1


def bilateral_problem(rng, n):
    """A window of 11 x 11 pixels."""
    rows, cols = shape_of(n)
    image = rng.random((rows, cols), np.float32)
    radius, space, tone = 5, np.float32(0.04), np.float32(3.0)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 96)
        centre = image[some].astype(np.float64)
        total, norm = np.zeros_like(centre), np.zeros_like(centre)
        for down in range(-radius, radius + 1):
            for right in range(-radius, radius + 1):
                y, x = some + down, np.arange(cols) + right
                inside = ((y >= 0) & (y < rows))[:, None] & ((x >= 0) & (x < cols))
                there = image[np.clip(y, 0, rows - 1)][:, np.clip(x, 0, cols - 1)].astype(np.float64)
                exponent = -float(space) * (down * down + right * right) - float(tone) * (there - centre) ** 2
                weight = np.where(inside, np.exp(exponent), 0)
                total += weight * there
                norm += weight
        # The exponent, at most 5 in size, is off by 4 eps of that, exp by 2 eps more; then up to
        # 121 additions of positive numbers in both sums and a division.
        exact = total / norm
        return [(some, exact, EPS32 * (2 * (4 * 5 + 2) + 121 + 2) * exact)]

    work = 14 * (2 * radius + 1) ** 2 * rows * cols
    arguments = (image, radius, space, tone, np.zeros_like(image))
    return Problem(arguments, (rows, cols), (4,), expected, threads=(cols, rows), bytes=8 * rows * cols, flops=work)


def pattern_problem(rng, n):
    """The eight neighbours."""
    rows, cols = shape_of(n)
    image = rng.integers(0, 64, (rows, cols)).astype(np.uint8)
    around = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    down, right = (np.array([step[k] for step in around], np.int32) for k in (0, 1))

    def expected():
        exact = np.zeros_like(image)
        inner = image[1:-1, 1:-1]
        for k, (y, x) in enumerate(around):
            there = image[1 + y : rows - 1 + y, 1 + x : cols - 1 + x]
            exact[1:-1, 1:-1] |= (there >= inner).astype(np.uint8) << np.uint8(k)
        return [(np.s_[:], exact, 0)]

    arguments = (image, down, right, np.zeros_like(image))
    extents = (rows, cols, len(around))
    return Problem(arguments, extents, (3,), expected, threads=(cols, rows), bytes=2 * rows * cols, flops=32 * rows * cols)


def srad_problem(rng, n):
    """A picture with speckles, of values from 0.5 to 1.5."""
    rows, cols = shape_of(n)
    image = np.float32(0.5) + rng.random((rows, cols), np.float32)
    q0 = np.float32(0.05)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 256)
        here, q = image[some].astype(np.float64), float(q0)
        columns = np.arange(cols)
        around = np.stack(
            [
                image[np.maximum(some - 1, 0)], image[np.minimum(some + 1, rows - 1)],
                here[:, np.maximum(columns - 1, 0)], here[:, np.minimum(columns + 1, cols - 1)],
            ]
        ) - here  # fmt: skip
        gradient, laplacian = (around**2).sum(axis=0) / here**2, around.sum(axis=0) / here
        numerator, denominator = 0.5 * gradient - 0.0625 * laplacian**2, 1 + 0.25 * laplacian
        ratio = numerator / denominator**2
        coefficient = 1 / (1 + (ratio - q) / (q * (1 + q)))
        # First order: each intermediate value carries the errors of its operands, and half an eps
        # for each operation.
        off_laplacian = 3 * EPS32 * np.abs(around).sum(axis=0) / here
        off_numerator = 4 * EPS32 * gradient + 0.125 * np.abs(laplacian) * off_laplacian
        off_denominator = 0.25 * off_laplacian + EPS32 * denominator
        off_ratio = off_numerator / denominator**2 + ratio * (2 * off_denominator / denominator + 2 * EPS32)
        off_quotient = off_ratio / (q * (1 + q)) + 4 * EPS32 * (ratio + q) / (q * (1 + q))
        bound = 2 * (coefficient**2 * (off_quotient + EPS32) + EPS32 * coefficient)
        return [(some, np.clip(coefficient, 0, 1), bound)]

    arguments = (image, q0, np.zeros_like(image))
    return Problem(
        arguments, (rows, cols), (2,), expected, threads=(cols, rows), bytes=8 * rows * cols, flops=30 * rows * cols
    )


def squares_problem(rng, n):
    """A field of random values."""
    rows, cols = shape_of(n)
    field, level = rng.random((rows, cols), np.float32), np.float32(0.6)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 512)
        inner = some[some < rows - 1]
        upper, lower = field[inner], field[inner + 1]
        codes, crossing = np.zeros((len(some), cols), np.uint8), np.zeros((len(some), cols))
        high, below = upper > level, lower > level
        codes[: len(inner), :-1] = 8 * high[:, :-1] + 4 * high[:, 1:] + 2 * below[:, 1:] + 1 * below[:, :-1]
        a, b = upper[:, :-1].astype(np.float64), upper[:, 1:].astype(np.float64)
        crosses = high[:, :-1] != high[:, 1:]
        crossing[: len(inner), :-1] = np.where(crosses, (float(level) - a) / np.where(crosses, b - a, 1), -1)
        # Two differences of exact numbers and a division: three roundings, relative to the result.
        return [(some, codes, 0), (some, crossing, np.where(crossing > 0, 3 * EPS32 / 2 * crossing, 0))]

    arguments = (field, level, np.zeros((rows, cols), np.uint8), np.zeros_like(field))
    return Problem(
        arguments, (rows, cols), (2, 3), expected, threads=(cols, rows), bytes=9 * rows * cols, flops=8 * rows * cols
    )


def components_problem(rng, n):
    """Three colours; chains of parents of some nine pixels, as they are before paths are
    compressed.
    """
    rows, cols = shape_of(n)
    image = rng.integers(0, 3, (rows, cols)).astype(np.uint8)
    places = np.arange(rows * cols, dtype=np.int32)
    parent = np.maximum(places - rng.integers(0, 9, rows * cols), 0).astype(np.int32)

    def expected():
        root = parent
        while np.any(root != root[root]):
            root = root[root]
        least, near = places.reshape(rows, cols).copy(), parent.reshape(rows, cols)
        for one, other in (
            (np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[:, 1:], np.s_[:, :-1]), (np.s_[:, :-1], np.s_[:, 1:]),
        ):  # fmt: skip
            same = image[one] == image[other]
            least[one] = np.where(same, np.minimum(least[one], near[other]), least[one])
        return [(np.s_[:], root[least.ravel()], 0)]

    arguments = (image, parent, np.zeros_like(parent))
    return Problem(
        arguments, (rows, cols), (2,), expected, threads=(cols, rows), bytes=9 * rows * cols, flops=20 * rows * cols
    )


def perlin_problem(rng, n):
    """Five octaves over a lattice of spacing 30 pixels; eight gradients."""
    rows, cols = shape_of(n)
    permutation, spacing, octaves = rng.permutation(256).astype(np.int32), np.float32(1 / 30), 5
    angle = np.arange(8) * (np.pi / 4)
    across, along = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 128)
        x0, y0 = np.arange(cols) * float(spacing), some[:, None] * float(spacing)
        total = np.zeros((len(some), cols))

        def corner(column, row, dx, dy):
            at = permutation[(permutation[column & 255] + row) & 255] % 8
            return across[at].astype(np.float64) * dx + along[at].astype(np.float64) * dy

        for k in range(octaves):
            x, y = x0 * 2**k, y0 * 2**k
            column, row = np.floor(x).astype(int), np.floor(y).astype(int)
            dx, dy = x - column, y - row
            u, v = smooth(dx), smooth(dy)
            top = corner(column, row, dx, dy) * (1 - u) + corner(column + 1, row, dx - 1, dy) * u
            bottom = corner(column, row + 1, dx, dy - 1) * (1 - u) + corner(column + 1, row + 1, dx - 1, dy - 1) * u
            total += 0.5**k * (top * (1 - v) + bottom * v)
        # The noise is continuous with a slope below 8, and an octave's slope is that of the first:
        # half an eps of the coordinate shifts each by 8 times that. Some 20 operations of numbers
        # up to 2 follow.
        return [(some, total, EPS32 * (octaves * 4 * (x0 + y0) + 2 * 20 * 2))]

    arguments = (permutation, across, along, spacing, octaves, np.zeros((rows, cols), np.float32))
    extents = (len(permutation), len(across), len(along), rows, cols)
    work = 70 * octaves * rows * cols
    return Problem(arguments, extents, (5,), expected, threads=(cols, rows), bytes=4 * rows * cols, flops=work)


def dct_problem(rng, n):
    """n rows of pixels and half as many columns again, whole tiles."""
    rows, cols = n, n + n // 16 * 8
    image = (256 * rng.random((rows, cols), np.float32)).astype(np.float32)
    k = np.arange(TILE)
    basis = np.cos(np.pi / TILE * k[:, None] * (k + 0.5)) * np.where(k == 0, np.sqrt(1 / TILE), np.sqrt(2 / TILE))[:, None]
    basis = basis.astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), rows // TILE, 64)
        tiles = image.reshape(rows // TILE, TILE, cols // TILE, TILE)[some].astype(np.float64).transpose(0, 2, 1, 3)
        exact, sizes = (b @ tiles @ b.T for b in (basis.astype(np.float64), np.abs(basis).astype(np.float64)))
        at = (some[:, None] * TILE + k).ravel()
        back = [v.transpose(0, 2, 1, 3).reshape(len(at), cols) for v in (exact, sizes)]
        return [(at, back[0], (TILE + 1) * EPS32 * back[1])]  # two sums of eight products

    grid, pixels = (cols // TILE, rows // TILE), rows * cols
    arguments = (image, basis, np.zeros_like(image))
    return Problem(arguments, (rows, cols, TILE), (2,), expected, grid=grid, bytes=8 * pixels, flops=4 * TILE * pixels)


DCT_CUDA = """
__global__ void dct_tiles(const float *image, const float *basis, float *out, int rows, int cols, int size) {
  __shared__ float tile[8][8], half[8][8];
  INDEX x = threadIdx.x, y = threadIdx.y;
  INDEX j = FIRSTblockIdx.x * blockDim.x + threadIdx.x, i = FIRSTblockIdx.y * blockDim.y + threadIdx.y;
  tile[y][x] = image[i * cols + j];
  __syncthreads();
  float total = 0.0f;
  for (INDEX k = 0; k < size; k++)
    total += basis[y * size + k] * tile[k][x];
  half[y][x] = total;
  __syncthreads();
  total = 0.0f;
  for (INDEX k = 0; k < size; k++)
    total += half[y][k] * basis[x * size + k];
  out[i * cols + j] = total;
}
"""
PIXELS = [("i", "0", "rows"), ("j", "0", "cols")]
PICTURE = {"block": (32, 8), "power": 2}

KERNELS = [
    Kernel(
        "bilateral filter", bilateral, "float32[:,::1], pyint, float32, float32, float32[:,::1]",
        problem=bilateral_problem, gpu=2053, host=301, test=31, kind="stencil", **PICTURE,
        **sides(
            "bilateral", "const float *image, int radius, float space, float tone, float *out, int rows, int cols", PIXELS,
            """
float centre = image[i * cols + j];
float total = 0.0f, norm = 0.0f;
INDEX top = i - radius > 0 ? i - radius : 0, bottom = i + radius + 1 < rows ? i + radius + 1 : rows;
INDEX first = j - radius > 0 ? j - radius : 0, last = j + radius + 1 < cols ? j + radius + 1 : cols;
for (INDEX y = top; y < bottom; y++) {
  for (INDEX x = first; x < last; x++) {
    float difference = image[y * cols + x] - centre;
    float weight = expf(-space * ((y - i) * (y - i) + (x - j) * (x - j)) - tone * difference * difference);
    total += weight * image[y * cols + x];
    norm += weight;
  }
}
out[i * cols + j] = total / norm;
""",
        ),
    ),
    Kernel(
        "local binary patterns", local_binary_pattern, "uint8[:,::1], int32[::1], int32[::1], uint8[:,::1]",
        problem=pattern_problem, gpu=6151, host=1531, test=45, kind="stencil", sweep=PLANE, **PICTURE,
        **sides(
            "local_binary_pattern",
            "const unsigned char *image, const int *down, const int *right, unsigned char *out, int rows, int cols, int around",
            [("i", "1", "rows - 1"), ("j", "1", "cols - 1")],
            """
INDEX code = 0;
for (INDEX k = 0; k < around; k++)
  if (image[(i + down[k]) * cols + j + right[k]] >= image[i * cols + j])
    code |= (INDEX)1 << k;
out[i * cols + j] = code;
""",
        ),
    ),
    Kernel(
        "SRAD coefficient", srad_coefficient, "float32[:,::1], float32, float32[:,::1]",
        problem=srad_problem, gpu=6151, host=3079, test=45, kind="stencil", sweep=PLANE, **PICTURE,
        **sides(
            "srad_coefficient", "const float *image, float q0, float *out, int rows, int cols", PIXELS,
            """
float here = image[i * cols + j];
float north = image[(i > 0 ? i - 1 : 0) * cols + j] - here;
float south = image[(i + 1 < rows ? i + 1 : rows - 1) * cols + j] - here;
float west = image[i * cols + (j > 0 ? j - 1 : 0)] - here;
float east = image[i * cols + (j + 1 < cols ? j + 1 : cols - 1)] - here;
float gradient = (north * north + south * south + west * west + east * east) / (here * here);
float laplacian = (north + south + west + east) / here;
float numerator = 0.5f * gradient - 0.0625f * laplacian * laplacian;
float denominator = 1.0f + 0.25f * laplacian;
float q = numerator / (denominator * denominator);
float coefficient = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
out[i * cols + j] = fminf(fmaxf(coefficient, 0.0f), 1.0f);
""",
        ),
    ),
    Kernel(
        "marching squares", marching_squares, "float32[:,::1], float32, uint8[:,::1], float32[:,::1]",
        problem=squares_problem, gpu=6151, host=4099, test=45, kind="stencil", sweep=PLANE, **PICTURE,
        **sides(
            "marching_squares",
            "const float *field, float level, unsigned char *codes, float *crossing, int rows, int cols",
            [("i", "0", "rows - 1"), ("j", "0", "cols - 1")],
            """
float a = field[i * cols + j], b = field[i * cols + j + 1];
float c = field[(i + 1) * cols + j + 1], d = field[(i + 1) * cols + j];
int code = 0;
if (a > level)
  code |= 8;
if (b > level)
  code |= 4;
if (c > level)
  code |= 2;
if (d > level)
  code |= 1;
codes[i * cols + j] = code;
if ((a > level) != (b > level))
  crossing[i * cols + j] = (level - a) / (b - a);
else
  crossing[i * cols + j] = -1.0f;
""",
        ),
    ),
    Kernel(
        "components, a step", components_step, "uint8[:,::1], int32[::1], int32[::1]",
        problem=components_problem, gpu=3079, host=701, test=45, kind="irregular", **PICTURE,
        **sides(
            "components_step", "const unsigned char *image, const int *parent, int *out, int rows, int cols", PIXELS,
            """
unsigned char colour = image[i * cols + j];
int least = i * cols + j;
if (i > 0 && image[(i - 1) * cols + j] == colour && parent[(i - 1) * cols + j] < least)
  least = parent[(i - 1) * cols + j];
if (i < rows - 1 && image[(i + 1) * cols + j] == colour && parent[(i + 1) * cols + j] < least)
  least = parent[(i + 1) * cols + j];
if (j > 0 && image[i * cols + j - 1] == colour && parent[i * cols + j - 1] < least)
  least = parent[i * cols + j - 1];
if (j < cols - 1 && image[i * cols + j + 1] == colour && parent[i * cols + j + 1] < least)
  least = parent[i * cols + j + 1];
while (parent[least] != least)
  least = parent[least];
out[i * cols + j] = least;
""",
        ),
    ),
    Kernel(
        "Perlin noise", perlin, "int32[::1], float32[::1], float32[::1], float32, pyint, float32[:,::1]",
        problem=perlin_problem, gpu=3079, host=401, test=35, **PICTURE,
        **sides(
            "perlin",
            "const int *permutation, const float *across, const float *along, float spacing, int octaves, float *out, "
            "int places, int gradients, int same, int rows, int cols",
            PIXELS,
            """
float x = j * spacing, y = i * spacing, amplitude = 1.0f, total = 0.0f;
for (INDEX k = 0; k < octaves; k++) {
  INDEX column = (INDEX)floorf(x), row = (INDEX)floorf(y);
  float dx = x - column, dy = y - row;
  float u = perlin_smooth(dx), v = perlin_smooth(dy);
  float a = perlin_slope(permutation, across, along, places, gradients, column, row, dx, dy);
  float b = perlin_slope(permutation, across, along, places, gradients, column + 1, row, dx - 1.0f, dy);
  float c = perlin_slope(permutation, across, along, places, gradients, column, row + 1, dx, dy - 1.0f);
  float d = perlin_slope(permutation, across, along, places, gradients, column + 1, row + 1, dx - 1.0f, dy - 1.0f);
  float top = a + u * (b - a);
  float bottom = c + u * (d - c);
  total += amplitude * (top + v * (bottom - top));
  x *= 2.0f;
  y *= 2.0f;
  amplitude *= 0.5f;
}
out[i * cols + j] = total;
""",
            helpers="""
FUNCTION float perlin_smooth(float t) {
  return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f);
}
FUNCTION float perlin_slope(const int *permutation, const float *across, const float *along, int places, int gradients,
                            INDEX column, INDEX row, float dx, float dy) {
  INDEX mask = places - 1;
  INDEX at = permutation[(permutation[column & mask] + row) & mask] % gradients;
  return across[at] * dx + along[at] * dy;
}
""",
        ),
    ),
    Kernel(
        "cosine transform of tiles", dct_tiles, "float32[:,::1], float32[:,::1], float32[:,::1]",
        (TILE, TILE), dct_problem, gpu=6160, host=2000, test=16, power=2, step=16, kind="shared",
        cuda=DCT_CUDA.replace("INDEX", "long long").replace("FIRST", "(long long)"),
        cuda_int=DCT_CUDA.replace("INDEX", "int").replace("FIRST", ""),
        openmp="""
void dct_tiles(const float *image, const float *basis, float *out, int rows, int cols, int size) {
#pragma omp parallel for
  for (int top = 0; top < rows; top += size)
    for (int left = 0; left < cols; left += size) {
      float half[8][8];
      for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
          float total = 0.0f;
          for (int k = 0; k < size; k++)
            total += basis[y * size + k] * image[(top + k) * cols + left + x];
          half[y][x] = total;
        }
      for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
          float total = 0.0f;
          for (int k = 0; k < size; k++)
            total += half[y][k] * basis[x * size + k];
          out[(top + y) * cols + left + x] = total;
        }
    }
}
""",
    ),
]  # fmt: skip
