"""What cuda.… means where a kernel runs in Python: one table, from the name to a function of Python.

A name of ir/intrinsics.def that is neither here nor a function of numbers is refused with its name (`missing`).
"""

import re
import time

import numpy as np

from pyptx import _pyptx, types
from pyptx._stepping import functions, memory
from pyptx._stepping.schedule import WARP, now, tick, wait

FUNCTIONS, VALUES = {}, {}
_FULL = 0xFFFFFFFF


def _called(*names):
    def add(function):
        for name in names:
            FUNCTIONS["cuda." + name] = function
        return function

    return add


# --- where a thread is

_AXES = "xyz"
for _k, _axis in enumerate(_AXES):
    VALUES[f"cuda.threadIdx.{_axis}"] = lambda k=_k: now().index[k]
    VALUES[f"cuda.blockIdx.{_axis}"] = lambda k=_k: now().block.index[k]
    VALUES[f"cuda.blockDim.{_axis}"] = lambda k=_k: now().run.block[k]
    VALUES[f"cuda.gridDim.{_axis}"] = lambda k=_k: now().run.grid[k]
VALUES["cuda.laneid"] = lambda: now().lane
VALUES["cuda.warpsize"] = lambda: WARP


def _first(values, ndim):
    if ndim not in (1, 2, 3):
        raise ValueError(f"ndim is 1, 2 or 3, not {ndim!r}")
    return values[0] if ndim == 1 else tuple(values[:ndim])


@_called("grid")
def grid(ndim):
    t = now()
    return _first([b * n + i for b, n, i in zip(t.block.index, t.run.block, t.index)], ndim)


@_called("gridsize")
def gridsize(ndim):
    t = now()
    return _first([g * n for g, n in zip(t.run.grid, t.run.block)], ndim)


for _name, _mask in (("eq", lambda: np.uint32(1 << now().lane)), ("lt", lambda: np.uint32((1 << now().lane) - 1)),
                     ("le", lambda: np.uint32((2 << now().lane) - 1)), ("gt", lambda: np.uint32(_FULL & ~((2 << now().lane) - 1))),
                     ("ge", lambda: np.uint32(_FULL & ~((1 << now().lane) - 1)))):
    FUNCTIONS[f"cuda.lanemask_{_name}"] = _mask


# --- memory

def _dtype(dtype):
    if isinstance(dtype, _pyptx.Type):
        found = np.dtype(_pyptx.device_array(0, dtype=dtype).dtype)
        if found in (np.dtype("V2"), np.dtype("V1")):
            raise NotImplementedError(f"{dtype} in runs in Python needs the package ml_dtypes, whose numbers compute")
        return found
    return np.dtype(dtype)


def _shape(shape):
    return tuple(int(n) for n in shape) if isinstance(shape, tuple) else (int(shape),)


@_called("shared.array")
def shared_array(shape, dtype, alignment=None):
    import sys

    t, shape, dtype = now(), _shape(shape), _dtype(dtype)
    if shape == (0,):
        if t.block.dynamic is None:
            t.block.dynamic = np.zeros(t.run.dynamic_shared, np.uint8)
        whole = t.block.dynamic.size // dtype.itemsize * dtype.itemsize
        return memory.memory(t.block.dynamic[:whole].view(dtype))
    frame = sys._getframe(1)
    key = frame.f_code, frame.f_lasti, shape, dtype
    if key not in t.block.shared:
        t.block.shared[key] = memory.zeros(shape, dtype)
    return t.block.shared[key]


@_called("local.array")
def local_array(shape, dtype, alignment=None):
    return memory.zeros(_shape(shape), _dtype(dtype))


@_called("const.array_like")
def const_array(ary):
    return memory.memory(np.ascontiguousarray(ary), readonly=True)


