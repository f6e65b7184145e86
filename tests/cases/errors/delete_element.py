# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    del a[0]
