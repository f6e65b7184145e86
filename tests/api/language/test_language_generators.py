"""Generator expressions that sum, any, all, min, max, tuple and unpacking consume, against CPython running the same function."""

import numpy as np
import pytest
from harness import define, jit, run
from pyptx import cuda
from test_ptx import ARCHITECTURES, assemble, ptx_of

# x: float32 (5), y: float64 (5), m: int16 (3, 4), t: (2, 2.5, int8), n = 5, s: float64
EXPRESSIONS = [
    "sum(v * s for v in x)",
    "sum(v * v for v in x if v > 1)",
    "sum(v for v in x if v > 1 if v < 3)",
    "sum(x[i] * y[i] for i in range(n))",
    "sum(x[i] for i in range(n - 1, -1, -2))",
    "sum(a * b for a, b in zip(x, y))",
    "sum(k * v for k, v in enumerate(x))",
    "sum(v for row in m for v in row)",
    "sum(m[i, j] for i in range(3) for j in range(i))",
    "sum(m[i, j] for i in range(3) if i != 1 for j in range(4) if (i + j) % 2)",
    "sum(v for v in m[:, 1])",
    "sum((v for v in y), 10)",
    "sum((v for v in y), start=0.5)",
    "sum(v for v in x[:0])",
    "sum(v * s for v in t)",
    "sum(v for v in (n, s, 3))",
    "sum(v > 1 for v in x)",
    "sum(1 for v in x if v > 1)",
    "sum(sum(u * v for u in x) for v in y)",
    "sum(w for v in x for w in (v, v * s, -1))",
    "sum((lambda u: u * s)(v) for v in x)",
    "sum(half(v) for v in x)",
    "sum(1j * v for v in y).imag",
    "any(v > 3 for v in x)",
    "any(v > 100 for v in x)",
    "any(v for v in m[0])",
    "any(x[i] > y[i] for i in range(n))",
    "any(v for v in x[:0])",
    "any(i == 2 or x[9 * i] for i in range(2, 9))",
    "all(v >= 0 for v in x)",
    "all(v > 0 for v in x)",
    "all(i < 3 and x[i] >= 0 for i in range(4, 9))",
    "all(v for v in x[:0])",
    "all(any(v > w for w in m[i]) for i in range(3) for v in x)",
    "min(v - s for v in x)",
    "min(abs(v - 7) for row in m for v in row)",
    "min((v - 2) * (v - 2) for v in x)",
    "max(v for v in x if v < 2)",
    "max(v * w for v, w in zip(x, y))",
    "max(m[i, 2] for i in range(3))",
    "max(v for v in (3, n, 2))",
    "max(x[i] if i % 2 else y[i] for i in range(n))",
    "max(max(v, s) for v in x) if any(v > s for v in x) else 0",
]
SOURCE = """
def half(v):
    return v / 2

def kernel(x, y, m, t, n, s, out):
    out[0] = {}
"""


def arguments():
    x, y = np.arange(5, dtype=np.float32), np.array([2.5, -1, 7, 0.25, 3])
    m = (np.arange(12).reshape(3, 4) * 7 % 12).astype(np.int16)
    return [x, y, m, (2, 2.5, np.int8(-3)), 5, np.float64(1.75), np.zeros(1)]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expression(expression):
    run(define(SOURCE.format(expression)), arguments())


@pytest.mark.parametrize(
    ("expression", "type_name"),
    [
        ("sum(v for v in x)", "float32"),
        ("sum(v for v in m[0])", "int16"),
        ("sum(1 for v in x)", "pyint"),
        ("sum((v for v in x), s)", "float64"),
        ("sum(v for v in t)", "float64"),
        ("any(v for v in x)", "pybool"),
        ("min(v for v in x)", "float32"),
        ("max(v + 0.5 for v in m[0])", "float64"),
        ("min(v > 0 for v in x)", "bool"),
    ],
)
def test_types(expression, type_name):
    kernel = jit(define(f"def value(x, m, t, s):\n    return {expression}\n\ndef kernel(x, m, t, s, out):\n    out[0] = value(x, m, t, s)\n"))
    x, _, m, t, _, s, out = arguments()
    kernel[1, 1](x, m, t, s, out)
    cuda.synchronize()
    (text,) = kernel.inspect_types().values()
    assert f") -> {type_name} {{" in str(text).partition("func value")[2].partition("\n")[0]


def test_in_loops_and_with_names_of_its_own():
    def kernel(x, out):
        i = cuda.grid(1)
        v = 100
        total = 0.0
        for k in range(1, 4):
            total += sum(v * k for v in x if v != i)
        out[i] = total + v + max(k for k in (i, 2))

    run(kernel, [np.arange(5.0), np.zeros(8)], block=8)


