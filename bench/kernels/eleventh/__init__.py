"""The eleventh set: kernels by another author, written blind, after the compiler had been tuned with the other ten."""

from kernels.eleventh import boards, heredity, insurance, layers, links, pictures, quakes, secrets, shapes, sounds, stores, waves, words

FAMILIES = (heredity, quakes, insurance, sounds, links, boards, secrets, shapes, waves, words, pictures, layers, stores)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
