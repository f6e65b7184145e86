"""numba-cuda's own tests, run on pyptx by way of pyptx.numba.install(), and a table of what they say.

    python tests/tools/numba_suite.py OUT [--only 'cudapy/test_a*'] [--jobs N] [--limit SECONDS]

The interpreter that runs this must have pyptx, Numba and numba-cuda with its tests. Each module of tests runs in a process of its own; one that
ends early (a crash, the time limit) goes on behind the test that ended it. Statements of a module that cannot be executed, such as a class that
derives from one of Numba's compiler, fail alone, and the tests in them count as failed.

docs/reference/numba_suite.md has a row for each test, or class of tests, that does not pass, with the reason; its section decides whether the test
counts (whatever "Not applicable" fits does not, passed or failed). OUT, Markdown, lists the counts, failures that the page does not name, and rows of the page that every test passes.
"""

import argparse
import ast
import concurrent.futures
import fnmatch
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
import unittest
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/numba_suite.md"
_TESTS, _TESTING = "numba.cuda.tests", "numba.cuda.testing"


# For programs that tests start: workers of process pools import the modules of tests too.
_FOR_PROGRAMS = """\
import sys
from pathlib import Path

import pyptx.numba

pyptx.numba.install()
sys.path.append({tools!r})
from numba_suite import _Loader

sys.meta_path.insert(0, _Loader(Path({root!r})))
"""


# --- the child: one module of tests ---


class _Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Executes numba-cuda's tests, and what they share, one statement after the other; those that fail are remembered."""

    def __init__(self, root):
        self.root = root
        self.failed = {}  # module: [(statement, exception)]

    def find_spec(self, name, path=None, target=None):
        if name != _TESTING and name != _TESTS and not name.startswith(_TESTS + "."):
            return None
        file = self.root.joinpath(*name.split(".")[2:])
        package = file.is_dir()
        spec = importlib.machinery.ModuleSpec(name, self, origin=str(file / "__init__.py" if package else file.with_suffix(".py")), is_package=package)
        if package:
            spec.submodule_search_locations = [str(file)]
        spec.has_location = True
        return spec if package or Path(spec.origin).exists() else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        text = Path(module.__file__).read_text() if Path(module.__file__).exists() else ""
        for statement in ast.parse(text, module.__file__).body:
            try:
                exec(compile(ast.Module([statement], []), module.__file__, "exec"), vars(module))
            except BaseException as error:  # pytest's Skipped is none of Exception
                self.failed.setdefault(module.__name__, []).append((statement, error))


def _tests_in(statement):
    """The names of the tests in a statement of a module."""
    if isinstance(statement, ast.ClassDef):
        return [f"{statement.name}.{f.name}" for f in statement.body if isinstance(f, ast.FunctionDef) and f.name.startswith("test")]
    return []


def _first_line(error):
    text = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {text[0][:200]}"


