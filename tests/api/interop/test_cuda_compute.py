"""NVIDIA's cuda.compute on pyptx's device arrays, through their __cuda_array_interface__: what examples/compute.py shows."""

import numpy as np
import pytest
from pyptx import cuda

compute = pytest.importorskip("cuda.compute", reason="cuda.compute (pip install 'cuda-cccl[minimal-cu13]') is not installed")
if not getattr(compute, "_BINDINGS_AVAILABLE", True):  # without CUDA's packages it is imported and empty
    pytest.skip("cuda.compute finds no CUDA (pip install 'cuda-cccl[minimal-cu13]')", allow_module_level=True)


@pytest.fixture(autouse=True)
def gpu():
    if cuda.get_current_device().is_host:
        pytest.skip("cuda.compute needs a GPU")


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_sort(dtype):
    x = (np.random.default_rng(1).standard_normal(100_003) * 1000).astype(dtype)
    keys = cuda.to_device(x)
    out = cuda.device_array_like(keys)
    compute.radix_sort(d_in_keys=keys, d_out_keys=out, num_items=x.size, order=compute.SortOrder.ASCENDING)
    np.testing.assert_array_equal(out.copy_to_host(), np.sort(x))


def test_scan_and_reduce():
    x = np.random.default_rng(2).integers(-1000, 1000, 100_003).astype(np.int64)
    keys, zero = cuda.to_device(x), np.zeros(1, np.int64)
    sums, total = cuda.device_array_like(keys), cuda.device_array(1, np.int64)
    compute.inclusive_scan(d_in=keys, d_out=sums, op=compute.OpKind.PLUS, init_value=zero, num_items=x.size)
    compute.reduce_into(d_in=keys, d_out=total, num_items=x.size, op=compute.OpKind.PLUS, h_init=zero)
    np.testing.assert_array_equal(sums.copy_to_host(), np.cumsum(x))
    assert total.copy_to_host()[0] == x.sum()


def test_behind_a_kernel_in_a_stream():
    @cuda.jit
    def fill(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x.size - i

    stream = cuda.stream()
    x = cuda.device_array(100_003, np.int32, stream=stream)
    out = cuda.device_array_like(x, stream=stream)
    fill[-(-x.size // 256), 256, stream](x)
    compute.radix_sort(d_in_keys=x, d_out_keys=out, num_items=x.size, order=compute.SortOrder.ASCENDING, stream=stream)
    np.testing.assert_array_equal(out.copy_to_host(stream=stream), np.arange(1, x.size + 1))
