"""cuda.reduce beside NumPy's reductions; integers, minima and sums of small whole numbers have to be equal, other sums are within the bound
of their additions."""

import pickle

import numpy as np
import pytest
from pyptx import cuda, guvectorize, vectorize
from pyptx.cuda.kernels.reduction import Reduce
from pyptx.cuda.kernels.transpose import transpose
from test_vectorize import Library

SIZES = [1, 2, 15, 16, 17, 31, 127, 128, 129, 255, 256, 257, 1023, 1025, 2047, 2049, 4096, 34567]


@cuda.reduce
def add(a, b):
    """Sums."""
    return a + b


largest = cuda.Reduce(lambda a, b: max(a, b))
product = cuda.reduce(lambda a, b: a * b)


def host(result):
    return result.copy_to_host() if isinstance(result, cuda.DeviceNDArray) else result


def test_names():
    assert cuda.reduce is cuda.Reduce is Reduce
    assert (add.__name__, add.__doc__, repr(add)) == ("add", "Sums.", "<reduction 'add'>")
    assert pickle.loads(pickle.dumps(add)) is add


@pytest.mark.parametrize("n", SIZES)
def test_sizes(n):
    a = np.arange(n, dtype=np.float64) + 1
    for x in (a, cuda.to_device(a)):
        assert add(x) == a.sum() and largest(x) == n and largest(x, init=None) == n
        assert largest(x, init=n + 5) == n + 5 and add(x, init=3) == a.sum() + 3
        assert add(x, size=n // 2) == a[: n // 2].sum()
    assert largest(-a, init=None) == -1 and largest(-a) == 0  # Numba's init is 0


def test_many_elements():
    a = np.random.default_rng(1).integers(-1000, 1000, 1 << 20).astype(np.int32)
    assert add(cuda.to_device(a)) == a.sum(dtype=np.int32)
    x = np.random.default_rng(1).random(1 << 20, dtype=np.float32)
    # Every partial sum is rounded once; no element takes part in more additions than a thread, a block's tree and their number.
    bound = (2**20 / (32 * 256) + 8 + 32) * np.finfo(np.float32).eps / 2 * x.sum(dtype=np.float64)
    assert abs(float(add(x)) - x.sum(dtype=np.float64)) <= bound


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint64", "float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    a = np.random.default_rng(2).integers(0, 2, 3000).astype(dtype)
    got, want = add(a), np.add.reduce(a, dtype=dtype)
    assert got == want and got.dtype == want.dtype


def test_products():
    a = np.array([1 + 2j, 3 - 1j, 2j, 1, 2], np.complex64)
    assert product(a, init=1) == np.multiply.reduce(a)
    assert product(np.arange(1, 21), init=1) == np.multiply.reduce(np.arange(1, 21)) and product(np.arange(1, 4)) == 0


def test_spans_of_time():
    a = np.arange(1000).astype("timedelta64[s]")
    assert add(a) == a.sum() and largest(a.astype("datetime64[s]"), init=None) == a.astype("datetime64[s]").max()


def test_it_is_compiled_once_a_dtype():
    calls = cuda.Reduce(lambda a, b: a + b)
    calls(np.arange(10)), calls(np.arange(100000))
    kernels = [k for r in calls._kernels.values() for k in r.kernels.values()]
    before = sum(len(k.overloads) for k in kernels)
    calls(np.arange(333)), calls(np.arange(77777))
    assert sum(len(k.overloads) for k in kernels) == before


def test_nothing():
    empty = np.zeros(0)
    assert add(empty) == 0 and add(cuda.to_device(empty), init=4) == 4
    with pytest.raises(TypeError, match="Reduction on an empty array"):
        add(empty, init=None)
    res = cuda.to_device(np.ones(1))
    assert add(empty, init=7, res=res) is None and res[0] == 7
    assert add(np.zeros((3, 0)), axis=1, init=2).tolist() == [2, 2, 2] and add(np.zeros((0, 3)), axis=1).shape == (0,)


def test_res():
    a = np.arange(1000.0)
    stream = cuda.stream()
    for res in (cuda.to_device(np.zeros(3)), np.zeros(3)):
        assert add(a, res=res, stream=stream) is None
        stream.synchronize()
        assert host(res).tolist() == [a.sum(), 0, 0]
    lib = Library(cuda.to_device(np.zeros(1)))
    assert add(Library(cuda.to_device(a)), res=lib) is None and lib.d[0] == a.sum()
    into = cuda.device_array(10)
    assert add(a.reshape(100, 10), axis=0, res=into) is None
    np.testing.assert_array_equal(host(into), a.reshape(100, 10).sum(0))


SHAPES = [(3, 4), (5, 1, 7), (100, 3), (3, 100), (700, 37), (37, 700), (4, 5, 6, 7), (2, 3, 20000), (20000, 2)]


@pytest.mark.parametrize("order", ["C", "F", "reversed"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_axes(shape, order):
    a = np.random.default_rng(3).integers(-50, 50, shape).astype(np.int32)
    a = a[::-1] if order == "reversed" else np.asarray(a, order=order)
    d = cuda.to_device(a[::-1])[::-1] if order == "reversed" else cuda.to_device(a)
    for axis in (None, 0, -1, (0, 1), (), *(((0, 2),) if a.ndim > 2 else ())):
        want = np.add.reduce(a, axis=axis, dtype=np.int32)
        for x in (a, d):
            got = add(x, axis=axis)
            assert isinstance(got, cuda.DeviceNDArray) == (x is d and want.ndim > 0)
            np.testing.assert_array_equal(host(got), want)
            assert got.dtype == want.dtype
    np.testing.assert_array_equal(host(add(d, axis=0, keepdims=True, init=5)), np.add.reduce(a, 0, keepdims=True, dtype=np.int32) + 5)


def test_results_are_of_the_arguments_library():
    got = add(Library(cuda.to_device(np.arange(6.0).reshape(2, 3))), axis=0)
    assert isinstance(got, Library) and host(got.d).tolist() == [3, 5, 7]


@pytest.mark.parametrize("call, error, message", [
    (lambda: add(np.zeros((2, 2))), TypeError, "only support 1D array: pass axis="),
    (lambda: add(3), TypeError, "only support 1D array"),
    (lambda: add(np.zeros(3), size=4), ValueError, "size is from 0 to the length"),
    (lambda: add(np.zeros((3, 2)), axis=2), ValueError, "axis 2 is out of bounds"),
    (lambda: add(np.zeros(3), res=np.zeros(0)), ValueError, "res must be a 1-D array"),
    (lambda: add(np.zeros((3, 2)), axis=0, res=np.zeros(3)), ValueError, r"the result has the shape \(2,\), but out has \(3,\)"),
    (lambda: add(np.zeros(3), res=np.zeros(1, np.int32)), TypeError, "out of int32 cannot hold"),
    (lambda: cuda.reduce(int), TypeError, "@cuda.reduce decorates a function"),
    (lambda: cuda.reduce(lambda a: a), TypeError, "must take two positional arguments, the elements that it combines, not 1"),
    (lambda: cuda.reduce(lambda a, b, c: a), TypeError, "two positional arguments, the elements that it combines, not 3"),
    (lambda: add(np.zeros(3, RECORD)), TypeError, r"records are not reduced, but an array of one of their fields is: a\['i'\]"),
    (lambda: add(np.ma.array([1.0, 2.0], mask=[0, 1])), TypeError, "a masked array's mask would be lost"),
    (lambda: vectorize(lambda a: a)(np.ma.array([1.0, 2.0])), TypeError, "a masked array's mask would be lost"),
    (lambda: guvectorize("(n)->(n)")(lambda a, out: None)(np.ma.array([1.0]), np.zeros(1)), TypeError, "a masked array's mask would be lost"),
    (lambda: vectorize(5), TypeError, "signatures are text, types or a list of them, not 5"),
    (lambda: cuda.autotune(add), TypeError, "autotune takes a list of cuda.Config, at least one, not"),
])  # fmt: skip
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- cuda.kernels.transpose

RECORD = np.dtype([("i", np.int32), ("j", np.float32, (3, 2))])


@pytest.mark.parametrize("dtype", ["float64", "complex128", "bool", "int8", RECORD], ids=str)
@pytest.mark.parametrize("shape", [(2, 3), (16, 17), (33, 31), (1, 70), (70, 1), (0, 3), (128, 64)], ids=str)
def test_transpose(shape, dtype):
    a = np.zeros(shape, dtype)
    field = a["i"] if dtype is RECORD else a
    field[...] = np.arange(field.size).reshape(shape) % 120
    d = cuda.to_device(a)
    np.testing.assert_array_equal(host(transpose(d)), a.T)
    into = cuda.device_array(shape[::-1], dtype)
    assert transpose(d, into) is into
    np.testing.assert_array_equal(host(into), a.T)
    np.testing.assert_array_equal(host(transpose(d[::2, ::-1])), a[::2, ::-1].T)
    on_host = np.zeros(shape[::-1], dtype)
    assert transpose(a, on_host) is on_host
    np.testing.assert_array_equal(on_host, a.T)


def test_transpose_in_place_and_on_its_stream():
    a = np.arange(100 * 100).reshape(100, 100)
    stream = cuda.stream()
    d = cuda.to_device(a).bind(stream)
    transpose(d, d)
    stream.synchronize()
    np.testing.assert_array_equal(host(d), a.T)


@pytest.mark.parametrize("a, b, error", [
    (np.zeros(3), None, TypeError), (2.0, None, TypeError), (np.zeros((2, 3)), np.zeros((2, 3)), ValueError),
    (np.zeros((2, 3)), np.zeros((3, 2), np.float32), TypeError),
])  # fmt: skip
def test_transpose_errors(a, b, error):
    with pytest.raises(error, match="transpose: "):
        transpose(a, b)


# --- one launch: the last of the slices' blocks combines their results


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "float16"])
def test_small_numbers_are_loaded_in_words(dtype):
    @cuda.reduce
    def largest(a, b):
        return a if a > b else b

    x = (np.arange(70003) % 251 - (100 if np.dtype(dtype).kind != "u" else 0)).astype(np.float16 if dtype == "float16" else dtype)
    d = cuda.to_device(x)
    for n in (1, 2047, 2048, 2055, 4096, 70003):  # below and above what is loaded so, with elements behind the last word
        assert largest(d, size=n, init=None) == x[:n].max()
        x[n - 1], old = 120, x[n - 1]  # the last element
        assert largest(x, size=n, init=None) == max(120, x[:n].max())
        x[n - 1] = old
    assert largest(d[1:], init=None) == x[1:].max()  # not at the address of a word
    if dtype[0] in "iu":
        assert add(d, init=0) == x.sum(dtype=dtype)  # wraps as the dtype does


def test_results_that_would_be_lost():
    x = np.arange(5, dtype=np.int32)
    for res in ([0.0], (0,)):
        with pytest.raises(TypeError, match="res must be an array"):
            add(x, res=res)
    swapped = np.zeros(2, ">i4")
    assert add(x, res=swapped) is None and list(swapped) == [10, 0]
    total = np.zeros(2, ">i8")
    assert add(np.ones((2, 3), np.int64), axis=1, res=total) is None and list(total) == [3, 3]


def test_numbers_that_the_array_cannot_hold():
    x = np.arange(5, dtype=np.int32)
    with pytest.raises(OverflowError, match="1099511627776 out of bounds for int32"):
        add(x, init=2**40)
    for init in (1.5, 1j):
        with pytest.raises(TypeError, match="init is .*which int32, the array's type, cannot hold"):
            add(x, init=init)
    assert add(x, init=2.0) == 12 and add(x, init=True) == 11 and add(x.astype(np.float32), init=3) == 13
    for axis in (1.5, "a", (0, None)):
        with pytest.raises(TypeError, match="axis is an int, a tuple of ints, or None for all, not"):
            add(x, axis=axis)


def test_functions_that_give_another_type():
    """The error is the function's own, without the lines of the kernel that is made of it."""
    x = np.arange(5, dtype=np.int32)
    for function, gives in ((lambda a, b: a > b, "bool"), (lambda a, b: (a, b), r"\(int32, int32\)"), (lambda a, b: None, "none"), (lambda a, b: a + 1.5, "float64")):
        with pytest.raises(TypeError, match=f"of two int32 it gives {gives}, which is not combined further"):
            cuda.reduce(function)(x)
    with pytest.raises(AttributeError, match="no attribute 'foo'") as error:
        cuda.reduce(lambda a, b: a.foo + b)(x)
    assert __file__.rpartition("/")[2] in str(error.value) and "<pyptx" not in str(error.value)
    assert cuda.reduce(lambda a, b: a or b)(x > 3, init=False) == True  # noqa: E712
    assert cuda.reduce(lambda a, b: max(a, b))(x, init=None) == 4 and cuda.reduce(lambda a, b: int(a) + int(b))(x) == 10


def test_many_calls_on_several_streams_and_in_a_graph():
    x = np.arange(100000, dtype=np.int64)
    d = cuda.to_device(x)
    streams = [0, cuda.stream(), cuda.stream()]
    out = [cuda.device_array(1, np.int64) for _ in range(12)]
    for k, res in enumerate(out):
        add(d[k:], res=res, stream=streams[k % 3])
    cuda.synchronize()
    assert [r[0] for r in out] == [x[k:].sum() for k in range(12)]
    with cuda.graph() as graph:
        for res in out:
            add(d, res=res)
    for _ in range(3):
        graph.launch()
    cuda.synchronize()
    assert [r[0] for r in out] == [x.sum()] * 12
    assert add(d) == x.sum()
