"""Collectives in kernels: reductions, scans, sorts, loads and exchanges of the threads of a block, a warp or a tile of a warp.

    from pyptx import cuda

    @cuda.jit
    def kernel(x, out):
        block = cuda.coop.this_block()
        i = cuda.grid(1)
        total = block.sum(x[i] if i < x.size else 0)
        if cuda.threadIdx.x == 0:
            out[cuda.blockIdx.x] = total

`this_block()`, `this_warp()` and `tiled_partition(size)` give a Block or a Tile, whose fields are functions. All threads of the group must
call them, with the same arguments where these are no values of the threads. Those of a Block contain barriers (cuda.syncthreads), and those
of a Tile wait for its lanes alone, so tiles of one warp may do different things. The functions use shared memory of their own, and one may
be called again at once: no barrier is needed before or after it.

A value is a number of any type or a tuple of numbers, and for most functions also a local array of one axis with ITEMS values of each thread,
in blocked arrangement: thread r has the values r * ITEMS to r * ITEMS + ITEMS - 1 of the group. Threads are numbered as thread_rank() says,
x fastest. Operators are associative functions of two values; they need not be commutative. Results have the type of the value.

Sources: the reductions and scans are Hillis and Steele's (1986) over shuffles, two levels of them for a block; the sort of a block is an
LSD radix sort in 5-bit digits, with ranks by ballots within a warp; the sort of a tile is Batcher's bitonic sort (1968).
"""

from typing import Any, NamedTuple

import numpy as np

from pyptx import cuda

_ALL = np.uint32(0xFFFFFFFF)
_MOST_BYTES = 32768  # of shared memory that a sort or an exchange takes; more keys go through it in turns


def _add(a, b):
    return a + b


class Block(NamedTuple):
    """The threads of a block: what this_block() gives. See pyptx.cuda.coop for values, items and operators.

    sum(x), reduce(x, op): one value of the block, in all of its threads.
    inclusive_sum(x), inclusive_scan(x, op): of the threads up to this one; an array is changed in place and returned.
    exclusive_sum(x, total=None), exclusive_scan(x, op, initial, total=None): of `initial` (0 for sums) and the threads before this one. With
        total=True the result is a pair; its second item is the sum of the whole block, with `initial`.
    load(source, items, start=0, default=0, arrangement="blocked"): items = the values of source from start on; behind its end, default.
        arrangement: "blocked", "striped" (thread r has r, r + threads, …) or "transposed" (blocked, but read striped, so that neighbouring
        threads read neighbouring elements; contains barriers and needs threads=).
    store(target, items, start=0, arrangement="blocked"): the reverse; what would lie behind the end of target is left out.
    exchange(items, order): items from one arrangement into another, in place: "striped_to_blocked" or "blocked_to_striped"; needs threads=.
    sort_keys(x, descending=None): sorted over the block, in blocked arrangement: an array in place, a number as the result. Keys are real
        numbers of up to 64 bits; nan comes last. descending=True: in the reverse order. Needs threads=.
    sync(), thread_rank(), size(), tiled_partition(size): cuda.syncthreads; the number of this thread, and of threads; a Tile.
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
    tiled_partition: Any


class Tile(NamedTuple):
    """Neighbouring lanes of a warp: what this_warp() and tiled_partition() give. A Block's functions, without threads=, and:

    meta_group_rank(): the number of this tile in its block. thread_rank(), size(): within the tile; the last tile of a block whose size is
        no multiple of the tile's has the size that is left.
    shfl(x, rank), shfl_up(x, delta), shfl_down(x, delta), shfl_xor(x, bits): the value of another lane of the tile.
    any(p), all(p): True or False. ballot(p): the lanes of the tile whose p is true, as a uint32, bit 0 for its first lane.

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
    meta_group_rank: Any
    shfl: Any
    shfl_up: Any
    shfl_down: Any
    shfl_xor: Any
    any: Any
    all: Any
    ballot: Any


# --- values of a thread ---


def _apply(op, a, b):
    """op(a, b) as a value of a's type, whatever the types are that op computes in."""
    if isinstance(a, tuple):
        return op(a, b)
    return type(a)(op(a, b))


