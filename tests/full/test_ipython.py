"""IPython and Jupyter: magics, prints, errors and progress, in an InteractiveShell of this process and in cells that nbclient runs in a kernel.
Nothing is skipped where IPython is missing: it is in requirements-full.txt."""

import io
import os
import re
import warnings
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import nbclient
import nbformat
import numpy as np
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

os.environ.setdefault("PYPTX_DEVICE", "host")


@pytest.fixture
def shell(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}), colors="nocolor")
    cell(shell, "import numpy as np\nfrom pyptx import cuda\n%load_ext pyptx")
    yield shell
    InteractiveShell.clear_instance()


def cell(shell, text):
    """(what it printed, what it displayed, the result)"""
    with capture_output() as seen:
        result = shell.run_cell(text, store_history=True)
    return seen.stdout + seen.stderr, seen.outputs, result


KERNEL = """@cuda.jit
def scale(x, f):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] * f
"""


# --- %%pyptx ---


def test_a_cell_is_compiled_and_shown(shell):
    said, shown, result = cell(shell, '%%pyptx --sig "float32[::1], float32" --arch sm_90 --emit ptx\n' + KERNEL)
    assert result.success and not said and len(shown) == 1
    text, html = shown[0].data["text/plain"], shown[0].data["text/html"]
    assert text.startswith("scale(float32[::1], float32) for sm_90\n") and ".target sm_90" in text and ".entry scale(" in text
    assert re.search(r"global loads: 1\n.*global stores: 1\n", text, re.S) and "<details open>" in html and "&lt;" in html
    assert "global stores" in html
    x = np.arange(5, dtype=np.float32)
    shell.user_ns["scale"][1, 32](x, np.float32(3))
    assert (x == 3 * np.arange(5)).all()


def test_several_kernels_and_signatures(shell):
    two = KERNEL + "\n@cuda.jit('void(int32[:])')\ndef count(x):\n    x[0] += 1\n\n@cuda.jit(device=True)\ndef helper(x):\n    return x\n"
    said, shown, _ = cell(shell, '%%pyptx -s "scale=float32[:], int32" -s "scale=float64[:], float64" --emit ptx\n' + two)
    assert [s.data["text/plain"].splitlines()[0] for s in shown] == [
        "scale(float32[:], int32) for sm_75", "scale(float64[:], float64) for sm_75", "count(int32[:]) for sm_75"], said  # fmt: skip
    assert "float64: " in shown[1].data["text/plain"] and "float64: " not in shown[2].data["text/plain"]


def test_emit(shell):
    _, shown, _ = cell(shell, '%%pyptx -s "float32[:], int32" --emit types,ssa,llvm,llvm-opt,ptx\n' + KERNEL)
    text = shown[0].data["text/plain"]
    assert [text.index(f"--- {name}\n") for name in ("types", "ssa", "llvm", "llvm-opt", "ptx")] == sorted(
        text.index(f"--- {name}\n") for name in ("types", "ssa", "llvm", "llvm-opt", "ptx"))  # fmt: skip


def test_the_report_is_shown_where_there_is_one():
    from pyptx import _magics

    asked = []
    function = SimpleNamespace(report=lambda signature, arch: asked.append((signature, arch)) or "the report")
    unit = SimpleNamespace(function=function, signature="float32[:]")
    assert _magics.what_to_show(unit, "sm_90", None) == "the report" and asked == [("float32[:]", "sm_90")]


@pytest.mark.parametrize("line, body, said", [
    ("", KERNEL, "the argument types of 'scale' are not known: add --sig"),
    ('-s "float32[:], int32" --emit sass', KERNEL, "'sass' cannot be emitted here; there are ptx, types"),
    ('-s "float32[:], int32" --arch sm_9000', KERNEL, "unknown architecture 'sm_9000'"),
    ('-s "float32[:], int32" --arch host', KERNEL, "what is shown is PTX"),
    ('-s "float32[:]', KERNEL, "No closing quotation"),
    ("--what", KERNEL, "unrecognized arguments: --what"),
    ("", "x = 1", "this cell defines no @cuda.jit kernel"),
])  # fmt: skip
def test_wrong_use_is_said_in_a_line(line, body, said, shell):
    text, shown, _ = cell(shell, f"%%pyptx {line}\n{body}")
    assert text.startswith("UsageError: %%pyptx: ") and said in text and len(text.splitlines()) == 1 and not shown


