"""Types and values of the language as CPython and NumPy have them: what meaning.py is made of.

Scalar types have pyptx's names; a dtype is one row of STRONG. The functions here are what the
rewritten source calls where a kernel means something else than Python.
"""

import collections
import functools
import math
import operator
import warnings

import numpy as np
from bfloat import BFloat16

warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*Bitwise inversion.*")

# --- types
# -----------------------------------------------------------------------------------------------------------
# Scalars are named as pyptx names them; a dtype is one row of STRONG. Tuple, Array and Func are the rest.

STRONG = {
    name: getattr(np, name)
    for name in (
        "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
    )
}
STRONG = {("bool" if n == "bool_" else n): t for n, t in STRONG.items()}
STRONG["bfloat16"] = BFloat16
WEAK = {"pybool": bool, "pyint": int, "pyfloat": float, "pycomplex": complex}
FLOATS = (float, np.floating, BFloat16)


def is_date(t):
    """Whether a type is datetime64[…] or timedelta64[…], named as NumPy names the dtype."""
    return isinstance(t, str) and t.startswith(("datetime64", "timedelta64"))


class ByType(dict):
    """A fact of every type; those of dates, whose units are many, are made when they are asked for."""

    def __init__(self, rows, make):
        super().__init__(rows)
        self.make = make

    def __missing__(self, t):
        if not is_date(t):
            raise KeyError(t)
        return self.setdefault(str(t), self.make(str(t)))


NAME_OF = {**{t: n for n, t in STRONG.items()}, **{t: n for n, t in WEAK.items()}}
SAMPLE = ByType({n: t(1) for t, n in NAME_OF.items()}, lambda t: np.int64(1).astype(t))
KIND = ByType(  # NumPy's letters
    {n: np.dtype(t).kind for n, t in STRONG.items() if n != "bfloat16"}
    | dict(bfloat16="f", pybool="b", pyint="i", pyfloat="f", pycomplex="c"),
    lambda t: np.dtype(t).kind,
)
REAL = "biuf"
INTEGERS = {n for n in STRONG if KIND[n] in "iu"}
PROMOTED_FIRST = sorted(STRONG, key=lambda t: "cfuib".index(KIND[t]))
LOW, HIGH = -(1 << 63), (1 << 63) - 1


class Invalid(Exception):
    """The program is outside what is tested here."""


class Unspecified(Exception):
    """No rule fixes the result for these arguments."""


class Tuple(tuple):
    def __str__(self):
        return "(" + ", ".join(map(str, self)) + ("," if len(self) == 1 else "") + ")"

    def of(self, items):
        """A type of the same shape with these items."""
        return Tuple(items)

    def __eq__(self, other):
        return isinstance(other, tuple) and tuple.__eq__(self, other) and getattr(self, "name", None) == getattr(other, "name", None)

    def __ne__(self, other):
        return not self == other

    __hash__ = tuple.__hash__


class Named(Tuple):
    """The type of a named tuple: its class's name, the names of its fields, their types."""

    def __new__(cls, name, fields, items):
        made = super().__new__(cls, items)
        made.name, made.fields = name, tuple(fields)
        return made

    def __repr__(self):
        return f"Named({self.name!r}, {self.fields!r}, {tuple(self)!r})"

    def of(self, items):
        return Named(self.name, self.fields, items)


class NamedClass:
    """A class of named tuples."""

    def __init__(self, name, fields):
        self.name, self.fields = name, fields


class Record:
    """The type of a record: fields {name: scalar type, Record, or Array with its shape}, and whether they are aligned."""

    def __init__(self, fields, align=False):
        self.fields, self.align = fields, align

    def key(self):
        return tuple(self.fields.items()), self.align

    def __eq__(self, other):
        return isinstance(other, Record) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())

    def __str__(self):
        return "{" + ", ".join(f"{n}: {t}" for n, t in self.fields.items()) + "}"


class Array:
    def __init__(self, dtype, ndim, shape=None, known=False):
        self.dtype, self.ndim, self.shape = dtype, ndim, shape  # the shape, where the type fixes it: a record's field
        self.known = known or shape is not None  # a compiler may know the shape

    def __str__(self):
        return f"{self.dtype}[{self.ndim}]"

    def key(self):
        return self.dtype, self.ndim

    def __eq__(self, other):
        return isinstance(other, Array) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


