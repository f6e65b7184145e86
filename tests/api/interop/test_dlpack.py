"""DLPack both ways: capsules of both kinds, the C exchange API, what may be wrong with them, and who frees what when."""

import array
import ctypes
import gc
import subprocess
import sys
import textwrap
import threading

import dlpack_fake as fake
import numpy as np
import pytest
from dlpack_fake import Fake, Library, OldFake, exchange_class
from pyptx import cuda

on_host = pytest.mark.skipif("not cuda.get_current_device().is_host", reason="the fakes are host memory")
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = 2 * x[i]


@cuda.jit
def same(x, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = x[i]


# --- out ---------------------------------------------------------------------------------------------------------------


def test_device_of_an_array():
    d = cuda.to_device(np.zeros(3))
    device = cuda.get_current_device()
    assert d.__dlpack_device__() == ((1, 0) if device.is_host else (2, device.id))


@on_host
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_numpy_shares_the_memory(dtype):
    d = cuda.to_device(np.arange(6).reshape(2, 3).astype(dtype))
    there = np.from_dlpack(d)
    assert there.dtype == dtype and np.array_equal(there, d.copy_to_host())
    there[1, 2] = 1
    assert d[1, 2] == 1 and there.ctypes.data == d.gpu_data.device_pointer


@on_host
@pytest.mark.parametrize("cut", [np.s_[::-1], np.s_[:, ::2], np.s_[1:, 1:3], np.s_[1, 1], np.s_[2:2], np.s_[None, 1]])
def test_numpy_sees_the_strides(cut):
    values = np.arange(12.0).reshape(3, 4)
    d = cuda.to_device(values)[cut] if not isinstance(values[cut], np.float64) else cuda.to_device(values[cut])
    there = np.from_dlpack(d)
    assert there.shape == values[cut].shape and np.array_equal(there, values[cut])


@on_host
def test_read_only_arrays_stay_read_only():
    values = np.arange(3.0)
    values.flags.writeable = False
    d = cuda.from_dlpack(values)
    assert not d.flags["WRITEABLE"] and not np.from_dlpack(d).flags.writeable
    with pytest.raises(BufferError, match="max_version"):
        d.__dlpack__()
    with pytest.raises(ValueError, match="read-only"):
        double[1, 4](np.zeros(3), d)


def test_capsules_of_both_kinds():
    d = cuda.to_device(np.arange(3.0))
    assert fake.capsule_name(d.__dlpack__(stream=-1)) == b"dltensor"
    assert fake.capsule_name(d.__dlpack__(stream=-1, max_version=(0, 8))) == b"dltensor"
    capsule = d.__dlpack__(stream=-1, max_version=(1, 2))
    assert fake.capsule_name(capsule) == b"dltensor_versioned"
    m = fake.Versioned.from_address(fake.capsule_pointer(capsule, b"dltensor_versioned"))
    assert m.major == 1 and m.flags == 0 and m.tensor.code == fake.FLOAT and m.tensor.bits == 64 and m.tensor.lanes == 1


def test_a_copy_on_demand():
    d = cuda.to_device(np.arange(3.0))
    capsule = d.__dlpack__(stream=-1, max_version=(1, 0), copy=True)
    m = fake.Versioned.from_address(fake.capsule_pointer(capsule, b"dltensor_versioned"))
    assert m.flags == 2 and m.tensor.data != d.gpu_data.device_pointer


def test_to_the_host_by_name():
    d = cuda.to_device(np.arange(3.0))
    assert np.array_equal(np.from_dlpack(d, device="cpu"), [0, 1, 2])
    if not cuda.get_current_device().is_host:
        with pytest.raises(ValueError, match="without a copy"):
            d.__dlpack__(dl_device=(1, 0), copy=False)


@pytest.mark.parametrize(
    "arguments, error",
    [
        ({"stream": 0}, ValueError),
        ({"stream": -2}, ValueError),
        ({"stream": "x"}, TypeError),
        ({"stream": 1 << 70}, OverflowError),
        ({"max_version": 1}, TypeError),
        ({"max_version": (1,)}, TypeError),
        ({"dl_device": 3}, TypeError),
        ({"dl_device": (10, 0)}, BufferError),
        ({"stranger": 1}, TypeError),
    ],
)
def test_bad_arguments(arguments, error):
    d = cuda.to_device(np.zeros(3))
    with pytest.raises(error):
        d.__dlpack__(**arguments)


def test_records_are_no_dlpack_elements():
    d = cuda.to_device(np.zeros(3, [("x", "f4"), ("y", "i8")]))
    with pytest.raises(BufferError, match="no type"):
        d.__dlpack__()
    with pytest.raises(BufferError, match="multiple"):  # 12 bytes from one x to the next are 3 floats, y starts at byte 4
        d["y"].__dlpack__()


@on_host
def test_a_capsule_keeps_the_memory():
    d = cuda.to_device(np.full(1000, 7.0))
    there = np.from_dlpack(d)
    del d
    gc.collect()
    others = [cuda.to_device(np.zeros(1000)) for _ in range(20)]
    assert (there == 7).all() and len(others) == 20


def references(d):
    gc.collect()
    return sys.getrefcount(d)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_that_nobody_takes_is_freed(version):
    d = cuda.to_device(np.zeros(3))
    before = references(d)
    capsules = [d.__dlpack__(stream=-1, max_version=version) for _ in range(10)]
    assert references(d) == before + 10
    del capsules
    assert references(d) == before


@on_host
def test_consumers_end_on_other_threads():
    d = cuda.to_device(np.zeros(3))
    before = references(d)
    held = [np.from_dlpack(d) for _ in range(50)]
    threads = [threading.Thread(target=held.clear) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert references(d) == before


def test_a_deleter_needs_no_gil():
    d = cuda.to_device(np.zeros(3))
    before = references(d)
    capsule = d.__dlpack__(stream=-1, max_version=(1, 0))
    m = fake.Versioned.from_address(fake.capsule_pointer(capsule, b"dltensor_versioned"))
    address, deleter = ctypes.addressof(m), fake.DELETER(m.deleter)  # CFUNCTYPE releases the GIL
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), b"used_dltensor_versioned")
    thread = threading.Thread(target=deleter, args=(address,))
    thread.start()
    thread.join()
    del capsule
    assert references(d) == before


