"""The kernels of the benchmark, by family; declare.py says what one is.

The compiler was tuned with the first set. Those of the second to the twelfth were written from descriptions
of the algorithms by people who did not know the compiler, and measured before anybody looked into what it
made of them: docs/performance.md has how they came and how they are. `--set trips
--sweep` takes loops over rows through every trip count from 1 to 64.
"""

from kernels import (
    blocks, compute, dense, eighth, eleventh, fifth, fourth, iterations, ninth, reductions, second, seventh, sixth,
    stencils, streams, tenth, third, trips, twelfth,
)

FAMILIES = (streams, dense, stencils, reductions, blocks, compute, iterations)
KERNELS = [kernel for family in FAMILIES for kernel in family.KERNELS]
SETS = {
    "first": KERNELS, "second": second.KERNELS, "third": third.KERNELS, "fourth": fourth.KERNELS,
    "fifth": fifth.KERNELS, "sixth": sixth.KERNELS, "seventh": seventh.KERNELS, "eighth": eighth.KERNELS,
    "ninth": ninth.KERNELS, "tenth": tenth.KERNELS, "eleventh": eleventh.KERNELS, "twelfth": twelfth.KERNELS,
    "trips": trips.KERNELS,
}  # fmt: skip
BY_NAME = {kernel.name: kernel for kernels in SETS.values() for kernel in kernels}


def pick(words, of="first"):
    """The kernels of a set whose name or title contains one of the words, all where there are none."""
    if of not in SETS:
        raise SystemExit(f"there is no set {of}: {', '.join(SETS)}")
    if not words:
        return SETS[of]
    return [k for k in SETS[of] if any(w.lower() in k.name or w.lower() in k.title.lower() for w in words)]
