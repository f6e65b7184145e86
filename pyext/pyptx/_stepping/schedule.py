"""The threads of a launch taking turns: one runs at a time, in the order of their numbers, until it waits.

A thread of the launch runs in a thread of the process. One that never waits runs in the thread that launches; where one waits, another
thread of the process goes on with those that have not begun. Who waits hands the turn on and sleeps until it is handed back, so that nothing
runs at the same time, and the order is the same each time.
"""

import itertools
import os
import sys
import threading
from collections import deque

import numpy as np

from pyptx import _pyptx, errors

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PATIENCE = 100_000  # reads of memory after which a thread lets others run: it may wait for what they write
WARP = 32

here = threading.local()  # .thread: which thread of a launch this thread of the process is


class Stopped(BaseException):
    """Unwinds the threads of a launch that has failed."""


class Wait:
    """What a thread waits for: a kind, a key that the others must have too, its mask, what it brings, and what becomes of that."""

    def __init__(self, kind, key, place, mask=0, value=None, finish=None):
        self.kind, self.key, self.place, self.mask, self.value, self.finish = kind, key, place, mask, value, finish


class Thread:
    """One thread of a launch."""

    def __init__(self, run, block, number):
        x, y, _ = run.block
        self.run, self.block, self.number = run, block, number
        self.index = number % x, number // x % y, number // (x * y)
        self.lane, self.warp = number % WARP, number // WARP
        self.gate = None  # a lock: opened to hand it the turn; None: it has not waited yet
        self.waits = self.answer = self.frame = None
        self.begun = self.ended = False
        self.ticks = 0


class Block:
    """One block of a launch: its threads, its shared arrays, its numbered barriers."""

    def __init__(self, run, number):
        x, y, _ = run.grid
        self.index = number % x, number // x % y, number // (x * y)
        self.threads = [Thread(run, self, n) for n in range(run.block[0] * run.block[1] * run.block[2])]
        self.left = len(self.threads)  # how many have not ended
        self.at_barrier = []
        self.shared, self.arrived = {}, {}
        self.dynamic = None


def now():
    """The thread of a launch that asks."""
    thread = getattr(here, "thread", None)
    if thread is None:
        raise TypeError("this name of a kernel can be used in a kernel only: the launch is over, or another thread asks")
    if thread.frame is None:
        thread.frame = _frame_of(thread.run.code)
    return thread


def tick(weight=1):
    """Called where a thread may be going round until another one does something: it then lets the others run."""
    thread = getattr(here, "thread", None)
    if thread is not None:
        thread.ticks += weight
        if thread.ticks >= _PATIENCE:
            thread.run.step_back(thread)


def _frame_of(code):
    frame = sys._getframe(2)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame


