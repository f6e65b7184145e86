"""Noise on a lattice: gradients by a permutation table in the plane, hashed values in space.

Perlin, "Improving Noise"; Gustavson's eight gradients of the plane; Wang-like integer hashes.
"""

import math

import numpy as np
from kernels.declare import EPS32, PLANE, SPACE, THIN_PLANE, Kernel, Problem, sampled
from kernels.texts import indexed, plane
from pyptx import cuda, uint32


def fade(t):
    return t * t * t * (t * (t * 6 - 15) + 10)


def slope(h, x, y):
    """The product of (x, y) with one of eight gradients."""
    h &= 7
    u = x if h < 4 else y
    v = y if h < 4 else x
    return (u if h & 1 == 0 else -u) + (2 * v if h & 2 == 0 else -2 * v)


def gradient_noise(permutation, octaves, scale, lacunarity, persistence, image):
    """Octaves of Perlin's noise; the table has 512 entries."""
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        x = np.float32(col) * scale
        y = np.float32(row) * scale
        amplitude = np.float32(1)
        total = np.float32(0)
        for _ in range(octaves):
            left = math.floor(x)
            top = math.floor(y)
            fx = x - left
            fy = y - top
            left &= 255
            top &= 255
            u = fade(fx)
            v = fade(fy)
            a = permutation[left] + top
            b = permutation[left + 1] + top
            upper = slope(permutation[a], fx, fy)
            upper += u * (slope(permutation[b], fx - 1, fy) - upper)
            lower = slope(permutation[a + 1], fx, fy - 1)
            lower += u * (slope(permutation[b + 1], fx - 1, fy - 1) - lower)
            total += amplitude * (upper + v * (lower - upper))
            amplitude *= persistence
            x *= lacunarity
            y *= lacunarity
        image[row, col] = total


def corner(x, y, z, seed):
    """A number in [0, 1) for a point of the lattice."""
    h = seed ^ (uint32(x) * uint32(0x9E3779B1)) ^ (uint32(y) * uint32(0x85EBCA77)) ^ (uint32(z) * uint32(0xC2B2AE3D))
    h ^= h >> 15
    h *= uint32(0x2C1B3C6D)
    h ^= h >> 12
    h *= uint32(0x297A2D39)
    h ^= h >> 15
    return np.float32(h >> 8) * np.float32(2**-24)


def smooth(t):
    return t * t * (3 - 2 * t)


def blend(a, b, t):
    return a + t * (b - a)


def lattice_noise(seed, sx, sy, sz, field):
    """Values of a lattice's corners, blended along three axes."""
    k, j, i = cuda.grid(3)
    if i < field.shape[0] and j < field.shape[1] and k < field.shape[2]:
        px = np.float32(i) * sx
        py = np.float32(j) * sy
        pz = np.float32(k) * sz
        x = int(px)
        y = int(py)
        z = int(pz)
        u = smooth(px - np.floor(px))
        v = smooth(py - np.floor(py))
        w = smooth(pz - np.floor(pz))
        near = blend(
            blend(corner(x, y, z, seed), corner(x + 1, y, z, seed), u),
            blend(corner(x, y + 1, z, seed), corner(x + 1, y + 1, z, seed), u),
            v,
        )
        far = blend(
            blend(corner(x, y, z + 1, seed), corner(x + 1, y, z + 1, seed), u),
            blend(corner(x, y + 1, z + 1, seed), corner(x + 1, y + 1, z + 1, seed), u),
            v,
        )
        field[i, j, k] = blend(near, far, w)


