# sig: float32[::1]
"""A branch on a compile-time string leaves one side."""
from pyptx import cuda

MODE = "double"


@cuda.jit
def kernel(a):
    if MODE == "double":
        a[0] *= 2
    else:
        a[0] = a[0].no_such_attribute
