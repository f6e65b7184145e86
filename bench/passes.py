"""What each pass of our own brings to kernels on a GPU: the kernels compiled with it, and without it by PYPTX_SKIP.

    python bench/passes.py [PASS...] --counts [--arch sm_90]    SASS instructions and registers (ptxas; no GPU)
    python bench/passes.py [PASS...] [--set second] [--kernel NAME]... [--scale F]
                                                                times, on a GPU, in one process: each variant of a kernel takes turns with the others

A pass is looked at on the kernels of bench/kernels, with --counts on the examples too, whose PTX it changes; for
times that of the narrow version, which launches take. A ratio is without over with: above 1 the pass brings something.
Passes without which the code would be wrong cannot be skipped and are not here.
"""

import contextlib
import math
import multiprocessing
import os
import shutil
import sys

from _bench import Report, need_gpu, parser
from counts import sass_counts, subjects
from pyptx import _pyptx, cuda


def passes(words):
    """The skippable rows over SSA and a GPU's module, in order."""
    names = [name for name, within, _, _, skippable in _pyptx._passes() if skippable and within and not name.startswith("host.")]
    unknown = [w for w in words if w not in names]
    if unknown:
        raise SystemExit(f"{', '.join(unknown)}: there are {', '.join(names)}")
    return [n for n in names if not words or n in words]


@contextlib.contextmanager
def skipping(names):
    """Within it, what is compiled is compiled without these passes."""
    before = os.environ.get("PYPTX_SKIP")
    os.environ["PYPTX_SKIP"] = ",".join(names)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYPTX_SKIP"]
        else:
            os.environ["PYPTX_SKIP"] = before


def ptx_without(function, signature, arch, names=(), **options):
    with skipping(names):
        return cuda.compile_ptx(function, signature, cc=arch, **options)[0]


def changed(subject, arch, names):
    """(PTX, {pass: PTX without it, where that differs}) of a function as launches compile it."""
    function, signature = subject
    whole = ptx_without(function, signature, arch, coarsen=True)
    others = {name: ptx_without(function, signature, arch, [name], coarsen=True) for name in names}
    return whole, {name: ptx for name, ptx in others.items() if ptx != whole}


def count(names, arch):
    """A row for each kernel that a pass changes, and for each pass the whole."""
    ptxas = shutil.which("ptxas")
    if not ptxas:
        raise SystemExit("ptxas is not on PATH")
    report = Report(f"SASS for {arch}, with -> without", [("pass", 24), ("kernel", 40), ("instructions", 14), ("registers", 12), ("spills", 10), ("ratio", 6)])
    found = {name: {} for name in names}
    for kernel, subject in subjects().items():
        whole, others = changed(subject, arch, names)
        with_all = sass_counts(whole, ptxas, None, arch) if others else None
        for name, ptx in others.items():
            found[name][kernel] = with_all, sass_counts(ptx, ptxas, None, arch)
    for name, kernels in found.items():
        for kernel, (a, b) in kernels.items():
            report.row(name, kernel, *(f"{a[k]} -> {b[k]}" for k in ("instructions", "registers", "spills")), b["instructions"] / a["instructions"])
        ratios = [b["instructions"] / a["instructions"] for a, b in kernels.values()]
        report.row(name, f"all {len(ratios)}{', of one alone' if len(ratios) == 1 else ''}", None, None, None, mean(ratios))
    return report


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def which_change(of, name, arch, names):
    """The passes that change what a launch of this kernel of a set takes."""
    from kernels import SETS

    kernel = next(k for k in SETS[of] if k.name == name)
    return list(changed((kernel.function, f"narrow ({kernel.signature})"), arch, names)[1])


def measure(names, of, kernels, scale):
    import numpy as np
    from kernels.declare import check
    from kernels.gpu import Clock, upload

    report = Report("ms, and the ratio without over with", [("pass", 24), ("kernel", 20), ("with", 9), ("without", 9), ("ratio", 7), ("right", 6)])
    clock, ratios, arch = Clock(), {name: [] for name in names}, "sm_{}{}".format(*cuda.get_current_device().compute_capability)
    with multiprocessing.get_context("spawn").Pool() as pool:
        found = pool.starmap(which_change, [(of, kernel.name, arch, names) for kernel in kernels], chunksize=1)
    for kernel, others in zip(kernels, found):
        if not others:
            continue
        problem = kernel.problem(np.random.default_rng(1), kernel.scaled(kernel.gpu, scale))
        arrays, expected, sides, right = upload(problem), problem.expected(), {}, {}
        for name in ("", *others):
            with skipping([name] if name else []):
                configured = cuda.jit(kernel.function)[problem.grid_for(kernel.block), kernel.block]
                for k in problem.outputs:
                    arrays[k].copy_to_device(problem.arguments[k])
                for _ in range(2):  # the second entry is compiled at the first launch that wants it
                    configured(*arrays)
                for k in problem.outputs:
                    arrays[k].copy_to_device(problem.arguments[k])
                configured(*arrays)
            sides[name] = lambda configured=configured: configured(*arrays)
            right[name] = check(problem, [arrays[k].copy_to_host() for k in problem.outputs], expected)[0]
        ms = clock.medians(sides)
        for name in others:
            ratios[name].append(ms[name] / ms[""])
            report.row(name, kernel.name, ms[""], ms[name], ms[name] / ms[""], "yes" if right[""] and right[name] else "NO")
    for name in names:
        gains = sum(r > 1.03 for r in ratios[name])
        report.row(name, f"all {len(ratios[name])}, {gains} gain", None, None, mean(ratios[name]), None)
    return report


def main():
    p = parser(__doc__)
    p.add_argument("passes", nargs="*", metavar="PASS", help="as nvptx.square_root (default: all)")
    p.add_argument("--counts", action="store_true", help="SASS counts in place of times")
    p.add_argument("--arch", default="sm_90", help="with --counts: for this")
    p.add_argument("--set", default="first", help="times: of which set (default: the first)")
    p.add_argument("--kernel", action="append", default=[], metavar="NAME", help="times: kernels whose name contains this")
    p.add_argument("--scale", type=float, default=1.0, help="times: the work of each kernel's usual problem")
    args = p.parse_args()
    names = passes(args.passes)
    if args.counts:
        report = count(names, args.arch)
    else:
        from kernels import pick

        need_gpu()
        report = measure(names, args.set, pick(args.kernel, args.set), args.scale)
    report.save(args.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
