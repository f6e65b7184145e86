"""Graphs, full queues and lost contexts on the stand-in driver: what only a GPU's paths do."""

from standin import needs_standin, run

pytestmark = needs_standin

HEAD = """
import gc, threading, time
import numpy as np
from pyptx import cuda
from standin import driver
control = driver()

@cuda.jit
def add(x, v):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += v

d = cuda.to_device(np.zeros(8))
cuda.synchronize()
add[1, 8](d, 1)
MEMORY, STREAM, GRAPH, EXEC = 1, 4, 6, 7
live = lambda: [control.live(kind) for kind in (MEMORY, STREAM, GRAPH, EXEC)]
"""


def on_standin(source):
    import textwrap

    return run(HEAD + textwrap.dedent(source))


def test_a_graph_is_one_call_and_is_released():
    on_standin("""
        before = live()
        with cuda.graph() as g:
            for k in range(10):
                add[1, 8](d, k)
            made = cuda.device_array(1000)
            del made
        assert control.live(MEMORY) == before[0] + 1
        control.forget()
        g.launch()
        assert control.calls(b"cuGraphLaunch") == 1 and control.calls(b"cuLaunchKernel") == 0
        g.nodes[3].set_args(d, 7)
        assert control.calls(b"cuGraphExecKernelNodeSetParams") == 1
        with g.update():
            for k in range(10):
                add[1, 8](d, k)
        assert g.updated_in_place and control.calls(b"cuGraphExecUpdate") == 1 and control.calls(b"cuGraphInstantiate") == 0
        del g
        assert control.live(GRAPH) == control.live(EXEC) == 0 and live()[1:] == before[1:]
        assert control.misuse() == 0
    """)


def test_pinned_copies_are_nodes_and_pageable_ones_are_refused():
    on_standin("""
        host = np.zeros(8)
        try:
            with cuda.graph() as g:
                d.copy_to_device(host)
        except ValueError as e:
            assert "pageable" in str(e) and "pinned" in str(e)
        else:
            assert False
        assert control.live(GRAPH) == 0 and control.misuse() == 0
        add[1, 8](d, 1)  # nothing is captured any more
    """)


def test_each_call_of_a_capture_failing():
    """Whatever call fails: one of our exceptions, the capture is over, no handle is left, and the next capture works."""
    on_standin("""
        def whole():
            with cuda.graph() as g:
                add[1, 8](d, 1)
                t = cuda.device_array(4)
                t.copy_to_device(cuda.to_device(t))
                add[1, 8](d, 2)
            g.launch()
            g.nodes[0].set_args(d, 5)
            with g.update():
                add[1, 8](d, 1)
            g.launch()
            cuda.synchronize()

        whole()
        clean = live()[1:]
        control.forget()
        whole()
        calls = control.calls(None)
        assert 30 < calls < 200, calls
        seen = set()
        for result in (1, 2, 400, 999):
            for nth in range(1, calls + 1):
                control.fail(None, nth, result)
                try:
                    whole()
                except (cuda.DriverError, ValueError, MemoryError) as e:
                    seen.add(type(e).__name__)
                    call = control.fired_call().decode()
                    assert call in str(e) or "free" in str(e), (call, e)
                fired = control.fired_call().decode()
                control.fail(None, 0, 0)
                gc.collect()
                if "Destroy" not in fired and fired != "cuStreamEndCapture":
                    assert live()[1:] == clean, (fired, result, live(), clean)
                else:
                    clean = live()[1:]
                whole()
        assert {"CudaAPIError", "OutOfMemoryError", "ValueError"} <= seen, seen
        assert control.misuse() == 0
    """)


def test_a_full_queue_in_one_thread_blocks_no_other():
    """The driver's launch waits as with a full queue, and Python goes on meanwhile: the GIL is not held around it."""
    on_standin("""
        control.forget()
        control.block(1)
        done = threading.Event()
        threads = [threading.Thread(target=lambda: (add[1, 8](d, 1), done.set())) for _ in range(2)]
        for t in threads:
            t.start()
        deadline = time.monotonic() + 20
        while control.calls(b"cuLaunchKernel") < 2 and time.monotonic() < deadline:
            time.sleep(0.001)  # this thread runs, though both others are in the driver
        assert control.calls(b"cuLaunchKernel") == 2 and not done.is_set()
        control.block(0)
        for t in threads:
            t.join(20)
        assert done.is_set()
    """)


def test_after_an_illegal_address():
    on_standin("""
        add[1, 8](d, 1)
        control.stick(700)
        try:
            cuda.synchronize()
        except cuda.ContextLostError as e:
            text = str(e)
            assert "add" in text and "outside its arrays" in text and "debug=True" in text and "start a new process" in text, text
            assert e.result == 700 and e.result_name == "CUDA_ERROR_ILLEGAL_ADDRESS" and e.call == "cuCtxSynchronize"
        else:
            assert False
        try:
            add[1, 8](d, 1)
        except cuda.ContextLostError:
            pass
        else:
            assert False
    """)


def test_after_an_illegal_address_each_stream_s_last_kernel_is_named():
    on_standin("""
        @cuda.jit
        def other(x):
            x[0] = 1

        s, t, idle = cuda.stream(), cuda.stream(), cuda.stream()
        add[1, 8](d, 1)
        other[1, 8, s](d)
        add[1, 8, s](d, 1)
        add[1, 8, t](d, 1)
        other[1, 8, t](d)
        del t
        control.stick(700)
        for call in s.synchronize, cuda.synchronize:
            try:
                call()
            except cuda.ContextLostError as e:
                text = str(e)
                names = text[text.index("the last kernel launched was "):].splitlines()[0]
                assert names == f"the last kernel launched was 'add' on the default stream, 'add' on stream {s.handle:#x}", text
            else:
                assert False
    """)


def test_profiler_and_questions():
    on_standin("""
        control.forget()
        with cuda.profiling():
            add[1, 8](d, 1)
        assert control.calls(b"cuProfilerStart") == control.calls(b"cuProfilerStop") == 1
        try:
            with cuda.profiling():
                raise KeyError
        except KeyError:
            pass
        assert control.calls(b"cuProfilerStop") == 2
        assert cuda.cuda_error() is None
    """)
