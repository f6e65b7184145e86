"""Each example as a user runs it: a process of its own, which checks itself against NumPy and exits with 1 if they differ."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pyptx import cuda

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


PROGRAMS = sorted(str(p.relative_to(EXAMPLES)) for p in (*EXAMPLES.glob("*.py"), *EXAMPLES.glob("gemm_steps/step?_*.py")))


@pytest.mark.unchecked("tests/full/test_checked.py runs the examples")
@pytest.mark.skipif("PYPTX_ON_PTX" in os.environ, reason="a process of its own, which does not run PTX on the CPU")
@pytest.mark.parametrize("name", PROGRAMS)
def test_example(name, tmp_path, device):
    result = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYPTX_DEVICE": device, "XDG_CACHE_HOME": str(tmp_path)},
    )
    assert result.returncode == 0, result.stdout + result.stderr
    if name == "find_mistakes.py" and device != "host":
        return  # it chooses the host device, and its name is not the GPU's
    assert "on " + cuda.get_current_device().name in result.stdout, "the device is not named"
    assert not result.stderr


def test_every_example_is_listed():
    readme = (EXAMPLES / "README.md").read_text()
    assert all(f"]({name})" in readme for name in PROGRAMS)


def test_the_gallery_has_every_picture():
    """tests/full makes them; here, that none is forgotten and none is missing."""
    named = re.findall(r"^<!-- picture: (\w+): .+ -->$", (EXAMPLES.parent / "docs/gallery.md").read_text(), re.M)
    assert sorted(named) == sorted(p.stem for p in EXAMPLES.glob("*.py") if '"--picture"' in p.read_text())
