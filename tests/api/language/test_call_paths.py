"""Exceptions in device functions name the calls that led there, innermost first, each path its own, also where functions are not inlined."""

import inspect
import re

import numpy as np
import pytest
from pyptx import cuda


@cuda.jit(device=True)
def element(x, i):
    return x[i]


@cuda.jit(device=True)
def twice(x, i):
    return element(x, i) + element(x, i + 1)


@cuda.jit(device=True)
def positive(v):
    if v <= 0:
        raise ValueError("not positive")
    return v


def places(error):
    """[(function, source line)], innermost first, of what an exception of a kernel says."""
    text = str(error)
    return re.findall(r"^  (?:called from )?[^\n]+?:\d+:\d+, in (?:\S*\.)?(\w+)\n    (.*)$", text, re.MULTILINE)


def raised(kernel, *args, error=IndexError, block=1):
    with pytest.raises(error) as caught:
        kernel[1, block](*args)
        cuda.synchronize()
    assert str(caught.value).count("in thread (") == 1
    return places(caught.value)


def test_the_calls_of_each_path():
    @cuda.jit(debug=True)
    def kernel(x, y, which):
        if which == 0:
            y[0] = element(x, 7)
        elif which == 1:
            y[0] = twice(x, 7)
        elif which == 2:
            y[0] = twice(x, 6)
        elif which == 3:
            y[0] = x[9]
        else:
            y[0] = twice(x, 0) + positive(x[1] - which)

    x, y = np.ones(7), np.zeros(1)
    read, first, second = ("element", "return x[i]"), *[("twice", "return element(x, i) + element(x, i + 1)")] * 2
    assert raised(kernel, x, y, 0) == [read, ("kernel", "y[0] = element(x, 7)")]
    assert raised(kernel, x, y, 1) == [read, first, ("kernel", "y[0] = twice(x, 7)")]
    assert raised(kernel, x, y, 2) == [read, second, ("kernel", "y[0] = twice(x, 6)")]
    assert raised(kernel, x, y, 3) == [("kernel", "y[0] = x[9]")]
    assert raised(kernel, x, y, 4, error=ValueError) == [
        ("positive", 'raise ValueError("not positive")'), ("kernel", "y[0] = twice(x, 0) + positive(x[1] - which)")]


def columns(error):
    return [int(c) for c in re.findall(r"called from [^\n]+?:\d+:(\d+)", str(error))]


def test_two_calls_of_one_line():
    @cuda.jit(debug=True)
    def kernel(x, y):
        y[0] = twice(x, 6)

    with pytest.raises(IndexError) as second:
        kernel[1, 1](np.ones(7), np.zeros(1))
        cuda.synchronize()
    with pytest.raises(IndexError) as first:
        kernel[1, 1](np.ones(6), np.zeros(1))
        cuda.synchronize()
    line = inspect.getsource(twice.py_func).splitlines()[-1]
    assert columns(first.value)[0] == line.index("element") + 1
    assert columns(second.value)[0] == line.rindex("element") + 1


@pytest.mark.parametrize("inline", ["always", "never"])
def test_functions_that_are_not_inlined(inline):
    @cuda.jit(device=True, inline=inline)
    def least(x, i):
        return x[i] - x[i + 1]

    @cuda.jit(device=True, inline=inline)
    def middle(x, i):
        s = 0.0
        for k in range(3):
            s += least(x, i + k)
        return s + least(x, 2 * i)

    @cuda.jit(debug=True)
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = middle(x, i)
        y[i] += middle(x, i + 1)

    lines = ["return x[i] - x[i + 1]", "s += least(x, i + k)", "return s + least(x, 2 * i)", "y[i] = middle(x, i)", "y[i] += middle(x, i + 1)"]
    found = {n: [line for _, line in raised(kernel, np.ones(n), np.zeros(1))] for n in (1, 2, 3, 4)}
    assert found[1] == found[2] == found[3] == [lines[0], lines[1], lines[3]]
    assert found[4] == [lines[0], lines[1], lines[4]]

    @cuda.jit(debug=True)
    def other(x, y):
        y[0] = middle(x, 3)

    assert [line for _, line in raised(other, np.ones(7), np.zeros(1))] == [lines[0], lines[2], "y[0] = middle(x, 3)"]


def test_recursive_functions_begin_a_path():
    @cuda.jit(device=True)
    def down(x, n):
        return element(x, n) if n > 8 else down(x, n + 3)

    @cuda.jit(debug=True)
    def kernel(x, y):
        y[0] = down(x, 0)

    assert [name for name, _ in raised(kernel, np.ones(7), np.zeros(1))] == ["element", "down"]


def test_functions_with_too_many_paths_begin_there():
    f = element
    for _ in range(12):
        def double(x, i, f=f):
            return f(x, i) + f(x, i)

        f = cuda.jit(device=True)(double)

    @cuda.jit(debug=True)
    def kernel(x, y):
        y[0] = f(x, 9)

    found = raised(kernel, np.ones(7), np.zeros(1))
    assert found[0] == ("element", "return x[i]") and len(found) < 13


def test_every_thread_names_its_own_path():
    @cuda.jit(debug=True)
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = element(x, i) if i % 2 else element(x, i + 1)

    for n in (1, 2, 5, 8):
        with pytest.raises(IndexError) as caught:
            kernel[1, 32](np.ones(n), np.zeros(32))
            cuda.synchronize()
        odd = caught.value.thread[0] % 2
        line = '        y[i] = element(x, i) if i % 2 else element(x, i + 1)'
        assert columns(caught.value) == [(line.index if odd else line.rindex)("element") + 1]


def test_from_the_disk_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_CACHE_DIR", str(tmp_path))

    def made():
        @cuda.jit(debug=True, cache=True)
        def kernel(x, y):
            y[0] = twice(x, 7)

        return kernel

    kernels = [made(), made()]
    assert raised(kernels[0], np.ones(7), np.zeros(1)) == raised(kernels[1], np.ones(7), np.zeros(1))
    assert sum(kernels[1].stats.cache_hits.values()) == 1 and not kernels[1].stats.cache_misses
