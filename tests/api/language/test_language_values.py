"""Tuples, augmented assignment, indexing, shapes, views and builtins."""

import random
import re

import numpy as np
import pytest
from harness import define, run, stopped
from pyptx import cuda


def ints(*shape, dtype=np.int64, seed=1):
    return np.random.default_rng(seed).integers(-50, 50, shape).astype(dtype)


# --- tuples ---


def test_tuple_pack_unpack_swap():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            a, b, c = x[i, 0], x[i, 1], x[i, 2]
            a, b = b, a
            t = (a, b, c)
            (p, q), r = (t[2], t[0]), t[-2]
            u = t + (7, 8)
            out[i] = p * 10000 + q * 100 + r + len(u) * 1000000 + u[4]

    run(kernel, [ints(8, 3), np.zeros(8, np.int64)], 1, 8)


def test_sort_three():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            a, b, c = x[i, 0], x[i, 1], x[i, 2]
            if a > b:
                a, b = b, a
            if b > c:
                b, c = c, b
            if a > b:
                a, b = b, a
            out[i, 0], out[i, 1], out[i, 2] = a, b, c

    run(kernel, [ints(20, 3), np.zeros((20, 3), np.int64)], 1, 32)


def test_starred_unpacking():
    def kernel(x, out):
        first, *middle, last = (x[0], x[1], x[2], x[3])
        out[0] = first
        out[1] = last
        out[2] = len(middle)
        out[3] = middle[0]

    run(kernel, [ints(4), np.zeros(4, np.int64)])


def test_tuple_joined_at_a_branch():
    def kernel(n, x, out):
        if n > 0:
            t = (x[0], 1)
        else:
            t = (x[1], 2)
        out[0] = t[0]
        out[1] = t[1]

    for n in (0, 1):
        run(kernel, [n, ints(2), np.zeros(2, np.int64)])


def test_loop_over_tuple():
    def kernel(x, out):
        total = 0
        for k in (3, 5, 7):
            total += k * x[0]
        out[0] = total

    run(kernel, [ints(1), np.zeros(1, np.int64)])


def test_tuple_with_runtime_index():
    def kernel(x, out):
        i = cuda.grid(1)
        t = (10, 20, 30, 40)
        if i < 4:
            out[i] = t[i]

    run(kernel, [ints(1), np.zeros(4, np.int64)], 1, 8)


R = random.Random(5)
LONG = {
    "ints of 32 bits": [R.randrange(-(2**31), 2**31) for _ in range(40)],
    "ints of 33 bits": [R.randrange(2**32) for _ in range(33)],
    "ints of 64 bits": [R.randrange(-(2**63), 2**63) for _ in range(32)],
    "bools": [R.random() < 0.5 for _ in range(64)],
    "floats": [R.random() for _ in range(100)],
    "bytes": [np.uint8(R.randrange(256)) for _ in range(256)],
    "uint64": [np.uint64(R.randrange(2**64)) for _ in range(37)],
    "float16": [np.float16(R.random()) for _ in range(35)],
    "complex": [complex(R.random(), R.random()) for _ in range(17)],
    "short": [R.randrange(99) for _ in range(31)],
}


