"""Sweeps: a kernel along an axis of its problem beside nvcc, and where it is the worst.

blocks    every block size that the kernel declares
extents   sizes around a multiple of the block: one less, one more, half a block more, and a prime
widths    lengths of a row, 1 to 300 and wide odd ones, as many rows as keep the work
thin      one extent tiny, the others as long as keeps the work

Points below 10 µs are compared by their difference: there a ratio says how two launches differ.
"""

import inspect
import math
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
from kernels.declare import dims

AXES = ("blocks", "extents", "widths", "thin")
SHORT = 0.01  # ms; below it a difference counts
MORE_ROWS = 8  # than the usual problem has, at most, where rows are short
LONGEST = {2: 400_000, 3: 4_000}  # an extent beside a tiny one: the grid's y and z have 65,535 blocks


@dataclass(frozen=True)
class Point:
    label: str
    at: float  # its place on the axis
    block: Any
    problem: Callable[[], Any]  # makes the arguments, the same each time


@dataclass
class Sweep:
    """A kernel along an axis: rows are {"at", "label", "pyptx ms", "nvcc ms", "/nvcc", "right"}."""

    kernel: str
    axis: str
    rows: list = field(default_factory=list)

    def compared(self):
        return [row for row in self.rows if row["/nvcc"] and row["pyptx ms"] >= SHORT]

    def short(self):
        return [row for row in self.rows if row["/nvcc"] and row["pyptx ms"] < SHORT]

    def worst(self):
        """The row with the largest ratio of those that take 10 µs; None where there is none."""
        return max(self.compared(), key=lambda row: row["/nvcc"], default=None)

    def latest(self):
        """The row that is the most microseconds behind of the shorter ones."""
        return max(self.short(), key=lambda row: row["pyptx ms"] - row["nvcc ms"], default=None)

    def __str__(self):
        said = []
        worst, latest = self.worst(), self.latest()
        if worst:
            mean = math.exp(sum(math.log(row["/nvcc"]) for row in self.compared()) / len(self.compared()))
            said.append(f"worst {worst['/nvcc']:.3f} at {worst['label']}, geometric mean {mean:.3f} of {len(self.compared())}")
        if latest:
            behind = 1000 * (latest["pyptx ms"] - latest["nvcc ms"])
            said.append(f"below 10 µs at most {behind:+.2f} µs, at {latest['label']}, of {len(self.short())}")
        return f"{self.kernel} along {self.axis}: {'; '.join(said) or 'nothing to compare with'}"


# --- points


def made(kernel, n, **of):
    return lambda: kernel.problem(np.random.default_rng(1), n, **of)


def shown(block):
    return "x".join(map(str, block)) if isinstance(block, tuple) else str(block)


def blocks(kernel, n):
    return [Point(shown(block), at, block, made(kernel, n)) for at, block in enumerate(kernel.sweep)]


def prime_below(n):
    while n > 2 and any(n % k == 0 for k in range(2, math.isqrt(n) + 1)):
        n -= 1
    return n


