# sig: complex64[::1], complex64[::1], complex64
# arch: sm_90
from pyptx import cuda


@cuda.jit(fma=False)
def kernel(x, out, z):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * z - 2j
        x.imag[i] = 0
