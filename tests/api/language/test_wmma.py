"""cuda.wmma, CUDA C++'s warp matrix functions: every shape, type and layout against NumPy's products, from global and from shared memory."""

import re

import numpy as np
import pytest
from harness import define
from pyptx import CompileError, cuda
from pyptx.cuda import wmma
from test_instructions import has  # noqa: F401 - on_device asks it
from test_matrices import factors, on_device
from test_ptx import assemble, ptx_of

SHAPES = ((16, 16, 16), (32, 8, 16), (8, 32, 16))
TYPES = (("float16", "float32"), ("float16", "float16"), ("bfloat16", "float32"), ("int8", "int32"), ("uint8", "int32"))
KINDS = [*((*shape, *types) for shape in SHAPES for types in TYPES), (16, 16, 8, "float32", "float32"), (8, 8, 4, "float64", "float64")]
NAMES = [f"m{m}n{n}k{k}-{factor}-{sum}" for m, n, k, factor, sum in KINDS]


def tiles(m, n, k, factor, sum, layouts):
    """A kernel of one warp: c = a @ b + c of one tile, k in several steps. The arrays lie as `layouts` says: transposed where that is col_major."""
    kinds = [f"wmma.{layout}_major" for layout in layouts]
    at_a, at_b = "(0, k)" if layouts[0] == "row" else "(k, 0)", "(k, 0)" if layouts[1] == "row" else "(0, k)"
    return define(
        "from pyptx.cuda import wmma\n"
        "def kernel(c, a, b):\n"
        f"    fa = wmma.fragment(wmma.matrix_a, {m}, {n}, {k}, cuda.{factor}, {kinds[0]})\n"
        f"    fb = wmma.fragment(wmma.matrix_b, {m}, {n}, {k}, cuda.{factor}, {kinds[1]})\n"
        f"    sums = wmma.fragment(wmma.accumulator, {m}, {n}, {k}, cuda.{sum})\n"
        f"    sums = wmma.load_matrix_sync(sums, c, (0, 0), {kinds[2]})\n"
        f"    for k in range(0, {3 * k}, {k}):\n"
        f"        fa = wmma.load_matrix_sync(fa, a, {at_a})\n"
        f"        fb = wmma.load_matrix_sync(fb, b, {at_b})\n"
        "        sums = wmma.mma_sync(fa, fb, sums)\n"
        f"    wmma.store_matrix_sync(c, (0, 0), sums, {kinds[2]})\n"
    )


def given(m, n, k, factor, sum, layouts):
    """a, b, c as NumPy multiplies them, and arrays of the same numbers that lie as `layouts` says."""
    rng = np.random.default_rng(m + k)
    a, b = factors(rng, factor, m, 3 * k), factors(rng, factor, 3 * k, n)
    c = rng.integers(-(2**31), 2**31, (m, n)).astype(sum) if sum == "int32" else rng.standard_normal((m, n)).astype(sum)
    return (a, b, c), [(x if layout == "row" else x.T).copy() for x, layout in zip((a, b, c), layouts)]


def check(got, a, b, c):
    """Integers have NumPy's sums. Floats, of three steps: in each 2**-10 of the sum of the sizes allows for sums in float16, 2**-21 for those of
    float32 in any order and with the hardware's truncation, 2**-51 for those of float64."""
    if got.dtype == np.int32:
        assert np.array_equal(got, (a.astype(np.int64) @ b.astype(np.int64) + c).astype(np.int32))
        return
    a, b, c = (v.astype(np.float64) for v in (a, b, c))
    bound = 3 * {2: 2.0**-10, 4: 2.0**-21, 8: 2.0**-51}[got.dtype.itemsize] * (abs(a) @ abs(b) + abs(c))
    assert (abs(got.astype(np.float64) - (a @ b + c)) <= bound).all()


@on_device
@pytest.mark.parametrize("layouts", ["row col row", "col row col"])
@pytest.mark.parametrize("m, n, k, factor, sum", KINDS, ids=NAMES)
def test_products(m, n, k, factor, sum, layouts):
    if factor == "bfloat16":
        pytest.importorskip("ml_dtypes")
    layouts = layouts.split()
    (a, b, c), (da, db, dc) = given(m, n, k, factor, sum, layouts)
    cuda.jit(tiles(m, n, k, factor, sum, layouts))[1, 32](dc, da, db)
    check(dc if layouts[2] == "row" else dc.T, a, b, c)


@pytest.mark.parametrize("m, n, k, factor, sum", KINDS, ids=NAMES)
def test_ptx_of_products(m, n, k, factor, sum, tmp_path, one_entry):
    kernel = tiles(m, n, k, factor, sum, ("row", "row", "row"))
    text = ptx_of(kernel, f"{sum}[:,::1], {factor}[:,::1], {factor}[:,::1]", "sm_80")
    assert f"mma.sync.aligned.m{8 if k == 4 else 16}n8k{k}.row.col." in text
    assert ".local" not in text  # fragments are registers
    assemble(text, "sm_80", tmp_path)


