"""Threads and blocks that wait for one another by atomics, in a process of its own: what waits in vain on a GPU never ends."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = {
    "antidiagonals": """
@cuda.jit
def kernel(table, counts):
    b, u = cuda.blockIdx.x, cuda.threadIdx.x
    for t in range(table.shape[1]):
        if u > 0:
            while cuda.atomic.add(counts, (b, u - 1), 0) <= t:
                pass
        above = table[b, t - 1, u] if t > 0 else 0
        left = table[b, t, u - 1] if u > 0 else 0
        table[b, t, u] = above + left if t > 0 and u > 0 else 1
        cuda.threadfence()
        cuda.atomic.add(counts, (b, u), 1)

table = np.zeros((5, 20, 40), np.int64)
kernel[5, 40](table, np.zeros((5, 40), np.int32))
want = np.ones((20, 40), np.int64)
for t in range(1, 20):
    for u in range(1, 40):
        want[t, u] = want[t - 1, u] + want[t, u - 1]
assert (table == want).all()
""",
    "a lock of blocks": """
@cuda.jit
def kernel(lock, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            cuda.nanosleep(20)
        cuda.threadfence()
        total[0] = total[0] + 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)

total = np.zeros(1, np.int64)
kernel[200, 32](np.zeros(1, np.int32), total)
assert total[0] == 200
""",
    "look-back": """
@cuda.jit
def kernel(x, out, flags, sums):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        before = 0
        if b > 0:
            while cuda.atomic.add(flags, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = cuda.atomic.add(sums, b - 1, 0)
        cuda.atomic.exch(sums, b, before + x[b])
        cuda.threadfence()
        cuda.atomic.exch(flags, b, 1)
        out[b] = before + x[b]

x = np.arange(300)
out = np.zeros(300, np.int64)
kernel[300, 32](x, out, np.zeros(300, np.int32), np.zeros(300, np.int64))
assert (out == np.cumsum(x)).all()
""",
}


@pytest.mark.parametrize("which", PROGRAMS)
def test_waiting(which, tmp_path):
    file = Path(tmp_path) / "program.py"
    file.write_text("import numpy as np\nfrom pyptx import cuda\n" + PROGRAMS[which] + "cuda.synchronize()\n")
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
