"""Machine code of the inner loops of all sets beside tests/bench/loops.txt, which `python bench/loops.py --update`
writes."""

import loops
import pytest
from loops import Instruction, counts, early_loads, inner_loops, instructions, is_wide, packaged, pieces

LISTING = """
        .headerflags    @"EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   LDG.E R5, desc[UR4][R2.64] ;
        /*0020*/              @!P0 IADD3.X R3, R3, 0x1, RZ, P1, !PT ;
        /*0030*/                   FMUL R1, R1, R2 ;
        /*0040*/              @P1  BRA 0x30 ;
        /*0050*/             @!UP0 BRA 0x10 ;
        /*0060*/                   EXIT ;
        /*0070*/                   BRA 0x70;
        /*0080*/                   NOP;
        /*0090*/                   NOP;
        /*00a0*/                   EXIT ;
        /*00b0*/                   BRA 0xa0;
"""


def names(code):
    return [i.name for i in code]


def test_the_goldens():
    """All of both sets: 5 s of CPU, on all cores."""
    if loops.missing():
        pytest.skip(loops.missing())
    found = loops.differences(loops.table(), loops.GOLDEN.read_text().splitlines())
    assert not found, "if this is meant: python bench/loops.py --update\n" + "\n".join(found)


def test_a_listing_in_pieces():
    one, two = pieces(LISTING, [160, 32])
    assert len(one) == 10 and names(two) == ["EXIT", "BRA"] and two[1].to == 0
    assert [names(loop) for loop in inner_loops(one)] == [["FMUL", "BRA"]]
    assert one[5].to == 1 and inner_loops(two) == [two]
    assert counts(one) == (8, 1, 1, 1)  # the NOPs are not counted


def test_what_has_64_bits():
    wide = "IMAD.WIDE IMAD.WIDE.U32 IADD3.X LEA.HI.X ISETP.GE.AND.EX SHF.L.U64.HI F2I.S64.TRUNC IADD.64 UIADD3.X I2F.U64 IMAD.X".split()
    narrow = "IADD3 IMAD ISETP.GE.AND LDG.E.64 STG.E.64 DFMA MUFU.RCP64H FSETP.GT.AND I2F.F64 SHF.R.U32.HI F2F.F64.F32 ATOMG.E.ADD.64".split()
    assert [name for name in wide + narrow if is_wide(Instruction(name, ""))] == wide


@pytest.mark.parametrize(("text", "early"), [
    ("LDG.E R4, desc[UR4][R2.64]; LDG.E R5, desc[UR4][R2.64+0x4]; FADD R6, R4, R5; LDG.E R7, desc[UR4][R8.64]", 2),
    ("LDG.E R4, desc[UR4][R2.64]; FFMA R4, R4, R9, R10; LDG.E R5, desc[UR4][R2.64+0x4]", 1),
    ("LDG.E.128 R4, desc[UR4][R2.64]; LDG.E R9, desc[UR4][R12.64]; STG.E desc[UR4][R16.64], R7; LDG.E R10, desc[UR4][R2.64]", 2),
    ("LDG.E R4, desc[UR4][R2.64]; LDG.E R5, desc[UR4][R4.64]", 1),  # the second waits for the first
    ("LDS R4, [R2]; FADD R5, R4, R4; LDG.E R6, desc[UR4][R8.64]", 1),
    ("FADD R5, R4, R4", 0),
])  # fmt: skip
def test_loads_before_the_first_use(text, early):
    body = [Instruction(*line.strip().split(" ", 1)) for line in text.split(";")]
    assert early_loads(body) == early


def test_a_diff_names_the_kernel():
    old = ["sm_90", "first vadd   28", "  loop   23", "second a   9"]
    assert [line for line in loops.differences([*old[:2], "  loop   25", old[3]], old) if line.startswith(("-", "+", " "))][2:] == [
        " sm_90", " first vadd   28", "-  loop   23", "+  loop   25", " second a   9",
    ]  # fmt: skip


def test_one_kernel():
    if loops.missing():
        pytest.skip(loops.missing())
    whole = loops.GOLDEN.read_text().splitlines()
    lines = loops.table(lambda kernel: kernel.name == "pathfinder")
    at = whole.index(lines[1])
    assert packaged("ptxas") and lines[0] == whole[0] and lines[1:] == whole[at : at + len(lines) - 1]
