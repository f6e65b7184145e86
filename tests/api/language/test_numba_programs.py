"""Forms that programs for numba-cuda use and that nothing else here does: what they say after `from pyptx import cuda` must mean the same."""

import enum
import math

import numpy as np
import pytest
from pyptx import cuda, types

ALL_TYPES = sorted(name for name in types.__all__ if isinstance(getattr(types, name), types.Type))


# --- names of types ---


@pytest.mark.parametrize("name", ALL_TYPES)
def test_types_have_one_name_in_all_places(name):
    assert getattr(cuda, name) is getattr(types, name)
    if name not in ("void", "byte"):  # NumPy's "byte" has a sign
        assert types._type(name) == getattr(types, name)
        assert types._type(f"{name}[:]") == getattr(types, name)[:] if name != "none" else True


def test_the_module_of_types():
    from pyptx.cuda import float32, void
    from pyptx.cuda.types import double

    assert cuda.types is types and double is types.float64 and (float32, void) == (types.float32, types.void)
    assert [types.char, types.byte, types.short, types.ushort, types.intc, types.uint, types.longlong] == [
        types.int8, types.uint8, types.int16, types.uint16, types.int32, types.uint64, types.int64]
    assert types.NPDatetime("ns") == types.from_dtype("M8[ns]") and types.NPTimedelta("25s") == types.from_dtype("m8[25s]")
    assert types.NPTimedelta() == types.from_dtype("m8")


def test_texts_with_the_names_of_c():
    kernel = cuda.jit("void(double[:], float_, longlong, b1)")(lambda x, a, n, flag: None)
    assert str(kernel.signatures[0]) == "(float64[:], float32, int64, bool)"


def test_parts_of_types():
    array, signature = types.float32[:, ::1], types.int32(types.float32[:], types.int64)
    assert (array.ndim, array.layout, types.float32[::1, :].layout, types.int8[:].layout) == (2, "C", "F", "A")
    record = types.from_dtype(np.dtype([("x", "f4"), ("y", "i4", (3,))]))
    assert [t[:].dtype for t in (types.int8, record, types.NPDatetime("25s"))] == [types.int8, record, types.NPDatetime("25s")]
    assert types._type("align4 float64[:, :]").dtype == types.float64
    assert signature.args == (types.float32[:], types.int64) and signature.return_type == types.int32
    assert types.void(types.float32).return_type == types.none and types.void().args == ()
    pair = types.Tuple((types.float32, types.int32))
    assert pair(types.int8).return_type == pair
    for owner, name in ((types.float32, "ndim"), (types.float32, "layout"), (array, "args"), (array, "return_type")):
        with pytest.raises(AttributeError, match=f"has no (attribute .)?{name}"):
            getattr(owner, name)


# --- launches of declared kernels ---


def declared(signature):
    def put(out, v):
        out[0] = v

    return cuda.jit(signature)(put)


@pytest.mark.parametrize("dtype, value, expected", [
    ("float32", np.float64(1.1), np.float32(1.1)), ("float32", np.int64(3), 3), ("float32", np.int32(1 << 25 | 1), np.float32(1 << 25 | 1)),
    ("int32", np.int64(-3), -3), ("uint8", np.int64(255), 255), ("int64", np.uint64(7), 7), ("complex64", np.float64(1.1), np.complex64(1.1)),
    ("complex64", np.complex128(1.1j), np.complex64(1.1j)), ("float16", np.float32(0.1), np.float16(0.1)),
], ids=str)
def test_numbers_become_the_declared_types(dtype, value, expected):
    kernel = declared(f"void({dtype}[:], {dtype})")
    out = cuda.to_device(np.zeros(1, dtype))
    for _ in range(3):  # the third launch goes by a plan
        kernel[1, 1](out, value)
        assert out.copy_to_host()[0] == expected
    assert len(kernel.overloads) == 1


