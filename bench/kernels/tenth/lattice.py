"""Particles and fields: gauge fields on a lattice, currents of particles, forces by lists, photons in layers."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.tenth.adds import with_adds
from kernels.texts import each, indexed
from pyptx import cuda, float32, uint32


def site_above(site, d, dims):
    stride = 1
    for k in range(d):
        stride *= int(dims[k])
    n = int(dims[d])
    if site // stride % n < n - 1:
        return site + stride
    return site - (n - 1) * stride


def site_below(site, d, dims):
    stride = 1
    for k in range(d):
        stride *= int(dims[k])
    n = int(dims[d])
    if site // stride % n > 0:
        return site - stride
    return site + (n - 1) * stride


def quaternion(links, site, d):
    return links[site, d, 0], links[site, d, 1], links[site, d, 2], links[site, d, 3]


def times(a, b):
    a0, a1, a2, a3 = a
    b0, b1, b2, b3 = b
    return (
        a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
        a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
        a0 * b2 + a2 * b0 + a3 * b1 - a1 * b3,
        a0 * b3 + a3 * b0 + a1 * b2 - a2 * b1,
    )


def su2_plaquettes(links, dims, out):
    """Half the traces of the six plaquettes of each site of a lattice in four dimensions, links in SU(2)."""
    site = cuda.grid(1)
    if site >= out.shape[0]:
        return
    total = float32(0)
    for mu in range(4):
        for nu in range(mu + 1, 4):
            here = times(quaternion(links, site, mu), quaternion(links, site_above(site, mu, dims), nu))
            there = times(quaternion(links, site, nu), quaternion(links, site_above(site, nu, dims), mu))
            for k in range(4):
                total += here[k] * there[k]
    out[site] = total


def staggered_hop(links, v, dims, out):
    """The hopping term of staggered fermions: SU(3) matrices times the colours of eight neighbours, with signs."""
    site = cuda.grid(1)
    if site >= out.shape[0]:
        return
    sign = 1
    rest = site
    r = g = b = np.complex64(0)
    for mu in range(4):
        n = int(dims[mu])
        u = links[site, mu]
        w = v[site_above(site, mu, dims)]
        below = site_below(site, mu, dims)
        h = links[below, mu]
        x = v[below]
        factor = float32(0.5) * sign
        r += factor * (u[0] * w[0] + u[1] * w[1] + u[2] * w[2])
        g += factor * (u[3] * w[0] + u[4] * w[1] + u[5] * w[2])
        b += factor * (u[6] * w[0] + u[7] * w[1] + u[8] * w[2])
        r -= factor * (h[0].conjugate() * x[0] + h[3].conjugate() * x[1] + h[6].conjugate() * x[2])
        g -= factor * (h[1].conjugate() * x[0] + h[4].conjugate() * x[1] + h[7].conjugate() * x[2])
        b -= factor * (h[2].conjugate() * x[0] + h[5].conjugate() * x[1] + h[8].conjugate() * x[2])
        if rest % n % 2 == 1:
            sign = -sign
        rest //= n
    out[site, 0] = r
    out[site, 1] = g
    out[site, 2] = b


def deposit_part(current, charge, x0, y0, x1, y1, col, row):
    fx = charge * (x1 - x0)
    fy = charge * (y1 - y0)
    wx = float32(0.5) * (x0 + x1) - col
    wy = float32(0.5) * (y0 + y1) - row
    cuda.atomic.add(current, (0, row, col), fx * (1 - wy))
    cuda.atomic.add(current, (0, row + 1, col), fx * wy)
    cuda.atomic.add(current, (1, row, col), fy * (1 - wx))
    cuda.atomic.add(current, (1, row, col + 1), fy * wx)


def zigzag_currents(before, after, charges, current):
    """Umeda's zigzag: the currents of particles that move less than a cell, which keep the charge exactly."""
    for i in range(cuda.grid(1), charges.size, cuda.gridsize(1)):
        x0, y0 = before[i]
        x1, y1 = after[i]
        col0 = int(math.floor(x0))
        row0 = int(math.floor(y0))
        col1 = int(math.floor(x1))
        row1 = int(math.floor(y1))
        xr = min(float32(min(col0, col1) + 1), max(float32(max(col0, col1)), float32(0.5) * (x0 + x1)))
        yr = min(float32(min(row0, row1) + 1), max(float32(max(row0, row1)), float32(0.5) * (y0 + y1)))
        q = charges[i]
        deposit_part(current, q, x0, y0, xr, yr, col0, row0)
        deposit_part(current, q, xr, yr, x1, y1, col1, row1)


