"""Streams and events: order, time, and what may stand where a stream is expected."""

import threading
import time

import numpy as np
import pytest

from pyptx import cuda


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


class Foreign:
    """A stream of another library: the CUDA stream protocol as an attribute or a method."""

    def __init__(self, handle, method=True):
        pair = (0, handle)
        self.__cuda_stream__ = (lambda: pair) if method else pair


# --- streams -----------------------------------------------------------------------------------------------------------


def test_a_stream(device):
    s = cuda.stream()
    assert s and "stream" in repr(s)
    assert isinstance(s.handle, int) and bool(s.handle) == (device == "gpu")
    assert s.__cuda_stream__() == (0, s.handle)
    assert s.synchronize() is None and s.query() is True


def test_streams_are_not_made_by_hand():
    with pytest.raises(TypeError):
        type(cuda.stream())()
    with pytest.raises(TypeError):
        type(cuda.event())()


def test_default_streams():
    assert not cuda.default_stream() and cuda.default_stream().handle == 0
    for s in (cuda.default_stream(), cuda.legacy_default_stream(), cuda.per_thread_default_stream()):
        s.synchronize()


def test_work_on_a_stream():
    s = cuda.stream()
    a = np.arange(100, dtype=np.float32)
    d = cuda.to_device(a, stream=s)
    for _ in range(10):
        add_one[4, 32, s](d)
    back = d.copy_to_host(stream=s)
    s.synchronize()
    np.testing.assert_array_equal(back, a + 10)


def test_auto_synchronize():
    s, a = cuda.stream(), np.zeros(8, np.int32)
    with s.auto_synchronize():
        d = cuda.to_device(a, stream=s)
        add_one[1, 8, s](d)
        d.copy_to_host(a, stream=s)
    np.testing.assert_array_equal(a, np.ones(8, np.int32))


def test_auto_synchronize_lets_errors_out():
    with pytest.raises(ZeroDivisionError), cuda.stream().auto_synchronize():
        1 / 0


@pytest.mark.parametrize("make", [
    lambda: 0, lambda: None, cuda.stream, cuda.default_stream, cuda.legacy_default_stream, cuda.per_thread_default_stream,
    lambda: cuda.external_stream(0), lambda: Foreign(0), lambda: Foreign(1, method=False), lambda: Foreign(2),
])
def test_what_may_be_a_stream(make):
    s, a = make(), np.zeros(4, np.int32)
    d = cuda.to_device(a)
    add_one[1, 4, s](d)
    cuda.synchronize()
    np.testing.assert_array_equal(d.copy_to_host(), np.ones(4, np.int32))
    e = cuda.event()
    e.record(s)
    e.wait(s)
    e.synchronize()


@pytest.mark.parametrize("bad", ["s", 1.5, 77, object(), Foreign("x"), [0]])
def test_what_is_no_stream(bad):
    with pytest.raises(TypeError):
        add_one[1, 4, bad](np.zeros(4, np.int32))
    with pytest.raises(TypeError):
        cuda.event().record(bad)


def test_a_foreign_stream_whose_protocol_fails():
    class Broken:
        def __cuda_stream__(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cuda.event().record(Broken())


def test_external_stream_needs_a_handle():
    for bad in ("x", 1.5, None):
        with pytest.raises(TypeError):
            cuda.external_stream(bad)
    with pytest.raises((OverflowError, ValueError)):
        cuda.external_stream(-1)


def test_an_external_stream_is_the_same_stream():
    s, a = cuda.stream(), np.zeros(4, np.int32)
    other = cuda.external_stream(s.handle)
    assert other.handle == s.handle
    d = cuda.to_device(a)
    add_one[1, 4, s](d)
    add_one[1, 4, other](d)
    s.synchronize()
    np.testing.assert_array_equal(d.copy_to_host(), np.full(4, 2, np.int32))


def test_a_stream_knows_its_device():
    assert cuda.stream().device is cuda.get_current_device()
    with pytest.raises(AttributeError):
        cuda.stream().device = None


# --- callbacks -----------------------------------------------------------------------------------------------------------


@pytest.mark.unsanitized("does not end under memcheck, which takes the GIL for its backtraces")
def test_callbacks_run_in_order():
    s, seen, last = cuda.stream(), [], threading.Event()
    d = cuda.to_device(np.zeros(1 << 16, np.int32), stream=s)
    for n in range(20):
        add_one[256, 256, s](d)
        s.add_callback(lambda stream, status, arg: seen.append((stream is s, status, arg)), n)
    s.add_callback(lambda *_: last.set())
    assert last.wait(30)
    assert seen == [(True, 0, n) for n in range(20)]


def test_a_callback_that_fails_is_reported_and_others_run(monkeypatch):
    import sys

    said, last, s = [], threading.Event(), cuda.stream()
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: said.append(kind))
    s.add_callback(lambda *_: 1 / 0)
    s.add_callback(lambda *_: last.set())
    assert last.wait(30) and said == [ZeroDivisionError]
    with pytest.raises(TypeError, match="not callable"):
        s.add_callback(3)


