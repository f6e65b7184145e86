"""The two-phase names of the package cuda.coop that NVIDIA has removed: cuda.coop.block.make_sum(…)
on the host gives a function for kernels.

That function takes a temporary storage as its first argument, or leaves it out; it is not used. It
has temp_storage_bytes and temp_storage_alignment (both 1), which kernels can read too, and files
(what to link: nothing). A number is converted to the dtype; a local array must have it. Other than
CUB's, the results of sums and reductions are there in all threads.
"""

from enum import IntEnum

import numpy as np

from pyptx import cuda
from pyptx.cuda import coop
from pyptx.cuda._merging import _merge_sort_block, _merge_sort_tile

_ARRANGEMENTS = {"direct": "blocked", "vectorize": "blocked", "striped": "striped", "transpose": "transposed", "warp_transpose": "transposed",
                 "warp_transpose_timesliced": "transposed"}  # fmt: skip
_REDUCTIONS = ("raking", "raking_commutative_only", "warp_reductions")
_SCANS = ("raking", "raking_memoize", "warp_scans")


class BlockExchangeType(IntEnum):
    """What make_exchange rearranges: items in striped arrangement into blocked ones, or the
    reverse."""

    StripedToBlocked = 1
    BlockedToStriped = 2


def _kind(dtype):
    """The type of a dtype, as kernels call it. TypeError: that of no number."""
    from pyptx import _pyptx

    try:
        kind = np.dtype(_pyptx._own(dtype))
        _pyptx.from_dtype(kind)
    except (TypeError, ValueError):
        kind = None
    if kind is None or kind.kind not in "biufcV" or kind.names or (kind.kind == "V" and kind.type is np.void):
        raise TypeError(f"dtype is the type of a number, as np.int32 or pyptx.float32, not {dtype!r}")
    return kind.type


def _threads(threads):
    """How many a block has. ValueError, TypeError."""
    extents = threads if isinstance(threads, tuple) else (threads,)
    if any(isinstance(n, bool) or not hasattr(n, "__index__") for n in extents) or len(extents) not in (1, 2, 3):
        raise TypeError(f"threads_per_block is an int, or a tuple of one to three, not {threads!r}")
    count = 1
    for n in extents:
        count *= int(n) if n > 0 else 0
    if not 1 <= count <= 1024:
        raise ValueError(f"threads_per_block: a block has 1 to 1024 threads, not {threads!r}")
    return count


def _lanes(threads):
    if isinstance(threads, bool) or threads not in (1, 2, 4, 8, 16, 32):
        raise ValueError(f"threads_in_warp is 1, 2, 4, 8, 16 or 32, not {threads!r}")


def _check(dtype, threads, items=1):
    """The type of the dtype, if all are what they may be."""
    _threads(threads)
    if isinstance(items, bool) or not hasattr(items, "__index__"):
        raise TypeError(f"items_per_thread is an int, not {items!r}")
    if items < 1:
        raise ValueError(f"items_per_thread is 1 or more, not {items!r}")
    return _kind(dtype)


def _one_of(name, value, known):
    if value is not None and value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def _none(**given):
    """What has no meaning here is not given."""
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(f"{name}= is not supported: {_WHY[name]}")


_WHY = {"begin_bit": "whole keys are sorted; make the keys' other bits equal, or sort by a function with make_merge_sort_keys",
        "end_bit": "whole keys are sorted; make the keys' other bits equal, or sort by a function with make_merge_sort_keys",
        "prefix_op": "add what is before the block to the result, or give initial_value=",
        "valid_items": "let threads without an item pass a value that changes nothing",
        "methods": "kernels have no classes: use numbers, or tuples with cuda.coop.this_block()"}  # fmt: skip


