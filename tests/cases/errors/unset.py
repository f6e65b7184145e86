# sig: float32[::1], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, n):
    if n > 0:
        x = 1
        del x
    a[0] = x
