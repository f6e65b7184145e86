"""Random programs by the GPU's code, where there is no GPU: LLVM's PTX and our fix-ups, run on the CPU (tests/ptx_on_cpu), against CPython.

Half of each shard at opt=3, half at opt=0. `scripts/soak N --device ptx` runs more."""

import subprocess
import sys
from pathlib import Path

import pytest
from standin import needs_standin

HERE = Path(__file__).parent
FIRST, PROGRAMS, SHARD = 30_000, 200, 50  # other seeds than those of the host device


@needs_standin
@pytest.mark.parametrize("first", range(FIRST, FIRST + PROGRAMS, SHARD))
def test_programs(first):
    command = [sys.executable, HERE / "soak.py", str(SHARD), "--seed", str(first), "--device", "ptx", "--jobs", "1", "--batch", str(SHARD // 2)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"soak: {SHARD} programs" in done.stdout and "failed: none" in done.stdout
