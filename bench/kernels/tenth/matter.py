"""Matter: pressure of smoothed particles, orbitals and potentials on grids, energies of twists."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import each, indexed
from pyptx import cuda, float32


def pressure_forces(places, densities, pressures, starts, sides, reach, mass, forces):
    """Smoothed particles: the pressure of what is within reach, found in 27 cells; particles are sorted by cell."""
    i = cuda.grid(1)
    if i >= places.shape[0]:
        return
    x, y, z = places[i]
    mine = pressures[i] / (densities[i] * densities[i])
    nx, ny, nz = int(sides[0]), int(sides[1]), int(sides[2])
    cx, cy, cz = int(x / reach), int(y / reach), int(z / reach)
    fx = fy = fz = float32(0)
    for k in range(max(cz - 1, 0), min(cz + 2, nz)):
        for j in range(max(cy - 1, 0), min(cy + 2, ny)):
            row = (k * ny + j) * nx
            for p in range(starts[row + max(cx - 1, 0)], starts[row + min(cx + 1, nx - 1) + 1]):
                if p == i:
                    continue
                dx = x - places[p, 0]
                dy = y - places[p, 1]
                dz = z - places[p, 2]
                r = math.sqrt(dx * dx + dy * dy + dz * dz)
                if r < reach and r > 0:
                    share = 1 - r / reach
                    other = pressures[p] / (densities[p] * densities[p])
                    f = mass * (mine + other) * share * share / r
                    fx += f * dx
                    fy += f * dy
                    fz += f * dz
    forces[i, 0] = fx
    forces[i, 1] = fy
    forces[i, 2] = fz


def orbital_values(centres, kinds, first, exponents, contractions, coefficients, places, origin, cell, values):
    """A molecular orbital on a grid: contracted Gaussians of kinds s and p around atoms."""
    x, y, z = cuda.grid(3)
    nz, ny, nx = values.shape
    if x >= nx or y >= ny or z >= nz:
        return
    px = origin[0] + cell * x
    py = origin[1] + cell * y
    pz = origin[2] + cell * z
    total = float32(0)
    for shell in range(kinds.size):
        dx = px - centres[shell, 0]
        dy = py - centres[shell, 1]
        dz = pz - centres[shell, 2]
        d2 = dx * dx + dy * dy + dz * dz
        begin, end = first[shell], first[shell + 1]
        if exponents[end - 1] * d2 > 40:
            continue
        radial = float32(0)
        for k in range(begin, end):
            radial += contractions[k] * math.exp(-exponents[k] * d2)
        c = places[shell]
        if kinds[shell] == 0:
            total += coefficients[c] * radial
        else:
            total += radial * (coefficients[c] * dx + coefficients[c + 1] * dy + coefficients[c + 2] * dz)
    values[z, y, x] = total


def potential_map(atoms, cell, softness, dielectric, potential):
    """The electrostatic potential of charges on a grid, with a dielectric that grows with distance."""
    x, y, z = cuda.grid(3)
    if x >= potential.shape[2] or y >= potential.shape[1] or z >= potential.shape[0]:
        return
    total = float32(0)
    for k in range(atoms.shape[0]):
        dx = atoms[k, 0] - cell * x
        dy = atoms[k, 1] - cell * y
        dz = atoms[k, 2] - cell * z
        r2 = dx * dx + dy * dy + dz * dz + softness
        total += atoms[k, 3] / (math.sqrt(r2) + dielectric * r2)
    potential[z, y, x] = total


def twist_energies(places, quads, kinds, table, energies):
    """Energies of torsions: the angle between two planes of four atoms, and a row of cosines of its multiples."""
    i = cuda.grid(1)
    if i >= energies.size:
        return
    a, b, c, d = quads[i]
    ux, uy, uz = places[b, 0] - places[a, 0], places[b, 1] - places[a, 1], places[b, 2] - places[a, 2]
    vx, vy, vz = places[c, 0] - places[b, 0], places[c, 1] - places[b, 1], places[c, 2] - places[b, 2]
    wx, wy, wz = places[d, 0] - places[c, 0], places[d, 1] - places[c, 1], places[d, 2] - places[c, 2]
    mx, my, mz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    nx, ny, nz = vy * wz - vz * wy, vz * wx - vx * wz, vx * wy - vy * wx
    size = math.sqrt(vx * vx + vy * vy + vz * vz)
    angle = math.atan2(size * (ux * nx + uy * ny + uz * nz), mx * nx + my * ny + mz * nz)
    kind = kinds[i]
    energy = float32(0)
    for k in range(table.shape[1]):
        if table[kind, k, 0] != 0:
            energy += table[kind, k, 0] * (1 + math.cos((k + 1) * angle - table[kind, k, 1]))
    energies[i] = energy


def pressure_problem(rng, n):
    sides = np.array([n, n + 1, n + 2], np.int32)
    cells = int(np.prod(sides))
    count, reach, mass = 20 * cells, np.float32(1), np.float32(0.05)
    places = (rng.random((count, 3), np.float32) * sides * np.float32(0.9999)).astype(np.float32)
    c = places.astype(int)
    key = (c[:, 2] * sides[1] + c[:, 1]) * sides[0] + c[:, 0]
    order = np.argsort(key, kind="stable")
    places, key = places[order].copy(), key[order]
    starts = np.searchsorted(key, np.arange(cells + 1)).astype(np.int32)
    densities, pressures = rng.uniform(0.9, 1.1, count).astype(np.float32), rng.uniform(0.1, 2, count).astype(np.float32)

    def expected():
        at = sampled(rng, count, 400)
        p, s = places.astype(float), pressures.astype(float) / densities.astype(float) ** 2
        values, bounds = [], []
        for i in at:
            k = key[i] // (sides[0] * sides[1])
            some = np.arange(starts[max(k - 1, 0) * sides[0] * sides[1]], starts[min((k + 2) * sides[0] * sides[1], cells)])
            some = some[some != i]
            d = p[i] - p[some]
            r = np.sqrt((d * d).sum(1))
            d, r, some = d[(r < 1) & (r > 0)], r[(r < 1) & (r > 0)], some[(r < 1) & (r > 0)]
            f = float(mass) * (s[i] + s[some]) * (1 - r) ** 2 / r
            values.append((f[:, None] * d).sum(0))
            # The differences are exact; a direction and a size are not, nor is 1 - r.
            bounds.append(EPS32 * ((len(r) + 12) * f * r + 4 * float(mass) * (s[i] + s[some]) * (1 - r)).sum() + 1e-30)
        return [(at, np.array(values), np.array(bounds)[:, None])]

    args = (places, densities, pressures, starts, sides, reach, mass, np.full((count, 3), 99, np.float32))
    return Problem(
        args, (count,), (7,), expected, threads=count, bytes=32.0 * count, flops=12.0 * 540 * count,
    )  # fmt: skip


def orbital_problem(rng, n):
    shells, cell = 47, np.float32(12 / n)
    centres = np.repeat(rng.uniform(1, 11, (shells // 2 + 1, 3)), 2, 0)[:shells].astype(np.float32)
    kinds = (np.arange(shells) % 2).astype(np.int8)
    sizes = rng.integers(1, 5, shells)
    first = np.cumsum([0, *sizes]).astype(np.int32)
    exponents = np.concatenate([np.sort(10 ** rng.uniform(-1, 1.5, s))[::-1] for s in sizes]).astype(np.float32)
    contractions = rng.uniform(0.1, 1, len(exponents)).astype(np.float32)
    places = np.cumsum([0, *np.where(kinds == 0, 1, 3)])[:-1].astype(np.int32)
    coefficients = rng.standard_normal(int(places[-1]) + 3, np.float32)
    origin = np.array([0.1, -0.2, 0.05], np.float32)
    shape = (n, n + 3, n + 7)

    def expected():
        at = sampled(rng, n, 3)
        z, y, x = np.meshgrid(at, *map(np.arange, shape[1:]), indexing="ij")
        p = origin.astype(float) + float(cell) * np.stack([x, y, z], -1)
        total, bound = np.zeros(z.shape), np.zeros(z.shape)
        for s in range(shells):
            d = p - centres[s]
            d2, radial, error = (d * d).sum(-1), 0, 0
            for k in range(first[s], first[s + 1]):
                part = float(contractions[k]) * np.exp(-float(exponents[k]) * d2)
                # The exponent is off by the rounding of places up to 12, and by its own.
                steep = float(exponents[k]) * (d2 + 30 * np.sqrt(d2) + 1e-5)
                radial, error = radial + part, error + part * EPS32 * (12 + 4 * steep)
            c = coefficients[places[s] : places[s] + 3].astype(float)
            weight, size = (c[0], abs(c[0])) if kinds[s] == 0 else (d @ c, abs(d) @ abs(c))
            total += weight * radial
            bound += size * (error + shells * EPS32 * radial) + (12 * EPS32 * abs(c).sum() * radial if kinds[s] else 0)
        return [(at, total, bound + 1e-13)]

    args = (centres, kinds, first, exponents, contractions, coefficients, places, origin, cell, np.full(shape, 99, np.float32))
    return Problem(
        args, (shells, *shape), (9,), expected, threads=shape[::-1], bytes=4.0 * np.prod(shape),
        flops=12.0 * shells * np.prod(shape),
    )  # fmt: skip


def potential_problem(rng, n):
    count, shape = 301, (n, n + 5, n + 2)
    atoms = np.concatenate([rng.uniform(0, 20, (count, 3)), rng.choice([-1, -0.5, 0.5, 1], (count, 1))], 1).astype(np.float32)
    cell, softness, dielectric = np.float32(20 / n), np.float32(0.05), np.float32(0.3)

    def expected():
        at = sampled(rng, n, 3)
        z, y, x = np.meshgrid(at, *map(np.arange, shape[1:]), indexing="ij")
        p, total, size = float(cell) * np.stack([x, y, z], -1), 0, 0
        for *place, charge in atoms.astype(float):
            r2 = ((p - place) ** 2).sum(-1) + float(softness)
            v = charge / (np.sqrt(r2) + float(dielectric) * r2)
            total, size = total + v, size + abs(v) * (1 + 20 / np.sqrt(r2))
        return [(at, total, EPS32 * 8 * size + count * EPS32 / 2 * size)]

    args = (atoms, cell, softness, dielectric, np.full(shape, 99, np.float32))
    return Problem(
        args, (count, *shape), (4,), expected, threads=shape[::-1], bytes=4.0 * np.prod(shape),
        flops=14.0 * count * np.prod(shape),
    )  # fmt: skip


def twist_problem(rng, n):
    atoms = n + 3
    turn = np.cumsum(rng.uniform(0.5, 2.5, atoms))
    places = np.stack([np.cos(turn), np.sin(turn), 0.7 * np.arange(atoms) % 50], 1) + 0.1 * rng.standard_normal((atoms, 3))
    places = places.astype(np.float32)
    base = rng.integers(0, n, n)
    quads = (base[:, None] + np.arange(4)).astype(np.int32)
    kinds = rng.integers(0, 19, n).astype(np.uint8)
    table = np.stack([rng.integers(0, 3, (19, 4)), rng.choice([0, np.pi], (19, 4))], -1).astype(np.float32)

    def expected():
        at = sampled(rng, n, 20000)
        p = places.astype(float)[quads[at]]
        u, v, w = p[:, 1] - p[:, 0], p[:, 2] - p[:, 1], p[:, 3] - p[:, 2]
        a, b = np.cross(u, v), np.cross(v, w)
        size = np.linalg.norm(v, axis=1)
        angle = np.arctan2(size * (u * b).sum(1), (a * b).sum(1))
        height, phase = table.astype(float)[kinds[at]].transpose(2, 0, 1)
        m = np.arange(1, 5)
        energy = (height * (1 + np.cos(m * angle[:, None] - phase))).sum(1)
        largest = np.linalg.norm(u, axis=1) * size, size * np.linalg.norm(w, axis=1)
        lost = largest[0] * largest[1] / np.maximum(np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1), 1e-12)
        bound = EPS32 * (height * (m * (6 + 8 * lost[:, None]) + 8)).sum(1) + 1e-9
        return [(at, energy, bound)]

    args = (places, quads, kinds, table, np.full(n, -1, np.float32))
    return Problem(args, (n, 4), (4,), expected, threads=n, bytes=33.0 * n, flops=200.0 * n)


def space(head, body, before=""):
    """One thread for each (z, y, x)."""
    return indexed(
        f"""
