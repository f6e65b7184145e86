"""Matrix products of a warp by the names of CUDA C++'s nvcuda::wmma, on cuda.mma_sync.

    import numpy as np
    from pyptx import cuda
    from pyptx.cuda import wmma

    @cuda.jit
    def product(c, a, b):                       # 16 x 16 of A @ B for each block of one warp
        row, column = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
        fa = wmma.fragment(wmma.matrix_a, 16, 16, 16, np.float16, wmma.row_major)
        fb = wmma.fragment(wmma.matrix_b, 16, 16, 16, np.float16, wmma.row_major)
        sums = wmma.fill_fragment(wmma.fragment(wmma.accumulator, 16, 16, 16, np.float32), 0)
        for k in range(0, a.shape[1], 16):
            fa = wmma.load_matrix_sync(fa, a, (row, k))
            fb = wmma.load_matrix_sync(fb, b, (k, column))
            sums = wmma.mma_sync(fa, fb, sums)
        wmma.store_matrix_sync(c, (row, column), sums, wmma.mem_row_major)

    a, b = np.ones((32, 48), np.float16), np.ones((48, 16), np.float16)
    c = np.zeros((32, 16), np.float32)
    product[(1, 2), 32](c, a, b)
    print(c[0, 0], c[31, 15])                   # 48.0 48.0

A fragment is a value: where C++ changes one in place, these functions return it. `f.x` is the tuple
of this lane's elements, and its type knows use, shape and layout, so that mistakes are found when
the kernel is compiled. All 32 lanes of a warp call these functions, with the same arguments.

Shapes m, n, k, and types of the elements of A and B, and of the accumulator:

    16, 16, 16; 32, 8, 16; 8, 32, 16   float16                float32 or float16
                                       bfloat16               float32
                                       int8 or uint8          int32
    16, 16, 8                          float32, read as tf32  float32
    8, 8, 4                            float64                float64

They need compute capability 8.0. In place of a pointer and the distance of its rows stands an array
and an index: the tile begins there. Elements are read and written where mma_sync has them, by
accesses of each lane, so any alignment and any strides will do; kernels that are to be as fast as
libraries use cuda.ldmatrix and cuda.mma_sync, or cuda.wgmma.

Sources: CUDA C++ Programming Guide, "Warp Matrix Functions"; PTX ISA, the fragments of mma.
"""

from typing import Any, NamedTuple

import numpy as np

from pyptx import cuda
from pyptx.types import bfloat16

__all__ = ["Fragment", "accumulator", "col_major", "fill_fragment", "fragment", "load_matrix_sync", "map_fragment", "matrix_a", "matrix_b",
           "mem_col_major", "mem_row_major", "mma_sync", "row_major", "store_matrix_sync"]

matrix_a, matrix_b, accumulator = "matrix_a", "matrix_b", "accumulator"
row_major = mem_row_major = "row_major"
col_major = mem_col_major = "col_major"

_WIDE = ("m16n16k16", "m32n8k16", "m8n32k16")
_FACTORS = (*((s, t) for s in _WIDE for t in ("float16", "bfloat16", "int8", "uint8")), ("m16n16k8", "float32"), ("m8n8k4", "float64"))
_SUMS = (*((s, t) for s in _WIDE for t in ("float16", "float32", "int32")), ("m16n16k8", "float32"), ("m8n8k4", "float64"))
_PAIRS = (("float16", "float32"), ("float16", "float16"), ("bfloat16", "float32"), ("float32", "float32"), ("int8", "int32"), ("uint8", "int32"),
          ("float64", "float64"))

_USE = "fragment(use, …): wmma.matrix_a, wmma.matrix_b or wmma.accumulator"
_SHAPE = "fragment(use, m, n, k, …): m, n, k are 16, 16, 16 or 32, 8, 16 or 8, 32, 16; of float32 factors 16, 16, 8; of float64 8, 8, 4"
_DTYPE = "no fragment of this use and shape has elements of this type: help(cuda.wmma) lists them"
_LAYOUT = "wmma.row_major or wmma.col_major: of A and B an argument of fragment, of accumulators of load_matrix_sync and store_matrix_sync"
_PAIR = "mma_sync(a, b, c): no accumulator of this type for these factors: help(cuda.wmma) lists them"


