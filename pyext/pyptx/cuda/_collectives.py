"""What pyptx.cuda.coop's groups do, as functions for kernels: see there for values, items,
operators and sources."""

import numpy as np

from pyptx import cuda

_ALL = np.uint32(0xFFFFFFFF)
_MOST_BYTES = 32768  # of shared memory that a sort or an exchange takes; more keys go through it in turns
_ITEMS = "items are a local array of one axis, whose size is known when the kernel is compiled"
_NEEDS_THREADS = "this needs the number of threads when the kernel is compiled: cuda.coop.this_block(256)"


def _add(a, b):
    return a + b


def _check_items(x):
    cuda.static_assert(x.ndim == 1 and len(x) > 0, _ITEMS)


def _addend(x):
    """What a sum adds up: of bools how many are True."""
    cuda.static_assert(not isinstance(x, tuple), "a sum is one of numbers: tuples have reduce(x, op), inclusive_scan(x, op) and exclusive_scan(x, op, initial)")
    return int(x) if isinstance(x, (bool, np.bool_)) else x


# --- on the host device alone: do all threads come? (A text that is empty is nothing on a GPU.) ---


def _check_block():
    cuda.assume(cuda.syncthreads_count(True) == _threads(), "cuda.coop: not all threads of the block come to this collective: let those without work "
                "call it too, with a value that changes nothing")


def _all_come():
    cuda.inline_ptx("", host=_check_block)


def _check_lanes(mask):
    cuda.assume(cuda.ballot_sync(mask, True) == mask, "cuda.coop: not all lanes of the tile come to this collective: let those without work call it "
                "too, with a value that changes nothing")


def _lanes_come(mask):
    cuda.inline_ptx("", "r", mask, host=_check_lanes)


# --- values of a thread ---


def _apply(op, a, b):
    """op(a, b) as a value of a's type, whatever the types are that op computes in."""
    if isinstance(a, tuple):
        return op(a, b)
    return type(a)(op(a, b))


def _tree_of_items(x, op, k, left):
    """Those from number k on, len(left) of them: by recursion, which writes them out."""
    half = len(left) // 2
    if half == 0:
        return x[k]
    return _apply(op, _tree_of_items(x, op, k, left[:half]), _tree_of_items(x, op, k + half, left[half:]))


def _reduce_items(x, op):
    if isinstance(x, np.ndarray):
        _check_items(x)
        if len(x) <= 16:  # few steps, of which each waits for the one before
            return _tree_of_items(x, op, 0, (None,) * len(x))
        value = x[0]
        for k in range(1, len(x)):
            value = _apply(op, value, x[k])
        return value
    return x


def _scan_items(x, op, before, given):
    """The inclusive scan of items behind the value `before`, where there is one (given)."""
    _check_items(x)
    running = _apply(op, before, x[0]) if given else x[0]
    x[0] = running
    for k in range(1, len(x)):
        running = _apply(op, running, x[k])
        x[k] = running


def _scan_items_exclusive(x, op, before):
    _check_items(x)
    for k in range(len(x)):
        item = x[k]
        x[k] = before
        before = _apply(op, before, item)


# --- shared memory: an array for each number of a value. The length of `place` tells the arrays of
# one function apart: each is that of one typed function. ---


def _scratch(x, n, place):
    if isinstance(x, tuple):
        if len(x) == 0:
            return ()
        return (_scratch(x[0], n, place), *_scratch(x[1:], n, (*place, None)))
    return cuda.shared.array(n, type(x), alignment=16)  # neighbours are read together


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


# --- lanes of one warp: `mask` names `width` of them, of which this is number `lane`; there are
# `count`, or all of them where that is None ---


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
    """lane: None for a whole warp, where the shuffle says by itself whether there is another lane
    (codegen/nvptx/branches/warp_steps.c)."""
    distance = 1
    while distance < width:
        other = cuda.shfl_up_sync(mask, value, distance)
        if (cuda.laneid if lane is None else lane) >= distance:
            value = _apply(op, other, value)
        distance *= 2
    return value


def _word(value, op):
    """True if it is an integer of up to 32 bits, and op one that redux.sync knows; else None."""
    if isinstance(value, (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32)) and op in (_add, min, max):
        return True
    return None


