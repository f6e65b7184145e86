"""Arithmetic: Black-Scholes, gravity between bodies, docking energies in the manner of miniBUDE, sparse times vector."""

import math

import numpy as np
from kernels.declare import EPS32, LINE, Kernel, Problem, sampled, sum_bound
from pyptx import cuda, float32

# Abramowitz and Stegun, formula 26.2.17: absolute error below 7.5e-8.
A1, A2, A3, A4, A5 = 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429
INV_SQRT_2PI = 0.3989422804014327
TILE, SOFTENING2 = 128, 1e-3
HARDNESS, REACH = 38.0, 4.0  # of miniBUDE's steric and electrostatic terms


def normal_cdf(d):
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    tail = INV_SQRT_2PI * math.exp(-0.5 * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))))
    return 1.0 - tail if d > 0 else tail


def black_scholes(price, strike, years, rate, volatility, call, put):
    i = cuda.grid(1)
    if i >= price.size:
        return
    s, x, t = price[i], strike[i], years[i]
    sqrt_t = math.sqrt(t)
    d1 = (math.log(s / x) + (rate + 0.5 * volatility * volatility) * t) / (volatility * sqrt_t)
    d2 = d1 - volatility * sqrt_t
    discounted = x * math.exp(-rate * t)
    cdf_d1 = normal_cdf(d1)
    cdf_d2 = normal_cdf(d2)
    call[i] = s * cdf_d1 - discounted * cdf_d2
    put[i] = discounted * (1.0 - cdf_d2) - s * (1.0 - cdf_d1)


