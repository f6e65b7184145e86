# sig: float16[::1], bfloat16[::1], float64
# arch: sm_90
from pyptx import cuda


@cuda.jit
def kernel(h, b, d):
    h[0] = h[1] * 2 + h[2]
    b[0] = b[1] - 0.5
    h[3] = d
    b[3] = h[4] // 3
    h[5] = h[1] + b[1]
