"""Advice about launches, rows PT811 and above of errors.def: what is said, where, how often; and launches of which nothing is said. What only
a GPU is told about runs on the stand-in driver."""

import collections
import os
import re
import subprocess
import sys
import textwrap
import types
import warnings
from pathlib import Path

import numpy as np
import pyptx
import pytest
import standin
from pyptx import cuda

ROOT = Path(__file__).parents[3]


def said(call):
    """The codes of the advice that a call gives, in order."""
    pyptx.errors._advised.clear()  # one line launches many kernels here
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w.message.code for w in caught if isinstance(w.message, pyptx.Advice)]


@pytest.fixture(autouse=True)
def mode(monkeypatch):
    monkeypatch.delenv("PYPTX_ADVICE", raising=False)
    pyptx.errors._advised.clear()


def test_every_row_is_given_here():
    rows = re.findall(r'^A\(\w+,\s*"(PT81[1-9])"', (ROOT / "ir/base/errors.def").read_text(), re.MULTILINE)
    here = Path(__file__).read_text()
    elsewhere = {"PT817": ROOT / "tests/api/check/test_check_option.py", "PT819": ROOT / "tests/api/check/test_check_option.py", "PT818": ROOT / "tests/api/host/test_python_runs.py"}
    assert rows and all(code in elsewhere[code].read_text() if code in elsewhere else here.count(code) > 1 for code in rows)


# --- PT811: grids that are smaller than what they are for ---


def by_size(a, b, n):
    i = cuda.grid(1)
    if i < a.size:
        b[i] = a[i]


def by_shape_and_return(a, b, n):
    i = cuda.grid(1)
    if i >= a.shape[0]:
        return
    a[i] += 1


def by_len_spelt_out(a, b, n):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if len(a) > i:
        a[i] = 1


def by_number(a, b, n):
    i = cuda.grid(1)
    if i < n:
        b[i] = a[i] * 2


def by_both(a, b, n):
    i = cuda.grid(1)
    if i < a.size and i < b.size:
        b[i] = a[i] + a[i - 1]


def all_pairs(a, b, n):
    i = cuda.grid(1)
    if i < b.size:
        s = np.float32(0)
        for j in range(a.size):
            s += a[j]
        b[i] = s


def by_negation(a, b, n):
    i = cuda.grid(1)
    if not i >= b.size:
        b[i] = 1


@pytest.mark.parametrize("function", [by_size, by_shape_and_return, by_len_spelt_out, by_number, by_both, all_pairs, by_negation])
def test_a_grid_that_leaves_elements_out(function):
    kernel = cuda.jit(function)
    a, b = np.zeros(100, np.float32), np.zeros(100, np.float32)
    assert said(lambda: kernel[4, 32](a, b, 100)) == []
    assert said(lambda: kernel[4, 25](a, b, 100)) == []
    assert said(lambda: kernel[3, 32](a, b, 100)) == ["PT811"]
    assert said(lambda: kernel[2, 32](a, b, 100)) == []  # once a kernel


def strides(a, n):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        a[i] = 1


def strides_behind_a_guard(a, n):
    i = cuda.grid(1)
    if i < a.size:
        while i < a.size:
            a[i] = 1
            i += cuda.gridDim.x * cuda.blockDim.x


def strides_of_a_number(a, n):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = 0
        for j in range(i, a.size, n):
            a[j] = 1


def several_a_thread(a, n):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = 1
        for k in range(1, 4):
            j = i + k * n
            if j < a.size:
                a[j] = 1


def four_a_thread(a, n):
    i = cuda.grid(1)
    if i * 4 < a.size:
        for k in range(4):
            a[i * 4 + k] = 1


def guarded_in_a_loop(a, n):
    for k in range(2):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += k


def of_a_part(a, n):
    i = cuda.grid(1)
    if i < a.size and i < 10:
        a[i] = 1


def of_one_thread(a, n):
    if cuda.grid(1) < 1:
        a[0] = a.size


