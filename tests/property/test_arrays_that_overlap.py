"""NumPy arrays that are views of one array, as arguments of one launch: rows, windows, fields, other orders, the same
twice, in tuples. What is stored through one is seen through the others, during the launch and after it.
CPython runs the same function on the same views."""

import random

import numpy as np
import pytest
from pyptx import cuda

FIELDS = np.dtype([("a", "i4"), ("b", "i4"), ("c", "i8")])


def flat(x, y, z):
    for k in range(max(len(x), len(y), len(z))):
        if k < len(x):
            x[k] = x[k] + 1 + y[k % len(y)] % 5
        if k < len(y):
            y[k] = y[k] * 2 - z[k % len(z)] % 3
        if k < len(z):
            z[k] = z[k] + x[k % len(x)] % 7


def planes(x, y, z):
    for i in range(3):
        for k in range(3):
            x[i, k] = x[i, k] + 1 + y[k, i] % 5
            y[i, k] = y[i, k] * 2 - z[k, i] % 3
            z[i, k] = z[i, k] + x[i, i] % 7


def in_tuples(x, yz, w):
    for k in range(min(len(x), len(yz[0]), len(yz[1]), len(w))):
        yz[0][k] = x[k] + yz[1][k] % 3
        x[k] = x[k] + w[k] % 2
        w[k] = w[k] + yz[1][k] % 5


def read(x, y, out):
    """It stores to one alone."""
    for k in range(min(len(x), len(y))):
        out[k % len(out)] += x[k] + y[k]


KERNELS = {f: cuda.jit(f) for f in (flat, planes, in_tuples, read)}
TYPED = cuda.jit("void(int64[:], int64[:], int64[::1])")(flat)


def cut(r, n):
    start, stop = sorted(r.sample(range(n + 1), 2))
    step = r.choice((1, 1, 1, 2, 3, -1, -2))
    return slice(start, stop, step) if step > 0 else slice(stop - 1, start - 1 if start else None, step)


def view(r, base, axes):
    """A view of base with that many axes; planes have at least 3 by 3."""
    if axes == 2:
        square = base.reshape(6, -1)
        rows, columns = r.randrange(4), r.randrange(square.shape[1] - 4)
        v = square[rows : rows + 3, columns : columns + r.choice((3, 5))]
        return r.choice((v, v, square, v[:, ::-1], v.T if v.shape[1] == 3 else v))
    kind = r.choice(("all", "cut", "cut", "cut", "row", "column"))
    if kind == "all":
        return base
    v = base[cut(r, base.size)] if kind == "cut" else base.reshape(6, -1)[r.randrange(6)] if kind == "row" else base.reshape(6, -1)[:, r.randrange(5)]
    return v


@pytest.mark.parametrize("seed", range(48))
def test_views_of_one_array(seed):
    r = random.Random(f"views {seed}")
    function = r.choice((flat, flat, planes, in_tuples, read))
    kernel = TYPED if function is flat and r.random() < 0.3 else KERNELS[function]
    source = np.arange(48, dtype=np.int64) * 7 % 101
    state = r.getstate()

    def arguments():
        r.setstate(state)
        base, other = source.copy(), source.copy() + 5
        if r.random() < 0.2 and function is not planes:
            records = np.zeros(24, FIELDS)
            records["a"] = records["b"] = records["c"] = np.arange(24)
            v = [records[name][cut(r, 24)] for name in r.choices("abc", k=4)]
            base = records
        else:
            v = [view(r, base if r.random() < 0.8 else other, 1 + (function is planes)) for _ in range(4)]
        if r.random() < 0.2:
            v[1] = v[0]
        if kernel is TYPED:
            v = [a if a.dtype == np.int64 else other for a in v]
            v[2] = base if base.dtype == np.int64 else other
        return (base, other), [v[0], (v[1], v[2]), v[3]] if function is in_tuples else v[:3]

    (want, want_other), expected = arguments()
    with np.errstate(over="ignore"):
        function(*expected)
    (got, got_other), given = arguments()
    kernel[1, 1](*given)
    cuda.synchronize()
    assert np.array_equal(got, want) and np.array_equal(got_other, want_other)
