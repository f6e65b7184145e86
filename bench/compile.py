"""Time from bytecode to PTX in a warm process, without a GPU: whole compilations, and where the time goes, pass by pass.

    python bench/compile.py [--json OUT] [--arch sm_90]

Medians of 15 compilations of each kernel. The limits are 5 ms for vector add and 10 ms
with libdevice functions.
"""

import importlib.util
import statistics
import time
from pathlib import Path

from _bench import Report, parser
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


def to_ptx(kernel, signature, arch):
    """Compiles anew: (PTX, [(pass, ms)])."""
    result = _pyptx._compile(kernel, signature, "nvptx", arch, 0, {}, "ptx")
    return result["ptx"], result["timings"]


def main():
    p = parser(__doc__)
    p.add_argument("--arch", default="sm_90")
    args = p.parse_args()
    report = Report(
        f"bytecode to PTX for {args.arch}, ms",
        [("kernel", 28), ("median", 8), ("best", 8), ("PTX lines", 10)],
    )
    passes = {}
    for path, signature in SIGNATURES.items():
        file, name = path.split(".")
        kernel = getattr(load(file), name)
        to_ptx(kernel, signature, args.arch)
        times = []
        for _ in range(15):
            start = time.perf_counter()
            ptx, spent = to_ptx(kernel, signature, args.arch)
            times.append(1e3 * (time.perf_counter() - start))
            for label, ms in spent:
                passes.setdefault(label, []).append(ms)
        report.row(name, statistics.median(times), min(times), len(ptx.splitlines()))
    report.save(args.json, arch=args.arch)
    print()
    table = Report("by pass, ms, mean over all of these", [("pass", 28), ("mean", 8)])
    for label, ms in sorted(passes.items(), key=lambda item: -sum(item[1])):
        table.row(label, statistics.mean(ms))


if __name__ == "__main__":
    main()
