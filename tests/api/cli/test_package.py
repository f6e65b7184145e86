"""What pip knows of us: the distribution pyptx-cuda, and another package of the name that we are imported by."""
import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pyptx
import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_metadata():
    found = importlib.metadata.metadata("pyptx-cuda")
    assert found["Version"] == pyptx.__version__
    assert found["License-Expression"] == "MIT" and found["Requires-Python"] == ">=3.11"
    assert [r for r in found.get_all("Requires-Dist") if "extra" not in r] == ["numpy>=1.26"]
    assert "Programming Language :: Python :: 3.15" in found.get_all("Classifier")
    assert "@cuda.jit" in (found["Description"] or found.get_payload()), "the description is the README"


@pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="not a checkout")
def test_the_version_stands_in_one_place():
    version = re.search(r'^version = "(.*)"', (ROOT / "pyproject.toml").read_text(), flags=re.M)[1]
    assert version == pyptx.__version__


def imported_beside(tmp_path, *others):
    """The stderr of a process that imports pyptx from a folder that also has these."""
    os.symlink(Path(pyptx.__file__).parent, tmp_path / "pyptx")
    for other in others:
        (tmp_path / other).mkdir()
    done = subprocess.run([sys.executable, "-c", "from pyptx import cuda\nfrom pyptx import types\nprint(cuda.jit.__name__)"], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0 and done.stdout.strip() == "jit", done.stderr
    return done.stderr


def test_another_package_of_this_name_is_told_once(tmp_path):
    told = imported_beside(tmp_path, "pyptx-0.3.1.dist-info", "pyptx_cuda-0.1.0.dist-info")
    assert told.count("also holds another package named pyptx (pyptx-0.3.1.dist-info)") == 1
    assert "pip uninstall pyptx pyptx-cuda" in told


def test_alone_nothing_is_said(tmp_path):
    assert imported_beside(tmp_path, "pyptx_cuda-0.1.0.dist-info", "numpy-2.4.6.dist-info") == ""
