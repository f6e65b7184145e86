"""What a kernel must compute, from CPython and NumPy alone: semantics.md's rule, made executable.

In: the source of a function, and the types of its arguments. Out: the types of its results, and a
Python function that computes them on NumPy scalars. Nothing of pyptx takes part.

The types come from abstract interpretation of the syntax tree; the type of every operation is the
type that NumPy gives for that operation on sample scalars. The function is the same source, with
calls put in only where a kernel means something else than Python, and only for:

* joins: a variable (a conditional expression, a result) whose type differs from path to path has
  the promotion of those types, so the value is converted where the paths meet;
* weak integers, which wrap at 64 bits, and wrap again beside a strong integer they do not fit;
* division of weak numbers by zero, shifts by too much, negative integer powers (semantics.md, 2);
* stores and constructors, which convert as C does, saturating from floats (4 and 6);
* math.*, which keeps float32 (6).

Everything else is CPython running NumPy. `Invalid` means that this page of the language says
nothing about the program (a type error, a maybe-unset variable): such a program is no test.
`Unspecified` is raised by the function for arguments whose result no rule fixes: the sign of a nan.
"""

import ast
import itertools
import math
import operator
import warnings

import numpy as np

warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*Bitwise inversion.*")

# --- types
# -----------------------------------------------------------------------------------------------------------
# Scalars are named as pyptx names them; a dtype is one row of STRONG. Tuple, Array and Func are the rest.

STRONG = {
    name: getattr(np, name)
    for name in (
        "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
    )
}
STRONG = {("bool" if n == "bool_" else n): t for n, t in STRONG.items()}
WEAK = {"pybool": bool, "pyint": int, "pyfloat": float}
SAMPLE = {**{n: t(1) for n, t in STRONG.items()}, **{n: t(1) for n, t in WEAK.items()}}
NAME_OF = {**{t: n for n, t in STRONG.items()}, **{t: n for n, t in WEAK.items()}}
KIND = {**{n: np.dtype(t).kind for n, t in STRONG.items()}, "pybool": "b", "pyint": "i", "pyfloat": "f"}
INTEGERS = {n for n in STRONG if KIND[n] in "iu"}
LOW, HIGH = -(1 << 63), (1 << 63) - 1


class Invalid(Exception):
    """The program is outside what is tested here."""


class Unspecified(Exception):
    """No rule fixes the result for these arguments."""


class Tuple(tuple):
    def __str__(self):
        return "(" + ", ".join(map(str, self)) + ("," if len(self) == 1 else "") + ")"


class Array:
    def __init__(self, dtype, ndim):
        self.dtype, self.ndim = dtype, ndim

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
    """t without the knowledge of its value."""
    if isinstance(t, Tuple):
        return Tuple(map(plain, t))
    return str(t) if isinstance(t, Const) else t


def constancy(t):
    return tuple(map(constancy, t)) if isinstance(t, Tuple) else isinstance(t, Const)


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
    if name is None:
        raise Invalid(f"{type(value)} is no type of a kernel")
    return name


def join(a, b):
    """The type of a variable that is a on one path and b on another: NumPy's promotion, NEP 50's for weak numbers."""
    a, b = plain(a), plain(b)
    if a == b:
        return a
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a) == len(b):
        return Tuple(join(x, y) for x, y in zip(a, b))
    if not (is_scalar(a) and is_scalar(b)):
        return CONFLICT
    if a in WEAK and b in WEAK:
        return max(a, b, key=list(WEAK).index)
    if a in STRONG and b in STRONG:
        return NAME_OF[np.promote_types(STRONG[a], STRONG[b]).type]
    weak, strong = (a, b) if a in WEAK else (b, a)
    if weak == "pybool":
        return strong
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


def converter(t):
    """C's conversion of a number to type t."""
    if t == "pybool":
        return bool
    if t == "pyfloat":
        return float
    if t == "pyint":
        return lambda v: saturated(v, LOW, HIGH) if isinstance(v, (float, np.floating)) else wrap(int(v))
    kind, make = KIND[t], STRONG[t]
    if kind in "bf":
        return make
    info = np.iinfo(make)

    def to_int(v):
        if isinstance(v, make):
            return v
        if isinstance(v, (float, np.floating)):
            return make(saturated(v, int(info.min), int(info.max)))
        return make(wrap(int(v), info.bits, kind == "i"))

    return to_int


CONVERT = {t: converter(t) for t in SAMPLE}


def convert(value, t):
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


def weak_shift(op, a, b):
    if 0 <= b < 64:
        return wrap(op(a, b))
    return -1 if op is operator.rshift and a < 0 else 0


def integer_power(a, b):
    """a ** b in 64 bits; 0 for a negative exponent."""
    return wrap(pow(int(a), int(b), 1 << 64)) if b >= 0 else 0


def weak_binary(name):
    """An operation of two weak numbers: Python's, wrapped at 64 bits, and defined for every operand."""
    op = python_operator(name)

    def compute(a, b):
        floats = isinstance(a, float) or isinstance(b, float)
        if name in ("LShift", "RShift"):
            return weak_shift(op, int(a), int(b))
        if name == "Pow":
            return float(np.float64(a) ** np.float64(b)) if floats else integer_power(a, b)
        if floats or name == "Div":
            return float(op(np.float64(a), np.float64(b)))
        if name in ("FloorDiv", "Mod") and b == 0:
            return 0
        result = op(a, b)
        return result if isinstance(result, bool) else wrap(result)

    return compute