class Fragment(NamedTuple):
    """What fragment() gives: the part of a matrix that this lane holds.

    x: the tuple of its elements, where cuda.mma_sync has them; `for` and indices read them, len(f.x)
        is C++'s num_elements, and map_fragment computes with them.
    use, shape, dtype, layout: strings, known when the kernel is compiled.
    """

    x: Any
    use: str
    shape: str
    dtype: str
    layout: Any


# --- where the elements are: PTX's figures of m16n8k16 and its like. `each` elements have 32 bits,
# but one of float64; the element is number i of this lane. ---


def _place_in_a(each, k, i):
    """Of A in tiles of 16 rows, one below the other."""
    g, t = cuda.laneid // 4, cuda.laneid % 4
    tile, i = i // (k // 2), i % (k // 2)
    return 16 * tile + g + 8 * (i // each % 2), each * t + i % each + 4 * each * (i // each // 2)


def _place_in_b(each, k, i):
    """Of B in tiles of 8 columns, side by side."""
    g, t = cuda.laneid // 4, cuda.laneid % 4
    tile, i = i // (k // 4), i % (k // 4)
    return each * t + i % each + 4 * each * (i // each), 8 * tile + g


def _place_in_sums(shape, i):
    """Of accumulators: two tiles of 16 rows and 8 columns, side by side or one below the other."""
    g, t = cuda.laneid // 4, cuda.laneid % 4
    row, column = g + 8 * (i // 2 % 2), 2 * t + i % 2
    return (row, column + 8 * (i // 4)) if shape == "m16n16k16" or shape == "m16n16k8" else (row + 16 * (i // 4), column)


def _place(use, shape, each, i):
    """Row and column. 8 x 32 is 32 x 8 transposed: its B is the A there."""
    if shape == "m8n32k16":
        row, column = _place(matrix_b if use == matrix_a else matrix_a if use == matrix_b else use, "m32n8k16", each, i)
        return column, row
    k = 4 if shape == "m8n8k4" else 8 if shape == "m16n16k8" else 16
    if use == matrix_a:
        return _place_in_a(each, k, i)
    if use == matrix_b:
        return _place_in_b(each, k, i)
    return _place_in_sums(shape, i)


# --- kinds ---


def _name(x):
    """The type of a number; types themselves cannot be fields of tuples."""
    if isinstance(x, np.float16):
        return "float16"
    if isinstance(x, bfloat16):
        return "bfloat16"
    if isinstance(x, np.float32):
        return "float32"
    if isinstance(x, np.float64):
        return "float64"
    if isinstance(x, np.int8):
        return "int8"
    if isinstance(x, np.uint8):
        return "uint8"
    if isinstance(x, np.int32):
        return "int32"
    return "another"


def _shape(m, n, k):
    cuda.static_assert((m, n, k) in ((16, 16, 16), (32, 8, 16), (8, 32, 16), (16, 16, 8), (8, 8, 4)), _SHAPE)
    if k == 4:
        return "m8n8k4"
    if k == 8:
        return "m16n16k8"
    if m == 32:
        return "m32n8k16"
    if m == 8:
        return "m8n32k16"
    return "m16n16k16"


def _bits_32(dtype):
    return 4 if dtype in ("int8", "uint8") else 2 if dtype in ("float16", "bfloat16") else 1


def _zeros(use, m, n, k, zero):
    if use == matrix_a:
        return (zero,) * (m * k // 32)
    if use == matrix_b:
        return (zero,) * (k * n // 32)
    return (zero,) * (m * n // 32)


def _elements(at, i, left):
    """(at(i), at(i + 1), …), as many as `left` has: by recursion, which writes them out."""
    if len(left) == 0:
        return ()
    return (at(i), *_elements(at, i + 1, left[1:]))


# --- the functions ---


def fragment(use, m, n, k, dtype, layout=None):
    """A fragment of zeros: wmma::fragment<use, m, n, k, dtype, layout>.

    use: wmma.matrix_a, wmma.matrix_b or wmma.accumulator.
    m, n, k: A is m x k, B k x n, the accumulator m x n.
    dtype: of the elements; float32 stands for tf32 in A and B.
    layout: wmma.row_major or wmma.col_major, of A and B: how load_matrix_sync reads them.

    All are known when the kernel is compiled. help(cuda.wmma) lists shapes and types.

    Example:

        @cuda.jit
        def count(out):
            out[0] = len(cuda.wmma.fragment(cuda.wmma.accumulator, 16, 16, 16, np.float32).x)

        out = np.zeros(1)
        count[1, 32](out)
        print(out[0])                           # 8.0
    """
    cuda.static_assert(use in (matrix_a, matrix_b, accumulator), _USE)
    shape, name = _shape(m, n, k), _name(dtype(0))
    if use == accumulator:
        cuda.static_assert((shape, name) in _SUMS, _DTYPE)
        cuda.static_assert(layout is None, _LAYOUT)
    else:
        cuda.static_assert((shape, name) in _FACTORS, _DTYPE)
        cuda.static_assert(layout in (row_major, col_major), _LAYOUT)
    return Fragment(_zeros(use, m, n, k, dtype(0)), use, shape, name, layout)


def fill_fragment(f, value):
    """The fragment with `value` in all of its elements.

    Example:

        @cuda.jit
        def twos(out):
            f = cuda.wmma.fragment(cuda.wmma.accumulator, 16, 16, 16, np.float32)
            cuda.wmma.store_matrix_sync(out, (0, 0), cuda.wmma.fill_fragment(f, 2), cuda.wmma.mem_row_major)

        out = np.zeros((16, 16), np.float32)
        twos[1, 32](out)
        print((out == 2).all())                 # True
    """
    return f._replace(x=(type(f.x[0])(value),) * len(f.x))


def map_fragment(function, a, b=None):
    """The fragment of function(x), or of function(x, y) with the elements of a second one of the
    same kind. Results have the type of a's elements.

    Example:

        @cuda.jit
        def thirds(out):
            f = cuda.wmma.fragment(cuda.wmma.accumulator, 16, 16, 16, np.float32)
            one, two = cuda.wmma.fill_fragment(f, 1), cuda.wmma.fill_fragment(f, 2)
            three = cuda.wmma.map_fragment(lambda x, y: x + y, one, two)
            cuda.wmma.store_matrix_sync(out, (0, 0), three, cuda.wmma.mem_row_major)

        out = np.zeros((16, 16), np.float32)
        thirds[1, 32](out)
        print((out == 3).all())                 # True
    """
    if b is None:
        return a._replace(x=_elements(lambda i: type(a.x[0])(function(a.x[i])), 0, a.x))
    cuda.static_assert(a.use == b.use and a.shape == b.shape and a.dtype == b.dtype, "map_fragment: two fragments of one use, shape and type")
    return a._replace(x=_elements(lambda i: type(a.x[0])(function(a.x[i], b.x[i])), 0, a.x))


_ARRAY = "an array of 2 axes with an index (i, j), or one of 1 axis with an integer and ldm=, how far its rows (or columns) are apart"


def _check_array(array, index, ldm):
    cuda.static_assert(isinstance(array, np.ndarray), _ARRAY)
    if array.ndim == 2:
        cuda.static_assert(isinstance(index, tuple) and ldm is None, _ARRAY)
        cuda.static_assert(len(index) == 2, _ARRAY)
    else:
        cuda.static_assert(array.ndim == 1 and not isinstance(index, tuple) and ldm is not None, _ARRAY)


def _index(array, index, ldm, layout, place):
    row, column = place
    i, j = (row, column) if layout == row_major else (column, row)
    if array.ndim == 2:
        return index[0] + i, index[1] + j
    return index + ldm * i + j


def load_matrix_sync(f, array, index, layout=None, ldm=None):
    """The fragment f with the elements of the tile of `array` that begins at `index`.

    array: in any memory, of f's type. Of row_major tiles element (r, c) is array[i + r, j + c], of
        col_major ones array[i + c, j + r].
    index: (i, j); an integer in an array of one axis, in which ldm= says how many elements on the
        next row (of col_major tiles: column) begins.
    layout: wmma.mem_row_major or wmma.mem_col_major, of an accumulator. A and B have theirs.

    It waits for the lanes of the warp, whose stores before it are seen.

    Example:

        @cuda.jit
        def copy(out, x):
            f = cuda.wmma.fragment(cuda.wmma.accumulator, 16, 16, 16, np.float32)
            f = cuda.wmma.load_matrix_sync(f, x, (0, 0), cuda.wmma.mem_row_major)
            cuda.wmma.store_matrix_sync(out, (0, 0), f, cuda.wmma.mem_col_major)

        x = np.arange(256, dtype=np.float32).reshape(16, 16)
        out = np.zeros_like(x)
        copy[1, 32](out, x)
        print((out == x.T).all())               # True
    """
    _check_array(array, index, ldm)
    cuda.static_assert(_name(array.dtype.type(0)) == f.dtype, "load_matrix_sync: the array has the fragment's type of elements")
    if f.use == accumulator:
        cuda.static_assert(layout in (row_major, col_major), _LAYOUT)
    else:
        cuda.static_assert(layout is None, _LAYOUT)
    kind = layout if f.use == accumulator else f.layout
    cuda.syncwarp()
    return f._replace(x=_elements(lambda i: array[_index(array, index, ldm, kind, _place(f.use, f.shape, _bits_32(f.dtype), i))], 0, f.x))


def store_matrix_sync(array, index, f, layout, ldm=None):
    """Stores an accumulator as the tile of `array` that begins at `index`.

    array, index, layout, ldm: as in load_matrix_sync. Elements are converted to the array's type,
        as an assignment does.

    It waits for the lanes of the warp. What it stores is seen by other lanes after cuda.syncwarp(),
    by other warps after cuda.syncthreads().
    """
    _check_array(array, index, ldm)
    cuda.static_assert(f.use == accumulator, "store_matrix_sync stores accumulators")
    cuda.static_assert(layout in (row_major, col_major), _LAYOUT)
    cuda.syncwarp()
    _store_elements(array, index, f, layout, ldm, 0, f.x)


def _store_elements(array, index, f, layout, ldm, i, left):
    if len(left) > 0:
        array[_index(array, index, ldm, layout, _place(f.use, f.shape, _bits_32(f.dtype), i))] = left[0]
        _store_elements(array, index, f, layout, ldm, i + 1, left[1:])


def mma_sync(a, b, c):
    """A @ B + C of a warp: the fragment d of C++'s mma_sync(d, a, b, c), of c's kind.

    a, b, c: fragments of matrix_a, matrix_b and accumulator, of one shape and with types that
        belong together; help(cuda.wmma) has an example and lists them.
    """
    uses = (a.use, b.use, c.use)
    cuda.static_assert(uses == (matrix_a, matrix_b, accumulator), "mma_sync(a, b, c): fragments of matrix_a, matrix_b and accumulator")
    cuda.static_assert(a.shape == b.shape and a.shape == c.shape, "mma_sync(a, b, c): fragments of one shape")
    cuda.static_assert(a.dtype == b.dtype, "mma_sync(a, b, c): elements of A and B of one type")
    cuda.static_assert((a.dtype, c.dtype) in _PAIRS, _PAIR)
    return c._replace(x=_product(a, b, c))


def _product(a, b, c):
    if c.shape == "m8n8k4":
        return cuda.mma_sync(a.x, b.x, c.x)
    if c.shape == "m32n8k16":
        return _below(a.x, b.x, c.x)
    if c.shape == "m8n32k16":
        return _below(b.x, a.x, c.x)  # all three transposed
    half = len(b.x) // 2
    return (*cuda.mma_sync(a.x, b.x[:half], c.x[:4]), *cuda.mma_sync(a.x, b.x[half:], c.x[4:]))


def _below(a, b, c):
    return (*cuda.mma_sync(a[:8], b, c[:4]), *cuda.mma_sync(a[8:], b, c[4:]))
