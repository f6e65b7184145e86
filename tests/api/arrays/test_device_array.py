"""Device arrays: making, copying, views, indexing on the host. NumPy doing the same to a host array is the expectation."""

import gc
import itertools
import weakref

import numpy as np
import pyptx
import pytest
from pyptx import _pyptx, cuda

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
          "complex64", "complex128"]
# Kernels cannot take these; the memory of a device can hold them.
OTHERS = [">M8[ns]", ">m8[s]", "S5", "U3", "V7", ">f4", [("a", "i4"), ("b", "f8", (2,))]]


def values(shape, dtype=np.float64):
    return np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)


# --- making ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip(dtype):
    a = np.random.default_rng(1).integers(0, 100, (3, 4, 5)).astype(dtype)
    d = cuda.to_device(a)
    assert (d.shape, d.dtype, d.ndim, d.size, d.itemsize, d.nbytes) == (a.shape, a.dtype, 3, 60, a.itemsize, a.nbytes)
    back = d.copy_to_host()
    assert back.dtype == a.dtype and np.array_equal(back, a)
    back[0, 0, 0] = not back[0, 0, 0]  # nothing is shared
    assert np.array_equal(d.copy_to_host(), a)


@pytest.mark.parametrize("dtype", OTHERS)
def test_round_trip_of_what_kernels_cannot_take(dtype):
    a = np.zeros(4, dtype)
    a.view(np.uint8)[:] = np.arange(a.nbytes) % 7
    if np.dtype(dtype).kind in "SU":
        a[:] = ["ab", "c", "", "def"]
    back = cuda.to_device(a).copy_to_host()
    assert back.dtype == a.dtype and back.tobytes() == a.tobytes()
    if a.dtype.names:  # records
        return
    with pytest.raises(TypeError, match="argument 1"):
        cuda.jit(lambda x: None)[1, 1](cuda.to_device(a))


def test_to_device_takes_what_asarray_takes():
    assert cuda.to_device([[1, 2], [3, 4]]).copy_to_host().tolist() == [[1, 2], [3, 4]]
    assert cuda.to_device(range(3)).copy_to_host().tolist() == [0, 1, 2]
    scalar = cuda.to_device(3.5)
    assert scalar.shape == () and scalar[()] == 3.5


@pytest.mark.parametrize("obj", [(1, 2), (1.5,), ((1, 2), (3, 4)), ()], ids=str)
def test_a_tuple_is_one_argument(obj):
    """PyObject_CallMethod with the format "O" would have made its items the arguments of what is called."""
    a, d = np.asarray(obj), cuda.to_device(obj)
    assert d.dtype == a.dtype and np.array_equal(d.copy_to_host(), a)
    to = cuda.to_device(np.zeros_like(a))
    to.copy_to_device(obj)
    assert np.array_equal(to.copy_to_host(), a)
    to = cuda.to_device(obj, to=cuda.device_array_like(a))
    assert np.array_equal(to.copy_to_host(), a)
    to[...] = np.zeros_like(a)
    to[...] = obj
    assert np.array_equal(to.copy_to_host(), a)
    assert d.__array__(("i4", ())).dtype == np.int32  # a dtype, in NumPy's way of writing an element and its shape


@pytest.mark.parametrize("door", [
    lambda d, s: cuda.to_device([1], s), lambda d, s: cuda.device_array(1, stream=s), lambda d, s: d.bind(s),
    lambda d, s: d.copy_to_host(stream=s), lambda d, s: d.copy_to_device([1], s), lambda d, s: d.getitem(0, stream=s),
    lambda d, s: d.setitem(0, 1, stream=s), lambda d, s: d.split(1, s), lambda d, s: cuda.jit(lambda x: None)[1, 1, s](d)])
def test_a_tuple_with_a_stream_is_no_stream(door):
    with pytest.raises(TypeError, match="a stream must be .*, not tuple"):
        door(cuda.to_device([1]), (cuda.stream(),))


