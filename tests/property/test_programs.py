"""Random programs: CPython on NumPy scalars and the device give the same types and the same bits.

500 seeds each run, in shards, others under the oldest interpreter than under newer ones. A failure is shrunk and
written as a script to build/failures;
`scripts/soak` runs more seeds than these.
"""

import functools
import itertools
import operator
import os
import subprocess
import sys

import amount
import differential
import kinds
import math_functions
import meaning
import numpy as np
import plain
import programs
import pytest
import shrink
from bfloat import BFloat16
from meaning import Meaning
from scalars import CONFLICT, CONVERT, INTEGERS, KIND, SAMPLE, STRONG, WEAK, Array, Invalid, Named, Record, Unspecified, join

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ~True, in programs as they come
PROGRAMS, SHARD, ROWS = 1000, 50, 24  # of both interpreters; tests/full/test_generators.py runs more


@pytest.mark.parametrize("first", amount.seeds(PROGRAMS, SHARD))
def test_programs(first, monkeypatch):
    if first // SHARD % 2:  # functions that stay calls, which short programs have none of
        monkeypatch.setenv("PYPTX_INLINE_LIMIT", "0")
    failures = []
    for k in range(first, first + SHARD, 10):
        cases = [differential.case_of(seed, ROWS) for seed in range(k, k + 10)]
        failures += differential.check(cases, opt=3 if k % 40 == 0 else 0)
    reports = []
    for failure in failures[:3]:
        small = shrink.shrunk(failure)
        reports.append(f"{small}\n{small.case.program.source}\nreproducer: {shrink.store(small)} (PYPTX_INLINE_LIMIT={os.environ.get('PYPTX_INLINE_LIMIT')})")
    assert not failures, "\n\n".join([f"{len(failures)} programs", *reports])


# --- the reference itself, on programs whose meaning is known
# --------------------------------------------------------------


def result_of(source, types, *arguments):
    found = Meaning(source, "prog", types)
    with np.errstate(all="ignore"):
        return found.result, found.function()(*arguments)


def test_the_reference_promotes_what_paths_bring():
    source = "def prog(a, x):\n    v = 0\n    if x > 0:\n        v = a\n    return (v / 2, v)\n"
    types, values = result_of(source, ("float32", "pyint"), np.float32(3), 0)
    assert types == ("float32", "float32")
    assert [type(v) for v in values] == [np.float32, np.float32] and values == (0, 0)


def test_the_reference_wraps_weak_integers():
    source = "def prog(a, b):\n    return (a * a, b + a, a << 70)\n"
    types, values = result_of(source, ("pyint", "int8"), 2**62 + 3, np.int8(5))
    assert types == ("pyint", "int8", "pyint") and values == (9 - 2**63, 8, 0)


def test_the_reference_refuses_what_has_no_meaning():
    for text in ("a[0]", "b", "a + (1, 2)", "np.uint8(300)", "-True if a else np.bool_(0) - np.bool_(1)"):
        with pytest.raises(Invalid):
            Meaning(f"def prog(a):\n    return ({text},)\n", "prog", ("int32",))


def test_a_sign_of_nan_is_no_result():
    with pytest.raises(Unspecified):
        result_of("def prog(a):\n    return (math.copysign(1.0, a),)\n", ("float64",), np.float64("nan"))


@pytest.mark.parametrize("value", [300, -1, 2**63, 3.7, -3.7, 1e30, float("inf"), float("nan")])
def test_conversions_of_the_reference_are_the_stores_of_the_harness(value):
    from harness import store

    for t in sorted(INTEGERS):
        assert CONVERT[t](value) == store(t, value)


def test_joins_are_numpys_result_type_of_all_types():
    """Up to four types, joined two by two in any order."""
    names = [*(t for t in STRONG if t != "bfloat16"), *WEAK]
    for n in (2, 3, 4):
        for types in itertools.combinations(names, n):
            if any(t in STRONG for t in types):
                wanted = np.result_type(*(SAMPLE[t] for t in types)).name
            else:
                wanted = types[-1]
            assert functools.reduce(join, types) == wanted, types
            assert functools.reduce(join, types[::-1]) == wanted, types
            if n == 4:
                assert join(join(types[0], types[3]), join(types[1], types[2])) == wanted, types


def test_the_reference_converts_a_variable_where_it_is_read():
    source = """def prog(a, b, n):
    v = n
    if n > 5:
        v = a
    w = v
    if n > 10:
        w = b
    return (v, w)
"""
    types, values = result_of(source, ("uint8", "int16", "pyint"), np.uint8(1), np.int16(2), -1)
    assert types == ("uint8", "int16") and values == (255, -1)