def _operator(given, name):
    """A function of two values, or the text of one."""
    import operator

    known = {"+": operator.add, "add": operator.add, "plus": operator.add, "*": operator.mul, "mul": operator.mul, "multiplies": operator.mul, "min": min,
             "minimum": min, "max": max, "maximum": max, "&": operator.and_, "bit_and": operator.and_, "|": operator.or_, "bit_or": operator.or_,
             "^": operator.xor, "bit_xor": operator.xor}  # fmt: skip
    if isinstance(given, str):
        _one_of(name, given, known)
        return known[given]
    if not callable(given) and not hasattr(given, "py_func"):
        raise TypeError(f"{name} is a function of two values, or one of {', '.join(known)}, not {given!r}")
    return given


def _neutral(op, dtype):
    """The value that an exclusive scan begins with unless told. TypeError: only the user knows it."""
    import operator

    kind = np.dtype(dtype)
    if op in (operator.add, operator.or_, operator.xor):
        return 0
    if op is operator.mul:
        return 1
    if op is operator.and_ and kind.kind in "iu":
        return -1 if kind.kind == "i" else int(np.iinfo(kind).max)
    if op in (min, max) and kind.kind in "iu":
        return int(np.iinfo(kind).max if op is min else np.iinfo(kind).min)
    if op in (min, max) and kind.kind == "f":
        return np.inf if op is min else -np.inf
    raise TypeError("an exclusive scan of this operator needs initial_value=, which the first thread gets")


_OTHER_TYPE = "the items have another type than the dtype that make_... was given"


def _of_one(function, kind):
    """function(x) of a number, which becomes one of the type, or of a local array, which must be of
    it. (An array that another function gives back has lost its size.)"""

    def typed(x):
        if isinstance(x, np.ndarray):
            cuda.static_assert(x.dtype == kind, _OTHER_TYPE)
            return function(x)
        return function(kind(x))

    def invoke(x, after_storage=None):
        return typed(x if after_storage is None else after_storage)

    return _described(invoke)


def _of_two(function, kind):
    """function(array, items)."""

    def typed(array, items):
        cuda.static_assert(items.dtype == kind, _OTHER_TYPE)
        return function(array, items)

    def invoke(x, y, after_storage=None):
        if after_storage is None:
            return typed(x, y)
        return typed(y, after_storage)

    return _described(invoke)


def _described(invoke):
    invoke.temp_storage_bytes, invoke.temp_storage_alignment, invoke.files = 1, 1, []
    return invoke


def _scan(scan, kind, items):
    """Of one number: scan(x). Of items: scan(source, target), which may be one array."""
    if items == 1:
        return _of_one(scan, kind)

    def scan_items(source, target):
        for k in range(items):
            target[k] = source[k]
        scan(target)

    return _of_two(scan_items, kind)


def _arrangement(algorithm):
    _one_of("algorithm", algorithm, _ARRANGEMENTS)
    return _ARRANGEMENTS[algorithm or "direct"]


