"""@vectorize beside NumPy's own ufuncs, np.vectorize and np.broadcast of the same function; the results have to be equal, bit for bit.

Arithmetic is compiled without fma where it could round once instead of twice, so there is no tolerance; where a function of math
is called, its error bound is the C library's (libm_ulps).
"""

import itertools
import math
import pickle
import types

import numpy as np
import pyptx
import pytest
from pyptx import cuda, float32, float64, guvectorize, int32, uint32, vectorize, void
from pyptx._ufunc import elementwise

ADD = [int32(int32, int32), float32(float32, float32), float64(float64, float64)]
DTYPES = ["bool", "int8", "uint8", "int16", "uint32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@vectorize(ADD, target="cuda")
def add(a, b):
    """The sum."""
    return a + b


@vectorize(fma=False)
def natural(a, b):
    return a * b + b


@vectorize
def difference(a, b):
    return a - b


def numpy_natural(a, b):
    return a * b + b


def host(result):
    return result.copy_to_host() if isinstance(result, cuda.DeviceNDArray) else result


def same(got, want):
    got, want = host(got), np.asarray(want)
    assert np.shape(got) == want.shape and got.dtype == want.dtype, (got, want)
    np.testing.assert_array_equal(got, want)


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "c":
        return (rng.integers(-9, 9, shape) + 1j * rng.integers(-9, 9, shape)).astype(dtype)
    return rng.integers(0 if np.dtype(dtype).kind in "ub" else -9, 9, shape).astype(dtype)


# --- signatures


def test_importable_everywhere():
    assert pyptx.vectorize is cuda.vectorize is vectorize
    assert pyptx.guvectorize is cuda.guvectorize and "vectorize" in cuda.__all__


def test_attributes():
    assert (add.__name__, add.__doc__, add.nin, add.nout, add.nargs, add.ntypes) == ("add", "The sum.", 2, 1, 3, 3)
    assert add.types == ["ii->i", "ff->f", "dd->d"] and repr(add) == "<ufunc 'add'>"
    assert pickle.loads(pickle.dumps(add)) is add


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_the_signature_of_the_dtypes(dtype):
    x = numbers(1000, dtype)
    same(add(x, x), x + x)
    same(add(cuda.to_device(x), x), x + x)


@pytest.mark.parametrize("signature", ["f8(f8)", ["float64(float64)"], float64(float64), [float64(float64)], (float64,), [(float64,)]])
def test_forms_of_signatures(signature):
    @vectorize(signature)
    def square(x):
        return x * x

    assert square.types == ["d->d"] and square(3.0) == 9.0


def test_no_exact_match():
    with pytest.raises(TypeError, match="No matching version.*casting='no'.*ii->i.*int64, float32"):
        add(np.arange(3), np.zeros(3, np.float32))


def test_ambiguous_numbers():
    with pytest.raises(TypeError, match="Failed to resolve ufunc due to ambiguous signature"):
        add(1, 2j)  # no signature has them exactly, and numbers alone could be any


def test_numbers_take_the_arrays_type():
    x = np.arange(4, dtype=np.float32)
    same(add(x, 1), x + np.float32(1))
    same(add(2.5, x), np.float32(2.5) + x)
    assert add(1.2, 2.3) == 1.2 + 2.3  # exact: the signature of float64
    same(add(np.float32(1), np.float32(2)), np.float32(3))


def test_a_number_that_does_not_fit():
    with pytest.raises(OverflowError):
        add(np.arange(3, dtype=np.int32), 1 << 40)
    with pytest.raises(OverflowError):
        d = cuda.to_device(np.arange(3, dtype=np.int32))
        add(d, 1), add(d, 1 << 40)  # the second call finds the plan of the first


def test_mixed_signature():
    @vectorize(["float64(float64, uint32)"])
    def scaled(x, scale):
        return scale if x == 0.0 else scale * x

    x = np.arange(100.0)
    same(scaled(x, np.uint32(3)), np.where(x == 0, 3.0, 3 * x))


def test_device_functions_are_called():
    @cuda.jit("float32(float32, float32)", device=True)
    def ratio(x, y):
        return x / y

    @vectorize([float32(float32, float32, float32)])
    def f(x, y, z):
        return ratio(x, y) + z

    x, y, z = (numbers(50, "float32", k) + np.float32(20) for k in range(3))
    same(f(x, y, z), x / y + z)


def test_math(libm_ulps):
    @vectorize(["float64(float64)"])
    def sinc(x):
        return 1.0 if x == 0.0 else math.sin(x * math.pi) / (math.pi * x)

    x = np.linspace(-3, 3, 101)
    np.testing.assert_allclose(sinc(x), np.vectorize(sinc.py_func)(x), rtol=(libm_ulps + 2) * 2.3e-16, atol=1e-17)


# --- targets


@pytest.mark.parametrize("target", ["cpu", "parallel"])
def test_host_targets_choose_as_numpy(target):
    @vectorize(["int32(int32, int32)", "float64(float64, float64)"], target=target, nopython=True)
    def f(a, b):
        return a + b

    x = np.arange(5, dtype=np.int16)
    same(f(x, x), (x + x).astype(np.int32))  # the first that both can be cast to safely
    same(f(x, 1.5), x + 1.5)
    same(f(np.arange(3, dtype=np.int64), x[:3]), np.arange(3) + x[:3].astype(np.float64))
    with pytest.raises(TypeError, match="not supported for the input types"):
        f(x, 2j)


def test_options_and_targets():
    with pytest.raises(ValueError, match="Unsupported target: fpga"):
        vectorize(target="fpga")
    with pytest.raises(KeyError, match="Unrecognized options.*nonexistent"):
        vectorize(["f4(f4)"], nonexistent=2)
    with pytest.raises(TypeError, match="caching is not supported"):
        vectorize(["f4(f4)"], cache=True)
    with pytest.raises(ValueError, match="identity is"):
        vectorize(["f4(f4)"], identity=2)
    with pytest.warns(RuntimeWarning, match="nopython kwarg for cuda target is redundant"):
        vectorize(["f4(f4)"], nopython=True)(lambda x: x)


@pytest.mark.parametrize("make, message", [
    (lambda: vectorize(["f4(f4, f4)"])(lambda x: x), "takes 1 argument, but the signature .* has 2"),
    (lambda: vectorize(["f4(f4[:])"])(lambda x: x), "gets elements.*@guvectorize"),
    (lambda: vectorize(lambda *x: x), "one or more positional arguments"),
    (lambda: vectorize(3), "signatures are text, types or a list of them, not 3"),
    (lambda: vectorize([])(int), "@vectorize decorates a function written in Python, not a class"),
    (lambda: vectorize(["f4(f4)"])(lambda x: None), "must return one number, not none"),
    (lambda: vectorize(lambda x: None)(np.zeros(3)), "must return one number, not none"),
    (lambda: vectorize(lambda x: (x, x))(1.0), "must return one number"),
])  # fmt: skip
def test_wrong_functions(make, message):
    with pytest.raises(TypeError, match=message):
        make()


# --- without signatures


@pytest.mark.parametrize("a, b", list(itertools.combinations_with_replacement(DTYPES, 2)))
def test_types_by_numpys_rule(a, b):
    x, y = numbers(7, a), numbers(7, b, 1)
    same(natural(x, y), numpy_natural(x, y))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [True, 3, 2.5, 1j, np.float32(2), np.int16(-3), np.float64(0.5)], ids=repr)
