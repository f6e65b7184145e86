"""Collectives in kernels (cuda.coop, cuda.cg), beside NumPy: the result of each thread of a group, over block sizes, items, types and operators.

Integers are compared exactly. A float's sum has at most n - 1 roundings on the way of each term, in whatever tree, so its error is at most
(n - 1) u / (1 - (n - 1) u) * sum |x| (Higham, Accuracy and Stability, 4.2), and as much for each term of a scan.
"""

import numpy as np
import pyptx
import pytest
from pyptx import CompileError, cuda

SIZES = [1, 31, 32, 33, 64, 100, 256, 1024, (8, 4), (5, 7), (16, 8, 2)]


def threads_of(block):
    return int(np.prod(block))


def numbers(dtype, n, seed=0):
    rng = np.random.default_rng([seed, n])
    kind = np.dtype(dtype).kind
    if kind == "c":
        return (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)
    if kind == "f":
        return (rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4, n)).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min // 2, info.max // 2, n, dtype=dtype)


def ranks():
    """In kernels: a thread's number, x fastest."""
    return cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)


def launch(kernel, block, *arrays):
    kernel[1, block](*arrays)
    cuda.synchronize()


def assert_sums(got, want, terms):
    """terms: how many numbers at most, and the sum of their sizes for each of them."""
    if got.dtype.kind in "iu":
        np.testing.assert_array_equal(got, want)
        return
    n, sizes = terms
    u = np.finfo(got.dtype).eps / 2
    # a complex sum is two real ones; want itself is computed in float64 or better, and rounded once
    bound = (n * u / (1 - n * u)) * sizes
    assert (np.abs(got.astype(np.clongdouble) - want) <= bound).all()


def wide(x):
    return x if x.dtype.kind in "iu" else x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def shifted(scan):
    """The exclusive scan of an inclusive one of sums."""
    return np.concatenate([scan[:1] * 0, scan[:-1]])


def sums(x):
    with np.errstate(over="ignore"):
        return np.cumsum(wide(x), dtype=wide(x).dtype)


# The paths depend on the block, the types on nothing: not each with each.
DTYPES = ["int32", "int64", "float32", "float64", "complex64"]


@pytest.mark.parametrize("known", [False, True], ids=["run-time", "known"])
@pytest.mark.parametrize("block, dtype", [(block, DTYPES[k % 5]) for k, block in enumerate(SIZES)], ids=str)
def test_sums_of_a_block(block, dtype, known):
    size = block if known else None

    @cuda.jit
    def kernel(x, total, upto, before, whole):
        group = cuda.coop.this_block(size)
        i = group.thread_rank()
        total[i] = group.sum(x[i])
        upto[i] = group.inclusive_sum(x[i])
        before[i], whole[i] = group.exclusive_sum(x[i], total=True)

    n = threads_of(block)
    x = numbers(dtype, n)
    out = np.zeros((4, n), dtype)
    launch(kernel, block, x, *out)
    want = sums(x)
    terms = n, np.abs(wide(x)).sum()
    assert_sums(out[0], want[-1], terms)
    assert (out[0] == out[0, 0]).all()  # one result in all threads
    assert_sums(out[1], want, terms)
    assert_sums(out[2], shifted(want), terms)
    assert_sums(out[3], want[-1], terms)


@pytest.mark.parametrize("block, known, dtype, items", [(33, False, "int32", 4), (64, True, "float32", 8), (100, True, "float64", 4),
                                                        ((5, 7), False, "complex64", 8), ((8, 8), True, "int64", 1)], ids=str)  # fmt: skip
def test_sums_of_items(block, known, dtype, items):
    size = block if known else None

    @cuda.jit
    def kernel(x, total, upto, before, whole):
        group = cuda.coop.this_block(size)
        mine = cuda.local.array(items, dtype)
        group.load(x, mine)
        total[group.thread_rank()] = group.sum(mine)
        group.inclusive_sum(mine)
        group.store(upto, mine)
        group.load(x, mine)
        whole[group.thread_rank()] = group.exclusive_sum(mine, total=True)
        group.store(before, mine)

    n = threads_of(block)
    x = numbers(dtype, n * items)
    (total, whole), (upto, before) = np.zeros((2, n), dtype), np.zeros((2, x.size), dtype)
    launch(kernel, block, x, total, upto, before, whole)
    want, terms = sums(x), (x.size, np.abs(wide(x)).sum())
    assert_sums(total, want[-1], terms)
    assert_sums(whole, want[-1], terms)
    assert_sums(upto, want, terms)
    assert_sums(before, shifted(want), terms)


def compose(f, g):
    """Of x -> a x + b, modulo 2**64: f, then g. Associative, and not commutative."""
    return f[0] * g[0], f[1] * g[0] + g[1]


def keep_last(a, b):
    return b


def composed(pairs):
    out, a, b = [], 1, 0
    for c, d in pairs.tolist():
        a, b = a * c % 2**64, (b * c + d) % 2**64
        out.append((a, b))
    return np.array(out, np.uint64)


