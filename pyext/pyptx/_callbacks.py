"""What runs after the work of a stream: Stream.add_callback and Stream.async_done.

Each stream that has callbacks has a thread that waits for one event after the other, so callbacks of one stream run in their order
and those of different streams do not wait for each other. The thread ends with its last callback.
"""

import os
import sys
import threading
from collections import deque

_lock = threading.Lock()
_queues = {}  # (device, Stream._key) → deque of (event or None, function); a key is there while its thread lives
_here = threading.local()  # .calls: this is a thread of callbacks


def _forget():
    global _lock
    _lock = threading.Lock()
    _queues.clear()


os.register_at_fork(after_in_child=_forget)  # the threads are the parent's


def _run(key, queue):
    _here.calls = True
    while True:
        with _lock:
            if not queue:
                del _queues[key]
                return
            event, function = queue.popleft()
        status = 0
        try:
            if event is not None:
                event._pass()
        except Exception as error:
            status = error
        try:
            function(status)
        except SystemExit:  # as in any thread but the main one it ends what runs, not what comes after it
            pass
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
        event = function = None


def _after(stream, event, function):
    key = (stream.device, stream._key)
    with _lock:
        queue = _queues.get(key)
        if queue is not None:
            queue.append((event, function))
            return
        queue = _queues[key] = deque([(event, function)])
    try:
        threading.Thread(target=_run, args=(key, queue), name="pyptx stream callbacks").start()
    except BaseException:
        with _lock:
            _queues.pop(key, None)
        raise


def call(stream, event, callback, arg):
    _after(stream, event, lambda status: callback(stream, status, arg))


def future(stream, event):
    import asyncio

    loop = asyncio.get_running_loop()
    done = loop.create_future()

    def settle(status):
        if done.cancelled():
            return
        if status == 0:
            done.set_result(stream)
        else:
            done.set_exception(status)

    def finished(status):
        try:
            event.synchronize()  # done by now; raises what kernels raised
        except Exception as error:
            status = error
        try:
            loop.call_soon_threadsafe(settle, status)
        except RuntimeError:  # the loop was closed meanwhile: nobody waits
            pass

    _after(stream, event, finished)
    return done


def wait(of):
    """Return when the callbacks that a stream has now, or all streams of a device, have returned.

    In a callback it returns at once: it would wait for itself.
    """
    if getattr(_here, "calls", False):
        return
    marks = []
    with _lock:
        for (device, key), queue in _queues.items():
            if of is device or getattr(of, "device", None) is device and of._key == key:
                marks.append(threading.Event())
                queue.append((None, lambda status, mark=marks[-1]: mark.set()))
    for mark in marks:
        mark.wait()
