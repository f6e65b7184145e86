# sig: float32[::1], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, n):
    print("a is", a[0], "and n is", n, n > 0, "100%")
