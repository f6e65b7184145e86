"""The host device beside natural OpenMP loops in C (gcc -O3 -march=native), for every kernel of the benchmark.

    python bench/host.py [NAME...] [--set second] [--scale F] [--threads 1,2,4] [--unchecked] [--simulator] [--json OUT]

Both sides run in this process on the same data and take turns batch by batch. A batch's value is its fastest call,
the time of a side the median of 9 batches: a call that waited for a processor says nothing of the code.
Each side's results are checked against NumPy in the same run. The ratio is pyptx's time over the loop's: below
1 pyptx is faster. --threads runs the set again in a process for each number of threads (both sides).
--unchecked adds the time with opt="unchecked". --simulator adds Numba's simulator, where numba-cuda is
installed, on a small problem.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

os.environ["PYPTX_DEVICE"] = "host"
# Spinning threads of either side would take the other's processors; on a machine with other work OpenMP's own
# barrier loses whole time slices by it. Waiting asleep is the better of its two policies there. pyptx's threads stay
# awake for 50 us after a launch, much less than PAUSE.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
from _bench import Report, parser

BATCHES, BATCH_SECONDS, PAUSE = 7, 0.03, 0.004


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def medians(sides):
    """{side: median over the batches of a batch's fastest call, in seconds}; the sides take turns.
    Threads may spin for a while after their work: each batch begins after a pause.
    """
    counts, times = {}, {side: [] for side in sides}
    for side, call in sides.items():
        call()
        once = timed(call)
        counts[side] = max(8 if once < 0.02 else 4, min(200, round(BATCH_SECONDS / max(once, 1e-7))))
    for _ in range(BATCHES):
        for side, call in sides.items():
            time.sleep(PAUSE)
            times[side].append(min(timed(call) for _ in range(counts[side])))
    return {side: statistics.median(t) for side, t in times.items()}


def device_side(cuda, kernel, problem, arguments, **options):
    on_device = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]
    configured = cuda.jit(kernel.function, **options)[problem.grid_for(kernel.block), kernel.block]

    def call():
        configured(*on_device)
        cuda.synchronize()

    return call, lambda: [on_device[k].copy_to_host() for k in problem.outputs]


def measure(kernel, library, args):
    """A row of the table: the sides' times, and whether every side is right."""
    from kernels.declare import check
    from kernels.native import openmp_call
    from pyptx import cuda

    rng = np.random.default_rng(1)
    problem = kernel.problem(rng, kernel.scaled(kernel.host, args.scale))
    expected = problem.expected()
    sides, passed = {}, True

    def add(name, call, results, slack=1.0):
        nonlocal passed
        call()
        right, share = check(problem, results(), expected, slack)
        if not right:
            print(f"{kernel.name}: {name} differs from NumPy, {share:.2f} of the bound", file=sys.stderr)
        passed &= right
        sides[name] = call

    add("pyptx", *device_side(cuda, kernel, problem, problem.arguments))
    if args.unchecked:
        add("unchecked", *device_side(cuda, kernel, problem, problem.arguments, opt="unchecked"))
    if library:
        own = [np.array(a) if isinstance(a, np.ndarray) else a for a in problem.arguments]
        add(
            "openmp",
            openmp_call(library, kernel, problem, own),
            lambda: [own[k] for k in problem.outputs],
            problem.sequential,
        )
    return problem, medians(sides), passed


def simulator_seconds(kernel, arguments, grid, block):
    """Numba's simulator on the same small problem, in a process of its own."""
    here = Path(__file__).resolve().parent
    code = f"""if 1:
    import sys; sys.path.insert(0, {str(here)!r})
    import numpy as np, time
    if not hasattr(np, "row_stack"): np.row_stack = np.vstack
    from kernels import BY_NAME
    from kernels.peers import rebound
    from numba import cuda
    import numba
    kernel = BY_NAME[{kernel.name!r}]
    problem = kernel.problem(np.random.default_rng(1), kernel.test)
    run = cuda.jit(rebound(kernel.function, numba, cuda))[problem.grid_for(kernel.block), kernel.block]
    start = time.perf_counter()
    run(*problem.arguments)
    print(time.perf_counter() - start)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}, capture_output=True, text=True
    )
    return float(done.stdout) if done.returncode == 0 else None


def with_threads(args, rest):
    """Runs this program once for each number of threads and shows the times side by side."""
    counts = [int(n) for n in args.threads.split(",")]
    runs = {}
    for n in counts:
        out = Path(f"{args.json or '/tmp/host'}.{os.getpid()}.{n}")
        env = {**os.environ, "PYPTX_HOST_THREADS": str(n), "OMP_NUM_THREADS": str(n)}
        subprocess.run([sys.executable, __file__, *rest, "--json", str(out)], env=env, check=True, stdout=sys.stderr)
        runs[n] = {row["kernel"]: row for row in json.loads(out.read_text())["rows"]}
        out.unlink()
    report = Report(
        "speed over one thread",
        [("kernel", 22), *((f"pyptx {n}", 9) for n in counts), *((f"openmp {n}", 9) for n in counts)],
    )
    for name, first in runs[counts[0]].items():
        if first["pyptx ms"] is None:
            continue
        gain = [[first[s] / runs[n][name][s] for n in counts] for s in ("pyptx ms", "openmp ms")]
        report.row(name, *gain[0], *gain[1])
    report.save(args.json)


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def main():
    p = parser(__doc__)
    p.add_argument("names", nargs="*", help="kernels whose name or title contains one of these")
    p.add_argument("--set", default="first", help="which set of kernels (default: the first)")
    p.add_argument("--scale", type=float, default=1.0, help="times the work of each kernel's usual problem")
    p.add_argument("--threads", help="numbers of threads, separated by commas")
    p.add_argument("--unchecked", action="store_true", help="also without checks of indices")
    p.add_argument("--simulator", action="store_true", help="also Numba's simulator, on a small problem")
    args = p.parse_args()
    if args.threads:
        return with_threads(args, [*args.names, "--set", args.set, "--scale", str(args.scale)])
    from kernels import pick
    from kernels.native import compiler, openmp_library
    from pyptx import cuda

    kernels = pick(args.names, args.set)
    library = openmp_library(kernels) if compiler() else None
    if not library:
        print("no C compiler: nothing to compare with")
    columns = [("kernel", 22), ("pyptx ms", 10), ("openmp ms", 10), ("pyptx/openmp", 12), ("GB/s", 7), ("GFLOP/s", 8)]
    if args.unchecked:
        columns += [("unchecked ms", 12), ("checks cost", 11)]
    if args.simulator:
        columns += [("simulator s", 11), ("times slower", 12)]
    report = Report(f"host device: {cuda.get_current_device().name}", [*columns, ("right", 5)])
    ratios, wrong = [], 0
    for kernel in kernels:
        problem, t, passed = measure(kernel, library, args)
        wrong += not passed
        ours, theirs = t["pyptx"], t.get("openmp")
        ratio = ours / theirs if theirs else None
        if ratio:
            ratios.append(ratio)
        cells = [kernel.name, ours * 1e3, theirs and theirs * 1e3, ratio, problem.bytes / ours / 1e9]
        cells.append(problem.flops / ours / 1e9)
        if args.unchecked:
            cells += [t["unchecked"] * 1e3, ours / t["unchecked"]]
        if args.simulator:
            cells += simulator_cells(kernel, args)
        report.row(*cells, "yes" if passed else "NO")
    empty = len(report.columns) - 5
    report.row("geometric mean", None, None, geometric_mean(ratios), *[None] * empty, None)
    cores = int(os.environ.get("PYPTX_HOST_THREADS", len(os.sched_getaffinity(0))))
    tiles = [row for row in report.rows if row["kernel"] == "matmul_tiled16"]
    if tiles:
        print(f"matmul with 16x16 tiles: {tiles[0]['GFLOP/s'] / cores:.2f} GFLOP/s a core, {cores} threads")
    report.save(args.json, device=cuda.get_current_device().name, threads=cores)
    return 1 if wrong else 0


def simulator_cells(kernel, args):
    from pyptx import cuda

    problem = kernel.problem(np.random.default_rng(1), kernel.test)
    call, _ = device_side(cuda, kernel, problem, problem.arguments)
    call()
    ours = statistics.median(timed(call) for _ in range(BATCHES))
    theirs = simulator_seconds(kernel, problem.arguments, problem.grid_for(kernel.block), kernel.block)
    return [theirs, theirs and theirs / ours]


if __name__ == "__main__":
    sys.exit(main())
