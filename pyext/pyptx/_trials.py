"""The trials of @cuda.autotune: how a candidate is measured, in this process or in one of its own.

A kernel that never ends cannot be stopped in the process that launched it, and one that writes where it must not takes the GPU's context with
it. So candidates run in a child process, which has copies of the arguments and is killed with the candidate that hangs; the next candidate
gets a new one. Parent to child: one pickle on the child's standard input. Child to parent: a line of JSON for each candidate.
"""

import collections
import enum
import io
import json
import marshal
import math
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import time
import types

import numpy as np

LEAST, MOST = 5, 30  # runs of a candidate …
BUDGET = 0.15  # … so many that they take about these seconds
WARM_UP = 0.02  # seconds of runs before, for clocks and caches
HOPELESS = 10  # a candidate whose first three runs take so many times the best's median is not run again
START = 120.0  # seconds for a child to begin and to have its arguments


class Candidate:
    """A kernel with everything that a launch of it needs but its arguments."""

    __slots__ = ("kernel", "grid", "block", "sharedmem")

    def __init__(self, kernel, grid, block, sharedmem):
        self.kernel, self.grid, self.block, self.sharedmem = kernel, grid, block, sharedmem

    def __reduce__(self):
        return Candidate, (self.kernel, self.grid, self.block, self.sharedmem)


# --- arguments ---


def _is_array(value):
    return isinstance(value, np.ndarray) or hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")


