"""Tuples and named tuples: as arguments, globals, made in kernels, passed on, against CPython running the same function."""

import collections
import typing

import numpy as np
import pyptx
import pytest
from harness import define, jit, run
from pyptx import _pyptx, cuda, types
from test_ptx import ARCHITECTURES, assemble, ptx_of

Point = collections.namedtuple("Point", "x n", defaults=[7])
Other = collections.namedtuple("Other", "x n")


class Body(typing.NamedTuple):
    at: Point
    mass: float
    data: object
    drag: float = 0.25


class Scaled(Point):
    def norm(self):
        return self.x * self.x


class Checked(Point):
    def __new__(cls, x):
        return Point.__new__(cls, abs(x), 0)


ORIGIN = Point(1.5, 3)
NESTED = Body(ORIGIN, 2.0, (1, (2.5, 4)))
MODULES = dict(Point=Point, Body=Body, Other=Other, Scaled=Scaled, ORIGIN=ORIGIN, NESTED=NESTED)

EXPRESSIONS = [
    "p.x",
    "p.n + p[0]",
    "p[-1] * len(p)",
    "Point(1).n",
    "Point(n=p.x, x=4).n",
    "Point(4, n=p.n) == (4, p.n)",
    "Point(4, 5) != Other(4, 5)",
    "p == Other(p.x, p.n)",
    "p < (p.x, p.n + 1)",
    "(p + (8, 9))[3]",
    "(p * 2)[3]",
    "p._replace(x=2).x + p._replace(x=2).n",
    "p._replace().x",
    "len(Point._fields) + len(p._fields)",
    "Point._fields[1] == 'n'",
    "p._fields[0] == 'n'",
    "ORIGIN.x + NESTED.at.n + NESTED.data[1][0] + NESTED.drag",
    "Body(p, 1.5, (p, p)).data[1].x",
    "Body(mass=2.0, data=None, at=p).at.n",
    "Body(p, 1.0, None).data is None",
    "swap(p).x - swap(p).n",
    "swap(Point(2.5, 4))[0]",
    "sum(p)",
    "max(p)",
    "p.n in p",
    "Point(*p).x",
    "Point(*(1, 2)).n",
    "(p if b.mass > 1 else Point(0.5, 2)).x",
    "(p if b.mass > 1 else (0.5, 2))[0]",
    "b.at.x + b.data[i + 1] + b.drag + b.mass",
    "b[0][1]",
    "Scaled(3.0, 2).x",
    "total(b.at, *p)",
    "t[0][1] + t[1].x + t[2][1]",
    "pair[i] + pair[i + 1]",
    "len(()) + len(empty)",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression):
    source = f"""
def swap(p):
    return Point(p.n, p.x)

def total(p, x, n):
    return p.x + p.n * x + n

def kernel(p, b, t, pair, empty, out):
    i = cuda.grid(1)
    out[i] = {expression}
"""
    kernel = define(source, **MODULES)
    b = Body(Point(np.float32(0.5), 4), 2.0, np.arange(3.0))
    t = ((1, 2), Point(2.5, 1), (np.int32(3), 4.0))
    run(kernel, [Point(3, 2), b, t, (3, 4), (), np.zeros(1)])


def test_statements_unpack_match_and_loop():
    source = """
def kernel(p, b, out):
    x, n = p
    out[0] = x - n
    (y, *rest), m, data, _ = b
    out[1] = y + m + rest[0]
    match b:
        case ((x, 9), _, _, _): out[2] = x
        case ((x, 4), m, data, d): out[2] = x + m + d
    match p:
        case (1, 2): out[3] = 1
        case (3, n): out[3] = n
    for v in p:
        out[4] += v
    for k in range(3):
        p = p._replace(n=p.n + k) if k else Point(p.x, k)
    out[5] = p.n
    q = Point(0, 0)
    for k in range(3):
        q = Point(q.x + 0.5, k)
    out[6] = q.x + q.n
    data[1] = 5
"""
    kernel = define(source, **MODULES)
    values = np.zeros(2)
    out = run(kernel, [Point(3, 2), Body(Point(0.5, 4), 2.0, values), np.zeros(7)])
    assert values[1] == 5, "arrays in named tuples are written"
    assert out[2][6] == 3.5


def test_layouts_in_tuples():
    source = """
def kernel(t, out):
    c, f, (s, z) = t
    for i in range(2):
        for j in range(3):
            out[i, j] = c[i, j] + 10 * f[i, j] + 100 * s[i, j]
            s[i, j] = -1
    out[0, 0] += z[()] + t[0].shape[1]
"""
    base = np.zeros((4, 6))
    c = np.arange(6.0).reshape(2, 3)
    t = (c, np.asfortranarray(c), (base[::2, ::2], np.array(2.5)))
    kernel = jit(define(source))
    out, want = np.zeros((2, 3)), np.zeros((2, 3))
    kernel[1, 1](t, out)
    cuda.synchronize()
    assert (base[::2, ::2] == -1).all() and base[1].sum() == 0
    base[:] = 0
    kernel.py_func(t, want)
    assert (out == want).all()


def test_closure_default_and_device_function():
    def make(p):
        def kernel(out, q=ORIGIN):
            out[0] = p.x + q.n

        return kernel

    out = run(make(Point(1, 2)), [np.zeros(1)])
    assert out[0][0] == 4


