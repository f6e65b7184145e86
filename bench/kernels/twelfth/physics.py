"""Physics: light scattered by spheres, X-rays by crystals, rays through lenses, times of impacts."""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32, float64


def mie_efficiencies(sizes, indices, efficiencies):
    """Light that spheres scatter (Mie, after Bohren and Huffman): series of spherical Bessel functions, real indices of refraction."""
    i = cuda.grid(1)
    if i >= sizes.size:
        return
    x, m = sizes[i], indices[i]
    terms = int(x + 4 * x ** (1 / 3) + 2)
    derivative = cuda.local.array(160, float64)  # of the logarithm of psi, downward
    last = max(terms, int(m * x)) + 40
    derivative[last] = 0.0
    for n in range(last, 0, -1):
        derivative[n - 1] = n / (m * x) - 1 / (derivative[n] + n / (m * x))
    psi_before, psi = math.cos(x), math.sin(x)
    chi_before, chi = -math.sin(x), math.cos(x)
    total = 0.0
    for n in range(1, terms + 1):
        psi_before, psi = psi, (2 * n - 1) * psi / x - psi_before
        chi_before, chi = chi, (2 * n - 1) * chi / x - chi_before
        d = derivative[n] / m + n / x
        p, q = d * psi - psi_before, d * chi - chi_before
        electric = p * p / (p * p + q * q)
        d = derivative[n] * m + n / x
        p, q = d * psi - psi_before, d * chi - chi_before
        total += (2 * n + 1) * (electric + p * p / (p * p + q * q))
    efficiencies[i] = 2 / (x * x) * total


def structure_factors(indices, positions, factors, sums):
    """What a crystal's cell scatters into reflections (h, k, l): the atoms' waves summed, a tile of atoms at a time."""
    i = cuda.grid(1)
    tile = cuda.shared.array((128, 4), float32)
    h = k = l = 0
    if i < sums.size:
        h, k, l = int(indices[0, i]), int(indices[1, i]), int(indices[2, i])
    total = np.complex64(0)
    for start in range(0, factors.size, 128):
        j = start + cuda.threadIdx.x
        if j < factors.size:
            for c in range(3):
                tile[cuda.threadIdx.x, c] = positions[c, j]
            tile[cuda.threadIdx.x, 3] = factors[j]
        cuda.syncthreads()
        for a in range(min(128, factors.size - start)):
            turns = h * tile[a, 0] + k * tile[a, 1] + l * tile[a, 2]
            angle = (turns - math.floor(turns)) * float32(2 * math.pi)
            total += tile[a, 3] * complex(math.cos(angle), math.sin(angle))
        cuda.syncthreads()
    if i < sums.size:
        sums[i] = total


def sphere_hit(x, y, z, u, v, w, curvature):
    """How far a ray goes to a surface through the origin that has this curvature, and the surface's normal; nan if it misses."""
    b = w - curvature * (x * u + y * v + z * w)
    c = curvature * (x * x + y * y + z * z) - 2 * z
    root = b * b - curvature * c
    if root < 0:
        return math.nan, (0.0, 0.0, 1.0)
    far = c / (b + math.sqrt(root))
    return far, (-curvature * (x + far * u), -curvature * (y + far * v), 1 - curvature * (z + far * w))


def lens_rays(starts, surfaces, fars, blocked, ends):
    """Rays through a lens, surface by surface (curvature, distance to the next, ratio of indices, radius): where they meet the film."""
    i = cuda.grid(1)
    if i >= blocked.size:
        return
    x, y, u, v = starts[i]
    w = math.sqrt(1 - u * u - v * v)
    z = 0.0
    stop = -1
    for s in range(surfaces.shape[0]):
        curvature, distance, ratio, radius = surfaces[s]
        far, (nx, ny, nz) = sphere_hit(x, y, z, u, v, w, curvature)
        x, y, z = x + far * u, y + far * v, z + far * w
        if not x * x + y * y <= radius * radius:
            stop = s
            break
        cosine = u * nx + v * ny + w * nz
        square = 1 - ratio * ratio * (1 - cosine * cosine)
        if square < 0:
            stop = s
            break
        bend = math.sqrt(square) - ratio * cosine
        u, v, w = ratio * u + bend * nx, ratio * v + bend * ny, ratio * w + bend * nz
        z -= distance
    if stop < 0:
        far = (fars[i] - z) / w
        ends[0, i] = x + far * u
        ends[1, i] = y + far * v
    blocked[i] = stop


