"""A kernel from the disk cache beside compiling it: in one process with everything else warm, and as the first kernel of a fresh process.

python bench/cache.py [--json OUT]      PYPTX_DEVICE=host for the host device

"hit" is the whole way to a kernel that can be launched: the function frozen, its key, the file read and checked, the module loaded. On a GPU
"load" is the driver's part of it, cuModuleLoadData of the same PTX.
"""

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from _bench import Driver, Report, parser
from pyptx import cuda

REPEAT = 15


def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def transpose(x, out):
    tile = cuda.shared.array((32, 33), np.float32)
    i, j = cuda.grid(2)
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = x[j, i]
    cuda.syncthreads()
    out[i, j] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def price(s, k, t, out):
    i = cuda.grid(1)
    if i < out.size:
        root = math.sqrt(t[i])
        d = (math.log(s[i] / k[i]) + (0.02 + 0.045) * t[i]) / (0.3 * root)
        n1 = 0.5 * math.erfc(-d / math.sqrt(2.0))
        n2 = 0.5 * math.erfc(-(d - 0.3 * root) / math.sqrt(2.0))
        out[i] = s[i] * n1 - k[i] * math.exp(-0.02 * t[i]) * n2


def powers(z, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = z[i] ** 2 / (1 + z[i])


VECTOR, PLANE = "float32[::1]", "float32[:,::1]"
KERNELS = [
    (add, f"({VECTOR}, {VECTOR}, {VECTOR})"),
    (transpose, f"({PLANE}, {PLANE})"),
    (price, f"({VECTOR}, {VECTOR}, {VECTOR}, {VECTOR})"),
    (powers, "(complex64[::1], complex64[::1])"),
]

FRESH = """
import sys, time
sys.path.insert(0, sys.argv[1])
import numpy, cache
from pyptx import cuda
function, signature = cache.KERNELS[int(sys.argv[2])]
kernel = cuda.jit(cache=sys.argv[3] == "hit")(function)
cuda.get_current_device()
cuda.to_device(numpy.zeros(1))
start = time.perf_counter()
kernel.compile(signature)
print(time.perf_counter() - start)
"""


def timed(function, signature, cached):
    start = time.perf_counter()
    overload = cuda.jit(cache=cached)(function).compile(signature)
    seconds = time.perf_counter() - start
    assert overload.cache == ("hit" if cached else None)
    return 1e3 * seconds, overload


def load_time(ptx):
    if not ptx:
        return None
    driver, times = Driver(), []
    for _ in range(REPEAT):
        start = time.perf_counter()
        module = driver.load(ptx.encode() + b"\0")
        times.append(time.perf_counter() - start)
        driver.cuModuleUnload(module)
    return 1e3 * statistics.median(times)


def fresh(number, what):
    out = subprocess.run([sys.executable, "-c", FRESH, os.path.dirname(os.path.abspath(__file__)), str(number), what],
                         check=True, capture_output=True, text=True, env=os.environ).stdout
    return 1e3 * float(out)


def main():
    args = parser(__doc__).parse_args()
    os.environ["PYPTX_CACHE_DIR"] = tempfile.mkdtemp(prefix="pyptx-bench-")
    device = cuda.get_current_device()
    print(f"device: {device.name}, cache: {os.environ['PYPTX_CACHE_DIR']}")
    columns = [("kernel", 12), ("compile", 9), ("hit", 9), ("load", 9), ("hit - load", 11), ("ratio", 7),
               ("first: compile", 15), ("first: hit", 11), ("ratio ", 7)]
    report = Report("time to a kernel that can be launched, ms (medians)", columns)
    for number, (function, signature) in enumerate(KERNELS):
        cuda.jit(cache=True)(function).compile(signature)
        pairs = [(timed(function, signature, False)[0], timed(function, signature, True)[0]) for _ in range(REPEAT)]
        compiled, hit = (statistics.median(p[k] for p in pairs) for k in (0, 1))
        load = None if device.is_host else load_time(timed(function, signature, True)[1].ptx)
        fresh(number, "hit")  # its functions have another module's name there: kept once more
        alone = [(fresh(number, "compile"), fresh(number, "hit")) for _ in range(5)]
        first, first_hit = (statistics.median(p[k] for p in alone) for k in (0, 1))
        report.row(function.__name__, compiled, hit, load, hit - load if load else None, compiled / hit, first, first_hit,
                   first / first_hit)
    report.save(args.json, device=device.name)


if __name__ == "__main__":
    main()
