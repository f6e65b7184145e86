"""The tables of docs/compare.md: the code in the columns "here" runs.

A piece in a column "here" runs on the host, with the names that the page defines first; one in a column
"here, in a kernel" becomes a kernel, which is launched with one block.
"""

import ast
import re
from pathlib import Path

import numpy as np
import pyptx.numba
import pytest
from pyptx import cuda
from pyptx.cuda import _nvrtc

PAGE = (Path(__file__).resolve().parents[3] / "docs/compare.md").read_text()
NAMES = re.search(r"## The names in the tables\n+```python\n(.*?)```", PAGE, re.S)[1]
CODE = re.compile(r"`([^`]+)`")
GPU_ONLY = "cuda.Module("  # the host device has none
KERNEL = """
@cuda.jit
def piece(a, out, m, counts, v):
    i, j, t = cuda.grid(1), 0, cuda.threadIdx.x
    {}
"""


def pieces():
    """(section, column, code) of every piece in the last column of every table."""
    for section, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S):
        column = None
        for line in text.split("\n"):
            if not line.startswith("|"):
                column = None
                continue
            last = line.strip("| ").rpartition(" | ")[2]
            if column is None:
                column = last
            elif not line.startswith("|---"):
                for code in CODE.findall(last):
                    yield section, column, code


PIECES = list(dict.fromkeys((column, code) for _, column, code in pieces()))


def has_nvrtc():
    try:
        return bool(_nvrtc._open())
    except RuntimeError:
        return False


@pytest.fixture(scope="module")
def defined():
    """What the page defines, compiled once."""
    scope = {"__name__": "compare"}
    exec(NAMES, scope)
    scope["kernel"][scope["blocks"], scope["threads"]](scope["d_x"], scope["d_out"])
    return scope


@pytest.fixture
def names(defined, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with cuda.get_current_device():  # some pieces select another device
        yield dict(defined)
    pyptx.numba.uninstall()  # one installs it


@pytest.mark.parametrize("code", [code for column, code in PIECES if column == "here"])
def test_on_the_host(code, names):
    if code.startswith("@"):  # a decorator needs something to decorate
        code += "\ndef decorated(x):\n    return x" if "device=True" in code else "\ndef decorated(x):\n    x[0] = 1"
        exec(code, names)
        if "device=True" not in code:
            x = np.zeros(1, np.float32)
            names["decorated"][1, 1](x)
            cuda.synchronize()
            assert x[0] == 1
    elif code.startswith(GPU_ONLY) and cuda.get_current_device().is_host:
        with pytest.raises(RuntimeError, match="GPU"):
            exec(code, names)
    elif code.startswith(GPU_ONLY) and not has_nvrtc():
        pytest.skip("NVRTC is not installed")
    else:
        exec(code, names)


@pytest.mark.parametrize("code", [code for column, code in PIECES if column == "here, in a kernel"])
def test_in_a_kernel(code, names, capfd):
    ast.parse(code)
    # What no result needs is compiled, and then dropped: good enough to see that it exists.
    source = KERNEL.format(code)
    Path("piece.py").write_text(source)
    exec(compile(source, "piece.py", "exec"), names)
    x, m = np.ones(64, np.float32), np.ones((64, 64), np.float32)
    names["piece"][1, 64, 0, 256](x, np.zeros_like(x), m, np.ones(4, np.int32), np.float32(0.5))
    cuda.synchronize()


def test_every_section_has_its_table():
    of = {}
    for section, column, code in pieces():
        of.setdefault(section, []).append(code)
    assert list(of) == ["Numba-CUDA", "CuPy's kernels", "PyCUDA", "Triton", "Warp", "CUDA C++"]
    assert all(len(codes) >= 10 for codes in of.values())
    assert PAGE.count("has and pyptx does not") == len(of)
