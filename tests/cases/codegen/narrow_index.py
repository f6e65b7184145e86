# sig: float32[:,::1], float32[:,:]
from pyptx import cuda


@cuda.jit
def kernel(out, a):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        out[i, j] = a[i, j]