def of_another_element(a, n):
    i = cuda.grid(1)
    if i < a.size:
        a[a.size - 1 - i] = 1


def handed_on(a, n):
    i = cuda.grid(1)
    if i < a.size:
        fill(a, i)


def fill(a, i):
    a[i] = 1


def within_the_block(a, n):
    t = cuda.threadIdx.x
    if t < a.size:
        a[t] = 1


def with_an_offset(a, n):
    i = cuda.grid(1) + n
    if i < a.size:
        a[i] = 1


def a_number_of_something_else(a, n):
    i = cuda.grid(1)
    if i < 1000 * n:
        cuda.atomic.add(a, 0, 1)


QUIET = [
    strides, strides_behind_a_guard, strides_of_a_number, several_a_thread, four_a_thread, guarded_in_a_loop, of_a_part, of_one_thread,
    of_another_element, handed_on, within_the_block, with_an_offset, a_number_of_something_else,
]  # fmt: skip


@pytest.mark.parametrize("function", QUIET)
def test_kernels_that_may_mean_it(function):
    kernel = cuda.jit(function)
    assert said(lambda: kernel[1, 25](np.zeros(100, np.float32), 25)) == []


def in_both_branches(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = 1
    else:
        a[i] = 2


def behind_the_first_ones(a, n):
    i = cuda.grid(1)
    if i < n:
        a[i] = 1
        return
    a[i] = a[i - n]


@pytest.mark.parametrize("function", [in_both_branches, behind_the_first_ones])
def test_a_number_that_divides_what_is_done(function):
    kernel = cuda.jit(function)
    assert said(lambda: kernel[1, 25](np.zeros(25, np.float32), 100)) == []


def test_the_smallest_of_several_guards_counts():
    kernel = cuda.jit(by_both)
    a, b = np.zeros(100, np.float32), np.zeros(30, np.float32)
    assert said(lambda: kernel[1, 32](a, b, 0)) == []
    assert said(lambda: kernel[1, 29](a, b, 0)) == ["PT811"]


@cuda.jit
def plane(a, n):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] = 1


@pytest.mark.parametrize("shape, axis", [((10, 33), ("y", 1)), ((33, 10), ("x", 0))])
def test_each_axis_of_a_grid(shape, axis):
    kernel = cuda.jit(plane.py_func)
    with pytest.warns(pyptx.Advice, match="PT811") as caught:
        kernel[(1, 1), (32, 32)](np.zeros(shape, np.float32), 0)
    (said,) = [w.message for w in caught if w.message.code == "PT811"]
    assert said.message == (
        f"the grid has 32 threads along {axis[0]}, but 'a' has 33 elements along axis {axis[1]}: the elements from 32 on are left out"
    )


def test_rows_of_an_array():
    @cuda.jit
    def kernel(a):
        i = cuda.grid(1)
        if i < a.shape[0]:
            row = a[i]
            for k in range(row.size):
                row[k] = i

    assert said(lambda: kernel[1, 4](np.zeros((8, 3)))) == ["PT803", "PT811"]


def test_the_place_is_the_launch_and_the_note_the_guard():
    kernel = cuda.jit(by_size)
    a = np.zeros(100, np.float32)
    with pytest.warns(pyptx.Advice, match="PT811") as caught:
        kernel[1, 32](a, a, 0)
    (w,) = caught
    lines = str(w.message).splitlines()
    first = by_size.__code__.co_firstlineno
    assert w.filename == __file__ == w.message.file and w.lineno == w.message.line and "kernel[1, 32](a, a, 0)" in lines[2]
    assert lines[1].endswith("in test_the_place_is_the_launch_and_the_note_the_guard") and lines[3].strip() == "^" * len("kernel[1, 32](a, a, 0)")
    assert lines[4] == f"  what the kernel guards: {__file__}:{first + 2}:8, in by_size" and lines[5].strip() == "if i < a.size:"


