"""examples/attention.py and examples/rows.py on hardware: operations in flight, turns of consumers and distributed shared memory, whose orders the
CPU only imitates. In a child process with a limit of time, since a kernel that waits for a barrier in vain never ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyptx import cuda

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LIMIT = 120  # seconds, of which all but a few are NumPy's and the import's

ATTENTION = """
import attention
for d in (64, 128):
    for causal in (False, True):
        # one tile; a few rows; edges; many blocks; fewer and more keys than rows
        for heads, rows, keys in ((1, 128, 128), (2, 3, 3), (3, 1000, 1000), (40, 520, 520), (1, 70, 1500), (1, 1400, 70)):
            share = attention.check(heads, rows, keys, d, causal)
            assert share <= 1, f"{heads} heads of {d}, {rows} rows, {keys} keys, causal {causal}: {share} of the bound"
"""
ROWS = """
import rows
from pyptx import bfloat16, float32
for dtype in (float32, bfloat16):
    for columns in (1, 7, 8, 1000, 1003, 1020, 5000, 11008, 16390, 20003, 35001, 36864, 40001, 50257, 70000, 100003, 150001, 180000, 200003, 250001, 262143, 262144, *((400000,) if dtype == bfloat16 else ())):
        share = rows.check(20, columns, dtype)
        assert share <= 1, f"{columns} {dtype}: {share} of the bound"
"""


def capability(least, most):
    return not cuda.is_available() or least <= cuda.get_current_device().compute_capability < most


@pytest.mark.parametrize("program, supported", [
    pytest.param(ATTENTION, lambda: capability((9, 0), (10, 0)), id="attention"),
    pytest.param(ROWS, lambda: capability((9, 0), (99, 0)), id="rows"),
])  # fmt: skip
def test_the_example(program, supported):
    if not supported():
        pytest.skip("needs compute capability 9.0")
    program += "print('all right', flush=True)\n"
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES), *sys.path])})
    try:
        said, _ = child.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        child.kill()
        pytest.fail(f"it has not ended after {LIMIT} s: {child.communicate(timeout=30)[0]}")
    assert child.returncode == 0 and said.endswith("all right\n"), said
