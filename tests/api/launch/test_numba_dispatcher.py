"""What Numba's documentation says of dispatchers beside launching: specialisations, extensions, signatures, the messages that programs look for."""

import os
import pickle

import numpy as np
import pyptx
import pytest
from pyptx import complex128, config, cuda, float32, int32, types, void


class Odd(Exception):
    pass


def fill(x, v):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = v


# --- specialisations


def test_a_specialisation_is_for_its_types_alone():
    kernel = cuda.jit(fill)
    assert kernel.specializations == {} and not kernel.specialized
    strided, contiguous = kernel.specialize(float32[:], int32), kernel.specialize(float32[::1], int32)
    assert len(kernel.specializations) == 2 and strided is not contiguous
    assert kernel.specialize(float32[::1], int32) is contiguous and contiguous.specialized
    assert {key[1] for key in kernel.specializations} == {(float32[:], int32), (float32[::1], int32)}
    x = np.zeros(4, np.float32)
    contiguous[1, 4](x, 7)
    assert (x == 7).all() and not kernel.overloads
    strided[1, 4](x[::2], 3)
    assert list(x) == [3, 7, 3, 7]
    with pytest.raises(TypeError, match="No matching definition"):
        contiguous[1, 4](np.zeros(4), 7)
    assert isinstance(contiguous.get_regs_per_thread(), int)


def test_values_stand_for_their_types():
    kernel, x = cuda.jit(fill), np.zeros((4, 6))
    assert kernel.specialize(x[0], 1) is kernel.specialize(np.ones(9), 5)
    assert kernel.specialize(x[:, 0], np.float32(1)).signatures == [(types.float64[:], float32)]
    assert kernel.specialize(cuda.to_device(x[0]), 1.0).signatures[0][0] == types.float64[::1]
    for wrong in (object(), "text"):
        with pytest.raises(TypeError, match="which a kernel cannot take"):
            kernel.specialize(x[0], wrong)


def test_nothing_is_specialised_twice():
    declared, once = cuda.jit("void(float32[:], int32)")(fill), cuda.jit(fill).specialize(float32[:], int32)
    for kernel in (declared, once):
        with pytest.raises(RuntimeError, match="Dispatcher already specialized"):
            kernel.specialize(float32[:], int32)


def test_a_specialisation_keeps_the_options():
    @cuda.jit(debug=True, opt=False)
    def kernel(x):
        x[9] = 0

    with pytest.raises(IndexError):
        kernel.specialize(float32[::1])[1, 1](np.zeros(3, np.float32))


# --- extensions


class Box:
    def __init__(self, array):
        self.array = array


class Unbox:
    """Passes what is in a Box, and notes what it sees."""

    def __init__(self, name="", seen=None):
        self.name, self.seen = name, [] if seen is None else seen

    def prepare_args(self, ty, val, stream, retr):
        self.seen.append((self.name, ty, stream))
        if isinstance(val, Box):
            retr.append(lambda: self.seen.append((self.name, "done", list(val.array))))
            return types.float64[::1], val.array
        return ty, val


def test_extensions_prepare_each_argument_and_clean_up_after_the_launch():
    seen = []
    kernel = cuda.jit(extensions=[Unbox("first", seen), Unbox("last", seen)])(fill)
    box = Box(np.zeros(2))
    kernel[1, 2](box, v=5)
    number = kernel._typeof(5)
    assert seen == [("last", None, 0), ("first", types.float64[::1], 0), ("last", number, 0), ("first", number, 0), ("last", "done", [5, 5])]
    assert [e.name for e in kernel.extensions] == ["first", "last"] and cuda.jit(fill).extensions == []


def test_extensions_of_other_launches():
    unbox = Unbox()
    kernel, stream = cuda.jit(extensions=(unbox,))(fill), cuda.stream()
    box = Box(cuda.to_device(np.zeros(3)))
    kernel[1, 3, stream](box, 1)
    kernel.forall(3, stream=stream)(box, 2)
    stream.synchronize()
    assert {entry[2] for entry in unbox.seen if entry[1] != "done"} == {stream} and (box.array.copy_to_host() == 2).all()
    kernel.specialize(box, 2)[1, 3](box, 4)
    assert (box.array.copy_to_host() == 4).all()
    with pytest.raises(TypeError, match="cannot be bound"):
        kernel[1, 3].bind(box, 1)
    with pytest.raises(TypeError, match="2 arguments|missing"):
        kernel[1, 3](box)


