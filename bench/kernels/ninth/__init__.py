"""The ninth set: kernels by another author, written blind, after the compiler had been tuned with the other eight."""

from kernels.ninth import genome, maps, markets, numbers, pictures, puzzles, scenes, sound, swarms, textures, worlds

FAMILIES = (genome, pictures, textures, maps, sound, markets, worlds, swarms, scenes, puzzles, numbers)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
