# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    a[0] = max(*(v * 2 for v in (1, 2, 3)))
