# sig: float32[::1], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, n):
    if n > 0:
        x = 1
    for i in range(n):
        x += a[i]
    a[0] = x