def listed_forces(places, kinds, counts, neighbours, pairs, box, cutoff, forces, energies):
    """Lennard-Jones' forces from a list of neighbours, two parameters a pair of kinds, shifted at the cut-off."""
    i = cuda.grid(1)
    if i >= counts.size:
        return
    x, y, z = places[i]
    kind = kinds[i]
    fx = fy = fz = energy = float32(0)
    for k in range(counts[i]):
        j = neighbours[k, i]
        dx = places[j, 0] - x
        dy = places[j, 1] - y
        dz = places[j, 2] - z
        dx -= box * np.rint(dx / box)
        dy -= box * np.rint(dy / box)
        dz -= box * np.rint(dz / box)
        d2 = dx * dx + dy * dy + dz * dz
        if d2 >= cutoff * cutoff:
            continue
        sigma2 = pairs[kind, kinds[j], 0]
        epsilon = pairs[kind, kinds[j], 1]
        s = sigma2 / d2
        s3 = s * s * s
        e = sigma2 / (cutoff * cutoff)
        e3 = e * e * e
        r = math.sqrt(d2)
        at_end = 24 * epsilon * e3 * (2 * e3 - 1) / cutoff
        force = 24 * epsilon * s3 * (2 * s3 - 1) / r - at_end
        energy += 4 * epsilon * (s3 * (s3 - 1) - e3 * (e3 - 1)) + at_end * (r - cutoff)
        fx -= force * dx / r
        fy -= force * dy / r
        fz -= force * dz / r
    forces[i, 0] = fx
    forces[i, 1] = fy
    forces[i, 2] = fz
    energies[i] = energy / 2


def slab_photons(tops, absorption, scattering, count, seed, dose, lost):
    """Photons through layers of a tissue: free paths, part of the weight stays where they collide; sums in shared
    memory.
    """
    sums = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    layers = absorption.size
    for k in range(t, layers + 2, cuda.blockDim.x):
        sums[k] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < count:
        state = uint32(i) * uint32(2654435761) ^ uint32(seed)
        if state == 0:
            state = uint32(1)
        z = float32(0)
        direction = float32(1)
        weight = float32(1)
        layer = 0
        while weight > float32(0.001):
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            free = -math.log(float32(state >> 8) * float32(2**-24) + float32(2**-25))
            while 0 <= layer < layers:
                total = absorption[layer] + scattering[layer]
                edge = tops[layer + 1] if direction > 0 else tops[layer]
                way = (edge - z) / direction
                if free < way * total:
                    z += direction * free / total
                    break
                free -= way * total
                z = edge
                layer += 1 if direction > 0 else -1
            if layer < 0 or layer >= layers:
                break
            part = weight * absorption[layer] / (absorption[layer] + scattering[layer])
            cuda.atomic.add(sums, layer, part)
            weight -= part
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
            direction = float32(state >> 8) * float32(2**-23) - 1 + float32(2**-24)
        if layer < 0:
            cuda.atomic.add(sums, layers, weight)
        elif layer >= layers:
            cuda.atomic.add(sums, layers + 1, weight)
    cuda.syncthreads()
    for k in range(t, layers + 2, cuda.blockDim.x):
        if k < layers:
            cuda.atomic.add(dose, k, sums[k])
        else:
            cuda.atomic.add(lost, k - layers, sums[k])


def neighbours_of(sites, dims, d, by):
    dims = np.asarray(dims).astype(np.int64)
    stride = int(np.prod(dims[:d]))
    c = sites // stride % dims[d]
    return sites + ((c + by) % dims[d] - c) * stride


