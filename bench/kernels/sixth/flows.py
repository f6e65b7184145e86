"""Flows on grids: a step of shallow water, advection backwards."""

import math

import numpy as np
from kernels.declare import EPS32, Kernel, Problem, sampled
from kernels.texts import plane
from pyptx import cuda


def rusanov(hl, nl, tl, hr, nr, tr, g):
    """Fluxes of height, and of momentum along and across, through a face; dry cells do not move."""
    ul = nl / hl if hl > 1e-3 else 0.0
    ur = nr / hr if hr > 1e-3 else 0.0
    s = 0.5 * max(abs(ul) + math.sqrt(g * hl), abs(ur) + math.sqrt(g * hr))
    along = 0.5 * (nl * ul + 0.5 * g * hl * hl + nr * ur + 0.5 * g * hr * hr) - s * (nr - nl)
    return 0.5 * (nl + nr) - s * (hr - hl), along, 0.5 * (tl * ul + tr * ur) - s * (tr - tl)


def shallow_water(h, p, q, g, ratio, new_h, new_p, new_q):
    """A step of the shallow water equations on a periodic grid; p and q are momenta along x and y."""
    x, y = cuda.grid(2)
    rows, cols = h.shape
    if y >= rows or x >= cols:
        return
    w = x - 1 if x > 0 else cols - 1
    e = x + 1 if x < cols - 1 else 0
    n = y - 1 if y > 0 else rows - 1
    s = y + 1 if y < rows - 1 else 0
    w0, w1, w2 = rusanov(h[y, w], p[y, w], q[y, w], h[y, x], p[y, x], q[y, x], g)
    e0, e1, e2 = rusanov(h[y, x], p[y, x], q[y, x], h[y, e], p[y, e], q[y, e], g)
    n0, n1, n2 = rusanov(h[n, x], q[n, x], p[n, x], h[y, x], q[y, x], p[y, x], g)
    s0, s1, s2 = rusanov(h[y, x], q[y, x], p[y, x], h[s, x], q[s, x], p[s, x], g)
    new_h[y, x] = h[y, x] - ratio * (e0 - w0 + s0 - n0)
    new_p[y, x] = p[y, x] - ratio * (e1 - w1 + s2 - n2)
    new_q[y, x] = q[y, x] - ratio * (e2 - w2 + s1 - n1)


def advect_back(value, u, v, solid, dt, out):
    """Semi-Lagrangian advection: the value where the flow comes from, bilinear, held at the border."""
    x, y = cuda.grid(2)
    rows, cols = value.shape
    if y >= rows or x >= cols:
        return
    if solid[y, x] != 0:
        out[y, x] = 0.0
        return
    px = min(max(x - dt * u[y, x], 0.0), cols - 1.001)
    py = min(max(y - dt * v[y, x], 0.0), rows - 1.001)
    ix = int(px)
    iy = int(py)
    fx = px - ix
    fy = py - iy
    upper = value[iy, ix] * (1 - fx) + value[iy, ix + 1] * fx
    lower = value[iy + 1, ix] * (1 - fx) + value[iy + 1, ix + 1] * fx
    out[y, x] = upper * (1 - fy) + lower * fy


def water_problem(rng, n):
    cols = n + 133
    h = np.float32(rng.uniform(0.5, 2, (n, cols)) * (rng.random((n, cols)) < 0.9))
    p, q = (np.float32(rng.uniform(-1, 1, (n, cols)) * (h > 0)) for _ in range(2))
    g, ratio = np.float32(9.81), np.float32(0.05)

    def expected():
        at = sampled(rng, n, 60)

        def face(left, right):
            with np.errstate(divide="ignore", invalid="ignore"):
                (hl, nl, tl), (hr, nr, tr) = left, right
                ul, ur = np.where(hl > 1e-3, nl / hl, 0), np.where(hr > 1e-3, nr / hr, 0)
            s = 0.5 * np.maximum(np.abs(ul) + np.sqrt(9.81 * hl), np.abs(ur) + np.sqrt(9.81 * hr))
            along = 0.5 * (nl * ul + nr * ur + 0.5 * 9.81 * (hl * hl + hr * hr)) - s * (nr - nl)
            return np.stack([0.5 * (nl + nr) - s * (hr - hl), along, 0.5 * (tl * ul + tr * ur) - s * (tr - tl)])

        cell, up, down = ([f[(at + k) % n].astype(float) for f in (h, p, q)] for k in (0, -1, 1))
        west, east = [np.roll(f, 1, 1) for f in cell], [np.roll(f, -1, 1) for f in cell]
        across = face(cell, east) - face(west, cell)
        turned = [[f[0], f[2], f[1]] for f in (up, cell, down)]
        along = face(turned[1], turned[2]) - face(turned[0], turned[1])
        # Fluxes are below 40 and have some ten roundings; four of them, times 0.05.
        bound = 10 * 40 * 4 * 0.05 * EPS32
        parts = ((0, 0), (1, 2), (2, 1))
        return [(at, cell[k] - 0.05 * (across[k] + along[m]), bound) for k, m in parts]

    args = (h, p, q, g, ratio, *(np.zeros_like(h) for _ in range(3)))
    return Problem(args, (n, cols), (5, 6, 7), expected, threads=(cols, n), bytes=24.0 * h.size, flops=130.0 * h.size)


