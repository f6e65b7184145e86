# sig: bfloat16[::1], float32[::1]
# arch: sm_90
import pyptx
from pyptx import cuda


@cuda.jit(fma=False)
def kernel(b, f):
    b[0] = b[1] + b[2]
    b[3] = b[4] * 2.0
    f[0] = b[5]
    b[6] = pyptx.bfloat16(f[1])
