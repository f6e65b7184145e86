"""Devices as lists, contexts and questions. The Device type itself is in C."""

import os
from contextlib import contextmanager
from operator import index

from pyptx import _pyptx
from pyptx.cuda._memory import defer_cleanup, memory_info


class Gpus:
    """The GPUs: ``len(gpus)``, ``gpus[i]``, ``gpus.current``, and ``with gpus[i]:``. Without a GPU, or where
    ``PYPTX_DEVICE`` is ``host`` or ``python``, there are none, and ``gpus[0]`` is the host device.

    Example:

        names = [gpu.name for gpu in cuda.gpus]
        if len(cuda.gpus) > 1:
            with cuda.gpus[1]:
                x = cuda.to_device(a)
    """

    def __len__(self):
        return 0 if os.environ.get("PYPTX_DEVICE") in ("host", "python") else _pyptx.gpu_count()

    def __getitem__(self, i):
        if isinstance(i, slice):
            return self.lst[i]
        i = index(i)
        count = len(self)
        if i < 0:
            i += count
        if i < 0 or (i >= count and i > 0):
            raise IndexError(f"there is no GPU {i}: {count} found")
        return _pyptx._device(i)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __repr__(self):
        return f"<pyptx GPUs: {', '.join(d.name for d in self) or 'none'}>"

    def _repr_html_(self):
        from pyptx import _html

        return _html.of_gpus(self)

    @property
    def current(self):
        """The current device of this thread."""
        return _pyptx.get_current_device()

    @property
    def lst(self):
        """The devices as a list."""
        return list(self)


def list_devices():
    """All GPUs.

    Example:

        for gpu in cuda.list_devices():
            print(gpu.id, gpu.name)
    """
    return list(Gpus())


def is_available():
    """True if there is a usable GPU. Kernels run without one too, on the host device, so code that asks this to choose between a kernel and NumPy
    need not ask: ``cuda.get_current_device().is_host`` says where kernels run.

    Example:

        gpu = cuda.is_available()
    """
    return _pyptx.gpu_count() > 0


def is_supported_version():
    """True if there is a driver that pyptx works with (CUDA 11.2 or later). In Numba the question is about the toolkit, which is not needed here.

    Example:

        usable = cuda.is_supported_version()
    """
    return _pyptx.gpu_count() > 0 or _pyptx.cuda_error() == "there is no GPU that CUDA can use"


def is_float16_supported():
    """True: kernels have float16 on every device.

    Example:

        print(cuda.is_float16_supported())      # True
    """
    return True


def is_bfloat16_supported():
    """True: kernels have bfloat16 on every device; GPUs have instructions for it from compute capability 8.0 on.

    Example:

        print(cuda.is_bfloat16_supported())     # True
    """
    return True


def detect():
    """Prints the devices; True if one of them is a GPU.

    Example:

        found = cuda.detect()
    """
    found = list_devices()
    print(f"Found {len(found)} CUDA devices")
    for device in found:
        major, minor = device.compute_capability
        print(f"id {device.id}    {device.name}    compute capability {major}.{minor}    {device.uuid}")
    print(f"host    {_pyptx._device('host').name}")
    return bool(found)


@contextmanager
def profiling():
    """``with cuda.profiling():`` makes a profiler record the block: profile_start before it, profile_stop after it.

    Example:

        with cuda.profiling():
            add[1, 256](d, d, e)
    """
    _pyptx.profile_start()
    try:
        yield
    finally:
        _pyptx.profile_stop()


class Deallocations:
    """Numba's list of memory that waits to be freed. pyptx has none: memory is freed when its owner is collected, or at the end of cuda.defer_cleanup()."""

    __slots__ = ()

    def clear(self):
        """Nothing: there is nothing to free."""

    def disable(self):
        """cuda.defer_cleanup()."""
        return defer_cleanup()

    @property
    def is_locked(self):
        """False: cuda.defer_cleanup() does not use this list."""
        return False

    def __len__(self):
        return 0


class Context:
    """The state of a device in this process. Each device has one, CUDA's primary context.

    Example:

        context = cuda.current_context()
        context.synchronize()
    """

    __slots__ = ("device", "__weakref__")
    deallocations = Deallocations()

    def __init__(self, device):
        self.device = device

    def get_memory_info(self):
        """MemoryInfo: (free, total) in bytes, and more.

        Example:

            free, total = cuda.current_context().get_memory_info()
        """
        return memory_info(self.device)

    def defer_cleanup(self):
        """cuda.defer_cleanup().

        Example:

            with cuda.current_context().defer_cleanup():
                add[1, 256](d, d, e)
        """
        return defer_cleanup()

    def synchronize(self):
        """Waits until the device is idle.

        Example:

            cuda.current_context().synchronize()
        """
        self.device.synchronize()

    def reset(self):
        """Device.reset(): releases everything on the device. Arrays must be created again; kernels are loaded again when they are launched.

        Example:

            cuda.current_context().reset()
        """
        self.device.reset()

    def __reduce__(self):
        raise TypeError(f"cannot pickle or copy {self!r}: it belongs to this process; call cuda.current_context() where it is used")

    def __repr__(self):
        return f"<pyptx context of {self.device!r}>"


def current_context(devnum=None):
    """The context of the current device, or of a device by number.

    Example:

        device = cuda.current_context().device
    """
    return Context(_pyptx.get_current_device() if devnum is None else _pyptx._device(devnum))


def require_context(function):
    """Numba's decorator. Here every call creates the context that it needs, so the function is returned unchanged.

    Example:

        @cuda.require_context
        def run():
            add[1, 256](d, d, e)
    """
    return function