def test_a_line_that_launches_several_kernels():
    first, second = cuda.jit(by_size), cuda.jit(by_number)
    again = cuda.jit(by_size)
    a, b = np.zeros(100, np.float32), np.zeros(100, np.float32)

    def launch():
        for kernel in (first, second, first, second, again):
            kernel[3, 32](a, b, 100)

    assert said(launch) == ["PT811", "PT811"]  # `again` has the same guard


def test_forall_and_bound_launches():
    a = np.zeros(1000, np.float32)
    assert said(lambda: cuda.jit(by_size).forall(1000)(a, a, 0)) == []
    assert said(lambda: cuda.jit(by_size).forall(500, tpb=32)(a, a, 0)) == ["PT811"]
    if cuda.get_current_device().is_host:
        bound = cuda.jit(by_number)[1, 32].bind(a, a, 33)
        assert said(bound) == ["PT811"] and said(bound) == []


def test_small_integers_and_wide_ones():
    a = np.zeros(100, np.float32)
    for n in (np.int32(33), np.int64(33), 33):
        assert said(lambda n=n: cuda.jit(by_number)[1, 32](a, a, n)) == ["PT811"]
    for n in (np.int32(-1), np.int64(-1), -1, 32):
        assert said(lambda n=n: cuda.jit(by_number)[1, 32](a, a, n)) == []


def test_a_learnt_launch_says_it_too():
    kernel = cuda.jit(by_number)
    a = cuda.to_device(np.zeros(100, np.float32))
    assert said(lambda: [kernel[1, 32](a, a, n) for n in (3, 32, 32, 33, 34)]) == ["PT811"]


def test_a_filter_makes_it_an_error_before_the_launch():
    kernel = cuda.jit(by_size)
    a = np.ones(100, np.float32)
    b = np.zeros(100, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pyptx.Advice)
        for _ in range(2):
            with pytest.raises(pyptx.Advice, match="PT811"):
                kernel[1, 32](a, b, 0)
    assert not b.any() and said(lambda: kernel[1, 32](a, b, 0)) == ["PT811"]


def test_pyptx_advice_0(monkeypatch):
    monkeypatch.setenv("PYPTX_ADVICE", "0")
    a = np.ones(100, np.float32)
    assert said(lambda: cuda.jit(by_size)[1, 32](a, a, 0)) == []


def test_a_kernel_from_the_disk_cache(tmp_path):
    (tmp_path / "cached.py").write_text(
        textwrap.dedent("""
        import numpy as np
        from pyptx import cuda

        @cuda.jit(cache=True)
        def kernel(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = 1

        kernel[1, 32](np.ones(33))
        print([o.cache for o in kernel.overloads.values()])
        """)
    )
    env = {**os.environ, "PYPTX_CACHE_DIR": str(tmp_path / "cache")}
    runs = [subprocess.run([sys.executable, tmp_path / "cached.py"], env=env, capture_output=True, text=True, timeout=120) for _ in range(2)]
    assert [r.stdout.strip() for r in runs] == ["['miss']", "['hit']"]
    assert runs[0].stderr == runs[1].stderr and "PT811" in runs[0].stderr and "cached.py:8:8, in kernel" in runs[0].stderr


# --- PT812, PT813, PT814: on a GPU ---

GPU = """
import warnings
import numpy as np
from pyptx import cuda, errors, vectorize

def said(call):
    errors._advised.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [w.message.code for w in caught], [w.message.message for w in caught]

@cuda.jit
def kernel(x, y):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = y[i]
"""


@standin.needs_standin
def test_blocks_that_leave_lanes_idle():
    out = standin.run(GPU + """
for grid, block in [(4096, 16), (4096, 100), ((64, 64), (10, 10)), (4096, 128), (4096, (8, 8)), (64, 16), (64, 100), (4096, 1)]:
    k = cuda.jit(kernel.py_func)
    print(grid, block, *said(lambda: [k[grid, block] for _ in range(3)])[0])
print(said(lambda: kernel[4096, 48])[1])
""")
    assert out.splitlines() == [
        "4096 16 PT812", "4096 100 PT813", "(64, 64) (10, 10) PT813", "4096 128", "4096 (8, 8)", "64 16", "64 100", "4096 1 PT812",
        "['4096 blocks of 48 threads: a multiprocessor runs threads by 32, so that 16 lanes of each block do nothing']",
    ]  # fmt: skip


