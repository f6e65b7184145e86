# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    s = {a[0], 2}
    a[0] = 1
