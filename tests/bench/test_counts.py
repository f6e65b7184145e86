"""Instruction counts beside tests/bench/counts.json: a change of any is seen, and meant. `python bench/counts.py --update` writes them."""

import json
import os
import shutil

import counts
import pytest

GOLDEN = json.loads(counts.GOLDEN.read_text())
PTXAS, NVDISASM = shutil.which("ptxas"), shutil.which("nvdisasm")
UPDATE = "if this is meant: python bench/counts.py --update"


def test_the_goldens_are_of_these_kernels():
    assert set(GOLDEN["ptx"]) == set(counts.SOME) == set(GOLDEN["sass"]) - {"ptxas"}
    assert set(GOLDEN["host"]) - {"python"} == set(counts.HOST_WORK)


@pytest.mark.parametrize("name", counts.SOME)
def test_ptx(name):
    assert counts.ptx_counts(counts.ptx_of(name)) == GOLDEN["ptx"][name], UPDATE


@pytest.mark.parametrize("name", counts.SOME)
def test_sass(name):
    if not PTXAS:
        pytest.skip("ptxas is not on PATH")
    if counts.ptxas_version(PTXAS) != GOLDEN["sass"]["ptxas"]:
        pytest.skip(f"the goldens are of ptxas {GOLDEN['sass']['ptxas']}")
    now, was = counts.sass_counts(counts.ptx_of(name), PTXAS, NVDISASM), dict(GOLDEN["sass"][name])
    if not (NVDISASM and was["kinds"]):  # the total still holds
        del now["kinds"], was["kinds"]
    assert now == was, UPDATE


@pytest.mark.parametrize("name", counts.HOST_WORK)
def test_host_instructions(name):
    if not os.environ.get("PYPTX_COUNTS"):
        pytest.skip("counts belong to one build, C library and valgrind: PYPTX_COUNTS=1 compares them")
    missing = counts.why_no_host_counts()
    if missing:
        pytest.skip(missing)
    if counts.python_tag() != GOLDEN["host"]["python"]:
        pytest.skip(f"the goldens are of {GOLDEN['host']['python']}")
    now, was = counts.host_counts(name), GOLDEN["host"][name]
    assert abs(now / was - 1) <= counts.TOLERANCE, f"{was} -> {now}; {UPDATE}"


def test_counting_ptx():
    text = """.visible .entry k(.param .u64 p)
{
	.reg .pred %p<2>;
	ld.param.b64 	%rd1, [p]; // not this: add.s32 %r1;
	setp.ge.u32 	%p1, %r1, 3;
	@%p1 bra 	$L1;
	@!%p1 st.global.b32 	[%rd1], %r1;
	add.rn.f32 	%f1, %f1, %f2;
	bar.sync 	0;
$L1:
	ret;
}
"""
    assert counts.ptx_counts(text) == {
        "ld.param": 1, "setp": 1, "bra": 1, "st.global": 1, "add": 1, "bar": 1, "ret": 1,
    }  # fmt: skip


def test_differences():
    old = {"ptx": {"k": {"add": 2, "mul": 1}}, "sass": {"ptxas": "13", "k": {"registers": 8}}, "host": {}}
    new = {"ptx": {"k": {"add": 3, "fma": 1}}, "sass": {"ptxas": "13", "k": {"registers": 9}}, "host": {}}
    lines = [" ".join(line.split()) for line in counts.differences(new, old)]
    assert lines == [
        "ptx k add 2 -> 3", "ptx k fma 0 -> 1", "ptx k mul 1 -> 0", "sass k {'registers': 8} -> {'registers': 9}",
    ]  # fmt: skip
    assert counts.differences(old, old) == []


LISTING = """
	.section	.text.k
.text.k:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   FADD R1, R1, R2 ;
        /*0020*/              @!P0 IADD3 R3, R3, 0x1, RZ ;
.L_x_0:
        /*0030*/                   FMUL R1, R1, R2 ;
        /*0040*/              @P1  BRA `(.L_x_0) ;
        /*0050*/               @P0 BRA `(.L_x_1) ;
        /*0060*/                   BRA `(.L_x_3) ;
.L_x_2:
        /*0070*/                   BRA `(.L_x_2);
        /*0080*/                   NOP;
.L_x_3:
        /*0090*/                   EXIT ;
"""


def test_loops_of_a_listing():
    assert counts.loop_lengths(LISTING) == [2, 5]
    assert [op for op, _ in counts.sass_lines(LISTING) if op] == [
        "LDC", "FADD", "IADD3", "FMUL", "BRA", "BRA", "BRA", "BRA", "NOP", "EXIT",
    ]  # fmt: skip


def test_two_builds(monkeypatch, capsys):
    """What is the same twice differs in nothing; what the second build does otherwise is said."""
    if not PTXAS:
        pytest.skip("ptxas is not on PATH")
    first, second = counts.ptx_of("vadd"), counts.ptx_of("jacobi")
    made = iter([{"k sm_90": first, "l sm_90": first}, {"k sm_90": first, "l sm_90": second}])
    monkeypatch.setattr(counts, "ptx_by", lambda folder, archs: next(made))
    counts.compare_builds([None, None], ["sm_90"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("l sm_90") and "registers 12 -> " in lines[0]
    assert lines[1].startswith("of 2 the PTX of 1 differs;")
