"""Runs a kernel on the device and, thread by thread, as plain Python over NumPy scalars, and compares the arrays.

The rule under test is semantics.md's: what NumPy gives for scalars of these types, the kernel
gives. So the expected value of every test comes from CPython running the kernel's own function
(`py_func`) with a stand-in for `cuda`; nothing is computed by hand. Barriers work in the stand-in
too: a block with barriers runs on one OS thread for each of its threads.
"""

import builtins
import dis
import itertools
import linecache
import math
import threading
import types
import warnings

import numpy as np
import pytest
from pyptx import cuda

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
STRONG = ["bool", *INTS, *FLOATS]
COMPLEX = ["complex64", "complex128"]


def dim3(n):
    n = (n,) if isinstance(n, (int, np.integer)) else tuple(n)
    return n + (1,) * (3 - len(n))


def numpy_dtype(dtype):
    """np.float32, 'float32', pyptx.float32, float … to a NumPy dtype."""
    try:
        return np.dtype(dtype)
    except TypeError:
        return np.dtype(getattr(dtype, "name", None) or str(dtype).rsplit(".", 1)[-1])


# --- the stand-in for pyptx.cuda
# ---------------------------------------------------------------------------------


class Xyz:
    def __init__(self, values):
        self.x, self.y, self.z = values


class Barrier:
    """Releases when every thread of the block that still runs has arrived, as CUDA's barrier does."""

    def __init__(self, parties):
        self.condition = threading.Condition()
        self.running, self.waiting, self.phase = parties, 0, 0
        self.collected, self.result = [], []

    def release_if_full(self):
        if self.waiting and self.waiting == self.running:
            self.result, self.collected = self.collected, []
            self.waiting = 0
            self.phase += 1
            self.condition.notify_all()

    def wait(self, value=None):
        with self.condition:
            phase = self.phase
            self.collected.append(value)
            self.waiting += 1
            self.release_if_full()
            while self.phase == phase:
                assert self.condition.wait(30), "the simulated block is stuck at a barrier"
            return self.result

    def leave(self):
        with self.condition:
            self.running -= 1
            self.release_if_full()


WARP_OPERATIONS = (
    "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "all_sync", "any_sync", "eq_sync",
    "ballot_sync", "match_any_sync", "match_all_sync", "syncwarp",
)  # fmt: skip


class Warp:
    """Up to 32 threads: an operation is done once every lane of its mask that still runs has come to it."""

    def __init__(self, lanes):
        self.condition = threading.Condition()
        self.running = set(range(lanes))
        self.waiting = {}  # lane: (operation, mask, value)
        self.seen = {}  # lane: {lane: value} of the operation that it goes on from

    def release(self):
        for lane, (operation, mask, _) in list(self.waiting.items()):
            here_now = {k for k, (o, m, _) in self.waiting.items() if (o, m) == (operation, mask)}
            if lane in self.waiting and {k for k in self.running if mask >> k & 1} <= here_now:
                values = {k: self.waiting.pop(k)[2] for k in here_now}
                self.seen.update({k: values for k in values})
                self.condition.notify_all()

    def meet(self, lane, operation, mask, value=None):
        with self.condition:
            self.waiting[lane] = (operation, int(mask) & 0xFFFFFFFF, value)
            self.release()
            while lane in self.waiting:
                assert self.condition.wait(30), "the simulated warp is stuck"
            return self.seen[lane]

    def leave(self, lane):
        with self.condition:
            self.running.discard(lane)
            self.release()


class Here(threading.local):
    """Where the calling thread stands: set by simulate()."""

    thread = block = (0, 0, 0)
    ngrid = nblock = (1, 1, 1)
    shared = barrier = sharedbytes = warps = None
    order = 0


here = Here()
atomic_lock = threading.RLock()


def old_value(operation):
    def atomic(array, index, *values):
        with atomic_lock:
            old = array[index]
            new = operation(old, *(array.dtype.type(v) for v in values))
            if new is not None:
                array[index] = new
            return old

    return staticmethod(atomic)