def test_to_device_of_a_device_array_is_a_copy():
    d = cuda.to_device(values(5))
    copy = cuda.to_device(d)
    d[:] = 0
    assert copy.copy_to_host().tolist() == [0, 1, 2, 3, 4]


def test_to_device_without_copy_and_into():
    a = values((2, 3))
    assert cuda.to_device(a, copy=False).shape == (2, 3)
    target = cuda.device_array((2, 3))
    assert cuda.to_device(a, to=target) is target and np.array_equal(target.copy_to_host(), a)
    with pytest.raises(ValueError, match="shapes differ"):
        cuda.to_device(a, to=cuda.device_array(3))
    with pytest.raises(TypeError):
        cuda.to_device(a, to=a)


def test_order_is_kept():
    a = np.asfortranarray(values((3, 4)))
    d = cuda.to_device(a)
    assert d.strides == a.strides and d.is_f_contiguous() and not d.is_c_contiguous()
    back = d.copy_to_host()
    assert back.flags.f_contiguous and np.array_equal(back, a)
    like = cuda.device_array_like(a)
    assert like.strides == a.strides and like.dtype == a.dtype


def test_strided_input_becomes_contiguous():
    a = values((6, 8))[::2, ::-3]
    d = cuda.to_device(a)
    assert d.is_c_contiguous() and np.array_equal(d.copy_to_host(), a)
    assert cuda.device_array_like(a).is_c_contiguous()


def test_arguments_of_device_array():
    d = cuda.device_array(dtype="i2", shape=(2, 3), order="F")
    assert d.shape == (2, 3) and d.strides == (2, 4) and d.dtype == np.int16
    assert cuda.device_array(3, np.float32, None, "C", 0).dtype == np.float32
    big = np.dtype(">f4")  # equal to no dtype of kernels, and kept
    assert cuda.device_array(3, big).dtype is big
    for args, kwargs, message in (
        ((), {}, r"missing required argument 'shape' \(pos 1\)"),
        ((1, 2, 3, 4, 5, 6), {}, r"at most 5 arguments \(6 given\)"),
        ((3,), {"size": 1}, "unexpected keyword argument 'size'"),
        ((3,), {"shape": 1}, r"given by name \('shape'\) and position \(1\)"),
        ((3, object), {}, "Python objects"),
        ((1.5,), {}, "float"),
    ):
        with pytest.raises(TypeError, match=message):
            cuda.device_array(*args, **kwargs)
    for shape in (-1, (2, -1)):
        with pytest.raises(ValueError, match="negative"):
            cuda.device_array(shape)


def test_device_array():
    assert cuda.device_array(5).dtype == np.float64
    d = cuda.device_array((2, 3), dtype=np.int16, order="F")
    assert d.shape == (2, 3) and d.strides == (2, 4) and d.dtype == np.int16
    assert cuda.device_array((2, 3), np.float32, strides=(12, 4)).is_c_contiguous()
    assert cuda.device_array((), pyptx.float32).dtype == np.float32
    assert cuda.device_array(np.int64(4)).shape == (4,)
    assert cuda.device_array([2, 2]).shape == (2, 2)


@pytest.mark.parametrize("arguments, error", [
    ((-1,), ValueError), (((2, -3),), ValueError), ((1.5,), TypeError), (("abc",), TypeError), ((None,), TypeError),
    (((1 << 40, 1 << 40),), ValueError), (((1,) * 17,), ValueError), ((3, object), TypeError), ((3, "nonsense"), TypeError),
    ((3, "f4", None, "K"), ValueError), ((3, "f4", (8,)), ValueError), ((3, "f4", None, "C", "stream"), TypeError),
])
def test_device_array_errors(arguments, error):
    with pytest.raises(error):
        cuda.device_array(*arguments)


def test_too_much_memory():
    with pytest.raises(MemoryError) as caught:
        cuda.device_array(1 << 60, np.uint8)
    assert "help:" in str(caught.value)


