# sig: int32[::1], uint32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a, b):
    a[0] = a[1] // a[2]
    b[0] = b[1] % b[2]
    a[3] = a[4] // 8
