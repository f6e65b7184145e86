# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    t = [i for i in range(3)]
    a[0] = t[0]