def _map(function, value):
    """The value with function(leaf) in place of each leaf of its tuples."""
    if isinstance(value, tuple):
        items = [_map(function, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return function(value)


def _leaves(value):
    if isinstance(value, tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _copy(array):
    from pyptx import cuda

    if isinstance(array, np.ndarray):
        return array.copy()
    made = cuda.device_array_like(array)
    made.copy_to_device(array)
    return made


class Arguments:
    """The arguments of the trials. `renew()` gives each array that a candidate writes what it has before a run, `restore()` what it had in the
    beginning."""

    def __init__(self, values, restore, zero, on_host):
        self.values = tuple(_map(lambda leaf: self._placed(leaf, on_host), value) for value in values)
        self.named = None if restore is None else self._arrays(restore)
        self.zero = self._arrays(zero)
        self.saved = {}  # id of an array: (it, a copy)

    def _arrays(self, numbers):
        return [leaf for k in numbers for leaf in _leaves(self.values[k]) if _is_array(leaf)]

    @staticmethod
    def _placed(value, on_host):
        from pyptx import cuda
        from pyptx.cuda._memory import ArgHint

        if isinstance(value, ArgHint):
            value = value.value
        if not _is_array(value) or isinstance(value, cuda.DeviceNDArray) or (on_host and isinstance(value, np.ndarray)):
            return value
        return cuda.to_device(value) if isinstance(value, np.ndarray) else cuda.as_cuda_array(value)

    def written(self, kernel):
        """The arrays that the compiler has seen the kernel write, all where it does not say."""
        from pyptx import _pyptx
        from pyptx.cuda._jit import _arch, _signature_text
        from pyptx.cuda._kernels import _typeof

        leaves = [leaf for value in self.values for leaf in _leaves(value)]
        text = _signature_text([_typeof(kernel, value) for value in self.values])
        host = _pyptx.get_current_device().is_host
        of = _pyptx._compile(kernel, text, "host" if host else "nvptx", None if host else _arch(None), 0, {}, "")["args"]
        if len(of) != len(leaves):
            return [leaf for leaf in leaves if _is_array(leaf)]
        return [leaf for leaf, (is_array, _, written) in zip(leaves, of) if is_array and written]

    def save(self, kernel):
        """Keeps what this kernel may write, before its first launch: none that ran before has written it, unless it is kept already."""
        for array in [*(self.written(kernel) if self.named is None else self.named), *self.zero]:
            if id(array) not in self.saved and not (isinstance(array, np.ndarray) and not array.flags.writeable):
                self.saved[id(array)] = array, _copy(array)

    def restore(self):
        for array, before in self.saved.values():
            if isinstance(array, np.ndarray):
                array[...] = before
            else:
                array.copy_to_device(before)

    def renew(self):
        self.restore()
        for array in self.zero:
            if isinstance(array, np.ndarray):
                array[...] = 0
            else:
                array.fill(0)


# --- measuring ---


class Clock:
    """Seconds of a launch: between events on a GPU, whose L2 cache is filled with something else before; by the clock on the host device."""

    def __init__(self):
        from pyptx import cuda

        device = cuda.get_current_device()
        self.on_host = device.is_host
        if not self.on_host:
            self.begin, self.end = cuda.event(), cuda.event()
            self.other = cuda.device_array(max(2 * device.L2_CACHE_SIZE, 1 << 20), np.uint8)

    def time(self, launch):
        from pyptx import cuda

        if self.on_host:
            cuda.synchronize()
            begin = time.perf_counter()
            launch()
            cuda.synchronize()
            return time.perf_counter() - begin
        self.other.fill(0)  # while this runs the launch is queued, so that its own cost is not measured
        self.begin.record()
        launch()
        self.end.record()
        self.end.synchronize()
        cuda.synchronize()  # what the kernel has raised
        return max(cuda.event_elapsed_time(self.begin, self.end) * 1e-3, 1e-9)


class Measuring:
    """Measures candidates one by one, with the same arguments."""

    def __init__(self, values, restore, zero):
        from pyptx import cuda

        self.clock = Clock()
        self.arguments = Arguments(values, restore, zero, cuda.get_current_device().is_host)
        self.best = math.inf

    def _run(self, launch):
        self.arguments.renew()
        return self.clock.time(launch)

    def measure(self, candidate):
        """Seconds of the candidate's runs; what it raises."""
        from statistics import median

        from pyptx import cuda

        self.arguments.save(candidate.kernel)
        launcher = candidate.kernel.configure(candidate.grid, candidate.block, 0, candidate.sharedmem)

        def launch():
            launcher(*self.arguments.values)

        self.arguments.renew()
        launch()  # compiles and loads
        cuda.synchronize()
        times = [self._run(launch)]
        while min(times) > HOPELESS * self.best:  # it may have been disturbed
            if len(times) == 3:
                return times
            times.append(self._run(launch))
        first = min(times)
        for _ in range(min(MOST, int(WARM_UP / first))):
            self._run(launch)
        times = [self._run(launch) for _ in range(max(LEAST, min(MOST, int(BUDGET / first))))]
        self.best = min(self.best, median(times))
        return times


def said(error):
    return f"{type(error).__name__}: {error}"


def run_here(candidates, values, restore, zero, done):
    """The trials in this process: done(number, seconds of the runs or None, what went wrong or None) for each candidate."""
    from pyptx.errors import ContextLostError

    measuring = Measuring(values, restore, zero)
    lost = False
    try:
        for n, candidate in enumerate(candidates):
            try:
                done(n, measuring.measure(candidate), None)
            except ContextLostError:
                lost = True
                raise
            except Exception as error:
                done(n, None, said(error))
    finally:
        if not lost:
            measuring.arguments.restore()


# --- functions by value ---


def _function(code, module, name, qualname):
    scope = {"__name__": module, "__builtins__": __builtins__}
    function = types.FunctionType(marshal.loads(code), scope, name)
    function.__qualname__ = qualname
    return function


def _closed_function(code, module, name, qualname, n):
    scope = {"__name__": module, "__builtins__": __builtins__}
    function = types.FunctionType(marshal.loads(code), scope, name, None, tuple(types.CellType() for _ in range(n)))
    function.__qualname__ = qualname
    return function


def _fill(function, state):
    scope, defaults, kwdefaults, cells, annotations = state
    function.__globals__.update(scope)
    function.__defaults__, function.__kwdefaults__, function.__annotations__ = defaults, kwdefaults, annotations
    for cell, contents in zip(function.__closure__ or (), cells):
        if contents:
            cell.cell_contents = contents[0]


def _names(code):
    """Names that a code object and those in it may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _contents(cell):
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _annotations(function):
    """Those that are plain types; names in quotation marks may need more than goes along."""
    try:
        return {name: of for name, of in function.__annotations__.items() if not isinstance(of, (str, types.GenericAlias))}
    except Exception:  # what is named for type checkers alone
        return {}


def _reduced_function(function):
    code, scope = function.__code__, function.__globals__
    seen = {name: scope[name] for name in _names(code) if name in scope}
    state = (seen, function.__defaults__, function.__kwdefaults__, [_contents(c) for c in function.__closure__ or ()], _annotations(function))
    made = (marshal.dumps(code), function.__module__ or "", function.__name__, function.__qualname__)
    if function.__closure__:
        return _closed_function, (*made, len(function.__closure__)), state, None, None, _fill
    return _function, made, state, None, None, _fill


def _kernel(function, signatures, options):
    from pyptx._pyptx import Dispatcher

    return Dispatcher(function, signatures, **options)


def _reduced_class(cls):
    """Classes of the main program that kernels know: named tuples and Enums."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        defaults = tuple(cls._field_defaults.values())
        return _named_tuple, (cls.__name__, cls._fields, defaults)
    if issubclass(cls, enum.Enum):
        return _enum, (cls.__name__, cls.__bases__[-1], [(name, member.value) for name, member in cls.__members__.items()])
    return NotImplemented


def _named_tuple(name, fields, defaults):
    return collections.namedtuple(name, fields, defaults=defaults or None)


def _enum(name, base, members):
    return base(name, members)


def _find(value):
    """Does another process find this under its name: the main program is not there."""
    found = sys.modules.get(value.__module__) if value.__module__ != "__main__" else None
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is value


class Pickler(pickle.Pickler):
    """Sends the functions and kernels that another process does not find under their names by value, with the globals that they name."""

    def reducer_override(self, value):
        from pyptx._pyptx import DeviceArray, Dispatcher

        if isinstance(value, types.ModuleType):
            import importlib

            return importlib.import_module, (value.__name__,)
        if isinstance(value, types.FunctionType) and not _find(value):
            return _reduced_function(value)
        if isinstance(value, Dispatcher) and not _find(value):
            return _kernel, (value.py_func, *value._made)
        if isinstance(value, type) and not _find(value):
            return _reduced_class(value)
        if _is_array(value) and not isinstance(value, (np.ndarray, np.generic, DeviceArray)):
            from pyptx import cuda

            return _own_array, (cuda.as_cuda_array(value).copy_to_host(),)
        return NotImplemented


def _own_array(values):
    from pyptx import cuda

    return cuda.to_device(values)


def pickled(what):
    out = io.BytesIO()
    Pickler(out, pickle.HIGHEST_PROTOCOL).dump(what)
    return out.getbuffer()


# --- the child ---


def child():
    """What the process does: the trials of what comes on its standard input."""
    import ctypes

    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what kernels print, they print when they are used
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this one
    ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))  # PR_SET_PDEATHSIG: not to stay without it

    def say(**what):
        out.write(json.dumps(what) + "\n")

    try:
        device, *rest = pickle.load(sys.stdin.buffer)
        from pyptx import cuda

        cuda.select_device(device)
        candidates, values, restore, zero, best = rest
        measuring = Measuring(values, restore, zero)
        measuring.best = best
    except Exception as error:
        return say(fatal=said(error))
    say(ready=True)
    for n, candidate in candidates:
        say(**_tried(measuring, n, candidate))


def _tried(measuring, n, candidate):
    from pyptx.errors import DriverError

    try:
        return {"number": n, "times": measuring.measure(candidate)}
    except DriverError as error:
        return {"number": n, "error": said(error), "lost": True}
    except Exception as error:
        return {"number": n, "error": said(error)}


class _Gone(Exception):
    pass


class Child:
    """The process, as its parent has it."""

    def __init__(self, data):
        if not sys.executable:
            raise RuntimeError("the program that runs Python is not known, so autotune cannot start a process for its trials: isolate=False tries "
                               "candidates in this one")
        path = json.dumps([entry for entry in sys.path if isinstance(entry, str)])
        code = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from pyptx._trials import child; child()"
        env = {**os.environ, "PYPTX_ADVICE": "0", "PYPTX_DUMP": ""}
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=env)
        self.left = b""
        try:
            self.process.stdin.write(data)
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # what it said before is read next

    def line(self, seconds):
        """The next line. TimeoutError; _Gone with how it ended."""
        until = time.monotonic() + seconds
        while b"\n" not in self.left:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                raise _Gone(self.end())
            self.left += more
        line, _, self.left = self.left.partition(b"\n")
        return json.loads(line)

    def end(self):
        """How it has ended."""
        code = self.process.wait()
        self.errors.seek(0)
        last = self.errors.read()[-2000:].decode("utf-8", "replace").strip().splitlines()
        how = f"the process ended by {signal.Signals(-code).name}" if code < 0 else f"the process ended with status {code}"
        return f"{how}: {last[-1]}" if last else how

    def close(self):
        self.process.kill()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass  # the driver takes its time to end what runs on the GPU
        self.process.stdout.close()
        self.errors.close()


