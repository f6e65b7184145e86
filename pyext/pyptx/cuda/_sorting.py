"""The sorts of pyptx.cuda.coop's groups, as functions for kernels: radix sorts of a block, bitonic
ones of a tile; see there for keys and sources."""

import numpy as np

from pyptx import cuda
from pyptx.cuda._collectives import (
    _ALL,
    _FEW_WARPS,
    _MOST_BYTES,
    _add,
    _all_come,
    _check_items,
    _lanes_come,
    _memory,
    _rank,
    _scan_lanes,
    _warps_before,
)


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
    """An unsigned number of as many bits; numbers are in the order of their keys, nan after all.
    flip: all ones for the reverse order."""
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


def _lane_bits(lane, left):
    """For each bit of the lane's number, lowest first: 0 where it is set, else all ones."""
    if len(left) == 0:
        return ()
    return (np.uint32((lane & 1) - 1), *_lane_bits(lane >> 1, left[1:]))


def _lanes_with(digit, bit, same, own, mask, lane_bits):
    """The lanes of `same` that agree with this one in the digit's bits from `bit` on, and those of
    `own` whose digits agree with this lane's number in them."""
    if len(lane_bits) == 0:
        return same, own
    one = (digit & bit) != 0
    ones = np.uint32(cuda.ballot_sync(mask, one))
    return _lanes_with(digit, bit * 2, same & (ones if one else ~ones), own & (ones ^ lane_bits[0]), mask, lane_bits[1:])


def _rank_key(keys, places, k, count, shift, lanes, lane_bits, mask, lane):
    """places[k] = how many keys of this warp with the digit of keys[k] are before it. count: how
    many of those have the lane's number as their digit; returned with this round's."""
    digit = _digit(keys[k], shift, lanes)
    same, own = _lanes_with(digit, 1, mask, mask, mask, lane_bits)
    places[k] = cuda.shfl_sync(mask, count, digit) + np.int32(cuda.popc(same & ((np.uint32(1) << np.uint32(lane)) - np.uint32(1))))
    return np.int32(count + np.int32(cuda.popc(own)))


def _rank_keys(keys, places, done, left, count, shift, lanes, lane_bits, mask, lane):
    """The keys from number len(done) on, len(left) of them. By recursion, which writes them out:
    LLVM keeps so large a loop, and then has the keys in local memory."""
    if len(left) == 0:
        return count
    count = _rank_key(keys, places, len(done), count, shift, lanes, lane_bits, mask, lane)
    return _rank_keys(keys, places, (*done, None), left[1:], count, shift, lanes, lane_bits, mask, lane)