def test_the_reference_reads_a_variable_for_the_functions_that_capture_it():
    source = """def prog(a, b, n):
    v = n
    if n > 5:
        v = a
    return (b if n > 10 else v, (lambda: b if n > 10 else v)(), sum(b if n > 10 else v for k in range(2)), sum(v for v in (n, n)))
"""
    types, values = result_of(source, ("uint8", "int16", "pyint"), np.uint8(1), np.int16(2), -1)
    assert types == ("int16", "int16", "int16", "pyint") and values == (-1, 255, 510, -2)


def test_joins_of_dates_and_of_bfloat16():
    assert join("timedelta64[25ms]", join("timedelta64[D]", "timedelta64[s]")) == "timedelta64[25ms]"
    assert join("timedelta64", "timedelta64[s]") == "timedelta64[s]"
    assert join("timedelta64[25ms]", join("timedelta64", "timedelta64[s]")) == "timedelta64[25ms]"
    assert join("datetime64[D]", "datetime64[s]") == "datetime64[s]"
    for other in ("timedelta64[M]", "datetime64[s]", "int64", "pyint"):
        assert join("timedelta64[s]", other) == CONFLICT == join(other, "timedelta64[s]")
    for other, wanted in dict(int8="bfloat16", pyfloat="bfloat16", int16="float32", float16="float32", int32="float64", pycomplex="complex64").items():
        assert join("bfloat16", other) == wanted == join(other, "bfloat16")


BFLOAT = {
    **{o: getattr(operator, o) for o in "add sub mul truediv floordiv mod lt le eq ne ge".split()},
    **{u: getattr(np, u) for u in "sqrt rint floor ceil trunc square reciprocal negative absolute isnan signbit".split()},
    **{u: getattr(np, u) for u in "maximum fmin copysign fmod power".split()},
    "+ int8": lambda x: x + np.int8(-7), "uint8 *": lambda x: np.uint8(200) * x, "3 -": lambda x: 3 - x,
    "tiny xor": lambda x: np.logical_xor(1e-100, x), "and tiny": lambda x: np.logical_and(x, 1e-100),
    "float32 +": lambda x: np.float32(1.3) + x, "/ float64": lambda x: x / np.float64(3.1), "* complex64": lambda x: x * np.complex64(1 + 2j),
}  # fmt: skip


@pytest.mark.parametrize("name", BFLOAT)
def test_the_references_bfloat16_is_that_of_ml_dtypes(name):
    other = pytest.importorskip("ml_dtypes").bfloat16
    two = name[0].isalpha() and " " not in name and getattr(BFLOAT[name], "nin", 2) == 2
    rng = np.random.default_rng(1)
    for x, y in zip(*(kinds.draw(rng, "bfloat16", (500,)) for _ in range(2))):
        given = [BFloat16.of_bits(b) for b in (x, y)[: 1 + two]]
        theirs = [np.array(b).view(other)[()] for b in (x, y)[: 1 + two]]
        with np.errstate(all="ignore"):
            got, want = BFLOAT[name](*given), BFLOAT[name](*theirs)
        assert isinstance(got, BFloat16) == isinstance(want, other)
        if isinstance(got, BFloat16):
            got, want = got.value, np.float32(want)
        assert type(got) is type(want) and (got == want or got != got and want != want), (given, got, want)


def test_the_reference_rounds_to_bfloat16_once():
    """From the number itself: by way of float32 these would be ties."""
    for n in (257 * 2**40 + 1, 2**63 - 1, 1 + 2.0**-8 + 2.0**-40, 2.0**-134 * (1 + 2.0**-40), 3.3961775292304600e38):
        lower = BFloat16(n).value
        steps = [abs(float(np.nextafter(lower, d, dtype=np.float32)) - n) for d in (np.float32(0), np.float32(np.inf))]
        assert np.isinf(lower) or abs(float(lower) - n) <= 2.0**-8 * abs(n) + 2.0**-134, (n, lower, steps)
    assert BFloat16(257 * 2**40 + 1).value == 258 * 2.0**40 and BFloat16(257 * 2**40).value == 256 * 2.0**40
    assert BFloat16(2.0**-134 * (1 + 2.0**-40)).value == 2.0**-133 and BFloat16(2.0**-134).value == 0


RECORD = Record({"x": "int32", "t": "datetime64[s]", "v": Array("float32", 1, (2,)), "p": Record({"z": "complex64"})}, align=True)


