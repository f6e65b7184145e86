"""What Numba gives for every operator and ufunc of mixed widths, as tests/data/numba_mixed.json.

usage: python tests/tools/numba_mixed.py       needs numba, which pyptx does not; 15 minutes

Types and values are those of Numba's CPU target (error_model="numpy", as on the GPU): its CUDA target has no ufuncs but floating ones. numba_typing.py
records what the CUDA target itself says. The arguments are the ends of the types, zeros of both signs, and small numbers of both signs.
{expression: {"int8,uint64": [type, the values' bytes]}}; what Numba rejects is not there. tests/api/language/test_numba_mixed.py compares.
"""

import json
import math  # noqa: F401  the expressions use it
import sys
import warnings
from pathlib import Path

import numpy as np

TABLE = Path(__file__).resolve().parents[1] / "data" / "numba_mixed.json"
INTEGERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES = [*INTEGERS, "float32", "float64"]
UFUNCS2 = (
    "add subtract multiply divide floor_divide remainder fmod power left_shift right_shift bitwise_and bitwise_or bitwise_xor equal not_equal less "
    "less_equal greater greater_equal maximum minimum fmax fmin logical_and logical_or logical_xor copysign nextafter gcd lcm ldexp arctan2 hypot logaddexp"
).split()
UFUNCS1 = (
    "negative absolute fabs sign square reciprocal invert floor ceil trunc rint sqrt isnan isinf isfinite signbit logical_not conjugate spacing "
    "sin exp log cbrt"
).split()
OPERATORS = "+ - * / // % ** << >> & | ^ < <= == != > >=".split()
TWO = [*(f"a {op} b" for op in OPERATORS), *(f"np.{u}(a, b)" for u in UFUNCS2), "min(a, b)", "max(a, b)", "divmod(a, b)[0]", "divmod(a, b)[1]"]
ONE = [
    "-a", "+a", "~a", "abs(a)", "round(a)", "int(a)", "float(a)", "bool(a)", "a ** 2", "a ** 3", "a ** -1", "a ** -3", "2 ** a", "(-1) ** a", "a // 3", "a // -3",
    "a % 3", "a % -3", "a - 2", "2 - a", "a << 3", "1 << a", "a / 3", *(f"np.{u}(a)" for u in UFUNCS1),
]  # fmt: skip
# Last bits differ between libraries: their types alone.
TYPE_ONLY = ("np.arctan2", "np.hypot", "np.logaddexp", "np.sin", "np.exp", "np.log", "np.cbrt")


def first(name):
    """Six values of a type."""
    if name == "bool":
        return [True, False, True, True, False, True]
    if name.startswith("float"):
        return [1.75, -2.5, 0.0, -0.0, 7.0, -1.0]
    info = np.iinfo(name)
    return [3, 1 if info.min == 0 else -1, int(info.min), int(info.max), 200 % info.max if info.min == 0 else -5, int(info.max) - 1]


def second(name):
    """Their partners: negative ones, the ends, and 0; not -1 beside the lowest integer, which Numba divides with a machine trap."""
    if name == "bool":
        return [True, True, True, False, False, True]
    if name.startswith("float"):
        return [-3.0, 2.0, -1.0, 0.0, 2.5, -0.0]
    info = np.iinfo(name)
    return [7, 2, 3, int(info.max), 5, 0] if info.min == 0 else [-3, 2, 3, -1, int(info.min), 0]


def rows_of(names):
    return list(zip(*(f(n) for f, n in zip((first, second), names))))


def record(njit, expressions, names, table):
    """The rows of these expressions that Numba compiles: all at once, else by halves."""
    scope = {"math": math, "np": np}
    exec(f"def f({', '.join('ab'[: len(names)])}):\n    return ({', '.join(expressions)},)\n", scope)
    arguments = [tuple(np.dtype(n).type(v) for n, v in zip(names, row)) for row in rows_of(names)]
    try:
        f = njit(scope["f"], error_model="numpy")
        results = [f(*row) for row in arguments]
    except Exception:
        half = len(expressions) // 2
        for part in (expressions[:half], expressions[half:]) if half else ():
            record(njit, part, names, table)
        return
    types = f.overloads[f.signatures[0]].signature.return_type
    for k, expression in enumerate(expressions):
        dtype = str(types[k])
        values = np.array([np.dtype(dtype).type(r[k]) for r in results]).tobytes().hex()
        values = "" if expression.startswith(TYPE_ONLY) else values
        table.setdefault(expression, {})[",".join(names)] = [dtype, values]


def main():
    warnings.simplefilter("ignore")
    import numba

    table = {}
    for a in TYPES:
        record(numba.njit, ONE, [a], table)
        for b in TYPES:
            if not a.startswith("float") or not b.startswith("float"):
                record(numba.njit, TWO, [a, b], table)
        print(a, {len(v) for v in table.values()}, file=sys.stderr)
    lines = [f"{json.dumps(e)}: {json.dumps(table[e], separators=(',', ':'))}" for e in sorted(table)]
    TABLE.write_text("{" + ",\n".join(lines) + "}\n")
    print(f"numba {numba.__version__}, NumPy {np.__version__}: {sum(map(len, table.values()))} rows", file=sys.stderr)


if __name__ == "__main__":
    main()
