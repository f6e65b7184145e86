"""The benchmark's third set where there is no GPU: right on the device at a small size, as PTX that
assembles, and its C sides.

The CUDA C++ also runs here: compiled as C++ with places that the test sets, thread after thread,
and threads of the host where a block has barriers.
"""

import ctypes
import itertools
import os
import shutil
import subprocess
import threading

import numpy as np
import pytest
import test_bench_kernels as first
from kernels import native
from kernels.declare import check, dims
from kernels.third import KERNELS

all_kernels = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
texts = pytest.mark.parametrize("text", ["cuda", "cuda_int"])
CXX = shutil.which(os.environ.get("CXX", "g++"))

SHIM = """
#include <cmath>
#include <condition_variable>
#include <mutex>
struct place { unsigned x, y, z; };
static thread_local place threadIdx;
static place blockIdx, blockDim;
static std::mutex mutex;
static std::condition_variable all_here;
static unsigned waiting, round_number;
#define __global__
#define __device__ static
#define __shared__ static
#define __popcll __builtin_popcountll
static void __syncthreads() {
  std::unique_lock<std::mutex> lock(mutex);
  unsigned mine = round_number;
  if (++waiting == blockDim.x * blockDim.y * blockDim.z) {
    waiting = 0;
    round_number++;
    all_here.notify_all();
  } else {
    all_here.wait(lock, [&] { return round_number != mine; });
  }
}
static void atomicAdd(float *to, float value) { *to += value; }
extern "C" void set_block(unsigned x, unsigned y, unsigned z, unsigned dx, unsigned dy, unsigned dz) {
  blockIdx = {x, y, z};
  blockDim = {dx, dy, dz};
}
extern "C" void set_thread(unsigned x, unsigned y, unsigned z) { threadIdx = {x, y, z}; }
"""


def test_names():
    names = {k.name for k in KERNELS}
    assert len(names) == len(KERNELS) >= 20
    assert not names & set(first.BY_NAME)
    assert all(k.cuda_int and k.cuda_int != k.cuda for k in KERNELS)


@all_kernels
def test_on_the_device(kernel):
    first.test_on_the_device(kernel)


@all_kernels
def test_the_check_sees_an_error(kernel):
    problem = first.problem_of(kernel)
    arguments = first.own_copies(problem.arguments)
    for k in problem.outputs:
        arguments[k][...] = np.array(-12345).astype(arguments[k].dtype)
    passed, _ = check(problem, [arguments[k] for k in problem.outputs], problem.expected())
    assert not passed


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.sweep], ids=lambda k: k.name)
def test_block_sizes(kernel):
    first.test_block_sizes(kernel)


@all_kernels
def test_assembles(kernel, tmp_path):
    first.test_assembles(kernel, tmp_path)


@pytest.fixture(scope="module")
def loops():
    if not native.compiler():
        pytest.skip("there is no C compiler")
    return native.openmp_library(KERNELS)


@all_kernels
def test_openmp(kernel, loops):
    first.test_openmp(kernel, loops)


@texts
@pytest.mark.skipif(not first.NVCC, reason="nvcc is not on PATH")
def test_cuda_texts_compile(text, tmp_path):
    source, image = tmp_path / "kernels.cu", tmp_path / "kernels.cubin"
    source.write_text('extern "C" {\n' + "".join(getattr(k, text) for k in KERNELS) + "}\n")
    subprocess.run([first.NVCC, "-arch=sm_90", "-cubin", "-o", image, source], check=True)
    for kernel in KERNELS:
        assert kernel.name.encode() + b"\0" in image.read_bytes()


@pytest.fixture(scope="module")
def as_cxx(tmp_path_factory):
    """{text: the shared object with the CUDA C++ of all kernels as C++}."""
    if not CXX:
        pytest.skip("there is no C++ compiler")
    folder, found = tmp_path_factory.mktemp("cuda"), {}
    for text in ("cuda", "cuda_int"):
        source, library = folder / f"{text}.cpp", folder / f"{text}.so"
        source.write_text(SHIM + 'extern "C" {\n' + "".join(getattr(k, text) for k in KERNELS) + "}\n")
        subprocess.run([CXX, "-std=c++17", "-O0", "-w", "-fPIC", "-shared", "-pthread", "-o", library, source], check=True)
        found[text] = ctypes.CDLL(str(library))
    return found


@texts
@all_kernels
def test_cuda_texts(kernel, text, as_cxx):
    library = as_cxx[text]
    problem = first.problem_of(kernel)
    arguments = first.own_copies(problem.arguments)
    values = native.packed(problem, arguments, lambda a: a.ctypes.data)
    function, block = getattr(library, kernel.name), dims(kernel.block)
    places = [(x, y, z) for z, y, x in itertools.product(*map(range, reversed(block)))]

    def turn(place):
        library.set_thread(*place)
        function(*values)

    for at in itertools.product(*map(range, dims(problem.grid_for(kernel.block)))):
        library.set_block(*at, *block)
        if "__syncthreads" in kernel.cuda:
            threads = [threading.Thread(target=turn, args=(place,)) for place in places]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            for place in places:
                turn(place)
    first.verify(problem, arguments)
