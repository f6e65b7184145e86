"""What ``cuda.<TAB>`` and dir(cuda) list: the names that programs are written with. All others are there as well, for programs that were
written for Numba, and for types under their other names (``cuda.f4``, ``cuda.float32x4``)."""

import re

from pyptx.types import Type

# Of Numba's API, what has no use here or another name.
_NUMBAS = frozenset((
    "BaseCUDAMemoryManager", "Context", "CudaSupportError", "GetIpcHandleMixin", "Gpus", "HostOnlyCUDAMemoryManager", "IpcHandle", "LinkableCode",
    "MappedMemory", "MemoryPointer", "Object", "PinnedMemory", "close", "compile_for_current_device", "compile_ptx_for_current_device", "cooperative_groups",
    "cuda_error", "cudadrv", "defer_cleanup", "detect", "get_memory_manager", "is_bfloat16_supported", "is_float16_supported", "is_supported_version", "kernels",
    "require_context", "set_memory_manager", "Reduce",
))  # fmt: skip
_VECTOR = re.compile(r"[a-z]\w*x[1-4]|(?!float|double|int|uint)[a-z]+[1-4]|[a-z]+1")  # types that few kernels have


def is_alias(name, value):
    """Does it stand for something that has a better known name?"""
    if isinstance(value, Type):
        return str(value) != name and name != "boolean"
    return name in _NUMBAS or (type(value).__name__ == "Intrinsic" and _VECTOR.fullmatch(name) is not None)


def shown(names, later):
    """The public names of a module's dict, and those of what is loaded later."""
    public = {name for name, value in names.items() if not name.startswith("_") and not is_alias(name, value)}
    return sorted(public | (set(later) - _NUMBAS))