class Func:
    """A function of the program: its node, and the types of the names it closes over."""

    def __init__(self, node, env, qualname):
        self.node, self.env, self.qualname = node, env, qualname

    def __eq__(self, other):
        return isinstance(other, Func) and self.node is other.node

    def __hash__(self):
        return hash(id(self.node))


class Const(str):
    """A scalar type whose value a compiler may know; equal to the type itself.

    Conditions on such a value may be folded, and then types of paths never taken do not join; and it is
    a literal, which must fit. Which values are known is the compiler's affair, so what depends on it is
    Invalid; this class errs on the side of knowing too much.
    """

    def __new__(cls, name):
        return str.__new__(cls, name)


def plain(t):
    """t without the knowledge of its value and of the types that meet in it."""
    if isinstance(t, Tuple):
        return t.of(map(plain, t))
    return str(t) if isinstance(t, (Const, Joined)) else t


def unknown(t):
    """t without the knowledge of its value."""
    if isinstance(t, Tuple):
        return t.of(map(unknown, t))
    return str(t) if isinstance(t, Const) else t


def known(t):
    """t as the type of a value that a compiler may know."""
    if isinstance(t, Tuple):
        return t.of(map(known, t))
    return Const(t) if is_scalar(t) and not isinstance(t, Joined) else t


def constancy(t):
    return tuple(map(constancy, t)) if isinstance(t, Tuple) else isinstance(t, Const)


class Maybe:
    """The type of a variable that some path leaves unset: t where it is set. Reading it unset raises UnboundLocalError, or gives zero of its type."""

    def __init__(self, t):
        self.t = t

    def __eq__(self, other):
        return isinstance(other, Maybe) and same(self.t, other.t)

    __hash__ = None


def may_be_unset(t):
    """Whether such a variable has a zero that the reference knows: a number or date, or a tuple of them."""
    return is_scalar(t) or type(t) is Tuple and all(map(may_be_unset, t))


CONFLICT = "no common type"


def is_scalar(t):
    return isinstance(t, str) and t is not CONFLICT


def need_scalar(t):
    if not is_scalar(t):
        raise Invalid(f"{t} is no number")
    return t


def type_of(value):
    """The name of a Python or NumPy scalar's type."""
    name = NAME_OF.get(type(value))
    if isinstance(value, (np.datetime64, np.timedelta64)):
        name = value.dtype.name
    if name is None:
        raise Invalid(f"{type(value)} is no type of a kernel")
    return name


def join(a, b):
    """The type of a variable that is a on one path and b on another.

    It is the promotion of all the types that reach the variable, not of two at a time, so that it does not matter
    which paths meet first. The type remembers which they are: they take part where it meets others again.
    """
    if a == b and isinstance(a, Const) and isinstance(b, Const):
        return a  # perhaps the same value
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a) == len(b):
        return a.of(join(x, y) for x, y in zip(a, b)) if getattr(a, "name", None) == getattr(b, "name", None) else CONFLICT
    if is_scalar(a) and is_scalar(b):
        return joined(leaves_of(a) | leaves_of(b))
    return a if a == b else CONFLICT


def date_promoted(leaves):
    """The unit that all are multiples of; a date, a span and a number do not meet here."""
    if len({KIND[t] for t in leaves}) > 1:
        return CONFLICT
    try:
        return functools.reduce(np.promote_types, map(np.dtype, sorted(leaves))).name
    except (TypeError, OverflowError):
        return CONFLICT


class Joined(str):
    """The type of a variable that several types reach, and which those are. Its value has the type it came with until it is read."""

    def __new__(cls, name, leaves):
        made = str.__new__(cls, name)
        made.leaves = leaves
        return made


def leaves_of(t):
    return t.leaves if isinstance(t, Joined) else frozenset((str(t),))


def joined(leaves):
    if len(leaves) == 1:
        return str(*leaves)
    t = date_promoted(leaves) if any(map(is_date, leaves)) else promoted(leaves)
    return t if t is CONFLICT else Joined(t, leaves)


def mixed(t):
    """Whether a value of the type may have another one until it is read."""
    return any(map(mixed, t)) if isinstance(t, Tuple) else isinstance(t, Joined)


