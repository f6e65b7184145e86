"""coverage.py over compiled kernels: the plugin pyptx.coverage, its lines those of the same program run as Python, with and without branches."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

coverage = pytest.importorskip("coverage")
HOST = Path(__file__).resolve().parents[1] / "api" / "host"
sys.path.insert(0, str(HOST))
import covered_programs as programs  # noqa: E402 - its folder is on the path now

HEAD = "import numpy as np\nfrom pyptx import cuda\n"
SETTINGS = "[run]\nplugins = pyptx.coverage\ninclude = program.py, test_program.py\n"


def run(folder, device, *command):
    """(lines, jumps) of what the command runs there."""
    (folder / ".coverage").unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "-m", "coverage", "run", *command], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PYPTX_DEVICE": device})
    assert done.returncode == 0, done.stdout + done.stderr
    data = coverage.CoverageData(str(folder / ".coverage"))
    data.read()
    (file,) = data.measured_files()
    return set(data.lines(file)), data.arcs(file)


def report(folder, *options):
    done = subprocess.run([sys.executable, "-m", "coverage", "report", "--show-missing", *options], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if "program.py" in line]


@pytest.mark.parametrize("name", ["LOOPS", "MASKED", "FUNCTIONS", "BARRIERS", "CONSTANTS"])
def test_lines_are_those_of_a_run_as_python(tmp_path, name):
    text = HEAD + getattr(programs, name)
    (tmp_path / "program.py").write_text(text)
    (tmp_path / ".coveragerc").write_text(SETTINGS)
    source = text.splitlines()
    python, _ = run(tmp_path, "python", "program.py")
    compiled, _ = run(tmp_path, "host", "program.py")
    assert compiled == python, (sorted(compiled - python), sorted(python - compiled))
    assert all(n in compiled for n, line in enumerate(source, 1) if line.endswith("# yes"))
    missing = [n for n, line in enumerate(source, 1) if line.endswith("# no")]
    assert missing and compiled.isdisjoint(missing)
    (row,) = report(tmp_path)
    assert row.split("%")[1].strip() == ", ".join(map(str, missing))


def test_branches(tmp_path):
    (tmp_path / "program.py").write_text(HEAD + programs.MASKED)
    (tmp_path / ".coveragerc").write_text(SETTINGS + "branch = True\n")
    rows = []
    for device in ("python", "host"):
        _, jumps = run(tmp_path, device, "program.py")
        assert jumps
        rows += report(tmp_path)
    assert rows[0] == rows[1] and rows[0].split()[3:5] == ["6", "2"], rows


def test_under_pytest_with_contexts(tmp_path):
    """Which test came to which line of a kernel."""
    (tmp_path / "test_program.py").write_text(HEAD + """
@cuda.jit
def signs(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        out[i] = 1
    else:
        out[i] = -1
    assert out[i] != 0


def test_up():
    signs[1, 4](np.ones(4), np.zeros(4))


def test_down():
    signs[1, 4](-np.ones(4), np.zeros(4))
""")
    (tmp_path / ".coveragerc").write_text(SETTINGS + "dynamic_context = test_function\n")
    lines, _ = run(tmp_path, "host", "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert {6, 7, 8, 10, 11} <= lines
    data = coverage.CoverageData(str(tmp_path / ".coverage"))
    data.read()
    (file,) = data.measured_files()
    by = data.contexts_by_lineno(file)
    assert by[8] == ["test_program.test_up"] and by[10] == ["test_program.test_down"]


def test_files_that_are_left_out(tmp_path):
    (tmp_path / "program.py").write_text("import kernels\nkernels.go()\n")
    (tmp_path / "kernels.py").write_text(HEAD + "@cuda.jit\ndef k(x):\n    x[0] = 1\n\n\ndef go():\n    k[1, 1](np.zeros(1))\n")
    (tmp_path / ".coveragerc").write_text(SETTINGS)
    assert run(tmp_path, "host", "program.py")[0] == {1, 2}
