# sig: float64[::1]
from pyptx import cuda, float64


@cuda.jit
def kernel(a):
    w = cuda.local.array(8, float64)
    for k in range(8):
        w[k] = k * a[0]
    a[1] = w[3]
