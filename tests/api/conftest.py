"""The API tests run on the host device, or on the GPU with PYPTX_DEVICE=gpu: the same files, the same assertions."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("PYPTX_DEVICE", "host")
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def device():
    """Where kernels run: "host" or "gpu"."""
    return os.environ["PYPTX_DEVICE"]


@pytest.fixture(scope="session")
def libm_ulps(device):
    """Error bound of math functions in ulps: C library, CUDA's libdevice."""
    return {"host": 1, "gpu": 4}[device]


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "host_only(reason): needs the checks that only the host device always makes"
    )


def pytest_runtest_setup(item):
    mark = item.get_closest_marker("host_only")
    if mark and os.environ["PYPTX_DEVICE"] != "host":
        pytest.skip(mark.args[0] if mark.args else "checks of the host device")
