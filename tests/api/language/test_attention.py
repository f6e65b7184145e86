"""examples/attention.py and examples/rows.py at sizes and edges that their own checks leave out, and what ptxas makes of attention."""

import sys
from pathlib import Path

import numpy as np
import pytest
from pyptx import bfloat16, float32
from test_ptx import ROOT, ptx_of
from test_wgmma import assert_not_serialised, here, on_device  # noqa: F401 (on_device calls here)


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))

    def load(name):
        there = sys.modules.get(name)  # other tests have modules of such names, too
        if there and Path(there.__file__ or "").parent != ROOT / "examples":
            monkeypatch.delitem(sys.modules, name)
        return __import__(name)

    return load


@pytest.mark.usefixtures("unoptimised")
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


@pytest.mark.usefixtures("unoptimised")
@on_device
@pytest.mark.parametrize("dtype", [float32, bfloat16], ids=str)
def test_rows(dtype, example):
    """Rows of one element, of none that is in a whole access, of few, of accesses of 8 bytes, of a cluster, and of a
    cluster that begin anywhere."""
    rows = example("rows")
    for columns in (1, 7, 40001, *((8, 40000) if dtype == float32 else (12,))):
        share = rows.check(2, columns, dtype)
        assert share <= 1, f"{columns} columns: {share} of the bound"


@pytest.mark.usefixtures("unoptimised")
@on_device
@pytest.mark.parametrize("columns, dtype", [(333, float32), (16391, bfloat16)], ids=["warp", "cluster"])
def test_rows_that_blocks_take_one_after_the_other(columns, dtype, example, monkeypatch):
    """Copies come to each place again, and weights fit rows that begin elsewhere between two accesses."""
    rows = example("rows")
    monkeypatch.setattr(rows.rows_forms, "staying", lambda *_: 3)
    # clusters of 6 and of 2 blocks for rows that one block could hold
    monkeypatch.setattr(rows.rows_forms, "SHARED", 40 << 10)
    share = rows.check(29, columns, dtype)
    assert share <= 1, f"{share} of the bound"