__global__ void {head} {{
  INDEX x = blockIdx.x * (INDEX)blockDim.x + threadIdx.x, y = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX z = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) {{{body}  }}
}}
""",
        f"""
void {head} {{
#pragma omp parallel for collapse(2)
  for (INDEX z = 0; z < nz; z++)
    for (INDEX y = 0; y < ny; y++)
      for (INDEX x = 0; x < nx; x++) {{{body}      }}
}}
""",
    )


PRESSURE = each(
    """pressure_forces(const float *__restrict__ places, const float *__restrict__ densities, const float *__restrict__ pressures,
                     const int *__restrict__ starts, const int *__restrict__ sides, float reach, float mass,
                     float *__restrict__ forces, int n)""",
    """
    float x = places[3 * i], y = places[3 * i + 1], z = places[3 * i + 2], fx = 0, fy = 0, fz = 0;
    float mine = pressures[i] / (densities[i] * densities[i]);
    int nx = sides[0], ny = sides[1], nz = sides[2], cx = (int)(x / reach), cy = (int)(y / reach), cz = (int)(z / reach);
    for (int k = MAX(cz - 1, 0); k < MIN(cz + 2, nz); k++)
      for (int j = MAX(cy - 1, 0); j < MIN(cy + 2, ny); j++) {
        int row = (k * ny + j) * nx;
        INDEX end = starts[row + MIN(cx + 1, nx - 1) + 1];
        for (INDEX p = starts[row + MAX(cx - 1, 0)]; p < end; p++) {
          if (p == i) continue;
          float dx = x - places[3 * p], dy = y - places[3 * p + 1], dz = z - places[3 * p + 2];
          float r = sqrtf(dx * dx + dy * dy + dz * dz);
          if (r < reach && r > 0) {
            float share = 1 - r / reach, other = pressures[p] / (densities[p] * densities[p]);
            float f = mass * (mine + other) * share * share / r;
            fx += f * dx;
            fy += f * dy;
            fz += f * dz;
          }
        }
      }
    forces[3 * i] = fx;
    forces[3 * i + 1] = fy;
    forces[3 * i + 2] = fz;
