"""The names under numba.cuda.cudadrv that libraries ask for: is there a GPU, which one is current, is this a device array, which exceptions to catch.

They are other names for what pyptx.cuda has. The rest of Numba's driver layer has no counterpart; docs/guide/porting.md says what to write instead.
"""

from pyptx.cuda.cudadrv import devicearray, devices, driver, error, runtime

__all__ = ["devicearray", "devices", "driver", "error", "runtime"]