def plaquette_problem(rng, n):
    dims = np.array([n, n + 1, n + 2, n + 3], np.int32)
    sites = int(np.prod(dims.astype(np.int64)))
    links = rng.standard_normal((sites, 4, 4), np.float32)
    links /= np.sqrt((links * links).sum(2, keepdims=True))

    def expected():
        at = sampled(rng, sites, 20000)
        u = links.astype(float)
        total = 0
        for mu in range(4):
            for nu in range(mu + 1, 4):
                here = np.array(times(u[at, mu].T, u[neighbours_of(at, dims, mu, 1), nu].T))
                there = np.array(times(u[at, nu].T, u[neighbours_of(at, dims, nu, 1), mu].T))
                total = total + (here * there).sum(0)
        return [(at, total, 6 * 16 * EPS32)]

    args = (links, dims, np.full(sites, 99, np.float32))
    return Problem(args, (sites,), (2,), expected, threads=sites, bytes=68.0 * sites, flops=6.0 * 64 * sites)


def hop_problem(rng, n):
    dims = np.array([n + 1, n, n + 2, n + 1], np.int32)
    sites = int(np.prod(dims.astype(np.int64)))
    links = rng.standard_normal((sites, 4, 18), np.float32).view(np.complex64)
    v = rng.standard_normal((sites, 6), np.float32).view(np.complex64)

    def expected():
        at = sampled(rng, sites, 10000)
        total, size, sign, rest = 0, 0, np.ones(len(at)), at.copy()
        for mu in range(4):
            up, down = neighbours_of(at, dims, mu, 1), neighbours_of(at, dims, mu, -1)
            a = links[at, mu].reshape(-1, 3, 3).astype(complex)
            b = links[down, mu].reshape(-1, 3, 3).astype(complex)
            ahead = np.einsum("nij,nj->ni", a, v[up]) - np.einsum("nji,nj->ni", b.conj(), v[down])
            total = total + 0.5 * sign[:, None] * ahead
            size = size + np.einsum("nij,nj->ni", abs(a), abs(v[up])) + np.einsum("nji,nj->ni", abs(b), abs(v[down]))
            sign = np.where(rest % dims[mu] % 2 == 1, -sign, sign)
            rest = rest // dims[mu]
        return [(at, total, 16 * EPS32 * size)]

    args = (links, v, dims, np.full((sites, 3), 99, np.complex64))
    return Problem(args, (sites,), (3,), expected, threads=sites, bytes=348.0 * sites, flops=8.0 * 72 * sites)


def zigzag_problem(rng, n):
    size = max(12, int(math.sqrt(n / 20)))
    before = (1 + (size - 3) * rng.random((n, 2), np.float32)).astype(np.float32)
    after = (before + 0.9 * (rng.random((n, 2), np.float32) - np.float32(0.5))).astype(np.float32)
    charges = rng.random(n, np.float32) - np.float32(0.5)

    def expected():
        total, sizes = np.zeros((2, size, size)), np.zeros((2, size, size))
        a, b, q = before.astype(float), after.astype(float), charges.astype(float)
        ca, cb = np.floor(a).astype(int), np.floor(b).astype(int)
        r = np.minimum(np.minimum(ca, cb) + 1, np.maximum(np.maximum(ca, cb), 0.5 * (a + b)))
        for start, end, cell in ((a, r, ca), (r, b, cb)):
            flow, w = q[:, None] * (end - start), 0.5 * (start + end) - cell
            col, row = cell.T
            error = np.abs(q) * 4 * EPS32 * size
            for c, dr, dc, share in ((0, 0, 0, 1 - w[:, 1]), (0, 1, 0, w[:, 1]), (1, 0, 0, 1 - w[:, 0]), (1, 0, 1, w[:, 0])):
                np.add.at(total[c], (row + dr, col + dc), flow[:, c] * share)
                np.add.at(sizes[c], (row + dr, col + dc), np.abs(flow[:, c] * share) * 80 * EPS32 + error)
        return [(slice(None), total, sizes)]

    args = (before, after, charges, np.zeros((2, size, size), np.float32))
    return Problem(
        args, (n, size), (3,), expected, threads=n, bytes=20.0 * n + 8.0 * size * size, flops=40.0 * n,
    )  # fmt: skip


