"""Threads that come to every barrier together: what the host runs as whole vectors must mean what it means one by one.

Block sizes are whole vectors of every CPU (64, 32 x 4), of some (16 x 8), and neither (20, 7 x 5).
"""

import math

import numpy as np
import pytest
from harness import define, run
from pyptx import cuda, float32, float64, int32, int64

FULL = 0xFFFFFFFF
PART_OF_A_WARP = pytest.param(20, marks=pytest.mark.unchecked("its lanes take values, which they do not use, from lanes that the block does not have"))
BLOCKS = [64, 96, 20, 128]
PLANES = [(32, 4), (16, 8), (7, 5), (64, 2)]
LARGEST = 128


def floats(n, dtype=np.float32, seed=5):
    return (np.random.default_rng(seed).integers(-40, 40, n) / 8).astype(dtype)


def threads(block):
    return int(np.prod(block))


# --- loops of barriers ---


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_tree_reduction(block, dtype):
    kernel = define(f"""def kernel(x, out):
    tile = cuda.shared.array({LARGEST}, {np.dtype(dtype).name})
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    for k in range(t + cuda.blockDim.x, {LARGEST}, cuda.blockDim.x):
        tile[k] = 0
    cuda.syncthreads()
    half = {LARGEST} // 2
    while half > 0:
        if t < half and t + half < {LARGEST}:
            for k in range(t, half, cuda.blockDim.x):
                tile[k] += tile[k + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]
""", **{np.dtype(dtype).name: dtype})  # fmt: skip
    run(kernel, [floats(3 * block, dtype), np.zeros(3, dtype)], 3, block)


@pytest.mark.parametrize("block", BLOCKS)
def test_scan_with_indices_below_the_thread(block):
    def kernel(x, out):
        tile = cuda.shared.array((2, 128), float32)
        t = cuda.threadIdx.x
        now = 0
        tile[now, t] = x[cuda.grid(1)]
        cuda.syncthreads()
        step = 1
        while step < 128:
            value = tile[now, t]
            if t >= step:
                value += tile[now, t - step]
            now = 1 - now
            tile[now, t] = value
            cuda.syncthreads()
            step *= 2
        out[cuda.grid(1)] = tile[now, t]

    run(kernel, [floats(2 * block), np.zeros(2 * block, np.float32)], 2, block)


@pytest.mark.parametrize("turns", [0, 1, 3, 12, 40])
def test_loop_of_known_and_unknown_turns(turns):
    source = """def kernel(x, n, out):
    tile = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    v = x[t]
    for k in range({}):
        tile[t] = v + k
        cuda.syncthreads()
        v = tile[(t + 1 + k) % 64] * 3 - k
        cuda.syncthreads()
    out[t] = v
"""
    for bound in (turns, "n"):
        kernel = define(source.format(bound), int64=np.int64)
        run(kernel, [np.arange(64) % 7, turns, np.zeros(64, np.int64)], 1, 64)


def test_loop_that_ends_in_the_middle():
    def kernel(x, out):
        tile = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        turns = 0
        while True:
            more = cuda.syncthreads_or(tile[t] > 3)
            if not more:
                break
            tile[t] //= 2
            turns += 1
        out[t] = tile[t] * 100 + turns

    run(kernel, [np.arange(64) * 5, np.zeros(64, np.int64)], 1, 64)


def test_what_is_kept_alike_changes_between_vectors():
    """A value that all share is read by every vector of the block before one of them leaves the next."""

    def kernel(x, n, out):
        tile = cuda.shared.array(128, int64)
        t = cuda.threadIdx.x
        total, weight, k = 0, 1, 0
        while k < n:
            tile[t] = x[t] * weight + k
            cuda.syncthreads()
            total += tile[127 - t]
            weight = weight * 3 % 17
            k += 1 + weight % 2
            cuda.syncthreads()
        out[t] = total * 100 + weight

    run(kernel, [np.arange(128) % 11, 9, np.zeros(128, np.int64)], 1, 128)


