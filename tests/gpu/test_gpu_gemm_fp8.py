"""examples/gemm_fp8.py on hardware, in a child process with a limit of time, since a kernel that
waits for a barrier in vain never ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyptx import cuda

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LIMIT = 60  # seconds, of which all but a few are the import's and the compiler's

CHILD = """
import numpy as np
import gemm_fp8
from pyptx import bfloat16, cuda, float8_e4m3fn, float8_e5m2

most = cuda.get_current_device().MULTIPROCESSOR_COUNT
# one k block and a tile; several tiles a block; edges, with a last k block of 16; more stages than k blocks
for m, n, k, blocks in ((128, 128, 128, 1), (512, 768, 512, 3), (264, 520, 400, 2), (1000, 1032, 656, most), (72, 3000, 1040, 7), (1, 8, 16, 1)):
    for kind in (float8_e4m3fn, float8_e5m2):
        for form in (*gemm_fp8.FORMS, *gemm_fp8.FAST_FORMS):
            assert gemm_fp8.check(gemm_fp8.launch(blocks, form=form), m, n, k, kind), f"{form}, {kind}, {m}x{n}x{k}, {blocks} blocks"
    print(m, n, k, flush=True)

# normal numbers: of 32 products and the sum before, the tensor cores keep 13 bits behind the leading
# one of the largest, so fast sums lose more
rng = np.random.default_rng(1)
m, n, k = 256, 384, 8192
a, b = (cuda.to_device(rng.standard_normal(s).astype(np.float32)) for s in ((m, k), (n, k)))
d_a, d_b = (cuda.device_array(x.shape, dtype=float8_e4m3fn) for x in (a, b))
for d, x in ((d_a, a), (d_b, b)):
    gemm_fp8.converted[256, 256](d, x)
    gemm_fp8.converted[256, 256](x, d)
want = a.copy_to_host().astype(np.float64) @ b.copy_to_host().astype(np.float64).T
error = {}
for fast in (False, True):
    c, wide = cuda.device_array((m, n), dtype=bfloat16), cuda.device_array((m, n), dtype=np.float32)
    gemm_fp8.launch(most, fast)(d_a, d_b, c)
    gemm_fp8.converted[256, 256](wide, c)
    error[fast] = np.sqrt(np.mean((wide.copy_to_host() - want) ** 2) / np.mean(want**2))
assert error[False] < 2.0**-8 and error[False] <= error[True], error  # most of both is the rounding to bfloat16
print("all right", flush=True)
"""


@pytest.mark.skipif(cuda.is_available() and cuda.get_current_device().compute_capability[0] != 9, reason="wgmma needs compute capability 9.0")
def test_products():
    """Whole numbers have NumPy's products, rounded to bfloat16."""
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES), *sys.path])})
    try:
        said, _ = child.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        child.kill()
        pytest.fail(f"it has not ended after {LIMIT} s; it got to: {child.communicate(timeout=30)[0]}")
    assert child.returncode == 0 and said.endswith("all right\n"), said
