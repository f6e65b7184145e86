"""Small local arrays that a loop of unknown length goes through in circles (codegen/nvptx/locals/local_rings.c): results
beside plain Python, and that the GPU's code keeps them in registers. `PYPTX_DEVICE=ptx` runs it."""

import numpy as np
import pytest
from harness import run
from pyptx import cuda, float32, int32, uint32
from test_language_local_arrays import in_registers, ptx_of

THREADS = 7
LENGTHS = [0, 1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65]


def numbers(rows, columns=THREADS, dtype=np.uint32, most=1 << 32):
    return np.random.default_rng(rows).integers(0, most, (rows, columns)).astype(dtype)


def schedule(words, rounds, out):
    """SHA-256's, of as many words as there are, at most 16."""
    t = cuda.grid(1)
    w = cuda.local.array(16, uint32)
    for k in range(16):
        w[k] = 0
    for k in range(words.shape[0]):
        w[k] = words[k, t]
    total = uint32(0)
    for k in range(rounds.shape[0]):
        word = w[k % 16]
        total = (total << 1) ^ (total >> 31) ^ word ^ rounds[k, t]
        before = w[(k + 1) % 16]
        latest = w[(k + 14) % 16]
        w[k % 16] = word + (before >> 3) + w[(k + 9) % 16] + (latest >> 10)
    out[0, t] = total


@pytest.mark.parametrize("length", LENGTHS)
def test_schedule(length):
    words = numbers(min(max(length, 1), 16))
    rounds, out = numbers(length), numbers(1)
    got = run(schedule, [words, rounds, out], 1, THREADS)[2]
    w = [words[k].copy() if k < len(words) else np.zeros(THREADS, np.uint32) for k in range(16)]
    total = np.zeros(THREADS, np.uint32)
    for k in range(length):
        word = w[k % 16]
        total = (total << 1) ^ (total >> 31) ^ word ^ rounds[k]
        w[k % 16] = word + (w[(k + 1) % 16] >> 3) + w[(k + 9) % 16] + (w[(k + 14) % 16] >> 10)
    assert (got[0] == total).all()


def test_schedule_is_in_registers():
    in_registers(schedule, numbers(16), numbers(64), numbers(1))


def delayed(x, out):
    """What a delay line of five gives back, whose length is no power of two; every other number goes in twice."""
    t = cuda.grid(1)
    line = cuda.local.array(5, float32)
    for k in range(5):
        line[k] = 0
    for k in range(x.shape[0]):
        out[k, t] = line[k % 5]
        line[k % 5] = x[k, t]
        if x[k, t] > 8:
            line[(k + 3) % 5] = -x[k, t]


def means(x, out):
    """Two windows in one loop, and a counter by two from three on."""
    t = cuda.grid(1)
    near = cuda.local.array(4, int32)
    far = cuda.local.array(6, int32)
    for k in range(4):
        near[k] = 0
    for k in range(6):
        far[k] = 0
    for k in range(3, x.shape[0], 2):
        out[k, t] = near[k & 3] - far[k % 6]
        near[(k + 2) & 3] = x[k, t]
        far[(5 * k + 1) % 6] = x[k, t] + near[(k >> 1) & 3]


def until(x, out):
    """Leaves the loop at the first 0."""
    t = cuda.grid(1)
    last = cuda.local.array(8, int32)
    for k in range(8):
        last[k] = -1
    for k in range(x.shape[0]):
        if x[k, t] == 0:
            break
        out[k, t] = last[(k + 3) & 7]
        last[k & 7] = x[k, t]


def flat(x, out):
    """An element of an array, and one of the other, as one: what the loop makes goes on behind it."""
    t = cuda.grid(1)
    last = cuda.local.array(8, int32)
    for k in range(8):
        last[k] = k
    for k in range(x.shape[0]):
        last[k % 8] = last[(k + 7) % 8] * 3 + x[k, t]
    for k in range(8):
        if k < out.shape[0]:
            out[k, t] = last[k]


def turning(x, out):
    """Places that begin anew at the end, in two ways, of arrays of two lengths; an inner loop over all of one."""
    t = cuda.grid(1)
    last = cuda.local.array(6, int32)
    other = cuda.local.array(4, int32)
    for k in range(6):
        last[k] = k
    for k in range(4):
        other[k] = 3 * k
    at = 2
    place = 0
    for k in range(x.shape[0]):
        total = other[place] - last[at]
        for j in range(4):
            total += (j + 2) * other[(place + j) % 4]
        out[k, t] = total
        last[at] = x[k, t]
        other[place] = total & 15
        at += 1
        if at == 6:
            at = 0
        place = (place + 3) % 4


def filtered(x, out):
    """The last eight, each with its factor."""
    t = cuda.grid(1)
    ring = cuda.local.array(8, int32)
    for k in range(8):
        ring[k] = 0
    for k in range(x.shape[0]):
        ring[k % 8] = x[k, t]
        total = 0
        for j in range(8):
            total += (j + 1) * ring[(k - j) % 8]
        out[k, t] = total


KERNELS = [delayed, means, until, flat, turning, filtered]


class Fake:
    """A thread's number and plain lists, for Python to run the kernels."""

    def __init__(self, t):
        self.t, self.local = t, self

    def grid(self, axes):
        return self.t

    def array(self, n, dtype):
        return [0] * n


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("length", LENGTHS)
def test_ring(kernel, length, monkeypatch):
    dtype = np.float32 if kernel is delayed else np.int32
    x, out = numbers(length, dtype=dtype, most=12), np.zeros((length, THREADS), dtype)
    if kernel is until:
        x[x == 0] = 1
        x[length // 2 :, ::2] = 0
    with np.errstate(over="ignore"):
        expected = out.copy()
        monkeypatch.setitem(kernel.__globals__, "np", np)
        for t in range(THREADS):
            plain = type(kernel)(kernel.__code__, {**kernel.__globals__, "cuda": Fake(t)})
            plain(x, expected)
    assert (run(kernel, [x, out], 1, THREADS)[1] == expected).all()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_ring_is_in_registers(kernel):
    x = np.zeros((4, THREADS), np.float32 if kernel is delayed else np.int32)
    in_registers(kernel, x, x)


def not_a_ring(x, out):
    """Where the circle begins is not known."""
    t = cuda.grid(1)
    last = cuda.local.array(8, int32)
    for k in range(8):
        last[k] = k
    for k in range(x.shape[0]):
        last[(k + x[0, t]) & 7] += x[k, t]
    for k in range(8):
        out[k, t] = last[k]


def test_other_indices_stay_in_memory():
    x = np.zeros((8, THREADS), np.int32)
    assert "__local_depot" in ptx_of(not_a_ring, x, x)
