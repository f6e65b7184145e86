"""The second set: kernels that the compiler was not tuned with, by family."""

from kernels.second import (
    chance, doubles, graphs, insertion, integers, matching, matvec, moments, neighbourhoods, noise, orbits, rays, resample, rows,
    series, small_linear, solvers, strings, triangles, wavefronts, waves,
)  # fmt: skip

FAMILIES = (
    wavefronts, triangles, resample, small_linear, rays, matvec, integers, doubles, strings, graphs, rows, insertion,
    noise, moments, orbits, series, solvers, waves, chance,
    neighbourhoods, matching,
)  # fmt: skip
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
