"""Leaks by API: each round of an action gives back what it takes, over 100,000 rounds.

    python tests/fuzz/leaks.py [--rounds R] [--seconds T | --total T] [ACTION ...]

Counted are the blocks of Python's allocator, the bytes of malloc's and the pages that the process has mapped (compiled code among them), after a
tenth of the rounds and after all: a block, or 16 bytes, that a round kept would be 90,000. A debug CPython (scripts/debug-python) also counts references, of
which it does not see those that NumPy takes and gives back. An action that is slow does fewer rounds within T seconds. One line an action. Exit status 1 if something grew.
"""

import argparse
import ctypes
import gc
import os
import sys
import time
import warnings

import numpy as np

if __name__ == "__main__":
    os.environ.setdefault("PYPTX_DEVICE", "host")
    os.environ.setdefault("PYPTX_ADVICE", "0")
from pyptx import cuda, types  # noqa: E402 - they read the environment

BLOCKS, BYTES, PAGES = 1000, 64 << 10, 10 << 10  # what caches (lines of source, for messages) and lists that grow by halves may take


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Mallinfo


def used():
    gc.collect()
    m = mallinfo()
    with open("/proc/self/statm") as f:
        pages = int(f.read().split()[0])
    return sys.getallocatedblocks(), m.uordblks + m.hblkhd, pages, getattr(sys, "gettotalrefcount", int)()


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def fail(x):
    x[99] = 1


@cuda.jit
def scaled(x, factor):
    x[0] *= factor


HOST = [np.ones(8, np.float32) for _ in range(3)]
DEVICE = [cuda.to_device(a) for a in HOST]
STREAM = cuda.stream()
BOUND = add[1, 8].bind(*DEVICE)
with cuda.graph() as GRAPH:
    add[1, 8](*DEVICE)


def launch_of_host_arrays():
    add[1, 8](*HOST)


def launch_of_device_arrays():
    add[1, 8](*DEVICE)


def launch_on_a_stream():
    add[1, 8, STREAM](*DEVICE)


def launch_that_fails():
    try:
        fail[1, 1](DEVICE[0])
    except IndexError:
        pass


def launch_with_a_wrong_argument():
    try:
        add[1, 8](DEVICE[0], "text", DEVICE[2])
    except Exception as e:
        e.__traceback__ = None


def launch_of_a_number():
    scaled[1, 1](DEVICE[0], 1.0)


def bound_launch():
    BOUND()


def bind():
    add[1, 8].bind(*DEVICE)


def graph_launch():
    GRAPH.launch()


def graph():
    with cuda.graph() as g:
        add[1, 8](*DEVICE)
    g.launch()


def to_device_and_back():
    cuda.to_device(HOST[0]).copy_to_host()


def device_array():
    cuda.device_array((3, 4), np.int64)[1:, ::2]


def fill_and_index():
    DEVICE[0][2:5] = 3
    DEVICE[0][1]


def operators():
    (DEVICE[0] + DEVICE[1]).sum()


def reduce():
    cuda.reduce(lambda a, b: a + b) if False else DEVICE[0].max()


def pinned():
    cuda.pinned_array(16, np.float32)


def stream_and_events():
    s = cuda.stream()
    e = cuda.event()
    e.record(s)
    e.synchronize()
    s.synchronize()


def interfaces():
    np.asarray(cuda.from_dlpack(HOST[0]))


def type_texts():
    types.float32[:, ::1]
    str(cuda.jit(add.py_func))


def compile_and_forget():
    def kernel(x):
        x[0] = 1

    cuda.jit(kernel)[1, 1](DEVICE[0])


def errors():
    def kernel(x):
        x[0] = undefined  # noqa: F821

    try:
        cuda.jit(kernel).compile("float32[:]")
    except Exception as e:
        e.__traceback__ = None


def checked():
    with cuda.checking("race"):
        add[1, 8](*DEVICE)


ACTIONS = {f.__name__: f for f in (launch_of_host_arrays, launch_of_device_arrays, launch_on_a_stream, launch_that_fails, launch_with_a_wrong_argument,
                                   launch_of_a_number, bound_launch, bind, graph_launch, graph, to_device_and_back, device_array, fill_and_index, operators,
                                   reduce, pinned, stream_and_events, interfaces, type_texts, compile_and_forget, errors, checked)}


WITH_NUMPY = ("launch_of_host_arrays", "to_device_and_back", "fill_and_index", "operators", "reduce", "pinned")  # it takes or makes objects there


def rounds_of(action, rounds, seconds):
    """(rounds done, blocks, bytes, pages, references) that nine tenths of the rounds kept."""
    end = time.monotonic() + seconds

    def repeat(n, until):
        for k in range(n):
            action()
            if k % 64 == 63 and time.monotonic() > until:
                return k + 1
        return n

    repeat(max(rounds // 10, 100), end - 0.8 * seconds)
    before = used()
    done = repeat(rounds - rounds // 10, end)
    after = used()
    return done, *(a - b for a, b in zip(after, before))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("actions", nargs="*", metavar="ACTION")
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=60, help="of each action")
    parser.add_argument("--total", type=float, help="seconds of all actions together")
    o = parser.parse_args()
    if strangers := set(o.actions) - set(ACTIONS):
        parser.error(f"no action {', '.join(strangers)}: {', '.join(ACTIONS)}")
    warnings.simplefilter("ignore")
    leaking = []
    seconds = max(0.2, o.total / len(o.actions or ACTIONS)) if o.total else o.seconds
    for name in o.actions or ACTIONS:
        done, blocks, size, pages, references = rounds_of(ACTIONS[name], o.rounds, seconds)
        drifts = name not in WITH_NUMPY and abs(references) > done // 10 + 100
        grew = blocks > max(BLOCKS, done // 100) or size > max(BYTES, done) or pages > max(PAGES, done // 4) or drifts
        leaking += [name] * grew
        counted = f", {references:+} references" if hasattr(sys, "gettotalrefcount") else ""
        print(f"{name}: {done} rounds, {blocks:+} blocks, {size:+} bytes, {pages:+} pages{counted}{' LEAKS' if grew else ''}", flush=True)
    print(f"leaks: {len(o.actions or ACTIONS)} actions, {', '.join(leaking) or 'none'} leaking")
    return 1 if leaking else 0


if __name__ == "__main__":
    sys.exit(main())