@pytest.mark.parametrize("shape", [0, (0, 3), (3, 0), (2, 0, 5)])
def test_empty(shape):
    d = cuda.device_array(shape, np.float32)
    assert d.size == 0 and d.nbytes == 0 and d.copy_to_host().shape == d.shape
    d[...] = 1
    assert cuda.to_device(d.copy_to_host()).shape == d.shape
    assert d.reshape(-1).shape == (0,) if 0 in np.shape(np.empty(shape)) else True


def test_objects_are_refused():
    for bad in ([object()], {"a": 1}, np.array([None])):
        with pytest.raises(TypeError, match="Python objects"):
            cuda.to_device(bad)


# --- copying -----------------------------------------------------------------------------------------------------------


def test_copy_to_host_into():
    a = values((3, 4))
    d = cuda.to_device(a)
    out = np.zeros((3, 4))
    assert d.copy_to_host(out) is out and np.array_equal(out, a)
    for into in (np.zeros((3, 4), ">f8"), np.zeros((3, 4), order="F"), np.zeros((6, 8))[::2, ::-2]):
        d.copy_to_host(into)
        assert np.array_equal(into, a)
    for other in (np.zeros((3, 4), np.float32), np.zeros((3, 4), np.int64), np.zeros((3, 4), complex)):
        with pytest.raises(TypeError, match="the dtypes differ: float64 on the device"):
            d.copy_to_host(other)
        assert not other.any()
    with pytest.raises(ValueError, match="shapes differ"):
        d.copy_to_host(np.zeros(12))
    with pytest.raises(TypeError):
        d.copy_to_host([0] * 12)
    locked = np.zeros((3, 4))
    locked.flags.writeable = False
    with pytest.raises(ValueError):
        d.copy_to_host(locked)


def test_copy_to_device():
    d = cuda.device_array((3, 4), np.float32)
    f = np.float32
    for source in (values((3, 4), f), values((3, 4), ">f4"), np.asfortranarray(values((3, 4), f)), values((6, 8), f)[::2, ::-2],
                   values((3, 4)).tolist(), cuda.to_device(values((3, 4), f)), cuda.to_device(values((4, 3), f)).T):
        d[...] = -1
        d.copy_to_device(source)
        assert np.array_equal(d.copy_to_host(), np.asarray(source).astype(np.float32))
    with pytest.raises(ValueError, match="shapes differ"):
        d.copy_to_device(np.zeros((4, 3)))
    for other in (np.zeros((3, 4)), np.zeros((3, 4), int), cuda.to_device(np.zeros((3, 4)))):
        with pytest.raises(TypeError, match="the dtypes differ: float32 on the device"):
            d.copy_to_device(other)
        with pytest.raises(TypeError, match="the dtypes differ: float32 on the device"):
            cuda.to_device(other, to=d)
    d[...] = np.ones((3, 4))  # an assignment converts
    assert np.array_equal(d.copy_to_host(), np.ones((3, 4), f))


def test_masked_arrays_are_refused():
    masked = np.ma.array(values((3, 4)), mask=values((3, 4)) > 2)
    d = cuda.device_array((3, 4))

    @cuda.jit
    def kernel(x):
        x[0, 0] = 1

    @cuda.jit
    def reads(x):
        x[0, 0] = masked[0, 0]

    for call in (cuda.to_device, d.copy_to_device, d.copy_to_host, lambda m: d.__setitem__(..., m), kernel[1, 1], lambda m: reads[1, 1](d)):
        with pytest.raises(TypeError, match="ask"):
            call(masked)
    kernel[1, 1](masked.data)
    assert masked.data[0, 0] == 1


