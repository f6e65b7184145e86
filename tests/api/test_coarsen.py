"""Coarsening: results of every grid, tail and axis are those of the kernel that was written; what is coarsened, and why not."""

import itertools
import os
import re
import shutil
import subprocess

import numpy as np
import harness
import pytest
from entries_on_cpu import Entries, needs_llc
from pyptx import _pyptx, cuda, float32
from standin import needs_standin, run

V, M, C = "float32[::1]", "float32[:, ::1]", "float32[:, :, ::1]"
rng = np.random.default_rng(5)


def reals(*shape):
    return rng.random(shape, np.float32)


# --- kernels
# ----------------------------------------------------------------------------------------------------------------


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
    (sweep, f"{M}, {M}", lambda: (reals(13, 17), reals(13, 17)), PLANE),
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
    (counted, "int32[::1], int32[:, ::1]", lambda: (np.resize(small(), 150), np.zeros((9, 4), np.int32)), ROWS),
]


def scalar(x):
    return np.int32(x) if isinstance(x, int) else np.float32(x)


every = pytest.mark.parametrize("kernel, signature, make, launches", CASES, ids=[c[0].__name__ for c in CASES])
factors = pytest.mark.parametrize("factor", (2, 3, 4, 8))


# --- results
# ----------------------------------------------------------------------------------------------------------------


@every
@factors
def test_results(kernel, signature, make, launches, factor):
    """What plain Python gives for some of the launches; for all of them the bytes that the kernel leaves that is not coarsened. (On the
    host device, which has no use for it, both are the same code.)"""
    for grid, block in launches[factor % 4 :: 7]:
        arguments = [x if isinstance(x, np.ndarray) else scalar(x) for x in make()]
        harness.run(kernel, arguments, grid, block, fma=False, coarsen=factor)
    plain, coarse = cuda.jit(coarsen=1)(kernel), cuda.jit(coarsen=factor)(kernel)
    for grid, block in launches:
        arguments = make()
        a, b = ([cuda.to_device(x) if isinstance(x, np.ndarray) else scalar(x) for x in arguments] for _ in range(2))
        plain[grid, block](*a)
        coarse[grid, block](*b)
        for x, y in zip(a, b):
            if not isinstance(x, np.generic):
                assert x.copy_to_host().tobytes() == y.copy_to_host().tobytes(), (grid, block)


@needs_llc
@every
@factors
def test_results_of_the_gpu_code_on_the_cpu(kernel, signature, make, launches, factor):
    entries = Entries(kernel, signature, factor)
    assert entries.coarsened, entries.note
    for grid, block in launches:
        entries.check(grid, block, *make())


