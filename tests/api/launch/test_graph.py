"""CUDA graphs: capture, replay, updates, branches, what a capture refuses, and that the graph keeps alive what it uses."""

import gc
import threading
import weakref

import numpy as np
import pytest

from pyptx import cuda


@cuda.jit
def axpb(x, a, b):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = a * x[i] + b


@cuda.jit
def add_to(out, x):
    i = cuda.grid(1)
    if i < x.size:
        out[i] += x[i]


def steps(d, n, stream=0):
    """Each step depends on the one before, and no two commute: a wrong order gives wrong numbers."""
    for k in range(n):
        axpb[2, 32, stream](d, 2, k)


def expected(x, n):
    for k in range(n):
        x = 2 * x + k
    return x


def test_capture_does_nothing_and_launch_does_it_all():
    x = np.arange(50, dtype=np.int64)
    d = cuda.to_device(x)
    with cuda.graph() as g:
        steps(d, 10)
    np.testing.assert_array_equal(d.copy_to_host(), x)
    for _ in range(3):
        assert g.launch() is None
        x = expected(x, 10)
        np.testing.assert_array_equal(d.copy_to_host(), x)
    assert len(g.nodes) == 10 and "10 nodes" in repr(g) and g.device is cuda.get_current_device()


def test_a_graph_of_a_given_stream_launched_on_another():
    s, other = cuda.stream(), cuda.stream()
    x = np.arange(50, dtype=np.int64)
    d = cuda.to_device(x)
    cuda.synchronize()
    with cuda.graph(stream=s) as g:
        assert g.stream is s
        steps(d, 3, s)  # on the stream itself
        steps(d, 2)  # and on the default stream, which stands for it
    g.launch(stream=other)
    g.launch(other)
    other.synchronize()
    x = expected(expected(expected(expected(x, 3), 2), 3), 2)
    np.testing.assert_array_equal(d.copy_to_host(), x)


def test_work_on_other_streams_is_not_part_of_it():
    other = cuda.stream()
    captured, free = cuda.to_device(np.zeros(8)), cuda.to_device(np.zeros(8))
    cuda.synchronize()
    with cuda.graph() as g:
        axpb[1, 8](captured, 1, 1)
        axpb[1, 8, other](free, 1, 5)
    other.synchronize()
    assert (free.copy_to_host() == 5).all() and (captured.copy_to_host() == 0).all()
    assert len(g.nodes) == 1


def test_work_of_other_threads_is_not_part_of_it():
    d, seen = cuda.to_device(np.zeros(8)), []

    def work():
        s = cuda.stream()
        mine = cuda.to_device(np.zeros(8), stream=s)
        axpb[1, 8, s](mine, 1, 3)
        seen.append(mine.copy_to_host(stream=s))

    with cuda.graph() as g:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        axpb[1, 8](d, 1, 1)
    assert (seen[0] == 3).all() and len(g.nodes) == 1


def test_kernels_compile_while_captured():
    @cuda.jit
    def fresh(x):
        x[cuda.threadIdx.x] = cuda.threadIdx.x

    d = cuda.to_device(np.zeros(8, np.int32))
    with cuda.graph() as g:
        fresh[1, 8](d)
    g.launch()
    np.testing.assert_array_equal(d.copy_to_host(), np.arange(8))


def test_nodes():
    d = cuda.to_device(np.zeros(8))
    with cuda.graph() as g:
        axpb[2, (4, 1)](d, 1, b=2)
        axpb.forall(8)(d, 1, 3)
        d.copy_to_device(cuda.to_device(d))
    first, second, *copies = g.nodes
    assert first.kind == "kernel" and first.kernel is axpb and first.griddim == (2, 1, 1) and first.blockdim == (4, 1, 1)
    assert first.args == (d, 1) and first.kwargs == {"b": 2} and first.nbytes == 0
    assert second.griddim[0] * second.blockdim[0] >= 8 and second.args == (d, 1, 3)
    assert [c.kind for c in copies] == ["copy", "copy"] and copies[1].nbytes == 64 and copies[1].kernel is None
    assert copies[1].args[0] is d and copies[1].griddim is None
    assert "axpb" in repr(first) and "64 bytes" in repr(copies[1])
    for made in (type(g), type(first)):
        with pytest.raises(TypeError):
            made()


