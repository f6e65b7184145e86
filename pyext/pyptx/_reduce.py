"""cuda.reduce: an associative and commutative function over the elements of an array, or over some
of its axes.

One kernel does all of it. Its array has the axes that are kept, then those that are reduced. A
block has `width` threads along the reduced elements for each of `here` outputs; blocks along y each
have a chunk of the reduced elements, a slice. A thread combines its elements, several loads in
flight, a tree in shared memory the threads of an output. Where there are several slices, the last
block of them to end combines their results, in the slices' order, so that one launch does it and
gives the same each time. (Mark Harris, "Optimizing Parallel Reduction in CUDA"; CUDA's sample
threadFenceReduction.) Elements of 8 and 16 bits are loaded 64 bits at a time.
"""

import threading

from pyptx import _pyptx
from pyptx._elementwise import Work, define, identifier, is_array, merged, origin, unravel, view
from pyptx._pyptx import device_array

THREADS = 256
_LOADS = 8  # that a thread has in flight
_SLICES = 65535
_WORD = 8  # bytes
ALL = object()
NOTHING = object()

_KERNEL = """\
def at(a, {kept_parameters}r):
    {reduced_lines}
    return {element}

def tree(shared, t, o, outputs, lane, half, distance, used):
    while half > 0:
        cuda.syncthreads()
        if o < outputs and lane < half and lane + half < used:
            shared[t] = core(shared[t], shared[t + half * distance])
        half //= 2

def {name}(a, out, init, parts, arrived, tail, outputs, length, chunk, width, along, ordered=None):
    shared = cuda.shared.array(THREADS, {shared})
    t = cuda.threadIdx.x
{lanes}
    lane = r
    first = cuda.blockIdx.y * chunk
    end = min(length, first + chunk)
    used = min(width, end - first)
    r += first
    {kept_lines}
    if o < outputs and lane < used:
        acc = at(a, {kept_arguments}r)
        r += width
{loads}
        if tail is not None:
            if cuda.blockIdx.y == 0 and lane < tail.size:
                acc = core(acc, tail[lane])
        shared[t] = acc
    tree(shared, t, o, outputs, lane, width // 2, distance, used)
    if parts is not None:
        slices = cuda.gridDim.y
        last = cuda.shared.array(1, cuda.uint32)
        if o < outputs and lane == 0:
            parts[cuda.blockIdx.y * outputs + o] = shared[t]
            cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            last[0] = cuda.atomic.inc(arrived, cuda.blockIdx.x, slices - 1)  # 0 again after the last
        cuda.syncthreads()
        if last[0] != slices - 1:
            return
        cuda.threadfence()
        if o < outputs and lane < slices:
            acc = parts[lane * outputs + o]
            for s in range(lane + width, slices, width):
                acc = core(acc, parts[s * outputs + o])
            shared[t] = acc
        tree(shared, t, o, outputs, lane, width // 2, distance, min(width, slices))
    if o < outputs and lane == 0:
        result = shared[t]
        if init is not None:
            result = core(result, init)
        out[{out_index}] = result
"""


# What a thread is: number r of those along the reduced elements of output o; and how far the next
# of these is from it.
_LANES = """\
    here = cuda.blockDim.x // width
    if along:
        r, o = t % width, t // width
    else:
        r, o = t // here, t % here
    distance = 1 if along else here
    o += cuda.blockIdx.x * here"""
_ALL_LANES = """\
    r, o, outputs, width, distance = t, 0, 1, THREADS, 1"""


