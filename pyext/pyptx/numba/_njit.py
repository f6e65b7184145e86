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


def _kernel(name, text, options, **names):
    """The kernel that the text, behind its name, defines."""
    from pyptx import cuda

    exec(f"def {name}{text}", names)
    return cuda.jit(names[name], typing="numba", **options)


# --- declared types: which of several signatures a call has, and arguments as their types. Numba's
# conversions of numbers are C's.

_LIKE = ("exact", "promotion", "safe", "unsafe")


def _is_number(t):
    """Of a type of pyptx's: one number."""
    import numpy as np

    return repr(t) in np.sctypeDict or repr(t) in ("bool", "boolean", "bfloat16")


def _conversion(value, t):
    """How a value becomes the type of a parameter, an index of _LIKE; None: it does not."""
    import numpy as np

    if not _is_number(t):
        dtype = getattr(t, "dtype", None)
        if not hasattr(value, "ndim") or not hasattr(t, "ndim") or not repr(t).endswith("]"):
            return 0  # tuples, dates, records: the launch compares them
        flags, layout = value.flags, getattr(t, "layout", "A")
        laid = layout == "A" or flags["C_CONTIGUOUS" if layout == "C" else "F_CONTIGUOUS"]
        return 0 if value.ndim == t.ndim and np.dtype(value.dtype) == np.dtype(dtype) and laid else None
    if isinstance(value, np.generic):
        have = value.dtype
    elif isinstance(value, (bool, int, float, complex)):
        have = np.dtype(type(value))
    else:
        return None
    if repr(t) == "bfloat16":
        return 3 if have.kind != "c" else None
    want = np.dtype(t)
    if have == want:
        return 0
    if have.kind == "c" and want.kind != "c":
        return None
    if have.kind == want.kind and want.itemsize > have.itemsize:
        return 1
    return 2 if np.can_cast(have, want, "safe") else 3


def _converted(value, t):
    """A number as one of the declared type."""
    import numpy as np

    if not _is_number(t) or repr(t) == "bfloat16":
        return value
    dtype = np.dtype(t)
    if dtype.kind == "b":
        return bool(value)
    if dtype.kind in "iu":
        bits = dtype.itemsize * 8
        number = int(value) & ((1 << bits) - 1)
        return dtype.type(number - (1 << bits) if dtype.kind == "i" and number >> (bits - 1) else number)
    with np.errstate(over="ignore"):
        return dtype.type(value)


