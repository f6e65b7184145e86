"""nvJitLink, NVIDIA's linker as a library, where it is installed: code for link-time optimisation (LTO-IR) and other code to a cubin."""

import ctypes
import glob
import os
import sys
import threading

_LTOIR = 6  # as pyptx.cuda._link numbers it
_INPUTS = {0: 1, 1: 2, 2: 4, 3: 5, 4: 6, _LTOIR: 3}  # the driver's numbers of inputs → nvJitLink's: cubin, PTX, fatbin, object, library, LTO-IR

_lock = threading.Lock()
_library = None


def _candidates():
    given = os.environ.get("PYPTX_NVJITLINK")
    if given:  # an order: nothing else is looked at
        return [given]
    found = []
    for folder in sys.path:
        found += sorted(glob.glob(os.path.join(glob.escape(folder or "."), "nvidia", "*", "lib", "libnvJitLink.so.[0-9]*")), reverse=True)
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            found += sorted(glob.glob(os.path.join(glob.escape(home), "lib64", "libnvJitLink.so.[0-9]*")), reverse=True)
    return [*found, "libnvJitLink.so.13", "libnvJitLink.so.12"]


def open_library():
    global _library
    with _lock:
        for path in () if _library else _candidates():
            try:
                _library = ctypes.CDLL(path)
                break
            except OSError:
                continue
        if _library is None:
            raise RuntimeError("code for link-time optimisation needs nvJitLink, which was not found\n  help: pip install nvidia-nvjitlink, install the "
                               "CUDA toolkit, or set PYPTX_NVJITLINK to the path of libnvJitLink.so")
        return _library


def _log(library, handle):
    size = ctypes.c_size_t()
    if library.nvJitLinkGetErrorLogSize(handle, ctypes.byref(size)) or not size.value:
        return ""
    text = ctypes.create_string_buffer(size.value + 1)
    library.nvJitLinkGetErrorLog(handle, text)
    return text.value.decode(errors="replace").strip()


def link(capability, inputs):
    """A cubin for sm_<capability> of [(kind, name, bytes)], kinds as the driver numbers them and 6 for LTO-IR."""
    library = open_library()
    options = [f"-arch=sm_{capability}".encode(), b"-lto"]
    handle = ctypes.c_void_p()
    array = (ctypes.c_char_p * len(options))(*options)

    def check(result, what):
        if result:
            said = _log(library, handle) if handle else ""
            raise RuntimeError(f"nvJitLink cannot link {what}: {said or f'error {result}'}")

    check(library.nvJitLinkCreate(ctypes.byref(handle), len(options), array), "anything")
    try:
        for kind, name, data in inputs:
            data = data.rstrip(b"\0") + b"\0" if kind == 1 else data
            check(library.nvJitLinkAddData(handle, _INPUTS[kind], data, ctypes.c_size_t(len(data)), os.fsencode(name)), name)
        names = ", ".join(name for _, name, _ in inputs)
        check(library.nvJitLinkComplete(handle), names)
        size = ctypes.c_size_t()
        check(library.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)), names)
        cubin = ctypes.create_string_buffer(size.value)
        check(library.nvJitLinkGetLinkedCubin(handle, cubin), names)
        return cubin.raw
    finally:
        library.nvJitLinkDestroy(ctypes.byref(handle))
