"""examples/gemm_pipeline.py: the form of a product follows what its epilogue reads."""

import numpy as np
import pytest
from pyptx import float16, int32
from test_wgmma import finished, pipeline  # noqa: F401 (a fixture)


def biased(value, row, column, bias):
    return value + bias[column]


def scaled(value, row, column, scale):
    return value * scale[row]


def test_what_an_epilogue_reads(pipeline):
    """In functions within it, too, and of a device function; what cannot be known is neither."""

    @pipeline.cuda.jit(device=True)
    def shifted(value, row, column, bias):
        return value + bias[column]

    def nested(value, row, column, bias):
        def at(add):
            return bias[column] + add

        return at(value)

    assert [pipeline.reads(f) for f in (biased, shifted, nested, scaled)] == ["column", "column", "column", "row"]
    assert {pipeline.reads(f) for f in (None, finished, lambda value, row, column: value, lambda *arguments: arguments[0], abs)} == {""}
    assert pipeline.reads(lambda value, old, row, column, bias: value + old + bias[column], residual=True) == ""


def test_the_form_follows_the_epilogue(pipeline):
    """Whose bias a thread of a transposed tile reads for few columns; of a deep product it is a small
    part. A scale of the rows is read best the other way."""
    shapes = (4096, 4096, 4096), (8192, 8192, 1024), (4096, 4096, 1024), (8192, 8192, 8192), (8192, 1024, 8192)
    plain, column, row = ([pipeline.pick(*shape, 132, shape[2], shape[1], "k", by) for shape in shapes] for by in ("", "column", "row"))
    assert plain[:4] == [pipeline.FORMS[i] for i in (0, 1, 2, 1)] and plain[4].transposed
    assert column[:3] == [form._replace(stages=8, transposed=True) for form in plain[:3]] and column[3:] == plain[3:]
    assert row[:4] == plain[:4] and not row[4].transposed
    assert pipeline.pick(4096, 4096, 4096, 132, 4096, 4096, "m", "column") == pipeline.FORMS[0]


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only
@pytest.mark.parametrize("m, n, form, epilogue", [
    (136, 264, None, biased), (136, 264, (256, False), biased), (136, 264, (128, True), scaled), (133, 261, None, scaled), (133, 261, (192, True), biased), (264, 8, None, biased),
])  # fmt: skip
def test_the_pipeline_with_a_bias(m, n, form, epilogue, pipeline):
    """In the form that it takes for it, at edges, of matrices whose rows no tensor map takes, too."""
    rng = np.random.default_rng(10)
    a, b = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((m, 72), (72, n)))
    more, c = rng.integers(-2, 3, n if epilogue is biased else m).astype(np.float32), np.full((m, n), np.nan, np.float16)
    form = form and pipeline.Form(128, form[0], 8, form[1], transposed=True)
    pipeline.launch(2, epilogue=epilogue, form=form)(a, b, c, more)
    product = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(c, product + more if epilogue is biased else product * more[:, None])


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only
@pytest.mark.parametrize("m, n, form, transposed", [(136, 264, None, True), (136, 264, (128, 256, False), False), (133, 261, (192, 128, True), True), (264, 136, (256, 72, False), True)])
def test_what_is_read_of_a_column_before(m, n, form, transposed, pipeline):
    """of_column(column, *more) comes in place of the column: at edges, where a consumer has one to three
    parts of a tile, beside another matrix."""
    rng = np.random.default_rng(12)
    a, b, d = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((m, 72), (72, n), (m, n)))
    bias, c = rng.integers(-2, 3, n).astype(np.float32), np.full((m, n), np.nan, np.float16)
    form = form and pipeline.Form(form[0], form[1], 4, form[2], transposed=transposed)

    def of_column(column, bias):
        return 2 * bias[column]

    product = a.astype(np.float32) @ b.astype(np.float32) + 2 * bias
    pipeline.launch(2, epilogue=lambda value, row, twice, bias: value + twice, form=form, of_column=of_column)(a, b, c, bias)
    assert np.array_equal(c, product)
    if form is None:
        pipeline.launch(2, epilogue=lambda value, old, row, twice, bias: value + twice + old, residual=True, of_column=of_column)(a, b, c, d, bias)
        assert np.array_equal(c, product + d)


@pytest.mark.usefixtures("unoptimised")
@pytest.mark.host_only
@pytest.mark.parametrize("m, n, form", [(264, 392, (192, 192, 3, False, (2, 1))), (133, 261, (256, 128, 8, False, (1, 1), True)), (264, 136, (256, 72, 8, False, (1, 2), True)), (264, 520, (128, 256, 4, False))])
def test_another_matrix_by_the_ring(m, n, form, pipeline):
    """Where consumers share tiles: one to three boxes of a consumer in a stage, of A or of B, in clusters, at edges."""
    rng = np.random.default_rng(13)
    a, b, d = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((m, 72), (72, n), (m, n)))
    c = np.full((m, n), np.nan, np.float16)
    pipeline.launch(4, epilogue=lambda value, old, row, column: value + old, residual=True, form=pipeline.Form(*form))(a, b, c, d)
    assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32) + d)


@pytest.mark.host_only
def test_another_matrix_beyond_the_cache(pipeline, monkeypatch):
    """What is read once and written once asks the cache to keep the rest; results stay."""
    rng = np.random.default_rng(11)
    a, b, d = (rng.integers(-1, 2, (72, 72)).astype(np.float16) for _ in range(3))
    c, made = np.full((72, 72), np.nan, np.float16), []
    assert not pipeline.is_beyond_cache(1 << 40)  # the host device has none
    make_gemm = pipeline.make_gemm
    monkeypatch.setattr(pipeline, "make_gemm", lambda *how: made.append(make_gemm(*how)) or made[-1])
    for beyond in (False, True):
        monkeypatch.setattr(pipeline, "is_beyond_cache", lambda nbytes: nbytes == 2 * 72 * 72 and beyond)
        pipeline.launch(2, epilogue=lambda value, old, row, column: value + old, residual=True, form=pipeline.FORMS[2])(a, b, c, d)
        assert np.array_equal(c, a.astype(np.float32) @ b.astype(np.float32) + d)
    for kernel, hints in zip(made, (False, True), strict=True):
        ptx, _ = pipeline.cuda.compile_ptx(kernel.py_func, (*[float16[:, ::1]] * 4, int32, ()), device=False, cc=(9, 0), launch_bounds=(kernel.threads, 1))
        assert ("cache_hint" in ptx) == hints