class Function:
    """A compiled function: kernels call it, and the host calls it by way of the host device, in one
    thread, with Numba's types.

    Arguments are what kernels take; NumPy arrays are written in place. It returns numbers and
    tuples of them. With signatures, arguments and results are converted to the types of the one
    that fits best, as in C, and TypeError says that none does; arrays must have exactly its types.

    A call raises what a kernel would: pyptx.CompileError for what cannot be compiled, IndexError
    for a wrong index; and, but for error_model="numpy", ZeroDivisionError."""

    def __init__(self, function, options, signatures=()):
        from pyptx import types
        from pyptx._ufunc import says_void, signature_of

        update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = options
        self._given = list(signatures)
        self._declared = [(args, types.void if says_void(given) else result) for given, (args, result) in zip(signatures, map(signature_of, signatures))]
        count = function.__code__.co_argcount
        for given, (args, _) in zip(signatures, self._declared):
            if len(args) != count:
                raise TypeError(f"{function.__name__}() takes {count} argument{'s' * (count != 1)}, but the signature {given} has {len(args)}")
        self._calls, self._device = {}, None
        model = options.get("error_model", "python")
        if model not in ("python", "numpy"):
            raise ValueError(f"error_model is 'python' or 'numpy', not {model!r}")
        fast = options.get("fastmath", False)
        self._options = {"debug": model == "python", **({"fastmath": fast} if fast else {})}

    def __pyptx_function__(self):
        """What kernels call: the Python function, or with signatures one whose arguments and
        result have their types."""
        from pyptx import cuda

        if self._declared and self._device is None:
            texts = [(result(*args) if result is not None else args) for args, result in self._declared]
            self._device = cuda.jit(texts, device=True)(self.py_func)
        return self._device if self._declared else self.py_func

    def __call__(self, *args, **kwargs):
        import numpy as np
        from pyptx import cuda

        bound = signature(self.py_func).bind(*args, **kwargs)
        bound.apply_defaults()
        if bound.kwargs or any(p.kind == p.VAR_POSITIONAL for p in bound.signature.parameters.values()):
            raise TypeError(f"{self.__name__}() has keyword-only or starred parameters, which a compiled function has with Numba installed only")
        args, result = bound.args, None
        if self._declared:
            types, result = self._choose(args)
            args = tuple(map(_converted, args, types))
        with cuda.select_device("host"):
            key = result, tuple(map(_key, args))
            if key not in self._calls:
                self._calls[key] = self._compile(args, result)
            kernel, dtypes, build = self._calls[key]
            out = [np.zeros(1, dtype) for dtype in dtypes]
            kernel[1, 1](*args, *out)
        return build(*(a[0].item() for a in out))

    def _choose(self, args):
        """The signature whose types need the least conversion."""
        def cost(types):
            found = [_conversion(value, t) for value, t in zip(args, types)]
            return None if None in found else [found.count(k) for k in (3, 2, 1)]

        costs = [(cost(types), k) for k, (types, _) in enumerate(self._declared)]
        fitting = [c for c in costs if c[0] is not None]
        if not fitting:
            from pyptx.numba._modules import typeof

            def name(value):
                try:
                    return repr(typeof(value))
                except (AttributeError, TypeError):
                    return type(value).__name__

            raise TypeError(f"No matching definition for argument type(s) {', '.join(map(name, args))}: {self.__name__} has "
                            f"{', '.join(str(s) for s in self._given)}")
        return self._declared[min(fitting)[1]]

    def _compile(self, args, declared):
        """(kernel, dtypes of what it stores, what makes the result of these) for the types of these
        arguments. declared: the type of the result, or None."""
        from pyptx import _pyptx, cuda

        # Errors name the function and its parameters; pyptx's own names are none of theirs.
        names, name = ", ".join(self.py_func.__code__.co_varnames[: len(args)]), self.__name__ if self.__name__.isidentifier() else "kernel"
        probe = _kernel(name, f"({names}): pass", {})  # a launch is what says which types arguments have
        probe[1, 1](*args)
        text = str(probe.signatures[0])
        result = _pyptx._compile(self.py_func, text, "host", None, 0, {"device": True, "typing": "numba", **self._options}, "ssa")["result"]
        nothing = not result or result in ("none", "void")
        if declared is not None and nothing != (repr(declared) in ("none", "void")):
            raise TypeError(f"{self.__name__} returns {result or 'none'}, but its signature says {declared}")
        if nothing:
            return _kernel(name, f"({names}): __f({names})", self._options, __f=self.py_func), [], lambda: None
        leaves = _leaves(_pyptx._type(result), "r")
        if declared is not None:
            wanted = _leaves(declared, "r")
            if [path for path, _ in wanted] != [path for path, _ in leaves]:
                raise TypeError(f"{self.__name__} returns {result}, but its signature says {declared}")
            leaves = wanted  # what is stored in their arrays has their types
        outs = ", ".join(f"__o{i}" for i in range(len(leaves)))
        stores = "".join(f"    __o{i}[0] = {path}\n" for i, (path, _) in enumerate(leaves))
        parameters = f"{names}, {outs}" if names else outs
        kernel = _kernel(name, f"({parameters}):\n    r = __f({names})\n{stores}", self._options, __f=self.py_func)
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
    """The expression that makes a result of its leaves __o0, __o1 …, whose paths are r, r[0], r[1][0]
    …"""
    tree = {}
    for i, (path, _) in enumerate(leaves):
        at, steps = tree, path[1:].strip("[]").split("][")
        for step in steps[:-1]:
            at = at.setdefault(step, {})
        at[steps[-1]] = f"__o{i}"

    def write(node):
        return node if isinstance(node, str) else "(" + "".join(write(item) + "," for item in node.values()) + ")"

    return tree[""] if "" in tree else write(tree)


# _numba.own takes an object of a class of Numba's with a py_func for its function: this class
# stands for Numba's of that name.
Function.__module__ = "numba.core.registry"
Function.__qualname__ = Function.__name__ = "CPUDispatcher"


def jit(signature_or_function=None, *, nopython=True, forceobj=False, locals=None, **options):
    """Numba's decorator: `@jit`, `@jit(signature, nopython=True, parallel=True, …)`. The function
    is compiled for the types of each call, or for those of its signature (text, types, or a list of
    signatures), on one thread; options that only concern speed are accepted. With
    numba.config.DISABLE_JIT it is the Python function. ValueError for forceobj=True: nothing else
    runs as plain Python."""
    from pyptx._ufunc import signatures_of
    from pyptx.numba import _settings

    if forceobj or not nopython:
        raise ValueError("object mode needs an installed Numba: pyptx compiles the function, or raises")
    if locals:
        raise ValueError("locals= needs an installed Numba: write the type where the variable gets its value, as in x = numba.float32(0)")
    if _settings.settings("numba.config").DISABLE_JIT:
        return signature_or_function if isinstance(signature_or_function, type(_key)) else lambda function: function
    if isinstance(signature_or_function, type(_key)):
        return Function(signature_or_function, options)
    signatures = [] if signature_or_function is None else signatures_of(signature_or_function)
    return lambda function: Function(function, options, signatures)


njit = jit
