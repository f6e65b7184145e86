"""fork and the end of a process, each in a process of its own: on this device, and on the stand-in driver where it was built."""

import os
import signal
import subprocess
import sys

import pytest

STANDIN = os.environ.get("PYPTX_STANDIN", "")
BEGIN = """
import atexit, gc, os, signal, sys, threading, time, weakref
import numpy as np
from pyptx import cuda

@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1

def in_child(work):
    pid = os.fork()
    if not pid:
        signal.alarm(60)  # a deadlock ends as a failure
        code = 70
        try:
            work()
            code = 0
        except BaseException as e:
            print(type(e).__name__, e, flush=True)
        finally:
            sys.stdout.flush()
            os._exit(code)
    code = os.waitpid(pid, 0)[1]
    assert code in (0, 70 << 8), code
"""


def run(source, **environment):
    """Standard output of the program; it must end by itself, with 0, and with nothing on standard error."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", BEGIN + source],
        capture_output=True, text=True, timeout=120, env={**os.environ, "PYPTX_ADVICE": "0", **environment},
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    assert done.stderr == "", done.stderr
    return done.stdout.strip()


@pytest.fixture(params=["device", "standin"])
def where(request, device):
    """The environment of this run's device, or of the stand-in, where kernels do nothing."""
    if request.param == "device":
        return {"PYPTX_DEVICE": device}
    if not STANDIN:
        pytest.skip("PYPTX_STANDIN names no stand-in driver")
    return {"PYPTX_DEVICE": "gpu", "PYPTX_DRIVER": STANDIN, "PYPTX_STANDIN_DEVICES": "2"}


@pytest.fixture
def standin():
    if not STANDIN:
        pytest.skip("PYPTX_STANDIN names no stand-in driver")
    return {"PYPTX_DRIVER": STANDIN}


# --- fork ----------------------------------------------------------------------------------------------------------


def test_the_host_device_works_on_in_a_child_of_fork():
    out = run("""
x = cuda.to_device(np.zeros(1 << 20))
add_one[4096, 256](x)
def work():
    add_one[4096, 256](x)                                  # compiled in the parent, with a pool of the child's own
    y = np.zeros(8, np.int16)
    add_one[1, 8](y)                                       # compiled here
    s = cuda.stream()
    s.add_callback(lambda *_: print("called", flush=True))
    while threading.active_count() > 1:
        time.sleep(0.001)
    print(x.copy_to_host().sum() / x.size, y.tolist())
in_child(work)
print(x.copy_to_host().sum() / x.size)
""", PYPTX_DEVICE="host", PYPTX_HOST_THREADS="4")
    assert out.split("\n") == ["called", "2.0 [1, 1, 1, 1, 1, 1, 1, 1]", "1.0"]


def test_forks_while_other_threads_compile_and_launch():
    out = run("""
stop = False
def busy():
    while not stop:
        kernel = cuda.jit(add_one.py_func)
        x = np.zeros(100000)
        kernel[400, 256](x)
threads = [threading.Thread(target=busy) for _ in range(3)]
for t in threads: t.start()
def work():
    kernel = cuda.jit(add_one.py_func)
    x = np.zeros(100000)
    kernel[400, 256](x)
    assert (x == 1).all()
for _ in range(15):
    in_child(work)
stop = True
for t in threads: t.join()
print("done")
""", PYPTX_DEVICE="host", PYPTX_HOST_THREADS="4")
    assert out == "done"


@pytest.mark.parametrize("progress", ["0", "1"])
@pytest.mark.unchecked("threads write what others read")
def test_a_first_kernel_imports_nothing(where, progress):
    """A child of fork would wait for ever for a module that another thread of its parent was importing."""
    out = run("""
before = set(sys.modules)
d = cuda.to_device(np.zeros((8, 8), np.float32))
@cuda.jit
def row_sums(x, factor):
    j, i = cuda.grid(2)
    s = 0.0
    for k in range(8):
        s += x[i, k]
    if j < x.shape[1]:
        x[i, j] = s * factor
row_sums[(1, 8), (8, 1), cuda.stream()](d, 2)
add_one[1, 8](d.reshape(64))
d.copy_to_host()
cuda.synchronize()
print(sorted(set(sys.modules) - before))
""", **where, PYPTX_PROGRESS=progress)
    assert out == "[]"