def extents(kernel, n):
    if kernel.step != 1 or not (kernel.sweep or kernel.widths or kernel.thin):
        return []
    unit = max(dims(kernel.block)) if kernel.power == 1 else 32
    base = max(n // unit, 1) * unit
    sizes = sorted({size for size in (prime_below(base), base - 1, base, base + 1, base + unit // 2) if size > 0})
    return [Point(f"n={size:,}", at, kernel.block, made(kernel, size)) for at, size in enumerate(sizes)]


def widths(kernel, n):
    """As many rows as make the elements of the usual problem."""
    if not kernel.widths:
        return []
    usual = inspect.signature(kernel.problem).parameters["width"].default
    rows = {width: max(1, min(MORE_ROWS * n, round(n * usual / width))) for width in kernel.widths}
    return [Point(f"width={width}", width, kernel.block, made(kernel, count, width=width)) for width, count in rows.items()]


def thin(kernel, n):
    points = []
    for at, shape in enumerate(kernel.thin):
        free = shape.count(-1)
        tiny = math.prod(extent for extent in shape if extent > 0)
        long = max(1, min(round((n**kernel.power / tiny) ** (1 / free)), LONGEST[len(shape)]))
        shape = tuple(long if extent < 0 else extent for extent in shape)
        points.append(Point("x".join(map(str, shape)), at, kernel.block, made(kernel, n, shape=shape)))
    return points


def points(kernel, axis, n):
    """The points of a kernel along an axis, for a usual problem of size n; [] where it has none."""
    return {"blocks": blocks, "extents": extents, "widths": widths, "thin": thin}[axis](kernel, n)


def axes_of(text):
    """"widths,thin" or "all" as axes."""
    axes = AXES if text == "all" else tuple(text.split(","))
    unknown = [axis for axis in axes if axis not in AXES]
    if unknown:
        raise SystemExit(f"there is no axis {', '.join(unknown)}: {', '.join(AXES)}, all")
    return axes


# --- measuring

COLUMNS = [("kernel", 22), ("along", 8), ("at", 16), ("pyptx ms", 9), ("nvcc ms", 9), ("/nvcc", 7), ("µs more", 8), ("right", 6)]


def row_of(sweep, point, found):
    ms = found["ms"]
    texts = [ms[side] for side in ("nvcc", "nvcc int") if side in ms]
    ours, nvcc = ms.get("pyptx"), min(texts, default=None)
    wrong = [name for name, right in found["right"].items() if not right]
    return {
        "kernel": sweep.kernel, "along": sweep.axis, "at": point.label, "pyptx ms": ours, "nvcc ms": nvcc,
        "/nvcc": nvcc and ours / nvcc, "µs more": nvcc and 1000 * (ours - nvcc),
        "right": "yes" if not wrong else "NO: " + ", ".join(wrong),
    }  # fmt: skip


def tried(kernel, point, bench, upload):
    """What Bench.measure gives; of a point that cannot be launched why not, and the sweep goes on."""
    from pyptx.errors import ContextLostError

    problem = point.problem()
    try:
        return bench.measure(kernel, problem, problem.expected(), point.block, upload(problem))
    except ContextLostError:
        raise
    except (RuntimeError, ValueError) as error:
        return {"ms": {}, "right": {str(error).splitlines()[0]: False}}


def measured(kernel, axis, scale, bench, upload, report):
    """The Sweep of a kernel along an axis, None where it has none there."""
    sweep = Sweep(kernel.name, axis)
    for point in points(kernel, axis, kernel.scaled(kernel.gpu, scale)):
        row = row_of(sweep, point, tried(kernel, point, bench, upload))
        report.row(*(row[name] for name, _ in COLUMNS))
        sweep.rows.append({**row, "label": point.label, "at": point.at})
    return sweep if sweep.rows else None


def worst_of(sweeps):
    """What --json keeps of them beside the rows."""
    return [{"kernel": s.kernel, "along": s.axis, "worst": s.worst(), "below 10 µs": s.latest()} for s in sweeps]


def run(args, kernels, bench, upload, device):
    """Every sweep of the kernels along the axes asked for: the table, the worst points, the picture. The number of wrong points."""
    from _bench import Report
    from kernels.picture import draw_curves

    report, sweeps = Report(f"sweeps on {device}", COLUMNS), []
    for kernel in kernels:
        for axis in axes_of(args.along):
            sweep = measured(kernel, axis, args.scale, bench, upload, report)
            if sweep:
                sweeps.append(sweep)
                print(sweep, flush=True)
    print("\nthe worst point of each:")
    for sweep in sorted(sweeps, key=lambda s: -(s.worst() or {"/nvcc": 0})["/nvcc"]):
        print(f"  {sweep}")
    report.save(args.json, device=device, worst=worst_of(sweeps))
    if args.picture:
        args.picture.write_text(draw_curves(sweeps, device))
    return sum(row["right"] != "yes" for sweep in sweeps for row in sweep.rows)
