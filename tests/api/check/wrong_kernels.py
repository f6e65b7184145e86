"""Kernels with a mistake each, and what is found: each row is (checks, class, kernel, blocks, threads, arguments). The lines of the finding
end in `#!`, of both sides; one line where both are there."""

import numpy as np

from pyptx import cuda
from pyptx.errors import RaceError, SyncError, UnsetError

ROWS = []
FULL = 0xFFFFFFFF


def f32(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1


def i32(*shape):
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


def finds(error, blocks, threads, *arguments, check="race,sync,init"):
    def add(kernel):
        ROWS.append((check, error, kernel, blocks, threads, arguments))
        return kernel

    return add


def race(*how, **more):
    return finds(RaceError, *how, **more)


def sync(*how, **more):
    return finds(SyncError, *how, **more)


def init(*how, **more):
    return finds(UnsetError, *how, **more)


# --- races in shared memory: a barrier is missing


@race(1, 64, f32(64), f32(64))
def reversed_without_a_barrier(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  #!
    out[t] = tile[63 - t]  #!


@race(1, 64, f32(64), f32(64))
def reversed_from_behind(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    tile[63 - t] = x[t]  #!
    out[t] = tile[t]  #!


@race(1, 128, f32(128), f32(1))
def tree_without_the_barrier_in_the_loop(x, out):
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    n = 64
    while n:
        if t < n:
            s[t] += s[t + n]  #!
        n //= 2
    if t == 0:
        out[0] = s[0]


@race(1, 128, f32(128), f32(1))
def tree_without_the_first_barrier(x, out):
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  #!
    n = 64
    while n:
        if t < n:
            s[t] += s[t + n]  #!
        cuda.syncthreads()
        n //= 2
    if t == 0:
        out[0] = s[0]


@race(1, 64, f32(64), f32(1))
def tree_off_by_one(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    n = 32
    while n:
        if t <= n and t + n < 64:
            s[t] += s[t + n]  #!
        cuda.syncthreads()
        n //= 2
    if t == 0:
        out[0] = s[0]


@race(1, 64, f32(64), f32(1))
def last_warp_without_syncwarp(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t < 32:
        s[t] += s[t + 32]
        cuda.syncwarp()
        s[t] += s[(t + 16) % 32]  #!
    if t == 0:
        out[0] = s[0]


@race(1, 64, f32(64), f32(64))
def scan_in_one_buffer(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 64:
        if t >= d:
            s[t] += s[t - d]  #!
        cuda.syncthreads()
        d *= 2
    out[t] = s[t]


@race(1, 64, f32(256), f32(256))
def tiles_without_the_second_barrier(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    for k in range(4):
        tile[t] = x[64 * k + t]  #!
        cuda.syncthreads()
        out[64 * k + t] = tile[63 - t]  #!


@race((2, 2), (8, 8), f32(16, 16), f32(16, 16), f32(16, 16))
def matmul_without_the_second_barrier(a, b, c):
    sa = cuda.shared.array((8, 8), np.float32)
    sb = cuda.shared.array((8, 8), np.float32)
    y, x = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    total = np.float32(0)
    for k in range(2):
        sa[i, j] = a[y, 8 * k + j]
        sb[i, j] = b[8 * k + i, x]  #!
        cuda.syncthreads()
        for m in range(8):
            total += sa[i, m] * sb[m, j]  #!
    c[y, x] = total


@race((2, 2), (8, 8), f32(16, 16), f32(16, 16))
def transposed_tile_without_a_barrier(a, b):
    tile = cuda.shared.array((8, 9), np.float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    tile[i, j] = a[cuda.blockIdx.x * 8 + i, cuda.blockIdx.y * 8 + j]  #!
    b[cuda.blockIdx.y * 8 + i, cuda.blockIdx.x * 8 + j] = tile[j, i]  #!


@race(1, 64, i32(64) % 8, i32(8))
def shared_histogram_without_atomics(x, out):
    h = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    if t < 8:
        h[t] = 0
    cuda.syncthreads()
    h[x[t]] += 1  #!
    cuda.syncthreads()
    if t < 8:
        out[t] = h[t]


@race(1, 64, i32(64) % 8, i32(8))
def histogram_cleared_by_one_without_a_barrier(x, out):
    h = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    if t == 63:
        for k in range(8):
            h[k] = 0  #!
    cuda.atomic.add(h, x[t], 1)  #!
    cuda.syncthreads()
    if t < 8:
        out[t] = h[t]


@race(1, 64, f32(64), f32(64))
def broadcast_without_a_barrier(x, out):
    head = cuda.shared.array(1, np.float32)
    t = cuda.threadIdx.x
    if t == 0:
        head[0] = x[5]  #!
    out[t] = head[0]  #!


@race(1, 64, f32(64), f32(64))
def broadcast_from_the_last_thread(x, out):
    head = cuda.shared.array(1, np.float32)
    t = cuda.threadIdx.x
    head[0] = x[0] if t == 0 else head[0]  #!
    cuda.syncthreads()
    out[t] = head[0]


@race(1, 64, f32(64), f32(64))
def neighbours_in_place(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    if t > 0:
        s[t] = s[t] + s[t - 1]  #!
    cuda.syncthreads()
    out[t] = s[t]


@race(1, 64, f32(64), f32(64))
def swapped_pairs(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    mine = s[t ^ 1]  #!
    s[t] = mine  #!
    cuda.syncthreads()
    out[t] = s[t]


@race(1, 64, f32(64), f32(64))
def bitonic_step_by_all(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = -x[t]
    cuda.syncthreads()
    other = t ^ 32
    if s[t] > s[other]:  #!
        s[t], s[other] = s[other], s[t]  #!
    cuda.syncthreads()
    out[t] = s[t]


def put(tile, t, value):
    tile[t] = value  #!


def take(tile, t):
    return tile[63 - t]  #!


@race(1, 64, f32(64), f32(64))
def in_device_functions(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    put(tile, t, x[t])
    out[t] = take(tile, t)


@race(1, 64, f32(64), f32(64))
def fence_instead_of_a_barrier(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  #!
    cuda.threadfence_block()
    out[t] = tile[63 - t]  #!


@race(1, 64, f32(64), f32(64))
def syncwarp_instead_of_a_barrier(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  #!
    cuda.syncwarp()
    out[t] = tile[63 - t]  #!


@race(1, 32, f32(32), f32(32))
def half_a_warp_synchronised(x, out):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  #!
    if t < 16:
        cuda.syncwarp(0xFFFF)
        out[t] = s[t + 16]  #!


@race(1, 32, f32(32), f32(32))
def two_halves_synchronised_apart(x, out):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  #!
    if t < 16:
        cuda.syncwarp(0x0000FFFF)
    else:
        cuda.syncwarp(0xFFFF0000)
    out[t] = s[31 - t]  #!


@race(1, 64, f32(64), f32(64))
def ballot_in_each_warp_alone(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  #!
    cuda.ballot_sync(FULL, t > 3)
    out[t] = s[63 - t]  #!


@race(1, 64, f32(64), f32(64))
def bytes_of_neighbours(x, out):
    s = cuda.shared.array(64, np.uint8)
    t = cuda.threadIdx.x
    s[t] = np.uint8(t)  #!
    out[t] = s[(t + 1) % 64]  #!


@race(1, (8, 8), f32(8, 8), f32(8, 8))
def stencil_of_a_tile(x, out):
    s = cuda.shared.array((8, 8), np.float32)
    i, j = cuda.grid(2)
    s[i, j] = x[i, j]
    cuda.syncthreads()
    if 0 < i < 7:
        s[i, j] = (s[i - 1, j] + s[i + 1, j]) / 2  #!
    cuda.syncthreads()
    out[i, j] = s[i, j]


@race(1, 64, f32(64), f32(64))
def dynamic_shared_without_a_barrier(x, out):
    s = cuda.shared.array(64, np.float64)
    t = cuda.threadIdx.x
    s[t] = x[t]  #!
    out[t] = s[63 - t]  #!


@race(1, 64, f32(64), f32(64))
def double_buffer_used_as_one(x, out):
    s = cuda.shared.array((2, 64), np.float32)
    t = cuda.threadIdx.x
    s[0, t] = x[t]
    cuda.syncthreads()
    for k in range(3):
        s[0, t] = s[0, (t + 1) % 64]  #!
        cuda.syncthreads()
    out[t] = s[0, t]


@race(1, 64, f32(64), f32(64))
def barrier_before_the_write(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    cuda.syncthreads()
    s[t] = x[t]  #!
    out[t] = s[t ^ 63]  #!


# --- races in global memory, within a block


@race(1, 64, f32(64))
def stencil_in_place(x):
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        x[i] = (x[i - 1] + x[i + 1]) / 2  #!


@race(1, 64, f32(64))
def prefix_in_place(x):
    i = cuda.grid(1)
    if i:
        x[i] += x[i - 1]  #!


@race(1, (8, 8), f32(8, 8))
def transposed_in_place(a):
    i, j = cuda.grid(2)
    a[i, j] = a[j, i]  #!


@race(1, 64, f32(64))
def reversed_in_place(x):
    i = cuda.grid(1)
    x[i] = x[x.size - 1 - i]  #!


@race(1, 64, f32(64), f32(1))
def sum_into_one_element(x, out):
    i = cuda.grid(1)
    out[0] += x[i]  #!


@race(1, 64, f32(64), f32(1))
def largest_without_atomics(x, out):
    i = cuda.grid(1)
    if x[i] > out[0]:  #!
        out[0] = x[i]  #!


@race(1, 64, f32(64), i32(1))
def last_writer(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        out[0] = i  #!


@race(1, 64, f32(64), i32(64), i32(1))
def compaction_with_a_plain_counter(x, out, n):
    i = cuda.grid(1)
    if x[i] > 3:
        k = n[0]  #!
        n[0] = k + 1  #!
        out[k] = i


@race(1, 64, i32(64) // 2, f32(64), f32(64))
def scattered_to_one_place(index, x, out):
    i = cuda.grid(1)
    out[index[i]] = x[i]  #!


@race(1, 64, f32(65))
def shifted_in_place(x):
    i = cuda.grid(1)
    x[i] = x[i + 1]  #!


@race(1, 64, f32(64), i32(4))
def plain_store_beside_atomics(x, out):
    i = cuda.grid(1)
    cuda.atomic.add(out, 0, 1)  #!
    if i == 40:
        out[0] = 0  #!


@race(1, 64, f32(64), f32(64))
def steps_through_global_memory(x, out):
    t = cuda.grid(1)
    out[t] = x[t]  #!
    x[t] = out[63 - t] + 1  #!


@race(1, 64, f32(128))
def overlapping_pieces(x):
    t = cuda.grid(1)
    for k in range(2):
        x[t + k] = t  #!


@race(1, 64, f32(64, 3), f32(1))
def one_column_short(a, out):
    i = cuda.grid(1)
    flat = a.reshape(a.size)
    for k in range(4):
        if 3 * i + k < flat.size:
            flat[3 * i + k] = i * 10 + k  #!


@race(1, 64, np.zeros(64, np.complex64), np.zeros(64, np.complex64))
def complex_numbers(x, out):
    t = cuda.grid(1)
    x[t] = complex(t, 1)  #!
    out[t] = x[63 - t]  #!


@race(1, 64, np.zeros(64, [("a", "f4"), ("b", "f4")]), f32(64))
def fields_of_records(p, out):
    t = cuda.grid(1)
    p[t].a = t  #!
    out[t] = p[63 - t].a  #!


# --- races between blocks


@race(4, 32, f32(128))
def neighbour_blocks(x):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0 and i:
        x[i] = x[i - 1]  #!
    elif cuda.threadIdx.x == 31:
        x[i] = i  #!


@race(4, 32, f32(128), f32(1))
def sum_of_blocks_without_atomics(x, out):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    if t == 0:
        total = np.float32(0)
        for k in range(32):
            total += s[k]
        out[0] += total  #!


@race(4, 32, i32(128) // 32, i32(8))
def histogram_of_blocks(x, h):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        h[x[i] // 2] += 1  #!


@race((4, 4), (8, 8), f32(32, 32))
def transposed_in_place_by_blocks(a):
    i, j = cuda.grid(2)
    if cuda.blockIdx.x != cuda.blockIdx.y:
        a[i, j] = a[j, i]  #!


@race(4, 32, f32(128), f32(4), f32(1), i32(1) * 0)
def last_block_without_a_fence(x, part, out, count):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[32 * b]  #!
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            total = np.float32(0)
            for k in range(cuda.gridDim.x):
                total += part[k]  #!
            out[0] = total


@race(4, 32, f32(128), f32(4), f32(1), i32(1) * 0)
def last_block_with_the_fence_behind(x, part, out, count):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[32 * b]  #!
        mine = cuda.atomic.add(count, 0, 1)
        cuda.threadfence()
        if mine == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                out[0] += part[k]  #!


@race(4, 32, f32(128), f32(4), f32(1), i32(1) * 0)
def last_block_with_a_fence_of_the_block(x, part, out, count):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        part[b] = x[32 * b]  #!
        cuda.threadfence_block()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            for k in range(cuda.gridDim.x):
                out[0] += part[k]  #!


@race(4, 64, f32(256), f32(256), i32(1) * 0)
def last_block_without_a_barrier_before_the_fence(x, part, count):
    i = cuda.grid(1)
    part[i] = x[i]  #!
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.add(count, 0, 1) == cuda.gridDim.x - 1:
            total = np.float32(0)
            for k in range(32, part.size):
                total += part[k]  #!
            x[0] = total


@race(2, 32, f32(64), i32(1) * 0)
def plain_flag(x, flag):
    i = cuda.grid(1)
    if i == 40:
        flag[0] = 1 + flag[0]  #!
    elif i == 2:
        x[0] = flag[0]  #!


@race(4, 32, f32(32), f32(128))
def all_blocks_write_one_row(row, out):
    t = cuda.threadIdx.x
    row[t] = cuda.blockIdx.x  #!
    out[cuda.grid(1)] = 1


@race(4, 32, f32(128))
def barrier_between_blocks(x):
    i = cuda.grid(1)
    x[i] = i  #!
    cuda.syncthreads()
    x[(i + 32) % 128] += 1  #!


# --- several elements at once


@race(1, 64, f32(256), f32(256))
def vectors_without_a_barrier(x, out):
    s = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    cuda.vector.store(s, 4 * t, cuda.vector.load(x, 4 * t, 4))  #!
    out[t] = s[4 * (63 - t) + 3]  #!


@race(1, 64, f32(260))
def vectors_that_overlap(out):
    t = cuda.threadIdx.x
    cuda.vector.store(out, 2 * t, (t, t, t, t), alignment=4)  #!


@init(1, 32, f32(32), check="init")
def half_of_a_vector_is_unset(out):
    part = cuda.local.array(8, np.float32)
    t = cuda.threadIdx.x
    for i in range(6):
        part[i] = t
    out[t] = cuda.vector.load(part, 4, 4)[0]  #!


# --- stretches of a tile that overlap by an element, ends of an array


@race(2, 96, f32(192), check="race")
def one_element_of_the_next_stretch(out):
    s = cuda.shared.array(512, np.float32)
    t, n = cuda.threadIdx.x, cuda.blockDim.x
    s[n - 1 - t] = t
    s[2 * n + t] = t  #!
    out[cuda.grid(1)] = s[n + 1 + t]  #!


@race(2, 100, f32(200), check="race")
def one_byte_of_the_next_element(out):
    s = cuda.shared.array(512, np.int32)
    b = s.view(np.int8)
    t = cuda.threadIdx.x
    s[t] = t  #!
    out[cuda.grid(1)] = b[4 * t + 4]  #!


@race(2, 64, f32(128), check="race")
def what_another_warp_has_written_between(out):
    s = cuda.shared.array(512, np.float32)
    t = cuda.threadIdx.x
    s[t] = t  #!
    s[256 + t] = t
    cuda.syncwarp()
    s[t ^ 32] = t + 9  #!


@race(4, 64, f32(256), check="race")
def two_update_one_end(a):
    i = cuda.grid(1) // 2
    a[a.size - 1 - i] = a[a.size - 1 - i] * 0  #!


@race(2, 64, f32(128), i32(8), check="race")
def a_guess_at_another_computed_index(x, best):
    i = cuda.grid(1)
    v = int(x[i])
    if v > best[i % 4 + 2]:  #!
        cuda.atomic.max(best, i % 4 + 1, v)  #!


# --- matrices: a lane's row of 16 bytes


@race(1, 32, f32(32))
def rows_of_other_lanes(out):
    s = cuda.shared.array((16, 16), np.float16)
    t = cuda.threadIdx.x
    for i in range(t, 256, 32):
        s[i // 16, i % 16] = i  #!
    out[t] = cuda.ldmatrix(s, (t % 16, 8 * (t // 16)), 4)[0]  #!


@race(1, 64, f32(64))
def rows_of_other_warps(out):
    s = cuda.shared.array((16, 8), np.float16)
    t = cuda.threadIdx.x
    h = np.float16(t)
    cuda.stmatrix(s, (t % 16, 0), (h, h, h, h))  #!


@init(1, 32, f32(32), check="init")
def half_of_the_rows_are_unset(out):
    s = cuda.shared.array((16, 8), np.float16)
    t = cuda.threadIdx.x
    for i in range(t, 64, 32):
        s[i // 8, i % 8] = i
    cuda.syncwarp()
    a = cuda.ldmatrix(s, (t % 8, 0), 1)
    out[t] = a[0] + cuda.ldmatrix(s, (t % 16, 0), 2)[0]  #!
