"""The third set: held out until the fourth was begun, and then looked into, too."""

from kernels.third import finance, geometry, images, integers, matrices, physics, sequences, sparse, statistics

FAMILIES = (finance, sequences, images, physics, sparse, matrices, statistics, geometry, integers)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
