"""The fifth set: kernels by another author, who wrote them blind, too, and after the compiler had been tuned with
the other four.
"""

from kernels.fifth import codes, fields, finance, images, nearness, particles, systems, transforms

FAMILIES = (particles, fields, systems, transforms, images, nearness, codes, finance)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