def same(a, b):
    """Whether types are equal, and the types that they come from."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b and (not is_scalar(a) or leaves_of(a) == leaves_of(b))


HOLDERS = {"pyint": ("pyint", "int64"), "pyfloat": ("pyfloat", "float64", "complex128"), "pycomplex": ("pycomplex", "complex128")}


def held(leaf, t):
    """Whether type t has all values of a type that promotes to it: only a weak number's may get lost."""
    return leaf not in HOLDERS or t in HOLDERS[leaf]


def promoted(leaves, memo={}):
    """np.result_type of them all: of the strong ones, floats first (int8, uint8 and float16 are a float16), then with the highest weak one."""
    if leaves not in memo:
        strong = sorted(leaves & set(STRONG), key=PROMOTED_FIRST.index)
        found = functools.reduce(promotion, strong) if strong else None
        weak = functools.reduce(promotion, leaves - set(STRONG)) if leaves - set(STRONG) else None
        memo[leaves] = promotion(found, weak) if found and weak else found or weak
    return memo[leaves]


def promotion(a, b):
    """NumPy's promotion of two types, NEP 50's where one is weak."""
    if a in WEAK and b in WEAK:
        return max(a, b, key=list(WEAK).index)
    if a in STRONG and b in STRONG:
        if "bfloat16" in (a, b):
            return type_of(SAMPLE[a] + SAMPLE[b])
        return NAME_OF[np.promote_types(STRONG[a], STRONG[b]).type]
    weak, strong = (a, b) if a in WEAK else (b, a)
    if weak == "pybool":
        return strong
    if strong == "bfloat16":
        return "complex64" if weak == "pycomplex" else strong
    return type_of((np.result_type(STRONG[strong], SAMPLE[weak])).type(1))


# --- what replaces Python at run time
# ---------------------------------------------------------------------------------


def wrap(value, bits=64, signed=True):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def saturated(value, low, high):
    """A float as an integer: truncated, to the nearest end if it is out of range, 0 for a nan."""
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(value), low), high)


# (Python int, name of the type, or "64" for its bits) that did not fit: an OverflowError where the compiler knows the number
WRAPPED = set()


def in_64_bits(value):
    """A Python int as one that is known at run time only."""
    if not LOW <= value <= HIGH:
        WRAPPED.add((value, "64"))
    return wrap(value)


def converter(t):
    """C's conversion of a number to type t."""
    if t == "pybool":
        return bool
    if t == "pyfloat":
        return float
    if t == "pycomplex":
        return complex
    if t == "pyint":
        return lambda v: saturated(float(v), LOW, HIGH) if isinstance(v, FLOATS) else wrap(int(v))
    if is_date(t):
        return lambda v: to_date(v, t)
    kind, make = KIND[t], STRONG[t]
    if kind in "bfc":
        return lambda v: make(v.value if isinstance(v, BFloat16) else v)
    info = np.iinfo(make)

    def to_int(v):
        if isinstance(v, make):
            return v
        if isinstance(v, FLOATS):
            return make(saturated(float(v), int(info.min), int(info.max)))
        if type(v) is int and not info.min <= v <= info.max:
            WRAPPED.add((v, t))
        return make(wrap(int(v), info.bits, kind == "i"))

    return to_int


def to_date(v, t):
    """A date or a span in the unit of t; an integer counts these."""
    if not isinstance(v, (np.datetime64, np.timedelta64)):
        return in_calendar(np.int64(wrap(int(v))).astype(t))
    return v.astype(t)


def in_calendar(date):
    """The date, if other units can count it in 64 bits."""
    days = CALENDAR.get(np.datetime_data(date.dtype)[0], 1 << 56) // np.datetime_data(date.dtype)[1]
    if date.dtype.kind == "M" and not np.isnat(date) and abs(int(date.astype(np.int64))) > days:
        raise Unspecified("a date millions of years off")
    return date


CALENDAR = {"Y": 1 << 15, "M": 1 << 18, "W": 1 << 21, "D": 1 << 24, "h": 1 << 28, "m": 1 << 33, "s": 1 << 40, "ms": 1 << 50}


CONVERT = ByType({t: converter(t) for t in SAMPLE}, converter)


