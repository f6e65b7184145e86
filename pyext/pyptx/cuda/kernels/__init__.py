"""Ready kernels, under the names that Numba has for them: `reduction.Reduce`, `transpose.transpose`."""
