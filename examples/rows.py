"""Softmax, layer norm, RMS norm and cross entropy of long rows, float32 or bfloat16, read once, for
GPUs of compute capability 9.0 and later.

A block copies its row to shared memory by one bulk copy, so that as many bytes are on the way as
the blocks of a multiprocessor have memory; the passes over the row read it from there. A row that
is too long for a block is shared by a cluster: each of its blocks has a part, and they combine what
they found through distributed shared memory. Rows that are no multiples of 16 bytes are read by
narrower accesses.
"""

import functools
import math
import sys

import numpy as np
from pyptx import bfloat16, cuda, float32

PART = 64 << 10  # bytes of a row that a block takes: three such blocks run on a multiprocessor
MOST_BLOCKS, MOST_PART = 16, 200 << 10  # of a cluster, and what a block can take at most


def each(f, values):
    """The tuple of f(v) for v in values."""
    if len(values) == 1:
        return (f(values[0]),)
    half = len(values) // 2
    return (*each(f, values[:half]), *each(f, values[half:]))


def combined(value: float, op, found: cuda.Array) -> float:
    """`op` over the values of all threads that have the row; `found` has one number for each block."""
    value = cuda.cg.this_thread_block().reduce(value, op)
    cluster = cuda.cg.this_cluster()
    blocks = cluster.num_blocks()
    if blocks > 1:
        if cuda.threadIdx.x < blocks:
            cluster.map_shared_rank(found, cuda.threadIdx.x)[cluster.block_rank()] = value
        cluster.sync()
        value = found[0]
        for rank in range(1, blocks):
            value = op(value, found[rank])
    return value


def add(a, b):
    return a + b


