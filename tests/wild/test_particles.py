"""Particles and fields: deposit, gather, push, neighbours, and small physics.

Tolerances: float64 results of sums of n terms that may be added in any order (atomics) differ by at most n units of rounding of the sum of
magnitudes; each test says its n.
"""

import cmath
import math

import numpy as np
import pytest
from pyptx import cuda

EPS = 2.0**-52


def test_deposit_in_cells(jit):
    """Each cell gets about 12 terms of at most 1: atol 100 * EPS."""

    @jit
    def deposit(x, y, charge, grid, inverse):
        i = cuda.grid(1)
        if i < x.shape[0]:
            px, py = x[i] * inverse, y[i] * inverse
            ix, iy = int(math.floor(px)), int(math.floor(py))
            fx, fy = px - ix, py - iy
            nx, ny = grid.shape
            for a in range(2):
                for b in range(2):
                    wx = fx if a else 1 - fx
                    wy = fy if b else 1 - fy
                    cuda.atomic.add(grid, ((ix + a) % nx, (iy + b) % ny), charge[i] * wx * wy)

    rng = np.random.default_rng(1)
    n, nx, ny = 1000, 16, 20
    x, y, charge, grid = rng.uniform(0, 8, n), rng.uniform(0, 10, n), rng.uniform(-1, 1, n), np.zeros((nx, ny))
    deposit[8, 128](x, y, charge, grid, 2.0)
    right = np.zeros((nx, ny))
    ix, iy = np.floor(2 * x).astype(int), np.floor(2 * y).astype(int)
    fx, fy = 2 * x - ix, 2 * y - iy
    for a in range(2):
        for b in range(2):
            np.add.at(right, ((ix + a) % nx, (iy + b) % ny), charge * (fx if a else 1 - fx) * (fy if b else 1 - fy))
    np.testing.assert_allclose(grid, right, rtol=0, atol=100 * EPS)


def test_deposit_of_spectral_modes(jit):
    """The weights of neighbouring cells are set by the sign of the azimuthal mode, in pairs of ifs. 8 complex terms a cell at most: 64 * EPS."""

    @jit
    def deposit(z, theta, weight, modes, cells):
        i = cuda.grid(1)
        if i < z.size:
            cell = int(z[i])
            for m in range(modes):
                if m > 0:
                    factor = cmath.exp(1j * m * theta[i])
                if m == 0:
                    factor = 1.0 + 0.0j
                value = weight[i] * factor
                cuda.atomic.add(cells.real, (m, cell), value.real)
                cuda.atomic.add(cells.imag, (m, cell), value.imag)

    rng = np.random.default_rng(2)
    z, theta, weight = rng.uniform(0, 32, 200), rng.uniform(0, 6, 200), rng.uniform(0, 1, 200)
    cells, right = np.zeros((3, 32), complex), np.zeros((3, 32), complex)
    deposit[2, 128](z, theta, weight, 3, cells)
    for m in range(3):
        np.add.at(right[m], z.astype(int), weight * np.exp(1j * m * theta))
    np.testing.assert_allclose(cells, right, rtol=0, atol=200 * EPS)


