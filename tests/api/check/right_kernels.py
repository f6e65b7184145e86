"""Kernels without a mistake, of which some look as if they had one: each row is (kernel, blocks, threads, arguments)."""

import numpy as np

from pyptx import cuda
from pyptx.cuda import cg

ROWS = []
FULL = 0xFFFFFFFF


def f32(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def i32(*shape):
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


def right(blocks, threads, *arguments):
    def add(kernel):
        ROWS.append((kernel, blocks, threads, arguments))
        return kernel

    return add


# --- shared memory and barriers


@right(2, 64, f32(128), f32(128))
def reversed_tile(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i]
    cuda.syncthreads()
    out[i] = s[63 - t]


@right(4, 128, f32(512), f32(4))
def tree(x, out):
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    n = 64
    while n:
        if t < n:
            s[t] += s[t + n]
        cuda.syncthreads()
        n //= 2
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


@right(1, 128, f32(128), f32(1))
def tree_whose_last_warp_synchronises_alone(x, out):
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t < 64:
        s[t] += s[t + 64]
    cuda.syncthreads()
    if t < 32:
        s[t] += s[t + 32]
        cuda.syncwarp()
        n = 16
        while n:
            v = s[t + n] if t < n else np.float32(0)
            cuda.syncwarp()
            s[t] += v
            cuda.syncwarp()
            n //= 2
    if t == 0:
        out[0] = s[0]


@right(1, 64, f32(64), f32(64))
def scan_in_two_buffers(x, out):
    s = cuda.shared.array((2, 64), np.float32)
    t = cuda.threadIdx.x
    s[0, t] = x[t]
    cuda.syncthreads()
    at = 0
    d = 1
    while d < 64:
        s[1 - at, t] = s[at, t] + s[at, t - d] if t >= d else s[at, t]
        at = 1 - at
        d *= 2
        cuda.syncthreads()
    out[t] = s[at, t]


@right(1, 64, f32(64), f32(64))
def scan_with_two_barriers(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        v = s[t - d] if t >= d else np.float32(0)
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        d *= 2
    out[t] = s[t]


@right((2, 2), (8, 8), f32(16, 16), f32(16, 16), f32(16, 16))
def matmul(a, b, c):
    sa = cuda.shared.array((8, 8), np.float32)
    sb = cuda.shared.array((8, 8), np.float32)
    y, x = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for k in range(2):
        sa[i, j] = a[y, 8 * k + j]
        sb[i, j] = b[8 * k + i, x]
        cuda.syncthreads()
        for m in range(8):
            total += sa[i, m] * sb[m, j]
        cuda.syncthreads()
    c[y, x] = total


@right(4, 32, i32(128) % 8, i32(8))
def histogram(x, out):
    h = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    if t < 8:
        h[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(h, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(out, t, h[t])


@right(1, 64, f32(64), f32(64))
def broadcast(x, out):
    head = cuda.shared.array(1, np.float32)
    t = cuda.threadIdx.x
    for k in range(3):
        if t == 7 * k:
            head[0] = x[t]
        cuda.syncthreads()
        out[t] = head[0]
        cuda.syncthreads()


@right(1, 64, f32(64), f32(64))
def three_buffers_and_one_barrier(x, out):
    s = cuda.shared.array((3, 64), np.float32)
    t = cuda.threadIdx.x
    for k in range(6):
        s[k % 3, t] = x[t] + k
        cuda.syncthreads()
        out[t] = s[k % 3, 63 - t]


@right(1, 64, f32(64))
def returned_behind_the_last_barrier(x):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t > 30:
        return
    x[t] = s[63 - t]


@right(2, 64, f32(100), f32(2))
def guards_without_returns(x, out):
    s = cuda.shared.array(64, np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    s[t] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    if t == 0:
        for k in range(64):
            out[cuda.blockIdx.x] += s[k]


def meet():
    cuda.syncthreads()


@right(1, 64, f32(64))
def one_barrier_by_two_ways(x):
    t = cuda.threadIdx.x
    x[t] = t
    if x.size > 10:
        meet()
    else:
        cuda.syncthreads()
    x[t] += 1


@right(2, 64, f32(128))
def a_whole_block_returns(x):
    if cuda.blockIdx.x == 1:
        return
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    x[t] = s[63 - t]


@right(3, 64, f32(64))
def trip_counts_by_block(x):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = t
    for k in range(cuda.blockIdx.x + 1):
        cuda.syncthreads()
        v = s[(t + k) % 64]
        cuda.syncthreads()
        s[t] = v
    if cuda.blockIdx.x == 0:
        x[t] = s[t]


@right(1, 64, i32(64), i32(64))
def votes_of_the_block(x, out):
    t = cuda.threadIdx.x
    n = cuda.syncthreads_count(x[t] > 3)
    out[t] = n
    if cuda.syncthreads_or(x[t] == 5):
        out[t] += cuda.syncthreads_and(x[t] >= 0)


@right(1, 64, f32(64), f32(64))
def a_vote_as_a_barrier(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads_count(True)
    out[t] = s[63 - t]


@right(1, 64, f32(64), f32(64))
def bytes_beside_bytes(x, out):
    s = cuda.shared.array(64, np.uint8)
    flags = cuda.shared.array(64, np.bool_)
    t = cuda.threadIdx.x
    s[t] = np.uint8(t)
    flags[t] = t % 2 == 0
    out[t] = s[t] if flags[t] else x[t]


@right(1, 64, f32(64), f32(64))
def one_memory_with_two_types(x, out):
    wide = cuda.shared.array(0, np.float64)
    t = cuda.threadIdx.x
    if wide.size:
        wide[t % wide.size] = 0
    out[t] = x[t]


@right(1, 32, f32(32), f32(32))
def shared_records(x, out):
    s = cuda.shared.array(32, np.complex64)
    t = cuda.threadIdx.x
    s[t] = complex(x[t], t)
    cuda.syncthreads()
    out[t] = s[31 - t].real + s[t].imag


# --- warps


@right(2, 64, i32(128), i32(4))
def shuffled_sums(x, out):
    v = x[cuda.grid(1)]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(FULL, v, d)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = v


@right(1, 48, i32(48), i32(48))
def sums_of_half_a_warp(x, out):
    t = cuda.threadIdx.x
    v = x[t]
    mask = 0xFFFF if t >= 32 else (0xFFFF0000 if t & 16 else 0xFFFF)
    for d in (8, 4, 2, 1):
        v += cuda.shfl_xor_sync(mask, v, d)
    out[t] = v


@right(1, 32, i32(32), i32(32))
def parts_of_a_warp(x, out):
    s = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 8:
        cuda.syncwarp(0xFF)
        out[t] = s[7 - t]
    else:
        cuda.syncwarp(0xFFFFFF00)
        out[t] = s[39 - t]


@right(1, 32, i32(32), i32(32))
def order_through_a_third_lane(x, out):
    s = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = x[5]
    if t < 2:
        cuda.syncwarp(0x3)
    if 0 < t < 3:
        cuda.syncwarp(0x6)
    if t == 2:
        out[0] = s[0]


@right(1, 32, i32(32), i32(32))
def a_shuffle_orders(x, out):
    s = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    v = cuda.shfl_sync(FULL, x[t], 3)
    out[t] = s[31 - t] + v


@right(1, 32, i32(32), i32(32))
def many_warp_operations(x, out):
    s = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    for _ in range(1500):
        cuda.syncwarp()
        v = s[(t + 1) % 32]
        cuda.syncwarp()
        s[t] = v
    out[t] = s[t]


@right(1, 64, i32(64), i32(64))
def a_ballot_names_who_comes(x, out):
    t = cuda.threadIdx.x
    mask = cuda.ballot_sync(FULL, x[t] % 3 == 0)
    if x[t] % 3 == 0:
        out[t] = cuda.popc(mask)
        cuda.syncwarp(mask)
        out[t] += cuda.shfl_sync(mask, t, cuda.ffs(mask) - 1)


@right(1, 32, i32(32), i32(32))
def a_vote_after_a_return(x, out):
    t = cuda.threadIdx.x
    if t >= 20:
        return
    out[t] = cuda.ballot_sync(FULL, x[t] > 2)


@right(2, 64, i32(128), i32(4))
def one_lane_writes_for_its_warp(x, out):
    n = cuda.popc(cuda.ballot_sync(FULL, x[cuda.grid(1)] % 2 == 0))
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = n


@right(1, 64, f32(64), f32(2))
def a_warp_of_its_own_rows(x, out):
    s = cuda.shared.array((2, 32), np.float32)
    w, lane = cuda.threadIdx.x // 32, cuda.laneid
    s[w, lane] = x[cuda.threadIdx.x]
    cuda.syncwarp()
    if lane == 0:
        for k in range(32):
            out[w] += s[w, k]


# --- between blocks


@right(4, 32, f32(128), f32(4), f32(1), i32(1) * 0)
def last_block(x, part, out, count):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[32 * b]
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                out[0] += part[k]


@right(4, 64, f32(256), f32(256), f32(64), i32(1) * 0)
def last_block_of_all_threads(x, part, out, count):
    last = cuda.shared.array(1, np.bool_)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    part[i] = x[i]
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        for b in range(cuda.gridDim.x):
            out[t] += part[64 * b + t]


@right(4, 64, f32(256), f32(256), f32(1), i32(1) * 0)
def last_block_with_one_fence(x, part, out, count):
    i = cuda.grid(1)
    part[i] = x[i]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            for k in range(part.size):
                out[0] += part[k]


@right(4, 32, f32(4), i32(1) * 0)
def a_lock(total, lock):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@right(4, 32, i32(1) * 0, f32(128))
def one_flag_for_all(found, x):
    if x[cuda.grid(1)] > 3:
        found[0] = 1


@right(4, 32, f32(32), f32(128))
def all_blocks_write_the_same(row, x):
    row[cuda.threadIdx.x] = 2 * cuda.threadIdx.x


@right(4, 32, f32(128), f32(1))
def best_so_far(x, best):
    v = x[cuda.grid(1)]
    if v > best[0]:
        cuda.atomic.max(best, 0, v)


@right(4, 32, f32(128), i32(128), i32(1) * 0)
def compaction(x, out, n):
    i = cuda.grid(1)
    if x[i] > 20:
        out[cuda.atomic.add(n, 0, 1)] = i


@right(4, 32, f32(128), f32(128))
def two_phases_of_the_grid(x, y):
    i = cuda.grid(1)
    y[i] = 2 * x[i]
    cg.this_grid().sync()
    x[i] = y[127 - i]


@right(2, 32, f32(64), i32(1) * 0)
def a_flag_by_atomics(x, flag):
    if cuda.grid(1) == 40:
        x[3] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    elif cuda.grid(1) == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
        x[0] = x[3]


@right(3, 32, f32(50))
def grid_stride(x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = 2 * x[i] + 1


@right(3, 40, f32(500), f32(120))
def sums_in_memory_by_grid_stride(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[cuda.grid(1)] = out[cuda.grid(1)] + x[i]


@right((3, 2), (6, 4), f32(8, 18))
def a_row_there_and_back(x):
    i, j = cuda.grid(2)
    if i < 18 and j < 8:
        v = x[j, i] + 1
        x[j, i] = v
        x[j, i] = v - x[j, i] / 2


@right((2, 2), (8, 8), f32(16, 16), f32(16, 16))
def stencil(x, out):
    i, j = cuda.grid(2)
    if 0 < i < 15 and 0 < j < 15:
        out[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]


@right(4, 32, f32(256))
def a_pair_each(x):
    i = cuda.grid(1)
    x[2 * i], x[2 * i + 1] = x[2 * i + 1], x[2 * i]


@right(2, 32, f32(64, 4))
def a_row_each(a):
    i = cuda.grid(1)
    row = a[i]
    total = np.float32(0)
    for k in range(4):
        total += row[k]
    for k in range(4):
        row[k] /= total


@right(2, 32, np.zeros(64, [("a", "f4"), ("b", "i2"), ("c", "u1")]))
def a_record_each(p):
    i = cuda.grid(1)
    p[i].a = i
    p[i].b = i
    p[i].c = p[i].b // 2


@right(2, 32, np.zeros(64, [("a", "f4"), ("v", "f4", 3)]))
def the_fields_of_two_threads(p):
    i = cuda.grid(1)
    if i % 2:
        p[i - 1].a = 1
    else:
        p[i].v[1] = 2
        p[i].v[i % 3] += 1


@right(2, 32, i32(64).astype(np.int8))
def bytes_in_place(x):
    i = cuda.grid(1)
    x[i] = x[i] ^ 1


# --- memory that is written first


@right(1, 32, f32(32))
def a_local_array(x):
    a = cuda.local.array(8, np.float32)
    for k in range(8):
        a[k] = x[(cuda.grid(1) + k) % 1]
    if cuda.grid(1) > 40:
        x[1] = a[7]


@right(1, 32, f32(32), "device_array")
def a_new_array(x, out):
    i = cuda.grid(1)
    out[i] = x[i]
    out[i] += 1


@right(1, 32, "to_device", "device_array")
def a_copied_array(x, out):
    i = cuda.grid(1)
    out[i] = x[31 - i]


@right(1, 32, f32(32), "filled")
def a_filled_array(x, out):
    out[cuda.grid(1)] += x[cuda.grid(1)]


@right(1, 64, f32(50), f32(64))
def the_tail_is_zero(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t] if t < x.size else 0
    cuda.syncthreads()
    out[t] = s[63 - t]


@right(2, 32, f32(64), f32(64))
def dead_lanes_of_a_tile(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    out[cuda.grid(1)] = s[31 - t]


# --- several elements at once


@right(2, 32, f32(256), f32(256))
def vectors_through_a_tile(x, out):
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    cuda.vector.store(s, 4 * t, cuda.vector.load(x, 4 * cuda.grid(1), 4))
    cuda.syncthreads()
    for i in range(t, 128, 32):
        out[128 * cuda.blockIdx.x + i] = s[127 - i]


# --- stretches of a tile beside one another, elements of a thread's own


@right(2, 96, f32(192))
def between_two_stretches(out):
    s = cuda.shared.array(512, np.float32)
    t, n = cuda.threadIdx.x, cuda.blockDim.x
    s[n - 1 - t] = t
    s[2 * n + t] = t
    s[n + t] = 5
    s[n + t] += s[n - 1 - t]
    cuda.syncthreads()
    out[cuda.grid(1)] = s[3 * n - 1 - t] + s[t] + s[2 * n - 1 - t]


@right(2, 64, f32(128))
def beside_what_its_warp_has_written(out):
    s = cuda.shared.array(512, np.float32)
    t = cuda.threadIdx.x
    s[t] = t
    s[256 + t] = t
    cuda.syncwarp()
    s[t ^ 1] = 9
    s[128 + t] = s[256 + (t ^ 1)]
    out[cuda.grid(1)] = s[128 + t]


@right(4, 100, f32(400))
def ends_exchanged(a):
    i = cuda.grid(1)
    if i < a.size // 2:
        a[i], a[a.size - 1 - i] = a[a.size - 1 - i], a[i]


@right(2, 64, f32(128), i32(8))
def guesses_at_a_computed_index(x, best):
    i = cuda.grid(1)
    v = int(x[i])
    if v > best[i % 4 + 1]:
        cuda.atomic.max(best, i % 4 + 1, v)


@right(1, 32, f32(4))
def all_store_the_same_vector(out):
    cuda.vector.store(out, 0, (1.0, 2.0, 3.0, 4.0))


@right(1, 32, f32(32))
def local_vectors(out):
    sums = cuda.local.array((2, 4), np.float32)
    for i in range(2):
        cuda.vector.store(sums, (i, 0), (0.0, 0.0, 0.0, 0.0))
    one = cuda.vector.load(sums, (1, 0), 4)
    out[cuda.threadIdx.x] = one[3] + sums[0, 2]


@right(1, 64, f32(64))
def matrices_of_each_warp(out):
    s = cuda.shared.array((2, 16, 8), np.float16)
    t = cuda.threadIdx.x
    warp, lane = t // 32, t % 32
    h = np.float16(t)
    if lane < 8:
        for i in range(8):
            s[warp, lane, i] = h
    cuda.syncwarp()
    a = cuda.ldmatrix(s, (warp, lane % 8, 0), 1)
    cuda.stmatrix(s, (warp, 8 + lane % 8, 0), a)
    cuda.syncwarp()
    out[t] = cuda.ldmatrix(s, (warp, lane % 16, 0), 2)[3]