def strong_power(a, b):
    """An integer power of which one operand at least is strong; the other fits it."""
    if isinstance(b, (int, np.integer)) and not isinstance(b, bool) and b < 0:
        return type(SAMPLE[type_of(a)] ** SAMPLE[type_of(b)])(0)
    return a**b


def python_round(x, digits=None):
    if digits is None:
        if isinstance(x, (float, np.floating)) and not math.isfinite(x):
            return saturated(float(x), LOW, HIGH)
        return min(max(round(float(x)), LOW), HIGH) if isinstance(x, (float, np.floating)) else wrap(int(x))
    raise Invalid("round to digits")


def python_abs(x):
    return wrap(abs(x)) if isinstance(x, int) and not isinstance(x, bool) else abs(x)


def weak_divmod(a, b):
    return weak_binary("FloorDiv")(a, b), weak_binary("Mod")(a, b)


def number(x):
    return x.item() if isinstance(x, np.generic) else x


def narrow(args):
    """math's own rule: float32 in, float32 out, unless a float64 or an integer beside it needs more."""
    return any(isinstance(a, np.float32) for a in args) and not any(
        isinstance(a, np.float64) for a in args
    )


def sign_matters(x):
    if x != x:
        raise Unspecified("the sign of a nan")
    return x


def exact_math(name):
    """A function of math whose result is one number, without a choice: the C library's, computed in double."""
    function = getattr(math, name)

    def compute(*args):
        plain = [number(a) for a in args]
        if name == "copysign":
            sign_matters(plain[1])
        try:
            result = function(*plain)
        except ValueError:
            result = math.nan if name in ("sqrt", "fmod") else saturated(float(plain[0]), LOW, HIGH)
        except OverflowError:
            if name == "ldexp":
                result = math.copysign(math.inf, plain[0])
            else:
                result = saturated(float(plain[0]), LOW, HIGH)

        def typed(r):
            if isinstance(r, float):
                return np.float32(r) if narrow(args) else r
            return r if isinstance(r, bool) else min(max(r, LOW), HIGH)

        return tuple(typed(r) for r in result) if isinstance(result, tuple) else typed(result)

    return compute


# Functions of one result: name, arity. Those of INEXACT have an error bound instead (accuracy.py).
EXACT_MATH = dict(sqrt=1, fabs=1, floor=1, ceil=1, trunc=1, isnan=1, isinf=1, isfinite=1, copysign=2, fmod=2)
INEXACT_MATH = dict(
    sin=1, cos=1, tan=1, asin=1, acos=1, atan=1, sinh=1, cosh=1, tanh=1, asinh=1, acosh=1, atanh=1,
    exp=1, expm1=1, log=1, log2=1, log10=1, log1p=1, erf=1, erfc=1, cbrt=1, exp2=1, atan2=2, hypot=2, pow=2,
)  # fmt: skip
EXACT_UFUNCS = dict(
    add=2, subtract=2, multiply=2, divide=2, true_divide=2, floor_divide=2, remainder=2, mod=2, fmod=2,
    negative=1, positive=1, absolute=1, abs=1, sign=1, square=1, sqrt=1, reciprocal=1, floor=1, ceil=1,
    trunc=1, rint=1, fabs=1, minimum=2, maximum=2, fmin=2, fmax=2, logical_and=2, logical_or=2,
    logical_xor=2, logical_not=1, isnan=1, isinf=1, isfinite=1, signbit=1, copysign=2, equal=2,
    not_equal=2, less=2, less_equal=2, greater=2, greater_equal=2, bitwise_and=2, bitwise_or=2,
    bitwise_xor=2, invert=1, left_shift=2, right_shift=2,
)  # fmt: skip
INEXACT_UFUNCS = dict(
    sin=1, cos=1, tan=1, arcsin=1, arccos=1, arctan=1, sinh=1, cosh=1, tanh=1, arcsinh=1, arccosh=1,
    arctanh=1, exp=1, exp2=1, expm1=1, log=1, log2=1, log10=1, log1p=1, cbrt=1, arctan2=2, hypot=2,
)  # fmt: skip


def exact_ufunc(name):
    ufunc = getattr(np, name)

    def compute(*args):
        if name == "signbit":
            sign_matters(args[0])
        if name == "copysign":
            sign_matters(args[1])
        return ufunc(*args)

    return compute


# --- the names that the rewritten source uses
# ---------------------------------------------------------------------------------

RUNTIME = {"np": np, "math": math, "_end": object(), "_round": python_round, "_abs": python_abs}
RUNTIME |= {f"_to_{t}": f for t, f in CONVERT.items()}
RUNTIME |= {f"_weak_{n}": weak_binary(n) for n in (
    "Add Sub Mult Div FloorDiv Mod Pow LShift RShift BitAnd BitOr BitXor".split())}  # fmt: skip
RUNTIME |= {"_power": strong_power, "_wrap": wrap, "_weak_divmod": weak_divmod, "_convert": convert}
RUNTIME |= {f"_math_{n}": exact_math(n) for n in EXACT_MATH}
RUNTIME |= {f"_np_{n}": exact_ufunc(n) for n in EXACT_UFUNCS}
RUNTIME["_contains"] = lambda x, items: any([bool(x == y) for y in items])
RUNTIME["_local"] = lambda shape, name: np.zeros(shape, STRONG[name])


