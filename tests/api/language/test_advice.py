"""pyptx.Advice: how what the compiler says of kernels that compile is shown. Every row A of errors.def below PT811,
and PT820, PT822, PT823 and PT824, are given here or in test_advice_rows.py; those of launches are in
tests/api/launch/test_launch_advice.py."""

import importlib.util
import os
import re
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pyptx
import pytest
from pyptx import cuda
from test_errors import ROOT

ROW = re.compile(r'^A\((\w+),\s*"(PT80\d|PT810|PT82[0234])",\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)"\)', re.MULTILINE)
TABLE = {m[1]: m.groups()[1:] for m in ROW.finditer((ROOT / "ir/base/errors.def").read_text())}

# (row, source of a kernel with a place marked «», what it is called with, the line of the first note)
CASES = [
    ("MAYBE_UNSET", "def kernel(x):\n    if x[0] > 0:\n        v = 1\n    x[1] = «v»\n", 2),
    ("MAYBE_UNSET", "def kernel(x):\n    for i in range(int(x[0])):\n        v = i\n    «v» += 1\n    x[1] = v\n", 2),
    ("MAYBE_UNSET", "def kernel(x):\n    if x[0] > 0:\n        v = 1.0\n    for i in range(3):\n        v = «v» + i\n    x[1] = v\n", 2),
    ("MAYBE_UNSET", "def kernel(x):\n    if x[0] > 0:\n        v = x[0]\n    x[1] = sum«(v * w for w in x)»\n", 2),
    ("MAYBE_UNSET", "def kernel(x):\n    v = 1\n    if x[0] > 0:\n        del v\n    x[1] = «v»\n", 4),
]