def test_a_fork_while_the_same_kernel_is_compiled():
    """The child must not wait for a thread that only the parent has."""
    out = run("""
body = "".join(f"    x[i] = x[i] * {k}.5 + x[(i * {k}) % x.size]\\n" for k in range(60))
space = {"cuda": cuda}
exec("def kernel(x):\\n    i = cuda.grid(1)\\n" + body, space)
kernel = cuda.jit(space["kernel"])
t = threading.Thread(target=lambda: kernel.compile("float64[::1]"))
t.start()
time.sleep(0.02)
in_child(lambda: kernel.compile("float64[::1]"))
t.join()
print(len(kernel.overloads))
""", PYPTX_DEVICE="host")
    assert out == "1"


FORKED = "this process was forked from one that had already used the GPU"


def test_a_gpu_in_a_child_of_fork_is_an_error_that_says_what_to_do(standin):
    out = run("""
x = cuda.to_device(np.arange(4.0))
s, e = cuda.stream(), cuda.event()
add_one[1, 4](x)
for use in (lambda: cuda.device_array(4), lambda: cuda.to_device(np.zeros(4)), lambda: add_one[1, 4](x), x.copy_to_host,
            lambda: x[0], cuda.synchronize, s.synchronize, e.record, cuda.stream, cuda.event, cuda.is_available,
            lambda: len(cuda.gpus), lambda: cuda.current_context().get_memory_info(), lambda: cuda.jit(add_one.py_func)[1, 4](x)):
    in_child(use)
def free():
    global x, s, e
    del x, s, e
    gc.collect()
in_child(free)
print(x.copy_to_host().tolist(), "in the parent")
""", PYPTX_DEVICE="gpu", **standin).split("\n")
    assert len(out) == 2 * 14 + 1 and out[-1] == "[0.0, 1.0, 2.0, 3.0] in the parent"
    assert all(FORKED in line for line in out[:-1:2]) and all("spawn" in line for line in out[1::2]), out


def test_a_child_does_not_fall_back_to_the_host(standin):
    out = run("print(cuda.is_available()); in_child(lambda: cuda.to_device(np.zeros(4)))", PYPTX_DEVICE="auto", **standin)
    assert out.startswith("True\n") and FORKED in out


def test_a_child_may_use_the_gpu_that_its_parent_has_not_used(standin):
    assert run("in_child(lambda: print(cuda.to_device(np.arange(2)).copy_to_host()))", PYPTX_DEVICE="gpu", **standin) == "[0 1]"


def test_a_child_may_use_the_host_device_beside(standin):
    out = run("""
cuda.to_device(np.zeros(4))
def work():
    with cuda.select_device("host"):
        x = np.zeros(4)
        add_one[1, 4](x)
        print(x.tolist())
in_child(work)
""", PYPTX_DEVICE="gpu", **standin)
    assert out == "[1.0, 1.0, 1.0, 1.0]"


# --- the end of a process --------------------------------------------------------------------------------------------


def test_arrays_and_kernels_in_globals_at_exit(where):
    assert run("""
x, s, e, config = cuda.to_device(np.zeros(100)), cuda.stream(), cuda.event(), add_one[1, 100]
config(x)
view, cycle = x[10:20], [x]
cycle.append(cycle)
sys.keep = [x, add_one, s, e]          # freed after all modules
print("end")
""", **where) == "end"


