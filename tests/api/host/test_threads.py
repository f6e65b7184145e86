"""Many threads at once: compiling, launching, allocating and freeing; what one thread does must not wait for, or show in, another."""

import gc
import queue
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from pyptx import cuda

THREADS = 8


def in_threads(work, n=THREADS):
    """work(k) in n threads that begin together; raises what one of them raised."""
    failures, start = [], threading.Barrier(n)

    def run(k):
        start.wait()
        try:
            work(k)
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert not any(t.is_alive() for t in threads)
    if failures:
        raise failures[0]


@pytest.fixture(autouse=True)
def often():
    """Threads change places a thousand times as often."""
    was = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(was)


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


def test_a_signature_is_compiled_once_and_others_wait():
    for _ in range(5):
        @cuda.jit
        def kernel(x):
            i = cuda.grid(1)
            if i < x.size:
                x[i] = x[i] * 2 + 1

        seen = []

        def work(k, kernel=kernel, seen=seen):
            x = cuda.to_device(np.arange(8.0))
            kernel[1, 8](x)
            assert x.copy_to_host().tolist() == [2 * i + 1 for i in range(8)]
            seen.append(next(iter(kernel.overloads.values())))

        in_threads(work)
        assert len(kernel.overloads) == 1 and len(set(map(id, seen))) == 1


def test_other_signatures_are_compiled_meanwhile():
    """One thread stands in the middle of a compilation until another signature of the same kernel is compiled."""
    done, asked, waits = threading.Event(), [], threading.local()

    class Namespace:
        @property
        def __dict__(self):  # read when the kernel's globals are frozen, in the middle of a compilation
            if getattr(waits, "here", False):
                asked.append(1)
                assert done.wait(60), "the other signature waits for this one"
            return {"value": 5}

    module = Namespace()

    @cuda.jit
    def kernel(x):
        x[0] = module.value

    def work(k):
        waits.here = k == 0
        kernel.compile("float64[::1]" if k == 0 else "float32[::1]")
        if k:
            done.set()

    in_threads(work, 2)
    assert asked and done.is_set()


def test_different_kernels_at_once():
    results = {}

    def work(k):
        scope = {"cuda": cuda}
        exec(f"def kernel(x):\n    x[cuda.threadIdx.x] *= {k + 2}\n", scope)
        kernel = cuda.jit(scope["kernel"])
        for dtype in (np.int32, np.float64):
            x = np.arange(4, dtype=dtype)
            kernel[1, 4](x)
            results[k, dtype] = x.tolist()

    in_threads(work)
    assert results == {(k, t): [i * (k + 2) for i in range(4)] for k in range(THREADS) for t in (np.int32, np.float64)}


def test_every_thread_gets_the_error_of_its_compilation():
    @cuda.jit
    def kernel(x):
        x[0] = x.no_such_attribute

    errors = []

    def work(k):
        with pytest.raises(Exception, match="no_such_attribute") as e:
            kernel.compile("float32[:]")
        errors.append(e.value)

    in_threads(work)
    assert len(errors) == THREADS and len(set(map(id, errors))) == THREADS


def test_launches_and_garbage_from_many_threads():
    total = np.zeros(THREADS)

    def work(k):
        x = cuda.to_device(np.zeros(64))
        for n in range(100):
            add_one[2, 32](x)
            cycle = [cuda.device_array(16), cuda.stream(), cuda.event()]
            cycle.append(cycle)
            if n % 25 == k:
                gc.collect()
        total[k] = x.copy_to_host().sum()

    in_threads(work)
    assert (total == 6400).all()


def test_arrays_are_freed_by_other_threads():
    given = queue.Queue(maxsize=32)

    def work(k):
        for n in range(100):
            if k % 2:
                x, expected = given.get(timeout=60)
                assert x.copy_to_host().tolist() == [expected] * 4
                del x
            else:
                given.put((cuda.to_device(np.full(4, n)), n))

    in_threads(work)
    assert given.empty()


def test_each_thread_gets_the_exception_of_its_launch(device):
    if device == "gpu":
        pytest.skip("a GPU reports at the next synchronisation of the device, whichever thread makes it")

    @cuda.jit(debug=True)
    def kernel(x, n):
        x[n] = 1
        if n == 3:
            raise ValueError("three")

    def work(k):
        for _ in range(50):
            x = np.zeros(4)
            if k == 3:
                with pytest.raises(ValueError, match="three"):
                    kernel[1, 1](x, k)
            elif k > 3:
                with pytest.raises(IndexError, match=str(k)):
                    kernel[1, 1](x, k)
            else:
                kernel[1, 1](x, k)
                assert x[k] == 1

    in_threads(work)


def test_configurations_and_kernels_made_and_dropped():
    def work(k):
        for n in range(40):
            kernel = cuda.jit(add_one.py_func) if n % 20 == 0 else kernel  # noqa: F821
            config = kernel[1, 4]
            x = np.zeros(4, np.int16)
            config(x)
            assert x.tolist() == [1] * 4
            kernel.overloads, kernel.signatures, repr(config)

    in_threads(work, 4)


def test_selected_devices_are_each_threads_own():
    current = cuda.get_current_device()

    def work(k):
        if k % 2:
            cuda.select_device("host")
        for _ in range(50):
            with cuda.get_current_device():
                assert cuda.get_current_device().is_host == (k % 2 == 1 or current.is_host)

    in_threads(work)
    assert cuda.get_current_device() is current


def test_one_kernel_with_arguments_of_many_kinds():
    """Each thread finds the plan that another one has just put last, and makes new ones."""
    @cuda.jit
    def add(x, s):
        i = cuda.grid(1)
        if i < x.size:
            x[i] += s

    kinds = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64]

    def work(k):
        arrays = [cuda.to_device(np.zeros(64, kinds[(k + j) % len(kinds)])) for j in range(4)]
        for _ in range(25):
            for a in arrays:
                add[2, 32](a, 1)
                add[2, 32](s=True, x=a)
                add[2, 32](a[::2], np.int8(1))
        for a in arrays:
            got = a.copy_to_host()
            assert (got[::2] == 75).all() and (got[1::2] == 50).all()

    in_threads(work)


WAITS = """
import signal, threading, time
import numpy as np
from pyptx import cuda

begun, go_on, ticks = threading.Event(), threading.Event(), []

class Slow:                                  # the snapshot of the kernel asks it what it is
    @property
    def __class__(self):
        begun.set()
        go_on.wait(60)
        return Slow
slow = Slow()

@cuda.jit
def kernel(x):
    if cuda.grid(1) < 0:
        slow
    x[0] += 1

def alarm(*_):
    ticks.append(1)
    if len(ticks) == 3:                      # the first handlers raise nothing: the wait goes on
        raise KeyboardInterrupt

x, y = cuda.to_device(np.zeros(1)), cuda.to_device(np.zeros(1))
other = threading.Thread(target=lambda: kernel[1, 1](y))
other.start()
begun.wait()
signal.signal(signal.SIGALRM, alarm)
signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
start = time.monotonic()
try:
    kernel[1, 1](x)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 20)
signal.setitimer(signal.ITIMER_REAL, 0)
go_on.set()
other.join()
kernel[1, 1](x)                              # nothing is left behind
kernel[1, 1](x)
print(x.copy_to_host()[0], y.copy_to_host()[0], len(kernel.overloads))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_ctrl_c_ends_the_wait_for_a_kernel_that_another_thread_compiles():
    done = subprocess.run([sys.executable, "-c", WAITS], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted True\n2.0 1.0 1\n", done.stdout + done.stderr