@pytest.mark.parametrize("typing", ["numpy", "numba"])
@pytest.mark.parametrize("dtype, value", [("int32", 1 << 32), ("int32", np.int64(-1 - (1 << 31))), ("uint8", -129), ("uint8", np.int16(256)), ("int8", 256)], ids=str)
def test_integers_that_the_declared_type_cannot_hold(dtype, value, typing):
    kernel = cuda.jit(f"void({dtype}[:], {dtype})", typing=typing)(declared(f"void({dtype}[:], {dtype})").py_func)
    with pytest.raises(OverflowError, match=r"argument 2 \('v'\) does not fit " + dtype):
        kernel[1, 1](np.zeros(1, dtype), value)


@pytest.mark.parametrize("dtype, value", [("int32", np.float32(2)), ("int32", 2.0), ("float64", 1j), ("float32", np.complex64(1)), ("bool", np.int8(1))], ids=str)
def test_numbers_that_are_no_value_of_the_declared_type(dtype, value):
    with pytest.raises(TypeError, match="was declared for"):
        declared(f"void({dtype}[:], {dtype})")[1, 1](np.zeros(1, dtype), value)


def test_the_declared_type_that_loses_least_is_taken():
    kernel = declared(["void(float64[:], float32)", "void(float64[:], float64)", "void(float64[:], int8)"])
    out = cuda.to_device(np.zeros(1))
    for value, expected in ((np.float64(1.1), 1.1), (np.float32(0.1), np.float32(0.1)), (np.int16(300), 300), (np.int64((1 << 53) - 1), (1 << 53) - 1)):
        kernel[1, 1](out, value)
        assert out.copy_to_host()[0] == expected


def test_numbers_of_a_kernel_with_one_signature():
    one, two = declared("void(int32[:], int32)"), declared(["void(int32[:], int32)", "void(int64[:], int64)"])
    for name in ("get_regs_per_thread", "get_shared_mem_per_block", "get_const_mem_size", "get_local_mem_per_thread", "get_max_threads_per_block"):
        assert isinstance(getattr(one, name)(), int) and len(getattr(two, name)()) == 2


# --- device functions with signatures ---


@cuda.jit("int32(int32, int32)", device=True)
def quotient(a, b):
    return a / b * 3


@cuda.jit(["(int64, int64)", "(float64, float64)"], device=True)
def total(a, b):
    return a + b


@cuda.jit(types.Tuple((types.float32, types.int32))(types.float32[:], types.int32), device=True)
def twice(a, i):
    return a[i] * 2.0, i


@cuda.jit("complex64(complex64)", device=True)
def square(z):
    return z * z


@cuda.jit("float32(float32)", device=True)
def factorial(n):
    return np.float32(1) if n <= 1 else n * factorial(n - 1)


@cuda.jit("float32[:](float32[:], int64)", device=True)
def rest(a, n):
    return a[n:]


@cuda.jit("void(float64[:], int64)", device=True)
def put_one(out, i):
    out[i] = 1


@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_signatures_of_device_functions(typing):
    @cuda.jit(typing=typing)
    def kernel(out, a, big):
        out[0] = quotient(7.9, np.int64(2))  # 7 / 2 * 3 = 10.5
        out[1] = total(1, 2)
        out[2] = total(1, 2.5)
        out[3], out[4] = twice(a, 1.7)
        out[5] = square(np.complex128(1.1)).real
        out[6] = factorial(np.float64(5))
        out[7] = rest(a, 2)[0]
        put_one(out, 8.9)
        out[9] = quotient(big, 1)

    out = np.zeros(10)
    kernel[1, 1](out, np.arange(4, dtype=np.float32), np.int64(1 << 40 | 5))
    z = np.complex64(1.1)
    assert out.tolist() == [10, 3, 3.5, 2, 1, (z * z).real, 120, 2, 1, 15]


