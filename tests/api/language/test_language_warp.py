"""Warps: shuffles, votes, matches, lane masks; alone, in loops, under divergence, beside barriers, and what cannot work."""

import re
from collections import namedtuple

import numpy as np
import pytest
from harness import STRONG, define, jit, run
from pyptx import cuda

FULL = 0xFFFFFFFF
SHUFFLES = ["shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"]


def numbers(n, dtype, seed=3):
    values = np.random.default_rng(seed).integers(0, 250, n)
    kind = np.dtype(dtype).kind
    return (values / 7 if kind == "f" else values * (1 - 2j) if kind == "c" else values).astype(dtype)


# --- shuffles ---


@pytest.mark.parametrize("operation", SHUFFLES)
@pytest.mark.parametrize("dtype", [*STRONG, "complex64", "complex128"])
def test_shuffles_of_every_type(operation, dtype):
    kernel = define(f"""def kernel(x, by, out):
    i = cuda.grid(1)
    out[i] = cuda.{operation}(0xffffffff, x[i], by[i])
""")
    x = numbers(64, dtype)
    # Out of range too: PTX takes a lane, a delta and a mask modulo 32.
    by = np.random.default_rng(1).integers(-3, 70, 64).astype(np.int64)
    if operation != "shfl_sync":
        by[:] = by.reshape(2, 32)[:, :1].repeat(32, 1).ravel()
    run(kernel, [x, by, np.zeros(64, dtype)], 1, 64)


