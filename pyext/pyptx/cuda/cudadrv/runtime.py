"""numba.cuda.cudadrv.runtime. pyptx needs no CUDA toolkit, so the version of the runtime is what the driver supports."""

from pyptx.cuda import is_supported_version
from pyptx.cuda.cudadrv.driver import Driver

__all__ = ["Runtime", "runtime"]


class Runtime(Driver):
    """The CUDA version that the driver supports. Use the module's ``runtime``."""

    def is_supported_version(self):
        """cuda.is_supported_version()."""
        return is_supported_version()


runtime = Runtime()