@on_host
def test_views_at_exit():
    """A consumer that lives until the interpreter's end, in a module and in a thread's hands."""
    source = """
        import numpy as np
        from pyptx import cuda
        d = cuda.to_device(np.zeros(3))
        there, again = np.from_dlpack(d), cuda.from_dlpack(np.from_dlpack(d))
        capsule = d.__dlpack__(max_version=(1, 0))
        del d
        cycle = [there]
        cycle.append(cycle)
    """
    result = subprocess.run([sys.executable, "-c", textwrap.dedent(source)], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0 and not result.stderr


# --- in ----------------------------------------------------------------------------------------------------------------


@on_host
@pytest.mark.parametrize("kind", [Fake, OldFake, exchange_class(Library())])
@pytest.mark.parametrize("dtype", [*DTYPES, "complex64", "complex128"])
def test_arguments_of_every_type(kind, dtype):
    x = np.arange(10).astype(dtype)
    out = np.zeros(10, dtype)
    same[1, 32](kind(x), kind(out))
    assert np.array_equal(out, x)


@on_host
@pytest.mark.parametrize("kind", [Fake, OldFake, exchange_class(Library())])
def test_bfloat16(kind):
    x = fake.bfloat16_bits([1, 2, -3])
    out = np.zeros(3, np.float32)
    double[1, 32](kind(x, code=fake.BFLOAT), out)
    assert out.tolist() == [2, 4, -6]
    d = cuda.from_dlpack(Fake(x, code=fake.BFLOAT))
    assert "bfloat16" in repr(d)
    capsule = d.__dlpack__()
    m = fake.Managed.from_address(fake.capsule_pointer(capsule, b"dltensor"))
    assert (m.tensor.code, m.tensor.bits) == (fake.BFLOAT, 16)


@on_host
@pytest.mark.parametrize("kind", [Fake, OldFake, exchange_class(Library())])
@pytest.mark.parametrize("name, code, bits", [("float8_e4m3fn", 10, [0x38, 0x40, 0x48]), ("float8_e5m2", 12, [0x3C, 0x40, 0x44]), ("float8_e8m0fnu", 14, [0x7F, 0x80, 0x81])])
def test_floats_of_8_bits(kind, name, code, bits):
    x = np.array(bits, np.uint8)
    out = np.zeros(3, np.float32)
    double[1, 32](kind(x, code=code), out)
    assert out.tolist() == [2, 4, 8]
    d = cuda.from_dlpack(Fake(x, code=code))
    assert name in repr(d)
    capsule = d.__dlpack__()
    m = fake.Managed.from_address(fake.capsule_pointer(capsule, b"dltensor"))
    assert (m.tensor.code, m.tensor.bits) == (code, 8)


@on_host
@pytest.mark.parametrize("kind", [Fake, OldFake, exchange_class(Library())])
@pytest.mark.parametrize("cut", [np.s_[::-1], np.s_[::3], np.s_[4:], np.s_[2:3], np.s_[5:5]])
def test_strides_and_offsets(kind, cut):
    x = np.arange(12.0)
    out = np.zeros(12)
    double[1, 32](kind(x[cut]), out)
    n = len(x[cut])
    assert np.array_equal(out[:n], 2 * x[cut]) and not out[n:].any()
    out[:] = 0
    double[1, 32](kind(x, byte_offset=16, ndim=1, shape=(ctypes.c_int64 * 1)(4)), out)
    assert out[:5].tolist() == [4, 6, 8, 10, 0]


@on_host
def test_no_strides_mean_c_order():
    x = np.arange(6.0).reshape(2, 3)
    d = cuda.from_dlpack(Fake(x, strides=None))
    assert np.array_equal(d.copy_to_host(), x) and d.is_c_contiguous()


@on_host
@pytest.mark.parametrize("kind", [Fake, OldFake])
def test_tensors_are_given_back(kind):
    library = Library()
    x = np.arange(4.0)
    for _ in range(5):
        double[1, 4](kind(x, library), np.zeros(4))
    assert library.live == 0 and library.deleted == 5
    d = cuda.from_dlpack(kind(x, library))
    view = d[1:]
    del d
    gc.collect()
    assert library.live == 1 and view[0] == 1
    del view
    gc.collect()
    assert library.live == 0 and library.deleted == 6


@on_host
@pytest.mark.parametrize(
    "changes",
    [
        {"code": 11, "bits": 8},  # float8_e4m3fnuz
        {"code": 10, "bits": 16},  # no float8_e4m3fn
        {"code": fake.INT, "bits": 4},
        {"code": fake.UINT, "bits": 1},
        {"code": fake.FLOAT, "bits": 128},
        {"code": fake.FLOAT, "bits": 24},
        {"code": fake.OPAQUE},
        {"code": 200},
        {"bits": 0},
        {"lanes": 4},
        {"lanes": 0},
    ],
)
@pytest.mark.parametrize("kind", [Fake, OldFake, exchange_class(Library())])
def test_elements_that_kernels_have_not(kind, changes):
    tensor = kind(np.zeros(4), **changes)
    with pytest.raises(TypeError, match="kernels have no such type"):
        double[1, 4](tensor, np.zeros(4))
    assert tensor.library.live == 0


@on_host
@pytest.mark.parametrize(
    "changes",
    [
        {"ndim": 17},
        {"ndim": -1},
        {"shape": None},
        {"shape": (ctypes.c_int64 * 1)(-4)},
        {"data": None},
        {"shape": (ctypes.c_int64 * 1)(1 << 62)},
        {"strides": (ctypes.c_int64 * 1)(1 << 62)},
        {"device_type": 8},
    ],
)
@pytest.mark.parametrize("kind", [Fake, OldFake, exchange_class(Library())])
def test_nonsense_is_refused(kind, changes):
    tensor = kind(np.zeros(4), **changes)
    with pytest.raises(BufferError):
        double[1, 4](tensor, np.zeros(4))
    assert tensor.library.live == 0


@on_host
def test_a_newer_major_version_is_refused():
    tensor = Fake(np.zeros(3), version=(2, 0))
    with pytest.raises(BufferError, match="2.0"):
        cuda.from_dlpack(tensor)
    assert tensor.library.live == 0


@on_host
def test_read_only_flag():
    tensor = Fake(np.zeros(3), flags=1)
    assert not cuda.from_dlpack(tensor).flags["WRITEABLE"]
    with pytest.raises(ValueError, match="read-only"):
        double[1, 4](np.zeros(3), tensor)
    assert tensor.library.live == 0


def test_what_a_producer_may_return():
    class Producer:
        def __init__(self, capsule, device=(1, 0)):
            self.capsule, self.device = capsule, device

        def __dlpack_device__(self):
            return self.device

        def __dlpack__(self, **kwargs):
            return self.capsule

    used = Fake(np.zeros(3)).__dlpack__()
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(used), b"used_dltensor")
    for capsule in (None, 3, used):
        with pytest.raises(TypeError, match="capsule"):
            cuda.from_dlpack(Producer(capsule))
    for device in (None, 3, (1,), ("a", 0), (1, 0, 0)):
        with pytest.raises(TypeError):
            cuda.from_dlpack(Producer(None, device))
    with pytest.raises(TypeError, match="__dlpack__"):
        cuda.from_dlpack(object())
    with pytest.raises(TypeError, match="__dlpack__"):
        cuda.from_dlpack(np.ndarray)