@pytest.mark.parametrize("error, reported", [(SystemExit, []), (KeyboardInterrupt, [KeyboardInterrupt])])
def test_a_callback_that_leaves_its_thread_stops_no_others(error, reported, monkeypatch):
    import sys

    def leave(*_):
        raise error

    said, last, s = [], threading.Event(), cuda.stream()
    monkeypatch.setattr(sys, "excepthook", lambda kind, *_: said.append(kind))
    s.add_callback(leave)
    s.add_callback(lambda *_: last.set())
    assert last.wait(30) and said == reported


@pytest.mark.parametrize("wait", [
    lambda s: s.synchronize(), lambda s: cuda.synchronize(), lambda s: s.device.synchronize(), lambda s: s.__exit__(None, None, None),
], ids=["stream", "cuda", "device", "with"])  # fmt: skip
def test_who_waits_for_a_stream_waits_for_its_callbacks(wait):
    s, other, seen, held = cuda.stream(), cuda.stream(), [], threading.Event()

    def slow(stream, status, arg):
        wait(s)  # within a callback: for the work alone
        time.sleep(0.05)
        seen.append(arg)

    for n in range(3):
        s.add_callback(slow, n)
    wait(s)
    assert seen == [0, 1, 2]
    other.add_callback(lambda *_: held.wait(30))
    s.synchronize()  # the other's are not its own
    held.set()
    other.synchronize()


def test_async_done():
    import asyncio

    async def work(n):
        s = cuda.stream()
        d = cuda.to_device(np.full(64, n, np.int64), stream=s)
        add_one[2, 32, s](d)
        assert await s.async_done() is s
        return d.copy_to_host()[0]

    async def main():
        return await asyncio.gather(*(work(n) for n in range(8)))

    assert asyncio.run(main()) == [n + 1 for n in range(8)]
    with pytest.raises(RuntimeError):
        cuda.stream().async_done()


# --- events --------------------------------------------------------------------------------------------------------------


def test_elapsed_time():
    start, end, d = cuda.event(), cuda.event(timing=True), cuda.to_device(np.zeros(1 << 16, np.float32))
    start.record()
    add_one[256, 256](d)
    end.record()
    end.synchronize()
    assert end.query() is True
    ms = start.elapsed_time(end)
    assert isinstance(ms, float) and 0 <= ms < 60e3
    assert ms == cuda.event_elapsed_time(start, end)


def test_elapsed_time_of_events_that_have_none():
    recorded, never, untimed = cuda.event(), cuda.event(), cuda.event(timing=False)
    recorded.record()
    untimed.record()
    with pytest.raises(ValueError, match="never recorded"):
        recorded.elapsed_time(never)
    with pytest.raises(ValueError, match="timing=False"):
        recorded.elapsed_time(untimed)
    with pytest.raises(TypeError):
        recorded.elapsed_time(0)
    with pytest.raises(TypeError):
        cuda.event_elapsed_time(recorded, None)


def test_a_stream_waits_for_an_event():
    one, two, e = cuda.stream(), cuda.stream(), cuda.event(timing=False)
    a = np.zeros(1 << 20, np.int32)
    d = cuda.to_device(a)
    cuda.synchronize()
    for _ in range(20):
        add_one[4096, 256, one](d)
    e.record(one)
    e.wait(two)
    back = d.copy_to_host(stream=two)
    two.synchronize()
    assert (back == 20).all()


def test_an_event_that_was_never_recorded_is_done():
    e = cuda.event()
    e.synchronize()
    assert e.query() is True


@pytest.mark.unsanitized("does not end under memcheck, which takes the GIL for its backtraces")
def test_streams_of_many_threads():
    wrong = []

    def work(seed):
        s = cuda.stream()
        a = np.full(256, seed, np.int64)
        for _ in range(20):
            d = cuda.to_device(a, stream=s)
            add_one[2, 128, s](d)
            back = d.copy_to_host(stream=s)
            s.synchronize()
            if (back != seed + 1).any():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
