"""@cuda.autotune: the fastest of several configurations of a kernel, found by trying them."""

import functools
import inspect
import os
import statistics
import sys
import threading
import types
import weakref
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pyptx import _pickle, _pyptx
from pyptx._pyptx import Dispatcher
from pyptx.cuda._kernels import _typeof
from pyptx.cuda._memory import ArgHint


class Config:
    """One way to compile and launch a kernel, for ``@cuda.autotune``.

    block: threads of a block, an int or up to three. kwargs: {parameter: constant}, values of keyword parameters of the kernel, which are
    constants where it is compiled (``tl.constexpr`` in Triton). coarsen, max_registers: as in ``@cuda.jit``, None: the kernel's own. sharedmem:
    bytes of dynamic shared memory.

    ``config["TILE"]`` is a constant, ``config.block`` always (x, y, z).

    Example:

        config = cuda.Config(block=(32, 8), kwargs={"TILE": 32}, max_registers=64)
        print(config["TILE"], config.block)     # 32 (32, 8, 1)
    """

    __slots__ = {
        "block": "Threads of a block along x, y and z.", "kwargs": "Constants by the name of their parameter.",
        "coarsen": "As in @cuda.jit; None: the kernel's own.", "max_registers": "As in @cuda.jit; None: the kernel's own.",
        "sharedmem": "Bytes of dynamic shared memory of a block.",
    }

    def __init__(self, block, kwargs=None, *, coarsen=None, max_registers=None, sharedmem=0):
        if isinstance(block, dict):
            raise TypeError("a Config begins with its block: cuda.Config(block=256, kwargs={...})")
        self.block = _dims(block, "block")
        self.kwargs = types.MappingProxyType(dict(kwargs or {}))
        if not all(isinstance(name, str) for name in self.kwargs):
            raise TypeError(f"kwargs has names of parameters, not {kwargs!r}")
        self.coarsen, self.max_registers, self.sharedmem = coarsen, max_registers, sharedmem
        if isinstance(sharedmem, bool) or not hasattr(sharedmem, "__index__") or sharedmem.__index__() < 0:
            raise TypeError(f"sharedmem is a number of bytes, not {sharedmem!r}")

    @property
    def threads(self):
        """Threads of a block."""
        x, y, z = self.block
        return x * y * z

    def __getitem__(self, name):
        try:
            return self.kwargs[name]
        except KeyError:
            raise KeyError(f"this configuration sets {_listed(self.kwargs) or 'no constants'}, not '{name}'") from None

    def _options(self):
        return {name: getattr(self, name) for name in ("coarsen", "max_registers") if getattr(self, name) is not None}

    def _cells(self):
        """{column of the table: text}"""
        shape = list(self.block)
        while len(shape) > 1 and shape[-1] == 1:
            shape.pop()
        out = {"block": "x".join(map(str, shape)), **{name: _short(value) for name, value in self.kwargs.items()}}
        out.update((name, str(value)) for name, value in self._options().items())
        return {**out, "sharedmem": str(self.sharedmem)} if self.sharedmem else out

    def __repr__(self):
        rest = "".join(f", {name}={value!r}" for name, value in (("kwargs", dict(self.kwargs)), *self._options().items(), ("sharedmem", self.sharedmem)) if value)
        return f"Config(block={self.block}{rest})"

    def __reduce__(self):
        return functools.partial(Config, coarsen=self.coarsen, max_registers=self.max_registers, sharedmem=self.sharedmem), (self.block, dict(self.kwargs))


def _dims(value, what):
    dims = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for n in dims:
        if isinstance(n, bool) or not hasattr(n, "__index__"):
            raise TypeError(f"{what} is an int or up to three, not {value!r}")
    if not 1 <= len(dims) <= 3 or any(n.__index__() < 1 for n in dims):
        raise ValueError(f"{what} is from one to three numbers of at least 1, not {value!r}")
    return tuple(n.__index__() for n in (*dims, 1, 1)[:3])


