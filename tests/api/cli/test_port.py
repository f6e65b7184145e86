"""pyptx port and PYPTX_ADVICE=port: which places they list, and that what they say to write gives Numba's types.

The types are those of typing="numba", which tests/api/language/test_numba_typing.py compares with Numba's own. Each remedy for an expression of
that table is put in its place, and NumPy's rules must then give Numba's type.
"""

import cmath
import linecache
import math
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from pyptx import _port, _pyptx, cli, cuda

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "language"))
import test_numba_typing as recorded  # noqa: E402

PROGRAM = """
    import numpy as np
    from pyptx import cuda

    @cuda.jit(device=True)
    def half(v):
        return 0.5 * v

    @cuda.jit("void(float32[::1], int8[::1], float64[::1])")
    def kernel(x, small, out):
        s = 0.0
        for j in range(x.size):
            s += x[j]
        i = cuda.grid(1)
        if i < out.size:
            if x[i] < 0.1:
                small[i] += 1
            out[i] = half(x[i]) * s + (small[i] + small[i]) // 3
"""
PLACES = [  # line, expression, NumPy's, Numba's, what to write
    (7, "0.5 * v", "float32", "float64", "np.float64(0.5) * v"),
    (11, "s = 0.0", "float32", "float64", "s = np.float64(0.0)"),
    (16, "x[i] < 0.1", "float32", "float64", "np.float64(x[i]) < 0.1"),
    (17, "small[i] += 1", "int8", "int64", "small[i] = np.int64(small[i]) + 1"),
    (18, "small[i] + small[i]", "int8", "int64", "np.int64(small[i]) + small[i]"),
]
NUMBER = iter(range(1 << 30))


def function(source, name="f", **scope):
    """The function of that name, with a source that messages can show."""
    file = f"<port {next(NUMBER)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = {"math": math, "cmath": cmath, "np": np, "cuda": cuda, **scope}
    exec(compile(source, file, "exec"), scope)
    return scope[name]


def rules(f, signature):
    return [place for place in _port.compare(f, signature) if not place.follows]


def of(body, signature, arguments="a, b"):
    """[(expression, ours, theirs, write)] of a function with this body."""
    f = function(f"def f({arguments}):\n" + textwrap.indent(textwrap.dedent(body), "    "))
    return [(p.expression, p.ours, p.theirs, p.write) for p in rules(f, signature)]


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))
    return path


# --- which places ---


def test_places_of_a_kernel(program, capsys):
    assert cli.main(["port", f"{program}:kernel"]) == 0
    out = capsys.readouterr().out
    lines = program.read_text().splitlines()
    want = "".join(
        f"{program}:{line}:{lines[line - 1].index(text) + 1}: {text}\n    {ours} by NumPy's rules, {theirs} by Numba's; for Numba's: {write}\n"
        for line, text, ours, theirs, write in ((a, "0.0" if b.startswith("s =") else b, *rest) for a, b, *rest in PLACES))
    assert out.replace(": s = 0.0\n", ": 0.0\n").startswith(want)
    assert "\n5 places in 1 kernel where NumPy's rules and Numba's differ, and 5 that follow from them (--all)\n" in out
    assert 'typing="numba" in @cuda.jit, or PYPTX_TYPING=numba, keeps all' in out


def test_all_lists_what_follows(program, capsys):
    assert cli.main(["port", f"{program}:kernel", "--all"]) == 0
    out = capsys.readouterr().out
    assert out.count("follows from another place") == 5 and ": s += x[j]\n" in out and "--all" not in out


# x, y = 0, 0: CPython 3.14 makes no tuple of these, and what is named is the number
BOTH_AT_ONCE = ("x = 0", "int8", "int64", "x = np.int64(0)") if sys.version_info >= (3, 14) else ("x", "int8", "int64", "x = np.int64(x)")


