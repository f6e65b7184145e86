"""Functions of device arrays: new ones, their methods, and NumPy's functions of them.

Elements are worked on by kernels of _ufunc.py, reductions by those of _reduce.py. NumPy's functions
that have none run on a copy on the host, which `on_host` says once a function.
"""

import contextlib
import math
from functools import partial

import numpy as np

from pyptx import _pyptx
from pyptx._elementwise import define, order_of
from pyptx._pyptx import DeviceArray, device_array, from_dtype, get_current_device
from pyptx._reduce import NOTHING, normalized_axes, reduce
from pyptx._ufunc import Loop, UFunc, elementwise
from pyptx.errors import advise

_NOT_FUSED = {"fma": False}


class NotOnDevice(Exception):
    """Kernels cannot do this: the host does it."""


# --- where


def arrays_in(things):
    """The device arrays among these, and in lists and tuples of them."""
    for x in things:
        if type(x) is DeviceArray:
            yield x
        elif type(x) in (list, tuple):
            yield from arrays_in(x)


def the_device(things):
    """The device of all these arrays; ValueError if there are several."""
    devices = list(dict.fromkeys(a.device for a in arrays_in(things)))
    if len(devices) > 1:
        raise ValueError(f"the arrays are on different devices, {' and '.join(map(str, devices))}\n"
                         "  help: copy one of them: with a.device: b = cuda.to_device(b)")
    return devices[0] if devices else get_current_device()


@contextlib.contextmanager
def ordered_stream(things, stream):
    """The stream for work on these arrays: `stream`, or what the first one of them is bound to; 0
    for the default one. The streams of the others are waited for by it, and wait for it."""
    bound = list(dict.fromkeys(a.stream for a in arrays_in(things) if a.stream is not None))
    stream = stream or (bound[0] if bound else 0)
    others = [s for s in bound if s is not stream]
    for s in others:
        _order(s, stream)
    yield stream
    for s in others:
        _order(stream, s)


def _order(first, second):
    done = _pyptx.event(timing=False)
    done.record(first)
    done.wait(second)


def on_host(function, args, keywords, name=None, why=None, writes=False):
    """The function of copies on the host, with advice. writes: it changes its first argument. A
    device array that is `out`, or is changed, gets the result."""
    kind = f" ({why})" if why and str(why) else ""
    advise("PT821", f"{name or f'np.{function.__name__}'}{kind}")
    copies = {}

    def host(x):
        if type(x) is DeviceArray:
            return copies.setdefault(id(x), (x, x.copy_to_host()))[1]
        if type(x) in (list, tuple):
            return type(x)(map(host, x))
        return {k: host(v) for k, v in x.items()} if type(x) is dict else x

    result = function(*host(tuple(args)), **host(dict(keywords)))
    out = keywords.get("out")
    written = [*arrays_in([out]), *(arrays_in(args[:1]) if writes else ())]
    for x in written:
        x[...] = copies[id(x)][1]
    back = {id(h): x for x, h in copies.values() if any(x is w for w in written)}
    return tuple(back.get(id(r), r) for r in result) if type(result) is tuple else back.get(id(result), result)


# --- new arrays


def empty(shape, dtype=float, order="C", stream=0):
    """A new device array with undefined elements; device_array with NumPy's name.

    shape: an int or a tuple. dtype: float64 unless given. order: "C" or "F". stream: where the
    memory is used first.

    Example:

        cuda.empty((2, 3), np.float32).shape        # (2, 3)
    """
    return device_array(shape, np.dtype(_pyptx._own(dtype)), order=order, stream=stream)


def zeros(shape, dtype=float, order="C", stream=0):
    """A new device array of zeros (False, 0j); arguments as of `empty`.

    Example:

        cuda.zeros(3, np.int32).tolist()            # [0, 0, 0]
    """
    made = empty(shape, dtype, order, stream)
    return fill(made, np.zeros((), made.dtype)[()], stream)