class block:
    """make_* functions for blocks. threads_per_block: an int, or a tuple of the block's extents.

    algorithm: one of CUB's names, of loads and stores that of an arrangement; of sums, reductions
    and scans it is checked, and pyptx chooses. What has no counterpart (begin_bit=, end_bit=,
    prefix_op=, valid_items=, methods=) is a NotImplementedError that says what to do.

    Example:

        total = cuda.coop.block.make_sum(np.float32, 256)

        @cuda.jit
        def sums(x, out):
            found = total(x[cuda.grid(1)])
            if cuda.threadIdx.x == 0:
                out[cuda.blockIdx.x] = found
    """

    BlockExchangeType = BlockExchangeType

    @staticmethod
    def make_sum(dtype, threads_per_block, items_per_thread=1, algorithm=None, methods=None, valid_items=None):
        """f(x), x a number or a local array: the sum of the block."""
        kind = _check(dtype, threads_per_block, items_per_thread)
        _one_of("algorithm", algorithm, _REDUCTIONS)
        _none(methods=methods, valid_items=valid_items)
        return _of_one(lambda x: coop.this_block(threads_per_block).sum(x), kind)

    @staticmethod
    def make_reduce(dtype, threads_per_block, binary_op, items_per_thread=1, algorithm=None, methods=None, valid_items=None):
        """f(x): the values of the block combined by an associative function of two."""
        kind, op = _check(dtype, threads_per_block, items_per_thread), _operator(binary_op, "binary_op")
        _one_of("algorithm", algorithm, _REDUCTIONS)
        _none(methods=methods, valid_items=valid_items)
        return _of_one(lambda x: coop.this_block(threads_per_block).reduce(x, op), kind)

    @staticmethod
    def make_scan(dtype, threads_per_block, items_per_thread=1, initial_value=None, mode="exclusive", scan_op="+", prefix_op=None, algorithm=None, methods=None):
        """f(x) of one item; f(source, target) of more. mode: "exclusive" or "inclusive"; scan_op: a
        function of two or "+", "*", "min", …; initial_value: before the first value, of a sum 0."""
        kind, op = _check(dtype, threads_per_block, items_per_thread), _operator(scan_op, "scan_op")
        _one_of("mode", mode, ("exclusive", "inclusive"))
        _one_of("algorithm", algorithm, _SCANS)
        _none(methods=methods, prefix_op=prefix_op)
        if mode == "inclusive" and initial_value is not None:
            raise NotImplementedError("initial_value= of an inclusive scan is not supported: combine the result with it in the kernel")
        if mode == "inclusive":
            return _scan(lambda x: coop.this_block(threads_per_block).inclusive_scan(x, op), kind, items_per_thread)
        first = _neutral(op, kind) if initial_value is None else initial_value
        return _scan(lambda x: coop.this_block(threads_per_block).exclusive_scan(x, op, first), kind, items_per_thread)

    @staticmethod
    def make_exclusive_sum(dtype, threads_per_block, items_per_thread=1, prefix_op=None, algorithm=None, methods=None):
        """f(x) of one item; f(source, target) of more."""
        return block.make_scan(dtype, threads_per_block, items_per_thread, prefix_op=prefix_op, algorithm=algorithm, methods=methods)

    @staticmethod
    def make_inclusive_sum(dtype, threads_per_block, items_per_thread=1, prefix_op=None, algorithm=None, methods=None):
        """f(x) of one item; f(source, target) of more."""
        return block.make_scan(dtype, threads_per_block, items_per_thread, mode="inclusive", prefix_op=prefix_op, algorithm=algorithm, methods=methods)

    @staticmethod
    def make_exclusive_scan(dtype, threads_per_block, scan_op, initial_value=None, items_per_thread=1, prefix_op=None, algorithm=None, methods=None):
        """f(x) of one item; f(source, target) of more."""
        return block.make_scan(dtype, threads_per_block, items_per_thread, initial_value, "exclusive", scan_op, prefix_op, algorithm, methods)

    @staticmethod
    def make_inclusive_scan(dtype, threads_per_block, scan_op, items_per_thread=1, initial_value=None, prefix_op=None, algorithm=None, methods=None):
        """f(x) of one item; f(source, target) of more."""
        return block.make_scan(dtype, threads_per_block, items_per_thread, initial_value, "inclusive", scan_op, prefix_op, algorithm, methods)

    @staticmethod
    def make_merge_sort_keys(dtype, threads_per_block, items_per_thread, compare_op, methods=None, valid_items=None):
        """f(keys) sorts a local array over the block by compare_op(a, b), true if a is before b.
        Equal keys keep their order."""
        kind, threads = _check(dtype, threads_per_block, items_per_thread), _threads(threads_per_block)
        less, dims = _operator(compare_op, "compare_op"), isinstance(threads_per_block, tuple) or None
        _none(methods=methods, valid_items=valid_items)

        def sort(keys):
            coop.this_block(threads_per_block)  # which compares the block's size
            _merge_sort_block(keys, less, threads, dims)

        return _of_one(sort, kind)

    @staticmethod
    def make_radix_sort_keys(dtype, threads_per_block, items_per_thread, begin_bit=None, end_bit=None):
        """f(keys) sorts a local array over the block."""
        kind = _check(dtype, threads_per_block, items_per_thread)
        _all_bits(kind, begin_bit, end_bit)
        return _of_one(lambda keys: coop.this_block(threads_per_block).sort_keys(keys), kind)

    @staticmethod
    def make_radix_sort_keys_descending(dtype, threads_per_block, items_per_thread, begin_bit=None, end_bit=None):
        """f(keys) sorts a local array over the block, in the reverse order."""
        kind = _check(dtype, threads_per_block, items_per_thread)
        _all_bits(kind, begin_bit, end_bit)
        return _of_one(lambda keys: coop.this_block(threads_per_block).sort_keys(keys, True), kind)

    @staticmethod
    def make_load(dtype, threads_per_block, items_per_thread=1, algorithm="direct"):
        """f(source, items)"""
        kind, arrangement = _check(dtype, threads_per_block, items_per_thread), _arrangement(algorithm)
        return _of_two(lambda source, items: coop.this_block(threads_per_block).load(source, items, 0, 0, arrangement), kind)

    @staticmethod
    def make_store(dtype, threads_per_block, items_per_thread=1, algorithm="direct"):
        """f(target, items)"""
        kind, arrangement = _check(dtype, threads_per_block, items_per_thread), _arrangement(algorithm)
        return _of_two(lambda target, items: coop.this_block(threads_per_block).store(target, items, 0, arrangement), kind)

    @staticmethod
    def make_exchange(dtype, threads_per_block, items_per_thread, block_exchange_type=BlockExchangeType.StripedToBlocked):
        """f(items), in place. block_exchange_type: a BlockExchangeType, "striped_to_blocked" or
        "blocked_to_striped"."""
        orders = {BlockExchangeType.StripedToBlocked: "striped_to_blocked", BlockExchangeType.BlockedToStriped: "blocked_to_striped"}
        order = orders.get(block_exchange_type, block_exchange_type)
        _one_of("block_exchange_type", order, orders.values())
        kind = _check(dtype, threads_per_block, items_per_thread)
        return _of_one(lambda items: coop.this_block(threads_per_block).exchange(items, order), kind)