def test_numbers_by_numpys_rule(dtype, number):
    x = numbers(7, dtype)
    if x.dtype.kind == "u" and isinstance(number, np.integer) and number < 0:
        number = np.int16(3)
    same(natural(x, number), numpy_natural(x, number))


def test_only_numbers():
    assert natural(2, 3) == 9 and natural(2, 3).dtype == np.int64
    assert natural(2, 0.5) == 1.5 and isinstance(natural(2, 0.5), np.float64)
    same(natural(np.array(2, np.int8), np.int8(3)), np.int8(9))


@pytest.mark.parametrize("dtype", ["datetime64[s]", "timedelta64[ms]"])
def test_dates(dtype):
    x = np.arange(5).astype(dtype)
    same(difference(x, x[::-1]), x - x[::-1])
    same(vectorize([f"{dtype}({dtype})"])(lambda t: t)(x), x)
    unit = cuda.jit(device=True)(lambda t: t // np.timedelta64(1, "s"))
    with pytest.raises(TypeError, match="not known without a signature"):
        vectorize(lambda t: unit(t - t))(x)


def test_errors_show_the_users_line():
    @vectorize
    def wrong(x):
        return x.nonsense  # here

    with pytest.raises(pyptx.CompileError) as error:
        wrong(np.zeros(3))
    assert "return x.nonsense  # here" in str(error.value) and "test_vectorize.py" in str(error.value)


# --- shapes and layouts

SHAPES = [
    ((), ()), ((0,), (0,)), ((1,), (5,)), ((5,), ()), ((0, 3), (3,)), ((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4, 1, 6), (5, 1)),
    ((3, 1, 2, 1), (1, 4, 1, 5)), ((1, 1), (1, 1)), ((2, 3, 4, 5, 6), (2, 1, 4, 1, 6)), ((300, 7), (300, 1)), ((2,) * 8, (1, 2) * 4),
]  # fmt: skip
LAYOUTS = {
    "C": lambda a: a,
    "F": np.asfortranarray,
    "reversed": lambda a: a[tuple(slice(None, None, -1) for _ in a.shape)],
    "steps": lambda a: np.repeat(a, 2, -1)[..., ::2] if a.ndim else a,
}


@pytest.mark.parametrize("where", ["host", "device"])
@pytest.mark.parametrize("lay", LAYOUTS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_broadcasting(shapes, lay, where):
    x, y = LAYOUTS[lay](numbers(shapes[0], "int32")), numbers(shapes[1], "int32", 1)
    want = x - y
    if where == "device":
        x = device_like(x)
        got = difference(x, cuda.to_device(y))
        assert isinstance(got, cuda.DeviceNDArray)
    else:
        got = difference(x, y)
        assert not isinstance(got, cuda.DeviceNDArray)
    same(got, want)
    same(difference(x, cuda.to_device(y), out=cuda.device_array(want.shape, np.int32)), want)


def device_like(x):
    """A device array with the elements and the strides of x."""
    flip = tuple(slice(None, None, -1) for _ in x.shape)
    if any(s < 0 for s in x.strides):
        return cuda.to_device(np.ascontiguousarray(x[flip]))[flip]
    if x.ndim and x.size > 1 and x.strides[-1] == 2 * x.itemsize:
        return cuda.to_device(np.repeat(x, 2, -1))[..., ::2]
    return cuda.to_device(x)


def test_results_keep_fortran_order():
    x = np.asfortranarray(numbers((4, 5), "float32"))
    assert add(x, x).flags.f_contiguous and add(cuda.to_device(x), 1).flags["F_CONTIGUOUS"]


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError, match=r"add: failed to broadcast arguments of shapes \(2,\) and \(3,\)"):
        add(np.zeros(2), np.zeros(3))


@pytest.mark.parametrize("make", [tuple, list, np.array])
def test_sequences(make):
    same(add(make([1.0, 2.0]), make([3.0, 4.0])), np.array([4.0, 6.0]))


def test_foreign_byte_order():
    x = np.arange(5, dtype=">f4")
    same(add(x, x), (x + x).astype("f4"))


# --- out


@pytest.mark.parametrize("shape", [(10,), (3, 4), (), (0,)])
def test_out(shape):
    x = numbers(shape, "float32")
    d = cuda.to_device(x)
    out, d_out = np.empty_like(x), cuda.device_array(shape, np.float32)
    assert add(x, x, out=out) is out and add(d, d, out=d_out) is d_out
    same(out, x + x)
    same(d_out, x + x)
    assert add(d, d, out) is out and add(x, x, d_out) is d_out and add(x, x, out=(out,)) is out
    same(d_out, x + x)


def test_out_of_any_layout():
    x = numbers((4, 6), "float32")
    for out in (np.zeros((6, 4), np.float32).T, np.zeros((8, 6), np.float32)[::2], np.zeros((4, 6), np.float32)[::-1, ::-1], np.zeros((4, 6))):
        assert add(x, x, out=out) is out
        np.testing.assert_array_equal(out, x + x)
    wide = cuda.to_device(np.zeros((8, 6), np.float32))
    add(x, x, out=wide[::2])
    same(wide[::2], x + x)
    same(wide[1::2], np.zeros((4, 6), np.float32))


def test_out_is_an_input():
    x = numbers(100, "float32")
    d = cuda.to_device(x)
    assert add(d, d, out=d) is d
    same(d, x + x)


@pytest.mark.parametrize("cut", [(slice(1, None), slice(None, -1)), (slice(None, -1), slice(1, None)), (slice(None, None, -1), slice(None))], ids=str)
def test_out_overlaps_an_input(cut):
    for wrap in (np.array, cuda.to_device):
        x = np.arange(5000, dtype=np.float32)
        want = x[cut[0]] + x[cut[1]]
        y = wrap(x)
        add(y[cut[0]], y[cut[1]], out=y[cut[0]])
        same(y[cut[0]] if wrap is np.array else y.copy_to_host()[cut[0]], want)


def test_wrong_outs():
    x = np.zeros(3, np.float32)
    with pytest.raises(ValueError, match=r"broadcast to \(3,\), but out has the shape \(1,\)|out has the shape"):
        add(x, x, out=np.zeros(1, np.float32))
    with pytest.raises(TypeError, match="out of int32 cannot hold"):
        add(x, x, out=np.zeros(3, np.int32))
    with pytest.raises(TypeError, match="out must be an array, not list"):
        add(x, x, out=[1, 2, 3])
    read_only = np.zeros(3, np.float32)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        add(x, x, out=read_only)
    with pytest.raises(TypeError, match="takes out= and stream=, not where="):
        add(x, x, where=True)
    with pytest.raises(TypeError, match="takes 2 arguments, and out=, but 1 were given"):
        add(x)


# --- streams, other libraries


def test_stream():
    stream = cuda.stream()
    x = numbers((3, 50), "float32")
    d = cuda.to_device(x, stream)
    for _ in range(2):  # the second call finds a plan
        got = add(d, d, stream=stream)
        same(add(d, 1, out=got, stream=stream), x + 1)
    stream.synchronize()
    same(add(x, x, stream=stream), x + x)


class Library:
    """An array of another library."""

    def __init__(self, d):
        self.d, self.shape, self.dtype = d, d.shape, d.dtype

    def __dlpack__(self, **options):
        return self.d.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.d.__dlpack_device__()

    def __array_namespace__(self):
        return types.SimpleNamespace(from_dlpack=lambda other: Library(cuda.from_dlpack(other)))


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
def test_results_are_of_the_arguments_library(shape):
    x = numbers(shape, "float32")
    lib = Library(cuda.to_device(x))
    got = add(lib, x)
    assert isinstance(got, Library)
    same(got.d, x + x)
    out = Library(cuda.to_device(x))
    assert add(lib, np.float32(1), out=out) is out
    same(out.d, x + 1)
    assert isinstance(add(cuda.to_device(x), lib), cuda.DeviceNDArray)  # the first one decides


@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_other_libraries(library, device):
    module = pytest.importorskip(library)
    if device != "gpu":
        pytest.skip(f"{library}'s arrays are on a GPU")
    x = np.arange(1000, dtype=np.float32)
    a = module.asarray(x) if library == "cupy" else module.asarray(x, device="cuda")
    got = add(a, 1)
    assert type(got) is type(a)
    np.testing.assert_array_equal(got.get() if library == "cupy" else got.cpu().numpy(), x + 1)
    out = module.zeros_like(a)
    assert add(a, a, out=out) is out
    np.testing.assert_array_equal(out.get() if library == "cupy" else out.cpu().numpy(), x + x)


# --- the rest


def test_plans_are_found_by_layout():
    """Calls with device arrays that lie in another way, after one that made a plan."""
    x = cuda.to_device(np.arange(24, dtype=np.int32))
    for a in (x, x.reshape(4, 6), x.reshape(4, 6).T, x[::2], x[::-1], x.reshape(2, 3, 4), x[:1], x[:0], x.reshape(6, 4), x.reshape(4, 6)[:, 1:4]):
        for _ in range(2):
            same(difference(a, 1), host(a) - 1)
            same(difference(a, a), host(a) - host(a))
            same(difference(a, 1, out=cuda.device_array(a.shape, np.int64)), (host(a) - 1).astype(np.int64))


def test_max_blocksize():
    @vectorize
    def f(x):
        return cuda.blockDim.x + x

    d = cuda.to_device(np.zeros(1000, np.int32))
    assert host(f(d))[0] == 256
    f.max_blocksize = 64
    assert host(f(d))[0] == 64


def test_elementwise():
    f = numpy_natural
    x = numbers(10, "float64")
    same(elementwise(f, x, 2), f(x, 2))
    assert elementwise(f, cuda.to_device(x), 2, out=(d := cuda.device_array(10))) is d


@pytest.mark.parametrize("n", [1, 8, 100, 2**10 + 1])
def test_reduce(n):
    x = np.arange(n, dtype=np.int32)
    for a in (x, cuda.to_device(x)):
        got = add.reduce(a)
        assert got == x.sum() and got.dtype == np.int32
    stream = cuda.stream()
    assert add.reduce(cuda.to_device(x, stream), stream=stream) == x.sum()


@vectorize(["int32(int32)", "float32(float32)"], target="cpu")
def halved(x):
    return x / 2


@vectorize
def plus(x, y=1):
    return x + y


@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def doubled(x, out):
    for i in range(x.size):
        out[i] = x[i] * 2


def test_a_kernel_calls_ufuncs():
    """Of a number, converted to the signature's types; the function itself, and a gufunc's, by py_func."""
    @cuda.jit
    def kernel(i, x, out):
        out[0], out[1], out[2], out[3] = halved(i[0]), halved(np.float32(x[0])), plus(x[0], 3), plus(x[0])
        out[4], out[5] = plus.py_func(x[0], 4), outer(x[0])
        doubled.py_func(x, out[6:])

    outer = vectorize(lambda x: halved(np.float32(x)) + plus(x, 1))
    x, out = np.array([3.3]), np.zeros(7)
    kernel[1, 1](np.array([7], np.int32), x, out)
    half = float(np.float32(3.3) / np.float32(2))
    assert list(out) == [3, half, 6.3, 4.3, 7.3, half + 4.3, 6.6]
    same(outer(x), np.array([half + 4.3]))
    with pytest.raises(TypeError, match=r"(?s)GUFunc> cannot be called in a kernel.*help: gufuncs are for the host: .*f.py_func\(a, out\)"):
        cuda.jit(lambda x, out: doubled(x, out))[1, 1](x, out)


def test_defaults():
    x = numbers(5, "int32")
    same(plus(x), x + 1)
    same(plus(x, 2), x + 2)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        plus()


def test_python_ints_that_do_not_fit():
    """As NumPy's ufunc of one operation raises; a function that can use the number gets it."""
    x = np.array([3, -4], np.int8)
    times = vectorize(lambda a, b: a * b)
    for wrong in (300, -200):
        with pytest.raises(OverflowError, match=f"Python integer {wrong} out of bounds for int8"):
            times(x, wrong)
        with pytest.raises(OverflowError):
            np.multiply(x, wrong)
    same(times(x, 5), x * 5)
    same(times(x, np.int64(300)), x * np.int64(300))
    same(vectorize(lambda a, n: a > n)(x, 300), x > 300)
    same(vectorize(lambda a, n: a >> (n // 100))(x, 300), x >> 3)


def test_a_signature_without_a_result():
    for signature in ("void(int32)", void(int32)):
        with pytest.raises(TypeError, match=r"the signature void\(int32\) has no result; @guvectorize"):
            vectorize([signature])(lambda x: x)


def test_reduce_along_axes():
    x = numbers((3, 4, 5), "int32")
    for axis in (0, 1, -1, (0, 2), None):
        same(add.reduce(x, axis=axis), np.add.reduce(x, axis=axis, dtype=np.int32))
    got = add.reduce(cuda.to_device(x))
    assert isinstance(got, cuda.DeviceNDArray)
    same(got, x.sum(0, dtype=np.int32))


def test_reduce_of_nothing():
    with pytest.raises(TypeError, match="Reduction on an empty array"):
        add.reduce(np.zeros(0, np.float32))

    @vectorize(["f4(f4, f4)"], identity=1)
    def product(a, b):
        return a * b

    assert product.reduce(np.zeros(0, np.float32)) == 1 and product.reduce(np.full(3, 2, np.float32)) == 8
    same(product.reduce(np.zeros((0, 3), np.float32)), np.ones(3, np.float32))


def test_wrong_reductions():
    with pytest.raises(TypeError, match="must be a binary ufunc"):
        vectorize(lambda x: x).reduce(np.zeros(3))
    with pytest.raises(TypeError, match="No matching version.*add.reduce of int64 needs ll->l"):
        add.reduce(np.arange(3))
    assert vectorize([uint32(uint32, uint32)])(lambda a, b: a | b).reduce(np.array([1, 6], np.uint32)) == 7


def test_graphs():
    stream = cuda.stream()
    d, out = cuda.to_device(np.zeros((3, 4), np.float32)), cuda.device_array((3, 4), np.float32)
    add(d, 1, out=out)
    with cuda.graph(stream=stream) as graph:
        add(d, 1, out=out, stream=stream)
    d.copy_to_device(np.full((3, 4), 5, np.float32))
    graph.launch(stream)
    stream.synchronize()
    same(out, np.full((3, 4), 6, np.float32))