def ones(shape, dtype=float, order="C", stream=0):
    """A new device array of ones; arguments as of `empty`.

    Example:

        cuda.ones((2, 2)).tolist()                  # [[1.0, 1.0], [1.0, 1.0]]
    """
    return fill(empty(shape, dtype, order, stream), 1, stream)


def full(shape, fill_value, dtype=None, order="C", stream=0):
    """A new device array whose elements are all `fill_value`, a number; or an array that broadcasts
    to `shape`. dtype: that of the value unless given; the others as of `empty`.

    Example:

        cuda.full(2, 1.5, np.float32).tolist()      # [1.5, 1.5]
    """
    if dtype is None:
        dtype = fill_value.dtype if hasattr(fill_value, "dtype") else np.asarray(fill_value).dtype
    return fill(empty(shape, dtype, order, stream), fill_value, stream)


def _like(make):
    def like(a, dtype=None, order="K", stream=0, shape=None):
        a = a if hasattr(a, "dtype") and hasattr(a, "strides") else np.asarray(a)
        order = order if order in ("C", "F") else order_of(tuple(a.shape), [a])
        with a.device if type(a) is DeviceArray else contextlib.nullcontext():
            return make(tuple(a.shape) if shape is None else shape, a.dtype if dtype is None else dtype, order, stream)

    like.__name__ = like.__qualname__ = f"{make.__name__}_like"
    like.__doc__ = f"""A new device array as `{make.__name__}` makes it, with the shape and dtype of the array `a`, unless others
    are given; on the device of `a` if it is a device array. order: "C", "F", or "K" and "A": F where a is.

    Example:

        cuda.{make.__name__}_like(np.arange(3)).dtype      # dtype('int64')
    """
    return like


empty_like, zeros_like, ones_like = _like(empty), _like(zeros), _like(ones)


def full_like(a, fill_value, dtype=None, order="K", stream=0, shape=None):
    """A new device array of `fill_value` with the shape and dtype of the array `a`, unless others
    are given; on the device of `a` if it is a device array.

    Example:

        cuda.full_like(np.zeros(2, np.int8), 7).tolist()   # [7, 7]
    """
    return fill(empty_like(a, dtype, order, stream, shape), fill_value, stream)


_ARANGE = """\
def arange(out, start, second, step):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = start if i == 0 else second if i == 1 else start + type(start)(i) * step
"""
_arange = []  # the kernel


