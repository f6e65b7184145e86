# sig: complex64[::1], pycomplex
import cmath

from pyptx import cuda


def rotated(z, angle):
    return z * cmath.rect(1, angle), abs(z)


@cuda.jit
def kernel(x, w):
    z, size = rotated(x[0], w.imag)
    x[0] = z * size + w.real
