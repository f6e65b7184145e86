"""GPU arrays of other libraries: __cuda_array_interface__ in and out, streams of others.

Most of it needs a GPU; there a small class that only has the interface stands for CuPy, PyTorch and the like.
"""

import numpy as np
import pytest
from pyptx import cuda

gpu_only = pytest.mark.skipif("cuda.get_current_device().is_host", reason="needs GPU memory")


class Foreign:
    """An array of another library on the memory of a device array."""

    def __init__(self, array, **changes):
        self.array = array
        self.interface = {**array.__cuda_array_interface__, **changes}

    @property
    def __cuda_array_interface__(self):
        return self.interface


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = 2 * x[i]


# --- on the host device --------------------------------------------------------------------------------------------


@pytest.mark.host_only("host memory has no CUDA pointer")
def test_host_arrays_have_no_interface():
    d = cuda.to_device(np.zeros(3))
    assert not hasattr(d, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="copy_to_host"):
        d.__cuda_array_interface__
    assert cuda.is_cuda_array(d) and not cuda.is_cuda_array(np.zeros(3)) and not cuda.is_cuda_array(3)


@pytest.mark.host_only("a GPU can take GPU arrays")
def test_gpu_arrays_are_refused_by_the_host():
    class OnGpu:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (1 << 40, False), "version": 3}

    for use in (lambda: double[1, 1](OnGpu(), np.zeros(3)), lambda: cuda.as_cuda_array(OnGpu()),
                lambda: cuda.from_cuda_array_interface(OnGpu.__cuda_array_interface__)):
        with pytest.raises(TypeError, match="GPU"):
            use()


def test_what_is_no_cuda_array():
    with pytest.raises(TypeError, match="to_device"):
        cuda.as_cuda_array(np.zeros(3))
    d = cuda.to_device(np.zeros(3))
    assert cuda.as_cuda_array(d) is d


def test_errors_of_an_interface_property_are_the_users():
    class Broken:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        double[1, 1](Broken(), np.zeros(3))


def test_stream_protocol():
    class Theirs:
        def __init__(self, stream):
            self.stream = stream

        def __cuda_stream__(self):
            return (0, self.stream.handle)

    stream = cuda.stream()
    x, out = cuda.to_device(np.arange(4.0)), cuda.device_array(4)
    double[1, 32, Theirs(stream)](x, out)
    stream.synchronize()
    assert out.copy_to_host().tolist() == [0, 2, 4, 6]


# --- on a GPU ------------------------------------------------------------------------------------------------------


@gpu_only
def test_interface_of_a_device_array():
    d = cuda.to_device(np.arange(12, dtype=np.float32).reshape(3, 4))
    i = d.__cuda_array_interface__
    assert i["shape"] == (3, 4) and i["typestr"] == "<f4" and i["version"] == 3 and i["strides"] is None
    assert i["data"] == (d.gpu_data.device_pointer, False) and i["stream"] == 1
    view = d[1:, ::2].__cuda_array_interface__
    assert view["shape"] == (2, 2) and view["strides"] == (16, 8) and view["data"][0] == i["data"][0] + 16


@gpu_only
@pytest.mark.parametrize("changes", [{}, {"strides": (8,)}, {"stream": None}, {"stream": 1}, {"stream": 2}, {"version": 2}])
def test_foreign_arrays_as_arguments(changes):
    x, out = cuda.to_device(np.arange(100.0)), cuda.to_device(np.zeros(100))
    double[4, 32](Foreign(x, **changes), Foreign(out))
    assert np.array_equal(out.copy_to_host(), 2 * np.arange(100.0))


@gpu_only
def test_foreign_views():
    x, out = cuda.to_device(np.arange(100.0)), cuda.to_device(np.zeros(50))
    double[4, 32](Foreign(x[::-2]), Foreign(out))
    assert np.array_equal(out.copy_to_host(), 2 * np.arange(100.0)[::-2])


@gpu_only
def test_as_cuda_array_shares_memory():
    d = cuda.to_device(np.arange(4.0))
    view = cuda.as_cuda_array(Foreign(d))
    view[0] = 9
    assert d[0] == 9 and view.gpu_data.device_pointer == d.gpu_data.device_pointer
    other = cuda.from_cuda_array_interface(d.__cuda_array_interface__, owner=d, sync=False)
    assert other.copy_to_host().tolist() == [9, 1, 2, 3]


@gpu_only
def test_read_only_foreign_arrays():
    d = cuda.to_device(np.arange(4.0))
    locked = Foreign(d, data=(d.gpu_data.device_pointer, True))
    double[1, 4](locked, cuda.device_array(4))
    with pytest.raises(ValueError, match="read-only"):
        double[1, 4](d, locked)
    with pytest.raises(ValueError, match="read-only"):
        cuda.as_cuda_array(locked)[0] = 1


@pytest.mark.parametrize("stream", [0, -5, "a", 1.5, 1 << 64])
def test_bad_streams(stream):
    class Wrong:
        __cuda_array_interface__ = {"shape": (3,), "typestr": "<f4", "data": (4096, False), "version": 3, "stream": stream}

    with pytest.raises(TypeError, match="bad __cuda_array_interface__: stream must be None, 1 .the legacy default stream"):
        cuda.as_cuda_array(Wrong())


@gpu_only
@pytest.mark.parametrize("changes", [
    {"shape": [4]}, {"shape": (-1,)}, {"shape": (1,) * 17}, {"typestr": 3}, {"typestr": "nonsense"}, {"data": 5}, {"data": (1, 2, 3)},
    {"data": ("a", False)}, {"strides": (8, 8)}, {"strides": 8}, {"stream": 0}, {"mask": object()}, {"shape": (1.5,)},
])
def test_bad_interfaces(changes):
    d = cuda.to_device(np.arange(4.0))
    with pytest.raises((TypeError, OverflowError, ValueError, NotImplementedError)):
        double[1, 4](Foreign(d, **changes), d)


@gpu_only
def test_torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    x, out = torch.arange(100.0, device="cuda"), torch.zeros(100, device="cuda")
    double[4, 32](x, out)
    cuda.synchronize()
    assert torch.equal(out, 2 * x)
    assert torch.equal(torch.as_tensor(cuda.to_device(np.arange(5.0)), device="cuda").cpu(), torch.arange(5.0, dtype=torch.float64))


@gpu_only
def test_cupy():
    cupy = pytest.importorskip("cupy")
    x, out = cupy.arange(100.0), cupy.zeros(100)
    double[4, 32](x, out)
    cuda.synchronize()
    assert (out == 2 * x).all()
    assert cupy.asarray(cuda.to_device(np.arange(5.0))).tolist() == [0, 1, 2, 3, 4]


@gpu_only
def test_bfloat16_of_others():
    """Two bytes without a meaning: what PyTorch says of its bfloat16."""
    d, out = cuda.to_device(np.array([0x3F80, 0xC000], np.uint16)), np.zeros(2, np.float32)
    double[1, 2](Foreign(d, typestr="<V2"), out)
    cuda.synchronize()
    assert out.tolist() == [2, -4]
