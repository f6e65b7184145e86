"""Kernels for the tests of coarsening, with their arguments, grids and blocks: every axis, tail, branch and loop that copies can go by."""

import numpy as np
import pytest
from pyptx import cuda, float32

V, M, C = "float32[::1]", "float32[:, ::1]", "float32[:, :, ::1]"
rng = np.random.default_rng(5)


def reals(*shape):
    return rng.random(shape, np.float32)


def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def in_place(x):  # reads and writes of one array, nested and later branches
    i = cuda.grid(1)
    if i >= x.size:
        return
    v = x[i]
    if v > 0.5:
        x[i] = v * 3
        if v > 0.75:
            x[i] += 1
    else:
        x[i] = v - 1
    x[i] = x[i] * cuda.gridDim.x + cuda.blockIdx.x


def identities(out):  # blockIdx and threadIdx by themselves, branches on them, gridDim
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    b = cuda.blockIdx.x
    if b % 2 == 0:
        if i < out.size:
            out[i] = b * 1000 + cuda.threadIdx.x + cuda.gridDim.x * 100000
    elif i < out.size and out[i] == 0:
        out[i] = -b


def choose(x, out):  # a switch, and an end in the middle
    i = cuda.grid(1)
    if i < out.size:
        v = x[i]
        if v == 0:
            out[i] = 5
        elif v == 1:
            out[i] = out[i] + 7
        elif v == 2:
            out[i] = 11 * out[i]
        elif v == 5:
            out[i] = 13
        elif v == 6:
            return
        out[i] += 1


def shared_end(x, out, last):  # what a guard rules out leads to the end of the way that goes on, with other values
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        out[i] = v + 1
        if v < 0.5:
            return
        v = v / last[i]
        out[i + 300] = v
    else:
        v = last[i] * 3
    last[i] = v
    if x[i % 3] > v:
        out[i + 600] = v / x[i % 5]


def count(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)


def unguarded(out):
    i = cuda.grid(1)
    cuda.atomic.max(out, i % out.size, i)


def sweep(u, new):
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1:
        new[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    elif i < u.shape[0] and j < u.shape[1]:
        new[i, j] = u[i, j]


def sweep_by_lane(u, new):  # a block's rows need be no whole warps: a thread's lane depends on threadIdx.y
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and j < u.shape[1]:
        new[i, j] = u[i - 1, j] + u[i + 1, j] + float32(cuda.popc(cuda.lanemask_lt()))


def rows(u, new):  # the axes the other way round
    i, j = cuda.grid(2)
    if i < new.shape[0] and j < new.shape[1] - 1:
        new[i, j] = u[i, j + 1] - u[i, j]


def cube(u, new, r):
    k, j, i = cuda.grid(3)
    if 0 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and 0 < k < u.shape[2] - 1:
        around = u[i - 1, j, k] + u[i + 1, j, k] + u[i, j - 1, k] + u[i, j + 1, k] + u[i, j, k - 1] + u[i, j, k + 1]
        new[i, j, k] = u[i, j, k] + r * (around - 6.0 * u[i, j, k])


def along_z(u, new):
    k, j, i = cuda.grid(3)
    if i < u.shape[0] - 2 and j < u.shape[1] and k < u.shape[2]:
        new[i, j, k] = u[i, j, k] + u[i + 1, j, k] + u[i + 2, j, k]


def weighted(u, new, w):  # products that copies share, and sums of two products: what is contracted must not differ
    j, i = cuda.grid(2)
    if 0 < i < u.shape[0] - 1 and j < u.shape[1]:
        a, b, c = w * u[i - 1, j], w * u[i, j], w * u[i + 1, j]
        new[i, j] = (a + c) - (b * a - c) * u[i, j] + (u[i, j] - w * c)


def late(x, n, out, done):  # where a thread is, read on ways of their own
    v = float32(0)
    if n > 5:
        i = cuda.grid(1)
        if i < x.size:
            v = x[i]
        done[0] = 1
    done[1] = 2
    if v > 0.5:
        done[2], done[3], done[4], done[5], done[6], done[7], done[8] = 1, 2, 3, 4, 5, 6, 7
        i = cuda.grid(1)
        if i < out.size:
            out[i] = v


def late_rows(x, n, out, done):  # the same of neighbouring threads
    v = float32(0)
    if n > 5:
        i, j = cuda.grid(2)
        if j < x.shape[0] - 1 and i < x.shape[1]:
            v = x[j, i] + x[j + 1, i]
        done[0] = 1
    done[1] = 2
    if v > 0.5:
        done[2], done[3], done[4], done[5], done[6], done[7], done[8] = 1, 2, 3, 4, 5, 6, 7
        i, j = cuda.grid(2)
        if j < out.shape[0] and i < out.shape[1]:
            out[j, i] = v


def either(x, n, out):  # in two ways that all blocks take alike, the sum of neither in front of the other's
    if n > 5:
        s = float32(0)
        for k in range(n):
            s += x[k]
        if s > 1:
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] + s
    elif n > 2:
        s = float32(1)
        for k in range(n):
            s *= x[k]
        if s < 3:
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] * s


