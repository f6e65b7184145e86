"""Tests that need a GPU's memory for themselves (@pytest.mark.alone) run while no other test does, in whichever worker of pytest-xdist or
other process: all tests on a GPU share a lock, these take it whole."""

import fcntl
import os
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


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: fills or measures the GPU's memory: no other test runs meanwhile")
