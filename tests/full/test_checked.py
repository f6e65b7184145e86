"""Programs that are right, under PYPTX_CHECK: nothing is found in the examples, in tests/wild, in the kernels of the benchmark and in tests/api,
but for the tests there that are marked `unchecked`. On two cores tests/api takes 30 to 50 minutes."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYPTX_DEVICE": "host", "PYPTX_CHECK": "race,sync,init"}


def run(*command):
    return subprocess.run([sys.executable, *command], cwd=ROOT, env=ENV, capture_output=True, text=True)


@pytest.mark.parametrize("example", sorted(str(p.relative_to(ROOT / "examples")) for p in (*(ROOT / "examples").glob("*.py"), *(ROOT / "examples").glob("gemm_steps/step?_*.py")) if p.name != "find_mistakes.py"))
def test_examples(example):
    done = run(f"examples/{example}")
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]


@pytest.mark.parametrize("tests", ["tests/wild", "tests/bench/test_bench_kernels.py"])
def test_suites(tests):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", tests)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.timeout(5400)
@pytest.mark.parametrize("folder", sorted(p.name for p in (ROOT / "tests/api").iterdir() if any(p.glob("test_*.py"))))
def test_api(folder):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "auto", "--timeout=600", f"tests/api/{folder}")
    assert done.returncode == 0, done.stdout[-6000:]