@pytest.mark.parametrize("delta", [0, 1, 5, 16, 31, 32, 33])
def test_lanes_without_a_source_keep_their_own_value(delta):
    def kernel(x, d, out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.shfl_up_sync(FULL, x[i], d)
        out[1, i] = cuda.shfl_down_sync(FULL, x[i], d)
        out[2, i] = cuda.shfl_xor_sync(FULL, x[i], d)
        out[3, i] = cuda.shfl_sync(FULL, x[i], d)

    run(kernel, [numbers(32, np.int64), delta, np.zeros((4, 32), np.int64)], 1, 32)


def test_result_has_the_type_of_the_value():
    def kernel(x, out):
        i = cuda.threadIdx.x
        y = cuda.shfl_sync(FULL, x[i], 3)
        out[i] = y + np.int8(100)  # wraps in 8 bits

    run(kernel, [np.full(32, 100, np.int8), np.zeros(32, np.int64)], 1, 32)


def test_python_numbers_stay_weak():
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[i] = x[i] * cuda.shfl_sync(FULL, i * 0.1, 5) + cuda.shfl_down_sync(FULL, i << 40, 1)

    run(kernel, [numbers(32, np.float32), np.zeros(32, np.float64)], 1, 32)


def test_tuples_are_shuffled_element_by_element():
    def kernel(x, out):
        i = cuda.threadIdx.x
        a, (b, c) = cuda.shfl_xor_sync(FULL, (x[i], (i, x[i] > 10)), 7)
        out[i] = a + b * 1000 + (c != (x[i ^ 7] > 10))

    run(kernel, [numbers(32, np.float64), np.zeros(32, np.float64)], 1, 32)


def test_vectors_and_named_tuples_stay_what_they_are():
    Pair = namedtuple("Pair", "first second")

    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        v = cuda.shfl_xor_sync(FULL, cuda.float4(x[i], 1.0, 2.0, i), 1)
        p = cuda.shfl_down_sync(FULL, Pair(i, x[i]), 2)
        out[0, i] = v.x + v.w
        out[1, i] = p.first + p.second

    x = numbers(32, np.int64).astype(np.float32)  # whole numbers: the sums are exact
    out = np.zeros((2, 32))
    kernel[1, 32](x, out)
    i = np.arange(32)
    below = np.minimum(i + 2, 31) * (i < 30) + i * (i >= 30)
    assert (out == [x[i ^ 1] + (i ^ 1), below + x[below]]).all()


def test_keywords():
    def kernel(x, out):
        i = cuda.threadIdx.x
        a = cuda.shfl_sync(mask=FULL, value=x[i], src_lane=2)
        b = cuda.shfl_up_sync(FULL, delta=1, value=x[i])
        c = cuda.shfl_xor_sync(FULL, x[i], lane_mask=4)
        cuda.syncwarp(mask=FULL)
        out[i] = a + 2 * b + 4 * c + cuda.ballot_sync(mask=FULL, predicate=x[i] > 20)

    run(kernel, [numbers(32, np.int64), np.zeros(32, np.int64)], 1, 32)


@pytest.mark.parametrize("threads", [32, 96, (16, 4), (4, 3, 8), 128])  # whole warps: a GPU gives anything for a lane that is not there
def test_reduction(threads):
    def kernel(x, out):
        i = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
        v = x[i]
        d = 16
        while d > 0:
            v += cuda.shfl_down_sync(FULL, v, d)
            d //= 2
        if cuda.laneid == 0:
            out[i // 32] = v

    n = int(np.prod(threads))
    x = numbers(n, np.int64)
    out = run(kernel, [x, np.zeros(-(-n // 32), np.int64)], 1, threads)[1]
    if n % 32 == 0:
        assert (out == x.reshape(-1, 32).sum(1)).all()


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("distances", [(16, 8, 4, 2, 1), (1, 4, 2, 16, 8), (16, 8, 4, 1, 1), (16, 8, 4, 2, 3)], ids=str)
def test_what_a_butterfly_ends_with(distances, dtype):
    """All lanes have its total, which loops and branches around votes depend on; not after the last two."""
    kernel = define(
        f"""
def kernel(x, out):
    i = cuda.grid(1)
    total = x[i]
    least = int(x[i])
    for d in {distances}:
        total += cuda.shfl_xor_sync(FULL, total, d)
        least = min(cuda.shfl_xor_sync(FULL, least, d), least)
    out[i, 0] = total
    out[i, 1] = least
    votes = 0
    for k in range(least):
        votes = 3 * votes + {"cuda.ballot_sync(FULL, x[i] > k + 5) % 1000" if 3 not in distances and distances[4] != distances[3] else "k"}
    if total > 100:
        out[i, 2] = {"cuda.shfl_down_sync(FULL, votes, 1)" if 3 not in distances and distances[4] != distances[3] else "votes"}
    out[i, 3] = votes
""",
        FULL=FULL,
    )
    x = np.random.default_rng(3).integers(3, 40, 192).astype(dtype)
    run(kernel, [x, np.zeros((192, 4))], 2, 96)


def test_prefix_sum():
    def kernel(x, out):
        i = cuda.grid(1)
        v = x[i]
        for k in range(5):
            below = cuda.shfl_up_sync(FULL, v, 1 << k)
            if cuda.laneid >= 1 << k:
                v += below
        out[i] = v

    x = numbers(128, np.int32)
    out = run(kernel, [x, np.zeros(128, np.int32)], 2, 64)[1]
    assert (out == x.reshape(-1, 32).cumsum(1).ravel()).all()


# --- votes and matches ---


def test_votes():
    def kernel(x, out):
        i = cuda.threadIdx.x
        for k in range(5):
            p = x[i] % (k + 1) == 0
            if cuda.all_sync(FULL, p):
                out[k, 0, i] = 1
            if cuda.any_sync(FULL, p):
                out[k, 1, i] = 2
            if cuda.eq_sync(FULL, p):
                out[k, 2, i] = 3
            out[k, 3, i] = cuda.ballot_sync(FULL, p)
            out[k, 4, i] = cuda.popc(cuda.ballot_sync(FULL, x[i] & k) & cuda.lanemask_lt())

    run(kernel, [numbers(64, np.int64), np.zeros((5, 5, 64), np.int64)], 1, 64)
    run(kernel, [np.full(64, 7), np.zeros((5, 5, 64), np.int64)], 1, 64)


@pytest.mark.parametrize("dtype", ["int32", "uint64", "float32", "float64", "int8", "bool"])
def test_matches(dtype):
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.match_any_sync(FULL, x[i])
        lanes, same = cuda.match_all_sync(FULL, x[i])
        out[1, i] = lanes
        out[2, i] = same

    x = (numbers(96, np.int64) % 5).astype(dtype)
    x[32:64] = x[0]
    if dtype == "float32":
        x[70], x[71], x[72:74] = 0.0, -0.0, np.nan  # bits are compared
    run(kernel, [x, np.zeros((3, 96), np.int64)], 1, 96)


def test_lane_masks():
    def kernel(out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.lanemask_eq()
        out[1, i] = cuda.lanemask_lt()
        out[2, i] = cuda.lanemask_le()
        out[3, i] = cuda.lanemask_gt()
        out[4, i] = cuda.lanemask_ge()
        out[5, i] = ~cuda.lanemask_lt()  # a uint32
        out[6, i] = max(np.int32(cuda.lanemask_ge()), np.int32(1)) - np.int32(1)  # of lane 31 less than 0 as an int32

    run(kernel, [np.zeros((7, 40), np.int64)], 1, 40)


def test_masks_are_int32_in_numbas_typing():
    @cuda.jit(typing="numba")
    def kernel(out):
        i = cuda.grid(1)
        lanes, same = cuda.match_all_sync(FULL, 1)
        out[0, i] = cuda.ballot_sync(FULL, i % 2)
        out[1, i] = cuda.match_any_sync(FULL, i % 2 == 0) >> 31
        out[2, i] = lanes
        out[3, i] = cuda.activemask() | cuda.lanemask_ge()

    out = np.zeros((4, 32), np.int64)
    kernel[1, 32](out)
    odd = np.arange(32) % 2
    assert (out == [np.full(32, np.int32(np.uint32(0xAAAAAAAA).view(np.int32))), -odd, np.full(32, -1), np.full(32, FULL)]).all()


# --- divergence ---


def test_halves_of_a_warp():
    def kernel(x, out):
        i = cuda.threadIdx.x
        if cuda.laneid < 16:
            out[i] = cuda.shfl_down_sync(0x0000FFFF, x[i], 3)
        else:
            v = cuda.shfl_up_sync(0xFFFF0000, x[i], 3)
            out[i] = v + cuda.ballot_sync(0xFFFF0000, v > 100)

    # A source outside the mask is undefined on a GPU: these ask for lanes 13 + 3 and 16 - 3.
    x = np.arange(64)
    actual = jit(kernel)
    out = np.zeros(64, np.int64)
    actual[1, 64](x, out)
    lane = np.arange(64) % 32
    low, high = lane < 13, lane >= 19
    votes = 0xFFFF0000 & int(sum(1 << k for k in range(16, 32) if max(k - 3, 16) + 32 > 100))
    assert (out[low] == x[low] + 3).all()
    assert (out[high] == x[high] - 3 + votes).all()


def test_masks_as_partitions_at_one_call():
    def kernel(x, out):
        i = cuda.threadIdx.x
        mask = 0x000000FF << (i % 32 // 8 * 8)
        v = x[i]
        for k in range(3):
            v += cuda.shfl_xor_sync(mask, v, 1 << k)
        out[i] = v

    x = numbers(64, np.int64)
    out = run(kernel, [x, np.zeros(64, np.int64)], 1, 64)[1]
    assert (out == x.reshape(-1, 8).sum(1).repeat(8)).all()


def test_loops_of_different_length():
    def kernel(x, out):
        i = cuda.threadIdx.x
        n = x[i] % 6
        alive = cuda.ballot_sync(FULL, n > 0)
        total = 0
        while n > 0:
            total += cuda.popc(cuda.match_any_sync(alive, n))
            n -= 1
            alive = cuda.ballot_sync(alive, n > 0)
        out[i] = total

    run(kernel, [numbers(96, np.int64), np.zeros(96, np.int64)], 1, 96)


def test_different_calls_of_one_operation_meet():
    def kernel(x, out):
        i = cuda.threadIdx.x
        if x[i] % 2:
            out[i] = cuda.shfl_xor_sync(FULL, x[i], 1) + 1000
        else:
            out[i] = cuda.shfl_xor_sync(FULL, x[i], 1)

    run(kernel, [numbers(64, np.int64), np.zeros(64, np.int64)], 1, 64)


@pytest.mark.unchecked("its masks name lanes that have ended")
@pytest.mark.parametrize("threads", [20, 33, 64, 75])
def test_lanes_that_have_ended_take_no_part(threads):
    def kernel(x, out):
        i = cuda.threadIdx.x
        if x[i] % 3 == 0:
            return
        out[0, i] = cuda.ballot_sync(FULL, x[i] % 2)
        if x[i] % 5 == 1:
            return
        out[1, i] = cuda.ballot_sync(FULL, True)
        cuda.syncthreads()
        out[2, i] = cuda.syncthreads_count(x[i] % 2)
        out[3, i] = cuda.match_any_sync(FULL, x[i] % 4)

    run(kernel, [numbers(threads, np.int64), np.zeros((4, threads), np.int64)], 1, threads)


def test_block_reduction_with_barriers():
    def kernel(x, out):
        part = cuda.shared.array(32, np.int64)
        i = cuda.threadIdx.x
        warp = i // 32
        for turn in range(3):
            v = x[cuda.grid(1)] * (turn + 1)
            for k in range(5):
                v += cuda.shfl_xor_sync(FULL, v, 1 << k)
            if cuda.laneid == 0:
                part[warp] = v
            cuda.syncthreads()
            if warp == 0:
                v = part[i] if i < cuda.blockDim.x // 32 else 0
                for k in range(5):
                    v += cuda.shfl_down_sync(FULL, v, 16 >> k)
                if i == 0:
                    out[turn, cuda.blockIdx.x] = v
            cuda.syncthreads()

    x = numbers(256, np.int64)
    out = run(kernel, [x, np.zeros((3, 2), np.int64)], 2, 128)[1]
    assert (out == x.reshape(2, -1).sum(1) * np.array([[1], [2], [3]])).all()


def test_warps_that_go_their_own_ways():
    def kernel(x, out):
        i = cuda.threadIdx.x
        v = x[i]
        for k in range(i // 32 * 2):  # warp 0 none, warp 1 two …
            v = cuda.shfl_down_sync(FULL, v, 1) + k
        out[i] = v + cuda.syncthreads_count(v > 90)

    run(kernel, [numbers(128, np.int64), np.zeros(128, np.int64)], 1, 128)


def test_device_functions():
    @cuda.jit(device=True)
    def warp_sum(v):
        for k in range(5):
            v += cuda.shfl_xor_sync(FULL, v, 16 >> k)
        return v

    @cuda.jit(device=True, inline="never")
    def mean(v, n):
        return warp_sum(v) / n

    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = warp_sum(x[i]) + mean(float(i), 32) if i % 64 < 64 else 0.0

    run(kernel, [numbers(128, np.int64), np.zeros(128)], 2, 64)


def test_syncwarp_orders_shared_memory():
    def kernel(x, out):
        tile = cuda.shared.array(64, np.float32)
        i = cuda.threadIdx.x
        tile[i] = x[i]
        for k in range(5):
            cuda.syncwarp()
            v = tile[i ^ 1 << k]
            cuda.syncwarp()
            tile[i] = tile[i] + v
        out[i] = tile[i]

    run(kernel, [numbers(64, np.float32), np.zeros(64, np.float32)], 1, 64)


def test_the_active_lanes():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.activemask()
        if i % 4 == 1:
            mask = cuda.activemask()
            # Whatever the mask is, those in it are here and can work together.
            leader = cuda.ffs(mask) - 1
            out[1, i] = cuda.shfl_sync(mask, i, leader) + (mask >> cuda.laneid & 1) * 1000
            out[2, i] = cuda.ballot_sync(mask, True) == mask

    out = np.zeros((3, 48), np.int64)
    kernel[1, 48](out)
    inside = np.arange(48) % 4 == 1
    assert (out[0] >> (np.arange(48) % 32) & 1).all()
    assert (out[1][inside] >= 1000).all() and (out[2][inside] == 1).all()
    assert (out[1:, ~inside] == 0).all()


@pytest.mark.host_only("on a GPU the scheduler decides who is together")
def test_the_active_lanes_of_the_host_device_are_all_that_can_come():
    @cuda.jit
    def kernel(out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.activemask()
        for k in range(i % 3):
            out[1 + k, i] = cuda.activemask()

    out = np.zeros((3, 48), np.int64)
    kernel[1, 48](out)
    lanes = np.arange(48)
    for row, inside in enumerate([lanes >= 0, lanes % 3 >= 1, lanes % 3 == 2]):
        for first, n in ((0, 32), (32, 16)):
            here = inside[first : first + n]
            want = sum(1 << k for k in range(n) if here[k])
            assert (out[row, first : first + n][here] == want).all()


# --- what cannot work ---


def refused(kernel, *args, threads=32):
    with pytest.raises(RuntimeError) as caught:
        jit(kernel)[1, threads](*args)
    return caught.value


@pytest.mark.unchecked("a SyncError then, tests/api/check looks at it")
@pytest.mark.host_only("a GPU waits for ever")
def test_a_lane_that_never_comes():
    def kernel(out):
        i = cuda.threadIdx.x
        if i % 32 != 5:
            out[i] = cuda.shfl_sync(FULL, i, 0)
        else:
            cuda.syncthreads()

    error = refused(kernel, np.zeros(64, np.int64), threads=64)
    assert "cuda.shfl_sync: lane 0 of warp 0 waits for lane 5 of its mask 0xffffffff" in str(error)
    assert "in test_a_lane_that_never_comes.<locals>.kernel" in str(error)
    assert error.lineno == kernel.__code__.co_firstlineno + 3 and error.thread == (0, 0, 0)


@pytest.mark.unchecked("a SyncError then, tests/api/check looks at it")
@pytest.mark.host_only("a GPU waits for ever")
def test_lanes_at_different_operations():
    def kernel(out):
        i = cuda.threadIdx.x
        if i < 40:
            out[i] = cuda.any_sync(FULL, i)
        else:
            out[i] = cuda.all_sync(FULL, i)

    error = refused(kernel, np.zeros(64, np.int64), threads=64)
    assert "cuda.any_sync: lane 0 of warp 1 waits for lane 8" in str(error)


@pytest.mark.unchecked("a SyncError then, tests/api/check looks at it")
@pytest.mark.host_only("undefined on a GPU")
def test_a_mask_without_the_own_lane():
    def kernel(out):
        i = cuda.threadIdx.x
        cuda.syncwarp(0xFF)

    error = refused(kernel, np.zeros(64, np.int64))
    assert "cuda.syncwarp: lane 8 of warp 0 is not in its own mask 0x000000ff" in str(error)


@pytest.mark.parametrize(
    "call, message",
    [
        ("shfl_sync(FULL, x, 0)", "argument 2 ('value') must be a number or a tuple of numbers"),
        ("shfl_sync(1.5, i, 0)", "argument 1 ('mask') must be an integer"),
        ("shfl_up_sync(FULL, i, 0.5)", "argument 3 ('delta') must be an integer"),
        ("match_any_sync(FULL, (i, i))", "argument 2 ('value') must be a real number"),
        ("syncwarp(1 << 40)", "does not fit uint32"),
        ("ballot_sync(FULL)", "argument 'predicate' is missing"),
    ],
)
def test_typing_errors(call, message):
    kernel = define(f"def kernel(x):\n    i = cuda.grid(1)\n    cuda.{call}\n", FULL=FULL)
    with pytest.raises((TypeError, OverflowError), match=re.escape(message)):
        cuda.compile_ptx(kernel, "void(float32[:])", cc=(8, 0))
