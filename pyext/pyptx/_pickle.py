"""Pickling kernels and device arrays: what their __reduce__ returns, and what is called where they are loaded.

A kernel of an importable module is pickled as its name, as functions are. One of a notebook or of __main__ is pickled as its name by pickle
(a worker started with "spawn" runs the main module again), and by value, with its function, under cloudpickle and dill. A __reduce__ is
not told which of them asks; but their picklers are Python classes, so the frame that called it is a method of one.

One that was made in a function has no name that finds it. It is pickled by value: its function as code, with its closure and defaults, for the
same CPython; the globals are those of its module where it is loaded.
"""

import importlib
import marshal
import os
import sys
import threading
import uuid
import weakref
from types import CellType, FunctionType

import numpy

from pyptx._pyptx import Dispatcher

_lock = threading.Lock()
_tokens = weakref.WeakKeyDictionary()  # kernel → what it is known by in all processes
_known = weakref.WeakValueDictionary()  # and back: a kernel that comes twice is compiled once
_recent = []  # keeps the last of those that came, since a worker drops each between two tasks
_KEPT = 64


def _new_lock():
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_new_lock)  # another thread may have held it


def _find(module, qualname):
    """The object that this name stands for, or None."""
    found = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _by_value_module(module):
    """Is it one whose content cloudpickle sends along."""
    if module == "__main__":
        return True
    cloudpickle = sys.modules.get("cloudpickle")
    names = getattr(cloudpickle, "list_registry_pickle_by_value", set)()
    return any(module == name or module.startswith(name + ".") for name in names)


def _sends_functions(frame):
    """Is this a frame of a pickler that sends functions by value: cloudpickle, a copy of it inside another package, or dill."""
    pickler = type(frame.f_locals.get("self"))
    return any({"cloudpickle", "dill"} & set(c.__module__.split(".")) for c in pickler.__mro__)


def reduce_kernel(kernel):
    """Dispatcher.__reduce__."""
    module, qualname = kernel.__module__, kernel.__qualname__
    by_name = module and not _by_value_module(module) and _find(module, qualname) is kernel
    by_value = _sends_functions(sys._getframe(1))
    if by_name or not (by_value or is_local(kernel.py_func)):
        return qualname
    signatures, options = kernel._made
    function = kernel.py_func if by_value else LocalFunction(kernel.py_func)
    attributes = {name: function if value is kernel.py_func else value for name, value in vars(kernel).items()}
    return _rebuild, (_token(kernel), function, signatures, options, attributes)


def is_local(function):
    """Was it made in a function of a module, so that its name does not find it."""
    return isinstance(function, FunctionType) and "<locals>" in function.__qualname__ and function.__module__ is not None


class LocalFunction:
    """A function made in a function, as plain pickle can send it; loaded, it is the function."""

    def __init__(self, function):
        self.function = function

    def __reduce__(self):
        f = self.function
        sent = [(cell.cell_contents,) if cell_is_set(cell) else () for cell in f.__closure__ or ()]
        cells = [tuple(LocalFunction(x) if is_local(x) else x for x in cell) for cell in sent]
        return _local_function, (f.__module__, marshal.dumps(f.__code__), f.__name__, f.__qualname__, f.__defaults__, f.__kwdefaults__, cells)


def cell_is_set(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _local_function(module, code, name, qualname, defaults, kwdefaults, cells):
    scope = vars(sys.modules.get(module) or importlib.import_module(module))
    function = FunctionType(marshal.loads(code), scope, name, defaults, tuple(CellType(*cell) for cell in cells))
    function.__qualname__, function.__module__, function.__kwdefaults__ = qualname, module, kwdefaults
    return function


def _token(kernel):
    with _lock:
        token = _tokens.get(kernel)
        if token is None:
            token = _tokens[kernel] = uuid.uuid4().hex
            _known[token] = kernel
        return token


def _rebuild(token, function, signatures, options, attributes):
    """The kernel of that token: made of the function, unless it has come before."""
    with _lock:
        kernel = _known.get(token)
        if kernel is None:
            kernel = Dispatcher(function, signatures, **options)
            vars(kernel).update(attributes)
            _tokens[kernel] = token
            _known[token] = kernel
        if kernel in _recent:
            _recent.remove(kernel)
        _recent.append(kernel)
        dropped = _recent[:-_KEPT]
        del _recent[:-_KEPT]
    del dropped  # outside of the lock: what they hold may be anything
    return kernel


def reduce_array(array):
    """DeviceArray.__reduce__: its elements, which become an array of the current device where they are loaded. With protocol 5 they can be a buffer
    beside the pickle, which on the host device is the array's own memory."""
    return _array, (host_values(array),)


def host_values(array):
    """The elements as a NumPy array: on the host device its own memory where NumPy can have it and it is contiguous, else a
    copy."""
    if array.device.is_host and is_number(array.dtype):
        values = numpy.from_dlpack(array)
        if values.flags.forc:
            return values
    return array.copy_to_host()


def is_number(dtype):
    """Does NumPy exchange arrays of this dtype through DLPack: not bfloat16, records and dates."""
    return dtype.kind in "biufc" and dtype.isbuiltin == 1


def _array(values):
    from pyptx._pyptx import to_device

    return to_device(values)