def _tree(names):
    while len(names) > 1:
        names = [f"core({x}, {y})" for x, y in zip(names[::2], names[1::2])] + names[len(names) // 2 * 2 :]
    return names[0]


def _loads(kept, loads):
    """The loop over a thread's further elements: full rounds, then one whose loads are all made,
    and used where there is an element."""

    def load(at):
        return f"at(a, {kept}{at})"

    if loads == 1:
        return f"        while r < end:\n            acc = core(acc, {load('r')})\n            r += width"
    xs = [f"x{k}" for k in range(loads)]
    lines = [f"while r + {loads - 1} * width < end:"]
    lines += [f"    {x} = {load(f'r + {k} * width')}" for k, x in enumerate(xs)]
    lines += [f"    acc = core(acc, {_tree(xs)})", f"    r += {loads} * width", "if r < end:"]
    lines += [f"    {x} = {load(f'min(r + {k} * width, end - 1)')}" for k, x in enumerate(xs[:-1])]
    lines += ["    acc = core(acc, x0)"]
    for k, x in enumerate(xs[1:-1], 1):
        lines += [f"    if r + {k} * width < end:", f"        acc = core(acc, {x})"]
    return "\n".join("        " + line for line in lines)


def _make(name, core, kept, reduced, options, load, dtype):
    from pyptx import cuda

    name = identifier(name)
    ks, rs = [f"k{k}" for k in range(kept)], [f"r{k}" for k in range(reduced)]
    text = "".join(f"{k}, " for k in ks)
    index = f"a[{text}{', '.join(rs)}]"
    source = _KERNEL.format(
        element=f"load({index})" if load else index, shared="DTYPE" if load else "a.dtype",
        name=name, kept_parameters=text, kept_arguments=text,
        reduced_lines="\n    ".join(unravel("r", [f"a.shape[{kept + k}]" for k in range(reduced)], rs)),
        kept_lines="\n    ".join(unravel("o", [f"a.shape[{k}]" for k in range(kept)], ks)) if kept else "pass",
        lanes=_LANES if kept else _ALL_LANES, loads=_loads(text, _LOADS if reduced == 1 else 1), out_index=", ".join(["0", *ks]))
    scope = {"cuda": cuda, "core": core, "THREADS": THREADS, "load": load, "DTYPE": dtype}
    return cuda.jit(define(name, source, scope), **options)


_PIECES = """\
def pieces(word):
    {lines}
    return {tree}
"""


def _pieces(core, dtype, options):
    """A device function: the elements of a word, combined."""
    from pyptx import cuda

    bits = 8 * dtype.itemsize
    xs = [f"x{k}" for k in range(64 // bits)]
    lines = [f"{x} = cuda.uint{bits}(word >> cuda.uint64({k * bits}))" + ("" if dtype.kind == "u" else ".view(DTYPE)") for k, x in enumerate(xs)]
    source = _PIECES.format(lines="\n    ".join(lines), tree=_tree(xs))
    return cuda.jit(define("pieces", source, {"cuda": cuda, "core": core, "DTYPE": _pyptx.from_dtype(dtype)}), device=True, **options)


def _power(n):
    """The least power of two that is not below n."""
    return 1 << max(n - 1, 0).bit_length()


def _blocks():
    """Blocks that keep the device busy."""
    device = _pyptx.get_current_device()
    return 32 if device.is_host else device.MULTIPROCESSOR_COUNT * (2048 // THREADS)


def _shape_of_launch(outputs, length, along):
    """(blocks, slices, reduced elements a slice, threads along them, outputs a block)."""
    if outputs == 1:
        width, here = THREADS, 1  # as _ALL_LANES has it
    elif along:
        width = min(THREADS, max(min(32, _power(length)), _power(-(-length // _LOADS))))
        here = THREADS // width
    else:
        here = min(64, _power(outputs))
        width = min(THREADS // here, _power(length))
    blocks = -(-outputs // here)
    slices = max(1, min(_blocks() // blocks, -(-length // (width * _LOADS)), _SLICES))
    chunk = -(-length // (slices * width)) * width
    return blocks, -(-length // chunk), chunk, width, here


class Reduction:
    """The kernels of one function and dtype. load: what makes an element of the array one of that
    dtype, a function; None where it is one."""

    def __init__(self, function, dtype, options, load=None):
        from pyptx.cuda._jit import _read_options, jit

        kind = _pyptx.from_dtype(dtype)
        read = _read_options(options)
        self.stops = any(read.get(name) for name in ("debug", "exceptions", "boundscheck"))
        self.name, self.options, self.dtype = function.__name__, options, kind
        self.load = jit(device=True, **options)(load) if load else None
        self.core = jit(kind(kind, kind), device=True, **options)(function)
        self.kernels, self.pieces = {}, None

    def kernel(self, kept, reduced, load):
        key = kept, reduced, load
        found = self.kernels.get(key)
        return found if found is not None else self.kernels.setdefault(key, _make(self.name, self.core, kept, reduced, self.options, load, self.dtype))

    def run(self, a, kept, reduced, out, init, stream, ordered):
        """a: an array with these axes, not empty; out: one with those that are kept. ordered:
        objects with whose libraries' streams the launches are ordered."""
        shape, strides = tuple(a.shape), tuple(a.strides)
        lay = [strides[k] for k in kept], list(out.strides)
        kept_shape, (kept_steps, out_steps) = merged([shape[k] for k in kept], lay)
        reduced_shape, (reduced_steps,) = merged([shape[k] for k in reduced], [[strides[k] for k in reduced]])
        if kept_shape == (1,):
            kept_shape = kept_steps = out_steps = ()
        self._launch(view(a, (kept_shape + reduced_shape, kept_steps + reduced_steps)), len(kept_shape), out, out_steps, init, stream, ordered, self.load)

    def _launch(self, a, kept, out, out_steps, init, stream, ordered, load=None):
        shape = tuple(a.shape)
        outputs, length = _product(shape[:kept]), _product(shape[kept:])
        tail = None
        if load is None and kept == 0 and _in_words(a):
            if self.pieces is None:
                self.pieces = _pieces(self.core, a.dtype, self.options)
            a, tail, load = *_words(a), self.pieces
            length = a.shape[0]
        along = not kept or abs(a.strides[-1]) < abs(a.strides[kept - 1])
        blocks, slices, chunk, width, here = _shape_of_launch(outputs, length, along)
        launch = self.kernel(kept, len(shape) - kept, load)[(blocks, slices), width * here, stream]
        parts, arrived = (None, None) if slices == 1 else _scratch(out, slices * outputs, blocks, stream, self.stops)
        launch(a, view(out, ((1, *shape[:kept]), (0, *out_steps))), init, parts, arrived, tail, outputs, length, chunk, width, along,
               *([ordered] if ordered else ()))


def _in_words(a):
    """Are these numbers of 8 or 16 bits, one after another from an address of a word, and enough."""
    size = a.dtype.itemsize
    return size < 4 and a.dtype.kind in "iuf" and len(a.shape) == 1 and a.strides == (size,) and a.shape[0] * size >= _WORD * THREADS and origin(a) % _WORD == 0


def _words(a):
    """The array as words of 64 bits, and the elements behind the last whole one or None."""
    import numpy as np

    whole = a.shape[0] * a.dtype.itemsize // _WORD * _WORD // a.dtype.itemsize
    return a[:whole].view(np.uint64), a[whole:] if whole < a.shape[0] else None


# --- where slices leave their results, and count themselves. A counter is 0 between two launches:
# those of one stream can share it, and a graph's launch has one of its own.

_COUNTERS = 2048  # of one stream: as many as blocks along x that have several slices
_FOR_GRAPHS = 1 << 14
_STREAMS = 16
_lock = threading.Lock()
_held = {}  # (epoch of the device, stream, dtype): (parts, counters)
_spare = {}  # epoch: counters for graphs, as [array, how many are taken]


def _scratch(out, n, blocks, stream, stops):
    """(an array of n of out's dtype, counters of which `blocks` are 0). stops: may a thread stop with
    an exception, so that its block never counts."""
    import numpy as np

    if isinstance(out, np.ndarray):
        return np.empty(n, out.dtype), np.zeros(blocks, np.uint32)
    epoch, captured = _pyptx._scratch_state()
    if stops:
        return device_array(n, out.dtype, stream=stream), _zeroed(blocks, stream)
    if captured:
        return device_array(n, out.dtype, stream=stream), _counters_of_graph(epoch, blocks, stream)
    if not isinstance(stream, (int, _pyptx.Stream, type(None))) or getattr(stream, "handle", 0) == 2:
        return device_array(n, out.dtype, stream=stream), _zeroed(blocks, stream)  # the thread's own, or another library's
    key = epoch, stream if getattr(stream, "handle", 0) > 2 else None, out.dtype
    with _lock:
        found = _held.get(key)
        if found is None or found[0].shape[0] < n or found[1].shape[0] < blocks:
            if epoch not in _spare:
                _spare[epoch] = [_new_counters(_FOR_GRAPHS), 0]
            while len(_held) >= _STREAMS:
                del _held[next(iter(_held))]
            found = _held[key] = device_array(max(n, 2048), out.dtype), _new_counters(max(blocks, _COUNTERS))
    return found


def _new_counters(n):
    import numpy as np

    made = _pyptx.to_device(np.zeros(n, np.uint32))
    _pyptx.synchronize()  # they are 0 for every stream
    return made


def _zeroed(n, stream):
    import numpy as np

    made = device_array(n, np.uint32, stream=stream)
    made.fill(0, stream=stream)
    return made


def _counters_of_graph(epoch, blocks, stream):
    with _lock:
        spare = _spare.get(epoch)
        if spare is None or spare[1] + blocks > _FOR_GRAPHS:
            first = None
        else:
            first, spare[1] = spare[1], spare[1] + blocks
    return spare[0][first:first + blocks] if first is not None else _zeroed(blocks, stream)  # set to 0 by each launch of the graph


def _product(numbers):
    product = 1
    for n in numbers:
        product *= n
    return product


def normalized_axes(axis, ndim):
    from numpy.lib.array_utils import normalize_axis_tuple

    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)


def reduce(function, array, axis=None, init=NOTHING, out=None, stream=0, kernels=None, options=None, keepdims=False, ordered=(), dtype=None, load=None):
    """The elements of `array` along `axis` (an int, a tuple, None: all), combined by an associative
    and commutative function of two.

    The result has the dtype of the array, in which every step is computed; or `dtype`, of which
    load(element) makes each element one. init: a value that is
    combined with each result, and is the result of no elements. A number if no axis is left, unless
    `out` is given; else an array, in the memory of the device if `array` is.
    kernels: a dict of what was compiled, by dtype, that a caller keeps. ordered: further objects
        with whose libraries' streams it is ordered.
    """
    import numpy as np

    name = function.__name__
    work = Work([array], stream)
    value = work.values[0]
    if not is_array(value):
        raise TypeError(f"{name}: an array is reduced, not {type(array).__name__}")
    dtype = value.dtype if load is None else np.dtype(dtype)
    reduced = normalized_axes(axis, value.ndim)
    kept = [k for k in range(value.ndim) if k not in reduced]
    shape = tuple(value.shape[k] for k in kept)
    if init is NOTHING and 0 in value.shape and 0 not in shape:
        raise TypeError(f"Reduction on an empty array. {name} has no value for it; give an init or identity")
    start = None if init is NOTHING else np.asarray(init).astype(dtype, casting="same_kind" if isinstance(init, np.generic) else "unsafe")[()]
    given = tuple(1 if k in reduced else n for k, n in enumerate(value.shape)) if keepdims else shape
    if out is not None and tuple(out.shape) != given:
        raise ValueError(f"{name}: the result has the shape {given}, but out has {tuple(out.shape)}")
    work.bring()
    value = work.values[0]
    scalar = out is None and not given
    if scalar:
        work.resident = None
    target, finish = work.output(name, out, given, dtype)
    if scalar and not isinstance(value, np.ndarray) and isinstance(target, np.ndarray):
        target = target.reshape(())
    slot = target if not keepdims else view(target, (shape, tuple(target.strides[k] for k in kept)))
    _fill(function, value, kept, reduced, slot, start, stream, {} if kernels is None else kernels, options or {}, (*work.originals, *ordered), dtype, load)
    return finish()


def _fill(function, value, kept, reduced, out, start, stream, kernels, options, ordered, dtype, load):
    if 0 in out.shape:
        return
    if 0 in value.shape:
        from pyptx._ufunc import elementwise

        elementwise(_itself, start, out=out, stream=stream)
        return
    key = value.dtype if load is None else (value.dtype, dtype)
    made = kernels.get(key)
    if made is None:
        made = kernels.setdefault(key, Reduction(function, dtype, options, load))
    if (load is not None or value.dtype == out.dtype) and not reduced:
        return _no_axes(value, out, start, made, stream, ordered)
    made.run(value, kept, reduced, out, start, stream, ordered)


def _itself(x):
    return x


def _no_axes(value, out, start, made, stream, ordered):
    """axis=(): each element is reduced by itself."""
    made.run(view(value, ((*value.shape, 1), (*value.strides, 0))), list(range(value.ndim)), (value.ndim,), out, start, stream, ordered)


def _first(res):
    """The first element of a 1-D array, as an array without axes."""
    if is_array(res) and not len(res.shape):
        return res
    if not is_array(res) or len(res.shape) != 1 or res.shape[0] < 1:
        raise ValueError(f"res must be a 1-D array with one element at least, not {getattr(res, 'shape', res)!r}")
    return view(res, ((), ()))


class Reduce:
    """A reduction of arrays by a function of two elements: ``@cuda.reduce``.

    The function must be associative and commutative (as for Numba's, and CUB's): elements are
    combined in any order. It is compiled once for each dtype, and computes in that dtype.

        @cuda.reduce
        def add(a, b):
            return a + b

        add(x)                    # sum of a 1-D array, a NumPy number
        add(x, axis=0)            # of an array of any rank: an array without that axis

    Source: Mark Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA, 2007).
    """

    def __init__(self, functor):
        from pyptx._ufunc import plain

        self.py_func = self.__wrapped__ = plain(functor, "cuda.reduce")
        self.__name__, self.__qualname__ = self.py_func.__name__, self.py_func.__qualname__
        self.__module__, self.__doc__ = self.py_func.__module__, self.py_func.__doc__ or type(self).__doc__
        self._kernels = {}

    def __repr__(self):
        return f"<reduction '{self.__name__}'>"

    def __reduce__(self):
        return self.__qualname__

    def __call__(self, arr, size=None, res=None, init=0, stream=0, *, axis=ALL, keepdims=False):
        """Combines all elements of a 1-D array, or those along `axis` (an int, a tuple of ints,
        None for all) of any array.

        arr: a host or device array, or one of another library. size: how many of the first elements
        of a 1-D array count. res: an array for the result: the first element of a 1-D one (any
        shape with axis= or keepdims=: that of the result). Then None is returned, and nothing waits
        for the GPU. init: a value that is combined with the result, in the array's dtype; 0 by
        default, as in Numba, so a product needs init=1; None for none. stream: where it runs.

        Returns a NumPy number, or with axes left an array, on the device if `arr` is.

        TypeError: an array of more axes without axis=, or no elements with init=None; ValueError: a
            wrong size or shape of res.
        """
        from pyptx._elementwise import read

        value, original = read(arr)
        arr = value if original is None else arr
        if not is_array(value) or axis is ALL and value.ndim != 1:
            raise TypeError("only support 1D array: pass axis= (axis=None reduces all axes) for others")
        if size is not None:
            if value.ndim != 1 or not 0 <= size <= value.shape[0]:
                raise ValueError(f"size is from 0 to the length of a 1-D array, not {size} for the shape {tuple(value.shape)}")
            arr = view(value, ((size,), tuple(value.strides)))
        axes = None if axis is ALL else axis
        slot, library = (None, None) if res is None else read(res)
        if res is not None and not keepdims and len(normalized_axes(axes, value.ndim)) == value.ndim:
            slot = _first(slot)
        init = NOTHING if init is None else init
        result = reduce(self.py_func, arr, axes, init, slot, stream, self._kernels, keepdims=keepdims,
                        ordered=[x for x in (library, original) if x is not None])
        return result if res is None else None
