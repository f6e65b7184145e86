"""More kernels with a mistake each, as wrong_kernels.py has them: atomic operations that do not order what they seem to, barriers of the
grid, stencils in place, and what an attack on the checks tried."""

from collections import namedtuple

import numpy as np
from wrong_kernels import FULL, f32, i32, init, race, sync

from pyptx import cuda
from pyptx.cuda import cg

P = namedtuple("P", "x y")
R = np.dtype([("a", np.int32), ("b", np.float32)])


@race(1, 32, np.zeros(1, np.int32), np.zeros(1, np.int32))
def a_lane_lock_without_a_fence(lock, data):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    data[0] += 1  #!
    cuda.atomic.exch(lock, 0, 0)


@race(1, 32, np.zeros(2, np.int32), np.zeros(1, np.int32))
def two_locks_for_one_element(lock, data):
    l = cuda.threadIdx.x % 2
    while cuda.atomic.cas(lock, l, 0, 1) != 0:
        pass
    data[0] += 1  #!
    cuda.threadfence()
    cuda.atomic.exch(lock, l, 0)


@race(1, 32, np.zeros(1, np.int32), np.zeros(1, np.int32))
def a_write_behind_the_release(lock, data):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    v = data[0]  #!
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)
    data[0] = v + cuda.threadIdx.x  #!


@race(1, 64, np.zeros(64, np.int32))
def a_shared_counter_read_at_once(out):
    s = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        s[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, 0, 1)  #!
    out[t] = s[0]  #!


@race(2, 64, np.zeros(1, np.int32), np.zeros(128, np.int32))
def a_counter_read_at_once(c, out):
    cuda.atomic.add(c, 0, 1)  #!
    out[cuda.grid(1)] = c[0]  #!


@race(2, 64, np.zeros(1, np.int32), np.zeros(128, np.int32))
def a_read_before_another_blocks_sum(c, out):
    i = cuda.grid(1)
    out[i] = c[0]  #!
    cuda.syncthreads()
    if i == 70:
        cuda.atomic.add(c, 0, 1)  #!


@race(2, 64, np.zeros(1, np.int32), np.zeros(1, np.int32))
def the_last_one_reads_the_counter(c, out):
    i = cuda.grid(1)
    mine = cuda.atomic.add(c, 0, 1)  #!
    if mine == 63:
        out[0] = c[0]  #!