@cuda.jit
def blocks(c, a, b, alpha, beta):
    """alpha A @ B + beta C by blocks of 2 x 2 warps, which read 32 x 32 and 32 x 32 from shared memory of one axis; B lies by columns."""
    sa, sb = cuda.shared.array(32 * 40, np.float16), cuda.shared.array(32 * 40, np.float16)
    t, warp = cuda.threadIdx.x, cuda.threadIdx.x // 32
    row, column = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    i, j = 16 * (warp // 2), 16 * (warp % 2)
    fa = wmma.fragment(wmma.matrix_a, 16, 16, 16, np.float16, wmma.row_major)
    fb = wmma.fragment(wmma.matrix_b, 16, 16, 16, np.float16, wmma.col_major)
    sums = wmma.fill_fragment(wmma.fragment(wmma.accumulator, 16, 16, 16, np.float32), 0)
    for k in range(0, a.shape[1], 32):
        for e in range(t, 1024, 128):
            sa[e // 32 * 40 + e % 32] = a[row + e // 32, k + e % 32]
            sb[e // 32 * 40 + e % 32] = b[column + e // 32, k + e % 32]
        cuda.syncthreads()
        for kk in range(0, 32, 16):
            fa = wmma.load_matrix_sync(fa, sa, 40 * i + kk, ldm=40)
            fb = wmma.load_matrix_sync(fb, sb, 40 * j + kk, ldm=40)
            sums = wmma.mma_sync(fa, fb, sums)
        cuda.syncthreads()
    old = wmma.load_matrix_sync(sums, c, (row + i, column + j), wmma.mem_row_major)
    result = wmma.map_fragment(lambda x, y: alpha * x + beta * y, sums, old)
    wmma.store_matrix_sync(c, (row + i, column + j), result, wmma.mem_row_major)


@on_device
def test_blocks_of_warps():
    """As the example of CUDA C++: alpha A @ B + beta C. 2**-21 of the sizes for each of the six steps and for the two products at the end."""
    rng = np.random.default_rng(11)
    a, b = rng.standard_normal((64, 96)).astype(np.float16), rng.standard_normal((96, 32)).astype(np.float16)
    c = rng.standard_normal((64, 32)).astype(np.float32)
    out = c.copy()
    blocks[(1, 2), 128](out, a, np.ascontiguousarray(b.T), np.float32(0.75), np.float32(-2))
    x, y = a.astype(np.float64), b.astype(np.float64)
    assert (abs(out - (0.75 * (x @ y) - 2.0 * c)) <= 8 * 2.0**-21 * (abs(x) @ abs(y) + 2 * abs(c))).all()


@pytest.mark.parametrize("m, n, k, dtype", [(16, 16, 16, "float16"), (32, 8, 16, "float32"), (8, 32, 16, "int32"),
                                            (16, 16, 8, "float32"), (8, 8, 4, "float64")])  # fmt: skip
def test_loads_and_stores(m, n, k, dtype):
    """Accumulators take no matrix operation: read by rows and written by columns, the tile is transposed, and nothing beside it changes."""
    kernel = define(
        "from pyptx.cuda import wmma\n"
        "def kernel(out, x):\n"
        f"    f = wmma.load_matrix_sync(wmma.fragment(wmma.accumulator, {m}, {n}, {k}, np.{dtype}), x, (1, 2), wmma.mem_row_major)\n"
        f"    wmma.store_matrix_sync(out, {n} + 3, f, wmma.mem_col_major, ldm={m})\n"
    )
    x = np.arange((m + 2) * (n + 4)).reshape(m + 2, n + 4).astype(dtype)
    out = np.zeros(m * n + n + 8, dtype)
    cuda.jit(kernel)[1, 32](out, x)
    want = np.zeros_like(out)
    want[n + 3 : n + 3 + m * n] = x[1 : m + 1, 2 : n + 2].T.ravel()
    assert np.array_equal(out, want)


def test_elements_of_fragments():
    """x is a tuple: indices, loops and len; every element of the tile is in one lane."""

    @cuda.jit
    def kernel(sizes, total, out):
        f = wmma.fill_fragment(wmma.fragment(wmma.accumulator, 32, 8, 16, np.float32), cuda.laneid)
        sizes[0] = len(f.x)
        for v in f.x:
            cuda.atomic.add(total, 0, v)
        wmma.store_matrix_sync(out, (0, 0), wmma.map_fragment(lambda v: v + 0.5, f), wmma.mem_row_major)

    sizes, total, out = np.zeros(1, np.int64), np.zeros(1, np.float32), np.zeros((32, 8), np.float16)
    kernel[1, 32](sizes, total, out)
    assert sizes[0] == 8 and total[0] == 8 * sum(range(32))
    assert np.array_equal(np.sort(out.ravel()), np.repeat(np.arange(32), 8) + np.float16(0.5))


@on_device
def test_strided_arrays():
    a = np.arange(32 * 32, dtype=np.float64).reshape(32, 32)[::2, ::-2]
    b, c = np.eye(16)[3:8, ::3], np.zeros((16, 32))[::2, ::4]
    cuda.jit(tiles(8, 8, 4, "float64", "float64", ("row", "row", "row")))[1, 32](c, a[:8, :12], np.pad(b, ((0, 7), (0, 2))))
    assert np.array_equal(c, a[:8, :12] @ np.pad(b, ((0, 7), (0, 2))))


A, B, C = (f"wmma.fragment(wmma.{use}, 16, 16, 16, np.{t}{layout})" for use, t, layout in (
    ("matrix_a", "float16", ", wmma.row_major"), ("matrix_b", "float16", ", wmma.row_major"), ("accumulator", "float32", "")))  # fmt: skip


@pytest.mark.parametrize("call, what", [
    ("fragment(3, 16, 16, 16, np.float16, wmma.row_major)", "wmma.matrix_a, wmma.matrix_b or wmma.accumulator"),
    ("fragment(wmma.matrix_a, 16, 16, 32, np.float16, wmma.row_major)", "m, n, k are 16, 16, 16 or 32, 8, 16 or 8, 32, 16"),
    ("fragment(wmma.matrix_a, x.shape[0], 16, 16, np.float16, wmma.row_major)", "must be known when the kernel is compiled"),
    ("fragment(wmma.matrix_a, 16, 16, 16, np.float32, wmma.row_major)", "has elements of this type"),
    ("fragment(wmma.matrix_a, 16, 16, 8, np.float16, wmma.row_major)", "has elements of this type"),
    ("fragment(wmma.accumulator, 16, 16, 16, np.float64)", "has elements of this type"),
    ("fragment(wmma.matrix_a, 16, 16, 16, np.complex64, wmma.row_major)", "has elements of this type"),
    ("fragment(wmma.matrix_a, 16, 16, 16, np.float16)", "wmma.row_major or wmma.col_major"),
    ("fragment(wmma.accumulator, 16, 16, 16, np.float32, wmma.row_major)", "of accumulators of load_matrix_sync and store_matrix_sync"),
    (f"load_matrix_sync({A}, x, (0, 0))", "the array has the fragment's type of elements"),
    (f"load_matrix_sync({C}, x, (0, 0))", "wmma.row_major or wmma.col_major"),
    (f"load_matrix_sync({A}, y, (0, 0), wmma.row_major)", "of A and B an argument of fragment"),
    (f"load_matrix_sync({C}, x, 0, wmma.mem_row_major)", "an array of 2 axes with an index (i, j)"),
    (f"load_matrix_sync({C}, x, (0, 0, 0), wmma.mem_row_major)", "an array of 2 axes with an index (i, j)"),
    (f"load_matrix_sync({C}, x[0], 0, wmma.mem_row_major)", "one of 1 axis with an integer and ldm="),
    (f"load_matrix_sync({C}, 3, 0, wmma.mem_row_major)", "an array of 2 axes with an index (i, j)"),
    (f"store_matrix_sync(y, (0, 0), {A}, wmma.mem_row_major)", "store_matrix_sync stores accumulators"),
    (f"store_matrix_sync(x, (0, 0), {C}, 1)", "wmma.row_major or wmma.col_major"),
    (f"mma_sync({B}, {A}, {C})", "fragments of matrix_a, matrix_b and accumulator"),
    (f"mma_sync({A}, {B}, {C.replace('16, 16, 16', '32, 8, 16')})", "fragments of one shape"),
    (f"mma_sync({A}, {B.replace('float16', 'int8')}, {C})", "elements of A and B of one type"),
    (f"mma_sync({A}, {B}, {C.replace('float32', 'int32')})", "no accumulator of this type for these factors"),
    (f"map_fragment(lambda x, y: x + y, {A}, {C})", "two fragments of one use, shape and type"),
])  # fmt: skip
def test_wrong_calls(call, what):
    kernel = define(f"from pyptx.cuda import wmma\ndef kernel(x, y):\n    wmma.{call}\n")
    with pytest.raises(CompileError, match=re.escape(what)):
        ptx_of(kernel, "float32[:,::1], float16[:,::1]", "sm_80")


@pytest.mark.host_only
@pytest.mark.parametrize("threads, index, what", [(16, "(0, 0)", "16 of the 32 lanes of warp 0 are there"), (32, "(0, 8)", "index 16 is out of bounds")])
def test_wrong_use(threads, index, what):
    kernel = define(
        f"from pyptx.cuda import wmma\ndef kernel(x, y):\n    a, b = wmma.load_matrix_sync({A}, x, {index}), {B}\n"
        f"    wmma.store_matrix_sync(y, (0, 0), wmma.mma_sync(a, b, {C}), wmma.mem_row_major)\n"
    )
    with pytest.raises((RuntimeError, IndexError), match=what):
        cuda.jit(kernel)[1, threads](np.zeros((16, 16), np.float16), np.zeros((16, 16), np.float32))
