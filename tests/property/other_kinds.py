"""Expressions with complex numbers, dates and spans, named tuples and records: the part of Expressions that knows of them."""

import ast

import numpy as np
from rewriting import call, path_of, sampled, to
from scalars import (
    CONFLICT,
    KIND,
    REAL,
    STRONG,
    WEAK,
    Array,
    Invalid,
    Named,
    Record,
    date_promoted,
    is_date,
    is_scalar,
    need_scalar,
    plain,
    promotion,
    python_operator,
)


def dtype_name(node):
    """The type that an expression of a dtype names."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            return np.dtype(node.value).name
        except TypeError:
            raise Invalid("dtype") from None
    name = path_of(node).removeprefix("np.").removeprefix("pyptx.")
    return "bool" if name == "bool_" else name


# Exact ones of complex numbers, dates and spans.
COMPLEX_UFUNCS = set("add subtract negative positive conjugate equal not_equal less greater_equal isnan isinf isfinite logical_not".split())
DATE_UFUNCS = set(
    "add subtract negative positive absolute equal not_equal less less_equal greater greater_equal "
    "minimum maximum fmin fmax isnat isfinite isinf remainder".split()
)


class OtherKinds:
    @staticmethod
    def complex_beside(operand, other):
        """A Python complex beside a strong number has NumPy's type (CPython takes float64 for its own), a bfloat16 beside a
        complex number that number's, and any number that is to become another complex one: NumPy's loops, which it uses for
        two types, round complex products otherwise than its scalars."""
        node, t = operand
        if t in STRONG and other in STRONG and "c" in (KIND[t], KIND[other]):
            t = promotion(str(t), str(other))
            return (node if t == operand[1] else to(node, t)), t
        if t != "pycomplex" or str(other) not in STRONG or is_date(other):
            return operand
        t = promotion(str(other), "pycomplex")
        return to(node, t), t

    def date_binary(self, name, left, right):
        (a, ta), (b, tb) = left, right
        t = sampled(name, python_operator(name), (ta, tb))
        other = tb if is_date(ta) else ta
        if not is_date(other) and KIND[other] == "f" and name in ("Mult", "Div", "FloorDiv"):
            return call(f"_span_{name}", a, b), t
        node = ast.BinOp(a, getattr(ast, name)(), b)
        return (call("_in_calendar", node) if KIND[t] == "M" else node), t

    def field(self, t, name):
        """The type of a field of a named tuple, a record, an array of records; None if there is none."""
        if isinstance(t, Named):
            return t[t.fields.index(name)] if name in t.fields else None
        record = t.dtype if isinstance(t, Array) else t
        if not isinstance(record, Record) or name not in record.fields:
            return None
        self.known = False  # memory
        field = record.fields[name]
        if not isinstance(t, Array):
            return field
        inner = field if isinstance(field, Array) else Array(field, 0)
        return Array(inner.dtype, t.ndim + inner.ndim, known=t.known or inner.known)

    def make_named(self, cls, e):
        """A named tuple from its class, with positional and keyword arguments."""
        parts = [self.expr(a) for a in e.args if not isinstance(a, ast.Starred)]
        given = dict(zip(cls.fields, parts))
        named = {k.arg: self.expr(k.value) for k in e.keywords}
        if len(parts) != len(e.args) or set(given) & set(named) or {*given, *named} != set(cls.fields):
            raise Invalid("fields")
        given |= named
        node = ast.Call(e.func, [p for p, _ in parts], [ast.keyword(k, n) for k, (n, _) in named.items()])
        return node, Named(cls.name, cls.fields, [given[f][1] for f in cls.fields])

    def method(self, e):
        value, t = self.expr(e.func.value)
        name = e.func.attr
        if isinstance(t, Named) and name == "_replace" and not e.args:
            given = {k.arg: self.expr(k.value) for k in e.keywords}
            if not set(given) <= set(t.fields):
                raise Invalid("fields")
            keywords = [ast.keyword(k, n) for k, (n, _) in given.items()]
            items = [given[f][1] if f in given else x for f, x in zip(t.fields, t)]
            return ast.Call(ast.Attribute(value, name, ast.Load()), [], keywords), t.of(items)
        if not is_scalar(t) or e.keywords:
            raise Invalid(name)
        if name == "conjugate" and not e.args and KIND[t] == "c":
            return ast.Call(ast.Attribute(value, name, ast.Load()), [], []), plain(t)
        if name == "astype" and len(e.args) == 1 and t not in WEAK:
            return self.conversion(value, t, dtype_name(e.args[0]))
        raise Invalid(name)

    def conversion(self, value, t, want):
        """x.astype(want)."""
        if want not in STRONG and not is_date(want):
            raise Invalid("dtype")
        if is_date(t) and want == "int64":
            return ast.Call(ast.Attribute(value, "astype", ast.Load()), [ast.Constant("int64")], []), want
        self.storable(t, want)
        return to(value, want), want

    @staticmethod
    def storable(t, want):
        """Whether a number, a date or a span becomes one of another type."""
        need_scalar(t)
        if is_date(t) or is_date(want):
            if want == "timedelta64" and t != want and is_date(t):
                raise Invalid("a span that loses its unit")
            if KIND[t] not in "biu" and (KIND[t] != KIND[want] or date_promoted({str(t), str(want)}) is CONFLICT):
                raise Invalid("conversion of a date")
        elif KIND[t] == "c" and KIND[want] != "c":
            raise Invalid("a complex number as a real one")

    def make_date(self, name, e):
        if len(e.args) != 2 or e.keywords or not isinstance(e.args[1], ast.Constant) or not isinstance(e.args[1].value, str):
            raise Invalid(name)
        value, t = self.expr(e.args[0])
        try:
            want = np.dtype(f"{name}[{e.args[1].value}]").name
        except (TypeError, ValueError):
            raise Invalid("unit") from None
        if need_scalar(t) == "pybool" or t == "bool":
            raise Invalid("a date of a bool")
        self.storable(t, want)
        return to(value, want), want

    def c_complex(self, args, e):
        if len(args) not in (1, 2):
            raise Invalid("complex")
        for _, t in args:
            if KIND[need_scalar(t)] not in (REAL if len(args) == 2 else REAL + "c"):
                raise Invalid("complex")
        if args[0][1] in ("complex64", "complex128", "pycomplex"):
            return call("complex", args[0][0]), "pycomplex"
        return call("complex", *(call("float", a) for a, _ in args)), "pycomplex"

    def other_ufunc(self, name, args):
        """A ufunc of complex numbers (some: NumPy's loops round others as its scalars do not), dates and spans."""
        (a, ta), (b, tb) = (*args, *args)[:2]
        if len(args) == 2:
            (a, ta), (b, tb) = self.complex_beside(args[0], tb), self.complex_beside(args[1], ta)
        kinds = {KIND[ta], KIND[tb]}
        if name not in (COMPLEX_UFUNCS if "c" in kinds else DATE_UFUNCS) or "c" in kinds and kinds & set("mM"):
            raise Invalid(name)
        if name in ("add", "subtract") and "c" not in kinds:
            return self.date_binary({"add": "Add", "subtract": "Sub"}[name], (a, ta), (b, tb))
        t = sampled(f"np.{name}", getattr(np, name), (ta, tb)[: len(args)])
        return call(f"_np_{name}", *(a, b)[: len(args)]), t
