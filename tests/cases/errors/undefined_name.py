# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    length = 3
    a[0] = lenght
