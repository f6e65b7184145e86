"""timeout= and PYPTX_TIMEOUT: a launch on the host device that never ends is an error with the
kernel, the time and the line of the loop, and the device goes on. About 5 s: each kernel is
compiled, and runs for a tenth of a second.
"""

import inspect
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import standin

import pyptx
from pyptx import cuda
from pyptx.cuda import cg
from pyptx.errors import KernelTimeoutError

on_host = pytest.mark.host_only("a kernel that runs on a GPU cannot be stopped")
SHORT = 0.06


@cuda.jit
def add_one(x):
    x[cuda.grid(1)] += 1


@cuda.jit(timeout=1.5)
def own_limit(x):
    x[cuda.grid(1)] += 1


@cuda.jit(device=True)
def waits(x, i):
    n = 0
    while x[i] == 0:  # here
        n += 1
    return n


@cuda.jit(device=True)
def collatz(n):
    steps = 0
    while n != -1:  # here
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@cuda.jit(device=True)
def outer(n):
    return collatz(n) + 1


@cuda.jit(device=True, inline="never")
def apart(n):
    while n != -1:  # here
        n = n * 3 + 1 & 0xFFFF
    return n


@cuda.jit
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)  # here


def nothing(x):
    while True:
        pass  # here


def stores(x):
    while True:
        x[0] += 1  # here


def in_a_function(x):
    x[0] = waits(x, cuda.threadIdx.x)


def called_twice(x):
    x[0] = outer(x[0] + 1)
    x[1] = outer(x[1] + 2)


def not_inlined(x):
    x[0] = apart(x[0] + 2)
    x[1] = apart(x[1] + 3)


def recursion(x):
    x[0] = fibonacci(80)


def barriers(x):
    s = cuda.shared.array(64, np.int32)
    s[cuda.threadIdx.x] = x[0]
    while s[0] == 0:  # here
        cuda.syncthreads()
        s[cuda.threadIdx.x] *= 2
        cuda.syncthreads()
    x[0] = s[0]


def barriers_apart(x):
    t = cuda.threadIdx.x
    if t % 2:
        x[1] = 1
    while x[0] == 0:  # here
        if t % 2:
            cuda.syncthreads()
        else:
            cuda.syncthreads()


def votes(x):
    while cuda.syncthreads_or(x[0] == 0):  # here
        pass


def warps(x):
    while cuda.all_sync(0xFFFFFFFF, x[0] == 0):  # here
        pass


def the_grid(x):
    grid = cg.this_grid()
    while x[0] == 0:  # here
        grid.sync()  # or here


def a_flag(x):
    if cuda.blockIdx.x == 0:
        while x[0] == 0:  # here
            cuda.threadfence()
    else:
        x[1] = 1


def an_atomic(x):
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(x, 0, 0) == 0:  # here
            cuda.nanosleep(100)


def a_lock(x):
    while cuda.atomic.cas(x, 1, 1, 2) != 1:  # here
        pass


def the_last_thread(x):
    if cuda.grid(1) == cuda.gridsize(1) - 1:
        while True:  # here, for CPython 3.15
            pass  # here


def counted(x):
    s = np.uint64(0)
    for i in range(1 << 60):  # here
        s = s * np.uint64(3) + np.uint64(i)
    x[0] = s


def counted_twice(x):
    s = 0
    for i in range(10**12):  # here
        for j in range(10**3):  # or here
            s = s * 3 + j
    x[0] = s


def reads_in_a_loop(x):
    s = 0
    for i in range(1 << 60):  # here
        s += x[i & 3]
    x[0] = s


KERNELS = [nothing, stores, in_a_function, called_twice, not_inlined, recursion, barriers, barriers_apart, votes, warps, the_grid, a_flag,
           an_atomic, a_lock, the_last_thread, counted, counted_twice, reads_in_a_loop]
ONE_BY_ONE = [stores, called_twice, not_inlined, barriers, barriers_apart, an_atomic, counted, counted_twice]  # threads that fill no vector
CALLS = {in_a_function: ["waits"], called_twice: ["collatz", "outer"], not_inlined: ["apart"], recursion: ["fibonacci"]}


