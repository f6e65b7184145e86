"""cuda.reduce: an associative and commutative function over the elements of an array, or over some
of its axes.

One launch does it. A block reduces a chunk of the elements, a slice; a thread has several loads in
flight. Where there are several slices, the last block of them to end combines their results, in the
slices' order, so that the result is the same each time. (Mark Harris, "Optimizing Parallel
Reduction in CUDA"; CUDA's sample threadFenceReduction.)

There are two kernels. Where all axes are reduced (_ALL_AXES), a block's threads are combined by
shuffles, and numbers that lie one after another are loaded 16 bytes at a time: of a few megabytes,
latency is what takes the time. Where some axes are kept (_SOME_AXES), the kernel's array has them
first, then those that are reduced. A block has `width` threads along the reduced elements for each
of `here` outputs, which a tree in shared memory combines; slices are blocks along y.
"""

import threading

from pyptx import _pyptx
from pyptx._elementwise import Work, define, identifier, is_array, merged, origin, unravel, view
from pyptx._pyptx import device_array

THREADS = 256
_LOADS = 8  # that a thread has in flight
_WORD = 16  # bytes of a vector load,
_WORDS = 4  # of which a thread has so many in flight
_SLICES = 65535
ALL = object()
NOTHING = object()

_ELEMENT = """\
def at(a, {kept_parameters}r):
    {reduced_lines}
    return {element}

"""

_VECTOR = """\
def at(a, r):
    {names} = cuda.vector.load(a, r * {each}, {each})
    return {tree}

"""

_REST = """\
    if cuda.blockIdx.x == 0 and t < a.size - length * {each}:
        acc = core(acc, {last})"""

_ALL_AXES = """\
def increment(arrived, most):
    cuda.threadfence()
    old = cuda.atomic.inc(arrived, 0, most)
    cuda.threadfence()
    return old

def arrive(arrived, most):
    # A fence and the increment in one: what a block wrote before it is seen by the last one.
    return cuda.inline_ptx("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;", "=r", cuda.uint32, "l", arrived, "r", cuda.uint32(most), host=increment)

def together(acc, shared, t, used):
    distance = 1
    while distance < 32:
        other = cuda.shfl_down_sync(0xFFFFFFFF, acc, distance)
        if t + distance < used:
            acc = core(acc, other)
        distance *= 2
    if t % 32 == 0:
        shared[t // 32] = acc
    cuda.syncthreads()
    if t == 0:
        for warp in range(1, THREADS // 32):
            if warp * 32 < used:
                acc = core(acc, shared[warp])
    return acc

def {name}(a, out, init, parts, arrived, length, chunk, ordered=None):
    shared = cuda.shared.array(THREADS // 32, {shared})
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * chunk
    end = cuda.int32(min(length - first, chunk))
    {beginning}
    r = t
{loads}
{rest}
    acc = together(acc, shared, t, min(THREADS, end))
    if parts is not None:
        last = cuda.shared.array(1, cuda.boolean)
        slices = cuda.gridDim.x
        if t == 0:
            parts[cuda.blockIdx.x] = acc
            last[0] = arrive(arrived, slices - 1) == slices - 1
        cuda.syncthreads()
        if not last[0]:
            return
        r = t
{parts_loads}
        acc = together(acc, shared, t, min(THREADS, slices))
    if t == 0:
        if init is not None:
            acc = core(acc, init)
        out[0] = acc
"""


