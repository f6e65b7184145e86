"""Slice assignment and slices with a step known at run time, against NumPy on arrays of every layout."""

import numpy as np
import pytest
from harness import define, run
from pyptx import cuda, float32, int64


def ints(*shape, dtype=np.int64, seed=1):
    return np.random.default_rng(seed).integers(-50, 50, shape).astype(dtype)


LAYOUTS = {
    "C": lambda: ints(4, 6),
    "F": lambda: np.asfortranarray(ints(4, 6)),
    "step": lambda: ints(8, 12)[::2, 1::2],
    "negative step": lambda: ints(4, 6)[::-1, ::-1],
    "column": lambda: ints(4, 12)[:, 3:9],
    "transposed": lambda: ints(6, 4).T,
}

# Statements on x (4 × 6), y (4 × 6), row (6), col (4), n = 2.
STATEMENTS = [
    "x[1:3] = 0",
    "x[:, 0] = 1",
    "x[...] = 2.75",
    "x[:] = n",
    "x[1] = 7",
    "x[-1] = row",
    "x[1, 2:5] = row[1:4]",
    "x[n, ::-1] = row",
    "x[n:n] = 5",
    "x[3:1] = 5",
    "x[3:1, :0] = y[:0, 5:5]",
    "x[::-1] = y",
    "x[...] = y[::-1, ::-1]",
    "x[:, ::2] = y[:, 1::2]",
    "x[::-2, 4:0:-2] = y[:2, :2]",
    "x[:] = row",
    "x[...] = row[None, :]",
    "x[:] = col[:, None]",
    "x[:, 1] = col[::-1]",
    "x[:, 1:2] = col[:, None]",
    "x[1:3] = y[n:n + 1]",
    "x[1:3] = y[n:n + 1, n:n + 1]",
    "x[:] = y[0, 0:1]",
    "x[1] = y[None, 2]",
    "x[1, :] = y[None, None, 2]",
    "x[..., 1] = y[0, 0]",
    "x[None, ..., 1] = col",
    "x[0, 1, ...] = 9",
    "x[n, ..., n] = row[n, ...]",
    "x.T[1:3] = col",
    "x[:] = x",
    "x[1, 1:4] = (1, n, 2.75)",
    "row[::n] = (7, 8, 9)",
    "x[1:n + 1][0][2:] = row[:4]",
    "x[:n] = y[n:]",
    "x[-n:, -n:] = y[:n, :n]",
    "x[::n] = y[1::n]",
    "x[::-n, ::n] = y[:2, :3]",
    "x[5::-n] = 3",
    "x[0] = x[1] = row",
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_slice_assignment(layout):
    body = "".join(f"    if case == {k}:\n        {s}\n" for k, s in enumerate(STATEMENTS))
    kernel = cuda.jit(fma=False)(define("def kernel(case, x, y, row, col, n):\n" + body))
    for case in range(len(STATEMENTS)):
        y = np.ascontiguousarray(LAYOUTS[layout]()) * 3 + 1
        run(kernel, [case, LAYOUTS[layout](), y, ints(6, seed=2), ints(4, seed=3), 2])
        run(kernel, [case, np.ascontiguousarray(y), LAYOUTS[layout](), ints(6), ints(8)[::2], 2])


@pytest.mark.parametrize("to", ["uint8", "int16", "bool", "float32"])
def test_elements_are_converted_as_single_stores_are(to):
    def kernel(x, y, z):
        x[:] = y
        x[1:2] = z[0]

    run(kernel, [np.zeros(5, to), np.array([0, 1, -1, 3, 100]), np.array([2.5])])


def test_scalar_array_is_assigned_and_read():
    def kernel(x, y, a):
        x[...] = 4
        a[1:] = y
        a[:1] = y[()]

    run(kernel, [np.array(1.0), np.array(7.0), np.zeros(4)])


def test_shared_and_local_arrays():
    def kernel(x, out):
        tile = cuda.shared.array((4, 8), int64)
        mine = cuda.local.array((2, 3), float32)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        mine[...] = t
        mine[1] = mine[0, :1]
        mine[:, 2] = -t
        cuda.syncthreads()
        out[t, :8] = tile[3 - t, ::-1]
        out[t, 8:11] = mine[1]

    run(kernel, [ints(4, 8), np.zeros((4, 11))], 1, 4)


def test_assignments_in_loops_branches_and_functions():
    def clear(v, value):
        v[1::2] = value

    def kernel(x, n):
        i = cuda.grid(1)
        if i < x.shape[0]:
            for k in range(n):
                if k % 2:
                    x[i, k:] = k
                else:
                    x[i, :k] = x[i, k]
            clear(x[i], i)
            clear(x[i, ::-2], n)

    run(kernel, [ints(5, 9), 7], 1, 8)


@pytest.mark.parametrize("bounds", [":", "a:", ":a", "a:b", "-a:", ":-b", "b:a", "-100:100", "100:-100", "2:7"])
def test_steps_known_at_run_time(bounds):
    kernel = cuda.jit(fma=False)(
        define(f"""def kernel(x, a, b, n, out):
    v = x[{bounds}:n]
    out[0] = v.shape[0]
    out[1:1 + len(v)] = v
    for i in range(len(v)):
        out[11] += v[i] * i
""")
    )
    extreme = [2**63 - 1, -(2**63), 2**63 - 2, 1 - 2**63]
    for n in [1, 2, 3, 4, 8, 9, 10, -1, -2, -3, -8, -9, -10, *extreme]:
        run(kernel, [ints(9), 2, 6, n, np.zeros(12, np.int64)])
    for n in (3, -3, 1):
        run(kernel, [ints(0), 2, 6, n, np.zeros(12, np.int64)])
        run(kernel, [ints(18)[::-2], 2, 6, np.int8(n), np.zeros(12, np.int64)])


@pytest.mark.host_only("the host device always checks")
def test_step_zero_stops():
    @cuda.jit
    def kernel(x, n):
        x[::n] = 0

    with pytest.raises(ValueError, match="slice step cannot be zero"):
        kernel[1, 1](np.ones(4), 0)
        cuda.synchronize()


@pytest.mark.host_only("the host device always checks")
@pytest.mark.parametrize("statement", ["x[:] = y", "x[:2] = y", "x[1:] = y[:2]", "x[:0] = y", "x[:1] = y[None]"])
def test_shapes_that_differ_stop(statement):
    kernel = cuda.jit(define(f"def kernel(x, y):\n    {statement}\n"))
    with pytest.raises(ValueError, match="cannot assign an axis of . elements to an axis of ."):
        kernel[1, 1](np.ones(4), np.ones(3))
        cuda.synchronize()


def test_constant_shapes_that_differ_and_other_values_do_not_compile():
    @cuda.jit
    def differ():
        a = cuda.local.array(4, float32)
        b = cuda.local.array(3, float32)
        a[:] = b

    @cuda.jit
    def not_numbers(x):
        x[:] = None

    for kernel, args in ((differ, ()), (not_numbers, (np.ones(2),))):
        with pytest.raises(TypeError, match="PT304"):
            kernel[1, 1](*args)


@pytest.mark.parametrize("number", ["2**62", "2**63 - 1", "2**63", "2**64 - 1", "-(2**62)", "-(2**63)", "-(2**63) + 1", "BIG", "big[0]"])
def test_bounds_and_steps_beyond_every_extent(number):
    kernel = define(
        f"def kernel(x, big, out):\n    a, b, c = x[::{number}], x[:{number}], x[{number}:]\n    out[0], out[1], out[2] = len(a), len(b), len(c)\n"
        f"    out[3] = a[0]\n    d = x[3:1:{number}]\n    out[4] = len(d)\n",
        BIG=np.uint64(2**63 + 5),
    )
    run(kernel, [np.arange(1, 10), np.array([2**63 + 1], np.uint64), np.zeros(5, np.int64)])
