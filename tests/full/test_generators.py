"""The generators of tests/property, longer than each change can have them."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS, MORE = 10_000, 4
LONGER = [f"property/test_{name}.py" for name in (
    "functions", "iterators", "expressions", "complex", "natural_kernels", "narrow_ranges", "ptx_of_programs")]
OPTIMISED = [f"api/{name}.py" for name in (
    "host/test_gemm_mistakes", "language/test_attention", "language/test_gemm_epilogues", "language/test_gemm_fp8",
    "language/test_wgmma")]


@pytest.mark.parametrize("device", ["host", "ptx"])
def test_random_programs(device):
    """Seeds that change with the day. A failure is for the reader to judge: of 10,000 about one is right (docs/TESTING.md)."""
    first = int(os.environ.get("PYPTX_SEED") or pathlib.Path(__file__).stat().st_mtime_ns // 10**9 % 10**6 * 1000)
    count = PROGRAMS if device == "host" else PROGRAMS // 10
    ran = subprocess.run([sys.executable, "tests/property/soak.py", str(count), "--seed", str(first), "--device", device, "--jobs", "2"],
                         cwd=ROOT, capture_output=True, text=True)
    last = re.search(r"^soak: .*failed: (.*)$", ran.stdout, re.M)
    assert last, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert sum(map(int, re.findall(r"\d+", last[1]))) <= count // 5000, ran.stdout[-4000:]


@pytest.mark.parametrize("name", LONGER + OPTIMISED)
def test_longer(name):
    """So many times as much as each change has, under one interpreter; long kernels with the optimiser."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", f"tests/{name}"]
    ran = subprocess.run(command, cwd=ROOT, env={**os.environ, "PYPTX_MORE": str(MORE)}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-4000:]
