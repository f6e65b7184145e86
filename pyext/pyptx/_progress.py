"""A line on standard error while a compilation, a copy or a benchmark takes more than a second, as tqdm has it; it is erased at the end.

Shown on a terminal and in notebooks, with PYPTX_PROGRESS=1 anywhere, with 0 nowhere. Short work costs two short calls: a thread looks
twice a second at what has begun and not ended. Nothing here raises: that a line cannot be shown must not stop the work.
"""

import contextvars
import os
import sys
import time

DELAY, PERIOD, QUIET = 1.0, 0.5, 20  # seconds before it is shown, between two looks; looks without work before the thread waits


class Work:
    """What is under way. done counts up to total, where that is known."""

    __slots__ = ("text", "total", "done", "begun", "context")

    def __init__(self, text, total=None):
        self.text, self.total, self.done = text, total, 0
        self.begun = time.monotonic()
        self.context = contextvars.copy_context()  # by which ipykernel knows whose output a thread writes

    def line(self):
        seconds = time.monotonic() - self.begun
        if not self.total:
            return f"pyptx: {self.text} [{seconds:.0f} s]"
        filled = round(20 * self.done / self.total)
        return f"pyptx: {self.text} |{'#' * filled}{'-' * (20 - filled)}| {self.done}/{self.total} [{seconds:.0f} s]"


class Watcher:
    """All work under way, and the thread that shows the oldest."""

    def __init__(self):
        import threading

        self.works, self.shown = [], None  # shown: (work, stream, width) of the line that stands there
        # a handler of a signal may begin work in the middle of begin()
        self.lock, self.awake, self.wanted = threading.RLock(), False, threading.Event()
        self.thread = None

    def begin(self, work):
        with self.lock:
            self.works.append(work)
            if not self.thread:
                import threading

                self.thread = threading.Thread(target=self.watch, name="pyptx progress", daemon=True)
                self.thread.start()
            elif not self.awake:
                self.wanted.set()

    def end(self, work):
        with self.lock:
            self.works = [w for w in self.works if w is not work]
            if self.shown and self.shown[0] is work:
                self.erase()

    def watch(self):
        quiet, self.awake = 0, True
        while True:
            time.sleep(PERIOD)
            with self.lock:
                quiet = 0 if self.works else quiet + 1
                if self.works and time.monotonic() - self.works[0].begun >= DELAY:
                    self.show(self.works[0])
                if quiet > QUIET:
                    self.awake = False
                    self.wanted.clear()
            if quiet > QUIET:
                self.wanted.wait()
                quiet, self.awake = 0, True

    def show(self, work):
        import shutil

        if self.shown and self.shown[0] is not work:
            self.erase()
        out = self.shown[1] if self.shown else sys.stderr
        text = work.line()[: shutil.get_terminal_size().columns - 1]
        before = self.shown[2] if self.shown else 0
        put(work, out, "\r" + text.ljust(before))
        self.shown = work, out, len(text)

    def erase(self):
        work, out, width = self.shown
        self.shown = None
        put(work, out, "\r" + " " * width + "\r")


def put(work, out, text):
    def write():
        try:
            out.write(text)
            out.flush()
        except Exception:  # closed, replaced by something else, gone with its terminal
            pass

    try:
        work.context.run(write)
    except RuntimeError:  # the context is entered: by a write of ours that has not ended
        pass


def is_on():
    mode = os.environ.get("PYPTX_PROGRESS")
    if mode in ("0", "1"):
        return mode == "1"
    out = sys.stderr
    try:
        return out is not None and (out.isatty() or type(out).__module__ == "ipykernel.iostream")
    except Exception:
        return False


_watcher = None


def begin(text, total=None):
    """Work begins. What end() wants; None where nothing is shown."""
    global _watcher
    if not is_on():
        return None
    work = Work(text, total)
    if _watcher is None:
        _watcher = Watcher()
        os.register_at_fork(after_in_child=_forget)
    _watcher.begin(work)
    return work


def end(work):
    if work is not None and _watcher is not None:
        _watcher.end(work)


def _forget():  # the child has no such thread
    global _watcher
    _watcher = Watcher()
