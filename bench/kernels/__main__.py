"""Kernels on a GPU beside nvcc -O3 of natural CUDA C++, numba-cuda with the same Python function, and CuPy or Triton.

    python bench/kernels [NAME...] [--set second] [--scale F] [--sweep] [--variant OPTIONS]... [--peers LIST] [--json OUT]
        [--picture OUT.svg]
    python bench/kernels [NAME...] --along widths,thin [--set second] [--scale 0.25] [--json OUT] [--picture OUT.svg]
    python bench/kernels [NAME...] --build DIR_OR_WHEEL [--build DIR_OR_WHEEL] [--device host] [--limit 1.03]

All sides of a kernel run in one process on the same arrays and take turns batch by batch; times are medians of 9
batches between events. In the same run every side is checked against NumPy within an error bound, and the sides against
each other everywhere. A ratio is pyptx's time over the other's: below 1 pyptx is faster. "of copy" is the share of
the bytes a second that cuMemcpyDtoD moves in the same run.

--set names another set of kernels (kernels/__init__.py). Where a kernel has two CUDA texts, with
int64 indices as Python's are and with `int`, nvcc's time is that of the faster; "int64/int" shows
both.

--sweep takes kernels through the block sizes that they declare, beside all others, and those of the set `trips` through
every trip count from 1 to 64 too ("128 ×5": five iterations of 128 threads); the worst row is printed below the table.
--along takes them along an axis of their problem beside nvcc: blocks, extents, widths, thin or all (kernels/sweeps.py);
it prints the worst point of each and draws the curves. --scale 0.25 is enough for it, and quicker. --variant "coarsen=1" adds a pyptx side with
these options of @cuda.jit. --build compares two builds of pyptx (one given: with the one on the path), each in a
process of its own, taking turns; with --limit the exit status says whether the second is slower by more than that.
"""

import ast
import math
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from _bench import Report, need_gpu, parser


def geometric_mean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def options_of(text):
    """"coarsen=1, fma=False" as keyword arguments of @cuda.jit."""
    call = ast.parse(f"jit({text})", mode="eval").body
    return {k.arg: ast.literal_eval(k.value) for k in call.keywords}


def arguments():
    p = parser(__doc__)
    p.add_argument("names", nargs="*", help="kernels whose name or title contains one of these")
    p.add_argument("--set", default="first", help="which set of kernels (default: the first)")
    p.add_argument("--scale", type=float, default=1.0, help="times the work of each kernel's usual problem")
    p.add_argument("--sweep", action="store_true", help="every block size that a kernel declares")
    p.add_argument("--along", metavar="AXES", help="blocks, extents, widths, thin (several with commas), or all: the curve beside nvcc")
    p.add_argument("--variant", action="append", default=[], metavar="OPTIONS", help="also pyptx with these options")
    p.add_argument("--peers", default="numba,cupy,triton", help="which of numba, cupy and triton (default: all)")
    p.add_argument("--picture", type=Path, metavar="OUT.svg", help="also draw the ratios")
    p.add_argument("--build", action="append", default=[], metavar="DIR_OR_WHEEL", help="compare builds of pyptx")
    p.add_argument("--device", choices=("gpu", "host"), default="gpu", help="where --build compares")
    p.add_argument("--limit", type=float, help="with --build: fail if the second is slower by more than this factor")
    p.add_argument("--worker", action="store_true", help="what --build starts")
    return p.parse_args()


COLUMNS = [
    ("kernel", 19), ("block", 9), ("pyptx ms", 9), ("nvcc ms", 9), ("numba ms", 9), ("/nvcc", 7), ("/numba", 7),
    ("/cupy", 7), ("/triton", 7), ("GB/s", 8), ("of copy", 7), ("GFLOP/s", 9), ("regs", 9), ("int64/int", 15), ("right", 6),
]  # fmt: skip


def shown(block):
    return "x".join(map(str, block)) if isinstance(block, tuple) else str(block)


