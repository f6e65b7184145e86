"""@cuda.jit(typing="numba") gives Numba's types and values: tests/data/numba_typing.json, recorded by tests/tools/numba_typing.py.

Types are compared with those of Numba's CUDA target for every expression that it takes; values, where the table has them, bit
for bit with fma=False (powers within the bound below). What Numba gets wrong or leaves to its libraries is in DIFFERENT_VALUES and DIFFERENT_TYPES, each with its reason.
"""

import cmath
import collections
import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from pyptx import _pyptx, cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import numba_typing as recorded  # noqa: E402  the inputs that the table was made with

STRONG = {"pybool": "bool", "pyint": "int64", "pyfloat": "float64", "pycomplex": "complex128"}
NUMPY = {"boolean": "?", "bool": "?"}

F = "def f({}):\n    return {}\n".format
LOOP = "def f(a):\n    r = 0\n    for i in range({}\n    return r\n"
UNDEFINED = "Numba converts a float that is out of the integer's range, which C leaves undefined; ours saturates"
DIFFERENT_VALUES = {
    **{(F("a", "2 ** a"), (n,)): f"{UNDEFINED} (its large powers go through floats)" for n in ("int32", "int64", "uint32", "uint64")},
    **{(F("a", "round(a)"), (n,)): f"{UNDEFINED} (its round goes through floats)" for n in ("int64", "uint64")},
    **{(F("a, b", "a ** b"), ("boolean", n)): "Numba's 0 ** complex is nan; Python's and ours is 0" for n in ("complex64", "complex128")},
    **{(F("a", "np.uint8(a)"), (n,)): UNDEFINED for n in ("float32", "float64")},
}
DIFFERENT_TYPES = {
    **{(F("a", f"cuda.{f}(a)"), (n,)): "ours are of integers" for f in ("popc", "clz", "brev") for n in ("boolean", "bool", "float32", "float64")},
    (F("a", "cuda.brev(a)"), ("int64",)): "Numba takes the overload for uint32 and drops half of the bits",
    **{(F("a", "divmod(a, 3)"), ("uint64",)): "Numba's divmod alone makes floats of uint64 and int64; its // and % do not"},
    **{(F("a", f"np.{f}"), ("complex64",)): "ours is NumPy's complex128" for f in ("minimum(a, 1)", "fmin(a, 1)", "maximum(a, np.int32(2))")},
    **{(F("a", "math.ldexp(np.float32(1), a)"), (n,)): "Numba cuts an exponent that is a float" for n in ("float32", "float64")},
    **{(LOOP.format("a):\n        r = i"), (n,)): "counters of unsigned ranges are uint64 in Numba, int64 in ours"
       for n in ("uint8", "uint16", "uint32", "uint64")},
    (F("a, b", "a ** b"), ("boolean", "int32")): "Numba takes the overload (float32, int32) for bool ** int32; ours is int64",
}


def plain(name):
    """Numba's name of a type as ours: literals and tuples."""
    name = re.sub(r"Literal\[int\]\(-?\d+\)", "int64", name)
    uniform = re.fullmatch(r"UniTuple\((.*) x (\d+)\)", name)
    if uniform:
        return "(" + ", ".join([uniform[1]] * int(uniform[2])) + ")"
    return name.removeprefix("Tuple")


def strong(name):
    return re.sub(r"\bpy(?:int|float|complex|bool)\b", lambda weak: STRONG[weak[0]], name)


def table():
    groups = collections.defaultdict(list)
    for source, names, result, values in json.loads(recorded.TABLE.read_text()):
        key = (source, tuple(names))
        if key in DIFFERENT_VALUES:
            values = None
        if result is not None and key not in DIFFERENT_TYPES:
            groups[tuple(names)].append((source, result, values))
    return dict(groups)


TABLE = table()


def function(source):
    scope = {"math": math, "cmath": cmath, "np": np, "cuda": cuda}
    exec(compile(source, "<numba_typing>", "exec"), scope)
    return scope["f"]


def body(source):
    """The lines of f, without the def."""
    return source.split("\n", 1)[1]


def test_the_table_is_large():
    rows = [row for group in TABLE.values() for row in group]
    assert len(rows) > 6000 and sum(values is not None for _, _, values in rows) > 2500


