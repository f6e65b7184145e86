"""NVRTC, NVIDIA's compiler of CUDA C++ as a library, where it is installed: source to PTX."""

import ctypes
import ctypes.util
import glob
import os
import sys
import threading

_lock = threading.Lock()
_library = None


def _candidates():
    given = os.environ.get("PYPTX_NVRTC")
    if given:  # an order: nothing else is looked at
        return [given]
    found = []
    for folder in sys.path:  # pip's packages: nvidia/cuda_nvrtc/lib, nvidia/cu13/lib
        found += sorted(glob.glob(os.path.join(folder or ".", "nvidia", "*", "lib", "libnvrtc.so.[0-9]*")), reverse=True)
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            found += sorted(glob.glob(os.path.join(home, "lib64", "libnvrtc.so.[0-9]*")), reverse=True)
    name = ctypes.util.find_library("nvrtc")
    return [path for path in found if ".alt." not in path] + ([name] if name else [])


def _open():
    global _library
    with _lock:
        if _library is None:
            problems = []
            for path in _candidates():
                try:
                    _library = ctypes.CDLL(path)
                    break
                except OSError as e:
                    problems.append(str(e))
            if _library is None:
                looked = f" ({problems[0]})" if problems else ""
                raise RuntimeError(
                    f"CUDA C++ needs NVRTC, which was not found{looked}\n  help: pip install nvidia-cuda-nvrtc, install the CUDA toolkit, or set"
                    " PYPTX_NVRTC to the path of libnvrtc.so; PTX and cubins need no compiler")
            _library.nvrtcGetErrorString.restype = ctypes.c_char_p
        return _library


def _check(library, result, what):
    if result:
        raise RuntimeError(f"NVRTC: {what}: {library.nvrtcGetErrorString(result).decode()}")


def _text(library, program, of):
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{of}Size")(program, ctypes.byref(size)), of)
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    _check(library, getattr(library, f"nvrtcGet{of}")(program, buffer), of)
    return buffer.value


def _include_folders(library_path):
    """CUDA's own headers, beside the library: lib64/../include, nvidia/cuda_nvrtc/lib/../../cuda_runtime/include."""
    lib = os.path.dirname(os.path.realpath(library_path))
    places = [os.path.join(lib, "..", "include"), os.path.join(lib, "..", "..", "cuda_runtime", "include"),
              os.path.join(lib, "..", "..", "..", "include")]
    return [os.path.normpath(p) for p in places if os.path.exists(os.path.join(p, "cuda_fp16.h"))]


def compile(source, name, capability, folder=None):
    """PTX, as bytes, of CUDA C++ for sm_<capability>, with relocatable device code. folder: where it includes from."""
    library = _open()
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), source, os.fsencode(name), 0, None, None), "a program")
    try:
        options = [f"--gpu-architecture=compute_{capability}", "--relocatable-device-code=true", "--std=c++17"]
        options += [f"-I{path}" for path in ([folder] if folder else []) + _include_folders(library._name)]
        array = (ctypes.c_char_p * len(options))(*[os.fsencode(o) for o in options])
        result = library.nvrtcCompileProgram(program, len(options), array)
        if result:
            log = _text(library, program, "ProgramLog").decode(errors="replace").strip()
            raise RuntimeError(f"{name} does not compile: {log or library.nvrtcGetErrorString(result).decode()}")
        return _text(library, program, "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))