def row_of(kernel, problem, block, found, variants):
    """One line of the table."""
    ms = found["ms"]
    ours = ms["pyptx"]

    def over(name):
        return ours / ms[name] if name in ms else None

    wrong = [name for name, right in found["right"].items() if not right]
    texts = [side for side in ("nvcc", "nvcc int") if side in ms]
    both = "/".join(f"{ms[side]:.4g}" for side in texts) if len(texts) == 2 else None
    nvcc = min(texts, key=ms.get) if texts else "nvcc"
    ms = {**ms, "nvcc": ms[nvcc]} if texts else ms
    regs = "/".join(str(found["facts"].get(side, {}).get("regs", "-")) for side in ("pyptx", nvcc))
    moved = problem.bytes / ours / 1e6
    return [
        kernel.name, shown(block), ours, ms.get("nvcc"), ms.get("numba"), over("nvcc"), over("numba"), over("cupy"),
        over("triton"), moved, ms["copy"] / ours if "copy" in ms else None, problem.flops / ours / 1e6, regs, both,
        "yes" if not wrong else "NO: " + ", ".join(wrong), *(ms[f"pyptx {text}"] / ours for text, _ in variants),
    ]  # fmt: skip


def summary(report):
    """The lines below the table: means, the worst, the least share of a copy."""
    said = {}
    for column in ("/nvcc", "/numba"):
        rows = [r for r in report.rows if r[column]]
        if rows:
            worst = max(rows, key=lambda r: r[column])
            mean = geometric_mean([r[column] for r in rows])
            said[column] = {"mean": mean, "worst": worst[column], "kernel": worst["kernel"], "kernels": len(rows)}
            print(
                f"pyptx{column}: geometric mean {mean:.3f} of {len(rows)}, worst {worst[column]:.3f} "
                f"({worst['kernel']}, {worst['block']})"
            )
    streams = [r for r in report.rows if r["of copy"] and r["kind"] == "streaming"]
    if streams:
        least = min(streams, key=lambda r: r["of copy"])
        said["of copy"] = {"least": least["of copy"], "kernel": least["kernel"], "block": least["block"]}
        print(f"of a device copy: least {least['of copy']:.3f} ({least['kernel']}, {least['block']})")
    return said


def main():
    args = arguments()
    if args.worker:
        from kernels.builds import work

        return work()
    from kernels import pick

    kernels = pick(args.names, args.set)
    if args.build:
        from kernels.builds import compare

        return compare(args, kernels)
    device = need_gpu()
    from kernels.gpu import Bench, upload

    if args.sweep:
        kernels = [k for k in kernels if k.sweep]
    if not shutil.which("nvcc"):
        print("nvcc is not on PATH: nothing to compare with but the packages that are installed")
    if args.along:
        from kernels import sweeps

        bench = Bench(kernels, [], shutil.which("nvcc"))
        return 1 if sweeps.run(args, kernels, bench, upload, device.name) else 0
    variants = [(text, options_of(text)) for text in args.variant]
    peers = [p for p in args.peers.split(",") if not args.sweep or p == "numba"]  # libraries choose their own blocks
    bench = Bench(kernels, peers, shutil.which("nvcc"), variants)
    report = Report(f"kernels on {device.name}", COLUMNS + [(text, len(text) + 2) for text, _ in variants])
    wrong = 0
    for kernel in kernels:
        for n in kernel.counts if args.sweep and kernel.counts else (kernel.scaled(kernel.gpu, args.scale),):
            problem = kernel.problem(np.random.default_rng(1), n)
            expected, arrays = problem.expected(), upload(problem)
            for block in kernel.sweep if args.sweep else (kernel.block,):
                found = bench.measure(kernel, problem, expected, block, arrays, ours_only=block != kernel.block)
                wrong += not all(found["right"].values())
                row = row_of(kernel, problem, block, found, variants)
                if args.sweep and kernel.counts:
                    row[1] += f" ×{-(-n * 128 // block)}"  # iterations of a thread
                report.row(*row)
                report.rows[-1].update(kind=kernel.kind, measured=found)
    said = summary(report)
    for text, _ in variants:
        print(f"{text} / pyptx: geometric mean {geometric_mean([r[text] for r in report.rows]):.3f}")
    report.save(args.json, device=device.name, summary=said)
    if args.picture:
        from kernels.picture import draw

        args.picture.write_text(draw(report.rows, device.name))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
