"""Collectives in kernels: reductions, scans, sorts, loads and exchanges of the threads of a block,
a warp or a tile of a warp.

    from pyptx import cuda

    @cuda.jit
    def kernel(x, out):
        block = cuda.coop.this_block()
        i = cuda.grid(1)
        total = block.sum(x[i] if i < x.size else 0)
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = total

`this_block()`, `this_warp()` and `tiled_partition(size)` give a Block or a Tile, whose fields are
functions. All threads of the group must call them, with the same arguments where these are no
values of the threads. Those of a Block contain barriers (cuda.syncthreads), and those of a Tile
wait for its lanes alone, so tiles of one warp may do different things. The functions use shared
memory of their own, and one may be called again at once: no barrier is needed before or after it.

A value is a number of any type or a tuple of numbers, and for most functions also a local array of
one axis with ITEMS values of each thread, in blocked arrangement: thread r has the values r * ITEMS
to r * ITEMS + ITEMS - 1 of the group. Threads are numbered as thread_rank() says, x fastest.
Operators are associative functions of two values; they need not be commutative. Results have the
type of the value.

Sources: the reductions and scans are Hillis and Steele's (1986) over shuffles, two levels of them
for a block, of which the first warp does the second where there are many warps; sums, minima and
maxima of integers of up to 32 bits are redux.sync in GPUs that have it; the sort of a block is an
LSD radix sort, of few keys in 5-bit digits with ranks by ballots within a warp, of many in 4-bit
digits with counters of each thread (as CUB's BlockRadixRank); the sort of a tile is Batcher's
bitonic sort (1968).

`block` and `warp` have the make_* functions of the package cuda.coop that NVIDIA has removed
(pyptx.cuda._two_phase).
"""

from typing import Any, NamedTuple

import numpy as np

from pyptx import cuda
from pyptx.cuda._collectives import (
    _NEEDS_THREADS,
    _add,
    _addend,
    _block_exchange,
    _block_exclusive,
    _block_inclusive,
    _block_load,
    _block_reduce,
    _block_store,
    _check_place,
    _count,
    _lanes_of,
    _rank,
    _shfl_down,
    _shfl_up,
    _threads,
    _tile,
    _tile_exchange,
    _tile_exclusive,
    _tile_inclusive,
    _tile_load,
    _tile_reduce,
    _tile_store,
)
from pyptx.cuda._sorting import _block_sort, _tile_sort
from pyptx.cuda._two_phase import block, warp  # noqa: F401


class Block(NamedTuple):
    """The threads of a block: what this_block() gives. See pyptx.cuda.coop for values, items and
    operators.

    sum(x), reduce(x, op): one value of the block, in all of its threads.
    inclusive_sum(x), inclusive_scan(x, op): of the threads up to this one; an array is changed in
        place, and there is no result.
    exclusive_sum(x, total=None), exclusive_scan(x, op, initial, total=None): of `initial` (0 for
        sums) and the threads before this one. With total=True the result is a pair; its second item
        is the value of the whole block, with `initial`. Of an array it is that alone.
    load(source, items, start=0, default=0, arrangement="blocked"): items = the values of source
        from start on; behind its end, default. arrangement: "blocked", "striped" (thread r has r, r
        + threads, …) or "transposed" (blocked, but read striped, so that neighbouring threads read
        neighbouring elements; contains barriers and needs threads=).
    store(target, items, start=0, arrangement="blocked"): the reverse; what would lie behind the end
        of target is left out.
    exchange(items, order): items from one arrangement into another, in place: "striped_to_blocked"
        or "blocked_to_striped"; needs threads=.
    sort_keys(x, descending=None): sorted over the block, in blocked arrangement: an array in place,
        a number as the result. Keys are real numbers of up to 64 bits; nan comes last.
        descending=True: in the reverse order. Needs threads=.
    sync(), thread_rank(), size(), tiled_partition(size): cuda.syncthreads; the number of this
        thread, and of threads; a Tile. num_threads() is size(), by CUDA C++'s newer name.
    """

    sum: Any
    reduce: Any
    inclusive_sum: Any
    inclusive_scan: Any
    exclusive_sum: Any
    exclusive_scan: Any
    load: Any
    store: Any
    exchange: Any
    sort_keys: Any
    sync: Any
    thread_rank: Any
    size: Any
    num_threads: Any
    tiled_partition: Any