@pytest.mark.parametrize(
    "body, signature, places",
    [
        ("return a + b", "int8, int8", [("a + b", "int8", "int64", "np.int64(a) + b")]),
        ("return a / b", "int32, int32", []),
        ("return a // b", "int32, int32", [("a // b", "int32", "int64", "np.int64(a) // b")]),
        ("return 2 * a", "float32, int8", [("2 * a", "float32", "float64", "np.float64(2) * a")]),
        ("return -a", "int16, int8", [("-a", "int16", "int64", "-np.int64(a)")]),
        ("return a + b", "uint64, int64", [("a + b", "float64", "int64", "np.int64(a + b)")]),
        ("return a ** b", "float32, int64", [("a ** b", "float64", "float32", "np.float32(a ** b)")]),
        ("return math.floor(a)", "float32, int8", [("math.floor(a)", "pyint", "float32", "np.float32(math.floor(a))")]),
        ("return min(a, 0.5)", "float32, int8", [("min(a, 0.5)", "float32", "float64", "min(np.float64(a), np.float64(0.5))")]),
        ("return a if b else 0.5", "float32, bool", [("return a if b else 0.5", "float32", "float64", "return np.float64(a if b else 0.5)")]),
        ("return a < b", "int8, int32", []),  # exact in every type
        ("return a == 0.1", "float32, int8", [("a == 0.1", "float32", "float64", "np.float64(a) == 0.1")]),
        ("return cuda.threadIdx.x", "float32, int8", []),  # int32 in Numba, and the same number
        ("return cuda.threadIdx.x * a", "float32, int8", [("cuda.threadIdx.x * a", "float32", "float64", "np.float64(cuda.threadIdx.x) * a")]),
        ("return np.float64(0.5) * a", "float32, int8", []),
        ("return 2 + 3", "float32, int8", []),
        ("return a + b", "float64, int64", []),
        ("m = a\nfor k in range(3):\n    m = m + b\nreturn m", "float32, int32", [("m + b", "float64", "float64", "")][:0]),
        ("x, y = 0, 0\nfor k in range(3):\n    x += a\nreturn x + y", "int8, int8", [BOTH_AT_ONCE]),
    ],
)
def test_kinds_of_places(body, signature, places):
    assert of(body, signature) == places


def test_functions_are_compared_for_the_types_of_their_calls():
    helper = function("def helper(v):\n    return v * 2\n", "helper")
    f = function("def f(a, b):\n    return helper(a) + helper(0.5 * b)\n", helper=helper)
    places = rules(f, "int8, float32")
    assert [(p.expression, p.ours, p.theirs) for p in places] == [("v * 2", "int8", "int64"), ("0.5 * b", "float32", "float64")]


def test_what_one_typing_refuses_is_a_place():
    (place,) = rules(function("def f(s):\n    s ^= 0xA5366B4D\n    return s\n"), "int32")
    assert place.line == 2 and "an error by NumPy's rules alone, PT206" in str(place)


def test_negative_powers_differ_in_value():
    (place,) = rules(function("def f(a, b):\n    return a ** b\n"), "int64, int64")
    assert "not 0 of 1 and -1" in str(place) and place.expression == "a ** b"
    values = []
    for typing in "numpy", "numba":
        kernel = cuda.jit(function("def f(a, b, out):\n    out[0] = a ** b\n"), typing=typing)
        kernel[1, 1](np.int64(-1), np.int64(-3), out := np.zeros(1, np.int64))
        values.append(int(out[0]))
    assert values == [0, -1]
    assert not rules(function("def f(a):\n    return a ** 3\n"), "int64")


def test_numpy_by_another_name_and_text_beyond_ascii():
    f = function("def f(a, b):\n    return (b if 'ü' == 'ü' else b) + xp.float32(2) * a + 0.5 * a\n", xp=np, np=None)
    (place,) = rules(f, "float32, float32")
    assert place.write == "xp.float64(0.5) * a" and place.column == 59


# --- what to write ---


def result(f, signature, typing="numpy"):
    return _pyptx._compile(f, signature, "host", None, 0, {"typing": typing, "device": True, "opt": 0}, "types")["result"]


def with_remedies(source, places):
    """The source with what the places say to write; None if one says nothing that can be put in its place."""
    lines = source.splitlines()
    for p in sorted(places, reverse=True):
        old, new, line = p.expression, p.write, lines[p.line - 1]
        if " = " in old and not line[p.column - 1 :].startswith(old):  # a variable: of its start
            old, new = old.partition(" = ")[2], new.partition(" = ")[2]
        if not new or not line[p.column - 1 :].startswith(old):
            return None
        new = new if old.isidentifier() or " = " in new or new.startswith("return ") else f"({new})"
        lines[p.line - 1] = line[: p.column - 1] + new + line[p.column - 1 + len(old) :]
    return "\n".join(lines) + "\n"


