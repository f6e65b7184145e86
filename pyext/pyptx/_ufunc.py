"""@vectorize: functions of numbers as functions of arrays, with NumPy's broadcasting.

A UFunc has a loop for each signature (or for each types of arguments it is called with), and a loop
has the kernels that `_elementwise` makes. The plans of earlier calls are found by one look-up with
what C says of the arguments; all else is the long way.
"""

import warnings
import weakref

from pyptx import _pyptx
from pyptx._elementwise import Kernels, Plan, Work, common_shape, is_array, order_of, stretched
from pyptx._options import OPTIONS
from pyptx._pyptx import Dispatcher, Signature, Type, _layouts, device_array

_PLANS = 512  # that a UFunc keeps
_PYTHONS = {"pybool": bool, "pyint": int, "pyfloat": float, "pycomplex": complex}
NO_MATCH = "No matching version.  GPU ufunc requires array arguments to have the exact types.  This behaves like regular ufunc with casting='no'."
AMBIGUOUS = "Failed to resolve ufunc due to ambiguous signature. Too many untyped scalars. Use numpy dtype object to type tag."


def dtype_of(kind):
    """NumPy's dtype of a Type, a number's or an array's element's."""
    import numpy as np

    return np.dtype(_PYTHONS.get(repr(kind)) or (kind.dtype if repr(kind).endswith("]") and not is_date(kind) else kind))


def is_date(kind):
    return repr(kind).startswith(("datetime64", "timedelta64")) and repr(kind).count("[") == 1


def signature_of(signature):
    """(types of the arguments, type of the result or None) of what users write: text, a signature,
    a tuple of types."""
    signature = _pyptx._own(signature)
    if isinstance(signature, (tuple, list)):
        from pyptx.cuda._jit import _signature_text

        signature = _signature_text(signature)
    if isinstance(signature, str):
        signature = _pyptx._type(signature if not signature.lstrip().startswith("(") else f"none{signature.strip()}")
    if not isinstance(signature, Signature):
        raise TypeError(f"a signature is like 'float32(float32, float32)', not {signature!r}")
    return tuple(signature.args), signature.return_type if repr(signature.return_type) != "none" else None


def says_void(signature):
    """Does what a user writes name no result: "void(…)"."""
    signature = _pyptx._own(signature)
    return isinstance(signature, (str, Signature)) and str(signature).lstrip().startswith(("void", "none"))


def signatures_of(given):
    if isinstance(given, (str, Type, Signature)) or (isinstance(given, tuple) and given and all(isinstance(_pyptx._own(t), Type) for t in given)):
        return [given]
    if not hasattr(given, "__iter__"):
        raise TypeError(f"signatures are text, types or a list of them, not {given!r}")
    return list(given)


def plain(function, name):
    """The Python function of what a decorator gets."""
    from pyptx.cuda._jit import _plain_function

    try:
        return _plain_function(function)
    except TypeError as error:
        raise TypeError(str(error).replace("@cuda.jit", f"@{name}")) from None


def result_type(function, texts, options):
    """The type of what a function of arguments of these types (texts of signatures) returns."""
    from pyptx.cuda._jit import _arch

    host = _pyptx.get_current_device().is_host
    out = _pyptx._compile(function, f"({', '.join(texts)})", "host" if host else "nvptx", "" if host else _arch(None), 0,
                          {**options, "device": True}, "ssa")
    return _pyptx._type(out.get("result") or "none")


_SAMPLES = {"pybool": True, "pyint": 1, "pyfloat": 1.0, "pycomplex": 1j}


def dates_result(function, kinds):
    """The dtype of a result of dates, which the compiler counts in int64 and so does not tell: that
    of the function of NumPy's numbers, whose types kernels have. kinds: dtypes, or types of Python
    numbers as text. None for int64."""
    import numpy as np

    try:
        result = function(*(_SAMPLES[k] if isinstance(k, str) else np.ones(1, "i8").astype(k)[0] for k in kinds))
    except MemoryError:
        raise
    except Exception as error:
        raise TypeError(f"@vectorize: the type of what {function.__name__} gives for ({', '.join(map(str, kinds))}) is not known without a signature, as "
                        f"\"datetime64[s](datetime64[s], int64)\": in Python it raises {type(error).__name__}") from None
    return result.dtype if isinstance(result, (np.datetime64, np.timedelta64)) else None


