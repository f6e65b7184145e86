"""Every function of math and cmath with every pair of types, at the ends of the types: a small table, whole.

NumPy's typing: types and values are those of meaning.py, which CPython and NumPy compute. Numba's: functions of integers are Python's, and
what is computed in double there is within the documented error of CPython's; the types are those of tests/api/language/test_numba_typing.py.
"""

import cmath
import functools
import math

import differential
import kinds
import numpy as np
import pytest
from differential import Case
from math_functions import EXACT_MATH, INEXACT_MATH, INTEGER_CALLS, PAIRS, TUPLE_CALLS
from meaning import Meaning
from programs import Program
from pyptx import cuda
from scalars import RUNTIME, STRONG, WEAK, Invalid, wrap

TYPES = [*(t for t in STRONG if not t.startswith("complex")), "pybool", "pyint", "pyfloat"]
INTEGERS = [t for t in TYPES if t.removeprefix("py").startswith(("bool", "int", "uint"))]


def edges(t):
    """A few values of a type, mostly at its ends, as they lie in memory."""
    stored = kinds.STORED.get(t, t)
    if stored == "bool":
        return np.array([False, True])
    if stored.startswith("complex"):
        return np.array([0, 0.5 + 0.25j, -2 + 1j, 3 - 0.5j, 0.1j, 1e-3 - 2j, -1, 7], stored)
    if stored == "bfloat16":
        return kinds.SPECIAL_BFLOATS[[0, 1, 4, 5, -1]]
    if np.dtype(stored).kind in "iu":
        info = np.iinfo(stored)
        values = {info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, -1, -6, 6, 63, 2**53 + 1, info.max // 2 + 1}
        return np.array([v for v in sorted(values) if info.min <= v <= info.max], stored)
    info = np.finfo(stored)
    values = [0.0, -0.0, 1.0, -1.5, 2.0, 255.0, info.max, -info.max, info.smallest_subnormal, np.inf, -np.inf, np.nan]
    with np.errstate(over="ignore"):
        return np.array([*values, 2.0**53, 2.0**63], stored)


def calls():
    """Expressions of x and y, by name."""
    for name, arity in {**EXACT_MATH, **INEXACT_MATH}.items():
        if name == "dist":
            yield "math.dist(({x}, {y}), ({y}, 1))"
            yield "math.dist(({x},), ({y},))"
            continue
        text = f"math.{name}({'{x}' if arity == 1 else '{x}, {y}'})"
        yield from (f"{text}[{k}]" for k in range(2)) if name in PAIRS else [text]
    yield "math.isclose({x}, {y}, rel_tol=0.5, abs_tol=2.0)"
    yield from INTEGER_CALLS
    yield from TUPLE_CALLS


CALLS = list(calls())


@functools.cache
def means(text, first, second):
    try:
        Meaning(f"def prog(x, y):\n    return ({text.format(x='x', y='y')},)\n", "prog", (first, second))
    except Invalid:
        return False
    return True


class Crossed(Case):
    """A program of x and some y, with every value of x beside every value of each y."""

    def __init__(self, program, meaning):
        columns = {n: edges(t) for n, t in program.parameters.items()}
        most = max(len(v) for n, v in columns.items() if n != "x")
        super().__init__(program, meaning, len(columns["x"]) * most, 0)
        for n, v in columns.items():
            self.arguments[n] = np.repeat(v, most) if n == "x" else np.resize(np.resize(v, most), self.rows)


def program_of(first, seconds, texts):
    """prog(x, y0, …): the calls of x and each y that have a meaning; those of x alone once."""
    results = []
    for k, second in enumerate(seconds):
        for text in texts:
            if ("{y}" in text or k == 0) and means(text, first, second):
                results.append(text.format(x="x", y=f"y{k}"))
    source = f"def prog(x, {', '.join(f'y{k}' for k in range(len(seconds)))}):\n    return ({', '.join(results)},)\n"
    return Program(source, {"x": first} | {f"y{k}": t for k, t in enumerate(seconds)}, f"{first} {texts[0]}")


def failures(first, texts):
    made = program_of(first, TYPES, texts)
    case = Crossed(made, made.meaning())
    return [str(f) for f in differential.check([case], opt=1)]


SIGNS = [t for t in CALLS if "copysign" in t]  # whose reference leaves out the rows of a nan
INEXACT_CALLS = [t for t in CALLS if t.split("(")[0].removeprefix("math.") in INEXACT_MATH]
EXACT_CALLS = [t for t in CALLS if t not in INEXACT_CALLS and t not in SIGNS]


@pytest.mark.parametrize("texts", [EXACT_CALLS, INEXACT_CALLS, SIGNS], ids=["exact", "inexact", "signs"])
@pytest.mark.parametrize("first", TYPES)
def test_math(first, texts):
    assert not failures(first, texts)


# --- one kernel of many results, stored in one type
# ----------------------------------------------------------------------------------


def computed(rows, typing="numpy"):
    """rows: (expression of x and y, type of x, type of y, dtype of the results); every x beside every y. (x, y, results) of each."""
    scope = {"cuda": cuda, "math": math, "cmath": cmath}
    lines, arrays = [], []
    for k, (text, first, second, dtype) in enumerate(rows):
        x, y = edges(first), edges(second)
        x, y = np.repeat(x, len(y)), np.tile(y, len(x))
        arrays += [x, y, np.zeros(len(x), dtype)]
        casts = {n: f"{kinds.WEAK_CAST[t]}({n}{k}[i])" if t in WEAK else f"{n}{k}[i]" for n, t in (("x", first), ("y", second))}
        lines += [f"    for i in range(o{k}.size):", f"        o{k}[i] = {text.format(**casts)}"]
    head = ", ".join(f"x{k}, y{k}, o{k}" for k in range(len(rows)))
    exec("\n".join([f"def kernel({head}):", *lines]), scope)
    cuda.jit(typing=typing, fma=False, opt=1)(scope["kernel"])[1, 1](*arrays)
    cuda.synchronize()
    return [arrays[3 * k : 3 * k + 3] for k in range(len(rows))]


INTEGERS_OF_NUMBA = [t for t in INTEGERS if not t.startswith("py")]
OF_NUMBA = [
    "math.gcd({x}, {y})", "math.gcd({x}, {y}, {x})", "math.gcd({y})", "math.lcm({x}, {y})", "math.lcm({y}, {x}, {y})", "math.factorial({x} & 15)",
    "math.comb({x} & 63, {y} & 63)", "math.perm({x} & 31, {y} & 7)", "math.perm({x} & 15)", "math.isqrt({x} & 0x7fffffffffffffff)",
]  # fmt: skip


@pytest.mark.parametrize("first", INTEGERS_OF_NUMBA)
def test_integers_in_numbas_typing(first):
    rows = [(text, first, second, "int64") for text in OF_NUMBA for second in INTEGERS_OF_NUMBA]
    for (text, _, second, _), (x, y, got) in zip(rows, computed(rows, "numba")):
        code = compile(text.format(x="x", y="y"), "", "eval")
        want = [wrap(eval(code, {"math": math}, {"x": int(a), "y": int(b)})) for a, b in zip(x, y)]
        assert got.tolist() == want, (text, first, second)


# Numba has overloads of float32 for these, alone and beside each other.
NARROW = {"float32", "bool", "int8", "uint8", "int16", "uint16"}
FLOATS_OF_NUMBA = ["math.copysign({x}, {y})", "math.fmod({x}, {y})", "math.remainder({x}, {y})", "math.hypot({x}, {y})", "math.atan2({x}, {y})",
                   "math.dist(({x},), ({y},))", "math.isclose({x}, {y})", "math.hypot({x}, 0.0, {y})", "math.log({x})", "math.sqrt({x})"]  # fmt: skip


@pytest.mark.parametrize("first", [t for t in TYPES if t not in WEAK and t not in ("float16", "bfloat16")])
def test_floats_in_numbas_typing(first):
    """Computed in double, wherever an argument is one or an integer that float32 does not hold."""
    others = [t for t in ("float64", "int32", "uint32", "int64", "uint64", "int8", "float32") if not {t, first} <= NARROW]
    rows = [(text, first, second, "float64") for text in FLOATS_OF_NUMBA for second in others if "{y}" in text or first not in NARROW]
    for (text, _, second, _), (x, y, got) in zip(rows, computed(rows, "numba")):
        for a, b, g in zip(x, y, got):
            want = in_double(text, float(a), float(b))
            if g == want or (math.isnan(g) and math.isnan(want)):
                continue
            # atan2, log: the largest bound of the accuracy table, and the C library's own ulp
            assert abs(g - want) <= 4 * math.ulp(want), (text, first, second, a, b, g, want)


def in_double(text, x, y):
    """CPython's; C's where that raises."""
    name = text.split("(")[0].removeprefix("math.")
    arguments = (x, y) if "{y}" in text else (x,)
    if name in ("dist", "isclose"):
        return float(eval(text.format(x="x", y="y"), {"math": math}, {"x": x, "y": y}))
    if name == "copysign" and y != y:
        return math.nan if x != x else abs(x)
    return float(RUNTIME[f"_math_{name}"](*arguments))


# --- cmath
# ----------------------------------------------------------------------------------

COMPLEX_TYPES = ["complex64", "complex128", *TYPES]
OF_ONE = [f"cmath.{n}({{x}})" for n in "acos acosh asin asinh atan atanh cos cosh exp log log10 phase sin sinh sqrt tan tanh isnan isinf isfinite".split()]
OF_TWO = ["cmath.isclose({x}, {y})", "cmath.isclose({x}, {y}, rel_tol=0.5, abs_tol=2.0)", "cmath.log({x}, {y})"]


@pytest.mark.parametrize("first", [t for t in COMPLEX_TYPES if t != "bfloat16"])
def test_cmath(first):
    """Whatever CPython gives; where it raises there is nothing to compare with."""
    seconds = [t for t in COMPLEX_TYPES if t != "bfloat16"]
    rows = [(text, first, second, "complex128") for text in OF_TWO for second in seconds] + [(text, first, "bool", "complex128") for text in OF_ONE]
    for (text, _, second, _), (x, y, got) in zip(rows, computed(rows)):
        types = {first, second} if "{y}" in text else {first}
        single = types & {"complex64", "float32"} and types <= {"complex64", "float32", *WEAK}
        code = compile(text.format(x="x", y="y"), "", "eval")
        for a, b, g in zip(x, y, got):
            if single and max(abs(complex(a)), abs(complex(b))) > np.finfo(np.float32).max:
                continue  # an infinity there
            a, b = (complex(np.complex64(v)) if single else complex(v) for v in (a, b))
            try:
                want = complex(eval(code, {"cmath": cmath}, {"x": a, "y": b}))
            except (ValueError, OverflowError, ZeroDivisionError):
                continue
            if not (np.isfinite(want) and abs(want) < (1e38 if single else 1e307)):
                continue  # the guide's: overflow and special values are C's
            # the guide's 12 ulps, CPython's own few, and the division of two logarithms
            bound = 32 * (np.finfo(np.float32).eps if single else np.finfo(np.float64).eps)
            assert abs(g - want) <= bound * abs(want) + (1e-44 if single else 5e-324), (text, first, second, a, b, g, want)
