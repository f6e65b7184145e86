"""The kernels of the benchmark, by family; declare.py says what one is."""

from kernels import blocks, compute, dense, iterations, reductions, stencils, streams

FAMILIES = (streams, dense, stencils, reductions, blocks, compute, iterations)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
BY_NAME = {kernel.name: kernel for kernel in KERNELS}


def pick(words):
    """The kernels whose name or title contains one of the words (all of them where there are none)."""
    if not words:
        return KERNELS
    return [k for k in KERNELS if any(w.lower() in k.name or w.lower() in k.title.lower() for w in words)]
