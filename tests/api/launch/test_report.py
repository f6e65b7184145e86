"""kernel.report: its data against what was counted by hand, against Python and NumPy running the same
lines, and against ptxas; and the page's own rules. tests/full/test_report_page.py has the browser."""

import inspect
import json
import linecache
import math
import os
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from pyptx import _occupancy, _pyptx, _tools, cli, cuda, float32
from pyptx._report import gpus, target
from pyptx._report.gather import peak
from standin import needs_standin, run

V, D = "float32[::1]", "float64[::1]"
M = "float32[:,::1]"
TILE = 16


def has(tool):
    try:
        return _tools.find(tool)
    except _tools.ToolError:
        return None


@pytest.fixture
def machine_code():
    """ptxas, and nvdisasm where it is: half a second a report."""
    if not has("ptxas"):
        pytest.skip("ptxas is not installed")


@pytest.fixture(autouse=True)
def tools(request, one_entry, monkeypatch):
    """Other tests do without."""
    if "machine_code" not in request.fixturenames:
        def missing(tool):
            raise _tools.ToolError(f"{tool} was not found\n  help: pip install somewhere")

        monkeypatch.setattr(_tools, "find", missing)


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < a.size:
        c[i] = a[i] + b[i]


@cuda.jit
def matmul(a, b, c):
    s = cuda.shared.array((TILE, TILE), float32)
    t = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    total = float32(0)
    for m in range(a.shape[1] // TILE):
        s[y, x] = a[row, m * TILE + x]
        t[y, x] = b[m * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += s[y, k] * t[k, x]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit(device=True)
def horner(x, k):
    return (x * x + k) * x


@cuda.jit
def calls(a, out):
    i = cuda.grid(1)
    if i >= a.size:
        return
    out[i] = horner(a[i], 2.5)


@cuda.jit
def wide(a, out, n):
    i = cuda.grid(1)
    s = 0.0
    for k in range(n):
        s += math.exp(a[i]) * a[k]
    out[i] = s


@cuda.jit
def row_of_four(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        a = x[i, 0]
        b = x[i, 1]
        c = x[i, 2]
        d = x[i, 3]
        out[i, 0] = a + b
        out[i, 1] = b + c
        out[i, 2] = c + d
        out[i, 3] = d + a


@cuda.jit(device=True)
def rectified(v):
    if v < 0:
        return 0
    return v


@cuda.jit(device=True)
def distance_to_range(v):
    if v > 7:
        return v - 7
    return rectified(-v)


@cuda.jit
def two_returns_each(a, n):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = distance_to_range(n) + rectified(n)


@cuda.jit
def branches(a, b, c):
    i = cuda.grid(1)
    if a[i] > 0:
        c[i] = a[i] * a[i] + b[i]
    else:
        c[i] = a[i]
    for k in range(10, 0, -3):
        c[i] += b[i]


@cuda.jit
def searches(a, out):
    for k in range(64):
        if a[k] == 0:
            break
        out[k] = a[k] / 3


@cuda.jit(max_registers=24)
def spills(a, b):
    i = cuda.grid(1)
    n = a.shape[0]
    p, q, r, s, t, u = a[0, i], a[1, i], a[2, i], a[3, i], a[4, i], a[5, i]
    v, w, x, y, z, o = a[6, i], a[7, i], a[8, i], a[9, i], a[10, i], a[11, i]
    for k in range(n):
        p, q, r = p * q + z, q * r + o, r * s + y
        s, t, u = s * t + x, t * u + w, u * v + p
        v, w, x = v * w + t, w * x + s, x * y + r
        y, z, o = y * z + q, z * o + u, o * p + v
    b[i] = p + q + r + s + t + u + v + w + x + y + z + o


def of(kernel, signature, **options):
    return kernel.report(signature, **{"gpu": "H100", **options}).data[0]


def line_of(kernel, text):
    lines, first = inspect.getsourcelines(kernel.py_func)
    found = [first + k for k, line in enumerate(lines) if text in line]
    assert len(found) == 1
    return found[0]


def term(data, *loops):
    found = [t for t in data["work"]["terms"] if [loop["text"] for loop in t["loops"]] == list(loops)]
    assert len(found) == 1
    return found[0]


def types_at(data, line):
    """{name: type} of a line's chips."""
    return {name: kind for part in data["sources"] for row in part["lines"] if row["number"] == line for names, kind, _ in row["types"] for name in names}


def marks_at(data, line):
    return {mark for part in data["sources"] for row in part["lines"] if row["number"] == line for *_, mark in row["types"]} - {""}


# --- bytes and operations: counted by hand, above ---


def test_vector_addition():
    data = of(add, f"{V}, {V}, {V}")
    assert data["work"] == {"terms": [{"loops": [], "bytes": {"global": [8, 4]}, "flops": {"32": 1}, "functions": {}, "atomics": 0}], "notes": []}
    roof = data["roofline"]
    assert roof["intensity"] == 1 / 12 and roof["bound"] == "memory" and roof["peak"] == pytest.approx(67)
    assert roof["attainable"] == pytest.approx(3350 / 12 / 1000)


def test_tiles_in_shared_memory():
    data = of(matmul, f"{M}, {M}, {M}")
    rounds = term(data, "range(a.shape[1] // TILE)")
    assert rounds["bytes"] == {"global": [8, 0], "shared": [2 * 4 * TILE, 8]} and rounds["flops"] == {"32": 2 * TILE}
    assert rounds["loops"][0]["line"] == line_of(matmul, "for m in")
    assert term(data)["bytes"] == {"global": [0, 4]} and not term(data)["flops"]
    assert data["roofline"]["intensity"] == 2 * TILE / 8


def test_device_functions_are_counted_where_they_are_called():
    data = of(calls, f"{V}, {V}")
    assert term(data)["bytes"] == {"global": [4, 4]} and term(data)["flops"] == {"32": 3}
    assert [part["functions"] for part in data["sources"]] == [["calls"], ["horner"]]


def test_float64_and_functions():
    data = of(wide, f"{D}, {D}, int32", gpu="RTX 4090")
    rounds = term(data, "range(n)")
    assert "GeForce RTX 4090 computes it 64 times slower" in wide.report(f"{D}, {D}, int32", gpu="RTX 4090").html
    assert rounds["flops"] == {"64": 3} and rounds["functions"] == {"64": 1} and rounds["bytes"] == {"global": [16, 0]}
    assert data["roofline"]["peak"] == pytest.approx(82.6 / 64)


def test_the_longer_branch_and_known_trip_counts():
    data = of(branches, f"{V}, {V}, {V}")
    # a and b, stored c; four rounds of c += b, of which each loads both
    assert term(data)["bytes"] == {"global": [8 + 4 * 8, 4 + 4 * 4]} and term(data)["flops"] == {"32": 2 + 4}


def test_a_loop_that_is_left_early_has_no_trip_count():
    data = of(searches, f"{V}, {V}")
    rounds = term(data, "range(64)")
    assert rounds["bytes"] == {"global": [4, 4]} and rounds["flops"] == {"32": 1}


def test_a_mixture_has_a_peak_between():
    gpu = gpus.facts("h100")
    assert peak({32: 3}, gpu) == pytest.approx(67) and peak({64: 3}, gpu) == pytest.approx(33.5)
    assert peak({32: 1, 64: 1}, gpu) == pytest.approx(2 / (1 / 67 + 1 / 33.5))


def test_a_loop_without_memory_is_bound_by_arithmetic():
    @cuda.jit
    def iterates(out, n):
        x = float32(0.5)
        for _ in range(n):
            x = x * x + x
        out[0] = x

    roof = of(iterates, f"{V}, int32")["roofline"]
    assert roof["bound"] == "compute" and roof["intensity"] is None and roof["flops"] == 2


# --- types by line ---


def test_types_of_lines():
    data = of(wide, f"{D}, {D}, int32")
    assert types_at(data, line_of(wide, "def wide")) == {"a": D, "out": D, "n": "int32"}
    assert types_at(data, line_of(wide, "s +="))["s"] == "float64" and marks_at(data, line_of(wide, "s +=")) == {"f64"}
    assert types_at(data, line_of(wide, "i = ")) == {"i": "int"} and marks_at(data, line_of(wide, "i = ")) == {"i64"}
    assert marks_at(data, line_of(wide, "for k")) == set()  # n is an int32, so k is computed in 32 bits
    assert marks_at(of(add, f"{V}, {V}, {V}"), line_of(add, "c[i] =")) == set()


def test_a_float64_store_beside_float32_is_marked():
    data = of(calls, f"{V}, {D}")
    assert types_at(data, line_of(calls, "out[i] ="))["out[i]"] == "float64"
    assert marks_at(data, line_of(calls, "out[i] =")) == {"f64"}


def test_types_are_those_of_numpy():
    """Each variable on each line has the type that NumPy gives when Python runs the same line."""

    @cuda.jit
    def mixed(a, b, h, out, n):
        x = a[0] * 2
        y = x + b[0]
        z = h[0] + n
        w = a[1] > b[1]
        u = n // 2 + 1
        v = math.sqrt(n)
        t = (x, u)
        first, second = t
        out[0] = y + z + w + v + first + second

    args = np.ones(2, np.float32), np.ones(2), np.ones(2, np.int16), np.ones(1), 7
    seen = {}

    def trace(frame, event, _):
        if frame.f_code is mixed.py_func.__code__:
            seen.update(frame.f_locals)
            return trace
        return None

    sys.settrace(trace)
    try:
        mixed.py_func(*args)
    finally:
        sys.settrace(None)
    data = of(mixed, "float32[::1], float64[::1], int16[::1], float64[::1], pyint")
    names = {type(value): type(value).__name__ for value in seen.values()} | {np.bool_: "bool"}
    for name in ("x", "y", "z", "w", "u", "v", "first", "second"):
        line = line_of(mixed, "first, second =" if name in ("first", "second") else f"  {name} =")
        assert types_at(data, line)[name] == names[type(seen[name])], name


def test_two_types_of_one_function():
    @cuda.jit
    def both(a, b):
        a[0] = horner(a[0], 1.0)
        b[0] = horner(b[0], 1.0)

    data = of(both, f"{V}, {D}")
    line = line_of(horner, "return")
    spans = next(row["spans"] for part in data["sources"] for row in part["lines"] if row["number"] == line)
    assert any(said == "float32 or float64" and mark == "f64" for _, _, said, mark in spans)


def test_columns_are_characters():
    @cuda.jit
    def accents(a):
        é = a[0]; a[1] = é * é  # noqa: E702 - two on a line

    row = next(row for row in of(accents, V)["sources"][0]["lines"] if "é" in row["text"])
    assert ["é * é"] == [row["text"][b:e] for b, e, said, _ in row["spans"] if said == "float32" and e - b == 5]


def test_a_function_without_source():
    scope = {}
    exec(compile("def f(a):\n    a[0] = a[0] + 1\n", "<nowhere>", "exec"), scope)  # CPython 3.13 knows the text of "<string>" in python -c
    report = cuda.jit(scope["f"]).report(V, gpu="H100")
    assert report.data[0]["sources"][0]["lines"] == [] and "source is not known" in report.html


# --- listings ---


def test_each_pane_knows_the_lines(machine_code):
    data = of(add, f"{V}, {V}, {V}")
    line = line_of(add, "c[i] =")
    for pane, word in (("ssa", "load"), ("ptx", "ld.global"), ("ptx", "st.global"), *([("sass", "LDG"), ("sass", "STG")] if data["sass"] else ())):
        rows = [row for row in data[pane] if word in row[0]]
        assert rows and all(row[1:] == (0, line) for row in rows), (pane, word)
    assert not any(".loc" in text or ".section" in text or "$L__tmp" in text for text, _, _ in data["ptx"])


@pytest.mark.parametrize("name", ["é.py", 'say "a\\".py', "a\tb.py"])
def test_names_of_files(name, machine_code, monkeypatch):
    """PTX has them in ASCII, and cannot write a quote, at which ptxas took the name to end."""
    path, scope = f"/tmp/{name}", {}
    text = "def f(a):\n    a[0] = a[0] + 1\n"
    monkeypatch.setitem(linecache.cache, path, (len(text), None, text.splitlines(True), path))
    exec(compile(text, path, "exec"), scope)
    data = of(cuda.jit(scope["f"]), V)
    assert data["usage"]["registers"]
    for pane, word in (("ptx", "st.global"), *([("sass", "STG")] if data["sass"] else ())):
        assert any(word in row[0] and row[1:] == (0, 2) for row in data[pane]), pane


def test_inlined_code_belongs_to_its_own_function():
    data = of(calls, f"{V}, {V}")
    line = line_of(horner, "return")
    assert any("fma" in text and at == line for text, _, at in data["ptx"])


def test_lines_of_accesses_that_were_joined():
    """The wide access has the line of its first one, the narrow ones beside it have their own."""
    data = of(row_of_four, f"{M}, {M}")
    first = {"ld": line_of(row_of_four, "x[i, 0]"), "st": line_of(row_of_four, "out[i, 0]")}
    for kind, line in first.items():
        wide_ones = [at for text, _, at in data["ptx"] if f"{kind}.global.v4" in text]
        others = sorted(at for text, _, at in data["ptx"] if f"{kind}.global.b32" in text)
        assert wide_ones == [line] and others == [line, line + 1, line + 2, line + 3], kind


def test_lines_cost_no_code():
    """The report compiles with lineinfo: the instructions are those of a launch. tests/bench asks many kernels."""
    def code(text):
        return [line.strip() for line in text.splitlines() if re.match(r"\t(?!\.loc|\.file|\.section)", line) and line.strip()]

    for kernel, signature in ((matmul, f"{M}, {M}, {M}"), (wide, f"{D}, {D}, int32"), (two_returns_each, "int64[::1], int64")):
        both = [_pyptx._compile(kernel, signature, "nvptx", "sm_90", 0, {"lineinfo": on}, "ptx,apart")["ptx"] for on in (False, True)]
        assert code(both[0]) == code(both[1])


# --- what ptxas says, and occupancy ---


def test_resources_are_those_of_ptxas(machine_code):
    for kernel, signature in ((matmul, f"{M}, {M}, {M}"), (spills, f"float64[:,::1], {D}")):
        data = of(kernel, signature, arch="sm_80", gpu=None)
        ptx = _pyptx._compile(kernel, signature, "nvptx", "sm_80", 0, {}, "ptx,apart")
        usage = _tools.read_usage(_tools.assemble(ptx["ptx"], "sm_80")[1], ptx["symbol"])
        assert {name: data["usage"][name] for name in ("registers", "shared", "stack", "spill_stores", "spill_loads")} == \
            {name: getattr(usage, name) for name in ("registers", "shared", "stack", "spill_stores", "spill_loads")}
        assert data["usage"]["constant"]["0"] >= ptx["param_bytes"]
        assert data["gpu"]["title"] == "A100 SXM 80 GB"


def test_spills_are_said(machine_code):
    report = spills.report(f"float64[:,::1], {D}", gpu="H100")
    assert report.data[0]["usage"]["spill_stores"] > 0 and report.data[0]["usage"]["registers"] <= 24
    assert "spills of" in str(report) and 'card warn"><div class="name">Spills' in report.html


def test_shared_memory_is_said_and_occupancy_follows(machine_code):
    data = of(matmul, f"{M}, {M}, {M}", block=TILE * TILE, dynamic_shared=60000)
    assert data["usage"]["shared"] == 2 * 4 * TILE * TILE
    at = data["occupancy"]["chosen"]
    assert (at["threads"], at["blocks"], at["limit"]) == (256, 3, "shared memory")  # 228 KB / (60000 + 2048 + 1024)
    for row in data["occupancy"]["rows"]:
        found = _occupancy.occupancy("sm_90", row["threads"], data["usage"]["registers"], 62048)
        assert (row["blocks"], row["part"], row["limit"]) == found


def test_launch_bounds_choose_the_block(machine_code):
    @cuda.jit(launch_bounds=96)
    def small(a):
        a[0] = 1

    data = of(small, V)
    assert data["occupancy"]["chosen"]["threads"] == 96 and "launch_bounds" in data["occupancy"]["why"]


def test_without_tools():
    """No ptxas: the page says what is missing and how to get it, and has all the rest."""
    report = add.report(f"{V}, {V}, {V}", arch="sm_120", gpu="RTX 5090")
    data = report.data[0]
    assert data["usage"] is None and data["sass"] is None and data["occupancy"] is None and data["roofline"]
    assert "pip install" in data["sass_missing"] and "There is no SASS here: ptxas was not found" in report.html
    assert "registers are not known: ptxas was not found" in str(report)


def test_without_the_disassembler(machine_code, monkeypatch):
    find = _tools.find
    monkeypatch.setattr(_tools, "find", lambda tool: find(tool) if tool == "ptxas" else find("no such tool"))
    monkeypatch.setitem(_tools._PACKAGES, "no such tool", "nvidia-cuda-nvdisasm")
    data = of(add, f"{V}, {V}, {V}")
    assert data["usage"]["registers"] and data["sass"] is None and "nvidia-cuda-nvdisasm" in data["sass_missing"]


@needs_standin
def test_without_tools_the_driver_tells_the_registers():
    run("""
        from pyptx import _tools, cuda

        @cuda.jit
        def add(a, b):
            i = cuda.grid(1)
            if i < a.size:
                b[i] += a[i]

        def missing(tool):
            raise _tools.ToolError(f"{tool} was not found")

        _tools.find = missing
        kernel = add.compile("float32[::1], float32[::1]")
        report = add.report()
        data = report.data[0]
        capability = cuda.get_current_device().compute_capability
        assert data["arch"] == "sm_{}{}".format(*capability)
        assert data["usage"]["registers"] == kernel.regs_per_thread and data["usage_from"].startswith("the module")
        assert data["occupancy"] and "spill" not in str(report) and data["sass"] is None
    """)


# --- which GPU, which signature ---


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"gpu": "NVIDIA GeForce RTX 4090"}, ("sm_89", "rtx4090")), ({"gpu": "h200"}, ("sm_90", "h200")),
        ({"gpu": "NVIDIA A100-SXM4-80GB"}, ("sm_80", "a100")), ({"gpu": "NVIDIA H100 80GB HBM3"}, ("sm_90", "h100")),
        ({"gpu": "Tesla T4"}, ("sm_75", "t4")), ({"arch": "sm_90a"}, ("sm_90a", "h100")), ({"arch": "L40S"}, ("sm_89", "l40s")),
        ({"arch": "sm_87"}, ("sm_87", None)), ({"arch": "sm_90", "gpu": "H200"}, ("sm_90", "h200")),
    ],
)  # fmt: skip
def test_names_of_gpus(asked, found):
    assert target(**asked) == found


