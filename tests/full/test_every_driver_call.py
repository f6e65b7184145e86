"""Every call of the driver fails in turn, with several errors, devices and kinds of memory (tests/api/cli/test_driver_sweep.py)."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/api"), str(ROOT / "tests/api/cli")]
os.environ.setdefault("PYPTX_STANDIN", str(ROOT / "build/release/standin/libcuda.so.1"))  # what scripts/test c builds

import test_driver_sweep as sweep  # noqa: E402


@pytest.mark.parametrize("pools", ["0", "1"])
@pytest.mark.parametrize("devices", ["1", "2"])
@pytest.mark.parametrize("code", list(sweep.CODES))
def test_every_call_fails(code, devices, pools):
    out = sweep.swept(f"one_by_one({code})", PYPTX_STANDIN_DEVICES=devices, PYPTX_STANDIN_POOLS=pools)
    assert int(out.split("failed ")[-1]) > 400


@pytest.mark.parametrize("pools", ["0", "1"])
@pytest.mark.parametrize("devices", ["1", "2"])
def test_the_context_breaks_at_each_step(devices, pools):
    out = sweep.swept("from_here_on()", PYPTX_STANDIN_DEVICES=devices, PYPTX_STANDIN_POOLS=pools)
    assert int(out.split("broken ")[-1]) == 12
