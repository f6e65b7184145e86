"""Random programs by the GPU's code, where there is no GPU: LLVM's PTX and our fix-ups, run on the CPU (tests/ptx_on_cpu), against CPython.

Half of each shard at opt=3, half at opt=0; and some with every launch coarsened that can be. `scripts/soak N --device ptx` runs more."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from amount import MORE
from standin import needs_standin

HERE = Path(__file__).parent
FIRST, PROGRAMS, SHARD = 30_000, 100 * MORE, 50  # other seeds than those of the host device
COARSENED = 12  # of a kernel each


def soak(n, first, *options, **environment):
    """Its last line."""
    command = [sys.executable, HERE / "soak.py", str(n), "--seed", str(first), "--device", "ptx", "--jobs", "1", *options]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"soak: {n} programs" in done.stdout and "failed: none" in done.stdout
    return done.stdout.splitlines()[-1]


@needs_standin
@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, SHARD))
def test_programs(first):
    limit = {"PYPTX_INLINE_LIMIT": "0"} if first // SHARD % 2 else {}  # functions that stay calls
    soak(SHARD, first, "--batch", str(SHARD // 2), **limit)


@needs_standin
@pytest.mark.parametrize("factor", [2, 3])
def test_coarsened(factor):
    """In blocks of 8 threads, with a tail: at least a quarter of the kernels are such that coarsening takes them."""
    line = soak(COARSENED, FIRST + 1000 * factor, "--coarsen", str(factor))
    assert int(re.search(r"(\d+) kernels coarsened", line)[1]) >= COARSENED // 4, line