def load(path):
    spec = importlib.util.spec_from_file_location("advised", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SOURCE = "from pyptx import cuda\n\n\n@cuda.jit{options}\n"


def written(tmp_path, source, options=""):
    """(the kernel of a file of its own, its path, line and column of the mark)."""
    text = SOURCE.format(options=options) + source
    before = text[: text.index("«")]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    path = tmp_path / "advised.py"
    path.write_text(text.replace("«", "").replace("»", ""))
    return load(path).kernel, str(path), line, column


PLAIN = CASES[0][1]


@pytest.fixture(autouse=True)
def mode(monkeypatch):
    monkeypatch.delenv("PYPTX_ADVICE", raising=False)


def test_table_is_well_formed():
    rows = re.findall(r'^A\((\w+),\s*"PT8(?:0|10|2[0234])', (ROOT / "ir/base/errors.def").read_text(), re.MULTILINE)
    assert rows == list(TABLE)
    assert all(message and remedy and "%" not in remedy for _, message, remedy in TABLE.values())


@pytest.mark.parametrize("row, source, note", CASES)
def test_what_it_says(row, source, note, tmp_path):
    kernel, path, line, column = written(tmp_path, source)
    code, message, remedy = TABLE[row]
    with pytest.warns(pyptx.Advice) as caught:
        kernel.compile("(float64[::1],)")
    (shown,) = caught
    (advice,) = kernel.advice("(float64[::1],)")
    assert (shown.filename, shown.lineno, str(shown.message)) == (path, line, str(advice))
    assert (advice.code, advice.file, advice.line, advice.column, advice.help) == (code, path, line, column, remedy)
    assert re.fullmatch(re.escape(message).replace("%s", ".*"), advice.message)
    lines = str(advice).splitlines()
    assert lines[0] == f"{code}: {advice.message}" and lines[1].startswith(f"  {path}:{line}:{column}, in kernel")
    assert set(lines[3].strip()) == {"^"} and f"{path}:{note + 4}:" in lines[4]


def test_it_is_shown_once_a_place(tmp_path):
    kernel, *_ = written(tmp_path, PLAIN)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x in (np.ones(3), np.ones(3, np.float32), np.ones(3, np.int32)):
            kernel[1, 1](x)
            kernel[1, 1](x)
    assert [w.category for w in caught] == [pyptx.Advice]
    assert [len(found) for found in kernel.advice().values()] == [1, 1, 1]


def test_threads_that_compile_at_once_show_it_once(tmp_path):
    kernel, *_ = written(tmp_path, PLAIN)
    start = threading.Barrier(4)

    def work(dtype):
        start.wait()
        kernel[1, 1](np.ones(3, dtype))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        threads = [threading.Thread(target=work, args=(t,)) for t in ("f4", "f8", "i4", "i8")]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert len(caught) == 1 and len(kernel.overloads) == 4


def test_a_function_that_two_kernels_call_is_advised_once(tmp_path):
    source = """
    def helper(x):
        if x > 0:
            v = x
        return v

    @cuda.jit
    def one(a):
        a[0] = helper(a[0]) + helper(int(a[0]))

    @cuda.jit
    def two(a):
        a[0] = helper(a[0])
    """
    path = tmp_path / "advised.py"
    path.write_text("from pyptx import cuda\n" + textwrap.dedent(source))
    module = load(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.one[1, 1](np.ones(1))
        module.two[1, 1](np.ones(1))
    assert len(caught) == 1 and len(module.two.advice("(float64[::1],)")) == 1


def test_a_filter_makes_it_an_error_each_time(tmp_path):
    kernel, *_ = written(tmp_path, PLAIN)
    x = np.ones(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pyptx.Advice)
        for _ in range(2):
            with pytest.raises(pyptx.Advice, match="PT801"):
                kernel[1, 1](x)
        assert not kernel.overloads and x[1] == 1
    with pytest.warns(pyptx.Advice):
        kernel[1, 1](x)


def test_a_filter_of_the_kernel_s_module_hides_it(tmp_path):
    kernel, *_ = written(tmp_path, PLAIN)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module=re.escape(kernel.py_func.__module__))
        kernel[1, 1](np.ones(3))
    assert not caught


def test_pyptx_advice_0(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_ADVICE", "0")
    kernel, *_ = written(tmp_path, PLAIN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel[1, 1](np.ones(3))
    assert [a.code for a in kernel.advice("(float64[::1],)")] == ["PT801"]


def test_pyptx_advice_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PYPTX_ADVICE", "error")
    kernel, *_ = written(tmp_path, PLAIN)
    for _ in range(2):
        with pytest.raises(pyptx.Advice, match="PT801") as caught:
            kernel[1, 1](np.ones(3))
    assert caught.value.code == "PT801"


@pytest.mark.parametrize("source", [PLAIN, "def kernel(x):\n    x[1] = «1»\n"])
def test_rubbish_in_pyptx_advice(tmp_path, monkeypatch, source):
    monkeypatch.setenv("PYPTX_ADVICE", "perhaps")
    kernel, *_ = written(tmp_path, source)
    with pytest.raises(ValueError, match="PYPTX_ADVICE is 'perhaps': write 0 .no advice., 1"):
        kernel[1, 1](np.ones(3))


def test_a_signature_advises_at_the_decorator(tmp_path):
    with pytest.warns(pyptx.Advice, match="PT801"):
        written(tmp_path, PLAIN, '("void(float64[::1])")')


def test_a_kernel_from_the_disk_cache_says_it_too(tmp_path):
    (tmp_path / "cached.py").write_text(
        textwrap.dedent("""
        import warnings
        import numpy as np
        from pyptx import cuda
        warnings.simplefilter("always")

        @cuda.jit(cache=True)
        def kernel(x):
            if x[0] > 0:
                v = 1
            x[1] = v

        kernel[1, 1](np.ones(3))
        (o,) = kernel.overloads.values()
        ((a,),) = kernel.advice().values()
        print(o.cache, a.line, a.column, a.message, str(a).count("^"))
        """)
    )
    env = {**os.environ, "PYPTX_CACHE_DIR": str(tmp_path / "cache")}
    said = [subprocess.run([sys.executable, tmp_path / "cached.py"], env=env, capture_output=True, text=True, timeout=120) for _ in range(2)]
    assert [s.stdout.split(maxsplit=1)[0] for s in said] == ["miss", "hit"], said
    assert said[0].stdout.split(maxsplit=1)[1] == said[1].stdout.split(maxsplit=1)[1]
    assert said[0].stderr == said[1].stderr and said[0].stderr.count("PT801") == 1


def test_the_command_line_prints_it(tmp_path):
    _, path, *_ = written(tmp_path, PLAIN)
    command = [sys.executable, "-m", "pyptx", "compile", path, "--sig", "float32[::1]", "--arch", "sm_80,sm_90", "-o", str(tmp_path / "out")]

    def run(mode):
        (tmp_path / "out").mkdir(exist_ok=True)
        return subprocess.run(command, env={**os.environ, "PYPTX_ADVICE": mode}, capture_output=True, text=True, timeout=120)

    done = run("1")
    assert done.returncode == 0 and done.stderr.count("PT801") == 1 and "^" in done.stderr
    assert run("0").stderr == ""
    assert run("error").returncode == 1
    wrong = run("2")
    assert wrong.returncode == 2 and "PYPTX_ADVICE is '2'" in wrong.stderr and "Traceback" not in wrong.stderr


def test_it_is_a_warning_with_a_plain_text():
    assert issubclass(pyptx.Advice, UserWarning) and str(pyptx.Advice()) == "" and str(pyptx.Advice("text")) == "text"
    assert cuda.jit(lambda x: None).advice("(float64[::1],)") == []