def test_errors_of_the_cell_are_the_cells(shell):
    number = len(shell.user_ns["In"])
    text, shown, result = cell(shell, '%%pyptx -s "float32[:]"\n@cuda.jit\ndef wrong(x):\n    x[0] = [1]\n')
    assert f"\n  Cell In[{number}]:4:5, in wrong\n    x[0] = [1]\n    ^^^^\n" in text and not shown, text
    text, shown, result = cell(shell, "%%pyptx\n\n1 / 0\n")
    assert not result.success and text.count("Traceback") + text.count("ZeroDivisionError") >= 1 and "CellFailed" not in text
    assert re.search(rf"Cell In\[{number + 1}\], line 3", text) and "ZeroDivisionError" in text and not shown


MAYBE = "@cuda.jit\ndef maybe(x):\n    if x[0] > 0:\n        y = 1\n    x[0] = y\n"


def test_advice_is_shown(shell):
    """As a warning beside texts; the report has it on its page."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cell(shell, '%%pyptx -s "int32[:]" --emit ptx\n' + MAYBE)
    assert any("Cell In[" in str(w.message) and "in maybe" in str(w.message) for w in caught)
    report = shell.user_ns["maybe"].report("int32[:]")
    assert "PT801" in report.html and "PT801" in str(report.data[0]["advice"])


# --- %cuda_timeit ---


def test_lines_and_cells_are_timed(shell):
    cell(shell, KERNEL + "x = cuda.to_device(np.ones(100, np.float32))\nruns = []")
    said, _, result = cell(shell, "%cuda_timeit -n 3 -r 2 scale[1, 128](x, 2)")
    assert re.fullmatch(r"[\d.]+ \S+ median, [\d.]+ \S+ min, [\d.]+ \S+ max \(2 runs of 3 loops each, by the clock, on the host device, '.*'\)\n", said)
    assert result.result is None and shell.user_ns["x"].copy_to_host()[0] == 2.0**7
    said, _, result = cell(shell, "%%cuda_timeit -n 3 -r 2 -o -q total = 1\ntotal += 1\nruns.append(total)\n")
    assert shell.user_ns["runs"] == [2, 3, 4, 5, 6, 7, 8] and "total" not in shell.user_ns  # the setup once, its variables the statement's
    timing = result.result
    assert timing.best <= timing.median <= timing.worst and "median" not in said.replace(str(timing), "")
    said, _, _ = cell(shell, "%cuda_timeit -r 1 pass")
    assert "(1 run of " in said and "0,000 loops each" in said


@pytest.mark.parametrize("line, said", [
    ("%cuda_timeit", "there is no statement to measure"), ("%cuda_timeit -n x pass", "invalid literal for int"), ("%cuda_timeit -n 0 pass", "at least 1 is needed"),
    ("%cuda_timeit -r 0 pass", "0 runs: at least 1 is needed"),
])  # fmt: skip
def test_wrong_timings_are_said_in_a_line(line, said, shell):
    text, _, _ = cell(shell, line)
    assert text.startswith("UsageError: %cuda_timeit: ") and said in text and len(text.splitlines()) == 1


def test_errors_of_a_timed_statement(shell):
    text, _, result = cell(shell, "%cuda_timeit -n 1 nothing(3)")
    assert isinstance(result.error_in_exec, NameError)
    cell(shell, "@cuda.jit\ndef out(x):\n    x[99] = 1\n")
    text, _, result = cell(shell, "%cuda_timeit -n 1 out[1, 1](np.zeros(3))")
    assert isinstance(result.error_in_exec, IndexError) and "Cell In[" in str(result.error_in_exec)


# --- prints and errors ---


def test_prints_are_captured_in_order(shell):
    cell(shell, '@cuda.jit\ndef says(n):\n    print("kernel", n)\n')
    cell(shell, '%%capture seen\nfor i in range(3):\n    print("python", i)\n    says[1, 1](i)\n')
    assert shell.user_ns["seen"].stdout == "".join(f"python {i}\nkernel {i}\n" for i in range(3))


def test_completion_has_the_common_names(shell):
    with provisionalcompleter():
        names = {c.text for c in shell.Completer.completions("cuda.", 5)}
    without_jedi = {name.split(".")[-1] for name in shell.Completer.attr_matches("cuda.")}
    assert names == {name for name in without_jedi if not name.startswith("_")} and {"jit", "grid", "to_device", "synchronize", "shared"} <= names and not {"f4", "float32x4", "GetIpcHandleMixin"} & names


# --- a kernel of Jupyter ---


def execute(*cells, **env):
    """The outputs of the cells: lists of (name or type, text)."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    before = {name: os.environ.get(name) for name in env}
    os.environ.update(env)
    try:
        nbclient.NotebookClient(book, timeout=120, kernel_name="python3", allow_errors=True).execute()
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return [[(o.get("name", o.output_type), o.get("text") or o.get("evalue") or o.get("data")) for o in c.outputs] for c in book.cells]


