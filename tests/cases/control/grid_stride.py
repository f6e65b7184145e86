# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def scale(a):
    for i in range(cuda.grid(1), a.size, cuda.gridsize(1)):
        a[i] = a[i] * 2
