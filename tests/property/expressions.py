"""Expressions under abstract interpretation: every method gives the rewritten node and its type."""

import ast
import functools

from math_functions import EXACT_MATH, INEXACT_MATH, INTEGER_MATH
import numpy as np
from other_kinds import OtherKinds, dtype_name
from reductions import REDUCTIONS, Reductions
from rewriting import as_type, call, constant, constant_type, inexact_name, is_literal, load, path_of, sampled, spec
from scalars import (
    CONFLICT,
    EXACT_EXPONENTS,
    EXACT_UFUNCS,
    HIGH,
    INEXACT_UFUNCS,
    INTEGERS,
    KIND,
    LOW,
    OTHER_UFUNCS,
    REAL,
    RUNTIME,
    STRONG,
    WEAK,
    Array,
    Const,
    Func,
    Invalid,
    Maybe,
    NamedClass,
    Tuple,
    held,
    is_date,
    is_scalar,
    join,
    known,
    leaves_of,
    mixed,
    need_scalar,
    plain,
    python_operator,
    type_of,
)


ORDER = dict(Lt="less", LtE="less_equal", Gt="greater", GtE="greater_equal")


def has_known_branch(e):
    """Whether one branch in it is a number. CPython copies short ends of functions into branches, 3.14 more of them:
    what follows then works with the number."""
    return any(constant(b) is not None for x in ast.walk(e) if isinstance(x, ast.IfExp) for b in (x.body, x.orelse))


