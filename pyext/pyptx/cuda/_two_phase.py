"""The two-phase names of the package cuda.coop that NVIDIA has removed: cuda.coop.block.make_sum(…)
on the host gives a function for kernels.

That function takes a temporary storage as its first argument, or leaves it out; it is not used. It
has temp_storage_bytes and temp_storage_alignment (both 1) and files (what to link: nothing). The
dtype is not used either: values have their own. Other than CUB's, the results of sums and
reductions are there in all threads.
"""

from pyptx import cuda
from pyptx.cuda import coop

_ALGORITHMS = {"direct": "blocked", "vectorize": "blocked", "striped": "striped", "transpose": "transposed", "warp_transpose": "transposed",
               "warp_transpose_timesliced": "transposed"}  # fmt: skip


def _for_kernels(function, n):
    """function, which takes 1 or 2 arguments (n), and may be given one more in front."""

    def of_one(x, after_storage=None):
        return function(x if after_storage is None else after_storage)

    def of_two(x, y, after_storage=None):
        if after_storage is None:
            return function(x, y)
        return function(y, after_storage)

    invoke = of_one if n == 1 else of_two
    invoke.temp_storage_bytes, invoke.temp_storage_alignment, invoke.files = 1, 1, []
    return invoke


def _scan(scan, items):
    """Of one number: scan(x). Of items: scan(source, target), which may be one array."""
    if items == 1:
        return _for_kernels(scan, 1)

    def scan_items(source, target):
        for k in range(items):
            target[k] = source[k]
        scan(target)

    return _for_kernels(scan_items, 2)


def _arrangement(algorithm):
    if algorithm not in _ALGORITHMS:
        raise ValueError(f"algorithm must be one of {', '.join(_ALGORITHMS)}, not {algorithm!r}")
    return _ALGORITHMS[algorithm]


class block:
    """make_* functions for blocks. threads_per_block: an int, or a tuple of the block's extents.

    Example:

        total = cuda.coop.block.make_sum(np.float32, 256)

        @cuda.jit
        def sums(x, out):
            found = total(x[cuda.grid(1)])
            if cuda.threadIdx.x == 0:
                out[cuda.blockIdx.x] = found
    """

    @staticmethod
    def make_sum(dtype, threads_per_block, items_per_thread=1):
        """f(x), x a number or a local array: the sum of the block."""
        return _for_kernels(lambda x: coop.this_block(threads_per_block).sum(x), 1)

    @staticmethod
    def make_reduce(dtype, threads_per_block, binary_op, items_per_thread=1):
        """f(x): the values of the block combined by an associative function of two."""
        return _for_kernels(lambda x: coop.this_block(threads_per_block).reduce(x, binary_op), 1)

    @staticmethod
    def make_exclusive_sum(dtype, threads_per_block, items_per_thread=1):
        """f(x) of one item; f(source, target) of more."""
        return _scan(lambda x: coop.this_block(threads_per_block).exclusive_sum(x), items_per_thread)

    @staticmethod
    def make_inclusive_sum(dtype, threads_per_block, items_per_thread=1):
        """f(x) of one item; f(source, target) of more."""
        return _scan(lambda x: coop.this_block(threads_per_block).inclusive_sum(x), items_per_thread)

    @staticmethod
    def make_exclusive_scan(dtype, threads_per_block, scan_op, initial_value, items_per_thread=1):
        """f(x) of one item; f(source, target) of more."""
        return _scan(lambda x: coop.this_block(threads_per_block).exclusive_scan(x, scan_op, initial_value), items_per_thread)

    @staticmethod
    def make_inclusive_scan(dtype, threads_per_block, scan_op, items_per_thread=1):
        """f(x) of one item; f(source, target) of more."""
        return _scan(lambda x: coop.this_block(threads_per_block).inclusive_scan(x, scan_op), items_per_thread)

    @staticmethod
    def make_radix_sort_keys(dtype, threads_per_block, items_per_thread):
        """f(keys) sorts a local array over the block."""
        return _for_kernels(lambda keys: coop.this_block(threads_per_block).sort_keys(keys), 1)

    @staticmethod
    def make_radix_sort_keys_descending(dtype, threads_per_block, items_per_thread):
        """f(keys) sorts a local array over the block, in the reverse order."""
        return _for_kernels(lambda keys: coop.this_block(threads_per_block).sort_keys(keys, True), 1)

    @staticmethod
    def make_load(dtype, threads_per_block, items_per_thread=1, algorithm="direct"):
        """f(source, items)"""
        arrangement = _arrangement(algorithm)
        return _for_kernels(lambda source, items: coop.this_block(threads_per_block).load(source, items, 0, 0, arrangement), 2)

    @staticmethod
    def make_store(dtype, threads_per_block, items_per_thread=1, algorithm="direct"):
        """f(target, items)"""
        arrangement = _arrangement(algorithm)
        return _for_kernels(lambda target, items: coop.this_block(threads_per_block).store(target, items, 0, arrangement), 2)

    @staticmethod
    def make_exchange(dtype, threads_per_block, items_per_thread, order="striped_to_blocked"):
        """f(items), in place"""
        return _for_kernels(lambda items: coop.this_block(threads_per_block).exchange(items, order), 1)


class warp:
    """make_* functions for warps, or for tiles of them of threads_in_warp lanes.

    Example:

        total = cuda.coop.warp.make_sum(np.float32)
    """

    @staticmethod
    def make_sum(dtype, threads_in_warp=32):
        """f(x): the sum of the lanes."""
        return _for_kernels(lambda x: coop.tiled_partition(threads_in_warp).sum(x), 1)

    @staticmethod
    def make_reduce(dtype, binary_op, threads_in_warp=32):
        """f(x): the values of the lanes combined by an associative function of two."""
        return _for_kernels(lambda x: coop.tiled_partition(threads_in_warp).reduce(x, binary_op), 1)

    @staticmethod
    def make_exclusive_sum(dtype, threads_in_warp=32):
        """f(x): the sum of the lanes before this one."""
        return _for_kernels(lambda x: coop.tiled_partition(threads_in_warp).exclusive_sum(x), 1)