def forces_problem(rng, n):
    count, box, reach = n**3, float(n), 2.4
    z, y, x = np.meshgrid(*3 * [np.arange(n)], indexing="ij")
    places = np.stack([x, y, z], -1).reshape(-1, 3) + 0.15 * rng.random((count, 3))
    places = places.astype(np.float32)
    kinds = rng.integers(0, 3, count).astype(np.int8)
    steps = range(-2, 3)
    offsets = [(i, j, k) for k in steps for j in steps for i in steps if 0 < i * i + j * j + k * k <= 8]
    neighbours = np.array([((z + k) % n * n + (y + j) % n) * n + (x + i) % n for i, j, k in offsets], np.int32)
    neighbours = np.ascontiguousarray(neighbours.reshape(len(offsets), count))
    counts = rng.integers(len(offsets) - 20, len(offsets) + 1, count).astype(np.int32)
    pairs = np.stack([rng.uniform(0.7, 0.9, (3, 3)), rng.uniform(0.5, 1.5, (3, 3))], -1).astype(np.float32)
    cutoff = np.float32(reach)

    def expected():
        at = sampled(rng, count, 2000)
        p = places.astype(float)
        d = p[neighbours[:, at]] - p[at]
        d -= box * np.rint(d / box)
        r = np.sqrt((d * d).sum(2))
        sigma2, eps = np.moveaxis(pairs.astype(float)[kinds[at], kinds[neighbours[:, at]]], -1, 0)
        s, e = (sigma2 / r**2) ** 3, (sigma2 / float(cutoff) ** 2) ** 3
        end = 24 * eps * e * (2 * e - 1) / float(cutoff)
        inside = (r < float(cutoff)) & (np.arange(len(offsets))[:, None] < counts[at])
        force = np.where(inside, 24 * eps * s * (2 * s - 1) / r - end, 0)
        energy = np.where(inside, 4 * eps * (s * (s - 1) - e * (e - 1)) + end * (r - float(cutoff)), 0)
        # Places up to n are rounded before they are subtracted exactly or nearly so; a power of -13 multiplies errors.
        size = (np.where(inside, 24 * eps * s * (2 * s + 1) / r + abs(end), 0)).sum(0)
        error = (13 * 4 * EPS32 * (n + 2) + len(offsets) * EPS32) * size
        return [(at, -(force[..., None] * d / r[..., None]).sum(0), error[:, None]), (at, energy.sum(0) / 2, error)]

    args = (
        places, kinds, counts, neighbours, pairs, np.float32(box), cutoff, np.full((count, 3), 99, np.float32),
        np.full(count, 99, np.float32),
    )  # fmt: skip
    return Problem(
        args, (count, 3), (7, 8), expected, threads=count, bytes=4.0 * neighbours.size + 33.0 * count,
        flops=40.0 * neighbours.size,
    )  # fmt: skip


def photons_problem(rng, n):
    layers, seed = 11, 12345
    tops = np.concatenate([[0], np.cumsum(rng.uniform(0.2, 0.8, layers))]).astype(np.float32)
    absorption = rng.uniform(0.2, 0.6, layers).astype(np.float32)
    scattering = rng.uniform(0.5, 2.0, layers).astype(np.float32)

    def expected():
        u = np.uint32
        state = np.arange(n).astype(u) * u(2654435761) ^ u(seed)
        state[state == 0] = 1
        z, direction, weight, layer = np.zeros(n), np.ones(n), np.ones(n), np.zeros(n, int)
        total = np.concatenate([absorption + scattering, [1]]).astype(float)
        share = np.concatenate([absorption / (absorption + scattering), [0]])
        dose, alive = np.zeros(layers), np.arange(n)
        lost = np.zeros(2)

        def turn():
            s = state[alive]
            s ^= s << u(13)
            s ^= s >> u(17)
            s ^= s << u(5)
            state[alive] = s
            return s >> u(8)

        while alive.size:
            free = -np.log(turn() * 2.0**-24 + 2.0**-25)
            moving = np.arange(alive.size)
            while moving.size:
                k = alive[moving]
                ahead = direction[k] > 0
                edge = tops[np.where(ahead, layer[k] + 1, layer[k])].astype(float)
                way = (edge - z[k]) / direction[k]
                stays = free[moving] < way * total[layer[k]]
                z[k] = np.where(stays, z[k] + direction[k] * free[moving] / total[layer[k]], edge)
                free[moving] -= np.where(stays, 0, way * total[layer[k]])
                layer[k] += np.where(stays, 0, np.where(ahead, 1, -1))
                moving = moving[~stays & (layer[k] >= 0) & (layer[k] < layers)]
            for side, gone in enumerate((layer[alive] < 0, layer[alive] >= layers)):
                lost[side] += weight[alive[gone]].sum()
            alive = alive[(layer[alive] >= 0) & (layer[alive] < layers)]
            part = weight[alive] * share[layer[alive]]
            dose += np.bincount(layer[alive], part, layers)
            weight[alive] -= part
            direction[alive] = turn() * 2.0**-23 - 1 + 2.0**-24
            alive = alive[weight[alive] > float(np.float32(0.001))]
        # A few photons that all but touch an edge take another way.
        return [(slice(None), dose, 2 + 1e-3 * dose), (slice(None), lost, 2 + 1e-3 * lost)]

    args = (tops, absorption, scattering, n, seed, np.zeros(layers, np.float32), np.zeros(2, np.float32))
    return Problem(args, (layers,), (5, 6), expected, threads=n, bytes=4.0 * layers, flops=400.0 * n)


