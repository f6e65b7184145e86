"""Memory: host arrays that a GPU reaches, arguments' directions, statistics, allocator plug-ins, sharing between processes.

Device arrays themselves are in C. What makes NumPy arrays is in _host_arrays, which is imported when it is first used, so that
`from pyptx import cuda` does not import NumPy.
"""

from contextlib import contextmanager
from operator import index

from pyptx import _pyptx


def _arrays():
    from pyptx.cuda import _host_arrays

    return _host_arrays


def pinned_array(shape, dtype=float, strides=None, order="C"):
    """A NumPy array with undefined elements in page-locked memory, which is copied at the link's speed, and with a stream asynchronously.

    strides: in bytes; the elements must fill the memory in some order of axes. The memory is freed with the last array on it,
    after the device's work. On the host device: an ordinary array.

    Example:

        x = cuda.pinned_array(1000, np.float32)
        x[:] = 1
        d_x = cuda.to_device(x, stream=s)      # returns before the copy is done
    """
    return _arrays().pinned(shape, dtype, strides, order)


def pinned_array_like(ary):
    """A pinned_array with shape, dtype and order of ary.

    Example:

        x = cuda.pinned_array_like(a)
    """
    return pinned_array(ary.shape, ary.dtype, _arrays().strides_like(ary))


def mapped_array(shape, dtype=float, strides=None, order="C", stream=0, portable=False, wc=False):
    """A NumPy array with undefined elements in page-locked memory that kernels read and write in place, over the link: pass it as an
    argument. Synchronise before the host reads what a kernel wrote. stream: the one that its __cuda_array_interface__ names.

    portable and wc are accepted for compatibility with Numba: the memory is portable, and is not write-combined.

    Example:

        x = cuda.mapped_array(8, np.float32)
        x[:] = 1
        add[1, 256](x, x, x)
        cuda.synchronize()
        print(x[0])                             # 2.0
    """
    return _arrays().mapped(shape, dtype, strides, order, stream)


def mapped_array_like(ary, stream=0, portable=False, wc=False):
    """A mapped_array with shape, dtype and order of ary.

    Example:

        x = cuda.mapped_array_like(a)
    """
    return mapped_array(ary.shape, ary.dtype, _arrays().strides_like(ary), stream=stream)


def managed_array(shape, dtype=float, strides=None, order="C", stream=0, attach_global=True):
    """A NumPy array with undefined elements in managed memory, which the driver moves to the side that uses it: pass it as an argument.
    Synchronise before the host reads what a kernel wrote. stream: the one that its __cuda_array_interface__ names.

    OutOfMemoryError if it is larger than the device's free memory. Device.reset() frees the memory: do not use the array after it.
    On the host device: an ordinary array, within free memory.

    Example:

        x = cuda.managed_array(8, np.float32)
        x[:] = 1
        add[1, 256](x, x, x)
        cuda.synchronize()
        print(x[0])                             # 2.0
    """
    return _arrays().managed(shape, dtype, strides, order, stream)


@contextmanager
def _registered(arrays):
    done = []
    try:
        for a in arrays:
            done.append(_pyptx._register(_arrays().as_bytes(a)))
        yield done
    finally:
        for memory in reversed(done):
            memory.close()


@contextmanager
def pinned(*arylist):
    """with cuda.pinned(a, b): the memory of these NumPy arrays is page-locked in the block. They must be contiguous. The end of
    the block waits for the device.

    Example:

        with cuda.pinned(a):
            d_a = cuda.to_device(a, stream=s)
    """
    with _registered(arylist):
        yield


@contextmanager
def mapped(*arylist, stream=0, portable=False):
    """with cuda.mapped(a) as d_a: a device array on the memory of a contiguous NumPy array, in the block; a list of them for several. The end
    of the block waits for the device.

    Example:

        x = np.ones(8, np.float32)
        with cuda.mapped(x) as d_x:
            add[1, 256](d_x, d_x, d_x)
        print(x[0])                             # 2.0
    """
    with _registered(arylist) as memories:
        views = [
            _pyptx._array_at(m.device_pointer, a.nbytes, a.dtype, a.shape, a.strides, m, not a.flags.writeable)
            for m, a in zip(memories, arylist)
        ]
        yield views[0] if len(views) == 1 else views


