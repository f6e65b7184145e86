"""A row of a .def table that lacks something does not compile: no hole of a table waits for the kernel that meets it.

Each case compiles, or rather checks, the one file that reads the table, with a changed copy of the table before it in the
search path. Also: docs/generate.py, which reads the tables by itself, sees the same rows as the compiler.
"""
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(not COMPILER, reason="no C compiler")

RULES = ("ir/intrinsics.def", "typeinfer/resolve/call.c")
OPS = ("ir/ops.def", "typeinfer/rules/rules.c")
OPCODES = ("frontend/opcodes.def", "frontend/decode.c")
POLICY = ("typeinfer/value/policy.def", "typeinfer/value/promote.c")

# table, the file that reads it; a row as it is, as it becomes; what the compiler says then
BROKEN = {
    "an operator without its operation": (*RULES, r'UFUNC_OP2\(ADD, "add", ADD, ', 'UFUNC_OP2(ADD, "add", ', "UFUNC_OP2"),
    "an operation that there is not": (*RULES, r'UFUNC_OP2\(ADD, "add", ADD, ', 'UFUNC_OP2(ADD, "add", PLUS, ', "OP_PLUS"),
    "a function that is computed by one that is gone": (*RULES, r'^MATH1\(SIN, .*$', "", "INTR_MATH_SIN"),
    "a rule without its argument": (
        *RULES, r"warp_vote\(CALL, ARG\(bool, true\)\)", "warp_vote(CALL)", "conflicting types for .ty_rule_warp_vote"),
    "a rule with another argument": (
        *RULES, r"atomic\(CALL, ARG\(AtomicOp, ATOMIC_ADD\)\)", "atomic(CALL, ARG(CacheHint, HINT_LDCA))",
        "conflicting types for .ty_rule_atomic"),
    "an argument without a value": (*RULES, r"\(CALL, ARG\(Op, OP_LT\)\)", "(CALL, ARG(Op, ))", "expected expression"),
    "an intrinsic without a rule": (*RULES, r"FUNC, ord\(CALL\), ", "FUNC, ", "macro .I. "),
    "an operation without a column": (*OPS, r"PURE,  binary,( +)arithmetic, ", r"PURE, binary, ", "macro .OP. "),
    "an operation without a rule": (*OPS, r"PURE,  binary,( +)arithmetic, ", r"PURE, , arithmetic, ", r"rule_\W"),
    "an operation with a rule that there is not": (*OPS, r"PURE,  unary, ", r"PURE, one_operand, ", "rule_one_operand"),
    "an operation that is gone": (*OPS, r"^OP\(GETITEM, .*$", "", "OP_GETITEM"),
    "a branch without a direction": (
        *OPCODES, r"branch\(d, BC_branch, true, forward\(d\)\)", "branch(d, BC_branch, true)", "too few arguments"),
    "an answer of one typing alone": (*POLICY, "TY_PYINT, TY_I32,", "TY_PYINT,", "macro .Q. "),
}


def check(source, before=None):
    """What the compiler says of a file, which is nothing for a good one."""
    done = subprocess.run([COMPILER, "-std=gnu11", "-fsyntax-only", *([f"-I{before}"] if before else []), f"-I{ROOT}", str(ROOT / source)],
                          capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
    assert bool(done.returncode) == ("error:" in done.stderr)
    return done.stderr


@pytest.mark.parametrize("source", [RULES[1], OPS[1], OPCODES[1], POLICY[1]])
def test_the_tables_compile(source):
    assert "error:" not in check(source)


@pytest.mark.parametrize("case", BROKEN)
def test_a_row_that_lacks_something_does_not_compile(case, tmp_path):
    table, source, row, becomes, says = BROKEN[case]
    text, n = re.subn(row, becomes, (ROOT / table).read_text(), count=1, flags=re.M)
    assert n == 1
    copy = tmp_path / table
    copy.parent.mkdir(parents=True)
    copy.write_text(text)
    assert re.search(says, check(source, tmp_path))


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_operation_has_what_its_stage_needs(generate):
    for _, op, stage, *_, rule, lower, _ in generate.rows("ir/ops.def", "OP"):
        assert rule == "none" if stage == "T" else rule != "none" or stage == "B", op
        assert lower == "none" if stage == "L" else lower != "none" or op == "assign", op


def test_the_documentation_has_every_intrinsic(generate):
    done = subprocess.run([COMPILER, "-E", "-P", f"-I{ROOT}", "-"], capture_output=True, text=True, check=True,
                          input='#define I(ID, path, ...) @path@\n#include "ir/intrinsics.def"\n')
    paths = {"".join(re.findall(r'"([^"]*)"', strings)) for strings in re.findall("@(.*?)@", done.stdout)}
    assert len(paths) > 700
    assert paths == {row[0] for row in generate.intrinsics()}


HARDWARE = re.compile(r"mbarrier|cp_async|tensor_map|wgmma\.|mma_sync|matrix|ClusterGroup\.|elect_|setmaxregister|barrier_|fence|grid_dependency|vector\.|inline_ptx")


def test_every_instruction_is_documented(generate):
    """By its PTX, the least architecture and PTX version, and what the host device does; other names of one (cuda.intrin) are not."""
    page = (ROOT / "docs/reference/instructions.md").read_text()
    documented = dict(re.findall(r"^\| `([\w.]+)\(.*?\)`(.*)$", page, flags=re.M))
    rows = [row for name in "ND" for row in generate.rows("ir/instructions.def", name)]
    for row in rows:
        path, (ptx, arch, version, host) = (row[1], [*row[5:9]]) if len(row) == 10 else (row[0], row[1:])
        cells = documented.pop(path)
        named = re.sub(r"\w+\d\w*", r"`\g<0>`", arch)
        needs = f"{named}, PTX {int(version) // 10}.{int(version) % 10}" if arch else "all"
        assert host and f"`{ptx}`" * bool(ptx) in cells and f" | {needs} | " in cells and cells.endswith(f" | {host} |"), path
    assert not documented
    have = {row[1] if len(row) == 10 else row[0] for row in rows}
    lacking = {path for path, _, kind, *_ in generate.intrinsics() if kind == "FUNC" and HARDWARE.search(path)} - have
    assert all(re.match(r"cuda\.(intrin|experimental)\.", path) for path in lacking), f"{lacking}: each needs a row N or D in ir/instructions.def"
    for _, word, *_ in generate.rows("ir/bulk.def", "REDUCTION") + generate.rows("ir/bulk.def", "POLICY"):
        assert f"| `'{word}'` |" in page