def _short(value):
    return getattr(value, "__name__", None) or repr(value)


def _listed(names):
    return ", ".join(f"'{name}'" for name in names)


# --- the table ---


@dataclass(frozen=True)
class Trial:
    """A configuration and how it did: ``times`` has the seconds of each run, ``seconds`` their median; None and an ``error`` where it did not work.

    Example:

        trial = scale.trials[0]
        print(trial.config is scale.configs[0], trial.seconds is None)  # True False
    """

    config: Config
    times: list | None
    error: str | None

    @property
    def seconds(self):
        return statistics.median(self.times) if self.times else None


class Trials(Sequence):
    """The trials of one key, in the order of the configurations: a sequence of Trial; ``best`` is the fastest, and ``print`` shows the table.

    Example:

        print(scale.trials.best.config is scale.best)   # True
    """

    def __init__(self, title, trials, cached):
        self.title, self.cached = title, cached
        self._trials = tuple(trials)
        worked = [t for t in self._trials if t.times]
        self.best = min(worked, key=lambda t: t.seconds) if worked else None

    def __len__(self):
        return len(self._trials)

    def __getitem__(self, n):
        return self._trials[n]

    def __str__(self):
        from pyptx._timing import duration

        rows, columns = [], {}
        for t in sorted(self._trials, key=lambda t: (t.seconds is None, t.seconds)):
            cells = t.config._cells()
            columns.update(dict.fromkeys(cells))
            said = (duration(t.seconds), f"{t.seconds / self.best.seconds:.2f}") if t.times else ("failed", t.error.splitlines()[0])
            rows.append((cells, said))
        heads = [*columns, "median", "of best"]
        table = [heads] + [[*(cells.get(c, "-") for c in columns), *said] for cells, said in rows]
        widths = [max(len(row[k]) for row in table) for k in range(len(heads) - 1)]
        lines = [f"{self.title}{', as found before' * self.cached}"]
        lines += ["  ".join([*(text.rjust(w) for text, w in zip(row, widths)), row[-1]]).rstrip() for row in table]
        return "\n".join(lines)

    __repr__ = __str__


# --- kernels with constants ---


def _with_constants(function, constants):
    """The function with these values as defaults: what a launch does not pass is a constant of the code."""
    parameters = inspect.signature(function).parameters
    unknown = [name for name in constants if name not in parameters]
    if unknown:
        raise TypeError(f"{function.__name__} has no parameter {_listed(unknown)}, which a configuration sets; it has {_listed(parameters)}")
    defaults, kwdefaults = [], dict(function.__kwdefaults__ or {})
    for name, p in parameters.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        if p.kind is p.KEYWORD_ONLY:
            kwdefaults.update({name: constants[name]} if name in constants else {})
        elif name in constants or p.default is not p.empty:
            defaults.append(constants.get(name, p.default))
        elif defaults:
            raise TypeError(f"{function.__name__}: parameters that configurations set come last or are keyword-only, but '{name}' follows them")
    made = types.FunctionType(function.__code__, function.__globals__, function.__name__, tuple(defaults) or None, function.__closure__)
    functools.update_wrapper(made, function)
    del made.__wrapped__
    made.__kwdefaults__ = kwdefaults or None
    return made


def _variant(kernel, config):
    from pyptx.cuda._jit import _read_given

    signatures, options = kernel._made
    try:
        read = _read_given(config._options())
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}, in {config!r}") from None
    return Dispatcher(_with_constants(kernel.py_func, config.kwargs), signatures, **{**options, **read})


class _Found:
    """What is known for a key: launches take the variant."""

    __slots__ = ("config", "kernel", "trials")

    def __init__(self, config, kernel, trials):
        self.config, self.kernel, self.trials = config, kernel, trials


_OPTIONS = ("prune", "restore", "reset_to_zero", "timeout", "isolate", "cache")
_all = weakref.WeakSet()


def _remade(kernel, configs, key, options):
    return Autotuned(kernel, configs, key, **options)


def _new_locks():
    for kernel in _all:
        kernel._lock = threading.RLock()