def test_wrong_extensions():
    for wrong, words in ((5, "a list of objects"), ([object()], "has no method prepare_args"), ([None], "has no method")):
        with pytest.raises(TypeError, match=words):
            cuda.jit(extensions=wrong)(fill)

    class Bad:
        def prepare_args(self, ty, val, stream, retr):
            raise KeyError("bad")

    with pytest.raises(KeyError, match="bad"):
        cuda.jit(extensions=[Bad()])(fill)[1, 1](np.zeros(1), 1)


# --- signatures


def test_signatures_are_compared_and_taken_apart():
    sig = complex128(complex128, float32)
    assert sig == complex128(complex128, float32) != complex128(complex128) and hash(sig) == hash(complex128(complex128, float32))
    assert not isinstance(sig, types.Type) and isinstance(sig, types.Signature) and isinstance(complex128, types.Type)
    assert sig.return_type == complex128 and sig.args == (complex128, float32) and pickle.loads(pickle.dumps(sig)) == sig
    assert sig.return_type(*sig.args) == sig and sig != complex128
    with pytest.raises(TypeError, match="holds types"):
        complex128(complex128, sig)
    with pytest.raises(TypeError, match="not callable"):
        sig(1)
    for form in (void(float32[:], int32), (float32[:], int32), [void(float32[:], int32)], "void(float32[:], int32)"):
        assert cuda.jit(form)(fill).declared_signatures == ["(float32[:], int32)"]


def test_the_signature_of_a_declared_function():
    assert cuda.declare_device("f", "float32(int32, readonly float32[:])").sig == float32(int32, float32[:])
    assert cuda.declare_device("g", int32(int32)).sig == int32(int32) and cuda.declare_device("h", "void()").sig.return_type == types.none


# --- numbers of the other signedness


@pytest.mark.parametrize("dtype, value", [("int32", 0xFFFFFFFF), ("int32", np.uint32(1 << 31)), ("uint8", -1), ("uint64", np.int64(-1)), ("int64", np.uint64(2**64 - 1)),
                                          ("uint16", np.int16(-2)), ("int8", 255), ("int32", np.int64(1 << 31))], ids=str)
def test_integers_of_the_declared_width_keep_their_bits(dtype, value):
    kernel = cuda.jit(f"void({dtype}[:], {dtype})")(fill)
    x = cuda.to_device(np.zeros(1, dtype))
    for _ in range(3):  # the third launch goes by a plan
        kernel[1, 1](x, value)
        assert x.copy_to_host()[0] == np.array(int(value) & ((1 << 8 * x.itemsize) - 1), f"u{x.itemsize}").view(dtype)


def test_arrays_of_the_declared_width_are_read_by_their_bits():
    kernel = cuda.jit("void(int32[:], int32)")(fill)
    x = np.zeros(2, np.uint32)
    kernel[1, 2](x, -1)
    assert (x == 2**32 - 1).all()
    both = cuda.jit(["void(int32[:], int32)", "void(uint32[:], int32)"])(fill)
    both[1, 2](x, 1)
    assert len(both.overloads) == 2 and (x == 1).all()
    for other in (np.float32, np.int16, np.int64):
        with pytest.raises(TypeError, match="No matching definition"):
            kernel[1, 2](np.zeros(2, other), 1)


# --- messages


@pytest.mark.parametrize("call, error, words", [
    (lambda k: k(1), ValueError, "launch configuration was not specified"),
    (lambda k: k.forall(-1), ValueError, "Can't create ForAll with negative task count: -1"),
    (lambda k: k.forall(1, -1), ValueError, "tpb is -1"),
    (lambda k: k[(1, 1, 1, 1), 1], ValueError, r"griddim must be a sequence of 1, 2 or 3 integers, got \[1, 1, 1, 1\]"),
    (lambda k: k[1, (1, 1, 1, 1)], ValueError, "blockdim must be a sequence of 1, 2 or 3 integers"),
    (lambda k: k[1, ()], ValueError, "blockdim must be a sequence"), (lambda k: k[1.0, 1], TypeError, "griddim must be a sequence"),
    (lambda k: k[1], ValueError, "must specify at least the griddim and blockdim"),
    (lambda k: cuda.jit(launch_bounds=(1, 2, 3, 4))(k.py_func), ValueError, "Got 4 launch bounds:"),
    (lambda k: cuda.jit("void(int32)", typing="numpy")(lambda x: None)[1, 1](1.5), TypeError, r"declared for \(int32\); argument 1 \('x'\): convert it before the launch"),
    (lambda k: cuda.jit("void(int32)")(lambda x: None)[1, 1](1j), TypeError, r"No matching definition for \(py(complex)|complex128\)"),
])
def test_messages(call, error, words):
    with pytest.raises(error, match=words):
        call(cuda.jit(fill))


# --- resources


