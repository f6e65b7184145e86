"""The second set: kernels that the compiler was not tuned with, by family."""

from kernels.second import wavefronts

FAMILIES = (wavefronts,)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
