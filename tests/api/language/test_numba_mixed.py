"""@cuda.jit(typing="numba") gives Numba's types and values for every operator and ufunc of mixed widths: tests/data/numba_mixed.json.

Values are compared bit for bit (nans as nans), but for powers of floats, within 4 ulp. What differs is in DIFFERENT, each with its reason.
"""

import collections
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from pyptx import _pyptx, cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import numba_mixed as recorded  # noqa: E402  the arguments that the table was made with

STRONG = {"pybool": "bool", "pyint": "int64", "pyfloat": "float64"}

UNSIGNED = {"uint8", "uint16", "uint32", "uint64"}
SIGNED = {"int8", "int16", "int32", "int64"}


def is_divmod(expression, names):
    kinds = {"bool" if n == "bool" else n[0] for n in names}
    return expression.startswith("divmod") and (("uint64" in names and "i" in kinds) or kinds == {"bool", "u"})


# (test of an expression and its types, reason)
DIFFERENT_TYPES = [
    (is_divmod, "of uint64 and a signed integer, or a bool and an unsigned one, Numba's divmod alone has another type; its // and % do not"),
]


def shifts_too_far(expression, names, row):
    count = row[-1] if len(row) == 2 else row[0] if expression == "1 << a" else 0
    ufunc = expression.startswith("np.")
    width = np.result_type(*names).itemsize * 8 if ufunc else 64
    return ("shift" in expression or "<<" in expression or ">>" in expression) and not 0 <= count < width


def large_power(expression, names, row):
    return ("**" in expression or "power" in expression) and abs(int(row[-1])) > 0x10000


def fmod_of_signed(expression, names, row):
    return expression.startswith("np.fmod") and np.result_type(*names).kind == "i"


def round_of_large(expression, names, row):
    return expression == "round(a)" and abs(float(row[0])) > 2**53


def sign_of_unsigned(expression, names, row):
    return expression == "np.sign(a)" and names[0] in UNSIGNED


def inverse_of_0(expression, names, row):
    return expression == "np.reciprocal(a)" and names[0] in INTEGERS and row[0] == 0


def large_ldexp(expression, names, row):
    return expression.startswith("np.ldexp") and abs(int(row[1])) > 2**31


def zero(expression, names, row):
    return expression in ("np.sign(a)", "np.spacing(a)") and row[0] == 0


def two_zeros(expression, names, row):
    return expression.startswith(("np.fm", "np.m", "min(", "max(")) and list(row) == [0, 0]


INTEGERS = UNSIGNED | SIGNED
DIFFERENT_VALUES = [
    (shifts_too_far, "C leaves such shifts undefined, and Numba takes the processor's; ours give 0 or -1"),
    (large_power, "beyond an exponent of 65536 Numba goes through floats; ours are integers, which wrap"),
    (fmod_of_signed, "Numba takes the bits of signed integers for unsigned ones; ours is NumPy's"),
    (round_of_large, "Numba rounds an integer as a float64; ours is the integer"),
    (sign_of_unsigned, "Numba takes the bits of unsigned integers for signed ones; ours is NumPy's"),
    (inverse_of_0, "Numba divides by zero; ours is 0"),
    (large_ldexp, "Numba keeps the exponent's low 32 bits"),
    (zero, "the sign of a zero, and of the spacing there, is NumPy's"),
    (two_zeros, "a GPU's instruction puts -0.0 below 0.0"),
]


def differs(rules, *arguments):
    return any(test(*arguments) for test, _ in rules)


def table():
    groups = collections.defaultdict(list)
    for expression, rows in json.loads(recorded.TABLE.read_text()).items():
        for key, (dtype, values) in rows.items():
            names = tuple(key.split(","))
            if not differs(DIFFERENT_TYPES, expression, names):
                groups[names].append((expression, dtype, bytes.fromhex(values)))
    return dict(groups)


TABLE = table()


def function(source):
    scope = {"math": math, "np": np, "cuda": cuda}
    exec(compile(source, "<numba_mixed>", "exec"), scope)
    return scope["f"]


def test_the_table_is_large():
    assert sum(map(len, TABLE.values())) > 4000


