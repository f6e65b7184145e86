"""examples/gemm_fp8.py: its code for GPUs, and its products on the host device."""

import subprocess

import numpy as np
import pytest
from pyptx import cuda, float8_e4m3fn, float8_e5m2
from test_ptx import PTXAS, ROOT, ptx_of
from test_wgmma import assert_not_serialised


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return __import__("gemm_fp8")


@pytest.mark.parametrize("form", range(4))
def test_the_kernel_assembles(form, example, tmp_path):
    """Both sets of accumulators in registers, and the additions between the operations of one k block and the next."""
    form = (*example.FORMS, *example.FAST_FORMS)[form]
    text = ptx_of(example.make_gemm(form).py_func, "narrow (float8_e4m3fn[:,::1], float8_e4m3fn[:,::1], bfloat16[:,::1], float32, int64)", "sm_90", launch_bounds=(384, 1))
    steps = 4 * (2 if form.fast else 1)  # the first k block, which has none before it, is apart
    assert text.count(f"wgmma.mma_async.sync.aligned.m64n{form.n}k32.f32.e4m3.e4m3") == steps
    assert text.count("add.rn.f32") + text.count("add.f32") == (0 if form.fast else form.n // 2)
    assert_not_serialised(text, tmp_path)
    said = subprocess.run([PTXAS, "-arch=sm_90a", "-v", "-o", str(tmp_path / "k.cubin"), str(tmp_path / "kernel.ptx")], capture_output=True, text=True).stderr
    assert " 0 bytes spill stores" in said and "Used 168 registers" in said and "setmaxnreg" not in said, said


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only  # on GPUs in a child process: tests/gpu/test_gpu_gemm_fp8.py
@pytest.mark.parametrize("form, kind, shape", [(0, float8_e4m3fn, (136, 200, 272)), (1, float8_e5m2, (8, 8, 16)), (2, float8_e5m2, (264, 72, 400))])
def test_products(form, kind, shape, example):
    """Edges, and a scale. Whole numbers: exact."""
    pytest.importorskip("ml_dtypes")
    m, n, k = shape
    rng = np.random.default_rng(k)
    a, b = (rng.integers(-2, 3, s).astype(np.float32) for s in ((m, k), (n, k)))
    c = np.full((m, n), np.nan, np.float16)
    example.launch(2, form=(*example.FORMS, *example.FAST_FORMS)[form])(a.astype(kind.dtype), b.astype(kind.dtype), c, 0.5)
    assert np.array_equal(c, a @ b.T / 2)


def test_the_form_is_picked(example):
    """The wider tile for large products; the one of fewer rounds else."""
    assert example.pick(8192, 8192, 8192, 132, False) == example.FORMS[0] and example.pick(4096, 4096, 4096, 132, False) == example.FORMS[1]
    assert example.pick(8192, 8192, 8192, 132, True) == example.FAST_FORMS[0]
