# sig: float32[::1], float64[::1]
import math

from pyptx import cuda


@cuda.jit
def kernel(f, d):
    f[0] = math.sqrt(f[1]) / f[2]
    d[0] = math.sqrt(d[1]) / d[2]
