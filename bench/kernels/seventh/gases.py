"""Gases: Roe's flux."""

import math

import numpy as np
from kernels.declare import EPS64, Kernel, Problem
from kernels.texts import plane
from pyptx import cuda


def softened(speed, least):
    """|speed|, but a parabola near 0."""
    size = abs(speed)
    if size < least:
        size = (size * size + least * least) / (2 * least)
    return size


def roe_flux(rho, u, v, p, gamma, share, flux):
    """Roe's flux through the faces between neighbouring cells of a row, for the 2D Euler equations."""
    col, row = cuda.grid(2)
    if row >= rho.shape[0] or col >= rho.shape[1] - 1:
        return
    dl = rho[row, col]
    ul = u[row, col]
    vl = v[row, col]
    pl = p[row, col]
    dr = rho[row, col + 1]
    ur = u[row, col + 1]
    vr = v[row, col + 1]
    pr = p[row, col + 1]
    hl = gamma / (gamma - 1) * pl / dl + 0.5 * (ul * ul + vl * vl)
    hr = gamma / (gamma - 1) * pr / dr + 0.5 * (ur * ur + vr * vr)
    wl = math.sqrt(dl)
    wr = math.sqrt(dr)
    um = (wl * ul + wr * ur) / (wl + wr)
    vm = (wl * vl + wr * vr) / (wl + wr)
    hm = (wl * hl + wr * hr) / (wl + wr)
    dm = wl * wr
    a2 = (gamma - 1) * (hm - 0.5 * (um * um + vm * vm))
    a = math.sqrt(a2)
    slow = softened(um - a, share * a) * (pr - pl - dm * a * (ur - ul)) / (2 * a2)
    fast = softened(um + a, share * a) * (pr - pl + dm * a * (ur - ul)) / (2 * a2)
    still = softened(um, share * a)
    entropy = still * (dr - dl - (pr - pl) / a2)
    shear = still * dm * (vr - vl)
    ml = dl * ul
    mr = dr * ur
    flux[0, row, col] = 0.5 * (ml + mr - (slow + entropy + fast))
    flux[1, row, col] = 0.5 * (ml * ul + pl + mr * ur + pr - (slow * (um - a) + entropy * um + fast * (um + a)))
    flux[2, row, col] = 0.5 * (ml * vl + mr * vr - (slow * vm + entropy * vm + shear + fast * vm))
    kinetic = 0.5 * (um * um + vm * vm)
    waves = slow * (hm - um * a) + entropy * kinetic + shear * vm + fast * (hm + um * a)
    flux[3, row, col] = 0.5 * (ml * hl + mr * hr - waves)


def roe_problem(rng, n):
    rows, cols, gamma, share = n, n + 33, np.float64(1.4), np.float64(0.1)
    x = np.arange(cols) / 37 + np.arange(rows)[:, None] / 53
    rho, p = 1.2 + 0.5 * np.sin(x) + rng.uniform(0, 0.3, x.shape), 1 + 0.4 * np.cos(x) + rng.uniform(0, 0.3, x.shape)
    u, v = np.sin(2 * x) * 1.5 + rng.normal(0, 0.1, x.shape), np.cos(3 * x) + rng.normal(0, 0.1, x.shape)

    def expected():
        (dl, ul, vl, pl), (dr, ur, vr, pr) = ([s[:, c] for s in (rho, u, v, p)] for c in (slice(-1), slice(1, None)))
        hl, hr = (3.5 * pp / d + 0.5 * (a * a + b * b) for d, a, b, pp in ((dl, ul, vl, pl), (dr, ur, vr, pr)))
        wl, wr = np.sqrt(dl), np.sqrt(dr)
        um, vm, hm = ((wl * a + wr * b) / (wl + wr) for a, b in ((ul, ur), (vl, vr), (hl, hr)))
        kinetic, dm = 0.5 * (um * um + vm * vm), wl * wr
        a2 = 0.4 * (hm - kinetic)
        a = np.sqrt(a2)

        def soft(s):
            least = 0.1 * a
            return np.where(abs(s) < least, (s * s + least * least) / (2 * least), abs(s))

        slow = soft(um - a) * (pr - pl - dm * a * (ur - ul)) / (2 * a2)
        fast = soft(um + a) * (pr - pl + dm * a * (ur - ul)) / (2 * a2)
        entropy, shear = soft(um) * (dr - dl - (pr - pl) / a2), soft(um) * dm * (vr - vl)
        flux = np.stack([
            dl * ul + dr * ur - (slow + entropy + fast),
            dl * ul * ul + pl + dr * ur * ur + pr - (slow * (um - a) + entropy * um + fast * (um + a)),
            dl * ul * vl + dr * ur * vr - ((slow + entropy + fast) * vm + shear),
            dl * ul * hl + dr * ur * hr
            - (slow * (hm - um * a) + entropy * kinetic + shear * vm + fast * (hm + um * a)),
        ])  # fmt: skip
        # Every term is below 40 (density below 2, speeds below 3, enthalpy below 10) and has fewer than 50 roundings.
        return [(slice(None), 0.5 * flux, 8 * 40 * 50 * EPS64 / 2)]

    args = (rho, u, v, p, gamma, share, np.zeros((4, rows, cols - 1)))
    return Problem(args, (rows, cols), (6,), expected, threads=(cols - 1, rows), bytes=64.0 * rows * cols)