def convert(value, t):
    if isinstance(t, Named):
        return type(value)._make(convert(v, x) for v, x in zip(value, t))
    if isinstance(t, Tuple):
        return tuple(convert(v, x) for v, x in zip(value, t))
    return CONVERT[t](value) if isinstance(t, str) else value


def python_operator(text):
    return {
        "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
        "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow,
        "LShift": operator.lshift, "RShift": operator.rshift, "BitAnd": operator.and_,
        "BitOr": operator.or_, "BitXor": operator.xor, "Lt": operator.lt, "LtE": operator.le,
        "Eq": operator.eq, "NotEq": operator.ne, "Gt": operator.gt, "GtE": operator.ge,
        "UAdd": operator.pos, "USub": operator.neg, "Invert": operator.invert,
    }[text]  # fmt: skip


LARGEST = 1000  # shifts and exponents: of more the integer itself is not computed here


def weak_shift(op, a, b):
    shifted = in_64_bits(op(a, b)) if 0 <= b < LARGEST else 0
    if 0 <= b < 64:
        return shifted
    return -1 if op is operator.rshift and a < 0 else 0


def integer_power(a, b):
    """a ** b in 64 bits; 0 for a negative exponent."""
    if 0 <= b < LARGEST:
        return in_64_bits(int(a) ** int(b))
    return wrap(pow(int(a), int(b), 1 << 64)) if b > 0 else 0


def weak_binary(name):
    """An operation of two weak numbers: Python's, wrapped at 64 bits, and defined for every operand."""
    op = python_operator(name)

    def compute(a, b):
        if isinstance(a, complex) or isinstance(b, complex):
            return weak_complex(op, a, b)
        floats = isinstance(a, float) or isinstance(b, float)
        if name in ("LShift", "RShift"):
            return weak_shift(op, int(a), int(b))
        if name == "Pow":
            return float(np.float64(a) ** np.float64(b)) if floats else integer_power(a, b)
        if floats or name == "Div" and b == 0:
            return float(op(np.float64(a), np.float64(b)))
        if name == "Div":
            return a / b  # of ints, rounded once
        if name in ("FloorDiv", "Mod") and b == 0:
            return 0
        result = op(a, b)
        return result if isinstance(result, bool) else in_64_bits(result)

    return compute


def known_binary(name):
    """The same of two numbers that the compiler may know: Python's integer then, which may have no room in a kernel."""
    op, wrapped = python_operator(name), weak_binary(name)

    def compute(a, b):
        result = wrapped(a, b)
        shift = name in ("LShift", "RShift") and not 0 <= b < 64
        ints = isinstance(a, int) and isinstance(b, int) and name != "Div" and not shift
        if ints and not (name in ("FloorDiv", "Mod") and b == 0) and not (name == "Pow" and not 0 <= b < LARGEST):
            if not LOW <= op(a, b) <= HIGH:
                raise Unspecified("beyond 64 bits, if it is known")
        elif shift and b > 0:
            raise Unspecified("beyond 64 bits, if it is known")
        return result

    return compute


def product(a, b):
    """Of two complex numbers, as NumPy has it, and CPython before 3.14, which makes infinities of some nans."""
    return complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def quotient(a, b):
    """The same (R. L. Smith, Algorithm 116, 1962)."""
    if abs(b.real) >= abs(b.imag):
        if not b.real:
            raise ZeroDivisionError
        ratio = b.imag / b.real
        size = b.real + b.imag * ratio
        return complex((a.real + a.imag * ratio) / size, (a.imag - a.real * ratio) / size)
    if abs(b.imag) >= abs(b.real):
        ratio = b.real / b.imag
        size = b.real * ratio + b.imag
        return complex((a.real * ratio + a.imag) / size, (a.imag * ratio - a.real) / size)
    return complex(math.nan, math.nan)


def weak_complex(op, a, b):
    """Python's, of two complex numbers; what it raises for is left open."""
    op = {operator.mul: product, operator.truediv: quotient}.get(op, op)
    try:
        return op(complex(a), b if op is operator.pow else complex(b))
    except (ZeroDivisionError, OverflowError):
        raise Unspecified("no complex number in Python") from None


