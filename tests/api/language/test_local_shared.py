"""Small local arrays that a GPU's code keeps in shared memory where blocks are small: results in blocks of every
size, beside NumPy's."""

import math

import numpy as np
import pytest
from pyptx import cuda, float32, float64, int32

N = 300
BLOCKS = [32, 96, (16, 8), (4, 4, 8), 256, (16, 17), 512]


def smallest(x, k, out):
    best = cuda.local.array(9, float32)
    size = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    row = cuda.blockIdx.x * size + t
    if row >= x.shape[0]:
        return
    for j in range(k):
        best[j] = math.inf
    for i in range(x.shape[1]):
        value = x[row, i]
        j = k - 1
        if value < best[j]:
            while j > 0 and best[j - 1] > value:
                best[j] = best[j - 1]
                j -= 1
            best[j] = value
    for j in range(k):
        out[row, j] = best[j]


def counted(x, out):
    """Arrays of 8 and 4 bytes, one of which a part stays for the loop behind it."""
    sums = cuda.local.array(7, float64)
    counts = cuda.local.array(7, int32)
    size = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    row = cuda.blockIdx.x * size + t
    if row >= x.shape[0]:
        return
    for j in range(7):
        sums[j] = 0.0
        counts[j] = 0
    for i in range(x.shape[1]):
        j = int(x[row, i] * 7)
        sums[j] += x[row, i]
        counts[j] += 1
    for j in range(7):
        out[row, j] = sums[j] + 100 * counts[j]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_blocks_of_any_size(block):
    rng = np.random.default_rng(1)
    x = rng.random((N, 41), np.float32)
    grid = -(-N // int(np.prod(block)))
    out = cuda.device_array((N, 6), np.float32)
    cuda.jit(smallest)[grid, block](cuda.to_device(x), 6, out)
    np.testing.assert_array_equal(out.copy_to_host(), np.sort(x, axis=1)[:, :6])
    y = cuda.device_array((N, 7), np.float64)
    bounds = {"launch_bounds": 128} if np.prod(block) <= 128 else {}
    cuda.jit(counted, **bounds)[grid, block](cuda.to_device(x), y)
    place = (x * 7).astype(int)
    expected = np.stack([np.where(place == j, x.astype(float) + 100, 0).sum(axis=1) for j in range(7)], axis=1)
    np.testing.assert_allclose(y.copy_to_host(), expected, rtol=1e-13)


def likeliest(seen, moves, shows, back):
    i = cuda.grid(1)
    if i < seen.shape[1]:
        score = cuda.local.array(8, float32)
        now = cuda.local.array(8, float32)
        for s in range(moves.shape[0]):
            score[s] = shows[s, seen[0, i]]
        for t in range(1, seen.shape[0]):
            for s in range(moves.shape[0]):
                best, place = score[0] + moves[0, s], 0
                for k in range(1, moves.shape[0]):
                    if score[k] + moves[k, s] > best:
                        best, place = score[k] + moves[k, s], k
                now[s] = best + shows[s, seen[t, i]]
                back[t, s, i] = place
            for s in range(moves.shape[0]):
                score[s] = now[s]
        last = 0
        for s in range(1, moves.shape[0]):
            last = s if score[s] > score[last] else last
        for t in range(seen.shape[0] - 1, 0, -1):
            back[0, t, i] = last
            last = back[t, last, i]


def test_two_versions_are_not_too_long(one_entry):
    """Twice as long, its code would be compiled without the generator's optimisations (nvptx/prepare.c): 0.1 s."""

    def longest(seen, moves, shows, back):
        likeliest(seen, moves, shows, back)
        likeliest(seen, shows, moves, back)

    signature = "narrow (uint8[:,::1], float32[:,::1], float32[:,::1], uint8[:,:,::1])"
    ptx = cuda.compile_ptx(longest, signature, cc="sm_90")[0]
    assert "ld.local" in ptx and "local_shared$" not in ptx and "mul.wide.s32" in ptx


def test_the_gpus_code(one_entry):
    """Shared memory where there is enough of it, and where it pays: arrays in loops, of few elements, in kernels
    without their own."""

    def own(x, out):
        memory = cuda.shared.array(32, float32)
        best = cuda.local.array(9, float32)
        for i in range(x.size):
            best[int(x[i])] = x[i]
        memory[cuda.threadIdx.x] = best[int(x[0])]
        out[cuda.threadIdx.x] = memory[cuda.threadIdx.x]

    def large(x, out):
        best = cuda.local.array(90, float32)
        for i in range(x.size):
            best[int(x[i])] = x[i]
        out[cuda.threadIdx.x] = best[int(x[0])]

    def code(function, signature, cc="sm_90", **options):
        return cuda.compile_ptx(function, signature, cc=cc, **options)[0]

    ptx = code(smallest, "float32[:,::1], int64, float32[:,::1]")
    assert "ld.shared" in ptx and "ld.local" in ptx and ".shared .align 8 .b8 local_shared$0[4608]" in ptx
    assert "ld.shared" not in code(counted, "float32[:,::1], float64[:,::1]")
    assert "ld.shared" in code(counted, "float32[:,::1], float64[:,::1]", launch_bounds=128)
    assert "ld.shared" not in code(smallest, "float32[:,::1], int64, float32[:,::1]", "sm_86")
    assert "local_shared$" not in code(own, "float32[::1], float32[::1]")
    assert "local_shared$" not in code(large, "float32[::1], float32[::1]")