def test_every_gpu_of_the_table_has_its_limits():
    for key in gpus.TABLE:
        facts = gpus.facts(key)
        assert _occupancy.capability(facts["arch"]) in _occupancy.LIMITS and 0 < facts["float64"] <= facts["float32"]
        assert gpus.key_of(facts["title"]) == key


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gpu": "Voodoo 2"}, "'Voodoo 2' is not in the table of GPUs"), ({"arch": "sm_1"}, "unknown architecture"), ({"arch": "host"}, "inspect_asm"),
        ({"gpu": "H100", "arch": "sm_80"}, "that GPU is sm_90"), ({"block": 2048}, "1 to 1024"), ({"dynamic_shared": -1}, "negative"),
    ],
)  # fmt: skip
def test_wrong_arguments(options, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        add.report(f"{V}, {V}, {V}", **options)


def test_signatures_that_are_known():
    @cuda.jit([f"void({V})", f"void({D})"])
    def two(a):
        a[0] = a[0] * 2

    @cuda.jit
    def none(a):
        a[0] = 1

    report = two.report(gpu="H100")
    assert len(report.data) == 2 and report.html.count('class="report"') == 2 and report.html.count("<nav") == 1
    with pytest.raises(ValueError, match="launch it first, or give them"):
        none.report()
    none[1, 1](np.zeros(1, np.float32))
    assert len(none.report(gpu="H100").data) == 1 and "<nav" not in none.report(gpu="H100").html


def test_a_device_function():
    data = of(horner, "float32, float32")
    assert "a device function has no machine code of its own" in data["sass_missing"] and term(data)["flops"] == {"32": 3}


def test_advice_is_on_the_page():
    @cuda.jit
    def unset(a, n):
        if n > 1:
            y = a[0]
        a[1] = y

    report = unset.report(f"{V}, int32", gpu="H100")
    assert [a["code"] for a in report.data[0]["advice"]] == ["PT801"] == [a.code for a in unset.advice(f"{V}, int32")]
    assert "PT801" in str(report) and "PT801: variable" in report.html


# --- the page ---


class Page(HTMLParser):
    """Tags that are opened and closed, and addresses."""

    def __init__(self, text):
        super().__init__()
        self.open, self.addresses, self.tags = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "action", "data")]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)