def test_blocks_on_the_host_device():
    if cuda.get_current_device().is_host:
        assert said(lambda: cuda.jit(by_size)[4096, 7]) == []


@standin.needs_standin
@pytest.mark.unchecked("no other advice may be given")
def test_arrays_that_a_loop_copies():
    out = standin.run(GPU + """
x, y = np.zeros(250_000, np.float32), np.zeros(250_000, np.float32)
def loop(n, *arrays):
    for _ in range(n):
        kernel[977, 256](*arrays)
print(said(lambda: loop(10, x, y)))
print(said(lambda: loop(1, x, y)))
print(said(lambda: loop(30, x, y)))
kernel = cuda.jit(kernel.py_func)
d_x, d_y = cuda.to_device(x), cuda.to_device(y)
print(said(lambda: loop(30, d_x, d_y)))
parts = [np.copy(x) for _ in range(30)]
print(said(lambda: [loop(1, d_x, part) for part in parts]))
print(said(lambda: loop(30, d_x, cuda.In(y))))
@vectorize(["float32(float32)"], target="cuda")
def double(v):
    return v + v
print(said(lambda: [double(x) for _ in range(30)]))
""")
    first, second, *rest = out.splitlines()
    assert first == "([], [])"
    assert second == "(['PT814'], ['the same NumPy arrays were copied to the GPU in each of 10 launches of kernel, 20.0 MB in all'])"
    assert set(rest) == {"([], [])"} and len(rest) == 5


def test_arrays_on_the_host_device():
    if cuda.get_current_device().is_host:
        kernel, x = cuda.jit(by_size), np.zeros(32, np.float32)
        assert said(lambda: [kernel[1, 32](x, x, 0) for _ in range(30)]) == []


# --- PT815: no GPU ---

LAUNCH = """
import numpy as np
from pyptx import cuda

@cuda.jit
def kernel(x):
    x[0] = 1
{before}
for _ in range(2):
    kernel[1, 1](np.zeros(1))
{after}
"""


def run_without_gpu(before="", after="", **env):
    env = {**{k: v for k, v in os.environ.items() if k not in ("PYPTX_DEVICE", "CUDA_VISIBLE_DEVICES")}, "PYPTX_DRIVER": "/nowhere/libcuda.so", **env}
    return subprocess.run([sys.executable, "-c", LAUNCH.format(before=before, after=after)], env=env, capture_output=True, text=True, timeout=120)


def test_the_first_launch_without_a_gpu():
    done = run_without_gpu()
    assert done.returncode == 0 and done.stderr.count("PT815") == 1
    assert "<string>:10: Advice: PT815: no GPU answers, so that kernels run on the CPU: the CUDA driver was not found: " in done.stderr
    assert "/nowhere/libcuda.so" in done.stderr and "help: PYPTX_DEVICE=host says" in done.stderr and len(done.stderr.splitlines()) <= 3


@pytest.mark.parametrize(
    "before, env",
    [
        ("", {"PYPTX_DEVICE": "host"}),
        ("", {"PYPTX_ADVICE": "0"}),
        ("", {"CUDA_VISIBLE_DEVICES": ""}),
        ("", {"CUDA_VISIBLE_DEVICES": "-1"}),
        ("", {"PYTHONWARNINGS": "ignore"}),
        ("cuda.select_device('host')", {}),
        ("cuda.to_device(np.zeros(1)); cuda.select_device('host')", {}),
        ("from pyptx import config; config.ENABLE_CUDASIM = 1", {}),
    ],
)
def test_a_host_device_that_was_chosen(before, env):
    done = run_without_gpu(before, **env)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("choice", ["cuda.select_device(0)", "cuda.gpus[0].__enter__()"])
