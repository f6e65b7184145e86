"""Memory: pinned, mapped and managed arrays, directions of arguments, statistics, allocators, deferred frees. On both devices."""

import ctypes
import gc
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from pyptx import cuda

MAKERS = [cuda.pinned_array, cuda.mapped_array, cuda.managed_array]


@cuda.jit
def inc(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


# --- host arrays that a device reaches -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("shape, dtype, order", [
    (5, "f4", "C"), ((3, 4), "i8", "F"), ((), "f8", "C"), (0, "f4", "C"), ((2, 0, 3), "c16", "F"), ([2, 3], "M8[s]", "C"),
    ((4,), [("a", "i4"), ("b", "f8")], "C"),
])
def test_shapes(make, shape, dtype, order):
    a, expected = make(shape, dtype, order=order), np.empty(shape, dtype, order)
    assert (a.shape, a.dtype) == (expected.shape, expected.dtype) and (a.strides == expected.strides or not a.size)
    assert isinstance(a, np.ndarray) and a.flags.writeable and a.flags.aligned
    a[...] = np.zeros((), dtype)
    assert np.array_equal(a, np.zeros(shape, dtype))


@pytest.mark.parametrize("make", MAKERS)
def test_strides_and_defaults(make):
    assert make(3).dtype == np.float64
    a = make((2, 3, 4), "i4", strides=(4, 32, 8))
    assert a.strides == (4, 32, 8)
    a[...] = np.arange(24).reshape(2, 3, 4)
    assert np.array_equal(np.array(a), np.arange(24).reshape(2, 3, 4))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("arguments, error", [
    ((-1,), ValueError), ((1.5,), TypeError), ((3, object), TypeError), ((3, "f4", (8,)), ValueError), ((3, "f4", (4, 4)), ValueError),
    ((3, "f4", None, "K"), ValueError), ((3, "nonsense"), TypeError), (((1 << 40, 1 << 40),), ValueError), (((2, 2), "f4", (0, 4)), ValueError),
])
def test_errors(make, arguments, error):
    with pytest.raises(error):
        make(*arguments)


@pytest.mark.parametrize("make", MAKERS)
def test_more_than_there_is(make):
    with pytest.raises(MemoryError) as caught:
        make(1 << 58, np.uint8)
    assert "cannot allocate" in str(caught.value) and "help:" in str(caught.value)
    assert isinstance(caught.value, cuda.OutOfMemoryError) and isinstance(caught.value, cuda.CudaAPIError)


def test_like():
    a = np.asfortranarray(np.ones((3, 4), np.float32))
    for make in (cuda.pinned_array_like, cuda.mapped_array_like):
        b = make(a)
        assert (b.shape, b.dtype, b.strides) == (a.shape, a.dtype, a.strides)
        assert make(a[::2]).shape == (2, 4) and make(a[::2]).flags.f_contiguous
        assert make(np.transpose(np.ones((2, 3, 4)), (1, 2, 0))).strides == (32, 8, 96)


@pytest.mark.parametrize("make", MAKERS)
def test_copies(make):
    a = make((100, 7), np.int32)
    a[...] = np.arange(700).reshape(100, 7)
    d = cuda.to_device(a)
    stream = cuda.stream()
    out = make((100, 7), np.int32)
    assert d.copy_to_host(out, stream=stream) is out
    stream.synchronize()
    assert np.array_equal(out, a)
    d.copy_to_device(a * 2, stream=stream)
    assert np.array_equal(d.copy_to_host(), a * 2)


@pytest.mark.parametrize("make", MAKERS)
def test_kernels(make):
    """Mapped and managed arrays are used in place, pinned ones are copied as others are."""
    a = make(1000, np.float32)
    a[...] = np.arange(1000)
    inc[4, 256](a)
    cuda.synchronize()
    assert np.array_equal(a, np.arange(1000) + 1.0)
    inc[4, 256](a[10:20])
    inc[1, 1](a[::-1][:1])
    cuda.synchronize()
    assert a[9] == 10 and a[10] == 12 and a[19] == 21 and a[20] == 21 and a[999] == 1001
    result = a * 2  # not in that memory
    inc[4, 256](result)
    cuda.synchronize()
    assert np.array_equal(result, np.array(a) * 2 + 1)


def test_what_mapped_arrays_say():
    a = cuda.mapped_array((4, 3), np.float32)
    memory = a.gpu_data
    assert memory.size == a.nbytes and memory.host_pointer == a.ctypes.data and memory.device_pointer
    assert a[1:].device_ctypes_pointer.value == memory.device_pointer + 12 and a[1:].gpu_data is memory
    a[...] = 5
    copy = a.copy_to_host()
    assert type(copy) is np.ndarray and (copy == 5).all()
    assert (a.copy_to_host(np.zeros((4, 3))) == 5).all()
    with pytest.raises(AttributeError, match="result of an operation"):
        (a + 1).gpu_data
    assert np.array_equal(pickle.loads(pickle.dumps(a)), a) and type(pickle.loads(pickle.dumps(a))) is np.ndarray
    if cuda.get_current_device().is_host:
        assert not hasattr(a, "__cuda_array_interface__")
    else:
        assert a[1:].__cuda_array_interface__["data"] == (memory.device_pointer + 12, False)