# --- updates ------------------------------------------------------------------------------------------------------------


def test_set_args():
    x = cuda.to_device(np.zeros(8))
    y = cuda.to_device(np.full(8, 100.0))
    with cuda.graph() as g:
        axpb[1, 8](x, 1, 1)
        axpb[1, 8](x, 1, 10)
    node = g.nodes[1]
    node.set_args(x, 1, 20)
    g.launch()
    assert (x.copy_to_host() == 21).all()
    node.set_args(x=y, a=2, b=5)
    assert node.args == () and node.kwargs == {"x": y, "a": 2, "b": 5}
    g.launch()
    assert (x.copy_to_host() == 22).all() and (y.copy_to_host() == 205).all()


def test_set_args_of_other_types():
    x = cuda.to_device(np.zeros(8))
    with cuda.graph() as g:
        axpb[1, 8](x, 1, 1)
    node = g.nodes[0]
    with pytest.raises(TypeError, match="(?s)captured for arguments .*float64.*update"):
        node.set_args(cuda.to_device(np.zeros(8, np.float32)), 1, 1)
    with pytest.raises(TypeError, match="missing"):
        node.set_args(x)
    with pytest.raises(RuntimeError, match="host array"):
        node.set_args(np.zeros(8), 1, 1)
    g.launch()
    assert (x.copy_to_host() == 1).all()


def test_update_in_place_and_anew():
    x = np.arange(8, dtype=np.int64)
    d = cuda.to_device(x)
    with cuda.graph() as g:
        steps(d, 4)
    assert g.updated_in_place is False
    old = g.nodes[0]
    with g.update() as same:
        assert same is g
        for k in range(4):
            axpb[2, 32](d, 1, 100 * k)
    assert g.updated_in_place is True
    g.launch()
    np.testing.assert_array_equal(d.copy_to_host(), x + 600)
    g.nodes[0].set_args(d, 1, 7)
    g.launch()
    np.testing.assert_array_equal(d.copy_to_host(), x + 1207)
    with pytest.raises(ValueError, match="not part of its graph"):
        old.set_args(d, 1, 1)
    with g.update():
        axpb[2, 32](d, 0, 1)
    assert g.updated_in_place is False and len(g.nodes) == 1
    g.launch()
    assert (d.copy_to_host() == 1).all()


# --- branches -----------------------------------------------------------------------------------------------------------


def branches(d, e, out, join=True):
    side = cuda.stream()
    forked, done = cuda.event(timing=False), cuda.event(timing=False)
    axpb[1, 32](d, 1, 1)
    forked.record()
    forked.wait(side)
    axpb[1, 32](d, 3, 0)
    axpb[1, 32, side](e, 5, 2)
    done.record(side)
    if join:
        done.wait()
    add_to[1, 32](out, d)
    add_to[1, 32](out, e)


def test_branches():
    d, e, out = (cuda.to_device(np.full(32, v)) for v in (1, 2, 0))
    with cuda.graph() as g:
        branches(d, e, out)
    assert len(g.nodes) == 5
    g.launch()
    assert (out.copy_to_host() == 6 + 12).all()
    g.launch()
    assert (out.copy_to_host() == 18 + 21 + 62).all()


@pytest.mark.unsanitized("asks for what the driver refuses")
def test_a_branch_that_is_not_joined():
    d, e, out = (cuda.to_device(np.full(32, v)) for v in (1, 2, 0))
    with pytest.raises(ValueError, match="not joined"):
        with cuda.graph() as g:
            branches(d, e, out, join=False)
    with pytest.raises(ValueError, match="holds nothing"):
        g.launch()
    axpb[1, 32](d, 1, 1)
    assert (d.copy_to_host() == 2).all()  # all is well again


def test_events_of_a_capture_have_no_time():
    start, end, d = cuda.event(), cuda.event(), cuda.to_device(np.zeros(8))
    with cuda.graph():
        start.record()
        axpb[1, 8](d, 1, 1)
        end.record()
    with pytest.raises(ValueError):
        start.elapsed_time(end)
    with pytest.raises(ValueError, match="captured"):
        end.synchronize()
    end.record()
    end.synchronize()


# --- copies and memory ----------------------------------------------------------------------------------------------------


