"""Every atomic operation on every element type and in every memory: by one thread against the sequential model of harness.py, by
many threads against what no order of them can change."""

import re

import numpy as np
import pytest
from harness import FLOATS, INTS, define, jit, run, specials
from pyptx import cuda
from test_ptx import ARCHITECTURES, assemble, ptx_of



def ints(n):
    return np.random.default_rng(1).integers(-50, 50, n)


TYPES = INTS + FLOATS
NUMBERS = ["add", "sub", "max", "min", "nanmax", "nanmin", "exch", "cas"]
INTEGERS = ["and_", "or_", "xor"]
UNSIGNED = ["inc", "dec"]


def allowed(operation, dtype):
    return not (operation in INTEGERS and dtype in FLOATS or operation in UNSIGNED and dtype[0] != "u")


ALL = [(o, d) for o in NUMBERS + INTEGERS + UNSIGNED for d in TYPES if allowed(o, d)]


def call(operation, array, index, value):
    """Source of one operation; cas gets the element's likely value."""
    more = f"{value}, {value} * 0 + 3" if operation == "cas" else value
    return f"cuda.atomic.{operation}({array}, {index}, {more})"


def operands(operation, dtype):
    """Values at which the operation goes wrong first. Sums stay finite so that each rounding counts, and zeros have one sign
    where -0.0 counts as less than 0.0."""
    if dtype in INTS:
        return np.append(specials(dtype), ints(8).astype(dtype))
    x = specials(dtype)
    if operation in ("add", "sub"):
        return x[np.isfinite(x)]
    return x[(x != 0) | ~np.signbit(x)]


# --- one thread: every value, in order ---


@pytest.mark.parametrize("operation, dtype", ALL)
def test_one_after_the_other(operation, dtype):
    """Global, static and dynamic shared memory, the result used and not: the elements and the old values, bit for bit."""
    kernel = define(f"""def kernel(x, out, olds):
    tile = cuda.shared.array((3, 2), np.{dtype})
    buffer = cuda.shared.array(0, np.{dtype})
    tile[1, 1] = out[0, 0]
    tile[2, 0] = out[0, 1]
    buffer[1] = out[1, 0]
    buffer[3] = out[1, 1]
    for i in range(x.size):
        v = x[i]
        {call(operation, "out", "(0, 0)", "v")}
        olds[0, i] = {call(operation, "out", "(-1, i * 0 - 1)", "v")}
        {call(operation, "tile", "(1, 1)", "v")}
        olds[1, i] = {call(operation, "tile[2]", "0", "v")}
        {call(operation, "buffer[1:]", "0", "v")}
        olds[2, i] = {call(operation, "buffer", "(3,)", "v")}
    out[0, 1] = tile[1, 1]
    out[1, 0] = tile[2, 0]
    out[2, 0] = buffer[1]
    out[2, 1] = buffer[3]
""")
    x = operands(operation, dtype)
    out = np.array([[1, 2], [3, 5], [0, 7]], dtype)
    run(kernel, [x, out, np.zeros((3, x.size), dtype)], shared=64)


SPACES = {
    "local": "cuda.local.array(3, np.{})",
    "shared": "cuda.shared.array(3, np.{})",
    "dynamic": "cuda.shared.array(0, np.{})",
    "global": "given",
    "view": "given[::-1]",
}


@pytest.mark.parametrize("opt", [3, 0])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("dtype", TYPES)
def test_nothing_else_is_touched(dtype, space, opt):
    """Arrays of three elements, each in turn, nothing behind the last: the old value, the new one, and the others as they were."""
    lines = ""
    for number, operation in enumerate(o for o, d in ALL if d == dtype):
        lines += f"""
        for k in range(3):
            a[k] = k + 1
        out[{number}, i, 3] = {call(operation, "a", "i", "v")}
        for k in range(3):
            out[{number}, i, k] = a[k]"""
    kernel = define(f"""def kernel(given, out, v):
    a = {SPACES[space].format(dtype)}
    for i in range(3):{lines}
""")
    out = np.zeros((number + 1, 3, 4), dtype)
    run(kernel, [np.zeros(3, dtype), out, np.dtype(dtype).type(2)], shared=3 * out.itemsize, opt=opt)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("operation", ["max", "min", "nanmax", "nanmin"])
def test_nan(operation, dtype):
    """max and min keep a nan element and pass over a nan operand, nanmax and nanmin replace the one and pass over the other."""
    kernel = define(f"""def kernel(x, out, olds):
    i = cuda.grid(1)
    mine = cuda.local.array(1, np.{dtype})
    if i < x.size:
        mine[0] = out[i]
        olds[i] = {call(operation, "out", "i", "x[i]")}
        olds[x.size + i] = {call(operation, "mine", "0", "x[i]")}
        olds[2 * x.size + i] = mine[0]
""")
    pairs = [(a, b) for a in (np.nan, -np.nan, -7.25, 3.5, np.inf, -np.inf) for b in (np.nan, -np.nan, 1.0, -1.0, np.inf)]
    out, x = np.array(pairs, dtype).T.copy()
    _, got, olds = run(kernel, [x, out, np.zeros(3 * x.size, dtype)], 1, 32)
    assert np.array_equal(got, olds[2 * x.size :], equal_nan=True)
    element, operand = np.isnan(out), np.isnan(x)
    assert np.array_equal(np.isnan(got), element if operation in ("max", "min") else element & operand)


