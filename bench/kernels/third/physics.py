"""Physics: lattice Boltzmann D2Q9, Rodinia's hotspot (float32), Lennard-Jones forces and a pendulum
(float64).
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, PLANE, Kernel, Problem, sampled
from kernels.third.texts import sides
from pyptx import cuda


def lattice_boltzmann(f, cx, cy, weight, omega, out):
    """A step of the BGK model on a torus: populations come from their upwind cells and relax to
    equilibrium.
    """
    j, i = cuda.grid(2)
    rows, cols = f.shape[1], f.shape[2]
    if i >= rows or j >= cols:
        return
    density = 0.0
    ux = 0.0
    uy = 0.0
    for q in range(weight.size):
        here = f[q, (i - cy[q]) % rows, (j - cx[q]) % cols]
        density += here
        ux += here * np.float32(cx[q])
        uy += here * np.float32(cy[q])
    ux /= density
    uy /= density
    square = 1.5 * (ux * ux + uy * uy)
    for q in range(weight.size):
        here = f[q, (i - cy[q]) % rows, (j - cx[q]) % cols]
        along = 3.0 * (ux * np.float32(cx[q]) + uy * np.float32(cy[q]))
        balanced = weight[q] * density * (1.0 + along + 0.5 * along * along - square)
        out[q, i, j] = here + omega * (balanced - here)


def hotspot(temperature, power, step, rx, ry, rz, ambient, out):
    """A step of the temperatures of a chip's floor plan (Rodinia's hotspot; Huang et al., 2006)."""
    j, i = cuda.grid(2)
    rows, cols = temperature.shape
    if i < rows and j < cols:
        here = temperature[i, j]
        north = temperature[i - 1, j] if i > 0 else here
        south = temperature[i + 1, j] if i < rows - 1 else here
        west = temperature[i, j - 1] if j > 0 else here
        east = temperature[i, j + 1] if j < cols - 1 else here
        change = power[i, j] + (south + north - 2.0 * here) * ry + (east + west - 2.0 * here) * rx + (ambient - here) * rz
        out[i, j] = here + step * change


def lennard_jones(x, y, z, neighbours, cutoff2, a, b, fx, fy, fz):
    """Forces of the Lennard-Jones potential from lists of neighbours, column i for atom i (as in
    SHOC's MD).
    """
    i = cuda.grid(1)
    if i >= x.size:
        return
    force_x = 0.0
    force_y = 0.0
    force_z = 0.0
    for k in range(neighbours.shape[0]):
        j = neighbours[k, i]
        dx = x[i] - x[j]
        dy = y[i] - y[j]
        dz = z[i] - z[j]
        r2 = dx * dx + dy * dy + dz * dz
        if r2 < cutoff2:
            inverse = 1.0 / r2
            sixth = inverse * inverse * inverse
            force = inverse * sixth * (a * sixth - b)
            force_x += dx * force
            force_y += dy * force
            force_z += dz * force
    fx[i] = force_x
    fy[i] = force_y
    fz[i] = force_z


def pendulum_rk4(angle, speed, friction, dt, steps, final):
    """A damped pendulum by the classical Runge-Kutta method, each with its start and friction."""
    i = cuda.grid(1)
    if i < angle.size:
        q, v = angle[i], speed[i]
        c = friction[i]
        for _ in range(steps):
            q1, v1 = v, -math.sin(q) - c * v
            q2, v2 = v + 0.5 * dt * v1, -math.sin(q + 0.5 * dt * q1) - c * (v + 0.5 * dt * v1)
            q3, v3 = v + 0.5 * dt * v2, -math.sin(q + 0.5 * dt * q2) - c * (v + 0.5 * dt * v2)
            q4, v4 = v + dt * v3, -math.sin(q + dt * q3) - c * (v + dt * v3)
            q += dt / 6.0 * (q1 + 2.0 * q2 + 2.0 * q3 + q4)
            v += dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
        final[i] = q


def boltzmann_problem(rng, n):
    """n rows of cells, near equilibrium."""
    rows, cols = n, n + n // 2 + 1
    cx, cy = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1], np.int32), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1], np.int32)
    weight = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)
    f = weight[:, None, None] * (np.float32(0.9) + np.float32(0.2) * rng.random((9, rows, cols), np.float32))
    omega = np.float32(1.2)

    def expected():
        some = sampled(np.random.default_rng(0), rows, 96)
        here = np.stack([np.roll(f[q][(some - cy[q]) % rows], cx[q], axis=1) for q in range(9)]).astype(np.float64)
        density = here.sum(axis=0)
        ux, uy = np.tensordot(cx, here, 1) / density, np.tensordot(cy, here, 1) / density
        along = 3 * (ux * cx[:, None, None] + uy * cy[:, None, None])
        balanced = weight[:, None, None].astype(np.float64) * density * (1 + along + along**2 / 2 - 1.5 * (ux**2 + uy**2))
        # A velocity is off by some 6 eps (9 additions of numbers that sum to the density), along by
        # 6 times that, and so is the equilibrium relative to weight * density; a dozen more
        # roundings.
        bound = 100 * EPS32 * weight[:, None, None] * np.ones_like(here)
        return [(np.s_[:, some], here + float(omega) * (balanced - here), bound)]

    arguments = (f, cx, cy, weight, omega, np.zeros_like(f))
    cells = rows * cols
    return Problem(arguments, (9, rows, cols), (5,), expected, threads=(cols, rows), bytes=72 * cells, flops=9 * 20 * cells)


def hotspot_problem(rng, n):
    """n rows of cells of some 320 to 340 kelvin."""
    rows, cols = n, n + n // 2 + 1
    temperature, power = np.float32(320) + np.float32(20) * rng.random((rows, cols), np.float32), rng.random((rows, cols), np.float32)
    step, rx, ry, rz, ambient = (np.float32(v) for v in (0.3, 0.25, 0.2, 0.05, 300))

    def expected():
        some = sampled(np.random.default_rng(0), rows, 256)
        here = temperature[some].astype(np.float64)
        around = np.pad(temperature, 1, mode="edge")
        vertical = around[some, 1:-1].astype(np.float64) + around[some + 2, 1:-1] - 2 * here
        horizontal = around[some + 1, :-2].astype(np.float64) + around[some + 1, 2:] - 2 * here
        change = power[some] + vertical * float(ry) + horizontal * float(rx) + (float(ambient) - here) * float(rz)
        # Sums of two temperatures (half an eps of 680 each), small differences, and the last sum.
        bound = EPS32 / 2 * (0.3 * (2 * 680 * (0.25 + 0.2) + 8 * 20) + 350)
        return [(some, here + float(step) * change, bound)]

    arguments = (temperature, power, step, rx, ry, rz, ambient, np.zeros_like(temperature))
    cells = rows * cols
    return Problem(arguments, (rows, cols), (7,), expected, threads=(cols, rows), bytes=12 * cells, flops=14 * cells)


def jones_problem(rng, n):
    """n atoms near the points of a lattice, each with 40 neighbours nearby in the list."""
    count = 40 if n > 1000 else 11
    side = max(2, round(n ** (1 / 3)))
    place = np.arange(n)
    x, y, z = (1.1 * p + rng.uniform(-0.1, 0.1, n) for p in (place % side, place // side % side, place // side**2))
    offset = rng.integers(1, 5, (count, n)) * rng.choice([-1, 1], (count, n)) + side * rng.integers(-1, 2, (count, n))
    neighbours = place + offset
    neighbours = np.where((neighbours < 0) | (neighbours >= n) | (neighbours == place), (place + 1) % n, neighbours).astype(np.int32)
    cutoff2, a, b = np.float64(16.0), np.float64(48.0), np.float64(24.0)

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        j = neighbours[:, some]
        d = np.stack([v[some] - v[j] for v in (x, y, z)])
        r2 = (d * d).sum(axis=0)
        near = r2 < cutoff2
        assert np.all(np.abs(r2 - cutoff2) > 1e-11), "the cutoff must be sure"
        inverse = np.where(near, 1 / r2, 0)
        terms, sizes = (d * inverse**4 * (a * inverse**3 + sign * b) for sign in (-1, 1))
        # r2 has three roundings, its seventh power some 40; the two parts' sizes bound what
        # cancels; then the additions.
        bound = EPS64 * (80 + count) * np.abs(sizes).sum(axis=1)
        return [(some, total, off) for total, off in zip(terms.sum(axis=1), bound)]

    arguments = (x, y, z, neighbours, cutoff2, a, b, np.zeros(n), np.zeros(n), np.zeros(n))
    return Problem(arguments, (n, count), (7, 8, 9), expected, threads=n, bytes=(48 + 4 * count) * n, flops=22 * count * n)


def pendulum_problem(rng, n):
    """n pendulums for 60 steps of 0.05."""
    angle, speed, friction = rng.uniform(-1.5, 1.5, n), rng.uniform(-0.5, 0.5, n), rng.uniform(0.1, 0.4, n)
    dt, steps = np.float64(0.05), 60

    def expected():
        some = sampled(np.random.default_rng(0), n, 20000)
        state, c = np.stack([angle[some], speed[some]]), friction[some]

        def rate(s):
            return np.stack([s[1], -np.sin(s[0]) - c * s[1]])

        for _ in range(steps):
            one = rate(state)
            two = rate(state + 0.5 * dt * one)
            three = rate(state + 0.5 * dt * two)
            state = state + dt / 6.0 * (one + 2.0 * two + 2.0 * three + rate(state + dt * three))
        # A step adds less than 8 eps of numbers up to 2; errors grow like exp(t), t = 3; both sides
        # have them.
        return [(some, state[0], 2 * steps * 8 * 2 * math.exp(float(dt) * steps) * EPS64)]

    arguments = (angle, speed, friction, dt, steps, np.zeros(n))
    return Problem(arguments, (n,), (5,), expected, threads=n, bytes=32 * n, flops=steps * 4 * 40 * n)


KERNELS = [
    Kernel(
        "lattice Boltzmann", lattice_boltzmann,
        "float32[:,:,::1], int32[::1], int32[::1], float32[::1], float32, float32[:,:,::1]",
        (32, 8), boltzmann_problem, gpu=2053, host=401, test=25, power=2, kind="stencil",
        **sides(
            "lattice_boltzmann",
            "const float *f, const int *cx, const int *cy, const float *weight, float omega, float *out, int directions, "
            "int rows, int cols",
            [("i", "0", "rows"), ("j", "0", "cols")],
            """
float density = 0.0f, ux = 0.0f, uy = 0.0f;
for (INDEX q = 0; q < directions; q++) {
  int y = ((int)i - cy[q] + rows) % rows, x = ((int)j - cx[q] + cols) % cols;
  float here = f[(q * rows + y) * cols + x];
  density += here;
  ux += here * cx[q];
  uy += here * cy[q];
}
ux /= density;
uy /= density;
float square = 1.5f * (ux * ux + uy * uy);
for (INDEX q = 0; q < directions; q++) {
  int y = ((int)i - cy[q] + rows) % rows, x = ((int)j - cx[q] + cols) % cols;
  float here = f[(q * rows + y) * cols + x];
  float along = 3.0f * (ux * cx[q] + uy * cy[q]);
  float balanced = weight[q] * density * (1.0f + along + 0.5f * along * along - square);
  out[(q * rows + i) * cols + j] = here + omega * (balanced - here);
}
""",
        ),
    ),
    Kernel(
        "hotspot", hotspot,
        "float32[:,::1], float32[:,::1], float32, float32, float32, float32, float32, float32[:,::1]",
        (32, 8), hotspot_problem, gpu=6151, host=3079, test=45, power=2, kind="stencil", sweep=PLANE,
        **sides(
            "hotspot",
            "const float *temperature, const float *power, float step, float rx, float ry, float rz, float ambient, "
            "float *out, int rows, int cols",
            [("i", "0", "rows"), ("j", "0", "cols")],
            """
float here = temperature[i * cols + j];
float north = i > 0 ? temperature[(i - 1) * cols + j] : here;
float south = i < rows - 1 ? temperature[(i + 1) * cols + j] : here;
float west = j > 0 ? temperature[i * cols + j - 1] : here;
float east = j < cols - 1 ? temperature[i * cols + j + 1] : here;
float change = power[i * cols + j] + (south + north - 2.0f * here) * ry + (east + west - 2.0f * here) * rx +
               (ambient - here) * rz;
out[i * cols + j] = here + step * change;
""",
        ),
    ),
    Kernel(
        "Lennard-Jones forces", lennard_jones,
        "float64[::1], float64[::1], float64[::1], int32[:,::1], float64, float64, float64, float64[::1], float64[::1], float64[::1]",
        256, jones_problem, gpu=1_000_003, host=100_003, test=603, kind="irregular",
        **sides(
            "lennard_jones",
            "const double *x, const double *y, const double *z, const int *neighbours, double cutoff2, double a, double b, "
            "double *fx, double *fy, double *fz, int n, int count",
            [("i", "0", "n")],
            """
double force_x = 0.0, force_y = 0.0, force_z = 0.0;
for (INDEX k = 0; k < count; k++) {
  int j = neighbours[k * n + i];
  double dx = x[i] - x[j];
  double dy = y[i] - y[j];
  double dz = z[i] - z[j];
  double r2 = dx * dx + dy * dy + dz * dz;
  if (r2 < cutoff2) {
    double inverse = 1.0 / r2;
    double sixth = inverse * inverse * inverse;
    double force = inverse * sixth * (a * sixth - b);
    force_x += dx * force;
    force_y += dy * force;
    force_z += dz * force;
  }
}
fx[i] = force_x;
fy[i] = force_y;
fz[i] = force_z;
""",
        ),
    ),
    Kernel(
        "pendulums", pendulum_rk4, "float64[::1], float64[::1], float64[::1], float64, pyint, float64[::1]",
        256, pendulum_problem, gpu=500_009, host=20_011, test=1003,
        **sides(
            "pendulum_rk4",
            "const double *angle, const double *speed, const double *friction, double dt, int steps, double *final, int n",
            [("i", "0", "n")],
            """
double q = angle[i], v = speed[i], c = friction[i];
for (INDEX k = 0; k < steps; k++) {
  double q1 = v, v1 = -sin(q) - c * v;
  double q2 = v + 0.5 * dt * v1, v2 = -sin(q + 0.5 * dt * q1) - c * (v + 0.5 * dt * v1);
  double q3 = v + 0.5 * dt * v2, v3 = -sin(q + 0.5 * dt * q2) - c * (v + 0.5 * dt * v2);
  double q4 = v + dt * v3, v4 = -sin(q + dt * q3) - c * (v + dt * v3);
  q += dt / 6.0 * (q1 + 2.0 * q2 + 2.0 * q3 + q4);
  v += dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
}
final[i] = q;
""",
        ),
    ),
]  # fmt: skip
