"""bench/passes.py without a GPU: which passes it takes, that leaving one out changes PTX, and the table of counts."""

import os
import shutil

import passes
import pytest
from kernels import BY_NAME


def test_which_passes():
    names = passes.passes([])
    assert "nvptx.square_root" in names and not any(n.startswith("host.") for n in names)
    assert passes.passes(["ssa.narrow", "nvptx.coarsen"]) == ["ssa.narrow", "nvptx.coarsen"]
    with pytest.raises(SystemExit, match="nvptx.ptx_fixup: there are .*nvptx.row_pointers"):
        passes.passes(["nvptx.ptx_fixup"])  # without it results would be wrong


def test_what_a_pass_changes(monkeypatch):
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.coarsen")
    nbody = BY_NAME["nbody"]
    whole, others = passes.changed((nbody.function, nbody.signature), "sm_90", ["nvptx.square_root", "nvptx.row_pointers"])
    assert list(others) == ["nvptx.square_root"]
    assert "sqrt.rn" in others["nvptx.square_root"] and "sqrt.rn" not in whole
    assert os.environ["PYPTX_SKIP"] == "nvptx.coarsen"


@pytest.mark.skipif(not shutil.which("ptxas"), reason="needs ptxas")
def test_counts(monkeypatch, capsys):
    monkeypatch.setattr(passes, "subjects", lambda: {k: (BY_NAME[k].function, BY_NAME[k].signature) for k in ("vadd", "bude")})
    report = passes.count(["nvptx.row_pointers", "nvptx.square_root"], "sm_90")
    assert [(r["pass"], r["kernel"]) for r in report.rows] == [
        ("nvptx.row_pointers", "bude"), ("nvptx.row_pointers", "all 1, of one alone"),
        ("nvptx.square_root", "bude"), ("nvptx.square_root", "all 1, of one alone"),
    ]  # fmt: skip
    # fewer multiplications, but as many instructions, which ptxas pads to eights: one eight of bude's 1,150 is 0.7 %
    assert [abs(r["ratio"] - 1) < 0.01 for r in report.rows[:2]] == [True, True]
    assert [r["ratio"] > 1 for r in report.rows[2:]] == [True, True]