def test_a_device_function_has_a_signature_by_itself():
    def half(x):
        return x / 2

    whole, plain = cuda.jit("int32(int32)", device=True)(half), cuda.jit(device=True)(half)

    @cuda.jit
    def kernel(out):
        out[0] = whole(7.0)
        out[1] = plain(7.0)
        out[2] = half(7.0)

    out = np.zeros(3)
    kernel[1, 1](out)
    assert out.tolist() == [3, 3.5, 3.5]


def test_arguments_that_no_signature_takes():
    @cuda.jit
    def kernel(out):
        out[0] = total(1j, 2)

    with pytest.raises(TypeError, match=r"PT208: total\(\): it is declared for \(int64, int64\), \(float64, float64\) and cannot take \(pycomplex, pyint\)"):
        kernel[1, 1](np.zeros(1))

    @cuda.jit
    def arrays(out):
        out[0] = rest(out, 1)[0]

    with pytest.raises(TypeError, match=r"rest\(\): it is declared for float32\[:\]\(float32\[:\], int64\) and cannot take"):
        arrays[1, 1](np.zeros(1))


def test_a_result_that_is_not_the_declared_one():
    @cuda.jit("float32(int32)", device=True)
    def pair(n):
        return n, n

    @cuda.jit
    def kernel(out):
        out[0] = pair(2)[0]

    with pytest.raises(TypeError, match=r"pair\(\): it is declared to return float32 and returns a tuple \(int32, int32\)"):
        kernel[1, 1](np.zeros(1))


# --- in kernels ---


@cuda.jit(device=True)
def through_shared(a, shape, dtype):
    tile = cuda.shared.array(shape, dtype)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[x, y] = a[x, y]
    cuda.syncthreads()
    a[x, y] = tile[shape[0] - 1 - x, shape[1] - 1 - y]


@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_the_shape_of_shared_memory_as_an_argument(typing):
    @cuda.jit(typing=typing)
    def kernel(a):
        through_shared(a, (4, 8), cuda.float32)

    a = np.arange(32, dtype=np.float32).reshape(4, 8)
    expected = a[::-1, ::-1].copy()
    kernel[1, (4, 8)](a)
    assert (a == expected).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_round_to_digits_known_at_run_time(typing, dtype):
    @cuda.jit(typing=typing, fma=False)
    def kernel(x, digits, out):
        i = cuda.grid(1)
        out[i] = round(x[i], digits[i])

    rng = np.random.default_rng(1)
    x, digits = (rng.standard_normal(256) * 10.0 ** rng.integers(-4, 5, 256)).astype(dtype), rng.integers(-6, 9, 256)
    x[:5] = np.inf, -np.inf, np.nan, 0.0, -0.0
    out = np.zeros_like(x)
    kernel[2, 128](x, digits, out)
    # NumPy's numbers round in the same way, scaled by a power of ten that is exact in float32 up to 10**10; Numba scales in float64
    wide = x if typing == "numpy" else x.astype(np.float64)
    expected = np.array([np.round(v, int(n)) for v, n in zip(wide, digits)]).astype(dtype)
    np.testing.assert_array_equal(out, expected)
    assert (np.signbit(out) == np.signbit(expected)).all()
    extremes = np.array([400, -400, 308, -308] * 2 + [400] * 248)
    x[:8] = [1.5, 1.5, 1e5, 1.5, np.inf, np.inf, 0, -1.5]
    kernel[2, 128](x, extremes, out)
    assert out[:8].tolist() == [1.5, 0, 1e5, 0, math.inf, math.inf, 0, 0]


def test_round_of_an_integer_to_digits_known_at_run_time():
    @cuda.jit
    def kernel(out, n):
        out[0] = round(n, n)

    with pytest.raises(TypeError, match="PT210: ndigits of round.. of an integer must be known"):
        kernel[1, 1](np.zeros(1), 2)
    out = np.zeros(1)
    cuda.jit(typing="numba")(kernel.py_func)[1, 1](out, -1)
    assert out[0] == 0


