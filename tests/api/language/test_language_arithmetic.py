"""Every operator on every pair of strong types: type and value as NumPy's scalars give them."""

import itertools
import operator
from fractions import Fraction

import numpy as np
import pytest
from harness import FLOATS, INTS, STRONG, define, jit, pairs, run, same, specials, store
from pyptx import cuda

ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}
BITWISE = {
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
COMPARISON = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert, "abs": abs}

ALL_PAIRS = list(itertools.product(STRONG, STRONG))


def defined(function, *dtypes):
    """Does NumPy define it for scalars of these types?"""
    try:
        with np.errstate(all="ignore"):
            function(*(np.dtype(d).type(1) for d in dtypes))
    except TypeError:
        return False
    return True


def results_kernel(expressions):
    """A kernel that stores each expression of a, b into one row of an int64 and one of a float64 array, and its double too.

    Two destinations, because each hides something: int64 shows where an integer wrapped and whether
    a comparison is a bool (bool + bool is a bool), float64 whether the result was rounded to
    float32. Together they tell the type of the result apart from every other.
    """
    lines = [
        "def kernel(x, y, as_int, as_float):",
        "    i = cuda.grid(1)",
        "    if i < x.size:",
        "        a = x[i]",
        "        b = y[i]",
    ]
    for n, expression in enumerate(expressions):
        lines += [
            f"        r{n} = {expression}",
            f"        as_int[{2 * n}, i] = r{n}",
            f"        as_float[{2 * n}, i] = r{n}",
            f"        as_int[{2 * n + 1}, i] = r{n} + r{n}",
            f"        as_float[{2 * n + 1}, i] = r{n} + r{n}",
        ]
    return define("\n".join(lines) + "\n")


def expected_rows(function, x, y):
    """The four rows of one expression, from NumPy scalars."""
    columns = []
    with np.errstate(all="ignore"):
        for a, b in zip(x, y):
            r = function(a, b)
            rr = r + r
            columns.append((store("int64", r), store("float64", r), store("int64", rr), store("float64", rr)))
    return [np.array(row) for row in zip(*columns)]


