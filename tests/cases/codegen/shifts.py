# sig: int32[::1], uint64[::1]
from pyptx import cuda


@cuda.jit
def kernel(a, b):
    a[0] = a[1] << a[2]
    a[3] = a[4] >> a[5]
    b[0] = b[1] >> b[2]
