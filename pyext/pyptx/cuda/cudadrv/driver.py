"""The driver, as numba.cuda.cudadrv.driver names it: its version, how many GPUs it has, and the exceptions of its calls."""

from pyptx import _pyptx
from pyptx.cuda import CudaAPIError, MemoryPointer, gpus

__all__ = ["CudaAPIError", "Driver", "MemoryPointer", "driver"]


class Driver:
    """The NVIDIA driver of this process. Use the module's ``driver``."""

    def get_version(self):
        """(major, minor) of the CUDA version that the driver supports, such as (13, 0); CudaSupportError without a driver."""
        version = _pyptx._facts()["driver"]
        if not version:
            from pyptx.cuda import CudaSupportError, cuda_error

            raise CudaSupportError(cuda_error() or "there is no NVIDIA driver")
        return version // 1000, version % 1000 // 10

    def get_device_count(self):
        """How many GPUs ``cuda.gpus`` has; 0 without a driver."""
        return len(gpus)

    @property
    def is_initialized(self):
        """True if there is a driver with a GPU."""
        return _pyptx.gpu_count() > 0


driver = Driver()