def test_daemon_threads_that_launch_at_exit(where):
    assert run("""
def forever():
    while True:
        x = cuda.to_device(np.zeros(1000))
        add_one[10, 100](x)
        cuda.jit(add_one.py_func)[1, 1](x)
        x.copy_to_host()
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.3)
print("end")
""", **where) == "end"


def test_daemon_threads_that_compile_at_exit(where):
    """LLVM's objects are destroyed after the last compilation only; several times, since a fault shows in one run of five."""
    for _ in range(4):
        assert run("""
x = cuda.to_device(np.zeros(4))
def forever():
    while True:
        cuda.jit(add_one.py_func)[1, 1](x)
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.2)
print("end")
""", **where) == "end"


def test_handlers_that_use_the_device_at_exit(where):
    out = run("""
x = cuda.to_device(np.arange(4.0))
class Late:
    def __del__(self):
        x.copy_to_host()
        print("deleted", flush=True)
late = Late()
def last():
    add_one[1, 4](x)
    y = cuda.to_device(np.zeros(8))
    cuda.synchronize()
    print("at exit", x.copy_to_host().shape, y.copy_to_host().shape, flush=True)
atexit.register(last)
""", **where)
    assert out.split("\n") == ["at exit (4,) (8,)", "deleted"]


def test_exit_in_the_middle(where):
    assert run("""
x = cuda.to_device(np.zeros(4))
add_one[1, 4](x)
def work():
    add_one[1, 4](np.zeros(4))
    os._exit(0)
t = threading.Thread(target=work)
t.start(); t.join()
""", **where) == ""
    assert run("add_one[1, 4](cuda.to_device(np.zeros(4)))\nprint('end')\nsys.exit()", **where) == "end"


def test_callbacks_that_are_still_to_come_run_before_the_end(where):
    assert run("""
s = cuda.stream()
x = cuda.to_device(np.zeros(4), stream=s)
for n in range(5):
    add_one[1, 4, s](x)
    s.add_callback(lambda stream, status, n: print(n, status, flush=True), n)
""", **where) == "\n".join(f"{n} 0" for n in range(5))


def test_subinterpreters_are_refused():
    code = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
text = "try:\\\\n    import pyptx._pyptx\\\\nexcept ImportError as e:\\\\n    print(e, flush=True)"
legacy = interpreters.create("legacy") if sys.version_info >= (3, 13) else interpreters.create(**({"isolated": False} if sys.version_info >= (3, 9) else {}))
interpreters.run_string(legacy, text)
interpreters.destroy(legacy)
if sys.version_info >= (3, 12):
    own = interpreters.create()
    interpreters.run_string(own, text)
    interpreters.destroy(own)
""".replace("\\\\", "\\")
    out = run(code, PYPTX_DEVICE="host").split("\n")
    assert len(out) == (2 if sys.version_info >= (3, 12) else 1)
    assert all("subinterpreters" in line for line in out), out


# --- threads of the host device --------------------------------------------------------------------------------------

THREADS = """
import numpy as np
from pyptx import cuda
x = np.zeros(3)
try:
    cuda.jit(lambda x: None)[1, 1](x)
    print("ran", cuda.get_current_device().MULTIPROCESSOR_COUNT)
except ValueError as e:
    print(e)
"""


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "4x", " 4", "1025", "9" * 30, "0x4"])
def test_a_number_of_threads_that_is_none(text):
    out = run(THREADS, PYPTX_DEVICE="host", PYPTX_HOST_THREADS=text)
    assert out == (f"PYPTX_HOST_THREADS is '{text}': it must be a whole number from 1 to 1024\n"
                   "  help: unset it for as many threads as there are CPUs")


@pytest.mark.parametrize("text, threads", [("1", 1), ("03", 3), ("1024", 1024)])
def test_numbers_of_threads(text, threads):
    assert run(THREADS, PYPTX_DEVICE="host", PYPTX_HOST_THREADS=text) == f"ran {threads}"


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------

LISTEN = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


@pytest.fixture
def in_background():
    """A shell starts what runs in the background with SIGINT ignored, and processes inherit that: the children must say that they listen."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("in_background")