@pytest.mark.parametrize("block", PLANES)
@pytest.mark.parametrize("n", [1, 33, 70])
def test_product_by_tiles(block, n):
    width, height = block

    kernel = define(f"""def kernel(a, b, out):
    left = cuda.shared.array(({height}, {width}), float32)
    right = cuda.shared.array(({width}, {width}), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = float32(0)
    for k in range(0, a.shape[1], {width}):
        left[y, x] = a[i, k + x] if i < a.shape[0] and k + x < a.shape[1] else float32(0)
        for r in range(y, {width}, {height}):
            right[r, x] = b[k + r, j] if k + r < b.shape[0] and j < b.shape[1] else float32(0)
        cuda.syncthreads()
        for c in range({width}):
            total += left[y, c] * right[c, x]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total
""", float32=float32)  # fmt: skip
    a, b = floats(n * (n + 3)).reshape(n, n + 3), floats((n + 3) * n, seed=6).reshape(n + 3, n)
    grid = (math.ceil(n / width), math.ceil(n / height))
    run(kernel, [a, b, np.zeros((n, n), np.float32)], grid, block)


@pytest.mark.parametrize("block", PLANES)
def test_exchange_across_rows(block):
    n = threads(block)
    kernel = define(f"""def kernel(x, out):
    tile = cuda.shared.array({n}, float64)
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    own = cuda.local.array(3, float64)
    for k in range(3):
        own[k] = x[t] * (k + 1)
    tile[t] = own[2]
    cuda.syncthreads()
    v = tile[{n - 1} - t] + own[t % 3]
    cuda.syncthreads()
    tile[t] = v
    cuda.syncthreads()
    out[t] = tile[t // 2] - own[1] + tile[t ^ 1 if (t ^ 1) < {n} else t]
""", float64=float64)  # fmt: skip
    run(kernel, [floats(n, np.float64), np.zeros(n)], 1, block)


# --- votes and parting ---


@pytest.mark.parametrize("vote", ["count", "and", "or"])
@pytest.mark.parametrize("block", [64, 20, (32, 4), (7, 5)])
def test_votes_of_the_block(vote, block):
    n = threads(block)
    kernel = define(f"""def kernel(x, out):
    t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
    v = 0
    for k in range(4):
        v = v * 100 + cuda.syncthreads_{vote}(x[t] > k)
    out[t] = v
""")
    run(kernel, [np.arange(n) % 6, np.zeros(n, np.int64)], 1, block)


@pytest.mark.unchecked("not all threads reach the same barrier")
def test_rows_that_part():
    """The same for a vector, but not for the block: no case of whole vectors."""

    def kernel(x, out):
        t, row = cuda.threadIdx.x, cuda.threadIdx.y
        if row % 2 == 0:
            cuda.syncthreads()
            out[row, t] = x[row, t]
        else:
            cuda.syncthreads()
            out[row, t] = -x[row, t]

    x = np.arange(128).reshape(4, 32)
    run(kernel, [x, np.zeros((4, 32), np.int64)], 1, (32, 4))


def test_loop_that_memory_controls():
    def kernel(x, out):
        left = cuda.shared.array(1, int64)
        t = cuda.threadIdx.x
        if t == 0:
            left[0] = x[0]
        cuda.syncthreads()
        turns = 0
        while left[0] > 0:
            cuda.syncthreads()
            if t == 5:
                left[0] -= 1
            turns += 1
            cuda.syncthreads()
        out[t] = turns

    run(kernel, [np.array([7]), np.zeros(64, np.int64)], 1, 64)


# --- loops that threads leave one by one ---


