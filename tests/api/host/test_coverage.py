"""Lines of compiled kernels as whoever traces sees them (pyptx.coverage): those that threads came to, and no others. tests/full/test_coverage_plugin.py has
coverage.py itself, and the same lines from runs in Python."""

import os
import subprocess
import sys
import textwrap

import pytest
from covered_programs import BARRIERS, CONSTANTS, FUNCTIONS, LAUNCHES, LOOPS, MASKED, STOPPED

pytestmark = pytest.mark.host_only("lines are counted on the host device")

TRACED = """
import sys
import numpy as np
from pyptx import coverage, cuda

coverage.coverage_init(None, {})
reached = set()


def trace(frame, event, arg):
    if frame.f_code.co_filename == __file__ and frame.f_globals is not globals():
        if event == "line":
            reached.add(frame.f_lineno)
        return trace


sys.settrace(trace)
"""
REPORT = """
sys.settrace(None)
text = open(__file__).read().splitlines()
print(sorted(n for n in reached if "#" in text[n - 1]))
print([n for n, line in enumerate(text, 1) if line.endswith("# yes")])
print([n for n, line in enumerate(text, 1) if line.endswith("# no")])
"""


def counted(tmp_path, program, **env):
    """Each line of the program that ends in `# yes` is reached, none in `# no`."""
    path = tmp_path / "program.py"
    path.write_text(TRACED + textwrap.dedent(program) + REPORT)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env={**os.environ, "PYPTX_DEVICE": "host", **env})
    assert done.returncode == 0, done.stdout + done.stderr
    reached, yes, no = map(eval, done.stdout.splitlines()[-3:])
    assert yes and reached == yes, f"reached {reached}, of {yes} and {no}\n" + done.stdout
    return done.stdout


@pytest.mark.parametrize("program", [LOOPS, MASKED, FUNCTIONS, BARRIERS, STOPPED, CONSTANTS, LAUNCHES],
                         ids="loops masked functions barriers stopped constants launches".split())
@pytest.mark.parametrize("opt", [3, 0])
def test_lines(tmp_path, program, opt):
    counted(tmp_path, program.replace("@cuda.jit\n", f"@cuda.jit(opt={opt})\n"))


def test_checked_launches(tmp_path):
    counted(tmp_path, MASKED.replace("@cuda.jit\n", '@cuda.jit(check="race,sync,init,nan,overflow")\n'))


def test_with_a_timeout(tmp_path):
    counted(tmp_path, LOOPS.replace("@cuda.jit\n", "@cuda.jit(timeout=100)\n"))


def test_kernels_that_are_on_disk(tmp_path):
    """What is kept does not count, and what counts is not kept."""
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o700)
    cached = LOOPS.replace("@cuda.jit\n", "@cuda.jit(cache=True)\n")
    plain = (TRACED.replace("coverage.coverage_init(None, {})", "") + textwrap.dedent(cached)).replace("sys.settrace(trace)", "")
    files = set()
    for coverage in (True, False, True, False):
        if coverage:
            counted(tmp_path, cached, PYPTX_CACHE_DIR=str(kept))
        else:
            subprocess.run([sys.executable, "-c", plain], check=True, env={**os.environ, "PYPTX_DEVICE": "host", "PYPTX_CACHE_DIR": str(kept)})
        now = {p.name for p in kept.rglob("*") if p.is_file()}
        assert now == files or not coverage, now - files
        files = now
    assert files


def test_nothing_is_counted_unasked():
    import numpy as np
    from pyptx import cuda

    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] = 1

    kernel[1, 1](np.zeros(1))
    assert "inttoptr" not in next(iter(kernel.inspect_llvm().values()))
