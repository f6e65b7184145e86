"""Attention as libraries have it, softmax(Q K^T * scale) V of bfloat16 with heads of 64 or 128
elements, for GPUs of compute capability 9.0 (H100, H200).

A block has some rows of Q. One thread, the producer, copies boxes of K and V into two rings of
stages. Each of two or three warpgroups, the consumers, has 64 of the rows: it multiplies them with
some keys, takes the softmax of the scores in registers, and multiplies what it gives, still in
registers, with V. The largest score and the sum of a row are kept on the way, and what was summed
before shrinks when a larger score comes. While the softmax is computed, the product of the weights
before with V is in flight, and so are the products of the other consumers.

Matrix operations have accumulators of 64 x n as tuples. Functions that halve a tuple compute with
its elements.
"""

import functools
import math
import sys

import numpy as np
from pyptx import bfloat16, cuda, float32, int32
from pyptx.cuda import libdevice

STAGES = 2
SHAPES = {64: (3, 128, False), 128: (2, 128, True)}  # by the size of a head: consumers, keys at a time, turns
ALL = 0xFFFFFFFF
INFINITY = float32(math.inf)


def by_row(f, s, a, b):
    """f of each element of accumulators, and of a or b: two rows of the tile have elements here,
    two neighbours of the one, two of the other, and so on."""
    if len(s) == 4:
        return f(s[0], a), f(s[1], a), f(s[2], b), f(s[3], b)
    half = len(s) // 8 * 4
    return (*by_row(f, s[:half], a, b), *by_row(f, s[half:], a, b))


def fold(op, s):
    if len(s) == 1:
        return s[0]
    half = len(s) // 2
    return op(fold(op, s[:half]), fold(op, s[half:]))


def of_row(op, s):
    """op over the elements of the rows that this thread has a part of, one for each row."""
    return fold(op, (*s[::4], *s[1::4])), fold(op, (*s[2::4], *s[3::4]))


def of_quad(op, x):
    """op over the four threads that have a row."""
    x = op(x, cuda.shfl_xor_sync(ALL, x, 1))
    return op(x, cuda.shfl_xor_sync(ALL, x, 2))


def add(a, b):
    return a + b


def larger(a, b):
    return libdevice.fmaxf(a, b)


def masked(s, column, room_a, room_b):
    """Elements from column room_a or room_b of their row on are minus infinity."""
    if len(s) == 4:
        return (
            s[0] if column < room_a else -INFINITY,
            s[1] if column + 1 < room_a else -INFINITY,
            s[2] if column < room_b else -INFINITY,
            s[3] if column + 1 < room_b else -INFINITY,
        )
    half = len(s) // 8 * 4
    return (*masked(s[:half], column, room_a, room_b), *masked(s[half:], column + 2 * half, room_a, room_b))


def weighted(p, v, first, acc):
    """acc + p @ v from row `first` of v on"""
    acc = cuda.wgmma.mma(p[:8], v[:, first : first + 16, :], acc, b_major="n")
    return weighted(p[8:], v, first + 16, acc) if len(p) > 8 else acc


