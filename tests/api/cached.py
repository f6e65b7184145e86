"""Kernels for tests of the disk cache: made anew from source text for each compilation, so that nothing but the disk can remember them."""

import math
import textwrap

import numpy as np
import pytest
from pyptx import cuda


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache's directory, for this process and those that it starts."""
    for name in ("PYPTX_CACHE_DIR", "PYPTX_CACHE_READONLY_DIR", "PYPTX_CACHE_SIZE", "PYPTX_CACHE_WAIT", "PYPTX_DUMP"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "cache"
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(path))
    return path


SCALE = """
def scale(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * FACTOR
"""


def make(source=SCALE, name="scale", filename="/somewhere/kernels.py", options=None, **scope):
    scope = {"cuda": cuda, "np": np, "math": math, "__name__": "kernels", "FACTOR": 3, **scope}
    exec(compile(textwrap.dedent(source), filename, "exec"), scope)
    return cuda.jit(**(options or {}))(scope[name])


def use(kernel, *args):
    """How the cache served a new kernel for these arguments: "hit", "miss" or None."""
    args = args or (np.zeros(4, np.float32), np.zeros(4, np.float32))
    return kernel.compile(tuple(map(kernel._typeof, args))).cache


def run(kernel):
    x, out = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    kernel[1, 8](x, out)
    cuda.synchronize()
    return out.tolist()


def files(folder):
    return sorted(folder.glob("*.kernel"))
