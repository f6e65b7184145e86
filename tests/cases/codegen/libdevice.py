# sig: float32[::1], float64[::1]
import math

from pyptx import cuda


@cuda.jit
def kernel(f, d):
    f[0] = math.erf(f[1])
    d[0] = math.log1p(d[1])