_SOME_AXES = """\
def tree(shared, t, o, outputs, lane, half, distance, used):
    while half > 0:
        cuda.syncthreads()
        if o < outputs and lane < half and lane + half < used:
            shared[t] = core(shared[t], shared[t + half * distance])
        half //= 2

def {name}(a, out, init, parts, arrived, outputs, length, chunk, width, along, ordered=None):
    shared = cuda.shared.array(THREADS, {shared})
    t = cuda.threadIdx.x
    # A thread is number r of those along the reduced elements of output o.
    here = cuda.blockDim.x // width
    if along:
        r, o = t % width, t // width
    else:
        r, o = t // here, t % here
    distance = 1 if along else here  # from one of these threads to the next
    o += cuda.blockIdx.x * here
    lane = r
    first = cuda.blockIdx.y * chunk
    end = min(length, first + chunk)
    used = min(width, end - first)
    r += first
    {kept_lines}
    if o < outputs and lane < used:
{loads}
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


def _tree(names):
    while len(names) > 1:
        names = [f"core({x}, {y})" for x, y in zip(names[::2], names[1::2])] + names[len(names) // 2 * 2 :]
    return names[0]


def _loads(load, loads, width="THREADS", end="end", indent=4):
    """acc = the elements r, r + width, … before the end, load(index), combined; of a thread that has
    none, any element. Full rounds, then one whose loads are all made, and used where there is an
    element."""
    xs = [f"x{k}" for k in range(loads)]
    all_of = [f"    {x} = {load(f'r + {k} * {width}')}" for k, x in enumerate(xs)]
    full, step = f"r + {loads - 1} * {width} < {end}:", f"    r += {loads} * {width}"
    lines = [f"if {full}", *all_of, f"    acc = {_tree(xs)}", step, "else:", f"    acc = {load(f'r if r < {end} else 0')}", f"    r += {width}"]
    lines += [f"while {full}", *all_of, f"    acc = core(acc, {_tree(xs)})", step]
    if loads > 1:
        lines += [f"if r < {end}:"]
        lines += [f"    {x} = {load(f'min(r + {k} * {width}, {end} - 1)')}" for k, x in enumerate(xs[:-1])]
        lines += ["    acc = core(acc, x0)"]
        for k, x in enumerate(xs[1:-1], 1):
            lines += [f"    if r + {k} * {width} < {end}:", f"        acc = core(acc, {x})"]
    return "\n".join(indent * " " + line for line in lines)


def _make(name, core, kept, reduced, options, load, dtype, each):
    """The kernel for an array of so many axes; each: the elements that at() loads and combines."""
    from pyptx import cuda

    ks, rs = [f"k{k}" for k in range(kept)], [f"r{k}" for k in range(reduced)]
    text = "".join(f"{k}, " for k in ks)
    fields = {"name": identifier(name), "shared": "DTYPE" if load else "a.dtype", "kept_parameters": text, "kept_arguments": text,
              "out_index": ", ".join(["0", *ks]), "each": each}  # fmt: skip

    def element(x):
        return f"load({x})" if load else x

    if each > 1:
        xs = [f"x{k}" for k in range(each)]
        source = _VECTOR.format(names=", ".join(xs), tree=_tree([element(x) for x in xs]), **fields)
    else:
        index = unravel("r", [f"a.shape[{kept + k}]" for k in range(reduced)], rs)
        source = _ELEMENT.format(element=element(f"a[{text}{', '.join(rs)}]"), reduced_lines="\n    ".join(index), **fields)
    loads = 1 if reduced > 1 else _LOADS if each == 1 else _WORDS
    if kept:
        kept_lines = "\n    ".join(unravel("o", [f"a.shape[{k}]" for k in range(kept)], ks))
        source += _SOME_AXES.format(kept_lines=kept_lines, loads=_loads(lambda at: f"at(a, {text}{at})", loads, "width", indent=8), **fields)
    else:
        # An array of one axis begins with the slice: its indices are not negative, and 32 bits
        # hold them.
        beginning, at_r = (f"slice = a[first * {each}:]", "at(slice, {})") if reduced == 1 else ("pass", "at(a, first + ({}))")
        rest = _REST.format(last=element(f"a[length * {each} + t]"), **fields) if each > 1 else "    pass"
        source += _ALL_AXES.format(beginning=beginning, loads=_loads(at_r.format, loads), rest=rest,
                                   parts_loads=_loads("parts[{}]".format, _WORDS, end="slices", indent=8), **fields)
    scope = {"cuda": cuda, "core": core, "THREADS": THREADS, "load": load, "DTYPE": dtype}
    return cuda.jit(define(fields["name"], source, scope), **options)


def _power(n):
    """The least power of two that is not below n."""
    return 1 << max(n - 1, 0).bit_length()


def _busy():
    """(blocks that keep the device busy, rounds of loads that a slice has at least: a CPU, where a
    block is no cheaper than its instructions, takes fewer blocks with more work)."""
    device = _pyptx.get_current_device()
    return (32, 8) if device.is_host else (device.MULTIPROCESSOR_COUNT * (2048 // THREADS), 1)


def _chunks(length, width, loads, most):
    """(slices, at most so many; elements a slice, a multiple of `width`)."""
    slices = max(1, min(most, -(-length // (width * loads)), _SLICES))
    chunk = -(-length // (slices * width)) * width
    return -(-length // chunk), chunk


def _shape_of_launch(outputs, length, along):
    """(blocks, slices, reduced elements a slice, threads along them, outputs a block)."""
    if along:
        width = min(THREADS, max(min(32, _power(length)), _power(-(-length // _LOADS))))
        here = THREADS // width
    else:
        here = min(64, _power(outputs))
        width = min(THREADS // here, _power(length))
    blocks = -(-outputs // here)
    return blocks, *_chunks(length, width, _LOADS, _busy()[0] // blocks), width, here


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
        self.kernels = {}

    def kernel(self, kept, reduced, each=1):
        key = kept, reduced, each
        found = self.kernels.get(key)
        return found if found is not None else self.kernels.setdefault(
            key, _make(self.name, self.core, kept, reduced, self.options, self.load, self.dtype, each))

    def run(self, a, kept, reduced, out, init, stream, ordered):
        """a: an array with these axes, not empty; out: one with those that are kept. ordered:
        objects with whose libraries' streams the launches are ordered."""
        shape, strides = tuple(a.shape), tuple(a.strides)
        lay = [strides[k] for k in kept], list(out.strides)
        kept_shape, (kept_steps, out_steps) = merged([shape[k] for k in kept], lay)
        reduced_shape, (reduced_steps,) = merged([shape[k] for k in reduced], [[strides[k] for k in reduced]])
        if kept_shape == (1,):
            kept_shape = kept_steps = out_steps = ()
        a, kept = view(a, (kept_shape + reduced_shape, kept_steps + reduced_steps)), len(kept_shape)
        lead = (ordered,) if ordered else ()
        if kept:
            self._some_axes(a, kept, view(out, ((1, *kept_shape), (0, *out_steps))), out, init, stream, lead)
        else:
            self._all_axes(a, view(out, ((1,), (0,))), out, init, stream, lead)

    def _all_axes(self, a, slot, out, init, stream, ordered):
        each = _in_words(a)
        length = _product(a.shape) // each
        blocks, rounds = _busy()
        slices, chunk = _chunks(length, THREADS, rounds * (_LOADS if each == 1 else _WORDS), blocks)
        parts, arrived = (None, None) if slices == 1 else _scratch(out, slices, 1, stream, self.stops)
        self.kernel(0, len(a.shape), each)[slices, THREADS, stream](a, slot, init, parts, arrived, length, chunk, *ordered)

    def _some_axes(self, a, kept, slot, out, init, stream, ordered):
        shape = tuple(a.shape)
        outputs, length = _product(shape[:kept]), _product(shape[kept:])
        along = abs(a.strides[-1]) < abs(a.strides[kept - 1])
        blocks, slices, chunk, width, here = _shape_of_launch(outputs, length, along)
        launch = self.kernel(kept, len(shape) - kept)[(blocks, slices), width * here, stream]
        parts, arrived = (None, None) if slices == 1 else _scratch(out, slices * outputs, blocks, stream, self.stops)
        launch(a, slot, init, parts, arrived, outputs, length, chunk, width, along, *ordered)