def test_bounds_of_a_cluster():
    def ptx(bounds, cc):
        return cuda.compile_ptx(fill, "void(float32[:], int32)", cc=cc, launch_bounds=bounds)[0]

    assert ".maxclusterrank 4" in ptx((128, 2, 4), (9, 0)) and ".minnctapersm 2" in ptx((128, 2, 4), (9, 0))
    assert ".maxclusterrank" not in ptx((128, 2, 4), (8, 0)) + ptx((128, 2), (9, 0)) + ptx(128, (9, 0))


def test_constant_memory_is_counted():
    table = np.arange(5, dtype=np.float32)

    @cuda.jit
    def kernel(x):
        x[0] = cuda.const.array_like(table)[cuda.grid(1)]

    kernel[1, 1](np.zeros(1, np.float32))
    (size,) = kernel.get_const_mem_size().values()
    plain = cuda.jit(fill)
    plain[1, 1](np.zeros(1), 1)
    if cuda.get_current_device().is_host:
        assert size == table.nbytes and list(plain.get_const_mem_size().values()) == [0]
    elif "PYPTX_ON_PTX" not in os.environ:  # the stand-in driver has no constant memory
        assert size >= table.nbytes


def test_cooperative_kernels_say_so():
    @cuda.jit
    def meets(x):
        cuda.cg.this_grid().sync()

    assert meets.compile("float32[::1]").cooperative and not cuda.jit(fill).compile("float32[::1], int32").cooperative


# --- settings


def test_settings_of_warnings(monkeypatch, recwarn):
    on_gpu = not cuda.get_current_device().is_host
    kernel, x = cuda.jit(fill), np.zeros(4)
    kernel[1, 4](x, 1)
    assert not recwarn.list
    monkeypatch.setattr(config, "CUDA_LOW_OCCUPANCY_WARNINGS", 1)
    monkeypatch.setattr(config, "CUDA_WARN_ON_IMPLICIT_COPY", 1)
    launch = kernel[1, 4]
    kernel[1 << 16, 32]
    assert [str(w.message) for w in recwarn.list] == on_gpu * ["Grid size 1 will likely result in GPU under-utilization due to low occupancy."]
    recwarn.clear()
    launch(x, 2)
    launch(cuda.to_device(x), 2)
    assert [str(w.message) for w in recwarn.list] == on_gpu * ["Host array used in CUDA kernel will incur copy overhead to/from device."]
    assert all(issubclass(w.category, pyptx.errors.NumbaPerformanceWarning) for w in recwarn.list)


def test_debug_by_a_setting(monkeypatch):
    monkeypatch.setattr(config, "CUDA_DEBUGINFO_DEFAULT", 1)
    def divide(x, y):
        x[0] = x[0] // y

    told, without = cuda.jit(opt=0)(divide), cuda.jit(debug=False)(divide)
    with pytest.raises(ZeroDivisionError):
        told[1, 1](np.ones(1, np.int32), 0)
        cuda.synchronize()
    without[1, 1](np.ones(1, np.int32), 0)


def test_is_of_a_bool_and_a_number():
    @cuda.jit
    def kernel(out, flag, n):
        out[0], out[1], out[2], out[3] = flag is n, n is not flag, flag == n, (n > 0) is flag

    out = np.zeros(4, bool)
    kernel[1, 1](out, True, 1)
    assert list(out) == [False, True, True, True]


@pytest.mark.parametrize("typing", ["numpy", "numba"])
def test_is_of_ints(typing):
    """By value, constants or not; CPython keeps one object of the small ones alone."""
    three = 3

    @cuda.jit(typing=typing)
    def kernel(out, n, m):
        four = three + 1
        out[0], out[1], out[2], out[3], out[4] = n is m, n is not m, n is three, three is four - 1, (n + 1) is three

    out = np.zeros(5, bool)
    kernel[1, 1](out, 3, 3)
    assert list(out) == [True, False, True, True, False]
    kernel[1, 1](out, 2, 1 << 40)
    assert list(out) == [False, True, False, True, True]


def test_a_debug_kernel_raises_from_its_launch():
    @cuda.jit(debug=True, opt=False, typing="numba")
    def kernel(x):
        if x[0] == 1:
            raise Odd("one")
        x[0] = 1 // x[0]

    for value, error in ((0, ZeroDivisionError), (1, Odd)):
        with pytest.raises(error):
            kernel[1, 1](cuda.to_device(np.array([value], np.int32)))
    kernel[1, 1](cuda.to_device(np.array([2], np.int32)))


