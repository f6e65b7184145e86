# sig: int32[::1], float64[::1]
from pyptx import cuda


@cuda.jit
def kernel(i, f):
    i[0] = i[1] // i[2]
    i[3] = i[4] % i[5]
    f[0] = f[1] // f[2]
    f[3] = f[4] % f[5]