@contextmanager
def defer_cleanup():
    """with cuda.defer_cleanup(): device memory freed in the block, by any thread, is released at its end (or when memory is short), so that
    nothing in it waits for a release.

    Example:

        with cuda.defer_cleanup():
            for _ in range(10):
                x = cuda.device_array(1000)
    """
    device = _pyptx.get_current_device()
    _pyptx._defer_frees(True, device)
    try:
        yield
    finally:
        _pyptx._defer_frees(False, device)


# --- numbers ---


class MemoryInfo(tuple):
    """(free, total) bytes of a device's memory, as the driver reports them. Attributes describe this process's device arrays: ``live_bytes``,
    ``live_arrays``, ``peak_bytes``, ``cached_bytes`` (freed, and kept for reuse), ``allocations`` (since the start), ``limit`` (how much freed
    memory the pool keeps at most).

    Example:

        live = cuda.memory_info().live_bytes
    """

    def __new__(cls, stats):
        self = super().__new__(cls, stats[:2])
        self.free, self.total = stats[:2]
        self.live_bytes, self.live_arrays, self.peak_bytes, self.cached_bytes, self.allocations, self.limit = stats[2:]
        return self

    def __reduce__(self):
        return MemoryInfo, ((*self, *list(vars(self).values())[2:]),)

    def __repr__(self):
        return f"MemoryInfo({', '.join(f'{name}={value}' for name, value in vars(self).items())})"


def _device(device):
    return device if device is None or hasattr(device, "memory_info") else _pyptx._device(device)


def _bytes(n):
    if not 0 <= index(n) < 1 << 64:
        raise ValueError(f"a number of bytes must not be negative or huge: {n}")
    return index(n)


def memory_info(device=None):
    """MemoryInfo of a device (a Device or its number), or of the current one. It unpacks as (free, total).

    Example:

        free, total = cuda.memory_info()
        peak = cuda.memory_info().peak_bytes
    """
    device = _device(device)
    info = MemoryInfo(_pyptx._memory_stats(device))
    if _manager is not None and not (device or _pyptx.get_current_device()).is_host:
        theirs = _manager.get_memory_info()
        if theirs is not None:
            return MemoryInfo((theirs[0], theirs[1], *list(vars(info).values())[2:]))
    return info


def trim_memory(keep=0, device=None):
    """Returns freed memory that is kept for reuse to the system, except `keep` bytes, and pinned buffers of copies too. Waits for the device.
    This happens by itself before an allocation fails.

    Example:

        cuda.trim_memory()
    """
    _pyptx._memory_trim(_bytes(keep), _device(device))


def set_memory_limit(limit, device=None):
    """How many bytes of freed memory the device's pool keeps for reuse across synchronisation; the rest is returned to the system. Half of the
    device's memory until it is set. Other libraries of the process that allocate from CUDA's default pool share it.

    Example:

        cuda.set_memory_limit(1 << 30)           # 1 GiB
    """
    _pyptx._memory_limit(_bytes(limit), _device(device))


# --- arguments ---


class ArgHint:
    """The direction in which a NumPy argument of a kernel is copied, as in Numba: ``cuda.In(a)`` is not copied back, ``cuda.Out(a)`` is not copied to
    the device, ``cuda.InOut(a)`` is copied in both directions, like a plain array."""

    __pyptx_way__ = True, True  # to the device, back

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"cuda.{type(self).__name__}({self.value!r})"


class In(ArgHint):
    """An array that a kernel reads. What the kernel writes to it is lost.

    Example:

        out = np.empty_like(a)
        add[1, 256](cuda.In(a), cuda.In(a), cuda.Out(out))
    """

    __pyptx_way__ = True, False


class Out(ArgHint):
    """An array that a kernel writes. Elements that the kernel does not write are undefined (on the host device: unchanged).

    Example:

        out = np.empty_like(a)
        add[1, 256](a, a, cuda.Out(out))        # not copied to the device before
    """

    __pyptx_way__ = False, True


class InOut(ArgHint):
    """An array that a kernel reads and writes.

    Example:

        x = a.copy()
        add[1, 256](cuda.InOut(x), a, x)
    """


# --- allocators ---

_manager = None


