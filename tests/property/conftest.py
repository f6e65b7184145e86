"""Property tests share the harness of tests/api and its choice of device."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("PYPTX_DEVICE", "host")
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "api"), str(Path(__file__).resolve().parents[1])]
if os.environ["PYPTX_DEVICE"] == "ptx" or "PYPTX_ON_PTX" in os.environ:
    import ptx_on_cpu

    ptx_on_cpu.choose()


@pytest.fixture(autouse=True)
def no_advice(monkeypatch):
    monkeypatch.setenv("PYPTX_ADVICE", "0")  # programs read what some path leaves unset
