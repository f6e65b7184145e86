"""Time from bytecode to PTX in a warm process; with a GPU also to the loaded module, and from the start of a process to its first result.

    python bench/compile.py [--json OUT] [--arch sm_90]

Medians of 15 compilations of each kernel, and of 5 loads of its PTX by the driver, whose own cache is switched off; where the
time goes, pass by pass. A kernel that is coarsened has two entries, of which a launch compiles and loads the one that it takes: "to
PTX", "loading" and "loaded" are of the kernel's own; "large" is what the first launch that takes the other one waits for instead
(its PTX comes behind the kernel's). The first result: 7 fresh processes, vector add from NumPy arrays and back. "empty" is what the
driver takes to load a kernel that does nothing. The limits are 5 ms to PTX for vector add and 10 ms with libdevice functions; 10 ms to
the loaded module for vector add, 40 ms for the geometric mean of the ten largest; 150 ms to the first result beyond the context's
creation and NumPy's import.
"""

import importlib.util
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from _bench import Driver, Report, parser
from pyptx import _pyptx

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

SIGNATURES = {
    "vector_add.vector_add": "float32[::1], float32[::1], float32[::1]",
    "saxpy.saxpy": "float64, float32[::1], float32[::1]",
    "transpose.transpose": "float32[:,::1], float32[:,::1]",
    "reduce.block_sum": "float32[::1], float32[::1]",
    "warp_reduce.row_sums": "float32[:,::1], float32[::1]",
    "warp_reduce.total_sum": "float32[::1], float32[::1]",
    "grid_sync.heat": "float32[:,::1], int64",
    "matmul.matmul_naive": "float32[:,::1], float32[:,::1], float32[:,::1]",
    "matmul.matmul_tiled": "float32[:,::1], float32[:,::1], float32[:,::1]",
    "black_scholes.black_scholes": "float32[::1], float32[::1], float32[::1], float32, float32, float32[::1], float32[::1]",
    "nbody.accelerate": "float32[:,::1], float32[:,::1]",
    "particles.advance": "record(position: float32[3] @0, velocity: float32[3] @12, mass: float32 @24, bounces: int32 @28; 32)[::1], float32, int64",
    "mandelbrot.mandelbrot": "float32, float32, float32, int64, int32[:,::1]",
    "newton.basins": "complex64, float64, int64, complex64[:,::1], uint8[:,::1]",
    "jacobi.sweep": "float32[:,::1], float32[:,::1]",
    "histogram.histogram": "uint8[::1], int32[::1]",
    "softmax.softmax": "float32[:,::1], float32[:,::1]",
    "monte_carlo.count_hits": "uint32[::1], int64, int32[::1]",
    "monte_carlo_pi.count_hits": "record(s0: uint64 @0, s1: uint64 @8; 16)[::1], int64, int32[::1]",
    "spmv.spmv": "int32[::1], int32[::1], float32[::1], float32[::1], float32[::1]",
    "heat3d.heat": "float32[:,:,::1], float32[:,:,::1], float32",
}


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LARGE = (
    "matmul.matmul_naive", "matmul.matmul_tiled", "softmax.softmax", "nbody.accelerate", "black_scholes.black_scholes",
    "newton.basins", "spmv.spmv", "heat3d.heat", "transpose.transpose", "warp_reduce.total_sum",
)  # fmt: skip

# What a process does up to its first result, with the time on the clock that all processes share.
FIRST = """
import time
marks = [("python", time.monotonic())]
import numpy as np
marks.append(("NumPy", time.monotonic()))
from pyptx import cuda
marks.append(("pyptx", time.monotonic()))
cuda.get_current_device()
cuda.synchronize()
marks.append(("context", time.monotonic()))
@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]
x = np.ones(1000, np.float32)
out = np.zeros(1000, np.float32)
add[4, 256](x, x, out)
assert out[999] == 2
marks.append(("first result", time.monotonic()))
print(*(f"{name}:{at}" for name, at in marks), sep=",")
"""


EMPTY = ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry nothing() { ret; }\n"


