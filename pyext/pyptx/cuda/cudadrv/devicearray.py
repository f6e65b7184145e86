"""Device arrays, as numba.cuda.cudadrv.devicearray names them."""

from pyptx.cuda import DeviceNDArray

DeviceNDArrayBase = DeviceNDArray

__all__ = ["DeviceNDArray", "DeviceNDArrayBase", "is_cuda_ndarray"]


def is_cuda_ndarray(obj):
    """True for pyptx's device arrays. cuda.is_cuda_array(obj) is also true of other libraries' arrays."""
    return isinstance(obj, DeviceNDArray)
