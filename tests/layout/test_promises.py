"""docs/SECURITY.md: each promise names a test that exists, and what the sources must never do."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "SECURITY.md").read_text()
SOURCES = [p for room in ("ir", "frontend", "typeinfer", "codegen", "runtime", "pyext") for p in sorted((ROOT / room).rglob("*")) if p.suffix in (".py", ".c", ".h", ".def")]


def code_of(path):
    """Without comments and texts, as far as it takes to look for calls."""
    text = path.read_text()
    return re.sub(r'"""[\s\S]*?"""|#[^\n]*', "", text) if path.suffix == ".py" else re.sub(r"/\*[\s\S]*?\*/", "", text)


def places(pattern):
    return sorted({str(p.relative_to(ROOT)) for p in SOURCES if re.search(pattern, code_of(p))})


def test_every_promise_has_its_test():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "`tests/" in line]
    table = PAGE[PAGE.index("| threat |") :].split("\n\n")[0].splitlines()[2:]
    assert len(rows) == len(table) >= 10, "each row of the table names a test"
    for path, name in re.findall(r"`(tests/[\w/.]+)(?:::(\w+))?`", PAGE):
        text = (ROOT / path).read_text()
        assert not name or f"def {name}(" in text, f"{path} has no {name}"


def test_nothing_reads_pickles():
    """But what the program itself unpickles, and what a trial's process gets through the pipe of the one that started it."""
    found = places(r"\bpickle\.loads?\b|\bUnpickler\b|\bmarshal\b|PyMarshal|\bshelve\b|allow_pickle=True")
    assert SOURCES and found == ["pyext/pyptx/_pickle.py", "pyext/pyptx/_trials.py"]


def test_no_shell():
    assert places(r"shell=True|\bos\.(system|popen)\b|\bsystem\(|\bpopen\(|/bin/sh\b|\bgetstatusoutput\b") == []


def test_no_name_that_can_be_guessed():
    assert places(r"\bmktemp\b|\btmpnam\b|\btempnam\b") == []


@pytest.mark.parametrize("call", [r"\beval\(", r"\bexec\("])
def test_who_runs_text(call):
    """Only what makes kernels of its own, runs what the user wrote, or imports the user's file; and coverage, `pass` by `pass`."""
    allowed = {
        r"\beval\(": [],
        r"\bexec\(": ["pyext/pyptx/_elementwise.py", "pyext/pyptx/_magics.py", "pyext/pyptx/_sources.py", "pyext/pyptx/coverage.py",
                      "pyext/pyptx/cuda/_jit.py", "pyext/pyptx/numba/_njit.py"],
    }
    assert [p for p in places(r"(?<![\w.])" + call.removeprefix(r"\b")) if p.endswith(".py")] == allowed[call]
