"""`with cuda.checking(…)`: launches run checked variants of their kernels on the host device."""

import functools
import operator
import threading

from pyptx import _pyptx
from pyptx.cuda._jit import _CHECKS, _CHECKS_OF_PROGRAM, check_bits


_here = threading.local()  # .blocks: [checks] of each block that this thread is in, the first one first


def _blocks():
    return _here.__dict__.setdefault("blocks", [])


def _show(blocks):
    _pyptx._checking(functools.reduce(operator.or_, (bits for (bits,) in blocks), 0))


class checking:
    """Looks for mistakes in the kernels that this thread launches in a ``with`` block, on the host device (docs/guide/debugging.md).

    ``checks`` are names: "race", "sync", "init", "nan", "overflow" (as ``check=`` takes them, "race,sync" too);
    none: the first three. What is found is raised by the launch, as
    RaceError, SyncError, UnsetError, NonFiniteError or WrapError of pyptx.errors, which are CheckErrors; the next launch works. Kernels are
    compiled once more for it. On a GPU kernels run unchecked, and Advice PT817 says so once. Launches that were bound, or captured in a
    graph, before the block are not checked; those bound in it are, wherever they are launched. ValueError: an unknown name.

    Example:

        with cuda.checking("race", "sync", "init"):
            double[1, 256](d)
    """

    def __init__(self, *checks):
        self._bits = functools.reduce(operator.or_, map(check_bits, checks)) if checks else check_bits(True)
        self._entered = []

    def __enter__(self):
        if self._bits & _CHECKS["init"]:
            _pyptx._watch_unset(1)
        blocks, entry = _blocks(), [self._bits]
        blocks.append(entry)
        self._entered.append((blocks, entry))
        _show(blocks)
        return self

    def __exit__(self, *error):
        here = _blocks()
        mine = [k for k, (blocks, _) in enumerate(self._entered) if blocks is here] or range(len(self._entered))
        if not mine:
            raise RuntimeError("cuda.checking: the block ends that has not begun: write `with cuda.checking(…):`")
        blocks, entry = self._entered.pop(mine[-1])
        blocks[:] = [b for b in blocks if b is not entry]  # coroutines' may end in any order
        if blocks is here:
            _show(blocks)
        if self._bits & _CHECKS["init"]:
            _pyptx._watch_unset(-1)


def _variant(kernel, bits):
    """The kernel with these checks besides its own: one for each set of them."""
    signatures, fields = kernel._made
    bits |= fields.get("check", 0) & ~_CHECKS_OF_PROGRAM
    made = kernel.__dict__.setdefault("_checked", {})
    if bits not in made:
        variant = type(kernel)(kernel.py_func, signatures, **{**fields, "check": bits})
        for signature in signatures:
            variant.compile(signature)
        made.setdefault(bits, variant)
    return made[bits]


def bind(launcher, /, *args, **kwargs):
    """launcher.bind(…) in such a block, whose checks the bound launch keeps, or under PYPTX_DEVICE=python."""
    if _pyptx._in_python():
        from pyptx import _stepping

        return _stepping.Bound(launcher, args, kwargs)
    return _with_checks(launcher, lambda checked: checked.bind(*args, **kwargs))


def _launch_in_python(launcher, args, kwargs):
    """A launch under PYPTX_DEVICE=python."""
    from pyptx import _stepping

    _pyptx._compiled_here(1)
    try:
        run = launcher if _stepping.is_own(launcher.dispatcher) else None
        return run(*args, **kwargs) if run else _stepping.launch(launcher, args, kwargs)
    finally:
        _pyptx._compiled_here(0)


def launch(launcher, /, *args, **kwargs):
    """A launch in such a block, or under PYPTX_DEVICE=python."""
    if _pyptx._in_python():
        return _launch_in_python(launcher, args, kwargs)
    return _with_checks(launcher, lambda checked: checked(*args, **kwargs))


def _with_checks(launcher, do):
    bits = _pyptx._checking(0)
    blocks, _here.blocks = _blocks(), []  # signal handlers and __del__ may come to blocks of their own
    try:
        if _pyptx.get_current_device().is_host:
            make, how = launcher.__reduce__()
            launcher = getattr(_variant(launcher.dispatcher, bits), make.__name__)(*how)
        else:
            from pyptx.errors import advise

            advise("PT817", launcher.dispatcher.__name__)
        return do(launcher)
    finally:
        _here.blocks = blocks
        _pyptx._checking(bits)
