"""Second-order waves in space, float32: fixed ends behind a guard, and reflecting ones by clamped
neighbours.
"""

import math

import numpy as np
from kernels.declare import EPS32, SPACE, THIN_SPACE, Kernel, Problem
from kernels.texts import indexed
from pyptx import cuda


def wave_guarded(past, now, future, speed, dt):
    """The speed differs from point to point; the faces stay as they are."""
    k, j, i = cuda.grid(3)
    nx, ny, nz = now.shape
    if i >= 1 and i < nx - 1 and j >= 1 and j < ny - 1 and k >= 1 and k < nz - 1:
        spread = (
            now[i - 1, j, k] + now[i + 1, j, k] + now[i, j - 1, k] + now[i, j + 1, k] + now[i, j, k - 1] + now[i, j, k + 1]
            - 6 * now[i, j, k]
        )  # fmt: skip
        c = speed[i, j, k] * dt
        future[i, j, k] = 2 * now[i, j, k] - past[i, j, k] + c * c * spread


def wave_clamped(past, now, future, courant):
    """Neighbours outside are the point itself."""
    k, j, i = cuda.grid(3)
    if i < now.shape[0] and j < now.shape[1] and k < now.shape[2]:
        here = now[i, j, k]
        spread = now[max(i - 1, 0), j, k] + now[min(i + 1, now.shape[0] - 1), j, k] - 2 * here
        spread += now[i, max(j - 1, 0), k] + now[i, min(j + 1, now.shape[1] - 1), k] - 2 * here
        spread += now[i, j, max(k - 1, 0)] + now[i, j, min(k + 1, now.shape[2] - 1)] - 2 * here
        future[i, j, k] = 2 * here - past[i, j, k] + courant * spread


def planes_of(n):
    return np.unique(np.linspace(0, n - 1, min(n, 12)).astype(int))


def guarded_problem(rng, n, shape=None):
    """n x (n + 3) x (n + 9) points."""
    shape = shape or (n, n + 3, n + 9)
    past, now, speed = (rng.random(shape, np.float32) for _ in range(3))
    dt = np.float32(0.5)

    def expected():
        planes = planes_of(shape[0])
        values = np.zeros((len(planes), *shape[1:]))
        for at, i in enumerate(planes):
            if 1 <= i < shape[0] - 1:
                a, u, b = (now[p].astype(np.float64) for p in (i - 1, i, i + 1))
                spread = (a + b)[1:-1, 1:-1] + u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 6 * u[1:-1, 1:-1]
                c = speed[i, 1:-1, 1:-1].astype(np.float64) * float(dt)
                values[at, 1:-1, 1:-1] = 2 * u[1:-1, 1:-1] - past[i, 1:-1, 1:-1] + c * c * spread
        # A dozen roundings of numbers up to 6.
        return [(planes, values, np.where(values == 0, 0, 12 * EPS32 / 2 * 6))]

    return Problem(
        (past, now, np.zeros(shape, np.float32), speed, dt), shape, (2,), expected, threads=shape[::-1],
        bytes=16 * math.prod(shape), flops=13 * math.prod(shape),
    )  # fmt: skip


def clamped_problem(rng, n, shape=None):
    """n x (n + 3) x (n + 9) points."""
    shape = shape or (n, n + 3, n + 9)
    past, now, courant = rng.random(shape, np.float32), rng.random(shape, np.float32), np.float32(0.1)

    def expected():
        planes = planes_of(shape[0])
        values = np.zeros((len(planes), *shape[1:]))
        for at, i in enumerate(planes):
            u = now[i].astype(np.float64)
            wide = np.pad(u, 1, mode="edge")
            spread = now[max(i - 1, 0)].astype(np.float64) + now[min(i + 1, shape[0] - 1)] - 6 * u
            spread += wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]
            values[at] = 2 * u - past[i] + float(courant) * spread
        return [(planes, values, 14 * EPS32 / 2 * 6)]

    return Problem(
        (past, now, np.zeros(shape, np.float32), courant), shape, (2,), expected, threads=shape[::-1],
        bytes=12 * math.prod(shape), flops=14 * math.prod(shape),
    )  # fmt: skip


GUARDED_BODY = """
      INDEX at = (i * ny + j) * nz + k;
      float spread = now[at - ny * nz] + now[at + ny * nz] + now[at - nz] + now[at + nz] + now[at - 1] + now[at + 1] - 6 * now[at];
      float c = speed[at] * dt;
      future[at] = 2 * now[at] - past[at] + c * c * spread;
"""
CLAMPED_BODY = """
      float here = now[AT(i, j, k)];
      float spread = now[AT(MAX(i - 1, (INDEX)0), j, k)] + now[AT(MIN(i + 1, (INDEX)nx - 1), j, k)] - 2 * here;
      spread += now[AT(i, MAX(j - 1, (INDEX)0), k)] + now[AT(i, MIN(j + 1, (INDEX)ny - 1), k)] - 2 * here;
      spread += now[AT(i, j, MAX(k - 1, (INDEX)0))] + now[AT(i, j, MIN(k + 1, (INDEX)nz - 1))] - 2 * here;
      future[AT(i, j, k)] = 2 * here - past[AT(i, j, k)] + courant * spread;
"""


def space(head, body, margin):
    """One thread, or one turn of three loops, for each point that is so far from the faces."""
    guard = " && ".join(f"{i} >= {margin} && {i} < {n} - {margin}" for i, n in zip("ijk", ("nx", "ny", "nz")))
    loops = "\n".join(f"{' ' * 2 * d}for (int {i} = {margin}; {i} < n{a} - {margin}; {i}++)" for d, (i, a) in enumerate(zip("ijk", "xyz"), 1))
    at = "#define AT(i, j, k) (((i) * ny + (j)) * nz + (k))"
    return indexed(
        f"""
{at}
__global__ void {head} {{
  INDEX k = blockIdx.x * (INDEX)blockDim.x + threadIdx.x;
  INDEX j = blockIdx.y * (INDEX)blockDim.y + threadIdx.y;
  INDEX i = blockIdx.z * (INDEX)blockDim.z + threadIdx.z;
  if ({guard}) {{{body}  }}
}}
#undef AT
""",
        f"""
{at}
void {head} {{
#pragma omp parallel for
{loops} {{{body}      }}
}}
#undef AT
""",
    )


GUARDED = space("wave_guarded(const float *past, const float *now, float *future, const float *speed, float dt, int nx, int ny, int nz)", GUARDED_BODY, 1)
CLAMPED = space("wave_clamped(const float *past, const float *now, float *future, float courant, int nx, int ny, int nz)", CLAMPED_BODY, 0)

KERNELS = [
    Kernel(
        "wave in space, guarded", wave_guarded,
        "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32", (32, 4, 2), guarded_problem,
        gpu=331, host=223, test=17, power=3, kind="stencil", sweep=SPACE, thin=THIN_SPACE, **GUARDED,
    ),
    Kernel(
        "wave in space, clamped", wave_clamped, "float32[:,:,::1], float32[:,:,::1], float32[:,:,::1], float32", (64, 4),
        clamped_problem, gpu=331, host=223, test=17, power=3, kind="stencil", sweep=SPACE, thin=THIN_SPACE, **CLAMPED,
    ),
]  # fmt: skip
