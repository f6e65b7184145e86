"""Variables that several types reach: their type is np.result_type of all of them, whichever paths meet first.

A value is converted to the type that its variable has where it is read, and to none on the way there.
"""

import itertools
import re

import numpy as np
import pytest
from harness import define, jit
from pyptx import cuda

# One of x, y and z, by the number c (0, 1, 2).
SHAPES = {
    "flat": "if c == 0:\n        v = x\n    elif c == 1:\n        v = y\n    else:\n        v = z\n    return v",
    "nested": "if c != 2:\n        if c == 0:\n            v = x\n        else:\n            v = y\n    else:\n        v = z\n    return v",
    "read": "v = x if c == 0 else y\n    if c < 0:\n        cuda.syncwarp()\n    w = v\n    if c == 2:\n        w = z\n    return w",
    "results": "if c == 0:\n        return x\n    return y if c == 1 else z",
    "loop": "v = x\n    for k in range(1, 3):\n        if c >= k:\n            v = y if k == 1 else z\n    return v",
    "tuple": "t = (x, c)\n    if c == 1:\n        t = (y, c)\n    if c == 2:\n        t = (z, c)\n    return t[0]",
}
WEAK = {"pybool": bool, "pyint": int, "pyfloat": float}
VALUES = {"pyint": -3, "pyfloat": 0.1, "pybool": True, "bool": True}
STORED = {"pyint": "int64", "pyfloat": "float64", "pybool": "bool"}
TYPES = ["pyint", "pyfloat", "bool", "int8", "uint8", "int32", "uint64", "float16", "float32"]


def expected(types):
    """(name of the type, the three values in it)."""
    samples = [WEAK[t](1) if t in WEAK else np.dtype(t).type(1) for t in types]
    if all(t in WEAK for t in types):
        weak = max(types, key=list(WEAK).index)
        return weak, WEAK[weak]
    dtype = np.result_type(*samples)
    return dtype.name, lambda v: np.array(v).astype(dtype)[()]


def value(t):
    return VALUES.get(t, 100 if "int" in t else 1.5)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_type_is_that_of_all(shape):
    """Every three types, in every order, in one kernel a first type."""
    for first in TYPES:
        triples = [(first, *rest) for rest in itertools.permutations(TYPES, 2)]
        helpers, body, wanted, arrays = [], [], [], {}
        for t in TYPES:
            arrays[f"a_{t}"] = np.array([value(t)], STORED.get(t, t))
        for k, triple in enumerate(triples):
            name, convert = expected(triple)
            helpers.append(f"def pick{k}(c, x, y, z):\n    {SHAPES[shape]}\n")
            given = [f"{WEAK[t].__name__}(a_{t}[0])" if t in WEAK else f"a_{t}[0]" for t in triple]
            out = STORED.get(name, name)
            row = len(arrays.setdefault(f"o_{out}", []))
            arrays[f"o_{out}"].append(np.zeros(3, out))
            body.append(f"    o_{out}[{row}, c] = pick{k}(c, {', '.join(given)})\n")
            wanted.append((name, f"o_{out}", row, [convert(value(t)) for t in triple]))
        arrays = {n: np.stack(a) if isinstance(a, list) else a for n, a in arrays.items()}
        text = "".join(helpers) + f"def kernel({', '.join(arrays)}):\n    c = cuda.grid(1)\n" + "".join(body)
        kernel = jit(define(text))
        kernel[1, 3](*arrays.values())
        cuda.synchronize()
        types = str(*kernel.inspect_types().values())
        found = dict(re.findall(r"^func pick(\d+)(?:__\d+)?\(.*\) -> (.*) \{$", types, re.M))
        for k, (name, out, row, values) in enumerate(wanted):
            assert found[str(k)] == name, (shape, triples[k])
            assert list(arrays[out][row]) == values, (shape, triples[k], arrays[out][row], values)


def test_a_value_is_not_converted_on_the_way():
    """Beside a uint8 -3 would be 253; where the uint8 is read it is, but the int16 comes of -3 itself."""

    def kernel(n, u, i, out):
        v = n
        if n > 5:
            v = u[0]
        out[0] = v
        if n > 10:
            v = i[0]
        out[1] = v

    out = np.zeros(2, np.int64)
    jit(kernel)[1, 1](-3, np.ones(1, np.uint8), np.ones(1, np.int16), out)
    cuda.synchronize()
    assert list(out) == [253, -3]


def test_a_span_without_a_unit_takes_that_of_all():
    """3 with 's' and '25ms' is 3 times 25 ms, not 3 s; where only the 's' may have joined it, it is 3 s."""

    def kernel(n, g, s, m, out):
        v = g[0]
        if n > 5:
            v = s[0]
        out[0] = v
        if n > 9:
            v = m[0]
        out[1] = v

    out = np.zeros(2, "m8[ms]")
    jit(kernel)[1, 1](1, np.array([3], "m8"), np.array([4], "m8[s]"), np.array([5], "m8[25ms]"), out)
    cuda.synchronize()
    assert list(out.astype(np.int64)) == [3000, 75]


