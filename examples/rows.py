"""Softmax, layer norm, RMS norm and cross entropy of long rows, float32 or bfloat16, read once, for
GPUs of compute capability 9.0 and later.

A row is held in registers: by a warp if it is short, else by a block, or by a cluster of blocks. Each warp has
a piece of the row and reduces it by itself; one exchange through shared memory, and one of the cluster, join
the pieces. Where a row is long, or its weights are, the blocks stay and take row after row: each warp has the
next rows' pieces copied to its shared memory while it computes one, and the weights stay there. For layer
norm and softmax it may tell the others of the next row before it waits for what they found of this one. Cross entropy needs
nothing of a row twice, so that threads go over it in pieces of any number. rows_forms.py says what has a row of
which length.

All accesses are of 16 bytes, or of 8 if these divide short rows of bfloat16 and their weights. A row whose
length is no multiple of them begins anywhere. Its elements in front of the first multiple, and those behind the
last, are read and written one by one, each by a thread of its own. What is copied ahead is cut at multiples of
128 bytes in memory, so that copies and stores are of whole lines.
"""

import functools
import math
import sys
import warnings

import numpy as np
import pyptx
import rows_forms
from pyptx import bfloat16, cuda, float32, int32, int64, uint32
from pyptx.cuda import libdevice
from rows_forms import ROWS

DIRECT = 64  # warps of a cluster: at most so many tell each other at once what they have found
LANES = 0xFFFFFFFF
LOG2_E = float32(math.log2(math.e))
HALVES = (16, 8, 4, 2, 1)


def each(f, values):
    """The tuple of f(v) for v in values."""
    if len(values) == 1:
        return (f(values[0]),)
    half = len(values) // 2
    return (*each(f, values[:half]), *each(f, values[half:]))


