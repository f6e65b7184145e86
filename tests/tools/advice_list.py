"""tests/data/advice.txt: what the compiler advises of every kernel of the examples, of the benchmark and of tests/wild.

    python tests/tools/advice_list.py          # writes it; each new line is to be looked at: is it true, and would one thank for it?

Nothing is compiled further than advice takes. A wild test runs with kernels whose launches only ask for their types, up to where it misses
their results. The signatures of the examples are those of the file; where it is written, the examples run.
"""

import importlib
import inspect
import itertools
import linecache
import os
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "tests/data/advice.txt"
os.environ.setdefault("PYPTX_DEVICE", "host")
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/wild"), str(ROOT / "examples")]

from pyptx import CompileError, cuda  # noqa: E402 - the device is chosen before


def entry(where, kernel, signature):
    """The lines of one kernel for one signature (text, or types)."""
    texts = [f"    {a.code} {linecache.getline(a.file, a.line).strip()}\n        {a.message}" for a in kernel.advice(signature)]
    text = signature if isinstance(signature, str) else ", ".join(map(str, signature))
    return "\n".join([f"{where} {kernel.__name__}({text})", *texts])


# --- examples ---

def kernels_of(path):
    """The kernels of a module's globals by name."""
    scope = runpy.run_path(str(path), run_name="example")
    return {name: k for name, k in scope.items() if type(k).__name__ == "Dispatcher" and not k.device}


LAUNCHED = """
import contextlib, io, runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
scope = {"__name__": "__main__", "__file__": sys.argv[0]}
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"), scope)
for name, kernel in scope.items():
    for signature in kernel.overloads if type(kernel).__name__ == "Dispatcher" else ():
        print(name, ", ".join(map(str, signature)), sep="\\t")
"""


def signatures_run(path):
    """[(kernel, signature)] that an example launches."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", LAUNCHED, str(path)], cwd=folder, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def signatures_written(path):
    found = re.findall(rf"^examples/{re.escape(path.name)} (\w+)\((.*)\)$", FILE.read_text(), re.MULTILINE)
    return [(name, signature) for name, signature in found]


def examples(signatures_of):
    for path in sorted((ROOT / "examples").glob("*.py")):
        kernels, launched = kernels_of(path), signatures_of(path)
        for name, signature in launched:
            if name in kernels:
                yield entry(f"examples/{path.name}", kernels[name], signature)
        for name in sorted(set(kernels) - {name for name, _ in launched}):
            yield f"examples/{path.name} {name}: not launched"


# --- the benchmark ---


def benchmark():
    for name in [name for name in sys.modules if name.partition(".")[0] == "kernels"]:
        del sys.modules[name]  # a program of that name, which another test has loaded
    sys.path.insert(0, str(ROOT / "bench"))
    from kernels import KERNELS

    for k in KERNELS:
        yield entry("bench/kernels", cuda.jit(k.function), k.signature)


# --- tests/wild ---


class Enough(Exception):
    """A test that launches until something changes."""


class Asked:
    """A kernel whose launches ask for the advice about it."""

    def __init__(self, kernel, tell):
        self.kernel, self.tell, self.launches = kernel, tell, 0

    def __getitem__(self, configuration):
        return self

    def __call__(self, *arguments):
        self.launches += 1
        if self.launches > 20:
            raise Enough
        self.tell(self.kernel, tuple(self.kernel._typeof(a) for a in arguments))


def asking_jit(typing, tell):
    def decorator(function=None, **options):
        if not function:
            return lambda f: decorator(f, **options)
        kernel = cuda.jit(function, typing=typing, **options)
        return kernel if options.get("device") else Asked(kernel, tell)

    return decorator


def first_arguments(test):
    """The first values of each parametrize."""
    values = {}
    for mark in (m for m in getattr(test, "pytestmark", []) if m.name == "parametrize"):
        names = [n.strip() for n in mark.args[0].split(",")] if isinstance(mark.args[0], str) else mark.args[0]
        first = next(iter(mark.args[1]))
        values.update(zip(names, first if len(names) > 1 else [first]))
    return values


def wild_tests():
    for path in sorted((ROOT / "tests/wild").glob("test_*.py")):
        for name, test in vars(importlib.import_module(path.stem)).items():
            if name.startswith("test_") and "jit" in inspect.signature(test).parameters:
                yield path, name, test


def wild():
    for (path, name, test), typing in itertools.product(wild_tests(), ("numpy", "numba")):
        entries = []

        def tell(kernel, types):
            text = entry(f"{path.relative_to(ROOT)} {name}[{typing}]", kernel, types)
            if text not in entries:
                entries.append(text)

        try:
            test(jit=asking_jit(typing, tell), **first_arguments(test))
        except CompileError:
            raise
        except Exception:  # it looks at results that were not computed
            pass
        yield from entries or [f"{path.relative_to(ROOT)} {name}[{typing}]: no kernel"]


def listed(signatures_of=signatures_written):
    """All of it, as the file has it."""
    return "\n".join(itertools.chain(examples(signatures_of), benchmark(), wild())) + "\n"


if __name__ == "__main__":
    FILE.write_text(listed(signatures_run))
