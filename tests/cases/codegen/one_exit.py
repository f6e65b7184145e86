# sig: float32, float32, int32[::1]
# Two conditions of a loop become one branch.
from pyptx import cuda


@cuda.jit(fma=False)
def kernel(re, im, out):
    a, b, n = 0.0, 0.0, 0
    while n < 500 and a * a + b * b <= 4.0:
        a, b = a * a - b * b + re, 2.0 * a * b + im
        n += 1
    out[cuda.threadIdx.x] = n
