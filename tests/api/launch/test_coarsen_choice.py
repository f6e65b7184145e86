"""Coarsening: what is coarsened, by how much and on which axis, and why not; and what the code of the second entry looks like."""

import itertools
import re
import shutil
import subprocess

import numpy as np
import pytest
from coarse_kernels import C, M, V, add, along_z, count, cube, every, identities, product, row_sums, rows, sweep, tiled, turned, unguarded, weighted
from harness import define
from pyptx import _pyptx, cuda, float32, float64, int64


def note(kernel, signature, **options):
    return _pyptx._compile(kernel, signature, "nvptx", "sm_90", 0, {"coarsen": True, **options}, "ptx")["coarsening"]


def with_loop(x):
    for k in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[k] += 1


def with_assert(x):
    i = cuda.grid(1)
    assert i < x.size
    x[i] = 1


def stopping(x):
    raise ValueError


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


LANE_REGISTERS = ["laneid", "lanemask_eq()", "lanemask_lt()", "lanemask_le()", "lanemask_gt()", "lanemask_ge()"]


STENCIL = """
def kernel(x, y):
    j, i = cuda.grid(2)
    if 0 < i < x.shape[0] - 1 and j < x.shape[1]:
        y[i, j] = x[i - 1, j] + x[i, j] + x[i + 1, j] + np.float32({})
"""
EARLY_END = """
def kernel(x, y):
    if {} & 8:
        return
    i = cuda.grid(1)
    y[i] = x[i]
    cuda.syncthreads()
    y[i] += x[i + 1]
"""


@pytest.mark.parametrize("register", LANE_REGISTERS)
def test_lanes_are_told_from_what_is_the_same_in_a_block(register):
    """Where a row of a block is no whole warp a thread's lane depends on threadIdx.y, so copies cannot be neighbouring threads; and not
    all threads come to a barrier that lies behind a branch by the lane."""
    assert note(define(STENCIL.format("cuda.blockDim.x")), f"{M}, {M}") == "4 neighbouring threads along y"
    assert "neighbouring threads" not in note(define(STENCIL.format(f"cuda.{register}")), f"{M}, {M}")
    assert note(define(EARLY_END.format("cuda.blockDim.x")), f"{V}, {V}", coarsen=4).startswith("4 neighbouring blocks")
    assert note(define(EARLY_END.format(f"cuda.{register}")), f"{V}, {V}", coarsen=4).startswith("not coarsened: some of its threads end before others synchronise")


