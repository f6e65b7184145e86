# sig: int32[::1], int64[::1], int8[::1], float32[::1], float64[::1]
from pyptx import cuda


@cuda.jit
def kernel(i, l, b, f, d):
    i[0] = f[0]
    l[0] = d[0]
    b[0] = f[1]
