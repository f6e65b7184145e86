"""Python's own numbers in a kernel: arguments, literals and what indices, lengths and comparisons give."""

import operator

import numpy as np
import pytest
from harness import INTS, STRONG, define, jit, run, same, specials, store
from pyptx import cuda

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
COMPARISONS = {"<", "<=", "==", "!=", ">", ">="}
WEAK = {
    "bool": [True, False],
    "int": [0, 1, -1, 3, 100, -100, 2**20],
    "float": [0.0, 1.5, -0.1, 1e30, float("inf"), float("nan")],
}


def fit(dtype, value):
    """A weak integer takes the strong integer type and wraps there (semantics.md, section 6)."""
    kind = np.dtype(dtype).kind
    if isinstance(value, bool) or not isinstance(value, int) or kind not in "iu":
        return value
    return int(store(dtype, value))


def applicable(f, a, b):
    try:
        with np.errstate(all="ignore"):
            f(a, b)
    except TypeError:
        return False
    except ZeroDivisionError:
        pass
    return True


def compare(expressions, x, weak, ulps=0):
    lines = [
        "def kernel(x, s, as_int, as_float):",
        "    i = cuda.grid(1)",
        "    if i < x.size:",
        "        a = x[i]",
    ]
    for n, text in enumerate(expressions):
        lines += [
            f"        r{n} = {text}",
            f"        as_int[{n}, i] = r{n} + r{n}",
            f"        as_float[{n}, i] = r{n}",
        ]
    kernel = jit(define("\n".join(lines) + "\n"), fma=False)
    as_int = np.zeros((len(expressions), x.size), np.int64)
    as_float = np.zeros((len(expressions), x.size))
    kernel[1, x.size](x, weak, as_int, as_float)
    cuda.synchronize()
    failures = []
    for n, (text, f) in enumerate(expressions.items()):
        for i, a in enumerate(x):
            with np.errstate(all="ignore"):
                r = f(a, weak)
                want_int, want_float = store("int64", r + r), store("float64", r)
            if not same(as_int[n, i], want_int) or not same(as_float[n, i], want_float):
                failures.append(
                    f"{text}, a = {a!r}, s = {weak!r}: {as_float[n, i]!r}, doubled {as_int[n, i]!r}; "
                    f"NumPy {want_float!r}, {want_int!r}"
                )
    assert not failures, "\n".join(failures[:20])


@pytest.mark.parametrize("weak", WEAK)
@pytest.mark.parametrize("dtype", STRONG)
def test_argument_with_array_element(dtype, weak):
    x = specials(dtype)
    for value in WEAK[weak]:
        expressions = {}
        for text, f in OPERATORS.items():
            # A comparison is of the true values, a division of integers of both as float64: nothing
            # is fitted there.
            fitted = (
                value
                if text in COMPARISONS
                else float(value)
                if text == "/" and weak == "int" and dtype in INTS
                else fit(dtype, value)
            )
            if not applicable(f, x[-1], fitted):
                continue
            expressions[f"a {text} s"] = lambda a, s, f=f, v=fitted: f(a, v)
            expressions[f"s {text} a"] = lambda a, s, f=f, v=fitted: f(v, a)
        compare(expressions, x, value)


@pytest.mark.parametrize("dtype", STRONG)
@pytest.mark.parametrize("literal", ["0", "1", "3", "0.5", "1.0", "-2.0", "True", "1e300"])
def test_literals(dtype, literal):
    x = specials(dtype)
    value = eval(literal)
    expressions = {}
    for text, f in OPERATORS.items():
        if applicable(f, x[-1], value):
            expressions[f"a {text} {literal}"] = lambda a, s, f=f: f(a, value)
            expressions[f"{literal} {text} a"] = lambda a, s, f=f: f(value, a)
    compare(expressions, x, 0)


@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("shift", [0, 1, 5, 7, 8, 31, 63, 64])
def test_shifts_by_literals(dtype, shift):
    x = specials(dtype)
    compare({f"a << {shift}": lambda a, s: a << shift, f"a >> {shift}": lambda a, s: a >> shift}, x, 0)


@pytest.mark.parametrize(
    "dtype, literal", [("uint8", 300), ("int8", 128), ("int16", -40000), ("uint32", -1), ("int32", 2**31)]
)
def test_literal_that_does_not_fit(dtype, literal):
    kernel = define(f"def kernel(x):\n    x[0] = x[0] + {literal}\n")
    with pytest.raises(OverflowError, match="PT206"):
        cuda.jit(kernel)[1, 1](np.zeros(1, dtype))


POWERS = [2, 3, 4, 0, 1, 0.5, -1, -2, -0.5, 1.5]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("power", POWERS)
def test_powers_by_constants(dtype, power, device):
    kernel = define(
        f"def kernel(x, out):\n    i = cuda.grid(1)\n    if i < x.size:\n        out[i] = x[i] ** {power}\n"
    )
    x = specials(dtype)
    # Small whole powers are products: x**4 has two roundings of a product that itself was rounded.
    run(kernel, [x, np.zeros_like(x)], 1, x.size, ulps={"host": 2, "gpu": 4}[device])