def inexact_math(name):
    """In double, for the comparison within an error bound; float32 results are rounded once more."""
    function = getattr(math, name, None)

    def compute(*args):
        plain = [float(number(a)) for a in args]
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


RUNTIME |= {f"_math_{n}": inexact_math(n) for n in INEXACT_MATH}
RUNTIME |= {f"_np_{n}": getattr(np, n) for n in INEXACT_UFUNCS}


# --- the rewriter
# -----------------------------------------------------------------------------------------------------------


def call(name, *args):
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def load(name):
    return ast.Name(name, ast.Load())


def converted(node, have, want):
    """node of type have as an expression of type want."""
    if have == want:
        return node
    if want is CONFLICT:
        raise Invalid("no common type")
    if isinstance(want, Tuple):
        return call("_convert", node, call("_types_of", ast.Constant(repr(want))))
    return call(f"_to_{want}", node)


RUNTIME["_types_of"] = lambda text, memo={}: memo.get(text) or memo.setdefault(text, retuple(eval(text)))


def retuple(t):
    return Tuple(retuple(x) for x in t) if isinstance(t, tuple) else t


SAMPLES = {}


def sampled(key, function, types):
    """The type of function(samples of those types), remembered."""
    memo = (key, *types)
    if memo not in SAMPLES:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = function(*(SAMPLE[need_scalar(t)] for t in types))
            SAMPLES[memo] = (
                Tuple(map(type_of, result)) if isinstance(result, tuple) else type_of(result)
            )
        except (TypeError, ValueError, OverflowError) as e:
            SAMPLES[memo] = Invalid(f"{key} of {types}: {e}")
    found = SAMPLES[memo]
    if isinstance(found, Invalid):
        raise found
    return found


def is_literal(node):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    return isinstance(node, ast.Constant)


CONSTANT_NODES = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator)