@pytest.mark.parametrize("block, known", [(1, False), (31, True), (33, False), (64, True), (96, True), (288, True), (384, True), (512, True), (1024, True), ((5, 7), False)], ids=str)
def test_operators_that_do_not_commute(block, known):
    size = block if known else None

    @cuda.jit
    def kernel(x, total, upto, before, last):
        group = cuda.coop.this_block(size)
        i = group.thread_rank()
        mine = (x[i, 0], x[i, 1])
        for k in range(2):  # at once again: the shared memory is its own
            a, b = group.reduce(mine, compose)
            total[i, 0], total[i, 1] = a, b
        a, b = group.inclusive_scan(mine, compose)
        upto[i, 0], upto[i, 1] = a, b
        a, b = group.exclusive_scan(mine, compose, (np.uint64(1), np.uint64(0)))
        before[i, 0], before[i, 1] = a, b
        last[i] = group.reduce(x[i, 1], keep_last)

    n = threads_of(block)
    x = np.random.default_rng(n).integers(0, 2**63, (n, 2)).astype(np.uint64)
    out, last = np.zeros((3, n, 2), np.uint64), np.zeros(n, np.uint64)
    launch(kernel, block, x, *out, last)
    want = composed(x)
    assert (out[0] == want[-1]).all()
    assert (out[1] == want).all()
    assert (out[2] == np.concatenate([np.array([[1, 0]], np.uint64), want[:-1]])).all()
    assert (last == x[-1, 1]).all()


@pytest.mark.parametrize("op, want", [(min, np.minimum), (max, np.maximum), (lambda a, b: a * b, np.multiply)], ids=["min", "max", "product"])
def test_operators(op, want):
    @cuda.jit
    def kernel(x, total, upto, tiles):
        group = cuda.coop.this_block()
        i = group.thread_rank()
        total[i] = group.reduce(x[i], op)
        upto[i] = group.inclusive_scan(x[i], op)
        tiles[i] = cuda.coop.this_warp().reduce(x[i], op)

    x = np.random.default_rng(5).integers(-(2**31), 2**31, 100).astype(np.int32)
    out = np.zeros((3, 100), np.int32)
    launch(kernel, 100, x, *out)
    with np.errstate(over="ignore"):
        scan = want.accumulate(x, dtype=np.int32)
        assert (out[0] == scan[-1]).all() and (out[1] == scan).all()
        assert (out[2] == np.concatenate([np.repeat(want.reduce(x[k : k + 32], dtype=np.int32), min(32, 100 - k)) for k in range(0, 100, 32)])).all()


@pytest.mark.parametrize("block, dtype", [(32, "int8"), (96, "uint32"), (256, "uint8"), (288, "int32"), (512, "uint16"), (1024, "int16"), (1000, "int32")], ids=str)
def test_integers_of_a_known_block(block, dtype):
    """One instruction for a warp (redux.sync); one after the other, in a loop and in a branch that
    the whole block takes."""

    @cuda.jit
    def kernel(x, total, least, most, upto, lowest, before, rounds):
        group = cuda.coop.this_block(block)
        i = group.thread_rank()
        v = x[i]
        for k in range(rounds):
            if k % 2 == 0:
                total[k, i] = group.sum(v)
                least[k, i] = group.reduce(v, min)
            else:
                most[k, i] = group.reduce(v, max)
            upto[k, i] = group.inclusive_sum(v)
            lowest[k, i] = group.inclusive_scan(v, min)
            before[k, i], all_of_them = group.exclusive_scan(v, max, x[-1], total=True)
            most[k, i] = max(most[k, i], all_of_them)
            v = x.dtype.type(v + total[0, 0])

    info, rounds = np.iinfo(dtype), 3
    x = np.random.default_rng(block).integers(info.min, info.max, block, dtype, endpoint=True)
    total, least, most, upto, lowest, before = np.zeros((6, rounds, block), dtype)
    most[:] = info.min
    launch(kernel, block, x, total, least, most, upto, lowest, before, rounds)
    v = x.copy()
    for k in range(rounds):
        if k % 2 == 0:
            assert (total[k] == v.sum(dtype=dtype)).all() and (least[k] == v.min()).all()
        assert (most[k] == max(v.max(), x[-1])).all()
        assert (upto[k] == np.cumsum(v, dtype=dtype)).all()
        assert (lowest[k] == np.minimum.accumulate(v)).all()
        assert (before[k] == np.maximum.accumulate(np.r_[x[-1], v[:-1]])).all()
        v = v + x.sum(dtype=dtype)


def test_results_have_the_type_of_the_value():
    @cuda.jit
    def kernel(x, out):
        group = cuda.coop.this_block()
        i = cuda.threadIdx.x
        out[i] = group.sum(x[i])  # wraps at 8 bits
        out[i] += 256 * (group.reduce(x[i], lambda a, b: a / 2 + b / 2).dtype == np.uint8)
        out[i] += 512 * (group.sum(1) == 40)

    x, out = np.full(40, 77, np.uint8), np.zeros(40, np.int64)
    launch(kernel, 40, x, out)
    assert (out == 77 * 40 % 256 + 256 + 512).all()


# --- tiles ---