ABOVE = """
DEVICE INDEX NAME(INDEX site, int d, const int *__restrict__ dims) {
  INDEX stride = 1, n = dims[d];
  for (int k = 0; k < d; k++)
    stride *= dims[k];
"""
UP = ABOVE + "  return site / stride % n < n - 1 ? site + stride : site - (n - 1) * stride;\n}\n"
DOWN = ABOVE + "  return site / stride % n > 0 ? site - stride : site + (n - 1) * stride;\n}\n"

PLAQUETTES = each(
    "su2_plaquettes(const float *__restrict__ links, const int *__restrict__ dims, float *__restrict__ out, int n)",
    """
    float total = 0, here[4], there[4];
    for (int mu = 0; mu < 4; mu++)
      for (int nu = mu + 1; nu < 4; nu++) {
        su2_times(links + (4 * site + mu) * 4, links + (4 * su2_above(site, mu, dims) + nu) * 4, here);
        su2_times(links + (4 * site + nu) * 4, links + (4 * su2_above(site, nu, dims) + mu) * 4, there);
        for (int k = 0; k < 4; k++)
          total += here[k] * there[k];
      }
    out[site] = total;
""",
    index="site",
    before=UP.replace("NAME", "su2_above")
    + """
DEVICE void su2_times(const float *__restrict__ a, const float *__restrict__ b, float *c) {
  c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  c[2] = a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3];
  c[3] = a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1];
}
""",
)

HOP_SIDES = each(
    """staggered_hop(const float2 *__restrict__ links, const float2 *__restrict__ v, const int *__restrict__ dims,
                   float2 *__restrict__ out, int n)""",
    """
    float re[3] = {0}, im[3] = {0};
    int sign = 1;
    INDEX rest = site;
    for (int mu = 0; mu < 4; mu++) {
      INDEX below = hop_below(site, mu, dims);
      const float2 *u = links + (4 * site + mu) * 9, *h = links + (4 * below + mu) * 9;
      const float2 *w = v + hop_above(site, mu, dims) * 3, *x = v + below * 3;
      float factor = 0.5f * sign;
      for (int i = 0; i < 3; i++) {
        float p = 0, q = 0;
        for (int j = 0; j < 3; j++) {
          float2 a = u[3 * i + j], b = w[j], c = h[3 * j + i], d = x[j];
          p += a.x * b.x - a.y * b.y - c.x * d.x - c.y * d.y;
          q += a.x * b.y + a.y * b.x - c.x * d.y + c.y * d.x;
        }
        re[i] += factor * p;
        im[i] += factor * q;
      }
      if (rest % dims[mu] % 2 == 1) sign = -sign;
      rest /= dims[mu];
    }
    for (int i = 0; i < 3; i++) {
      out[3 * site + i].x = re[i];
      out[3 * site + i].y = im[i];
    }
""",
    index="site",
    before=UP.replace("NAME", "hop_above") + DOWN.replace("NAME", "hop_below"),
)
HOP = {
    k: "struct hop2 { float x, y; };\n" + text.replace("float2", "struct hop2") if k == "openmp" else text
    for k, text in HOP_SIDES.items()
}  # fmt: skip

