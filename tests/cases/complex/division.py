# sig: complex128[:], complex128
from pyptx import cuda


@cuda.jit
def kernel(x, z):
    x[0] = x[1] / z
    x[2] = z if x[3] else 0
