"""scripts/soak --minutes: a short run of its parts, what it says of missing tools, and of findings."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
import faulty  # noqa: E402 - its folder is on the path now
import soak  # noqa: E402 - its folder is on the path now

pytestmark = pytest.mark.host_only("runs on the host device by itself")


def run(*arguments, **env):
    return subprocess.run(["bash", "scripts/soak", *arguments], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "PYTHON": sys.executable, "PYPTX_DEVICE": "host", **env})


@pytest.mark.unchecked("leaks.py counts the notes on memory, which are kept")
def test_a_short_run():
    done = run("--minutes", "0.1", "--seed", "7000", "programs", "objects", "checks", "leaks")
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split(":")[0] for line in lines] == ["programs", "objects", "checks", "leaks", "soak"]
    ran = re.match(r"programs: (\d+) random programs on host, seeds 7000 to (\d+),", lines[0])  # in batches of 64
    assert int(ran[1]) % 64 == 0 and int(ran[2]) == 7000 + int(ran[1]) - 1
    assert int(re.match(r"checks: (\d+) programs with and without races,", lines[2])[1]) > 1
    assert all(line.endswith("; nothing found") for line in lines[:-1])
    assert lines[-1].endswith("seed 7000: programs, objects, checks, leaks; found: nothing")


def test_missing_tools_are_said(tmp_path):
    for tool in ("bash", "dirname", "nproc"):
        (tmp_path / tool).symlink_to(f"/usr/bin/{tool}")
    done = run("--minutes", "0.01", "fuzz", "ptx", "faults", "calls", PATH=str(tmp_path), PYPTX_STANDIN="/nowhere/libcuda.so.1")
    lines = done.stdout.splitlines()
    assert lines[0] == "fuzz: left out: no clang", done.stdout + done.stderr
    assert lines[1].startswith("ptx: left out: no stand-in driver") and lines[2].startswith("faults: left out: no stand-in driver")
    assert "nothing; left out: fuzz, ptx, faults, calls; found: nothing" in lines[-1] and done.returncode == 1


def test_an_unknown_part():
    done = run("--minutes", "1", "prorgams")
    assert done.returncode == 2 and "no part prorgams: programs, ptx, natural, fuzz" in done.stderr


def test_findings_are_said(monkeypatch, capsys):
    monkeypatch.setattr(soak, "PARTS", {"planted": lambda seconds, seed: (f"{seed} cases", ["case 3: build/failures/3.txt"])})
    monkeypatch.setattr(sys, "argv", ["soak", "--minutes", "0.01", "--seed", "5"])
    assert soak.main() == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("planted: 5 cases, ") and first.endswith("; case 3: build/failures/3.txt") and last.endswith("seed 5: planted; found: 1")


def test_what_a_failing_call_may_do_to_a_test():
    from pyptx import cuda

    copy = "cuMemcpyHtoD", 1
    assert faulty.verdict(None, *copy) == "there is no error"
    assert faulty.verdict(OSError("no such thing"), *copy) == "OSError: no such thing"
    assert not faulty.verdict(None, "cuMemFree", 1) and not faulty.verdict(None, "", 0) and not faulty.verdict(AssertionError(), *copy)
    wrapped = RuntimeError("the worker ended")
    wrapped.__cause__ = cuda.CudaAPIError("cuMemcpyHtoD failed")
    assert not faulty.verdict(wrapped, *copy)
