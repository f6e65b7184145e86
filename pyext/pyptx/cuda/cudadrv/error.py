"""Exceptions, as numba.cuda.cudadrv.error names them. What pyptx has one class for has one here."""

from pyptx.errors import CompileError as NvvmError
from pyptx.errors import CudaSupportError
from pyptx.errors import DriverError as CudaDriverError
from pyptx.errors import DriverError as CudaRuntimeError

NvvmSupportError = CCSupportError = CudaSupportError

__all__ = ["CCSupportError", "CudaDriverError", "CudaRuntimeError", "CudaSupportError", "NvvmError", "NvvmSupportError"]
