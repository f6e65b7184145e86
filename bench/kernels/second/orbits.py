"""Ensembles of ordinary differential equations, one member a thread: damped, driven pendulums by
Runge and Kutta's fourth order, in float32 and float64, and Lorenz' system.
"""

import math

import numpy as np
from kernels.declare import EPS32, EPS64, LINE, Kernel, Problem, sampled
from kernels.texts import each
from pyptx import cuda


def pull(angle, speed, damping):
    return -damping * speed - math.sin(angle)


def pendulums32(angles, speeds, damping, dt, steps):
    """In place."""
    i = cuda.grid(1)
    if i < angles.size:
        a = angles[i]
        s = speeds[i]
        half = dt / 2
        for _ in range(steps):
            a1 = s
            s1 = pull(a, s, damping)
            a2 = s + half * s1
            s2 = pull(a + half * a1, a2, damping)
            a3 = s + half * s2
            s3 = pull(a + half * a2, a3, damping)
            a4 = s + dt * s3
            s4 = pull(a + dt * a3, a4, damping)
            a += dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
            s += dt / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
        angles[i] = a
        speeds[i] = s


def pendulums64(angles, speeds, damping, dt, steps):
    """The same: the types are those of the arguments."""
    i = cuda.grid(1)
    if i >= angles.size:
        return
    a = angles[i]
    s = speeds[i]
    for _ in range(steps):
        a1 = s
        s1 = pull(a, s, damping)
        a2 = s + 0.5 * dt * s1
        s2 = pull(a + 0.5 * dt * a1, a2, damping)
        a3 = s + 0.5 * dt * s2
        s3 = pull(a + 0.5 * dt * a2, a3, damping)
        a4 = s + dt * s3
        s4 = pull(a + dt * a3, a4, damping)
        a += dt * (a1 + 2 * a2 + 2 * a3 + a4) / 6
        s += dt * (s1 + 2 * s2 + 2 * s3 + s4) / 6
    angles[i] = a
    speeds[i] = s