@pytest.mark.parametrize("wait", ["cuda.synchronize()", "s.synchronize()", "e.synchronize()", "cuda.get_current_device().synchronize()",
                                  "with s.auto_synchronize(): pass"])
def test_waiting_for_a_gpu_ends_with_ctrl_c(standin, wait):
    out = run(LISTEN + f"""
import ctypes
library = ctypes.CDLL(os.environ["PYPTX_DRIVER"])
library.standin_control.restype = ctypes.POINTER(ctypes.c_void_p)
busy = ctypes.CFUNCTYPE(None, ctypes.c_int)(library.standin_control()[12])
s, e = cuda.stream(), cuda.event()
e.record(s)
cuda.synchronize()
busy(1)
ticks = []
signal.signal(signal.SIGUSR1, lambda *_: ticks.append(1))        # a handler that raises nothing: the wait goes on
def signals():
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=signals).start()
begin = time.monotonic()
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted", len(ticks), 0.15 < time.monotonic() - begin < 30)
busy(0)
cuda.synchronize()
""", PYPTX_DEVICE="gpu", **standin)
    assert out == "interrupted 1 True"


INTERRUPT = LISTEN + """
import os, signal, threading, time
import numpy as np
from pyptx import cuda

@cuda.jit
def long(x, rounds):
    i = cuda.blockIdx.x
    v = np.uint64(i + 1)
    for _ in range(rounds):
        v ^= v << np.uint64(13)
        v ^= v >> np.uint64(7)
        v ^= v << np.uint64(17)
    x[i] = v

x = np.zeros(100_000, np.uint64)
long[1, 1](x, 10)

def interrupt():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

def launch(graph):
    threading.Thread(target=interrupt).start()
    begin = time.monotonic()
    try:
        graph.launch() if graph else long[x.size, 1](x, 2_000_000)  # minutes of work, in blocks of some milliseconds
    except KeyboardInterrupt:
        assert time.monotonic() - begin < 20
    else:
        assert False, "not interrupted"
    assert not x[-1]
"""


@pytest.mark.usefixtures("in_background")
@pytest.mark.host_only("a launch on a GPU returns at once")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_a_launch_on_the_host_device(threads):
    done = subprocess.run([sys.executable, "-c", INTERRUPT + """
launch(None)
short = x[:3].copy()
long[3, 1](short, 10)              # and all is well
assert short.all()
with cuda.graph() as g:
    long[x.size, 1](cuda.to_device(x), 2_000_000)
launch(g)
signal.signal(signal.SIGINT, lambda *_: print("heard"))
threading.Thread(target=interrupt).start()
long[300, 1](x, 2_000_000)         # a handler that raises nothing
assert x[299]
"""], capture_output=True, text=True, timeout=100, env={**os.environ, "PYPTX_HOST_THREADS": threads, "PYPTX_DEVICE": "host"})
    assert done.returncode == 0 and done.stdout == "heard\n", done.stdout + done.stderr