@pytest.mark.parametrize("n", [1, 63, 64, 65, 500])
@pytest.mark.parametrize(
    "loop",
    ["for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):", "for i in range(t, x.size, 3):", "for i in range(x.size - 1 - t, -1, -64):",
     "for i in range(t % 7, t // 3):", "for i in range(t, min(x.size, t + 5)):", "for i in range(t, x.size - t):"],
)  # fmt: skip
def test_strided_loops(loop, n):
    kernel = define(f"""def kernel(x, out):
    t = cuda.grid(1)
    total, last, turns = 0.0, -1, 0
    {loop}
        if x[i % x.size] > 0:
            total += x[i % x.size] * (turns + 1)
        last = i
        turns += 1
    out[t, 0], out[t, 1], out[t, 2] = total, last, turns
""")
    run(kernel, [floats(n, np.float64), np.zeros((128, 3))], 2, 64)


@pytest.mark.parametrize("block", [64, 128, 96, 20])
@pytest.mark.parametrize("n", [1, 511, 2048])
def test_strided_loops_before_a_barrier(block, n):
    """Rows of many vectors go through memory in longer pieces."""

    def total(x, out, counts):
        part = cuda.shared.array(128, float64)
        bins = cuda.shared.array(16, int32)
        t = cuda.threadIdx.x
        for b in range(t, 16, cuda.blockDim.x):
            bins[b] = 0
        cuda.syncthreads()
        mine = 0.0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            mine += x[i] * (t + 1)
            cuda.atomic.add(bins, int32(abs(x[i])) % 16, 1)
        part[t] = mine
        cuda.syncthreads()
        if t == 0:
            for k in range(1, cuda.blockDim.x):
                mine += part[k]
            out[cuda.blockIdx.x] = mine
        for b in range(t, 16, cuda.blockDim.x):
            counts[cuda.blockIdx.x, b] = bins[b]

    run(total, [floats(n, np.float64), np.zeros(3), np.zeros((3, 16), np.int64)], 3, block)