def _reduce_word(value, op):
    """The same in all lanes of a whole warp: redux.sync on GPUs that have it
    (codegen/nvptx/branches/warp_steps.c)."""
    if value.dtype.itemsize < 4:
        return type(value)(_reduce_word(np.int32(value), op))
    distance = 1
    while distance < 32:
        value = _apply(op, value, cuda.shfl_xor_sync(_ALL, value, distance))
        distance *= 2
    return value


# --- blocks: `size` is (None,) * (threads // 32), (None,) * (threads % 32) where the number of
# threads is known, else None; `dims` is None where the block is known to have one axis ---


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


# Up to so many warps each thread reads what all of them have: few vector loads, no shuffles. (CUB's
# BlockReduceWarpReductions and BlockScanWarpScans do the same, for any number.) With more the first
# warp combines them, between two barriers; a scan takes a selection for each warp, so it begins
# sooner there. Of words each warp combines them itself, by redux.sync: one instruction, which waits
# for no second barrier.
_FEW_WARPS = 8
_FEW_WARPS_OF_A_SCAN = 4
_GROUP = 4  # lanes that a sum of more warps combines by shuffles


def _known_warps(size):
    """(None,) * their number where it is known that all are whole, else None."""
    if size is None:
        return None
    return size[0] if len(size[1]) == 0 else None


def _combined(partials, like, op, i, step, left):
    """partials[i], partials[i + step], …, len(left) of them, as a tree: by recursion, which writes
    them out."""
    half = len(left) // 2
    if half == 0:
        return _read(partials, i, like)
    first = _combined(partials, like, op, i, step, left[:half])
    return _apply(op, first, _combined(partials, like, op, i + half * step, step, left[half:]))


def _prefix_of_warps(partials, before, upto, op, warp, w, left):
    """(the values of all warps before this one, nothing in the first; those of all warps)."""
    if len(left) == 0:
        return before, upto
    if warp == w:
        before = upto
    return _prefix_of_warps(partials, before, _apply(op, upto, _read(partials, w, upto)), op, warp, w + 1, left[1:])


def _reduce_words_of_warps(partials, like, op, lane, count, warps):
    """What the first `count` of the warps have in partials, in all lanes; if there are none, 0 of a
    sum, else what the first one has."""
    if op is _add:
        word = _read(partials, min(lane, warps - 1), like)
        return _reduce_word(word if lane < count else type(like)(0), op)
    return _reduce_word(_read(partials, min(lane, max(count - 1, 0)), like), op)


def _warp(size, dims):
    """(this thread's lane and warp, the mask of its warp and how many lanes that has, how many
    warps there are)"""
    rank, known = _rank(dims), _known_warps(size)
    if known is not None:
        return cuda.laneid, rank // 32, _ALL, 32, len(known)
    threads, warp = _threads(), rank // 32
    count = min(32, threads - warp * 32)
    return rank % 32, warp, _warp_mask(count), count, (threads + 31) // 32


def _reduce_warp(value, op, known, lane, mask, count):
    """In lane 0."""
    if known is None:
        return _reduce_lanes(value, op, mask, lane, 32, count)
    if _word(value, op) is not None:
        return _reduce_word(value, op)
    return _reduce_lanes(value, op, mask, lane, 32, None)


def _scan_partials(partials, like, op, mask, lane, warps, known):
    """In the lanes of one warp: what the warps up to number `lane` have in partials."""
    mine = _read(partials, min(lane, warps - 1), like)
    return _scan_lanes(mine, op, mask, None, 32 if known is None else len(known))


