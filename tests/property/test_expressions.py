"""Random expressions over scalars of random types: whatever NumPy computes, the kernel computes, bit for bit."""

import ast
import warnings

import numpy as np
from amount import MORE
from harness import STRONG, define, run, specials
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

ARITHMETIC = ["+", "-", "*", "/", "//", "%"]
BITWISE = ["&", "|", "^", ">>"]
COMPARISON = ["<", "<=", "==", "!=", ">", ">="]
LITERALS = ["0", "1", "2", "3", "7", "0.5", "1.5", "True"]


def binary(children, operators):
    return st.tuples(children, st.sampled_from(operators), children).map(lambda t: f"({t[0]} {t[1]} {t[2]})")


def extend(children):
    return st.one_of(
        binary(children, ARITHMETIC),
        binary(children, BITWISE),
        binary(children, COMPARISON),
        st.tuples(st.sampled_from(["-", "~", "+", "abs", "not "]), children).map(
            lambda t: f"({t[0]}({t[1]}))"
        ),
        st.tuples(children, children, children).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(children, st.sampled_from(["and", "or"]), children).map(
            lambda t: f"(1 if {t[0]} {t[1]} {t[2]} else 0)"
        ),
    )


EXPRESSIONS = st.recursive(st.sampled_from(["a", "b", "c", "i", *LITERALS]), extend, max_leaves=8)


def joins_two_types(text):
    """`x if p else y` has the promotion of both types in a kernel and one of them in Python: compared only where it cannot show."""
    return " if " in text and "(1 if" not in text


def has_refused_part(text, values):
    """Does NumPy refuse a part for its types, whether Python comes to it or not? A kernel has types for all parts."""
    for part in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(part, ast.expr):
            try:
                eval(compile(ast.Expression(part), "<part>", "eval"), dict(values))
            except TypeError:
                return True
            except (ValueError, OverflowError, ZeroDivisionError):
                pass
    return False


@settings(max_examples=75 * MORE, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(text=EXPRESSIONS, types=st.tuples(*[st.sampled_from(STRONG)] * 3), seed=st.integers(0, 1000))
def test_expression(text, types, seed):
    assume(not joins_two_types(text) and any(v in text for v in "abc"))
    kernel = define(f"""def kernel(x, y, z, as_int, as_float):
    i = cuda.grid(1)
    if i < x.size:
        a = x[i]
        b = y[i]
        c = z[i]
        r = {text}
        as_int[i] = r
        as_float[i] = r
""")
    rng = np.random.default_rng(seed)
    n = 24
    x, y, z = (rng.choice(specials(t), n) for t in types)
    args = [x, y, z, np.zeros(n, np.int64), np.zeros(n)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from harness import copied, simulate

            simulate(kernel, [copied(v) for v in args], 1, n)
        except (TypeError, ValueError, OverflowError, ZeroDivisionError):
            assume(False)  # NumPy or Python refuses it; test_errors and test_language_weak have those
        assume(not has_refused_part(text, {"a": x[0], "b": y[0], "c": z[0], "i": 0}))
        run(kernel, args, 1, n)


@settings(max_examples=30 * MORE, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    start=st.integers(-20, 20),
    stop=st.integers(-20, 20),
    step=st.integers(-5, 5).filter(bool),
    cut=st.integers(-20, 20),
    skip=st.integers(1, 4),
)
def test_loops(start, stop, step, cut, skip):
    def kernel(start, stop, step, cut, skip, out):
        n = 0
        for k in range(start, stop, step):
            if k == cut:
                break
            if k % skip == 0:
                continue
            n += k * k
        else:
            n += 10000
        out[0] = n

    run(kernel, [start, stop, step, cut, skip, np.zeros(1, np.int64)])


@settings(max_examples=40 * MORE, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    start=st.none() | st.integers(-12, 12),
    stop=st.none() | st.integers(-12, 12),
    step=st.none() | st.integers(-4, 4).filter(bool),
    n=st.integers(0, 9),
)
def test_slices(start, stop, step, n):
    text = ":".join("" if v is None else str(v) for v in (start, stop, step))
    kernel = define(f"""def kernel(x, out):
    v = x[{text}]
    out[0] = v.size
    for k in range(v.size):
        out[k + 1] = v[k]
""")
    run(kernel, [np.arange(10, 10 + n), np.zeros(12, np.int64)])
