"""The API tests run on the host device, or on the GPU with PYPTX_DEVICE=gpu: the same files, the same assertions. PYPTX_DEVICE=ptx: the GPU's code on
the CPU (tests/ptx_on_cpu; PYPTX_STANDIN names the stand-in driver). PYPTX_COARSEN=K and PYPTX_TESTS_OPT=0 are coarsen= and opt= of all
kernels that do not say."""

import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("PYPTX_DEVICE", "host")
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
from standin import FOLDERS  # noqa: E402 - its folder is on the path now

sys.path[2:2] = FOLDERS[1:]
if os.environ["PYPTX_DEVICE"] == "ptx" or "PYPTX_ON_PTX" in os.environ:
    import ptx_on_cpu

    ptx_on_cpu.choose()

if "PYPTX_TESTS_OPT" in os.environ:
    from pyptx.cuda import _jit

    read_options = _jit._read_options
    _jit._read_options = lambda options: read_options({"opt": int(os.environ.get("PYPTX_TESTS_OPT", 3)), **options})


@pytest.fixture(scope="session")
def device():
    """Where kernels run: "host" or "gpu"."""
    return os.environ["PYPTX_DEVICE"]


@pytest.fixture(scope="session")
def libm_ulps(device):
    """Error bound of math functions in ulps: C library, CUDA's libdevice."""
    return {"host": 1, "gpu": 4}[device]


@pytest.fixture
def one_entry(monkeypatch):
    """For tests that read the PTX of the kernel that was written: PYPTX_COARSEN, with which the others run, adds a second entry to it, and
    PYPTX_TESTS_OPT leaves it as it was lowered."""
    monkeypatch.delenv("PYPTX_COARSEN", raising=False)
    monkeypatch.delenv("PYPTX_TESTS_OPT", raising=False)


@pytest.fixture
def unoptimised(monkeypatch, device):
    """Long kernels, of which a test asks what they compute in many forms and at many sizes, are compiled for the host
    device without the optimiser, in a fifth of the time; not those that say `opt=`, and not in scripts/full."""
    if device == "host" and "PYPTX_MORE" not in os.environ:
        from pyptx.cuda import _jit

        read = _jit._read_options
        monkeypatch.setattr(_jit, "_read_options", lambda options: read({"opt": 0, **options}))


@pytest.fixture(autouse=True)
def folders_of_modules():
    """`pyptx compile FILE` puts the file's folder into sys.path: not for the tests that follow."""
    before = list(sys.path)
    yield
    sys.path[:] = before


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "host_only(reason): needs the checks that only the host device always makes"
    )


def pytest_runtest_setup(item):
    mark = item.get_closest_marker("host_only")
    if mark and os.environ["PYPTX_DEVICE"] != "host":
        pytest.skip(mark.args[0] if mark.args else "checks of the host device")


def pytest_runtest_teardown():
    if "PYPTX_ON_PTX" in os.environ:
        ptx_on_cpu.clear()
