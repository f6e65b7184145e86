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
    "flags": """
@cuda.jit
def kernel(out, flags):
    there = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        there[0] = 0
    cuda.syncthreads()
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t == 32:  # of another warp, and in its turn of another block
        while flags[b] == 0:
            pass
        cuda.threadfence()
        out[b + 1, 32] = out[b, 32] + 1
        cuda.threadfence()
        flags[b + 1] = 1
        there[0] = 1
    elif t < 32:
        while there[0] == 0:
            pass
        out[b + 1, t] = t

out, flags = np.zeros((101, 33), np.int64), np.zeros(101, np.int32)
flags[0] = 1
kernel[100, 64](out, flags)
assert (out[1:, :32] == np.arange(32)).all() and (out[:, 32] == np.arange(101)).all()
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