class Tile(NamedTuple):
    """Neighbouring lanes of a warp: what this_warp() and tiled_partition() give. A Block's
    functions, without threads=, and:

    meta_group_rank(): the number of this tile in its block. thread_rank(), size(): within the tile;
        the last tile of a block whose size is no multiple of the tile's has the size that is left.
    shfl(x, rank), shfl_up(x, delta), shfl_down(x, delta), shfl_xor(x, bits): the value of another
        lane of the tile.
    any(p), all(p): True or False. ballot(p): the lanes of the tile whose p is true, as a uint32,
        bit 0 for its first lane.

    Its sort_keys takes 1, 2, 4, 8, … items and a full tile.
    """

    sum: Any
    reduce: Any
    inclusive_sum: Any
    inclusive_scan: Any
    exclusive_sum: Any
    exclusive_scan: Any
    load: Any
    store: Any
    exchange: Any
    sort_keys: Any
    sync: Any
    thread_rank: Any
    size: Any
    num_threads: Any
    meta_group_rank: Any
    shfl: Any
    shfl_up: Any
    shfl_down: Any
    shfl_xor: Any
    any: Any
    all: Any
    ballot: Any


# --- groups. A known number of threads is kept as the lengths of two tuples, its warps and what is
# left, and a tile's width as the length of one: lengths are part of a type, and so of that of every
# function that has captured the tuple. ---


def _make_tile(width, size, dims):
    def sum(x):
        return _tile_reduce(x if isinstance(x, np.ndarray) else _addend(x), _add, len(width), size, dims)

    def reduce(x, op):
        return _tile_reduce(x, op, len(width), size, dims)

    def inclusive_sum(x):
        return _tile_inclusive(x if isinstance(x, np.ndarray) else _addend(x), _add, len(width), size, dims)

    def inclusive_scan(x, op):
        return _tile_inclusive(x, op, len(width), size, dims)

    def exclusive_sum(x, total=None):
        return _tile_exclusive(x if isinstance(x, np.ndarray) else _addend(x), _add, 0, total, len(width), size, dims)

    def exclusive_scan(x, op, initial, total=None):
        return _tile_exclusive(x, op, initial, total, len(width), size, dims)

    def load(source, items, start=None, default=None, arrangement="blocked"):
        _check_place(source, items, start)
        return _tile_load(source, items, 0 if start is None else start, 0 if default is None else default, arrangement, len(width),
                          size, dims)

    def store(target, items, start=None, arrangement="blocked"):
        _check_place(target, items, start)
        _tile_store(target, items, 0 if start is None else start, arrangement, len(width), size, dims)

    def exchange(items, order):
        cuda.static_assert(order in ("striped_to_blocked", "blocked_to_striped"), _ORDERS)
        lane, base, mask, count = _tile(len(width), size, dims)
        return _tile_exchange(items, lane, base, mask, _lanes_of(len(width), count), order == "striped_to_blocked")

    def sort_keys(x, descending=None):
        lane, base, mask, count = _tile(len(width), size, dims)
        cuda.assume(_lanes_of(len(width), count) == len(width), "sort_keys: the tile is not full: let the block's threads be a multiple of its lanes")
        return _tile_sort(x, descending, lane, len(width), mask)

    def sync():
        lane, base, mask, count = _tile(len(width), size, dims)
        cuda.syncwarp(mask)

    def thread_rank():
        return _rank(dims) % len(width)

    def group_size():
        lane, base, mask, count = _tile(len(width), size, dims)
        return _lanes_of(len(width), count)

    def meta_group_rank():
        return _rank(dims) // len(width)

    def shfl(x, rank):
        lane, base, mask, count = _tile(len(width), size, dims)
        return cuda.shfl_sync(mask, x, base + rank % len(width))

    def shfl_up(x, delta):
        return _shfl_up(x, delta, len(width), size, dims)

    def shfl_down(x, delta):
        return _shfl_down(x, delta, len(width), size, dims)

    def shfl_xor(x, bits):
        lane, base, mask, count = _tile(len(width), size, dims)
        return cuda.shfl_xor_sync(mask, x, bits % len(width))

    def any(p):
        lane, base, mask, count = _tile(len(width), size, dims)
        return cuda.any_sync(mask, p)

    def all(p):
        lane, base, mask, count = _tile(len(width), size, dims)
        return cuda.all_sync(mask, p)

    def ballot(p):
        lane, base, mask, count = _tile(len(width), size, dims)
        return np.uint32((np.uint32(cuda.ballot_sync(mask, p)) & mask) >> np.uint32(base))

    return Tile(sum, reduce, inclusive_sum, inclusive_scan, exclusive_sum, exclusive_scan, load, store, exchange, sort_keys, sync, thread_rank,
                group_size, group_size, meta_group_rank, shfl, shfl_up, shfl_down, shfl_xor, any, all, ballot)


def _partition(width, size, dims):
    cuda.static_assert(width in (1, 2, 4, 8, 16, 32), "tiled_partition(size): the size is 1, 2, 4, 8, 16 or 32, known when the kernel is compiled")
    return _make_tile((None,) * width, size, dims)


