"""Recursive device functions on a GPU beside nvcc -O3 of the same functions in CUDA C++.

    python bench/recursion.py [--json OUT]

fib: two calls of itself, the same n in all threads of a warp, and another in each. queens: places n queens, a loop with a call in it. walk: a
search tree of keys, visited in order, of which each thread sums the keys of its own interval. Both sides run on the same arrays and take
turns; times are medians of 9 launches between events. Results are compared with CPython's.

nvcc's code calls itself, and may let the lanes of a warp run apart (codegen/flatten/README.md): "apart" counts the warps whose lanes are not all
active behind the outermost call."""

import ctypes
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from _bench import Driver, Report, need_gpu, parser
from pyptx import cuda, int32

THREADS = 1 << 16


def fib(n):
    if n < 2:
        return n
    return int32(fib(int32(n - int32(1))) + fib(int32(n - int32(2))))


def queens(columns, left, right, full):
    if columns == full:
        return int32(1)
    count = int32(0)
    free = int32(full & ~(columns | left | right))
    while free:
        place = int32(free & -free)
        free = int32(free ^ place)
        count = int32(count + queens(int32(columns | place), int32((left | place) << int32(1)), int32((right | place) >> int32(1)), full))
    return count


def walk(keys, node, low, high):
    if node >= keys.size:
        return int32(0)
    total = int32(0)
    key = keys[node]
    if low < key:
        total = walk(keys, int32(2 * node + int32(1)), low, high)
    if low <= key and key <= high:
        total = int32(total + key)
    if key < high:
        total = int32(total + walk(keys, int32(2 * node + int32(2)), low, high))
    return total


def fib_kernel(n, out, masks):
    i = cuda.grid(1)
    out[i] = fib(n[i])
    masks[i] = cuda.activemask()


def queens_kernel(n, out, masks):
    i = cuda.grid(1)
    full = int32((int32(1) << int32(9)) - int32(1))
    first = int32(int32(1) << int32(n[i] % int32(9)))
    out[i] = queens(first, int32(first << int32(1)), int32(first >> int32(1)), full)
    masks[i] = cuda.activemask()


def walk_kernel(keys, bounds, out, masks):
    i = cuda.grid(1)
    out[i] = walk(keys, int32(0), bounds[i, 0], bounds[i, 1])
    masks[i] = cuda.activemask()


CUDA = """
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ int queens(int columns, int left, int right, int full) {
  if (columns == full) return 1;
  int count = 0, free = full & ~(columns | left | right);
  while (free) {
    int place = free & -free;
    free ^= place;
    count += queens(columns | place, (left | place) << 1, (right | place) >> 1, full);
  }
  return count;
}
__device__ int walk(const int *keys, int size, int node, int low, int high) {
  if (node >= size) return 0;
  int total = 0, key = keys[node];
  if (low < key) total = walk(keys, size, 2 * node + 1, low, high);
  if (low <= key && key <= high) total += key;
  if (key < high) total += walk(keys, size, 2 * node + 2, low, high);
  return total;
}
extern "C" __global__ void fib_kernel(const int *n, int *out, unsigned *masks) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = fib(n[i]);
  masks[i] = __activemask();
}
extern "C" __global__ void queens_kernel(const int *n, int *out, unsigned *masks) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, full = (1 << 9) - 1, first = 1 << n[i] % 9;
  out[i] = queens(first, first << 1, first >> 1, full);
  masks[i] = __activemask();
}
extern "C" __global__ void walk_kernel(const int *keys, int size, const int *bounds, int *out, unsigned *masks) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = walk(keys, size, 0, bounds[2 * i], bounds[2 * i + 1]);
  masks[i] = __activemask();
}
"""


def compiled(arch):
    with tempfile.TemporaryDirectory() as folder:
        source, image = Path(folder, "recursion.cu"), Path(folder, "recursion.cubin")
        source.write_text(CUDA)
        subprocess.run(["nvcc", "-O3", f"-arch={arch}", "-cubin", "-o", image, source], check=True)
        return image.read_bytes()