@pytest.mark.parametrize("op", ["/", "//", "%"])
def test_debug_kernels_with_numbas_typing_divide_no_float_by_zero(op):
    scope = {}
    exec(f"def divide(out, x, y):\n    out[0] = x[0] {op} y[0]", scope)
    kernel = cuda.jit(typing="numba", debug=True, opt=False)(scope["divide"])
    out, x = cuda.to_device(np.zeros(1)), cuda.to_device(np.ones(1))
    kernel[1, 1](out, x, x)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        kernel[1, 1](out, x, cuda.to_device(np.zeros(1)))
    cuda.jit(debug=True)(scope["divide"])[1, 1](out, x, cuda.to_device(np.zeros(1)))


def test_a_tuple_index_out_of_range_is_named_as_python_names_it():
    @cuda.jit(debug=True, opt=False)
    def kernel(x):
        x[0] = x.shape[-cuda.threadIdx.x]

    with pytest.raises(IndexError, match="tuple index out of range: -1"):
        kernel[1, 3](cuda.to_device(np.zeros(2)))
        cuda.synchronize()




# --- the order of NumPy arrays, which are copied for a GPU ---


def negate(x, y):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        y[i, j] = -x[i, j]


@pytest.mark.parametrize("signature", [None, "float64[::1, :], float64[:, ::1]", "float64[:, :], float64[:, :]"])
def test_an_array_in_fortran_order_keeps_it(signature):
    kernel = cuda.jit(signature)(negate) if signature else cuda.jit(negate)
    x = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    y = np.zeros((3, 4))
    kernel[1, (4, 4)](x, y)
    np.testing.assert_array_equal(y, -x)
    if not signature:
        assert [t.layout for t in kernel.signatures[0]] == ["F", "C"]
    z = np.zeros((4, 3)).T  # written, and copied back, in its own order
    cuda.jit(negate)[1, (4, 4)](x, z)
    np.testing.assert_array_equal(z, -x)
    if not signature:
        kernel[1, (4, 4)](z, z)  # the same memory for both
        np.testing.assert_array_equal(z, x)


def test_fortran_order_where_c_order_is_declared():
    x, y = np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.zeros((3, 4))
    kernel = cuda.jit("float64[:, ::1], float64[:, ::1]")(negate)
    if cuda.get_current_device().is_host:  # works on the array itself
        with pytest.raises(TypeError, match="No matching definition"):
            kernel[1, (4, 4)](x, y)
        return
    kernel[1, (4, 4)](x, y)
    np.testing.assert_array_equal(y, -x)


def test_names_of_numbas_types_and_devices():
    from pyptx import types

    assert types.complex64.underlying_float == types.float32 and types.complex128.underlying_float == types.float64
    with pytest.raises(AttributeError, match="float32 is not a complex type"):
        types.float32.underlying_float
    assert isinstance(types.none, types.NoneType) and not isinstance(types.float32, types.NoneType) and types.NoneType() == types.none
    assert cuda.get_current_device().supports_float16


# --- compiling


def sums(x, y):
    return x + y


def test_compile_all_and_the_declared_result():
    codes, result = cuda.compile_all(sums, "int32(int32, int32)", cc=(9, 0), typing="numba")
    assert repr(result) == "int32" and len(codes) == 1 and ".visible .func  (.param .b32 func_retval0) sums(" in codes[0]
    code = cuda.PTXSource(".version 7.8\n.target sm_90\n.address_size 64\n", "mine.ptx")
    assert cuda.compile_all(sums, "float32(float32, float32)", cc=(9, 0, "a"), link=code)[0][1:] == [code]
    assert "sm_90a" in cuda.compile(sums, "float32(float32, float32)", cc=(9, 0, "a"))[0]
    assert cuda.compile_for_current_device(sums, "float32(float32, float32)") == cuda.compile(sums, "float32(float32, float32)")


def test_numbas_abi():
    assert ") other(" in cuda.compile_ptx(sums, "int32(int32, int32)", cc=(9, 0), device=True, abi="c", abi_info={"abi_name": "other"})[0]
    for device, abi, words in ((False, "c", "not supported for kernels"), (True, "numba", "C ABI"), (False, "fastcall", "Unsupported ABI: fastcall")):
        with pytest.raises(NotImplementedError, match=words):
            cuda.compile_ptx(sums, "(int32, int32)", cc=(9, 0), device=device, abi=abi)
    with pytest.raises(NotImplementedError, match="Unsupported output type: ltoir"):
        cuda.compile(sums, "int32(int32, int32)", output="ltoir")


@pytest.mark.parametrize("value, words", [(150, "must be between -1 and 100"), (-2, "between -1 and 100"), ("most", "Invalid carveout value")])
def test_values_of_the_carveout(value, words):
    with pytest.raises(ValueError, match=words):
        cuda.jit(shared_memory_carveout=value)(sums)
    cuda.jit(shared_memory_carveout="MaxL1")(sums)