class Expressions(OtherKinds, Reductions):
    """What Body knows of expressions; it has the environment `env`, the program `m`."""

    def expr(self, e, inexact_here=False):
        """The value of an expression, in the expression's type."""
        return self.settled(*self.raw(e, inexact_here))

    @staticmethod
    def settled(node, t):
        return (as_type(node, t), plain(t)) if mixed(t) else (node, t)

    def raw(self, e, inexact_here=False):
        """An expression that may be a variable, or one of several values: of the type that it came with, one of those its own joins."""
        if not inexact_here and inexact_name(e):
            raise Invalid("an inexact function inside an expression")
        method = getattr(self, f"e_{type(e).__name__}", None)
        if method is None:
            raise Invalid(type(e).__name__)
        found = self.seen(e) if self.seen else None
        if found is not None:
            self.known = self.known and constant_type(found)
            return e, found
        outer, self.known = self.known, True
        node, t = method(e)
        if self.known and not isinstance(e, (ast.Name, ast.Subscript, ast.Attribute)):
            t = known(t)
        self.known = outer and constant_type(t)
        return node, t

    def e_Constant(self, e):
        if not isinstance(e.value, (bool, int, float, complex)):
            raise Invalid("constant")
        if isinstance(e.value, int) and not LOW <= e.value <= HIGH:
            raise Invalid("literal of more than 64 bits")
        return e, type_of(e.value)

    def e_Name(self, e):
        t = self.env.get(e.id, self.m.globals.get(e.id))
        if isinstance(t, Maybe):
            if self.items is not None:
                raise Invalid(f"{e.id} is captured and may be unset")
            self.m.reads_unset = True
            return call("_read", call("locals"), ast.Constant(e.id), call("_types_of", ast.Constant(spec(plain(t.t))))), t.t
        if t is None or t is CONFLICT:
            raise Invalid(f"{e.id} is unset or has no type")
        if self.items is not None and e.id not in self.items:  # captured: read for the function that a generator expression is
            return self.settled(load(e.id), t)
        return load(e.id), t

    def e_NamedExpr(self, e):
        if self.conditional:
            raise Invalid("assignment on some paths of an expression")
        value, t = self.raw(e.value)
        return ast.NamedExpr(self.bind(e.target, t), value), t

    def e_Tuple(self, e):
        parts = [self.expr(x) for x in e.elts]
        return ast.Tuple([p for p, _ in parts], ast.Load()), Tuple(t for _, t in parts)

    def e_BinOp(self, e):
        inexact = e is self.inexact_power
        left, right = self.expr(e.left), self.expr(e.right)
        return self.binary(type(e.op).__name__, left, right, e.right, e.left, inexact)

    def binary(self, name, left, right, right_source=None, left_source=None, inexact=False):
        (a, ta), (b, tb) = left, right
        need_scalar(ta), need_scalar(tb)
        if is_date(ta) or is_date(tb):
            return self.date_binary(name, left, right)
        (a, ta), (b, tb) = self.complex_beside(left, tb), self.complex_beside(right, ta)
        if left_source is not None and right_source is not None:
            if constant(left_source) is not None and constant(right_source) is not None:
                constant(ast.BinOp(left_source, getattr(ast, name)(), right_source))
        op = python_operator(name)
        t = sampled(name, op, (ta, tb))
        self.known |= name == "Pow" and is_literal(right_source) and not ast.literal_eval(right_source)
        if name == "Pow" and t == "pyint" and isinstance(tb, Const):
            if not is_literal(right_source):
                raise Invalid("an exponent that may be known")
            if ast.literal_eval(right_source) < 0:  # Python: 2 ** -1 is 0.5
                t = "pyfloat"
        if name == "Pow" and KIND[t] == "c":
            if not is_literal(right_source) or tb != "pyint" or not -4 <= ast.literal_eval(right_source) <= 9:
                raise Invalid("an inexact power of a complex number")
        if name == "Pow" and KIND[t] == "f":
            return self.float_power(left, right, t, right_source, left_source, inexact), t
        if ta in WEAK and tb in WEAK:
            return call(f"_{'known' if isinstance(ta, Const) and isinstance(tb, Const) else 'weak'}_{name}", a, b), t
        if name == "Div" and "pyint" in (ta, tb) and INTEGERS & {ta, tb}:
            a, b = call("_to_float64", a), call("_to_float64", b)  # does not wrap: no integer results
        else:
            a, b = self.fitted(a, ta, tb, left_source), self.fitted(b, tb, ta, right_source)
        if name == "Pow":
            return call("_power", a, b), t
        node = ast.BinOp(a, getattr(ast, name)(), b)
        return node, t

    def float_power(self, left, right, t, exponent, base, inexact):
        (a, ta), (b, tb) = left, right
        if isinstance(ta, Const) or base is not None and has_known_branch(base):
            raise Invalid("a power that may be known")
        n = ast.literal_eval(exponent) if is_literal(exponent) else None
        if n in EXACT_EXPONENTS and type(n) is not bool:
            return call("_float_power", a, b, ast.Constant(str(t)))
        if not inexact:
            raise Invalid("an inexact power inside an expression")
        self.inexact_power = None  # met
        if ta in WEAK and tb in WEAK:
            return call("_weak_Pow", a, b)
        return call("_inexact_power", a, b)

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
        if len(operands) == 2:
            (_, a), (_, b) = operands
            operands = [self.complex_beside(operands[0], b), self.complex_beside(operands[1], a)]
        elif any(KIND[need_scalar(t)] not in REAL for _, t in operands):
            raise Invalid("a chain of other things than real numbers")
        for (_, a), o, (_, b) in zip(operands, e.ops, operands[1:]):
            t = sampled(type(o).__name__, python_operator(type(o).__name__), (a, b))
            if {a, b} == {"pyint", "pyfloat"}:
                if len(e.ops) > 1:
                    raise Invalid("a chain of ints and floats")
                # A float beside it makes a weak integer a float64, in comparisons too.
                operands = [(call("float", n), "pyfloat") for n, _ in operands]
            if isinstance(a, Const) and isinstance(b, Const) and len(e.ops) > 1:
                raise Invalid("a condition that may be known")
            result = t if result is None else join(result, t)
            if "c" in KIND[a] + KIND[b] and type(o).__name__ in ORDER:
                return call(f"_np_{ORDER[type(o).__name__]}", *(n for n, _ in operands)), t
        node = ast.Compare(operands[0][0], e.ops, [n for n, _ in operands[1:]])
        result = plain(result) if len(e.ops) > 1 else result
        return (node if len(e.ops) == 1 else call(f"_to_{result}", node)), result

    def membership(self, e, operands):
        (x, tx), (items, ti) = operands
        if len(e.ops) != 1 or not isinstance(e.ops[0], (ast.In, ast.NotIn)) or not isinstance(ti, Tuple):
            raise Invalid("identity")
        for t in (tx, *ti):
            if KIND[need_scalar(t)] != KIND[tx] and not {KIND[t], KIND[tx]} <= set(REAL):
                raise Invalid("a search among things of other kinds")
            sampled("Eq", python_operator("Eq"), (tx, t))
            if {t, tx} == {"pyint", "pyfloat"}:
                raise Invalid("a search among ints and floats")
        self.known |= isinstance(tx, Const) and any(isinstance(t, Const) for t in ti)
        node = call("_contains", x, items)  # by ==: Python finds a nan that is the same object
        return (ast.UnaryOp(ast.Not(), node) if isinstance(e.ops[0], ast.NotIn) else node), "pybool"

    def e_BoolOp(self, e):
        node, true, false = self.logic(e)
        result = join(true, false)
        if result is CONFLICT:
            raise Invalid("no common type")
        return node, result

    e_IfExp = e_BoolOp

    def logic(self, e, last=True):
        """(rewritten, type of the value if it is true, if it is false): `a or b` is a only where a is true.

        Nested ones meet in one place. Only an operand that is tested next has its paths meet before that.
        """
        if isinstance(e, ast.IfExp):
            if not last and isinstance(e.body, (ast.IfExp, ast.BoolOp)):
                raise Invalid("paths that meet at a test, perhaps")
            if not last and isinstance(e.orelse, (ast.IfExp, ast.BoolOp)):
                raise Invalid("paths that meet at a test, perhaps")
            test = self.test(e.test)
            self.conditional += 1
            (a, *ta), (b, *tb) = self.logic(e.body), self.logic(e.orelse)
            self.conditional -= 1
            true, false = join(ta[0], tb[0]), join(ta[1], tb[1])
            if not last:
                true = false = join(true, false)
            return ast.IfExp(test, a, b), true, false
        if not isinstance(e, ast.BoolOp):
            node, t = self.raw(e)
            return node, t, t
        parts, stays, ends = [], [], None
        for k, x in enumerate(e.values):
            self.conditional += k > 0
            node, true, false = self.logic(x, last and k == len(e.values) - 1)
            self.conditional -= k > 0
            self.truth(true), self.truth(false)
            if k < len(e.values) - 1:
                if any(not held(leaf, t) for t in (true, false) for leaf in leaves_of(t)):
                    raise Invalid("a test of a value that is converted for the test alone")
                stays.append(false if isinstance(e.op, ast.And) else true)
            parts.append(node)
            ends = true, false
        for t in stays:
            if isinstance(e.op, ast.And):
                ends = ends[0], join(ends[1], t)
            else:
                ends = join(ends[0], t), ends[1]
        return ast.BoolOp(e.op, parts), *ends

    def e_Attribute(self, e):
        return self.attribute(e, ast.Load())

    def attribute(self, e, context):
        value, t = self.expr(e.value)
        field = self.field(t, e.attr)
        if field is not None:
            return ast.Attribute(value, e.attr, context), field
        if isinstance(t, Array):
            if e.attr == "ndim":
                return ast.Attribute(value, e.attr, ast.Load()), Const("pyint")
            self.known = False
            extent = Const("pyint") if t.known else "pyint"
            if e.attr == "size":
                return ast.Attribute(value, e.attr, ast.Load()), extent
            if e.attr == "shape":
                return ast.Attribute(value, e.attr, ast.Load()), Tuple([extent] * t.ndim)
            if e.attr == "T":
                return ast.Attribute(value, e.attr, ast.Load()), t
        elif is_scalar(t) and e.attr in ("real", "imag") and KIND[t] == "c":
            part = {"complex64": "float32", "complex128": "float64", "pycomplex": "pyfloat"}[t]
            return ast.Attribute(value, e.attr, ast.Load()), Const(part) if isinstance(t, Const) or e.attr == "imag" else part  # 0.0 of what was real
        raise Invalid(e.attr)

    def e_Subscript(self, e):
        return self.subscript(e, ast.Load())

    def subscript(self, e, context):
        value, t = self.expr(e.value)
        if isinstance(t, Tuple):
            return self.tuple_item(e, value, t)
        if isinstance(e.slice, ast.Constant) and isinstance(e.slice.value, str):
            field = self.field(t, e.slice.value)
            if field is None:
                raise Invalid("field")
            return ast.Subscript(value, e.slice, context), field
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
        item = Const(t[0]) if isinstance(it, Const) and any(isinstance(x, Const) for x in t) else t[0]
        return ast.Subscript(value, index, ast.Load()), item

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
        return Array(t.dtype, left, known=t.known) if left else t.dtype

    # calls -----------------------------------------------------------------------------------------------------

    def e_Call(self, e):
        if isinstance(e.func, ast.Name):
            t = self.env.get(e.func.id, self.m.globals.get(e.func.id))
            if isinstance(t, Func):
                return self.call_function(t, e)
            if isinstance(t, NamedClass):
                return self.make_named(t, e)
            if e.func.id in REDUCTIONS and e.args and isinstance(e.args[0], ast.GeneratorExp):
                return self.reduction(e.func.id, e)
            method = getattr(self, f"c_{e.func.id}", None)
            if method is None or e.keywords:
                raise Invalid(e.func.id)
            return method([self.expr(a) for a in e.args], e)
        if isinstance(e.func, ast.Lambda):
            return self.call_function(Func(e.func, dict(self.env), "lambda_"), e)
        path = path_of(e.func)
        if isinstance(e.func, ast.Attribute) and not path.startswith(("np.", "math.", "cuda.", "pyptx.")):
            return self.method(e)
        if path in ("np.datetime64", "np.timedelta64"):
            return self.make_date(path.removeprefix("np."), e)
        if path == "cuda.local.array":
            shape = ast.literal_eval(e.args[0])
            name = dtype_name(e.args[1])
            t = Array(name, len(shape) if isinstance(shape, tuple) else 1, known=True)
            return call("_local", e.args[0], ast.Constant(name)), t
        if path == "math.prod":
            return self.product(e)
        args = [self.expr(a) for a in e.args]
        room, _, name = path.partition(".")
        if room == "np" or path == "pyptx.bfloat16":
            return self.numpy(name, args, e)
        if room == "math":
            return self.math(name, args, e)
        raise Invalid(path)

    def call_function(self, func, e):
        parameters = [a.arg for a in func.node.args.args]
        defaults = func.node.args.defaults
        positional, places = [], []
        for a in e.args:
            value, t = self.expr(a.value if isinstance(a, ast.Starred) else a)
            if not isinstance(a, ast.Starred):
                positional.append((value, t))
                places.append(value)
                continue
            if not isinstance(t, Tuple):
                raise Invalid("star")
            positional += [(None, x) for x in t]
            places.append(ast.Starred(value, ast.Load()))
        starred = len(positional) and any(v is None for v, _ in positional)
        if len(positional) > len(parameters) or starred and any(isinstance(t, Func) for _, t in positional):
            raise Invalid("arguments")
        given = dict(zip(parameters, positional))
        for k in e.keywords:
            if k.arg in given or k.arg not in parameters:
                raise Invalid("arguments")
            given[k.arg] = self.argument(k.value)
        for name, default in zip(parameters[len(parameters) - len(defaults) :], defaults):
            if name not in given:
                if not is_literal(default):
                    raise Invalid("default")
                given[name] = (default, Const(type_of(ast.literal_eval(default))))
        if len(given) != len(parameters):
            raise Invalid("arguments")
        name, result, captured = self.m.instance(func, tuple(given[p][1] for p in parameters))
        self.passed_on.update((c, None) for c in captured if c not in self.env)
        if starred:
            named = [ast.keyword(p, node) for p, (node, _) in list(given.items())[len(positional) :]]
            return ast.Call(load(name), [*(self.passed(c) for c in captured), *places], named), result
        # In the order of the call, as Python evaluates them, and by name, as they are passed.
        keywords = [
            ast.keyword(p, node) for p, (node, t) in given.items() if not isinstance(t, Func)
        ]
        return ast.Call(load(name), [self.passed(c) for c in captured], keywords), result

    def passed(self, name):
        return self.settled(load(name), self.env[name])[0] if name in self.env else load(name)

    def argument(self, a):
        value, t = self.expr(a)
        return value, t

    def need_real(self, args, kinds=REAL):
        for _, t in args:
            if KIND[need_scalar(t)] not in kinds:
                raise Invalid(f"no such function of {t}")

    def c_abs(self, args, e):
        self.need_real(args, REAL + "m")
        t = sampled("abs", abs, [t for _, t in args])
        return call("_abs", args[0][0]), t

    def min_or_max(self, name, args):
        if len(args) < 2:
            raise Invalid(name)
        self.need_real(args, REAL if KIND[need_scalar(args[0][1])] in REAL else "mM")
        result = plain(functools.reduce(join, (need_scalar(t) for _, t in args)))
        if result is CONFLICT:
            raise Invalid("the best of things without a common type")
        if {"pyint", "pyfloat"} <= {t for _, t in args}:
            raise Invalid("the best of ints and floats")
        return as_type(call(f"_{name}", *(a for a, _ in args)), result), result

    def c_min(self, args, e):
        return self.min_or_max("min", args)

    def c_max(self, args, e):
        return self.min_or_max("max", args)

    def c_round(self, args, e):
        self.need_real(args, "iuf")
        if len(args) == 2 and is_literal(e.args[1]) and 0 <= ast.literal_eval(e.args[1]) <= 22:
            return call("_round", args[0][0], args[1][0]), plain(args[0][1])
        if len(args) != 1:
            raise Invalid("round")
        return call("_round", args[0][0]), "pyint"

    def c_int(self, args, e):
        self.need_real(args)
        return call("_to_pyint", args[0][0]), "pyint"

    def c_float(self, args, e):
        self.need_real(args)
        return call("float", args[0][0]), "pyfloat"

    def c_bool(self, args, e):
        self.truth(args[0][1])
        return call("bool", args[0][0]), "pybool"

    def c_len(self, args, e):
        if not isinstance(args[0][1], (Array, Tuple)):
            raise Invalid("len")
        t = args[0][1]
        self.known = isinstance(t, Tuple) or t.known
        return call("len", args[0][0]), Const("pyint") if self.known else "pyint"

    def c_pow(self, args, e):
        return self.binary("Pow", args[0], args[1], e.args[1], e.args[0])

    def c_divmod(self, args, e):
        (a, ta), (b, tb) = args
        t = sampled("divmod", divmod, (need_scalar(ta), need_scalar(tb)))
        if is_date(ta):
            return call("divmod", a, b), t
        if ta in WEAK and tb in WEAK:
            return call("_weak_divmod", a, b), t
        a, b = self.fitted(a, ta, tb, e.args[0]), self.fitted(b, tb, ta, e.args[1])
        return call("divmod", a, b), t

    def numpy(self, name, args, e):
        name = "bool" if name == "bool_" else name
        types = [need_scalar(t) for _, t in args]
        if name in STRONG and len(args) == 1:
            self.storable(types[0], name)
            if is_date(types[0]):
                raise Invalid("a number of a date")
            if name in INTEGERS and isinstance(types[0], Const) and types[0] == "pyint":
                self.fitted(args[0][0], types[0], name, e.args[0])  # np.uint8(-1) is an error
            return call(f"_to_{name}", args[0][0]), name
        arity = EXACT_UFUNCS.get(name) or INEXACT_UFUNCS.get(name) or OTHER_UFUNCS.get(name)
        if arity != len(args):
            raise Invalid(name)
        if {KIND[t] for t in types} - set(REAL):
            return self.other_ufunc(name, args)
        t = sampled(f"np.{name}", getattr(np, name), types)
        self.class_known(name, types[0])
        nodes = [a for a, _ in args]
        if name in ("divide", "true_divide") and "pyint" in types and INTEGERS & set(types):
            nodes = [call("_to_float64", n) for n in nodes]
        elif arity == 2 and t in INTEGERS:  # comparisons are of the true values, and float loops convert to the float
            nodes = [
                self.fitted(nodes[0], types[0], types[1], e.args[0]),
                self.fitted(nodes[1], types[1], types[0], e.args[1]),
            ]
        return call(f"_np_{name}", *nodes), t

    def class_known(self, name, t):
        """isnan of an integer is no question."""
        if name in ("isnan", "isinf", "isfinite", "signbit") and KIND[t] != "f":
            self.known = True

    def math(self, name, args, e):
        if name == "dist":
            return self.distance(args)
        named = [(k.arg, self.expr(k.value)) for k in e.keywords]
        if [k for k, _ in named] != ["rel_tol", "abs_tol"][: len(named)] or named and name != "isclose":
            raise Invalid(f"keywords of {name}")
        arity = EXACT_MATH.get(name) or INEXACT_MATH.get(name) or INTEGER_MATH.get(name)
        any_number = name in ("gcd", "lcm", "perm") and args
        if arity != len(args) and not any_number:
            raise Invalid(name)
        self.need_real(args[:1], "biu" if name in INTEGER_MATH else REAL)
        self.need_real(args[1:], "biu" if name in INTEGER_MATH or name == "ldexp" else REAL)
        args = args + [x for _, x in named]
        types = [t for _, t in args]
        self.class_known(name, types[0])
        t = "pyint" if name in INTEGER_MATH else sampled(f"math.{name}", RUNTIME[f"_math_{name}"], types)
        return call(f"_math_{name}", *(a for a, _ in args)), t

    def product(self, e):
        """math.prod of a tuple that is written out: its items are multiplied in turn."""
        start = [k.value for k in e.keywords if k.arg == "start"]
        if len(e.args) != 1 or not isinstance(e.args[0], ast.Tuple) or len(start) != len(e.keywords):
            raise Invalid("prod")
        whole = self.expr(start[0]) if start else (ast.Constant(1), Const("pyint"))  # Python looks at the items first
        for item in e.args[0].elts:
            whole = self.binary("Mult", whole, self.expr(item), item)
        return whole

    def distance(self, args):
        (p, tp), (q, tq) = args if len(args) == 2 else [(None, None)] * 2
        if not isinstance(tp, Tuple) or not isinstance(tq, Tuple) or len(tp) != len(tq):
            raise Invalid("dist")
        types = [*tp, *tq]
        self.need_real([(None, t) for t in types])
        numpys = {t for t in types if t not in WEAK}
        return call("_math_dist", p, q), "float32" if numpys == {"float32"} else "pyfloat"
