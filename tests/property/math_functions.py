"""Functions of math as a kernel has them, computed by CPython and NumPy: what meaning.py calls for math.*, and which calls are drawn."""

import math

import numpy as np
from scalars import HIGH, LOW, RUNTIME, BFloat16, Unspecified, number, saturated, sign_matters, wrap


def narrow(args):
    """math's own rule: float32 in, float32 out, unless any other type of NumPy's is beside it."""
    return any(isinstance(a, np.float32) for a in args) and not any(
        isinstance(a, (np.generic, BFloat16)) and not isinstance(a, np.float32) for a in args
    )


def doubles(args):
    """The arguments as Python numbers; beside a float32 a weak one is a float32."""
    if narrow(args):
        return [float(np.float32(a)) for a in args]
    return [number(a) for a in args]


def clamped(n):
    """A Python int as int() of a float gives it."""
    return min(max(n, LOW), HIGH)


def exact_math(name):
    """A function of math whose results have no choice: the C library's, computed in double."""
    function = getattr(math, name)

    def compute(*args):
        plain = doubles(args)
        if name in ("floor", "ceil", "trunc") and isinstance(args[0], np.integer):
            plain = [float(args[0])]  # NumPy's integers have no __floor__: Python asks for a float
        if name == "copysign":
            sign_matters(plain[1])
        try:
            result = function(*plain)
        except ValueError:
            result = math.nan if name in ("sqrt", "fmod", "remainder") else saturated(float(plain[0]), LOW, HIGH)
        except OverflowError:
            result = saturated(float(plain[0]), LOW, HIGH)

        def typed(r):
            if isinstance(r, float):
                return np.float32(r) if narrow(args) else r
            return r if isinstance(r, bool) else clamped(r)

        return tuple(typed(r) for r in result) if isinstance(result, tuple) else typed(result)

    return compute


def of_float_type(function):
    """A function computed in math's type for its arguments: float32 or float64 as NumPy has them."""

    def compute(*args):
        make = np.float32 if narrow(args) else np.float64
        result = function(make, *(make(number(a)) for a in args))
        return result if isinstance(result, (bool, np.float32)) else float(result)

    return compute


@of_float_type
def next_after(make, x, y):
    return np.nextafter(x, y)


@of_float_type
def last_place(make, x):
    y = abs(x)
    if not np.isfinite(y):
        return y
    above = np.nextafter(y, make(np.inf))
    return y - np.nextafter(y, make(0)) if np.isinf(above) else above - y


@of_float_type
def in_degrees(make, x):
    return x * make(180 / math.pi)


@of_float_type
def in_radians(make, x):
    return x * make(math.pi / 180)


@of_float_type
def is_close(make, a, b, rel_tol=1e-9, abs_tol=0.0):
    if make is np.float64:
        return math.isclose(float(a), float(b), rel_tol=float(rel_tol), abs_tol=float(abs_tol))
    rel_tol, abs_tol = make(rel_tol), make(abs_tol)
    diff = abs(b - a)
    if a == b or np.isinf(a) or np.isinf(b):
        return bool(a == b)
    return bool(diff <= abs(rel_tol * b) or diff <= abs(rel_tol * a) or diff <= abs_tol)


def scaled(x, exponent):
    """math.ldexp: its type is that of x."""
    make = np.float32 if narrow([x]) else np.float64
    result = np.ldexp(make(number(x)), min(max(int(number(exponent)), -5000), 5000))
    return result if make is np.float32 else float(result)


def distance(p, q):
    """math.dist: coordinates are subtracted as floats."""
    args = [*p, *q]
    make = np.float32 if narrow(args) else np.float64
    differences = [make(number(a)) - make(number(b)) for a, b in zip(p, q)]
    result = make(math.hypot(*map(float, differences)))
    return result if make is np.float32 else float(result)


def integer_math(name):
    """A function of math of integers, in Python's; the greatest divisor and the least multiple wrap."""
    function = getattr(math, name)

    def compute(*args):
        result = function(*(int(number(a)) for a in args))
        if name not in ("gcd", "lcm") and result > HIGH:
            raise Unspecified("beyond 64 bits")
        return wrap(result)

    return compute


# Functions by arity. Those of INEXACT have an error bound instead (accuracy.py).
EXACT_MATH = dict(
    sqrt=1, fabs=1, floor=1, ceil=1, trunc=1, isnan=1, isinf=1, isfinite=1, copysign=2, fmod=2, remainder=2, nextafter=2, ulp=1,
    degrees=1, radians=1, isclose=2, frexp=1, modf=1, ldexp=2,
)  # fmt: skip
PAIRS = ("frexp", "modf")
INTEGER_MATH = dict(gcd=2, lcm=2, isqrt=1, factorial=1, comb=2, perm=2)
# With arguments that these functions are defined for, and whose results fit; x and y are integers of any type.
INTEGER_CALLS = [
    "math.gcd({x}, {y})", "math.gcd({x}, {y}, {x})", "math.gcd({x})", "math.lcm({x}, {y})", "math.lcm({y}, {x}, {y})",
    "math.isqrt(max({x}, 0))", "math.factorial({x} & 15)", "math.comb({x} & 63, {y} & 63)", "math.comb(max({x}, 0) >> 1, {y} & 1)",
    "math.perm({x} & 31, {y} & 7)", "math.perm(max({x}, 0) >> 1, {y} & 1)", "math.perm({x} & 15)",
]  # fmt: skip
TUPLE_CALLS = ["math.prod(({x}, {y}))", "math.prod(({x}, {y}, {x}))", "math.prod(({x}, {y}), start={x})"]
INEXACT_MATH = dict(
    sin=1, cos=1, tan=1, asin=1, acos=1, atan=1, sinh=1, cosh=1, tanh=1, asinh=1, acosh=1, atanh=1,
    exp=1, expm1=1, log=1, log2=1, log10=1, log1p=1, erf=1, erfc=1, cbrt=1, exp2=1, atan2=2, hypot=2, pow=2, dist=2,
)  # fmt: skip


def inexact_math(name):
    """In double, for the comparison within an error bound; float32 results are rounded once more."""
    function = getattr(math, name, None)

    def compute(*args):
        plain = [float(a) for a in doubles(args)]
        try:
            if name == "log" and plain[0] == 0 or name in ("log2", "log10") and plain[0] == 0:
                result = -math.inf
            elif name == "log1p" and plain[0] == -1:
                result = -math.inf
            elif name == "atanh" and abs(plain[0]) == 1:
                result = math.copysign(math.inf, plain[0])
            elif name == "pow":
                result = float(np.float64(plain[0]) ** np.float64(plain[1]))
            else:
                result = function(*plain)
        except ValueError:
            result = math.nan
        except OverflowError:
            result = math.copysign(math.inf, plain[0]) if name in ("sinh", "expm1") else math.inf
        return np.float32(result) if narrow(args) else result

    return compute


RUNTIME |= {f"_math_{n}": exact_math(n) for n in EXACT_MATH} | {f"_math_{n}": integer_math(n) for n in INTEGER_MATH}
RUNTIME |= {f"_math_{n}": inexact_math(n) for n in INEXACT_MATH}
RUNTIME |= {"_math_nextafter": next_after, "_math_ulp": last_place, "_math_degrees": in_degrees, "_math_radians": in_radians}
RUNTIME |= {"_math_isclose": is_close, "_math_ldexp": scaled, "_math_dist": distance}
