"""@guvectorize: a function of small arrays over the leading axes of larger ones.

The layout "(m,n),(n,p)->(m,p)" says which axes of each argument belong to the function; those
before them are looped over, one thread for each of their elements, and broadcast as NumPy does.
"""

import re

from pyptx import _pyptx
from pyptx._elementwise import Kernels, Work, common_shape, configuration, is_array, merged, origin, overlap, read, stretched, view
from pyptx._options import OPTIONS
from pyptx._pyptx import Type
from pyptx._ufunc import dtype_of, is_date, on_host, plain, result_type, signature_of, signatures_of


def parse_layout(text):
    """((symbols of each input), (symbols of each output))."""
    parts = [re.sub(r"\s", "", part) for part in text.split("->")]
    group = r"\(([^()]*)\)"
    sides = []
    for part in parts:
        if not re.fullmatch(f"(?:{group},?)*", part) or part.startswith(","):
            raise ValueError(f'bad token in signature "{text}": write it as in "(m,n),(n,p)->(m,p)"')
        sides.append(tuple(tuple(s for s in inner.split(",") if s) for inner in re.findall(group, part)))
    if len(sides) != 2 or not all(sides):
        raise ValueError(f'the signature "{text}" needs inputs and outputs, as in "(m,n),(n,p)->(m,p)"')
    for symbol in (s for side in sides for inner in side for s in inner):
        if not symbol.isidentifier():
            raise ValueError(f'bad token in signature "{symbol}"')
    missing = {s for inner in sides[1] for s in inner} - {s for inner in sides[0] for s in inner}
    if missing:
        raise NameError(f"undefined output symbols: {','.join(sorted(missing))}")
    return tuple(sides)


class GLoop:
    """A gufunc's kernels for one signature. kinds: the Types of all its parameters."""

    def __init__(self, function, kinds, layout, options):
        from pyptx.cuda._jit import jit

        self.kinds, self.dtypes = kinds, [dtype_of(t) for t in kinds]
        # Which are elements, not arrays of one.
        self.plain = [not (repr(t).endswith("]") and not is_date(t)) for t in kinds]
        names = [f"a{k}" for k in range(len(kinds))]
        # Views of a signature's arrays may have any strides: the function is compiled for those.
        core = jit(device=True, **options)(function)
        axes = [", :" * max(len(symbols), 0 if plain else 1) for symbols, plain in zip(layout, self.plain)]

        def body(index):
            return f"core({', '.join(f'{n}[{index}{a}]' for n, a in zip(names, axes))})"

        self.kernels = Kernels(function.__name__, ["loop", *names], ["loop", *names], body, {"core": core}, options)


