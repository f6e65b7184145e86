"""Loops whose indices are checked, which a GPU's code has twice (codegen/ssa, checked_versions): where the loop is left, and what it has done
until then, is as without the second version."""

import re
from itertools import product

import numpy as np
import pytest
from pyptx import cuda


@cuda.jit(debug=True)
def strided(x, out, start, stop, at):
    for k in range(start, stop, 3):
        out[k] = x[at + k]


@cuda.jit(debug=True)
def tiles(x, out, start, stop, at):
    tile = cuda.local.array((8, 5), np.float32)
    for k in range(0, 8, 2):
        if k < stop:
            tile[start + k, at] = x[k]
            out[k] = tile[start + k, at] + x[k - at]


@cuda.jit(debug=True)
def rows(x, out, start, stop, at):
    s = x[0]
    for k in range(start, stop):
        s += x[k + at - 1]
    out[0] = s


@cuda.jit(debug=True)
def guarded(x, out, start, stop, at):
    for k in range(start, stop):
        if k > 0 and k + 1 < x.size:
            out[k] = x[k - 1] + x[k + 1]
        else:
            out[k] = x[at]


@cuda.jit(debug=True)
def until(x, out, start, stop, at):
    k = start
    while True:
        v = x[k + at]
        if not k < stop:
            break
        out[k] = v
        k += 1


@cuda.jit(debug=True)
def backwards(x, out, start, stop, at):
    for k in range(stop, start, -at):
        out[k - 1] = x[k]


@cuda.jit(debug=True)
def by(x, out, start, stop, at):
    for k in range(start, stop, at):
        out[k] = x[k]


KERNELS = [strided, tiles, rows, guarded, until, backwards, by]


class Cuda:
    class local:
        @staticmethod
        def array(shape, dtype):
            return np.zeros(shape, dtype)


def in_python(kernel, arguments):
    """What the index was, if it was out of range."""
    function = type(kernel.py_func)(kernel.py_func.__code__, {**globals(), "cuda": Cuda})
    try:
        function(*arguments)
    except IndexError as e:
        return re.search(r"index (-?\d+) is out of bounds.* size (\d+)", str(e)).groups()
    return None


def on_device(kernel, arguments):
    x, out, *numbers = arguments
    d_out = cuda.to_device(out)
    try:
        kernel[1, 1](cuda.to_device(x), d_out, *numbers)
        cuda.synchronize()  # which raises on a GPU
    except IndexError as e:
        return re.search(r"index (-?\d+) is out of bounds.* size (\d+)", str(e)).groups()
    finally:
        d_out.copy_to_host(out)
    return None


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.py_func.__name__)
def test_a_loop_ends_where_an_index_is_out_of_range(kernel):
    ended = 0
    for start, stop, at in product((0, 1, 3, -2, 9, 2**62), (0, 1, 4, 7, 8, 12, -3), (1, 0, 2, 4, 5, -1, 2**63 - 1)):
        if at == 0 and kernel in (backwards, by):
            continue  # a step of 0
        if abs(start) + abs(at) > 2**62 and kernel in (until, rows) or at > 2**62 or start > 2**61 and kernel is not strided:
            continue  # Python has no integer that wraps, nor a range so long
        both = []
        for call in in_python, on_device:
            x, out = np.arange(1, 9, dtype=np.float32), np.zeros(8, np.float32)
            both.append((call(kernel, (x, out, start, stop, at)), out.tolist()))
        assert both[0] == both[1], (start, stop, at)
        ended += both[0][0] is not None
    assert ended > 20


def test_ends_of_64_bits():
    """A sum that leaves 64 bits between the first and the last index is in range at neither."""
    x = np.zeros(8, np.float32)
    for start, at in (2**63 - 4, -(2**63) + 6), (-(2**63), -(2**63)), (2**62, -(2**62)):
        found = on_device(rows, (x, x.copy(), start, min(start + 4, 2**63 - 1), at))
        first = (start + at - 1 + 2**63) % 2**64 - 2**63  # as int64
        assert (found is None) == all(-8 <= first + n < 8 for n in range(4)), (start, at, found)