def test_the_reference_of_records_and_named_tuples():
    source = (
        'P = collections.namedtuple("P", "x y")\ndef prog(q, p):\n    r = q[1]\n    r.x += p.y\n    q["p"].z[2] = p.x\n'
        "    return (q[1].x, q.p[2].z.imag, r.v[1] + p._replace(y=2.5).y, P(y=r.t, x=1).y - q[0]['t'])\n"
    )
    q = np.zeros(3, kinds.memory(RECORD)).view(np.recarray)
    q["x"], q["v"], q["t"] = 7, 0.5, np.array([1, 5, 9]).astype("M8[s]")
    found = Meaning(source, "prog", (Array(RECORD, 1), Named("P", ("x", "y"), ("complex64", "pyint"))))
    function = found.function()
    results = function(q, function.__globals__["P"](np.complex64(2j), 3))
    assert found.result == ("int32", "float32", "float32", "timedelta64[s]")
    assert results == (10, 2, 3.0, np.timedelta64(4, "s")) and [type(v) for v in results[:3]] == [np.int32, np.float32, np.float32]


PARTS = (".real", ".conjugate()", "._replace(", ".astype(", "np.isnat(", "np.datetime64(", "divmod(", ".p.", "cuda.local.array(", "while ", "sum(", "any(")


def test_all_kinds_are_drawn():
    """Every type of the table among the parameters, elements and results of a run's programs, and every template somewhere."""
    drawn = [*math_functions.EXACT_MATH, *math_functions.INEXACT_MATH, *math_functions.INTEGER_MATH, "prod"]
    missing = {*kinds.TYPES, *kinds.WEAK_TYPES, "Named", "Record"}
    parts = {*PARTS, *(f"math.{name}(" for name in drawn)}
    for seed in range(0, 2 * PROGRAMS, 2):
        made, found = programs.program(seed)
        parts -= {part for part in parts if part in made.source}
        for t in [*made.parameters.values(), *found.result]:
            missing -= {str(t.dtype if isinstance(t, Array) else t), type(t.dtype if isinstance(t, Array) else t).__name__}
        if not missing | parts:
            break
    assert not missing | parts


# --- the machinery that finds and shrinks
# ----------------------------------------------------------------------------------


def of_source(source, parameters, seed=1):
    made = programs.Program(source, parameters, seed)
    return differential.Case(made, made.meaning(), ROWS, seed)


def wrong():
    """A case with one bit of the expected results turned: a bug, as seen from outside."""
    case = of_source("def prog(a0, a1):\n    return (a0 ^ a1, a0 - a1)\n", {"a0": "int16", "a1": "int16"})
    case.reference = case.expected()
    column = case.reference[0][0]
    column[3] = ~column[3]
    return case


def test_a_wrong_bit_is_found():
    case = wrong()
    (failure,) = differential.check([case], opt=0)
    assert failure.kind in ("value", "array") and "result 0" in failure.text


def test_cpython_says_which_of_two_is_wrong():
    case = wrong()
    (failure,) = differential.check([case], opt=0)
    assert differential.is_of_reference(failure)
    batch = differential.Batch([case])
    arrays, kernel = batch.run(opt=0)
    types = differential.inferred_types(kernel)[0]
    assert plain.agrees(case, batch.slots[0], arrays, types)
    array, k = batch.slots[0][0]
    arrays[array][k] += 1
    assert not plain.agrees(case, batch.slots[0], arrays, types)
    assert not plain.agrees(case, batch.slots[0], batch.arrays(), "(float16,)")


def test_a_store_that_is_not_seen_is_found(monkeypatch):
    """An array that a program changes and a launch takes read-only, as where what is written was not known; what is only read may be taken."""
    writes = "def prog(a0, s):\n    (s, s)[a0 % 2][1] = a0 ^ s[1] ^ 1\n    return (a0,)\n"
    reads = "def prog(a0, s):\n    return (a0 + (s, s)[a0 % 2][1],)\n"
    cases = [of_source(text, {"a0": "int16", "s": Array("int16", 1)}) for text in (writes, reads)]
    assert differential.check(cases, opt=0) == []
    monkeypatch.setattr(differential.Batch, "takes_read_only", lambda self, name: True)
    (failure,) = differential.check(cases, opt=0)
    assert failure.kind == "read-only" and failure.case is cases[0]


def test_a_wrong_type_is_found():
    case = differential.case_of(3, ROWS)
    t = case.meaning.result
    case.meaning.result = differential.Tuple(("pyint" if t[0] != "pyint" else "int64", *t[1:]))
    case.reference = case.expected() if False else (None, {}, np.ones(ROWS, bool))
    failure = differential.compare(case, [], {}, {0: str(t)}, 0, "host")
    assert failure.kind == "types"


