"""How many threads have a row: the forms of the kernels of rows.py, by the length of the rows, on GPUs of compute
capability 9.0 and later. Run by itself, it prints the forms of some lengths.

Rows that lie at multiples of an access, and those of one or two blocks, have forms that were measured on an H200.
Longer rows of layer norm that begin anywhere need shared memory for their weights, too, and take what `spread` finds.
"""

import functools
import itertools
import math
import sys

import numpy as np
from pyptx import cuda

ACCESS = 16  # bytes
LINE = 128  # bytes that a copy takes together
HELD = 32  # elements of a row that a thread holds at most, but for what `held_by` says
MOST_WARPS = 16  # of a block, unless a row needs more
MOST_BLOCKS = 16  # of a cluster
RESIDENT = 1024  # threads of a multiprocessor: 64 registers each
# Where rows are only read, by bytes of an element: elements of a thread, warps of a block, threads of a
# multiprocessor; the first whose rounds are FULL.
READERS = {4: ((32, 16, 1024),), 2: ((32, 4, 1024), (16, 2, 2048))}
FULL, NEARLY = 0.8, 0.75
SMALL = 4 << 10  # bytes of a row that would need more warps if it were cut at multiples of LINE
NARROW, FEW_CHUNKS = (16, 1, 2048), 512  # the same of short rows of bfloat16 that no threads hold without a rest
SOME, WAITING = 34 << 10, 60 << 10  # bytes of a multiprocessor that are on the way: what form_of says
SHARED, OF_ONE = 216 << 10, 222 << 10  # the same for rows and weights of several blocks, and of one
SHORT = 16 << 10  # bytes of weights that the first cache holds beside the rows
MANY, MANY_WARPS, FEW_WARPS = 8, 20, 5  # chunks of a thread; warps of a multiprocessor at most; of a small block
FEWER, MOST_ALONE = 5, 28  # chunks of a thread, warps of a block that has a row of bfloat16 for itself
ENOUGH_ALONE = 15  # warps of a block of softmax that is alone on its multiprocessor
THREE = (11, 12, 13)  # warps of a block of softmax of bfloat16 of which a multiprocessor has three
FEW_BLOCKS, MOST_FEW = (3, 4, 8), 6  # of a cluster that fill a GPU; chunks of a thread at most, of 24 warps
BEYOND = (6, 1, 24, 4096), (6, 3, 14, 7680), (6, 3, 16, 8192)  # chunks of a thread, blocks, their warps at most: beyond so many chunks of a row
MORE = 6  # the same chunks of layer norm, so that two such rows have room beside the weights
MOST_OF_SIX = 24  # warps of at most six chunks and their weights
BETWEEN = 12.5  # what `spread` says
BY_EIGHT = 16384, 18431  # chunks of a row of bfloat16: beyond so many eight blocks have it, of softmax and layer norm
TWO_ROWS = 20480, 27200  # chunks of a row of layer norm that begins anywhere: between these two are on the way
EIGHT_AHEAD = 8512, 32 * FEWER * MANY * 8  # at multiples of an access: between these eight blocks tell ahead
MOST_OF_THREE = 32 * 28 * 4 * 3  # chunks of a row of softmax that three blocks have
AHEAD_WARPS, AHEAD = 12, 41_000  # of a block of softmax that tells ahead: warps at most, bytes that are on the way
MOST_AHEAD = 32 * AHEAD_WARPS * MANY  # its chunks at most
FILLED = 0.875  # of a GPU's multiprocessors by clusters, at least
ENOUGH = 11  # warps of a multiprocessor, of MANY chunks, whose copies of float32 fill its share of the memory's time
# How many clusters of 2, 3, ... 16 blocks an H200 runs at once, with one to three blocks of a multiprocessor.
AT_ONCE = (
    (66, 39, 30, 22, 17, 15, 15, 9, 7, 7, 7, 7, 7, 7, 7),
    (132, 79, 62, 47, 39, 32, 30, 23, 21, 16, 16, 14, 14, 14, 14),
    (198, 124, 92, 69, 62, 47, 45, 37, 30, 28, 28, 23, 21, 21, 21),
)
ROWS = 4  # of a block whose warps have a row each
FEW = 2048  # blocks: fewer do not fill a GPU for long