@pytest.mark.usefixtures("in_background")
@pytest.mark.host_only("a launch on a GPU returns at once")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_a_loop_by_the_stride_of_the_grid(threads):
    strided = INTERRUPT.replace("    i = cuda.blockIdx.x\n", "").replace("    x[i] = v", "        x[i] = v")
    strided = strided.replace("    v = np.uint64", "    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):\n        v = np.uint64")
    strided = strided.replace("    for _", "        for _").replace("        v ^=", "            v ^=").replace("long[x.size, 1]", "long[8, 32]").replace("long[1, 1](x,", "long[1, 1](x[:3].copy(),")
    assert "gridsize" in strided
    done = subprocess.run([sys.executable, "-c", strided + """
launch(None)
x[:] = 0
long[8, 32](x, 10)
assert x.all()
"""], capture_output=True, text=True, timeout=100, env={**os.environ, "PYPTX_HOST_THREADS": threads, "PYPTX_DEVICE": "host"})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.usefixtures("in_background")
@pytest.mark.host_only("a launch on a GPU returns at once")
def test_ctrl_c_waits_for_few_blocks():
    """Helpers look whether they are to stop as often as the thread that launches, which matters where blocks are long."""
    out = run(INTERRUPT + """
x[:] = 0
before = []

def count_and_interrupt():
    time.sleep(0.3)
    before.append(np.count_nonzero(x))
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=count_and_interrupt).start()
try:
    long[x.size, 1](x, 20_000_000)
except KeyboardInterrupt:
    print("interrupted", np.count_nonzero(x) - before[0])
""", PYPTX_HOST_THREADS="2", PYPTX_DEVICE="host")
    said, blocks = out.split()
    assert said == "interrupted" and int(blocks) <= 20


HANDLER = """
import os, signal
import numpy as np
from pyptx import cuda, float32, uint64

@cuda.jit
def turned(x, out, rounds):
    tile = cuda.shared.array(32, uint64)
    t = cuda.threadIdx.x
    v = x[t] + np.uint64(cuda.blockIdx.x)
    for _ in range(rounds):
        v ^= v << np.uint64(13)
        v ^= v >> np.uint64(7)
        v ^= v << np.uint64(17)
    tile[t] = v
    cuda.syncthreads()
    out[cuda.blockIdx.x, t] = tile[31 - t]

@cuda.jit
def of_handler(out, n):
    tile = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    tile[t] = n + t
    cuda.syncthreads()
    out[t] = tile[1023 - t]
    assert n % 2, "even"

x = np.arange(1, 33, dtype=np.uint64)
want, got = np.zeros((4000, 32), np.uint64), np.zeros((4000, 32), np.uint64)
inner = np.zeros(1024, np.float32)
turned[1, 32](x, got[:1], 1)
of_handler[1, 1024](inner, 1)
turned[4000, 32](x, want, 10_000)
heard = stops = 0

def handler(*_):
    global heard, stops
    heard += 1
    try:
        of_handler[1, 1024](inner, heard)
    except AssertionError:
        stops += 1
    else:
        assert (inner == heard + np.arange(1024)[::-1]).all()
    signal.setitimer(signal.ITIMER_REAL, 0.01)

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.01)
for _ in range(100):
    turned[4000, 32](x, got, 10_000)
    assert (got == want).all()
    if heard >= 6:
        break
signal.setitimer(signal.ITIMER_REAL, 0)
assert heard >= 6 and stops == heard // 2, (heard, stops)
"""


@pytest.mark.host_only("a launch on a GPU returns at once")
@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_signal_handler_that_launches(threads):
    """In the middle of a launch, which goes on with its own memory and its own way out."""
    done = subprocess.run([sys.executable, "-c", HANDLER], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYPTX_HOST_THREADS": threads, "PYPTX_DEVICE": "host"})
    assert done.returncode == 0, done.stdout + done.stderr


def test_more_record_types_than_there_can_be():
    """The first 65,279 are arguments as any other; then a launch says so, and what is known goes on."""
    run("""
@cuda.jit
def first(x):
    x[0]["f"] += 1
for k in range(65300):
    x = cuda.to_device(np.zeros(1, [("f", "i4"), (f"g{k}", "i4")]))
    if k % 13000 == 12999:
        first[1, 1](x)
        assert x.copy_to_host()["f"][0] == 1
for same in (x, x.copy_to_host()):
    try:
        first[1, 1](same)
    except TypeError as e:
        assert "g65299" in str(e) and "had as many record and date types" in str(e) and "help: make dtypes once" in str(e), e
    else:
        assert False
x = np.zeros(1, [("f", "i4"), ("g12999", "i4")])
first[1, 1](x)
assert x["f"][0] == 1
""")
