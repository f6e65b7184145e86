"""What runs after the work of a stream: Stream.add_callback and Stream.async_done.

Each stream that has callbacks has a thread that waits for one event after the other, so callbacks of one stream run in their order
and those of different streams do not wait for each other. The thread ends with its last callback.
"""

import os
import sys
import threading
from collections import deque

_lock = threading.Lock()
_queues = {}  # (device, handle) → deque of (event, function); a key is there while its thread lives


def _forget():
    global _lock
    _lock = threading.Lock()
    _queues.clear()


os.register_at_fork(after_in_child=_forget)  # the threads are the parent's


def _run(key, queue):
    while True:
        with _lock:
            if not queue:
                del _queues[key]
                return
            event, function = queue.popleft()
        status = 0
        try:
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
    key = (stream.device, stream.handle)
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