def test_a_gpu_that_was_asked_for(choice):
    """select_device(0) and gpus[0] are the host device where there is no GPU: the launch says so."""
    done = run_without_gpu(choice)
    assert done.returncode == 0 and done.stderr.count("PT815") == 1


def test_what_launches_nothing_says_nothing():
    done = run_without_gpu("cuda.to_device(np.zeros(1)); print(cuda.is_available(), len(cuda.gpus)); raise SystemExit")
    assert (done.returncode, done.stdout, done.stderr) == (0, "False 0\n", "")


def test_an_error_in_its_place():
    done = run_without_gpu(PYPTX_ADVICE="error")
    assert done.returncode == 1 and "pyptx.errors.Advice: PT815" in done.stderr


# --- PT816, and functions that are redefined ---


def namespace(source, **names):
    scope = {"__name__": "captures", "cuda": cuda, "np": np, **names}
    exec(textwrap.dedent(source), scope)
    return scope


KERNEL = """
def helper(x):
    return x + n

@cuda.jit
def kernel(a):
    a[0] = helper(a[0]) + m
"""


def result(kernel, *args):
    a = np.zeros(1)
    kernel[1, 1](a, *args)
    return a[0]


def test_a_global_that_gets_another_value():
    scope = namespace(KERNEL, n=3, m=10)
    kernel = scope["kernel"]
    assert said(lambda: result(kernel)) == []
    scope["n"], scope["m"] = int("3"), 10.0 + 0
    scope["m"] = 10
    assert said(lambda: result(kernel)) == []
    scope["n"] = 4
    with pytest.warns(pyptx.Advice, match="^PT816: 'n' has been given another value, but kernel keeps the one of its compilation"):
        assert result(kernel) == 13
    assert said(lambda: result(kernel)) == []
    scope["m"] = 11
    assert said(lambda: result(kernel)) == ["PT816"] and result(kernel) == 13
    del scope["m"]
    assert said(lambda: result(kernel)) == []
    assert len(kernel.overloads) == 1


def test_a_global_that_gets_its_value_back():
    scope = namespace(KERNEL, n=3, m=float("nan"))
    kernel, was = scope["kernel"], scope["m"]
    result(kernel)
    scope["m"] = 1
    assert said(lambda: result(kernel)) == ["PT816"]
    scope["m"] = was
    assert said(lambda: result(kernel)) == []


def test_a_closure_value():
    def make():
        n = 5

        @cuda.jit
        def kernel(a):
            a[0] = n

        def change(value):
            nonlocal n
            n = value

        return kernel, change

    kernel, change = make()
    assert result(kernel) == 5
    change(6)
    assert said(lambda: result(kernel)) == ["PT816"] and result(kernel) == 5


Point = collections.namedtuple("Point", "x y")

# What a notebook's cell makes anew each time that it is run, and another value of the kind.
MADE_ANEW = [
    ("table[1]", lambda: np.arange(3.0), np.arange(1.0, 4.0)),
    ("table[1, 0]", lambda: np.eye(2, dtype=np.float32), np.eye(2)),
    ("table[1, 0]", lambda: np.eye(2, dtype=np.float32), np.eye(3, dtype=np.float32)),
    ("table[0]", lambda: np.array([np.nan, -0.0]), np.array([np.nan, 0.0])),
    ("table", lambda: float("nan"), 1.0),
    ("table", lambda: np.float32("nan"), np.float32(1)),
    ("table[0]", lambda: (float("1"), float("nan")), (1.0, 2.0)),
    ("table[0]", lambda: (1, 2), (1, 2.0)),
    ("table.x", lambda: Point(1, 2), Point(1, 3)),
    ("table[0][1]", lambda: (np.arange(3.0), 1), (np.arange(3.0) + 1, 1)),
    ("cuda.local.array(2, table)[0]", lambda: np.dtype([("x", "f4")])["x"], np.dtype("f8")),
]


