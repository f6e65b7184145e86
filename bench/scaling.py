"""How compile time grows: generated kernels of more and more lines, and call trees of more and more functions.

    python bench/scaling.py [--json OUT] [--arch sm_90] [--largest 8000]

Prints milliseconds to PTX (and to host code) for each size, microseconds a line (or function), and at the end the exponent of the growth,
fitted over the sizes (1: proportional to size), and what the process holds after the largest one compared with
what it held after the first round: memory is returned.
"""

import gc
import math
import time
from pathlib import Path

import numpy as np
from _bench import Report, parser
from pyptx import _pyptx, cuda


def define(source, name):
    scope = {"cuda": cuda, "math": math, "np": np}
    exec(compile(source, f"<{name}>", "exec"), scope)
    return scope[name]


def straight_lines(n):
    """A kernel of about n lines: arithmetic with a branch and a loop here and there, on few variables."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    x = a[i]", "    y = b[i]", "    k = 0"]
    while len(lines) < n:
        j = len(lines)
        if j % 40 == 0:
            lines += [f"    if x > {j}.0:", "        y = x - y", "    else:", "        k = k + 1"]
        elif j % 97 == 0:
            lines += ["    for j in range(k):", "        x = x + b[j]"]
        else:
            lines.append(
                (f"    x = x * y + {j}.0", f"    y = a[i + {j}] - x", f"    k = (k ^ {j}) + i")[j % 3]
            )
    lines.append("    b[i] = x + y + k")
    return "\n".join(lines) + "\n"


def choices(n):
    """A chain of n elif, each with a checked access of its own."""
    lines = ["def kernel(a, b):", "    i = cuda.grid(1)", "    if i == 0:", "        b[i] = a[i]"]
    for k in range(1, n + 1):
        lines += [f"    elif i == {k}:", f"        b[i] = a[i] + {k}"]
    return "\n".join(lines) + "\n"


def call_tree(n):
    """n functions, each calling two others (as a binary tree, from the leaves up), and a kernel that calls the root."""
    lines = []
    for k in reversed(range(n)):
        below = [c for c in (2 * k + 1, 2 * k + 2) if c < n]
        terms = " + ".join(f"f{c}(x * {c}.0, k + {c})" for c in below) or "x * x + k"
        lines += [f"def f{k}(x, k):", f"    if k > {k}:", "        x = x + k", f"    return {terms}"]
    lines += ["def kernel(a, b):", "    i = cuda.grid(1)", "    b[i] = f0(a[i], i)"]
    return "\n".join(lines) + "\n"


def resident_kib():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def milliseconds(kernel, arch, repeat=3):
    """Best processor time to PTX, or for arch None to machine code of this CPU; it varies less than the clock's on a busy machine."""
    target, wanted = ("nvptx", "ptx") if arch else ("host", "asm")
    best = math.inf
    for _ in range(repeat):
        start = time.thread_time()
        _pyptx._compile(kernel, "float32[::1], float32[::1]", target, arch, 0, {}, wanted)
        best = min(best, 1e3 * (time.thread_time() - start))
    return best


def exponent(sizes, times):
    """Slope of log(time) over log(size), by least squares."""
    x, y = np.log(sizes), np.log(times)
    return float(np.polyfit(x, y, 1)[0])


def curve(report, what, source, sizes, arch):
    times = []
    for n in sizes:
        ms = milliseconds(define(source(n), "kernel"), arch)
        times.append(ms)
        report.row(what, n, ms, 1e3 * ms / n, resident_kib() / 1024)
    return exponent(sizes, times)


def main():
    p = parser(__doc__)
    p.add_argument("--arch", default="sm_90")
    p.add_argument("--largest", type=int, default=8000)
    args = p.parse_args()
    report = Report(
        f"bytecode to PTX for {args.arch}, and to machine code of the host",
        [("what", 12), ("size", 6), ("ms", 9), ("us each", 8), ("resident MiB", 12)],
    )
    lines = [n for n in (250, 500, 1000, 2000, 5000, 8000) if n <= args.largest]
    functions = [n for n in (25, 50, 100, 200, 400) if n * 20 <= args.largest]
    grow_lines = curve(report, "lines", straight_lines, lines, args.arch)
    grow_functions = curve(report, "functions", call_tree, functions, args.arch)
    grow_host = curve(report, "lines, host", straight_lines, [n for n in lines if n <= 2000], None)
    grow_choices = curve(report, "elif, host", choices, [n for n in lines if n <= 1000], None)
    largest = define(straight_lines(lines[-1]), "kernel")
    gc.collect()
    before = resident_kib()
    for _ in range(5):
        milliseconds(largest, args.arch, 1)
    gc.collect()
    after = resident_kib()
    report.save(
        args.json,
        arch=args.arch,
        exponent_lines=grow_lines,
        exponent_functions=grow_functions,
        exponent_host=grow_host,
        exponent_elif_host=grow_choices,
    )
    print(
        f"\ntime grows with size to the power {grow_lines:.2f} (lines), {grow_functions:.2f} (functions), "
        f"{grow_host:.2f} (lines, host), {grow_choices:.2f} (elif, host)"
    )
    print(f"resident after {lines[-1]} lines {before / 1024:.1f} MiB, after five more times {after / 1024:.1f} MiB")


if __name__ == "__main__":
    main()