def test_copies_on_a_stream():
    stream = cuda.stream()
    a = values(1000)
    d = cuda.to_device(a, stream=stream)
    e = cuda.device_array_like(d, stream=stream)
    e.copy_to_device(d, stream=stream)
    assert np.array_equal(e.copy_to_host(stream=stream), a)
    out = np.zeros(1000)
    e.copy_to_host(out, stream=stream)
    stream.synchronize()
    assert np.array_equal(out, a)


def test_numpy_conversion():
    d = cuda.to_device(values((2, 3), np.int32))
    assert np.array_equal(np.asarray(d), values((2, 3)))
    assert np.asarray(d, dtype=np.float32).dtype == np.float32
    assert np.array_equal(np.array(d[:, ::2]), values((2, 3))[:, ::2])
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="`copy=False` is not"):
            np.asarray(d, copy=False)


# --- views and indexing ------------------------------------------------------------------------------------------------

KEYS = [
    0, -1, slice(None), slice(1, 3), slice(None, None, -1), slice(10, None), slice(-2, None, 2), slice(3, 0, -2), Ellipsis, None,
    (0, 1), (-1, slice(1, None)), (Ellipsis, 0), (slice(None), None, 2), (slice(None, None, 2), slice(None, None, -2)), (1, Ellipsis, 2),
    (None, Ellipsis, None), (0, 1, 2), (Ellipsis, 0, 1, 2), (slice(0, 0),), (np.int64(1), np.uint8(2)), (), True - 1,
]


@pytest.mark.parametrize("key", KEYS, ids=map(str, KEYS))
def test_get(key):
    a = values((4, 5, 6), np.int32)
    got, want = cuda.to_device(a)[key], a[key]
    if isinstance(want, np.generic):
        assert type(got) is type(want) and got == want
    else:
        assert got.shape == want.shape and got.dtype == want.dtype
        assert np.array_equal(got.copy_to_host(), want)


@pytest.mark.parametrize("key", KEYS, ids=map(str, KEYS))
@pytest.mark.parametrize("base", ["C", "F", "strided"])
def test_set(key, base):
    a = {"C": values((4, 5, 6)), "F": np.asfortranarray(values((4, 5, 6))), "strided": values((4, 5, 6))}[base]
    d = cuda.to_device(a)
    if base == "strided":
        d, a = cuda.to_device(values((8, 5, 6)))[::-2], values((8, 5, 6))[::-2]
    before = a.copy()
    d[key] = -7
    a[key] = -7
    assert np.array_equal(d.copy_to_host(), a)
    shape = np.shape(a[key])
    d[key] = d_values = np.arange(int(np.prod(shape))).reshape(shape)
    a[key] = d_values
    assert np.array_equal(d.copy_to_host(), a)
    d[...] = cuda.to_device(before)
    assert np.array_equal(d.copy_to_host(), before)


def test_set_broadcasts_and_casts():
    d = cuda.to_device(np.zeros((3, 4), np.float32))
    d[1:] = [1, 2, 3, 4]
    d[:, 0] = np.array([9, 8, 7], np.int8)
    assert d.copy_to_host().tolist() == [[9, 0, 0, 0], [8, 2, 3, 4], [7, 2, 3, 4]]
    with pytest.raises(ValueError):
        d[0] = [1, 2]
    with pytest.raises((TypeError, ValueError)):
        d[0] = "abc"


def test_views_share_memory():
    d = cuda.to_device(values(10))
    view = d[2:8].reshape(2, 3).T
    d[:] = 5
    assert (view.copy_to_host() == 5).all()
    view[0, 1] = 6
    assert d[5] == 6


def test_views_keep_memory_alive():
    view = cuda.to_device(values(1000))[::-3]
    gc.collect()
    junk = [cuda.to_device(np.full(1000, 3.0)) for _ in range(10)]
    assert np.array_equal(view.copy_to_host(), values(1000)[::-3])
    del junk