def gradient_problem(rng, n, shape=None):
    """n x (5 n / 4 + 3) pixels, seven octaves."""
    rows, cols = shape or (n, 5 * n // 4 + 3)
    table = np.tile(rng.permutation(256), 2).astype(np.int32)
    octaves, scale, lacunarity, persistence = 7, np.float32(0.0137), np.float32(1.93), np.float32(0.55)

    def product(h, x, y):
        h = h & 7
        u, v = np.where(h < 4, x, y), np.where(h < 4, y, x)
        return np.where(h & 1, -u, u) + 2 * np.where(h & 2, -v, v)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 40)
        x = np.broadcast_to(np.arange(cols, dtype=np.float32) * scale, (len(some), cols))
        y = np.broadcast_to((some.astype(np.float32) * scale)[:, None], (len(some), cols))
        total, amplitude, sizes = np.zeros((len(some), cols)), 1.0, 0.0
        for _ in range(octaves):
            left, top = np.floor(x).astype(int), np.floor(y).astype(int)
            fx, fy = (x - left).astype(np.float64), (y - top).astype(np.float64)
            left, top = left & 255, top & 255
            u, v = (t * t * t * (t * (t * 6 - 15) + 10) for t in (fx, fy))
            a, b = table[left] + top, table[left + 1] + top
            upper, upper_b = product(table[a], fx, fy), product(table[b], fx - 1, fy)
            lower, lower_b = product(table[a + 1], fx, fy - 1), product(table[b + 1], fx - 1, fy - 1)
            upper, lower = upper + u * (upper_b - upper), lower + u * (lower_b - lower)
            total += amplitude * (upper + v * (lower - upper))
            sizes += amplitude
            amplitude *= float(persistence)
            x, y = x * lacunarity, y * lacunarity
        # Some fifteen roundings of a fade whose terms are up to 15, times differences up to 6.
        return [(some, total, (15 * 15 * 6 + octaves) * EPS32 / 2 * sizes)]

    return Problem(
        (table, octaves, scale, lacunarity, persistence, np.zeros((rows, cols), np.float32)), (512, rows, cols), (5,), expected,
        threads=(cols, rows), bytes=4 * rows * cols, flops=60 * octaves * rows * cols,
    )  # fmt: skip


def lattice_problem(rng, n):
    """n x (n + 5) x (n + 11) points."""
    shape = n, n + 5, n + 11
    seed, scales = np.uint32(rng.integers(1 << 32)), np.array([0.0371, 0.0517, 0.0429], np.float32)

    def value(x, y, z):
        with np.errstate(over="ignore"):
            h = seed ^ (x.astype(np.uint32) * np.uint32(0x9E3779B1)) ^ (y.astype(np.uint32) * np.uint32(0x85EBCA77))
            h = h ^ (z.astype(np.uint32) * np.uint32(0xC2B2AE3D))
            h = (h ^ (h >> 15)) * np.uint32(0x2C1B3C6D)
            h = (h ^ (h >> 12)) * np.uint32(0x297A2D39)
        return ((h ^ (h >> 15)) >> 8) / 2.0**24

    def expected():
        planes = np.unique(np.linspace(0, n - 1, min(n, 12)).astype(int))
        points = np.ix_(planes, np.arange(shape[1]), np.arange(shape[2]))
        places = [p.astype(np.float32) * s for p, s in zip(points, scales)]
        cells = [p.astype(int) for p in places]
        u, v, w = (t * t * (3 - 2 * t) for t in ((p - c).astype(np.float64) for p, c in zip(places, cells)))

        def mixed(z):
            x, y = cells[0], cells[1]
            low = value(x, y, z) + u * (value(x + 1, y, z) - value(x, y, z))
            high = value(x, y + 1, z) + u * (value(x + 1, y + 1, z) - value(x, y + 1, z))
            return low + v * (high - low)

        near, far = mixed(cells[2]), mixed(cells[2] + 1)
        return [(planes, near + w * (far - near), 3 * 10 * EPS32)]

    return Problem(
        (seed, *scales, np.zeros(shape, np.float32)), shape, (4,), expected, threads=shape[::-1],
        bytes=4 * math.prod(shape), flops=130 * math.prod(shape),
    )  # fmt: skip


