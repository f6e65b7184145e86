"""What only a GPU shows. scripts/gpu runs these and tests/api in one process with PYPTX_DEVICE=gpu; without a GPU they are skipped.
PYPTX_DEVICE=ptx: what can be shown there of the GPU's code on the CPU (tests/ptx_on_cpu), as test_gpu_devices.py."""

import os
import sys
from pathlib import Path

import pytest

if os.environ.get("PYPTX_DEVICE") == "ptx":
    sys.path[:0] = [str(Path(__file__).parents[1] / "api"), str(Path(__file__).parents[1])]
    import ptx_on_cpu

    ptx_on_cpu.choose()


def no_gpu():
    """Why these tests cannot run, or None."""
    if os.environ.setdefault("PYPTX_DEVICE", "gpu") != "gpu":
        return f"PYPTX_DEVICE is {os.environ['PYPTX_DEVICE']}: run scripts/gpu test"
    from pyptx import cuda

    try:
        return None if len(cuda.gpus) else "no GPU"
    except Exception as e:  # the driver's own words
        return f"no GPU: {str(e).splitlines()[0]}"


def pytest_collection_modifyitems(config, items):
    mine = [item for item in items if "/tests/gpu/" in str(item.path)]
    reason = no_gpu() if mine else None
    if reason:
        for item in mine:
            item.add_marker(pytest.mark.skip(reason=reason))