@_called("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
def load(array, index):
    return array[index]


@_called("stcg", "stcs", "stwb", "stwt")
def store(array, index, value):
    array[index] = value


@_called("vector.load")
def vector_load(array, index, shape, alignment=None):
    *outer, last = index if isinstance(index, tuple) else (index,)
    values = array[(*outer, slice(last, last + shape))]
    if last < 0 or len(values) != shape:
        raise IndexError(f"cuda.vector.load of {shape} elements from index {last} of an axis with size {array.shape[-1]}")
    return vector_of(array.dtype, shape)(*values)


@_called("vector.aligned")
def vector_aligned(array, index, shape):
    numbers = array.dtype.kind in "iufV" and array.dtype.names is None
    index = index if isinstance(index, tuple) else (index,)
    address = array.ctypes.data + sum(i % n * stride for i, n, stride in zip(index, array.shape, array.strides))
    return bool(numbers and array.flags.c_contiguous and address % (shape * array.itemsize) == 0)


@_called("vector.store")
def vector_store(array, index, values, alignment=None):
    *outer, last = index if isinstance(index, tuple) else (index,)
    if last < 0 or last + len(values) > array.shape[-1]:
        raise IndexError(f"cuda.vector.store of {len(values)} elements from index {last} of an axis with size {array.shape[-1]}")
    array[(*outer, slice(last, last + len(values)))] = tuple(values)


# --- vectors

_VECTORS = {}
_C_NAMES = {"char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64", "half": "float16", "float": "float32", "double": "float64"}
_C_NAMES.update({"u" + c: "u" + name for c, name in _C_NAMES.items() if name.startswith("int")})


def vector_of(dtype, count):
    """The class of vectors of so many numbers: a tuple with .x .y .z .w, or a plain tuple where there is no such class."""
    bytes_of_floats = dtype.name.startswith("float8_")
    if count > 4 or (count % 2 if bytes_of_floats else dtype.kind not in "iuf"):
        return lambda *values: tuple(values)
    key = dtype, count
    if key not in _VECTORS:
        def new(cls, *components):
            flat = [x for c in components for x in (c if isinstance(c, tuple) else (c,))]
            if len(flat) != count:
                raise TypeError(f"{cls.__name__} has {count} numbers, {len(flat)} are given")
            return tuple.__new__(cls, (memory.convert(x, dtype) for x in flat))

        members = {axis: property(lambda v, k=k: v[k]) for k, axis in enumerate("xyzw"[:count])}
        if bytes_of_floats:
            members["__getattr__"] = _bits_of_vector
        _VECTORS[key] = type(f"{dtype.name}x{count}", (tuple,), {"__new__": new, "__slots__": (), "dtype": dtype, **members})
    return _VECTORS[key]


def _bits_of_vector(vector, name):
    """`__x` of a vector of floats of 8 bits, which a class's body calls `_Class__x`."""
    if not re.fullmatch(r"(_\w+)?__x", name):
        raise AttributeError(f"{type(vector).__name__} has no {name}", name=name, obj=vector)
    return np.array(vector, vector.dtype).view(f"u{len(vector)}")[0]


def _vector_named(name):
    if name[-1:] not in "1234" or not name:
        return None
    kind = name[:-1].removesuffix("x") if name[:-1].endswith("x") else _C_NAMES.get(name[:-1])
    try:
        return vector_of(_dtype(getattr(types, kind) if kind.startswith("float8_") else kind), int(name[-1])) if kind else None
    except (AttributeError, TypeError):
        return None


# --- barriers

FUNCTIONS["cuda.syncthreads"] = FUNCTIONS["cuda.intrin.barrier"] = lambda: wait("barrier")
FUNCTIONS["cuda.syncthreads_and"] = lambda predicate: wait("barrier", value=bool(predicate), finish=lambda v: int(all(v)))
FUNCTIONS["cuda.syncthreads_or"] = lambda predicate: wait("barrier", value=bool(predicate), finish=lambda v: int(any(v)))
FUNCTIONS["cuda.syncthreads_count"] = lambda predicate: wait("barrier", value=bool(predicate), finish=sum)
for _name in ("threadfence", "threadfence_block", "threadfence_system", "fence_proxy_async", "fence_proxy_async_shared",
              "fence_proxy_async_global", "fence_proxy_alias", "grid_dependency_control_wait", "grid_dependency_control_launch_dependents"):
    FUNCTIONS["cuda." + _name] = lambda: tick(100)
FUNCTIONS["cuda.nanosleep"] = lambda ns: tick(1_000_000)


def _numbered(barrier, threads):
    barrier, threads = int(barrier), int(threads)
    if not 1 <= barrier <= 15:
        raise ValueError(f"barriers have the numbers 1 to 15, not {barrier}")
    if threads <= 0 or threads % WARP:
        raise ValueError(f"the threads of a barrier are a multiple of {WARP}, not {threads}")
    return barrier, threads


@_called("barrier_sync")
def barrier_sync(barrier, threads):
    wait("numbered", value=_numbered(barrier, threads))


@_called("barrier_arrive")
def barrier_arrive(barrier, threads):
    t, which = now(), _numbered(barrier, threads)
    t.block.arrived[which[0]] = t.block.arrived.get(which[0], 0) + 1
    t.run.try_numbered(t.block, which)


class GridGroup:
    """cuda.cg.this_grid()"""

    def sync(self):
        wait("grid")


FUNCTIONS["cuda.cg.this_grid"] = GridGroup


# --- warps

def _warp(name, mask, value, finish):
    """A warp operation: finish(values by lane, own lane) is each lane's result."""
    from pyptx import errors
    from pyptx._stepping.schedule import _here

    t, mask = now(), int(mask) & _FULL
    if not mask >> t.lane & 1:
        raise errors._finding(8, 0, "", _here()[1], None, t.index, t.block.index, t.index, t.block.index, (t.lane, t.lane))
    return wait("warp", mask, value, finish, name)


def _shuffle(name, third, source):
    def shuffle(mask, value, *by, **keyword):
        if len(by) + len(keyword) != 1 or not by and third not in keyword:
            raise TypeError(f"{name}(mask, value, {third}) takes three arguments")
        by = int(by[0] if by else keyword[third]) % WARP

        def finish(values, lane):
            own, _ = values[lane]
            other = source(lane, values[lane][1])
            return values[other][0] if other in values else own

        return _warp(name, mask, (value, by), finish)

    FUNCTIONS[f"cuda.{name}"] = shuffle


_shuffle("shfl_sync", "src_lane", lambda lane, by: by)
_shuffle("shfl_up_sync", "delta", lambda lane, by: lane - by)
_shuffle("shfl_down_sync", "delta", lambda lane, by: lane + by if lane + by < WARP else lane)
_shuffle("shfl_xor_sync", "lane_mask", lambda lane, by: lane ^ by)


def _vote(name, result):
    FUNCTIONS[f"cuda.{name}"] = lambda mask, predicate: _warp(name, mask, bool(predicate), lambda values, lane: result(values))


_vote("all_sync", lambda values: all(values.values()))
_vote("any_sync", lambda values: any(values.values()))
_vote("eq_sync", lambda values: len(set(values.values())) == 1)
_vote("ballot_sync", lambda values: np.uint32(sum(1 << lane for lane, v in values.items() if v)))


def _bits(value):
    return np.asarray(value).tobytes()


def _same(values, lane):
    return np.uint32(sum(1 << other for other, v in values.items() if v == values[lane]))


@_called("match_any_sync")
def match_any(mask, value):
    return _warp("match_any_sync", mask, _bits(value), _same)


@_called("match_all_sync")
def match_all(mask, value):
    return _warp("match_all_sync", mask, _bits(value),
                 lambda values, lane: (_same(values, lane), True) if len(set(values.values())) == 1 else (np.uint32(0), False))


@_called("syncwarp")
def syncwarp(mask=_FULL):
    _warp("syncwarp", mask, None, lambda values, lane: None)


@_called("activemask")
def activemask():
    return np.uint32(wait("active"))


@_called("elect_sync", "intrin.elect_sync", "intrin.elect_sync_mask")
def elect_sync(mask=_FULL):
    return _warp("elect_sync", mask, None, lambda values, lane: lane == min(values))


# --- atomics

def _atomic(name, new):
    """new(element, value): what is stored, or None."""

    def operation(ary, idx, val):
        return _exchange(ary, idx, lambda old: new(old, memory.convert(val, ary.dtype)))

    operation.__name__ = name
    FUNCTIONS[f"cuda.atomic.{name}"] = operation


def _exchange(ary, idx, new):
    now()
    tick(1000)
    old = np.ndarray.__getitem__(ary, idx)
    value = new(old)
    if value is not None:
        ary[idx] = value
    return old


def _below(x, y):
    return x < y or (x == y and bool(np.signbit(x)) > bool(np.signbit(y)))


def _extreme(which, nan_stays):
    def new(old, value):
        if value != value or (nan_stays and old != old):
            return None
        return value if old != old or which(value, old) else None

    return new


_atomic("add", lambda old, value: old + value)
_atomic("sub", lambda old, value: old - value)
_atomic("max", _extreme(lambda x, y: _below(y, x), True))
_atomic("min", _extreme(_below, True))
_atomic("nanmax", _extreme(lambda x, y: _below(y, x), False))
_atomic("nanmin", _extreme(_below, False))
_atomic("and_", lambda old, value: old & value)
_atomic("or_", lambda old, value: old | value)
_atomic("xor", lambda old, value: old ^ value)
_atomic("inc", lambda old, value: 0 if old >= value else int(old) + 1)
_atomic("dec", lambda old, value: value if old == 0 or old > value else int(old) - 1)
_atomic("exch", lambda old, value: value)


@_called("atomic.cas")
def atomic_cas(ary, idx, old, val):
    wanted = memory.convert(old, ary.dtype)
    return _exchange(ary, idx, lambda was: memory.convert(val, ary.dtype) if _bits(was) == _bits(wanted) else None)


@_called("atomic.compare_and_swap")
def atomic_compare_and_swap(ary, old, val):
    return atomic_cas(ary, (0,) * ary.ndim, old, val)


# --- the rest

@_called("static_assert", "assume")
def static_assert(condition, message):
    assert condition, message


@_called("inline_ptx", "experimental.inline_ptx")
def inline_ptx(text, *operands, host=None):
    if host is None:
        raise NotImplementedError("cuda.inline_ptx: PTX cannot run in Python: give host=, a function of what the text reads")
    flat = [x for o in operands for x in (o if isinstance(o, tuple) and len(o) == 2 and isinstance(o[0], str) else (o,))]
    pairs = list(zip(flat[::2], flat[1::2]))
    read = [value for letter, value in pairs if not letter.startswith("=")]
    kinds = [value if letter.startswith("=") else type(value) for letter, value in pairs if letter[0] in "=+"]
    result = host(*read)
    if not kinds:
        return None
    results = result if len(kinds) > 1 else (result,)
    results = tuple(memory.convert(x, _dtype(kind)) if kind not in (bool, int, float) else x for x, kind in zip(results, kinds))
    return results if len(kinds) > 1 else results[0]


FUNCTIONS["cuda.clock"] = FUNCTIONS["cuda.clock64"] = FUNCTIONS["cuda.globaltimer"] = time.perf_counter_ns
for _name in ("setmaxregister_increase", "setmaxregister_decrease"):
    FUNCTIONS["cuda." + _name] = lambda count: None

# Functions of numbers alone, which the host device computes.
OF_NUMBERS = frozenset("cuda." + name for name in ("popc", "brev", "clz", "ffs", "selp", "fma", "cbrt"))
_OF_NUMBERS_IN = ("cuda.libdevice.", "cuda.fp16.")


class Namespace:
    """cuda.threadIdx, cuda.atomic …"""

    def __init__(self, stub, path):
        self._stub, self._path = stub, path

    def __getattr__(self, name):
        found = of(getattr(self._stub, name))
        if isinstance(found, Value):
            return found.read()
        self.__dict__[name] = found
        return found

    def __dir__(self):
        return dir(self._stub)

    def __repr__(self):
        try:
            return "(" + ", ".join(str(getattr(self, axis)) for axis in _AXES) + ")"
        except (AttributeError, TypeError):
            return f"<{self._path} in Python>"


class Value:
    """cuda.laneid and its kin, which each thread reads anew."""

    def __init__(self, read):
        self.read = read


class Missing:
    """A name that says so when it is called, or is to be the type of an array's elements."""

    def __init__(self, path):
        self.path = path

    def __call__(self, *args, **keywords):
        raise NotImplementedError(f"{self.path} is not part of runs in Python: run the kernel with PYPTX_DEVICE=host, or on a GPU")

    dtype = property(__call__)


def of(found):
    """What an attribute of a namespace is in Python."""
    if not isinstance(found, _pyptx.Intrinsic):
        return found
    path = found.__reduce__()[1][0]
    if path in VALUES:
        return Value(VALUES[path])
    if path in FUNCTIONS:
        return FUNCTIONS[path]
    if found.__text_signature__ is None:
        return Namespace(found, path) if dir(found) else Missing(path)
    if path in OF_NUMBERS or path.startswith(_OF_NUMBERS_IN):
        return functions.function(found, path)
    return _vector_named(path.removeprefix("cuda.")) or Missing(path)