def test_overlapping_copy():
    d = cuda.to_device(values(10))
    d[1:] = d[:-1]
    assert d.copy_to_host().tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("key, error", [
    (4, IndexError), (-5, IndexError), ((0, 5), IndexError), ((0, 0, 0, 0), IndexError), ((Ellipsis, Ellipsis), IndexError), ("a", TypeError),
    (1.0, TypeError), ([0, 1], TypeError), (np.array([0, 1]), TypeError), (np.array([True] * 4), TypeError), (True, TypeError),
    (slice(None, None, 0), ValueError), (slice("a"), TypeError), (10**30, IndexError),
], ids=str)
def test_bad_keys(key, error):
    d = cuda.to_device(values((4, 5, 6)))
    with pytest.raises(error):
        d[key]
    with pytest.raises(error):
        d[key] = 1


def test_deleting_elements():
    with pytest.raises(TypeError):
        del cuda.to_device(values(3))[0]


def test_reshape_and_friends():
    a = values((2, 3, 4))
    d = cuda.to_device(a)
    for shape in [(24,), (6, 4), (-1,), (2, -1), (4, 3, 2, 1), (1, 24)]:
        assert np.array_equal(d.reshape(*shape).copy_to_host(), a.reshape(shape))
        assert np.array_equal(d.reshape(shape).copy_to_host(), a.reshape(shape))
    f = cuda.to_device(np.asfortranarray(a))
    assert np.array_equal(f.reshape((6, 4), order="F").copy_to_host(), a.reshape((6, 4), order="F"))
    assert np.array_equal(d.ravel().copy_to_host(), a.ravel())
    assert np.array_equal(f.ravel(order="F").copy_to_host(), a.ravel(order="F"))
    for bad in [(5, 5), (-1, 5), (-1, -1), (0,), (-2, 12)]:
        with pytest.raises(ValueError):
            d.reshape(bad)
    for view in (d[:, :2], d.T):
        with pytest.raises(NotImplementedError, match="operation requires copying"):
            view.reshape(-1)
    with pytest.raises(NotImplementedError, match="operation requires copying"):
        d[:, ::2].ravel()
    with pytest.raises(TypeError):
        d.reshape(24, bad=1)


def test_transpose():
    a = values((2, 3, 4))
    d = cuda.to_device(a)
    assert np.array_equal(d.T.copy_to_host(), a.T) and d.T.strides == a.T.strides
    for axes in itertools.permutations(range(3)):
        assert np.array_equal(d.transpose(axes).copy_to_host(), a.transpose(axes))
        assert np.array_equal(d.transpose(*axes).copy_to_host(), a.transpose(axes))
    assert np.array_equal(d.transpose(-1, 0, 1).copy_to_host(), a.transpose(-1, 0, 1))
    for bad in [(0, 1), (0, 0, 1), (0, 1, 3)]:
        with pytest.raises(ValueError):
            d.transpose(bad)


def test_extents_and_steps_beyond_an_address():
    d = cuda.to_device(values(8))
    assert d[:: 2**62].copy_to_host().tolist() == [0]
    assert d[:: -(2**62)].copy_to_host().tolist() == [7]
    with pytest.raises(ValueError, match="does not fit 63 bits"):
        d[:0].reshape(0, 2**62, 2**62)
    with pytest.raises(ValueError, match="have no bytes"):
        d.view("V0")


def test_squeeze_and_view():
    d = cuda.to_device(values((1, 3, 1, 4), np.float32))
    assert d.squeeze().shape == (3, 4) and d.squeeze(0).shape == (3, 1, 4) and d.squeeze(axis=(0, -2)).shape == (3, 4)
    with pytest.raises(ValueError):
        d.squeeze(1)
    host = values((1, 3, 1, 4), np.float32)
    for dtype in ("i4", "u1", "f8", pyptx.uint32):
        assert np.array_equal(d.view(dtype).copy_to_host(), host.view(np.dtype(dtype)))
    with pytest.raises(ValueError):
        cuda.to_device(values(3, np.float32)).view(np.float64)


# --- the rest ----------------------------------------------------------------------------------------------------------