def to_ptx(kernel, signature, arch):
    """Compiles anew, as a launch does: ms of the kernel's own entry and of the coarsened one (0: none), the answer."""
    start = time.perf_counter()
    result = _pyptx._compile(kernel, signature, "nvptx", arch, 0, {"coarsen": True}, "apart")
    both = 1e3 * (time.perf_counter() - start)
    coarse = sum(ms for _, ms in result["coarse"]["timings"]) if "coarse" in result else 0.0
    return both - coarse, coarse, result


def gpu():
    """A Driver and the architecture of the current GPU, or (None, None)."""
    from pyptx import cuda

    device = cuda.get_current_device()
    if device.is_host:
        return None, None
    cuda.to_device(np.zeros(1))  # the context is current from here on
    return Driver(), "sm_%d%d" % device.compute_capability


def load_ms(driver, ptx):
    """Median ms of five loads, each of which compiles the PTX."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        module = driver.load(ptx.encode() + b"\0")
        times.append(1e3 * (time.perf_counter() - start))
        driver.cuModuleUnload(module)
    return statistics.median(times)


def first_result():
    """Median ms of each step of a fresh process, in order, with the driver's and our cache off."""
    environment = {**os.environ, "CUDA_CACHE_DISABLE": "1"}
    environment.pop("PYPTX_CACHE_DIR", None)
    steps = {}
    for _ in range(7):
        before = time.monotonic()
        text = subprocess.run(
            [sys.executable, "-c", FIRST], check=True, capture_output=True, text=True, env=environment
        ).stdout
        for name, at in (part.split(":") for part in text.strip().split(",")):
            steps.setdefault(name, []).append(1e3 * (float(at) - before))
            before = float(at)
    return {name: statistics.median(times) for name, times in steps.items()}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def main():
    p = parser(__doc__)
    p.add_argument("--arch", default="sm_90")
    args = p.parse_args()
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # read by the driver when it starts
    driver, arch = gpu()
    arch = arch or args.arch
    report = Report(
        f"from bytecode, {arch}, ms",
        [("kernel", 28), ("to PTX", 8), ("best", 8), ("PTX lines", 10), ("loading", 8), ("loaded", 8), ("large", 8)],
    )
    passes, loaded, large = {}, [], []
    if driver:
        report.row("empty", None, None, 4, load_ms(driver, EMPTY.replace("sm_90", arch)), None, None)
    for path, signature in SIGNATURES.items():
        file, name = path.split(".")
        kernel = getattr(load(file), name)
        to_ptx(kernel, signature, arch)
        times, seconds = [], []
        for _ in range(15):
            own, coarse, made = to_ptx(kernel, signature, arch)
            times.append(own)
            seconds.append(coarse)
            for label, ms in made["timings"] + [(f"{n}, coarse", ms) for n, ms in made.get("coarse", {}).get("timings", [])]:
                passes.setdefault(label, []).append(ms)
        median = statistics.median(times)
        loading = whole = second = None
        if driver:
            loading = load_ms(driver, made["ptx"])
            second = whole = median + loading
        if driver and "coarse" in made:
            second = median + statistics.median(seconds) + load_ms(driver, made["coarse"]["ptx"])
        if driver and path in LARGE:
            loaded.append(whole)
            large.append(second)
        report.row(name, median, min(times), len(made["ptx"].splitlines()), loading, whole, second)
    if loaded:
        report.row("geometric mean of ten", None, None, None, None, geometric_mean(loaded), geometric_mean(large))
    print()
    table = Report("by pass, ms, mean over those that have it", [("pass", 28), ("mean", 8)])
    for label, ms in sorted(passes.items(), key=lambda item: -sum(item[1])):
        table.row(label, statistics.mean(ms))
    steps = first_result()
    print()
    table = Report("from the start of a process, ms, medians of 7", [("step", 28), ("median", 8)])
    for name, ms in steps.items():
        table.row(name, ms)
    table.row("without NumPy and context", sum(ms for n, ms in steps.items() if n not in ("NumPy", "context")))
    report.save(args.json, arch=arch, first_result=steps)


if __name__ == "__main__":
    main()
