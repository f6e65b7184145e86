# sig: int32[::1], pyint
from pyptx import cuda


@cuda.jit
def kernel(a, n):
    assert n != 3
    if n < 0:
        raise ValueError("negative")
    a[0] = 1
