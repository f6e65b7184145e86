"""Runs programs on the device and in CPython, and compares types and bits.

Many programs are one kernel: a thread is a row of arguments, runs every program of the batch on it and
writes each result into a slot of its own, in an array of the result's dtype. Arguments, results and
scratch arrays are blocks of one array for each dtype. The types that the compiler inferred are read from
the typed SSA (inspect_types): int64 is not enough where a Python int was meant.
"""

import ast
import collections
import linecache
import math
import os
import re
import sys

import kinds
import numpy as np
import plain
import pyptx
import scalars
from accuracy import ulps_of
from kinds import STORED, WEAK_CAST
from programs import MATRIX, VECTOR, Program, program
from pyptx import cuda
from scalars import Array, Named, Tuple, Unspecified


COARSENED = collections.Counter()  # kernels that ran, by whether they have a second entry of several blocks


class Case:
    """A program with its meaning and its arguments for every row."""

    def __init__(self, program, meaning, rows, seed):
        self.program, self.meaning, self.rows = program, meaning, rows
        rng = np.random.default_rng(seed)
        self.arguments = {}
        for name, t in program.parameters.items():
            if isinstance(t, Array):
                shape = VECTOR if t.ndim == 1 else MATRIX
                self.arguments[name] = kinds.draw(rng, t.dtype, (rows, *shape))
            elif isinstance(t, Named):  # one for all rows: an argument of the launch
                self.arguments[name] = tuple(kinds.given(kinds.draw(rng, x, (1,))[0], x) for x in t)
            else:
                self.arguments[name] = kinds.draw(rng, t, (rows,))

    refused = False  # by an error at compile time that is right
    raised = {}  # by row: the variable that is read unset there
    skipped = ()  # rows that are not run with the others: these, and those that no rule fixes, which may come to such a read

    def expected(self, unset_is_zero=None):
        """(result columns, arrays after the run, rows that no rule fixes). unset_is_zero: None: as the device has it."""
        scalars.WRAPPED.clear()
        function, types = self.meaning.function(), self.program.parameters
        results = [self.zeros(t) for t in self.meaning.result]
        arrays = {n: kinds.loaded(a, types[n].dtype) for n, a in self.arguments.items() if isinstance(types[n], Array)}
        same = {n: function.__globals__[t.name](*self.arguments[n]) for n, t in types.items() if isinstance(t, Named)}
        unspecified = np.zeros(self.rows, bool)
        self.raised = {}
        scalars.UNSET_IS_ZERO[0] = device_name() != "host" if unset_is_zero is None else unset_is_zero
        with np.errstate(all="ignore"):
            for row in range(self.rows):
                arguments = [
                    arrays[n][row] if n in arrays else same[n] if n in same else kinds.given(self.arguments[n][row], t)
                    for n, t in types.items()
                ]
                before = {n: a[row].copy() for n, a in arrays.items()}
                try:
                    got = function(*arguments)
                except UnboundLocalError as e:
                    if len(e.args) < 2:  # scalars.read gives the name
                        raise AssertionError(f"the reference fails: {e!r}\n{self.program.source}") from None
                    self.raised[row] = e.args[1]
                    unspecified[row] = True
                    for n, a in before.items():
                        arrays[n][row] = a
                    continue
                except (Unspecified, OverflowError):  # NumPy 2.5 and later: counts of dates and spans beyond 64 bits
                    unspecified[row] = True
                    continue
                except Exception as e:
                    text = ast.unparse(self.meaning.module)
                    raise AssertionError(f"the reference fails: {e!r} {arguments}\n{self.program.source}\n{text}") from None
                for column, value, t in zip(results, got, self.meaning.result):
                    if scalars.type_of(value) != t:
                        raise AssertionError(f"the reference itself gives {type(value)} for {t}")
                    column[row] = kinds.row(t).packed(value)
        if self.meaning.reads_unset and not scalars.UNSET_IS_ZERO[0]:
            self.skipped = np.flatnonzero(unspecified)
        self.wrapped = set(scalars.WRAPPED)
        return results, {n: kinds.stored(a, types[n].dtype) for n, a in arrays.items()}, unspecified

    def remade(self, source):
        """The same arguments for a changed program."""
        names = {a.arg for n in ast.parse(source).body if getattr(n, "name", "") == "prog" for a in n.args.args}
        made = Case.__new__(Case)
        made.program = Program(source, {n: t for n, t in self.program.parameters.items() if n in names}, self.program.seed)
        made.meaning, made.rows = made.program.meaning(), self.rows
        made.arguments = {n: a for n, a in self.arguments.items() if n in names}
        return made

    def zeros(self, t):
        """An array for results of type t."""
        return np.zeros(self.rows, kinds.row(t).result_memory(STORED.get(t, t)))


