# sig: float32[::1]
from pyptx import cuda


def f(n):
    return f(n - 1) + 1


@cuda.jit
def kernel(a):
    a[0] = f(3)
