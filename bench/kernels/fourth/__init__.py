"""The fourth set: kernels written from descriptions of their algorithms, blind: by someone who has read
neither the compiler nor what it makes of them.
"""

from kernels.fourth import codes, fields, filters, grids, numerics, sequences, space, tables

FAMILIES = (filters, codes, fields, space, grids, sequences, numerics, tables)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