def test_what_a_loop_knows_at_first_decides_no_type():
    """k is 0 in the first turn: then the inner loop does not run, b stays a bool, and -b would be an error."""

    def kernel(n, flags, x, out):
        b = flags[0]
        shift = n
        for k in range(3):
            for _ in range(k):
                b %= 3
            if -b:
                out[0] += 1
            shift <<= np.fmin(1, x[0] if k else 1)
            out[1] += -(k - 1 and flags[0])
        out[2] = shift

    out = np.zeros(3, np.int64)
    kernel = jit(kernel)
    kernel[1, 1](1, np.ones(1, bool), np.ones(1, np.int32), out)
    cuda.synchronize()
    assert list(out) == [3, -2, 8]
    assert re.search(r"int32 = phi .*'shift'", str(*kernel.inspect_types().values()))


ENDS = {
    "else": "if c[k]:\n            v = 1\n        else:\n            v, w = w, v",
    "code behind": "if c[k]:\n            v = 1\n        else:\n            v, w = w, v\n        out[1] = k",
    "continue": "if c[k]:\n            v = 1\n            continue\n        v, w = w, v",
    "continue first": "if not c[k]:\n            v, w = w, v\n            continue\n        v = 1",
}


@pytest.mark.parametrize("head", ["for k in range(3):", "k = -1\n    while k < 2:\n        k += 1"])
@pytest.mark.parametrize("end", ENDS)
def test_all_ends_of_a_loops_body_give_its_variables_their_types_at_once(head, end):
    """v is a bool, an int or an int32: an int32. (A bool and an int alone would be an int64, and so would v | v be, which w gets.)"""
    kernel = jit(define(f"def kernel(c, a, b, out):\n    v, w = a[0], b[0]\n    {head}\n        v |= v\n        {ENDS[end]}\n    out[0] = v\n"))
    out = np.zeros(2, np.int64)
    kernel[1, 1](np.array([0, 1, 0]), np.ones(1, bool), np.array([-5], np.int32), out)
    cuda.synchronize()
    types = str(*kernel.inspect_types().values())
    assert {t for t, _ in re.findall(r"(\w+) = phi .*'([vw])'", types)} == {"int32"}
    v, w = np.True_, np.int32(-5)
    for c in (0, 1, 0):
        v, w = (1, w) if c else (w, v)
    assert out[0] == v


@pytest.mark.parametrize("expression", ["({}) ** 1", "+({})", "({},)[0]", "round({})", "(lambda v: v)({})", "min({0}, {0})"])
def test_an_operation_that_gives_its_operand_has_read_it(expression):
    """-2 beside a uint16 is 65534, also where that meets a float32 afterwards."""
    value = expression.format("-2 if c else b")
    kernel = jit(define(f"def kernel(c, b, x, out):\n    v = {value}\n    out[0] = x if c > 5 else v\n"))
    out = np.zeros(1)
    kernel[1, 1](1, np.uint16(7), np.float32(1.5), out)
    cuda.synchronize()
    assert out[0] == 65534


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_counts_beside_a_span_meet_in_it_alone(order):
    """int8 and uint64 are a float64 together; beside a span each counts its units."""
    given = [np.int8(-5), np.uint64(2**40), np.timedelta64(7, "s")]

    def kernel(x, y, z, out):
        for c in range(3):
            v = x
            if c == 1:
                v = y
            if c == 2:
                v = z
            out[c] = v

    out = np.zeros(3, "m8[s]")
    values = [given[k] for k in order]
    jit(kernel)[1, 1](*values, out)
    cuda.synchronize()
    assert list(out.astype(np.int64)) == [int(v.astype(np.int64)) for v in values]


def test_a_python_int_counts_the_units_of_a_span_whole():
    """Beside an int8 300 is 44; what a span gets is the number itself."""

    def kernel(n, a, t, c, out):
        v = n
        if c == 1:
            v = a
        w = v
        if c == 2:
            w = t
        out[0], out[1] = v, w

    out = np.zeros(2, "m8[s]")
    jit(kernel)[1, 1](300, np.int8(1), np.timedelta64(3, "s"), 0, out)
    cuda.synchronize()
    assert list(out.astype(np.int64)) == [44, 300]


@pytest.mark.parametrize(
    "of,items",
    [("{}", "x"), ("reversed({})", "x"), ("enumerate({})", "k, x"), ("enumerate({}, 2)", "k, x"), ("zip({}, {}[::-1])", "k, x"), ("enumerate(zip({}, {}))", "k, (x, y)")],
)
def test_loops_over_arrays_of_two_layouts(of, items):
    """What is looped over is a row, or every second element of a row."""
    kernel = define(f"""def kernel(a, c, out):
    for {items} in {of.format("a", "a")} if c else {of.format("a[::2]", "a[::2]")}:
        out[0] += 1
        out[1] = out[1] * 3 + {items.replace("(", "").replace(")", "").replace(",", " +")}
""")
    for c in (0, 1):
        a, want, got = np.arange(1, 8), np.zeros(2, np.int64), np.zeros(2, np.int64)
        kernel(a, c, want)
        jit(kernel)[1, 1](a, c, got)
        cuda.synchronize()
        assert np.array_equal(got, want)