def arange(start, stop=None, step=1, dtype=None, stream=0):
    """A new device array of evenly spaced numbers, from `start` (0 if one argument is given) up to
    but without `stop`: np.arange's, element for element. dtype: that of the arguments unless given.

    ZeroDivisionError: the step is 0. ValueError: there is no such length.

    Example:

        cuda.arange(5).tolist()                     # [0, 1, 2, 3, 4]
        cuda.arange(0, 1, 0.25, np.float32).tolist()   # [0.0, 0.25, 0.5, 0.75]
    """
    start, stop = (0, start) if stop is None else (start, stop)
    given = [np.asarray(x).dtype for x in (start, stop, step)]
    dtype = np.result_type(*given) if dtype is None else np.dtype(_pyptx._own(dtype))
    if any(t.kind not in "biuf" for t in given) or dtype.kind not in "iuf" or not _has_type(dtype):
        return _pyptx.to_device(np.arange(start, stop, step, dtype), stream=stream)  # dates, complex: they are made on the host
    try:
        n = max(0, math.ceil((stop - start) / step))
    except (OverflowError, ValueError):  # infinite, nan
        raise ValueError("arange: cannot compute length") from None
    if n >= 1 << 62:
        raise ValueError("arange: the array is too large")
    first = np.empty(min(n, 2), dtype)
    first[:] = [start, start + step][:n]
    wide = first.astype(np.float32) if dtype == np.float16 else first  # as NumPy computes them
    out = device_array(n, dtype, stream=stream)
    if n:
        _arange_kernel()[-(-n // 256), 256, stream](out, wide[0], wide[-1], np.subtract(wide[-1:], wide[:1])[0])
    return out


def _arange_kernel():
    from pyptx import cuda

    if not _arange:
        _arange.append(cuda.jit(define("arange", _ARANGE, {"cuda": cuda}), **_NOT_FUSED))
    return _arange[0]


def _has_type(dtype):
    try:
        return from_dtype(dtype) is not None
    except TypeError:
        return False


# --- methods


def fill(a, value, stream=0):
    if type(value) is DeviceArray or np.ndim(value):
        a[...] = value
        return a
    one = np.empty((), a.dtype)
    one.fill(value)  # NumPy's conversion, and its errors
    if _has_type(a.dtype) and a.dtype.kind != "V":
        with ordered_stream([a], stream) as s:
            elementwise(_itself, one[()], out=a, stream=s)
    else:
        a[...] = one
    return a


def _itself(x):
    return x


def _fill_method(a, value, stream=0):
    fill(a, value, stream)


_fill_method.__name__ = _fill_method.__qualname__ = "fill"


def copy(a, order="C"):
    order = order_of(a.shape, [a]) if order in ("K", "A") else order
    made = device_array(a.shape, a.dtype, order=order, stream=a.stream or 0)
    if _has_type(a.dtype) and a.dtype.kind != "V":
        with ordered_stream([a], None) as s:
            elementwise(_itself, a, out=made, stream=s)
    else:
        made[...] = a
    return made.bind(a.stream) if a.stream else made


class _Cast(UFunc):
    """Elements of any dtype as those of one."""

    nin, _most, _host, _static, _options = 1, 1 << 30, False, False, _NOT_FUSED

    def __init__(self, dtype):
        self.dtype, self.__name__ = dtype, "astype"
        self._inferred, self._plans = {}, {}

    def _loop(self, values):
        kind = values[0].dtype
        loop = self._inferred.get(kind)
        return loop if loop is not None else self._inferred.setdefault(kind, self._make(kind))

    def _make(self, kind):
        from pyptx.cuda._jit import jit

        return Loop(jit(device=True)(converter(kind, self.dtype)), (kind,), self.dtype, self.__name__, self._options)


def converter(kind, dtype):
    """A function for kernels that makes an element of one dtype one of another."""
    if not (_has_type(kind) and _has_type(dtype)) or "V" in kind.kind + dtype.kind:
        raise NotOnDevice(f"of {dtype if _has_type(kind) else kind}")
    if kind != dtype and (kind.kind in "mM" or dtype.kind in "mM"):
        raise NotOnDevice(f"of {kind} to {dtype}")
    text = "x" if kind == dtype else "x != 0" if dtype.kind == "b" else "T(x.real)" if kind.kind == "c" and dtype.kind != "c" else "T(x)"
    return define("load", f"def load(x):\n    return {text}\n", {"T": dtype.type})


_casts = {}


def astype(a, dtype, order="K", casting="unsafe", copy=True, subok=True):
    dtype = np.dtype(_pyptx._own(dtype))
    if not np.can_cast(a.dtype, dtype, casting):
        raise TypeError(f"Cannot cast array data from {a.dtype!r} to {dtype!r} according to the rule {casting!r}")
    order = order if order in ("C", "F") else order_of(a.shape, [a])
    if not copy and a.dtype == dtype and a.flags[f"{order}_CONTIGUOUS"]:
        return a
    if a.dtype.kind == "c" and dtype.kind in "iuf":
        import warnings

        warnings.warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning, stacklevel=2)
    made = device_array(a.shape, dtype, order=order, stream=a.stream or 0)
    try:
        with ordered_stream([a], None) as s:
            source, target = _dates_as_counts(a, dtype), _dates_as_counts(made, a.dtype)
            cast = _casts.get(target.dtype) or _casts.setdefault(target.dtype, _Cast(target.dtype))
            cast(source, out=target, stream=s)
    except NotOnDevice as no:
        advise("PT821", f"astype ({no})")
        made[...] = a.copy_to_host().astype(dtype)
    return made.bind(a.stream) if a.stream else made


def _dates_as_counts(a, other):
    """Dates as the integers that they are, beside integers."""
    return a.view(np.int64) if a.dtype.kind in "mM" and other.kind in "biu" else a


def item(a, *index):
    if len(index) == 1 and isinstance(index[0], tuple):
        index = index[0]
    if not index:
        if a.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        index = (0,) * a.ndim
    elif len(index) == 1 and a.ndim != 1:
        index = np.unravel_index(range(a.size)[index[0]], a.shape)
    elif len(index) != a.ndim:
        raise ValueError("incorrect number of indices for array")
    return a[tuple(map(int, index))].item()


def tolist(a):
    return a.copy_to_host().tolist()


def get(a, stream=0, order="C", out=None):
    host = a.copy_to_host(out, stream=stream or 0)
    if out is not None:
        return out
    return np.asarray(host, order=order) if order in ("C", "F") else host


def set_(a, arr, stream=0):
    a.copy_to_device(arr, stream=stream or 0)


# --- reductions


def sum_core(a, b):
    return a + b


def prod_core(a, b):
    return a * b


def min_core(a, b):
    return np.minimum(a, b)


def max_core(a, b):
    return np.maximum(a, b)


def any_core(a, b):
    return a or b


def all_core(a, b):
    return a and b


_kernels = {}  # core → its kernels by dtype
_loads = {}


def _load(kind, dtype):
    """`converter`, once; None where nothing is converted."""
    if not _has_type(kind):
        raise NotOnDevice(f"of {kind}")
    if kind == dtype:
        return None
    found = _loads.get((kind, dtype))
    return found or _loads.setdefault((kind, dtype), converter(kind, dtype))


def _reduced(core, numpy, a, dtype, axis, out, keepdims, stream, wide=None, /, **more):
    """wide: the dtype to compute in, where it is not the result's."""
    if not a.ndim and isinstance(axis, (int, np.integer)) and axis in (0, -1):  # as NumPy allows
        axis = None
    given = {k: v for k, v in {"axis": axis, "out": out, "keepdims": keepdims}.items() if v is not None and v is not False}
    beyond = sorted(set(more) - (set() if core in (any_core, all_core) else {"initial"}))
    if beyond or a.dtype.kind in "SUV":
        raise NotOnDevice(f"with {beyond[0]}=" if beyond else f"of {a.dtype}")
    if not a.size:  # NumPy says what it is, or what is wrong
        result = numpy(np.empty(a.shape, a.dtype), **{**given, "axis": axis, "out": None}, **more)
        if out is not None and tuple(np.shape(out)) != np.shape(result):
            raise ValueError(f"the result has the shape {np.shape(result)}, but out has {tuple(np.shape(out))}")
        if out is None:
            return _pyptx.to_device(result) if isinstance(result, np.ndarray) else result
        out[...] = result
        return out
    if out is not None and not hasattr(out, "shape"):
        raise TypeError(f"out must be an array, not {type(out).__name__}")
    init = more.get("initial", NOTHING)
    computed = wide or dtype
    with ordered_stream([a, out], stream) as s:
        result = reduce(core, a, axis, NOTHING if init is None else init, out if wide is None else None, s, _kernels.setdefault(core, {}),
                        _NOT_FUSED, keepdims, dtype=computed, load=_load(a.dtype, computed))
    if wide is None:
        return result
    result = result.astype(dtype)
    if out is None:
        return result
    out[...] = result
    return out


def _total_dtype(a, dtype):
    if dtype is not None:
        return np.dtype(_pyptx._own(dtype))
    small = a.dtype.kind in "biu" and a.dtype.itemsize < 8
    return a.dtype if not small else np.dtype(np.uint64 if a.dtype.kind == "u" else np.int64)


def _total(core, numpy, a, axis, dtype, out, keepdims, stream, more):
    dtype = _total_dtype(a, dtype)
    wide = np.dtype(np.float32) if dtype == np.float16 else None
    return _reduced(core, partial(numpy, dtype=dtype), a, dtype, axis, out, keepdims, stream, wide, **more)


def sum_(a, axis=None, dtype=None, out=None, keepdims=False, *, stream=0, **more):
    return _total(sum_core, np.sum, a, axis, dtype, out, keepdims, stream, more)


def prod(a, axis=None, dtype=None, out=None, keepdims=False, *, stream=0, **more):
    return _total(prod_core, np.prod, a, axis, dtype, out, keepdims, stream, more)


def min_(a, axis=None, out=None, keepdims=False, *, stream=0, **more):
    return _reduced(min_core, np.min, a, a.dtype, axis, out, keepdims, stream, **more)


def max_(a, axis=None, out=None, keepdims=False, *, stream=0, **more):
    return _reduced(max_core, np.max, a, a.dtype, axis, out, keepdims, stream, **more)


def any_(a, axis=None, out=None, keepdims=False, *, stream=0, **more):
    return _reduced(any_core, np.any, a, np.dtype(bool), axis, out, keepdims, stream, **more)


def all_(a, axis=None, out=None, keepdims=False, *, stream=0, **more):
    return _reduced(all_core, np.all, a, np.dtype(bool), axis, out, keepdims, stream, **more)


def count_nonzero(a, axis=None, *, keepdims=False):
    return sum_(astype(a, bool, copy=False), axis, np.dtype(np.intp), None, keepdims)


def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, stream=0, **more):
    if more or a.dtype.kind in "mMSUV":
        raise NotOnDevice("with where=" if more else f"of {a.dtype}")
    if not a.size:
        return _reduced(None, partial(np.mean, dtype=dtype), a, None, axis, out, keepdims, stream)
    if not a.ndim and axis is not None:  # which np.sum allows, and np.mean does not
        normalized_axes(axis, 0)
    dtype = np.dtype(_pyptx._own(dtype)) if dtype is not None else a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)
    half = dtype == np.float16
    total = sum_(a, axis, np.float32 if half else dtype, None, keepdims, stream=stream)
    count = a.size // max(1, total.size)
    if total.dtype.kind in "iub":
        raise NotOnDevice(f"as {dtype}")
    result = total / total.dtype.type(count)
    result = result.astype(np.float16) if half else result
    if out is None:
        return result
    out[...] = result
    return out


