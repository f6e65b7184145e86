"""Ctrl-C ends a launch on the host device whose blocks never end, wherever they are; the device and other threads' launches go on.

In processes of their own, which give SIGINT its default back: a suite that was started in the background has it ignored.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.host_only("a launch on a GPU returns at once")

HEAD = """
import os, resource, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
from pyptx import cuda
from pyptx.cuda import cg

def interrupt(after=0.3):
    time.sleep(after)
    os.kill(os.getpid(), signal.SIGINT)

@cuda.jit
def add_one(x):
    x[cuda.grid(1)] += 1

add_one[1, 1](np.zeros(1, np.int32))

def is_interrupted(call):
    threading.Thread(target=interrupt).start()
    begin = time.monotonic()
    try:
        call()
    except KeyboardInterrupt:
        assert time.monotonic() - begin < 30
    else:
        assert False, "not interrupted"
    x = np.zeros(1000, np.int32)
    add_one[10, 100](x)
    assert (x == 1).all()
"""

ENDLESS = {
    "nothing": "while True:\n        pass",
    "stores": "while True:\n        x[0] += 1",
    "in a function": "forever(x)",
    "recursion": "x[0] = fibonacci(100)",
    "recursion that waits": "x[0] = again(x)",
    "barriers": "while True:\n        cuda.syncthreads()",
    "votes": "while cuda.syncthreads_or(x[0] == 0):\n        pass",
    "warps": "while cuda.all_sync(0xffffffff, x[0] == 0):\n        pass",
    "the grid": "grid = cg.this_grid()\n    while x[0] == 0:\n        grid.sync()",
    "a flag": "while x[0] == 0:\n        pass",
    "an atomic": "while cuda.atomic.add(x, 0, 0) == 0:\n        pass",
    "a lock": "while cuda.atomic.cas(x, 1, 1, 2) != 1:\n        pass",
    "the last thread of all": "if cuda.grid(1) == cuda.gridsize(1) - 1:\n        while True:\n            pass",
    "counted loops": "s = 0\n    for i in range(10**12):\n        for j in range(10**5):\n            s = s * 3 + j\n    x[0] = s",
    "another way in each thread": "n = x[0] + cuda.grid(1) + 1\n    while n:\n        n = n // 2 if n % 2 == 0 else 3 * n + 1\n    x[1] = n",
}
KERNEL = """
@cuda.jit
def forever(x):
    while True:
        x[0] += 1

@cuda.jit
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

@cuda.jit
def again(x):
    while x[0] == 0:
        pass
    return again(x) + 1 if x[0] < 5 else 0

@cuda.jit({options})
def kernel(x):
    {body}

x = np.zeros(4, np.int64)
is_interrupted(lambda: kernel[{shape}](x))
"""


def run(code, threads="2", timeout=100):
    """In a session of its own, of which no process is left, whichever has not ended."""
    env = {**os.environ, "PYPTX_DEVICE": "host", "PYPTX_HOST_THREADS": threads}
    command = [sys.executable, "-c", HEAD + code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, start_new_session=True) as process:
        try:
            out, problem = process.communicate(timeout=timeout)
        finally:
            with contextlib.suppress(ProcessLookupError):  # all have ended
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, out + problem
    return out


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("shape, threads, options", [("1, 1", "1", ""), ("5, 64", "2", ""), ("3, 33", "2", "opt=0")])
def test_a_block_that_never_ends_is_interrupted(name, shape, threads, options):
    run(KERNEL.format(body=ENDLESS[name], shape=shape, options=options), threads)


def test_a_handler_that_raises_nothing_lets_the_block_go_on():
    assert run("""
@cuda.jit
def kernel(x):
    while x[0] == 0:
        pass

x = cuda.to_device(np.zeros(1, np.int64))

@cuda.jit
def set_to(x, value):
    x[0] = value

def heard(*_):
    print("heard")
    set_to[1, 1, cuda.stream()](x, 1)                  # a launch in the middle of the other one

signal.signal(signal.SIGINT, heard)
threading.Thread(target=interrupt).start()
kernel[3, 40](x)
print(x.copy_to_host())
""") == "heard\n[1]\n"


@pytest.mark.unchecked("the memory of checks is kept")
def test_launches_of_other_threads_go_on_and_nothing_is_leaked():
    out = run("""
@cuda.jit
def waits(x, n):
    frame = cuda.local.array(200, np.float64)
    frame[n % 200] = cuda.grid(1)
    while cuda.atomic.add(x, 0, 0) == 0:
        pass
    x[1] = frame[n % 200]

@cuda.jit
def work(x, rounds):
    i = cuda.grid(1)
    v = np.uint64(i + 1)
    while rounds > 0:
        v ^= v << np.uint64(13)
        v ^= v >> np.uint64(7)
        v ^= v << np.uint64(17)
        rounds -= 1
    x[i] = v

expected = np.zeros(500, np.uint64)
work[5, 100](expected, 3000)
stop, done = [], []

def others():
    while not stop:
        x = np.zeros(500, np.uint64)
        work[5, 100](x, 3000)
        assert (x == expected).all()
        done.append(1)

thread = threading.Thread(target=others)
thread.start()
x = np.zeros(2, np.int64)
kilobytes = []
for _ in range(6):
    before = len(done)
    is_interrupted(lambda: waits[2000, 64](x, 7))      # more blocks than memory is taken for
    assert len(done) > before
    kilobytes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
stop.append(1)
thread.join()
print(kilobytes[-1] - kilobytes[1] < 100_000)
""")
    assert out == "True\n"


def test_a_trap_ends_blocks_that_wait_for_the_one_that_it_stopped():
    assert run("""
@cuda.jit
def kernel(x):
    if cuda.blockIdx.x == 7:
        x[cuda.threadIdx.x + 10] = 1
    while cuda.atomic.add(x, 0, 0) == 0:
        pass
    while True:
        pass

try:
    kernel[20, 32](np.zeros(4, np.int64))
except IndexError as e:
    print("index 10" in str(e))
""") == "True\n"


def test_no_child_is_left_behind(tmp_path):
    """Of a test that runs out of time."""
    there = tmp_path / "child"
    with pytest.raises(subprocess.TimeoutExpired):
        run(f"""
if not os.fork():
    open({str(there)!r}, "w").write(str(os.getpid()))
time.sleep(1000)
""", timeout=3)
    child = int(there.read_text())
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}") or ") Z " in open(f"/proc/{child}/stat").read():
            return
        time.sleep(0.05)
    raise AssertionError("it lives")


def test_the_clock_goes_on_in_a_forked_child():
    assert run("""
child = os.fork()
if not child:
    time.sleep(0.1)

@cuda.jit
def kernel(x):
    while True:
        pass

is_interrupted(lambda: kernel[2, 2](np.zeros(1)))
if not child:
    os._exit(0)
print(os.waitpid(child, 0)[1])
""") == "0\n"
