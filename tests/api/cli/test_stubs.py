"""The stubs beside the package that they describe: mypy's stubtest, and every public name has one."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest

import pyptx
from pyptx import _pyptx, cuda

PACKAGE = pathlib.Path(pyptx.__file__).parent

# What stubtest compares and the stubs mean otherwise, as patterns of names.
OTHERWISE = [
    r"pyptx\.cuda\.libdevice\..*",  # functions of kernels: objects of the extension, functions in the stubs
    r"pyptx\.cuda\.coop\.(Block|Tile).*",  # named tuples, made in kernels alone
    r"pyptx\.doctor\..*",  # a program
    r"pyptx\.__main__",  # runs
    r"pyptx\.cuda\.random\.__all__",  # says the dtype's names too
    r"pyptx\.cuda\.gpus",  # the class is in a private module
    r"pyptx\.cuda\.MemoryInfo.*",  # a tuple with names
    r"pyptx\.types\.(Array|NoneType)",  # their metaclass makes Types
    r"pyptx\._pyptx\.Dispatcher.*",  # a device function can be called, a kernel cannot; the extension has one class
    r"pyptx\.numba\..*",  # stand-ins for Numba's modules
    r"pyptx\.cuda\.kernels\..*",
    r"pyptx\.(cuda\.)?_(?!pyptx\b).*",  # private modules
    r"pyptx\._pyptx\.(Device\.__getattr__|DeviceArray\.__iter__)",  # by other slots of the type
    r"pyptx\._pyptx\.BoundLaunch\.__call__",  # called without arguments
]


def test_stubtest(tmp_path):
    pytest.importorskip("mypy")
    names = {re.escape(f"pyptx.cuda.{name}") + r"(\..*)?" for name in _pyptx.intrinsics}
    (tmp_path / "allowed").write_text("\n".join([*OTHERWISE, *sorted(names)]) + "\n")
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_errors = True\n")  # the stubs are checked by tests/full/test_types.py
    ran = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "pyptx", "--concise", "--ignore-missing-stub", "--ignore-unused-allowlist",
         "--allowlist", str(tmp_path / "allowed"), "--mypy-config-file", str(tmp_path / "mypy.ini")],
        cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def declared(stub):
    """The names that a stub gives its module."""
    found = set()
    for node in ast.parse((PACKAGE / stub).read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            found.add(node.target.id)
        elif isinstance(node, ast.Assign):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {a.asname or a.name for a in node.names}
    return found | (declared("types.pyi") & set(pyptx.types.__all__) if "*" in found else set())


@pytest.mark.parametrize("stub, names", [("__init__.pyi", pyptx.__all__), ("cuda/__init__.pyi", cuda.__all__), ("types.pyi", pyptx.types.__all__)])
def test_every_public_name_is_in_the_stubs(stub, names):
    assert set(names) - declared(stub) == set()
