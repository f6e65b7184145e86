"""Kernels run as Python, thread by thread: PYPTX_DEVICE=python and kernel.py_run (docs/guide/debugging.md).

In: a kernel, grid, block, arguments. Out: the same memory as a compiled launch writes, or the exception of the first thread that raises. The
kernel's own code object runs, so that breakpoint(), pdb and coverage.py work in it.
"""

import os
import sys

import numpy as np

from pyptx import _pyptx, errors
from pyptx._stepping import memory, schedule, translate
from pyptx.cuda._jit import _CHECKS
from pyptx.cuda._kernels import prepared


def _place(name, given):
    """Of thread= and block=, or of their variables: (x, y, z), or None for all."""
    if given is None:
        text = os.environ.get(f"PYPTX_STEP_{name.upper()}")
        if not text:
            return None
        try:
            given = tuple(int(n) for n in text.strip("() ").split(","))
        except ValueError:
            raise ValueError(f"PYPTX_STEP_{name.upper()} is '{text}': write x, y and z, as 3,0,0") from None
    given = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not 1 <= len(given) <= 3 or not all(hasattr(n, "__index__") for n in given):
        raise TypeError(f"{name} is an int or a tuple of up to three, not {given!r}")
    return (*(n.__index__() for n in given), 0, 0)[:3]


def _inside(name, place, dims):
    if place is not None and not all(0 <= p < n for p, n in zip(place, dims)):
        raise ValueError(f"{name}={place} is not in a launch with {dims} of them")


_LARGEST = {"grid": (2**31 - 1, 65535, 65535), "block": (1024, 1024, 64)}


def _fits(kernel, grid, block):
    """A launch that no device takes is none here."""
    for name, dims in (("grid", grid), ("block", block)):
        if any(n > most for n, most in zip(dims, _LARGEST[name])):
            raise ValueError(f"kernel '{kernel.__name__}': the {name} {tuple(dims)} is too large: devices allow {_LARGEST[name]}")
    threads = block[0] * block[1] * block[2]
    if threads > 1024:
        raise ValueError(f"kernel '{kernel.__name__}': {threads} threads a block; devices allow 1024\n  help: use fewer threads a block and more blocks")


def _takes(kernel, values):
    """Refuses what a compiled launch would, in the same words: of Python's own types and NumPy's
    arrays. Arrays of other libraries may be on a device that is not the current one."""
    for name, x in values:
        if isinstance(x, (list, dict, set, str, tuple, np.ndarray)):
            try:
                kernel._typeof(x)
            except (TypeError, OverflowError) as error:
                raise type(error)(str(error).replace("argument 1", f"argument '{name}'", 1)) from None


def _declared(kernel, args):
    """The arguments as the types that the kernel was declared with."""
    for text in kernel.declared_signatures:
        types = _pyptx._type(f"void{text}").args if text.strip("(,)") else ()
        if len(types) == len(args):
            return [_as_type(x, t) for x, t in zip(args, types)]
    return args


def _as_type(x, t):
    weak = {"pybool": bool, "pyint": int, "pyfloat": float, "pycomplex": complex}.get(str(t))
    if not isinstance(x, (bool, int, float, complex, np.generic)) or isinstance(x, np.void):
        return x
    if weak:
        return weak(x)
    try:
        dtype = np.dtype(str(t).replace("boolean", "bool"))
    except TypeError:
        return x
    return memory.convert(x, dtype)


def _bound(kernel, args, keywords):
    """Positional arguments, in the order of the parameters, and those by keyword only."""
    import inspect

    if not keywords:
        return list(args), {}
    bound = inspect.signature(kernel.py_func).bind(*args, **keywords)
    return list(bound.args), bound.kwargs


def _debug(header=None):
    """pdb in the caller."""
    _debug_at(sys._getframe(1), header)


def _debug_at(frame, header):
    """pdb in a frame; it steps over the functions of pyptx."""
    import pdb

    debugger = pdb.Pdb(skip=["pyptx", "pyptx.*"])
    if header is not None:
        debugger.message(header)
    debugger.set_trace(frame)


class _SetTrace:
    """pdb.set_trace in kernels."""

    here = True

    def __call__(self, *, header=None):
        if self.here:
            _debug_at(sys._getframe(1), header)


def _pass_by(*args, **keywords):
    """A breakpoint in a thread that nobody asked for."""