FORMS = {  # kernel, elements, bytes of each: chunks of a thread, warps, blocks, blocks of a multiprocessor, stages
    ("softmax", 20003, 2): (8, 10, 1, 2, 1), ("rms_norm", 20003, 2): (8, 10, 1, 2, 1), ("layer_norm", 20003, 2): (5, 16, 1, 1, 1),
    ("softmax", 35001, 2): (7, 20, 1, 1, 1), ("rms_norm", 35001, 2): (4, 18, 2, 1, 1), ("layer_norm", 35001, 2): (6, 3, 8, 3, 1),
    ("softmax", 50257, 2): (8, 13, 2, 1, 1), ("rms_norm", 50257, 2): (4, 25, 2, 1, 1), ("layer_norm", 50257, 2): (5, 5, 8, 3, 1),
    ("softmax", 50257, 4): (8, 7, 8, 2, 1), ("rms_norm", 50257, 4): (8, 7, 8, 2, 1), ("layer_norm", 50257, 4): (8, 7, 8, 2, 1),
    ("layer_norm", 75001, 2): (5, 8, 8, 2, 1), ("layer_norm", 100003, 2): (7, 19, 3, 1, 1), ("layer_norm", 128257, 2): (7, 9, 8, 2, 1),
    ("softmax", 150001, 2): (5, 15, 8, 1, 2), ("layer_norm", 150001, 2): (8, 19, 4, 1, 1), ("layer_norm", 150001, 4): (8, 19, 8, 1, 1),
    ("softmax", 100003, 2): (5, 20, 4, 1, 2), ("softmax", 120011, 2): (6, 20, 4, 1, 1), ("softmax", 175003, 2): (8, 11, 8, 1, 1), ("softmax", 210007, 2): (7, 15, 8, 1, 2),
    ("layer_norm", 120011, 2): (6, 10, 8, 2, 1), ("layer_norm", 175003, 2): (8, 11, 8, 1, 2), ("layer_norm", 200003, 2): (5, 20, 8, 1, 2), ("layer_norm", 210007, 2): (7, 15, 8, 1, 2),
    ("layer_norm", 24001, 2): (6, 16, 1, 1, 1), ("layer_norm", 200003, 4): (7, 14, 16, 1, 2), ("layer_norm", 240001, 4): (8, 15, 16, 1, 1),
    ("layer_norm", 225001, 2): (7, 16, 8, 1, 1), ("layer_norm", 250001, 2): (8, 16, 8, 1, 1), ("softmax", 250001, 2): (8, 16, 8, 1, 1),
    # at multiples of an access
    ("softmax", 20000, 2): (5, 16, 1, 1, 1), ("rms_norm", 20000, 2): (4, 20, 1, 1, 1), ("softmax", 32000, 2): (8, 16, 1, 1, 1),
    ("layer_norm", 32000, 2): (6, 3, 8, 3, 1), ("layer_norm", 65536, 2): (4, 32, 2, 1, 1), ("layer_norm", 262144, 2): (8, 16, 8, 1, 1),
    ("softmax", 128256, 2): (5, 26, 4, 1, 1), ("softmax", 131072, 2): (5, 26, 4, 1, 1), ("softmax", 256000, 2): (4, 32, 8, 1, 1),
    ("softmax", 70000, 2): (7, 20, 2, 1, 1), ("softmax", 81920, 2): (4, 27, 3, 1, 2), ("softmax", 100000, 2): (7, 7, 8, 2, 1),
    ("softmax", 151936, 2): (5, 15, 8, 1, 2), ("softmax", 180000, 2): (8, 11, 8, 1, 1), ("softmax", 40001, 2): (8, 20, 1, 1, 1),
    ("layer_norm", 8192, 2): (4, 8, 1, 4, 0), ("layer_norm", 11008, 2): (4, 11, 1, 2, 1), ("layer_norm", 11008, 4): (8, 11, 1, 2, 0),
    ("layer_norm", 36864, 2): (6, 24, 1, 1, 1), ("layer_norm", 70000, 2): (5, 7, 8, 2, 1), ("layer_norm", 81920, 2): (5, 8, 8, 2, 1),
    ("softmax", 76800, 2): (5, 20, 3, 1, 2), ("softmax", 163840, 2): (7, 12, 8, 1, 1), ("layer_norm", 90001, 2): (8, 6, 8, 2, 1), ("layer_norm", 163840, 2): (5, 16, 8, 1, 2),
    ("layer_norm", 245760, 2): (5, 24, 8, 1, 1), ("softmax", 34816, 2): (7, 20, 1, 1, 1), ("layer_norm", 17001, 2): (8, 9, 1, 2, 1), ("softmax", 77003, 2): (7, 11, 4, 1, 2),
    ("rms_norm", 65536, 2): (8, 8, 4, 2, 1), ("layer_norm", 114688, 2): (8, 7, 8, 2, 1), ("rms_norm", 115203, 2): (6, 10, 8, 2, 1), ("layer_norm", 60001, 2): (4, 8, 8, 3, 1), ("layer_norm", 180001, 2): (6, 15, 8, 1, 2), ("layer_norm", 100000, 2): (4, 13, 8, 2, 1), ("rms_norm", 100000, 2): (4, 13, 8, 2, 1), ("layer_norm", 20000, 4): (4, 20, 2, 1, 1),
    ("softmax", 132000, 2): (6, 11, 8, 2, 1), ("layer_norm", 24720, 2): (4, 5, 5, 3, 1), ("layer_norm", 64000, 2): (6, 14, 3, 1, 2), ("layer_norm", 64400, 2): (6, 9, 5, 2, 1),
    ("layer_norm", 120672, 2): (4, 15, 8, 2, 1), ("layer_norm", 138668, 2): (7, 5, 16, 2, 1), ("layer_norm", 24720, 4): (7, 4, 8, 3, 1), ("layer_norm", 165220, 4): (5, 17, 16, 1, 2),
}  # fmt: skip


