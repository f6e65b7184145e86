"""Kernels with a mistake each, as wrong_kernels.py has them: barriers and warp operations that threads do not reach, and memory that is
read before it is written."""

import numpy as np
from wrong_kernels import FULL, f32, i32, init, sync

from pyptx import cuda


# --- barriers that not all threads reach


@sync(1, 64, f32(64))
def returned_before_the_barrier(x):
    i = cuda.grid(1)
    if i >= 40:  #!
        return
    cuda.syncthreads()  #!
    x[i] = 1


@sync(1, 64, f32(64), 50)
def guard_around_everything(x, n):
    i = cuda.grid(1)
    if i < n:  #!
        x[i] = 1
        cuda.syncthreads()  #!
        x[i] = 2


@sync(2, 64, f32(100), f32(2))
def guard_in_the_last_block(x, out):
    s = cuda.shared.array(64, np.float32)
    i = cuda.grid(1)
    t = cuda.threadIdx.x
    if i >= x.size:  #!
        return
    s[t] = x[i]
    cuda.syncthreads()  #!
    if t == 0:
        out[cuda.blockIdx.x] = s[1]


@sync(1, 64, f32(64))
def different_barriers(x):
    i = cuda.grid(1)
    if i < 32:
        x[i] = 1
        cuda.syncthreads()  #!
    else:
        x[i] = 2
        cuda.syncthreads()  #!


@sync(1, 64, f32(64))
def a_barrier_in_one_branch(x):
    i = cuda.grid(1)
    if i % 2:
        x[i] = 1
        cuda.syncthreads()  #!
    x[i] = 2
    cuda.syncthreads()  #!


