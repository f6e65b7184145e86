"""Softmax, layer norm, RMS norm and cross entropy of long rows, float32 or bfloat16, read once, for
GPUs of compute capability 9.0 and later.

A row is held in registers: by a warp if it is short, else by a block, or by a cluster of blocks.
Each warp reduces its part of the row by itself; one exchange through shared memory, and one of the
cluster, join the parts. Of short rows each group of threads takes one. Where a row is long, or its
weights are, the blocks stay and take row after row: bulk copies bring the next ones to shared
memory while the threads compute one, and the weights stay there. Rows that are no multiples of 16
bytes are read by narrower accesses, without copies ahead.
"""

import functools
import math
import sys

import numpy as np
from pyptx import bfloat16, cuda, float32
from pyptx.cuda import libdevice

HELD = 32  # elements of a row that a thread holds at most; fewer where weights or addresses need room
RESIDENT = 1024  # threads of a multiprocessor: 64 registers each
MOST_BLOCKS = 16  # of a cluster
AHEAD = 128 << 10  # bytes of shared memory of a multiprocessor for rows on the way
SHORT = 16 << 10  # bytes of weights that the first cache holds beside the rows
ROWS = 4  # of a block whose warps have a row each
LANES = 0xFFFFFFFF
STORE_ASYNC = """{ .reg .b32 to, at;
mapa.shared::cluster.u32 to, %0, %2;
mapa.shared::cluster.u32 at, %1, %2;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [to], {%3, %4, %5, %6}, [at]; }"""
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


def add(a, b):
    return a + b


def larger(a, b):
    return libdevice.fmaxf(a, b)


def finite(largest):
    """What is subtracted from elements before exp: the largest, but 0 where all are -inf."""
    return largest if largest > -math.inf else float32(0)


def lanes(op, value, distances):
    """`op` over the values of lanes at these distances."""
    for distance in distances:
        value = op(value, cuda.shfl_xor_sync(LANES, value, distance))
    return value