@pytest.mark.parametrize("what, make, other", MADE_ANEW, ids=[f"{k}-{m[0]}" for k, m in enumerate(MADE_ANEW)])
@pytest.mark.unchecked("a value is read before it is written")
def test_a_value_that_is_made_anew(what, make, other):
    scope = namespace(f"@cuda.jit\ndef kernel(a):\n    a[0] = {what}\n", table=make())
    result(scope["kernel"])
    scope["table"] = make()
    assert said(lambda: result(scope["kernel"])) == []
    scope["table"] = other
    assert said(lambda: result(scope["kernel"])) == ["PT816"]


def test_arrays_that_lie_apart_in_memory_are_others():
    table = np.arange(6.0)[::2]
    scope = namespace("@cuda.jit\ndef kernel(a):\n    a[0] = table[1]\n", table=table)
    result(scope["kernel"])
    scope["table"] = table
    assert said(lambda: result(scope["kernel"])) == []
    scope["table"] = np.arange(6.0)[::2]
    assert said(lambda: result(scope["kernel"])) == ["PT816"]


def test_the_attributes_of_modules_and_objects():
    settings, module = types.SimpleNamespace(n=1), types.ModuleType("settings")
    module.m = 2
    scope = namespace("@cuda.jit\ndef kernel(a):\n    a[0] = settings.n + module.m\n", settings=settings, module=module)
    kernel = scope["kernel"]
    assert said(lambda: result(kernel)) == []
    settings.n = 5
    assert said(lambda: result(kernel)) == ["PT816"]
    module.m = 5
    assert said(lambda: result(kernel)) == ["PT816"] and result(kernel) == 3


def test_an_error_leaves_the_kernel_as_it_is():
    scope = namespace(KERNEL, n=3, m=10)
    kernel = scope["kernel"]
    result(kernel)
    scope["n"] = 4
    with warnings.catch_warnings():
        warnings.simplefilter("error", pyptx.Advice)
        for _ in range(2):
            with pytest.raises(pyptx.Advice, match="PT816"):
                result(kernel)
    assert said(lambda: result(kernel)) == ["PT816"]


REDEFINED = [
    ("a device function", "@cuda.jit(device=True)\ndef helper(x):\n    return x + 1\n", "@cuda.jit(device=True)\ndef helper(x):\n    return x + 2\n"),
    ("a function", "def helper(x):\n    return x + 1\n", "def helper(x):\n    return x + 2\n"),
    ("its default", "def helper(x, d=1):\n    return x + d\n", "def helper(x, d=2):\n    return x + d\n"),
    ("a lambda", "helper = lambda x: x + 1", "helper = lambda x: x + 2"),
    ("of another kind", "def helper(x):\n    return x + 1\n", "@cuda.jit(device=True)\ndef helper(x):\n    return x + 2\n"),
]


@pytest.mark.parametrize("what, before, after", REDEFINED, ids=[r[0] for r in REDEFINED])
def test_a_function_that_is_redefined(what, before, after):
    scope = namespace(before + "\n@cuda.jit\ndef kernel(a):\n    a[0] = helper(a[0])\n")
    kernel = scope["kernel"]
    d = cuda.to_device(np.zeros(1))
    for _ in range(3):
        kernel[1, 1](d)
    assert result(kernel) == 1
    first = next(iter(kernel.overloads.values()))
    exec(before, scope)  # a cell that is run again
    assert result(kernel) == 1 and next(iter(kernel.overloads.values())) is first
    exec(after, scope)
    assert said(lambda: kernel[1, 1](d)) == [] and d.copy_to_host()[0] == 5
    assert result(kernel) == 2 and len(kernel.overloads) == 1 and next(iter(kernel.overloads.values())) is not first
    exec(before, scope)
    assert result(kernel) == 1