@pytest.mark.parametrize("make", MAKERS)
def test_memory_lives_as_long_as_its_arrays(make):
    a = make(100, np.int64)
    a[...] = range(100)
    part = a[10:20]
    del a
    gc.collect()
    junk = [make(100, np.int64) for _ in range(20)]
    for j in junk:
        j[...] = -1
    assert part.tolist() == list(range(10, 20))


@pytest.mark.parametrize("make", MAKERS)
def test_frees_in_any_order_and_thread(make):
    def work(seed):
        rng, held = np.random.default_rng(seed), []
        for _ in range(30):
            a = make(int(rng.integers(0, 5000)), np.uint8)
            a[...] = seed
            held.append((a, cuda.to_device(a)))
            if len(held) > 5:
                x, d = held.pop(int(rng.integers(len(held))))
                assert (x == seed).all() and np.array_equal(d.copy_to_host(), x)
        alive.extend(held)

    alive = []
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(alive) == 20
    alive.clear()


def test_at_interpreter_exit():
    """Arrays that live until the end, in globals and in a cycle, end quietly."""
    code = (
        "import numpy as np; from pyptx import cuda\n"
        "a, b, c = cuda.pinned_array(9), cuda.mapped_array(9), cuda.managed_array(9)\n"
        "d = cuda.to_device(a); s = cuda.stream(); e = cuda.to_device(a, stream=s)\n"
        "class C: pass\n"
        "x = C(); x.me = x; x.held = (cuda.mapped_array(5), cuda.to_device(b), cuda.defer_cleanup())\n"
        "reg = cuda.pinned(np.ones(5)); reg.__enter__()\n"
        "x.held[2].__enter__(); del d\n"
        "print('done')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "done", "")


# --- with blocks -----------------------------------------------------------------------------------------------------------


def test_pinned():
    a, b = np.arange(1000.0), np.asfortranarray(np.ones((3, 4), "M8[s]"))
    with cuda.pinned(a, b):
        stream = cuda.stream()
        d = cuda.to_device(a, stream=stream)
        d.copy_to_host(a, stream=stream)
    with cuda.pinned(a):  # it can be done again
        pass
    with pytest.raises(ValueError, match="contiguous"), cuda.pinned(a[::2]):
        pass
    with pytest.raises(TypeError), cuda.pinned([1, 2]):
        pass
    with pytest.raises(ZeroDivisionError), cuda.pinned(a):
        1 / 0
    with cuda.pinned(np.empty(0)), cuda.pinned():
        pass


def test_mapped():
    a, b = np.zeros(100, np.int32), np.asfortranarray(np.ones((3, 4), np.float32))
    with cuda.mapped(a) as d:
        assert isinstance(d, cuda.DeviceNDArray) and d.shape == (100,)
        inc[1, 128](d)
        cuda.synchronize()
        assert (a == 1).all()
    with cuda.mapped(a, b) as (d_a, d_b):
        assert d_b.strides == b.strides
        inc[1, 128](d_a)
    assert (a == 2).all()
    a.flags.writeable = False
    with cuda.mapped(a) as d, pytest.raises(ValueError, match="read-only"):
        inc[1, 128](d)


@pytest.mark.unchecked("what is read was never written")
def test_defer_cleanup():
    before = cuda.memory_info().live_arrays
    with cuda.defer_cleanup():
        with cuda.defer_cleanup():
            for n in range(1, 50):
                cuda.to_device(np.ones(n))
        inc[1, 32](cuda.device_array(5))
    assert cuda.memory_info().live_arrays == before
    with pytest.raises(ZeroDivisionError), cuda.current_context().defer_cleanup():
        1 / 0


# --- numbers -------------------------------------------------------------------------------------------------------------


def test_memory_info():
    gc.collect()
    before = cuda.memory_info()
    assert 0 < before.free <= before.total and tuple(before) == (before.free, before.total)
    d = cuda.device_array(1000, np.float64)
    after = cuda.memory_info()
    assert after.live_arrays == before.live_arrays + 1 and after.allocations == before.allocations + 1
    assert 8000 <= after.live_bytes - before.live_bytes <= 8192 + 256 and after.peak_bytes >= after.live_bytes
    del d
    assert cuda.memory_info().live_bytes == before.live_bytes
    free, total = cuda.memory_info(cuda.get_current_device())
    assert total == before.total and "live_arrays=" in repr(after)
    assert cuda.current_context().get_memory_info().total == total
    assert pickle.loads(pickle.dumps(after)).peak_bytes == after.peak_bytes


def test_trim_and_limit():
    cuda.to_device(np.ones(1 << 20))
    cuda.trim_memory()
    info = cuda.memory_info()
    assert info.cached_bytes <= info.live_arrays << 25  # the driver keeps the 32 MiB around an array of another test
    limit = cuda.memory_info().limit
    try:
        cuda.set_memory_limit(1 << 20)
        assert cuda.memory_info().limit in (0, 1 << 20)
    finally:
        cuda.set_memory_limit(limit)
    cuda.trim_memory(keep=1 << 20, device=cuda.get_current_device())
    with pytest.raises((TypeError, OverflowError)):
        cuda.trim_memory("all")


def test_arrays_in_cycles_are_freed_before_memory_runs_out():
    class Holder:
        pass

    x = Holder()
    x.me, x.array = x, cuda.device_array(1000)
    gone = weakref.ref(x)
    del x
    with pytest.raises(MemoryError):
        cuda.device_array(1 << 57, np.uint8)
    assert gone() is None


# --- directions ------------------------------------------------------------------------------------------------------------


def test_directions():
    x = np.zeros(100, np.int32)
    inc[1, 128](cuda.In(x))
    assert (x == 0).all()
    inc[1, 128](cuda.InOut(x))
    assert (x == 1).all()

    @cuda.jit
    def twice(a, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 2 * a[i]

    out = np.zeros((100, 2), np.int32)[:, 0]
    twice[1, 128](cuda.In(x), cuda.Out(out))
    assert (out == 2).all()
    twice[1, 128](cuda.In(cuda.to_device(x)), cuda.Out(out))
    assert (out == 2).all() and "cuda.In(" in repr(cuda.In(x))
    with pytest.raises(TypeError, match="argument 1"):
        inc[1, 1](cuda.In([1, 2]))


# --- copies of strided arrays ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_strided_copies(seed):
    """Host arrays of random axes, order, steps and signs, small and large, to the device and back."""
    rng = np.random.default_rng(seed)
    dtype = rng.choice(["u1", "i2", "f4", "f8", "c16", "S3", "S24"])
    ndim = int(rng.integers(1, 4))
    shape = tuple(int(n) for n in rng.integers(1, [9, 30, 30][:ndim]))
    if seed % 3 == 0:
        shape = tuple(n * 40 if k == ndim - 1 else n * 7 for k, n in enumerate(shape))
    whole = np.frombuffer(rng.bytes(int(np.prod([2 * n for n in shape])) * np.dtype(dtype).itemsize), dtype).copy()
    whole = whole.reshape([2 * n for n in shape]).transpose(rng.permutation(ndim))
    a = whole[tuple(slice(None, None, int(rng.choice([1, 2, -1, -2, -3]))) for _ in shape)]
    for order in "CF":
        d = cuda.device_array(a.shape, dtype, order=order)
        d.copy_to_device(a)
        assert d.copy_to_host().tobytes() == a.tobytes()
        back = np.zeros_like(whole)
        view = back[tuple(slice(None, None, s) for s in (-1,) * ndim)][tuple(slice(0, n) for n in a.shape)]
        d.copy_to_host(view)
        assert view.tobytes() == a.tobytes()
    assert np.array_equal(cuda.to_device(a).copy_to_host().view("u1"), np.ascontiguousarray(a).view("u1"))


def test_large_copies():
    """Above the size from which copies are staged; the ends of the range are not touched."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 256, (6 << 20) + 12345, np.uint8)
    d = cuda.to_device(a)
    assert np.array_equal(d.copy_to_host(), a)
    out = np.zeros(a.size + 20, np.uint8)
    d.copy_to_host(out[10:-10])
    assert np.array_equal(out[10:-10], a) and not out[:10].any() and not out[-10:].any()
    wide = rng.random((1500, 1100))
    d = cuda.to_device(wide.T)
    assert np.array_equal(d.copy_to_host(), wide.T)
    back = np.zeros((2200, 3000))
    d = cuda.to_device(np.ascontiguousarray(wide.T), stream=cuda.stream())
    d.copy_to_host(back[::2, ::-2], stream=cuda.stream())
    assert np.array_equal(back[::2, ::-2], wide.T) and not back[1::2].any()


# --- allocators --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_allocator():
    yield
    cuda.set_allocator(None)


def test_an_allocator_must_be_callable(no_allocator):
    with pytest.raises(TypeError, match="callable"):
        cuda.set_allocator(5)


@pytest.mark.host_only("the host device ignores allocators")
def test_the_host_device_has_its_own_memory(no_allocator):
    cuda.set_allocator(lambda nbytes, stream: 1 / 0)
    assert cuda.to_device([1, 2]).copy_to_host().tolist() == [1, 2]


def test_memory_managers(no_allocator):
    class Manager(cuda.HostOnlyCUDAMemoryManager):
        made = []

        def initialize(self):
            Manager.made.append(self)

        def memalloc(self, size):
            return cuda.MemoryPointer(self.context, ctypes.c_uint64(0), size)

    cuda.set_memory_manager(Manager)
    assert cuda.get_memory_manager() is Manager.made[0]
    assert Manager.made[0].context.device is cuda.get_current_device()
    cuda.set_memory_manager("default")
    assert cuda.get_memory_manager() is None
    with pytest.raises(RuntimeError, match="context="):
        cuda.BaseCUDAMemoryManager()

    class Future(Manager):
        interface_version = 2

    with pytest.raises(RuntimeError, match="version 2"):
        cuda.set_memory_manager(Future)
    freed = []
    pointer = cuda.MemoryPointer(None, 4096, 10, finalizer=lambda: freed.append(1))
    assert pointer.device_ctypes_pointer.value == 4096
    del pointer
    gc.collect()
    assert freed == [1]


# --- other processes -----------------------------------------------------------------------------------------------------------


@pytest.mark.host_only("the host device has no IPC")
def test_no_ipc_on_the_host():
    with pytest.raises(ValueError, match="IPC"):
        cuda.to_device([1.0]).get_ipc_handle()
    with pytest.raises(ValueError, match="IPC"), cuda.open_ipc_array(bytes(64), 3, "f4"):
        pass
    with cuda.shareable(), pytest.raises(ValueError, match="shared"):
        cuda.device_array(5)
    with pytest.raises(ValueError, match="64 bytes"), cuda.open_ipc_array(b"abc", 3, "f4"):
        pass


# --- parts of device arrays ------------------------------------------------------------------------------------------------------


def test_split():
    d = cuda.to_device(np.arange(10))
    assert [p.copy_to_host().tolist() for p in d.split(4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [p.shape for p in d[::3].split(2)] == [(2,), (2,)]
    for part in d.split(5):
        part[0] = -1
    assert d.copy_to_host().tolist() == [-1, 1, 2, 3, 4, -1, 6, 7, 8, 9]
    assert len(list(d.split(1 << 62))) == 1 and list(cuda.device_array(0).split(3)) == []
    stream = cuda.stream()
    assert all(p.stream is stream for p in d.split(3, stream))
    for bad in (0, -1):
        with pytest.raises(ValueError, match="section"):
            d.split(bad)
    with pytest.raises(ValueError, match="one axis"):
        cuda.device_array((2, 2)).split(1)


def test_bind():
    d = cuda.to_device(np.arange(6.0).reshape(2, 3))
    stream = cuda.stream()
    b = d.bind(stream)
    assert b.stream is stream and d.stream == 0 and b[0].stream is stream and b.T.reshape is not None
    assert b.gpu_data is d.gpu_data
    b[0] = 7
    out = np.zeros((2, 3))
    b.copy_to_host(out)
    stream.synchronize()
    assert out.tolist() == [[7, 7, 7], [3, 4, 5]] and np.asarray(b).tolist() == out.tolist() and b[1, 2] == 5
    b.copy_to_device(out * 2)
    assert d.copy_to_host().tolist() == (out * 2).tolist()
    assert b.bind().stream == 0
    with pytest.raises(TypeError):
        d.bind("stream")


@pytest.mark.parametrize("dtype", ["c8", "c16", ">c8"])
def test_real_and_imag(dtype):
    a = (np.arange(12) * (1 + 2j)).reshape(3, 4).astype(dtype)
    d = cuda.to_device(a)
    assert d.real.dtype == a.real.dtype and d.imag.strides == a.imag.strides
    assert np.array_equal(d.real.copy_to_host(), a.real) and np.array_equal(d[1:, ::2].imag.copy_to_host(), a[1:, ::2].imag)
    d.imag[...] = 1
    assert np.array_equal(d.copy_to_host(), a.real + 1j)
    real = cuda.to_device(a.real)
    assert real.real is real
    with pytest.raises(TypeError, match="imaginary"):
        real.imag


@pytest.mark.parametrize("memory", [None, -5, 2**70, "x", 1.5, object()])
def test_an_allocator_that_gives_no_address(device, memory):
    if device == "host":
        pytest.skip("the host device has memory of its own")
    cuda.set_allocator(lambda nbytes, stream: memory)
    try:
        with pytest.raises(TypeError, match="an allocator gives an address, or an object with `ptr`"):
            cuda.device_array(3)
    finally:
        cuda.set_allocator(None)