def impact_times(positions, velocities, first, others, diameter, box, times, partners):
    """Hard spheres in a box that repeats: when each meets the first of its neighbours, and which."""
    i = cuda.grid(1)
    if i >= times.size:
        return
    soonest = math.inf
    partner = -1
    for e in range(first[i], first[i + 1]):
        j = others[e]
        apart = closing = distance = speed = 0.0
        for c in range(3):
            d = positions[c, j] - positions[c, i]
            d -= box * np.rint(d / box)
            v = velocities[c, j] - velocities[c, i]
            closing += d * v
            distance += d * d
            speed += v * v
        if closing >= 0:
            continue
        apart = distance - diameter * diameter
        root = closing * closing - speed * apart
        if root < 0:
            continue
        when = apart / (math.sqrt(root) - closing)
        if when < soonest:
            soonest = when
            partner = j
    times[i] = soonest if partner >= 0 else -1
    partners[i] = partner


def mie_problem(rng, n):
    sizes, indices = 10 ** rng.uniform(-0.7, 1.75, n), rng.uniform(1.2, 1.6, n)

    def expected():
        at = sampled(rng, n, 1000)
        x, m = sizes[at], indices[at]
        terms = (x + 4 * x ** (1 / 3) + 2).astype(int)
        derivative = np.zeros((161, len(at)))
        for k in range(159, 0, -1):
            derivative[k - 1] = k / (m * x) - 1 / (derivative[k] + k / (m * x))
        psi, chi, total = [np.cos(x), np.sin(x)], [-np.sin(x), np.cos(x)], 0
        with np.errstate(all="ignore"):
            for k in range(1, terms.max() + 1):
                for b in psi, chi:
                    b[:] = b[1], (2 * k - 1) * b[1] / x - b[0]
                parts = 0
                for d in derivative[k] / m + k / x, derivative[k] * m + k / x:
                    parts = parts + 1 / (1 + ((d * chi[1] - chi[0]) / (d * psi[1] - psi[0])) ** 2)
                total = total + np.where(k <= terms, (2 * k + 1) * parts, 0)
        # Upward, psi loses some digits where it gets small; there the terms are small too.
        return [(at, 2 / x**2 * total, 1e-9 * (1 + x**-2))]

    args = (sizes, indices, np.full(n, -1.0))
    return Problem(args, (n,), (2,), expected, threads=n, bytes=24.0 * n, flops=30 * 35.0 * n)


def structure_problem(rng, n):
    atoms = 523
    indices = rng.integers(-20, 21, (3, n)).astype(np.int8)
    positions = rng.random((3, atoms)).astype(np.float32)
    factors = rng.choice([1, 6, 7, 8, 16], atoms).astype(np.float32)

    def expected():
        at = sampled(rng, n, 1000)
        turns = indices[:, at].T.astype(float) @ positions.astype(float)
        values = np.exp(2j * np.pi * turns) @ factors.astype(float)
        angles = 2 * np.pi * 3 * EPS32 * np.abs(indices[:, at]).sum(0) + 8 * EPS32
        return [(at, values, factors.sum() * (angles + (atoms + 1) * EPS32 / 2))]

    def outcome(sums):
        return (sums.astype(np.complex128),)

    args = (indices, positions, factors, np.full(n, -1, np.complex64))
    return Problem(
        args, (n, atoms), (3,), expected, threads=n, bytes=11.0 * n, flops=50.0 * atoms * n, outcome=outcome
    )


