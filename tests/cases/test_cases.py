"""Every golden case under pytest; see run.py."""
import sys

import pytest

import run

sys.path.append(str(run.HERE.parent / "api"))
from llvm_text import MAJOR  # noqa: E402


@pytest.mark.parametrize("path, extension", list(run.cases()), ids=lambda v: v.stem if hasattr(v, "stem") else v)
def test_case(path, extension):
    if extension in (".ll", ".ptx") and MAJOR != 22:
        pytest.skip("this text is LLVM 22's")
    wrong = run.check(path, extension)
    assert not wrong, wrong