""",
)

ORBITALS = space(
    """orbital_values(const float *__restrict__ centres, const signed char *__restrict__ kinds, const int *__restrict__ first,
                    const float *__restrict__ exponents, const float *__restrict__ contractions,
                    const float *__restrict__ coefficients, const int *__restrict__ places,
                    const float *__restrict__ origin, float cell, float *__restrict__ values, int shells, int nz, int ny,
                    int nx)""",
    """
    float px = origin[0] + cell * x, py = origin[1] + cell * y, pz = origin[2] + cell * z, total = 0;
    for (INDEX shell = 0; shell < shells; shell++) {
      float dx = px - centres[3 * shell], dy = py - centres[3 * shell + 1], dz = pz - centres[3 * shell + 2];
      float d2 = dx * dx + dy * dy + dz * dz, radial = 0;
      INDEX end = first[shell + 1];
      if (exponents[end - 1] * d2 > 40) continue;
      for (INDEX k = first[shell]; k < end; k++)
        radial += contractions[k] * expf(-exponents[k] * d2);
      const float *c = coefficients + places[shell];
      if (kinds[shell] == 0)
        total += c[0] * radial;
      else
        total += radial * (c[0] * dx + c[1] * dy + c[2] * dz);
    }
    values[(z * ny + y) * nx + x] = total;
