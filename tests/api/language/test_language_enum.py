"""Enum, IntEnum and Flag in kernels, against CPython running the same function."""

import enum
import types as python_types

import numpy as np
import pytest
from harness import define, jit, run
from pyptx import _pyptx, cuda
from test_ptx import ARCHITECTURES, assemble, ptx_of


class Color(enum.Enum):
    RED = 1
    GREEN = 2.5
    BLUE = 4
    CRIMSON = 1  # an alias


class Mode(enum.Enum):
    FAST = "fast"
    EXACT = (1, 2)
    NONE = None


class Other(enum.Enum):
    RED = 1
    GREEN = 2.5
    BLUE = 5


class Axis(enum.IntEnum):
    X = 0
    Y = 1
    Z = 2


class Perm(enum.Flag):
    R = 4
    W = 2
    X = 1


class Bits(enum.IntFlag):
    A = 1
    B = 2


class Half(float, enum.Enum):
    ONE = 0.5


MODULE = python_types.SimpleNamespace(Color=Color, Mode=Mode)
SCOPE = dict(Color=Color, Mode=Mode, Other=Other, Axis=Axis, Perm=Perm, Bits=Bits, Half=Half, DEFAULT=Color.BLUE, NS=MODULE)

EXPRESSIONS = [
    "c is Color.GREEN",
    "c is not Color.GREEN",
    "c == Color.BLUE",
    "c != Color.BLUE",
    "c == Other.GREEN",
    "c is Mode.FAST",
    "c == 2.5",
    "c in (Color.RED, Color.BLUE)",
    "c not in (Color.RED, Color.BLUE)",
    "Color.CRIMSON is Color.RED",
    "Color.RED.value + Color.GREEN.value",
    "Color.RED.name == 'RED'",
    "Color.CRIMSON.name == 'RED'",
    "c.value",
    "c.value * 2 if c is not DEFAULT else -1",
    "m is Mode.EXACT",
    "m == Mode.NONE",
    "Mode.EXACT.value[1]",
    "Mode.FAST.value == 'fast'",
    "Mode.NONE.value is None",
    "NS.Color.RED is c",
    "bool(c)",
    "(Color.RED if i == 0 else Color.BLUE).value",
    "(Mode.FAST if c is Color.RED else m) is m",
    "len(Color)",
    "(c, 1) == (Color.GREEN, 1)",
    "choose(c) is Color.RED",
    "choose(choose(c)).value",
    "Axis.Y + 1",
    "Axis.Z.value * 10",
    "Axis.Y.name == 'Y'",
    "t[Axis.Z]",
    "t[a]",
    "a == Axis.Y",
    "a < Axis.Z",
    "Perm.R.value",
    "bool(p & Perm.W)",
    "bool(Bits.A & Bits.B)",
    "Bits.A | b",
    "Half.ONE + 1",
    "Half.ONE.value",
]


@pytest.mark.parametrize("member", [Color.RED, Color.GREEN, Color.BLUE])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression, member):
    source = f"""
def choose(c):
    if c is Color.GREEN:
        return Color.RED
    return Color.GREEN

def kernel(c, m, a, p, b, t, out):
    i = cuda.grid(1)
    out[i] = {expression}
"""
    args = [member, Mode.EXACT, Axis.Y, Perm.R | Perm.W, Bits.B, (1.5, 2.5, 3.5), np.zeros(1)]
    run(define(source, **SCOPE), args)


STATEMENTS = """
def kernel(c, out):
    match c:
        case Color.RED: out[0] = 1
        case Color.GREEN: out[0] = 2
        case _: out[0] = 3
    n = 0
    for member in Color:
        n += 1
        if member is c:
            out[1] = n
        out[2] += member.value
    state = Color.RED
    for k in range(4):
        if state is Color.RED:
            state = c
        else:
            state = Color.RED if k % 2 else DEFAULT
        out[3 + k] = state.value
    pair = (state, c)
    for x in pair:
        out[7] += x is DEFAULT
    i = out.size % 2
    out[8] = pair[i] is c
    for axis in Axis:
        out[9] += axis * 2
    members = (Color.BLUE, Color.RED)
    out[10] = members[i].value
"""