def test_in_recursion():
    source = """
def down(n, x):
    if n <= 0:
        return all(v > n for v in x)
    return down(n - 1, x) and any(v > n for v in x)

def kernel(x, out):
    out[0] = down(3, x)
"""
    run(define(source), [np.arange(5.0), np.zeros(1)])


def test_a_generator_in_a_variable():
    """It may have a name, if it is consumed at once."""

    def kernel(x, out):
        squares = (v * v for v in x)
        out[0] = sum(squares)

    run(kernel, [np.arange(5.0), np.zeros(1)])


@pytest.mark.parametrize("name", ["min", "max"])
def test_no_items(name):
    kernel = jit(define(f"def kernel(x, out):\n    out[0] = {name}(v for v in x)\n"), debug=True)
    with pytest.raises(ValueError, match=rf"{name}\(\) iterable argument is empty"):
        kernel[1, 1](np.zeros(0), np.zeros(1))
        cuda.synchronize()


@pytest.mark.parametrize(
    "statement",
    [
        "a, *b = (v for v in (1, 2))",
        "x[0] = max(*(v for v in (1, 2)))",
        "g = (v for v in x); x[0] = sum(g) + sum(g)",
        "for v in (w for w in x):\n        x[0] = v",
        "g = (v for v in x)\n    for k in range(2):\n        x[0] += sum(g)",
        "x[0] = total(v for v in x)",
        "x[0] = sum(v for v in (w for w in x))",
    ],
)
def test_not_elsewhere(statement):
    kernel = define(f"def total(g):\n    return sum(g)\n\ndef kernel(x):\n    {statement}\n")
    with pytest.raises(SyntaxError, match="PT122"):
        jit(kernel)[1, 1](np.zeros(3))


UNPACKED = [
    "a, b, c = (half(v) for v in t)",
    "a, b, c = (x[k] * k for k in range(3))",
    "a, b, c = (x[k] for k in range(4, -1, -2))",
    "a, b, c = (p - q for p, q in zip(t, (n, x[1], 2)))",
    "a, b, c = (k * v for k, v in enumerate(x[1:4], 3))",
    "a, b, c = (v + s for v in reversed(t))",
    "a, b, c = (v if v > 2 else -v for v in x[:3])",
    "a, b, c = (any(v > w for v in x) for w in t)",
    "a, b, c = (max(v for v in m[k] if v > k) for k in range(3))",
    "(a, b), (c, _) = ((v, k) for k, v in enumerate((s, n)))",
    "g = (v * n for v in t)\n    a, b, c = g",
    "a, b, c = tuple(half(v) for v in t)",
    "a, b, c = tuple(x[k] for k in range(3))[::-1]",
    "a, (b, c) = tuple(p * q for p, q in zip(t, (2, 3)))[1], tuple(zip(t, (5, 7)))[1]",
    "a, b, c = range(2, 8, 2)",
    "(_, a), (b, c) = zip(x[:2], t[:2])",
    "(a, b), (c, _) = enumerate(m[2, :2], n)",
]


@pytest.mark.parametrize("statement", UNPACKED)
def test_unpacked(statement):
    source = f"def half(v):\n    return v / 2\n\ndef kernel(x, y, m, t, n, s, out):\n    {statement}\n    out[0], out[1], out[2] = a, b, c\n"
    run(define(source), [*arguments()[:-1], np.zeros(3)])


def test_items_are_made_in_order():
    def kernel(x, out):
        def moved(v):
            x[1] += 1
            return v

        a, b = (moved(v) for v in x)
        out[0], out[1] = a, b

    run(kernel, [np.arange(2.0), np.zeros(2)])


@pytest.mark.parametrize("statement", ["a, b = (v for v in x)", "a, b = zip(x, x)", "a, b = range(x.size)"])
def test_another_number_of_items_is_an_error(statement):
    kernel = jit(define(f"def kernel(x):\n    {statement}\n"), debug=True)
    kernel[1, 1](np.zeros(2))
    with pytest.raises(ValueError, match="cannot unpack 3 elements into 2 targets"):
        kernel[1, 1](np.zeros(3))
        cuda.synchronize()