def _place_of(frame):
    """(file, line, column, end line, end column, function) of where a frame is, or was when it ended."""
    code = frame.f_code
    at = next(itertools.islice(code.co_positions(), max(frame.f_lasti, 0) // 2, None), (None,) * 4)
    line = at[0] or frame.f_lineno or code.co_firstlineno
    return code.co_filename, line, -1 if at[2] is None else at[2], at[1] or line, -1 if at[3] is None else at[3], code.co_name


def _here():
    """(key, place) of the caller outside of pyptx: a key is a line of a function."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename.startswith(_PACKAGE) and frame.f_back is not None:
        frame = frame.f_back
    return (frame.f_code, frame.f_lineno), _place_of(frame)


def wait(kind, mask=0, value=None, finish=None, name=None):
    """The thread that asks waits; what the others' arrival makes of it is returned."""
    thread = now()
    key, place = _here()
    thread.waits = Wait(kind, (name, *key) if thread.run.strict else name, place, mask, value, finish)
    thread.run.arrived(thread)
    thread.run.sleep(thread)
    return thread.answer


def lanes_of(thread, mask):
    """The lanes of the thread's warp that a mask names, as threads: those that the block has and that have not ended."""
    first = thread.warp * WARP
    threads = thread.block.threads[first : first + WARP]
    return [t for t in threads if mask >> t.lane & 1 and not t.ended]


class Run:
    """A launch. function is called in each thread; enter(thread) before a thread goes on."""

    def __init__(self, grid, block, function, args, keywords, enter):
        self.grid, self.block, self.code, self._enter = grid, block, function.__code__, enter
        self._function, self._args, self._keywords = function, args, keywords
        self._numbers = iter(range(grid[0] * grid[1] * grid[2]))
        self._blocks, self._unbegun, self._ready = [], deque(), deque()
        self._idle, self._workers = [], []
        self._over, self._error = False, None
        self._ended = None  # the first thread that has
        self._steps_back = 0
        self._given = None  # who is next, whoever else is ready
        self._running = None  # the thread of the process whose turn it is
        self._trace = None  # what follows the thread that launches: a debugger, coverage.py
        self._pdb = None  # the same of a pdb that uses sys.monitoring
        self.dynamic_shared = 0
        self.strict = False  # check="sync": barriers are places in the source, and all threads must come

    # --- the launch

    def launch(self):
        """Runs all threads; raises what one of them raises, with its thread and block added."""
        before = getattr(here, "thread", None)
        self._trace, self._pdb = sys.gettrace(), _tracer_of_pdb()
        try:
            self._drive()
        except BaseException as error:  # Ctrl-C, while another thread of the process has the turn
            self._fail(None, error)
        finally:
            here.thread = before
            for worker in self._workers:
                worker.join()
            self._follow()
        if self._error:
            error, thread = self._error
            self._error = None
            if thread is not None and hasattr(error, "add_note") and not isinstance(error, errors.CheckError):
                error.add_note(f"in thread {thread.index} of block {thread.block.index}")
            raise error.with_traceback(_from_kernel(error.__traceback__))

    def _drive(self, gate=None):
        """Runs threads one after another until the launch is over."""
        gate = gate or _closed_lock()
        with np.errstate(all="ignore"):
            while (thread := self._pick()) is not None:
                if not thread.begun:
                    self._execute(thread)
                    continue
                self._idle.append(gate)
                self._hand(thread)
                gate.acquire()
                if self._over:
                    return

    def _execute(self, thread):
        thread.begun = True
        here.thread = thread
        self._take_turn(thread)
        trace = sys.gettrace()
        try:
            # One line, so that a debugger that goes on to where the kernel returns does not
            # stop here.
            _ = self._function(*self._args, **self._keywords), sys.gettrace() is trace or sys.settrace(trace)
        except Stopped:
            pass
        except BaseException as error:
            sys.settrace(trace)
            self._fail(thread, error)
        finally:
            here.thread = None
        thread.ended = True
        thread.block.left -= 1
        self._ended = self._ended or thread
        self._steps_back = 0
        if not self._over:
            self._try_barrier(thread.block)
            self._lane_ended(thread)

    def _fail(self, thread, error):
        """Ends the launch: every thread that sleeps wakes up, and its frames are left."""
        if self._error is None:
            self._error = error, thread
        self._over = True
        if self._running not in (None, threading.get_ident()):
            import ctypes

            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._running), ctypes.py_object(Stopped))
        gates = self._idle + [t.gate for block in self._blocks for t in block.threads if t.gate is not None and not t.ended]
        for gate in gates:
            if gate.locked():
                gate.release()

    # --- turns

    def _follow(self):
        """pdb stops in this thread of the process from here on."""
        if self._pdb is not None:
            self._pdb._tracing_thread = threading.current_thread()

    def _take_turn(self, thread):
        self._running = threading.get_ident()
        self._follow()
        thread.ticks = 0
        self._enter(thread)

    def _pick(self):
        """Whose turn it is next; None: the launch is over."""
        if self._given is not None:
            given, self._given = self._given, None
            return given
        while not self._over:
            if self._ready:
                return self._ready.popleft()
            if self._unbegun:
                return self._unbegun.popleft()
            self._blocks = [block for block in self._blocks if block.left]
            if not self._release_stuck() and not self._begin_block():
                self._over = True
                for gate in self._idle:
                    gate.release()
        return None

    def _begin_block(self):
        number = next(self._numbers, None)
        if number is None:
            return False
        block = Block(self, number)
        self._blocks.append(block)
        self._unbegun.extend(block.threads)
        self._steps_back = 0
        return True

    def _hand(self, thread):
        if thread.begun:
            thread.gate.release()
            return
        self._given = thread
        if self._idle:
            self._idle.pop().release()
            return
        worker = threading.Thread(target=self._work, daemon=True, name=f"threads of {self.code.co_name}")
        try:
            worker.start()
        except RuntimeError as error:
            raise RuntimeError(f"{self.code.co_name}: this process can have no more than {threading.active_count()} threads, and each thread of a "
                               "block that waits is one: launch smaller blocks, or, for barriers of the whole grid, fewer") from error
        self._workers.append(worker)

    def _work(self):
        _pyptx._compiled_here(1)
        if self._trace is not None and sys.gettrace() is None:  # else threading.settrace has set one
            sys.settrace(self._followed)
        try:
            self._drive()
        except BaseException as error:
            self._fail(None, error)

    def _followed(self, frame, event, argument):
        """The trace function of the other threads of the process: functions of the program, by that of the thread that launches."""
        return None if frame.f_code.co_filename.startswith(_PACKAGE) else self._trace(frame, event, argument)

    def sleep(self, thread):
        """Until it is the thread's turn again."""
        if thread.gate is None:
            thread.gate = _closed_lock()
        following = self._pick()
        if following is not thread and not self._over:
            self._hand(following)
            thread.gate.acquire()
        if self._over:
            raise Stopped
        self._take_turn(thread)

    def step_back(self, thread):
        """Lets the others run, and other blocks begin if all that run only wait for memory."""
        if self._over:
            raise Stopped
        thread.ticks = 0
        self._steps_back += 1
        if self._steps_back > 4 * (len(self._ready) + 1):
            self._begin_block()
        if self._ready or self._unbegun or self._release_active():
            self._ready.append(thread)
            self._given = self._unbegun.popleft() if self._unbegun else None
            self.sleep(thread)

    # --- meetings

    def _release(self, threads, answers):
        for thread, answer in zip(threads, answers):
            thread.waits, thread.answer = None, answer
            self._ready.append(thread)
        self._steps_back = 0

    def arrived(self, thread):
        """A thread waits: for whom is that enough."""
        wait = thread.waits
        if wait.kind == "barrier":
            thread.block.at_barrier.append(thread)
            self._try_barrier(thread.block)
        elif wait.kind == "warp":
            self._try_warp(thread, wait)
        elif wait.kind == "numbered":
            self.try_numbered(thread.block, wait.value)

    def _try_barrier(self, block):
        """A block's barrier opens when all its threads that have not ended are there."""
        threads = block.at_barrier
        if not threads or len(threads) < (len(block.threads) if self.strict else block.left):
            return
        if self.strict and any(t.waits.key != threads[0].waits.key for t in threads):
            return
        block.at_barrier = []
        values = [t.waits.value for t in threads if t.waits.finish]
        threads.sort(key=lambda t: t.number)
        self._release(threads, [t.waits.finish(values) if t.waits.finish else None for t in threads])

    def _try_warp(self, thread, wait):
        lanes = lanes_of(thread, wait.mask)
        if all(t.waits is not None and t.waits.kind == "warp" and (t.waits.key, t.waits.mask) == (wait.key, wait.mask) for t in lanes):
            values = {t.lane: t.waits.value for t in lanes}
            self._release(lanes, [t.waits.finish(values, t.lane) for t in lanes])

    def _lane_ended(self, thread):
        """Those that waited for it in its warp need not any more."""
        for t in lanes_of(thread, -1):
            if t.waits is not None and t.waits.kind == "warp":
                self._try_warp(t, t.waits)

    def try_numbered(self, block, which):
        """A numbered barrier opens when as many have come to it as it was told."""
        number, wanted = which
        waiting = [t for t in block.threads if t.waits is not None and t.waits.kind == "numbered" and t.waits.value[0] == number]
        if len(waiting) + block.arrived.get(number, 0) >= wanted:
            block.arrived[number] = 0
            self._release(waiting, [None] * len(waiting))

    def _release_stuck(self):
        """No thread can run. True: some can now. SyncError where none ever will."""
        if not self._blocks:
            return False
        if self._release_active():
            return True
        for block in self._blocks:
            for thread in block.threads:
                if thread.waits is not None and thread.waits.kind != "grid":
                    raise _deadlock(thread, block.threads)
        if self._begin_block():
            return True
        threads = [t for block in self._blocks for t in block.threads if t.waits is not None]
        if self.strict and self._ended:
            raise _deadlock(threads[0], [self._ended])
        for t in threads:
            if t.waits.key != threads[0].waits.key:
                raise _deadlock(threads[0], [t])
        self._release(threads, [None] * len(threads))
        return True

    def _release_active(self):
        """Lanes at cuda.activemask go on, together, when no other lane of their warp can run."""
        for block in self._blocks:
            for first in range(0, len(block.threads), WARP):
                lanes = [t for t in block.threads[first : first + WARP] if not t.ended]
                asking = [t for t in lanes if t.waits is not None and t.waits.kind == "active"]
                if asking and all(t.waits is not None for t in lanes):
                    group = [t for t in asking if t.waits.key == asking[0].waits.key]
                    mask = sum(1 << t.lane for t in group)
                    self._release(group, [mask] * len(group))
                    return True
        return False


