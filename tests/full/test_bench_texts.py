"""The C texts of the benchmark's kernels, where there is no GPU: OpenMP loops by gcc, CUDA C++ by nvcc, and from the third set
on compiled as C++, thread after thread, each on a stack of its own where a block has barriers or shuffles."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("PYPTX_DEVICE", "host")
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/bench")]

import test_bench_kernels as bench
from kernels import SETS, native
from kernels.declare import dims

AS_CXX = [kernel for name, kernels in SETS.items() if name not in ("first", "second", "trips") for kernel in kernels]
texts = pytest.mark.parametrize("text", ["cuda", "cuda_int"])
CXX = shutil.which(os.environ.get("CXX", "g++"))

SHIM = """
#include <cmath>
#include <ucontext.h>
#include <vector>
using std::isnan;
struct place { unsigned x, y, z; };
static place threadIdx, blockIdx, blockDim, gridDim;
struct Thread {
  ucontext_t context;
  place at;
  bool done;
  char stack[1 << 17];
};
static std::vector<Thread *> threads;
static unsigned current, left;
static ucontext_t home;
static void next_thread() {
  Thread *from = threads[current];
  do current = (current + 1) % threads.size();
  while (threads[current]->done);
  threadIdx = threads[current]->at;
  if (threads[current] != from) swapcontext(&from->context, &threads[current]->context);
}
struct Meeting {
  unsigned waiting, round;
  void wait(unsigned all) {
    unsigned mine = round;
    if (++waiting == all) {
      waiting = 0;
      round++;
    }
    while (round == mine) next_thread();
  }
};
#define __global__
#define __device__ static
#define __constant__ static const
#define __shared__ static
#define __popcll __builtin_popcountll
#define __popc __builtin_popcount
static int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static Meeting block_meets;
static void __syncthreads() { block_meets.wait(blockDim.x * blockDim.y * blockDim.z); }
template <class T> static T atomicAdd(T *to, T value) {
  T before = *to;
  *to += value;
  return before;
}
template <class T> static T atomicMax(T *to, T value) {
  T before = *to;
  *to = value > before ? value : before;
  return before;
}
template <class T> static T atomicMin(T *to, T value) {
  T before = *to;
  *to = value < before ? value : before;
  return before;
}
template <class T> static T atomicCAS(T *to, T expected, T value) {
  T before = *to;
  if (before == expected) *to = value;
  return before;
}
static struct Warp : Meeting { char values[32][8]; } warps[32];
template <class T> static T of_lane(T value, int from) {
  unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  Warp &warp = warps[t / 32];
  *(T *)warp.values[t % 32] = value;
  warp.wait(32);
  T got = *(T *)warp.values[from >= 0 && from < 32 ? from : t % 32];
  warp.wait(32);
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
extern "C" void set_launch(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz) {
  gridDim = {gx, gy, gz};
  blockDim = {bx, by, bz};
}
static void (*turn)(void *);
static void *kernel;
static void begin() {
  turn(kernel);
  threads[current]->done = true;
  if (--left == 0) setcontext(&home);
  next_thread();
}
static void launch(bool meet, void (*what)(void *), void *of) {
  turn = what;
  kernel = of;
  unsigned size = blockDim.x * blockDim.y * blockDim.z;
  while (meet && threads.size() < size) threads.push_back(new Thread);
  for (unsigned b = 0; b < gridDim.x * gridDim.y * gridDim.z; b++) {
    blockIdx = {b % gridDim.x, b / gridDim.x % gridDim.y, b / gridDim.x / gridDim.y};
    for (unsigned t = 0; t < size; t++) {
      threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y};
      if (!meet) {
        turn(kernel);
        continue;
      }
      Thread &thread = *threads[t];
      thread.at = threadIdx;
      thread.done = false;
      getcontext(&thread.context);
      thread.context.uc_stack.ss_sp = thread.stack;
      thread.context.uc_stack.ss_size = sizeof thread.stack;
      makecontext(&thread.context, begin, 0);
    }
    if (!meet) continue;
    for (unsigned t = size; t < threads.size(); t++) threads[t]->done = true;
    left = size;
    current = 0;
    threadIdx = threads[0]->at;
    swapcontext(&home, &threads[0]->context);
  }
}
"""


def launcher(kernel, text):
    """launch_NAME, of the kernel's parameters: all threads of the blocks that set_launch has said."""
    parameters = re.search(rf"void {kernel.name}\(([^)]*)\)", text).group(1)
    names = ", ".join(re.findall(r"(\w+)\s*(?:,|$)", parameters))
    meet = "true" if re.search("__syncthreads|__shfl|__ballot", text) else "false"
    body = f"auto call = [&] {{ {kernel.name}({names}); }}; launch({meet}, [](void *f) {{ (*(decltype(call) *)f)(); }}, &call);"
    return f"void launch_{kernel.name}({parameters}) {{ {body} }}\n"


@pytest.fixture(scope="module")
def as_cxx(tmp_path_factory):
    """{text: the shared object with the CUDA C++ of all kernels as C++}."""
    if not CXX:
        pytest.skip("there is no C++ compiler")
    folder, found = tmp_path_factory.mktemp("cuda"), {}
    for text in ("cuda", "cuda_int"):
        source, library = folder / f"{text}.cpp", folder / f"{text}.so"
        texts_of = [(k, getattr(k, text)) for k in AS_CXX]
        source.write_text(SHIM + 'extern "C" {\n' + "".join(t + launcher(k, t) for k, t in texts_of) + "}\n")
        subprocess.run([CXX, "-std=c++17", "-O0", "-w", "-fPIC", "-shared", "-o", library, source], check=True)
        found[text] = ctypes.CDLL(str(library))
    return found


@texts
@pytest.mark.parametrize("kernel", AS_CXX, ids=lambda k: k.name)
def test_cuda_texts(kernel, text, as_cxx):
    library = as_cxx[text]
    problem = bench.problem_of(kernel)
    arguments = bench.own_copies(problem.arguments)
    values = native.packed(problem, arguments, lambda a: a.ctypes.data)
    library.set_launch(*dims(problem.grid_for(kernel.block)), *dims(kernel.block))
    getattr(library, f"launch_{kernel.name}")(*values)
    bench.verify(problem, arguments)


@pytest.fixture(scope="module")
def loops():
    return bench.openmp_loops(bench.ALL)


@bench.all_kernels
def test_openmp(kernel, loops):
    bench.openmp_is_right(kernel, loops)


@texts
@pytest.mark.parametrize("of", SETS)
def test_cuda_texts_compile(of, text):
    bench.cuda_text_compiles(SETS[of], text)