def constant(node):
    """The value of an expression of literals only, else None: CPython's own compiler folds them."""
    if not all(isinstance(n, CONSTANT_NODES) for n in ast.walk(node)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = eval(compile(ast.Expression(node), "", "eval"), {})
    except (ArithmeticError, ValueError, TypeError) as e:
        raise Invalid(f"a constant that does not exist: {e}") from None
    if isinstance(value, int) and not LOW <= value <= HIGH:
        raise Invalid("a constant of more than 64 bits")
    return value


class Loop:
    def __init__(self):
        self.breaks, self.continues = [], []


class Meaning:
    """One program: its functions specialised for types, the rewritten source, the type of the result."""

    def __init__(self, source, name, types):
        self.tree = ast.parse(source)
        self.instances, self.bodies = {}, []
        self.counter = itertools.count()
        self.globals = {
            n.name: Func(n, {}, n.name) for n in self.tree.body if isinstance(n, ast.FunctionDef)
        }
        for n in self.tree.body:
            if isinstance(n, ast.Assign) and isinstance(n.value, ast.Lambda):
                self.globals[n.targets[0].id] = Func(n.value, {}, n.targets[0].id)
        self.inexact = {}  # result index → name of the function
        self.main = name
        entry, self.result, _ = self.instance(self.globals[name], tuple(types))
        if not isinstance(self.result, Tuple) or not all(map(is_scalar, self.result)):
            raise Invalid("the program returns no tuple of numbers")
        module = ast.Module(self.bodies, [])
        ast.fix_missing_locations(module)
        self.module, self.entry = module, entry

    def function(self):
        scope = dict(RUNTIME)
        exec(compile(self.module, "<meaning>", "exec"), scope)
        return scope[self.entry]

    # functions ---------------------------------------------------------------------------------------------

    def instance(self, func, types):
        """(name of the specialised function, type of its result, names it captures)."""
        captured = [n for n in free_names(func.node) if n in func.env]
        seen = (*types, *(func.env[n] for n in captured))
        key = (func.node, seen, tuple(map(constancy, seen)))
        if key in self.instances:
            found = self.instances[key]
            if found is None:
                raise Invalid("recursion")
            return found
        self.instances[key] = None
        env = {n: func.env[n] for n in captured}
        names = [a.arg for a in func.node.args.args]
        env.update(zip(names, types))
        walker = Body(self, env, func.qualname == self.main and func.qualname in self.globals)
        if isinstance(func.node, ast.Lambda):
            body, result = walker.expr(func.node.body)
            body = [ast.Return(body)]
        else:
            body, end = walker.block(func.node.body)
            if end is not None or not walker.returns:
                raise Invalid("a path without a result")
            result = walker.returns[0]
            for other in walker.returns[1:]:
                result = join(result, other)
            if result is CONFLICT:
                raise Invalid("results without a common type")
            if len(set(walker.returns)) > 1:
                body = [ReturnConversion(result).visit(s) for s in body]
        name = f"{func.qualname}__{next(self.counter)}"
        captured = [n for n in captured if not isinstance(func.env[n], Func)]
        passed = [n for n, t in zip(names, types) if not isinstance(t, Func)]
        parameters = [ast.arg(n) for n in captured + passed]
        arguments = ast.arguments([], parameters, None, [], [], None, [])
        definition = ast.FunctionDef(name, arguments, body, [], None)
        definition.type_params = []
        self.bodies.append(definition)
        self.instances[key] = name, result, captured
        return self.instances[key]


class ReturnConversion(ast.NodeTransformer):
    def __init__(self, result):
        self.result = result

    def visit_Return(self, node):
        return ast.Return(call("_convert", node.value, call("_types_of", ast.Constant(repr(self.result)))))


def stored(name):
    return isinstance(name.ctx, ast.Store)


def free_names(node):
    body = node.body if isinstance(node.body, list) else [node.body]
    seen = dict.fromkeys(n.id for b in body for n in ast.walk(b) if isinstance(n, ast.Name))
    return list(seen)


class Body:
    """Abstract interpretation of one function: every method returns the rewritten node and its type."""

    def __init__(self, meaning, env, is_main=False):
        self.m, self.env, self.is_main = meaning, env, is_main
        self.loops, self.returns = [], []
        self.conditional = 0
        self.known = True  # whether all operands met so far in the expression may be known

    # statements ----------------------------------------------------------------------------------------------

    def block(self, statements):
        """(rewritten statements, types after them or None where the end is not reached)."""
        out = []
        for s in statements:
            if self.env is None:
                break  # unreachable: Python does not look at it either
            method = getattr(self, f"s_{type(s).__name__}", None)
            if method is None:
                raise Invalid(type(s).__name__)
            result = method(s)
            out.extend(result if isinstance(result, list) else [result])
        return out or [ast.Pass()], self.env

    def meet(self, envs):
        """(types where these paths meet, conversions to put there)."""
        envs = [e for e in envs if e is not None]
        if not envs:
            return None, []
        met, conversions = {}, []
        for name in envs[0]:
            if not all(name in e for e in envs):
                continue
            t = envs[0][name]
            for e in envs[1:]:
                t = join(t, e[name])
            met[name] = t
            if t is not CONFLICT and any(e[name] != t for e in envs):
                conversions.append(self.convert_variable(name, t))
        return met, conversions

    @staticmethod
    def convert_variable(name, t):
        value = call("_convert", load(name), call("_types_of", ast.Constant(repr(t))))
        return ast.Assign([ast.Name(name, ast.Store())], value)

    def s_Pass(self, s):
        return ast.Pass()

    def s_Expr(self, s):
        return ast.Expr(self.expr(s.value)[0])

    def s_FunctionDef(self, s):
        self.env[s.name] = Func(s, dict(self.env), s.name)
        return []

    def bind(self, target, t):
        """Types of the names in an assignment's target."""
        if isinstance(target, ast.Name):
            self.env[target.id] = t
            return ast.Name(target.id, ast.Store())
        if isinstance(target, ast.Tuple):
            if isinstance(t, Array) and t.ndim == 1:
                raise Invalid("unpacking of an array")
            if not isinstance(t, Tuple) or len(t) != len(target.elts):
                raise Invalid("unpacking")
            return ast.Tuple([self.bind(x, y) for x, y in zip(target.elts, t)], ast.Store())
        raise Invalid("target")

    def s_Assign(self, s):
        if isinstance(s.value, ast.Lambda) and isinstance(s.targets[0], ast.Name):
            name = s.targets[0].id
            self.env[name] = Func(s.value, dict(self.env), name)
            return []
        value, t = self.expr(s.value)
        if len(s.targets) != 1:
            if not all(isinstance(x, ast.Name) for x in s.targets):
                raise Invalid("chained targets")
            return ast.Assign([self.bind(x, t) for x in s.targets], value)
        if isinstance(s.targets[0], ast.Subscript):
            return self.store(s.targets[0], value, t)
        return ast.Assign([self.bind(s.targets[0], t)], value)

    def store(self, target, value, t):
        place, element = self.subscript(target, ast.Store())
        if isinstance(element, Array):
            if isinstance(t, Array):
                if t.dtype != element.dtype:
                    raise Invalid("conversion of a slice")
                return ast.Assign([place], value)
            element = element.dtype
        if not is_scalar(element):
            raise Invalid("store")
        return ast.Assign([place], call(f"_to_{element}", self.number(value, t)))

    def number(self, value, t):
        need_scalar(t)
        return value

    def s_AugAssign(self, s):
        if isinstance(s.target, ast.Name):
            old = load(s.target.id)
            value, t = self.expr(ast.BinOp(old, s.op, s.value))
            return ast.Assign([self.bind(ast.Name(s.target.id, ast.Store()), t)], value)
        # The place is evaluated once: its subscript goes to a name first.
        out, index = [], s.target.slice
        name = f"_i{next(self.m.counter)}"
        rewritten, it = self.index(index)
        out.append(ast.Assign([ast.Name(name, ast.Store())], rewritten))
        array, at = self.expr(s.target.value)
        element = self.element(at, it)
        if not is_scalar(element):
            raise Invalid("augmented assignment of a slice")
        old = ast.Subscript(array, load(name), ast.Load())
        right, rt = self.expr(s.value)
        value, t = self.binary(type(s.op).__name__, (old, element), (right, rt), s.value)
        place = ast.Subscript(array, load(name), ast.Store())
        return [*out, ast.Assign([place], call(f"_to_{element}", value))]

    def s_If(self, s):
        test, t = self.expr(s.test)
        self.truth(t)
        before = dict(self.env)
        then, after_then = self.block(s.body)
        self.env = before
        other, after_else = self.block(s.orelse) if s.orelse else ([], before)
        self.env, conversions = self.meet([after_then, after_else])
        return [ast.If(test, then, other), *conversions]

    def truth(self, t):
        if isinstance(t, Const):
            raise Invalid("a condition that may be known")
        if isinstance(t, Tuple) or isinstance(t, (Array, Func)) or t is CONFLICT:
            raise Invalid("truth")

    def loop(self, body, step, orelse):
        """A loop as `while True`: step() gives the statements of its head that may leave it."""
        before = self.env
        assigned = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and stored(n)}
        head = {n: plain(t) if n in assigned else t for n, t in before.items()}
        for _ in range(12):
            self.env = dict(head)
            loop = Loop()
            self.loops.append(loop)
            flag = f"_done{next(self.m.counter)}"
            enter, leave_env = step(flag)
            inner, end = self.block(body)
            self.loops.pop()
            met, _ = self.meet([head, end, *loop.continues])
            # A name set before the loop stays set.
            if met == head:
                break
            head = met
        else:
            raise Invalid("types that do not settle")
        conversions = [
            self.convert_variable(n, t)
            for n, t in head.items()
            if is_scalar(t) or isinstance(t, Tuple)
            if any(n in e and e[n] != t for e in [before, end or {}, *loop.continues])
        ]
        self.env = dict(leave_env)
        other, after = self.block(orelse) if orelse else ([], self.env)
        self.env, last = self.meet([after, *loop.breaks])
        out = [
            ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(False)),
            ast.While(ast.Constant(True), [*conversions, *enter, *inner], []),
        ]
        if orelse:
            out.append(ast.If(load(flag), other, []))
        return [*out, *last]

    def s_While(self, s):
        def step(flag):
            test, t = self.expr(s.test)
            self.truth(t)
            leave = [ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(True)), ast.Break()]
            return [ast.If(ast.UnaryOp(ast.Not(), test), leave, [])], dict(self.env)

        return self.loop(s.body, step, s.orelse)

    def s_For(self, s):
        iterable, items = self.iterable(s.iter)
        state = f"_it{next(self.m.counter)}"

        def step(flag):
            leave_env = dict(self.env)
            item = f"_x{next(self.m.counter)}"
            leave = [ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(True)), ast.Break()]
            return [
                ast.Assign([ast.Name(item, ast.Store())], call("next", load(state), load("_end"))),
                ast.If(ast.Compare(load(item), [ast.Is()], [load("_end")]), leave, []),
                ast.Assign([self.bind(s.target, items)], self.as_type(load(item), items)),
            ], leave_env

        return [
            ast.Assign([ast.Name(state, ast.Store())], call("iter", iterable)),
            *self.loop(s.body, step, s.orelse),
        ]

    @staticmethod
    def as_type(node, t):
        if is_scalar(t) or isinstance(t, Tuple) and not has_array(t):
            return call("_convert", node, call("_types_of", ast.Constant(repr(t))))
        return node

    def iterable(self, node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name = node.func.id
            if name == "range":
                args = [self.expr(a) for a in node.args]
                for _, t in args:
                    if t not in INTEGERS and t not in ("pyint", "pybool"):
                        raise Invalid("range of floats")
                return call("range", *(a for a, _ in args)), "pyint"
            if name == "enumerate":
                inner, t = self.iterable(node.args[0])
                rest = [self.expr(a)[0] for a in node.args[1:]]
                return call("enumerate", inner, *rest), Tuple(("pyint", t))
            if name == "zip":
                parts = [self.iterable(a) for a in node.args]
                return call("zip", *(p for p, _ in parts)), Tuple(t for _, t in parts)
        value, t = self.expr(node)
        if isinstance(t, Array):
            return value, t.dtype if t.ndim == 1 else Array(t.dtype, t.ndim - 1)
        if isinstance(t, Tuple) and t:
            item = t[0]
            for other in t[1:]:
                item = join(item, other)
            if item is CONFLICT:
                raise Invalid("items without a common type")
            return value, item
        raise Invalid("iteration")

    def s_Break(self, s):
        self.loops[-1].breaks.append(self.env)
        self.env = None
        return ast.Break()

    def s_Continue(self, s):
        self.loops[-1].continues.append(self.env)
        self.env = None
        return ast.Continue()

    def s_Return(self, s):
        if self.is_main and isinstance(s.value, ast.Tuple):
            parts = []
            for k, e in enumerate(s.value.elts):
                name = inexact_name(e)
                if name:
                    self.m.inexact[k] = name
                parts.append(self.expr(e, inexact_here=bool(name)))
            value = ast.Tuple([p for p, _ in parts], ast.Load())
            t = Tuple(t for _, t in parts)
        else:
            value, t = self.expr(s.value)
        self.returns.append(t)
        self.env = None
        return ast.Return(value)

    def s_Match(self, s):
        subject, t = self.expr(s.subject)
        for x in t if isinstance(t, Tuple) else [t]:
            self.truth(x)
        paths, cases, exhaustive = [], [], False
        for case in s.cases:
            before = dict(self.env)
            self.pattern(case.pattern, t)
            guard = self.expr(case.guard)[0] if case.guard else None
            body, after = self.block(case.body)
            paths.append(after)
            cases.append(ast.match_case(case.pattern, guard, body))
            self.env = before
            if guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None:
                exhaustive = True
                break
        if not exhaustive:
            paths.append(dict(self.env))
        self.env, conversions = self.meet(paths)
        return [ast.Match(subject, cases), *conversions]

    def pattern(self, p, t):
        if isinstance(p, ast.MatchValue):
            need_scalar(t)
        elif isinstance(p, ast.MatchOr):
            for q in p.patterns:
                self.pattern(q, t)
        elif isinstance(p, ast.MatchAs):
            if p.pattern is not None:
                self.pattern(p.pattern, t)
            if p.name:
                self.env[p.name] = t
        elif isinstance(p, ast.MatchSequence):
            if not isinstance(t, Tuple) or len(t) != len(p.patterns):
                raise Invalid("pattern")
            for q, x in zip(p.patterns, t):
                self.pattern(q, x)
        else:
            raise Invalid("pattern")

    # expressions ---------------------------------------------------------------------------------------------

    def expr(self, e, inexact_here=False):
        if not inexact_here and inexact_name(e):
            raise Invalid("an inexact function inside an expression")
        method = getattr(self, f"e_{type(e).__name__}", None)
        if method is None:
            raise Invalid(type(e).__name__)
        outer, self.known = self.known, True
        node, t = method(e)
        if is_scalar(t) and self.known and not isinstance(e, (ast.Name, ast.Subscript, ast.Attribute)):
            t = Const(t)
        self.known = outer and (isinstance(t, Const) or isinstance(t, Tuple) and all_known(t))
        return node, t

    def e_Constant(self, e):
        if not isinstance(e.value, (bool, int, float)):
            raise Invalid("constant")
        if isinstance(e.value, int) and not LOW <= e.value <= HIGH:
            raise Invalid("literal of more than 64 bits")
        return e, type_of(e.value)

    def e_Name(self, e):
        t = self.env.get(e.id, self.m.globals.get(e.id))
        if t is None or t is CONFLICT:
            raise Invalid(f"{e.id} is unset or has no type")
        return load(e.id), t

    def e_NamedExpr(self, e):
        if self.conditional:
            raise Invalid("assignment on some paths of an expression")
        value, t = self.expr(e.value)
        return ast.NamedExpr(self.bind(e.target, t), value), t

    def e_Tuple(self, e):
        parts = [self.expr(x) for x in e.elts]
        return ast.Tuple([p for p, _ in parts], ast.Load()), Tuple(t for _, t in parts)

    def e_BinOp(self, e):
        left, right = self.expr(e.left), self.expr(e.right)
        return self.binary(type(e.op).__name__, left, right, e.right, e.left)

    def binary(self, name, left, right, right_source=None, left_source=None):
        (a, ta), (b, tb) = left, right
        need_scalar(ta), need_scalar(tb)
        if left_source is not None and right_source is not None:
            constant(ast.BinOp(left_source, getattr(ast, name)(), right_source))
        op = python_operator(name)
        t = sampled(name, op, (ta, tb))
        if ta in WEAK and tb in WEAK:
            return call(f"_weak_{name}", a, b), t
        if name == "Div" and "pyint" in (ta, tb) and INTEGERS & {ta, tb}:
            a, b = call("_to_float64", a), call("_to_float64", b)  # does not wrap: no integer results
        else:
            a, b = self.fitted(a, ta, tb, left_source), self.fitted(b, tb, ta, right_source)
        if name == "Pow" and KIND[t] == "f":
            raise Invalid("an inexact power inside an expression")
        if name == "Pow":
            return call("_power", a, b), t
        node = ast.BinOp(a, getattr(ast, name)(), b)
        return node, t

    @staticmethod
    def fitted(node, t, other, source=None):
        """A weak integer beside a strong one, as it wraps; a literal must fit, as in NumPy."""
        if t != "pyint" or other not in INTEGERS:
            return node
        value = None if source is None else constant(source)
        if value is not None:
            if not np.iinfo(other).min <= value <= np.iinfo(other).max:
                raise Invalid("literal out of range")
            return node
        if isinstance(t, Const):
            raise Invalid("a number that may be known and may not fit")
        return call("int", call(f"_to_{other}", node))

    def e_UnaryOp(self, e):
        value, t = self.expr(e.operand)
        if isinstance(e.op, ast.Not):
            self.truth(t)
            return ast.UnaryOp(e.op, value), "pybool"
        result = sampled(type(e.op).__name__, python_operator(type(e.op).__name__), (need_scalar(t),))
        node = ast.UnaryOp(e.op, value)
        if is_literal(e):
            return e, result
        return (call("_wrap", node) if result == "pyint" else node), result

    def e_Compare(self, e):
        operands = [self.expr(x) for x in (e.left, *e.comparators)]
        if any(isinstance(o, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for o in e.ops):
            return self.membership(e, operands)
        result = None
        for (_, a), o, (_, b) in zip(operands, e.ops, operands[1:]):
            t = sampled(type(o).__name__, python_operator(type(o).__name__), (a, b))
            if isinstance(a, Const) and isinstance(b, Const) and len(e.ops) > 1:
                raise Invalid("a condition that may be known")
            result = t if result is None else join(result, t)
        node = ast.Compare(operands[0][0], e.ops, [n for n, _ in operands[1:]])
        return (node if len(e.ops) == 1 else call(f"_to_{result}", node)), result

    def membership(self, e, operands):
        (x, tx), (items, ti) = operands
        if len(e.ops) != 1 or not isinstance(e.ops[0], (ast.In, ast.NotIn)) or not isinstance(ti, Tuple):
            raise Invalid("identity")
        for t in (tx, *ti):
            need_scalar(t)
        node = call("_contains", x, items)  # by ==: Python finds a nan that is the same object
        return (ast.UnaryOp(ast.Not(), node) if isinstance(e.ops[0], ast.NotIn) else node), "pybool"

    def e_BoolOp(self, e):
        node, true, false = self.logic(e)
        return converted_any(node, [None], join(true, false))

    def logic(self, e):
        """(rewritten, type of the value if it is true, if it is false): `a or b` is a only where a is true."""
        if not isinstance(e, ast.BoolOp):
            node, t = self.expr(e)
            return node, t, t
        parts, stays, last = [], [], None
        for k, x in enumerate(e.values):
            self.conditional += k > 0
            node, true, false = self.logic(x)
            self.conditional -= k > 0
            if k < len(e.values) - 1:
                self.truth(true), self.truth(false)
                stays.append(false if isinstance(e.op, ast.And) else true)
            parts.append(node)
            last = true, false
        for t in stays:
            if isinstance(e.op, ast.And):
                last = last[0], join(last[1], t)
            else:
                last = join(last[0], t), last[1]
        return ast.BoolOp(e.op, parts), *last

    def e_IfExp(self, e):
        test, t = self.expr(e.test)
        self.truth(t)
        self.conditional += 1
        (a, ta), (b, tb) = self.expr(e.body), self.expr(e.orelse)
        self.conditional -= 1
        return converted_any(ast.IfExp(test, a, b), [ta, tb], join(ta, tb))

    def e_Attribute(self, e):
        value, t = self.expr(e.value)
        if isinstance(t, Array):
            if e.attr == "ndim":
                return ast.Attribute(value, e.attr, ast.Load()), Const("pyint")
            self.known = False
            if e.attr == "size":
                return ast.Attribute(value, e.attr, ast.Load()), "pyint"
            if e.attr == "shape":
                return ast.Attribute(value, e.attr, ast.Load()), Tuple(["pyint"] * t.ndim)
            if e.attr == "T":
                return ast.Attribute(value, e.attr, ast.Load()), t
        raise Invalid(e.attr)

    def e_Subscript(self, e):
        return self.subscript(e, ast.Load())

    def subscript(self, e, context):
        value, t = self.expr(e.value)
        if isinstance(t, Tuple):
            return self.tuple_item(e, value, t)
        index, it = self.index(e.slice)
        return ast.Subscript(value, index, context), self.element(t, it)

    def tuple_item(self, e, value, t):
        index, it = self.expr(e.slice)
        if is_literal(e.slice):
            k = ast.literal_eval(e.slice)
            if not -len(t) <= k < len(t):
                raise Invalid("tuple index")
            return ast.Subscript(value, index, ast.Load()), t[k]
        if it != "pyint" and it not in INTEGERS:
            raise Invalid("tuple index")
        if any(x != t[0] for x in t):
            raise Invalid("an index that is no constant into a tuple of several types")
        return ast.Subscript(value, index, ast.Load()), t[0]

    def index(self, node):
        """A subscript: (rewritten, a list of 'slice', 'int', 'new')."""
        if isinstance(node, ast.Tuple):
            parts = [self.index(x) for x in node.elts]
            return ast.Tuple([p for p, _ in parts], ast.Load()), [k for _, ks in parts for k in ks]
        if isinstance(node, ast.Slice):
            bounds = []
            for part in (node.lower, node.upper, node.step):
                bounds.append(None if part is None else self.integer(part))
            return ast.Call(load("slice"), [ast.Constant(None) if b is None else b for b in bounds], []), [
                "slice"
            ]
        value, t = self.expr(node)
        if isinstance(t, Tuple) and all(x == "pyint" or x in INTEGERS for x in t):
            return value, ["int"] * len(t)
        if t != "pyint" and t not in INTEGERS:
            raise Invalid("index")
        return value, ["int"]

    def integer(self, node):
        value, t = self.expr(node)
        if t != "pyint" and t not in INTEGERS:
            raise Invalid("index")
        return value

    def element(self, t, kinds):
        if not isinstance(t, Array) or len(kinds) > t.ndim:
            raise Invalid("subscript")
        self.known = False  # memory
        left = t.ndim - kinds.count("int")
        return Array(t.dtype, left) if left else t.dtype

    # calls -----------------------------------------------------------------------------------------------------

    def e_Call(self, e):
        if isinstance(e.func, ast.Name):
            t = self.env.get(e.func.id, self.m.globals.get(e.func.id))
            if isinstance(t, Func):
                return self.call_function(t, e)
            method = getattr(self, f"c_{e.func.id}", None)
            if method is None or e.keywords:
                raise Invalid(e.func.id)
            return method([self.expr(a) for a in e.args], e)
        if isinstance(e.func, ast.Lambda):
            return self.call_function(Func(e.func, dict(self.env), "lambda_"), e)
        path = ast.unparse(e.func)
        if path == "cuda.local.array":
            shape = ast.literal_eval(e.args[0])
            name = ast.unparse(e.args[1]).removeprefix("np.")
            t = Array(name, len(shape) if isinstance(shape, tuple) else 1)
            return call("_local", e.args[0], ast.Constant(name)), t
        args = [self.expr(a) for a in e.args]
        room, _, name = path.partition(".")
        if room == "np":
            return self.numpy(name, args, e)
        if room == "math":
            return self.math(name, args)
        raise Invalid(path)

    def call_function(self, func, e):
        parameters = [a.arg for a in func.node.args.args]
        defaults = func.node.args.defaults
        given = dict(zip(parameters, (self.argument(a) for a in e.args)))
        if len(e.args) > len(parameters):
            raise Invalid("arguments")
        for k in e.keywords:
            if k.arg in given or k.arg not in parameters:
                raise Invalid("arguments")
            given[k.arg] = self.argument(k.value)
        for name, default in zip(parameters[len(parameters) - len(defaults) :], defaults):
            if name not in given:
                if not is_literal(default):
                    raise Invalid("default")
                given[name] = (default, type_of(ast.literal_eval(default)))
        if len(given) != len(parameters):
            raise Invalid("arguments")
        name, result, captured = self.m.instance(func, tuple(given[p][1] for p in parameters))
        # In the order of the call, as Python evaluates them, and by name, as they are passed.
        keywords = [
            ast.keyword(p, node) for p, (node, t) in given.items() if not isinstance(t, Func)
        ]
        return ast.Call(load(name), [load(c) for c in captured], keywords), result

    def argument(self, a):
        value, t = self.expr(a)
        return value, t

    def c_abs(self, args, e):
        t = sampled("abs", abs, [t for _, t in args])
        return call("_abs", args[0][0]), t

    def min_or_max(self, name, args):
        if len(args) < 2:
            raise Invalid(name)
        result = args[0][1]
        for _, t in args:
            result = join(need_scalar(result), need_scalar(t))
        return converted_any(call(name, *(a for a, _ in args)), [t for _, t in args], result)

    def c_min(self, args, e):
        return self.min_or_max("min", args)

    def c_max(self, args, e):
        return self.min_or_max("max", args)

    def c_round(self, args, e):
        if len(args) != 1 or KIND[need_scalar(args[0][1])] == "b":
            raise Invalid("round")
        return call("_round", args[0][0]), "pyint"

    def c_int(self, args, e):
        need_scalar(args[0][1])
        return call("_to_pyint", args[0][0]), "pyint"

    def c_float(self, args, e):
        need_scalar(args[0][1])
        return call("float", args[0][0]), "pyfloat"

    def c_bool(self, args, e):
        self.truth(args[0][1])
        return call("bool", args[0][0]), "pybool"

    def c_len(self, args, e):
        if not isinstance(args[0][1], (Array, Tuple)):
            raise Invalid("len")
        self.known = isinstance(args[0][1], Tuple)
        return call("len", args[0][0]), "pyint"

    def c_pow(self, args, e):
        return self.binary("Pow", args[0], args[1], e.args[1], e.args[0])

    def c_divmod(self, args, e):
        (a, ta), (b, tb) = args
        t = sampled("divmod", divmod, (need_scalar(ta), need_scalar(tb)))
        if ta in WEAK and tb in WEAK:
            return call("_weak_divmod", a, b), t
        a, b = self.fitted(a, ta, tb, e.args[0]), self.fitted(b, tb, ta, e.args[1])
        return call("divmod", a, b), t

    def numpy(self, name, args, e):
        name = "bool" if name == "bool_" else name
        types = [need_scalar(t) for _, t in args]
        if name in STRONG and len(args) == 1:
            if name in INTEGERS and isinstance(types[0], Const) and types[0] == "pyint":
                self.fitted(args[0][0], types[0], name, e.args[0])  # np.uint8(-1) is an error
            return call(f"_to_{name}", args[0][0]), name
        arity = EXACT_UFUNCS.get(name) or INEXACT_UFUNCS.get(name)
        if arity != len(args):
            raise Invalid(name)
        t = sampled(f"np.{name}", getattr(np, name), types)
        self.class_known(name, types[0])
        nodes = [a for a, _ in args]
        if arity == 2:
            nodes = [
                self.fitted(nodes[0], types[0], types[1], e.args[0]),
                self.fitted(nodes[1], types[1], types[0], e.args[1]),
            ]
        return call(f"_np_{name}", *nodes), t

    def class_known(self, name, t):
        """isnan of an integer is no question."""
        if name in ("isnan", "isinf", "isfinite", "signbit") and KIND[t] != "f":
            self.known = True

    def math(self, name, args):
        arity = EXACT_MATH.get(name) or INEXACT_MATH.get(name)
        if arity != len(args):
            raise Invalid(name)
        types = [need_scalar(t) for _, t in args]
        self.class_known(name, types[0])
        t = sampled(f"math.{name}", RUNTIME[f"_math_{name}"], types)
        return call(f"_math_{name}", *(a for a, _ in args)), t


def all_known(t):
    return all(all_known(x) if isinstance(x, Tuple) else isinstance(x, Const) for x in t)


def has_array(t):
    return isinstance(t, Array) or isinstance(t, Tuple) and any(map(has_array, t))


def converted_any(node, types, result):
    """node, whose type is one of types as the run goes, in the type that a kernel gives it."""
    if result is CONFLICT:
        raise Invalid("no common type")
    if all(t == result for t in types):
        return node, result
    return call("_convert", node, call("_types_of", ast.Constant(repr(result)))), result


def inexact_name(e):
    """The path of a call whose result has an error bound, else None."""
    if not isinstance(e, ast.Call) or not isinstance(e.func, ast.Attribute):
        return None
    path = ast.unparse(e.func)
    room, _, name = path.partition(".")
    table = {"math": INEXACT_MATH, "np": INEXACT_UFUNCS}.get(room, {})
    return path if name in table else None