def renamed(source, number):
    """The program as one of several."""
    return re.sub(r"\bprog", f"p{number}", source)


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
        self.types = {}  # of these arrays' elements
        self.named = {}  # argument name of the kernel → (class, fields) of a named tuple
        self.slots = []
        self.guards = {}  # number of a case some of whose rows raise → the column of those that do not
        body = []
        sources = []
        for k, case in enumerate(cases):
            sources.append(renamed(case.program.source, k))
            arguments = [self.argument(n, t, case, k) for n, t in case.program.parameters.items()]
            indent = 8 * " "
            if len(case.skipped):  # each would stop the launch
                runs = np.ones(self.rows, bool)
                runs[case.skipped] = False
                self.guards[k] = self.column("g", "bool", runs)
                body.append("        if {}[{}, i]:".format(*self.guards[k]))
                indent += "    "
            body.append(f"{indent}r = p{k}({', '.join(arguments)})")
            places = []
            for j, t in enumerate(case.meaning.result):
                stored = "int64" if scalars.is_date(t) else STORED.get(t, t)
                array = self.column("o", stored, case.zeros(t))
                places.append(array)
                body.append(f"{indent}{array[0]}[{array[1]}, i] = {kinds.row(t).result.format(f'r[{j}]')}")
            self.slots.append(places)
        names = [*self.columns, *self.named]
        head = [f"def kernel(n, {', '.join(names)}):", "    i = cuda.grid(1)", "    if i < n:"]
        self.source = "\n".join([*sources, *head, *body]) + "\n"

    def column(self, prefix, t, data):
        """Puts data beside the others of its type: (name of the kernel's argument, number)."""
        name = prefix + "_" + re.sub(r"\W+", "_", str(t))
        self.types[name] = t
        block = self.columns.setdefault(name, [])
        block.append(data)
        return name, len(block) - 1

    def argument(self, name, t, case, number):
        if isinstance(t, Named):
            self.named[f"n_{number}_{name}"] = re.sub(r"\bprog", f"p{number}", t.name), case.arguments[name]
            return f"n_{number}_{name}"
        dtype = t.dtype if isinstance(t, Array) else STORED.get(t, t)
        prefix = f"{name}{number}" if isinstance(t, Array) else "x"  # an array is an argument: whether it is written to is a question of its own
        array, k = self.column(prefix, dtype, case.arguments[name])
        if isinstance(t, Array):
            case.place = {**getattr(case, "place", {}), name: (array, k)}
        text = f"{array}[{k}, i]"
        return f"{WEAK_CAST[t]}({text})" if t in WEAK_CAST else text

    def compile(self, **options):
        file = f"<programs {id(self)}>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(keepends=True), file)
        scope = {"cuda": cuda, "np": np, "math": math, "pyptx": pyptx, "collections": collections, "__name__": __name__}
        exec(compile(self.source, file, "exec", dont_inherit=True), scope)
        self.scope = scope
        return cuda.jit(fma=False, **options)(scope["kernel"])

    def arrays(self):
        return {n: np.stack(block) for n, block in self.columns.items()}

    def run(self, **options):
        """Launches; (arrays after it, the kernel)."""
        kernel = self.compile(**options)
        arrays = self.arrays()
        given = self.given_for(arrays)
        self.launch(kernel, given)
        self.kernel, self.given = kernel, given
        COARSENED.update("neighbouring blocks" in str(o.coarsening) for o in kernel.overloads.values())
        return arrays, kernel

    def block(self):
        return min(self.rows, int(os.environ.get("PYPTX_SOAK_BLOCK") or (8 if os.environ.get("PYPTX_COARSEN") else 128)))  # 8: with a tail

    def given_for(self, arrays):
        """The arguments of a launch behind the number of rows, by name."""
        given = {n: kinds.launched(a, self.types[n]) for n, a in arrays.items()}
        return given | {n: self.scope[cls](*fields) for n, (cls, fields) in self.named.items()}

    def launch(self, kernel, given):
        kernel[-(-self.rows // self.block()), self.block()](self.rows, *given.values())
        cuda.synchronize()

    def run_unset(self, kernel, number, row):
        """Runs that row of that case, which reads a variable unset: what is wrong with its exception, or None."""
        arrays = self.arrays()
        for array, k in self.guards.values():
            arrays[array][k] = False
        array, k = self.guards[number]
        arrays[array][k, row] = True
        name = self.cases[number].raised[row]
        try:
            self.launch(kernel, self.given_for(arrays))
        except UnboundLocalError as e:
            at = e.block[0] * self.block() + e.thread[0]
            good = f"variable '{name}'" in str(e) and at == row
            return None if good else f"row {row} reads '{name}' unset, but the exception is of thread {at}: {e}"
        return f"row {row} reads '{name}' unset, and nothing is raised"

    def takes_read_only(self, name):
        """Whether a launch takes this array although it is read-only: the kernel must not write to it then."""
        array = self.given[name].view()
        array.flags.writeable = False
        try:
            self.launch(self.kernel, self.given | {name: array})
        except ValueError as e:
            if f"read-only: argument {[*self.given].index(name) + 2} ('{name}')" not in str(e):
                raise
            return False
        return True


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


def show(t):
    return repr(t) if isinstance(t, Named) else str(t)


class Failure:
    """What went wrong with one case, and the program that shows it."""

    def __init__(self, case, kind, text, options=None, error=None):
        self.case, self.kind, self.text, self.options, self.error = case, kind, text, options or {}, error

    def __str__(self):
        types = ", ".join(f"{n}: {show(t)}" for n, t in self.case.program.parameters.items())
        return f"seed {self.case.program.seed}: {self.kind} ({types}; {self.options})\n{self.text}"


def arguments_text(case, row):
    return ", ".join(f"{n}={a if isinstance(a, tuple) else a[row]!r}" for n, a in case.arguments.items())


def compare(case, slots, arrays, types, number, device):
    """None, or what differs."""
    wanted = kinds.shown(case.meaning.result)
    if types is not None and types.get(number) != wanted:
        return Failure(case, "types", f"inferred {types.get(number)}, NumPy's are {wanted}")
    results, after, unspecified = case.reference
    keep = ~unspecified
    for j, ((array, k), want) in enumerate(zip(slots, results)):
        got = arrays[array][k]
        name = case.meaning.inexact.get(j)
        t = case.meaning.result[j]
        ulps = ulps_of(name, STORED.get(t, t), device) if name else 0
        bad = ~kinds.equal(got, want, "int64" if scalars.is_date(t) else t, ulps) & keep
        if bad.any():
            row = int(np.argmax(bad))
            return Failure(
                case,
                "value",
                f"result {j} ({t}) in {int(bad.sum())} of {case.rows} rows; row {row}: "
                f"device {got[row]!r}, Python {want[row]!r}\n"
                + arguments_text(case, row),
            )
    for name, want in after.items():
        array, k = case.place[name]
        got = arrays[array][k]
        bad = ~kinds.equal(got, want, case.program.parameters[name].dtype)
        bad[unspecified] = False
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return Failure(
                case,
                "array",
                f"{name}[{at[1:]}] in row {at[0]}: device {got[at]!r}, Python {want[at]!r}\n"
                + arguments_text(case, at[0]),
            )
    return None


def unseen_store(case, batch):
    """None, or the array that the program changes and that the kernel takes read-only: then it is not copied back from a GPU either."""
    _, after, unspecified = case.reference
    for name, want in after.items():
        t = case.program.parameters[name].dtype
        changed = ~kinds.equal(kinds.stored(kinds.loaded(case.arguments[name], t), t), want, t)[~unspecified]
        if changed.any() and batch.takes_read_only(case.place[name][0]):
            return Failure(case, "read-only", f"the kernel writes to {name}, and takes it read-only")
    return None


def device_name():
    return "host" if os.environ.get("PYPTX_DEVICE", "host") == "host" else "cuda"


def faults():
    """What the PTX did wrong, where it runs on the CPU (tests/ptx_on_cpu); the device works again."""
    machine = sys.modules.get("ptx_on_cpu")
    return machine.clear() if machine else []


def known_not_to_fit(case, error):
    """Whether the compiler refuses a Python int whose value it knows, for which NumPy has an OverflowError as well: the reference had to wrap it."""
    found = re.search(r"PT206: the integer (-?\d+) does not fit (\w+)", str(error)) if isinstance(error, OverflowError) else None
    beyond = re.search(r"PT206: .* does not fit (64 bits|int64)", str(error)) and case.reference[2].all()
    return beyond or (found is not None and (int(found[1]), found[2]) in case.wrapped)


def known_never_set(case, error):
    """Whether the compiler refuses a variable that it knows no path to set, and in the reference every row reads it unset."""
    found = re.search(r"PT201: variable '(\w+)'", str(error)) if isinstance(error, UnboundLocalError) else None
    if found is None:
        return False
    unspecified = case.expected(unset_is_zero=False)[2]  # the rows that raise among them
    return unspecified.all() and set(case.raised.values()) <= {found[1]}


def is_of_reference(failure):
    """Whether CPython, running the program itself, gives what the device gave, or never comes to what the compiler refuses."""
    case = failure.case
    if failure.kind == "exception":
        known = isinstance(failure.error, OverflowError) and "PT206" in str(failure.error)
        return known and plain.no_row_runs(case, failure.error, renamed(case.program.source, 0), "p0")
    if failure.kind not in ("types", "value", "array"):
        return False
    batch = Batch([case])
    arrays, kernel = batch.run(**failure.options)
    return plain.agrees(case, batch.slots[0], arrays, inferred_types(kernel)[0])


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
        text = "\n".join([f"{type(e).__name__}: {e}", *faults()])
        if len(cases) == 1:
            cases[0].refused = known_not_to_fit(cases[0], e) or known_never_set(cases[0], e)
            return [] if cases[0].refused else [Failure(cases[0], "exception", text, dict(opt=opt), e)]
        failures = [f for c in cases for f in check([c], opt, types)]
        if failures or any(c.refused for c in cases):
            return failures
        return [Failure(cases[0], "batch", f"only the batch fails: {text}", dict(opt=opt))]
    failures = []
    for number, (case, slots) in enumerate(zip(cases, batch.slots)):
        failure = compare(case, slots, arrays, found, number, device_name())
        failure = failure or unseen_store(case, batch)
        if not failure and case.raised:
            wrong = batch.run_unset(kernel, number, min(case.raised))
            failure = Failure(case, "unset", wrong + "\n" + arguments_text(case, min(case.raised))) if wrong else None
        if failure:
            failure.options = dict(opt=opt)
            failures.append(failure)
    return failures


__all__ = ["Batch", "Case", "Failure", "Tuple", "case_of", "check", "compare", "is_of_reference"]