@race(4, 64, np.arange(256), np.zeros(16, np.int32))
def bins_read_without_a_barrier(x, out):
    s = cuda.shared.array(16, np.int32)
    t = cuda.threadIdx.x
    if t < 16:
        s[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(s, x[cuda.grid(1)] & 15, 1)  #!
    if t < 16:
        cuda.atomic.add(out, t, s[t])  #!


@race(4, 64, np.arange(4, dtype=np.float32), np.zeros(4, np.float32), np.zeros(1, np.int32), np.zeros(4, np.float32))
def the_last_block_without_a_fence(x, partial, count, out):
    s = cuda.shared.array(1, np.int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        partial[b] = x[b]  #!
        s[0] = cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if s[0] == cuda.gridDim.x - 1 and t < cuda.gridDim.x:
        out[t] = partial[t]  #!


@race(4, 64, np.arange(256, dtype=np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros(256, np.int32))
def look_back_without_a_fence(x, state, partial, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        before = 0
        if b > 0:
            while cuda.atomic.add(state, b - 1, 0) == 0:
                pass
            before = partial[b - 1]  #!
        partial[b] = before + x[b]  #!
        cuda.atomic.exch(state, b, 1)
        out[b] = before


@race(2, 64, np.zeros(1, np.int32), np.zeros(128, np.int32), np.zeros(128, np.int32), np.zeros(128, np.int32))
def a_stack_without_a_fence(head, link, value, out):
    i = cuda.grid(1)
    value[i] = i * 3  #!
    old = cuda.atomic.exch(head, 0, i + 1)
    if old > 0:
        out[i] = value[old - 1]  #!


@race(4, 32, np.zeros(1, np.int32), np.zeros(128, np.int32) - 1, np.zeros(128, np.int32))
def a_grid_barrier_without_a_fence(count, x, out):
    i = cuda.grid(1)
    x[i] = i  #!
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(count, 0, 1)
        while cuda.atomic.add(count, 0, 0) < cuda.gridDim.x:
            pass
    cuda.syncthreads()
    out[i] = x[(i + 40) % x.size]  #!


@race(2, 64, np.zeros(64, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32))
def a_mailbox_without_a_barrier(box, full, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        box[t] = t + 1  #!
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(full, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.add(full, 0, 0) != 1:
                pass
        cuda.syncthreads()
        out[t] = box[63 - t]  #!


@race(2, 32, np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32))
def a_fence_of_the_block_for_another_block(flag, data, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            data[0] = 5  #!
            cuda.threadfence_block()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            out[0] = data[0]  #!


@race(1, 32, np.arange(32, dtype=np.float32), np.zeros(32, np.float32))
def masks_of_the_other_half(x, out):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    mask = 0xFFFF if t < 16 else 0xFFFF0000
    s[t] = x[t]  #!
    cuda.syncwarp(mask)
    out[t] = s[t ^ 16]  #!


@race(1, 32, np.arange(32, dtype=np.int32) % 5, np.zeros(32, np.int32))
def a_leader_that_nobody_waits_for(keys, out):
    s = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    mates = cuda.match_any_sync(FULL, keys[t])
    leader = cuda.ffs(mates) - 1
    if t == leader:
        s[leader] = keys[t]  #!
    out[t] = s[leader]  #!


@race(1, 64, np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
def a_neighbour_in_the_next_warp(x, out):
    s = cuda.shared.array(65, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  #!
    if t == 0:
        s[64] = 0
    cuda.syncwarp()
    v = s[t + 1]  #!
    out[t] = v


@race(1, 64, np.arange(64, dtype=np.float32) + 1, np.zeros(256, np.float32))
def one_barrier_for_two(x, out):
    s = cuda.shared.array(1, np.float32)
    t = cuda.threadIdx.x
    for k in range(4):
        if t == k:
            s[0] = x[k]  #!
        cuda.syncthreads()
        out[k * 64 + t] = s[0]  #!


@race(1, 64, np.arange(256, dtype=np.float32), np.zeros(64, np.float32))
def three_buffers_in_two(x, out):
    tile = cuda.shared.array((2, 64), np.float32)
    t = cuda.threadIdx.x
    tile[0, t] = x[t]
    tile[1, t] = x[64 + t]
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(4):
        total += tile[k % 2, (t + 7) % 64]  #!
        if k < 2:
            tile[k % 2, t] = x[(k + 2) * 64 + t]  #!
        cuda.syncthreads()
    out[t] = total


@race(1, 64, np.zeros(192, np.int32))
def a_reset_while_others_read(out):
    s = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    for k in range(3):
        if t == 0:
            s[0] = 0  #!
        cuda.syncthreads()
        cuda.atomic.add(s, 0, 1)
        cuda.syncthreads()
        out[k * 64 + t] = s[0]  #!


@race(4, 32, np.arange(128, dtype=np.float32), np.zeros(128, np.float32))
def the_wrong_buffer(a, b):
    g = cg.this_grid()
    i, n = cuda.grid(1), cuda.gridsize(1)
    for k in range(3):
        if k % 2 == 0:
            b[i] = a[(i + 1) % n] + a[i]
        else:
            b[i] = b[(i + 1) % n] + a[i]  #!
        g.sync()


@race(4, 32, np.arange(128, dtype=np.float32), np.zeros(128, np.float32))
def a_step_without_the_grids_barrier(a, b):
    g = cg.this_grid()
    i, n = cuda.grid(1), cuda.gridsize(1)
    for k in range(4):
        if k % 2 == 0:
            b[i] = a[(i + 1) % n] + a[i]  #!
            g.sync()
        else:
            a[i] = b[(i + 1) % n] + b[i]  #!


@race(2, 16, np.arange(32, dtype=np.int32) // 2, np.zeros(64, np.int32), np.zeros(64, np.int32), np.zeros(32, np.int32))
def a_slot_read_while_it_is_filled(keys, table, value, out):
    i = cuda.grid(1)
    slot = keys[i] % 64
    old = cuda.atomic.cas(table, slot, 0, keys[i] + 1)
    if old == 0:
        value[slot] = i + 1  #!
    out[i] = value[slot]  #!


@race(1, 64, np.zeros(64, np.int32))
def a_plain_write_beside_sums(x):
    t = cuda.threadIdx.x
    cuda.atomic.add(x, t, 1)  #!
    if t % 2 == 0 and t < 32:
        x[t + 1] = 7  #!


@race(4, 64, np.arange(256, dtype=np.float32) ** 2)
def a_stencil_in_place(u):
    i = cuda.grid(1)
    if 0 < i < u.size - 1:
        u[i] = (u[i - 1] + u[i] + u[i + 1]) / 3  #!


@race((2,4), (32,8), np.arange(2048.0).reshape(32, 64) ** 2)
def a_stencil_in_a_plane_in_place(u):
    x, y = cuda.grid(2)
    if 0 < x < u.shape[1] - 1 and 0 < y < u.shape[0] - 1:
        u[y, x] = (u[y - 1, x] + u[y + 1, x] + u[y, x - 1] + u[y, x + 1]) / 4  #!


@race(4, 64, np.arange(256, dtype=np.float32), np.zeros(256, np.float32))
def a_write_of_what_many_read(u, out):
    i = cuda.grid(1)
    s = np.float32(0)
    for k in range(-6, 7):
        j = i + k
        if 0 <= j < u.size:
            s += u[j]  #!
    out[i] = s
    if i == 200:
        u[i - 150] = s  #!


@race(4, 64, np.arange(256, dtype=np.float32), np.zeros(256, np.float32))
def a_write_of_what_two_read(u, out):
    i = cuda.grid(1)
    out[i] = u[i // 2]  #!
    if i == 255:
        u[3] = 9  #!


@race(1, 32, np.zeros((32, 40), np.int32))
def a_row_of_another_thread(a):
    r = cuda.threadIdx.x
    for k in range(a.shape[1]):
        a[r, k] = r  #!
    if r == 31:
        a[0, 5] = 77  #!


@race(1, 64, np.zeros(4, np.complex128))
def complex_numbers_that_differ(out):
    out[0] = cuda.threadIdx.x + 1j  #!


@init(1, 64, np.zeros(64))
def an_unset_field_of_a_copy(out):
    s = cuda.shared.array(64, R)
    q = cuda.shared.array(64, R)
    t = cuda.threadIdx.x
    s[t].a = t
    q[t] = s[t]
    out[t] = q[t].b  #!


@sync(2, 32, np.ones(64))
def a_block_that_has_left_the_grid(x):
    g = cg.this_grid()
    if cuda.blockIdx.x == 1:  #!
        return
    g.sync()  #!
    x[cuda.grid(1)] = 1


@sync(3, 32, np.ones(96))
def a_block_that_misses_the_grids_barrier(x):
    g = cg.this_grid()
    if cuda.blockIdx.x != 1:
        g.sync()  #!
    x[cuda.grid(1)] = 1  #!


@sync(3, 32, np.ones(96))
def a_thread_that_misses_the_grids_barrier(x):
    g = cg.this_grid()
    if cuda.grid(1) != 40:
        g.sync()  #!
    x[cuda.grid(1)] = 1  #!


@race(1, 32, P(np.ones(33), np.ones(33)))
def a_named_tuples_array(p):
    t = cuda.threadIdx.x
    q = p.y
    q[t] = p.y[t + 1]  #!


@race(1, 32, (np.ones(33), np.ones(33)))
def arrays_of_a_tuple_in_turn(p):
    t = cuda.threadIdx.x
    for a in p:
        a[t] = a[t + 1]  #!


@race(1, 64, np.zeros(300, np.float32))
def vectors_read_and_written(x):
    t = cuda.threadIdx.x
    v = cuda.vector.load(x, 4 * t, 4)  #!
    cuda.vector.store(x, 2 * t, (v.x, v.y))  #!


@race(2, 1, i32(1) * 0, f32(1))
def a_lock_released_before_the_write(lock, total):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    v = total[0] + 1  #!
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)
    total[0] = v  #!


@race(2, 32, i32(1) * 0, f32(64))
def a_flag_set_before_the_data(flag, x):
    i = cuda.grid(1)
    if i == 0:
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
        x[0] = 7  #!
    elif i == 40:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        cuda.threadfence()
        x[1] = x[0]  #!


@race(2, 64, i32(8))
def both_ends_of_a_short_array(x):
    t = cuda.grid(1)
    if t < 16:
        x[t - 8] = t  #!


@race(1, 64, i32(65))
def ends_that_meet(x):
    t = cuda.grid(1)
    v = x[t]  #!
    x[-1 - t] = v + t  #!


@race((1, 1), (16, 16), f32(16, 16))
def columns_read_before_the_barrier(out):
    tile = cuda.shared.array((16, 17), np.int8)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[tx, ty] = tx  #!
    if ty == 15:
        cuda.syncwarp()
    v = tile[ty, tx]  #!
    cuda.syncthreads()
    out[ty, tx] = v


@race((1, 1), (16, 16), f32(16, 16))
def written_after_it_was_read(out):
    tile = cuda.shared.array((16, 17), np.int16)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = tx + ty
    cuda.syncthreads()
    out[ty, tx] = tile[tx, ty]  #!
    tile[tx, 15 - ty] = 16 * ty + tx  #!


@race(2, 32, i32(4) * 0, f32(64))
def a_ticket_that_is_another_than_the_release(q, x):
    if cuda.threadIdx.x == 0:
        mine = cuda.atomic.add(q, 0, 1)
        x[0] = x[0] + mine  #!
        cuda.threadfence()
        cuda.atomic.add(q, 1, 1)


@race(2, 32, i32(2) * 0, f32(1))
def a_lock_for_each_block(lock, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, cuda.blockIdx.x, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1  #!
        cuda.threadfence()
        cuda.atomic.exch(lock, cuda.blockIdx.x, 0)


@race(2, 64, f32(200), f32(128))
def two_stores_into_a_line(x, out):
    i = cuda.grid(1)
    if i % 3 == 0:
        x[i] = 1  #!
    else:
        x[i] = 2
    out[i] = x[(i + 5) % 128] if i == 100 else 0  #!


@race(2, 32, f32(1), f32(64))
def read_beside_the_same_value(x, out):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        x[0] = 7  #!
    cuda.syncthreads()
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == 0:
        out[i] = x[0]  #!
