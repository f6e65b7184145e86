"""pandas, xarray and JAX themselves: their objects as arguments of kernels and operands of device arrays."""

import jax
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from pyptx import cuda


@cuda.jit
def increment(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 1


def test_pandas_objects_are_read():
    frame = pd.DataFrame({"x": np.arange(4.0), "n": np.arange(4)}, index=[10, 20, 30, 40])
    for values in (frame["x"], frame["n"], frame.index, frame["x"].astype("float32")):
        out = np.zeros(4)
        increment[1, 4](values, out)
        np.testing.assert_array_equal(out, values.to_numpy() + 1)


def test_a_series_is_not_written():
    series = pd.Series(np.arange(4.0))
    with pytest.raises(ValueError, match="copy-on-write"):
        increment[1, 4](series, series)
    x = series.to_numpy(copy=True)  # what the error says
    increment[1, 4](x, x)
    series[:] = x
    np.testing.assert_array_equal(series, np.arange(4.0) + 1)


def test_operators_of_pandas_objects():
    series, d = pd.Series(np.arange(4.0)), cuda.arange(4)
    for result in (series + d, d + series, np.add(d, series), series * d - d):
        assert type(result) is cuda.DeviceNDArray
    np.testing.assert_array_equal((series + d).get(), np.arange(4.0) * 2)
    np.testing.assert_array_equal((series < d + 1).get(), [True] * 4)


def test_xarrays_data_is_written():
    for data in (np.zeros(4), cuda.zeros(4)):
        array = xr.DataArray(data, dims="t")
        increment[1, 4](np.arange(4.0), array)
        increment[1, 4](array, array.variable)
        assert np.asarray(array.data).tolist() == [2, 3, 4, 5]
    summed = xr.DataArray(np.arange(4.0)) + cuda.arange(4)
    assert type(summed.data) is cuda.DeviceNDArray and summed.data.tolist() == [0, 2, 4, 6]


def test_tracers_are_refused():
    x, d, said = np.zeros(4), cuda.arange(4), []

    @jax.jit
    def traced(v):
        for call in (lambda: increment[1, 4](v, x), lambda: d + v, lambda: v + d, lambda: cuda.as_cuda_array(v)):
            with pytest.raises(TypeError, match="a JAX tracer has no memory; call the kernel outside of jax.jit") as caught:
                call()
            said.append(caught)
        return v

    traced(jax.numpy.arange(4.0))
    assert len(said) == 4
