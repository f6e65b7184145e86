"""@guvectorize beside NumPy: matmul, sums of rows and the like of whole numbers, which have to be equal."""

import pickle
from collections import namedtuple

import numpy as np
import pytest
from pyptx import cuda, float32, float64, guvectorize, int32, void
from test_vectorize import Library


@guvectorize([void(float32[:, :], float32[:, :], float32[:, :]), "void(f8[:, :], f8[:, :], f8[:, :])"], "(m,n),(n,p)->(m,p)", target="cuda")
def matmul(A, B, C):
    m, n = A.shape
    n, p = B.shape
    for i in range(m):
        for j in range(p):
            C[i, j] = 0
            for k in range(n):
                C[i, j] += A[i, k] * B[k, j]


@guvectorize(["void(int32[:], int32[:])"], "(n)->()")
def sum_row(row, out):
    total = 0
    for i in range(row.shape[0]):
        total += row[i]
    out[0] = total


@guvectorize([(float32[:], float32[:])], "(x)->(x)")
def copy(a, b):
    for i in range(b.size):
        b[i] = a[i]


def host(result):
    return result.copy_to_host() if isinstance(result, cuda.DeviceNDArray) else result


def whole(shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)


def test_attributes():
    assert (matmul.__name__, matmul.nin, matmul.nout, matmul.signature, matmul.types) == ("matmul", 2, 1, "(m,n),(n,p)->(m,p)", ["ff->f", "dd->d"])
    assert pickle.loads(pickle.dumps(matmul)) is matmul and repr(matmul) == "<gufunc 'matmul' (m,n),(n,p)->(m,p)>"