def nbody(body, acc):
    """acc[i] = sum over j of m[j] (r[j] - r[i]) / (|r[j] - r[i]|^2 + softening^2)^(3/2); body has rows (x, y, z, mass)."""
    tile = cuda.shared.array((TILE, 4), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    x, y, z = body[i, 0], body[i, 1], body[i, 2]
    ax, ay, az = float32(0.0), float32(0.0), float32(0.0)
    for start in range(0, body.shape[0], TILE):
        for c in range(4):
            tile[t, c] = body[start + t, c]
        cuda.syncthreads()
        for j in range(TILE):
            dx = tile[j, 0] - x
            dy = tile[j, 1] - y
            dz = tile[j, 2] - z
            r2 = dx * dx + dy * dy + dz * dz + float32(SOFTENING2)
            inv = float32(1.0) / math.sqrt(r2)
            w = tile[j, 3] * inv * inv * inv
            ax += w * dx
            ay += w * dy
            az += w * dz
        cuda.syncthreads()
    acc[i, 0] = ax
    acc[i, 1] = ay
    acc[i, 2] = az


def bude(protein, ligand, poses, energies):
    """Energy of each pose (3 angles, 3 shifts) of a ligand at a protein; atoms have rows (x, y, z, radius, charge)."""
    i = cuda.grid(1)
    if i >= energies.size:
        return
    sx, cx = math.sin(poses[0, i]), math.cos(poses[0, i])
    sy, cy = math.sin(poses[1, i]), math.cos(poses[1, i])
    sz, cz = math.sin(poses[2, i]), math.cos(poses[2, i])
    total = 0.0
    for a in range(ligand.shape[0]):
        lx, ly, lz = ligand[a, 0], ligand[a, 1], ligand[a, 2]
        x = cy * cz * lx + (sx * sy * cz - cx * sz) * ly + (cx * sy * cz + sx * sz) * lz + poses[3, i]
        y = cy * sz * lx + (sx * sy * sz + cx * cz) * ly + (cx * sy * sz - sx * cz) * lz + poses[4, i]
        z = -sy * lx + sx * cy * ly + cx * cy * lz + poses[5, i]
        radius, charge = ligand[a, 3], ligand[a, 4]
        for p in range(protein.shape[0]):
            dx = x - protein[p, 0]
            dy = y - protein[p, 1]
            dz = z - protein[p, 2]
            gap = math.sqrt(dx * dx + dy * dy + dz * dz) - (radius + protein[p, 3])
            if gap < 0.0:
                total -= HARDNESS * gap
            if gap < REACH:
                near = 1.0 - max(gap, 0.0) / REACH
                total += charge * protein[p, 4] * near
    energies[i] = 0.5 * total


def spmv(row_start, column, value, x, y):
    row = cuda.grid(1)
    if row < y.size:
        acc = 0.0
        for k in range(row_start[row], row_start[row + 1]):
            acc += value[k] * x[column[k]]
        y[row] = acc


def black_scholes_problem(rng, n):
    rate, volatility = np.float32(0.02), np.float32(0.30)
    price, strike, years = (
        (low + (high - low) * rng.random(n, np.float32)).astype(np.float32)
        for low, high in ((5, 30), (1, 100), (0.25, 10))
    )

    def expected():
        some = sampled(np.random.default_rng(0), n, 1 << 18)
        s, x, t = (v[some].astype(np.float64) for v in (price, strike, years))
        r, v = float(rate), float(volatility)

        def cdf(d):
            k = 1.0 / (1.0 + 0.2316419 * np.abs(d))
            tail = INV_SQRT_2PI * np.exp(-0.5 * d * d) * (k * (A1 + k * (A2 + k * (A3 + k * (A4 + k * A5)))))
            return np.where(d > 0, 1.0 - tail, tail)

        d1 = (np.log(s / x) + (r + 0.5 * v * v) * t) / (v * np.sqrt(t))
        d2 = d1 - v * np.sqrt(t)
        discounted = x * np.exp(-r * t)
        # d1 and d2 carry some ten roundings, relative to |d|; N's slope times |d| stays below 0.25; the polynomial,
        # exp and the last operations add a few eps each, exp's argument d*d/2 again relative to exp's slope.
        bound = 16 * EPS32 * (s + x)
        call = s * cdf(d1) - discounted * cdf(d2)
        return [(some, call, bound), (some, discounted * (1 - cdf(d2)) - s * (1 - cdf(d1)), bound)]

    arguments = (price, strike, years, rate, volatility, np.zeros_like(price), np.zeros_like(price))
    return Problem(arguments, (n,), (5, 6), expected, threads=n, bytes=20 * n, flops=80 * n)


def nbody_problem(rng, n):
    body = rng.random((n, 4), np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 64)
        b = body.astype(np.float64)
        d = b[None, :, :3] - b[some, None, :3]
        r2 = (d * d).sum(axis=2) + SOFTENING2
        terms = d * (b[None, :, 3] * r2**-1.5)[:, :, None]
        # A term: the difference half an eps of the larger coordinate (which is at most 1: half an eps over |d| relative,
        # so times |d|'s place in it, a softened cube: below 4 / sqrt(r2)), r2 four roundings to the power 3/2, the root,
        # the quotient and four products: 10 eps. Then n additions.
        magnitude = np.abs(terms)
        differences = (b[None, :, 3] * r2**-1.5)[:, :, None] * 4
        bound = EPS32 / 2 * ((20 + n) * magnitude.sum(axis=1) + differences.sum(axis=1))
        return [(np.s_[some, :3], terms.sum(axis=1), bound)]

    return Problem((body, np.zeros_like(body)), (n,), (1,), expected, threads=n, bytes=32 * n, flops=20 * n * n)


def bude_problem(rng, n):
    def atoms(count, spread):
        rows = np.empty((count, 5), np.float32)
        rows[:, :3] = spread * rng.standard_normal((count, 3))
        rows[:, 3] = rng.uniform(1.0, 2.0, count)
        rows[:, 4] = rng.uniform(-1.0, 1.0, count)
        return rows

    protein, ligand = atoms(938, 8.0), atoms(26, 2.0)  # as many atoms as miniBUDE's bm1
    poses = rng.uniform(-math.pi, math.pi, (6, n)).astype(np.float32)

    def expected():
        some = sampled(np.random.default_rng(0), n, 256)
        p, l, q = protein.astype(float), ligand.astype(float), poses[:, some].astype(float)
        (sx, sy, sz), (cx, cy, cz) = np.sin(q[:3]), np.cos(q[:3])
        turn = np.array([
            [cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz],
            [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz],
            [-sy, sx * cy, cx * cy],
        ])  # fmt: skip
        energies, bounds = np.zeros(len(some)), np.zeros(len(some))
        for at in range(len(some)):
            r = l[:, :3] @ turn[:, :, at].T + q[3:, at]
            gap = np.linalg.norm(r[:, None] - p[None, :, :3], axis=2) - (l[:, None, 3] + p[None, :, 3])
            charges = l[:, None, 4] * p[None, :, 4]
            clash = -HARDNESS * np.minimum(gap, 0)
            near = charges * np.clip(1 - np.maximum(gap, 0) / REACH, 0, None)
            # The energy is continuous in the gap with slope at most HARDNESS + |q| / REACH where it is not flat. A gap
            # is off by 20 roundings of coordinates up to 40 in size; then the sum, in any order.
            slope = np.where(gap < 1e-3, HARDNESS, 0) + np.where(gap < REACH + 1e-3, np.abs(charges) / REACH, 0)
            magnitude = (clash + np.abs(near)).sum()
            energies[at] = 0.5 * (clash + near).sum()
            bounds[at] = 0.5 * (slope.sum() * 20 * 40 * EPS32 / 2 + sum_bound(2 * gap.size, magnitude))
        return [(some, energies, bounds)]

    pairs = n * len(protein) * len(ligand)
    return Problem(
        (protein, ligand, poses, np.zeros(n, np.float32)), (len(protein), len(ligand), n), (3,), expected,
        threads=n, bytes=28 * n, flops=16 * pairs,
    )  # fmt: skip


def spmv_problem(rng, n):
    counts = rng.poisson(20, n)
    row_start = np.zeros(n + 1, np.int32)
    np.cumsum(counts, out=row_start[1:])
    column = rng.integers(0, n, row_start[-1], dtype=np.int32)
    value = rng.standard_normal(row_start[-1], np.float32)
    x = rng.standard_normal(n, np.float32)

    def expected():
        rows = np.repeat(np.arange(n), counts)
        products = value.astype(np.float64) * x[column]
        magnitude = np.bincount(rows, weights=np.abs(products), minlength=n)
        # A row of c products, fused or not; rows without elements are exact.
        bound = np.where(counts == 0, 0, sum_bound(counts, magnitude))
        return [(np.s_[:], np.bincount(rows, weights=products, minlength=n), bound)]

    return Problem(
        (row_start, column, value, x, np.zeros(n, np.float32)), (n,), (4,), expected, threads=n,
        bytes=8 * len(value) + 12 * n, flops=2 * len(value),
    )  # fmt: skip


def sparse(cupy, row_start, column, value, x, y):
    from cupyx.scipy.sparse import csr_matrix

    n = len(y)
    matrix = csr_matrix((value, column, row_start), shape=(n, n))
    return lambda: matrix @ x


def black_scholes_text(kind):
    opening = """
%(qualifier)sfloat normal_cdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail = 0.3989422804014327f * expf(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

%(kernel)s black_scholes(const float *price, const float *strike, const float *years, float rate, float volatility,
                   float *call, float *put, int n) {
%(loop)s
    float s = price[i], x = strike[i], t = years[i];
    float sqrt_t = sqrtf(t);
    float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * sqrt_t);
    float d2 = d1 - volatility * sqrt_t;
    float discounted = x * expf(-rate * t);
    float cdf_d1 = normal_cdf(d1), cdf_d2 = normal_cdf(d2);
    call[i] = s * cdf_d1 - discounted * cdf_d2;
    put[i] = discounted * (1.0f - cdf_d2) - s * (1.0f - cdf_d1);
  }
}
"""
    return opening % {
        "cuda": {
            "qualifier": "__device__ ", "kernel": "__global__ void",
            "loop": "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {",
        },
        "openmp": {
            "qualifier": "static ", "kernel": "void",
            "loop": "#pragma omp parallel for\n  for (int i = 0; i < n; i++) {",
        },
    }[kind]  # fmt: skip


# Pose i of `n`, in C for both.
BUDE_POSE = """\
  float sx = sinf(poses[i]), cx = cosf(poses[i]);
  float sy = sinf(poses[n + i]), cy = cosf(poses[n + i]);
  float sz = sinf(poses[2 * n + i]), cz = cosf(poses[2 * n + i]);
  float total = 0;
  for (int a = 0; a < ligands; a++) {
    float lx = ligand[5 * a], ly = ligand[5 * a + 1], lz = ligand[5 * a + 2];
    float x = cy * cz * lx + (sx * sy * cz - cx * sz) * ly + (cx * sy * cz + sx * sz) * lz + poses[3 * n + i];
    float y = cy * sz * lx + (sx * sy * sz + cx * cz) * ly + (cx * sy * sz - sx * cz) * lz + poses[4 * n + i];
    float z = -sy * lx + sx * cy * ly + cx * cy * lz + poses[5 * n + i];
    float radius = ligand[5 * a + 3], charge = ligand[5 * a + 4];
    for (int p = 0; p < proteins; p++) {
      float dx = x - protein[5 * p], dy = y - protein[5 * p + 1], dz = z - protein[5 * p + 2];
      float gap = sqrtf(dx * dx + dy * dy + dz * dz) - (radius + protein[5 * p + 3]);
      if (gap < 0.0f)
        total -= 38.0f * gap;
      if (gap < 4.0f) {
        float near = 1.0f - fmaxf(gap, 0.0f) / 4.0f;
        total += charge * protein[5 * p + 4] * near;
      }
    }
  }
  energies[i] = 0.5f * total;
"""

KERNELS = [
    Kernel(
        "Black-Scholes", black_scholes,
        "float32[::1], float32[::1], float32[::1], float32, float32, float32[::1], float32[::1]", 256,
        black_scholes_problem, gpu=1 << 24, host=1 << 20, test=5000, sweep=LINE,
        cuda=black_scholes_text("cuda"), openmp=black_scholes_text("openmp"),
    ),
    Kernel(
        "n-body", nbody, "float32[:,::1], float32[:,::1]", TILE, nbody_problem, gpu=16384, host=4096, test=256,
        power=2, step=TILE,
        cuda="""
__global__ void nbody(const float *body, float *acc, int n) {
  __shared__ float tile[128][4];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  float x = body[4 * i], y = body[4 * i + 1], z = body[4 * i + 2];
  float ax = 0, ay = 0, az = 0;
  for (int start = 0; start < n; start += 128) {
    for (int c = 0; c < 4; c++)
      tile[t][c] = body[4 * (start + t) + c];
    __syncthreads();
    for (int j = 0; j < 128; j++) {
      float dx = tile[j][0] - x, dy = tile[j][1] - y, dz = tile[j][2] - z;
      float r2 = dx * dx + dy * dy + dz * dz + 1e-3f;
      float inv = 1.0f / sqrtf(r2);
      float w = tile[j][3] * inv * inv * inv;
      ax += w * dx;
      ay += w * dy;
      az += w * dz;
    }
    __syncthreads();
  }
  acc[4 * i] = ax;
  acc[4 * i + 1] = ay;
  acc[4 * i + 2] = az;
}
""",
        openmp="""
void nbody(const float *body, float *acc, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
    float x = body[4 * i], y = body[4 * i + 1], z = body[4 * i + 2];
    float ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
      float dx = body[4 * j] - x, dy = body[4 * j + 1] - y, dz = body[4 * j + 2] - z;
      float r2 = dx * dx + dy * dy + dz * dz + 1e-3f;
      float inv = 1.0f / sqrtf(r2);
      float w = body[4 * j + 3] * inv * inv * inv;
      ax += w * dx;
      ay += w * dy;
      az += w * dz;
    }
    acc[4 * i] = ax;
    acc[4 * i + 1] = ay;
    acc[4 * i + 2] = az;
  }
}
""",
    ),
    Kernel(
        "docking energy", bude, "float32[:,::1], float32[:,::1], float32[:,::1], float32[::1]", 128, bude_problem,
        gpu=1 << 17, host=1 << 11, test=32,
        cuda="""
__global__ void bude(const float *protein, const float *ligand, const float *poses, float *energies,
                     int proteins, int ligands, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
""" + BUDE_POSE + """}
""",
        openmp="""
void bude(const float *protein, const float *ligand, const float *poses, float *energies,
          int proteins, int ligands, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i++) {
""" + BUDE_POSE + """  }
}
""",
    ),
    Kernel(
        "sparse times vector", spmv, "int32[::1], int32[::1], float32[::1], float32[::1], float32[::1]", 128,
        spmv_problem, gpu=1 << 20, host=1 << 18, test=3000, kind="irregular", peers={"cupy": sparse},
        cuda="""
__global__ void spmv(const int *row_start, const int *column, const float *value, const float *x, float *y, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    float acc = 0;
    for (int k = row_start[row]; k < row_start[row + 1]; k++)
      acc += value[k] * x[column[k]];
    y[row] = acc;
  }
}
""",
        openmp="""
void spmv(const int *row_start, const int *column, const float *value, const float *x, float *y, int n) {
#pragma omp parallel for
  for (int row = 0; row < n; row++) {
    float acc = 0;
    for (int k = row_start[row]; k < row_start[row + 1]; k++)
      acc += value[k] * x[column[k]];
    y[row] = acc;
  }
}
""",
    ),
]  # fmt: skip
