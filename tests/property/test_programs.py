"""Random programs: CPython on NumPy scalars and the device give the same types and the same bits.

2,000 seeds each run, in shards. A failure is shrunk and written as a script to build/failures;
`scripts/soak` runs more seeds than these.
"""

import functools
import itertools

import differential
import numpy as np
import programs
import pytest
import shrink
from meaning import Meaning
from scalars import CONVERT, INTEGERS, SAMPLE, Invalid, Unspecified, join

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ~True, in programs as they come
PROGRAMS, SHARD, ROWS = 2000, 50, 24


@pytest.mark.parametrize("first", range(0, PROGRAMS, SHARD))
def test_programs(first):
    failures = []
    for k in range(first, first + SHARD, 10):
        cases = [differential.case_of(seed, ROWS) for seed in range(k, k + 10)]
        failures += differential.check(cases, opt=3 if k % 40 == 0 else 0)
    reports = []
    for failure in failures[:3]:
        small = shrink.shrunk(failure)
        reports.append(f"{small}\n{small.case.program.source}\nreproducer: {shrink.store(small)}")
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
    names = [*programs.STRONG, *programs.WEAK]
    for n in (2, 3, 4):
        for types in itertools.combinations(names, n):
            if any(t in programs.STRONG for t in types):
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


# --- the machinery that finds and shrinks
# ----------------------------------------------------------------------------------


def wrong(case):
    """The case with one bit of the expected results turned: a bug, as seen from outside."""
    case.reference = case.expected()
    column = case.reference[0][0]
    column[3] = ~column[3] if column.dtype.kind in "iub" else -column[3] - 1
    return case


def test_a_wrong_bit_is_found():
    case = wrong(differential.case_of(3, ROWS))
    (failure,) = differential.check([case], opt=0)
    assert failure.kind in ("value", "array") and "result 0" in failure.text


def test_a_wrong_type_is_found():
    case = differential.case_of(3, ROWS)
    t = case.meaning.result
    case.meaning.result = differential.Tuple(("pyint" if t[0] != "pyint" else "int64", *t[1:]))
    case.reference = case.expected() if False else (None, {}, np.ones(ROWS, bool))
    failure = differential.compare(case, [], {}, {0: str(t)}, 0, "host")
    assert failure.kind == "types"


def test_failures_shrink_and_reproduce(monkeypatch, tmp_path):
    """With a reference that has it that ^ is |, a large program shrinks to one ^, and its script runs."""
    import subprocess
    import sys

    import meaning

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