ZIGZAG_HEAD = """zigzag_currents(const float *__restrict__ before, const float *__restrict__ after,
                     const float *__restrict__ charges, float *__restrict__ current, int n, int size)"""
ZIGZAG_PART = """
DEVICE void zigzag_part(float *__restrict__ current, float q, float x0, float y0, float x1, float y1, INDEX col, INDEX row,
                        int size) {
  float fx = q * (x1 - x0), fy = q * (y1 - y0), wx = 0.5f * (x0 + x1) - col, wy = 0.5f * (y0 + y1) - row;
  INDEX k = row * size + col;
  float *other = current + (INDEX)size * size;
  ADD(current[k], fx * (1 - wy));
  ADD(current[k + size], fx * wy);
  ADD(other[k], fy * (1 - wx));
  ADD(other[k + 1], fy * wx);
}
"""
ZIGZAG_BODY = """
    float x0 = before[2 * i], y0 = before[2 * i + 1], x1 = after[2 * i], y1 = after[2 * i + 1], q = charges[i];
    INDEX col0 = (INDEX)floorf(x0), row0 = (INDEX)floorf(y0), col1 = (INDEX)floorf(x1), row1 = (INDEX)floorf(y1);
    float xr = fminf(MIN(col0, col1) + 1, fmaxf(MAX(col0, col1), 0.5f * (x0 + x1)));
    float yr = fminf(MIN(row0, row1) + 1, fmaxf(MAX(row0, row1), 0.5f * (y0 + y1)));
    zigzag_part(current, q, x0, y0, xr, yr, col0, row0, size);
    zigzag_part(current, q, xr, yr, x1, y1, col1, row1, size);
"""
ZIGZAG = with_adds(indexed(
    f"""
{ZIGZAG_PART}
__global__ void {ZIGZAG_HEAD} {{
  for (INDEX i = blockIdx.x * (INDEX)blockDim.x + threadIdx.x; i < n; i += (INDEX)gridDim.x * blockDim.x) {{
{ZIGZAG_BODY}  }}
}}
""",
    f"""
{ZIGZAG_PART}
void {ZIGZAG_HEAD} {{
#pragma omp parallel for
  for (INDEX i = 0; i < n; i++) {{{ZIGZAG_BODY}  }}
}}
""",
))  # fmt: skip

FORCES = each(
    """listed_forces(const float *__restrict__ places, const signed char *__restrict__ kinds, const int *__restrict__ counts,
                   const int *__restrict__ neighbours, const float *__restrict__ pairs, float box, float cutoff,
                   float *__restrict__ forces, float *__restrict__ energies, int n, int types)""",
    """
    float x = places[3 * i], y = places[3 * i + 1], z = places[3 * i + 2], fx = 0, fy = 0, fz = 0, energy = 0;
    int kind = kinds[i];
    for (INDEX k = 0; k < counts[i]; k++) {
      INDEX j = neighbours[k * n + i];
      float dx = places[3 * j] - x, dy = places[3 * j + 1] - y, dz = places[3 * j + 2] - z;
      dx -= box * rintf(dx / box);
      dy -= box * rintf(dy / box);
      dz -= box * rintf(dz / box);
      float d2 = dx * dx + dy * dy + dz * dz;
      if (d2 >= cutoff * cutoff) continue;
      const float *pair = pairs + (kind * types + kinds[j]) * 2;
      float sigma2 = pair[0], epsilon = pair[1], s = sigma2 / d2, s3 = s * s * s;
      float e = sigma2 / (cutoff * cutoff), e3 = e * e * e, r = sqrtf(d2);
      float at_end = 24 * epsilon * e3 * (2 * e3 - 1) / cutoff;
      float force = 24 * epsilon * s3 * (2 * s3 - 1) / r - at_end;
      energy += 4 * epsilon * (s3 * (s3 - 1) - e3 * (e3 - 1)) + at_end * (r - cutoff);
      fx -= force * dx / r;
      fy -= force * dy / r;
      fz -= force * dz / r;
    }
    forces[3 * i] = fx;
    forces[3 * i + 1] = fy;
    forces[3 * i + 2] = fz;
    energies[i] = energy / 2;
""",
)

