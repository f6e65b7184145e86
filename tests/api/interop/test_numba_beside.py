"""Programs that keep an installed Numba and change only `cuda`: its compiled functions called from kernels, its types as dtypes, casts and signatures."""

import collections
import functools

import numpy as np
import pytest
from pyptx import cuda, types
from pyptx import void as own_void

numba = pytest.importorskip("numba")
njit, vectorize, float32, int32, void = numba.njit, numba.vectorize, numba.float32, numba.int32, numba.void
T = numba.types
Point = collections.namedtuple("Point", "x y")
RECORD = np.dtype([("a", "f4"), ("b", "i4", (3,))], align=True)
WEIGHTS = (1.0, 2.0, 3.0)


@njit
def square(x):
    return x * x


@numba.jit(nopython=True)
def weigh(t, x):
    s = np.float32(0)
    for i in numba.prange(3):
        s += float32(t[i]) * square(x)
    return s


@vectorize
def plus_one(x):
    return x + 1


square_there = cuda.jit(square, device=True)
square_here = cuda.jit(device=True)(square)


@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_functions_and_types_in_a_kernel(typing):
    @cuda.jit(typing=typing)
    def kernel(x, out):
        tile = cuda.shared.array(32, float32)
        whole = cuda.local.array(2, dtype=T.int32)
        t = cuda.threadIdx.x
        tile[t] = weigh(WEIGHTS, x[t]) + plus_one(x[t]) + square_there(float32(1)) + square_here(numba.float32(2))
        whole[0] = T.int32(3.7)
        for v in numba.literal_unroll((1, 2)):
            whole[0] += v
        cuda.syncthreads()
        out[t] = tile[31 - t] + whole[0]

    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    kernel[1, 32](x, out)
    assert (out == (6 * x * x + x + 1 + 1 + 4)[::-1] + 6).all()


SIGNATURES = [
    (void(float32[:], int32), "(float32[:], int32)"),
    ((float32[::1], int32), "(float32[::1], int32)"),
    ([void(float32[:], int32)], "(float32[:], int32)"),
    ([(float32[:, ::1], int32)], "(float32[:,::1], int32)"),
    (own_void(float32[::1, :], T.intp), "(float32[::1,:], int64)"),
    (void(numba.from_dtype(RECORD)[:], int32), f"({types.from_dtype(RECORD)}[:], int32)"),
    (void(T.UniTuple(int32, 3), T.boolean), "((int32, int32, int32), bool)"),
    (void(T.NamedTuple((int32, float32), Point), T.none), "(Point(x: int32, y: float32), none)"),
    ((T.Tuple((int32, float32[:])), T.complex64), "((int32, float32[:]), complex64)"),
    ((T.NPDatetime("ns")[:], T.NPTimedelta("s")), "(datetime64[ns][:], timedelta64[s])"),
    ((T.literal(3), T.float16), "(int64, float16)"),
]


@pytest.mark.parametrize("signature, text", SIGNATURES)
def test_signatures(signature, text):
    kernel = cuda.jit(signature)(lambda a, n: None)
    assert kernel.declared_signatures == [text] and len(kernel.signatures) == 1
    one = signature[0] if isinstance(signature, list) else signature
    assert cuda.compile_ptx(lambda a, n: None, one)[0]
    assert kernel.inspect_types(one)


def test_types_beside_our_own():
    assert types.Tuple((int32, float32)) == types.Tuple((types.int32, types.float32))
    assert types.Array(float32, 2, "C") == types.float32[:, ::1] and types.UniTuple(int32, 2) == types.Tuple((types.int32,) * 2)
    assert types.NamedTuple((int32, int32), Point) == types.NamedTuple((types.int32, types.int32), Point)
    assert cuda.device_array(3, dtype=float32).dtype == np.float32 and cuda.pinned_array(3, dtype=int32).dtype == np.int32
    assert cuda.compile_ptx(lambda x: x, float32(float32), device=True)[1] == types.float32


@pytest.mark.parametrize("name, make", [("OptionalType", lambda: T.Optional(int32)), ("unicode_type", lambda: T.unicode_type)])
def test_types_that_kernels_do_not_have(name, make):
    with pytest.raises(TypeError, match=f"kernels have no type for Numba's {name}"):
        cuda.jit(void(make()))
    with pytest.raises(TypeError, match=f"kernels have no type for Numba's {name}"):
        own_void(make())
    with pytest.raises(TypeError, match=f"kernels have no type for Numba's {name}"):
        cuda.jit(lambda a: None).compile((make(),))


def test_a_type_that_kernels_do_not_have_is_named_in_one():
    optional = T.Optional(int32)

    @cuda.jit
    def kernel(out):
        out[0] = optional(3)

    with pytest.raises(TypeError, match="Optional"):
        kernel[1, 1](np.zeros(1))


def test_a_kernel_of_a_compiled_function():
    @njit
    def first(out):
        out[0] = 7

    kernel, out = cuda.jit(first), np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 7 and kernel.py_func is first.py_func and functools.wraps(first)(kernel).__name__ == "first"


def test_names_of_its_cuda_module():
    theirs = pytest.importorskip("numba.cuda")
    if not hasattr(theirs, "jit"):
        pytest.skip("this Numba has no cuda module")

    @theirs.jit(device=True)
    def shifted(x):
        return x + theirs.threadIdx.x

    @cuda.jit
    def kernel(out):
        out[theirs.grid(1)] = shifted(1) + theirs.libdevice.fabsf(float32(-2))
        numba.cuda.atomic.add(out, 4, 5)

    out = np.zeros(5, np.float32)
    kernel[1, 4](out)
    assert out.tolist() == [3, 4, 5, 6, 20]
