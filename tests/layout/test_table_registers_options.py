"""Rows of ir/registers.def, codegen/options.def and codegen/fastmath.def: none can be lost, or come without what it needs, unnoticed.
A row is taken out of, or put into, a copy of its table; what reads the table must then not compile, not start, or not agree with the docs."""

import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TABLES = {"ir/registers.def": "S", "codegen/options.def": "[OF]", "codegen/fastmath.def": "M"}  # and their rows' macros
PAGES = {"ir/registers.def": "intrinsics", "codegen/options.def": "options", "codegen/fastmath.def": "options"}
ROW = re.compile(r"^([A-Z])\((\w+), .*$", re.M)
LLVM = Path("/usr/lib/llvm-22/include")
CC = shutil.which("cc")


def lines_of(table):
    return [m[0] for m in ROW.finditer((ROOT / table).read_text()) if re.match(TABLES[table], m[1])]


ROWS = [(table, line) for table in TABLES for line in lines_of(table)]
FIELDS = [(line, re.search(r"CODE\((\w+), ", line)[1]) for line in lines_of("codegen/options.def") if "CODE(" in line]


def generator():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(table, change=lambda text: text):
    """The page of the reference that has the table's rows, with a change of its text."""
    module = generator()
    text_of = module.text_of
    module.text_of = lambda path: change(text_of(path)) if path == table else text_of(path)
    return getattr(module, f"{PAGES[table]}_page")()


def compiles(table, text, source, folder):
    """Does a source compile with this text as the table?"""
    copy = folder / table
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text)
    command = [CC, "-fsyntax-only", "-std=gnu11", "-D_GNU_SOURCE", '-DPYPTX_VERSION=""', f"-I{folder}", f"-I{ROOT}", f"-I{LLVM}",
               f"-I{sysconfig.get_path('include')}", str(ROOT / source)]
    return subprocess.run(command, capture_output=True).returncode == 0


def without(table, line):
    text = (ROOT / table).read_text()
    assert text.count(line + "\n") == 1
    return text.replace(line + "\n", "")


needs_headers = pytest.mark.skipif(not CC or not LLVM.is_dir(), reason="no C compiler, or no headers of LLVM")


@pytest.mark.parametrize("table, line", [(t, r) for t, r in ROWS if not r.startswith("F(")], ids=lambda x: x[:22])
def test_the_docs_miss_a_row(table, line):
    written = (ROOT / f"docs/reference/{PAGES[table]}.md").read_text()
    assert page(table) == written != page(table, lambda text: text.replace(line + "\n", ""))


@needs_headers
@pytest.mark.parametrize("line", lines_of("ir/registers.def")[:13], ids=lambda x: x[:10])
def test_the_build_misses_a_register(line, tmp_path):
    """All but the lane masks, which only kernels name."""
    table, readers = "ir/registers.def", ("ir/registers.c", "codegen/coarsen/loads.c")
    assert all(compiles(table, (ROOT / table).read_text(), source, tmp_path) for source in readers)
    assert not all(compiles(table, without(table, line), source, tmp_path) for source in readers)


@needs_headers
@pytest.mark.parametrize("line, field", FIELDS, ids=lambda x: x[:16])
def test_the_build_misses_an_option(line, field, tmp_path):
    """A field that the compiler does not read is not one of CgOptions."""
    word, table = re.compile(rf"(?:->|\.){field}\b"), "codegen/options.def"
    readers = [p.relative_to(ROOT) for p in sorted((ROOT / "codegen").rglob("*.c")) if word.search(p.read_text())]
    assert any(not compiles(table, without(table, line), source, tmp_path) for source in readers)


@needs_headers
@pytest.mark.parametrize("row", [
    'S(NEW, "new", "cuda.new", VALUE, sreg, THREAD, 0, 31, NOT_SAID, "Has no source on the host.")',
    'S(NEW, "new", "cuda.new", VALUE, sreg, SOMEWHERE, 0, 31, ARG(TX), "Is the same in what?")',
    'S(NEW, "new", "cuda.new", VALUE, sreg, THREAD, 5, 3, ARG(TX), "Has no value at all.")',
    'S(NEW, "new", "cuda.new", VALUE, sreg, THREAD, 0, 3, "Has a column less.")',
])
def test_a_register_is_a_whole_row(row, tmp_path):
    table, text = "ir/registers.def", (ROOT / "ir/registers.def").read_text() + row + "\n"
    assert not all(compiles(table, text, source, tmp_path) for source in ("ir/registers.c", "codegen/host/target.c"))


def with_option(row, program):
    """Runs a program with one row more in the table of options, as the extension module gives it."""
    prelude = f"""
from pyptx import _pyptx
rows, fields, flags = _pyptx._options()
_pyptx._options = lambda: (rows + [{row!r}], fields + [("hasty", "hasty", 0)], flags)
"""
    return subprocess.run([sys.executable, "-c", prelude + program], capture_output=True, text=True)


def test_a_row_is_all_that_the_decorator_and_the_command_line_need():
    done = with_option(("hasty", "FLAG", 0, 1, None, None, "BOTH", "", "--hasty", "do everything at once"), """
from pyptx import cli, cuda
from pyptx.cuda import _jit
print(_jit._read_options({"hasty": True})["hasty"], "hasty=False" in cuda.jit.__doc__)
for options in ({"hasti": 1}, {"hasty": 3}):
    try:
        cuda.jit(**options)
    except TypeError as error:
        print(error)
print(cli.options_of(cli.parser().parse_args(["compile", "x.py", "--hasty"])))
""")
    assert done.stdout.splitlines() == ["True True", "@cuda.jit has no option 'hasti'; did you mean 'hasty'?",
                                        "hasty must be True or False, not 3", "{'hasty': True}"], done.stderr


def test_an_option_of_its_own_kind_needs_a_reader():
    done = with_option(("hasty", "OWN", 0, 0, "Any", "None", "BOTH", "", "", "do everything at once"), "import pyptx.cuda")
    assert done.returncode and "_read_hasty" in done.stderr