@pytest.mark.parametrize("member", list(Color))
def test_statements(member):
    run(define(STATEMENTS, **SCOPE), [member, np.zeros(11)])


def test_closure_default_and_tuple():
    def make(color):
        def kernel(out, other=Color.RED):
            out[0] = color.value
            out[1] = other is Color.RED
            out[2] = color is other

        return kernel

    for color in Color:
        run(make(color), [np.zeros(3)])
    run(define("def kernel(t, out):\n    out[0] = t[1][0].value + t[0]\n", **SCOPE), [(1, (Color.GREEN,)), np.zeros(1)])


def test_overload_by_class():
    kernel = jit(define("def kernel(c, out):\n    out[0] = c is Color.RED\n", **SCOPE))
    out = np.zeros(1)
    for member in (Color.RED, Color.BLUE, Other.RED, Axis.X, 1):
        kernel[1, 1](member, out)
        cuda.synchronize()
        assert out[0] == (member is Color.RED)
    assert [repr(s[0]) for s in kernel.signatures] == [
        "enum Color(RED=1, GREEN=2.5, BLUE=4)",
        "enum Other(RED=1, GREEN=2.5, BLUE=5)",
        "pyint",
    ]


@pytest.mark.parametrize("text", ["enum Color(RED=1, GREEN=2.5, BLUE=4)", "enum Mode(FAST, EXACT, NONE)", "enum N(A=-1, B=1e+300, C=-0.5)"])
def test_text_round_trip(text):
    assert repr(_pyptx._type(text)) == text
    kernel = cuda.jit(f"({text}, float64[:])")(define("def kernel(c, out):\n    out[0] = 1\n"))
    assert repr(kernel.signatures[0][0]) == text


@pytest.mark.parametrize("text", ["enum Color", "enum Color()", "enum (A)", "enum C(A=x)", "enum C(A", "enum C(A B)"])
def test_bad_text(text):
    with pytest.raises(ValueError, match="bad signature"):
        cuda.jit(f"({text},)")(define("def kernel(c):\n    pass\n"))


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        ("c.name == 'RED'", TypeError, "the name of a member of Color that is known at run time only"),
        ("m.value", TypeError, "the value of a member of Mode"),
        ("c + 1", TypeError, "a member of Color"),
        ("c < Color.BLUE", TypeError, "a member of Color"),
        ("Color.PINK", AttributeError, "PINK"),
        ("c.size", AttributeError, "size"),
        ("Color(1)", TypeError, "cannot be called"),
        ("(c if i else 1)", TypeError, "no common type"),
        ("(c if i else Mode.FAST)", TypeError, "no common type"),
        ("print(c)", TypeError, "a member of Color"),
    ],
)
def test_errors(expression, error, message):
    kernel = jit(define(f"def kernel(c, m, out):\n    i = cuda.grid(1)\n    x = {expression}\n    out[0] = x\n", **SCOPE))
    with pytest.raises(error, match=message):
        kernel[1, 1](Color.RED, Mode.FAST, np.zeros(1))


def test_print_of_a_member(capfd):
    kernel = jit(define("def kernel(out):\n    print(Color.RED, Color.RED.name, Axis.Y.value)\n", **SCOPE))
    kernel[1, 1](np.zeros(1))
    cuda.synchronize()
    kernel.py_func(np.zeros(1))
    first, second = capfd.readouterr().out.splitlines()
    assert first == second


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_assembles(arch, tmp_path):
    signature = "enum Color(RED=1, GREEN=2.5, BLUE=4), float64[::1]"
    assemble(ptx_of(define(STATEMENTS, **SCOPE), signature, arch), arch, tmp_path)
