# sig: float32[::1], float32, float32
from pyptx import cuda


@cuda.jit
def saxpy(y, a, x):
    y[0] = a * x + y[0]