def form_of(name: str, rows: int, columns: int, size: int):
    """What `kernels` is called with, and the bytes of a block's dynamic shared memory."""
    width = ACCESS // size
    weights = {"layer_norm": 2, "rms_norm": 1}.get(name, 0)
    if weights and size == 2 and columns % width == width // 2 and (columns <= 32 * HELD or 48 * HELD < columns <= SMALL // 2):
        width //= 2  # which divides the weights, too; 1,028 by two warps 0.85, as rows that begin anywhere 0.94
    odd = columns % width > 0
    chunks = columns // width
    alone = chunks % 32 == 0 and chunks <= 32 * MOST_WARPS * (HELD // width)  # a block holds it as it is
    if alone and size == 2 and weights > 1:
        warps = max(1, -(-chunks // (32 * (HELD // width))))
        alone = 32 // warps * warps >= NEARLY * 32  # else few warps read weights, too: 11,008 elements 0.84, as others 0.93
    kept = weights > 0 and (odd or weights * columns * size > SHORT and not alone)
    long = kept or chunks > 32 * MOST_WARPS * (HELD // width)
    stays = long and name != "cross_entropy"
    unit = LINE // size if stays and columns * size > SMALL else 2 * width if odd else width
    if name == "cross_entropy":
        forms = [reader(rows, chunks, width, *each) for each in READERS[size]]
        _, most, blocks, warps, resident = next((form for form in forms if form[0] >= FULL), forms[0])
        if size == 2 and rows >= FEW and chunks <= FEW_CHUNKS and (odd or most * 32 * warps * blocks != chunks):
            _, most, blocks, warps, resident = reader(rows, chunks, width, *NARROW)
    elif stays:
        chunks = -(-(columns + unit - math.gcd(columns, unit)) // width)  # with what the first has in front of the row
        most, warps, blocks, resident = held_by(name, columns, size, chunks, weights)
    else:
        most, blocks = HELD // width, 1
        warps = max(1, -(-chunks // (32 * most)))
        # A third block, where it leaves 48 registers: 10,505 elements 0.84 -> 1.00, 12,735 0.93 -> 0.95.
        # Of 13 warps, where lanes have no chunk or fewer, with spills: 12,792 0.90, by two blocks 0.935.
        if size == 4 and weights > 1 and warps == 2 and not alone:
            warps = 4  # 1,892 elements 0.84, 0.97
        three = size == 2 and name == "softmax" and warps in THREE and (warps < 13 or odd or chunks == 32 * most * warps)
        resident = 96 * warps if three else RESIDENT
    share = share_of(chunks, warps, blocks, 8 if stays else 32, 32 * most)
    exact = not odd and share * warps * blocks * width == columns
    here = max(1, resident // (32 * warps))  # blocks of a multiprocessor
    if name == "softmax" and size == 2 and blocks == 3 and here == 1:
        exact = False  # ptxas moves exponentials in front of the next row's copy: 76,800 elements 0.89, else 0.94
    elif weights > 1 and size == 2 and blocks > 2 and (here == 3 or here == 2 and -(-share // 32) == FEWER):
        exact = False  # as many registers are too few: layer norm of 73,728 elements 0.89, else 0.91
    nbytes = share * ACCESS * warps  # of a block
    of_weights = weights * kept * (nbytes + (0 if exact else size * unit + ACCESS * odd))
    room = (OF_ONE if here == 1 else SHARED // here) - of_weights
    # One row on the way, or two where blocks that are alone on their multiprocessors wait for several others: of more
    # a copy's bandwidth is up to 0.05 less. Layer norm of 100,000 bfloat16, two and one: 0.88 and 0.915, RMS norm 0.92
    # and 0.935, softmax of 81,922 0.88 and 0.93, layer norm of 20,000 float32 0.89 and 0.92.
    enough = -(-(WAITING if here == 1 and blocks > 2 else SOME) // (here * nbytes))
    ahead = stays and tells_ahead(name, odd, width, share, warps, blocks, resident)
    if ahead and name == "softmax":
        enough = -(-AHEAD // nbytes)  # 151,936 elements, by two of 38 KB 0.96, by one and four 0.944
    elif name == "layer_norm" and size == 2 and odd and here == 2 and blocks < 8:
        enough = max(enough, 2)
    elif name == "layer_norm" and here > 1 and blocks > 1 and (odd or here == 3):
        enough = 1
    stages = max(1, min(enough, room // nbytes)) if stays else 0
    alone_in_eight = name == "layer_norm" and here == 1 and blocks == 8 and stages > 1  # with_two_rows
    ahead = ahead and (here == 1 or stages > 1 or not odd) and not alone_in_eight
    return (width, share, warps, blocks, exact, odd, unit, ahead, stages, kept, resident), stages * nbytes + of_weights


def tells_ahead(name: str, odd: bool, width: int, share: int, warps: int, blocks: int, resident: int) -> bool:
    """Do warps tell what they found of the next row before they hear what others found of this one? Of bfloat16, where
    registers hold two rows: softmax of four and eight blocks of at most twelve warps that are alone on their
    multiprocessors, layer norm that begins anywhere.

    On an H200, with and without: softmax of 151,936 elements 0.95 and 0.87 of a copy's bandwidth, 175,003 0.94 and
    0.89; layer norm of 200,003 0.90 and 0.84, 240,001 0.94 and 0.85. It is more instructions, which cost more than the
    wait where blocks take turns with one row on the way (100,003: 0.90 -> 0.85)."""
    chunks, here = -(-share // 32), resident // (32 * warps)
    if name == "layer_norm" and not odd:
        return width == 8 and blocks == 8 and here == 2 and chunks == FEWER and warps <= MANY
    if width != 8 or name == "rms_norm":
        return False
    if name == "softmax":
        return here == 1 and (blocks == 8 or blocks == 4 and odd) and warps <= (15 if chunks <= FEWER else AHEAD_WARPS)
    # 16 warps of eight chunks that do not: 95,003 elements 0.91 -> 0.93
    return here <= 2 and resident <= (480 if chunks > 7 else 576)


def share_of(chunks: int, warps: int, blocks: int, whole: int, most: int) -> int:
    """Chunks that a warp has, a multiple of those of LINE (8) or of all lanes."""
    return min(most, max(1, -(-chunks // (whole * warps * blocks))) * whole)


def held_by(name: str, columns: int, size: int, chunks: int, weights: int) -> tuple:
    """(chunks of a thread at most, warps, blocks, threads of a multiprocessor) of long rows."""
    odd = columns * size % ACCESS > 0
    narrow = odd and size == 2 and name != "layer_norm"
    most, most_warps, resident = MANY if size == 4 and name != "layer_norm" else 4, 32, RESIDENT
    if size == 2 and name == "softmax":  # what a warp does for each row is half as often
        most, most_warps, resident = MANY, 16, RESIDENT // 2
    form = in_small(name, chunks, size, odd)
    if form:
        return form
    if size == 2 and weights > 1 and not odd and EIGHT_AHEAD[0] < chunks <= EIGHT_AHEAD[1]:
        # 71,680 to 81,800 by eight of nine and ten warps of four chunks 0.89 to 0.91, 0.93 to 0.94; 69,824 and 70,656
        # by three of 16 of six 0.886, 0.93 and 0.94
        warps = -(-chunks // (32 * FEWER * 8))
        return FEWER, warps, 8, 64 * warps
    for of, blocks, most_of, beyond in BEYOND if size == 2 and weights > 1 and not odd else ():
        # One and two blocks of 32 warps hold up to 4,096 and 8,192. 36,864 elements by two blocks 0.89, by one 0.93;
        # 69,824 by three of 23 warps of four chunks 0.90, of 16 of six 0.93.
        if beyond < chunks <= 32 * most_of * of * blocks:
            warps = -(-chunks // (32 * of * blocks))
            return of, warps, blocks, 32 * warps
    if odd and size == 2 and weights and 4 * 32 < chunks <= MANY * 32:  # by two warps 1,109 elements 0.78, 1,301 0.89; 0.93
        of = -(-chunks // 32)
        return of, 1, 1, 768 if of <= MOST_FEW else RESIDENT // 2
    alone = odd and name == "layer_norm"  # reads weights one by one
    small, of_warp = alone, MANY * 32 * ACCESS * (1 + weights)
    for blocks in (1, 2):  # as few as have room: they exchange less, and no multiprocessor is left out
        warps = -(-chunks // (32 * most * blocks))
        in_two = -(-chunks // (32 * MANY * blocks))
        if narrow and blocks == 1 and MOST_WARPS < 2 * in_two <= MANY_WARPS and 2 * in_two * of_warp <= SHARED:
            return MANY, in_two, blocks, 64 * in_two  # two blocks of a multiprocessor: one waits while the other works
        in_pair = MOST_WARPS < 2 * in_two <= MANY_WARPS and has_room(chunks, in_two, 1, MANY, 2, weights)
        if alone and size == 2 and blocks == 1 and in_pair:
            return MANY, in_two, 1, 64 * in_two  # 17,001 elements by one block 0.89, 0.935
        if size == 2 and name == "softmax" and blocks == 1 and by_scheduler(chunks, 1, 0):
            # 34,816 elements by two blocks 0.87, by one 0.93; 30,720 by 15 warps of eight chunks 0.915, by 20
            # of six 0.93
            return by_scheduler(chunks, 1, 0)
        if alone and size == 2 and blocks == 1 and MOST_WARPS < warps and chunks <= 32 * MOST_WARPS * MORE:
            # It begins the next row before it ends one, and no others tell it: 20,003 elements 0.92 -> 0.95.
            return -(-chunks // (32 * MOST_WARPS)), MOST_WARPS, 1, 32 * MOST_WARPS
        if alone and size == 2 and MOST_WARPS < warps:
            # 77,003 by three 0.88, by eight small ones 0.91
            few = (1, 2, 3) if chunks > 32 * MANY * 8 * FEW_WARPS else (1, 2)
            if 32 * 2 * 14 * 7 < chunks <= 32 * 2 * MOST_OF_SIX * FEWER:  # 56,003 by two of 16 of seven 0.89, 22 of five 0.935
                warps = -(-chunks // (32 * FEWER * 2))
                return FEWER, warps, 2, 32 * warps
            form = next(filter(None, (by_scheduler(chunks, blocks, weights, MANY_WARPS - 1) for blocks in few)), ())
            if form:
                return form
        if warps <= most_warps and warps * most * 32 * ACCESS * (1 + weights) <= SHARED:
            # Half of its warps leave a multiprocessor idle, unless weights of a whole access wait for none.
            enough = (MOST_WARPS if blocks == 1 else 0) if alone else 32
            if size == 2 and weights < 2 and not odd and blocks == 2 and warps == most_warps:
                # twice as many: softmax of 65,536 elements 0.91 -> 0.93, RMS norm 0.87 -> 0.93
                return MANY, 8, 4, RESIDENT // 2
            if warps <= enough or warps >= FULL * 32:
                return most, warps, blocks, resident
            small = True
    in_all, fours = -(-chunks // (32 * MANY)), -(-chunks // (32 * 4))
    here = min(MANY_WARPS // FEW_WARPS, SHARED // (FEW_WARPS * of_warp + 2048))
    if small and here > 1 and in_all <= 8 * FEW_WARPS:  # small blocks, several at once
        return MANY, FEW_WARPS, -(-in_all // FEW_WARPS), 32 * FEW_WARPS * here
    if size == 2 and weights and FULL * 128 < fours <= 128:
        return in_pairs(chunks)
    if size == 2 and name == "softmax" and (BY_EIGHT[0] < chunks <= 8 * MOST_AHEAD or odd and chunks <= 4 * MOST_AHEAD):
        return ahead_form(chunks, 8 if BY_EIGHT[0] < chunks else 4)
    if alone or fours > MOST_BLOCKS * 32:
        form = size == 2 and TWO_ROWS[0] < chunks <= TWO_ROWS[1] and with_two_rows(chunks, weights) or spread(chunks, size, weights)
        if not form:
            raise ValueError(f"rows of {columns} elements do not fit a cluster of {MOST_BLOCKS} blocks")
        return form
    if size == 2 and name == "layer_norm" and BY_EIGHT[1] < chunks:
        form = by_scheduler(chunks, 8, weights)
        if form:
            return form
    most_warps = (32 if size == 4 and not weights else MOST_WARPS, 32)  # of a block
    blocks, largest = (min(MOST_BLOCKS, 1 << (-(-fours // most) - 1).bit_length()) for most in most_warps)
    if size == 2 and fours >= 64 and fours >= (NEARLY if odd and not weights else FULL) * 32 * largest:
        blocks = largest  # few blocks of 32 warps, that fill a multiprocessor, exchange less
    if size == 2 and odd:
        if weights:
            return MANY, -(-fours // (2 * blocks)), blocks, RESIDENT // 2
        form = evenly(chunks, largest)  # fewer blocks
        return form if form[0] < MANY and form[1] >= ENOUGH_ALONE else evenly(chunks, blocks)
    if size == 2 and not weights and fours < FULL * 32 * 8:
        return in_few(chunks)
    return 4, -(-fours // blocks), blocks, RESIDENT


# What `in_small` gives, by kernel, bytes of an element, and whether rows begin anywhere: chunks beyond which and up to
# which, blocks, their warps, blocks of a multiprocessor.
SMALL_BLOCKS = {
    ("layer_norm", 2, True): (
        *((3072, 3550, 5, 4, 3), (3550, 4608, 8, 3, 3), (4608, 6144, 8, 4, 3), (6144, 7300, 8, 5, 3), (7300, 7800, 8, 8, 3)),
        *((7800, 9250, 8, 5, 3), (9250, 10240, 8, 8, 2), (10240, 12288, 8, 6, 2), (12800, 14080, 8, 11, 2)),
        (16500, 17920, 16, 5, 2),
    ),
    ("layer_norm", 2, False): (  # but for the 8,000 chunks of 64,000 elements: three blocks 0.94
        *((2048, 2300, 5, 3, 3), (3000, 3200, 5, 5, 3), (3200, 3400, 5, 4, 3), (3400, 4416, 8, 3, 3)),
        *((6144, 7680, 8, 5, 3), (7680, 7999, 5, 9, 2), (8000, 8191, 5, 9, 2), (15000, 15359, 8, 15, 2)),
    ),
    ("layer_norm", 4, True): ((4096, 7168, 8, 4, 3), (7168, 8192, 8, 5, 3)),
    ("layer_norm", 4, False): (
        *((6000, 7168, 8, 4, 3), (32768, 33792, 16, 11, 2), (33792, 35328, 16, 12, 2)),
        *((41000, 42000, 16, 17, 1), (65000, 65535, 16, 22, 1)),
    ),
    **dict.fromkeys((("softmax", 2, True), ("softmax", 2, False)), ((16384, 16750, 8, 11, 2),)),
    **dict.fromkeys((("rms_norm", 4, True), ("rms_norm", 4, False), ("softmax", 4, True)), ((8192, 10240, 8, 5, 2), (12000, 14336, 8, 7, 2))),
    ("softmax", 4, False): ((8192, 10240, 8, 5, 2), (12000, 14336, 8, 7, 2), (32768, 35840, 16, 10, 2)),
}


def in_small(name: str, chunks: int, size: int, odd: bool) -> tuple:
    """The same of small blocks, two or three of a multiprocessor, which wait for copies and for each other in turns,
    where one block or two of 17 to 32 warps would be alone on it; () for others. On an H200, beside these: layer norm
    of bfloat16 that begins anywhere, 30,001 elements 0.89 and 0.925, 35,001 0.90 and 0.925, 42,001 0.91 and 0.93, 51,203
    0.87 and 0.92, 68,267 0.88 and 0.92, 93,852 0.91 and 0.93, 105,001 0.90 and 0.93, at multiples of an access, 28,552
    and 60,000 0.90 and 0.93, 64,400 0.865 and 0.93, of float32, 20,003 0.90 and 0.94, 24,720 0.89 and 0.93, 132,148 0.85
    and 0.93; softmax of bfloat16 of 131,500 0.90 and 0.925; float32 of 37,048, softmax 0.89 and 0.92, RMS norm 0.89 and
    0.935, of 50,768 0.90 and 0.94. Sixteen blocks of float32 are alone with fewer warps of more chunks: 165,220 0.905
    and 0.925."""
    for beyond, most, blocks, warps, here in SMALL_BLOCKS.get((name, size, odd), ()):
        if beyond < chunks <= most:
            return -(-chunks // (32 * warps * blocks)), warps, blocks, 32 * warps * here
    return ()


def has_room(chunks: int, warps: int, blocks: int, of: int, here: int, weights: int) -> bool:
    """Has a multiprocessor room for its blocks' parts of a row and of the weights?"""
    nbytes = share_of(chunks, warps, blocks, 8, 32 * of) * ACCESS * warps
    return nbytes + weights * (nbytes + LINE + ACCESS) <= (OF_ONE if here == 1 else SHARED // here)


def in_few(chunks: int) -> tuple:
    """The same of softmax of bfloat16, whole accesses: as few blocks as hold a row, alone on their multiprocessors, and
    the form by which the scheduler that has most has the fewest chunks. On an H200, of blocks of 9 to 11 warps, two or
    three of a multiprocessor, in clusters of 8 and 16, and of these: 70,000 elements 0.88 and 0.92 of a copy's
    bandwidth, 81,920 0.88 and 0.92, 151,936 0.87 and 0.92, 180,000 0.90 and 0.93; 128,256 by four blocks of 32 warps of
    four chunks 0.91, of 26 of five 0.94. Clusters of 6 and 7 leave a fifth of a GPU idle: 180,000 0.84 and 0.80."""
    if chunks <= 32 * 7 * MANY_WARPS * 2:
        return by_scheduler(chunks, 2, 0)  # 70,000 by three blocks 0.91, by two 0.92
    if MOST_OF_THREE < chunks <= 32 * 7 * MOST_WARPS * 4:
        return in_pairs(chunks)  # 88,968 by three blocks 0.89, by eight 0.925, 100,000 0.92 and 0.93
    blocks = next(blocks for blocks in FEW_BLOCKS if chunks <= 32 * 24 * MOST_FEW * blocks)
    # 80,000 by three blocks of 27 warps of four chunks 0.91, by 15 of seven 0.92; 208,896 by eight of 26 0.91, by 15
    # of seven 0.93; 86,016 by 28 of four 0.94, by 16 of seven 0.89
    forms = ((of, -(-chunks // (32 * of * blocks))) for of in (MANY - 1, 4, FEWER, MOST_FEW))
    fitting = (form for form in forms if form[1] <= (ENOUGH_ALONE if form[0] > MOST_FEW else MOST_ALONE))
    of, warps = min(fitting, key=lambda form: form[0] * -(-form[1] // 4))
    return of, warps, blocks, 32 * warps


def in_pairs(chunks: int) -> tuple:
    """The same of eight blocks of bfloat16, two of a multiprocessor: the form whose threads hold the fewest chunks in
    all. On an H200, beside four blocks of 27 to 31 warps of four chunks: layer norm of 114,688 elements 0.84 and 0.91
    of a copy's bandwidth, 126,976 0.89 and 0.91; RMS norm of 105,001 and 115,203 0.89 and 0.93, 126,976 0.90 and 0.925;
    softmax of 110,592 and 114,688, beside three blocks of 24 and four of 28, 0.89 and 0.92."""
    forms = ((of, -(-chunks // (32 * of * 8))) for of in (MANY, 7, 6))
    of, warps = min((form for form in forms if 2 * form[1] <= MANY_WARPS), key=lambda form: form[0] * form[1])
    return of, warps, 8, 64 * warps


def ahead_form(chunks: int, blocks: int) -> tuple:
    """The same of softmax of bfloat16 that tells ahead: at most twelve warps, whose registers hold two rows of eight
    chunks, or 15 of five. On an H200, beside four blocks of 15 and 16 warps that do not, of rows that begin anywhere:
    77,003 elements 0.88 and 0.94 of a copy's bandwidth, 86,001 0.88 and 0.93; beside eight blocks of 14 to 16 warps
    of five and six chunks that do: 163,840 0.92 and 0.93, 180,001 0.915 and 0.94, 188,416 0.91 and 0.93."""
    of = -(-chunks // (32 * AHEAD_WARPS * blocks))
    if of > MOST_FEW and chunks <= 32 * 15 * FEWER * blocks:
        of = FEWER  # 150,001 by 11 warps of seven chunks 0.905, by 15 of five 0.95
    warps = -(-chunks // (32 * of * blocks))
    return of, warps, blocks, 32 * warps


def by_scheduler(chunks: int, blocks: int, weights: int, most_warps: int = MANY_WARPS) -> tuple:
    """The same of so many blocks that are alone on their multiprocessors and fill the GPU: the form by which the
    scheduler that has most has the fewest chunks, of equal ones that of most warps; () if none has room.

    On an H200, beside four or five small blocks a row, three of a multiprocessor: layer norm of 40,001 bfloat16 0.90
    and 0.93 of a copy's bandwidth, 50,257 0.90 and 0.93, 81,922 0.88 and 0.93, 90,001 0.87 and 0.92 (45,003 0.93 and
    0.91, 67,001 0.92 and 0.90); by four blocks 115,203 0.92 and 0.885. Beside sixteen blocks, of rows at multiples of an
    access: 151,936 0.89 and 0.91, 163,840 0.90 and 0.935, 245,760 0.86 and 0.93; 140,000 0.91 and 0.85."""
    if blocks > 1 and filled(blocks, 1) < FILLED:
        return ()
    forms = []
    for of in range(FEWER, MANY + 1):
        warps = -(-chunks // (32 * of * blocks))
        # 60,001 by two blocks of 20 warps of six chunks 0.90, of 24 of five 0.925; 90,001 by three of them 0.92, 0.88
        more = weights > 0 and (of == MOST_FEW or of < MOST_FEW and blocks != 3)
        if ENOUGH <= warps <= (MOST_OF_SIX if more else most_warps) and has_room(chunks, warps, blocks, of, 1, weights):
            forms.append((of * -(-warps // 4), of, warps))
    if not forms:
        return ()
    _, of, warps = min(forms)
    return of, warps, blocks, 32 * warps


def with_two_rows(chunks: int, weights: int) -> tuple:
    """The same of long rows of layer norm of bfloat16 that begin anywhere: eight blocks that are alone on their
    multiprocessors, with room for two rows on the way, by the scheduler that has most, of equal ones whole chunks of all
    lanes; () if there is none. Their moments take one pass. On an H200, beside the forms before, which told ahead, or
    were of five blocks: 167,003 elements 0.885 and 0.944, 181,479 0.87 and 0.95, 200,003 0.90 and 0.94, 206,001 0.88 and
    0.93, 215,145 0.91 and 0.93. Without the one pass 0.83."""
    forms = []
    for of in range(FEWER, MANY + 1):
        warps = -(-chunks // (32 * of * 8))
        share = share_of(chunks, warps, 8, 8, 32 * of)
        nbytes = share * ACCESS * warps
        if warps <= MANY_WARPS and 2 * nbytes + weights * (nbytes + LINE + ACCESS) <= OF_ONE:
            forms.append((of * -(-warps // 4), share % 32 > 0, of, warps))
    if not forms:
        return ()
    *_, of, warps = min(forms)
    return of, warps, 8, 32 * warps


def evenly(chunks: int, blocks: int) -> tuple:
    """The same of so many blocks: where these are alone on their multiprocessors, the form by which the scheduler that
    has most has the fewest chunks. On an H200, of MANY chunks and of this form: softmax of 210,007 bfloat16 0.87 and
    0.94 of a copy's bandwidth, of 225,001 0.92 and 0.95, of 120,011 0.93 and 0.945, of 100,003 0.89 by eight blocks of 7
    warps, two of a multiprocessor, and 0.94 by four of 20 warps of five chunks."""
    of, warps = MANY, -(-chunks // (32 * MANY * blocks))
    for fewer in range(MANY - 1, FEWER - 1, -1) if 2 * warps > MOST_WARPS else ():
        more = -(-chunks // (32 * fewer * blocks))
        if more <= MANY_WARPS and fewer * -(-more // 4) <= of * -(-warps // 4):
            of, warps = fewer, more
    return of, warps, blocks, max(RESIDENT // 2, 32 * warps)


@functools.cache
def spread(chunks: int, size: int, weights: int) -> tuple:
    """The same of long rows that clusters of any number of blocks may have, by threads of MANY chunks or one less; ()
    if none has room.

    What counted on an H200 is the share of the multiprocessors that the clusters fill: layer norm of 150,001
    bfloat16 reached 0.78 of a copy's bandwidth by clusters of ten blocks, two of a multiprocessor, which fill 0.80
    of them, 0.92 by clusters of four, one each (0.91); of float32 0.76 by nine (0.61), 0.94 by eight (0.91).

    As much counts, of bfloat16, how long a multiprocessor is at its parts of rows: in units of 0.08 us, about
    BETWEEN, and one for each chunk of a thread and one more, times the warps of the scheduler that has most. So
    225,001 reached 0.82 by eight blocks of 14 warps of eight chunks, 0.88 by 16 warps of seven; 200,003 0.70 by 13
    of eight, 0.78 by 14 of seven; 175,003 0.82 by sixteen blocks of 6 warps, three of a multiprocessor, 0.87 by five
    of 20 warps, one each. Float32 has half of the elements: there it is enough that ENOUGH warps are there; of
    MOST_BLOCKS, one of a multiprocessor, which wait for each other longest, those where the scheduler that has most has
    the fewest chunks: 200,003 reached 0.88 by 13 warps of eight chunks, 0.94 by 14 of seven. Of forms as good as each
    other, that of more, smaller blocks, of fewer warps."""
    best, form = 0.0, ()
    for of, here, blocks in itertools.product((MANY, MANY - 1, MOST_FEW), (1, 2, 3), range(2, MOST_BLOCKS + 1)):
        warps = -(-chunks // (32 * of * blocks))
        most_warps = MOST_WARPS if size == 2 and here > 1 else MANY_WARPS
        if of == MOST_FEW:  # 145,001 by four blocks of 18 warps of eight chunks 0.90, of 24 of six 0.92
            most_warps = MOST_OF_SIX if size == 2 and blocks == 4 else 0
        elif size == 2 and here == 1 and of == MANY and filled(blocks, 1) < FILLED:
            continue  # 185,001 by five blocks 0.85, by eight 0.88
        if FEW_WARPS <= warps <= most_warps // here and has_room(chunks, warps, blocks, of, here, weights):
            if size == 2:
                turns = -(-warps // 4) if here == 1 else warps * here / 4  # of a scheduler: blocks begin at any
                good = here / blocks / (BETWEEN + (of + 1) * turns)
            else:
                good = min(1, warps * here / ENOUGH)
                if blocks == MOST_BLOCKS and here == 1 and weights > 1:
                    good *= 1 - of * -(-warps // 4) / 1e4
            good *= filled(blocks, here) * blocks ** (1 / (64 if size == 2 else 32))
            if good > best * (1.02 if size == 2 and of < MANY else 1):
                best, form = good, (of, warps, blocks, 32 * warps * here)
    return form


@functools.cache
def filled(blocks: int, here: int) -> float:
    """The share of a GPU's multiprocessors that clusters of so many blocks fill, `here` blocks of each. A cluster
    lies in one of the GPU's parts, which have different numbers of multiprocessors: only the driver knows how many
    clusters run at once. Without a GPU, of an H200."""
    device = cuda.get_current_device()
    if device.is_host:
        return AT_ONCE[here - 1][blocks - 2] * blocks / (132 * here)

    @cuda.jit(launch_bounds=(32 * FEW_WARPS, 4))
    def nothing(x: cuda.Array) -> None:
        x[0] = 0

    (compiled,) = nothing.specialize(np.empty(1, np.float32)).overloads.values()
    clusters = compiled.max_active_clusters(blocks, 32 * FEW_WARPS, SHARED // here)
    return clusters * blocks / (device.MULTIPROCESSOR_COUNT * here)


def reader(rows: int, chunks: int, width: int, held: int, most_warps: int, resident: int):
    """(how full the rounds of a warp are, its chunks of a thread, blocks, warps, resident) of rows that
    are only read."""
    most = held // width
    in_all = max(1, -(-chunks // (32 * most)))
    blocks = 1
    while in_all > blocks * most_warps and rows * blocks < FEW and blocks < MOST_BLOCKS:
        blocks *= 2  # of few long rows each has several
    warps = min(most_warps, -(-in_all // blocks))
    share = max(1, -(-chunks // (warps * blocks)))
    most = min(most, -(-share // 32))
    return share / (32 * most * -(-share // (32 * most))), most, blocks, warps, resident


at_once: dict = {}  # clusters


def staying(kernel, args, blocks: int, block: int, dynamic: int, here: int) -> int:
    """How many clusters stay. All must run at once, or the last ones begin when the others have
    ended. Of single blocks that are `here` for each multiprocessor."""
    if blocks == 1:
        return here * cuda.get_current_device().MULTIPROCESSOR_COUNT
    key = kernel, blocks, block, dynamic
    if key not in at_once:
        (compiled,) = kernel.specialize(*args).overloads.values()
        at_once[key] = max(1, compiled.max_active_clusters(blocks, block, dynamic))
    return at_once[key]


def main() -> int:
    print(f"forms of bfloat16 on {cuda.get_current_device().name}")
    for columns in (5001, 20003, 50257, 100003, 150001, 200003, 250001, 262144):
        for name in ("softmax", "layer_norm", "rms_norm"):
            (_, share, warps, blocks, *_, stages, _, resident), dynamic = form_of(name, 1000, columns, 2)
            print(f"{columns:6} {name:10} {blocks:2} blocks of {warps:2} warps of {share:3} chunks, {max(1, resident // (32 * warps))} here, {stages} stages, {dynamic >> 10:3} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