def test_reshape_with_an_extent_that_is_open_at_run_time():
    @cuda.jit
    def kernel(a, n, shape, out):
        b, c, d = a.reshape(n), a.reshape(shape), a.reshape(n, 4)
        out[0], out[1], out[2], out[3] = b.shape[0], c.shape[0], c.shape[1], d.shape[0]
        out[4], out[5], out[6] = b[7], c[1, 2], d[2, 3]

    for n, shape in ((-1, (-1, 3)), (-1, (8, -1)), (-1, (8, 3))):
        out = np.zeros(7, np.int64)
        kernel[1, 1](np.arange(24), n, shape, out)
        c = np.arange(24).reshape(shape)
        assert out.tolist() == [24, *c.shape, 6, 7, c[1, 2], 11]


@pytest.mark.host_only("shapes are checked there")
def test_reshape_to_a_size_that_is_another():
    @cuda.jit
    def kernel(a, n, m):
        a.reshape(n, m)[0, 0] = 1

    for n, m in ((5, -1), (-1, -1), (5, 5), (-2, -12)):
        with pytest.raises(ValueError, match="cannot reshape an array of size 24"):
            kernel[1, 1](np.arange(24), n, m)


@pytest.mark.parametrize("typing", ["numpy", "numba"])
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2"])
def test_bits_of_small_integers(dtype, typing):
    @cuda.jit(typing=typing)
    def kernel(x, out):
        i = cuda.grid(1)
        out[i, 0], out[i, 1], out[i, 2] = cuda.popc(x[i]), cuda.clz(x[i]), cuda.ffs(x[i])
        out[i, 3] = cuda.brev(x[i]) & 0xFFFF

    bits = np.dtype(dtype).itemsize * 8
    x = np.array([200, 0, 1, 0xFFFF, 0x80, 0x7F00]).astype(dtype)
    out = np.zeros((6, 4), np.int64)
    kernel[1, 6](x, out)
    for v, row in zip(x.tolist(), out.tolist()):
        own, wide = v % (1 << bits), v % (1 << 32)  # a negative number has ones in front of it where brev takes 32 bits
        assert row == [own.bit_count(), bits - own.bit_length(), (own & -own).bit_length(), int(f"{wide:032b}"[::-1], 2) & 0xFFFF]


def test_identity_of_numbers_under_numba_s_typing():
    @cuda.jit(typing="numba")
    def kernel(flag, other, n, out):
        out[0] = flag is True
        out[1] = flag is not False
        out[2] = flag is other
        out[3] = n is n + 0
        out[4] = n is 1.0 * n  # another type
        out[5] = n is not n

    out = np.zeros(6, np.int8)
    kernel[1, 1](True, False, 7, out)
    assert out.tolist() == [1, 1, 0, 1, 0, 0]


def last_and_sum(x, n, flag, out):
    for i in range(n):
        last = x[i]
        if i == 0:
            sum = last
        else:
            sum = sum + last
    if flag:
        extra = n * 1.5
    out[0], out[1], out[2], out[3] = i, last, sum, extra


def test_variables_that_some_path_leaves_unset_under_numba_s_typing():
    kernel = cuda.jit(typing="numba")(last_and_sum)
    x, out, expected = np.arange(1, 6.0), np.zeros(4), np.zeros(4)
    for n in (1, 5):
        kernel[1, 1](x, n, True, out)
        last_and_sum(x, n, True, expected)
        assert (out == expected).all()
    with pytest.raises(UnboundLocalError, match="'i'.*not set if the loop"):
        cuda.jit(typing="numba", debug=True)(last_and_sum)[1, 1](x, 0, False, out)
        cuda.synchronize()


