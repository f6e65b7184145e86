"""The twelfth set: kernels by another author, written blind, after the compiler had been tuned with the other eleven."""

from kernels.twelfth import climate, codes, life, linear, markets, numbers, physics, pictures, plans, records, series, shapes

FAMILIES = (plans, codes, records, numbers, linear, pictures, physics, climate, life, series, markets, shapes)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
