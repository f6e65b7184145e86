"""examples/attention.py and examples/rows.py at sizes and edges that their own checks leave out, and what ptxas makes of attention."""

import numpy as np
import pytest
from pyptx import bfloat16, float32
from test_ptx import ROOT, ptx_of
from test_wgmma import assert_not_serialised, here, on_device  # noqa: F401 (on_device calls here)


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return __import__


@on_device
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("d", [64, 128])
def test_attention(d, causal, example):
    """One tile; a few rows; keys that end within a tile; several tiles, whose stages come around; fewer and more keys than rows."""
    attention = example("attention")
    for heads, rows, keys in ((1, 128, 128), (2, 3, 3), (1, 129, 129), (2, 520, 520), (1, 70, 500), (1, 400, 70)):
        share = attention.check(heads, rows, keys, d, causal)
        assert share <= 1, f"{heads} heads, {rows} rows, {keys} keys: {share} of the bound"


@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("d", [64, 128])
def test_ptx_of_attention(d, causal, example, tmp_path, one_entry):
    """Everything in registers and nothing called, and operations in flight."""
    attention = example("attention")
    kernel = attention.kernel(d, causal, *attention.SHAPES[d])
    each = "bfloat16[:,:,::1]"
    text = ptx_of(kernel.py_func, f"narrow ({each}, {each}, {each}, {each}, float64)", "sm_90", launch_bounds=(128 * (1 + attention.SHAPES[d][0]), 1), fastmath={"func", "ftz"})
    assert ".local" not in text and "call" not in text
    assert "ex2.approx.ftz.f32" in text and "max.ftz.f32" in text
    assert_not_serialised(text, tmp_path)


@on_device
@pytest.mark.parametrize("dtype", [float32, bfloat16], ids=str)
def test_rows(dtype, example):
    """Rows of one element, of none that is in a whole access, of few, of accesses of 8 bytes, of a cluster, and of a
    cluster that begin anywhere."""
    rows = example("rows")
    for columns in (1, 7, 40001, *((8, 40000) if dtype == float32 else (12,))):
        share = rows.check(2, columns, dtype)
        assert share <= 1, f"{columns} columns: {share} of the bound"


@on_device
@pytest.mark.parametrize("columns, dtype", [(333, float32), (16391, bfloat16)], ids=["warp", "cluster"])
def test_rows_that_blocks_take_one_after_the_other(columns, dtype, example, monkeypatch):
    """Copies come to each place again, and weights fit rows that begin elsewhere between two accesses."""
    rows = example("rows")
    monkeypatch.setattr(rows, "staying", lambda *_: 3)
    monkeypatch.setattr(rows, "SHARED", 40 << 10)  # clusters of 6 and of 2 blocks for rows that one block could hold
    share = rows.check(29, columns, dtype)
    assert share <= 1, f"{share} of the bound"


@pytest.mark.parametrize("columns", [5000, 5001, 50257])
def test_ptx_of_rows(columns, example):
    """Whole accesses wherever a row begins: as many as the form says, and one element besides where it may begin between two."""
    rows = example("rows")
    form, _ = rows.form_of("softmax", 1000, columns, 2)
    _, share, warps, blocks, _, odd, _, stages, _, resident = form
    steps = (share + 31) // 32
    x = "bfloat16[:,::1]"
    text = ptx_of(rows.kernels(*form)["softmax"].py_func, f"narrow ({x}, {x})", "sm_90", launch_bounds=(32 * warps, resident // (32 * warps)), fastmath={"func", "ftz"})
    assert ".local" not in text and odd == (columns != 5000) and (blocks > 1) == (stages > 0) == (columns == 50257)
    assert text.count("ld.shared.v4" if stages else "ld.global.v4") >= steps and steps <= text.count("st.global.v4") <= 2 * steps  # whole warps, and others
    assert text.count("st.global.b16") == odd and text.count("ld.global.b16") == odd
    assert text.count("ex2.approx.ftz.f32") >= 8 * steps and ("st.async" in text) == (blocks > 1)


@pytest.mark.parametrize("few, columns", [(8, 1003), (2048, 1003), (8, 37)], ids=["narrow", "few rows", "short"])
def test_cross_entropy_of_short_rows(few, columns, example, monkeypatch):
    """Where there are many, a warp takes a short row in several turns; where it has no chunk of its own it takes
    another's, which counts nothing."""
    rows = example("rows")
    monkeypatch.setattr(rows, "FEW", few)
    assert (rows.form_of("cross_entropy", 21, columns, 2)[0][-1] == 2048) == (few == 8)
    rng = np.random.default_rng(columns)
    x, out, labels = rows.cuda.device_array((21, columns), dtype=bfloat16), rows.cuda.device_array(21, dtype=np.float32), rng.integers(0, columns, 21)
    x[:] = rows.cuda.to_device((2 * rng.standard_normal((21, columns))).astype(np.float32))
    rows.launch("cross_entropy", x, rows.cuda.to_device(labels), out)
    wide = rows.widened(x)
    want, bound = rows.expected(wide, 1, 1, labels, 0)["cross_entropy"]
    assert (np.abs(out.copy_to_host() - want) <= bound).all()


def test_rows_that_are_too_long(example):
    rows = example("rows")
    with pytest.raises(ValueError, match="do not fit a cluster of 16 blocks"):
        rows.launch("softmax", rows.cuda.device_array((1, 1 << 20), dtype=float32), rows.cuda.device_array((1, 1 << 20), dtype=float32))