def run_apart(candidates, values, restore, zero, timeout, done):
    """As run_here, in a process of its own for as many candidates as end there."""
    from statistics import median

    from pyptx import cuda

    device = cuda.get_current_device()
    cuda.synchronize()
    left, best = list(enumerate(candidates)), math.inf
    while left:
        try:
            data = pickled(("host" if device.is_host else device.id, left, values, restore, zero, best))
        except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
            raise RuntimeError(f"autotune tries candidates in another process, and cannot send it the kernel and its arguments: {error}\n"
                               "  help: isolate=False tries them in this process") from error
        process = Child(data)
        del data
        try:
            first = _begin(process)
            if "fatal" in first:
                raise RuntimeError(f"autotune could not begin in its other process: {first['fatal']}\n  help: isolate=False tries candidates in this one")
            while left:
                n = left[0][0]
                answer = _one(process, timeout)
                left.pop(0)
                if answer.get("times"):
                    best = min(best, median(answer["times"]))
                done(n, answer.get("times"), answer.get("error"))
                if answer.get("lost"):
                    break
        finally:
            process.close()


def _begin(process):
    try:
        return process.line(START)
    except TimeoutError:
        return {"fatal": f"it was not ready after {START:.0f} s"}
    except _Gone as gone:
        return {"fatal": str(gone)}


def _one(process, timeout):
    try:
        return process.line(timeout)
    except TimeoutError:
        return {"error": f"TimeoutError: not done after timeout={timeout:g} seconds", "lost": True}
    except _Gone as gone:
        return {"error": str(gone), "lost": True}