GRADIENT = plane(
    "gradient_noise(const int *permutation, int octaves, float scale, float lacunarity, float persistence, float *image, "
    "int entries, int rows, int cols)",
    """
    float x = col * scale, y = row * scale, amplitude = 1, total = 0;
    for (INDEX k = 0; k < octaves; k++) {
      float fx = floorf(x), fy = floorf(y);
      int left = (int)fx & 255, top = (int)fy & 255;
      fx = x - fx;
      fy = y - fy;
      float u = noise_fade(fx), v = noise_fade(fy);
      int a = permutation[left] + top, b = permutation[left + 1] + top;
      float upper = noise_slope(permutation[a], fx, fy);
      upper += u * (noise_slope(permutation[b], fx - 1, fy) - upper);
      float lower = noise_slope(permutation[a + 1], fx, fy - 1);
      lower += u * (noise_slope(permutation[b + 1], fx - 1, fy - 1) - lower);
      total += amplitude * (upper + v * (lower - upper));
      amplitude *= persistence;
      x *= lacunarity;
      y *= lacunarity;
    }
    image[row * cols + col] = total;
""",
    before="""
DEVICE float noise_fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
DEVICE float noise_slope(int h, float x, float y) {
  h &= 7;
  float u = h < 4 ? x : y, v = h < 4 ? y : x;
  return (h & 1 ? -u : u) + (h & 2 ? -2 * v : 2 * v);
}
""",
)

LATTICE_BODY = """
    float px = i * sx, py = j * sy, pz = k * sz;
    int x = (int)px, y = (int)py, z = (int)pz;
    float u = noise_smooth(px - floorf(px)), v = noise_smooth(py - floorf(py)), w = noise_smooth(pz - floorf(pz));
    float near = noise_blend(noise_blend(noise_corner(x, y, z, seed), noise_corner(x + 1, y, z, seed), u),
                       noise_blend(noise_corner(x, y + 1, z, seed), noise_corner(x + 1, y + 1, z, seed), u), v);
    float far = noise_blend(noise_blend(noise_corner(x, y, z + 1, seed), noise_corner(x + 1, y, z + 1, seed), u),
                      noise_blend(noise_corner(x, y + 1, z + 1, seed), noise_corner(x + 1, y + 1, z + 1, seed), u), v);
    field[(i * ny + j) * nz + k] = noise_blend(near, far, w);
"""
LATTICE_PARTS = """
DEVICE float noise_corner(int x, int y, int z, unsigned seed) {
  unsigned h = seed ^ ((unsigned)x * 0x9e3779b1u) ^ ((unsigned)y * 0x85ebca77u) ^ ((unsigned)z * 0xc2b2ae3du);
  h ^= h >> 15;
  h *= 0x2c1b3c6du;
  h ^= h >> 12;
  h *= 0x297a2d39u;
  h ^= h >> 15;
  return (h >> 8) * (1.0f / 16777216);
}
DEVICE float noise_smooth(float t) { return t * t * (3 - 2 * t); }
DEVICE float noise_blend(float a, float b, float t) { return a + t * (b - a); }
"""
LATTICE = indexed(
    f"""
{LATTICE_PARTS}
__global__ void lattice_noise(unsigned seed, float sx, float sy, float sz, float *field, int nx, int ny, int nz) {{
  INDEX k = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX j = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX i = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (i < nx && j < ny && k < nz) {{{LATTICE_BODY}  }}
}}
""",
    f"""
{LATTICE_PARTS}
void lattice_noise(unsigned seed, float sx, float sy, float sz, float *field, int nx, int ny, int nz) {{
#pragma omp parallel for
  for (int i = 0; i < nx; i++)
    for (int j = 0; j < ny; j++)
      for (int k = 0; k < nz; k++) {{{LATTICE_BODY}      }}
}}
""",
)

KERNELS = [
    Kernel(
        "Perlin noise, octaves", gradient_noise, "int32[::1], pyint, float32, float32, float32, float32[:,::1]", (32, 8),
        gradient_problem, gpu=2003, host=701, test=41, power=2, sweep=PLANE, thin=THIN_PLANE, **GRADIENT,
    ),
    Kernel(
        "value noise in space", lattice_noise, "uint32, float32, float32, float32, float32[:,:,::1]", (32, 4, 2),
        lattice_problem, gpu=331, host=151, test=17, power=3, sweep=SPACE, **LATTICE,
    ),
]  # fmt: skip
