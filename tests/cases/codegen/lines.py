# sig: float32[::1]
# options: --lineinfo
from pyptx import cuda


@cuda.jit
def kernel(a):
    i = cuda.grid(1)
    a[i] = a[i] + 1
