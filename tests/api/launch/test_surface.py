"""The public surface of launches, memory, streams and devices, as users of Numba-CUDA write it: every name, and every keyword by its name, once.
What the forms mean is tested elsewhere; here none may go missing."""

import ctypes
import io
import pickle

import numpy as np
import pytest
from pyptx import cuda, float32, int32, void


@cuda.jit
def kernel(x, v=1):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += v


@cuda.jit("void(float32[:], int32)")
def eager(x, n):
    x[0] = n


def test_the_decorator():
    for options in (dict(fastmath=True), dict(debug=True, opt=False), dict(opt=3), dict(lineinfo=True), dict(max_registers=32), dict(launch_bounds=128),
                    dict(launch_bounds=(128, 2)), dict(cache=True), dict(inline="always"), dict(inline="never"), dict(forceinline=True),
                    dict(shared_memory_carveout=50), dict(link=[]), dict(device=True), dict(typing="numba"), dict(fma=False), dict(exceptions=True),
                    dict(boundscheck=True), dict(coarsen=1), dict(stack=2048), dict(stack=None), dict(dump="")):
        cuda.jit(**options)(lambda x: None)
    for signature in ("void(float32[:], int32)", (float32[::1], int32), void(float32[:], int32), ["(float32[:], int32)", "(float32[::1], int32)"]):
        assert len(cuda.jit(signature)(eager.py_func).signatures) == (2 if isinstance(signature, list) else 1)


def test_dispatchers():
    x, stream = cuda.to_device(np.zeros(64)), cuda.stream()
    for launch in (kernel[2, 32], kernel[(2,), (32,)], kernel[(2, 1, 1), (32, 1)], kernel[2, 32, stream], kernel[2, 32, stream, 64], kernel[2, 32, 0, 0],
                   kernel.configure(2, 32), kernel.configure(2, 32, stream, 64), kernel.configure(griddim=2, blockdim=32, stream=0, sharedmem=0, cluster=None),
                   kernel.forall(64), kernel.forall(64, 32, stream, 64), kernel.forall(ntasks=64, tpb=0, stream=0, sharedmem=0)):
        launch(x)
        launch(x, v=2)
        launch(x=x, v=np.int32(3))
        launch.bind(x)()
    stream.synchronize()
    assert (x.copy_to_host() == 12 * 7).all()
    with pytest.raises(ValueError, match=r"kernel\[blocks, threads\]"):
        kernel(x)
    assert kernel.specialize(x) is kernel.specialize(x)
    signature = kernel.signatures[0]
    assert kernel.py_func.__name__ == "kernel"
    assert signature in kernel.overloads and kernel.compile("(float64[::1],)") is not None
    texts = [kernel.inspect_asm, kernel.inspect_llvm, kernel.inspect_types]
    assert all(isinstance(f(), dict) and isinstance(f(signature), str) for f in texts)
    assert hasattr(kernel, "inspect_sass")
    assert kernel.inspect_types(file=(file := io.StringIO())) is None and file.getvalue() == "".join(kernel.inspect_types().values())
    assert kernel.inspect_types(signature, file=(file := io.StringIO())) is None and file.getvalue() == kernel.inspect_types(signature)
    for f in texts:
        with pytest.raises(TypeError, match=rf"{f.__name__}\(\)"):
            f(other=1)
    numbers = [kernel.get_regs_per_thread, kernel.get_shared_mem_per_block, kernel.get_const_mem_size, kernel.get_local_mem_per_thread,
               kernel.get_max_threads_per_block]
    assert all(isinstance(f(), dict) and isinstance(f(signature), int) for f in numbers)
    one = kernel.overloads[signature]
    assert one.max_cooperative_grid_blocks(32, 0) > 0 and one.max_cooperative_grid_blocks(blockdim=(32, 1), dynsmemsize=0) > 0
    assert pickle.loads(pickle.dumps(kernel)) is kernel


