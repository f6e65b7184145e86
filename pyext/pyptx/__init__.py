"""pyptx: Python functions as GPU kernels.

    import numpy as np
    from pyptx import cuda

    @cuda.jit
    def add(x, y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = x[i] + y[i]

    x = np.arange(1000, dtype=np.float32)
    out = np.empty_like(x)
    add[4, 256](x, x, out)

A kernel runs on an NVIDIA GPU or on the host device, the CPU: PYPTX_DEVICE is gpu, host or auto (the default).
"""

from pyptx import types
from pyptx._pyptx import __version__
from pyptx.errors import Advice, CheckError, CompileError, KernelTimeoutError
from pyptx.types import *  # noqa: F403 - float32, int64, void, f4 …: types.__all__


def _look_for_strangers():
    """One line if the other package that is named pyptx is installed in the same place: whichever
    came last has overwritten files of the first."""
    import os

    place = os.path.dirname(os.path.dirname(__file__))
    try:
        others = [name for name in os.listdir(place) if name.startswith("pyptx-") and name.endswith((".dist-info", ".egg-info"))]
    except OSError:  # imported from an archive
        return
    if others:
        import warnings

        text = (
            f"{place} also holds another package named pyptx ({others[0]}), and each overwrites the other's files: "
            "pip uninstall pyptx pyptx-cuda, then install pyptx-cuda again"
        )
        warnings.warn(text, RuntimeWarning, stacklevel=3)


_look_for_strangers()
__all__ = ["cuda", "types", "vectorize", "guvectorize", "Advice", "CheckError", "CompileError", "KernelTimeoutError", "__version__", *types.__all__]


def load_ipython_extension(shell):
    """`%load_ext pyptx` in IPython and notebooks: the magics %%pyptx, %cuda_timeit and %%cuda_timeit."""
    from pyptx import _magics

    _magics.load(shell)


def __getattr__(name):
    # `import pyptx; pyptx.cuda` works without importing it for those who only want types.
    if name in ("cuda", "config"):
        from importlib import import_module

        return import_module(f"pyptx.{name}")
    if name in ("vectorize", "guvectorize"):
        return getattr(__getattr__("cuda"), name)
    raise AttributeError(f"module 'pyptx' has no attribute '{name}'")
