"""Runs programs on the device and in CPython, and compares types and bits.

Many programs are one kernel: a thread is a row of arguments, runs every program of the batch on it and
writes each result into a slot of its own, in an array of the result's dtype. Arguments, results and
scratch arrays are blocks of one array for each dtype. The types that the compiler inferred are read from
the typed SSA (inspect_types): int64 is not enough where a Python int was meant.
"""

import ast
import linecache
import math
import os
import re

import numpy as np
import scalars
from accuracy import ulps_of
from programs import MATRIX, STORED, VECTOR, program, values
from pyptx import cuda
from scalars import STRONG, Array, Tuple, Unspecified

WEAK_CAST = {"pybool": "bool", "pyint": "int", "pyfloat": "float"}


class Case:
    """A program with its meaning and its arguments for every row."""

    def __init__(self, program, meaning, rows, seed):
        self.program, self.meaning, self.rows = program, meaning, rows
        rng = np.random.default_rng(seed)
        self.arguments = {}
        for name, t in program.parameters.items():
            if isinstance(t, Array):
                shape = VECTOR if t.ndim == 1 else MATRIX
                self.arguments[name] = values(rng, t.dtype, rows * math.prod(shape)).reshape(rows, *shape)
            else:
                self.arguments[name] = values(rng, STORED.get(t, t), rows)

    def expected(self):
        """(result columns, arrays after the run, rows that no rule fixes)."""
        function, types = self.meaning.function(), self.program.parameters
        results = [np.zeros(self.rows, STRONG[STORED.get(t, t)]) for t in self.meaning.result]
        arrays = {n: a.copy() for n, a in self.arguments.items() if isinstance(types[n], Array)}
        unspecified = np.zeros(self.rows, bool)
        with np.errstate(all="ignore"):
            for row in range(self.rows):
                given = [
                    arrays[n][row]
                    if isinstance(t, Array)
                    else scalars.CONVERT[t](self.arguments[n][row])
                    for n, t in types.items()
                ]
                try:
                    got = function(*given)
                except Unspecified:
                    unspecified[row] = True
                    continue
                except Exception as e:
                    text = ast.unparse(self.meaning.module)
                    raise AssertionError(f"the reference fails: {e!r} {given}\n{self.program.source}\n{text}") from None
                for column, value, t in zip(results, got, self.meaning.result):
                    if scalars.type_of(value) != t:
                        raise AssertionError(f"the reference itself gives {type(value)} for {t}")
                    column[row] = value
        return results, arrays, unspecified


def case_of(seed, rows):
    made, found = program(seed)
    return Case(made, found, rows, abs(hash(str(seed))) if isinstance(seed, tuple) else seed)


# --- one kernel of many programs
# ---------------------------------------------------------------------------------------


