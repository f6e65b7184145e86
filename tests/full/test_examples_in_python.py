"""Kernels run as Python: every example both ways (tests/api/both_ways.py), and coverage.py over a kernel."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYPTX_DEVICE": "python", "PYPTX_ADVICE": "0"}
PASSED_OVER = {"vector_add.py": "vector_add", "histogram.py": "histogram"}  # arrays of millions, which two blocks would go through
# Matrix operations and asynchronous copies, which have no meaning in Python.
NOT_IN_PYTHON = {"attention.py", "gemm_fp8.py", "gemm_pipeline.py", "gemm_warpgroups.py", "gemm_warps.py", "pipeline.py", "rows.py",
                 "stencil.py", "wmma.py"}
EXAMPLES = sorted(p.name for p in (ROOT / "examples").glob("*.py") if p.name != "autotune.py")  # which tries a kernel hundreds of times


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples(example):
    done = subprocess.run([sys.executable, "tests/api/both_ways.py", f"examples/{example}"], cwd=ROOT, env=ENV, capture_output=True, text=True)
    if example in NOT_IN_PYTHON:
        assert done.returncode and " is not part of runs in Python: " in done.stderr, done.stderr[-3000:]
        return
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    assert done.stdout.endswith(f"passed over: {PASSED_OVER.get(example, 'none')}\n"), done.stdout


def test_programs_of_the_cases():
    """tests/cases: what the programs there print is the same as from compiled kernels."""
    for program in ("control/run_program", "threads/run_reduction", "threads/run_random", "complex/run_functions"):
        path = ROOT / f"tests/cases/{program}.py"
        done = subprocess.run([sys.executable, "-P", path], env=ENV, capture_output=True, text=True)
        assert done.stdout == path.with_suffix(".out").read_text(), (program, done.stdout, done.stderr)


KERNEL = """import numpy as np
from pyptx import cuda

@cuda.jit
def kernel(x):
    t = cuda.threadIdx.x
    cuda.syncthreads()
    if t == 33:
        x[t] = 1
    if t > 99:
        x[t] = 2
        x[t] += 3

kernel[1, 64](np.zeros(64))
"""


def test_coverage_counts_the_lines_of_kernels(tmp_path):
    import coverage

    (tmp_path / "program.py").write_text(KERNEL)
    subprocess.run([sys.executable, "-m", "coverage", "run", "--include=program.py", "program.py"], cwd=tmp_path, env=ENV, check=True)
    data = coverage.CoverageData(str(tmp_path / ".coverage"))
    data.read()
    lines = set(data.lines(str(tmp_path / "program.py")))
    assert {6, 7, 8, 9, 10} <= lines and not {11, 12} & lines, lines