""",
)

POTENTIAL = space(
    """potential_map(const float *__restrict__ atoms, float cell, float softness, float dielectric,
                   float *__restrict__ potential, int count, int nz, int ny, int nx)""",
    """
    float total = 0;
    for (INDEX k = 0; k < count; k++) {
      float dx = atoms[4 * k] - cell * x, dy = atoms[4 * k + 1] - cell * y, dz = atoms[4 * k + 2] - cell * z;
      float r2 = dx * dx + dy * dy + dz * dz + softness;
      total += atoms[4 * k + 3] / (sqrtf(r2) + dielectric * r2);
    }
    potential[(z * ny + y) * nx + x] = total;
""",
)

TWISTS = each(
    """twist_energies(const float *__restrict__ places, const int *__restrict__ quads, const unsigned char *__restrict__ kinds,
                    const float *__restrict__ table, float *__restrict__ energies, int n, int terms)""",
    """
    const int *quad = quads + 4 * i;
    const float *a = places + 3 * (INDEX)quad[0], *b = places + 3 * (INDEX)quad[1], *c = places + 3 * (INDEX)quad[2];
    const float *d = places + 3 * (INDEX)quad[3];
    float ux = b[0] - a[0], uy = b[1] - a[1], uz = b[2] - a[2], vx = c[0] - b[0], vy = c[1] - b[1], vz = c[2] - b[2];
    float wx = d[0] - c[0], wy = d[1] - c[1], wz = d[2] - c[2];
    float mx = uy * vz - uz * vy, my = uz * vx - ux * vz, mz = ux * vy - uy * vx;
    float nx = vy * wz - vz * wy, ny = vz * wx - vx * wz, nz = vx * wy - vy * wx;
    float size = sqrtf(vx * vx + vy * vy + vz * vz), energy = 0;
    float angle = atan2f(size * (ux * nx + uy * ny + uz * nz), mx * nx + my * ny + mz * nz);
    const float *row = table + kinds[i] * terms * 2;
    for (INDEX k = 0; k < terms; k++)
      if (row[2 * k] != 0) energy += row[2 * k] * (1 + cosf((k + 1) * angle - row[2 * k + 1]));
    energies[i] = energy;
""",
)

KERNELS = [
    Kernel(
        "pressure of smoothed particles", pressure_forces,
        "float32[:,::1], float32[::1], float32[::1], int32[::1], int32[::1], float32, float32, float32[:,::1]", 128,
        pressure_problem, gpu=23, host=7, test=4, power=3, kind="irregular", **PRESSURE,
    ),
    Kernel(
        "an orbital on a grid", orbital_values,
        "float32[:,::1], int8[::1], int32[::1], float32[::1], float32[::1], float32[::1], int32[::1], float32[::1], float32, "
        "float32[:,:,::1]",
        (32, 4, 1), orbital_problem, gpu=131, host=31, test=13, power=3, **ORBITALS,
    ),
    Kernel(
        "potential of charges", potential_map, "float32[:,::1], float32, float32, float32, float32[:,:,::1]", (32, 2, 2),
        potential_problem, gpu=141, host=31, test=13, power=3, **POTENTIAL,
    ),
    Kernel(
        "energies of twists", twist_energies,
        "float32[:,::1], int32[:,::1], uint8[::1], float32[:,:,::1], float32[::1]", 256, twist_problem, gpu=2_000_003,
        host=30_011, test=503, kind="irregular", **TWISTS,
    ),
]  # fmt: skip
