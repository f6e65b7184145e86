"""Launches of few long blocks, which several threads of the host device share: results, sizes and names of threads
are those of the launch that was asked for.
"""

import os
import subprocess
import sys

PROGRAM = '''
import numpy as np
from pyptx import cuda

BLOCKS, WIDTH, N = 7, 128, 800


@cuda.jit
def tails(x, out):
    i = cuda.grid(1)
    if i < out.size:
        total = 0.0
        for j in range(i, x.size):
            total += x[j]
        out[i] = total


@cuda.jit
def tails_by_stride(x, out):
    for i in range(cuda.grid(1), out.size, cuda.gridsize(1)):
        total = 0.0
        for j in range(i, x.size):
            total += x[j]
        out[i] = total


@cuda.jit
def rows(x, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = 0.0
        for j in range(col, x.size):
            total += x[j]
        out[row, col] = total


@cuda.jit
def sizes(x, out, widths, blocks, places):
    i = cuda.grid(1)
    total = 0.0
    for j in range(i, x.size):
        total += x[j]
    if i < out.size:
        out[i] = total
        widths[i] = cuda.blockDim.x
        blocks[i] = cuda.gridDim.x
        places[i] = cuda.blockIdx.x * 1000 + cuda.threadIdx.x


@cuda.jit
def beyond(x, out, bad):
    i = cuda.grid(1)
    total = 0.0
    for j in range(x.size):
        total += x[j]
    out[i + 100000 if i == bad else i] = total


x = np.random.default_rng(1).integers(0, 9, 40000).astype(np.float64)
want = np.cumsum(x[::-1])[::-1]
for _ in range(4):  # after the first launch it is known how long a block takes
    out = np.zeros(N)
    tails[BLOCKS, WIDTH](x, out)
    assert (out == want[:N]).all()
    out = np.zeros(5 * N)
    tails_by_stride[BLOCKS, WIDTH](x, out)
    assert (out == want[: 5 * N]).all()
    out = np.zeros((5, 200))
    rows[(4, 2), (64, 3)](x, out)
    assert (out == want[:200]).all()
    out, (widths, blocks, places) = np.zeros(N), np.zeros((3, N), np.int32)
    sizes[BLOCKS, WIDTH](x, out, widths, blocks, places)
    at = np.arange(N)
    assert (out == want[:N]).all() and (widths == WIDTH).all() and (blocks == BLOCKS).all()
    assert (places == at // WIDTH * 1000 + at % WIDTH).all()
    try:
        beyond[BLOCKS, WIDTH](x, np.zeros(BLOCKS * WIDTH), 3 * WIDTH + 83)
        cuda.synchronize()
        raise SystemExit("no error")
    except IndexError as e:
        assert "thread (83, 0, 0) of block (3, 0, 0)" in str(e), e
'''


def test_blocks_that_threads_share(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    env = {**os.environ, "PYPTX_DEVICE": "host", "PYPTX_HOST_THREADS": "6"}
    done = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
