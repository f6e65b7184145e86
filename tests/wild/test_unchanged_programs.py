"""Complete programs for Numba-CUDA, in `programs`, run unchanged by `python -m pyptx.numba`. Each checks its own results, and says so at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


@pytest.mark.parametrize("typing", ["numba", "numpy"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_program(program, typing):
    assert "pyptx" not in program.read_text()
    done = subprocess.run([sys.executable, "-m", "pyptx.numba", "--typing", typing, program], env={**os.environ, "PYPTX_ADVICE": "0"}, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.startswith(program.stem + ":"), done.stdout + done.stderr
