# sig: float32[::1]
# options: --fastmath
import math

from pyptx import cuda


@cuda.jit
def kernel(f):
    f[0] = math.sqrt(f[1]) / f[2] + math.sin(f[3])
