"""`with cuda.checking(…)`: launches run checked variants of their kernels on the host device."""

import functools
import operator

from pyptx import _pyptx
from pyptx.cuda._jit import _CHECKS, _CHECKS_OF_PROGRAM, check_bits


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
        self._before = []

    def __enter__(self):
        if self._bits & _CHECKS["init"]:
            _pyptx._watch_unset(1)
        before = _pyptx._checking(0)
        self._before.append(before)
        _pyptx._checking(before | self._bits)
        return self

    def __exit__(self, *error):
        _pyptx._checking(self._before.pop())
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
    try:
        if _pyptx.get_current_device().is_host:
            make, how = launcher.__reduce__()
            launcher = getattr(_variant(launcher.dispatcher, bits), make.__name__)(*how)
        else:
            from pyptx.errors import advise

            advise("PT817", launcher.dispatcher.__name__)
        return do(launcher)
    finally:
        _pyptx._checking(bits)
