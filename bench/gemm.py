"""The bf16 matrix products of examples/ beside torch.matmul (cuBLAS), in one process: time on the GPU, and our speed over cuBLAS's.

    python bench/gemm.py [--json OUT]

"warps" is examples/gemm_warps.py (ldmatrix, mma_sync), "groups" examples/gemm_warpgroups.py (wgmma, compute capability 9.0 alone). The
matrices are row-major, normal random and of several copies in turn, more than the cache holds together. All sides take turns, one call
at a time behind an idle pause of 15 ms, so that the power limit does not rule; medians.
"""

import statistics
import sys
import time
from pathlib import Path

from _bench import Report, need_gpu, parser
from pyptx import cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import gemm_warpgroups  # noqa: E402
import gemm_warps  # noqa: E402

SHAPES = ((2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (8192, 8192, 1024), (4096, 4096, 14336))
TURNS, CACHE, PAUSE, CYCLES = 15, 200 << 20, 15e-3, 1_000_000


def sides(torch, newest):
    """name → a function (a, b, c) that computes c = a @ b."""

    def kernel(module, *more):
        return lambda a, b, c: module.gemm[(c.shape[1] // module.N, c.shape[0] // module.M), module.THREADS, 0, *more](a, b, c)

    out = {"cublas": lambda a, b, c: torch.matmul(a, b, out=c), "warps": kernel(gemm_warps)}
    if newest:
        out["groups"] = kernel(gemm_warpgroups, gemm_warpgroups.SHARED)
    return out


def seconds(torch, work):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    time.sleep(PAUSE)
    torch.cuda._sleep(CYCLES)  # while the GPU waits, the call is queued: what Python takes for it does not count
    start.record()
    work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3


def measure(torch, shape, contestants):
    m, n, k = shape
    copies = 2 + CACHE // (2 * (m * k + k * n + m * n))
    sets = [[torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16) for rows, columns in ((m, k), (k, n), (m, n))] for _ in range(copies)]
    times = {name: [] for name in contestants}
    want = torch.matmul(sets[0][0], sets[0][1]).float()
    for name, run in contestants.items():
        run(*sets[0])  # compiles
        # both round sums in float32 once to the 8 bits of a bfloat16; the sums differ by their order
        assert ((sets[0][2].float() - want).abs() <= 2.0**-7 * want.abs() + 2.0**-12 * k**0.5).all(), name
    for turn in range(TURNS):
        for name, run in contestants.items():
            times[name].append(seconds(torch, lambda run=run, s=sets[turn % copies]: run(*s)))
    return {name: statistics.median(t) for name, t in times.items()}


def main():
    args = parser(__doc__).parse_args()
    device = need_gpu()
    try:
        import torch
    except ImportError:
        print("torch is not installed: nothing to compare with")
        return
    contestants = sides(torch, cuda.get_current_device().compute_capability[0] == 9)
    report = Report(f"bf16 C = A @ B on {device.name}", [("m x n x k", 18), ("cublas TFLOP/s", 14), *((name, 8) for name in contestants if name != "cublas")])
    for shape in SHAPES:
        t = measure(torch, shape, contestants)
        report.row("x".join(map(str, shape)), 2 * shape[0] * shape[1] * shape[2] / t["cublas"] / 1e12, *(t["cublas"] / t[name] for name in t if name != "cublas"))
    report.save(args.json, device=device.name)


if __name__ == "__main__":
    main()
