# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    s = 'a' + str(a[0])
