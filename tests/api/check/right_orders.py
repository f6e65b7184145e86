"""More kernels without a mistake, as right_kernels.py has them: locks, tickets, flags and stacks of atomic operations, buffers in turn, and
what an attack on the checks tried."""

import numpy as np
from right_kernels import FULL, f32, i32, right

from pyptx import cuda
from pyptx.cuda import cg

R = np.dtype([("a", np.int32), ("b", np.float32)])


@right(2, 64, np.zeros(1, np.int32), np.zeros(1, np.int32))
def lanes_take_a_lock(lock, data):
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            cuda.threadfence()
            data[0] = data[0] + 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)
            done = True


@right(2, 64, np.zeros(1, np.int32), np.zeros(1, np.int32))
def lanes_spin_for_a_lock(lock, data):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    data[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@right(2, 64, np.zeros(2, np.int32), np.zeros(1, np.int32))
def tickets_of_lanes(t, data):
    mine = cuda.atomic.add(t, 0, 1)
    while cuda.atomic.add(t, 1, 0) != mine:
        pass
    cuda.threadfence()
    data[0] += 1
    cuda.threadfence()
    cuda.atomic.add(t, 1, 1)


@right(2, 64, np.zeros(2, np.int32), np.zeros(1, np.int32))
def tickets_polled_plainly(t, data):
    mine = cuda.atomic.add(t, 0, 1)
    while t[1] != mine:
        pass
    cuda.threadfence()
    data[0] += 1
    cuda.threadfence()
    cuda.atomic.add(t, 1, 1)


@right(2, 64, np.zeros(4, np.int32), np.zeros(4, np.int32))
def a_lock_for_each_element(lock, data):
    l = cuda.threadIdx.x % 4
    while cuda.atomic.cas(lock, l, 0, 1) != 0:
        pass
    data[l] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, l, 0)


@right(1, 64, np.zeros(64, np.int32))
def a_lock_in_shared_memory(out):
    lock = cuda.shared.array(1, np.int32)
    n = cuda.shared.array(1, np.int32)
    t = cuda.threadIdx.x
    if t == 0:
        lock[0] = 0
        n[0] = 0
    cuda.syncthreads()
    done = False
    while not done:
        if cuda.atomic.cas(lock, 0, 0, 1) == 0:
            n[0] += t
            cuda.threadfence_block()
            cuda.atomic.exch(lock, 0, 0)
            done = True
    cuda.syncthreads()
    out[t] = n[0]


@right(2, 48, np.zeros(3, np.int32), np.zeros(3, np.int32), np.zeros((3, 128), np.int32))
def a_lock_for_each_bucket(lock, count, store):
    i = cuda.grid(1)
    b = i % 3
    done = False
    while not done:
        if cuda.atomic.cas(lock, b, 0, 1) == 0:
            cuda.threadfence()
            store[b, count[b]] = i
            count[b] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, b, 0)
            done = True


@right(2, 64, np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(64, np.int32))
def a_flag_polled_plainly(flag, data, out):
    if cuda.blockIdx.x == 0:
        if cuda.threadIdx.x == 0:
            data[0] = 5
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    else:
        while flag[0] == 0:
            pass
        cuda.threadfence()
        out[cuda.threadIdx.x] = data[0]


