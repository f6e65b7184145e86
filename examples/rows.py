"""Softmax, layer norm, RMS norm and cross entropy of long rows, float32 or bfloat16, read once, for
GPUs of compute capability 9.0 and later.

A row is held in registers: by a warp if it is short, else by a block, or by a cluster of blocks.
Each warp has a piece of the row and reduces it by itself; one exchange through shared memory, and
one of the cluster, join the pieces. Where a row is long, or its weights are, the blocks stay and take
row after row: each warp has the next rows' pieces copied to its shared memory while it computes one,
and the weights stay there. Cross entropy needs nothing of a row twice, so that threads go over it in
pieces of any number.

All accesses are of 16 bytes. A row whose length is no multiple of them begins anywhere. Its elements
in front of the first multiple, and those behind the last, are read and written one by one, each by a
thread of its own. The first multiple is one of 32 bytes, a sector of memory, but for kernels that keep
weights. What is copied ahead begins at multiples of 128 bytes, which is faster.
"""

import functools
import math
import sys
import warnings

import numpy as np
import pyptx
from pyptx import bfloat16, cuda, float32, int32, int64
from pyptx.cuda import libdevice

ACCESS = 16  # bytes
LINE = 128  # bytes that a copy takes together
HELD = 32  # elements of a row that a thread holds at most; fewer where weights need room
MOST_WARPS = 16  # of a block, unless a row needs more
MOST_BLOCKS = 16  # of a cluster
RESIDENT = 1024  # threads of a multiprocessor: 64 registers each
# Where rows are only read, by bytes of an element: elements of a thread, warps of a block, threads of a
# multiprocessor; the first whose rounds are FULL.
READERS = {4: ((32, 16, 1024),), 2: ((32, 4, 1024), (16, 2, 2048))}
FULL = 0.8
NARROW, FEW_CHUNKS = (16, 1, 2048), 512  # the same of short rows of bfloat16 that no threads hold without a rest
AHEAD = 136 << 10  # bytes of shared memory of a multiprocessor for rows on the way
SHARED = 216 << 10  # the same for rows and weights: what the smallest GPUs of these have, less a rest
SHORT = 16 << 10  # bytes of weights that the first cache holds beside the rows
ROWS = 4  # of a block whose warps have a row each
FEW = 2048  # blocks: fewer do not fill a GPU for long
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