def lines_of(function):
    """Numbers of the lines that are marked."""
    source, first = inspect.getsourcelines(function.py_func if isinstance(function, type(add_one)) else function)
    return [first + k for k, line in enumerate(source) if "here" in line]


def device_goes_on():
    x = np.zeros(1000, np.int32)
    add_one[10, 100](x)
    assert (x == 1).all()


@on_host
@pytest.mark.parametrize("function, threads", [*((f, 32) for f in KERNELS), *((f, 5) for f in ONE_BY_ONE)],
                         ids=lambda value: getattr(value, "__name__", None))
@pytest.mark.unchecked("barriers that threads miss, a flag that others write")
def test_a_kernel_that_never_ends(function, threads):
    x = np.zeros(threads, np.int32)
    launch = cuda.jit(function, timeout=SHORT)[3, threads]
    begin = time.monotonic()
    with pytest.raises(KernelTimeoutError) as found:
        launch(x)
    e, calls = found.value, CALLS.get(function, [])
    assert time.monotonic() - begin < 20
    assert (e.kernel, e.timeout) == (function.__name__, SHORT) and isinstance(e, TimeoutError)
    inner = globals()[calls[0]] if calls else function
    assert e.lineno in lines_of(inner) and e.filename == __file__, str(e)
    assert "here" in e.text and f":{e.lineno}:{e.offset}, in {calls[0] if calls else function.__name__}\n" in str(e)
    assert str(e).startswith(f"kernel '{function.__name__}' has run for longer than its timeout of 0.06 s\n")
    assert (e.thread is None) == (e.block is None)
    if function is called_twice:
        assert f"called from {__file__}" in str(e) and ", in outer\n" in str(e) and ", in called_twice\n" in str(e)
    device_goes_on()


@on_host
def test_too_many_blocks_for_the_limit():
    def many(x):
        x[cuda.grid(1) % x.size] = 1

    with pytest.raises(KernelTimeoutError) as found:
        cuda.jit(many, timeout=SHORT)[2**31 - 1, 1024](np.zeros(4))
    assert "__locals__" not in str(found.value) and "in test_too" not in str(found.value) and found.value.lineno is None, str(found.value)


@on_host
def test_within_the_limit_nothing_changes():
    rng = np.random.default_rng(1)
    m, v = rng.random((300, 257)), rng.random(257)

    @cuda.jit
    def product(m, v, out):
        i = cuda.grid(1)
        if i < m.shape[0]:
            s = 0.0
            for j in range(m.shape[1]):
                s += m[i, j] * v[j]
            k = 0
            while k < 50 and s > 1e-9:
                s *= 0.75
                k += 1
            out[i] = s

    plain, timed = np.zeros(300), np.zeros(300)
    product[5, 64](m, v, plain)
    product.configure(5, 64, timeout=60)(m, v, timed)
    assert (plain == timed).all() and plain.all()  # the same operations in the same order


@on_host
def test_what_ran_before_the_stop_has_been_written():
    @cuda.jit
    def some(x, flag):
        x[cuda.grid(1)] = 1
        while flag[0] == 0:
            pass

    x = np.zeros(64, np.int32)
    with pytest.raises(KernelTimeoutError):
        some.configure(1, 64, timeout=SHORT)(x, np.zeros(1, np.int32))
    assert x.any()
    some.configure(1, 64, timeout=SHORT)(x, np.ones(1, np.int32))
    assert x.all()


@on_host
def test_other_errors_come_first():
    @cuda.jit(timeout=10)
    def wrong(x, n):
        while True:
            x[n] = 1
            n += 1

    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        wrong[1, 1](np.zeros(8, np.int32), 3)


@on_host
def test_threads_have_limits_of_their_own():
    kernel, found = cuda.jit(a_flag), {}

    def run(k, timeout):
        begin = time.monotonic()
        try:
            kernel.configure(2, 32, timeout=timeout)(np.zeros(32, np.int32))
        except KernelTimeoutError as e:
            found[k] = e.timeout, time.monotonic() - begin

    kernel.configure(2, 32, timeout=9)(np.ones(32, np.int32))  # compiled
    threads = [threading.Thread(target=run, args=(k, SHORT * (1 + k % 3))) for k in range(6)]
    for t in threads:
        t.start()
    for _ in range(20):
        device_goes_on()
    for t in threads:
        t.join()
    assert sorted(found) == list(range(6))
    for k, (timeout, took) in found.items():
        assert timeout == SHORT * (1 + k % 3) and took >= timeout


