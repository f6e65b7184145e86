"""Matter: forces of bonds, Ewald's sum in real space."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled, sum_bound
from kernels.texts import each, indexed
from pyptx import cuda, float32


def bond_forces(pairs, lengths, stiffness, place, force):
    """Adds the forces of springs between pairs of atoms to both of them."""
    b = cuda.grid(1)
    if b >= pairs.shape[0]:
        return
    i = pairs[b, 0]
    j = pairs[b, 1]
    dx = place[j, 0] - place[i, 0]
    dy = place[j, 1] - place[i, 1]
    dz = place[j, 2] - place[i, 2]
    r = math.sqrt(dx * dx + dy * dy + dz * dz)
    f = stiffness[b] * (r - lengths[b]) / r
    cuda.atomic.add(force, (i, 0), f * dx)
    cuda.atomic.add(force, (i, 1), f * dy)
    cuda.atomic.add(force, (i, 2), f * dz)
    cuda.atomic.add(force, (j, 0), -f * dx)
    cuda.atomic.add(force, (j, 1), -f * dy)
    cuda.atomic.add(force, (j, 2), -f * dz)


def ewald_real(place, box, alpha, cutoff2, force):
    """The part of Ewald's sum in real space: screened forces of the nearest images; x, y, z, charge in tiles of 128."""
    tile = cuda.shared.array((128, 4), float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    n = place.shape[0]
    me = min(i, n - 1)
    x = place[me, 0]
    y = place[me, 1]
    z = place[me, 2]
    fx = float32(0.0)
    fy = float32(0.0)
    fz = float32(0.0)
    for start in range(0, n, 128):
        if start + t < n:
            for k in range(4):
                tile[t, k] = place[start + t, k]
        cuda.syncthreads()
        for j in range(min(128, n - start)):
            dx = x - tile[j, 0]
            dy = y - tile[j, 1]
            dz = z - tile[j, 2]
            dx -= box * np.rint(dx / box)
            dy -= box * np.rint(dy / box)
            dz -= box * np.rint(dz / box)
            r2 = dx * dx + dy * dy + dz * dz
            if r2 > 0 and r2 < cutoff2:
                r = math.sqrt(r2)
                ar = alpha * r
                f = math.erfc(ar) / r + alpha * float32(1.1283792) * math.exp(-ar * ar)
                f *= tile[j, 3] / r2
                fx += f * dx
                fy += f * dy
                fz += f * dz
        cuda.syncthreads()
    if i < n:
        charge = place[i, 3]
        force[i, 0] = charge * fx
        force[i, 1] = charge * fy
        force[i, 2] = charge * fz


def bond_problem(rng, n):
    place = np.cumsum(rng.normal(0, 0.09, (n, 3)), 0).astype(np.float32)
    place -= place.mean(0)
    first = np.concatenate([np.arange(n - 1), np.arange(n - 3)])
    pairs = np.stack([first, first + np.repeat([1, 3], [n - 1, n - 3])], 1).astype(np.int32)
    pairs = pairs[rng.permutation(len(pairs))]
    lengths = np.float32(rng.uniform(0.1, 0.2, len(pairs)))
    stiffness = np.float32(rng.uniform(200, 400, len(pairs)))

    def expected():
        i, j = pairs.T
        d = place[j].astype(float) - place[i]
        r = np.sqrt((d * d).sum(1))
        f = (stiffness * (r - lengths) / r)[:, None] * d
        # Differences of places are rounded once: an eps / 2 of the place, and r by 4 eps; then stiffness and 4 more.
        off = EPS32 * stiffness * (4 * (r + lengths) + 2 * np.abs(r - lengths) + 4 * np.abs(place[i]).max(1))
        force, sizes, errors = (np.zeros((n, 3)) for _ in range(3))
        for atom, sign in ((i, 1), (j, -1)):
            np.add.at(force, atom, sign * f)
            np.add.at(sizes, atom, np.abs(f))
            np.add.at(errors, atom, off[:, None])
        return [(slice(None), force, sum_bound(4, sizes) + errors)]

    args = (pairs, lengths, stiffness, place, np.zeros((n, 3), np.float32))
    return Problem(args, (len(pairs),), (4,), expected, threads=len(pairs), bytes=16.0 * len(pairs) + 24.0 * n)


def ewald_problem(rng, n):
    box, alpha, cutoff2 = np.float32(24), np.float32(0.55), np.float32(25)
    place = np.empty((n, 4), np.float32)
    place[:, :3] = rng.integers(0, 24 * 64, (n, 3)) / 64  # so that r² is exact
    place[:, 3] = rng.choice([-0.8, 0.4, 0.4], n)

    def expected():
        at = sampled(rng, n, 150)
        d = place[at, None, :3].astype(float) - place[None, :, :3]
        d -= 24 * np.rint(d / 24)
        r2 = (d * d).sum(2)
        near = (r2 > 0) & (r2 < 25)
        r, a = np.sqrt(np.where(near, r2, 1)), float(alpha)
        screened = np.vectorize(math.erfc)(a * r) / r + a * 2 / math.sqrt(math.pi) * np.exp(-((a * r) ** 2))
        f = np.where(near, screened / r**2 * place[:, 3], 0)[:, :, None] * d * place[at, None, 3:]
        sizes = np.abs(f).sum(1)
        # exp(-(ar)²) and erfc(ar), ar below 2.75: their arguments' roundings weigh 2 (ar)² < 16, and 10 others.
        return [(at, f.sum(1), sum_bound(near.sum(1)[:, None], sizes) + 26 * EPS32 * sizes)]

    args = (place, box, alpha, cutoff2, np.zeros((n, 3), np.float32))
    return Problem(args, (n,), (4,), expected, threads=n, flops=20.0 * n * n)


BONDS = each(
    """bond_forces(const int *__restrict__ pairs, const float *__restrict__ lengths,
                 const float *__restrict__ stiffness, const float *__restrict__ place,
                 float *__restrict__ force, int bonds)""",
    """
    INDEX i = pairs[2 * b], j = pairs[2 * b + 1];
    float dx = place[3 * j] - place[3 * i], dy = place[3 * j + 1] - place[3 * i + 1];
    float dz = place[3 * j + 2] - place[3 * i + 2];
    float r = sqrtf(dx * dx + dy * dy + dz * dz), f = stiffness[b] * (r - lengths[b]) / r;
    ADD force[3 * i] BY f * dx END;
    ADD force[3 * i + 1] BY f * dy END;
    ADD force[3 * i + 2] BY f * dz END;
    ADD force[3 * j] BY -f * dx END;
    ADD force[3 * j + 1] BY -f * dy END;
    ADD force[3 * j + 2] BY -f * dz END;
""",
    extent="bonds",
    index="b",
)
ATOMIC = {"ADD ": "atomicAdd(&", " BY": ",", " END": ")"}
LOOPED = {"ADD ": '_Pragma("omp atomic") ', " BY": " +=", " END": ""}
for text in BONDS:
    for word, meant in (LOOPED if text == "openmp" else ATOMIC).items():
        BONDS[text] = BONDS[text].replace(word, meant)

EWALD_HEAD = """ewald_real(const float *__restrict__ place, float box, float alpha, float cutoff2,
                float *__restrict__ force, int n)"""
PAIR = """
      dx -= box * rintf(dx / box);
      dy -= box * rintf(dy / box);
      dz -= box * rintf(dz / box);
      float r2 = dx * dx + dy * dy + dz * dz;
      if (r2 > 0 && r2 < cutoff2) {
        float r = sqrtf(r2), ar = alpha * r, f = erfcf(ar) / r + alpha * 1.1283792f * expf(-ar * ar);
        f *= other[3] / r2;
        fx += f * dx;
        fy += f * dy;
        fz += f * dz;
      }
"""
EWALD = indexed(
    f"""
__global__ void {EWALD_HEAD} {{
  __shared__ float tile[128][4];
  INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, t = threadIdx.x, me = MIN(i, (INDEX)n - 1);
  float x = place[4 * me], y = place[4 * me + 1], z = place[4 * me + 2], fx = 0, fy = 0, fz = 0;
  for (INDEX start = 0; start < n; start += 128) {{
    if (start + t < n)
      for (int k = 0; k < 4; k++)
        tile[t][k] = place[(start + t) * 4 + k];
    __syncthreads();
    INDEX count = MIN((INDEX)128, n - start);
    for (INDEX j = 0; j < count; j++) {{
      const float *other = tile[j];
      float dx = x - other[0], dy = y - other[1], dz = z - other[2];{PAIR}    }}
    __syncthreads();
  }}
  if (i < n) {{
    float charge = place[4 * i + 3];
    force[3 * i] = charge * fx;
    force[3 * i + 1] = charge * fy;
    force[3 * i + 2] = charge * fz;
  }}
}}
""",
    f"""
void {EWALD_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{
    const float *mine = place + 4 * i;
    float fx = 0, fy = 0, fz = 0;
    for (INDEX j = 0; j < n; j++) {{
      const float *other = place + 4 * j;
      float dx = mine[0] - other[0], dy = mine[1] - other[1], dz = mine[2] - other[2];{PAIR}    }}
    force[3 * i] = mine[3] * fx;
    force[3 * i + 1] = mine[3] * fy;
    force[3 * i + 2] = mine[3] * fz;
  }}
}}
""",
)

KERNELS = [
    Kernel(
        "forces of bonds", bond_forces,
        "int32[:,::1], float32[::1], float32[::1], float32[:,::1], float32[:,::1]", 128, bond_problem,
        gpu=1_000_003, host=30_011, test=703, kind="irregular", **BONDS,
    ),
    Kernel(
        "Ewald's real space", ewald_real, "float32[:,::1], float32, float32, float32, float32[:,::1]", 128,
        ewald_problem,
        gpu=10_007, host=1501, test=203, power=2, kind="shared", **EWALD,
    ),
]  # fmt: skip
