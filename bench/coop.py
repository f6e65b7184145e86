"""Collectives of blocks (cuda.coop) beside CUB in CUDA C++ (nvcc -O3), in one process: sum, scan and sort of items of each thread.

    python bench/coop.py [--only sort] [--json OUT]

Each kernel loads its items, does the collective ROUNDS times, changing the items in between, and stores them: so that the collective is what takes
the time. Both sides take turns; "ratio" is pyptx's median time over CUB's. Sums of floats are compared within the bound of their trees.
"""

import ctypes
import itertools
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from _bench import Driver, Report, need_gpu, parser
from pyptx import cuda

OPERATIONS, DTYPES, THREADS, ITEMS = ("sum", "scan", "sort"), ("int32", "float32", "float64"), (64, 128, 256, 1024), (1, 4, 8)
ROUNDS, ELEMENTS, TURNS = 4, 1 << 24, 11
C_TYPES = {"int32": "int", "float32": "float", "float64": "double"}
MOST_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES

HEAD = "#include <cub/block/block_reduce.cuh>\n#include <cub/block/block_scan.cuh>\n#include <cub/block/block_radix_sort.cuh>\n"
KERNEL = """
using Group_{name} = {group};
extern "C" __device__ unsigned long long bytes_{name} = sizeof(typename Group_{name}::TempStorage);
extern "C" __global__ void __launch_bounds__({threads}) {name}(const {T} *x, {T} *out) {{
  extern __shared__ __align__(16) unsigned char memory[];
  auto &storage = *reinterpret_cast<typename Group_{name}::TempStorage *>(memory);
  {T} items[{items}];
  long first = ((long)blockIdx.x * {threads} + threadIdx.x) * {items};
  for (int k = 0; k < {items}; k++) items[k] = x[first + k];
  for (int round = 0; round < {rounds}; round++) {{
    {work}
    __syncthreads();
  }}
  for (int k = 0; k < {items}; k++) out[first + k] = items[k];
}}
"""
GROUPS = {
    "sum": "cub::BlockReduce<{T}, {threads}>", "scan": "cub::BlockScan<{T}, {threads}>", "sort": "cub::BlockRadixSort<{T}, {threads}, {items}>",
}  # fmt: skip
WORK = {
    "sum": "{T} total = Group_{name}(storage).Sum(items); if (threadIdx.x == 0) items[0] += total;",
    "scan": "Group_{name}(storage).InclusiveSum(items, items);",
    "sort": "Group_{name}(storage).Sort(items); for (int k = 0; k < {items}; k++) items[k] = -items[k];",
}


def name_of(operation, dtype, threads, items):
    return f"{operation}_{dtype}_{threads}_{items}"


def cub_source(cases):
    source = HEAD
    for case in cases:
        operation, dtype, threads, items = case
        fields = {"name": name_of(*case), "T": C_TYPES[dtype], "threads": threads, "items": items, "rounds": ROUNDS}
        source += KERNEL.format(group=GROUPS[operation].format(**fields), work=WORK[operation].format(**fields), **fields)
    return source


def cub_cubin(cases, arch):
    with tempfile.TemporaryDirectory(prefix="pyptx-bench-") as folder:
        source, image = Path(folder) / "coop.cu", Path(folder) / "coop.cubin"
        source.write_text(cub_source(cases))
        subprocess.run([shutil.which("nvcc"), "-O3", "-std=c++17", f"-arch={arch}", "-cubin", "-o", image, source], check=True)
        return image.read_bytes()


def ours(operation, dtype, threads, items):
    @cuda.jit(launch_bounds=threads)
    def sum_(x, out):
        block = cuda.coop.this_block(threads)
        mine = cuda.local.array(items, dtype)
        first = cuda.blockIdx.x * (threads * items)
        block.load(x, mine, first)
        for _ in range(ROUNDS):
            total = block.sum(mine)
            if cuda.threadIdx.x == 0:
                mine[0] += total
        block.store(out, mine, first)

    @cuda.jit(launch_bounds=threads)
    def scan(x, out):
        block = cuda.coop.this_block(threads)
        mine = cuda.local.array(items, dtype)
        first = cuda.blockIdx.x * (threads * items)
        block.load(x, mine, first)
        for _ in range(ROUNDS):
            block.inclusive_sum(mine)
        block.store(out, mine, first)

    @cuda.jit(launch_bounds=threads)
    def sort(x, out):
        block = cuda.coop.this_block(threads)
        mine = cuda.local.array(items, dtype)
        first = cuda.blockIdx.x * (threads * items)
        block.load(x, mine, first)
        for _ in range(ROUNDS):
            block.sort_keys(mine)
            for k in range(items):
                mine[k] = -mine[k]
        block.store(out, mine, first)

    return {"sum": sum_, "scan": scan, "sort": sort}[operation]


