# sig: float64[::1], int32[::1]
from pyptx import cuda
from pyptx.cuda import libdevice


@cuda.jit
def kernel(x, n):
    s, c = libdevice.sincospi(x[0])
    x[1] = libdevice.dadd_rd(s, c)
    x[2] = libdevice.int2float_ru(n[0])
    m, e = libdevice.frexpf(x[3])
    n[1] = libdevice.mulhi(n[0], e)
    x[4] = m