def test_remedies_give_the_types_of_numba():
    rows = [(names, *row[:2]) for names, group in recorded.TABLE.items() for row in group]
    tried, wrong = 0, []
    for names, source, want in random.Random(7).sample(rows, 1500):
        signature = ", ".join("bool" if n == "boolean" else n for n in names)
        f = function(source)
        places = rules(f, signature)
        changed = source
        while changed and places and len(changed) < 3 * len(source):  # what a remedy narrows may differ behind it
            changed = with_remedies(changed, places)
            places = rules(function(changed), signature) if changed else []
        if changed in (None, source):
            continue
        tried += 1
        got = result(function(changed), signature)
        if recorded.strong(got) != recorded.plain(want) and recorded.strong(got) != recorded.strong(result(f, signature, "numba")):
            wrong.append(f"{signature}: {source} → {changed}: {got}, but Numba gives {want}")
    assert not wrong, "\n".join(wrong)
    assert tried > 250


def test_every_other_type_is_listed():
    """No expression of the table has another type under Numba's rules without a place."""
    rows = [(names, *row[:2]) for names, group in recorded.TABLE.items() for row in group]
    silent = []
    for names, source, _ in random.Random(8).sample(rows, 1000):
        signature = ", ".join("bool" if n == "boolean" else n for n in names)
        f = function(source)
        if rules(f, signature):
            continue
        ours, theirs = result(f, signature), result(f, signature, "numba")
        if not _port.only_registers(ours, theirs):
            silent.append(f"{signature}: {source}{ours}, {theirs}")
    assert not silent, "\n".join(silent)


def test_the_program_with_the_remedies_computes_what_numba_does(program):
    scope = {"__name__": "program"}
    text = program.read_text()
    exec(compile(text, str(program), "exec"), scope)
    places = [p for p in _port.compare(scope["kernel"], "float32[::1], int8[::1], float64[::1]") if not p.follows]
    changed, kept = {"__name__": "changed"}, {"__name__": "kept"}
    exec(compile(with_remedies(text, places), "<changed>", "exec"), changed)
    exec(compile(text.replace('[::1])")', '[::1])", typing="numba")'), "<kept>", "exec"), kept)
    rng = np.random.default_rng(1)
    x, small = rng.random(200, np.float32), rng.integers(-128, 128, 200).astype(np.int8)
    outs = []
    for one in scope, changed, kept:
        outs.append(np.zeros(200))
        one["kernel"][2, 128](x, small.copy(), outs[-1])
    assert (outs[1] == outs[2]).all() and (outs[0] != outs[2]).any()


# --- the command and the variable ---


def test_types_that_are_not_known(tmp_path, capsys):
    path = tmp_path / "lazy.py"
    path.write_text("from pyptx import cuda\n\n@cuda.jit\ndef k(x):\n    x[0] *= 0.5\n")
    assert cli.main(["port", str(path)]) == 2
    assert "PYPTX_ADVICE=port python program.py" in capsys.readouterr().err
    assert cli.main(["port", str(path), "--sig", "float32[::1]"]) == 0
    assert "x[0] = np.float64(x[0]) * 0.5" in capsys.readouterr().out
    assert cli.main(["port", str(path), "--sig", "float32[::1], int32"]) == 1
    assert "PT208" in capsys.readouterr().err
    assert cli.main(["port", str(path), "--sig", "flot32[::1]"]) == 2
    assert "--sig for 'k'" in capsys.readouterr().err


def test_kernels_without_types_are_named(program, capsys):
    program.write_text(program.read_text() + "\n@cuda.jit\ndef other(x):\n    x[0] = 1\n")
    assert cli.main(["port", f"{program}:kernel,other"]) == 0
    assert "not compared, since their argument types are not known: other" in capsys.readouterr().err


def test_nothing_differs(tmp_path, capsys):
    path = tmp_path / "same.py"
    path.write_text('from pyptx import cuda\n\n@cuda.jit("void(float64[::1])")\ndef k(x):\n    x[0] *= 0.5\n')
    assert cli.main(["port", str(path)]) == 0
    assert capsys.readouterr().out == "NumPy's rules and Numba's give the same types in 1 kernel\n"


@pytest.mark.host_only("one run of a program is enough")
@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_a_program_reports_what_it_used(program, typing):
    program.write_text(program.read_text().replace('("void(float32[::1], int8[::1], float64[::1])")', "")
                       + "\nx = np.ones(100, np.float32)\nkernel[1, 128](x, np.ones(100, np.int8), np.zeros(100))\nprint('done')\n")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PYPTX_ADVICE": "port", "PYPTX_TYPING": typing})
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    for line, text, *types, write in PLACES:
        assert f"program.py:{line}:" in done.stderr and f": {text}\n    " in done.stderr and f"for Numba's: {write}\n" in done.stderr
    assert "5 places in 1 kernel" in done.stderr
