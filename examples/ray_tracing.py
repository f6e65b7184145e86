"""Ray tracing: spheres on a chequered floor, with shadows and mirrors. One thread follows one pixel's ray.

python examples/ray_tracing.py [--picture OUT.png]
"""

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from pyptx import cuda

Number = Any  # a float of the kernel; NumPy's float32 where CPython runs these functions
Vector = tuple[Number, Number, Number]

FAR = 1e9
NEAR = 1e-3  # a ray that starts on a surface must not hit it again because of rounding
BOUNCES = 3

# A sphere a row: centre x, y, z, radius, colour r, g, b, and how much of the light it mirrors.
SPHERES = np.array(
    [
        [0.0, 1.0, 0.0, 1.0, 0.90, 0.20, 0.15, 0.25],
        [-1.9, 0.7, 0.8, 0.7, 0.15, 0.45, 0.90, 0.25],
        [1.8, 0.8, 0.6, 0.8, 0.95, 0.95, 0.95, 0.80],
        [0.7, 0.35, -1.4, 0.35, 0.95, 0.75, 0.10, 0.15],
        [-0.8, 0.3, -1.2, 0.3, 0.20, 0.75, 0.30, 0.15],
        [-3.2, 1.1, 3.0, 1.1, 0.80, 0.80, 0.85, 0.70],
    ],
    dtype=np.float32,
)
SUN = np.array([-0.53, 0.72, -0.45], dtype=np.float32)
LIGHT = SUN / np.sqrt((SUN**2).sum())  # the direction to it, of length 1
EYE = np.array([0.0, 1.5, -6.0], dtype=np.float32)


# Records of three numbers would do too; tuples need no declaration.
def add(a: Vector, b: Vector, scale: Number) -> Vector:
    """a + scale b"""
    return a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]


def dot(a: Vector, b: Vector) -> Number:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def unit(a: Vector) -> Vector:
    return add((0.0, 0.0, 0.0), a, 1.0 / np.sqrt(dot(a, a)))


def sphere_distance(spheres: cuda.Array, s: int, origin: Vector, ray: Vector) -> Number:
    """How far along the ray the sphere is, or FAR. The ray has length 1."""
    centre = spheres[s, 0], spheres[s, 1], spheres[s, 2]
    to_centre = add(centre, origin, -1.0)
    along = dot(to_centre, ray)
    inside = along * along - dot(to_centre, to_centre) + spheres[s, 3] * spheres[s, 3]
    distance = np.float32(FAR)
    if inside > 0.0:
        near = along - np.sqrt(inside)
        if near > NEAR:
            distance = near
    return distance


def nearest(spheres: cuda.Array, origin: Vector, ray: Vector) -> tuple[Number, int]:
    """(distance, sphere) of what the ray hits first; the floor counts as sphere -1, the sky as -2."""
    best, found = np.float32(FAR), -2
    if ray[1] < 0.0 and -origin[1] / ray[1] > NEAR:
        best, found = -origin[1] / ray[1], -1
    for s in range(spheres.shape[0]):
        distance = sphere_distance(spheres, s, origin, ray)
        if distance < best:
            best, found = distance, s
    return best, found


def sky(ray: Vector) -> Vector:
    t = 0.5 + 0.5 * ray[1]
    return 1.0 - 0.6 * t, 1.0 - 0.35 * t, 1.0 - 0.05 * t


def trace(spheres: cuda.Array, origin: Vector, ray: Vector) -> Vector:
    """The colour that comes along a ray: each mirror on its way adds a part of what it sees."""
    light = LIGHT[0], LIGHT[1], LIGHT[2]
    zero = np.float32(0)
    colour, strength = (zero, zero, zero), np.float32(1)
    for _ in range(BOUNCES + 1):
        distance, s = nearest(spheres, origin, ray)
        if s == -2:
            colour = add(colour, sky(ray), strength)
            break
        point = add(origin, ray, distance)
        if s == -1:
            normal = zero, zero + 1.0, zero
            odd = (int(np.floor(point[0])) + int(np.floor(point[2]))) % 2
            tone = np.float32(0.85 if odd == 1 else 0.25)
            base, mirror = (tone, tone, tone), np.float32(0.15)
        else:
            centre = spheres[s, 0], spheres[s, 1], spheres[s, 2]
            normal = unit(add(point, centre, -1.0))
            base = spheres[s, 4], spheres[s, 5], spheres[s, 6]
            mirror = spheres[s, 7]

        bright = np.float32(0.25)
        _, blocked = nearest(spheres, point, light)
        if blocked == -2:
            bright += 0.75 * max(dot(normal, light), zero)
            shine = max(dot(add(ray, normal, -2.0 * dot(ray, normal)), light), zero)
            shine = shine * shine * shine * shine
            shine = shine * shine * shine * shine
            colour = add(colour, (shine, shine, shine), 0.6 * strength)
        colour = add(colour, base, strength * (1.0 - mirror) * bright)
        strength = strength * mirror
        origin, ray = point, unit(add(ray, normal, -2.0 * dot(ray, normal)))
    return colour


# Without fused multiply-add every operation rounds as NumPy's: the same functions, called in plain
# Python with NumPy scalars, give the same bits.
@cuda.jit(fma=False)
def render(spheres: cuda.Array, pixel: np.float32, image: cuda.Array) -> None:
    col, row = cuda.grid(2)
    if row < image.shape[0] and col < image.shape[1]:
        red, green, blue = pixel_colour(spheres, row, col, image.shape, pixel)
        image[row, col, 0] = red
        image[row, col, 1] = green
        image[row, col, 2] = blue


def pixel_colour(spheres: cuda.Array, row: int, col: int, shape: tuple[int, ...], pixel: np.float32) -> Vector:
    x = (col - shape[1] / 2) * pixel
    y = (shape[0] / 2 - row) * pixel - 0.12
    return trace(spheres, (EYE[0], EYE[1], EYE[2]), unit((x, y, np.float32(1))))


def picture(rows: int, cols: int) -> npt.NDArray[np.float32]:
    image = np.empty((rows, cols, 3), dtype=np.float32)
    grid = (-(-cols // 16), -(-rows // 8))
    render[grid, (16, 8)](cuda.In(SPHERES), np.float32(1.0 / rows), image)
    cuda.synchronize()
    return image


def main() -> int:
    device = cuda.get_current_device()
    rows, cols = (270, 480) if device.is_host else (1080, 1920)
    print(f"ray tracing, {cols} x {rows} pixels, {len(SPHERES)} spheres, on {device.name}")

    image = picture(rows, cols)
    rng = np.random.default_rng(12)
    some = [(int(rng.integers(rows)), int(rng.integers(cols))) for _ in range(400)]
    pixel = np.float32(1.0 / rows)
    correct = all(
        np.array_equal(image[r, c], pixel_colour(SPHERES, r, c, image.shape, pixel))
        for r, c in some
    )  # fmt: skip
    print(f"  {len(some)} pixels compared with the same functions run by CPython")
    if "--picture" in sys.argv:
        import matplotlib.pyplot as plt

        path = sys.argv[sys.argv.index("--picture") + 1]
        large = np.clip(picture(1080, 1920), 0, 1)
        # The mean of 2 x 2 pixels has smooth edges.
        smooth = large.reshape(540, 2, 960, 2, 3).mean(axis=(1, 3))
        plt.imsave(path, np.sqrt(smooth))  # pyright: ignore[reportUnknownMemberType]
        print(f"  wrote {path}")
    print("equal to CPython" if correct else "NOT equal to CPython")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
