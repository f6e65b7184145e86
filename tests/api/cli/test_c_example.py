"""examples/c: a program in C that launches a kernel of pyptx compile, built with CMake as its head says. It runs on the GPU; without one its
launches are checked by the stand-in driver, and the program runs in a process whose driver runs the PTX on the CPU."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyptx import cuda
from standin import LIBRARY, needs_standin, run

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples/c"
TOOLKIT = next((home for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if home and os.path.exists(f"{home}/include/cuda.h")), None)
PYPTX = Path(sys.executable).parent / "pyptx"
pytestmark = pytest.mark.skipif(not TOOLKIT or not shutil.which("cmake") or not PYPTX.exists(), reason="it takes CMake, cuda.h and the command pyptx")


def call(*command, **env):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, env={**os.environ, **env})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("c")
    call("cmake", "-S", EXAMPLE, "-B", folder, f"-DPYPTX={PYPTX}", "-DSAXPY_IMAGE=ptx", f"-DCUDAToolkit_ROOT={TOOLKIT}", "-DCMAKE_C_FLAGS=-Wall -Wextra -Wshadow -Werror")
    call("cmake", "--build", folder)
    return folder


@needs_standin
def test_the_driver_takes_its_launch(built):
    """What the stand-in does not run has no result, but it takes a block of exactly the PTX's parameters."""
    os.makedirs(built / "lib", exist_ok=True)
    shutil.copy(LIBRARY, built / "lib/libcuda.so.1")
    done = subprocess.run([built / "saxpy", built / "saxpy.ptx"], capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(built / "lib")}, timeout=60)
    assert done.stdout == "wrong\n" and not done.stderr


@needs_standin
def test_it_is_right_where_ptx_runs_on_the_cpu(built):
    library = built / "example.so"
    call("cc", "-shared", "-fPIC", "-Dmain=saxpy_main", "-I", built, "-I", f"{TOOLKIT}/include", EXAMPLE / "saxpy.c", "-o", library)
    run(f"""
        import ctypes, os, sys
        sys.path.insert(0, {str(ROOT / "tests")!r})
        ctypes.CDLL(os.environ["PYPTX_DRIVER"], mode=ctypes.RTLD_GLOBAL)
        from ptx_on_cpu import machine
        machine.install()
        main = ctypes.CDLL({str(library)!r}).saxpy_main
        arguments = (ctypes.c_char_p * 3)(b"saxpy", {str(built / "saxpy.ptx")!r}.encode(), None)
        assert main(2, arguments) == 0 and not machine.faults
    """)


@pytest.mark.skipif("PYPTX_ON_PTX" in os.environ or "cuda.get_current_device().is_host", reason="the program is another process: it takes a GPU")
def test_it_is_right_on_the_gpu(built):
    assert call(built / "saxpy", built / "saxpy.ptx") == "ok\n"
    folder = built / "fat"
    major, minor = cuda.get_current_device().compute_capability
    call("cmake", "-S", EXAMPLE, "-B", folder, f"-DPYPTX={PYPTX}", f"-DSAXPY_ARCHITECTURES=sm_{major}{minor}", f"-DCUDAToolkit_ROOT={TOOLKIT}")
    call("cmake", "--build", folder)
    assert call(folder / "saxpy", folder / "saxpy.fatbin") == "ok\n"