def _reduce_items(x, op):
    if isinstance(x, np.ndarray):
        value = x[0]
        for k in range(1, len(x)):
            value = _apply(op, value, x[k])
        return value
    return x


def _scan_items(x, op, before, given):
    """The inclusive scan of items behind the value `before`, where there is one (given)."""
    running = _apply(op, before, x[0]) if given else x[0]
    x[0] = running
    for k in range(1, len(x)):
        running = _apply(op, running, x[k])
        x[k] = running
    return x


def _scan_items_exclusive(x, op, before):
    for k in range(len(x)):
        item = x[k]
        x[k] = before
        before = _apply(op, before, item)
    return x


def _zero(x):
    if isinstance(x, np.ndarray):
        return x.dtype.type(0)
    return type(x)(0)


# --- shared memory: an array for each number of a value. The length of `place` tells the arrays of one function apart: each is that of one
# typed function. ---


def _scratch(x, n, place):
    if isinstance(x, tuple):
        if len(x) == 0:
            return ()
        return (_scratch(x[0], n, place), *_scratch(x[1:], n, (*place, None)))
    return cuda.shared.array(n, type(x))


def _write(memory, i, x):
    if isinstance(x, tuple):
        if len(x) > 0:
            _write(memory[0], i, x[0])
            _write(memory[1:], i, x[1:])
    else:
        memory[i] = x


def _read(memory, i, like):
    if isinstance(like, tuple):
        if len(like) == 0:
            return ()
        return (_read(memory[0], i, like[0]), *_read(memory[1:], i, like[1:]))
    return type(like)(memory[i])


# --- lanes of one warp: `mask` names `width` of them, of which this is number `lane`; there are `count`, or all of them where that is None ---


def _reduce_lanes(value, op, mask, lane, width, count):
    """The values of all lanes, in their order; in lane 0."""
    distance = 1
    while distance < width:
        other = cuda.shfl_down_sync(mask, value, distance)
        if count is None:
            value = _apply(op, value, other)
        elif lane + distance < count:
            value = _apply(op, value, other)
        distance *= 2
    return value


def _reduce_all_lanes(value, op, mask, lane, width):
    """The same in every lane; the width is a power of 2."""
    distance = 1
    while distance < width:
        other = cuda.shfl_xor_sync(mask, value, distance)
        value = _apply(op, other, value) if lane & distance else _apply(op, value, other)
        distance *= 2
    return value


def _scan_lanes(value, op, mask, lane, width):
    distance = 1
    while distance < width:
        other = cuda.shfl_up_sync(mask, value, distance)
        if lane >= distance:
            value = _apply(op, other, value)
        distance *= 2
    return value


# --- blocks: `size` is (None,) * (threads // 32), (None,) * (threads % 32) where the number of threads is known, else None; `dims` is None where
# the block is known to have one axis ---


def _rank(dims):
    if dims is None:
        return cuda.threadIdx.x
    return cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)


def _threads():
    return cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z


def _count(size):
    return _threads() if size is None else 32 * len(size[0]) + len(size[1])


def _warp_mask(count):
    """The lanes of a warp that has the first `count` of them."""
    return _ALL >> np.uint32(32 - count)


