# sig: uint8[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    a[0] = a[1] + 300
