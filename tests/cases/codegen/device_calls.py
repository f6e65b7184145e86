# kernel: kernel
# sig: int32[::1], pyint
from pyptx import cuda


@cuda.jit(device=True, inline="never")
def pair(x, y):
    return x + y, x - y


@cuda.jit(device=True)
def square(x):
    return x * x


@cuda.jit
def kernel(a, n):
    s, d = pair(n, square(n))
    a[0] = s
    a[1] = d