def map_chunks(f, chunks):
    return each(lambda chunk: each(f, chunk), chunks)


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
def kernels(width: int, steps: int, warps: int, blocks: int, exact: bool, multiple: int, stages: int, kept: bool, resident: int):
    """The four kernels, of rows that `blocks` blocks of `warps` warps have, whose threads hold `steps`
    chunks of `width` elements, one access each. exact: there are no fewer. multiple: rows begin
    anywhere, and their chunks at multiples of so many elements; 0: rows begin at multiples of an
    access. stages: rows that are on the way to shared memory; kept: the weights are there; resident:
    threads of a multiprocessor."""
    odd, unit = multiple > 0, multiple or width
    together = ROWS if warps == 1 and not kept else 1  # rows of a block
    piece = steps * 32 * width  # the most elements of a warp
    line = LINE // ACCESS * width
    room = piece if exact else piece + line  # of a warp's copy, with what lies in front of its piece
    length = warps * room
    in_chunk = tuple(range(width))
    chunk_numbers = tuple(range(steps))
    span = 1 << (warps - 1).bit_length()
    of_warps = tuple(d for d in HALVES if d < warps)
    of_blocks = tuple(d for d in HALVES if d < blocks)
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
        return (group * together + warp, groups * together) if together > 1 else (group // blocks, groups // blocks)

    def number_in_row(warp):
        """Of this warp among those that have the row."""
        return 0 if warps * blocks == 1 else cuda.cg.this_cluster().block_rank() * warps + warp if blocks > 1 else warp

    def part(x, row, warp):
        """Of this warp: its first element in chunks, how many chunks it has, how many elements that are
        in none; of this thread: which one of these it has, or -1."""
        number, lane = number_in_row(warp), cuda.threadIdx.x % 32
        columns = x.shape[1]
        if exact:
            return number * piece, steps * 32, 0, -1
        before = min(-(row * columns) % unit, columns) if odd else 0
        chunks = max(0, columns - before) // unit * (unit // width)
        behind = columns - before - chunks * width
        share = (chunks + 8 * warps * blocks - 1) // (8 * warps * blocks) * 8  # whole lines of 128 bytes
        n = max(0, min(share, chunks - number * share))
        single = lane if lane < before else columns - behind - before + lane if lane < before + behind else -1
        return before + number * share * width, n, before + behind if number == 0 else 0, single if number == 0 else -1

    def is_whole(n):
        """Has each thread of a warp with n chunks all of its own? Most warps of a cluster, which then ask
        only once."""
        return exact or blocks > 1 and n == steps * 32

    def skipped(x, row, first):
        """How many elements lie between the last multiple of LINE and this one of the row."""
        return 0 if exact else (row * x.shape[1] + first) % line

    def begin(x, row, warp, ring, arrived, k):
        """Begins to copy this warp's piece of the row, from a multiple of LINE on, to place k of the ring."""
        first, n, _, _ = part(x, row, warp)
        if n > 0:
            skip = skipped(x, row, first)
            count = skip + n * width
            at, begins = k * length + warp * room, int64(row) * x.shape[1] + first - skip
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
                cuda.mbarrier_init(met, 0, 1)
                cuda.mbarrier_init(met, 1, 1)
                cuda.fence_mbarrier_init()
            cuda.syncthreads()
            cuda.cg.this_cluster().barrier_arrive()

    def take(x, row, warp, fill, ring, arrived, turn):
        """This thread's chunks of the row; what it has not is `fill`."""
        first, n, _, _ = part(x, row, warp)
        lane = cuda.threadIdx.x % 32
        at = turn % max(stages, 1) * length + warp * room + skipped(x, row, first)
        if stages:
            cuda.mbarrier_wait_parity(arrived, turn % stages * warps + warp, turn // stages % 2)

        def chunk(k):
            i = lane + 32 * k
            return float32s(get(ring, at + i * width) if stages else get(x, (row, first + i * width)))

        def chunk_or_fill(k):
            return chunk(k) if lane + 32 * k < n else each(lambda e: float32(fill), in_chunk)

        if is_whole(n):
            return each(chunk, chunk_numbers)
        return each(chunk_or_fill, chunk_numbers)

    def take_single(x, row, warp, fill):
        """This thread's element outside of chunks: as it is, since to convert it would be to wait for it."""
        if odd and row < x.shape[0]:
            _, _, _, single = part(x, row, warp)
            if single >= 0:
                return x[row, single]
        return x.dtype.type(fill)

    def for_rows(x, warp, fill, find, finish):
        """finish(row, values, find(row, found, met, turn, values)) of each row of this group."""
        ring, arrived = cuda.shared.array(0, x.dtype, alignment=128), cuda.shared.array(max(stages, 1) * warps, cuda.mbarrier)
        found = cuda.shared.array((2, warps + blocks, 4), float32, alignment=16)
        met = cuda.shared.array(2, cuda.mbarrier)
        prepare(x, warp, ring, arrived, met)
        row, stride = rows_of(warp)
        turn = int32(0)
        single = take_single(x, row, warp, fill)
        while row < x.shape[0]:
            chunks = take(x, row, warp, fill, ring, arrived, turn)
            if stages:
                cuda.syncwarp()  # all lanes have theirs
                if cuda.elect_sync(LANES) and row + stages * stride < x.shape[0]:
                    begin(x, row + stages * stride, warp, ring, arrived, turn % stages)
            values = (*chunks, (float32(single),)) if odd else chunks
            single = take_single(x, row + stride, warp, fill)
            if blocks > 1 and turn == 0:  # all blocks of the cluster have begun
                cuda.cg.this_cluster().barrier_wait()
            finish(row, values, find(row, found[turn % 2], met, turn, values))
            row = int32(row + stride)
            turn = int32(turn + 1)

    def exchange(found, met, turn, combine, neutral, values):
        """What `combine` makes of the values of all warps that have the row."""
        if warps * blocks == 1:
            return values
        lane = cuda.threadIdx.x % 32
        if lane == 0:
            cuda.vector.store(found, (cuda.threadIdx.x // 32, 0), values)
        cuda.syncthreads()
        other = lane % span
        values = combine(get4(found, other) if other < warps else neutral, of_warps)
        if blocks == 1:
            return values
        # the stores arrive at an mbarrier: sync() would wait for those of the row before, too
        if cuda.threadIdx.x == 0:
            cuda.mbarrier_arrive_expect_tx(met, turn % 2, 16 * blocks)
        if cuda.threadIdx.x < blocks:
            cuda.st_async(found, (warps + cuda.cg.this_cluster().block_rank(), 0), values, met, turn % 2, cuda.threadIdx.x)
        cuda.mbarrier_wait_parity(met, turn % 2, turn // 2 % 2)
        return combine(get4(found, warps + lane % blocks), of_blocks)

    def get4(found, k):
        return (*cuda.vector.load(found, (k, 0), 4),)

    def chunks_of(values):
        return values[:steps]

    def single_of(values):
        return values[-1][0]

    def store(out, x, row, warp, chunk, single_value):
        """Chunk k of this thread is chunk(k); single_value(): the element outside of chunks."""
        first, n, _, single = part(x, row, warp)

        lane = cuda.threadIdx.x % 32

        def one(k):
            cuda.vector.store(out, (row, first + (lane + 32 * k) * width), chunk(k))
            return 0

        def one_or_none(k):
            return one(k) if lane + 32 * k < n else 0

        if is_whole(n):
            each(one, chunk_numbers)
        else:
            each(one_or_none, chunk_numbers)
        if odd and single >= 0:
            out[row, single] = single_value()

    def keep(weights, x, warp, number):
        """The weights; if they are kept, a copy of them in shared memory, of which each thread reads what
        it has written: its group's rows all begin at the same place between two multiples."""
        if kept:
            of_one = warps * piece + (32 * warps if odd else 0)
            copy = cuda.shared.array(0, x.dtype, alignment=128)[stages * length + number * of_one :]
            row, _ = rows_of(warp)
            first, n, _, single = part(x, row, warp)
            own = warp * piece
            for k in range(steps):
                i = cuda.threadIdx.x % 32 + 32 * k
                if exact or i < n:
                    if odd:
                        cuda.vector.store(copy, own + i * width, each(lambda e: weights[first + i * width + e], in_chunk))
                    else:
                        cuda.vector.store(copy, own + i * width, get(weights, first + i * width))
            if odd and single >= 0:
                copy[warps * piece + cuda.threadIdx.x] = weights[single]
            return copy
        return weights

    def weights_of(weights, x, row, warp, k):
        """Of chunk k of this thread."""
        first, _, _, _ = part(x, row, warp)
        i = cuda.threadIdx.x % 32 + 32 * k
        index = warp * piece + i * width if kept else first + i * width if exact else min(first + i * width, x.shape[1] - width)
        return float32s(get(weights, index))

    def weight_of(weights):
        """Of this thread's element outside of chunks."""
        return float32(weights[warps * piece + cuda.threadIdx.x])

    nothing = (float32(-math.inf), float32(0), float32(0), float32(0))
    zeros = (float32(0), float32(0), float32(0), float32(0))

    def combine_powers(part, distances):
        largest = lanes(larger, part[0], distances)
        total = lanes(add, part[1] * math.exp2(part[0] - finite(largest)), distances)
        return largest, total, float32(0), float32(0)

    def powers_of(row, found, met, turn, values):
        """The elements' powers, which are exp(v) / 2**base; 2**base, and the sum of exp(v) of the row,
        both over one power of 2. Each thread has a base of its own."""
        own = over(larger, values) * LOG2_E
        base = finite(own)
        powers = map_chunks(lambda v: power(v, base), values)
        of_warp = combine_powers((own, over(add, powers)), HALVES)
        largest, total, _, _ = exchange(found, met, turn, combine_powers, nothing, of_warp)
        return powers, math.exp2(own - finite(largest)), total

    @cuda.jit(fastmath={"func", "ftz"}, launch_bounds=bounds)
    def softmax(x: cuda.Array, out: cuda.Array) -> None:
        warp = number_of_warp()

        def finish(row, values, result):
            powers, share, total = result
            scale = share / total

            def scaled(v):
                return out.dtype.type(v * scale)

            store(out, x, row, warp, lambda k: each(scaled, chunks_of(powers)[k]), lambda: scaled(single_of(powers)))

        for_rows(x, warp, -math.inf, powers_of, finish)

    @cuda.jit(fastmath={"func", "ftz"}, launch_bounds=bounds)
    def cross_entropy(x: cuda.Array, labels: cuda.Array, out: cuda.Array) -> None:
        """out[r] = log of the sum of exp(x[r]), less x[r, labels[r]]"""
        found, met = cuda.shared.array((warps + blocks, 4), float32, alignment=16), cuda.shared.array(2, cuda.mbarrier)
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
            if blocks > 1:
                cuda.cg.this_cluster().barrier_wait()
            values = combine_powers((largest, total), HALVES)
            largest, total, _, _ = exchange(found, met, 0, combine_powers, nothing, values)
            if first_warp and lane == 0:
                out[row] = math.log(total) + (finite(largest) / LOG2_E - float32(x[row, label]))

    def combine_moments(part, distances):
        count = lanes(add, part[0], distances)
        mean = quotient(lanes(add, part[0] * part[1], distances), max(count, float32(1)))
        far = part[1] - mean
        return count, mean, lanes(add, part[2] + part[0] * far * far, distances), float32(0)

    @cuda.jit(launch_bounds=bounds)
    def layer_norm(x: cuda.Array, weight: cuda.Array, bias: cuda.Array, out: cuda.Array, eps: float) -> None:
        warp = number_of_warp()
        weights, biases = keep(weight, x, warp, 0), keep(bias, x, warp, 1)

        def moments(row, found, met, turn, values):
            """The row's mean, and the sum of the squares of what differs from it."""
            _, n, singles, single = part(x, row, warp)
            held = float32(n * width + singles)  # of this warp
            mean = quotient(lanes(add, over(add, values), HALVES), max(held, float32(1)))

            def square(v):
                return (v - mean) * (v - mean)

            def squares(k):
                return joined(add, each(square, chunks_of(values)[k]))

            def squares_or_none(k):
                return squares(k) if cuda.threadIdx.x % 32 + 32 * k < n else float32(0)

            total = joined(add, each(squares, chunk_numbers) if is_whole(n) else each(squares_or_none, chunk_numbers))
            if odd and single >= 0:
                total += square(single_of(values))
            total = lanes(add, total, HALVES)
            return exchange(found, met, turn, combine_moments, zeros, (held, mean, total, float32(0)))

        def finish(row, values, result):
            scale = libdevice.rsqrtf(quotient(result[2], float32(x.shape[1])) + float32(eps))
            shift = -result[1] * scale

            def scaled(v, w, b):
                return out.dtype.type(cuda.fma(cuda.fma(v, scale, shift), w, b))

            def chunk(k):
                v, w, b = chunks_of(values)[k], weights_of(weights, x, row, warp, k), weights_of(biases, x, row, warp, k)
                return each(lambda e: scaled(v[e], w[e], b[e]), in_chunk)

            store(out, x, row, warp, chunk, lambda: scaled(single_of(values), weight_of(weights), weight_of(biases)))

        for_rows(x, warp, 0, moments, finish)

    def combine_sums(part, distances):
        return lanes(add, part[0], distances), float32(0), float32(0), float32(0)

    @cuda.jit(launch_bounds=bounds)
    def rms_norm(x: cuda.Array, weight: cuda.Array, out: cuda.Array, eps: float) -> None:
        warp = number_of_warp()
        weights = keep(weight, x, warp, 0)

        def squares(row, found, met, turn, values):
            total = lanes(add, over(add, map_chunks(lambda v: v * v, values)), HALVES)
            return exchange(found, met, turn, combine_sums, zeros, (total, float32(0), float32(0), float32(0)))

        def finish(row, values, result):
            scale = libdevice.rsqrtf(quotient(result[0], float32(x.shape[1])) + float32(eps))

            def chunk(k):
                v, w = chunks_of(values)[k], weights_of(weights, x, row, warp, k)
                return each(lambda e: out.dtype.type(v[e] * scale * w[e]), in_chunk)

            store(out, x, row, warp, chunk, lambda: out.dtype.type(single_of(values) * scale * weight_of(weights)))

        for_rows(x, warp, 0, squares, finish)

    return {"softmax": softmax, "cross_entropy": cross_entropy, "layer_norm": layer_norm, "rms_norm": rms_norm}


def launch(name: str, x, *others) -> None:
    """Runs the kernel of that name on all rows of x: softmax(x, out), cross_entropy(x, labels, out),
    layer_norm(x, weight, bias, out, eps), rms_norm(x, weight, out, eps). Arrays begin at multiples of
    16 bytes."""
    if len(x) > 1 << 30:
        raise ValueError(f"{len(x)} rows: there may be 2**30")
    form, dynamic = form_of(name, *x.shape, x.dtype.itemsize)
    _, _, warps, blocks, _, multiple, stages, kept, resident = form
    kernel = kernels(*form)[name]
    together = ROWS if warps == 1 and not kept else 1
    block = 32 * warps * together
    groups = -(-len(x) // together)
    if stages:
        times = rounds(name, x.dtype.itemsize, multiple > 0, resident // block)
        groups = min(groups, staying(kernel, (x, *others), blocks, block, dynamic, resident // block * times))
        if kept and multiple and groups < len(x):
            groups = max(multiple, groups // multiple * multiple)
    kernel.configure(groups * blocks, block, 0, dynamic, cluster=blocks)(x, *others)


def form_of(name: str, rows: int, columns: int, size: int):
    """What `kernels` is called with, and the bytes of a block's dynamic shared memory."""
    width = ACCESS // size
    odd = columns % width > 0
    weights = {"layer_norm": 2, "rms_norm": 1}.get(name, 0)
    chunks = columns // width
    alone = chunks % 32 == 0 and chunks <= 32 * MOST_WARPS * (HELD // width)  # a block holds it as it is
    kept = weights > 0 and (odd or weights * columns * size > SHORT and not alone)
    if name == "cross_entropy":
        forms = [reader(rows, chunks, width, *each) for each in READERS[size]]
        _, most, blocks, warps, resident = next((form for form in forms if form[0] >= FULL), forms[0])
        if size == 2 and rows >= FEW and chunks <= FEW_CHUNKS and (odd or most * 32 * warps * blocks != chunks):
            _, most, blocks, warps, resident = reader(rows, chunks, width, *NARROW)
    else:
        resident = RESIDENT
        long = kept or chunks > 32 * MOST_WARPS * (HELD // width)
        most = (min(HELD, 64 // size) if long else HELD) // width  # chunks of a thread
        in_all = max(1, -(-chunks // (32 * most)))  # warps
        most_warps = 32 if (in_all <= 32 if kept else size == 4) else MOST_WARPS
        blocks = blocks_for(in_all, most_warps)
        largest = blocks_for(in_all, 32)
        if size == 2 and in_all >= 64 and in_all >= FULL * 32 * largest:
            blocks = largest  # few blocks of 32 warps, that fill a multiprocessor, exchange less
        elif blocks == 4 and size == 2 and not kept:
            blocks = 8  # which was 4 % faster
        if in_all > blocks * 32:
            raise ValueError(f"rows of {columns} elements do not fit a cluster of {MOST_BLOCKS} blocks")
        if size == 2 and odd and blocks > 1 and name != "layer_norm":  # what a warp does for each row is half as often
            most, resident = 2 * most, RESIDENT // 2
            in_all = -(-chunks // (32 * most))
        warps = min(32, -(-in_all // blocks))
    steps = min(most, max(1, -(-chunks // (32 * warps * blocks))))
    exact = not odd and steps * 32 * warps * blocks == chunks
    nbytes = (steps * 32 * ACCESS + (0 if exact else LINE)) * warps  # of a block
    stays = kept or blocks > 1 and name != "cross_entropy"
    of_weights = weights * kept * 32 * warps * (steps * ACCESS + size * odd)
    here = max(1, resident // (32 * warps))  # blocks of a multiprocessor
    stages = max(1, min(AHEAD // here, SHARED // here - of_weights) // nbytes) if stays else 0
    room = stages * nbytes + of_weights
    multiple = 0 if not odd else width if kept else 2 * width
    return (width, steps, warps, blocks, exact, multiple, stages, kept, resident), room


def blocks_for(in_all: int, most_warps: int) -> int:
    """Blocks of a cluster that has so many warps."""
    blocks = 1
    while in_all > blocks * most_warps and blocks < MOST_BLOCKS:
        blocks *= 2
    return blocks


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


def rounds(name: str, size: int, odd: bool, here: int) -> int:
    """How many times as many single blocks there are as run at once, `here` on a multiprocessor, so that
    they end together. Each reads its weights, those of odd rows one by one, while no others run there."""
    if size == 2 and here > 1:
        return 8
    return 1 if name == "layer_norm" and size == 2 and odd else 4


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
    deviation = np.sqrt((centred**2).mean(1, keepdims=True) + eps)
    root = np.sqrt((x**2).mean(1, keepdims=True) + eps)
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


def check(rows: int, columns: int, dtype, eps: float = 1e-5) -> float:
    """The largest error of the four, as a share of its bound."""
    rng = np.random.default_rng(columns)
    device = {}
    for key, shape in (("x", (rows, columns)), ("weight", columns), ("bias", columns)):
        device[key] = cuda.device_array(shape, dtype=dtype)
        device[key][:] = cuda.to_device((2 * rng.standard_normal(shape)).astype(np.float32))
    labels = rng.integers(0, columns, rows)
    exact = {key: widened(d) for key, d in device.items()}
    share = 0.0
    for name, (want, bound) in expected(**exact, labels=labels, eps=eps).items():
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
    on_host = ((1003, bfloat16), (5000, float32), (40000, float32))
    lengths = (1000, 1003, 4096, 5000, 16384, 40000, 65536, 262144)
    correct = True
    for columns, dtype in on_host if device.is_host else [(n, dtype) for n in lengths for dtype in (float32, bfloat16)]:
        share = check(20 if device.is_host else 300, columns, dtype)  # blocks that stay take several
        print(f"rows of {columns} {dtype}: largest error {share:.3f} of the bound")
        correct &= share <= 1
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
