"""The generators of tests/property, longer than each change can have them."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS, MORE = 10_000, 4
LONGER = ("functions", "iterators", "expressions", "complex", "natural_kernels", "narrow_ranges", "ptx_of_programs")


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


@pytest.mark.parametrize("name", LONGER)
def test_longer(name):
    """So many times as much as each change has, what newer interpreters have with the oldest."""
    ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", f"tests/property/test_{name}.py"],
                         cwd=ROOT, env={**os.environ, "PYPTX_MORE": str(MORE)}, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout[-4000:]
