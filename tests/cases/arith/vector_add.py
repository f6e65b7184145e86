# sig: float32[::1], float32[::1], float32[::1]
from pyptx import cuda


@cuda.jit
def add(a, b, c):
    i = cuda.grid(1)
    if i < a.size:
        c[i] = a[i] + b[i]