class Batch:
    """The kernel of some cases: its source, its arguments, where the results lie."""

    def __init__(self, cases):
        self.cases, self.rows = cases, cases[0].rows
        self.columns = {}  # argument name of the kernel → list of columns (or shapes of results)
        self.slots = []
        body = []
        sources = []
        for k, case in enumerate(cases):
            sources.append(re.sub(r"\bprog", f"p{k}", case.program.source))
            arguments = [self.argument(n, t, case) for n, t in case.program.parameters.items()]
            body.append(f"        r = p{k}({', '.join(arguments)})")
            places = []
            for j, t in enumerate(case.meaning.result):
                array = self.column(f"o_{STORED.get(t, t)}", np.zeros(self.rows, STRONG[STORED.get(t, t)]))
                places.append(array)
                body.append(f"        {array[0]}[{array[1]}, i] = r[{j}]")
            self.slots.append(places)
        names = list(self.columns)
        head = [f"def kernel(n, {', '.join(names)}):", "    i = cuda.grid(1)", "    if i < n:"]
        self.source = "\n".join([*sources, *head, *body]) + "\n"

    def column(self, name, data):
        block = self.columns.setdefault(name, [])
        block.append(data)
        return name, len(block) - 1

    def argument(self, name, t, case):
        dtype = t.dtype if isinstance(t, Array) else STORED.get(t, t)
        prefix = {"s": "s", "m": "m"}.get(name, "x")
        array, k = self.column(f"{prefix}_{dtype}", case.arguments[name])
        if isinstance(t, Array):
            case.place = {**getattr(case, "place", {}), name: (array, k)}
        text = f"{array}[{k}, i]"
        return f"{WEAK_CAST[t]}({text})" if t in WEAK_CAST else text

    def compile(self, **options):
        file = f"<programs {id(self)}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        scope = {"cuda": cuda, "np": np, "math": math}
        exec(compile(self.source, file, "exec", dont_inherit=True), scope)
        return cuda.jit(fma=False, **options)(scope["kernel"])

    def arrays(self):
        return {n: np.stack(block) for n, block in self.columns.items()}

    def run(self, **options):
        """Launches; (arrays after it, the kernel)."""
        kernel = self.compile(**options)
        arrays = self.arrays()
        block = min(self.rows, 128)
        kernel[-(-self.rows // block), block](self.rows, *arrays.values())
        cuda.synchronize()
        return arrays, kernel


RESULT = re.compile(r"^func (\w+)\(.*\) -> (.*) \{$", re.M)


def inferred_types(kernel):
    """{number of the program: text of its result type}, from the typed SSA."""
    (text,) = kernel.inspect_types().values()
    found = {}
    for name, result in RESULT.findall(str(text)):
        match = re.fullmatch(r"p(\d+)(__\d+)?", name)
        if match:
            found[int(match[1])] = result
    return found


# --- comparing
# -----------------------------------------------------------------------------------------------------------


def ordered(x):
    """Floats as integers in their order, so that neighbours differ by 1."""
    bits = np.ascontiguousarray(x).view(f"i{x.itemsize}").astype(object)
    low = -(1 << (8 * x.itemsize - 1))
    return np.where(bits < 0, low - bits, bits)


def equal(got, want, ulps=0):
    """Elementwise: the same bits, any nan like any nan; with ulps, that many representable numbers apart."""
    if got.dtype.kind != "f":
        return got == want
    bits = f"u{got.itemsize}"
    same = np.ascontiguousarray(got).view(bits) == np.ascontiguousarray(want).view(bits)
    same |= np.isnan(got) & np.isnan(want)
    if ulps and not same.all():
        near = np.abs(ordered(got) - ordered(want)) <= ulps
        same |= near.astype(bool) & ~np.isnan(got) & ~np.isnan(want)
    return same


def show(t):
    return f"{t.dtype}[{t.ndim}]" if isinstance(t, Array) else str(t)


class Failure:
    """What went wrong with one case, and the program that shows it."""

    def __init__(self, case, kind, text, options=None):
        self.case, self.kind, self.text, self.options = case, kind, text, options or {}

    def __str__(self):
        types = ", ".join(f"{n}: {show(t)}" for n, t in self.case.program.parameters.items())
        return f"seed {self.case.program.seed}: {self.kind} ({types}; {self.options})\n{self.text}"


def compare(case, slots, arrays, types, number, device):
    """None, or what differs."""
    wanted = str(case.meaning.result)
    if types is not None and types.get(number) != wanted:
        return Failure(case, "types", f"inferred {types.get(number)}, NumPy's are {wanted}")
    results, after, unspecified = case.reference
    keep = ~unspecified
    for j, ((array, k), want) in enumerate(zip(slots, results)):
        got = arrays[array][k]
        name = case.meaning.inexact.get(j)
        ulps = ulps_of(name, want.dtype.name, device) if name else 0
        bad = ~equal(got, want, ulps) & keep
        if bad.any():
            row = int(np.argmax(bad))
            return Failure(
                case,
                "value",
                f"result {j} ({case.meaning.result[j]}) in {int(bad.sum())} of {case.rows} rows; row {row}: "
                f"device {got[row]!r}, Python {want[row]!r}\n"
                + ", ".join(f"{n}={a[row]!r}" for n, a in case.arguments.items()),
            )
    for name, want in after.items():
        array, k = case.place[name]
        got = arrays[array][k]
        bad = ~equal(got, want)
        bad[unspecified] = False
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return Failure(
                case,
                "array",
                f"{name}[{at[1:]}] in row {at[0]}: device {got[at]!r}, Python {want[at]!r}\n"
                + ", ".join(f"{n}={a[at[0]]!r}" for n, a in case.arguments.items()),
            )
    return None


def device_name():
    return "host" if os.environ.get("PYPTX_DEVICE", "host") == "host" else "cuda"


def check(cases, opt=3, types=True, isolated=False):
    """Runs the cases as one kernel; the failures. A batch that cannot run is tried program by program."""
    for case in cases:
        if not hasattr(case, "reference"):
            case.reference = case.expected()
    batch = Batch(cases)
    try:
        arrays, kernel = batch.run(opt=opt)
        found = None
        if types:
            found = inferred_types(kernel)
    except Exception as e:
        if len(cases) == 1:
            return [Failure(cases[0], "exception", f"{type(e).__name__}: {e}", dict(opt=opt))]
        return [f for c in cases for f in check([c], opt, types)] or [
            Failure(cases[0], "batch", f"only the batch fails: {type(e).__name__}: {e}", dict(opt=opt))
        ]
    failures = []
    for number, (case, slots) in enumerate(zip(cases, batch.slots)):
        failure = compare(case, slots, arrays, found, number, device_name())
        if failure:
            failure.options = dict(opt=opt)
            failures.append(failure)
    return failures


__all__ = ["Batch", "Case", "Failure", "Tuple", "case_of", "check", "compare"]