def test_the_page_stands_alone(machine_code, tmp_path):
    report = matmul.report(f"{M}, {M}, {M}", gpu="H100")
    path = report.save(tmp_path / "matmul.html")
    html = path.read_text(encoding="utf-8")
    page = Page(html)
    assert not page.open and not page.addresses and not page.tags & {"link", "img", "iframe"}
    assert "url(" not in html and "@import" not in html and "http" not in html.replace('http-equiv="Content-Security-Policy"', "")
    assert json.loads(json.dumps(report.data)) and html == report.html


def test_what_users_write_is_text():
    @cuda.jit
    def tags(a):
        a[0] = a[1] if 0 < a[2] and "<script>alert(1)</script>" else 0  # <b>&amp;</b>

    html = tags.report(V, gpu="H100").html
    assert "alert(1)" in html and "<script>alert" not in html and "&lt;b&gt;&amp;amp;&lt;/b&gt;" in html


def test_in_a_notebook():
    report = add.report(f"{V}, {V}, {V}", gpu="H100")
    shown = report._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and shown.count("<") == 2 and "allow-same-origin" not in shown
    small = add._repr_html_()
    assert "add" in small and "<style" not in small


def test_summary():
    said = str(add.report(f"{V}, {V}, {V}", gpu="H100"))
    assert said.splitlines()[0] == f"add({V}, {V}, {V})" and "12 bytes of global memory and 1 floating-point operation a thread: bound by memory" in said
    assert "add" in repr(add.report(f"{V}, {V}, {V}", gpu="H100"))