def test_errors_of_the_producer_are_the_users():
    class Broken(Fake):
        def __dlpack__(self, **kwargs):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        cuda.from_dlpack(Broken(np.zeros(3)))


@on_host
def test_pinned_memory_is_the_hosts_too():
    x, out = np.arange(4.0), np.zeros(4)
    double[1, 4](Fake(x, device_type=fake.CUDA_HOST), Fake(out, device_type=fake.CUDA_HOST))
    assert out.tolist() == [0, 2, 4, 6]


@on_host
@pytest.mark.parametrize("kind", [exchange_class(Library())])
def test_gpu_tensors_on_the_host(kind):
    with pytest.raises(TypeError, match="GPU"):
        double[1, 4](kind(np.zeros(4), device_type=fake.CUDA), np.zeros(4))
    with pytest.raises(TypeError, match="GPU"):
        cuda.from_dlpack(Fake(np.zeros(4), device_type=fake.CUDA))


@pytest.mark.skipif("cuda.get_current_device().is_host", reason="host memory is at home there")
def test_host_tensors_on_a_gpu():
    for kind in (Fake, exchange_class(Library())):
        with pytest.raises(TypeError, match=r"host memory.*np.asarray"):
            double[1, 4](kind(np.zeros(4)), np.zeros(4))
    with pytest.raises(TypeError, match="host memory"):
        cuda.from_dlpack(np.zeros(4))


