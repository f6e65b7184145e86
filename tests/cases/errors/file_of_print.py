# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    print(a[0], file=None)
