"""Tests that need a GPU's memory for themselves (@pytest.mark.alone) run while no other test does, in whichever worker of pytest-xdist or
other process: all tests on a GPU share a lock, these take it whole. A test that loses the context ends its worker, so that no other test fails
for it."""

import fcntl
import os
import sys
import tempfile
from contextlib import ExitStack, contextmanager

import pytest


os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else JAX takes three quarters of the GPU's memory, and keeps it


@contextmanager
def held(name, how):
    path = os.path.join(tempfile.gettempdir(), f"pyptx-tests-{os.getuid()}-{name}.lock")
    with open(path, "w") as file:
        fcntl.flock(file, how)
        yield  # closing the file lets it go


def context_is_lost():
    from pyptx import cuda

    for _ in range(2):  # the first may raise what a kernel with debug=True has found
        try:
            cuda.synchronize()
            return False
        except Exception as e:
            reason = e
    return str(reason).splitlines()[0]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    if os.environ.get("PYPTX_DEVICE") != "gpu":
        yield
        return
    alone = item.get_closest_marker("alone") is not None
    with ExitStack() as stack:
        with held("turn", fcntl.LOCK_EX):  # who waits for all others lets none pass
            stack.enter_context(held("memory", fcntl.LOCK_EX if alone else fcntl.LOCK_SH))
        yield
        if alone:
            from pyptx import cuda

            cuda.trim_memory()
        if "pyptx" in sys.modules and "PYTEST_XDIST_WORKER" in os.environ and (reason := context_is_lost()):
            print(f"{item.nodeid}: the context is lost ({reason}); another worker goes on", file=sys.__stderr__, flush=True)
            os._exit(70)


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: fills or measures the GPU's memory: no other test runs meanwhile")
    config.addinivalue_line("markers", "unsanitized(reason): not for compute-sanitizer (tests/gpu/sanitize.py)")
    config.addinivalue_line("markers", "unchecked(reason): not for PYPTX_CHECK: a kernel of it is wrong on purpose, or checks change what it looks at")


def pytest_runtest_setup(item):
    mark = item.get_closest_marker("unchecked")
    if mark and os.environ.get("PYPTX_CHECK"):
        pytest.skip(mark.args[0])