WEAK_PAIRS = [
    (7, 2),
    (-7, 2),
    (7, -2),
    (-7, -2),
    (5, 0.5),
    (-5.5, 2),
    (True, True),
    (True, 2),
    (0, 3),
    (2**40, 3),
    (1.5, 0.25),
    (-3.5, -2.0),
]


@pytest.mark.parametrize("s, t", WEAK_PAIRS)
@pytest.mark.parametrize("text", [*OPERATORS, "**", "<<", ">>"])
def test_weak_with_weak(s, t, text):
    """Python's own rule, and the result stays weak: with int8 or float32 beside it, it takes that type."""
    f = {**OPERATORS, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift}[text]
    if text in ("<<", ">>", "**") and (t < 0 or abs(s) > 2**30):
        pytest.skip("Python raises, or has no 64-bit limit")
    if not applicable(f, s, t):
        pytest.skip("not defined in Python")
    kernel = define(f"""def kernel(s, t, one8, one32, as_int, as_float, beside8, beside32):
    r = s {text} t
    as_int[0] = r
    as_float[0] = r
    beside8[0] = one8[0] * r
    beside32[0] = one32[0] * r
""")
    r = f(s, t)
    outs = [np.zeros(1, np.int64), np.zeros(1), np.zeros(1), np.zeros(1)]
    jit(kernel)[1, 1](s, t, np.ones(1, np.int8), np.ones(1, np.float32), *outs)
    cuda.synchronize()
    got = [o[0] for o in outs]
    want = [
        store("int64", r),
        np.float64(r),
        np.float64(np.int8(1) * fit("int8", r)),
        np.float64(np.float32(1) * r),
    ]
    assert all(same(g, w, 1 if text == "**" else 0) for g, w in zip(got, want)), (got, want)


def test_float_argument_keeps_float32():
    def kernel(a, x, wide):
        i = cuda.grid(1)
        if i < x.size:
            wide[i] = a * x[i] + 0.1

    x = np.linspace(0, 1, 50, dtype=np.float32)
    run(kernel, [0.1, x, np.zeros(50)], 1, 64)


def test_numpy_scalar_arguments_are_strong():
    def kernel(a, x, wide):
        i = cuda.grid(1)
        if i < x.size:
            wide[i] = a * x[i]

    x = np.linspace(0, 1, 50, dtype=np.float32)
    for a in (np.float64(0.1), np.float32(0.1), np.int32(3), np.int8(3), np.uint64(3), np.bool_(True)):
        run(kernel, [a, x, np.zeros(50)], 1, 64)


def test_accumulator_takes_the_type_of_what_is_added():
    def kernel(x, out, wide):
        acc = 0
        for i in range(x.size):
            acc += x[i]
        out[0] = acc
        wide[0] = acc

    for dtype in ("float32", "float64", "int8", "uint16", "int64"):
        x = np.arange(1, 101).astype(dtype) * np.dtype(dtype).type(2)
        run(kernel, [x, np.zeros(1, dtype), np.zeros(1)], 1, 1)


def test_join_of_weak_int_and_float():
    def kernel(n, x, out):
        v = 0
        if n > 3:
            v = 1.5
        out[0] = v + x[0]

    for n in (1, 5):
        run(kernel, [n, np.full(1, 0.1, np.float32), np.zeros(1)])


def test_join_of_strong_types_promotes():
    def kernel(n, a, b, out):
        if n:
            v = a[0]
        else:
            v = b[0]
        out[0] = v * 3

    # int32 and float32 meet in float64.
    for n in (True, False):
        got = np.zeros(1)
        jit(kernel)[1, 1](n, np.array([2**24 + 1], np.int32), np.array([0.1], np.float32), got)
        cuda.synchronize()
        want = np.float64(2**24 + 1) * 3 if n else np.float64(np.float32(0.1)) * 3
        assert got[0] == want


def test_indices_and_extents_are_weak():
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i] * i + cuda.threadIdx.x * x[i] + len(x) * x[i] + cuda.gridsize(1) * x[i]

    x = np.linspace(0, 1, 60, dtype=np.float32)
    run(kernel, [x, np.zeros(60)], 2, 32)


def test_weak_bools_add_as_ints_and_numpy_bools_do_not():
    def kernel(n, x, out):
        out[0] = (n > 0) + (n > 1)
        out[1] = (x[0] > 0) + (x[0] > 1)

    run(kernel, [5, np.full(1, 5, np.int32), np.zeros(2, np.int32)])


def test_weak_integers_wrap_at_64_bits():
    def kernel(a, out):
        out[0] = a + 1
        out[1] = a * 2

    got = np.zeros(2, np.int64)
    jit(kernel)[1, 1](2**63 - 1, got)
    cuda.synchronize()
    assert got.tolist() == [-(2**63), -2]


def test_uint64_literal():
    def kernel(x, out):
        out[0] = x[0] ^ 0xFFFFFFFFFFFFFFFF
        out[1] = x[0] + 0x8000000000000000

    run(kernel, [np.array([12345], np.uint64), np.zeros(2, np.uint64)])