def numbers(dtype):
    rng = np.random.default_rng(1)
    if dtype == "int32":
        return rng.integers(-(2**31), 2**31, ELEMENTS).astype(dtype)
    return rng.random(ELEMENTS).astype(dtype)  # positive: the bound of a sum is relative then


def same(operation, got, want, threads, items):
    if got.dtype.kind == "i" or operation == "sort":
        return np.array_equal(got, want)
    n = threads * items * ROUNDS  # roundings on the way of a term, on both sides
    return bool(np.allclose(got, want, rtol=2 * n * np.finfo(got.dtype).eps, atol=0))


def cub_call(driver, module, case, d_x, d_out, grid):
    name, threads = name_of(*case), case[2]
    function = driver.function(module, name)
    address, size, value = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_uint64()
    driver.cuModuleGetGlobal_v2(ctypes.byref(address), ctypes.byref(size), module, f"bytes_{name}".encode())
    driver.cuMemcpyDtoH_v2(ctypes.byref(value), address, ctypes.c_size_t(8))
    if value.value > 48 << 10:
        driver.cuFuncSetAttribute(function, MOST_DYNAMIC_SHARED, ctypes.c_int(value.value))
    values = [ctypes.c_void_p(a.__cuda_array_interface__["data"][0]) for a in (d_x, d_out)]
    packed = (ctypes.c_void_p * 2)(*(ctypes.cast(ctypes.byref(v), ctypes.c_void_p) for v in values))
    return lambda _keep=values: driver.cuLaunchKernel(function, grid, 1, 1, threads, 1, 1, value.value, None, packed, None)


def measured(sides, d_out):
    times, results = {s: [] for s in sides}, {}
    for turn in range(TURNS):
        for side, call in sides.items():
            start, end = cuda.event(), cuda.event()
            start.record()
            call()
            end.record()
            end.synchronize()
            if turn:
                times[side].append(cuda.event_elapsed_time(start, end))
            else:
                results[side] = d_out.copy_to_host()
    return {s: statistics.median(t) for s, t in times.items()}, results


def main():
    p = parser(__doc__)
    p.add_argument("--only", choices=OPERATIONS, help="this operation alone")
    args = p.parse_args()
    device = need_gpu()
    driver = Driver()
    cuda.synchronize()  # makes the context current
    cases = list(itertools.product([args.only] if args.only else OPERATIONS, DTYPES, THREADS, ITEMS))
    module = driver.load(cub_cubin(cases, "sm_%d%d" % device.compute_capability)) if shutil.which("nvcc") else None
    report = Report(
        f"Collectives of blocks on {device.name}: {ROUNDS} each of {ELEMENTS} elements",
        [("operation", 9), ("dtype", 8), ("threads", 7), ("items", 5), ("pyptx ms", 9), ("CUB ms", 9), ("ratio", 6), ("right", 5)],
    )
    wrong, ratios = 0, {}
    for case in cases:
        operation, dtype, threads, items = case
        grid = ELEMENTS // (threads * items)
        d_x, d_out = cuda.to_device(numbers(dtype)), cuda.device_array(ELEMENTS, dtype)
        launch = ours(*case)[grid, threads]
        sides = {"pyptx": lambda: launch(d_x, d_out)}
        if module:
            sides["CUB"] = cub_call(driver, module, case, d_x, d_out, grid)
        ms, results = measured(sides, d_out)
        right = same(operation, results["pyptx"], results["CUB"], threads, items) if module else None
        wrong += right is False
        ratio = ms["pyptx"] / ms["CUB"] if module else None
        ratios.setdefault(operation, []).append(ratio)
        report.row(*case, ms["pyptx"], ms.get("CUB"), ratio, {None: "-", True: "yes", False: "NO"}[right])
    for operation, all_of in ratios.items():
        if module:
            print(f"{operation}: median ratio {statistics.median(all_of):.2f}, worst {max(all_of):.2f}, within 5 %: {sum(r <= 1.05 for r in all_of)} of {len(all_of)}")
    report.save(args.json, device=device.name)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
