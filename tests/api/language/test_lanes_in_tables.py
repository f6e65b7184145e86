"""Look-ups in tables of bytes in shared memory, at places that differ from lane to lane: of every length of a part, at
the memory's end, by signed and unsigned indices, some from the end, under masks."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, int32, uint8


@pytest.mark.parametrize("length", [5, 63, 64, 65, 128, 130, 200, 256, 257, 300, 384, 511, 512, 513])
def test_lengths(length):
    def kernel(table, x, y):
        values = cuda.shared.array(length, uint8)
        t = cuda.threadIdx.x
        for k in range(t, length, cuda.blockDim.x):
            values[k] = table[k]
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < x.size and x[i] % 3:
            y[i] = values[x[i]]

    rng = np.random.default_rng(length)
    table, x = rng.integers(0, 256, length, np.uint8), rng.integers(-length, length, 100).astype(np.int32)
    run(kernel, [table, x, np.zeros(100, np.uint8)], 2, 64)


def test_tables_behind_each_other():
    """As of a field of 256 elements: the index of one is what another one gives, and a sum."""

    def kernel(table, x, y):
        first = cuda.shared.array(256, uint8)
        second = cuda.shared.array(512, uint8)
        last = cuda.shared.array(16, uint8)
        t = cuda.threadIdx.x
        for k in range(t, 512, cuda.blockDim.x):
            second[k] = table[k]
            if k < 256:
                first[k] = table[511 - k]
            if k < 16:
                last[k] = k * k
        cuda.syncthreads()
        a = first[x[t]]
        y[t, 0] = a
        y[t, 1] = second[int32(a) + x[t + 1]]
        y[t, 2] = last[x[t] & 15]
        y[t, 3] = last[second[x[t]] >> 4]
        y[t, 4] = second[int32(x[t]) - 200]
        for k in range(x[t + 1] % 4):
            y[t, 5 + k] = second[x[t] + 60 * k]

    rng = np.random.default_rng(5)
    table, x = rng.integers(0, 256, 512, np.uint8), rng.integers(0, 256, 65, np.uint8)
    run(kernel, [table, x, np.zeros((64, 8), np.int32)], 1, 64)


def test_a_table_that_changes():
    def kernel(x, y):
        values = cuda.shared.array(64, uint8)
        t = cuda.threadIdx.x
        values[t] = x[t]
        cuda.syncthreads()
        for k in range(5):
            v = values[values[t] & 63]
            cuda.syncthreads()
            values[t] = v + k
            cuda.syncthreads()
        y[t] = values[t]

    x = np.random.default_rng(6).integers(0, 256, 64, np.uint8)
    run(kernel, [x, np.zeros(64, np.uint8)], 1, 64)
