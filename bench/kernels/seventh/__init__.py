"""The seventh set: kernels by another author, written blind, after the compiler had been tuned with the other six."""

from kernels.seventh import (
    estimates, frames, gases, genome, markets, matter, networks, octets, ranks, roots, signals, sparse, terrain, tokens,
)

FAMILIES = (
    frames, terrain, markets, genome, estimates, ranks, networks, tokens, sparse, gases, matter, signals, octets, roots,
)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