class GUFunc:
    """A function of arrays over the leading axes of its arguments: what ``@guvectorize`` makes.

    ``f(a, b)``, ``f(a, b, out)`` or ``f(a, b, out=…, stream=0)``: arrays as for :class:`UFunc`.
    Outputs that are not given are created. Their memory is the device's if an argument's is.
    Several outputs are returned as a tuple, and given as one.

    TypeError: a wrong number of arguments, or no signature fits; ValueError: shapes that do not fit
        the layout.
    """

    def __init__(self, function, layout, signatures, host, options):
        self.py_func = self.__wrapped__ = plain(function, "guvectorize")
        self.__name__, self.__qualname__ = self.py_func.__name__, self.py_func.__qualname__
        self.__module__, self.__doc__ = self.py_func.__module__, self.py_func.__doc__
        self.signature, self.max_blocksize = layout, 1 << 30
        self._inputs, self._outputs = parse_layout(layout)
        self.nin, self.nout = len(self._inputs), len(self._outputs)
        self._host, self._options, self._loops, self._signatures = host, options, {}, list(signatures)
        if self.py_func.__code__.co_argcount != self.nin + self.nout:
            raise TypeError(f"@guvectorize: {self.__name__} takes {self.py_func.__code__.co_argcount} arguments, but the layout {layout} has "
                            f"{self.nin + self.nout}: inputs, then outputs")
        for signature in signatures:
            self._declare(signature)
        self._static = bool(self._loops)

    def __repr__(self):
        return f"<gufunc '{self.__name__}' {self.signature}>"

    def __reduce__(self):
        from pyptx._pickle import LocalFunction, is_local

        if not is_local(self.py_func):
            return self.__qualname__
        return GUFunc, (LocalFunction(self.py_func), self.signature, self._signatures, self._host, self._options)

    @property
    def nargs(self):
        """Inputs and outputs."""
        return self.nin + self.nout

    @property
    def types(self):
        """As NumPy's ufuncs have them: "ff->f"."""
        return [f"{''.join(t.char for t in loop.dtypes[:self.nin])}->{''.join(t.char for t in loop.dtypes[self.nin:])}" for loop in self._loops.values()]

    def _declare(self, signature):
        args, result = signature_of(signature)
        if result is not None and repr(result) != "void":
            raise TypeError(f"guvectorized functions cannot return values: signature {signature} specifies {result} return type")
        if len(args) != self.nin + self.nout:
            raise TypeError(f"@guvectorize: the layout {self.signature} has {self.nin + self.nout} arguments, but the signature {signature} has {len(args)}")
        for k, (kind, symbols) in enumerate(zip(args, self._inputs + self._outputs)):
            array = repr(kind).endswith("]") and not is_date(kind)
            if not array and symbols:
                raise ValueError("gufunc signature mismatch: ndim>0 for scalar")
            if not array and k >= self.nin:
                raise TypeError(f"@guvectorize: the output {k - self.nin} of {signature} must be an array, which the function writes to ({kind}[:])")
            if array and kind.ndim != max(len(symbols), 1):
                raise ValueError(f"gufunc signature mismatch: {kind} has {kind.ndim} axes, but ({','.join(symbols)}) has {len(symbols)}")
        loop = GLoop(self.py_func, args, self._inputs + self._outputs, self._options)
        self._check(loop)
        self._loops[tuple(loop.dtypes[: self.nin])] = loop

    def _check(self, loop):
        """Compiles the function, so that its errors show where it is decorated."""
        texts = [f"{t.dtype}[{', '.join(':' * t.ndim)}]" if not plain else repr(t) for t, plain in zip(loop.kinds, loop.plain)]
        result = result_type(self.py_func, texts, self._options)
        if repr(result) not in ("none", "void"):
            raise TypeError(f"guvectorized functions cannot return values: {self.__name__} returns {result}")

    # --- calls

    def __call__(self, *args, out=None, stream=0, **unknown):
        if unknown:
            raise TypeError(f"{self.__name__}() takes out= and stream=, not {', '.join(f'{name}=' for name in unknown)}")
        if not self._host:
            return self._call(args, out, stream)
        with _pyptx.select_device("host"):
            return self._call(args, out, stream)

    def _outs(self, args, out):
        """(inputs, an output or None for each)."""
        if out is None and len(args) not in (self.nin, self.nargs):
            def count(n):
                return f"{n} positional argument{'s' * (n != 1)}"

            raise TypeError(f"This gufunc accepts {count(self.nin)} (when providing input only) or {count(self.nargs)} (when providing input and output). "
                            f"Got {count(len(args))}.")
        if out is None:
            return args[: self.nin], args[self.nin :] or (None,) * self.nout
        if len(args) > self.nin:
            raise ValueError("cannot specify argument 'out' as both positional and keyword")
        if len(args) < self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} inputs, but {len(args)} were given")
        out = out if isinstance(out, tuple) else (out,)
        if len(out) != self.nout:
            raise ValueError(f"{self.__name__}: out= is a tuple of {self.nout} arrays, not of {len(out)}")
        return args, out

    def _call(self, args, out, stream):
        import numpy as np

        args, outs = self._outs(args, out)
        work = Work(args, stream)
        work.values = [v if is_array(v) else np.asarray(v) for v in work.values]
        loop = self._loop(work.values, outs)
        work.values = [self._typed(v, d) for v, d in zip(work.values, loop.dtypes)]
        sizes, outer = self._schedule([tuple(v.shape) for v in work.values], outs)
        outer = self._without_ones(outer, outs)
        work.resident = work.resident if work.resident is not None else next((o for o in outs if type(o) is _pyptx.DeviceArray), None)
        work.bring()
        targets, finishes = [], []
        for given, symbols, dtype in zip(outs, self._outputs, loop.dtypes[self.nin :]):
            shape = (*outer, *(sizes[s] for s in symbols))
            if given is not None and _shape(given) != shape:
                raise ValueError(f"output shape mismatch: {self.__name__} gives {shape}, and out has {_shape(given)}")
            target, finish = self._output(work, given, shape, dtype)
            targets.append(target)
            finishes.append(finish)
        self._run(loop, outer, [*work.values, *targets], stream, tuple(work.originals))
        results = tuple(finish() for finish in finishes)
        return results[0] if self.nout == 1 else results

    def _without_ones(self, outer, outs):
        """The shape that is looped over without leading axes of one element that no output given
        has: a number may be an array of one element, as in Numba."""
        most = [len(_shape(o)) - len(symbols) for o, symbols in zip(outs, self._outputs) if o is not None]
        while most and len(outer) > max(most) and outer[0] == 1:
            outer = outer[1:]
        return outer

    def _output(self, work, given, shape, dtype):
        """As Work.output, of an array without an element of its own where it is read before it is
        written: it begins as the caller's."""
        target, finish = work.output(self.__name__, given, shape, dtype, apart=overlap)
        if given is not None and target is not given:
            value = read(given)[0]
            if type(target) is not type(value) or origin(target) != origin(value):
                if type(target) is _pyptx.DeviceArray:
                    target.copy_to_device(value if type(value) is _pyptx.DeviceArray else value.astype(target.dtype), stream=work.stream)
                else:
                    target[...] = value
        return target, finish

    def _run(self, loop, outer, values, stream, ordered):
        if 0 in outer:
            return
        strides, lays = [], []
        for v, symbols, plain_one in zip(values, self._inputs + self._outputs, loop.plain):
            cut = len(v.shape) - len(symbols)
            extra = max(cut - len(outer), 0)
            core_shape, core_strides = tuple(v.shape[cut:]), tuple(v.strides[cut:])
            if not symbols and not plain_one:
                core_shape, core_strides = (1,), (0,)
            strides.append(stretched(tuple(v.shape[extra:cut]), tuple(v.strides[extra:cut]), outer))
            lays.append((core_shape, core_strides))
        shape, steps = merged(outer, strides)
        grid, block, looped = configuration(shape, self.max_blocksize)
        values = [view(v, (shape + core[0], s + core[1])) for v, s, core in zip(values, steps, lays)]
        first = values[self.nin]  # an output: it has all axes
        kernel = loop.kernels[len(shape), looped, bool(ordered)]
        kernel[grid, block, stream](first, *values, *([ordered] if ordered else ()))

    def _typed(self, value, dtype):
        if value.dtype == dtype:
            return value
        if type(value) is _pyptx.DeviceArray:
            raise TypeError(f"compatible signature is possible by casting, but device arrays are not cast, since a gufunc "
                            f"does not support .astype() of them: the array has {value.dtype}, the signature {dtype}\n  help: pass x.astype(np.{dtype})")
        return value.astype(dtype)

    def _schedule(self, shapes, outs):
        """(extent of each symbol, the shape that is looped over)."""
        sizes, outer = {}, []
        for k, (shape, symbols) in enumerate(zip(shapes, self._inputs), 1):
            cut = len(shape) - len(symbols)
            if cut < 0:
                raise ValueError(f"arg #{k}: insufficient inner dimension: the shape {shape} has no axes for ({','.join(symbols)})")
            for axis, (symbol, n) in enumerate(zip(symbols, shape[cut:]), cut):
                if sizes.setdefault(symbol, n) != n:
                    raise ValueError(f"arg #{k}: shape[{axis}] mismatch argument: {symbol} is {sizes[symbol]} and {n}")
            outer.append(shape[:cut])
        return sizes, common_shape(self.__name__, outer)

    # --- which loop

    def _loop(self, values, outs):
        import numpy as np

        dtypes = tuple(v.dtype for v in values)
        if not self._static:
            return self._loop_inferred(values, dtypes, outs)
        if dtypes in self._loops:
            return self._loops[dtypes]
        # As NumPy: the first signature that all can be cast to; else, as Numba, the first one that
        # narrows them within their kinds.
        for rule in ("safe", "same_kind"):
            for formal, loop in self._loops.items():
                if all(np.can_cast(d, f, rule) for d, f in zip(dtypes, formal)):
                    return loop
        raise TypeError(f"no matching signature: {self.__name__} has {', '.join(self.types)}, and got ({', '.join(map(str, dtypes))})")

    def _loop_inferred(self, values, dtypes, outs):
        if any(o is None for o in outs):
            raise TypeError(f"{self.__name__} has no signatures, so its outputs have no type: pass them")
        dtypes = (*dtypes, *(read(o)[0].dtype for o in outs))
        loop = self._loops.get(dtypes)
        if loop is None:
            kinds = [_pyptx.from_dtype(d) for d in dtypes]
            kinds = [t[(slice(None),) * max(len(s), 1)] if s or k >= self.nin else t for k, (t, s) in enumerate(zip(kinds, self._inputs + self._outputs))]
            loop = GLoop(self.py_func, kinds, self._inputs + self._outputs, self._options)
            self._check(loop)
            self._loops[dtypes] = loop
        return loop