def advect_problem(rng, n):
    cols = n + 211
    value, u, v = (rng.standard_normal((n, cols), dtype=np.float32) for _ in range(3))
    solid, dt = (rng.random((n, cols)) < 0.05).astype(np.uint8), np.float32(2.5)

    def expected():
        at = sampled(rng, n, 60)
        px = np.clip(np.arange(cols) - 2.5 * u[at].astype(float), 0, cols - 1.001)
        py = np.clip(at[:, None] - 2.5 * v[at].astype(float), 0, n - 1.001)
        ix, iy = px.astype(int), py.astype(int)
        fx, fy = px - ix, py - iy
        upper = value[iy, ix] * (1 - fx) + value[iy, ix + 1] * fx
        lower = value[iy + 1, ix] * (1 - fx) + value[iy + 1, ix + 1] * fx
        # A place has two roundings of at most its size, and values differ by less than 11.
        bound = 2 * cols * EPS32 * 2 * 11
        return [(at, np.where(solid[at] != 0, 0, upper * (1 - fy) + lower * fy), bound)]

    args = (value, u, v, solid, dt, np.zeros_like(value))
    return Problem(args, (n, cols), (5,), expected, threads=(cols, n), bytes=17.0 * value.size)


WATER = plane(
    """shallow_water(const float *h, const float *p, const float *q, float g, float ratio, float *new_h, float *new_p,
                   float *new_q, int rows, int cols)""",
    """
    INDEX w = row * cols + (col > 0 ? col - 1 : cols - 1), e = row * cols + (col < cols - 1 ? col + 1 : 0);
    INDEX n = (row > 0 ? row - 1 : rows - 1) * cols + col, s = (row < rows - 1 ? row + 1 : 0) * cols + col;
    INDEX at = row * cols + col;
    float fw[3], fe[3], fn[3], fs[3];
    water_flux(h[w], p[w], q[w], h[at], p[at], q[at], g, fw);
    water_flux(h[at], p[at], q[at], h[e], p[e], q[e], g, fe);
    water_flux(h[n], q[n], p[n], h[at], q[at], p[at], g, fn);
    water_flux(h[at], q[at], p[at], h[s], q[s], p[s], g, fs);
    new_h[at] = h[at] - ratio * (fe[0] - fw[0] + fs[0] - fn[0]);
    new_p[at] = p[at] - ratio * (fe[1] - fw[1] + fs[2] - fn[2]);
    new_q[at] = q[at] - ratio * (fe[2] - fw[2] + fs[1] - fn[1]);
""",
    before="""
DEVICE void water_flux(float hl, float nl, float tl, float hr, float nr, float tr, float g, float *f) {
  float ul = hl > 1e-3f ? nl / hl : 0, ur = hr > 1e-3f ? nr / hr : 0;
  float s = 0.5f * fmaxf(fabsf(ul) + sqrtf(g * hl), fabsf(ur) + sqrtf(g * hr));
  f[0] = 0.5f * (nl + nr) - s * (hr - hl);
  f[1] = 0.5f * (nl * ul + 0.5f * g * hl * hl + nr * ur + 0.5f * g * hr * hr) - s * (nr - nl);
  f[2] = 0.5f * (tl * ul + tr * ur) - s * (tr - tl);
}
""",
)

ADVECT = plane(
    """advect_back(const float *value, const float *u, const float *v, const unsigned char *solid, float dt, float *out,
                 int rows, int cols)""",
    """
    INDEX at = row * cols + col;
    if (solid[at] != 0)
      out[at] = 0;
    else {
      float px = fminf(fmaxf(col - dt * u[at], 0), cols - 1.001f);
      float py = fminf(fmaxf(row - dt * v[at], 0), rows - 1.001f);
      INDEX ix = (INDEX)px, iy = (INDEX)py;
      float fx = px - ix, fy = py - iy;
      const float *from = value + iy * cols + ix;
      float upper = from[0] * (1 - fx) + from[1] * fx, lower = from[cols] * (1 - fx) + from[cols + 1] * fx;
      out[at] = upper * (1 - fy) + lower * fy;
    }
""",
)

KERNELS = [
    Kernel(
        "shallow water", shallow_water,
        "float32[:,::1], float32[:,::1], float32[:,::1], float32, float32, "
        "float32[:,::1], float32[:,::1], float32[:,::1]", (32, 4),
        water_problem,
        gpu=2003, host=203, test=33, power=2, kind="stencil", **WATER,
    ),
    Kernel(
        "advection, backwards", advect_back,
        "float32[:,::1], float32[:,::1], float32[:,::1], uint8[:,::1], float32, float32[:,::1]", (32, 8),
        advect_problem,
        gpu=3001, host=301, test=41, power=2, kind="irregular", **ADVECT,
    ),
]  # fmt: skip