def test_failures_shrink_and_reproduce(monkeypatch, tmp_path):
    """With a reference that has it that ^ is |, a large program shrinks to one ^, and its script runs."""
    monkeypatch.setattr(
        meaning.Body, "binary",
        lambda self, name, *rest, old=meaning.Body.binary: old(self, "BitOr" if name == "BitXor" else name, *rest),
    )  # fmt: skip
    source = (
        "def prog(a0, a1):\n    v1 = a0 + 1\n    for k2 in range(3):\n        if v1 > k2:\n            v1 += a1\n"
        "    v3 = (v1 * 2, (v1 ^ a1) - 7)\n    return (v3[1], v1, a0 - a1)\n"
    )
    made = programs.Program(source, {"a0": "int16", "a1": "int16"}, 0)
    (failure,) = differential.check([differential.Case(made, made.meaning(), ROWS, 1)], opt=0)
    small = shrink.shrunk(failure)
    assert small.case.program.source.count("\n") <= 4 and "^" in small.case.program.source
    path = shrink.store(small, tmp_path)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "<-- differs" in done.stdout


def test_a_candidate_that_does_not_end_is_given_up():
    with pytest.raises(TimeoutError), shrink.limited(0.05):
        while True:
            pass


def test_a_known_number_that_does_not_fit_is_refused_rightly():
    """-7 wraps in the reference, which does not know it; another number's error would be a failure, and others of the batch are compared."""
    source = "def prog(a0):\n    v = -7\n    n = 0\n    while n < 3:\n        n += 1\n        v = v\n    return (np.uint16(v),)\n"
    case, other = of_source(source, {"a0": "int8"}), wrong()
    (failure,) = differential.check([case, other], opt=0)
    assert case.refused and not other.refused and failure.case is other
    case.wrapped = {(-7, "uint8"), (-8, "uint16")}
    (failure,) = differential.check([case], opt=0)
    assert failure.kind == "exception" and "the integer -7 does not fit uint16" in failure.text


CLASS = 'prog_P0 = collections.namedtuple("prog_P0", "x y")\n'
OF_EACH_KIND = {  # a program whose subtraction is the one thing that a wrong reference has otherwise
    "bfloat16": ("v1 = a1 - a0", dict(a0="bfloat16", a1="bfloat16")),
    "bfloat16 array": ("v1 = s[2] - a0", dict(a0="bfloat16", s=Array("bfloat16", 1))),
    "complex64": ("v1 = (a0 - a1) * 1j", dict(a0="complex64", a1="float32")),
    "pycomplex": ("v1 = a0 - 2j", dict(a0="pycomplex")),
    "complex128 array": ("v1 = m[1, 2].conjugate() - a0", dict(a0="complex128", m=Array("complex128", 2))),
    "timedelta64": ("v1 = a0 - np.timedelta64(3, 's')", dict(a0="timedelta64[25ms]")),
    "datetime64": ("v1 = a0 - np.datetime64(3, 'D')", dict(a0="datetime64[s]")),
    "named": ("v1 = p.x - p.y", dict(p=Named("prog_P0", ("x", "y"), ("float32", "pycomplex")))),
    "named of dates": ("v1 = prog_P0(p[1], y=p[0]).y - p.y", dict(p=Named("prog_P0", ("x", "y"), ("datetime64[D]", "datetime64[ms]")))),
    "record": ("v1 = q[3].x - q[2]['v'][1]", dict(q=Array(RECORD, 1))),
    "nested record": ("r = q[1].p\n    r.z -= a0\n    v1 = r.z - 1", dict(a0="float32", q=Array(RECORD, 1))),
}


@pytest.mark.parametrize("kind", OF_EACH_KIND)
def test_a_failure_of_each_kind_shrinks_and_reproduces(kind, monkeypatch, tmp_path):
    statement, parameters = OF_EACH_KIND[kind]
    source = f"{CLASS}def prog(b, {', '.join(parameters)}):\n    w = b + 1\n    {statement}\n    return (w, v1, b)\n"
    parameters = {"b": "int16", **parameters}
    assert differential.check([of_source(source, parameters)], opt=0) == [], "the program itself is right"

    def wrong(self, name, *rest, old=meaning.Body.binary):
        return old(self, "Add" if name == "Sub" and KIND[rest[0][1]] != "M" else name, *rest)

    def wrong_dates(self, name, left, right, old=meaning.Body.date_binary):
        return old(self, name, *((right, left) if name == "Sub" else (left, right)))

    monkeypatch.setattr(meaning.Body, "binary", wrong)
    monkeypatch.setattr(meaning.Body, "date_binary", wrong_dates)
    (failure,) = differential.check([of_source(source, parameters)], opt=0)
    small = shrink.shrunk(failure)
    assert "w = b" not in small.case.program.source and "-" in small.case.program.source
    path = shrink.store(small, tmp_path)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "<-- differs" in done.stdout