@pytest.mark.parametrize(
    ("statement", "error", "code"),
    [
        ("a, b = (v for v in (1, 2) if v > 1)", SyntaxError, "PT128"),
        ("a, b = (v * w for v in (1, 2) for w in (3,))", SyntaxError, "PT128"),
        ("a, b = (v for v in (1, 2, 3))", ValueError, "PT214"),
        ("a, b = zip((1, 2, 3), (1, 2, 3))", ValueError, "PT214"),
        ("a = tuple(v for v in x)", TypeError, "PT210"),
        ("g = (v for v in (1, 2)); a, b = g; c, d = g", TypeError, "PT127"),
    ],
)
def test_numbers_of_items_that_are_not_known(statement, error, code):
    with pytest.raises(error, match=code):
        jit(define(f"def kernel(x):\n    {statement}\n"))[1, 1](np.zeros(3))


def test_functions_that_yield_are_refused():
    def kernel(x):
        def items():
            yield 1

        x[0] = sum(items())

    with pytest.raises(SyntaxError, match="PT103"):
        jit(kernel)[1, 1](np.zeros(3))


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_ptx_assembles(arch, tmp_path):
    source = "def kernel(x, y, out):\n    i = cuda.grid(1)\n    out[i] = sum(x[i, k] * y[k] for k in range(y.size)) if any(v > 0 for v in y) else max(v for v in y)\n"
    assemble(ptx_of(define(source), "void(float32[:,::1], float32[::1], float32[::1])", arch), arch, tmp_path)


CONSUMERS = """
max(a) | min(a) | sum(a) | any(a) | all(a) | max(a, key=abs) | max(range(4), key=lambda i: a[i]) | min(range(a.size), key=lambda i: a[i])
max((abs(v) for v in a), default=0) | max((v for v in a if v > 100), default=-1) | min((v for v in a if v > 100), default=c) | max(a, default=3)
max(a[:0], default=3.5) | max(1, c, key=lambda v: -v) | max((1, 5, c), key=lambda v: -v) | max((), default=4) | max((v for v in ()), default=7)
max((a[i], i) for i in range(4))[1] | min(enumerate(a), key=lambda p: p[1])[0] | max(zip(a, range(4)))[1] | max((c, 2), (1, 3))[1]
max(((c, 2), (3, 1)), key=lambda p: p[1])[0] | sum(range(5)) | sum(a, 10) | any(range(0)) | all(range(0)) | max(range(c, 9, 3)) | min(a, key=None)
sum(a[1:3]) | sum(b[0]) | max(max(r) for r in b) | max(b.flat) | min(2.5, c, key=lambda v: v * 2) | max(((v * v, v) for v in a), key=lambda t: t[0])[1]
max(b, key=lambda r: r[0])[1] | min(a.shape, default=1) | any(v > 4 for v in a) | min([3, c, 2], key=lambda v: (v % 2, v)) | max(a, key=lambda v: (v > 0, -v))
max((i for i in range(4) for j in range(3) if a[i] > j), key=lambda i: -a[i]) | min(zip(a, b.flat), key=lambda t: t[0] * t[1])[0]
"""


def test_what_min_max_sum_any_and_all_take():
    lines = [e.strip() for e in CONSUMERS.replace("\n", "|").split("|") if e.strip()]
    source = "def kernel(out, a, b, c):\n" + "".join(f"    out[{k}] = {e}\n" for k, e in enumerate(lines))
    a = np.array([3.0, -7, 5, 0], np.float32)
    run(define(source), (np.zeros(len(lines)), a, a.reshape(2, 2) + 1, 1))


def test_a_key_runs_once_for_each_item():
    def kernel(out, a):
        def key(v):
            out[0] += 1
            return -v

        out[1] = min(a, key=key)
        out[2] = max((v * 2 for v in a), key=key)
        out[3] = max(a[0], a[1], a[2], key=key)

    run(kernel, (np.zeros(4), np.array([2.0, 5, -1, 4])))


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("max(b)", r"PT313: max\(\) of a 2d .*\n(.*\n)*.*max\(v for v in x\.flat\)"),
        ("max(a, key=3)", "PT209: max: argument 'key' must be a function, not a Python int"),
        ("max(1, 2, default=3)", "PT208: max: default= is for one iterable"),
        ("max(5)", "PT209: max: argument 1 must be something to loop over, not a Python int"),
        ("sum(5)", "PT209: sum: argument 1"),
        ("max(a, keys=3)", r"PT208: max: .* no parameter 'keys'(.*\n)*.*write max\(\*args, key=None, default=None\)"),
    ],
)
def test_consumers_refuse(expression, message):
    kernel = define(f"def kernel(out, a, b):\n    out[0] = {expression}\n")
    with pytest.raises(TypeError, match=message):
        cuda.jit(kernel)[1, 1](np.zeros(1), np.zeros(4), np.zeros((2, 2)))