def strong_power(a, b):
    """An integer power of which one operand at least is strong; the other fits it."""
    if isinstance(b, (int, np.integer)) and not isinstance(b, bool) and b < 0 and not isinstance(a, np.inexact):
        return type(SAMPLE[type_of(a)] ** SAMPLE[type_of(b)])(0)
    return a**b


EXACT_EXPONENTS = (0, 1, 2, 0.5, -1)


def float_power(x, n, t):
    """x ** n for those exponents, correctly rounded (NumPy's pow may be an ulp off)."""
    x = CONVERT[t](x)
    make = STRONG.get(t, np.float64)
    x = make(x)
    if n == 0.5:
        result = make(np.inf) if x == -np.inf else np.sqrt(x + make(0))
    else:
        result = {0: make(1), 1: x, 2: x * x, -1: make(1) / x}[n]
    return CONVERT[t](result)


def inexact_power(x, n):
    """x ** n; where NumPy takes a square root for it, that of -inf is C's pow of it all the same."""
    result = x**n
    return type(result)(np.inf) if x == -np.inf and n == 0.5 else result


def python_round(x, digits=None):
    if digits is None:
        if isinstance(x, FLOATS) and not math.isfinite(x):
            return saturated(float(x), LOW, HIGH)
        return min(max(round(float(x)), LOW), HIGH) if isinstance(x, FLOATS) else wrap(int(x))
    if isinstance(x, float) and not isinstance(x, np.floating):
        return float(round(np.float64(x), digits))  # by a scale, as NumPy's, not by decimal digits
    return round(x, digits) if isinstance(x, (np.floating, BFloat16)) else x


def python_abs(x):
    return wrap(abs(x)) if isinstance(x, int) and not isinstance(x, bool) else abs(x)


def weak_divmod(a, b):
    return weak_binary("FloorDiv")(a, b), weak_binary("Mod")(a, b)


def number(x):
    if isinstance(x, BFloat16):
        return float(x)
    return x.item() if isinstance(x, np.generic) else x


def sign_matters(x):
    if x != x:
        raise Unspecified("the sign of a nan")
    return x


# Functions of one result: name, arity. Those of INEXACT have an error bound instead (accuracy.py).
EXACT_UFUNCS = dict(
    add=2, subtract=2, multiply=2, divide=2, true_divide=2, floor_divide=2, remainder=2, mod=2, fmod=2,
    negative=1, positive=1, absolute=1, abs=1, sign=1, square=1, sqrt=1, reciprocal=1, floor=1, ceil=1,
    trunc=1, rint=1, fabs=1, minimum=2, maximum=2, fmin=2, fmax=2, logical_and=2, logical_or=2,
    logical_xor=2, logical_not=1, isnan=1, isinf=1, isfinite=1, signbit=1, copysign=2, equal=2,
    not_equal=2, less=2, less_equal=2, greater=2, greater_equal=2, bitwise_and=2, bitwise_or=2,
    bitwise_xor=2, invert=1, left_shift=2, right_shift=2,
)  # fmt: skip
OTHER_UFUNCS = dict(isnat=1, conjugate=1)  # of dates, of complex numbers
INEXACT_UFUNCS = dict(
    sin=1, cos=1, tan=1, arcsin=1, arccos=1, arctan=1, sinh=1, cosh=1, tanh=1, arcsinh=1, arccosh=1,
    arctanh=1, exp=1, exp2=1, expm1=1, log=1, log2=1, log10=1, log1p=1, cbrt=1, arctan2=2, hypot=2,
)  # fmt: skip


def two_zeros(best, args):
    """Which of two zeros of different signs is chosen is not specified on a GPU: deviation 12. They are compared as the type they become."""
    if isinstance(best, FLOATS) and best == 0:
        with np.errstate(all="ignore"):
            zeros = [z for z in map(type(best), args) if z == 0]
        if len({math.copysign(1, z) for z in zeros}) > 1:
            raise Unspecified("the smaller of two zeros")


def exact_ufunc(name):
    ufunc = getattr(np, name)

    def compute(*args):
        if name in ("fmin", "fmax", "minimum", "maximum"):
            two_zeros(ufunc(*args), args)
        if name == "signbit":
            sign_matters(args[0])
        if name == "copysign":
            sign_matters(args[1])
        if name == "reciprocal" and isinstance(args[0], (int, np.integer)) and args[0] == 0:
            one = ufunc(type(args[0])(1))
            return type(one)(0)  # integer division by zero
        return ufunc(*args)

    return compute