def test_overloads_by_names_not_by_class():
    kernel = jit(define("def kernel(p, out):\n    out[0] = p[0] + p[1]\n"))
    out = np.zeros(1)
    same = collections.namedtuple("Point", "x n")
    for p in (Point(1, 2), same(3, 4), Other(1, 2), (1, 2), Scaled(1, 2)):
        kernel[1, 1](p, out)
    cuda.synchronize()
    texts = [repr(s[0]) for s in kernel.signatures]
    assert texts == [
        "Point(x: pyint, n: pyint)",
        "Other(x: pyint, n: pyint)",
        "(pyint, pyint)",
        "Scaled(x: pyint, n: pyint)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Point(x: float32, n: int32)",
        "Body(at: Point(x: float32, n: int32), data: float32[:,::1])",
        "record(x: float32)",
        "record(x: record(y: int32 @0; 4)[:])",
        "(record(x: float32 @0; 4)[:], record(x: int8))",
        "One(x: float32[::1,:])",
        "(Point(x: float32, n: pyint), none)",
        "float32(x: float32)",
        "Größe(wert: int8)",
    ],
)
def test_text_round_trip(text):
    assert repr(_pyptx._type(text)) == text
    assert repr(_pyptx._type(repr(_pyptx._type(text)))) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(P(x: foo),)", "'foo' is not a type"),
        ("(P(x: f4, f4),)", "the name of a field"),
        ("(P(x: f4, x: f4),)", "stands there twice"),
        ("(P(x: f4", "')' is missing"),
    ],
)
def test_bad_text(text, message):
    with pytest.raises(pyptx.CompileError, match=message.replace("(", r"\(").replace(")", r"\)")):
        cuda.jit(text)(define("def kernel(p):\n    pass\n"))


def test_declared_signatures():
    source = "def kernel(p, out):\n    out[0] = p.x + p.n\n"
    point = types.NamedTuple((types.float32, types.int64), Point)
    assert repr(point) == "Point(x: float32, n: int64)"
    for signature in ("Point(x: float32, n: int64), float64[:]", types.void(point, types.float64[:]), (point, types.float64[:])):
        kernel = cuda.jit(signature)(define(source))
        out = np.zeros(1)
        kernel[1, 1](Point(1, 2), out)
        cuda.synchronize()
        assert out[0] == 3
        with pytest.raises(TypeError, match="No matching definition"):
            kernel[1, 1](Other(1, 2), out)
    plain = cuda.jit("(float32, int64), float64[:]")(define("def kernel(p, out):\n    out[0] = p[0] + p[1]\n"))
    plain[1, 1](Point(1, 2), out)
    cuda.jit("Point(x: int64)")(define("def kernel(p):\n    pass\n"))
    with pytest.raises(ValueError, match="has 2 fields"):
        types.NamedTuple((types.float32,), Point)


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        ("Point()", TypeError, "the field 'x' is missing"),
        ("Point(1, 2, 3)", TypeError, "takes 2 values, but 3"),
        ("Point(1, x=2)", TypeError, "'x' is given twice"),
        ("Point(1, z=2)", TypeError, "no field 'z'"),
        ("p._replace(z=2)", TypeError, "no field 'z'"),
        ("p._replace(2)", TypeError, "by name only"),
        ("p.nn", AttributeError, "did you mean 'n'"),
        ("p.count", AttributeError, "count"),
        ("Point.x", AttributeError, "'x'"),
        ("Checked(1).x", TypeError, "cannot be called"),
    ],
)
def test_errors(expression, error, message):
    kernel = jit(define(f"def kernel(p, out):\n    out[0] = {expression}\n", Checked=Checked, **MODULES))
    with pytest.raises(error, match=message):
        kernel[1, 1](Point(1, 2), np.zeros(1))


def test_assignment_to_a_field_is_an_error():
    kernel = jit(define("def kernel(p, out):\n    p.x = 1\n"))
    with pytest.raises(TypeError, match="attribute 'x'"):
        kernel[1, 1](Point(1, 2), np.zeros(1))


@pytest.mark.parametrize("value", ["text", [1, 2], {1: 2}, len, object()])
def test_what_tuples_cannot_hold(value):
    kernel = jit(define("def kernel(p, out):\n    out[0] = 1\n"))
    with pytest.raises(TypeError, match=r"argument 1 \('p'\) has type"):
        kernel[1, 1](Point(1, value), np.zeros(1))
    with pytest.raises(TypeError, match=r"argument 1 \('p'\) has type"):
        kernel[1, 1]((1, (value,)), np.zeros(1))


def test_mixed_tuple_at_a_run_time_index_is_an_error():
    kernel = jit(define("def kernel(t, i, out):\n    out[0] = t[i]\n"))
    with pytest.raises(TypeError, match="must be a constant"):
        kernel[1, 1]((1, 2.5), 1, np.zeros(1))


def test_print_as_python_does(capfd):
    kernel = jit(define("def kernel(p):\n    print(p, (p, 1), NESTED.at)\n", **MODULES))
    kernel[1, 1](Point(2.5, 4))
    cuda.synchronize()
    kernel.py_func(Point(2.5, 4))
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == lines[1] == "Point(x=2.5, n=4) (Point(x=2.5, n=4), 1) Point(x=1.5, n=3)"


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_assembles(arch, tmp_path):
    source = """
def swap(p):
    return Point(p.n, p.x)

def kernel(b, out):
    i = cuda.grid(1)
    q = swap(b.at)
    for k in range(i):
        q = q._replace(x=q.x + b.data[k])
    out[i] = q.x + Body(q, 1.0, None).drag
"""
    signature = "Body(at: Point(x: float32, n: float32), mass: float32, data: float32[::1]), float32[::1]"
    assemble(ptx_of(define(source, **MODULES), signature, arch), arch, tmp_path)
