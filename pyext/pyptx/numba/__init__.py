"""Programs that say `from numba import cuda` run on pyptx as they are.

    python -m pyptx.numba program.py arguments      (or -m module)

    import pyptx.numba
    pyptx.numba.install()                           (a conftest.py, a notebook's first cell)

From install() on, `numba.cuda` is pyptx, beside an installed Numba, whose njit, types and CPU side
stay as they are, or without one. Then `numba` itself has cuda, the types, config, vectorize and
guvectorize, and njit and jit compile for the host device. uninstall() undoes it.
"""

from pyptx.numba._install import install, installed, uninstall

__all__ = ["install", "installed", "uninstall"]
