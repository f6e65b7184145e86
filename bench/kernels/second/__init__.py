"""The second set: kernels that the compiler was not tuned with, by family."""

from kernels.second import doubles, graphs, integers, matvec, rays, resample, small_linear, strings, triangles, wavefronts

FAMILIES = (wavefronts, triangles, resample, small_linear, rays, matvec, integers, doubles, strings, graphs)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