def form(rows_forms, name, columns, size):
    (_, share, warps, blocks, *_, stages, _, resident), _ = rows_forms.form_of(name, 1000, columns, size)
    return -(-share // 32), warps, blocks, resident // (32 * warps), stages


@pytest.mark.host_only  # with an H200's numbers of clusters
def test_the_form_of_a_row(example):
    """The fastest of those that were measured, or within 0.01 of a copy's bandwidth."""
    rows_forms = example("rows_forms")
    assert {case: form(rows_forms, *case) for case in FORMS} == FORMS


def test_rows_spread_where_clusters_fill_the_gpu(example, monkeypatch):
    """Another GPU's parts have room for other clusters; all that is chosen fits."""
    rows_forms = example("rows_forms")
    for best in (5, 6, 9, 16):
        monkeypatch.setattr(rows_forms, "filled", lambda blocks, here, best=best: 1 if blocks == best else 0.5)
        rows_forms.spread.cache_clear()
        assert form(rows_forms, "layer_norm", 150001, 2)[2] == best
    for columns in range(41001, 300001, 7002):
        for size in (2, 4):
            (width, share, warps, blocks, *_, stages, _, resident), dynamic = rows_forms.form_of("layer_norm", 100, columns, size)
            here = resident // (32 * warps)
            assert share * width * warps * blocks >= columns and blocks <= 16 and stages >= 1 and here * warps <= 32
            assert dynamic <= 222 << 10 and here * (dynamic + 1024 + 2048) <= 228 << 10
    rows_forms.spread.cache_clear()


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only  # tests/gpu/test_gpu_attention.py
@pytest.mark.parametrize("name, columns, dtype", [
    ("softmax", 20003, bfloat16), ("rms_norm", 20003, bfloat16), ("softmax", 35001, bfloat16), ("rms_norm", 50257, bfloat16), ("layer_norm", 50257, float32),
    ("layer_norm", 150001, bfloat16), ("layer_norm", 150001, float32), ("layer_norm", 175003, bfloat16), ("layer_norm", 200003, bfloat16), ("layer_norm", 250001, bfloat16),
    ("softmax", 100003, bfloat16), ("softmax", 150001, bfloat16), ("softmax", 128256, bfloat16), ("layer_norm", 20003, bfloat16), ("layer_norm", 200003, float32), ("layer_norm", 240001, bfloat16),
    ("softmax", 40001, bfloat16), ("softmax", 70000, bfloat16), ("softmax", 180000, bfloat16),
    ("rms_norm", 105001, bfloat16), ("layer_norm", 60001, bfloat16), ("softmax", 77003, bfloat16), ("softmax", 180001, bfloat16),
    ("softmax", 140000, bfloat16), ("softmax", 145001, bfloat16), ("softmax", 76800, bfloat16), ("layer_norm", 90001, bfloat16), ("layer_norm", 163840, bfloat16),
    ("layer_norm", 11008, bfloat16), ("layer_norm", 36856, bfloat16), ("layer_norm", 64400, bfloat16), ("layer_norm", 70000, bfloat16), ("layer_norm", 138668, bfloat16),
])  # fmt: skip
def test_long_rows(name, columns, dtype, example, monkeypatch):
    rows = example("rows")
    monkeypatch.setattr(rows.rows_forms, "staying", lambda *_: 2)
    share = rows.check(5, columns, dtype, names=(name,))
    assert share <= 1, f"{share} of the bound"


@pytest.mark.parametrize("columns", [5000, 5001, 50257])
def test_ptx_of_rows(columns, example):
    """Whole accesses wherever a row begins: as many as the form says, and one element besides where it may begin between two."""
    rows = example("rows")
    form, _ = rows.rows_forms.form_of("softmax", 1000, columns, 2)
    _, share, warps, blocks, _, odd, _, _, stages, _, resident = form
    steps = (share + 31) // 32
    x = "bfloat16[:,::1]"
    text = ptx_of(rows.kernels(*form)["softmax"].py_func, f"narrow ({x}, {x})", "sm_90", launch_bounds=(32 * warps, resident // (32 * warps)), fastmath={"func", "ftz"})
    assert ".local" not in text and odd == (columns != 5000) and (blocks > 1) == (stages > 0) == (columns == 50257)
    assert text.count("ld.shared.v4" if stages else "ld.global.v4") >= steps and steps <= text.count("st.global.v4") <= 2 * steps  # whole warps, and others
    assert text.count("st.global.b16") == odd and text.count("ld.global.b16") == odd
    assert text.count("ex2.approx.ftz.f32") >= 8 * steps and ("st.async" in text) == (blocks > 1)


def ptx_of_form(rows, name, form):
    x, more = "bfloat16[:,::1]", {"softmax": "", "rms_norm": "bfloat16[::1], ", "layer_norm": "bfloat16[::1], bfloat16[::1], "}[name]
    eps = "" if name == "softmax" else ", float64"
    return ptx_of(rows.kernels(*form)[name].py_func, f"narrow ({x}, {more}{x}{eps})", "sm_90", launch_bounds=(32 * form[2], form[-1] // (32 * form[2])))


@pytest.mark.parametrize("name, columns, ahead", [
    ("layer_norm", 240001, True), ("layer_norm", 50257, False), ("layer_norm", 100003, False), ("layer_norm", 200003, False),
    ("layer_norm", 150001, False), ("layer_norm", 145001, False), ("rms_norm", 175003, False),
    ("softmax", 140000, True), ("softmax", 175003, True), ("softmax", 210007, False),
])  # fmt: skip
def test_what_tells_of_the_next_row_before_it_hears_of_this_one(name, columns, ahead, example):
    """So it tells of a first row outside of the loop; two rows are held, and fit the registers."""
    rows = example("rows")
    form, _ = rows.rows_forms.form_of(name, 1000, columns, 2)
    assert form[3] > 1
    text = ptx_of_form(rows, name, form)
    assert text.count("st.async") == 1 + ahead and ".local" not in text


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.parametrize("few, columns", [(8, 1003), (2048, 1003), (8, 37)], ids=["narrow", "few rows", "short"])
def test_cross_entropy_of_short_rows(few, columns, example, monkeypatch):
    """Where there are many, a warp takes a short row in several turns; where it has no chunk of its own it takes
    another's, which counts nothing."""
    rows = example("rows")
    monkeypatch.setattr(rows.rows_forms, "FEW", few)
    assert (rows.rows_forms.form_of("cross_entropy", 21, columns, 2)[0][-1] == 2048) == (few == 8)
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
