# sig: float32[::1], float32[::1], float32[::1]
# options: --coarsen 2
from pyptx import cuda


@cuda.jit
def kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]