def set_allocator(allocator):
    """Device arrays get their memory from allocator(nbytes, stream): an object whose memory is freed when it is collected, and that has its
    address as ``ptr``, ``device_pointer`` or in ``__cuda_array_interface__``, or is the address. stream is a CUstream as an int, 0 for the
    default one. None restores pyptx's pool. Temporary copies of NumPy arguments stay in the pool; the host device has memory of its own.

        cuda.set_allocator(lambda nbytes, stream: rmm.DeviceBuffer(size=nbytes))
    """
    global _manager
    if allocator is not None and not callable(allocator):
        raise TypeError(f"an allocator must be callable, not {type(allocator).__name__}")
    _pyptx._set_allocator(None if allocator is None else _normalised(allocator))
    _manager = None


def _address(memory):
    for name in ("ptr", "device_pointer", "device_ctypes_pointer"):
        found = getattr(memory, name, None)
        if found is not None:
            found = getattr(found, "value", found)  # ctypes; of address 0: None
            return int(found or 0)
    interface = getattr(memory, "__cuda_array_interface__", None)
    return index(interface["data"][0] if interface else memory)


def _normalised(allocator):
    def allocate(nbytes, stream):
        memory = allocator(nbytes, stream)
        try:
            address = _address(memory)
        except (TypeError, ValueError):
            address = -1
        if not 0 <= address < 1 << 64:
            raise TypeError(f"an allocator gives an address, or an object with `ptr`, `device_pointer` or `__cuda_array_interface__`, not {memory!r}")
        return address, memory

    return allocate


def set_memory_manager(manager):
    """Numba's interface of memory managers ("EMM plug-ins"): a class with ``memalloc(size)``, made with ``context=``; RMM's
    ``rmm.allocators.numba.RMMNumbaManager`` is one. Device arrays come from it from now on. None or "default" restores pyptx's own.

    Example:

        cuda.set_memory_manager(MyManager)      # a BaseCUDAMemoryManager
    """
    global _manager
    if manager is None or manager == "default":
        return set_allocator(None)
    if isinstance(manager, str):
        from importlib import import_module

        manager = import_module(manager)._numba_memory_manager
    from pyptx.cuda._devices import current_context

    made = manager(context=current_context())
    version = made.interface_version
    if version != 1:
        raise RuntimeError(f"the memory manager speaks version {version} of the plug-in interface: version 1 is needed")
    made.initialize()
    set_allocator(lambda nbytes, stream: made.memalloc(nbytes))
    _manager = made


def get_memory_manager():
    """The memory manager in use, or None for pyptx's own.

    Example:

        manager = cuda.get_memory_manager()       # None: pyptx's own
    """
    return _manager


class BaseCUDAMemoryManager:
    """What set_memory_manager takes: a base class with Numba's methods. memalloc, initialize and interface_version are called by pyptx."""

    def __init__(self, *args, **kwargs):
        if "context" not in kwargs:
            raise RuntimeError("a memory manager needs context=")
        self.context = kwargs.pop("context")

    def memalloc(self, size):
        """A MemoryPointer to `size` bytes of the device."""
        raise NotImplementedError

    def memhostalloc(self, size, mapped=False, portable=False, wc=False):
        """Page-locked host memory of `size` bytes, an object with a buffer."""
        return _pyptx._host_memory(size, False)

    def mempin(self, owner, pointer=None, size=None, mapped=False):
        """Page-locks the memory of owner, an object with a contiguous buffer, until close()."""
        return _pyptx._register(owner)

    def initialize(self):
        """Called before the first allocation."""

    def get_ipc_handle(self, memory):
        """An IpcHandle of a MemoryPointer."""
        raise NotImplementedError("this memory manager has no IPC handles")

    def get_memory_info(self):
        """(free, total) bytes, or None to use the driver's numbers."""
        return None

    def reset(self):
        """Never called: memory is freed with its arrays."""

    def defer_cleanup(self):
        """A context in which memory need not be freed."""
        return defer_cleanup()

    @property
    def interface_version(self):
        """1: the version of the interface that the class implements."""
        return 1


class HostOnlyCUDAMemoryManager(BaseCUDAMemoryManager):
    """The base class of managers of device memory only: pyptx manages host memory."""


