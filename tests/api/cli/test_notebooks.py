"""What notebooks show, without IPython: HTML of arrays, kernels and devices, names for completion, progress, timings. tests/full/test_ipython.py
runs the magics, and cells in a kernel of Jupyter."""

import html.parser
import io
import os
import re
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import numpy as np
import pytest
from pyptx import _progress, _timing, cuda, errors
from standin import needs_standin, run

# --- HTML ---


class Checker(html.parser.HTMLParser):
    """Well formed, and the texts of its cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.text = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        assert not {"color", "background", "bgcolor"} & {word.split(":")[0].strip() for _, style in attributes for word in (style or "").split(";")}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)
        if self.open[-1] in ("td", "th"):
            self.cells.append(data)


def shown(thing):
    return Checker(thing._repr_html_())


def test_arrays():
    a = np.arange(12, dtype=np.float32).reshape(3, 4) / 2
    page = shown(cuda.to_device(a))
    assert page.cells == [str(x) for x in a.ravel()] and "float32, 3 × 4, C order, 48 bytes, on " in "".join(page.text)
    assert "F order" in cuda.to_device(a).T._repr_html_() and shown(cuda.to_device(a).T).cells == [str(x) for x in a.T.ravel()]
    big = np.arange(200 * 300).reshape(200, 300)
    page = shown(cuda.to_device(big))
    assert page.cells == [x for row in big[:6] for x in [*map(str, row[:8]), "…"]] + ["…"] * 9
    assert shown(cuda.to_device(np.arange(20))).cells == [*map(str, range(8)), "…"]
    assert shown(cuda.to_device(np.arange(24).reshape(2, 3, 4))).cells == [str(x) for x in range(12)]
    assert "[0, :, :]" in cuda.to_device(np.arange(24).reshape(2, 3, 4))._repr_html_()
    assert shown(cuda.to_device(np.array(2.5))).cells == ["2.5"]
    assert "no elements" in cuda.to_device(np.zeros((0, 3)))._repr_html_()


@pytest.mark.parametrize("make", [
    lambda d: d[::2], lambda d: d[:, ::-1], lambda d: d[::-3, 1::50], lambda d: d.T[5:50:7], lambda d: d[3],
    lambda d: d.reshape(100, 10, 10)[:, ::2, ::5],
], ids=range(6))  # fmt: skip
def test_views(make):
    a = np.arange(10000.0).reshape(100, 100)
    want = make(a)
    want = want.reshape(-1, want.shape[-1])[: min(6, want.shape[-2])] if want.ndim > 1 else want[None]
    cells = [cell for cell in shown(make(cuda.to_device(a))).cells if cell != "…"]
    assert cells == [str(x) for row in want for x in row[:8]]


def test_types_of_elements():
    for a in (np.array([1 + 2j]), np.array([True]), np.array(["2024-05-06"], "datetime64[D]"), np.array([7], np.int8)):
        assert shown(cuda.to_device(a)).cells == [str(a[0])]
    record = np.array([(1, 2.5)], dtype=[("<a>", "i4"), ("b", "f8")])
    page = cuda.to_device(record)._repr_html_()
    assert Checker(page).cells == ["(1, 2.5)"] and "&lt;a&gt;" in page and "<a>" not in page


def test_little_is_copied(monkeypatch):
    """Elements that lie far apart are not fetched with all that is between them."""
    from pyptx import _html

    d = cuda.to_device(np.arange(8 * (1 << 20), dtype=np.int32).reshape(8, -1))
    far = d.T[:3]  # 3 × 8, a step of 4 MB
    copied = []

    class Counted:
        def __init__(self, array):
            self.array, self.shape, self.ndim, self.strides, self.size = array, array.shape, array.ndim, array.strides, array.size

        def __getitem__(self, key):
            part = self.array[key]
            return Counted(part) if isinstance(part, cuda.DeviceNDArray) else part

        def copy_to_host(self):
            spread = sum((n - 1) * abs(s) for n, s in zip(self.shape, self.strides))
            copied.append(spread)
            return self.array.copy_to_host()

    assert _html.corner(Counted(far)) == [[str(k * (1 << 20) + i) for k in range(8)] for i in range(3)]
    assert _html.corner(Counted(d))[0][:3] == ["0", "1", "2"] and sum(copied) < 10_000


def test_nothing_is_recorded():
    d, e = cuda.to_device(np.arange(3)), cuda.to_device(np.zeros(3, int))
    with cuda.graph() as g:
        e.copy_to_device(d)
        page = d._repr_html_()
    assert len(g.nodes) == 1 and "while a graph is recorded" in page


def test_kernels():
    def f(a, b):
        """x < y"""
        i = cuda.grid(1)
        if i < a.size:
            a[i] = b

    kernel = cuda.jit(f)
    assert "not compiled yet" in kernel._repr_html_() and "test_notebooks.py:" in kernel._repr_html_()
    kernel[1, 32](np.zeros(3, np.float32), 1)
    kernel[1, 32](np.zeros(3, np.float64), 2.0)
    page = shown(kernel)
    assert "f(float32[::1], pyint)" in page.cells and "f(float64[::1], pyfloat)" in page.cells
    assert shown(cuda.jit(f, device=True)).text[0] == f"device function {f.__qualname__}"


def test_advice_of_kernels(monkeypatch):
    monkeypatch.setenv("PYPTX_ADVICE", "0")

    def maybe(x):
        if x[0] > 0:
            y = 1
        x[0] = y

    kernel = cuda.jit(maybe)
    kernel[1, 1](np.ones(1, np.int32))
    said = kernel.advice(kernel.signatures[0])
    assert said and str(said[0]) in "".join(shown(kernel).text)


def test_devices():
    device = cuda.get_current_device()
    assert "memory" in shown(device).cells and device.name in "".join(shown(device).text)
    page = "".join(shown(cuda.gpus).text)
    assert ("no GPU" in page) == (not len(cuda.gpus))


@needs_standin
def test_gpus_and_registers():
    run("""
    import numpy as np
    from pyptx import cuda
    page = cuda.gpus._repr_html_()
    assert "Stand-in GPU 0" in page and "Stand-in GPU 1" in page and "compute capability" in page and "9.0" in page
    k = cuda.jit(lambda x: None)
    k[1, 1](np.zeros(3))
    assert ">32<" in k._repr_html_(), k._repr_html_()  # what the stand-in says of registers
    a = cuda.to_device(np.zeros(3))
    cuda.get_current_device().reset()
    assert "values not known: " in a._repr_html_()
    """, PYPTX_STANDIN_DEVICES="2")


# --- names ---


def test_names_for_completion():
    names = dir(cuda)
    common = ("jit", "grid", "gridsize", "to_device", "device_array", "synchronize", "stream", "event", "graph", "shared", "local", "const", "atomic",
              "syncthreads", "threadIdx", "blockIdx", "vectorize", "guvectorize", "reduce", "random", "coop", "float32", "int64", "float4", "gpus", "Module")
    assert set(common) <= set(names) and len(names) < 240
    hidden = ("f4", "float_", "int_", "uchar", "float32x4", "char3", "float1", "compile_ptx_for_current_device", "GetIpcHandleMixin", "np", "annotations")
    assert not set(hidden) & set(names) and not [name for name in names if name.startswith("_")]
    assert all(getattr(cuda, name) is not None for name in names)
    assert cuda.f4 is cuda.float32 and cuda.float32x4 and cuda.compile_ptx_for_current_device and "f4" in cuda.__all__


# --- cells ---


def test_cells_have_their_names(monkeypatch):
    class Shell:
        class compile:
            _filename_map = {"/tmp/ipykernel_7/123.py": 4}

    class IPython:
        @staticmethod
        def get_ipython():
            return Shell

    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert errors.shown_name("/tmp/ipykernel_7/123.py") == "Cell In[4]" and errors.shown_name("/tmp/other.py") is None
    source = "from pyptx import cuda\n\n@cuda.jit\ndef kernel(x):\n    helper(x)\n\n@cuda.jit(device=True)\ndef helper(x):\n    x[9] = 1\n    x[0] = undefined\n"
    scope = {}
    exec(compile(source, "/tmp/ipykernel_7/123.py", "exec"), scope)
    with pytest.raises(NameError) as raised:
        scope["kernel"][1, 1](np.zeros(1))
    text = str(raised.value)
    assert "\n  Cell In[4]:10:12, in helper" in text and "ipykernel" not in text and raised.value.filename == "/tmp/ipykernel_7/123.py"
    monkeypatch.setattr(IPython, "get_ipython", lambda: None)
    assert errors.shown_name("/tmp/ipykernel_7/123.py") is None
    monkeypatch.delitem(sys.modules, "IPython")
    assert errors.shown_name("/tmp/ipykernel_7/123.py") is None


@pytest.mark.host_only("the index is checked")
def test_a_stopped_kernel_names_its_cell(monkeypatch):
    monkeypatch.setattr(errors, "shown_name", lambda file: "Cell In[2]" if file == "<cell>" else None)
    scope = {}
    exec(compile("from pyptx import cuda\n@cuda.jit\ndef kernel(x):\n    x[9] = 1\n", "<cell>", "exec"), scope)
    with pytest.raises(IndexError, match=r"\n  Cell In\[2\]:4:5, in kernel"):
        scope["kernel"][1, 1](np.zeros(1))


# --- progress ---


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def quick(monkeypatch):
    """Progress that does not wait for a second, on a terminal of its own."""
    monkeypatch.delenv("PYPTX_PROGRESS", raising=False)
    monkeypatch.setattr(_progress, "DELAY", 0.05)
    monkeypatch.setattr(_progress, "PERIOD", 0.02)
    monkeypatch.setattr(_progress, "_watcher", None)
    monkeypatch.setenv("COLUMNS", "60")
    terminal = Terminal()
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=terminal))  # sys.stderr itself is pytest's, which puts its own there
    return terminal


def screen(text):
    """The line that stands there in the end, and the longest that did."""
    line, longest = "", ""
    for part in text.split("\r"):
        line = part + line[len(part):]
        longest = max(longest, line, key=lambda t: len(t.rstrip()))
    return line.rstrip(), longest.rstrip()


def until(terminal, text):
    """Waits until that line stands there."""
    for _ in range(1000):
        if re.fullmatch(rf"{re.escape(text)} \[\d+ s\]", screen(terminal.getvalue())[0]):
            return
        time.sleep(0.01)
    raise AssertionError(terminal.getvalue())


def test_long_work_is_shown_and_erased(quick):
    work = _progress.begin("compiling k(float32[:])")
    until(quick, "pyptx: compiling k(float32[:])")
    _progress.end(work)
    assert screen(quick.getvalue())[0] == "" and "\n" not in quick.getvalue()
    written = quick.getvalue()
    time.sleep(0.1)
    assert quick.getvalue() == written


def test_short_work_is_not_shown(quick, monkeypatch):
    monkeypatch.setattr(_progress, "DELAY", 5)
    for _ in range(1000):
        _progress.end(_progress.begin("copying"))
    time.sleep(0.1)
    assert quick.getvalue() == ""


def test_parts_and_width(quick):
    work = _progress.begin("x" * 100, total=4)
    work.done = 1
    while not quick.getvalue():
        time.sleep(0.01)
    _progress.end(work)
    assert len(screen(quick.getvalue())[1]) == 59
    work = _progress.begin("runs", total=4)
    work.done = 3
    assert work.line() == "pyptx: runs |###############-----| 3/4 [0 s]"
    _progress.end(work)


def test_work_in_work_and_after_a_pause(quick, monkeypatch):
    monkeypatch.setattr(_progress, "QUIET", 2)
    outer, inner = _progress.begin("outer"), _progress.begin("inner")
    until(quick, "pyptx: outer")
    _progress.end(outer)
    until(quick, "pyptx: inner")
    _progress.end(inner)
    while _progress._watcher.awake:
        time.sleep(0.01)
    work = _progress.begin("later")
    until(quick, "pyptx: later")
    _progress.end(work)
    assert screen(quick.getvalue())[0] == ""


@pytest.mark.parametrize("mode, terminal, shown", [("0", True, False), ("1", False, True), (None, False, False), (None, True, True), ("", True, True)])
def test_when_it_is_shown(mode, terminal, shown, monkeypatch):
    if mode is None:
        monkeypatch.delenv("PYPTX_PROGRESS", raising=False)
    else:
        monkeypatch.setenv("PYPTX_PROGRESS", mode)
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=Terminal() if terminal else io.StringIO()))
    assert _progress.is_on() == shown


def test_a_stderr_that_takes_nothing(quick, monkeypatch):
    class Broken(Terminal):
        def write(self, text):
            raise OSError(5, "gone")

    monkeypatch.setattr(_progress.sys, "stderr", Broken())
    work = _progress.begin("x")
    time.sleep(0.15)
    _progress.end(work)
    monkeypatch.setenv("PYPTX_PROGRESS", "1")
    monkeypatch.setattr(_progress.sys, "stderr", None)
    work = _progress.begin("x")
    time.sleep(0.15)
    _progress.end(work)


def test_compilations_and_copies_are_work(quick, monkeypatch):
    begun = []
    monkeypatch.setattr(_progress, "begin", lambda text, total=None: begun.append(text))

    def add_one(x):
        x[0] += 1

    cuda.jit(add_one)[1, 1](np.zeros(1, np.int16))
    assert [text.replace(f"{__name__}.", "") for text in begun] == [f"compiling {add_one.__qualname__}(int16[::1])"]
    del begun[:]
    d = cuda.device_array(64 << 20, np.float32)
    d.copy_to_host()
    d[:1000].copy_to_host()
    assert begun == ["copying 268 MB to the host"]


def test_in_a_process_of_its_own(tmp_path):
    """A compilation that takes long, and a fork."""
    source = textwrap.dedent("""
    import os, sys, warnings
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks of processes with threads
    from pyptx import _progress, cuda
    _progress.DELAY, _progress.PERIOD = 0.0, 0.005
    lines = "\\n".join(f"    x[{i}] = x[{i + 1}] * {i} + x[{i + 2}] ** 2" for i in range(600))
    scope = {}
    exec(f"def kernel(x):\\n{lines}", scope)
    import numpy as np
    cuda.jit(scope["kernel"])[1, 1](np.zeros(700))
    child = os.fork()
    if not child:
        w = _progress.begin("in the child")
        import time
        time.sleep(0.3)
        _progress.end(w)
        os._exit(0)
    os.waitpid(child, 0)
    """)
    env = {**os.environ, "PYPTX_PROGRESS": "1", "PYPTX_DEVICE": "host"}
    done = subprocess.run([sys.executable, "-c", source], env=env, capture_output=True, timeout=120)
    said = done.stderr.decode()
    assert done.returncode == 0 and "\rpyptx: compiling kernel(float64[::1]) [" in said and "\rpyptx: in the child [" in said, said
    assert screen(said)[0] == "" and "\n" not in said


# --- timings ---


def test_timings():
    kernel, x = cuda.jit(lambda x: None), cuda.to_device(np.zeros(3))

    def launch(n):
        counts.append(n)
        for _ in range(n):
            kernel[1, 1](x)

    counts = []
    timing = _timing.measure(launch, loops=5, repeat=4)
    assert counts == [1, 5, 5, 5, 5] and (timing.loops, timing.repeat, len(timing.timings)) == (5, 4, 4)
    assert timing.best <= timing.median <= timing.worst and timing.spread == timing.worst - timing.best
    assert timing.timings == [run / 5 for run in timing.all_runs]
    by = "clock" if cuda.get_current_device().is_host else "events"
    assert timing.by == by and f"by {'the clock' if by == 'clock' else 'device events'}" in str(timing) and "4 runs of 5 loops each" in str(timing)
    for wrong in ({"loops": 0}, {"repeat": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            _timing.measure(launch, **wrong)


def test_loops_are_chosen():
    asked = []

    def pretend(run, loops):
        asked.append(loops)
        return 0.03 * loops

    assert _timing.loops_for(pretend, None) == 10 and asked == [1, 2, 5, 10]


@pytest.mark.parametrize("seconds, text", [(1.5, "1.5 s"), (0.0125, "12.5 ms"), (3.1e-5, "31 µs"), (1e-6, "1 µs"), (4.25e-8, "42.5 ns")])
def test_durations(seconds, text):
    assert _timing.duration(seconds) == text


def test_what_is_measured():
    """On the host device the clock: a sleep of 20 ms is one."""
    timing = _timing.measure(lambda n: [time.sleep(0.02) for _ in range(n)], loops=2, repeat=2)
    if timing.by == "clock":
        assert 0.02 <= timing.best <= 0.06


@needs_standin
def test_events_are_used():
    run("""
    from standin import driver
    from pyptx import _timing
    control = driver()
    timing = _timing.measure(lambda n: None, loops=3, repeat=2)
    assert timing.by == "events" and timing.device == "'Stand-in GPU 0'", timing
    assert control.calls(b"cuEventRecord") == 4 and control.misuse() == 0
    """)


def test_errors_pass_through():
    def fails(n):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        _timing.measure(fails)
