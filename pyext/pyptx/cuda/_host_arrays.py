"""NumPy arrays in memory that a GPU reaches: what _memory's functions make."""

from operator import index

import numpy as np

from pyptx import _pyptx


def _bounds(a):
    """Addresses of the first byte and behind the last."""
    low = high = a.__array_interface__["data"][0]
    if a.size:
        reach = [(n - 1) * s for n, s in zip(a.shape, a.strides)]
        low, high = low + sum(r for r in reach if r < 0), high + sum(r for r in reach if r > 0) + a.itemsize
    return low, high


class _Reached(np.ndarray):
    """An array on a HostMemory. Views of it are, too; results of operations on it lie elsewhere and are arguments as any NumPy array."""

    _memory = _stream = None

    def __array_finalize__(self, other):
        self._memory = getattr(other, "_memory", None)
        self._stream = getattr(other, "_stream", None)

    @property
    def gpu_data(self):
        """The memory, with ``device_pointer``, ``host_pointer`` and ``size``."""
        memory = self._memory
        if memory is not None:
            low, high = _bounds(self)
            if memory.host_pointer <= low and high <= memory.host_pointer + memory.size:
                return memory
        raise AttributeError("this array is not in memory that the device reaches: it is the result of an operation")

    @property
    def __cuda_array_interface__(self):
        memory = self.gpu_data
        if _pyptx.get_current_device().is_host:
            raise AttributeError("the current device is the host, which uses NumPy arrays as they are")
        interface = dict(self.__array_interface__)
        address, readonly = interface["data"]
        interface["data"] = address - memory.host_pointer + memory.device_pointer, readonly
        return {**interface, "stream": self._stream and self._stream.handle, "version": 3}

    @property
    def device_ctypes_pointer(self):
        """Address of the first element, as kernels see it."""
        import ctypes

        memory = self.gpu_data
        return ctypes.c_void_p(self.ctypes.data - memory.host_pointer + memory.device_pointer)

    def copy_to_host(self, ary=None, stream=0):
        """The elements, after the device has finished, as an ordinary NumPy array."""
        _pyptx.synchronize()
        if ary is None:
            return np.array(self, subok=False)
        ary[...] = self
        return ary

    def __reduce__(self):
        return np.array(self, subok=False).__reduce__()


class MappedArray(_Reached):
    """A NumPy array in page-locked memory that kernels use in place."""


class ManagedArray(_Reached):
    """A NumPy array in managed memory."""


def strides_like(ary):
    """The strides of ary where its elements fill its memory; else those of an array that does, with its axes in the same order."""
    if len(ary.strides) != len(ary.shape):
        return None
    strides, step = [0] * len(ary.shape), np.dtype(ary.dtype).itemsize
    for i in reversed(_axes(ary.strides)):
        strides[i] = step
        step *= max(ary.shape[i], 1)
    return tuple(strides)


def _axes(strides):
    """The axes from slowest to fastest."""
    return sorted(range(len(strides)), key=lambda i: (-abs(strides[i]), i))


def _order(shape, itemsize, strides):
    """The axes from slowest to fastest; ValueError if elements with these strides overlap or leave gaps."""
    strides = tuple(strides)
    if len(strides) != len(shape):
        raise ValueError("strides must be as many as the axes")
    axes = _axes(strides)
    expected = itemsize
    for i in reversed(axes):
        if shape[i] > 1 and strides[i] != expected:
            raise ValueError("strides must be those of an array whose elements fill its memory")
        expected *= max(shape[i], 1)
    return axes


def _make(cls, managed, shape, dtype, strides, order, stream=None):
    dtype = np.dtype(_pyptx._own(dtype))
    if dtype.hasobject:
        raise TypeError(f"an array of dtype {dtype} holds Python objects: a device cannot use it")
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', not {order!r}")
    shape = tuple(shape) if np.iterable(shape) else (shape,)
    shape = tuple(index(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError("negative extents are not allowed")
    if strides is not None:
        _order(shape, dtype.itemsize, strides)
    size = dtype.itemsize
    for n in shape:
        size *= n
    if size >= 1 << 62:
        raise ValueError("the array is too large: its size in bytes does not fit 63 bits")
    memory = _pyptx._host_memory(size, managed)
    array = np.ndarray.__new__(cls, shape, dtype, memory, 0, strides, order)
    if cls is not np.ndarray:
        array._memory, array._stream = memory, stream or None
    return array


def pinned(shape, dtype, strides, order):
    return _make(np.ndarray, False, shape, dtype, strides, order)


def mapped(shape, dtype, strides, order, stream):
    return _make(MappedArray, False, shape, dtype, strides, order, stream)


def managed(shape, dtype, strides, order, stream):
    return _make(ManagedArray, True, shape, dtype, strides, order, stream)


def as_bytes(ary):
    """A contiguous array's memory as an object with a buffer; not every dtype has one of its own."""
    if not isinstance(ary, np.ndarray):
        raise TypeError(f"a NumPy array is needed, not {type(ary).__name__}")
    if not (ary.flags.c_contiguous or ary.flags.f_contiguous):
        raise ValueError("only contiguous arrays can be pinned")
    return ary.reshape(-1, order="A").view(np.uint8)