@pytest.mark.parametrize("block, width, known", [(1, 4, False), (33, 2, False), (64, 1, False), (64, 8, True), (100, 16, True), (100, 8, False),
                                                  (100, 32, True), ((5, 7), 4, False), ((5, 7), 32, False)], ids=str)  # fmt: skip
def test_tiles(block, width, known):
    size = block if known else None

    @cuda.jit
    def kernel(x, out):
        block = cuda.coop.this_block(size)
        tile = cuda.coop.tiled_partition(block, width)
        i = block.thread_rank()
        a, b = tile.reduce((x[i, 0], x[i, 1]), compose)
        out[i, 0], out[i, 1] = a, b
        a, b = tile.inclusive_scan((x[i, 0], x[i, 1]), compose)
        out[i, 2], out[i, 3] = a, b
        v, w = tile.exclusive_sum(x[i, 0], total=True)
        out[i, 4], out[i, 5], out[i, 6] = v, w, tile.sum(x[i, 0])
        out[i, 7] = tile.thread_rank() + 100 * tile.size() + 10000 * tile.meta_group_rank()
        out[i, 8] = tile.shfl(x[i, 0], 0)
        out[i, 9] = tile.shfl_up(x[i, 0], 1)
        out[i, 10] = tile.shfl_down(x[i, 0], 1)
        out[i, 11] = tile.ballot(x[i, 0] % 3 == 0)
        out[i, 12] = tile.any(x[i, 0] % 7 == 0) + 2 * tile.all(x[i, 0] % 2 == 0)
        tile.sync()

    n = threads_of(block)
    x = np.random.default_rng(n).integers(0, 2**63, (n, 2)).astype(np.uint64)
    out = np.zeros((n, 13), np.uint64)
    launch(kernel, block, x, out)
    for first in range(0, n, 32):
        for low in range(first, min(first + 32, n), width):
            high = min(low + width, n, first + 32)
            t, v, o = composed(x[low:high]), x[low:high, 0], out[low:high]
            assert (o[:, :2] == t[-1]).all() and (o[:, 2:4] == t).all()
            scan = np.cumsum(v)
            assert (o[:, 4] == shifted(scan)).all()
            assert (o[:, 5] == scan[-1]).all() and (o[:, 6] == scan[-1]).all()
            assert (o[:, 7] == np.arange(high - low) + 100 * (high - low) + 10000 * (low // width)).all()
            assert (o[:, 8] == v[0]).all()
            assert (o[:, 9] == np.concatenate([v[:1], v[:-1]])).all()
            assert (o[:, 10] == np.concatenate([v[1:], v[-1:]])).all()
            assert (o[:, 11] == sum(1 << k for k in range(high - low) if v[k] % 3 == 0)).all()
            assert (o[:, 12] == (v % 7 == 0).any() + 2 * (v % 2 == 0).all()).all()


def test_tiles_of_one_warp_do_different_things():
    @cuda.jit
    def kernel(x, out):
        tile = cuda.coop.tiled_partition(8)
        i = cuda.threadIdx.x
        number = tile.meta_group_rank()
        if number % 4 == 1:
            out[i] = tile.sum(x[i])
        elif number % 4 == 2:
            for k in range(number):
                out[i] += tile.reduce(x[i], max)
        elif number % 4 == 3:
            out[i] = tile.sort_keys(x[i])

    x = numbers("int32", 100)
    x //= 16
    out = np.zeros(100, np.int64)
    launch(kernel, 100, x, out)
    for k in range(0, 96, 8):
        v, number = x[k : k + 8].astype(np.int64), k // 8
        want = (np.zeros(8), np.full(8, v.sum()), np.full(8, number * v.max()), np.sort(v))[number % 4]
        assert (out[k : k + 8] == want).all()


@pytest.mark.parametrize("width, items", [(2, 8), (8, 1), (32, 4)])
def test_items_of_a_tile(width, items):
    @cuda.jit
    def kernel(x, upto, keys, moved, striped):
        tile = cuda.coop.tiled_partition(width)
        first = tile.meta_group_rank() * width * items
        mine = cuda.local.array(items, np.float64)
        tile.load(x, mine, first)
        tile.inclusive_scan(mine, max)
        tile.store(upto, mine, first)
        tile.load(x, mine, first, arrangement="transposed")
        tile.sort_keys(mine)
        tile.store(keys, mine, first)
        tile.load(x, mine, first, arrangement="striped")
        tile.store(moved, mine, first)
        tile.exchange(mine, "striped_to_blocked")
        tile.store(striped, mine, first, "transposed")

    n = 64 * items
    x = numbers("float64", n)
    upto, keys, moved, striped = np.zeros((4, n))
    launch(kernel, 64, x, upto, keys, moved, striped)
    tiles = x.reshape(-1, width * items)
    assert (upto == np.maximum.accumulate(tiles, axis=1).ravel()).all()
    assert (keys == np.sort(tiles, axis=1).ravel()).all()
    assert (moved == tiles.reshape(-1, items, width).swapaxes(1, 2).ravel()).all()
    assert (striped == x).all()


# --- sorts ---


def keys(dtype, n):
    rng = np.random.default_rng(n)
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(bool)
    info = np.dtype(dtype)
    x = rng.integers(0, 256, n * info.itemsize).astype(np.uint8).view(dtype)  # all bits: infinities and nan too
    x[rng.integers(0, n, n // 8)] = 0
    if info.kind == "f":
        x[rng.integers(0, n, n // 8)] = -0.0
    return x


@pytest.mark.parametrize("block, items, dtype", [(1, 1, "int32"), (1, 4, "float64"), (3, 4, "float32"), (31, 1, "float32"), (31, 8, "int32"),
                                                 (32, 24, "int16"), (32, 1, "float64"), (33, 4, "int32"), (64, 1, "int32"), (64, 8, "float64"), (100, 4, "float32"),
                                                 (256, 4, "int32"), (1024, 1, "float32"), ((5, 7), 4, "int32"), ((8, 4, 2), 1, "float64"),
                                                 (96, 5, "int16"), (1024, 8, "float64"), (64, 16, "uint64")], ids=str)  # fmt: skip
def test_sorted_keys(block, items, dtype):
    @cuda.jit(launch_bounds=threads_of(block))  # sorts of many keys take more registers than 1,024 threads have
    def kernel(x, out):
        group = cuda.coop.this_block(block)
        mine = cuda.local.array(items, dtype)
        for k in range(2):  # at once again
            group.load(x, mine)
            group.sort_keys(mine)
        group.store(out, mine)

    x = keys(dtype, threads_of(block) * items)
    out = np.zeros_like(x)
    launch(kernel, block, x, out)
    np.testing.assert_array_equal(out, np.sort(x))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "uint32", "int64", "uint64", "float16"])
def test_types_of_keys(dtype):
    @cuda.jit
    def kernel(x, out, down, tiles):
        group = cuda.coop.this_block(96)
        i = cuda.threadIdx.x
        out[i] = group.sort_keys(x[i])
        down[i] = group.sort_keys(x[i], descending=True)
        tiles[i] = cuda.coop.tiled_partition(group, 32).sort_keys(x[i])

    x = keys(dtype, 96)
    out = np.zeros((3, 96), dtype)
    launch(kernel, 96, x, *out)
    np.testing.assert_array_equal(out[0], np.sort(x))
    np.testing.assert_array_equal(out[1], np.sort(x)[::-1])
    np.testing.assert_array_equal(out[2], np.sort(x.reshape(3, 32), axis=1).ravel())


def test_more_keys_than_shared_memory_has_room_for():
    @cuda.jit(launch_bounds=1024)
    def kernel(x, out, moved):
        group = cuda.coop.this_block(1024)
        mine = cuda.local.array(8, np.float64)
        group.load(x, mine, arrangement="transposed")
        group.store(moved, mine)
        group.sort_keys(mine)
        group.store(out, mine, arrangement="transposed")

    x = keys("float64", 8192)
    out, moved = np.zeros((2, 8192))
    launch(kernel, 1024, x, out, moved)
    np.testing.assert_array_equal(out, np.sort(x))
    np.testing.assert_array_equal(moved, x)


# --- loads, stores, exchanges ---


@pytest.mark.parametrize("block, items", [(33, 4), (64, 8), ((5, 7), 1)], ids=str)
def test_arrangements(block, items):
    @cuda.jit
    def kernel(x, striped, blocked, back):
        group = cuda.coop.this_block(block)
        mine = cuda.local.array(items, np.int32)
        group.load(x, mine, arrangement="striped")
        group.store(striped, mine)
        group.exchange(mine, "striped_to_blocked")
        group.store(blocked, mine)
        group.exchange(mine, "blocked_to_striped")
        group.store(back, mine, arrangement="striped")

    n = threads_of(block)
    x = np.arange(n * items, dtype=np.int32)
    striped, blocked, back = np.zeros((3, x.size), np.int32)
    launch(kernel, block, x, striped, blocked, back)
    assert (striped == x.reshape(items, n).T.ravel()).all()
    assert (blocked == x).all() and (back == x).all()


@pytest.mark.parametrize("dtype, kept, items", [("float32", "float32", 8), ("uint8", "uint8", 16), ("int16", "int64", 6), ("float64", "float32", 4),
                                                ("int32", "int32", 5), ("complex64", "complex64", 4), ("bool", "int32", 4)], ids=str)  # fmt: skip
def test_where_arrays_begin(dtype, kept, items):
    """Neighbours come in wide accesses where an array begins so; the others are taken one by one."""

    @cuda.jit
    def kernel(x, out, tiles):
        group, warp = cuda.coop.this_block(64), cuda.coop.this_warp()
        mine, own = cuda.local.array(items, kept), cuda.local.array(items, kept)
        group.load(x, mine, cuda.blockIdx.x * (64 * items), 1)
        group.store(out, mine, cuda.blockIdx.x * (64 * items))
        if cuda.blockIdx.x == 0 and group.thread_rank() < 32:
            warp.load(x, own)
            warp.store(tiles, own)

    n = 3 * 64 * items - 5
    x = (np.arange(n + 16) % 100).astype(dtype)
    for k, j in [(0, 0), (0, 1), (1, 0), (2, 4), (3, 8), (4, 2), (8, 12)]:
        out, tiles = np.zeros((2, n + 16), dtype)
        d_x, d_out, d_tiles = cuda.to_device(x), cuda.to_device(out), cuda.to_device(tiles)
        kernel[3, 64](d_x[k : k + n], d_out[j : j + n], d_tiles[k : k + 32 * items])
        out[j : j + n], tiles[k : k + 32 * items] = x[k : k + n], x[k : k + 32 * items]
        np.testing.assert_array_equal(d_out.copy_to_host(), out)
        np.testing.assert_array_equal(d_tiles.copy_to_host(), tiles)
    column = np.zeros((n, 2), dtype)  # elements two apart: not C-contiguous
    kernel[3, 64](cuda.to_device(np.repeat(x[:n], 2))[::2], d_column := cuda.to_device(column)[:, 1], d_tiles)
    np.testing.assert_array_equal(d_column.copy_to_host(), x[:n])


@pytest.mark.parametrize("arrangement", ["blocked", "striped", "transposed"])
def test_the_end_of_an_array(arrangement):
    @cuda.jit
    def kernel(x, out, sums):
        group = cuda.coop.this_block(64)
        mine = cuda.local.array(4, np.int64)
        start = cuda.blockIdx.x * 256
        group.load(x, mine, start, 7, arrangement)
        sums[cuda.blockIdx.x] = group.sum(mine)
        group.store(out, mine, start, arrangement)

    x = np.arange(1, 701)
    out, sums = np.zeros(700, np.int64), np.zeros(3, np.int64)
    kernel[3, 64](x, out, sums)
    cuda.synchronize()
    assert (out == x).all()
    assert sums.tolist() == [x[:256].sum(), x[256:512].sum(), x[512:].sum() + 7 * 68]


def test_sums_count_what_is_true():
    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        block, tile = cuda.coop.this_block(), cuda.coop.tiled_partition(8)
        out[0, i] = block.sum(x[i] > 3)
        out[1, i] = block.inclusive_sum(i > 3)
        out[2, i], out[3, i] = block.exclusive_sum(x[i] > 3, total=True)
        out[4, i] = tile.sum(x[i] > 3)

    x = np.arange(40, dtype=np.int8) % 7
    out = np.zeros((5, 40), np.int64)
    launch(kernel, 40, x, out)
    upto = np.cumsum(x > 3)
    np.testing.assert_array_equal(out, [np.full(40, upto[-1]), np.cumsum(np.arange(40) > 3), upto - (x > 3), np.full(40, upto[-1]),
                                        np.repeat((x > 3).reshape(5, 8).sum(1), 8)])


# --- what a call may not be ---


@pytest.mark.host_only
@pytest.mark.parametrize("body, block, words", [
    ("x[cuda.threadIdx.x] = cuda.coop.tiled_partition(8).sort_keys(1)", 12, "the tile is not full"),
    ("cuda.coop.this_block().load(x, cuda.local.array(2, np.int64), cuda.blockIdx.x - 1)", 32, "load and store: start is 0 or more"),
    ("cuda.coop.tiled_partition(8).store(x, cuda.local.array(2, np.int64), -n)", 32, "load and store: start is 0 or more")])
def test_what_the_host_finds(body, block, words):
    assert words in group_error(body, AssertionError, block)


def group_error(body, error=CompileError, block=64):
    lines = "\n    ".join(body.splitlines())
    space = {"cuda": cuda, "np": np}
    exec(compile(f"def kernel(x, n):\n    {lines}\n", __file__, "exec"), space)
    with pytest.raises(error) as caught:
        launch(cuda.jit(space["kernel"]), block, np.zeros(64, np.int64), 4)
    return str(caught.value)


@pytest.mark.parametrize(
    "body, message",
    [
        ("x[0] = cuda.coop.this_block().sum((1, 2))[0]", "a sum is one of numbers: tuples have reduce"),
        ("cuda.coop.this_block().load(x, cuda.local.array((2, 2), np.int64))", "items are a local array of one axis"),
        ("cuda.coop.this_block().load(x.reshape(8, 8), cuda.local.array(2, np.int64))", "load and store: the array has one axis"),
        ("cuda.coop.this_block().store(x.reshape(8, 8), cuda.local.array(2, np.int64))", "load and store: the array has one axis"),
        ("cuda.coop.this_block().all(x)", "a named tuple Block of 15 fields has no attribute 'all'"),
        ("x[0] = cuda.coop.tiled_partition(7).sum(1)", "the size is 1, 2, 4, 8, 16 or 32"),
        ("x[0] = cuda.coop.tiled_partition(64).sum(1)", "the size is 1, 2, 4, 8, 16 or 32"),
        ("x[0] = cuda.coop.tiled_partition(n).sum(1)", "known when the kernel is compiled"),
        ("x[0] = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 3).sum(1)", "the size is 1, 2, 4, 8, 16 or 32"),
        ("x[0] = cuda.coop.this_block(2000).sum(1)", "threads is from 1 to 1024"),
        ("x[0] = cuda.coop.this_block(n).sum(1)", "must be known when the kernel is compiled"),
        ("x[0] = cuda.coop.this_block().sort_keys(1)", "cuda.coop.this_block(256)"),
        ("x[0] = cuda.coop.this_block(64).sort_keys(1j)", "keys are real numbers"),
        ("x[0] = cuda.coop.this_block(64).exclusive_sum(1, total=False)", "total: True, or leave it out"),
        ("x[0] = cuda.coop.this_block(64).sort_keys(1, descending=False)", "descending: True, or leave it out"),
        ("a = cuda.local.array(2, np.int64)\ncuda.coop.this_block(64).exchange(a, 'sideways')", "striped_to_blocked"),
        ("a = cuda.local.array(2, np.int64)\ncuda.coop.this_block().exchange(a, 'striped_to_blocked')", "cuda.coop.this_block(256)"),
        ("a = cuda.local.array(2, np.int64)\ncuda.coop.this_block().load(x, a, arrangement='transposed')", "cuda.coop.this_block(256)"),
        ("a = cuda.local.array(2, np.int64)\ncuda.coop.this_block().load(x, a, arrangement='any')", 'arrangement is "blocked"'),
        ("a = cuda.local.array(2, np.int64)\ncuda.coop.this_block().store(x, a, arrangement='any')", 'arrangement is "blocked"'),
        ("a = cuda.local.array(3, np.int64)\ncuda.coop.this_warp().sort_keys(a)", "must be a power of 2"),
        ("cuda.coop.this_block().summ(1)", "did you mean 'sum'?"),
        ("cuda.coop.this_bloc()", "this_bloc"),
    ],
)
def test_errors(body, message):
    text = group_error(body)
    assert message in text
    assert "in kernel" in text and "test_coop.py:" in text  # with the kernel's own line


@pytest.mark.parametrize("size, block", [(64, 32), (64, 96), (64, (8, 8)), ((8, 8), 32)], ids=str)
def test_a_block_of_another_size(size, block):
    if not cuda.get_current_device().is_host:
        pytest.skip("only the host device and debug kernels compare it")
    assert "this_block(threads)" in group_error(f"x[0] = cuda.coop.this_block({size}).sum(1)", AssertionError, block)


def test_groups_are_values():
    def helper(group, v):
        return group.sum(v) + group.size()

    @cuda.jit
    def kernel(out):
        block = cuda.coop.this_block(64)
        out[cuda.threadIdx.x] = helper(block, 1) + 1000 * helper(cuda.coop.this_warp(), 1) + 10**6 * helper(cuda.coop.tiled_partition(4), 2)

    out = np.zeros(64, np.int64)
    launch(kernel, 64, out)
    assert (out == 128 + 64000 + 12 * 10**6).all()


def test_two_phase_names():
    """Of the package cuda.coop that was removed: with temporary storage, and without."""
    made = cuda.coop.block
    total, largest = made.make_sum(np.int64, 64, 4), made.make_reduce(np.int64, 64, max)
    before, upto = made.make_exclusive_sum(np.int64, 64, 4), made.make_inclusive_scan(np.int64, 64, max)
    sort, load, store = made.make_radix_sort_keys(np.int64, 64, 4), made.make_load(np.int64, 64, 4, "transpose"), made.make_store(np.int64, 64, 4)
    exchange, tile = made.make_exchange(np.int64, 64, 4), cuda.coop.warp.make_sum(np.int64, 8)

    @cuda.jit(link=total.files)
    def kernel(x, out, sums, keys, moved):
        temp = cuda.shared.array(16, np.uint8)
        mine = cuda.local.array(4, np.int64)
        prefix = cuda.local.array(4, np.int64)
        i = cuda.threadIdx.x
        load(x, mine)
        out[i, 0], out[i, 1] = total(mine), total(temp, mine)
        out[i, 2], out[i, 3] = largest(x[i]), upto(temp, x[i])
        out[i, 4] = tile(x[i])
        before(mine, prefix)
        store(sums, prefix)
        sort(temp, mine)
        store(temp, keys, mine)
        for k in range(4):
            mine[k] = x[k * 64 + i]
        exchange(mine)
        store(moved, mine)

    assert total.temp_storage_bytes == 1 and made.make_load(np.int32, 32, 1, "striped")
    x = np.random.default_rng(3).integers(-(2**40), 2**40, 256)
    out, (sums, sorted_, moved) = np.zeros((64, 5), np.int64), np.zeros((3, 256), np.int64)
    launch(kernel, 64, x, out, sums, sorted_, moved)
    assert (out[:, :2] == x.sum()).all() and (out[:, 2] == x[:64].max()).all()
    assert (out[:, 3] == np.maximum.accumulate(x[:64])).all()
    assert (out[:, 4] == np.repeat(x[:64].reshape(8, 8).sum(axis=1), 8)).all()
    assert (sums == np.cumsum(x) - x).all() and (sorted_ == np.sort(x)).all() and (moved == x).all()
    with pytest.raises(ValueError, match="algorithm must be one of direct"):
        made.make_load(np.int32, 32, 1, "sideways")


def test_two_phase_functions_have_their_dtype():
    """Numbers are converted to it, local arrays must have it; the storage's size is known in kernels."""
    total, pairs = cuda.coop.block.make_sum(np.int32, 64), cuda.coop.warp.make_sum(pyptx.float32, 2)

    @cuda.jit
    def kernel(x, out):
        i = cuda.threadIdx.x
        temp = cuda.shared.array(total.temp_storage_bytes, np.uint8)
        out[i, 0], out[i, 1], out[i, 2] = total(temp, x[i]), pairs(i), total.temp_storage_alignment

    out = np.zeros((64, 3))
    launch(kernel, 64, np.full(64, 1.5), out)
    assert (out[:, 0] == 64).all() and (out[:, 2] == 1).all() and (out[:, 1] == np.arange(64) // 2 * 4 + 1).all()

    @cuda.jit
    def wrong(out):
        out[0, 0] = total(cuda.local.array(2, np.float32))

    with pytest.raises(CompileError, match="another type than the dtype"):
        launch(wrong, 64, out)


@pytest.mark.parametrize("block, items", [(1, 3), (32, 1), (64, 4), (48, 3), ((8, 4), 2), (100, 5)], ids=str)
def test_merge_sorts_by_any_order(block, items):
    """Stable: by the last digit alone, so that many keys are equal."""
    threads, lanes = threads_of(block), 8
    sort = cuda.coop.block.make_merge_sort_keys(np.int32, block, items, lambda a, b: a % 10 < b % 10)
    down = cuda.coop.warp.make_merge_sort_keys(np.int32, items, lambda a, b: a % 10 > b % 10, lanes)

    @cuda.jit
    def kernel(x, by_block, by_tile):
        keys, r = cuda.local.array(items, np.int32), ranks()
        for k in range(items):
            keys[k] = x[r * items + k]
        sort(keys)
        for k in range(items):
            by_block[r * items + k] = keys[k]
            keys[k] = x[r * items + k]
        if cuda.blockDim.y == 1:
            down(keys)
        for k in range(items):
            by_tile[r * items + k] = keys[k]

    x = numbers(np.int32, threads * items) // 7
    by_block, by_tile = np.zeros_like(x), np.zeros_like(x)
    launch(kernel, block, x, by_block, by_tile)
    assert (by_block == x[np.argsort(x % 10, kind="stable")]).all()
    if not isinstance(block, tuple):
        for start in range(0, threads * items, lanes * items):
            part = x[start:start + lanes * items]
            assert (by_tile[start:start + lanes * items] == part[np.argsort(-(part % 10), kind="stable")]).all()


def test_two_phase_scans():
    made = cuda.coop.block
    largest, product = made.make_scan(np.int32, 64, scan_op="max"), made.make_scan(np.int64, 64, scan_op=lambda a, b: a * b, mode="inclusive")
    given, sums = made.make_exclusive_scan(np.int32, 64, max, initial_value=5, algorithm="raking"), made.make_scan(np.int32, 64, 2)
    back = made.make_exchange(np.int32, 64, 2, made.BlockExchangeType.BlockedToStriped)

    @cuda.jit
    def kernel(x, out, prefix, moved):
        i = cuda.threadIdx.x
        items, target = cuda.local.array(2, np.int32), cuda.local.array(2, np.int32)
        out[i, 0], out[i, 1], out[i, 2] = largest(x[i]), product(x[i] % 2 * 2 - 1), given(x[i])
        items[0], items[1] = x[2 * i], x[2 * i + 1]
        sums(items, target)
        prefix[2 * i], prefix[2 * i + 1] = target[0], target[1]
        back(items)
        moved[i], moved[64 + i] = items[0], items[1]

    x = np.random.default_rng(4).integers(-99, 99, 128, dtype=np.int32)
    out, prefix, moved = np.zeros((64, 3), np.int64), np.zeros(128, np.int32), np.zeros(128, np.int32)
    launch(kernel, 64, x, out, prefix, moved)
    upto = np.maximum.accumulate(x[:64])
    assert (out[1:, 0] == upto[:-1]).all() and out[0, 0] == np.iinfo(np.int32).min
    assert (out[:, 1] == np.cumprod(x[:64] % 2 * 2 - 1)).all()
    assert (out[1:, 2] == np.maximum(5, upto[:-1])).all() and out[0, 2] == 5
    assert (prefix == np.cumsum(x) - x).all() and (moved == x).all()


@pytest.mark.parametrize("make, error, words", [
    (lambda b, w: b.make_sum("foo", 32), TypeError, "dtype is the type of a number"), (lambda b, w: b.make_sum(np.dtype("i4,f4"), 32), TypeError, "dtype is"),
    (lambda b, w: b.make_sum("M8[s]", 32), TypeError, "dtype is"), (lambda b, w: b.make_sum(np.int32, 0), ValueError, "1 to 1024 threads, not 0"),
    (lambda b, w: b.make_sum(np.int32, (32, 64)), ValueError, "1 to 1024 threads"), (lambda b, w: b.make_sum(np.int32, 1.5), TypeError, "an int, or a tuple"),
    (lambda b, w: b.make_sum(np.int32, (-1, -32)), ValueError, "1 to 1024 threads"), (lambda b, w: b.make_sum(np.int32, 32, 0), ValueError, "items_per_thread"),
    (lambda b, w: b.make_sum(np.int32, 32, algorithm="fast"), ValueError, "algorithm must be one of raking"),
    (lambda b, w: b.make_reduce(np.int32, 32, 3), TypeError, "binary_op is a function"), (lambda b, w: b.make_scan(np.int32, 32, mode="both"), ValueError, "mode must be"),
    (lambda b, w: b.make_radix_sort_keys(np.int32, 32, 1, begin_bit=4), NotImplementedError, "begin_bit= is not supported: whole keys"),
    (lambda b, w: b.make_radix_sort_keys(np.int32, 32, 1, end_bit=8), NotImplementedError, "end_bit="),
    (lambda b, w: b.make_exclusive_scan(np.int32, 32, lambda a, b: a), TypeError, "needs initial_value="),
    (lambda b, w: b.make_exclusive_sum(np.int32, 32, prefix_op=max), NotImplementedError, "prefix_op="),
    (lambda b, w: b.make_exchange(np.int32, 32, 2, "sideways"), ValueError, "block_exchange_type must be one of"),
    (lambda b, w: w.make_sum(np.int32, 7), ValueError, "threads_in_warp is 1, 2"), (lambda b, w: w.make_merge_sort_keys("x", 1, max), TypeError, "dtype is"),
])
def test_two_phase_mistakes(make, error, words):
    with pytest.raises(error, match=words):
        make(cuda.coop.block, cuda.coop.warp)


@pytest.mark.unchecked("a SyncError then, tests/api/check looks at it")
@pytest.mark.host_only
@pytest.mark.parametrize("call, whole", [
    ("cuda.coop.this_block().sum(x[i])", "block"), ("cuda.coop.this_block(64).reduce(x[i], max)", "block"), ("cuda.coop.this_block().inclusive_sum(x[i])", "block"),
    ("cuda.coop.this_block().exclusive_scan(x[i], max, 0)", "block"), ("cuda.coop.this_block(64).sort_keys(x[i])", "block"),
    ("cuda.coop.tiled_partition(8).sum(x[i])", "tile"), ("cuda.coop.this_warp().inclusive_sum(x[i])", "tile"),
    ("cuda.coop.this_warp().exclusive_sum(x[i])", "tile"), ("cuda.coop.tiled_partition(4).sort_keys(x[i])", "tile")])
@pytest.mark.parametrize("form", ["if i >= 41:\n    return\nx[i] = {}", "if i < 41:\n    x[i] = {}"], ids=["return", "if"])
def test_a_thread_that_does_not_come(call, whole, form):
    """An error on the host device, with the kernel's line, in place of a sum of what is not there."""
    text = group_error("i = cuda.threadIdx.x\n" + form.format(call), AssertionError)
    what = "threads of the block" if whole == "block" else "lanes of the tile"
    assert f"not all {what} come to this collective" in text and "in kernel" in text and "in thread (" in text


@pytest.mark.parametrize("name", ["this_thread_block", "tiled_partition", "this_warp", "this_grid"])
def test_names_of_cooperative_groups(name):
    assert callable(getattr(cuda.cg, name)) and name in dir(cuda.cg)
    with pytest.raises(AttributeError, match=f"did you mean '{name}'"):
        getattr(cuda.cg, name + "s")


def test_cooperative_groups():
    @cuda.jit
    def kernel(out):
        block = cuda.cg.this_thread_block()
        tile = cuda.cg.tiled_partition(block, 16)
        block.sync()
        out[block.thread_rank()] = tile.sum(block.thread_rank()) + 10000 * block.size()

    out = np.zeros(48, np.int64)
    launch(kernel, 48, out)
    assert (out == np.repeat(np.arange(48).reshape(3, 16).sum(axis=1), 16) + 480000).all()


def test_the_number_of_threads():
    """By CUDA C++'s two names."""
    @cuda.jit
    def kernel(out):
        block = cuda.cg.this_thread_block()
        tile = cuda.cg.tiled_partition(block, 16)
        out[block.thread_rank()] = 100 * block.num_threads() + tile.num_threads()

    out = np.zeros(40, np.int64)
    launch(kernel, 40, out)
    assert (out == 4000 + np.where(np.arange(40) < 32, 16, 8)).all()


@pytest.mark.parametrize("dtype, block, items", [("int32", 256, 8), ("float64", 1024, 8), ("float32", 100, 4), ("int32", 64, 1)], ids=str)
def test_the_code_of_a_gpu(dtype, block, items, tmp_path):
    """It assembles, and items are in registers where warps are whole."""
    from test_ptx import assemble, ptx_of

    def kernel(x, out):
        group = cuda.coop.this_block(block)
        mine = cuda.local.array(items, dtype)
        group.load(x, mine)
        group.inclusive_sum(mine)
        group.sort_keys(mine)
        out[cuda.threadIdx.x] = group.sum(mine)
        group.store(x, mine)

    ptx = ptx_of(kernel, f"{dtype}[::1], {dtype}[::1]", "sm_90")
    if block == 256:
        assert ".local" not in ptx
    assert ("ld.global.v" in ptx and "st.global.v" in ptx) == (items > 1)
    assert "shfl.sync" in ptx and "bar.sync" in ptx
    assemble(ptx, "sm_90", tmp_path)