def _tracer_of_pdb():
    """pdb's, if it follows this thread by sys.monitoring, as set_trace() does since CPython 3.14: one thread, which
    only a private name says."""
    debugger = getattr(getattr(sys.modules.get("pdb"), "Pdb", None), "_last_pdb_instance", None)
    tracer = getattr(debugger, "monitoring_tracer", None)
    return tracer if getattr(tracer, "_tracing_thread", None) is threading.current_thread() else None


def _closed_lock():
    lock = threading.Lock()
    lock.acquire()
    return lock


def _deadlock(thread, others):
    """The SyncError of a thread that waits for ever: for the first other one that is not where it is."""
    wait = thread.waits
    if wait.kind == "warp":
        others = lanes_of(thread, wait.mask)
    other = next((t for t in others if t.waits is None or t.waits.key != wait.key or t.waits.mask != wait.mask), thread)
    there = other.waits.place if other.waits is not None else _place_of(other.frame) if other.frame is not None else None
    finding = 5 if wait.kind == "warp" else 4 if other.waits is not None else 3
    error = errors._finding(finding, 0, "", wait.place, there, thread.index, thread.block.index, other.index, other.block.index,
                            (thread.lane, other.lane))
    error.filename, error.lineno = wait.place[:2]
    return error


def _own(traceback):
    return traceback.tb_frame.f_code.co_filename.startswith(_PACKAGE)


def _from_kernel(traceback):
    """The traceback without pyptx's own frames before the kernel and behind the user's last line, if it has any others."""
    first = traceback
    while first is not None and _own(first):
        first = first.tb_next
    last = at = first
    while at is not None:
        last, at = (last if _own(at) else at), at.tb_next
    if last is not None:
        last.tb_next = None
    return first or traceback