os.register_at_fork(after_in_child=_new_locks)  # another thread may have held one


class Autotuned:
    """A kernel whose configuration is found by trying: ``@cuda.autotune`` makes it, and ``kernel[grid](…)`` launches it.

    ``best`` and ``trials`` are of the launch or the tuning before (None before the first), ``tunings`` has the Trials of each key;
    ``variant(config)`` is the kernel as a configuration compiles it.

    Example:

        scale[lambda config: -(-d.size // config.threads)](d, e)
        print(scale.best.block[0] in (64, 256))     # True
    """

    def __init__(self, kernel, configs, key=(), *, prune=None, restore=None, reset_to_zero=(), timeout=30.0, isolate=True, cache=True):
        self.kernel, self.configs, self.prune = kernel, tuple(configs), prune
        self.timeout, self.isolate, self.cache = timeout, isolate, cache
        parameters = inspect.signature(kernel.py_func).parameters
        self._names = list(parameters)
        if kernel.extensions or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters.values()):
            raise TypeError(f"{kernel.__name__} has {'extensions' if kernel.extensions else 'starred parameters'}: such kernels cannot be autotuned")
        self._constants = {name for config in self.configs for name in config.kwargs}
        self._needed = [n for n, p in parameters.items() if p.default is p.empty and n not in self._constants]
        self._passed = [n for n in self._names if n not in self._constants]
        self.key = key if callable(key) else _tuple(key)
        self.restore = None if restore is None else _tuple(restore)
        self.reset_to_zero = _tuple(reset_to_zero)
        self._variants = {config: _variant(kernel, config) for config in self.configs}
        self._check(key, restore, reset_to_zero)
        self._found, self._lock = {}, threading.RLock()
        self.best = self.trials = None
        functools.update_wrapper(self, kernel.py_func)
        _all.add(self)

    def __reduce__(self):
        by_name = _pickle._find(self.__module__, self.__qualname__) is self and not _pickle._sends_functions(sys._getframe(1))
        return self.__qualname__ if by_name else (_remade, (self.kernel, self.configs, self.key, {name: getattr(self, name) for name in _OPTIONS}))

    def _check(self, key, restore, reset_to_zero):
        for what, names in (("key", () if callable(key) else key), ("restore", restore or ()), ("reset_to_zero", reset_to_zero)):
            for name in _tuple(names):
                if name not in self._names or name in self._constants:
                    raise ValueError(f"{what} names parameters that a launch passes ({_listed(self._passed)}), not {name!r}")

    @property
    def py_func(self):
        """The Python function."""
        return self.kernel.py_func

    @property
    def tunings(self):
        """{key: Trials} of this process; the key is (values of `key`, types of the arguments)."""
        return {key[1:]: found.trials for key, found in self._found.items() if found.trials is not None}

    def variant(self, config=None):
        """The kernel (a Dispatcher) as a configuration compiles it, by default the best: for its report, its registers and so on.

        Example:

            print(scale.variant(scale.configs[1]).py_func.__defaults__)     # (4,)
        """
        config = config or self.best
        if config not in self._variants:
            raise ValueError("tune first: there is no best configuration yet" if config is None else f"{config!r} is none of the configurations")
        return self._variants[config]

    def __repr__(self):
        best = f", best {self.best!r}" if self.best else ""
        return f"<autotuned kernel {self.__name__}, {len(self.configs)} configuration{'s' * (len(self.configs) != 1)}{best}>"

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.__name__} is a kernel: launch it as {self.__name__}[grid](...), where grid is a number of blocks, or a function of the "
                        "configuration that gives it")

    def __getitem__(self, grid):
        if isinstance(grid, tuple) and len(grid) > 1:
            raise TypeError(f"{self.__name__} is autotuned, so that its block is its configuration's: {self.__name__}[grid](...). For a grid of several axes "
                            f"write {self.__name__}[lambda config: (blocks_x, blocks_y)](...), or {self.__name__}.configure((blocks_x, blocks_y))(...)")
        return TunedLauncher(self, grid, 0)

    def configure(self, griddim, stream=0):
        """``kernel[griddim]``, and a stream. griddim: blocks, an int or up to three, or a function of the Config that gives them.

        Example:

            scale.configure(8, cuda.default_stream())(d, e)
        """
        return TunedLauncher(self, griddim, stream)

    def forall(self, ntasks, stream=0):
        """A launch of at least ntasks threads, whatever the block is.

        Example:

            scale.forall(d.size)(d, e)
        """
        return TunedLauncher(self, lambda config: -(-ntasks // config.threads) or 1, stream)

    # --- what a launch is about ---

    def _named(self, args, kwargs):
        """{parameter: value} of what a launch passes."""
        names = self._passed
        named = dict(zip(names, args))
        if kwargs or len(args) != len(names):
            self._check_call(len(args), named, kwargs)
            named.update(kwargs)
            named = {name: named[name] for name in names if name in named}
        return named

    def _check_call(self, n, named, kwargs):
        wrong = self._constants.intersection(kwargs)
        if wrong or n > len(self._passed):
            raise TypeError(f"{self.__name__}() takes {_listed(self._passed)}; {_listed(sorted(self._constants)) or 'no others'} are set by the configurations")
        twice, unknown = named.keys() & kwargs.keys(), kwargs.keys() - set(self._passed)
        if twice or unknown:
            raise TypeError(f"{self.__name__}() got {'several values for' if twice else 'an unexpected argument'} {_listed(twice or unknown)}")
        missing = [name for name in self._needed if name not in named and name not in kwargs]
        if missing:
            raise TypeError(f"{self.__name__}() is missing {_listed(missing)}")

    def _key_of(self, named):
        if callable(self.key):
            return self.key(*named.values())
        return tuple([_extent(named.get(name)) for name in self.key])

    def _whole_key(self, named):
        """(device, values of the key, ((parameter, type) …))"""
        return _device(), self._key_of(named), tuple((name, _typeof(self.kernel, value)) for name, value in named.items())

    def _find(self, named, grid):
        key = self._whole_key(named)
        try:
            found = self._found.get(key)
        except TypeError:
            _plain(key[1], "the key")
            raise
        if found is None:
            with self._lock:
                found = self._found.get(key) or self._tune(key, named, grid, self.cache)
        self.best, self.trials = found.config, found.trials
        return found

    # --- tuning ---

    def _pruned(self, named):
        if self.prune is None:
            return list(self.configs)
        kept = list(self.prune(list(self.configs), dict(named)))
        if not kept or any(config not in self._variants for config in kept):
            raise ValueError(f"prune(configs, arguments) returns some of the configurations, at least one, not {kept!r}")
        return kept

    def _tune(self, key, named, grid, cache):
        from pyptx import _winners

        values = _plain(key[1], "the key")
        configs = self._pruned(named)
        if len(configs) == 1:
            found = self._found[key] = _Found(configs[0], self._variants[configs[0]], None)
            return found
        if _pyptx._capturing():
            raise RuntimeError(f"{self.__name__} has not been tuned for these arguments, and trials cannot be captured in a graph\n"
                               "  help: launch it once before, or call .tune(...)")
        name = self._name(key, values, configs) if self.cache else None
        title = self._title(key, values)
        trials = _winners.load(name, len(configs)) if name and cache else None
        cached = trials is not None
        if not cached and name:
            with _winners.locked(name, len(configs) * self.timeout + 60):
                trials = _winners.load(name, len(configs)) if cache else None
                cached = trials is not None
                if not cached:
                    trials = self._measured(configs, named, grid)
                    _winners.store(name, trials, kernel=self.__qualname__, title=title, configs=[repr(c) for c in configs])
        elif not cached:
            trials = self._measured(configs, named, grid)
        table = Trials(title, [Trial(config, *one) for config, one in zip(configs, trials)], cached)
        best = table.best.config
        found = self._found[key] = _Found(best, self._variants[best], table)
        return found

    def _measured(self, configs, named, grid):
        """[(times, error)] of each configuration; RuntimeError where none works."""
        from pyptx import _progress, _trials

        candidates = [_trials.Candidate(self._variants[c], _grid(grid, c), c.block, c.sharedmem) for c in configs]
        names, values = list(named), tuple(named.values())
        restore = None if self.restore is None else [names.index(n) for n in self.restore if n in named]
        zero = [names.index(n) for n in self.reset_to_zero if n in named]
        out = [None] * len(configs)
        progress = _progress.begin(f"autotune {self.__name__}", len(configs))

        def done(n, times, error):
            out[n] = times, error
            if progress:
                progress.done += 1

        try:
            if self.isolate:
                _trials.run_apart(candidates, values, restore, zero, self.timeout, done)
            else:
                _trials.run_here(candidates, values, restore, zero, done)
        finally:
            _progress.end(progress)
        if not any(times for times, _ in out):
            said = "\n".join(f"{config!r}: {error}" for config, (_, error) in zip(configs, out)).replace("\n", "\n  ")
            raise RuntimeError(f"none of the {len(configs)} configurations of {self.__name__} works:\n  {said}")
        return out

    def _name(self, key, values, configs):
        """Of the file that has the trials; None where they cannot be kept."""
        from pyptx import _winners
        from pyptx.cuda._jit import _signature_text

        device, _, types_of = key
        text = _signature_text([t for _, t in types_of])
        keys = [_pyptx._cache_key(self._variants[config], text) for config in configs]
        if None in keys:
            return None
        about = [[config.block, config.sharedmem] for config in configs]
        asked = [None if callable(self.key) else self.key, self.restore, self.reset_to_zero]
        return _winners.name_of(keys, about, asked, list(device), repr(values), [n for n, _ in types_of])

    def _title(self, key, values):
        device, _, types_of = key
        what = ", ".join(f"{name}={value}" for name, value in zip(self.key, values)) if not callable(self.key) else repr(values)
        return f"{self.__name__}({', '.join(map(str, (t for _, t in types_of)))}){f', {what}' if what else ''}, on {device[0]}"


class TunedLauncher:
    """An autotuned kernel with its grid; calling it launches the best configuration, which the first call with a new key finds.

    Example:

        launch = scale.forall(d.size)
        launch(d, e)
    """

    def __init__(self, kernel, grid, stream):
        if not callable(grid):
            _dims(grid, "the grid")
        self.kernel, self.grid, self.stream = kernel, grid, stream

    def _launcher(self, args, kwargs):
        named = self.kernel._named(args, kwargs)
        found = self.kernel._find(named, self.grid)
        config = found.config
        grid = self.grid(config) if callable(self.grid) else self.grid
        return found.kernel.configure(grid, config.block, self.stream, config.sharedmem)

    def __call__(self, *args, **kwargs):
        self._launcher(args, kwargs)(*args, **kwargs)

    def bind(self, *args, **kwargs):
        """The launch with these arguments and the best configuration, as ``kernel[grid, block].bind(…)``: nothing of autotune is between.

        Example:

            again = scale.forall(d.size).bind(d, e)
            again()
        """
        return self._launcher(args, kwargs).bind(*args, **kwargs)

    def tune(self, *args, **kwargs):
        """Tries the configurations now, whatever is known of them, and returns the Trials. The arguments keep their contents.

        Example:

            print(len(scale.forall(d.size).tune(d, e)))     # 2
        """
        kernel = self.kernel
        named = kernel._named(args, kwargs)
        with kernel._lock:
            found = kernel._tune(kernel._whole_key(named), named, self.grid, False)
        kernel.best, kernel.trials = found.config, found.trials
        return found.trials

    def __repr__(self):
        return f"<{self.kernel.__name__} with the grid {self.grid!r}>"


def _tuple(names):
    return (names,) if isinstance(names, str) else tuple(names)


def _grid(grid, config):
    return _dims(grid(config) if callable(grid) else grid, "the grid")


def _extent(value):
    """Of an array its shape, of others the value."""
    value = value.value if isinstance(value, ArgHint) else value
    shape = getattr(value, "shape", None)
    return shape if isinstance(shape, tuple) and shape else value


def _plain(value, what):
    """A value of a key that is the same text in every process."""
    if isinstance(value, (tuple, list)):
        return tuple(_plain(item, what) for item in value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return value
    raise TypeError(f"a key is of numbers, texts, arrays (their shapes) and tuples of these, but {what} has a {type(value).__name__}")


_facts = {}


def _device():
    """What of the current device decides which configuration is the best."""
    device = _pyptx.get_current_device()
    known = _facts.get(device.id if not device.is_host else None)
    if known is None:
        facts = _pyptx._facts()
        if device.is_host:
            known = (device.name, facts["host_threads"])
        else:
            known = (device.name, *device.compute_capability, facts["driver"], device.MULTIPROCESSOR_COUNT)
        _facts[device.id if not device.is_host else None] = known
    return known


def autotune(configs, key=(), *, prune=None, restore=None, reset_to_zero=(), timeout=30.0, isolate=True, cache=True):
    """Finds the fastest of several configurations of a kernel by trying them, once for each key. Goes above ``@cuda.jit``.

    The kernel is launched as ``kernel[grid](…)``: the block is the configuration's, and grid is a number of blocks, or a function of the Config
    that gives one (or a tuple). The first launch with a new key tries the configurations, and every launch with that key takes the fastest.

    Example:

        @cuda.autotune([cuda.Config(block=64, kwargs={"ITEMS": 1}), cuda.Config(block=256, kwargs={"ITEMS": 4})], key=["x"])
        @cuda.jit
        def scale(x, out, ITEMS):
            for k in range(ITEMS):
                i = (cuda.blockIdx.x * ITEMS + k) * cuda.blockDim.x + cuda.threadIdx.x
                if i < x.size:
                    out[i] = 2 * x[i]

        scale[lambda config: -(-d.size // (config.threads * config["ITEMS"]))](d, e)
        print(scale.trials)

    configs: Config objects. key: names of parameters; of an array its shape counts, of others the value; or a function of the arguments that
    returns numbers, texts or tuples of these. The types of the arguments always count.

    prune: a function of the configurations and {parameter: argument} that returns those to try. restore: names of arrays that get their contents
    back before each run, by default those that the kernel writes; reset_to_zero: names of arrays that are zero before each run.

    timeout: seconds that a configuration may take, with its compilation. isolate: the trials run in a process of their own, with copies of the
    arguments, so that a kernel that hangs or crashes ends alone; False: here, in the arrays of the launch. cache: keep what was found in the directory
    of the disk cache, for later processes.

    Times are medians, on a GPU by events and with its L2 cache emptied before each run, on the host device by the clock. A configuration that
    does not compile, fails, hangs or crashes is left out, with its error in ``kernel.trials``; RuntimeError with all of them where none works.
    TypeError and ValueError for wrong configurations and names.
    """
    configs = [configs] if isinstance(configs, Config) or not hasattr(configs, "__iter__") else list(configs)
    if not configs or not all(isinstance(config, Config) for config in configs):
        raise TypeError(f"autotune takes a list of cuda.Config, at least one, not {configs!r}")
    if not isinstance(timeout, (int, float)) or not timeout > 0:
        raise ValueError(f"timeout is a number of seconds, not {timeout!r}")

    def decorate(kernel):
        if not isinstance(kernel, Dispatcher) or kernel.device:
            raise TypeError("@cuda.autotune goes above @cuda.jit, and tunes kernels" if not isinstance(kernel, Dispatcher) else
                            f"{kernel.__name__} is a device function: autotune the kernel that calls it")
        return Autotuned(kernel, configs, key, prune=prune, restore=restore, reset_to_zero=reset_to_zero, timeout=timeout, isolate=isolate, cache=cache)

    return decorate
