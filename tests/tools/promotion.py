"""What NumPy gives: the result type of every operator for every pair of scalar types, as tests/data/promotion.txt.

usage: python tests/tools/promotion.py [--check]     writes the table, or compares it with the installed NumPy

One block an operator; a row is a left operand, a column a right one; '-' where NumPy or Python raises TypeError.
test_typeinfer_promote.c compares typeinfer's table with it.
"""
import operator
import sys
import warnings
from pathlib import Path

import numpy as np

TABLE = Path(__file__).resolve().parents[1] / "data" / "promotion.txt"
STRONG = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
WEAK = {"pybool": True, "pyint": 1, "pyfloat": 1.0}
BINARY = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "floordiv": operator.floordiv,
    "mod": operator.mod, "pow": operator.pow, "lshift": operator.lshift, "rshift": operator.rshift, "and": operator.and_,
    "or": operator.or_, "xor": operator.xor, "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ne": operator.ne,
    "gt": operator.gt, "ge": operator.ge,
}
UNARY = {"neg": operator.neg, "invert": operator.invert}


def values():
    found = {name: np.dtype(name).type(1) for name in STRONG}
    found.update(WEAK)
    return found


def name_of(value):
    if isinstance(value, np.generic):
        return value.dtype.name
    return "py" + type(value).__name__


def result(function, *operands):
    try:
        return name_of(function(*operands))
    except TypeError:
        return "-"


def table():
    warnings.simplefilter("ignore")
    v = values()
    lines = []
    for name, function in BINARY.items():
        lines.append(f"{name} " + " ".join(v))
        lines += [f"  {a} " + " ".join(result(function, v[a], v[b]) for b in v) for a in v]
    for name, function in UNARY.items():
        lines.append(f"{name}")
        lines += [f"  {a} {result(function, v[a])}" for a in v]
    return "\n".join(lines) + "\n"


def main():
    text = table()
    if "--check" in sys.argv[1:]:
        if TABLE.read_text() != text:
            sys.exit("tests/data/promotion.txt differs from what the installed NumPy does")
    else:
        TABLE.write_text(text)


if __name__ == "__main__":
    main()