# --- the names that the rewritten source uses
# ---------------------------------------------------------------------------------

RUNTIME = {"np": np, "math": math, "_end": object(), "_round": python_round, "_abs": python_abs}
RUNTIME |= {f"_to_{t}": f for t, f in CONVERT.items()} | {"collections": collections}
RUNTIME |= {f"_weak_{n}": weak_binary(n) for n in (
    "Add Sub Mult Div FloorDiv Mod Pow LShift RShift BitAnd BitOr BitXor".split())}  # fmt: skip
RUNTIME |= {n.replace("_weak_", "_known_"): known_binary(n[6:]) for n in [*RUNTIME] if n.startswith("_weak_")}
RUNTIME |= {"_power": strong_power, "_float_power": float_power, "_inexact_power": inexact_power, "_wrap": wrap, "_weak_divmod": weak_divmod, "_convert": convert}
RUNTIME |= {f"_np_{n}": exact_ufunc(n) for n in EXACT_UFUNCS} | {f"_np_{n}": getattr(np, n) for n in OTHER_UFUNCS}
def extreme(choose):
    """min or max; which of two zeros of different signs it gives is not specified on a GPU (ptxas makes one instruction of it)."""

    def compute(*args):
        best = choose(args)
        if type(best) in NAME_OF and best == 0 and len({math.copysign(1, a) for a in args if a == 0}) > 1:
            raise Unspecified("the smaller of two zeros")
        return best

    return compute


RUNTIME["_min"], RUNTIME["_max"] = extreme(min), extreme(max)
RUNTIME["_contains"] = lambda x, items: any([bool(x == y) for y in items])


def in_place(op):
    """view[…] op= number, element by element: for arrays of objects."""

    def compute(view, value):
        for k in np.ndindex(view.shape):
            view[k] = op(view[k], value)

    return compute


RUNTIME |= {f"_in_place_{n}": in_place(python_operator(n)) for n in ("Add", "Sub", "Mult")}
RUNTIME["_in_calendar"] = in_calendar


def complex_order(name):
    """NumPy's scalars of one type and of two differ where a part is a nan."""
    ufunc = getattr(np, name)

    def compute(a, b):
        if any(isinstance(x, (complex, np.complexfloating)) for x in (a, b)) and (np.isnan(a) or np.isnan(b)):
            raise Unspecified("the order of complex numbers that are no numbers")
        return ufunc(a, b)

    return compute


RUNTIME |= {f"_np_{n}": complex_order(n) for n in ("less", "less_equal", "greater", "greater_equal")}


def local_array(shape, name):
    if name == "bfloat16":
        return np.full(shape, BFloat16(0), object)
    return np.zeros(shape, STRONG.get(name, name))


RUNTIME["_local"] = local_array
UNSET_IS_ZERO = [False]  # where no checks are compiled in


def zero(t):
    if isinstance(t, Tuple):
        return tuple(map(zero, t))
    return np.zeros((), t)[()] if is_date(t) else CONVERT[t](0)


def read(variables, name, t):
    """A variable that may be unset."""
    if name not in variables and not UNSET_IS_ZERO[0]:
        raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value", name)
    return variables[name] if name in variables else zero(t)


RUNTIME["_read"] = read


def span_by_float(op):
    """A span times or over a float: NumPy leaves results out of 64 bits open."""

    def compute(a, b):
        x, y = (float(v.astype(np.int64)) if isinstance(v, np.timedelta64) else float(v) for v in (a, b))
        with np.errstate(all="ignore"):
            exact = op(np.float64(x), np.float64(y))
        if math.isfinite(exact) and abs(exact) >= 2.0**63:
            raise Unspecified("a span of more than 64 bits")
        a, b = (np.float64(v) if isinstance(v, FLOATS) else v for v in (a, b))
        return op(a, b)

    return compute


RUNTIME |= {f"_span_{n}": span_by_float(python_operator(n)) for n in ("Mult", "Div", "FloorDiv")}


RUNTIME |= {f"_np_{n}": getattr(np, n) for n in INEXACT_UFUNCS}
