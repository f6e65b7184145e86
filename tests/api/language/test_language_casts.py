"""Conversions: constructors, int, float, bool, round, and stores from every type into every other."""

import numpy as np
import pytest
from harness import FLOATS, INTS, STRONG, define, jit, run, same, specials, store
import pyptx
from pyptx import cuda


@pytest.mark.parametrize("source", STRONG)
def test_stores(source):
    x = specials(source)
    lines = "".join(f"        to_{t}[i] = x[i]\n" for t in STRONG)
    kernel = define(
        f"def kernel(x, {', '.join('to_' + t for t in STRONG)}):\n    i = cuda.grid(1)\n    if i < x.size:\n{lines}"
    )
    outs = [np.zeros(x.size, t) for t in STRONG]
    jit(kernel)[1, x.size](x, *outs)
    cuda.synchronize()
    for t, out in zip(STRONG, outs):
        want = np.array([store(t, v.item() if source in INTS else v) for v in x], dtype=t)
        assert same(out, want).all(), (t, x[~same(out, want)], out[~same(out, want)], want[~same(out, want)])


@pytest.mark.parametrize("module", ["np", "pyptx"])
@pytest.mark.parametrize("target", STRONG)
def test_constructors(target, module):
    """np.int16(x) and pyptx.int16(x) convert as a store does, and the result has that type."""
    name = {"np": {"bool": "bool_"}, "pyptx": {"bool": "boolean"}}[module].get(target, target)
    for source in STRONG:
        x = specials(source)
        kernel = define(
            f"""def kernel(x, as_int, as_float):
    i = cuda.grid(1)
    if i < x.size:
        r = {module}.{name}(x[i])
        as_int[i] = r + r
        as_float[i] = r
""",
            pyptx=pyptx,
        )
        as_int, as_float = np.zeros(x.size, np.int64), np.zeros(x.size)
        jit(kernel)[1, x.size](x, as_int, as_float)
        cuda.synchronize()
        for i, v in enumerate(x):
            with np.errstate(all="ignore"):
                r = store(target, v.item() if source in INTS else v)
                want = store("int64", r + r), store("float64", r)
            assert same(as_int[i], want[0]) and same(as_float[i], want[1]), (
                source,
                v,
                as_int[i],
                as_float[i],
                want,
            )


@pytest.mark.parametrize("target", STRONG)
def test_constructor_of_a_python_number(target):
    kernel = define(
        f"def kernel(n, f, out):\n    out[0] = np.{'bool_' if target == 'bool' else target}(n)\n"
        f"    out[1] = np.{'bool_' if target == 'bool' else target}(f)\n"
    )
    run(kernel, [3, 2.5, np.zeros(2)])
    run(kernel, [0, 0.1, np.zeros(2)])


@pytest.mark.parametrize("source", STRONG)
def test_int_float_bool(source):
    """They give Python's numbers: int() truncates, out of range saturates at 64 bits, nan gives 0."""

    def kernel(x, one8, one32, as_int, int_beside8, as_float, float_beside32, as_bool):
        i = cuda.grid(1)
        if i < x.size:
            as_int[i] = int(x[i])
            int_beside8[i] = one8[0] * int(x[i])
            as_float[i] = float(x[i])
            float_beside32[i] = one32[0] * float(x[i])
            as_bool[i] = bool(x[i]) + bool(x[i])

    x = specials(source)
    n = x.size
    outs = [np.zeros(n, np.int64), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)]
    jit(kernel)[1, n](x, np.ones(1, np.int8), np.ones(1, np.float32), *outs)
    cuda.synchronize()
    for i, v in enumerate(x):
        plain = v.item()
        whole = store("int64", plain)
        with np.errstate(all="ignore"):
            want = (
                whole,
                store("float64", store("int8", int(whole))),
                np.float64(plain),
                np.float64(np.float32(plain)),
                2.0 * bool(v),
            )
        got = tuple(o[i] for o in outs)
        assert all(same(g, w) for g, w in zip(got, want)), (v, got, want)


@pytest.mark.parametrize("source", FLOATS)
def test_round(source):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = round(x[i])

    large = [1e6 + 0.5, 8388609.0] if source != "float16" else [1001.5, 65504.0]
    x = np.array([-2.5, -1.5, -0.5, -0.4, 0.0, 0.49999997, 0.5, 0.6, 1.5, 2.5, 3.5, *large], source)
    run(kernel, [x, np.zeros(x.size, np.int64)], 1, x.size)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("digits", [0, 1, 2])
def test_round_to_digits(source, digits):
    kernel = define(
        f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = round(x[i], {digits})\n"
    )
    x = np.array([-2.345, -1.25, 0.0, 0.125, 0.25, 2.675, 10.05, 123.456], source)
    run(kernel, [x, np.zeros(x.size, source)], 1, x.size, ulps=1)


@pytest.mark.parametrize("source", INTS)
def test_round_of_an_integer(source):
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = round(x[i])

    x = specials(source)
    run(kernel, [x, np.zeros(x.size, source)], 1, x.size)


def test_constructor_shows_its_width():
    def kernel(x, out):
        out[0] = np.int8(x[0]) + np.int8(x[0])
        out[1] = np.float32(x[1]) / 3
        out[2] = np.uint8(250) + np.uint8(10)

    run(kernel, [np.array([100, 1]), np.zeros(3)])


CLOSE = 2**60 + 2**36 + 1  # a little more than halfway between two float32: by way of a float64 it would be halfway, and round to even


def test_a_known_integer_becomes_a_float_as_numpy_has_it():
    strong, unsigned, weak = np.int64(CLOSE), np.uint64(CLOSE + 2**63), CLOSE

    def kernel(x, y, out):
        out[0], out[1], out[2] = np.float32(strong), np.float32(unsigned), np.float32(weak)
        out[3], out[4] = np.float32(x[0]), np.float32(y[0])

    run(kernel, [np.array([strong]), np.array([unsigned]), np.zeros(5)])


def test_round_of_a_bool_is_an_int():
    def kernel(n, out):
        out[0] = round(n > 1) + round(n > 1, 1) + round(True, 2)

    run(kernel, [2, np.zeros(1, np.int64)])
