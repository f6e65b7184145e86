"""How compile time grows with the size of generated kernels, of the shapes of scaling_shapes.py.

    python bench/scaling.py [--json OUT] [--arch sm_90] [--largest 1] [--shape NAME ...] [--device gpu|host]

Prints milliseconds to PTX and to host code for each size, microseconds each line (loop, case, call, ...), and the exponent of the growth from
the smallest to the largest (1: proportional to size); --largest 0.25 stops at a quarter of the sizes. At the end what the process
holds after the largest kernel of lines, and after five more times: memory is returned.
"""

import gc
import math
import time
from pathlib import Path

import numpy as np
import scaling_shapes as shapes
from _bench import Report, parser
from pyptx import _pyptx, cuda


def define(source, name):
    scope = {"cuda": cuda, "math": math, "np": np}
    exec(compile(source, f"<{name}>", "exec"), scope)
    return scope[name]


def resident_kib():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def milliseconds(kernel, arch, repeat=3, signature=shapes.TWO_ARRAYS, **options):
    """Best processor time to PTX, or for arch None to code of this CPU; it varies less than the clock's on a busy machine."""
    best = math.inf
    for _ in range(repeat):
        start = time.thread_time()
        _pyptx._compile(kernel, signature, "nvptx" if arch else "host", arch, 0, options, "ptx")
        best = min(best, 1e3 * (time.thread_time() - start))
    return best


def exponent(sizes, times):
    """Of the growth between the ends."""
    return math.log(times[-1] / times[0]) / math.log(sizes[-1] / sizes[0])


def curve(report, shape, sizes, arch):
    times = []
    for n in sizes:
        ms = milliseconds(define(shape(n), "kernel"), arch, 3, shapes.signature(shape, n))
        times.append(ms)
        grown = exponent(sizes, times) if n == sizes[-1] else None
        report.row(shape.__name__, "gpu" if arch else "host", n, ms, 1e3 * ms / n, resident_kib() / 1024, grown)


def main():
    p = parser(__doc__)
    p.add_argument("--arch", default="sm_90")
    p.add_argument("--largest", type=float, default=1)
    p.add_argument("--shape", nargs="*", default=[f.__name__ for f in shapes.SIZES])
    p.add_argument("--device", choices=["gpu", "host"], nargs="*", default=["gpu", "host"])
    args = p.parse_args()
    report = Report(
        f"bytecode to PTX for {args.arch}, and to machine code of the host",
        [("shape", 18), ("for", 5), ("size", 6), ("ms", 9), ("us each", 8), ("resident MiB", 12), ("exponent", 8)],
    )
    for shape, sizes in shapes.SIZES.items():
        for device in args.device if shape.__name__ in args.shape else []:
            most = sizes[device] * args.largest
            curve(report, shape, [int(most / by) for by in (8, 4, 2, 1)], args.arch if device == "gpu" else None)
    lines = int(8000 * args.largest)
    largest = define(shapes.straight_lines(lines), "kernel")
    milliseconds(largest, args.arch, 1)
    gc.collect()
    before = resident_kib()
    milliseconds(largest, args.arch, 5)
    gc.collect()
    print(
        f"resident after {lines} lines {before / 1024:.1f} MiB, after five more times {resident_kib() / 1024:.1f} MiB"
    )
    report.save(args.json, arch=args.arch)


if __name__ == "__main__":
    main()