def test_what_autoreload_does():
    """IPython's autoreload puts the new code into the old function, and the new function into the module."""
    helpers = types.ModuleType("helpers")
    exec("def f(x):\n    return x + 1\ndef g(x):\n    return x + 10\n", helpers.__dict__)
    scope = namespace("@cuda.jit\ndef kernel(a):\n    a[0] = f(a[0]) + helpers.g(a[0])\n", f=helpers.f, helpers=helpers)
    kernel = scope["kernel"]
    assert result(kernel) == 11
    fresh = {}
    exec("def f(x):\n    return x + 2\ndef g(x):\n    return x + 20\n", fresh)
    helpers.f.__code__ = fresh["f"].__code__
    assert result(kernel) == 12
    helpers.g = fresh["g"]
    assert result(kernel) == 22


def test_a_function_of_a_function():
    scope = namespace("def inner(x):\n    return x + 1\ndef outer(x):\n    return inner(x)\n@cuda.jit\ndef kernel(a):\n    a[0] = outer(a[0])\n")
    assert result(scope["kernel"]) == 1
    exec("def inner(x):\n    return x + 7\n", scope)
    assert result(scope["kernel"]) == 7


def test_a_redefinition_takes_the_values_of_now():
    scope = namespace(KERNEL, n=3, m=10)
    assert result(scope["kernel"]) == 13
    scope["n"] = 5
    exec("def helper(x):\n    return x + 2 * n\n", scope)
    assert said(lambda: result(scope["kernel"])) == []
    assert result(scope["kernel"]) == 20


def test_a_redefinition_that_does_not_compile():
    scope = namespace(KERNEL, n=3, m=10)
    result(scope["kernel"])
    exec("def helper(x):\n    return open(x)\n", scope)
    for _ in range(2):
        with pytest.raises(pyptx.CompileError):
            result(scope["kernel"])
    exec("def helper(x):\n    return x\n", scope)
    assert result(scope["kernel"]) == 10


def test_each_overload_is_compiled_again():
    scope = namespace("def helper(x):\n    return x + 1\n@cuda.jit\ndef kernel(a, b):\n    a[0] = helper(b)\n")
    kernel = scope["kernel"]
    assert [result(kernel, b) for b in (1, 1.0, np.int32(1))] == [2, 2, 2] and len(kernel.overloads) == 3
    exec("def helper(x):\n    return x + 2\n", scope)
    assert [result(kernel, b) for b in (1, 1.0, np.int32(1))] == [3, 3, 3] and len(kernel.overloads) == 3


def test_many_names_are_seen_within_a_tick():
    import time

    names = {f"v{k}": k for k in range(30)}
    scope = namespace("@cuda.jit\ndef kernel(a):\n    a[0] = " + " + ".join(names) + "\n", **names)
    result(scope["kernel"])
    for k in (29, 17, 0):
        scope[f"v{k}"] = -1
        time.sleep(0.05)  # some ticks of the kernel's clock
        assert said(lambda: result(scope["kernel"])) == ["PT816"]


def test_threads_that_launch_while_a_function_is_redefined():
    import threading

    scope = namespace("def helper(x):\n    return x + 1\n@cuda.jit\ndef kernel(a):\n    a[0] = helper(a[0])\n")
    kernel, stop, wrong = scope["kernel"], threading.Event(), []

    def work():
        d = cuda.to_device(np.zeros(1))
        while not stop.is_set():
            try:
                kernel[1, 1](d)
                if not 1 <= result(kernel) <= 9:
                    wrong.append("value")
            except Exception as e:  # noqa: BLE001 - shown below
                wrong.append(repr(e))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for t in threads:
        t.start()
    for k in range(2, 10):
        exec(f"def helper(x):\n    return x + {k}\n", scope)
        result(kernel)
    stop.set()
    for t in threads:
        t.join()
    assert not wrong and result(kernel) == 9


def test_what_is_captured_goes_with_the_kernel():
    import gc
    import weakref

    scope = namespace("@cuda.jit\ndef kernel(a):\n    a[0] = v.n\n", v=types.ModuleType("v"))
    scope["v"].n = 1
    result(scope["kernel"])
    alive = weakref.ref(scope["v"])
    scope.clear()
    gc.collect()
    assert alive() is None