def test_push_in_a_magnetic_field(jit):
    """One step is about 40 operations on numbers near 1: rtol 100 * EPS after 10 steps of a rotation, which does not magnify."""

    @jit(device=True)
    def cross(a, b):
        return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]

    @jit
    def push(v, field, h, steps):
        i = cuda.grid(1)
        if i < v.shape[0]:
            u = (v[i, 0], v[i, 1], v[i, 2])
            t = (h * field[0], h * field[1], h * field[2])
            s = 2 / (1 + t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
            for _ in range(steps):
                c = cross(u, t)
                w = (u[0] + c[0], u[1] + c[1], u[2] + c[2])
                c = cross(w, t)
                u = (u[0] + s * c[0], u[1] + s * c[1], u[2] + s * c[2])
            v[i, 0], v[i, 1], v[i, 2] = u

    rng = np.random.default_rng(3)
    v, field = rng.normal(size=(100, 3)), np.array([0.3, -0.2, 0.5])
    right = v.copy()
    push[1, 128](v, tuple(field), 0.1, 10)
    t = 0.1 * field
    for _ in range(10):
        w = right + np.cross(right, t)
        right = right + 2 / (1 + t @ t) * np.cross(w, t)
    np.testing.assert_allclose(v, right, rtol=0, atol=400 * EPS)


def test_forces_between_neighbours(jit):
    """60 terms of magnitude up to 1e4 where particles are near: rtol of the sum of magnitudes 60 * 8 * EPS."""

    @jit
    def forces(x, box, cut, out):
        i = cuda.grid(1)
        if i >= x.shape[0]:
            return
        f = cuda.local.array(3, dtype=np.float64)
        for k in range(3):
            f[k] = 0
        for j in range(x.shape[0]):
            if i == j:
                continue
            r2 = 0.0
            d = cuda.local.array(3, dtype=np.float64)
            for k in range(3):
                d[k] = x[i, k] - x[j, k]
                d[k] -= box * round(d[k] / box)
                r2 += d[k] ** 2
            if r2 >= cut * cut:
                continue
            inverse = 1 / r2
            six = inverse**3
            for k in range(3):
                f[k] += 24 * inverse * six * (2 * six - 1) * d[k]
        for k in range(3):
            out[i, k] = f[k]

    rng = np.random.default_rng(4)
    x = np.stack(np.meshgrid(*[np.arange(4)] * 3), -1).reshape(-1, 3) * 1.25 + rng.uniform(-0.1, 0.1, (64, 3))
    out = np.zeros((64, 3))
    forces[2, 32](x, 5.0, 2.4, out)
    d = x[:, None] - x[None]
    d -= 5 * np.rint(d / 5)
    r2 = (d * d).sum(2) + np.where(np.eye(64), np.inf, 0)
    inverse = np.where(r2 < 2.4**2, 1 / r2, 0)
    terms = (24 * inverse * inverse**3 * (2 * inverse**3 - 1))[:, :, None] * d
    assert (np.abs(out - terms.sum(1)) <= 480 * EPS * np.abs(terms).sum(1)).all()


@pytest.mark.parametrize("n", [5, 64])
def test_heat_with_a_closure_for_the_source(jit, n):
    def make(strength):
        @jit(device=True)
        def source(x):
            return strength * x * (1 - x)

        @jit
        def step(u, out, h, dt):
            i = cuda.grid(1)
            if 0 < i < u.size - 1:
                out[i] = u[i] + dt * ((u[i - 1] - 2 * u[i] + u[i + 1]) / (h * h) + source(i * h))

        return step

    h, dt = 1 / (n - 1), 0.4 / (n - 1) ** 2
    for strength in (0.0, 3.0):
        u = np.sin(np.linspace(0, np.pi, n))
        a, b, right, x = cuda.to_device(u), cuda.to_device(u), u.copy(), np.arange(n) * h
        for _ in range(20):
            make(strength)[1, 64](a, b, h, dt)
            a, b = b, a
            right[1:-1] += dt * ((right[:-2] - 2 * right[1:-1] + right[2:]) / (h * h) + strength * x[1:-1] * (1 - x[1:-1]))
        np.testing.assert_allclose(a.copy_to_host(), right, rtol=0, atol=20 * 16 * EPS)


def test_tag_on_a_plane(jit):
    """Agents that chase others: distances, the nearest one, rewards and a flag for the end. Positions are whole numbers, so all is exact."""

    @jit
    def step(x, y, still_in, rewards, done, timestep, episode):
        env, agent = cuda.blockIdx.x, cuda.threadIdx.x
        if agent == 0 and env < timestep.shape[0]:
            timestep[env] += 1
        if agent < x.shape[1]:
            rewards[env, agent] = 0
        cuda.syncthreads()
        if agent < x.shape[1]:
            is_tagger = agent % 4 == 0
            if is_tagger == False and still_in[env, agent] > 0:  # noqa: E712
                least = np.int64(1000000)
                for other in range(0, x.shape[1], 4):
                    dx, dy = x[env, agent] - x[env, other], y[env, agent] - y[env, other]
                    distance = dx * dx + dy * dy
                    if distance < least:
                        least = distance
                        nearest = other
                if least <= 4:
                    rewards[env, agent] -= 1
                    cuda.atomic.add(rewards, (env, nearest), 1)
                    still_in[env, agent] = 0
        cuda.syncthreads()
        if agent == 0:
            left = 0
            for other in range(x.shape[1]):
                if other % 4:
                    left += still_in[env, other]
            if timestep[env] == episode or left == 0:
                done[env] = 1

    rng = np.random.default_rng(5)
    envs, agents = 6, 24
    x, y = rng.integers(0, 12, (envs, agents)), rng.integers(0, 12, (envs, agents))
    still_in, rewards = np.ones((envs, agents), np.int32), np.zeros((envs, agents), np.int32)
    done, timestep = np.zeros(envs, np.int32), np.array([0, 1, 9, 3, 4, 5], np.int32)
    rewards_before = rewards.copy()
    step[envs, 32](x, y, still_in, rewards, done, timestep, 10)
    for env in range(envs):
        caught = 0
        for agent in range(agents):
            if agent % 4 == 0:
                continue
            d = (x[env, agent] - x[env, ::4]) ** 2 + (y[env, agent] - y[env, ::4]) ** 2
            if d.min() <= 4:
                rewards_before[env, 4 * d.argmin()] += 1
                rewards_before[env, agent] -= 1
                caught += 1
        assert still_in[env].sum() == agents - caught
        assert done[env] == (timestep[env] == 10 or caught == agents - agents // 4)
    assert (rewards == rewards_before).all()