def lens_problem(rng, n):
    surfaces = np.array([  # a triplet of f = 100
        (1 / 40.94, 8.74, 1 / 1.617, 18), (0, 11.05, 1.617, 18), (-1 / 55.65, 2.78, 1 / 1.649, 15),
        (1 / 39.75, 7.63, 1.649, 13), (1 / 107.56, 9.54, 1 / 1.617, 15), (-1 / 43.33, 79.34, 1.617, 15),
    ])  # fmt: skip
    radius, angle = 19 * np.sqrt(rng.random(n)), rng.uniform(0, 2 * np.pi, n)
    u, v = rng.uniform(-0.3, 0.3, n), rng.uniform(-0.1, 0.1, n)
    starts = np.stack([radius * np.cos(angle), radius * np.sin(angle), u, v], 1)
    starts[:, :2] -= 5 * starts[:, 2:]
    fars = rng.choice([0.0, 0.5, 1.0], n)

    def expected():
        at = sampled(rng, n, 10000)
        place, ray = np.zeros((3, len(at))), np.zeros((3, len(at)))
        place[:2], ray[:2] = starts[at, :2].T, starts[at, 2:].T
        ray[2] = np.sqrt(1 - (ray**2).sum(0))
        stop = np.full(len(at), -1)
        with np.errstate(invalid="ignore"):
            for s, (curvature, distance, ratio, radius) in enumerate(surfaces):
                b = ray[2] - curvature * (place * ray).sum(0)
                c = curvature * (place**2).sum(0) - 2 * place[2]
                place = place + c / (b + np.sqrt(b * b - curvature * c)) * ray
                normal = -curvature * place
                normal[2] += 1
                cosine = (ray * normal).sum(0)
                square = 1 - ratio**2 * (1 - cosine**2)
                lost = ~((place[:2] ** 2).sum(0) <= radius**2) | (square < 0)
                stop[(stop < 0) & lost] = s
                ray = ratio * ray + (np.sqrt(square) - ratio * cosine) * normal
                place[2] -= distance
            end = place + (fars[at] - place[2]) / ray[2] * ray
        return [(at, stop, 0), ((slice(None), at), np.where(stop < 0, end[:2], -1), 1e3 * 100 * EPS64)]

    args = (starts, surfaces, fars, np.full(n, 99, np.int8), np.full((2, n), -1.0))
    return Problem(args, (n, len(surfaces)), (3, 4), expected, threads=n, bytes=57.0 * n, flops=6 * 60.0 * n)


def impact_problem(rng, n):
    side = n
    count = side**3
    place = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij")).reshape(3, -1)
    positions = (place + rng.uniform(-0.15, 0.15, place.shape)).astype(np.float64)
    velocities = rng.standard_normal((3, count))
    shifts = np.array([(a, b, c) for a in (-1, 0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1) if a or b or c])
    near = [((place[0] + a) % side * side + (place[1] + b) % side) * side + (place[2] + c) % side for a, b, c in shifts]
    near = np.stack(near, 1)
    listed = rng.random(near.shape) < 0.8
    first = np.cumsum([0, *listed.sum(1)]).astype(np.int32)
    others = near[listed].astype(np.int32)
    diameter, box = np.float64(0.7), np.float64(side)

    def expected():
        at = sampled(rng, count, 5000)
        d = positions[:, near[at]] - positions[:, at, None]
        d -= box * np.rint(d / box)
        v = velocities[:, near[at]] - velocities[:, at, None]
        closing, apart, speed = (d * v).sum(0), (d * d).sum(0) - diameter**2, (v * v).sum(0)
        root = closing**2 - speed * apart
        with np.errstate(invalid="ignore"):
            when = np.where((closing < 0) & (root >= 0) & listed[at], apart / (np.sqrt(root) - closing), np.inf)
        soonest, which = when.min(1), when.argmin(1)
        met = np.isfinite(soonest)
        bound = np.where(met, 1e-6 * np.where(met, soonest, 1), 0)  # a root near 0 halves the digits
        return [(at, np.where(met, soonest, -1), bound), (at, np.where(met, near[at, which], -1), 0)]

    args = (positions, velocities, first, others, diameter, box, np.full(count, 99.0), np.full(count, 99, np.int32))
    return Problem(args, (count,), (6, 7), expected, threads=count, bytes=64.0 * count + 4.0 * len(others), flops=35.0 * len(others))