def _all_bits(kind, begin, end):
    _none(begin_bit=begin or None, end_bit=None if end == np.dtype(kind).itemsize * 8 else end)


class warp:
    """make_* functions for warps, or for tiles of them of threads_in_warp lanes.

    Example:

        total = cuda.coop.warp.make_sum(np.float32)
    """

    @staticmethod
    def make_sum(dtype, threads_in_warp=32, methods=None, valid_items=None):
        """f(x): the sum of the lanes."""
        kind = warp._check(dtype, threads_in_warp, methods, valid_items)
        return _of_one(lambda x: coop.tiled_partition(threads_in_warp).sum(x), kind)

    @staticmethod
    def make_reduce(dtype, binary_op, threads_in_warp=32, methods=None, valid_items=None):
        """f(x): the values of the lanes combined by an associative function of two."""
        kind, op = warp._check(dtype, threads_in_warp, methods, valid_items), _operator(binary_op, "binary_op")
        return _of_one(lambda x: coop.tiled_partition(threads_in_warp).reduce(x, op), kind)

    @staticmethod
    def make_exclusive_sum(dtype, threads_in_warp=32):
        """f(x): the sum of the lanes before this one."""
        kind = warp._check(dtype, threads_in_warp)
        return _of_one(lambda x: coop.tiled_partition(threads_in_warp).exclusive_sum(x), kind)

    @staticmethod
    def make_merge_sort_keys(dtype, items_per_thread, compare_op, threads_in_warp=32, methods=None, valid_items=None):
        """f(keys) sorts a local array over the lanes by compare_op(a, b), true if a is before b.
        Equal keys keep their order."""
        kind, less = warp._check(dtype, threads_in_warp, methods, valid_items, items_per_thread), _operator(compare_op, "compare_op")
        return _of_one(lambda keys: _merge_sort_tile(keys, less, threads_in_warp), kind)

    @staticmethod
    def _check(dtype, threads, methods=None, valid_items=None, items=1):
        _lanes(threads)
        _none(methods=methods, valid_items=valid_items)
        return _check(dtype, threads, items)