def joined(op, values):
    """`op` over a tuple, as a tree."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return op(joined(op, values[:half]), joined(op, values[half:]))


def over(op, chunks):
    """`op` over the elements of all chunks."""
    return joined(op, each(lambda chunk: joined(op, chunk), chunks))


def sum_of_squares(values):
    total = values[0] * values[0]
    for v in values[1:]:
        total = cuda.fma(v, v, total)
    return total


def float32s(values):
    return each(lambda v: float32(v), values)


def add(a, b):
    return a + b


def quotient(a, b):
    """a / b within 2 units in the last place, in two instructions."""
    return libdevice.fast_fdividef(a, b)


def larger(a, b):
    return libdevice.fmaxf(a, b)


def finite(largest):
    """What is subtracted from elements times LOG2_E before exp2: the largest of them, but 0 where all
    are -inf."""
    return largest if largest > -math.inf else float32(0)


def power(v, base):
    """exp(v) / 2**base, by one addition and multiplication in one."""
    return math.exp2(cuda.fma(v, LOG2_E, -base))


def lanes(op, value, distances):
    """`op` over the values of lanes at these distances."""
    for distance in distances:
        value = op(value, cuda.shfl_xor_sync(LANES, value, distance))
    return value


@functools.cache
def kernels(width: int, share: int, warps: int, blocks: int, exact: bool, odd: bool, unit: int, ahead: bool, stages: int, kept: bool, resident: int):
    """The four kernels, of rows that `blocks` blocks of `warps` warps have, each `share` chunks of `width`
    elements, one access each. exact: there are no fewer. odd: rows begin anywhere, else at multiples of an
    access. unit: warps' pieces begin at multiples of so many elements. ahead: warps tell what they found of the
    next row before they hear what others found of this one. stages: rows that are on the way to shared memory;
    kept: the weights are there; resident: threads of a multiprocessor."""
    steps = (share + 31) // 32  # chunks that a thread holds
    together = ROWS if warps == 1 and not kept else 1  # rows of a block
    piece = share * width
    length = warps * piece
    margin = 0 if exact else unit  # of weights, in front of those of the block's first chunk
    of_weights = length + margin + width * odd
    kept_chunks = of_weights // width
    places = 4 if ahead else 2  # for what is told of rows: blocks may be a row apart either way
    once = odd and not ahead and blocks > 4 and (stages > 1 and steps < 8 or width == 8 and (stages > 1 or warps <= 8 and resident >= 64 * warps))  # one pass for layer norm's moments
    direct = 1 < blocks and warps * blocks <= DIRECT  # each warp tells all blocks what it has found
    told = warps * blocks if direct else warps + blocks
    in_chunk, chunk_numbers = tuple(range(width)), tuple(range(steps))
    span, block_span = 1 << (warps - 1).bit_length(), 1 << (blocks - 1).bit_length()
    of_warps, of_blocks = (tuple(d for d in HALVES if d < n) for n in (warps, blocks))
    block = 32 * warps * together
    bounds = (block, resident // block)

    def get(a, index):
        return (*cuda.vector.load(a, index, width),)

    def number_of_warp():
        """In the block: the same in all lanes, and at most 31, as the code says."""
        return cuda.shfl_sync(LANES, int32(cuda.threadIdx.x // 32), 0) & 31

    def rows_of(warp):
        """The first row of this warp, and how many rows further the next one is."""
        group, groups = int32(cuda.blockIdx.x), int32(cuda.gridDim.x)
        return (max(int32(0), group * together + warp), groups * together) if together > 1 else (group // blocks, groups // blocks)

    def number_in_row(warp):
        """Of this warp among those that have the row."""
        return 0 if warps * blocks == 1 else cuda.cg.this_cluster().block_rank() * warps + warp if blocks > 1 else warp

    def part(x, row, warp):
        """Of this warp: its first element in chunks, how many chunks it has, how many elements that are
        in none; of this thread: which one of these it has, or -1."""
        number, lane = number_in_row(warp), cuda.threadIdx.x % 32
        columns = x.shape[1]
        if exact:
            return number * piece, share, 0, -1
        before = min(-(row * columns) % unit, columns) if odd else 0
        chunks = max(0, columns - before) // unit * (unit // width)
        behind = columns - before - chunks * width
        own = (chunks + 8 * warps * blocks - 1) // (8 * warps * blocks) * 8  # whole lines of 128 bytes
        n = max(0, min(own, chunks - number * own))
        single = lane if lane < before else columns - behind - before + lane if lane < before + behind else -1
        return before + number * own * width, n, before + behind if number == 0 else 0, single if number == 0 else -1

    def first_of(x, row, warp):
        """The column where this warp's piece of the row begins. In memory it begins at a multiple of `unit`, the
        row's first piece at the last one of these up to the row."""
        return int32(number_in_row(warp) * piece - (0 if exact else row * x.shape[1] % unit))

    def has_all(x, first):
        """Does all of this warp's piece lie in the row?"""
        return exact or first >= 0 and first + piece <= x.shape[1]

    def has(k):
        """Has this thread a chunk k in the piece?"""
        return 32 * (k + 1) <= share or cuda.threadIdx.x % 32 + 32 * k < share

    def has_in_row(x, first, k):
        """And does all of it lie in the row?"""
        return has(k) and column_of(first, k) >= 0 and column_of(first, k) + width <= x.shape[1]

    def column_of(first, k):
        return first + (cuda.threadIdx.x % 32 + 32 * k) * width

    def begin(x, row, warp, ring, arrived, k):
        """Begins to copy this warp's piece to place k of the ring, with what the last chunks have behind the
        row and the first in front of it."""
        begins, count = int64(row) * x.shape[1] // unit * unit + number_in_row(warp) * piece, piece
        first = first_of(x, row, warp)
        if not has_all(x, first):
            count = max(0, min(piece, (x.shape[1] - first + width - 1) // width * width))
            if odd:
                count = int32(max(0, min(int64(count), x.size // width * width - begins)))
        if exact or count > 0:
            at = uint32((k * warps + warp) * piece)
            cuda.mbarrier_arrive_expect_tx(arrived, k * warps + warp, count * x.itemsize)
            cuda.cp_async_bulk(ring[at : at + count], x.reshape(x.size)[begins : begins + count], arrived, k * warps + warp)
        else:
            cuda.mbarrier_arrive(arrived, k * warps + warp)

    def prepare(x, warp, ring, arrived, met):
        """Begins to copy the first rows."""
        row, stride = rows_of(warp)
        if stages:
            if cuda.threadIdx.x % 32 == 0:
                for turn in range(stages):
                    cuda.mbarrier_init(arrived, turn * warps + warp, 1)
                cuda.fence_mbarrier_init()
                for turn in range(stages):
                    if row + turn * stride < x.shape[0]:
                        begin(x, row + turn * stride, warp, ring, arrived, turn)
            cuda.syncwarp()
        if blocks > 1:
            if cuda.threadIdx.x == 0:
                for turn in range(places):
                    cuda.mbarrier_init(met, turn, 1)
                cuda.fence_mbarrier_init()
            cuda.syncthreads()
            cuda.cg.this_cluster().barrier_arrive()

    def take_here(x, row, warp, fill, _ring, _arrived, _turn):
        """This thread's chunks of a row that is read where it is, and its element outside of chunks; what it has not
        is `fill`."""
        first, n, _, _ = part(x, row, warp)
        single = take_single(x, row, warp, fill)

        def chunk_or_fill(k):
            i = cuda.threadIdx.x % 32 + 32 * k
            return float32s(get(x, (row, first + i * width))) if exact or i < n else each(lambda e: float32(fill), in_chunk)

        return each(chunk_or_fill, chunk_numbers), single

    def take_copy(x, row, warp, fill, ring, arrived, turn):
        """The same of one that has been copied to the ring, as words of 32 bits, and this thread's element outside of
        chunks."""
        first, lane, place = first_of(x, row, warp), cuda.threadIdx.x % 32, turn % stages * warps + warp
        words = cuda.shared.array(0, uint32, alignment=128)  # the ring
        cuda.mbarrier_wait_parity(arrived, place, turn // stages % 2)

        def chunks_where(is_there):
            def chunk_or_fill(k):
                return (*cuda.vector.load(words, uint32(4 * (place * share + lane + 32 * k)), 4),) if is_there(k) else each(lambda e: filling(fill), (0, 1, 2, 3))

            return each(chunk_or_fill, chunk_numbers)

        if has_all(x, first):
            return chunks_where(has), x.dtype.type(fill)
        chunks, column = chunks_where(lambda k: has_in_row(x, first, k)), single_column(x, row, first)
        if column < 0:
            return chunks, x.dtype.type(fill)
        copied = int64(row) * x.shape[1] + column < x.size // width * width
        return chunks, ring[place * piece + column - first] if copied else x[row, column]

    def filling(fill):
        """The word of elements that are 0 or -inf."""
        return uint32(0 if fill == 0 else 0xFF800000 if width == 4 else 0xFF80FF80)

    def of_word(word):
        """Its elements."""
        if width == 4:
            return (libdevice.uint_as_float(word),)
        return libdevice.uint_as_float(uint32(word << 16)), libdevice.uint_as_float(uint32(word & 0xFFFF0000))

    def of_words(chunk):
        """The elements of a chunk that is held as words."""
        a, b, c, d = each(of_word, chunk)
        return (*a, *b, *c, *d)

    elements, take_row = (of_words, take_copy) if stages else (lambda chunk: chunk, take_here)

    def all_elements(chunks, single):
        return (*each(elements, chunks), (float32(single),)) if odd else each(elements, chunks)

    def single_column(x, row, first):
        """Of this thread's element that lies in front of the row's whole chunks or behind them; -1: it has none."""
        if has_all(x, first) or not odd:
            return -1
        lane, columns = cuda.threadIdx.x % 32, x.shape[1]
        before = min(-(row * columns) % width, columns)
        behind = (columns - before) % width
        column = lane if lane < before else columns - behind - before + lane if lane < before + behind else -1
        return column if column >= first and column < first + piece else -1

    def take_single(x, row, warp, fill):
        """This thread's element outside of chunks: as it is, since to convert it would be to wait for it."""
        if odd:
            _, _, _, single = part(x, row, warp)
            if single >= 0:
                return x[row, single]
        return x.dtype.type(fill)

    def begin_rows(x, warp):
        """Begins to copy the first rows; where they come, and what tells so, and the same of what warps find."""
        ring, arrived = cuda.shared.array(0, x.dtype, alignment=128), cuda.shared.array(max(stages, 1) * warps, cuda.mbarrier)
        found = cuda.shared.array((places, told, 4), float32, alignment=16)
        met = cuda.shared.array(places, cuda.mbarrier)
        prepare(x, warp, ring, arrived, met)
        return ring, arrived, found, met

    def refill(x, row, warp, ring, arrived, turn):
        """Begins to copy the row that comes where this one was, which all lanes have read."""
        following = row + stages * rows_of(warp)[1]
        cuda.syncwarp()
        if cuda.elect_sync(LANES) and following < x.shape[0]:
            begin(x, following, warp, ring, arrived, turn % stages)

    def meet():
        """Waits until all blocks of the cluster have begun."""
        if blocks > 1:
            cuda.cg.this_cluster().barrier_wait()

    def for_rows(x, warp, fill, find, combine, neutral, finish, weights=()):
        """finish(row, held, single, what `combine` makes of all that warps have found, weights) of each row of this
        group: (held, what a warp has found) is find(row, its chunks, single), single its element outside of them."""
        ring, arrived, found, met = begin_rows(x, warp)
        row, stride = rows_of(warp)
        near = keep(weights, x)
        meet()
        turn = int32(0)
        while row < x.shape[0]:
            values, single = take_row(x, row, warp, fill, ring, arrived, turn)
            if stages:
                refill(x, row, warp, ring, arrived, turn)
            held, of_warp = find(row, values, single)
            tell(found[turn % places], met, turn, combine, neutral, of_warp)
            finish(row, held, single, hear(found[turn % places], met, turn, combine, neutral, of_warp), near)
            row = max(int32(0), int32(row + stride)) if stages else int32(x.shape[0])  # else each group has one
            turn = int32(turn + 1)

    def for_rows_ahead(x, warp, fill, find, combine, neutral, finish, weights):
        """The same, where warps tell what they found of the next row before they hear of this one."""
        ring, arrived, found, met = begin_rows(x, warp)
        row, stride = rows_of(warp)
        near = keep(weights, x)
        meet()

        def start(row, turn):
            values, single = take_copy(x, row, warp, fill, ring, arrived, turn)
            refill(x, row, warp, ring, arrived, turn)
            held, of_warp = find(row, values, single)
            tell(found[turn % places], met, turn, combine, neutral, of_warp)
            return held, single, of_warp

        if row < x.shape[0]:
            turn = int32(0)
            held, single, of_warp = start(row, turn)
            while row < x.shape[0]:
                following = max(int32(0), int32(row + stride))
                next_held, next_single, next_of_warp = held, single, of_warp
                if following < x.shape[0]:
                    next_held, next_single, next_of_warp = start(following, int32(turn + 1))
                finish(row, held, single, hear(found[turn % places], met, turn, combine, neutral, of_warp), near)
                held, single, of_warp = next_held, next_single, next_of_warp
                row, turn = following, int32(turn + 1)

    def tell(found, met, turn, combine, neutral, values):
        """Tells all warps that have the row what this one has found, or its block."""
        if warps * blocks == 1:
            return
        lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
        # stores to other blocks arrive at an mbarrier: sync() would wait for those of the row before, too
        if direct:
            if cuda.threadIdx.x == 0:
                cuda.mbarrier_arrive_expect_tx(met, turn % places, 16 * warps * blocks)
            if lane < blocks:
                cuda.st_async(found, (number_in_row(warp), 0), values, met, turn % places, lane)
            return
        if lane == 0:
            cuda.vector.store(found, (warp, 0), values)
        cuda.syncthreads()
        if blocks > 1 and warp == 0:
            of_block = of_warps_of(found, combine, neutral)
            if lane == 0:
                cuda.mbarrier_arrive_expect_tx(met, turn % places, 16 * blocks)
            if lane < blocks:
                cuda.st_async(found, (warps + cuda.cg.this_cluster().block_rank(), 0), of_block, met, turn % places, lane)

    def hear(found, met, turn, combine, neutral, values):
        """What combine(values, distances of lanes, whether these are all) makes of those of all warps that have
        the row."""
        if warps * blocks == 1:
            return values
        if blocks == 1:
            return of_warps_of(found, combine, neutral)
        lane = cuda.threadIdx.x % 32
        cuda.mbarrier_wait_parity(met, turn % places, turn // places % 2)
        if not direct:
            return combine((get4(found, warps + lane % block_span) if lane % block_span < blocks else neutral,), of_blocks, True)
        first = get4(found, lane) if lane < warps * blocks else neutral
        if warps * blocks <= 32:
            return combine((first,), HALVES, True)
        return combine((first, get4(found, lane + 32) if lane + 32 < warps * blocks else neutral), HALVES, True)

    def of_warps_of(found, combine, neutral):
        """What combine makes of what the block's warps have found."""
        other = cuda.threadIdx.x % 32 % span
        return combine((get4(found, other) if other < warps else neutral,), of_warps, blocks == 1)

    def get4(found, k):
        return (*cuda.vector.load(found, (k, 0), 4),)

    def chunks_of(values):
        return values[:steps]

    def store(out, x, row, warp, chunk, single_value, near=False):
        """Chunk k of this thread is chunk(k); single_value(its column): the element outside. near: from one address."""
        if not stages:
            first, n, _, single = part(x, row, warp)
            store_where(out, row, first, chunk, near, lambda k: exact or cuda.threadIdx.x % 32 + 32 * k < n)
            if odd and single >= 0:
                out[row, single] = single_value(single)
            return
        first = first_of(x, row, warp)
        if has_all(x, first):
            store_where(out, row, first, chunk, near, has)
        else:
            store_where(out, row, first, chunk, near, lambda k: has_in_row(x, first, k))
            column = single_column(x, row, first)
            if odd and column >= 0:
                out[row, column] = single_value(column)

    def store_where(out, row, first, chunk, near, is_there):
        def one_or_none(k):
            if is_there(k):
                cuda.vector.store(out, (row, uint32(column_of(first, k)) if near else column_of(first, k)), chunk(k))
            return 0

        each(one_or_none, chunk_numbers)

    def first_kept():
        """The first column whose weights this block keeps."""
        return (int32(cuda.cg.this_cluster().block_rank()) if blocks > 1 else int32(0)) * length - margin

    def keep(weights, x):
        """The weights; if they are kept, those of this block's columns in shared memory, in chunks, one array behind
        the other. Of odd rows, which begin anywhere in a chunk: all chunks' first elements, of all arrays, then all
        second ones, and so on. So lanes, which have neighbouring chunks, read neighbours."""
        if not kept:
            return weights
        begins = first_kept()
        memory = cuda.shared.array(0, x.dtype, alignment=128)[stages * warps * piece :][: len(weights) * of_weights]
        memory = memory.reshape(of_weights, len(weights)) if odd else memory.reshape(len(weights) * kept_chunks, width)
        per_thread = tuple(range(((margin + length) // width + block - 1) // block))

        def column_of(k):
            return begins + (int32(cuda.threadIdx.x) + k * block) * width

        def is_there(k):
            return 0 <= column_of(k) and column_of(k) + width <= min(x.shape[1], begins + margin + length)

        def read(k):
            return each(lambda w: get(w, column_of(k)), weights) if is_there(k) else each(lambda w: each(lambda e: x.dtype.type(0), in_chunk), weights)

        values = each(read, per_thread)

        def write(k):
            if is_there(k):
                parts = turned(values[k])
                for i in tuple(range(len(parts))):
                    put(memory, uint32(i * kept_chunks + k * block + cuda.threadIdx.x), parts[i])
            return 0

        each(write, per_thread)
        column = x.shape[1] // width * width + int32(cuda.threadIdx.x)
        if odd and column < x.shape[1] and begins <= column and column < begins + margin + length:
            put(memory, place_of(column - begins), each(lambda w: w[column], weights))
        cuda.syncthreads()
        return each(lambda w: memory, weights)

    def put(memory, place, values):
        if len(values) == 1:
            memory[place, 0] = values[0]
        else:
            cuda.vector.store(memory, (place, 0), values)

    def kept_at(weights, place):
        if odd and len(weights) == 1:
            return (float32(weights[0][place, 0]),)
        return float32s((*cuda.vector.load(weights[0], (place, 0), len(weights) if odd else width),))

    def place_of(column):
        """Where the weights of odd rows have the block's column."""
        return uint32(uint32(column) % width * kept_chunks + uint32(column) // width)

    def turned(parts):
        """A chunk of weights of odd rows: all elements of each array → all arrays for each element; and back."""
        if odd:
            return each(lambda i: each(lambda part: part[i], parts), tuple(range(len(parts[0]))))
        return parts

    def weights_of(weights, x, row, warp):
        """The function that gives those of this thread's chunk k, a tuple for each array."""
        lane = cuda.threadIdx.x % 32
        if not kept:
            first, _, _, _ = part(x, row, warp)
            return lambda k: each(lambda w: float32s(get(w, first + (lane + 32 * k) * width if exact else min(first + (lane + 32 * k) * width, x.shape[1] - width))), weights)
        begins = uint32(0 if exact else margin - row * x.shape[1] % unit)  # the row's first chunk in what is kept
        place = uint32(warp * share + lane + place_of(begins))

        def place_of_part(i):
            return uint32(place + (i * kept_chunks if not odd or begins % width + i < width else (i - width) * kept_chunks + 1))

        places = each(place_of_part, in_chunk if odd else tuple(range(len(weights))))
        return lambda k: turned(each(lambda at: kept_at(weights, uint32(at + 32 * k)), places))

    take_rows = for_rows_ahead if ahead else for_rows
    nothing = (float32(-math.inf), float32(0), float32(0), float32(0))
    zeros = (float32(0), float32(0), float32(0), float32(0))

    def combine_powers(parts, distances, _):
        largest = lanes(larger, joined(larger, each(lambda part: part[0], parts)), distances)
        base = finite(largest)
        total = lanes(add, joined(add, each(lambda part: part[1] * math.exp2(part[0] - base), parts)), distances)
        return largest, total, float32(0), float32(0)

    @cuda.jit(fastmath={"func", "ftz"}, launch_bounds=bounds)
    def softmax(x: cuda.Array, out: cuda.Array) -> None:
        warp = number_of_warp()

        def powers_of(row, chunks, single):
            """The elements' powers, which are exp(v) / 2**base, and the base, of each thread its own; the largest of
            the warp's, and the sum of its exp(v), over 2**that."""
            values = all_elements(chunks, single)
            own = over(larger, values) * LOG2_E
            base = finite(own)
            powers = each(lambda chunk: each(lambda v: power(v, base), chunk), values)
            return (powers, own), combine_powers(((own, over(add, powers)),), HALVES, False)

        def finish(row, held, single, result, _):
            powers, own = held
            scale = math.exp2(own - finite(result[0])) / result[1]

            def scaled(v):
                return out.dtype.type(v * scale)

            store(out, x, row, warp, lambda k: each(scaled, chunks_of(powers)[k]), lambda column: scaled(powers[-1][0]))

        take_rows(x, warp, -math.inf, powers_of, combine_powers, nothing, finish, ())

    @cuda.jit(fastmath={"func", "ftz"}, launch_bounds=bounds)
    def cross_entropy(x: cuda.Array, labels: cuda.Array, out: cuda.Array) -> None:
        """out[r] = log of the sum of exp(x[r]), less x[r, labels[r]]"""
        found, met = cuda.shared.array((told, 4), float32, alignment=16), cuda.shared.array(places, cuda.mbarrier)
        warp, lane = number_of_warp(), cuda.threadIdx.x % 32
        prepare(x, warp, found, met, met)
        row, _ = rows_of(warp)
        first_warp = number_in_row(warp) == 0
        if row < x.shape[0]:
            label = labels[row] if first_warp and lane == 0 else int64(0)  # used later: its element waits for it
            first, n, _, _ = part(x, row, warp)
            largest = float32(take_single(x, row, warp, -math.inf)) * LOG2_E
            total = float32(0) if largest == -math.inf else float32(1)

            def with_chunks(largest, total, at, n):
                """With those of this thread from chunk `at` of the warp on, of n. Where it has none, it takes
                the last one again, whose powers are made 0 by another base."""

                def chunk(k):
                    i = at + 32 * k
                    return float32s(get(x, (row, first + (i if n is None else min(i, n - 1)) * width)))

                values = each(chunk, chunk_numbers)
                largest_now = larger(largest, over(larger, values) * LOG2_E)
                base = finite(largest_now)

                def total_of(k):
                    own = base if n is None or at + 32 * k < n else float32(math.inf)
                    return joined(add, each(lambda v: power(v, own), values[k]))

                return largest_now, total * math.exp2(largest - base) + joined(add, each(total_of, chunk_numbers))

            whole = n // (32 * steps)
            for k in range(whole):
                largest, total = with_chunks(largest, total, lane + k * (32 * steps), None)
            if not exact and whole * (32 * steps) < n:
                largest, total = with_chunks(largest, total, lane + whole * (32 * steps), n)
            meet()
            values = combine_powers(((largest, total),), HALVES, False)
            tell(found, met, 0, combine_powers, nothing, values)
            largest, total, _, _ = hear(found, met, 0, combine_powers, nothing, values)
            if first_warp and lane == 0:
                out[row] = math.log(total) + (finite(largest) / LOG2_E - float32(x[row, label]))

    def combine_moments(parts, distances, columns):
        """columns: of the row, if these are all."""
        count = lanes(add, joined(add, each(lambda part: part[0], parts)), distances) if columns is None else float32(columns)
        total = lanes(add, joined(add, each(lambda part: part[0] * part[1], parts)), distances)
        mean = quotient(total, max(count, float32(1)))

        def about_mean(part):
            far = part[1] - mean
            return part[2] + part[0] * far * far

        return count, mean, lanes(add, joined(add, each(about_mean, parts)), distances), float32(0)

    if ahead:

        def described(chunk):
            """A chunk's mean and the sum of the squares of what differs from it: fewer registers than its elements."""
            v = elements(chunk)
            mean = joined(add, v) * float32(1 / width)
            return mean, sum_of_squares(each(lambda e: e - mean, v))

        def sum_of(of_chunk):
            return of_chunk[0] * float32(width)

        def squares_of(of_chunk, mean):
            """The sum of the squares of what differs from another mean."""
            far = of_chunk[0] - mean
            return cuda.fma(far * far, float32(width), of_chunk[1])

    else:
        described = elements

        def sum_of(of_chunk):
            return joined(add, of_chunk)

        def squares_of(of_chunk, mean):
            return sum_of_squares(each(lambda e: e - mean, of_chunk))

    def moments_at_once(x, row, first, held, values, single):
        """The mean of what this warp has, `held` elements, and the sum of the squares of what differs from it."""
        mean = quotient(lanes(add, over(add, all_elements(values, single)), HALVES), max(held, float32(1)))
        squares = lanes(add, joined(add, each(sum_of_squares, all_elements(values, single))), HALVES)
        if squares - held * mean * mean >= squares / 4:
            return mean, squares - held * mean * mean

        def squares_of(k):  # of elements read anew: those that are held would stay in registers as float32 for this
            return sum_of_squares(each(lambda e: float32(e) - mean, get(x, (row, uint32(column_of(first, k)))))) if has_in_row(x, first, k) else float32(0)

        own = float32(single) - mean if single_column(x, row, first) >= 0 else float32(0)
        return mean, lanes(add, cuda.fma(own, own, joined(add, each(squares_of, chunk_numbers))), HALVES)

    @cuda.jit(launch_bounds=bounds)
    def layer_norm(x: cuda.Array, weight: cuda.Array, bias: cuda.Array, out: cuda.Array, eps: float) -> None:
        warp = number_of_warp()

        def moments(row, values, single):
            """How many elements this warp has, their mean, and the sum of the squares of what differs from it."""
            if stages:
                first, n = first_of(x, row, warp), int32(0)
                held = float32(max(0, min(x.shape[1], first + piece) - max(0, first)))
            else:
                first, n, _, _ = part(x, row, warp)
                held = float32(n * width)

            if once:
                return values, (held, *moments_at_once(x, row, first, held, values, single), float32(0))
            of_chunks = each(described, values)
            total = joined(add, each(sum_of, of_chunks))
            mean = quotient(lanes(add, total + float32(single) if odd else total, HALVES), max(held, float32(1)))

            def is_whole(k):
                return has_in_row(x, first, k) if stages else exact or cuda.threadIdx.x % 32 + 32 * k < n

            def squares_where(is_there):
                return joined(add, each(lambda k: squares_of(of_chunks[k], mean) if is_there(k) else float32(0), chunk_numbers))

            total = squares_where(has) if stages and has_all(x, first) else squares_where(is_whole)
            if odd and single_column(x, row, first) >= 0:
                total += (float32(single) - mean) * (float32(single) - mean)
            return values, (held, mean, lanes(add, total, HALVES), float32(0))

        def combine(parts, distances, are_all):
            return combine_moments(parts, distances, x.shape[1] if are_all else None)

        def finish(row, values, single, result, weights):
            scale = libdevice.rsqrtf(quotient(result[2], float32(x.shape[1])) + float32(eps))
            shift = -result[1] * scale

            def scaled(v, w, b):
                return out.dtype.type(cuda.fma(cuda.fma(v, scale, shift), w, b))

            near = weights_of(weights, x, row, warp)

            def chunk(k):
                v, (w, b) = elements(values[k]), near(k)
                return each(lambda e: scaled(v[e], w[e], b[e]), in_chunk)

            near_store = once or not odd or resident > block
            store(out, x, row, warp, chunk, lambda column: scaled(float32(single), *kept_at(weights, place_of(column - first_kept()))), near_store)

        take_rows(x, warp, 0, moments, combine, zeros, finish, (weight, bias))

    def combine_sums(parts, distances, _):
        return lanes(add, joined(add, each(lambda part: part[0], parts)), distances), float32(0), float32(0), float32(0)

    @cuda.jit(launch_bounds=bounds)
    def rms_norm(x: cuda.Array, weight: cuda.Array, out: cuda.Array, eps: float) -> None:
        warp = number_of_warp()

        def squares(row, values, single):
            total = joined(add, each(lambda chunk: sum_of_squares(elements(chunk)), values))
            if odd:
                total += float32(single) * float32(single)
            return values, (lanes(add, total, HALVES), float32(0), float32(0), float32(0))

        def finish(row, values, single, result, weights):
            scale = libdevice.rsqrtf(quotient(result[0], float32(x.shape[1])) + float32(eps))
            near = weights_of(weights, x, row, warp)

            def scaled(v, w):
                return out.dtype.type(v * scale * w)

            def chunk(k):
                v, (w,) = elements(values[k]), near(k)
                return each(lambda e: scaled(v[e], w[e]), in_chunk)

            store(out, x, row, warp, chunk, lambda column: scaled(float32(single), *kept_at(weights, place_of(column - first_kept()))))

        take_rows(x, warp, 0, squares, combine_sums, zeros, finish, (weight,))

    return {"softmax": softmax, "cross_entropy": cross_entropy, "layer_norm": layer_norm, "rms_norm": rms_norm}


def launch(name: str, x, *others) -> None:
    """Runs the kernel of that name on all rows of x: softmax(x, out), cross_entropy(x, labels, out), layer_norm(x,
    weight, bias, out, eps), rms_norm(x, weight, out, eps). Arrays begin at multiples of 16 bytes."""
    if len(x) > 1 << 30:
        raise ValueError(f"{len(x)} rows: there may be 2**30")
    form, dynamic = rows_forms.form_of(name, *x.shape, x.dtype.itemsize)
    _, _, warps, blocks, _, odd, _, _, stages, kept, resident = form
    kernel, together = kernels(*form)[name], ROWS if warps == 1 and not kept else 1
    block = 32 * warps * together
    groups = -(-len(x) // together)
    if stages:
        here, narrow = resident // block, x.dtype.itemsize == 2
        # So many times the single blocks that run at once, so that they end together. Each reads its weights.
        times = 8 if narrow and here > 1 else 1 if narrow and odd and name == "layer_norm" else 4
        groups = min(groups, rows_forms.staying(kernel, (x, *others), blocks, block, dynamic, here * times))
    kernel.configure(groups * blocks, block, 0, dynamic, cluster=blocks)(x, *others)


def expected(x, weight, bias, labels, eps):
    """name → what the kernel computes of the rows, and a bound of its error, in float64."""
    n = x.shape[1]
    u = 2.0**-24  # half the distance of 1 to the next float32
    depth = n / 64 + 20  # additions on the way to a sum: those of a thread, and the tree of the threads
    shifted = x - x.max(1, keepdims=True)
    powers = np.exp(shifted)
    total = powers.sum(1, keepdims=True)
    # exp of a rounded difference, approximate within 2 units and one for each unit of its argument
    far = 4 * u * (np.abs(shifted).max(1, keepdims=True) + 2)
    soft = powers / total
    loss = np.log(total[:, 0]) - shifted[np.arange(len(x)), labels]
    mean = x.mean(1, keepdims=True)
    centred = x - mean
    deviation, root = (np.sqrt((v**2).mean(1, keepdims=True) + eps) for v in (centred, x))
    shift = u * depth * np.abs(x).mean(1, keepdims=True)  # the error of the mean
    layer = centred / deviation * weight + bias
    norm_error = np.abs(weight) * (shift + np.abs(centred) * (u * (depth + 8) + (shift / deviation) ** 2)) / deviation
    return {
        "softmax": (soft, soft * (3 * far + u * (depth + 8)) + 2.0**-126),  # subnormals are 0
        "cross_entropy": (loss, 2 * far[:, 0] + u * (depth + 8) * (1 + np.abs(loss) + np.abs(x).max(1))),
        "layer_norm": (layer, norm_error + 2 * u * (np.abs(layer) + np.abs(bias))),
        "rms_norm": (x / root * weight, np.abs(x / root * weight) * u * (depth + 8)),
    }


def widened(d):
    """A device array as float64; NumPy has no bfloat16."""
    wide = cuda.device_array(d.shape, dtype=np.float32)
    wide[:] = d
    return wide.copy_to_host().astype(np.float64)


def check(rows: int, columns: int, dtype, eps: float = 1e-5, names=("softmax", "cross_entropy", "layer_norm", "rms_norm")) -> float:
    """The largest error of these kernels, as a share of its bound."""
    rng = np.random.default_rng(columns)
    device = {}
    for key, shape in (("x", (rows, columns)), ("weight", columns), ("bias", columns)):
        device[key] = cuda.device_array(shape, dtype=dtype)
        device[key][:] = cuda.to_device((2 * rng.standard_normal(shape)).astype(np.float32))
    labels = rng.integers(0, columns, rows)
    exact = {key: widened(d) for key, d in device.items()}
    results = expected(**exact, labels=labels, eps=eps)
    share = 0.0
    for name in names:
        want, bound = results[name]
        out = cuda.device_array(want.shape, dtype=np.float32 if name == "cross_entropy" else dtype)
        more = {"softmax": (), "cross_entropy": (cuda.to_device(labels),), "layer_norm": (device["weight"], device["bias"]), "rms_norm": (device["weight"],)}[name]
        launch(name, device["x"], *more, out, *((eps,) if "norm" in name else ()))
        got = widened(out)
        if out.dtype != np.float32:  # rounded to 8 bits, or to the subnormals
            bound = bound * (1 + 2.0**-8) + 2.0**-8 * np.abs(want) + 2.0**-133
        share = max(share, float(np.max(np.abs(got - want) / bound)))
    return share


def main() -> int:
    device = cuda.get_current_device()
    if not device.is_host and device.compute_capability < (9, 0):
        print("bulk copies and clusters need compute capability 9.0")
        return 0
    print(f"softmax, layer norm, RMS norm and cross entropy on {device.name}")
    # A few of the numbers that a thread holds go through local memory, which costs nothing here.
    warnings.filterwarnings("ignore", "PT807", pyptx.Advice)
    shapes = [(1003, bfloat16), (5000, float32), (40000, float32)]
    if not device.is_host:
        shapes = [(n, d) for n in (1000, 1003, 4096, 5000, 16384, 40000, 50257, 65536, 262144) for d in (float32, bfloat16)]
    correct = True
    for columns, dtype in shapes:
        share = check(20 if device.is_host else 300, columns, dtype)  # blocks that stay take several
        print(f"rows of {columns} {dtype}: largest error {share:.3f} of the bound")
        correct &= share <= 1
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
