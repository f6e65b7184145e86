"""What one kernel of the benchmark is, and the error bounds its check uses.

A kernel is declared once: a plain Python function over pyptx's `cuda`, the same algorithm as CUDA C++ and
as an OpenMP loop nest, and a function that makes its arguments. Everything else (compiling, timing,
checking, tables) is the runner's, for all kernels alike.

The C texts define one function with the name of the Python function. Its parameters are the Python ones in
their order (an array is a pointer), then the extents as `int`, since a pointer has no shape.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np

EPS32 = float(np.finfo(np.float32).eps)
EPS64 = float(np.finfo(np.float64).eps)
INT, LONG, FLOAT, DOUBLE, COMPLEX = "int32", "int64", "float32", "float64", "complex64"

# Block sizes for --sweep. One dimension: every size a streaming kernel may meet.
LINE = (64, 128, 256, 512, 1024)
PLANE = ((32, 2), (32, 4), (16, 16), (32, 8), (64, 4), (32, 16), (128, 4), (32, 32), (64, 16))
SPACE = ((32, 2, 1), (32, 4, 1), (32, 4, 2), (8, 8, 8), (64, 4, 1), (32, 8, 2), (32, 4, 8), (64, 4, 4))

# Row widths: all small ones, then steps of 13 and the neighbours of powers of two, and wide odd ones.
WIDTHS = tuple(sorted({*range(1, 41), *range(40, 301, 13), *(n + k for n in (64, 128, 256) for k in (-1, 0, 1)), 300, 333, 511, 513, 777, 1001, 1537}))
TINY = (1, 2, 3, 5, 8, 17, 33)
THIN_PLANE = tuple(shape for n in TINY for shape in ((n, -1), (-1, n)))
THIN_SPACE = tuple((*before, n, *after) for n in (3, 5, 8, 17) for before, after in (((), (-1, -1)), ((-1,), (-1,)), ((-1, -1), ())))


@dataclass
class Problem:
    """One set of arguments.

    `expected()` gives for each output (index, values, bound): where |got[index] - values| <= bound must hold.
    The index may be a sample where NumPy would take minutes for the whole; a bound of 0 means equality.
    Either `threads` (extents to be covered by blocks) or `grid` (blocks, whatever the block size) is given.
    `outcome`, if given, turns the outputs into what is compared (partial sums into their sum). `sequential` is how
    much larger the bound of the C loop is, which adds in sequence where the kernel adds in a tree.
    `bytes` is what must move between memory and chip at least, `flops` the arithmetic as one counts it by hand.
    """

    arguments: tuple
    extents: tuple
    outputs: tuple
    expected: Callable[[], list]
    threads: Any = None
    grid: Any = None
    bytes: float = 0.0
    flops: float = 0.0
    outcome: Any = None
    sequential: float = 1.0

    def grid_for(self, block):
        if self.grid is not None:
            return self.grid
        over = tuple(-(-n // b) for n, b in zip(dims(self.threads), dims(block)))
        return over[: len(self.threads)] if isinstance(self.threads, tuple) else over[0]


@dataclass(frozen=True)
class Kernel:
    """A row of the benchmark. `problem(rng, n)` makes the arguments of size n."""

    title: str
    function: Callable
    signature: str  # of the arguments, for compiling without a device
    block: Any
    problem: Callable[[np.random.Generator, int], Problem]
    gpu: int  # n on the GPU
    host: int  # n on the host device
    test: int  # n in the tests
    cuda: str
    openmp: str
    cuda_int: str = ""  # where `cuda` has int64 indices: the same with `int`; the faster counts
    power: float = 1  # the work grows with n to this power: what --scale goes by
    step: int = 1  # n is a multiple of it
    kind: str = "compute"  # or "streaming", "stencil", "irregular", "shared"
    sweep: tuple = ()  # block sizes for --sweep
    counts: tuple = ()  # sizes n for --sweep, if not only `gpu`
    sweep: tuple = ()  # block sizes
    widths: tuple = ()  # of a row: `problem(rng, n, width=…)`
    thin: tuple = ()  # extents of which one is tiny: `problem(rng, n, shape=…)`; -1 stands for what makes n**power elements
    peers: dict = field(default_factory=dict)  # name: function(module, *device arrays) -> callable

    @property
    def name(self):
        return self.function.__name__

    def scaled(self, n, factor):
        steps = round(n * factor ** (1 / self.power) / self.step)
        return max(1, steps) * self.step


def dims(value):
    value = (int(value),) if isinstance(value, (int, np.integer)) else tuple(value)
    return (*value, 1, 1)[:3]


def sampled(rng, n, count):
    """Sorted positions, all of them where there are no more than `count`; the ends, where guards act, are always in."""
    if n <= count:
        return np.arange(n)
    ends = np.arange(max(1, count // 16))
    return np.unique(np.concatenate([ends, n - 1 - ends, rng.integers(0, n, count)]))


def sum_bound(additions, magnitudes, eps=EPS32):
    """A sum of products in any order: each addition rounds by eps/2 of a partial sum, each product (unless fused) by eps/2."""
    return (additions + 1) * eps / 2 * magnitudes


def tree(threads):
    return math.ceil(math.log2(threads))


def check(problem, results, expected, slack=1.0):
    """(passed, the largest error as a share of its bound) of one side's outputs."""
    worst = 0.0
    if problem.outcome:
        results = problem.outcome(*results)
    for got, (index, values, bound) in zip(results, expected, strict=True):
        if np.ndim(bound) == 0 and bound == 0:
            if not np.array_equal(got[index], values):
                return False, math.inf
            continue
        error = np.abs(got[index].astype(np.result_type(got, np.float64)) - values)
        if not np.all(np.isfinite(error)):
            return False, math.inf
        bound = np.broadcast_to(np.multiply(bound, slack), error.shape)
        exact = bound == 0
        if np.any(error[exact]):
            return False, math.inf
        if not np.all(exact):
            worst = max(worst, float(np.max(error[~exact] / bound[~exact])))
    return worst <= 1, worst


def agree(problem, one, other, expected):
    """Whether two sides agree everywhere, the places that the sample leaves out included.

    There only the sample's largest bound is known: each side may be off by it, and twice that is left for
    elements worse than the sample's.
    """
    if problem.outcome:
        one, other = problem.outcome(*one), problem.outcome(*other)
    for a, b, (_, _, bound) in zip(one, other, expected, strict=True):
        largest = np.max(bound)
        if largest == 0:
            if not np.array_equal(a, b):
                return False
        elif not np.max(np.abs(a - b)) <= 4 * largest:
            return False
    return True