@pytest.mark.parametrize(
    "kernel, options, text",
    [
        (with_loop, {}, "not coarsened: it has a loop whose trip count differs between blocks"),
        (with_assert, {"exceptions": True}, "4 neighbouring blocks along x"),
        (with_assert, {"debug": True}, "4 neighbouring blocks along x"),
        (stopping, {"debug": True}, "not coarsened: a thread can stop inside"),
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


IN_FLIGHT = """
def kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = {}
"""


def places(width):
    """The difference of a row's squares: all of the row is alive at once."""
    return " + ".join(f"(x[i, {k}] - x[i, {width - 1 - k}]) * x[i, {k}]" for k in range(width))


@pytest.mark.parametrize(
    "expression, dtype, text",
    [
        ("x[i, 0] + y[i]", "float32", "4 neighbouring blocks along x"),
        ("x[i, 0] + y[i]", "float64", "4 neighbouring blocks along x"),  # enough, but few registers
        (places(3), "uint8", "4 neighbouring blocks along x"),
        (places(3), "float32", "4 neighbouring blocks along x"),
        (places(9), "uint8", "4 neighbouring blocks along x"),
        (places(9), "float32", "not coarsened: its threads have enough loads in flight by themselves"),
        (places(5), "float64", "not coarsened: its threads have enough loads in flight by themselves"),
        ("x[i, 0] * y[i] + out[i]", "float64", "2 neighbouring blocks along x"),
        ("x[int(y[i]), 0] + x[int(y[i]) + 1, 0]", "float32", "4 neighbouring blocks along x"),  # what is gathered has no place of its own
    ],
)
def test_copies_cost_no_threads_where_enough_is_in_flight(expression, dtype, text):
    """16 bytes for each thread are enough, 64 for all copies too many."""
    kernel = define(IN_FLIGHT.format(expression))
    assert note(kernel, f"{dtype}[:,::1], {dtype}[::1], {dtype}[::1]") == text


APART = """
def kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        s = {}
        if {}:
            s += {}
        out[i] = s
"""


@pytest.mark.parametrize(
    "first, condition, second, apart",
    [
        ("y[i]", "y[i] > 0", "x[i]", False),
        ("y[i]", "y[i] > 0", "x[i] * y[i + 1]", True),
        ("np.float32(0)", "i % 3 == 1", "x[i]", True),
        ("np.float32(0)", "i > 0", "x[i - 1]", True),
        ("x[i] + y[i + 1]", "i > 0", "x[i - 1]", False),
    ],
)
def test_copies_that_load_on_paths_of_their_own(first, condition, second, apart):
    assert (note(define(APART.format(first, condition, second)), f"{V}, {V}, {V}") == "not coarsened: its blocks load on different paths") == apart


@pytest.mark.parametrize("quotients, apart", [(1, False), (3, False), (8, True)])
def test_copies_that_divide_on_paths_of_their_own(quotients, apart):
    """A quotient or three wait for memory; the fluxes through a cell's faces are eight, and as many roots."""
    terms = " + ".join(f"(x[i + {k}] / y[i + {k}] if y[i + {k}] > 0 else 0)" for k in range(quotients))
    kernel = define(f"def kernel(x, y, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        out[i] = {terms}\n")
    text = "not coarsened: its blocks divide, or take roots, on different paths"
    assert (note(kernel, f"{V}, {V}, {V}") == text) == apart


@pytest.mark.parametrize("steps, votes", [(40, False), (100, True)])
def test_a_warp_decides_as_one_where_the_code_is_long(steps, votes):
    """At the end of a row some lanes have all copies and others only the first ones: there a warp takes one way."""
    chain = "\n        ".join("s = s * y[i] + x[i]" for _ in range(steps))
    kernel = define(f"def kernel(x, y, out):\n    i = cuda.grid(1)\n    if i < out.size:\n        s = x[i]\n        {chain}\n        out[i] = s\n")
    made = cuda.compile_ptx(kernel, f"narrow ({V}, {V}, {V})", cc="sm_90", coarsen=True)[0]
    assert "$coarse" in made and ("vote.sync.all" in made) == votes


def with_shuffle(x):
    x[cuda.grid(1)] = cuda.shfl_sync(0xFFFFFFFF, x[cuda.grid(1)], 0)


def column_sums(x, out):  # each element is one thread's
    acc = float32(0)
    for r in range(x.shape[0]):
        acc += x[r, cuda.grid(1)]
    out[cuda.grid(1)] = acc


def block_products(x, w, out):  # a block a row, side by side
    acc = float32(0)
    for k in range(cuda.threadIdx.x, w.size, cuda.blockDim.x):
        acc += x[cuda.blockIdx.x, k] * w[k]
    out[cuda.blockIdx.x] = cuda.shfl_sync(0xFFFFFFFF, acc, 0)


def column_products(x, w, out):
    acc = float32(0)
    for r in range(x.shape[0]):
        acc += x[r, cuda.grid(1)] * w[r]
    out[cuda.grid(1)] = acc


def smooth(x, w, out):  # neighbours load what this thread loads in the next round
    acc = float32(0)
    for k in range(w.size):
        acc += x[cuda.grid(1) + k] * w[k]
    out[cuda.grid(1)] = acc


def distances(a, b, out):  # a warp's threads have rows of b of their own
    j, i = cuda.grid(2)
    acc = float32(0)
    for k in range(a.shape[1]):
        acc += (a[i, k] - b[j, k]) ** 2
    out[i, j] = acc


def around_places(image, places, pattern, out):
    word, i = cuda.grid(2)
    if i < out.shape[0] and word < out.shape[1]:
        y, x = places[i, 0], places[i, 1]
        n = 0
        for k in range(32):
            p = 32 * word + k
            n += image[y + pattern[p, 0], x + pattern[p, 1]] < image[y + pattern[p, 2], x + pattern[p, 3]]
        out[i, word] = n


def spelled(x, letters, out):  # letters of a table that nothing but the number says
    i = cuda.grid(1)
    if i < x.size:
        v = int(x[i])
        for k in range(out.shape[1]):
            out[i, k] = letters[v & 31]
            v = v * 5 + (v >> 3)


def gathered(x, at, out):  # the same, by indices that are loaded
    acc = float32(0)
    for k in range(x.shape[0]):
        acc += x[k, at[cuda.threadIdx.x]] * out[cuda.grid(1)]
    out[cuda.grid(1)] = acc


def waves(x, out):  # much for each element that it loads
    v, acc = x[cuda.grid(1)], float32(0)
    for k in range(out.size):
        d = x[k] - v
        r = d * d + float32(0.5)
        r = r * r * r + v * r - d * r * r + v * v * d - r * v * d + d * d * d * v
        acc += r * d / (r * r + d) + (r - v) * (v + r * d) * (v - d) + v * (d - r) * (r + d)
    out[cuda.grid(1)] = acc


def steps(x, out):
    v = x[cuda.grid(1)]
    for k in range(out.size):
        v = v * v + float32(0.5)
    out[cuda.grid(1)] = v


def rounds(x, out):  # barriers in a loop, over what each block has in its own array
    s = cuda.shared.array(32, float32)
    t, n = cuda.threadIdx.x, x.size
    s[t] = x[cuda.grid(1)]
    while n > 1:
        cuda.syncthreads()
        v = s[(t + n) % 32]
        cuda.syncthreads()
        s[t] += v
        n //= 2
    out[cuda.grid(1)] = s[t]


def merged(x, out):  # a tree with quotients takes longer than the row
    s = cuda.shared.array(128, float32)
    t, mean, n = cuda.threadIdx.x, float32(0), float32(0)
    for k in range(t, x.shape[1], cuda.blockDim.x):
        n += 1
        mean += (x[cuda.blockIdx.x, k] - mean) / n
    s[t] = mean
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            far = s[t + half] - s[t]
            s[t] += far * far / (far + n) + far * n / (far * far + 1)
        cuda.syncthreads()
        half //= 2
    out[cuda.blockIdx.x] = s[0]


def least(x, out):  # four loads in flight, of float64 32 bytes
    best, place = cuda.shared.array(256, float64), cuda.shared.array(256, int64)
    t, row, half = cuda.threadIdx.x, cuda.blockIdx.x, cuda.blockDim.x // 2
    best[t], place[t] = np.inf, x.shape[1]
    for k in range(t, x.shape[1], cuda.blockDim.x):
        if x[row, k] < best[t]:
            best[t], place[t] = x[row, k], k
    cuda.syncthreads()
    while half > 0:
        if t < half:
            other = best[t + half]
            if other < best[t] or (other == best[t] and place[t + half] < place[t]):
                best[t], place[t] = other, place[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[row] = place[0]


def window(x, out):  # what it loads, neighbours load too
    total = float32(0)
    for k in range(-3, out.shape[0]):
        total += x[cuda.grid(1) + k]
    out[cuda.grid(1)] = total


WAVEFRONT = """
def kernel(x, cost, out):
    s = cuda.shared.array(128, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[0, cuda.grid(1)]
    cuda.syncthreads()
    for row in range(1, x.shape[0]):
        a, b, c = s[max(t - 1, 0)], s[t], s[min(t + 1, 127)]
        {}
        cuda.syncthreads()
        s[t] = min(a, b, c)
        cuda.syncthreads()
    out[cuda.grid(1)] = s[t]
"""
COSTS = "a, b, c = " + ", ".join(f"{v} + x[row + {k}, cuda.grid(1)] + cost[row, {k} + cuda.grid(1)]" for k, v in enumerate("abc"))


def coloured(x, out):  # each copy's own rows, which its neighbours read too
    j, i = cuda.grid(2)
    if 0 < i < x.shape[0] - 1 and j < x.shape[1] and (i + j) % 2 == 0:
        out[i, j] = x[i - 1, j] + x[i + 1, j] - x[i, j]


CHAIN = """
def kernel(table, at, out):
    i = cuda.grid(1)
    if i < out.size:
        a = table[at[i]] + 7
        {names} = {places}
        out[i] = {all} + ({turned})
"""


def chain(n):  # gathered by what was gathered; a copy's numbers are used twice, the second time in the other order
    names = [f"v{k}" for k in range(n)]
    turned = " | ".join(f"{name} * {k}" for k, name in enumerate(names[::-1], 3))
    places = ", ".join(f"table[a + {k * k}]" for k in range(n))
    return define(CHAIN.format(names=", ".join(names), places=places, all=" ^ ".join(names), turned=turned))


def capitals(text, folded):  # a byte a thread: eight copies
    i = cuda.grid(1)
    if i < text.size:
        c = text[i]
        folded[i] = c + 32 if 65 <= c <= 90 else c


PLACES = """
def kernel(image, dy, dx, out):
    j, i = cuda.grid(2)
    if i < image.shape[0] and j < image.shape[1]:
        n = 0
        for k in range(dy.size):
            y, x = i + dy[k], j + dx[k]
            if {}:
                n += image[y, x]
        out[i, j] = n
"""
BYTES = "uint8[:,::1], int32[::1], int32[::1], uint8[:,::1]"


def cells(x, out):  # between barriers copies have nothing in common, and a copy has eight numbers of its own
    row = cuda.shared.array(258, float64)
    b, t = cuda.blockIdx.x, cuda.threadIdx.x
    a, c, d, e = x[b, t], x[b, t + 1], x[b, t + 2], x[b, t + 3]
    f, g, h, i = x[b, t + 4], x[b, t + 5], x[b, t + 6], x[b, t + 7]
    row[t + 1] = a
    cuda.syncthreads()
    for _ in range(out.shape[1]):
        v = row[t] * a + row[t + 1] * c + row[t + 2] * d
        v = ((v * e + f) * v + g) * v + h * i
        cuda.syncthreads()
        row[t + 1] = v
        cuda.syncthreads()
    out[b, t] = row[t + 1]


@pytest.mark.parametrize(
    "kernel, signature, text",
    [
        (capitals, "uint8[::1], uint8[::1]", "8 neighbouring blocks along x"),
        (define(PLACES.format("0 <= y < image.shape[0] and 0 <= x < image.shape[1]")), BYTES, "8 neighbouring blocks along x"),
        (define(PLACES.format("0 <= y < image.shape[0] and 0 <= x < out[i, j]")), BYTES, "not coarsened: its blocks take different paths in its loops"),
        (merged, f"{M}, {V}", "4 neighbouring blocks along x"),
        (least, f"{M}, int64[::1]", "4 neighbouring blocks along x"),
        (least, "float64[:,::1], int64[::1]", "not coarsened: its threads have enough loads in flight by themselves"),
        (window, f"{V}, {V}", "4 neighbouring blocks along x"),
        (define(WAVEFRONT.format("b += x[row, cuda.grid(1)]")), f"{M}, {M}, {V}", "2 neighbouring blocks along x"),
        (cells, "float64[:,::1], float64[:,::1]", "not coarsened: its values leave no registers for a second copy"),
        (define(WAVEFRONT.format(COSTS)), f"{M}, {M}, {V}", "not coarsened: its blocks read nothing in common in its loops"),
        (coloured, f"{M}, {M}", "4 neighbouring threads along y"),
        (chain(3), "int32[::1], int32[::1], int32[::1]", "2 neighbouring blocks along x"),
        # with 40 registers, which cost threads (points turned by their bodies' quaternions: 1.19 of the time)
        (chain(6), "int32[::1], int32[::1], int32[::1]", "not coarsened: its values leave no registers for a second copy"),
    ],
)
def test_what_pays_by_the_work_around_loads(kernel, signature, text):
    assert note(kernel, f"narrow ({signature})") == text


@pytest.mark.parametrize(
    "kernel, signature, text",
    [
        (product, f"{M}, {M}, {M}", "8 neighbouring threads along y"),
        (tiled, f"{M}, {M}, {M}", "8 neighbouring blocks along y"),
        (smooth, f"{V}, {V}, {V}", "8 neighbouring blocks along x"),
        (distances, f"{M}, {M}, {M}", "8 neighbouring threads along y"),
        (gathered, f"{M}, int32[::1], {V}", "8 neighbouring blocks along x"),
        (around_places, "uint8[:,::1], int32[:,::1], int8[:,::1], int32[:,::1]", "not coarsened: its blocks gather at places of their own in its loops"),
        (spelled, "int32[::1], uint8[::1], uint8[:,::1]", "not coarsened: its blocks read nothing in common in its loops"),
        (turned, f"{M}, {M}", "4 neighbouring blocks along x"),
        (with_shuffle, V, "4 neighbouring blocks along x"),
        (rounds, f"{V}, {V}", "4 neighbouring blocks along x"),
        (row_sums, f"{M}, {V}, {V}", "not coarsened: its blocks read at least as much of their own as in common in its loops"),
        (column_sums, f"{M}, {V}", "not coarsened: its blocks read nothing in common in its loops"),
        (block_products, f"{M}, {V}, {V}", "not coarsened: its blocks read at least as much of their own as in common in its loops"),
        (column_products, f"{M}, {V}, {V}", "not coarsened: its blocks read at least as much of their own as in common in its loops"),
        (waves, f"{V}, {V}", "not coarsened: its blocks do little in common in its loops"),
        (steps, f"{V}, {V}", "not coarsened: it does not wait for memory in its loops"),
    ],
)
def test_what_is_chosen_with_loops_and_barriers(kernel, signature, text):
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
        (meets_by_block, "its threads synchronise where its blocks take different paths"),
        (ends_by_thread, "some of its threads end before others synchronise"),
        (ends_before_a_shuffle, "some of its threads end before others synchronise"),
        (ends_before, "some of its threads end before others synchronise"),
        (with_much, "the arrays of its copies do not fit into shared memory"),
    ],
)
def test_why_not_even_if_asked(kernel, text):
    assert note(kernel, f"{V}, {V}", coarsen=4) == f"not coarsened: {text}"
    assert note(with_loop, V, coarsen=4) == "not coarsened: it has a loop whose trip count differs between blocks"


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


def test_what_is_the_same_in_all_blocks_stands_once(monkeypatch):
    monkeypatch.setenv("PYPTX_SKIP", "nvptx.left_over")  # copies the loop's rest
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
    assert plain.count("fma.rn.f32") == 3  # not a + c: both are read by products, too


def two_products(x, y, out):  # the first is the same for all blocks, so that it has more uses in the second entry
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[0] * y[0] + x[i] * y[i]


@pytest.mark.parametrize("dtype, op", [("float16", "f16"), ("bfloat16", "bf16"), ("float32", "f32"), ("float64", "f64")])
def test_of_two_products_both_entries_round_the_same(dtype, op):
    """The second, as in the kernel by itself: one multiplication and one fused operation for each element, in copies and in the loop."""
    ptx = _pyptx._compile(two_products, ", ".join([f"{dtype}[::1]"] * 3), "nvptx", "sm_90", 0, {"coarsen": 4}, "ptx")["ptx"]
    plain, coarse = ptx.split("$coarse(", 1)
    for entry, elements in (plain, 1), (coarse, 5):
        assert len(re.findall(rf"\bmul\.rn\.{op}\b", entry)) == len(re.findall(rf"\bfma\.rn\.{op}\b", entry)) == elements
        assert not re.search(rf"\b(mul|add)\.{op}\b", entry)


@pytest.mark.parametrize("lines", [190, 200, 210])
def test_kernels_whose_contraction_makes_them_longer_than_what_is_planned_with(lines):
    """c - a * b of a product with several uses is one instruction more when it is fused."""
    differences = "".join(f"    out[{k} + i] = p - y[{k} + i]\n" for k in range(lines))
    kernel = define(f"def kernel(x, y, out):\n    i = cuda.grid(1)\n    p = x[i] * x[i + 1]\n{differences}")
    made = _pyptx._compile(kernel, f"{V}, {V}, {V}", "nvptx", "sm_90", 0, {"coarsen": 2}, "ptx")
    assert made["coarsening"] == "2 neighbouring blocks along x"
    assert made["ptx"].count("fma.rn.f32") == lines * (1 + 2 + 1)


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
    assert note(cube, signature, max_registers=20).startswith("not coarsened: its values leave no registers")
    assert note(cube, signature, max_registers=24).startswith("2 ")
    assert note(cube, signature, launch_bounds=(1024, 3)).startswith("not coarsened: its values leave no registers")
    assert note(cube, signature, launch_bounds=(1024, 2)).startswith("4 ")
