"""tests/gpu/faults.py, which looks for the cause of a fault on a GPU: how it halves a batch, and, on the stand-in driver, that its driver shim loads
modules and its verdicts are right."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from standin import LIBRARY, needs_standin

SCRIPT = Path(__file__).resolve().parents[2] / "gpu" / "faults.py"


def script():
    spec = importlib.util.spec_from_file_location("faults", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("guilty", [{5}, {0, 63}, {1, 2, 40}, set(range(0, 64, 16))])
def test_halving_finds_who_faults_together(guilty):
    assert set(script().halved(list(range(64)), lambda some: guilty <= set(some))) == guilty


def faults(tmp_path, ways, **env):
    command = [sys.executable, SCRIPT, "100", "--n", "3", "--rows", "8", "--ways", ways, "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYPTX_DRIVER": LIBRARY, **env})
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_standin
@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_verdicts(tmp_path):
    assert " wrong: seed 100" in faults(tmp_path, "level 0"), "the stand-in alone launches nothing"
    text = faults(tmp_path, "level 0", PYPTX_ON_PTX="1")
    assert "right" in text and "bytes of local memory" in text, text