PHOTONS_HEAD = """slab_photons(const float *__restrict__ tops, const float *__restrict__ absorption,
                  const float *__restrict__ scattering, int count, int seed, float *__restrict__ dose,
                  float *__restrict__ lost, int layers)"""
PHOTON_WAY = """
    unsigned state = (unsigned)i * 2654435761u ^ (unsigned)seed;
    if (state == 0) state = 1;
    float z = 0, direction = 1, weight = 1;
    int layer = 0;
    while (weight > 0.001f) {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      float path = -logf((state >> 8) * 0x1p-24f + 0x1p-25f);
      while (0 <= layer && layer < layers) {
        float total = absorption[layer] + scattering[layer], edge = direction > 0 ? tops[layer + 1] : tops[layer];
        float way = (edge - z) / direction;
        if (path < way * total) {
          z += direction * path / total;
          break;
        }
        path -= way * total;
        z = edge;
        layer += direction > 0 ? 1 : -1;
      }
      if (layer < 0 || layer >= layers) break;
      float part = weight * absorption[layer] / (absorption[layer] + scattering[layer]);
      ADD(sums[layer], part);
      weight -= part;
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      direction = (state >> 8) * 0x1p-23f - 1 + 0x1p-24f;
    }
    if (layer < 0) {
      ADD(sums[layers], weight);
    } else if (layer >= layers) {
      ADD(sums[layers + 1], weight);
    }
"""
PHOTONS = with_adds(indexed(
    f"""
__global__ void {PHOTONS_HEAD} {{
  __shared__ float sums[64];
  int t = threadIdx.x;
  for (int k = t; k < layers + 2; k += blockDim.x)
    sums[k] = 0;
  __syncthreads();
  INDEX i = blockIdx.x * (INDEX)blockDim.x + t;
  if (i < count) {{{PHOTON_WAY}  }}
  __syncthreads();
  for (int k = t; k < layers + 2; k += blockDim.x) {{
    if (k < layers) {{
      ADD(dose[k], sums[k]);
    }} else {{
      ADD(lost[k - layers], sums[k]);
    }}
  }}
}}
""",
    f"""
void {PHOTONS_HEAD} {{
#pragma omp parallel for
  for (INDEX begin = 0; begin < count; begin += 256) {{
    float sums[64] = {{0}};
    for (INDEX i = begin; i < MIN(begin + 256, count); i++) {{{PHOTON_WAY}    }}
    for (int k = 0; k < layers; k++)
      ADD(dose[k], sums[k]);
    for (int k = 0; k < 2; k++)
      ADD(lost[k], sums[layers + k]);
  }}
}}
""",
))  # fmt: skip

KERNELS = [
    Kernel(
        "plaquettes of SU(2)", su2_plaquettes, "float32[:,:,::1], int32[::1], float32[::1]", 128, plaquette_problem,
        gpu=27, host=8, test=3, power=4, **PLAQUETTES,
    ),
    Kernel(
        "hops of staggered fermions", staggered_hop, "complex64[:,:,::1], complex64[:,::1], int32[::1], complex64[:,::1]",
        128, hop_problem, gpu=22, host=8, test=3, power=4, **HOP,
    ),
    Kernel(
        "zigzag currents", zigzag_currents, "float32[:,::1], float32[:,::1], float32[::1], float32[:,:,::1]", 256,
        zigzag_problem, gpu=1_000_003, host=30_011, test=701, kind="irregular", **ZIGZAG,
    ),
    Kernel(
        "forces from a list of neighbours", listed_forces,
        "float32[:,::1], int8[::1], int32[::1], int32[:,::1], float32[:,:,::1], float32, float32, float32[:,::1], float32[::1]",
        128, forces_problem, gpu=61, host=15, test=7, power=3, kind="irregular", **FORCES,
    ),
    Kernel(
        "photons in layers", slab_photons,
        "float32[::1], float32[::1], float32[::1], pyint, pyint, float32[::1], float32[::1]", 256, photons_problem,
        gpu=500_009, host=20_011, test=700, kind="irregular", **PHOTONS,
    ),
]  # fmt: skip
