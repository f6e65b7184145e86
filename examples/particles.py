"""Particles as an array of structs: each falls, and bounces off the floor and the walls of a box."""

import sys
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from pyptx import cuda

Floats = npt.NDArray[np.float32]

PARTICLE = np.dtype([("position", "f4", (3,)), ("velocity", "f4", (3,)), ("mass", "f4"), ("bounces", "i4")], align=True)
GRAVITY = np.float32(-9.81)


def bounce(p: Any, axis: int) -> None:
    """Keep one coordinate of a particle in 0..1; the record is a reference, so the stores reach the array."""
    if p.position[axis] < 0.0:
        p.position[axis] = -p.position[axis]
        p.velocity[axis] = -p.velocity[axis]
        p.bounces += 1
    elif p.position[axis] > 1.0:
        p.position[axis] = 2.0 - p.position[axis]
        p.velocity[axis] = -p.velocity[axis]
        p.bounces += 1


@cuda.jit(fma=False)
def advance(particles: cuda.Array, dt: np.float32, steps: int) -> None:
    """steps times: velocity += dt * gravity, position += dt * velocity, and bounce."""
    i = cuda.grid(1)
    if i >= particles.size:
        return
    p = particles[i]
    for _ in range(steps):
        p.velocity[2] += dt * GRAVITY
        for axis in range(3):
            p.position[axis] += dt * p.velocity[axis]
            bounce(p, axis)


@cuda.jit
def energy(particles: cuda.Array, total: cuda.Array) -> None:
    """total[0] += the kinetic and potential energy of all particles, in float64."""
    i = cuda.grid(1)
    if i < particles.size:
        p = particles[i]
        v2 = 0.0
        for v in p.velocity:
            v2 += np.float64(v) * v
        cuda.atomic.add(total, 0, p.mass * (0.5 * v2 - np.float64(GRAVITY) * p.position[2]))


def reference(particles: npt.NDArray[np.void], dt: np.float32, steps: int) -> tuple[Floats, Floats, npt.NDArray[np.int32]]:
    """The same in NumPy, on all particles at once, with float32 roundings in the same places."""
    p, v, n = (particles[f].copy() for f in ("position", "velocity", "bounces"))
    for _ in range(steps):
        v[:, 2] += dt * GRAVITY
        p += dt * v
        low, high = p < 0, p > 1
        p = np.where(low, -p, np.where(high, np.float32(2) - p, p))
        v = np.where(low | high, -v, v)
        n += (low | high).sum(axis=1, dtype=np.int32)
    return p, v, n


def main() -> int:
    device = cuda.get_current_device()
    n = 1_000_000 if not device.is_host else 20_000
    dt, steps = np.float32(1e-3), 100
    print(f"{n} particles of {PARTICLE.itemsize} bytes, {steps} steps, on {device.name}")

    rng = np.random.default_rng(5)
    particles = np.zeros(n, PARTICLE)
    particles["position"] = rng.random((n, 3), dtype=np.float32)
    particles["velocity"] = rng.standard_normal((n, 3), dtype=np.float32) * 3
    particles["mass"] = rng.random(n, dtype=np.float32)

    d = cuda.to_device(particles)
    blocks = (n + 255) // 256
    advance[blocks, 256](d, dt, 0)  # compiles
    cuda.synchronize()
    start = time.perf_counter()
    advance[blocks, 256](d, dt, steps)
    cuda.synchronize()
    seconds = time.perf_counter() - start
    print(f"  {n * steps / seconds / 1e6:.0f} million steps of a particle a second")

    # Single fields and records can be read where they are.
    print(f"  particle 7: {d[7]['bounces']} bounces, at {d[7]['position'].copy_to_host()}")
    position, velocity, bounces = reference(particles, dt, steps)
    result = d.copy_to_host()
    correct = (
        np.array_equal(result["position"], position)  # the same operations in the same order, without fma: the same bits
        and np.array_equal(result["velocity"], velocity)
        and np.array_equal(d["bounces"].copy_to_host(), bounces)
    )

    total = np.zeros(1)
    energy[blocks, 256](d, total)
    cuda.synchronize()
    speed2 = (velocity.astype(np.float64) ** 2).sum(axis=1)
    terms = particles["mass"] * (0.5 * speed2 - np.float64(GRAVITY) * position[:, 2])
    # A term has at most 8 float64 roundings; the n terms are added in any order, by NumPy and by the kernel.
    bound = 2 * (n + 8) * np.finfo(np.float64).eps / 2 * np.abs(terms).sum()
    print(f"  energy {total[0]:.6g} J, NumPy {terms.sum():.6g} J")
    correct = bool(correct and abs(total[0] - terms.sum()) <= bound)
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
