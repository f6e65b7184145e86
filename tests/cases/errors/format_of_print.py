# sig: float32[::1]
from pyptx import cuda


@cuda.jit
def kernel(a):
    print(f"{a[0]:^9.3f}")
