# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    k = 1

    def add(v):
        return v + k

    k = 2
    a[0] = add(a[0])
