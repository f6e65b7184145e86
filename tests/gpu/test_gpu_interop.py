"""Arrays of other libraries as kernel arguments, and ours as theirs, through __cuda_array_interface__."""

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


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "bool"])
def test_cupy_in(cupy, dtype):
    x = cupy.arange(1000).astype(dtype)
    out = cupy.zeros(1000, dtype)
    scale[8, 128](x, 1, out)
    cuda.synchronize()
    assert np.array_equal(cupy.asnumpy(out), cupy.asnumpy(x))


def test_cupy_strided(cupy):
    a = cupy.random.random((60, 40))[::2, ::-1]
    out = cupy.zeros((40, 60))[:, ::2]
    transpose[(2, 2), (32, 32)](a, out)
    cuda.synchronize()
    assert np.array_equal(cupy.asnumpy(out), cupy.asnumpy(a).T)


def test_cupy_out(cupy):
    d = cuda.to_device(np.arange(12.0).reshape(3, 4))
    there = cupy.asarray(d)
    assert there.data.ptr == d.__cuda_array_interface__["data"][0]
    there *= 2
    cupy.cuda.Device().synchronize()
    assert np.array_equal(d.copy_to_host(), 2 * np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "float32", "float64"])
def test_torch_in(torch, dtype):
    x = torch.arange(100, device="cuda").to(getattr(torch, dtype))
    out = torch.zeros_like(x)
    torch.cuda.synchronize()
    scale[1, 128](x, 1, out)
    cuda.synchronize()
    assert torch.equal(out, x)


def test_torch_strided(torch):
    a = torch.randn(40, 60, device="cuda")[::2, 1::3]
    out = torch.zeros(20, 20, device="cuda")
    torch.cuda.synchronize()
    transpose[(1, 1), (32, 32)](a, out)
    cuda.synchronize()
    assert torch.equal(out, a.T)


def test_torch_out(torch):
    d = cuda.to_device(np.arange(12, dtype=np.float32))
    there = torch.as_tensor(d, device="cuda")
    assert there.data_ptr() == d.__cuda_array_interface__["data"][0]
    there += 1
    torch.cuda.synchronize()
    assert np.array_equal(d.copy_to_host(), np.arange(12, dtype=np.float32) + 1)


def test_mixed_in_one_launch(cupy, torch):
    x = torch.arange(64, device="cuda", dtype=torch.float32)
    torch.cuda.synchronize()
    out = cupy.zeros(64, cupy.float32)
    scale[1, 64](x, 3, out)
    cuda.synchronize()
    assert np.array_equal(cupy.asnumpy(out), 3 * np.arange(64, dtype=np.float32))


def test_torch_tensor_that_needs_a_gradient_is_refused(torch):
    x = torch.zeros(4, device="cuda", requires_grad=True)
    with pytest.raises(Exception, match="grad"):
        scale[1, 4](x, 1, x)


def test_cpu_tensor_is_refused_or_copied(torch):
    """A tensor in host memory has no __cuda_array_interface__: a clear TypeError, or treated as a host array."""
    x = torch.zeros(4)
    try:
        scale[1, 4](x, 1, x)
    except TypeError as e:
        assert "x" in str(e) or "argument" in str(e)


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
