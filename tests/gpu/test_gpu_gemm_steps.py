"""examples/gemm_steps on hardware, at other sizes than the examples' own. Each in a child process
with a limit of time, since a kernel that waits for a barrier in vain never ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyptx import cuda

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "gemm_steps"
STEPS = sorted(path.stem for path in FOLDER.glob("step?_*.py"))
LIMIT = 60  # seconds, of which all but a few are the import's and the compiler's

CHILD = """
import importlib, sys
import numpy as np
from pyptx import bfloat16, cuda
from steps import convert

launch = importlib.import_module(sys.argv[1]).launch
# one tile, and fewer elements of K than the ring has stages; many tiles; a long K, whose phases turn
for m, n, k in ((128, 256, 64), (640, 768, 192), (256, 256, 2048)):
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-1, 2, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    want = a @ b
    assert abs(want).max() < 256, "whole numbers that bfloat16 has"
    d_a, d_b, d_c = (cuda.device_array(shape, dtype=bfloat16) for shape in ((m, k), (k, n), (m, n)))
    convert[64, 256](d_a, cuda.to_device(a))
    convert[64, 256](d_b, cuda.to_device(b))
    wide = cuda.device_array((m, n), dtype=np.float32)
    for again in range(3):  # the same bits
        convert[64, 256](d_c, cuda.to_device(np.full((m, n), np.nan, np.float32)))
        launch(d_a, d_b, d_c)
        convert[64, 256](wide, d_c)
        got = wide.copy_to_host()
        assert np.array_equal(got, want), f"{m}x{n}x{k}: {int((got != want).sum())} of {m * n} elements are wrong"
print("all right", flush=True)
"""


@pytest.mark.parametrize("step", STEPS)
def test_step(step):
    """Whole numbers, whose sums bfloat16 holds, have NumPy's float32 products."""
    has = cuda.get_current_device().compute_capability
    if has < (8, 0) or (step >= "step6" and has[0] != 9):
        pytest.skip("the instructions of this step need another GPU")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER), *sys.path])}
    child = subprocess.Popen([sys.executable, "-c", CHILD, step], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        said, _ = child.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        child.kill()
        pytest.fail(f"it has not ended after {LIMIT} s: {child.communicate(timeout=30)[0]}")
    assert child.returncode == 0 and said.endswith("all right\n"), said
