"""Equality, identity and membership of values of every kind against every other, compared with CPython running the same expression.

One kernel a value on the left: all comparisons that a kernel must answer, each in a form that the seed draws. Those that it may refuse
(`unknown`: what NumPy compares element by element, objects with an == of their own, objects of which a kernel does not know whether
they are one) it answers as CPython does or refuses with an error of the operands.
"""

import collections
import enum
import math
import operator
import random

import numpy as np
import pyptx
import pytest
from harness import define, jit
from pyptx import CompileError, cuda


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Other(enum.Enum):
    RED = 1
    BLUE = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


Point = collections.namedtuple("Point", "a b")
Pair = collections.namedtuple("Pair", "a b")
MISSING, ELSE, DTYPE = object(), object(), np.dtype("f8")


def double(v):
    return v + v


def half(v):
    return v / 2


VALUES = {
    "weak": "n | 2 | 0.0 | True | 1j | Level.LOW | Level.HIGH",
    "strong": "x[0] | z | b | np.False_ | d | np.timedelta64(1, 's')",
    "none": "None",
    "text": "'s' | 't' | 'float64' | b's' | b't'",
    "tuple": "() | (1, 2) | (n, 2) | [1, 2] | Point(1, 2) | Pair(n, 2) | (1, (2, n)) | (n, 'float64') | (range(n), None)",
    "range": "range(n) | range(0) | range(5, 5) | range(0, 3, 2) | range(0, 4, 2) | range(0, n, 2) | range(n, 0, -1) | range(2, 1, -5)",
    "slice": "slice(1, 2) | slice(1, n) | slice(None, n, None) | slice(None, 2)",
    "iterator": "enumerate((1, 2)) | enumerate((1, 2), 1) | zip((1, 2), (3, 4)) | reversed((1, 2)) | zip()",
    "function": "double | half | len | math.sqrt | np.sqrt | np.abs | np.absolute",
    "made": "(lambda: 1) | (lambda: n) | f | g | x.reshape | z.conjugate",
    "module": "math | operator | np",
    "member": "Color.RED | Color.BLUE | c | Other.RED",
    "class": "Color | Other | Point | Pair | ValueError | KeyError | ...",
    "array": "x | y | x.flat",
    "dtype": "x.dtype | y.dtype | DTYPE | z.dtype",
    "type": "np.float64 | np.int32 | np.int64 | np.longlong | float | int | pyptx.float64 | x.dtype.type | type(x[0]) | type(n)",
    "opaque": "MISSING | ELSE | np.ndarray",
}
KIND = {value.strip(): kind for kind, text in VALUES.items() for value in text.split(" | ")}
EQUAL = ["{a} == {b}", "{a} != {b}", "{a} in ({b},)", "{a} not in ({b}, {b})", "operator.eq({a}, {b})", "({a}, 1) == ({b}, 1)", "[{a}] != [{b}]"]
IS = ["{a} is {b}", "{a} is not {b}", "operator.is_({a}, {b})", "operator.is_not({a}, {b})"]
SCOPE = {k: globals()[k] for k in ("Color", "Other", "Level", "Point", "Pair", "MISSING", "ELSE", "DTYPE", "double", "half", "math", "operator", "np", "pyptx")}
HEAD = "def kernel(n, x, y, z, b, c, d, out):\n    f = lambda v: v + n\n    g = lambda v: v - n\n"


def unknown(identity, a, b):
    """May a kernel refuse it? Not for being of two kinds, but where a kind below has a say."""
    kinds = {KIND[a], KIND[b]}
    one_kind = len(kinds) == 1
    if identity:
        alike = one_kind and kinds & {"tuple", "range", "slice", "iterator", "made", "array", "dtype", "type", "text", "class"}
        return bool(alike) or kinds <= {"weak", "strong"}
    by_element = "strong" in kinds and bool(kinds & {"tuple", "range"} or {a, b} & {"Color", "Other"})
    names = kinds == {"dtype", "text"} and "'float64'" not in (a, b)
    types = one_kind and kinds <= {"type", "class"}
    dtypes = "dtype" in kinds and not kinds <= {"dtype", "type"} and "'float64'" not in (a, b)
    return bool(kinds & {"array", "opaque"}) or by_element or names or types or dtypes or (one_kind and bool(kinds & {"iterator", "made"}))


def arguments(n):
    return [n, np.array([2.0, 1.0]), np.array([1, 2], np.int32), np.int64(2), np.bool_(True), Color.RED, np.datetime64("2020"), np.zeros(1)]


def source(expressions):
    return HEAD + "".join(f"    out[{k}] = 1 if {e} else 2\n" for k, e in enumerate(expressions))


def compare(expressions, n):
    kernel = define(source(expressions), **SCOPE)
    want, got = arguments(n), arguments(n)
    want[-1], got[-1] = np.zeros(len(expressions)), np.zeros(len(expressions))
    with np.errstate(all="ignore"):
        kernel(*want)
    jit(kernel)[1, 1](*got)
    cuda.synchronize()
    wrong = [e for e, w, g in zip(expressions, want[-1], got[-1]) if w != g]
    assert not wrong, wrong


def drawn(r, a, b):
    for identity, forms in ((False, EQUAL), (True, IS)):
        form = r.choice(forms)
        if not (identity and "True" in (a, b) and "strong" in (KIND[a], KIND[b])):  # `is True` asks NumPy's bool for its value
            yield identity, form.format(a=a, b=b)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("left", list(KIND))
def test_what_kernels_answer(left):
    r = random.Random(left)
    compare([e for right in KIND for identity, e in drawn(r, left, right) if not unknown(identity, left, right)], r.randint(0, 3))


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("seed", range(60))
def test_what_kernels_may_refuse(seed):
    r = random.Random(seed)
    while True:
        a, b = r.choices(list(KIND), k=2)
        identity, expression = r.choice(list(drawn(r, a, b)) or [(False, None)])
        if expression and unknown(identity, a, b):
            break
    try:
        jit(define(source([expression]), **SCOPE))[1, 1](*arguments(1))
    except CompileError as e:
        assert isinstance(e, TypeError), e
    else:
        compare([expression], r.randint(0, 3))


def test_match_of_objects():
    def kernel(n, x, y, z, b, c, d, out):
        match x.dtype.type:
            case np.float32:
                out[0] = 1
            case np.float64:
                out[0] = 2
        match c:
            case Other.RED:
                out[1] = 1
            case Color.RED:
                out[1] = 2
        match (range(n), slice(1, n)):
            case (r, s) if r == range(0, n, 1) and s == slice(1, 3):
                out[2] = 1

    want, got = arguments(3), arguments(3)
    want[-1], got[-1] = np.zeros(3), np.zeros(3)
    kernel(*want)
    jit(kernel)[1, 1](*got)
    cuda.synchronize()
    assert (want[-1] == got[-1]).all() and want[-1].all()