def _in_words(a):
    """How many of the elements a vector load can have: more than one if they are numbers, one after
    another from an address of a word, and enough for a block."""
    size = a.dtype.itemsize
    fit = a.dtype.kind in "iuf" and len(a.shape) == 1 and a.strides == (size,) and a.shape[0] * size >= _WORD * THREADS and origin(a) % _WORD == 0
    return _WORD // size if fit and size < _WORD else 1


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

    if axis is not None and not all(hasattr(a, "__index__") for a in (axis if isinstance(axis, (tuple, list)) else (axis,))):
        raise TypeError(f"axis is an int, a tuple of ints, or None for all, not {axis!r}")
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)


def _start(name, init, dtype):
    """init as a number of the dtype. TypeError, OverflowError: it is none."""
    import numpy as np

    if isinstance(init, np.generic) or not isinstance(init, (bool, int, float, complex)) or dtype.kind not in "iufc":
        return np.asarray(init).astype(dtype, casting="same_kind" if isinstance(init, np.generic) else "unsafe")[()]
    if dtype.kind in "iu" and isinstance(init, float) and init.is_integer():
        init = int(init)
    if np.result_type(init, dtype) != dtype:
        raise TypeError(f"{name}: init is {init!r}, which {dtype}, the array's type, cannot hold: pass one of that type, or reduce x.astype(...)")
    return dtype.type(init)