@on_host
def test_ctrl_c_before_the_limit():
    class Stop(Exception):
        pass

    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
        timer.start()
        with pytest.raises(Stop):
            cuda.jit(a_flag, timeout=60)[2, 32](np.zeros(32, np.int32))
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    with pytest.raises(KernelTimeoutError):
        cuda.jit(a_flag, timeout=SHORT)[2, 32](np.zeros(32, np.int32))
    device_goes_on()


@on_host
def test_streams_graphs_and_bound_launches():
    kernel, x, flag = cuda.jit(waits_for), cuda.to_device(np.zeros(4, np.int32)), cuda.to_device(np.zeros(1, np.int32))
    stream = cuda.stream()
    with pytest.raises(KernelTimeoutError):
        kernel.configure(1, 4, stream, timeout=SHORT)(x, flag)
        stream.synchronize()
    bound = kernel.configure(1, 4, timeout=SHORT).bind(x, flag)
    with pytest.raises(KernelTimeoutError):
        bound()
    with cuda.graph() as graph:
        add_one[1, 4](x)
        kernel.configure(1, 4, timeout=SHORT)(x, flag)
    for _ in range(2):
        with pytest.raises(KernelTimeoutError) as found:
            graph.launch()
            cuda.synchronize()
        assert found.value.kernel == "waits_for"
    flag.copy_to_device(np.ones(1, np.int32))
    x.copy_to_device(np.zeros(4, np.int32))
    graph.launch()
    bound()
    cuda.synchronize()
    assert x.copy_to_host().tolist() == [21, 21, 21, 21]


def waits_for(x, flag):
    while flag[0] == 0:
        pass
    x[cuda.grid(1)] += 10


def test_where_the_limit_comes_from(monkeypatch):
    assert add_one[1, 1].timeout is None and add_one.configure(1, 1).timeout is None
    assert add_one.configure(1, 1, timeout=2).timeout == 2 and add_one.configure(1, 1, timeout=0.0001).timeout == 0.001
    own = cuda.jit(nothing, timeout=1.5)
    assert own[1, 1].timeout == own.forall(8).timeout == 1.5 and own.configure(1, 1, timeout=0).timeout is None
    assert own.configure(1, 1, timeout=3).timeout == 3 and own.configure(1, 1, timeout=None).timeout == 1.5
    assert add_one.configure(1, 1, timeout=1e-12).timeout == 0.001  # the shortest: 0 is none
    monkeypatch.setenv("PYPTX_TIMEOUT", "2.5")
    assert cuda.jit(nothing)[1, 1].timeout == 2.5 and cuda.jit(nothing, timeout=0)[1, 1].timeout is None
    assert cuda.jit(nothing, timeout=None)[1, 1].timeout is None
    launch = pickle.loads(pickle.dumps(add_one.configure(2, 3, timeout=4)))
    assert (launch.timeout, launch.griddim, launch.blockdim) == (4, (2, 1, 1), (3, 1, 1))
    for timeout in (0, None, 3):
        launch = own_limit.configure(1, 1, timeout=timeout)
        assert pickle.loads(pickle.dumps(launch)).timeout == launch.timeout and launch.dispatcher is own_limit
    x = cuda.to_device(np.zeros(6, np.int32))
    launch = add_one.configure(2, 3, timeout=4)
    launch(x)
    assert (x.copy_to_host() == 1).all()