METHODS = {"fill": _fill_method, "copy": copy, "astype": astype, "sum": sum_, "prod": prod, "min": min_, "max": max_, "mean": mean,
           "any": any_, "all": all_, "item": item, "tolist": tolist, "get": get, "set": set_}


def _with_fallback(name, function):
    """The method, or NumPy's function of the same name on the host."""
    numpy = getattr(np, name)

    def method(a, *args, **keywords):
        try:
            return function(a, *args, **keywords)
        except NotOnDevice as no:
            keywords.pop("stream", None)
            return on_host(numpy, (a, *args), keywords, why=no)

    return method


METHODS |= {name: _with_fallback(name, METHODS[name]) for name in ("sum", "prod", "min", "max", "mean", "any", "all")}
REDUCTIONS = {np.add: sum_, np.multiply: prod, np.minimum: min_, np.maximum: max_, np.logical_or: any_, np.logical_and: all_}


# --- NumPy's functions


def _made(make):
    def function(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
        return make(a, dtype, order, shape=shape)

    return function


def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return full_like(a, fill_value, dtype, order, shape=shape)


def _of_method(name):
    return lambda a, *args, **keywords: getattr(a, name)(*args, **keywords)


def _size(a, axis=None):
    return a.size if axis is None else a.shape[axis]


def _copy(a, order="K", subok=False):
    return copy(a, order)


def _assign(dst, src, casting="same_kind", where=True):
    if where is not True or type(dst) is not DeviceArray:
        raise NotOnDevice("")
    kind = src.dtype if hasattr(src, "dtype") else np.asarray(src).dtype
    weak = type(src) in (bool, int, float, complex)
    if not np.can_cast(np.result_type(src, dst.dtype) if weak else kind, dst.dtype, casting):
        raise TypeError(f"Cannot cast scalar from {kind!r} to {dst.dtype!r} according to the rule {casting!r}")
    dst[...] = src


def _types(function):
    """A function of dtypes: arrays stand for theirs."""
    return lambda *args, **keywords: function(*(x.dtype if type(x) is DeviceArray else x for x in args), **keywords)


def _clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, **keywords):
    low, high = a_min if min is None else min, a_max if max is None else max
    if keywords or low is None and high is None:
        raise NotOnDevice("")
    if low is None or high is None:
        return np.minimum(a, high, out=out) if low is None else np.maximum(a, low, out=out)
    return np.minimum(np.maximum(a, low), high, out=out)


