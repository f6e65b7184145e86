"""The C sides of a kernel: OpenMP loops through gcc and CUDA C++ through nvcc, and how their arguments are packed."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

GCC_FLAGS = ("-std=gnu11", "-O3", "-march=native", "-fopenmp", "-fPIC", "-shared")
CUDA_FLAGS = ("-O3",)
C_TYPES = {
    np.dtype("int32"): ctypes.c_int32, np.dtype("uint32"): ctypes.c_uint32, np.dtype("float32"): ctypes.c_float,
    np.dtype("float64"): ctypes.c_double, np.dtype("int64"): ctypes.c_int64, np.dtype("uint64"): ctypes.c_uint64,
    np.dtype("uint8"): ctypes.c_uint8,
}  # fmt: skip


def compiler():
    """gcc, or what CC names; None where there is none."""
    return shutil.which(os.environ.get("CC", "gcc"))


def openmp_source(kernels):
    return "#include <math.h>\n" + "".join(k.openmp for k in kernels)


def cuda_source(kernels, text="cuda"):
    return 'extern "C" {\n' + "".join(getattr(k, text) for k in kernels) + "}\n"


def run(command, what):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{what} failed:\n{done.stderr}")


def openmp_library(kernels, *flags):
    """The loops of all kernels in one shared object; `flags` for gcc behind those of the benchmark."""
    folder = Path(tempfile.mkdtemp(prefix="pyptx-bench-"))
    source, library = folder / "loops.c", folder / "loops.so"
    source.write_text(openmp_source(kernels))
    run([compiler(), *GCC_FLAGS, *flags, "-o", library, source, "-lm"], "gcc")
    loaded = ctypes.CDLL(str(library))
    shutil.rmtree(folder)
    return loaded


def cubin(kernels, arch, text="cuda"):
    """What nvcc makes of the CUDA C++ of these kernels, as bytes. `text`: "cuda" or "cuda_int"."""
    with tempfile.TemporaryDirectory(prefix="pyptx-bench-") as folder:
        source, image = Path(folder) / "kernels.cu", Path(folder) / "kernels.cubin"
        source.write_text(cuda_source(kernels, text))
        run([shutil.which("nvcc"), *CUDA_FLAGS, f"-arch={arch}", "-cubin", "-o", image, source], "nvcc")
        return image.read_bytes()


def pack(value, address):
    """A value as ctypes passes it; `address(array)` gives that of an array."""
    if isinstance(value, np.generic):
        return C_TYPES[value.dtype](value.item())
    if isinstance(value, int):
        return ctypes.c_int32(value)
    return ctypes.c_void_p(address(value))


def packed(problem, arguments, address):
    return [pack(v, address) for v in (*arguments, *problem.extents)]


def openmp_call(library, kernel, problem, arguments):
    """A function of no arguments that runs the loops once on NumPy arrays."""
    function = getattr(library, kernel.name)
    function.restype = None
    values = packed(problem, arguments, lambda a: a.ctypes.data)

    def call(_keep=arguments):
        function(*values)

    return call