def _rank_many_keys(keys, places, shift, lanes, lane_bits, mask, lane):
    count = np.int32(0)
    for k in range(len(keys)):
        count = _rank_key(keys, places, k, count, shift, lanes, lane_bits, mask, lane)
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
    """LSD radix sort. Full warps sort (of a block of less than 32 threads the first 2, 4, 8 or 16),
    each lane `held` keys: number (warp * held + k) * lanes + lane. A lane counts the keys whose
    digit is its number, so there are as many digits as lanes."""
    n = 32 * len(size[0]) + len(size[1])
    lanes = 32 if n >= 32 else 16 if n >= 16 else 8 if n >= 8 else 4 if n >= 4 else 2
    digit_bits = 5 if n >= 32 else 4 if n >= 16 else 3 if n >= 8 else 2 if n >= 4 else 1
    warps = max(n // 32, 1)
    each, total = len(keys), n * len(keys)
    held = (total + lanes * warps - 1) // (lanes * warps)
    all_places = held * lanes * warps
    room = min(all_places, _MOST_BYTES // keys.itemsize)
    whole = room == all_places  # all keys at a time: places need no tests
    counts = cuda.shared.array((lanes, warps | 1), np.int32)  # an odd length: its columns lie in all banks
    memory = _memory(lanes * warps, held, keys.itemsize, 0).view(keys.dtype)
    mine = cuda.local.array(held, keys.dtype)
    moved = cuda.local.array(held, keys.dtype)
    places = cuda.local.array(held, np.int32)
    rank = _rank(dims)
    warp, lane = rank // lanes, rank % lanes
    works = True if n == lanes * warps else warp < warps  # known where all do: no warp diverges then
    mask = np.uint32((1 << lanes) - 1)
    lane_bits = _lane_bits(lane, (None,) * digit_bits)

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
            if held > 16:
                counts[lane, warp] = _rank_many_keys(mine, places, shift, lanes, lane_bits, mask, lane)
            else:
                counts[lane, warp] = _rank_keys(mine, places, (), (None,) * held, np.int32(0), shift, lanes, lane_bits, mask, lane)
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
                    if whole or 0 <= at < room:
                        memory[at] = mine[k]
            cuda.syncthreads()
            if last:
                for k in range(each):
                    at = rank * each + k - low
                    if whole or 0 <= at < room:
                        keys[k] = memory[at]
            elif works:
                for k in range(held):
                    at = (warp * held + k) * lanes + lane - low
                    if whole or 0 <= at < room:
                        moved[k] = memory[at]
        if works and not last:
            for k in range(held):
                mine[k] = moved[k]


# --- many keys of whole warps, in 4-bit digits (CUB's BlockRadixRank). Each thread counts its keys
# in 16 counters of 16 bits of its own, two in a word: digit d in half d // 8 of word number
# d % 8 * threads + thread. The exclusive scan of the words in that order, the halves one behind the
# other, says where the keys of a thread and digit begin. A row of zeros behind the words makes it 9
# of them for each thread to scan, which lie in different banks. ---


def _scan_counters(words, partials, rank, warps):
    """The words' exclusive scan in place, of both halves at once. Every thread has a barrier before
    and behind it."""
    lane, warp = rank % 32, rank // 32
    mine = cuda.local.array(9, np.uint32)
    total = np.uint32(0)
    for c in range(9):
        mine[c] = words[rank * 9 + c]
        total = total + mine[c]
    inside = _scan_lanes(total, _add, _ALL, lane, 32)
    if lane == 31:
        partials[warp] = inside
    cuda.syncthreads()
    before, whole = _warps_before(partials, total, _add, lane, warp, warps, _FEW_WARPS, True)
    upto = inside - total + (whole << np.uint32(16)) + (before if warp > 0 else np.uint32(0))
    for c in range(9):
        words[rank * 9 + c] = upto
        upto = upto + mine[c]


def _sort_counting(keys, size, dims, width):
    """LSD radix sort; keys are in blocked arrangement all the time."""
    n, each = 32 * len(size[0]), len(keys)
    room = min(n * each, _MOST_BYTES // keys.itemsize)
    whole = room == n * each
    line = 128 // keys.itemsize  # keys in all banks
    memory = _memory(n, each, keys.itemsize, 9 * n // 2)
    stored, words, halves = memory.view(keys.dtype), memory.view(np.uint32), memory.view(np.uint16)
    partials = cuda.shared.array(len(size[0]), np.uint32, alignment=16)
    places = cuda.local.array(each, np.uint32)
    earlier = cuda.local.array(each, np.uint32)
    moved = cuda.local.array(each, keys.dtype)
    rank = np.uint32(_rank(dims))
    for shift in range(0, width, 4):
        cuda.syncthreads()
        for c in range(9):
            words[c * n + rank] = np.uint32(0)
        for k in range(each):
            digit = np.uint32(keys[k] >> type(keys[k])(shift)) & np.uint32(15)
            place = ((digit & np.uint32(7)) * np.uint32(n) + rank) * np.uint32(2) + (digit >> np.uint32(3))
            places[k] = place
            earlier[k] = halves[place]
            halves[place] = np.uint16(earlier[k] + np.uint32(1))
        cuda.syncthreads()
        _scan_counters(words, partials, rank, len(size[0]))
        cuda.syncthreads()
        for k in range(each):
            places[k] = earlier[k] + np.uint32(halves[places[k]])
        for low in range(0, n * each, room):
            cuda.syncthreads()
            for k in range(each):
                at = places[k] - np.uint32(low)
                if whole or at < np.uint32(room):
                    stored[at + at // np.uint32(line)] = keys[k]
            cuda.syncthreads()
            for k in range(each):
                at = rank * np.uint32(each) + np.uint32(k) - np.uint32(low)
                if whole or at < np.uint32(room):
                    moved[k] = stored[at + at // np.uint32(line)]
        for k in range(each):
            keys[k] = moved[k]


def _sort_thread(keys):
    """Insertion sort."""
    _check_items(keys)
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
    _check_items(x)
    for k in range(len(x)):
        keys[k] = _key(x[k], flip)


def _take_keys(x, keys, flip):
    _check_items(x)
    for k in range(len(x)):
        x[k] = _from_key(keys[k], x[k], flip)


def _block_sort(x, descending, size, dims):
    if isinstance(x, np.ndarray):
        cuda.static_assert(x.dtype.kind in ("b", "i", "u", "f"), "sort_keys: keys are real numbers of up to 64 bits")
        flip = descending is not None
        if flip:
            cuda.static_assert(descending, "descending: True, or leave it out")
        keys = cuda.local.array(len(x), type(_unsigned(x[0])))
        _give_keys(x, keys, flip)
        n = 32 * len(size[0]) + len(size[1])
        _all_come()
        # Where counting takes fewer instructions than ballots: these are about 45 for a key and
        # digit of 5 bits, those 17, and 100 for a thread. (In no function of its own: the other way
        # must not be compiled, whose shared memory would be added.)
        enough = 1024 if keys.itemsize == 8 or len(x) < 4 else 256
        if n == 1:
            _sort_thread(keys)
        elif n % 32 == 0 and len(x) <= 16 and enough <= n * len(x) < 65536:
            _sort_counting(keys, size, dims, x.itemsize * 8)
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
        _lanes_come(mask)
        _sort_tile(keys, lane, width, mask)
        return _take_keys(x, keys, flip)
    items = cuda.local.array(1, type(x))
    items[0] = x
    _tile_sort(items, descending, lane, width, mask)
    return items[0]
