"""NVRTC, NVIDIA's compiler of CUDA C++ as a library, where it is installed: source to PTX."""

import ctypes
import ctypes.util
import glob
import os
import re
import sys
import threading
import warnings

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


def _bytes(library, program, of):
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{of}Size")(program, ctypes.byref(size)), of)
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    _check(library, getattr(library, f"nvrtcGet{of}")(program, buffer), of)
    return buffer.raw[: size.value]


def _text(library, program, of):
    return _bytes(library, program, of).rstrip(b"\0")


def _include_folders(library_path):
    """CUDA's own headers, beside the library: lib64/../include, nvidia/cuda_nvrtc/lib/../../cuda_runtime/include."""
    lib = os.path.dirname(os.path.realpath(library_path))
    places = [os.path.join(lib, "..", "include"), os.path.join(lib, "..", "..", "cuda_runtime", "include"),
              os.path.join(lib, "..", "..", "..", "include"), os.path.join(lib, "..", "..", "cuda_cccl", "include")]
    found = [p for p in places if os.path.exists(os.path.join(p, "cuda_fp16.h"))]
    # since CUDA 13 libcu++, which CUDA's own headers include, has a folder of its own
    found += [p for q in places for p in (q, os.path.join(q, "cccl")) if os.path.exists(os.path.join(p, "nv", "target"))]
    return list(dict.fromkeys(map(os.path.normpath, found)))


_ERROR = re.compile(r"^(?P<file>[^\n]*?)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\S+)?: (?P<text>.*)$", re.MULTILINE)


def _compile_error(name, log):
    """NVRTC's log as our exception: the first error with its place, its source line and a caret; the others behind it."""
    from pyptx.errors import CompileRuntimeError

    found = list(_ERROR.finditer(log))
    if not found:
        return CompileRuntimeError(f"{name} does not compile: {log}")
    first = found[0]
    end = found[1].start() if len(found) > 1 else len(log)
    shown = []
    for line in log[first.end():end].strip("\n").split("\n"):
        shown.append(line)
        if line.strip() == "^":
            break
    caret = len(shown) > 1 and shown[-1].strip() == "^"
    column = shown[-1].index("^") - 1 if caret else None
    place = f"{first['file']}:{first['line']}" + (f":{column}" if caret else "")
    source = "\n".join(f"  {line}" for line in shown[-2:]) if caret else "\n".join(f"  {line}" for line in shown if line.strip())
    more = [f"  {m['file']}:{m['line']}: {m['text']}" for m in found[1:8]]
    rest = "\n" + "\n".join([f"  {len(found) - 1} more error{'s' * (len(found) != 2)}:", *more]) if more else ""
    error = CompileRuntimeError(f"{name} does not compile: {first['text']}\n  {place}\n{source}{rest}")
    error.filename, error.lineno, error.offset = first["file"], int(first["line"]), column
    error.text = shown[-2][2:] if caret else None
    return error


class Compiled:
    """What NVRTC made: PTX, the cubin, or LTO-IR, and the symbols of the name expressions."""

    def __init__(self, ptx=b"", cubin=b"", ltoir=b"", names=None):
        self.ptx, self.cubin, self.ltoir, self.names = ptx.rstrip(b"\0"), cubin, ltoir, names or {}


def version():
    """NVRTC's, as (13, 0)."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    library = _open()
    _check(library, library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)), "its version")
    return major.value, minor.value


def _lowered(library, program, name):
    symbol = ctypes.c_char_p()
    _check(library, library.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(symbol)), f"the name expression {name!r}")
    return symbol.value.decode()


def build(source, name, options, folder=None, names=(), wanted=("PTX",)):
    """Compiled, of CUDA C++. folder: where it includes from; names: name expressions, as "scale<float>"; wanted: of PTX, CUBIN and LTOIR."""
    library = _open()
    program = ctypes.c_void_p()
    _check(library, library.nvrtcCreateProgram(ctypes.byref(program), source, os.fsencode(name), 0, None, None), "a program")
    try:
        for expression in names:
            _check(library, library.nvrtcAddNameExpression(program, expression.encode()), f"the name expression {expression!r}")
        options = [*options, *(f"-I{path}" for path in ([folder] if folder else []) + _include_folders(library._name))]
        array = (ctypes.c_char_p * len(options))(*[os.fsencode(o) for o in options])
        result = library.nvrtcCompileProgram(program, len(options), array)
        if result:
            log = _text(library, program, "ProgramLog").decode(errors="replace").strip()
            raise _compile_error(name, log or library.nvrtcGetErrorString(result).decode())
        log = _text(library, program, "ProgramLog").decode(errors="replace").strip()
        if log:
            warnings.warn(f"NVRTC log messages whilst compiling {name}:\n\n{log}", stacklevel=2)
        texts = {what.lower(): _bytes(library, program, what) for what in wanted}
        return Compiled(**texts, names={expression: _lowered(library, program, expression) for expression in names})
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def compile(source, name, capability, folder=None):
    """PTX, as bytes, of CUDA C++ for sm_<capability>, with relocatable device code. folder: where it includes from."""
    options = [f"--gpu-architecture=compute_{capability}", "--relocatable-device-code=true", "--std=c++17"]
    return build(source, name, options, folder).ptx