class FakeAtomic:
    add = old_value(lambda old, v: old + v)
    sub = old_value(lambda old, v: old - v)
    max = old_value(lambda old, v: v if v > old else old)
    min = old_value(lambda old, v: v if v < old else old)
    nanmax = old_value(lambda old, v: v if v > old or old != old and v == v else old)
    nanmin = old_value(lambda old, v: v if v < old or old != old and v == v else old)
    inc = old_value(lambda old, v: 0 if old >= v else old + 1)
    dec = old_value(lambda old, v: v if old == 0 or old > v else old - 1)
    and_ = old_value(lambda old, v: old & v)
    or_ = old_value(lambda old, v: old | v)
    xor = old_value(lambda old, v: old ^ v)
    exch = old_value(lambda old, v: v)
    cas = old_value(lambda old, expected, v: v if old == expected else None)

    @staticmethod
    def compare_and_swap(array, expected, v):
        return FakeAtomic.cas(array, (0,) * array.ndim, expected, v)


class Stored(np.ndarray):
    """An array whose stores convert as a kernel's do (semantics.md, sections 4 and 6)."""

    def __setitem__(self, index, value):
        plain = np.ndim(value) == 0 and not self.dtype.names
        super().__setitem__(index, store(self.dtype, value) if plain else value)