def _shape(out):
    """Of an output given, which may have an array interface alone."""
    return tuple(out.shape if hasattr(out, "shape") else read(out)[0].shape)


def _guvectorize_options(options):
    if options.pop("cache", False):
        raise TypeError("caching is not supported: PYPTX_CACHE_DIR keeps the kernels of every decorator")
    if options.pop("writable_args", ()):
        raise TypeError("writable_args are not supported: make the argument an output of the layout")
    if not options.pop("nopython", True):
        raise TypeError("nopython flag must be True")
    options.pop("is_dynamic", None)
    options.pop("identity", None)
    wrong = [repr(name) for name in options if name not in OPTIONS or name in ("device", "link", "launch_bounds")]
    if wrong:
        raise TypeError(f"The following target options are not supported: {', '.join(wrong)}")
    return options


def guvectorize(*args, target="cuda", **options):
    """Makes a function of small arrays work over the leading axes of larger ones: a gufunc
    (:class:`GUFunc`).

    ``@guvectorize(signatures, layout, target="cuda")``. signatures: as text or types, of inputs and
    outputs, without a result: ``"void(float32[:,:], float32[:,:], float32[:,:])"``, or a list of
    these. layout: which axes of each belong to the function, as ``"(m,n),(n,p)->(m,p)"``. The
    function writes its outputs. An input ``()`` may be a number (``float32``) or an array of one
    element (``float32[:]``); an output ``()`` is the latter. ``@guvectorize(layout)``, without
    signatures, takes the types from the arguments of each call, outputs among them.

    target: "cuda" (the current device), "cpu" or "parallel" (the host device). Options: those of
        ``@cuda.jit`` about code.

        @guvectorize(["void(float32[:], float32, float32[:])"], "(n),()->(n)")
        def scale(x, factor, out):
            for i in range(x.shape[0]):
                out[i] = x[i] * factor

    NameError: output symbols that no input has; TypeError: a signature with a result, cache=True,
        writable_args, unknown options.
    """
    host = on_host(target)
    options = _guvectorize_options(dict(options))
    if len(args) not in (1, 2):
        raise TypeError("guvectorize() takes one or two positional arguments")
    layout = args[-1]
    if not isinstance(layout, str):
        raise TypeError(f"the layout is a text such as '(m,n),(n,p)->(m,p)', not {layout!r}")
    signatures = signatures_of(args[0]) if len(args) == 2 else []
    if len(args) == 2 and isinstance(args[0], tuple) and any(isinstance(_pyptx._own(t), Type) for t in args[0]):
        signatures = [args[0]]
    return lambda function: GUFunc(function, layout, signatures, host, options)
