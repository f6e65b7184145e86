"""The sixth set: kernels by another author, written blind, after the compiler had been tuned with the other five."""

from kernels.sixth import (
    bands, chains, choices, flows, graphs, hashes, language, layers, learning, norms, patterns, scans, scenes,
    series, solvers, tiles, times,
)

FAMILIES = (
    learning, norms, layers, language, choices, solvers, bands, flows, patterns, scenes, series, chains, graphs,
    times, hashes, scans, tiles,
)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