def test_bad_limits(monkeypatch):
    for bad in (-1, float("nan"), float("inf"), 1e9, "soon"):
        with pytest.raises(ValueError, match="^timeout must be from 0 to 2000000 seconds, not "):
            add_one.configure(1, 1, timeout=bad)
        with pytest.raises(ValueError, match="^timeout must be from 0 to 2000000 seconds, not "):
            cuda.jit(nothing, timeout=bad)
    for bad in (True, [], 1j):
        with pytest.raises(TypeError, match="^timeout must be a number of seconds or None, not "):
            add_one.configure(1, 1, timeout=bad)
    for bad in ("soon", "-1", "1s", "nan"):
        monkeypatch.setenv("PYPTX_TIMEOUT", bad)
        with pytest.raises(ValueError, match=f"^PYPTX_TIMEOUT must be from 0 to 2000000 seconds, not '{bad}'$"):
            cuda.jit(nothing)


@on_host
def test_a_whole_program():
    """PYPTX_TIMEOUT: a program's own kernels and the library's, a launch by a fork's child, and one
    that needs a stack of its own."""
    program = """
import os, threading
import numpy as np
from pyptx import cuda

@cuda.jit
def forever(x):
    while x[0] == 0:
        pass

def is_late(kernel):
    try:
        kernel[1, 8](np.zeros(8))
    except TimeoutError as e:
        return e.timeout
assert is_late(forever) == 0.1
pid = os.fork()
if not pid:
    os._exit(0 if is_late(forever) == 0.1 else 1)
assert os.waitpid(pid, 0)[1] == 0

@cuda.jit
def large(x):
    a = cuda.local.array(50_000, np.float64)
    i = 0
    while x[0] == 0:
        a[i % a.size] = i
        i += 1
    x[1] = a[3]
found = []
threading.stack_size(1 << 18)
thread = threading.Thread(target=lambda: found.append(is_late(large)))
thread.start()
thread.join()
assert found == [0.1]
assert cuda.reduce(lambda a, b: a + b)(cuda.to_device(np.ones(1000))) == 1000
"""
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],  # of fork
                          env={**os.environ, "PYPTX_TIMEOUT": "0.1", "PYPTX_ADVICE": "0"}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr


@standin.needs_standin
def test_waits_for_a_gpu_are_bounded():
    """A kernel on a GPU cannot be stopped, but nobody waits for it longer than for its timeout. The
    stand-in says that it is busy."""
    standin.run(r"""
import threading
import numpy as np
import pytest
from pyptx import cuda
from pyptx.errors import KernelTimeoutError
import standin

@cuda.jit
def first(x):
    x[cuda.grid(1)] = 1

@cuda.jit(timeout=0.05)
def second(x):
    x[cuda.grid(1)] = 2

x, host, stream = cuda.to_device(np.zeros(4)), np.zeros(4), cuda.stream()
event = cuda.event()
timed = first.configure(1, 4, timeout=0.1)
driver = standin.driver()
for launch in (timed, timed, timed.bind(x)):  # by the long way, by a plan, bound
    driver.busy(0)
    second[1, 4](x)
    cuda.synchronize()  # both have ended: they count no more
    driver.busy(1)
    launch(*(() if launch is not timed else (x,)))
    second[1, 4, stream](x)
    event.record(stream)
    for wait in (cuda.synchronize, stream.synchronize, event.synchronize, x.copy_to_host, lambda: x.copy_to_host(host), lambda: x[0]):
        with pytest.raises(KernelTimeoutError, match=r"the wait for kernel 'first' on .* than its timeout of 0.1 s \(1 launch with") as found:
            wait()
        assert (found.value.kernel, found.value.timeout, found.value.lineno) == ("first", 0.1, None)
found = []
def elsewhere():
    try:
        cuda.synchronize()
    except KernelTimeoutError as e:
        found.append(e.kernel)
thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
assert found == ["first"]
driver.busy(0)
cuda.synchronize()
driver.busy(1)
second.configure(1, 4, timeout=30)(x)
threading.Timer(0.05, driver.busy, (0,)).start()
cuda.synchronize()  # within the limit
driver.busy(0)
with cuda.graph() as graph:
    second[1, 4](x)
graph.launch()
cuda.synchronize()
assert driver.misuse() == 0
""")


def test_the_error_is_public():
    assert pyptx.KernelTimeoutError is KernelTimeoutError and issubclass(KernelTimeoutError, TimeoutError)
