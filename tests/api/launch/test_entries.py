"""The two entries of a coarsened kernel are compiled and loaded apart, each when a launch first wants it (docs/COARSENING.md). On the
stand-in driver, which says what was loaded."""

import re
import shutil
import subprocess
import sys

import pytest
from pyptx import _pyptx, cuda, float32
from standin import needs_standin, run

V = "float32[::1]"
START = """
import threading, numpy as np
from pyptx import cuda
from standin import driver
control = driver()
def loads():
    n = control.calls(b"cuModuleLoadDataEx")
    control.forget()
    return n
def last():
    import ctypes
    return ctypes.cast(control.last(), ctypes.c_char_p).value.decode()  # the kernel's name comes first
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]
x = cuda.to_device(np.zeros(1 << 20, np.float32))
control.forget()
"""


def alone(source, **env):
    """Lines of `source` print behind START."""
    import textwrap

    return run(START + textwrap.dedent(source), **env)


def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


def tiled(a, b):
    t = cuda.shared.array(64, float32)
    i, j = cuda.grid(1), cuda.threadIdx.x
    t[j] = a[i]
    cuda.syncthreads()
    b[i] = t[63 - j]


def square_sum(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * y[i] + x[i] * x[i]


# --- the texts ---


@pytest.mark.parametrize(
    "kernel, n, options",
    [(add, 3, {}), (add, 3, {"lineinfo": True}), (tiled, 2, {}), (square_sum, 3, {}), (square_sum, 3, {"fma": False})],
)
def test_both_ways_are_the_same_code(kernel, n, options):
    signature = ", ".join([V] * n)
    both = _pyptx._compile(kernel, signature, "nvptx", "sm_90", 0, {"coarsen": 4, **options}, "ptx")
    apart = _pyptx._compile(kernel, signature, "nvptx", "sm_90", 0, {"coarsen": 4, **options}, "apart")
    own, coarse = apart["ptx"], apart["coarse"]["ptx"]
    assert own.count(".entry") == coarse.count(".entry") == 1 and both["ptx"].count(".entry") == 2
    assert apart["coarse"]["symbol"] == both["symbol"] + "$coarse"
    assert (apart["params"], apart["coarsening"]) == (both["params"], both["coarsening"])
    assert [name for name, _ in apart["coarse"]["timings"]] == ["coarsen", "emit"]

    def body(text, name):  # instructions, without labels' numbers and lines' comments
        text = text[text.index(f".entry {name}(") :]
        text = text[: text.index("\n}")]
        lines = (line.split("//")[0].strip() for line in re.sub(r"L__BB\d+|L\w*tmp\d+|L__func\w*", "L", text).splitlines())
        return [line for line in lines if line and not re.match(r"\$L\w*:$", line)]

    assert body(both["ptx"], kernel.__name__) == body(own, kernel.__name__)
    assert body(both["ptx"], kernel.__name__ + "$coarse") == body(coarse, kernel.__name__ + "$coarse")


@pytest.mark.skipif(not shutil.which("ptxas"), reason="ptxas is not on PATH")
def test_the_entry_alone_assembles(tmp_path):
    made = _pyptx._compile(tiled, f"{V}, {V}", "nvptx", "sm_90", 0, {"coarsen": 4, "lineinfo": True}, "apart,cubin")
    assert made["coarse"]["ptx"].count(".shared") and "tiled(" not in made["coarse"]["ptx"]
    path = tmp_path / "x.ptx"
    path.write_text(made["coarse"]["ptx"])
    found = subprocess.run(["ptxas", "-arch=sm_90", str(path), "-o", str(tmp_path / "x.cubin")], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_kernels_with_one_entry_have_no_second():
    made = _pyptx._compile(add, f"{V}, {V}, {V}", "nvptx", "sm_90", 0, {"coarsen": 1}, "apart")
    assert "coarse" not in made


def test_the_host_has_one(monkeypatch):
    monkeypatch.setenv("PYPTX_DEVICE", "host")
    assert "coarse" not in _pyptx._compile(add, f"{V}, {V}, {V}", "host", None, 0, {"coarsen": 4}, "apart")


# --- loading ---


@needs_standin
def test_a_launch_loads_what_it_takes():
    alone("""
        k = cuda.jit(add)
        k[4096, 256](x, x, x)
        assert (last(), loads()) == ("add$coarse", 1)
        (o,) = k.overloads.values()
        k[4096, 256](x, x, x)
        assert (last(), loads()) == ("add$coarse", 0)
        k[10, 256](x, x, x)
        assert (last(), loads()) == ("add", 1)
        k[10, 256](x, x, x)
        k[4096, 256](x, x, x)
        assert loads() == 0 and o.regs_per_thread == 32 and loads() == 0
        assert ".entry add(" in o.ptx and "$coarse(" not in o.ptx
        assert ".entry add$coarse(" in o.coarse_ptx and ".entry add(" not in o.coarse_ptx
        assert cuda.jit(coarsen=1)(add).compile("float32[::1], float32[::1], float32[::1]").coarse_ptx is None
        """)


@needs_standin
def test_what_is_asked_about_a_kernel_is_of_its_own_entry():
    alone("""
        V = "float32[::1]"
        k = cuda.jit(add)
        o = k.compile(f"{V}, {V}, {V}")
        assert loads() == 1
        assert o.max_threads_per_block == 1024 and o.max_cooperative_grid_blocks(64) > 0 and loads() == 0
        assert ".entry add$coarse(" in o.coarse_ptx and loads() == 0  # it is compiled, not loaded
        k[4096, 256](x, x, x)
        assert (last(), loads()) == ("add$coarse", 1)
        for ask in (lambda k, o: o.regs_per_thread, lambda k, o: k.get_regs_per_thread(o.signature), lambda k, o: o.max_cooperative_grid_blocks(64)):
            k = cuda.jit(add)
            k[4096, 256](x, x, x)
            assert (last(), loads()) == ("add$coarse", 1)
            (o,) = k.overloads.values()
            assert ask(k, o) and loads() == 1 and ask(k, o) and loads() == 0
        k = cuda.jit(add)
        k.specialize(x, x, x)
        assert loads() == 1
        k = cuda.jit(add)
        k.forall(1 << 20)(x, x, x)  # the block's size is what suits the entry that is taken
        assert (last(), loads()) == ("add$coarse", 1)
        k.forall(1000)(x, x, x)
        assert (last(), loads()) == ("add", 1)
        cuda.jit(coarsen=4)(add).forall(1 << 20)(x, x, x)
        assert (last(), loads()) == ("add$coarse", 1)
        """)


@needs_standin
def test_bound_launches_and_streams():
    alone("""
        k = cuda.jit(add)
        s = cuda.stream()
        bound = k[4096, 256, s].bind(x, x, x)
        assert loads() == 0
        bound()
        bound()
        assert (last(), loads()) == ("add$coarse", 1)
        k[16, 256].bind(x, x, x)()
        assert (last(), loads()) == ("add", 1)
        k[4096, 256, s](x, x, x)
        host = np.zeros(1 << 20, np.float32)
        k[4096, 256](host, host, host)
        assert (last(), loads()) == ("add$coarse", 0)
        """)


@needs_standin
def test_a_graph_records_each_launch_once():
    alone("""
        k = cuda.jit(add)
        with cuda.graph() as g:
            k[4096, 256](x, x, x)
            k[16, 256](x, x, x)
            k[4096, 256](x, x, x)
        assert len(g.nodes) == 3 and loads() == 2
        g.launch()
        cuda.synchronize()
        for node in g.nodes:
            node.set_args(x, x, x)
        assert loads() == 0
        """)


@needs_standin
def test_threads_load_each_entry_once():
    alone("""
        for turn in range(5):
            k = cuda.jit(add)
            start, wrong = threading.Barrier(8), []
            def work(n):
                start.wait()
                try:
                    for j in range(20):
                        k[4096 if (n + j) % 2 else 16, 256](x, x, x)
                except BaseException as error:
                    wrong.append(error)
            threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
            [t.start() for t in threads], [t.join() for t in threads]
            assert not wrong and loads() == 2, wrong
        """)


# --- failures ---


@needs_standin
def test_an_entry_that_fails_is_tried_again():
    alone("""
        k = cuda.jit(add)
        for blocks, name in ((4096, "add$coarse"), (16, "add")):
            for call, result in ((b"cuModuleLoadDataEx", 218), (b"cuModuleLoadDataEx", 2), (b"cuModuleGetFunction", 2), (b"cuFuncGetAttribute", 2)):
                control.fail(call, 1, result)
                try:
                    k[blocks, 256](x, x, x)
                    assert False
                except (RuntimeError, MemoryError) as error:
                    assert "add" in str(error), error
                control.forget()
            k[blocks, 256](x, x, x)
            assert (last(), loads()) == (name, 1)
        control.fail(b"cuModuleLoadDataEx", 1, 2)  # what has one entry already goes on with that
        k = cuda.jit(add)
        control.forget()
        k[16, 256](x, x, x)
        control.fail(b"cuModuleLoadDataEx", 1, 2)
        try:
            k[4096, 256](x, x, x)
            assert False
        except MemoryError:
            pass
        k[16, 256](x, x, x)
        assert last() == "add"
        """)


@needs_standin
def test_a_capture_in_which_loading_fails_goes_on():
    alone("""
        k = cuda.jit(add)
        with cuda.graph() as g:
            control.fail(b"cuModuleLoadDataEx", 1, 2)
            try:
                k[4096, 256](x, x, x)
                assert False
            except MemoryError:
                pass
            k[4096, 256](x, x, x)
        assert len(g.nodes) == 1
        g.launch()
        """)


@needs_standin
def test_what_launches_the_kernel_in_the_middle_is_refused(tmp_path):
    alone("""
        import warnings
        k = cuda.jit(cache=True)(add)
        k[16, 256](x, x, x)
        def launch(*rest, **names):
            try:
                k[4096, 256](x, x, x)
            except RuntimeError as error:
                seen.append(str(error))
        seen = []
        import os
        os.environ["PYPTX_CACHE_SIZE"] = "nonsense"  # a warning while the entry is compiled
        warnings.showwarning = launch
        k[4096, 256](x, x, x)
        assert seen == ["kernel add is launched while this thread compiles it"] and last() == "add$coarse", seen
        """, PYPTX_CACHE_DIR=str(tmp_path))


@needs_standin
@pytest.mark.parametrize("file, name", [("add\\udcff.py", "add"), ("add.py", "add\\udcff")])
def test_names_that_are_no_text(file, name, tmp_path):
    """A folder whose name is not UTF-8, a __qualname__ with half a surrogate pair: of no concern to either entry."""
    alone(f"""
        source = "def add(x, y, out):\\n    i = cuda.grid(1)\\n    if i < out.size:\\n        out[i] = x[i] + y[i]\\n"
        names = dict(cuda=cuda)
        exec(compile(source, "{file}", "exec"), names)
        names["add"].__qualname__ = "{name}"
        for cache in (False, True):
            k = cuda.jit(cache=cache)(names["add"])
            for blocks in (16, 4096):
                k[blocks, 256](x, x, x)
                assert last() == ("add" if blocks == 16 else "add$coarse")
        """, PYPTX_CACHE_DIR=str(tmp_path))


@needs_standin
@pytest.mark.parametrize("first", [True, False])
def test_a_thread_that_was_stopped_in_a_compilation_holds_nobody_up(first, tmp_path):
    """Python's end stops daemon threads: what is launched after that, by a __del__, cannot wait for them."""
    text = alone(f"""
        import builtins, os, sys, time, warnings
        k = cuda.jit(cache=True)(add)
        if not {first}:
            k[16, 256](x, x, x)
        class Late:
            def __del__(self):
                try:
                    k[4096, 256](x, x, x)
                except RuntimeError as error:
                    sys.stdout.write(str(error) + chr(10))
        builtins.late = Late()
        begun = threading.Event()
        def stay(*rest, **names):
            begun.set()
            time.sleep(1000)
        os.environ["PYPTX_CACHE_SIZE"] = "nonsense"  # a warning in the middle
        warnings.showwarning = stay
        threading.Thread(target=lambda: k[4096, 256](x, x, x), daemon=True).start()
        begun.wait()
        """, PYPTX_CACHE_DIR=str(tmp_path))
    assert text == "kernel add was being compiled by a thread that Python's end has stopped: join threads before the program ends\n"


# --- the disk cache ---


def launched(blocks, path):
    """Hits, misses, loads of a new process that launches with so many blocks, one after another."""
    text = alone(f"""
        k = cuda.jit(cache=True)(add)
        for blocks in {blocks}:
            k[blocks, 256](x, x, x)
        info = cuda.cache_info()
        print(info.hits, info.misses, loads())
        """, PYPTX_CACHE_DIR=str(path))
    return tuple(map(int, text.split()))


@needs_standin
def test_the_disk_cache_keeps_each_entry(tmp_path):
    assert launched([16], tmp_path) == (0, 1, 1)
    assert launched([4096], tmp_path) == (1, 1, 1)
    assert launched([4096, 16], tmp_path) == (2, 0, 2)
    listed = subprocess.run([sys.executable, "-m", "pyptx.cli", "cache", "list", "--dir", str(tmp_path)], capture_output=True, text=True)
    names = sorted(re.findall(r"\b(add(?:, coarsened)?)\(", listed.stdout))
    assert names == ["add", "add, coarsened"], listed.stdout + listed.stderr
