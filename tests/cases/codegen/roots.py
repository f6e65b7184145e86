# sig: float32[::1], float32[::1]
# A root of what cannot be negative has no slow path behind a branch; tiny arguments are scaled up.
import math

from pyptx import cuda


@cuda.jit
def kernel(x, out):
    i = cuda.threadIdx.x
    out[i] = math.sqrt(x[i] * x[i] + x[i + 1] * x[i + 1])