def test_copies_between_device_arrays():
    x, y = cuda.to_device(np.arange(8.0)), cuda.to_device(np.zeros(8))
    with cuda.graph() as g:
        y.copy_to_device(x)
        axpb[1, 8](x, 2, 0)
    g.launch()
    g.launch()
    np.testing.assert_array_equal(y.copy_to_host(), 2 * np.arange(8.0))


def test_arrays_made_in_the_capture_live_with_the_graph():
    d = cuda.to_device(np.arange(100.0))
    with cuda.graph() as g:
        t = cuda.device_array(100)
        t.copy_to_device(d)
        axpb[4, 32](t, 2, 1)
        add_to[4, 32](d, t)
        del t
    gc.collect()
    others = [cuda.to_device(np.full(100, -1.0)) for _ in range(20)]  # would take the memory if it were free
    g.launch()
    np.testing.assert_array_equal(d.copy_to_host(), 3 * np.arange(100.0) + 1)
    assert all((o.copy_to_host() == -1).all() for o in others)


def test_the_graph_keeps_arrays_and_kernels_alive():
    @cuda.jit
    def fill(x, v):
        x[cuda.threadIdx.x] = v

    out = cuda.to_device(np.zeros(8))
    d = cuda.to_device(np.arange(8.0))
    with cuda.graph() as g:
        fill[1, 8](d, 4)
        add_to[1, 8](out, d)
    kernel = weakref.ref(fill)
    del d, fill
    gc.collect()
    assert kernel() is not None
    g.launch()
    assert (out.copy_to_host() == 4).all()
    g.close()
    gc.collect()
    assert kernel() is None
    assert (out.copy_to_host() == 4).all()


def test_arrays_freed_while_captured():
    d = cuda.to_device(np.zeros(8))
    gone = [cuda.to_device(np.zeros(1000)) for _ in range(4)]
    with cuda.graph() as g:
        gone.clear()
        gc.collect()
        axpb[1, 8](d, 1, 1)
    g.launch()
    assert (d.copy_to_host() == 1).all()


def test_close_and_forget():
    d = cuda.to_device(np.zeros(8))
    with cuda.graph() as g:
        axpb[1, 8](d, 1, 1)
    g.launch(cuda.stream())
    node = g.nodes[0]
    ref = weakref.ref(axpb)
    g.close()
    g.close()
    assert g.closed and "closed" in repr(g) and ref() is axpb
    for use in (g.launch, g.update, lambda: g.nodes, lambda: g.stream, g.__enter__):
        with pytest.raises(ValueError, match="closed"):
            use()
    with pytest.raises(ValueError, match="not part"):
        node.set_args(d, 1, 1)
    cuda.synchronize()
    assert (d.copy_to_host() == 1).all()


# --- errors ---------------------------------------------------------------------------------------------------------------


def test_an_exception_in_the_block_ends_the_capture():
    d = cuda.to_device(np.zeros(8))
    with pytest.raises(ZeroDivisionError):
        with cuda.graph() as g:
            axpb[1, 8](d, 1, 1)
            1 / 0
    with pytest.raises(ValueError, match="holds nothing"):
        g.launch()
    axpb[1, 8](d, 1, 2)
    assert (d.copy_to_host() == 2).all()
    with g:  # it can still be captured
        axpb[1, 8](d, 1, 5)
    g.launch()
    assert (d.copy_to_host() == 7).all()
    with pytest.raises(KeyError):
        with g.update():
            raise KeyError
    g.launch()  # is what it was
    assert (d.copy_to_host() == 12).all()


@pytest.mark.parametrize("what, error, text", [
    (lambda d: cuda.synchronize(), ValueError, "nothing to wait for"),
    (lambda d: cuda.default_stream().synchronize(), ValueError, "nothing to wait for"),
    (lambda d: cuda.default_stream().query(), ValueError, "nothing to wait for"),
    (lambda d: d.copy_to_host(), RuntimeError, "cannot be read"),
    (lambda d: d[0], RuntimeError, "cannot be read"),
    (lambda d: np.asarray(d), RuntimeError, "cannot be read"),
    (lambda d: d.__setitem__(..., np.zeros(8, np.int8)), RuntimeError, "cannot be converted"),
    (lambda d: d.__setitem__(slice(None, None, 2), np.zeros(4)), RuntimeError, "strided"),
    (lambda d: axpb[1, 8](np.zeros(8), 1, 1), RuntimeError, "host array.*\n.*to_device"),
    (lambda d: cuda.graph().__enter__(), ValueError, "captures a graph already"),
])
def test_what_a_capture_refuses(what, error, text):
    d = cuda.to_device(np.zeros(8))
    with pytest.raises(error, match=text):
        with cuda.graph():
            what(d)
    axpb[1, 8](d, 1, 1)
    assert (d.copy_to_host() == 1).all()


