# sig: float32[::1], pyint
# options: --debug
from pyptx import cuda


@cuda.jit
def kernel(a, n):
    assert n > 0, "n must be positive"
    a[n] = 1.0
