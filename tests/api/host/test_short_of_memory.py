"""Short stacks and little memory: whatever thread calls, and however little there is, a compilation or a launch works or raises; none ends the process.

Each case is a process of its own, since what it lacks cannot be given back."""

import os
import sys
from pathlib import Path

import pytest
from test_hostile import run

BENCH = str(Path(__file__).resolve().parents[3] / "bench")

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


# KiB. CPython 3.13 itself needs more than 48; a processor with AVX-512 and AMX keeps up to 11 KiB of registers on the stack
# for a signal, and for a function that the loader binds at its first call.
SMALLEST = 64 if sys.version_info >= (3, 13) or os.sysconf("SC_MINSIGSTKSZ") > 4096 else 32


@pytest.mark.parametrize("kib", [SMALLEST, 64, 256])
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


LAUNCHES = """
N = {elements}
def fill(a, b):
    t = cuda.local.array(N, np.float64)
    i = cuda.grid(1)
    for j in range(N):
        t[(j * 7 + i) % N] = a[j % a.size] + i
    s = 0.0
    for j in range(0, N, 11):
        s += t[j]
    b[i] = s
def down(x, n):
    t = cuda.local.array(100, np.float64)
    t[n % 100] = x
    return t[n % 100] if n <= 0 else down(x, n - 1) + t[n % 7]
def deep(a, b):
    b[0] = down(a[0], 10**9)
def met(a, b):
    t = cuda.local.array(N, np.float64)
    i = cuda.threadIdx.x
    t[i % N] = a[i]
    cuda.syncthreads()
    b[cuda.grid(1)] = t[i % N] + t[(i + 1) % N] * 0
def outside(a, b):
    t = cuda.local.array(N, np.float64)
    t[cuda.threadIdx.x % N] = a[0]
    b[cuda.grid(1) + 1000000] = t[0]
a, b = np.arange(64.0), np.zeros(256)
want = np.zeros(256)
for i in range(256):
    t = np.zeros(N)
    j = np.arange(N)
    t[(j * 7 + i) % N] = a[j % a.size] + i
    want[i] = t[::11].sum()
def work():
    for _ in range(3):
        b[:] = 0
        cuda.jit(fill)[8, 32](a, b)
        assert np.allclose(b, want, rtol=1e-12)
    cuda.jit(met)[8, 32](a, b)
    assert (b == np.tile(a[:32], 8)).all()
    for kernel, error in ((deep, RecursionError), (outside, IndexError)):
        try:
            cuda.jit(kernel)[8, 32](a, b)
        except error as e:
            print(type(e).__name__)
        else:
            assert False, error
"""


@pytest.mark.host_only("a GPU's threads have stacks of their own")
@pytest.mark.parametrize("elements", [10, 4096, 30001])
@pytest.mark.parametrize("kib", [SMALLEST, 128, 256, 1024])
@pytest.mark.unchecked("local memory is read before it is written")
def test_launching_from_a_short_stack(kib, elements):
    """Local arrays of up to 240 KB, in sixteen lanes at once; recursion without an end; a kernel with a barrier; one that stops."""
    out = run(KERNELS + LAUNCHES.format(elements=elements) + f"on_stack({kib}, work)\n")
    assert out.split() == ["RecursionError", "IndexError"]


@pytest.mark.host_only("a GPU's threads have stacks of their own")
def test_interrupting_a_launch_of_a_short_stack():
    """The main thread's, so that the launch runs on another one, while this one sees Ctrl-C."""
    body = """
import os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, resource.getrlimit(resource.RLIMIT_STACK)[1]))
done = subprocess.run([sys.executable, "-c", sys.argv[1]])
print("ended")
sys.exit(done.returncode)
"""
    child = (
        KERNELS
        + """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
def spin(a, n):
    t = cuda.local.array(20000, np.float64)
    for j in range(n):
        t[j % 20000] = j
        a[cuda.grid(1)] += t[j % 20000]
kernel = cuda.jit(spin)
a = np.zeros(1 << 16)
kernel[1, 1](a, 10)
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    kernel[1 << 12, 16](a, 1000000)
    sys.exit("not interrupted")
except KeyboardInterrupt:
    pass
a[:] = 0
kernel[1, 1](a, 10)
assert a[0] == 45
"""
    )
    run("import sys\nsys.argv[1:] = [" + repr(child) + "]\n" + body)


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


@pytest.mark.host_only("the memory of a GPU is another")
def test_everything_else_with_little_memory():
    """Arrays, launches, checked ones, streams, graphs, operators and reductions: each works or is a MemoryError, and works when there is memory again."""
    out = run(
        KERNELS
        + """
import cmath  # which pyptx asks for its functions: without memory Python's import of it is an ImportError
from pyptx import _pyptx
x, out = np.arange(64.0), np.zeros(64)
ready, d = cuda.jit(double), cuda.to_device(x)
ready[1, 64](x, out)
def launch():
    out[:] = 0
    ready[1, 64](x, out)
    assert (out == 2 * x).all()
def compiled_launch():
    out[:] = 0
    cuda.jit(double)[1, 64](x, out)
    assert (out == 2 * x).all()
def checked():
    with cuda.checking("race", "init"):
        ready[1, 64](x, out)
def copies():
    assert (cuda.to_device(np.arange(1 << 20)).copy_to_host() == np.arange(1 << 20)).all()
def streams():
    s, e = cuda.stream(), cuda.event()
    e.record(s)
    s.synchronize()
def graph():
    with cuda.graph() as g:
        ready[1, 64](d, d)
    g.launch()
def pinned():
    cuda.pinned_array(1 << 20, np.uint8)[:] = 1
def operators():
    assert ((cuda.to_device(x) + 1).copy_to_host() == x + 1).all()
def reduction():
    assert cuda.to_device(x).sum() == x.sum()
def many_blocks():
    big = np.zeros(1 << 16)
    ready[256, 256](big, np.zeros(1 << 16))
actions = (launch, compiled_launch, checked, copies, streams, graph, pinned, operators, reduction, many_blocks)
refused = set()
for kib in (0, 200, 1000, 4000, 16000, 40000, 400000):
    for action in actions:
        used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (kib << 10), resource.RLIM_INFINITY))
        try:
            action()
        except MemoryError:
            refused.add((action.__name__, kib))
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
for action in actions:
    action()
assert not any(kib == 400000 for _, kib in refused), refused
print(len({name for name, _ in refused}))
"""
    )
    assert int(out) >= 3, "each time there was enough memory"
