"""The second set: kernels that the compiler was not tuned with, by family."""

from kernels.second import (
    chance, doubles, graphs, insertion, integers, matvec, moments, noise, orbits, rays, resample, rows, series, small_linear,
    solvers, strings, triangles, wavefronts, waves,
)  # fmt: skip

FAMILIES = (
    wavefronts, triangles, resample, small_linear, rays, matvec, integers, doubles, strings, graphs, rows, insertion,
    noise, moments, orbits, series, solvers, waves, chance,
)  # fmt: skip
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
