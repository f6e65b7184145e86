"""njit and jit where Numba is not installed: functions that kernels call, and that the host calls
by way of the host device."""

from functools import update_wrapper
from inspect import signature

prange = range


def _leaves(result, path):
    """The numbers in a result, as pairs of an expression and a type. TypeError for an array, which
    would outlive the call."""
    from pyptx import _pyptx

    text = str(result)
    if text.endswith("]") or text.startswith(("record(", "Point")):
        raise TypeError(f"a compiled function cannot return {text} to the host without Numba installed: pass an array that it writes")
    if not text.startswith("("):
        return [(path, result)]
    items, depth, start = [], 0, 1
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if (c == "," and depth == 1) or (c == ")" and depth == 0):
            if text[start:i].strip():
                items.append(text[start:i].strip())
            start = i + 1
    return [leaf for i, item in enumerate(items) for leaf in _leaves(_pyptx._type(item), f"{path}[{i}]")]


def _key(value):
    """What the type of an argument depends on."""
    if isinstance(value, tuple):
        return (type(value), *map(_key, value))
    flags = getattr(value, "flags", None)
    if flags is None or not hasattr(value, "ndim"):
        return type(value), getattr(value, "dtype", None)
    return type(value), value.dtype, value.ndim, flags["C_CONTIGUOUS"], flags["F_CONTIGUOUS"]


def _kernel(text, **names):
    from pyptx import cuda

    exec(text, names)
    return cuda.jit(names["kernel"], typing="numba")


class Function:
    """A compiled function: kernels call it, and the host calls it by way of the host device, in one
    thread, with Numba's types.

    Arguments are what kernels take; NumPy arrays are written in place. It returns numbers and
    tuples of them. A call raises what a kernel would: pyptx.CompileError for what cannot be
    compiled, IndexError for a wrong index."""

    def __init__(self, function, options):
        update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = options
        self._calls = {}

    def __call__(self, *args, **kwargs):
        import numpy as np
        from pyptx import cuda

        bound = signature(self.py_func).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs or any(p.kind == p.VAR_POSITIONAL for p in bound.signature.parameters.values()):
            raise TypeError(f"{self.__name__}() has keyword-only or starred parameters, which a compiled function has with Numba installed only")
        args = bound.args
        with cuda.select_device("host"):
            key = tuple(map(_key, args))
            if key not in self._calls:
                self._calls[key] = self._compile(args)
            kernel, dtypes, build = self._calls[key]
            out = [np.zeros(1, dtype) for dtype in dtypes]
            kernel[1, 1](*out, *args)
        return build(*(a[0].item() for a in out))

    def _compile(self, args):
        """(kernel, dtypes of what it stores, what makes the result of these) for the types of these
        arguments."""
        from pyptx import _pyptx, cuda

        names = ", ".join(f"a{i}" for i in range(len(args)))
        probe = _kernel(f"def kernel({names}): pass")  # a launch is what says which types arguments have
        probe[1, 1](*args)
        text = str(probe.signatures[0])
        result = _pyptx._compile(self.py_func, text, "host", None, 0, {"device": True, "typing": "numba"}, "ssa")["result"]
        if not result or result in ("none", "void"):
            return _kernel(f"def kernel({names}): f({names})", f=self.py_func), [], lambda: None
        leaves = _leaves(_pyptx._type(result), "r")
        outs = ", ".join(f"o{i}" for i in range(len(leaves)))
        stores = "".join(f"    o{i}[0] = {path}\n" for i, (path, _) in enumerate(leaves))
        kernel = _kernel(f"def kernel({outs}, {names}):\n    r = f({names})\n{stores}", f=self.py_func)
        space = {}
        exec("def build(" + outs + "): return " + _rebuilt(leaves), space)
        return kernel, [cuda.device_array(1, leaf).dtype for _, leaf in leaves], space["build"]

    def __reduce__(self):
        return _reference, (self.__module__, self.__qualname__)


def _reference(module, qualname):
    from importlib import import_module
    from operator import attrgetter

    return attrgetter(qualname)(import_module(module))


def _rebuilt(leaves):
    """The expression that makes a result of its leaves o0, o1 …, whose paths are r, r[0], r[1][0]
    …"""
    tree = {}
    for i, (path, _) in enumerate(leaves):
        at, steps = tree, path[1:].strip("[]").split("][")
        for step in steps[:-1]:
            at = at.setdefault(step, {})
        at[steps[-1]] = f"o{i}"

    def write(node):
        return node if isinstance(node, str) else "(" + "".join(write(item) + "," for item in node.values()) + ")"

    return tree[""] if "" in tree else write(tree)


# _numba.own takes an object of a class of Numba's with a py_func for its function: this class
# stands for Numba's of that name.
Function.__module__ = "numba.core.registry"
Function.__qualname__ = Function.__name__ = "CPUDispatcher"


def jit(signature_or_function=None, *, nopython=True, forceobj=False, **options):
    """Numba's decorator: `@jit`, `@jit(signature, nopython=True, parallel=True, …)`. The function
    is compiled for the types of each call, on one thread; signatures, and options that only concern
    speed, are accepted. ValueError for forceobj=True: nothing runs as plain Python."""
    if forceobj or not nopython:
        raise ValueError("object mode needs an installed Numba: pyptx compiles the function, or raises")
    if isinstance(signature_or_function, type(_key)):
        return Function(signature_or_function, options)
    return lambda function: Function(function, options)


njit = jit
