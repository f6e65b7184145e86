"""Memory on a real GPU: staged copies arrive whole and in order, memory that both sides reach, running out, other processes, plug-ins."""

import ctypes
import gc
import subprocess
import sys
import threading

import numpy as np
import pytest
from pyptx import cuda


@cuda.jit
def inc(x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] += 1


@cuda.jit
def slow_fill(x, value, rounds):
    """Writes value, late."""
    t = 0
    for _ in range(rounds):
        t = (t * 1664525 + 1013904223) & 0xFFFFFFFF
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        x[i] = value + (t == 0x1234567)


def room(needed):
    free, _ = cuda.memory_info()
    if free < needed:
        pytest.skip(f"needs {needed >> 20} MiB of GPU memory")


# --- copies -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(16))
def test_staged_copies_of_random_ranges(seed):
    rng = np.random.default_rng(seed)
    whole = rng.integers(0, 256, 200 << 20, np.uint8)
    low, high = sorted(int(x) for x in rng.integers(0, whole.size, 2))
    part = whole[low:high]
    stream = cuda.stream() if seed % 2 else 0
    d = cuda.to_device(part, stream=stream)
    out = np.zeros(whole.size, np.uint8)
    d.copy_to_host(out[low:high], stream=stream)
    if stream:
        stream.synchronize()
    assert np.array_equal(out[low:high], part) and not out[:low].any() and not out[high:].any()


def test_a_copy_of_one_gib():
    room(2 << 30)
    a = np.arange((1 << 27) + 3, dtype=np.int64)
    d = cuda.to_device(a)
    inc[1024, 256](d)
    a += 1
    assert np.array_equal(d.copy_to_host(), a)