class Loop:
    """A ufunc's kernels for arguments of given types. inputs: dtypes, or for a Python number its
    type's text."""

    def __init__(self, core, inputs, result, name, options, casts=None):
        """casts: for each input what of a dtype gives a function that makes a number one of it."""
        self.core, self.inputs, self.result, self.name, self.options = core, inputs, result, name, options
        self.casts = casts or [cast_to_dtype] * len(inputs)
        self.kernels = {}  # by which inputs are numbers

    def kernels_for(self, arrays):
        found = self.kernels.get(arrays)
        return found if found is not None else self.kernels.setdefault(arrays, self._make(arrays))

    def _make(self, arrays):
        names = [f"a{k}" for k in range(len(arrays))]

        def body(index):
            return f"out[{index}] = core({', '.join(f'{n}[{index}]' if array else n for n, array in zip(names, arrays))})"

        return Kernels(self.name, ["out", *names], ["out", *(n for n, array in zip(names, arrays) if array)], body, {"core": self.core}, self.options)


def cast_to_dtype(dtype):
    import numpy as np

    def cast(value):
        return np.asarray(value, dtype)[()]

    return cast


class UFunc:
    """A function of numbers that works on arrays, element by element: what ``@vectorize`` makes.

    ``f(a, b, out=None, stream=0)``: arrays of any shapes that broadcast, of NumPy,
    ``cuda.to_device``, CuPy, PyTorch or anything with ``__cuda_array_interface__`` or DLPack, and
    numbers. The result is in the memory of the device if an argument is, of the same kind as the
    first such one; else it is a NumPy array, or a NumPy number if all arguments are numbers.
    ``out`` is returned if it is given.

    TypeError: no signature has the types of the arguments, or more than one has; ValueError: the
        shapes do not broadcast.

    ``nin`` inputs and ``nout`` output; ``types`` as NumPy's ufuncs have them (``"ff->f"``);
    ``max_blocksize`` threads a block at most.
    """

    nout = 1

    def __init__(self, function, signatures=(), identity=None, host=False, options=None):
        from pyptx.cuda._jit import _read_options

        self.py_func = self.__wrapped__ = plain(function, "vectorize")
        code = self.py_func.__code__
        self.nin = code.co_argcount
        if not self.nin or code.co_flags & 0x0C or code.co_kwonlyargcount:
            raise TypeError(f"@vectorize: {self.py_func.__name__} must take one or more positional arguments, each a number")
        self.__name__, self.__qualname__ = self.py_func.__name__, self.py_func.__qualname__
        self.__module__, self.__doc__ = self.py_func.__module__, self.py_func.__doc__
        self.identity, self._most = identity, 1 << 30
        self._host, self._options = host, options or {}
        _read_options(self._options)
        self._declared, self._inferred, self._plans, self._reductions, self._in_kernels = {}, {}, {}, {}, None
        self._signatures = list(signatures)
        for signature in signatures:
            self._declare(signature)
        self._static = bool(self._declared)

    def _declare(self, signature):
        from pyptx.cuda._jit import jit

        args, result = signature_of(signature)
        if says_void(signature):
            raise TypeError(f"@vectorize: {self.__name__} must return one number, but the signature {signature} has no result; @guvectorize takes such")
        if len(args) != self.nin:
            raise TypeError(f"@vectorize: {self.__name__} takes {self.nin} argument{'s' * (self.nin > 1)}, but the signature {signature} has {len(args)}")
        if any(repr(t).endswith("]") and not is_date(t) for t in args):
            raise TypeError(f"@vectorize: the function gets elements, but the signature {signature} has arrays; @guvectorize takes these")
        inputs = tuple(dtype_of(t) for t in args)
        found = self._result(inputs)  # compiles the function, so that its errors show where it is decorated
        result = _pyptx.from_dtype(found) if result is None else result
        core = jit(result(*args), device=True, **self._options)(self.py_func)
        self._declared[inputs] = Loop(core, inputs, dtype_of(result), self.__name__, self._options)

    def _result(self, kinds):
        """The dtype of the result for arguments of these dtypes, or types of Python numbers as
        text."""
        result = result_type(self.py_func, [k if isinstance(k, str) else repr(_pyptx.from_dtype(k)) for k in kinds], self._options)
        if repr(result) in ("none", "void") or repr(result).startswith(("(", "enum")):
            raise TypeError(f"@vectorize: {self.__name__} must return one number, not {result!r}")
        dates = repr(result) == "int64" and any(not isinstance(k, str) and k.kind in "mM" for k in kinds)
        return dates and dates_result(self.py_func, kinds) or dtype_of(result)

    def __repr__(self):
        return f"<ufunc '{self.__name__}'>"

    def __pyptx_function__(self):
        """What kernels call: the Python function, or with signatures one that has their types."""
        from pyptx.cuda._jit import jit

        if not self._static:
            return self.py_func
        if self._in_kernels is None:
            self._in_kernels = jit([_pyptx.from_dtype(loop.result)(*map(_pyptx.from_dtype, loop.inputs)) for loop in self._declared.values()], device=True,
                                   **self._options)(self.py_func)
        return self._in_kernels

    def __reduce__(self):
        from pyptx._pickle import LocalFunction, is_local

        if not is_local(self.py_func):
            return self.__qualname__
        return UFunc, (LocalFunction(self.py_func), self._signatures, self.identity, self._host, self._options)

    @property
    def max_blocksize(self):
        """Threads of a block at most; it can be set."""
        return self._most

    @max_blocksize.setter
    def max_blocksize(self, threads):
        self._most = threads
        self._plans.clear()

    @property
    def nargs(self):
        """Inputs and outputs."""
        return self.nin + self.nout

    @property
    def types(self):
        """As NumPy's ufuncs have them: "ff->f"."""
        loops = list(self._declared.values()) or [loop for loop in self._inferred.values() if not any(isinstance(t, str) for t in loop.inputs)]
        return [f"{''.join(t.char for t in loop.inputs)}->{loop.result.char}" for loop in loops]

    @property
    def ntypes(self):
        """How many types there are."""
        return len(self.types)

    def __call__(self, *args, out=None, stream=0, **unknown):
        key = _layouts(out, *args)
        plan = self._plans.get(key)
        if plan is None or unknown:
            return self._on_device(self._long_call, args, out, stream, key, unknown)
        if out is None:
            shape, dtype, order = plan.result
            out = device_array(shape, dtype, order=order, stream=stream)
        plan.run([out, *args], stream)
        return out

    def _on_device(self, work, *args):
        if not self._host:
            return work(*args)
        with _pyptx.select_device("host"):
            return work(*args)

    def _arguments(self, args, out, unknown):
        """(inputs, out): with the defaults of inputs that are left out, and an output behind all
        inputs."""
        if unknown:
            raise TypeError(f"{self.__name__}() takes out= and stream=, not {', '.join(f'{name}=' for name in unknown)}")
        if isinstance(out, tuple) and len(out) == 1:
            out = out[0]
        if len(args) == self.nin + 1 and out is None:
            args, out = args[:-1], args[-1]
        missing = self.nin - len(args)
        if 0 < missing <= len(self.py_func.__defaults__ or ()):
            args = (*args, *self.py_func.__defaults__[-missing:])
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} argument{'s' * (self.nin > 1)}, and out=, but {len(args)} were given")
        return args, out

    def _long_call(self, args, out, stream, key, unknown):
        given = args
        args, out = self._arguments(args, out, unknown)
        work = Work(args, stream)
        return self._compute(work, self._loop(work.values), out, key if given is args and not self._host else None)

    def _compute(self, work, loop, out, key):
        """What the kernels of `loop` give for the operands. key: of _layouts, under which the plan
        is kept, or None."""
        shapes = [v.shape for v in work.arrays()]
        shape = common_shape(self.__name__, [*shapes, *([tuple(out.shape)] if hasattr(out, "shape") else ())])
        if hasattr(out, "shape") and tuple(out.shape) != shape:
            raise ValueError(f"{self.__name__}: the arguments broadcast to {shape}, but out has the shape {tuple(out.shape)}")
        work.bring()
        order = order_of(shape, work.arrays())
        target, finish = work.output(self.__name__, out, shape, loop.result, order)
        if loop.result != target.dtype and out is None:
            raise TypeError(f"{self.__name__}: device arrays cannot hold {loop.result}")
        plan = self._plan(loop, shape, target, work.values, order)
        plan.run([target, *work.values], work.stream, tuple(work.originals))
        if key is not None and not plan.empty:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return finish()

    def _plan(self, loop, shape, target, values, order):
        arrays = [is_array(v) for v in values]
        strides = [tuple(target.strides), *(stretched(v.shape, v.strides, shape) if array else None for v, array in zip(values, arrays))]
        lies = [(tuple(v.shape), tuple(v.strides)) if is_array(v) else None for v in (target, *values)]
        casts = [None, *(None if array else self._checked(loop) if t == "pyint" else None if isinstance(t, str) else cast_to(t)
                         for t, array, cast_to in zip(loop.inputs, arrays, loop.casts))]
        return Plan(loop.kernels_for(tuple(arrays)), shape, strides, lies, casts, (shape, target.dtype, order), self._most,
                    [v.dtype.itemsize for v in (target, *values) if is_array(v)])

    def _checked(self, loop):
        """What lets Python ints pass beside integers of NumPy's: of one that these cannot hold,
        Python says whether the function raises, as NumPy's does."""
        import numpy as np

        dtypes = [t for t in loop.inputs if not isinstance(t, str)]
        common = np.result_type(*dtypes) if dtypes else None
        if common is None or common.kind not in "iu":
            return None
        least, most = np.iinfo(common).min, np.iinfo(common).max

        def check(value):
            if not least <= value <= most:
                try:
                    self.py_func(*(value if t == "pyint" else _SAMPLES[t] if isinstance(t, str) else np.ones(1, t)[0] for t in loop.inputs))
                except OverflowError as error:
                    raise OverflowError(f"{self.__name__}: {error}") from None
                except Exception:  # functions of kernels alone
                    pass
            return value

        return check

    # --- which loop

    def _loop(self, values):
        if not self._static:
            return self._loop_inferred(values)
        if self._host:
            return self._loop_of_numpy(values)
        return self._declared[self._choose(values)]

    def _choose(self, values):
        """Numba's choice for its CUDA target: the exact dtypes of arrays; numbers exact too, if
        some signature has them, else any."""
        import numpy as np

        numbers = [not is_array(v) for v in values]
        dtypes = [np.asarray(v).dtype if number else v.dtype for v, number in zip(values, numbers)]
        matches = [formal for formal in self._declared if all(f == d for f, d in zip(formal, dtypes))] if any(numbers) else []
        if not matches:
            matches = [formal for formal in self._declared if all(number or f == d for f, d, number in zip(formal, dtypes, numbers))]
        if not matches:
            raise TypeError(f"{NO_MATCH} {self.__name__} has {', '.join(self.types)}, and got ({', '.join(map(str, dtypes))})")
        if len(matches) > 1:
            raise TypeError(AMBIGUOUS)
        return matches[0]

    def _loop_of_numpy(self, values):
        """NumPy's choice, which Numba's CPU target has: the first loop to which all arguments can
        be cast safely; Python numbers are weak."""
        import numpy as np

        def fits(value, dtype):
            if is_array(value) or isinstance(value, np.generic):
                return np.can_cast(value.dtype, dtype, "safe")
            return np.result_type(value, dtype) == dtype

        for formal, loop in self._declared.items():
            if all(fits(v, d) for v, d in zip(values, formal)):
                return loop
        raise TypeError(f"ufunc '{self.__name__}' not supported for the input types, and the inputs could not be safely coerced to any supported types "
                        f"({', '.join(self.types)}) according to the casting rule 'safe'")

    def _loop_inferred(self, values):
        import numpy as np

        if not any(is_array(v) or isinstance(v, np.generic) for v in values):
            values = [np.asarray(v) for v in values]  # as NumPy: numbers alone have their default types
        kinds = tuple(v.dtype if is_array(v) or isinstance(v, np.generic) else "py" + next(
            t.__name__ for t in (bool, int, float, complex) if isinstance(v, t)) for v in values)
        loop = self._inferred.get(kinds)
        if loop is None:
            from pyptx.cuda._jit import jit

            result = self._result(kinds)
            core = jit(device=True, **self._options)(self.py_func)
            loop = self._inferred.setdefault(kinds, Loop(core, kinds, result, self.__name__, self._options))
        return loop

    # --- reductions

    def reduce(self, array, axis=0, stream=0, out=None):
        """The elements along an axis (an int, a tuple of them, or None for all) combined by the
        function, which takes two.

        The function must be associative and commutative. What is left without an axis is a NumPy
        number; else the result is an array, in the memory of the device if `array` is. TypeError
        for no elements, unless the ufunc has an identity of 0 or 1.

        Example:

            @cuda.vectorize(["float32(float32, float32)"])
            def largest(x, y):
                return max(x, y)

            print(largest.reduce(a))                # 7.0
        """
        if self.nin != 2:
            raise TypeError(f"{self.__name__}.reduce: the function must be a binary ufunc, but it takes {self.nin}")
        return self._on_device(self._reduce, array, axis, stream, out)

    def _reduce(self, array, axis, stream, out):
        from pyptx._elementwise import read
        from pyptx._reduce import NOTHING, reduce

        value, _ = read(array)
        if not is_array(value):
            raise TypeError(f"{self.__name__}.reduce: an array is reduced, not a number")
        if self._static:
            loop = self._declared.get((value.dtype, value.dtype))
            if loop is None or loop.result != value.dtype:
                raise TypeError(f"{NO_MATCH} {self.__name__}.reduce of {value.dtype} needs {value.dtype.char * 2}->{value.dtype.char}; there is {', '.join(self.types)}")
        init = self.identity if self.identity in (0, 1) and self.identity is not None and value.size == 0 else NOTHING
        return reduce(self.py_func, array, axis=axis, init=init, stream=stream, out=out, kernels=self._reductions, options=self._options)


