"""Values that may be None: results of functions that end without a return, variables that start as None, conditional expressions."""

import numpy as np
import pytest
from pyptx import cuda

NONE, SOME = -7, 5  # positive numbers are handed on, others are None


@pytest.fixture(params=["numpy", "numba"])
def run(request):
    """Each thread's item of x replaced by what body(x[i]) gives, or by NONE for None; compared with Python."""

    def run(body, values=(3, -2, 0, 5, -9), dtype=np.int64):
        @cuda.jit(typing=request.param)
        def kernel(x, out):
            i = cuda.grid(1)
            out[i] = body(x[i])

        x = np.array(values, dtype)
        out = np.zeros(x.size, np.float64)
        kernel[1, x.size](x, out)
        assert out.tolist() == [float(body(v)) for v in x]

    return run


def positive(v):
    if v > 0:
        return v


def sign(v):
    if v > 0:
        return 1
    elif v < 0:
        return -1


def pair(v):
    if v > 1:
        return v, 2.5
    return None


def or_default(v):
    if v is None:
        return NONE
    return v + SOME


def test_is_none(run):
    def body(v):
        r = positive(v)
        if r is not None:
            return r * 10
        return NONE

    run(body)
    run(body, dtype=np.float32)


def test_truth(run):
    run(lambda v: 1 if sign(v) else 2)
    run(lambda v: 1 if not positive(v) else 2)

    def body(v):
        r = sign(v)
        n = 0
        while r:
            n += 1
            r = None if n > 2 else r
        return n

    run(body)


def test_equality(run):
    run(lambda v: (sign(v) == 1) + 2 * (sign(v) != 1) + 4 * (sign(v) == None) + 8 * (None != sign(v)))  # noqa: E711
    run(lambda v: (sign(v) == sign(v - 3)) + 2 * (positive(v) != positive(-v)))
    run(lambda v: (sign(v) in (1, None)) + 2 * (sign(v) not in (-1, 4)))
    run(lambda v: (pair(v) == (3, 2.5)) + 2 * (pair(v) == None))  # noqa: E711


def test_a_variable_that_starts_as_none(run):
    def body(v):
        best = None
        for j in range(6):
            if best is None or abs(j - v) < abs(best - v):
                best = j if j > 1 else None
        return NONE if best is None else best

    run(body)


def test_conditional_expressions(run):
    run(lambda v: (v if v > 0 else None) or 4)
    run(lambda v: 1 if (v if v > 0 else None) is None else 2)

    def body(v):
        r = None if v < 0 else v
        s = 2.5 if v > 1 else r
        return NONE if s is None else s

    run(body)


def test_functions_take_them(run):
    run(lambda v: or_default(positive(v)))
    run(lambda v: or_default(sign(v)) + or_default(positive(-v)))

    def deep(v, n):
        if n == 0:
            return positive(v)
        return deep(v - 1, n - 1)

    run(lambda v: or_default(deep(v, 3)))


def test_tuples(run):
    def body(v):
        p = pair(v)
        if p is None:
            return NONE
        a, b = p
        return a + b

    def inside(v):
        t = (positive(v), 1)
        first, second = t
        return second if first is None else t[0]

    run(body)
    run(inside)


def test_defaults_of_consumers():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        least = min((v for v in x if v > 4 * i), default=None)
        out[i] = NONE if least is None else least

    out = np.zeros(3)
    kernel[1, 3](np.array([3, 9, 5]), out)
    assert out.tolist() == [3, 5, 9]


def test_enums_and_dates():
    import enum

    Color = enum.Enum("Color", "RED GREEN")

    @cuda.jit
    def kernel(x, days, out):
        i = cuda.grid(1)
        color = None
        if x[i] > 0:
            color = Color.RED
        elif x[i] < 0:
            color = Color.GREEN
        day = days[i] if x[i] > 0 else None
        out[i] = (color is None) + 2 * (color == Color.GREEN) + 4 * (day == days[0])

    days = np.array(["2020-01-01", "2021-01-01", "2020-01-01"], "M8[D]")
    out = np.zeros(3)
    kernel[1, 3](np.array([1, 0, -1]), days, out)
    assert out.tolist() == [4, 1, 2]


@pytest.mark.parametrize("use", ["x[0] = r", "x[0] = r + 1", "x[r] = 1", "x[0] = abs(r)", "for k in range(r): x[0] += 1", "x[0] = (r, 1)[0] * 2"])
def test_none_used_as_a_value(use, tmp_path):
    source = f"def kernel(x):\n    r = 2 if x[1] > 0 else None\n    {use}\n"
    space = {}
    exec(compile(source, "<none>", "exec"), space)
    kernel = cuda.jit(space["kernel"], debug=True)
    kernel[1, 1](np.ones(4))
    with pytest.raises(TypeError, match="None is used as a value: test it first"):
        kernel[1, 1](np.zeros(4))
        cuda.synchronize()


@pytest.mark.parametrize("use", ["print(r)", "x[0] = len(x[r:])", "x[0] = isinstance(r, int)", "print(f'{r}')", "assert x[0], r", "x[0] = round(2.5, r)"])
def test_what_would_do_something_else_with_none(use):
    space = {}
    exec(compile(f"def kernel(x):\n    r = 2 if x[1] > 0 else None\n    {use}\n", "<none>", "exec"), space)
    with pytest.raises(TypeError, match="PT227.*depends on whether that is None"):
        cuda.jit(space["kernel"])[1, 1](np.ones(4))


def test_is_of_other_things():
    def kernel(x):
        r = 2 if x[1] > 0 else None
        x[0] = r is True

    with pytest.raises(TypeError, match="is not None"):
        cuda.jit(kernel)[1, 1](np.ones(4))


def test_arrays_and_none_do_not_meet():
    def kernel(x):
        r = x if x[1] > 0 else None
        x[0] = r[0]

    with pytest.raises(TypeError, match="PT212|common type"):
        cuda.jit(kernel)[1, 1](np.ones(4))