def _make_block(size, dims):
    def sum(x):
        return _block_reduce(x if isinstance(x, np.ndarray) else _addend(x), _add, size, dims)

    def reduce(x, op):
        return _block_reduce(x, op, size, dims)

    def inclusive_sum(x):
        return _block_inclusive(x if isinstance(x, np.ndarray) else _addend(x), _add, size, dims)

    def inclusive_scan(x, op):
        return _block_inclusive(x, op, size, dims)

    def exclusive_sum(x, total=None):
        return _block_exclusive(x if isinstance(x, np.ndarray) else _addend(x), _add, 0, total, size, dims)

    def exclusive_scan(x, op, initial, total=None):
        return _block_exclusive(x, op, initial, total, size, dims)

    def load(source, items, start=None, default=None, arrangement="blocked"):
        _check_place(source, items, start)
        return _block_load(source, items, 0 if start is None else start, 0 if default is None else default, arrangement,
                           size, dims)

    def store(target, items, start=None, arrangement="blocked"):
        _check_place(target, items, start)
        _block_store(target, items, 0 if start is None else start, arrangement, size, dims)

    def exchange(items, order):
        cuda.static_assert(order in ("striped_to_blocked", "blocked_to_striped"), _ORDERS)
        cuda.static_assert(size is not None, _NEEDS_THREADS)
        return _block_exchange(items, size, dims, order == "striped_to_blocked")

    def sort_keys(x, descending=None):
        cuda.static_assert(size is not None, _NEEDS_THREADS)
        return _block_sort(x, descending, size, dims)

    def sync():
        cuda.syncthreads()

    def thread_rank():
        return _rank(dims)

    def group_size():
        return _count(size)

    def tiled_partition(size_of_tile):
        return _partition(size_of_tile, size, dims)

    return Block(sum, reduce, inclusive_sum, inclusive_scan, exclusive_sum, exclusive_scan, load, store, exchange, sort_keys, sync, thread_rank,
                 group_size, group_size, tiled_partition)


_ORDERS = 'exchange: order is "striped_to_blocked" or "blocked_to_striped"'


def this_block(threads=None):
    """The Block of this thread.

    threads: how many threads the block has, known when the kernel is compiled: an int for a block
    of one axis, or a tuple of its 2 or 3 extents. It makes sums and scans faster, and sorts and
    exchanges need it. The block must then have just that size: the host device and
    @cuda.jit(debug=True) raise AssertionError where it has not.

    Example:

        @cuda.jit
        def sums(x, out):
            block = cuda.coop.this_block(256)
            total = block.sum(x[cuda.grid(1)])
            if block.thread_rank() == 0:
                out[cuda.blockIdx.x] = total

        out = cuda.device_array(1)
        sums[1, 256](cuda.to_device(np.ones(256)), out)
        print(out[0])                           # 256.0
    """
    if threads is None:
        return _make_block(None, True)
    if isinstance(threads, tuple):
        cuda.static_assert(len(threads) in (1, 2, 3), "this_block(threads): an int, or a tuple of 1 to 3 of them")
        count = threads[0] * (threads[1] if len(threads) > 1 else 1) * (threads[2] if len(threads) > 2 else 1)
        return _sized_block(count, True)
    return _sized_block(threads, None)


def _sized_block(threads, dims):
    cuda.static_assert(0 < threads <= 1024, "this_block(threads): threads is from 1 to 1024, known when the kernel is compiled")
    cuda.assume(_threads() == threads, "this_block(threads): the block has another number of threads")
    if dims is None:
        cuda.assume(cuda.blockDim.x == threads, "this_block(threads): give a tuple for a block of 2 or 3 axes")
    return _make_block(((None,) * (threads // 32), (None,) * (threads % 32)), dims)


def this_warp():
    """The Tile of this thread's warp: 32 lanes, or those that are left in a block's last one.

    Example:

        @cuda.jit
        def ranks(out):
            warp = cuda.coop.this_warp()
            out[cuda.grid(1)] = warp.exclusive_sum(1)

        out = cuda.device_array(64, np.int64)
        ranks[1, 64](out)
        print(out[31], out[32])                 # 31 0
    """
    return _partition(32, None, True)


def tiled_partition(group, size=None):
    """tiled_partition(size), tiled_partition(block, size): the Tile of `size` lanes that this
    thread is in.

    size: 1, 2, 4, 8, 16 or 32, known when the kernel is compiled. The last tile of a block has the
    lanes that are left. Of a block with a known number of threads that tiles divide, they are
    faster.

    Example:

        @cuda.jit
        def pairs(x):
            i = cuda.grid(1)
            x[i] = cuda.coop.tiled_partition(2).sum(x[i])

        x = cuda.to_device(np.arange(32))
        pairs[1, 32](x)
        print(x.copy_to_host()[:4])             # [1 1 5 5]
    """
    if size is None:
        return _partition(group, None, True)
    return group.tiled_partition(size)