def _whole_reduce(x, op, size, dims):
    """A block of whole warps."""
    n = 32 * len(size[0]) + len(size[1])
    value = _reduce_items(x, op)
    rank = _rank(dims)
    warps = n // 32
    value = _reduce_lanes(value, op, _ALL, rank % 32, 32, None)
    partials = _scratch(value, warps, ())
    cuda.syncthreads()
    if rank % 32 == 0:
        _write(partials, rank // 32, value)
    cuda.syncthreads()
    if warps & warps - 1:
        value = _read(partials, min(rank % 32, warps - 1), value)
        return cuda.shfl_sync(_ALL, _reduce_lanes(value, op, _ALL, rank % 32, 32, warps), 0)
    return _reduce_all_lanes(_read(partials, rank % warps, value), op, _ALL, rank % warps, warps)


def _any_reduce(x, op, dims):
    """A block of any size. What the first warp finds lies behind the others' partial results, so a later call writes nothing that is
    still read."""
    value = _reduce_items(x, op)
    rank, threads = _rank(dims), _threads()
    warps, warp, lane = (threads + 31) // 32, rank // 32, rank % 32
    count = min(32, threads - warp * 32)
    mask = _warp_mask(count)
    value = _reduce_lanes(value, op, mask, lane, 32, count)
    partials = _scratch(value, 33, ())
    if lane == 0:
        _write(partials, warp, value)
    cuda.syncthreads()
    if warp == 0:
        value = _reduce_lanes(_read(partials, min(lane, warps - 1), value), op, mask, lane, 32, warps)
        if lane == 0:
            _write(partials, 32, value)
    cuda.syncthreads()
    return _read(partials, 32, value)


def _block_reduce(x, op, size, dims):
    if size is None or len(size[1]) > 0:
        return _any_reduce(x, op, dims)
    return _whole_reduce(x, op, size, dims)


def _whole_prefix(value, op, size, dims):
    n = 32 * len(size[0]) + len(size[1])
    rank = _rank(dims)
    lane, warp, warps = rank % 32, rank // 32, n // 32
    inside = _scan_lanes(value, op, _ALL, lane, 32)
    partials = _scratch(value, warps, ())
    cuda.syncthreads()
    if lane == 31:
        _write(partials, warp, inside)
    cuda.syncthreads()
    upto = _scan_lanes(_read(partials, min(lane, warps - 1), value), op, _ALL, lane, 32)
    return inside, cuda.shfl_sync(_ALL, upto, max(warp - 1, 0)), cuda.shfl_sync(_ALL, upto, warps - 1)


def _any_prefix(value, op, dims):
    rank, threads = _rank(dims), _threads()
    warps, warp, lane = (threads + 31) // 32, rank // 32, rank % 32
    count = min(32, threads - warp * 32)
    mask = _warp_mask(count)
    inside = _scan_lanes(value, op, mask, lane, 32)
    partials = _scratch(value, 64, ())
    if lane == count - 1:
        _write(partials, warp, inside)
    cuda.syncthreads()
    if warp == 0:
        upto = _scan_lanes(_read(partials, min(lane, warps - 1), value), op, mask, lane, 32)
        _write(partials, 32 + lane, upto)
    cuda.syncthreads()
    return inside, _read(partials, 32 + max(warp - 1, 0), value), _read(partials, 31 + warps, value)


def _prefix(value, op, size, dims):
    """(the values of this warp up to this thread, those of all warps before it, those of the block); the second is nothing in the first warp."""
    if size is None or len(size[1]) > 0:
        return _any_prefix(value, op, dims)
    return _whole_prefix(value, op, size, dims)


def _lane_mask(size, dims):
    if size is not None and len(size[1]) == 0:
        return _ALL
    return _warp_mask(min(32, _threads() - _rank(dims) // 32 * 32))


def _before(inside, warps, op, mask, rank):
    """The values of all threads before this one; nothing in thread 0."""
    lanes = cuda.shfl_up_sync(mask, inside, 1)
    if rank < 32:
        return lanes
    return warps if rank % 32 == 0 else _apply(op, warps, lanes)


def _block_inclusive(x, op, size, dims):
    inside, warps, _ = _prefix(_reduce_items(x, op), op, size, dims)
    rank = _rank(dims)
    if isinstance(x, np.ndarray):
        return _scan_items(x, op, _before(inside, warps, op, _lane_mask(size, dims), rank), rank > 0)
    return inside if rank < 32 else _apply(op, warps, inside)


def _block_exclusive(x, op, initial, total, size, dims):
    inside, warps, whole = _prefix(_reduce_items(x, op), op, size, dims)
    rank = _rank(dims)
    first = _like(initial, whole)
    before = _before(inside, warps, op, _lane_mask(size, dims), rank)
    before = _apply(op, first, before) if rank > 0 else first
    if isinstance(x, np.ndarray):
        _scan_items_exclusive(x, op, before)
    return _with_total(x, before, op, first, whole, total)


def _like(initial, value):
    if isinstance(value, tuple):
        return initial
    return type(value)(initial)


def _with_total(x, before, op, first, whole, total):
    if isinstance(x, np.ndarray):
        result = x
    else:
        result = before
    if total is None:
        return result
    cuda.static_assert(total, "total: True, or leave it out")
    return result, _apply(op, first, whole)


# --- loads, stores, exchanges: of `threads` threads, of which this is number `rank` ---


def _load(source, items, start, default, rank, step, stride):
    """items[k] = source[start + rank * step + k * stride]"""
    first = start + rank * step
    if first + (len(items) - 1) * stride < source.size:
        for k in range(len(items)):
            items[k] = source[first + k * stride]
    else:
        for k in range(len(items)):
            at = first + k * stride
            items[k] = source[at] if at < source.size else default
    return items


def _store(target, items, start, rank, step, stride):
    first = start + rank * step
    if first + (len(items) - 1) * stride < target.size:
        for k in range(len(items)):
            target[first + k * stride] = items[k]
    else:
        for k in range(len(items)):
            at = first + k * stride
            if at < target.size:
                target[at] = items[k]


def _padded(i):
    """No two of 32 threads that lie a power of 2 apart in one bank."""
    return i + i // 32


def _memory(words):
    """One array for all sorts and exchanges of that size; before each first write to it they have a barrier."""
    return cuda.shared.array(words, np.uint64)


def _block_exchange(items, size, dims, to_blocked):
    """Through shared memory, in turns of what has room there."""
    n = 32 * len(size[0]) + len(size[1])
    rank, each, total = _rank(dims), len(items), n * len(items)
    room = min(total, _MOST_BYTES // items.itemsize)
    memory = _memory((room + room // 32) * items.itemsize // 8 + 1).view(items.dtype)
    out = cuda.local.array(len(items), items.dtype)
    for low in range(0, total, room):
        cuda.syncthreads()
        for k in range(each):
            at = (k * n + rank if to_blocked else rank * each + k) - low
            if 0 <= at < room:
                memory[_padded(at)] = items[k]
        cuda.syncthreads()
        for k in range(each):
            at = (rank * each + k if to_blocked else k * n + rank) - low
            if 0 <= at < room:
                out[k] = memory[_padded(at)]
    for k in range(each):
        items[k] = out[k]
    return items


def _tile_exchange(items, lane, base, mask, count, to_blocked):
    """By shuffles: each lane asks in turn for all items of the lane that has its own."""
    each = len(items)
    out = cuda.local.array(len(items), items.dtype)
    for k in range(each):
        at = lane * each + k if to_blocked else k * count + lane
        source, which = (at % count, at // count) if to_blocked else (at // each, at % each)
        for j in range(each):
            value = cuda.shfl_sync(mask, items[j], base + source)
            if j == which:
                out[k] = value
    for k in range(each):
        items[k] = out[k]
    return items


# --- sorting ---


def _unsigned(x):
    """The unsigned type in which a number's key is computed."""
    if x.dtype.itemsize == 8:
        return np.uint64(0)
    return np.uint32(0)


def _bits_of(x):
    if x.dtype.itemsize == 8:
        return x.view(np.uint64)
    if x.dtype.itemsize == 4:
        return x.view(np.uint32)
    if x.dtype.itemsize == 2:
        return np.uint32(x.view(np.uint16))
    if x.dtype.kind == "b":
        return np.uint32(x)
    return np.uint32(x.view(np.uint8))


def _key(x, flip):
    """An unsigned number of as many bits; numbers are in the order of their keys, nan after all. flip: all ones for the reverse order."""
    bits = _bits_of(x)
    unsigned = type(bits)
    ones = unsigned(_ones(x))
    sign = ones ^ (ones >> unsigned(1))
    if x.dtype.kind == "i":
        bits = bits ^ sign
    if x.dtype.kind == "f":
        bits = bits ^ (ones if bits & sign else sign) if x == x else ones
    return bits ^ (ones if flip else unsigned(0))


def _ones(x):
    if x.dtype.itemsize == 8:
        return np.uint64(0xFFFFFFFFFFFFFFFF)
    if x.dtype.itemsize == 4:
        return np.uint32(0xFFFFFFFF)
    if x.dtype.itemsize == 2:
        return np.uint32(0xFFFF)
    if x.dtype.kind == "b":
        return np.uint32(1)
    return np.uint32(0xFF)


def _from_bits(bits, like):
    if like.dtype.itemsize == 8:
        return bits.view(like.dtype)
    if like.dtype.itemsize == 4:
        return bits.view(like.dtype)
    if like.dtype.itemsize == 2:
        return np.uint16(bits).view(like.dtype)
    if like.dtype.kind == "b":
        return bits != np.uint32(0)
    return np.uint8(bits).view(like.dtype)


def _from_key(bits, like, flip):
    unsigned = type(bits)
    ones = unsigned(_ones(like))
    sign = ones ^ (ones >> unsigned(1))
    bits = bits ^ (ones if flip else unsigned(0))
    if like.dtype.kind == "i":
        bits = bits ^ sign
    if like.dtype.kind == "f":
        bits = bits ^ (sign if bits & sign else ones)
    return _from_bits(bits, like)


def _digit(key, shift, digits):
    return np.int32((key >> type(key)(shift)) & type(key)(digits - 1))


def _ranks(keys, places, shift, lanes, digit_bits, mask, lane):
    """places[k] = how many keys of this warp with the same digit are before keys[k]; returned: how many have the lane's number as their
    digit."""
    count = np.int32(0)
    for k in range(len(keys)):
        digit = _digit(keys[k], shift, lanes)
        same = mask
        own = mask
        for b in range(digit_bits):
            ones = np.uint32(cuda.ballot_sync(mask, digit >> b & 1))
            same &= ones if digit >> b & 1 else ~ones
            own &= ones if lane >> b & 1 else ~ones
        places[k] = cuda.shfl_sync(mask, count, digit) + np.int32(cuda.popc(same & ((np.uint32(1) << np.uint32(lane)) - np.uint32(1))))
        count = np.int32(count + np.int32(cuda.popc(own)))
    return count


def _starts(counts, count_lanes, warps, warp, mask, lane):
    """Where this warp's keys begin whose digit is the lane's number."""
    start = np.int32(0)
    total = np.int32(0)
    for w in range(warps):
        count = counts[lane, w]
        start = np.int32(start + count) if w < warp else start
        total = np.int32(total + count)
    return np.int32(start + _scan_lanes(total, _add, mask, lane, count_lanes) - total)


def _sort_block(keys, size, dims, width):
    """LSD radix sort. Full warps sort (of a block of less than 32 threads the first 2, 4, 8 or 16), each lane `held` keys: number
    (warp * held + k) * lanes + lane. A lane counts the keys whose digit is its number, so there are as many digits as lanes."""
    n = 32 * len(size[0]) + len(size[1])
    lanes = 32 if n >= 32 else 16 if n >= 16 else 8 if n >= 8 else 4 if n >= 4 else 2
    digit_bits = 5 if n >= 32 else 4 if n >= 16 else 3 if n >= 8 else 2 if n >= 4 else 1
    warps = max(n // 32, 1)
    each, total = len(keys), n * len(keys)
    held = (total + lanes * warps - 1) // (lanes * warps)
    all_places = held * lanes * warps
    room = min(all_places, _MOST_BYTES // keys.itemsize)
    counts = cuda.shared.array((lanes, warps | 1), np.int32)  # an odd length: its columns lie in all banks
    memory = _memory((room + room // 32) * keys.itemsize // 8 + 1).view(keys.dtype)
    mine = cuda.local.array(held, keys.dtype)
    moved = cuda.local.array(held, keys.dtype)
    places = cuda.local.array(held, np.int32)
    rank = _rank(dims)
    warp, lane = rank // lanes, rank % lanes
    works = warp < warps
    mask = np.uint32((1 << lanes) - 1)

    if held == each and n == lanes * warps:
        for k in range(held):
            mine[k] = keys[k]
    else:
        for low in range(0, all_places, room):
            cuda.syncthreads()
            for k in range(each):
                at = rank * each + k - low
                if 0 <= at < room:
                    memory[at] = keys[k]
            cuda.syncthreads()
            if works:
                for k in range(held):
                    at = (warp * held + k) * lanes + lane - low
                    if 0 <= at < room:
                        mine[k] = memory[at] if at + low < total else ~type(mine[k])(0)

    for shift in range(0, width, digit_bits):
        if works:
            counts[lane, warp] = _ranks(mine, places, shift, lanes, digit_bits, mask, lane)
        cuda.syncthreads()
        if works:
            start = _starts(counts, lanes, warps, warp, mask, lane)
            for k in range(held):
                places[k] += cuda.shfl_sync(mask, start, _digit(mine[k], shift, lanes))
        last = shift + digit_bits >= width
        for low in range(0, all_places, room):
            if low > 0:
                cuda.syncthreads()
            if works:
                for k in range(held):
                    at = places[k] - low
                    if 0 <= at < room:
                        memory[at] = mine[k]
            cuda.syncthreads()
            if last:
                for k in range(each):
                    at = rank * each + k - low
                    if 0 <= at < room:
                        keys[k] = memory[at]
            elif works:
                for k in range(held):
                    at = (warp * held + k) * lanes + lane - low
                    if 0 <= at < room:
                        moved[k] = memory[at]
        for k in range(held):
            mine[k] = moved[k]


def _sort_thread(keys):
    """Insertion sort."""
    for k in range(1, len(keys)):
        key = keys[k]
        at = k
        while at > 0 and keys[at - 1] > key:
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key


def _sort_tile(keys, lane, width, mask):
    """Bitonic sort of width * ITEMS keys, number lane * ITEMS + k."""
    each = len(keys)
    cuda.static_assert(each & each - 1 == 0, "sort_keys of a tile: the number of items must be a power of 2")
    size = 2
    while size <= width * each:
        distance = size // 2
        while distance > 0:
            for k in range(each):
                at = lane * each + k
                if distance >= each:
                    other = cuda.shfl_xor_sync(mask, keys[k], distance // each)
                    low = (at & distance == 0) == (at & size == 0)
                    keys[k] = min(keys[k], other) if low else max(keys[k], other)
                elif k & distance == 0:
                    a, b = keys[k], keys[k + distance]
                    up = at & size == 0
                    keys[k] = min(a, b) if up else max(a, b)
                    keys[k + distance] = max(a, b) if up else min(a, b)
            distance //= 2
        size *= 2


def _give_keys(x, keys, flip):
    for k in range(len(x)):
        keys[k] = _key(x[k], flip)


def _take_keys(x, keys, flip):
    for k in range(len(x)):
        x[k] = _from_key(keys[k], x[k], flip)
    return x


def _block_sort(x, descending, size, dims):
    if isinstance(x, np.ndarray):
        cuda.static_assert(x.dtype.kind in ("b", "i", "u", "f"), "sort_keys: keys are real numbers of up to 64 bits")
        flip = descending is not None
        if flip:
            cuda.static_assert(descending, "descending: True, or leave it out")
        keys = cuda.local.array(len(x), type(_unsigned(x[0])))
        _give_keys(x, keys, flip)
        if 32 * len(size[0]) + len(size[1]) == 1:
            _sort_thread(keys)
        else:
            _sort_block(keys, size, dims, x.itemsize * 8)
        return _take_keys(x, keys, flip)
    items = cuda.local.array(1, type(x))
    items[0] = x
    _block_sort(items, descending, size, dims)
    return items[0]


def _tile_sort(x, descending, lane, width, mask):
    if isinstance(x, np.ndarray):
        cuda.static_assert(x.dtype.kind in ("b", "i", "u", "f"), "sort_keys: keys are real numbers of up to 64 bits")
        flip = descending is not None
        if flip:
            cuda.static_assert(descending, "descending: True, or leave it out")
        keys = cuda.local.array(len(x), type(_unsigned(x[0])))
        _give_keys(x, keys, flip)
        _sort_tile(keys, lane, width, mask)
        return _take_keys(x, keys, flip)
    items = cuda.local.array(1, type(x))
    items[0] = x
    _tile_sort(items, descending, lane, width, mask)
    return items[0]


# --- tiles ---


def _tile(width, size, dims):
    """(number of this lane in its tile, first lane of the tile, its lanes as a mask, how many there are; None: all)"""
    cuda.static_assert(width > 0, "tiled_partition(size): the size must be known when the kernel is compiled")
    rank = _rank(dims)
    base = rank % 32 // width * width
    lane = rank % width
    if size is not None and len(size[1]) % width == 0:
        return lane, base, np.uint32(_warp_mask(width) << np.uint32(base)), None
    count = min(width, _threads() - rank + lane)
    return lane, base, np.uint32(_warp_mask(count) << np.uint32(base)), count


def _lanes_of(width, count):
    return width if count is None else count


def _tile_reduce(x, op, width, size, dims):
    lane, base, mask, count = _tile(width, size, dims)
    value = _reduce_items(x, op)
    if count is None:
        return _reduce_all_lanes(value, op, mask, lane, width)
    return cuda.shfl_sync(mask, _reduce_lanes(value, op, mask, lane, width, count), base)


def _tile_inclusive(x, op, width, size, dims):
    lane, base, mask, count = _tile(width, size, dims)
    inside = _scan_lanes(_reduce_items(x, op), op, mask, lane, width)
    if isinstance(x, np.ndarray):
        return _scan_items(x, op, cuda.shfl_up_sync(mask, inside, 1), lane > 0)
    return inside


def _tile_exclusive(x, op, initial, total, width, size, dims):
    lane, base, mask, count = _tile(width, size, dims)
    inside = _scan_lanes(_reduce_items(x, op), op, mask, lane, width)
    whole = cuda.shfl_sync(mask, inside, base + _lanes_of(width, count) - 1)
    before = cuda.shfl_up_sync(mask, inside, 1)
    first = _like(initial, whole)
    before = _apply(op, first, before) if lane > 0 else first
    if isinstance(x, np.ndarray):
        _scan_items_exclusive(x, op, before)
    return _with_total(x, before, op, first, whole, total)


def _tile_load(source, items, start, default, arrangement, width, size, dims):
    cuda.static_assert(arrangement in ("blocked", "striped", "transposed"), 'load: arrangement is "blocked", "striped" or "transposed"')
    lane, base, mask, count = _tile(width, size, dims)
    lanes = _lanes_of(width, count)
    if arrangement == "blocked":
        return _load(source, items, start, default, lane, len(items), 1)
    _load(source, items, start, default, lane, 1, lanes)
    if arrangement == "transposed":
        _tile_exchange(items, lane, base, mask, lanes, True)
    return items


def _tile_store(target, items, start, arrangement, width, size, dims):
    cuda.static_assert(arrangement in ("blocked", "striped", "transposed"), 'store: arrangement is "blocked", "striped" or "transposed"')
    lane, base, mask, count = _tile(width, size, dims)
    lanes = _lanes_of(width, count)
    if arrangement == "blocked":
        _store(target, items, start, lane, len(items), 1)
    else:
        if arrangement == "transposed":
            _tile_exchange(items, lane, base, mask, lanes, False)
        _store(target, items, start, lane, 1, lanes)
        if arrangement == "transposed":
            _tile_exchange(items, lane, base, mask, lanes, True)


def _block_load(source, items, start, default, arrangement, size, dims):
    cuda.static_assert(arrangement in ("blocked", "striped", "transposed"), 'load: arrangement is "blocked", "striped" or "transposed"')
    if arrangement == "blocked":
        return _load(source, items, start, default, _rank(dims), len(items), 1)
    _load(source, items, start, default, _rank(dims), 1, _count(size))
    if arrangement == "transposed":
        cuda.static_assert(size is not None, _NEEDS_THREADS)
        _block_exchange(items, size, dims, True)
    return items


def _block_store(target, items, start, arrangement, size, dims):
    cuda.static_assert(arrangement in ("blocked", "striped", "transposed"), 'store: arrangement is "blocked", "striped" or "transposed"')
    if arrangement == "blocked":
        _store(target, items, start, _rank(dims), len(items), 1)
    elif arrangement == "striped":
        _store(target, items, start, _rank(dims), 1, _count(size))
    else:
        cuda.static_assert(size is not None, _NEEDS_THREADS)
        moved = cuda.local.array(len(items), items.dtype)
        for k in range(len(items)):
            moved[k] = items[k]
        _block_exchange(moved, size, dims, False)
        _store(target, moved, start, _rank(dims), 1, _count(size))


def _shfl_up(x, delta, width, size, dims):
    lane, base, mask, count = _tile(width, size, dims)
    other = cuda.shfl_up_sync(mask, x, delta)
    return other if lane >= delta else x


def _shfl_down(x, delta, width, size, dims):
    lane, base, mask, count = _tile(width, size, dims)
    other = cuda.shfl_down_sync(mask, x, delta)
    return other if lane + delta < _lanes_of(width, count) else x


# --- groups. A known number of threads is kept as the lengths of two tuples, its warps and what is left, and a tile's width as the length of
# one: lengths are part of a type, and so of that of every function that has captured the tuple. ---


def _make_tile(width, size, dims):
    def sum(x):
        return _tile_reduce(x, _add, len(width), size, dims)

    def reduce(x, op):
        return _tile_reduce(x, op, len(width), size, dims)

    def inclusive_sum(x):
        return _tile_inclusive(x, _add, len(width), size, dims)

    def inclusive_scan(x, op):
        return _tile_inclusive(x, op, len(width), size, dims)

    def exclusive_sum(x, total=None):
        return _tile_exclusive(x, _add, _zero(x), total, len(width), size, dims)

    def exclusive_scan(x, op, initial, total=None):
        return _tile_exclusive(x, op, initial, total, len(width), size, dims)

    def load(source, items, start=None, default=None, arrangement="blocked"):
        return _tile_load(source, items, 0 if start is None else start, 0 if default is None else default, arrangement, len(width),
                          size, dims)

    def store(target, items, start=None, arrangement="blocked"):
        _tile_store(target, items, 0 if start is None else start, arrangement, len(width), size, dims)

    def exchange(items, order):
        cuda.static_assert(order in ("striped_to_blocked", "blocked_to_striped"), _ORDERS)
        lane, base, mask, count = _tile(len(width), size, dims)
        return _tile_exchange(items, lane, base, mask, _lanes_of(len(width), count), order == "striped_to_blocked")

    def sort_keys(x, descending=None):
        lane, base, mask, count = _tile(len(width), size, dims)
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
                group_size, meta_group_rank, shfl, shfl_up, shfl_down, shfl_xor, any, all, ballot)


def _partition(width, size, dims):
    cuda.static_assert(width in (1, 2, 4, 8, 16, 32), "tiled_partition(size): the size is 1, 2, 4, 8, 16 or 32, known when the kernel is compiled")
    return _make_tile((None,) * width, size, dims)


def _make_block(size, dims):
    def sum(x):
        return _block_reduce(x, _add, size, dims)

    def reduce(x, op):
        return _block_reduce(x, op, size, dims)

    def inclusive_sum(x):
        return _block_inclusive(x, _add, size, dims)

    def inclusive_scan(x, op):
        return _block_inclusive(x, op, size, dims)

    def exclusive_sum(x, total=None):
        return _block_exclusive(x, _add, _zero(x), total, size, dims)

    def exclusive_scan(x, op, initial, total=None):
        return _block_exclusive(x, op, initial, total, size, dims)

    def load(source, items, start=None, default=None, arrangement="blocked"):
        return _block_load(source, items, 0 if start is None else start, 0 if default is None else default, arrangement,
                           size, dims)

    def store(target, items, start=None, arrangement="blocked"):
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
                 group_size, tiled_partition)


_ORDERS = 'exchange: order is "striped_to_blocked" or "blocked_to_striped"'
_NEEDS_THREADS = "this needs the number of threads when the kernel is compiled: cuda.coop.this_block(256)"


def this_block(threads=None):
    """The Block of this thread.

    threads: how many threads the block has, known when the kernel is compiled: an int for a block of one axis, or a tuple of its 2 or 3
    extents. It makes sums and scans faster, and sorts and exchanges need it. The block must then have just that size: the host device and
    @cuda.jit(debug=True) raise ValueError where it has not.
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
    assert _threads() == threads, "this_block(threads): the block has another number of threads"
    if dims is None:
        assert cuda.blockDim.x == threads, "this_block(threads): give a tuple for a block of 2 or 3 axes"
    return _make_block(((None,) * (threads // 32), (None,) * (threads % 32)), dims)


def this_warp():
    """The Tile of this thread's warp: 32 lanes, or those that are left in a block's last one."""
    return _partition(32, None, True)


def tiled_partition(group, size=None):
    """tiled_partition(size), tiled_partition(block, size): the Tile of `size` lanes that this thread is in.

    size: 1, 2, 4, 8, 16 or 32, known when the kernel is compiled. The last tile of a block has the lanes that are left. Of a block with a
    known number of threads that tiles divide, they are faster.
    """
    if size is None:
        return _partition(group, None, True)
    return group.tiled_partition(size)
