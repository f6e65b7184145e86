"""Arrays of other libraries as kernel arguments, and ours as theirs: the real libraries, where they are installed.

Every launch is compared with what the library itself computes; sums and products of small integers are exact in every dtype."""

import gc
import threading

import numpy as np
import pytest
from pyptx import cuda


@cuda.jit
def scale(x, factor, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * factor


@cuda.jit
def transpose(a, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[j, i]


@cuda.jit
def slow_fill(out, value, rounds):
    """Writes value late, so that work on another stream that does not wait sees what was there before."""
    i = cuda.grid(1)
    v = 1.0
    for _ in range(rounds):
        v = v * 0.999 + 0.001
    if i < out.size:
        out[i] = value if v < 2 else 0


ROUNDS = 2_000_000  # some ten milliseconds


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    return torch


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    if jax.default_backend() != "gpu":
        pytest.skip("this JAX has no CUDA")
    return jax


# --- CuPy --------------------------------------------------------------------------------------------------------------

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "bool", "complex64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_cupy_in(cupy, dtype):
    x = cupy.arange(1000).astype(dtype)
    out = cupy.zeros(1000, dtype)
    scale[8, 128](x, 1, out)
    assert np.array_equal(cupy.asnumpy(out), cupy.asnumpy(x))


def test_cupy_strided(cupy):
    a = cupy.random.random((60, 40))[::2, ::-1]
    out = cupy.zeros((40, 60))[:, ::2]
    transpose[(2, 2), (32, 32)](a, out)
    assert np.array_equal(cupy.asnumpy(out), cupy.asnumpy(a).T)


@pytest.mark.parametrize("way", ["asarray", "from_dlpack"])
def test_cupy_out(cupy, way):
    d = cuda.to_device(np.arange(12.0).reshape(3, 4))
    there = getattr(cupy, way)(d)
    assert there.data.ptr == d.__cuda_array_interface__["data"][0]
    there *= 2
    cupy.cuda.Device().synchronize()
    assert np.array_equal(d.copy_to_host(), 2 * np.arange(12.0).reshape(3, 4))


def test_cupy_empty_and_without_axes(cupy):
    @cuda.jit
    def put(x, out):
        out[()] = x.size + 40

    out = cupy.zeros((), np.int64)
    put[1, 1](cupy.zeros((3, 0)), out)
    assert int(out) == 40


def test_cupys_stream_is_followed(cupy):
    out = cupy.zeros(64)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        slow_fill[1, 64](out, 7, ROUNDS)
        doubled = out * 2  # on the same stream: sees the 7
        stream.synchronize()
    assert (cupy.asnumpy(doubled) == 14).all()


# --- PyTorch -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "uint64"] + ["bfloat16"])
def test_torch_in(torch, dtype):
    x = torch.arange(100, device="cuda").to(getattr(torch, dtype))
    out = torch.zeros_like(x)
    scale[1, 128](x, 1, out)
    assert torch.equal(out, x)


def test_torch_strided(torch):
    a = torch.randn(40, 60, device="cuda")[::2, 1::3]
    out = torch.zeros(20, 20, device="cuda")
    transpose[(1, 1), (32, 32)](a, out)
    assert torch.equal(out, a.T)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_torch_out(torch, dtype):
    d = cuda.to_device(np.arange(12).astype(dtype))
    there = torch.from_dlpack(d)
    assert there.data_ptr() == d.__cuda_array_interface__["data"][0]
    there[3] = 0
    torch.cuda.synchronize()
    expected = np.arange(12).astype(dtype)
    expected[3] = 0
    assert np.array_equal(d.copy_to_host(), expected)
    again = torch.as_tensor(d, device="cuda")
    assert again.data_ptr() == there.data_ptr()


def test_torch_bfloat16_there_and_back(torch):
    x = torch.arange(10, device="cuda", dtype=torch.bfloat16)
    d = cuda.from_dlpack(x)
    assert "bfloat16" in repr(d)
    back = torch.from_dlpack(d)
    assert back.dtype == torch.bfloat16 and back.data_ptr() == x.data_ptr() and torch.equal(back, x)


def test_torchs_stream_is_followed(torch):
    out = torch.zeros(64, device="cuda")
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        slow_fill[1, 64](out, 7, ROUNDS)
        doubled = out * 2
    stream.synchronize()
    assert (doubled.cpu() == 14).all()


def test_arrays_of_ours_are_in_order_with_torchs_stream(torch):
    """Before and after: a launch on the default stream, one that follows PyTorch's stream, and one on the default stream again."""
    ours, theirs = cuda.to_device(np.zeros(64)), torch.zeros(64, device="cuda", dtype=torch.float64)
    out = cuda.to_device(np.zeros(64))
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        slow_fill[1, 64](ours, 3, ROUNDS)
        scale[1, 64](ours, 2, theirs)
        slow_fill[1, 64](theirs, 5, ROUNDS)
        scale[1, 64](theirs, 10, out)
        assert (out.copy_to_host() == 50).all()
        assert (theirs.cpu() == 5).all()


def test_a_named_stream_waits_for_torch(torch):
    theirs = torch.zeros(64, device="cuda", dtype=torch.float64)
    out = cuda.to_device(np.zeros(64))
    torch.cuda.synchronize()
    ours = cuda.stream()
    with torch.cuda.stream(torch.cuda.Stream()):
        slow_fill[1, 64](theirs, 5, ROUNDS)
        scale[1, 64, ours](theirs, 2, out)
    ours.synchronize()
    assert (out.copy_to_host() == 10).all()


def test_a_torch_graph_takes_our_launches(torch):
    x, out = torch.ones(64, device="cuda"), torch.zeros(64, device="cuda")
    scale[1, 64](x, 3, out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        scale[1, 64](x, 3, out)
    x.fill_(5)
    graph.replay()
    torch.cuda.synchronize()
    assert (out.cpu() == 15).all()


def test_tensors_that_are_refused(torch):
    def error_of(x):
        with pytest.raises((TypeError, BufferError, RuntimeError, ValueError)) as caught:
            scale[1, 4](x, 1, torch.zeros(4, device="cuda", dtype=x.dtype if x.dtype.is_complex else torch.float32))
        return str(caught.value)

    grads = torch.ones(4, device="cuda", requires_grad=True)
    with pytest.raises((TypeError, BufferError, RuntimeError, ValueError), match="detach"):
        scale[1, 4](torch.zeros(4, device="cuda"), 1, grads)  # written
    out = torch.zeros(4, device="cuda")
    scale[1, 4](grads, 3, out)  # read
    assert (out == 3).all()
    assert "host memory" in error_of(torch.zeros(4))
    c = torch.ones(4, device="cuda", dtype=torch.complex64)
    assert "resolve_conj" in error_of(c.conj())
    assert "resolve_neg" in error_of(c.conj().imag)
    if hasattr(torch, "float8_e4m3fnuz"):
        assert "float8" in error_of(torch.zeros(4, device="cuda").to(torch.float8_e4m3fnuz))
    if torch.cuda.device_count() > 1:
        assert "GPU 1" in error_of(torch.zeros(4, device="cuda:1"))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"])
def test_tensors_of_8_bit_floats(torch, name):
    x = torch.tensor([0.5, 1, 2, 4], device="cuda").to(getattr(torch, name))
    out = torch.zeros(4, device="cuda")
    scale[1, 4](x, 2, out)
    assert out.tolist() == [1, 2, 4, 8]


def test_parameters_without_gradient(torch):
    x = torch.nn.Parameter(torch.ones(4, device="cuda"), requires_grad=False)
    out = torch.zeros(4, device="cuda")
    scale[1, 4](x, 3, out)
    assert out.tolist() == [3, 3, 3, 3]


def test_memory_lives_as_long_as_its_views(torch):
    """Both ways, whoever goes first, also from another thread."""
    gc.collect()
    before = torch.cuda.memory_allocated()
    x = torch.full((1 << 20,), 7.0, device="cuda")
    view = cuda.from_dlpack(x)[10:20]
    del x
    gc.collect()
    assert torch.cuda.memory_allocated() > before and (view.copy_to_host() == 7).all()
    thread = threading.Thread(target=lambda v: v.pop(), args=([view],))
    del view
    thread.start()
    thread.join()
    del thread
    gc.collect()
    assert torch.cuda.memory_allocated() == before
    there = torch.from_dlpack(cuda.to_device(np.full(1 << 20, 3.0)))
    others = [cuda.to_device(np.zeros(1 << 20)) for _ in range(4)]
    assert (there == 3).all() and len(others) == 4


def test_a_bound_launch_of_tensors(torch):
    x, out = torch.ones(64, device="cuda"), torch.zeros(64, device="cuda")
    launch = scale[1, 64].bind(x, 2, out)
    x.fill_(4)
    launch()
    assert (out.cpu() == 8).all()


@pytest.mark.alone
def test_many_launches_leave_nothing(torch, cupy):
    x, y = torch.ones(64, device="cuda"), cupy.zeros(64, cupy.float32)
    scale[1, 64](x, 2, y)
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(20):
            scale[1, 64](x, 2, y)
        torch.cuda.synchronize()
        free, _ = cuda.get_current_device().memory_info()
        for _ in range(20_000):
            scale[1, 64](x, 2, y)
        torch.cuda.synchronize()
    left, _ = cuda.get_current_device().memory_info()
    assert free - left < 1 << 20


# --- JAX, Numba, cuda.core, RMM ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int32", "float32", "bfloat16", "bool", "complex64"])
def test_jax_in_and_out(jax, dtype):
    x = jax.numpy.arange(100).astype(dtype)
    out = np.zeros(100, np.complex64 if dtype == "complex64" else np.float32)
    scale[1, 128](x, 2, out)
    assert np.array_equal(out, 2 * np.asarray(x).astype(out.dtype))
    d = cuda.from_dlpack(x)
    back = jax.dlpack.from_dlpack(d)
    assert back.dtype == x.dtype and (back == x).all()


def test_numba_both_ways():
    nb = pytest.importorskip("numba.cuda", exc_type=Exception)
    theirs = nb.to_device(np.arange(10.0))
    out = nb.device_array(10)
    scale[1, 32](theirs, 3, out)
    cuda.synchronize()
    assert np.array_equal(out.copy_to_host(), 3 * np.arange(10.0))
    d = cuda.to_device(np.arange(4.0))
    assert np.array_equal(nb.as_cuda_array(d).copy_to_host(), np.arange(4.0))


def test_cuda_core_buffers():
    core = pytest.importorskip("cuda.core")
    Device = getattr(core, "Device", None) or pytest.importorskip("cuda.core.experimental").Device
    device = Device()
    device.set_current()
    buffer = device.allocate(64, stream=device.default_stream)
    d = cuda.from_dlpack(buffer)
    assert d.nbytes == 64 and d.gpu_data.device_pointer == int(buffer.handle)
    ones = d.view(np.uint8)
    ones[...] = np.ones(64, np.uint8)
    out = cuda.to_device(np.zeros(64, np.uint8))
    scale[1, 64](buffer, 5, out)
    assert (out.copy_to_host() == 5).all()


def test_rmm_buffers():
    rmm = pytest.importorskip("rmm")
    buffer = rmm.DeviceBuffer.to_device(np.arange(16, dtype=np.uint8).tobytes())
    out = cuda.to_device(np.zeros(16, np.uint8))
    scale[1, 32](buffer, 2, out)
    assert np.array_equal(out.copy_to_host(), 2 * np.arange(16))


def test_mixed_in_one_launch(cupy, torch):
    x = torch.arange(64, device="cuda", dtype=torch.float32)
    torch.cuda.synchronize()
    out = cupy.zeros(64, cupy.float32)
    scale[1, 64](x, 3, out)
    assert np.array_equal(cupy.asnumpy(out), 3 * np.arange(64, dtype=np.float32))


def test_versions_of_the_interface():
    class Foreign:
        def __init__(self, array, **changes):
            self.owner = array
            self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}

    d = cuda.to_device(np.arange(8.0))
    out = cuda.device_array(8)
    for changes in ({}, {"strides": None}, {"version": 2}, {"stream": None}, {"version": 3, "stream": 1}):
        scale[1, 8](Foreign(d, **changes), 2, out)
        assert np.array_equal(out.copy_to_host(), 2 * np.arange(8.0))
    with pytest.raises(TypeError):
        scale[1, 8](Foreign(d, typestr=">f8"), 2, out)