@pytest.mark.parametrize("names", list(TABLE), ids="-".join)
def test_types(names):
    signature = ", ".join("bool" if n == "boolean" else n for n in names)
    wrong = []
    for source, want, _ in TABLE[names]:
        options = {"typing": "numba", "device": True, "opt": 0}
        try:
            got = _pyptx._compile(function(source), signature, "host", None, 0, options, "types")["result"]
        except Exception as e:
            got = str(e).splitlines()[0]
        if strong(got) != plain(want):
            wrong.append(f"{body(source)}{got}, but Numba gives {want}")
    assert not wrong, f"{len(wrong)} of {len(TABLE[names])}\n" + "\n".join(wrong)


def kernel_of(rows, names):
    """One kernel that stores every row's result, in the array of its type, for thread i's arguments."""
    dtypes = sorted({want for _, want, _ in rows})
    scope = {"math": math, "cmath": cmath, "np": np, "cuda": cuda}
    places, count = [], dict.fromkeys(dtypes, 0)
    lines = [f"def kernel({', '.join('ab'[:len(names)])}, {', '.join('out_' + d for d in dtypes)}):", "    i = cuda.grid(1)"]
    arguments = ", ".join(f"{v}[i]" for v in "ab"[: len(names)])
    for k, (source, want, _) in enumerate(rows):
        scope[f"f{k}"] = function(source)
        places.append(count[want])
        lines.append(f"    out_{want}[{count[want]}, i] = f{k}({arguments})")
        count[want] += 1
    exec("\n".join(lines), scope)
    outputs = [np.zeros((count[d], 3), NUMPY.get(d, d)) for d in dtypes]
    return cuda.jit(typing="numba", fma=False)(scope["kernel"]), dict(zip(dtypes, outputs)), places


def close(got, want, source):
    if got.tobytes() == want.tobytes() or (np.isnan(got) and np.isnan(want)):
        return True
    # complex division: another order of operations than Numba's, both within 4 ulp of each part for operands like these
    if "/ b" in source and got.dtype.kind == "c":
        return all(abs(g - w) <= 4 * np.spacing(abs(w)) for g, w in ((got.real, want.real), (got.imag, want.imag)))
    # pow of LLVM's library and ours: each within 2 ulp of the true value (complex: 8, by its chain of functions)
    if "**" in source and got.dtype.kind in "fc":
        ulps = 8 if got.dtype.kind == "c" else 4
        return abs(got - want) <= ulps * np.finfo(got.dtype).eps * abs(want)
    return False


@pytest.mark.parametrize("names", [n for n in TABLE if any(row[2] for row in TABLE[n])], ids="-".join)
def test_values(names):
    rows = [row for row in TABLE[names] if row[2] is not None]
    kernel, outputs, places = kernel_of(rows, names)
    inputs = [
        np.array([np.dtype(NUMPY.get(n, n)).type(v) for v in values])
        for n, values in zip(names, (recorded.numbers(names[0]), recorded.others(names[-1])))
    ]
    kernel[1, 3](*inputs, *outputs.values())
    wrong = []
    for (source, want, values), place in zip(rows, places):
        for i, value in enumerate(values):
            expected = np.frombuffer(bytes.fromhex(value), NUMPY.get(want, want))[0]
            got = outputs[want][place, i]
            if not close(got, expected, source):
                wrong.append(f"{body(source)}of {[x[i] for x in inputs]}: {got!r}, but Numba gives {expected!r}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n".join(wrong)


def test_isinstance_of_int_is_int64():
    """Numba compares with the type that it has for the class: isinstance(int32, int) is False, and so is isinstance(True, int)."""

    def kernel(x, y, out):
        out[0], out[1], out[2] = isinstance(x[0], int), isinstance(y[0], int), isinstance(3, int)
        out[3], out[4], out[5] = isinstance(True, bool), isinstance(True, int), isinstance(x[0] / 2, (int, float))
        out[6], out[7] = isinstance(1j, complex), isinstance(np.float32(1), float)

    out = np.zeros(8, bool)
    cuda.jit(typing="numba")(kernel)[1, 1](np.ones(1, np.int64), np.ones(1, np.int32), out)
    cuda.synchronize()
    assert out.tolist() == [True, False, True, True, False, True, True, False]


def test_range_of_floats():
    """math.ceil and floor give floats in Numba, and range() cuts them."""

    def kernel(x, out):
        for i in range(math.ceil(x[0])):
            out[0] += i
        for i in range(np.float32(1.75), x[1], math.floor(x[2])):
            out[1] += i

    out = np.zeros(2, np.int64)
    cuda.jit(typing="numba")(kernel)[1, 1](np.array([3.5, 8.9, 2.5]), out)
    cuda.synchronize()
    assert out.tolist() == [0 + 1 + 2 + 3, 1 + 3 + 5 + 7]