def test_print_of_tuples_and_positions(capfd):
    @cuda.jit
    def kernel(x):
        print((x, 2, (True, 1.5)), cuda.threadIdx, cuda.blockDim)
        print(f"{cuda.blockIdx} of {cuda.gridDim}")

    kernel[1, (1, 1)](np.float32(0.5))
    cuda.synchronize()
    cuda.jit(typing="numba")(kernel.py_func)[1, 1](np.float32(0.5))
    cuda.synchronize()
    rest = "(0, 0, 0) (1, 1, 1)\n(0, 0, 0) of (1, 1, 1)\n"
    assert capfd.readouterr().out == f"(np.float32(0.5), 2, (True, 1.5)) {rest}(0.5, 2, (True, 1.5)) {rest}"


@cuda.jit(device=True)
def unsigned(n):
    return types.uint64(n)


@cuda.jit(device=True)
def add_at(a, convert, wrapped):
    i = convert(cuda.threadIdx.x)
    if wrapped:  # else i would be float64, which int64 and uint64 have in common
        i = i % a.shape[0]
    a[i] += 1


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_index_whose_type_depends_on_an_argument_that_is_known(wrapped):
    @cuda.jit(typing="numba")
    def kernel(a):
        add_at(a, unsigned, wrapped)

    a = np.zeros(4)
    kernel[1, 4](a)
    assert a.tolist() == [1, 1, 1, 1]


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1


class Code(enum.IntEnum):
    MISSING = 404


def test_members_of_enums_by_name():
    @cuda.jit
    def kernel(c, out):
        out[0] = Color["RED"] is c
        out[1] = Color["GREEN"] == c
        out[2] = Color["CRIMSON"] is c
        out[3] = Code["MISSING"]
        out[4] = Color["GREEN"].value

    out = np.zeros(5)
    kernel[1, 1](Color.RED, out)
    assert out.tolist() == [1, 0, 1, 404, 2]

    @cuda.jit
    def unknown(out):
        out[0] = Color["BLUE"].value

    with pytest.raises(AttributeError, match="PT202: <class Color> has no attribute 'BLUE'"):
        unknown[1, 1](out)


# --- arrays on the host ---


def test_arrays_like_views_keep_the_order_of_their_axes():
    views = [np.zeros((10, 12), order="F")[::2, ::2], np.zeros((10, 12))[::2, ::2], np.zeros((4, 6, 8)).T[1:, ::2]]
    for view in views:
        for array in (view, cuda.to_device(np.asfortranarray(view) if view.strides[0] < view.strides[-1] else np.ascontiguousarray(view))):
            for like in (cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like):
                assert like(array).strides == np.empty_like(view).strides
    d = cuda.device_array((10, 12), order="F")[::2, ::2]
    assert cuda.device_array_like(d).strides == (8, 40)


def test_the_order_that_an_array_has():
    c, f = cuda.to_device(np.arange(12).reshape(3, 4)), cuda.to_device(np.asfortranarray(np.arange(12).reshape(3, 4)))
    assert (c.ravel(order="A").copy_to_host() == np.arange(12)).all()
    assert (f.ravel(order="A").copy_to_host() == np.arange(12).reshape(3, 4).ravel(order="F")).all()
    assert f.reshape((4, 3), order="A").strides == (8, 32) and c.reshape((4, 3), order="A").strides == (24, 8)
    for order in ("K", "B", 3):
        with pytest.raises(ValueError, match="order must be 'C', 'F' or 'A'"):
            c.ravel(order=order)


# --- what is not there says what is ---


@pytest.mark.parametrize("what, message", [
    (lambda: types.Optional, "may be None"),
    (lambda: types.whatever, "module 'pyptx.types' has no attribute 'whatever'"), (lambda: cuda.core, "the inside of Numba's compiler"),
], ids=range(3))
def test_names_that_are_not_there(what, message):
    with pytest.raises(AttributeError, match=message):
        what()


def test_options_of_numba():
    assert cuda.jit(lto=True)(lambda x: None) and cuda.jit(extensions=[])(lambda x: None).extensions == [] and types.bool is types.boolean
    with pytest.raises(TypeError, match="has no method prepare_args"):
        cuda.jit(extensions=[object()])
