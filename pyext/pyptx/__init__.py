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
from pyptx.errors import Advice, CompileError
from pyptx.types import *  # noqa: F403 - float32, int64, void, f4 …: types.__all__


def _look_for_strangers():
    """One line if files of the other package that is named pyptx lie among ours: whichever was installed last has overwritten the other's."""
    import os

    own = {
        "__init__.py", "__init__.pyi", "__main__.py", "__pycache__", "_cache.py", "_callbacks.py", "_complex.py", "_library.py", "_numba.py", "_numbers.py", "_pickle.py",
        "_pyptx.pyi", "_tools.py", "cli.py", "config.py", "cuda", "errors.py", "info.py", "py.typed", "types.py", "types.pyi",
    }  # fmt: skip
    folder = os.path.dirname(__file__)
    try:
        others = sorted(name for name in {*os.listdir(folder)} - own if not name.startswith("_pyptx."))
    except OSError:  # imported from an archive
        return
    if others:
        import warnings

        text = f"{folder} also holds files of another package named pyptx ({', '.join(others[:3])}): pip uninstall pyptx pyptx-cuda, then install pyptx-cuda again"
        warnings.warn(text, RuntimeWarning, stacklevel=3)


_look_for_strangers()
__all__ = ["cuda", "types", "Advice", "CompileError", "__version__", *types.__all__]


def __getattr__(name):
    # `import pyptx; pyptx.cuda` works without importing it for those who only want types.
    if name in ("cuda", "config"):
        from importlib import import_module

        return import_module(f"pyptx.{name}")
    raise AttributeError(f"module 'pyptx' has no attribute '{name}'")