def tree(levels):
    """Keys 0, 1, … as a complete search tree: the children of node k are nodes 2k + 1 and 2k + 2."""
    keys = np.zeros((1 << levels) - 1, np.int32)
    for node in range(keys.size):
        level = (node + 1).bit_length() - 1
        place = node + 1 - (1 << level)
        keys[node] = (2 * place + 1 << levels - level - 1) - 1
    return keys


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def problems(rng):
    """(title, kernel, arrays, expected)"""
    for title, n in (
        ("fib, same n", np.repeat(rng.integers(10, 17, THREADS // 32), 32)),
        ("fib, any n", rng.integers(0, 17, THREADS)),
    ):
        table = np.array([fibonacci(k) for k in range(20)], np.int32)
        yield title, fib_kernel, [n.astype(np.int32)], table[n]
    n = rng.integers(0, 9, THREADS).astype(np.int32)
    table = np.array([queens(1 << k, 2 << k, 1 << k >> 1, 511) for k in range(9)], np.int32)
    yield "9 queens", queens_kernel, [n], table[n]
    keys = tree(12)
    bounds = np.sort(rng.integers(0, keys.size, (THREADS, 2)), axis=1).astype(np.int32)
    bounds[:, 1] = np.minimum(bounds[:, 1], bounds[:, 0] + 64)
    yield "tree of 4095", walk_kernel, [keys, bounds], ((bounds[:, 1] - bounds[:, 0] + 1) * bounds.sum(axis=1) // 2).astype(np.int32)


def c_arguments(arrays):
    for a in arrays:
        yield ctypes.c_void_p(a.__cuda_array_interface__["data"][0])
        if a.size == (1 << 12) - 1:
            yield ctypes.c_int32(a.size)


def main():
    args = parser(__doc__).parse_args()
    device = need_gpu()
    driver, function = Driver(), {}
    cuda.synchronize()  # makes the context current
    if shutil.which("nvcc"):
        module = driver.load(compiled("sm_%d%d" % device.compute_capability))
        for k in (fib_kernel, queens_kernel, walk_kernel):
            function[k] = driver.function(module, k.__name__)
    report = Report(f"Recursion on {device.name}", [("kernel", 14), ("pyptx ms", 9), ("nvcc ms", 9), ("/nvcc", 7), ("right", 6), ("nvcc right", 11), ("apart", 6), ("nvcc apart", 11)])
    wrong = 0
    for title, kernel, arrays, expected in problems(np.random.default_rng(1)):
        given = [cuda.to_device(a) for a in arrays]
        out, masks = cuda.to_device(np.zeros(THREADS, np.int32)), cuda.to_device(np.zeros(THREADS, np.uint32))
        launch = cuda.jit(kernel)[THREADS // 128, 128]
        values = list(c_arguments([*given, out, masks]))
        packed = (ctypes.c_void_p * len(values))(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values))
        sides = {"pyptx": lambda: launch(*given, out, masks)}
        if kernel in function:
            sides["nvcc"] = lambda f=function[kernel]: driver.cuLaunchKernel(f, THREADS // 128, 1, 1, 128, 1, 1, 0, None, packed, None)
        times, right, apart = {s: [] for s in sides}, {}, {}
        for turn in range(10):
            for side, call in sides.items():
                start, end = cuda.event(), cuda.event()
                out.copy_to_device(np.full(THREADS, -1, np.int32))
                cuda.synchronize()
                start.record()
                call()
                end.record()
                end.synchronize()
                if turn:
                    times[side].append(cuda.event_elapsed_time(start, end))
                right[side] = right.get(side, True) and np.array_equal(out.copy_to_host(), expected)
                apart[side] = apart.get(side, 0) + int((masks.copy_to_host().reshape(-1, 32) != 0xFFFFFFFF).any(axis=1).sum())
        ms = {s: statistics.median(t) for s, t in times.items()}
        wrong += not right["pyptx"] or apart["pyptx"] > 0
        ratio = ms["pyptx"] / ms["nvcc"] if "nvcc" in ms else None
        report.row(title, ms["pyptx"], ms.get("nvcc"), ratio, "yes" if right["pyptx"] else "NO", {None: "-", True: "yes", False: "NO"}[right.get("nvcc")], apart["pyptx"], apart.get("nvcc"))
    report.save(args.json, device=device.name)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
