"""The magics of `%load_ext pyptx`: `%%pyptx` compiles the kernels of a cell and shows what became of them, `%cuda_timeit` and `%%cuda_timeit`
measure on the device. Imported by IPython's users alone."""

import argparse
import ast
import re
import shlex
from html import escape

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_cell_magic, magics_class
from IPython.display import display

from pyptx import _html, _pyptx, _tools, cli
from pyptx._sources import Usage, is_dispatcher
from pyptx.errors import CompileError, show_advice

TEXTS = {"ptx": "ptx", "types": "types", "ssa": "ssa", "llvm": "llvm", "llvm-opt": "llvm_opt"}


# --- %%pyptx ---


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(f"%%pyptx: {message}")


def parser():
    p = Parser(prog="%%pyptx", add_help=False)
    p.add_argument("--sig", "-s", action="append", default=[])
    p.add_argument("--arch")
    p.add_argument("--emit", type=lambda text: [name.strip() for name in text.split(",")])
    return p


def default_arch():
    device = _pyptx.get_current_device()
    if device.is_host:
        return cli.DEFAULT_ARCH
    return "sm_%d%d" % device.compute_capability


COUNTED = [  # name, pattern of an instruction's opcode
    ("global loads", r"ld\.global"), ("global stores", r"st\.global"), ("shared memory", r"(ld|st|atom|red)\.shared"), ("local memory", r"(ld|st)\.local"),
    ("atomics", r"(atom|red)\."), ("barriers", r"(bar|barrier)\."), ("float64", r"(?!ld|st|mov).*\.f64"), ("branches", r"bra\b"),
]  # fmt: skip


def count_instructions(ptx):
    """[(kind, number)] of what there is in PTX, all instructions first."""
    code = [match[1] for line in ptx.splitlines() if (match := re.match(r"\s+(?:@!?%p\d+\s+)?([a-z][\w.]*)[^:]*;", line))]
    counts = [(name, sum(re.match(pattern, opcode) is not None for opcode in code)) for name, pattern in COUNTED]
    return [("instructions", len(code)), *((name, n) for name, n in counts if n)]


def resources(ptx, symbol, arch):
    """[(kind, number)] of what ptxas says, or why it says nothing."""
    try:
        usage = _tools.read_usage(_tools.assemble(ptx, arch)[1], symbol)
    except (_tools.ToolError, CompileError) as error:
        return [("registers", f"not known: {str(error).splitlines()[0]}")]
    return [("registers", usage.registers), ("shared memory", f"{usage.shared} bytes"), ("stack", f"{usage.stack} bytes"),
            ("spills", f"{usage.spill_stores} bytes stored, {usage.spill_loads} loaded")]


class Compiled:
    """A kernel of a cell, compiled for a signature and an architecture: str() and what notebooks show."""

    def __init__(self, unit, arch, emit):
        __tracebackhide__ = True
        out = _pyptx._compile(unit.function, unit.signature, "nvptx", arch, 0, {}, ",".join(sorted({"ptx", *(TEXTS[name] for name in emit)})), unit.symbol)
        self.name, self.signature, self.arch = unit.name, unit.signature, arch
        show_advice(out["advice"], "__main__")
        self.texts = {name: out[TEXTS[name]] for name in emit}
        self.ptx = out["ptx"]
        self.facts = [*resources(self.ptx, out["symbol"], arch), *count_instructions(self.ptx)]

    @property
    def title(self):
        return f"{self.name}({self.signature.strip().removeprefix('(').removesuffix(')')}) for {self.arch}"

    def __str__(self):
        facts = [f"  {name}: {value}" for name, value in self.facts]
        return "\n".join([self.title, *facts, *(f"\n--- {name}\n{text.rstrip()}" for name, text in self.texts.items())])

    def _repr_pretty_(self, printer, cycle):
        printer.text(str(self))

    def _repr_html_(self):
        shown = "".join(f"<details{' open' * (len(self.texts) == 1)}><summary>{escape(name)}</summary><pre>{escape(text)}</pre></details>"
                        for name, text in self.texts.items())
        return _html.titled(self.title, _html.table(self.facts), shown)


def what_to_show(unit, arch, emit):
    """The kernel's report, or texts of the compiler where some are asked for or there is no report."""
    __tracebackhide__ = True
    report = getattr(unit.function, "report", None)
    if report and not emit:
        return report(unit.signature, arch=arch)
    return Compiled(unit, arch, emit or ["types", "ptx"])


def kernels_of(before, after):
    """{name: kernel} of what a cell has defined, in the order of its lines."""
    found = {name: value for name, value in after.items() if is_dispatcher(value) and before.get(name) is not value and not value.device
             and not name.startswith("_")}
    first = {id(value): name for name, value in reversed(found.items())}  # each once
    return dict(sorted(((first[id(value)], value) for value in found.values()), key=lambda item: item[1].py_func.__code__.co_firstlineno))


# --- %cuda_timeit ---

