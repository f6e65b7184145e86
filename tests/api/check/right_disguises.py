"""More kernels without a mistake, as right_kernels.py has them: in helper functions, while loops, planes, recursion, views, locks, tickets."""

from collections import namedtuple

import numpy as np
from right_kernels import FULL, f32, i32, right

from pyptx import cuda

Pair = namedtuple("Pair", "x y")
POINT = np.dtype([("n", np.int32), ("v", np.float32, (2,)), ("z", np.complex64)])


def put(tile, t, value):
    tile[t] = value


def meet_and_get(tile, t):
    cuda.syncthreads()
    return tile[t]


@right(2, 64, f32(128), f32(128))
def by_helper_functions(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    put(tile, t, x[cuda.grid(1)])
    out[cuda.grid(1)] = meet_and_get(tile, 63 - t)


def halve(tile, t, n):
    if n:
        if t < n:
            tile[t] += tile[t + n]
        cuda.syncthreads()


@right(1, 64, f32(64), f32(1))
def steps_of_a_tree_by_a_function(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    n = 32
    while n > 0:
        halve(tile, t, n)
        n //= 2
    if t == 0:
        out[0] = tile[0]


@right((2, 2), (16, 16), f32(32, 32), f32(32, 32))
def transposed_by_tiles(x, out):
    tile = cuda.shared.array((16, 17), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx]
    cuda.syncthreads()
    out[cuda.blockIdx.x * 16 + ty, cuda.blockIdx.y * 16 + tx] = tile[tx, ty]


@right((3, 5), (32, 4), f32(20, 96), f32(20, 96), f32(20, 96))
def sum_of_planes(a, b, out):
    j, i = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[i, j] = a[i, j] + b[i, j] + out[i, j]


@right((2, 2), (16, 8), f32(18, 34), f32(18, 34))
def five_points(a, out):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4 * a[i, j]


@right(1, (4, 4, 4), f32(4, 4, 4), f32(4, 4, 4))
def turned_box(x, out):
    box = cuda.shared.array((4, 4, 4), np.float32)
    i, j, k = cuda.threadIdx.z, cuda.threadIdx.y, cuda.threadIdx.x
    box[i, j, k] = x[i, j, k]
    cuda.syncthreads()
    out[i, j, k] = box[k, i, j]


@right(3, 32, f32(500), f32(500))
def strided_while(x, out):
    i = cuda.grid(1)
    while i < x.size:
        out[i] = x[i] + out[i]
        i += cuda.gridsize(1)


@right(4, 64, f32(16, 300), f32(16))
def rows_by_blocks(m, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    for r in range(cuda.blockIdx.x, m.shape[0], cuda.gridDim.x):
        s = np.float32(0)
        for j in range(t, m.shape[1], 64):
            s += m[r, j]
        tile[t] = s
        cuda.syncthreads()
        k = 32
        while k:
            if t < k:
                tile[t] += tile[t + k]
            cuda.syncthreads()
            k //= 2
        if t == 0:
            out[r] = tile[0]
        cuda.syncthreads()


@right(2, 64, f32(128), f32(4))
def sums_by_shuffles(x, out):
    v = x[cuda.grid(1)]
    d = 16
    while d:
        v += cuda.shfl_down_sync(FULL, v, d)
        d //= 2
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = v


@right(1, 64, f32(64), f32(64))
def prefix_by_shuffles(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    for k in range(5):
        other = cuda.shfl_up_sync(FULL, v, 1 << k)
        if t % 32 >= 1 << k:
            v += other
    ends = cuda.shared.array(2, np.float32)
    if t % 32 == 31:
        ends[t // 32] = v
    cuda.syncthreads()
    out[t] = v + (ends[0] if t >= 32 else np.float32(0))


@right(4, 64, f32(256), f32(4), i32(1), f32(1))
def last_block_by_a_ticket(x, parts, tickets, out):
    t = cuda.threadIdx.x
    last = cuda.shared.array(1, np.int32)
    if t == 0:
        parts[cuda.blockIdx.x] = x[cuda.grid(1)]
        cuda.threadfence()
        last[0] = cuda.atomic.add(tickets, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0] and t == 0:
        cuda.threadfence()
        out[0] = parts[0] + parts[1] + parts[2] + parts[3]
        tickets[0] = 0


@right(4, 64, i32(1), f32(1))
def a_lock_of_the_first_thread(lock, out):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        out[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@right(3, 128, i32(1), f32(1))
def a_lock_of_each_warp(lock, out):
    if cuda.laneid == 0:
        done = False
        while not done:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                cuda.threadfence()
                out[0] += 2
                cuda.threadfence()
                cuda.atomic.exch(lock, 0, 0)
                done = True


@right(4, 32, np.zeros(2, np.int32), f32(4))
def turns_by_tickets(turn, out):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(turn, 0, 1)
        while cuda.atomic.add(turn, 1, 0) != mine:
            pass
        cuda.threadfence()
        out[0] = 2 * out[0] + 1
        cuda.threadfence()
        cuda.atomic.add(turn, 1, 1)


@right(1, 64, np.zeros((64, 2), POINT))
def fields_of_records(r):
    t = cuda.threadIdx.x
    r[t, 0].n = t
    r[t, 1].v[0] = t
    r[t, 1].v[1] = r[t, 0].n
    r[t, 0].z = complex(t, 1)


@right(1, 64, np.zeros(32, POINT))
def two_threads_at_a_record(r):
    t = cuda.threadIdx.x
    if t < 32:
        r[t].v[0] = t
    else:
        r[t - 32].v[1] = t


@right(2, 32, f32(64), f32(64))
def halves_by_views(x, out):
    half = x[cuda.blockIdx.x * 32 :]
    to = out[cuda.blockIdx.x * 32 : cuda.blockIdx.x * 32 + 32]
    to[cuda.threadIdx.x] = half[cuda.threadIdx.x]


@right(1, 64, f32(8, 8), f32(8, 8))
def rows_and_columns_by_views(x, out):
    t = cuda.threadIdx.x
    row, column = x[t // 8], out.T[t % 8]
    column[t // 8] = row[t % 8]


@right(2, 32, f32(64), f32(64))
def every_other(x, out):
    even, odd = out[::2], out[1::2]
    i = cuda.grid(1)
    if i < 32:
        even[i] = x[i]
    else:
        odd[i - 32] = x[i]


def depth(n):
    return 0 if n < 2 else 1 + depth(n // 2)


def clear(out, first, n):
    if n == 1:
        out[first] = first
    else:
        clear(out, first, n // 2)
        clear(out, first + n // 2, n - n // 2)


@right(2, 32, i32(512))
def recursive(out):
    clear(out, cuda.grid(1) * 8, 8)
    out[cuda.grid(1) * 8] += depth(cuda.threadIdx.x)


@right(1, 64, f32(64), f32(64))
def a_pipeline_of_two_tiles(x, out):
    tiles = cuda.shared.array((2, 64), np.float32)
    t = cuda.threadIdx.x
    tiles[0, t] = x[t]
    cuda.syncthreads()
    now = 0
    for k in range(6):
        tiles[1 - now, t] = tiles[now, t ^ (1 << k)]
        now = 1 - now
        cuda.syncthreads()
    out[t] = tiles[now, t]


@right(1, 256, f32(256), f32(256))
def sorted_bitonically(x, out):
    s = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    s[t] = -x[t]
    cuda.syncthreads()
    k = 2
    while k <= 256:
        j = k // 2
        while j:
            p = t ^ j
            if p > t and (s[t] > s[p]) == ((t & k) == 0):
                s[t], s[p] = s[p], s[t]
            cuda.syncthreads()
            j //= 2
        k *= 2
    out[t] = s[t]


@right(4, 64, i32(256), np.zeros(64, np.int32))
def histogram_of_shared_memory(x, counts):
    mine = cuda.shared.array(64, np.int32)
    t = cuda.threadIdx.x
    mine[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(mine, (x[cuda.grid(1)] * 7) % 64, 1)
    cuda.syncthreads()
    cuda.atomic.add(counts, t, mine[t])


@right(1, 96, i32(96), np.zeros(96, np.int32))
def compacted_by_ballots(x, out):
    t = cuda.threadIdx.x
    starts = cuda.shared.array(4, np.int32)
    yes = x[t] % 3 == 0
    mask = cuda.ballot_sync(FULL, yes)
    if t % 32 == 0:
        starts[t // 32 + 1] = cuda.popc(mask)
        if t == 0:
            starts[0] = 0
    cuda.syncthreads()
    if t == 0:
        for k in range(3):
            starts[k + 1] += starts[k]
    cuda.syncthreads()
    if yes:
        out[starts[t // 32] + cuda.popc(mask & ((1 << (t % 32)) - 1))] = x[t]


@right(2, 32, f32(64), f32(64))
def generic_sum_of_tuples(x, out):
    i = cuda.grid(1)
    pair = Pair(x[i], x[63 - i])
    out[i] = pair.x + pair.y


@right(2, 48, f32(96), f32(96))
def blocks_of_odd_width(x, out):
    s = cuda.shared.array(48, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = s[47 - t]


@right(1, 64, f32(64), f32(64))
def dynamic_index_from_the_end(x, out):
    t = cuda.threadIdx.x
    out[-t - 1] = x[t]


@right(1, 64, f32(64), f32(64))
def from_the_end_behind_a_read(x, out):
    t = cuda.threadIdx.x
    out[t - 1] = x[t]
    out[t - 1] += x[-1 - t]


@right(2, 64, f32(8))
def the_same_value_from_both_ends(x):
    t = cuda.grid(1)
    if t < 16:
        x[t - 8] = 7


@right(2, 64, i32(128))
def both_ends_exchanged(x):
    t = cuda.grid(1)
    if t < x.size // 2:
        x[t], x[x.size - 1 - t] = x[x.size - 1 - t], x[t]


@right((2, 2), (16, 16), np.arange(1024, dtype=np.int8).reshape(32, 32), np.zeros((32, 32), np.int8))
def a_tile_written_by_columns(x, out):
    tile = cuda.shared.array((16, 17), np.int8)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for k in range(2):
        tile[tx, ty] = x[cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx]
        cuda.syncthreads()
        v = tile[15 - ty, tx]
        cuda.syncthreads()
    out[cuda.blockIdx.y * 16 + ty, cuda.blockIdx.x * 16 + tx] = v


@right(3, 64, f32(130), f32(130))
def partial_vectors_at_the_end(x, out):
    i = cuda.grid(1)
    if i >= x.size:
        return
    s = np.float32(0)
    for k in range(max(i - 2, 0), min(i + 3, x.size)):
        s += x[k]
    out[i] = s


@right(1, 64, np.arange(64), np.zeros(64, np.int64))
def powers_that_fit(x, out):
    t = cuda.threadIdx.x
    if t < 19:
        out[t] = 10 ** x[t]
    if t < 63:
        out[t] = 2 ** x[t]
    out[t] = (-2) ** x[t]
    out[t] = np.int32(3) ** np.int32(t % 20) + np.uint8(3) ** np.uint8(t)