class _Breakpoints:
    """breakpoint() and pdb.set_trace() stop in one thread, if one is asked for."""

    def __init__(self, translator, thread, block):
        self._translator, self._thread, self._block = translator, thread, block
        self._per_thread = translator.per_thread
        own = sys.breakpointhook is not sys.__breakpointhook__ or os.environ.get("PYTHONBREAKPOINT")
        self._stop = translator.builtins["breakpoint"] if own else _debug
        translator.set_trace = self._set_trace = _SetTrace()

    def enter(self, t):
        here = (self._thread is None or t.index == self._thread) and (self._block is None or t.block.index == self._block)
        self._translator.builtins["breakpoint"] = self._stop if here else _pass_by
        self._set_trace.here = here
        for scope, name, value in self._per_thread:
            scope[name] = value.read()


def _refuse(cluster):
    if cluster is not None and tuple(cluster) != (1, 1, 1):
        raise NotImplementedError("clusters are not part of runs in Python: launch without a cluster, or with PYPTX_DEVICE=host")


def run(kernel, grid, block, args, keywords, dynamic_shared=0, thread=None, only_block=None, checks=0):
    """Runs a kernel; grid and block are (x, y, z)."""
    thread, only_block = _place("thread", thread), _place("block", only_block)
    _inside("thread", thread, block)
    _inside("block", only_block, grid)
    if kernel._made[1].get("numba_typing"):
        errors.advise("PT818", kernel.__name__)
    translator = translate.Translator()
    _fits(kernel, grid, block)
    args, by_name = _bound(kernel, args, keywords)
    names = kernel.py_func.__code__.co_varnames[: kernel.py_func.__code__.co_argcount]
    _takes(kernel, [*zip((*names, *("*" for _ in args)), args), *by_name.items()])
    args = [translator.argument(x) for x in _declared(kernel, args)]
    by_name = {name: translator.argument(x) for name, x in by_name.items()}
    breakpoints = _Breakpoints(translator, thread, only_block)
    function = translator.value(kernel.py_func)
    launched = schedule.Run(grid, block, function, args, by_name, breakpoints.enter)
    launched.dynamic_shared = dynamic_shared
    launched.strict = bool((kernel._made[1].get("check", 0) | checks) & _CHECKS["sync"])
    try:
        launched.launch()
    finally:
        for finish in translator.after:
            finish()


def launch(launcher, args, keywords):
    """kernel[grid, block](…) under PYPTX_DEVICE=python."""
    kernel, grid, block = launcher.dispatcher, launcher.griddim, launcher.blockdim
    _refuse(launcher.cluster)
    _, how = launcher.__reduce__()
    if len(how) == 4:  # forall: tasks, threads a block
        tasks, threads = how[0], how[1] or 128
        grid, block = (-(-tasks // threads), 1, 1), (threads, 1, 1)
    if launcher.stream is not None:
        launcher.stream.synchronize()
    run(kernel, grid, block, args, keywords, how[3], checks=_pyptx._checking_here())


class Bound:
    """What kernel[grid, block].bind(…) is under PYPTX_DEVICE=python."""

    def __init__(self, launcher, args, keywords):
        self._launcher, self._keywords = launcher, keywords
        self.arguments = (*args, *keywords.values())
        self._args = args

    def __call__(self):
        self._launcher(*self._args, **self._keywords)


def is_own(kernel):
    """Is it a kernel of pyptx's library, or one made for cuda.vectorize and the like: they run compiled."""
    function = kernel.py_func
    return (function.__globals__.get("__name__") or "").partition(".")[0] == "pyptx" or function.__code__.co_filename.startswith("<pyptx: ")


def py_run(kernel, griddim, blockdim, /, *args, thread=None, block=None, sharedmem=0, **keywords):
    """kernel.py_run(…)"""
    launcher = kernel.configure(griddim, blockdim, 0, sharedmem)
    _pyptx.synchronize()
    retr = []
    if kernel.extensions:
        args = [prepared(kernel, x, 0, retr)[1] for x in args]
        keywords = {name: prepared(kernel, x, 0, retr)[1] for name, x in keywords.items()}
    before = _pyptx._compiled_here(1)
    try:
        run(kernel, launcher.griddim, launcher.blockdim, args, keywords, sharedmem, thread, block, _pyptx._checking_here())
    finally:
        _pyptx._compiled_here(before)
    for finish in retr:
        finish()