@pytest.mark.parametrize("names", list(TABLE), ids="-".join)
def test_types(names):
    wrong = []
    for expression, want, _ in TABLE[names]:
        source = f"def f({', '.join('ab'[: len(names)])}):\n    return {expression}\n"
        try:
            options = {"typing": "numba", "device": True, "opt": 0}
            got = _pyptx._compile(function(source), ", ".join(names), "host", None, 0, options, "types")["result"]
        except Exception as e:
            got = str(e).splitlines()[0]
        if STRONG.get(got, got) != want:
            wrong.append(f"{expression}: {got}, but Numba gives {want}")
    assert not wrong, f"{len(wrong)} of {len(TABLE[names])}\n" + "\n".join(wrong)


def run(rows, names):
    """What one kernel gives that computes every row, in the array of its type, for thread i's arguments."""
    places = collections.defaultdict(list)
    for k, (_, dtype, _) in enumerate(rows):
        places[dtype].append(k)
    at = {k: (dtype, row) for dtype, ks in places.items() for row, k in enumerate(ks)}
    lines = [f"def f({', '.join('ab'[: len(names)])}, {', '.join('out_' + d for d in places)}):", "    i = cuda.grid(1)"]
    lines += [f"    x{v} = {v}[i]" for v in "ab"[: len(names)]]
    for k, (expression, _, _) in enumerate(rows):
        dtype, row = at[k]
        lines.append(f"    out_{dtype}[{row}, i] = g{k}({', '.join('x' + v for v in 'ab'[: len(names)])})")
    scope = {"math": math, "np": np, "cuda": cuda}
    for k, (expression, _, _) in enumerate(rows):
        scope[f"g{k}"] = function(f"def f({', '.join('ab'[: len(names)])}):\n    return {expression}\n")
    exec("\n".join(lines), scope)
    arguments = [np.array([np.dtype(n).type(v) for v in c]) for n, c in zip(names, zip(*recorded.rows_of(names)))]
    outputs = {d: np.zeros((len(ks), 6), d) for d, ks in places.items()}
    cuda.jit(typing="numba", fma=False, opt=1)(scope["f"])[1, 6](*arguments, *outputs.values())
    cuda.synchronize()
    return arguments, [outputs[at[k][0]][at[k][1]] for k in range(len(rows))]


def close(got, want, expression):
    if got.tobytes() == want.tobytes() or (got.dtype.kind == "f" and np.isnan(got) and np.isnan(want)):
        return True
    if expression.startswith("np.remainder") and got == want == 0:  # the sign of a zero is NumPy's: the divisor's
        return True
    power = "**" in expression or "power" in expression
    with np.errstate(all="ignore"):
        return power and got.dtype.kind == "f" and bool(abs(got - want) <= 4 * np.spacing(abs(want)))


@pytest.mark.parametrize("names", list(TABLE), ids="-".join)
def test_values(names):
    rows = [row for row in TABLE[names] if row[2]]
    arguments, results = run(rows, names)
    wrong = []
    for (expression, dtype, values), got in zip(rows, results):
        for i, want in enumerate(np.frombuffer(values, dtype)):
            row = [x[i] for x in arguments]
            if not differs(DIFFERENT_VALUES, expression, names, row) and not close(got[i], want, expression):
                wrong.append(f"{expression} of {row}: {got[i]!r}, but Numba gives {want!r}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong)


def test_each_difference_is_one():
    """A rule that nothing needs any more goes."""
    cases = [(e, names, row) for names, rows in TABLE.items() for e, _, values in rows if values for row in recorded.rows_of(names)]
    for test, reason in DIFFERENT_VALUES:
        assert any(test(*case) for case in cases), reason
    everything = [(e, tuple(key.split(","))) for e, rows in json.loads(recorded.TABLE.read_text()).items() for key in rows]
    for test, reason in DIFFERENT_TYPES:
        assert any(test(*case) for case in everything), reason


@pytest.mark.parametrize("a", sorted(SIGNED))
@pytest.mark.parametrize("b", sorted(SIGNED | UNSIGNED - {"uint64"}))
def test_fmod_of_signed_integers_is_numpys(a, b):
    rows = [("np.fmod(a, b)", str(np.result_type(a, b)), None)]
    arguments, (got,) = run(rows, (a, b))
    with np.errstate(all="ignore"):
        want = np.fmod(*arguments)
    assert got.dtype == want.dtype and got.tolist() == want.tolist(), arguments


@pytest.mark.parametrize("a", sorted(UNSIGNED))
def test_sign_of_unsigned_integers_is_numpys(a):
    arguments, (got,) = run([("np.sign(a)", a, None)], (a,))
    assert got.tolist() == np.sign(arguments[0]).tolist()
