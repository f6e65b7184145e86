"""Kernels that can raise, on a GPU: launches return at once, the next wait raises, and the context survives."""

import subprocess
import sys
import time

import numpy as np
import pytest
from pyptx import cuda


@cuda.jit(device=True)
def at(x, i):
    return x[i]


@cuda.jit(debug=True)
def look(x, i, rounds):
    v = 0.5
    for _ in range(rounds):
        v = v * 0.999 + 0.001
    if v >= 0:
        x[cuda.grid(1)] = at(x, i + cuda.threadIdx.x)


@cuda.jit(debug=True)
def divide(x, n):
    x[0] = 1 // n


def test_each_call_that_waits_raises():
    x, stream, event = cuda.to_device(np.arange(8.0)), cuda.stream(), cuda.event()
    cuda.synchronize()

    def by_event():
        event.record(stream)
        event.synchronize()

    for wait in (cuda.synchronize, stream.synchronize, by_event, lambda: x.copy_to_host(), lambda: x[0]):
        look[1, 4, stream](x, 5, 10)
        with pytest.raises(IndexError, match="index 8 is out of bounds for axis 0 of 'x' with size 8") as found:
            wait()
        assert found.value.thread == (3, 0, 0) and "called from" in str(found.value)
        look[1, 4, stream](x, 4, 10)
        stream.synchronize()
        assert (x.copy_to_host()[:4] == [4, 5, 6, 7]).all()
        x = cuda.to_device(np.arange(8.0))


def test_launches_do_not_wait():
    x = cuda.to_device(np.arange(8.0))
    look[1, 1](x, 0, 10)
    cuda.synchronize()
    start = time.perf_counter()
    look[1, 1](x, 0, 5_000_000)
    launched = time.perf_counter() - start
    cuda.synchronize()
    assert launched < (time.perf_counter() - start) / 5


def test_another_stream_is_asked_later():
    x, early, late = cuda.to_device(np.arange(8.0)), cuda.stream(), cuda.stream()
    look[1, 1, late](x, 50, 20_000_000)
    look[1, 1, early](x, 0, 10)
    early.synchronize()
    with pytest.raises(IndexError, match="index 50"):
        late.synchronize()


def test_several_and_graphs():
    x = cuda.to_device(np.arange(8.0))
    divide[1, 1](x, 1)
    with cuda.graph() as graph:
        divide[1, 1](x, 0)
        look[1, 1](x, 33, 10)
    graph.launch()
    with pytest.raises(ZeroDivisionError) as found:
        cuda.synchronize()
    assert "IndexError: index 33" in found.value.__notes__[0]
    cuda.synchronize()


def test_the_end_of_the_program_tells():
    program = """
import numpy as np
from pyptx import cuda

@cuda.jit(debug=True)
def look(x, i):
    x[0] = x[i]

look[1, 1](cuda.to_device(np.zeros(4)), 9)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr.count("IndexError: index 9 is out of bounds") == 1, done.stderr