LOOPS = """
def _loops():
    pass
    _n = yield
    while True:
        for _i in range(_n):
            pass
        _n = yield
"""


def loops_of(setup, statement, filename):
    """The tree of a generator: what it is sent is how often it executes the statement. A generator, so that the setup is executed once
    and its variables are the statement's."""
    tree = ast.parse(LOOPS, filename)
    body = tree.body[0].body
    body[2].body[0].body = ast.parse(statement, filename).body or [ast.Pass()]
    body[0:1] = ast.parse(setup, filename).body
    return ast.fix_missing_locations(tree)


class CellFailed(Exception):
    """The cell's own code raised, and that has been shown: the cell fails, so that "run all" stops there."""

    def _render_traceback_(self):  # IPython's word for what it prints
        return []


@magics_class
class PyptxMagics(Magics):
    """What `%load_ext pyptx` adds."""

    @property
    def number(self):
        """Of the cell that is running. The shell's own count may be ahead."""
        return max(len(self.shell.user_ns.get("In", ())) - 1, 0) or self.shell.execution_count

    def run(self, cell):
        count = self.shell.execution_count
        self.shell.execution_count = self.number
        try:
            return self.shell.run_cell(cell, store_history=False)
        finally:
            self.shell.execution_count = count

    @cell_magic("pyptx")
    def pyptx_cell(self, line, cell):
        """%%pyptx [--sig TYPES]... [--arch sm_90] [--emit ptx,types,ssa,llvm,llvm-opt]

        Run the cell, compile the kernels that it defines and show what became of them. No GPU is needed.

        --sig: argument types, as "float32[:], int32"; KERNEL=TYPES; as `pyptx compile` takes them. Kernels with declared signatures need none.
        --arch: the architecture, or a GPU's name as H100 (default: the current GPU's, else sm_75).
        --emit: texts of the compiler instead of the report.
        """
        try:
            args = parser().parse_args(shlex.split(line))
        except ValueError as error:
            raise UsageError(f"%%pyptx: {error}") from None
        wrong = [name for name in args.emit or () if name not in TEXTS]
        if wrong:
            raise UsageError(f"%%pyptx: '{wrong[0]}' cannot be emitted here; there are {', '.join(TEXTS)}")
        __tracebackhide__ = True  # IPython's word: an error is the cell's
        before = dict(self.shell.user_ns)
        if not self.run(f"#%%pyptx {line}\n{cell}").success:  # one line before, so that errors count as the cell does
            raise CellFailed
        kernels = kernels_of(before, self.shell.user_ns)
        if not kernels:
            raise UsageError("%%pyptx: this cell defines no @cuda.jit kernel")
        try:
            arch = cli.arch_name(args.arch) if args.arch else default_arch()
            if arch == "host":
                raise Usage("--arch host: what is shown is PTX; kernel.inspect_asm() has the host's code")
            units = cli.make_units(kernels, args.sig, [arch], {}, [])
        except Usage as error:
            raise UsageError(f"%%pyptx: {error}") from None
        for unit in units:
            display(what_to_show(unit, arch, args.emit))

    @line_cell_magic
    def cuda_timeit(self, line, cell=None):
        """%cuda_timeit [-n LOOPS] [-r RUNS] [-o] [-q] statement
        %%cuda_timeit [-n LOOPS] [-r RUNS] [-o] [-q] setup, and the statements below

        How long the statement's work takes on the current device: between two events of a GPU, by the clock on the host device, where a launch
        returns when it is done. It is executed once before, so that no compilation is measured.

        -n: loops of a run (default: so many that they take 0.2 s). -r: runs (default: 7). -o: return the result, with .median, .best, .worst,
        .spread and .all_runs in seconds. -q: print nothing.
        """
        from pyptx import _timing

        options, rest = self.parse_options(line, "n:r:oq", posix=False, strict=False, preserve_non_opts=True)
        try:
            loops, runs = int(options["n"]) if "n" in options else None, int(options.get("r", 7))
        except ValueError as error:
            raise UsageError(f"%cuda_timeit: {error}") from None
        if not (rest.strip() if cell is None else cell.strip()):
            raise UsageError("%cuda_timeit: there is no statement to measure")
        setup, statement = ("", rest) if cell is None else (rest, cell)
        transform = self.shell.transform_cell
        filename = self.shell.compile.cache(transform(statement), self.number, statement)
        tree = loops_of(transform(setup), transform(statement), filename)
        scope = {}
        exec(self.shell.compile(tree, filename, "exec"), self.shell.user_ns, scope)
        loop = scope["_loops"]()
        next(loop)
        try:
            timing = _timing.measure(loop.send, loops, runs)
        except ValueError as error:
            if str(error).endswith("at least 1 is needed"):
                raise UsageError(f"%cuda_timeit: {error}") from None
            raise
        if "q" not in options:
            print(timing)
        return timing if "o" in options else None


def load(shell):
    shell.register_magics(PyptxMagics)
