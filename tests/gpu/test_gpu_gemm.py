"""examples/gemm_warps.py and gemm_pipeline.py on hardware: asynchronous copies, tensor maps,
mbarriers, clusters, wgmma, setmaxnreg and stores by tensor maps, whose orders and proxies the CPU
only imitates. In a child process with a limit of time, since a kernel that waits for a barrier in
vain never ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyptx import cuda

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LIMIT = 110  # seconds: NumPy, the import, and four kernels of each form to compile

CHILD = """
import sys
import numpy as np
import gemm_pipeline, gemm_warps
from pyptx import bfloat16, cuda

most = cuda.get_current_device().MULTIPROCESSOR_COUNT
some = (128, 152, True, (1, 1)), (192, 104, True, (1, 1)), (256, 192, False, (1, 2)), (128, 80, False, (2, 2))
transposed = [form for form in gemm_pipeline.TRANSPOSED if (form.m, form.n, form.turns, form.cluster) in some]
assert len(transposed) == len(some)
# one k block and a tile; 512; several tiles a block; edges, with a last k block of 8; fewer rows
# than a tile; more stages than k blocks; rows that begin anywhere
for m, n, k, blocks in ((128, 256, 64, 1), (512, 512, 512, most), (512, 512, 512, 3), (264, 520, 200, 2), (1000, 1032, 328, most), (72, 3000, 1032, 7), (1, 8, 8, 1), (640, 768, 136, 1), (1001, 999, 203, most), (1, 1, 1, 1)):
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-1, 2, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    want = a @ b
    assert abs(want).max() < 256, "whole numbers that bfloat16 has"
    d_a, d_b, d_c = (cuda.device_array(shape, dtype=bfloat16) for shape in ((m, k), (k, n), (m, n)))
    wide = cuda.device_array((m, n), dtype=np.float32)
    gemm_warps.rounded[64, 256](d_a, cuda.to_device(a))
    gemm_warps.rounded[64, 256](d_b, cuda.to_device(b))
    ours = [("warps", gemm_warps.launch)]
    if cuda.get_current_device().compute_capability[0] == 9:
        ours += [(str(form), gemm_pipeline.launch(max(4, blocks), form=form._replace(cluster=cluster))) for form in gemm_pipeline.FORMS for cluster in gemm_pipeline.CLUSTERS]
        ours += [(str(form), gemm_pipeline.launch(max(4, blocks), form=form)) for form in transposed]
    for name, run in ours:
        for again in range(3):  # the same bits
            gemm_warps.rounded[64, 256](d_c, cuda.to_device(np.full((m, n), np.nan, np.float32)))
            run(d_a, d_b, d_c)
            gemm_warps.widened[64, 256](wide, d_c)
            got = wide.copy_to_host()
            assert np.array_equal(got, want), f"{name}, {m}x{n}x{k}, {blocks} blocks: {int((got != want).sum())} of {m * n} elements are wrong"
    print(m, n, k, flush=True)
assert gemm_warps.check(gemm_warps.launch, 1000, 1032, 328)
if cuda.get_current_device().compute_capability[0] != 9:
    print("all right", flush=True)
    sys.exit()
for form in gemm_pipeline.FORMS:
    for majors in ("kn", "kk", "mn", "mk"):
        a, b = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((1416, 136), (136, 776)))
        for group in (1, 3, 16):
            c = cuda.to_device(np.full((1416, 776), np.nan, np.float16))
            stored = (np.ascontiguousarray(x.T if turn else x) for x, turn in ((a, majors[0] == "m"), (b, majors[1] == "k")))
            gemm_pipeline.launch(most, *majors, group=group, form=form)(*map(cuda.to_device, stored), c)
            assert np.array_equal(c.copy_to_host(), a.astype(np.float32) @ b.astype(np.float32)), f"float16, {form}, {majors}, groups of {group}"
