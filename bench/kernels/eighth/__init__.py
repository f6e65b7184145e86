"""The eighth set: kernels by another author, written blind, after the compiler had been tuned with the other seven."""

from kernels.eighth import bodies, ciphers, learning, lookups, molecules, packing, radio, searches, views

FAMILIES = (ciphers, packing, lookups, searches, radio, molecules, views, bodies, learning)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