class _Result(unittest.TestResult):
    def __init__(self, out, module):
        super().__init__()
        self.out, self.module = out, module

    def say(self, test, outcome, why=""):
        name = test if isinstance(test, str) else ".".join(test.id().split(".")[-2:])
        self.out.write(json.dumps([name, outcome, why]) + "\n")
        self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.bad = None
        self.say(test, "started")
        signal.alarm(int(os.environ["NUMBA_SUITE_LIMIT"]))

    def stopTest(self, test):
        signal.alarm(0)
        self.say(test, *(self.bad or ("passed", "")))
        super().stopTest(test)

    def fails(self, error):
        import traceback

        if type(error[1]).__name__ == "Skipped":  # pytest.importorskip
            self.bad = ("skipped", str(error[1]))
        elif self.bad is None or self.bad[0] != "failed":
            place = next((f for f in reversed(traceback.extract_tb(error[2])) if f"{os.sep}tests{os.sep}" in f.filename), None)
            self.bad = ("failed", _first_line(error[1]) + (f" [line {place.lineno}: {place.line}]" if place else ""))

    def addError(self, test, err):
        if not hasattr(test, "_testMethodName"):  # setUpClass
            self.say(str(test).partition(" ")[2].strip("()").rpartition(".")[2] + ".*", "failed", _first_line(err[1]))
        else:
            self.fails(err)

    def addFailure(self, test, err):
        self.fails(err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.fails(err)

    def addSkip(self, test, reason):
        if not hasattr(test, "_testMethodName"):
            self.say(str(test).partition(" ")[2].strip("()").rpartition(".")[2] + ".*", "skipped", reason)
        else:
            self.bad = ("skipped", reason)

    def addUnexpectedSuccess(self, test):
        self.bad = ("passed", "Numba expects it to fail")


def _flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from _flat(test)
        else:
            yield test


def _settle(on_host):
    """Answers that numba-cuda's tests want from the inside of Numba to decide which of them to run."""
    def includes():
        from cuda import pathfinder

        found = pathfinder.find_nvidia_header_directory("cudart")
        if found is None:
            raise FileNotFoundError("the toolkit's headers")
        return found

    given = {"cudadrv.driver": {"_have_nvjitlink": lambda: importlib.util.find_spec("nvidia.nvjitlink") is not None},
             "cudadrv.libs": {"get_cuda_include_dir": includes, "get_cudalib": lambda *a, **k: "cudadevrt", "check_static_lib": lambda path: None},
             "np.numpy_support": {"numpy_version": tuple(map(int, importlib.import_module("numpy").__version__.split(".")[:2]))},
             "typing.cffi_utils": {"SUPPORTED": importlib.util.find_spec("cffi") is not None}, "cuda_paths": {"get_conda_ctk_libdir": lambda: None}}
    for name, values in given.items():
        vars(importlib.import_module("numba.cuda." + name)).update(values)
    type(importlib.import_module("pyptx.config")).CUDA_MEMORY_MANAGER = "default"
    if on_host:  # no simulator, and tests that ask whether there is a GPU are meant to run
        type(importlib.import_module("pyptx.config")).ENABLE_CUDASIM = 0
        importlib.import_module("numba.cuda").is_available = lambda: True


def child(root, name, out, done):
    import numpy as np

    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # releases of Numba that are older than NumPy's import it
    import pyptx.numba

    pyptx.numba.install()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("NUMBA_SUITE_PATH"), os.environ.get("PYTHONPATH"))))
    _settle(on_host=os.environ.get("PYPTX_DEVICE") == "host" or not _gpu())
    loader = _Loader(root)
    sys.meta_path.insert(0, loader)

    def late(signum, frame):
        raise TimeoutError("the test's time limit")

    signal.signal(signal.SIGALRM, late)
    full = ".".join((_TESTS, *Path(name).with_suffix("").parts))
    with open(out, "a") as stream:
        result = _Result(stream, name)
        module = importlib.import_module(full)
        for shared in (_TESTING, _TESTS + ".support"):
            for statement, error in loader.failed.get(shared, ()):
                result.say(f"({shared.rpartition('.')[2]}:{statement.lineno})", "statement", _first_line(error))
        for statement, error in loader.failed.get(full, ()):
            outcome = "skipped" if type(error).__name__ in ("SkipTest", "Skipped") else "failed"
            result.say(f"(line {statement.lineno})", "statement", _first_line(error))
            for test in _tests_in(statement):
                if test not in done:
                    result.say(test, outcome, "not defined: " + _first_line(error))
        tests = [t for t in _flat(unittest.defaultTestLoader.loadTestsFromModule(module)) if ".".join(t.id().split(".")[-2:]) not in done]
        for group in sorted({type(t) for t in tests}, key=lambda c: c.__name__):
            unittest.TestSuite(t for t in tests if type(t) is group).run(result)


def _gpu():
    from pyptx import cuda

    return len(cuda.gpus) > 0


# --- the parent ---


def _read(path):
    """{test: (outcome, why)}, and the test that was running at the end."""
    found, running = {}, None
    for line in path.read_text().splitlines() if path.exists() else ():
        name, outcome, why = json.loads(line)
        if outcome == "started":
            running = name
        else:
            found[name] = (outcome, why)
            running = None if name == running else running
    return found, running


def run_module(root, name, limit):
    """{test: (outcome, why)} of one module."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "sitecustomize.py").write_text(_FOR_PROGRAMS.format(tools=str(Path(__file__).parent), root=str(root)))
        path = Path(folder, "out")
        environment = {**os.environ, "NUMBA_SUITE_LIMIT": str(limit), "NUMBA_SUITE_PATH": folder}
        for attempt in range(40):
            found, _ = _read(path)
            Path(folder, "done").write_text(json.dumps(sorted(found)))
            try:
                run = subprocess.run([sys.executable, __file__, "--child", str(root), name, str(path), str(Path(folder, "done"))], env=environment,
                                     capture_output=True, text=True, errors="replace", timeout=20 * limit, cwd=folder)
                why = f"the process ended ({run.returncode})" + "".join(" " + line for line in run.stderr.strip().splitlines()[-1:])
            except subprocess.TimeoutExpired:
                run, why = None, "the module's time limit"
            found, running = _read(path)
            if run is not None and run.returncode == 0:
                return found
            if running is None:
                return {**found, "(module)": ("failed", why)}
            with path.open("a") as stream:
                stream.write(json.dumps([running, "failed", why]) + "\n")
        return found


def rows_of_page():
    """(pattern, section) of the page's tables, in order."""
    rows, section = [], None
    for line in PAGE.read_text().splitlines() if PAGE.exists() else ():
        if line.startswith("## "):
            section = line[3:].strip()
        elif found := re.match(r"\| ((?:`[^`]+`(?:, )?)+) \|", line):
            rows += [(pattern, section) for pattern in re.findall(r"`([^`]+)`", found[1])]
    return rows