ROE = plane(
    """roe_flux(const double *__restrict__ rho, const double *__restrict__ u, const double *__restrict__ v,
              const double *__restrict__ p, double gamma, double share, double *__restrict__ flux,
              int rows, int cols)""",
    """
      INDEX left = row * cols + col, right = left + 1;
      double dl = rho[left], ul = u[left], vl = v[left], pl = p[left];
      double dr = rho[right], ur = u[right], vr = v[right], pr = p[right];
      double hl = gamma / (gamma - 1) * pl / dl + 0.5 * (ul * ul + vl * vl);
      double hr = gamma / (gamma - 1) * pr / dr + 0.5 * (ur * ur + vr * vr);
      double wl = sqrt(dl), wr = sqrt(dr);
      double um = (wl * ul + wr * ur) / (wl + wr), vm = (wl * vl + wr * vr) / (wl + wr);
      double hm = (wl * hl + wr * hr) / (wl + wr), dm = wl * wr;
      double a2 = (gamma - 1) * (hm - 0.5 * (um * um + vm * vm)), a = sqrt(a2);
      double slow = softened(um - a, share * a) * (pr - pl - dm * a * (ur - ul)) / (2 * a2);
      double fast = softened(um + a, share * a) * (pr - pl + dm * a * (ur - ul)) / (2 * a2);
      double still = softened(um, share * a);
      double entropy = still * (dr - dl - (pr - pl) / a2), shear = still * dm * (vr - vl);
      double ml = dl * ul, mr = dr * ur, kinetic = 0.5 * (um * um + vm * vm);
      double waves = slow * (hm - um * a) + entropy * kinetic + shear * vm + fast * (hm + um * a);
      INDEX faces = rows * (INDEX)(cols - 1), to = row * (cols - 1) + col;
      flux[to] = 0.5 * (ml + mr - (slow + entropy + fast));
      flux[faces + to] = 0.5 * (ml * ul + pl + mr * ur + pr - (slow * (um - a) + entropy * um + fast * (um + a)));
      flux[2 * faces + to] = 0.5 * (ml * vl + mr * vr - (slow * vm + entropy * vm + shear + fast * vm));
      flux[3 * faces + to] = 0.5 * (ml * hl + mr * hr - waves);
""",
    cols="cols - 1",
    before="""
DEVICE double softened(double speed, double least) {
  double size = fabs(speed);
  if (size < least) size = (size * size + least * least) / (2 * least);
  return size;
}
""",
)

KERNELS = [
    Kernel(
        "Roe's flux", roe_flux,
        "float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64, float64, float64[:,:,::1]", (32, 8),
        roe_problem,
        gpu=1501, host=301, test=43, power=2, kind="stencil", **ROE,
    ),
]  # fmt: skip
