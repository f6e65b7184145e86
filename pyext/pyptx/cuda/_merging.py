"""Merge sorts of the threads of a block or of the lanes of a tile, by any order, and stable: for the
make_* functions of _two_phase. sort_keys (_sorting) is faster for keys in their own order.

A thread sorts its own keys by insertion. In a block, runs of threads are then merged in pairs
through shared memory, each thread finding the part that it gets by bisection along its diagonal
(Green, McColl, Bader, "GPU Merge Path", 2012). In a tile neighbours merge and split their keys, as
many times as there are lanes (odd-even transposition; Knuth, TAOCP 3, 5.3.4).
"""

from pyptx import cuda
from pyptx.cuda._collectives import _all_come, _check_items, _lanes_come, _lanes_of, _rank, _tile

_MOST_BYTES = 49152  # of shared memory that a kernel can have without asking


def _insert(keys, less):
    for i in range(1, len(keys)):
        key, j = keys[i], i
        while j > 0 and less(key, keys[j - 1]):
            keys[j] = keys[j - 1]
            j -= 1
        keys[j] = key


def _merge_sort_block(keys, less, threads, dims):
    _check_items(keys)
    cuda.static_assert(threads * keys.nbytes <= _MOST_BYTES, "merge_sort_keys: the block's keys have at most 48 KB: fewer items, or a radix sort")
    _all_come()
    each, rank = len(keys), _rank(dims)
    total = threads * each
    memory = cuda.shared.array(threads * len(keys), keys.dtype)
    _insert(keys, less)
    width = 1
    while width < threads:
        cuda.syncthreads()
        for k in range(each):
            memory[rank * each + k] = keys[k]
        cuda.syncthreads()
        first = rank // (2 * width) * (2 * width) * each
        second = min(first + width * each, total)
        end = min(second + width * each, total)
        n, m, diagonal = second - first, end - second, rank * each - first
        low, high = max(0, diagonal - m), min(diagonal, n)
        while low < high:
            middle = (low + high) // 2
            if less(memory[second + diagonal - 1 - middle], memory[first + middle]):
                high = middle
            else:
                low = middle + 1
        i, j = low, diagonal - low
        for k in range(each):
            if j < m and (i >= n or less(memory[second + j], memory[first + i])):
                keys[k] = memory[second + j]
                j += 1
            else:
                keys[k] = memory[first + i]
                i += 1
        width *= 2


def _keep_lower(own, other, merged, less):
    i = j = 0
    for k in range(len(own)):
        if less(other[j], own[i]):
            merged[k] = other[j]
            j += 1
        else:
            merged[k] = own[i]
            i += 1


def _keep_upper(own, other, merged, less):
    i = j = len(own) - 1
    for k in range(len(own) - 1, -1, -1):
        if less(own[i], other[j]):
            merged[k] = other[j]
            j -= 1
        else:
            merged[k] = own[i]
            i -= 1


def _merge_sort_tile(keys, less, width):
    _check_items(keys)
    lane, base, mask, count = _tile(width, None, True)
    _lanes_come(mask)
    lanes = _lanes_of(width, count)
    other, merged = cuda.local.array(len(keys), keys.dtype), cuda.local.array(len(keys), keys.dtype)
    _insert(keys, less)
    for r in range(width):
        partner = lane + 1 if (lane + r) % 2 == 0 else lane - 1
        if partner < 0 or partner >= lanes:
            partner = lane
        for k in range(len(keys)):
            other[k] = cuda.shfl_sync(mask, keys[k], base + partner)
        if partner != lane:
            if partner > lane:
                _keep_lower(keys, other, merged, less)
            else:
                _keep_upper(keys, other, merged, less)
            for k in range(len(keys)):
                keys[k] = merged[k]
