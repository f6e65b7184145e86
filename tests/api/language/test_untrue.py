"""Objects that say what is not so, and code that runs where none is expected: an exception, and neither a crash nor foreign memory."""

import copy
import enum
import gc
import pickle

import numpy as np
import pytest

import pyptx
from pyptx import _pyptx, cuda


@cuda.jit
def add_one(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1


@cuda.jit
def first(c, out):
    out[0] = c.value


# --- arrays ------------------------------------------------------------------------------------------------------------


class SaysFloat64(np.ndarray):
    dtype = property(lambda self: np.dtype(np.float64))


class SaysFour(np.ndarray):
    shape = property(lambda self: (4,))


def test_an_array_with_another_dtype_than_its_elements_have():
    a = np.zeros(8, np.int8).view(SaysFloat64)
    with pytest.raises(TypeError, match=r"dtype is float64, but its elements have 1 bytes: pass np.asarray\(x\)"):
        add_one[1, 8](a)
    assert not np.asarray(a).any()


def test_a_frozen_array_with_another_dtype():
    table = np.zeros(8, np.int8).view(SaysFloat64)

    @cuda.jit
    def kernel(out):
        out[0] = table[cuda.threadIdx.x]

    with pytest.raises(TypeError, match="dtype is float64, but its elements have 1 bytes"):
        kernel[1, 1](np.zeros(1))


def test_an_array_with_another_shape():
    """Its bytes would be written behind the device array's, or read from there."""
    big = np.ones(100_000).view(SaysFour)
    d = cuda.to_device(np.arange(4.0))
    with pytest.raises(ValueError, match="800000 bytes, not the 32"):
        d[...] = big
    with pytest.raises(ValueError, match="800000 bytes, not the 32"):
        d.copy_to_host(big)
    assert d.copy_to_host().tolist() == [0, 1, 2, 3] and np.asarray(big).all()


def test_objects_that_claim_to_be_numpy_s():
    class Buffer(bytearray):
        __class__ = np.ndarray
        dtype = np.dtype(np.float64)

        class flags:
            writeable = True

    class Number(bytes):
        __class__ = np.float64
        dtype = np.dtype(np.float64)

    class Nothing:
        __class__ = np.ndarray
        dtype = np.dtype(np.float64)

    for liar in (Buffer(8), Number(b"a"), Nothing()):
        with pytest.raises((TypeError, AttributeError)):  # what it lacks differs from device to device
            add_one[1, 1](liar)


@pytest.mark.parametrize("kind", [-1, 0, -(2**31)])
def test_a_device_type_that_is_none(kind):
    class Tensor:
        def __dlpack_device__(self):
            return kind, 0

        def __dlpack__(self, **kwargs):
            return None

    for f in (add_one[1, 1], cuda.from_dlpack, cuda.as_cuda_array):
        with pytest.raises(TypeError, match=f"type {kind}: 1 is a CPU, 2 CUDA"):
            f(Tensor())


@pytest.mark.parametrize("change, match", [
    (dict(data=(0, False)), "it has elements, but the address 0"),
    (dict(strides=(2**62,)), "beyond 63 bits"),
    (dict(shape=(2, 2, 2), strides=(2**61, 2**61, 2**61)), "beyond 63 bits"),
    (dict(shape=(2, 2, 2), strides=(-(2**61), -(2**61), 2**61)), "beyond 63 bits"),
    (dict(typestr="|V8", descr=[("a", "<f4")]), "descr and typestr differ"),
    (dict(typestr="|O"), "its elements are Python objects"),
    (dict(typestr="|V16", descr=[("a", "<f8"), ("b", "|O")]), "its elements are Python objects"),
])
def test_an_interface_that_cannot_be(change, match):
    interface = {"shape": (4,), "typestr": "<f8", "data": (4096, False), "version": 3, **change}
    with pytest.raises(TypeError, match=match):
        cuda.from_cuda_array_interface(interface)


def test_shapes_that_overflow():
    class Like:
        shape, dtype, strides = (2**62, 8, 4), np.float64, (8, 2**62, 4)

    for make in (lambda: cuda.device_array_like(Like()), lambda: cuda.device_array((2**62, 8), strides=(64, 8))):
        with pytest.raises(ValueError, match="too large|strides"):
            make()
    with pytest.raises(ValueError, match="strides must be those of C or Fortran order"):
        cuda.device_array(4, strides=(-8,))
    assert cuda.device_array(np.array([2, 3])).shape == (2, 3) and cuda.device_array(np.int16(3)).shape == (3,)


# --- other arguments -----------------------------------------------------------------------------------------------------


def test_tuples_of_tuples_without_end():
    many = nothing = ()
    for _ in range(30):
        many, nothing = (many, 1) * 8, (nothing,) * 8
    for bomb in (many, nothing):
        with pytest.raises(TypeError, match=r"argument 1 \('a'\) brings the arguments to more than 65536"):
            add_one[1, 1](bomb)


def test_a_member_whose_place_was_changed():
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    out = np.zeros(1)
    first[1, 1](Color.BLUE, out)
    assert out[0] == 2
    Color.RED._sort_order_ = -5
    with pytest.raises(TypeError, match="_sort_order_ was changed"):
        first[1, 1](Color.RED, out)


def test_defaults_that_change_while_they_are_read():
    def function(a, b=None, c=0):
        a[0] = c

    class Changes:
        __pyptx_way__ = (True, True)

        @property
        def value(self):
            function.__defaults__ = None
            gc.collect()
            return 5

    function.__defaults__ = (Changes(), 3)
    out = cuda.to_device(np.zeros(1))
    cuda.jit(function)[1, 1](out, c=7)
    assert out.copy_to_host()[0] == 7


def test_a_graph_that_is_closed_while_arguments_are_read():
    x = cuda.to_device(np.zeros(4))

    class Closes:
        __pyptx_way__ = (True, True)

        def __init__(self, act):
            self.act = act

        @property
        def value(self):
            self.act()
            return x

    def captured():
        with cuda.graph() as g:
            add_one[1, 4](x)
        return g

    g = captured()
    with pytest.raises(ValueError, match="the graph is closed"):
        g.nodes[0].set_args(Closes(g.close))

    g = captured()

    def again():
        with g.update():
            add_one[1, 4](x)

    with pytest.raises(ValueError, match="the node is not part of its graph any more"):
        g.nodes[0].set_args(Closes(again))
    g.launch()
    assert x.copy_to_host().tolist() == [1] * 4


def test_a_graph_that_is_closed_while_its_stream_is_read():
    x = cuda.to_device(np.zeros(4))

    class Stream:
        def __cuda_stream__(self):
            g.close()
            return 0, 0

    with cuda.graph() as g:
        add_one[1, 4](x)
    with pytest.raises(ValueError, match="the graph is closed"):
        g.launch(Stream())


def test_intrinsics_that_somebody_replaced(monkeypatch):
    text = pickle.dumps(cuda.atomic.add)
    monkeypatch.setitem(_pyptx.intrinsics, "atomic", 5)
    with pytest.raises(SystemError):
        pickle.loads(text)
    monkeypatch.undo()
    assert pickle.loads(text) is cuda.atomic.add is copy.copy(cuda.atomic.add)


# --- exceptions of kernels -------------------------------------------------------------------------------------------------


class NeedsTwo(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


class GivesFive(Exception):
    def __new__(cls, *args):
        return 5


@cuda.jit(debug=True)
def raises(n):
    if n == 0:
        raise NeedsTwo("the text")
    if n == 1:
        raise GivesFive("the text")
    if n == 2:
        raise UnicodeDecodeError("the text")
    if n == 3:
        raise OSError("the text")


@pytest.mark.parametrize("n, name", [(0, "NeedsTwo"), (1, "GivesFive"), (2, "UnicodeDecodeError")])
def test_classes_that_take_no_text(n, name):
    with pytest.raises(RuntimeError, match=rf"(?s){name}: the text\n.*in thread \(0, 0, 0\)") as caught:
        raises[1, 1](n)
        cuda.synchronize()
    assert caught.value.thread == (0, 0, 0) and (caught.value.__cause__ is None) == (n == 1)


def test_the_text_of_an_os_error():
    """OSError has a filename of its own, which its text would be made of."""
    with pytest.raises(OSError, match="the text") as caught:
        raises[1, 1](3)
        cuda.synchronize()
    assert caught.value.thread == (0, 0, 0)


class Streams:
    def __init__(self, says):
        self.__cuda_stream__ = says


# --- messages ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call, error, match", [
    (lambda: add_one[np.array([4, 4]), 1], TypeError, "griddim must be a sequence of integers, got \\[array"),
    (lambda: add_one[float("nan"), 1], TypeError, r"got \[nan\]: divide with //"),
    (lambda: add_one[1, 1, 0, 10**30], ValueError, "1000000000000000000000000000000 bytes: that is not possible"),
    (lambda: add_one.forall(2**62, 1)(cuda.device_array(1)), ValueError, "give tpb= a larger block"),
    (lambda: cuda.select_device(None), TypeError, "None is not a device: pass a number, 'gpu' or 'host'"),
    (lambda: cuda.select_device(True), TypeError, "True is not a device"),
    (lambda: cuda.select_device(10**30), ValueError, "there is no device 10{30}: cuda.list_devices"),
    (lambda: cuda.compile_ptx(add_one, "float32[:]", cc=90), TypeError, r'cc is \(major, minor\), \(major, minor, "a"\) or "sm_90", not 90'),
    (lambda: add_one[1, 1, Streams(None)], TypeError, r"__cuda_stream__ of Streams must give \(version, handle\), not None"),
    (lambda: add_one[1, 1, Streams((0, 1.5))], TypeError, r"must give \(version, handle\), not \(0, 1.5\)"),
    (lambda: add_one[1, 1, Streams((0, -1))], OverflowError, "negative"),
    (lambda: add_one[1, 1, Streams((0, 2**70))], OverflowError, "too big"),
    (lambda: pickle.dumps(add_one[1, 1].bind(cuda.device_array(1))), TypeError, "it belongs to this process"),
    (lambda: pickle.dumps(cuda.graph()), TypeError, "it belongs to this process"),
    (lambda: cuda.trim_memory(-1), ValueError, "must not be negative or huge: -1"),
    (lambda: cuda.set_memory_limit(2**64), ValueError, "must not be negative or huge"),
    (lambda: cuda.set_memory_limit(1.5), TypeError, "'float' object cannot be interpreted as an integer"),
    (lambda: cuda.jit(fastmath=1), TypeError, r"fastmath must be True, False or a set of flags \(ftz, .*\), not 1"),
    (lambda: cuda.jit(fastmath={1, "ftz"}), TypeError, "fastmath must be"),
    (lambda: cuda.jit(inline=["always"]), ValueError, "inline must be 'always', 'never' or 'auto'"),
    (lambda: cuda.gpus["x"], TypeError, "'str' object cannot be interpreted as an integer"),
    (lambda: cuda.device_array(4)[np.array([1])], TypeError, "indexed with ints, slices, ... and None, not numpy.ndarray"),
    (lambda: add_one[1, 1](np.longdouble(1)), TypeError, r"numpy.longdouble, which a kernel cannot take: pass what float\(x\)"),
    (lambda: add_one[1, 1](np.zeros(2, ">i4")), TypeError, r"in another order than this machine's: pass x.astype\(x.dtype.newbyteorder\('='\)\)"),
    (lambda: add_one[1, 1](np.array([b"GATC"])), TypeError, r"pass x.view\(np.uint8\), its bytes"),
    (lambda: add_one[1, 1](np.array(["GATC"])), TypeError, r"pass x.view\(np.uint32\), its characters"),
    (lambda: add_one[1, 1](np.zeros(2, "V5")), TypeError, r"pass x.view\(np.uint8\), its bytes"),
    (lambda: add_one[1, 1](np.zeros(2, object)), TypeError, r"pass x.astype\(np.float64\), or another type"),
    (lambda: add_one[1, 1](np.str_("x")), TypeError, "pass a number, or select on the host"),
    (lambda: add_one[1, 1](pyptx), TypeError, "make it a global or a closure value of the kernel"),
    (lambda: add_one[1, 1](add_one), TypeError, "make it a global or a closure value of the kernel"),
])
def test_messages_say_what_to_do(call, error, match):
    with pytest.raises(error, match=match):
        call()