@pytest.mark.parametrize("outer", [((), ()), ((5,), (5,)), ((5,), ()), ((4, 3), (3,)), ((4, 1), (1, 3)), ((0,), ()), ((301,), (1,)), ((2, 3, 4), (3, 1))], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matmul(outer, dtype):
    a, b = whole((*outer[0], 2, 4), dtype), whole((*outer[1], 4, 5), dtype, 1)
    want = np.matmul(a, b)
    for x, y in ((a, b), (cuda.to_device(a), b), (cuda.to_device(a), cuda.to_device(b))):
        got = matmul(x, y)
        assert isinstance(got, cuda.DeviceNDArray) == (x is not a)
        np.testing.assert_array_equal(host(got), want)
        assert got.dtype == want.dtype


def test_layouts():
    a, b = whole((6, 4, 8)), whole((6, 4, 5), seed=1)
    for x, y in ((a[::-1, :, ::2], b), (a[::2, :, 4:], b[::2]), (a[:, :, :4].transpose(0, 2, 1), b), (np.asfortranarray(a[..., :4]), b[:, ::-1])):
        np.testing.assert_array_equal(matmul(x, y), np.matmul(x, y))


@pytest.mark.parametrize("how", ["created", "positional", "keyword", "tuple", "strided", "other dtype"])
@pytest.mark.parametrize("place", [np.array, cuda.to_device])
def test_outputs(how, place):
    a, b = whole((7, 2, 4)), whole((7, 4, 5), seed=1)
    want = np.matmul(a, b)
    out = place(np.zeros((7, 2, 5), np.float64 if how == "other dtype" else np.float32))
    if how == "strided":
        out = place(np.zeros((14, 2, 5), np.float32))[::2]
    x, y = place(a), place(b)
    got = matmul(x, y) if how == "created" else matmul(x, y, out) if how == "positional" else matmul(x, y, out=(out,) if how == "tuple" else out)
    assert how == "created" or got is out
    np.testing.assert_array_equal(host(got), want)


def test_host_output_of_device_inputs():
    a, out = whole(10), np.zeros(10, np.float32)
    assert copy(cuda.to_device(a), out) is out
    np.testing.assert_array_equal(out, a)
    into = cuda.device_array(10, np.float32)
    assert copy(a, out=into) is into
    np.testing.assert_array_equal(host(into), a)


def test_output_that_is_the_input():
    x = np.arange(40, dtype=np.float32)

    @guvectorize([void(float32[:], float32[:])], "(n)->(n)")
    def plus(a, b):
        for i in range(a.size):
            b[i] += a[i]  # reads what the output held

    y = np.ones((4, 10), np.float32)
    np.testing.assert_array_equal(plus(x.reshape(4, 10), y), x.reshape(4, 10) + 1)
    d = cuda.to_device(x)
    a, b = whole((5, 3, 3)), whole((5, 3, 3), seed=1)
    want = np.matmul(a, b)
    for place in (np.array, cuda.to_device):
        into = place(a)
        np.testing.assert_array_equal(host(matmul(into, b, out=into)), want)  # all is read before it is written
    copy(d[:-1].reshape(3, 13), out=d[1:].reshape(3, 13))
    np.testing.assert_array_equal(host(d), np.concatenate([[0], x[:-1]]))


def test_numbers_and_one_element_arrays():
    row = np.arange(300, dtype=np.int32).reshape(100, 3)
    np.testing.assert_array_equal(sum_row(row), row.sum(1))
    np.testing.assert_array_equal(host(sum_row(cuda.to_device(row), out=cuda.device_array(100, np.int32))), row.sum(1))

    @guvectorize(["void(int32, int32[:])"], "()->()")
    def twice(x, out):
        out[0] = x * 2

    assert twice(10) == 20
    np.testing.assert_array_equal(twice(row), row * 2)

    @guvectorize(["void(float32, float32[:], float32[:], float32[:])"], "(),(t),(t)->(t)")
    def saxpy(a, x, y, out):
        for i in range(out.shape[0]):
            out[i] = a * x[i] + y[i]

    x = np.arange(10, dtype=np.float32).reshape(5, 2)
    np.testing.assert_array_equal(saxpy(np.float32(2), x, x), 3 * x)
    np.testing.assert_array_equal(saxpy(np.arange(5, dtype=np.float32), x, x), np.arange(5)[:, None] * x + x)

    @guvectorize(["void(int32[:], int32[:], int32[:])"], "(n),()->(n)")
    def shifted(x, y, out):
        for i in range(x.shape[0]):
            out[i] = x[i] + y[0]

    np.testing.assert_array_equal(shifted(row, np.arange(100, dtype=np.int32)), row + np.arange(100)[:, None])
    np.testing.assert_array_equal(shifted(row, np.array([2], np.int32)), row + 2)


def test_several_outputs():
    @guvectorize([void(int32[:], int32[:], float64[:])], "(x)->(x),()")
    def f(a, b, c):
        c[0] = 0
        for i in range(b.size):
            b[i] = a[i] * 2
            c[0] += a[i] * 1.5

    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    b, c = f(a)
    np.testing.assert_array_equal(b, a * 2)
    np.testing.assert_array_equal(c, (a * 1.5).sum(1))
    b, c = np.zeros_like(a), np.zeros(3)
    assert f(a, b, c)[1] is c and f(a, out=(b, c))[0] is b
    np.testing.assert_array_equal(c, (a * 1.5).sum(1))


def test_types():
    a = np.arange(10).reshape(5, 2)
    np.testing.assert_array_equal(matmul(a[:2].astype(np.int8), a[:2].astype(np.int16)), a[:2] @ a[:2])  # cast to float32
    assert sum_row(a).dtype == np.int32  # int64 narrowed, as in Numba
    with pytest.raises(TypeError, match="device arrays are not cast"):
        sum_row(cuda.to_device(a))
    with pytest.raises(TypeError, match="no matching signature"):
        sum_row(a * 1j)


def test_sequences():
    Point = namedtuple("Point", "x y z")
    a, b = (Point(1.0, 2.0, 3.0), Point(4.0, 5.0, 6.0)), (np.array([1.5, 2.5, 3.5]), np.array([4.5, 5.5, 6.5]))

    @guvectorize([(float64[:], float64[:], float64[:])], "(n),(n)->()")
    def dot(x, y, r):
        s = 0
        for i in range(len(x)):
            s += x[i] * y[i]
        r[0] = s

    np.testing.assert_array_equal(dot(a, b), np.sum(np.asarray(a) * np.asarray(b), axis=1))


def test_without_signatures():
    @guvectorize("(n)->(n),()")
    def f(x, doubled, total):
        total[0] = 0
        for i in range(x.shape[0]):
            doubled[i] = x[i] * 2
            total[0] += x[i]

    for dtype in ("int16", "float64"):
        x = np.arange(12).reshape(3, 4).astype(dtype)
        doubled, total = f(x, np.zeros_like(x), np.zeros(3))
        np.testing.assert_array_equal(doubled, x * 2)
        np.testing.assert_array_equal(total, x.sum(1))
    with pytest.raises(TypeError, match="no signatures, so its outputs have no type"):
        f(x)


@pytest.mark.parametrize("target", ["cpu", "parallel"])
def test_host_targets(target):
    f = guvectorize([(float32[:], float32[:])], "(n)->(n)", target=target, nopython=True)(copy.py_func)
    np.testing.assert_array_equal(f(whole((3, 5))), whole((3, 5)))


def test_streams_and_libraries():
    stream = cuda.stream()
    a = whole((100, 8))
    got = copy(cuda.to_device(a, stream), stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(host(got), a)
    got = copy(Library(cuda.to_device(a)))
    assert isinstance(got, Library)
    np.testing.assert_array_equal(host(got.d), a)


def two(a, b):
    pass


@pytest.mark.parametrize("make, error, message", [
    (lambda: guvectorize([void(float32[:], float32[:])], "(x)->(y)"), NameError, "undefined output symbols: y"),
    (lambda: guvectorize([int32(int32[:], int32[:])], "(m)->(m)"), TypeError, "guvectorized functions cannot return values: .*specifies int32 return type"),
    (lambda: guvectorize([void(int32[:], int32[:])], "(m)->(m)", writable_args=(0,)), TypeError, "writable_args are not supported"),
    (lambda: guvectorize([void(int32[:], int32[:])], "(m)->(m)", cache=True), TypeError, "caching is not supported"),
    (lambda: guvectorize([void(int32[:], int32[:])], "(m)->(m)", nopython=False), TypeError, "nopython flag must be True"),
    (lambda: guvectorize([void(int32[:], int32[:])], "(m)->(m)", what=1), TypeError, "The following target options are not supported: 'what'"),
    (lambda: guvectorize([void(int32[:], int32[:])], "(m)->(m)", target="x"), ValueError, "Unsupported target: x"),
    (lambda: guvectorize([void(int32, int32[:])], "(m)->(m)"), ValueError, "gufunc signature mismatch: ndim>0 for scalar"),
    (lambda: guvectorize([void(int32[:, :], int32[:])], "(m)->(m)"), ValueError, "gufunc signature mismatch: .*2 axes"),
    (lambda: guvectorize([void(int32[:], int32)], "(m)->()"), TypeError, "must be an array, which the function writes to"),
    (lambda: guvectorize([void(int32[:])], "(m)->(m)"), TypeError, "has 2 arguments, but the signature .* has 1"),
    (lambda: guvectorize("(m,n)->(m),(n)"), TypeError, "takes 2 arguments, but the layout .* has 3"),
    (lambda: guvectorize([void(int32[:], int32[:])], "m->m"), ValueError, "bad token in signature"),
    (lambda: guvectorize([void(int32[:], int32[:])], "(2)->(2)"), ValueError, "bad token in signature"),
    (lambda: guvectorize([void(int32[:], int32[:])], "(m),(m)"), ValueError, "needs inputs and outputs"),
    (lambda: guvectorize(), TypeError, "takes one or two positional arguments"),
    (lambda: guvectorize([], 3), TypeError, "the layout is a text"),
])  # fmt: skip
def test_wrong_decorations(make, error, message):
    with pytest.raises(error, match=message):
        make()(two)


def test_a_function_that_returns():
    with pytest.raises(TypeError, match="cannot return values: <lambda> returns float32"):
        guvectorize([void(float32[:], float32[:])], "(m)->(m)")(lambda a, b: a[0])


@pytest.mark.parametrize("call, error, message", [
    (lambda a: matmul(a), TypeError, "accepts 2 positional arguments.*or 3 positional arguments.*Got 1 positional argument."),
    (lambda a: matmul(a, a, a, a), TypeError, "Got 4 positional arguments."),
    (lambda a: matmul(a, a, a, out=a), ValueError, "cannot specify argument 'out' as both positional and keyword"),
    (lambda a: matmul(a, whole((2, 4))), ValueError, r"arg #2: shape\[0\] mismatch argument"),
    (lambda a: matmul(a, whole(3)), ValueError, "arg #2: insufficient inner dimension"),
    (lambda a: matmul(whole((2, 3, 3)), whole((4, 3, 3))), ValueError, "failed to broadcast"),
    (lambda a: matmul(a, a, out=whole((2, 2))), ValueError, "output shape mismatch"),
    (lambda a: matmul(a, a, out=(a, a)), ValueError, "out= is a tuple of 1 arrays"),
    (lambda a: matmul(a, a, where=1), TypeError, "not where="),
])  # fmt: skip
def test_wrong_calls(call, error, message):
    with pytest.raises(error, match=message):
        call(whole((3, 3)))
