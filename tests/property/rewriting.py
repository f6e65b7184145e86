"""Pieces of rewritten source: calls and conversions, samples' types, constants."""

import ast
import warnings

from math_functions import INEXACT_MATH
import numpy as np
from scalars import (
    HIGH,
    INEXACT_UFUNCS,
    LOW,
    RUNTIME,
    SAMPLE,
    Array,
    Const,
    Invalid,
    Named,
    Record,
    Tuple,
    is_date,
    is_scalar,
    need_scalar,
    type_of,
)


def call(name, *args):
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def load(name):
    return ast.Name(name, ast.Load())


def spec(t):
    """Text of a type that _types_of reads; what is no number stays as it is."""
    if isinstance(t, Tuple):
        items = "(" + "".join(spec(x) + ", " for x in t) + ")"
        return f"Named({t.name!r}, {t.fields!r}, {items})" if isinstance(t, Named) else items
    return repr(str(t)) if is_scalar(t) else "None"


def as_type(node, t):
    """node converted to type t."""
    return call("_convert", node, call("_types_of", ast.Constant(spec(t))))


def to(node, t):
    """node converted to type t, a scalar's."""
    return as_type(node, t) if is_date(t) else call(f"_to_{t}", node)


RUNTIME["_types_of"] = lambda text, memo={}: memo.get(text) or memo.setdefault(text, retuple(eval(text)))


def retuple(t):
    if not isinstance(t, tuple):
        return t
    return t.of(map(retuple, t)) if isinstance(t, Named) else Tuple(map(retuple, t))


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
    if isinstance(found, Invalid):  # itself kept, it would keep the frames of all who met it
        raise Invalid(*found.args)
    return found


def is_literal(node):
    if node is None:
        return False
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    return isinstance(node, ast.Constant)


def of_literals(node):
    if isinstance(node, ast.BinOp):
        return of_literals(node.right) and of_literals(node.left)
    return isinstance(node, ast.Constant) or isinstance(node, ast.UnaryOp) and of_literals(node.operand)


def path_of(node):
    """`np.sqrt` of the node that says so."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ast.unparse(node)


def constant(node):
    """The value of an expression of literals only, else None: CPython's own compiler folds them."""
    if isinstance(node, ast.Constant):
        return node.value
    if not of_literals(node):
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


def constant_type(t):
    return isinstance(t, Const) or isinstance(t, Tuple) and all(map(constant_type, t))


def has_array(t):
    return isinstance(t, (Array, Record)) or isinstance(t, Tuple) and any(map(has_array, t))


def inexact_name(e):
    """The path of a call whose result has an error bound, else None."""
    if not isinstance(e, ast.Call) or not isinstance(e.func, ast.Attribute):
        return None
    path = path_of(e.func)
    room, _, name = path.partition(".")
    table = {"math": INEXACT_MATH, "np": INEXACT_UFUNCS}.get(room, {})
    return path if name in table else None