@sync(1, 64, f32(64))
def trip_counts_by_thread(x):
    i = cuda.grid(1)
    for k in range(i // 32 + 1):  #!
        x[i] += k
        cuda.syncthreads()  #!


@sync(1, 64, f32(64))
def grid_stride_that_does_not_divide(x):
    for i in range(cuda.grid(1), 100, cuda.gridsize(1)):  #!
        x[i % 64] += 0
        cuda.syncthreads()  #!


@sync(1, 64, f32(64), check="sync")
def a_while_that_some_leave(x):
    i = cuda.grid(1)
    while x[i] < 40:
        x[i] *= 2
        cuda.syncthreads()  #!
    x[i] = 0
    cuda.syncthreads()  #!


@sync(1, 64, f32(64))
def a_break_before_the_barrier(x):
    i = cuda.grid(1)
    for k in range(4):
        if k == 2 and i == 7:
            break
        cuda.syncthreads()  #!
    x[i] = 1
    cuda.syncthreads()  #!


@sync(1, 64, f32(64))
def a_continue_around_the_barrier(x):
    i = cuda.grid(1)
    for k in range(2):
        if i == 9:
            continue
        cuda.syncthreads()  #!
    x[i] = 1
    cuda.syncthreads()  #!


@sync(1, 64, i32(64), i32(1))
def a_vote_of_some(x, out):
    i = cuda.grid(1)
    if i < 60:  #!
        out[0] = cuda.syncthreads_count(x[i] > 3)  #!


@sync(1, 64, i32(64), i32(64))
def votes_of_different_kinds(x, out):
    i = cuda.grid(1)
    if i < 32:
        out[i] = cuda.syncthreads_and(x[i] > 3)  #!
    else:
        out[i] = cuda.syncthreads_or(x[i] > 3)  #!


def wait():
    cuda.syncthreads()  #!


@sync(1, 64, f32(64))
def a_barrier_in_a_function(x):
    i = cuda.grid(1)
    if i > 3:  #!
        wait()
        x[i] = 1


@sync(1, (8, 8), f32(8, 8))
def rows_that_return(x):
    i, j = cuda.grid(2)
    if i == 5:  #!
        return
    cuda.syncthreads()  #!
    x[i, j] = 0


# --- warp operations whose lanes are not there


@sync(1, 32, i32(32))
def shuffle_in_half_a_warp(x):
    t = cuda.grid(1)
    if t < 16:
        x[t] = cuda.shfl_down_sync(FULL, x[t], 1)  #!
    cuda.syncthreads()  #!


@sync(1, 32, i32(32))
def vote_in_a_branch(x):
    t = cuda.grid(1)
    if t % 2:
        x[t] = cuda.ballot_sync(FULL, True)  #!
    else:
        cuda.syncwarp(0x55555555)
        x[t] = cuda.any_sync(FULL, True)  #!


@sync(1, 32, i32(32))
def syncwarp_in_a_branch(x):
    t = cuda.grid(1)
    if t < 20:
        cuda.syncwarp()  #!
    x[t] = 1
    cuda.syncthreads()  #!


@sync(1, 32, i32(32))
def a_mask_without_the_lane(x):
    t = cuda.grid(1)
    x[t] = cuda.shfl_sync(0xFFFF, x[t], 0)  #!


@sync(1, 32, i32(32))
def a_mask_of_others(x):
    t = cuda.grid(1)
    if t < 4:
        cuda.syncwarp(0xF0)  #!
    x[t] = 0


@sync(1, 32, i32(32))
def values_of_lanes_that_left(x):
    t = cuda.grid(1)
    if t >= 20:  #!
        return
    v = x[t]
    v += cuda.shfl_down_sync(FULL, v, 16)  #!
    x[t] = v


@sync(1, 48, i32(48))
def values_of_lanes_that_never_were(x):
    t = cuda.grid(1)
    v = x[t]
    v += cuda.shfl_down_sync(FULL, v, 16)  #!
    x[t] = v


@sync(1, 32, i32(32))
def two_masks_for_one_shuffle(x):
    t = cuda.grid(1)
    x[t] = cuda.shfl_xor_sync(FULL if t < 16 else 0xFFFF0000, x[t], 1)  #!
    cuda.syncthreads()  #!


@sync(1, 32, i32(32))
def a_shuffle_and_a_vote(x):
    t = cuda.grid(1)
    if t < 8:
        x[t] = cuda.shfl_sync(FULL, t, 0)  #!
    else:
        x[t] = cuda.all_sync(FULL, t > 3)  #!


# --- memory that is read before it is written


@init(1, 64, f32(50), f32(64))
def the_tail_of_a_tile(x, out):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    if t < x.size:
        s[t] = x[t]
    cuda.syncthreads()
    out[t] = s[t]  #!


@init(1, 64, f32(64), f32(64))
def the_halo_of_a_tile(x, out):
    s = cuda.shared.array(66, np.float32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    cuda.syncthreads()
    out[t] = s[t] + s[t + 1] + s[t + 2]  #!


@init(1, 32, i32(32), i32(8))
def a_histogram_that_nobody_clears(x, out):
    h = cuda.shared.array(8, np.int32)
    t = cuda.threadIdx.x
    cuda.atomic.add(h, x[t] % 8, 1)  #!
    cuda.syncthreads()
    if t < 8:
        out[t] = h[t]


@init(1, 32, i32(32), i32(1))
def a_counter_that_nobody_clears(x, out):
    n = cuda.shared.array(1, np.int32)
    if x[cuda.threadIdx.x] > 3:
        cuda.atomic.add(n, 0, 1)  #!
    cuda.syncthreads()
    out[0] = n[0]


@init(1, 32, f32(32))
def a_local_array(x):
    a = cuda.local.array(4, np.float32)
    for k in range(3):
        a[k] = k
    x[cuda.grid(1)] = a[0] + a[3]  #!


@init(1, 32, f32(32), f32(32))
def a_local_sum(x, out):
    total = cuda.local.array(1, np.float64)
    for k in range(3):
        total[0] += x[k]  #!
    out[cuda.grid(1)] = total[0]


@init(1, 32, f32(32))
def a_local_array_by_another_index(x):
    a = cuda.local.array(8, np.int32)
    t = cuda.grid(1)
    a[t % 8] = 1
    x[t] = a[(t + 1) % 8]  #!


@init(1, 32, f32(32))
def a_local_array_across_a_barrier(x):
    a = cuda.local.array(8, np.int32)
    t = cuda.grid(1)
    a[t % 8] = 1
    cuda.syncthreads()
    x[t] = a[(t + 3) % 8]  #!


@init(1, 64, f32(64), f32(1))
def a_tree_over_more_than_there_is(x, out):
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    s[t] += s[t + 64]  #!
    cuda.syncthreads()
    if t == 0:
        out[0] = s[0]


@init(1, 32, f32(32), "device_array")
def a_sum_into_a_new_array(x, out):
    t = cuda.grid(1)
    out[t] += x[t]  #!


@init(2, 32, f32(64), "device_array")
def a_hole_in_a_new_array(x, out):
    t = cuda.grid(1)
    if t != 5:
        out[t] = x[t]
    x[t] = out[t]  #!


@init(1, 32, i32(32), "device_array")
def atomics_on_a_new_array(x, out):
    cuda.atomic.max(out, x[cuda.grid(1)] % 4, 3.0)  #!


@init(1, 32, f32(32))
def a_shared_record(x):
    s = cuda.shared.array(32, np.float32)
    t = cuda.grid(1)
    if x[t] > 1:
        s[t] = 1
    cuda.syncwarp()
    x[t] = s[t]  #!


@sync(2, 128, f32(256) % 5, f32(256), i32(1) * 0)
def places_from_lane_0(x, out, n):
    i = cuda.grid(1)
    if x[i] > 1:
        mask = cuda.activemask()
        base = 0
        if cuda.laneid == 0:
            base = cuda.atomic.add(n, 0, cuda.popc(mask))
        base = cuda.shfl_sync(mask, base, 0)  #!
        out[base + cuda.popc(mask & cuda.lanemask_lt())] = x[i]


@sync(1, 32, f32(32))
def from_the_other_half(x):
    t = cuda.threadIdx.x
    if t < 16:
        x[t] = cuda.shfl_sync(0xFFFF, x[t], 20)  #!