def test_length_and_iteration():
    d = cuda.to_device(values((3, 2)))
    assert len(d) == 3
    assert [row.copy_to_host().tolist() for row in d] == values((3, 2)).tolist()
    assert [float(x) for x in cuda.to_device(values(3))] == [0, 1, 2]
    with pytest.raises(TypeError):
        len(cuda.to_device(1.0))
    with pytest.raises(TypeError):
        list(cuda.to_device(1.0))


def test_flags_and_attributes():
    d = cuda.to_device(values((3, 2)))
    assert d.flags == {"C_CONTIGUOUS": True, "F_CONTIGUOUS": False, "WRITEABLE": True}
    assert d.alloc_size == 48 and d[1:].alloc_size == 48 and d.gpu_data.size == 48
    assert d.device is cuda.get_current_device()
    assert d.device_ctypes_pointer.value == d.gpu_data.device_pointer
    assert d[1].device_ctypes_pointer.value == d.gpu_data.device_pointer + 16


def test_not_made_by_hand():
    d = cuda.to_device(values(3))
    with pytest.raises(TypeError):
        type(d)()
    with pytest.raises(AttributeError):
        d.shape = (1, 3)


def test_memory_is_freed():
    def live():
        gc.collect()
        cuda.synchronize()
        return cuda.current_context().get_memory_info().free

    d = cuda.device_array(1 << 20, np.uint8)
    before = live()
    for _ in range(300):
        d = cuda.device_array(1 << 24, np.uint8)
    del d
    # Other processes use memory too: 300 leaked arrays would be 5 GB.
    assert before - live() < 2 << 30


def test_sixteen_axes():
    shape = (1, 2) * 8
    a = values(shape)
    d = cuda.to_device(a)
    assert np.array_equal(d.T.copy_to_host(), a.T)
    with pytest.raises(IndexError):
        d[None]


def test_items_on_a_stream():
    """Numba's names of indexing with a stream."""
    a, stream = values((4, 6)), cuda.stream()
    d = cuda.to_device(a)
    assert d.getitem((1, 2)) == a[1, 2] and d.getitem((1, 2), stream=stream) == a[1, 2]
    assert np.array_equal(d.getitem(slice(1, 3), stream=stream).copy_to_host(), a[1:3])
    d.setitem((slice(None), 2), 7, stream=stream)
    d.setitem(0, a[1])
    stream.synchronize()
    a[:, 2] = 7
    a[0] = values((4, 6))[1]
    assert np.array_equal(d.copy_to_host(), a)
    with pytest.raises(IndexError):
        d.getitem(4)
    with pytest.raises(TypeError):
        d.setitem(0)


# --- cycles --------------------------------------------------------------------------------------------------------------


class Owner:
    """A library's array that keeps ours, as one that converts itself once would."""

    def __init__(self):
        self.values = cuda.to_device(np.arange(4.0))

    def __dlpack__(self, **kwargs):
        return self.values.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()

    def __cuda_stream__(self):
        return 0, 2


def test_an_array_that_its_owner_keeps_is_collected():
    def cycle(owner):
        owner.view = _pyptx._array_at(owner.values.gpu_data.device_pointer, 32, np.float64, (4,), None, owner, False)[1:]

    def stream(owner):
        owner.launch = fill[1, 4, owner]

    def bound(owner):
        owner.bound = owner.values.bind(owner)[1:]

    def launched(owner):
        fill[1, 4, owner](owner.values)
        owner.view = owner.values[1:]

    def allocated(owner):
        owner.made = cuda.device_array(4, np.float64, stream=owner)
        owner.view = owner.made[1:]

    @cuda.jit
    def fill(a):
        a[cuda.grid(1)] = 1

    for tie in (cycle, stream, bound, launched, allocated):
        owner = Owner()
        tie(owner)
        gone = weakref.ref(owner)
        del owner
        gc.collect()
        assert gone() is None, tie