def test_a_graph_is_not_launched_in_a_capture():
    d = cuda.to_device(np.zeros(8))
    with cuda.graph() as g:
        axpb[1, 8](d, 1, 1)
    with pytest.raises(ValueError, match="while this thread captures"):
        with cuda.graph():
            g.launch()
    with cuda.graph() as h:
        with pytest.raises(ValueError, match="being captured"):
            h.launch()
        with pytest.raises(RuntimeError, match="in use by a capture"):
            h.close()
        with pytest.raises(RuntimeError, match="in use by a capture"):
            h.__enter__()


def test_host_memory_that_is_not_pinned(device):
    """A GPU's graph cannot copy it; the host device's memory is all of one kind."""
    host, d = np.arange(8.0), cuda.to_device(np.zeros(8))
    if device == "gpu":
        with pytest.raises(ValueError, match="pageable"):
            with cuda.graph():
                d.copy_to_device(host)
        return
    with cuda.graph() as g:
        d.copy_to_device(host)
        axpb[1, 8](d, 2, 1)
        d.copy_to_host(host)
    for _ in range(2):
        g.launch()
    np.testing.assert_array_equal(host, 4 * np.arange(8.0) + 3)


def test_a_wrong_stream():
    with pytest.raises(TypeError):
        cuda.graph(stream="s")
    with cuda.graph() as g:
        pass
    assert g.nodes == ()
    g.launch()
    with pytest.raises(TypeError):
        g.launch("s")


def test_a_capture_ends_in_its_thread():
    g, said = cuda.graph(), []

    def leave():
        try:
            g.__exit__(None, None, None)
        except RuntimeError as e:
            said.append(str(e))

    with g:
        thread = threading.Thread(target=leave)
        thread.start()
        thread.join()
    assert "in the thread that began it" in said[0]


@cuda.jit(debug=True)
def picky(x, i):
    if x[i] < 0:
        raise ValueError("negative")
    x[i] += 1


def test_exceptions_of_kernels_in_graphs():
    d = cuda.to_device(np.zeros(8))
    with cuda.graph() as g:
        picky[1, 1](d, 3)
        picky[1, 1](d, 100)
    with pytest.raises(IndexError, match="100"):
        g.launch()
        cuda.synchronize()
    assert d.copy_to_host()[3] == 1
    g.nodes[1].set_args(d, 4)
    g.launch()
    cuda.synchronize()
    np.testing.assert_array_equal(d.copy_to_host(), [0, 0, 0, 2, 1, 0, 0, 0])


@cuda.jit
def two_phases(x, y):
    g = cuda.cg.this_grid()
    i = cuda.grid(1)
    x[i] += 1
    g.sync()
    y[i] = x[x.size - 1 - i]


def test_kernels_whose_grid_meets():
    x, y = cuda.to_device(np.arange(64)), cuda.to_device(np.zeros(64, np.int64))
    with cuda.graph() as g:
        two_phases[2, 32](x, y)
        two_phases[2, 32](x, y)
    for n in (2, 4):
        g.launch()
        np.testing.assert_array_equal(y.copy_to_host(), np.arange(64)[::-1] + n)


def test_many_threads_launch_one_graph():
    d = cuda.to_device(np.zeros(8, np.int64))
    with cuda.graph() as g:
        for _ in range(4):
            axpb[1, 8](d, 1, 1)
    threads = [threading.Thread(target=lambda: [g.launch() for _ in range(25)]) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert (d.copy_to_host() == 400).all()


def test_many_graphs_come_and_go():
    d = cuda.to_device(np.zeros(8, np.int64))
    for n in range(50):
        with cuda.graph() as g:
            axpb[1, 8](d, 1, 1)
        g.launch()
    assert (d.copy_to_host() == 50).all()
