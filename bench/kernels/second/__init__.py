"""The second set: kernels that the compiler was not tuned with, by family."""

from kernels.second import (
    doubles, graphs, insertion, integers, matching, matvec, neighbourhoods, rays, resample, rows, small_linear, strings,
    triangles, wavefronts,
)  # fmt: skip

FAMILIES = (
    wavefronts, triangles, resample, small_linear, rays, matvec, integers, doubles, strings, graphs, rows, insertion,
    neighbourhoods, matching,
)  # fmt: skip
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
