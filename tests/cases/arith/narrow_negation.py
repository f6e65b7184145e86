# sig: int16[::1], int64[::1]
"""ptxas compiles neg.s16 and abs.s16 wrongly for -32768: neither may be in the PTX."""
from pyptx import cuda


@cuda.jit
def kernel(a, out):
    out[0] = -a[0]
    out[1] = abs(a[1])
    out[2] = a[3] * -1