_anonymous = weakref.WeakKeyDictionary()  # function → its UFunc without signatures


def elementwise(function, *inputs, out=None, stream=0):
    """What ``vectorize(function)`` gives for these inputs; made once a function."""
    ufunc = _anonymous.get(function)
    if ufunc is None:
        ufunc = _anonymous.setdefault(function, UFunc(function))
    return ufunc(*inputs, out=out, stream=stream)


# --- the decorator


def on_host(target):
    if target not in ("cuda", "gpu", "cpu", "parallel"):
        raise ValueError(f"Unsupported target: {target}")
    return target in ("cpu", "parallel")


def _vectorize_options(options, host):
    if "nopython" in options:
        if not host:
            warnings.warn("nopython kwarg for cuda target is redundant", RuntimeWarning, stacklevel=3)
        options.pop("nopython")
    for name in ("cache",):
        if options.pop(name, False):
            raise TypeError("caching is not supported: PYPTX_CACHE_DIR keeps the kernels of every decorator")
    for name in options:
        if name not in OPTIONS or name in ("device", "link", "launch_bounds"):
            raise KeyError(f"Unrecognized options. cuda vectorize target does not support option: '{name}'")
    return options


def vectorize(signatures=(), target="cuda", identity=None, **options):
    """Makes a function of numbers work on arrays: a ufunc (:class:`UFunc`).

    Forms: ``@vectorize``; ``@vectorize(options)``; ``@vectorize(["float32(float32, float32)",
    float64(float64, float64)], target="cuda")`` with signatures as text or types, or a single one.
    With signatures, arrays must have exactly the dtypes of one of them, and numbers take the types
    of the one that fits (as in Numba). Without, the types come from the arguments by NumPy's rule,
    and a kernel is compiled for each combination that occurs.

    target: "cuda" (the current device), "cpu" or "parallel" (the host device; among signatures the
    choice is NumPy's there: the first one that all arguments can be cast to safely). identity: 0, 1
    or None, what ``reduce`` of no elements gives. Options: those of ``@cuda.jit`` about code
    (fastmath=, fma=, typing=, debug=, …).

        @vectorize(["float32(float32, float32)"], target="cuda")
        def add(x, y):
            return x + y

        add(np.arange(4, dtype=np.float32), np.float32(1))      # array([1., 2., 3., 4.], dtype=float32)
    """
    host = on_host(target)
    options = _vectorize_options(dict(options), host)
    if identity not in (None, 0, 1, "reorderable"):
        raise ValueError(f"identity is None, 0, 1 or 'reorderable', not {identity!r}")
    if callable(signatures) and not isinstance(signatures, (Type, Signature)) or isinstance(signatures, Dispatcher):
        return UFunc(signatures, (), identity, host, options)
    given = signatures_of(signatures)
    return lambda function: UFunc(function, given, identity, host, options)
