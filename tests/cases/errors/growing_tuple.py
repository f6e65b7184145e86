# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    t = ()
    for i in range(3):
        t = t + (i,)
    a[0] = len(t)