class Program:
    """A random kernel of blocks of 16 threads: loops that all blocks run alike, branches on the data, the thread, the block and on what is the same
    for all; each thread writes its own elements of two shared arrays, and reads another's between two barriers."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        body = ["if b == 11:", "    return"] * self.chance(0.3) + self.block(0, True)
        head = ["s, r = cuda.shared.array(16, int32), cuda.shared.array(16, int32)", "t, b, i = cuda.threadIdx.x, cuda.blockIdx.x, cuda.grid(1)",
                "u, v, w, k = x[i], x[t], n, 0", "s[t], r[t] = v, w"]  # fmt: skip
        tail = ["out[i] = (u + v * 3 + w * 5 + s[t] * 7 + r[t] * 11) & 65535"]
        self.source = "def kernel(x, n, out):\n" + "".join(f"    {line}\n" for line in head + body + tail)

    def chance(self, p):
        return bool(self.rng.random() < p)

    def pick(self, *of):
        return of[self.rng.integers(len(of))]

    def value(self, depth=0):
        if depth < 2 and self.chance(0.6):
            return f"(({self.value(depth + 1)} {self.pick('+', '-', '*', '^', '&')} {self.value(depth + 1)}) & 1023)"
        return self.pick("u", "v", "w", "k", "t", "b", "n", "x[i]", "x[t]", "s[t]", "r[t]", str(self.rng.integers(99)))

    def same(self):  # in all blocks
        return self.pick("t", "n", "x[t]", "((t * 3 + n) & 63)", "(x[15 - t] ^ 5)", "w")

    def block(self, depth, alike):
        return [line for _ in range(self.rng.integers(1, 5)) for line in self.statement(depth, alike)]

    def statement(self, depth, alike):
        kind = self.rng.integers(10 if depth < 3 else 5)
        indented = lambda lines: ["    " + line for line in lines]
        if kind < 2:
            return [f"{self.pick('u', 'v')} = {self.value()}"]
        if kind == 2:
            return [f"{self.pick('s', 'r')}[t] = {self.same() if self.chance(0.6) else self.value()}"]
        if kind == 3 and alike:
            return ["cuda.syncthreads()", f"v = v + {self.pick('s', 'r')}[(t + {self.rng.integers(16)}) % 16] & 4095", "cuda.syncthreads()"]
        if kind == 4:
            return [f"out[i] = {self.value()}", f"u = out[i] + {self.value()}"]
        if kind < 7 and alike:
            return [f"for k in range({self.pick('n', '2', '5', 'n + 1')}):", *indented(self.block(depth + 1, True))]
        if kind == 7 and alike:
            test = self.pick("n > 2", "n % 2 == 0", "w > 3") if alike else ""
            return [f"if {test}:", *indented(self.block(depth + 1, True)), "else:", *indented(self.block(depth + 1, True))]
        test = self.pick(f"{self.value()} > 400", f"t < {self.rng.integers(16)}", f"b % {self.rng.integers(2, 4)} == 0", f"{self.value()} > {self.value()}")
        lines = [f"if {test}:", *indented(self.branch(depth + 1))]
        return lines + ["else:", *indented(self.branch(depth + 1))] * self.chance(0.5)

    def branch(self, depth):  # without loops and barriers
        return [line for _ in range(self.rng.integers(1, 4)) for line in self.statement(max(depth, 1), False)]


@needs_llc
@pytest.mark.parametrize("seed", range(int(os.environ.get("PYPTX_SEEDS", 16))))
def test_random_programs(seed):
    factor = (2, 3, 4, 8)[seed % 4]
    for attempt in range(10):  # some are none that can be coarsened: LLVM made a loop's end of a branch on the block
        kernel = harness.define(Program(100 * seed + attempt).source, int32=np.int32)
        entries = Entries(kernel, "int32[::1], int32, int32[::1]", factor)
        if entries.coarsened:
            break
    assert entries.coarsened, entries.note
    x = np.random.default_rng(seed).integers(0, 1000, 16 * 17, np.int32)
    for blocks in (1, factor - 1, factor, factor + 1, 2 * factor, 17):
        for n in (0, 3):
            entries.check((blocks, 1, 1), (16, 1, 1), x, n, np.zeros_like(x))


def test_large_grids_of_every_axis():
    """More blocks than an axis y or z could number after a multiplication by the factor, and a tail."""

    def mark(out):
        i = cuda.blockIdx.x + cuda.gridDim.x * (cuda.blockIdx.y + cuda.gridDim.y * cuda.blockIdx.z)
        out[i] += cuda.gridDim.x * 3 + cuda.gridDim.y * 5 + cuda.gridDim.z * 7

    for grid in ((65537, 3, 1), (3, 65535, 1), (1, 3, 65535)):
        out = cuda.to_device(np.zeros(grid[0] * grid[1] * grid[2], np.int64))
        cuda.jit(coarsen=8)(mark)[grid, 1](out)
        assert (out.copy_to_host() == grid[0] * 3 + grid[1] * 5 + grid[2] * 7).all()


def test_bound_launches_and_graphs():
    kernel = cuda.jit(coarsen=4)(in_place)
    x, y, z = (cuda.to_device(np.ones(1000, np.float32)) for _ in range(3))
    bound = kernel[9, 128].bind(x)
    bound()
    bound()
    with cuda.graph() as graph:
        kernel[9, 128](y)
    graph.launch()
    graph.launch()
    graph.nodes[0].set_args(z)
    graph.launch()
    graph.launch()
    cuda.synchronize()
    assert x.copy_to_host().tobytes() == y.copy_to_host().tobytes() == z.copy_to_host().tobytes()


# --- decisions
# ----------------------------------------------------------------------------------------------------------------


def note(kernel, signature, **options):
    return _pyptx._compile(kernel, signature, "nvptx", "sm_90", 0, {"coarsen": True, **options}, "ptx")["coarsening"]


def with_barrier(x):
    cuda.syncthreads()
    x[cuda.grid(1)] = 1


def with_shared(x):
    s = cuda.shared.array(32, np.float32)
    s[cuda.threadIdx.x] = x[cuda.grid(1)]
    x[cuda.grid(1)] = s[31 - cuda.threadIdx.x] * 2


def with_loop(x):
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[k] += 1


def with_assert(x):
    i = cuda.grid(1)
    assert i < x.size
    x[i] = 1


def with_shuffle(x):
    x[cuda.grid(1)] = cuda.shfl_sync(0xFFFFFFFF, x[cuda.grid(1)], 0)


def with_fence(x):
    x[cuda.grid(1)] = 1
    cuda.threadfence()
    x[cuda.grid(1)] = 2


def with_print(x):
    print(cuda.grid(1))
    x[cuda.grid(1)] = 2


def the_same(x):
    x[cuda.threadIdx.x] = 1


def with_nothing(x):
    pass


@pytest.mark.parametrize(
    "kernel, options, text",
    [
        (with_barrier, {}, "not coarsened: its threads meet at barriers or in operations of a warp"),
        (with_shared, {}, "not coarsened: it has shared memory"),
        (with_loop, {}, "not coarsened: it has a loop"),
        (with_assert, {"exceptions": True}, "not coarsened: it has checks that can stop a thread"),
        (with_assert, {"debug": True}, "not coarsened: it has checks that can stop a thread"),
        (with_shuffle, {}, "not coarsened: its threads meet at barriers or in operations of a warp"),
        (with_fence, {}, "not coarsened: it calls llvm.nvvm.membar.gl"),
        (with_print, {}, "not coarsened: it has local memory"),
        (the_same, {}, "not coarsened: its blocks all do the same"),
        (with_nothing, {}, "not coarsened: its blocks all do the same"),
        (unguarded, {"coarsen": 1}, "not coarsened: switched off"),
        (unguarded, {"coarsen": False}, "not coarsened: switched off"),
        (unguarded, {"opt": 0}, "not coarsened: switched off by opt=0"),
        (identities, {"coarsen": 8}, "8 neighbouring blocks along x"),
    ],
)
def test_why_not(kernel, options, text):
    assert note(kernel, V, **options).startswith(text)


@pytest.mark.parametrize(
    "kernel, signature, text",
    [
        (add, f"{V}, {V}, {V}", "4 neighbouring blocks along x"),
        (sweep, f"{M}, {M}", "4 neighbouring threads along y"),
        (cube, f"{C}, {C}, float32", "4 neighbouring threads along y"),
        (along_z, f"{C}, {C}", "4 neighbouring threads along z"),
        (rows, f"{M}, {M}", "4 neighbouring threads along y"),
        (count, "int32[::1], int32[::1]", "not coarsened: it has atomic operations"),
    ],
)
def test_what_is_chosen(kernel, signature, text):
    assert note(kernel, signature) == text


def through_memory(x, out):
    acc = 0.0
    for k in range(x.size):
        if x[k] < 0:
            break
        acc += x[k]
    out[cuda.grid(1)] = acc


def meets_by_block(x, out):
    s = cuda.shared.array(32, float32)
    out[cuda.grid(1)] = 0
    if cuda.blockIdx.x % 2:
        s[cuda.threadIdx.x] = x[cuda.grid(1)]
        cuda.syncthreads()
        out[cuda.grid(1)] = s[31 - cuda.threadIdx.x]


def ends_by_thread(x, out):
    s = cuda.shared.array(32, float32)
    i = cuda.grid(1)
    if i >= x.size:
        return
    s[cuda.threadIdx.x] = x[i]
    cuda.syncthreads()
    out[i] = s[0]


def ends_before(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    if t >= 20:
        return
    cuda.syncthreads()
    out[cuda.grid(1)] = s[31 - t]


def ends_before_a_shuffle(x, out):
    if cuda.threadIdx.x >= 20:
        return
    out[cuda.grid(1)] = cuda.shfl_sync(0xFFFFF, x[cuda.grid(1)], 3)


def some_shuffle(x, out):
    v = x[cuda.grid(1)]
    if cuda.threadIdx.x < 16:
        v = cuda.shfl_sync(0xFFFF, v, 3)
    out[cuda.grid(1)] = v


def with_much(x, out):
    s = cuda.shared.array(4000, float32)
    s[cuda.threadIdx.x] = x[cuda.grid(1)]
    cuda.syncthreads()
    out[cuda.grid(1)] = s[31 - cuda.threadIdx.x]


@pytest.mark.parametrize(
    "kernel, text",
    [
        (through_memory, "it has a loop that could wait for another block"),
        (meets_by_block, "its threads meet where its blocks go different ways"),
        (ends_by_thread, "some of its threads end before others meet"),
        (ends_before_a_shuffle, "some of its threads end before others meet"),
        (ends_before, "some of its threads end before others meet"),
        (with_much, "its copies' arrays have no room in shared memory"),
    ],
)
def test_why_not_even_if_asked(kernel, text):
    assert note(kernel, f"{V}, {V}", coarsen=4) == f"not coarsened: {text}"
    assert note(with_loop, V, coarsen=4) == "not coarsened: it has a loop that is another in each of its blocks"


@pytest.mark.parametrize(
    "kernel, signature, text",
    [
        (product, f"{M}, {M}, {M}", "threads along y"),
        (tiled, f"{M}, {M}, {M}", "blocks along y"),
        (row_sums, f"{M}, {V}, {V}", "blocks along x"),
        (with_shuffle, V, "blocks along x"),
        (some_shuffle, f"{V}, {V}", "blocks along x"),
    ],
)
def test_which_axis_kernels_with_loops_take(kernel, signature, text):
    assert note(kernel, signature, coarsen=4) == f"4 neighbouring {text}"


def test_the_variant_names_the_axis():
    signature = f"{M}, {M}, {M}"
    assert note(tiled, signature, coarsen=2, _variant="x") == "2 neighbouring blocks along x"
    assert note(product, signature, coarsen=2, _variant="x") == "2 neighbouring blocks along x"
    assert note(tiled, signature, _variant="loops") == "2 neighbouring blocks along y"
    assert note(tiled, signature) == "not coarsened: its threads meet at barriers or in operations of a warp"
    assert note(tiled, signature, coarsen=2, _variant="z") == "not coarsened: its blocks all do the same"


def test_what_is_the_same_in_all_blocks_stands_once():
    ptx = _pyptx._compile(tiled, f"{M}, {M}, {M}", "nvptx", "sm_90", 0, {"coarsen": 4}, "ptx")["ptx"]
    coarse = ptx[ptx.index("$coarse(") :]
    assert re.findall(r"(\w+)\$\d+\$coarse\[(\d+)\]", ptx) == [("ta", "256"), ("tb", "64")]
    assert coarse.count("st.shared") == 4 + 1 + 2  # and the loop's
    ptx = _pyptx._compile(product, f"{M}, {M}, {M}", "nvptx", "sm_90", 0, {"coarsen": 4}, "ptx")["ptx"]
    rounds = 8 + 1  # eight at once, and one
    assert ptx[ptx.index("$coarse(") :].count("ld.global") == rounds * (4 + 1) + rounds * 2  # 5 loads for 4 elements, not 8; the loop's


def test_loads_come_first_and_are_shared():
    ptx = _pyptx._compile(add, f"{V}, {V}, {V}", "nvptx", "sm_90", 0, {"coarsen": 4}, "ptx")["ptx"]
    order = re.findall(r"\b(ld|st)\.global", ptx[ptx.index("$coarse(") :])
    assert order[:12] == ["ld"] * 8 + ["st"] * 4 and order[12:] == ["ld"] * 2 + ["st"]  # together, and the loop
    ptx = _pyptx._compile(along_z, f"{C}, {C}", "nvptx", "sm_90", 0, {"coarsen": 4}, "ptx")["ptx"]
    order = re.findall(r"\b(ld|st)\.global", ptx[ptx.index("$coarse(") :])
    assert order == ["ld"] * 6 + ["st"] * 4 + ["ld"] * 3 + ["st"]  # 6 rows of u for 4 of new, not 12


def test_both_entries_contract_alike():
    ptx = _pyptx._compile(weighted, f"{M}, {M}, float32", "nvptx", "sm_90", 0, {"coarsen": 4}, "ptx")["ptx"]
    plain, coarse = ptx.split("$coarse(", 1)
    arithmetic = r"\b(fma|mul|add|sub|neg)((?:\.rn)?)\.f32"
    assert {m[0] + m[1] for m in re.findall(arithmetic, plain)} == {m[0] + m[1] for m in re.findall(arithmetic, coarse)}
    assert not re.search(r"\b(mul|add|sub)\.f32", ptx)  # ptxas would contract those as it likes
    assert plain.count("fma.rn.f32") == 4


@pytest.mark.usefixtures("one_entry")
def test_compile_ptx_has_one_entry_unless_asked():
    assert cuda.compile_ptx(add, (float32[::1],) * 3, cc=(9, 0))[0].count(".entry") == 1
    assert cuda.compile_ptx(add, (float32[::1],) * 3, cc=(9, 0), coarsen=2)[0].count(".entry") == 2


@pytest.mark.skipif(not shutil.which("ptxas"), reason="no ptxas")
@every
def test_ptxas_takes_it(kernel, signature, make, launches, tmp_path):
    for arch, lines in itertools.product(("sm_75", "sm_90", "sm_120"), (False, True)):
        made = _pyptx._compile(kernel, signature, "nvptx", arch, 0, {"coarsen": 4, "lineinfo": lines}, "ptx")
        (tmp_path / "k.ptx").write_text(made["ptx"])
        subprocess.run(["ptxas", f"-arch={arch}", tmp_path / "k.ptx", "-o", tmp_path / "k.cubin"], check=True)
        coarse = made["ptx"][made["ptx"].index("$coarse(\n") :]
        assert (".loc" in coarse) == lines


@pytest.mark.parametrize("value", (0, 9, -1, 2.5, "many"))
def test_bad_factors(value):
    with pytest.raises((ValueError, TypeError), match="coarsen"):
        cuda.jit(coarsen=value)(add)


def test_the_environment_gives_the_default(monkeypatch):
    monkeypatch.setenv("PYPTX_COARSEN", "3")
    assert _pyptx._compile(cuda.jit(add), f"{V}, {V}, {V}", "nvptx", "sm_90", 0, {}, "ptx")["coarsening"].startswith("3 ")
    assert note(add, f"{V}, {V}, {V}", coarsen=2).startswith("2 ")
    for bad in ("nine", "-1", "9"):
        monkeypatch.setenv("PYPTX_COARSEN", bad)
        with pytest.raises(ValueError, match="(?i)coarsen"):
            cuda.jit(add)


def test_limits_of_registers_count():
    signature = f"{C}, {C}, float32"
    assert note(cube, signature, max_registers=24).startswith("not coarsened: its values leave no room")
    assert note(cube, signature, launch_bounds=(1024, 2)).startswith("2 ")
    assert note(cube, signature, launch_bounds=256).startswith("4 ")


# --- launches
# ----------------------------------------------------------------------------------------------------------------


@needs_standin
def test_what_the_driver_gets():
    run(
        """
        import ctypes, numpy as np
        from pyptx import cuda
        from standin import driver
        control = driver()
        class Launch(ctypes.Structure):
            _fields_ = [("kernel", ctypes.c_char * 128), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3)]
        def last():
            l = ctypes.cast(control.last(), ctypes.POINTER(Launch)).contents
            return l.kernel.decode(), tuple(l.grid), tuple(l.block)
        def add(x, y, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] + y[i]
        x = cuda.to_device(np.zeros(1 << 20, np.float32))
        auto, off, four = cuda.jit(add), cuda.jit(coarsen=1)(add), cuda.jit(coarsen=4)(add)
        auto[4096, 256](x, x, x)
        assert last() == ("add$coarse", (1024, 1, 1), (256, 1, 1)), last()
        auto[4095, 257](x, x, x)
        assert last() == ("add$coarse", (1024, 1, 1), (257, 1, 1)), last()
        auto[2000, 256](x, x, x)
        assert last() == ("add", (2000, 1, 1), (256, 1, 1)), last()
        auto[4096, 256, 0, 16](x, x, x)
        assert last()[0] == "add", last()
        off[4096, 256](x, x, x)
        assert last()[0] == "add" and off.overloads
        four[5, 32].bind(x, x, x)()
        assert last() == ("add$coarse", (2, 1, 1), (32, 1, 1)), last()
        lines = ["v = v * x[i] + 1.5"] * 70  # a long body wants the device full of its own threads
        scope = {"cuda": cuda}
        exec("def long(x, out):\\n i = cuda.grid(1)\\n if i < out.size:\\n  v = x[i]\\n  " + "\\n  ".join(lines) + "\\n  out[i] = v", scope)
        long = cuda.jit(scope["long"])
        long[4 * 132 * 8 - 1, 256](x, x)
        assert last()[0] == "long", last()
        long[4 * 132 * 8, 256](x, x)
        assert last() == ("long$coarse", (132 * 8, 1, 1), (256, 1, 1)), last()
        (o,) = auto.overloads.values()
        assert o.coarsening == "4 neighbouring blocks along x", o.coarsening
        """
    )


@needs_standin
def test_the_disk_cache_keeps_it(tmp_path):
    source = """
        import numpy as np
        from pyptx import cuda
        def add(x, y, out):
            i = cuda.grid(1)
            if i < out.size:
                out[i] = x[i] + y[i]
        x = cuda.to_device(np.zeros(100, np.float32))
        for k, note in ((cuda.jit(add, cache=True), "4 neighbouring blocks along x"), (cuda.jit(add, cache=True, coarsen=2), "2 neighbouring blocks along x"),
                        (cuda.jit(add, cache=True, coarsen=1), "not coarsened: switched off")):
            k[8, 32](x, x, x)
            (o,) = k.overloads.values()
            print(o.cache, o.coarsening == note)
        """
    assert run(source, PYPTX_CACHE_DIR=str(tmp_path)).split() == ["miss", "True"] * 3
    assert run(source, PYPTX_CACHE_DIR=str(tmp_path)).split() == ["hit", "True"] * 3
