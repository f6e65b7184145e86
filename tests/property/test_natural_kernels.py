"""Random kernels made of what natural ones are made of (natural_kernels.py): every thread's numbers are those of
CPython, bit for bit. Costs 25 s. `python tests/property/natural_kernels.py N --seed S` tries others.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from natural_kernels import check
from standin import needs_standin


@pytest.mark.parametrize("first", [0, 25])
@pytest.mark.parametrize("meets", [False, True])
def test_each_thread(first, meets):
    failures = check(first, 25, meets)
    assert not failures, "\n".join(failures)


@needs_standin
@pytest.mark.parametrize("options", [[], ["--coarsen", "2"]])
def test_gpu_code_on_the_cpu(options):
    program = Path(__file__).with_name("natural_kernels.py")
    done = subprocess.run([sys.executable, program, "15", "--seed", "500", "--device", "ptx", *options], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("failed: none\n"), done.stdout[-5000:] + done.stderr[-2000:]