def test_memory():
    a, stream = np.arange(24, dtype=np.float32).reshape(4, 6), cuda.stream()
    d = cuda.to_device(obj=a, stream=stream, copy=True, to=None)
    assert cuda.to_device(a, stream, True, d) is d and cuda.to_device(a, copy=False).shape == (4, 6)
    e = cuda.device_array(shape=(4, 6), dtype=np.float32, strides=None, order="F", stream=stream)
    assert cuda.device_array(3).dtype == np.float64 and cuda.device_array_like(a).shape == cuda.device_array_like(e, stream=stream).shape == (4, 6)
    assert (d.copy_to_host(ary=None, stream=stream) == a).all()
    e.copy_to_device(ary=a, stream=stream)
    e.copy_to_device(d)
    assert (e.copy_to_host() == a).all()
    for make in (cuda.pinned_array, cuda.mapped_array, cuda.managed_array):
        assert make((4, 6), np.float32, strides=None, order="C").shape == (4, 6)
    for like in (cuda.pinned_array_like, cuda.mapped_array_like):
        assert like(a).shape == (4, 6)
    with cuda.pinned(a.copy(), a.copy()), cuda.mapped(a.copy()), cuda.defer_cleanup():
        pass
    total = np.zeros(4)
    for wrap in (cuda.In, cuda.Out, cuda.InOut):
        kernel[1, 32](wrap(total))
    info = cuda.current_context().get_memory_info()
    assert 0 < info.free <= info.total and tuple(info)[:2] == (info.free, info.total)


def test_device_arrays():
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    d = cuda.to_device(a)
    assert (d.shape, d.strides, d.dtype, d.size, d.ndim, d.nbytes, d.itemsize) == (a.shape, a.strides, a.dtype, 24, 2, 96, 4)
    assert d.T.shape == (6, 4) and d.flags["C_CONTIGUOUS"] and d.is_c_contiguous() and d.T.is_f_contiguous() and d.alloc_size >= 96
    assert isinstance(d.device_ctypes_pointer, ctypes.c_void_p) and d.gpu_data is not None and len(d) == 4
    for key in (1, (1, 2), slice(1, 3), (slice(None), -1), Ellipsis, (slice(None, None, -1), slice(None, None, 2)), (..., 0)):
        found = d[key]
        assert np.array_equal(found.copy_to_host() if isinstance(found, cuda.DeviceNDArray) else found, a[key])
        d[key] = a[key]
    assert d.reshape(6, 4).shape == d.reshape((6, 4)).shape == (6, 4) and d.ravel().shape == (24,) and d.reshape(1, 24).squeeze().shape == (24,)
    assert d.view(np.int32).dtype == np.int32 and d.transpose().shape == (6, 4) and [len(p) for p in d.ravel().split(10)] == [10, 10, 4]
    assert (np.asarray(d) == a).all() and d.bind(cuda.stream()).shape == d.shape
    text = repr(d)
    assert "(4, 6)" in text and "float32" in text and "23" in text
    if not cuda.get_current_device().is_host:
        assert d.__cuda_array_interface__["shape"] == (4, 6)
    assert d.__dlpack_device__() and d.__dlpack__() is not None
    assert cuda.from_dlpack(d).shape == (4, 6) and cuda.as_cuda_array(d, sync=True) is not None and cuda.is_cuda_array(d)
    assert callable(cuda.from_cuda_array_interface)


def test_streams_and_events():
    streams = [cuda.stream(), cuda.default_stream(), cuda.legacy_default_stream(), cuda.per_thread_default_stream()]
    streams.append(cuda.external_stream(streams[0].handle or 0) if not cuda.get_current_device().is_host else streams[0])
    for stream in streams:
        with stream.auto_synchronize() as same:
            assert same is stream
        stream.synchronize()
        heard = []
        stream.add_callback(lambda s, status, arg: heard.append((s, status, arg)), arg=5)
        assert stream.query() in (True, False) and int(stream) == stream.handle and callable(stream.async_done)
        e, f = cuda.event(timing=True), cuda.event()
        e.record(stream=stream)
        e.wait(stream=stream)
        f.record(stream)
        f.synchronize()
        assert f.query() and e.elapsed_time(f) >= 0 and cuda.event_elapsed_time(e, f) >= 0
    cuda.event(timing=False).record()
    cuda.synchronize()


def test_devices():
    device = cuda.get_current_device()
    assert device.name and isinstance(device.id, int) and device.uuid.startswith("GPU-") and len(device.compute_capability) == 2 and callable(device.reset)
    assert cuda.gpus.current is device and cuda.current_context().device is device and cuda.select_device(device) is device
    with cuda.gpus[0] as first:
        assert first is cuda.get_current_device()
    assert cuda.require_context(len) is len and isinstance(cuda.list_devices(), list) and cuda.detect() in (True, False)
    assert cuda.is_available() in (True, False) and (cuda.cuda_error() is None) == cuda.is_available()
    assert callable(cuda.close) and callable(cuda.profile_start) and callable(cuda.profile_stop)
    with cuda.profiling():
        pass
    assert device.WARP_SIZE == device.CU_DEVICE_ATTRIBUTE_WARP_SIZE == 32
    assert device.MAX_THREADS_PER_BLOCK and device.MULTIPROCESSOR_COUNT and device.MAX_SHARED_MEMORY_PER_BLOCK