# --- the C exchange API ------------------------------------------------------------------------------------------------


@on_host
def test_the_drafts_name_and_older_tables():
    out = np.zeros(3)
    draft = exchange_class(Library(), "Draft", "__c_dlpack_exchange_api__")
    double[1, 4](draft(np.ones(3)), out)
    assert out.tolist() == [2, 2, 2]
    newer = exchange_class(Library(), "Newer", major=2)  # not understood, and it has no __dlpack__
    with pytest.raises(TypeError):
        double[1, 4](newer(np.ones(3)), out)


@on_host
def test_a_table_of_owned_tensors():
    library = Library()
    owned = exchange_class(library, "Owned", owned=True)
    out = np.zeros(3)
    for _ in range(3):
        double[1, 4](owned(np.ones(3)), out)
    assert out.tolist() == [2, 2, 2] and library.live == 0 and library.deleted == 3
    with pytest.raises(TypeError, match="no such type"):
        double[1, 4](owned(np.ones(3), lanes=2), out)
    with pytest.raises(ValueError, match="read-only"):
        double[1, 4](out, owned(np.ones(3), flags=1))
    assert library.live == 0


@on_host
def test_tensors_like_pytorchs():
    """What PyTorch's table does not say and its __dlpack__ would refuse."""
    base = exchange_class(Library(), "Tensor")
    base.requires_grad, base.is_neg, base.is_conj = False, lambda self: False, lambda self: False
    out, complex_out = np.zeros(3), np.zeros(3, complex)

    def tensor(a, **attributes):
        t = base(a)
        t.__dict__.update(attributes)
        return t

    double[1, 4](tensor(np.ones(3)), out)
    assert out.tolist() == [2, 2, 2]
    double[1, 4](tensor(2 * np.ones(3), requires_grad=True), out)
    assert out.tolist() == [4, 4, 4]
    with pytest.raises(TypeError, match="detach"):
        double[1, 4](out, tensor(np.ones(3), requires_grad=True))
    with pytest.raises(TypeError, match="resolve_conj"):
        double[1, 4](tensor(np.ones(3, complex), is_conj=lambda: True), complex_out)
    with pytest.raises(TypeError, match="resolve_neg"):
        double[1, 4](tensor(np.ones((3, 2))[:, 1], is_neg=lambda: True), out)


