# sig: float32[::1], float32, float32
from pyptx import cuda


@cuda.jit(fma=False)
def saxpy(y, a, x):
    y[0] = a * x + y[0]
