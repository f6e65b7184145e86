# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    try:
        a[0] = 1
    finally:
        a[1] = 2
