"""The module for free-threaded CPython: that it compiles, as far as the headers of a usual CPython can show.

Its headers are those of the free-threaded build, which differ by one definition. What the code then does is only seen where such an
interpreter is installed, which runs tests/api/host/test_threads.py like any other."""

import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "pyext").rglob("*.c"))
COMPILER = shutil.which("gcc") or shutil.which("cc")
INCLUDE = Path(sysconfig.get_paths()["include"])

needs_headers = pytest.mark.skipif(
    sys.version_info < (3, 13) or not COMPILER or not (INCLUDE / "Python.h").exists(),
    reason="needs a C compiler and the headers of CPython 3.13 or later",
)


@needs_headers
def test_it_compiles():
    flags = "-std=gnu11 -D_GNU_SOURCE -DPy_GIL_DISABLED=1 -fsyntax-only -Wall -Wextra -Wshadow -Werror"
    flags = [*flags.split(), '-DPYPTX_VERSION="0"', f"-I{ROOT}", f"-I{INCLUDE}"]

    def compiled(source):
        result = subprocess.run([COMPILER, *flags, str(source)], capture_output=True, text=True, timeout=120)
        return result.stderr if result.returncode else ""

    with ThreadPoolExecutor(2) as pool:
        said = "".join(pool.map(compiled, SOURCES))
    assert not said, said


def test_no_lock_is_left_by_a_jump():
    """PX_BEGIN_LOCKED … PX_END_LOCKED is a block that must be left at its end: elsewhere than in a free-threaded build nobody would see."""
    for source in SOURCES:
        for part in re.findall(r"PX_BEGIN_LOCKED\((.*?)PX_END_LOCKED", source.read_text(), re.S):
            assert not re.search(r"\b(return|goto)\b", part), f"{source.name}: {part}"


# A variable of a file, or of a function of it, that is neither constant nor a thread's own nor atomic. CPython wants its
# tables writable, and writes to none of them.
CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
VARIABLE = re.compile(r"^[ \t]*static\s+(?![^;={]*\bconst\b)([^;={}()]*?)(\w+)\s*(?:\[[^\]]*\]\s*)*[;=]", re.M)
TABLES = re.compile(r"\bPy(?:GetSetDef|MethodDef|MemberDef|ModuleDef|Type_Slot|Type_Spec|ModuleDef_Slot)\b|^char \*$")


def shared_variables(text):
    return [name for kind, name in VARIABLE.findall(CODE.sub(" ", text))
            if not TABLES.search(kind) and "_Thread_local" not in kind and not re.search(r"\b(?:atomic_\w+|_Atomic)\b", kind)]


def test_threads_share_no_variable():
    found = [f"{source.relative_to(ROOT)}: {name}" for source in SOURCES for name in shared_variables(source.read_text())]
    assert len(SOURCES) > 30 and not found, found


def test_the_rule_about_variables_itself():
    kept = "static int f(void);\nstatic const int a[] = {1};\nstatic const char *const n[] = {0};\nstatic _Thread_local int b;\n"
    kept += "  static atomic_flag c = {0};\nstatic PyMethodDef d[] = {{0}};\n  static char *names[] = {0};\n"
    assert not shared_variables(kept)
    assert shared_variables("static int a;\n  static PyObject *b = NULL;\nstatic struct { int x; } *c[2];\n") == ["a", "b"]