MIE = each(
    "mie_efficiencies(const double *__restrict__ sizes, const double *__restrict__ indices, double *__restrict__ efficiencies, int n)",
    """
    double x = sizes[i], m = indices[i], derivative[160];
    int terms = x + 4 * pow(x, 1.0 / 3) + 2, last = MAX(terms, (int)(m * x)) + 40;
    derivative[last] = 0;
    for (int k = last; k > 0; k--)
      derivative[k - 1] = k / (m * x) - 1 / (derivative[k] + k / (m * x));
    double psi_before = cos(x), psi = sin(x), chi_before = -sin(x), chi = cos(x), total = 0;
    for (int k = 1; k <= terms; k++) {
      double next = (2 * k - 1) * psi / x - psi_before;
      psi_before = psi;
      psi = next;
      next = (2 * k - 1) * chi / x - chi_before;
      chi_before = chi;
      chi = next;
      double d = derivative[k] / m + k / x, p = d * psi - psi_before, q = d * chi - chi_before;
      double electric = p * p / (p * p + q * q);
      d = derivative[k] * m + k / x;
      p = d * psi - psi_before;
      q = d * chi - chi_before;
      total += (2 * k + 1) * (electric + p * p / (p * p + q * q));
    }
    efficiencies[i] = 2 / (x * x) * total;
""",
)

STRUCTURE_HEAD = """structure_factors(const signed char *__restrict__ indices, const float *__restrict__ positions,
                       const float *__restrict__ factors, float *__restrict__ sums, int n, int atoms)"""
STRUCTURE = indexed(
    f"""
__global__ void {STRUCTURE_HEAD} {{
  __shared__ float tile[128][4];
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  int h = 0, k = 0, l = 0, t = threadIdx.x;
  if (i < n) {{
    h = indices[i];
    k = indices[n + i];
    l = indices[2 * (INDEX)n + i];
  }}
  float re = 0, im = 0;
  for (INDEX start = 0; start < atoms; start += 128) {{
    INDEX j = start + t;
    if (j < atoms) {{
      for (int c = 0; c < 3; c++)
        tile[t][c] = positions[c * atoms + j];
      tile[t][3] = factors[j];
    }}
    __syncthreads();
    int here = min((INDEX)128, atoms - start);
    for (int a = 0; a < here; a++) {{
      float turns = h * tile[a][0] + k * tile[a][1] + l * tile[a][2];
      float angle = (turns - floorf(turns)) * 6.2831853f;
      re += tile[a][3] * cosf(angle);
      im += tile[a][3] * sinf(angle);
    }}
    __syncthreads();
  }}
  if (i < n) {{
    sums[2 * i] = re;
    sums[2 * i + 1] = im;
  }}
}}
""",
    f"""
void {STRUCTURE_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{
    float re = 0, im = 0;
    for (INDEX a = 0; a < atoms; a++) {{
      float turns = indices[i] * positions[a] + indices[n + i] * positions[atoms + a] + indices[2 * n + i] * positions[2 * atoms + a];
      float angle = (turns - floorf(turns)) * 6.2831853f;
      re += factors[a] * cosf(angle);
      im += factors[a] * sinf(angle);
    }}
    sums[2 * i] = re;
    sums[2 * i + 1] = im;
  }}
}}
""",
)