def numbers(out):
    x, y, z = cuda.grid(3)
    gx, gy, _ = cuda.gridsize(3)
    if z < out.shape[0] and y < out.shape[1] and x < out.shape[2]:
        out[z, y, x] = (z * gy + y) * gx + x + cuda.gridDim.y


# --- kernels with loops, shared memory and barriers, in blocks of 4x4 or 16 threads


def product(a, b, c):
    j, i = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        acc = float32(0)
        for k in range(a.shape[1]):
            acc += a[i, k] * b[k, j]
        c[i, j] = acc


def tiled(a, b, c):  # of any size; one tile is the same in blocks that are neighbours on an axis
    ta, tb = cuda.shared.array((4, 4), float32), cuda.shared.array((4, 4), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    acc = float32(0)
    for start in range(0, a.shape[1], 4):
        ta[y, x] = a[i, start + x] if i < a.shape[0] and start + x < a.shape[1] else float32(0)
        tb[y, x] = b[start + y, j] if start + y < b.shape[0] and j < b.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(4):
            acc += ta[y, k] * tb[k, x]
        cuda.syncthreads()
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = acc


def turned(a, out):
    tile = cuda.shared.array((4, 5), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.blockIdx.x * 4 + x, cuda.blockIdx.y * 4 + y
    if i < a.shape[0] and j < a.shape[1]:
        tile[y, x] = a[i, j]
    cuda.syncthreads()
    j, i = cuda.blockIdx.y * 4 + x, cuda.blockIdx.x * 4 + y
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = tile[x, y]


def row_sums(x, w, out):  # a tree, a loop in steps of the block, an end that a whole block takes
    partial = cuda.shared.array(16, float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    if row >= x.shape[0]:
        return
    acc = float32(0)
    for c in range(t, x.shape[1], 16):
        acc += x[row, c] * w[c]
    partial[t] = acc
    cuda.syncthreads()
    half = 8
    while half > 0:
        if t < half:
            partial[t] += partial[t + half]
        cuda.syncthreads()
        half //= 2
    for c in range(t, x.shape[1], 16):
        x[row, c] /= partial[0] + float32(1)
    if t == 0:
        out[row] = partial[0]


def butterfly(x, w, out):  # two buffers in turn
    tile = cuda.shared.array((2, 32), float32)
    t, row = cuda.threadIdx.x, cuda.blockIdx.x
    now, step = 0, 1
    tile[0, t] = x[row, t]
    tile[0, t + 16] = x[row, t + 16]
    cuda.syncthreads()
    while step < w.size:
        q = t & (step - 1)
        a, b = tile[now, t], tile[now, t + 16]
        now = 1 - now
        tile[now, 2 * t - q] = a + b
        tile[now, 2 * t - q + step] = (a - b) * w[t - q]
        cuda.syncthreads()
        step *= 2
    out[row, t] = tile[now, t]
    out[row, t + 16] = tile[now, t + 16]


def sorted_rows(x, out):  # branches by the data, between barriers
    tile = cuda.shared.array(16, float32)
    row, t = cuda.blockIdx.x, cuda.threadIdx.x
    tile[t] = x[row, t]
    cuda.syncthreads()
    length = 2
    while length <= 16:
        j = length // 2
        while j > 0:
            other = t ^ j
            if other > t:
                a, b = tile[t], tile[other]
                if (a > b) == ((t & length) == 0):
                    tile[t] = b
                    tile[other] = a
            cuda.syncthreads()
            j //= 2
        length *= 2
    out[row, t] = tile[t]


def by_blocks(x, out, n):  # branches on the block, in loops and around them; arrays written where blocks differ
    mine, ours = cuda.shared.array(16, float32), cuda.shared.array(16, float32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    v = x[t]
    ours[t] = x[t] * n
    if b % 2:
        mine[t] = v + b
    else:
        mine[15 - t] = v
    cuda.syncthreads()
    for k in range(n):
        if n % 2:
            v += mine[k % 16] - ours[(t + k) % 16]
        else:
            v -= ours[k % 16]
        if v > b:
            v = v / 2 + mine[t]
        elif b == 3:
            v += k
            out[b * 16 + t] = v
        cuda.syncthreads()
        if k == 2:
            ours[t] += v if n > 100 else float32(1)
        cuda.syncthreads()
    out[b * 16 + t] = v + ours[15 - t]


def early(x, out):  # threads that bring different numbers from ways of their own, while others end
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    i = b * 16 + t
    cuda.syncthreads()
    if t < 5:
        q = 1
    elif x[t] == 0:
        return
    else:
        q = 2
    if q * b < 4:
        out[i] = q


def sought(n, out):  # threads that leave a loop in different rounds, by different ways
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    i = b * 16 + t
    cuda.syncthreads()
    found = 1
    for k in range(n):
        if (t * k) % 7 == 3:
            found = 2
            break
    if found * b < 4:
        out[i] = found


def longer(v, x):  # some steps in a row, which have no slow path
    v = v * v - x
    v = v * v + x
    v = v * v - x
    v = v * v + x
    return v * v - x


def windows(x, table, r, out):  # at the borders copies differ; columns outside are outside for the rows of all copies
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        total = float32(0)
        for a in range(-r, r + 1):
            for b in range(-r, r + 1):
                y, k = i + a, j + b
                if 0 <= y < x.shape[0] and 0 <= k < x.shape[1]:
                    v = longer(x[y, k] * table[a + r, b + r], x[i, j])
                    total += longer(longer(v, x[i, j]), x[y, k])
        out[i, j] = total


def passed(x, r, out):  # the same by what is outside
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        total = float32(0)
        for d in range(-r, r + 1):
            y, k = i + d, j - d
            if y < 0 or k < 0 or y >= x.shape[0] or k >= x.shape[1]:
                continue
            total += longer(longer(longer(x[y, k], x[i, j]), x[i, j]), x[i, j])
        out[i, j] = total


def in_turn(x, r, out):  # two such branches in a row, of which one is left out at times
    j, i = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        total = float32(0)
        for d in range(-r, r + 1):
            y, k = i + d, j - d
            if d % 3 != 0:
                if 0 <= y < x.shape[0] and 0 <= k < x.shape[1]:
                    total += longer(longer(longer(x[y, k], x[i, j]), x[i, j]), x[i, j])
            if 0 <= k < x.shape[0] and 0 <= y < x.shape[1]:
                total += longer(longer(longer(x[k, y], x[i, j]), x[i, j]), x[i, j])
        out[i, j] = total


def counted(x, out):  # atomics on shared memory, and what a vote of the block gives
    bins = cuda.shared.array(4, np.int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t < 4:
        bins[t] = 0
    cuda.syncthreads()
    for k in range(3):
        cuda.atomic.add(bins, (x[i] + k) % 4, 1)
    cuda.syncthreads()
    if t < 4:
        out[cuda.blockIdx.x, t] = bins[t]


def integers(*shape):
    return np.zeros(shape, np.int64)


def small():
    return rng.integers(0, 9, 100, np.int32)


LINE = [((g, 1, 1), (b, 1, 1)) for g in (1, 2, 3, 4, 5, 7, 9) for b in (1, 3, 32)]
PLANE = [((gx, gy, 1), b) for gx in (1, 2, 5) for gy in (1, 3, 4, 6) for b in ((4, 2, 1), (3, 3, 1), (1, 5, 1))]
TILES = [((gx, gy, 1), (4, 4, 1)) for gx in (1, 2, 3, 5) for gy in (1, 3, 4)]
ROWS = [((g, 1, 1), (16, 1, 1)) for g in (1, 2, 3, 4, 5, 7, 9)]
SPACE = [(g, b) for g in ((1, 2, 3), (5, 4, 2), (3, 3, 5)) for b in ((2, 2, 2), (3, 1, 2))]
CASES = [
    (add, f"{V}, {V}, {V}", lambda: (reals(100), reals(100), reals(100)), LINE),
    (in_place, V, lambda: (reals(100),), LINE),
    (identities, "int64[::1]", lambda: (integers(100),), LINE),
    (choose, "int32[::1], int32[::1]", lambda: (small(), np.arange(100, dtype=np.int32)), LINE),
    (shared_end, f"{V}, {V}, {V}", lambda: (reals(100), reals(900), reals(300) + 1), LINE),
    (count, "int32[::1], int32[::1]", lambda: (small(), np.zeros(9, np.int32)), LINE),
    (unguarded, "int32[::1]", lambda: (np.zeros(9, np.int32),), LINE),
    (late, f"{V}, int32, {V}, int32[::1]", lambda: (reals(100), 6, reals(100), np.zeros(9, np.int32)), LINE),
    (late_rows, f"{M}, int32, {M}, int32[::1]", lambda: (reals(13, 17), 6, reals(13, 17), np.zeros(9, np.int32)), PLANE),
    (either, f"{V}, int32, {V}", lambda: (reals(100), 7, reals(100)), LINE),
    (sweep, f"{M}, {M}", lambda: (reals(13, 17), reals(13, 17)), PLANE),
    (sweep_by_lane, f"{M}, {M}", lambda: (reals(13, 17), reals(13, 17)), PLANE),
    (rows, f"{M}, {M}", lambda: (reals(17, 13), reals(17, 13)), PLANE),
    (cube, f"{C}, {C}, float32", lambda: (reals(8, 7, 11), reals(8, 7, 11), 0.125), SPACE),
    (along_z, f"{C}, {C}", lambda: (reals(9, 5, 6), reals(9, 5, 6)), SPACE),
    (weighted, f"{M}, {M}, float32", lambda: (reals(13, 17), reals(13, 17), 0.7), PLANE),
    (numbers, "int64[:, :, ::1]", lambda: (integers(8, 7, 11),), SPACE),
    (product, f"{M}, {M}, {M}", lambda: (reals(13, 9), reals(9, 18), reals(13, 18)), TILES),
    (tiled, f"{M}, {M}, {M}", lambda: (reals(13, 10), reals(10, 18), reals(13, 18)), TILES),
    (turned, f"{M}, {M}", lambda: (reals(13, 18), reals(18, 13)), TILES),
    (row_sums, f"{M}, {V}, {V}", lambda: (reals(8, 53), reals(53), reals(8)), ROWS),
    (butterfly, f"{M}, {V}, {M}", lambda: (reals(9, 32), reals(32), reals(9, 32)), ROWS),
    (sorted_rows, f"{M}, {M}", lambda: (reals(9, 16), reals(9, 16)), ROWS),
    (by_blocks, f"{V}, {V}, int32", lambda: (reals(16), reals(150), 5), ROWS),
    (windows, f"{M}, {M}, int32, {M}", lambda: (reals(13, 17), reals(5, 5), 2, reals(13, 17)), PLANE),
    (windows, f"{M}, {M}, int32, {M}", lambda: (reals(13, 1), reals(5, 5), 2, reals(13, 1)), PLANE),
    (windows, f"{M}, {M}, int32, {M}", lambda: (reals(1, 17), reals(5, 5), 2, reals(1, 17)), PLANE),
    (in_turn, f"{M}, int32, {M}", lambda: (reals(13, 17), 3, reals(13, 17)), PLANE),
    (passed, f"{M}, int32, {M}", lambda: (reals(13, 17), 3, reals(13, 17)), PLANE),
    (passed, f"{M}, int32, {M}", lambda: (reals(13, 2), 3, reals(13, 2)), PLANE),
    (early, "int32[::1], int32[::1]", lambda: (small(), np.zeros(150, np.int32)), ROWS),
    (sought, "int32, int32[::1]", lambda: (20, np.zeros(150, np.int32)), ROWS),
    (counted, "int32[::1], int32[:, ::1]", lambda: (np.resize(small(), 150), np.zeros((9, 4), np.int32)), ROWS),
]


def scalar(x):
    return np.int32(x) if isinstance(x, int) else np.float32(x)


every = pytest.mark.parametrize("kernel, signature, make, launches", CASES, ids=[c[0].__name__ for c in CASES])
factors = pytest.mark.parametrize("factor", (2, 3, 4, 8))