def check(expressions, x, y, ulps=0):
    """expressions: text of a and b → the same as a function of NumPy scalars. Everything in one launch."""
    kernel = jit(results_kernel(expressions), fma=False)
    n = x.size
    as_int = np.zeros((2 * len(expressions), n), np.int64)
    as_float = np.zeros((2 * len(expressions), n), np.float64)
    kernel[-(-n // 64), 64](x, y, as_int, as_float)
    cuda.synchronize()
    failures = []
    for k, (text, function) in enumerate(expressions.items()):
        rows = expected_rows(function, x, y)
        got = (as_int[2 * k], as_float[2 * k], as_int[2 * k + 1], as_float[2 * k + 1])
        for label, g, w in zip(("int64", "float64", "double as int64", "double as float64"), got, rows):
            if ulps and label.endswith("int64"):
                continue
            if ulps:  # the result's own ulps, of the narrower type
                narrow = np.result_type(x.dtype, y.dtype)
                with np.errstate(all="ignore"):
                    equal = same(g.astype(narrow), w.astype(narrow), ulps)
            else:
                equal = same(g, w)
            for i in np.flatnonzero(~equal)[:3]:
                failures.append(f"{text} with a = {x[i]!r}, b = {y[i]!r}: {label} {g[i]!r}, NumPy {w[i]!r}")
    assert not failures, "\n".join(failures[:20])


@pytest.mark.parametrize("left, right", ALL_PAIRS)
def test_arithmetic(left, right):
    x, y = pairs(specials(left), specials(right))
    operators = {f"a {text} b": f for text, f in ARITHMETIC.items() if defined(f, left, right)}
    check(operators, x, y)


@pytest.mark.parametrize("left, right", ALL_PAIRS)
def test_comparison(left, right):
    x, y = pairs(specials(left), specials(right))
    check({f"a {text} b": f for text, f in COMPARISON.items()}, x, y)


@pytest.mark.parametrize("left, right", [(a, b) for a, b in ALL_PAIRS if defined(operator.and_, a, b)])
def test_bitwise(left, right):
    x, y = pairs(specials(left), specials(right))
    operators = {f"a {text} b": f for text, f in BITWISE.items() if defined(f, left, right)}
    check(operators, x, y)


def integer_power(a, b):
    """NumPy's, but 0 for a negative exponent, where NumPy raises (semantics.md, section 2)."""
    if b < 0:
        return np.result_type(a, b).type(0)
    return a**b


@pytest.mark.parametrize(
    "left, right", [(a, b) for a, b in itertools.product(["bool", *INTS], ["bool", *INTS])]
)
def test_integer_power(left, right):
    x, y = pairs(specials(left), specials(right))
    if np.result_type(left, right).kind == "f":  # int64 with uint64
        check({"a ** b": operator.pow}, x, y, ulps=2)
    else:
        check({"a ** b": integer_power, "pow(a, b)": integer_power}, x, y)


@pytest.mark.parametrize("left, right", [(a, b) for a, b in ALL_PAIRS if a in FLOATS or b in FLOATS])
def test_float_power(left, right, device):
    x, y = pairs(specials(left), specials(right))
    # C library: below 1 ulp. libdevice documents 4 for powf and 2 for pow; the double of the result
    # keeps the distance.
    check({"a ** b": operator.pow}, x, y, ulps={"host": 1, "gpu": 4}[device])


@pytest.mark.parametrize("left, right", [(a, b) for a, b in ALL_PAIRS if "bool" not in (a, b)])
def test_divmod_min_max(left, right):
    x, y = pairs(specials(left, small=True), specials(right, small=True))
    keep = ~(np.isnan(x) | np.isnan(y))  # Python's min and max of a nan depend on the order
    common = np.result_type(left, right).type
    check(
        {
            "divmod(a, b)[0]": lambda a, b: divmod(a, b)[0],
            "divmod(a, b)[1]": lambda a, b: divmod(a, b)[1],
            "min(a, b)": lambda a, b: common(min(a, b)),
            "max(a, b)": lambda a, b: common(max(a, b)),
        },
        x[keep],
        y[keep],
    )


@pytest.mark.parametrize("dtype", STRONG)
def test_unary(dtype):
    x = specials(dtype)
    expressions = {
        f"{text}(a)": (lambda f: lambda a, b: f(a))(f) for text, f in UNARY.items() if defined(f, dtype)
    }
    check(expressions, x, x)


@pytest.mark.parametrize("dtype", STRONG)
def test_not_and_truth(dtype):
    x = specials(dtype)
    check({"not a": lambda a, b: not a, "bool(a)": lambda a, b: bool(a)}, x, x)


@pytest.mark.parametrize(
    "text, left, right",
    [(t, a, b) for t, f in {**ARITHMETIC, **BITWISE}.items() for a, b in ALL_PAIRS if not defined(f, a, b)],
)
def test_undefined_operands_are_type_errors(text, left, right):
    kernel = define(f"def kernel(x, y, out):\n    out[0] = x[0] {text} y[0]\n")
    with pytest.raises(TypeError, match="PT204"):
        cuda.jit(kernel)[1, 1](np.ones(1, left), np.ones(1, right), np.zeros(1))


@pytest.mark.parametrize(
    "text, dtype", [(t, d) for t, f in UNARY.items() for d in STRONG if not defined(f, d)]
)
def test_undefined_operand_is_a_type_error(text, dtype):
    kernel = define(f"def kernel(x, out):\n    out[0] = {text}(x[0])\n")
    with pytest.raises(TypeError, match="PT205"):
        cuda.jit(kernel)[1, 1](np.ones(1, dtype), np.zeros(1))


@pytest.mark.parametrize("dtype", FLOATS)
def test_contraction(dtype):
    """a * b + c: two roundings with fma=False, one with fma=True where the target has an instruction for it."""

    def multiply_add(x, y, z, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i] * y[i] + z[i]

    rng = np.random.default_rng(12)
    x, y = (rng.standard_normal(1000).astype(dtype) for _ in range(2))
    z = -(x * y)
    out = np.zeros_like(x)
    cuda.jit(fma=False)(multiply_add)[8, 128](x, y, z, out)
    cuda.synchronize()
    assert not out.any()
    cuda.jit(fma=True)(multiply_add)[8, 128](x, y, z, out)
    cuda.synchronize()
    fused = np.array(
        [
            float(Fraction(a) * Fraction(b) + Fraction(c))
            for a, b, c in zip(x.tolist(), y.tolist(), z.tolist())
        ],
        dtype,
    )
    assert np.array_equal(out, fused) or not out.any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_products_that_stay_are_not_contracted(dtype):
    """A product that a function, a store or a comparison reads, too, is rounded for all: fractions are from 0 to 1."""

    def fractions(x, s, out):
        i = cuda.grid(1)
        if i < x.size:
            place = x[i] * s[0]
            out[0, i] = place - np.floor(place)
            area = x[i] * x[i]
            out[1, i] = area + s[0] if area > s[0] else area - s[0]
            width = s[0] * x[i - 1]
            out[2, i] = width
            out[3, i] = x[i] - width

    x, s = np.random.default_rng(13).uniform(0, 100, 4096).astype(dtype), np.array([0.05], dtype)
    x[:2000] = (np.arange(2000) * 20 / 2000).astype(dtype)  # many products near whole numbers
    plain, out = np.zeros((4, x.size), dtype), np.zeros((4, x.size), dtype)
    cuda.jit(fma=False)(fractions)[32, 128](x, s, plain)
    cuda.jit(fractions)[32, 128](x, s, out)
    cuda.synchronize()
    assert np.array_equal(out, plain) and 0 <= out[0].min() and out[0].max() < 1


def test_powers_of_a_known_exponent_above_int64():
    large, odd = np.uint64(2**63), np.uint64(2**63 + 1)

    def kernel(x, y, out, floats):
        out[0], out[1] = x[0] ** large, y[0] ** odd
        floats[0] = np.float64(x[0]) ** large

    run(kernel, [np.array([2], np.uint64), np.array([3], np.uint64), np.zeros(2, np.uint64), np.zeros(1)])
