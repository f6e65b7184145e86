# sig: float32[::1], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, n):
    x = 1
    if n > 0:
        x = (1, 2)
    a[0] = x[0]