for majors in ("kn", "kk", "mn", "mk"):  # views that begin anywhere, and steps of 2
    for m, n, k, off, step in ((129, 257, 65, 1, 1), (64, 128, 64, 1, 1), (300, 99, 301, 3, 2)):
        a, b, c = (rng.integers(-1, 2, (off + step * h, off + step * w)).astype(np.float16) for h, w in ((m, k)[:: 1 - 2 * (majors[0] == "m")], (k, n)[:: 1 - 2 * (majors[1] == "k")], (m, n)))
        on_gpu = [cuda.to_device(x)[off::step, off::step] for x in (a, b, c)]
        gemm_pipeline.launch(most, *majors)(*on_gpu)
        a, b = (x[off::step, off::step].astype(np.float32) for x in (a, b))
        want = (a.T if majors[0] == "m" else a) @ (b.T if majors[1] == "k" else b)
        assert np.array_equal(on_gpu[2].copy_to_host(), want), f"views, {majors}, {m}x{n}x{k}"
        if majors == "kn":
            gemm_warps.launch(*on_gpu)
            assert np.array_equal(on_gpu[2].copy_to_host(), want), f"views, warps, {m}x{n}x{k}"
rng = np.random.default_rng(4)
a, b, d = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((1416, 136), (136, 776), (1416, 776)))
scale = rng.integers(-2, 3, 1416).astype(np.float32)
for form in (*gemm_pipeline.FORMS, *transposed[:2]):
    for cluster in gemm_pipeline.CLUSTERS[: 1 if form.transposed else None]:
        c = cuda.to_device(np.full((1416, 776), np.nan, np.float16))
        added = gemm_pipeline.launch(6, epilogue=lambda value, old, row, column, scale: value * scale[row] + old, residual=True, form=form._replace(cluster=cluster))
        added(*map(cuda.to_device, (a, b)), c, *map(cuda.to_device, (d, scale)))
        assert np.array_equal(c.copy_to_host(), a.astype(np.float32) @ b.astype(np.float32) * scale[:, None] + d), f"an epilogue of {form}, clusters of {cluster}"
bias = rng.integers(-2, 3, 776).astype(np.float32)
c = cuda.to_device(np.full((1416, 776), np.nan, np.float16))  # in the form that pick takes for a bias
gemm_pipeline.launch(most, epilogue=lambda value, row, column, bias: value + bias[column])(*map(cuda.to_device, (a, b)), c, cuda.to_device(bias))
assert np.array_equal(c.copy_to_host(), a.astype(np.float32) @ b.astype(np.float32) + bias), "a bias"
for form in (None, *transposed[:2]):
    c = cuda.to_device(np.full((1416, 776), np.nan, np.float16))
    before = gemm_pipeline.launch(most, epilogue=lambda value, row, twice, bias: value + twice, form=form, of_column=lambda column, bias: 2 * bias[column])
    before(*map(cuda.to_device, (a, b)), c, cuda.to_device(bias))
    assert np.array_equal(c.copy_to_host(), a.astype(np.float32) @ b.astype(np.float32) + 2 * bias), f"a bias that {form} reads before"
assert gemm_warps.check(gemm_pipeline.launch(most), 512, 512, 512) and gemm_warps.check(gemm_pipeline.launch(most), 1000, 1032, 328)
print("all right", flush=True)
"""


@pytest.mark.skipif(cuda.is_available() and cuda.get_current_device().compute_capability < (8, 0), reason="bfloat16 needs compute capability 8.0")
def test_products():
    """Whole numbers, whose sums bfloat16 holds, have NumPy's float32 products; others the example's error bound."""
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join([str(EXAMPLES), *sys.path])})
    try:
        said, _ = child.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        child.kill()
        pytest.fail(f"it has not ended after {LIMIT} s; it got to: {child.communicate(timeout=30)[0]}")
    assert child.returncode == 0 and said.endswith("all right\n"), said