@functools.cache
def kernels(width: int, steps: int, threads: int, blocks: int, exact: bool, stages: int, kept: bool, asynchronous: bool):
    """The four kernels, of rows that `blocks` blocks hold, whose `threads` threads have `steps`
    chunks of `width` elements, one access each; exact: there are no fewer. stages: rows that are on
    the way to shared memory; kept: the weights are there; asynchronous: st.async can be used."""
    alone = threads == 32
    group_threads = threads
    warps = threads // 32
    length = steps * threads * width  # of a block's part
    ring_length = stages * length
    in_chunk = tuple(range(width))
    chunk_numbers = tuple(range(steps))
    of_warps = tuple(d for d in HALVES if d < warps)
    of_blocks = tuple(d for d in HALVES if d < blocks)
    block = threads * ROWS if alone else threads
    bounds = (block, RESIDENT // block)

    def get(a, index):
        return (*cuda.vector.load(a, index, width),) if width > 1 else (a[index],)

    def put(a, index, values):
        if width > 1:
            cuda.vector.store(a, index, values)
        else:
            a[index] = values[0]

    def place(x):
        """Where this thread is: the first row of its group, how many rows further the next one is,
        the first element of its block's part of a row, the chunks of the part, its first chunk."""
        group, groups, rank, t = cuda.blockIdx.x, cuda.gridDim.x, 0, cuda.threadIdx.x
        if alone:
            group, groups, t = group * ROWS + t // 32, groups * ROWS, t % 32
        if blocks > 1:
            group, groups, rank = group // blocks, groups // blocks, cuda.cg.this_cluster().block_rank()
        n = x.shape[1] // width
        share = (n + blocks - 1) // blocks
        return group, groups, rank * share * width, min(share, n - rank * share), t

    def begin(x, row, first, n, ring, arrived, k):
        """Begins to copy this block's part of the row to place k of the ring."""
        cuda.mbarrier_arrive_expect_tx(arrived, k, n * width * x.itemsize)
        if n > 0:
            cuda.cp_async_bulk(ring[k * length : k * length + n * width], x[row, first : first + n * width], arrived, k)

    def prepare(x, ring, arrived, met):
        """Begins to copy the first rows."""
        row, stride, first, n, t = place(x)
        if stages:
            if t == 0:
                for turn in range(stages):
                    cuda.mbarrier_init(arrived, turn, 1)
                cuda.fence_mbarrier_init()
                for turn in range(stages):
                    if row + turn * stride < x.shape[0]:
                        begin(x, row + turn * stride, first, n, ring, arrived, turn)
            cuda.syncthreads()
        if blocks > 1:
            if asynchronous and cuda.threadIdx.x == 0:
                cuda.mbarrier_init(met, 0, 1)
                cuda.mbarrier_init(met, 1, 1)
                cuda.fence_mbarrier_init()
            cuda.syncthreads()
            cuda.cg.this_cluster().barrier_arrive()

    def take(x, row, fill, ring, arrived, turn):
        """This thread's chunks of the row, as float32; what it has not is `fill`."""
        _, _, first, n, t = place(x)
        if stages:
            cuda.mbarrier_wait_parity(arrived, turn % stages, turn // stages % 2)

        def chunk(k):
            i = t + k * group_threads
            if exact or i < n:
                return get(ring, turn % stages * length + i * width) if stages else get(x, (row, first + i * width))
            return each(lambda e: x.dtype.type(fill), in_chunk)

        return map_chunks(lambda v: float32(v), each(chunk, chunk_numbers))

    def for_rows(x, fill, find, finish):
        """finish(row, values, find(found, met, turn, values)) of each row of this group."""
        ring, arrived = cuda.shared.array(0, x.dtype, alignment=128), cuda.shared.array(max(stages, 1), cuda.mbarrier)
        found = cuda.shared.array((2, warps + blocks, 4), float32, alignment=16)
        met = cuda.shared.array(2, cuda.mbarrier)
        prepare(x, ring, arrived, met)
        row, stride, first, n, t = place(x)
        turn = 0
        while row < x.shape[0]:
            values = take(x, row, fill, ring, arrived, turn)
            if blocks > 1 and turn == 0:  # all blocks of the cluster have begun
                cuda.cg.this_cluster().barrier_wait()
            result = find(found[turn % 2], met, turn, values)
            if stages and t == 0 and row + stages * stride < x.shape[0]:  # all have taken theirs
                begin(x, row + stages * stride, first, n, ring, arrived, turn % stages)
            finish(row, values, result)
            row += stride
            turn += 1

    def exchange(found, met, turn, combine, values):
        """What `combine` makes of the values of all warps that have the row."""
        if alone:
            return values
        lane = cuda.threadIdx.x % 32
        if lane == 0:
            cuda.vector.store(found, (cuda.threadIdx.x // 32, 0), values)
        cuda.syncthreads()
        values = combine(cuda.vector.load(found, (lane % warps, 0), 4), of_warps)
        if blocks == 1:
            return values
        cluster = cuda.cg.this_cluster()
        if asynchronous:  # the stores arrive at an mbarrier: sync() would wait for those of the row before, too
            if cuda.threadIdx.x == 0:
                cuda.mbarrier_arrive_expect_tx(met, turn % 2, 16 * blocks)
            if cuda.threadIdx.x < blocks:
                place_of, a, b, c, d = found[warps + cluster.block_rank() :], *values
                cuda.inline_ptx(STORE_ASYNC, "r", place_of, "r", met[turn % 2 :], "r", cuda.threadIdx.x, "f", a, "f", b, "f", c, "f", d)
            cuda.mbarrier_wait_parity(met, turn % 2, turn // 2 % 2)
        else:
            if cuda.threadIdx.x < blocks:
                cuda.vector.store(cluster.map_shared_rank(found, cuda.threadIdx.x), (warps + cluster.block_rank(), 0), values)
            cluster.sync()
        return combine(cuda.vector.load(found, (warps + lane % blocks, 0), 4), of_blocks)

    def store(out, x, row, chunk):
        """Chunk k of this thread is chunk(k)."""
        _, _, first, n, t = place(x)

        def one(k):
            i = t + k * group_threads
            if exact or i < n:
                put(out, (row, first + i * width), chunk(k))
            return 0

        each(one, chunk_numbers)

    def keep(weights, x, number):
        """The weights; a copy of this block's part in shared memory, of which each thread reads what
        it has written, if they are kept."""
        if kept:
            copy = cuda.shared.array(0, x.dtype, alignment=128)[ring_length + number * length :]
            _, _, first, n, t = place(x)
            for k in range(steps):
                i = t + k * group_threads
                if exact or i < n:
                    put(copy, i * width, get(weights, first + i * width))
            return copy
        return weights

    def weights_of(weights, x, k):
        """Of chunk k of this thread."""
        _, _, first, n, t = place(x)
        i = t + k * group_threads
        index = i * width if kept else first + (i if exact else min(i, n - 1)) * width
        return each(lambda v: float32(v), get(weights, index))

    def combine_powers(part, distances):
        largest = lanes(larger, part[0], distances)
        total = lanes(add, part[1] * math.exp(part[0] - finite(largest)), distances)
        return largest, total, float32(0), float32(0)

    def powers_of(found, met, turn, values):
        """exp(v - base) of the elements, exp(base - largest), and of the row its largest element and
        the sum of exp(v - largest)."""
        largest = lanes(larger, over(larger, values), HALVES)
        base = finite(largest)
        powers = map_chunks(lambda v: math.exp(v - base), values)
        total = lanes(add, over(add, powers), HALVES)
        row = exchange(found, met, turn, combine_powers, (largest, total, float32(0), float32(0)))
        return powers, math.exp(base - finite(row[0])), finite(row[0]), row[1]

    @cuda.jit(fastmath={"func", "ftz"}, launch_bounds=bounds)
    def softmax(x: cuda.Array, out: cuda.Array) -> None:
        def finish(row, values, result):
            powers, share, largest, total = result
            scale = share / total
            store(out, x, row, lambda k: each(lambda v: out.dtype.type(v * scale), powers[k]))

        for_rows(x, -math.inf, powers_of, finish)

    @cuda.jit(fastmath={"func", "ftz"}, launch_bounds=bounds)
    def cross_entropy(x: cuda.Array, labels: cuda.Array, out: cuda.Array) -> None:
        """out[r] = log of the sum of exp(x[r]), less x[r, labels[r]]"""

        def finish(row, values, result):
            powers, share, largest, total = result
            _, _, first, n, t = place(x)
            if first == 0 and t == 0:
                out[row] = math.log(total) + (largest - float32(x[row, labels[row]]))

        for_rows(x, -math.inf, powers_of, finish)

    def combine_moments(part, distances):
        count = lanes(add, part[0], distances)
        mean = lanes(add, part[0] * part[1], distances) / max(count, float32(1))
        far = part[1] - mean
        return count, mean, lanes(add, part[2] + part[0] * far * far, distances), float32(0)

    @cuda.jit(launch_bounds=bounds)
    def layer_norm(x: cuda.Array, weight: cuda.Array, bias: cuda.Array, out: cuda.Array, eps: float) -> None:
        _, _, first, n, t = place(x)
        weights, biases, held = keep(weight, x, 0), keep(bias, x, 1), float32(0)
        for k in range(steps):
            held += float32(width) if exact or t + k * group_threads < n else float32(0)
        held = lanes(add, held, HALVES)  # of this warp

        def moments(found, met, turn, values):
            """The row's mean, and the sum of the squares of what differs from it."""
            mean = lanes(add, over(add, values), HALVES) / max(held, float32(1))

            def squares(k):
                square = joined(add, each(lambda v: (v - mean) * (v - mean), values[k]))
                return square if exact or t + k * group_threads < n else float32(0)

            total = lanes(add, joined(add, each(squares, chunk_numbers)), HALVES)
            return exchange(found, met, turn, combine_moments, (held, mean, total, float32(0)))

        def finish(row, values, result):
            mean, scale = result[1], 1 / math.sqrt(result[2] / float32(x.shape[1]) + float32(eps))

            def scaled(k):
                v, w, b = values[k], weights_of(weights, x, k), weights_of(biases, x, k)
                return each(lambda e: out.dtype.type((v[e] - mean) * scale * w[e] + b[e]), in_chunk)

            store(out, x, row, scaled)

        for_rows(x, 0, moments, finish)

    def combine_sums(part, distances):
        return lanes(add, part[0], distances), float32(0), float32(0), float32(0)

    @cuda.jit(launch_bounds=bounds)
    def rms_norm(x: cuda.Array, weight: cuda.Array, out: cuda.Array, eps: float) -> None:
        weights = keep(weight, x, 0)

        def squares(found, met, turn, values):
            total = lanes(add, over(add, map_chunks(lambda v: v * v, values)), HALVES)
            return exchange(found, met, turn, combine_sums, (total, float32(0), float32(0), float32(0)))

        def finish(row, values, result):
            scale = 1 / math.sqrt(result[0] / float32(x.shape[1]) + float32(eps))

            def scaled(k):
                v, w = values[k], weights_of(weights, x, k)
                return each(lambda e: out.dtype.type(v[e] * scale * w[e]), in_chunk)

            store(out, x, row, scaled)

        for_rows(x, 0, squares, finish)

    return {"softmax": softmax, "cross_entropy": cross_entropy, "layer_norm": layer_norm, "rms_norm": rms_norm}


def launch(name: str, x, *others) -> None:
    """Runs the kernel of that name on all rows of x: softmax(x, out), cross_entropy(x, labels, out),
    layer_norm(x, weight, bias, out, eps), rms_norm(x, weight, out, eps)."""
    rows, columns = x.shape
    size = x.dtype.itemsize
    width = math.gcd(columns, 16 // size)
    weights = {"layer_norm": 2, "rms_norm": 1}.get(name, 0)
    kept = weights > 0 and columns * size > SHORT and width * size == 16
    held = min(HELD, 64 // size) if kept else HELD if width * size == 16 else HELD // 2
    threads = max(32, 1 << (-(-columns // held) - 1).bit_length())
    of_block = 1024 if kept and threads <= 1024 or threads > 512 * MOST_BLOCKS else 512
    blocks = max(1, threads // of_block)
    if blocks > MOST_BLOCKS:
        raise ValueError(f"rows of {columns} elements do not fit a cluster of {MOST_BLOCKS} blocks")
    threads //= blocks
    chunks = -(-(columns // width) // blocks)
    steps = -(-chunks // threads)
    exact = blocks * threads * steps * width == columns
    nbytes = steps * threads * width * size
    block = threads * ROWS if threads == 32 else threads
    stays = width * size == 16 and (kept or blocks > 1)
    stages = max(1, (1 if kept else AHEAD * block // RESIDENT // nbytes)) if stays else 0
    groups = -(-rows * threads // block)
    if stays:
        groups = min(groups, staying(blocks, RESIDENT // block))
    kernel = kernels(width, steps, threads, blocks, exact, stages, kept, not cuda.get_current_device().is_host)[name]
    kernel.configure(groups * blocks, block, 0, (stages + weights * kept) * nbytes, cluster=blocks)(x, *others)


def staying(blocks: int, resident: int) -> int:
    """How many clusters stay. All must run at once, or the last ones begin when the others have
    ended; a cluster lies in one part of the GPU, of 16 multiprocessors or more, and one such part may
    have fewer. Single blocks are several times as many, so that they end together."""
    multiprocessors = cuda.get_current_device().MULTIPROCESSOR_COUNT
    if blocks == 1:
        return 4 * multiprocessors * resident
    return max(1, multiprocessors // 16 - 1) * 16 * resident // blocks


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