def test_open(monkeypatch):
    import webbrowser

    shown = []
    monkeypatch.setattr(webbrowser, "open", lambda address: shown.append(address) or True)
    report = add.report(f"{V}, {V}, {V}", gpu="H100")
    path = report.open()
    assert shown == [path.as_uri()] and path.read_text(encoding="utf-8") == report.html
    path.unlink()
    monkeypatch.setattr(webbrowser, "open", lambda address: False)
    with pytest.raises(RuntimeError, match="no browser could be opened; the page is") as raised:
        report.open()
    os.unlink(re.search(r"/\S+\.html", str(raised.value))[0])


# --- pyptx compile --emit html ---

SOURCE = "from pyptx import cuda\n\n@cuda.jit\ndef twice(a):\n    i = cuda.grid(1)\n    if i < a.size:\n        a[i] *= 2\n"


def test_command(machine_code, tmp_path, capsys):
    (tmp_path / "k.py").write_text(SOURCE)
    out = tmp_path / "k.html"
    assert cli.main(["compile", f"{tmp_path}/k.py", "--sig", V, "--emit", "html", "--arch", "H200", "--block", "96", "-o", str(out)]) == 0
    html = out.read_text(encoding="utf-8")
    assert "H200 SXM, sm_90" in html and "96 threads a block (as asked)" in html
    assert cli.main(["compile", f"{tmp_path}/k.py", "--sig", V, "--emit", "html,ptx"]) == 2
    assert "an html page is for a browser: name a file" in capsys.readouterr().err
    assert cli.main(["compile", f"{tmp_path}/k.py", "--sig", V, "--emit", "html", "--arch", "host"]) == 2
    assert cli.main(["compile", f"{tmp_path}/k.py", "--sig", f"twice={V}", "--sig", f"twice={D}", "--emit", "html", "--arch", "A100", "-o", str(tmp_path) + "/"]) == 0
    assert sorted(p.name for p in tmp_path.glob("twice__*.html")) == ["twice__float32_1c.sm_80.html", "twice__float64_1c.sm_80.html"]