def _chosen(condition, x, y):
    return x if condition else y


def where(condition, x=None, y=None):
    if x is None or y is None:
        raise NotOnDevice("with one argument")
    weak = [v if type(v) in (int, float, complex) else v.dtype if hasattr(v, "dtype") else np.asarray(v).dtype for v in (x, y)]
    dtype = np.result_type(*weak)
    if not _has_type(dtype) or dtype.kind in "mMV":
        raise NotOnDevice(f"of {dtype}")
    mask = astype(condition, bool, copy=False) if type(condition) is DeviceArray else np.asarray(condition, bool)
    x, y = (astype(v, dtype, copy=False) if type(v) is DeviceArray else np.asarray(v, dtype)[()] for v in (x, y))
    things = [mask, x, y]
    with ordered_stream(things, None) as s:
        result = elementwise(_chosen, *things, stream=s)
    return result.bind(s) if s else result


FUNCTIONS = {
    np.where: where,
    np.sum: sum_, np.prod: prod, np.min: min_, np.max: max_, np.amin: min_, np.amax: max_, np.mean: mean, np.any: any_, np.all: all_,
    np.count_nonzero: count_nonzero, np.clip: _clip,
    np.empty_like: _made(empty_like), np.zeros_like: _made(zeros_like), np.ones_like: _made(ones_like), np.full_like: _full_like,
    np.copy: _copy, np.copyto: _assign,
    np.shape: lambda a: a.shape, np.ndim: lambda a: a.ndim, np.size: _size, np.real: lambda val: val.real,
    np.imag: lambda val: val.imag if val.dtype.kind == "c" else zeros_like(val),
    np.transpose: lambda a, axes=None: a.transpose() if axes is None else a.transpose(axes), np.squeeze: _of_method("squeeze"),
    np.result_type: _types(np.result_type), np.can_cast: _types(np.can_cast),
    np.iscomplexobj: lambda x: x.dtype.kind == "c", np.isrealobj: lambda x: x.dtype.kind != "c",
    np.array_repr: lambda arr, *_, **__: repr(arr), np.array_str: lambda a, *_, **__: repr(a),
}
if hasattr(np, "astype"):
    FUNCTIONS[np.astype] = lambda x, dtype, /, *, copy=True, device=None: astype(x, dtype, copy=copy)
_WRITERS = {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}


def array_function(array, function, types, args, keywords):
    """`__array_function__`: the function on the device, or on copies on the host."""
    if not all(t is DeviceArray or issubclass(t, np.ndarray) or not hasattr(t, "__array_function__") for t in types):
        return NotImplemented
    found, why = FUNCTIONS.get(function), None
    if found is not None:
        try:
            with the_device([*args, *keywords.values()]):
                return found(*args, **keywords)
        except NotOnDevice as no:
            why = no
    name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
    return on_host(function, args, keywords, name, why, function in _WRITERS)
