"""Launches of kernels that can raise, on a GPU: they return at once, and the next call that waits raises. The stand-in runs the PTX on the
CPU, when it is told to, so that kernels end in any order."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from standin import needs_standin

HERE = Path(__file__).resolve().parent
HEAD = """
import asyncio, ctypes, gc
import numpy as np
import ptx_on_cpu
from ptx_on_cpu import machine
ptx_on_cpu.choose()
driver, queued = machine.install(), []

def later(launch, _):
    queued.append(machine.Launch.from_buffer_copy(launch.contents))

callback = ctypes.CFUNCTYPE(None, ctypes.POINTER(machine.Launch), ctypes.c_void_p)(later)
driver.on_launch(ctypes.cast(callback, ctypes.c_void_p), None)

def end(n=None):
    "The first n launches that are queued, or all, run."
    for launch in queued[:n]:
        assert machine.run_launch(driver, launch) == (0, None)
    del queued[:n]

import pytest
from pyptx import cuda

@cuda.jit(device=True)
def at(x, i):
    return x[i]

@cuda.jit(debug=True)
def look(x, i):
    x[0] = at(x, i)

@cuda.jit(debug=True)
def divide(x, n):
    x[0] = 1 // n

x, host = cuda.to_device(np.arange(8)), np.zeros(8, np.int64)
stream, event = cuda.stream(), cuda.event()
waits = (cuda.synchronize, stream.synchronize, event.synchronize, x.copy_to_host, lambda: x.copy_to_host(host), lambda: x[0],
         lambda: x[::2].copy_to_host(), cuda.default_stream().synchronize, lambda: look[1, 1](host, 1))
"""


def run(source):
    paths = [HERE.parents[1], HERE.parent, os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    done = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(source)], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


@needs_standin
@pytest.mark.unchecked("no advice may be printed")
def test_the_next_call_that_waits_raises_and_the_next_launch_works():
    assert not run("""
    with cuda.graph() as graph:
        look[1, 1](x, 8)
    event.record()
    for launch in (lambda: look[1, 1](x, 8), look[1, 1, stream].bind(x, 8), graph.launch, lambda: look.forall(1)(x, 8)):
        for wait in waits[:-1]:
            driver.forget()
            launch()
            look[1, 1](x, 9)  # the first thread that stops is the one that is told
            assert not driver.calls(b"cuStreamSynchronize") + driver.calls(b"cuCtxSynchronize") + driver.calls(b"cuStreamQuery")
            end()
            with pytest.raises(IndexError, match="index 8 is out of bounds for axis 0 of 'x' with size 8") as found:
                wait()
            assert (found.value.thread, found.value.block) == ((0, 0, 0), (0, 0, 0)) and "called from" in str(found.value)
            look[1, 1](x, 7)
            end()
            cuda.synchronize()
            assert x.copy_to_host()[0] == 7
    """)


@needs_standin
@pytest.mark.unchecked("no advice may be printed")
def test_a_launch_with_host_arrays_waits_for_them():
    assert not run("""
    real = ctypes.CFUNCTYPE(None, ctypes.POINTER(machine.Launch), ctypes.c_void_p)(lambda launch, _: machine.run_launch(driver, launch.contents))
    driver.on_launch(ctypes.cast(real, ctypes.c_void_p), None)
    with pytest.raises(IndexError, match="index 12"):
        look[1, 1](host, 12)
    cuda.synchronize()
    """)


@needs_standin
@pytest.mark.unchecked("no advice may be printed")
def test_what_has_not_ended_is_not_forgotten():
    """A wait for one stream, or for an event, says nothing of the kernels of others, nor of what is launched meanwhile."""
    assert not run("""
    other = cuda.stream()
    look[1, 1, stream](x, 1)
    divide[1, 1, other](x, 0)
    look[1, 1, other](x, 9)
    del look, divide  # nobody but the launches has them
    gc.collect()
    end(1)
    event.record(stream)
    for wait in waits[1:3] + (cuda.default_stream().synchronize, x.copy_to_host):
        wait()
    end(1)
    with pytest.raises(ZeroDivisionError):
        other.synchronize()
    end()
    with pytest.raises(IndexError, match="index 9"):
        other.synchronize()
    cuda.synchronize()
    """)


@needs_standin
@pytest.mark.unchecked("no advice may be printed")
def test_of_several_the_first_is_raised_and_names_the_others():
    assert not run("""
    divide[1, 1, stream](x, 0)
    look[1, 1](x, 33)
    look[1, 1](x, 34)
    end()
    with pytest.raises(ZeroDivisionError) as found:
        cuda.synchronize()
    note, = found.value.__notes__
    assert note.startswith("kernel 'look' has stopped too:\\nIndexError: index 33 is out of bounds"), note
    cuda.synchronize()
    """)


@needs_standin
@pytest.mark.unchecked("no advice may be printed")
def test_the_end_of_the_program_and_a_reset_report_what_nobody_has_asked_for():
    said = run("look[1, 1](x, 41)\nend()")
    assert said.count("IndexError: index 41 is out of bounds") == 1 and "in look" in said
    said = run("look[1, 1](x, 42)\nend()\ncuda.get_current_device().reset()\ncuda.synchronize()")
    assert said.count("IndexError: index 42 is out of bounds") == 1 and "a kernel on" in said
    assert not run("look[1, 1](x, 2)\nend()")


@needs_standin
@pytest.mark.unchecked("no advice may be printed")
def test_a_wait_that_was_given_up_is_not_begun_again_at_the_end():
    said = run("""
    import threading
    from pyptx.errors import KernelTimeoutError
    driver.busy(1)
    look.configure(1, 1, timeout=0.05)(x, 1)
    with pytest.raises(KernelTimeoutError):
        cuda.synchronize()
    """)
    assert not said


@needs_standin
@pytest.mark.unchecked("no advice may be printed")
def test_an_awaited_stream_raises_and_a_callback_leaves_it_to_the_next_wait():
    assert not run("""
    async def main():
        look[1, 1, stream](x, 50)
        end()
        with pytest.raises(IndexError, match="index 50"):
            await stream.async_done()

    asyncio.run(main())
    look[1, 1, stream](x, 51)
    end()
    import threading
    said, called = [], threading.Event()
    stream.add_callback(lambda s, status, arg: (said.append(status), called.set()))
    assert called.wait(60) and said == [0]
    with pytest.raises(IndexError, match="index 51"):
        cuda.synchronize()
    """)


@needs_standin
@pytest.mark.unchecked("no advice may be printed")
def test_with_numbas_typing_the_launch_itself_waits_and_raises():
    assert not run("""
    real = ctypes.CFUNCTYPE(None, ctypes.POINTER(machine.Launch), ctypes.c_void_p)(lambda launch, _: machine.run_launch(driver, launch.contents))
    driver.on_launch(ctypes.cast(real, ctypes.c_void_p), None)
    kernel = cuda.jit(typing="numba", debug=True, opt=False)(divide.py_func)
    with pytest.raises(ZeroDivisionError):
        kernel[1, 1](x, 0)
    cuda.synchronize()
    """)