def table_of(d):
    capsule = type(d).__dlpack_c_exchange_api__
    return fake.Exchange.from_address(fake.capsule_pointer(capsule, b"dlpack_exchange_api"))


def test_our_table():
    d = cuda.to_device(np.arange(6, dtype=np.float32).reshape(2, 3))
    table, t = table_of(d), fake.Tensor()
    assert (table.major, table.older) == (1, None)
    assert fake.TENSOR_OF(table.tensor_of)(id(d), ctypes.byref(t)) == 0
    assert (t.data, t.ndim, t.shape[:2], t.strides[:2]) == (d.gpu_data.device_pointer, 2, [2, 3], [3, 1])
    stream = ctypes.c_void_p(5)
    assert fake.CURRENT_STREAM(table.current_stream)(t.device_type, t.device_id, ctypes.byref(stream)) == 0
    assert stream.value is None


def test_round_trip_through_our_table():
    d = cuda.to_device(np.arange(3.0))
    before = references(d)
    table, managed, back = table_of(d), ctypes.c_void_p(), ctypes.py_object()
    assert fake.MANAGED_OF(table.managed_of)(d, ctypes.byref(managed)) == 0
    assert references(d) == before + 1
    assert fake.OBJECT_OF(table.object_of)(managed, ctypes.byref(back)) == 0
    other = back.value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(other))  # the call's reference; .value took one of its own
    del back
    assert other.gpu_data.device_pointer == d.gpu_data.device_pointer and references(d) == before + 1
    del other
    assert references(d) == before


def test_allocation_through_our_table():
    d = cuda.to_device(np.zeros((2, 3), np.float32))
    table, t, out = table_of(d), fake.Tensor(), ctypes.c_void_p()
    fake.TENSOR_OF(table.tensor_of)(id(d), ctypes.byref(t))
    failures = []
    fail = fake.ALLOCATE_FAIL(lambda context, kind, message: failures.append((kind, message)))
    assert fake.ALLOCATE(table.allocate)(ctypes.byref(t), ctypes.byref(out), None, fail) == 0 and not failures
    made = fake.Versioned.from_address(out.value)
    assert made.tensor.data != d.gpu_data.device_pointer and made.tensor.shape[:2] == [2, 3]
    fake.DELETER(made.deleter)(out.value)
    t.bits = 4
    assert fake.ALLOCATE(table.allocate)(ctypes.byref(t), ctypes.byref(out), None, fail) == -1
    assert out.value is None and failures[0][0] == b"BufferError" and b"no such type" in failures[0][1]


# --- host memory without DLPack ----------------------------------------------------------------------------------------


def test_buffers_and_array_interface():
    class HasInterface:
        def __init__(self, a):
            self.a, self.__array_interface__ = a, a.__array_interface__

    x = np.arange(4.0)
    for make in (lambda a: array.array("d", a), lambda a: memoryview(np.array(a)), lambda a: (ctypes.c_double * 4)(*a),
                 lambda a: HasInterface(np.array(a))):
        out = make(np.zeros(4))
        double[1, 4](make(x), out)
        cuda.synchronize()
        assert np.asarray(out).tolist() == [0, 2, 4, 6]
    with pytest.raises(ValueError, match="read-only"):
        double[1, 4](x, memoryview(bytes(32)).cast("d"))
    with pytest.raises(TypeError, match="pass a number"):
        double[1, 4](x, bytes(32))