def test_a_notebook():
    outputs = execute(
        "import numpy as np\nfrom pyptx import cuda\n%load_ext pyptx\n\n@cuda.jit\ndef says(x):\n    print('kernel', x[0])\n    x[0] += 1\n\nx = np.zeros(1, int)",
        "print('before')\nsays[1, 1](x)\nprint('between')\nsays[1, 1](x)\nprint('after')",
        "%%capture seen\nprint('python')\nsays[1, 1](x)",
        "print(repr(seen.stdout))",
        "cuda.to_device(np.arange(6).reshape(2, 3))",
        "says",
        "@cuda.jit\ndef wrong(x):\n    x[7] = 1\nwrong[1, 1](x)",
        '%%pyptx -s "float32[::1]"\n@cuda.jit\ndef k(x):\n    x[0] = 1\n',
        "%cuda_timeit -n 2 -r 2 says[1, 1](x)",
    )
    assert outputs[0] == []
    assert outputs[1] == [("stdout", "before\nkernel 0\nbetween\nkernel 1\nafter\n")]
    assert outputs[2] == [] and outputs[3] == [("stdout", "'python\\nkernel 2\\n'\n")]
    assert "<td style='text-align:right'>5</td>" in outputs[4][0][1]["text/html"]
    assert "kernel says" in outputs[5][0][1]["text/html"]
    assert outputs[6][0][0] == "error" and "\n  Cell In[7]:3:5, in wrong\n    x[7] = 1" in outputs[6][0][1]
    assert "text/html" in outputs[7][0][1]
    assert "".join(text for _, text in outputs[8]).startswith("kernel 3\n") and "median" in outputs[8][-1][1]


def test_progress_is_in_the_cell_that_is_long():
    slow = "lines = '\\n'.join(f'    x[{i}] = x[{i + 1}] * {i} + x[{i + 2}] ** 2' for i in range(600))\nexec(f'def kernel(x):\\n{lines}')\n"
    outputs = execute(
        "import numpy as np, time\nfrom pyptx import _progress, cuda\n_progress.DELAY, _progress.PERIOD = 0.0, 0.01\ncuda.jit(lambda x: None)[1, 1](3)\n",
        "time.sleep(0.2)",
        slow + "cuda.jit(kernel)[1, 1](np.zeros(700))",
        "time.sleep(0.2)",
        PYPTX_CACHE_DIR="",
    )
    assert outputs[1] == [] and outputs[3] == []
    said = "".join(text for name, text in outputs[2] if name == "stderr")
    assert "pyptx: compiling kernel(float64[::1]) [" in said, outputs


def test_progress_is_off_where_it_is_captured():
    from pyptx import _progress

    with redirect_stderr(io.StringIO()), redirect_stdout(io.StringIO()):
        assert not _progress.is_on()
