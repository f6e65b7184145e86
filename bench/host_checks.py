"""What `check="race"` costs on the host device: CPU time of the checked launch over that of the
unchecked one, both on one thread.

    python bench/host_checks.py [NAME...] [--scale F] [--checks race,sync,init] [--json OUT]

Streaming kernels over 4 million elements, in the block shapes, dtypes and extents that programs use,
and kernels with warp operations, shared memory and atomics. The least of interleaved rounds; results
are compared with the unchecked kernel's. Docs: docs/guide/debugging.md.
"""

import os
import sys
import time

os.environ["PYPTX_DEVICE"] = "host"
os.environ["PYPTX_HOST_THREADS"] = "1"

import numpy as np  # noqa: E402
from _bench import Report, parser  # noqa: E402
from checks import transpose  # noqa: E402

from pyptx import cuda  # noqa: E402

FULL = 0xFFFFFFFF


def vadd(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


def saxpy(s, x, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = s * x[i] + y[i]


def grid_stride(a, b, c):
    for i in range(cuda.grid(1), c.size, cuda.gridsize(1)):
        c[i] = a[i] + b[i]


def add_2d(a, b, c):
    x, y = cuda.grid(2)
    if x < c.shape[1] and y < c.shape[0]:
        c[y, x] = a[y, x] + b[y, x]


def three_points(u, out):
    i = cuda.grid(1)
    if 0 < i < u.size - 1:
        out[i] = (u[i - 1] + u[i] + u[i + 1]) / 3


def three_points_of_part(u, out):
    i = cuda.grid(1)
    if 0 < i < out.size - 1:
        out[i] = (u[i - 1] + u[i] + u[i + 1]) / 3


def three_points_of_rows(u):
    i = cuda.grid(1)
    if 0 < i < u.shape[1] - 1:
        u[1, i] = (u[0, i - 1] + u[0, i] + u[0, i + 1]) / 3


def five_points_of_planes(u):
    x, y = cuda.grid(2)
    if 0 < x < u.shape[2] - 1 and 0 < y < u.shape[1] - 1:
        u[1, y, x] = (u[0, y - 1, x] + u[0, y + 1, x] + u[0, y, x - 1] + u[0, y, x + 1] + u[0, y, x]) / 5


def nine_points_of_planes(u):
    x, y = cuda.grid(2)
    if 0 < x < u.shape[2] - 1 and 0 < y < u.shape[1] - 1:
        total = u[0, y, x] * 0
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                total += u[0, y + dy, x + dx]
        u[1, y, x] = total


def red_points(u):
    i = 2 * cuda.grid(1) + 1
    if i < u.size - 1:
        u[i] = (u[i - 1] + u[i + 1]) / 2


def fill(a, value):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = value


def scale_2d(a, factor):
    x, y = cuda.grid(2)
    if x < a.shape[1] and y < a.shape[0]:
        a[y, x] *= factor


def swap_pairs(a):
    i = cuda.grid(1)
    if i < a.size // 2:
        a[2 * i], a[2 * i + 1] = a[2 * i + 1], a[2 * i]


def reverse_tiles(a, out):
    tile = cuda.shared.array(256, a.dtype)
    i, t = cuda.grid(1), cuda.threadIdx.x
    tile[t] = a[i]
    cuda.syncthreads()
    out[i] = tile[255 - t]


def three_points_of_tiles(u, out):
    tile = cuda.shared.array(258, u.dtype)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if i < u.size:
        tile[t + 1] = u[i]
    if t == 0 and i > 0:
        tile[0] = u[i - 1]
    if t == 255 and i + 1 < u.size:
        tile[257] = u[i + 1]
    cuda.syncthreads()
    if 0 < i < u.size - 1:
        out[i] = (tile[t] + tile[t + 1] + tile[t + 2]) / 3


def swap_ends(a):
    i = cuda.grid(1)
    if i < a.size // 2:
        a[i], a[a.size - 1 - i] = a[a.size - 1 - i], a[i]


def tile_by(side, how):
    """A tile written in one way and read in another: in columns and rows, or in rows from below."""

    def columns_to_rows(a, out):
        tile = cuda.shared.array((side, side + 1), a.dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[tx, ty] = a[cuda.blockIdx.y * side + ty, cuda.blockIdx.x * side + tx]
        cuda.syncthreads()
        out[cuda.blockIdx.x * side + ty, cuda.blockIdx.y * side + tx] = tile[ty, tx]

    def other_rows(a, out):
        tile = cuda.shared.array((side, side + 1), a.dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[ty, tx] = a[cuda.blockIdx.y * side + ty, cuda.blockIdx.x * side + tx]
        cuda.syncthreads()
        out[cuda.blockIdx.y * side + ty, cuda.blockIdx.x * side + tx] = tile[side - 1 - ty, tx]

    return columns_to_rows if how == "columns" else other_rows


def transpose_by(side):
    def transpose_square(a, out):
        tile = cuda.shared.array((side, side + 1), a.dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        tile[ty, tx] = a[cuda.blockIdx.y * side + ty, cuda.blockIdx.x * side + tx]
        cuda.syncthreads()
        out[cuda.blockIdx.x * side + ty, cuda.blockIdx.y * side + tx] = tile[tx, ty]

    return transpose_square


def five_points(u, out):
    x, y = cuda.grid(2)
    if 0 < x < u.shape[1] - 1 and 0 < y < u.shape[0] - 1:
        out[y, x] = (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1] + u[y, x]) / 5


def rows_by_block(a, out):
    tile = cuda.shared.array(256, np.float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    total = a[row, t] * 0
    for k in range(t, a.shape[1], 256):
        total += a[row, k]
    tile[t] = total
    cuda.syncthreads()
    half = 128
    while half:
        if t < half:
            tile[t] += tile[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[row] = tile[0]


def rows_by_thread(a, out):
    row = cuda.grid(1)
    if row < out.size:
        total = a[row, 0] * 0
        for k in range(a.shape[1]):
            total += a[row, k]
        out[row] = total


def columns_by_thread(a, out):
    column = cuda.grid(1)
    if column < out.size:
        total = a[0, column] * 0
        for k in range(a.shape[0]):
            total += a[k, column]
        out[column] = total


def histogram(keys, bins):
    i = cuda.grid(1)
    if i < keys.size:
        cuda.atomic.add(bins, keys[i], 1)


def gather(a, where, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[where[i]]


def warp_sums(a, out):
    i = cuda.grid(1)
    v = a[i] if i < a.size else a[0] * 0
    for k in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(FULL, v, k)
    if cuda.laneid == 0 and i < a.size:
        out[i // 32] = v


def warp_sums_xor(a, out):
    i = cuda.grid(1)
    if i < a.size:
        v = a[i]
        for k in (16, 8, 4, 2, 1):
            v += cuda.shfl_xor_sync(FULL, v, k)
        out[i] = v


def block_sums_by_warps(a, out):
    tile = cuda.shared.array(32, np.float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    v = a[i] if i < a.size else a[0] * 0
    for k in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(FULL, v, k)
    if t % 32 == 0:
        tile[t // 32] = v
    cuda.syncthreads()
    if t < 32:
        v = tile[t] if t < cuda.blockDim.x // 32 else np.float32(0)
        for k in (16, 8, 4, 2, 1):
            v += cuda.shfl_down_sync(FULL, v, k)
        if t == 0:
            out[cuda.blockIdx.x] = v


def ballots(a, out):
    i = cuda.grid(1)
    votes = cuda.ballot_sync(FULL, i < a.size and a[i] > 0)
    if cuda.laneid == 0 and i < a.size:
        out[i // 32] = cuda.popc(votes)


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 100, shape).astype(dtype) if np.dtype(dtype).kind in "iu" else rng.standard_normal(shape).astype(dtype)


def flat(n, threads):
    return (n + threads - 1) // threads, threads


def cover(shape, block):
    return (-(-shape[1] // block[0]), -(-shape[0] // block[1])), block


def parts(a):
    """A whole array, and its second half: reads of the whole are noted."""
    both = cuda.to_device(np.concatenate([a, np.zeros_like(a)]))
    return both, both[a.size:]


def cases(scale):
    n = int((1 << 22) * scale)
    side = int(2048 * scale**0.5)
    f, d, i, h = np.float32, np.float64, np.int32, np.int16
    for dtype in (f, d, i, h, np.int8):
        a, b, c = numbers(n, dtype), numbers(n, dtype, 1), np.zeros(n, dtype)
        name = np.dtype(dtype).name
        yield f"vadd {name} 256", vadd, flat(n, 256), (a, b, c)
        yield f"saxpy {name} 256", saxpy, flat(n, 256), (dtype(1), a, b)
        yield f"grid stride {name} 256", grid_stride, (64, 256), (a, b, c)
    a, b, c = numbers(n, f), numbers(n, f, 1), np.zeros(n, f)
    for threads in (100, 1024):
        yield f"vadd float32 {threads}", vadd, flat(n, threads), (a, b, c)
        yield f"three points float32 {threads}", three_points, flat(n, threads), (a, c)
    for dtype in (np.int8, np.uint8, h, np.float16, np.bool_):
        yield f"fill {np.dtype(dtype).name} 256", fill, flat(n, 256), (np.zeros(n, dtype), dtype(1))
    for dtype in (np.int8, h, np.float16):
        yield f"saxpy {np.dtype(dtype).name} 100, n - 5", saxpy, flat(n - 5, 100), (dtype(1), numbers(n, dtype)[5:], numbers(n, dtype, 1)[5:])
    yield "vadd float32 256, n - 5", vadd, flat(n - 5, 256), (a[5:], b[5:], c[5:])
    yield "grid stride float32 100", grid_stride, (64, 100), (a, b, c)
    for dtype in (f, d):
        yield f"three points {np.dtype(dtype).name} 256", three_points, flat(n, 256), (numbers(n, dtype), np.zeros(n, dtype))
    for dtype, shape, block in ((f, (side, side), (32, 8)), (f, (side, side), (16, 16)), (f, (side, side), (8, 32)), (f, (side, side), (256, 1)),
                                (f, (side, side), (1024, 1)), (f, (side, side), (64, 4)), (f, (side - 1, side - 3), (32, 8)),
                                (f, (side - 1, side - 3), (16, 16)), (f, (side, side), (100, 1)),
                                (d, (side, side), (32, 8)), (d, (side, side), (16, 16)), (i, (side, side), (32, 8))):
        a, b, c = numbers(shape, dtype), numbers(shape, dtype, 1), np.zeros(shape, dtype)
        name = f"{np.dtype(dtype).name} {shape[0]} x {shape[1]}, {block[0]} x {block[1]}"
        yield f"2-D add {name}", add_2d, cover(shape, block), (a, b, c)
        yield f"five points {name}", five_points, cover(shape, block), (a, c)
    for dtype, block in ((f, (8, 8)), (f, (4, 8)), (f, (16, 4)), (f, (6, 6)), (f, (1, 256)), (np.int8, (8, 8)), (h, (8, 32))):
        a, b, c = numbers((side, side), dtype), numbers((side, side), dtype, 1), np.zeros((side, side), dtype)
        name = f"{np.dtype(dtype).name}, {block[0]} x {block[1]}"
        yield f"2-D add {name}", add_2d, cover((side, side), block), (a, b, c)
        yield f"2-D scale {name}", scale_2d, cover((side, side), block), (a, dtype(1))
    for dtype in (f, d):
        a, out = numbers((4096, n // 4096), dtype), np.zeros(4096, dtype)
        name = np.dtype(dtype).name
        yield f"rows by block {name}", rows_by_block, (4096, 256), (a, out)
        yield f"rows by thread {name} 256", rows_by_thread, flat(4096, 256), (a, out)
        yield f"columns by thread {name} 256", columns_by_thread, flat(a.shape[1], 256), (a, np.zeros(a.shape[1], dtype))
    yield "rows by thread float32 64", rows_by_thread, flat(4096, 64), (numbers((4096, n // 4096), f), np.zeros(4096, f))
    yield "rows by thread float32 100", rows_by_thread, flat(4096, 100), (numbers((4096, n // 4096), f), np.zeros(4096, f))
    a = numbers((side, side), f)
    yield "three points float32 256, of a part of one array", three_points_of_part, flat(n, 256), parts(numbers(n, f))
    yield "transpose float32 32 x 8", transpose, cover(a.shape, (32, 32))[:1] + ((32, 8),), (a, np.zeros_like(a))
    for dtype in (f, d, h, np.int8):
        a, name = numbers((side, side), dtype), np.dtype(dtype).name
        for tile in (32, 16):
            yield f"transpose {name} {tile} x {tile}", transpose_by(tile), ((side // tile, side // tile), (tile, tile)), (a, np.zeros_like(a))
            for how in ("columns", "other rows"):
                yield f"tile in {how} {name} {tile} x {tile}", tile_by(tile, how), ((side // tile, side // tile), (tile, tile)), (a, np.zeros_like(a))
        yield f"reverse tiles {name} 256", reverse_tiles, flat(n, 256), (a.ravel(), np.zeros(n, dtype))
        yield f"three points of tiles {name} 256", three_points_of_tiles, flat(n, 256), (a.ravel(), np.zeros(n, dtype))
    for dtype in (f, d, h):
        name = np.dtype(dtype).name
        yield f"three points {name} 256, of a row of one array", three_points_of_rows, flat(n, 256), (numbers((2, n), dtype),)
        yield f"five points {name} 32 x 8, of a plane of one array", five_points_of_planes, cover((side, side), (32, 8)), (numbers((2, side, side), dtype),)
        yield f"nine points {name} 32 x 8, of a plane of one array", nine_points_of_planes, cover((side, side), (32, 8)), (numbers((2, side, side), dtype),)
        yield f"every second point {name} 256, of one array", red_points, flat(n // 2, 256), (numbers(n, dtype),)
    yield "pairs float32 256", swap_pairs, flat(n // 2, 256), (numbers(n, f),)
    for dtype in (f, d, h, np.int8):
        yield f"ends {np.dtype(dtype).name} 256", swap_ends, flat(n // 2, 256), (numbers(n, dtype),)
    for name, part in (("[::-1]", slice(None, None, -1)), ("[::2]", slice(None, None, 2))):
        arrays = [cuda.to_device(numbers(2 * n, f, k))[part] for k in range(3)]
        yield f"vadd float32 256, of {name}", vadd, flat(arrays[0].size, 256), tuple(arrays)
    a, out = numbers(n, f), np.zeros(n, f)
    yield "gather float32 256", gather, flat(n, 256), (a, numbers(n, i), out)
    yield "histogram int32 256", histogram, flat(n, 256), (numbers(n, i), np.zeros(256, i))
    for threads in (256, 128):
        yield f"warp sums float32 {threads}", warp_sums, flat(n, threads), (a, np.zeros(n // 32, f))
    yield "warp sums float64 256", warp_sums, flat(n, 256), (numbers(n, d), np.zeros(n // 32, d))
    yield "warp sums by xor float32 256", warp_sums_xor, flat(n, 256), (a, out)
    yield "block sums by warps float32 256", block_sums_by_warps, flat(n, 256), (a, np.zeros(n // 256, f))
    yield "ballots float32 256", ballots, flat(n, 256), (a, np.zeros(n // 32, i))


def taken(launch, rounds):
    """CPU milliseconds: the least of so many."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time_ns()
        launch()
        best = min(best, time.process_time_ns() - begin)
    return best / 1e6


def measure(function, config, arguments, checks):
    kernels = [cuda.jit(function), cuda.jit(function, check=checks)]
    given = [[cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in kernels]
    launches = [lambda k=k, g=g: k[config](*g) for k, g in zip(kernels, given)]
    for launch in launches:
        launch()
    for a, b in zip(*given):
        if hasattr(a, "copy_to_host"):
            np.testing.assert_array_equal(a.copy_to_host(), b.copy_to_host(), err_msg=function.__name__)
    best = [float("inf")] * 2
    for _ in range(5):
        for k, launch in enumerate(launches):
            best[k] = min(best[k], taken(launch, 2 if k else 3))
    return best


def main():
    p = parser(__doc__)
    p.add_argument("names", nargs="*", help="only cases whose names begin so")
    p.add_argument("--scale", type=float, default=1)
    p.add_argument("--checks", default="race")
    options = p.parse_args()
    report = Report(f'check="{options.checks}" beside none, on one thread of the host device', [("kernel", 48), ("ms", 9), ("checked", 9), ("times", 7)])
    for name, function, config, arguments in cases(options.scale):
        if options.names and not any(name.startswith(n) for n in options.names):
            continue
        plain, checked = measure(function, config, arguments, options.checks)
        report.row(name, plain, checked, checked / plain)
    report.save(options.json)


if __name__ == "__main__":
    sys.exit(main())