@pytest.mark.parametrize("name", LONG)
def test_long_tuples_at_a_run_time_index_are_tables(name, one_entry):
    """Those of 32 numbers and more, once in a module; all else is as with short ones."""
    code = """
def at(k):
    return T[k]

def kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i, 0] = T[x[i]]
        out[i, 1] = at(x[i] // 2)
"""
    kernel, n = define(code, T=tuple(LONG[name])), len(LONG[name])
    out = np.zeros((2 * n, 2), np.array(LONG[name]).dtype)
    run(kernel, [np.arange(-n, n), out], -(-2 * n // 64), 64)
    ptx = cuda.compile_ptx(kernel, f"int32[::1], {out.dtype}[:,::1]", cc="sm_90")[0]
    assert len(re.findall(r"^\.const ", ptx, re.M)) == (name != "short")
    if name == "bools":
        checked = cuda.jit(debug=True)(kernel)
        assert all("tuple index out of range" in stopped(checked, np.array([wrong]), out) for wrong in (n, -n - 1))


def test_tables_of_tuples(one_entry):
    grid = tuple(tuple(R.randrange(-99, 99) for _ in range(5)) for _ in range(7))

    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.size:
            first, *_, last = grid[x[i]]
            out[i] = grid[x[i]][y[i]] * 1000000 + grid[x[i]][-2] * 10000 + first * 100 + last

    index = np.random.default_rng(2).integers(-5, 5, (2, 64))
    run(kernel, [*index, np.zeros(64, np.int64)], 1, 64)
    ptx = cuda.compile_ptx(kernel, "int32[::1], int32[::1], int64[::1]", cc="sm_90")[0]
    assert len(re.findall(r"^\.const ", ptx, re.M)) == 1 and len(re.findall(r"\bld\.const", ptx)) == 4


def test_tuple_comparison_and_membership():
    def kernel(x, out):
        out[0] = 3 in (x[0], 3)
        out[1] = x[0] in (x[0] + 1, x[0] + 2)

    run(kernel, [ints(1), np.zeros(2, np.int64)])


def test_tuple_arguments():
    def kernel(offsets, scale, x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * scale[1] + offsets[0] * offsets[1] + scale[0]

    run(kernel, [(3, 4), (np.float32(0.5), 2.5), ints(8, dtype=np.float32), np.zeros(8, np.float32)], 1, 8)


# --- augmented assignment ---


@pytest.mark.parametrize("operator", ["+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=", ">>=", "**="])
@pytest.mark.parametrize("target", ["v", "out[i]", "out[i % n]"])
def test_augmented_assignment_of_integers(operator, target):
    kernel = define(f"""def kernel(x, y, n, out):
    i = cuda.grid(1)
    if i < n:
        v = x[i]
        out[i] = x[i]
        {target} {operator} y[i]
        out[n + i] = v
""")
    y = np.arange(1, 9) % 5
    run(kernel, [ints(8), y, 8, np.zeros(16, np.int64)], 1, 8)


@pytest.mark.parametrize("operator", ["+=", "-=", "*=", "/=", "//=", "%="])
def test_augmented_assignment_of_floats(operator):
    kernel = define(f"""def kernel(x, y, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = x[i]
        out[i, j] {operator} y[j]
""")
    for dtype in ("float32", "float64"):
        rng = np.random.default_rng(3)
        run(
            kernel,
            [
                rng.standard_normal(8).astype(dtype),
                rng.standard_normal(4).astype(dtype),
                np.zeros((8, 4), dtype),
            ],
            1,
            (8, 4),
        )


def test_augmented_index_is_evaluated_once():
    def kernel(counter, out):
        out[cuda.atomic.add(counter, 0, 1)] += 5

    run(kernel, [np.zeros(1, np.int32), np.zeros(4, np.int64)])


# --- indices ---


def test_negative_indices():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[-1 - i] = x[i]
            if i == 0:
                out[-1] += x[-2]

    run(kernel, [ints(9), np.zeros(9, np.int64)], 1, 16)


def test_negative_indices_of_rank_three():
    def kernel(x, out):
        k, j, i = cuda.grid(3)
        if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
            out[-i - 1, j, -k - 1] = x[i, -j - 1, k]

    run(kernel, [ints(2, 3, 4), np.zeros((2, 3, 4), np.int64)], 1, (4, 3, 2))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_indices_of_every_integer_type(dtype):
    def kernel(x, index, out):
        i = cuda.grid(1)
        if i < index.size:
            out[i] = x[index[i]]

    index = np.array([0, 3, 5, 7, 2], dtype)
    if np.dtype(dtype).kind == "i":
        index[::2] -= 8
    run(kernel, [ints(8), index, np.zeros(5, np.int64)], 1, 8)


def test_chained_indices():
    def kernel(x, out):
        j, i = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out[i][j] = x[i][j] + x[i, j]
            index = (i, j)
            out[index] += x[index]

    run(kernel, [ints(3, 4), np.zeros((3, 4), np.int64)], 1, (4, 3))


@pytest.mark.parametrize("ndim", [1, 2, 3, 4, 5, 6])
def test_any_rank(ndim):
    names = [f"i{k}" for k in range(ndim)]
    loops = "".join("    " * (k + 1) + f"for i{k} in range(x.shape[{k}]):\n" for k in range(ndim))
    index = ", ".join(names)
    kernel = define(
        f"def kernel(x, out):\n{loops}{'    ' * (ndim + 1)}out[{index}] = x[{index}] * 2 + i{ndim - 1}\n"
    )
    shape = (2, 3, 2, 1, 3, 2)[:ndim]
    run(kernel, [ints(*shape), np.zeros(shape, np.int64)])


# --- shape and friends ---


def test_attributes():
    def kernel(x, out):
        out[0] = x.shape[0]
        out[1] = x.shape[1]
        out[2] = x.size
        out[3] = x.ndim
        out[4] = x.ndim * 10
        out[5] = x.T.size
        out[6] = len(x)
        rows, cols = x.shape
        out[7] = rows * 100 + cols
        out[8] = x.T.shape[0]
        out[9] = len(x.shape)
        out[10] = x.shape[-1]

    for x in (ints(3, 5), np.asfortranarray(ints(3, 5)), ints(5, 3).T, ints(3, 5, dtype=np.int8)):
        run(kernel, [x, np.zeros(11, np.int64)])


def test_strides_of_views():
    def kernel(x, out):
        v = x[::2, 1::3]
        out[0] = v.strides[0]
        out[1] = v.strides[1]
        out[2] = v.T.strides[0]
        out[3] = x[1].strides[0]
        out[4] = x[::-1].strides[0]

    run(kernel, [ints(6, 10), np.zeros(5, np.int64)])


def test_transposed():
    def kernel(x, out):
        j, i = cuda.grid(2)
        t = x.T
        if i < t.shape[0] and j < t.shape[1]:
            out[i, j] = t[i, j] + x.T[i, j]

    run(kernel, [ints(3, 5), np.zeros((5, 3), np.int64)], 1, (3, 5))


def test_store_through_transposed():
    def kernel(x, out):
        j, i = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out.T[i, j] = x[i, j]

    run(kernel, [ints(3, 5), np.zeros((5, 3), np.int64)], 1, (5, 3))


LAYOUTS = {
    "C": lambda: ints(4, 6),
    "F": lambda: np.asfortranarray(ints(4, 6)),
    "step": lambda: ints(8, 12)[::2, 1::2],
    "negative step": lambda: ints(4, 6)[::-1, ::-1],
    "column": lambda: ints(4, 12)[:, 3:9],
    "row of one": lambda: ints(1, 6),
    "broadcast": lambda: np.broadcast_to(ints(1, 6), (4, 6)),
    "transposed": lambda: ints(6, 4).T,
    "empty": lambda: ints(0, 6),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_arguments(layout):
    def kernel(x, out):
        j, i = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out[i, j] = x[i, j] * 3

    x = LAYOUTS[layout]()
    run(kernel, [x, np.zeros(x.shape, np.int64)], 1, (8, 4))


@pytest.mark.parametrize("layout", [k for k in LAYOUTS if k != "broadcast"])
def test_layouts_that_are_written(layout):
    def kernel(x):
        j, i = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            x[i, j] = x[i, j] * 3 + 1

    run(kernel, [LAYOUTS[layout]()], 1, (8, 4))


def test_read_only_array_can_be_read():
    def kernel(x, out):
        out[0] = x[0]

    x = ints(3)
    x.flags.writeable = False
    run(kernel, [x, np.zeros(1, np.int64)])


def test_scalar_array():
    def kernel(x, out):
        out[0] = x[()]

    run(kernel, [np.array(5.0), np.zeros(1)])


# --- views ---

SLICES = [
    "x[2:]",
    "x[:3]",
    "x[1:7:2]",
    "x[::-1]",
    "x[-3:]",
    "x[:-2]",
    "x[7:2:-2]",
    "x[5:2]",
    "x[2:100]",
    "x[a:]",
    "x[:a]",
    "x[a:b]",
    "x[-a:b]",
    "x[a:b:2]",
    "x[b:a:-1]",
    "x[2:][1:]",
    "x[::2][::-1]",
    "x[:]",
    "x[a:a]",
    "x[-100:b]",
]


@pytest.mark.parametrize("text", SLICES)
def test_slices(text):
    kernel = define(f"""def kernel(x, a, b, out):
    v = {text}
    out[0] = v.shape[0]
    for i in range(len(v)):
        out[i + 1] = v[i]
        if i > 0:
            out[12] += v[-i]
""")
    run(kernel, [ints(9), 2, 6, np.zeros(13, np.int64)])


@pytest.mark.parametrize(
    "text",
    [
        "x[1]",
        "x[-1]",
        "x[:, 1]",
        "x[1:3, ::2][0]",
        "x[..., 2]",
        "x[0, :, 1]",
        "x[:, -1, ::-1][1]",
        "x[1, ...][0]",
        "x[:, None, 1, 2]",
        "x[1][2]",
        "x[1:, 1:, 1:].T[1, 0]",
    ],
)
def test_views_of_rank_three(text):
    kernel = define(f"""def kernel(x, out):
    v = {text}
    out[0] = v.ndim
    out[1] = v.size
    if v.ndim == 1:
        for i in range(v.shape[0]):
            out[2 + i] = v[i]
    elif v.ndim == 2:
        for i in range(v.shape[0]):
            for j in range(v.shape[1]):
                out[2 + i * v.shape[1] + j] = v[i, j]
""")
    run(kernel, [ints(3, 4, 5), np.zeros(40, np.int64)])


def test_store_through_a_view():
    def kernel(x):
        i = cuda.grid(1)
        row = x[1]
        part = x[2, 1:4]
        if i < row.size:
            row[i] = i
        if i < part.size:
            part[-i - 1] = 100 + i

    run(kernel, [ints(4, 6)], 1, 8)


def test_views_passed_to_functions():
    def total(v):
        s = 0
        for i in range(v.size):
            s += v[i]
        return s

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = total(x[i]) * 1000 + total(x[i, ::2]) + total(x[:, 0])

    run(kernel, [ints(4, 7), np.zeros(4, np.int64)], 1, 8)


def test_loop_over_array():
    def kernel(x, out):
        n = 0
        for v in x:
            out[n] = v * 2
            n += 1

    run(kernel, [ints(5), np.zeros(5, np.int64)])


def test_enumerate_and_zip():
    def kernel(x, y, out):
        for i, v in enumerate(x):
            out[i] = v
        k = 0
        for a, b in zip(x, y):
            out[5 + k] = a * b
            k += 1

    run(kernel, [ints(5), ints(3, seed=2), np.zeros(8, np.int64)])


# --- builtins ---

BUILTINS = [
    "abs(a)",
    "abs(b)",
    "min(a, b)",
    "max(a, b)",
    "min(a, b, 3)",
    "max(a, b, 3, -2)",
    "round(b)",
    "int(b)",
    "float(a)",
    "bool(a)",
    "pow(a, 2)",
    "pow(b, 2)",
    "divmod(a, 7)[0]",
    "divmod(a, 7)[1]",
    "divmod(b, 0.7)[1]",
    "len((a, b))",
    "min((a, b))",
    "max(1, 2)",
    "abs(-3)",
    "int(-2.7)",
    "float(3)",
    "sum((1, 2, 3))",
    "-7 // 2",
    "-7 % 3",
    "7 // -2",
    "-7.5 // 2",
    "2 ** 10",
    "2 ** -1",
    "1 if a else 2",
    "not a",
    "int(True)",
]


@pytest.mark.parametrize("text", BUILTINS)
def test_builtins(text):
    kernel = define(f"""def kernel(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        a = x[i]
        b = y[i]
        out[i] = {text}
""")
    rng = np.random.default_rng(5)
    run(kernel, [ints(16), 10 * rng.standard_normal(16), np.zeros(16)], 1, 16)


def test_none_arguments():
    def kernel(x, unused, out):
        out[0] = x[0]

    run(kernel, [ints(1), None, np.zeros(1, np.int64)])


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"],
)
def test_arrays_of_every_dtype(dtype):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[-i - 1]

    x = ints(33).astype(dtype)
    run(kernel, [x, np.zeros(33, dtype)], 2, 32)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float32", "float64"])
def test_scalar_arguments_of_every_dtype(dtype):
    def kernel(s, out):
        out[0] = s
        out[1] = s + s

    run(kernel, [np.dtype(dtype).type(100), np.zeros(2)])


def test_many_arguments():
    names = [f"a{k}" for k in range(40)]
    kernel = define(
        f"def kernel(out, {', '.join(names)}):\n    out[0] = {' + '.join(f'{k} * {n}' for k, n in enumerate(names))}\n"
    )
    run(kernel, [np.zeros(1), *(k + 0.5 if k % 2 else k for k in range(40))])


def test_wide_integers_survive():
    def kernel(x, out):
        out[0] = x[0] + 1
        out[1] = x[0] >> 3

    run(kernel, [np.array([2**62 + 12345], np.int64), np.zeros(2, np.int64)])
    run(kernel, [np.array([2**63 + 12345], np.uint64), np.zeros(2, np.uint64)])