@functools.cache
def kernel(d: int, causal: bool, consumers: int, N: int, turns: bool):
    """The kernel for heads of d elements: a block has 64 queries for each of so many consumers, and
    takes N keys at a time; with `turns` two consumers begin their products in turns."""
    parts, M = d // 64, 64 * consumers
    registers_of_producer, registers_of_consumer = (24, 240) if consumers == 2 else (32, 160)

    def scores(sq, sk):
        """Begins sq @ sk^T."""
        s = cuda.wgmma.zeros(64, N, float32)
        cuda.wgmma.fence()
        for j in range(parts):
            for e in range(0, 64, 16):
                s = cuda.wgmma.mma(sq[j, :, e : e + 16], sk[j, :, e : e + 16], s)
        cuda.wgmma.commit()
        return s

    def softmax(s, factor, top_a, top_b):
        """Of each row the largest score so far and the sum of exp2(factor * (score - largest)),
        and what the sums of before shrink by; in place of the scores these powers."""
        most_a, most_b = of_row(larger, s)
        most_a, most_b = of_quad(larger, larger(top_a, most_a)), of_quad(larger, larger(top_b, most_b))
        less_a = most_a * factor if most_a > -INFINITY else float32(0)  # a row that is all masked
        less_b = most_b * factor if most_b > -INFINITY else float32(0)
        s = by_row(lambda x, less: math.exp2(x * factor - less), s, less_a, less_b)
        shrink_a, shrink_b = math.exp2(top_a * factor - less_a), math.exp2(top_b * factor - less_b)
        return s, most_a, most_b, of_row(add, s), shrink_a, shrink_b

    @cuda.jit(launch_bounds=(128 * (1 + consumers), 1), fastmath={"func", "ftz"})
    def attention(q: cuda.Array, k: cuda.Array, v: cuda.Array, out: cuda.Array, scale: float) -> None:
        boxes_q = cuda.tensor_map(q, (1, M, 64), swizzle=128)
        boxes_k = cuda.tensor_map(k, (1, N, 64), swizzle=128)
        boxes_v = cuda.tensor_map(v, (1, N, 64), swizzle=128)
        boxes_out = cuda.tensor_map(out, (1, 64, 64), swizzle=128)
        memory = cuda.shared.array(0, bfloat16, alignment=1024)
        sq = memory[: M * d].reshape(parts, M, 64)
        sk = memory[M * d : (M + STAGES * N) * d].reshape(STAGES, parts, N, 64)
        sv = memory[(M + STAGES * N) * d : (M + 2 * STAGES * N) * d].reshape(STAGES, parts, N, 64)
        full_q = cuda.shared.array(1, cuda.mbarrier)
        full_k, empty_k = cuda.shared.array(STAGES, cuda.mbarrier), cuda.shared.array(STAGES, cuda.mbarrier)
        full_v, empty_v = cuda.shared.array(STAGES, cuda.mbarrier), cuda.shared.array(STAGES, cuda.mbarrier)
        t = cuda.threadIdx.x
        if t == 0:
            cuda.mbarrier_init(full_q, 0, 1)
            for i in range(STAGES):
                cuda.mbarrier_init(full_k, i, 1)
                cuda.mbarrier_init(full_v, i, 1)
                cuda.mbarrier_init(empty_k, i, consumers)
                cuda.mbarrier_init(empty_v, i, consumers)
            cuda.fence_mbarrier_init()
        cuda.syncthreads()
        warp = cuda.shfl_sync(ALL, int32(t // 32), 0)  # known to be the same in all lanes
        head, top = cuda.blockIdx.y, M * (cuda.gridDim.x - 1 - cuda.blockIdx.x)  # the longest rows of a causal mask first
        keys = min(k.shape[1], top + M) if causal else k.shape[1]
        last = (keys - 1) // N  # from the last keys to the first, so that the mask comes first
        if warp < 4:
            cuda.setmaxregister_decrease(registers_of_producer)
            if warp == 0 and cuda.elect_sync(ALL):
                cuda.mbarrier_arrive_expect_tx(full_q, 0, 2 * M * d)
                for j in range(parts):
                    cuda.cp_async_bulk_tensor(sq[j], boxes_q, (head, top, 64 * j), full_q, 0)
                stage, phase = 0, 1
                for block in range(last, -1, -1):
                    cuda.mbarrier_wait_parity(empty_k, stage, phase)
                    cuda.mbarrier_arrive_expect_tx(full_k, stage, 2 * N * d)
                    for j in range(parts):
                        cuda.cp_async_bulk_tensor(sk[stage, j], boxes_k, (head, N * block, 64 * j), full_k, stage)
                    cuda.mbarrier_wait_parity(empty_v, stage, phase)
                    cuda.mbarrier_arrive_expect_tx(full_v, stage, 2 * N * d)
                    for j in range(parts):
                        cuda.cp_async_bulk_tensor(sv[stage, j], boxes_v, (head, N * block, 64 * j), full_v, stage)
                    stage += 1
                    if stage == STAGES:
                        stage = 0
                        phase ^= 1
        else:
            cuda.setmaxregister_increase(registers_of_consumer)
            me, quarter, lane = warp // 4 - 1, warp % 4, int32(t % 32)
            leader = quarter == 0 and cuda.elect_sync(ALL)
            mine = sq[:, 64 * me : 64 * me + 64, :]
            first = top + 64 * me  # of the rows of this consumer
            row = first + 16 * quarter + lane // 4  # and row + 8
            end_a, end_b = (min(keys, row + 1), min(keys, row + 9)) if causal else (keys, keys)
            end_a, end_b = end_a - 2 * (lane % 4), end_b - 2 * (lane % 4)  # of the columns of this thread
            factor = float32(scale * 1.4426950408889634)  # exp(x) is 2 ** (x * log2(e))
            acc = cuda.wgmma.zeros(64, d, float32)
            cuda.mbarrier_wait_parity(full_q, 0, 0)
            cuda.mbarrier_wait_parity(full_k, 0, 0)
            s = cuda.wgmma.wait(0, scores(mine, sk[0]))
            if leader:
                cuda.mbarrier_arrive(empty_k, 0)
            s = masked(s, 0, end_a - N * last, end_b - N * last)
            s, top_a, top_b, (sum_a, sum_b), _, _ = softmax(s, factor, -INFINITY, -INFINITY)
            p = by_row(lambda x, _: bfloat16(x), s, 0, 0)
            if turns and me == 0:
                cuda.barrier_arrive(3, 256)  # the first turn
            stage, phase = 0, 0
            after, phase_after = 1, 0
            if last > 0:
                cuda.mbarrier_wait_parity(full_k, after, phase_after)
            for block in range(last - 1, -1, -1):
                # in flight together: the scores of these keys, and what the keys before bring
                if turns:
                    cuda.barrier_sync(3 + me, 256)
                s = scores(mine, sk[after])
                cuda.mbarrier_wait_parity(full_v, stage, phase)
                p, acc = cuda.wgmma.fence(p, acc)
                acc = weighted(p, sv[stage], 0, acc)
                cuda.wgmma.commit()
                if turns:
                    cuda.barrier_arrive(4 - me, 256)
                s = cuda.wgmma.wait(1, s)
                if leader:
                    cuda.mbarrier_arrive(empty_k, after)
                if causal and N * block + N > first + 1:
                    s = masked(s, 0, end_a - N * block, end_b - N * block)
                s, top_a, top_b, (more_a, more_b), shrink_a, shrink_b = softmax(s, factor, top_a, top_b)
                sum_a, sum_b = sum_a * shrink_a + more_a, sum_b * shrink_b + more_b
                before = stage
                stage, phase = after, phase_after
                after += 1
                if after == STAGES:
                    after = 0
                    phase_after ^= 1
                if block > 0:  # a loop here keeps ptxas from moving the softmax behind the wait
                    cuda.mbarrier_wait_parity(full_k, after, phase_after)
                acc = cuda.wgmma.wait(0, acc)
                if leader:
                    cuda.mbarrier_arrive(empty_v, before)
                acc = by_row(lambda x, shrink: x * shrink, acc, shrink_a, shrink_b)
                p = by_row(lambda x, _: bfloat16(x), s, 0, 0)
            cuda.mbarrier_wait_parity(full_v, stage, phase)
            p, acc = cuda.wgmma.fence(p, acc)
            acc = weighted(p, sv[stage], 0, acc)
            cuda.wgmma.commit()
            acc = cuda.wgmma.wait(0, acc)
            sum_a, sum_b = of_quad(add, sum_a), of_quad(add, sum_b)
            o = by_row(lambda x, by: bfloat16(x * by), acc, 1 / sum_a, 1 / sum_b)
            # this consumer has read its queries: their place takes its results
            at = 64 * me + 16 * quarter + lane % 16
            put(sq, at, at % 8, lane // 16, 0, o)
            cuda.fence_proxy_async_shared()
            cuda.barrier_sync(5 + me, 128)
            if leader:
                for j in range(parts):
                    cuda.cp_async_bulk_tensor_store(boxes_out, (head, first, 64 * j), sq[j, 64 * me : 64 * me + 64])
                cuda.cp_async_bulk_commit_group()

    return attention


def put(tile, row, line, right, first, values):
    """Stores accumulators' elements from column `first` on, as the swizzle has them."""
    chunk = (first % 64 // 8 + right) ^ line
    cuda.stmatrix(tile, (first // 64, row, 8 * chunk), values[:8])
    if len(values) > 8:
        put(tile, row, line, right, first + 16, values[8:])


def launch(q, k, v, out, causal: bool = False, scale: float | None = None) -> None:
    """out = softmax(q @ k^T * scale) @ v for each head: arrays (heads, rows, d); the scale is
    1 / sqrt(d) unless it is given. With a causal mask row i sees keys 0 to i."""
    heads, rows, d = q.shape
    if scale is None:
        scale = 1 / math.sqrt(d)
    consumers, keys, turns = SHAPES[d]
    nbytes = 2 * (64 * consumers + 2 * STAGES * keys) * d
    kernel(d, causal, consumers, keys, turns)[(-(-rows // (64 * consumers)), heads), 128 * (1 + consumers), 0, nbytes](q, k, v, out, scale)


def check(heads: int, rows: int, keys: int, d: int, causal: bool) -> float:
    """The largest error, as a share of its bound."""
    rng = np.random.default_rng(rows)
    device = [cuda.device_array((heads, n, d), dtype=bfloat16) for n in (rows, keys, keys, rows)]
    exact = []
    for array in device[:3]:
        array[:] = cuda.to_device(rng.standard_normal(array.shape, dtype=np.float32))
        exact.append(widened(array))
    q, k, v = exact
    launch(*device, causal)
    s = q @ k.transpose(0, 2, 1) / math.sqrt(d)
    if causal:
        s[:, np.arange(rows)[:, None] < np.arange(keys)] = -np.inf
    p = np.exp(s - s.max(2, keepdims=True))
    p /= p.sum(2, keepdims=True)
    want = p @ v
    # Weights are rounded to the 8 bits of a bfloat16, and so are results. Sums in float32 lose at
    # most 2**-23 of their size with each key; powers are off by some units of 2**-24 for each unit of
    # their exponent, and what both roundings have in common is 2**-16: together less than 2**-14.
    bound = (2.0**-8 + keys * 2.0**-23 + 2.0**-14) * (p @ np.abs(v)) + 2.0**-8 * np.abs(want)
    return float(np.max(np.abs(widened(device[3]) - want) / bound))


def widened(d):
    """A device array as float64; NumPy has no bfloat16."""
    wide = cuda.device_array(d.shape, dtype=np.float32)
    wide[:] = d
    return wide.copy_to_host().astype(np.float64)


def main() -> int:
    device = cuda.get_current_device()
    if not device.is_host and device.compute_capability[0] != 9:
        print("wgmma needs compute capability 9.0")
        return 0
    print(f"attention of bfloat16, sums in float32, on {device.name}")
    heads, rows = (2, 300) if device.is_host else (16, 4096)
    correct = True
    for d in (64, 128):
        for causal in (False, True):
            share = check(heads, rows, rows, d, causal)
            print(f"{heads} heads of {d}, {rows} rows{', causal' if causal else ''}: largest error {share:.3f} of the bound")
            correct &= share <= 1
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