@pytest.mark.parametrize("seed", range(8))
def test_strided_copies(seed):
    rng = np.random.default_rng(seed)
    shape = [(3000, 4000), (200, 300, 100), (50_000_000,), (64, 64, 64, 20)][seed % 4]
    base = rng.integers(0, 1 << 15, shape).astype(rng.choice(["i2", "f4", "f8"])).transpose(rng.permutation(len(shape)))
    a = base[tuple(slice(None, None, int(rng.choice([1, 2, -1, -2]))) for _ in shape)]
    d = cuda.device_array(a.shape, a.dtype, order="CF"[seed // 4])
    d.copy_to_device(a)
    assert np.array_equal(d.copy_to_host(), a)
    back = np.zeros_like(base)
    view = back[tuple(slice(0, n) for n in a.shape)].T[::-1].T if a.ndim > 1 else back[: a.size][::-1]
    d.copy_to_host(view)
    assert np.array_equal(view, a)


@pytest.mark.parametrize("on_stream", [False, True])
def test_copies_keep_the_order_of_their_stream(on_stream):
    """A copy from the device comes after the kernel before it; one to the device comes before the kernel behind it."""
    stream = cuda.stream() if on_stream else 0
    n = 16 << 20
    d = cuda.device_array(n, np.int32)
    for value in range(4):
        slow_fill[256, 256, stream](d, value, 3_000_000)
        assert (d.copy_to_host(stream=stream) == value).all()
        slow_fill[256, 256, stream](d, 100, 3_000_000)
        d.copy_to_device(np.full(n, value, np.int32), stream=stream)
        inc[256, 256, stream](d)
        assert (d.copy_to_host(stream=stream) == value + 1).all()


def test_copies_from_many_threads():
    def work(seed):
        a = np.random.default_rng(seed).integers(0, 256, (8 << 20) + seed, np.uint8)
        stream = cuda.stream()
        for _ in range(5):
            d = cuda.to_device(a, stream=stream)
            if not np.array_equal(d.copy_to_host(stream=stream), a):
                wrong.append(seed)

    wrong = []
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_pinned_copies_run_behind_the_call():
    n = 64 << 20
    a, out = cuda.pinned_array(n, np.uint8), cuda.pinned_array(n, np.uint8)
    a[:] = np.arange(n) % 251
    stream = cuda.stream()
    d = cuda.device_array(n, np.uint8, stream=stream)
    d.copy_to_device(a, stream=stream)
    d.copy_to_host(out, stream=stream)
    del a  # its release waits
    stream.synchronize()
    assert np.array_equal(out, np.arange(n) % 251)


def test_registered_memory_copies_directly():
    a = np.arange(1 << 22, dtype=np.float64)
    d = cuda.device_array_like(a)
    with cuda.pinned(a):
        stream = cuda.stream()
        d.copy_to_device(a, stream=stream)
        stream.synchronize()
    assert np.array_equal(d.copy_to_host(), a)


# --- memory that both sides reach ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [cuda.mapped_array, cuda.managed_array])
def test_used_in_place(make):
    a = make((1000, 1000), np.float32)
    a[:] = 1
    inc[64, 256](a.reshape(-1))
    cuda.synchronize()
    assert (a == 2).all()
    inc[64, 256](a[10])
    cuda.synchronize()
    assert (a[10] == 3).all() and (a[11] == 2).all()


def test_managed_memory_beyond_what_is_free():
    free, total = cuda.memory_info()
    with pytest.raises(cuda.OutOfMemoryError, match="managed arrays must fit"):
        cuda.managed_array(total * 2, np.uint8)


# --- running out --------------------------------------------------------------------------------------------------------------


@pytest.mark.alone
def test_what_is_kept_is_given_up_before_memory_runs_out():
    info = cuda.memory_info()
    part = info.free // 3
    a, b = cuda.device_array(part, np.uint8), cuda.device_array(part, np.uint8)
    del a, b  # the pool keeps them
    big = cuda.device_array(part * 2 + (part >> 1), np.uint8)
    assert big.nbytes > part * 2
    del big
    cuda.trim_memory()


def test_out_of_memory():
    info = cuda.memory_info()
    with pytest.raises(cuda.OutOfMemoryError) as caught:
        cuda.device_array(info.total * 2, np.uint8)
    assert isinstance(caught.value, MemoryError) and caught.value.result_name == "CUDA_ERROR_OUT_OF_MEMORY"
    assert "are free" in str(caught.value) and "arrays" in str(caught.value)
    inc[1, 32](cuda.device_array(10, np.int32))  # all is well
    cuda.synchronize()


@pytest.mark.alone
def test_no_growth():
    def some(n):
        for i in range(n):
            inc[1, 32](keep)
            cuda.to_device(small[: 1 + i % 100])
        cuda.synchronize()
        gc.collect()
        return cuda.memory_info()

    keep, small = cuda.to_device(np.zeros(32, np.int32)), np.ones(100)
    before = some(2000)
    after = some(20000)
    assert after.live_arrays == before.live_arrays and after.live_bytes == before.live_bytes
    assert before.free - after.free <= 32 << 20  # the pool's granularity is 32 MiB


@pytest.mark.unsanitized("its kernel writes where nothing is")
def test_after_a_failed_kernel():
    """A lost context: arrays of all kinds are released without a crash or a hang."""
    code = """
import numpy as np
from pyptx import cuda
@cuda.jit
def stray(x, n):
    x[n] = 1
held = [cuda.pinned_array(100), cuda.mapped_array(100), cuda.managed_array(100), cuda.device_array(100), cuda.device_array(100, stream=cuda.stream())]
reg = np.ones(1000); block = cuda.pinned(reg); block.__enter__()
try:
    stray[1, 1](held[3], (1 << 31) - 2)
    cuda.synchronize()
    print("no error")
except Exception as e:
    print(type(e).__name__)
try:
    held.append(cuda.to_device(np.zeros(10 << 20)))
except Exception as e:
    print(type(e).__name__)
block.__exit__(None, None, None)
held.clear()
print("done")
"""
    import tempfile
    from pathlib import Path

    path = Path(tempfile.mkdtemp()) / "stray.py"
    path.write_text(code)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.split()[-1] == "done", done.stdout + done.stderr


# --- other processes ---------------------------------------------------------------------------------------------------------------


@pytest.mark.unsanitized("asks for what the driver refuses")
def test_another_process_opens_an_array():
    import base64
    import pickle

    with cuda.shareable():
        d = cuda.to_device(np.arange(1000, dtype=np.float32))
    handle = base64.b64encode(pickle.dumps(d[100:].get_ipc_handle())).decode()
    code = (
        "import sys, base64, pickle, numpy as np\nfrom pyptx import cuda\n"
        f"handle = pickle.loads(base64.b64decode('{handle}'))\n"
        "with handle as a:\n"
        "    print(a.shape, float(a.copy_to_host().sum()))\n"
        "    a[0] = -5\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split(") ")[1].strip() == str(float(np.arange(100, 1000).sum()))
    assert d[100] == -5 and d[99] == 99
    with pytest.raises(ValueError, match="memory pool"):
        cuda.to_device([1.0]).get_ipc_handle()


# --- plug-ins ------------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def allocator():
    yield cuda.set_allocator
    cuda.set_allocator(None)


def test_an_allocator_of_ones_own(allocator):
    pool, calls = cuda.device_array(1 << 20, np.uint8), []

    def carve(nbytes, stream):
        calls.append((nbytes, stream))
        return pool[:nbytes]

    allocator(carve)
    d = cuda.to_device(np.arange(100, dtype=np.int32))
    stream = cuda.stream()
    e = cuda.device_array(10, stream=stream)
    assert d.device_ctypes_pointer.value == pool.device_ctypes_pointer.value
    assert calls == [(400, 0), (80, stream.handle)] and e.nbytes == 80
    inc[1, 128](d)
    assert np.array_equal(d.copy_to_host(), np.arange(1, 101))
    allocator(lambda nbytes, stream: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        cuda.device_array(5)


def test_numbas_interface(allocator):
    libcuda = ctypes.CDLL("libcuda.so.1")
    freed = []

    class Manager(cuda.HostOnlyCUDAMemoryManager):
        def memalloc(self, size):
            p = ctypes.c_uint64()
            assert libcuda.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(size)) == 0

            def free():
                freed.append(libcuda.cuMemFree_v2(p))

            return cuda.MemoryPointer(self.context, p, size, finalizer=free)

        def get_memory_info(self):
            return 12, 34

    cuda.set_memory_manager(Manager)
    d = cuda.to_device(np.arange(1000.0))
    inc[4, 256](d)
    assert np.array_equal(d.copy_to_host(), np.arange(1000.0) + 1)
    assert cuda.current_context().get_memory_info() == (12, 34)
    del d
    gc.collect()
    assert freed == [0]


def test_managers_that_share_their_memory(allocator):
    """Numba's GetIpcHandleMixin: of memory that the driver can share, here our own outside of the pool."""
    with cuda.shareable():
        d = cuda.device_array(100, np.uint8)
    made = type("Manager", (cuda.GetIpcHandleMixin, cuda.HostOnlyCUDAMemoryManager), {})(context=cuda.current_context())
    pointer = d.gpu_data.device_pointer
    handle = made.get_ipc_handle(cuda.MemoryPointer(cuda.current_context(), pointer, 100))
    assert len(handle.handle) == 64 and handle.offset == 0 and handle.size == 100 and handle.handle == d.get_ipc_handle().handle


def test_rmm(allocator, monkeypatch):
    rmm = pytest.importorskip("rmm")
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)  # which numba-cuda wants, and NumPy 2.5 has no more
    numba = pytest.importorskip("rmm.allocators.numba", exc_type=Exception)
    cuda.set_memory_manager(numba.RMMNumbaManager)
    d = cuda.to_device(np.arange(1000.0))
    inc[4, 256](d)
    assert np.array_equal(d.copy_to_host(), np.arange(1000.0) + 1)
    cuda.set_allocator(lambda nbytes, stream: rmm.DeviceBuffer(size=nbytes))
    assert cuda.to_device([1.0, 2.0]).copy_to_host().tolist() == [1, 2]