def _reduce_groups(value, op, lane, warp, known):
    """Of many warps, a multiple of _GROUP. Shuffles, of which an SM begins one at a time, take part
    in groups of lanes only; the first warp combines the groups, each lane some in their order. They
    are in rows of 33, so that lanes meet in no bank, and what it finds is at the end of a row, where
    a later call writes nothing while it is still read."""
    each = len(known) // _GROUP  # groups of a lane of the first warp
    partials, group = _scratch(value, 33 * each, ()), warp * (32 // _GROUP) + lane // _GROUP
    value = _reduce_lanes(value, op, _ALL, lane, _GROUP, None)
    if lane % _GROUP == 0:
        _write(partials, group % each * 33 + group // each, value)
    cuda.syncthreads()
    if warp == 0:
        mine = _combined(partials, value, op, lane, 33, (None,) * each)
        whole = _reduce_lanes(mine, op, _ALL, lane, 32, None)
        if lane == 0:
            _write(partials, 32, whole)
    cuda.syncthreads()
    return _read(partials, 32, value)


def _block_reduce(x, op, size, dims):
    _all_come()
    lane, warp, mask, count, warps = _warp(size, dims)
    known = _known_warps(size)
    value = _reduce_items(x, op)
    if known is not None and len(known) > _FEW_WARPS and len(known) % _GROUP == 0 and _word(value, op) is None:
        return _reduce_groups(value, op, lane, warp, known)
    value = _reduce_warp(value, op, known, lane, mask, count)
    if known is not None and (len(known) <= _FEW_WARPS or _word(value, op) is not None):
        partials = _scratch(value, len(known), ())
        cuda.syncthreads()
        if lane == 0:
            _write(partials, warp, value)
        cuda.syncthreads()
        if len(known) <= _FEW_WARPS:
            return _combined(partials, value, op, 0, 1, known)
        return _reduce_words_of_warps(partials, value, op, lane, len(known), len(known))
    # What the first warp finds lies behind the others' partial results, so a later call writes
    # nothing that is still read.
    partials = _scratch(value, 33, ())
    if lane == 0:
        _write(partials, warp, value)
    cuda.syncthreads()
    if warp == 0:
        whole = _scan_partials(partials, value, op, mask, lane, warps, known)
        if lane == warps - 1:
            _write(partials, 32, whole)
    cuda.syncthreads()
    return _read(partials, 32, value)


def _warps_before(partials, like, op, lane, warp, warps, few, total):
    """(what the warps before this one have in partials, nothing in the first; what all have, if
    total is not None). Of more than `few` warps the values are words."""
    if warps <= few:
        first = _read(partials, 0, like)
        return _prefix_of_warps(partials, first, first, op, warp, 1, (None,) * (warps - 1))
    before = _reduce_words_of_warps(partials, like, op, lane, warp, warps)
    return before, like if total is None else _reduce_words_of_warps(partials, like, op, lane, warps, warps)


def _prefix(value, op, size, dims, shifted, total):
    """(the values of this warp up to this thread, or before it where shifted is not None; those of
    all warps before it; those of the block, if total is not None). The second is nothing in the
    first warp, the first nothing in the first lane if shifted."""
    _all_come()
    lane, warp, mask, count, warps = _warp(size, dims)
    inside = _scan_lanes(value, op, mask, None, 32)
    own = inside if shifted is None else cuda.shfl_up_sync(mask, inside, 1)
    known = _known_warps(size)
    if known is not None and (len(known) <= _FEW_WARPS_OF_A_SCAN or _word(value, op) is not None):
        partials = _scratch(value, len(known), ())
        cuda.syncthreads()
        if lane == 31:
            _write(partials, warp, inside)
        cuda.syncthreads()
        return (own, *_warps_before(partials, value, op, lane, warp, len(known), _FEW_WARPS_OF_A_SCAN, total))
    partials = _scratch(value, 64, ())
    if lane == count - 1:
        _write(partials, warp, inside)
    cuda.syncthreads()
    if warp == 0:
        _write(partials, 32 + lane, _scan_partials(partials, value, op, mask, lane, warps, known))
    cuda.syncthreads()
    return own, _read(partials, 32 + max(warp - 1, 0), value), _read(partials, 31 + warps, value)


def _before(lanes, warps, op, rank):
    """The values of all threads before this one; nothing in thread 0."""
    if rank < 32:
        return lanes
    return warps if rank % 32 == 0 else _apply(op, warps, lanes)


def _block_inclusive(x, op, size, dims):
    rank = _rank(dims)
    if isinstance(x, np.ndarray) and len(x) > 1:
        lanes, warps, _ = _prefix(_reduce_items(x, op), op, size, dims, True, None)
        return _scan_items(x, op, _before(lanes, warps, op, rank), rank > 0)
    inside, warps, _ = _prefix(_reduce_items(x, op), op, size, dims, None, None)
    upto = inside if rank < 32 else _apply(op, warps, inside)
    if isinstance(x, np.ndarray):
        x[0] = upto
        return None
    return upto


def _block_exclusive(x, op, initial, total, size, dims):
    lanes, warps, whole = _prefix(_reduce_items(x, op), op, size, dims, True, total)
    rank = _rank(dims)
    first = _like(initial, whole)
    before = _before(lanes, warps, op, rank)
    before = _apply(op, first, before) if rank > 0 else first
    if isinstance(x, np.ndarray):
        _scan_items_exclusive(x, op, before)
    return _with_total(x, before, op, first, whole, total)


def _like(initial, value):
    if isinstance(value, tuple):
        return initial
    return type(value)(initial)


def _with_total(x, before, op, first, whole, total):
    """What an exclusive scan gives: nothing of an array, which it has changed; with total=True the
    total too."""
    if total is None:
        return None if isinstance(x, np.ndarray) else before
    cuda.static_assert(total, "total: True, or leave it out")
    if isinstance(x, np.ndarray):
        return _apply(op, first, whole)
    return before, _apply(op, first, whole)


# --- loads, stores, exchanges: of `threads` threads, of which this is number `rank` ---


def _check_place(array, items, start):
    _check_items(items)
    cuda.static_assert(array.ndim == 1, "load and store: the array has one axis; take a row, a[i], or a.ravel()")
    if start is not None:
        cuda.assume(start >= 0, "load and store: start is 0 or more")


def _load(source, items, start, default, rank, step, stride):
    """items[k] = source[start + rank * step + k * stride]; neighbours in accesses of up to 16 bytes,
    `each` in one, where source is aligned to them."""
    first = start + rank * step
    each = min(len(items) & -len(items), 16 // source.itemsize)
    if first + (len(items) - 1) * stride < source.size:
        if stride == 1 and each > 1 and cuda.vector.aligned(source, first, each):
            for k in range(0, len(items), each):
                values = cuda.vector.load(source, first + k, each)
                for j in range(each):
                    items[k + j] = values[j]
        else:
            for k in range(len(items)):
                items[k] = source[first + k * stride]
    else:
        for k in range(len(items)):
            at = first + k * stride
            items[k] = source[at] if at < source.size else default


def _some(items, k, left):
    """items[k], items[k + 1], …, len(left) of them, as a tuple."""
    if len(left) == 0:
        return ()
    return (items[k], *_some(items, k + 1, left[1:]))


def _store(target, items, start, rank, step, stride):
    first = start + rank * step
    each = min(len(items) & -len(items), 16 // target.itemsize)
    if first + (len(items) - 1) * stride < target.size:
        if stride == 1 and each > 1 and cuda.vector.aligned(target, first, each):
            for k in range(0, len(items), each):
                cuda.vector.store(target, first + k, _some(items, k, (None,) * each))
        else:
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


def _shared_words(words):
    return cuda.shared.array(words, np.uint64)


def _memory(n, each, itemsize, least):
    """Words of 64 bits, `least` or more, for as many of n * each keys as go at a time, padded every
    32 keys or 128 bytes. One array for all sorts and exchanges of that size; before each first write to it they
    have a barrier. Of more than 512 threads, of which few blocks fit anyway, all take what a sort
    by counters takes, so that a kernel has one array for both."""
    room = min(n * each, _MOST_BYTES // itemsize)
    words = (room + room // max(min(32, 128 // itemsize), 1)) * itemsize // 8 + 1
    return _shared_words(max(words, least, 9 * n // 2 if n > 512 else 0))


def _block_exchange(items, size, dims, to_blocked):
    """Through shared memory, in turns of what has room there."""
    _all_come()
    n = 32 * len(size[0]) + len(size[1])
    rank, each, total = _rank(dims), len(items), n * len(items)
    room = min(total, _MOST_BYTES // items.itemsize)
    memory = _memory(n, each, items.itemsize, 0).view(items.dtype)
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


def _tile_exchange(items, lane, base, mask, count, to_blocked):
    """By shuffles: each lane asks in turn for all items of the lane that has its own."""
    _check_items(items)
    _lanes_come(mask)
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


# --- tiles ---


def _tile(width, size, dims):
    """(number of this lane in its tile, first lane of the tile, its lanes as a mask, how many there
    are; None: all)"""
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
    _lanes_come(mask)
    value = _reduce_items(x, op)
    if count is None:
        return _reduce_all_lanes(value, op, mask, lane, width)
    return cuda.shfl_sync(mask, _reduce_lanes(value, op, mask, lane, width, count), base)


def _tile_inclusive(x, op, width, size, dims):
    lane, base, mask, count = _tile(width, size, dims)
    _lanes_come(mask)
    inside = _scan_lanes(_reduce_items(x, op), op, mask, lane, width)
    if isinstance(x, np.ndarray):
        return _scan_items(x, op, cuda.shfl_up_sync(mask, inside, 1), lane > 0)
    return inside


def _tile_exclusive(x, op, initial, total, width, size, dims):
    lane, base, mask, count = _tile(width, size, dims)
    _lanes_come(mask)
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