def classify(results, rows):
    """[(test, outcome, why)], and the rows that no failure needs. A test that a row under "Not applicable" fits is "not applicable" whatever comes of
    it: one that passes asserts Numba's inside too, and counts neither as passed nor as one of those that apply. Skipped tests stay skipped."""
    needed, out = set(), []
    for test, (outcome, why) in sorted(results.items()):
        hits = [(pattern, section) for pattern, section in rows if fnmatch.fnmatchcase(test, pattern)]
        if outcome == "failed":
            needed.update(hits[:1])
        if outcome != "skipped" and any(section.startswith("Not applicable") for _, section in hits):
            outcome, why = "not applicable", f"{outcome}: {why}" if why else outcome
        elif outcome == "failed" and hits:
            outcome = "failed, named"
        out.append((test, outcome, why))
    return out, [pattern for pattern, section in rows if (pattern, section) not in needed]


def _cell(text):
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def report(results, rows):
    listed, unneeded = classify(results, rows)
    count = Counter(outcome for _, outcome, _ in listed)
    counted = count["passed"] + count["failed"] + count["failed, named"]
    lines = ["# numba-cuda's tests", "", "| | tests |", "|---|---|"]
    lines += [f"| {outcome} | {n} |" for outcome, n in sorted(count.items())]
    lines += ["", f"Passed of those that apply and were not skipped: {count['passed']} of {counted} ({100 * count['passed'] / max(counted, 1):.1f} %).", ""]
    by_module = {}
    for test, outcome, _ in listed:
        by_module.setdefault(test.partition("::")[0], Counter())[outcome] += 1
    kinds = ["passed", "failed", "failed, named", "not applicable", "skipped"]
    lines += [f"| module | {' | '.join(kinds)} |", "|---|" + "---|" * len(kinds)]
    lines += [f"| {module} | {' | '.join(str(c[k] or '') for k in kinds)} |" for module, c in by_module.items()]
    for kind in ("failed", "failed, named", "not applicable", "skipped"):
        lines += ["", f"## {kind.capitalize()}", "", "| test | what it says |", "|---|---|"]
        lines += [f"| {test} | {_cell(why)} |" for test, outcome, why in listed if outcome == kind]
    lines += ["", "## Rows of docs/reference/numba_suite.md that nothing needs", "", *(f"* {pattern}" for pattern in unneeded)]
    return "\n".join(lines) + "\n", count, counted


def main():
    if sys.argv[1:2] == ["--child"]:
        root, name, out, done = sys.argv[2:]
        child(Path(root), name, out, set(json.loads(Path(done).read_text())))
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="*", help="modules of tests, as cudapy/test_a*")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=60, help="seconds a test")
    args = parser.parse_args()
    spec = importlib.util.find_spec("numba_cuda")
    if spec is None:
        sys.exit("numba_suite: this interpreter has no numba-cuda")
    root = Path(spec.submodule_search_locations[0], "numba/cuda")
    names = sorted(p.relative_to(root / "tests").as_posix() for p in (root / "tests").rglob("test_*.py"))
    names = [n for n in names if fnmatch.fnmatchcase(n.removesuffix(".py"), args.only)]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, found in zip(names, pool.map(lambda n: run_module(root, n, args.limit), names)):
            short = name.removesuffix(".py")
            results.update((f"{short}::{test}", said) for test, said in found.items() if said[0] != "statement")
            bad = Counter(outcome for outcome, _ in found.values())
            print(short, dict(bad), flush=True)
            for test, (outcome, why) in found.items():
                if outcome == "statement" and test.startswith("(line"):
                    print(f"    {test} {why}", flush=True)
    text, count, counted = report(results, rows_of_page())
    args.out.write_text(text)
    print(f"{count['passed']} of {counted} passed; {dict(count)}")


if __name__ == "__main__":
    main()
