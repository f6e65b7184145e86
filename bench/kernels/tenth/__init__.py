"""The tenth set: kernels by another author, written blind, after the compiler had been tuned with the other nine."""

from kernels.tenth import (
    codes, columns, estimates, frames, games, genome, lattice, learning, markets, matter, numbers, radio, rasters, render,
    robots, sky, vision,
)  # fmt: skip

FAMILIES = (
    lattice, matter, columns, sky, rasters, radio, vision, render, genome, frames, codes, estimates, markets, learning, robots,
    games, numbers,
)  # fmt: skip
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
