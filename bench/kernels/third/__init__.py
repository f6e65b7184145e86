"""The third set: kernels that are measured only at the start and at the end of a campaign, never
tuned to.
"""

from kernels.third import finance, geometry, images, integers, matrices, physics, sequences, sparse, statistics

FAMILIES = (finance, sequences, images, physics, sparse, matrices, statistics, geometry, integers)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
