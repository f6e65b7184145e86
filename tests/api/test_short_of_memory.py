"""Short stacks and little memory: whatever thread calls, and however little there is, a compilation or a launch works or raises; none ends the process.

Each case is a process of its own, since what it lacks cannot be given back."""

from pathlib import Path

import pytest
from test_hostile import run

BENCH = str(Path(__file__).resolve().parents[2] / "bench")

KERNELS = """
import resource, sys, threading
import numpy as np
from pyptx import _pyptx, cuda
def double(a, b):
    i = cuda.grid(1)
    b[i] = a[i] * 2
def compile_to(target, kernel=double, signature="float64[::1], float64[::1]"):
    return _pyptx._compile(kernel, signature, target, "sm_90" if target == "nvptx" else None, 0, {}, "ptx")
def on_stack(kib, body):
    failed = []
    def caught():
        try:
            body()
        except BaseException as e:
            failed.append(e)
    threading.stack_size(kib << 10)
    thread = threading.Thread(target=caught)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
"""


@pytest.mark.parametrize("kib", [32, 64, 256])
def test_compiling_on_a_short_stack(kib):
    """Also by four threads at once, while another one forks; and a kernel whose calls are 400 deep."""
    run(
        KERNELS
        + f"""
import os, pyptx
deep = "def f0(x):\\n    return x * 0.5\\n" + "".join(f"def f{{k + 1}}(x):\\n    return f{{k}}(x) + 1\\n" for k in range(400))
scope = {{"cuda": cuda}}
exec(deep + "def kernel(a, b):\\n    b[0] = f400(a[0])\\n", scope)
def work():
    for target in ("host", "nvptx"):
        compile_to(target)
        compile_to(target, scope["kernel"])
        try:
            compile_to(target, signature="float64, float64[::1]")
        except pyptx.CompileError as e:
            assert "grid" in str(e) or "index" in str(e), e
on_stack({kib}, work)
threading.stack_size({kib} << 10)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads:
    t.start()
for _ in range(5):
    pid = os.fork()
    if not pid:
        compile_to("host")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
for t in threads:
    t.join()
print("compiled")
"""
    )


LIMITED = """
import scaling_shapes
scope = {"cuda": cuda, "np": np}
exec(scaling_shapes.straight_lines(LINES), scope)
SHAPE = scope["kernel"], scaling_shapes.TWO_ARRAYS
def attempt(more):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))
    try:
        compile_to(TARGET, *SHAPE)
        return "compiled"
    except MemoryError:
        return "MemoryError"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""


def limited(target, lines, body):
    head = f"import sys\nsys.path.insert(0, {BENCH!r})\nTARGET, LINES = {target!r}, {lines}\n"
    return run(head + KERNELS + LIMITED + body)


@pytest.mark.parametrize("target, lines", [("host", 1500), ("nvptx", 3000)])
def test_compiling_with_little_memory(target, lines):
    """From nothing upwards: first there is none for a thread, then none for LLVM in the middle of its work, then enough; and afterwards everything works."""
    out = limited(
        target,
        lines,
        """
compile_to(TARGET)
results = {kib: attempt(kib << 10) for kib in [0, 8000, 15000, *range(18000, 42000, 3000), 60000, 400000]}
assert results[0] == "MemoryError" and results[400000] == "compiled", results
compile_to(TARGET, *SHAPE)
print([kib for kib in results if kib > 18000 and results[kib] == "MemoryError"])
""",
    )
    assert out.strip() != "[]"


@pytest.mark.parametrize("kib", [0, 4000, 12000, 18000, 20000, 24000, 28000, 32000, 40000])
def test_the_first_compilation_with_little_memory(kib):
    limited("host", 30, f"print(attempt({kib} << 10))\ncompile_to('nvptx')\ncompile_to('host')\n")
