"""The CUDA programming model: kernels, launches, device memory, streams, devices.

What runs in kernels (``grid``, ``threadIdx``, ``shared.array``, ``atomic.add`` …) is documented by help(cuda.grid) and so on; on the
host those names can be inspected but not called.
"""

import sys as _sys

from pyptx import _pyptx, types
from pyptx._pyptx import (
    Device,
    Dispatcher,
    Event,
    Graph,
    Stream,
    as_cuda_array,
    close,
    cuda_error,
    default_stream,
    device_array,
    device_array_like,
    event,
    event_elapsed_time,
    external_stream,
    from_cuda_array_interface,
    from_dlpack,
    get_current_device,
    graph,
    is_cuda_array,
    legacy_default_stream,
    per_thread_default_stream,
    profile_start,
    profile_stop,
    select_device,
    stream,
    synchronize,
    to_device,
)
from pyptx._pyptx import DeviceArray as DeviceNDArray
from pyptx.cuda._checking import checking
from pyptx.cuda._devices import (
    Context,
    Gpus,
    current_context,
    detect,
    is_available,
    is_bfloat16_supported,
    is_float16_supported,
    is_supported_version,
    list_devices,
    profiling,
    require_context,
)
from pyptx.cuda._jit import cache_info, compile, compile_all, compile_for_current_device, compile_ptx, compile_ptx_for_current_device, jit
from pyptx.cuda._link import LTOIR, Archive, Cubin, CUSource, Fatbin, LinkableCode, Object, PTXSource, declare_device
from pyptx.cuda._memory import (
    BaseCUDAMemoryManager,
    GetIpcHandleMixin,
    HostOnlyCUDAMemoryManager,
    In,
    InOut,
    IpcArrayHandle,
    IpcHandle,
    MappedMemory,
    MemoryInfo,
    MemoryPointer,
    Out,
    PinnedMemory,
    defer_cleanup,
    get_memory_manager,
    managed_array,
    mapped,
    mapped_array,
    mapped_array_like,
    memory_info,
    open_ipc_array,
    pinned,
    pinned_array,
    pinned_array_like,
    set_allocator,
    set_memory_limit,
    set_memory_manager,
    shareable,
    trim_memory,
)
from pyptx.cuda._ranks import local_rank, select_local_device
from pyptx.errors import (
    CompileError,
    ContextLostError,
    CudaAPIError,
    CudaSupportError,
    DriverError,
    ModuleError,
    NoDeviceError,
    NoDriverError,
    OutOfMemoryError,
)

from pyptx.types import *  # noqa: F403 - cuda.float32 and its like

globals().update((name, value) for name, value in _pyptx.intrinsics.items() if name != "cg")
from pyptx.cuda import cg  # noqa: E402 - which has the intrinsics of that name

cooperative_groups = cg  # CUDA's name

gpus = Gpus()
_sys.modules[f"{__name__}.types"] = types  # `from pyptx.cuda.types import float32` gets these types and no copy of the module

# By name: the module that has it, loaded when it is first asked for.
_LATER = {"vectorize": "pyptx._ufunc", "guvectorize": "pyptx._gufunc", "reduce": "pyptx._reduce", "Reduce": "pyptx._reduce",
          "Module": "pyptx.cuda._module", "ModuleKernel": "pyptx.cuda._module", "ModuleLauncher": "pyptx.cuda._module",
          "Array": "pyptx.cuda._typing", "create_tensor_map_from_tensor": "pyptx.cuda._tensor_map",
          **dict.fromkeys(("autotune", "Config", "Autotuned", "TunedLauncher", "Trial", "Trials"), "pyptx.cuda._autotune"),
          **dict.fromkeys(("zeros", "ones", "full", "arange", "empty", "zeros_like", "ones_like", "full_like", "empty_like"), "pyptx._array_functions")}

__all__ = [*(name for name in globals() if not name.startswith("_")), *_LATER]


# Modules of functions for kernels, imported where they are first named, in a kernel too
# (snapshot/object.c).
_LAZY = frozenset(("random", "coop", "bf16", "fp8", "wmma"))

_NUMBA_INTERNALS = frozenset(("api", "args", "codegen", "compiler", "core", "cudadecl", "cudaimpl", "cudamath", "decorators", "descriptor",
                              "deviceufunc", "devicearray", "dispatcher", "extending", "intrinsics", "launchconfig", "libdevicedecl", "np", "nvvmutils",
                              "simulator", "stubs", "target", "typing", "vector_types"))


def __dir__():
    from pyptx.cuda._names import shown

    return shown(globals(), [*_LATER, *_LAZY])


def __getattr__(name):
    # Reached for names that are not there (yet), so the time does not matter.
    if name in _LAZY or name in ("cudadrv", "kernels"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        import importlib

        return globals().setdefault(name, getattr(importlib.import_module(_LATER[name]), "Reduce" if name == "reduce" else name))
    if name == "runtime":
        from pyptx.cuda.cudadrv.runtime import runtime

        return runtime
    import difflib

    if name in _NUMBA_INTERNALS:
        raise AttributeError(f"pyptx.cuda has no '{name}': that is the inside of Numba's compiler; what Numba's manual has is here under its own name, as "
                             "cuda.DeviceNDArray, cuda.MemoryPointer or pyptx.CompileError", name=name)
    near = difflib.get_close_matches(name, __all__, n=1, cutoff=0.7)
    hint = f"; did you mean '{near[0]}'?" if near and not name.startswith("_") else ""
    raise AttributeError(f"module 'pyptx.cuda' has no attribute '{name}'{hint}", name=name)
