"""n-body: gravity between all pairs, tiles of bodies staged through shared memory; then one leapfrog step.

python examples/nbody.py [--picture OUT.png]
"""

import math
import sys
import time

import numpy as np
import numpy.typing as npt
from pyptx import cuda, float32

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

TILE = 128  # bodies a tile, and threads a block
SOFTENING2 = 1e-3


@cuda.jit
def accelerate(body: cuda.Array, acc: cuda.Array) -> None:
    """acc[i] = sum over j of m[j] (r[j] - r[i]) / (|r[j] - r[i]|^2 + softening^2)^(3/2); body has rows (x, y, z, mass)."""
    tile = cuda.shared.array((TILE, 4), float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = body.shape[0]
    x, y, z = 0.0, 0.0, 0.0
    if i < n:
        x, y, z = body[i, 0], body[i, 1], body[i, 2]
    ax, ay, az = 0.0, 0.0, 0.0
    for start in range(0, n, TILE):
        for c in range(4):  # a body beyond the last has no mass
            tile[t, c] = body[start + t, c] if start + t < n else 0.0
        cuda.syncthreads()
        for j in range(TILE):
            dx = tile[j, 0] - x
            dy = tile[j, 1] - y
            dz = tile[j, 2] - z
            r2 = dx * dx + dy * dy + dz * dz + SOFTENING2
            inv = 1.0 / math.sqrt(r2)
            w = tile[j, 3] * inv * inv * inv
            ax += w * dx
            ay += w * dy
            az += w * dz
        cuda.syncthreads()
    if i < n:
        acc[i, 0] = ax
        acc[i, 1] = ay
        acc[i, 2] = az


@cuda.jit
def step(body: cuda.Array, velocity: cuda.Array, acc: cuda.Array, dt: float) -> None:
    i, c = cuda.grid(2)
    if i < body.shape[0] and c < 3:
        velocity[i, c] += dt * acc[i, c]
        body[i, c] += dt * velocity[i, c]


def reference(body: Floats, some: npt.NDArray[np.int_]) -> tuple[Doubles, Doubles]:
    """Accelerations of the bodies `some` in float64, and the sum of the magnitudes of their terms."""
    b = body.astype(np.float64)
    d = b[None, :, :3] - b[some, None, :3]
    r2 = (d * d).sum(axis=2) + SOFTENING2
    terms = d * (b[None, :, 3] * r2**-1.5)[:, :, None]
    return terms.sum(axis=1), np.abs(terms).sum(axis=1)


def galaxy(n: int, centre: Doubles, drift: Doubles, tilt: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A disc of n bodies around a heavy one: (bodies, velocities). The speeds keep it turning."""
    radius = 0.1 + 0.9 * np.sqrt(rng.random(n))
    angle = 2 * np.pi * rng.random(n)
    c, s, flat = np.cos(angle), np.sin(angle), 0.02 * rng.standard_normal(n)
    at = np.stack([radius * c, radius * s, flat], axis=1)
    speed = np.sqrt((1 + 0.1 * radius**2) * radius**2 / (radius**2 + SOFTENING2) ** 1.5)
    moving = np.stack([-speed * s, speed * c, 0 * s], axis=1)
    at[0], moving[0] = 0, 0
    turn = np.array([[1, 0, 0], [0, np.cos(tilt), -np.sin(tilt)], [0, np.sin(tilt), np.cos(tilt)]])
    mass = np.full((n, 1), 0.1 / n)
    mass[0] = 1
    body = np.hstack([at @ turn.T + centre, mass]).astype(np.float32)
    return body, (moving @ turn.T + drift).astype(np.float32)


def draw(path: str) -> None:
    """Two galaxies that pass each other, each in its colour."""
    import matplotlib.pyplot as plt

    n, dt, steps = 3072, 5e-3, 550
    rng = np.random.default_rng(3)
    left, right = np.array([-1.6, -0.7, 0.1]), np.array([1.6, 0.7, -0.1])
    one = galaxy(n, left, -0.22 * left * (1, -1.2, 1), 0.3, rng)
    two = galaxy(n, right, -0.22 * right * (1, -1.2, 1), -0.9, rng)
    d_body = cuda.to_device(np.vstack([one[0], two[0]]))
    d_velocity = cuda.to_device(np.vstack([one[1], two[1]]))
    d_acc = cuda.device_array((2 * n, 3), dtype=np.float32)
    for _ in range(steps):
        accelerate[2 * n // TILE, TILE](d_body, d_acc)
        step[(2 * n // 64, 1), (64, 4)](d_body, d_velocity, d_acc, dt)
    at = d_body.copy_to_host()
    picture = np.zeros((500, 800, 3))
    for galaxy_of, colour in ((slice(0, n), (1, 0.65, 0.3)), (slice(n, 2 * n), (0.35, 0.6, 1))):
        bins = [np.linspace(-2, 2, 501), np.linspace(-3.2, 3.2, 801)]
        stars, _, _ = np.histogram2d(at[galaxy_of, 0], at[galaxy_of, 1], bins)
        glow = 0.7 * stars
        for shift in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            glow += 0.3 * np.roll(stars, shift, (0, 1))
        picture += glow[:, :, None] * colour
    plt.imsave(path, np.clip(picture, 0, 1))  # pyright: ignore[reportUnknownMemberType]
    print(f"  wrote {path}")


def main() -> int:
    device = cuda.get_current_device()
    on_gpu = not device.is_host
    n = 20000 if on_gpu else 1500
    dt = 1e-3
    print(f"n-body with {n} bodies in float32 on {device.name}")

    rng = np.random.default_rng(7)
    body = rng.standard_normal((n, 4)).astype(np.float32)
    body[:, 3] = rng.random(n, dtype=np.float32) / n
    d_body = cuda.to_device(body)
    d_velocity = cuda.to_device(np.zeros((n, 3), np.float32))
    d_acc = cuda.device_array((n, 3), dtype=np.float32)
    blocks = (n + TILE - 1) // TILE
    accelerate[blocks, TILE](d_body, d_acc)  # compiles
    cuda.synchronize()
    start = time.perf_counter()
    accelerate[blocks, TILE](d_body, d_acc)
    cuda.synchronize()
    seconds = time.perf_counter() - start
    print(f"  {n * n / seconds / 1e9:.2f} billion interactions a second")
    acc = d_acc.copy_to_host()

    # A term has about 12 roundings, three of them (the differences) of exact inputs; the n terms
    # are added one after the other.
    some = np.linspace(0, n - 1, 64).astype(int)
    expected, magnitude = reference(body, some)
    bound = (n + 16) * np.finfo(np.float32).eps / 2 * magnitude
    share = np.max(np.abs(acc[some] - expected) / bound)
    print(f"  accelerations: largest error {share:.4f} of the bound")

    step[((n + 63) // 64, 1), (64, 4)](d_body, d_velocity, d_acc, dt)
    moved = d_body.copy_to_host()[:, :3]
    acc64 = acc.astype(np.float64)
    expected = body[:, :3] + dt * dt * acc64
    # Two multiplications and one addition to a velocity of 0, dt itself rounded to float32: 4 eps
    # of the displacement; one rounding of the position.
    step_bound = np.finfo(np.float32).eps * (4 * dt * dt * np.abs(acc64) + np.abs(expected))
    step_share = np.max(np.abs(moved - expected) / step_bound)
    print(f"  step: largest error {step_share:.4f} of the bound")
    if "--picture" in sys.argv:
        draw(sys.argv[sys.argv.index("--picture") + 1])
    correct = bool(share <= 1 and step_share <= 1)
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