def lorenz(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz_ensemble(points, sigma, rho, beta, dt, steps):
    """Midpoint steps, in place."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        x = points[i, 0]
        y = points[i, 1]
        z = points[i, 2]
        for _ in range(steps):
            dx, dy, dz = lorenz(x, y, z, sigma, rho, beta)
            h = dt * np.float32(0.5)
            dx, dy, dz = lorenz(x + h * dx, y + h * dy, z + h * dz, sigma, rho, beta)
            x += dt * dx
            y += dt * dy
            z += dt * dz
        points[i, 0] = x
        points[i, 1] = y
        points[i, 2] = z


def pendulums(dtype, steps):
    """problem(rng, n) of pendulums that swing, none near the top."""
    eps = EPS32 if dtype is np.float32 else EPS64

    def problem(rng, n):
        angles, speeds = (rng.uniform(-1, 1, n).astype(dtype) for _ in range(2))
        damping, dt = dtype(0.1), dtype(0.01)

        def expected():
            some = sampled(np.random.default_rng(0), n, 3000)
            a, s, d, h = angles[some].astype(np.longdouble), speeds[some].astype(np.longdouble), np.longdouble(damping), np.longdouble(dt)

            def f(a, s):
                return -d * s - np.sin(a)

            for _ in range(steps):
                s1 = f(a, s)
                a2 = s + h / 2 * s1
                s2 = f(a + h / 2 * s, a2)
                a3 = s + h / 2 * s2
                s3 = f(a + h / 2 * a2, a3)
                a4 = s + h * s3
                s4 = f(a + h * a3, a4)
                a, s = a + h / 6 * (s + 2 * a2 + 2 * a3 + a4), s + h / 6 * (s1 + 2 * s2 + 2 * s3 + s4)
            # A step rounds sums below 2 twice; damped, errors grow no faster than time.
            bound = 4 * steps * eps * (1 + steps * float(dt)) + 8 * eps
            return [(some, a.astype(np.float64), bound), (some, s.astype(np.float64), bound)]

        return Problem(
            (angles, speeds, damping, dt, steps), (n,), (0, 1), expected, threads=n, bytes=4 * angles.nbytes, flops=80 * steps * n
        )

    return problem


def lorenz_problem(rng, n):
    """n points near one another; so few steps that their paths are still known."""
    points, steps = rng.uniform(1, 2, (n, 3)).astype(np.float32), 203
    sigma, rho, beta, dt = np.float32(10), np.float32(28), np.float32(8 / 3), np.float32(0.002)

    def expected():
        some = sampled(np.random.default_rng(0), n, 3000)
        p = points[some].astype(np.float64)
        c = [float(v) for v in (sigma, rho, beta)]
        for _ in range(steps):
            d = np.stack(lorenz(*p.T, *c), axis=1)
            p = p + float(dt) * np.stack(lorenz(*(p + float(dt) / 2 * d).T, *c), axis=1)
        # Rounding errors of numbers up to 50 grow by at most exp(25 t) along the way, t = 0.4.
        return [(some, p, steps * 4 * EPS32 * 50 * math.exp(25 * steps * float(dt)) / 50)]

    return Problem(
        (points, sigma, rho, beta, dt, steps), (n,), (0,), expected, threads=n, bytes=24 * n, flops=35 * steps * n
    )


def pendulum_texts(name, real, sine, sixth):
    return each(
        f"{name}({real} *angles, {real} *speeds, {real} damping, {real} dt, int steps, int n)",
        f"""
    {real} a = angles[i], s = speeds[i], half = dt / 2;
    for (INDEX k = 0; k < steps; k++) {{
      {real} a1 = s, s1 = -damping * s - {sine}(a);
      {real} a2 = s + half * s1, s2 = -damping * a2 - {sine}(a + half * a1);
      {real} a3 = s + half * s2, s3 = -damping * a3 - {sine}(a + half * a2);
      {real} a4 = s + dt * s3, s4 = -damping * a4 - {sine}(a + dt * a3);
      a += {sixth("a1 + 2 * a2 + 2 * a3 + a4")};
      s += {sixth("s1 + 2 * s2 + 2 * s3 + s4")};
    }}
    angles[i] = a;
    speeds[i] = s;
""",
    )


LORENZ = each(
    "lorenz_ensemble(float *points, float sigma, float rho, float beta, float dt, int steps, int n)",
    """
    float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
    for (INDEX k = 0; k < steps; k++) {
      float h = dt * 0.5f;
      float mx = x + h * (sigma * (y - x)), my = y + h * (x * (rho - z) - y), mz = z + h * (x * y - beta * z);
      x += dt * (sigma * (my - mx));
      y += dt * (mx * (rho - mz) - my);
      z += dt * (mx * my - beta * mz);
    }
    points[3 * i] = x;
    points[3 * i + 1] = y;
    points[3 * i + 2] = z;
""",
)

KERNELS = [
    Kernel(
        "pendulums, Runge-Kutta 4", pendulums32, "float32[::1], float32[::1], float32, float32, pyint", 256,
        pendulums(np.float32, 101), gpu=1_000_003, host=30_011, test=301, sweep=LINE, **pendulum_texts("pendulums32", "float", "sinf", "dt / 6 * ({})".format),
    ),
    Kernel(
        "pendulums, float64", pendulums64, "float64[::1], float64[::1], float64, float64, pyint", 256,
        pendulums(np.float64, 51), gpu=500_009, host=30_011, test=301, sweep=LINE, **pendulum_texts("pendulums64", "double", "sin", "dt * ({}) / 6".format),
    ),
    Kernel(
        "Lorenz' system, midpoint", lorenz_ensemble, "float32[:,::1], float32, float32, float32, float32, pyint", 256,
        lorenz_problem, gpu=2_000_003, host=60_013, test=301, sweep=LINE, **LORENZ,
    ),
]  # fmt: skip
