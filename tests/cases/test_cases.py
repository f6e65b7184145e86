"""Every golden case under pytest; see run.py."""
import pytest

import run


@pytest.mark.parametrize("path, extension", list(run.cases()), ids=lambda v: v.stem if hasattr(v, "stem") else v)
def test_case(path, extension):
    wrong = run.check(path, extension)
    assert not wrong, wrong