LENS = each(
    """lens_rays(const double *__restrict__ starts, const double *__restrict__ surfaces, const double *__restrict__ fars,
               signed char *__restrict__ blocked, double *__restrict__ ends, int n, int count)""",
    """
    double x = starts[4 * i], y = starts[4 * i + 1], z = 0, u = starts[4 * i + 2], v = starts[4 * i + 3];
    double w = sqrt(1 - u * u - v * v);
    int stop = -1;
    for (int s = 0; s < count; s++) {
      double curvature = surfaces[4 * s], distance = surfaces[4 * s + 1], ratio = surfaces[4 * s + 2], radius = surfaces[4 * s + 3];
      double b = w - curvature * (x * u + y * v + z * w), c = curvature * (x * x + y * y + z * z) - 2 * z;
      double root = b * b - curvature * c;
      if (root < 0) {
        stop = s;
        break;
      }
      double far = c / (b + sqrt(root));
      x += far * u;
      y += far * v;
      z += far * w;
      if (x * x + y * y > radius * radius) {
        stop = s;
        break;
      }
      double nx = -curvature * x, ny = -curvature * y, nz = 1 - curvature * z;
      double cosine = u * nx + v * ny + w * nz, square = 1 - ratio * ratio * (1 - cosine * cosine);
      if (square < 0) {
        stop = s;
        break;
      }
      double bend = sqrt(square) - ratio * cosine;
      u = ratio * u + bend * nx;
      v = ratio * v + bend * ny;
      w = ratio * w + bend * nz;
      z -= distance;
    }
    if (stop < 0) {
      double far = (fars[i] - z) / w;
      ends[i] = x + far * u;
      ends[n + i] = y + far * v;
    }
    blocked[i] = stop;
""",
)

IMPACT = each(
    """impact_times(const double *__restrict__ positions, const double *__restrict__ velocities, const int *__restrict__ first,
                  const int *__restrict__ others, double diameter, double box, double *__restrict__ times,
                  int *__restrict__ partners, int n)""",
    """
    double soonest = INFINITY;
    int partner = -1;
    INDEX end = first[i + 1];
    for (INDEX e = first[i]; e < end; e++) {
      INDEX j = others[e];
      double closing = 0, distance = 0, speed = 0;
      for (INDEX c = 0; c < 3; c++) {
        double d = positions[c * n + j] - positions[c * n + i], v = velocities[c * n + j] - velocities[c * n + i];
        d -= box * rint(d / box);
        closing += d * v;
        distance += d * d;
        speed += v * v;
      }
      if (closing >= 0) continue;
      double apart = distance - diameter * diameter, root = closing * closing - speed * apart;
      if (root < 0) continue;
      double when = apart / (sqrt(root) - closing);
      if (when < soonest) {
        soonest = when;
        partner = j;
      }
    }
    times[i] = partner >= 0 ? soonest : -1;
    partners[i] = partner;
""",
)

KERNELS = [
    Kernel(
        "light scattered by spheres", mie_efficiencies, "float64[::1], float64[::1], float64[::1]", 64, mie_problem, gpu=100_003,
        host=5003, test=203, kind="irregular", **MIE,
    ),
    Kernel(
        "structure factors", structure_factors, "int8[:,::1], float32[:,::1], float32[::1], complex64[::1]", 128,
        structure_problem, gpu=100_003, host=1003, test=203, kind="shared", **STRUCTURE,
    ),
    Kernel(
        "rays through a lens", lens_rays, "float64[:,::1], float64[:,::1], float64[::1], int8[::1], float64[:,::1]", 128,
        lens_problem, gpu=1_000_003, host=20_011, test=503, kind="irregular", **LENS,
    ),
    Kernel(
        "times of impacts", impact_times,
        "float64[:,::1], float64[:,::1], int32[::1], int32[::1], float64, float64, float64[::1], int32[::1]", 128,
        impact_problem, gpu=91, host=17, test=9, power=3, kind="irregular", **IMPACT,
    ),
]  # fmt: skip