def _check_functor(function, dtype, options):
    """Compiles the function alone, so that errors are about its lines; it gives what it takes.
    TypeError."""
    import numpy as np

    from pyptx._ufunc import result_type

    kind = repr(_pyptx.from_dtype(dtype))
    result = repr(result_type(function, [kind, kind], options))
    if dtype.kind not in "biufc" or result == kind:
        return
    weak = {"pybool": "bool", "pyint": "int64", "pyfloat": "float64", "pycomplex": "complex128"}
    have = weak.get(result, result)
    have = np.dtype(have) if have in np.sctypeDict or have == "bool" else None
    integers = have is not None and have.kind in "iu" and dtype.kind in "iu"
    if have is None or (have.kind == "b") != (dtype.kind == "b") or not (integers or np.can_cast(have, dtype, "same_kind")):
        raise TypeError(f"{function.__name__}: of two {kind} it gives {result}, which is not combined further: it must give one {kind}\n"
                        "  help: convert its result, or reduce an array of that type, x.astype(...)")


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
    if dtype.names:
        raise TypeError(f"{name}: records are not reduced, but an array of one of their fields is: a[{dtype.names[0]!r}]")
    reduced = normalized_axes(axis, value.ndim)
    kept = [k for k in range(value.ndim) if k not in reduced]
    shape = tuple(value.shape[k] for k in kept)
    if init is NOTHING and 0 in value.shape and 0 not in shape:
        raise TypeError(f"Reduction on an empty array. {name} has no value for it; give an init or identity")
    start = None if init is NOTHING else _start(name, init, dtype)
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
        if load is None and not function.__module__.startswith("pyptx."):
            _check_functor(function, dtype, options)
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
        code, defaults = self.py_func.__code__, len(self.py_func.__defaults__ or ())
        if not code.co_argcount - defaults <= 2 <= code.co_argcount:
            raise TypeError(f"@cuda.reduce: {self.py_func.__name__} must take two positional arguments, the elements that it combines, not {code.co_argcount}")
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
        import numpy as np

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
        if res is not None and library is None and slot is not res and not hasattr(res, "dtype"):
            raise TypeError(f"res must be an array, which gets the result, not {type(res).__name__}: pass np.empty(1, dtype)")
        apart = slot if isinstance(slot, np.ndarray) and not np.may_share_memory(slot, res) else None  # of another byte order
        if res is not None and not keepdims and len(normalized_axes(axes, value.ndim)) == value.ndim:
            slot = _first(slot)
        init = NOTHING if init is None else init
        result = reduce(self.py_func, arr, axes, init, slot, stream, self._kernels, keepdims=keepdims,
                        ordered=[x for x in (library, original) if x is not None])
        if apart is not None:
            res[...] = apart
        return result if res is None else None