@right(4, 64, np.arange(256, dtype=np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros(256, np.int32))
def decoupled_look_back(x, state, partial, out):
    s = cuda.shared.array(64, np.int32)
    base = cuda.shared.array(1, np.int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    s[t] = x[b * 64 + t]
    cuda.syncthreads()
    if t == 0:
        total = 0
        for k in range(64):
            total += s[k]
        before = 0
        if b > 0:
            while cuda.atomic.add(state, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            before = partial[b - 1]
        partial[b] = before + total
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)
        base[0] = before
    cuda.syncthreads()
    out[b * 64 + t] = base[0] + s[t]


@right(4, 64, np.arange(256, dtype=np.int32), np.zeros(4, np.int32), np.zeros(4, np.int32), np.zeros(256, np.int32))
def look_back_polled_plainly(x, state, partial, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        before = 0
        if b > 0:
            while state[b - 1] == 0:
                pass
            cuda.threadfence()
            before = partial[b - 1]
        partial[b] = before + x[b]
        cuda.threadfence()
        cuda.atomic.exch(state, b, 1)
        out[b] = before


@right(2, 64, np.zeros(1, np.int32), np.zeros(128, np.int32), np.zeros(128, np.int32), np.zeros(128, np.int32))
def a_stack_without_locks(head, link, value, out):
    i = cuda.grid(1)
    value[i] = i * 3
    old = cuda.atomic.add(head, 0, 0)
    while True:
        link[i] = old
        cuda.threadfence()
        seen = cuda.atomic.cas(head, 0, old, i + 1)
        if seen == old:
            break
        old = seen
    if old > 0:
        out[i] = value[old - 1]


@right(2, 64, np.arange(128), np.zeros(1, np.int64))
def a_guess_that_cas_corrects(x, s):
    v = x[cuda.grid(1)]
    old = s[0]
    while True:
        assumed = old
        old = cuda.atomic.cas(s, 0, assumed, assumed + v)
        if old == assumed:
            break


@right(2, 32, np.arange(64, dtype=np.float64), np.zeros(1, np.float64))
def a_guess_that_ends_the_loop(x, best):
    v = x[cuda.grid(1)]
    old = best[0]
    while old < v:
        seen = cuda.atomic.cas(best, 0, old, v)
        if seen == old:
            break
        old = seen


@right(2, 16, np.arange(32, dtype=np.int32) // 2, np.zeros(64, np.int32), np.zeros(64, np.int32), np.zeros(32, np.int32))
def slots_claimed_by_cas(keys, table, value, out):
    i = cuda.grid(1)
    slot = keys[i] % 64
    while True:
        old = cuda.atomic.cas(table, slot, 0, keys[i] + 1)
        if old == 0:
            value[slot] = i
            break
        if old == keys[i] + 1:
            break
        slot = (slot + 1) % 64
    cg.this_grid().sync()
    out[i] = value[slot]


@right(1, 64, np.arange(64, dtype=np.int32) % 5, np.zeros(5, np.int32), np.zeros(64, np.int32))
def sums_aggregated_by_match(keys, bins, where):
    t = cuda.threadIdx.x
    k = keys[t]
    mates = cuda.match_any_sync(FULL, k)
    leader = cuda.ffs(mates) - 1
    base = 0
    if cuda.laneid == leader:
        base = cuda.atomic.add(bins, k, cuda.popc(mates))
    base = cuda.shfl_sync(mates, base, leader)
    where[t] = base + cuda.popc(mates & ((1 << cuda.laneid) - 1))


@right(4, 32, np.zeros(1, np.int32), np.zeros(128, np.int32), np.zeros(128, np.int32))
def a_grid_barrier_of_atomics(count, x, out):
    i = cuda.grid(1)
    x[i] = i
    cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(count, 0, 1)
        while cuda.atomic.add(count, 0, 0) < cuda.gridDim.x:
            pass
    cuda.syncthreads()
    out[i] = x[(i + 40) % x.size]


@right(4, 32, np.zeros(1, np.int32), np.zeros(1, np.int32))
def a_chain_of_blocks(flag, data):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) != b:
            pass
        data[0] += b
        cuda.threadfence()
        cuda.atomic.add(flag, 0, 1)


@right(4, 64, np.arange(4, dtype=np.float32), np.zeros(4, np.float32), np.zeros(1, np.int32), np.zeros(4, np.float32))
def the_last_block_resets_the_counter(x, partial, count, out):
    s = cuda.shared.array(1, np.int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        partial[b] = x[b]
        cuda.threadfence()
        s[0] = cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if s[0] == cuda.gridDim.x - 1:
        if t < cuda.gridDim.x:
            out[t] = partial[t]
        if t == 0:
            count[0] = 0


@right(2, 32, np.zeros((3, 32), np.int32), np.zeros(1, np.int32), np.zeros(32, np.int32))
def a_mailbox_of_a_block(box, full, out):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        for k in range(3):
            box[k, t] = t + k
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            cuda.atomic.exch(full, 0, 1)
    else:
        if t == 0:
            while cuda.atomic.cas(full, 0, 1, 1) != 1:
                pass
        cuda.syncthreads()
        out[t] = box[2, 31 - t]


@right(2, 16, np.arange(64, dtype=np.int32), np.stack([np.arange(32, dtype=np.int32), np.arange(32, dtype=np.int32) + 1], 1))
def union_by_atomic_min(parent, edges):
    i = cuda.grid(1)
    a, b = edges[i, 0], edges[i, 1]
    while a != b:
        if a < b:
            a, b = b, a
        old = cuda.atomic.min(parent, a, b)
        if old == a:
            break
        a = old


@right(2, 32, np.zeros(1, np.int32), np.arange(100, dtype=np.float32), np.zeros(1, np.int32), np.zeros(100, np.float32))
def a_queue_of_work(head, items, done, out):
    while True:
        k = cuda.atomic.add(head, 0, 1)
        if k >= items.size:
            break
        out[k] = items[k] * 2


@right(1, 64, np.arange(256, dtype=np.float32), np.zeros(64, np.float32))
def two_buffers_in_turn(x, out):
    tile = cuda.shared.array((2, 64), np.float32)
    t = cuda.threadIdx.x
    tile[0, t] = x[t]
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(4):
        if k < 3:
            tile[(k + 1) % 2, t] = x[(k + 1) * 64 + t]
        total += tile[k % 2, (t + 7) % 64]
        cuda.syncthreads()
    out[t] = total


@right(1, 64, np.arange(128, dtype=np.float32), np.zeros(128, np.float32))
def warps_that_write_and_read(x, out):
    tile = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    for k in range(4):
        if t < 32:
            tile[t] = x[k * 32 + t]
        cuda.syncthreads()
        if t >= 32:
            out[k * 32 + t - 32] = tile[63 - t]
        cuda.syncthreads()


@right(1, 64, np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
def tiles_of_16_lanes(x, out):
    tile = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    w = cg.tiled_partition(cg.this_thread_block(), 16)
    tile[t] = x[t]
    w.sync()
    out[t] = tile[t ^ 5]


@right(1, 32, np.arange(32, dtype=np.float32), np.zeros(32, np.float32))
def masks_of_two_halves(x, out):
    s = cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    mask = 0xFFFF if t < 16 else 0xFFFF0000
    s[t] = x[t]
    cuda.syncwarp(mask)
    out[t] = s[t ^ 3]


@right(1, 64, np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
def a_barrier_that_ends_the_loop(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    k = 0
    while True:
        s[t] = x[t] + k
        if cuda.syncthreads_or(k > 3):
            break
        out[t] = s[63 - t]
        cuda.syncthreads()
        k += 1


@right(1, 64, np.arange(64, dtype=np.float32), np.zeros(64, np.float32))
def a_vote_as_a_barrier(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    n = cuda.syncthreads_count(x[t] > 3)
    out[t] = s[63 - t] + n


@right(1, 64, np.zeros(64))
def copies_of_records_with_an_unset_field(out):
    s = cuda.shared.array(64, R)
    q = cuda.shared.array(64, R)
    t = cuda.threadIdx.x
    s[t].a = t
    q[t] = s[t]
    out[t] = q[t].a


@right(1, 64, np.zeros(64, R))
def a_record_returned_half_set(out):
    s = cuda.local.array(2, R)
    t = cuda.threadIdx.x
    s[0].a = t
    out[t] = s[0]


@right(1, 64, np.zeros(4, np.complex128))
def all_store_the_same_complex_number(out):
    out[0] = 2+1j


@right(3, 40, np.full(1, 7), np.zeros(120))
def a_read_behind_polls_that_add_nothing(flag, out):
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass
    out[cuda.grid(1)] = flag[0] + cuda.atomic.or_(flag, 0, 0) + cuda.atomic.and_(flag, 0, -1)


@right(4, 64, i32(1) * 0, f32(2))
def a_lock_taken_many_times(lock, total):
    if cuda.threadIdx.x % 32 == 0:
        for k in range(600):
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            cuda.threadfence()
            total[k % 2] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)


@right(3, 64, i32(3) * 0, np.zeros((5, 64), np.float32), f32(64))
def a_block_that_publishes_step_by_step(flag, steps, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    for k in range(5):
        if b == 0:
            steps[k, t] = t * k
            cuda.threadfence()
            cuda.syncthreads()
            if t == 0:
                cuda.atomic.add(flag, 0, 1)
        elif t % 32 == b:
            while cuda.atomic.add(flag, 0, 0) <= k:
                pass
            cuda.threadfence()
            out[t] += steps[k, t]


@right(3, 64, i32(4) * 0, f32(4))
def order_through_two_elements(flag, x):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b:
            while cuda.atomic.add(flag, b, 0) == 0:
                pass
            cuda.threadfence()
        x[b + 1] = x[0] if b == 2 else b
        if b == 0:
            x[0] = 7
        cuda.threadfence()
        cuda.atomic.exch(flag, b + 1, 1)
