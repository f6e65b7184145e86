"""Random kernels made of what natural ones are made of (natural_kernels.py): every thread's numbers are those of
CPython, bit for bit. Costs 30 s of CPU. `python tests/property/natural_kernels.py N --seed S` tries others.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from amount import MORE
from natural_kernels import check
from standin import needs_standin


@pytest.mark.parametrize("first", range(0, 24 * MORE, 12))
@pytest.mark.parametrize("meets", [False, True])
def test_each_thread(first, meets):
    failures = check(first, 12, meets)
    assert not failures, "\n".join(failures)


@needs_standin
@pytest.mark.parametrize("first", range(500, 500 + 8 * MORE, 8))
@pytest.mark.parametrize("options", [[], ["--coarsen", "2"]])
def test_gpu_code_on_the_cpu(options, first):
    program = Path(__file__).with_name("natural_kernels.py")
    done = subprocess.run([sys.executable, program, "8", "--seed", str(first), "--device", "ptx", *options], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("failed: none\n"), done.stdout[-5000:] + done.stderr[-2000:]
