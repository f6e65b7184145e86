"""Settings under the names that they have in numba.config: ``from pyptx import config`` in place of ``from numba import config``.

ENABLE_CUDASIM: kernels run on the host device. Setting it to true sets PYPTX_DEVICE=host, which takes effect at the first use of a device.
CUDA_ARRAY_INTERFACE_SYNC: work on arrays of other libraries is ordered after the stream that they name (PYPTX_CAI_SYNC).
CUDA_LOW_OCCUPANCY_WARNINGS: k[grid, block] on a GPU warns (NumbaPerformanceWarning) if the grid has fewer than 128 blocks.
CUDA_WARN_ON_IMPLICIT_COPY: a launch on a GPU warns of each host array that it copies. Both are off here unless they are set, or NUMBA_CUDA_... is 1.
CUDA_DEBUGINFO_DEFAULT: debug= of kernels that do not say it. CUDA_ENABLE_NRT and others that name the inside of Numba are errors.
"""

import os as _os
import sys as _sys
from types import ModuleType as _Module

from pyptx import _pyptx

_SETTINGS = ("CUDA_LOW_OCCUPANCY_WARNINGS", "CUDA_WARN_ON_IMPLICIT_COPY", "CUDA_DEBUGINFO_DEFAULT")
for _name in _SETTINGS:
    globals()[_name] = int(_os.environ.get("NUMBA_" + _name) == "1")


def _tell():
    _pyptx._warnings(CUDA_LOW_OCCUPANCY_WARNINGS, CUDA_WARN_ON_IMPLICIT_COPY)  # noqa: F821 - made above


_tell()


class _Config(_Module):
    @property
    def ENABLE_CUDASIM(self):
        from pyptx import cuda

        return int(cuda.get_current_device().is_host)

    @ENABLE_CUDASIM.setter
    def ENABLE_CUDASIM(self, value):
        if value:
            _os.environ["PYPTX_DEVICE"] = "host"
        elif _os.environ.get("PYPTX_DEVICE") == "host":
            del _os.environ["PYPTX_DEVICE"]

    @property
    def CUDA_ARRAY_INTERFACE_SYNC(self):
        return int(_os.environ.get("PYPTX_CAI_SYNC") != "0")

    @CUDA_ARRAY_INTERFACE_SYNC.setter
    def CUDA_ARRAY_INTERFACE_SYNC(self, value):
        _os.environ["PYPTX_CAI_SYNC"] = "1" if value else "0"

    def __setattr__(self, name, value):
        if name.isupper() and not hasattr(_Config, name) and name not in globals():
            raise AttributeError(f"pyptx.config has no setting '{name}': docs/guide/porting.md says what stands for Numba's", name=name)
        super().__setattr__(name, value)
        if name in _SETTINGS:
            _tell()


def __getattr__(name):
    if name.isupper():
        raise AttributeError(f"pyptx.config has no setting '{name}': docs/guide/porting.md says what stands for Numba's", name=name)
    raise AttributeError(f"module 'pyptx.config' has no attribute '{name}'", name=name)


_sys.modules[__name__].__class__ = _Config
