# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    d = {'x': 1}
    a[0] = d['x']