@functools.cache
def kernels(width: int):
    """Softmax, layer norm, RMS norm and cross entropy of rows of a multiple of `width` elements,
    which are one access."""

    def get(a, index):
        return cuda.vector.load(a, index, width) if width > 1 else (a[index],)

    def put(a, index, values):
        if width > 1:
            cuda.vector.store(a, index, values)
        else:
            a[index] = values[0]

    def fetch(x):
        """Copies this block's part of its row; the part, where it begins in the row, and this
        thread's elements of it."""
        cluster = cuda.cg.this_cluster()
        row, t = cuda.blockIdx.x // cluster.num_blocks(), cuda.threadIdx.x
        most = (x.shape[1] // width + cluster.num_blocks() - 1) // cluster.num_blocks() * width
        first = min(most * cluster.block_rank(), x.shape[1])
        n = min(most, x.shape[1] - first)
        part = cuda.shared.array(0, x.dtype, alignment=16)[:n]
        mine = range(width * t, n, width * cuda.blockDim.x)
        if width * x.itemsize == 16:
            arrived = cuda.shared.array(1, cuda.mbarrier)
            if t == 0:
                cuda.mbarrier_init(arrived, 0, 1)
                cuda.fence_mbarrier_init()
                cuda.mbarrier_arrive_expect_tx(arrived, 0, n * x.itemsize)
                if n > 0:
                    cuda.cp_async_bulk(part, x[row, first : first + n], arrived, 0)
            cuda.syncthreads()
            cuda.mbarrier_wait_parity(arrived, 0, 0)
        else:  # each thread reads what it has copied
            for i in mine:
                put(part, i, get(x, (row, first + i)))
        return row, first, part, mine

    def log_of_sum(part, mine, found):
        """The largest element of the row, and the sum of exp(x - largest)."""
        largest = float32(-math.inf)
        for i in mine:
            for v in get(part, i):
                largest = max(largest, float32(v))
        largest = combined(largest, max, found[0])
        total = float32(0)
        for i in mine:
            for v in get(part, i):
                total += math.exp(float32(v) - largest)
        return largest, combined(total, add, found[1])

    @cuda.jit(fastmath={"func"})
    def softmax(x: cuda.Array, out: cuda.Array) -> None:
        row, first, part, mine = fetch(x)
        largest, total = log_of_sum(part, mine, cuda.shared.array((2, MOST_BLOCKS), float32))
        scale = 1 / total
        for i in mine:
            put(out, (row, first + i), each(lambda v: out.dtype.type(math.exp(float32(v) - largest) * scale), get(part, i)))

    @cuda.jit(fastmath={"func"})
    def cross_entropy(x: cuda.Array, labels: cuda.Array, out: cuda.Array) -> None:
        """out[r] = log of the sum of exp(x[r]), less x[r, labels[r]]"""
        row, first, part, mine = fetch(x)
        largest, total = log_of_sum(part, mine, cuda.shared.array((2, MOST_BLOCKS), float32))
        if first == 0 and cuda.threadIdx.x == 0:
            out[row] = math.log(total) + (largest - float32(x[row, labels[row]]))

    @cuda.jit
    def layer_norm(x: cuda.Array, weight: cuda.Array, bias: cuda.Array, out: cuda.Array, eps: float) -> None:
        row, first, part, mine = fetch(x)
        found = cuda.shared.array((2, MOST_BLOCKS), float32)
        total = float32(0)
        for i in mine:
            for v in get(part, i):
                total += float32(v)
        mean = combined(total, add, found[0]) / float32(x.shape[1])
        squares = float32(0)
        for i in mine:
            for v in get(part, i):
                squares += (float32(v) - mean) * (float32(v) - mean)
        scale = 1 / math.sqrt(combined(squares, add, found[1]) / float32(x.shape[1]) + float32(eps))
        for i in mine:
            v, w, b = get(part, i), get(weight, first + i), get(bias, first + i)
            put(out, (row, first + i), each(lambda e: out.dtype.type((float32(v[e]) - mean) * scale * float32(w[e]) + float32(b[e])), tuple(range(width))))

    @cuda.jit
    def rms_norm(x: cuda.Array, weight: cuda.Array, out: cuda.Array, eps: float) -> None:
        row, first, part, mine = fetch(x)
        squares = float32(0)
        for i in mine:
            for v in get(part, i):
                squares += float32(v) * float32(v)
        total = combined(squares, add, cuda.shared.array(MOST_BLOCKS, float32))
        scale = 1 / math.sqrt(total / float32(x.shape[1]) + float32(eps))
        for i in mine:
            v, w = get(part, i), get(weight, first + i)
            put(out, (row, first + i), each(lambda e: out.dtype.type(float32(v[e]) * scale * float32(w[e])), tuple(range(width))))

    return {"softmax": softmax, "cross_entropy": cross_entropy, "layer_norm": layer_norm, "rms_norm": rms_norm}


def launch(name: str, x, *others) -> None:
    """Runs the kernel of that name on all rows of x: softmax(x, out), cross_entropy(x, labels, out),
    layer_norm(x, weight, bias, out, eps), rms_norm(x, weight, out, eps)."""
    rows, columns = x.shape
    size = x.dtype.itemsize
    width = math.gcd(columns, 16 // size)
    blocks = 1
    while blocks < MOST_BLOCKS and columns * size > blocks * PART:
        blocks *= 2
    chunks = -(-(columns // width) // blocks)
    nbytes = 16 * -(-(chunks * width * size) // 16)
    if nbytes > MOST_PART:
        raise ValueError(f"rows of {columns} elements do not fit a cluster of {MOST_BLOCKS} blocks")
    threads = min(512, max(64, 32 * -(-chunks // 128)))  # four accesses each, of short rows
    kernels(width)[name].configure(rows * blocks, threads, 0, nbytes, cluster=blocks)(x, *others)


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
        "softmax": (soft, soft * (2 * far + u * (depth + 4))),
        "cross_entropy": (loss, far[:, 0] + u * (depth + 8) * (1 + np.abs(loss) + np.abs(x).max(1))),
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
    lengths = (1000, 1003, 5000, 40000) if device.is_host else (1000, 1003, 5000, 40000, 262144)
    correct = True
    for columns in lengths:
        for dtype in (float32, bfloat16):
            share = check(3 if device.is_host else 300, columns, dtype)
            print(f"rows of {columns} {dtype}: largest error {share:.3f} of the bound")
            correct &= share <= 1
    print("matches NumPy" if correct else "does NOT match NumPy")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())
