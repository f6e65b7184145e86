# sig: float32[::1], float64[::1]
from pyptx import cuda


@cuda.jit
def kernel(f, d):
    cuda.atomic.max(f, 0, f[1])
    cuda.atomic.sub(d, 0, d[1])
    cuda.atomic.exch(f, 2, f[1])