class FakeShared:
    @staticmethod
    def array(shape, dtype, alignment=None):
        dtype = numpy_dtype(dtype)
        if (
            isinstance(shape, int) and shape == 0
        ):  # dynamic shared memory: every such array is the same memory
            return (
                here.sharedbytes[: len(here.sharedbytes) // dtype.itemsize * dtype.itemsize]
                .view(dtype)
                .view(Stored)
            )
        # The n-th call of a thread is the n-th array of its block.
        here.order += 1
        with atomic_lock:
            return here.shared.setdefault(here.order, np.zeros(shape, dtype).view(Stored))


class FakeLocal:
    @staticmethod
    def array(shape, dtype, alignment=None):
        return np.zeros(shape, numpy_dtype(dtype)).view(Stored)


def position(ndim):
    return tuple(here.block[k] * here.nblock[k] + here.thread[k] for k in range(ndim))


class FakeCuda:
    threadIdx = property(lambda self: Xyz(here.thread))
    blockIdx = property(lambda self: Xyz(here.block))
    blockDim = property(lambda self: Xyz(here.nblock))
    gridDim = property(lambda self: Xyz(here.ngrid))
    laneid = property(lambda self: linear(here.thread, here.nblock) % 32)
    warpsize = 32
    atomic, shared, local = FakeAtomic, FakeShared, FakeLocal

    def grid(self, ndim):
        return position(1)[0] if ndim == 1 else position(ndim)

    def gridsize(self, ndim):
        sizes = tuple(here.ngrid[k] * here.nblock[k] for k in range(ndim))
        return sizes[0] if ndim == 1 else sizes

    def syncthreads(self):
        here.barrier.wait()

    def syncthreads_and(self, predicate):
        return int(all(here.barrier.wait(bool(predicate))))

    def syncthreads_or(self, predicate):
        return int(any(here.barrier.wait(bool(predicate))))

    def syncthreads_count(self, predicate):
        return sum(here.barrier.wait(bool(predicate)))

    def meet(self, operation, mask, value=None):
        return here.warps[linear(here.thread, here.nblock) // 32].meet(self.laneid, operation, mask, value)

    def shuffle(self, operation, mask, value, source):
        values = self.meet(operation, mask, value)
        return values.get(source, value)

    def shfl_sync(self, mask, value, src_lane):
        return self.shuffle("shfl_sync", mask, value, int(src_lane) % 32)

    def shfl_up_sync(self, mask, value, delta):
        return self.shuffle("shfl_up_sync", mask, value, self.laneid - int(delta) % 32)

    def shfl_down_sync(self, mask, value, delta):
        return self.shuffle("shfl_down_sync", mask, value, self.laneid + int(delta) % 32)

    def shfl_xor_sync(self, mask, value, lane_mask):
        return self.shuffle("shfl_xor_sync", mask, value, self.laneid ^ int(lane_mask) % 32)

    def all_sync(self, mask, predicate):
        return all(self.meet("all_sync", mask, bool(predicate)).values())

    def any_sync(self, mask, predicate):
        return any(self.meet("any_sync", mask, bool(predicate)).values())

    def eq_sync(self, mask, predicate):
        return len(set(self.meet("eq_sync", mask, bool(predicate)).values())) == 1

    def ballot_sync(self, mask, predicate):
        values = self.meet("ballot_sync", mask, bool(predicate))
        return np.uint32(sum(1 << lane for lane, v in values.items() if v))

    def match_any_sync(self, mask, value):
        values = self.meet("match_any_sync", mask, np.array(value).tobytes())
        mine = np.array(value).tobytes()
        return np.uint32(sum(1 << lane for lane, v in values.items() if v == mine))

    def match_all_sync(self, mask, value):
        values = self.meet("match_all_sync", mask, np.array(value).tobytes())
        alike = len(set(values.values())) == 1
        return np.uint32(sum(1 << lane for lane in values) if alike else 0), alike

    def syncwarp(self, mask=0xFFFFFFFF):
        self.meet("syncwarp", mask)

    def lanemask_eq(self):
        return np.uint32(1 << self.laneid)

    def lanemask_lt(self):
        return np.uint32((1 << self.laneid) - 1)

    def lanemask_le(self):
        return np.uint32((2 << self.laneid) - 1)

    def lanemask_gt(self):
        return ~self.lanemask_le()

    def lanemask_ge(self):
        return ~self.lanemask_lt()

    def popc(self, x):
        return int(x).bit_count() if x >= 0 else (int(x) & (1 << 64) - 1).bit_count()

    def clz(self, x):
        return x.dtype.itemsize * 8 - int(x).bit_length()

    def threadfence(self):
        pass

    threadfence_block = threadfence_system = threadfence


def linear(index, extents):
    return index[0] + extents[0] * (index[1] + extents[1] * index[2])


class FakeMath:
    """math, but float32 in gives float32 out, and out of domain gives what C gives (semantics.md, section 6)."""

    def __getattr__(self, name):
        function = getattr(math, name, None)
        if not callable(function):
            return function

        def call(*args):
            narrow = any(isinstance(a, np.float32) for a in args) and not any(
                isinstance(a, (float, np.float64)) for a in args
            )
            try:
                result = function(*(a.item() if isinstance(a, np.generic) else a for a in args))
            except ValueError:
                result = math.nan
            except OverflowError:
                result = math.inf

            def typed(r):
                return np.float32(r) if narrow and isinstance(r, float) else r

            return tuple(typed(r) for r in result) if isinstance(result, tuple) else typed(result)

        return call


fake_cuda, fake_math = FakeCuda(), FakeMath()


def simulated(value, memo=None):
    """The value as the simulation sees it: functions and dispatchers get the stand-ins for cuda and math."""
    memo = {} if memo is None else memo
    if value is cuda:
        return fake_cuda
    if value is math:
        return fake_math
    function = getattr(value, "py_func", value)
    if not isinstance(function, types.FunctionType):
        return value
    if function in memo:
        return memo[function]
    scope = {"__builtins__": builtins}
    closure = None
    if function.__closure__:
        closure = tuple(types.CellType() for _ in function.__closure__)
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__ = function.__kwdefaults__
    memo[function] = copy
    for code in codes(function.__code__):
        for name in code.co_names:
            if name in function.__globals__:
                scope[name] = simulated(function.__globals__[name], memo)
    for to, cell in zip(closure or (), function.__closure__ or ()):
        to.cell_contents = simulated(cell.cell_contents, memo)
    return copy


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def has_barrier(function, seen=None):
    seen = set() if seen is None else seen
    if function in seen:
        return False
    seen.add(function)
    names = [
        i.argval
        for c in codes(function.__code__)
        for i in dis.get_instructions(c)
        if isinstance(i.argval, str)
    ]
    callees = [function.__globals__[n] for n in names if n in function.__globals__]
    callees += [c.cell_contents for c in function.__closure__ or ()]
    return any(n.startswith("syncthreads") or n in WARP_OPERATIONS for n in names) or any(
        has_barrier(c, seen) for c in callees if isinstance(c, types.FunctionType)
    )


def simulate(kernel, args, grid=1, block=1, shared=0, kwargs=None):
    """Runs every thread of the launch in CPython; the arrays in args are written."""
    function = simulated(kernel)
    grid, block = dim3(grid), dim3(block)
    barriers = has_barrier(function)
    args = [a.view(Stored) if isinstance(a, np.ndarray) and not a.dtype.names else a for a in args]

    def run_thread(thread, block_index, state, failures=None):
        here.thread, here.block, here.nblock, here.ngrid = thread, block_index, block, grid
        here.shared, here.barrier, here.sharedbytes, here.warps = state
        here.order = 0
        try:
            with np.errstate(all="ignore"):
                function(*args, **(kwargs or {}))
        except BaseException as e:  # handed to the caller's thread
            if failures is None:
                raise
            failures.append(e)
        finally:
            state[1].leave()
            number = linear(thread, block)
            here.warps[number // 32].leave(number % 32)

    def indices(extents):
        return (index[::-1] for index in itertools.product(*(range(n) for n in extents[::-1])))

    for block_index in indices(grid):
        threads = list(indices(block))
        warps = [Warp(min(32, len(threads) - first)) for first in range(0, len(threads), 32)]
        state = ({}, Barrier(len(threads)), np.zeros(shared, np.uint8), warps)
        if not barriers:
            for thread in threads:
                run_thread(thread, block_index, state)
            continue
        failures = []
        workers = [
            threading.Thread(target=run_thread, args=(t, block_index, state, failures)) for t in threads
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if failures:
            raise failures[0]


# --- comparing
# ---------------------------------------------------------------------------------------------------


def ulp_distance(got, want):
    """Representable numbers between two float arrays; 0 for two nans, a huge number where only one is a nan."""
    kind = np.dtype(f"i{got.itemsize}")
    low = np.iinfo(kind).min

    def ordered(x):
        bits = np.ascontiguousarray(x).view(kind).astype(object)
        return np.where(bits < 0, low - bits, bits)

    distance = np.abs(ordered(got) - ordered(want))
    both = np.isnan(got) & np.isnan(want)
    one = np.isnan(got) ^ np.isnan(want)
    return np.where(both, 0, np.where(one, 1 << 64, distance))


def same(got, want, ulps=0):
    """Elementwise: equal bits (signed zeros too; any two nans), or for floats within that many ulps."""
    got, want = np.asarray(got), np.asarray(want)
    if got.dtype.kind == "c":
        return same(got.real, want.real, ulps) & same(got.imag, want.imag, ulps)
    if got.dtype.kind in "mM":  # NaT is NaT here
        return (got.dtype == want.dtype) & (got.view("i8") == want.view("i8"))
    if got.dtype.kind != "f":
        return got == want
    if ulps == 0:
        bits = np.dtype(f"u{got.itemsize}")
        equal = np.ascontiguousarray(got).view(bits) == np.ascontiguousarray(want).view(bits)
        return equal | (np.isnan(got) & np.isnan(want))
    return (ulp_distance(got, want) <= ulps).astype(bool)


def describe(got, want, ulps, what):
    wrong = np.argwhere(~same(got, want, ulps))
    lines = [f"{what}: {len(wrong)} of {np.size(got)} elements differ"]
    for index in wrong[:8]:
        index = tuple(int(i) for i in index)
        lines.append(f"  at {index}: device {got[index]!r}, Python {want[index]!r}")
    return "\n".join(lines)


def copied(arg):
    """A copy that keeps strides: views stay views."""
    if isinstance(arg, np.void):
        return arg.copy()
    if not isinstance(arg, np.ndarray):
        return arg
    base = arg
    while isinstance(base.base, np.ndarray):
        base = base.base
    if base is arg or base.nbytes > 1 << 24:
        return arg.copy(order="K")
    fresh = base.ravel(order="K").copy()  # as it lies in memory
    offset = arg.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return np.ndarray(arg.shape, arg.dtype, fresh.view(np.uint8).data, offset, arg.strides).view(type(arg))


def jit(function, **options):
    return function if hasattr(function, "py_func") else cuda.jit(**options)(function)


def copies(args):
    """The arguments copied: an array that is passed twice stays one, and a part of another one that."""
    made = {id(a): copied(a) for a in args if isinstance(a, np.ndarray)}

    def copy_of(a):
        if not isinstance(a, np.ndarray):
            return copied(a)
        whole = made.get(id(a.base))
        if whole is None or whole.dtype != a.dtype or not whole.flags.c_contiguous:
            return made[id(a)]
        offset = a.__array_interface__["data"][0] - a.base.__array_interface__["data"][0]
        return np.ndarray(a.shape, a.dtype, whole, offset, a.strides)

    return [copy_of(a) for a in args]


def run(kernel, args, grid=1, block=1, shared=0, ulps=0, kwargs=None, **options):
    """Launches the kernel and simulates it on copies of args; asserts that all arrays agree; returns the device's."""
    options.setdefault("fma", False)
    kernel = jit(kernel, **options)
    expected = copies(args)
    simulate(kernel, expected, grid, block, shared, kwargs)
    config = (grid, block) if shared == 0 else (grid, block, 0, shared)
    actual = copies(args)
    kernel[config](*actual, **(kwargs or {}))
    cuda.synchronize()
    for number, (got, want) in enumerate(zip(actual, expected)):
        if isinstance(got, (np.ndarray, np.void)):
            assert same(got, want, ulps).all(), describe(got, want, ulps, f"argument {number}")
    return actual


# Options of @cuda.jit with which indices are checked. The host device always checks them; debug code is other code.
CHECKED = {} if cuda.get_current_device().is_host else {"debug": True}


def stopped(kernel, *args, grid=1, block=64):
    """The text of the IndexError that the launch ends with."""
    with pytest.raises(IndexError) as e:
        kernel[grid, block](*args)
        cuda.synchronize()
    return str(e.value)


sources = itertools.count()


def define(source, name="kernel", **scope):
    """A function from source text, which tracebacks and compile errors can quote."""
    file = f"<generated {next(sources)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace = {"cuda": cuda, "np": np, "math": math, **scope}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # ~True and the like
        exec(compile(source, file, "exec"), namespace)
    return namespace[name]


# --- values worth trying
# -----------------------------------------------------------------------------------------


def specials(dtype, small=False):
    """Values of a type at which arithmetic goes wrong first."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        bits = dtype.itemsize * 8
        values = {
            info.min,
            info.min + 1,
            0,
            1,
            2,
            3,
            7,
            bits - 1,
            bits,
            info.max // 3,
            info.max - 1,
            info.max,
        }
        if dtype.kind == "i":
            values |= {-1, -2, -3, -7, info.min // 3}
        if bits == 64:
            values |= {2**53 + 1, 2**24 + 1, 2**31}
        values = sorted(v for v in values if info.min <= v <= info.max)
        return np.array(values[:: 2 if small else 1], dtype)
    if dtype.kind == "c":
        parts = specials(dtype.type().real.dtype, small)
        parts = np.append(parts, [np.nan, np.inf]).astype(parts.dtype) if small else parts
        x, y = pairs(parts, parts)
        values = np.empty(x.size, dtype)
        values.real, values.imag = x, y
        return values
    info = np.finfo(dtype)
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -1.5,
        2.5,
        3.0,
        -7.0,
        0.1,
        1e10,
        -1e-10,
        65.0,
        info.max,
        info.tiny,
        info.smallest_subnormal,
        info.eps,
        np.inf,
        -np.inf,
        np.nan,
    ]
    with np.errstate(over="ignore"):
        return np.array(values[:: 2 if small else 1], dtype)


def pairs(x, y):
    """Every element of x with every element of y, as two arrays."""
    return np.repeat(x, len(y)), np.tile(y, len(x))


def store(dtype, value):
    """What a[i] = value leaves in an array of that dtype: integers wrap, float to integer saturates, nan gives 0."""
    dtype = np.dtype(dtype)
    if dtype.kind in "mM":
        element = np.zeros(1, dtype)
        element[0] = value
        return element[0]
    if dtype.kind == "b":
        return np.bool_(value)
    if dtype.kind == "c":
        with np.errstate(all="ignore"):
            return dtype.type(value)
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return dtype.type(float(value) if isinstance(value, int) else value)
    info = np.iinfo(dtype)
    if isinstance(value, (float, np.floating)):
        if math.isnan(value):
            return dtype.type(0)
        return dtype.type(
            min(max(int(value) if math.isfinite(value) else math.copysign(2**70, value), info.min), info.max)
        )
    bits = dtype.itemsize * 8
    wrapped = int(value) & ((1 << bits) - 1)
    return dtype.type(wrapped - (1 << bits) if dtype.kind == "i" and wrapped >> (bits - 1) else wrapped)
