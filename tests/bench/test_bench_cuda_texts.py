"""The CUDA C++ of the benchmark's sets from the third on, where there is no GPU: compiled as C++ with places that the
test sets, thread after thread, and threads of the host where a block has barriers or shuffles."""

import ctypes
import itertools
import os
import re
import shutil
import subprocess
import threading

import pytest
import test_bench_kernels as bench
from kernels import eighth, fifth, fourth, native, ninth, seventh, sixth, tenth, third
from kernels.declare import dims

SETS = (third, fourth, fifth, sixth, seventh, eighth, ninth, tenth)
KERNELS = [kernel for kernels in SETS for kernel in kernels.KERNELS]
all_kernels = pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
texts = pytest.mark.parametrize("text", ["cuda", "cuda_int"])
CXX = shutil.which(os.environ.get("CXX", "g++"))

SHIM = """
#include <cmath>
#include <condition_variable>
#include <mutex>
using std::isnan;
struct place { unsigned x, y, z; };
static thread_local place threadIdx;
static place blockIdx, blockDim, gridDim;
static std::mutex mutex;
static std::condition_variable all_here;
static unsigned waiting, round_number;
#define __global__
#define __device__ static
#define __constant__ static const
#define __shared__ static
#define __popcll __builtin_popcountll
#define __popc __builtin_popcount
static int __clz(int x) { return x ? __builtin_clz(x) : 32; }
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
template <class T> static T atomicAdd(T *to, T value) {
  std::lock_guard<std::mutex> lock(mutex);
  T before = *to;
  *to += value;
  return before;
}
template <class T> static T atomicMax(T *to, T value) {
  std::lock_guard<std::mutex> lock(mutex);
  T before = *to;
  *to = value > before ? value : before;
  return before;
}
template <class T> static T atomicMin(T *to, T value) {
  std::lock_guard<std::mutex> lock(mutex);
  T before = *to;
  *to = value < before ? value : before;
  return before;
}
struct Warp {
  std::mutex mutex;
  std::condition_variable all_here;
  unsigned waiting, round_number;
  char values[32][8];
};
static Warp warps[32];
static void all_of_warp(Warp &warp) {
  std::unique_lock<std::mutex> lock(warp.mutex);
  unsigned mine = warp.round_number;
  if (++warp.waiting == 32) {
    warp.waiting = 0;
    warp.round_number++;
    warp.all_here.notify_all();
  } else {
    warp.all_here.wait(lock, [&] { return warp.round_number != mine; });
  }
}
template <class T> static T of_lane(T value, int from) {
  unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  Warp &warp = warps[t / 32];
  *(T *)warp.values[t % 32] = value;
  all_of_warp(warp);
  T got = *(T *)warp.values[from >= 0 && from < 32 ? from : t % 32];
  all_of_warp(warp);
  return got;
}
template <class T> static T __shfl_up_sync(unsigned, T v, int d) { return of_lane(v, int(threadIdx.x % 32) - d); }
template <class T> static T __shfl_down_sync(unsigned, T v, int d) { return of_lane(v, int(threadIdx.x % 32) + d); }
template <class T> static T __shfl_xor_sync(unsigned, T v, int d) { return of_lane(v, int(threadIdx.x % 32) ^ d); }
template <class T> static T __shfl_sync(unsigned, T v, int lane) { return of_lane(v, lane); }
static unsigned __ballot_sync(unsigned, bool v) {
  unsigned bits = v ? 1u << threadIdx.x % 32 : 0;
  for (int d = 16; d > 0; d /= 2) bits |= __shfl_xor_sync(~0u, bits, d);
  return bits;
}
template <class T> static T min(T a, T b) { return a < b ? a : b; }
template <class T> static T max(T a, T b) { return a > b ? a : b; }
struct float2 { float x, y; };
extern "C" void set_block(unsigned x, unsigned y, unsigned z, unsigned dx, unsigned dy, unsigned dz) {
  blockIdx = {x, y, z};
  blockDim = {dx, dy, dz};
}
extern "C" void set_grid(unsigned x, unsigned y, unsigned z) { gridDim = {x, y, z}; }
extern "C" void set_thread(unsigned x, unsigned y, unsigned z) { threadIdx = {x, y, z}; }
"""


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
    problem = bench.problem_of(kernel)
    arguments = bench.own_copies(problem.arguments)
    values = native.packed(problem, arguments, lambda a: a.ctypes.data)
    function, block = getattr(library, kernel.name), dims(kernel.block)
    places = [(x, y, z) for z, y, x in itertools.product(*map(range, reversed(block)))]

    def turn(place):
        library.set_thread(*place)
        function(*values)

    grid = dims(problem.grid_for(kernel.block))
    library.set_grid(*grid)
    for at in itertools.product(*map(range, grid)):
        library.set_block(*at, *block)
        if re.search("__syncthreads|__shfl|__ballot", kernel.cuda):
            threads = [threading.Thread(target=turn, args=(place,)) for place in places]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        else:
            for place in places:
                turn(place)
    bench.verify(problem, arguments)