@pytest.mark.parametrize("block", [32, 128, 256, PART_OF_A_WARP])
def test_strided_gathers_before_a_sum_by_warps(block):
    """Pieces of 128 threads, the most there are at a time, and a check in them."""

    def kernel(x, order, out):
        part = cuda.shared.array(8, float32)
        t = cuda.threadIdx.x
        mine = float32(0)
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            mine += x[order[i]]
        if t < 8:
            part[t] = 0
        cuda.syncthreads()
        for k in range(5):
            other = cuda.shfl_down_sync(FULL, mine, 16 >> k)
            if t % 32 + (16 >> k) < 32 and t + (16 >> k) < cuda.blockDim.x:
                mine += other
        if t % 32 == 0:
            part[t // 32] = mine
        cuda.syncthreads()
        if t == 0:
            for k in range(1, 8):
                mine += part[k]
            out[cuda.blockIdx.x] = mine

    run(kernel, [floats(2000), np.random.default_rng(1).permutation(2000), np.zeros(2, np.float32)], 2, block)


def test_strided_loop_whose_index_fails_late():
    @cuda.jit(debug=True)
    def kernel(x, y, out):
        total = 0.0
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            total += x[i] * y[i]
        out[cuda.grid(1)] = total

    with pytest.raises(IndexError, match=r"thread \((2[0-9]|[3-6][0-9]), 0, 0\) of block \(1, 0, 0\)"):
        kernel[2, 64](floats(384, np.float64), floats(340, np.float64), np.zeros(128))
        cuda.synchronize()


# --- low bits of thread numbers ---


@pytest.mark.parametrize("block", [64, 128, 20])
@pytest.mark.parametrize(
    "index",
    ["t & 31", "t & 7", "t & 48", "t & -16", "t >> 4", "t >> 2", "t // 32", "t // 48", "t % 48", "t % 64", "t % 24",
     "t ^ 32", "t ^ 3", "t | 32", "t | 3", "63 - t % 64", "(t + 16) % 64", "(t - 16) % 64", "t - 32", "-t - 1",
     "(t * 2) & 63", "(t + 5) & 31", "t if t < 48 else 0", "t if t > 47 else 1", "t if 32 > t else 2", "t if t <= 31 else 3",
     "t if t >= 40 else 4", "t if t != 16 else 5", "int32(t) // 16", "int32(t) % 16"],
)  # fmt: skip
def test_indices_of_threads(index, block):
    kernel = define(f"""def kernel(x, out):
    tile = cuda.shared.array(128, int64)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[({index}) % cuda.blockDim.x] * 1000 + ({index})
""", int64=int64, int32=int32)  # fmt: skip
    run(kernel, [np.arange(block) * 3 % 101, np.zeros(block, np.int64)], 1, block)
    alone = define(f"""def kernel(x, out):
    t = cuda.threadIdx.x
    out[t] = x[({index}) % cuda.blockDim.x] * 1000 + ({index})
""", int32=int32)  # fmt: skip
    run(alone, [np.arange(block) * 3 % 101, np.zeros(block, np.int64)], 1, block)


# --- warps ---


@pytest.mark.parametrize("block", [64, 96, PART_OF_A_WARP, (32, 4), (16, 4)])
def test_sum_of_a_block_by_warps(block):
    def kernel(x, out):
        part = cuda.shared.array(32, float64)
        t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y
        n = cuda.blockDim.x * cuda.blockDim.y
        v = x[t + n * cuda.blockIdx.x]
        offset = 16
        while offset > 0:
            w = cuda.shfl_down_sync(FULL, v, offset)
            if t % 32 + offset < 32 and t + offset < n:
                v += w
            offset //= 2
        if t % 32 == 0:
            part[t // 32] = v
        cuda.syncthreads()
        if t < 32:
            v = part[t] if t < (n + 31) // 32 else 0.0
            for k in range(5):
                w = cuda.shfl_down_sync(FULL, v, 16 >> k)
                if t + (16 >> k) < 32 and t + (16 >> k) < n:
                    v += w
            if t == 0:
                out[cuda.blockIdx.x] = v

    n = threads(block)
    run(kernel, [floats(2 * n, np.float64), np.zeros(2)], 2, block)


@pytest.mark.parametrize("operation", ["all_sync", "any_sync", "eq_sync", "ballot_sync"])
def test_votes_of_whole_warps(operation):
    kernel = define(f"""def kernel(x, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.{operation}(0xffffffff, x[i] > 0)
    out[i, 1] = cuda.{operation}(0xffffffff, i % 64 < 32)
    out[i, 2] = cuda.{operation}(0xffffffff, x[0] > 0)
    out[i, 3] = cuda.{operation}(cuda.ballot_sync(0xffffffff, True), x[i] % 3 == 0)
""")
    x = np.random.default_rng(2).integers(-1, 2, 256)
    x[:32], x[32:64] = 1, -1
    run(kernel, [x, np.zeros((256, 4), np.int64)], 2, 128)


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float32, np.float64])
def test_matches_of_whole_warps(dtype):
    def kernel(x, out):
        i = cuda.grid(1)
        out[i, 0] = cuda.match_any_sync(FULL, x[i])
        mask, same = cuda.match_all_sync(FULL, x[i])
        out[i, 1] = mask
        out[i, 2] = same

    x = np.random.default_rng(2).integers(0, 5, 128).astype(dtype)
    x[32:64] = 3
    run(kernel, [x, np.zeros((128, 3), np.int64)], 1, 128)


@pytest.mark.parametrize("operation", ["shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"])
@pytest.mark.parametrize("by", ["3", "n", "x[0]", "(31 - cuda.laneid)", "n * cuda.laneid", "cuda.laneid"])
def test_shuffles_of_whole_warps(operation, by):
    if operation != "shfl_sync" and "lane" in by:
        by = "(cuda.threadIdx.x // 32)"
    kernel = define(f"""def kernel(x, n, out):
    i = cuda.grid(1)
    out[i] = cuda.{operation}(0xffffffff, x[i], {by})
""")
    run(kernel, [np.arange(128) * 7 % 101 + 5, 9, np.zeros(128, np.int64)], 1, 128)