class MemoryPointer:
    """Memory of a device, as a manager gives it: ``finalizer()`` is called when it is collected."""

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        import weakref

        self.context, self.size, self.owner = context, size, owner
        self.device_pointer = pointer
        self._finalizer = weakref.finalize(self, finalizer) if finalizer is not None else None

    @property
    def device_ctypes_pointer(self):
        """The address as a ctypes.c_void_p."""
        import ctypes

        return ctypes.c_void_p(_address(self))

    def free(self):
        """Frees it now."""
        if self._finalizer is not None:
            self._finalizer()


class MappedMemory(MemoryPointer):
    """Host memory that the device reaches: a MemoryPointer with ``host_pointer``, the address on the host's side."""

    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        super().__init__(context, pointer, size, owner, finalizer)
        self.host_pointer = pointer


class PinnedMemory(MemoryPointer):
    """Page-locked host memory, as a manager's memhostalloc gives it."""


class IpcHandle:
    """What a memory manager's get_ipc_handle returns: the 64 bytes of a CUipcMemHandle, and where in the allocation the memory begins."""

    def __init__(self, base, handle, size, source_info=None, offset=0):
        self.base, self.handle, self.size, self.source_info, self.offset = base, handle, size, source_info, offset


class GetIpcHandleMixin:
    """get_ipc_handle for managers whose memory comes from cuMemAlloc."""

    def get_ipc_handle(self, memory):
        """An IpcHandle of a MemoryPointer; ValueError where the driver cannot share it."""
        array = _pyptx._array_at(_address(memory), memory.size, "u1", (memory.size,), (1,), memory, False)
        handle, offset = _pyptx._ipc_handle(array)
        return IpcHandle(memory, handle, memory.size, None, offset)


# --- other processes ---


@contextmanager
def shareable():
    """with cuda.shareable(): device arrays that this thread makes in the block can be opened by other processes: their get_ipc_handle() works.
    They do not come from the pool, so making and freeing them waits for the device.

    Example:

        with cuda.shareable():
            x = cuda.to_device(a)
        handle = x.get_ipc_handle()            # can be pickled and sent
    """
    _pyptx._shareable(True)
    try:
        yield
    finally:
        _pyptx._shareable(False)


class IpcArrayHandle:
    """A device array that another process of this machine can open; it can be pickled. The exporting process must keep its array alive, and cannot
    open the handle itself.

        with handle as d_array:  # or open() and close()
            kernel[blocks, threads](d_array)
    """

    def __init__(self, handle, offset, shape, dtype, strides):
        self.handle, self.offset, self.shape, self.dtype, self.strides = handle, offset, shape, dtype, strides
        self._memory = None

    def __reduce__(self):
        return IpcArrayHandle, (self.handle, self.offset, self.shape, self.dtype, self.strides)

    def open(self):
        """The device array. Its memory is valid until close()."""
        import numpy as np

        if self._memory is not None:
            raise ValueError("the IPC handle is already open")
        size = np.dtype(self.dtype).itemsize * int(np.prod(self.shape))
        memory = _pyptx._ipc_open(self.handle)
        try:
            array = _pyptx._array_at(memory.device_pointer + self.offset, size, self.dtype, self.shape, self.strides, memory, False)
        except BaseException:
            memory.close()
            raise
        self._memory = memory
        return array

    def close(self):
        """Closes it; waits for the device."""
        if self._memory is None:
            raise ValueError("the IPC handle is not open")
        self._memory.close()
        self._memory = None

    def __enter__(self):
        return self.open()

    def __exit__(self, *exception):
        self.close()


def _ipc_handle_of(array):
    handle, offset = _pyptx._ipc_handle(array)
    return IpcArrayHandle(handle, offset, array.shape, array.dtype, array.strides)


@contextmanager
def open_ipc_array(handle, shape, dtype, strides=None, offset=0):
    """with cuda.open_ipc_array(handle, shape, dtype) as d_a: the array of another process that a CUipcMemHandle stands for (64 bytes,
    or anything that bytes() converts to them).

    Example:

        with cuda.open_ipc_array(handle, 8, np.float32) as d_x:
            add[1, 256](d_x, d_x, d_x)
    """
    raw = bytes(getattr(handle, "reserved", getattr(handle, "handle", handle)))
    with IpcArrayHandle(raw, offset, shape, dtype, strides) as array:
        yield array