# --- many threads ---


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("dtype", TYPES)
def test_every_old_value_is_seen_once(dtype, space):
    """Additions of one: the old values are 0 to n - 1 (modulo the width)."""
    kernel = define(f"""def kernel(out, olds):
    tile = cuda.shared.array(3, np.{dtype})
    t = cuda.threadIdx.x
    if t < 3:
        tile[t] = 0
    cuda.syncthreads()
    olds[cuda.grid(1)] = cuda.atomic.add({"out" if space == "global" else "tile"}, 1, 1)
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(out, 2, tile[1])
""")
    grid = 1 if space == "shared" else 8 if dtype == "float16" else 16  # float16 counts to 2048
    n = grid * 256
    out, olds = np.zeros(3, dtype), np.zeros(n, dtype)
    jit(kernel)[grid, 256](out, olds)
    cuda.synchronize()
    with np.errstate(all="ignore"):
        assert np.array_equal(np.sort(olds), np.sort(np.arange(n).astype(dtype)))
        assert out[2 if space == "shared" else 1] == np.array(n).astype(dtype) and out[0] == 0


@pytest.mark.parametrize("dtype", [d for d in INTS if d[0] == "u"])
def test_inc_and_dec_of_many_threads(dtype):
    """A counter modulo 7 of 16 blocks: each value comes up equally often, in both directions."""

    def kernel(out, up, down):
        i = cuda.grid(1)
        up[i] = cuda.atomic.inc(out, 0, 6)
        down[i] = cuda.atomic.dec(out, 1, 6)

    n = 16 * 7 * 32
    out, up, down = np.zeros(2, dtype), np.zeros(n, dtype), np.zeros(n, dtype)
    jit(kernel)[16, n // 16](out, up, down)
    cuda.synchronize()
    for olds in (up, down):
        assert np.array_equal(np.bincount(olds), np.full(7, n // 7))
    assert not out.any()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("operation", ["max", "min", "nanmax", "nanmin"])
def test_extremes_of_many_threads(operation, dtype):
    kernel = define(f"""def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        {call(operation, "out", "i % 3", "x[i]")}
""")
    x = ints(6000).astype(dtype)
    out = x[:3].copy()
    want = [(np.max if "max" in operation else np.min)(x[k::3]) for k in range(3)]
    if dtype in FLOATS:
        x[::7] = np.nan
        want = [(np.nanmax if "max" in operation else np.nanmin)(np.append(x[k::3], out[k])) for k in range(3)]
    jit(kernel)[47, 128](x, out)
    cuda.synchronize()
    assert np.array_equal(out, np.array(want, dtype))


@pytest.mark.parametrize("dtype", ["int8", "uint16"])
def test_narrow_neighbours_do_not_disturb(dtype):
    """Narrow elements share a word with their neighbours, which other threads change at the same time."""

    def kernel(out):
        cuda.atomic.add(out, cuda.threadIdx.x % out.size, 1)

    out = np.zeros(7, dtype)
    jit(kernel)[16, 7 * 5](out)
    cuda.synchronize()
    assert np.array_equal(out, np.full(7, 80, dtype))


# --- PTX ---

NATIVE = {
    "add": r"add\.[usf]{bits}", "sub": r"add\.[usf]{bits}", "max": r"max\.[us]{bits}", "min": r"min\.[us]{bits}",
    "nanmax": r"max\.[us]{bits}", "nanmin": r"min\.[us]{bits}", "exch": r"exch\.b{bits}", "cas": r"cas\.b{bits}",
    "and_": r"and\.b{bits}", "or_": r"or\.b{bits}", "xor": r"xor\.b{bits}", "inc": r"inc\.u{bits}", "dec": r"dec\.u{bits}",
}  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
def test_assembles_and_is_native(dtype, tmp_path):
    """What PTX has as one instruction is one: a compare-and-swap stands only in cas, in narrow and 64-bit inc and dec, and where a
    nan gives way."""
    bits = np.dtype(dtype).itemsize * 8
    operations = [o for o, d in ALL if d == dtype]
    kernels = {}
    for o in operations:
        kernels[o] = define(f"""def kernel(x, out):
    tile = cuda.shared.array(8, np.{dtype})
    t = cuda.threadIdx.x
    tile[t] = 0
    cuda.syncthreads()
    {call(o, "tile", "t % 4", "x[t]")}
    cuda.syncthreads()
    x[t] = {call(o, "out", "t % 8", "tile[t]")}
""")
    for o in operations:
        ptx = ptx_of(kernels[o], f"{dtype}[:], {dtype}[:]", "sm_90")
        assemble(ptx, "sm_90", tmp_path)
        native = bits >= 32 and not (o in UNSIGNED and bits == 64)
        for space in ("global", "shared"):
            found = set(re.findall(rf"atom\.(?:relaxed\.\w+\.)?{space}\.(\w+\.\w+)", ptx))
            if native:
                assert all(re.fullmatch(NATIVE[o].replace("{bits}", str(bits)), f) or f.startswith(("m", "cas"))
                           for f in found) and found, (o, found)  # fmt: skip
            may_swap = not native or o == "cas" or dtype in FLOATS and o.startswith("nan")
            assert may_swap or not any("cas" in f for f in found), (o, found)
    for arch in ARCHITECTURES:
        if arch != "sm_90":
            assemble(ptx_of(kernels["max"], f"{dtype}[:], {dtype}[:]", arch), arch, tmp_path)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_parts_of_complex_elements(dtype):
    part = np.float32 if dtype == "complex64" else np.float64

    def kernel(a, n):
        parts = a.view(part)
        if cuda.grid(1) < n:
            cuda.atomic.add(parts, 2, 1)
            cuda.atomic.sub(parts, 3, 2)

    a = np.zeros(2, dtype)
    jit(kernel)[2, 32](a, 50)
    cuda.synchronize()
    assert a[0] == 0 and a[1] == 50 - 100j

    def whole(a):
        cuda.atomic.add(a, 0, 1)

    with pytest.raises(TypeError, match=rf"PT309: cuda.atomic.add is not available for elements of type {dtype}\n"):
        jit(whole)[1, 1](a)