def test_warps_that_do_different_things():
    def kernel(x, out):
        t = cuda.threadIdx.x
        v = x[t]
        if t // 32 == 1:
            v = cuda.shfl_xor_sync(FULL, v, 5) * 10
        elif t >= 64:
            for _ in range(t // 32):
                v += cuda.shfl_up_sync(FULL, v, 1)
        else:
            v -= cuda.ballot_sync(FULL, v % 2 == 0)
        cuda.syncwarp()
        out[t] = v

    run(kernel, [np.arange(128) * 7 % 101, np.zeros(128, np.int64)], 1, 128)


@pytest.mark.unchecked("not all threads reach the same barrier")
def test_lanes_that_left_and_lanes_that_wait():
    def guarded(x, n, out):
        i = cuda.grid(1)
        if i >= n:
            return
        v = x[i]
        above = cuda.shfl_down_sync(FULL, v, 1)
        if i + 1 < n:  # what a lane gives that has left is undefined on a GPU
            v += above
        out[i] = v * 1000

    def split(x, n, out):
        i = cuda.grid(1)
        v = x[i]
        even = cuda.ballot_sync(FULL, v % 2 == 0)
        if v % 2 == 0:
            m = cuda.ballot_sync(even, v > n)
        else:
            m = cuda.ballot_sync(~even, v <= n)
        out[i] = m

    x = np.arange(96) * 7 % 101
    run(guarded, [x, 75, np.zeros(96, np.int64)], 1, 96)
    run(split, [x, 50, np.zeros(96, np.int64)], 1, 96)


def test_compaction_by_ballot():
    def kernel(x, out, count):
        i = cuda.grid(1)
        warp = i // 32  # each has a place of its own: their order is not defined
        keep = x[i] > 20
        m = cuda.ballot_sync(FULL, keep)
        base = 0
        if cuda.laneid == 0:
            base = cuda.atomic.add(count, warp, cuda.popc(m))
        base = cuda.shfl_sync(FULL, base, 0)
        if keep:
            out[warp, base + cuda.popc(m & cuda.lanemask_lt())] = x[i]

    x = np.arange(128) * 7 % 101
    run(kernel, [x, np.zeros((4, 35), np.int64), np.full(4, 3)], 1, 128)


# --- stops ---


@pytest.mark.parametrize("block", [64, 20])
def test_an_index_out_of_range_names_its_thread(block):
    def kernel(x, out):
        tile = cuda.shared.array(128, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        out[t] = tile[x[t]]

    @cuda.jit
    def by_warp(x, out):
        t = cuda.threadIdx.x
        out[t] = x[cuda.shfl_sync(FULL, x[t], t)]

    x = np.arange(block)
    x[17] = 200
    for k in (cuda.jit(debug=True)(kernel), cuda.jit(debug=True)(by_warp.py_func)):
        with pytest.raises(IndexError, match=r"thread \(17, 0, 0\)"):
            k[1, block](x, np.zeros(block, np.int64))
            cuda.synchronize()


# --- bounds that divide a vector ---


def parted(x, low, beside, start, out):
    """Guards on the place in the grid, in the block, and of one thread; what they keep crosses barriers."""
    tile = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    width = cuda.blockDim.x
    i = cuda.blockIdx.x * (width - 2 * beside) - beside + t
    inside = 0 <= i < x.size
    if inside:
        tile[t] = x[i]
    cuda.syncthreads()
    value = -1
    for k in range(beside):
        if inside and k < t < width - 1 - k:
            value = tile[t]
            if i > 0:
                value = min(value, tile[t - 1])
            if i < x.size - 1:
                value = min(value, tile[t + 1])
        cuda.syncthreads()
        if inside and k < t < width - 1 - k:
            tile[t] = value + k
        if t == start:
            tile[t] = -k
        cuda.syncthreads()
    if t < low:
        if inside:
            value += 100
    elif beside <= t < width - beside and inside:
        value = tile[t]
    cuda.syncthreads()
    if inside:
        out[i, t] = value


@pytest.mark.parametrize("block", [64, 20])
@pytest.mark.parametrize("low", [1, 16, 40])
def test_guards_in_front_of_barriers(block, low):
    for beside, start in ((0, 3), (1, 0), (3, 16), (9, 200)):
        n = 150
        blocks = -(-n // (block - 2 * beside))
        x = np.random.default_rng(3).integers(0, 99, n).astype(np.int32)
        run(parted, [x, low, beside, start, np.zeros((n, block), np.int32)], blocks, block)


@pytest.mark.parametrize("first", [2, 16, 29])
def test_an_index_behind_a_guard_names_its_thread(first):
    def kernel(x, first, out):
        tile = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        cuda.syncthreads()
        if t >= first:
            out[t] = tile[t + 30]

    with pytest.raises(IndexError, match=r"thread \(34, 0, 0\)"):
        cuda.jit(debug=True)(kernel)[1, 64](np.arange(64), first, np.zeros(64, np.int64))
        cuda.synchronize()


# --- rows that are no whole vectors ---


@pytest.mark.parametrize("columns", [5, 7, 11, 13, 20, 31])
@pytest.mark.parametrize("shape", ["all", "deep", "fewer"])
def test_tiles_of_ragged_rows(columns, shape):
    """Blocks as wide as a tile whose rows no vector divides; and narrower ones, which run one by one."""
    kernel = define(f"""def kernel(x, turns, out, counts):
    tile = cuda.shared.array((6, {columns}), float32)
    seen = cuda.shared.array(1, int64)
    own = cuda.local.array(3, float32)
    t, y, z = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    row = y + cuda.blockDim.y * z
    number = t + cuda.blockDim.x * row
    i = cuda.blockIdx.x * cuda.blockDim.x + t
    tile[row, t] = x[row, i]
    if number == 0:
        seen[0] = cuda.blockIdx.x * 3 + 1
    for k in range(3):
        own[k] = x[row, i] * k
    cuda.syncthreads()
    first = seen[0]
    total = float32(0)
    for k in range(cuda.blockDim.x):
        total += tile[row, k] * (k + t % 8) + tile[row, t] * (i // 8)
    some = cuda.syncthreads_count(total > 0)
    for k in range(turns):
        tile[row, t] = total + own[k % 3]
        cuda.syncthreads()
        total = tile[row, cuda.blockDim.x - 1 - t] / 2
        cuda.syncthreads()
    if number % 4 == 3:
        out[row, i] = first
        return
    if t & 1:
        total += tile[(row + 1) % (cuda.blockDim.y * cuda.blockDim.z), t]
    out[row, i] = total + own[t % 3]
    cuda.atomic.add(counts, (cuda.blockIdx.x, t % 2), some)
""", float32=float32, int64=int64)  # fmt: skip
    block = {"all": (columns, 5), "deep": (columns, 2, 3), "fewer": (columns - 2, 6)}[shape]
    rows = threads(block) // block[0]
    x = floats(rows * block[0] * 4).reshape(rows, -1)
    run(kernel, [x, 3, np.zeros_like(x), np.zeros((4, 2), np.int64)], 4, block)


@pytest.mark.host_only("about code for the host")
def test_a_thread_beyond_a_ragged_row_does_not_fail():
    def kernel(x, out):
        tile = cuda.shared.array((3, 7), float32)
        t, y = cuda.threadIdx.x, cuda.threadIdx.y
        tile[y, t] = x[y, t]
        cuda.syncthreads()
        out[y, t] = tile[y, 6 - t]

    x = floats(21).reshape(3, 7)
    run(kernel, [x, np.zeros_like(x)], 1, (7, 3))
    with pytest.raises(Exception, match=r"thread \(5, 0, 0\)"):
        cuda.jit(kernel)[1, (7, 3)](np.ascontiguousarray(x[:, :5]), np.zeros_like(x))
        cuda.synchronize()
